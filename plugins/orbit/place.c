/* place.c - the system orbit_place: puts bodies on their orbits.
 *
 * The system works on the bodies that have an orbit and are not placed yet, and on their primaries. Published
 * elements are fitted over centuries: the motion of the Sun that Jupiter causes in twelve years has been
 * averaged out of them. So orbits are taken as nested two-body problems (Jacobi coordinates): a body's
 * satellites come first, then the body with its satellites, as one mass at their barycentre, is put on its
 * ellipse around the barycentre of its primary and of all that goes around that primary on smaller orbits.
 * Placed about the Sun alone, Neptune would start with up to 13 m/s too much or too little, the speed that the Sun has
 * from Jupiter: 0.7 % of its period. Earth's row in the tables means the barycentre of Earth and Moon anyway.
 *
 * point_mass moves by velocity += acceleration dt; position += velocity dt. With a velocity that belongs
 * to the middle between two positions this is the leapfrog method, of second order; with a velocity of the same
 * moment the method is only of first order. So a body gets its position at the time t and its velocity at t - dt/2.
 *
 * All or nothing: where one body cannot be placed, none is, and the log says why, once for each reason.
 */
#include "orbit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TERM_POINT, TERM_ORBIT };

typedef struct place_state {
    char said[ORBIT_MESSAGE]; /* the last complaint, kept so that the log does not repeat it in every step */
} place_state;

/* A body to place, or the primary of one. */
typedef struct body {
    bp_entity_t entity;
    const bp_match_t *match; /* NULL: the row of this primary is not found yet */
    uint32_t row;
    uint32_t parent;         /* index of its primary; BP_NONE: not needed */
    uint32_t depth;          /* primaries above it */
    uint32_t moves;          /* is put on its orbit; else it stays where it is */
    orbit_state state;       /* at first as seen from its primary, in the end in the world */
    double mass;
    double cluster_mass;     /* the mass of the body and its satellites so far */
    orbit_state cluster;     /* the barycentre of these, as seen from the body */
} body;

/* Everything that one attempt needs. */
typedef struct attempt {
    bp_system_t *system;
    const bp_match_t *matches;
    uint32_t match_count;
    uint32_t moving; /* so many bodies at the beginning of `bodies` are to be placed */
    uint32_t count;
    uint32_t padding;
    body *bodies;    /* room for 2 * moving */
    struct rank *ranks;
    char message[ORBIT_MESSAGE];
} attempt;

/* The order of work: deepest first, and of these inner before outer. */
typedef struct rank {
    double semi_major_axis;
    uint32_t depth, index;
} rank;

bp_result_t orbit_place_start(bp_system_t *s)
{
    place_state *state = s->api->memory->resize(s->plugin, NULL, 0, sizeof *state);
    if (state == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "orbit_place: out of memory");
    memset(state, 0, sizeof *state);
    s->state = state;
    return BP_OK;
}

void orbit_place_stop(bp_system_t *s)
{
    s->state = s->api->memory->resize(s->plugin, s->state, sizeof(place_state), 0);
}

static struct place_orbit orbit_of(const bp_match_t *match)
{
    BP_COLUMNS(struct place_orbit, orbit, match->columns[TERM_ORBIT]);
    return orbit;
}

static struct place_mass mass_of(const bp_match_t *match)
{
    BP_COLUMNS(struct place_mass, mass, match->columns[TERM_POINT]);
    return mass;
}

/* Does this row have an orbit that the system has not dealt with? */
static int is_unplaced(const bp_match_t *match, uint32_t row)
{
    return match->entities[row].id != 0 && !orbit_of(match).placed[row];
}

static uint32_t count_unplaced(const bp_match_t *matches, uint32_t count, int *any_placed)
{
    uint32_t unplaced = 0;
    *any_placed = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (orbit_of(&matches[i]).placed == NULL)
            continue;
        for (uint32_t row = 0; row < matches[i].count; row++) {
            if (is_unplaced(&matches[i], row))
                unplaced++;
            else if (matches[i].entities[row].id != 0)
                *any_placed = 1;
        }
    }
    return unplaced;
}

static void locate(body *b, const bp_match_t *match, uint32_t row)
{
    b->match = match;
    b->row = row;
    b->mass = (double)mass_of(match).mass[row];
    b->cluster_mass = b->mass;
}

static void list_unplaced(attempt *a)
{
    for (uint32_t i = 0; i < a->match_count; i++) {
        const bp_match_t *match = &a->matches[i];
        for (uint32_t row = 0; orbit_of(match).placed != NULL && row < match->count; row++) {
            if (!is_unplaced(match, row))
                continue;
            body *b = &a->bodies[a->count++];
            *b = (body){.entity = match->entities[row], .parent = BP_NONE};
            locate(b, match, row);
        }
    }
}

