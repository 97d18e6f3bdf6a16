/* test_reload_refusals.c - what refuses a reload, told by its whole sentence, and what lies just beside it and goes in.
 *
 * After a refusal the host is as it was, to the last value, and goes on. Versions need no compiler here: the plugin
 * `stage` is linked in and opens files that end in ".stage"; what such a file declares is what the test has put into
 * `staged`.
 */
#include "../suites.h"
#include "reload_support.h"

#include <stdlib.h>
#include <string.h>

static rig_t rig;
static bp_world_o *world;

/* --- versions ----------------------------------------------------------------------------------------------------- */

static bp_result_t fail_with_words(bp_manager_t *m)
{
    return m->api->error->set(m->host, BP_ERROR_LIMIT, "no room today");
}

static bp_result_t fail_silently(bp_manager_t *m)
{
    (void)m;
    return BP_ERROR_FAILED;
}

static bp_result_t fail_system(bp_system_t *s)
{
    return s->api->error->set(s->host, BP_ERROR_LIMIT, "no room today");
}

static bp_result_t fail_system_silently(bp_system_t *s)
{
    (void)s;
    return BP_ERROR_FAILED;
}

static bp_result_t begin_well(bp_manager_t *m)
{
    (void)m;
    return BP_OK;
}

static bp_result_t begin_system_well(bp_system_t *s)
{
    (void)s;
    return BP_OK;
}

static void do_nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static void simulate(const bp_run_t *run, uint32_t count)
{
    (void)run, (void)count;
}

static const bp_field_t fields[] = {{.name = "size", .type = BP_F32, .initial = "1"}};
#define PART .name = "part", .fields = BP_LIST(fields)
#define OTHER {.name = "other", .fields = BP_LIST(fields)}
#define RUNS .run_all = do_nothing

static const bp_component_i parts[] = {{PART}, OTHER}, single[] = {{PART, .flags = BP_COMPONENT_SINGLE}, OTHER},
                            of_worlds[] = {{PART, .flags = BP_COMPONENT_WORLD}, OTHER}, without[] = {OTHER},
                            without_other[] = {{PART}}, failing[] = {{PART, .start = fail_with_words}, OTHER},
                            failing_silently[] = {{PART, .start = fail_silently}, OTHER},
                            beginning[] = {{PART, .start = begin_well}, OTHER},
                            simulating[] = {{PART, .simulate = simulate}, OTHER};
static const bp_system_i systems[] = {{.name = "first", RUNS}, {.name = "second", RUNS}},
                         failing_systems[] = {{.name = "first", RUNS}, {.name = "second", RUNS, .start = fail_system}},
                         failing_silently_systems[] = {{.name = "first", RUNS},
                                                       {.name = "second", RUNS, .start = fail_system_silently}},
                         beginning_systems[] = {{.name = "first", RUNS},
                                                {.name = "second", RUNS, .start = begin_system_well}},
                         circle[] = {{.name = "first", RUNS, .after = "second"},
                                     {.name = "second", RUNS, .after = "first"}},
                         turned[] = {{.name = "first", RUNS, .after = "second"}, {.name = "second", RUNS}},
                         first_alone[] = {{.name = "first", RUNS}};

static bp_plugin_desc_t described;
static bp_plugin_head_t staged;

static uint32_t opens;
static bool is_damaged; /* what is staged cannot be opened */

static bp_result_t open_staged(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                               const bp_plugin_head_t **head, void **content)
{
    (void)path, (void)bytes, (void)size;
    opens++;
    if (is_damaged)
        return plugin->api->error->set(plugin->host, BP_ERROR_FAILED, "it is damaged");
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

typedef struct version_of_parts_t {
    bp_component_list_t components;
    bp_system_list_t systems;
} version_of_parts_t;

static bp_result_t (*load_of_all)(bp_plugin_t *plugin);
static void (*unload_of_all)(bp_plugin_t *plugin);

static void put(const char *version, const version_of_parts_t *parts_of)
{
    described = (bp_plugin_desc_t){.version = version,
                                   .load = load_of_all,
                                   .unload = unload_of_all,
                                   .components = parts_of->components,
                                   .systems = parts_of->systems};
    staged = (bp_plugin_head_t)BP_PLUGIN_HEAD("kit", &described);
}

static bp_result_t reload(void)
{
    static const char *const names[] = {"kit"};
    bp_result_t result = bp_host_reload(rig.host, names, 1, NULL);
    rig.log = (log_text_t){.target = rig.log.target};
    return result;
}

/* --- worlds ------------------------------------------------------------------------------------------------------- */

enum { NOTHING = 0, PARTS = 1u << 0, TWINS = 1u << 1, OF_DEAD = 1u << 2, SYSTEMS = 1u << 3, CANNOT_STEP = 1u << 4 };

/* A world that has the component `part`: in no entity, in two, or twice in each of two, of which both may have died. */
static void open_world(const version_of_parts_t *first, uint32_t what)
{
    static const bp_plugin_head_t *linked[] = {&stage};
    bp_entity_t entities[2];
    uint32_t keys[2], prototype;
    rig_open_with(&rig, linked, COUNT(linked));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stage", NULL, 0));
    put("1", first);
    WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file("kit.stage", "k"), NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "other"));
    if ((what & (PARTS | TWINS)) != 0)
        WORKS(rig.host, bp_world_use_component(world, "part"));
    if ((what & SYSTEMS) != 0) {
        WORKS(rig.host, bp_world_use_system(world, "first"));
        WORKS(rig.host, bp_world_use_system(world, "second"));
    }
    if ((what & (PARTS | TWINS)) != 0 && first->components.items != of_worlds) {
        keys[0] = key_of(world, "part", "");
        keys[1] = key_of(world, "part", "twin");
        WORKS(rig.host, rig.api->world->prototype(world, keys, (what & TWINS) != 0 ? 2 : 1, &prototype));
        WORKS(rig.host, rig.api->world->create(world, prototype, entities, 2));
        if ((what & OF_DEAD) != 0)
            ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities, 2), 2);
    }
    entity_with(world, "other"); /* in the last run */
    for (uint32_t i = 0; i < 40 && (what & CANNOT_STEP) == 0; i++)
        WORKS(rig.host, bp_world_step(world)); /* what has died is collected */
}

