/* cases_churn.c - long use: entities that come and go at every step, and many that die at once.
 *
 * Churn: a share of all living entities, drawn at random, is destroyed and as many are created, in two batches, and
 * then the world steps; 600 times. Entities have a point_mass, which simulates, so dead rows that
 * are not collected show in the step too. Floor: records and arrays of one's own, rows swap-erased at once, and the
 * plugin's loop.
 *
 * Mass death: a share of all dies in one batch, then the world steps 600 times with nothing else happening. The
 * component has the same fields and does not simulate, so the time of a step is that of collection. The time of a death
 * is that of the batch and of the steps after it that are longer than twice the usual step, as far as they take longer
 * than the usual step, which is the median of the last hundred.
 *
 * Waning: how many dead rows there are after so many steps, when many have died at once, or when some die in each step
 * and as many of another kind come, who do not fill their rows. When entities of the same kind come, they fill all of
 * them before the step ends. Counted, not timed: once is enough.
 *
 * A course is gone through several times with the same seed, and so with the same dead: the longest step is the longest
 * of the shortest times of each step, because other work on the machine does not slow the same step each time.
 */
#include "cases.h"

#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 600, EARLY = 120, SPARE = 4096, FIELD_BYTES = 40, SLACK_ROWS = 4096, SLACK_NS = 1000000 };

