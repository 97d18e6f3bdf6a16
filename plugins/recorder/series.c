/* series.c - a number over time, kept small while it grows: see series.h.
 *
 * Memory is fixed: RECORDER_BUCKETS buckets, whatever the length of the run. A gap ends its bucket early, so
 * that a line is never drawn across it while buckets are not merged.
 */
#include "series.h"

#include <float.h>
#include <math.h>

recorder_series *recorder_series_make(const recorder_state *r)
{
    recorder_series *series = recorder_resize(r, NULL, 0, sizeof *series);
    if (series != NULL)
        *series = (recorder_series){.width = 1};
    return series;
}

void recorder_series_free(const recorder_state *r, recorder_series *series)
{
    recorder_resize(r, series, sizeof *series, 0);
}

static void merge(recorder_bucket *to, const recorder_bucket *a, const recorder_bucket *b)
{
    recorder_bucket merged = *a;
    if (b->low < a->low) {
        merged.low = b->low;
        merged.low_time = b->low_time;
    }
    if (b->high > a->high) {
        merged.high = b->high;
        merged.high_time = b->high_time;
    }
    merged.samples = a->samples + b->samples;
    *to = merged;
}

static void halve(recorder_series *s)
{
    for (uint32_t i = 0; i < s->count / 2; i++)
        merge(&s->buckets[i], &s->buckets[2 * i], &s->buckets[2 * i + 1]);
    s->count /= 2;
    s->width *= 2;
}

void recorder_series_add(recorder_series *s, double time, double value)
{
    if (!(fabs(value) <= DBL_MAX)) {
        s->gap = 1;
        return;
    }
    recorder_bucket sample = {value, time, value, time, 1, s->gap};
    s->last = value;
    if (!s->gap && s->count > 0 && s->buckets[s->count - 1].samples < s->width) {
        merge(&s->buckets[s->count - 1], &s->buckets[s->count - 1], &sample);
        return;
    }
    s->gap = 0;
    if (s->count == RECORDER_BUCKETS)
        halve(s);
    s->buckets[s->count++] = sample;
}

void recorder_series_lift(recorder_series *s)
{
    s->gap = 1;
}
