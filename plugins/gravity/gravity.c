/* gravity.c - the system that lets point masses attract each other: work on another plugin's component.
 *
 * Each step the system gathers the bodies of all runs into arrays of doubles, computes every acceleration from every
 * other body (Newton's law, optionally softened), and writes the accelerations back, before point_mass moves
 * the bodies. O(n^2), in one order whatever the machine, so results repeat bit for bit.
 *
 * The constant is an option of the plugin, for all worlds; a world that uses the component `gravity_law` has its own.
 *
 * Taking part: every row of a living entity with finite mass and position; the others (holes, and bodies that have
 * flown to infinity, which would turn all sums to NaN) neither attract nor are attracted, and keep their acceleration.
 * Two bodies in the same place do not attract each other.
 *
 * Out of memory: the accelerations stay as they are, the log says so once, and every later step tries again;
 * forces that are one step old keep the orbits, where forces of 0 would not.
 */
#include "gravity.h"

#include <stdio.h>
#include <string.h>

static const bp_field_t options[] = {
    [GRAVITY_CONSTANT] = {.name = "constant", .type = BP_F64, .initial = "6.67430e-11",
                          .unit = "m^3/(kg s^2)",
                          .doc = "gravitational constant, in the units that the world uses"},
    [GRAVITY_SOFTENING] = {.name = "softening", .type = BP_F64, .initial = "0", .min = "0", .unit = "m",
                           .doc = "length added to every distance (squares add), against close encounters"},
    [GRAVITY_ENERGY_EVERY] = {.name = "energy_every", .type = BP_U32, .initial = "1000",
                              .doc = "steps between two measurements of the total energy; 0: never"},
};

static const bp_term_field_t asked[] = {
    {BP_FIELD_OF(struct gravity_columns, mass)},
    {BP_FIELD_OF(struct gravity_columns, position)},
    {BP_FIELD_OF(struct gravity_columns, velocity)},
    {BP_FIELD_OF(struct gravity_columns, acceleration)},
};

static const bp_field_t law_fields[] = {
    {BP_FIELD_OF(struct gravity_law, constant), .initial = "6.67430e-11", .unit = "m^3/(kg s^2)",
     .doc = "gravitational constant of this world, in the units that it uses"},
    {BP_FIELD_OF(struct gravity_law, softening), .initial = "0", .min = "0", .unit = "m",
     .doc = "length added to every distance (squares add), against close encounters"},
};

static const bp_component_i components[] = {
    {.name = GRAVITY_LAW, .doc = "the law of gravitation in a world, where it is not that of the plugin's options",
     .flags = BP_COMPONENT_WORLD, .fields = BP_LIST(law_fields)},
};

static const bp_term_field_t law[] = {
    {BP_FIELD_OF(struct gravity_law, constant)},
    {BP_FIELD_OF(struct gravity_law, softening)},
};

static const bp_term_t terms[] = {
    {.component = BP_POINT_MASS, .fields = BP_LIST(asked)},
    {.component = GRAVITY_LAW, .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL, .fields = BP_LIST(law)},
};

static bp_result_t start(bp_system_t *s)
{
    gravity_t *g = s->api->memory->resize(s->plugin, NULL, 0, sizeof *g);
    if (g == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "gravity: out of memory at its start");
    memset(g, 0, sizeof *g);
    s->state = g;
    return BP_OK;
}

static size_t buffer_bytes(size_t capacity)
{
    return capacity * GRAVITY_ARRAYS * sizeof(double);
}

static void stop(bp_system_t *s)
{
    gravity_t *g = s->state;
    s->api->memory->resize(s->plugin, g->bodies.buffer, buffer_bytes(g->bodies.capacity), 0);
    s->api->memory->resize(s->plugin, g, sizeof *g, 0);
    s->state = NULL;
}

/* Point the arrays into the buffer. */
static void place(gravity_bodies_t *b)
{
    double **arrays[GRAVITY_ARRAYS] = {&b->x, &b->y, &b->z, &b->mass, &b->ax, &b->ay, &b->az};
    for (size_t i = 0; i < GRAVITY_ARRAYS; i++)
        *arrays[i] = b->buffer + i * b->capacity;
}

/* Room for `count` bodies. All values in the arrays are rewritten at every step, so nothing is copied. The capacity is
 * kept an odd multiple of eight: at a distance of a power of two the arrays would share the same few cache sets. */
static bool reserve(bp_system_t *s, gravity_bodies_t *b, size_t count)
{
    if (count <= b->capacity)
        return true;
    size_t capacity = ((count + count / 2) / 8 + 1) * 8;
    if (capacity / 8 % 2 == 0)
        capacity += 8;
    double *buffer = s->api->memory->resize(s->plugin, NULL, 0, buffer_bytes(capacity));
    if (buffer == NULL)
        return false;
    s->api->memory->resize(s->plugin, b->buffer, buffer_bytes(b->capacity), 0);
    b->buffer = buffer;
    b->capacity = capacity;
    place(b);
    return true;
}

