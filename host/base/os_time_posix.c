/* os_time_posix.c - time on Linux and its relatives: the monotonic clock. */
#define _GNU_SOURCE 1
#define _DARWIN_C_SOURCE 1

#include "os.h"

#include <time.h>

enum { BILLION = 1000000000 };

uint64_t os_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * BILLION + (uint64_t)now.tv_nsec;
}

void os_sleep_ns(uint64_t nanoseconds)
{
    struct timespec time = {.tv_sec = (time_t)(nanoseconds / BILLION), .tv_nsec = (long)(nanoseconds % BILLION)};
    nanosleep(&time, NULL);
}
