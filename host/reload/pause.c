/* pause.c - how long worlds will stand still for a change: estimated before its columns are made and its values
 * carried, told, and refused where that is longer than the host allows.
 *
 * The estimate adds up what each living instance costs on its road. Columns with defaults, converted ones,
 * limits, and plain properties of storage of its own cost what `build/bench --filter reload` showed at a million
 * instances, rounded, on one thread: a host of several threads is faster. No benchmark has texts, lists, `save` and
 * `load`, or the opening of a plugin: these costs are assumed.
 * Where a plugin's verbs take longer than those of the benchmark the estimate is too low. Therefore, where instances
 * are carried in batches, the estimate is corrected by the time that the batches before have really taken. A change
 * that is refused in the middle is undone like any other.
 *
 * Not here: what a copy of the process takes (trial.c), the report of what a change has taken (report.c).
 */
#include "../os/os.h"
#include "ahead.h"

enum {
    MILLION = 1000000,
    FRAME_NS = 16 * MILLION,   /* above which an estimate is told */
    VERSION_NS = MILLION,      /* to open a plugin's file, load it, and close the one before */
    FIRST_ROWS = 8192,         /* carried before their time says something about the rest */

    /* nanoseconds for each instance */
    DEFAULT_NS = 5,            /* a new column that is not all zero */
    CHECK_NS = 1,              /* a column whose values are looked at */
    CONVERT_NS = 4,            /* a column of plain values that become others, on one thread */
    READY_NS = 1,              /* the same where it was made ready before: all of it may have been written since */
    MAKE_CELLS_NS = 60,        /* a column of texts or lists that are made anew */
    INSTANCE_NS = 20,          /* storage of its own: an instance made, ... */
    PROPERTY_NS = 20,          /* ... and one of its properties carried, or asked for on both sides, ... */
    TEXT_NS = 90,              /* ... which is a text or a list */
    SAVE_NS = 60               /* `save`, and `load` of what it has written */
};

/* --- the estimate ------------------------------------------------------------------------------------------------- */

static uint64_t of_column(const convert_source_t *source, const field_t *field, bool ready)
{
    if (ready)
        return READY_NS;
    if (source->old == BP_NONE)
        return field->initial_is_zero ? 0 : DEFAULT_NS;
    if (source->kind != CONVERT_SAME)
        return field->type == BP_STRING || field_is_list(field) ? MAKE_CELLS_NS : CONVERT_NS;
    return source->check ? CHECK_NS : 0;
}

/* Of declared fields, one instance. */
static uint64_t of_columns(const reload_change_t *change, const component_change_t *c)
{
    uint64_t ns = 0;
    for (uint32_t i = 0; i < c->source_count; i++)
        ns += of_column(&c->sources[i], &c->kept->fields[i], ahead_has(change, c->slot, i));
    return ns;
}

/* By properties, one instance. */
static uint64_t of_properties(const component_change_t *c)
{
    uint64_t ns = INSTANCE_NS;
    for (uint32_t i = 0; i < c->source_count; i++) {
        const field_t *field = &c->kept->fields[i];
        bool large = field->type == BP_STRING || field_is_list(field) || field->elements > 0;
        if (c->sources[i].old != BP_NONE)
            ns += large ? TEXT_NS : PROPERTY_NS;
    }
    return ns;
}

static uint64_t of_instance(const reload_change_t *change, const manager_change_t *m)
{
    switch (m->road) {
    case ROAD_FIELDS:
        return m->moves ? of_columns(change, m->component) : 0;
    case ROAD_STATE:
        return 0;
    case ROAD_SAVED:
        return SAVE_NS;
    default:
        return of_properties(m->component);
    }
}

/* The manager that takes longest is what a sentence names. */
static uint64_t estimate(const reload_change_t *change, const world_change_t **world, const manager_change_t **manager)
{
    uint64_t ns = (uint64_t)change->version_count * VERSION_NS, longest = 0;
    for (uint32_t i = 0; i < change->world_count; i++) {
        const world_change_t *w = &change->worlds[i];
        for (uint32_t j = 0; j < w->manager_count; j++) {
            const manager_change_t *m = &w->managers[j];
            uint64_t own = of_instance(change, m) * world_count(w->world, m->manager->number);
            ns += own;
            if (own <= longest)
                continue;
            longest = own;
            *world = w;
            *manager = m;
        }
    }
    return ns;
}

static const char *name_road(road_t road)
{
    switch (road) {
    case ROAD_FIELDS:
        return "whose fields become others";
    case ROAD_SAVED:
        return "which are saved and loaded";
    default:
        return "which go over property by property";
    }
}

/* --- the limit ---------------------------------------------------------------------------------------------------- */

static bp_result_t refuse(reload_change_t *change, const world_change_t *w, const manager_change_t *m, uint64_t ns,
                          const char *known_by)
{
    bool own = m->road != ROAD_FIELDS;
    return error_set(change_error(change), BP_ERROR_LIMIT,
                     "all worlds would stand still for about %llu ms%s, and reload_pause allows %u ms: component '%s', "
                     "world '%s', has %u instances, %s; %sraise reload_pause, or change it while there are fewer",
                     (unsigned long long)(ns / MILLION), known_by, change->reload->pause_limit,
                     m->component->slot->name, w->world->name, world_count(w->world, m->manager->number),
                     name_road(m->road),
                     own ? "a `state_form` on both sides would hand them over in no time; " : "");
}

bp_result_t pause_foresee(reload_change_t *change)
{
    const world_change_t *w = NULL;
    const manager_change_t *m = NULL;
    const reload_t *reload = change->reload;
    uint64_t ns = estimate(change, &w, &m);
    if (m == NULL)
        return BP_OK;
    if (reload->pause_limit > 0 && ns / MILLION > reload->pause_limit)
        return refuse(change, w, m, ns, " (estimated)");
    if (ns > FRAME_NS)
        log_write(&reload->base->log, BP_LOG_INFO, "reload",
                  "all worlds stand still now, for about %llu ms: component '%s', world '%s', has %u instances, %s",
                  (unsigned long long)(ns / MILLION), m->component->slot->name, w->world->name,
                  world_count(w->world, m->manager->number), name_road(m->road));
    return BP_OK;
}

bp_result_t pause_check(reload_change_t *change, const world_change_t *w, const manager_change_t *m, uint32_t done,
                        uint32_t all)
{
    const reload_t *reload = change->reload;
    /* In the copy of a trial each first write to a page copies the page, so its times do not hold for the original. */
    if (reload->pause_limit == 0 || reload->loader->on_trial || done < FIRST_ROWS || done > all)
        return BP_OK;
    uint64_t spent = os_clock_ns() - change->began, ns = spent / done * all;
    return ns / MILLION > reload->pause_limit ? refuse(change, w, m, ns, ", as the first of them show") : BP_OK;
}
