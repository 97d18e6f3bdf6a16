/* test_loading.c - everything that can be wrong with a plugin's file, its options, and the order of loading: each is
 * refused, with a sentence that says what and what would be right, and then the host is as if nothing had been tried.
 *
 * Faults of files are made from good libraries, by cutting and by overwriting single numbers of their descriptor.
 * Faults of declarations are the subject of test_declarations.c.
 */
#include "../suites.h"
#include "loading_stage.h"

static const char trial_file[] = TEST_SCRATCH_DIR "/trial" TEST_SO;

/* --- files -------------------------------------------------------------------------------------------------------- */

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

/* --- the head ----------------------------------------------------------------------------------------------------- */

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

/* --- twins -------------------------------------------------------------------------------------------------------- */

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

/* --- a load that fails -------------------------------------------------------------------------------------------- */

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

/* --- options ------------------------------------------------------------------------------------------------------ */

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
    return suite;
}
