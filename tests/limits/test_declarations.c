/* test_declarations.c - everything that can be wrong with what a plugin declares: each is refused, with a sentence that
 * says what and what would be right, and then the host is as if nothing had been tried. And what lies just within the
 * limits is taken.
 *
 * Faults need no file: they are descriptors in tables here, given to the host as static plugins, which go the same way
 * through the loader as files from the descriptor on.
 */
#include "../suites.h"
#include "loading_stage.h"

#include <bp_loader.h>
#include <bp_task.h>

static bp_result_t stub_create(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities,
                               uint32_t count, const void *const *columns, uint32_t *slots)
{
    (void)m, (void)instance, (void)entities, (void)count, (void)columns, (void)slots;
    return BP_ERROR_FAILED;
}

static void stub_destroy(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)m, (void)slots, (void)count;
}

static uint32_t stub_count(bp_manager_t *m)
{
    (void)m;
    return 0;
}

static bp_result_t stub_get_all(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                                size_t stride)
{
    (void)m, (void)field, (void)slots, (void)count, (void)values, (void)stride;
    return BP_ERROR_FAILED;
}

static void stub_run(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

static void stub_run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

/* The plugin `bad`, as the host has it linked in, is refused; a good one that brings the same names is then
 * taken. */
static void expect_static_refused(const bp_plugin_head_t *bad, bp_result_t code, const char *const *says)
{
    static const bp_component_i good_components[] = {{.name = "before"}, {.name = "thing"}};
    static const bp_system_i good_systems[] = {{.name = "system", .run_all = stub_run_all}};
    const bp_plugin_head_t good =
        BP_PLUGIN_HEAD("good", (&(const bp_plugin_desc_t){.components = BP_LIST(good_components),
                                                          .systems = BP_LIST(good_systems)}));
    const bp_plugin_head_t *plugins[] = {bad, &good};
    begin_with(plugins, 2);
    EXPECT_REFUSED(code, "bad", NULL, 0, "bad: ", says[0], says[1], says[2]);
    expect_no_component("before");
    expect_no_component("thing");
    expect_loaded("good");
    end();
}

static const char long_name[] = "a23456789_123456789_123456789_123456789_123456789_123456789_1234";

static const struct {
    bp_field_t fields[2];
    bp_result_t code;
    const char *says[3];
} field_faults[] = {
    {{{.name = NULL, .type = BP_F32}}, BP_ERROR_ARGUMENT, {"field's name", "letters, digits or underscores"}},
    {{{.name = "", .type = BP_F32}}, BP_ERROR_ARGUMENT, {"field's name", "1 to 63"}},
    {{{.name = "two words", .type = BP_F32}}, BP_ERROR_ARGUMENT, {"'two words'", "letters, digits or underscores"}},
    {{{.name = "caf\303\251", .type = BP_F32}}, BP_ERROR_ARGUMENT, {"letters, digits or underscores"}},
    {{{.name = "a.b", .type = BP_F32}}, BP_ERROR_ARGUMENT, {"'a.b'"}},
    {{{.name = "a-b", .type = BP_F32}}, BP_ERROR_ARGUMENT, {"'a-b'"}},
    {{{.name = long_name, .type = BP_F32}}, BP_ERROR_ARGUMENT, {"1 to 63"}},
    {{{.name = "x", .type = BP_TYPE_NONE}}, BP_ERROR_TYPE, {"'x'", "0 is no type"}},
    {{{.name = "x", .type = BP_TYPE_COUNT}}, BP_ERROR_TYPE, {"'x'", "24 is no type", "23 is dvec4"}},
    {{{.name = "x", .type = UINT32_MAX}}, BP_ERROR_TYPE, {"'x'", "is no type"}},
    {{{.name = "x", .type = BP_F32, .initial = "one"}}, BP_ERROR_TYPE, {"'x'", "'one' is not a number"}},
    {{{.name = "x", .type = BP_F32, .initial = "1e99"}}, BP_ERROR_TYPE, {"'x'", "'1e99'"}},
    {{{.name = "x", .type = BP_U32, .initial = "-1"}}, BP_ERROR_TYPE, {"'x'", "'-1' is not a whole number"}},
    {{{.name = "x", .type = BP_VEC3, .initial = "1 2"}}, BP_ERROR_TYPE, {"'x'", "3 numbers"}},
    {{{.name = "x", .type = BP_VEC3, .initial = "1 2 3 4"}}, BP_ERROR_TYPE, {"'x'", "3 numbers"}},
    {{{.name = "x", .type = BP_COLOUR, .initial = "#12345"}}, BP_ERROR_TYPE, {"'x'", "#rrggbb"}},
    {{{.name = "x", .type = BP_BOOL, .initial = "2"}}, BP_ERROR_TYPE, {"'x'", "true or false"}},
    {{{.name = "x", .type = BP_F32, .initial = "-1", .min = "0"}},
     BP_ERROR_RANGE,
     {"'x'", "x = -1 is outside its range", "at least 0"}},
    {{{.name = "x", .type = BP_VEC2, .initial = "0 9", .max = "8"}},
     BP_ERROR_RANGE,
     {"'x'", "x = 9 is outside its range", "at most 8"}},
    {{{.name = "x", .type = BP_I32, .min = "1"}}, BP_ERROR_RANGE, {"'x'", "x = 0 is outside its range", "at least 1"}},
    {{{.name = "x", .type = BP_F32, .min = "2", .max = "1"}}, BP_ERROR_RANGE, {"'x'", "min 2 is greater than max 1"}},
    {{{.name = "x", .type = BP_F32, .min = "little"}}, BP_ERROR_TYPE, {"'x'", "'little' is not a number"}},
    {{{.name = "x", .type = BP_I32, .max = "1.5"}}, BP_ERROR_TYPE, {"'x'", "'1.5' is not a whole number"}},
    {{{.name = "x", .type = BP_F32, .max = "nan"}}, BP_ERROR_TYPE, {"'x'", "'nan' is not a number"}},
    {{{.name = "x", .type = BP_STRING, .min = "a"}}, BP_ERROR_TYPE, {"'x'", "a string has no limits"}},
    {{{.name = "x", .type = BP_BOOL, .max = "1"}}, BP_ERROR_TYPE, {"'x'", "a bool has no limits"}},
    {{{.name = "x", .type = BP_F32}, {.name = "x", .type = BP_F64}}, BP_ERROR_EXISTS, {"'x'", "two "}},
    {{{.name = "x", .type = BP_F32, .flags = 1u << 14}}, BP_ERROR_ABI, {"'x'", "flags 0x4000"}},
    {{{.name = "x", .type = BP_F32, .count = 65537}}, BP_ERROR_LIMIT, {"'x'", "65537 elements", "at most 65536"}},
    {{{.name = "x", .type = BP_F32, .count = 2, .flags = BP_FIELD_LIST}},
     BP_ERROR_ARGUMENT,
     {"'x'", "a list and has a count"}},
    {{{.name = "x", .type = BP_ENTITY, .count = 2, .flags = BP_FIELD_PARENT}}, BP_ERROR_ARGUMENT, {"'x'", "one value"}},
    {{{.name = "x", .type = BP_STRING, .flags = BP_FIELD_LIST | BP_FIELD_LABEL}},
     BP_ERROR_ARGUMENT,
     {"'x'", "one value"}},
    {{{.name = "x", .type = BP_F32, .flags = BP_FIELD_LIST, .initial = "[1]"}},
     BP_ERROR_ARGUMENT,
     {"'x'", "a list begins empty"}},
    {{{.name = "x", .type = BP_F32, .count = 2, .initial = "[1, 2, 3]"}},
     BP_ERROR_TYPE,
     {"'x'", "it has 2 elements, not 3"}},
    {{{.name = "x", .type = BP_F32, .count = 2, .initial = "[1, 9]", .max = "8"}},
     BP_ERROR_RANGE,
     {"'x'", "item 1: x = 9"}},
    {{{.name = "x", .type = BP_U8, .values = "a b a"}}, BP_ERROR_EXISTS, {"'x'", "'a' stands twice"}},
    {{{.name = "x", .type = BP_F32, .flags = BP_FIELD_PARENT}}, BP_ERROR_TYPE, {"'x'", "type is entity"}},
    {{{.name = "x", .type = BP_NAME, .flags = BP_FIELD_LABEL}}, BP_ERROR_TYPE, {"'x'", "type is string"}},
    {{{.name = "x", .type = BP_F32, .flags = 1u << 15}}, BP_ERROR_ABI, {"'x'", "flags 0x8000"}},
};
enum { FIELD_FAULTS = sizeof field_faults / sizeof field_faults[0] };

/* The second field of a row is there where the row says its type. */
static bp_field_list_t faulty_fields(int row)
{
    return (bp_field_list_t){field_faults[row].fields,
                             field_faults[row].fields[1].type != BP_TYPE_NONE ? 2 : 1, sizeof(bp_field_t)};
}

START_TEST(a_field_that_is_declared_wrongly_is_refused)
{
    const bp_component_i components[] = {{.name = "before"}, {.name = "thing", .fields = faulty_fields(_i)}};
    const bp_plugin_head_t bad = BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(components)}));
    const char *says[] = {field_faults[_i].says[0],
                          field_faults[_i].says[1] == NULL ? "component 'thing'" : field_faults[_i].says[1],
                          field_faults[_i].says[2]};
    expect_static_refused(&bad, field_faults[_i].code, says);
}
END_TEST

