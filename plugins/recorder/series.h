/* series.h - a number over time, kept small while it grows.
 *
 * Samples fall into a fixed number of buckets of which each keeps its smallest and its largest value and the times when
 * the samples were; where the buckets are full, pairs are merged. So a spike of one sample is still to be seen in a
 * picture of a million.
 *
 * Not here: drawing, interpolation.
 */
#ifndef RECORDER_SERIES_H
#define RECORDER_SERIES_H

#include "recorder.h"

#define RECORDER_BUCKETS 1024 /* even */

typedef struct recorder_bucket {
    double low, low_time, high, high_time;
    uint32_t samples;
    uint32_t begins; /* there is a gap before the bucket */
} recorder_bucket;

struct recorder_series {
    recorder_bucket buckets[RECORDER_BUCKETS];
    uint32_t count;  /* buckets in use */
    uint32_t width;  /* samples that fill a bucket */
    uint32_t gap;    /* a gap comes before the next sample */
    uint32_t padding;
    double last;
};

recorder_series *recorder_series_make(const recorder_state *r);
void recorder_series_free(const recorder_state *r, recorder_series *series);

/* A sample; a value that is not finite is a gap. */
void recorder_series_add(recorder_series *series, double time, double value);

/* There is a gap here. */
void recorder_series_lift(recorder_series *series);

#endif
