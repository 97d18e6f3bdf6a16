/* worlds.c - the engine for benchmarks: through the same tables that plugins and embedders use.
 *
 * point_mass is loaded from its library, so that the figures are those of a user of plugins. Further
 * components come from a static plugin whose descriptor is made here, because it has to have hundreds of
 * them.
 *
 * The bytes on the host's account are read from inside the host: backplane.h offers figures of worlds only.
 */
#include "worlds.h"

#include "floors.h"
#include "engine/host.h"

#include <components/point_mass.h>
#include <stdlib.h>
#include <string.h>

void worlds_must(bp_host_o *host, bp_result_t result, const char *what)
{
    if (result == BP_OK)
        return;
    fprintf(stderr, "bench: %s failed (%d): %s\n", what, result, host == NULL ? "" : bp_host_error(host));
    exit(1);
}

void *worlds_memory(size_t count, size_t size)
{
    size_t bytes = (count > 0 ? count : 1) * size;
    void *block = malloc(bytes);
    if (block == NULL) {
        fprintf(stderr, "bench: no memory for %zu items of %zu bytes\n", count, size);
        exit(1);
    }
    /* Every byte is written where the compiler cannot see it: malloc with memset would become calloc, whose
     * pages are there only at first touch, inside a measurement. */
    floor_touch(block, bytes);
    return memset(block, 0, bytes);
}

/* --- the plugin `many` -------------------------------------------------------------------------------- */

typedef struct many_t {
    bp_plugin_desc_t desc;
    bp_plugin_head_t head;
    const bp_plugin_head_t *list[1];
    bp_component_i components[WORLDS_MANY];
    bp_field_t fields[WORLDS_MANY];
    bp_system_i systems[WORLDS_SYSTEMS];
    bp_term_t terms[WORLDS_SYSTEMS + 3];
    bp_term_field_t asked[WORLDS_SYSTEMS + 3];
    char component_names[WORLDS_MANY][8], system_names[WORLDS_SYSTEMS][8];
} many_t;

static void run_first(const bp_match_t *match, uint32_t count)
{
    float *restrict a = BP_TERM_COLUMN(match, float, 0, 0);
    const float *restrict b = BP_TERM_COLUMN(match, float, 1, 0);
    const float *restrict c = BP_TERM_COLUMN(match, float, 2, 0);
    for (uint32_t i = 0; i < count; i++)
        a[i] += b[i] * c[i];
}

