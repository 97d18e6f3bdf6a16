/* test_reload_terms.c - what a component declares and what a system asks for, drawn at random, fresh and over reloads,
 * against an oracle that knows names and values alone.
 *
 * Fields are single values, arrays and lists, with limits, former names and named values. Either plugin is reloaded, or
 * both in one change; the oracle says whether that can be, what each field is bound to then, and what its values are.
 * The system sees every value that it has asked for through the columns, and changes those that it writes, which the
 * model follows; the rest is read by name. Where the oracle says no, nothing may have changed.
 *
 * The plugins are files that a plugin of the test opens, so that any declaration is a version without a compiler.
 */
#include "../suites.h"
#include "reload_support.h"

#include <bp_loader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The last two names are those of fields whose values have names. */
#if defined(BACKPLANE_SANITIZED)
enum { CASES = 2500 };
#else
enum { CASES = 10000 };
#endif
enum { FRESH_EACH = 8, NAMES = 8, NAMED = 6, FIELDS = 6, ASKED = 5, WORDS = 5, MOST = 6, ROWS = 6 };
enum { LIST = 0, SINGLE = 1, TOP = 9, TEXT = 96 };

static const char *const names[NAMES] = {"mass", "speed", "rate", "place", "power", "phase", "mood", "kind"};
static const char *const words[WORDS] = {"idle", "busy", "lost", "calm", "gone"};
static const uint32_t types[] = {BP_F32, BP_F64, BP_I32, BP_U8, BP_I64};
static const uint32_t named_types[] = {BP_U8, BP_I32, BP_U16};

typedef struct drawn_t {
    uint32_t name, type, shape; /* of elements; LIST */
    uint32_t former;            /* a name; NAMES: none */
    int initial, most;          /* values of named fields are numbers of words */
    int numbers[WORDS];         /* what a named field says that the words are; -1: it has not that word */
} drawn_t;

typedef struct list_t {
    drawn_t fields[FIELDS];
    uint32_t count;
} list_t;

typedef struct wish_t {
    uint32_t name, type, shape, access;
    bool optional;
} wish_t;

typedef struct wishes_t {
    wish_t items[ASKED];
    uint32_t count;
} wishes_t;

typedef struct cell_t {
    uint32_t count;
    int values[MOST];
} cell_t;

/* What a file is made of. */
typedef struct version_t {
    bp_field_t fields[FIELDS];
    char texts[FIELDS][3][TEXT];
    bp_term_field_t asked[ASKED];
    bp_term_t terms[1];
    bp_component_i components[1];
    bp_system_i systems[1];
    bp_plugin_desc_t desc;
    bp_plugin_head_t head;
} version_t;

static uint64_t dice;
static list_t now, next; /* at work; of the version that is to come */
static wishes_t wishes, next_wishes;
static cell_t cells[ROWS][NAMES];
static rig_t rig;
static bp_host_o *host;
static bp_world_o *world;
static bp_entity_t entities[ROWS];
static uint32_t calls, files, made, refused, fresh, turned_away;

static uint32_t below(uint32_t bound)
{
    return bp_random_below(&dice, bound);
}

static bool is_named(uint32_t name)
{
    return name >= NAMED;
}

/* --- files as plugins --------------------------------------------------------------------------------------------- */

static void write_words(const drawn_t *d, char *text)
{
    size_t used = 0;
    for (uint32_t w = 0; w < WORDS; w++) {
        if (d->numbers[w] >= 0)
            used += (size_t)snprintf(text + used, TEXT - used, "%s%s=%d", used > 0 ? " " : "", words[w], d->numbers[w]);
    }
}