static void close_world(bool steps)
{
    check_host(rig.host);
    if (steps)
        WORKS(rig.host, bp_world_step(world));
    rig.log = (log_text_t){.target = rig.log.target};
    rig_close(&rig);
}

/* --- refusals ----------------------------------------------------------------------------------------------------- */

#define C(array) BP_LIST(array)
static const struct {
    version_of_parts_t old, next;
    uint32_t what;
    bp_result_t code;
    const char *sentence; /* NULL: it comes in */
} changes[] = {
    /* one instance in each entity */
    {{C(parts), {0}}, {C(single), {0}}, TWINS, BP_ERROR_EXISTS,
     "component 'part' is single now, but 2 entities of world 'main' have several; remove the others first"},
    {{C(parts), {0}}, {C(single), {0}}, PARTS, BP_OK, NULL},
    {{C(parts), {0}}, {C(single), {0}}, TWINS | OF_DEAD, BP_OK, NULL},
    {{C(single), {0}}, {C(single), {0}}, PARTS, BP_OK, NULL},
    {{C(single), {0}}, {C(parts), {0}}, PARTS, BP_OK, NULL},
    /* of entities or of worlds */
    {{C(parts), {0}}, {C(of_worlds), {0}}, PARTS, BP_ERROR_STATE,
     "component 'part' belongs to worlds now, and world 'main' has it as one of entities; drop it there first"},
    {{C(of_worlds), {0}}, {C(parts), {0}}, PARTS, BP_ERROR_STATE,
     "component 'part' belongs to entities now, and world 'main' has it as one of its own; drop it there first"},
    {{C(parts), {0}}, {C(of_worlds), {0}}, NOTHING, BP_OK, NULL},
    {{C(of_worlds), {0}}, {C(of_worlds), {0}}, PARTS, BP_OK, NULL},
    /* components that go */
    {{C(parts), {0}}, {C(without), {0}}, PARTS, BP_ERROR_NOT_FOUND,
     "component 'part' has gone, but world 'main' has its manager, with 2 instances; keep it, or unload 'kit' and load "
     "it again"},
    {{C(parts), {0}}, {C(without), {0}}, TWINS, BP_ERROR_NOT_FOUND,
     "component 'part' has gone, but world 'main' has its manager, with 4 instances; keep it, or unload 'kit' and load "
     "it again"},
    {{C(parts), {0}}, {C(without_other), {0}}, PARTS, BP_ERROR_NOT_FOUND,
     "component 'other' has gone, but world 'main' has its manager, with 1 instances; keep it, or unload 'kit' and "
     "load it again"},
    {{C(parts), {0}}, {C(without), {0}}, NOTHING, BP_OK, NULL},
    /* what begins */
    {{C(parts), {0}}, {C(failing), {0}}, PARTS, BP_ERROR_LIMIT,
     "component 'part' did not start in world 'main': no room today"},
    {{C(parts), {0}}, {C(failing_silently), {0}}, PARTS, BP_ERROR_FAILED,
     "component 'part' did not start in world 'main': it gave no reason (code 13)"},
    {{C(parts), {0}}, {C(failing), {0}}, NOTHING, BP_OK, NULL},
    {{C(parts), {0}}, {C(beginning), {0}}, PARTS, BP_OK, NULL},
    {{C(parts), C(systems)}, {C(parts), C(failing_systems)}, SYSTEMS, BP_ERROR_LIMIT,
     "system 'second' did not start in world 'main': no room today"},
    {{C(parts), C(systems)}, {C(parts), C(failing_silently_systems)}, SYSTEMS, BP_ERROR_FAILED,
     "system 'second' did not start in world 'main': it gave no reason (code 13)"},
    {{C(parts), C(systems)}, {C(parts), C(failing_systems)}, NOTHING, BP_OK, NULL},
    {{C(parts), C(systems)}, {C(parts), C(beginning_systems)}, SYSTEMS, BP_OK, NULL},
    /* the order of a step */
    {{C(parts), C(systems)}, {C(parts), C(circle)}, SYSTEMS, BP_ERROR_STATE,
     "world 'main': the wishes of first, second to run before and after each other form a circle: 'second' runs before "
     "'first' (after of 'first'), 'first' runs before 'second' (after of 'second')"},
    {{C(parts), C(systems)}, {C(parts), C(circle)}, NOTHING, BP_OK, NULL},
    {{C(parts), C(systems)}, {C(parts), C(turned)}, SYSTEMS, BP_OK, NULL},
    /* a world that cannot step need not step afterwards */
    {{C(parts), C(circle)}, {C(parts), C(circle)}, SYSTEMS | CANNOT_STEP, BP_OK, NULL},
    {{C(parts), C(circle)}, {C(parts), C(turned)}, SYSTEMS | CANNOT_STEP, BP_OK, NULL},
    /* systems and simulation that come and go */
    {{C(parts), C(systems)}, {C(parts), C(first_alone)}, SYSTEMS, BP_OK, NULL},
    {{C(parts), C(systems)}, {C(simulating), C(systems)}, PARTS | SYSTEMS, BP_OK, NULL},
    {{C(simulating), C(systems)}, {C(parts), C(systems)}, PARTS | SYSTEMS, BP_OK, NULL},
};

