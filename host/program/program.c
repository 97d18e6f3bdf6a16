/* program.c - the host behind every command.
 *
 * The log goes through here rather than to the library's own default, for two reasons: a line must not be
 * written into the middle of a progress bar, and the exit status has to tell whether an error was logged.
 * Log lines may come from job threads. Job threads write lines only while a step runs, when the main thread draws
 * nothing; so taking the bar away needs no lock: the thread that exchanges its width for 0 does it.
 */
#include "program.h"

#include "../os/files.h"
#include "../os/os.h"
#include "output.h"
#include "ranks.h"

#include <bp_clock.h>

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BILLION = 1000000000,
    PAUSE_NS = 100000000, /* at a time, while all worlds are stopped */
    STEPS_AT_ONCE = 8,  /* of a world that is behind */
    BEHIND = 1          /* seconds that a world may be behind and catch up */
};

/* Print a text of the log line by line, so that a block keeps its form. The output of a compiler stands as it is, for
 * editors that look for file and line. */
static void print_lines(int32_t level, const char *source, const char *text)
{
    bool first = true;
    while (*text != '\0') {
        size_t length = strcspn(text, "\n");
        if (!first || strcmp(source, "build") == 0)
            remark("%.*s", (int)length, text);
        else
            complain("%s%s: %.*s", level == BP_LOG_WARNING ? "warning: " : "", source, (int)length, text);
        text += length + (text[length] == '\n');
        first = false;
    }
}

static void write_log(void *context, int32_t level, const char *source, const char *text)
{
    program_t *program = context;
    bool change = level == BP_LOG_INFO && program->follows && strcmp(source, "host") == 0;
    if (level < (program->talking ? BP_LOG_INFO : BP_LOG_WARNING) && !change)
        return;
    if (level >= BP_LOG_ERROR)
        atomic_fetch_add(&program->errors, 1u);
    if (program->host != NULL && program->ranks == 1)
        ranks_introduce(program); /* a setup may have come to know of other ranks */
    progress_erase(&program->progress);
    if (program->prompt != NULL)
        program->prompt->make_room(program->prompt->context);
    print_lines(level, source, text);
}

int program_create(program_t *program, const char *ini)
{
    *program = (program_t){.ini = ini, .ranks = 1};
    bp_host_desc_t desc = {.struct_size = sizeof desc, .log = &(bp_log_i){.context = program, .write = write_log}};
    desc.tag = 1; /* the tag is fixed, so that hash and entities of a run are the same in every process */
    desc.flags = BP_HOST_COPY_PLUGINS | BP_HOST_WATCHFUL | (ini == NULL ? BP_HOST_CRASH_GUARD : 0u);
    program->host = bp_host_create(&desc);
    if (program->host == NULL) {
        complain("out of memory while starting");
        return STATUS_FAILED;
    }
    program->api = bp_host_api(program->host);
    program->look = program->api->registry->find(program->host, BP_LOOK_API, 1);
    return STATUS_FINE;
}

int program_open(program_t *program, const char *ini, bool talking)
{
    int status = program_create(program, ini);
    if (status != STATUS_FINE)
        return status;
    program->talking = talking;
    bp_result_t result = bp_host_setup(program->host, ini);
    ranks_introduce(program);
    if (result == BP_OK)
        return STATUS_FINE;
    complain("%s", bp_host_error(program->host));
    bp_host_destroy(program->host);
    return result == BP_ERROR_MEMORY ? STATUS_FAILED : STATUS_BAD_INPUT;
}

int program_close(program_t *program, int status)
{
    if (status != STATUS_FINE)
        bp_host_leave_peers(program->host, 1);
    bp_host_destroy(program->host);
    program->host = NULL;
    return status == STATUS_FINE && atomic_load(&program->errors) > 0 ? STATUS_FAILED : status;
}

/* Does a world exist, and are all worlds stopped, with no step granted? */
static bool stand_still(const program_t *program)
{
    const bp_clock_api *clocks = (const bp_clock_api *)program->api->registry->find(program->host, BP_CLOCK_API, 1);
    bp_clock_t clock = {.struct_size = sizeof clock};
    bp_world_o *world;
    uint32_t count = 0;
    for (; (world = program->api->world->at(program->host, count)) != NULL; count++) {
        clocks->read(world, &clock);
        if (!clock.stopped || clock.granted > 0)
            return false;
    }
    return count > 0;
}

