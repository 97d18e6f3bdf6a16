/* test_ahead_cells.c - texts and lists that are made ready between steps: random forms of six fields - single values,
 * arrays and lists, of numbers and of texts - one reload after another, in a world that goes on meanwhile, against a
 * model of values alone; the rules are those of base/convert.h, written down once more.
 *
 * CELLS_ROUNDS is the number of reloads of each random test, 30 where it is not set; with sanitizers 15, and of
 * one test alone.
 */
#include "../suites.h"
#include "reload_support.h"

#include "reload/ahead.h"
#include "store/store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(BACKPLANE_SANITIZED)
enum { USUAL_ROUNDS = 15, FIRST_SEED = 1 };
#else
enum { USUAL_ROUNDS = 30, FIRST_SEED = 0 };
#endif
enum { FIELDS = 6, FIRST = 17000, MOST = 24000, SOME = 200, ITEMS = 4, TEXT = 160, LIST = 0 };

/* How a field is declared: so many values; LIST: any number, at most ITEMS here. */
typedef struct form_t {
    uint32_t type, values;
    double initial;
} form_t;

/* Numbers, or the numbers of texts. */
typedef struct cell_t {
    uint32_t count;
    double items[ITEMS];
} cell_t;

typedef cell_t row_t[FIELDS];

typedef struct model_t {
    scene_t scene;
    char *bytes;
    size_t size;
    form_t forms[FIELDS];
    bp_entity_t *entities;
    bool *has_body;
    row_t *rows, *next;
    uint32_t count, key, both, single; /* `both`: the prototype with a body, `single`: without */
    uint64_t random;
    uint32_t made, refused, slices, taken_back, let_go;
    uint32_t strings; /* of the host, without these cells */
} model_t;

static model_t model;

static uint32_t below(model_t *m, uint32_t bound)
{
    return bp_random_below(&m->random, bound);
}

/* --- the plugin's file -------------------------------------------------------------------------------------------- */

static char *find(model_t *m, const void *mark, size_t length)
{
    for (size_t i = 0; i + length <= m->size; i++) {
        if (memcmp(m->bytes + i, mark, length) == 0)
            return m->bytes + i;
    }
    ck_abort_msg("a mark is not in the fixture");
    return NULL;
}

static void initial_text(const form_t *form, char *text)
{
    text[0] = '\0'; /* a list begins empty */
    if (form->values != LIST)
        snprintf(text, 24, form->type == BP_STRING ? "text %g" : "%g", form->initial);
}