/* Twice, since a refusal must leave nothing that another try stumbles over. */
START_TEST(what_refuses_a_reload_is_told_in_a_sentence_and_leaves_the_host_as_it_was)
{
    for (uint32_t i = 0; i < COUNT(changes); i++) {
        open_world(&changes[i].old, changes[i].what);
        char *before = describe_host(rig.host);
        for (uint32_t pass = 0; pass < 2; pass++) {
            put("2", &changes[i].next);
            bp_result_t result = reload();
            EXPECT(result == changes[i].code, "%u: %d: %s", i, result, bp_host_error(rig.host));
            check_host(rig.host);
            if (changes[i].sentence == NULL)
                continue;
            EXPECT(strcmp(bp_host_error(rig.host), changes[i].sentence) == 0, "%u: '%s' instead of '%s'", i,
                   bp_host_error(rig.host), changes[i].sentence);
            char *after = describe_host(rig.host);
            EXPECT(strcmp(before, after) == 0, "%u has left a trace:\n%s\n--\n%s", i, before, after);
            free(after);
        }
        free(before);
        close_world((changes[i].what & CANNOT_STEP) == 0 || changes[i].next.systems.items != circle);
    }
}
END_TEST

/* What is opened is read from `staged` each time: the second try finds a version that is in order. */
START_TEST(a_change_whose_step_had_no_order_is_reported_once_when_it_has_one)
{
    static const char *const kit[] = {"kit"};
    reload_change_t *change;
    reload_t *reload;
    char text[4096];
    open_world(&(version_of_parts_t){C(parts), C(systems)}, PARTS | SYSTEMS);
    reload = &rig.host->reload;
    put("2", &(version_of_parts_t){C(parts), C(circle)});
    WORKS(rig.host, reload_read(reload, kit, 1, &change));
    FAILS(rig.host, BP_ERROR_STATE, "form a circle", reload_prepare(change));
    put("3", &(version_of_parts_t){C(parts), C(turned)});
    WORKS(rig.host, reload_prepare(change));
    reload_commit(change);
    ck_assert_uint_eq(reload->last.rows, 3);
    ck_assert_uint_eq(reload->last.worlds, 1);
    const char *rest = strstr(reload->last.text, " ms, ");
    snprintf(text, sizeof text, "%s", rest == NULL ? "" : rest);
    ck_assert_str_eq(text, " ms, 3 rows in 1 worlds\n"
                           "  component part, 2 instances: fields as they were\n"
                           "  component other, 1 instances: fields as they were\n"
                           "  system first\n"
                           "  system second");
    close_world(true);
}
END_TEST

/* --- names -------------------------------------------------------------------------------------------------------- */

START_TEST(names_of_which_there_is_no_plugin_or_no_file_are_told)
{
    const char *names[65];
    for (uint32_t i = 0; i < COUNT(names); i++)
        names[i] = "kit";
    open_world(&(version_of_parts_t){C(parts), {0}}, PARTS);
    put("2", &(version_of_parts_t){C(parts), {0}});
    const struct {
        const char *name;
        uint32_t count;
        bp_result_t code;
        const char *sentence;
    } refused[] = {
        {"kat", 1, BP_ERROR_NOT_FOUND, "no plugin 'kat' is loaded; did you mean 'kit'?"},
        {"stag", 1, BP_ERROR_NOT_FOUND, "no plugin 'stag' is loaded; did you mean 'stage'?"}, /* the first one */
        {"elephant", 1, BP_ERROR_NOT_FOUND, "no plugin 'elephant' is loaded"},
        {"stage", 1, BP_ERROR_ARGUMENT,
         "plugin 'stage' is linked into the program; only plugins from files can be reloaded"},
        {"kit", 0, BP_ERROR_ARGUMENT, "0 plugins to reload; name 1 to 64"},
        {"kit", 65, BP_ERROR_ARGUMENT, "65 plugins to reload; name 1 to 64"},
        {"kit", 64, BP_ERROR_ARGUMENT, "plugin 'kit' is named twice"},
    };
    for (uint32_t i = 0; i < COUNT(refused); i++) {
        names[0] = refused[i].name;
        ck_assert_int_eq(bp_host_reload(rig.host, names, refused[i].count, NULL), refused[i].code);
        ck_assert_str_eq(bp_host_error(rig.host), refused[i].sentence);
    }
    close_world(true);
}
END_TEST

