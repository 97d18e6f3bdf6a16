/* measure.c - the system orbit_measure: how long a revolution takes.
 *
 * After each step the system takes the direction of every placed body from its primary in the x-y plane, adds up the
 * angle swept, and notes when the angle passes a whole turn, interpolated within the step. The period is the time of
 * the last completed revolution divided by the number of revolutions, so that the period does not depend on where on
 * the ellipse the body began, and grows more exact as the body goes on.
 *
 * All results lie in fields of the component, so the results survive a reload and can be read by any plugin. The
 * system's own state is a cache: for each row that the system saw in the last step, where the primary's position lies.
 */
#include "orbit.h"

#include <bp_query.h>

#include <helpers/bp_real.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TERM_POINT, TERM_ORBIT };

/* The columns that the report reads. */
struct report_orbit {
    const char *const *primary;
    const bool *placed;
    const uint32_t *revolutions;
    const double *measured_period, *published_period;
};

static const bp_term_field_t report_fields[] = {
    {BP_FIELD_OF(struct report_orbit, primary)},
    {BP_FIELD_OF(struct report_orbit, placed)},
    {BP_FIELD_OF(struct report_orbit, revolutions)},
    {BP_FIELD_OF(struct report_orbit, measured_period)},
    {BP_FIELD_OF(struct report_orbit, published_period)},
};
static const bp_term_t report_terms[] = {{.component = "orbit", .fields = BP_LIST(report_fields)}};

#define KEYS_MOST 255     /* components that an entity can have: docs/scenes.md */
#define ROWS_REPORTED 100  /* most rows of the table */
#define FIRST_TRACKS 16

/* Where the primary of one body is. */
typedef struct track {
    bp_entity_t entity;  /* the body; {0}: the track is to be found anew */
    const char *primary; /* the cell that named the primary: another pointer when the name changes */
    bp_ref_t position;   /* entity {0}: there is no such primary */
} track;

typedef struct measure_state {
    track *tracks;
    uint32_t count; /* as many as there is room for; those not yet used are zero */
    uint32_t padding;
} measure_state;

bp_result_t orbit_measure_start(bp_system_t *s)
{
    measure_state *state = s->api->memory->resize(s->plugin, NULL, 0, sizeof *state);
    if (state == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "orbit_measure: out of memory");
    memset(state, 0, sizeof *state);
    s->state = state;
    return BP_OK;
}

void orbit_measure_stop(bp_system_t *s)
{
    measure_state *state = s->state;
    if (state->tracks != NULL)
        s->api->memory->resize(s->plugin, state->tracks, state->count * sizeof *state->tracks, 0);
    s->state = s->api->memory->resize(s->plugin, state, sizeof *state, 0);
}

/* The track of the row that comes at place `index` in this step; NULL when out of memory. */
static track *track_at(bp_system_t *s, uint32_t index)
{
    measure_state *state = s->state;
    if (index < state->count)
        return &state->tracks[index];
    uint32_t count = state->count == 0 ? FIRST_TRACKS : 2 * state->count;
    track *grown = s->api->memory->resize(s->plugin, state->tracks, state->count * sizeof *grown,
                                          count * sizeof *grown);
    if (grown == NULL)
        return NULL;
    memset(grown + state->count, 0, (count - state->count) * sizeof *grown);
    state->tracks = grown;
    state->count = count;
    return &grown[index];
}

/* The key of the point_mass of an entity, whatever its name there; BP_NONE where it has none. */
static uint32_t point_mass_key(bp_system_t *s, bp_entity_t entity)
{
    const bp_world_api *world = s->api->world;
    uint32_t keys[KEYS_MOST], point_mass = world->component(s->world, BP_POINT_MASS);
    uint32_t count = world->keys_of(s->world, entity, keys, KEYS_MOST);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t component = BP_NONE;
        bp_name_t name;
        world->key_info(s->world, keys[i], &component, &name);
        if (component == point_mass)
            return keys[i];
    }
    return BP_NONE;
}

static void aim(bp_system_t *s, track *t, bp_entity_t entity, const char *primary)
{
    char message[ORBIT_MESSAGE];
    *t = (track){.entity = entity, .primary = primary};
    bp_entity_t found = primary[0] == 0 ? (bp_entity_t){0} : orbit_find(s, primary, message);
    uint32_t key = found.id == 0 ? BP_NONE : point_mass_key(s, found);
    if (key != BP_NONE)
        t->position = (bp_ref_t){.entity = found, .field = key << 8 | BP_POINT_MASS_POSITION};
}

static const bp_vec3_t *primary_position(bp_system_t *s, track *t, bp_entity_t entity, const char *primary)
{
    if (t->entity.id != entity.id || t->primary != primary)
        aim(s, t, entity, primary);
    if (t->position.entity.id == 0)
        return NULL;
    const bp_vec3_t *position = bp_ref_get(s->api->world, s->world, &t->position);
    if (position == NULL)
        t->entity = (bp_entity_t){0};
    return position;
}

