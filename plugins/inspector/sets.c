/* sets.c - lists of entities, filled as the budget goes (sets.h).
 *
 * A set goes through stages, each with a cursor, and stops wherever the time is over:
 *
 *     SCAN      row by row of the world's prototypes: does the entity satisfy the condition?         hits
 *     REST      entity by entity of the host, only where rows have moved since the scan began        hits
 *     LIST      the entities in the order of their indices                                           entities
 *     PARENTS   the place of each entity's parent in the set                                        parent
 *     COUNT     how many children each has                                                          first[p + 2]
 *     SUM       where the children of each begin                                                    first[p + 1]
 *     FILL      the children, grouped by parent, roots first                                        children
 *
 * A scan over rows that move from one prototype to another between two turns may miss some of them. REST looks at every
 * entity by itself then, which takes some thirty times as long.
 *
 * Place 0 of `first` stands for the roots, place p + 1 for entity number p of the set: children of p lie in `children`
 * from first[p + 1] to first[p + 2] - 1. A parent that is not in the set counts as none, so that each entity is shown
 * once. Entities with parents that form a circle are in no root's subtree; the page's list shows them all the same.
 */
#include "sets.h"

#include "gather.h"
#include "look.h"
#include "loop.h"
#include "scan.h"
#include "values.h"

#include <stdio.h>

enum { SCAN, REST, LIST, PARENTS, COUNT, SUM, FILL, BUILT };
enum { LABEL_MAX = 256, SET_MOST = 1u << 24, PARENT_FIELDS_MAX = 8, COUNT_BLOCK = 1u << 15, LIST_WORDS = 256 };

struct set_t {
    inspector_t *in;
    uint64_t id, used;               /* used: the turn in which it was last asked for */
    char world[REQUEST_WORLD_MAX];
    uint64_t world_number;
    char label[LABEL_MAX];           /* "": any */
    condition_t condition;
    gather_t fields[CONDITION_FIELDS_MAX];
    bool has_condition, tree, cut, held;
    uint32_t stage, cursor;
    const char *broken;              /* why it cannot be built; NULL: it can */
    bp_entity_t *entities;
    uint32_t count, capacity;
    uint32_t bound, seen;            /* indices of entities of the host; those looked at */
    uint64_t *hits;                  /* a bit for each index below `bound`; until the set has been listed */
    scan_t scan;
    /* of a tree */
    uint32_t *place_of;              /* by index of entity; BP_NONE: not in the set */
    uint32_t *parent, *first, *children;
    uint32_t place_count, tree_count; /* how many place_of and the others have room for; `first` has two more */
};

/* --- life ----------------------------------------------------------------------------------------------------- */

static void free_tree(set_t *set)
{
    const allocator_t *allocator = &set->in->allocator;
    allocator_free(allocator, set->place_of, set->place_count * sizeof *set->place_of);
    allocator_free(allocator, set->parent, set->tree_count * sizeof *set->parent);
    allocator_free(allocator, set->first, (set->tree_count + 2u) * sizeof *set->first);
    allocator_free(allocator, set->children, set->tree_count * sizeof *set->children);
    set->place_of = set->parent = set->first = set->children = NULL;
}

static size_t hits_size(const set_t *set)
{
    return ((size_t)set->bound / 64 + 1) * sizeof *set->hits;
}

static void free_hits(set_t *set)
{
    allocator_free(&set->in->allocator, set->hits, set->hits == NULL ? 0 : hits_size(set));
    set->hits = NULL;
}

static void free_set(set_t *set)
{
    if (set == NULL)
        return;
    free_tree(set);
    free_hits(set);
    allocator_free(&set->in->allocator, set->entities, set->capacity * sizeof *set->entities);
    allocator_free(&set->in->allocator, set, sizeof *set);
}

void sets_free(inspector_t *in)
{
    for (uint32_t i = 0; i < SETS_MAX; i++) {
        free_set(in->sets[i]);
        in->sets[i] = NULL;
    }
}

/* The place for a new set: an empty one, or that of the set that was not used for longest; NULL where all are held. */
static set_t **place_for(inspector_t *in)
{
    set_t **oldest = NULL;
    for (uint32_t i = 0; i < SETS_MAX; i++) {
        if (in->sets[i] == NULL)
            return &in->sets[i];
        if (!in->sets[i]->held && (oldest == NULL || in->sets[i]->used < (*oldest)->used))
            oldest = &in->sets[i];
    }
    return oldest;
}

