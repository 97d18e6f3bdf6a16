/* tree.c - drawing entities below their parents.
 *
 * A world may have a million entities, so the drawing has two bounds: for each parent the first children and the number
 * of further ones are drawn, and the drawing ends after so many lines, with the number of entities left. Both are large
 * enough for a scene made by hand.
 *
 * The walk keeps its own stack, one place for each level: since every level that goes deeper has drawn a line, it is
 * never deeper than lines are drawn. The plugin's links may contain circles: an entity that is its own ancestor is
 * named at its second occurrence and not entered again; and entities in a circle, which no root leads to, are drawn
 * after the roots.
 */
#include "tree.h"

#include "../os/os.h"
#include "inspect.h"
#include "output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LINES_MOST = 400,
    CHILDREN_MOST = 40 /* of one parent */
};

/* The texts that are drawn before an entity (`branch`, and `last_branch` for the last child), and below it before its
 * children (`line`, `blank`). */
typedef struct pen_t {
    const char *branch, *last_branch, *line, *blank;
} pen_t;

/* A level that is being drawn: the numbers of the siblings, how many there are, and the next one to draw. */
typedef struct level_t {
    const uint32_t *siblings;
    uint32_t count;
    uint32_t next;
} level_t;

typedef struct tree_t {
    const program_t *program;
    bp_world_o *world;
    family_t family;
    marks_t labels;
    const pen_t *pen;
    uint8_t *drawn;
    level_t levels[LINES_MOST + 1];
    uint32_t depth;  /* levels in use */
    uint32_t lines;
    uint32_t shown;  /* entities */
    bool failed;
} tree_t;

/* Does the terminal show UTF-8? The first of these variables that is set decides, as in setlocale. */
static bool shows_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL && value[0] != '\0')
            return strstr(value, "UTF-8") != NULL || strstr(value, "utf8") != NULL || strstr(value, "UTF8") != NULL ||
                   strstr(value, "utf-8") != NULL;
    }
    return false;
}

static const pen_t *choose_pen(void)
{
    static const pen_t plain = {"|- ", "`- ", "|  ", "   "};
    static const pen_t drawn = {"\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   "};
    return os_is_terminal(1) && shows_utf8() ? &drawn : &plain;
}

/* --- lines ---------------------------------------------------------------------------------------------- */

/* Is the present sibling the last line of its level, without a line "more" behind it? */
static bool is_last(const level_t *level)
{
    return level->next >= level->count;
}

static void draw_branches(const tree_t *tree)
{
    for (uint32_t i = 0; i + 1 < tree->depth; i++)
        fputs(is_last(&tree->levels[i]) ? tree->pen->blank : tree->pen->line, stdout);
    fputs(is_last(&tree->levels[tree->depth - 1]) ? tree->pen->last_branch : tree->pen->branch, stdout);
}

static void draw_components(tree_t *tree, bp_entity_t entity)
{
    attached_list_t list;
    tree->failed |= !inspect_components(tree->program, tree->world, entity, &list);
    for (uint32_t i = 0; i < list.count; i++) {
        const attached_t *item = &list.items[i];
        printf("%s", i == 0 ? "  " : " ");
        terminal_print(stdout, item->name);
        if (strcmp(item->name, item->type) != 0)
            printf(":%s", item->type);
    }
    inspect_release(&list);
}

static void draw_entity(tree_t *tree, uint32_t number)
{
    char id[ENTITY_TEXT_MAX];
    bp_value_t label;
    bp_entity_t entity = tree->family.entities[number];
    tree->program->api->entity->format(tree->program->host, entity, id, sizeof id);
    if (marks_read(&tree->labels, entity, &label)) {
        terminal_print(stdout, label.string);
        putchar(' ');
    }
    fputs(id, stdout);
    if (tree->drawn[number])
        fputs("  (drawn already: it is its own ancestor)", stdout);
    else
        draw_components(tree, entity);
    putchar('\n');
    tree->lines++;
    tree->shown += !tree->drawn[number];
    tree->drawn[number] = 1;
}

static void draw_more(tree_t *tree, level_t *level)
{
    uint32_t left = level->count - level->next;
    level->next = level->count;
    draw_branches(tree);
    printf("... %" PRIu32 " more\n", left);
    tree->lines++;
}

/* --- the walk ------------------------------------------------------------------------------------------- */

static void enter(tree_t *tree, const uint32_t *siblings, uint32_t count)
{
    if (count > 0)
        tree->levels[tree->depth++] = (level_t){siblings, count, 0};
}