/* Add the angle swept in this step to row `row`, and time what it completes. */
static void sweep(const struct measure_orbit *orbit, uint32_t row, const bp_step_t *step, double longitude)
{
    double *angle = &orbit->angle[row];
    uint32_t *revolutions = &orbit->revolutions[row];
    double swept = longitude - orbit->longitude[row], before = fabs(*angle);
    if (swept > ORBIT_PI)
        swept -= 2.0 * ORBIT_PI;
    else if (swept < -ORBIT_PI)
        swept += 2.0 * ORBIT_PI;
    orbit->longitude[row] = longitude;
    *angle += swept;

    double turn = 2.0 * ORBIT_PI * (*revolutions + 1.0);
    if (fabs(*angle) < turn)
        return;
    double crossed = step->time + step->dt * (turn - before) / (fabs(*angle) - before);
    ++*revolutions;
    orbit->measured_period[row] = (crossed - orbit->started[row]) / *revolutions;
}

static void measure_row(bp_system_t *s, const bp_step_t *step, const bp_match_t *match, uint32_t row,
                        track *t)
{
    BP_COLUMNS(struct measure_orbit, orbit, match->columns[TERM_ORBIT]);
    BP_COLUMNS(struct measure_mass, mass, match->columns[TERM_POINT]);
    const bp_vec3_t *from = primary_position(s, t, match->entities[row], orbit.primary[row]);
    if (from == NULL)
        return;
    bp_vec3_t to = mass.position[row];
    sweep(&orbit, row, step, atan2((double)to.y - (double)from->y, (double)to.x - (double)from->x));
}

void orbit_measure_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    uint32_t index = 0;
    for (uint32_t i = 0; i < count; i++) {
        BP_COLUMNS(struct measure_orbit, orbit, matches[i].columns[TERM_ORBIT]);
        for (uint32_t row = 0; row < matches[i].count; row++) {
            track *t = orbit.placed[row] && matches[i].entities[row].id != 0 ? track_at(s, index++) : NULL;
            if (t != NULL)
                measure_row(s, step, &matches[i], row, t);
        }
    }
}

/* --- the report ----------------------------------------------------------------------------------------- */

typedef struct result {
    bp_entity_t entity;
    uint32_t revolutions;
    uint32_t padding;
    double measured, published;
} result;

/* In the order in which the bodies were made, which is the order of the ini. */
static int compare_results(const void *left, const void *right)
{
    uint32_t l = bp_entity_index(((const result *)left)->entity);
    uint32_t r = bp_entity_index(((const result *)right)->entity);
    return l < r ? -1 : l > r;
}

/* The placed bodies that have a primary. Returns how many there are; at most ROWS_REPORTED are written. */
static uint32_t collect(bp_system_t *s, result *results)
{
    const bp_query_api *queries = s->api->registry->find(s->host, BP_QUERY_API, 1);
    const bp_term_list_t terms = BP_LIST(report_terms);
    const bp_match_t *match;
    bp_query_o *query;
    uint32_t count = 0;
    if (queries->make(s->world, s->plugin, &terms, 0, &query) != BP_OK)
        return 0;
    for (queries->begin(query, 0); (match = queries->next(query)) != NULL;) {
        BP_COLUMNS(struct report_orbit, c, match->columns[0]);
        for (uint32_t row = 0; row < match->count; row++) {
            if (match->entities[row].id == 0 || !c.placed[row] || c.primary[row][0] == 0)
                continue;
            if (count++ >= ROWS_REPORTED)
                continue;
            results[count - 1] = (result){
                .entity = match->entities[row],
                .revolutions = c.revolutions[row],
                .measured = c.measured_period[row],
                .published = c.published_period[row],
            };
        }
    }
    queries->end(query);
    return count;
}

static void report_row(bp_system_t *s, bp_report_o *report, const result *r)
{
    char name[64], revolutions[16], measured[32] = "-", published[32] = "-", difference[32] = "-";
    orbit_name(s, r->entity, name, sizeof name);
    snprintf(revolutions, sizeof revolutions, "%u", (unsigned)r->revolutions);
    if (r->revolutions > 0)
        snprintf(measured, sizeof measured, "%.4f", r->measured);
    if (r->published > 0)
        snprintf(published, sizeof published, "%.4f", r->published);
    if (r->revolutions > 0 && r->published > 0)
        snprintf(difference, sizeof difference, "%+.4f", 100.0 * (r->measured / r->published - 1.0));
    s->api->report->row(report, (const char *const[]){name, revolutions, bp_real_dot(measured),
                                                         bp_real_dot(published), bp_real_dot(difference)});
}

void orbit_measure_report(bp_system_t *s, bp_report_o *report)
{
    result results[ROWS_REPORTED];
    uint32_t count = collect(s, results), shown = count < ROWS_REPORTED ? count : ROWS_REPORTED;
    if (count == 0)
        return;
    char measured[64], published[64], rest[64];
    const char *unit = s->plugin->options[ORBIT_OPTION_TIME_UNIT].string;
    snprintf(measured, sizeof measured, "measured (%.16s)", unit);
    snprintf(published, sizeof published, "published (%.16s)", unit);
    qsort(results, shown, sizeof *results, compare_results);
    const char *const headers[] = {"body", "revolutions", measured, published, "difference (%)"};
    s->api->report->table(report, "orbital periods", headers, 5);
    for (uint32_t i = 0; i < shown; i++)
        report_row(s, report, &results[i]);
    if (count > shown) {
        snprintf(rest, sizeof rest, "%u more bodies", (unsigned)(count - shown));
        s->api->report->value(report, "not shown", rest);
    }
}