bool sets_have_room(const inspector_t *in)
{
    for (uint32_t i = 0; i < SETS_MAX; i++)
        if (in->sets[i] == NULL || !in->sets[i]->held)
            return true;
    return false;
}

void sets_hold(inspector_t *in, uint64_t id, bool held)
{
    for (uint32_t i = 0; i < SETS_MAX; i++)
        if (in->sets[i] != NULL && in->sets[i]->id == id)
            in->sets[i]->held = held;
}

static bool bind_condition(ask_t *ask, set_t *set, bp_world_o *world, const char *where)
{
    char sentence[GATHER_SENTENCE_MAX];
    if (!condition_read(&set->condition, where, sentence))
        return ask_fail(ask, RPC_INVALID_PARAMS, "%s", sentence);
    for (uint32_t i = 0; i < set->condition.field_count; i++) {
        if (!gather_bind(ask->in, world, &set->condition.fields[i], &set->fields[i], sentence))
            return ask_fail(ask, RPC_INVALID_PARAMS, "%s", sentence);
        set->condition.fields[i].part = set->fields[i].part;
    }
    set->has_condition = true;
    return true;
}

set_t *sets_make(ask_t *ask, bp_world_o *world, const char *where, const char *label, bool tree)
{
    inspector_t *in = ask->in;
    if (label != NULL && strlen(label) >= LABEL_MAX) {
        ask_fail(ask, RPC_INVALID_PARAMS, "\"name\" is a part of a name, which has at most %d bytes", LABEL_MAX - 1);
        return NULL;
    }
    set_t *set = allocator_make(&in->allocator, sizeof *set);
    if (set == NULL) {
        ask_fail(ask, RPC_INTERNAL, "out of memory");
        return NULL;
    }
    set->in = in;
    snprintf(set->world, sizeof set->world, "%s", in->api->world->name(world));
    set->world_number = look_world_number(in, world);
    snprintf(set->label, sizeof set->label, "%s", label == NULL ? "" : label);
    set->tree = tree;
    set->bound = in->api->entity->bound(in->host);
    set->hits = allocator_make(&in->allocator, hits_size(set));
    if (set->hits == NULL) {
        ask_fail(ask, RPC_INTERNAL, "out of memory");
        free_set(set);
        return NULL;
    }
    if (where != NULL && where[strspn(where, " \t")] != '\0' && !bind_condition(ask, set, world, where)) {
        free_set(set);
        return NULL;
    }
    set->id = ++in->next_set;
    set->used = in->turns;
    set_t **place = place_for(in);
    free_set(*place);
    *place = set;
    return set;
}

set_t *sets_find(ask_t *ask, uint64_t id)
{
    for (uint32_t i = 0; i < SETS_MAX; i++) {
        set_t *set = ask->in->sets[i];
        if (set == NULL || set->id != id)
            continue;
        if (set->broken != NULL) {
            ask_fail(ask, RPC_ABSENT, "%s", set->broken);
            return NULL;
        }
        set->used = ask->in->turns;
        return set;
    }
    ask_fail(ask, RPC_ABSENT, "this set is not kept any more; make a new one by backplane.find");
    return NULL;
}

bool sets_is_built(const set_t *set)
{
    return set->stage == BUILT;
}

void sets_info(const set_t *set, set_info_t *info)
{
    *info = (set_info_t){
        .id = set->id, .world = set->world, .world_number = set->world_number, .count = set->count, .seen = set->seen,
        .bound = set->bound, .built = set->stage == BUILT, .tree = set->tree && set->stage == BUILT, .cut = set->cut};
}

uint32_t sets_rows(const set_t *set, uint32_t from, uint32_t most, bp_entity_t *entities)
{
    uint32_t count = from < set->count ? set->count - from : 0;
    count = count < most ? count : most;
    if (count > 0)
        memcpy(entities, set->entities + from, count * sizeof *entities);
    return count;
}

/* --- the tree ------------------------------------------------------------------------------------------------- */

