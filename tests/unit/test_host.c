/* test_host.c - hosts as embedders meet them: plugins that come and go, reports, leaks. Worlds have test_worlds.c.
 *
 * How files are judged and declarations refused is the subject of limits/test_loading.c; here plugins are
 * linked in, so that what they leave behind can be looked at. `shop` offers a table, keeps state and can be
 * told to forget memory; `customer` uses the table through its slot.
 */
#include "support.h"

#include "../suites.h"
#include "inspect.h"
#include "zoo.h"

#include <bp_clock.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- plugins -------------------------------------------------------------------------------------------- */

typedef struct shop_api {
    uint32_t struct_size;
    uint32_t version;
    uint32_t (*price)(const char *what);
    const char *(*motto)(void);
    void (*close)(uint32_t *closed);
    bp_result_t (*measure)(uint32_t *metres);
} shop_api;

static uint32_t price(const char *what)
{
    return (uint32_t)strlen(what);
}

static const char *motto(void)
{
    return "buy";
}

static void close_shop(uint32_t *closed)
{
    *closed = 1;
}

static bp_result_t measure(uint32_t *metres)
{
    *metres = 12;
    return BP_OK;
}

static const shop_api shop_table = {.price = price, .motto = motto, .close = close_shop, .measure = measure};
static const bp_table_t shop_tables[] = {BP_TABLE("shop", 2, shop_table, "cpnr")};

/* What plugins did, in order. */
static char events[512];
static size_t forgets; /* bytes that shop takes and forgets when it is loaded */
static void *forgotten;

static void note(const char *what)
{
    size_t used = strlen(events);
    snprintf(events + used, sizeof events - used, "%s%s", used > 0 ? " " : "", what);
}

static bp_result_t shop_load(bp_plugin_t *plugin)
{
    note("+shop");
    plugin->state = plugin->api->memory->resize(plugin, NULL, 0, 32);
    if (plugin->state == NULL)
        return plugin->api->error->set(plugin->host, BP_ERROR_MEMORY, "shop: out of memory");
    if (forgets > 0)
        forgotten = plugin->api->memory->resize(plugin, NULL, 0, forgets);
    return BP_OK;
}

static void shop_unload(bp_plugin_t *plugin)
{
    note("-shop");
    plugin->api->memory->resize(plugin, plugin->state, 32, 0);
}

static bp_result_t start_shelf(bp_manager_t *m)
{
    (void)m;
    note("+shelf");
    return BP_OK;
}

static void stop_shelf(bp_manager_t *m)
{
    (void)m;
    note("-shelf");
}

static void report_shelf(bp_manager_t *m, bp_report_o *report)
{
    const bp_report_api *r = m->api->report;
    r->table(report, "stock", (const char *const[]){"thing", "number"}, 2);
    r->row(report, (const char *const[]){"apple", "3"});
    r->row(report, (const char *const[]){"pear", "4"});
    r->value(report, "open", "yes");
}

static void visit(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
    note("visit");
}

static void report_visit(bp_system_t *s, bp_report_o *report)
{
    s->api->report->value(report, "visits", "12");
}

static const bp_field_t shelf_fields[] = {{.name = "label", .type = BP_STRING, .initial = "empty"}};
static const bp_report_i shelf_report = {report_shelf};
static const bp_extension_t shelf_extensions[] = {{BP_EXTENSION("bp_report", shelf_report)}};
static const bp_component_i shop_components[] = {{.name = "shelf",
                                                  .fields = BP_LIST(shelf_fields),
                                                  .start = start_shelf,
                                                  .stop = stop_shelf,
                                                  .extensions = BP_LIST(shelf_extensions)}};
static const bp_plugin_head_t shop = BP_PLUGIN_HEAD("shop", (&(const bp_plugin_desc_t){.version = "2.1",
                                      .doc = "sells",
                                      .components = BP_LIST(shop_components),
                                      .tables = BP_LIST(shop_tables),
                                      .load = shop_load,
                                      .unload = shop_unload}));

static bp_result_t customer_load(bp_plugin_t *plugin)
{
    note("+customer");
    plugin->state = (void *)(uintptr_t)plugin->api->registry->find(plugin->host, "shop", 1);
    return BP_OK;
}

static void customer_unload(bp_plugin_t *plugin)
{
    (void)plugin;
    note("-customer");
}

static const bp_term_t visit_terms[] = {{.component = "shelf"}};
static const bp_system_report_i visit_report = {report_visit};
static const bp_extension_t visit_extensions[] = {{BP_EXTENSION("bp_report", visit_report)}};
static const bp_system_i customer_systems[] = {
    {.name = "visit", .terms = BP_LIST(visit_terms), .run_all = visit, .extensions = BP_LIST(visit_extensions)}};
static const bp_plugin_head_t customer =
    BP_PLUGIN_HEAD("customer", (&(const bp_plugin_desc_t){.version = "1",
                                                          .systems = BP_LIST(customer_systems),
                                                          .load = customer_load,
                                                          .unload = customer_unload}));

static bp_result_t rival_load(bp_plugin_t *plugin)
{
    return plugin->api->registry->offer(plugin, &shop_tables[0], sizeof shop_tables[0]);
}

static const bp_plugin_head_t rival =
    BP_PLUGIN_HEAD("rival", (&(const bp_plugin_desc_t){.version = "1", .load = rival_load}));

static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 3];

/* --- the rig -------------------------------------------------------------------------------------------- */

static rig_t rig;
static const bp_world_api *api;

