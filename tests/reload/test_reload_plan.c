/* test_reload_plan.c - what a change makes of declarations: which of them are the same, which systems cannot go on, and
 * which state is told of rows.
 *
 * Versions need no compiler here: the plugin `stage` is linked in and opens files that end in ".stage". What such a
 * file declares is what the test has put into `staged`; one whose name begins with "long_NUMBER" is `many[NUMBER]`.
 */
#include "../suites.h"
#include "reload_support.h"

#include "os/os.h"

#include <bp_look.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_FIELDS = 3, MANY = 12 };

/* One declaration: a component `play` with fields, and perhaps a system `play_look` with terms. */
typedef struct staged_t {
    bp_field_t fields[SHOWN_FIELDS];
    bp_component_i components[1];
    bp_system_i systems[1];
    bp_plugin_desc_t desc;
    bp_plugin_head_t head;
} staged_t;

static rig_t rig;
static bp_world_o *world;
static staged_t staged;
static bp_plugin_head_t many[MANY];

static bp_result_t open_staged(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                               const bp_plugin_head_t **head, void **content)
{
    const char *number = strstr(path, "/long_");
    (void)plugin, (void)bytes, (void)size;
    *head = number == NULL ? &staged.head : &many[strtoul(number + 6, NULL, 10)];
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

/* The next version has these fields, up to the first without a name. */
static void stage_fields(const bp_field_t *fields, uint32_t count)
{
    memset(&staged, 0, sizeof staged);
    memcpy(staged.fields, fields, count * sizeof *fields);
    staged.components[0] = (bp_component_i){
        .name = "play", .fields = {staged.fields, count, sizeof staged.fields[0]}, .keeps = BP_KEEP_NOTHING};
    staged.desc = (bp_plugin_desc_t){
        .version = "1", .components = {staged.components, 1, sizeof staged.components[0]}, .keeps = BP_KEEP_NOTHING};
    staged.head = (bp_plugin_head_t)BP_PLUGIN_HEAD("play", &staged.desc);
}

static void begin(void)
{
    static const bp_plugin_head_t *linked[ZOO_PLUGINS + 1];
    memcpy(linked, zoo_plugins, sizeof zoo_plugins);
    linked[ZOO_PLUGINS] = &stage;
    rig_open_with(&rig, linked, COUNT(linked));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stage", NULL, 0));
}

/* A world with two rows of the component that is staged. */
static void show(void)
{
    bp_entity_t e[2];
    WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file("play.stage", "p"), NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "play"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "play", NULL, NULL, NULL), e, 2));
}

static bp_result_t reload(bp_reload_report_t *report)
{
    static const char *const names[] = {"play"};
    *report = (bp_reload_report_t){.struct_size = sizeof *report};
    bp_result_t result = bp_host_reload(rig.host, names, 1, report);
    rig.log = (log_text_t){.target = rig.log.target};
    return result;
}

static void end(void)
{
    reload_accept(&rig.host->reload);
    check_host(rig.host);
    rig.log = (log_text_t){.target = rig.log.target};
    rig_close(&rig);
}

/* --- fields that are the same ------------------------------------------------------------------------------------- */

#define BASE .type = BP_U16, .access = BP_READ, .column = 1, .unit = "m", .doc = "how far"

typedef struct pair_t {
    bp_field_t before, after;
} pair_t;

/* Each differs in one member. */
static const pair_t pairs[] = {
    {{.name = "f", BASE}, {.name = "g", BASE}},
    {{.name = "f", BASE}, {.name = "f", .type = BP_U32, .access = BP_READ, .column = 1, .unit = "m", .doc = "how far"}},
    {{.name = "f", BASE}, {.name = "f", BASE, .flags = BP_FIELD_READ_ONLY}},
    {{.name = "f", BASE},
     {.name = "f", .type = BP_U16, .access = BP_WRITE, .column = 1, .unit = "m", .doc = "how far"}},
    {{.name = "f", BASE}, {.name = "f", .type = BP_U16, .access = BP_READ, .column = 0, .unit = "m", .doc = "how far"}},
    {{.name = "f", BASE}, {.name = "f", BASE, .count = 2}},
    {{.name = "f", BASE}, {.name = "f", BASE, .initial = "0"}},
    {{.name = "f", BASE}, {.name = "f", BASE, .min = "0"}},
    {{.name = "f", BASE}, {.name = "f", BASE, .max = "65535"}},
    {{.name = "f", BASE}, {.name = "f", .type = BP_U16, .access = BP_READ, .column = 1, .unit = "s", .doc = "how far"}},
    {{.name = "f", BASE},
     {.name = "f", .type = BP_U16, .access = BP_READ, .column = 1, .unit = "m", .doc = "how long"}},
    {{.name = "f", BASE}, {.name = "f", BASE, .former_name = "e"}},
    {{.name = "f", BASE}, {.name = "f", BASE, .values = "calm cross"}},
    {{.name = "f", BASE, .values = "calm cross"}, {.name = "f", BASE, .values = "calm glad"}},
};