static void tell_structure(void *context, const char *world, bp_entity_t entity, const char *text)
{
    (void)context, (void)entity;
    remark("  %s%s%s", world, world[0] != '\0' ? ": " : "", text);
}

static void tell_field(void *context, const bp_diff_field_t *field)
{
    (void)context;
    remark("  %s: %s.%s differs in %" PRIu64 " %s, by %g at most", field->world, field->component, field->field,
           field->count, field->count == 1 ? "entity" : "entities", field->largest);
}

const bp_diff_i program_differences = {.structure = tell_structure, .field = tell_field};

int program_step(program_t *program, uint64_t count, bool bar, bool verify)
{
    bp_result_t result = BP_OK;
    progress_begin(&program->progress, count, bar && program->rank == 0);
    for (uint64_t done = 0; done < count && result == BP_OK;) {
        progress_show(&program->progress, done);
        bp_host_poll(program->host);
        if (stand_still(program)) {
            bp_host_wait(program->host, PAUSE_NS);
            continue;
        }
        result = verify ? bp_host_step_twice(program->host, 0, &program_differences) : bp_host_step(program->host);
        done++;
    }
    progress_erase(&program->progress);
    if (result == BP_OK)
        return STATUS_FINE;
    complain("%s", bp_host_error(program->host));
    return STATUS_FAILED;
}

/* --- open plugins --------------------------------------------------------------------------------------------- */

/* A host that knows plugins and nothing else: for compiling scenes and describing them.
 *
 * An author of a scene wants to compile it without writing an ini first, so by default all plugins that came with the
 * program are loaded. The plugins are loaded in the order of their names, as the output must not depend on how a file
 * system lists them. A plugin that cannot be loaded is passed over, since the scene may not need it; it is named only
 * when a type turns out to be missing.
 */

enum { PATH_ROOM = 4096 };

typedef struct listing_t {
    char **names;
    size_t count, room;
    bool failed;
} listing_t;