static void begin(void)
{
    events[0] = '\0';
    forgets = 0;
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &shop;
    plugins[ZOO_PLUGINS + 1] = &customer;
    plugins[ZOO_PLUGINS + 2] = &rival;
    rig_open_with(&rig, plugins, COUNT(plugins));
    api = rig.api->world;
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void load(const char *name)
{
    WORKS(rig.host, bp_host_load_plugin(rig.host, name, NULL, 0));
}

static void unload(const char *name)
{
    WORKS(rig.host, bp_host_unload_plugin(rig.host, name));
}

static bp_world_o *zoo_world(const char *name)
{
    if (loader_find(&rig.host->loader, "zoo") == NULL) {
        load("zoo");
        load("stocks");
    }
    return rig_world(&rig, name);
}

static void expect_events(const char *wanted)
{
    ck_assert_str_eq(events, wanted);
    events[0] = '\0';
}

/* --- hosts ---------------------------------------------------------------------------------------------- */

START_TEST(a_host_needs_no_description)
{
    bp_host_o *host = bp_host_create(NULL);
    ck_assert_str_eq(bp_host_error(host), "");
    ck_assert_ptr_null(bp_host_plugin(host, 0, NULL));
    ck_assert_uint_eq(bp_host_configured_steps(host), 0);
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    ck_assert(world->clock.step_rate == 60.0);
    WORKS(host, bp_world_step(world));
    WORKS(host, bp_host_step(host));
    ck_assert_uint_eq(world->clock.steps, 2);
    bp_host_destroy(host);
    bp_host_destroy(NULL);
    bp_world_destroy(NULL);
}
END_TEST

START_TEST(a_description_of_older_headers_is_read_as_far_as_it_goes)
{
    bp_host_desc_t desc = rig.desc;
    desc.struct_size = offsetof(bp_host_desc_t, static_plugins);
    desc.tag = 99;
    bp_host_o *host = bp_host_create(&desc);
    FAILS(host, BP_ERROR_NOT_FOUND, "zoo: there is no such plugin",
          bp_host_load_plugin(host, "zoo", NULL, 0));
    ck_assert_uint_gt(rig.heap.blocks, 0);
    bp_host_destroy(host);
    bp_world_desc_t world = {
        .struct_size = offsetof(bp_world_desc_t, step_rate), .name = "w", .step_rate = -1};
    ck_assert_ptr_nonnull(bp_world_create(rig.host, &world));
}
END_TEST

/* What an embedder of other headers says of himself: a table that ends earlier, and one that goes on. */
START_TEST(an_embedders_tables_are_read_as_far_as_both_sides_know_them)
{
    struct { bp_log_i known; void *later; } newer = {*rig.desc.log, NULL};
    const bp_jobs_i cut = {.struct_size = offsetof(bp_jobs_i, run), .threads = JOBS_MAX_THREADS + 1};
    bp_host_desc_t desc = rig.desc;
    newer.known.struct_size = sizeof newer;
    desc.log = &newer.known;
    desc.jobs = &cut; /* without `run`: as if there were none */
    bp_host_o *host = bp_host_create(&desc);
    ck_assert_ptr_nonnull(host);
    WORKS(host, bp_host_load_plugin(host, "shop", NULL, 0));
    bp_host_api(host)->error->log(&loader_find(&host->loader, "shop")->handed, BP_LOG_ERROR, "heard");
    ck_assert_str_eq(rig.log.text, "shop: 3: heard\n");
    bp_host_destroy(host);
    memset(&rig.log, 0, sizeof rig.log);
}
END_TEST

/* Lists of a plugin that was built with later headers: items are longer, and what is handed out is not. */
START_TEST(what_a_plugin_declares_is_handed_out_as_copies)
{
    struct { bp_field_t known; uint64_t later[3]; } fields[2] = {
        {{.name = "first", .type = BP_F32, .initial = "1", .doc = "one"}, {1, 2, 3}},
        {{.name = "second", .type = BP_I32, .max = "7", .unit = "m"}, {4, 5, 6}}};
    char name[] = "crate", text[] = "a text";
    const bp_term_field_t asked[] = {{.name = "first", .type = BP_F32}};
    bp_term_t terms[] = {{.component = name, .fields = BP_LIST(asked)}};
    bp_component_i components[] = {{.name = name, .doc = text, .fields = {&fields[0].known, 2, sizeof fields[0]}}};
    bp_system_i systems[] = {{.name = "lift", .terms = BP_LIST(terms), .run_all = visit}};
    bp_plugin_desc_t declared = {.version = "1", .components = BP_LIST(components), .systems = BP_LIST(systems),
                                 .options = {&fields[0].known, 1, sizeof fields[0]}};
    const bp_plugin_head_t crate = BP_PLUGIN_HEAD("crate", &declared), *const linked[] = {&crate};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
    WORKS(host, bp_host_load_plugin(host, "crate", NULL, 0));
    memset(fields, 0, sizeof fields);
    memset(name, 'x', sizeof name - 1);
    memset(text, 'x', sizeof text - 1);
    memset(components, 0, sizeof components);
    memset(systems, 0, sizeof systems);
    memset(terms, 0, sizeof terms);
    memset(&declared, 0, sizeof declared);
    const bp_plugin_desc_t *desc = bp_host_plugin(host, 0, NULL)->desc;
    const bp_component_i *component = &desc->components.items[0];
    ck_assert_uint_eq(component->fields.item_size, sizeof(bp_field_t));
    ck_assert_str_eq(component->name, "crate");
    ck_assert_str_eq(component->doc, "a text");
    ck_assert_str_eq(component->fields.items[1].name, "second");
    ck_assert_str_eq(component->fields.items[1].unit, "m");
    ck_assert_str_eq(desc->options.items[0].initial, "1");
    ck_assert_uint_eq(desc->options.item_size, sizeof(bp_field_t));
    ck_assert_str_eq(desc->systems.items[0].terms.items[0].component, "crate");
    ck_assert_str_eq(desc->systems.items[0].terms.items[0].fields.items[0].name, "first");
    bp_host_destroy(host);
}
END_TEST

/* A file may be damaged where the judge of images does not look. Each address of a declaration leads nowhere,
 * in turn. */
START_TEST(a_declaration_that_leads_nowhere_is_refused_with_the_address)
{
    static const uint64_t nowhere[] = {16, UINT64_C(0x7e57000000001234)};
    for (uint32_t where = 0; where < 2; where++) {
        const void *bad = (const void *)(uintptr_t)nowhere[where];
        for (uint32_t what = 0; what <= 12; what++) {
            bp_term_field_t asked[] = {{.name = "first", .type = BP_F32}};
            bp_term_t terms[] = {{.component = "crate", .fields = BP_LIST(asked)}};
            bp_deaths_i deaths = {.died = NULL, .component = "crate"};
            bp_extension_t extensions[] = {{BP_EXTENSION("bp_deaths", deaths)}};
            bp_field_t fields[] = {{.name = "first", .type = BP_F32, .unit = "m"}};
            bp_component_i components[] = {
                {.name = "crate", .fields = BP_LIST(fields), .extensions = BP_LIST(extensions)}};
            bp_system_i systems[] = {{.name = "lift", .terms = BP_LIST(terms), .run_all = visit}};
            bp_plugin_desc_t declared = {.version = "1", .components = BP_LIST(components),
                                         .systems = BP_LIST(systems)};
            const void **places[] = {
                (const void **)&fields[0].name, (const void **)&fields[0].unit, (const void **)&components[0].name,
                (const void **)&components[0].fields.items, (const void **)&components[0].storage,
                (const void **)&extensions[0].name, &extensions[0].verbs, (const void **)&deaths.component,
                (const void **)&systems[0].before, (const void **)&terms[0].fields.items,
                (const void **)&asked[0].name, (const void **)&declared.doc, (const void **)&declared.systems.items};
            memcpy(places[what], &bad, sizeof bad);
            const bp_plugin_head_t crate = BP_PLUGIN_HEAD("crate", &declared), *const linked[] = {&crate};
            bp_host_o *host = bp_host_create(&(bp_host_desc_t){.static_plugins = linked, .static_plugin_count = 1});
            FAILS(host, BP_ERROR_ABI, "where nothing can be read", bp_host_load_plugin(host, "crate", NULL, 0));
            ck_assert_ptr_null(bp_host_plugin(host, 0, NULL));
            bp_host_destroy(host);
        }
    }
}
END_TEST

START_TEST(tables_say_how_large_they_are)
{
    const bp_api_t *t = rig.api;
    ck_assert_uint_eq(t->struct_size, sizeof(bp_api_t));
    ck_assert_uint_eq(t->abi_major, BP_ABI_MAJOR);
    ck_assert_uint_eq(t->abi_minor, BP_ABI_MINOR);
    ck_assert(BP_HAS(t->world, bp_world_api, ref) && BP_HAS(t->property, bp_property_api, describe));
    ck_assert(BP_HAS(t->memory, bp_memory_api, resize) && BP_HAS(t->error, bp_error_api, log));
    ck_assert(BP_HAS(t->name, bp_name_api, assign) && BP_HAS(t->entity, bp_entity_api, format));
    ck_assert(BP_HAS(t->registry, bp_registry_api, find) && BP_HAS(t->report, bp_report_api, value));
    bp_world_api shorter = *t->world;
    shorter.struct_size = offsetof(bp_world_api, ref);
    ck_assert(!BP_HAS(&shorter, bp_world_api, ref));
}
END_TEST

/* A path that fits, and with the ending of libraries does not. */
START_TEST(a_path_without_room_for_its_ending_is_refused)
{
    enum { MOST = 1024 };
    bp_host_o *host = bp_host_create(NULL);
    char path[MOST + 1] = "/";
    for (size_t length = MOST - 6; length <= MOST; length++) {
        memset(path + 1, 'a', length - 1);
        path[length] = '\0';
        ck_assert_int_ne(bp_host_load_plugin(host, path, NULL, 0), BP_OK);
        ck_assert_str_ne(bp_host_error(host), "");
    }
    bp_host_destroy(host);
}
END_TEST

START_TEST(two_hosts_share_nothing)
{
    rig_t second;
    bp_entity_t e;
    rig_init(&second);
    second.desc.static_plugins = plugins;
    second.desc.static_plugin_count = COUNT(plugins);
    second.desc.tag = 2;
    rig_open(&second);
    load("shop");
    FAILS(second.host, BP_ERROR_NOT_FOUND, "customers",
          bp_host_load_plugin(second.host, "customers", NULL, 0));
    ck_assert_str_eq(bp_host_error(rig.host), "");
    ck_assert_ptr_null(second.api->registry->find(second.host, "shop", 1));
    WORKS(second.host, bp_host_load_plugin(second.host, "shop", NULL, 0));
    bp_world_o *a = bp_world_create(rig.host, &(bp_world_desc_t){.name = "same"});
    bp_world_o *b = bp_world_create(second.host, &(bp_world_desc_t){.name = "same"});
    ck_assert(a != NULL && b != NULL);
    WORKS(rig.host, bp_world_use_component(a, "shelf"));
    WORKS(second.host, bp_world_use_component(b, "shelf"));
    WORKS(second.host, second.api->world->create(b, prototype_of(b, "shelf", NULL, NULL, NULL), &e, 1));
    unload("shop");
    const shop_api *table = second.api->registry->find(second.host, "shop", 1);
    ck_assert_uint_eq(table->price("abc"), 3);
    ck_assert_uint_eq(second.api->world->has(b, key_of(b, "shelf", ""), &e, 1, NULL), 1);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 0);
    rig_close(&second);
}
END_TEST

