/* near.h - the known word nearest to a misspelt one.
 *
 * Not here: texts of more than 63 bytes, which are near to no word.
 */
#ifndef INSPECTOR_NEAR_H
#define INSPECTOR_NEAR_H

#include <stdint.h>
#include <string.h>

enum { NEAR_LENGTH_MAX = 63 };

/* Begin with {.wanted = word}; `best` is NULL until a candidate came near enough. */
typedef struct near_t {
    const char *wanted;
    const char *best;  /* the address of a candidate, which must live as long */
    uint32_t distance;
} near_t;

/* How many letters have to be added, dropped or exchanged to make `b` of `a`. */
static inline uint32_t near_distance(const char *a, const char *b)
{
    uint32_t row[NEAR_LENGTH_MAX + 1];
    size_t length = strlen(b);
    if (strlen(a) > NEAR_LENGTH_MAX || length > NEAR_LENGTH_MAX)
        return UINT32_MAX;
    for (uint32_t j = 0; j <= length; j++)
        row[j] = j;
    for (uint32_t i = 1; a[i - 1] != '\0'; i++) {
        uint32_t corner = row[0];
        row[0] = i;
        for (uint32_t j = 1; j <= length; j++) {
            uint32_t exchange = corner + (a[i - 1] != b[j - 1]),
                     shorter = (row[j - 1] < row[j] ? row[j - 1] : row[j]) + 1;
            corner = row[j];
            row[j] = exchange < shorter ? exchange : shorter;
        }
    }
    return row[length];
}

static inline void near_consider(near_t *near, const char *candidate)
{
    uint32_t distance = near_distance(near->wanted, candidate), most = 1 + (uint32_t)strlen(near->wanted) / 3;
    if (distance > most || (near->best != NULL && distance >= near->distance))
        return;
    near->best = candidate;
    near->distance = distance;
}

#endif