static void expect_text(const char *a, const char *b, uint32_t number)
{
    EXPECT((a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0), "pair %u: '%s' instead of '%s'", number,
           a == NULL ? "" : a, b == NULL ? "" : b);
}

/* The host tells the declaration as it is written. */
static void expect_declared(const bp_field_t *wanted, uint32_t number)
{
    bp_field_t f = {0};
    WORKS(rig.host, rig.api->property->describe(rig.host, "play", 0, &f, sizeof f));
    expect_text(f.name, wanted->name, number);
    expect_text(f.initial, wanted->initial, number);
    expect_text(f.min, wanted->min, number);
    expect_text(f.max, wanted->max, number);
    expect_text(f.unit, wanted->unit, number);
    expect_text(f.doc, wanted->doc, number);
    expect_text(f.former_name, wanted->former_name, number);
    expect_text(f.values, wanted->values, number);
    EXPECT(f.type == wanted->type && f.flags == wanted->flags && f.access == wanted->access &&
               f.column == wanted->column && f.count == wanted->count,
           "pair %u", number);
}

START_TEST(every_member_of_a_declaration_makes_another_field_of_it)
{
    static const char same[] = "  component play, 2 instances: fields as they were";
    bp_reload_report_t report;
    for (uint32_t i = 0; i < COUNT(pairs); i++) {
        begin();
        stage_fields(&pairs[i].before, 1);
        show();
        WORKS(rig.host, reload(&report));
        EXPECT(strstr(report.text, same) != NULL, "pair %u: %s", i, report.text);
        expect_declared(&pairs[i].before, i);
        stage_fields(&pairs[i].after, 1);
        WORKS(rig.host, reload(&report));
        EXPECT(strstr(report.text, same) == NULL, "pair %u: %s", i, report.text);
        expect_declared(&pairs[i].after, i);
        end();
    }
}
END_TEST

/* Of three fields, one comes, goes, is hidden, or is another one than before at each place. */
START_TEST(a_list_is_the_same_where_all_of_its_fields_are)
{
    static const bp_field_t a = {.name = "a", .type = BP_U8}, b = {.name = "b", .type = BP_U8};
    static const bp_field_t c = {.name = "c", .type = BP_U8}, d = {.name = "d", .type = BP_U8};
    static const bp_field_t hidden = {.name = "c", .type = BP_U8, .flags = BP_FIELD_HIDDEN};
    const struct {
        bp_field_t fields[SHOWN_FIELDS];
        uint32_t count;
    } lists[] = {{{a, b, c}, 3}, {{d, b, c}, 3}, {{d, a, c}, 3}, {{d, a, b}, 3},      {{d, a}, 2},
                 {{d}, 1},       {{d, a}, 2},    {{d, a, c}, 3}, {{d, a, hidden}, 3}, {{d, a}, 2}};
    bp_reload_report_t report;
    begin();
    stage_fields(lists[0].fields, lists[0].count);
    show();
    for (uint32_t i = 0; i < COUNT(lists); i++) {
        for (uint32_t again = 0; again < 2; again++) {
            stage_fields(lists[i].fields, lists[i].count);
            WORKS(rig.host, reload(&report));
            EXPECT((strstr(report.text, "fields as they were") != NULL) == (again == 1 || i == 0), "list %u: %s", i,
                   report.text);
        }
    }
    end();
}
END_TEST

