/* look.c - the table bp_look (bp_look.h): everything that a tool may want to see, list by list.
 *
 * Each entry fills a struct of its own and hands as much of it over as the caller knows. A cursor counts items; its
 * value is the number of the next item.
 */
#include "../base/units.h"
#include "host.h"

/* Hand a struct over; its first member is the caller's size of it, which stays. */
static void hand_over(void *out, const void *known, size_t known_size)
{
    uint32_t size;
    memcpy(&size, out, sizeof size);
    memset(out, 0, size);
    memcpy(out, known, size < known_size ? size : known_size);
    memcpy(out, &size, sizeof size);
}

static const char *text_or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* --- worlds --------------------------------------------------------------------------------------------------- */

/* A number that changes when rows come, go or move: the versions of runs grow when rows go or move, their counts when
 * rows come. */
static uint32_t structure_of(const world_t *world)
{
    uint32_t number = world->run_count;
    for (uint32_t i = 0; i < world->run_count; i++)
        number = number * 31 + world->runs[i]->version * 7 + world->runs[i]->count;
    return number;
}

static uint32_t look_world(bp_host_o *host, uint32_t *cursor, bp_look_world_t *out)
{
    if (*cursor >= host->destruction.world_count)
        return 0;
    bp_world_o *world = host_world(host, (*cursor)++);
    bp_world_stats_t stats;
    bp_world_stats(world, &stats);
    bp_look_world_t known = {.entities = stats.entities,
                             .world = world,
                             .name = stats.name,
                             .steps = stats.steps,
                             .time = stats.time,
                             .step_rate = world->clock.step_rate,
                             .nanoseconds = stats.nanoseconds,
                             .bytes = stats.bytes,
                             .holes = stats.holes,
                             .prototypes = stats.prototypes,
                             .structure = structure_of(&world->rows),
                             .units = text_or_empty(world->rows.units),
                             .runs = stats.runs,
                             .number = world->made};
    hand_over(out, &known, sizeof known);
    return 1;
}

/* --- types and plugins ---------------------------------------------------------------------------------------- */

static uint32_t look_type(bp_host_o *host, uint32_t *cursor, bp_look_type_t *out)
{
    const registry_t *registry = &host->registry;
    while (*cursor < registry->component_count && registry->components[*cursor]->owner == NULL)
        ++*cursor;
    if (*cursor >= registry->component_count)
        return 0;
    const component_t *component = registry->components[(*cursor)++];
    bp_look_type_t known = {.flags = component->table.flags,
                            .name = component->name,
                            .doc = text_or_empty(component->doc),
                            .plugin = component->owner->name,
                            .field_count = component->field_count,
                            .version = component->table.version};
    known.traits = (component->own_storage ? BP_LOOK_STORAGE : 0u) |
                   (component->table.simulate != NULL ? BP_LOOK_SIMULATES : 0u);
    hand_over(out, &known, sizeof known);
    return 1;
}

static uint32_t look_system(bp_host_o *host, uint32_t *cursor, bp_look_system_t *out)
{
    const registry_t *registry = &host->registry;
    while (*cursor < registry->system_count && registry->systems[*cursor]->owner == NULL)
        ++*cursor;
    if (*cursor >= registry->system_count)
        return 0;
    const system_t *system = registry->systems[(*cursor)++];
    bp_look_system_t known = {.flags = system->table.flags,
                              .name = system->name,
                              .doc = text_or_empty(system->doc),
                              .plugin = system->owner->name,
                              .before = text_or_empty(system->before),
                              .after = text_or_empty(system->after),
                              .term_count = system->term_count};
    hand_over(out, &known, sizeof known);
    return 1;
}

/* The system of that name; NULL where no plugin brings it. Leaves no sentence where it is absent. */
static const system_t *find_system(const bp_host_o *host, const char *name)
{
    for (uint32_t i = 0; i < host->registry.system_count; i++) {
        const system_t *system = host->registry.systems[i];
        if (system->owner != NULL && strcmp(system->name, name) == 0)
            return system;
    }
    return NULL;
}

