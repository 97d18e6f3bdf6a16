/* test_collection.c - how the rows of the dead are collected: lazily or at once, from random rows, in storage of the
 * world and in storage of the components' own.
 */
#include "../suites.h"
#include "inspect.h"
#include "support.h"
#include "zoo.h"

#include <stdlib.h>

static rig_t rig;
static bp_world_o *world;
static const bp_entity_api *entities_api;
static const bp_world_api *api;

static void begin(void)
{
    rig_open_zoo(&rig);
    world = rig_world(&rig, "first");
    rig_world(&rig, "second");
    api = rig.api->world;
    entities_api = rig.api->entity;
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void make_bodies(bp_entity_t *e, uint32_t count)
{
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), e, count));
}

static uint32_t holes_in(const bp_world_o *w)
{
    bp_world_stats_t stats;
    bp_world_stats((bp_world_o *)(uintptr_t)w, &stats);
    return stats.holes;
}

START_TEST(rows_are_collected_lazily_or_at_once_as_the_component_says)
{
    bp_entity_t lazy[400], at_once[400];
    WORKS(rig.host, api->create(world, prototype_of(world, "body", NULL, NULL, NULL), lazy, 400));
    WORKS(rig.host, api->create(world, prototype_of(world, "once", "label", NULL, NULL), at_once, 400));
    entities_api->destroy(rig.host, at_once, 399);
    ck_assert_uint_eq(holes_in(world), 0);
    ck_assert_uint_eq(api->count(world, api->component(world, "once")), 1);
    entities_api->destroy(rig.host, lazy, 50);
    ck_assert_uint_eq(holes_in(world), 50);
    ck_assert_uint_eq(world_run(&world->rows, prototype_of(world, "body", NULL, NULL, NULL))->count, 400);
    ck_assert_uint_eq(api->count(world, api->component(world, "body")), 350);
    check_host(rig.host);
}
END_TEST

/* Play the collection of one run by hand: random rows, until four living ones in a row, or 64 dead ones; holes at the
 * end go at once. */
static uint32_t play_collection(bp_entity_t *rows, uint32_t *count, uint32_t holes, uint64_t *random)
{
    uint32_t living = 0, left = holes, filled = 0;
    while (left > 0 && living < 4 && filled < 64) {
        uint32_t row = bp_random_below(random, *count);
        if (rows[row].id != 0) {
            living++;
            continue;
        }
        living = 0;
        filled++;
        rows[row] = rows[--*count];
        for (left--; rows[*count - 1].id == 0; left--)
            --*count;
    }
    return holes - left;
}

START_TEST(where_few_have_died_a_step_collects_random_rows_until_four_living_in_a_row)
{
    enum { MANY = 2000, DEAD = 15 };
    static bp_entity_t e[MANY], rows[MANY];
    uint32_t collected = 0;
    make_bodies(e, MANY);
    const run_t *run = world->rows.runs[0];
    for (uint32_t i = 0; i < DEAD; i++)
        entities_api->destroy(rig.host, &e[i * (MANY / DEAD)], 1);
    for (uint32_t round = 0; run->holes > 0 && round < 20000; round++) {
        uint32_t count = run->count;
        uint64_t random = world->rows.random;
        memcpy(rows, run_entities(run), count * sizeof *rows);
        collected += play_collection(rows, &count, run->holes, &random);
        WORKS(rig.host, bp_world_step(world));
        ck_assert_uint_eq(run->count, count);
        EXPECT(memcmp(run_entities(run), rows, count * sizeof *rows) == 0, "other rows than by hand");
        ck_assert(world->rows.random == random);
    }
    ck_assert_uint_eq(collected, DEAD);
    ck_assert_uint_eq(run->count, MANY - DEAD);
}
END_TEST

/* --- a step, by hand --------------------------------------------------------------------------------------------- */

enum { PLAYED = 4, PLAY_MOST = 18000, PLAY_BLOCK = 256 };

/* What a run with holes is before a step, and what the step ought to make of it. */
typedef struct play_t {
    const run_t *run;
    uint32_t count, holes, left[RUN_RATES];
    bp_entity_t rows[PLAY_MOST], was[PLAY_MOST];
} play_t;

static void begin_play(play_t *play, const run_t *run)
{
    play->run = run;
    play->count = run->count;
    play->holes = run->holes;
    memcpy(play->left, run->left, sizeof play->left);
    memcpy(play->rows, run_entities(run), run->count * sizeof *play->rows);
    memset(play->was, 0, sizeof play->was);
    memcpy(play->was, run_entities(run), run->count * sizeof *play->was);
}

