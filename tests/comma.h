/* comma.h - a locale in which numbers have a comma, as in much of Europe: "1,5".
 *
 * Systems that tests run on often have no such locale, so the part of one that says how numbers are written is made
 * here, in the form that glibc reads. Elsewhere the system's own are tried.
 */
#ifndef TESTS_COMMA_H
#define TESTS_COMMA_H

#include <stdbool.h>

/* From now on printf writes commas into numbers and strtod reads them, in this process. False where the system has no
 * such locale and none can be made. `folder` is where one may be made; it exists. */
bool comma_begin(const char *folder);

/* Numbers have a point again. */
void comma_end(void);

#endif
