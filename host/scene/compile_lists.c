/* compile_lists.c - values of arrays and lists: read from JSON once, and remembered as bundles.
 *
 * A bundle is the values of one cell. Columns of such fields hold numbers of bundles plus 1; 0 is the default. Equal
 * bundles are kept once, so that columns see whether all rows are alike by comparing numbers, and a scene that says the
 * same list for a million entities keeps it once.
 *
 * Bundles of entities are read as texts, before all names are known. scene_resolve_bundles then makes bundles of
 * numbers from the bundles of texts: one for all rows of a node, or one for each row, where a text means another entity
 * in each instance of a count.
 */
#include "compile_inner.h"

/* --- reading ------------------------------------------------------------------------------------------------------ */

static bool is_text(uint32_t type)
{
    return type == BP_STRING || type == BP_NAME || type == BP_ENTITY;
}

static uint32_t item_size(const field_t *field, bool resolved)
{
    return resolved ? sizeof(uint32_t) : is_text(field->type) ? (uint32_t)sizeof(const char *) : field_item_size(field);
}

static const char *text_of(const char *items, uint32_t i)
{
    const char *text;
    memcpy(&text, items + i * sizeof text, sizeof text);
    return text;
}

static bp_result_t read_item(scene_t *scene, const field_t *field, const tree_item_t *json, uint32_t number, void *to)
{
    bp_value_t value;
    if (field->type == BP_ENTITY && tree_is(json, TREE_NULL)) {
        memcpy(to, &(const char *){"none"}, sizeof(const char *));
        return BP_OK;
    }
    bp_result_t result = json_value_read(&scene->base->values, field, json, &value, scene->error);
    if (result != BP_OK)
        return error_prefix(scene->error, result, "item %u: ", number);
    memcpy(to, &value, item_size(field, false));
    return BP_OK;
}

/* Make room for `bytes` bytes of a list's items behind all bundles' bytes; the room is used again where the items are
 * not kept as a new bundle. NULL when out of memory. */
static char *need_bytes(scene_t *scene, uint64_t bytes)
{
    uint64_t room = scene->bundle_bytes_used + bytes;
    if (!scene_could_hold(scene, bytes, 1) ||
        !memory_reserve(&scene->memory, &scene->bundle_bytes, &scene->bundle_words, (room + 7) / 8 + 1,
                        sizeof(uint64_t)))
        return NULL;
    return scene->bundle_bytes + scene->bundle_bytes_used;
}

static bp_result_t read_json_list(scene_t *scene, const field_t *field, const tree_item_t *json, uint32_t *count)
{
    uint32_t size = item_size(field, false);
    *count = tree_count(json);
    char *items = need_bytes(scene, (uint64_t)*count * size);
    if (items == NULL)
        return scene_no_memory(scene);
    uint32_t i = 0;
    bp_result_t result = BP_OK;
    for (tree_walk_t walk = tree_walk(json); result == BP_OK && tree_next(&walk); i++)
        result = read_item(scene, field, walk.value, i, items + (size_t)i * size);
    return result;
}

/* The text form of the console, in a string. Texts of strings and names are taken as JSON's are; items of other types
 * have values. */
static bp_result_t read_text_list(scene_t *scene, const field_t *field, const tree_item_t *json, uint32_t *count)
{
    field_values_t values;
    if (is_text(field->type))
        return error_set(scene->error, BP_ERROR_TYPE, "%s takes a list like [\"a\", \"b\"]", field->name);
    bp_result_t result =
        field_parse_cell(field, &scene->base->values, &scene->memory, json->string, &values, scene->error);
    if (result != BP_OK)
        return error_prefix(scene->error, result, "%s: ", field->name);
    char *items = need_bytes(scene, (uint64_t)values.count * field_item_size(field));
    *count = values.count;
    if (items != NULL && values.count > 0)
        memcpy(items, values.items, (size_t)values.count * field_item_size(field));
    field_values_free(&values, field);
    return items == NULL ? scene_no_memory(scene) : BP_OK;
}

/* --- equal ones --------------------------------------------------------------------------------------------------- */

