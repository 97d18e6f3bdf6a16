/* test_allowed.c - what verbs may call: every verb of a plugin makes every call, and the answers are compared with a
 * table, which is that of docs/plugin_abi.md.
 *
 * A call that is not allowed answers BP_ERROR_STATE and changes nothing, which check_host sees at the end.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"

#include <bp_clock.h>
#include <bp_message.h>
#include <bp_query.h>

#include <stdio.h>
#include <string.h>

/* --- calls -------------------------------------------------------------------------------------------------------- */

enum { ENTITIES, DESTROY, CREATE, ADD, SET, GET, BESIDE, USE, DROP, STEP, POLL, LOAD, WRITE, CHANNEL, SPAWN, CAPTURE,
       RESTORE, SNAPSHOT, CLOCK, OFFER, KEY, PROTOTYPE, FIND, CALLS };
static const char *const call_names[CALLS] = {"entities", "destroy", "create", "add",  "set",   "get",
                                              "beside",   "use",     "drop",   "step", "poll",  "load",
                                              "write",    "channel", "spawn",  "capture", "restore", "snapshot",
                                              "clock",    "offer",   "key",    "prototype", "find"};

static struct {
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world, *beside;
    uint32_t plain, plain_beside, key, number, names, spare;
    bp_property_t property;
    bp_entity_t entity, doomed;
    bp_scene_o *scene;
    bp_query_o *query;
    char found[4096];
    bool ready, probing;
} now;

struct plain { uint32_t *value; };
static const bp_term_field_t plain_fields[] = {{BP_FIELD_OF(struct plain, value)}};
static const bp_term_t plain_terms[] = {{.component = "plain", .fields = BP_LIST(plain_fields)}};
static const bp_term_list_t plain_list = BP_LIST(plain_terms);
static const bp_term_field_t sent[] = {{.name = "what", .type = BP_U32}};
static const bp_term_field_list_t sent_list = BP_LIST(sent);

static bp_result_t open_and_close(void)
{
    const bp_message_api *messages = (const bp_message_api *)now.api->registry->find(now.host, BP_MESSAGE_API, 1);
    bp_channel_o *channel;
    bp_result_t result = messages->open(now.world, NULL, "news", &sent_list, &channel);
    if (result == BP_OK)
        messages->close(channel);
    return result;
}

static bp_result_t capture(void)
{
    bp_scene_o *scene;
    bp_result_t result = bp_scene_capture(now.beside, &scene);
    if (result == BP_OK)
        bp_scene_close(scene);
    return result;
}

static bp_result_t snapshot(void)
{
    bp_snapshot_o *taken;
    bp_result_t result = bp_host_snapshot(now.host, &taken);
    if (result == BP_OK)
        bp_snapshot_free(taken);
    return result;
}

/* A clock is set by entries that say whether it was, and by others that return nothing. */
static bp_result_t set_clock(void)
{
    const bp_clock_api *clocks = (const bp_clock_api *)now.api->registry->find(now.host, BP_CLOCK_API, 1);
    bp_clock_t before = {.struct_size = sizeof before}, after = before;
    clocks->read(now.beside, &before);
    bp_result_t result = clocks->set_speed(now.beside, before.speed * 1.5);
    clocks->step(now.beside, before.granted + 1);
    clocks->read(now.beside, &after);
    bool set = after.granted != before.granted && after.speed > before.speed;
    clocks->start(now.beside);
    clocks->read(now.beside, &after);
    return set == (result == BP_OK) && after.stopped == 0 ? result : BP_ERROR_FAILED;
}

/* A table under a name that nobody has offered yet, by a plugin that stays. */
static bp_result_t offer(void)
{
    static const struct { uint32_t struct_size, version; void (*nothing)(void); } entries = {0};
    char name[32];
    snprintf(name, sizeof name, "table_%u", now.names++);
    const bp_table_t table = {name, 1, sizeof entries, &entries, "n"};
    bp_result_t result = now.api->registry->offer(&now.host->loader.plugins.items[0]->handed, &table, sizeof table);
    bool there = now.api->registry->find(now.host, name, 1) != NULL;
    return there == (result == BP_OK) ? result : BP_ERROR_FAILED;
}

