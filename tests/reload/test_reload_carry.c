/* test_reload_carry.c - storage of its own from one version to the next: every value of many instances, in batches, and
 * what is said where a verb of either version fails.
 *
 * Versions need no compiler here: the plugin `stage` is linked in and opens files that end in ".stage"; what such a
 * file declares is what the test has put into `staged`. A component knows its version by `user`.
 */
#include "../suites.h"
#include "reload_support.h"

#include <bp_task.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 2600, WIDE = 3600, WIDE_ROOM = 400 };
enum { NUMBER, TEXT, FRIEND, LOCKED, LARGE, FIELDS };

typedef enum verb_t { NONE, CREATE, GET, SET, SAVE, LOAD, COUNTS, LOSES, FORGETS } verb_t;

/* What goes wrong: the verb of which version, with which field, and with a sentence or without one. */
typedef struct harm_t {
    verb_t verb;
    uint32_t version, field;
    bool silent;
} harm_t;

typedef struct hoard_t {
    uint32_t used, count;
    uint32_t number[ROOM], locked[ROOM];
    char text[ROOM][160];
    bp_entity_t friend[ROOM];
    uint32_t large[WIDE_ROOM][WIDE];
} hoard_t;

static rig_t rig;
static bp_world_o *world;
static bp_entity_t entities[ROOM];
static harm_t harm;
static uint32_t fails_after; /* calls of the verb that are well before */
static uint32_t largest_batch;
static bool has_large;
static bool posts;          /* `create` posts a task, which says of which version it was */
static char heard[64];
static bool looks_slots_up; /* `create` of version 2 finds the slots of the instances that it has made, and no others */

static uint32_t version_of(const bp_manager_t *m)
{
    return *(const uint32_t *)m->user;
}

static bool is_harmed(const bp_manager_t *m, verb_t verb, uint32_t field)
{
    return harm.verb == verb && harm.version == version_of(m) && (field == FIELDS || harm.field == field) &&
           fails_after-- == 0;
}

static bp_result_t refuse(bp_manager_t *m)
{
    return harm.silent ? BP_ERROR_FAILED : m->api->error->set(m->host, BP_ERROR_LIMIT, "hoard: not today");
}

static bp_result_t starve(bp_manager_t *m)
{
    return m->api->error->set(m->host, BP_ERROR_MEMORY, "hoard: out of memory while hoarding");
}

/* A verb that has got over a failure, whose sentence is nobody's reason. */
static bp_result_t done(bp_manager_t *m)
{
    m->api->error->set(m->host, BP_ERROR_NOT_FOUND, "hoard: that was nothing");
    return BP_OK;
}

static bp_result_t start(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof(hoard_t));
    if (m->state == NULL)
        return starve(m);
    memset(m->state, 0, sizeof(hoard_t));
    return done(m);
}

static void stop(bp_manager_t *m)
{
    m->api->memory->resize(m->plugin, m->state, sizeof(hoard_t), 0);
}

static void *cell(hoard_t *h, uint32_t field, uint32_t slot)
{
    switch (field) {
    case NUMBER: return &h->number[slot];
    case FRIEND: return &h->friend[slot];
    case LOCKED: return &h->locked[slot];
    default: return h->large[slot];
    }
}

static uint32_t size_of(uint32_t field)
{
    return field == FRIEND ? sizeof(bp_entity_t) : field == LARGE ? WIDE * sizeof(uint32_t) : sizeof(uint32_t);
}

static bp_result_t get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                       size_t stride)
{
    hoard_t *h = m->state;
    if (is_harmed(m, GET, field))
        return refuse(m);
    for (uint32_t i = 0; i < count; i++) {
        char *to = (char *)values + i * stride;
        const char *text = h->text[slots[i]];
        if (field == TEXT)
            memcpy(to, &text, sizeof text);
        else
            memcpy(to, cell(h, field, slots[i]), size_of(field));
    }
    return done(m);
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void *values,
                       size_t stride)
{
    hoard_t *h = m->state;
    if (is_harmed(m, SET, field))
        return refuse(m);
    if (harm.verb == FORGETS && harm.version == version_of(m) && harm.field == field)
        return BP_OK;
    for (uint32_t i = 0; i < count; i++) {
        const char *from = (const char *)values + i * stride, *text;
        if (field == TEXT) {
            memcpy(&text, from, sizeof text);
            snprintf(h->text[slots[i]], sizeof h->text[0], "%s", text);
        } else {
            memcpy(cell(h, field, slots[i]), from, size_of(field));
        }
        if (field == NUMBER)
            h->locked[slots[i]] = h->number[slots[i]] * 2; /* follows from it */
    }
    return done(m);
}

/* The first `made` entities have their slots, in order, and the others none. */
static void expect_slots(bp_manager_t *m, uint32_t made)
{
    static uint32_t slots[ROOM];
    uint32_t count = 0, key = key_of(world, "hoard", "");
    while (count < ROOM && entities[count].id != 0)
        count++;
    uint32_t found = m->api->world->slots(world, key, entities, count, slots);
    EXPECT(found == made, "%u of %u entities have slots; %u are made", found, count, made);
    for (uint32_t i = 0; i < count; i++)
        EXPECT(slots[i] == (i < made ? i : BP_NONE), "entity %u has slot %u; %u are made", i, slots[i], made);
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *all, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    hoard_t *h = m->state;
    (void)instance, (void)all;
    if (posts) {
        const bp_task_api *tasks = (const bp_task_api *)m->api->registry->find(m->host, BP_TASK_API, 1);
        ck_assert_int_eq(tasks->post(m->plugin, "hear", &(uint32_t){version_of(m)}, sizeof(uint32_t)), BP_OK);
    }
    if (is_harmed(m, CREATE, FIELDS))
        return refuse(m);
    largest_batch = count > largest_batch ? count : largest_batch;
    if (looks_slots_up && version_of(m) == 2)
        expect_slots(m, h->used);
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = h->used++;
        snprintf(h->text[slots[i]], sizeof h->text[0], "none");
    }
    h->count += count;
    for (uint32_t f = 0; columns != NULL && f < (has_large ? FIELDS : LARGE); f++) {
        ck_assert_uint_eq((uintptr_t)columns[f] % sizeof(double), 0); /* whatever stands before it */
        if (columns[f] != NULL)
            set(m, f, slots, count, columns[f], size_of(f));
    }
    return done(m);
}