/* --- many plugins ------------------------------------------------------------------------------------------------- */

/* Twelve plugins whose names are as long as names may be. */
static void show_many(char names[MANY][64], const char **list)
{
    static const bp_plugin_desc_t desc = {.version = "a version of twenty", .keeps = BP_KEEP_NOTHING};
    for (uint32_t i = 0; i < MANY; i++) {
        char file[80];
        snprintf(names[i], 64, "long_%02u_%055u", i, i);
        snprintf(file, sizeof file, "%s.stage", names[i]);
        list[i] = names[i];
        many[i] = (bp_plugin_head_t)BP_PLUGIN_HEAD(names[i], &desc);
        WORKS(rig.host, bp_host_load_plugin(rig.host, scratch_file(file, "p"), NULL, 0));
    }
}

/* None of them is being changed any more. */
static void expect_at_rest(const char **list)
{
    for (uint32_t i = 0; i < MANY; i++) {
        const plugin_t *plugin = loader_find(&rig.host->loader, list[i]);
        EXPECT(!plugin->reloading && atomic_load(&plugin->changing) == 0, "plugin %u goes on changing", i);
    }
}

/* The first lines of reports stay of a length that people read, whatever is reloaded. */
START_TEST(of_many_plugins_with_long_names_the_first_are_named)
{
    char names[MANY][64], wanted[1600], *at = wanted;
    const char *list[MANY + 1];
    bp_reload_report_t report = {.struct_size = sizeof report};
    begin();
    rig.host->reload.probation_steps = 5;
    show_many(names, list);
    WORKS(rig.host, bp_host_reload(rig.host, list, MANY, &report));
    snprintf(wanted, sizeof wanted, "%s %s %s %s %s", names[0], names[1], names[2], names[3], names[4]);
    ck_assert(strncmp(report.text, "reloaded ", 9) == 0 && strncmp(report.text + 9, wanted, 300) == 0);
    ck_assert(strncmp(report.text + 9 + 300, ": pause ", 8) == 0);
    for (uint32_t i = 0; i < MANY; i++) {
        char line[128];
        snprintf(line, sizeof line, "\n  plugin %.63s: a version of twenty -> a version of twenty", names[i]);
        EXPECT(strstr(report.text, line) != NULL, "%s is not in %s", line, report.text);
    }
    WORKS(rig.host, reload_rollback(&rig.host->reload));
    expect_at_rest(list);
    at += snprintf(at, sizeof wanted, "taken back:");
    for (uint32_t i = 0; at - wanted < 1000; i++)
        at += snprintf(at, sizeof wanted - (size_t)(at - wanted),
                       " %s (a version of twenty is at work again, instead of a version of twenty)", names[i]);
    ck_assert_str_eq(rig.host->reload.last.text, wanted);
    list[MANY] = "nonesuch";
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "", bp_host_reload(rig.host, list, MANY + 1, &report));
    snprintf(wanted, sizeof wanted, "not reloaded: %s %s %s %s %s (pause ", names[0], names[1], names[2], names[3],
             names[4]);
    ck_assert(strncmp(report.text, wanted, strlen(wanted)) == 0);
    ck_assert_str_eq(strstr(report.text, " ms); "), " ms); nothing has changed\n  no plugin 'nonesuch' is loaded");
    expect_at_rest(list);
    WORKS(rig.host, bp_host_reload(rig.host, list, MANY, &report));
    reload_accept(&rig.host->reload);
    expect_at_rest(list);
    end();
}
END_TEST

/* --- what is kept ------------------------------------------------------------------------------------------------- */

/* Of a report that is too long the look keeps whole lines, and says that there were more. A line ends at each of the
 * last places of the room, and behind it. */
