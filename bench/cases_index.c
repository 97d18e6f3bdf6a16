/* cases_index.c - the test of the article "Rebuilding the Entity Index", by its recipe.
 *
 * There are 32 types of component, of 4 bytes each. Compositions of one to eleven of them are drawn beforehand: 75
 * as in the article, and 500 and 5,000. Entities are made of compositions drawn at random; every component of every
 * entity is set and read back, and a component that it does not have is looked up. As soon as 65,536 are alive, a
 * random part of them, a quarter to three quarters, dies, and the world steps once, which collects. The size is the
 * number of entities made in all, so the time for one entity should not depend on the size. Time includes the first
 * touch of memory, since every run begins with a host of its own.
 *
 * `one_by_one` adds, sets and gets components by single calls; `by_composition` makes 64 entities of one composition
 * at a time, and sets and gets by batch. The floor, `loop`, knows its compositions: arrays for each of them, a
 * record an entity through which every value is set and read, rows swap-erased in a purge. `index_alone` is the same
 * with components that have no fields, so that only the index is measured, as in the article.
 * `index_old` is the index that the article set out from (old_index.h), whose managers keep less and which no
 * other code asks about its entities.
 */
#include "cases.h"

#include "old_index.h"
#include "worlds.h"

#include <stdlib.h>
#include <string.h>

enum {
    KINDS = 32,
    MOST_COMPONENTS = 11,
    MOST_COMPOSITIONS = 5000,
    BATCH = 64,
    LIVING = 65536,
    SPARE = 2048,        /* ids that wait before one is used again */
    OLD_ROUNDS = 2048    /* of collection after a purge: about a third of what the old index then holds is dead */
};

typedef struct composition_t {
    uint32_t kinds[MOST_COMPONENTS];
    uint32_t count, prototype;
    uint32_t missing; /* a kind that the composition does not have */
    uint32_t rows, room;
    bp_entity_t *entities; /* the floor's rows */
    float *columns[MOST_COMPONENTS];
    uint8_t column_of[KINDS]; /* plus one; 0: none */
} composition_t;

typedef struct index_bench_t {
    bench_world_t w;
    uint32_t size, composition_count;
    bool with_values;
    composition_t *compositions;
    uint32_t keys[KINDS];
    bench_field_t values[KINDS];
    old_index_t old;
    floor_entities_t ids;
    floor_record_t *records;
    bp_entity_t *living, *dying;
    uint32_t living_count;
    uint64_t random;
    double sum; /* of the values that were read back */
} index_bench_t;

/* --- the plugin and the compositions ------------------------------------------------------------------ */

static const bp_field_t fields[] = {{.name = "value", .type = BP_F32}};
static char names[KINDS][8];

static const bp_plugin_head_t *make_plugin(bool with_values)
{
    static bp_component_i parts[2][KINDS];
    static bp_plugin_desc_t descs[2];
    static bp_plugin_head_t plugins[2];
    for (uint32_t k = 0; k < KINDS; k++) {
        snprintf(names[k], sizeof names[k], "t%u", k);
        parts[with_values][k] = (bp_component_i){.name = names[k]};
        if (with_values)
            parts[with_values][k].fields = (bp_field_list_t)BP_LIST(fields);
    }
    descs[with_values] = (bp_plugin_desc_t){.version = "1", .components = {parts[with_values], KINDS,
                                                                           sizeof parts[0][0]}};
    plugins[with_values] = (bp_plugin_head_t)BP_PLUGIN_HEAD("index", &descs[with_values]);
    return &plugins[with_values];
}

static void compose(composition_t *c, uint64_t *random)
{
    uint32_t kinds[KINDS];
    for (uint32_t i = 0; i < KINDS; i++)
        kinds[i] = i;
    c->count = 1 + bp_random_below(random, MOST_COMPONENTS);
    for (uint32_t i = 0; i <= c->count; i++) {
        uint32_t j = i + bp_random_below(random, KINDS - i), kind = kinds[j];
        kinds[j] = kinds[i];
        if (i == c->count) {
            c->missing = kind;
            break;
        }
        c->kinds[i] = kind;
        c->column_of[kind] = (uint8_t)(i + 1);
    }
}

static void open_world(index_bench_t *s)
{
    uint32_t chosen[MOST_COMPONENTS];
    worlds_open(&s->w, make_plugin(s->with_values), 0, 0, 1);
    for (uint32_t k = 0; k < KINDS; k++) {
        s->keys[k] = worlds_key(&s->w, names[k]);
        if (s->with_values)
            worlds_field(&s->w, names[k], "value", &s->values[k]);
    }
    for (uint32_t i = 0; i < s->composition_count; i++) {
        composition_t *c = &s->compositions[i];
        for (uint32_t k = 0; k < c->count; k++)
            chosen[k] = s->keys[c->kinds[k]];
        worlds_must(s->w.host, s->w.api->world->prototype(s->w.world, chosen, c->count, &c->prototype), "a prototype");
    }
}

