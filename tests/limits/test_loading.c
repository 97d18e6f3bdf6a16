/* test_loading.c - everything that can be wrong with a plugin: each is refused, with a sentence that says
 * what and what would be right, and then the host is as if nothing had been tried.
 *
 * Faults of files are made from good libraries, by cutting and by overwriting single numbers of their
 * descriptor. Faults of declarations need no file: they are descriptors in tables here, given to the host as
 * static plugins, which go the same way through the loader from the descriptor on.
 */
#include "../suites.h"
#include "../unit/support.h"

#include <backplane.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 4096, STATIC_MAX = 4 };

static const char companion_file[] = TEST_FIXTURE_DIR "/companion" TEST_SO;
static const char trial_file[] = TEST_SCRATCH_DIR "/trial" TEST_SO;

/* --- a host that is watched ------------------------------------------------------------------------ */

/* Each test runs in a process of its own. */
static bp_host_o *host;
static const bp_api_t *api;
static size_t bytes;
static char log_text[LOG_MAX];

static void *resize_counted(void *context, void *old, size_t old_size, size_t new_size)
{
    size_t *counted = context;
    if (new_size == 0) {
        free(old);
        *counted -= old_size;
        return NULL;
    }
    void *block = realloc(old, new_size);
    if (block != NULL)
        *counted += new_size - old_size;
    return block;
}

static void write_log(void *context, int32_t level, const char *source, const char *text)
{
    char *all = context;
    size_t used = strlen(all);
    snprintf(all + used, LOG_MAX - used, "%d %s: %s\n", level, source, text);
}

static void begin_with(const bp_plugin_head_t *const *plugins, uint32_t count)
{
    bytes = 0;
    log_text[0] = '\0';
    host = bp_host_create(&(bp_host_desc_t){
        .allocator = &(bp_allocator_i){.context = &bytes, .resize = resize_counted},
        .log = &(bp_log_i){.context = log_text, .write = write_log},
        .static_plugins = plugins,
        .static_plugin_count = count,
    });
    ck_assert_ptr_nonnull(host);
    api = bp_host_api(host);
}

static void begin(void)
{
    begin_with(NULL, 0);
}

static void end(void)
{
    bp_host_destroy(host);
    host = NULL;
    ck_assert_msg(bytes == 0, "%zu bytes are left", bytes);
    ck_assert_msg(strstr(log_text, "not given back") == NULL, "%s", log_text);
}

static void expect_words(const char *const *words, size_t count)
{
    for (size_t i = 0; i < count && words[i] != NULL; i++)
        ck_assert_msg(strstr(bp_host_error(host), words[i]) != NULL, "\"%s\" does not say \"%s\"",
                      bp_host_error(host), words[i]);
}

#define EXPECT_WORDS(...)                            \
    expect_words((const char *const[]){__VA_ARGS__}, \
                 sizeof((const char *const[]){__VA_ARGS__}) / sizeof(const char *))

/* Load, and be refused with this code and these words. Nothing may be there afterwards that was not. */
#define EXPECT_REFUSED(code, name, options, option_count, ...)                                \
    do {                                                                                      \
        uint32_t before_ = plugin_count();                                                    \
        bp_result_t result_ = bp_host_load_plugin(host, (name), (options), (option_count));   \
        ck_assert_msg(result_ == (code), "result %d instead of %d: %s", result_, (int)(code), \
                      bp_host_error(host));                                                   \
        EXPECT_WORDS(__VA_ARGS__);                                                            \
        ck_assert_uint_eq(plugin_count(), before_);                                           \
    } while (0)

static uint32_t plugin_count(void)
{
    uint32_t count = 0;
    while (bp_host_plugin(host, count, NULL) != NULL)
        count++;
    return count;
}

static void expect_loaded(const char *name)
{
    bp_result_t result = bp_host_load_plugin(host, name, NULL, 0);
    ck_assert_msg(result == BP_OK, "%s: %s", name, bp_host_error(host));
}

/* No such component: neither described nor to be had by a world. */
static void expect_no_component(const char *name)
{
    bp_field_t field;
    ck_assert_int_eq(api->property->describe(host, name, 0, &field, sizeof field), BP_ERROR_NOT_FOUND);
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "trial"});
    ck_assert_ptr_nonnull(world);
    ck_assert_int_eq(bp_world_use_component(world, name), BP_ERROR_NOT_FOUND);
    bp_world_destroy(world);
}

