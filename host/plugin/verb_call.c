/* verb_call.c - calling under the guard, and setting aside whoever crashed.
 *
 * The first crash of a plugin wins the right to tell (several threads may crash in one step); it is written down before `aside`
 * says so.
 */
#include "verb_call.h"

#include "../base/file.h"
#include "../base/text.h"
#include "elf_view.h"

/* --- crashes --------------------------------------------------------------------------------------------------------- */

/* " in the function 'simulate'", from the symbols of the file that was opened; "" where it has none. */
static void name_function(plugin_t *plugin, const guard_crash_t *crash, text_t *text)
{
    char *bytes, name[128];
    size_t size;
    error_text_t ignored = {.quiet = false};
    memory_t memory; /* not an account: this may be any thread, and the bytes are given back at once */
    if (crash->code < (uintptr_t)plugin->image_begin || crash->code >= (uintptr_t)plugin->image_end)
        return;
    memory_init(&memory, "crash", &plugin->loader->base->memory.allocator);
    if (file_read(&memory, plugin->copy != NULL ? plugin->copy : plugin->path, &bytes, &size, &ignored) != BP_OK)
        return;
    uint64_t into;
    if (elf_function_at(bytes, size, crash->code - (uintptr_t)plugin->image_begin, name, sizeof name, &into))
        text_append(text, ", in its function '%s' (%llu bytes into it)", name, (unsigned long long)into);
    memory_free(&memory, bytes, size + 1);
}

/* "'simulate' of component 'spin', world 'main', step 17" */
static void name_verb(const call_t *call, const char *verb, text_t *text)
{
    bp_world_o *world = call->m != NULL ? call->m->world : call->s != NULL ? call->s->world : NULL;
    text_append(text, "'%s'", verb);
    if (call->component != NULL)
        text_append(text, " of component '%s'", call->component->name);
    if (call->system != NULL)
        text_append(text, " of system '%s'", call->system->name);
    if (world == NULL)
        return;
    const bp_world_api *worlds = call->plugin->loader->api->world;
    bp_step_t now = {.struct_size = sizeof now};
    worlds->clock(world, &now);
    text_append(text, ", world '%s', step %llu", worlds->name(world), (unsigned long long)now.number);
}

/* Whose code crashed: the plugin whose image it lies in; the one that was called, where that is nobody's. */
static plugin_t *culprit(plugin_t *called, const guard_crash_t *crash)
{
    const loader_t *loader = called->loader;
    for (uint32_t i = 0; i < loader->count; i++) {
        const plugin_t *p = loader->plugins[i];
        if (crash->code != 0 && crash->code >= (uintptr_t)p->image_begin && crash->code < (uintptr_t)p->image_end)
            return loader->plugins[i];
    }
    return called;
}

static void set_aside(const call_t *call, const char *verb, const guard_crash_t *crash)
{
    plugin_t *plugin = culprit(call->plugin, crash);
    uint32_t sound = PLUGIN_SOUND;
    if (!atomic_compare_exchange_strong(&plugin->aside, &sound, PLUGIN_CRASHING))
        return;
    text_t text = {.length = 0};
    text.chars[0] = '\0';
    text_append(&text, "plugin '%s' %s crashed in ", plugin->name, plugin->version);
    name_verb(call, verb, &text);
    if (plugin != call->plugin)
        text_append(&text, " (of plugin '%s', which had called it)", call->plugin->name);
    text_append(&text, ": %s", crash->reason);
    name_function(plugin, crash, &text);
    snprintf(plugin->crash, sizeof plugin->crash, "%s", text.chars);
    atomic_store_explicit(&plugin->aside, PLUGIN_ASIDE, memory_order_release);
    atomic_store(&plugin->loader->crashes, true);
    log_write(&plugin->loader->base->log, BP_LOG_ERROR, "host", "%s", plugin->crash);
}

/* --- calling ---------------------------------------------------------------------------------------------------------- */

static bool may_call(const plugin_t *plugin)
{
    return atomic_load_explicit(&plugin->aside, memory_order_relaxed) == PLUGIN_SOUND;
}

bool verb_call(call_t *call, const char *verb, void (*function)(void *data))
{
    guard_crash_t crash;
    if (!may_call(call->plugin))
        return false;
    if (guard_run(call->plugin->guard, function, call, &crash))
        return true;
    set_aside(call, verb, &crash);
    return false;
}

bp_result_t verb_call_with_result(call_t *call, const char *verb, void (*function)(void *data))
{
    error_text_t *error = &call->plugin->loader->base->error;
    bool called = may_call(call->plugin);
    if (verb_call(call, verb, function))
        return call->result;
    if (called)
        return error_set(error, BP_ERROR_FAILED, "%s", call->plugin->crash[0] != '\0' ? call->plugin->crash : "a plugin that it called crashed");
    return error_set(error, BP_ERROR_STATE, "plugin '%s' is set aside until a good version of it is loaded: %s", call->plugin->name,
                     call->plugin->crash);
}