/* Draw what has been entered, of `total` entities in all. */
static void draw_levels(tree_t *tree, uint32_t total)
{
    const family_t *family = &tree->family;
    while (tree->depth > 0 && tree->lines < LINES_MOST) {
        level_t *level = &tree->levels[tree->depth - 1];
        if (level->next == level->count) {
            tree->depth--;
        } else if (level->next == CHILDREN_MOST && level->count > CHILDREN_MOST + 1) {
            draw_more(tree, level);
        } else {
            uint32_t number = level->siblings[level->next++];
            bool again = tree->drawn[number];
            draw_branches(tree);
            draw_entity(tree, number);
            if (!again)
                enter(tree, family->children + family->first[number],
                      family->first[number + 1] - family->first[number]);
        }
    }
    if (tree->lines >= LINES_MOST && tree->shown < total)
        printf("... %" PRIu32 " more in all; tree WORLD ENTITY draws what is below one\n", total - tree->shown);
}

/* Mark everything below what is marked and stands in `order`, which has room for all. Returns how many stand there
   then. */
static uint32_t mark_reached(const family_t *family, uint8_t *reached, uint32_t *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = family->first[order[i]]; j < family->first[order[i] + 1]; j++)
            if (!reached[family->children[j]]) {
                reached[family->children[j]] = 1;
                order[count++] = family->children[j];
            }
    return count;
}

/* The roots, and after them one of each circle, to `tops`, which has room for all. Returns how many. */
static uint32_t find_tops(const family_t *family, uint8_t *reached, uint32_t *order, uint32_t *tops)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < family->count; i++)
        if (family->parents[i] == BP_NONE) {
            tops[count] = order[count] = i;
            reached[i] = 1;
            count++;
        }
    mark_reached(family, reached, order, count);
    for (uint32_t i = 0; i < family->count; i++)
        if (!reached[i]) {
            tops[count++] = order[0] = i;
            reached[i] = 1;
            mark_reached(family, reached, order, 1);
        }
    return count;
}

static void draw_world(tree_t *tree, uint8_t *reached, uint32_t *order, uint32_t *tops)
{
    uint32_t count = tree->family.count;
    printf("%s: %" PRIu32 " %s\n", tree->program->api->world->name(tree->world), count,
           count == 1 ? "entity" : "entities");
    enter(tree, tops, find_tops(&tree->family, reached, order, tops));
    draw_levels(tree, count);
}

static void draw_below(tree_t *tree, uint32_t top, uint8_t *reached, uint32_t *order)
{
    const family_t *family = &tree->family;
    order[0] = top;
    reached[top] = 1;
    uint32_t total = mark_reached(family, reached, order, 1);
    draw_entity(tree, top);
    enter(tree, family->children + family->first[top], family->first[top + 1] - family->first[top]);
    draw_levels(tree, total);
}

static bool draw(tree_t *tree, bp_entity_t top)
{
    size_t room = (size_t)tree->family.count + 1;
    uint8_t *reached = calloc(room, 1);
    uint32_t *order = malloc(room * sizeof *order), *tops = malloc(room * sizeof *tops);
    uint32_t number = top.id == 0 ? BP_NONE : family_find(&tree->family, top);
    tree->drawn = calloc(room, 1);
    bool fine = reached != NULL && order != NULL && tops != NULL && tree->drawn != NULL;
    if (fine && number != BP_NONE)
        draw_below(tree, number, reached, order);
    else if (fine)
        draw_world(tree, reached, order, tops);
    free(reached);
    free(order);
    free(tops);
    free(tree->drawn);
    return fine && !tree->failed && !tree->labels.failed;
}

bool tree_print(const program_t *program, bp_world_o *world, bp_entity_t top)
{
    tree_t tree = {
        .program = program,
        .world = world,
        .labels = {.program = program, .world = world, .flag = BP_FIELD_LABEL, .type = BP_STRING},
        .pen = choose_pen(),
    };
    if (!family_collect(program, world, &tree.family))
        return false;
    bool fine = draw(&tree, top);
    marks_free(&tree.labels);
    family_free(&tree.family);
    return fine;
}

/* --- family ------------------------------------------------------------------------------------------------------ */

/* Parents and labels by the flags of fields.
 *
 * A key of the world stands for a component type under an instance name, so whether it has a flagged field, and
 * which, is found out once a key and then reused for all entities: keys are small numbers, so a table by key is
 * enough. Reading a million parents then costs a million look-ups and no comparison of texts.
 *
 * Children are listed as one array with a beginning for each parent, filled by counting: no list of its own for
 * each entity, and the order of entities stays.
 */

enum { KEYS_MOST = 255 }; /* components of an entity */

typedef struct mark_t {
    bool known, marked;
    bp_property_t property;
} mark_t;

/* --- marks ---------------------------------------------------------------------------------------------- */

static bool make_room(marks_t *marks, uint32_t key)
{
    if (key < marks->count)
        return true;
    uint32_t count = key < 32 ? 64 : 2 * key;
    mark_t *wider = realloc(marks->marks, count * sizeof *wider);
    if (wider == NULL) {
        marks->failed = true;
        return false;
    }
    memset(wider + marks->count, 0, (count - marks->count) * sizeof *wider);
    marks->marks = wider;
    marks->count = count;
    return true;
}

