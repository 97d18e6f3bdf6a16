/* units.h - a world's words for the units that fields declare.
 *
 * A field says "m/s^2" whatever the world; a world may say that its metre is the "au" and its second the "day", and
 * then prints "au/day^2". Values are not changed, only the text of the unit.
 *
 *     kg=solar mass, m=au, s=day
 *
 * Not here: dimensions, so "N" stays "N".
 */
#ifndef HOST_BASE_UNITS_H
#define HOST_BASE_UNITS_H

#include "error.h"

/* BP_ERROR_SYNTAX where the text is not of that form, says one unit twice, or is longer than UNITS_MAX_LENGTH. */
enum { UNITS_MAX_LENGTH = 255 };
bp_result_t units_check(const char *units, error_text_t *error);

/* Write what `declared` is called where `units`, which has been checked, says so; at most `size` bytes with the closing
 * zero. Returns how long the whole is. [any] */
size_t units_say(const char *units, const char *declared, char *text, size_t size);

#endif