/* The place of an entity in a tree, BP_NONE where the tree does not have it. */
static uint32_t place_in(const set_t *set, bp_entity_t entity)
{
    uint32_t index = bp_entity_index(entity);
    uint32_t place = index < set->place_count ? set->place_of[index] : BP_NONE;
    return place != BP_NONE && set->entities[place].id == entity.id ? place : BP_NONE;
}

/* The number in `first` that stands for the children of an entity, BP_NONE where the tree does not have the entity. */
static uint32_t group_of(const set_t *set, bp_entity_t parent)
{
    if (set->stage != BUILT || set->first == NULL)
        return BP_NONE;
    uint32_t place = parent.id == 0 ? 0 : place_in(set, parent);
    return place == BP_NONE || parent.id == 0 ? place : place + 1;
}

uint32_t sets_child_count(const set_t *set, bp_entity_t parent)
{
    uint32_t group = group_of(set, parent);
    return group == BP_NONE ? 0 : set->first[group + 1] - set->first[group];
}

uint32_t sets_children(const set_t *set, bp_entity_t parent, uint32_t from, uint32_t most, bp_entity_t *entities)
{
    uint32_t group = group_of(set, parent), all = sets_child_count(set, parent);
    uint32_t count = from < all ? all - from : 0;
    count = count < most ? count : most;
    for (uint32_t i = 0; i < count; i++)
        entities[i] = set->entities[set->children[set->first[group] + from + i]];
    return count;
}

bp_entity_t sets_parent(const set_t *set, bp_entity_t entity)
{
    uint32_t place = set->stage == BUILT && set->parent != NULL ? place_in(set, entity) : BP_NONE;
    if (place == BP_NONE || set->parent[place] == BP_NONE)
        return (bp_entity_t){0};
    return set->entities[set->parent[place]];
}

static bool make_tree(set_t *set)
{
    const allocator_t *allocator = &set->in->allocator;
    set->place_count = set->bound + 1;
    set->tree_count = set->count + 1;
    set->place_of = allocator_resize(allocator, NULL, 0, set->place_count * sizeof *set->place_of);
    set->parent = allocator_resize(allocator, NULL, 0, set->tree_count * sizeof *set->parent);
    set->children = allocator_resize(allocator, NULL, 0, set->tree_count * sizeof *set->children);
    set->first = allocator_resize(allocator, NULL, 0, (set->tree_count + 2u) * sizeof *set->first);
    if (set->place_of != NULL)
        memset(set->place_of, 0xff, set->place_count * sizeof *set->place_of);
    if (set->first != NULL)
        memset(set->first, 0, (set->count + 3u) * sizeof *set->first);
    return set->place_of != NULL && set->parent != NULL && set->children != NULL && set->first != NULL;
}

/* Every field of the world's components with the flag BP_FIELD_PARENT. */
static uint32_t parent_fields(const set_t *set, bp_world_o *world, gather_t fields[PARENT_FIELDS_MAX])
{
    look_part_t part;
    bp_field_t field;
    uint32_t found = 0;
    for (uint32_t key = 0; look_part(set->in, world, key, &part); key++)
        for (uint32_t i = 0; found < PARENT_FIELDS_MAX && look_field(set->in, part.type, i, &field); i++) {
            if (field.type != BP_ENTITY || !(field.flags & BP_FIELD_PARENT))
                continue;
            gather_t *g = &fields[found++];
            *g = (gather_t){.type = BP_ENTITY, .part = CONDITION_WHOLE};
            snprintf(g->component, sizeof g->component, "%s", part.name);
            snprintf(g->property, sizeof g->property, "%s", field.name);
        }
    return found;
}

static void find_parents(set_t *set, bp_world_o *world, uint32_t from, uint32_t count)
{
    gather_t fields[PARENT_FIELDS_MAX];
    bp_entity_t parents[CONDITION_ROWS];
    uint8_t has[CONDITION_ROWS];
    uint32_t field_count = parent_fields(set, world, fields);
    for (uint32_t i = 0; i < count; i++)
        set->parent[from + i] = BP_NONE;
    for (uint32_t f = 0; f < field_count; f++) {
        gather_values(set->in, world, &fields[f], set->entities + from, count, parents, has);
        for (uint32_t i = 0; i < count; i++)
            if (has[i] && set->parent[from + i] == BP_NONE && parents[i].id != 0)
                set->parent[from + i] = place_in(set, parents[i]);
    }
}