static index_bench_t *begin(uint32_t size, uint32_t compositions, bool with_values)
{
    index_bench_t *s = worlds_memory(1, sizeof *s);
    uint64_t random = 7;
    s->size = size;
    s->composition_count = compositions;
    s->with_values = with_values;
    s->compositions = worlds_memory(compositions, sizeof *s->compositions);
    s->living = worlds_memory(LIVING + BATCH, sizeof *s->living);
    s->dying = worlds_memory(LIVING + BATCH, sizeof *s->dying);
    s->records = worlds_memory(LIVING + BATCH + SPARE, sizeof *s->records);
    s->ids.capacity = LIVING + BATCH + SPARE;
    s->ids.generations = worlds_memory(s->ids.capacity, sizeof(uint32_t));
    s->ids.ring = worlds_memory(s->ids.capacity, sizeof(uint32_t));
    for (uint32_t i = 0; i < compositions; i++)
        compose(&s->compositions[i], &random);
    open_world(s);
    old_index_init(&s->old, KINDS);
    return s;
}

static void *setup(uint32_t size) { return begin(size, 75, true); }
static void *setup_500(uint32_t size) { return begin(size, 500, true); }
static void *setup_5000(uint32_t size) { return begin(size, MOST_COMPOSITIONS, true); }
static void *setup_alone(uint32_t size) { return begin(size, 75, false); }

static void free_floor(index_bench_t *s)
{
    for (uint32_t i = 0; i < s->composition_count; i++) {
        composition_t *c = &s->compositions[i];
        free(c->entities);
        for (uint32_t k = 0; k < c->count; k++) {
            free(c->columns[k]);
            c->columns[k] = NULL;
        }
        c->entities = NULL;
        c->rows = c->room = 0;
    }
}

static void teardown(void *state)
{
    index_bench_t *s = state;
    measure_keep(s->sum);
    worlds_destroy(&s->w);
    old_index_free(&s->old);
    free_floor(s);
    free(s->compositions);
    free(s->living);
    free(s->dying);
    free(s->records);
    free(s->ids.generations);
    free(s->ids.ring);
    free(s);
}

/* --- life and death, the same for all ----------------------------------------------------------------- */

static void begin_anew(index_bench_t *s)
{
    s->living_count = 0;
    s->random = 1;
    machine_release();
}

static void fresh_world(void *state)
{
    index_bench_t *s = state;
    worlds_destroy(&s->w);
    begin_anew(s);
    open_world(s);
}

static void fresh_index(void *state)
{
    index_bench_t *s = state;
    old_index_free(&s->old);
    begin_anew(s);
    old_index_init(&s->old, KINDS);
}

static void fresh_floor(void *state)
{
    index_bench_t *s = state;
    free_floor(s);
    begin_anew(s);
    memset(s->ids.generations, 0, s->ids.capacity * sizeof(uint32_t));
    memset(s->records, 0, s->ids.capacity * sizeof *s->records);
    s->ids.bound = s->ids.waiting = s->ids.head = 0;
}

static composition_t *draw(index_bench_t *s)
{
    return &s->compositions[bp_random_below(&s->random, s->composition_count)];
}

/* Draw the entities that die, once enough live: returns how many. */
static uint32_t choose_dying(index_bench_t *s)
{
    if (s->living_count < LIVING)
        return 0;
    uint32_t deaths = LIVING / 4 + bp_random_below(&s->random, LIVING / 2);
    for (uint32_t i = 0; i < deaths; i++) {
        uint32_t at = bp_random_below(&s->random, s->living_count);
        s->dying[i] = s->living[at];
        s->living[at] = s->living[--s->living_count];
    }
    return deaths;
}

static void purge(index_bench_t *s)
{
    uint32_t deaths = choose_dying(s);
    if (deaths == 0)
        return;
    worlds_end(&s->w, s->dying, deaths);
    worlds_step(&s->w);
}

/* --- the engine --------------------------------------------------------------------------------------- */

static bp_result_t make_one(index_bench_t *s, const composition_t *c, bp_entity_t *e)
{
    bp_result_t result = worlds_make_bare(&s->w, e, 1);
    for (uint32_t k = 0; k < c->count; k++)
        result |= worlds_add(&s->w, s->keys[c->kinds[k]], e, 1);
    return result;
}

static bp_result_t use_one(index_bench_t *s, const composition_t *c, const bp_entity_t *e)
{
    bp_result_t result = BP_OK;
    for (uint32_t k = 0; k < c->count; k++) {
        float value = (float)c->kinds[k], back;
        result |= worlds_set(&s->w, &s->values[c->kinds[k]], e, 1, &value, 0);
        result |= worlds_get(&s->w, &s->values[c->kinds[k]], e, 1, &back, 0);
        s->sum += (double)back;
    }
    s->sum += worlds_has(&s->w, s->keys[c->missing], e, 1, NULL);
    return result;
}