START_TEST(what_the_world_must_keep_is_no_field_of_storage_of_its_own)
{
    static const bp_storage_i storage = {.struct_size = sizeof storage,
                                         .create = stub_create,
                                         .destroy = stub_destroy,
                                         .count = stub_count,
                                         .get = stub_get_all};
    static const struct { bp_field_t fields[2]; const char *says; } faults[] = {
        {{{.name = "n", .type = BP_F32}, {.name = "x", .type = BP_F32, .flags = BP_FIELD_LIST}},
         "field 'x' is a list, which a component with storage of its own cannot have; declared ones can"},
        {{{.name = "n", .type = BP_F32}, {.name = "x", .type = BP_STRING, .count = 2}},
         "field 'x' is an array of string, which a component with storage of its own cannot have; declared ones can"},
        {{{.name = "n", .type = BP_F32}, {.name = "x", .type = BP_ENTITY, .count = 2}},
         "field 'x' is an array of entity, which a component with storage of its own cannot have; declared ones can"},
    };
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const bp_component_i components[] = {
            {.name = "thing", .fields = BP_LIST(faults[i].fields), .storage = &storage}};
        const bp_plugin_head_t bad =
            BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(components)}));
        expect_static_refused(&bad, BP_ERROR_TYPE, (const char *[]){"component 'thing': ", faults[i].says, NULL});
    }
}
END_TEST

START_TEST(an_option_that_is_declared_wrongly_is_refused)
{
    const bp_component_i components[] = {{.name = "thing"}};
    const bp_plugin_head_t bad =
        BP_PLUGIN_HEAD("bad",
                       (&(const bp_plugin_desc_t){.components = BP_LIST(components), .options = faulty_fields(_i)}));
    const char *says[] = {field_faults[_i].says[0],
                          field_faults[_i].says[1] == NULL ? "option" : field_faults[_i].says[1],
                          field_faults[_i].says[2]};
    expect_static_refused(&bad, field_faults[_i].code, says);
}
END_TEST

/* What a field may be and an option may not. */
START_TEST(an_option_has_one_value)
{
    static const bp_field_t options[][2] = {
        {{.name = "n", .type = BP_F32}, {.name = "x", .type = BP_F32, .count = 2}},
        {{.name = "n", .type = BP_F32}, {.name = "x", .type = BP_F32, .flags = BP_FIELD_LIST}},
    };
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        const bp_plugin_head_t bad =
            BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.options = BP_LIST(options[i])}));
        expect_static_refused(&bad, BP_ERROR_TYPE, (const char *[]){
            "its option list: option 'x' is an array or a list; an option has one value", NULL, NULL});
    }
}
END_TEST

#if !defined(_WIN32)
/* Addresses at which nothing lies, as a damaged file may have them. */
START_TEST(what_cannot_be_read_is_refused_with_its_address)
{
    const void *nowhere = (const void *)16;
    const bp_plugin_desc_t descs[] = {{.version = nowhere}, {.doc = nowhere},
                                      {.components = {nowhere, 1, sizeof(bp_component_i)}},
                                      {.systems = {nowhere, 1, sizeof(bp_system_i)}}};
    static const char *const says[] = {
        "a text of its descriptor lies at 0x10, where nothing can be read: its file is damaged, or the address is none",
        "a text of its descriptor lies at 0x10, where", "a list of its descriptor lies at 0x10, where",
        "a list of its descriptor lies at 0x10, where", "its descriptor lies at 0x10, where nothing can be read"};
    for (size_t i = 0; i < sizeof says / sizeof says[0]; i++) {
        const bp_plugin_head_t bad =
            BP_PLUGIN_HEAD("bad", i < sizeof descs / sizeof descs[0] ? &descs[i] : (const bp_plugin_desc_t *)nowhere);
        expect_static_refused(&bad, BP_ERROR_ABI, (const char *[]){says[i], NULL, NULL});
    }
}
END_TEST
#endif

static const bp_field_t one_field[] = {{.name = "x", .type = BP_F32}};
static const bp_component_i one_component[] = {{.name = "thing"}};

struct columns { float *x; const float *y; };
static const bp_field_t misplaced_fields[] = {{BP_FIELD_OF(struct columns, y)}, {BP_FIELD_OF(struct columns, x)}};

static const bp_storage_i empty_storage = {.struct_size = sizeof(bp_storage_i)};
static const bp_storage_i short_storage = {.struct_size = 8,
                                           .create = stub_create,
                                           .destroy = stub_destroy,
                                           .count = stub_count};
static const bp_storage_i no_destroy = {.struct_size = sizeof(bp_storage_i),
                                        .create = stub_create,
                                        .count = stub_count};
static const bp_storage_i no_create = {.struct_size = sizeof(bp_storage_i),
                                       .destroy = stub_destroy,
                                       .count = stub_count};
static const bp_storage_i no_get = {.struct_size = sizeof(bp_storage_i),
                                    .create = stub_create,
                                    .destroy = stub_destroy,
                                    .count = stub_count};
