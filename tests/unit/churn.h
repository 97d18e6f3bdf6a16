/* churn.h - random operations on a host and on the naive model of it, side by side.
 *
 * An operation is one call of a verb: creating in bulk, adding, removing, destroying, stepping, setting and
 * reading, with batches of one, scattered batches, rows as they lie, and batches that must be refused. The
 * same seed gives the same operations. More entities than the operations tend to come and go in waves.
 *
 * What it does not do: it does not compare; the caller does (model.h, inspect.h).
 */
#ifndef TESTS_UNIT_CHURN_H
#define TESTS_UNIT_CHURN_H

#include "model.h"

enum { CHURN_BATCH = 1200, CHURN_REFS = 48, CHURN_WAVE = 7 * CHURN_BATCH };

/* A reference that is kept through all changes. */
typedef struct churn_ref_t {
    bp_ref_t ref;
    uint32_t world, key, field;
} churn_ref_t;

typedef struct churn_t {
    model_t model;
    uint64_t random;
    uint32_t aim;        /* living entities that the operations tend to */
    uint64_t refused;    /* batches that had to be refused, and were */
    uint64_t operations;
    churn_ref_t refs[CHURN_REFS];
    bp_property_t properties[MODEL_WORLDS][MODEL_KEYS]; /* of field 0; kept, so that their caches grow old */
    bp_entity_t batch[CHURN_BATCH];
    bp_entity_t wave[CHURN_WAVE];
} churn_t;

void churn_open(churn_t *churn, rig_t *rig, uint64_t seed, uint32_t aim);
void churn_close(churn_t *churn);

/* One random operation. */
void churn_once(churn_t *churn);

/* CHURN_WAVE entities of one prototype come at once; three in four die at once. There is room for one wave at a time.
 */
void churn_wave(churn_t *churn, uint32_t world);
void churn_ebb(churn_t *churn);

#endif
