/* test_reload_kept.c - random reloads, refusals and rollbacks, with properties, references, keys and prototypes that
 * are kept across all of them and used again at random, against a model of names and values.
 *
 * The model keeps, for each instance and each name, its value, and what a rollback would bring back. A property belongs
 * to a name, and where that has gone, to the name that took its values over; a reference belongs to values, as long as
 * they keep their type.
 *
 * RELOAD_SEEDS is the number of seeds, 40 where it is not set. A failure says its seed; RELOAD_SEED runs that one
 * alone.
 */
#include "../suites.h"
#include "patch_lists.h"
#include "reload_support.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { ENTITIES = 15, INSTANCES = 18, KEPT = 24, RELOADS = 25, PROBATION = 6, GROUPS = 4 };

typedef struct instance_t {
    uint32_t entity; /* of the model's entities */
    bool second;     /* its name is "second", not "patch" */
    bool made_since; /* the commit of the version on probation */
} instance_t;

typedef struct kept_property_t {
    bp_property_t property;
    uint32_t name, type;
    bool second;
} kept_property_t;

typedef struct kept_ref_t {
    bp_ref_t ref;
    uint32_t instance;
    bp_entity_t entity;
    uint32_t now; /* the name of the field that it refers to; PATCH_NAMES: gone */
} kept_ref_t;

typedef struct model_t {
    rig_t rig;
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world;
    patch_file_t file;
    uint64_t seed, random;
    uint32_t keys[3]; /* patch, second, flag */
    uint32_t prototypes[2][4]; /* without and with a flag: of none, patch, second, both */
    bp_entity_t entities[ENTITIES];
    bool flagged[ENTITIES];
    instance_t instances[INSTANCES];
    uint32_t instance_count;
    patch_list_t list, list_before;
    patch_values_t values[INSTANCES], values_before[INSTANCES];
    uint32_t successor[PATCH_NAMES]; /* of names that have gone: the name that took their values over, or PATCH_NAMES */
    kept_property_t properties[KEPT];
    kept_ref_t refs[KEPT];
    uint32_t property_count, ref_count;
    uint32_t made, refused, taken_back; /* reloads */
} model_t;

static model_t model;

static uint32_t below(uint32_t bound)
{
    return bp_random_below(&model.random, bound);
}

#define SAYS(condition, ...)                                                                                     \
    EXPECT(condition, "seed %u, reload %u: %s", (unsigned)model.seed, model.made + model.refused, say(__VA_ARGS__))
#define DOES(call) SAYS((call) == BP_OK, "%s: %s", #call, bp_host_error(model.host))

static const char *say(const char *format, ...)
{
    static char text[300];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return text;
}

static bp_entity_t entity_of(uint32_t instance)
{
    return model.entities[model.instances[instance].entity];
}

static const char *name_of(const instance_t *instance)
{
    return instance->second ? "second" : "patch";
}

static const patch_field_t *random_field(void)
{
    return model.list.count == 0 ? NULL : &model.list.fields[below(model.list.count)];
}

/* --- entities ---------------------------------------------------------------------------------------------- */

static void make_instance(uint32_t i)
{
    model.instances[i].made_since = true;
    for (uint32_t f = 0; f < model.list.count; f++)
        model.values[i].of[model.list.fields[f].name] = model.list.fields[f].initial;
}

static uint32_t kind_of(uint32_t entity)
{
    return entity % 5 == 0 ? 3 : entity % 3 == 2 ? 2 : 1;
}

static void make_entity(uint32_t e)
{
    model.flagged[e] = below(2) == 1;
    DOES(model.api->world->create(model.world, model.prototypes[model.flagged[e]][kind_of(e)], &model.entities[e], 1));
    for (uint32_t i = 0; i < model.instance_count; i++) {
        if (model.instances[i].entity == e)
            make_instance(i);
    }
}

static void replace_entity(void)
{
    uint32_t e = below(ENTITIES);
    model.api->entity->destroy(model.host, &model.entities[e], 1);
    make_entity(e);
}

static void change_company(void)
{
    uint32_t e = below(ENTITIES);
    DOES(model.flagged[e] ? model.api->world->remove(model.world, model.keys[2], &model.entities[e], 1)
                          : model.api->world->add(model.world, model.keys[2], &model.entities[e], 1));
    model.flagged[e] = !model.flagged[e];
}

static void remake_instance(void)
{
    uint32_t i = below(model.instance_count);
    bp_entity_t e = entity_of(i);
    DOES(model.api->world->remove(model.world, model.keys[model.instances[i].second], &e, 1));
    DOES(model.api->world->add(model.world, model.keys[model.instances[i].second], &e, 1));
    make_instance(i);
}

/* --- values by name ---------------------------------------------------------------------------------------- */

