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

enum { ROWS = ENTITIES * WORLDS * 2, PROBATION = 8 };

/* --- reloads ------------------------------------------------------------------------------------------------------ */

void storm_begin_probation(uint32_t what)
{
    storm.before = storm.now;
    storm.former = storm.version;
    storm.probation = what;
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t w = 0; w < WORLDS; w++)
            memset(storm.now.places[e][w].since, 0, sizeof storm.now.places[e][w].since);
    }
}

/* `possible`: by what the model says; then only lack of memory or a call that fails is a reason to refuse. */
bool storm_reload(const char *name, bool possible)
{
    storm.host->reload.probation_steps = storm_below(4) == 0 ? 0 : PROBATION;
    uint32_t files = calls_descriptors();
    storm_break(150);
    bp_result_t result = bp_host_reload(storm.host, &name, 1, NULL);
    bool failed = storm_mend();
    if (failed && storm.folders == 0 && calls_descriptors() == files + 1)
        files += ++storm.folders; /* which holds a file open */
    SAYS(result == BP_OK || calls_descriptors() == files, "a reload of %s that is refused leaves files open", name);
    /* Where no copy of the process can be had a version comes in untried, and crashes later or not at all. */
    bool untried = storm.how->trial && failed && strcmp(name, "crasher") == 0;
    SAYS(result != BP_OK || possible || untried, "a reload of %s that is impossible went through", name);
    SAYS(result == BP_OK || !possible || failed, "reload %s: %s", name, bp_host_error(storm.host));
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

void storm_reload_patch(void)
{
    static patch_values_t rows[ROWS], next[ROWS];
    patch_list_t list = patch_next(&storm.random, &storm.now.list);
    memset(next, 0, sizeof next);
    uint32_t count = gather(rows, false);
    count = count > 0 ? count : gather_any(rows);
    bool possible = patch_foresee(&storm.now.list, rows, &list, next, count);
    patch_put(&storm.file, &list);
    if (storm_reload("patch", possible)) {
        storm_begin_probation(OF_PATCH);
        gather(next, true);
        storm.now.list = list;
    }
    patch_put(&storm.file, &storm.now.list); /* what is there when it is loaded anew */
}

void storm_reload_keeper(void)
{
    if (storm_reload("keeper", true))
        storm_begin_probation(OF_KEEPER);
}

void storm_reload_gale(void)
{
    gale_t old = storm.now.gale;
    storm.now.gale = storm_gale_next();
    storm_gale_put();
    gale_t next = storm.now.gale;
    storm.now.gale = old;
    if (storm_reload("gale", true)) {
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
        storm.now.own[w].recounted = true;
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
    for (uint32_t e = 0; e < ENTITIES; e++) {
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
