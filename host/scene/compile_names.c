/* compile_names.c - names of entities, and the properties that refer to entities.
 *
 * An entity of a node with counts is called by the name and a number for each count, outermost first: wheel[2][0].
 * Numbers that are left out on the left are those of the entity that refers: inside car 2, "wheel[0]" is the wheel of
 * the same car. So a reference that is written for one instance works for all.
 *
 * References are resolved when all names are known, so a scene may name an entity before it defines it. Until then each
 * reference is kept as a text, one for each node of the JSON rather than one for each entity.
 */
#include "compile_inner.h"

#include <stdlib.h>

/* --- the table ---------------------------------------------------------------------------------------------------- */

static scene_name_t *bucket_of(const scene_names_t *names, bp_name_t hash, const char *text)
{
    uint32_t i = (uint32_t)hash & (names->capacity - 1);
    while (names->buckets[i].text != NULL &&
           (names->buckets[i].hash != hash || strcmp(names->buckets[i].text, text) != 0))
        i = (i + 1) & (names->capacity - 1);
    return &names->buckets[i];
}

scene_name_t *scene_names_find(const scene_names_t *names, const char *text)
{
    if (names->capacity == 0)
        return NULL;
    scene_name_t *bucket = bucket_of(names, names_hash(text), text);
    return bucket->text != NULL ? bucket : NULL;
}

static bool grow(scene_t *scene, scene_names_t *names)
{
    scene_names_t bigger = {.capacity = names->capacity == 0 ? 64 : names->capacity * 2, .count = names->count};
    bigger.buckets = memory_new(&scene->memory, bigger.capacity * sizeof *bigger.buckets);
    if (bigger.buckets == NULL)
        return false;
    for (uint32_t i = 0; i < names->capacity; i++) {
        if (names->buckets[i].text != NULL)
            *bucket_of(&bigger, names->buckets[i].hash, names->buckets[i].text) = names->buckets[i];
    }
    memory_free(&scene->memory, names->buckets, names->capacity * sizeof *names->buckets);
    *names = bigger;
    return true;
}

bp_result_t scene_names_add(scene_t *scene, scene_names_t *names, const char *text, uint32_t number)
{
    if (names->count >= names->capacity / 2 && !grow(scene, names))
        return scene_no_memory(scene);
    bp_name_t hash = names_hash(text);
    *bucket_of(names, hash, text) = (scene_name_t){hash, text, number};
    names->count++;
    return BP_OK;
}

/* --- "stem[1][2]" ------------------------------------------------------------------------------------------------- */

typedef struct numbered_t {
    char stem[SCENE_MAX_NAME + 1];
    uint32_t numbers[SCENE_MAX_DIMENSIONS];
    uint32_t count;
} numbered_t;

/* Cut off the number in brackets at the end of the first `*length` bytes of `text`: *length then ends before the
 * bracket. */
static bool cut_number(const char *text, size_t *length, uint32_t *number)
{
    size_t end = *length, at = end;
    uint64_t value = 0, unit = 1;
    if (end < 3 || text[end - 1] != ']')
        return false;
    for (at = end - 1; at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && end - at < 11; at--, unit *= 10)
        value += (uint64_t)(text[at - 1] - '0') * unit;
    if (at == end - 1 || at < 2 || text[at - 1] != '[' || value > UINT32_MAX || (text[at] == '0' && unit > 10))
        return false;
    *number = (uint32_t)value;
    *length = at - 1;
    return true;
}

/* The name of a node and the numbers behind it: a node with the whole text as its name is preferred to one with the
 * text before the numbers as its name. */
static const scene_name_t *find_numbered(const scene_t *scene, const char *text, numbered_t *numbered)
{
    uint32_t backwards[SCENE_MAX_DIMENSIONS];
    size_t length = strlen(text);
    numbered->count = 0;
    const scene_name_t *found = scene_names_find(&scene->entity_names, text);
    while (found == NULL && numbered->count < SCENE_MAX_DIMENSIONS &&
           cut_number(text, &length, &backwards[numbered->count])) {
        numbered->count++;
        if (length > SCENE_MAX_NAME)
            continue;
        memcpy(numbered->stem, text, length);
        numbered->stem[length] = '\0';
        found = scene_names_find(&scene->entity_names, numbered->stem);
    }
    for (uint32_t i = 0; i < numbered->count; i++)
        numbered->numbers[i] = backwards[numbered->count - 1 - i];
    return found;
}

