/* verbs.c - the verbs of plugins, of components and of tables, under the guard where there is one.
 *
 * A plugin without a guard is called at once; under one, the arguments go through a call_t (verb_call.h). Systems' verbs are in
 * verbs_system.c.
 */
#include "verbs.h"

#include "verb_call.h"

/* --- the plugin ------------------------------------------------------------------------------------------------------- */

static void call_load(void *data)
{
    call_t *c = data;
    c->result = c->plugin->desc.load(&c->plugin->seen);
}

bp_result_t verb_load(plugin_t *plugin)
{
    if (plugin->guard == NULL)
        return plugin->desc.load(&plugin->seen);
    return verb_call_with_result(&(call_t){.plugin = plugin}, "load", call_load);
}

static void call_unload(void *data)
{
    const call_t *c = data;
    c->plugin->desc.unload(&c->plugin->seen);
}

void verb_unload(plugin_t *plugin)
{
    if (plugin->guard == NULL)
        plugin->desc.unload(&plugin->seen);
    else
        verb_call(&(call_t){.plugin = plugin}, "unload", call_unload);
}

/* --- components ------------------------------------------------------------------------------------------------------- */

#define COMPONENT_CALL(...) \
    &(call_t) { .component = component, .plugin = component->owner, .m = m, __VA_ARGS__ }

static void call_start(void *data)
{
    call_t *c = data;
    c->result = c->component->table.start(c->m);
}

bp_result_t verb_start(const component_t *component, bp_manager_t *m)
{
    if (component->owner->guard == NULL)
        return component->table.start(m);
    return verb_call_with_result(COMPONENT_CALL(.result = BP_OK), "start", call_start);
}

static void call_stop(void *data)
{
    const call_t *c = data;
    c->component->table.stop(c->m);
}

void verb_stop(const component_t *component, bp_manager_t *m)
{
    if (component->owner->guard == NULL)
        component->table.stop(m);
    else
        verb_call(COMPONENT_CALL(.result = BP_OK), "stop", call_stop);
}

static void call_simulate(void *data)
{
    const call_t *c = data;
    c->component->table.simulate(c->m, c->step, c->in);
}

void verb_simulate(const component_t *component, bp_manager_t *m, const bp_step_t *step, const bp_run_t *run)
{
    if (component->owner->guard == NULL)
        component->table.simulate(m, step, run);
    else
        verb_call(COMPONENT_CALL(.step = step, .in = run), "simulate", call_simulate);
}

static void call_create(void *data)
{
    call_t *c = data;
    c->result = c->component->table.create(c->m, c->instance, c->in, c->count, c->out);
}

bp_result_t verb_create(const component_t *component, bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                        uint32_t *slots)
{
    if (component->owner->guard == NULL)
        return component->table.create(m, instance, entities, count, slots);
    return verb_call_with_result(COMPONENT_CALL(.instance = instance, .in = entities, .count = count, .out = slots), "create", call_create);
}

static void call_create_with(void *data)
{
    call_t *c = data;
    c->result = c->component->table.create_with(c->m, c->instance, c->in, c->count, c->more, c->out);
}

bp_result_t verb_create_with(const component_t *component, bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities,
                             uint32_t count, const void *const *columns, uint32_t *slots)
{
    if (component->owner->guard == NULL)
        return component->table.create_with(m, instance, entities, count, columns, slots);
    return verb_call_with_result(COMPONENT_CALL(.instance = instance, .in = entities, .count = count, .more = columns, .out = slots),
                               "create_with", call_create_with);
}

static void call_destroy(void *data)
{
    const call_t *c = data;
    c->component->table.destroy(c->m, c->slots, c->count);
}

void verb_destroy(const component_t *component, bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    if (component->owner->guard == NULL)
        component->table.destroy(m, slots, count);
    else
        verb_call(COMPONENT_CALL(.slots = slots, .count = count), "destroy", call_destroy);
}

static void call_get(void *data)
{
    call_t *c = data;
    c->result = c->component->table.get(c->m, c->number, c->slots, c->count, c->out, c->size);
}

bp_result_t verb_get(const component_t *component, bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                     size_t stride)
{
    if (component->owner->guard == NULL)
        return component->table.get(m, field, slots, count, values, stride);
    return verb_call_with_result(COMPONENT_CALL(.number = field, .slots = slots, .count = count, .out = values, .size = stride), "get", call_get);
}

