/* recall.c - the plugin of recall.h. */
#include "recall.h"

#include "../reload/reload_support.h"
#include "../unit/support.h"

#include <helpers/bp_slots.h>
#include <stdio.h>
#include <string.h>

/* --- body --------------------------------------------------------------------------------------------------------- */

struct body { float *x; const float *y; uint32_t *age; bp_entity_t *other; const char *const *tag; bp_list_t *trail;
    const bp_list_t *notes; };

static const bp_field_t body_fields[] = {
    {BP_FIELD_OF(struct body, x)},
    {BP_FIELD_OF(struct body, y), .initial = "1"},
    {BP_FIELD_OF(struct body, age)},
    {BP_FIELD_OF(struct body, other)},
    {BP_FIELD_OF(struct body, tag), .initial = "newborn"},
    {.name = "trail", .type = BP_F32, .flags = BP_FIELD_LIST, .access = BP_WRITE, .column = 6},
    {.name = "notes", .type = BP_STRING, .flags = BP_FIELD_LIST, .access = BP_READ, .column = 7},
};

static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct body, c, run->columns);
    for (uint32_t i = 0; i < count; i++) {
        c.x[i] += c.y[i] * (float)run->step->dt;
        c.age[i]++;
        if (run->entities[i].id != 0 && (c.age[i] + i) % 5 == 0)
            bp_list_append(run->lists, &c.trail[i], &c.x[i], sizeof(float));
        if (c.trail[i].count > 9)
            bp_list_remove(&c.trail[i], 0, sizeof(float));
    }
}

/* --- fog ---------------------------------------------------------------------------------------------------------- */

enum { DEPTH = BP_SLOTS_FIRST, COLUMNS_END };
static const uint32_t sizes[COLUMNS_END] = {8, 8, 8};

static bp_result_t fog_start(bp_manager_t *m)
{
    bp_slots_t *slots = m->api->memory->resize(m->plugin, NULL, 0, sizeof *slots);
    if (slots == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "fog");
    bp_slots_init(slots, sizes + BP_SLOTS_FIRST, 1);
    m->state = slots;
    return BP_OK;
}

static void fog_stop(bp_manager_t *m)
{
    bp_slots_free(m, m->state);
    m->state = m->api->memory->resize(m->plugin, m->state, sizeof(bp_slots_t), 0);
}

static bp_result_t fog_create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots)
{
    bp_result_t result = bp_slots_reserve(m, m->state, instance, count);
    if (result != BP_OK)
        return result;
    uint32_t first = bp_slots_append(m->state, instance, entities, count, slots);
    for (uint32_t i = 0; i < count; i++)
        BP_SLOTS(uint64_t, (bp_slots_t *)m->state, DEPTH)[first + i] =
            columns != NULL && columns[0] != NULL ? ((const uint64_t *)columns[0])[i] : first;
    return BP_OK;
}

static void fog_destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    bp_slots_destroy(m, m->state, slots, count, NULL);
}

static uint32_t fog_gc(bp_manager_t *m, uint64_t *random)
{
    return bp_slots_collect(m, m->state, random, NULL);
}

static uint32_t fog_count(bp_manager_t *m)
{
    return ((const bp_slots_t *)m->state)->count;
}

static bp_result_t fog_get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                           size_t stride)
{
    (void)field;
    for (uint32_t i = 0; i < count; i++)
        memcpy((char *)values + i * stride, &BP_SLOTS(uint64_t, (bp_slots_t *)m->state, DEPTH)[slots[i]], 8);
    return BP_OK;
}

static bp_result_t fog_set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void *values,
                           size_t stride)
{
    (void)field;
    for (uint32_t i = 0; i < count; i++)
        memcpy(&BP_SLOTS(uint64_t, (bp_slots_t *)m->state, DEPTH)[slots[i]], (const char *)values + i * stride, 8);
    return BP_OK;
}

