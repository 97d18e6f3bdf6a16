/* base.h - what every part of one host shares: its memory, errors, log, names, strings and random numbers.
 *
 * One base_t lives in each host; parts keep a pointer to it. There is no other way to reach these things, so two
 * hosts in one process share nothing.
 *
 * What it does not do: it knows nothing of what the parts are.
 */
#ifndef HOST_BASE_BASE_H
#define HOST_BASE_BASE_H

#include "error.h"
#include "memory.h"
#include "names.h"
#include "strings.h"
#include "field.h"

typedef struct base_t {
    memory_t memory;
    error_text_t error;
    bp_log_i log;
    names_t names;
    strings_t strings;
    value_context_t values;
    uint64_t random; /* of gc */
} base_t;

#endif
