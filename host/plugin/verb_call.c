/* verb_call.c - calling a verb under the guard, and setting a plugin aside that has crashed.
 *
 * Only the first crash of a plugin is reported (several threads may crash in one step). Its sentence is written down
 * before `aside` says that the plugin is set aside.
 */
#include "verbs_inner.h"

#include "../base/error.h"
#include "../base/file.h"
#include "../os/os.h"
#include "../os/surroundings.h"
#include "elf.h"
#include "holdings.h"
#include "pe.h"

/* --- crashes ------------------------------------------------------------------------------------------------------ */

/* Write "spin.c:17", from the debug information of a library's file; "" where the file has none, or no program here can
 * read it. `offset` is that of the instruction, from where the linker has begun to count. */
static void find_line(const char *file, uint64_t offset, char *line, size_t size)
{
    static const char *const readers[] = {"addr2line", "llvm-addr2line", "eu-addr2line"};
    char address[32];
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)offset);
    line[0] = '\0';
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        const char *const arguments[] = {readers[i], "-e", file, address, NULL};
        if (!os_program_read(readers[i], arguments, line, size))
            continue;
        line[strcspn(line, "\n")] = '\0';
        char *remark = strstr(line, " (discriminator"), *number = strrchr(line, ':');
        if (remark != NULL)
            *remark = '\0';
        if (number == NULL || strncmp(line, "??", 2) == 0 || number[1] == '0' || number[1] == '?')
            line[0] = '\0';
        return;
    }
    line[0] = '\0';
}

/* The plugin that the library with the functions of `plugin` was loaded for: itself, or the opener of its file. */
static const plugin_t *image_of(const plugin_t *plugin)
{
    while (plugin->opener != NULL)
        plugin = plugin->opener;
    return plugin;
}

static bool is_within(const plugin_t *plugin, const guard_crash_t *crash)
{
    return crash->code >= (uintptr_t)plugin->image_begin && crash->code < (uintptr_t)plugin->image_end;
}

/* Append ", in its function 'simulate' (12 bytes into it), at spin.c:17", from the symbols of the file that was opened;
 * nothing where the file has none, or where there is no memory to read it. */
static void name_function(const plugin_t *called, const guard_crash_t *crash, text_t *text)
{
    const plugin_t *plugin = image_of(called);
    char *bytes, name[128], line[256];
    size_t size;
    const char *file = plugin->copy != NULL ? plugin->copy : plugin->path;
    error_text_t ignored = {.calls = NULL};
    memory_t memory; /* not an account: this may be any thread, and the bytes are given back at once */
    if (!is_within(plugin, crash) || crash->heap_locked)
        return;
    memory_init(&memory, "crash", &plugin->all->base->memory.allocator);
    if (file_read(&memory, file, &bytes, &size, &ignored) != BP_OK)
        return;
    uint64_t into, offset = crash->code - (uintptr_t)plugin->image_begin, linked_at = pe_linked_at(bytes, size);
    if (elf_function_at(bytes, size, offset, name, sizeof name, &into) ||
        pe_function_at(bytes, size, offset, name, sizeof name, &into))
        text_append(text, ", in its function '%s' (%llu bytes into it)", name, (unsigned long long)into);
    memory_free(&memory, bytes, size + 1);
    find_line(file, linked_at + offset, line, sizeof line);
    if (line[0] != '\0')
        text_append(text, ", at %s", line);
}

/* Append "'simulate' of component 'spin', world 'main', step 17". */
static void name_verb(const call_t *call, text_t *text)
{
    text_append(text, "'%s'", call->verb);
    if (call->component != NULL)
        text_append(text, " of component '%s'", call->component->name);
    if (call->system != NULL)
        text_append(text, " of system '%s'", call->system->name);
    if (call->place != NULL)
        text_append(text, ", world '%s', step %llu", call->place->world, (unsigned long long)*call->place->steps);
}

/* The plugin that a crash is attributed to: the owner of the image in which the instruction lies. Where there is no
 * such image, and where it is the image of the plugin that has opened the called plugin's file, the called plugin. */
static plugin_t *culprit(plugin_t *called, const guard_crash_t *crash)
{
    const plugins_t *all = called->all;
    const plugin_t *opener = image_of(called);
    if (opener != called && is_within(opener, crash))
        return called;
    for (uint32_t i = 0; i < all->count; i++) {
        if (crash->code != 0 && is_within(all->items[i], crash))
            return all->items[i];
    }
    return called;
}

static void describe_crash(plugin_t *plugin, const call_t *call, const guard_crash_t *crash, text_t *text)
{
    text->length = 0;
    text->chars[0] = '\0';
    if (crash->plugins)
        text_append(text, "plugin '%s' %s %s in ", plugin->name, plugin->version, crash->harm ? "did harm" : "crashed");
    else
        text_append(text, "the host itself crashed, called by plugin '%s' %s in ", plugin->name, plugin->version);
    name_verb(call, text);
    if (plugin != call->plugin)
        text_append(text, " (of plugin '%s', which had called it)", call->plugin->name);
    text_append(text, ": %s", crash->reason);
    name_function(plugin, crash, text);
}

static void set_aside(const call_t *call, const guard_crash_t *crash)
{
    plugin_t *plugin = culprit(call->plugin, crash);
    uint32_t sound = PLUGIN_SOUND;
    if (!atomic_compare_exchange_strong(&plugin->aside, &sound, PLUGIN_CRASHING))
        return;
    text_t text;
    describe_crash(plugin, call, crash, &text);
    snprintf(plugin->crash, sizeof plugin->crash, "%s", text.chars);
    atomic_store_explicit(&plugin->aside, PLUGIN_ASIDE, memory_order_release);
    atomic_store(&plugin->all->crashed, true);
    log_write(&plugin->all->base->log, BP_LOG_ERROR, "host", "%s", plugin->crash);
}

