/* open_plugins.c - a host that knows plugins and nothing else: for compiling scenes and describing them.
 *
 * Whoever writes a scene wants to compile it without writing an ini first, so by default every plugin counts that came with
 * the program. They are loaded in the order of their names, as what comes out must not depend on how a file system lists
 * them. One that cannot be loaded is no reason to fail: perhaps the scene does not need it. Only when something turns out to
 * be missing do people hear of it.
 */
#include "program.h"

#include "messages.h"

#include "../base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    snprintf(program->passed_over + used, sizeof program->passed_over - used, "%s%s", used > 0 ? "; " : "", bp_host_error(program->host));
}

static int load_folder(program_t *program, const char *folder)
{
    listing_t listing = {.count = 0};
    bool listed = os_folder_list(folder, see_file, &listing);
    qsort(listing.names, listing.count, sizeof *listing.names, compare);
    for (size_t i = 0; i < listing.count; i++) {
        char path[PATH_ROOM];
        int length = snprintf(path, sizeof path, "%s/%s", folder, listing.names[i]);
        if (length > 0 && (size_t)length < sizeof path && bp_host_load_plugin(program->host, path, NULL, 0) != BP_OK)
            note(program);
        free(listing.names[i]);
    }
    free(listing.names);
    if (!listed || listing.failed)
        complain(listing.failed ? "out of memory while looking into the folder %s" : "the folder of plugins %s cannot be read", folder);
    return listing.failed ? STATUS_FAILED : listed ? STATUS_FINE : STATUS_BAD_INPUT;
}

static void see_nothing(void *data, const char *name)
{
    (void)data, (void)name;
}

static int load_usual_folder(program_t *program)
{
    static const char *const usual[] = {"plugins", "../lib/backplane/plugins"};
    char beside[PATH_ROOM], folder[PATH_ROOM + 64];
    for (size_t i = 0; os_program_folder(beside, sizeof beside) && i < sizeof usual / sizeof usual[0]; i++) {
        snprintf(folder, sizeof folder, "%s/%s", beside, usual[i]);
        if (os_folder_list(folder, see_nothing, NULL))
            return load_folder(program, folder);
    }
    complain("there is no folder plugins/ beside the program, nor ../lib/backplane/plugins; say which plugins with --plugins FOLDER or --ini INI");
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
