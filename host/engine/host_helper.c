/* host_helper.c - helpers: found, started, and what they do.
 *
 * For a trial the helper builds a host like the one that asks, from its declarations (reload/scratch.h): the same
 * plugins, opened from the files that are at work there, the same worlds, and some entities of each combination of
 * components; it steps the worlds once with the old code, and goes on as a copy of the process would (reload/trial.c).
 * Plugins act outside of their worlds in the host that asks only, so the helper's host is a clone (plugins_t.clone):
 * systems that are output are not called.
 *
 * Where a part of the old host cannot be built again (a plugin that is linked into another program), no trial is
 * possible: that is reported, and the new version is not refused for it.
 */
#include "helper.h"

#include "../os/os.h"
#include "../reload/scratch.h"

#include <stdio.h>
#include <string.h>

/* --- the program -------------------------------------------------------------------------------------------------- */

static bool is_file(const char *path)
{
    file_stamp_t stamp;
    return file_stamp(path, &stamp);
}

/* A folder does not count: the folder with the plugins has the program's name, and may lie beside the library. */
static bool is_there(const char *folder, const char *place, char *path, size_t size)
{
    int length = snprintf(path, size, "%s%s/backplane%s", folder, place, os_program_suffix);
    return length > 0 && (size_t)length < size && is_file(path);
}

bool helper_find(const char *given, char *path, size_t size)
{
    char folder[FILE_PATH_MAX];
    if (given != NULL && given[0] != '\0')
        return snprintf(path, size, "%s", given) < (int)size && is_file(path);
    if (os_program_folder(folder, sizeof folder) && is_there(folder, "", path, size))
        return true;
    return os_library_folder(folder, sizeof folder) &&
           (is_there(folder, "", path, size) || is_there(folder, "/../bin", path, size));
}

void helper_file_remove(helper_file_t *file)
{
    if (file->path[0] != '\0')
        os_file_remove(file->path);
    if (file->folder[0] != '\0')
        temporary_remove(&file->owner, file->folder);
    file->path[0] = file->folder[0] = '\0';
}

static bool write_in_folder(helper_file_t *file, const bytes_t *bytes)
{
    error_text_t error = {.calls = NULL};
    if (bytes->failed || !temporary_create(&file->owner, NULL, "backplane", file->folder, sizeof file->folder)) {
        file->folder[0] = '\0';
        return false;
    }
    return file_path_join(file->folder, "check", file->path, sizeof file->path) &&
           file_write(file->path, bytes->start, bytes->size, &error) == BP_OK;
}

process_t *helper_check(helper_file_t *file, const helper_checked_t *checked)
{
    char program[FILE_PATH_MAX];
    bytes_t bytes;
    bytes_init(&bytes, file->memory);
    bytes_text(&bytes, SCRATCH_BEGINS);
    bytes_text(&bytes, checked->path);
    bytes_u32(&bytes, checked->need_count);
    for (uint32_t i = 0; i < checked->need_count; i++)
        bytes_text(&bytes, checked->needs[i]);
    scratch_put_options(&bytes, checked->options, checked->option_count);
    bool told = helper_find(NULL, program, sizeof program) && write_in_folder(file, &bytes);
    bytes_free(&bytes);
    return told ? process_start_helper(file->memory, program, HELPER_CHECK, file->path) : NULL;
}

/* --- in the helper ------------------------------------------------------------------------------------------------ */

enum { MOST = 255 }; /* options of a plugin, and components of a combination */
enum { CLOCKS = 64 }; /* of worlds beyond, time begins anew in the trial */

typedef struct helper_t {
    process_t *self;
    reader_t reader;
    bp_host_o *host;
    uint32_t flags, deadline_ms;
    bp_option_t given[MOST], coming[RELOAD_MAX_PLUGINS][MOST]; /* of what comes: for as long as this process */
    uint32_t coming_count;
    char why[1024];
} helper_t;

static void say_nothing(void *context, int32_t level, const char *source, const char *text)
{
    (void)context, (void)level, (void)source, (void)text;
}

static bool refuse(helper_t *h, const char *what)
{
    if (h->why[0] == '\0')
        snprintf(h->why, sizeof h->why, "%s%s%s", what, h->host == NULL ? "" : ": ",
                 h->host == NULL ? "" : bp_host_error(h->host));
    return false;
}

