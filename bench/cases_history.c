/* cases_history.c - what it costs to remember: keyframes, snapshots, going back, hashes and differences.
 *
 * A million point masses of 40 bytes and an id, of which each step writes 24 bytes, position and velocity. A floor
 * copies the same bytes: what was written since the last keyframe, or all of the columns. Keyframes are taken into
 * memory that has been in use, as in a host whose budget is full; the copies as well, and there are as many of them. A
 * snapshot is taken into fresh memory, as is the copy beside it, of the same kind: pages of the system's, huge ones
 * where it has them.
 *
 * A minute of history: steps without a past, and the same with one keyframe in sixty steps, as at 60 steps a second.
 * Going: to a random one of the last moments, with a keyframe every sixty steps. Beside: a step of a host while a draft
 * of it takes its own between.
 */
#include "cases.h"

#include "engine/host.h"
#include "history/history_inner.h"
#include "os/os.h"
#include "worlds.h"

#include <components/point_mass.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5, WRITTEN = 2, SECOND = 60, SECONDS = 12, COPIES = 8 };
enum { LEAST_ROOM = 1 << 18 }; /* what keyframes of hosts with next to nothing in them take */

typedef struct past_t {
    bench_world_t w, other; /* that remembers, and that does not */
    uint32_t size;
    char *columns[COLUMNS]; /* a copy's room, in use */
    size_t sizes[COLUMNS];
    char *copies[COPIES];   /* of what is written in a step: as many as there are keyframes in the budget */
    uint32_t copy;
    bp_run_t run;
    bp_snapshot_o *snapshot, *before;
    uint64_t random, found;
} past_t;

static const uint32_t million[] = {1000000, 0};

static void open_world(bench_world_t *w, uint32_t size)
{
    bench_field_t acceleration;
    const float value[3] = {0.001f, 0.002f, 0.003f};
    worlds_create(w, 0);
    bp_entity_t *entities = worlds_entities(w, size);
    worlds_field(w, "point_mass", "acceleration", &acceleration);
    worlds_must(w->host, worlds_set(w, &acceleration, entities, size, value, 0), "accelerations");
    free(entities);
    worlds_step(w);
}

static void *setup(uint32_t size)
{
    past_t *s = worlds_memory(1, sizeof *s);
    uint32_t cursor = 0;
    s->size = size;
    s->random = 1;
    open_world(&s->w, size);
    worlds_next_run(s->w.world, s->w.component, &cursor, &s->run);
    const size_t sizes[COLUMNS] = {12, 12, 12, 4, 8};
    for (uint32_t i = 0; i < COLUMNS; i++) {
        s->sizes[i] = sizes[i] * size;
        s->columns[i] = worlds_memory(1, s->sizes[i]);
    }
    return s;
}

static void teardown(void *state)
{
    past_t *s = state;
    bp_snapshot_free(s->snapshot);
    bp_snapshot_free(s->before);
    worlds_destroy(&s->w);
    if (s->other.host != NULL)
        worlds_destroy(&s->other);
    for (uint32_t i = 0; i < COLUMNS; i++)
        free(s->columns[i]);
    for (uint32_t i = 0; i < COPIES; i++)
        free(s->copies[i]);
    free(s);
}

/* The columns as they lie: position and velocity first, the ids last. */
static const char *column(const past_t *s, uint32_t i)
{
    static const uint32_t fields[] = {BP_POINT_MASS_POSITION, BP_POINT_MASS_VELOCITY, BP_POINT_MASS_ACCELERATION,
                                      BP_POINT_MASS_MASS};
    return i < 4 ? s->run.columns[fields[i]] : (const char *)s->run.entities;
}

/* --- keyframes ---------------------------------------------------------------------------------------------------- */

static void *setup_keyframes(uint32_t size)
{
    past_t *s = setup(size);
    for (uint32_t i = 0; i < COPIES; i++)
        s->copies[i] = worlds_memory(WRITTEN, s->sizes[0]);
    worlds_must(s->w.host, bp_host_remember(s->w.host, (uint64_t)size * 250 + LEAST_ROOM), "remembering");
    bp_host_keyframe_every(s->w.host, 0);
    for (uint32_t i = 0; i < 2 * SECONDS; i++) /* until the budget is full */
        worlds_step(&s->w);
    bp_host_keyframe_every(s->w.host, UINT32_MAX);
    return s;
}

static void step_first(void *state)
{
    past_t *s = state;
    worlds_step(&s->w);
}

static void copy_written(void *state)
{
    past_t *s = state;
    s->copy = (s->copy + 1) % COPIES;
    for (uint32_t i = 0; i < WRITTEN; i++)
        memcpy(s->copies[s->copy] + i * s->sizes[0], column(s, i), s->sizes[i]);
}