/* --- moments ------------------------------------------------------------------------------------------------------ */

enum { STEP, COMES, GOES, MADE, ENDED, ASKED, TOLD, COUNTED, LOADED, UNLOADED, MOMENTS };

static uint32_t asked[MOMENTS];

static void expect_no_moment(uint32_t moment)
{
    static const char *const kit[] = {"kit"};
    static const char sentence[] =
        "plugins are reloaded between steps: not from inside one, nor from a callback or a verb";
    bp_host_o *host = rig.host;
    asked[moment]++;
    EXPECT(bp_host_reload(host, kit, 1, NULL) == BP_ERROR_STATE, "moment %u", moment);
    ck_assert_str_eq(bp_host_error(host), sentence);
    EXPECT(bp_host_begin_reload(host, kit, 1, 0) == BP_ERROR_STATE, "moment %u", moment);
    ck_assert_str_eq(bp_host_error(host), sentence);
}

static void ask_in_step(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
    expect_no_moment(STEP);
}

static bp_result_t ask_in_start(bp_manager_t *m)
{
    (void)m;
    expect_no_moment(COMES);
    return BP_OK;
}

static void ask_in_stop(bp_manager_t *m)
{
    (void)m;
    expect_no_moment(GOES);
}

static bp_result_t ask_in_system_start(bp_system_t *s)
{
    (void)s;
    expect_no_moment(COMES);
    return BP_OK;
}

static void ask_in_system_stop(bp_system_t *s)
{
    (void)s;
    expect_no_moment(GOES);
}

static bp_result_t ask_in_create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *all, uint32_t count,
                                 const void *const *columns, uint32_t *slots)
{
    (void)m, (void)instance, (void)all, (void)columns;
    expect_no_moment(MADE);
    memset(slots, 0, count * sizeof *slots);
    return BP_OK;
}

static void ask_in_destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)m, (void)slots, (void)count;
    expect_no_moment(ENDED);
}

static bp_result_t ask_in_get(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                              size_t stride)
{
    (void)m, (void)field, (void)slots;
    expect_no_moment(ASKED);
    for (uint32_t i = 0; i < count; i++)
        memset((char *)values + i * stride, 0, sizeof(float));
    return BP_OK;
}

static bp_result_t ask_in_set(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count,
                              const void *values, size_t stride)
{
    (void)m, (void)field, (void)slots, (void)count, (void)values, (void)stride;
    expect_no_moment(TOLD);
    return BP_OK;
}

static uint32_t ask_in_count(bp_manager_t *m)
{
    (void)m;
    expect_no_moment(COUNTED);
    return 0;
}

static bp_result_t ask_in_load(bp_plugin_t *plugin)
{
    if (plugin->host == rig.host)
        expect_no_moment(LOADED);
    return BP_OK;
}

static void ask_in_unload(bp_plugin_t *plugin)
{
    (void)plugin;
    expect_no_moment(UNLOADED);
}

static const bp_storage_i asking_storage = {.struct_size = sizeof asking_storage, .create = ask_in_create,
                                            .destroy = ask_in_destroy, .get = ask_in_get, .set = ask_in_set,
                                            .count = ask_in_count};
static const bp_component_i asking_parts[] = {
    {PART, .storage = &asking_storage, .start = ask_in_start, .stop = ask_in_stop}, OTHER};
static const bp_system_i asking_systems[] = {
    {.name = "first", .run_all = ask_in_step, .start = ask_in_system_start, .stop = ask_in_system_stop}};
static const bp_plugin_head_t asking =
    BP_PLUGIN_HEAD("asking", (&(const bp_plugin_desc_t){.version = "1", .load = ask_in_load, .unload = ask_in_unload,
                                                        .components = BP_LIST(asking_parts),
                                                        .systems = BP_LIST(asking_systems)}));

