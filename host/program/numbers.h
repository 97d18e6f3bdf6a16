/* numbers.h - texts that are numbers: counts that users type, and cells of tables.
 *
 * What it does not do: it reads no values of properties; the library does that.
 */
#ifndef HOST_PROGRAM_NUMBERS_H
#define HOST_PROGRAM_NUMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* A number of things: digits only, up to the largest uint64_t. false where `text` is no such thing. */
bool numbers_read_count(const char *text, uint64_t *count);

/* Is all of `text` one decimal number, such as -1, 0.5 or 2.1e-7? "007", "1 %" and "nan" are not. */
bool numbers_is_number(const char *text);

/* Is it one without a fraction and exponent? `text` is a number. */
bool numbers_is_whole(const char *text);

#endif