static void describe(version_t *v, uint32_t i, const drawn_t *d)
{
    bool named = is_named(d->name);
    if (named)
        snprintf(v->texts[i][0], TEXT, "%s", words[d->initial]);
    else
        snprintf(v->texts[i][0], TEXT, "%d", d->initial);
    snprintf(v->texts[i][1], TEXT, "%d", d->most);
    if (named)
        write_words(d, v->texts[i][2]);
    v->fields[i] = (bp_field_t){.name = names[d->name],
                                .type = d->type,
                                .flags = d->shape == LIST ? BP_FIELD_LIST : 0,
                                .count = d->shape,
                                .initial = d->shape == LIST ? NULL : v->texts[i][0],
                                .max = named || d->most == TOP ? NULL : v->texts[i][1],
                                .former_name = d->former == NAMES ? NULL : names[d->former],
                                .values = named ? v->texts[i][2] : NULL};
}

static void run(const bp_match_t *match, uint32_t count);

static bp_result_t open_file(bp_plugin_t *plugin, const char *path, const char *bytes, size_t size,
                             const bp_plugin_head_t **head, void **content)
{
    version_t *v = calloc(1, sizeof *v);
    bool thing = strstr(path, "thing") != NULL;
    (void)plugin, (void)bytes, (void)size;
    ck_assert_ptr_nonnull(v);
    for (uint32_t i = 0; i < next.count && thing; i++)
        describe(v, i, &next.fields[i]);
    for (uint32_t k = 0; k < next_wishes.count && !thing; k++) {
        const wish_t *w = &next_wishes.items[k];
        v->asked[k] = (bp_term_field_t){.name = names[w->name],
                                        .type = w->type,
                                        .access = w->access,
                                        .flags = (w->optional ? BP_TERM_FIELD_OPTIONAL : 0) |
                                                 (w->shape == LIST ? BP_FIELD_LIST : 0),
                                        .count = w->shape};
    }
    v->components[0] = (bp_component_i){.name = "thing", .fields = {v->fields, next.count, sizeof v->fields[0]}};
    v->terms[0] = (bp_term_t){.component = "thing", .fields = {v->asked, next_wishes.count, sizeof v->asked[0]}};
    v->systems[0] = (bp_system_i){.name = "asks", .terms = BP_LIST(v->terms), .run = run};
    v->desc = (bp_plugin_desc_t){.version = "1"};
    if (thing)
        v->desc.components = (bp_component_list_t)BP_LIST(v->components);
    else
        v->desc.systems = (bp_system_list_t)BP_LIST(v->systems);
    v->head = (bp_plugin_head_t)BP_PLUGIN_HEAD(thing ? "thing" : "asker", &v->desc);
    *head = &v->head;
    *content = v;
    return BP_OK;
}

static void close_file(bp_plugin_t *plugin, void *content)
{
    (void)plugin;
    free(content);
}

static const bp_loader_t loaders[] = {{.ending = "drawn", .open = open_file, .close = close_file}};
static const bp_component_i marks[] = {{.name = "mark"}};
static const bp_plugin_head_t opener = BP_PLUGIN_HEAD(
    "opener",
    (&(const bp_plugin_desc_t){.version = "1", .loaders = BP_LIST(loaders), .components = BP_LIST(marks)}));
static const bp_plugin_head_t *const linked[] = {&opener};

static const char *write_file(const char *name)
{
    char text[16];
    snprintf(text, sizeof text, "%u", files++);
    return scratch_file(name, text);
}

/* --- drawing ------------------------------------------------------------------------------------------------------ */

static const drawn_t *find_name(const list_t *list, uint32_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->fields[i].name == name)
            return &list->fields[i];
    }
    return NULL;
}

static void draw_words(drawn_t *d)
{
    bool any = false;
    for (uint32_t w = 0; w < WORDS; w++) {
        bool has = below(5) != 0;
        d->numbers[w] = has ? (int)(w * 20 + below(20)) : -1;
        any = any || has;
    }
    if (!any)
        d->numbers[0] = 3;
    do
        d->initial = (int)below(WORDS);
    while (d->numbers[d->initial] < 0);
}