uint32_t scene_dimensions(const scene_t *scene, uint32_t node, uint32_t *counted)
{
    uint32_t count = scene->nodes[node].dimensions, i = count;
    for (uint32_t at = scene->nodes[node].counted; at != BP_NONE && i > 0;) {
        counted[--i] = at;
        at = scene->nodes[at].parent == BP_NONE ? BP_NONE : scene->nodes[scene->nodes[at].parent].counted;
    }
    return count;
}

/* Has a node with counts an instance of these numbers? */
static bool has_instance(const scene_t *scene, uint32_t node, const numbered_t *numbered, uint32_t last)
{
    uint32_t counted[SCENE_MAX_DIMENSIONS], dimensions = scene_dimensions(scene, node, counted);
    bool has = dimensions == numbered->count + 1 && last < scene->nodes[counted[dimensions - 1]].count;
    for (uint32_t i = 0; has && i < numbered->count; i++)
        has = numbered->numbers[i] < scene->nodes[counted[i]].count;
    return has;
}

/* Refuse names that are also those of an instance of another node, since such a name would mean two entities. */
bp_result_t scene_check_names(scene_t *scene)
{
    numbered_t numbered;
    for (uint32_t i = 0; i < scene->node_count; i++) {
        const char *name = scene->nodes[i].name;
        size_t length = name == NULL ? 0 : strlen(name);
        uint32_t number;
        if (length == 0 || !cut_number(name, &length, &number))
            continue;
        char stem[SCENE_MAX_NAME + 1];
        memcpy(stem, name, length);
        stem[length] = '\0';
        numbered.count = 0;
        const scene_name_t *found = find_numbered(scene, stem, &numbered);
        scene_place_t place = scene_place_node(i, "name");
        if (found != NULL && has_instance(scene, found->number, &numbered, number))
            return scene_fail(scene, BP_ERROR_EXISTS, &place,
                              "'%s' is what an instance of '%s' is called, which has a count; choose another name",
                              name, found->text);
    }
    return BP_OK;
}

/* --- labels ------------------------------------------------------------------------------------------------------- */

bp_result_t scene_labels(scene_t *scene, uint32_t node, const char **texts, size_t *stride)
{
    uint32_t counted[SCENE_MAX_DIMENSIONS], dimensions = scene_dimensions(scene, node, counted);
    uint32_t total = scene->nodes[node].total;
    *stride = strlen(scene->nodes[node].name) + dimensions * 12 + 1;
    scene_labels_t labels = {.size = *stride * total};
    if (!memory_reserve(&scene->memory, &scene->labels, &scene->label_capacity, (uint64_t)scene->label_count + 1,
                        sizeof *scene->labels))
        return scene_no_memory(scene);
    /* The labels' texts here and in the blob, the offset of each, and the blob's table of texts. */
    if (!scene_could_hold(scene, total, 2 * *stride + 3 * sizeof(uint64_t)))
        return scene_no_memory(scene);
    labels.texts = memory_resize(&scene->memory, NULL, 0, labels.size);
    if (labels.texts == NULL)
        return scene_no_memory(scene);
    for (uint32_t i = 0; i < total; i++) {
        uint32_t numbers[SCENE_MAX_DIMENSIONS], rest = i;
        for (uint32_t d = dimensions; d > 0; d--) {
            numbers[d - 1] = rest % scene->nodes[counted[d - 1]].count;
            rest /= scene->nodes[counted[d - 1]].count;
        }
        char *text = labels.texts + i * *stride;
        size_t used = (size_t)snprintf(text, *stride, "%s", scene->nodes[node].name);
        for (uint32_t d = 0; d < dimensions; d++)
            used += (size_t)snprintf(text + used, *stride - used, "[%u]", numbers[d]);
    }
    scene->labels[scene->label_count++] = labels;
    *texts = labels.texts;
    return BP_OK;
}