START_TEST(sentences_stay_until_the_next_failure)
{
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "no such plugin", bp_host_load_plugin(rig.host, "nonesuch", NULL, 0));
    bp_entity_t e;
    WORKS(rig.host, rig.api->entity->create(rig.host, &e, 1));
    ck_assert_ptr_nonnull(strstr(bp_host_error(rig.host), "no such plugin"));
    ck_assert_ptr_eq(rig.api->error->last(rig.host), bp_host_error(rig.host));
    ck_assert_int_eq(rig.api->error->set(rig.host, BP_ERROR_IO, "100% my own %s"), BP_ERROR_IO);
    ck_assert_str_eq(bp_host_error(rig.host), "100% my own %s");
}
END_TEST

/* --- plugins -------------------------------------------------------------------------------------------- */

START_TEST(linked_in_plugins_are_loaded_by_name_and_listed_in_order)
{
    const char *path = "?";
    load("shop");
    load("zoo");
    load("customer");
    static const char *const names[] = {"shop", "zoo", "customer"};
    for (uint32_t i = 0; i < 3; i++) {
        const bp_plugin_head_t *desc = bp_host_plugin(rig.host, i, &path);
        ck_assert_str_eq(desc->name, names[i]);
        ck_assert_str_eq(path, "");
    }
    ck_assert_str_eq(bp_host_plugin(rig.host, 0, NULL)->desc->version, "2.1");
    ck_assert_ptr_null(bp_host_plugin(rig.host, 3, &path));
    FAILS(rig.host, BP_ERROR_EXISTS, "a plugin 'zoo' is loaded already (linked in)",
          bp_host_load_plugin(rig.host, "zoo", NULL, 0));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "no plugin 'zooo' is loaded; did you mean 'zoo'?",
          bp_host_unload_plugin(rig.host, "zooo"));
    expect_events("+shop +customer");
}
END_TEST

