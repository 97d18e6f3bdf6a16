/* guard_none.c - the guard on systems without one: on other systems than Linux and Windows, and other processors than
 * x86-64 and, on Linux, aarch64.
 *
 * guard_create fails with a sentence that says so. The other functions exist for the linker: guard_run just makes the
 * call, the rest do nothing.
 */
#include "guard.h"

#if !(defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))) && \
    !(defined(_WIN32) && defined(__x86_64__))

bp_result_t guard_create(memory_t *memory, uint32_t limit_ms, error_text_t *error, guard_t **out)
{
    (void)memory, (void)limit_ms, (void)out;
    return error_set(error, BP_ERROR_STATE,
                     "there is no crash guard for this system: only on Linux for x86-64 and aarch64, and on Windows "
                     "for x86-64 so far");
}

void guard_destroy(guard_t *guard)
{
    (void)guard;
}

void guard_ask(guard_t *guard, guard_permit_t permit, void *data)
{
    (void)guard, (void)permit, (void)data;
}

void guard_tell_deaths(guard_t *guard, guard_death_t tell, bool ends)
{
    (void)guard, (void)tell, (void)ends;
}

uint32_t guard_limit(const guard_t *guard)
{
    (void)guard;
    return 0;
}

void guard_begin_copy(guard_t *guard, uint32_t limit_ms)
{
    (void)guard, (void)limit_ms;
}

bool guard_add_image(guard_t *guard, const void *begin, const void *end)
{
    (void)guard, (void)begin, (void)end;
    return true;
}

void guard_drop_image(guard_t *guard, const void *begin)
{
    (void)guard, (void)begin;
}

uint32_t guard_samples(uint32_t rows)
{
    (void)rows;
    return GUARD_SAMPLE_NONE;
}

bool guard_run_whole(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash)
{
    return guard_run(guard, call, data, crash);
}

bool guard_run(guard_t *guard, void (*call)(void *data), void *data, guard_crash_t *crash)
{
    (void)guard, (void)crash;
    call(data);
    return true;
}

#endif
