/* host_check.c - bp_check_plugin: one plugin's file is examined, then loaded.
 *
 * The file is examined as bytes (plugin/check.h). Then a copy of this process, or a helper where the system has no
 * copies (host_helper.c), loads it into a host of its own under the crash guard, and lists what it brings; so the
 * plugin cannot change this process. Findings come over the pipe, one a line, the level as a digit before it.
 */
#include "../base/file.h"
#include "../os/os.h"
#include "../plugin/check.h"
#include "../reload/process.h"
#include "helper.h"
#include "host.h"

#include <stdio.h>
#include <string.h>

enum { DEADLINE_MS = 10000, CALL_LIMIT_MS = 7500, MILLION = 1000000, NAP_NS = 2000000, LINE = 1024 };

/* --- what it brings ----------------------------------------------------------------------------------------------- */

/* The state of hearing the log of the host that tries the plugin. */
typedef struct heard_t {
    check_sink_t *sink;
    char last[LINE]; /* of the errors */
    bool leaked;     /* a leak has been told */
} heard_t;

static void tell_log(void *context, int32_t level, const char *source, const char *text)
{
    heard_t *heard = context;
    bool again = strcmp(source, "host") == 0 && strstr(text, "bytes were not given back") != NULL;
    if (level < BP_LOG_WARNING || (again && heard->leaked))
        return; /* memory that the plugin leaks is also missing in the host's accounts; it is reported once */
    heard->leaked = heard->leaked || strstr(text, "not given back") != NULL;
    check_tell(heard->sink, level, "%s", text);
    if (level >= BP_LOG_ERROR)
        snprintf(heard->last, sizeof heard->last, "%s", text);
}

/* Report a failure, unless the log has just had the same reason: a crash is logged and is the reason as well. */
static void tell_failure(const heard_t *heard, const char *reason)
{
    if (heard->last[0] == '\0' || strstr(reason, heard->last) == NULL)
        check_tell(heard->sink, BP_LOG_ERROR, "it does not load: %s%s", reason,
                   strstr(reason, "option '") != NULL ? " (give options behind the file, as NAME=VALUE)" : "");
}

static void tell_component(const component_t *c, check_sink_t *sink)
{
    bool carries = !c->own_storage || (c->saving.save != NULL && c->saving.load != NULL) || c->table.state_form != 0;
    check_tell(sink, BP_LOG_INFO, "component '%s': %u %s, %s%s", c->name, c->field_count,
               c->field_count == 1 ? "property" : "properties",
               c->own_storage ? "storage of its own" : "stored by the world",
               c->table.simulate != NULL ? ", simulates" : "");
    if (!carries && (c->storage.set == NULL || c->field_count == 0))
        check_tell(sink, BP_LOG_WARNING,
                   "component '%s' has neither `save` and `load`, nor a `state_form`, nor properties that can be set: "
                   "a reload makes its instances anew",
                   c->name);
    for (uint32_t i = 0; i < c->field_count && c->own_storage; i++) {
        if ((c->fields[i].flags & (BP_FIELD_READ_ONLY | BP_FIELD_DERIVED)) == BP_FIELD_READ_ONLY)
            check_tell(sink, BP_LOG_WARNING,
                       "component '%s': nothing can set property '%s', so %sa saved world cannot bring it back: make "
                       "it settable, or say BP_FIELD_DERIVED where it follows from the rest",
                       c->name, c->fields[i].name, carries ? "" : "a reload that would lose it is refused, and ");
    }
}

static void tell_brought(const bp_host_o *host, const plugin_t *plugin, check_sink_t *sink)
{
    const registry_t *r = &host->registry;
    for (uint32_t i = 0; i < r->component_count; i++) {
        if (r->components[i]->owner == plugin)
            tell_component(r->components[i], sink);
    }
    for (uint32_t i = 0; i < r->system_count; i++) {
        if (r->systems[i]->owner == plugin)
            check_tell(sink, BP_LOG_INFO, "system '%s': works on %u %s", r->systems[i]->name, r->systems[i]->term_count,
                       r->systems[i]->term_count == 1 ? "component" : "components");
    }
    for (uint32_t i = 0; i < r->table_count; i++) {
        if (r->tables[i]->owner == plugin)
            check_tell(sink, BP_LOG_INFO, "table '%s' for other plugins, version %u", r->tables[i]->name,
                       r->tables[i]->table[1]);
    }
}

/* Load what the plugin needs, and then the plugin itself; false with the host's error. */
static bool load_all(bp_host_o *host, const helper_checked_t *checked)
{
    for (uint32_t i = 0; i < checked->need_count; i++) {
        if (bp_host_load_plugin(host, checked->needs[i], NULL, 0) != BP_OK)
            return false;
    }
    return bp_host_load_plugin(host, checked->path, checked->options, checked->option_count) == BP_OK;
}