START_TEST(a_long_report_is_kept_up_to_the_last_line_that_has_room)
{
    static const bp_field_t before = {.name = "f", .type = BP_U16};
    static char first[2200], second[3000];
    const size_t room = sizeof((reload_told_t *)0)->text;
    bp_reload_report_t report;
    begin();
    stage_fields(&before, 1);
    show();
    const bp_look_api *look = rig.api->registry->find(rig.host, BP_LOOK_API, 1);
    memset(second, 'y', sizeof second - 1);
    uint32_t at_ends = 0;
    size_t others = room - 100; /* bytes before the line of the second default, without the first one */
    for (uint32_t length = 0; length < 24; length++) {
        bp_look_reload_t told = {.struct_size = sizeof told}, last = told;
        const bp_field_t fields[] = {before, {.name = "a", .type = BP_STRING, .initial = first},
                                     {.name = "b", .type = BP_STRING, .initial = second}};
        memset(first, 'x', sizeof first - 1);
        first[room - others - 12 + length] = '\0';
        stage_fields(fields, COUNT(fields));
        WORKS(rig.host, reload(&report));
        for (uint32_t cursor = 0; look->reload(rig.host, &cursor, &told); told.struct_size = sizeof told)
            last = told;
        size_t end = room - sizeof "\n...";
        while (report.text[end] != '\n')
            end--;
        EXPECT(strncmp(last.text, report.text, end) == 0 && strcmp(last.text + end, "\n...") == 0, "%u: '%s'", length,
               last.text + end - 20);
        const char *line = strstr(report.text, "    added      b");
        ck_assert_ptr_nonnull(line);
        others = (size_t)(line - report.text) - strlen(first);
        at_ends += line <= report.text + room && line > report.text + room - sizeof "\n...";
        stage_fields(&before, 1);
        WORKS(rig.host, reload(&report));
    }
    ck_assert_uint_gt(at_ends, 0);
    end();
}
END_TEST

/* --- systems ------------------------------------------------------------------------------------------------------ */

struct looked { const uint16_t *f; };
static const bp_term_field_t looked_fields[] = {{BP_FIELD_OF(struct looked, f)}};
static const bp_term_t look_terms[] = {{.component = "play", .fields = BP_LIST(looked_fields)}};

static void look(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

static const bp_system_i look_systems[] = {{.name = "look", .terms = BP_LIST(look_terms), .run = look}};
static const bp_plugin_head_t watcher =
    BP_PLUGIN_HEAD("watcher", (&(const bp_plugin_desc_t){.version = "1", .systems = BP_LIST(look_systems)}));

START_TEST(a_system_that_would_not_find_its_fields_refuses_the_change)
{
    static const bp_field_t before = {.name = "f", .type = BP_U16}, other_type = {.name = "f", .type = BP_U32};
    static const bp_field_t other_name = {.name = "g", .type = BP_U16};
    static const bp_field_t renamed = {.name = "g", .type = BP_U16, .former_name = "f"};
    static const bp_plugin_head_t *linked[] = {&stage, &watcher};
    bp_reload_report_t report;
    rig_open_with(&rig, linked, COUNT(linked));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "stage", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "watcher", NULL, 0));
    stage_fields(&before, 1);
    show();
    stage_fields(&other_type, 1);
    FAILS(rig.host, BP_ERROR_TYPE, "", reload(&report));
    ck_assert_str_eq(bp_host_error(rig.host),
                     "system 'look' of plugin 'watcher' cannot go on: it asks for field 'f' of component "
                     "'play' as u16, but it is u32; rebuild that plugin and reload both together: reload play watcher");
    stage_fields(&other_name, 1);
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "", reload(&report));
    ck_assert_str_eq(bp_host_error(rig.host),
                     "system 'look' of plugin 'watcher' cannot go on: it asks for field 'f' of component "
                     "'play', which has no such field; did you mean 'g'?; "
                     "rebuild that plugin and reload both together: reload play watcher");
    stage_fields(&renamed, 1);
    WORKS(rig.host, reload(&report));
    stage_fields(&before, 1);
    staged.systems[0] = (bp_system_i){.name = "play_look", .terms = BP_LIST(look_terms), .run = look};
    staged.desc.systems = (bp_system_list_t){staged.systems, 1, sizeof staged.systems[0]};
    WORKS(rig.host, reload(&report));
    staged.fields[0] = other_type;
    FAILS(rig.host, BP_ERROR_TYPE, "", reload(&report));
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "watcher"));
    FAILS(rig.host, BP_ERROR_TYPE, "", reload(&report));
    ck_assert_str_eq(bp_host_error(rig.host),
                     "system 'play_look': it asks for field 'f' of component 'play' as u16, but it is u32");
    staged.desc.systems.count = 0; /* a system that goes asks for nothing any more */
    WORKS(rig.host, reload(&report));
    end();
}
END_TEST