static void destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)slots;
    ((hoard_t *)m->state)->count -= count;
}

static uint32_t count_all(bp_manager_t *m)
{
    const hoard_t *h = m->state;
    return is_harmed(m, COUNTS, FIELDS) ? h->count - 1 : h->count;
}

static bp_result_t save(bp_manager_t *m, void **data, size_t *size)
{
    if (is_harmed(m, SAVE, FIELDS))
        return refuse(m);
    if (((hoard_t *)m->state)->used == 0)
        return BP_OK; /* nothing to save: what is there for the answer stays as it is */
    *size = sizeof(hoard_t);
    *data = m->api->memory->resize(m->plugin, NULL, 0, *size);
    if (*data != NULL)
        memcpy(*data, m->state, *size);
    return *data == NULL ? starve(m) : done(m);
}

static bp_result_t load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    (void)version;
    if (is_harmed(m, LOAD, FIELDS))
        return refuse(m);
    ck_assert_uint_eq(size, data == NULL ? 0 : sizeof(hoard_t));
    if (size > 0)
        memcpy(m->state, data, size);
    if (harm.verb == LOSES)
        ((hoard_t *)m->state)->count = 1;
    return done(m);
}

#define NUMBER_FIELDS(flags_of_locked)              \
    {.name = "number", .type = BP_U32},             \
    {.name = "text", .type = BP_STRING, .initial = "none"}, \
    {.name = "friend", .type = BP_ENTITY},          \
    {.name = "locked", .type = BP_U32, .flags = (flags_of_locked)}

static const bp_field_t small_fields[] = {NUMBER_FIELDS(BP_FIELD_READ_ONLY)};
static const bp_field_t large_fields[] = {NUMBER_FIELDS(BP_FIELD_READ_ONLY),
                                          {.name = "large", .type = BP_U32, .count = WIDE}};
static const bp_field_t column_fields[] = {NUMBER_FIELDS(0)};
static const bp_storage_i storage = {.struct_size = sizeof storage, .create = create, .destroy = destroy, .get = get,
                                     .set = set, .count = count_all};
static const bp_save_i saving = {.save = save, .load = load};
static const bp_extension_t saved[] = {{BP_EXTENSION("bp_save", saving)}};
static uint32_t numbers[] = {0, 1, 2, 3, 4};

/* As the others, and it counts its dead, which it has not collected yet. */
static uint32_t collect_none(bp_manager_t *m, uint64_t *random)
{
    (void)m, (void)random;
    return 0;
}

static const bp_storage_i collecting = {.struct_size = sizeof collecting, .create = create, .destroy = destroy,
                                        .get = get, .set = set, .count = count_all, .gc = collect_none};

#define HOARD(number) .name = "hoard", .user = &numbers[number]
#define OWN .storage = &storage, .start = start, .stop = stop

/* The kinds of versions, twice each, so that the old one is told from the new. */
static const bp_component_i by_properties[][1] = {{{HOARD(1), OWN, .fields = BP_LIST(small_fields)}},
                                                  {{HOARD(2), OWN, .fields = BP_LIST(small_fields)}}};
static const bp_component_i by_collecting[][1] = {
    {{HOARD(1), .storage = &collecting, .start = start, .stop = stop, .fields = BP_LIST(small_fields)}},
    {{HOARD(2), .storage = &collecting, .start = start, .stop = stop, .fields = BP_LIST(small_fields)}}};
static const bp_component_i by_large[][1] = {{{HOARD(1), OWN, .fields = BP_LIST(large_fields)}},
                                             {{HOARD(2), OWN, .fields = BP_LIST(large_fields)}}};
static const bp_component_i by_saving[][1] = {
    {{HOARD(1), OWN, .fields = BP_LIST(small_fields), .extensions = BP_LIST(saved)}},
    {{HOARD(2), OWN, .fields = BP_LIST(small_fields), .extensions = BP_LIST(saved)}}};
static const bp_component_i by_columns[][1] = {{{HOARD(1), .fields = BP_LIST(column_fields)}},
                                               {{HOARD(2), .fields = BP_LIST(column_fields)}}};

/* Declared fields of other types; the text has a second line. */
static const bp_field_t wide_fields[] = {{.name = "number", .type = BP_F64},
                                         {.name = "text", .type = BP_STRING, .count = 2, .initial = "none"},
                                         {.name = "friend", .type = BP_ENTITY},
                                         {.name = "locked", .type = BP_F64}};
static const bp_field_t limited_fields[] = {{.name = "number", .type = BP_U32, .max = "1049"},
                                            {.name = "text", .type = BP_STRING, .initial = "none"},
                                            {.name = "friend", .type = BP_ENTITY},
                                            {.name = "locked", .type = BP_U32, .flags = BP_FIELD_READ_ONLY}};
static const bp_component_i by_limited[] = {{HOARD(2), OWN, .fields = BP_LIST(limited_fields)}};
static const bp_component_i by_wide[] = {{HOARD(3), .fields = BP_LIST(wide_fields)}};

static bp_plugin_desc_t described;
static bp_plugin_head_t staged;

static bp_result_t open_staged(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                               const bp_plugin_head_t **head, void **content)
{
    (void)plugin, (void)path, (void)bytes, (void)size;
    *head = &staged;
    *content = &staged;
    return BP_OK;
}