static uint32_t index_of(const attempt *a, bp_entity_t entity)
{
    for (uint32_t i = 0; i < a->count; i++) {
        if (a->bodies[i].entity.id == entity.id)
            return i;
    }
    return BP_NONE;
}

/* Find the primary of each body to place; primaries that are not among the bodies to place are listed after these. */
static int link_primaries(attempt *a)
{
    for (uint32_t i = 0; i < a->moving; i++) {
        body *b = &a->bodies[i];
        const char *name = orbit_of(b->match).primary[b->row];
        if (name[0] == 0)
            continue;
        bp_entity_t primary = orbit_find(a->system, name, a->message);
        if (primary.id == 0)
            return 0;
        b->parent = index_of(a, primary);
        if (b->parent == BP_NONE) {
            b->parent = a->count;
            a->bodies[a->count++] = (body){.entity = primary, .parent = BP_NONE};
        }
        b->moves = orbit_of(b->match).semi_major_axis[b->row] > 0;
    }
    return 1;
}

/* Find the rows of the primaries that link_primaries has added. */
static int locate_primaries(attempt *a)
{
    uint32_t missing = a->count - a->moving;
    for (uint32_t i = 0; i < a->match_count && missing > 0; i++) {
        const bp_match_t *match = &a->matches[i];
        for (uint32_t row = 0; row < match->count && missing > 0; row++) {
            for (uint32_t k = a->moving; k < a->count; k++) {
                if (a->bodies[k].entity.id == match->entities[row].id) {
                    locate(&a->bodies[k], match, row);
                    missing--;
                }
            }
        }
    }
    for (uint32_t k = a->moving; k < a->count && missing > 0; k++) {
        char name[64];
        if (a->bodies[k].match == NULL) {
            snprintf(a->message, sizeof a->message, "the primary %s has no point_mass in this world",
                     orbit_name(a->system, a->bodies[k].entity, name, sizeof name));
            return 0;
        }
    }
    return 1;
}

/* How many primaries each body has above it; more than there are bodies means a circle. */
static int measure_depths(attempt *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t depth = 0;
        for (uint32_t k = a->bodies[i].parent; k != BP_NONE && depth <= a->count; k = a->bodies[k].parent)
            depth++;
        if (depth > a->count) {
            char name[64];
            snprintf(a->message, sizeof a->message, "%s goes around itself, by way of its primaries",
                     orbit_name(a->system, a->bodies[i].entity, name, sizeof name));
            return 0;
        }
        a->bodies[i].depth = depth;
    }
    return 1;
}

static int compare_ranks(const void *left, const void *right)
{
    const rank *l = left, *r = right;
    if (l->depth != r->depth)
        return l->depth > r->depth ? -1 : 1;
    if (l->semi_major_axis != r->semi_major_axis)
        return l->semi_major_axis < r->semi_major_axis ? -1 : 1;
    return l->index < r->index ? -1 : l->index > r->index;
}

static void rank_bodies(attempt *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const body *b = &a->bodies[i];
        double axis = b->moves ? orbit_of(b->match).semi_major_axis[b->row] : 0;
        a->ranks[i] = (rank){.semi_major_axis = axis, .depth = b->depth, .index = i};
    }
    qsort(a->ranks, a->count, sizeof *a->ranks, compare_ranks);
}

static orbit_elements elements_of(const body *b)
{
    struct place_orbit orbit = orbit_of(b->match);
    return (orbit_elements){
        .semi_major_axis = orbit.semi_major_axis[b->row],
        .eccentricity = orbit.eccentricity[b->row],
        .inclination = orbit.inclination[b->row],
        .mean_longitude = orbit.mean_longitude[b->row],
        .longitude_of_perihelion = orbit.longitude_of_perihelion[b->row],
        .ascending_node = orbit.ascending_node[b->row],
    };
}

/* Put a body, with the satellites it has by now, on its orbit around the cluster of its primary. */
static int attach(attempt *a, body *b, const bp_step_t *step)
{
    static const orbit_state origin = {{0, 0, 0}, {0, 0, 0}};
    body *primary = &a->bodies[b->parent];
    double mass = primary->cluster_mass + b->cluster_mass;
    double mu = a->system->plugin->options[ORBIT_OPTION_CONSTANT].f64 * mass;
    if (!(mu > 0)) {
        char name[64];
        snprintf(a->message, sizeof a->message, "%s and its primary have no mass, so no orbit",
                 orbit_name(a->system, b->entity, name, sizeof name));
        return 0;
    }
    orbit_elements elements = elements_of(b);
    orbit_state relative = orbit_kepler(&elements, mu, step->time);
    relative.velocity = orbit_kepler(&elements, mu, step->time - 0.5 * step->dt).velocity;

    b->state = orbit_add(orbit_add(primary->cluster, 1, relative), -1, b->cluster);
    orbit_state shift = orbit_add(origin, b->cluster_mass / mass, relative);
    primary->cluster = orbit_add(primary->cluster, 1, shift);
    primary->cluster_mass = mass;
    return 1;
}

