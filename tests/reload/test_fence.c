/* test_fence.c - columns between closed pages: where they lie, what may be touched beside them, and what is told of an
 * address; and the room behind columns that have no such pages.
 *
 * Here the runs of a host in this process are laid, as the copy of a trial does it; test_behind.c has whole trials.
 * Whether an address may be touched is asked of the system, by reading it into a pipe, or from one.
 */
#include "../suites.h"
#include "reload_support.h"

#include "engine/host.h"
#include "os/os.h"
#include "reload/lookout.h"
#include "store/fence.h"
#include "store/slack.h"
#include "store/world_check.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATTERN = 0xA5, WAVE = 67, FEW = 15, GROUPS = 12 };

struct grass { float *height; uint8_t *kind; float *wave; };
static const bp_field_t grass_fields[] = {{BP_FIELD_OF(struct grass, height)},
                                          {BP_FIELD_OF(struct grass, kind)},
                                          {BP_ARRAY_OF(struct grass, wave, WAVE)}};
static const bp_field_t number_fields[] = {{.name = "number", .type = BP_F64}};
static const bp_component_i ours[] = {{.name = "grass", .fields = BP_LIST(grass_fields)},
                                      {.name = "moss", .fields = BP_LIST(number_fields)}};
static const bp_component_i theirs[] = {{.name = "stone", .fields = BP_LIST(number_fields)}};
static const bp_plugin_head_t our_plugin =
    BP_PLUGIN_HEAD("ours", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(ours)}));
static const bp_plugin_head_t their_plugin =
    BP_PLUGIN_HEAD("theirs", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(theirs)}));

static rig_t rig;
static bp_world_o *world;
static world_t *worlds[2];
static plugin_t *first[1];
static memory_t account;
static fence_t fence;
static int ends[2];
static const fence_rights_t handed_nothing;

/* A world, and a fence for which the components of one of the plugins come first: 0 ours, 1 theirs. */
static void begin(uint32_t plugin)
{
    static const bp_plugin_head_t *const plugins[] = {&our_plugin, &their_plugin};
    rig_open_with(&rig, plugins, 2);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "ours", NULL, 0));
    WORKS(rig.host, bp_host_load_plugin(rig.host, "theirs", NULL, 0));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "stone")); /* and its run comes first in the world */
    WORKS(rig.host, bp_world_use_component(world, "grass"));
    WORKS(rig.host, bp_world_use_component(world, "moss"));
    worlds[0] = &world->rows;
    first[0] = rig.host->loader.plugins.items[plugin];
    memory_init(&account, "fence", &(bp_allocator_i){0});
    fence_init(&fence, &account, first, 1);
    ck_assert_int_eq(pipe(ends), 0);
}

static void create(const char *type, bp_entity_t *entities, uint32_t count)
{
    WORKS(rig.host,
          rig.api->world->create(world, prototype_of(world, type, NULL, NULL, NULL), entities, count));
}

static const run_t *run_of(const char *type)
{
    uint32_t prototype = prototype_of(world, type, NULL, NULL, NULL);
    for (uint32_t i = 0; i < world->rows.run_count; i++) {
        if (world->rows.runs[i]->prototype == prototype)
            return world->rows.runs[i];
    }
    ck_abort_msg("no run of %s", type);
    return NULL;
}

static bool can_read(const void *address)
{
    char byte;
    return write(ends[1], address, 1) == 1 && read(ends[0], &byte, 1) == 1;
}

/* The byte is written over with what it is. */
static bool can_write(void *address)
{
    char byte;
    if (write(ends[1], address, 1) != 1)
        return false;
    if (read(ends[0], address, 1) == 1)
        return true;
    ck_assert_int_eq(read(ends[0], &byte, 1), 1);
    return false;
}

static fence_column_t *column_of(const char *type, uint32_t column)
{
    const run_t *run = run_of(type);
    for (uint32_t i = 0; i < fence.count; i++) {
        if (fence.columns[i].cells == run->columns[column])
            return &fence.columns[i];
    }
    return NULL;
}

static char *end_of(const fence_column_t *column)
{
    return column->cells + (size_t)column->rows * column->cell;
}

static size_t count_pattern(const char *from, const char *end)
{
    size_t count = 0;
    for (; from < end; from++)
        count += (unsigned char)*from == PATTERN;
    return count;
}

/* --- where they lie ----------------------------------------------------------------------------------------------- */

static void check_column(const char *type, uint32_t number, uint32_t rows, size_t align)
{
    const fence_column_t *column = column_of(type, number);
    ck_assert_ptr_nonnull(column);
    const run_t *run = run_of(type);
    size_t behind = (size_t)(column->pages + column->bytes - end_of(column));
    ck_assert(column->lies && !column->shut && column->world == &world->rows && column->run == run);
    ck_assert(column->prototype == run->prototype && column->rows == rows && column->cell == run->sizes[number]);
    ck_assert_uint_eq((uintptr_t)column->cells % align, 0);
    EXPECT(behind >= RUN_COPIED_BYTES && behind < RUN_COPIED_BYTES + align, "%zu bytes behind", behind);
    ck_assert(can_read(column->pages) && can_write(column->pages) && can_write(column->pages + column->bytes - 1));
    ck_assert(!can_read(column->pages - 1) && !can_read(column->pages - FENCE_CLOSED));
    ck_assert(!can_read(column->pages + column->bytes) && !can_read(column->pages + column->bytes + FENCE_CLOSED - 1));
    ck_assert_uint_eq(count_pattern(column->pages, column->cells), (size_t)(column->cells - column->pages));
    if (number == 0) {
        ck_assert(column->manager == BP_NONE && column->field == 0);
        return;
    }
    ck_assert_str_eq(column->component, type);
    ck_assert_str_eq(column->name, run->fields[number]->name);
    ck_assert_uint_eq(column->manager, rig.api->world->component(world, type));
    ck_assert_uint_eq(column->field, number - 1);
}