/* --- references --------------------------------------------------------------------------------------------------- */

static scene_place_t place_of_ref(const scene_t *scene, const scene_ref_t *ref, size_t element)
{
    const scene_group_t *group = &scene->groups[scene->nodes[ref->node].group];
    scene_place_t place = ref->template == BP_NONE ? scene_place_node(ref->node, "components")
                                                    : scene_place_template(ref->template, "components");
    for (uint32_t i = 0; i < group->part_count; i++) {
        if (group->parts[i].cells <= ref->column)
            place.component = group->parts[i].name;
    }
    place.property = group->columns[ref->column].field->name;
    place.element = ref->list != NULL || ref->bundles ? element : SIZE_MAX;
    return place;
}

static bp_result_t unknown_entity(scene_t *scene, const scene_place_t *place, const char *text)
{
    nearest_t nearest = {.wanted = text};
    text_t hint;
    for (uint32_t i = 0; i < scene->node_count; i++) {
        if (scene->nodes[i].name != NULL)
            nearest_consider(&nearest, scene->nodes[i].name);
    }
    return scene_fail(scene, BP_ERROR_NOT_FOUND, place, "the scene has no entity '%.80s'%s", text,
                      nearest_hint(&nearest, &hint));
}

/* The target of a reference, as seen from the entities of one node: the numbers of the outer counts are those of the
 * referring entities, the numbers of the inner counts are in the text. */
typedef struct target_t {
    uint32_t node;
    uint32_t shared;         /* outer counts that the target and the referring node share */
    uint32_t per_instance;   /* entities of the target in one instance of those */
    uint32_t offset;         /* in there */
    uint32_t stride;         /* entities of the referring node in one instance of those */
} target_t;

static bp_result_t say_which(scene_t *scene, const scene_place_t *place, const scene_name_t *found,
                             const uint32_t *counted, uint32_t dimensions)
{
    text_t first = {.length = 0}, last = {.length = 0};
    for (uint32_t i = 0; i < dimensions; i++) {
        text_append(&first, "[0]");
        text_append(&last, "[%u]", scene->nodes[counted[i]].count - 1);
    }
    return scene_fail(scene, BP_ERROR_NOT_FOUND, place,
                      "'%.80s' stands for %u entities, since there is a count; say which: %.80s%s to %.80s%s",
                      found->text, scene->nodes[found->number].total, found->text, first.chars, found->text,
                      last.chars);
}

static bp_result_t find_target(scene_t *scene, const scene_place_t *place, uint32_t from, const char *text,
                               target_t *target)
{
    uint32_t counted[SCENE_MAX_DIMENSIONS], own[SCENE_MAX_DIMENSIONS];
    numbered_t numbered;
    const scene_name_t *found = find_numbered(scene, text, &numbered);
    if (found == NULL)
        return unknown_entity(scene, place, text);
    uint32_t dimensions = scene_dimensions(scene, found->number, counted),
             own_dimensions = scene_dimensions(scene, from, own);
    if (numbered.count > dimensions)
        return scene_fail(scene, BP_ERROR_NOT_FOUND, place, "'%.80s' has %u counts, so '%.80s' names no entity",
                          found->text, dimensions, text);
    *target = (target_t){.node = found->number,
                         .shared = dimensions - numbered.count,
                         .per_instance = 1,
                         .stride = scene->nodes[from].total};
    for (uint32_t i = 0; i < target->shared; i++) {
        if (i >= own_dimensions || own[i] != counted[i])
            return say_which(scene, place, found, counted, dimensions);
        target->stride /= scene->nodes[own[i]].count;
    }
    for (uint32_t i = target->shared; i < dimensions; i++) {
        uint32_t count = scene->nodes[counted[i]].count, number = numbered.numbers[i - target->shared];
        if (number >= count)
            return scene_fail(scene, BP_ERROR_RANGE, place, "'%.80s': the count is %u, so the numbers go from 0 to %u",
                              text, count, count - 1);
        target->offset = target->offset * count + number;
        target->per_instance *= count;
    }
    target->node = scene_here(scene, found->number);
    return BP_OK;
}