static void see_file(void *data, const char *name)
{
    listing_t *listing = data;
    size_t length = strlen(name), suffix = strlen(os_library_suffix);
    if (length <= suffix || strcmp(name + length - suffix, os_library_suffix) != 0)
        return;
    if (listing->count == listing->room) {
        size_t room = listing->room == 0 ? 16 : listing->room * 2;
        char **names = realloc(listing->names, room * sizeof *names);
        listing->failed = listing->failed || names == NULL;
        if (names == NULL)
            return;
        listing->names = names;
        listing->room = room;
    }
    char *copy = malloc(length + 1);
    listing->failed = listing->failed || copy == NULL;
    if (copy != NULL)
        listing->names[listing->count++] = memcpy(copy, name, length + 1);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void note(program_t *program)
{
    size_t used = strlen(program->passed_over);
    snprintf(program->passed_over + used, sizeof program->passed_over - used, "%s%s", used > 0 ? "; " : "",
             bp_host_error(program->host));
}

static int load_folder(program_t *program, const char *folder)
{
    listing_t listing = {.count = 0};
    bool listed = os_folder_list(folder, see_file, &listing);
    if (listing.count > 0)
        qsort(listing.names, listing.count, sizeof *listing.names, compare);
    for (size_t i = 0; i < listing.count; i++) {
        char path[PATH_ROOM];
        int length = snprintf(path, sizeof path, "%s/%s", folder, listing.names[i]);
        bp_result_t result = length > 0 && (size_t)length < sizeof path
                                 ? bp_host_load_plugin(program->host, path, NULL, 0) : BP_OK;
        listing.failed = listing.failed || result == BP_ERROR_MEMORY;
        if (result != BP_OK)
            note(program);
        free(listing.names[i]);
    }
    free(listing.names);
    if (!listed || listing.failed)
        complain(listing.failed ? "out of memory while looking into the folder %s"
                                : "the folder of plugins %s cannot be read",
                 folder);
    return listing.failed ? STATUS_FAILED : listed ? STATUS_FINE : STATUS_BAD_INPUT;
}

static void see_nothing(void *data, const char *name)
{
    (void)data, (void)name;
}

/* The folder of the plugins that came with the program. */
static bool find_usual_folder(char *folder, size_t size)
{
    static const char *const usual[] = {"plugins", "../lib/backplane/plugins"};
    char beside[PATH_ROOM];
    for (size_t i = 0; os_program_folder(beside, sizeof beside) && i < sizeof usual / sizeof usual[0]; i++) {
        int length = snprintf(folder, size, "%s/%s", beside, usual[i]);
        if (length > 0 && (size_t)length < size && os_folder_list(folder, see_nothing, NULL))
            return true;
    }
    return false;
}

int program_add_plugin(program_t *program, const char *name, const bp_option_t *options, uint32_t count)
{
    char folder[PATH_ROOM], path[PATH_ROOM + 64];
    const char *path_or_name = name;
    if (find_usual_folder(folder, sizeof folder)) {
        snprintf(path, sizeof path, "%s/%.40s%s", folder, name, os_library_suffix);
        path_or_name = path;
    }
    bp_result_t result = bp_host_load_plugin(program->host, path_or_name, options, count);
    if (result == BP_OK)
        return STATUS_FINE;
    complain("%s", bp_host_error(program->host));
    return result == BP_ERROR_MEMORY ? STATUS_FAILED : STATUS_BAD_INPUT;
}

static int load_usual_folder(program_t *program)
{
    char folder[PATH_ROOM];
    if (find_usual_folder(folder, sizeof folder))
        return load_folder(program, folder);
    complain("there is no folder plugins/ beside the program, nor ../lib/backplane/plugins; say which plugins with "
             "--plugins FOLDER or --ini INI");
    return STATUS_BAD_INPUT;
}

static int load_plugins(program_t *program, const char *ini, const char *folder)
{
    if (ini == NULL)
        return folder != NULL ? load_folder(program, folder) : load_usual_folder(program);
    bp_result_t result = bp_host_setup_plugins(program->host, ini);
    if (result == BP_OK)
        return STATUS_FINE;
    complain("%s", bp_host_error(program->host));
    return result == BP_ERROR_MEMORY ? STATUS_FAILED : STATUS_BAD_INPUT;
}

int program_open_plugins(program_t *program, const char *ini, const char *folder)
{
    int status = program_create(program, ini);
    if (status != STATUS_FINE)
        return status;
    status = load_plugins(program, ini, folder);
    if (status != STATUS_FINE)
        bp_host_destroy(program->host);
    return status;
}

void program_say_passed_over(const program_t *program)
{
    if (program->passed_over[0] != '\0')
        complain("plugins that could not be loaded: %s", program->passed_over);
}

/* --- live ----------------------------------------------------------------------------------------------------- */

/* Steps at the pace of the clock, for watching and for developing.
 *
 * Each world has a clock of its own: the world takes a step whenever the wall clock has passed its time. A world that
 * cannot keep up falls behind: it does not take ever more steps at once. Between steps the host is polled, so that new
 * versions of plugins come in.
 *
 * Ctrl-C ends the loop in good order, for the report to be printed; a second Ctrl-C ends the program. The flag that
 * Ctrl-C sets is static, because a signal handler has no other way to tell.
 */

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    interrupted = 1;
    signal(number, SIG_DFL);
}

struct live_t {
    program_t *program;
    const bp_clock_api *clocks;
    uint64_t last, began; /* began: by the clock */
    uint64_t next_show;
    const char *show;
    bool over;             /* all worlds have taken their steps */
    double next;           /* when the next step of any world is due, in seconds since the beginning; below 0: never */
    double *due;           /* when the next step of each world is due, likewise */
    uint32_t due_count;
    bp_result_t result;
    bool starved;          /* of memory of the program's own, which the host knows nothing of */
};

/* Room for the due times of `count` worlds; new ones are due now. */
static bool grow_due(live_t *live, uint32_t count, double elapsed)
{
    double *grown = count <= live->due_count ? live->due : realloc(live->due, count * sizeof *grown);
    if (grown == NULL)
        return false;
    for (; live->due_count < count; live->due_count++)
        grown[live->due_count] = elapsed;
    live->due = grown;
    return true;
}

/* Take the steps that are due in one world. The world's time has units of its own, but its steps are due in real time:
 * the step rate is steps a second, times the speed of the world's clock. Steps that the world has missed while it was
 * stopped, or by more than a second, are not made up for. */
