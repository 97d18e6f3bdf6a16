/* verbs.c - the verbs of plugins, of components, of tables, of files and of systems, under the guard where there is
 * one.
 *
 * A plugin without a guard is called directly; for one under a guard, the arguments go through a call_t.
 */
#include "verbs_inner.h"

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
        verb_call(COMPONENT_CALL(.in = run, .count = run->count, .rows = CALL_UNIT, .prototype = run->prototype,
                                 .handed = run->entities), "simulate", call_simulate);
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

verb_made_t verb_destroy(const component_t *component, verb_manager_t *m, const uint32_t *slots, uint32_t count)
{
    plugins_t *all = component->owner->all;
    verb_made_t made = VERB_MADE;
    all->calling++;
    if (component->owner->guard == NULL)
        component->storage.destroy(&m->handed, slots, count);
    else
        made = verb_call_made(COMPONENT_CALL(.slots = slots, .count = count), "destroy", call_destroy);
    all->calling--;
    return made;
}


/* Verbs that give or take values - `get`, `set`, `count`, `save`, `load` of what was saved - change nothing but what
 * they are asked for: until `after`, calls of the host that change something are refused. Not set where units run side
 * by side: other threads make calls meanwhile, and none of these calls changes anything at once. */
static uint32_t before_asking(const plugin_t *plugin)
{
    base_t *base = plugin->all->base;
    uint32_t attention = base->attention;
    if (!base->error.shared)
        base->attention = attention | BASE_ASKED;
    return attention;
}

static void after_asking(const plugin_t *plugin, uint32_t attention)
{
    base_t *base = plugin->all->base;
    if (!base->error.shared)
        base->attention = attention;
}

static void call_get(void *data)
{
    call_t *c = data;
    c->result = c->component->storage.get(c->m, c->number, c->slots, c->count, c->out, c->size);
}

bp_result_t verb_get(const component_t *component, verb_manager_t *m, uint32_t field, const uint32_t *slots,
                     uint32_t count, void *values, size_t stride)
{
    uint32_t attention = before_asking(component->owner);
    bp_result_t result;
    if (component->owner->guard == NULL)
        result = component->storage.get(&m->handed, field, slots, count, values, stride);
    else
        result = verb_call_with_result(COMPONENT_CALL(.number = field, .slots = slots, .count = count, .out = values,
                                                      .size = stride),
                                       "get", call_get);
    after_asking(component->owner, attention);
    return result;
}

static void call_set(void *data)
{
    call_t *c = data;
    c->result = c->component->storage.set(c->m, c->number, c->slots, c->count, c->in, c->size);
}

bp_result_t verb_set(const component_t *component, verb_manager_t *m, uint32_t field, const uint32_t *slots,
                     uint32_t count, const void *values, size_t stride)
{
    uint32_t attention = before_asking(component->owner);
    bp_result_t result;
    if (component->owner->guard == NULL)
        result = component->storage.set(&m->handed, field, slots, count, values, stride);
    else
        result = verb_call_with_result(COMPONENT_CALL(.number = field, .slots = slots, .count = count, .in = values,
                                                      .size = stride),
                                       "set", call_set);
    after_asking(component->owner, attention);
    return result;
}

static void call_count(void *data)
{
    call_t *c = data;
    c->answer = c->component->storage.count(c->m);
}

uint32_t verb_count(const component_t *component, verb_manager_t *m)
{
    uint32_t attention = before_asking(component->owner);
    call_t *call = COMPONENT_CALL(.answer = 0); /* the answer where the guard ends the call */
    if (component->owner->guard == NULL)
        call->answer = component->storage.count(&m->handed);
    else
        verb_call(call, "count", call_count);
    after_asking(component->owner, attention);
    return call->answer;
}

static void call_gc(void *data)
{
    call_t *c = data;
    c->answer = c->component->storage.gc(c->m, c->out);
}

