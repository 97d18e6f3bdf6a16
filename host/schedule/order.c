/* order.c - sorting units by their wishes, then by their conflicts.
 *
 * Who wants to precede whom is found out once for every pair, into a table of bytes; from then on placing a unit is
 * counting down.
 *
 * Units of one segment form a graph without circles, since everyone waits only for those before him in the order. A unit
 * that must be alone ends the segment before it and is one itself.
 */
#include "order.h"

#include "../base/text.h"

static bool lists(const char *list, const char *name)
{
    char word[64];
    while ((list = text_next_word(list, word, sizeof word)) != NULL) {
        if (strcmp(word, name) == 0)
            return true;
    }
    return false;
}

static bool says_before(const unit_t *a, const unit_t *b)
{
    return a->system != NULL && lists(a->system->table.before, b->name);
}

static bool says_after(const unit_t *b, const unit_t *a)
{
    return b->system != NULL && lists(b->system->table.after, a->name);
}

static bool comes_before(const unit_t *a, const unit_t *b)
{
    return says_before(a, b) || says_after(b, a);
}

/* --- order ------------------------------------------------------------------------------------------------------ */

typedef struct wishes_t {
    unit_t *const *units;
    uint32_t count;
    uint8_t *before; /* before[i * count + k]: unit i precedes unit k */
    uint32_t *waits; /* for so many unplaced units; BP_NONE: placed */
} wishes_t;

static void ask_wishes(wishes_t *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t k = 0; k < w->count; k++) {
            if (i == k || !comes_before(w->units[i], w->units[k]))
                continue;
            w->before[(size_t)i * w->count + k] = 1;
            w->waits[k]++;
        }
    }
}

/* An unplaced unit that precedes unit `k`. */
static uint32_t obstacle(const wishes_t *w, uint32_t k)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->waits[i] != BP_NONE && w->before[(size_t)i * w->count + k] != 0)
            return i;
    }
    return BP_NONE;
}

static void say_wish(text_t *text, const unit_t *a, const unit_t *b)
{
    text_append(text, "%s'%s' runs before '%s' (%s of '%s')", text->length > 0 ? ", " : "", a->name, b->name,
                says_before(a, b) ? "before" : "after", says_before(a, b) ? a->name : b->name);
}

/* Going from obstacle to obstacle leads into a circle; then it is told once around. */
static bp_result_t circle(const schedule_t *schedule, const wishes_t *w)
{
    text_t names = {.length = 0}, wishes = {.length = 0};
    names.chars[0] = wishes.chars[0] = '\0';
    uint32_t at = BP_NONE;
    for (uint32_t i = w->count; i > 0; i--) {
        if (w->waits[i - 1] != BP_NONE)
            at = i - 1;
    }
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->waits[i] != BP_NONE)
            text_append(&names, "%s%s", names.length > 0 ? ", " : "", w->units[i]->name);
        at = obstacle(w, at);
    }
    uint32_t start = at;
    do {
        uint32_t earlier = obstacle(w, at);
        say_wish(&wishes, w->units[earlier], w->units[at]);
        at = earlier;
    } while (at != start);
    return error_set(&schedule->world->base->error, BP_ERROR_STATE,
                     "world '%s': the wishes of %s to run before and after each other form a circle: %s", schedule->world->name,
                     names.chars,
                     wishes.chars);
}

static bp_result_t place_all(const schedule_t *schedule, wishes_t *w, unit_t **ordered)
{
    for (uint32_t placed = 0; placed < w->count; placed++) {
        uint32_t next = 0;
        while (next < w->count && w->waits[next] != 0)
            next++;
        if (next == w->count)
            return circle(schedule, w);
        ordered[placed] = w->units[next];
        w->waits[next] = BP_NONE;
        for (uint32_t k = 0; k < w->count; k++)
            w->waits[k] -= w->before[(size_t)next * w->count + k];
    }
    return BP_OK;
}

