/* storm_past.c - snapshots, and a host that remembers: a copy of the model for each moment, so that any of them, and
 * the end of any branch, can be compared when the host has gone there.
 *
 * A line has the moments that lead to its last one: each as its step has left the host, and the last one with what came
 * from outside since. A line that is left is kept whole under the number that the host gives the branch. States are
 * never changed once they are in a line, so that lines share them.
 */
#include "storm_model.h"

#include <stdlib.h>
#include <string.h>

enum { MOMENTS = 640, LINES = 64, BUDGET = 256 << 20 };

typedef struct line_t {
    uint64_t number;
    uint64_t first, last;           /* moments */
    uint64_t fork;                  /* of a branch: the moment that it forks off */
    const state_t *after[MOMENTS];  /* of moment first + i */
    uint32_t world[MOMENTS];        /* which world's step follows it; WORLDS: that of all */
    const state_t *end;             /* of the last moment; kept when the host leaves it */
} line_t;

static struct {
    bool on, fresh;  /* fresh: what is remembered begins with the next step, visit or draft */
    bool doubtful;   /* something has failed while the host went somewhere: moments may have been lost */
    bool recounted;  /* the census is told once more of what it knows, since it could not be started anew */
    uint64_t now;
    line_t line;
    line_t *left[LINES];
    uint32_t left_count;
} past;

/* --- snapshots ---------------------------------------------------------------------------------------------------- */

void storm_take_snapshot(void)
{
    if (storm.how->crashes)
        return;
    bp_snapshot_o *taken = NULL;
    storm_break(150);
    bp_result_t result = bp_host_snapshot(storm.host, &taken);
    SAYS(storm_mend() || result == BP_OK, "snapshot: %s", bp_host_error(storm.host));
    if (result != BP_OK)
        return;
    bp_snapshot_free(storm.snapshot);
    storm.snapshot = taken;
    storm.kept = storm.now;
    storm.kept_fits = true;
}

static bool same_worlds(const state_t *a, const state_t *b)
{
    return a->order_count == b->order_count && memcmp(a->order, b->order, a->order_count * sizeof a->order[0]) == 0;
}