static bool load_one(helper_t *h)
{
    bool comes;
    plugin_t like = {.given = h->given};
    scratch_plugin_t described = scratch_read_plugin(&h->reader);
    bp_option_t *coming = h->coming[h->coming_count % RELOAD_MAX_PLUGINS];
    like.name = (char *)(uintptr_t)described.name;
    like.path = (char *)(uintptr_t)described.path;
    like.file = described.file[0] == '\0' ? NULL : (char *)(uintptr_t)described.file;
    like.copy = described.copy[0] == '\0' ? NULL : (char *)(uintptr_t)described.copy;
    like.given_count = scratch_read_options(&h->reader, h->given, MOST);
    uint32_t coming_count = scratch_read_options(&h->reader, coming, MOST);
    comes = described.comes && h->coming_count < RELOAD_MAX_PLUGINS;
    if (h->reader.failed || loader_load_like(&h->host->loader, &like) != BP_OK)
        return refuse(h, "a plugin that is at work cannot be loaded a second time");
    plugin_t *plugin = loader_find(&h->host->loader, described.name);
    if (comes && plugin != NULL) {
        plugin->coming = coming;
        plugin->coming_count = coming_count;
        h->coming_count++;
    }
    return true;
}

/* Make some entities of a combination. Where a manager refuses, these entities are missing; that is no failure. */
static void fill_combination(helper_t *h, bp_world_o *world)
{
    const bp_api_t *api = bp_host_api(h->host);
    uint32_t keys[MOST], prototype, count = reader_u32(&h->reader), found = 0;
    bp_entity_t made[SCRATCH_ROWS];
    for (uint32_t i = 0; i < count && !h->reader.failed; i++) {
        bp_name_t name;
        const char *component = reader_text(&h->reader), *instance = reader_text(&h->reader);
        uint32_t number = api->world->component(world, component);
        if (found < MOST && number != BP_NONE &&
            names_intern(&h->host->base.names, instance, &name, &h->host->base.error) == BP_OK &&
            api->world->key(world, number, name, &keys[found]) == BP_OK)
            found++;
    }
    if (found > 0 && api->world->prototype(world, keys, found, &prototype) == BP_OK)
        api->world->create(world, prototype, made, SCRATCH_ROWS);
}

/* How a clock stands. */
typedef struct standing_t {
    double time;
    uint64_t steps;
} standing_t;

/* Make a world with its components and systems; *clock: the state that its clock must have when the new version
 * comes. */
static bool make_world(helper_t *h, standing_t *clock)
{
    reader_t *r = &h->reader;
    const char *name = reader_text(r);
    double times[2] = {0, 0};
    const void *given = reader_take(r, sizeof times);
    bp_world_desc_t desc = {.struct_size = sizeof desc, .name = name};
    bp_world_o *world;
    if (given != NULL)
        memcpy(times, given, sizeof times);
    *clock = (standing_t){.time = times[1], .steps = reader_u64(r)};
    desc.step_rate = times[0];
    desc.units = reader_text(r);
    if (desc.units[0] == '\0')
        desc.units = NULL;
    if (r->failed || host_create_world(h->host, &desc, &world) != BP_OK)
        return refuse(h, "a world like one that is there cannot be made");
    for (uint32_t i = reader_u32(r); i > 0 && !r->failed; i--) {
        const char *wanted = reader_text(r);
        if (!wants_add(&world->wants, wanted, reader_u32(r) != 0))
            return refuse(h, "memory is lacking");
    }
    for (uint32_t i = reader_u32(r); i > 0 && !r->failed; i--)
        bp_world_use_component(world, reader_text(r));
    for (uint32_t i = reader_u32(r); i > 0 && !r->failed; i--)
        bp_world_use_system(world, reader_text(r));
    for (uint32_t i = reader_u32(r); i > 0 && !r->failed; i--)
        fill_combination(h, world);
    return !r->failed || refuse(h, "the description ends early");
}

static bool make_host(helper_t *h, const bp_host_desc_t *given)
{
    bp_log_i log = {.struct_size = sizeof log, .write = say_nothing};
    bp_host_desc_t desc = {.struct_size = sizeof desc, .threads = 1, .log = &log};
    h->flags = reader_u32(&h->reader);
    h->deadline_ms = reader_u32(&h->reader);
    uint32_t call_ms = reader_u32(&h->reader);
    desc.flags = (h->flags & SCRATCH_GUARDED) != 0 ? BP_HOST_CRASH_GUARD | BP_HOST_WATCHFUL : 0u;
    desc.call_limit = (h->flags & SCRATCH_GUARDED) != 0 ? call_ms : 0;
    if (given != NULL) {
        desc.allocator = given->allocator;
        desc.static_plugins = given->static_plugins;
        desc.static_plugin_count = given->static_plugin_count;
    }
    h->host = bp_host_create(&desc);
    if (h->host == NULL)
        return refuse(h, "memory is lacking");
    h->host->loader.on_trial = h->host->loader.plugins.clone = h->host->crew.recomputing = true;
    return true;
}