static void write_by_name(void)
{
    uint32_t i = below(model.instance_count);
    const patch_field_t *field = random_field();
    char name[PATCH_TEXT];
    bp_value_t value;
    if (field == NULL)
        return;
    patch_name(field->name, name);
    model.values[i].of[field->name] = patch_random_value(&model.random, field->type);
    patch_pack(&model.values[i].of[field->name], field->type, &value);
    const char *component = name_of(&model.instances[i]);
    DOES(model.api->property->set_named(model.world, entity_of(i), component, name, field->type, &value));
}

static void read_all(void)
{
    for (uint32_t i = 0; i < model.instance_count; i++) {
        const char *component = name_of(&model.instances[i]);
        for (uint32_t f = 0; f < model.list.count; f++) {
            const patch_field_t *field = &model.list.fields[f];
            char name[PATCH_TEXT];
            bp_value_t value;
            patch_name(field->name, name);
            DOES(model.api->property->get_named(model.world, entity_of(i), component, name, field->type, &value));
            SAYS(patch_same(&model.values[i].of[field->name], field->type, &value), "%s of %u is another", name, i);
        }
    }
}

/* --- properties that are kept ------------------------------------------------------------------------------ */

static void keep_property(void)
{
    uint32_t i = below(model.instance_count);
    const patch_field_t *field = random_field();
    char name[PATCH_TEXT];
    if (field == NULL)
        return;
    kept_property_t *kept = &model.properties[model.property_count < KEPT ? model.property_count++ : below(KEPT)];
    *kept = (kept_property_t){.name = field->name, .type = field->type, .second = model.instances[i].second};
    patch_name(field->name, name);
    DOES(model.api->property->resolve(model.world, entity_of(i), name_of(&model.instances[i]), name, &kept->property));
}

static uint32_t instance_like(bool second)
{
    uint32_t i = below(model.instance_count);
    while (model.instances[i].second != second)
        i = (i + 1) % model.instance_count;
    return i;
}

/* The field that a kept property must find. */
static const patch_field_t *wanted_field(const kept_property_t *kept)
{
    uint32_t name = kept->name;
    while (name != PATCH_NAMES && patch_find(&model.list, name) == NULL)
        name = model.successor[name];
    return name == PATCH_NAMES ? NULL : patch_find(&model.list, name);
}

static void write_property(kept_property_t *kept, bp_property_t *property, uint32_t i, const patch_field_t *field)
{
    bp_value_t value;
    bp_entity_t e = entity_of(i);
    model.values[i].of[field->name] = patch_random_value(&model.random, kept->type);
    patch_pack(&model.values[i].of[field->name], kept->type, &value);
    DOES(model.api->property->set(model.world, property, &e, 1, &value, sizeof value));
}

static void use_property(void)
{
    if (model.property_count == 0)
        return;
    kept_property_t *kept = &model.properties[below(model.property_count)];
    bp_property_t copy = kept->property, *property = below(2) == 0 ? &copy : &kept->property;
    uint32_t i = instance_like(kept->second);
    const patch_field_t *field = wanted_field(kept);
    bp_entity_t e = entity_of(i);
    bp_value_t value;
    bp_result_t result = model.api->property->get(model.world, property, &e, 1, &value, sizeof value);
    if (field == NULL || field->type != kept->type) {
        bp_result_t wanted = field == NULL ? BP_ERROR_NOT_FOUND : BP_ERROR_TYPE;
        SAYS(result == wanted, "%d from a property of field %u: %s", result, kept->name, bp_host_error(model.host));
        return;
    }
    SAYS(result == BP_OK, "a property of field %u: %s", kept->name, bp_host_error(model.host));
    bool same = patch_same(&model.values[i].of[field->name], field->type, &value);
    SAYS(same, "a property of field %u reads another value", kept->name);
    if (below(2) == 0)
        write_property(kept, property, i, field);
    if (property == &kept->property)
        kept->name = field->name; /* it is one of that name from now on */
}

/* --- references that are kept ------------------------------------------------------------------------------ */

static void keep_ref(void)
{
    uint32_t i = below(model.instance_count), f = model.list.count == 0 ? 0 : below(model.list.count);
    if (model.list.count == 0)
        return;
    kept_ref_t *kept = &model.refs[model.ref_count < KEPT ? model.ref_count++ : below(KEPT)];
    *kept = (kept_ref_t){.instance = i, .entity = entity_of(i), .now = model.list.fields[f].name};
    kept->ref = (bp_ref_t){.entity = kept->entity, .field = model.keys[model.instances[i].second] << 8 | f};
    SAYS(bp_ref_get(model.api->world, model.world, &kept->ref) != NULL, "a reference to nothing");
}