static drawn_t draw_field(uint32_t name)
{
    static const uint32_t shapes[] = {SINGLE, SINGLE, SINGLE, 2, 4, LIST, LIST};
    drawn_t d = {.name = name, .former = NAMES, .shape = shapes[below(COUNT(shapes))], .most = TOP};
    d.type = is_named(name) ? named_types[below(COUNT(named_types))] : types[below(COUNT(types))];
    if (is_named(name)) {
        draw_words(&d);
        return d;
    }
    if (below(4) == 0)
        d.most = 4 + (int)below(TOP - 4);
    d.initial = (int)below((uint32_t)d.most + 1);
    return d;
}

static uint32_t draw_name(uint32_t like)
{
    return is_named(like) ? NAMED + below(NAMES - NAMED) : below(NAMED);
}

static void change_one(list_t *list)
{
    uint32_t at = below(list->count), other = draw_name(list->fields[at].name);
    drawn_t *d = &list->fields[at], anew = draw_field(d->name);
    switch (below(7)) {
    case 0: *d = list->fields[--list->count]; break;
    case 1:
    case 2:
        if (find_name(list, other) == NULL) {
            d->former = d->name;
            d->name = other;
        }
        break;
    case 3: d->type = anew.type; break;
    case 4: d->shape = anew.shape; break;
    case 5:
        memcpy(d->numbers, anew.numbers, sizeof d->numbers);
        d->most = anew.most;
        d->initial = anew.initial;
        break;
    default:
        d->former = other == d->name ? NAMES : other;
        break;
    }
}

static void draw_list(const list_t *from)
{
    next = *from;
    for (uint32_t i = 0; i < next.count; i++)
        next.fields[i].former = NAMES;
    for (uint32_t n = 1 + below(2); n > 0 && next.count > 0; n--)
        change_one(&next);
    while (next.count < 2 || (next.count < FIELDS && below(4) == 0)) {
        uint32_t name = below(NAMES);
        if (find_name(&next, name) == NULL)
            next.fields[next.count++] = draw_field(name);
    }
    for (uint32_t i = next.count; i > 1 && below(2) == 0; i--) {
        uint32_t k = below(i);
        drawn_t kept = next.fields[i - 1];
        next.fields[i - 1] = next.fields[k];
        next.fields[k] = kept;
    }
}

/* --- the oracle --------------------------------------------------------------------------------------------------- */

/* The field that a name means; NULL: none. */
static const drawn_t *meant(const list_t *list, uint32_t name)
{
    const drawn_t *d = find_name(list, name);
    for (uint32_t i = 0; i < list->count && d == NULL; i++) {
        if (list->fields[i].former == name)
            d = &list->fields[i];
    }
    return d;
}

/* One name may not mean two fields: the oracle would have to know an order. */
static bool is_unclear(const list_t *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            if (list->fields[i].former != NAMES && list->fields[i].former == list->fields[k].former)
                return true;
        }
    }
    return false;
}

/* Nor may two names mean one field. */
static bool is_ambiguous(const list_t *list, const wishes_t *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        for (uint32_t k = 0; k < i; k++) {
            const drawn_t *a = meant(list, w->items[i].name);
            if (w->items[i].name == w->items[k].name || (a != NULL && a == meant(list, w->items[k].name)))
                return true;
        }
    }
    return false;
}

static bool binds(const list_t *list, const wishes_t *w)
{
    for (uint32_t k = 0; k < w->count; k++) {
        const wish_t *wish = &w->items[k];
        const drawn_t *d = meant(list, wish->name);
        if (d == NULL ? !wish->optional : d->type != wish->type || d->shape != wish->shape)
            return false;
    }
    return true;
}

/* Where the values of a field come from; NULL: it begins with its default. */
static const drawn_t *source_of(const list_t *from, const list_t *to, const drawn_t *d)
{
    const drawn_t *source = find_name(from, d->name);
    if (source == NULL && d->former != NAMES && find_name(to, d->former) == NULL)
        source = find_name(from, d->former);
    return source;
}

static cell_t initial_cell(const drawn_t *d)
{
    cell_t cell = {.count = d->shape};
    for (uint32_t i = 0; i < cell.count; i++)
        cell.values[i] = d->initial;
    return cell;
}

