/* point_mass_2.c - a later version of the plugin point_mass, for reload.c: mass in doubles, other places for its
 * fields, a new one, and a loop that tells that it is another. */
#include <bp_plugin.h>

enum { CHARGE, VELOCITY, POSITION, ACCELERATION, MASS };

static const bp_field_t fields[] = {
    [POSITION] = {.name = "position", .type = BP_VEC3, .unit = "m"},
    [VELOCITY] = {.name = "velocity", .type = BP_VEC3, .unit = "m/s"},
    [ACCELERATION] = {.name = "acceleration", .type = BP_VEC3, .unit = "m/s^2"},
    [CHARGE] = {.name = "charge", .type = BP_F32, .initial = "2", .unit = "C"},
    [MASS] = {.name = "mass", .type = BP_F64, .initial = "1", .min = "0", .unit = "kg"},
};

/* Backwards. */
static void simulate(const bp_run_t *run, uint32_t count)
{
    bp_vec3_t *position = BP_COLUMN(run, bp_vec3_t, POSITION);
    const bp_vec3_t *velocity = BP_COLUMN(run, bp_vec3_t, VELOCITY);
    float dt = (float)run->step->dt;
    for (uint32_t i = 0; i < count; i++)
        position[i].x -= velocity[i].x * dt;
}

static const bp_component_i components[] = {
    {.name = "point_mass", .version = 2, .fields = BP_LIST(fields), .simulate = simulate},
};

BP_PLUGIN(point_mass) = {.version = "2.0", .components = BP_LIST(components)};
