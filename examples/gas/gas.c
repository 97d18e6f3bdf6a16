/* gas.c - a gas of soft particles in a box, in two or three dimensions: an example whose result does not depend on how
 * many processes compute it.
 *
 * Each particle has a number that it keeps on whatever rank it is. Forces are summed in the order of numbers
 * (forces.c), so a world that is split among several ranks (docs/machines.md) goes on bit for bit as a world that is
 * not split. Copies of the particles that other ranks have near this rank's border lie in the world NAME.halo beside
 * the split world, for reading.
 */
#include "gas.h"

#include <bp_peers.h>
#include <bp_query.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const bp_field_t options[] = {
    [GAS_COUNT] = {.name = "count", .type = BP_U32, .initial = "1000", .doc = "particles in the box"},
    [GAS_BOX] = {.name = "box", .type = BP_DVEC3, .initial = "40 40 0", .min = "0", .unit = "m",
                 .doc = "its corner opposite 0 0 0; a z of 0 makes a gas in two dimensions"},
    [GAS_FILLED] = {.name = "filled", .type = BP_F64, .initial = "1", .min = "0", .max = "1",
                    .doc = "how much of the box has particles at first, from the side x = 0 on"},
    [GAS_SPEED] = {.name = "speed", .type = BP_F64, .initial = "1", .min = "0", .unit = "m/s",
                   .doc = "of particles at first, along each axis at most"},
    [GAS_RADIUS] = {.name = "radius", .type = BP_F64, .initial = "1", .min = "1e-9", .unit = "m",
                    .doc = "within which particles push each other away"},
    [GAS_STIFFNESS] = {.name = "stiffness", .type = BP_F64, .initial = "50", .min = "0",
                       .doc = "force, for a mass of 1, at distance 0"},
    [GAS_SEED] = {.name = "seed", .type = BP_U64, .initial = "1", .doc = "of where particles begin"},
    [GAS_SVG] = {.name = "svg", .type = BP_STRING,
                 .doc = "picture of the last step, relative to where the program runs; empty: none"},
};

static const bp_field_t fields[] = {
    {.name = "position", .type = BP_DVEC3, .unit = "m"},
    {.name = "velocity", .type = BP_DVEC3, .unit = "m/s"},
    {.name = "number", .type = BP_U64, .doc = "which particle it is, on whatever rank"},
};

static const bp_component_i components[] = {{
    .name = "particle",
    .doc = "a particle of a gas",
    .fields = BP_LIST(fields),
}};

static const bp_term_field_t asked[] = {
    {BP_FIELD_OF(struct particle, position)},
    {BP_FIELD_OF(struct particle, velocity)},
    {BP_FIELD_OF(struct particle, number)},
};

/* What forces need to know of others' particles, where the world is split over several ranks. */
struct seen {
    const bp_dvec3_t *position;
    const uint64_t *number;
};

static const bp_term_field_t seen[] = {
    {BP_FIELD_OF(struct seen, position)},
    {BP_FIELD_OF(struct seen, number)},
};
enum { OWN, COPIES };
static const bp_term_t terms[] = {
    [OWN] = {.component = "particle", .fields = BP_LIST(asked)},
    [COPIES] = {.component = "particle", .flags = BP_TERM_BESIDE, .world = ".halo", .fields = BP_LIST(seen)},
};

/* --- how it begins ------------------------------------------------------------------------------------------------ */

/* A random number from 0 to 1. */
static double random_part(uint64_t *state)
{
    return (double)(bp_random_next(state) >> 11) * 0x1p-53;
}

static void begin_particle(const bp_value_t *option, uint64_t number, bp_dvec3_t *position, bp_dvec3_t *velocity)
{
    bp_dvec3_t box = option[GAS_BOX].dvec3;
    double speed = option[GAS_SPEED].f64;
    uint64_t state = option[GAS_SEED].u64 * UINT64_C(0x9E3779B97F4A7C15) + number;
    bp_random_next(&state);
    position->x = random_part(&state) * box.x * option[GAS_FILLED].f64;
    position->y = random_part(&state) * box.y;
    position->z = random_part(&state) * box.z;
    velocity->x = speed * (2 * random_part(&state) - 1);
    velocity->y = speed * (2 * random_part(&state) - 1);
    velocity->z = box.z > 0 ? speed * (2 * random_part(&state) - 1) : 0;
}