/* --- collecting ----------------------------------------------------------------------------------------------- */

typedef struct words_t {
    const inspector_t *in;
    bp_world_o *world;
} words_t;

static bool same_entity(void *context, bp_entity_t entity, const char *text)
{
    const words_t *words = context;
    const char *label = entity.id == 0 || text[0] == '#' ? NULL : look_label(words->in, words->world, entity);
    if (label != NULL)
        return strcmp(label, text) == 0;
    return entity.id != 0 && look_entity_named(words->in, words->world, text).id == entity.id;
}

static const char *name_text(void *context, bp_name_t name)
{
    const words_t *words = context;
    return words->in->api->name->text(words->in->host, name);
}

/* The functions that a condition calls: names of entities, texts of names. */
static condition_words_t words_of(words_t *context)
{
    return (condition_words_t){context, same_entity, name_text};
}

static void test_labels(const set_t *set, bp_world_o *world, const bp_entity_t *entities, uint32_t count, uint8_t *mask)
{
    for (uint32_t i = 0; i < count; i++) {
        const char *label = mask[i] ? look_label(set->in, world, entities[i]) : NULL;
        mask[i] = label != NULL && condition_contains(label, set->label);
    }
}

/* Set the bits of those entities of a block that have mask 1. Entities that have come since the set was begun have
 * indices that the set has no bits for. Masks are looked at eight at a time, since most conditions pick few. */
static void note_hits(set_t *set, const bp_entity_t *entities, const uint8_t *mask, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint64_t eight = 1;
        if (i % 8 == 0 && i + 8 <= count)
            memcpy(&eight, mask + i, sizeof eight);
        if (eight == 0) {
            i += 7;
            continue;
        }
        uint32_t index = bp_entity_index(entities[i]);
        if (mask[i] && entities[i].id != 0 && index < set->bound)
            set->hits[index / 64] |= UINT64_C(1) << index % 64;
    }
}

/* Test the entities of a block, and note those that the set wants. `block` has their columns; NULL: they have to be
 * gathered. False when out of memory. */
static bool test_block(set_t *set, bp_world_o *world, const scan_block_t *block, const bp_entity_t *entities,
                       uint32_t count)
{
    uint8_t mask[CONDITION_ROWS];
    words_t context = {set->in, world};
    condition_words_t words = words_of(&context);
    memset(mask, 1, count);
    if (set->has_condition &&
        !scan_test(set->in, world, &set->condition, set->fields, &words, block, entities, count, mask))
        return false;
    if (set->label[0] != '\0')
        test_labels(set, world, entities, count, mask);
    note_hits(set, entities, mask, count);
    return true;
}

/* Go on with the rows of one prototype. */
static bool scan_some(set_t *set, bp_world_o *world)
{
    scan_block_t block;
    const condition_t *condition = set->has_condition ? &set->condition : NULL;
    set->scan.bound = false;
    for (uint32_t i = 0; i < SCAN_BLOCKS; i++) {
        if (!scan_next(set->in, world, &set->scan, condition, set->fields, &block)) {
            set->stage = set->scan.moved ? REST : LIST;
            set->seen = set->scan.moved ? 0 : set->bound;
            return true;
        }
        if (!test_block(set, world, &block, block.entities, block.count))
            return false;
        set->seen = set->seen + block.count < set->bound ? set->seen + block.count : set->bound;
    }
    return true;
}

/* Look at some more entities of the world, one by one. */
static bool look_at_rest(set_t *set, bp_world_o *world)
{
    const bp_api_t *api = set->in->api;
    bp_entity_t entities[CONDITION_ROWS];
    uint32_t count = 0;
    while (set->seen < set->bound && count < CONDITION_ROWS) {
        bp_entity_t entity = api->world->next(world, &set->seen);
        uint32_t index = bp_entity_index(entity);
        if (entity.id == 0 || index >= set->bound)
            set->seen = set->bound;
        else if ((set->hits[index / 64] >> index % 64 & 1) == 0)
            entities[count++] = entity;
    }
    if (set->seen == set->bound)
        set->stage = LIST;
    return count == 0 || test_block(set, world, NULL, entities, count);
}