static uint32_t look_term(bp_host_o *host, const char *name, uint32_t *cursor, bp_look_term_t *out)
{
    const system_t *system = find_system(host, name);
    if (system == NULL || *cursor >= system->term_count)
        return 0;
    const term_t *term = &system->terms[(*cursor)++];
    bp_look_term_t known = {.flags = term->flags,
                            .component = term->component,
                            .instance = term->instance_text,
                            .world = term->world,
                            .field_count = term->field_count};
    hand_over(out, &known, sizeof known);
    return 1;
}

static uint32_t look_asked(bp_host_o *host, const char *name, uint32_t number, uint32_t *cursor, bp_term_field_t *out,
                           uint32_t out_size)
{
    const system_t *system = find_system(host, name);
    const term_t *term = system == NULL || number >= system->term_count ? NULL : &system->terms[number];
    if (term == NULL || *cursor >= term->field_count)
        return 0;
    const asked_field_t *asked = &term->fields[(*cursor)++];
    bp_term_field_t known = {.name = asked->name,
                             .type = asked->type,
                             .access = asked->access,
                             .count = asked->elements};
    known.flags = (asked->list ? BP_FIELD_LIST : 0u) | (asked->optional ? (uint32_t)BP_TERM_FIELD_OPTIONAL : 0u);
    memset(out, 0, out_size);
    memcpy(out, &known, out_size < sizeof known ? out_size : sizeof known);
    return 1;
}

static uint32_t look_plugin(bp_host_o *host, uint32_t *cursor, bp_look_plugin_t *out)
{
    if (*cursor >= host->loader.plugins.count)
        return 0;
    const plugin_t *plugin = host->loader.plugins.items[(*cursor)++];
    bp_look_plugin_t known = {.option_count = plugin->desc.options.count,
                              .name = plugin->name,
                              .version = text_or_empty(plugin->version),
                              .doc = text_or_empty(plugin->doc),
                              .path = text_or_empty(plugin->path),
                              .crash = plugin_is_aside(plugin) ? plugin_crash(plugin) : NULL,
                              .abi_major = plugin->head.abi_major,
                              .abi_minor = plugin->head.abi_minor};
    hand_over(out, &known, sizeof known);
    return 1;
}

static uint32_t look_option(bp_host_o *host, const char *name, uint32_t *cursor, bp_look_option_t *out)
{
    const plugin_t *plugin = loader_find(&host->loader, name);
    if (plugin == NULL || *cursor >= plugin->desc.options.count)
        return 0;
    bp_look_option_t known = {.padding = 0};
    const field_t *field = &plugin->options[*cursor];
    field_describe(field, &known.field);
    value_format(&host->base.values, field->type, &plugin->option_values[*cursor], known.value, sizeof known.value);
    ++*cursor;
    hand_over(out, &known, sizeof known);
    return 1;
}

/* --- what lives in a world ------------------------------------------------------------------------------------ */

/* Entities that have the component of a key. */
static uint32_t count_entities(const world_t *world, uint32_t key)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->run_count; i++)
        if (prototypes_column(&world->prototypes, world->runs[i]->prototype, key) != 0)
            count += world->runs[i]->count - world->runs[i]->holes;
    return count;
}

static uint32_t look_component(bp_world_o *handle, uint32_t *cursor, bp_look_component_t *out)
{
    const world_t *world = world_of(handle);
    const prototypes_t *prototypes = &world->prototypes;
    while (*cursor < prototypes->key_count && (prototypes->keys[*cursor].flags & KEY_GONE))
        ++*cursor;
    if (*cursor >= prototypes->key_count)
        return 0;
    uint32_t key = (*cursor)++;
    const char *type = world_key_manager(world, key)->component->name;
    bp_name_t name = prototypes->keys[key].name;
    bp_look_component_t known = {.key = key,
                                 .name = name == 0 ? type : names_text(&world->base->names, name),
                                 .type = type,
                                 .component = prototypes->keys[key].manager,
                                 .entities = count_entities(world, key)};
    hand_over(out, &known, sizeof known);
    return 1;
}

