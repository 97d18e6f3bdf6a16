/* cases_join.c - systems over two and three components: rows that match, as runs of columns.
 *
 * The floor is one loop over packed arrays that hold nothing but the matching rows; the subjects call the same function
 * for each match that they are handed. `step` is a whole step of the world, beside one pass over the arrays
 * (`packed_once`); in `system` the system goes over its matches REPEATS times in one step, beside as many passes,
 * which shows what the columns themselves cost. Components are added one after another, in the order of creation
 * or shuffled.
 *
 * The last group joins with a manager that has storage of its own, whose slots follow no order: plain indexing, and
 * plugin_api/helpers/bp_gather.h.
 */
#include "cases.h"

#include "floors.h"
#include "worlds.h"

#include <helpers/bp_gather.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 64, OTHERS = 7, PROTOTYPES = 75 };

/* --- the plugin ----------------------------------------------------------------------------------------- */

static const bp_field_t fields[] = {{.name = "value", .type = BP_F32, .initial = "1"}};

/* The smallest manager with storage of its own: matrices, as many managers have them. */
typedef struct own_t {
    uint32_t count, capacity;
    uint32_t *order; /* the slot of each instance in the order of creation, or NULL */
    bp_mat4_t *values;
} own_t;

static own_t *own_storage; /* of the group that is being measured */

static uint32_t passes; /* over the matches, in the step that comes */

static bp_result_t own_create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots)
{
    (void)m, (void)instance, (void)entities, (void)columns;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = own_storage->order[own_storage->count++];
    return BP_OK;
}

static void own_destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)m, (void)slots, (void)count;
}

static uint32_t own_count(bp_manager_t *m)
{
    (void)m;
    return own_storage->count;
}

static const bp_storage_i own_storage_verbs = {
    .struct_size = sizeof(bp_storage_i), .create = own_create, .destroy = own_destroy, .count = own_count};

static const bp_component_i components[] = {
    {.name = "a", .fields = BP_LIST(fields)},
    {.name = "b", .fields = BP_LIST(fields)},
    {.name = "c", .fields = BP_LIST(fields)},
    {.name = "d0", .fields = BP_LIST(fields)},
    {.name = "d1", .fields = BP_LIST(fields)},
    {.name = "d2", .fields = BP_LIST(fields)},
    {.name = "d3", .fields = BP_LIST(fields)},
    {.name = "d4", .fields = BP_LIST(fields)},
    {.name = "d5", .fields = BP_LIST(fields)},
    {.name = "d6", .fields = BP_LIST(fields)},
    {.name = "own", .storage = &own_storage_verbs},
};

static void run_two(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step;
    for (uint32_t k = 0; k < passes; k++)
        for (uint32_t m = 0; m < count; m++)
            floor_multiply_add(BP_TERM_COLUMN(&matches[m], float, 0, 0), BP_TERM_COLUMN(&matches[m], float, 1, 0),
                               BP_TERM_COLUMN(&matches[m], float, 1, 0), matches[m].count);
}

static void run_three(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step;
    for (uint32_t k = 0; k < passes; k++)
        for (uint32_t m = 0; m < count; m++)
            floor_multiply_add(BP_TERM_COLUMN(&matches[m], float, 0, 0), BP_TERM_COLUMN(&matches[m], float, 1, 0),
                               BP_TERM_COLUMN(&matches[m], float, 2, 0), matches[m].count);
}

/* Each step finds the columns anew, as a system with `run` does. */
static void run_each(const bp_match_t *match, uint32_t count)
{
    floor_multiply_add(BP_TERM_COLUMN(match, float, 0, 0), BP_TERM_COLUMN(match, float, 1, 0),
                       BP_TERM_COLUMN(match, float, 1, 0), count);
}

static void run_own(const bp_match_t *match, uint32_t count)
{
    const uint32_t *slots = match->slots[1];
    const bp_mat4_t *values = own_storage->values;
    float *a = BP_TERM_COLUMN(match, float, 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        bp_gather_ahead(values, sizeof *values, slots, i, count);
        a[i] += values[slots[i]].m[0];
    }
}

static const bp_term_field_t read_value[] = {{.name = "value", .type = BP_F32}},
                             write_value[] = {{.name = "value", .type = BP_F32, .access = BP_WRITE}};
#define WRITES(type) {.component = type, .fields = BP_LIST(write_value)}
#define READS(type) {.component = type, .fields = BP_LIST(read_value)}
static const bp_term_t two[] = {WRITES("a"), READS("b")};
static const bp_term_t three[] = {WRITES("a"), READS("b"), READS("c")};
static const bp_term_t with_own[] = {WRITES("a"), {.component = "own"}};
static const bp_system_i systems[] = {
    {.name = "two", .terms = BP_LIST(two), .run_all = run_two},
    {.name = "three", .terms = BP_LIST(three), .run_all = run_three},
    {.name = "each", .terms = BP_LIST(two), .run = run_each},
    {.name = "with_own", .terms = BP_LIST(with_own), .run = run_own},
};
static const bp_plugin_desc_t plugin_desc = {
    .version = "1", .components = BP_LIST(components), .systems = BP_LIST(systems)};