static bool fits(const drawn_t *d, int value)
{
    return is_named(d->name) ? d->numbers[value] >= 0 : value <= d->most;
}

static bool convert(const cell_t *from, const drawn_t *d, cell_t *to)
{
    *to = initial_cell(d);
    if (d->shape == LIST)
        to->count = from->count;
    for (uint32_t i = 0; i < from->count && i < to->count; i++) {
        to->values[i] = from->values[i];
        if (!fits(d, from->values[i]))
            return false;
    }
    return true;
}

/* The values under the next list; false: some cannot be. */
static bool foresee(cell_t after[ROWS][NAMES])
{
    for (uint32_t i = 0; i < next.count; i++) {
        const drawn_t *d = &next.fields[i], *source = source_of(&now, &next, d);
        for (uint32_t k = 0; k < i && source != NULL; k++) {
            if (source_of(&now, &next, &next.fields[k]) == source)
                return false;
        }
        for (uint32_t row = 0; row < ROWS; row++) {
            const cell_t *from = source == NULL ? NULL : &cells[row][source->name];
            if (from != NULL && source->shape == LIST && d->shape != LIST && from->count > d->shape)
                return false;
            if (from == NULL)
                after[row][d->name] = initial_cell(d);
            else if (!convert(from, d, &after[row][d->name]))
                return false;
        }
    }
    return true;
}

