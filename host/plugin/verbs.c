/* verbs.c - the verbs of plugins, of components, of tables and of systems, under the guard where there is one.
 *
 * A plugin without a guard is called directly; for one under a guard, the arguments go through a call_t.
 */
#include "verbs.h"

#include "../base/error.h"
#include "../base/file.h"
#include "../os/os.h"
#include "../os/surroundings.h"
#include "elf.h"
#include "pe.h"
#include "registry.h"

/* --- verb call --------------------------------------------------------------------------------------------------- */

/* One call of a plugin under the crash guard, and the report where the call crashes.
 *
 * The guard runs a function of one argument, so each verb that is guarded has two halves: one packs the arguments into
 * a call_t, the other unpacks them and calls.
 *
 * Not here: any particular verb.
 */

/* The arguments and the result of a verb: each verb uses its own part. */
typedef struct call_t {
    const component_t *component;
    const system_t *system;
    const bp_task_t *task;
    plugin_t *plugin;
    bp_manager_t *m;
    bp_system_t *s;
    const verb_place_t *place;    /* NULL: in no world */
    const bp_step_t *step;
    const void *in;               /* run, match(es), entities, slots to read, values to write, saved bytes */
    const void *more;             /* columns, data */
    void *out;                    /* slots, values, random, data, report */
    size_t *out_size;
    const uint32_t *slots;
    bp_name_t instance;
    size_t size;                  /* stride, or bytes */
    uint32_t count, number;       /* number: of a field, a version */
    uint32_t answer;
    bp_result_t result;
    void (*function)(void *data); /* of a table: called with `out` */
    const char *verb;             /* its name */
    bool rare;                    /* all surroundings are looked at */
} call_t;

/* Call under the guard. false: the call was ended, or not made at all, as the plugin is set aside. */
static bool verb_call(call_t *call, const char *verb, void (*function)(void *data));

/* Like verb_call, for verbs with a result, which are called on the main thread alone. */
static bp_result_t verb_call_with_result(call_t *call, const char *verb, void (*function)(void *data));

/* --- the plugin --------------------------------------------------------------------------------------------------- */

static void call_load(void *data)
{
    call_t *c = data;
    c->result = c->plugin->desc.load(&c->plugin->handed);
}

bp_result_t verb_load(plugin_t *plugin)
{
    if (plugin->guard == NULL)
        return plugin->desc.load(&plugin->handed);
    return verb_call_with_result(&(call_t){.plugin = plugin, .rare = true}, "load", call_load);
}

static void call_unload(void *data)
{
    const call_t *c = data;
    c->plugin->desc.unload(&c->plugin->handed);
}

void verb_unload(plugin_t *plugin)
{
    if (plugin->guard == NULL)
        plugin->desc.unload(&plugin->handed);
    else
        verb_call(&(call_t){.plugin = plugin, .rare = true}, "unload", call_unload);
}

static void call_pause(void *data)
{
    const call_t *c = data;
    c->plugin->desc.pause(&c->plugin->handed, c->number);
}

void verb_pause(plugin_t *plugin, uint32_t reason)
{
    if (plugin->guard == NULL)
        plugin->desc.pause(&plugin->handed, reason);
    else
        verb_call(&(call_t){.plugin = plugin, .number = reason, .rare = true}, "pause", call_pause);
}

static void call_resume(void *data)
{
    call_t *c = data;
    c->result = c->plugin->desc.resume(&c->plugin->handed, c->number);
}

bp_result_t verb_resume(plugin_t *plugin, uint32_t reason)
{
    if (plugin->guard == NULL)
        return plugin->desc.resume(&plugin->handed, reason);
    return verb_call_with_result(&(call_t){.plugin = plugin, .number = reason, .rare = true}, "resume", call_resume);
}

static void call_plugin_died(void *data)
{
    const call_t *c = data;
    c->plugin->deaths.died(&c->plugin->handed, c->in);
}