static bp_result_t set_values(bp_system_t *s, const bp_entity_t *particles, uint32_t count)
{
    bp_result_t result = BP_OK;
    for (uint64_t i = 0; i < count && result == BP_OK; i++) {
        bp_dvec3_t position, velocity;
        const char *type = "particle";
        begin_particle(s->plugin->options, i, &position, &velocity);
        result = s->api->property->set_named(s->world, particles[i], type, "position", BP_DVEC3, &position);
        if (result == BP_OK)
            result = s->api->property->set_named(s->world, particles[i], type, "velocity", BP_DVEC3, &velocity);
        if (result == BP_OK)
            result = s->api->property->set_named(s->world, particles[i], type, "number", BP_U64, &i);
    }
    return result;
}

/* Fill a world that has no particles yet with as many as the option says. */
static bp_result_t fill(bp_system_t *s)
{
    uint32_t count = s->plugin->options[GAS_COUNT].u32, key, prototype;
    uint32_t component = s->api->world->component(s->world, "particle");
    if (component == BP_NONE)
        return s->api->error->set(s->host, BP_ERROR_NOT_FOUND,
                                  "it moves component 'particle', which the world lacks; add it to its components");
    if (count == 0 || s->api->world->count(s->world, component) > 0)
        return BP_OK;
    bp_result_t result = s->api->world->key(s->world, component, 0, &key);
    if (result == BP_OK)
        result = s->api->world->prototype(s->world, &key, 1, &prototype);
    if (result != BP_OK)
        return result;
    bp_entity_t *particles = s->api->memory->resize(s->plugin, NULL, 0, count * sizeof *particles);
    if (particles == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "gas: out of memory for its particles");
    result = s->api->world->create(s->world, prototype, particles, count);
    if (result == BP_OK && (result = set_values(s, particles, count)) != BP_OK)
        s->api->entity->destroy(s->host, particles, count);
    s->api->memory->resize(s->plugin, particles, count * sizeof *particles, 0);
    return result;
}

static bp_result_t start(bp_system_t *s)
{
    gas_t *gas = s->api->memory->resize(s->plugin, NULL, 0, sizeof *gas);
    if (gas == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "gas: out of memory at its start");
    memset(gas, 0, sizeof *gas);
    bp_result_t result = fill(s);
    if (result != BP_OK)
        s->api->memory->resize(s->plugin, gas, sizeof *gas, 0);
    else
        s->state = gas;
    return result;
}

static void free_room(bp_system_t *s, gas_t *gas)
{
    const bp_memory_api *memory = s->api->memory;
    memory->resize(s->plugin, gas->bodies, gas->room * sizeof *gas->bodies, 0);
    memory->resize(s->plugin, gas->near, gas->room * sizeof *gas->near, 0);
    memory->resize(s->plugin, gas->cell_of, gas->room * sizeof *gas->cell_of, 0);
    memory->resize(s->plugin, gas->order, gas->room * sizeof *gas->order, 0);
    gas->bodies = gas->near = NULL;
    gas->cell_of = gas->order = NULL;
    gas->room = 0;
}

static void stop(bp_system_t *s)
{
    gas_t *gas = s->state;
    if (gas->stepped)
        gas_draw(s);
    free_room(s, gas);
    s->api->memory->resize(s->plugin, gas->first, gas->cell_room * sizeof *gas->first, 0);
    s->api->memory->resize(s->plugin, gas, sizeof *gas, 0);
    s->state = NULL;
}

/* --- a step ------------------------------------------------------------------------------------------------------- */

/* Room for so many bodies; all bodies are written anew in each step. */
static bool reserve(bp_system_t *s, gas_t *gas, uint32_t count)
{
    const bp_memory_api *memory = s->api->memory;
    if (count <= gas->room)
        return true;
    free_room(s, gas);
    uint32_t room = count + count / 4 + 16;
    gas->bodies = memory->resize(s->plugin, NULL, 0, room * sizeof *gas->bodies);
    gas->near = memory->resize(s->plugin, NULL, 0, room * sizeof *gas->near);
    gas->cell_of = memory->resize(s->plugin, NULL, 0, room * sizeof *gas->cell_of);
    gas->order = memory->resize(s->plugin, NULL, 0, room * sizeof *gas->order);
    gas->room = room;
    if (gas->bodies != NULL && gas->near != NULL && gas->cell_of != NULL && gas->order != NULL)
        return true;
    free_room(s, gas);
    return false;
}

