/* schedule_check.c - each invariant of a world's step, checked.
 *
 * The checks go from the outside in: segments cover the order, units keep the wishes and conflicts that the order was
 * made from, what a unit touches are managers that the world has. Channels come last; they hold whether or not the
 * units are settled.
 */
#include "schedule_check.h"
#include "schedule_inner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct finding_t {
    char *text;
    size_t size;
} finding_t;

static bool broken(const finding_t *f, const char *format, ...) PRINTF_LIKE(2, 3);

static bool broken(const finding_t *f, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    vsnprintf(f->text, f->size, format, values);
    va_end(values);
    return false;
}

/* --- the order ---------------------------------------------------------------------------------------------------- */

/* A unit that must be alone is alone in its segment; a unit that wants commands first begins its segment. */
static bool check_member(const finding_t *f, const schedule_t *schedule, const segment_t *segment, uint32_t at)
{
    const unit_t *unit = schedule->units[at];
    bool commands_first = unit->system != NULL && (unit->system->table.flags & BP_SYSTEM_COMMANDS_FIRST) != 0;
    if (!unit->concurrent && segment->count > 1)
        return broken(f, "'%s' is not concurrent, and shares a segment", unit->name);
    if (commands_first && (at != segment->first || !segment->commands_first))
        return broken(f, "'%s' wants commands first, and does not begin its segment", unit->name);
    for (uint32_t i = 0; i < unit->follower_count; i++) {
        if (unit->followers[i] <= at || unit->followers[i] >= segment->first + segment->count)
            return broken(f, "unit %u waits for '%s', which is not before it in its segment", unit->followers[i],
                          unit->name);
    }
    return true;
}

/* Each unit is in one segment, in the order of the step. */
static bool check_segments(const finding_t *f, const schedule_t *schedule)
{
    uint32_t next = 0;
    for (uint32_t s = 0; s < schedule->segment_count; s++) {
        const segment_t *segment = &schedule->segments[s];
        if (segment->first != next || segment->count == 0 || segment->count > schedule->count - next)
            return broken(f, "segment %u has %u units from %u on, and %u are left from %u on", s, segment->count,
                          segment->first, schedule->count - next, next);
        next += segment->count;
        for (uint32_t at = segment->first; at < next; at++) {
            if (!check_member(f, schedule, segment, at))
                return false;
        }
    }
    return next == schedule->count || broken(f, "segments have %u units of %u", next, schedule->count);
}

static bool follows(const unit_t *unit, uint32_t follower)
{
    uint32_t i = 0;
    while (i < unit->follower_count && unit->followers[i] != follower)
        i++;
    return i < unit->follower_count;
}

/* Two units that come one after the other: no wish contradicts that order, and within a segment the later unit waits
 * for the earlier one where the two conflict. */
static bool check_pair(const finding_t *f, const schedule_t *schedule, uint32_t first, uint32_t later, bool together)
{
    const unit_t *a = schedule->units[first], *b = schedule->units[later];
    uint32_t manager, part;
    if (a == b)
        return broken(f, "'%s' is twice among the units", a->name);
    if (order_precedes(b, a))
        return broken(f, "'%s' comes before '%s', against a wish", a->name, b->name);
    bool waits = schedule_waits(a, b, &manager, &part);
    return !together || waits == follows(a, later) ||
           broken(f, "'%s' %s for '%s'", b->name, waits ? "has to wait, and does not," : "waits without a reason",
                  a->name);
}

static bool check_pairs(const finding_t *f, const schedule_t *schedule)
{
    for (uint32_t s = 0; s < schedule->segment_count; s++) {
        uint32_t end = schedule->segments[s].first + schedule->segments[s].count;
        for (uint32_t later = schedule->segments[s].first; later < end; later++) {
            uint32_t awaited = 0;
            for (uint32_t first = 0; first < later; first++) {
                if (!check_pair(f, schedule, first, later, first >= schedule->segments[s].first))
                    return false;
                awaited += follows(schedule->units[first], later);
            }
            if (awaited != schedule->units[later]->awaited)
                return broken(f, "'%s' waits for %u units, not for %u", schedule->units[later]->name, awaited,
                              schedule->units[later]->awaited);
        }
    }
    return true;
}