/* --- rows --------------------------------------------------------------------------------------------------------- */

static uint32_t added, not_new;

/* Values that are made again begin with their default, whatever they have been. */
static bp_result_t note_added(const bp_run_t *rows, uint32_t count)
{
    uint16_t *again = staged.fields[0].flags != 0 ? (uint16_t *)rows->columns[0]
                      : staged.fields[1].flags != 0 ? (uint16_t *)rows->columns[1] : NULL;
    added += count;
    for (uint32_t i = 0; i < count && again != NULL; i++) {
        not_new += again[i] != 3;
        again[i] = 7;
    }
    return BP_OK;
}

static void note_removed(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
}

static bp_result_t start(bp_manager_t *m)
{
    m->state = m->api->memory->resize(m->plugin, NULL, 0, sizeof(uint32_t));
    return m->state == NULL ? BP_ERROR_MEMORY : BP_OK;
}

static void stop(bp_manager_t *m)
{
    m->api->memory->resize(m->plugin, m->state, sizeof(uint32_t), 0);
}

static const bp_rows_i row_verbs[] = {{0}, {.rows_added = note_added}, {.rows_removed = note_removed},
                                      {.rows_added = note_added, .rows_removed = note_removed}};
static const bp_extension_t row_extensions[][1] = {
    {{BP_EXTENSION("bp_rows", row_verbs[0])}}, {{BP_EXTENSION("bp_rows", row_verbs[1])}},
    {{BP_EXTENSION("bp_rows", row_verbs[2])}}, {{BP_EXTENSION("bp_rows", row_verbs[3])}}};

enum { ADDED = 1, REMOVED = 2, STATE_ANEW = 4, STATE_KEPT = 8, REBUILT = 16, ALONE = 32, WAYS = 64 };

static bool is_way(uint32_t way)
{
    bool rebuilt = (way & REBUILT) != 0;
    return (way & (STATE_ANEW | STATE_KEPT)) != (STATE_ANEW | STATE_KEPT) &&
           !(rebuilt && ((way & ADDED) == 0 || (way & STATE_KEPT) != 0)) && (rebuilt || (way & ALONE) == 0);
}

static void stage_way(uint32_t way)
{
    const bp_field_t fields[] = {{.name = "f", .type = BP_U16},
                                 {.name = "h", .type = BP_U16, .initial = "3",
                                  .flags = BP_FIELD_HIDDEN | BP_FIELD_DERIVED}};
    stage_fields((way & ALONE) != 0 ? &fields[1] : fields, (way & (REBUILT | ALONE)) == REBUILT ? 2 : 1);
    bp_component_i *component = &staged.components[0];
    component->extensions = (bp_extension_list_t){row_extensions[way & (ADDED | REMOVED)], 1, sizeof(bp_extension_t)};
    if ((way & (STATE_ANEW | STATE_KEPT)) != 0) {
        component->start = start;
        component->stop = stop;
        component->keeps = (way & STATE_KEPT) != 0 ? BP_KEEP_UNSAID : BP_KEEP_ANEW;
        component->state_form = (way & STATE_KEPT) != 0 ? BP_STATE_FORM(uint32_t, 1) : 0;
    }
}

/* The version `to` comes after `from`. A state that knows the rows goes on as it is, or there is none: then no row is
 * told. Else a version that is told of rows hears of all that there are. It is on probation where the old version would
 * not miss rows meanwhile. */
static void expect_told(uint32_t from, uint32_t to)
{
    bool goes_on = (from & STATE_KEPT) != 0 && (to & STATE_KEPT) != 0 && ((from & ADDED) != 0 || !(to & ADDED));
    bool none = (from & (STATE_ANEW | STATE_KEPT)) == 0 && (to & (STATE_ANEW | STATE_KEPT)) == 0;
    bool known = (from & ADDED) != 0 && (goes_on || (none && !(to & REBUILT)));
    bool misses = (from & (ADDED | REMOVED)) != 0 && (!(goes_on || none) || (from & ~to & (ADDED | REMOVED)));
    bp_reload_report_t report;
    stage_way(to);
    added = not_new = 0;
    WORKS(rig.host, reload(&report));
    EXPECT(not_new == 0, "%u to %u: %u values are not new", from, to, not_new);
    EXPECT(added == ((to & ADDED) != 0 && !known ? 2 : 0), "%u to %u: %u rows were told", from, to, added);
    EXPECT((strstr(report.text, ", on probation\n") != NULL) == !misses, "%u to %u: %s", from, to, report.text);
    reload_accept(&rig.host->reload);
}