static uint32_t rows_of(const bp_match_t *matches, uint32_t count)
{
    uint32_t rows = 0;
    for (uint32_t m = 0; m < count; m++)
        rows += matches[m].count;
    return rows;
}

static void add_body(gas_t *gas, bp_entity_t entity, bp_dvec3_t position, uint64_t number)
{
    if (entity.id != 0)
        gas->bodies[gas->count++] = (gas_body_t){position, number};
}

static void add_own(gas_t *gas, const bp_match_t *match)
{
    BP_COLUMNS(struct particle, c, match->columns[0]);
    for (uint32_t row = 0; row < match->count; row++)
        add_body(gas, match->entities[row], c.position[row], c.number[row]);
}

static void add_copies(gas_t *gas, const bp_match_t *match)
{
    BP_COLUMNS(struct seen, c, match->columns[0]);
    for (uint32_t row = 0; row < match->count; row++)
        add_body(gas, match->entities[row], c.position[row], c.number[row]);
}

/* Begin a walk over copies of other ranks' particles: NULL where there are none, as in a world that is not split. */
static bp_query_o *begin_copies(bp_system_t *s, const bp_query_api *queries)
{
    bp_query_o *query;
    if (queries->beside(s, COPIES, &query) != BP_OK || query == NULL || queries->begin(query, 0) != BP_OK)
        return NULL;
    return query;
}

/* Throw a particle back that has come through a wall. */
static void reflect(double *at, double *speed, double extent)
{
    if (*at < 0) {
        *at = -*at;
        *speed = -*speed;
    } else if (*at > extent) {
        *at = extent - (*at - extent);
        *speed = -*speed;
    }
    *at = *at >= 0 && *at <= extent ? *at : extent / 2; /* so fast that it has crossed the whole box more than once */
}

static void move(bp_system_t *s, const bp_match_t *match, const bp_dvec3_t *forces, double dt)
{
    bp_dvec3_t box = s->plugin->options[GAS_BOX].dvec3;
    BP_COLUMNS(struct particle, c, match->columns[0]);
    for (uint32_t row = 0; row < match->count; row++) {
        if (match->entities[row].id == 0)
            continue;
        bp_dvec3_t *x = &c.position[row], *v = &c.velocity[row];
        v->x += forces->x * dt;
        v->y += forces->y * dt;
        v->z += forces->z * dt;
        forces++;
        x->x += v->x * dt;
        x->y += v->y * dt;
        x->z += v->z * dt;
        reflect(&x->x, &v->x, box.x);
        reflect(&x->y, &v->y, box.y);
        reflect(&x->z, &v->z, box.z);
    }
}

static uint32_t living(const bp_match_t *match)
{
    uint32_t count = 0;
    for (uint32_t row = 0; row < match->count; row++)
        count += match->entities[row].id != 0;
    return count;
}

static bool step_bodies(bp_system_t *s, gas_t *gas, const bp_match_t *matches, uint32_t count, double dt)
{
    const bp_query_api *queries = (const bp_query_api *)s->api->registry->find(s->host, BP_QUERY_API, 2);
    bp_query_o *copies = begin_copies(s, queries);
    const bp_match_t *match;
    uint32_t rows = rows_of(matches, count);
    while (copies != NULL && (match = queries->next(copies)) != NULL)
        rows += match->count;
    if (!reserve(s, gas, rows))
        return false;
    gas->count = 0;
    for (uint32_t m = 0; m < count; m++)
        add_own(gas, &matches[m]);
    gas->own = gas->count;
    for (copies = begin_copies(s, queries); copies != NULL && (match = queries->next(copies)) != NULL;)
        add_copies(gas, match);
    bp_dvec3_t *forces = s->api->memory->resize(s->plugin, NULL, 0, (gas->own + 1) * sizeof *forces);
    bool fine = forces != NULL && gas_forces(s, gas, forces);
    const bp_dvec3_t *at = forces;
    for (uint32_t m = 0; m < count && fine; m++) {
        move(s, &matches[m], at, dt);
        at += living(&matches[m]);
    }
    if (forces != NULL)
        s->api->memory->resize(s->plugin, forces, (gas->own + 1) * sizeof *forces, 0);
    return fine;
}

