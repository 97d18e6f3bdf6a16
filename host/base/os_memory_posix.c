/* os_memory_posix.c - how much memory can still be had, where the system tells (Linux: /proc and the control group).
 *
 * A system that promises more memory than it has ends a process that takes it at its word, so whoever is about to fill
 * gigabytes asks first. Reading two small files costs some ten microseconds.
 */
#include "os.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE_ROOM = 512 };

/* The number behind `key` at the beginning of a line; "" is the first line's. UINT64_MAX where there is none. */
static uint64_t number_in(const char *path, const char *key)
{
    char line[LINE_ROOM];
    size_t length = strlen(key);
    uint64_t number = UINT64_MAX;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return number;
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, key, length) != 0)
            continue;
        if (sscanf(line + length, "%" SCNu64, &number) != 1)
            number = UINT64_MAX;
        break;
    }
    fclose(file);
    return number;
}

static uint64_t in_the_system(void)
{
    uint64_t memory = number_in("/proc/meminfo", "MemAvailable:"), swap = number_in("/proc/meminfo", "SwapFree:");
    if (memory == UINT64_MAX)
        return memory;
    return (memory + (swap == UINT64_MAX ? 0 : swap)) * 1024;
}

/* Of the control group that this process is in; what files take of it can be had back. */
static uint64_t in_the_group(void)
{
    char line[LINE_ROOM], path[2 * LINE_ROOM];
    FILE *file = fopen("/proc/self/cgroup", "r");
    const char *group = file == NULL || fgets(line, sizeof line, file) == NULL || strncmp(line, "0::", 3) != 0 ? NULL : line + 3;
    if (file != NULL)
        fclose(file);
    if (group == NULL)
        return UINT64_MAX;
    line[strcspn(line, "\n")] = '\0';
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
    uint64_t most = number_in(path, "");
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.current", group);
    uint64_t taken = number_in(path, "");
    snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.stat", group);
    uint64_t files = number_in(path, "file ");
    if (most == UINT64_MAX || taken == UINT64_MAX)
        return UINT64_MAX;
    taken -= files < taken ? files : 0;
    return most > taken ? most - taken : 0;
}

uint64_t os_memory_available(void)
{
    uint64_t system = in_the_system(), group = in_the_group();
    return group < system ? group : system;
}