static const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("joins", &plugin_desc);

/* --- worlds ----------------------------------------------------------------------------------------------- */

typedef struct join_t {
    bench_world_t w;
    float *a, *b, *c;  /* the packed arrays */
    uint32_t matching;
    uint32_t repeats;
    uint32_t *order;
    own_t own;
} join_t;

static join_t *open_world(const char *system, uint32_t first, uint32_t last)
{
    static const bp_plugin_head_t *const linked[] = {&plugin};
    join_t *j = worlds_memory(1, sizeof *j);
    bench_world_t *w = &j->w;
    w->host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    w->api = bp_host_api(w->host);
    worlds_must(w->host, bp_host_load_plugin(w->host, "joins", NULL, 0), "loading");
    w->world = bp_world_create(w->host, &(bp_world_desc_t){.name = "w"});
    for (uint32_t i = first; i < last; i++)
        worlds_must(w->host, bp_world_use_component(w->world, components[i].name), "a component");
    worlds_must(w->host, bp_world_use_system(w->world, system), "a system");
    return j;
}

static void close_world(void *state)
{
    join_t *j = state;
    free(j->a);
    free(j->b);
    free(j->c);
    free(j->order);
    free(j->own.order);
    free(j->own.values);
    worlds_destroy(&j->w);
    free(j);
}

static void take_arrays(join_t *j, uint32_t matching)
{
    j->matching = matching;
    j->a = worlds_memory(matching, sizeof(float));
    j->b = worlds_memory(matching, sizeof(float));
    j->c = worlds_memory(matching, sizeof(float));
    for (uint32_t i = 0; i < matching; i++)
        j->a[i] = j->b[i] = j->c[i] = 1e-3f;
}

static void add_to_one_in(join_t *j, const char *component, const bp_entity_t *e, uint32_t count, uint32_t one_in,
                          const uint32_t *order)
{
    uint32_t key = worlds_key(&j->w, component);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = order == NULL ? i : order[i];
        if (at % one_in == 0)
            worlds_must(j->w.host, j->w.api->world->add(j->w.world, key, &e[at], 1), "adding");
    }
}

static join_t *setup_join(uint32_t size, uint32_t terms, uint32_t one_in, bool shuffled)
{
    join_t *j = open_world(terms == 2 ? "two" : "three", 0, 3);
    uint32_t *order = shuffled ? worlds_order(size, 7) : NULL, key = worlds_key(&j->w, "a"), prototype;
    worlds_must(j->w.host, j->w.api->world->prototype(j->w.world, &key, 1, &prototype), "a prototype");
    bp_entity_t *e = worlds_memory(size, sizeof *e);
    worlds_must(j->w.host, j->w.api->world->create(j->w.world, prototype, e, size), "creating");
    add_to_one_in(j, "b", e, size, one_in, order);
    if (terms == 3)
        add_to_one_in(j, "c", e, size, one_in, order);
    free(e);
    free(order);
    take_arrays(j, (size + one_in - 1) / one_in);
    j->repeats = REPEATS;
    return j;
}

#define SETUP(terms, one_in)                                                                                          \
    static void *ordered_##terms##_##one_in(uint32_t size) { return setup_join(size, terms, one_in, false); }         \
    static void *shuffled_##terms##_##one_in(uint32_t size) { return setup_join(size, terms, one_in, true); }
SETUP(2, 2) SETUP(2, 8) SETUP(2, 64) SETUP(3, 2) SETUP(3, 8) SETUP(3, 64)

static void packed_two(void *state)
{
    join_t *j = state;
    for (uint32_t k = 0; k < j->repeats; k++)
        floor_multiply_add(j->a, j->b, j->b, j->matching);
}

static void packed_three(void *state)
{
    join_t *j = state;
    for (uint32_t k = 0; k < j->repeats; k++)
        floor_multiply_add(j->a, j->b, j->c, j->matching);
}

static void packed_two_once(void *state)
{
    join_t *j = state;
    floor_multiply_add(j->a, j->b, j->b, j->matching);
}

static void packed_three_once(void *state)
{
    join_t *j = state;
    floor_multiply_add(j->a, j->b, j->c, j->matching);
}

static void step(void *state)
{
    join_t *j = state;
    passes = 1;
    worlds_step(&j->w);
}

static void long_step(void *state)
{
    join_t *j = state;
    passes = REPEATS;
    worlds_step(&j->w);
}