START_TEST(each_column_has_pages_of_its_own_and_a_pattern_around_it)
{
    static const uint32_t counts[] = {1, FEW, RUN_ALIGNED_ROWS, 100, 5000};
    bp_entity_t *entities = calloc(5000, sizeof *entities);
    uint32_t rows = counts[_i];
    char text[256];
    begin(0);
    create("grass", entities, rows);
    create("stone", entities, 1);
    for (uint32_t i = 0; i < rows; i++) {
        ((float *)run_of("grass")->columns[1])[i] = (float)i;
        ((float *)run_of("grass")->columns[3])[i * WAVE] = -(float)i;
    }
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 6);
    for (uint32_t i = 0; i < 4; i++)
        check_column("grass", i, rows, rows < RUN_ALIGNED_ROWS ? 16 : 64);
    for (uint32_t i = 0; i < 2; i++)
        check_column("stone", i, 1, 16);
    for (uint32_t i = 1; i < fence.count; i++)
        ck_assert(fence.columns[i - 1].pages + fence.columns[i - 1].bytes <= fence.columns[i].pages - FENCE_CLOSED);
    for (uint32_t i = 0; i < rows; i++) {
        EXPECT(((float *)run_of("grass")->columns[1])[i] == (float)i, "row %u", i);
        EXPECT(((float *)run_of("grass")->columns[3])[i * WAVE] == -(float)i, "row %u", i);
    }
    ck_assert_msg(world_check(&world->rows, text, sizeof text), "%s", text);
    fence_fill(&fence, &handed_nothing);
    for (uint32_t i = 0; i < fence.count; i++) {
        const fence_column_t *column = &fence.columns[i];
        size_t behind = (size_t)(column->pages + column->bytes - end_of(column));
        ck_assert_uint_eq(count_pattern(end_of(column), column->pages + column->bytes), behind);
    }
    for (uint32_t i = 0; i < fence.count; i++) { /* what they are is found anew: a reload may have changed that */
        fence_column_t *column = &fence.columns[i];
        column->world = NULL;
        column->run = NULL;
        column->prototype = 0;
        column->component[0] = column->name[0] = '\0';
    }
    fence_lay(&fence, worlds, 1); /* all lies already */
    ck_assert_uint_eq(fence.count, 6);
    for (uint32_t i = 0; i < 4; i++)
        check_column("grass", i, rows, rows < RUN_ALIGNED_ROWS ? 16 : 64);
    free(entities);
}
END_TEST

/* The rows of one of the plugins take more than half of the bytes that are laid, as do those of the other one. In the
 * last two rounds that plugin is the second of two on trial. */
START_TEST(rows_of_the_plugins_on_trial_are_laid_first)
{
    const uint32_t rows = FENCE_BYTES / 32 * 5 / 4; /* of 16 bytes, an entity and a number */
    static const char *const types[] = {"moss", "stone"};
    bp_entity_t *entities = malloc(rows * sizeof *entities);
    static plugin_t without_rows;
    uint32_t which = (uint32_t)_i % 2;
    begin(which);
    plugin_t *const on_trial[] = {&without_rows, first[0]};
    if (_i >= 2) {
        fence.first = on_trial;
        fence.first_count = 2;
    }
    create("stone", entities, rows);
    create("moss", entities, rows);
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 2);
    ck_assert_ptr_nonnull(column_of(types[which], 0));
    ck_assert_ptr_null(column_of(types[1 - which], 0));
    ck_assert(fence.bytes > (size_t)rows * 16 && fence.bytes <= FENCE_BYTES);
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 2);
    free(entities);
}
END_TEST

START_TEST(columns_of_rows_of_several_components_are_called_by_their_own)
{
    bp_entity_t entities[4];
    char text[256];
    uint32_t prototype, found = 0;
    begin(0);
    prototype = prototype_of(world, "grass", "moss", NULL, NULL);
    WORKS(rig.host, rig.api->world->create(world, prototype, entities, 4));
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 1 + 3 + 1);
    for (uint32_t i = 0; i < fence.count; i++) {
        const fence_column_t *column = &fence.columns[i];
        bool moss = strcmp(column->name, "number") == 0, entity = column->manager == BP_NONE;
        if (!entity)
            ck_assert_str_eq(column->component, moss ? "moss" : "grass");
        ck_assert_uint_eq(column->manager, entity ? BP_NONE : rig.api->world->component(world, column->component));
        found |= 1u << (entity ? 0 : moss ? 1 : 2 + column->field);
    }
    ck_assert_uint_eq(found, 0x1f);
    ck_assert_msg(world_check(&world->rows, text, sizeof text), "%s", text);
}
END_TEST