static uint32_t first_hole(const play_t *play, uint32_t row)
{
    while (play->rows[row].id != 0)
        row++;
    return row;
}

static uint32_t less_of(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Where the lowest holes lie together, and so do as many last rows, these fill them; else the lowest holes get the last
 * living rows, which keep their order. Of no more than 256 rows at a time. */
static uint32_t fill_some(play_t *play, uint32_t most)
{
    uint32_t holes[PLAY_BLOCK], lasts[PLAY_BLOCK], n = 0, hole = first_hole(play, 0), last = play->count - 1;
    uint32_t together = less_of(less_of(most, PLAY_BLOCK), (last - hole + 1) / 2);
    while (n < together && play->rows[hole + n].id == 0)
        n++;
    together = n;
    for (n = 0; n < together && play->rows[last - n].id != 0;)
        n++;
    if (n == together && together > 0) {
        for (uint32_t i = 0; i < n; i++)
            play->rows[hole + i] = play->rows[last + 1 - n + i];
        play->count -= n;
    } else {
        for (n = 0; n < less_of(most, PLAY_BLOCK) && hole < last; n++) {
            holes[n] = hole;
            lasts[n] = last;
            for (last--; play->rows[last].id == 0;)
                last--;
            hole = first_hole(play, hole + 1);
        }
        for (uint32_t i = 0; i < n; i++)
            play->rows[holes[i]] = play->rows[lasts[n - 1 - i]];
        for (uint32_t i = 0; i < n; i++)
            play->rows[lasts[i]].id = 0;
    }
    while (play->count > 0 && play->rows[play->count - 1].id == 0)
        play->count--;
    play->holes = 0;
    for (uint32_t row = 0; row < play->count; row++)
        play->holes += play->rows[row].id == 0;
    return n;
}

/* Random rows first. Where more than one row in 128 is a hole then, rows move: one in 384 of the run's, as many as have
 * been left in each of the last intervals, and what is left of those that all runs share; until one in 8 is a hole
 * while rows go on being left, and otherwise one in 128. */
static void play_run(play_t *play, uint32_t *shared, uint64_t *random)
{
    uint32_t rate = play->left[0], moved = 0, kept, own;
    play->holes -= play_collection(play->rows, &play->count, play->holes, random);
    for (uint32_t i = 1; i < RUN_RATES; i++)
        rate = less_of(rate, play->left[i]);
    own = play->count / 384 + rate;
    kept = play->count / (play->left[0] == 0 ? 128 : 8);
    memmove(play->left + 1, play->left, (RUN_RATES - 1) * sizeof *play->left);
    play->left[0] = 0;
    if (play->holes <= play->count / 128 || play->holes <= kept)
        return;
    for (uint32_t most = own + *shared; play->holes > kept && moved < most;)
        moved += fill_some(play, less_of(play->holes - kept, most - moved));
    *shared -= moved > own ? moved - own : 0;
}

/* Byte `at` of a value of an entity. */
static unsigned char byte_of(bp_entity_t e, uint32_t column, size_t at)
{
    return (unsigned char)(bp_entity_index(e) * 41 + (bp_entity_index(e) >> 8) * 7 + column * 13 + at * 3);
}

/* Write, or compare, the values of a row that hold nothing outside themselves. */
static bool has_values(const run_t *run, uint32_t row, bool write)
{
    bp_entity_t e = run_entities(run)[row];
    bool right = true;
    for (uint32_t c = 1; c < run->column_count; c++) {
        unsigned char *cell = run_cell(run, c, row);
        for (size_t i = 0; i < run->sizes[c] && !field_is_counted(run->fields[c]); i++) {
            if (write)
                cell[i] = byte_of(e, c, i);
            right = right && cell[i] == byte_of(e, c, i);
        }
    }
    return right;
}

/* Runs of few fields, and one of fields of all sizes, texts among them. */
static uint32_t played_prototype(uint32_t which)
{
    static const char *const types[PLAYED][2] = {{"mark", "fx"}, {"fx", NULL}, {"sample", NULL}, {"mark", NULL}};
    return prototype_of(world, types[which][0], types[which][1], NULL, NULL);
}

static void make_played(uint32_t which, bp_entity_t *e, uint32_t count)
{
    WORKS(rig.host, api->create(world, played_prototype(which), e, count));
    for (uint32_t i = 0; i < count; i++) {
        const record_t *record = world_record(&world->rows, e[i]);
        char text[32];
        const char *name = text;
        has_values(world_run(&world->rows, record->prototype), record->row, true);
        snprintf(text, sizeof text, "number %u", bp_entity_index(e[i]));
        if (which == 2)
            WORKS(rig.host, rig.api->property->set_named(world, e[i], "sample", "a_string", BP_STRING, &name));
    }
}

static void expect_values(bp_entity_t e, uint32_t which)
{
    const record_t *record = world_record(&world->rows, e);
    char text[32];
    const char *name = NULL;
    ck_assert_ptr_nonnull(record);
    EXPECT(has_values(world_run(&world->rows, record->prototype), record->row, false), "values of another entity");
    snprintf(text, sizeof text, "number %u", bp_entity_index(e));
    if (which != 2)
        return;
    WORKS(rig.host, rig.api->property->get_named(world, e, "sample", "a_string", BP_STRING, &name));
    EXPECT(strcmp(name, text) == 0, "%s instead of %s", name, text);
}

/* How many of 1,000 die in a round, of each run; one in so many of the dead come anew. */
static const struct {
    uint32_t deaths[PLAYED], anew;
    bool ends; /* of those that were made last, not of any */
} rounds[] = {
    {{550, 550, 600, 700}, 90, false}, /* the rows that all runs share are used up by the first ones */
    {{3, 5, 1, 8}, 4, false},         {{300, 250, 500, 400}, 5, false}, {{20, 30, 10, 0}, 3, false},
    {{20, 30, 10, 0}, 9, false},      {{20, 30, 10, 0}, 9, true},       {{20, 30, 10, 0}, 9, false},
    {{20, 30, 10, 1}, 9, false},      {{0, 0, 0, 0}, 1, false},         {{0, 0, 0, 0}, 1, false},
    {{0, 0, 0, 0}, 1, false},         {{1, 600, 700, 200}, 50, false},  {{0, 10, 2, 0}, 1, true},
    {{0, 0, 0, 0}, 1, false},         {{0, 0, 0, 0}, 1, false},         {{400, 0, 0, 990}, 9, true},
    {{0, 0, 0, 0}, 1, false},         {{0, 0, 0, 0}, 1, false},         {{0, 0, 0, 0}, 1, false},
};

/* Which entities die, of those that live, each time in another order; some come anew. */
static void let_die(bp_entity_t e[PLAYED][PLAY_MOST], uint32_t *counts, uint32_t round, uint64_t *random)
{
    for (uint32_t which = 0; which < PLAYED; which++) {
        uint32_t count = counts[which], deaths = (uint32_t)((uint64_t)count * rounds[round].deaths[which] / 1000);
        for (uint32_t i = 0; i < deaths; i++) {
            uint32_t chosen = rounds[round].ends ? count - 1 - i : bp_random_below(random, count - i);
            bp_entity_t kept = e[which][chosen];
            e[which][chosen] = e[which][count - 1 - i];
            e[which][count - 1 - i] = kept;
        }
        counts[which] = count - deaths;
        if (round % 2 == 0)
            ck_assert_uint_eq(entities_api->destroy(rig.host, e[which] + count - deaths, deaths), deaths);
        for (uint32_t i = 0; i < deaths && round % 2 != 0; i++)
            ck_assert_uint_eq(entities_api->destroy(rig.host, &e[which][count - deaths + i], 1), 1);
        uint32_t anew = deaths / rounds[round].anew;
        make_played(which, e[which] + counts[which], anew);
        counts[which] += anew;
    }
}

START_TEST(a_step_moves_the_rows_that_are_found_by_hand)
{
    static const uint32_t many[PLAYED] = {PLAY_MOST, 9000, 3000, 2000};
    bp_entity_t(*const e)[PLAY_MOST] = room_of(PLAYED * sizeof *e);
    play_t *const plays = room_of(PLAYED * sizeof *plays);
    world_t *w = &world->rows;
    uint64_t random = 77;
    uint32_t counts[PLAYED], moved = 0;
    for (uint32_t which = 0; which < PLAYED; which++) {
        counts[which] = many[which];
        make_played(which, e[which], many[which]);
    }
    for (uint32_t round = 0; round < 2 * COUNT(rounds); round++) {
        uint32_t shared = 4096, n = w->holed_count, listed[PLAYED], next;
        let_die(e, counts, round % COUNT(rounds), &random);
        if (round == COUNT(rounds))
            WORKS(rig.host, world_keep_stamps(w));
        uint64_t look = world_look(w);
        n = w->holed_count;
        next = w->holed_next;
        uint64_t steps = w->random;
        for (uint32_t i = 0; i < n; i++) {
            listed[i] = i;
            begin_play(&plays[i], w->holed[i]);
        }
        for (uint32_t visits = n; visits > 0 && n > 0; visits--) {
            next = next < n ? next : 0;
            play_t *play = &plays[listed[next]];
            uint32_t before = play->holes;
            if (play->holes > 0)
                play_run(play, &shared, &steps);
            moved += before - play->holes;
            if (play->holes > 0)
                next++;
            else
                listed[next] = listed[--n];
        }
        uint32_t played = w->holed_count;
        WORKS(rig.host, bp_world_step(world));
        ck_assert_uint_eq(w->holed_count, n);
        ck_assert(w->random == steps);
        for (uint32_t i = 0; i < played; i++) {
            const play_t *play = &plays[i];
            EXPECT(play->run->count == play->count && play->run->holes == play->holes, "round %u, run %u: %u rows, %u "
                   "holes instead of %u, %u", round, i, play->run->count, play->run->holes, play->count, play->holes);
            EXPECT(memcmp(run_entities(play->run), play->rows, play->count * sizeof *play->rows) == 0,
                   "round %u, run %u: other rows", round, i);
            for (uint32_t row = 0; row < play->count && play->run->stamps != NULL; row++)
                EXPECT(play->was[row].id == play->rows[row].id ||
                           stamps_of_block(play->run->stamps, 0, row / BP_STAMP_ROWS) > look,
                       "row %u of run %u has another entity, and its stamp does not say so", row, i);
            if (play->run->in_holes_list == 0)
                memset(plays[i].left, 0, sizeof plays[i].left);
            ck_assert(memcmp(play->left, play->run->left, sizeof play->left) == 0);
        }
        for (uint32_t which = 0; which < PLAYED; which++)
            for (uint32_t i = 0; i < counts[which]; i++)
                expect_values(e[which][i], which);
        check_host(rig.host);
    }
    ck_assert_uint_gt(moved, 10000);
    world_release_stamps(w);
}
END_TEST

/* So many that each takes its turn, and no step takes long: 64 of them, and one in 256 of all. */
START_TEST(a_step_visits_64_of_the_runs_with_holes_and_one_in_256)
{
    enum { RUNS = 1100 };
    char name[16];
    bp_entity_t e[3];
    uint32_t keys[11];
    for (uint32_t k = 0; k < COUNT(keys); k++) {
        snprintf(name, sizeof name, "mark %u", k);
        keys[k] = key_of(world, "mark", name);
    }
    for (uint32_t r = 1; r <= RUNS; r++) {
        uint32_t chosen[COUNT(keys)], count = 0, prototype;
        for (uint32_t k = 0; k < COUNT(keys); k++)
            if ((r >> k & 1) != 0)
                chosen[count++] = keys[k];
        WORKS(rig.host, api->prototype(world, chosen, count, &prototype));
        WORKS(rig.host, api->create(world, prototype, e, COUNT(e)));
        ck_assert_uint_eq(entities_api->destroy(rig.host, &e[1], 1), 1);
    }
    world_t *w = &world->rows;
    for (uint32_t left = RUNS; left > 0; left = w->holed_count) {
        uint32_t visits = 64 + left / 256, next = w->holed_next;
        ck_assert_uint_eq(w->holed_count, left);
        WORKS(rig.host, bp_world_step(world));
        uint32_t gone = left - w->holed_count, stayed = w->holed_next - next;
        if (left > visits && next + visits < w->holed_count)
            ck_assert_uint_eq(gone + stayed, visits);
        ck_assert_uint_le(gone, visits);
    }
}
END_TEST

START_TEST(all_holes_are_collected_in_the_end)
{
    enum { MANY = 20000 };
    static bp_entity_t e[MANY];
    static const char *const seconds[] = {NULL, "label", "flag", "pool"};
    for (uint32_t i = 0; i < 4; i++)
        WORKS(rig.host,
              api->create(world, prototype_of(world, "body", seconds[i], NULL, NULL), e + 5000 * i, 5000));
    uint32_t dead = 0, steps = 0;
    static bp_entity_t batch[MANY];
    for (uint32_t i = 0; i < MANY; i++) {
        if (i % 7 != 0)
            batch[dead++] = e[i];
    }
    ck_assert_uint_eq(entities_api->destroy(rig.host, batch, dead), dead);
    const stock_t *pool = state_of(world, "pool");
    for (; (holes_in(world) > 0 || pool->count > 714 + 1) && steps < 200000; steps++)
        WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(holes_in(world), 0);
    ck_assert_uint_eq(api->count(world, api->component(world, "body")), MANY / 7 + 1);
    ck_assert_uint_eq(entities_api->alive(rig.host, e, MANY, NULL), MANY / 7 + 1);
}
END_TEST

START_TEST(many_runs_with_holes_get_their_turn)
{
    enum { RUNS = 300 };
    bp_entity_t e[2 * RUNS];
    char name[16];
    for (uint32_t i = 0; i < RUNS; i++) {
        snprintf(name, sizeof name, "r%u", i);
        uint32_t key = key_of(world, "mark", name), prototype;
        WORKS(rig.host, api->prototype(world, &key, 1, &prototype));
        WORKS(rig.host, api->create(world, prototype, &e[2 * i], 2));
        entities_api->destroy(rig.host, &e[2 * i], 1);
    }
    ck_assert_uint_eq(holes_in(world), RUNS);
    for (uint32_t i = 0; i < 200; i++)
        WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(holes_in(world), 0);
}
END_TEST

/* Of every three entities one is destroyed, then of the rest, until so many have been. */
static void destroy_thirds(const bp_entity_t *e, uint32_t of, uint32_t count)
{
    for (uint32_t i = 0; i < 3 * of && count > 0; i += 3)
        count -= entities_api->destroy(rig.host, &e[i % of + i / of], 1);
    ck_assert_uint_eq(count, 0);
}

/* Beside its share a run may have as many rows moved as have been left in each of the last intervals. Where many deaths
 * have been followed by a quiet step, that step counts on few, and fills no more holes than the step before. */
START_TEST(a_quiet_step_ends_the_rate_of_deaths_that_a_run_counts_on)
{
    enum { MANY = 99999, LEFT = 6000 };
    static const uint32_t deaths[] = {46000, 0, LEFT, LEFT, LEFT, 10};
    bp_entity_t *e = malloc(MANY * sizeof *e);
    uint32_t filled[COUNT(deaths)];
    make_bodies(e, MANY);
    for (uint32_t i = 0; i < COUNT(deaths); i++) {
        destroy_thirds(e, MANY, deaths[i]);
        uint32_t before = holes_in(world);
        WORKS(rig.host, bp_world_step(world));
        filled[i] = before - holes_in(world);
    }
    EXPECT(filled[5] > 0 && filled[5] <= filled[4], "%u and %u", filled[4], filled[5]);
    free(e);
}
END_TEST

/* The holes of a world and the dead in storage that collects its dead itself, as they are kept. */
static uint32_t dead_in(const stock_t *pool, uint32_t living)
{
    return holes_in(world) + pool->count - living;
}

/* Few deaths, of which a collection finds some at random, and many, of which it also moves a share; all at once in the
 * end. */
START_TEST(a_collection_tells_how_many_it_has_collected)
{
    enum { MANY = 8000 };
    static const uint32_t deaths[] = {3, 900, 40, 2500, 0, 1, 700, 0};
    static bp_entity_t e[MANY];
    const stock_t *pool = state_of(world, "pool");
    uint32_t next = 0, living = MANY / 2, all = 0;
    make_bodies(e, MANY / 2);
    WORKS(rig.host, api->create(world, prototype_of(world, "body", "pool", NULL, NULL), e + MANY / 2, MANY / 2));
    for (uint32_t round = 0; round < 12 * COUNT(deaths); round++) {
        for (uint32_t i = 0; i < deaths[round % COUNT(deaths)] && next < MANY; i++, next++) {
            uint32_t which = (uint32_t)(((uint64_t)next * 4801) % MANY); /* each once: 4801 and MANY are coprime */
            living -= which >= MANY / 2;
            ck_assert_uint_eq(entities_api->destroy(rig.host, &e[which], 1), 1);
        }
        world->rows.tended = false;
        uint32_t before = dead_in(pool, living);
        uint32_t told = round % 9 == 3 ? store_collect_all(&world->rows) : store_collect(&world->rows);
        ck_assert(told == 0 || world->rows.tended);
        EXPECT(told == before - dead_in(pool, living), "round %u tells of %u instead of %u", round, told,
               before - dead_in(pool, living));
        all += told;
    }
    uint32_t before = dead_in(pool, living), told = store_collect_all(&world->rows);
    ck_assert_uint_eq(told, before - dead_in(pool, living));
    ck_assert_uint_eq(holes_in(world), 0);
    ck_assert_uint_gt(all, 1000);
}
END_TEST

START_TEST(holes_that_could_not_be_listed_are_found_later)
{
    bp_entity_t e[100];
    make_bodies(e, 100);
    rig.heap.refuse_first = 1;
    rig.heap.refuse_last = UINT64_MAX;
    ck_assert_uint_eq(entities_api->destroy(rig.host, e, 60), 60);
    rig.heap.refuse_first = 0;
    ck_assert(world->rows.holed_lost);
    check_host(rig.host);
    if (_i == 1) {
        ck_assert_uint_eq(store_collect_all(&world->rows), 60);
        ck_assert(holes_in(world) == 0 && !world->rows.holed_lost);
    }
    for (uint32_t i = 0; i < 300; i++)
        WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(holes_in(world), 0);
    ck_assert(!world->rows.holed_lost);
}
END_TEST

/* Each of what a collection does, alone, in a world without components that collect their dead themselves: holes are
 * filled, indices that wait for entities are parked, and with many rows all of it, and memory is given back. */
START_TEST(what_a_collection_does_is_told)
{
    enum { MANY = 40000 };
    bp_entity_t *e = malloc(MANY * sizeof *e);
    bp_world_o *third = bp_world_create(rig.host, &(bp_world_desc_t){.name = "third", .step_rate = 50});
    world_t *w = &third->rows;
    uint32_t told = 0;
    WORKS(rig.host, bp_world_use_component(third, "body"));
    uint32_t prototype = prototype_of(third, "body", NULL, NULL, NULL), rows = _i == 0 ? 100 : MANY;
    if (_i == 1)
        WORKS(rig.host, entities_api->create(rig.host, e, MANY));
    else
        WORKS(rig.host, api->create(third, prototype, e, rows));
    for (uint32_t i = 0; i < rows / 2; i += _i == 0 ? 5 : 1)
        ck_assert_uint_eq(entities_api->destroy(rig.host, &e[i], 1), 1);
    if (_i > 0)
        ck_assert_uint_eq(entities_api->destroy(rig.host, e + MANY / 2, MANY / 2), MANY / 2);
    for (uint32_t i = 0; i < 400; i++) {
        const entities_t *all = w->entities;
        size_t bytes = world_bytes(w);
        uint32_t parked = all->parked_count, bound = all->bound, holes = holes_in(third);
        w->tended = false;
        store_collect(w);
        bool tended = parked != all->parked_count || bound != all->bound || bytes != world_bytes(w) ||
                      holes != holes_in(third);
        EXPECT(!tended || w->tended, "collection %u has done something, and does not say so", i);
        told += tended;
    }
    ck_assert_uint_ge(told, 1);
    free(e);
}
END_TEST

/* Few runs, of which a step looks at one, and more than 64, of which it looks at two. */
START_TEST(each_run_gives_its_room_back_in_turn)
{
    enum { ROWS = 64 };
    const uint32_t runs = _i == 0 ? 5 : 100;
    char name[16];
    bp_entity_t e[ROWS];
    world_t *w = &world->rows;
    for (uint32_t r = 0; r < runs; r++) {
        uint32_t key, prototype;
        snprintf(name, sizeof name, "mark %u", r);
        key = key_of(world, "mark", name);
        WORKS(rig.host, api->prototype(world, &key, 1, &prototype));
        WORKS(rig.host, api->create(world, prototype, e, ROWS));
        ck_assert_uint_eq(entities_api->destroy(rig.host, e + 1, ROWS - 1), ROWS - 1);
    }
    for (uint32_t i = 0; i < WORLD_TRIM_AFTER; i++) {
        for (uint32_t r = 0; r < runs; r++)
            EXPECT(w->runs[r]->capacity == ROWS, "run %u gives back its room too early", r);
        WORKS(rig.host, bp_world_step(world));
    }
    for (uint32_t i = 0; i < 2 * runs; i++)
        WORKS(rig.host, bp_world_step(world));
    for (uint32_t r = 0; r < runs; r++)
        EXPECT(w->runs[r]->capacity == 1, "run %u has room for %u rows", r, w->runs[r]->capacity);
}
END_TEST

/* The order of rows after creating, destroying and stepping, as one number. */
static uint64_t rows_after_a_run(uint64_t seed)
{
    rig_t own;
    bp_entity_t e[600];
    uint64_t random = 9, sum = 0;
    rig_init(&own);
    own.desc.seed = seed;
    rig_open(&own);
    WORKS(own.host, bp_host_load_plugin(own.host, "zoo", NULL, 0));
    WORKS(own.host, bp_host_load_plugin(own.host, "stocks", NULL, 0));
    bp_world_o *w = rig_world(&own, "w");
    WORKS(own.host, own.api->world->create(w, prototype_of(w, "body", "pool", NULL, NULL), e, 600));
    for (uint32_t round = 0; round < 30; round++) {
        for (uint32_t i = 0; i < 8; i++)
            own.api->entity->destroy(own.host, &e[bp_random_below(&random, 600)], 1);
        WORKS(own.host, bp_world_step(w));
    }
    for (uint32_t row = 0; row < w->rows.runs[0]->count; row++)
        sum = sum * 31 + run_entities(w->rows.runs[0])[row].id;
    const stock_t *pool = state_of(w, "pool");
    for (uint32_t i = 0; i < pool->count; i++)
        sum = sum * 31 + pool->items[i].entity.id;
    rig_close(&own);
    return sum;
}

START_TEST(the_same_seed_collects_the_same_rows)
{
    ck_assert_uint_eq(rows_after_a_run(12), rows_after_a_run(12));
    ck_assert_uint_ne(rows_after_a_run(12), rows_after_a_run(13));
}
END_TEST

enum { BIRDS = 40000, CHURN = BIRDS / 20, CHURN_STEPS = 40 };

/* Of the birds of tests/fixtures/flock.h a twentieth dies and comes anew in each step, beside those that die and are
 * laid by commands. The order of all rows in the end, dead ones among them, as one number; how many are dead, and how
 * many steps had dead rows, go to the last arguments. */
static uint64_t rows_after_churn(uint32_t threads, uint64_t seed, uint32_t *dead, uint32_t *steps_with_dead)
{
    static const char *const systems[] = {"fly", "warm", "lay"};
    static bp_entity_t birds[BIRDS];
    bp_world_stats_t stats;
    uint64_t random = seed, sum = 0;
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.threads = threads, .seed = seed, .tag = 1});
    const bp_api_t *host_api = bp_host_api(host);
    WORKS(host, bp_host_load_plugin(host, TEST_FIXTURE_DIR "/flock_first", NULL, 0));
    bp_world_o *w = bp_world_create(host, &(bp_world_desc_t){.name = "w", .step_rate = 1});
    WORKS(host, bp_world_use_component(w, "bird"));
    WORKS(host, bp_world_use_component(w, "egg"));
    for (uint32_t i = 0; i < COUNT(systems); i++)
        WORKS(host, bp_world_use_system(w, systems[i]));
    uint32_t prototype = prototype_of(w, "bird", NULL, NULL, NULL);
    WORKS(host, host_api->world->create(w, prototype, birds, BIRDS));
    for (uint32_t step = 0; step < CHURN_STEPS; step++) {
        for (uint32_t i = 0; i < CHURN; i++) {
            uint32_t which = bp_random_below(&random, BIRDS), value = (uint32_t)bp_random_next(&random);
            host_api->entity->destroy(host, &birds[which], 1); /* one that is dead already stays so */
            WORKS(host, host_api->world->create(w, prototype, &birds[which], 1));
            WORKS(host, host_api->property->set_named(w, birds[which], "bird", "value", BP_U32, &value));
        }
        WORKS(host, bp_host_step(host));
        bp_world_stats(w, &stats);
        *steps_with_dead += stats.holes > 0;
    }
    for (uint32_t r = 0; r < w->rows.run_count; r++) {
        for (uint32_t row = 0; row < w->rows.runs[r]->count; row++)
            sum = sum * 31 + run_entities(w->rows.runs[r])[row].id;
    }
    *dead = stats.holes;
    check_host(host);
    bp_host_destroy(host);
    return sum;
}