/* --- files ----------------------------------------------------------------------------------------- */

typedef struct file_t {
    unsigned char *bytes;
    size_t size;
} file_t;

static file_t read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    file_t f = {NULL, 0};
    size_t room = 0, got;
    do {
        room = room * 2 + 65536;
        f.bytes = realloc(f.bytes, room);
        ck_assert_ptr_nonnull(f.bytes);
        got = fread(f.bytes + f.size, 1, room - f.size, file);
        f.size += got;
    } while (got > 0);
    fclose(file);
    return f;
}

static void write_trial(const void *content, size_t size)
{
    remove(trial_file); /* a new file: the old one may be mapped */
    FILE *file = fopen(trial_file, "wb");
    ck_assert_msg(file != NULL, "%s cannot be written", trial_file);
    ck_assert_uint_eq(fwrite(content, 1, size, file), size);
    ck_assert_int_eq(fclose(file), 0);
}

/* Where in the file the head begins. */
static size_t find_head(const file_t *f)
{
    const uint64_t magic = BP_PLUGIN_MAGIC;
    for (size_t at = 0; at + sizeof(bp_plugin_head_t) <= f->size; at += 8) {
        if (memcmp(f->bytes + at, &magic, sizeof magic) == 0)
            return at;
    }
    ck_abort_msg("the library holds no head");
    return 0;
}

/* The companion with `size` bytes at `offset` of its head replaced. */
static void write_patched(size_t offset, const void *patch, size_t size)
{
    file_t f = read_all(companion_file);
    memcpy(f.bytes + find_head(&f) + offset, patch, size);
    forget_checksum(f.bytes, f.size);
    write_trial(f.bytes, f.size);
    free(f.bytes);
}

START_TEST(a_good_plugin_is_loaded_with_and_without_the_ending)
{
    const char *path;
    begin();
    expect_loaded(companion_file);
    ck_assert_str_eq(bp_host_plugin(host, 0, &path)->name, "companion");
    ck_assert_str_eq(path, companion_file);
    ck_assert_int_eq(bp_host_unload_plugin(host, "companion"), BP_OK);
    expect_loaded(TEST_FIXTURE_DIR "/companion");
    end();
}
END_TEST

START_TEST(a_missing_file_is_named)
{
    begin();
    EXPECT_REFUSED(BP_ERROR_NOT_FOUND, "no/such/plugin", NULL, 0, "no/such/plugin", TEST_SO,
                   "no such plugin file");
    EXPECT_REFUSED(BP_ERROR_NOT_FOUND, "", NULL, 0, "no such plugin file");
    EXPECT_REFUSED(BP_ERROR_NOT_FOUND, TEST_FIXTURE_DIR "/compnion", NULL, 0,
                   "; did you mean '" TEST_FIXTURE_DIR "/companion'?");
    EXPECT_REFUSED(BP_ERROR_NOT_FOUND, TEST_FIXTURE_DIR "/compnion" TEST_SO, NULL, 0,
                   "; did you mean '" TEST_FIXTURE_DIR "/companion" TEST_SO "'?");
    end();
}
END_TEST

START_TEST(a_path_that_is_too_long_is_refused)
{
    char path[5000];
    memset(path, 'a', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    begin();
    ck_assert_int_ne(bp_host_load_plugin(host, path, NULL, 0), BP_OK);
    ck_assert_uint_eq(plugin_count(), 0);
    end();
}
END_TEST

START_TEST(a_folder_is_no_plugin)
{
    begin();
    ck_assert_int_ne(bp_host_load_plugin(host, TEST_FIXTURE_DIR, NULL, 0), BP_OK);
    EXPECT_WORDS(TEST_FIXTURE_DIR);
    end();
}
END_TEST

START_TEST(files_of_other_kinds_are_told_apart)
{
    static const struct { const char *content; size_t size; const char *says; } files[] = {
        {"", 0, "empty"},
        {"plugins are written in C\n", 25, "begins with \"plugins "},
#if defined(_WIN32)
        {"MZ\220\0\3\0\0\0\4\0\0\0\377\377", 14, "cut short"},
        {"\177ELF", 4, "Linux"},
#else
        {"MZ\220\0\3\0\0\0\4\0\0\0\377\377", 14, "Windows"},
        {"\177ELF", 4, "cut short"},
#endif
        {"\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377", 16, "not a shared library"},
    };
    begin();
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        write_trial(files[i].content, files[i].size);
        EXPECT_REFUSED(BP_ERROR_ABI, trial_file, NULL, 0, trial_file, files[i].says);
    }
    end();
}
END_TEST

