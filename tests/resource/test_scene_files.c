/* test_scene_files.c - scenes on the disk: a file is there whole or not at all, and what is no scene is refused by
 * name.
 */
#if !defined(_WIN32)
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

#include "../suites.h"
#include "../unit/support.h"
#include "base/file.h"
#include "os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER TEST_SCRATCH_DIR "/scene_files"
#define SAVED FOLDER "/saved.bpe"

typedef struct place_t {
    rig_t rig;
    bp_world_o *world;
    bp_entity_t e;
} place_t;

static void open_place(place_t *place)
{
    rig_open_zoo(&place->rig);
    place->world = rig_world(&place->rig, "main");
    place->e = entity_with(place->world, "label");
}

#if !defined(_WIN32)
static void label(place_t *place, const char *text)
{
    WORKS(place->rig.host,
          place->rig.api->property->set_named(place->world, place->e, "label", "text", BP_STRING, &text));
}

/* Which label the file holds. */
static void expect_saved(const char *path, const char *text)
{
    place_t other;
    bp_scene_o *scene;
    bp_entity_t e;
    const char *label_text;
    rig_open_zoo(&other.rig);
    other.world = rig_world(&other.rig, "main");
    WORKS(other.rig.host, bp_scene_open(other.rig.host, path, &scene));
    ck_assert_uint_eq(bp_scene_entity_count(scene), 1);
    WORKS(other.rig.host, bp_scene_spawn(scene, other.world, 0, &e, NULL));
    WORKS(other.rig.host, other.rig.api->property->get_named(other.world, e, "label", "text", BP_STRING, &label_text));
    ck_assert_str_eq(label_text, text);
    rig_close(&other.rig);
}
#endif

START_TEST(what_is_no_scene_is_refused_by_name)
{
    place_t place;
    bp_scene_o *scene;
    open_place(&place);
    bp_host_o *host = place.rig.host;
    FAILS(host, BP_ERROR_IO, "no/such.bpe: cannot be opened", bp_scene_open(host, "no/such.bpe", &scene));
    FAILS(host, BP_ERROR_IO, TEST_SCRATCH_DIR ": cannot be opened", bp_scene_open(host, TEST_SCRATCH_DIR, &scene));
    FAILS(host, BP_ERROR_SYNTAX, "empty.bpe: is no scene blob",
          bp_scene_open(host, scratch_bytes("empty.bpe", "", 0), &scene));
    FAILS(host, BP_ERROR_SYNTAX, "words.bpe: is no scene blob",
          bp_scene_open(host, scratch_file("words.bpe", "once upon a time"), &scene));
    FAILS(host, BP_ERROR_IO, "no/such.bpe: cannot be opened", bp_world_restore(place.world, "no/such.bpe", 0));
    FAILS(host, BP_ERROR_IO, "no/such.bpe: cannot be written", bp_world_save(place.world, "no/such.bpe"));
    ck_assert_uint_eq(place.world == NULL, 0);
    rig_close(&place.rig);
}
END_TEST

/* What a file holds tells a text from a blob, where its name does not. */
START_TEST(a_text_by_another_name_is_compiled)
{
    static const char *const texts[] = {
        "{'entities': [{'components': {'label': {}}}]}", "\xEF\xBB\xBF{'entities': [{'components': {'label': {}}}]}",
        " \t\r\n{'entities': [{'components': {'label': {}}}]}", "", " \t\r\n", "\xEF\xBB\xBF", "entities"};
    place_t place;
    open_place(&place);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char text[128];
        bp_scene_o *scene;
        snprintf(text, sizeof text, "%s", texts[i]);
        for (char *at = text; *at != '\0'; at++)
            *at = *at == '\'' ? '"' : *at;
        const char *path = scratch_file("text.scene", text);
        if (i >= 3) {
            FAILS(place.rig.host, BP_ERROR_SYNTAX, "text.scene: ", bp_scene_open(place.rig.host, path, &scene));
            continue;
        }
        WORKS(place.rig.host, bp_scene_open(place.rig.host, path, &scene));
        ck_assert_uint_eq(bp_scene_entity_count(scene), 1);
        bp_scene_close(scene);
    }
    rig_close(&place.rig);
}
END_TEST

#if !defined(_WIN32)

static void make_folder(void)
{
    mkdir(TEST_SCRATCH_DIR, 0777);
    mkdir(FOLDER, 0777);
    unlink(SAVED);
}

static uint32_t files_in_folder(void)
{
    uint32_t count = 0;
    DIR *folder = opendir(FOLDER);
    ck_assert(folder != NULL);
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    closedir(folder);
    return count;
}