static uint64_t hash_items(const field_t *field, const char *items, uint32_t count, bool resolved)
{
    uint64_t hash = count;
    if (resolved || !is_text(field->type))
        return hash_bytes(items, (size_t)count * item_size(field, resolved)) + hash;
    for (uint32_t i = 0; i < count; i++)
        hash = hash * UINT64_C(0x9E3779B97F4A7C15) + names_hash(text_of(items, i));
    return hash;
}

static bool same_items(const field_t *field, const char *a, const char *b, uint32_t count, bool resolved)
{
    if (resolved || !is_text(field->type))
        return count == 0 || memcmp(a, b, (size_t)count * item_size(field, resolved)) == 0;
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(text_of(a, i), text_of(b, i)) != 0)
            return false;
    }
    return true;
}

static uint32_t *bucket_of(const scene_t *scene, const scene_bundle_t *wanted)
{
    uint32_t at = (uint32_t)wanted->hash & (scene->bundle_bucket_count - 1);
    for (; scene->bundle_buckets[at] != 0; at = (at + 1) & (scene->bundle_bucket_count - 1)) {
        const scene_bundle_t *bundle = &scene->bundles[scene->bundle_buckets[at] - 1];
        if (bundle->hash == wanted->hash && bundle->field == wanted->field && bundle->count == wanted->count &&
            bundle->resolved == wanted->resolved &&
            same_items(wanted->field, scene->bundle_bytes + bundle->first, scene->bundle_bytes + wanted->first,
                       wanted->count, wanted->resolved))
            break;
    }
    return &scene->bundle_buckets[at];
}

static bool grow_buckets(scene_t *scene)
{
    uint32_t count = scene->bundle_bucket_count == 0 ? 64 : scene->bundle_bucket_count * 2;
    uint32_t *buckets = count == 0 ? NULL : memory_new(&scene->memory, count * sizeof *buckets);
    if (buckets == NULL)
        return false;
    memory_free(&scene->memory, scene->bundle_buckets, scene->bundle_bucket_count * sizeof *buckets);
    scene->bundle_buckets = buckets;
    scene->bundle_bucket_count = count;
    for (uint32_t i = 0; i < scene->bundle_count; i++)
        *bucket_of(scene, &scene->bundles[i]) = i + 1;
    return true;
}

/* Make a bundle of the items that lie behind all others, or find the equal bundle that exists already. */
static bp_result_t keep_bundle(scene_t *scene, const field_t *field, uint32_t count, bool resolved, uint32_t *number)
{
    scene_bundle_t bundle = {.field = field, .first = scene->bundle_bytes_used, .count = count, .resolved = resolved};
    const char *items = scene->bundle_bytes + bundle.first;
    if ((uint64_t)(scene->bundle_count + 1) * 2 > scene->bundle_bucket_count && !grow_buckets(scene))
        return scene_no_memory(scene);
    if (!memory_reserve(&scene->memory, &scene->bundles, &scene->bundle_capacity, scene->bundle_count + UINT64_C(1),
                        sizeof *scene->bundles))
        return scene_no_memory(scene);
    bundle.hash = hash_items(field, items, count, resolved);
    uint32_t *bucket = bucket_of(scene, &bundle);
    if (*bucket == 0) {
        scene->bundles[scene->bundle_count] = bundle;
        *bucket = ++scene->bundle_count;
        scene->bundle_bytes_used += ((uint64_t)count * item_size(field, resolved) + 7) & ~UINT64_C(7);
    }
    *number = *bucket;
    return BP_OK;
}

bp_result_t scene_read_bundle(scene_t *scene, const field_t *field, const tree_item_t *json, uint32_t *number)
{
    uint32_t count = 0;
    bp_result_t result;
    if (tree_is(json, TREE_LIST))
        result = read_json_list(scene, field, json, &count);
    else if (tree_is(json, TREE_STRING))
        result = read_text_list(scene, field, json, &count);
    else
        result = error_set(scene->error, BP_ERROR_TYPE, "%s takes a list of values (type %s), not %s", field->name,
                           value_type_name(field->type), json_value_kind(json));
    if (result == BP_OK && field->elements > 0 && count != field->elements)
        result = error_set(scene->error, BP_ERROR_TYPE, "%s takes a list of %u values (type %s), not of %u",
                           field->name, field->elements, value_type_name(field->type), count);
    return result == BP_OK ? keep_bundle(scene, field, count, false, number) : result;
}