START_TEST(plugins_end_newest_first_after_worlds)
{
    rig_t own;
    rig_open_with(&own, plugins, COUNT(plugins));
    WORKS(own.host, bp_host_load_plugin(own.host, "shop", NULL, 0));
    WORKS(own.host, bp_host_load_plugin(own.host, "customer", NULL, 0));
    WORKS(own.host,
          bp_world_use_component(bp_world_create(own.host, &(bp_world_desc_t){.name = "w"}), "shelf"));
    rig_close(&own);
    expect_events("+shop +customer +shelf -shelf -customer -shop");
}
END_TEST

/* Everything of a plugin, in several worlds, with several instances an entity and holes among the rows. */
START_TEST(unloading_takes_components_away_and_leaves_the_rest)
{
    enum { MANY = 3000 };
    static bp_entity_t e[MANY];
    bp_world_o *worlds[] = {zoo_world("a"), zoo_world("b")};
    load("shop");
    for (uint32_t w = 0; w < 2; w++) {
        bp_world_o *world = worlds[w];
        WORKS(rig.host, bp_world_use_component(world, "shelf"));
        if (w == 0)
            WORKS(rig.host, api->create(world, prototype_of(world, "body", "shelf", "told", NULL), e, MANY));
        else
            WORKS(rig.host, api->add(world, key_of(world, "shelf", ""), e, MANY));
        WORKS(rig.host, api->add(world, key_of(world, "shelf", "second"), e + 100, MANY / 2));
        WORKS(rig.host, api->add(world, key_of(world, "label", ""), e + 1000, MANY / 2));
        WORKS(rig.host, api->add(world, key_of(world, "pool", ""), e + 500, MANY / 2));
    }
    for (uint32_t i = 0; i < MANY; i++) {
        float mass = (float)i;
        WORKS(rig.host, rig.api->property->set_named(worlds[0], e[i], "body", "mass", BP_F32, &mass));
        if (i % 5 == 0)
            rig.api->entity->destroy(rig.host, &e[i], 1);
    }
    unload("shop");
    check_host(rig.host);
    ck_assert_uint_eq(rig.api->entity->count(rig.host), MANY - MANY / 5);
    ck_assert_uint_eq(api->component(worlds[0], "shelf"), BP_NONE);
    for (uint32_t i = 1; i < MANY; i++) {
        uint32_t keys[8], wanted = (i >= 1000 && i < 2500 ? 1u : 0u) + (i >= 500 && i < 2000 ? 1u : 0u);
        float mass;
        if (i % 5 == 0)
            continue;
        EXPECT(api->keys_of(worlds[0], e[i], keys, 8) == 2 + wanted, "entity %u has %u keys", i,
               api->keys_of(worlds[0], e[i], keys, 8));
        EXPECT(api->keys_of(worlds[1], e[i], keys, 8) == wanted, "entity %u has %u keys", i,
               api->keys_of(worlds[1], e[i], keys, 8));
        WORKS(rig.host, rig.api->property->get_named(worlds[0], e[i], "body", "mass", BP_F32, &mass));
        EXPECT(mass == (float)i, "entity %u has the mass of another", i);
    }
    expect_events("+shop +shelf +shelf -shelf -shelf -shop");
}
END_TEST

START_TEST(own_storage_is_unloaded_with_all_its_instances)
{
    bp_world_o *world = zoo_world("a");
    bp_entity_t e[500];
    WORKS(rig.host, api->create(world, prototype_of(world, "body", "pool", "told", "mute"), e, 500));
    for (uint32_t i = 0; i < 500; i++)
        WORKS(rig.host,
              rig.api->property->set_named(world, e[i], "pool", "text", BP_STRING, &(const char *){"text"}));
    rig.api->entity->destroy(rig.host, e, 100);
    unload("stocks");
    check_host(rig.host);
    uint32_t keys[4];
    for (uint32_t i = 100; i < 500; i++)
        EXPECT(api->keys_of(world, e[i], keys, 4) == 1, "entity %u", i);
    WORKS(rig.host, bp_world_step(world));
    ck_assert_uint_eq(rig.log.count, 0);
}
END_TEST

START_TEST(what_was_made_with_a_plugin_that_has_gone_is_refused)
{
    bp_world_o *world = zoo_world("a");
    bp_entity_t e[3], made[3] = {{0}, {0}, {0}};
    uint32_t body = key_of(world, "body", ""), told = key_of(world, "told", ""),
             flag = key_of(world, "flag", "");
    uint32_t component = api->component(world, "body"), key, prototypes[3];
    prototypes[0] = prototype_of(world, "body", NULL, NULL, NULL);
    prototypes[1] = prototype_of(world, "body", "label", NULL, NULL);
    prototypes[2] = prototype_of(world, "told", NULL, NULL, NULL);
    WORKS(rig.host, rig.api->entity->create(rig.host, e, 3));
    WORKS(rig.host, api->create(world, prototypes[0], made, 3));
    bp_ref_t ref = {.entity = made[0], .field = body << 8};
    ck_assert_ptr_nonnull(bp_ref_get(api, world, &ref));
    unload("zoo");
    unload("stocks");
    ck_assert_ptr_null(bp_ref_get(api, world, &ref));
    for (uint32_t round = 0; round < 2; round++) {
        uint32_t living = rig.api->entity->count(rig.host);
        for (uint32_t i = 0; i < 3; i++) {
            FAILS(rig.host, BP_ERROR_NOT_FOUND, "", api->create(world, prototypes[i], made, 1));
            FAILS(rig.host, BP_ERROR_NOT_FOUND, "", api->create(world, prototypes[i], made, 3));
        }
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "", api->add(world, body, e, 3));
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "", api->add(world, told, e, 1));
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "", api->remove(world, body, e, 3));
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "", api->prototype(world, &flag, 1, &key));
        FAILS(rig.host, BP_ERROR_NOT_FOUND, "", api->key(world, component, 0, &key));
        ck_assert_ptr_null(api->manager(world, component));
        ck_assert_uint_eq(api->count(world, component), 0);
        ck_assert_uint_eq(api->has(world, body, e, 3, NULL), 0);
        ck_assert_uint_eq(rig.api->entity->count(rig.host), living);
        check_host(rig.host);
        if (round > 0)
            break;
        load("zoo");
        load("stocks");
        WORKS(rig.host, bp_world_use_component(world, "body"));
        WORKS(rig.host, bp_world_use_component(world, "told"));
        ck_assert_uint_ne(api->component(world, "body"), component);
        ck_assert_uint_ne(key_of(world, "body", ""), body);
        WORKS(rig.host, api->add(world, key_of(world, "body", ""), e, 3));
    }
}
END_TEST

