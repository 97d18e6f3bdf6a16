/* point_mass.c - masses that move: the component of which a plugin writes only the loop.
 *
 * The world stores the four fields; this file declares them and advances them. Velocity first and position
 * with the new velocity (semi-implicit Euler): this form is as cheap as the explicit one, and neither gains nor loses
 * energy in the long run, where the explicit form spirals outwards.
 *
 * A column of bp_vec3_t is an array of floats, and x, y and z are treated alike, so the loop runs over
 * 3 * count floats and the compiler turns it into full vectors without shuffling. Holes left by the dead are computed
 * too, which costs less than testing for them.
 *
 * Where compiler and C library can, the loop exists for several instruction sets and the dynamic linker chooses once
 * (BP_WIDEST); all of them give the same bits.
 */
#include <bp_plugin.h>
#include <components/point_mass.h>
#include <helpers/bp_widest.h>

struct columns {
    const float *mass;
    bp_vec3_t *position, *velocity;
    const bp_vec3_t *acceleration;
};

static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct columns, mass), .initial = "1", .min = "0", .unit = "kg",
     .doc = "inertial and gravitational mass"},
    {BP_FIELD_OF(struct columns, position), .unit = "m", .doc = "where it is"},
    {BP_FIELD_OF(struct columns, velocity), .unit = "m/s", .doc = "change of position in a unit of time"},
    {BP_FIELD_OF(struct columns, acceleration), .unit = "m/s^2",
     .doc = "change of velocity in a unit of time; stays until it is written"},
};

BP_WIDEST
static void advance(float *restrict position, float *restrict velocity, const float *restrict acceleration,
                    float dt, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        velocity[i] += acceleration[i] * dt;
        position[i] += velocity[i] * dt;
    }
}

static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct columns, c, run->columns);
    advance((float *)c.position, (float *)c.velocity, (const float *)c.acceleration, (float)run->step->dt,
            (size_t)3 * count);
}

static const bp_component_i components[] = {{
    .name = BP_POINT_MASS,
    .doc = "a mass with position, velocity and acceleration",
    .version = 1,
    .flags = BP_COMPONENT_PARALLEL | BP_COMPONENT_CONCURRENT,
    .fields = BP_LIST(fields),
    .simulate = simulate,
}};

BP_PLUGIN(point_mass) = {
    .version = "1.0",
    .doc = "point masses and their motion",
    .components = BP_LIST(components),
};