static const bp_storage_i no_count = {.struct_size = sizeof(bp_storage_i),
                                      .create = stub_create,
                                      .destroy = stub_destroy};
static const bp_storage_i whole_storage = {.struct_size = sizeof(bp_storage_i),
                                           .create = stub_create,
                                           .destroy = stub_destroy,
                                           .count = stub_count,
                                           .get = stub_get_all};

static bp_result_t stub_save(bp_manager_t *m, void **data, size_t *size)
{
    (void)m, (void)data, (void)size;
    return BP_ERROR_FAILED;
}

static bp_result_t stub_load(bp_manager_t *m, uint32_t version, const void *data, size_t size)
{
    (void)m, (void)version, (void)data, (void)size;
    return BP_ERROR_FAILED;
}

static bp_result_t stub_rows_added(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
    return BP_OK;
}

static void stub_rows_removed(const bp_run_t *rows, uint32_t count)
{
    (void)rows, (void)count;
}

static bp_result_t stub_rows_set(const bp_run_t *rows, uint32_t count, uint32_t field)
{
    (void)rows, (void)count, (void)field;
    return BP_OK;
}

static void stub_died(bp_manager_t *m, const bp_death_t *batch)
{
    (void)m, (void)batch;
}

static const bp_save_i saves_alone = {.save = stub_save}, loads_alone = {.load = stub_load};
static const bp_extension_t half_saved[] = {{BP_EXTENSION("bp_save", saves_alone)}};
static const bp_extension_t half_loaded[] = {{BP_EXTENSION("bp_save", loads_alone)}};
static const bp_rows_i rows_added = {.rows_added = stub_rows_added}, rows_removed = {.rows_removed = stub_rows_removed},
                       rows_set = {.rows_set = stub_rows_set};
static const bp_extension_t told_added[] = {{BP_EXTENSION("bp_rows", rows_added)}};
static const bp_extension_t told_removed[] = {{BP_EXTENSION("bp_rows", rows_removed)}};
static const bp_extension_t told_set[] = {{BP_EXTENSION("bp_rows", rows_set)}};

/* Requests for deaths; which of its fields a component names is judged by the field's type and shape. */
static const bp_field_t referring[] = {{.name = "to", .type = BP_ENTITY},
                                       {.name = "x", .type = BP_F32},
                                       {.name = "several", .type = BP_ENTITY, .count = 2},
                                       {.name = "any", .type = BP_ENTITY, .flags = BP_FIELD_LIST}};
static const bp_field_t referring_once[] = {{.name = "to", .type = BP_ENTITY}};
#define ASKS(name, ...) \
    static const bp_deaths_i name##_request = {.died = stub_died, __VA_ARGS__}; \
    static const bp_extension_t name[] = {{BP_EXTENSION("bp_deaths", name##_request)}}
ASKS(of_no_kind, .which = BP_DEATHS_REFERRED + 1);
ASKS(of_no_field, .which = BP_DEATHS_REFERRED);
ASKS(by_missing, .which = BP_DEATHS_REFERRED, .field = "nothing");
ASKS(by_number, .which = BP_DEATHS_REFERRED, .field = "x");
ASKS(by_array, .which = BP_DEATHS_REFERRED, .field = "several");
ASKS(by_list, .which = BP_DEATHS_REFERRED, .field = "any");
ASKS(by_entity, .which = BP_DEATHS_REFERRED, .field = "to");
ASKS(by_component, .which = BP_DEATHS_REFERRED, .component = "other", .field = "x");
ASKS(of_no_component, .which = BP_DEATHS_WITH);

static const bp_extension_t unknown_extension[] = {{"bp_tomorrow", BP_EXTENSION_REQUIRED, sizeof no_get, &no_get}};
static const bp_extension_t nameless_extension[] = {{NULL, 0, sizeof no_get, &no_get}};
static const char many_bytes[65537];
static const bp_extension_t large_extension[] = {{"bp_save", 0, sizeof many_bytes, many_bytes}};
static const bp_extension_t largest_extension[] = {{"bp_save", 0, sizeof many_bytes - 1, many_bytes}};
static const bp_extension_t hollow_extension[] = {{"bp_save", 0, sizeof(bp_save_i), NULL}};

static const struct {
    bp_component_i component;
    bp_result_t code;
    const char *says[3];
} component_faults[] = {
    {{.name = ""}, BP_ERROR_ARGUMENT, {"component's name", "1 to 63"}},
    {{.name = "my thing"}, BP_ERROR_ARGUMENT, {"component's name", "'my thing'"}},
    {{.name = "my-thing"}, BP_ERROR_ARGUMENT, {"component's name", "'my-thing'"}},
    {{.name = long_name}, BP_ERROR_ARGUMENT, {"component's name", "1 to 63"}},
    {{.name = "before"}, BP_ERROR_EXISTS, {"component 'before'", "already"}},
    {{.name = "thing", .flags = 1u << 14}, BP_ERROR_ABI, {"component 'thing'", "flags 0x4000"}},
    {{.name = "thing", .fields = BP_LIST(misplaced_fields)},
     BP_ERROR_ARGUMENT,
     {"component 'thing'", "'y' is number 1 of the list and number 2"}},
    {{.name = "thing", .flags = 1u << 15}, BP_ERROR_ABI, {"component 'thing'", "flags 0x8000"}},
    {{.name = "thing", .extensions = BP_LIST(unknown_extension)},
     BP_ERROR_ABI,
     {"component 'thing'", "needs extension 'bp_tomorrow'"}},
    {{.name = "thing", .extensions = BP_LIST(nameless_extension)},
     BP_ERROR_ARGUMENT,
     {"component 'thing'", "extension 0", "BP_EXTENSION"}},
    {{.name = "thing", .extensions = BP_LIST(hollow_extension)},
     BP_ERROR_ARGUMENT,
     {"component 'thing'", "extension 0", "no verbs"}},
    {{.name = "thing", .extensions = BP_LIST(large_extension)},
     BP_ERROR_ABI,
     {"component 'thing'", "extension 'bp_save' says 65537 bytes of verbs; at most 65536"}},
    {{.name = "thing", .extensions = {hollow_extension, 1, 8}},
     BP_ERROR_ABI,
     {"component 'thing'", "extensions", "BP_LIST"}},
    {{.name = "thing", .storage = &short_storage}, BP_ERROR_ABI, {"'thing'", "8 bytes", "sizeof(bp_storage_i)"}},
    {{.name = "thing", .storage = &empty_storage}, BP_ERROR_ARGUMENT, {"'thing'", "create, destroy and count"}},
    {{.name = "thing", .storage = &no_destroy}, BP_ERROR_ARGUMENT, {"'thing'", "create, destroy and count"}},
    {{.name = "thing", .storage = &no_create}, BP_ERROR_ARGUMENT, {"'thing'", "create, destroy and count"}},
    {{.name = "thing", .storage = &no_count}, BP_ERROR_ARGUMENT, {"'thing'", "create, destroy and count"}},
    {{.name = "thing", .storage = &no_get, .fields = BP_LIST(one_field)}, BP_ERROR_ARGUMENT, {"'thing'", "get"}},
    {{.name = "thing", .flags = BP_COMPONENT_WORLD, .storage = &whole_storage},
     BP_ERROR_ARGUMENT,
     {"'thing'", "what belongs to a world has declared fields"}},
    {{.name = "thing", .keeps = BP_KEEP_SAVED + 1}, BP_ERROR_ABI, {"'thing'", "keeps its state in way 5"}},
    {{.name = "thing", .keeps = BP_KEEP_PLAIN, .state_form = (uint64_t)1 << 32},
     BP_ERROR_ARGUMENT,
     {"'thing'", "BP_KEEP_PLAIN needs a state_form"}},
    {{.name = "thing", .keeps = BP_KEEP_SAVED}, BP_ERROR_ARGUMENT, {"'thing'", "BP_KEEP_SAVED needs", "bp_save"}},
    {{.name = "thing", .keeps = BP_KEEP_SAVED, .extensions = BP_LIST(half_saved)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "BP_KEEP_SAVED needs", "bp_save"}},
    {{.name = "thing", .keeps = BP_KEEP_SAVED, .extensions = BP_LIST(half_loaded)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "BP_KEEP_SAVED needs", "bp_save"}},
    {{.name = "thing", .keeps = BP_KEEP_ANEW, .storage = &whole_storage},
     BP_ERROR_ARGUMENT,
     {"'thing'", "BP_KEEP_ANEW is not for"}},
    {{.name = "thing", .storage = &whole_storage, .extensions = BP_LIST(told_added)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "bp_rows is for declared components"}},
    {{.name = "thing", .storage = &whole_storage, .extensions = BP_LIST(told_removed)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "bp_rows is for declared components"}},
    {{.name = "thing", .storage = &whole_storage, .extensions = BP_LIST(told_set)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "bp_rows is for declared components"}},
    {{.name = "thing", .flags = BP_COMPONENT_WORLD, .extensions = BP_LIST(told_added)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "bp_rows is for components of entities"}},
    {{.name = "thing", .flags = BP_COMPONENT_WORLD, .extensions = BP_LIST(told_removed)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "bp_rows is for components of entities"}},
    {{.name = "thing", .flags = BP_COMPONENT_WORLD, .extensions = BP_LIST(told_set)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "bp_rows is for components of entities"}},
    {{.name = "thing", .extensions = BP_LIST(of_no_kind)}, BP_ERROR_ABI, {"'thing'", "deaths of kind 3"}},
    {{.name = "thing", .fields = BP_LIST(referring), .extensions = BP_LIST(of_no_field)},
     BP_ERROR_ARGUMENT,
     {"'thing'", "does not say which field"}},
    {{.name = "thing", .fields = BP_LIST(referring), .extensions = BP_LIST(by_missing)},
     BP_ERROR_TYPE,
     {"'thing'", "its field 'nothing' refers to", "with a single value"}},
    {{.name = "thing", .fields = BP_LIST(referring), .extensions = BP_LIST(by_number)},
     BP_ERROR_TYPE,
     {"'thing'", "its field 'x' refers to"}},
    {{.name = "thing", .fields = BP_LIST(referring), .extensions = BP_LIST(by_array)},
     BP_ERROR_TYPE,
     {"'thing'", "its field 'several' refers to"}},
    {{.name = "thing", .fields = BP_LIST(referring), .extensions = BP_LIST(by_list)},
     BP_ERROR_TYPE,
     {"'thing'", "its field 'any' refers to"}},
    {{.name = "thing", .fields = BP_LIST(referring_once), .storage = &whole_storage, .extensions = BP_LIST(by_entity)},
     BP_ERROR_TYPE,
     {"'thing'", "its field 'to' refers to", "no declared field"}},
    {{.name = "thing", .fields = {NULL, 1, sizeof(bp_field_t)}}, BP_ERROR_ABI, {"'thing'", "BP_LIST"}},
    {{.name = "thing", .fields = {one_field, 1, 0}}, BP_ERROR_ABI, {"'thing'", "0 bytes", "BP_LIST"}},
    {{.name = "thing", .fields = {one_field, 1, 8}}, BP_ERROR_ABI, {"'thing'", "8 bytes", "BP_LIST"}},
    {{.name = "thing", .fields = {one_field, 256, sizeof(bp_field_t)}},
     BP_ERROR_LIMIT,
     {"'thing'", "256 fields", "255"}},
    {{.name = "thing", .fields = {one_field, UINT32_MAX, sizeof(bp_field_t)}}, BP_ERROR_LIMIT, {"'thing'", "255"}},
};
enum { COMPONENT_FAULTS = sizeof component_faults / sizeof component_faults[0] };

START_TEST(a_component_that_is_declared_wrongly_is_refused)
{
    const bp_component_i components[] = {{.name = "before"}, component_faults[_i].component};
    const bp_plugin_head_t bad = BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(components)}));
    expect_static_refused(&bad, component_faults[_i].code, component_faults[_i].says);
}
END_TEST