static void close_staged(bp_plugin_t *plugin, void *content)
{
    (void)plugin, (void)content;
}

static const bp_loader_t loaders[] = {{.ending = "stage", .open = open_staged, .close = close_staged}};
static const bp_plugin_head_t stage =
    BP_PLUGIN_HEAD("stage", (&(const bp_plugin_desc_t){.version = "1", .loaders = BP_LIST(loaders)}));

static void hear(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    uint32_t version;
    size_t length = strlen(heard);
    (void)plugin;
    ck_assert_uint_eq(size, sizeof version);
    memcpy(&version, bytes, size);
    snprintf(heard + length, sizeof heard - length, "[%u]", version);
}

static int32_t runs; /* versions that run: 1 between steps */

static bp_result_t resume(bp_plugin_t *plugin, uint32_t why)
{
    (void)plugin, (void)why;
    runs++;
    return BP_OK;
}

static void pause_hoard(bp_plugin_t *plugin, uint32_t why)
{
    (void)plugin, (void)why;
    runs--;
}

static const bp_task_t tasks_of_hoard[] = {{"hear", hear}};

static void put(const bp_component_i *component)
{
    described = (bp_plugin_desc_t){.version = "1",
                                   .components = {component, 1, sizeof *component},
                                   .tasks = BP_LIST(tasks_of_hoard),
                                   .pause = pause_hoard,
                                   .resume = resume,
                                   .keeps = BP_KEEP_NOTHING};
    staged = (bp_plugin_head_t)BP_PLUGIN_HEAD("hoard", &described);
}

static bp_result_t reload(void)
{
    static const char *const names[] = {"hoard"};
    bp_result_t result = bp_host_reload(rig.host, names, 1, NULL);
    rig.log = (log_text_t){.target = rig.log.target};
    return result;
}

static void set_one(uint32_t i, const char *name, uint32_t type, const void *value)
{
    WORKS(rig.host, rig.api->property->set_named(world, entities[i], "hoard", name, type, value));
}

/* So many instances, every value of its own; the large ones too where there are any. */
static void open_hoard(const bp_component_i *component, uint32_t count)
{
    static const bp_plugin_head_t *linked[] = {&stage};
    static uint32_t large[WIDE];
    harm = (harm_t){0};
    memset(entities, 0, sizeof entities);
    has_large = component->fields.count > LARGE;
    rig_open_with(&rig, linked, COUNT(linked));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stage", NULL, 0));
    put(component);
    WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file("hoard.stage", "h"), NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "hoard"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "hoard", NULL, NULL, NULL), entities, count));
    for (uint32_t i = 0; i < count && component->fields.count > 1; i++) {
        char words[16];
        const char *text = words;
        snprintf(words, sizeof words, "text %u", i);
        const char *const lines[2] = {text, "none"};
        bp_property_t property;
        set_one(i, "friend", BP_ENTITY, &entities[(i * 7 + 1) % count]);
        if (component == by_wide) {
            set_one(i, "number", BP_F64, &(double){i});
            set_one(i, "locked", BP_F64, &(double){i * 2.0});
            WORKS(rig.host, rig.api->property->resolve(world, entities[i], "hoard", "text", &property));
            WORKS(rig.host, rig.api->property->set(world, &property, &entities[i], 1, lines, sizeof lines));
            continue;
        }
        set_one(i, "number", BP_U32, &i);
        set_one(i, "text", BP_STRING, &text);
        if (component->storage == NULL)
            set_one(i, "locked", BP_U32, &(uint32_t){i * 2});
        if (!has_large)
            continue;
        for (uint32_t k = 0; k < WIDE; k++)
            large[k] = i * WIDE + k;
        WORKS(rig.host, rig.api->property->resolve(world, entities[i], "hoard", "large", &property));
        WORKS(rig.host, rig.api->property->set(world, &property, &entities[i], 1, large, sizeof large));
    }
}

static void close_hoard(void)
{
    harm = (harm_t){0};
    ck_assert_int_eq(runs, 1);
    check_host(rig.host);
    rig.log = (log_text_t){.target = rig.log.target};
    rig_close(&rig);
}

static void expect_values(uint32_t count, bool with_large)
{
    static uint32_t large[WIDE];
    const bp_property_api *p = rig.api->property;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = 0, locked = 0;
        const char *text = "";
        char wanted[16];
        bp_entity_t friend = {0};
        bp_property_t property;
        WORKS(rig.host, p->get_named(world, entities[i], "hoard", "number", BP_U32, &number));
        WORKS(rig.host, p->get_named(world, entities[i], "hoard", "locked", BP_U32, &locked));
        WORKS(rig.host, p->get_named(world, entities[i], "hoard", "friend", BP_ENTITY, &friend));
        WORKS(rig.host, p->get_named(world, entities[i], "hoard", "text", BP_STRING, &text));
        snprintf(wanted, sizeof wanted, "text %u", i);
        EXPECT(number == i && locked == i * 2 && strcmp(text, wanted) == 0, "%u: %u, %u, %s", i, number, locked, text);
        EXPECT(friend.id == entities[(i * 7 + 1) % count].id, "the friend of %u", i);
        if (!with_large)
            continue;
        WORKS(rig.host, p->resolve(world, entities[i], "hoard", "large", &property));
        WORKS(rig.host, p->get(world, &property, &entities[i], 1, large, sizeof large));
        for (uint32_t k = 0; k < WIDE; k++)
            EXPECT(large[k] == i * WIDE + k, "%u of %u is %u", k, i, large[k]);
    }
}

/* --- values ------------------------------------------------------------------------------------------------------- */