START_TEST(a_plugin_may_go_and_come_any_number_of_times)
{
    bp_world_o *world = zoo_world("a");
    bp_entity_t e[50];
    size_t bytes[30];
    unload("zoo");
    for (uint32_t i = 0; i < 30; i++) {
        load("zoo");
        bytes[i] = rig.heap.bytes;
        WORKS(rig.host, bp_world_use_component(world, "body"));
        WORKS(rig.host, bp_world_use_component(world, "label"));
        WORKS(rig.host, api->create(world, prototype_of(world, "body", "label", "pool", NULL), e, 50));
        WORKS(rig.host, bp_world_step(world));
        unload("zoo");
        check_host(rig.host);
        ck_assert_uint_eq(api->has(world, key_of(world, "pool", ""), e, 50, NULL), 50);
        rig.api->entity->destroy(rig.host, e, 50);
    }
    /* What stays behind each time is a tombstone for each manager, not its rows. */
    ck_assert_uint_lt(bytes[29], bytes[9] + 20 * 8000);
}
END_TEST

START_TEST(a_plugin_outside_all_worlds_leaves_no_memory_behind)
{
    load("zoo");
    unload("zoo");
    size_t bytes = rig.heap.bytes;
    for (uint32_t i = 0; i < 50; i++) {
        load("zoo");
        load("shop");
        unload("zoo");
        unload("shop");
        if (i == 0)
            bytes = rig.heap.bytes;
        ck_assert_uint_eq(rig.heap.bytes, bytes);
    }
}
END_TEST

START_TEST(a_plugin_whose_component_a_system_works_on_is_not_unloaded_without_it)
{
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "w"});
    load("shop");
    load("customer");
    WORKS(rig.host, bp_world_use_component(world, "shelf"));
    WORKS(rig.host, bp_world_use_system(world, "visit"));
    events[0] = '\0';
    WORKS(rig.host, bp_world_step(world));
    expect_events("visit");
    FAILS(rig.host, BP_ERROR_STATE,
          "plugin 'shop' is needed: system 'visit' in world 'w' works on its component 'shelf'",
          bp_host_unload_plugin(rig.host, "shop"));
    events[0] = '\0';
    WORKS(rig.host, bp_world_step(world));
    expect_events("visit");
    WORKS(rig.host, bp_host_unload_plugin_with(rig.host, "shop"));
    ck_assert_ptr_null(loader_find(&rig.host->loader, "shop"));
    ck_assert_ptr_nonnull(strstr(rig.log.text, "system 'visit' leaves world 'w' with plugin 'shop'"));
    rig.log = (log_text_t){.count = 0};
    events[0] = '\0';
    WORKS(rig.host, bp_world_step(world));
    expect_events("");
    load("shop");
    WORKS(rig.host, bp_world_use_component(world, "shelf"));
    WORKS(rig.host, bp_world_use_system(world, "visit"));
    events[0] = '\0';
    WORKS(rig.host, bp_world_step(world));
    expect_events("visit");
    unload("customer");
    WORKS(rig.host, bp_world_step(world));
    expect_events("-customer");
}
END_TEST

/* --- leaks and the log ---------------------------------------------------------------------------------- */

START_TEST(memory_that_a_plugin_forgets_is_reported_under_its_name)
{
    forgets = 1000;
    load("shop");
    unload("shop");
    ck_assert_msg(strstr(rig.log.text, "shop: 2: 1000 bytes") != NULL, "%s", rig.log.text);
    ck_assert_uint_eq(rig.log.count, 1);
    bp_host_destroy(rig.host);
    ck_assert_msg(strstr(rig.log.text, "\nhost: 2: 1000 bytes") != NULL, "%s", rig.log.text);
    ck_assert_uint_eq(rig.heap.bytes, 1000);
    ck_assert_uint_eq(rig.heap.blocks, 1);
    rig.heap.bytes = 0;
    bp_allocator_i heap = heap_allocator(&rig.heap);
    rig.heap.bytes = 1000;
    heap.resize(heap.context, forgotten, 1000, 0);
    memset(&rig.log, 0, sizeof rig.log);
    forgets = 0;
    rig_open(&rig);
}
END_TEST

START_TEST(plugins_log_under_their_own_name)
{
    load("shop");
    const plugin_t *plugin = loader_find(&rig.host->loader, "shop");
    rig.api->error->log(&plugin->handed, BP_LOG_DEBUG, "100% detail");
    rig.api->error->log(&plugin->handed, BP_LOG_ERROR, "trouble");
    ck_assert_str_eq(rig.log.text, "shop: 0: 100% detail\nshop: 3: trouble\n");
    memset(&rig.log, 0, sizeof rig.log);
}
END_TEST

START_TEST(without_a_log_warnings_and_errors_go_to_stderr)
{
    char path[1024], text[256];
    snprintf(path, sizeof path, "%s", scratch_file("stderr.txt", ""));
    bp_host_desc_t desc = rig.desc;
    desc.log = NULL;
    bp_host_o *host = bp_host_create(&desc);
    WORKS(host, bp_host_load_plugin(host, "shop", NULL, 0));
    const plugin_t *plugin = loader_find(&host->loader, "shop");
    ck_assert_ptr_nonnull(freopen(path, "wb", stderr));
    for (int32_t level = BP_LOG_DEBUG; level <= BP_LOG_ERROR; level++)
        bp_host_api(host)->error->log(&plugin->handed, level, level % 2 == 0 ? "even" : "odd");
    fflush(stderr);
    FILE *file = fopen(path, "rb");
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(text, "shop: warning: even\nshop: error: odd\n");
    bp_host_destroy(host);
}
END_TEST

/* --- tables of plugins ---------------------------------------------------------------------------------- */