static bp_result_t fog_save(bp_manager_t *m, void **data, size_t *size)
{
    *size = bp_slots_written(m->state, 7);
    *data = m->api->memory->resize(m->plugin, NULL, 0, *size);
    if (*data == NULL)
        return m->api->error->set(m->host, BP_ERROR_MEMORY, "fog");
    bp_slots_write(m->state, 7, *data);
    return BP_OK;
}

static bp_result_t fog_load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    (void)version;
    const char *end = (const char *)data + size;
    return bp_slots_read(m, m->state, 7, sizes, data, end) == end ? BP_OK : BP_ERROR_FAILED;
}

static const bp_storage_i fog_storage = {.struct_size = sizeof fog_storage, .create = fog_create, .destroy =
    fog_destroy,
                                         .get = fog_get, .set = fog_set, .count = fog_count, .gc = fog_gc};
static const bp_save_i fog_saving = {fog_save, fog_load};
static const bp_extension_t fog_extensions[] = {{BP_EXTENSION("bp_save", fog_saving)}};
static const bp_field_t fog_fields[] = {{.name = "depth", .type = BP_U64}};

static const bp_component_i components[] = {
    {.name = "body", .flags = BP_COMPONENT_PARALLEL | BP_COMPONENT_CONCURRENT, .fields = BP_LIST(body_fields),
        .simulate = simulate},
    {.name = "fog", .version = 1, .fields = BP_LIST(fog_fields), .start = fog_start, .stop = fog_stop,
     .storage = &fog_storage, .keeps = BP_KEEP_SAVED, .extensions = BP_LIST(fog_extensions)},
    {.name = "mark", .flags = BP_COMPONENT_AT_ONCE},
};

/* --- systems ------------------------------------------------------------------------------------------------------ */

static bp_result_t begin(bp_system_t *s, size_t size)
{
    s->state = s->api->memory->resize(s->plugin, NULL, 0, size);
    if (s->state == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "recall");
    memset(s->state, 0, size);
    return BP_OK;
}

static void end(bp_system_t *s, size_t size)
{
    s->state = s->api->memory->resize(s->plugin, s->state, size, 0);
}

typedef struct breed_state_t {
    uint32_t body, fog, mark, plain;
    bp_property_t y, tag;
} breed_state_t;

static bp_result_t settle(bp_system_t *s, breed_state_t *b)
{
    const bp_world_api *w = s->api->world;
    bp_result_t result = w->key(s->world, w->component(s->world, "body"), 0, &b->body);
    if (result == BP_OK)
        result = w->key(s->world, w->component(s->world, "fog"), 0, &b->fog);
    if (result == BP_OK)
        result = w->key(s->world, w->component(s->world, "mark"), 0, &b->mark);
    if (result == BP_OK)
        result = w->prototype(s->world, &b->body, 1, &b->plain);
    if (result == BP_OK)
        result = s->api->property->resolve(s->world, (bp_entity_t){0}, "body", "y", &b->y);
    return result == BP_OK ? s->api->property->resolve(s->world, (bp_entity_t){0}, "body", "tag", &b->tag) : result;
}

static bp_result_t breed_start(bp_system_t *s)
{
    bp_result_t result = begin(s, sizeof(breed_state_t));
    if (result != BP_OK)
        return result;
    result = settle(s, s->state);
    if (result != BP_OK)
        end(s, sizeof(breed_state_t));
    return result;
}

static void breed_stop(bp_system_t *s)
{
    end(s, sizeof(breed_state_t));
}

static uint64_t mix(bp_entity_t e, uint64_t step)
{
    uint64_t state = e.id * 31 + step;
    return bp_random_next(&state);
}