/* From no verb of a plugin, whatever it is called for. */
START_TEST(plugins_are_reloaded_between_steps_alone)
{
    static const bp_plugin_head_t *linked[] = {&stage, &asking};
    bp_entity_t e;
    float size = 1;
    rig_open_with(&rig, linked, COUNT(linked));
    put("1", &(version_of_parts_t){{0}, {0}});
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stage", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file("kit.stage", "k"), NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "asking", NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "part"));
    WORKS(rig.host, bp_world_use_system(world, "first"));
    e = entity_with(world, "part");
    WORKS(rig.host, rig.api->property->set_named(world, e, "part", "size", BP_F32, &size));
    WORKS(rig.host, rig.api->property->get_named(world, e, "part", "size", BP_F32, &size));
    world_count(&world->rows, world_component(&world->rows, "part"));
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &e, 1), 1);
    WORKS(rig.host, bp_world_drop_system(world, "first"));
    WORKS(rig.host, bp_world_drop_component(world, "part"));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "asking"));
    for (uint32_t moment = 0; moment < MOMENTS; moment++)
        EXPECT(asked[moment] > 0, "moment %u has not come", moment);
    world->rows.hold = WORLD_TELLING;
    FAILS(rig.host, BP_ERROR_STATE, "plugins are reloaded between steps: ", reload_rollback(&rig.host->reload));
    world->rows.hold = WORLD_FREE;
    ck_assert_int_eq(reload_rollback(&rig.host->reload), BP_ERROR_STATE);
    ck_assert_str_eq(bp_host_error(rig.host), "no reload is on probation");
    WORKS(rig.host, reload());
    close_world(true);
}
END_TEST

/* --- the end of a side -------------------------------------------------------------------------------------------- */

static uint32_t goodbyes;
static bool ends_quietly; /* the host ends, which is no matter of these tests */

/* What goes says something of its own, and tries to change the host. */
static void say_goodbye(bp_host_o *host, const bp_api_t *api)
{
    bp_entity_t e;
    if (ends_quietly)
        return;
    goodbyes++;
    FAILS(host, BP_ERROR_STATE, "", api->entity->create(host, &e, 1));
    FAILS(host, BP_ERROR_STATE, "", api->world->create(world, prototype_of(world, "other", NULL, NULL, NULL), &e, 1));
    api->error->set(host, BP_ERROR_FAILED, "goodbye");
}

static void stop_with_goodbye(bp_manager_t *m)
{
    say_goodbye(m->host, m->api);
}

static void stop_system_with_goodbye(bp_system_t *s)
{
    say_goodbye(s->host, s->api);
}

static void unload_with_goodbye(bp_plugin_t *plugin)
{
    say_goodbye(plugin->host, plugin->api);
}

/* Versions that begin anew each time: of a refused one three parts end, and `unload` is called. */
START_TEST(a_version_that_ends_changes_nothing_and_replaces_no_error)
{
    static const bp_component_i going[] = {{PART, .start = begin_well, .stop = stop_with_goodbye}, OTHER};
    static const bp_system_i going_systems[] = {
        {.name = "first", RUNS, .start = begin_system_well, .stop = stop_system_with_goodbye},
        {.name = "second", RUNS}};
    static const bp_system_i going_in_circles[] = {
        {.name = "first", RUNS, .after = "second", .start = begin_system_well, .stop = stop_system_with_goodbye},
        {.name = "second", RUNS, .after = "first"}};
    const version_of_parts_t well = {C(going), C(going_systems)}, badly = {C(going), C(going_in_circles)};
    enum { REFUSED, AT_ONCE, ACCEPTED, BACK, FORGOTTEN, OVER, WAYS };
    for (uint32_t way = 0; way < WAYS; way++) {
        unload_of_all = unload_with_goodbye;
        open_world(&well, PARTS | SYSTEMS);
        rig.host->reload.probation_steps = way < ACCEPTED ? 0 : way == BACK ? 1 : 3;
        put("2", way == REFUSED ? &badly : &well);
        goodbyes = 0;
        rig.api->error->set(rig.host, BP_OK, "what was said before");
        bp_result_t result = reload();
        EXPECT(result == (way == REFUSED ? BP_ERROR_STATE : BP_OK), "%u: %s", way, bp_host_error(rig.host));
        EXPECT(strcmp(bp_host_error(rig.host), "goodbye") != 0, "way %u", way);
        ck_assert_uint_eq(goodbyes, way < ACCEPTED ? 3 : 0);
        rig.api->error->set(rig.host, BP_OK, "what was said before");
        if (way == ACCEPTED)
            reload_accept(&rig.host->reload);
        else if (way == BACK)
            WORKS(rig.host, reload_rollback(&rig.host->reload));
        else if (way == OVER)
            WORKS(rig.host, reload());
        if (way == FORGOTTEN) {
            reload_forget_world(&rig.host->reload, &world->rows);
            ck_assert_uint_eq(goodbyes, 2); /* `unload` comes when the probation ends for all worlds */
        }
        EXPECT(strcmp(bp_host_error(rig.host), "goodbye") != 0, "way %u", way);
        if (way == FORGOTTEN)
            reload_accept(&rig.host->reload);
        ck_assert_uint_eq(goodbyes, 3);
        EXPECT(strcmp(bp_host_error(rig.host), "goodbye") != 0, "way %u", way);
        reload_accept(&rig.host->reload);
        rig.api->error->set(rig.host, BP_OK, "");
        rig.log = (log_text_t){.target = rig.log.target};
        check_host(rig.host);
        ends_quietly = true;
        rig_close(&rig);
        ends_quietly = false;
    }
}
END_TEST

/* Memory that a version has taken is given back in its name, also where the next one comes in over its probation. */
static bp_result_t start_with_block(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, 100);
    return m->state == NULL ? BP_ERROR_MEMORY : BP_OK;
}

