/* base_stage.h - what the tests of the lowest room share: an account of memory on a heap that is watched, a sentence of
 * an error, a table of names, and a context for values.
 *
 * Every file of tests that includes this header has these of its own; `begin` and `end` are the checked fixture of its
 * cases. `end` wants all memory back.
 *
 * What it does not do: it makes no host (support.h).
 */
#ifndef TESTS_UNIT_BASE_STAGE_H
#define TESTS_UNIT_BASE_STAGE_H

#include "base/base.h"
#include "base/error.h"
#include "support.h"

static heap_t heap;
static memory_t memory;
static error_text_t error;
static names_t names;
static value_context_t context;

static inline void begin(void)
{
    heap = (heap_t){0};
    bp_allocator_i allocator = heap_allocator(&heap);
    memory_init(&memory, "test", &allocator);
    names_init(&names, &memory);
    context = (value_context_t){.names = &names, .entity_base = 5u << ENTITY_COUNTER_BITS};
    error.text[0] = '\0';
}

static inline void end(void)
{
    names_free(&names);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
    ck_assert_uint_eq(heap.bytes, 0);
}

static inline void expect_error(bp_result_t result, bp_result_t code, const char *part)
{
    ck_assert_msg(result == code, "%d instead of %d: %s", result, code, error.text);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" is not in: %s", part, error.text);
}

static inline TCase *new_case(Suite *suite, const char *name)
{
    return add_case(suite, name, begin, end, 120);
}

#endif