static orbit_state read_state(const body *b)
{
    bp_vec3_t p = mass_of(b->match).position[b->row], v = mass_of(b->match).velocity[b->row];
    orbit_state state = {{(double)p.x, (double)p.y, (double)p.z}, {(double)v.x, (double)v.y, (double)v.z}};
    return state;
}

/* Place everything relative to its primary, then, primaries first, in the world. */
static int settle(attempt *a, const bp_step_t *step)
{
    for (uint32_t i = 0; i < a->count; i++) {
        body *b = &a->bodies[a->ranks[i].index];
        if (b->moves && !attach(a, b, step))
            return 0;
    }
    for (uint32_t i = a->count; i-- > 0;) {
        body *b = &a->bodies[a->ranks[i].index];
        b->state = b->moves ? orbit_add(a->bodies[b->parent].state, 1, b->state) : read_state(b);
    }
    return 1;
}

/* Let the common barycentre rest at the origin; else the whole system would drift away. */
static void recentre(attempt *a)
{
    orbit_state barycentre = {{0, 0, 0}, {0, 0, 0}};
    double mass = 0;
    uint32_t moved = 0;
    for (uint32_t i = 0; i < a->count; i++) {
        barycentre = orbit_add(barycentre, a->bodies[i].mass, a->bodies[i].state);
        mass += a->bodies[i].mass;
        moved += a->bodies[i].moves;
    }
    for (uint32_t i = 0; i < a->count && mass > 0 && moved > 0; i++)
        a->bodies[i].state = orbit_add(a->bodies[i].state, -1.0 / mass, barycentre);
}

static bp_vec3_t narrow(orbit_vector v)
{
    return (bp_vec3_t){(float)v.x, (float)v.y, (float)v.z};
}

static void write_body(const attempt *a, uint32_t index, const bp_step_t *step)
{
    const body *b = &a->bodies[index];
    struct place_mass mass = mass_of(b->match);
    struct place_orbit orbit = orbit_of(b->match);
    mass.position[b->row] = narrow(b->state.position);
    mass.velocity[b->row] = narrow(b->state.velocity);
    if (index >= a->moving)
        return;
    orbit.placed[b->row] = true;
    orbit.started[b->row] = step->time;
    if (b->parent != BP_NONE) {
        orbit_vector from = a->bodies[b->parent].state.position, to = b->state.position;
        orbit.longitude[b->row] = atan2(to.y - from.y, to.x - from.x);
    }
}

static int place(attempt *a, const bp_step_t *step, int any_placed)
{
    list_unplaced(a);
    if (!link_primaries(a) || !locate_primaries(a) || !measure_depths(a))
        return 0;
    rank_bodies(a);
    if (!settle(a, step))
        return 0;
    if (!any_placed)
        recentre(a);
    for (uint32_t i = 0; i < a->count; i++)
        write_body(a, i, step);
    return 1;
}

static void complain(bp_system_t *s, const char *message)
{
    place_state *state = s->state;
    if (strcmp(state->said, message) == 0)
        return;
    char line[ORBIT_MESSAGE + 64];
    snprintf(line, sizeof line, "no body is placed: %s", message);
    s->api->error->log(s->plugin, BP_LOG_ERROR, line);
    snprintf(state->said, sizeof state->said, "%s", message);
}

void orbit_place_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    int any_placed;
    attempt a = {.system = s, .matches = matches, .match_count = count};
    a.moving = count_unplaced(matches, count, &any_placed);
    if (a.moving == 0)
        return;
    size_t room = 2 * (size_t)a.moving;
    const bp_memory_api *memory = s->api->memory;
    a.bodies = memory->resize(s->plugin, NULL, 0, room * sizeof *a.bodies);
    a.ranks = memory->resize(s->plugin, NULL, 0, room * sizeof *a.ranks);
    if (a.bodies == NULL || a.ranks == NULL)
        complain(s, "out of memory");
    else if (!place(&a, step, any_placed))
        complain(s, a.message);
    if (a.bodies != NULL)
        memory->resize(s->plugin, a.bodies, room * sizeof *a.bodies, 0);
    if (a.ranks != NULL)
        memory->resize(s->plugin, a.ranks, room * sizeof *a.ranks, 0);
}