/* More than two batches, and the last one is not full; none; then one batch less an instance, a batch, and one more. */
START_TEST(every_value_of_every_instance_goes_over_on_each_road)
{
    static const bp_component_i *const roads[][2] = {
        {by_properties[0], by_properties[1]}, {by_saving[0], by_saving[1]},   {by_columns[0], by_properties[1]},
        {by_properties[0], by_columns[1]},    {by_saving[0], by_columns[1]},  {by_properties[0], by_saving[1]},
        {by_columns[0], by_columns[1]}};
    static const uint32_t counts[] = {2051, 0, 1023, 1024, 1025, 1};
    for (uint32_t r = 0; r < COUNT(roads); r++) {
        for (uint32_t c = 0; c < (r == 0 ? COUNT(counts) : 2); c++) {
            open_hoard(roads[r][0], counts[c]);
            put(roads[r][1]);
            largest_batch = 0;
            looks_slots_up = true;
            WORKS(rig.host, reload());
            looks_slots_up = false;
            ck_assert_uint_le(largest_batch, 1024);
            expect_values(counts[c], false);
            close_hoard();
        }
    }
}
END_TEST

/* A batch of values of 14,400 bytes has at most 1 MB. */
START_TEST(large_values_go_over_in_batches_of_a_bounded_size)
{
    open_hoard(by_large[0], 150);
    put(by_large[1]);
    largest_batch = 0;
    WORKS(rig.host, reload());
    ck_assert_uint_eq(largest_batch, 72);
    expect_values(150, true);
    close_hoard();
}
END_TEST

/* The largest field may be one that becomes small: a batch of it has at most 1 MB all the same. */
START_TEST(large_arrays_that_become_single_values_go_over)
{
    static const bp_field_t fields[] = {{.name = "number", .type = BP_U32, .count = WIDE}};
    static const bp_component_i by_arrays[] = {{HOARD(1), .fields = BP_LIST(fields)}};
    static uint32_t all[WIDE];
    enum { INSTANCES = 150 };
    open_hoard(by_arrays, INSTANCES);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        bp_property_t property;
        all[0] = i;
        all[1] = 77;
        WORKS(rig.host, rig.api->property->resolve(world, entities[i], "hoard", "number", &property));
        WORKS(rig.host, rig.api->property->set(world, &property, &entities[i], 1, all, sizeof all));
    }
    put(by_properties[1]);
    WORKS(rig.host, reload());
    for (uint32_t i = 0; i < INSTANCES; i++) {
        uint32_t number;
        WORKS(rig.host, rig.api->property->get_named(world, entities[i], "hoard", "number", BP_U32, &number));
        ck_assert_uint_eq(number, i);
    }
    close_hoard();
}
END_TEST

/* --- other types -------------------------------------------------------------------------------------------------- */

/* A version with storage of its own that has the same properties in other types. */
typedef struct store_t {
    uint32_t used, count;
    double number[ROOM], locked[ROOM];
    char text[ROOM][16];
    bp_entity_t friend[ROOM];
} store_t;

static bp_result_t start_store(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof(store_t));
    if (m->state == NULL)
        return starve(m);
    memset(m->state, 0, sizeof(store_t));
    return BP_OK;
}

static void stop_store(bp_manager_t *m)
{
    m->api->memory->resize(m->plugin, m->state, sizeof(store_t), 0);
}

static bp_result_t get_stored(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                              size_t stride)
{
    store_t *s = m->state;
    if (is_harmed(m, GET, field))
        return refuse(m);
    for (uint32_t i = 0; i < count; i++) {
        char *to = (char *)values + i * stride;
        const char *text = s->text[slots[i]];
        if (field == TEXT)
            memcpy(to, &text, sizeof text);
        else if (field == FRIEND)
            memcpy(to, &s->friend[slots[i]], sizeof(bp_entity_t));
        else
            memcpy(to, field == NUMBER ? &s->number[slots[i]] : &s->locked[slots[i]], sizeof(double));
    }
    return BP_OK;
}

static bp_result_t set_stored(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                              const void *values, size_t stride)
{
    store_t *s = m->state;
    if (is_harmed(m, SET, field))
        return refuse(m);
    for (uint32_t i = 0; i < count; i++) {
        const char *from = (const char *)values + i * stride, *text;
        if (field == TEXT) {
            memcpy(&text, from, sizeof text);
            snprintf(s->text[slots[i]], sizeof s->text[0], "%s", text);
        } else if (field == FRIEND) {
            memcpy(&s->friend[slots[i]], from, sizeof(bp_entity_t));
        } else {
            memcpy(&s->number[slots[i]], from, sizeof(double));
            s->locked[slots[i]] = s->number[slots[i]] * 2;
        }
    }
    return BP_OK;
}

static bp_result_t create_stored(bp_manager_t *m, bp_name_t instance, const bp_entity_t *all, uint32_t count,
                                 const void *const *columns, uint32_t *slots)
{
    store_t *s = m->state;
    (void)instance, (void)all;
    if (is_harmed(m, CREATE, FIELDS))
        return refuse(m);
    for (uint32_t i = 0; i < count; i++)
        slots[i] = s->used++;
    s->count += count;
    return columns[NUMBER] == NULL ? BP_OK : set_stored(m, NUMBER, slots, count, columns[NUMBER], sizeof(double));
}

static void destroy_stored(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)slots;
    ((store_t *)m->state)->count -= count;
}

static uint32_t count_stored(bp_manager_t *m)
{
    return ((store_t *)m->state)->count;
}

static const bp_field_t stored_fields[] = {{.name = "number", .type = BP_F64},
                                           {.name = "text", .type = BP_STRING, .initial = "none"},
                                           {.name = "friend", .type = BP_ENTITY},
                                           {.name = "locked", .type = BP_F64, .flags = BP_FIELD_READ_ONLY}};
static const bp_storage_i stored = {.struct_size = sizeof stored, .create = create_stored, .destroy = destroy_stored,
                                    .get = get_stored, .set = set_stored, .count = count_stored};
static const bp_component_i by_store[] = {{HOARD(3), .storage = &stored, .start = start_store, .stop = stop_store,
                                           .fields = BP_LIST(stored_fields)}};