static void stub_matches(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities, (void)count;
}

static bp_result_t stub_save_system(bp_system_t *s, void **data, size_t *size)
{
    (void)s, (void)data, (void)size;
    return BP_ERROR_FAILED;
}

static bp_result_t stub_load_system(bp_system_t *s, const void *data, size_t size)
{
    (void)s, (void)data, (void)size;
    return BP_ERROR_FAILED;
}

static const bp_system_save_i system_saves = {.save = stub_save_system}, system_loads = {.load = stub_load_system};
static const bp_extension_t half_saved_system[] = {{BP_EXTENSION("bp_save", system_saves)}};
static const bp_extension_t half_loaded_system[] = {{BP_EXTENSION("bp_save", system_loads)}};

static const bp_term_t one_term[] = {{.component = "thing"}};
static const bp_term_t nameless_term[] = {{.component = NULL}};
static const bp_term_t empty_term[] = {{.component = ""}};
static const bp_term_t contrary_terms[] = {{.component = "thing", .flags = BP_TERM_EXCLUDE},
                                           {.component = "thing", .instance = "a"}};
static const bp_term_t contrary_names[] = {{.component = "thing", .instance = "a"},
                                           {.component = "thing", .instance = "a", .flags = BP_TERM_EXCLUDE}};
static const bp_term_t odd_term[] = {{.component = "thing", .flags = 1u << 14}};
static const bp_term_t torn_term[] = {{.component = "thing", .flags = BP_TERM_EXCLUDE | BP_TERM_OPTIONAL}};

static const bp_term_field_t asked_x[] = {{.name = "x", .type = BP_F32}};
static const bp_term_field_t asked_twice[] = {{.name = "x", .type = BP_F32},
                                              {.name = "x", .type = BP_F32, .access = BP_WRITE}};
static const bp_term_field_t asked_nameless[] = {{.type = BP_F32}};
static const bp_term_field_t asked_typeless[] = {{.name = "x"}};
static const bp_term_field_t asked_oddly[] = {{.name = "x", .type = BP_F32, .flags = 1u << 14}};
static const bp_term_field_t asked_strangely[] = {{.name = "x", .type = BP_F32, .access = 4}};
static const bp_term_field_t misplaced_asked[] = {{BP_FIELD_OF(struct columns, y)}, {BP_FIELD_OF(struct columns, x)}};
#define ASKING(list) {{.component = "wide", .fields = BP_LIST(list)}}
static const bp_term_t twice_term[] = ASKING(asked_twice), namelessly_term[] = ASKING(asked_nameless),
                       typeless_term[] = ASKING(asked_typeless), oddly_term[] = ASKING(asked_oddly),
                       strangely_term[] = ASKING(asked_strangely), misplaced_term[] = ASKING(misplaced_asked);
