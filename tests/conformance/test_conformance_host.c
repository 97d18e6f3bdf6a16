/* test_conformance_host.c - the checks of host/conformance ask a host or a component that gives one wrong answer: each
 * check has to complain then, so that there is no answer that it does not look at.
 *
 * A check is run once while its calls are counted, by kind. Then it is run again and again, and each time one call,
 * known by its kind and its number in the check, answers wrongly, in each of the ways of way_t. What bp_world_step and
 * other functions of the host itself answer is not among the calls.
 */
#include "../suites.h"
#include "conformance/conformance.h"

#include <stdio.h>
#include <string.h>

typedef enum way_t {
    FAILING,    /* it does nothing, and says why not */
    SPEECHLESS, /* it does nothing, and does not say why */
    ACCEPTING,  /* it refuses, and says that it has done it */
    SILENT,     /* it refuses, and does not say why */
    LYING,      /* it does it, and what it tells is not so */
    WAYS
} way_t;

#define CALLS(X)                                                                                                      \
    X(entity, create) X(entity, destroy) X(entity, count) X(entity, alive)                                            \
    X(name, intern)                                                                                                   \
    X(world, component) X(world, manager) X(world, key) X(world, prototype) X(world, create) X(world, add)            \
    X(world, remove) X(world, has) X(world, slots) X(world, keys_of) X(world, count) X(world, own)                    \
    X(property, resolve) X(property, get) X(property, set) X(property, get_named) X(property, set_named)              \
    X(property, get_text) X(property, set_text) X(property, parse_path) X(property, describe)                         \
    X(storage, create) X(storage, get) X(storage, set) X(storage, count) X(saving, save) X(saving, load)

#define NUMBER_OF(table, call) table##_##call##_number,
#define NAME_OF(table, call) #table "." #call,
enum { CALLS(NUMBER_OF) set_of_many_number, CALL_COUNT };
static const char *const call_names[CALL_COUNT] = {CALLS(NAME_OF) "property.set of many"};

/* What the calls below serve. */
static struct {
    way_t way;
    int call;        /* the one of a kind that is wrong */
    uint32_t number; /* counted from 1; 0: none */
    uint32_t made[WAYS][CALL_COUNT];
    bool struck;
    void (*check)(conformance_t *c);
    const bp_api_t *real;
    const bp_storage_i *storage;
    bp_save_i saving;
    conformance_t *c; /* of the check that runs */
} rig;

/* --- wrong answers ------------------------------------------------------------------------------------------------ */

/* Count a call that could be wrong in a way. True where it is to be. */
static bool strikes(way_t way, int call)
{
    rig.made[way][call]++;
    if (rig.struck || rig.way != way || rig.call != call || rig.made[way][call] != rig.number)
        return false;
    return rig.struck = true;
}

static bool fails(int call)
{
    bool speaks = strikes(FAILING, call), fails = strikes(SPEECHLESS, call) || speaks;
    if (fails)
        rig.real->error->set(rig.c->host, BP_ERROR_FAILED, speaks ? "struck" : "");
    return fails;
}

static bp_result_t told(int call, bp_result_t result)
{
    if (result == BP_OK)
        return result;
    bool accepts = strikes(ACCEPTING, call);
    if (strikes(SILENT, call))
        rig.real->error->set(rig.c->host, result, "");
    return accepts ? BP_OK : result;
}

#define RESULT(table, call, from, parameters, ...)                                                                    \
    static bp_result_t BP_CALL table##_##call parameters                                                              \
    {                                                                                                                 \
        const int number = table##_##call##_number;                                                                   \
        return fails(number) ? BP_ERROR_FAILED : told(number, from->call(__VA_ARGS__));                               \
    }