void storm_bring_back(void)
{
    if (storm.snapshot == NULL || !storm.kept_fits || !storm_den_like(&storm.now.den, &storm.kept.den))
        return;
    const patch_list_t list = storm.now.list;
    const gale_t gale = storm.now.gale;
    const den_t den = storm.now.den;
    bool alike = storm_same_fields(&list, &storm.kept.list) && same_worlds(&storm.now, &storm.kept);
    bool gale_alike = storm_gale_like(&gale, &storm.kept.gale);
    storm_break(150);
    bp_result_t result = bp_host_bring_back(storm.host, storm.snapshot);
    bool failed = storm_mend();
    SAYS(result == BP_OK || !alike || !gale_alike || failed, "%s", bp_host_error(storm.host));
    SAYS(result != BP_OK || alike, "a past of other fields, or other worlds, is brought back");
    if (result != BP_OK)
        return;
    storm.counts->brought_back++;
    storm_handles_went_back();
    storm.now = storm.kept;
    storm.now.list = list;
    storm.now.gale = gale;
    storm.now.den = den;
    for (uint32_t i = 0; i < WORLDS && gale.keeps == BP_KEEP_ANEW; i++)
        storm.now.own[i].recounted = failed; /* where `start` fails, the state before stays and is told once more */
    storm_past_renewed();
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static const state_t *copy_now(void)
{
    state_t *copy = malloc(sizeof *copy);
    SAYS(copy != NULL, "no memory for the model");
    *copy = storm.now;
    return copy;
}

static void forget_left(void)
{
    for (uint32_t i = 0; i < past.left_count; i++)
        free(past.left[i]);
    past.left_count = 0;
}

static void begin_line(uint64_t moment)
{
    bp_history_t h = {.struct_size = sizeof h};
    bp_host_history(storm.host, &h);
    forget_left();
    past.now = past.line.first = past.line.last = moment;
    past.line.after[0] = copy_now();
    past.line.number = h.branch;
    past.fresh = past.recounted = false;
}

static bool has_branch(uint64_t number)
{
    bp_branch_t branch = {.struct_size = sizeof branch};
    for (uint32_t i = 0; bp_host_branch_at(storm.host, i, &branch) != 0; i++) {
        if (branch.number == number)
            return true;
    }
    return false;
}

static line_t *find_left(uint64_t number)
{
    for (uint32_t i = 0; i < past.left_count; i++) {
        if (past.left[i]->number == number)
            return past.left[i];
    }
    return NULL;
}

/* The future has not been kept, for want of memory: what forks off it is gone too. */
static void forget_forks(void)
{
    for (uint32_t i = past.left_count; i > 0; i--) {
        line_t *left = past.left[i - 1];
        if (left->fork <= past.now || has_branch(left->number))
            continue;
        free(left);
        past.left[i - 1] = past.left[--past.left_count];
    }
}

/* The line has been left: it is kept under the number of a branch that the model does not know. */
static void keep_left(const line_t *line)
{
    bp_branch_t branch = {.struct_size = sizeof branch};
    for (uint32_t i = 0; bp_host_branch_at(storm.host, i, &branch) != 0; i++) {
        if (find_left(branch.number) != NULL)
            continue;
        SAYS(branch.last == line->last, "a branch is kept up to moment %llu, and not %llu",
             (unsigned long long)branch.last, (unsigned long long)line->last);
        SAYS(past.left_count < LINES, "too many branches");
        line_t *left = past.left[past.left_count++] = malloc(sizeof *left);
        SAYS(left != NULL, "no memory for the model");
        *left = *line;
        left->number = branch.number;
        left->fork = branch.fork;
        storm.counts->branches++;
        return;
    }
    SAYS(storm.how->faults, "a future that was left is not kept");
    forget_forks();
}

static void drop_line(uint64_t number)
{
    for (uint32_t i = 0; i < past.left_count; i++) {
        if (past.left[i]->number != number)
            continue;
        free(past.left[i]);
        past.left[i] = past.left[--past.left_count];
        return;
    }
}

/* Another future has begun at the present moment. */
static void cut_line(void)
{
    keep_left(&past.line);
    past.line.last = past.now;
    past.line.end = NULL;
}

/* What has become of the past in the last event. */
void storm_past_look(void)
{
    bp_history_t h = {.struct_size = sizeof h};
    if (!past.on || past.fresh)
        return;
    bp_host_history(storm.host, &h);
    SAYS(h.budget != 0, "the host has forgotten its past");
    if (h.last < past.line.last && h.now == past.now)
        cut_line();
    SAYS(h.now == past.now && h.last == past.line.last, "the host is at moment %llu of %llu, and not %llu of %llu",
         (unsigned long long)h.now, (unsigned long long)h.last, (unsigned long long)past.now,
         (unsigned long long)past.line.last);
    SAYS(h.first == past.line.first || past.doubtful, "the past begins with moment %llu, and not %llu",
         (unsigned long long)h.first, (unsigned long long)past.line.first);
    for (uint32_t i = 0; i < past.left_count; i++)
        SAYS(has_branch(past.left[i]->number) || past.doubtful, "branch %llu is lost",
             (unsigned long long)past.left[i]->number);
}

bool storm_past_is_behind(void)
{
    return past.on && !past.fresh && past.now < past.line.last;
}

void storm_past_settled(bool failed)
{
    if (!past.on || !past.fresh)
        return;
    if (failed) {
        DOES(bp_host_remember(storm.host, 0));
        past.on = false;
    } else {
        begin_line(past.now);
    }
}

void storm_past_doubt(void)
{
    past.doubtful = past.on;
}

bool storm_past_reaches_back(void)
{
    return past.on && !past.fresh && past.now > past.line.first;
}

void storm_past_renewed(void)
{
    storm_apart_renewed();
    past.fresh = past.on;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

/* The host is as it was then, with the versions that were at work; their files are put in place again. */
static void take_over(const state_t *state)
{
    storm.now = *state;
    patch_put(&storm.file, &storm.now.list);
    storm_gale_put();
    storm_den_put();
    for (uint32_t w = 0; w < WORLDS && past.recounted; w++)
        storm.now.own[w].recounted = storm.now.own[w].unknown = true;
}

/* True: it was a step of the past, and the model has its outcome. */
bool storm_past_stepped(uint32_t world)
{
    if (!past.on)
        return false;
    if (past.fresh)
        begin_line(past.now);
    if (past.now < past.line.last && past.line.world[past.now - past.line.first] != world)
        cut_line();
    if (past.now == past.line.last) {
        past.line.world[past.now - past.line.first] = world;
        return false;
    }
    past.now++;
    storm.counts->steps_again++;
    take_over(past.now == past.line.last ? past.line.end : past.line.after[past.now - past.line.first]);
    return true;
}

/* The model has taken a step: that is another moment. */
void storm_past_remember(void)
{
    if (!past.on)
        return;
    past.now = ++past.line.last;
    SAYS(past.now - past.line.first < MOMENTS, "too many moments");
    past.line.after[past.now - past.line.first] = copy_now();
}

/* --- going elsewhere ---------------------------------------------------------------------------------------------- */

void storm_remember(void)
{
    bp_history_t h = {.struct_size = sizeof h};
    bool off = past.on && storm_below(4) == 0;
    bp_host_keyframe_every(storm.host, storm_below(3) == 0 ? 0 : 3600000);
    if (past.on && !off)
        return;
    storm_break(60);
    bp_result_t result = bp_host_remember(storm.host, off ? 0 : BUDGET);
    bool failed = storm_mend();
    SAYS(!storm.how->crashes || result == BP_ERROR_STATE || failed,
         "a plugin that does not say what it keeps is remembered");
    SAYS(result == BP_OK || failed || storm.how->crashes, "remember: %s", bp_host_error(storm.host));
    bp_host_history(storm.host, &h);
    past.on = result == BP_OK && !off;
    SAYS(past.on == (h.budget != 0), "%s is remembered", past.on ? "nothing" : "something");
    if (past.on)
        begin_line(h.now);
    past.doubtful = past.on && failed; /* the file of a version has perhaps not been copied */
}

/* The host is elsewhere. */
static void arrive(const state_t *state, bool failed)
{
    past.recounted = failed;
    storm_handles_went_back();
    take_over(state);
    storm.probation = OF_NONE;
    storm.counts->visits++;
}

static void visit_moment(void)
{
    line_t *line = &past.line;
    uint64_t moment = line->first + storm_below((uint32_t)(line->last - line->first) + 1);
    bool stays = moment == past.now && moment == line->last;
    if (past.now == line->last)
        line->end = copy_now();
    storm_break(150);
    bp_result_t result = bp_host_go(storm.host, moment);
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed || past.doubtful, "go: %s", bp_host_error(storm.host));
    past.doubtful = past.doubtful || failed;
    if (result != BP_OK || stays)
        return;
    past.now = moment;
    arrive(moment == line->last ? line->end : line->after[moment - line->first], failed);
}

/* Steps that were taken then are taken once more. */
static void walk_on(void)
{
    for (uint32_t n = storm_below(4); n > 0 && past.now < past.line.last; n--) {
        uint32_t world = past.line.world[past.now - past.line.first];
        DOES(world == WORLDS ? bp_host_step(storm.host) : bp_world_step(storm.worlds[world]));
        SAYS(storm_past_stepped(world), "a step that was taken then is another one");
        storm_compare();
    }
}

static void visit_branch(void)
{
    line_t *to = past.left[storm_below(past.left_count)], left = past.line;
    if (past.now == left.last)
        left.end = copy_now();
    storm_break(150);
    bp_result_t result = bp_host_branch_to(storm.host, to->number);
    bool failed = storm_mend();
    SAYS(result == BP_OK || failed || past.doubtful, "branch: %s", bp_host_error(storm.host));
    past.doubtful = past.doubtful || failed;
    if (result != BP_OK)
        return;
    past.line = *to;
    drop_line(to->number);
    past.now = past.line.last;
    keep_left(&left);
    arrive(past.line.end, failed);
}

static void branch_off(void)
{
    DOES(bp_host_branch_off(storm.host));
    storm_past_look();
}

void storm_visit(void)
{
    if (!past.on)
        return;
    uint32_t what = past.fresh ? 3 : storm_below(6);
    if (past.fresh)
        begin_line(past.now);
    if (what <= 1 && past.left_count > 0) /* often: to a branch of a branch it takes several */
        visit_branch();
    else if (what == 2)
        branch_off();
    else
        visit_moment();
    if (past.doubtful) {
        DOES(bp_host_remember(storm.host, 0)); /* moments that cannot be computed any more are tested elsewhere */
        past.on = false;
        return;
    }
    walk_on();
}

void storm_past_open(void)
{
    memset(&past, 0, sizeof past);
}