static void expect_converted(uint32_t count, bool two_lines)
{
    const bp_property_api *p = rig.api->property;
    for (uint32_t i = 0; i < count; i++) {
        double number = 0, locked = 0;
        const char *lines[2] = {"", ""};
        char wanted[16];
        bp_entity_t friend = {0};
        bp_property_t property;
        WORKS(rig.host, p->get_named(world, entities[i], "hoard", "number", BP_F64, &number));
        WORKS(rig.host, p->get_named(world, entities[i], "hoard", "locked", BP_F64, &locked));
        WORKS(rig.host, p->get_named(world, entities[i], "hoard", "friend", BP_ENTITY, &friend));
        WORKS(rig.host, p->resolve(world, entities[i], "hoard", "text", &property));
        WORKS(rig.host, p->get(world, &property, &entities[i], 1, lines, two_lines ? sizeof lines : sizeof lines[0]));
        snprintf(wanted, sizeof wanted, "text %u", i);
        EXPECT(number == i && locked == i * 2.0 && strcmp(lines[0], wanted) == 0 &&
                   strcmp(lines[1], two_lines ? "none" : "") == 0,
               "%u: %g, %g, %s, %s", i, number, locked, lines[0], lines[1]);
        EXPECT(friend.id == entities[(i * 7 + 1) % count].id, "the friend of %u", i);
    }
}

/* There and back, since values of f64 must be looked at on their way to u32. */
START_TEST(values_of_other_types_go_over_on_each_road_and_come_back)
{
    static const bp_component_i *const roads[][3] = {{by_properties[0], by_store, by_properties[1]},
                                                     {by_columns[0], by_store, by_columns[1]},
                                                     {by_properties[0], by_wide, by_properties[1]}};
    for (uint32_t r = 0; r < COUNT(roads); r++) {
        open_hoard(roads[r][0], 1100);
        put(roads[r][1]);
        WORKS(rig.host, reload());
        expect_converted(1100, roads[r][1] == by_wide);
        check_host(rig.host);
        put(roads[r][2]);
        WORKS(rig.host, reload());
        expect_values(1100, false);
        close_hoard();
    }
}
END_TEST

/* --- what is told ------------------------------------------------------------------------------------------------- */

static const bp_field_t locked_first[] = {{.name = "locked", .type = BP_U32, .flags = BP_FIELD_READ_ONLY},
                                          {.name = "number", .type = BP_U32}};
static const bp_field_t locked_alone[] = {{.name = "locked", .type = BP_U32, .flags = BP_FIELD_READ_ONLY}};
static const bp_field_t new_first[] = {{.name = "another", .type = BP_U32}, {.name = "number", .type = BP_U32}};
static const bp_field_t new_alone[] = {{.name = "another", .type = BP_U32}};

/* Its verbs know fields by their numbers, so that these do nothing. */
static bp_result_t get_nothing(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                               size_t stride)
{
    (void)m, (void)field, (void)slots;
    for (uint32_t i = 0; i < count; i++)
        memset((char *)values + i * stride, 0, sizeof(uint32_t));
    return BP_OK;
}

static bp_result_t set_nothing(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                               const void *values, size_t stride)
{
    (void)m, (void)field, (void)slots, (void)count, (void)values, (void)stride;
    return BP_OK;
}

static bp_result_t create_nothing(bp_manager_t *m, bp_name_t instance, const bp_entity_t *all, uint32_t count,
                                  const void *const *columns, uint32_t *slots)
{
    (void)columns;
    return create(m, instance, all, count, NULL, slots);
}

static const bp_storage_i nothing = {.struct_size = sizeof nothing, .create = create_nothing, .destroy = destroy,
                                     .get = get_nothing, .set = set_nothing, .count = count_all};

static const bp_storage_i no_set = {.struct_size = sizeof no_set, .create = create_nothing, .destroy = destroy,
                                    .count = count_all};
#define PLAIN .storage = &nothing, .start = start, .stop = stop
static const bp_component_i plain[][1] = {
    {{HOARD(1), PLAIN, .fields = BP_LIST(locked_first)}}, {{HOARD(1), PLAIN, .fields = BP_LIST(locked_alone)}},
    {{HOARD(1), PLAIN, .fields = BP_LIST(new_first)}},    {{HOARD(1), PLAIN, .fields = BP_LIST(new_alone)}},
    {{HOARD(1), .fields = BP_LIST(new_first)}},           {{HOARD(1), .fields = BP_LIST(new_alone)}}};
static const bp_component_i unset[][1] = {{{HOARD(1), .storage = &no_set, .start = start, .stop = stop}}};

/* Where no value at all is carried, the report says why instances have their defaults. */
START_TEST(instances_of_which_no_value_is_carried_are_told_as_made_anew)
{
    static const char anew[] = "; made anew with their defaults, since there are neither properties that can be set, "
                               "nor `save` and `load`, nor a `state_form` to carry them over by";
    static const char carried[] = "; carried over by properties";
    static const struct {
        const bp_component_i *old, *next;
        uint32_t rows;
        const char *how;
    } ways[] = {
        {unset[0], unset[0], 3, anew},       {unset[0], unset[0], 0, carried},    {plain[0], plain[0], 3, carried},
        {plain[1], plain[1], 3, anew},       {plain[0], plain[2], 3, carried},    {plain[0], plain[3], 3, anew},
        {plain[0], plain[4], 3, carried},    {plain[0], plain[5], 3, anew},       {plain[4], plain[0], 3, carried},
        {plain[5], plain[0], 3, anew},
    };
    for (uint32_t i = 0; i < COUNT(ways); i++) {
        static const bp_plugin_head_t *linked[] = {&stage};
        static const char *const names[] = {"hoard"};
        bp_reload_report_t report = {.struct_size = sizeof report};
        harm = (harm_t){0};
        has_large = false;
        rig_open_with(&rig, linked, COUNT(linked));
        WORKS(rig.host, bp_host_load_plugin(rig.host, "stage", NULL, 0));
        put(ways[i].old);
        WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file("hoard.stage", "h"), NULL, 0));
        world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
        WORKS(rig.host, bp_world_use_component(world, "hoard"));
        for (uint32_t row = 0; row < ways[i].rows; row++)
            entity_with(world, "hoard");
        put(ways[i].next);
        WORKS(rig.host, bp_host_reload(rig.host, names, 1, &report));
        const char *line = strstr(report.text, "component hoard, ");
        EXPECT(line != NULL, "%s", report.text);
        size_t length = strcspn(line, "\n"), wanted = strlen(ways[i].how);
        EXPECT(length > wanted && strncmp(line + length - wanted, ways[i].how, wanted) == 0, "%u: '%.*s'", i,
               (int)length, line);
        close_hoard();
    }
}
END_TEST

