/* spin.c - a component that turns: an angle, how fast it grows, and nothing else. */
#include <bp_plugin.h>

struct spin { float *angle; const float *speed; };

static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct spin, angle), .unit = "turns", .doc = "where it stands now"},
    {BP_FIELD_OF(struct spin, speed), .initial = "1", .min = "0", .unit = "turns/s", .doc = "how fast it turns"},
};

static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct spin, c, run->columns);
    float dt = (float)run->step->dt;
    for (uint32_t i = 0; i < count; i++)
        c.angle[i] += c.speed[i] * dt;
}

static const bp_component_i components[] = {
    {.doc = "an angle that grows", .fields = BP_LIST(fields), .simulate = simulate},
};

BP_PLUGIN(spin) = {.version = "1.0", .components = BP_LIST(components)};
