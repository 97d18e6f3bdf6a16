/* build.c - from a saved source to a command, and from its output to the log.
 *
 * A plugin is dirty from the first notice about one of its sources until its command begins; a source that is saved
 * while the command runs makes its plugin dirty again. Commands are not cut short: a killed linker may leave half a
 * file.
 */
#include "build.h"

#include "../base/file.h"
#include "../os/files.h"
#include "../os/os.h"

#include <stdio.h>
#include <string.h>

static const char place[] = "{plugin}";

enum { NOT_KNOWN = -1, LOST = -2 }; /* in place of a folder's number; LOST: a folder that a source needs is gone */

bp_result_t build_begin(build_t *build, loader_t *loader, sources_t *made)
{
    error_text_t *error = &loader->base->error;
    memset(build, 0, sizeof *build);
    memory_init_child(&build->memory, "build", &loader->base->memory);
    build->loader = loader;
    build->made = made;
    build->sources_id = -1;
    build->folders = folder_watch_open(&build->memory);
    if (build->folders == NULL)
        return error_set(error, BP_ERROR_STATE,
                         "this system tells nothing of changed files, so plugins are not rebuilt by themselves");
    build->output = memory_new(&build->memory, SOURCE_OUTPUT);
    if (build->output != NULL)
        return BP_OK;
    build_end(build);
    return error_memory(error, "watching sources");
}

bp_result_t build_set_command(build_t *build, const char *command, const char *folder, const char *sources)
{
    error_text_t *error = &build->loader->base->error;
    if (strstr(command, place) == NULL)
        return error_set(error, BP_ERROR_ARGUMENT, "the command '%s' lacks %s, which stands for the plugin's name",
                         command, place);
    build_drop_command(build);
    build->command = memory_copy_text(&build->memory, command);
    build->folder = memory_copy_text(&build->memory, folder);
    build->sources = memory_copy_text(&build->memory, sources);
    if (build->command != NULL && build->folder != NULL && build->sources != NULL)
        return BP_OK;
    build_drop_command(build);
    return error_memory(error, "watching sources");
}

void build_drop_command(build_t *build)
{
    memory_free_text(&build->memory, build->command);
    memory_free_text(&build->memory, build->folder);
    memory_free_text(&build->memory, build->sources);
    build->command = build->folder = build->sources = NULL;
    build->sources_id = -1;
    build->known_count = build->header_count = 0; /* others may be the folders of the next command */
}

void build_end(build_t *build)
{
    memory_t *memory = &build->memory;
    if (build->loader == NULL)
        return;
    process_free(build->process);
    folder_watch_close(build->folders);
    build_drop_command(build);
    memory_free(memory, build->output, SOURCE_OUTPUT);
    memory_free(memory, build->dirty, build->dirty_capacity * sizeof *build->dirty);
    memory_free(memory, build->known, build->known_capacity * sizeof *build->known);
    memory_free(memory, build->headers, build->header_capacity * sizeof *build->headers);
    memory_free(memory, build->known_ids, build->id_capacity * sizeof *build->known_ids);
    memory_free(memory, build->known_caught, build->caught_capacity * sizeof *build->known_caught);
    memset(build, 0, sizeof *build);
}

/* --- files that the compiler has read ----------------------------------------------------------------------------- */