START_TEST(rows_lie_in_the_same_order_after_churn_on_any_number_of_threads)
{
    static const uint32_t threads[] = {1, 2, 3, 4};
    uint32_t dead = 0, steps = 0;
    uint64_t once = rows_after_churn(1, 21, &dead, &steps);
    ck_assert_uint_gt(steps, CHURN_STEPS / 2); /* dead rows were there to be collected, or to be filled */
    for (uint32_t i = 0; i < COUNT(threads); i++) {
        uint32_t other_dead = 0, other_steps = 0;
        ck_assert_uint_eq(rows_after_churn(threads[i], 21, &other_dead, &other_steps), once);
        ck_assert_uint_eq(other_dead, dead);
        ck_assert_uint_eq(other_steps, steps);
    }
    ck_assert_uint_ne(rows_after_churn(2, 22, &dead, &steps), once);
}
END_TEST

START_TEST(own_storage_without_gc_is_told_of_each_death_at_once)
{
    enum { MANY = 2000 };
    static bp_entity_t e[MANY];
    uint32_t keys[] = {key_of(world, "told", "one"), key_of(world, "told", "two"), key_of(world, "body", "")},
             prototype;
    WORKS(rig.host, api->prototype(world, keys, 3, &prototype));
    WORKS(rig.host, api->create(world, prototype, e, MANY));
    WORKS(rig.host, api->prototype(world, keys, 1, &prototype));
    bp_entity_t single;
    WORKS(rig.host, api->create(world, prototype, &single, 1));
    const stock_t *told = state_of(world, "told");
    ck_assert_uint_eq(told->count, 2 * MANY + 1);
    bp_entity_t few[] = {e[5], e[1900], e[77]};
    entities_api->destroy(rig.host, few, 3);
    ck_assert_uint_eq(told->count, 2 * MANY - 5);
    ck_assert_uint_eq(told->destroy_calls, 1);
    entities_api->destroy(rig.host, e, MANY);
    ck_assert_uint_eq(told->count, 1);
    ck_assert_uint_eq(told->items[0].entity.id, single.id);
    uint32_t slot;
    ck_assert_uint_eq(api->slots(world, keys[0], &single, 1, &slot), 1);
    ck_assert_uint_eq(slot, 0);
}
END_TEST

