/* calls.h - the system below the host, as tests want it: each of its calls can be counted, and made to fail.
 *
 * The linker leads every call of the host and of linked plugins to one of the functions below (DOUBLED in the Makefile,
 * --wrap) through calls.c. Unless calls_begin was called these pass it on. A stream of fopen reads and writes by calls
 * that are counted too.
 *
 * A call that fails has done nothing and sets errno to what a system in need would say: no descriptors, no room, no
 * memory, a broken disk. Calls of copies of the process (fork) are passed on, unless calls_follow says otherwise.
 *
 * A read that finds nothing yet is not counted: how many there are depends on time.
 *
 * What it does not do: calls that libraries make among themselves, and those of plugins from files, are not seen.
 */
#ifndef TESTS_SYSTEM_CALLS_H
#define TESTS_SYSTEM_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* Begin to count. The call of number `nth`, counted from 1, fails; with `all` those after it too; 0: none. */
void calls_begin(uint32_t nth, bool all);

/* The same, but counted, and failing, are calls of that name alone. */
void calls_begin_named(const char *name, uint32_t nth);

/* The same for the names in a list with blanks between them; what fails sets errno to `code`. Some calls fail only
 * where they are named, and are counted there alone. */
void calls_begin_coded(const char *names, uint32_t nth, bool all, int code);

/* Until calls_end, opening the file `path` opens the file `other`. For at most 8 files, after calls_begin; the texts
 * stay the caller's. */
void calls_open_instead(const char *path, const char *other);

/* The same, but counted, and failing, are the calls of copies of this process. */
void calls_follow(uint32_t nth, bool all);

/* End it; returns how many calls were counted, those of copies not among them. */
uint32_t calls_end(void);

/* How many calls have failed since calls_begin, and the name of the first of them ("" where there was none). */
uint32_t calls_failed(void);
const char *calls_first_failed(void);

/* Do this before each call from now on, until calls_end; `change` says whether the call changes files. NULL:
   nothing. */
void calls_before_each(void (*act)(void *data, const char *call, bool change), void *data);

/* The clock that never goes back is so many nanoseconds ahead of where it was, from now on. */
void calls_clock_leaps(uint64_t ns);

/* Number of open descriptors of this process. */
uint32_t calls_descriptors(void);

#endif