START_TEST(a_program_is_no_plugin)
{
    begin();
    EXPECT_REFUSED(BP_ERROR_ABI, TEST_BACKPLANE, NULL, 0, TEST_BACKPLANE, "program", "-shared");
    end();
}
END_TEST

START_TEST(a_library_cut_short_is_refused_at_every_length)
{
    file_t f = read_all(companion_file);
    begin();
    size_t step = f.size / 400 + 1, tried = 0;
    for (size_t size = 0; size < f.size; size += size < 1200 || f.size - size < 200 ? 7 : step, tried++) {
        write_trial(f.bytes, size);
        EXPECT_REFUSED(BP_ERROR_ABI, trial_file, NULL, 0, trial_file);
    }
    ck_assert_uint_gt(tried, 400);
    write_trial(f.bytes, f.size);
    expect_loaded(trial_file);
    free(f.bytes);
    end();
}
END_TEST

START_TEST(a_library_without_the_symbol_is_refused)
{
    begin();
    EXPECT_REFUSED(BP_ERROR_ABI, TEST_FIXTURE_DIR "/no_symbol", NULL, 0, "no_symbol", "bp_plugin");
    end();
}
END_TEST

/* --- the head --------------------------------------------------------------------------------------- */

enum { HEADS = 11 };

START_TEST(a_head_that_was_written_for_another_contract_is_refused)
{
    static const struct { size_t offset; uint32_t number; const char *says[3]; } heads[] = {
        {offsetof(bp_plugin_head_t, magic), 0x12345678, {"magic", "BP_PLUGIN"}},
        {offsetof(bp_plugin_head_t, magic) + 4, 0, {"magic", "BP_PLUGIN"}},
        {offsetof(bp_plugin_head_t, magic) + 4, 0x334E474C, {"magic", "contract than the 2"}},
        {offsetof(bp_plugin_head_t, pointer_size), 4, {"pointers of 4 bytes", "8"}},
        {offsetof(bp_plugin_head_t, pointer_size), 16, {"pointers of 16 bytes", "8"}},
        {offsetof(bp_plugin_head_t, abi_major), BP_ABI_MAJOR + 1, {"contract 3", "contract 2", "rebuild"}},
        {offsetof(bp_plugin_head_t, abi_major), UINT32_MAX, {"contract 4294967295", "rebuild"}},
        {offsetof(bp_plugin_head_t, abi_major), 1, {"contract 1", "contract 2", "rebuild"}},
        {offsetof(bp_plugin_head_t, struct_size), 24, {"head", "24 bytes", "rebuild"}},
        {offsetof(bp_plugin_head_t, struct_size), 0, {"head", "0 bytes", "rebuild"}},
        {offsetof(bp_plugin_head_t, desc_size), 24, {"descriptor", "24 bytes", "rebuild"}},
    };
    _Static_assert(sizeof heads / sizeof heads[0] == HEADS, "every row is a round");
    begin();
    write_patched(heads[_i].offset, &heads[_i].number, sizeof heads[_i].number);
    EXPECT_REFUSED(BP_ERROR_ABI, trial_file, NULL, 0, trial_file, heads[_i].says[0], heads[_i].says[1],
                   heads[_i].says[2]);
    expect_no_component("companion");
    expect_loaded(companion_file);
    end();
}
END_TEST

START_TEST(a_plugin_of_contract_1_is_told_to_be_rebuilt)
{
    static const struct { uint64_t magic; uint32_t numbers[4]; const char *name, *version; } old = {
        UINT64_C(0x314E474C50504B42), {152, sizeof(void *), 1, 1}, "old", "1.0"};
    file_t f = read_all(companion_file);
    begin();
    memcpy(f.bytes + find_head(&f), &old, offsetof(bp_plugin_head_t, name));
    forget_checksum(f.bytes, f.size);
    write_trial(f.bytes, f.size);
    free(f.bytes);
    EXPECT_REFUSED(BP_ERROR_ABI, trial_file, NULL, 0, trial_file,
                   "it was built for contract 1; this host has contract 2", "rebuild it with this version's headers");
    end();
}
END_TEST

