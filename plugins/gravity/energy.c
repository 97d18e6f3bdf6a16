/* energy.c - measuring how well the simulation keeps the total energy.
 *
 * When gravity runs, the positions are those of time t, and point_mass is about to do v += a dt; x += v dt.
 * Read as leapfrog, the velocity that point_mass finds belongs to t - dt/2 and the one that it leaves to t + dt/2:
 * the velocity at the time of the positions is v + a dt/2. Kinetic energy from v itself would swing with
 * every eccentric orbit by an amount of order dt that says nothing about drift. (Velocities given for t = 0
 * are thereby taken for velocities of t - dt/2: the orbits are close to those that were meant, and drift is
 * measured for the orbits as simulated.)
 *
 * While the set of bodies is the same, every measurement is compared to the first; when bodies come, go or
 * change their mass, the energy changes for that reason, and the comparison begins anew.
 */
#include "gravity.h"

#include <helpers/bp_real.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* One number for the bodies that take part and their masses, the same whatever the order of the rows, which gc may
 * change. */
static uint64_t sign_bodies(const bp_match_t *matches, uint32_t count)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < count; k++) {
        BP_COLUMNS(struct gravity_columns, c, matches[k].columns[0]);
        for (uint32_t row = 0; row < matches[k].count; row++) {
            if (!gravity_takes_part(&matches[k], &c, row))
                continue;
            union { float number; uint32_t bits; } m = {c.mass[row]};
            uint64_t state = matches[k].entities[row].id;
            state = bp_random_next(&state) + m.bits;
            sum += bp_random_next(&state);
        }
    }
    return sum;
}

/* Bodies are met in the order in which they were gathered. */
static double kinetic_energy(const gravity_bodies_t *b, double half_dt, const bp_match_t *matches,
                             uint32_t count)
{
    double sum = 0;
    size_t n = 0;
    for (uint32_t k = 0; k < count; k++) {
        BP_COLUMNS(struct gravity_columns, c, matches[k].columns[0]);
        for (uint32_t row = 0; row < matches[k].count; row++) {
            if (!gravity_takes_part(&matches[k], &c, row))
                continue;
            double vx = (double)c.velocity[row].x + b->ax[n] * half_dt;
            double vy = (double)c.velocity[row].y + b->ay[n] * half_dt;
            double vz = (double)c.velocity[row].z + b->az[n] * half_dt;
            sum += 0.5 * (double)c.mass[row] * (vx * vx + vy * vy + vz * vz);
            n++;
        }
    }
    return sum;
}

static double total_of(const gravity_energy_t *e)
{
    return e->kinetic + e->potential;
}

/* The difference of `e` to the first measurement, relative to the total of the first measurement; where that total is 0
 * (bodies just at escape speed), relative to its parts. 0 where there is no energy at all. */
static double relative_drift(const gravity_t *g, const gravity_energy_t *e)
{
    double scale = fabs(total_of(&g->first));
    if (scale == 0.0)
        scale = fabs(g->first.kinetic) + fabs(g->first.potential);
    double difference = fabs(total_of(e) - total_of(&g->first));
    return difference == 0.0 ? 0.0 : difference / scale;
}

static void compare(gravity_t *g, const gravity_energy_t *e, uint64_t signature)
{
    if (!g->measured || g->set_of_bodies != signature) {
        g->begun_anew += g->measured;
        g->first = *e;
        g->set_of_bodies = signature;
        if (!g->measured)
            g->worst = *e;
        g->measured = true;
    }
    g->last = *e;
    double drift = relative_drift(g, e);
    bool comparable = g->drift == g->drift; /* not NaN */
    if (comparable && !(drift <= g->drift)) {
        g->drift = drift;
        g->worst = *e;
    }
}

void gravity_energy_step(bp_system_t *s, gravity_t *g, const bp_step_t *step, gravity_force_t force,
                         const bp_match_t *matches, uint32_t count)
{
    const bp_value_t *option = s->plugin->options;
    uint32_t every = option[GRAVITY_ENERGY_EVERY].u32;
    if (every == 0 || g->steps++ % every != 0)
        return;
    gravity_energy_t e = {.step = step->number, .time = step->time};
    e.kinetic = kinetic_energy(&g->bodies, step->dt / 2, matches, count);
    e.potential = gravity_potential(&g->bodies, force.constant, force.softening);
    compare(g, &e, sign_bodies(matches, count));
}

static void report_row(bp_system_t *s, bp_report_o *report, const char *name, const gravity_energy_t *e)
{
    char step[32], time[32], kinetic[32], potential[32], total[32];
    snprintf(step, sizeof step, "%" PRIu64, e->step);
    snprintf(time, sizeof time, "%.6g", e->time);
    snprintf(kinetic, sizeof kinetic, "%.9e", e->kinetic);
    snprintf(potential, sizeof potential, "%.9e", e->potential);
    snprintf(total, sizeof total, "%.9e", total_of(e));
    s->api->report->row(report, (const char *const[]){name, step, bp_real_dot(time), bp_real_dot(kinetic),
                                                      bp_real_dot(potential), bp_real_dot(total)});
}

void gravity_energy_report(bp_system_t *s, bp_report_o *report)
{
    const gravity_t *g = s->state;
    if (!g->measured)
        return;
    static const char *const headers[] = {"energy", "step", "time", "kinetic", "potential", "total"};
    s->api->report->table(report, "total energy", headers, 6);
    report_row(s, report, "first", &g->first);
    report_row(s, report, "farthest from first", &g->worst);
    report_row(s, report, "last", &g->last);

    char text[32];
    snprintf(text, sizeof text, "%.3g", g->drift);
    s->api->report->value(report, "energy drift", bp_real_dot(text));
    if (g->begun_anew > 0) {
        snprintf(text, sizeof text, "%" PRIu32, g->begun_anew);
        s->api->report->value(report, "energy measured anew", text);
    }
}