/* A number: one too many. */
#define COUNT(table, call, from, parameters, ...)                                                                     \
    static uint32_t BP_CALL table##_##call parameters                                                                 \
    {                                                                                                                 \
        return from->call(__VA_ARGS__) + strikes(LYING, table##_##call##_number);                                     \
    }

/* Another value of the type. A text must be one that can be read. */
static void falsify(uint32_t type, void *value)
{
    static const char other[] = "another text";
    const char *text = other;
    if (type == BP_STRING)
        memcpy(value, &text, sizeof text);
    else
        ((unsigned char *)value)[conformance_size(type) > 3 ? 2 : 0] ^= 1;
}

/* --- entities and names ------------------------------------------------------------------------------------------- */

RESULT(entity, create, rig.real->entity, (bp_host_o * h, bp_entity_t *e, uint32_t n), h, e, n)
COUNT(entity, destroy, rig.real->entity, (bp_host_o * h, const bp_entity_t *e, uint32_t n), h, e, n)
COUNT(entity, count, rig.real->entity, (bp_host_o * h), h)
RESULT(name, intern, rig.real->name, (bp_host_o * h, const char *text, bp_name_t *name), h, text, name)

/* It is of one only that the checks ask here. */
static uint32_t BP_CALL entity_alive(bp_host_o *h, const bp_entity_t *e, uint32_t n, uint8_t *alive)
{
    return rig.real->entity->alive(h, e, n, alive) ^ strikes(LYING, entity_alive_number);
}

/* --- worlds ------------------------------------------------------------------------------------------------------- */

static uint32_t BP_CALL world_component(bp_world_o *w, const char *type)
{
    uint32_t number = rig.real->world->component(w, type);
    return !strikes(LYING, world_component_number) ? number : number == BP_NONE ? 0 : BP_NONE;
}

static bp_manager_t *BP_CALL world_manager(bp_world_o *w, uint32_t component)
{
    return strikes(LYING, world_manager_number) ? NULL : rig.real->world->manager(w, component);
}

RESULT(world, key, rig.real->world, (bp_world_o * w, uint32_t component, bp_name_t name, uint32_t *key), w, component,
       name, key)
RESULT(world, prototype, rig.real->world, (bp_world_o * w, const uint32_t *keys, uint32_t n, uint32_t *made), w, keys,
       n, made)
RESULT(world, create, rig.real->world, (bp_world_o * w, uint32_t prototype, bp_entity_t *e, uint32_t n), w, prototype,
       e, n)
RESULT(world, add, rig.real->world, (bp_world_o * w, uint32_t key, const bp_entity_t *e, uint32_t n), w, key, e, n)
RESULT(world, remove, rig.real->world, (bp_world_o * w, uint32_t key, const bp_entity_t *e, uint32_t n), w, key, e, n)
COUNT(world, has, rig.real->world, (bp_world_o * w, uint32_t key, const bp_entity_t *e, uint32_t n, uint8_t *has), w,
      key, e, n, has)
COUNT(world, count, rig.real->world, (bp_world_o * w, uint32_t component), w, component)

/* What has no slot gets one; what has gets that of another, or there is one too many. */
static uint32_t BP_CALL world_slots(bp_world_o *w, uint32_t key, const bp_entity_t *e, uint32_t n, uint32_t *slots)
{
    uint32_t found = rig.real->world->slots(w, key, e, n, slots);
    if (!strikes(LYING, world_slots_number))
        return found;
    if (found == 0 || rig.number % 2 == 0) {
        slots[0] = found == 0 ? 0 : slots[0];
        return found + 1;
    }
    slots[0] = n > 1 ? slots[1] : BP_NONE;
    return found;
}

static uint32_t BP_CALL world_keys_of(bp_world_o *w, bp_entity_t e, uint32_t *keys, uint32_t capacity)
{
    uint32_t count = rig.real->world->keys_of(w, e, keys, capacity);
    if (strikes(LYING, world_keys_of_number))
        keys[0] ^= 1;
    return count;
}

static bp_entity_t BP_CALL world_own(bp_world_o *w)
{
    return strikes(LYING, world_own_number) ? (bp_entity_t){0} : rig.real->world->own(w);
}

/* --- properties --------------------------------------------------------------------------------------------------- */

static bp_result_t BP_CALL property_resolve(bp_world_o *w, bp_entity_t e, const char *component, const char *name,
                                            bp_property_t *p)
{
    if (fails(property_resolve_number))
        return BP_ERROR_FAILED;
    bp_result_t result = rig.real->property->resolve(w, e, component, name, p);
    if (result == BP_OK && strikes(LYING, property_resolve_number))
        p->type++, p->count++;
    return told(property_resolve_number, result);
}

static bp_result_t BP_CALL property_set(bp_world_o *w, bp_property_t *p, const bp_entity_t *e, uint32_t n,
                                        const void *values, size_t stride)
{
    const int number = n > 1 ? set_of_many_number : property_set_number;
    return fails(number) ? BP_ERROR_FAILED : told(number, rig.real->property->set(w, p, e, n, values, stride));
}

RESULT(property, set_named, rig.real->property,
       (bp_world_o * w, bp_entity_t e, const char *component, const char *name, uint32_t type, const void *value), w, e,
       component, name, type, value)
RESULT(property, get_text, rig.real->property, (const bp_path_t *path, char *text, size_t size), path, text, size)
RESULT(property, set_text, rig.real->property, (const bp_path_t *path, const char *text), path, text)
RESULT(property, parse_path, rig.real->property, (bp_host_o * h, const char *text, bp_path_t *path), h, text, path)

/* Of an array the first value is another one, of a list the number of values. */
static bp_result_t BP_CALL property_get(bp_world_o *w, bp_property_t *p, const bp_entity_t *e, uint32_t n, void *values,
                                        size_t stride)
{
    if (fails(property_get_number))
        return BP_ERROR_FAILED;
    bp_result_t result = rig.real->property->get(w, p, e, n, values, stride);
    if (result != BP_OK || !strikes(LYING, property_get_number))
        return told(property_get_number, result);
    if ((p->flags & BP_FIELD_LIST) != 0 && p->element == BP_NONE)
        ((bp_list_t *)values)->count ^= 1;
    else
        falsify(p->type, values);
    return result;
}

static bp_result_t BP_CALL property_get_named(bp_world_o *w, bp_entity_t e, const char *component, const char *name,
                                              uint32_t type, void *value)
{
    if (fails(property_get_named_number))
        return BP_ERROR_FAILED;
    bp_result_t result = rig.real->property->get_named(w, e, component, name, type, value);
    if (result == BP_OK && strikes(LYING, property_get_named_number))
        falsify(type, value);
    return told(property_get_named_number, result);
}

/* One member after the other is another one than was declared. */
static bp_result_t BP_CALL property_describe(bp_host_o *h, const char *type, uint32_t index, bp_field_t *field,
                                             uint32_t size)
{
    if (fails(property_describe_number))
        return BP_ERROR_FAILED;
    bp_result_t result = rig.real->property->describe(h, type, index, field, size);
    const char **texts[] = {&field->name, &field->initial, &field->min, &field->max, &field->unit, &field->doc};
    if (result == BP_OK && strikes(LYING, property_describe_number)) {
        uint32_t member = rig.number % 8;
        field->type += member == 6;
        field->flags ^= member == 7;
        if (member < 6)
            *texts[member] = "another";
    }
    return told(property_describe_number, result);
}

/* --- the component's own verbs ------------------------------------------------------------------------------------ */

RESULT(storage, create, rig.storage,
       (bp_manager_t * m, bp_name_t instance, const bp_entity_t *e, uint32_t n, const void *const *columns,
        uint32_t *slots),
       m, instance, e, n, columns, slots)
RESULT(storage, set, rig.storage,
       (bp_manager_t * m, uint32_t field, const uint32_t *slots, uint32_t n, const void *values, size_t stride), m,
       field, slots, n, values, stride)
COUNT(storage, count, rig.storage, (bp_manager_t * m), m)

static bp_result_t BP_CALL storage_get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t n, void *values,
                                       size_t stride)
{
    bp_field_t declared;
    if (fails(storage_get_number))
        return BP_ERROR_FAILED;
    bp_result_t result = rig.storage->get(m, field, slots, n, values, stride);
    rig.real->property->describe(m->host, rig.c->subject->component, field, &declared, sizeof declared);
    if (result == BP_OK && strikes(LYING, storage_get_number))
        falsify(declared.type, values);
    return told(storage_get_number, result);
}

