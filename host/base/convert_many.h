/* convert_many.h - the rules of convert.h for many cells at a time.
 *
 * Loops without a branch for each value, which compilers turn into vector instructions: numbers are converted and a
 * flag is gathered that says whether one of them did not fit. Where all values fit the caller looks at no single cell;
 * else the caller converts these cells one by one.
 *
 * Not here: which value it is that does not fit; values with names; cells that hold something outside themselves.
 */
#ifndef HOST_BASE_CONVERT_MANY_H
#define HOST_BASE_CONVERT_MANY_H

#include "field.h"

enum { CONVERT_BLOCK = 512 /* cells, or numbers, at a time: what lies between two loops stays in the nearest cache */ };

/* Convert `count` cells of `old` at `from`, CONVERT_BLOCK at most, to cells of `field` at `to`, all aligned as their
 * types. True: all fit, lie within the limits of `field`, and are written. False: some do not fit or are unusual (whole
 * numbers from 2^62 on), or there is no quick way for these declarations; the bytes at `to` are undefined then.
 * [any] */
bool convert_many(const field_t *old, const void *from, const field_t *field, void *to, uint32_t count);

#endif
