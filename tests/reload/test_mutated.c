/* test_mutated.c - libraries with faults in their bytes: none of them ends a host that has its guard or its trial on.
 *
 * The next versions of four plugins (fields with systems and commands, row hooks and lists, storage of its own, tables)
 * are changed at random: a byte, a word put in the place of another, a block of zeros, an end that is missing. With the
 * guard alone that is in what only the system's loader reads (headers, dynamic section, symbols, names, versions); with
 * the trial alone in data too (relocations, constants, the plugin's declarations); with both in code as well. Each is
 * reloaded into a living host, used if it comes in, and the good version is brought back. Which seed a process
 * was at stands in memory that it shares with the test; so a failure names it. MUTATED says how many seeds there are,
 * MUTATED_FIRST the first of them.
 *
 * Not promised, and not tried: addresses and code with faults where there is no trial to find them, since what they
 * write may hit anything; code that a trial does not reach where there is no guard to catch it.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "reload_support.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SEEDS = 240, BATCH = 30, ROWS = 40, HANGS_AFTER_S = 240, DEADLINE_MS = 5000, LIMIT_MS = 5000, TRIES = 4 };

static const rlim_t memory_limit = (rlim_t)4 << 30;

/* What a process tells of itself while it lives. */
typedef struct progress_t {
    uint32_t seed, came_in, refused, hosts;
    char what[160], trouble[8192];
} progress_t;

/* The versions at work, those that are changed, and a property of the component that entities have. */
static const struct { const char *good, *next, *name, *component, *property; } plugins[] = {
    {"flock_first", "flock_next", "flock", "bird", "value"},
    {"ledger_first", "ledger_kept", "ledger", "ledger", "amount"},
    {"keeper", "keeper", "keeper", "keeper", "number"},
    {"service_small", "service_large", "service", NULL, NULL},
};

enum { PLUGINS = COUNT(plugins) };

static progress_t *progress;
static log_text_t log_text;
static bp_host_o *host;
static bp_world_o *world;
static bp_entity_t entities[ROWS];
static uint32_t keys[PLUGINS];

/* --- a library with a fault --------------------------------------------------------------------------------------- */

enum { OF_LOADER, DATA, CODE };

typedef struct section_t {
    uint64_t begin, size;
    int kind;
} section_t;

static int kind_of(const Elf64_Shdr *section)
{
    switch (section->sh_type) {
    case SHT_DYNAMIC: case SHT_DYNSYM: case SHT_STRTAB: case SHT_HASH: case SHT_GNU_HASH: case SHT_NOTE:
    case SHT_GNU_versym: case SHT_GNU_verneed: case SHT_GNU_verdef:
        return OF_LOADER;
    default:
        return section->sh_flags & SHF_EXECINSTR ? CODE : DATA;
    }
}

/* The parts that a library has by its sections; what no section has is the first part. */
static uint32_t parts_of(const char *bytes, size_t size, section_t *parts, uint32_t most)
{
    Elf64_Ehdr head;
    memcpy(&head, bytes, sizeof head);
    uint32_t count = 0;
    parts[count++] = (section_t){0, sizeof head + (uint64_t)head.e_phnum * sizeof(Elf64_Phdr), OF_LOADER};
    for (uint32_t i = 1; i < head.e_shnum && count < most; i++) {
        Elf64_Shdr each;
        memcpy(&each, bytes + head.e_shoff + (uint64_t)i * sizeof each, sizeof each);
        bool loaded = (each.sh_flags & SHF_ALLOC) != 0 && each.sh_type != SHT_NOBITS;
        if (loaded && each.sh_size >= 8 && each.sh_offset + each.sh_size <= size)
            parts[count++] = (section_t){each.sh_offset, each.sh_size, kind_of(&each)};
    }
    return count;
}

static uint64_t any_number(uint64_t *random, const char *bytes, size_t size)
{
    uint64_t word;
    switch (bp_random_below(random, 7)) {
    case 0: return 0;
    case 1: return ~(uint64_t)0;
    case 2: return bp_random_below(random, 64);
    case 3: return (uint64_t)size - bp_random_below(random, 64);
    case 4: return (uint64_t)1 << bp_random_below(random, 64);
    case 5: return bp_random_below(random, (uint32_t)size);
    default:
        memcpy(&word, bytes + bp_random_below(random, (uint32_t)(size / 8 - 1)) * 8, sizeof word);
        return word;
    }
}