/* Built with headers of a later minor, it works as long as it needs nothing new. */
START_TEST(a_plugin_of_newer_headers_is_taken)
{
    uint32_t size = sizeof(bp_plugin_desc_t) + 64, minor = BP_ABI_MINOR + 7;
    begin();
    write_patched(offsetof(bp_plugin_head_t, desc_size), &size, sizeof size);
    expect_loaded(trial_file);
    ck_assert_int_eq(bp_host_unload_plugin(host, "companion"), BP_OK);
    write_patched(offsetof(bp_plugin_head_t, abi_minor), &minor, sizeof minor);
    expect_loaded(trial_file);
    end();
}
END_TEST

/* --- twins ----------------------------------------------------------------------------------------- */

START_TEST(the_same_plugin_twice_is_refused)
{
    bp_field_t field;
    file_t f = read_all(companion_file);
    write_trial(f.bytes, f.size);
    free(f.bytes);
    begin();
    expect_loaded(companion_file);
    EXPECT_REFUSED(BP_ERROR_EXISTS, companion_file, NULL, 0, companion_file, "'companion' is loaded already");
    EXPECT_REFUSED(BP_ERROR_EXISTS, trial_file, NULL, 0, trial_file, companion_file,
                   "'companion' is loaded already");
    ck_assert_int_eq(api->property->describe(host, "companion", 0, &field, sizeof field), BP_OK);
    end();
}
END_TEST

START_TEST(the_same_component_from_two_plugins_is_refused)
{
    bp_field_t field;
    begin();
    expect_loaded(companion_file);
    EXPECT_REFUSED(BP_ERROR_EXISTS, TEST_FIXTURE_DIR "/twin", NULL, 0, "twin", "component 'companion'",
                   "plugin 'companion' already");
    expect_no_component("twins_own");
    ck_assert_int_eq(api->property->describe(host, "companion", 0, &field, sizeof field), BP_OK);
    ck_assert_int_eq(bp_host_unload_plugin(host, "companion"), BP_OK);
    expect_loaded(TEST_FIXTURE_DIR "/twin");
    EXPECT_REFUSED(BP_ERROR_EXISTS, companion_file, NULL, 0, "component 'companion'",
                   "plugin 'twin' already");
    expect_no_component("companion_at_once");
    end();
}
END_TEST

/* --- a load that fails ----------------------------------------------------------------------------- */

START_TEST(a_load_that_fails_leaves_nothing)
{
    begin();
    EXPECT_REFUSED(BP_ERROR_FAILED, TEST_FIXTURE_DIR "/refuses", NULL, 0, "refuses", "its load failed",
                   "wrong house; wait a month");
    expect_no_component("refused");
    ck_assert_ptr_null(api->registry->find(host, "refused", 1));
    const bp_option_t silent = {.name = "silent", .value = "true"};
    EXPECT_REFUSED(BP_ERROR_FAILED, TEST_FIXTURE_DIR "/refuses", &silent, 1, "refuses", "gave no reason");
    ck_assert_msg(strstr(log_text, "unloaded without") == NULL, "%s", log_text);
    end();
}
END_TEST

START_TEST(when_a_load_fails_the_plugins_before_it_are_unloaded_newest_first)
{
    static const char ini[] = TEST_SCRATCH_DIR "/loading.ini";
    static const char content[] = "[host]\nplugin_path = ../fixtures"
                                  "\nplugins = companion\n    herald_first herald_second refuses\n";
    FILE *file = fopen(ini, "wb");
    ck_assert_ptr_nonnull(file);
    fputs(content, file);
    fclose(file);
    begin();
    ck_assert_int_eq(bp_host_setup(host, ini), BP_ERROR_FAILED);
    EXPECT_WORDS(ini, "refuses", "its load failed", "wait a month");
    ck_assert_uint_eq(plugin_count(), 0);
    ck_assert_str_eq(log_text, "1 herald_first: loaded\n1 herald_second: loaded\n1 herald_second: "
                               "unloaded\n1 herald_first: unloaded\n");
    expect_no_component("companion");
    expect_no_component("refused");
    end();
}
END_TEST