RESULT(saving, save, (&rig.saving), (bp_manager_t * m, void **data, size_t *size), m, data, size)
RESULT(saving, load, (&rig.saving), (bp_manager_t * m, uint32_t version, const void *data, size_t size), m, version,
       data, size)

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* Run the check with a host and a component whose answers the calls above give. */
static void run_struck(conformance_t *c)
{
    bp_api_t api = *c->api;
    bp_entity_api entity = *api.entity;
    bp_name_api name = *api.name;
    bp_world_api world = *api.world;
    bp_property_api property = *api.property;
    bp_storage_i storage = c->storage != NULL ? *c->storage : (bp_storage_i){.struct_size = 0};
    bp_save_i saving = c->saving;
#define REPLACE(table, call) table.call = table##_##call;
    CALLS(REPLACE)
    memset(rig.made, 0, sizeof rig.made);
    rig.c = c, rig.real = c->api, rig.storage = c->storage, rig.saving = c->saving;
    api.entity = &entity, api.name = &name, api.world = &world, api.property = &property;
    c->api = &api;
    if (c->storage != NULL)
        c->storage = &storage;
    if (c->saving.save != NULL)
        c->saving = saving;
    rig.check(c);
}

static const char keeper[] = TEST_FIXTURE_DIR "/keeper";