/* One fault at a place; says which in progress->what. Returns the size. */
static size_t put_fault(uint64_t *random, char *bytes, size_t size, const section_t *parts, uint32_t count,
                        int most)
{
    section_t part;
    do
        part = parts[bp_random_below(random, count)];
    while (part.kind > most);
    uint64_t at = part.begin + bp_random_below(random, (uint32_t)(part.size / 8)) * 8;
    uint32_t way = bp_random_below(random, 16), length = 1u << bp_random_below(random, 4);
    uint64_t number = any_number(random, bytes, size);
    snprintf(progress->what, sizeof progress->what, "way %u at %#llx, %u bytes, %#llx", way, (unsigned long long)at,
             length, (unsigned long long)number);
    if (way == 0)
        return bp_random_below(random, (uint32_t)size);
    if (way == 1)
        memset(bytes + at, 0, (size_t)(part.begin + part.size - at < 64 ? part.begin + part.size - at : 64));
    else if (way < 5)
        bytes[at + bp_random_below(random, 8)] ^= (char)(1u << bp_random_below(random, 8));
    else if (way < 7)
        bytes[at] = (char)(bytes[at] + (way == 5 ? 1 : -1));
    else
        memcpy(bytes + at, &number, length < 8 ? length : 8);
    return size;
}

static void put_mutated(uint64_t *random, uint32_t plugin, int most)
{
    size_t size;
    char *bytes = fixture_bytes(plugins[plugin].next, &size);
    section_t parts[64];
    uint32_t count = parts_of(bytes, size, parts, COUNT(parts)), faults = 1 + bp_random_below(random, 8) / 6;
    size_t left = size;
    for (; faults > 0 && left == size; faults--)
        left = put_fault(random, bytes, size, parts, count, most);
    put_bytes(bytes, left, plugins[plugin].name);
    free(bytes);
}

/* --- a process with a host ---------------------------------------------------------------------------------------- */

static void must(bp_result_t result, const char *what)
{
    if (result == BP_OK)
        return;
    snprintf(progress->trouble, sizeof progress->trouble, "%.99s: %s\n%s", what, bp_host_error(host), log_text.text);
    _exit(2);
}

static void open_host(uint32_t flags)
{
    static const char *const systems[] = {"fly", "warm", "lay"};
    const bp_api_t *api;
    progress->hosts++;
    memset(&log_text, 0, sizeof log_text);
    host = bp_host_create(&(bp_host_desc_t){.log = log_into(&log_text), .tag = 1, .flags = BP_HOST_COPY_PLUGINS | flags,
                                            .trial_deadline = DEADLINE_MS,
                                            .call_limit = flags & BP_HOST_CRASH_GUARD ? LIMIT_MS : 0});
    for (uint32_t i = 0; i < PLUGINS; i++)
        must(bp_host_load_plugin(host, put_plugin(plugins[i].good, plugins[i].name), NULL, 0), plugins[i].good);
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    api = bp_host_api(host);
    must(bp_world_use_component(world, "egg"), "egg");
    must(api->entity->create(host, entities, ROWS), "creating");
    for (uint32_t i = 0; i < PLUGINS && plugins[i].component != NULL; i++) {
        must(bp_world_use_component(world, plugins[i].component), plugins[i].component);
        keys[i] = key_of(world, plugins[i].component, "");
        must(api->world->add(world, keys[i], entities, ROWS), "adding");
    }
    for (uint32_t i = 0; i < COUNT(systems); i++)
        must(bp_world_use_system(world, systems[i]), systems[i]);
    must(bp_host_step(host), "stepping");
}

/* What has come in is used; whatever comes of that, the host goes on. */
static void use_it(uint32_t plugin)
{
    const bp_api_t *api = bp_host_api(host);
    const char *component = plugins[plugin].component, *property = plugins[plugin].property;
    union { float f32; uint32_t u32; int32_t i32; } value = {.u32 = 3};
    uint32_t type = plugin == 0 ? BP_U32 : plugin == 1 ? BP_F32 : BP_I32;
    bp_host_step(host);
    if (component != NULL) {
        api->property->get_named(world, entities[1], component, property, type, &value);
        api->property->set_named(world, entities[2], component, property, type, &value);
        api->world->remove(world, keys[plugin], entities, 1);
        api->world->add(world, keys[plugin], entities, 1);
    }
    bp_host_step(host);
}

/* Has the good version come back? Where names have changed that no rule follows, or the plugin is set aside for good, a
 * new host is made; the old one must end in good order. */