/* A key that is new, and the prototype of one that the world has had no prototype of. */
static bp_result_t make_key(bool prototype)
{
    char text[32];
    bp_name_t name;
    uint32_t key = now.spare, made;
    snprintf(text, sizeof text, "name %u", now.names++);
    bp_result_t result = now.api->name->intern(now.host, text, &name); /* which all verbs may do */
    if (result != BP_OK)
        return BP_ERROR_FAILED;
    if (!prototype)
        return now.api->world->key(now.world, 0, name, &key);
    result = now.api->world->prototype(now.world, &key, 1, &made);
    if (result == BP_OK) /* one for the next */
        now.api->world->key(now.world, 0, name, &now.spare);
    return result;
}

static bp_result_t find(void)
{
    uint32_t key, prototype;
    bp_result_t result = now.api->world->key(now.world, 0, 0, &key);
    result = result == BP_OK ? now.api->world->prototype(now.world, &key, 1, &prototype) : result;
    return result != BP_OK || (key == now.key && prototype == now.plain) ? result : BP_ERROR_FAILED;
}

/* A value is set by its property, and by a reference: both, or neither. */
static bp_result_t set_value(void)
{
    uint32_t value = 7;
    bp_ref_t ref = {.entity = now.entity, .field = now.key << 8};
    bp_result_t result = now.api->property->set(now.world, &now.property, &now.entity, 1, &value, sizeof value);
    bool writable = now.api->world->ref_write(now.world, &ref) != NULL;
    return writable == (result == BP_OK) ? result : BP_ERROR_FAILED;
}

/* Of what makes things, and finds them. */
static bp_result_t call_found(uint32_t which)
{
    switch (which) {
    case CLOCK:
        return set_clock();
    case OFFER:
        return offer();
    case KEY:
    case PROTOTYPE:
        return make_key(which == PROTOTYPE);
    default:
        return find();
    }
}

/* Of scenes, queries, channels and snapshots. */
static bp_result_t call_large(uint32_t which)
{
    switch (which) {
    case WRITE:
        return ((const bp_query_api *)now.api->registry->find(now.host, BP_QUERY_API, 1))->begin(now.query, 0);
    case CHANNEL:
        return open_and_close();
    case SPAWN:
        return now.api->scene->spawn(now.scene, now.world, 0, NULL, NULL);
    case CAPTURE:
        return capture();
    case RESTORE:
        return bp_scene_restore(now.scene, now.beside, 0);
    case SNAPSHOT:
        return snapshot();
    default:
        return call_found(which);
    }
}

static bp_result_t call(uint32_t which)
{
    const bp_api_t *api = now.api;
    bp_entity_t made;
    uint32_t value = 7;
    switch (which) {
    case ENTITIES:
        return api->entity->create(now.host, &made, 1);
    case DESTROY:
        if (api->entity->create(now.host, &made, 1) != BP_OK)
            return BP_ERROR_STATE;
        return api->entity->destroy(now.host, &made, 1) == 1 ? BP_OK : BP_ERROR_STATE;
    case CREATE:
        return api->world->create(now.world, now.plain, &made, 1);
    case ADD:
        return api->world->add(now.world, now.key, &now.doomed, 1) == BP_ERROR_STATE ? BP_ERROR_STATE : BP_OK;
    case SET:
        return set_value();
    case GET:
        return api->property->get(now.world, &now.property, &now.entity, 1, &value, sizeof value);
    case BESIDE:
        return api->world->create(now.beside, now.plain_beside, &made, 1);
    case USE:
        return bp_world_use_system(now.world, "nothing") == BP_ERROR_STATE ? BP_ERROR_STATE : BP_OK;
    case DROP:
        return bp_world_drop_system(now.world, "nothing") == BP_ERROR_STATE ? BP_ERROR_STATE : BP_OK;
    case STEP:
        return bp_world_step(now.beside);
    case POLL:
        return bp_host_poll(now.host);
    case LOAD:
        return bp_host_load_plugin(now.host, "nothing", NULL, 0) == BP_ERROR_STATE ? BP_ERROR_STATE : BP_OK;
    default:
        return call_large(which);
    }
}