void verb_tell_death(void *data, const guard_crash_t *crash)
{
    const call_t *call = data;
    plugin_t *plugin = culprit(call->plugin, crash);
    text_t text;
    describe_crash(plugin, call, crash, &text);
    bool unguarded = crash->plugins && !crash->heap_locked;
    log_write(&plugin->all->base->log, BP_LOG_ERROR, "host", "%s; that ends the program%s", text.chars,
              unguarded ? ", as there is no crash guard (crash_guard = on)" : "");
}

/* --- calling ------------------------------------------------------------------------------------------------------ */

static bool may_call(const plugin_t *plugin)
{
    return atomic_load_explicit(&plugin->aside, memory_order_relaxed) == PLUGIN_SOUND;
}

/* May other threads call plugins at this moment? */
static bool is_beside_others(const call_t *call)
{
    return call->plugin->all->base->error.shared;
}

/* Log what a call has changed of the process, after it has been put back. */
static void tell_changes(const call_t *call, const char *changes)
{
    text_t text = {.length = 0};
    text.chars[0] = '\0';
    name_verb(call, &text);
    log_write(&call->plugin->all->base->log, BP_LOG_WARNING, "host",
              "plugin '%s' %s%s has changed in %s: %s; what can be put back has been", call->plugin->name,
              call->plugin->version, call->whole && is_beside_others(call) ? ", or one that ran beside it," : "",
              text.chars, changes);
}

static call_view_t view_of(const call_t *call)
{
    return (call_view_t){call->plugin, call->component, call->system, call->place, call->rows, call->prototype,
                         call->count, call->handed};
}

/* Is the call looked at? */
static bool begin_watching(call_watch_t *watch, const call_t *call)
{
    call_view_t view = view_of(call);
    if (watch->depth++ == 0)
        return watch->before(watch->data, &view);
    watch->within(watch->data, &view);
    return true;
}

/* Log what has come in a call and is still there. A plugin may hold what it has got at its beginning; the log is told
 * so that it can be found out. What comes in a step may come in each of them. */
static void tell_holdings(const call_t *call, const char *came)
{
    text_t text = {.length = 0};
    text.chars[0] = '\0';
    name_verb(call, &text);
    log_write(&call->plugin->all->base->log, call->rare ? BP_LOG_DEBUG : BP_LOG_WARNING, "host",
              "plugin '%s' %s has left in %s: %s", call->plugin->name, call->plugin->version, text.chars, came);
}

/* Make a call and check afterwards for damage: the memory around the columns, and the settings of the process. */
static bool watched_call(call_t *call, void (*function)(void *data))
{
    guard_crash_t crash, harm = {.plugins = true, .harm = true};
    call_watch_t *watch = call->plugin->all->watch;
    holdings_seen_t seen = {.items = NULL};
    if (call->rare || (call->whole && !is_beside_others(call)))
        holdings_see(call->plugin->all, &seen);
    bool looks = watch == NULL || begin_watching(watch, call);
    os_surroundings_t *before =
        os_surroundings_take(call->rare || call->whole || (call->plugin->all->strict && looks));
    char changes[200], came[128];
    bool returned = guard_run(call->plugin->guard, function, call, &crash);
    bool well = watch == NULL || --watch->depth > 0 || watch->after(watch->data, harm.reason, sizeof harm.reason);
    if (!returned && watch != NULL)
        watch->explain(watch->data, &crash);
    bool changed = os_surroundings_put_back(before, changes, sizeof changes);
    if (holdings_note(call->plugin->all, call->plugin, &seen, came, sizeof came))
        tell_holdings(call, came);
    if (changed && call->plugin->all->strict && well) {
        snprintf(harm.reason, sizeof harm.reason, "it changed %s", changes);
        well = false;
    } else if (changed && returned) {
        tell_changes(call, changes);
    }
    if (!returned)
        set_aside(call, &crash);
    else if (!well)
        set_aside(call, &harm);
    return returned && well;
}

bool verb_call(call_t *call, const char *verb, void (*function)(void *data))
{
    guard_crash_t crash;
    call->verb = verb;
    if (!may_call(call->plugin))
        return false;
    /* First: a thread that is new to the guard gets its stack for handlers. */
    uint32_t sample = guard_samples(call->count);
    call->whole = sample == GUARD_SAMPLE_ALL && !atomic_flag_test_and_set(&call->plugin->all->examining);
    if (sample != GUARD_SAMPLE_NONE || call->rare || call->plugin->all->strict || call->plugin->all->watch != NULL) {
        bool well = watched_call(call, function);
        if (call->whole)
            atomic_flag_clear(&call->plugin->all->examining);
        return well;
    }
    if (guard_run(call->plugin->guard, function, call, &crash))
        return true;
    set_aside(call, &crash);
    return false;
}

verb_made_t verb_call_made(call_t *call, const char *verb, void (*function)(void *data))
{
    bool called = may_call(call->plugin);
    if (verb_call(call, verb, function))
        return VERB_MADE;
    return called ? VERB_ENDED : VERB_NOT_MADE;
}

bp_result_t verb_call_with_result(call_t *call, const char *verb, void (*function)(void *data))
{
    error_text_t *error = &call->plugin->all->base->error;
    bool called = may_call(call->plugin);
    if (verb_call(call, verb, function))
        return call->result;
    if (called)
        return error_set(error, BP_ERROR_FAILED, "%s",
                         call->plugin->crash[0] != '\0' ? call->plugin->crash : "a plugin that it called crashed");
    return error_set(error, BP_ERROR_STATE, "plugin '%s' is set aside until a good version of it is loaded: %s",
                     call->plugin->name, call->plugin->crash);
}