static bp_result_t look_up_one(index_bench_t *s, const composition_t *c, const bp_entity_t *e)
{
    for (uint32_t k = 0; k < c->count; k++)
        s->sum += worlds_has(&s->w, s->keys[c->kinds[k]], e, 1, NULL);
    s->sum += worlds_has(&s->w, s->keys[c->missing], e, 1, NULL);
    return BP_OK;
}

static void one_by_one(void *state)
{
    index_bench_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t done = 0; done < s->size; done++) {
        const composition_t *c = draw(s);
        bp_entity_t *e = &s->living[s->living_count++];
        result |= make_one(s, c, e);
        result |= s->with_values ? use_one(s, c, e) : look_up_one(s, c, e);
        purge(s);
    }
    worlds_must(s->w.host, result, "making an entity");
}

static bp_result_t use_batch(index_bench_t *s, const composition_t *c, const bp_entity_t *e, uint32_t count)
{
    float values[BATCH], back[BATCH];
    bp_result_t result = BP_OK;
    for (uint32_t k = 0; k < c->count; k++) {
        bench_field_t *field = &s->values[c->kinds[k]];
        for (uint32_t i = 0; i < count; i++)
            values[i] = (float)c->kinds[k];
        result |= worlds_set(&s->w, field, e, count, values, sizeof *values);
        result |= worlds_get(&s->w, field, e, count, back, sizeof *back);
        s->sum += (double)back[0];
    }
    s->sum += worlds_has(&s->w, s->keys[c->missing], e, count, NULL);
    return result;
}

static bp_result_t look_up_batch(index_bench_t *s, const composition_t *c, const bp_entity_t *e, uint32_t count)
{
    for (uint32_t k = 0; k < c->count; k++)
        s->sum += worlds_has(&s->w, s->keys[c->kinds[k]], e, count, NULL);
    s->sum += worlds_has(&s->w, s->keys[c->missing], e, count, NULL);
    return BP_OK;
}

static void by_composition(void *state)
{
    index_bench_t *s = state;
    bp_result_t result = BP_OK;
    for (uint32_t done = 0, count; done < s->size; done += count) {
        const composition_t *c = draw(s);
        bp_entity_t *e = s->living + s->living_count;
        count = s->size - done < BATCH ? s->size - done : BATCH;
        result |= worlds_make(&s->w, c->prototype, e, count);
        result |= s->with_values ? use_batch(s, c, e, count) : look_up_batch(s, c, e, count);
        s->living_count += count;
        purge(s);
    }
    worlds_must(s->w.host, result, "making entities");
}

/* --- the floor ---------------------------------------------------------------------------------------- */

static void need_room(composition_t *c)
{
    if (c->rows < c->room)
        return;
    c->room = c->room == 0 ? 16 : 2 * c->room;
    c->entities = realloc(c->entities, c->room * sizeof *c->entities);
    bool good = c->entities != NULL;
    for (uint32_t k = 0; k < c->count; k++) {
        c->columns[k] = realloc(c->columns[k], c->room * sizeof(float));
        good = good && c->columns[k] != NULL;
    }
    worlds_must(NULL, good ? BP_OK : BP_ERROR_MEMORY, "growing a floor's rows");
}

static bp_entity_t own_create(floor_entities_t *ids)
{
    bp_entity_t e;
    if (ids->waiting > 1024) {
        floor_create_recycled(ids, &e, 1);
    } else {
        uint32_t index = ids->bound++;
        e.id = (uint64_t)++ids->generations[index] << 32 | index;
    }
    return e;
}

static void own_make(index_bench_t *s, uint32_t number, bp_entity_t *e)
{
    composition_t *c = &s->compositions[number];
    *e = own_create(&s->ids);
    need_room(c);
    s->records[bp_entity_index(*e)] = (floor_record_t){bp_entity_generation(*e), number, c->rows};
    c->entities[c->rows++] = *e;
}

/* The cell of an entity's component; NULL where the entity has no such component. */
static float *own_cell(index_bench_t *s, bp_entity_t e, uint32_t kind)
{
    const floor_record_t *record = &s->records[bp_entity_index(e)];
    if (record->generation != bp_entity_generation(e))
        return NULL;
    const composition_t *c = &s->compositions[record->group];
    return c->column_of[kind] == 0 ? NULL : &c->columns[c->column_of[kind] - 1][record->row];
}

static void own_use(index_bench_t *s, const composition_t *c, bp_entity_t e)
{
    for (uint32_t k = 0; k < c->count; k++) {
        *own_cell(s, e, c->kinds[k]) = (float)c->kinds[k];
        s->sum += (double)*own_cell(s, e, c->kinds[k]);
    }
    s->sum += own_cell(s, e, c->missing) != NULL;
}