static void call_set(void *data)
{
    call_t *c = data;
    c->result = c->component->table.set(c->m, c->number, c->slots, c->count, c->in, c->size);
}

bp_result_t verb_set(const component_t *component, bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                     const void *values, size_t stride)
{
    if (component->owner->guard == NULL)
        return component->table.set(m, field, slots, count, values, stride);
    return verb_call_with_result(COMPONENT_CALL(.number = field, .slots = slots, .count = count, .in = values, .size = stride), "set", call_set);
}

static void call_count(void *data)
{
    call_t *c = data;
    c->answer = c->component->table.count(c->m);
}

uint32_t verb_count(const component_t *component, bp_manager_t *m)
{
    if (component->owner->guard == NULL)
        return component->table.count(m);
    call_t *call = COMPONENT_CALL(.answer = 0);
    return verb_call(call, "count", call_count) ? call->answer : 0;
}

static void call_gc(void *data)
{
    call_t *c = data;
    c->answer = c->component->table.gc(c->m, c->out);
}

uint32_t verb_gc(const component_t *component, bp_manager_t *m, uint64_t *random)
{
    if (component->owner->guard == NULL)
        return component->table.gc(m, random);
    call_t *call = COMPONENT_CALL(.out = random);
    return verb_call(call, "gc", call_gc) ? call->answer : 0;
}

static void call_entities_destroyed(void *data)
{
    const call_t *c = data;
    c->component->table.entities_destroyed(c->m, c->in, c->count);
}

void verb_entities_destroyed(const component_t *component, bp_manager_t *m, const bp_entity_t *entities, uint32_t count)
{
    if (component->owner->guard == NULL)
        component->table.entities_destroyed(m, entities, count);
    else
        verb_call(COMPONENT_CALL(.in = entities, .count = count), "entities_destroyed", call_entities_destroyed);
}

static void call_compile(void *data)
{
    call_t *c = data;
    c->result = c->component->table.compile(c->m, c->in, c->out, c->out_size);
}

bp_result_t verb_compile(const component_t *component, bp_manager_t *m, const char *json, void **data, size_t *size)
{
    if (component->owner->guard == NULL)
        return component->table.compile(m, json, data, size);
    return verb_call_with_result(COMPONENT_CALL(.in = json, .out = data, .out_size = size), "compile", call_compile);
}

static void call_spawn(void *data)
{
    call_t *c = data;
    c->result = c->component->table.spawn(c->m, c->instance, c->in, c->count, c->more, c->sizes, c->out);
}

bp_result_t verb_spawn(const component_t *component, bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                       const void *const *data, const size_t *sizes, uint32_t *slots)
{
    if (component->owner->guard == NULL)
        return component->table.spawn(m, instance, entities, count, data, sizes, slots);
    return verb_call_with_result(COMPONENT_CALL(.instance = instance, .in = entities, .count = count, .more = data, .sizes = sizes, .out = slots),
                               "spawn", call_spawn);
}

static void call_save(void *data)
{
    call_t *c = data;
    c->result = c->component->table.save(c->m, c->out, c->out_size);
}

bp_result_t verb_save(const component_t *component, bp_manager_t *m, void **data, size_t *size)
{
    if (component->owner->guard == NULL)
        return component->table.save(m, data, size);
    return verb_call_with_result(COMPONENT_CALL(.out = data, .out_size = size), "save", call_save);
}

static void call_load_saved(void *data)
{
    call_t *c = data;
    c->result = c->component->table.load(c->m, c->number, c->in, c->size);
}

bp_result_t verb_load_saved(const component_t *component, bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    if (component->owner->guard == NULL)
        return component->table.load(m, version, data, size);
    return verb_call_with_result(COMPONENT_CALL(.number = version, .in = data, .size = size), "load", call_load_saved);
}

static void call_report(void *data)
{
    const call_t *c = data;
    c->component->table.report(c->m, c->out);
}

void verb_report(const component_t *component, bp_manager_t *m, bp_report_o *report)
{
    if (component->owner->guard == NULL)
        component->table.report(m, report);
    else
        verb_call(COMPONENT_CALL(.out = report), "report", call_report);
}

/* --- tables ----------------------------------------------------------------------------------------------------------- */

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