static void check_open_shop(const shop_api *slot)
{
    uint32_t closed = 0, metres = 0;
    ck_assert_uint_eq(slot->struct_size, sizeof(shop_api));
    ck_assert_uint_eq(slot->version, 2);
    ck_assert_uint_eq(slot->price("four"), 4);
    ck_assert_str_eq(slot->motto(), "buy");
    slot->close(&closed);
    ck_assert_uint_eq(closed, 1);
    ck_assert_int_eq(slot->measure(&metres), BP_OK);
    ck_assert_uint_eq(metres, 12);
}

/* One function stands for entries of all types, which clang's sanitizer is made to object to. */
static void check_closed_shop(const shop_api *slot)
{
    ck_assert_uint_eq(slot->struct_size, sizeof(shop_api));
    ck_assert_uint_eq(slot->version, 0);
#if !defined(BACKPLANE_SANITIZED) || !defined(__clang__)
    uint32_t closed = 0, metres = 77;
    ck_assert_uint_eq(slot->price("four"), 0);
    ck_assert_ptr_null(slot->motto());
    slot->close(&closed);
    ck_assert_uint_eq(closed, 0);
    FAILS(rig.host, BP_ERROR_STATE, "no plugin offers the table 'shop' at present", slot->measure(&metres));
    ck_assert_uint_eq(metres, 77);
#endif
}

START_TEST(a_table_of_a_plugin_that_has_gone_says_so_and_works_again_when_it_is_back)
{
    load("shop");
    const shop_api *slot = rig.api->registry->find(rig.host, "shop", 1);
    check_open_shop(slot);
    ck_assert_ptr_eq(rig.api->registry->find(rig.host, "shop", 2), slot);
    ck_assert_ptr_null(rig.api->registry->find(rig.host, "shop", 3));
    ck_assert_ptr_null(rig.api->registry->find(rig.host, "shops", 1));
    for (uint32_t round = 0; round < 3; round++) {
        unload("shop");
        ck_assert_ptr_null(rig.api->registry->find(rig.host, "shop", 1));
        ck_assert_ptr_null(rig.api->registry->find(rig.host, "shop", 0));
        check_closed_shop(slot);
        load("shop");
        ck_assert_ptr_eq(rig.api->registry->find(rig.host, "shop", 1), slot);
        check_open_shop(slot);
    }
}
END_TEST

START_TEST(a_table_of_another_plugin_is_not_taken_over)
{
    load("shop");
    FAILS(rig.host, BP_ERROR_EXISTS, "plugin 'shop' already offers a table 'shop'",
          bp_host_load_plugin(rig.host, "rival", NULL, 0));
    const shop_api *slot = rig.api->registry->find(rig.host, "shop", 1);
    ck_assert_uint_eq(slot->price("ab"), 2);
    unload("shop");
    load("rival");
    ck_assert_ptr_eq(rig.api->registry->find(rig.host, "shop", 1), slot);
    ck_assert_uint_eq(slot->price("ab"), 2);
}
END_TEST

enum { MANY_ENTRIES = 300 };

typedef struct long_table_t {
    uint32_t struct_size, version;
    uint32_t (*entries[MANY_ENTRIES])(const char *what);
} long_table_t;

static void fill_long_table(long_table_t *table, char *returns)
{
    memset(table, 0, sizeof *table);
    for (uint32_t i = 0; i < MANY_ENTRIES; i++)
        table->entries[i] = price;
    memset(returns, 'c', MANY_ENTRIES);
    returns[MANY_ENTRIES] = '\0';
}