/* --- what is compared --------------------------------------------------------------------------------------------- */

/* What cannot be told cannot be lost: properties that are not carried are only read to be compared. */
START_TEST(a_property_that_the_old_version_cannot_tell_and_that_is_not_carried_keeps_nothing_out)
{
    static const bp_component_i *const nexts[] = {by_properties[1], by_store};
    for (uint32_t n = 0; n < COUNT(nexts); n++) {
        open_hoard(by_properties[0], 30);
        put(nexts[n]);
        harm = (harm_t){GET, 1, LOCKED, n == 0};
        fails_after = 0;
        WORKS(rig.host, reload());
        harm = (harm_t){0};
        if (nexts[n] == by_store)
            expect_converted(30, false);
        else
            expect_values(30, false);
        close_hoard();
    }
}
END_TEST

/* A text that is lost is told with its beginning. */
START_TEST(a_long_value_that_is_lost_is_cut)
{
    char text[140], beginning[240], *long_text = text;
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    open_hoard(by_properties[0], 3);
    set_one(0, "text", BP_STRING, &long_text);
    put(by_properties[1]);
    harm = (harm_t){FORGETS, 2, TEXT, false};
    snprintf(beginning, sizeof beginning,
             "it would lose text of 3 entities (the first is #0:1: %.119s before, none after)", text);
    bp_result_t result = reload();
    FAILS(rig.host, BP_ERROR_FAILED, beginning, result);
    close_hoard();
}
END_TEST

/* Nor can instances be lost that belong to the dead. */
START_TEST(the_dead_of_a_manager_that_collects_them_later_are_not_missed)
{
    open_hoard(by_collecting[0], 30);
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities + 20, 10), 10);
    put(by_collecting[1]);
    ck_assert_uint_eq(world_count(&world->rows, world_component(&world->rows, "hoard")), 30);
    WORKS(rig.host, reload());
    ck_assert_uint_eq(world_count(&world->rows, world_component(&world->rows, "hoard")), 20);
    close_hoard();
}
END_TEST

/* A new version that does not keep what it is given is refused, and told by its first value. References may become
 * none, since those to the dead do. */
START_TEST(what_the_new_version_does_not_keep_is_refused_but_for_references)
{
    static const char given[] = "though it was given the values: `create` keeps those of its columns, and `set` all "
                                "that it takes; or let it go with `reload hoard --lossy`";
    static const struct {
        uint32_t field;
        const char *lost; /* NULL: nothing that counts */
    } forgotten[] = {
        {NUMBER, "it would lose number of 1099 entities (the first is #1:1: 1 before, 0 after), and 1 more property, "},
        {TEXT, "it would lose text of 1100 entities (the first is #0:1: text 0 before, none after), "},
        {FRIEND, NULL},
    };
    for (uint32_t i = 0; i < COUNT(forgotten); i++) {
        char sentence[600];
        open_hoard(by_properties[0], 1100);
        put(by_properties[1]);
        harm = (harm_t){FORGETS, 2, forgotten[i].field, false};
        bp_result_t result = reload();
        if (forgotten[i].lost == NULL) {
            WORKS(rig.host, result);
        } else {
            ck_assert_int_eq(result, BP_ERROR_FAILED);
            snprintf(sentence, sizeof sentence, "component 'hoard', world 'main': %s%s", forgotten[i].lost, given);
            ck_assert_str_eq(bp_host_error(rig.host), sentence);
            expect_values(1100, false);
        }
        close_hoard();
    }
}
END_TEST

/* --- refusals ----------------------------------------------------------------------------------------------------- */

typedef struct refusal_t {
    const bp_component_i *old, *next;
    harm_t harm;
    uint32_t after; /* calls that are well */
    const char *sentence;
} refusal_t;