#define JOIN(group, label, start, floor_loop)                                                                         \
    const group_t group = {                                                                                           \
        .name = label,                                                                                                \
        .setup = start,                                                                                               \
        .teardown = close_world,                                                                                      \
        .whole = true,                                                                                                \
        .sides = {{.name = "packed", .run = floor_loop},                                                              \
                  {.name = "system", .floor = "packed", .run = long_step, .bound = AT_MOST_TIMES(1.1)},               \
                  {.name = "packed_once", .run = floor_loop##_once},                                                  \
                  {.name = "step", .floor = "packed_once", .run = step}},                                             \
    }
JOIN(group_join_2_2, "join2_half", ordered_2_2, packed_two);
JOIN(group_join_2_8, "join2_eighth", ordered_2_8, packed_two);
JOIN(group_join_2_64, "join2_64th", ordered_2_64, packed_two);
JOIN(group_join_3_2, "join3_half", ordered_3_2, packed_three);
JOIN(group_join_3_8, "join3_eighth", ordered_3_8, packed_three);
JOIN(group_join_3_64, "join3_64th", ordered_3_64, packed_three);
JOIN(group_join_2_2s, "join2_half_shuffled", shuffled_2_2, packed_two);
JOIN(group_join_2_8s, "join2_eighth_shuffled", shuffled_2_8, packed_two);
JOIN(group_join_2_64s, "join2_64th_shuffled", shuffled_2_64, packed_two);
JOIN(group_join_3_2s, "join3_half_shuffled", shuffled_3_2, packed_three);
JOIN(group_join_3_8s, "join3_eighth_shuffled", shuffled_3_8, packed_three);
JOIN(group_join_3_64s, "join3_64th_shuffled", shuffled_3_64, packed_three);

/* --- 75 prototypes --------------------------------------------------------------------------------------- */

/* `size` entities in all, evenly among prototypes that have a, b and one subset each of seven others. */
static void *setup_prototypes(uint32_t size)
{
    join_t *j = open_world("each", 0, 10);
    uint32_t each = size / PROTOTYPES;
    bp_entity_t *e = worlds_memory(each, sizeof *e);
    for (uint32_t p = 0; p < PROTOTYPES; p++) {
        uint32_t keys[2 + OTHERS], count = 2, prototype;
        keys[0] = worlds_key(&j->w, "a");
        keys[1] = worlds_key(&j->w, "b");
        for (uint32_t d = 0; d < OTHERS; d++) {
            if ((p + 1) >> d & 1)
                keys[count++] = worlds_key(&j->w, components[3 + d].name);
        }
        worlds_must(j->w.host, j->w.api->world->prototype(j->w.world, keys, count, &prototype), "a prototype");
        worlds_must(j->w.host, j->w.api->world->create(j->w.world, prototype, e, each), "creating");
    }
    free(e);
    take_arrays(j, each * PROTOTYPES);
    j->repeats = 1;
    return j;
}

static const uint32_t prototype_sizes[] = {75 * 200, 75 * 400, 75 * 800, 0};

const group_t group_join_prototypes = {
    .name = "join_75_prototypes",
    .sizes = prototype_sizes,
    .setup = setup_prototypes,
    .teardown = close_world,
    .whole = true,
    .sides = {{.name = "packed", .run = packed_two},
              {.name = "step", .floor = "packed", .run = step, .bound = AT_MOST_TIMES(1.5)}},
};

/* --- a manager with storage of its own ---------------------------------------------------------------------- */

static void *setup_own(uint32_t size)
{
    join_t *j = open_world("with_own", 0, 11);
    j->own = (own_t){.capacity = size, .order = worlds_order(size, 3),
                     .values = worlds_memory(size, sizeof(bp_mat4_t))};
    own_storage = &j->own;
    uint32_t keys[] = {worlds_key(&j->w, "a"), worlds_key(&j->w, "own")}, prototype;
    worlds_must(j->w.host, j->w.api->world->prototype(j->w.world, keys, 2, &prototype), "a prototype");
    bp_entity_t *e = worlds_memory(size, sizeof *e);
    worlds_must(j->w.host, j->w.api->world->create(j->w.world, prototype, e, size), "creating");
    free(e);
    take_arrays(j, size);
    for (uint32_t i = 0; i < size; i++)
        j->own.values[i].m[0] = 1e-3f;
    return j;
}

static void plain_indexing(void *state)
{
    join_t *j = state;
    float *a = j->a;
    const bp_mat4_t *values = j->own.values;
    const uint32_t *slots = j->own.order;
    for (uint32_t i = 0, count = j->matching; i < count; i++)
        a[i] += values[slots[i]].m[0];
}

static void indexing_ahead(void *state)
{
    join_t *j = state;
    float *a = j->a;
    const bp_mat4_t *values = j->own.values;
    const uint32_t *slots = j->own.order;
    for (uint32_t i = 0, count = j->matching; i < count; i++) {
        bp_gather_ahead(values, sizeof *values, slots, i, count);
        a[i] += values[slots[i]].m[0];
    }
}

const group_t group_join_own = {
    .name = "join_own_storage",
    .setup = setup_own,
    .teardown = close_world,
    .sides = {{.name = "plain_indexing", .run = plain_indexing},
              {.name = "gathered", .floor = "plain_indexing", .run = indexing_ahead},
              {.name = "system", .floor = "plain_indexing", .run = step, .bound = AT_MOST_TIMES(1.3)}},
};