uint32_t verb_gc(const component_t *component, verb_manager_t *m, uint64_t *random)
{
    plugins_t *all = component->owner->all;
    call_t *call = COMPONENT_CALL(.answer = 0, .out = random); /* 0: as in verb_count */
    all->calling++;
    if (component->owner->guard == NULL)
        call->answer = component->storage.gc(&m->handed, random);
    else
        verb_call(call, "gc", call_gc);
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

#define OWN_ROWS_CALL(...) COMPONENT_CALL(.rows = CALL_OWN_ROWS, .prototype = rows->prototype, __VA_ARGS__)

static void call_rows_added(void *data)
{
    call_t *c = data;
    c->result = c->component->rows.rows_added(c->in, c->count);
}

bp_result_t verb_rows_added(const component_t *component, verb_manager_t *m, const bp_run_t *rows)
{
    if (component->owner->guard == NULL)
        return component->rows.rows_added(rows, rows->count);
    return verb_call_with_result(OWN_ROWS_CALL(.in = rows, .count = rows->count), "rows_added", call_rows_added);
}

static void call_rows_removed(void *data)
{
    const call_t *c = data;
    c->component->rows.rows_removed(c->in, c->count);
}

verb_made_t verb_rows_removed(const component_t *component, verb_manager_t *m, const bp_run_t *rows)
{
    if (component->owner->guard != NULL)
        return verb_call_made(OWN_ROWS_CALL(.in = rows, .count = rows->count), "rows_removed", call_rows_removed);
    component->rows.rows_removed(rows, rows->count);
    return VERB_MADE;
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
    return verb_call_with_result(OWN_ROWS_CALL(.in = rows, .count = rows->count, .number = field), "rows_set",
                                 call_rows_set);
}

static void call_save(void *data)
{
    call_t *c = data;
    c->result = c->component->saving.save(c->m, c->out, c->out_size);
}

bp_result_t verb_save(const component_t *component, verb_manager_t *m, void **data, size_t *size)
{
    uint32_t attention = before_asking(component->owner);
    bp_result_t result =
        component->owner->guard == NULL
            ? component->saving.save(&m->handed, data, size)
            : verb_call_with_result(COMPONENT_CALL(.out = data, .out_size = size), "save", call_save);
    after_asking(component->owner, attention);
    return result;
}

static void call_load_saved(void *data)
{
    call_t *c = data;
    c->result = c->component->saving.load(c->m, c->number, c->in, c->size);
}

bp_result_t verb_load_saved(const component_t *component, verb_manager_t *m, uint32_t version, const void *data,
                            size_t size)
{
    uint32_t attention = before_asking(component->owner);
    bp_result_t result = component->owner->guard == NULL
                             ? component->saving.load(&m->handed, version, data, size)
                             : verb_call_with_result(COMPONENT_CALL(.number = version, .in = data, .size = size),
                                                     "load", call_load_saved);
    after_asking(component->owner, attention);
    return result;
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
    if (!returned && plugin_is_aside(opener))
        return error_set(error, BP_ERROR_FAILED, "%s: plugin '%s', which opens it, has crashed: %s", path, opener->name,
                         plugin_crash(opener));
    if (!returned)
        return error_set(error, BP_ERROR_FAILED, "%s: a plugin that '%s', which opens it, had called has crashed", path,
                         opener->name);
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

/* --- systems ------------------------------------------------------------------------------------------------------ */

/* In a clone of a host, systems that are output have no state, and none of their verbs is called. */

#define SYSTEM_CALL(...) \
    &(call_t) { .system = system, .plugin = system->owner, .s = &s->handed, .place = s->place, __VA_ARGS__ }

/* Is the system left out in a clone of a host? A system that is output would write to the original's files. */
static bool is_kept_in(const system_t *system)
{
    return system->owner->all->clone && system_is_output(system);
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
        verb_call(SYSTEM_CALL(.in = match, .count = match->count, .rows = CALL_UNIT, .prototype = match->prototype,
                              .handed = match->entities), "run", call_run);
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
        verb_call(SYSTEM_CALL(.step = step, .in = matches, .count = count, .rows = CALL_UNIT), "run_all", call_run_all);
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
    uint32_t attention = before_asking(system->owner);
    bp_result_t result =
        system->owner->guard == NULL
            ? system->saving.save(&s->handed, data, size)
            : verb_call_with_result(SYSTEM_CALL(.out = data, .out_size = size), "save", call_system_save);
    after_asking(system->owner, attention);
    return result;
}

static void call_system_load(void *data)
{
    call_t *c = data;
    c->result = c->system->saving.load(c->s, c->in, c->size);
}

bp_result_t verb_system_load(const system_t *system, verb_system_t *s, const void *data, size_t size)
{
    uint32_t attention = before_asking(system->owner);
    bp_result_t result = system->owner->guard == NULL
                             ? system->saving.load(&s->handed, data, size)
                             : verb_call_with_result(SYSTEM_CALL(.in = data, .size = size), "load", call_system_load);
    after_asking(system->owner, attention);
    return result;
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