START_TEST(rows_are_told_to_a_state_that_does_not_know_them_and_no_old_state_misses_any)
{
    for (uint32_t from = 0; from < WAYS; from++) {
        if (!is_way(from))
            continue;
        begin();
        rig.host->reload.probation_steps = 5;
        stage_way(from);
        show();
        for (uint32_t to = from; to < WAYS; to++) {
            if (is_way(to))
                expect_told(from, to);
            if (is_way(to) && to != from)
                expect_told(to, from);
        }
        end();
    }
}
END_TEST

/* --- storage of its own ------------------------------------------------------------------------------------------- */

static bp_result_t make_slots(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots)
{
    uint32_t *made = m->state;
    (void)instance, (void)entities, (void)columns;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = (*made)++;
    return BP_OK;
}

static void end_slots(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)slots;
    *(uint32_t *)m->state -= count;
}

static uint32_t count_slots(bp_manager_t *m)
{
    return *(const uint32_t *)m->state;
}

static uint32_t collect_nothing(bp_manager_t *m, uint64_t *random)
{
    (void)m, (void)random;
    return 0;
}

static const bp_storage_i storages[] = {
    {.struct_size = sizeof(bp_storage_i), .create = make_slots, .destroy = end_slots, .count = count_slots},
    {.struct_size = sizeof(bp_storage_i), .create = make_slots, .destroy = end_slots, .count = count_slots,
     .gc = collect_nothing}};

static bp_result_t start_counting(bp_manager_t *m)
{
    bp_result_t result = start(m);
    if (result == BP_OK)
        *(uint32_t *)m->state = 0;
    return result;
}

static void stage_storage(bool collects)
{
    static const bp_field_t none;
    stage_fields(&none, 0);
    staged.components[0].storage = &storages[collects];
    staged.components[0].start = start_counting;
    staged.components[0].stop = stop;
    staged.components[0].keeps = BP_KEEP_UNSAID;
    staged.components[0].state_form = BP_STATE_FORM(uint32_t, 1);
}

START_TEST(the_report_says_that_dead_instances_stay_in_a_state_that_nobody_collects_any_more)
{
    bp_reload_report_t report;
    begin();
    rig.host->reload.probation_steps = 0;
    stage_storage(_i / 2 == 1);
    show();
    stage_storage(_i % 2 == 1);
    WORKS(rig.host, reload(&report));
    EXPECT(strstr(report.text, "its state went over as it is") != NULL, "%s", report.text);
    EXPECT((strstr(report.text, "instances of dead entities") != NULL) == (_i == 2), "%s", report.text);
    end();
}
END_TEST

/* --- accounts ----------------------------------------------------------------------------------------------------- */

enum { OF_THREAD = 48, OF_VERSION = 80 };

typedef struct borrowed_t {
    bp_plugin_t *plugin;
    void *by_thread, *by_version;
} borrowed_t;

static uint32_t other_threads; /* whether memory is taken by another thread as well */
static bool loads_badly;

static void take(void *data)
{
    borrowed_t *taken = data;
    taken->by_thread = taken->plugin->api->memory->resize(taken->plugin, NULL, 0, OF_THREAD);
}

static void give_back(void *data)
{
    borrowed_t *taken = data;
    taken->plugin->api->memory->resize(taken->plugin, taken->by_thread, OF_THREAD, 0);
}

static void on_a_thread(void (*entry)(void *data), borrowed_t *taken)
{
    os_thread_t thread;
    ck_assert(os_thread_start(&thread, entry, taken));
    os_thread_join(thread);
}

