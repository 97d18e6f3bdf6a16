/* output.c - files that take their place only when they are complete.
 *
 * A file is written as TARGET.part beside its target and takes the target's place when it is complete:
 * a reader of the target sees the old file or the new one, and a run that fails, or a power cut, leaves the old one. A
 * run that is shorter than its ini says leaves the old file too, and its own file gets a name beside the target.
 */
#include "recorder.h"

#include <helpers/bp_file.h>
#include <errno.h>
#include <string.h>

#define ENDING ".part"
#define LONGEST 1024 /* bytes of a path with its ending */

static int part_of(const char *target, char *part, size_t size)
{
    int written = snprintf(part, size, "%s" ENDING, target);
    return written > 0 && (size_t)written < size;
}

static void explain(const char *what, const char *path, char *message)
{
    const char *why = errno != 0 ? strerror(errno) : "the file cannot take it";
    snprintf(message, RECORDER_MESSAGE, "cannot %s '%.300s': %.120s",
             what, path, why);
}

FILE *recorder_open(const char *target, char *message)
{
    char part[LONGEST];
    if (!part_of(target, part, sizeof part)) {
        snprintf(message, RECORDER_MESSAGE, "the path '%.100s...' is too long", target);
        return NULL;
    }
    errno = 0;
    FILE *file = bp_file_open(part, "wb");
    if (file == NULL)
        explain("write", part, message);
    return file;
}

int recorder_keep(const recorder_state *r, FILE *file, const char *target, char *message)
{
    char part[LONGEST], whole[LONGEST + 16];
    part_of(target, part, sizeof part);
    errno = 0;
    int failed = ferror(file);
    failed |= fclose(file);
    if (failed) {
        explain("write", part, message);
        bp_file_remove(part);
        return 0;
    }
    const bp_api_t *api = r->system->api;
    if (api->file->output(r->system->world, target, whole, sizeof whole, NULL, 0) == BP_OK &&
        api->file->keep(r->system->host, part, whole) == BP_OK)
        return 1;
    snprintf(message, RECORDER_MESSAGE, "%.500s", api->error->last(r->system->host));
    return 0;
}

void recorder_discard(FILE *file, const char *target)
{
    char part[LONGEST];
    fclose(file);
    if (part_of(target, part, sizeof part))
        bp_file_remove(part);
}
