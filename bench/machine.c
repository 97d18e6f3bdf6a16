/* machine.c - processor and memory, as the system's text files describe them.
 *
 * Everything is read with standard C from where Linux keeps it; where there is no such file the answer is
 * "unknown", which the table and the JSON allow for. No name of the machine is asked for: results are meant
 * to be shown around.
 */
#include "bench.h"

#include "os/os.h"

#include <stdlib.h>
#include <string.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif

static bool read_line(const char *path, char *line, int size)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    bool good = fgets(line, size, file) != NULL;
    fclose(file);
    if (good)
        line[strcspn(line, "\n")] = '\0';
    return good;
}

static void read_processor(machine_t *machine)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    if (file == NULL)
        return;
    while (fgets(line, sizeof line, file) != NULL) {
        char *value = strchr(line, ':');
        line[strcspn(line, "\n")] = '\0';
        if (value == NULL)
            continue;
        if (strncmp(line, "model name", 10) == 0 && machine->model[0] == '\0')
            snprintf(machine->model, sizeof machine->model, "%.95s", value + 1 + strspn(value + 1, " "));
        else if (strncmp(line, "cpu MHz", 7) == 0 && machine->mhz <= 0)
            machine->mhz = strtod(value + 1, NULL);
    }
    fclose(file);
}

static bool read_cache_line(uint32_t index, const char *what, char line[64])
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%u/%s", index, what);
    return read_line(path, line, 64);
}

/* Processors in a list such as "0-3,8". */
static uint32_t count_processors(const char *list)
{
    uint32_t count = 0;
    while (*list != '\0') {
        char *end;
        unsigned long first = strtoul(list, &end, 10), last = first;
        if (*end == '-')
            last = strtoul(end + 1, &end, 10);
        count += (uint32_t)(last - first + 1);
        list = *end == ',' ? end + 1 : "";
    }
    return count;
}

static void read_caches(machine_t *machine)
{
    char line[64];
    for (uint32_t i = 0; i < 8 && read_cache_line(i, "size", line); i++) {
        machine_cache_t *cache = &machine->caches[machine->cache_count++];
        char *unit;
        cache->bytes = strtoull(line, &unit, 10) * (*unit == 'K' ? 1024u : *unit == 'M' ? 1048576u : 1u);
        if (read_cache_line(i, "level", line))
            cache->level = (uint32_t)strtoul(line, NULL, 10);
        if (read_cache_line(i, "type", line))
            snprintf(cache->type, sizeof cache->type, "%.15s", line);
        if (read_cache_line(i, "shared_cpu_list", line))
            cache->sharing = count_processors(line);
    }
}

void machine_describe(machine_t *machine)
{
    char line[64];
    memset(machine, 0, sizeof *machine);
    machine->processors = os_processor_count();
    read_processor(machine);
    read_caches(machine);
    machine->scaling =
        read_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", line, sizeof line) &&
        strcmp(line, "performance") != 0;
    if (read_line("/proc/loadavg", line, sizeof line)) {
        char *at = line;
        for (int i = 0; i < 3; i++)
            machine->load[i] = strtod(at, &at);
    }
}

uint64_t machine_resident(void)
{
    char line[128], *at;
    if (!read_line("/proc/self/statm", line, sizeof line))
        return 0;
    strtoull(line, &at, 10);
    uint64_t resident = strtoull(at, &at, 10), of_files = strtoull(at, NULL, 10);
    return (resident - of_files) * os_page_size();
}

void machine_release(void)
{
#if defined(__GLIBC__)
    malloc_trim(0);
#endif
}
