/* spin.cpp - the plugin of README.md in C++20, with its loop over spans: the same fields, so that each version of it
 * can take over from the others in a running world (docs/languages.md).
 */
#include <bp_plugin.h>

#include <span>
#include <stdexcept>

struct spin { float *angle; const float *speed; };

static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct spin, angle), .unit = "turns", .doc = "where it stands now"},
    {BP_FIELD_OF(struct spin, speed), .initial = "1", .min = "0", .unit = "turns/s", .doc = "how fast it turns"},
};

static void turn(std::span<float> angles, std::span<const float> speeds, float dt)
{
    if (!(dt > 0))
        throw std::domain_error("a step has no length");
    for (std::size_t i = 0; i < angles.size(); i++)
        angles[i] += speeds[i] * dt;
}

/* The host is C: no exception may leave a verb. What is caught here ends this call's work, and the log says so. */
static void BP_CALL simulate(const bp_run_t *run, uint32_t count) noexcept
{
    BP_COLUMNS(struct spin, c, run->columns);
    try {
        turn({c.angle, count}, {c.speed, count}, static_cast<float>(run->step->dt));
    } catch (const std::exception &e) {
        run->manager->api->error->log(run->manager->plugin, BP_LOG_ERROR, e.what());
    }
}

static const bp_component_i components[] = {
    {.doc = "an angle that grows", .fields = BP_LIST(fields), .simulate = simulate},
};

BP_PLUGIN(spin) = {.version = "2.0, C++", .components = BP_LIST(components)};
