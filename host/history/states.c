/* states.c - the four roads of BP_KEEP_....
 *
 * `load` is called with the manager itself, and the present state is set aside meanwhile: managers and systems are
 * always handed the same address, and may recognise themselves by it.
 */
#include "states.h"

#include "../plugin/verbs.h"
#include "../store/hooks.h"

uint32_t state_road_of_manager(const manager_t *manager)
{
    const component_t *component = manager->component;
    if (!manager->started || (component->table.start == NULL && !component->own_storage))
        return BP_KEEP_NOTHING;
    return component->table.keeps;
}

uint32_t state_road_of_system(const system_t *system)
{
    if (system_is_output(system) || system->table.start == NULL)
        return BP_KEEP_NOTHING;
    return system->table.keeps;
}

uint32_t state_road_of_plugin(const plugin_t *plugin)
{
    return plugin->desc.load == NULL ? BP_KEEP_NOTHING : plugin->desc.keeps;
}

/* --- states without a declared way
   -------------------------------------------------------------------------------------------- */

static void complain(text_t *text, const char *what, const char *name, const char *plugin)
{
    text_append(text, "%s%s '%s' of plugin '%s'", text->length > 0 ? ", " : "", what, name, plugin);
}

bp_result_t snapshot_check(const parts_t *parts)
{
    text_t unsaid = {.length = 0};
    unsaid.chars[0] = '\0';
    for (uint32_t i = 0; i < parts->loader->plugins.count; i++) {
        const plugin_t *plugin = parts->loader->plugins.items[i];
        uint32_t road = state_road_of_plugin(plugin);
        if (road != BP_KEEP_NOTHING && (road != BP_KEEP_PLAIN || (uint32_t)plugin->desc.state_form == 0))
            complain(&unsaid, "the whole", "of it", plugin->name);
    }
    for (uint32_t w = 0; w < parts->destruction->world_count; w++) {
        const world_t *world = parts->destruction->worlds[w];
        const schedule_t *schedule = world_handle(world)->schedule;
        for (uint32_t i = 0; i < world->manager_count; i++) {
            const component_t *component = world->managers[i]->component;
            if (state_road_of_manager(world->managers[i]) == BP_KEEP_UNSAID)
                complain(&unsaid, "component", component->name, component->owner->name);
        }
        for (uint32_t i = 0; i < schedule->count; i++) {
            const system_t *system = schedule->units[i]->system;
            if (system != NULL && state_road_of_system(system) == BP_KEEP_UNSAID)
                complain(&unsaid, "system", system->name, system->owner->name);
        }
    }
    if (unsaid.length == 0)
        return BP_OK;
    return error_set(&parts->base->error, BP_ERROR_STATE,
                     "a host remembers what its plugins say how to keep, and these have a state and do not say: %s; "
                     "each sets `keeps` to BP_KEEP_NOTHING, _ANEW, _PLAIN or _SAVED (bp_component.h)",
                     unsaid.chars);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static void put(snapshot_writer_t *writer, uint32_t road, bool present, const void *data, size_t size)
{
    bytes_t *bytes = writer->bytes;
    bool cut = writer->pieces != NULL && size >= PART_LEAST;
    bytes_u32(bytes, road);
    bytes_u32(bytes, present);
    bytes_align(bytes, 8);
    bytes_u64(bytes, cut ? SNAPSHOT_PART | pieces_put(writer->pieces, writer->key, 0, data, size) : size);
    bytes_align(bytes, 16);
    bytes_put(bytes, data, cut ? 0 : size);
}

static void put_plain(snapshot_writer_t *writer, uint32_t road, const void *state, uint64_t form)
{
    bool copied = road == BP_KEEP_PLAIN && state != NULL;
    put(writer, road, state != NULL, state, copied ? (uint32_t)form : 0);
}

bp_result_t state_put_manager(snapshot_writer_t *writer, manager_t *manager)
{
    const component_t *component = manager->component;
    uint32_t road = state_road_of_manager(manager);
    void *data = NULL;
    size_t size = 0;
    if (road != BP_KEEP_SAVED) {
        put_plain(writer, road, manager->verb.handed.state, component->table.state_form);
        return BP_OK;
    }
    bp_result_t result = verb_save(component, &manager->verb, &data, &size);
    if (result != BP_OK)
        return error_prefix(&writer->parts->base->error, result, "component '%s' cannot be written down: ",
                            component->name);
    put(writer, road, manager->verb.handed.state != NULL, data, size);
    memory_free(plugin_account(component->owner), data, size);
    return BP_OK;
}

bp_result_t state_put_system(snapshot_writer_t *writer, unit_t *unit)
{
    const system_t *system = unit->system;
    uint32_t road = system == NULL ? BP_KEEP_NOTHING : state_road_of_system(system);
    void *data = NULL;
    size_t size = 0;
    if (road != BP_KEEP_SAVED) {
        bool output = system == NULL || system_is_output(system);
        put_plain(writer, road, output ? NULL : unit->verb.handed.state, output ? 0 : system->table.state_form);
        return BP_OK;
    }
    bp_result_t result = verb_system_save(system, &unit->verb, &data, &size);
    if (result != BP_OK)
        return error_prefix(&writer->parts->base->error, result, "system '%s' cannot be written down: ", system->name);
    put(writer, road, unit->verb.handed.state != NULL, data, size);
    memory_free(plugin_account(system->owner), data, size);
    return BP_OK;
}

bp_result_t state_put_plugin(snapshot_writer_t *writer, plugin_t *plugin)
{
    put_plain(writer, state_road_of_plugin(plugin), plugin->handed.state, plugin->desc.state_form);
    return BP_OK;
}

/* --- bringing back ------------------------------------------------------------------------------------------------ */

static void **state_of(const state_back_t *s)
{
    if (s->manager != NULL)
        return &s->manager->verb.handed.state;
    return s->unit != NULL ? &s->unit->verb.handed.state : &s->plugin->handed.state;
}

static const char *name_of(const state_back_t *s)
{
    if (s->manager != NULL)
        return s->manager->component->name;
    return s->unit != NULL ? s->unit->name : s->plugin->name;
}

static uint32_t road_of(const state_back_t *s)
{
    if (s->manager != NULL)
        return state_road_of_manager(s->manager);
    return s->unit != NULL ? state_road_of_system(s->unit->system) : state_road_of_plugin(s->plugin);
}

static uint64_t form_of(const state_back_t *s)
{
    if (s->manager != NULL)
        return s->manager->component->table.state_form;
    return s->unit != NULL ? s->unit->system->table.state_form : s->plugin->desc.state_form;
}

static bp_result_t start(const state_back_t *s)
{
    if (s->manager != NULL)
        return s->manager->component->table.start == NULL ? BP_OK
                                                          : verb_start(s->manager->component, &s->manager->verb);
    return verb_system_start(s->unit->system, &s->unit->verb);
}

static void stop(const state_back_t *s)
{
    if (s->manager != NULL && s->manager->component->table.stop != NULL)
        verb_stop(s->manager->component, &s->manager->verb);
    if (s->unit != NULL && s->unit->system->table.stop != NULL)
        verb_system_stop(s->unit->system, &s->unit->verb);
}

static bp_result_t load(const state_back_t *s)
{
    if (s->manager != NULL)
        return verb_load_saved(s->manager->component, &s->manager->verb, s->version, s->kept->data,
                               (size_t)s->kept->size);
    return verb_system_load(s->unit->system, &s->unit->verb, s->kept->data, (size_t)s->kept->size);
}

/* End the state `which`, which is not the one in place. */
static void end(const state_back_t *s, void *which)
{
    void **state = state_of(s), *kept = *state;
    *state = which;
    stop(s);
    *state = kept;
}

static bp_result_t prepare_plain(const parts_t *parts, const state_back_t *s)
{
    const void *state = *state_of(s);
    if ((state != NULL) == (s->kept->present != 0) && (state == NULL || (uint32_t)form_of(s) == s->kept->size))
        return BP_OK;
    return error_set(&parts->base->error, BP_ERROR_STATE, "the state of '%s' is of another form than the one kept",
                     name_of(s));
}

static void need_reason(error_text_t *error, bp_result_t result)
{
    if (error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
}

bp_result_t state_prepare(const parts_t *parts, state_back_t *s)
{
    error_text_t *error = &parts->base->error;
    uint32_t road = road_of(s);
    if (road != s->kept->road)
        return error_set(error, BP_ERROR_STATE, "the state of '%s' was kept in another way than its code says now",
                         name_of(s));
    if (road == BP_KEEP_PLAIN)
        return prepare_plain(parts, s);
    if (road != BP_KEEP_SAVED)
        return BP_OK; /* a state that is made anew is made when the rows are back (state_commit) */
    void **state = state_of(s), *kept = *state;
    *state = NULL;
    error->text[0] = '\0';
    bp_result_t result = start(s);
    if (result == BP_OK && (result = load(s)) != BP_OK)
        stop(s);
    if (result != BP_OK) {
        need_reason(error, result);
        error_prefix(error, result, "the state of '%s' cannot be brought back: ", name_of(s));
    }
    s->made = *state;
    s->began = result == BP_OK;
    *state = kept;
    return result;
}

void state_cancel(state_back_t *s)
{
    if (s->began)
        end(s, s->made);
    s->began = false;
}

/* Tell a component of its rows, where its new state does not know them, or where it has no state and derived fields are
 * to be made again. */
static void tell_rows(const parts_t *parts, const state_back_t *s)
{
    manager_t *manager = s->manager;
    if (hooks_rebuild_all(world_of(manager->verb.handed.world), manager) != BP_OK)
        log_write(&parts->base->log, BP_LOG_ERROR, "host", "'%s' does not know all rows after its world went back: %s",
                  name_of(s), parts->base->error.text);
}

static bool is_to_be_told(const state_back_t *s)
{
    if (s->manager == NULL || s->manager->component->rows.rows_added == NULL)
        return false;
    const component_t *component = s->manager->component;
    bool rebuilds = false;
    for (uint32_t i = 0; i < component_columns(component); i++)
        rebuilds = rebuilds || field_is_rebuilt(&component->fields[i]);
    return rebuilds || road_of(s) == BP_KEEP_ANEW;
}

/* Whether the new state comes or `start` fails: the state in place does not know which entities the world has now. A
 * system is told of all entities that match, as one that has just come. */
static void make_anew(const parts_t *parts, const state_back_t *s)
{
    void **state = state_of(s), *before = *state;
    if (s->unit != NULL)
        s->unit->told = false;
    *state = NULL;
    parts->base->error.text[0] = '\0';
    bp_result_t result = start(s);
    if (result == BP_OK) {
        end(s, before);
        return;
    }
    *state = before;
    need_reason(&parts->base->error, result);
    log_write(&parts->base->log, BP_LOG_WARNING, "host",
              "'%s' goes on with the state that it had before its world went back: %s", name_of(s),
              parts->base->error.text);
}

void state_commit(const parts_t *parts, state_back_t *s)
{
    void **state = state_of(s), *before = *state;
    if (road_of(s) == BP_KEEP_ANEW)
        make_anew(parts, s);
    if (is_to_be_told(s))
        tell_rows(parts, s);
    if (road_of(s) == BP_KEEP_PLAIN && before != NULL)
        memcpy(before, s->kept->data, (size_t)s->kept->size);
    if (!s->began)
        return;
    *state = s->made;
    end(s, before);
    s->began = false;
}