/* Copy the bodies that take part to the arrays, in the order of the rows. */
static void gather(gravity_bodies_t *b, const bp_match_t *matches, uint32_t count)
{
    size_t n = 0;
    for (uint32_t k = 0; k < count; k++) {
        BP_COLUMNS(struct gravity_columns, c, matches[k].columns[0]);
        for (uint32_t row = 0; row < matches[k].count; row++) {
            if (!gravity_takes_part(&matches[k], &c, row))
                continue;
            b->x[n] = (double)c.position[row].x;
            b->y[n] = (double)c.position[row].y;
            b->z[n] = (double)c.position[row].z;
            b->mass[n] = (double)c.mass[row];
            n++;
        }
    }
    b->count = n;
}

/* Write the accelerations back: positions and masses are unchanged, so the same rows take part again. */
static void scatter(const gravity_bodies_t *b, const bp_match_t *matches, uint32_t count)
{
    size_t n = 0;
    for (uint32_t k = 0; k < count; k++) {
        BP_COLUMNS(struct gravity_columns, c, matches[k].columns[0]);
        for (uint32_t row = 0; row < matches[k].count; row++) {
            if (!gravity_takes_part(&matches[k], &c, row))
                continue;
            c.acceleration[row] = (bp_vec3_t){(float)b->ax[n], (float)b->ay[n], (float)b->az[n]};
            n++;
        }
    }
}

static void remark_memory(bp_system_t *s, gravity_t *g, size_t rows)
{
    char text[160];
    if (g->out_of_memory)
        return;
    g->out_of_memory = true;
    snprintf(text, sizeof text, "out of memory for %zu bodies; accelerations stay until there is room", rows);
    s->api->error->log(s->plugin, BP_LOG_ERROR, text);
}

/* All matches have the same: what belongs to the world. */
static gravity_force_t force_of(const bp_system_t *s, const bp_match_t *matches, uint32_t count)
{
    const bp_value_t *option = s->plugin->options;
    gravity_force_t force = {option[GRAVITY_CONSTANT].f64, option[GRAVITY_SOFTENING].f64};
    if (count > 0 && matches[0].columns[1][0] != NULL) {
        BP_COLUMNS(struct gravity_law, l, matches[0].columns[1]);
        force = (gravity_force_t){*l.constant, *l.softening};
    }
    return force;
}

static void run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    gravity_t *g = s->state;
    size_t rows = 0;
    for (uint32_t k = 0; k < count; k++)
        rows += matches[k].count;
    if (!reserve(s, &g->bodies, rows)) {
        remark_memory(s, g, rows);
        return;
    }
    g->out_of_memory = false;
    gravity_force_t force = force_of(s, matches, count);
    gather(&g->bodies, matches, count);
    gravity_attract(&g->bodies, force.constant, force.softening);
    scatter(&g->bodies, matches, count);
    gravity_energy_step(s, g, step, force, matches, count);
}

/* Save the state without the arrays, which every step fills anew. */
static bp_result_t save(bp_system_t *s, void **data, size_t *size)
{
    gravity_t *kept = s->api->memory->resize(s->plugin, NULL, 0, sizeof *kept);
    if (kept == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "gravity: out of memory for saving its measurements");
    memcpy(kept, s->state, sizeof *kept);
    memset(&kept->bodies, 0, sizeof kept->bodies);
    *data = kept;
    *size = sizeof *kept;
    return BP_OK;
}

static bp_result_t load(bp_system_t *s, const void *data, size_t size)
{
    if (size != sizeof(gravity_t))
        return s->api->error->set(s->host, BP_ERROR_FAILED, "gravity: what was saved is of another version");
    gravity_t *g = s->state;
    gravity_bodies_t bodies = g->bodies;
    memcpy(g, data, size);
    g->bodies = bodies; /* whatever the bytes say of arrays, which lie at no address of this process */
    return BP_OK;
}

static const bp_system_report_i report = {gravity_energy_report};
static const bp_system_save_i saving = {.save = save, .load = load};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", report)}, {BP_EXTENSION("bp_save", saving)}};

static const bp_system_i systems[] = {{
    .name = "gravity",
    .doc = "accelerates all point masses towards each other",
    .flags = BP_SYSTEM_CONCURRENT,
    .terms = BP_LIST(terms),
    .before = BP_POINT_MASS,
    .start = start,
    .stop = stop,
    .run_all = run_all,
    .state_form = BP_STATE_FORM(gravity_t, 1), /* the first measurement is what all others are compared to */
    .keeps = BP_KEEP_SAVED,
    .extensions = BP_LIST(extensions),
}};

BP_PLUGIN(gravity) = {
    .version = "1.0",
    .doc = "Newtonian gravitation between point masses",
    .components = BP_LIST(components),
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
};