void verb_plugin_died(plugin_t *plugin, const bp_death_t *batch)
{
    if (plugin->guard == NULL)
        plugin->deaths.died(&plugin->handed, batch);
    else
        verb_call(&(call_t){.plugin = plugin, .in = batch}, "died", call_plugin_died);
}

static void call_task(void *data)
{
    const call_t *c = data;
    c->task->run(&c->plugin->handed, c->in, c->size);
}

void verb_task(plugin_t *plugin, const bp_task_t *task, const void *bytes, size_t size)
{
    char what[80];
    if (plugin->guard == NULL) {
        task->run(&plugin->handed, bytes, size);
        return;
    }
    snprintf(what, sizeof what, "task %s", task->name);
    verb_call(&(call_t){.plugin = plugin, .task = task, .in = bytes, .size = size}, what, call_task);
}

/* --- components --------------------------------------------------------------------------------------------------- */

#define COMPONENT_CALL(...) \
    &(call_t) { .component = component, .plugin = component->owner, .m = &m->handed, .place = m->place, __VA_ARGS__ }

static void call_start(void *data)
{
    call_t *c = data;
    c->result = c->component->table.start(c->m);
}

bp_result_t verb_start(const component_t *component, verb_manager_t *m)
{
    if (component->owner->guard == NULL)
        return component->table.start(&m->handed);
    return verb_call_with_result(COMPONENT_CALL(.result = BP_OK, .rare = true), "start", call_start);
}

static void call_stop(void *data)
{
    const call_t *c = data;
    c->component->table.stop(c->m);
}

void verb_stop(const component_t *component, verb_manager_t *m)
{
    if (component->owner->guard == NULL)
        component->table.stop(&m->handed);
    else
        verb_call(COMPONENT_CALL(.result = BP_OK, .rare = true), "stop", call_stop);
}

static void call_simulate(void *data)
{
    const call_t *c = data;
    c->component->table.simulate(c->in, c->count);
}

void verb_simulate(const component_t *component, verb_manager_t *m, const bp_run_t *run)
{
    if (component->owner->guard == NULL)
        component->table.simulate(run, run->count);
    else
        verb_call(COMPONENT_CALL(.in = run, .count = run->count), "simulate", call_simulate);
}

static void call_create(void *data)
{
    call_t *c = data;
    c->result = c->component->storage.create(c->m, c->instance, c->in, c->count, c->more, c->out);
}

bp_result_t verb_create(const component_t *component, verb_manager_t *m, bp_name_t instance,
                        const bp_entity_t *entities, uint32_t count, const void *const *columns, uint32_t *slots)
{
    plugins_t *all = component->owner->all;
    all->calling++;
    bp_result_t result;
    if (component->owner->guard == NULL)
        result = component->storage.create(&m->handed, instance, entities, count, columns, slots);
    else
        result = verb_call_with_result(COMPONENT_CALL(.instance = instance, .in = entities, .count = count,
                                                      .more = columns, .out = slots),
                                       "create", call_create);
    all->calling--;
    return result;
}

static void call_destroy(void *data)
{
    const call_t *c = data;
    c->component->storage.destroy(c->m, c->slots, c->count);
}

void verb_destroy(const component_t *component, verb_manager_t *m, const uint32_t *slots, uint32_t count)
{
    plugins_t *all = component->owner->all;
    all->calling++;
    if (component->owner->guard == NULL)
        component->storage.destroy(&m->handed, slots, count);
    else
        verb_call(COMPONENT_CALL(.slots = slots, .count = count), "destroy", call_destroy);
    m->missed_deaths = m->missed_deaths || atomic_load(&component->owner->aside) != 0;
    all->calling--;
}

static void call_get(void *data)
{
    call_t *c = data;
    c->result = c->component->storage.get(c->m, c->number, c->slots, c->count, c->out, c->size);
}

bp_result_t verb_get(const component_t *component, verb_manager_t *m, uint32_t field, const uint32_t *slots,
                     uint32_t count, void *values, size_t stride)
{
    if (component->owner->guard == NULL)
        return component->storage.get(&m->handed, field, slots, count, values, stride);
    return verb_call_with_result(COMPONENT_CALL(.number = field, .slots = slots, .count = count, .out = values,
                                                .size = stride),
                                 "get", call_get);
}