/* --- what units touch --------------------------------------------------------------------------------------------- */

static bool check_accesses(const finding_t *f, const schedule_t *schedule, const unit_t *unit)
{
    const world_t *world = schedule->world;
    for (uint32_t i = 0; i < unit->access_count; i++) {
        uint32_t manager = unit->access[i].manager;
        if (manager >= world->manager_count || !world->managers[manager]->started)
            return broken(f, "'%s' touches manager %u, which the world does not have", unit->name, manager);
        if (i > 0 && manager <= unit->access[i - 1].manager)
            return broken(f, "'%s' touches manager %u after manager %u", unit->name, manager,
                          unit->access[i - 1].manager);
    }
    return true;
}

/* The query of a settled unit is one of the world's, and has the unit's terms. */
static bool check_query(const finding_t *f, const schedule_t *schedule, const unit_t *unit)
{
    uint32_t i = 0;
    while (i < schedule->query_count && schedule->queries[i] != unit->query)
        i++;
    return unit->query == NULL || i < schedule->query_count ||
           broken(f, "'%s' has a query that is none of its world's", unit->name);
}

/* --- messages ----------------------------------------------------------------------------------------------------- */

/* Fields of a record follow each other, each where its alignment is; between steps a channel has no sent records. */
static bool check_pipe(const finding_t *f, const pipe_t *pipe)
{
    uint32_t end = 0;
    for (uint32_t i = 0; i < pipe->field_count; i++) {
        const message_field_t *field = &pipe->fields[i];
        if (field->offset < end || message_field_size(field) > pipe->size - field->offset)
            return broken(f, "field '%s' of channel '%s' lies over another", field->name, pipe->name);
        end = field->offset + message_field_size(field);
    }
    if (pipe->sent.count != 0 || pipe->lost != 0)
        return broken(f, "channel '%s' has %u messages on their way between steps", pipe->name, pipe->sent.count);
    return (pipe->read.count <= pipe->read.capacity && pipe->size % 8 == 0) ||
           broken(f, "channel '%s' has %u records of %u bytes, and room for %u", pipe->name, pipe->read.count,
                  pipe->size, pipe->read.capacity);
}

static bool check_end(const finding_t *f, const bp_channel_o *end)
{
    for (uint32_t i = 0; i < end->field_count; i++) {
        const message_field_t *field = &end->pipe->fields[end->places[i]];
        if (end->places[i] >= end->pipe->field_count || end->offsets[i] != field->offset ||
            end->sizes[i] != message_field_size(field))
            return broken(f, "an end of channel '%s' does not know where its field %u is", end->pipe->name, i);
    }
    return true;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

bool schedule_check(const schedule_t *schedule, char *text, size_t size)
{
    const finding_t f = {text, size};
    bool good = !schedule->settled || (check_segments(&f, schedule) && check_pairs(&f, schedule));
    for (uint32_t i = 0; i < schedule->count && good && schedule->settled; i++)
        good = check_accesses(&f, schedule, schedule->units[i]) && check_query(&f, schedule, schedule->units[i]);
    for (uint32_t i = 0; i < schedule->messages.count && good; i++)
        good = check_pipe(&f, schedule->messages.pipes[i]);
    for (const bp_channel_o *end = schedule->messages.ends; end != NULL && good; end = end->next)
        good = check_end(&f, end);
    return good;
}

#if defined(BACKPLANE_AUDIT)

void schedule_assert(const schedule_t *schedule)
{
    char text[256];
    if (schedule->count > SCHEDULE_CHECK_UNITS && schedule->clock->steps % SCHEDULE_CHECK_SHARE != 0)
        return;
    if (schedule_check(schedule, text, sizeof text))
        return;
    log_write(&schedule->world->base->log, BP_LOG_ERROR, "host", "world '%s': an invariant of the step is broken: %s",
              schedule->world->name, text);
    fprintf(stderr, "world '%s': an invariant of the step is broken: %s\n", schedule->world->name, text);
    abort();
}

#endif
