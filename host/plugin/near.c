/* near.c - going through a folder for the name that is nearest. */
#include "near.h"

#include "../base/file.h"
#include "../os/files.h"
#include "../os/os.h"

#include <stdio.h>
#include <string.h>

typedef struct looking_t {
    nearest_t nearest;
    char best[FILE_PATH_MAX];
    bool whole; /* names are compared with their endings */
} looking_t;

static void consider(void *data, const char *file)
{
    looking_t *looking = data;
    size_t length = strlen(file), suffix = strlen(os_library_suffix);
    char name[FILE_PATH_MAX];
    if (length <= suffix || length >= sizeof name || strcmp(file + length - suffix, os_library_suffix) != 0)
        return;
    snprintf(name, sizeof name, "%.*s", (int)(looking->whole ? length : length - suffix), file);
    looking->nearest.best = looking->nearest.best == NULL ? NULL : looking->best;
    nearest_consider(&looking->nearest, name);
    if (looking->nearest.best == name)
        looking->nearest.best = memcpy(looking->best, name, sizeof looking->best);
}

const char *near_file(const char *path, text_t *hint)
{
    char folder[FILE_PATH_MAX], meant[2 * FILE_PATH_MAX];
    const char *name = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at == '/' || *at == '\\')
            name = at + 1;
    }
    size_t before = (size_t)(name - path);
    if (before >= sizeof folder)
        return "";
    snprintf(folder, sizeof folder, "%.*s", (int)before, path);
    looking_t looking = {.nearest = {.wanted = name}, .whole = strstr(name, os_library_suffix) != NULL};
    os_folder_list(before == 0 ? "." : folder, consider, &looking);
    if (nearest_hint(&looking.nearest, hint)[0] == '\0')
        return "";
    snprintf(meant, sizeof meant, "%s%s", folder, looking.best);
    *hint = (text_t){.length = 0};
    text_append(hint, "; did you mean '%s'?", meant);
    return hint->chars;
}