static const struct {
    const char *plugin, *component;
    const char *check; /* NULL: all checks */
    int first, last;   /* the calls that are wrong */
    bool of_world;
    uint32_t least; /* how many calls are struck at the least; with sanitizers, a SHARE of it */
} subjects[] = {
    {"companion", "companion", NULL, 0, CALL_COUNT, false, 2000},
    {"companion", "companion_at_once", "keeps instances apart by name, or is single", 0, CALL_COUNT, false, 80},
    {"companion", "companion_at_once", "never mixes entities up", world_count_number, world_count_number, false, 5},
    {keeper, "keeper", "creates by count", world_slots_number, world_slots_number, false, 8},
    {keeper, "keeper", "ends with its entity", world_slots_number, world_slots_number, false, 2},
    {keeper, "keeper", "creates with values as by create and set", storage_create_number, storage_count_number, false,
     80},
    {keeper, "keeper", "loads what it saves", world_slots_number, saving_load_number, false, 100},
    {TEST_PLUGIN_DIR "/gravity", "gravity_law", NULL, 0, CALL_COUNT, true, 80},
};
enum { SUBJECTS = sizeof subjects / sizeof subjects[0] };

/* What a check may do without: a plugin may refuse a value, and with a sentence a lack of memory fails calls; how many
 * entities were destroyed shows in what is left of them; what a step changes is not compared, nor is what has ended
 * then; and where the dead are not collected at once, there may be more instances than living entities. */
