/* team.c - members of two teams, counted as they come, go and change sides. A team that is full takes no further
 * member.
 *
 * The counts lie in the manager's state, so each row remembers in a hidden field under which side it is counted: when a
 * side is set, nothing else tells the side before. Counts and hidden fields follow from the rows; where the state
 * begins anew, `rows_added` makes them again.
 */
#include <bp_plugin.h>

#include <stdio.h>

enum { NONE, RED, BLUE, SIDES }; /* SIDES: not counted yet */

struct team { const uint8_t *side; uint8_t *counted; };

typedef struct teams_t { uint32_t members[SIDES]; } teams_t;

static const char *const names[SIDES] = {"none", "red", "blue"};

static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct team, side), .values = "none red blue", .doc = "whom it plays for"},
    {BP_FIELD_OF(struct team, counted), .flags = BP_FIELD_HIDDEN | BP_FIELD_DERIVED, .initial = "3"},
};

static const bp_field_t options[] = {
    {.name = "most", .type = BP_U32, .initial = "1000000000", .doc = "members of a team"},
};

/* Count rows under the side that they have now: all of them, or none and a sentence. */
static bp_result_t count_rows(const bp_run_t *rows, uint32_t count)
{
    BP_COLUMNS(struct team, c, rows->columns);
    const bp_manager_t *m = rows->manager;
    teams_t next = *(const teams_t *)m->state;
    for (uint32_t i = 0; i < count; i++) {
        if (c.counted[i] < SIDES)
            next.members[c.counted[i]]--;
        next.members[c.side[i]]++;
    }
    for (uint32_t side = RED; side < SIDES; side++) {
        char sentence[64];
        if (next.members[side] <= m->plugin->options[0].u32)
            continue;
        snprintf(sentence, sizeof sentence, "team %s is full: %u members at most", names[side],
                 m->plugin->options[0].u32);
        return m->api->error->set(m->host, BP_ERROR_LIMIT, sentence);
    }
    for (uint32_t i = 0; i < count; i++)
        c.counted[i] = c.side[i];
    *(teams_t *)m->state = next;
    return BP_OK;
}

static bp_result_t rows_set(const bp_run_t *rows, uint32_t count, uint32_t field)
{
    (void)field; /* there is one that can be set */
    return count_rows(rows, count);
}

static void rows_removed(const bp_run_t *rows, uint32_t count)
{
    BP_COLUMNS(struct team, c, rows->columns);
    for (uint32_t i = 0; i < count; i++)
        ((teams_t *)rows->manager->state)->members[c.counted[i]]--;
}

static bp_result_t start(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof(teams_t));
    if (m->state == NULL)
        return BP_ERROR_MEMORY;
    *(teams_t *)m->state = (teams_t){{0}};
    return BP_OK;
}

static void stop(bp_manager_t *m)
{
    m->api->memory->resize(m->plugin, m->state, sizeof(teams_t), 0);
}

static void report(bp_manager_t *m, bp_report_o *report)
{
    for (uint32_t side = NONE; side < SIDES; side++) {
        char text[16];
        snprintf(text, sizeof text, "%u", ((const teams_t *)m->state)->members[side]);
        m->api->report->value(report, names[side], text);
    }
}

static const bp_rows_i telling = {.rows_added = count_rows, .rows_removed = rows_removed, .rows_set = rows_set};
static const bp_report_i reporting = {.report = report};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_rows", telling)},
                                            {BP_EXTENSION("bp_report", reporting)}};

static const bp_component_i components[] = {
    {.doc = "members of a team", .fields = BP_LIST(fields), .start = start, .stop = stop,
     .state_form = BP_STATE_FORM(teams_t, 1), .keeps = BP_KEEP_ANEW, .extensions = BP_LIST(extensions)},
};

BP_PLUGIN(team) = {.version = "1.0", .components = BP_LIST(components), .options = BP_LIST(options)};
