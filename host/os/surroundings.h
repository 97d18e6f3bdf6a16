/* surroundings.h - settings of the whole process and of the calling thread that a plugin can change by accident.
 *
 * Of the thread: how numbers are rounded and denormal ones treated, which signals are blocked, the stack for handlers,
 * the locale of its own.
 * Of the process: the handlers of signals, the timers that send signals, the working directory, the mask of new files,
 * the locale, the environment, the three standard files; and how many files, threads, children and timers there are.
 *
 * Not here: which plugin has changed a setting; the callers find that by taking the surroundings before and after a
 * call.
 */
#ifndef HOST_OS_SURROUNDINGS_H
#define HOST_OS_SURROUNDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct os_surroundings_t os_surroundings_t;

/* Take the surroundings as they are at present; `all` false: the thread's alone, which is quick. NULL where
 * memory does not suffice. [any] */
os_surroundings_t *os_surroundings_take(bool all);

/* Put back what has changed since `before` was taken, where that is possible, and name the changes in `text`, a list of
 * words. Frees `before`; NULL is allowed. false: nothing has changed. [any, the thread that took `before`] */
bool os_surroundings_put_back(os_surroundings_t *before, char *text, size_t size);

/* Files, threads, children and timers that this process has; 0 where the system does not tell. [main] */
typedef struct os_holdings_t {
    uint32_t files, threads, children, timers;
} os_holdings_t;

os_holdings_t os_holdings_count(void);

enum { OS_HOLDS_FILE, OS_HOLDS_THREAD, OS_HOLDS_CHILD, OS_HOLDS_TIMER, OS_HOLDS };

/* One of them, by its number, and what tells it from a later one of the same number. */
typedef struct os_holding_t {
    uint32_t kind; /* OS_HOLDS_... */
    uint32_t number;
    uint64_t identity; /* 0 in a list: not asked for yet */
} os_holding_t;

/* List them, at most `capacity`. Returns how many there are; 0 where the system does not tell. [main] */
uint32_t os_holdings_list(os_holding_t *list, uint32_t capacity);

/* Ask for the identity of one that is there. Is it still there? [main] */
void os_holding_know(os_holding_t *holding);
bool os_holding_is_there(const os_holding_t *holding);

#endif