START_TEST(where_rows_have_moved_from_the_pages_are_closed)
{
    char text[256];
    bp_entity_t entities[8];
    begin(0);
    create("grass", entities, 4);
    create("moss", entities + 4, 1);
    fence_lay(&fence, worlds, 1);
    char *left = run_of("grass")->columns[1], *stays = run_of("moss")->columns[1];
    create("grass", entities + 5, 1);
    ck_assert(run_of("grass")->columns[1] != left && can_write(left)); /* until they are laid next */
    ck_assert(fence_explain(&fence, (uintptr_t)left + 4 * sizeof(float), "read", text, sizeof text));
    ck_assert_str_eq(text, "it read behind the last of 4 rows, to row 4 of the column 'height' of 'grass'");
    fence_lay(&fence, worlds, 1);
    ck_assert(!can_read(left) && can_write(stays) && can_write(run_of("grass")->columns[1]));
    ck_assert_uint_eq(fence.count, 4 + 2 + 4);
    ck_assert_ptr_eq(run_of("moss")->columns[1], stays);
    check_column("grass", 1, 5, 16);
    ck_assert(fence_explain(&fence, (uintptr_t)left, "read", text, sizeof text));
    ck_assert_str_eq(text, "it read at an address that it has kept since the rows moved, of the column 'height' of "
                           "'grass'");
    fence_lay(&fence, worlds, 1);
    ck_assert(!can_read(left) && can_write(stays) && fence.count == 10);
}
END_TEST

START_TEST(the_rows_of_all_worlds_are_laid)
{
    bp_entity_t e;
    begin(0);
    create("grass", &e, 1);
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "other"});
    WORKS(rig.host, bp_world_use_component(world, "moss"));
    worlds[1] = &world->rows;
    create("moss", &e, 1);
    fence_lay(&fence, worlds, 2);
    ck_assert_uint_eq(fence.count, 6);
    check_column("moss", 1, 1, 16);
    fence_lay(&fence, worlds, 2);
    ck_assert_uint_eq(fence.count, 6);
    check_column("moss", 1, 1, 16);
}
END_TEST

static bool is_laid(const fence_t *laid, const char *type)
{
    const run_t *run = run_of(type);
    uint32_t lies = 0;
    for (uint32_t i = 0; i < laid->count; i++)
        lies += laid->columns[i].lies && laid->columns[i].cells == run->columns[0];
    return lies == 1;
}

/* The columns of a component that comes with the change on trial are laid before any verb of the new version is
 * called. */
START_TEST(a_lookout_lays_what_there_is_when_it_begins_and_when_the_change_has_been_made)
{
    static lookout_t lookout;
    bp_entity_t e;
    begin(0);
    plugins_t *plugins = &rig.host->loader.plugins;
    create("grass", &e, 1);
    lookout_begin(&lookout, &rig.host->reload, first, 1);
    ck_assert_ptr_eq(plugins->watch, &lookout.watch);
    ck_assert_ptr_eq(plugins->base->handing, &lookout.handing);
    ck_assert(is_laid(&lookout.fence, "grass"));
    ck_assert(lookout.slack.world_count == 1 && lookout.slack.worlds[0] == &world->rows);
    create("moss", &e, 1);
    ck_assert(!is_laid(&lookout.fence, "moss"));
    lookout_lay_changed(&lookout);
    ck_assert(is_laid(&lookout.fence, "grass") && is_laid(&lookout.fence, "moss"));
    create("stone", &e, 1);
    lookout_lay(&lookout);
    ck_assert(is_laid(&lookout.fence, "grass") && is_laid(&lookout.fence, "moss") && is_laid(&lookout.fence, "stone"));
    lookout_end(&lookout);
    ck_assert_ptr_null(plugins->watch);
    ck_assert_ptr_null(plugins->base->handing);
}
END_TEST

/* All at first; then of each kind the first ones, and some. With everything: the first ones of the plugins on trial
 * that are handed no rows. */
START_TEST(of_very_many_calls_some_of_each_kind_are_looked_at)
{
    static lookout_t lookout;
    static plugin_t without_rows;
    char text[256];
    begin(0);
    lookout_begin(&lookout, &rig.host->reload, first, 1);
    const call_watch_t *watch = rig.host->loader.plugins.watch;
    for (uint32_t kind = 0; kind < 2; kind++) {
        const call_view_t call = {.plugin = first[0], .rows = kind == 0 ? CALL_UNIT : CALL_NO_ROWS};
        for (uint32_t i = 0; i < LOOKOUT_ALL + 10 * LOOKOUT_EACH; i++) {
            bool looks = watch->before(watch->data, &call);
            EXPECT(looks == (i < (kind == 0 ? LOOKOUT_ALL : LOOKOUT_FIRST) || i % LOOKOUT_EACH == 0), "call %u", i);
            EXPECT(lookout.whole == (kind == 1 && i < LOOKOUT_WHOLE), "call %u", i);
            ck_assert(watch->after(watch->data, text, sizeof text));
        }
    }
    ck_assert(watch->before(watch->data, &(call_view_t){.plugin = &without_rows, .rows = CALL_NO_ROWS}));
    ck_assert(!lookout.whole);
    ck_assert(watch->after(watch->data, text, sizeof text));
    lookout_end(&lookout);
}
END_TEST