static void run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    gas_t *gas = s->state;
    bool fine = step_bodies(s, gas, matches, count, step->dt);
    gas->stepped = true;
    if (!fine && !gas->out_of_memory)
        s->api->error->log(s->plugin, BP_LOG_ERROR, "out of memory; particles stay where they are until there is room");
    gas->out_of_memory = !fine;
}

/* --- what came of it ---------------------------------------------------------------------------------------------- */

/* Sums over particles that do not depend on their order, but for the last digits of the energy. */
typedef struct totals_t {
    uint64_t particles, hash;
    double energy; /* kinetic */
} totals_t;

static void add_vector(uint64_t *state, bp_dvec3_t v)
{
    const double parts[3] = {v.x, v.y, v.z};
    for (uint32_t i = 0; i < 3; i++) {
        uint64_t bits;
        memcpy(&bits, &parts[i], sizeof bits);
        *state ^= bits;
        *state = bp_random_next(state);
    }
}

static void add_match(totals_t *totals, const bp_match_t *match)
{
    BP_COLUMNS(struct particle, c, match->columns[0]);
    for (uint32_t row = 0; row < match->count; row++) {
        if (match->entities[row].id == 0)
            continue;
        bp_dvec3_t v = c.velocity[row];
        uint64_t state = c.number[row];
        state = bp_random_next(&state);
        add_vector(&state, c.position[row]);
        add_vector(&state, v);
        totals->hash += state;
        totals->particles++;
        totals->energy += 0.5 * (v.x * v.x + v.y * v.y + v.z * v.z);
    }
}

static void BP_CALL add_rank(void *data, uint32_t rank, const void *bytes, size_t size)
{
    totals_t *all = data, theirs;
    (void)rank;
    if (size != sizeof theirs)
        return;
    memcpy(&theirs, bytes, sizeof theirs);
    all->particles += theirs.particles;
    all->hash += theirs.hash;
    all->energy += theirs.energy;
}

/* The totals of a split world, over all ranks. */
static totals_t over_ranks(bp_system_t *s, const totals_t *mine)
{
    const bp_peers_api *peers = (const bp_peers_api *)s->api->registry->find(s->host, BP_PEERS_API, 1);
    totals_t all = {0};
    char name[96];
    snprintf(name, sizeof name, "%s.halo", s->api->world->name(s->world));
    bool split = peers != NULL && s->api->world->find(s->host, name) != NULL;
    return split && peers->exchange(s->host, mine, sizeof *mine, add_rank, &all) == BP_OK ? all : *mine;
}

static void report(bp_system_t *s, bp_report_o *out)
{
    const bp_query_api *queries = (const bp_query_api *)s->api->registry->find(s->host, BP_QUERY_API, 1);
    const bp_term_list_t list = {&terms[OWN], 1, sizeof terms[OWN]};
    totals_t mine = {0}, all;
    bp_query_o *query;
    const bp_match_t *match;
    char text[64];
    if (queries->make(s->world, s->plugin, &list, 0, &query) == BP_OK) {
        if (queries->begin(query, 0) == BP_OK)
            while ((match = queries->next(query)) != NULL)
                add_match(&mine, match);
        queries->end(query);
    }
    all = over_ranks(s, &mine);
    snprintf(text, sizeof text, "%llu", (unsigned long long)all.particles);
    s->api->report->value(out, "particles", text);
    snprintf(text, sizeof text, "%.6g", all.energy);
    s->api->report->value(out, "kinetic energy", text);
    snprintf(text, sizeof text, "x%016llx", (unsigned long long)all.hash);
    s->api->report->value(out, "hash of positions and velocities", text);
}

static const bp_system_report_i reporting = {report};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)}};

static const bp_system_i systems[] = {{
    .name = "gas",
    .doc = "particles push each other away, and move",
    .terms = BP_LIST(terms),
    .start = start,
    .stop = stop,
    .run_all = run_all,
    .state_form = BP_STATE_FORM(gas_t, 1),
    .keeps = BP_KEEP_NOTHING,
    .extensions = BP_LIST(extensions),
}};

BP_PLUGIN(gas) = {
    .version = "1.0",
    .doc = "a gas of soft particles in a box",
    .components = BP_LIST(components),
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
};