START_TEST(own_storage_with_gc_collects_its_dead_itself)
{
    enum { MANY = 1000 };
    static bp_entity_t e[MANY];
    WORKS(rig.host, api->create(world, prototype_of(world, "pool", NULL, NULL, NULL), e, MANY));
    const stock_t *pool = state_of(world, "pool");
    entities_api->destroy(rig.host, e, MANY - 10);
    ck_assert_uint_eq(pool->count, MANY);
    ck_assert_uint_eq(pool->destroy_calls, 0);
    uint32_t steps = 0;
    for (; pool->count > 10 && steps < 100000; steps++)
        WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(pool->count, 10);
    ck_assert_uint_eq(pool->destroy_calls, 0);
    check_host(rig.host);
}
END_TEST

Suite *collection_suite(void)
{
    Suite *suite = suite_create("collection");
    TCase *tests = add_case(suite, "collection", begin, end, 240);
    tcase_add_test(tests, rows_are_collected_lazily_or_at_once_as_the_component_says);
    tcase_add_test(tests, where_few_have_died_a_step_collects_random_rows_until_four_living_in_a_row);
    tcase_add_test(tests, a_step_moves_the_rows_that_are_found_by_hand);
    tcase_add_test(tests, all_holes_are_collected_in_the_end);
    tcase_add_test(tests, a_step_visits_64_of_the_runs_with_holes_and_one_in_256);
    tcase_add_test(tests, many_runs_with_holes_get_their_turn);
    tcase_add_test(tests, a_quiet_step_ends_the_rate_of_deaths_that_a_run_counts_on);
    tcase_add_test(tests, a_collection_tells_how_many_it_has_collected);
    tcase_add_loop_test(tests, holes_that_could_not_be_listed_are_found_later, 0, 2);
    tcase_add_loop_test(tests, what_a_collection_does_is_told, 0, 3);
    tcase_add_loop_test(tests, each_run_gives_its_room_back_in_turn, 0, 2);
    tcase_add_test(tests, the_same_seed_collects_the_same_rows);
    tcase_add_test(tests, rows_lie_in_the_same_order_after_churn_on_any_number_of_threads);
    tcase_add_test(tests, own_storage_without_gc_is_told_of_each_death_at_once);
    tcase_add_test(tests, own_storage_with_gc_collects_its_dead_itself);
    return suite;
}