static const refusal_t refusals[] = {
    {by_properties[0], by_properties[1], {GET, 1, NUMBER, false}, 0,
     "the old version cannot tell property number: hoard: not today"},
    {by_properties[0], by_properties[1], {GET, 1, NUMBER, true}, 1,
     "the old version cannot tell property number: it gave no reason (code 13)"},
    {by_properties[0], by_properties[1], {GET, 1, TEXT, false}, 0,
     "the old version cannot tell property text: hoard: not today"},
    {by_properties[0], by_properties[1], {GET, 1, FRIEND, false}, 0,
     "the old version cannot tell property friend: hoard: not today"},
    {by_properties[0], by_properties[1], {CREATE, 2, 0, false}, 0,
     "the new version does not take the instances: hoard: not today"},
    {by_properties[0], by_properties[1], {CREATE, 2, 0, true}, 1,
     "the new version does not take the instances: it gave no reason (code 13)"},
    {by_properties[0], by_properties[1], {SET, 2, TEXT, false}, 0,
     "the new version does not take property text: hoard: not today"},
    {by_properties[0], by_properties[1], {SET, 2, TEXT, true}, 0,
     "the new version does not take property text: it gave no reason (code 13)"},
    {by_properties[0], by_properties[1], {SET, 2, FRIEND, false}, 1,
     "the new version does not take property friend: hoard: not today"},
    {by_properties[0], by_properties[1], {GET, 2, LOCKED, false}, 0,
     "the new version cannot tell property locked: hoard: not today"},
    {by_properties[0], by_properties[1], {GET, 2, NUMBER, true}, 0,
     "the new version cannot tell property number: it gave no reason (code 13)"},
    {by_columns[0], by_properties[1], {CREATE, 2, 0, false}, 0,
     "the new version does not take the instances: hoard: not today"},
    {by_properties[0], by_limited, {NONE, 0, 0, false}, 0,
     ", entity #1050:1: field 'number' holds 1050, which does not fit the new u32 (from any to 1049); bring the values "
     "into range first, or give the new field another name"},
    {by_columns[0], by_limited, {NONE, 0, 0, false}, 0,
     ", entity #1050:1: field 'number' holds 1050, which does not fit the new u32 (from any to 1049); bring the values "
     "into range first, or give the new field another name"},
    {by_properties[0], by_wide, {GET, 1, TEXT, false}, 1,
     "the old version cannot tell property text: hoard: not today"},
    {by_wide, by_properties[1], {GET, 2, TEXT, false}, 0,
     "the new version cannot tell property text: hoard: not today"},
    {by_wide, by_properties[1], {SET, 2, TEXT, false}, 0,
     "the new version does not take property text: hoard: not today"},
    {by_properties[0], by_columns[1], {GET, 1, NUMBER, false}, 1,
     "the old version cannot tell property number: hoard: not today"},
    {by_properties[0], by_columns[1], {GET, 1, LOCKED, true}, 0,
     "the old version cannot tell property locked: it gave no reason (code 13)"},
    {by_saving[0], by_saving[1], {SAVE, 1, 0, false}, 0,
     "the old version cannot save its instances: hoard: not today"},
    {by_saving[0], by_saving[1], {SAVE, 1, 0, true}, 0,
     "the old version cannot save its instances: it gave no reason (code 13)"},
    {by_saving[0], by_saving[1], {LOAD, 2, 0, false}, 0,
     "the new version cannot load what the old one has saved: hoard: not today"},
    {by_saving[0], by_saving[1], {LOAD, 2, 0, true}, 0,
     "the new version cannot load what the old one has saved: it gave no reason (code 13)"},
    {by_saving[0], by_saving[1], {LOSES, 2, 0, false}, 0,
     "the new version has lost instances: it has 1 instances after loading; 1100 are alive"},
    {by_properties[0], by_properties[1], {COUNTS, 2, 0, false}, 0,
     "it would lose 1 instances (1100 before, 1099 after), which nothing can set: give it `save` and `load`, or a "
     "`state_form`; say BP_FIELD_DERIVED of what follows from the rest; or let it go with `reload hoard --lossy`"},
};

static void expect_all(const bp_component_i *version, uint32_t count)
{
    if (version == by_wide)
        expect_converted(count, true);
    else
        expect_values(count, false);
}

START_TEST(a_verb_that_fails_refuses_the_reload_with_its_reason_and_all_stays)
{
    enum { INSTANCES = 1100 };
    for (uint32_t i = 0; i < COUNT(refusals); i++) {
        char sentence[400];
        open_hoard(refusals[i].old, INSTANCES);
        put(refusals[i].next);
        harm = refusals[i].harm;
        fails_after = refusals[i].after;
        bp_result_t result = reload();
        EXPECT(result != BP_OK, "%u is not refused", i);
        harm = (harm_t){0};
        snprintf(sentence, sizeof sentence, "component 'hoard', world 'main'%s%s",
                 refusals[i].sentence[0] == ',' ? "" : ": ", refusals[i].sentence);
        EXPECT(strcmp(bp_host_error(rig.host), sentence) == 0, "%u: '%s' instead of '%s'", i, bp_host_error(rig.host),
               sentence);
        expect_all(refusals[i].old, INSTANCES);
        close_hoard();
    }
}
END_TEST

/* --- memory ------------------------------------------------------------------------------------------------------- */

/* Each request for memory fails once, on every road, with a probation and without one: either the reload is refused and
 * all is as it was, or it could do without that memory, and all has gone over. */
START_TEST(without_memory_nothing_is_carried_or_all_of_it)
{
    enum { INSTANCES = 30, MOST = 1000 };
    static const char *const names[] = {"hoard"};
    static const struct {
        const bp_component_i *old, *next;
        uint32_t probation;
        verb_t loses; /* how the new version loses something, and may; NONE: all goes over */
    } roads[] = {
        {by_properties[0], by_properties[1], 0, FORGETS}, {by_properties[0], by_properties[1], 0, COUNTS},
        {by_properties[0], by_properties[1], 3, NONE},    {by_saving[0], by_saving[1], 3, NONE},
        {by_columns[0], by_properties[1], 3, NONE},       {by_properties[0], by_columns[1], 3, NONE},
        {by_properties[0], by_wide, 0, NONE},             {by_wide, by_properties[1], 0, FORGETS},
    };
    for (uint32_t r = 0; r < COUNT(roads); r++) {
        heap_t *heap = &rig.heap;
        uint32_t refused = 0;
        bool over = false;
        open_hoard(roads[r].old, INSTANCES);
        rig.host->reload.probation_steps = roads[r].probation;
        for (uint32_t nth = 1; nth < MOST && !over; nth++) {
            harm = (harm_t){roads[r].loses, 2, NUMBER, false};
            fails_after = 0;
            put(roads[r].next);
            heap->refused = 0;
            rig.api->error->set(rig.host, BP_OK, "nothing was said");
            heap->refuse_first = heap->refuse_last = heap->requests + nth;
            bp_result_t result = bp_host_reload_lossy(rig.host, names, 1, NULL);
            heap->refuse_first = heap->refuse_last = 0;
            rig.log = (log_text_t){.target = rig.log.target};
            over = heap->refused == 0;
            refused += result != BP_OK;
            EXPECT(result == BP_ERROR_MEMORY || result == BP_ERROR_IO || over ||
                       (result == BP_OK && roads[r].loses == NONE),
                   "road %u, request %u: %d: %s", r, nth, result, bp_host_error(rig.host));
            EXPECT(result != BP_ERROR_MEMORY || strstr(bp_host_error(rig.host), "out of memory while ") != NULL,
                   "road %u, request %u: %s", r, nth, bp_host_error(rig.host));
            if (roads[r].loses != FORGETS || !over)
                expect_all(result == BP_OK ? roads[r].next : roads[r].old, INSTANCES);
            check_host(rig.host);
            if (result != BP_OK || over)
                continue;
            put(roads[r].old);
            WORKS(rig.host, reload());
            reload_accept(&rig.host->reload);
        }
        EXPECT(over && refused > 20, "road %u: %u requests were refused", r, refused);
        close_hoard();
    }
}
END_TEST

