/* reporter.c - a plugin for the tests of the program: it reports one table or two and values, can log an error,
 * and has a system that wants to come behind one that there is not. */
#include <bp_plugin.h>

enum { COMPLAINS, AGAIN };

static const bp_field_t options[] = {
    [COMPLAINS] = {.name = "complains", .type = BP_BOOL, .doc = "log an error at every report"},
    [AGAIN] = {.name = "again", .type = BP_BOOL, .doc = "report a second table"},
};

static const bp_field_t fields[] = {
    {.name = "level", .type = BP_I32, .initial = "3", .min = "0", .max = "10", .unit = "dB",
     .doc = "how loud"},
    {.name = "tint", .type = BP_COLOUR, .initial = "#ff8000"},
    {.name = "total", .type = BP_F64, .flags = BP_FIELD_READ_ONLY},
};

static void report(bp_manager_t *m, bp_report_o *out)
{
    static const char *const headers[] = {"name", "period", "period"};
    static const char *const first[] = {"a", "87.97", "1e-3"};
    static const char *const second[] = {"b", "-4332", "n/a"};
    m->api->report->table(out, "periods", headers, 3);
    m->api->report->row(out, first);
    m->api->report->row(out, second);
    if (m->plugin->options[AGAIN].boolean) {
        m->api->report->table(out, "again", headers, 3);
        m->api->report->row(out, second);
    }
    m->api->report->value(out, "drift", "2.5e-7");
    m->api->report->value(out, "verdict", "tab\there, bell\a");
    if (m->plugin->options[COMPLAINS].boolean)
        m->api->error->log(m->plugin, BP_LOG_ERROR, "the file cannot be written");
}

static const bp_report_i reporting = {report};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)}};

static const bp_component_i components[] = {
    {.name = "reporter", .doc = "reports", .fields = BP_LIST(fields), .extensions = BP_LIST(extensions)},
};

static void do_nothing(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_system_i systems[] = {
    {.name = "lost", .after = "reporter nowhere", .run_all = do_nothing},
};

BP_PLUGIN(reporter) = {
    .version = "0.3",
    .doc = "for tests",
    .components = BP_LIST(components),
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
};
