/* order.c - the order of the units of a step, and which of them wait for which.
 *
 * Units are sorted by their wishes (`before`, `after`), then cut into segments by their conflicts.
 *
 * For every pair of units the table `before` (a byte each) says whether one must precede the other; from then on
 * placing a unit only counts down the units that wait for it.
 *
 * Invariant: units of one segment form a graph without circles, since every unit waits only for units before it in the
 * order. A unit that must be alone ends the segment before it and is a segment itself.
 */
#include "schedule_inner.h"

#include "../base/error.h"

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

bool order_precedes(const unit_t *a, const unit_t *b)
{
    return says_before(a, b) || says_after(b, a);
}

/* --- wishes ------------------------------------------------------------------------------------------------------ */

typedef struct wishes_t {
    unit_t *const *units;
    uint32_t count;
    uint8_t *before; /* before[i * count + k]: unit i precedes unit k */
    uint32_t *waits; /* for so many unplaced units; BP_NONE: placed */
} wishes_t;

static void note_wish(wishes_t *w, uint32_t i, uint32_t k)
{
    uint8_t *before = &w->before[(size_t)i * w->count + k];
    w->waits[k] += *before == 0;
    *before = 1;
}

static bool has_wishes(const unit_t *unit)
{
    const bp_system_i *table = unit->system == NULL ? NULL : &unit->system->table;
    return table != NULL && ((table->before != NULL && table->before[0] != '\0') ||
                             (table->after != NULL && table->after[0] != '\0'));
}

static void ask_wishes(wishes_t *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t k = 0; has_wishes(w->units[i]) && k < w->count; k++) {
            if (i != k && says_before(w->units[i], w->units[k]))
                note_wish(w, i, k);
            if (i != k && says_after(w->units[i], w->units[k]))
                note_wish(w, k, i);
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

/* Walk from obstacle to obstacle until the walk has come into a circle; the error then names the units of the circle,
 * each once. */
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
                     "world '%s': the wishes of %s to run before and after each other form a circle: %s",
                     schedule->world->name, names.chars, wishes.chars);
}

static bp_result_t place_all(const schedule_t *schedule, wishes_t *w, unit_t **ordered)
{
    for (uint32_t placed = 0, least = 0; placed < w->count; placed++) {
        while (least < w->count && w->waits[least] == BP_NONE)
            least++;
        uint32_t next = least;
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
    uint32_t wishing = 0;
    while (wishing < count && !has_wishes(schedule->units[wishing]))
        wishing++;
    if (wishing == count)
        return BP_OK;
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

static bool meet(const access_t *x, const access_t *y)
{
    uint64_t both = 0;
    for (uint32_t i = 0; i < ACCESS_WORDS; i++)
        both |= (x->writes[i] & (y->reads[i] | y->writes[i])) | (x->reads[i] & y->writes[i]);
    return both != 0;
}

static bool conflict(const unit_t *a, const unit_t *b)
{
    for (uint32_t i = 0, k = 0; i < a->access_count && k < b->access_count;) {
        const access_t *x = &a->access[i], *y = &b->access[k];
        if (x->manager == y->manager && meet(x, y))
            return true;
        i += x->manager <= y->manager;
        k += y->manager <= x->manager;
    }
    return false;
}

bool schedule_waits(const unit_t *a, const unit_t *b, uint32_t *manager, uint32_t *part)
{
    for (uint32_t i = 0, k = 0; i < a->access_count && k < b->access_count;) {
        const access_t *x = &a->access[i], *y = &b->access[k];
        for (uint32_t bit = 0; x->manager == y->manager && bit <= ACCESS_MANAGER; bit++) {
            uint32_t word = bit / 64;
            uint64_t both = (x->writes[word] & (y->reads[word] | y->writes[word])) | (x->reads[word] & y->writes[word]);
            if ((both >> bit % 64 & 1) == 0)
                continue;
            *manager = x->manager;
            *part = bit;
            return true;
        }
        i += x->manager <= y->manager;
        k += y->manager <= x->manager;
    }
    *manager = BP_NONE;
    *part = 0;
    return order_precedes(a, b);
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
        if ((conflict(before, unit) || order_precedes(before, unit)) && !add_follower(schedule, before, at))
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