static void draw_wishes(const list_t *list)
{
    do {
        uint32_t wanted = 1 + below(ASKED);
        next_wishes.count = 0;
        for (uint32_t tries = 0; tries < 3 * NAMES && next_wishes.count < wanted; tries++) {
            uint32_t name = below(NAMES);
            const drawn_t *d = meant(list, name);
            if (d == NULL && below(8) != 0)
                continue;
            drawn_t anew = draw_field(name);
            bool other = d == NULL || below(40) == 0;
            next_wishes.items[next_wishes.count++] = (wish_t){.name = name,
                                                              .type = other ? anew.type : d->type,
                                                              .shape = other ? anew.shape : d->shape,
                                                              .access = below(2) == 0 ? BP_READ : BP_WRITE,
                                                              .optional = below(3) == 0};
        }
    } while (next_wishes.count == 0 || is_ambiguous(list, &next_wishes));
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static uint32_t size_of(uint32_t type)
{
    return type == BP_U8 ? 1 : type == BP_U16 ? 2 : type == BP_F32 || type == BP_I32 ? 4 : 8;
}

static double read_item(uint32_t type, const void *items, uint32_t i)
{
    switch (type) {
    case BP_F32: return (double)((const float *)items)[i];
    case BP_F64: return ((const double *)items)[i];
    case BP_I32: return (double)((const int32_t *)items)[i];
    case BP_U8: return (double)((const uint8_t *)items)[i];
    case BP_U16: return (double)((const uint16_t *)items)[i];
    default: return (double)((const int64_t *)items)[i];
    }
}

static void write_item(uint32_t type, void *items, uint32_t i, int number)
{
    switch (type) {
    case BP_F32: ((float *)items)[i] = (float)number; break;
    case BP_F64: ((double *)items)[i] = (double)number; break;
    case BP_I32: ((int32_t *)items)[i] = (int32_t)number; break;
    case BP_U8: ((uint8_t *)items)[i] = (uint8_t)number; break;
    case BP_U16: ((uint16_t *)items)[i] = (uint16_t)number; break;
    default: ((int64_t *)items)[i] = (int64_t)number; break;
    }
}

static int number_of(const drawn_t *d, int value)
{
    return is_named(d->name) ? d->numbers[value] : value;
}

static int draw_value(const drawn_t *d)
{
    int value;
    do
        value = (int)below(is_named(d->name) ? WORDS : (uint32_t)d->most + 1);
    while (!fits(d, value));
    return value;
}

static void expect_items(const drawn_t *d, uint32_t row, const void *items, uint32_t count, const char *how)
{
    const cell_t *cell = &cells[row][d->name];
    EXPECT(count == cell->count, "%s: '%s' of row %u has %u values instead of %u", how, names[d->name], row, count,
           cell->count);
    for (uint32_t i = 0; i < count; i++)
        EXPECT(read_item(d->type, items, i) == number_of(d, cell->values[i]), "%s: value %u of '%s' of row %u is %g",
               how, i, names[d->name], row, read_item(d->type, items, i));
}

static void change_list(const bp_match_t *match, const drawn_t *d, cell_t *cell, bp_list_t *list)
{
    uint64_t room = 0;
    if (cell->count == MOST || (cell->count > 0 && below(3) == 0)) {
        uint32_t at = below(cell->count);
        bp_list_remove(list, at, size_of(d->type));
        memmove(&cell->values[at], &cell->values[at + 1], (--cell->count - at) * sizeof cell->values[0]);
        return;
    }
    int value = draw_value(d);
    write_item(d->type, &room, 0, number_of(d, value));
    EXPECT(bp_list_append(match->lists, list, &room, size_of(d->type)) != NULL, "a list cannot grow");
    cell->values[cell->count++] = value;
}

static void see(const bp_match_t *match, const wish_t *wish, const drawn_t *d, void *column, uint32_t i, uint32_t row)
{
    cell_t *cell = &cells[row][d->name];
    bp_list_t *list = (bp_list_t *)column + i;
    char *items = d->shape == LIST ? NULL : (char *)column + (size_t)i * d->shape * size_of(d->type);
    expect_items(d, row, d->shape == LIST ? list->items : items, d->shape == LIST ? list->count : d->shape,
                 "in a column");
    if (wish->access != BP_WRITE || below(2) == 0)
        return;
    if (d->shape == LIST) {
        change_list(match, d, cell, list);
        return;
    }
    uint32_t at = below(d->shape);
    cell->values[at] = draw_value(d);
    write_item(d->type, items, at, number_of(d, cell->values[at]));
}

static void run(const bp_match_t *match, uint32_t count)
{
    calls += count;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t row = 0;
        while (row < ROWS && entities[row].id != match->entities[i].id)
            row++;
        EXPECT(row < ROWS, "an entity that nobody has made");
        for (uint32_t k = 0; k < wishes.count; k++) {
            const drawn_t *d = meant(&now, wishes.items[k].name);
            void *column = match->columns[0][k];
            EXPECT((column == NULL) == (d == NULL), "'%s' is there, or is not", names[wishes.items[k].name]);
            if (d != NULL)
                see(match, &wishes.items[k], d, column, i, row);
        }
    }
}

static void expect_all(void)
{
    for (uint32_t row = 0; row < ROWS; row++) {
        for (uint32_t i = 0; i < now.count; i++) {
            const drawn_t *d = &now.fields[i];
            bp_property_t property;
            uint64_t room[MOST];
            bp_list_t list = {.items = room, .count = d->shape};
            WORKS(host, rig.api->property->resolve(world, entities[row], "thing", names[d->name], &property));
            WORKS(host, rig.api->property->get(world, &property, &entities[row], 1,
                                               d->shape == LIST ? (void *)&list : room, 0));
            expect_items(d, row, list.items, list.count, "by name");
        }
    }
}

static void step_and_look(void)
{
    calls = 0;
    WORKS(host, bp_world_step(world));
    EXPECT(calls == ROWS, "%u rows seen", calls);
    expect_all();
}

/* --- cases -------------------------------------------------------------------------------------------------------- */

static void close_host(void)
{
    if (host == NULL)
        return;
    check_host(host);
    rig.log.text[0] = '\0';
    rig.log.count = 0;
    rig_close(&rig);
    host = NULL;
}