/* What its users test for NULL they may go on testing. */
START_TEST(an_entry_that_a_table_leaves_out_is_none_when_its_plugin_has_gone)
{
    struct { uint32_t struct_size, version; uint64_t (*first)(void), (*none)(void), (*last)(void); } *kept;
    static const uint64_t entries[4] = {0, UINT64_MAX, 0, UINT64_MAX};
    const bp_table_t offered = {"gaps", 1, sizeof entries, entries, "crr"};
    memory_t memory;
    error_text_t error = {.calls = NULL};
    memory_init(&memory, "test", &(bp_allocator_i){0});
    table_slot_t *slot = table_slot_new(&memory, &error, "gaps", sizeof entries);
    ck_assert_ptr_nonnull(slot);
    table_slot_fill(&memory, slot, NULL, &offered, memory_copy_text(&memory, offered.returns));
    table_slot_silence(slot);
    kept = (void *)slot->table;
    ck_assert(kept->first != NULL && kept->none == NULL && kept->last != NULL);
    ck_assert(kept->first() == 0 && kept->last() == BP_ERROR_STATE);
    ck_assert_str_eq(error.text, "no plugin offers the table 'gaps' at present: the one that did is unloaded or set "
                                 "aside");
    table_slot_free(&memory, slot);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

START_TEST(tables_that_are_no_tables_are_refused)
{
    static const uint32_t entries[64] = {0};
    static const struct { bp_table_t table; bp_result_t result; const char *why; } cases[] = {
        {{NULL, 1, 8, entries, ""}, BP_ERROR_ARGUMENT, "not ''"},
        {{"two words", 1, 8, entries, ""}, BP_ERROR_ARGUMENT, "not 'two words'"},
        {{"bp_odd", 1, 8, entries, ""}, BP_ERROR_ARGUMENT, "are the host's own"},
        {{"odd", 0, 8, entries, ""}, BP_ERROR_ARGUMENT, "versions begin with 1"},
        {{"odd", 1, 8, NULL, ""}, BP_ERROR_ABI, "use BP_TABLE"},
        {{"odd", 1, 0, entries, ""}, BP_ERROR_ABI, "it has 0 bytes"},
        {{"odd", 1, 7, entries, ""}, BP_ERROR_ABI, "it has 7 bytes"},
        {{"odd", 1, 12, entries, ""}, BP_ERROR_ABI, "it has 12 bytes"},
        {{"odd", 1, TABLE_MOST + 8, entries, ""}, BP_ERROR_ABI, "at most 65536"},
        {{"odd", 1, UINT32_MAX, entries, ""}, BP_ERROR_ABI, "it has 4294967295 bytes"},
        {{"odd", 1, 24, entries, NULL}, BP_ERROR_ARGUMENT, "2 entries, and 0 letters"},
        {{"odd", 1, 24, entries, "r"}, BP_ERROR_ARGUMENT, "2 entries, and 1 letters"},
        {{"odd", 1, 24, entries, "rrr"}, BP_ERROR_ARGUMENT, "2 entries, and 3 letters"},
        {{"odd", 1, 24, entries, "rx"}, BP_ERROR_ARGUMENT, "the letter 'x'"},
    };
    load("shop");
    const plugin_t *plugin = loader_find(&rig.host->loader, "shop");
    for (uint32_t i = 0; i < COUNT(cases); i++) {
        FAILS(rig.host, cases[i].result, cases[i].why,
              rig.api->registry->offer(&plugin->handed, &cases[i].table, sizeof cases[i].table));
        ck_assert_ptr_null(rig.api->registry->find(rig.host, "odd", 0));
    }
    bp_table_t empty = {"odd", 1, 8, entries, NULL};
    WORKS(rig.host, rig.api->registry->offer(&plugin->handed, &empty, sizeof empty));
    const uint32_t *slot = rig.api->registry->find(rig.host, "odd", 1);
    ck_assert_uint_eq(slot[0], 8);
    ck_assert_uint_eq(slot[1], 1);
}
END_TEST

START_TEST(a_table_may_outgrow_its_slot_which_goes_on_with_what_it_has_room_for)
{
    static long_table_t table;
    static char returns[MANY_ENTRIES + 1];
    fill_long_table(&table, returns);
    load("shop");
    const plugin_t *plugin = loader_find(&rig.host->loader, "shop");
    returns[2] = '\0';
    bp_table_t offered = {"long", 1, 24, &table, returns};
    WORKS(rig.host, rig.api->registry->offer(&plugin->handed, &offered, sizeof offered));
    const long_table_t *first = rig.api->registry->find(rig.host, "long", 1);
    ck_assert_uint_eq(first->struct_size, 24);
    returns[2] = 'c';
    offered = (bp_table_t){"long", 2, sizeof table, &table, returns};
    WORKS(rig.host, rig.api->registry->offer(&plugin->handed, &offered, sizeof offered));
    const long_table_t *second = rig.api->registry->find(rig.host, "long", 2);
    ck_assert_ptr_ne(first, second);
    ck_assert_ptr_eq(rig.api->registry->find(rig.host, "long", 1), second);
    ck_assert_uint_eq(second->struct_size, sizeof table);
    ck_assert_uint_eq(second->entries[MANY_ENTRIES - 1]("four"), 4);
    ck_assert_uint_gt(first->struct_size, 24);
    ck_assert_uint_lt(first->struct_size, sizeof table);
    ck_assert_uint_eq(first->version, 2);
    ck_assert_uint_eq(first->entries[(first->struct_size - 8) / 8 - 1]("four"), 4);
    unload("shop");
    ck_assert_uint_eq(first->version, 0);
    ck_assert_uint_eq(second->version, 0);
#if !defined(BACKPLANE_SANITIZED) || !defined(__clang__)
    ck_assert_uint_eq(first->entries[1]("four"), 0);
    ck_assert_uint_eq(second->entries[MANY_ENTRIES - 1]("four"), 0);
#endif
}
END_TEST

/* --- worlds ------------------------------------------------------------------------------------------------------- */

START_TEST(a_host_steps_its_worlds_in_order_of_creation)
{
    load("shop");
    load("customer");
    bp_world_o *worlds[2];
    static const char *const names[] = {"a", "b"};
    for (uint32_t i = 0; i < 2; i++) {
        worlds[i] = bp_world_create(rig.host, &(bp_world_desc_t){.name = names[i], .step_rate = 1 + i});
        WORKS(rig.host, bp_world_use_component(worlds[i], "shelf"));
        WORKS(rig.host, bp_world_use_system(worlds[i], "visit"));
    }
    events[0] = '\0';
    WORKS(rig.host, bp_host_step(rig.host));
    WORKS(rig.host, bp_world_step(worlds[1]));
    expect_events("visit visit visit");
    ck_assert_uint_eq(worlds[0]->clock.steps, 1);
    ck_assert(worlds[1]->clock.steps == 2 && worlds[1]->clock.time == 1.0);
}
END_TEST

/* --- calls from an embedder's own functions ----------------------------------------------------------------------- */

static uint32_t traced;

static void trace_once(void *context, const bp_trace_slice_t *slices, uint32_t count, uint64_t lost)
{
    const bp_trace_i other = {.struct_size = sizeof other, .slices = trace_once};
    (void)context, (void)lost;
    FAILS(rig.host, BP_ERROR_STATE, "not from the function that takes slices", bp_host_trace(rig.host, &other));
    traced += count > 0 && slices[0].struct_size == sizeof *slices;
    WORKS(rig.host, bp_host_trace(rig.host, NULL));
}

START_TEST(the_function_that_takes_slices_may_end_that)
{
    const bp_trace_i sink = {.struct_size = sizeof sink, .slices = trace_once};
    load("shop");
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "a"});
    WORKS(rig.host, bp_world_use_component(world, "shelf"));
    traced = 0;
    for (uint32_t i = 0; i < 2; i++) {
        WORKS(rig.host, bp_host_trace(rig.host, &sink));
        WORKS(rig.host, bp_host_step(rig.host));
        WORKS(rig.host, bp_host_step(rig.host));
    }
    ck_assert_uint_eq(traced, 2);
    FAILS(rig.host, BP_ERROR_ARGUMENT, "looking at steps needs a function that takes slices",
          bp_host_trace(rig.host, &(bp_trace_i){.struct_size = sizeof sink}));
    for (uint32_t i = 0; i < 2; i++) /* the host ends with what takes slices, which the fixture looks at */
        WORKS(rig.host, bp_host_trace(rig.host, &sink));
}
END_TEST

static void set_up_again(void *context, const bp_entity_t *entities, uint32_t count)
{
    const char *ini = scratch_file("inner.ini", "[host]\nplugins = customer\n[world inner]\n");
    (void)context, (void)entities, (void)count;
    FAILS(rig.host, BP_ERROR_STATE, "not from inside", bp_host_setup(rig.host, ini));
    FAILS(rig.host, BP_ERROR_STATE, "not from inside", bp_host_setup_plugins(rig.host, ini));
}