static double median_of(const double *values, uint32_t count)
{
    double sorted[STEPS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = n++;
        for (; at > 0 && sorted[at - 1] > values[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = values[i];
    }
    return sorted[count / 2];
}

static double longest_of(const double *values, uint32_t count)
{
    double longest = 0;
    for (uint32_t i = 0; i < count; i++)
        longest = values[i] > longest ? values[i] : longest;
    return longest;
}

/* For a figure that is of all entities and not of each. */
static void put_whole(results_t *results, const char *course, const char *figure, uint32_t size, figure_unit_t unit,
                      double value, bound_t bound)
{
    measure_put(results, course, figure, size, unit, &value, NULL, 1, bound)->whole = true;
}

static const bound_t no_bound = {BOUND_NONE, 0, 0, 0, NULL};

/* The most dead rows that there may be after a step, in per cent of the living. */
static double most_dead(uint32_t living)
{
    return 25 + 100.0 * (double)SLACK_ROWS / living;
}

/* The bound of the longest step: one and a half times the usual step, and a millisecond. */
static bound_t most_step(double usual)
{
    return (bound_t)AT_MOST(1.5 * usual + (double)SLACK_NS);
}

/* --- the floor: records, arrays and ids of one's own --------------------------------------------------- */

typedef struct own_t {
    floor_entities_t ids;
    floor_record_t *records;
    floor_group_t group;
    bp_entity_t *living;
} own_t;

static void own_open(own_t *own, uint32_t size)
{
    uint32_t room = 2 * size + SPARE;
    memset(own, 0, sizeof *own);
    own->ids.capacity = room;
    own->ids.generations = worlds_memory(room, sizeof(uint32_t));
    own->ids.ring = worlds_memory(room, sizeof(uint32_t));
    own->records = worlds_memory(room, sizeof *own->records);
    own->living = worlds_memory(room, sizeof *own->living);
    worlds_group(&own->group, room);
    floor_create_fresh(&own->ids, own->living, room); /* every id used once, so that all come from the ring */
    for (uint32_t i = 0; i < room; i++)
        own->ids.generations[i] = 1;
    floor_destroy(&own->ids, own->living, room);
    floor_create_recycled(&own->ids, own->living, size);
    floor_append(own->records, &own->group, 0, own->living, size);
}

static void own_close(own_t *own)
{
    free(own->ids.generations);
    free(own->ids.ring);
    free(own->records);
    free(own->living);
    worlds_free_group(&own->group);
}

static void own_end(own_t *own, const bp_entity_t *dying, uint32_t count)
{
    measure_keep(floor_erase(own->records, &own->group, dying, count));
    floor_destroy(&own->ids, dying, count);
}

static void own_make(own_t *own, bp_entity_t *made, uint32_t count)
{
    floor_create_recycled(&own->ids, made, count);
    floor_append(own->records, &own->group, 0, made, count);
}

static void own_step(own_t *own)
{
    floor_simulate(&own->group.position->x, &own->group.velocity->x, &own->group.acceleration->x, 1.0f / 60,
                   (size_t)3 * own->group.count);
}

/* --- churn -------------------------------------------------------------------------------------------- */

typedef struct churn_t {
    bench_world_t w;
    own_t own;
    uint32_t size, each; /* each: entities that go and come in a step */
    bp_entity_t *living, *batch;
    uint64_t random;
    double change, step, own_change, own_step; /* nanoseconds in all steps together */
    double steps[STEPS];                       /* the shortest time of each step in all goings */
    double dead;                               /* the most dead rows after any step, in per cent of the living */
    double held, resident;                     /* bytes an entity in the end, beyond its fields */
} churn_t;

/* Draw the entities that go, without repeats: they change places with the last ones. */
static void draw(churn_t *c, bp_entity_t *living, uint64_t *random)
{
    for (uint32_t i = 0; i < c->each; i++) {
        uint32_t last = c->size - 1 - i, at = bp_random_below(random, last + 1);
        c->batch[i] = living[at];
        living[at] = living[last];
        living[last] = c->batch[i];
    }
}

static void churn_step(churn_t *c, uint32_t number, bool first)
{
    bp_entity_t *made = c->living + c->size - c->each;
    draw(c, c->living, &c->random);
    uint64_t begin = measure_now();
    worlds_end(&c->w, c->batch, c->each);
    worlds_must(c->w.host, worlds_make(&c->w, c->w.prototype, made, c->each), "creating");
    uint64_t middle = measure_now();
    worlds_step(&c->w);
    uint64_t end = measure_now();
    c->change += (double)(middle - begin);
    c->step += (double)(end - middle);
    if (first || (double)(end - middle) < c->steps[number])
        c->steps[number] = (double)(end - middle);
    double dead = 100.0 * worlds_dead_rows(&c->w) / c->size;
    c->dead = dead > c->dead ? dead : c->dead;
}

static void churn_own_step(churn_t *c)
{
    bp_entity_t *made = c->own.living + c->size - c->each;
    draw(c, c->own.living, &c->random);
    uint64_t begin = measure_now();
    own_end(&c->own, c->batch, c->each);
    own_make(&c->own, made, c->each);
    uint64_t middle = measure_now();
    own_step(&c->own);
    c->own_change += (double)(middle - begin);
    c->own_step += (double)(measure_now() - middle);
}

static void churn_once(churn_t *c, bool first)
{
    machine_release();
    c->change = c->step = c->own_change = c->own_step = c->dead = 0;
    c->random = 3;
    worlds_create(&c->w, 0);
    uint64_t resident = machine_resident(), held = worlds_host_bytes(&c->w);
    worlds_must(c->w.host, worlds_make(&c->w, c->w.prototype, c->living, c->size), "creating");
    for (uint32_t i = 0; i < STEPS; i++)
        churn_step(c, i, first);
    c->held = (double)(worlds_host_bytes(&c->w) - held) / c->size - (double)FIELD_BYTES;
    c->resident = ((double)machine_resident() - (double)resident) / c->size - (double)FIELD_BYTES;
    worlds_destroy(&c->w);
    own_open(&c->own, c->size);
    c->random = 3;
    for (uint32_t i = 0; i < STEPS; i++)
        churn_own_step(c);
    own_close(&c->own);
}

static void run_churn(results_t *results, const char *name, uint32_t size, uint32_t times, double share)
{
    churn_t *c = worlds_memory(1, sizeof *c);
    double change[8], own_change[8], step[8], own_step[8];
    c->size = size;
    c->each = (uint32_t)(size * share);
    c->living = worlds_memory(size, sizeof *c->living);
    c->batch = worlds_memory(c->each, sizeof *c->batch);
    for (uint32_t i = 0; i < times && i < 8; i++) {
        churn_once(c, i == 0);
        change[i] = c->change / (double)STEPS / c->each;
        own_change[i] = c->own_change / (double)STEPS / c->each;
        step[i] = c->step / (double)STEPS / size;
        own_step[i] = c->own_step / (double)STEPS / size;
    }
    measure_put(results, name, "destroy_and_create", size, UNIT_NS, change, own_change, times, no_bound);
    measure_put(results, name, "mean_step", size, UNIT_NS, step, own_step, times, no_bound);
    put_whole(results, name, "longest_step", size, UNIT_NS, longest_of(c->steps, STEPS),
              most_step(median_of(c->steps, STEPS)));
    put_whole(results, name, "most_dead_rows", size, UNIT_PERCENT, c->dead, (bound_t)AT_MOST(most_dead(size)));
    measure_put(results, name, "memory_allocated", size, UNIT_BYTES, &c->held, NULL, 1, no_bound);
    measure_put(results, name, "memory_resident", size, UNIT_BYTES, &c->resident, NULL, 1,
                (bound_t)AT_MOST_FROM(24, 1000000));
    free(c->living);
    free(c->batch);
    free(c);
}

static void churn_tenth(results_t *results, uint32_t size, uint32_t times)
{
    run_churn(results, "churn/0.1_percent", size, times, 0.001);
}

static void churn_one(results_t *results, uint32_t size, uint32_t times)
{
    run_churn(results, "churn/1_percent", size, times, 0.01);
}

static void churn_five(results_t *results, uint32_t size, uint32_t times)
{
    run_churn(results, "churn/5_percent", size, times, 0.05);
}

static const uint32_t sizes[] = {10000, 100000, 1000000, 0};

const course_t course_churn_tenth = {"churn/0.1_percent", sizes, churn_tenth};
const course_t course_churn_one = {"churn/1_percent", sizes, churn_one};
const course_t course_churn_five = {"churn/5_percent", sizes, churn_five};

/* --- mass death --------------------------------------------------------------------------------------- */

static const bp_field_t body_fields[] = {
    {.name = "mass", .type = BP_F32, .initial = "1"}, {.name = "position", .type = BP_VEC3},
    {.name = "velocity", .type = BP_VEC3}, {.name = "acceleration", .type = BP_VEC3}};
static const bp_component_i body[] = {{.name = "body", .fields = BP_LIST(body_fields)}, {.name = "ghost"}};
static const bp_plugin_desc_t plugin_desc = {.version = "1", .components = BP_LIST(body)};
static const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("bodies", &plugin_desc);

typedef struct death_t {
    bench_world_t w;
    own_t own;
    uint32_t size, dying;
    bp_entity_t *all;
    double batch, own_batch;  /* nanoseconds */
    double steps[STEPS];      /* the shortest of all goings */
    double early, late;       /* dead rows after EARLY and STEPS steps, in per cent of the living */
    double kept_after;        /* steps until dead rows were few enough */
    double held;              /* bytes in the end for each that lived at the beginning, beyond fields */
} death_t;

static double dead_share(const death_t *d)
{
    uint32_t living = d->size - d->dying;
    return 100.0 * worlds_dead_rows(&d->w) / (living > 0 ? living : d->size);
}

static void die(death_t *d, bool first)
{
    uint32_t living = d->size - d->dying > 0 ? d->size - d->dying : d->size;
    machine_release();
    worlds_open(&d->w, &plugin, 0, 0, 1);
    uint64_t held = worlds_host_bytes(&d->w);
    worlds_must(d->w.host, worlds_make(&d->w, worlds_prototype(&d->w, "body"), d->all, d->size), "creating");
    worlds_step(&d->w);
    worlds_shuffle(d->all, d->size, 5);
    uint64_t begin = measure_now();
    worlds_end(&d->w, d->all, d->dying);
    d->batch = (double)(measure_now() - begin);
    d->kept_after = STEPS;
    for (uint32_t i = 0; i < STEPS; i++) {
        begin = measure_now();
        worlds_step(&d->w);
        double step = (double)(measure_now() - begin), share = dead_share(d);
        if (first || step < d->steps[i])
            d->steps[i] = step;
        if (d->kept_after >= (double)STEPS && share <= most_dead(living))
            d->kept_after = i + 1;
        if (i + 1 == EARLY)
            d->early = share;
    }
    d->late = dead_share(d);
    d->held = (double)(worlds_host_bytes(&d->w) - held) / d->size;
    worlds_destroy(&d->w);
}

static void die_in_arrays(death_t *d)
{
    own_open(&d->own, d->size);
    worlds_shuffle(d->own.living, d->size, 5);
    uint64_t begin = measure_now();
    own_end(&d->own, d->own.living, d->dying);
    d->own_batch = (double)(measure_now() - begin);
    own_close(&d->own);
}

/* The time of collection: of every step longer than twice the usual step, the time beyond the usual step. */
static double collection(const double *steps, double usual)
{
    double sum = 0;
    for (uint32_t i = 0; i < STEPS; i++)
        sum += steps[i] > 2 * usual ? steps[i] - usual : 0;
    return sum;
}

static void run_death(results_t *results, const char *name, uint32_t size, uint32_t times, double share)
{
    death_t *d = worlds_memory(1, sizeof *d);
    double batches[8], own[8];
    d->size = size;
    d->dying = (uint32_t)(size * share);
    d->all = worlds_memory(size, sizeof *d->all);
    for (uint32_t i = 0; i < times && i < 8; i++) {
        die(d, i == 0);
        die_in_arrays(d);
        batches[i] = d->batch;
        own[i] = d->own_batch / d->dying;
    }
    double usual = median_of(d->steps + STEPS - 100, 100), collected = collection(d->steps, usual);
    for (uint32_t i = 0; i < times && i < 8; i++)
        batches[i] = (batches[i] + collected) / d->dying;
    measure_put(results, name, "a_death", size, UNIT_NS, batches, own, times, no_bound);
    put_whole(results, name, "longest_step", size, UNIT_NS, longest_of(d->steps, STEPS), most_step(usual));
    put_whole(results, name, "kept_after", size, UNIT_STEPS, d->kept_after, (bound_t)AT_MOST(EARLY));
    put_whole(results, name, "dead_rows_after_120_steps", size, UNIT_PERCENT, d->early, no_bound);
    put_whole(results, name, "dead_rows_after_600_steps", size, UNIT_PERCENT, d->late, (bound_t)AT_MOST(1));
    measure_put(results, name, "memory_left", size, UNIT_BYTES, &d->held, NULL, 1, no_bound);
    free(d->all);
    free(d);
}

static void death_fifth(results_t *results, uint32_t size, uint32_t times)
{
    run_death(results, "mass_death/a_fifth", size, times, 0.2);
}

static void death_half(results_t *results, uint32_t size, uint32_t times)
{
    run_death(results, "mass_death/half", size, times, 0.5);
}

static void death_all(results_t *results, uint32_t size, uint32_t times)
{
    run_death(results, "mass_death/all", size, times, 1);
}

const course_t course_death_fifth = {"mass_death/a_fifth", bench_long_sizes, death_fifth};
const course_t course_death_half = {"mass_death/half", bench_long_sizes, death_half};
const course_t course_death_all = {"mass_death/all", bench_long_sizes, death_all};

/* --- dead rows, step by step -------------------------------------------------------------------------------------- */

/* Steps after which dead rows are counted; they stand in the place of sizes. */
static const uint32_t marks[] = {1, 3, 10, 30, 60, 120, 300, 600, 0};

typedef struct waning_t {
    const char *name;
    double at_once;   /* share of all that die before the first step */
    double each_step; /* share of those that live at the beginning; as many of another kind come */
} waning_t;

/* Destroy the last `count` of the living, who lie in random order. */
static uint32_t wane(const bench_world_t *w, const bp_entity_t *all, uint32_t living, uint32_t count)
{
    count = count < living ? count : living;
    worlds_end(w, all + living - count, count);
    return living - count;
}

static void run_waning(results_t *results, const waning_t *course, uint32_t size)
{
    bench_world_t w;
    uint32_t each = (uint32_t)(size * course->each_step), living = size, mark = 0;
    bp_entity_t *all = worlds_memory(size, sizeof *all), *others = worlds_memory(each + 1, sizeof *others);
    machine_release();
    worlds_open(&w, &plugin, 0, 0, 1);
    uint32_t other = worlds_prototype(&w, "body ghost");
    worlds_must(w.host, worlds_make(&w, worlds_prototype(&w, "body"), all, size), "creating");
    worlds_shuffle(all, size, 5);
    living = wane(&w, all, living, (uint32_t)(size * course->at_once));
    for (uint32_t i = 1; marks[mark] != 0; i++) {
        if (each > 0) {
            living = wane(&w, all, living, each);
            worlds_must(w.host, worlds_make(&w, other, others, each), "creating");
        }
        worlds_step(&w);
        if (i == marks[mark]) {
            uint32_t rest = each > 0 ? size : living; /* those that came count too */
            put_whole(results, course->name, "dead_rows", i, UNIT_PERCENT, 100.0 * worlds_dead_rows(&w) / rest,
                      (bound_t)AT_MOST_FROM(most_dead(rest), 120));
            mark++;
        }
    }
    worlds_destroy(&w);
    free(all);
    free(others);
}

static void waning(results_t *results, uint32_t size, uint32_t times)
{
    static const waning_t courses[] = {
        {"waning/a_fifth", 0.2, 0},          {"waning/half", 0.5, 0},          {"waning/nine_tenths", 0.9, 0},
        {"waning/0.1_percent", 0, 0.001},    {"waning/1_percent", 0, 0.01},    {"waning/5_percent", 0, 0.05},
    };
    (void)times;
    for (uint32_t i = 0; i < sizeof courses / sizeof courses[0]; i++)
        run_waning(results, &courses[i], size);
}

static const uint32_t waning_sizes[] = {1000000, 0};

const course_t course_waning = {"waning", waning_sizes, waning};
