/* storm_reload.c - reloads of the plugins patch, keeper and gale, and the versions that are taken back.
 *
 * The model says beforehand whether a reload is possible. After a commit it keeps what was there before, for what is on
 * probation (storm_begin_probation); what a version taken back leaves is computed from that.
 *
 * Reloads of den are in storm_den.c, those of crasher in storm_crasher.c.
 */
#include "../system/calls.h"
#include "storm_model.h"

#include <string.h>

enum { ROWS = PLACES * WORLDS * 2, PROBATION = 8 };

/* --- reloads ------------------------------------------------------------------------------------------------------ */

void storm_begin_probation(uint32_t what)
{
    storm.before = storm.now;
    storm.former = storm.version;
    storm.probation = what;
    for (uint32_t e = 0; e < PLACES; e++) {
        for (uint32_t w = 0; w < WORLDS; w++)
            memset(storm.now.places[e][w].since, 0, sizeof storm.now.places[e][w].since);
    }
}

/* What the host has told of the reload that is under way. */
static struct { uint32_t count; bp_result_t result; } told;

static void note_told(void *data, const bp_reload_report_t *report)
{
    (void)data;
    told.count++;
    told.result = report->result;
}

void storm_reload_open(void)
{
    DOES(bp_host_on_reload(storm.host, note_told, NULL));
    DOES(bp_host_wait(storm.host, 1)); /* what it waits with is open from now on */
}

/* Beside the steps: some are taken between the call and the first poll where nothing is to fail; not later, since how
 * many polls there are depends on the time. Nor with a crasher that would crash in them, nor in the past, where going
 * on puts the files of that time in place. */
static bp_result_t reload_in_slices(const char *name)
{
    bool steps = !storm.broken && strcmp(name, "crasher") != 0 && !storm.armed && !storm_past_is_behind();
    bp_result_t result = bp_host_begin_reload(storm.host, &name, 1, 0);
    for (uint32_t n = storm_below(3); result == BP_OK && steps && n > 0; n--) {
        storm_step_of(storm_below(2) == 0 ? WORLDS : storm_some_world());
        storm_compare();
    }
    for (uint32_t n = 0; result == BP_OK && told.count == 0; n++) {
        SAYS(n < 20000, "a reload of %s that was begun is never told of", name);
        bp_host_wait(storm.host, 1000000);
    }
    storm.counts->slices += told.count;
    return result == BP_OK ? told.result : result;
}

/* `possible`: by what the model says when the reload is over, since steps may be taken meanwhile; NULL: always. Where
 * it is, only lack of memory or a call that fails is a reason to refuse. */
bool storm_reload(const char *name, bool (*possible)(void))
{
    storm.host->reload.probation_steps = storm_below(4) == 0 ? 0 : PROBATION;
    bool slices = storm_below(3) == 0;
    uint32_t files = calls_descriptors();
    told.count = 0;
    storm_break(150);
    bp_result_t result = slices ? reload_in_slices(name) : bp_host_reload(storm.host, &name, 1, NULL);
    bool failed = storm_mend(), may = possible == NULL || possible();
    if (failed && storm.folders == 0 && calls_descriptors() == files + 1)
        files += ++storm.folders; /* which holds a file open */
    SAYS(told.count == 1 && told.result == result, "a reload of %s is told of %u times", name, told.count);
    SAYS(result == BP_OK || storm_drafts() || calls_descriptors() == files,
         "a reload of %s that is refused leaves files open", name);
    /* Where no copy of the process can be had a version comes in untried, and crashes later or not at all. */
    bool untried = storm.how->trial && failed && strcmp(name, "crasher") == 0;
    SAYS(result != BP_OK || may || untried, "a reload of %s that is impossible went through", name);
    SAYS(result == BP_OK || !may || failed, "reload %s: %s", name, bp_host_error(storm.host));
    storm.counts->reloads += result == BP_OK;
    storm.counts->refusals += result != BP_OK;
    return result == BP_OK;
}

/* All values of patch, one instance after another; into, or out of, the model. */
static uint32_t gather(patch_values_t *rows, bool out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < ROWS; i++) {
        place_t *place = &storm.now.places[i / 2 / WORLDS][i / 2 % WORLDS];
        if (!place->has[i % 2])
            continue;
        if (out)
            place->patch[i % 2] = rows[count];
        else
            rows[count] = place->patch[i % 2];
        count++;
    }
    return count;
}