/* Does the run have rows of entities, and not those of the world itself? */
static bool is_listed(const run_t *run)
{
    return run->count > 0 && (run->flags & KEY_WORLD) == 0;
}

static uint32_t look_prototype(bp_world_o *handle, uint32_t *cursor, bp_look_prototype_t *out)
{
    const world_t *world = world_of(handle);
    while (*cursor < world->run_count && !is_listed(world->runs[*cursor]))
        ++*cursor;
    if (*cursor >= world->run_count)
        return 0;
    const run_t *run = world->runs[(*cursor)++];
    bp_look_prototype_t known = {.prototype = run->prototype,
                                 .entities = run_entities(run),
                                 .row_count = run->count,
                                 .hole_count = run->holes,
                                 .key_count = world->prototypes.items[run->prototype].key_count};
    hand_over(out, &known, sizeof known);
    return 1;
}

static uint32_t look_keys(bp_world_o *handle, uint32_t prototype, uint32_t *keys, uint32_t capacity)
{
    const prototypes_t *prototypes = &world_of(handle)->prototypes;
    if (prototype >= prototypes->count)
        return 0;
    uint32_t count = prototypes->items[prototype].key_count, place = count;
    for (uint32_t at = prototype; at != 0; at = prototypes->items[at].base)
        if (--place < capacity)
            keys[place] = prototypes->items[at].key;
    return count;
}

static const void *look_column(bp_world_o *handle, uint32_t prototype, uint32_t key, uint32_t field)
{
    const world_t *world = world_of(handle);
    if (prototype >= world->prototypes.count || key >= world->prototypes.key_count)
        return NULL;
    const run_t *run = world_run(world, prototype);
    const manager_t *manager = world_key_manager(world, key);
    uint32_t column = run == NULL || run->count == 0 ? 0 : prototypes_column(&world->prototypes, prototype, key);
    if (column == 0 || manager->component->own_storage || field >= manager->component->field_count)
        return NULL;
    return run->columns[column + field];
}

/* --- units ---------------------------------------------------------------------------------------------------- */

/* The segment that the unit at a place of the order belongs to. */
static uint32_t segment_of(const schedule_t *schedule, uint32_t place)
{
    for (uint32_t i = 0; i < schedule->segment_count; i++)
        if (place < schedule->segments[i].first + schedule->segments[i].count)
            return i;
    return 0;
}

static uint32_t look_unit(bp_world_o *world, uint32_t *cursor, bp_look_unit_t *out)
{
    const schedule_t *schedule = world->schedule;
    if (*cursor >= schedule->count)
        return 0;
    const unit_t *unit = schedule->units[*cursor];
    const plugin_t *owner = unit->system != NULL ? unit->system->owner : unit->manager->component->owner;
    const char *doc = unit->system != NULL ? unit->system->doc : unit->manager->component->doc;
    bp_look_unit_t known = {.name = unit->name,
                            .doc = text_or_empty(doc),
                            .plugin = owner == NULL ? "" : owner->name,
                            .steps = unit->steps,
                            .nanoseconds = unit->nanoseconds,
                            .rows = unit->rows,
                            .segment = segment_of(schedule, *cursor)};
    known.flags = (unit->system != NULL ? BP_LOOK_SYSTEM : 0u) | (unit->parallel ? BP_LOOK_PARALLEL : 0u) |
                  (unit->concurrent ? BP_LOOK_CONCURRENT : 0u) |
                  (owner != NULL && plugin_is_aside(owner) ? BP_LOOK_ASIDE : 0u);
    ++*cursor;
    hand_over(out, &known, sizeof known);
    return 1;
}