static const bp_term_t fields_left_out[] = {{.component = "thing"},
                                            {.component = "wide",
                                             .flags = BP_TERM_EXCLUDE,
                                             .fields = BP_LIST(asked_x)}};
static const bp_term_t listless_term[] = {{.component = "wide", .fields = {asked_x, 1, 4}}};
static const bp_term_t instance_of_world[] = {{.component = "thing", .instance = "a", .flags = BP_TERM_WORLD}};
static const bp_term_t optional_of_world[] = {{.component = "thing", .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL},
                                              {.component = "before", .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL}};
static const bp_term_t one_optional_of_world[] = {{.component = "thing", .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL}};
static const bp_term_t of_world[] = {{.component = "thing", .flags = BP_TERM_WORLD}};
static const bp_term_t missing_term[] = {{.component = "thing", .fields = BP_LIST(asked_x)}};

static const struct {
    bp_system_i system;
    bp_result_t code;
    const char *says[3];
} system_faults[] = {
    {{.name = "", .run_all = stub_run_all}, BP_ERROR_ARGUMENT, {"system's name", "1 to 63"}},
    {{.name = "thing", .run_all = stub_run_all}, BP_ERROR_EXISTS, {"system 'thing'", "a component has that name"}},
    {{.name = "earlier", .run_all = stub_run_all}, BP_ERROR_EXISTS, {"system 'earlier'", "already"}},
    {{.name = "system"}, BP_ERROR_ARGUMENT, {"system 'system'", "exactly one of run and run_all"}},
    {{.name = "system", .terms = BP_LIST(one_term), .run = stub_run, .run_all = stub_run_all},
     BP_ERROR_ARGUMENT,
     {"'system'", "exactly one of run and run_all"}},
    {{.name = "system", .run = stub_run}, BP_ERROR_ARGUMENT, {"'system'", "run needs terms", "run_all"}},
    {{.name = "system", .run_all = stub_run_all, .flags = 1u << 4}, BP_ERROR_ABI, {"'system'", "flags 0x10"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(nameless_term)},
     BP_ERROR_ARGUMENT,
     {"'system'", "names no component"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(empty_term)},
     BP_ERROR_ARGUMENT,
     {"'system'", "names no component"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(odd_term)}, BP_ERROR_ARGUMENT, {"'system'", "flags 0x4000"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(torn_term)}, BP_ERROR_ARGUMENT, {"'system'", "flags 0x6"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(contrary_terms)},
     BP_ERROR_ARGUMENT,
     {"'system'", "terms 1 and 0 require and exclude 'thing'", "leave one of them out"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(contrary_names)},
     BP_ERROR_ARGUMENT,
     {"'system'", "terms 0 and 1 require and exclude 'thing'"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(twice_term)},
     BP_ERROR_EXISTS,
     {"'system'", "term 'wide'", "field 'x' twice"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(namelessly_term)},
     BP_ERROR_ARGUMENT,
     {"'system'", "term 'wide'", "no proper name"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(typeless_term)},
     BP_ERROR_TYPE,
     {"'system'", "field 'x'", "no type"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(oddly_term)},
     BP_ERROR_ABI,
     {"'system'", "field 'x'", "flags 0x4000"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(strangely_term)},
     BP_ERROR_ABI,
     {"'system'", "field 'x'", "access 0x4"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(misplaced_term)},
     BP_ERROR_ARGUMENT,
     {"'system'", "'y' is number 1 of the list and number 2"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(fields_left_out)},
     BP_ERROR_ARGUMENT,
     {"'system'", "term 'wide'", "left out has no columns"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(listless_term)},
     BP_ERROR_ABI,
     {"'system'", "4 bytes", "BP_LIST"}},
    {{.name = "system", .run = stub_run, .terms = BP_LIST(missing_term)},
     BP_ERROR_NOT_FOUND,
     {"'system'", "field 'x' of component 'thing', which has no such field"}},
    {{.name = "system", .run_all = stub_run_all, .entities_added = stub_matches},
     BP_ERROR_ARGUMENT,
     {"'system'", "entities_added and entities_removed need terms"}},
    {{.name = "system", .run_all = stub_run_all, .entities_removed = stub_matches},
     BP_ERROR_ARGUMENT,
     {"'system'", "entities_added and entities_removed need terms"}},
    {{.name = "system", .run_all = stub_run_all, .keeps = BP_KEEP_SAVED + 1},
     BP_ERROR_ABI,
     {"'system'", "keeps its state in way 5"}},
    {{.name = "system", .run_all = stub_run_all, .keeps = BP_KEEP_PLAIN, .state_form = (uint64_t)1 << 32},
     BP_ERROR_ARGUMENT,
     {"'system'", "BP_KEEP_PLAIN needs a state_form"}},
    {{.name = "system", .run_all = stub_run_all, .keeps = BP_KEEP_SAVED},
     BP_ERROR_ARGUMENT,
     {"'system'", "BP_KEEP_SAVED needs", "bp_save"}},
    {{.name = "system", .run_all = stub_run_all, .keeps = BP_KEEP_SAVED, .extensions = BP_LIST(half_saved_system)},
     BP_ERROR_ARGUMENT,
     {"'system'", "BP_KEEP_SAVED needs", "bp_save"}},
    {{.name = "system", .run_all = stub_run_all, .keeps = BP_KEEP_SAVED, .extensions = BP_LIST(half_loaded_system)},
     BP_ERROR_ARGUMENT,
     {"'system'", "BP_KEEP_SAVED needs", "bp_save"}},
    {{.name = "system", .run_all = stub_run_all, .extensions = BP_LIST(of_no_component)},
     BP_ERROR_ARGUMENT,
     {"'system'", "asks for deaths by a component", "does not say which"}},
    {{.name = "system", .run_all = stub_run_all, .extensions = BP_LIST(of_no_kind)},
     BP_ERROR_ABI,
     {"'system'", "deaths of kind 3"}},
    {{.name = "system", .run_all = stub_run_all, .terms = BP_LIST(instance_of_world)},
     BP_ERROR_ARGUMENT,
     {"'system'", "term 'thing' names instance 'a'", "leave the instance out"}},
    {{.name = "system", .run_all = stub_run_all, .terms = BP_LIST(optional_of_world)},
     BP_ERROR_ARGUMENT,
     {"'system'", "all its terms are the world's and optional"}},
    {{.name = "system", .run_all = stub_run_all, .terms = BP_LIST(one_optional_of_world)},
     BP_ERROR_ARGUMENT,
     {"'system'", "all its terms are the world's and optional, so that nothing says when it runs; let one of them be "
      "required"}},
    {{.name = "system", .run_all = stub_run_all, .terms = BP_LIST(of_world)},
     BP_ERROR_TYPE,
     {"'system'", "component 'thing' belongs to entities", "leave out BP_TERM_WORLD"}},
    {{.name = "system", .run = stub_run, .terms = {NULL, 1, sizeof(bp_term_t)}}, BP_ERROR_ABI, {"'system'", "BP_LIST"}},
    {{.name = "system", .run = stub_run, .terms = {one_term, 1, 4}}, BP_ERROR_ABI, {"'system'", "4 bytes", "BP_LIST"}},
    {{.name = "system", .run = stub_run, .terms = {one_term, 33, sizeof(bp_term_t)}},
     BP_ERROR_LIMIT,
     {"'system'", "33 terms", "32"}},
};
enum { SYSTEM_FAULTS = sizeof system_faults / sizeof system_faults[0] };

