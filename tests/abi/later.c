/* later.c - a plugin built with the headers of a later minor than the host's, which the host takes as long as the
 * plugin needs nothing new.
 *
 * tests/scripts/abi.sh makes these headers from the present ones: every struct that a plugin declares has a member
 * `tomorrow` at its end, the table of entities an entry `tomorrow`, and there is a flag BP_TOMORROW, one of those that
 * may be ignored. The plugin uses all of it. With -DNEEDS=... it says that it cannot do without.
 */
#include <bp_plugin.h>

#ifndef NEEDS
#define NEEDS 0
#endif

struct later { float *size; };

static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct later, size), .flags = BP_TOMORROW, .initial = "1", .tomorrow = 1},
    {.name = "rest", .type = BP_I32, .initial = "2", .tomorrow = 2},
};

static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct later, c, run->columns);
    for (uint32_t i = 0; i < count; i++)
        c.size[i] += 1;
}

static const bp_term_field_t asked[] = {
    {.name = "rest", .type = BP_I32, .access = BP_WRITE, .flags = BP_TOMORROW, .tomorrow = 3},
    {.name = "size", .type = BP_F32, .tomorrow = 4},
};
static const bp_term_t terms[] = {
    {.component = "later", .flags = BP_TOMORROW, .fields = BP_LIST(asked), .tomorrow = 5},
};

static void add(const bp_match_t *match, uint32_t count)
{
    const float *size = BP_TERM_COLUMN(match, const float, 0, 1);
    int32_t *rest = BP_TERM_COLUMN(match, int32_t, 0, 0);
    for (uint32_t i = 0; i < count; i++)
        rest[i] += (int32_t)size[i];
}

/* What later hosts have is asked for: the entry of a table, and a table by name. */
static bp_result_t load(bp_plugin_t *plugin)
{
    const bp_api_t *api = plugin->api;
    bool has = BP_HAS(api->entity, bp_entity_api, tomorrow);
    bool finds = api->registry->find(plugin->host, "bp_tomorrow", 1) != NULL;
    api->error->log(plugin, BP_LOG_WARNING, has || finds ? "it is tomorrow" : "it is today");
    return BP_OK;
}

static void carry_on(bp_manager_t *m)
{
    (void)m;
}

static const struct { void (*carry_on)(bp_manager_t *m); } verbs = {carry_on};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_tomorrow", verbs)}};
static const bp_component_i components[] = {{.flags = BP_TOMORROW, .fields = BP_LIST(fields), .simulate = simulate,
                                             .extensions = BP_LIST(extensions), .tomorrow = 6}};
static const bp_system_i systems[] = {
    {.name = "add", .flags = BP_TOMORROW, .terms = BP_LIST(terms), .run = add, .tomorrow = 7}};
static const bp_field_t options[] = {{.name = "by", .type = BP_U32, .initial = "1", .tomorrow = 8}};

BP_PLUGIN(later) = {
    .version = "2.9", .flags = UINT64_C(1) << 40, .least_minor = NEEDS, .components = BP_LIST(components),
    .systems = BP_LIST(systems), .options = BP_LIST(options), .load = load, .tomorrow = 9,
};