static void call_set(void *data)
{
    call_t *c = data;
    c->result = c->component->storage.set(c->m, c->number, c->slots, c->count, c->in, c->size);
}

bp_result_t verb_set(const component_t *component, verb_manager_t *m, uint32_t field, const uint32_t *slots,
                     uint32_t count, const void *values, size_t stride)
{
    if (component->owner->guard == NULL)
        return component->storage.set(&m->handed, field, slots, count, values, stride);
    return verb_call_with_result(COMPONENT_CALL(.number = field, .slots = slots, .count = count, .in = values,
                                                .size = stride),
                                 "set", call_set);
}

static void call_count(void *data)
{
    call_t *c = data;
    c->answer = c->component->storage.count(c->m);
}

uint32_t verb_count(const component_t *component, verb_manager_t *m)
{
    if (component->owner->guard == NULL)
        return component->storage.count(&m->handed);
    call_t *call = COMPONENT_CALL(.answer = 0);
    return verb_call(call, "count", call_count) ? call->answer : 0;
}

static void call_gc(void *data)
{
    call_t *c = data;
    c->answer = c->component->storage.gc(c->m, c->out);
}

uint32_t verb_gc(const component_t *component, verb_manager_t *m, uint64_t *random)
{
    plugins_t *all = component->owner->all;
    call_t *call = COMPONENT_CALL(.out = random);
    all->calling++;
    if (component->owner->guard == NULL)
        call->answer = component->storage.gc(&m->handed, random);
    else if (!verb_call(call, "gc", call_gc))
        call->answer = 0;
    all->calling--;
    return call->answer;
}

static void call_died(void *data)
{
    const call_t *c = data;
    c->component->deaths.died(c->m, c->in);
}

void verb_died(const component_t *component, verb_manager_t *m, const bp_death_t *batch)
{
    if (component->owner->guard == NULL)
        component->deaths.died(&m->handed, batch);
    else
        verb_call(COMPONENT_CALL(.in = batch), "died", call_died);
}

static void call_rows_added(void *data)
{
    call_t *c = data;
    c->result = c->component->rows.rows_added(c->in, c->count);
}

bp_result_t verb_rows_added(const component_t *component, verb_manager_t *m, const bp_run_t *rows)
{
    if (component->owner->guard == NULL)
        return component->rows.rows_added(rows, rows->count);
    return verb_call_with_result(COMPONENT_CALL(.in = rows, .count = rows->count), "rows_added", call_rows_added);
}

static void call_rows_removed(void *data)
{
    const call_t *c = data;
    c->component->rows.rows_removed(c->in, c->count);
}

void verb_rows_removed(const component_t *component, verb_manager_t *m, const bp_run_t *rows)
{
    if (component->owner->guard == NULL)
        component->rows.rows_removed(rows, rows->count);
    else
        verb_call(COMPONENT_CALL(.in = rows, .count = rows->count), "rows_removed", call_rows_removed);
}

static void call_rows_set(void *data)
{
    call_t *c = data;
    c->result = c->component->rows.rows_set(c->in, c->count, c->number);
}

bp_result_t verb_rows_set(const component_t *component, verb_manager_t *m, const bp_run_t *rows, uint32_t field)
{
    if (component->owner->guard == NULL)
        return component->rows.rows_set(rows, rows->count, field);
    return verb_call_with_result(COMPONENT_CALL(.in = rows, .count = rows->count, .number = field), "rows_set",
                                 call_rows_set);
}

static void call_save(void *data)
{
    call_t *c = data;
    c->result = c->component->saving.save(c->m, c->out, c->out_size);
}

bp_result_t verb_save(const component_t *component, verb_manager_t *m, void **data, size_t *size)
{
    if (component->owner->guard == NULL)
        return component->saving.save(&m->handed, data, size);
    return verb_call_with_result(COMPONENT_CALL(.out = data, .out_size = size), "save", call_save);
}