START_TEST(components_and_systems_without_a_name_bear_the_plugin_s)
{
    const bp_component_i components[] = {{.fields = BP_LIST(one_field)}};
    const bp_system_i systems[] = {{.run_all = stub_run_all}};
    const bp_plugin_head_t spin =
        BP_PLUGIN_HEAD("spin", (&(const bp_plugin_desc_t){.components = BP_LIST(components)}));
    const bp_plugin_head_t turn = BP_PLUGIN_HEAD("turn", (&(const bp_plugin_desc_t){.systems = BP_LIST(systems)}));
    const bp_plugin_head_t both =
        BP_PLUGIN_HEAD("both",
                       (&(const bp_plugin_desc_t){.components = BP_LIST(components), .systems = BP_LIST(systems)}));
    const bp_plugin_head_t *plugins[] = {&spin, &turn, &both};
    bp_field_t field;
    begin_with(plugins, 3);
    expect_loaded("spin");
    expect_loaded("turn");
    ck_assert_int_eq(api->property->describe(host, "spin", 0, &field, sizeof field), BP_OK);
    ck_assert_str_eq(bp_host_plugin(host, 0, NULL)->desc->components.items[0].name, "spin");
    ck_assert_str_eq(bp_host_plugin(host, 1, NULL)->desc->systems.items[0].name, "turn");
    EXPECT_REFUSED(BP_ERROR_EXISTS, "both", NULL, 0, "system 'both'", "a component has that name");
    end();
}
END_TEST

START_TEST(an_extension_that_may_be_missing_is_told_of)
{
    static const bp_extension_t later[] = {{"bp_tomorrow", 0, sizeof no_get, &no_get}};
    const bp_component_i components[] = {{.name = "thing", .extensions = BP_LIST(later)}};
    const bp_plugin_head_t plugin =
        BP_PLUGIN_HEAD("plugin", (&(const bp_plugin_desc_t){.components = BP_LIST(components)}));
    const bp_plugin_head_t *plugins[] = {&plugin};
    begin_with(plugins, 1);
    expect_loaded("plugin");
    ck_assert_msg(strstr(log_text, "plugin: extension 'bp_tomorrow' is not known to this host and left out") != NULL,
                  "%s", log_text);
    end();
}
END_TEST

/* What lies beside the faults above: what another component has is judged where both meet, and optional terms of the
 * world may stand beside one that says when the system runs. */
START_TEST(what_is_like_a_wrong_declaration_and_is_none_is_taken)
{
    static const bp_save_i both = {.save = stub_save, .load = stub_load};
    static const bp_extension_t saved[] = {{BP_EXTENSION("bp_save", both)}};
    static const bp_component_i components[] = {
        {.name = "one", .keeps = BP_KEEP_SAVED, .extensions = BP_LIST(saved)},
        {.name = "two", .fields = BP_LIST(referring), .extensions = BP_LIST(by_entity)},
        {.name = "three", .fields = BP_LIST(one_field), .extensions = BP_LIST(by_component)},
        {.name = "four", .keeps = BP_KEEP_PLAIN, .state_form = BP_STATE_FORM(uint32_t, 1)},
        {.name = "five", .storage = &whole_storage, .fields = BP_LIST(one_field)},
        {.name = "six", .flags = BP_COMPONENT_WORLD, .fields = BP_LIST(one_field)},
        {.name = "seven", .extensions = BP_LIST(largest_extension)},
    };
    static const bp_term_t terms[] = {{.component = "six", .flags = BP_TERM_WORLD | BP_TERM_OPTIONAL},
                                      {.component = "one"}};
    static const bp_system_i systems[] = {{.name = "system", .run_all = stub_run_all, .terms = BP_LIST(terms),
                                           .entities_added = stub_matches, .entities_removed = stub_matches},
                                          {.name = "alone", .run_all = stub_run_all, .terms = BP_LIST(terms),
                                           .flags = BP_SYSTEM_CONCURRENT}};
    const bp_plugin_head_t plugin =
        BP_PLUGIN_HEAD("plugin",
                       (&(const bp_plugin_desc_t){.components = BP_LIST(components), .systems = BP_LIST(systems)}));
    const bp_plugin_head_t *plugins[] = {&plugin};
    begin_with(plugins, 1);
    expect_loaded("plugin");
    end();
}
END_TEST

/* Components and systems share their names, whichever of them is there first. */
START_TEST(a_component_that_is_called_as_a_system_is_refused)
{
    static const bp_system_i systems[] = {{.name = "shared", .run_all = stub_run_all}};
    static const bp_component_i components[] = {{.name = "before"}, {.name = "shared"}};
    const bp_plugin_head_t first = BP_PLUGIN_HEAD("first", (&(const bp_plugin_desc_t){.systems = BP_LIST(systems)}));
    const bp_plugin_head_t second =
        BP_PLUGIN_HEAD("second", (&(const bp_plugin_desc_t){.components = BP_LIST(components)}));
    const bp_plugin_head_t *plugins[] = {&first, &second};
    begin_with(plugins, 2);
    expect_loaded("first");
    EXPECT_REFUSED(BP_ERROR_EXISTS, "second", NULL, 0, "component 'shared'", "a system has that name");
    expect_no_component("before");
    end();
}
END_TEST

START_TEST(a_system_that_is_declared_wrongly_is_refused)
{
    const bp_system_i systems[] = {{.name = "earlier", .run_all = stub_run_all}, system_faults[_i].system};
    const bp_plugin_head_t bad =
        BP_PLUGIN_HEAD("bad",
                       (&(const bp_plugin_desc_t){.components = BP_LIST(one_component), .systems = BP_LIST(systems)}));
    expect_static_refused(&bad, system_faults[_i].code, system_faults[_i].says);
}
END_TEST

/* A plugin is found among the static ones by its name, so an improper one is tried by that. */
enum { PLUGIN_NAMES = 5 };

START_TEST(a_plugin_without_a_proper_name_is_refused)
{
    static const char *const names[] = {"", "my plugin", "my-plugin", "a/b", long_name};
    _Static_assert(sizeof names / sizeof names[0] == PLUGIN_NAMES, "every row is a round");
    const bp_plugin_head_t bad =
        BP_PLUGIN_HEAD(names[_i], (&(const bp_plugin_desc_t){.components = BP_LIST(one_component)}));
    const bp_plugin_head_t *plugins[] = {&bad};
    begin_with(plugins, 1);
    EXPECT_REFUSED(BP_ERROR_ARGUMENT, names[_i], NULL, 0, "no proper name",
                   "1 to 63 letters, digits or underscores");
    expect_no_component("thing");
    end();
}
END_TEST