static void breed_run(const bp_match_t *match, uint32_t count)
{
    static const char *const tags[] = {"red", "green", "blue", "a longer text than others", ""};
    bp_system_t *s = match->system;
    const breed_state_t *b = s->state;
    bp_commands_o *commands = match->step->commands;
    for (uint32_t i = 0; i < count; i++) {
        bp_entity_t e = match->entities[i], child;
        uint64_t dice = e.id == 0 ? 1 : mix(e, match->step->number);
        float y = (float)(dice >> 40) / 65536.0f;
        switch (dice % 64) {
        case 0:
            s->api->command->create(commands, b->plain, &child, 1);
            s->api->command->set(commands, &b->y, &child, 1, &y, sizeof y);
            if ((dice & 128) != 0)
                s->api->command->add(commands, b->fog, &child, 1);
            break;
        case 2: case 3: s->api->command->destroy(commands, &e, 1); break;
        case 4: s->api->command->add(commands, b->mark, &e, 1); break;
        case 5: s->api->command->remove(commands, b->mark, &e, 1); break;
        case 6: s->api->command->add(commands, b->fog, &e, 1); break;
        case 7: s->api->command->set(commands, &b->tag, &e, 1, &tags[(dice >> 8) % 5], sizeof tags[0]); break;
        default: break;
        }
    }
}

typedef struct reader_state_t {
    uint64_t random, known;
    bp_entity_t asked[4];
} reader_state_t;

static bp_result_t reader_start(bp_system_t *s)
{
    bp_result_t result = begin(s, sizeof(reader_state_t));
    if (result == BP_OK)
        ((reader_state_t *)s->state)->random = 7;
    return result;
}

static void reader_stop(bp_system_t *s)
{
    end(s, sizeof(reader_state_t));
}

static void reader_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    reader_state_t *r = s->state;
    bp_entity_t became[4];
    (void)matches, (void)count;
    r->known += s->api->command->created(s->world, r->asked, 4, became);
    for (uint32_t i = 0; i < 4; i++)
        r->known = r->known * 31 + became[i].id;
    memset(r->asked, 0, sizeof r->asked);
    if (bp_random_below(&r->random, 3) == 0)
        s->api->command->create(step->commands, 0, r->asked, bp_random_below(&r->random, 4));
}

typedef struct watcher_state_t {
    uint64_t came, went, order;
} watcher_state_t;

static bp_result_t watcher_start(bp_system_t *s)
{
    return begin(s, sizeof(watcher_state_t));
}

static void watcher_stop(bp_system_t *s)
{
    end(s, sizeof(watcher_state_t));
}

static void watcher_added(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    watcher_state_t *w = s->state;
    w->came += count;
    for (uint32_t i = 0; i < count; i++)
        w->order = w->order * 31 + entities[i].id;
}

static void watcher_removed(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    watcher_state_t *w = s->state;
    w->went += count;
    for (uint32_t i = 0; i < count; i++)
        w->order = w->order * 37 + entities[i].id;
}

static bp_result_t watcher_save(bp_system_t *s, void **data, size_t *size)
{
    *size = sizeof(watcher_state_t);
    *data = s->api->memory->resize(s->plugin, NULL, 0, *size);
    if (*data == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "watcher");
    memcpy(*data, s->state, *size);
    return BP_OK;
}

static bp_result_t watcher_load(bp_system_t *s, const void *data, size_t size)
{
    if (size != sizeof(watcher_state_t))
        return BP_ERROR_FAILED;
    memcpy(s->state, data, size);
    return BP_OK;
}

static void nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

scribe_state_t *recall_scribe;

static bp_result_t scribe_start(bp_system_t *s)
{
    bp_result_t result = begin(s, sizeof(scribe_state_t));
    recall_scribe = s->state;
    return result;
}

static void scribe_stop(bp_system_t *s)
{
    end(s, sizeof(scribe_state_t));
}

static void scribe_run(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    scribe_state_t *state = s->state;
    (void)matches, (void)count;
    state->runs++;
    state->last = step->number + 1;
}

static void scribe_rewound(bp_system_t *s, const bp_step_t *now)
{
    scribe_state_t *state = s->state;
    state->rewound++;
    state->last = now->number;
}