static bp_result_t load_accounts(bp_plugin_t *plugin)
{
    borrowed_t *taken = plugin->api->memory->resize(plugin, NULL, 0, sizeof *taken);
    *taken = (borrowed_t){.plugin = plugin};
    taken->by_version = plugin->api->memory->resize(plugin, NULL, 0, OF_VERSION);
    if (other_threads)
        on_a_thread(take, taken);
    plugin->state = taken;
    if (!loads_badly)
        return BP_OK;
    if (taken->by_thread != NULL)
        on_a_thread(give_back, taken);
    plugin->api->memory->resize(plugin, taken->by_version, OF_VERSION, 0);
    plugin->api->memory->resize(plugin, taken, sizeof *taken, 0);
    return BP_ERROR_FAILED;
}

static void unload_accounts(bp_plugin_t *plugin)
{
    borrowed_t *taken = plugin->state;
    if (taken->by_thread != NULL)
        give_back(taken);
    plugin->api->memory->resize(plugin, taken->by_version, OF_VERSION, 0);
    plugin->api->memory->resize(plugin, taken, sizeof *taken, 0);
}

static void expect_account(bool with_thread, const char *what)
{
    const plugin_t *plugin = loader_find(&rig.host->loader, "play");
    size_t wanted = sizeof(borrowed_t) + OF_VERSION + (with_thread ? OF_THREAD : 0);
    EXPECT(memory_bytes(atomic_load(&plugin->account)) == wanted, "%s: %zu bytes instead of %zu", what,
           memory_bytes(atomic_load(&plugin->account)), wanted);
    EXPECT(memory_bytes(&plugin->bystanders) == 0 && !atomic_load(&plugin->mixed), "%s: of others", what);
    EXPECT(atomic_load(&plugin->changing) == 0 && !plugin->reloading, "%s: the change goes on", what);
}

/* After a change there is nothing left of what threads have taken meanwhile: it is the version's that stays. */
START_TEST(memory_that_is_taken_during_a_change_is_counted_for_the_version_that_stays)
{
    static const bp_field_t field = {.name = "f", .type = BP_U16};
    bp_reload_report_t report;
    begin();
    rig.host->reload.probation_steps = 5;
    other_threads = 0;
    loads_badly = false;
    for (uint32_t i = 0; i < 6; i++) {
        stage_fields(&field, 1);
        staged.desc.load = load_accounts;
        staged.desc.unload = unload_accounts;
        if (i == 0)
            show();
        other_threads = i % 2;
        WORKS(rig.host, reload(&report));
        ck_assert(loader_find(&rig.host->loader, "play")->reloading); /* on probation */
        reload_accept(&rig.host->reload);
        expect_account(i % 2 == 1, "a reload");
        other_threads = i / 2 % 2;
        loads_badly = true;
        FAILS(rig.host, BP_ERROR_FAILED, "", reload(&report));
        expect_account(i % 2 == 1, "a refused reload");
        loads_badly = false;
        WORKS(rig.host, reload(&report));
        WORKS(rig.host, reload_rollback(&rig.host->reload));
        expect_account(i % 2 == 1, "a reload that is taken back");
        rig.log = (log_text_t){.target = rig.log.target};
    }
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "play"));
    EXPECT(strstr(rig.log.text, "not given back") == NULL, "%s", rig.log.text);
    end();
}
END_TEST

Suite *reload_plan_suite(void)
{
    Suite *suite = suite_create("reload_plan");
    TCase *tests = tcase_create("plans");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, every_member_of_a_declaration_makes_another_field_of_it);
    tcase_add_test(tests, a_list_is_the_same_where_all_of_its_fields_are);
    tcase_add_test(tests, of_many_plugins_with_long_names_the_first_are_named);
    tcase_add_test(tests, a_long_report_is_kept_up_to_the_last_line_that_has_room);
    tcase_add_test(tests, a_system_that_would_not_find_its_fields_refuses_the_change);
    tcase_add_test(tests, rows_are_told_to_a_state_that_does_not_know_them_and_no_old_state_misses_any);
    tcase_add_loop_test(tests, the_report_says_that_dead_instances_stay_in_a_state_that_nobody_collects_any_more, 0, 4);
    tcase_add_test(tests, memory_that_is_taken_during_a_change_is_counted_for_the_version_that_stays);
    suite_add_tcase(suite, tests);
    return suite;
}
