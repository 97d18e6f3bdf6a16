/* test_reload_carry.c - storage of its own from one version to the next: every value of many instances, in batches, and
 * what is said where a verb of either version fails.
 *
 * Versions need no compiler here: the plugin `stage` is linked in and opens files that end in ".stage"; what such a
 * file declares is what the test has put into `staged`. A component knows its version by `user`.
 */
#include "../suites.h"
#include "reload_support.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM = 2600, WIDE = 4096, WIDE_ROOM = 400 };
enum { NUMBER, TEXT, FRIEND, LOCKED, LARGE, FIELDS };

typedef enum verb_t { NONE, CREATE, GET, SET, SAVE, LOAD, COUNTS, LOSES } verb_t;

/* What goes wrong: the verb of which version, with which field, and with a sentence or without one. */
typedef struct harm_t {
    verb_t verb;
    uint32_t version, field;
    bool silent;
} harm_t;

typedef struct hoard_t {
    uint32_t used, count;
    uint32_t number[ROOM], locked[ROOM];
    char text[ROOM][16];
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

static bp_result_t start(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof(hoard_t));
    if (m->state == NULL)
        return BP_ERROR_MEMORY;
    memset(m->state, 0, sizeof(hoard_t));
    return BP_OK;
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
    return BP_OK;
}

static bp_result_t set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void *values,
                       size_t stride)
{
    hoard_t *h = m->state;
    if (is_harmed(m, SET, field))
        return refuse(m);
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
    return BP_OK;
}

static bp_result_t create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *all, uint32_t count,
                          const void *const *columns, uint32_t *slots)
{
    hoard_t *h = m->state;
    (void)instance, (void)all;
    if (is_harmed(m, CREATE, FIELDS))
        return refuse(m);
    largest_batch = count > largest_batch ? count : largest_batch;
    for (uint32_t i = 0; i < count; i++) {
        slots[i] = h->used++;
        snprintf(h->text[slots[i]], sizeof h->text[0], "none");
    }
    h->count += count;
    for (uint32_t f = 0; columns != NULL && f < (has_large ? FIELDS : LARGE); f++) {
        if (columns[f] != NULL)
            set(m, f, slots, count, columns[f], size_of(f));
    }
    return BP_OK;
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
    *size = sizeof(hoard_t);
    *data = m->api->memory->resize(m->plugin, NULL, 0, *size);
    if (*data != NULL)
        memcpy(*data, m->state, *size);
    return *data == NULL ? BP_ERROR_MEMORY : BP_OK;
}

static bp_result_t load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    (void)version;
    if (is_harmed(m, LOAD, FIELDS))
        return refuse(m);
    memcpy(m->state, data, size);
    if (harm.verb == LOSES)
        ((hoard_t *)m->state)->count = 1;
    return BP_OK;
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

#define HOARD(number) .name = "hoard", .user = &numbers[number]
#define OWN .storage = &storage, .start = start, .stop = stop

/* The kinds of versions, twice each, so that the old one is told from the new. */
static const bp_component_i by_properties[][1] = {{{HOARD(1), OWN, .fields = BP_LIST(small_fields)}},
                                                  {{HOARD(2), OWN, .fields = BP_LIST(small_fields)}}};
static const bp_component_i by_large[][1] = {{{HOARD(1), OWN, .fields = BP_LIST(large_fields)}},
                                             {{HOARD(2), OWN, .fields = BP_LIST(large_fields)}}};
static const bp_component_i by_saving[][1] = {
    {{HOARD(1), OWN, .fields = BP_LIST(small_fields), .extensions = BP_LIST(saved)}},
    {{HOARD(2), OWN, .fields = BP_LIST(small_fields), .extensions = BP_LIST(saved)}}};
static const bp_component_i by_columns[][1] = {{{HOARD(1), .fields = BP_LIST(column_fields)}},
                                               {{HOARD(2), .fields = BP_LIST(column_fields)}}};

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

static void put(const bp_component_i *component)
{
    described = (bp_plugin_desc_t){
        .version = "1", .components = {component, 1, sizeof *component}, .keeps = BP_KEEP_NOTHING};
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
    has_large = component->fields.count > LARGE;
    rig_open_with(&rig, linked, COUNT(linked));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stage", NULL, 0));
    put(component);
    WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file("hoard.stage", "h"), NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "hoard"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "hoard", NULL, NULL, NULL), entities, count));
    for (uint32_t i = 0; i < count; i++) {
        char words[16];
        const char *text = words;
        snprintf(words, sizeof words, "text %u", i);
        set_one(i, "number", BP_U32, &i);
        set_one(i, "text", BP_STRING, &text);
        set_one(i, "friend", BP_ENTITY, &entities[(i * 7 + 1) % count]);
        if (component->storage == NULL)
            set_one(i, "locked", BP_U32, &(uint32_t){i * 2});
        bp_property_t property;
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

/* More than two batches, and the last one is not full; then one batch less an instance, a batch, and one more. */
START_TEST(every_value_of_every_instance_goes_over_on_each_road)
{
    static const bp_component_i *const roads[][2] = {
        {by_properties[0], by_properties[1]}, {by_saving[0], by_saving[1]},   {by_columns[0], by_properties[1]},
        {by_properties[0], by_columns[1]},    {by_saving[0], by_columns[1]},  {by_properties[0], by_saving[1]},
        {by_columns[0], by_columns[1]}};
    static const uint32_t counts[] = {2051, 1023, 1024, 1025, 1};
    for (uint32_t r = 0; r < COUNT(roads); r++) {
        for (uint32_t c = 0; c < (r == 0 ? COUNT(counts) : 1); c++) {
            open_hoard(roads[r][0], counts[c]);
            put(roads[r][1]);
            largest_batch = 0;
            WORKS(rig.host, reload());
            ck_assert_uint_le(largest_batch, 1024);
            expect_values(counts[c], false);
            close_hoard();
        }
    }
}
END_TEST

/* A batch of values of 16 KB has at most 1 MB. */
START_TEST(large_values_go_over_in_batches_of_a_bounded_size)
{
    open_hoard(by_large[0], 150);
    put(by_large[1]);
    largest_batch = 0;
    WORKS(rig.host, reload());
    ck_assert_uint_eq(largest_batch, 64);
    expect_values(150, true);
    close_hoard();
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
        snprintf(sentence, sizeof sentence, "component 'hoard', world 'main': %s", refusals[i].sentence);
        EXPECT(strcmp(bp_host_error(rig.host), sentence) == 0, "%u: '%s' instead of '%s'", i, bp_host_error(rig.host),
               sentence);
        expect_values(INSTANCES, false);
        close_hoard();
    }
}
END_TEST

Suite *reload_carry_suite(void)
{
    Suite *suite = suite_create("reload_carry");
    TCase *tests = tcase_create("roads");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_value_of_every_instance_goes_over_on_each_road);
    tcase_add_test(tests, large_values_go_over_in_batches_of_a_bounded_size);
    tcase_add_test(tests, instances_of_which_no_value_is_carried_are_told_as_made_anew);
    tcase_add_test(tests, a_verb_that_fails_refuses_the_reload_with_its_reason_and_all_stays);
    suite_add_tcase(suite, tests);
    return suite;
}