static void call_load_saved(void *data)
{
    call_t *c = data;
    c->result = c->component->saving.load(c->m, c->number, c->in, c->size);
}

bp_result_t verb_load_saved(const component_t *component, verb_manager_t *m, uint32_t version, const void *data,
                            size_t size)
{
    if (component->owner->guard == NULL)
        return component->saving.load(&m->handed, version, data, size);
    return verb_call_with_result(COMPONENT_CALL(.number = version, .in = data, .size = size), "load", call_load_saved);
}

static void call_report(void *data)
{
    const call_t *c = data;
    c->component->reporting.report(c->m, c->out);
}

void verb_report(const component_t *component, verb_manager_t *m, bp_report_o *report)
{
    plugins_t *all = component->owner->all;
    all->calling++;
    if (component->owner->guard == NULL)
        component->reporting.report(&m->handed, report);
    else
        verb_call(COMPONENT_CALL(.out = report), "report", call_report);
    all->calling--;
}

/* --- tables ------------------------------------------------------------------------------------------------------- */

static void call_function(void *data)
{
    const call_t *c = data;
    c->function(c->out);
}

bool verb_of_table(plugin_t *owner, const char *what, void (*function)(void *data), void *data)
{
    if (owner->guard != NULL)
        return verb_call(&(call_t){.plugin = owner, .function = function, .out = data}, what, call_function);
    function(data);
    return true;
}

/* --- files -------------------------------------------------------------------------------------------------------- */

typedef struct opening_t {
    plugin_t *opener;
    const bp_loader_t *kind;
    const char *path, *bytes;
    size_t size;
    const bp_plugin_head_t *head;
    void *content;
    bp_result_t result;
} opening_t;

static void call_open(void *data)
{
    opening_t *o = data;
    o->result = o->kind->open(&o->opener->handed, o->path, o->bytes, o->size, &o->head, &o->content);
}

bp_result_t verb_open(plugin_t *opener, const bp_loader_t *kind, const char *path, const char *bytes, size_t size,
                      const bp_plugin_head_t **head, void **content)
{
    error_text_t *error = &opener->all->base->error;
    opening_t opening = {.opener = opener, .kind = kind, .path = path, .bytes = bytes, .size = size};
    error->text[0] = '\0';
    opener->all->calling++;
    bool returned = verb_of_table(opener, "open", call_open, &opening);
    opener->all->calling--;
    if (!returned)
        return error_set(error, BP_ERROR_FAILED, "%s: plugin '%s', which opens it, has crashed: %s", path, opener->name,
                         plugin_crash(opener));
    if (opening.result != BP_OK && error->text[0] == '\0')
        error_set(error, opening.result, "%s: plugin '%s' does not open it and gave no reason (code %d)", path,
                  opener->name, opening.result);
    *head = opening.head;
    *content = opening.content;
    return opening.result;
}

static void call_close(void *data)
{
    opening_t *o = data;
    o->kind->close(&o->opener->handed, o->content);
}

void verb_close(plugin_t *opener, const bp_loader_t *kind, void *content)
{
    opening_t opening = {.opener = opener, .kind = kind, .content = content};
    opener->all->calling++;
    verb_of_table(opener, "close", call_close, &opening);
    opener->all->calling--;
}

/* --- verbs system ------------------------------------------------------------------------------------------------ */

/* The verbs of systems, under the guard where there is one. */

#define SYSTEM_CALL(...) \
    &(call_t) { .system = system, .plugin = system->owner, .s = &s->handed, .place = s->place, __VA_ARGS__ }

/* In a clone of a host: nothing leaves it, and output that was begun there would take files from the original. */
static bool is_kept_in(const system_t *system)
{
    return system->owner->all->clone && (system->table.flags & BP_SYSTEM_OUTPUT) != 0;
}

static void call_system_start(void *data)
{
    call_t *c = data;
    c->result = c->system->table.start(c->s);
}

bp_result_t verb_system_start(const system_t *system, verb_system_t *s)
{
    if (is_kept_in(system))
        return BP_OK;
    if (system->owner->guard == NULL)
        return system->table.start(&s->handed);
    return verb_call_with_result(SYSTEM_CALL(.result = BP_OK, .rare = true), "start", call_system_start);
}