static uint32_t times_in(const char *text, const char *words)
{
    uint32_t times = 0;
    for (const char *at = text; (at = strstr(at, words)) != NULL; at++)
        times++;
    return times;
}

/* Whatever a change was refused for, it is as it was after its files were read: nothing of the attempt is left. */
START_TEST(a_change_that_was_refused_can_be_prepared_again)
{
    static const char *const names[] = {"hoard"};
    reload_change_t *change;
    reload_t *reload;
    heap_t *heap = &rig.heap;
    uint32_t refused = 0;
    open_hoard(by_properties[0], 3);
    reload = &rig.host->reload;
    put(by_properties[1]);
    for (uint32_t nth = 1; nth < 1000; nth++) {
        WORKS(rig.host, reload_read(reload, names, 1, &change));
        heap->refused = 0;
        heap->refuse_first = heap->refuse_last = heap->requests + nth;
        bp_result_t result = reload_prepare(change);
        heap->refuse_first = heap->refuse_last = 0;
        if (result != BP_OK)
            WORKS(rig.host, reload_prepare(change));
        refused += result != BP_OK;
        reload_discard(change);
        check_host(rig.host);
        if (heap->refused == 0)
            break;
    }
    ck_assert_uint_gt(refused, 20);
    harm = (harm_t){FORGETS, 2, NUMBER, false};
    WORKS(rig.host, reload_read(reload, names, 1, &change));
    FAILS(rig.host, BP_ERROR_FAILED, "it would lose number of 2 entities", reload_prepare(change));
    reload_allow_loss(change);
    WORKS(rig.host, reload_prepare(change));
    reload_commit(change);
    EXPECT(times_in(reload->last.text, "    lost       number of 2 entities") == 1, "%s", reload->last.text);
    EXPECT(times_in(reload->last.text, "    lost       ") == 2, "%s", reload->last.text);
    ck_assert_uint_eq(reload->last.rows, 3);
    close_hoard();
}
END_TEST

/* On the way back both versions may have posted. Those of the version that stays are carried out, and no others. */
START_TEST(the_version_that_stays_carries_out_its_posts_whether_it_comes_back_or_not)
{
    bp_entity_t more;
    open_hoard(by_properties[0], 3);
    uint32_t prototype = prototype_of(world, "hoard", NULL, NULL, NULL);
    rig.host->reload.probation_steps = 3;
    put(by_properties[1]);
    WORKS(rig.host, reload());
    heard[0] = '\0';
    posts = true;
    WORKS(rig.host, rig.api->world->create(world, prototype, &more, 1));
    harm = (harm_t){CREATE, 1, 0, false};
    fails_after = 0;
    FAILS(rig.host, BP_ERROR_LIMIT, "not today", reload_rollback(&rig.host->reload));
    ck_assert_int_eq(runs, 1);
    WORKS(rig.host, bp_host_poll(rig.host));
    ck_assert_str_eq(heard, "[2]");
    heard[0] = '\0';
    WORKS(rig.host, rig.api->world->create(world, prototype, &more, 1));
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    posts = false;
    WORKS(rig.host, bp_host_poll(rig.host));
    ck_assert_str_eq(heard, "[1]");
    close_hoard();
}
END_TEST

Suite *reload_carry_suite(void)
{
    Suite *suite = suite_create("reload_carry");
    TCase *tests = tcase_create("roads");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_value_of_every_instance_goes_over_on_each_road);
    tcase_add_test(tests, values_of_other_types_go_over_on_each_road_and_come_back);
    tcase_add_test(tests, large_arrays_that_become_single_values_go_over);
    tcase_add_test(tests, large_values_go_over_in_batches_of_a_bounded_size);
    tcase_add_test(tests, instances_of_which_no_value_is_carried_are_told_as_made_anew);
    tcase_add_test(tests, a_property_that_the_old_version_cannot_tell_and_that_is_not_carried_keeps_nothing_out);
    tcase_add_test(tests, a_long_value_that_is_lost_is_cut);
    tcase_add_test(tests, the_dead_of_a_manager_that_collects_them_later_are_not_missed);
    tcase_add_test(tests, what_the_new_version_does_not_keep_is_refused_but_for_references);
    tcase_add_test(tests, a_verb_that_fails_refuses_the_reload_with_its_reason_and_all_stays);
    tcase_add_test(tests, the_version_that_stays_carries_out_its_posts_whether_it_comes_back_or_not);
    tcase_add_test(tests, a_change_that_was_refused_can_be_prepared_again);
    tcase_add_test(tests, without_memory_nothing_is_carried_or_all_of_it);
    suite_add_tcase(suite, tests);
    return suite;
}