START_TEST(an_ini_is_refused_before_anything_is_done_from_inside_a_callback)
{
    bp_entity_t e;
    WORKS(rig.host, bp_host_on_destroyed(rig.host, &rig, set_up_again, NULL));
    WORKS(rig.host, rig.api->entity->create(rig.host, &e, 1));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &e, 1), 1);
    ck_assert_ptr_null(bp_host_plugin(rig.host, 0, NULL));
    bp_host_drop_owner(rig.host, &rig);
}
END_TEST

/* --- reports -------------------------------------------------------------------------------------------- */

static char report[1024];

static void report_table(void *context, const char *world, const char *unit, const char *title,
                         const char *const *headers, uint32_t columns)
{
    size_t used = strlen(report);
    ck_assert_ptr_eq(context, report);
    snprintf(report + used, sizeof report - used, "[%s/%s %s:%s,%s %u]", world, unit, title, headers[0],
             headers[1], columns);
}

static void report_row(void *context, const char *const *cells, uint32_t columns)
{
    size_t used = strlen(report);
    ck_assert_ptr_eq(context, report);
    snprintf(report + used, sizeof report - used, "(%s,%s %u)", cells[0], cells[1], columns);
}

static void report_value(void *context, const char *world, const char *unit, const char *name,
                         const char *text)
{
    size_t used = strlen(report);
    ck_assert_ptr_eq(context, report);
    snprintf(report + used, sizeof report - used, "{%s/%s %s=%s}", world, unit, name, text);
}

START_TEST(managers_and_systems_are_asked_for_their_reports)
{
    load("shop");
    load("customer");
    bp_world_o *a = bp_world_create(rig.host, &(bp_world_desc_t){.name = "a"});
    bp_world_o *b = bp_world_create(rig.host, &(bp_world_desc_t){.name = "b"});
    WORKS(rig.host, bp_world_use_component(a, "shelf"));
    WORKS(rig.host, bp_world_use_system(a, "visit"));
    WORKS(rig.host, bp_world_use_system(b, "visit"));
    report[0] = '\0';
    bp_report_sink_i sink = {
        .context = report, .table = report_table, .row = report_row, .value = report_value};
    bp_host_report(rig.host, &sink);
    ck_assert_str_eq(
        report, "[a/shelf stock:thing,number 2](apple,3 2)(pear,4 2){a/shelf open=yes}{a/visit visits=12}"
                "{b/visit visits=12}");
    report[0] = '\0';
    sink.table = NULL;
    sink.row = NULL;
    bp_host_report(rig.host, &sink);
    ck_assert_str_eq(report, "{a/shelf open=yes}{a/visit visits=12}{b/visit visits=12}");
    bp_host_report(rig.host, &(bp_report_sink_i){0});
    /* An embedder that was built when there were tables and rows only, and one of a later library. */
    report[0] = '\0';
    sink = (bp_report_sink_i){.struct_size = offsetof(bp_report_sink_i, value), .context = report,
                              .value = report_value};
    bp_host_report(rig.host, &sink);
    ck_assert_str_eq(report, "");
    struct { bp_report_sink_i known; void *later; } newer = {
        {.struct_size = sizeof newer, .context = report, .value = report_value}, report};
    bp_host_report(rig.host, &newer.known);
    ck_assert_str_eq(report, "{a/shelf open=yes}{a/visit visits=12}{b/visit visits=12}");
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

static TCase *new_case(Suite *suite, const char *name)
{
    return add_case(suite, name, begin, end, 120);
}

static void add_plugins(TCase *tests)
{
    tcase_add_test(tests, linked_in_plugins_are_loaded_by_name_and_listed_in_order);
    tcase_add_test(tests, plugins_end_newest_first_after_worlds);
    tcase_add_test(tests, unloading_takes_components_away_and_leaves_the_rest);
    tcase_add_test(tests, own_storage_is_unloaded_with_all_its_instances);
    tcase_add_test(tests, what_was_made_with_a_plugin_that_has_gone_is_refused);
    tcase_add_test(tests, a_plugin_may_go_and_come_any_number_of_times);
    tcase_add_test(tests, a_plugin_outside_all_worlds_leaves_no_memory_behind);
    tcase_add_test(tests, a_plugin_whose_component_a_system_works_on_is_not_unloaded_without_it);
    tcase_add_test(tests, memory_that_a_plugin_forgets_is_reported_under_its_name);
    tcase_add_test(tests, plugins_log_under_their_own_name);
    tcase_add_test(tests, without_a_log_warnings_and_errors_go_to_stderr);
    tcase_add_test(tests, a_table_of_a_plugin_that_has_gone_says_so_and_works_again_when_it_is_back);
    tcase_add_test(tests, a_table_of_another_plugin_is_not_taken_over);
    tcase_add_test(tests, an_entry_that_a_table_leaves_out_is_none_when_its_plugin_has_gone);
    tcase_add_test(tests, tables_that_are_no_tables_are_refused);
    tcase_add_test(tests, a_table_may_outgrow_its_slot_which_goes_on_with_what_it_has_room_for);
}

Suite *host_suite(void)
{
    Suite *suite = suite_create("host");
    TCase *hosts = new_case(suite, "hosts");
    tcase_add_test(hosts, a_host_needs_no_description);
    tcase_add_test(hosts, a_description_of_older_headers_is_read_as_far_as_it_goes);
    tcase_add_test(hosts, an_embedders_tables_are_read_as_far_as_both_sides_know_them);
    tcase_add_test(hosts, what_a_plugin_declares_is_handed_out_as_copies);
    tcase_add_test(hosts, a_declaration_that_leads_nowhere_is_refused_with_the_address);
    tcase_add_test(hosts, tables_say_how_large_they_are);
    tcase_add_test(hosts, a_path_without_room_for_its_ending_is_refused);
    tcase_add_test(hosts, two_hosts_share_nothing);
    tcase_add_test(hosts, sentences_stay_until_the_next_failure);
    add_plugins(new_case(suite, "plugins"));
    TCase *worlds = new_case(suite, "worlds");
    tcase_add_test(worlds, a_host_steps_its_worlds_in_order_of_creation);
    tcase_add_test(worlds, the_function_that_takes_slices_may_end_that);
    tcase_add_test(worlds, an_ini_is_refused_before_anything_is_done_from_inside_a_callback);
    tcase_add_test(worlds, managers_and_systems_are_asked_for_their_reports);
    return suite;
}