static bp_result_t step_world(live_t *live, bp_world_o *world, double *due, double elapsed)
{
    bp_clock_t clock = {.struct_size = sizeof clock};
    bp_step_t step = {.struct_size = sizeof step};
    bp_result_t result = BP_OK;
    int most = live->program->ranks > 1 ? 1 : STEPS_AT_ONCE; /* ranks wait for each other after each step */
    for (int i = 0; i < most && result == BP_OK; i++) {
        live->clocks->read(world, &clock);
        live->program->api->world->clock(world, &step);
        bool more = step.number < live->last;
        live->over = live->over && !more;
        if (!more)
            break;
        if (clock.stopped || *due < elapsed - (double)BEHIND)
            *due = elapsed;
        if (clock.stopped && clock.granted == 0)
            break;
        if (live->next > *due || live->next < 0)
            live->next = *due;
        if (*due > elapsed)
            break;
        result = bp_world_step(world);
        *due += step.dt / clock.speed;
    }
    return result;
}

static bp_result_t step_worlds(live_t *live)
{
    const program_t *program = live->program;
    double elapsed = (double)(os_clock_ns() - live->began) / (double)BILLION;
    bp_result_t result = BP_OK;
    bp_world_o *world;
    live->over = true;
    live->next = -1;
    for (uint32_t i = 0; result == BP_OK && (world = program->api->world->at(program->host, i)) != NULL; i++) {
        live->starved = !grow_due(live, i + 1, elapsed);
        result = live->starved ? BP_ERROR_MEMORY : step_world(live, world, &live->due[i], elapsed);
    }
    return result;
}

static bp_result_t show_path(live_t *live)
{
    const program_t *program = live->program;
    uint64_t now = os_clock_ns();
    char text[1024];
    bp_path_t path;
    if (now < live->next_show)
        return BP_OK;
    live->next_show = now + BILLION;
    if (program->prompt != NULL)
        program->prompt->each_second(program->prompt->context);
    if (live->show == NULL)
        return BP_OK;
    bp_result_t result = program->api->property->parse_path(program->host, live->show, &path);
    if (result == BP_OK)
        result = program->api->property->get_text(&path, text, sizeof text);
    if (result == BP_OK && program->prompt != NULL)
        program->prompt->make_room(program->prompt->context);
    if (result == BP_OK) {
        printf("%8.1f s  %s = %s\n", (double)(now - live->began) / (double)BILLION, live->show, text);
        fflush(stdout);
    }
    return result;
}

/* Nanoseconds until the next step is due, or the next line is to be shown. */
static uint64_t time_left(const live_t *live)
{
    uint64_t now = os_clock_ns();
    uint64_t due = live->next < 0 ? now + PAUSE_NS : live->began + (uint64_t)(live->next * (double)BILLION);
    if ((live->show != NULL || live->program->prompt != NULL) && live->next_show < due)
        due = live->next_show;
    return due > now ? due - now : 0;
}

live_t *live_begin(program_t *program, uint64_t last, const char *show)
{
    live_t *live = calloc(1, sizeof *live);
    if (live == NULL) {
        complain("out of memory while starting");
        return NULL;
    }
    *live = (live_t){.program = program, .last = last, .began = os_clock_ns(), .show = show};
    live->clocks = (const bp_clock_api *)program->api->registry->find(program->host, BP_CLOCK_API, 1);
    program->talking = true;
    signal(SIGINT, interrupt);
    return live;
}

bool live_turn(live_t *live, const intptr_t *input)
{
    if (live->result != BP_OK || live->over || interrupted)
        return false;
    live->result = show_path(live);
    if (live->result == BP_OK)
        live->result = step_worlds(live);
    uint64_t left = live->result == BP_OK && !live->over ? time_left(live) : 0;
    if (live->result != BP_OK)
        complain("%s", live->starved ? "out of memory while taking steps" : bp_host_error(live->program->host));
    bp_host_wait_for(live->program->host, left, input, input != NULL);
    return live->result == BP_OK && !live->over && !interrupted;
}

int live_end(live_t *live)
{
    int status = live->result == BP_OK ? STATUS_FINE : STATUS_FAILED;
    signal(SIGINT, SIG_DFL);
    free(live->due);
    free(live);
    return status;
}