static void call_system_stop(void *data)
{
    const call_t *c = data;
    c->system->table.stop(c->s);
}

void verb_system_stop(const system_t *system, verb_system_t *s)
{
    if (is_kept_in(system))
        return;
    if (system->owner->guard == NULL)
        system->table.stop(&s->handed);
    else
        verb_call(SYSTEM_CALL(.result = BP_OK, .rare = true), "stop", call_system_stop);
}

static void call_run(void *data)
{
    const call_t *c = data;
    c->system->table.run(c->in, c->count);
}

void verb_run(const system_t *system, verb_system_t *s, const bp_match_t *match)
{
    if (system->owner->guard == NULL)
        system->table.run(match, match->count);
    else
        verb_call(SYSTEM_CALL(.in = match, .count = match->count), "run", call_run);
}

static void call_run_all(void *data)
{
    const call_t *c = data;
    c->system->table.run_all(c->s, c->step, c->in, c->count);
}

void verb_run_all(const system_t *system, verb_system_t *s, const bp_step_t *step, const bp_match_t *matches,
                  uint32_t count)
{
    if (system->owner->guard == NULL)
        system->table.run_all(&s->handed, step, matches, count);
    else
        verb_call(SYSTEM_CALL(.step = step, .in = matches, .count = count), "run_all", call_run_all);
}

static void call_entities_added(void *data)
{
    const call_t *c = data;
    c->system->table.entities_added(c->s, c->in, c->count);
}

void verb_entities_added(const system_t *system, verb_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    if (is_kept_in(system))
        return;
    if (system->owner->guard == NULL)
        system->table.entities_added(&s->handed, entities, count);
    else
        verb_call(SYSTEM_CALL(.in = entities, .count = count), "entities_added", call_entities_added);
}

static void call_entities_removed(void *data)
{
    const call_t *c = data;
    c->system->table.entities_removed(c->s, c->in, c->count);
}

void verb_entities_removed(const system_t *system, verb_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    if (is_kept_in(system))
        return;
    if (system->owner->guard == NULL)
        system->table.entities_removed(&s->handed, entities, count);
    else
        verb_call(SYSTEM_CALL(.in = entities, .count = count), "entities_removed", call_entities_removed);
}

static void call_system_save(void *data)
{
    call_t *c = data;
    c->result = c->system->saving.save(c->s, c->out, c->out_size);
}

bp_result_t verb_system_save(const system_t *system, verb_system_t *s, void **data, size_t *size)
{
    if (system->owner->guard == NULL)
        return system->saving.save(&s->handed, data, size);
    return verb_call_with_result(SYSTEM_CALL(.out = data, .out_size = size), "save", call_system_save);
}

static void call_system_load(void *data)
{
    call_t *c = data;
    c->result = c->system->saving.load(c->s, c->in, c->size);
}

bp_result_t verb_system_load(const system_t *system, verb_system_t *s, const void *data, size_t size)
{
    if (system->owner->guard == NULL)
        return system->saving.load(&s->handed, data, size);
    return verb_call_with_result(SYSTEM_CALL(.in = data, .size = size), "load", call_system_load);
}

static void call_system_died(void *data)
{
    const call_t *c = data;
    c->system->deaths.died(c->s, c->in);
}

void verb_system_died(const system_t *system, verb_system_t *s, const bp_death_t *batch)
{
    if (is_kept_in(system))
        return;
    if (system->owner->guard == NULL)
        system->deaths.died(&s->handed, batch);
    else
        verb_call(SYSTEM_CALL(.in = batch), "died", call_system_died);
}

static void call_rewound(void *data)
{
    const call_t *c = data;
    c->system->rewinding.rewound(c->s, c->in);
}

void verb_rewound(const system_t *system, verb_system_t *s, const bp_step_t *now)
{
    plugins_t *all = system->owner->all;
    if (is_kept_in(system))
        return;
    all->calling++;
    if (system->owner->guard == NULL)
        system->rewinding.rewound(&s->handed, now);
    else
        verb_call(SYSTEM_CALL(.in = now), "rewound", call_rewound);
    all->calling--;
}