/* Once for each verb: a line with a letter for each call, '-' where it is refused, '!' where it fails otherwise. */
static void probe(const char *verb)
{
    char line[96], start[40];
    snprintf(start, sizeof start, "\n%s:", verb);
    if (!now.ready || now.probing || strstr(now.found, start) != NULL)
        return;
    now.probing = true;
    uint32_t length = (uint32_t)snprintf(line, sizeof line, "%-18s", start);
    for (uint32_t i = 0; i < CALLS; i++) {
        bp_result_t result = call(i);
        line[length++] = result == BP_OK ? '+' : result == BP_ERROR_STATE ? '-' : '!';
    }
    line[length] = '\0';
    snprintf(now.found + strlen(now.found), sizeof now.found - strlen(now.found), "%s", line);
    now.probing = false;
}

/* --- verbs -------------------------------------------------------------------------------------------------------- */

static bp_result_t load(bp_plugin_t *p)
{
    (void)p;
    probe("load");
    return BP_OK;
}

static void unload(bp_plugin_t *p) { (void)p; probe("unload"); }
static bp_result_t resume(bp_plugin_t *p, uint32_t reason) { (void)p, (void)reason; probe("resume"); return BP_OK; }
static void pause(bp_plugin_t *p, uint32_t reason) { (void)p, (void)reason; probe("pause"); }
static void task(bp_plugin_t *p, const void *bytes, size_t size) { (void)p, (void)bytes, (void)size; probe("task"); }
static bp_result_t start(bp_manager_t *m) { (void)m; probe("start"); return BP_OK; }
static void stop(bp_manager_t *m) { (void)m; probe("stop"); }
static void simulate(const bp_run_t *run, uint32_t count) { (void)run, (void)count; probe("simulate"); }
static void died(bp_manager_t *m, const bp_death_t *batch) { (void)m, (void)batch; probe("died"); }

static bp_result_t create_own(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots)
{
    (void)m, (void)instance, (void)entities, (void)columns;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = now.number++;
    probe("create");
    return BP_OK;
}

static void destroy_own(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)m, (void)slots;
    now.number -= count;
    probe("destroy");
}

static bp_result_t get_own(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                           size_t stride)
{
    (void)m, (void)field, (void)slots;
    for (uint32_t i = 0; i < count; i++)
        memset((char *)values + i * stride, 0, sizeof(uint32_t));
    probe("get");
    return BP_OK;
}

static bp_result_t set_own(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, const void *values,
                           size_t stride)
{
    (void)m, (void)field, (void)slots, (void)count, (void)values, (void)stride;
    probe("set");
    return BP_OK;
}

static uint32_t count_own(bp_manager_t *m)
{
    (void)m;
    probe("count");
    return now.number;
}

static uint32_t gc_lazy(bp_manager_t *m, uint64_t *random)
{
    (void)m, (void)random;
    probe("gc");
    return 0;
}

static void report(bp_manager_t *m, bp_report_o *to) { (void)m, (void)to; probe("report"); }
static void report_system(bp_system_t *s, bp_report_o *to) { (void)s, (void)to; probe("report of a system"); }

static bp_result_t save(bp_manager_t *m, void **data, size_t *size)
{
    *data = m->api->memory->resize(m->plugin, NULL, 0, 8);
    *size = *data == NULL ? 0 : 8;
    probe("save");
    return *data == NULL ? BP_ERROR_MEMORY : BP_OK;
}

static bp_result_t load_saved(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    (void)m, (void)version, (void)data, (void)size;
    probe("load of saved state");
    return BP_OK;
}