START_TEST(a_save_replaces_the_file_and_keeps_its_mode)
{
    place_t place;
    struct stat about;
    make_folder();
    open_place(&place);
    label(&place, "first");
    WORKS(place.rig.host, bp_world_save(place.world, SAVED));
    ck_assert_int_eq(chmod(SAVED, 0640), 0);
    bp_scene_o *mapped;
    WORKS(place.rig.host, bp_scene_open(place.rig.host, SAVED, &mapped));
    label(&place, "second");
    WORKS(place.rig.host, bp_world_save(place.world, SAVED));
    expect_saved(SAVED, "second");
    ck_assert_int_eq(stat(SAVED, &about), 0);
    ck_assert_uint_eq(about.st_mode & 07777, 0640);
    ck_assert_uint_eq(files_in_folder(), 1);
    /* A scene that had the old file open still has it whole. */
    bp_entity_t e;
    const char *text;
    WORKS(place.rig.host, bp_scene_spawn(mapped, place.world, 0, &e, NULL));
    WORKS(place.rig.host, place.rig.api->property->get_named(place.world, e, "label", "text", BP_STRING, &text));
    ck_assert_str_eq(text, "first");
    rig_close(&place.rig);
}
END_TEST

START_TEST(a_link_is_followed)
{
    place_t place;
    struct stat about;
    make_folder();
    unlink(FOLDER "/link.bpe");
    open_place(&place);
    label(&place, "old");
    WORKS(place.rig.host, bp_world_save(place.world, SAVED));
    ck_assert_int_eq(symlink("saved.bpe", FOLDER "/link.bpe"), 0);
    label(&place, "new");
    WORKS(place.rig.host, bp_world_save(place.world, FOLDER "/link.bpe"));
    ck_assert_int_eq(lstat(FOLDER "/link.bpe", &about), 0);
    ck_assert(S_ISLNK(about.st_mode));
    expect_saved(SAVED, "new");
    unlink(FOLDER "/link.bpe");
    rig_close(&place.rig);
}
END_TEST

START_TEST(a_save_that_fails_leaves_the_old_file_whole)
{
    place_t place;
    make_folder();
    open_place(&place);
    label(&place, "kept");
    WORKS(place.rig.host, bp_world_save(place.world, SAVED));
    label(&place, "lost");
    struct rlimit limit, small;
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
    small = (struct rlimit){.rlim_cur = 600, .rlim_max = limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    FAILS(place.rig.host, BP_ERROR_IO, "saved.bpe: cannot be written: ", bp_world_save(place.world, SAVED));
    signal(SIGXFSZ, SIG_IGN);
    static const char bytes[700] = "a file of no world";
    error_text_t error = {.calls = NULL};
    ck_assert_int_eq(file_write(FOLDER "/bytes", bytes, sizeof bytes, &error), BP_ERROR_IO);
    ck_assert_str_eq(error.text, FOLDER "/bytes: cannot be written: File too large");
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_saved(SAVED, "kept");
    ck_assert_uint_eq(files_in_folder(), 1);
    /* A device that is full is written to, not replaced. */
    struct stat about;
    if (stat("/dev/full", &about) == 0) {
        FAILS(place.rig.host, BP_ERROR_IO, "/dev/full: cannot be written: ", bp_world_save(place.world, "/dev/full"));
        ck_assert_int_eq(stat("/dev/full", &about), 0);
        ck_assert(S_ISCHR(about.st_mode));
    }
    FAILS(place.rig.host, BP_ERROR_IO, "cannot be written: ", bp_world_save(place.world, FOLDER));
    char path[5000];
    memset(path, 'x', sizeof path);
    memcpy(path, FOLDER "/", sizeof FOLDER);
    path[sizeof path - 1] = '\0';
    FAILS(place.rig.host, BP_ERROR_IO, "", bp_world_save(place.world, path));
    WORKS(place.rig.host, bp_world_save(place.world, SAVED));
    expect_saved(SAVED, "lost");
    rig_close(&place.rig);
}
END_TEST

/* The rights of a folder mean nothing to root, so a child gives them up. */
START_TEST(who_may_not_write_leaves_the_old_file_whole)
{
    place_t place;
    make_folder();
    open_place(&place);
    label(&place, "kept");
    WORKS(place.rig.host, bp_world_save(place.world, SAVED));
    ck_assert_int_eq(chmod(SAVED, 0444), 0);
    label(&place, "lost");
    if (geteuid() == 0)
        ck_assert(setgid(65534) == 0 && setuid(65534) == 0);
    FAILS(place.rig.host, BP_ERROR_IO, "saved.bpe: cannot be written: ", bp_world_save(place.world, SAVED));
    if (geteuid() != 65534)
        expect_saved(SAVED, "kept");
    rig_close(&place.rig);
}
END_TEST

#endif

Suite *scene_files_suite(void)
{
    Suite *suite = suite_create("scene_files");
    TCase *files = tcase_create("files");
    tcase_add_test(files, what_is_no_scene_is_refused_by_name);
    tcase_add_test(files, a_text_by_another_name_is_compiled);
#if !defined(_WIN32)
    tcase_add_test(files, a_save_replaces_the_file_and_keeps_its_mode);
    tcase_add_test(files, a_link_is_followed);
    tcase_add_test(files, a_save_that_fails_leaves_the_old_file_whole);
    tcase_add_test(files, who_may_not_write_leaves_the_old_file_whole);
#endif
    suite_add_tcase(suite, files);
    return suite;
}