static void call_system_report(void *data)
{
    const call_t *c = data;
    c->system->reporting.report(c->s, c->out);
}

void verb_system_report(const system_t *system, verb_system_t *s, bp_report_o *report)
{
    plugins_t *all = system->owner->all;
    if (is_kept_in(system))
        return;
    all->calling++;
    if (system->owner->guard == NULL)
        system->reporting.report(&s->handed, report);
    else
        verb_call(SYSTEM_CALL(.out = report), "report", call_system_report);
    all->calling--;
}

/* --- verb call --------------------------------------------------------------------------------------------------- */

/* Calling under the guard, and setting aside whoever crashed.
 *
 * The first crash of a plugin wins the right to tell (several threads may crash in one step). Its sentence is written
 * down before `aside` says that the plugin is set aside.
 */

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

/* The plugin in whose library the functions of a plugin lie: itself, or the one that has opened its file. */
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
 * nothing where the file has none. */
static void name_function(const plugin_t *called, const guard_crash_t *crash, text_t *text)
{
    const plugin_t *plugin = image_of(called);
    char *bytes, name[128], line[256];
    size_t size;
    const char *file = plugin->copy != NULL ? plugin->copy : plugin->path;
    error_text_t ignored = {.calls = NULL};
    memory_t memory; /* not an account: this may be any thread, and the bytes are given back at once */
    if (!is_within(plugin, crash))
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

/* The plugin whose code crashed: the one whose image the instruction lies in. The one called, where there is none, and
 * where the image is that of the plugin that has opened the file of the one called. */
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
    log_write(&plugin->all->base->log, BP_LOG_ERROR, "host", "%s; that ends the program%s", text.chars,
              crash->plugins ? ", as there is no crash guard (crash_guard = on)" : "");
}

/* --- calling ------------------------------------------------------------------------------------------------------ */

static bool may_call(const plugin_t *plugin)
{
    return atomic_load_explicit(&plugin->aside, memory_order_relaxed) == PLUGIN_SOUND;
}

/* Log what a call has changed of the process, after it has been put back. */
static void tell_changes(const call_t *call, const char *changes)
{
    text_t text = {.length = 0};
    text.chars[0] = '\0';
    name_verb(call, &text);
    log_write(&call->plugin->all->base->log, BP_LOG_WARNING, "host",
              "plugin '%s' %s has changed in %s: %s; what can be put back has been", call->plugin->name,
              call->plugin->version, text.chars, changes);
}

/* Make a call and look at what it may have harmed: the memory around the columns, and what belongs to the process. */
static bool watched_call(call_t *call, void (*function)(void *data))
{
    guard_crash_t crash, harm = {.plugins = true, .harm = true};
    call_watch_t *watch = call->plugin->all->watch;
    os_surroundings_t *before = os_surroundings_take(call->rare);
    char changes[128];
    if (watch != NULL && watch->depth++ == 0)
        watch->before(watch->data);
    bool returned = guard_run(call->plugin->guard, function, call, &crash);
    bool well = watch == NULL || --watch->depth > 0 || watch->after(watch->data, harm.reason, sizeof harm.reason);
    bool changed = os_surroundings_put_back(before, changes, sizeof changes);
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

static bool verb_call(call_t *call, const char *verb, void (*function)(void *data))
{
    guard_crash_t crash;
    call->verb = verb;
    if (!may_call(call->plugin))
        return false;
    bool sampled = guard_samples(); /* first: a thread that is new to the guard gets its stack for handlers */
    if (sampled || call->rare || call->plugin->all->strict || call->plugin->all->watch != NULL)
        return watched_call(call, function);
    if (guard_run(call->plugin->guard, function, call, &crash))
        return true;
    set_aside(call, &crash);
    return false;
}

static bp_result_t verb_call_with_result(call_t *call, const char *verb, void (*function)(void *data))
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