static bp_result_t start_system(bp_system_t *s) { (void)s; probe("start of a system"); return BP_OK; }
static void stop_system(bp_system_t *s) { (void)s; probe("stop of a system"); }
static void system_died(bp_system_t *s, const bp_death_t *batch) { (void)s, (void)batch; probe("died of a system"); }
static void rewound(bp_system_t *s, const bp_step_t *to) { (void)s, (void)to; probe("rewound"); }

static void run(const bp_match_t *match, uint32_t count) { (void)match, (void)count; probe("run"); }

static void run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
    probe("run_all");
}

static void added(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities, (void)count;
    probe("entities_added");
}

static void removed(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities, (void)count;
    probe("entities_removed");
}

static const bp_field_t fields[] = {{.name = "value", .type = BP_U32}};
static const bp_storage_i storage = {.struct_size = sizeof storage,
                                     .create = create_own,
                                     .destroy = destroy_own,
                                     .get = get_own,
                                     .set = set_own,
                                     .count = count_own};
static const bp_storage_i lazy = {.struct_size = sizeof lazy,
                                  .create = create_own,
                                  .destroy = destroy_own,
                                  .get = get_own,
                                  .set = set_own,
                                  .count = count_own,
                                  .gc = gc_lazy};
static void plugin_died(bp_plugin_t *plugin, const bp_death_t *batch)
{
    (void)plugin, (void)batch;
    probe("plugin died");
}

static const bp_plugin_deaths_i plugin_deaths = {.died = plugin_died};
static const bp_extension_t of_plugin[] = {{BP_EXTENSION("bp_deaths", plugin_deaths)}};
static bp_result_t rows_added(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
    probe("rows_added");
    return BP_OK;
}

static void rows_removed(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
    probe("rows_removed");
}

static bp_result_t rows_set(const bp_run_t *rows, uint32_t count, uint32_t field)
{
    (void)rows, (void)count, (void)field;
    probe("rows_set");
    return BP_OK;
}

static const bp_rows_i row_verbs = {rows_added, rows_removed, rows_set};
static const bp_extension_t of_rows[] = {{BP_EXTENSION("bp_rows", row_verbs)}};
static const bp_deaths_i deaths[] = {{.died = died}};
static const bp_save_i saving = {save, load_saved};
static const bp_extension_t more[] = {{BP_EXTENSION("bp_deaths", deaths[0])}, {BP_EXTENSION("bp_save", saving)}};
static const bp_report_i reporting = {report};
static const bp_extension_t of_busy[] = {{BP_EXTENSION("bp_report", reporting)}};
static const bp_system_report_i reporting_system = {report_system};
static const bp_system_deaths_i deaths_of_system = {.died = system_died};
static const bp_rewind_i rewind_of_system = {rewound};
static const bp_extension_t of_system[] = {{BP_EXTENSION("bp_report", reporting_system)},
                                           {BP_EXTENSION("bp_deaths", deaths_of_system)},
                                           {BP_EXTENSION("bp_rewind", rewind_of_system)}};
static const bp_component_i components[] = {
    {.name = "plain", .fields = BP_LIST(fields)},
    {.name = "told", .fields = BP_LIST(fields), .extensions = BP_LIST(of_rows)},
    {.name = "busy", .fields = BP_LIST(fields), .start = start, .stop = stop, .simulate = simulate,
     .keeps = BP_KEEP_NOTHING, .extensions = BP_LIST(of_busy)},
    {.name = "own", .fields = BP_LIST(fields), .storage = &storage, .keeps = BP_KEEP_SAVED,
     .extensions = BP_LIST(more)},
    {.name = "lazy", .fields = BP_LIST(fields), .storage = &lazy, .keeps = BP_KEEP_NOTHING}};
static const bp_term_t terms[] = {{.component = "plain"}};
static const bp_system_i systems[] = {
    {.name = "each", .terms = BP_LIST(terms), .start = start_system, .stop = stop_system, .run = run,
     .entities_added = added, .entities_removed = removed, .keeps = BP_KEEP_NOTHING, .extensions = BP_LIST(of_system)},
    {.name = "all", .run_all = run_all}};