static uint32_t entity_of(const scene_t *scene, const target_t *target, uint32_t instance)
{
    const scene_node_t *node = &scene->nodes[target->node];
    uint32_t outer = target->shared == 0 ? 0 : instance / target->stride;
    return scene->groups[node->group].first + node->row + outer * target->per_instance + target->offset + 1;
}

bp_result_t scene_number_of(scene_t *scene, const scene_ref_t *ref, uint32_t row, uint32_t item, const char *text,
                            uint32_t *number, bool *alike)
{
    target_t target;
    scene_place_t place = place_of_ref(scene, ref, item);
    bp_result_t result = find_target(scene, &place, ref->node, text, &target);
    if (result != BP_OK)
        return result;
    *number = entity_of(scene, &target, row);
    *alike = target.shared == 0;
    return BP_OK;
}

/* The cells of a node's rows in a column of entities. */
static uint32_t *cells_of(scene_t *scene, const scene_ref_t *ref)
{
    const scene_node_t *node = &scene->nodes[ref->node];
    scene_column_t *column = &scene->groups[node->group].columns[ref->column];
    char *cells = scene_column_spread(scene, column, 0);
    return cells == NULL ? NULL : (uint32_t *)(void *)cells + node->row;
}

static bp_result_t resolve_list(scene_t *scene, const scene_ref_t *ref, uint32_t *cells)
{
    const scene_node_t *node = &scene->nodes[ref->node];
    uint32_t i = 0;
    for (tree_walk_t walk = tree_walk(ref->list); tree_next(&walk); i++) {
        target_t target;
        if (tree_is(walk.value, TREE_NULL) || scene_names_no_entity(walk.value->string))
            continue;
        const char *text = walk.value->string;
        scene_place_t place = place_of_ref(scene, ref, i);
        bp_result_t result = find_target(scene, &place, ref->node, text, &target);
        if (result != BP_OK)
            return result;
        for (uint32_t row = i; row < node->total; row += node->count)
            cells[row] = entity_of(scene, &target, row);
    }
    return BP_OK;
}

static bp_result_t resolve(scene_t *scene, const scene_ref_t *ref)
{
    const scene_node_t *node = &scene->nodes[ref->node];
    uint32_t *cells = cells_of(scene, ref);
    target_t target = {.node = node->parent, .stride = node->count};
    if (cells == NULL)
        return scene_no_memory(scene);
    if (ref->bundles)
        return scene_resolve_bundles(scene, ref, cells);
    if (ref->list != NULL)
        return resolve_list(scene, ref, cells);
    if (ref->text != NULL) {
        scene_place_t place = place_of_ref(scene, ref, SIZE_MAX);
        bp_result_t result = find_target(scene, &place, ref->node, ref->text, &target);
        if (result != BP_OK)
            return result;
    }
    for (uint32_t row = 0; row < node->total; row++) {
        if (ref->text != NULL)
            cells[row] = entity_of(scene, &target, row);
        else
            cells[row] = scene->groups[scene->nodes[node->parent].group].first + scene->nodes[node->parent].row +
                         row / node->count + 1;
    }
    return BP_OK;
}

bp_result_t scene_resolve_refs(scene_t *scene)
{
    uint32_t first = 0;
    for (uint32_t i = 0; i < scene->group_count; i++) {
        scene->groups[i].first = first;
        first += scene->groups[i].rows;
    }
    bp_result_t result = scene->worlds == NULL ? BP_OK : scene_make_attached(scene);
    for (uint32_t i = 0; i < scene->ref_count && result == BP_OK; i++)
        result = resolve(scene, &scene->refs[i]);
    if (scene->attached != BP_NONE && scene->groups[scene->attached].rows == 0)
        scene_drop_attached(scene);
    return result;
}