static void load_and_tell(const helper_checked_t *checked, check_sink_t *sink, uint32_t flags, bool is_copy)
{
    heard_t heard = {.sink = sink};
    bp_host_desc_t desc = {.struct_size = sizeof desc,
                           .flags = flags,
                           .call_limit = CALL_LIMIT_MS,
                           .log = &(bp_log_i){.context = &heard, .write = tell_log}};
    bp_host_o *host = bp_host_create(&desc);
    if (host == NULL) {
        check_tell(sink, BP_LOG_ERROR, "it was not loaded: out of memory while a host was made for that");
        return;
    }
    host->loader.on_trial = is_copy;
    if (load_all(host, checked)) {
        const bp_plugin_head_t *plugin = bp_host_plugin(host, checked->need_count, NULL);
        check_tell(sink, BP_LOG_INFO, "plugin '%s' %s, for ABI %u.%u", plugin->name, plugin->desc->version,
                   plugin->abi_major, plugin->abi_minor);
        char stem[64];
        file_stem(checked->path, stem, sizeof stem);
        if (strcmp(stem, plugin->name) != 0)
            check_tell(sink, BP_LOG_ERROR,
                       "the file is called '%s' and its plugin '%s': inis find a plugin, its options and its sources "
                       "by the name of the file; call both the same",
                       stem, plugin->name);
        tell_brought(host, host->loader.plugins.items[checked->need_count], sink);
        bp_host_unload_plugin(host, plugin->name);
    } else {
        tell_failure(&heard, bp_host_error(host));
    }
    bp_host_destroy(host);
}

/* --- in a copy of this process, or a helper ----------------------------------------------------------------------- */

static void pass_on(void *data, int32_t level, const char *text)
{
    char line[LINE];
    int length = snprintf(line, sizeof line, "%d%s", (int)level, text);
    for (int i = 0; i < length && i < LINE - 1; i++)
        line[i] = line[i] == '\n' ? ' ' : line[i];
    process_write(data, line, strlen(line));
    process_write(data, "\n", 1);
}

static int in_the_copy(process_t *self, void *data)
{
    check_sink_t sink = {.data = self, .find = pass_on};
    load_and_tell(data, &sink, BP_HOST_CRASH_GUARD, true);
    return 0;
}

int host_check_here(process_t *self, const helper_checked_t *checked)
{
    return in_the_copy(self, (void *)(uintptr_t)checked);
}

static void take_lines(process_t *child, char *line, size_t *length, check_sink_t *sink)
{
    char bytes[256];
    size_t got;
    while ((got = process_read(child, bytes, sizeof bytes)) > 0) {
        for (size_t i = 0; i < got; i++) {
            if (bytes[i] != '\n') {
                line[*length] = bytes[i];
                *length += *length < LINE - 1;
                continue;
            }
            line[*length] = '\0';
            if (*length > 1)
                check_tell(sink, line[0] - '0', "%s", line + 1);
            *length = 0;
        }
    }
}

static void follow(process_t *child, check_sink_t *sink)
{
    char line[LINE];
    size_t length = 0;
    uint64_t until = os_clock_ns() + (uint64_t)DEADLINE_MS * MILLION;
    process_end_t end;
    while ((end = process_state(child)).state == PROCESS_RUNNING && os_clock_ns() < until) {
        take_lines(child, line, &length, sink);
        os_sleep_ns(NAP_NS);
    }
    take_lines(child, line, &length, sink);
    if (end.state == PROCESS_RUNNING)
        check_tell(sink, BP_LOG_ERROR, "loading and unloading it takes more than %d s", DEADLINE_MS / 1000);
    else if (end.state == PROCESS_KILLED)
        check_tell(sink, BP_LOG_ERROR, "loading and unloading it was ended by %s", end.signal);
    else if (end.code == PROCESS_CALLED_EXIT)
        check_tell(sink, BP_LOG_ERROR, "loading or unloading it, it calls exit");
    else if (end.code != 0)
        check_tell(sink, BP_LOG_ERROR, "loading and unloading it ends the process with %d", (int)end.code);
    process_free(child);
}

/* Is the file none of the system's libraries, but one that a plugin among those it needs has a loader for? Where none
 * has, the host that loads it says so. */
static bool is_opened_by_others(const helper_checked_t *checked)
{
    size_t length = strlen(checked->path), suffix = strlen(os_library_suffix);
    return checked->need_count > 0 &&
           (length < suffix || strcmp(checked->path + length - suffix, os_library_suffix) != 0);
}

bp_result_t bp_check_plugin(const char *path, const bp_option_t *options, uint32_t option_count,
                            bp_check_callback found, void *data)
{
    return bp_check_plugin_beside(path, NULL, 0, options, option_count, found, data);
}

bp_result_t bp_check_plugin_beside(const char *path, const char *const *needs, uint32_t need_count,
                                   const bp_option_t *options, uint32_t option_count, bp_check_callback found,
                                   void *data)
{
    memory_t memory;
    error_text_t error = {.calls = NULL};
    char *bytes;
    size_t size;
    check_sink_t sink = {.data = data, .find = found};
    helper_checked_t checked = {path, needs, need_count, options, option_count};
    memory_init(&memory, "check", &(bp_allocator_i){0});
    bp_result_t result = file_read_plain(&memory, path, &bytes, &size, &error);
    if (result != BP_OK) {
        text_t hint;
        check_tell(&sink, BP_LOG_ERROR, "%s%s", error.text, library_near(path, &hint));
        return result;
    }
    bool whole = is_opened_by_others(&checked) || check_image(bytes, size, &sink);
    memory_free(&memory, bytes, size + 1);
    if (!whole)
        return BP_ERROR_ABI;
    helper_file_t file = {.memory = &memory};
    process_t *child = process_can_fork() ? process_fork(&memory, in_the_copy, &checked)
                                          : helper_check(&file, &checked);
    if (child != NULL) {
        follow(child, &sink);
    } else {
        check_tell(&sink, BP_LOG_WARNING, "no other process can be had to load it in, so it is loaded in this one");
        load_and_tell(&checked, &sink, 0, false);
    }
    helper_file_remove(&file);
    return sink.errors == 0 ? BP_OK : BP_ERROR_FAILED;
}
