/* os_memory_win32.c - how much memory can still be had: what the system would still commit to this process. */
#include "os.h"

#include <windows.h>

uint64_t os_memory_available(void)
{
    MEMORYSTATUSEX status = {.dwLength = sizeof status};
    return GlobalMemoryStatusEx(&status) ? (uint64_t)status.ullAvailPageFile : UINT64_MAX;
}
