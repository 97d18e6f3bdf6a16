/* spin.c - a component that turns: an angle, how fast it grows, and nothing else. */
#include <bp_plugin.h>

enum { ANGLE, SPEED };

static const bp_field_t fields[] = {
    {.name = "angle", .type = BP_F32, .unit = "turns", .doc = "where it stands now"},
    {.name = "speed", .type = BP_F32, .initial = "1", .min = "0", .unit = "turns/s", .doc = "how fast it turns"},
};

static void simulate(bp_manager_t *m, const bp_step_t *step, const bp_run_t *run)
{
    float *restrict angle = BP_COLUMN(run, float, ANGLE);
    const float *restrict speed = BP_COLUMN(run, float, SPEED);
    float dt = (float)step->dt;
    (void)m;
    for (uint32_t i = 0; i < run->count; i++)
        angle[i] += speed[i] * dt;
}

static const bp_component_i components[] = {
    {.name = "spin", .doc = "an angle that grows", .fields = BP_LIST(fields), .simulate = simulate},
};

BP_PLUGIN(spin) = {
    .version = "1.0",
    .components = BP_LIST(components),
};