START_TEST(plugins_are_unloaded_newest_first_at_the_end)
{
    begin();
    expect_loaded(TEST_FIXTURE_DIR "/herald_second");
    expect_loaded(TEST_FIXTURE_DIR "/herald_first");
    end();
    ck_assert_str_eq(log_text, "1 herald_second: loaded\n1 herald_first: loaded\n1 herald_first: unloaded\n1 "
                               "herald_second: unloaded\n");
}
END_TEST

START_TEST(a_plugin_that_is_not_loaded_cannot_be_unloaded)
{
    begin();
    expect_loaded(companion_file);
    ck_assert_int_eq(bp_host_unload_plugin(host, "companiom"), BP_ERROR_NOT_FOUND);
    EXPECT_WORDS("companiom", "did you mean 'companion'");
    end();
}
END_TEST

/* --- options --------------------------------------------------------------------------------------- */

enum { WRONG_OPTIONS = 12 };

START_TEST(an_option_that_is_wrong_is_refused)
{
    static const struct {
        bp_option_t option;
        bp_result_t code;
        const char *says[4];
    } rows[] = {
        {{"round", "3", "game.ini:7", NULL},
         BP_ERROR_NOT_FOUND,
         {"game.ini:7: ", "no option 'round'", "did you mean 'rounds'", "ratio"}},
        {{"", "3", NULL, NULL}, BP_ERROR_NOT_FOUND, {"no option ''", "rounds"}},
        {{"rounds", "three", "game.ini:7", NULL},
         BP_ERROR_TYPE,
         {"game.ini:7: ", "'rounds'", "'three' is not", "whole number"}},
        {{"rounds", "", NULL, NULL}, BP_ERROR_TYPE, {"'rounds'", "whole number"}},
        {{"rounds", "2.5", NULL, NULL}, BP_ERROR_TYPE, {"'rounds'", "'2.5' is not"}},
        {{"rounds", "0", "game.ini:7", NULL},
         BP_ERROR_RANGE,
         {"game.ini:7: ", "rounds = 0", "at least 1", "at most 10 times"}},
        {{"rounds", "11", NULL, NULL}, BP_ERROR_RANGE, {"rounds = 11", "at most 10"}},
        {{"ratio", "1.0001", NULL, NULL}, BP_ERROR_RANGE, {"ratio", "at most 1"}},
        {{"ratio", "nan", NULL, NULL}, BP_ERROR_TYPE, {"ratio", "'nan'"}},
        {{"colour", "reddish", NULL, NULL}, BP_ERROR_TYPE, {"colour", "'reddish' is not #rrggbb"}},
        {{"axis", "0 1", NULL, NULL}, BP_ERROR_TYPE, {"axis", "3 numbers"}},
        {{"wanted", "maybe", NULL, NULL}, BP_ERROR_TYPE, {"wanted", "true or false"}},
    };
    _Static_assert(sizeof rows / sizeof rows[0] == WRONG_OPTIONS, "every row is a round");
    begin();
    const bp_option_t options[2] = {{"rounds", "3", "game.ini:6", NULL}, rows[_i].option};
    EXPECT_REFUSED(rows[_i].code, TEST_FIXTURE_DIR "/picky", options, 2, "picky", rows[_i].says[0],
                   rows[_i].says[1], rows[_i].says[2], rows[_i].says[3]);
    expect_no_component("picky");
    bp_result_t result = bp_host_load_plugin(host, TEST_FIXTURE_DIR "/picky", options, 1);
    ck_assert_msg(result == BP_OK, "%s", bp_host_error(host));
    end();
}
END_TEST

START_TEST(an_option_that_is_required_and_not_given_is_asked_for)
{
    begin();
    EXPECT_REFUSED(BP_ERROR_ARGUMENT, TEST_FIXTURE_DIR "/picky", NULL, 0, "picky",
                   "option 'rounds' (u32) must be given", "how often to go round");
    expect_no_component("picky");
    end();
}
END_TEST

static const bp_value_t *options_of_picky(void)
{
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    ck_assert_ptr_nonnull(world);
    ck_assert_int_eq(bp_world_use_component(world, "picky"), BP_OK);
    return api->world->manager(world, api->world->component(world, "picky"))->plugin->options;
}