const void *scene_bundle_items(const scene_t *scene, uint32_t number, uint32_t *count)
{
    *count = scene->bundles[number - 1].count;
    return scene->bundle_bytes + scene->bundles[number - 1].first;
}

void scene_bundles_free(scene_t *scene)
{
    memory_free(&scene->memory, scene->bundles, scene->bundle_capacity * sizeof *scene->bundles);
    memory_free(&scene->memory, scene->bundle_buckets, scene->bundle_bucket_count * sizeof *scene->bundle_buckets);
    memory_free(&scene->memory, scene->bundle_bytes, scene->bundle_words * sizeof(uint64_t));
}

/* --- one for each instance ---------------------------------------------------------------------------------------- */

/* Is an item of a list a value, and not a list of values? NULL-like items say neither. */
typedef enum verdict_t { UNSURE, VALUE, VALUES } verdict_t;

static verdict_t judge(const field_t *field, const tree_item_t *item)
{
    if (tree_is(item, TREE_NULL))
        return UNSURE;
    if (!tree_is(item, TREE_LIST))
        return VALUE;
    if (tree_count(item) == 0 || value_parts(field->type) <= 1)
        return VALUES;
    return tree_is_number(item + 1) ? VALUE : VALUES;
}

bool scene_is_list_of_bundles(const field_t *field, const tree_item_t *json)
{
    verdict_t verdict = UNSURE;
    for (tree_walk_t walk = tree_walk(tree_is(json, TREE_LIST) ? json : NULL); verdict == UNSURE && tree_next(&walk);)
        verdict = judge(field, walk.value);
    bool nothing = verdict == UNSURE && tree_count(json) > 0; /* null is an entity, and no value of another type */
    return verdict == VALUES || (nothing && field->type != BP_ENTITY && tree_is(json, TREE_LIST));
}

/* --- entities ----------------------------------------------------------------------------------------------------- */

/* Write the numbers of the entities that one row's texts mean, behind all bundles' bytes. `*alike`: the numbers are the
 * same for all rows of the node. */
static bp_result_t number_row(scene_t *scene, const scene_ref_t *ref, uint32_t texts, uint32_t row, bool *alike)
{
    uint32_t count = scene->bundles[texts - 1].count;
    char *room = need_bytes(scene, (uint64_t)count * sizeof(uint32_t));
    if (room == NULL)
        return scene_no_memory(scene);
    *alike = true;
    for (uint32_t i = 0; i < count; i++) {
        const char *text = text_of(scene->bundle_bytes + scene->bundles[texts - 1].first, i);
        uint32_t number = 0;
        bool same = true;
        bp_result_t result =
            scene_names_no_entity(text) ? BP_OK : scene_number_of(scene, ref, row, i, text, &number, &same);
        if (result != BP_OK)
            return result;
        memcpy(room + i * sizeof number, &number, sizeof number);
        *alike = *alike && same;
    }
    return BP_OK;
}

bp_result_t scene_resolve_bundles(scene_t *scene, const scene_ref_t *ref, uint32_t *cells)
{
    const scene_node_t *node = &scene->nodes[ref->node];
    const field_t *field = scene->groups[node->group].columns[ref->column].field;
    uint32_t texts = 0, numbers = 0;
    bool alike = false;
    for (uint32_t row = 0; row < node->total; row++) {
        if (cells[row] == 0)
            continue;
        if (cells[row] != texts || !alike) {
            texts = cells[row];
            bp_result_t result = number_row(scene, ref, texts, row, &alike);
            if (result == BP_OK)
                result = keep_bundle(scene, field, scene->bundles[texts - 1].count, true, &numbers);
            if (result != BP_OK)
                return result;
        }
        cells[row] = numbers;
    }
    return BP_OK;
}