static const bp_task_t tasks[] = {{"task", task}};
static const bp_plugin_head_t busybody = BP_PLUGIN_HEAD("busybody", (&(const bp_plugin_desc_t){.version = "1",
    .load = load, .unload = unload, .keeps = BP_KEEP_NOTHING, .pause = pause, .resume = resume, .tasks = BP_LIST(tasks),
    .extensions = BP_LIST(of_plugin)}));
static const bp_plugin_head_t parts = BP_PLUGIN_HEAD("parts", (&(const bp_plugin_desc_t){.version = "1",
    .components = BP_LIST(components), .systems = BP_LIST(systems)}));
static const bp_plugin_head_t *const linked[] = {&busybody, &parts};

static void say_nothing(void *context, const char *world_name, const char *unit, const char *name, const char *value)
{
    (void)context, (void)world_name, (void)unit, (void)name, (void)value;
}

/* Reports, and the world at an earlier moment. */
static void look_and_go_back(void)
{
    bp_snapshot_o *snapshot;
    bp_host_report(now.host, &(bp_report_sink_i){.value = say_nothing});
    WORKS(now.host, bp_host_snapshot(now.host, &snapshot));
    WORKS(now.host, bp_world_step(now.world));
    WORKS(now.host, bp_host_bring_back(now.host, snapshot));
    bp_snapshot_free(snapshot);
    WORKS(now.host, now.api->property->resolve(now.world, now.entity, "plain", "value", &now.property));
}

static void announced(void *data, const bp_entity_t *entities, uint32_t count)
{
    (void)data, (void)entities, (void)count;
    probe("callback");
}

static void use_plain(bp_world_o *world, uint32_t *plain)
{
    WORKS(now.host, bp_world_use_component(world, "plain"));
    *plain = prototype_of(world, "plain", NULL, NULL, NULL);
}

static void live(void)
{
    const bp_api_t *api;
    bp_entity_t own, rare;
    memset(&now, 0, sizeof now);
    now.host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = COUNT(linked)});
    now.api = api = bp_host_api(now.host);
    WORKS(now.host, bp_host_load_plugin(now.host, "parts", NULL, 0));
    now.world = bp_world_create(now.host, &(bp_world_desc_t){.name = "main"});
    now.beside = bp_world_create(now.host, &(bp_world_desc_t){.name = "beside"});
    use_plain(now.world, &now.plain);
    use_plain(now.beside, &now.plain_beside);
    now.key = key_of(now.world, "plain", "");
    now.spare = key_of(now.world, "plain", "spare");
    WORKS(now.host, api->world->create(now.world, now.plain, &now.entity, 1));
    WORKS(now.host, api->world->create(now.world, now.plain, &now.doomed, 1));
    WORKS(now.host, api->property->resolve(now.world, now.entity, "plain", "value", &now.property));
    WORKS(now.host, bp_host_on_destroyed(now.host, &now, announced, NULL));
    WORKS(now.host, bp_scene_capture(now.beside, &now.scene));
    const bp_query_api *queries = (const bp_query_api *)api->registry->find(now.host, BP_QUERY_API, 1);
    WORKS(now.host, queries->make(now.world, NULL, &plain_list, 0, &now.query));
    now.ready = true;
    WORKS(now.host, bp_host_load_plugin(now.host, "busybody", NULL, 0));
    const bp_task_api *posting = (const bp_task_api *)api->registry->find(now.host, BP_TASK_API, 1);
    bp_plugin_t *plugin = &now.host->loader.plugins.items[1]->handed;
    ck_assert_int_eq(posting->post(plugin, "task", NULL, 0), BP_OK);
    WORKS(now.host, bp_host_poll(now.host));
    WORKS(now.host, bp_world_use_component(now.world, "busy"));
    WORKS(now.host, bp_world_use_component(now.world, "own"));
    WORKS(now.host, bp_world_use_component(now.world, "lazy"));
    WORKS(now.host, bp_world_use_system(now.world, "each"));
    WORKS(now.host, bp_world_use_system(now.world, "all"));
    WORKS(now.host, api->world->create(now.world, prototype_of(now.world, "own", "busy", NULL, NULL), &own, 1));
    bp_property_t property;
    uint32_t value = 3;
    bp_entity_t told;
    WORKS(now.host, bp_world_use_component(now.world, "told"));
    WORKS(now.host, api->world->create(now.world, prototype_of(now.world, "told", NULL, NULL, NULL), &told, 1));
    WORKS(now.host, api->property->set_named(now.world, told, "told", "value", BP_U32, &value));
    ck_assert_uint_eq(api->entity->destroy(now.host, &told, 1), 1);
    WORKS(now.host, api->property->resolve(now.world, own, "own", "value", &property));
    WORKS(now.host, api->property->set(now.world, &property, &own, 1, &value, sizeof value));
    WORKS(now.host, api->property->get(now.world, &property, &own, 1, &value, sizeof value));
    ck_assert_uint_eq(api->world->count(now.world, api->world->component(now.world, "own")), 1);
    WORKS(now.host, bp_world_step(now.world));
    look_and_go_back();
    WORKS(now.host, api->world->create(now.world, prototype_of(now.world, "lazy", "plain", NULL, NULL), &rare, 1));
    WORKS(now.host, bp_world_step(now.world));
    WORKS(now.host, api->world->remove(now.world, now.key, &rare, 1));
    WORKS(now.host, bp_world_step(now.world));
    ck_assert_uint_eq(api->entity->destroy(now.host, &own, 1), 1);
    WORKS(now.host, bp_world_drop_system(now.world, "each"));
    WORKS(now.host, bp_world_drop_component(now.world, "busy"));
    WORKS(now.host, bp_host_unload_plugin(now.host, "busybody"));
    WORKS(now.host, bp_world_step(now.world));
    check_host(now.host);
    now.ready = false;
    strcat(now.found, "\n");
    bp_host_destroy(now.host);
}