static void keep_keyframe(void *state)
{
    past_t *s = state;
    worlds_must(s->w.host, history_keep(&s->w.host->history, false), "a keyframe");
}

const group_t group_history_keyframe = {
    .name = "history/keyframe",
    .sizes = million,
    .setup = setup_keyframes,
    .teardown = teardown,
    .whole = true,
    .sides = {
        {.name = "copy_of_what_was_written", .prepare = step_first, .run = copy_written},
        {.name = "keyframe", .floor = "copy_of_what_was_written", .prepare = step_first, .run = keep_keyframe,
         .bound = AT_MOST_TIMES(1.2)},
        {.name = "where_nothing_was_written", .floor = "copy_of_what_was_written", .run = keep_keyframe,
         .bound = AT_MOST_TIMES(0.2)},
    },
};

/* --- a second ----------------------------------------------------------------------------------------------------- */

static void *setup_second(uint32_t size)
{
    past_t *s = setup_keyframes(size);
    open_world(&s->other, size);
    return s;
}

static void second_without(void *state)
{
    past_t *s = state;
    for (uint32_t i = 0; i < SECOND; i++)
        worlds_step(&s->other);
}

static void second_with(void *state)
{
    past_t *s = state;
    for (uint32_t i = 0; i < SECOND; i++)
        worlds_step(&s->w);
    keep_keyframe(s);
}

const group_t group_history_second = {
    .name = "history/sixty_steps",
    .sizes = million,
    .setup = setup_second,
    .teardown = teardown,
    .takes_long = true,
    .whole = true,
    .sides = {
        {.name = "without_a_past", .run = second_without},
        {.name = "and_a_keyframe", .floor = "without_a_past", .run = second_with, .bound = AT_MOST_TIMES(1.05)},
    },
};

/* --- snapshots ---------------------------------------------------------------------------------------------------- */

static void *setup_snapshots(uint32_t size)
{
    past_t *s = setup(size);
    worlds_must(s->w.host, bp_host_snapshot(s->w.host, &s->before), "a snapshot");
    worlds_step(&s->w);
    worlds_must(s->w.host, bp_host_snapshot(s->w.host, &s->snapshot), "a snapshot");
    return s;
}

static size_t bytes_of_all(const past_t *s)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < COLUMNS; i++)
        bytes += s->sizes[i];
    return bytes;
}

static void copy_all(void *state)
{
    past_t *s = state;
    size_t bytes = bytes_of_all(s), at = 0;
    char *copy = os_pages_alloc(bytes);
    os_pages_huge(copy, bytes);
    for (uint32_t i = 0; i < COLUMNS; at += s->sizes[i++])
        memcpy(copy + at, column(s, i), s->sizes[i]);
    floor_touch(copy, 1);
    os_pages_free(copy, bytes);
}

static void take(void *state)
{
    past_t *s = state;
    bp_snapshot_o *snapshot;
    worlds_must(s->w.host, bp_host_snapshot(s->w.host, &snapshot), "a snapshot");
    bp_snapshot_free(snapshot);
}

static void copy_back(void *state)
{
    past_t *s = state;
    for (uint32_t i = 0; i < COLUMNS; i++)
        memcpy((char *)(uintptr_t)column(s, i), s->columns[i], s->sizes[i]);
}

/* The copies have to be of these columns, or the world would be another one. */
static void copy_before(void *state)
{
    past_t *s = state;
    for (uint32_t i = 0; i < COLUMNS; i++)
        memcpy(s->columns[i], column(s, i), s->sizes[i]);
}

static void bring_back(void *state)
{
    past_t *s = state;
    worlds_must(s->w.host, bp_host_bring_back(s->w.host, s->snapshot), "bringing back");
}

static void clone(void *state)
{
    past_t *s = state;
    bp_host_o *other;
    worlds_must(s->w.host, bp_host_clone(s->w.host, &other), "a clone");
    bp_host_destroy(other);
}

const group_t group_history_snapshot = {
    .name = "history/snapshot",
    .sizes = million,
    .setup = setup_snapshots,
    .teardown = teardown,
    .whole = true,
    .sides = {
        {.name = "copy", .run = copy_all},
        {.name = "copy_back", .prepare = copy_before, .run = copy_back},
        {.name = "taken", .floor = "copy", .run = take, .bound = AT_MOST_TIMES(1.3)},
        {.name = "brought_back", .floor = "copy_back", .run = bring_back, .bound = AT_MOST_TIMES(1.3)},
        {.name = "clone", .floor = "copy", .run = clone, .bound = AT_MOST_TIMES(2)},
    },
};

/* --- comparing: bytes of one snapshot, at 4 GB a second ---------------------------------------------------------- */

static void hash(void *state)
{
    past_t *s = state;
    s->found += bp_snapshot_hash(s->snapshot, NULL);
}