/* What a plugin cannot do without is judged; what may be ignored is. */
START_TEST(what_a_plugin_needs_of_a_later_host_is_refused)
{
    const bp_plugin_head_t bad[] = {
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.least_minor = BP_ABI_MINOR + 1,
                                                         .components = BP_LIST(one_component)})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.flags_required = 1, .components = BP_LIST(one_component)})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.flags_required = UINT64_C(1) << 63})),
    };
    const char *says[][3] = {{"needs ABI 2.1", "this host has 2.0", NULL},
                             {"needs", "flags 0x1", NULL},
                             {"flags 0x8000000000000000", NULL, NULL}};
    expect_static_refused(&bad[_i], BP_ERROR_ABI, says[_i]);
}
END_TEST

static bp_result_t stub_load_plugin(bp_plugin_t *plugin)
{
    (void)plugin;
    return BP_OK;
}

/* A whole plugin keeps its state as bytes, or none. Without `load` it has no state, and nothing is asked of it. */
enum { PLUGIN_KEEPS = 4 };

START_TEST(a_plugin_that_keeps_its_state_as_components_do_is_refused)
{
    static const uint32_t keeps[] = {BP_KEEP_ANEW, BP_KEEP_SAVED, BP_KEEP_PLAIN, BP_KEEP_SAVED + 1};
    static const char *const says[][3] = {{"BP_KEEP_ANEW", "for components and systems", "BP_KEEP_PLAIN"},
                                          {"BP_KEEP_SAVED", "for components and systems", "BP_KEEP_PLAIN"},
                                          {"BP_KEEP_PLAIN needs a state_form", NULL, NULL},
                                          {"in way 5", NULL, NULL}};
    _Static_assert(sizeof keeps / sizeof keeps[0] == PLUGIN_KEEPS, "every row is a round");
    const bp_plugin_head_t bad =
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(one_component), .keeps = keeps[_i],
                                                         .load = stub_load_plugin}));
    const bp_plugin_head_t good = BP_PLUGIN_HEAD("good", (&(const bp_plugin_desc_t){.keeps = keeps[_i]}));
    const bp_plugin_head_t *plugins[] = {&good};
    expect_static_refused(&bad, keeps[_i] > BP_KEEP_SAVED ? BP_ERROR_ABI : BP_ERROR_ARGUMENT, says[_i]);
    begin_with(plugins, 1);
    expect_loaded("good");
    end();
}
END_TEST

START_TEST(flags_that_may_be_ignored_are)
{
    const bp_plugin_head_t good =
        BP_PLUGIN_HEAD("good", (&(const bp_plugin_desc_t){.flags = UINT64_MAX, .components = BP_LIST(one_component)}));
    const bp_plugin_head_t *plugins[] = {&good};
    begin_with(plugins, 1);
    expect_loaded("good");
    end();
}
END_TEST

enum { EMPTY_LISTS = 9 };

START_TEST(lists_without_items_are_refused)
{
    const bp_plugin_head_t bad[] = {
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = {NULL, 1, sizeof(bp_component_i)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.systems = {NULL, 1, sizeof(bp_system_i)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.options = {NULL, 1, sizeof(bp_field_t)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.tables = {NULL, 1, sizeof(bp_table_t)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.tasks = {NULL, 1, sizeof(bp_task_t)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.loaders = {NULL, 1, sizeof(bp_loader_t)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = {one_component, 1, 8}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.options = {one_field, 1, 8}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.options = {one_field, 256, sizeof(bp_field_t)}})),
    };
    _Static_assert(sizeof bad / sizeof bad[0] == EMPTY_LISTS, "every row is a round");
    const char *says[] = {"BP_LIST", NULL, NULL};
    expect_static_refused(&bad[_i], BP_ERROR_ABI, says);
}
END_TEST

/* Counts and sizes that lead behind everything there is: nothing there is read. */
START_TEST(lists_that_are_too_long_are_refused)
{
    static const bp_component_i wide[] = {{.name = "thing", .fields = {one_field, 2, 1u << 31}}};
    static const bp_extension_t one_extension[] = {{.name = "x"}};
    static const bp_component_i many[] = {
        {.name = "thing", .extensions = {one_extension, 4097, sizeof(bp_extension_t)}}};
    static const bp_table_t one_table[] = {{.name = "x"}};
    static const bp_task_t one_task[] = {{.name = "x"}};
    static const bp_loader_t one_loader[] = {{.ending = "x"}};
    static const bp_system_i terms[] = {{.name = "system", .run = stub_run, .terms = {one_term, 2, 1u << 31}}};
    const bp_plugin_head_t bad[] = {
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){
                                  .components = {one_component, UINT32_MAX, sizeof(bp_component_i)}})),
        BP_PLUGIN_HEAD("bad",
                       (&(const bp_plugin_desc_t){.components = {one_component, 65536, sizeof(bp_component_i)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = {one_component, 2, UINT32_MAX}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.tables = {one_table, 4097, sizeof(bp_table_t)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.tasks = {one_task, 4097, sizeof(bp_task_t)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.loaders = {one_loader, 4097, sizeof(bp_loader_t)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(wide)})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(many)})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.systems = BP_LIST(terms)})),
    };
    _Static_assert(sizeof bad / sizeof bad[0] == EMPTY_LISTS, "every row is a round");
    const char *says[] = {"its list of ", "more than the 4096 ", NULL};
    expect_static_refused(&bad[_i], BP_ERROR_LIMIT, says);
}
END_TEST

/* --- limits ------------------------------------------------------------------------------------------------------- */

START_TEST(two_hundred_and_fifty_five_fields_are_taken)
{
    static bp_field_t fields[255];
    static char names[255][24];
    bp_world_o *world;
    uint32_t key, prototype;
    bp_entity_t e;
    for (int i = 0; i < 255; i++) {
        snprintf(names[i], sizeof names[i], "field_%d", i);
        fields[i] = (bp_field_t){.name = names[i], .type = BP_I32, .initial = i % 2 == 0 ? "11" : NULL};
    }
    const bp_component_i components[] = {{.name = "wide", .fields = BP_LIST(fields)}};
    const bp_plugin_head_t wide = BP_PLUGIN_HEAD("wide", (&(const bp_plugin_desc_t){.components = BP_LIST(components),
                                   .options = BP_LIST(fields)}));
    const bp_plugin_head_t *plugins[] = {&wide};
    begin_with(plugins, 1);
    expect_loaded("wide");
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    ck_assert_int_eq(bp_world_use_component(world, "wide"), BP_OK);
    ck_assert_int_eq(api->world->key(world, api->world->component(world, "wide"), 0, &key), BP_OK);
    ck_assert_int_eq(api->world->prototype(world, &key, 1, &prototype), BP_OK);
    ck_assert_int_eq(api->world->create(world, prototype, &e, 1), BP_OK);
    int32_t value = 77, first = 0;
    ck_assert_int_eq(api->property->set_named(world, e, "wide", "field_254", BP_I32, &value), BP_OK);
    ck_assert_int_eq(api->property->get_named(world, e, "wide", "field_254", BP_I32, &first), BP_OK);
    ck_assert_int_eq(first, 77);
    ck_assert_int_eq(api->property->get_named(world, e, "wide", "field_252", BP_I32, &first), BP_OK);
    ck_assert_int_eq(first, 11);
    end();
}
END_TEST