static void use_ref(void)
{
    if (model.ref_count == 0)
        return;
    kept_ref_t *kept = &model.refs[below(model.ref_count)];
    const patch_field_t *field = kept->now == PATCH_NAMES ? NULL : patch_find(&model.list, kept->now);
    bool there = field != NULL && kept->entity.id == entity_of(kept->instance).id;
    bp_value_t value;
    const void *cell = bp_ref_get(model.api->world, model.world, &kept->ref);
    SAYS(there == (cell != NULL), "a reference is %s", there ? "lost" : "to what has gone");
    if (!there)
        return;
    memset(&value, 0, sizeof value);
    memcpy(&value, cell, patch_size(field->type));
    patch_value_t *known = &model.values[kept->instance].of[field->name];
    SAYS(patch_same(known, field->type, &value), "a reference to field %u reads another value", field->name);
    if (field->type == BP_STRING)
        return;
    *known = patch_random_value(&model.random, field->type);
    patch_pack(known, field->type, &value);
    memcpy(model.api->world->ref_write(model.world, &kept->ref), &value, patch_size(field->type));
}

/* --- reloads ----------------------------------------------------------------------------------------------- */

static void take(const patch_list_t *list, const patch_values_t *values)
{
    memcpy(model.values_before, model.values, sizeof model.values);
    memcpy(model.values, values, sizeof model.values);
    model.list_before = model.list;
    model.list = *list;
    for (uint32_t i = 0; i < model.instance_count; i++)
        model.instances[i].made_since = false;
    for (uint32_t i = 0; i < model.list_before.count; i++) {
        uint32_t name = model.list_before.fields[i].name;
        if (patch_find(list, name) == NULL)
            model.successor[name] = patch_after(&model.list_before, list, name, false);
    }
    for (uint32_t i = 0; i < model.ref_count; i++)
        model.refs[i].now = patch_after(&model.list_before, list, model.refs[i].now, true);
}

static void reload_once(void)
{
    static const char *const names[] = {"patch"};
    static patch_values_t values[INSTANCES];
    patch_list_t list = patch_next(&model.random, &model.list);
    memset(values, 0, sizeof values);
    bool possible = patch_foresee(&model.list, model.values, &list, values, model.instance_count);
    patch_put(&model.file, &list);
    model.host->reload.probation_steps = below(4) == 0 ? 0 : PROBATION;
    bp_result_t result = bp_host_reload(model.host, names, 1, NULL);
    SAYS(possible == (result == BP_OK), "%s", result == BP_OK ? "it was taken" : bp_host_error(model.host));
    model.made += possible;
    model.refused += !possible;
    if (possible)
        take(&list, values);
}

static void value_back(uint32_t i, const patch_field_t *field, patch_value_t *value)
{
    uint32_t after = patch_after(&model.list_before, &model.list, field->name, true);
    if (after != PATCH_NAMES)
        *value = model.values[i].of[after]; /* the same memory all the time */
    else
        *value = model.instances[i].made_since ? field->initial : model.values_before[i].of[field->name];
}

static void take_back(void)
{
    static patch_values_t values[INSTANCES];
    const patch_list_t old = model.list_before, list = model.list;
    if (model.host->reload.probation == NULL)
        return;
    DOES(reload_rollback(&model.host->reload));
    model.taken_back++;
    for (uint32_t i = 0; i < model.instance_count; i++) {
        for (uint32_t f = 0; f < old.count; f++)
            value_back(i, &old.fields[f], &values[i].of[old.fields[f].name]);
    }
    memcpy(model.values, values, sizeof values);
    model.list = old;
    for (uint32_t i = 0; i < list.count; i++) {
        uint32_t name = list.fields[i].name;
        if (patch_find(&old, name) == NULL)
            model.successor[name] = patch_before(&old, &list, name, false);
    }
    for (uint32_t i = 0; i < model.ref_count; i++)
        model.refs[i].now = patch_before(&old, &list, model.refs[i].now, true);
}

/* --- the test ---------------------------------------------------------------------------------------------- */

static void add_instance(uint32_t entity, bool second)
{
    SAYS(model.instance_count < INSTANCES, "room");
    model.instances[model.instance_count++] = (instance_t){.entity = entity, .second = second};
}

static void make_prototypes(void)
{
    for (uint32_t flag = 0; flag < 2; flag++) {
        for (uint32_t kind = 1; kind < 4; kind++) {
            uint32_t keys[3], count = 0;
            for (uint32_t k = 0; k < 2; k++) {
                if ((kind >> k & 1) != 0)
                    keys[count++] = model.keys[k];
            }
            if (flag == 1)
                keys[count++] = model.keys[2];
            DOES(model.api->world->prototype(model.world, keys, count, &model.prototypes[flag][kind]));
        }
    }
}