/* Find out about a key by an entity that has it. */
static void find_out(const marks_t *marks, uint32_t key, bp_entity_t entity, mark_t *mark)
{
    const bp_property_api *api = marks->program->api->property;
    attached_t attached = inspect_attached(marks->program, marks->world, key);
    bp_field_t field = {0};
    mark->known = true;
    for (uint32_t i = 0;
         !mark->marked && api->describe(marks->program->host, attached.type, i, &field, sizeof field) == BP_OK; i++) {
        char name[64];
        if ((field.flags & marks->flag) == 0 || field.type != marks->type || strlen(field.name) >= sizeof name)
            continue;
        memcpy(name, field.name, strlen(field.name) + 1);
        mark->marked = api->resolve(marks->world, entity, attached.name, name, &mark->property) == BP_OK;
    }
}

/* Is the value a parent or a text, rather than none? */
static bool says_something(uint32_t type, const bp_value_t *value)
{
    return type == BP_STRING ? value->string != NULL && value->string[0] != '\0' : value->entity.id != 0;
}

bool marks_read(marks_t *marks, bp_entity_t entity, bp_value_t *value)
{
    const bp_api_t *api = marks->program->api;
    uint32_t keys[KEYS_MOST];
    uint32_t count = api->world->keys_of(marks->world, entity, keys, KEYS_MOST);
    for (uint32_t i = 0; i < count && i < KEYS_MOST; i++) {
        if (!make_room(marks, keys[i]))
            return false;
        mark_t *mark = &marks->marks[keys[i]];
        if (!mark->known)
            find_out(marks, keys[i], entity, mark);
        if (mark->marked &&
            api->property->get(marks->world, &mark->property, &entity, 1, value, sizeof *value) == BP_OK &&
            says_something(marks->type, value))
            return true;
    }
    return false;
}

void marks_free(marks_t *marks)
{
    free(marks->marks);
    marks->marks = NULL;
    marks->count = 0;
}

/* --- families ------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    uint32_t first = bp_entity_index(*(const bp_entity_t *)a), second = bp_entity_index(*(const bp_entity_t *)b);
    return (first > second) - (first < second);
}

uint32_t family_find(const family_t *family, bp_entity_t entity)
{
    const bp_entity_t *found =
        family->count == 0 ? NULL : bsearch(&entity, family->entities, family->count, sizeof entity, compare);
    return found == NULL || found->id != entity.id ? BP_NONE : (uint32_t)(found - family->entities);
}

static bool find_parents(const program_t *program, bp_world_o *world, family_t *family)
{
    marks_t marks = {.program = program, .world = world, .flag = BP_FIELD_PARENT, .type = BP_ENTITY};
    bp_value_t value;
    for (uint32_t i = 0; i < family->count; i++)
        family->parents[i] =
            marks_read(&marks, family->entities[i], &value) ? family_find(family, value.entity) : BP_NONE;
    marks_free(&marks);
    return !marks.failed;
}

static void list_children(family_t *family)
{
    for (uint32_t i = 0; i < family->count; i++)
        if (family->parents[i] != BP_NONE)
            family->first[family->parents[i]]++;
    uint32_t end = 0;
    for (uint32_t i = 0; i < family->count; i++) { /* now the end of each entity's children */
        end += family->first[i];
        family->first[i] = end;
    }
    family->first[family->count] = end;
    for (uint32_t i = family->count; i-- > 0;)
        if (family->parents[i] != BP_NONE)
            family->children[--family->first[family->parents[i]]] = i;
}

bool family_collect(const program_t *program, bp_world_o *world, family_t *family)
{
    uint32_t index = 0;
    bp_look_world_t figures = inspect_figures(program, world);
    size_t room = (size_t)figures.entities + 1;
    *family = (family_t){
        .entities = malloc(room * sizeof *family->entities),
        .parents = malloc(room * sizeof *family->parents),
        .first = calloc(room, sizeof *family->first),
        .children = malloc(room * sizeof *family->children),
    };
    bool fine =
        family->entities != NULL && family->parents != NULL && family->first != NULL && family->children != NULL;
    while (fine && family->count < figures.entities) {
        bp_entity_t entity = program->api->world->next(world, &index);
        if (entity.id == 0)
            break;
        family->entities[family->count++] = entity;
    }
    fine = fine && find_parents(program, world, family);
    if (fine)
        list_children(family);
    else
        family_free(family);
    return fine;
}

void family_free(family_t *family)
{
    free(family->entities);
    free(family->parents);
    free(family->first);
    free(family->children);
    *family = (family_t){0};
}
