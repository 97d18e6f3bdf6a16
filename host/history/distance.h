/* distance.h - by how much two values of a field differ, as differences of snapshots tell it: the largest difference of
 * their parts, as numbers.
 *
 * Parts that are the same in every bit do not differ, NaN included; where others are infinite or no numbers, the
 * difference is infinite. Values that are no numbers, texts and names and entities, differ by 0.
 *
 * Not here: which cells belong to each other (compare.h).
 */
#ifndef HOST_HISTORY_DISTANCE_H
#define HOST_HISTORY_DISTANCE_H

#include <bp_types.h>

#include <stdbool.h>
#include <stddef.h>

/* Of two cells of `size` bytes with values of a type (BP_F32...). */
double distance_of_cells(uint32_t type, const char *a, const char *b, size_t size);

/* Are the values of the type made of floats (BP_F32) alone? */
bool distance_is_of_floats(uint32_t type);

/* Make *largest the largest difference of `rows` cells of floats of `width` bytes each, unless it is larger already.
 * False, and *largest is as it was, where a part is infinite or no number: then cells have to be looked at one by
 * one. */
bool distance_of_many_floats(const char *a, const char *b, uint32_t rows, size_t width, double *largest);

/* How many of `rows` cells of floats of `width` bytes differ in any bit. */
uint32_t distance_count(const char *a, const char *b, uint32_t rows, size_t width);

#endif