static void count_field(void *context, const bp_diff_field_t *field)
{
    *(uint64_t *)context += field->count;
}

static void compare(past_t *s, const bp_snapshot_o *before)
{
    const bp_diff_i sink = {.struct_size = sizeof sink, .context = &s->found, .field = count_field};
    worlds_must(s->w.host, bp_snapshot_diff(s->w.host, before, s->snapshot, &sink), "differences");
}

static void diff_same(void *state)
{
    compare(state, ((past_t *)state)->snapshot);
}

static void diff_other(void *state)
{
    compare(state, ((past_t *)state)->before);
}

/* 48 bytes of columns and 4 of generations, of each entity. */
#define AT_4_GB_A_SECOND AT_MOST(13)

const group_t group_history_compare = {
    .name = "history/compare",
    .sizes = million,
    .setup = setup_snapshots,
    .teardown = teardown,
    .sides = {
        {.name = "hash", .run = hash, .bound = AT_4_GB_A_SECOND},
        {.name = "nothing_differs", .run = diff_same, .bound = AT_4_GB_A_SECOND},
        {.name = "two_fields_differ", .run = diff_other, .bound = AT_4_GB_A_SECOND},
    },
};

/* --- going -------------------------------------------------------------------------------------------------------- */

static void *setup_going(uint32_t size)
{
    past_t *s = setup_second(size);
    worlds_must(s->w.host, bp_host_remember(s->w.host, UINT64_C(2) << 30), "remembering");
    bp_host_keyframe_every(s->w.host, UINT32_MAX);
    for (uint32_t i = 0; i < SECONDS * SECOND; i++) {
        worlds_step(&s->w);
        if (i % SECOND == SECOND - 1)
            keep_keyframe(s);
    }
    return s;
}

static void go(void *state)
{
    past_t *s = state;
    bp_history_t h = {.struct_size = sizeof h};
    bp_host_history(s->w.host, &h);
    uint64_t moment = h.first + bp_random_below(&s->random, (uint32_t)(h.last - h.first + 1));
    worlds_must(s->w.host, bp_host_go(s->w.host, moment), "going");
}

static void steps_and_a_copy(void *state)
{
    second_without(state);
    copy_back(state);
}

const group_t group_history_go = {
    .name = "history/go",
    .sizes = million,
    .setup = setup_going,
    .teardown = teardown,
    .takes_long = true,
    .whole = true,
    .sides = {
        {.name = "sixty_steps_and_a_copy", .prepare = copy_before, .run = steps_and_a_copy},
        {.name = "anywhere", .floor = "sixty_steps_and_a_copy", .run = go, .bound = AT_MOST_TIMES(1.1)},
    },
};

/* --- beside ------------------------------------------------------------------------------------------------------- */

/* A draft takes its steps when the host polls, between the host's own: those are what is measured. */
static bp_result_t change_mass(void *context, bp_host_o *clone)
{
    bp_path_t path;
    (void)context;
    bp_result_t result = bp_host_api(clone)->property->parse_path(clone, "main/#0:1.point_mass.mass", &path);
    return result == BP_OK ? bp_host_api(clone)->property->set_text(&path, "2") : result;
}

static void *setup_beside(uint32_t size)
{
    past_t *s = setup(size);
    const bp_draft_i draft = {.struct_size = sizeof draft, .change = change_mass};
    bp_drafted_t drafted = {.struct_size = sizeof drafted};
    open_world(&s->other, size);
    worlds_must(s->w.host, bp_host_draft(s->w.host, &draft), "a draft");
    for (uint32_t i = 0; i < 1000 && drafted.state != BP_DRAFT_BESIDE; i++) {
        worlds_must(s->w.host, bp_host_poll(s->w.host), "polling");
        bp_host_draft_read(s->w.host, &drafted);
    }
    if (drafted.state != BP_DRAFT_BESIDE)
        worlds_must(s->w.host, BP_ERROR_STATE, drafted.text);
    return s;
}

static void poll_alone(void *state)
{
    past_t *s = state;
    worlds_must(s->other.host, bp_host_poll(s->other.host), "polling");
}

static void step_alone(void *state)
{
    past_t *s = state;
    worlds_step(&s->other);
}

static void poll_beside(void *state)
{
    past_t *s = state;
    worlds_must(s->w.host, bp_host_poll(s->w.host), "polling");
}

const group_t group_history_beside = {
    .name = "history/beside",
    .sizes = million,
    .setup = setup_beside,
    .teardown = teardown,
    .whole = true,
    .sides = {
        {.name = "a_step", .prepare = poll_alone, .run = step_alone},
        {.name = "with_a_draft_beside", .floor = "a_step", .prepare = poll_beside, .run = step_first,
         .bound = AT_MOST_TIMES(1.05)},
    },
};