START_TEST(options_arrive_where_they_were_declared)
{
    const bp_option_t options[] = {
        {"axis", "1 2 3", NULL, NULL}, {"rounds", "10", NULL, NULL}, {"title", " a b ", NULL, NULL},
        {"file", "data/x.obj", NULL, "games/chess/game.ini"}, {"wanted", "yes", NULL, NULL},
    };
    begin();
    bp_result_t result = bp_host_load_plugin(host, TEST_FIXTURE_DIR "/picky", options, 5);
    ck_assert_msg(result == BP_OK, "%s", bp_host_error(host));
    const bp_value_t *values = options_of_picky();
    ck_assert_uint_eq(values[0].u32, 10);
    ck_assert_double_eq(values[1].f64, 0.5);
    ck_assert_str_eq(values[2].string, " a b ");
    ck_assert_str_eq(values[3].string, "games/chess/data/x.obj");
    ck_assert_float_eq(values[4].colour.r, 1);
    ck_assert_float_eq(values[5].vec3.y, 2);
    ck_assert_uint_eq(values[6].boolean, 1);
    end();
}
END_TEST

START_TEST(texts_of_options_that_are_not_given_are_their_defaults)
{
    const bp_option_t option = {"rounds", "1", NULL, NULL};
    begin();
    ck_assert_int_eq(bp_host_load_plugin(host, TEST_FIXTURE_DIR "/picky", &option, 1), BP_OK);
    const bp_value_t *values = options_of_picky();
    ck_assert_str_eq(values[2].string, "untitled");
    ck_assert_str_eq(values[3].string, "");
    end();
}
END_TEST

START_TEST(a_plugin_without_options_takes_none)
{
    const bp_option_t option = {"colour", "red", "game.ini:3", NULL};
    begin();
    EXPECT_REFUSED(BP_ERROR_NOT_FOUND, companion_file, &option, 1,
                   "game.ini:3: ", "'companion' has no option 'colour'", "none");
    expect_no_component("companion");
    end();
}
END_TEST

/* --- declarations ---------------------------------------------------------------------------------- */

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
    static const bp_field_t lists[] = {{.name = "x", .type = BP_F32, .flags = BP_FIELD_LIST}};
    static const bp_field_t texts[] = {{.name = "x", .type = BP_STRING, .count = 2}};
    const bp_component_i with_lists[] = {{.name = "thing", .fields = BP_LIST(lists), .storage = &storage}};
    const bp_component_i with_texts[] = {{.name = "thing", .fields = BP_LIST(texts), .storage = &storage}};
    const bp_plugin_head_t first =
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(with_lists)}));
    const bp_plugin_head_t second =
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(with_texts)}));
    expect_static_refused(&first, BP_ERROR_TYPE, (const char *[]){"field 'x' is a list", "storage of its own", NULL});
    expect_static_refused(&second, BP_ERROR_TYPE,
                          (const char *[]){"field 'x' is an array of string", "storage of its own", NULL});
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
static const bp_extension_t unknown_extension[] = {{"bp_tomorrow", BP_EXTENSION_REQUIRED, sizeof no_get, &no_get}};
static const bp_extension_t nameless_extension[] = {{NULL, 0, sizeof no_get, &no_get}};
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
    {{.name = "thing", .extensions = {hollow_extension, 1, 8}},
     BP_ERROR_ABI,
     {"component 'thing'", "extensions", "BP_LIST"}},
    {{.name = "thing", .storage = &short_storage}, BP_ERROR_ABI, {"'thing'", "8 bytes", "sizeof(bp_storage_i)"}},
    {{.name = "thing", .storage = &empty_storage}, BP_ERROR_ARGUMENT, {"'thing'", "create, destroy and count"}},
    {{.name = "thing", .storage = &no_destroy}, BP_ERROR_ARGUMENT, {"'thing'", "create, destroy and count"}},
    {{.name = "thing", .storage = &no_create}, BP_ERROR_ARGUMENT, {"'thing'", "create, destroy and count"}},
    {{.name = "thing", .storage = &no_get, .fields = BP_LIST(one_field)}, BP_ERROR_ARGUMENT, {"'thing'", "get"}},
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

enum { EMPTY_LISTS = 6 };