/* Put the plugin with these forms in place of the file. */
static void put(model_t *m, const form_t *forms)
{
    free(m->bytes);
    m->bytes = fixture_bytes("reload_cells", &m->size);
    forget_checksum(m->bytes, m->size);
    for (uint32_t i = 0; i < FIELDS; i++) {
        const uint32_t type = 0x5EED0000u + i, flags = 0x5EEF0000u + i, count = 0x5EEC0000u + i;
        const uint32_t flag = forms[i].values == LIST ? BP_FIELD_LIST : 0;
        const uint32_t values = forms[i].values > 1 ? forms[i].values : 0;
        char mark[16], text[24] = "";
        snprintf(mark, sizeof mark, "@init%u@", i);
        initial_text(&forms[i], text);
        memcpy(find(m, mark, strlen(mark)), text, sizeof text);
        memcpy(find(m, &flags, sizeof flags), &flag, sizeof flag);
        memcpy(find(m, &count, sizeof count), &values, sizeof values);
        memcpy(find(m, &type, sizeof type), &forms[i].type, sizeof forms[i].type);
    }
    put_bytes(m->bytes, m->size, "cells");
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static cell_t default_cell(const form_t *form)
{
    cell_t cell = {.count = form->values};
    for (uint32_t i = 0; i < form->values; i++)
        cell.items[i] = form->initial;
    return cell;
}

static cell_t any_cell(model_t *m, const form_t *form)
{
    cell_t cell = {.count = form->values == LIST ? below(m, ITEMS) : form->values};
    for (uint32_t i = 0; i < cell.count; i++)
        cell.items[i] = below(m, 5);
    if (cell.count > 0 && (form->type == BP_F32 || form->type == BP_F64) && below(m, 3000) == 0)
        cell.items[0] += 0.5;
    return cell;
}

/* As people write it, and as get_text does. */
static void text_of(const form_t *form, const cell_t *cell, char *text)
{
    const char *one = form->type != BP_STRING ? "%g" : form->values == 1 ? "text %g" : "\"text %g\"";
    size_t used = (size_t)snprintf(text, TEXT, "%s", form->values == 1 ? "" : "[");
    for (uint32_t i = 0; i < cell->count; i++) {
        used += (size_t)snprintf(text + used, TEXT - used, "%s", i > 0 ? ", " : "");
        used += (size_t)snprintf(text + used, TEXT - used, one, cell->items[i]);
    }
    snprintf(text + used, TEXT - used, "%s", form->values == 1 ? "" : "]");
}

static bool convert_cell(const form_t *old, const cell_t *from, const form_t *form, cell_t *to)
{
    uint32_t count = from->count;
    if ((old->type == BP_STRING) != (form->type == BP_STRING))
        return false;
    if (form->values != LIST && count > form->values) {
        if (old->values == LIST)
            return false;
        count = form->values;
    }
    *to = default_cell(form);
    to->count = form->values == LIST ? count : form->values;
    for (uint32_t i = 0; i < count; i++) {
        to->items[i] = from->items[i];
        if (form->type == BP_I32 && to->items[i] != floor(to->items[i]))
            return false;
    }
    return true;
}

static bool foresee(model_t *m, const form_t *forms)
{
    bool possible = true;
    for (uint32_t e = 0; e < m->count && possible; e++) {
        for (uint32_t f = 0; f < FIELDS && possible; f++)
            possible = convert_cell(&m->forms[f], &m->rows[e][f], &forms[f], &m->next[e][f]);
    }
    return possible;
}

static bp_path_t path_of(model_t *m, uint32_t field)
{
    char name[2] = {(char)('a' + (int)field), '\0'};
    bp_path_t path = {.world = m->scene.world};
    WORKS(m->scene.host,
          m->scene.api->property->resolve(m->scene.world, (bp_entity_t){0}, "cells", name, &path.property));
    return path;
}

static void expect_values(model_t *m)
{
    for (uint32_t f = 0; f < FIELDS; f++) {
        bp_path_t path = path_of(m, f);
        for (uint32_t e = 0; e < m->count; e++) {
            char wanted[TEXT], found[TEXT];
            path.entity = m->entities[e];
            text_of(&m->forms[f], &m->rows[e][f], wanted);
            WORKS(m->scene.host, m->scene.api->property->get_text(&path, found, sizeof found));
            EXPECT(strcmp(wanted, found) == 0, "reload %u: %c of %u is %s, not %s", m->made + m->refused,
                   (char)('a' + (int)f), e, found, wanted);
        }
    }
}

/* --- the world goes on -------------------------------------------------------------------------------------------- */

static void set_cell(model_t *m, uint32_t e, uint32_t field, cell_t cell)
{
    char text[TEXT];
    bp_path_t path = path_of(m, field);
    path.entity = m->entities[e];
    m->rows[e][field] = cell;
    text_of(&m->forms[field], &cell, text);
    WORKS(m->scene.host, m->scene.api->property->set_text(&path, text));
}

static void set_some(model_t *m, uint32_t most)
{
    for (uint32_t n = below(m, most); n > 0; n--) {
        uint32_t field = below(m, FIELDS);
        set_cell(m, below(m, m->count), field, any_cell(m, &m->forms[field]));
    }
}

static void create(model_t *m, bool body, uint32_t count)
{
    count = count < MOST - m->count ? count : MOST - m->count;
    WORKS(m->scene.host, m->scene.api->world->create(m->scene.world, body ? m->both : m->single,
                                                     m->entities + m->count, count));
    for (uint32_t e = m->count; e < m->count + count; e++) {
        m->has_body[e] = body;
        for (uint32_t f = 0; f < FIELDS; f++)
            m->rows[e][f] = default_cell(&m->forms[f]);
    }
    m->count += count;
}

static void destroy_some(model_t *m)
{
    for (uint32_t n = below(m, below(m, 4) == 0 ? 4 * SOME : SOME); n > 0 && m->count > FIRST; n--) {
        uint32_t e = below(m, m->count);
        ck_assert_uint_eq(m->scene.api->entity->destroy(m->scene.host, &m->entities[e], 1), 1);
        m->count--;
        m->entities[e] = m->entities[m->count];
        m->has_body[e] = m->has_body[m->count];
        memcpy(m->rows[e], m->rows[m->count], sizeof m->rows[e]);
    }
}

static void move_some(model_t *m)
{
    uint32_t body = key_of(m->scene.world, "body", "");
    for (uint32_t n = below(m, SOME); n > 0; n--) {
        uint32_t e = below(m, m->count);
        const bp_world_api *world = m->scene.api->world;
        WORKS(m->scene.host, (m->has_body[e] ? world->remove : world->add)(m->scene.world, body, &m->entities[e], 1));
        m->has_body[e] = !m->has_body[e];
    }
}

static void go_on(model_t *m)
{
    world_t *world = world_of(m->scene.world);
    switch (below(m, 6)) {
    case 0: set_some(m, SOME); break;
    case 1: destroy_some(m); break;
    case 2: create(m, below(m, 8) == 0, below(m, below(m, 4) == 0 ? 3000 : SOME)); break;
    case 3: move_some(m); break;
    case 4: WORKS(m->scene.host, bp_host_step(m->scene.host)); break;
    default: leavings_slice(&world->leavings, &world->memory, &world->holdings, 0); break;
    }
}

/* --- reloads ------------------------------------------------------------------------------------------------------ */

static reload_change_t *read_change(model_t *m)
{
    static const char *const names[] = {"cells"};
    reload_change_t *change = NULL;
    WORKS(m->scene.host, reload_read(&m->scene.host->reload, names, 1, &change));
    return change;
}

static void any_form(model_t *m, form_t *form)
{
    static const uint32_t numbers[] = {BP_F32, BP_F64, BP_I32};
    uint32_t type = form->type == BP_STRING ? BP_STRING : numbers[below(m, 3)];
    if (below(m, 60) == 0)
        type = form->type == BP_STRING ? BP_F32 : BP_STRING; /* refused */
    *form = (form_t){type, below(m, 2) == 0 ? LIST : 1 + below(m, 3), below(m, 5)};
}

static void next_forms(model_t *m, form_t *forms)
{
    memcpy(forms, m->forms, sizeof m->forms);
    for (uint32_t f = 0; f < FIELDS; f++) {
        if (below(m, 3) == 0)
            any_form(m, &forms[f]);
    }
}

static void take(model_t *m, const form_t *forms)
{
    row_t *kept = m->rows;
    m->rows = m->next;
    m->next = kept;
    memcpy(m->forms, forms, sizeof m->forms);
}

/* The change is made; now and then it is taken back at once, so that all values are what they were. */
static void commit(model_t *m, reload_change_t *change, const form_t *forms)
{
    form_t before[FIELDS];
    memcpy(before, m->forms, sizeof before);
    reload_commit(change);
    take(m, forms);
    m->made++;
    if (m->scene.host->reload.probation_steps == 0 || below(m, 4) > 0)
        return;
    expect_values(m);
    WORKS(m->scene.host, reload_rollback(&m->scene.host->reload));
    take(m, before);
    put(m, before);
    m->taken_back++;
}

static void finish_change(model_t *m, reload_change_t *change, const form_t *forms)
{
    bool possible = foresee(m, forms);
    bp_result_t result = reload_prepare(change);
    EXPECT(possible == (result == BP_OK), "reload %u: %s", m->made + m->refused,
           result == BP_OK ? "it was taken" : bp_host_error(m->scene.host));
    if (possible && below(m, 5) > 0) {
        commit(m, change, forms);
        return;
    }
    reload_discard(change);
    m->refused += !possible;
    m->let_go += possible;
}

static void reload_once(model_t *m)
{
    form_t forms[FIELDS];
    next_forms(m, forms);
    put(m, forms);
    reload_leave_later(&m->scene.host->reload, below(m, 2) == 0);
    reload_change_t *change = read_change(m);
    WORKS(m->scene.host, reload_look_ahead(change));
    while (reload_make_ready(change)) {
        m->slices++;
        if (below(m, 4) == 0)
            go_on(m);
    }
    for (uint32_t n = below(m, 3); n > 0; n--)
        go_on(m);
    finish_change(m, change, forms);
    ck_assert_ptr_null(m->scene.host->reload.readies);
    ck_assert_int_eq(world_of(m->scene.world)->blocks_aside, 0);
    scene_clear_log(&m->scene);
    expect_values(m);
}

static void open_model(model_t *m, const form_t *forms)
{
    memset(m, 0, sizeof *m);
    scene_open(&m->scene, PROBE_FIRST);
    m->entities = calloc(MOST, sizeof *m->entities);
    m->has_body = calloc(MOST, sizeof *m->has_body);
    m->rows = calloc(MOST, sizeof *m->rows);
    m->next = calloc(MOST, sizeof *m->next);
    memcpy(m->forms, forms, sizeof m->forms);
    m->scene.host->reload.slice_ns = 0;
    m->strings = m->scene.host->base.strings.count;
    put(m, forms);
    WORKS(m->scene.host, bp_host_load_plugin(m->scene.host, TEST_SCRATCH_DIR "/cells" TEST_SO, NULL, 0));
    WORKS(m->scene.host, bp_world_use_component(m->scene.world, "cells"));
    uint32_t keys[] = {key_of(m->scene.world, "cells", ""), key_of(m->scene.world, "body", "")};
    WORKS(m->scene.host, m->scene.api->world->prototype(m->scene.world, keys, 1, &m->single));
    WORKS(m->scene.host, m->scene.api->world->prototype(m->scene.world, keys, 2, &m->both));
    create(m, false, FIRST);
    set_some(m, FIRST);
}

/* All entities go, and with them all that their cells hold. */
static void close_model(model_t *m)
{
    world_t *world = world_of(m->scene.world);
    reload_accept(&m->scene.host->reload);
    while (reload_let_leave(&m->scene.host->reload)) {}
    ck_assert_uint_eq(m->scene.api->entity->destroy(m->scene.host, m->entities, m->count), m->count);
    store_collect_all(world);
    lists_tidy(&world->lists);
    ck_assert_uint_eq(memory_bytes(&world->lists.memory), 0);
    WORKS(m->scene.host, bp_host_unload_plugin(m->scene.host, "cells"));
    ck_assert_uint_eq(m->scene.host->base.strings.count, m->strings);
    free(m->bytes);
    free(m->entities);
    free(m->has_body);
    free(m->rows);
    free(m->next);
    scene_close(&m->scene);
}

static const form_t many_forms[FIELDS] = {{BP_STRING, 1, 1}, {BP_F32, LIST, 1}, {BP_STRING, LIST, 2},
                                          {BP_F64, 2, 3},    {BP_I32, LIST, 1}, {BP_STRING, 2, 4}};

/* 0: without a probation; 1: with one, and changes that are taken back. */
START_TEST(texts_and_lists_that_are_made_ready_while_the_world_goes_on_are_what_they_ought_to_be)
{
    const char *asked = getenv("CELLS_ROUNDS");
    uint32_t rounds = asked != NULL ? (uint32_t)strtoul(asked, NULL, 10) : USUAL_ROUNDS;
    model_t *m = &model;
    open_model(m, many_forms);
    m->random = 11 + (uint64_t)_i;
    m->scene.host->reload.probation_steps = _i == 0 ? 0 : 5;
    for (uint32_t n = 0; n < rounds; n++) {
        reload_once(m);
        if (n % 10 == 0)
            check_host(m->scene.host);
    }
    ck_assert_uint_gt(m->made, rounds / 3);
    ck_assert_uint_gt(m->slices, rounds);
    ck_assert_uint_gt(m->let_go, 0);
    ck_assert_uint_eq(m->taken_back > 0, _i == 1);
    ck_assert_uint_gt(m->scene.host->reload.readied, rounds / 3);
    close_model(m);
}
END_TEST

/* --- one change --------------------------------------------------------------------------------------------------- */

static const form_t other_forms[FIELDS] = {{BP_STRING, LIST, 1}, {BP_F64, LIST, 1}, {BP_STRING, 3, 2},
                                           {BP_F32, LIST, 3},    {BP_I32, 3, 1},    {BP_STRING, 1, 4}};

/* Shorter lists than arrays have values, so that other_forms fit. */
static reload_change_t *begin(model_t *m)
{
    open_model(m, many_forms);
    put(m, other_forms);
    reload_change_t *change = read_change(m);
    WORKS(m->scene.host, reload_look_ahead(change));
    return change;
}

static void make_all_ready(reload_change_t *change)
{
    while (reload_make_ready(change)) {}
}

/* Each request for memory in turn fails, while columns are made ready (0), or while the change is prepared and some
 * rows are made once more (1). */
START_TEST(without_memory_texts_and_lists_are_what_they_were_and_hold_nothing_twice)
{
    model_t *m = &model;
    heap_t *heap = &m->scene.rig.heap;
    reload_change_t *change = begin(m);
    bool refused = true;
    uint32_t failed = 0;
    reload_discard(change);
    for (uint32_t n = 1; refused; n += 1 + n / 40) {
        change = read_change(m);
        uint64_t before = heap->refused;
        if (_i == 0)
            heap->refuse_first = heap->refuse_last = heap->requests + n;
        WORKS(m->scene.host, reload_look_ahead(change));
        make_all_ready(change);
        heap->refuse_first = heap->refuse_last = 0;
        set_cell(m, n % m->count, 0, any_cell(m, &m->forms[0]));
        set_cell(m, n % m->count, 2, (cell_t){2, {1, n % 5}});
        set_cell(m, n % m->count, 4, (cell_t){3, {1, 2, n % 5}});
        if (_i == 1)
            heap->refuse_first = heap->refuse_last = heap->requests + n;
        bp_result_t result = reload_prepare(change);
        heap->refuse_first = heap->refuse_last = 0;
        refused = heap->refused > before;
        failed += refused;
        EXPECT(result == BP_OK || (_i == 1 && result == BP_ERROR_MEMORY), "request %u: %s", n,
               bp_host_error(m->scene.host));
        reload_discard(change);
        ck_assert_int_eq(world_of(m->scene.world)->blocks_aside, 0);
        ck_assert_uint_eq(m->scene.world->rows.stamp_users, 0);
    }
    ck_assert_uint_gt(failed, 10);
    scene_clear_log(&m->scene);
    check_host(m->scene.host);
    expect_values(m);
    close_model(m);
}
END_TEST

/* A list that grows too long for its array after it was made ready: of numbers, or of texts, which the array holds as
 * well. */
START_TEST(a_list_that_came_too_late_is_found)
{
    model_t *m = &model;
    uint32_t field = _i < 2 ? 4 : 2;
    reload_change_t *change = begin(m);
    make_all_ready(change);
    set_cell(m, _i % 2 == 0 ? 0 : FIRST - 1, field, (cell_t){4, {1, 2, 3, 4}});
    FAILS(m->scene.host, BP_ERROR_RANGE, _i < 2 ? "field 'e' holds" : "field 'c' holds", reload_prepare(change));
    ck_assert_uint_gt(m->scene.host->reload.readied, 0);
    reload_discard(change);
    check_host(m->scene.host);
    expect_values(m);
    close_model(m);
}
END_TEST

Suite *ahead_cells_suite(void)
{
    Suite *suite = suite_create("ahead_cells");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 180);
    tcase_add_loop_test(random, texts_and_lists_that_are_made_ready_while_the_world_goes_on_are_what_they_ought_to_be,
                        FIRST_SEED, 2);
    suite_add_tcase(suite, random);
    TCase *one = tcase_create("one");
    tcase_set_timeout(one, 180);
    tcase_add_loop_test(one, without_memory_texts_and_lists_are_what_they_were_and_hold_nothing_twice, 0, 2);
    tcase_add_loop_test(one, a_list_that_came_too_late_is_found, 0, 4);
    suite_add_tcase(suite, one);
    return suite;
}