static const bp_term_field_t x_only[] = {{.name = "x", .type = BP_F32}};
static const bp_term_t bodies[] = {{.component = "body", .fields = BP_LIST(x_only)}};
static const bp_term_t marked[] = {{.component = "body"}, {.component = "mark"}};
static const bp_term_t foggy[] = {{.component = "fog"}};
static const bp_system_save_i watcher_saving = {watcher_save, watcher_load};
static const bp_rewind_i scribe_rewinding = {scribe_rewound};
static const bp_extension_t watcher_extensions[] = {{BP_EXTENSION("bp_save", watcher_saving)}};
static const bp_extension_t scribe_extensions[] = {{BP_EXTENSION("bp_rewind", scribe_rewinding)}};

static const bp_system_i systems[] = {
    {.name = "breed", .terms = BP_LIST(bodies), .flags = BP_SYSTEM_PARALLEL | BP_SYSTEM_CONCURRENT, .start =
        breed_start,
     .stop = breed_stop, .run = breed_run, .after = "body", .keeps = BP_KEEP_ANEW},
    {.name = "reader", .flags = BP_SYSTEM_COMMANDS_FIRST, .start = reader_start, .stop = reader_stop,
     .run_all = reader_run, .after = "breed", .state_form = BP_STATE_FORM(reader_state_t, 1), .keeps = BP_KEEP_PLAIN},
    {.name = "watcher", .terms = BP_LIST(marked), .start = watcher_start, .stop = watcher_stop, .run_all = nothing,
     .entities_added = watcher_added, .entities_removed = watcher_removed, .keeps = BP_KEEP_SAVED,
     .extensions = BP_LIST(watcher_extensions)},
    {.name = "foggy", .terms = BP_LIST(foggy), .start = watcher_start, .stop = watcher_stop, .run_all = nothing,
     .entities_added = watcher_added, .entities_removed = watcher_removed, .keeps = BP_KEEP_PLAIN,
     .state_form = BP_STATE_FORM(watcher_state_t, 2)},
    {.name = "scribe", .flags = BP_SYSTEM_OUTPUT, .start = scribe_start, .stop = scribe_stop, .run_all = scribe_run,
     .extensions = BP_LIST(scribe_extensions)},
};

static const bp_plugin_desc_t desc = {.version = "1", .components = BP_LIST(components), .systems = BP_LIST(systems)};
const bp_plugin_head_t recall_plugin = BP_PLUGIN_HEAD("recall", &desc);

/* --- from outside ------------------------------------------------------------------------------------------------- */

void recall_open(bp_host_o *host)
{
    static const char *const names[] = {"main", "side"};
    WORKS(host, bp_host_load_plugin(host, "recall", NULL, 0));
    for (uint32_t w = 0; w < 2; w++) {
        bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = names[w], .step_rate = 60});
        for (uint32_t i = 0; i < COUNT(components); i++)
            WORKS(host, bp_world_use_component(world, components[i].name));
        for (uint32_t i = 0; i < COUNT(systems); i++) {
            if (w == 0 || systems[i].flags != BP_SYSTEM_OUTPUT)
                WORKS(host, bp_world_use_system(world, systems[i].name));
        }
    }
}

bp_host_o *recall_open_probes(rig_t *rig, recall_probes_t what, bp_entity_t *entities)
{
    static const bp_plugin_head_t *const plugins[] = {&recall_plugin};
    rig_init(rig);
    rig->desc.flags = BP_HOST_COPY_PLUGINS | what.flags;
    rig->desc.static_plugins = plugins;
    rig->desc.static_plugin_count = 1;
    rig->desc.threads = what.threads == 0 ? 1 : what.threads;
    if (what.threads > 1)
        rig->desc.allocator = NULL; /* the rig's heap is for one thread */
    rig_open(rig);
    recall_open(rig->host);
    WORKS(rig->host, bp_host_load_plugin(rig->host, put_plugin(what.fixture, "probe"), NULL, 0));
    bp_world_o *world = rig->api->world->at(rig->host, 0);
    WORKS(rig->host, bp_world_use_component(world, "probe"));
    WORKS(rig->host, rig->api->world->create(world, prototype_of(world, "probe", NULL, NULL, NULL), entities,
                                              what.count));
    if (what.budget > 0)
        WORKS(rig->host, bp_host_remember(rig->host, what.budget));
    return rig->host;
}