/* Kinds are told apart, so that the many calls of some do not hide the first ones of another. */
START_TEST(the_first_call_of_each_of_many_kinds_is_looked_at)
{
    enum { KINDS = 150, APART = 8 };
    static lookout_t lookout;
    static char systems[KINDS * KINDS * APART]; /* only their addresses count, at no even distances */
    char text[256];
    begin(0);
    lookout_begin(&lookout, &rig.host->reload, first, 1);
    const call_watch_t *watch = rig.host->loader.plugins.watch;
    for (uint32_t kind = 0; kind < KINDS; kind++) {
        const call_view_t call = {.plugin = first[0],
                                  .system = (const struct system_t *)(const void *)&systems[kind * kind * APART],
                                  .rows = CALL_NO_ROWS};
        for (uint32_t i = 0; i < LOOKOUT_ALL; i++) {
            watch->before(watch->data, &call);
            EXPECT(i > 0 || (lookout.looks && lookout.whole), "kind %u", kind);
            ck_assert(watch->after(watch->data, text, sizeof text));
        }
    }
    lookout_end(&lookout);
}
END_TEST

START_TEST(a_fence_gives_back_its_memory_and_without_memory_lays_nothing)
{
    heap_t heap = {.refuse_first = 1, .refuse_last = UINT64_MAX};
    bp_allocator_i refusing = heap_allocator(&heap);
    bp_entity_t e;
    memory_t poor;
    fence_t none;
    begin(0);
    create("grass", &e, 1);
    void *column = run_of("grass")->columns[1];
    memory_init(&poor, "poor", &refusing);
    fence_init(&none, &poor, first, 1);
    fence_lay(&none, worlds, 1);
    fence_shut(&none, &(fence_rights_t){.prototype = 1});
    ck_assert(none.count == 0 && run_of("grass")->columns[1] == column);
    fence_lay(&fence, worlds, 1);
    ck_assert(run_of("grass")->columns[1] != column && memory_bytes(&account) > 0);
    fence_free(&fence);
    ck_assert_uint_eq(memory_bytes(&account), 0);
    ck_assert(fence.count == 0 && fence.columns == NULL && fence.pattern == NULL);
}
END_TEST

/* --- the pattern -------------------------------------------------------------------------------------------------- */

/* Bytes that are written, from the cells' end, or `before` from their beginning; and what is said of them. */
static const struct { uint32_t column; bool before; int32_t bytes[2]; const char *said; } writes[] = {
    {1, false, {0, 3}, "it wrote behind the last of 15 rows, to row 15 of the column 'height' of 'grass'"},
    {1, false, {3, 3}, "it wrote behind the last of 15 rows, to row 15 of the column 'height' of 'grass'"},
    {1, false, {4, 9}, "it wrote behind the last of 15 rows, to rows 16 to 17 of the column 'height' of 'grass'"},
    {1, false, {15, 15}, "it wrote behind the last of 15 rows, to row 18 of the column 'height' of 'grass'"},
    {2, false, {2, 8}, "it wrote behind the last of 15 rows, to rows 17 to 23 of the column 'kind' of 'grass'"},
    {0, false, {0, 7}, "it wrote behind the last of 15 rows, to row 15 of the column of the entities"},
    {1, true, {1, 1}, "it wrote before the first of 15 rows, 1 bytes before the beginning of the column 'height' of "
                      "'grass'"},
    {1, true, {8, 5}, "it wrote before the first of 15 rows, 8 bytes before the beginning of the column 'height' of "
                      "'grass'"},
    {3, true, {48, 1}, "it wrote before the first of 15 rows, 48 bytes before the beginning of the column 'wave' of "
                       "'grass'"},
    {3, true, {4144, 49}, "it wrote before the first of 15 rows, 4144 bytes before the beginning of the column 'wave' "
                          "of 'grass'"},
};

START_TEST(what_is_written_over_the_pattern_is_told)
{
    bp_entity_t entities[FEW];
    char text[256] = "";
    begin(0);
    create("grass", entities, FEW);
    fence_lay(&fence, worlds, 1);
    fence_fill(&fence, &handed_nothing);
    ck_assert(fence_is_whole(&fence, text, sizeof text));
    ck_assert_str_eq(text, "");
    const fence_column_t *wave = column_of("grass", 3);
    ck_assert(os_page_size() != 4096 || wave->cells - wave->pages == 4144); /* its pattern takes more than a page */
    for (uint32_t i = 0; i < COUNT(writes); i++) {
        fence_column_t *column = column_of("grass", writes[i].column);
        char *from = writes[i].before ? column->cells : end_of(column), *at[2];
        for (uint32_t k = 0; k < 2; k++) {
            at[k] = writes[i].before ? from - writes[i].bytes[k] : from + writes[i].bytes[k];
            *at[k] = 0;
        }
        ck_assert_msg(!fence_is_whole(&fence, text, sizeof text), "write %u", i);
        ck_assert_str_eq(text, writes[i].said);
        *at[0] = *at[1] = (char)PATTERN;
        ck_assert(fence_is_whole(&fence, text, sizeof text));
    }
}
END_TEST

/* Rows that came or went during a call are no harm, whatever that did to the pattern; with the next call it is looked
 * at again. */