/* Bring both into a world, either first. */
static bp_result_t use_both(void)
{
    bool component_first = below(2) == 0;
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "mark"));
    bp_result_t result = component_first ? bp_world_use_component(world, "thing") : bp_world_use_system(world, "asks");
    if (result != BP_OK)
        return result;
    return component_first ? bp_world_use_system(world, "asks") : bp_world_use_component(world, "thing");
}

/* A new host, either plugin first: one case. True where both are at work in a world. */
static bool begin_fresh(void)
{
    static const list_t none = {.count = 0};
    static const char *const ends[2] = {"thing.drawn", "asker.drawn"};
    uint32_t first = below(2);
    close_host();
    draw_list(&none);
    draw_wishes(&next);
    rig_open_with(&rig, linked, 1);
    host = rig.host;
    host->reload.probation_steps = 0;
    WORKS(host, bp_host_load_plugin(host, "opener", NULL, 0));
    WORKS(host, bp_host_load_plugin(host, write_file(ends[first]), NULL, 0));
    bp_result_t result = bp_host_load_plugin(host, write_file(ends[1 - first]), NULL, 0);
    if (result == BP_OK)
        result = use_both();
    EXPECT((result == BP_OK) == binds(&next, &next_wishes), "a fresh pair: %d, %s", result, bp_host_error(host));
    fresh += result == BP_OK;
    turned_away += result != BP_OK;
    return result == BP_OK;
}

static void make_rows(void)
{
    now = next;
    wishes = next_wishes;
    for (uint32_t row = 0; row < ROWS; row++) {
        uint32_t prototype = prototype_of(world, "thing", row % 2 == 0 ? "mark" : NULL, NULL, NULL);
        WORKS(host, rig.api->world->create(world, prototype, &entities[row], 1));
        for (uint32_t i = 0; i < now.count; i++)
            cells[row][now.fields[i].name] = initial_cell(&now.fields[i]);
    }
    step_and_look();
}

static void reload_once(void)
{
    static const char *const both[] = {"thing", "asker"};
    static cell_t after[ROWS][NAMES];
    uint32_t which = below(4); /* 0: the component; 1: the system; else both */
    do {
        next = now;
        next_wishes = wishes;
        if (which != 1)
            draw_list(&now);
    } while (is_unclear(&next) || (which == 0 && is_ambiguous(&next, &wishes)));
    if (which != 0)
        draw_wishes(&next);
    memcpy(after, cells, sizeof after);
    bool possible = foresee(after) && binds(&next, &next_wishes);
    if (which != 1)
        write_file("thing.drawn");
    if (which != 0)
        write_file("asker.drawn");
    bp_result_t result = bp_host_reload(host, which == 1 ? both + 1 : both, which > 1 ? 2 : 1, NULL);
    EXPECT((result == BP_OK) == possible, "reload %u is %s: %s", made + refused, possible ? "refused" : "taken",
           bp_host_error(host));
    made += possible;
    refused += !possible;
    if (possible) {
        now = next;
        wishes = next_wishes;
        memcpy(cells, after, sizeof cells);
    }
    expect_all();
    step_and_look();
}

START_TEST(fresh_or_reloaded_terms_are_bound_to_what_names_say)
{
    dice = 11 + (uint64_t)_i;
    host = NULL;
    files = made = refused = fresh = turned_away = 0;
    while (made + refused + fresh + turned_away < CASES / 2) {
        if (!begin_fresh())
            continue;
        make_rows();
        for (uint32_t i = 0; i < FRESH_EACH; i++)
            reload_once();
    }
    close_host();
    ck_assert_uint_gt(made, CASES / 8);
    ck_assert_uint_gt(refused, CASES / 20);
    ck_assert_uint_gt(fresh, CASES / 40);
    ck_assert_uint_gt(turned_away, CASES / 200);
}
END_TEST

Suite *reload_terms_suite(void)
{
    Suite *suite = suite_create("reload_terms");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 240);
    tcase_add_loop_test(random, fresh_or_reloaded_terms_are_bound_to_what_names_say, 0, 2);
    suite_add_tcase(suite, random);
    return suite;
}
