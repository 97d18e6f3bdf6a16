/* os_time_win32.c - time on Windows: the performance counter. */
#include "os.h"

#include <windows.h>

enum { BILLION = 1000000000, MILLION = 1000000 };

/* Whole seconds and the rest apart: ticks times a billion would overflow within hours. */
uint64_t os_clock_ns(void)
{
    LARGE_INTEGER ticks, frequency;
    QueryPerformanceCounter(&ticks);
    QueryPerformanceFrequency(&frequency);
    uint64_t now = (uint64_t)ticks.QuadPart, second = (uint64_t)frequency.QuadPart;
    return now / second * BILLION + now % second * BILLION / second;
}

void os_sleep_ns(uint64_t nanoseconds)
{
    Sleep((DWORD)((nanoseconds + 999999) / 1000000));
}