START_TEST(a_run_that_has_changed_since_the_pattern_was_made_is_passed_over)
{
    bp_entity_t entities[4];
    char text[256];
    begin(0);
    create("grass", entities, 4);
    create("moss", entities, 1);
    fence_lay(&fence, worlds, 1);
    fence_fill(&fence, &handed_nothing);
    create("grass", entities, 1); /* which leaves the pages */
    *end_of(column_of("moss", 1)) = 0;
    ck_assert(!fence_is_whole(&fence, text, sizeof text));
    fence_fill(&fence, &handed_nothing);
    ck_assert(fence_is_whole(&fence, text, sizeof text));
    fence_lay(&fence, worlds, 1);
    fence_fill(&fence, &handed_nothing);
    fence_column_t *column = column_of("grass", 1);
    uint32_t version = run_of("grass")->version;
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, entities, 1), 1);
    ck_assert(run_of("grass")->version != version);
    *end_of(column) = 0;
    ck_assert(fence_is_whole(&fence, text, sizeof text));
    fence_fill(&fence, &handed_nothing);
    *end_of(column) = 0;
    ck_assert(!fence_is_whole(&fence, text, sizeof text));
}
END_TEST

/* Columns that have no pages of their own have the pattern in their room behind the last row (slack.h). */
static const struct { uint32_t column, byte; const char *said; } behind[] = {
    {0, 0, "it wrote behind the last of 4 rows, to row 4 of the column 'entity' of 'entity'"},
    {1, 4, "it wrote behind the last of 4 rows, to row 5 of the column 'height' of 'grass'"},
    {3, WAVE * 4 - 1, "it wrote behind the last of 4 rows, to row 4 of the column 'wave' of 'grass'"},
    {4, 127, "it wrote behind the last of 4 rows, to row 19 of the column 'number' of 'moss'"},
};

START_TEST(what_is_written_into_the_room_behind_a_column_is_told)
{
    bp_entity_t entities[4];
    char text[256] = "";
    slack_t slack;
    begin(0);
    create("stone", entities, 1);
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "grass", "moss", NULL, NULL), entities, 4));
    size_t before = memory_bytes(&account);
    slack_init(&slack, &account, worlds, 1, 1); /* one run a time */
    slack_make(&slack, &fence);
    const run_t *run = world->rows.runs[1];
    ck_assert(world->rows.run_count == 2 && run->count == 4 && run->capacity >= 4 + SLACK_ROWS);
    for (uint32_t i = 0; i < COUNT(behind); i++) {
        char *byte = (char *)run->columns[behind[i].column] + (size_t)4 * run->sizes[behind[i].column] + behind[i].byte;
        slack_fill(&slack, NULL, 0, false); /* of the other run */
        *byte = 0;
        ck_assert(slack_is_whole(&slack, text, sizeof text));
        slack_fill(&slack, NULL, 0, false);
        ck_assert(slack_is_whole(&slack, text, sizeof text));
        ck_assert_str_eq(text, "");
        *byte = 0;
        ck_assert(!slack_is_whole(&slack, text, sizeof text));
        ck_assert_str_eq(text, behind[i].said);
        text[0] = '\0';
    }
    ck_assert_uint_gt(memory_bytes(&account), before);
    slack_free(&slack);
    ck_assert_uint_eq(memory_bytes(&account), before);
}
END_TEST

/* --- closed to writing -------------------------------------------------------------------------------------------- */

/* Everything of the component that `data` names, or its field, as "grass" or "grass.height". */
static bool may_write(const void *data, const fence_column_t *column)
{
    const char *allowed = data;
    size_t length = strlen(column->component);
    return column->manager != BP_NONE && strncmp(allowed, column->component, length) == 0 &&
           (allowed[length] == '\0' || strcmp(allowed + length + 1, column->name) == 0);
}

static uint32_t count_shut(void)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < fence.count; i++) {
        const fence_column_t *column = &fence.columns[i];
        ck_assert(can_read(column->cells));
        ck_assert(can_write(column->cells) == !column->shut);
        count += column->shut;
    }
    return count;
}

/* Grass, and so many runs of stones, with two columns each. */
static void create_groups(uint32_t groups)
{
    bp_entity_t entities[4];
    create("grass", entities, 4);
    for (uint32_t i = 0; i < groups; i++) {
        char name[24];
        snprintf(name, sizeof name, "stone %u", i);
        uint32_t key = key_of(world, "stone", name), prototype;
        WORKS(rig.host, rig.api->world->prototype(world, &key, 1, &prototype));
        WORKS(rig.host, rig.api->world->create(world, prototype, entities, 2));
    }
}

static void lay_groups(void)
{
    begin(0);
    create_groups(GROUPS);
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 4 + 2 * GROUPS);
}

START_TEST(a_call_may_write_what_it_may_and_others_are_closed_in_turn)
{
    bool was_shut[4 + 2 * GROUPS] = {false};
    const fence_rights_t rights = {.may_write = may_write, .data = "grass.height"};
    fence_rights_t of_grass = rights;
    lay_groups();
    of_grass.world = &world->rows;
    of_grass.prototype = run_of("grass")->prototype;
    for (uint32_t round = 0; round < 2; round++) {
        fence_shut(&fence, &of_grass);
        ck_assert_uint_eq(count_shut(), 3 + FENCE_SHUT); /* entities, kind, wave */
        ck_assert(!column_of("grass", 1)->shut && column_of("grass", 0)->shut && column_of("grass", 2)->shut &&
                  column_of("grass", 3)->shut);
        for (uint32_t i = 0; i < fence.count; i++)
            was_shut[i] = was_shut[i] || fence.columns[i].shut;
        fence_open(&fence);
        ck_assert_uint_eq(count_shut(), 0);
    }
    for (uint32_t i = 0; i < fence.count; i++)
        ck_assert(was_shut[i] == (&fence.columns[i] != column_of("grass", 1)));
    fence_shut(&fence, &rights); /* a call that was handed no rows */
    ck_assert_uint_eq(count_shut(), FENCE_SHUT);
    fence_open(&fence);
}
END_TEST

