/* compute.c - a component's formulas over its columns: each operation over 128 rows before the next one.
 *
 * So the cost of decoding an operation is paid once for many rows, and the inner loops are plain ones. Everything is
 * computed in double; fields of f32 are rounded where they are stored. A row's values depend on that row alone, so rows
 * may be computed on any thread.
 */
#include "formula.h"

#include <math.h>

typedef struct computing_t {
    const bp_run_t *run;
    const formula_component_t *component;
    uint32_t first, count;                    /* rows */
    double values[FORMULA_DEPTH][FORMULA_ROWS];
} computing_t;

static void load_field(const computing_t *c, uint32_t index, double *values)
{
    if (c->component->fields[index].type == BP_F32) {
        const float *cells = BP_COLUMN(c->run, float, index) + c->first;
        for (uint32_t i = 0; i < c->count; i++)
            values[i] = (double)cells[i];
    } else {
        const double *cells = BP_COLUMN(c->run, double, index) + c->first;
        for (uint32_t i = 0; i < c->count; i++)
            values[i] = cells[i];
    }
}

static void store_field(const computing_t *c, uint32_t index, const double *values)
{
    if (c->component->fields[index].type == BP_F32) {
        float *cells = BP_COLUMN(c->run, float, index) + c->first;
        for (uint32_t i = 0; i < c->count; i++)
            cells[i] = (float)values[i];
    } else {
        double *cells = BP_COLUMN(c->run, double, index) + c->first;
        for (uint32_t i = 0; i < c->count; i++)
            cells[i] = values[i];
    }
}

static void fill(double *values, uint32_t count, double value)
{
    for (uint32_t i = 0; i < count; i++)
        values[i] = value;
}

#define EACH(expression)                      \
    for (uint32_t i = 0; i < count; i++)      \
        a[i] = (expression);                  \
    break

/* An operation on one value, or on two; the result takes the place of the first. */
static void operate(formula_op_t op, double *a, const double *b, uint32_t count)
{
    switch (op) {
    case FORMULA_NEGATE: EACH(-a[i]);
    case FORMULA_ADD: EACH(a[i] + b[i]);
    case FORMULA_SUBTRACT: EACH(a[i] - b[i]);
    case FORMULA_MULTIPLY: EACH(a[i] * b[i]);
    case FORMULA_DIVIDE: EACH(a[i] / b[i]);
    case FORMULA_MIN: EACH(a[i] < b[i] ? a[i] : b[i]);
    case FORMULA_MAX: EACH(a[i] > b[i] ? a[i] : b[i]);
    case FORMULA_SIN: EACH(sin(a[i]));
    case FORMULA_COS: EACH(cos(a[i]));
    case FORMULA_SQRT: EACH(sqrt(a[i]));
    case FORMULA_EXP: EACH(exp(a[i]));
    case FORMULA_LOG: EACH(log(a[i]));
    case FORMULA_ABS: EACH(fabs(a[i]));
    case FORMULA_NUMBER:
    case FORMULA_FIELD:
    case FORMULA_DT:
    case FORMULA_TIME:
    case FORMULA_STORE: break;
    }
}

/* How many values there are is known when the file is read, and never above FORMULA_DEPTH. */
static void compute(computing_t *c)
{
    const formula_component_t *component = c->component;
    const bp_step_t *step = c->run->step;
    uint32_t depth = 0;
    for (uint32_t s = 0; s < component->step_count; s++) {
        const formula_step_t *now = &component->steps[s];
        switch (now->op) {
        case FORMULA_NUMBER: fill(c->values[depth++], c->count, now->number); break;
        case FORMULA_DT: fill(c->values[depth++], c->count, step->dt); break;
        case FORMULA_TIME: fill(c->values[depth++], c->count, step->time); break;
        case FORMULA_FIELD: load_field(c, now->index, c->values[depth++]); break;
        case FORMULA_STORE: store_field(c, now->index, c->values[--depth]); break;
        case FORMULA_ADD:
        case FORMULA_SUBTRACT:
        case FORMULA_MULTIPLY:
        case FORMULA_DIVIDE:
        case FORMULA_MIN:
        case FORMULA_MAX:
            depth--;
            operate(now->op, c->values[depth - 1], c->values[depth], c->count);
            break;
        case FORMULA_NEGATE:
        case FORMULA_SIN:
        case FORMULA_COS:
        case FORMULA_SQRT:
        case FORMULA_EXP:
        case FORMULA_LOG:
        case FORMULA_ABS: operate(now->op, c->values[depth - 1], NULL, c->count); break;
        }
    }
}

void formula_simulate(const bp_run_t *run, uint32_t count)
{
    computing_t c = {.run = run, .component = run->manager->user};
    for (c.first = 0; c.first < count; c.first += c.count) {
        c.count = count - c.first < FORMULA_ROWS ? count - c.first : FORMULA_ROWS;
        compute(&c);
    }
}