static bool may_pass(way_t way, uint32_t of, const char *check, int call)
{
    const bool at_once = strcmp(subjects[of].component, "companion_at_once") == 0;
    static const struct {
        way_t way;
        const char *check; /* what its name begins with */
        const char *call;
    } cases[] = {
        {FAILING, "", "property.set"},
        {FAILING, "", "property.set of many"},
        {FAILING, "survives a lack of memory", "world.create"},
        {FAILING, "survives a lack of memory", "world.add"},
        {FAILING, "creates with values", "storage.set"},
        {FAILING, "loads what it saves", "saving.save"},
        {LYING, "", "entity.destroy"},
        {LYING, "", "world.component"},
        {LYING, "keeps arrays and lists", "entity.alive"},
        {LYING, "collects the dead in time", "entity.alive"},
        {LYING, "collects the dead in time", "world.count"},
        {LYING, "never mixes entities up between steps", "entity.alive"},
        {LYING, "never mixes entities up between steps", "property.get"},
        {LYING, "never mixes entities up", "world.count"},
        {LYING, "gives back what was set in batches", "property.get"},
        {LYING, "loads what it saves", "world.slots"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (at_once && strcmp(cases[i].call, "world.count") == 0)
            continue;
        if (cases[i].way == way && strncmp(check, cases[i].check, strlen(cases[i].check)) == 0 &&
            strcmp(call_names[call], cases[i].call) == 0)
            return true;
    }
    return false;
}

/* Ask a check of a subject while the call of that kind and number is wrong; none is where the number is 0. Writes the
 * complaint, "" where there is none. */
static void ask(uint32_t of, const conformance_check_t *real, int call, uint32_t number, char *complaint)
{
    conformance_subject_t subject = {.needs = ""};
    conformance_check_t check = *real;
    snprintf(subject.plugin, sizeof subject.plugin, "%s", subjects[of].plugin);
    snprintf(subject.component, sizeof subject.component, "%s", subjects[of].component);
    check.run = run_struck;
    rig.check = real->run;
    rig.call = call, rig.number = number, rig.struck = false;
    conformance_run(&subject, &check, complaint);
}

#if defined(BACKPLANE_SANITIZED)
enum { EACH = 2, SHARE = 2, FIRST = 1 }; /* the first one takes as long as all others do */
#else
enum { EACH = 8, SHARE = 1, FIRST = 0 };
#endif

/* Strike the first EACH calls of a kind, and then fewer and fewer; in the checks that take long only the first. Returns
 * how many. */
static uint32_t strike(uint32_t of, const conformance_check_t *check, int call, uint32_t made)
{
    const bool passes = may_pass(rig.way, of, check->name, call);
    const bool once = check->threads > 0 || (check->level == 3 && passes);
    const uint32_t most = once ? 1 : check->level == 3 || passes ? 8 : 4096;
    uint32_t struck = 0;
    if (rig.way == SPEECHLESS && !may_pass(FAILING, of, check->name, call))
        return 0; /* it may not even fail with a sentence */
    for (uint32_t n = 1; n <= made && n <= most; n = n < EACH ? n + 1 : 2 * n, struck++) {
        char complaint[CONFORMANCE_TEXT];
        ask(of, check, call, n, complaint);
        ck_assert_msg(rig.struck, "%s: %s is not called %u times", check->name, call_names[call], n);
        if (complaint[0] == '\0' && !passes)
            ck_abort_msg("%s, of %s: %s is wrong, call %u of %u, and there is no complaint", check->name,
                         subjects[of].component, call_names[call], n, made);
    }
    return struck;
}

static bool is_asked(uint32_t of, const conformance_check_t *check)
{
    return check->asks_worlds == subjects[of].of_world &&
           (subjects[of].check == NULL || strcmp(subjects[of].check, check->name) == 0);
}

static uint32_t strike_subject(uint32_t of)
{
    uint32_t struck = 0;
    for (uint32_t i = 0; i < conformance_check_count; i++) {
        const conformance_check_t *check = &conformance_checks[i];
        char complaint[CONFORMANCE_TEXT];
        uint32_t made[WAYS][CALL_COUNT];
        if (!is_asked(of, check))
            continue;
        ask(of, check, 0, 0, complaint);
        ck_assert_msg(complaint[0] == '\0', "%s of %s: %s", check->name, subjects[of].component, complaint);
        memcpy(made, rig.made, sizeof made);
        for (int call = subjects[of].first; call <= subjects[of].last && call < CALL_COUNT; call++) {
            for (rig.way = 0; rig.way < WAYS; rig.way++)
                struck += strike(of, check, call, made[rig.way][call]);
        }
    }
    return struck;
}

/* The round is the number of a subject. */
START_TEST(a_check_complains_of_each_wrong_answer)
{
    ck_assert_uint_ge(strike_subject((uint32_t)_i), subjects[_i].least / SHARE);
}
END_TEST

Suite *conformance_host_suite(void)
{
    Suite *suite = suite_create("conformance_host");
    TCase *all = tcase_create("conformance_host");
    tcase_set_timeout(all, 300);
    tcase_add_loop_test(all, a_check_complains_of_each_wrong_answer, FIRST, SUBJECTS);
    suite_add_tcase(suite, all);
    return suite;
}