static void compare_line(const char *verb, const char *wanted)
{
    char start[40], expected[96];
    snprintf(start, sizeof start, "\n%s:", verb);
    snprintf(expected, sizeof expected, "%-18s%s\n", start, wanted);
    EXPECT(strstr(now.found, expected) != NULL, "%s\nnot in what was found (%s, %s, ...):\n%s", expected, call_names[0],
           call_names[1], now.found);
}

START_TEST(each_verb_may_call_what_the_table_says)
{
    live();
    static const char *const between[] = {"load",   "resume", "pause", "unload",  "start", "start of a system",
                                          "stop",   "create", "destroy",
                                          "stop of a system", "report", "report of a system", "rewound"};
    static const char *const told[] = {"died", "callback", "plugin died", "died of a system"};
    static const char *const rows[] = {"rows_added", "rows_removed", "rows_set"};
    for (uint32_t i = 0; i < COUNT(rows); i++)
        compare_line(rows[i], "+---+++-----++----+++++");
    static const char *const inside[] = {"simulate", "run", "run_all", "entities_added", "entities_removed"};
    for (uint32_t i = 0; i < COUNT(between); i++)
        compare_line(between[i], "+++++++-----+++---+++++");
    for (uint32_t i = 0; i < COUNT(told); i++)
        compare_line(told[i], "+++++++-----++----+++++");
    for (uint32_t i = 0; i < COUNT(inside); i++)
        compare_line(inside[i], "++--+++-----+-----+++++");
    compare_line("get", "-----+----------------+");
    compare_line("set", "-----+----------------+");
    compare_line("count", "-----+----------------+");
    compare_line("save", "-----+----------------+");
    compare_line("load of saved state", "-----+----------------+");
    compare_line("task", "+++++++++---+++++++++++");
    compare_line("gc", "+++++++-----+-+---+++++"); /* within a step, when its loops are done */
}
END_TEST

Suite *allowed_suite(void)
{
    Suite *suite = suite_create("allowed");
    TCase *tcase = tcase_create("allowed");
    tcase_add_test(tcase, each_verb_may_call_what_the_table_says);
    suite_add_tcase(suite, tcase);
    return suite;
}