static void bring_back(uint32_t flags, uint32_t plugin)
{
    bp_result_t result = BP_ERROR_FAILED;
    put_plugin(plugins[plugin].good, plugins[plugin].name);
    for (int i = 0; i < TRIES && result != BP_OK; i++)
        result = bp_host_reload_lossy(host, &plugins[plugin].name, 1, NULL);
    if (result == BP_OK && bp_host_step(host) == BP_OK) {
        check_host(host);
        return;
    }
    bp_host_destroy(host);
    open_host(flags);
}

static void run_batch(uint32_t flags, int most, uint32_t first, uint32_t count)
{
    setrlimit(RLIMIT_AS, &(struct rlimit){memory_limit, memory_limit});
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    open_host(flags);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t random = (first + i + 1) * 0xd1342543de82ef95u ^ 0x5851f42d4c957f2du; /* streams that do not overlap */
        progress->seed = first + i;
        uint32_t plugin = bp_random_below(&random, PLUGINS);
        put_mutated(&random, plugin, most);
        log_text.text[0] = '\0';
        log_text.count = 0;
        if (bp_host_reload_lossy(host, &plugins[plugin].name, 1, NULL) != BP_OK) {
            progress->refused++;
            continue;
        }
        progress->came_in++;
        use_it(plugin);
        bring_back(flags, plugin);
    }
    must(bp_host_step(host), "stepping at the end");
    check_host(host);
    bp_host_destroy(host);
}

static uint32_t number_from(const char *variable, uint32_t usual)
{
    const char *text = getenv(variable);
    return text == NULL ? usual : (uint32_t)strtoul(text, NULL, 10);
}

/* Try seeds in a process of their own. If the host comes to an end, that is told in `ended`. Returns how many were
 * tried: all, or those up to the one that ended the host. */
static uint32_t in_a_process(uint32_t flags, int most, uint32_t first, uint32_t count, char *ended,
                             size_t size)
{
    int status;
    progress->trouble[0] = progress->what[0] = '\0';
    progress->seed = first;
    fflush(NULL);
    pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        alarm(HANGS_AFTER_S);
        run_batch(flags, most, first, count);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return count;
    snprintf(ended, size, "\n  seed %u (%s): %s %d%s%.400s", progress->seed, progress->what,
             WIFSIGNALED(status) ? "the host was ended by signal" : "the host ended with",
             WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), progress->trouble[0] == '\0' ? "" : ": ",
             progress->trouble);
    return progress->seed - first + 1;
}

START_TEST(no_fault_in_the_bytes_of_a_library_ends_a_host_with_guard_or_trial)
{
    static const struct { const char *title; uint32_t flags; int most; } roads[] = {
        {"guard", BP_HOST_CRASH_GUARD, OF_LOADER},
        {"trial", BP_HOST_TRIAL, DATA},
        {"guard and trial", BP_HOST_CRASH_GUARD | BP_HOST_TRIAL, CODE},
    };
    uint32_t first = number_from("MUTATED_FIRST", 0), seeds = number_from("MUTATED", SEEDS) / COUNT(roads);
    static char ended[8192];
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert(progress != MAP_FAILED);
    for (uint32_t done = 0; done < seeds;) {
        uint32_t count = seeds - done < BATCH ? seeds - done : BATCH, begin = first + (uint32_t)_i * seeds + done;
        char *end = ended + strlen(ended);
        done += in_a_process(roads[_i].flags, roads[_i].most, begin, count, end, (size_t)(ended + sizeof ended - end));
    }
    EXPECT(ended[0] == '\0', "with %s:%s", roads[_i].title, ended);
    /* The faults reach beyond what the judge of images refuses, and some do no harm. */
    EXPECT(progress->came_in > seeds / 50 && progress->refused > seeds / 4, "%u came in, %u were refused",
           progress->came_in, progress->refused);
    if (getenv("MUTATED") != NULL)
        printf("with %s: %u came in, %u were refused, %u hosts\n", roads[_i].title, progress->came_in,
               progress->refused, progress->hosts);
    munmap(progress, sizeof *progress);
}
END_TEST

Suite *mutated_suite(void)
{
    Suite *suite = suite_create("mutated");
    TCase *all = tcase_create("all");
    tcase_set_timeout(all, 300);
    tcase_add_loop_test(all, no_fault_in_the_bytes_of_a_library_ends_a_host_with_guard_or_trial, 0, 3);
    suite_add_tcase(suite, all);
    return suite;
}