static void open_model(uint64_t seed)
{
    memset(&model, 0, sizeof model);
    model.seed = model.random = seed;
    for (uint32_t i = 0; i < PATCH_NAMES; i++)
        model.successor[i] = PATCH_NAMES;
    rig_open_zoo(&model.rig);
    model.host = model.rig.host;
    model.api = model.rig.api;
    model.world = rig_world(&model.rig, "main");
    patch_open(&model.file);
    patch_put(&model.file, &model.list);
    DOES(bp_host_load_plugin(model.host, TEST_SCRATCH_DIR "/patch" TEST_SO, NULL, 0));
    DOES(bp_world_use_component(model.world, "patch"));
    model.keys[0] = key_of(model.world, "patch", "");
    model.keys[1] = key_of(model.world, "patch", "second");
    model.keys[2] = key_of(model.world, "flag", "");
    make_prototypes();
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t k = 0; k < 2; k++) {
            if ((kind_of(e) >> k & 1) != 0)
                add_instance(e, k == 1);
        }
        make_entity(e);
    }
}

static void close_model(void)
{
    reload_accept(&model.host->reload);
    check_host(model.host);
    model.rig.log.count = 0;
    model.rig.log.text[0] = '\0';
    free(model.file.bytes);
    rig_close(&model.rig);
}

static void do_something(void)
{
    switch (below(12)) {
    case 0: replace_entity(); break;
    case 1: change_company(); break;
    case 2: remake_instance(); break;
    case 3: keep_property(); break;
    case 4: keep_ref(); break;
    case 5:
    case 6: use_ref(); break;
    case 7:
    case 8: use_property(); break;
    case 9: DOES(bp_host_step(model.host)); break;
    default: write_by_name(); break;
    }
}

static void run_seed(uint64_t seed, uint32_t *taken_back, uint32_t *refused)
{
    open_model(seed);
    for (uint32_t n = 0; n < RELOADS; n++) {
        reload_once();
        read_all();
        for (uint32_t i = below(30); i > 0; i--)
            do_something();
        if (below(2) == 0)
            take_back();
        for (uint32_t i = below(20); i > 0; i--)
            do_something();
        read_all();
    }
    *taken_back += model.taken_back;
    *refused += model.refused;
    close_model();
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *asked = getenv(name);
    return asked != NULL ? strtoull(asked, NULL, 10) : otherwise;
}

START_TEST(what_is_kept_means_the_same_names_after_any_reloads)
{
    uint64_t single = number_from("RELOAD_SEED", 0), seeds = number_from("RELOAD_SEEDS", 40);
    uint32_t taken_back = 0, refused = 0, runs = 0;
    for (uint64_t seed = 1 + (uint64_t)_i; seed <= seeds && single == 0; seed += GROUPS, runs++)
        run_seed(seed, &taken_back, &refused);
    if (single != 0 && _i == 0)
        run_seed(single, &taken_back, &refused);
    ck_assert(taken_back >= runs * 3 && refused >= runs); /* or the test has tested little */
}
END_TEST

/* --- by hand ------------------------------------------------------------------------------------------------------ */

enum { A = 0, B = 1 };

static void reload_list(const patch_list_t *list)
{
    static const char *const names[] = {"patch"};
    patch_put(&model.file, list);
    DOES(bp_host_reload(model.host, names, 1, NULL));
}

/* A field whose name is there before and after the reload goes on from itself, whichever former name it says. So the
 * field of that former name has gone, and who kept it does not read the other one. */
START_TEST(a_field_that_was_there_before_takes_over_from_no_other)
{
    const patch_field_t a = {A, PATCH_NAMES, BP_I32, {.part = {1}}}, b = {B, PATCH_NAMES, BP_I32, {.part = {2}}};
    patch_list_t before = {.count = 2, .fields = {_i == 0 ? a : b, _i == 0 ? b : a}};
    patch_list_t after = {.count = 1, .fields = {{A, B, BP_I32, {.part = {1}}}}};
    int32_t value = 9;
    bp_property_t kept;
    open_model(1);
    bp_entity_t e = entity_of(0);
    reload_list(&before);
    DOES(model.api->property->resolve(model.world, e, "patch", "field_b", &kept));
    reload_list(&after);
    FAILS(model.host, BP_ERROR_NOT_FOUND, "property 'field_b' of patch has gone with a reload",
          model.api->property->get(model.world, &kept, &e, 1, &value, sizeof value));
    DOES(model.api->property->get_named(model.world, e, "patch", "field_a", BP_I32, &value));
    ck_assert_int_eq(value, 1);
    close_model();
}
END_TEST

Suite *reload_kept_suite(void)
{
    Suite *suite = suite_create("reload_kept");
    TCase *kept = tcase_create("kept");
    tcase_set_timeout(kept, 120);
    tcase_add_loop_test(kept, what_is_kept_means_the_same_names_after_any_reloads, 0, GROUPS);
    tcase_add_loop_test(kept, a_field_that_was_there_before_takes_over_from_no_other, 0, 2);
    suite_add_tcase(suite, kept);
    return suite;
}