/* Where there are no instances types alone decide: a row whose values can become whatever their types can. */
static uint32_t gather_any(patch_values_t *row)
{
    memset(row, 0, sizeof *row);
    for (uint32_t f = 0; f < storm.now.list.count; f++) {
        const patch_field_t *field = &storm.now.list.fields[f];
        if (patch_parts(field->type) > 1)
            row->of[field->name] = field->initial; /* so that parts may go */
    }
    return 1;
}

/* The list that patch is to have next, and the values that instances have then. */
static patch_list_t coming;
static patch_values_t coming_rows[ROWS];

static bool patch_may_come(void)
{
    static patch_values_t rows[ROWS];
    memset(coming_rows, 0, sizeof coming_rows);
    uint32_t count = gather(rows, false);
    count = count > 0 ? count : gather_any(rows);
    return patch_foresee(&storm.now.list, rows, &coming, coming_rows, count);
}

void storm_reload_patch(void)
{
    coming = patch_next(&storm.random, &storm.now.list);
    patch_put(&storm.file, &coming);
    if (storm_reload("patch", patch_may_come)) {
        storm_begin_probation(OF_PATCH);
        storm.counts->crowd_reloads += storm.now.crowd[0] + storm.now.crowd[1] > 0;
        gather(coming_rows, true);
        storm.now.list = coming;
    }
    patch_put(&storm.file, &storm.now.list); /* what is there when it is loaded anew */
}

void storm_reload_keeper(void)
{
    if (storm_reload("keeper", NULL))
        storm_begin_probation(OF_KEEPER);
}

void storm_reload_gale(void)
{
    gale_t old = storm.now.gale;
    storm.now.gale = storm_gale_next();
    storm_gale_put();
    gale_t next = storm.now.gale;
    storm.now.gale = old;
    if (storm_reload("gale", NULL)) {
        storm_begin_probation(OF_GALE);
        storm.now.gale = next;
        for (uint32_t w = 0; w < WORLDS && next.form != old.form; w++)
            storm.now.own[w].recounted = false;
    } else {
        storm_gale_put();
    }
}

/* --- the version before ------------------------------------------------------------------------------------------- */

static void patch_back(place_t *place, const place_t *old, const patch_list_t *list)
{
    patch_values_t values;
    for (uint32_t kind = PATCH; kind <= SECOND; kind++) {
        memset(&values, 0, sizeof values);
        for (uint32_t f = 0; f < storm.before.list.count; f++) {
            const patch_field_t *field = &storm.before.list.fields[f];
            uint32_t after = patch_after(&storm.before.list, list, field->name, true);
            values.of[field->name] = after != PATCH_NAMES        ? place->patch[kind].of[after]
                                     : place->since[kind] ? field->initial
                                                          : old->patch[kind].of[field->name];
        }
        place->patch[kind] = values;
    }
}

static void keeper_back(place_t *place, const place_t *old)
{
    if (place->since[KEEPER])
        place->keeper = (keeper_values_t){.number = 5};
    else
        place->keeper = old->keeper;
}

static void take_gale_back(void)
{
    for (uint32_t w = 0; w < WORLDS && storm.now.gale.form != storm.before.gale.form; w++)
        storm.now.own[w].recounted = storm.before.own[w].recounted;
    storm.now.gale = storm.before.gale;
    storm_gale_put();
}

void storm_take_back(void)
{
    const patch_list_t list = storm.now.list;
    uint32_t what = storm.probation;
    if (storm.host->reload.probation == NULL || storm.aside)
        return;
    DOES(host_take_versions_back(storm.host));
    storm.counts->rollbacks++;
    storm.probation = OF_NONE;
    for (uint32_t e = 0; e < PLACES; e++) {
        EACH_WORLD(w) {
            place_t *place = &storm.now.places[e][w];
            if (what == OF_PATCH)
                patch_back(place, &storm.before.places[e][w], &list);
            if (what == OF_KEEPER)
                keeper_back(place, &storm.before.places[e][w]);
        }
    }
    if (what == OF_PATCH)
        storm.now.list = storm.before.list;
    if (what == OF_PATCH)
        patch_put(&storm.file, &storm.now.list);
    if (what == OF_GALE)
        take_gale_back();
    if (what == OF_DEN)
        storm_den_back();
    if (what == OF_CRASHER)
        storm.version = storm_crasher_version();
    SAYS(what != OF_CRASHER || storm.version == storm.former, "version %d is back", storm.version);
}