static void stop_with_block(bp_manager_t *m)
{
    m->api->memory->resize(m->plugin, m->state, 100, 0);
}

START_TEST(versions_that_follow_one_another_on_probation_give_back_what_they_took)
{
    static const bp_component_i taking[] = {{PART, .start = start_with_block, .stop = stop_with_block}, OTHER};
    static const bp_component_i taking_over[] = {
        {PART, .start = start_with_block, .stop = stop_with_block, .state_form = 7}, OTHER};
    const version_of_parts_t anew = {C(taking), {0}}, over = {C(taking_over), {0}};
    const version_of_parts_t *const versions[] = {&over, &anew, &anew, &over, &over, &over, &anew};
    open_world(&over, PARTS);
    rig.host->reload.probation_steps = 3;
    for (uint32_t i = 0; i < COUNT(versions); i++) {
        put("2", versions[i]);
        WORKS(rig.host, reload());
        if (versions[i] == &anew) /* where state went over the account is settled when the probation ends */
            ck_assert_uint_eq(memory_bytes(rig.host->loader.plugins.items[1]->account), 100);
    }
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    ck_assert_uint_eq(memory_bytes(rig.host->loader.plugins.items[1]->account), 100);
    rig.log = (log_text_t){.target = rig.log.target};
    check_host(rig.host);
    rig_close(&rig); /* which wants nothing in the log */
}
END_TEST

/* --- values of a large run ---------------------------------------------------------------------------------------- */

/* So many rows that they are converted in several pieces. A value that does not fit keeps the version out as long as
 * its entity lives, in whichever piece it lies. */
START_TEST(a_value_that_does_not_fit_counts_in_every_piece_of_a_large_run_while_its_entity_lives)
{
    enum { MANY = 40000 };
    static const uint32_t rows[] = {100, 16384 + 100, MANY - 1};
    static const bp_field_t narrow[] = {{.name = "size", .type = BP_U8, .initial = "1"}};
    static const bp_component_i narrower[] = {{.name = "part", .fields = BP_LIST(narrow)}, OTHER};
    static bp_entity_t entities[MANY];
    const float large = 300;
    open_world(&(version_of_parts_t){C(parts), {0}}, PARTS);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "part", NULL, NULL, NULL), entities, MANY));
    put("2", &(version_of_parts_t){C(narrower), {0}});
    for (uint32_t i = 0; i < COUNT(rows); i++)
        WORKS(rig.host, rig.api->property->set_named(world, entities[rows[i]], "part", "size", BP_F32, &large));
    for (uint32_t i = 0; i < COUNT(rows); i++) {
        char who[32];
        value_format(&rig.host->base.values, BP_ENTITY, &entities[rows[i]], who, sizeof who);
        FAILS(rig.host, BP_ERROR_RANGE, who, reload());
        ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &entities[rows[i]], 1), 1);
    }
    WORKS(rig.host, reload());
    close_world(true);
}
END_TEST

/* --- ahead -------------------------------------------------------------------------------------------------------- */

static uint32_t loads;

static bp_result_t count_load(bp_plugin_t *plugin)
{
    (void)plugin;
    loads++;
    return BP_OK;
}

/* Where there are many instances, a version that is not tried is opened twice: to see which columns will be needed, and
 * for the change. `load` is called for the change alone, and what is wrong is told by the change. A version of few
 * instances is opened once. */
START_TEST(a_version_that_is_looked_at_before_its_change_is_loaded_once)
{
    enum { MANY = 20000 };
    static const char *const kit[] = {"kit"};
    static bp_entity_t entities[MANY];
    static const bp_field_t more[] = {{.name = "size", .type = BP_F64, .initial = "1"}};
    static const bp_component_i wider[] = {{.name = "part", .fields = BP_LIST(more)}, OTHER};
    for (uint32_t way = 0; way < 4; way++) {
        bool damaged = way % 2 != 0;
        uint32_t count = way < 2 ? MANY : 20;
        open_world(&(version_of_parts_t){C(parts), {0}}, PARTS);
        WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "part", NULL, NULL, NULL), entities, count));
        load_of_all = count_load;
        put("2", &(version_of_parts_t){C(wider), {0}});
        loads = opens = 0;
        is_damaged = damaged;
        WORKS(rig.host, bp_host_begin_reload(rig.host, kit, 1, 0));
        for (uint32_t polls = 0; rig.host->reload.past.count == 0 && polls < 10000; polls++) {
            rig.host->hot.polled_at = 0; /* without waiting between two polls */
            WORKS(rig.host, bp_host_poll(rig.host));
        }
        is_damaged = false;
        const reload_told_t *told = &rig.host->reload.past.told[0];
        ck_assert_uint_eq(rig.host->reload.past.count, 1);
        ck_assert_uint_eq(opens, count == MANY ? 2 : 1);
        if (!damaged) {
            EXPECT(strncmp(told->text, "reloaded kit 1 -> 2: ", 21) == 0, "%s", told->text);
            ck_assert_uint_eq(loads, 1);
            ck_assert((rig.host->reload.readied > 0) == (count == MANY));
        } else {
            EXPECT(strstr(told->text, "it is damaged\n  it is tried again together with") != NULL, "%s", told->text);
            ck_assert_uint_eq(loads, 0);
        }
        load_of_all = NULL;
        close_world(true);
    }
}
END_TEST

