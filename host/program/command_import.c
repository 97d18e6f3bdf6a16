/* command_import.c - `backplane import`: runs backplane-import, which lies beside this program.
 *
 * Reading the files of other programs needs a large library, and such files make such libraries crash. A program
 * of its own keeps both away: the engine is built without the library, and of a crash there remains a sentence.
 * Its arguments are handed on as they are.
 */
#include "messages.h"
#include "program.h"

#include "../base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

static bool find_program(char *path, size_t size)
{
    char folder[PATH_ROOM];
    if (!os_program_folder(folder, sizeof folder))
        return false;
    int length = snprintf(path, size, "%s/backplane-import%s", folder, os_program_suffix);
    if (length < 0 || (size_t)length >= size)
        return false;
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    fclose(file);
    return true;
}

static int refuse_missing(void)
{
    complain("import needs the program backplane-import beside this one, which is built where the library assimp is: "
             "install it (Debian: libassimp-dev) and run `make import`");
    return STATUS_FAILED;
}

static int run(const char *path, const char *const *arguments)
{
    int status;
    fflush(stdout);
    if (!os_program_run(path, arguments, &status)) {
        complain("%s cannot be started", path);
        return STATUS_FAILED;
    }
    if (status >= 0)
        return status;
    complain("import was ended by signal %d: the file is more than the library assimp can take; nothing was written", -status);
    return STATUS_FAILED;
}

int command_import(int count, char **texts)
{
    char path[PATH_ROOM];
    if (!find_program(path, sizeof path))
        return refuse_missing();
    const char **arguments = calloc((size_t)count + 2, sizeof *arguments);
    if (arguments == NULL) {
        complain("out of memory");
        return STATUS_FAILED;
    }
    arguments[0] = path;
    for (int i = 0; i < count; i++)
        arguments[i + 1] = texts[i];
    int status = run(path, arguments);
    free(arguments);
    return status;
}