static bp_entity_t pick(const bp_api_t *api, bp_host_o *host, uint64_t *random)
{
    uint32_t bound = api->entity->bound(host);
    for (uint32_t tries = 0; bound > 0 && tries < 20; tries++) {
        bp_entity_t e = api->entity->at(host, bp_random_below(random, bound));
        if (e.id != 0)
            return e;
    }
    return (bp_entity_t){0};
}

static void create(const bp_api_t *api, bp_world_o *world, uint64_t *random)
{
    static const char *const types[] = {"body", "fog", "mark"};
    uint32_t keys[3], count = 0, prototype;
    bp_entity_t entities[40];
    for (uint32_t i = 0; i < 3; i++) {
        char name[16] = "";
        bp_name_t instance = 0;
        if (i > 0 && bp_random_below(random, 2) == 0)
            continue;
        if (bp_random_below(random, 8) == 0) {
            snprintf(name, sizeof name, "%s%u", types[i], bp_random_below(random, 3));
            EXPECT(api->name->intern(host_of(world), name, &instance) == BP_OK, "name");
        }
        EXPECT(api->world->key(world, api->world->component(world, types[i]), instance, &keys[count++]) == BP_OK,
            "key");
    }
    EXPECT(api->world->prototype(world, keys, count, &prototype) == BP_OK, "prototype");
    uint32_t wanted = 1 + bp_random_below(random, 40);
    WORKS(host_of(world), api->world->create(world, prototype, entities, wanted));
}

static void note(const bp_api_t *api, bp_world_o *world, bp_entity_t e, uint64_t *random)
{
    static const char *texts[] = {"one", "two", "three and more", "", "five"};
    bp_list_t list = {(void *)(uintptr_t)texts, bp_random_below(random, 6), 0};
    bp_property_t notes;
    if (e.id == 0)
        return;
    if (api->property->resolve(world, e, "body", "notes", &notes) == BP_OK)
        WORKS(host_of(world), api->property->set(world, &notes, &e, 1, &list, sizeof list));
    api->property->set_named(world, e, "body", "other", BP_ENTITY, &e);
    api->property->set_named(world, e, "fog", "depth", BP_U64, random);
}

void recall_act(bp_host_o *host, uint64_t step, uint64_t seed)
{
    const bp_api_t *api = bp_host_api(host);
    uint64_t random = seed * 1000003 + step;
    for (uint32_t w = 0; w < 2; w++) {
        bp_world_o *world = api->world->at(host, w);
        uint32_t deeds = bp_random_below(&random, 4);
        for (uint32_t i = 0; i < deeds; i++) {
            bp_entity_t e = pick(api, host, &random);
            uint32_t key;
            switch (bp_random_below(&random, 6)) {
            case 0: create(api, world, &random); break;
            case 1: api->entity->destroy(host, &e, 1); break;
            case 2:
                EXPECT(api->world->key(world, api->world->component(world, "fog"), 0, &key) == BP_OK, "key");
                api->world->add(world, key, &e, 1);
                break;
            case 3:
                EXPECT(api->world->key(world, api->world->component(world, "body"), 0, &key) == BP_OK, "key");
                api->world->remove(world, key, &e, 1);
                break;
            default: note(api, world, e, &random); break;
            }
        }
    }
}

/* --- looking ------------------------------------------------------------------------------------------------------ */

uint64_t recall_hash(bp_host_o *host)
{
    bp_snapshot_o *snapshot;
    WORKS(host, bp_host_snapshot(host, &snapshot));
    uint64_t hash = bp_snapshot_hash(snapshot, NULL);
    bp_snapshot_free(snapshot);
    return hash;
}

bp_history_t recall_history(bp_host_o *host)
{
    bp_history_t history = {.struct_size = sizeof history};
    bp_host_history(host, &history);
    return history;
}

void recall_close(rig_t *rig)
{
    rig->log.count = 0;
    rig->log.text[0] = '\0';
    rig_close(rig);
}
