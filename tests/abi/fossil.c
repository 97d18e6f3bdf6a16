/* fossil.c - a plugin built with the headers of ABI 2.0 (tests/abi/2.0), which later hosts must go on taking.
 *
 * The plugin uses what plugins use most: declared fields, a loop, systems with terms, an option, a table, a task,
 * extensions, properties inline and by call, commands. tests/scripts/abi.sh builds the plugin with those headers, never
 * with the present ones, and runs it.
 */
#include <bp_plugin.h>

struct shell { const float *growth; float *size; uint32_t *turns; };

static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct shell, growth), .initial = "2", .min = "0", .doc = "how much it grows in a unit of time"},
    {BP_FIELD_OF(struct shell, size), .unit = "mm"},
    {BP_FIELD_OF(struct shell, turns)},
};

static void simulate(const bp_run_t *run, uint32_t count)
{
    BP_COLUMNS(struct shell, c, run->columns);
    for (uint32_t i = 0; i < count; i++)
        c.size[i] += c.growth[i] * (float)run->step->dt;
}

struct turning { uint32_t *turns; };
static const bp_term_field_t turning[] = {{BP_FIELD_OF(struct turning, turns)}};
static const bp_term_t terms[] = {{.component = "fossil", .fields = BP_LIST(turning)}};

static void turn(const bp_match_t *match, uint32_t count)
{
    BP_COLUMNS(struct turning, c, match->columns[0]);
    for (uint32_t i = 0; i < count; i++)
        c.turns[i] += match->system->plugin->options[0].u32;
}

/* What a property says by call and inline must be the same; where it is not, everybody dies. */
static void look(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    bp_property_t size;
    float by_call;
    if (count == 0 || s->api->property->resolve(s->world, (bp_entity_t){0}, "fossil", "size", &size) != BP_OK)
        return;
    for (uint32_t i = 0; i < matches[0].count; i++) {
        const bp_entity_t *e = &matches[0].entities[i];
        bp_result_t result = s->api->property->get(s->world, &size, e, 1, &by_call, 0);
        const float *cell = (const float *)bp_property_cell(s->world, &size, *e);
        if (result != BP_OK || (cell != NULL && *cell != by_call))
            s->api->command->destroy(step->commands, e, 1);
    }
}

static void died(bp_manager_t *m, const bp_death_t *batch)
{
    char text[40];
    m->api->entity->format(m->host, batch->entities[0], text, sizeof text);
    m->api->error->log(m->plugin, BP_LOG_WARNING, text);
}

static void report(bp_manager_t *m, bp_report_o *to)
{
    m->api->report->value(to, "kept in", "stone");
}

static void told(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    plugin->api->error->log(plugin, BP_LOG_WARNING, size == 5 ? (const char *)bytes : "other bytes");
}

static bp_result_t load(bp_plugin_t *plugin)
{
    const bp_task_api *tasks = (const bp_task_api *)plugin->api->registry->find(plugin->host, BP_TASK_API, 1);
    return tasks == NULL ? BP_ERROR_FAILED : tasks->post(plugin, "told", "hear", 5);
}

typedef struct stone_api {
    uint32_t struct_size, version;
    uint32_t (BP_CALL *age)(bp_manager_t *m);
} stone_api;

static uint32_t age(bp_manager_t *m)
{
    (void)m;
    return 400;
}

static const stone_api table = {.age = age};
static const bp_table_t tables[] = {BP_TABLE("stone", 1, table, "c")};
static const bp_task_t tasks[] = {{.name = "told", .run = told}};
static const bp_field_t options[] = {{.name = "by", .type = BP_U32, .initial = "1", .doc = "turns of a step"}};
static const bp_deaths_i deaths = {.died = died, .which = BP_DEATHS_WITH};
static const bp_report_i reporting = {report};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_deaths", deaths)},
                                            {BP_EXTENSION("bp_report", reporting)}};

static const bp_component_i components[] = {{.doc = "a shell", .fields = BP_LIST(fields), .simulate = simulate,
                                             .extensions = BP_LIST(extensions)}};
static const bp_system_i systems[] = {
    {.name = "turn", .terms = BP_LIST(terms), .run = turn},
    {.name = "look", .terms = BP_LIST(terms), .run_all = look},
};

BP_PLUGIN(fossil) = {
    .version = "2.0", .components = BP_LIST(components), .systems = BP_LIST(systems), .options = BP_LIST(options),
    .tables = BP_LIST(tables), .tasks = BP_LIST(tasks), .load = load,
};