START_TEST(lists_without_items_are_refused)
{
    const bp_plugin_head_t bad[] = {
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = {NULL, 1, sizeof(bp_component_i)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.systems = {NULL, 1, sizeof(bp_system_i)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.options = {NULL, 1, sizeof(bp_field_t)}})),
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
    static const bp_system_i terms[] = {{.name = "system", .run = stub_run, .terms = {one_term, 2, 1u << 31}}};
    const bp_plugin_head_t bad[] = {
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){
                                  .components = {one_component, UINT32_MAX, sizeof(bp_component_i)}})),
        BP_PLUGIN_HEAD("bad",
                       (&(const bp_plugin_desc_t){.components = {one_component, 65536, sizeof(bp_component_i)}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = {one_component, 2, UINT32_MAX}})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(wide)})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.components = BP_LIST(many)})),
        BP_PLUGIN_HEAD("bad", (&(const bp_plugin_desc_t){.systems = BP_LIST(terms)})),
    };
    _Static_assert(sizeof bad / sizeof bad[0] == EMPTY_LISTS, "every row is a round");
    const char *says[] = {"its list of ", "more than 4096 of 4096 bytes each; use BP_LIST", NULL};
    expect_static_refused(&bad[_i], BP_ERROR_LIMIT, says);
}
END_TEST

/* --- limits ---------------------------------------------------------------------------------------- */

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

Suite *loading_suite(void)
{
    Suite *suite = suite_create("loading");
    TCase *files = tcase_create("files");
    tcase_add_test(files, a_good_plugin_is_loaded_with_and_without_the_ending);
    tcase_add_test(files, a_missing_file_is_named);
    tcase_add_test(files, a_path_that_is_too_long_is_refused);
    tcase_add_test(files, a_folder_is_no_plugin);
    tcase_add_test(files, files_of_other_kinds_are_told_apart);
    tcase_add_test(files, a_program_is_no_plugin);
    tcase_add_test(files, a_library_cut_short_is_refused_at_every_length);
    tcase_add_test(files, a_library_without_the_symbol_is_refused);
    tcase_add_loop_test(files, a_head_that_was_written_for_another_contract_is_refused, 0, HEADS);
    tcase_add_test(files, a_plugin_of_contract_1_is_told_to_be_rebuilt);
    tcase_add_test(files, a_plugin_of_newer_headers_is_taken);
    tcase_set_timeout(files, 60);
    suite_add_tcase(suite, files);
    TCase *order = tcase_create("twins and order");
    tcase_add_test(order, the_same_plugin_twice_is_refused);
    tcase_add_test(order, the_same_component_from_two_plugins_is_refused);
    tcase_add_test(order, a_load_that_fails_leaves_nothing);
    tcase_add_test(order, when_a_load_fails_the_plugins_before_it_are_unloaded_newest_first);
    tcase_add_test(order, plugins_are_unloaded_newest_first_at_the_end);
    tcase_add_test(order, a_plugin_that_is_not_loaded_cannot_be_unloaded);
    suite_add_tcase(suite, order);
    TCase *options = tcase_create("options");
    tcase_add_loop_test(options, an_option_that_is_wrong_is_refused, 0, WRONG_OPTIONS);
    tcase_add_test(options, an_option_that_is_required_and_not_given_is_asked_for);
    tcase_add_test(options, options_arrive_where_they_were_declared);
    tcase_add_test(options, texts_of_options_that_are_not_given_are_their_defaults);
    tcase_add_test(options, a_plugin_without_options_takes_none);
    suite_add_tcase(suite, options);
    TCase *declarations = tcase_create("declarations");
    tcase_add_loop_test(declarations, a_field_that_is_declared_wrongly_is_refused, 0, FIELD_FAULTS);
    tcase_add_test(declarations, what_the_world_must_keep_is_no_field_of_storage_of_its_own);
    tcase_add_loop_test(declarations, an_option_that_is_declared_wrongly_is_refused, 0, FIELD_FAULTS);
    tcase_add_loop_test(declarations, a_component_that_is_declared_wrongly_is_refused, 0, COMPONENT_FAULTS);
    tcase_add_test(declarations, components_and_systems_without_a_name_bear_the_plugin_s);
    tcase_add_test(declarations, an_extension_that_may_be_missing_is_told_of);
    tcase_add_loop_test(declarations, a_system_that_is_declared_wrongly_is_refused, 0, SYSTEM_FAULTS);
    tcase_add_loop_test(declarations, a_plugin_without_a_proper_name_is_refused, 0, PLUGIN_NAMES);
    tcase_add_loop_test(declarations, what_a_plugin_needs_of_a_later_host_is_refused, 0, 3);
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