static bool add(set_t *set, bp_entity_t entity)
{
    if (set->count == set->capacity) {
        uint32_t capacity = set->capacity < 1024 ? 2048 : set->capacity * 2;
        bp_entity_t *grown = allocator_resize(&set->in->allocator, set->entities, set->capacity * sizeof *grown,
                                              capacity * sizeof *grown);
        if (grown == NULL)
            return false;
        set->entities = grown;
        set->capacity = capacity;
    }
    set->entities[set->count++] = entity;
    return true;
}

/* List some more of the entities that have their bits set. True also at the end; `cursor` is past the last word
 * then. */
static bool list_some(set_t *set)
{
    uint32_t words = set->bound / 64 + 1, end = words - set->cursor < LIST_WORDS ? words : set->cursor + LIST_WORDS;
    for (; set->cursor < end && !set->cut; set->cursor++) {
        for (uint64_t bits = set->hits[set->cursor]; bits != 0; bits &= bits - 1) {
            uint32_t index = set->cursor * 64 + (uint32_t)__builtin_ctzll(bits);
            bp_entity_t entity = set->in->api->entity->at(set->in->host, index);
            if (entity.id != 0 && !add(set, entity))
                return false;
        }
        set->cut = set->count >= SET_MOST;
    }
    if (set->cut)
        set->cursor = words;
    return true;
}

/* --- building ------------------------------------------------------------------------------------------------- */

static void next_stage(set_t *set)
{
    set->stage = set->stage == LIST && !set->tree ? BUILT : set->stage + 1;
    set->cursor = 0;
}

/* Carry out a part of one of the stages behind LIST that go over the set entity by entity. */
static void build_block(set_t *set, bp_world_o *world)
{
    uint32_t block = set->stage == PARENTS ? CONDITION_ROWS : COUNT_BLOCK, from = set->cursor;
    uint32_t end = set->count - from < block ? set->count : from + block;
    if (set->stage == PARENTS)
        find_parents(set, world, from, end - from);
    for (uint32_t i = from; i < end && set->stage != PARENTS; i++) {
        uint32_t group = set->parent[i] == BP_NONE ? 0 : set->parent[i] + 1;
        if (set->stage == COUNT)
            set->first[group + 2]++;
        else if (set->stage == SUM)
            set->first[i + 2] += set->first[i + 1];
        else
            set->children[set->first[group + 1]++] = i;
    }
    set->cursor = end;
    if (end == set->count) {
        if (set->stage == SUM)
            set->first[set->count + 2] += set->first[set->count + 1];
        next_stage(set);
    }
}

/* The set has been listed: begin its tree, where it is one and there is memory for it. */
static void begin_tree(set_t *set)
{
    free_hits(set);
    if (set->tree && !make_tree(set)) {
        free_tree(set);
        set->tree = false;
    }
    for (uint32_t i = 0; set->tree && i < set->count; i++)
        set->place_of[bp_entity_index(set->entities[i])] = i;
    next_stage(set);
}

/* Go on with one set; false where there is no memory for it. */
static bool build(set_t *set, bp_world_o *world)
{
    switch (set->stage) {
    case SCAN: return scan_some(set, world);
    case REST: return look_at_rest(set, world);
    case LIST:
        if (!list_some(set))
            return false;
        if (set->cursor > set->bound / 64)
            begin_tree(set);
        return true;
    default: build_block(set, world); return true;
    }
}

/* Go on with one set; one that cannot be built is kept for the sentence that says why. */
static void build_some(set_t *set)
{
    bp_world_o *world = look_world(set->in, set->world);
    if (world == NULL || look_world_number(set->in, world) != set->world_number)
        set->broken = "the world of this set has gone";
    else if (!build(set, world))
        set->broken = "out of memory for this set";
}

static bool is_being_built(const set_t *set)
{
    return set != NULL && set->stage != BUILT && set->broken == NULL;
}

bool sets_build(inspector_t *in, uint64_t deadline_ns)
{
    bool some = false;
    for (uint32_t i = 0; i < SETS_MAX; i++)
        while (is_being_built(in->sets[i])) {
            if (loop_now_ns() >= deadline_ns)
                return some;
            build_some(in->sets[i]);
            some = true;
        }
    return some;
}

bool sets_building(const inspector_t *in)
{
    for (uint32_t i = 0; i < SETS_MAX; i++)
        if (is_being_built(in->sets[i]))
            return true;
    return false;
}