/* Whichever column comes first in memory, and whoever's turn it is among the others. */
static bool may_write_nothing(const void *data, const fence_column_t *column)
{
    (void)data, (void)column;
    return false;
}

START_TEST(what_a_call_was_handed_and_may_not_write_is_closed_wherever_it_lies)
{
    fence_rights_t rights = {.may_write = may_write_nothing, .data = NULL};
    lay_groups();
    rights.world = &world->rows;
    for (uint32_t i = 0; i < fence.count; i++) {
        rights.prototype = fence.columns[i].prototype;
        fence.turn = (i + 1) % fence.count;
        fence_shut(&fence, &rights);
        ck_assert_uint_eq(fence.columns[i].shut, 1);
        for (uint32_t k = 0; k < fence.count; k++)
            EXPECT(fence.columns[k].shut || fence.columns[k].prototype != rights.prototype, "column %u is open", k);
        fence_open(&fence);
        ck_assert_uint_eq(count_shut(), 0);
    }
}
END_TEST

START_TEST(a_call_within_a_call_may_write_what_it_may)
{
    const fence_rights_t within = {.may_write = may_write, .data = "grass"};
    fence_rights_t rights = {.may_write = may_write, .data = ""};
    lay_groups();
    rights.world = &world->rows;
    rights.prototype = run_of("grass")->prototype;
    fence_shut(&fence, &rights);
    ck_assert_uint_eq(count_shut(), 4 + FENCE_SHUT);
    fence_open_for(&fence, &within);
    ck_assert_uint_eq(count_shut(), 1 + FENCE_SHUT); /* the entities */
    ck_assert(!column_of("grass", 1)->shut && !column_of("grass", 3)->shut && column_of("grass", 0)->shut);
    fence_open(&fence);
    ck_assert_uint_eq(count_shut(), 0);
}
END_TEST

START_TEST(a_column_is_opened_at_an_address_and_no_other_one)
{
    fence_rights_t rights = {.may_write = may_write, .data = ""};
    lay_groups();
    rights.world = &world->rows;
    rights.prototype = run_of("grass")->prototype;
    fence_shut(&fence, &rights);
    char *height = column_of("grass", 1)->cells;
    ck_assert(fence_permit(&fence, height + 5));
    ck_assert(can_write(height));
    ck_assert_uint_eq(count_shut(), 3 + FENCE_SHUT);
    ck_assert(!fence_permit(&fence, height + 5)); /* it is open, so the address is wrong for another reason */
    ck_assert(!fence_permit(&fence, &rights));
    ck_assert_uint_eq(count_shut(), 3 + FENCE_SHUT);
}
END_TEST

/* --- very many columns, several worlds ---------------------------------------------------------------------------- */

/* A second world with the same components, so that its prototypes have the same numbers. */
static bp_world_o *open_second(void)
{
    bp_world_o *first_world = world, *second;
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "second"});
    WORKS(rig.host, bp_world_use_component(world, "stone"));
    WORKS(rig.host, bp_world_use_component(world, "grass"));
    worlds[1] = &world->rows;
    second = world;
    world = first_world;
    return second;
}

static void create_in(bp_world_o *where, const char *type)
{
    bp_world_o *before = world;
    bp_entity_t entities[4];
    world = where;
    create(type, entities, 4);
    world = before;
}

START_TEST(rows_of_another_world_are_not_those_that_a_call_was_handed)
{
    fence_rights_t rights = {.may_write = may_write_nothing, .data = NULL};
    begin(0);
    bp_world_o *main_world = world, *second = open_second();
    create_groups(GROUPS);
    world = second;
    create_groups(GROUPS);
    world = main_world;
    fence_lay(&fence, worlds, 2);
    ck_assert_uint_eq(fence.count, 2 * (4 + 2 * GROUPS));
    rights.prototype = run_of("grass")->prototype;
    for (uint32_t w = 0; w < 2; w++) {
        rights.world = worlds[w];
        ck_assert_uint_eq(worlds[w]->runs[0]->prototype, rights.prototype);
        fence_shut(&fence, &rights);
        ck_assert_uint_eq(count_shut(), 4 + FENCE_SHUT);
        for (uint32_t i = 0; i < fence.count; i++) {
            const fence_column_t *column = &fence.columns[i];
            ck_assert(column->shut || column->world != worlds[w] || column->prototype != rights.prototype);
        }
        fence_open(&fence);
    }
}
END_TEST