static void own_erase(index_bench_t *s, bp_entity_t e)
{
    const floor_record_t *record = &s->records[bp_entity_index(e)];
    composition_t *c = &s->compositions[record->group];
    uint32_t row = record->row, last = --c->rows;
    c->entities[row] = c->entities[last];
    for (uint32_t k = 0; k < c->count; k++)
        c->columns[k][row] = c->columns[k][last];
    s->records[bp_entity_index(c->entities[row])].row = row;
}

static void loop(void *state)
{
    index_bench_t *s = state;
    for (uint32_t done = 0; done < s->size; done++) {
        uint32_t number = (uint32_t)(draw(s) - s->compositions), deaths;
        bp_entity_t *e = &s->living[s->living_count++];
        own_make(s, number, e);
        own_use(s, &s->compositions[number], *e);
        deaths = choose_dying(s);
        for (uint32_t i = 0; i < deaths; i++)
            own_erase(s, s->dying[i]);
        floor_destroy(&s->ids, s->dying, deaths);
    }
}

/* --- the old index ------------------------------------------------------------------------------------ */

static void old_use(index_bench_t *s, const composition_t *c, bp_entity_t e)
{
    for (uint32_t k = 0; k < c->count; k++) {
        old_index_find(&s->old, e, c->kinds[k])->x = (float)c->kinds[k];
        s->sum += (double)old_index_find(&s->old, e, c->kinds[k])->x;
    }
    s->sum += old_index_find(&s->old, e, c->missing) != NULL;
}

static void old_index(void *state)
{
    index_bench_t *s = state;
    for (uint32_t done = 0; done < s->size; done++) {
        const composition_t *c = draw(s);
        bp_entity_t *e = &s->living[s->living_count++];
        *e = old_index_create(&s->old);
        for (uint32_t k = 0; k < c->count; k++)
            old_index_add(&s->old, *e, c->kinds[k], c->kinds[k]);
        old_use(s, c, *e);
        uint32_t deaths = choose_dying(s);
        for (uint32_t i = 0; i < deaths; i++)
            old_index_destroy(&s->old, s->dying[i]);
        for (uint32_t i = 0; deaths > 0 && i < OLD_ROUNDS; i++)
            old_index_collect(&s->old);
    }
}

/* --- memory: the index and the values ----------------------------------------------------------------- */

static double world_held(void *state)
{
    index_bench_t *s = state;
    return (double)worlds_world_bytes(&s->w);
}

static double old_held(void *state)
{
    index_bench_t *s = state;
    return (double)s->old.bytes;
}

/* --- groups ------------------------------------------------------------------------------------------- */

#define MB 1e6

static const uint32_t sizes[] = {10000,  20000,   40000,   80000,   160000,   320000,
                                 640000, 1280000, 2560000, 5120000, 10240000, 0};
static const uint32_t some_sizes[] = {80000, 640000, 2560000, 0};

#define INDEX_GROUP(group, label, all_sizes, start, singly, composed, most)                                           \
    const group_t group = {                                                                                           \
        .name = label,                                                                                                \
        .sizes = all_sizes,                                                                                           \
        .setup = start,                                                                                               \
        .teardown = teardown,                                                                                         \
        .takes_long = true,                                                                                           \
        .sides = {{.name = "loop", .prepare = fresh_floor, .run = loop},                                              \
                  {.name = "one_by_one", .floor = "loop", .prepare = fresh_world, .run = one_by_one,                  \
                   .bound = AT_MOST(singly), .bytes = world_held, .most_bytes = most},                                \
                  {.name = "by_composition", .floor = "loop", .prepare = fresh_world, .run = by_composition,          \
                   .bound = AT_MOST(composed), .bytes = world_held, .most_bytes = most}},                             \
    }

INDEX_GROUP(group_index, "index_test", sizes, setup, 200, 120, 6 * MB);
INDEX_GROUP(group_index_500, "index_test_500", some_sizes, setup_500, 250, 250, 0);
INDEX_GROUP(group_index_5000, "index_test_5000", some_sizes, setup_5000, 300, 300, 0);
INDEX_GROUP(group_index_alone, "index_alone", sizes, setup_alone, 100, 100, 0.8 * MB);

static const uint32_t old_sizes[] = {10000, 20000, 40000, 80000, 160000, 320000, 640000, 1280000, 0};

const group_t group_index_old = {
    .name = "index_old",
    .sizes = old_sizes,
    .setup = setup,
    .teardown = teardown,
    .takes_long = true,
    .sides = {{.name = "loop", .prepare = fresh_floor, .run = loop},
              {.name = "old_index", .floor = "loop", .prepare = fresh_index, .run = old_index, .bytes = old_held}},
};