static void run_nothing(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

static void describe_components(many_t *many)
{
    static const uint32_t types[] = {BP_F32, BP_F64, BP_VEC3, BP_VEC4};
    for (uint32_t i = 0; i < WORLDS_MANY; i++) {
        snprintf(many->component_names[i], sizeof many->component_names[i], "c%u", i);
        many->fields[i] = (bp_field_t){.name = "value", .type = types[i % 4]};
        many->components[i] = (bp_component_i){.name = many->component_names[i],
                                               .fields = {&many->fields[i], 1, sizeof many->fields[i]}};
    }
}

/* The `at`-th term asks for the value of component number `component`. */
static void describe_term(many_t *many, uint32_t at, uint32_t component, uint32_t access)
{
    many->asked[at] = (bp_term_field_t){.name = "value", .type = many->fields[component].type, .access = access};
    many->terms[at] = (bp_term_t){.component = many->component_names[component],
                                  .fields = {&many->asked[at], 1, sizeof many->asked[at]}};
}

static void describe_systems(many_t *many)
{
    for (uint32_t i = 0; i < 3; i++)
        describe_term(many, i, 4 * i, i == 0 ? BP_WRITE : BP_READ);
    for (uint32_t i = 0; i < WORLDS_SYSTEMS; i++) {
        bp_term_t *terms = i == 0 ? many->terms : &many->terms[i + 2];
        uint32_t count = i == 0 ? 3 : 1;
        if (i > 0)
            describe_term(many, i + 2, 31 - i % 16, BP_READ);
        snprintf(many->system_names[i], sizeof many->system_names[i], "s%u", i);
        many->systems[i] = (bp_system_i){.name = many->system_names[i],
                                         .terms = {terms, count, sizeof *terms},
                                         .run = i == 0 ? run_first : run_nothing};
    }
}

static const many_t *make_many(void)
{
    static many_t many;
    if (many.list[0] != NULL)
        return &many;
    describe_components(&many);
    describe_systems(&many);
    many.desc = (bp_plugin_desc_t){.version = "1.0",
                                   .components = {many.components, WORLDS_MANY, sizeof many.components[0]},
                                   .systems = {many.systems, WORLDS_SYSTEMS, sizeof many.systems[0]}};
    many.head = (bp_plugin_head_t)BP_PLUGIN_HEAD("many", &many.desc);
    many.list[0] = &many.head;
    return &many;
}

/* --- hosts and worlds --------------------------------------------------------------------------------- */

static bp_host_o *create_host(bool many, const bp_allocator_i *allocator, uint32_t flags)
{
    bp_host_desc_t desc = {.static_plugins = make_many()->list, .static_plugin_count = 1, .flags = flags, .tag = 1};
    if ((flags & BP_HOST_CRASH_GUARD) != 0)
        desc.call_limit = 10000;
    desc.allocator = allocator;
    bp_host_o *host = bp_host_create(&desc);
    worlds_must(host, host == NULL ? BP_ERROR_MEMORY : BP_OK, "creating a host");
    worlds_must(host, bp_host_load_plugin(host, BENCH_PLUGIN_DIR "/point_mass", NULL, 0),
                "loading point_mass");
    if (many)
        worlds_must(host, bp_host_load_plugin(host, "many", NULL, 0), "loading the plugin of the benchmarks");
    return host;
}

static void make_world(bench_world_t *w)
{
    w->api = bp_host_api(w->host);
    w->world = bp_world_create(w->host, &(bp_world_desc_t){.name = "main"});
    worlds_must(w->host, w->world == NULL ? BP_ERROR_MEMORY : BP_OK, "creating a world");
    worlds_must(w->host, bp_world_use_component(w->world, BP_POINT_MASS), "bringing in point_mass");
}

static void make_prototype(bench_world_t *w)
{
    w->component = w->api->world->component(w->world, BP_POINT_MASS);
    w->key = worlds_key(w, BP_POINT_MASS);
    worlds_must(w->host, w->api->world->prototype(w->world, &w->key, 1, &w->prototype), "making a prototype");
}

void worlds_create(bench_world_t *w, uint32_t many)
{
    worlds_create_with(w, many, 0, NULL);
}

void worlds_create_guarded(bench_world_t *w)
{
    memset(w, 0, sizeof *w);
    w->host = create_host(false, NULL, BP_HOST_CRASH_GUARD);
    make_world(w);
    make_prototype(w);
}

void worlds_create_with(bench_world_t *w, uint32_t many, uint32_t systems, const bp_allocator_i *allocator)
{
    memset(w, 0, sizeof *w);
    w->host = create_host(many > 0, allocator, 0);
    make_world(w);
    for (uint32_t i = 0; i < many; i++)
        worlds_must(w->host, bp_world_use_component(w->world, make_many()->component_names[i]),
                    "bringing in a component");
    for (uint32_t i = 0; i < systems; i++)
        worlds_must(w->host, bp_world_use_system(w->world, make_many()->system_names[i]),
                    "bringing in a system");
    make_prototype(w);
}

/* --- hosts with a plugin of a case's own --------------------------------------------------------------- */

static void use_components(const bench_world_t *w, bp_world_o *world, const bp_plugin_head_t *plugin)
{
    for (uint32_t i = 0; i < plugin->desc->components.count; i++)
        worlds_must(w->host, bp_world_use_component(world, plugin->desc->components.items[i].name),
                    "bringing in a component");
}

void worlds_open(bench_world_t *w, const bp_plugin_head_t *plugin, uint32_t first, uint32_t systems, uint32_t threads)
{
    memset(w, 0, sizeof *w);
    w->host = bp_host_create(&(bp_host_desc_t){.threads = threads, .tag = 1, .static_plugins = &plugin,
                                               .static_plugin_count = 1});
    worlds_must(w->host, w->host == NULL ? BP_ERROR_MEMORY : BP_OK, "creating a host");
    worlds_must(w->host, bp_host_load_plugin(w->host, plugin->name, NULL, 0), "loading a plugin");
    w->api = bp_host_api(w->host);
    w->world = worlds_another(w, plugin, "main");
    for (uint32_t i = first; i < first + systems; i++)
        worlds_must(w->host, bp_world_use_system(w->world, plugin->desc->systems.items[i].name),
                    "bringing in a system");
}

bp_world_o *worlds_another(const bench_world_t *w, const bp_plugin_head_t *plugin, const char *name)
{
    bp_world_o *world = bp_world_create(w->host, &(bp_world_desc_t){.name = name});
    worlds_must(w->host, world == NULL ? BP_ERROR_MEMORY : BP_OK, "creating a world");
    use_components(w, world, plugin);
    return world;
}

void worlds_destroy(bench_world_t *w)
{
    bp_host_destroy(w->host);
    memset(w, 0, sizeof *w);
}

uint32_t worlds_key(const bench_world_t *w, const char *component)
{
    uint32_t key, number = w->api->world->component(w->world, component);
    worlds_must(w->host, w->api->world->key(w->world, number, 0, &key), "making a key");
    return key;
}

uint32_t worlds_prototype(const bench_world_t *w, const char *components)
{
    uint32_t keys[32], count = 0, prototype;
    char names[256];
    snprintf(names, sizeof names, "%s", components);
    for (char *name = strtok(names, " "); name != NULL && count < 32; name = strtok(NULL, " "))
        keys[count++] = worlds_key(w, name);
    worlds_must(w->host, w->api->world->prototype(w->world, keys, count, &prototype), "making a prototype");
    return prototype;
}

void worlds_field(const bench_world_t *w, const char *component, const char *name, bench_field_t *field)
{
    worlds_must(w->host, w->api->property->resolve(w->world, (bp_entity_t){0}, component, name, field),
                "resolving a field");
}

bp_entity_t *worlds_entities(bench_world_t *w, uint32_t count)
{
    bp_entity_t *entities = worlds_memory(count, sizeof *entities);
    worlds_must(w->host, w->api->world->create(w->world, w->prototype, entities, count), "creating entities");
    return entities;
}

uint64_t worlds_host_bytes(const bench_world_t *w)
{
    return memory_bytes(&w->host->base.memory);
}

uint64_t worlds_world_bytes(const bench_world_t *w)
{
    bp_world_stats_t stats;
    bp_world_stats(w->world, &stats);
    return stats.bytes;
}

uint32_t worlds_dead_rows(const bench_world_t *w)
{
    bp_world_stats_t stats;
    bp_world_stats(w->world, &stats);
    return stats.holes;
}

uint32_t worlds_living(const bench_world_t *w)
{
    bp_world_stats_t stats;
    bp_world_stats(w->world, &stats);
    return stats.entities;
}

uint32_t worlds_collect(const bench_world_t *w)
{
    uint32_t steps = 0;
    bp_world_stats_t stats;
    do {
        worlds_step(w);
        steps++;
        bp_world_stats(w->world, &stats);
    } while (steps < WORLDS_STEPS && stats.holes > stats.entities / 100 + WORLDS_FEW);
    return steps;
}

void worlds_group(floor_group_t *group, uint32_t size)
{
    group->entities = worlds_memory(size, sizeof *group->entities);
    group->mass = worlds_memory(size, sizeof *group->mass);
    group->position = worlds_memory(size, sizeof *group->position);
    group->velocity = worlds_memory(size, sizeof *group->velocity);
    group->acceleration = worlds_memory(size, sizeof *group->acceleration);
    group->second = NULL;
    group->count = 0;
}

void worlds_free_group(floor_group_t *group)
{
    free(group->entities);
    free(group->mass);
    free(group->position);
    free(group->velocity);
    free(group->acceleration);
    free(group->second);
}

/* --- orders ------------------------------------------------------------------------------------------- */

uint32_t *worlds_order(uint32_t count, uint64_t seed)
{
    uint32_t *order = worlds_memory(count, sizeof *order);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = bp_random_below(&seed, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

void worlds_shuffle(bp_entity_t *entities, uint32_t count, uint64_t seed)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = bp_random_below(&seed, i);
        bp_entity_t e = entities[i - 1];
        entities[i - 1] = entities[j];
        entities[j] = e;
    }
}

uint32_t worlds_next_run(bp_world_o *handle, uint32_t component, uint32_t *cursor, bp_run_t *view)
{
    const world_t *world = &handle->rows;
    const prototypes_t *p = &world->prototypes;
    while (*cursor < world->run_count) {
        const run_t *run = world->runs[(*cursor)++];
        uint32_t at = run->count == 0 ? 0 : run->prototype;
        while (at != 0 && p->keys[p->items[at].key].manager != component)
            at = p->items[at].base;
        if (at == 0)
            continue;
        *view = (bp_run_t){.struct_size = sizeof *view,
                           .count = run->count,
                           .prototype = run->prototype,
                           .entities = run_entities(run),
                           .columns = run->columns + p->items[p->items[at].base].columns};
        return 1;
    }
    return 0;
}

bp_result_t worlds_get_singly(const bp_property_api *property, bp_world_o *world, bp_property_t *mass,
                              const bp_entity_t *entities, uint32_t count, float *values)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count; i++)
        result |= property->get(world, mass, &entities[i], 1, &values[i], sizeof(float));
    return result;
}

bp_result_t worlds_get_inline(const bp_property_api *property, bp_world_o *world, bp_property_t *mass,
                              const bp_entity_t *entities, uint32_t count, float *values)
{
    bp_result_t result = BP_OK;
    bp_property_t seen = *mass; /* no call gets its address, so `seen` stays in registers */
    for (uint32_t i = 0; i < count; i++) {
        const float *cell = bp_property_cell(world, &seen, entities[i]);
        if (cell != NULL) {
            values[i] = *cell;
        } else {
            result |= property->get(world, mass, &entities[i], 1, &values[i], sizeof(float));
            seen = *mass;
        }
    }
    return result;
}