START_TEST(one_world_is_laid_anew_while_the_others_stay_where_they_are)
{
    bp_entity_t e;
    begin(0);
    bp_world_o *second = open_second();
    create("grass", &e, 1);
    create_in(second, "grass");
    fence_lay(&fence, worlds, 2);
    const void *there = worlds[1]->runs[0]->columns[1];
    ck_assert(fence_has(&fence, worlds[0]->runs[0]) && fence_has(&fence, worlds[1]->runs[0]));
    create("grass", &e, 1); /* which leaves its places */
    ck_assert(!fence_has(&fence, worlds[0]->runs[0]));
    fence_lay_in(&fence, worlds[0]);
    ck_assert(fence_has(&fence, worlds[0]->runs[0]) && fence_has(&fence, worlds[1]->runs[0]));
    ck_assert_ptr_eq(worlds[1]->runs[0]->columns[1], there);
    ck_assert(can_write(worlds[1]->runs[0]->columns[1]));
    create_in(second, "stone");
    fence_lay_in(&fence, worlds[0]);
    ck_assert(!fence_has(&fence, worlds[1]->runs[1]));
}
END_TEST

/* However many columns there are, those of the rows that a call is handed are looked at, and the others by and by. */
START_TEST(of_very_many_columns_some_are_looked_at_with_each_call_and_all_in_turn)
{
    enum { MANY = FENCE_LOOKED, ROUNDS = 4 };
    char text[256];
    uint32_t found = 0, last = BP_NONE;
    begin(0);
    create_groups(MANY);
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 4 + 2 * MANY);
    fence_rights_t rights = {.world = worlds[0], .prototype = fence.columns[0].prototype};
    char *handed = end_of(&fence.columns[0]), *other = end_of(column_of("grass", 1));
    ck_assert(run_of("grass")->prototype != rights.prototype);
    for (uint32_t call = 0; call < ROUNDS * 3; call++) {
        fence_fill(&fence, &rights);
        *handed = 0;
        ck_assert(!fence_is_whole(&fence, text, sizeof text));
        *handed = (char)PATTERN;
        *other = 0;
        if (!fence_is_whole(&fence, text, sizeof text)) {
            found++;
            ck_assert(last == BP_NONE || call - last <= 3);
            last = call;
        }
        *other = (char)PATTERN;
        ck_assert(fence_is_whole(&fence, text, sizeof text));
    }
    ck_assert(found >= ROUNDS && found < ROUNDS * 3);
    rights.all = true;
    for (uint32_t call = 0; call < 3; call++) {
        fence_fill(&fence, &rights);
        *other = 0;
        ck_assert(!fence_is_whole(&fence, text, sizeof text));
        *other = (char)PATTERN;
    }
}
END_TEST

START_TEST(columns_of_a_world_of_few_are_looked_at_with_each_call_there)
{
    char text[256];
    begin(0);
    create_groups(FENCE_LOOKED);
    bp_world_o *second = open_second();
    create_in(second, "stone");
    fence_lay(&fence, worlds, 2);
    ck_assert(fence_has(&fence, worlds[1]->runs[0]));
    char *byte = (char *)worlds[1]->runs[0]->columns[1] + worlds[1]->runs[0]->count * worlds[1]->runs[0]->sizes[1];
    const fence_rights_t there = {.world = worlds[1]}, elsewhere = {.world = worlds[0]};
    uint32_t found = 0;
    for (uint32_t call = 0; call < 8; call++) {
        fence_fill(&fence, &there);
        *byte = 0;
        ck_assert(!fence_is_whole(&fence, text, sizeof text));
        fence_fill(&fence, &elsewhere);
        *byte = 0;
        found += !fence_is_whole(&fence, text, sizeof text);
    }
    ck_assert(found < 8);
}
END_TEST

START_TEST(a_fence_is_laid_up_to_its_bound)
{
    begin(0);
    create_groups(GROUPS);
    fence.most = 4 + 2 * 3;
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 4 + 2 * 3);
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 4 + 2 * 3);
    fence.most = FENCE_COLUMNS;
    fence_lay(&fence, worlds, 1);
    ck_assert_uint_eq(fence.count, 4 + 2 * GROUPS);
}
END_TEST

/* Room is made behind the columns that have no pages of their own, and behind those alone. */
START_TEST(of_very_many_runs_the_room_behind_those_that_a_call_was_handed_is_looked_at)
{
    slack_t slack;
    char text[256];
    begin(0);
    create_groups(GROUPS);
    fence.most = 4;
    fence_lay(&fence, worlds, 1);
    ck_assert(fence_has(&fence, run_of("grass")));
    slack_init(&slack, &account, worlds, 1, 2);
    slack_make(&slack, &fence);
    ck_assert(fence_has(&fence, run_of("grass")));
    const run_t *last = world->rows.runs[world->rows.run_count - 1];
    ck_assert(last->capacity >= last->count + SLACK_ROWS);
    char *byte = (char *)last->columns[1] + (size_t)last->count * last->sizes[1];
    uint32_t found = 0;
    for (uint32_t call = 0; call < 2 * (GROUPS + 1); call++) {
        slack_fill(&slack, worlds[0], last->prototype, false);
        *byte = 0;
        ck_assert(!slack_is_whole(&slack, text, sizeof text));
        slack_fill(&slack, NULL, 0, false);
        *byte = 0;
        found += !slack_is_whole(&slack, text, sizeof text);
        slack_fill(&slack, worlds[0], 0, false); /* which has few */
        *byte = 0;
        ck_assert(!slack_is_whole(&slack, text, sizeof text));
        slack_fill(&slack, NULL, 0, true);
        *byte = 0;
        ck_assert(!slack_is_whole(&slack, text, sizeof text));
    }
    ck_assert(found > 0 && found < 2 * (GROUPS + 1));
    slack_free(&slack);
}
END_TEST

