/* test_conformance_host.c - the checks of host/conformance ask a host that fails, or says what is not so, at one call
 * of theirs: each check has to complain then, so that no answer is one that it does not look at.
 *
 * Each call in the code of the checks is struck once. It is known by the address that it returns to.
 */
#include "../suites.h"
#include "conformance/conformance.h"

#include <stdio.h>
#include <string.h>

enum { PLACES = 2000, STRUCK = BP_ERROR_FAILED };

typedef enum way_t { FAILING, LYING } way_t;

static struct {
    way_t way;
    const bp_api_t *real;
    void (*check)(conformance_t *c);
    const void *places[PLACES]; /* that have been struck in this way */
    uint32_t count;
    const char *struck; /* the call that was struck in this run; NULL: none yet */
} host;

/* --- the host -------------------------------------------------------------------------------------- */

static bool strikes(way_t way, const void *place, const char *call)
{
    if (host.struck != NULL || host.way != way)
        return false;
    for (uint32_t i = 0; i < host.count; i++) {
        if (host.places[i] == place)
            return false;
    }
    ck_assert_uint_lt(host.count, PLACES);
    host.places[host.count++] = place;
    host.struck = call;
    return true;
}

/* A call that returns a result: it fails and does nothing, the error is told. */
#define MAY_FAIL(table, call, owner, parameters, ...) \
    static bp_result_t BP_CALL table##_##call parameters \
    { \
        if (!strikes(FAILING, __builtin_return_address(0), #table "." #call)) \
            return host.real->table->call(__VA_ARGS__); \
        host.real->error->set(owner, STRUCK, "struck"); \
        return STRUCK; \
    }

/* A call that returns a number: one too many. */
#define MAY_LIE(table, call, parameters, ...) \
    static uint32_t BP_CALL table##_##call parameters \
    { \
        bool lies = strikes(LYING, __builtin_return_address(0), #table "." #call); \
        return host.real->table->call(__VA_ARGS__) + lies; \
    }

static bp_host_o *rig_host;

MAY_FAIL(entity, create, h, (bp_host_o * h, bp_entity_t *e, uint32_t n), h, e, n)
MAY_LIE(entity, destroy, (bp_host_o * h, const bp_entity_t *e, uint32_t n), h, e, n)
MAY_LIE(entity, count, (bp_host_o * h), h)

static uint32_t BP_CALL entity_alive(bp_host_o *h, const bp_entity_t *e, uint32_t n, uint8_t *alive)
{
    bool lies = strikes(LYING, __builtin_return_address(0), "entity.alive");
    uint32_t count = host.real->entity->alive(h, e, n, alive);
    if (lies && alive != NULL && n > 0)
        alive[0] ^= 1;
    return count + lies;
}

MAY_FAIL(world, key, rig_host, (bp_world_o * w, uint32_t component, bp_name_t name, uint32_t *key), w, component, name,
         key)
MAY_FAIL(world, prototype, rig_host, (bp_world_o * w, const uint32_t *keys, uint32_t n, uint32_t *made), w, keys, n,
         made)
MAY_FAIL(world, create, rig_host, (bp_world_o * w, uint32_t prototype, bp_entity_t *e, uint32_t n), w, prototype, e, n)
MAY_FAIL(world, add, rig_host, (bp_world_o * w, uint32_t key, const bp_entity_t *e, uint32_t n), w, key, e, n)
MAY_FAIL(world, remove, rig_host, (bp_world_o * w, uint32_t key, const bp_entity_t *e, uint32_t n), w, key, e, n)
MAY_LIE(world, count, (bp_world_o * w, uint32_t component), w, component)

static uint32_t BP_CALL world_has(bp_world_o *w, uint32_t key, const bp_entity_t *e, uint32_t n, uint8_t *has)
{
    bool lies = strikes(LYING, __builtin_return_address(0), "world.has");
    uint32_t count = host.real->world->has(w, key, e, n, has);
    if (lies && has != NULL && n > 0)
        has[0] ^= 1;
    return count + lies;
}

static bp_entity_t BP_CALL world_own(bp_world_o *w)
{
    return strikes(LYING, __builtin_return_address(0), "world.own") ? (bp_entity_t){0} : host.real->world->own(w);
}

MAY_FAIL(property, resolve, rig_host,
         (bp_world_o * w, bp_entity_t e, const char *component, const char *name, bp_property_t *p), w, e, component,
         name, p)
MAY_FAIL(property, set, rig_host,
         (bp_world_o * w, bp_property_t *p, const bp_entity_t *e, uint32_t n, const void *values, size_t stride), w, p,
         e, n, values, stride)
MAY_FAIL(property, set_named, rig_host,
         (bp_world_o * w, bp_entity_t e, const char *component, const char *name, uint32_t type, const void *value), w,
         e, component, name, type, value)
MAY_FAIL(property, get_text, rig_host, (const bp_path_t *path, char *text, size_t size), path, text, size)
MAY_FAIL(property, set_text, rig_host, (const bp_path_t *path, const char *text), path, text)
MAY_FAIL(property, parse_path, rig_host, (bp_host_o * h, const char *text, bp_path_t *path), h, text, path)

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

static bp_result_t BP_CALL property_get(bp_world_o *w, bp_property_t *p, const bp_entity_t *e, uint32_t n, void *values,
                                        size_t stride)
{
    const void *place = __builtin_return_address(0);
    bool single = (p->flags & BP_FIELD_LIST) == 0 && p->count <= 1;
    if (strikes(FAILING, place, "property.get")) {
        host.real->error->set(rig_host, STRUCK, "struck");
        return STRUCK;
    }
    bp_result_t result = host.real->property->get(w, p, e, n, values, stride);
    if (result == BP_OK && single && n > 0 && strikes(LYING, place, "property.get, the value"))
        falsify(p->type, values);
    return result;
}

static bp_result_t BP_CALL property_get_named(bp_world_o *w, bp_entity_t e, const char *component, const char *name,
                                              uint32_t type, void *value)
{
    const void *place = __builtin_return_address(0);
    if (strikes(FAILING, place, "property.get_named")) {
        host.real->error->set(rig_host, STRUCK, "struck");
        return STRUCK;
    }
    bp_result_t result = host.real->property->get_named(w, e, component, name, type, value);
    if (result == BP_OK && strikes(LYING, place, "property.get_named, the value"))
        falsify(type, value);
    return result;
}

/* Run the check with a host of whose calls one is struck. */
static void run_struck(conformance_t *c)
{
    bp_api_t api = *c->api;
    bp_entity_api entity = *api.entity;
    bp_world_api world = *api.world;
    bp_property_api property = *api.property;
    host.real = c->api;
    rig_host = c->host;
    entity.create = entity_create, entity.destroy = entity_destroy, entity.count = entity_count;
    entity.alive = entity_alive;
    world.key = world_key, world.prototype = world_prototype, world.create = world_create, world.add = world_add;
    world.remove = world_remove, world.count = world_count, world.has = world_has, world.own = world_own;
    property.resolve = property_resolve, property.get = property_get, property.set = property_set;
    property.get_named = property_get_named, property.set_named = property_set_named;
    property.get_text = property_get_text, property.set_text = property_set_text;
    property.parse_path = property_parse_path;
    api.entity = &entity, api.world = &world, api.property = &property;
    c->api = &api;
    host.check(c);
}

/* --- tests ----------------------------------------------------------------------------------------- */

static const struct {
    const char *plugin, *component;
    uint32_t least; /* calls that are struck, at the least */
} subjects[] = {
    {"companion", "companion", 20},
    {TEST_FIXTURE_DIR "/keeper", "keeper", 20},
    {TEST_PLUGIN_DIR "/gravity", "gravity_law", 2}, /* of worlds */
};

/* What a check may do without: plugins may refuse values; a lack of memory fails calls; how many entities were
 * destroyed shows in what is left of them; of values that were refused the defaults do as well; and what threads do is
 * compared with what one does by conformance_run, which is told of one here. */
static bool may_pass(const char *check, const char *call)
{
    static const char *const pairs[][2] = {
        {"", "property.set"},
        {"", "entity.destroy"},
        {"survives a lack of memory", "world."},
        {"steps alike on any number of threads", "property.get"},
        {"adds and removes", "property.get, the value"},
        {"collects the dead in time", "world.has"},
        {"never mixes entities up between steps", "entity.alive"},
        {"never mixes entities up between steps", "property.get, the value"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const char *of = pairs[i][1];
        size_t length = strlen(of);
        bool whole = of[length - 1] != '.' && strcmp(check, "steps alike on any number of threads") != 0;
        if ((pairs[i][0][0] == '\0' || strcmp(pairs[i][0], check) == 0) &&
            (whole ? strcmp(call, of) == 0 : strncmp(call, of, length) == 0))
            return true;
    }
    return false;
}

/* The round is the number of a subject. */
static void strike_everywhere(way_t way, uint32_t number)
{
    uint32_t struck = 0;
    conformance_subject_t subject = {.needs = ""};
    snprintf(subject.plugin, sizeof subject.plugin, "%s", subjects[number].plugin);
    snprintf(subject.component, sizeof subject.component, "%s", subjects[number].component);
    memset(&host, 0, sizeof host);
    host.way = way;
    for (uint32_t i = 0; i < conformance_check_count; i++) {
        const conformance_check_t *real = &conformance_checks[i];
        conformance_check_t check = *real;
        char complaint[CONFORMANCE_TEXT];
        check.run = run_struck;
        check.threads = 0;
        host.check = real->run;
        do {
            host.struck = NULL;
            bool good = conformance_run(&subject, &check, complaint);
            struck += host.struck != NULL;
            if (host.struck != NULL && good && !may_pass(real->name, host.struck))
                ck_abort_msg("%s: %s was struck (of %s), and there is no complaint", real->name, host.struck,
                             subject.component);
        } while (host.struck != NULL);
    }
    ck_assert_uint_ge(struck, subjects[number].least);
}

START_TEST(a_check_complains_where_a_call_of_the_host_fails)
{
    strike_everywhere(FAILING, (uint32_t)_i);
}
END_TEST

START_TEST(a_check_complains_where_an_answer_of_the_host_is_wrong)
{
    strike_everywhere(LYING, (uint32_t)_i);
}
END_TEST

Suite *conformance_host_suite(void)
{
    Suite *suite = suite_create("conformance_host");
    TCase *all = tcase_create("conformance_host");
    tcase_set_timeout(all, 120);
    tcase_add_loop_test(all, a_check_complains_where_a_call_of_the_host_fails, 0, 3);
    tcase_add_loop_test(all, a_check_complains_where_an_answer_of_the_host_is_wrong, 0, 3);
    suite_add_tcase(suite, all);
    return suite;
}