static bool is_source(const char *file)
{
    static const char *const endings[] = {".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".hh", ".inc", ".rs"};
    const char *ending = strrchr(file, '.');
    for (size_t i = 0; ending != NULL && ending != file && i < sizeof endings / sizeof endings[0]; i++) {
        if (strcmp(ending, endings[i]) == 0)
            return true;
    }
    return false;
}

/* `path` as seen from `folder`. false where the folder of the file is not there. */
static bool add_header(build_t *build, const char *plugin, const char *folder, const char *path)
{
    char whole[FILE_PATH_MAX];
    bool good = os_path_is_absolute(path) ? (size_t)snprintf(whole, sizeof whole, "%s", path) < sizeof whole
                                          : file_path_join(folder, path, whole, sizeof whole);
    const char *last = good ? os_path_separator(whole) : NULL;
    if (last == NULL || strlen(last + 1) >= sizeof build->headers->file ||
        !memory_reserve(&build->memory, &build->headers, &build->header_capacity, build->header_count + 1u,
                        sizeof *build->headers))
        return true;
    file_stamp_t stamp;
    build->newer = build->newer || (file_stamp(whole, &stamp) && stamp.written > build->made_at);
    char *slash = whole + (last - whole);
    build_header_t *header = &build->headers[build->header_count];
    snprintf(header->plugin, sizeof header->plugin, "%s", plugin);
    snprintf(header->file, sizeof header->file, "%s", slash + 1);
    *slash = '\0';
    header->folder = folder_watch_add(build->folders, slash == whole ? "/" : whole);
    if (header->folder < 0)
        header->folder = LOST;
    build->header_count++;
    return header->folder != LOST;
}

/* Is a file that the compiler of the plugin has read in a folder that is not there? */
static bool lacks_header(const build_t *build, const char *plugin)
{
    for (uint32_t i = 0; i < build->header_count; i++) {
        if (build->headers[i].folder == LOST && strcmp(build->headers[i].plugin, plugin) == 0)
            return true;
    }
    return false;
}

static void forget_headers(build_t *build, const char *plugin)
{
    for (uint32_t i = build->header_count; i > 0; i--) {
        if (strcmp(build->headers[i - 1].plugin, plugin) == 0)
            build->headers[i - 1] = build->headers[--build->header_count];
    }
}

/* Where relative paths of the compiler begin that builds the plugin: a source's runs in the working directory. */
static const char *folder_of(const build_t *build, const plugin_t *plugin)
{
    return plugin->file != NULL || build->folder == NULL ? "." : build->folder;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/* Past blanks, and remarks up to the end of their line. */
static char *skip_remarks(char *from, const char *end)
{
    while (from < end && (is_blank(*from) || *from == '#')) {
        bool remark = *from == '#';
        while (remark && from < end && *from != '\n')
            from++;
        from += from < end;
    }
    return from;
}

/* The next word of a rule, in its place; "" at the end. In names "\ " stands for a space, "\#" for a #, "$$" for a $.
 * There is room for a zero behind the end. `*last`: it ends the rule's line; a line that goes on ends in a backslash,
 * which may be a word of its own. */
static const char *next_word(char **at, const char *end, bool *last)
{
    char *from = skip_remarks(*at, end), *to;
    const char *word = to = from;
    for (; from < end && !is_blank(*from); from++) {
        const char behind = from + 1 < end ? from[1] : '\0';
        if (*from == '\\' && from > word && (behind == '\n' || behind == '\r'))
            break;
        from += (*from == '\\' && (behind == ' ' || behind == '#')) || (*from == '$' && behind == '$');
        *to++ = *from;
    }
    const char *next = from;
    while (next < end && *next != '\n' && is_blank(*next))
        next++;
    *last = (next == end || *next == '\n') && !(to - word == 1 && *word == '\\'); /* a line that goes on ends so */
    *at = from < end ? from + 1 : from;
    *to = '\0';
    return word;
}

/* The last of what a rule makes has a colon behind it. */
static bool ends_targets(const char *word)
{
    size_t length = strlen(word);
    return length > 0 && word[length - 1] == ':';
}

/* Read the rule that the compiler has left beside the plugin: "health.so: health.c \", further lines, empty rules.
 * false where the folder of such a file is not there. */
static bool read_headers(build_t *build, const plugin_t *plugin)
{
    bool all = true;
    char path[FILE_PATH_MAX], *bytes;
    size_t size, suffix = strlen(os_library_suffix);
    error_text_t kept = build->loader->base->error; /* a missing file of rules is no error */
    const char *file = loader_file(plugin);
    size_t length = strlen(file);
    if (length > suffix && strcmp(file + length - suffix, os_library_suffix) == 0)
        length -= suffix;
    int written = snprintf(path, sizeof path, "%.*s.d", (int)length, file);
    if (written > 0 && (size_t)written < sizeof path &&
        file_read_plain(&build->memory, path, &bytes, &size, &build->loader->base->error) == BP_OK) {
        forget_headers(build, plugin->name);
        bool last, behind = false; /* the colon: what comes there has been read */
        for (char *at = bytes; at < bytes + size;) {
            const char *word = next_word(&at, bytes + size, &last);
            if (behind && word[0] != '\0' && strcmp(word, "\\") != 0)
                all &= add_header(build, plugin->name, folder_of(build, plugin), word);
            behind = !last && (behind || ends_targets(word));
        }
        memory_free(&build->memory, bytes, size + 1);
    }
    build->loader->base->error = kept;
    return all;
}

/* --- folders ------------------------------------------------------------------------------------------------------ */

static void soil(build_t *build, const char *name, uint64_t now);

/* Files are compared with the library from here on: has one been written since it was made? */
static void begin_comparing(build_t *build, const plugin_t *plugin)
{
    file_stamp_t library;
    build->newer = false;
    build->made_at = file_stamp(loader_file(plugin), &library) ? library.written : UINT64_MAX;
}

/* Watch what the compiler of a source has read, and the source itself. */
static bool read_source(build_t *build, const plugin_t *plugin)
{
    forget_headers(build, plugin->name);
    begin_comparing(build, plugin);
    bool there = add_header(build, plugin->name, ".", plugin->path);
    return read_headers(build, plugin) && there;
}

/* The number of a plugin in the list of those that are known; the length of the list where it is not there. */
static uint32_t find_known(const build_t *build, const char *name)
{
    uint32_t at = 0;
    while (at < build->known_count && strcmp(build->known[at], name) != 0)
        at++;
    return at;
}

/* Add it where it is not there. NULL when out of memory. */
static int32_t *need_known(build_t *build, const char *name)
{
    uint32_t at = find_known(build, name);
    if (at < build->known_count)
        return &build->known_ids[at];
    if (!memory_reserve(&build->memory, &build->known, &build->known_capacity, at + 1u, sizeof *build->known) ||
        !memory_reserve(&build->memory, &build->known_ids, &build->id_capacity, at + 1u, sizeof *build->known_ids) ||
        !memory_reserve(&build->memory, &build->known_caught, &build->caught_capacity, at + 1u,
                        sizeof *build->known_caught))
        return NULL;
    snprintf(build->known[at], sizeof build->known[at], "%s", name);
    build->known_ids[at] = NOT_KNOWN;
    build->known_caught[at] = false;
    build->known_count++;
    return &build->known_ids[at];
}

/* A file that was not watched before may have been written while its library was being made: build once more then, but
 * only once for each plugin in a row, since the time of a file may lie in the future. */
static void catch_up(build_t *build, const char *name, uint64_t now)
{
    uint32_t at = find_known(build, name);
    if (at == build->known_count)
        return;
    build->known_caught[at] = build->newer && !build->known_caught[at];
    if (build->known_caught[at])
        soil(build, name, now);
}

/* Of a source, the files that its compiler has read; looked for again as long as one of their folders is missing, since
 * other files may be in it when it comes back. */
static void know_source(build_t *build, const plugin_t *plugin, uint64_t now)
{
    uint32_t at = find_known(build, plugin->name);
    bool lost = at < build->known_count && build->known_ids[at] == LOST;
    if (at < build->known_count && !lost)
        return;
    int32_t *id = need_known(build, plugin->name);
    if (id == NULL)
        return;
    *id = read_source(build, plugin) ? NOT_KNOWN : LOST;
    if ((lost && *id != LOST) || sources_is_stale(build->made, plugin->path))
        soil(build, plugin->name, now);
    catch_up(build, plugin->name, now);
}

/* Of a plugin that a command builds, its folder, and those of the files that its compiler has read; where one comes
 * only now, or comes back, its files have been saved unheard. */
static void know(build_t *build, const plugin_t *plugin, uint64_t now)
{
    char folder[FILE_PATH_MAX];
    const char *name = plugin->name;
    uint32_t at = find_known(build, name);
    bool is_new = at == build->known_count;
    if (build->process == NULL && /* a command may have a folder that is there for as long as it runs */
        !is_new && lacks_header(build, name) && read_headers(build, plugin) && !lacks_header(build, name))
        soil(build, name, now);
    if ((!is_new && build->known_ids[at] >= 0) || build->sources == NULL ||
        !file_path_join(build->sources, name, folder, sizeof folder))
        return;
    int32_t *id = need_known(build, name);
    if (id == NULL)
        return;
    *id = folder_watch_add(build->folders, folder);
    if (is_new)
        read_headers(build, plugin);
    else if (*id >= 0)
        soil(build, name, now);
}

static void look_for_folders(build_t *build, uint64_t now)
{
    build->retried_at = now;
    if (build->sources_id < 0 && build->sources != NULL)
        build->sources_id = folder_watch_add(build->folders, build->sources);
    for (uint32_t i = 0; i < build->loader->plugins.count; i++) {
        const plugin_t *plugin = build->loader->plugins.items[i];
        if (plugin->file != NULL)
            know_source(build, plugin, now);
        else if (plugin->path[0] != '\0')
            know(build, plugin, now);
    }
}

/* --- what has changed --------------------------------------------------------------------------------------------- */

static void soil(build_t *build, const char *name, uint64_t now)
{
    const plugin_t *plugin = loader_find(build->loader, name);
    if (plugin == NULL || plugin->path[0] == '\0')
        return; /* there is none, or it is linked in: nothing would load what a command makes of it */
    build->quiet_since = now;
    for (uint32_t i = 0; i < build->dirty_count; i++) {
        if (strcmp(build->dirty[i], name) == 0)
            return;
    }
    if (!memory_reserve(&build->memory, &build->dirty, &build->dirty_capacity, build->dirty_count + 1u,
                        sizeof *build->dirty))
        return;
    snprintf(build->dirty[build->dirty_count++], sizeof build->dirty[0], "%s", name);
}

/* The folder of a file that the compiler of a source has read may have been that. */
static void lose_header(build_t *build, build_header_t *header, int32_t folder)
{
    const plugin_t *plugin = loader_find(build->loader, header->plugin);
    uint32_t at = find_known(build, header->plugin);
    if (header->folder != folder)
        return;
    header->folder = LOST;
    if (plugin != NULL && plugin->file != NULL && at < build->known_count)
        build->known_ids[at] = LOST;
}

static void hear(build_t *build, const folder_notice_t *notice, uint64_t now)
{
    char name[sizeof build->dirty[0]];
    if (notice->id == build->sources_id && notice->what == FOLDER_LOST)
        build->sources_id = -1;
    for (uint32_t i = 0; i < build->known_count; i++) {
        bool here = build->known_ids[i] >= 0 && build->known_ids[i] == notice->id;
        if (here && notice->what == FOLDER_LOST)
            build->known_ids[i] = NOT_KNOWN;
        else if (notice->what == FOLDER_UNSURE || (here && is_source(notice->name)))
            soil(build, build->known[i], now);
    }
    for (uint32_t i = 0; i < build->header_count && notice->what == FOLDER_LOST; i++)
        lose_header(build, &build->headers[i], notice->id);
    for (uint32_t i = 0; i < build->header_count; i++) {
        if (build->headers[i].folder == notice->id && strcmp(build->headers[i].file, notice->name) == 0)
            soil(build, build->headers[i].plugin, now);
    }
    if (build->sources_id >= 0 && notice->id == build->sources_id && is_source(notice->name)) {
        snprintf(name, sizeof name, "%.*s", (int)(strrchr(notice->name, '.') - notice->name), notice->name);
        soil(build, name, now);
    }
}

static void hear_all(build_t *build, uint64_t now)
{
    folder_notice_t notice;
    while (folder_watch_next(build->folders, &notice)) {
        if (notice.what != FOLDER_TOUCHED)
            hear(build, &notice, now);
    }
}

/* --- commands ----------------------------------------------------------------------------------------------------- */

/* The command for plugins that are no sources, with the plugin's name in its place. False, with the error, where it is
 * too long. */
static bool fill_in(const build_t *build, const char *name, char *command, size_t size)
{
    char *at = command;
    const char *from = build->command;
    size_t left = size;
    *at = '\0';
    while (from != NULL && *from != '\0' && left > sizeof build->building) {
        bool here = strncmp(from, place, sizeof place - 1) == 0;
        int n = here ? snprintf(at, left, "%s", name) : snprintf(at, left, "%c", *from);
        from += here ? sizeof place - 1 : 1;
        at += n;
        left -= (size_t)n;
    }
    if (from != NULL && *from == '\0')
        return true;
    error_set(&build->loader->base->error, BP_ERROR_LIMIT, "its command has more than %zu bytes",
              size - sizeof build->building);
    return false;
}

static void start(build_t *build, uint64_t now)
{
    char command[SOURCE_COMMAND];
    error_text_t kept = build->loader->base->error;
    snprintf(build->building, sizeof build->building, "%s", build->dirty[0]);
    memmove(build->dirty, build->dirty + 1, (--build->dirty_count) * sizeof *build->dirty);
    const plugin_t *plugin = loader_find(build->loader, build->building);
    bool source = plugin != NULL && plugin->file != NULL;
    if (plugin == NULL || (!source && build->command == NULL))
        return; /* it has gone, or the command that built it */
    bool known = source ? sources_command(build->made, plugin->path, command, sizeof command) == BP_OK
                        : fill_in(build, build->building, command, sizeof command);
    build->output_size = 0;
    build->started = now;
    if (source)
        sources_begin(build->made, plugin->path);
    build->process = known ? process_start(&build->memory, command, source ? NULL : build->folder) : NULL;
    if (build->process == NULL)
        log_write(&build->loader->base->log, BP_LOG_WARNING, "build", "'%s' cannot be built: %s", build->building,
                  known ? "its command cannot be started" : build->loader->base->error.text);
    build->loader->base->error = kept;
}

static void listen(build_t *build)
{
    char rest[512];
    for (;;) {
        size_t room = SOURCE_OUTPUT - 1 - build->output_size;
        size_t got = process_read(build->process, room > 0 ? build->output + build->output_size : rest,
                                  room > 0 ? room : sizeof rest);
        if (got == 0)
            break;
        build->output_size += room > 0 ? got : 0;
    }
    build->output[build->output_size] = '\0';
}

static void learn(build_t *build, const plugin_t *plugin, uint64_t now)
{
    int32_t *id = need_known(build, plugin->name);
    if (id == NULL)
        return;
    *id = read_source(build, plugin) ? NOT_KNOWN : LOST;
    catch_up(build, plugin->name, now);
}

static void finish(build_t *build, const process_end_t *end, uint64_t now)
{
    bp_log_i *log = &build->loader->base->log;
    bool fine = end->state == PROCESS_ENDED && end->code == 0;
    listen(build);
    source_tell(build->loader->base, build->output);
    if (fine)
        log_write(log, BP_LOG_INFO, "build", "'%s' is built, in %.2f s", build->building,
                  (double)(now - build->started) / 1000);
    else if (end->state == PROCESS_ENDED)
        log_write(log, BP_LOG_WARNING, "build",
                  "'%s' could not be built (the command ended with %d); the code before goes on", build->building,
                  end->code);
    else
        log_write(log, BP_LOG_WARNING, "build",
                  "'%s' could not be built (the command was ended by %s); the code before goes on", build->building,
                  end->signal);
    process_free(build->process);
    build->process = NULL;
    const plugin_t *plugin = loader_find(build->loader, build->building);
    if (fine && plugin != NULL && plugin->file != NULL) {
        learn(build, plugin, now);
    } else if (fine && plugin != NULL) {
        begin_comparing(build, plugin);
        read_headers(build, plugin);
        catch_up(build, build->building, now);
    }
}

void build_learn(build_t *build, const plugin_t *plugin, uint64_t now)
{
    hear_all(build, now); /* notices of what was written before: the command compiles that */
    if (build->process != NULL && strcmp(build->building, plugin->name) == 0) {
        process_free(build->process);
        build->process = NULL;
    }
    for (uint32_t i = build->dirty_count; i > 0; i--) {
        if (strcmp(build->dirty[i - 1], plugin->name) != 0)
            continue;
        build->dirty_count--;
        memmove(&build->dirty[i - 1], &build->dirty[i], (build->dirty_count - (i - 1)) * sizeof *build->dirty);
    }
    learn(build, plugin, now);
    if (sources_is_stale(build->made, plugin->path))
        soil(build, plugin->name, now);
}

bool build_is_waiting(const build_t *build)
{
    return build->process != NULL || build->dirty_count > 0;
}

void build_poll(build_t *build, uint64_t now)
{
    if (now - build->retried_at >= BUILD_RETRY_MS)
        look_for_folders(build, now);
    hear_all(build, now);
    if (build->process != NULL) {
        listen(build);
        process_end_t end = process_state(build->process);
        if (end.state != PROCESS_RUNNING)
            finish(build, &end, now);
    }
    if (build->process == NULL && build->dirty_count > 0 && now - build->quiet_since >= BUILD_SETTLE_MS)
        start(build, now);
}