bp_result_t order_units(schedule_t *schedule)
{
    memory_t *memory = &schedule->memory;
    uint32_t count = schedule->count;
    size_t pairs = (size_t)count * count + 1;
    wishes_t w = {.units = schedule->units, .count = count};
    w.before = memory_new(memory, pairs);
    w.waits = memory_new(memory, (count + 1u) * sizeof *w.waits);
    unit_t **ordered = memory_new(memory, (count + 1u) * sizeof *ordered);
    bp_result_t result;
    if (w.before != NULL && w.waits != NULL && ordered != NULL) {
        ask_wishes(&w);
        result = place_all(schedule, &w, ordered);
        if (result == BP_OK && count > 0)
            memcpy(schedule->units, ordered, count * sizeof *ordered);
    } else {
        result = error_memory(&schedule->world->base->error, "ordering a step");
    }
    memory_free(memory, w.before, w.before == NULL ? 0 : pairs);
    memory_free(memory, w.waits, w.waits == NULL ? 0 : (count + 1u) * sizeof *w.waits);
    memory_free(memory, ordered, ordered == NULL ? 0 : (count + 1u) * sizeof *ordered);
    return result;
}

/* --- segments --------------------------------------------------------------------------------------------------- */

static bool conflict(const unit_t *a, const unit_t *b)
{
    for (uint32_t i = 0, k = 0; i < a->access_count && k < b->access_count;) {
        const access_t *x = &a->access[i], *y = &b->access[k];
        if (x->manager == y->manager && (x->writes || y->writes))
            return true;
        i += x->manager <= y->manager;
        k += y->manager <= x->manager;
    }
    return false;
}

static bool add_follower(schedule_t *schedule, unit_t *unit, uint32_t follower)
{
    if (!memory_reserve(&schedule->memory, &unit->followers, &unit->follower_capacity, unit->follower_count + 1u,
                        sizeof *unit->followers))
        return false;
    unit->followers[unit->follower_count++] = follower;
    schedule->units[follower]->awaited++;
    return true;
}

/* Let the unit at `at` wait for those of its segment that come before it and conflict with it. */
static bool join_segment(schedule_t *schedule, const segment_t *segment, uint32_t at)
{
    for (uint32_t i = segment->first; i < at; i++) {
        unit_t *before = schedule->units[i], *unit = schedule->units[at];
        if ((conflict(before, unit) || comes_before(before, unit)) && !add_follower(schedule, before, at))
            return false;
    }
    return true;
}

static bool begins_segment(const schedule_t *schedule, uint32_t at, bool commands_first)
{
    return at == 0 || commands_first || !schedule->units[at]->concurrent || !schedule->units[at - 1]->concurrent;
}

bool order_segments(schedule_t *schedule)
{
    schedule->segment_count = 0;
    schedule->all_concurrent = schedule->count > 0;
    if (!memory_reserve(&schedule->memory, &schedule->segments, &schedule->segment_capacity, schedule->count,
                        sizeof *schedule->segments))
        return false;
    for (uint32_t i = 0; i < schedule->count; i++)
        schedule->units[i]->follower_count = schedule->units[i]->awaited = 0;
    for (uint32_t i = 0; i < schedule->count; i++) {
        const unit_t *unit = schedule->units[i];
        bool first = unit->system != NULL && (unit->system->table.flags & BP_SYSTEM_COMMANDS_FIRST) != 0;
        if (begins_segment(schedule, i, first))
            schedule->segments[schedule->segment_count++] =
                (segment_t){.first = i, .shared = unit->concurrent || unit->parallel, .commands_first = first};
        segment_t *segment = &schedule->segments[schedule->segment_count - 1];
        segment->count++;
        if (!join_segment(schedule, segment, i))
            return false;
        schedule->all_concurrent = schedule->all_concurrent && unit->concurrent && !first;
    }
    return true;
}