/* The name of a part of a component that a bit of access_t stands for. Hidden fields belong to the rest. */
static const char *part_name(const component_t *component, uint32_t bit)
{
    return component->own_storage || bit >= component->field_count ? "" : component->bound[bit]->name;
}

static bool is_set(const uint64_t *bits, uint32_t bit)
{
    return (bits[bit / 64] >> bit % 64 & 1) != 0;
}

/* A cursor counts the bits of all accesses, one access after another. Where a unit touches all of a component, bits of
 * fields that do not exist are set too; those, and the fields of a component with storage of its own, are the one part
 * that bit ACCESS_MANAGER stands for. */
static uint32_t look_access(bp_world_o *world, uint32_t place, uint32_t *cursor, bp_look_access_t *out)
{
    const schedule_t *schedule = world->schedule;
    const unit_t *unit = place < schedule->count ? schedule->units[place] : NULL;
    while (unit != NULL && schedule->settled && *cursor / (ACCESS_MANAGER + 1u) < unit->access_count) {
        const access_t *access = &unit->access[*cursor / (ACCESS_MANAGER + 1u)];
        uint32_t bit = (*cursor)++ % (ACCESS_MANAGER + 1u);
        const component_t *component = world->rows.managers[access->manager]->component;
        uint32_t flags = (is_set(access->reads, bit) ? BP_LOOK_READS : 0u) |
                         (is_set(access->writes, bit) ? BP_LOOK_WRITES : 0u);
        if (flags == 0 || (bit != ACCESS_MANAGER && part_name(component, bit)[0] == '\0'))
            continue;
        bp_look_access_t known = {.flags = flags, .type = component->name, .field = part_name(component, bit)};
        hand_over(out, &known, sizeof known);
        return 1;
    }
    return 0;
}

static uint32_t look_wait(bp_world_o *world, uint32_t place, uint32_t *cursor, bp_look_wait_t *out)
{
    const schedule_t *schedule = world->schedule;
    while (schedule->settled && place < schedule->count && *cursor < place) {
        bp_look_wait_t known = {.unit = (*cursor)++, .type = "", .field = ""};
        uint32_t manager, part;
        if (!schedule_waits(schedule->units[known.unit], schedule->units[place], &manager, &part))
            continue;
        if (manager != BP_NONE) {
            const component_t *component = world->rows.managers[manager]->component;
            known.type = component->name;
            known.field = part_name(component, part);
        }
        hand_over(out, &known, sizeof known);
        return 1;
    }
    return 0;
}

/* --- reloads -------------------------------------------------------------------------------------------------- */

static uint32_t look_reload(bp_host_o *host, uint32_t *cursor, bp_look_reload_t *out)
{
    const reload_past_t *past = &host->reload.past;
    uint64_t oldest = past->count > RELOAD_PAST ? past->count - RELOAD_PAST : 0;
    uint64_t at = *cursor < oldest ? oldest : *cursor;
    if (at >= past->count)
        return 0;
    const reload_told_t *told = &past->told[at % RELOAD_PAST];
    bp_look_reload_t known = {.result = told->result,
                              .number = at + 1,
                              .pause = told->pause,
                              .when = told->when,
                              .text = told->text};
    *cursor = (uint32_t)(at + 1);
    hand_over(out, &known, sizeof known);
    return 1;
}

static uint32_t look_unit_text(bp_world_o *world, const char *declared, char *text, uint32_t size)
{
    return (uint32_t)units_say(text_or_empty(world_of(world)->units), text_or_empty(declared), text, size);
}

const bp_look_api host_look_table = {
    .struct_size = sizeof host_look_table,
    .version = 1,
    .world = look_world,
    .type = look_type,
    .plugin = look_plugin,
    .option = look_option,
    .component = look_component,
    .unit = look_unit,
    .prototype = look_prototype,
    .keys = look_keys,
    .column = look_column,
    .unit_text = look_unit_text,
    .access = look_access,
    .wait = look_wait,
    .reload = look_reload,
    .system = look_system,
    .term = look_term,
    .asked = look_asked,
};