/* Load the plugins, and read of the change, which is described behind them. */
static bool load_plugins(helper_t *h, const char **names, char **files, uint32_t *count)
{
    bool good = true;
    for (uint32_t i = reader_u32(&h->reader); i > 0 && good; i--)
        good = load_one(h);
    *count = good ? reader_count(&h->reader, 2 * sizeof(uint32_t)) : 0;
    if (good && (*count == 0 || *count > RELOAD_MAX_PLUGINS))
        return refuse(h, "the description is damaged");
    for (uint32_t i = 0; i < *count; i++) {
        names[i] = reader_text(&h->reader);
        files[i] = (char *)(uintptr_t)reader_text(&h->reader);
    }
    return good;
}

/* Make the worlds, and step them once, so that systems have states and know of entities. Faults of the old code there
 * are not counted against the new version. Then the clocks are set to those of the host that asks, so that lines of the
 * log have its steps. */
static bool make_worlds(helper_t *h)
{
    standing_t standing[CLOCKS], beyond;
    uint32_t count = reader_u32(&h->reader);
    if (h->reader.failed)
        return refuse(h, "the description ends early");
    for (uint32_t i = 0; i < count; i++) {
        if (!make_world(h, i < CLOCKS ? &standing[i] : &beyond))
            return false;
    }
    bp_host_step(h->host);
    for (uint32_t i = 0; i < count && i < CLOCKS; i++) {
        world_clock_t *clock = &host_world(h->host, i)->clock;
        clock->time = standing[i].time;
        clock->steps = standing[i].steps;
        world_clock_settle(clock);
    }
    return true;
}

static int try_it(helper_t *h, const bp_host_desc_t *given)
{
    const char *names[RELOAD_MAX_PLUGINS];
    char *files[RELOAD_MAX_PLUGINS];
    uint32_t count = 0;
    if (strcmp(reader_text(&h->reader), SCRATCH_BEGINS) != 0)
        refuse(h, "the helper is of another version than the library, which is backplane " BACKPLANE_VERSION);
    else if (make_host(h, given) && load_plugins(h, names, files, &count) && make_worlds(h))
        return trial_here(h->self, &h->host->reload, names, files, count, (h->flags & SCRATCH_LOSSY) != 0,
                          h->deadline_ms);
    trial_cannot(h->self, h->why);
    return 1;
}

static int check_it(helper_t *h)
{
    if (strcmp(reader_text(&h->reader), SCRATCH_BEGINS) != 0)
        return 1;
    const char *needs[MOST];
    helper_checked_t checked = {.path = reader_text(&h->reader), .needs = needs, .options = h->given};
    uint32_t count = reader_u32(&h->reader);
    if (count > MOST)
        return 1;
    while (checked.need_count < count)
        needs[checked.need_count++] = reader_text(&h->reader);
    checked.option_count = scratch_read_options(&h->reader, h->given, MOST);
    return h->reader.failed ? 1 : host_check_here(h->self, &checked);
}

static int run(const char *file, bool trial, bool tells, const bp_host_desc_t *desc)
{
    error_text_t error = {.calls = NULL};
    memory_t memory;
    char *bytes;
    size_t size;
    memory_init(&memory, "helper", &(bp_allocator_i){0});
    helper_t *h = memory_new(&memory, sizeof *h);
    if (h == NULL || (h->self = process_be_helper(&memory, tells)) == NULL)
        return 1;
    if (file_read_plain(&memory, file, &bytes, &size, &error) != BP_OK) {
        trial_cannot(h->self, error.text);
        return 1;
    }
    h->reader = reader_of(bytes, size);
    return trial ? try_it(h, desc) : check_it(h);
}

int bp_helper_run(int count, char **texts, const bp_host_desc_t *desc)
{
    bp_host_desc_t known = {0};
    bool tells = count == 4 && strcmp(texts[3], PROCESS_TELLS) == 0, asked = count == 3 || tells;
    bool trial = asked && strcmp(texts[1], TRIAL_WORD) == 0;
    if (!trial && (!asked || strcmp(texts[1], HELPER_CHECK) != 0))
        return -1;
    if (desc != NULL)
        memcpy(&known, desc,
               desc->struct_size != 0 && desc->struct_size < sizeof known ? desc->struct_size : sizeof known);
    process_leave(run(texts[2], trial, tells, &known));
}