START_TEST(thirty_two_terms_are_taken)
{
    bp_term_t terms[32];
    for (int i = 0; i < 32; i++)
        terms[i] = (bp_term_t){.component = "thing", .flags = i == 0 ? 0 : BP_TERM_OPTIONAL};
    const bp_system_i systems[] = {{.name = "wide", .terms = BP_LIST(terms), .run = stub_run}};
    const bp_plugin_head_t wide =
        BP_PLUGIN_HEAD("wide",
                       (&(const bp_plugin_desc_t){.components = BP_LIST(one_component), .systems = BP_LIST(systems)}));
    const bp_plugin_head_t *plugins[] = {&wide};
    begin_with(plugins, 1);
    expect_loaded("wide");
    end();
}
END_TEST

/* By one term, or by several together; they may be missing, so that no component must have so many. */
START_TEST(five_hundred_and_twelve_fields_are_asked_for_and_no_more)
{
    enum { MOST = 512 };
    static const struct { uint32_t counts[2]; const char *says; } cases[] = {
        {{MOST, 0}, NULL},
        {{MOST / 2, MOST / 2}, NULL},
        {{MOST + 1, 0}, "it asks for 513 fields; at most 512 are allowed"},
        {{MOST / 2, MOST / 2 + 1}, "its terms ask for 513 fields; at most 512 are allowed"},
    };
    static bp_term_field_t asked[MOST + 1];
    static char names[MOST + 1][16];
    for (uint32_t i = 0; i <= MOST; i++) {
        snprintf(names[i], sizeof names[i], "field_%u", i);
        asked[i] = (bp_term_field_t){.name = names[i], .type = BP_F32, .flags = BP_TERM_FIELD_OPTIONAL};
    }
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bp_term_t terms[] = {{.component = "thing", .fields = {asked, cases[i].counts[0], sizeof asked[0]}},
                                   {.component = "before", .fields = {asked, cases[i].counts[1], sizeof asked[0]}}};
        const bp_system_i systems[] = {{.name = "wide", .terms = BP_LIST(terms), .run = stub_run}};
        const bp_plugin_head_t wide =
            BP_PLUGIN_HEAD("wide", (&(const bp_plugin_desc_t){.components = BP_LIST(one_component),
                                                              .systems = BP_LIST(systems)}));
        const bp_plugin_head_t *plugins[] = {&wide};
        begin_with(plugins, 1);
        if (cases[i].says == NULL)
            expect_loaded("wide");
        else
            EXPECT_REFUSED(BP_ERROR_LIMIT, "wide", NULL, 0, "system 'wide'", cases[i].says);
        end();
    }
}
END_TEST

START_TEST(names_of_sixty_three_bytes_are_taken)
{
    char name[64];
    memcpy(name, long_name, 63);
    name[63] = '\0';
    const bp_field_t fields[] = {{.name = name, .type = BP_F32}};
    const bp_component_i components[] = {{.name = name, .fields = BP_LIST(fields)}};
    const bp_plugin_head_t plugin =
        BP_PLUGIN_HEAD(name, (&(const bp_plugin_desc_t){.components = BP_LIST(components)}));
    const bp_plugin_head_t *plugins[] = {&plugin};
    begin_with(plugins, 1);
    expect_loaded(name);
    end();
}
END_TEST

/* A plugin built with headers that know more members: items of lists are larger. */
START_TEST(longer_items_of_newer_headers_are_taken)
{
    struct { bp_field_t field; void *more;
    } fields[] = {{{.name = "x", .type = BP_F32}, &fields},
                  {{.name = "y", .type = BP_VEC3, .flags = BP_FIELD_READ_ONLY}, &fields}};
    struct { bp_component_i component; void *more; } components[] = {
        {{.name = "before"}, &components},
        {{.name = "thing", .fields = {&fields[0].field, 2, sizeof fields[0]}}, &components}};
    const bp_plugin_head_t newer =
        BP_PLUGIN_HEAD("newer",
                       (&(const bp_plugin_desc_t){.components = {&components[0].component, 2, sizeof components[0]}}));
    const bp_plugin_head_t *plugins[] = {&newer};
    struct { bp_field_t field; void *more; } told = {.more = &told};
    begin_with(plugins, 1);
    expect_loaded("newer");
    ck_assert_int_eq(api->property->describe(host, "thing", 1, &told.field, sizeof told), BP_OK);
    ck_assert_str_eq(told.field.name, "y");
    ck_assert_uint_eq(told.field.flags, BP_FIELD_READ_ONLY);
    ck_assert_ptr_null(told.more);
    ck_assert_int_eq(api->property->describe(host, "thing", 0, &told.field, offsetof(bp_field_t, access)), BP_OK);
    ck_assert_str_eq(told.field.name, "x");
    ck_assert_uint_eq(told.field.flags, BP_FIELD_READ_ONLY);
    end();
}
END_TEST

Suite *declarations_suite(void)
{
    Suite *suite = suite_create("declarations");
    TCase *declarations = tcase_create("declarations");
    tcase_add_loop_test(declarations, a_field_that_is_declared_wrongly_is_refused, 0, FIELD_FAULTS);
    tcase_add_test(declarations, what_the_world_must_keep_is_no_field_of_storage_of_its_own);
    tcase_add_loop_test(declarations, an_option_that_is_declared_wrongly_is_refused, 0, FIELD_FAULTS);
    tcase_add_test(declarations, an_option_has_one_value);
#if !defined(_WIN32)
    tcase_add_test(declarations, what_cannot_be_read_is_refused_with_its_address);
#endif
    tcase_add_loop_test(declarations, a_component_that_is_declared_wrongly_is_refused, 0, COMPONENT_FAULTS);
    tcase_add_test(declarations, components_and_systems_without_a_name_bear_the_plugin_s);
    tcase_add_test(declarations, an_extension_that_may_be_missing_is_told_of);
    tcase_add_loop_test(declarations, a_system_that_is_declared_wrongly_is_refused, 0, SYSTEM_FAULTS);
    tcase_add_test(declarations, what_is_like_a_wrong_declaration_and_is_none_is_taken);
    tcase_add_test(declarations, five_hundred_and_twelve_fields_are_asked_for_and_no_more);
    tcase_add_test(declarations, a_component_that_is_called_as_a_system_is_refused);
    tcase_add_loop_test(declarations, a_plugin_without_a_proper_name_is_refused, 0, PLUGIN_NAMES);
    tcase_add_loop_test(declarations, what_a_plugin_needs_of_a_later_host_is_refused, 0, 3);
    tcase_add_loop_test(declarations, a_plugin_that_keeps_its_state_as_components_do_is_refused, 0, PLUGIN_KEEPS);
    tcase_add_test(declarations, flags_that_may_be_ignored_are);
    tcase_add_loop_test(declarations, lists_without_items_are_refused, 0, EMPTY_LISTS);
    tcase_add_loop_test(declarations, lists_that_are_too_long_are_refused, 0, EMPTY_LISTS);
    tcase_add_test(declarations, two_hundred_and_fifty_five_fields_are_taken);
    tcase_add_test(declarations, thirty_two_terms_are_taken);
    tcase_add_test(declarations, names_of_sixty_three_bytes_are_taken);
    tcase_add_test(declarations, longer_items_of_newer_headers_are_taken);
    suite_add_tcase(suite, declarations);
    return suite;
}