/* Each kind of limit by itself, where there is no default: the column that was made ready is that of the declaration
 * that comes. */
START_TEST(columns_with_limits_and_no_default_are_made_ready)
{
    enum { MANY = 20000 };
    static const char *const kit[] = {"kit"};
    static bp_entity_t entities[MANY];
    static const bp_field_t limited[] = {{.name = "size", .type = BP_F64, .min = "0"},
                                         {.name = "size", .type = BP_F64, .max = "100"},
                                         {.name = "size", .type = BP_U8, .values = "small large"}};
    for (uint32_t i = 0; i < COUNT(limited); i++) {
        const bp_component_i next[] = {{.name = "part", .fields = {&limited[i], 1, sizeof *limited}}, OTHER};
        open_world(&(version_of_parts_t){C(parts), {0}}, PARTS);
        WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "part", NULL, NULL, NULL), entities, MANY));
        put("2", &(version_of_parts_t){C(next), {0}});
        WORKS(rig.host, bp_host_begin_reload(rig.host, kit, 1, 0));
        for (uint32_t polls = 0; rig.host->reload.past.count == 0 && polls < 10000; polls++) {
            rig.host->hot.polled_at = 0;
            WORKS(rig.host, bp_host_poll(rig.host));
        }
        const char *text = rig.host->reload.past.told[0].text;
        EXPECT(strncmp(text, "reloaded kit 1 -> 2: ", 21) == 0, "%u: %s", i, text);
        EXPECT(rig.host->reload.readied == 1, "%u: %u columns were made ready", i, (unsigned)rig.host->reload.readied);
        close_world(true);
    }
}
END_TEST

/* Large columns of texts that go are let go of in slices where the reload is one of those between steps, and at once
 * where the program has called for it, or where a slice is long enough for all of them; in each of two worlds. */
START_TEST(texts_that_go_leave_in_slices_after_a_reload_that_was_asked_for)
{
    enum { MANY = 20000, CALLED_FOR = 0, SHORT_SLICES = 1, LONG_SLICES = 2 };
    static const char *const kit[] = {"kit"};
    static bp_entity_t entities[MANY];
    static const bp_field_t noted[] = {{.name = "size", .type = BP_F32, .initial = "1"},
                                       {.name = "note", .type = BP_STRING, .initial = "a note"}};
    static const bp_component_i with_notes[] = {{.name = "part", .fields = BP_LIST(noted)}, OTHER};
    for (uint32_t way = CALLED_FOR; way <= LONG_SLICES; way++) {
        open_world(&(version_of_parts_t){C(with_notes), {0}}, PARTS);
        WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "part", NULL, NULL, NULL), entities, MANY));
        bp_world_o *second = bp_world_create(rig.host, &(bp_world_desc_t){.name = "second"});
        WORKS(rig.host, bp_world_use_component(second, "part"));
        WORKS(rig.host,
              rig.api->world->create(second, prototype_of(second, "part", NULL, NULL, NULL), entities, MANY));
        const leavings_t *leavings[] = {&world->rows.leavings, &second->rows.leavings};
        uint32_t polls = 0, most[2] = {0, 0};
        rig.host->reload.slice_ns = way == LONG_SLICES ? UINT64_C(10000000000) : 0;
        put("2", &(version_of_parts_t){C(parts), {0}});
        WORKS(rig.host, way != CALLED_FOR ? bp_host_begin_reload(rig.host, kit, 1, 0) : reload());
        for (; rig.host->reload.past.count == 0 || leavings[0]->count + leavings[1]->count > 0; polls++) {
            ck_assert_uint_lt(polls, 10000);
            rig.host->hot.polled_at = 0;
            WORKS(rig.host, bp_host_poll(rig.host));
            for (uint32_t w = 0; w < 2; w++)
                most[w] = leavings[w]->count > most[w] ? leavings[w]->count : most[w];
        }
        ck_assert_uint_eq(rig.host->reload.past.count, 1);
        ck_assert_uint_eq(leavings[0]->count + leavings[1]->count, 0);
        ck_assert(most[0] == (way == SHORT_SLICES) && most[1] == (way == SHORT_SLICES));
        close_world(true);
    }
}
END_TEST

/* --- states on trial ---------------------------------------------------------------------------------------------- */

enum { OF_COMPONENT, OF_SYSTEM, STATES = 8 };

/* States end in the order in which they have begun, and the one that has begun last is used. What is otherwise ends the
 * process: on trial the copy. */
static char states[2][STATES];
static uint32_t begun[2], ended[2];

static void *begin_state(uint32_t of, const void *present)
{
    if (present != NULL || begun[of] == STATES)
        abort();
    return &states[of][begun[of]++];
}

static void use_state(uint32_t of, const void *state)
{
    if (begun[of] == 0 || state != &states[of][begun[of] - 1])
        abort();
}