/* --- telling ------------------------------------------------------------------------------------------------------ */

static void expect_told(const char *address, const char *expected)
{
    char text[256] = "";
    ck_assert(fence_explain(&fence, (uintptr_t)address, "wrote", text, sizeof text) == (expected[0] != '\0'));
    ck_assert_str_eq(text, expected);
}

START_TEST(an_address_is_told_with_its_row_and_column)
{
    bp_entity_t entities[4];
    char text[256];
    begin(0);
    create("grass", entities, 4);
    fence_lay(&fence, worlds, 1);
    const fence_column_t *e = column_of("grass", 0), *height = column_of("grass", 1), *kind = column_of("grass", 2);
    ck_assert(e == &fence.columns[0] && height == e + 1 && kind == e + 2); /* one behind the other */
    expect_told(e->cells + 8, "it wrote to row 1 of 4 of the column of the entities, which no plugin may write");
    expect_told(height->cells, "it wrote to row 0 of 4 of the column 'height' of 'grass', which it has not declared to "
                               "write");
    expect_told(height->cells + 15, "it wrote to row 3 of 4 of the column 'height' of 'grass', which it has not "
                                    "declared to write");
    expect_told(height->cells + 16, "it wrote behind the last of 4 rows, to row 4 of the column 'height' of 'grass'");
    expect_told(height->cells - 1, "it wrote before the first of 4 rows, 1 bytes before the beginning of the column "
                                   "'height' of 'grass'");
    char *border = height->pages + height->bytes + FENCE_CLOSED;
    ck_assert_ptr_eq(border, kind->pages - FENCE_CLOSED);
    snprintf(text, sizeof text, "it wrote before the first of 4 rows, %zu bytes before the beginning of the column "
             "'kind' of 'grass'", (size_t)(kind->cells - border));
    expect_told(border, text);
    snprintf(text, sizeof text, "it wrote behind the last of 4 rows, to row %zu of the column 'height' of 'grass'",
             (size_t)(border - 1 - height->cells) / 4);
    expect_told(border - 1, text);
    expect_told(e->pages - FENCE_CLOSED - 1, "");
    const fence_column_t *last = &fence.columns[3];
    const char *end = last->pages + last->bytes + FENCE_CLOSED;
    expect_told(end, "");
    ck_assert(fence_explain(&fence, (uintptr_t)end - 1, "read", text, sizeof text));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &entities[3], 1), 1); /* and its row goes at once */
    ck_assert_uint_eq(run_of("grass")->count, 3);
    expect_told(height->cells + 8, "it wrote to row 2 of 3 of the column 'height' of 'grass', which it has not "
                                   "declared to write");
    expect_told(height->cells + 12, "it wrote behind the last of 3 rows, to row 3 of the column 'height' of 'grass'");
}
END_TEST

Suite *fence_suite(void)
{
    Suite *suite = suite_create("fence");
    TCase *tests = tcase_create("fence");
    suite_add_tcase(suite, tests);
    tcase_set_timeout(tests, 30);
    tcase_add_loop_test(tests, each_column_has_pages_of_its_own_and_a_pattern_around_it, 0, 5);
    tcase_add_loop_test(tests, rows_of_the_plugins_on_trial_are_laid_first, 0, 4);
    tcase_add_test(tests, columns_of_rows_of_several_components_are_called_by_their_own);
    tcase_add_test(tests, where_rows_have_moved_from_the_pages_are_closed);
    tcase_add_test(tests, the_rows_of_all_worlds_are_laid);
    tcase_add_test(tests, a_lookout_lays_what_there_is_when_it_begins_and_when_the_change_has_been_made);
    tcase_add_test(tests, of_very_many_calls_some_of_each_kind_are_looked_at);
    tcase_add_test(tests, the_first_call_of_each_of_many_kinds_is_looked_at);
    tcase_add_test(tests, a_fence_gives_back_its_memory_and_without_memory_lays_nothing);
    tcase_add_test(tests, what_is_written_over_the_pattern_is_told);
    tcase_add_test(tests, a_run_that_has_changed_since_the_pattern_was_made_is_passed_over);
    tcase_add_test(tests, what_is_written_into_the_room_behind_a_column_is_told);
    tcase_add_test(tests, a_call_may_write_what_it_may_and_others_are_closed_in_turn);
    tcase_add_test(tests, what_a_call_was_handed_and_may_not_write_is_closed_wherever_it_lies);
    tcase_add_test(tests, a_call_within_a_call_may_write_what_it_may);
    tcase_add_test(tests, a_column_is_opened_at_an_address_and_no_other_one);
    tcase_add_test(tests, rows_of_another_world_are_not_those_that_a_call_was_handed);
    tcase_add_test(tests, one_world_is_laid_anew_while_the_others_stay_where_they_are);
    tcase_add_test(tests, of_very_many_columns_some_are_looked_at_with_each_call_and_all_in_turn);
    tcase_add_test(tests, columns_of_a_world_of_few_are_looked_at_with_each_call_there);
    tcase_add_test(tests, a_fence_is_laid_up_to_its_bound);
    tcase_add_test(tests, of_very_many_runs_the_room_behind_those_that_a_call_was_handed_is_looked_at);
    tcase_add_test(tests, an_address_is_told_with_its_row_and_column);
    return suite;
}