static void end_state(uint32_t of, const void *state)
{
    if (state != &states[of][ended[of]++])
        abort();
}

static bp_result_t start_part(bp_manager_t *m)
{
    m->state = begin_state(OF_COMPONENT, m->state);
    return BP_OK;
}

static void stop_part(bp_manager_t *m)
{
    end_state(OF_COMPONENT, m->state);
}

static bp_result_t save_part(bp_manager_t *m, void **data, size_t *size)
{
    use_state(OF_COMPONENT, m->state);
    *data = m->api->memory->resize(m->plugin, NULL, 0, *size = 1);
    return *data == NULL ? BP_ERROR_MEMORY : BP_OK;
}

static bp_result_t load_part(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    (void)version, (void)data;
    use_state(OF_COMPONENT, m->state);
    return size == 1 ? BP_OK : BP_ERROR_ARGUMENT;
}

static void simulate_part(const bp_run_t *run, uint32_t count)
{
    (void)count;
    use_state(OF_COMPONENT, run->manager->state);
}

static bp_result_t start_first(bp_system_t *s)
{
    s->state = begin_state(OF_SYSTEM, s->state);
    return BP_OK;
}

static void stop_first(bp_system_t *s)
{
    end_state(OF_SYSTEM, s->state);
}

static bp_result_t save_first(bp_system_t *s, void **data, size_t *size)
{
    use_state(OF_SYSTEM, s->state);
    *data = s->api->memory->resize(s->plugin, NULL, 0, *size = 1);
    return *data == NULL ? BP_ERROR_MEMORY : BP_OK;
}

static bp_result_t load_first(bp_system_t *s, const void *data, size_t size)
{
    (void)data;
    use_state(OF_SYSTEM, s->state);
    return size == 1 ? BP_OK : BP_ERROR_ARGUMENT;
}

static void run_first(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)step, (void)matches, (void)count;
    use_state(OF_SYSTEM, s->state);
}

static bp_result_t end_it(bp_plugin_t *plugin)
{
    (void)plugin;
    abort();
}

/* On trial each state is saved, and another one that has begun anew loads that and takes its place. */
START_TEST(the_state_that_has_loaded_another_one_takes_its_place_on_trial)
{
    static const bp_save_i saving = {save_part, load_part};
    static const bp_system_save_i system_saving = {save_first, load_first};
    static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_save", saving)}};
    static const bp_extension_t system_extensions[] = {{BP_EXTENSION("bp_save", system_saving)}};
    static const bp_component_i stateful[] = {{PART, .start = start_part, .stop = stop_part, .simulate = simulate_part,
                                               .extensions = BP_LIST(extensions)}, OTHER};
    static const bp_system_i stateful_systems[] = {
        {.name = "first", .run_all = run_first, .start = start_first, .stop = stop_first,
         .extensions = BP_LIST(system_extensions)}, {.name = "second", RUNS}};
    const version_of_parts_t version = {C(stateful), C(stateful_systems)};
    if (!process_can_fork())
        return;
    open_world(&version, PARTS | SYSTEMS);
    hot_try(&rig.host->hot, 0, NULL);
    load_of_all = end_it;
    put("2", &version);
    ck_assert_int_eq(reload(), BP_ERROR_FAILED); /* there is a trial */
    load_of_all = NULL;
    for (uint32_t round = 1; round < 4; round++) {
        put("2", &version);
        EXPECT(reload() == BP_OK, "%s", bp_host_error(rig.host));
        WORKS(rig.host, bp_world_step(world));
        for (uint32_t of = 0; of < 2; of++)
            ck_assert(begun[of] == round + 1 && ended[of] == round);
    }
    close_world(true);
    ck_assert(ended[OF_COMPONENT] == begun[OF_COMPONENT] && ended[OF_SYSTEM] == begun[OF_SYSTEM]);
}
END_TEST

Suite *reload_refusals_suite(void)
{
    Suite *suite = suite_create("reload_refusals");
    TCase *tests = tcase_create("refusals");
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_refuses_a_reload_is_told_in_a_sentence_and_leaves_the_host_as_it_was);
    tcase_add_test(tests, a_change_whose_step_had_no_order_is_reported_once_when_it_has_one);
    tcase_add_test(tests, names_of_which_there_is_no_plugin_or_no_file_are_told);
    tcase_add_test(tests, plugins_are_reloaded_between_steps_alone);
    tcase_add_test(tests, a_version_that_ends_changes_nothing_and_replaces_no_error);
    tcase_add_test(tests, versions_that_follow_one_another_on_probation_give_back_what_they_took);
    tcase_add_test(tests, a_value_that_does_not_fit_counts_in_every_piece_of_a_large_run_while_its_entity_lives);
    tcase_add_test(tests, a_version_that_is_looked_at_before_its_change_is_loaded_once);
    tcase_add_test(tests, columns_with_limits_and_no_default_are_made_ready);
    tcase_add_test(tests, the_state_that_has_loaded_another_one_takes_its_place_on_trial);
    tcase_add_test(tests, texts_that_go_leave_in_slices_after_a_reload_that_was_asked_for);
    suite_add_tcase(suite, tests);
    return suite;
}
