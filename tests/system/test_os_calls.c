/* test_os_calls.c - what os.h and files.h promise where the system refuses a call, is interrupted, or tells other
 * things than this machine's: chosen calls fail with chosen errors (calls.h).
 *
 * What they promise where nothing fails is in test_os.c, temporary folders in test_temporary.c.
 */
#define _GNU_SOURCE 1

#include "../suites.h"
#include "../unit/support.h"
#include "calls.h"

#include <os/files.h>
#include <os/os.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_LENGTH = 4096 };

static void refuse(const char *name, uint32_t nth, int code)
{
    calls_begin_coded(name, nth, false, code);
}

static void expect_one_refused(void)
{
    calls_end();
    ck_assert_uint_eq(calls_failed(), 1);
}

/* The file has this text in it. */
static void expect_text(const char *path, const char *text)
{
    char error[256] = "";
    size_t size;
    const char *bytes = os_file_map(path, &size, error, sizeof error);
    EXPECT(bytes != NULL, "%s: %s", path, error);
    EXPECT(size == strlen(text) && memcmp(bytes, text, size) == 0, "%s has %.*s", path, (int)size, bytes);
    os_file_unmap(bytes, size);
}

static bool replace(const char *path, const char *text, char error[256])
{
    error[0] = '\0';
    return os_file_replace(path, text, strlen(text), error, 256);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

START_TEST(what_is_no_plain_file_is_not_read)
{
    char error[256] = "";
    size_t size;
    ck_assert_ptr_null(os_file_map("/dev/null", &size, error, sizeof error));
    ck_assert_str_eq(error, strerror(EINVAL));
    ck_assert_ptr_null(os_file_map(TEST_SCRATCH_DIR, &size, error, sizeof error));
    ck_assert_str_eq(error, strerror(EISDIR));
}
END_TEST

START_TEST(a_file_is_written_whole_though_a_signal_interrupts_it)
{
    char error[256];
    refuse("write", 1, EINTR);
    ck_assert_msg(replace(TEST_SCRATCH_DIR "/os_calls_interrupted", "all of it", error), "%s", error);
    expect_one_refused();
    expect_text(TEST_SCRATCH_DIR "/os_calls_interrupted", "all of it");
}
END_TEST

START_TEST(a_file_that_is_larger_than_the_limit_is_refused_before_anything_is_written)
{
    struct rlimit before, limit;
    enum { LIMIT = 1 << 20 };
    char *const text = room_of(LIMIT + 2), error[256];
    const char *path = TEST_SCRATCH_DIR "/os_calls_limit";
    memset(text, 'x', LIMIT);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = LIMIT;
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    bool fits = replace(path, text, error);
    text[LIMIT] = 'y';
    bool is_larger = replace(path, text, error);
    setrlimit(RLIMIT_FSIZE, &before);
    ck_assert(fits);
    ck_assert(!is_larger);
    ck_assert_str_eq(error, strerror(EFBIG));
    refuse("getrlimit", 1, EPERM); /* a limit that is not told is none */
    ck_assert_msg(replace(path, text, error), "%s", error);
    expect_one_refused();
    expect_text(path, text);
}
END_TEST

START_TEST(a_device_that_fails_says_why)
{
    char error[256];
    ck_assert_msg(replace("/dev/null", "gone", error), "%s", error);
    ck_assert(!replace("/dev/full", "never there", error));
    ck_assert_str_eq(error, strerror(ENOSPC));
    refuse("open", 1, EACCES);
    ck_assert(!replace("/dev/null", "gone", error));
    expect_one_refused();
    ck_assert_str_eq(error, strerror(EACCES));
    refuse("close", 1, EIO);
    ck_assert(!replace("/dev/null", "gone", error));
    expect_one_refused();
    ck_assert_str_eq(error, strerror(EIO));
}
END_TEST

/* Some file systems do not know what it is to bring a folder, or a stream, to the disk. */
START_TEST(where_nothing_can_be_brought_to_the_disk_a_file_is_written_all_the_same)
{
    static const int fine[] = {EINVAL, ENOTSUP, EROFS};
    const char *path = TEST_SCRATCH_DIR "/os_calls_sync";
    char error[256];
    for (size_t i = 0; i <= COUNT(fine); i++) {
        int code = i < COUNT(fine) ? fine[i] : EIO;
        refuse("fsync", 2, code); /* of the folder */
        bool written = replace(path, "text", error);
        expect_one_refused();
        ck_assert_msg(written == (code != EIO), "%s: %s", strerror(code), error);
        ck_assert(written || strstr(error, "a power cut may undo that") != NULL);
        expect_text(path, "text");

        FILE *file = os_file_open(path, "wb");
        ck_assert_ptr_nonnull(file);
        refuse("fsync", 1, code);
        ck_assert(os_stream_sync(file) == (code != EIO));
        expect_one_refused();
        fclose(file);
    }
}
END_TEST

START_TEST(a_folder_that_may_not_be_read_is_not_brought_to_the_disk_and_that_is_no_failure)
{
    char error[256];
    refuse("open", 2, EACCES); /* the first one is of the part */
    ck_assert_msg(replace(TEST_SCRATCH_DIR "/os_calls_sync", "read me", error), "%s", error);
    expect_one_refused();
    refuse("open", 2, EMFILE);
    ck_assert(!replace(TEST_SCRATCH_DIR "/os_calls_sync", "read me", error));
    expect_one_refused();
    ck_assert_msg(strstr(error, strerror(EMFILE)) != NULL, "%s", error);
}
END_TEST

START_TEST(a_stream_goes_to_no_place_that_it_cannot_have)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    FILE *file = os_file_open(scratch_file("os_calls_seek", "0123456789"), "rb"), *stream = fdopen(ends[0], "rb");
    ck_assert(file != NULL && stream != NULL);
    ck_assert(os_stream_seek(file, 7));
    ck_assert_int_eq(fgetc(file), '7');
    ck_assert(!os_stream_seek(file, (uint64_t)INT64_MAX + 1));
    ck_assert(!os_stream_seek(stream, 7));
    fclose(file);
    fclose(stream);
    close(ends[1]);
}
END_TEST

/* Another process that was writing the same file gives its part the file's name, between the moment that we open the
 * part and the moment that we lock it. */
static const char *put_there; /* NULL: nothing */

static void rename_part(void *data, const char *call, bool change)
{
    bool *done = data;
    (void)change;
    if (*done || strcmp(call, "flock") != 0)
        return;
    *done = true;
    ck_assert_int_eq(rename(TEST_SCRATCH_DIR "/os_calls_twice.part", TEST_SCRATCH_DIR "/os_calls_theirs"), 0);
    if (put_there != NULL)
        ck_assert_int_eq(link(put_there, TEST_SCRATCH_DIR "/os_calls_twice.part"), 0);
}

START_TEST(a_part_that_was_renamed_meanwhile_is_left_alone_and_another_one_begun)
{
    char error[256], other[512];
    snprintf(other, sizeof other, "%s", scratch_file("os_calls_other", "a third one's"));
    for (int i = 0; i < 2; i++) {
        bool done = false;
        scratch_file("os_calls_twice.part", "theirs");
        remove(TEST_SCRATCH_DIR "/os_calls_twice");
        put_there = i == 0 ? NULL : other;
        calls_begin(0, false);
        calls_before_each(rename_part, &done);
        bool written = replace(TEST_SCRATCH_DIR "/os_calls_twice", "ours", error);
        calls_end();
        ck_assert(done);
        ck_assert_msg(written, "%s", error);
        expect_text(TEST_SCRATCH_DIR "/os_calls_theirs", "theirs");
        expect_text(TEST_SCRATCH_DIR "/os_calls_twice", "ours");
    }
}
END_TEST

START_TEST(a_file_that_may_not_be_written_to_is_not_replaced)
{
    char error[256];
    const char *path = scratch_file("os_calls_kept", "as it was");
    refuse("access", 1, EACCES);
    ck_assert(!replace(path, "anew", error));
    expect_one_refused();
    ck_assert_str_eq(error, strerror(EACCES));
    expect_text(path, "as it was");
}
END_TEST

START_TEST(only_a_path_that_is_known_to_lead_nowhere_is_missing)
{
    char below[1024];
    const char *path = scratch_file("os_calls_there", "");
    snprintf(below, sizeof below, "%s/below", path);
    ck_assert(!os_path_is_missing(path));
    ck_assert(os_path_is_missing(TEST_SCRATCH_DIR "/os_calls_nowhere"));
    ck_assert(os_path_is_missing(below));
    refuse("stat", 1, EACCES);
    ck_assert(!os_path_is_missing(TEST_SCRATCH_DIR "/os_calls_nowhere"));
    expect_one_refused();
    refuse("mkdir stat", 1, EEXIST); /* what is there may be anything */
    ck_assert(!os_folder_create(TEST_SCRATCH_DIR "/os_calls_nowhere"));
    calls_end();
    calls_begin_coded("mkdir stat", 1, true, EEXIST);
    ck_assert(!os_folder_create(TEST_SCRATCH_DIR));
    calls_end();
}
END_TEST

START_TEST(where_the_program_lies_is_not_guessed)
{
    char folder[1024];
    refuse("readlink", 1, EACCES);
    ck_assert(!os_program_folder(folder, sizeof folder));
    expect_one_refused();
    ck_assert(os_program_folder(folder, sizeof folder));
}
END_TEST

/* A folder whose file system is not told of is tried. */
START_TEST(a_folder_that_lets_no_code_be_run_is_known)
{
    char line[1024];
    ck_assert(os_folder_runs_code(TEST_SCRATCH_DIR "/os_calls_nowhere"));
    FILE *mounts = fopen("/proc/self/mounts", "r");
    while (mounts != NULL && fgets(line, sizeof line, mounts) != NULL) {
        if (strstr(line, " /proc ") != NULL)
            ck_assert(os_folder_runs_code("/proc") == (strstr(line, "noexec") == NULL));
    }
    if (mounts != NULL)
        fclose(mounts);
}
END_TEST

/* --- temporary folders -------------------------------------------------------------------------------------------- */

static uint32_t entries;

static void count_entry(void *data, const char *name)
{
    (void)data, (void)name;
    entries++;
}

static uint32_t entries_of(const char *folder)
{
    entries = 0;
    ck_assert(os_folder_list(folder, count_entry, NULL));
    return entries;
}

/* A folder of this name with nothing in it. */
static const char *empty_folder(const char *name)
{
    static char path[1024];
    char command[1100];
    snprintf(path, sizeof path, "%s/%s", TEST_SCRATCH_DIR, name);
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c): a path of our own */
    ck_assert(os_folder_create(path));
    return path;
}

START_TEST(temporary_folders_lie_in_tmp_where_no_other_place_is_named)
{
    temporary_t folder;
    char path[256];
    setenv("TMPDIR", "", 1);
    ck_assert(temporary_create(&folder, NULL, "os-calls", path, sizeof path));
    ck_assert_msg(strncmp(path, "/tmp/os-calls-", 14) == 0, "%s", path);
    temporary_remove(&folder, path);
    ck_assert(os_path_is_missing(path));
}
END_TEST

START_TEST(a_temporary_folder_needs_room_for_its_path_and_that_of_its_owner)
{
    temporary_t folder;
    static char parent[PATH_LENGTH], path[PATH_LENGTH];
    const char *empty = empty_folder("os_calls_deep");
    ck_assert(!temporary_create(&folder, empty, "deep", path, strlen(empty) + 11));
    ck_assert_uint_eq(entries_of(empty), 0);
    ck_assert(temporary_create(&folder, empty, "deep", path, strlen(empty) + 13));
    temporary_remove(&folder, path);
    size_t length = (size_t)snprintf(parent, sizeof parent, "%s", empty), wanted = PATH_LENGTH - 1 - 12;
    while (length < wanted) { /* "/deep-XXXXXX" just fits behind it */
        size_t more = wanted - length < 200 ? wanted - length : wanted - length < 240 ? 120 : 200;
        parent[length] = '/';
        memset(parent + length + 1, 'd', more - 1);
        length += more;
        parent[length] = '\0';
        ck_assert_msg(mkdir(parent, 0755) == 0, "%zu: %s", length, strerror(errno));
    }
    ck_assert(!temporary_create(&folder, parent, "deep", path, sizeof path));
    ck_assert_uint_eq(strlen(path), PATH_LENGTH - 1);
    ck_assert_uint_eq(entries_of(parent), 0);
    empty_folder("os_calls_deep");
}
END_TEST

/* Another process sweeps the folder between its making and its locking. */
static void sweep_owner(void *data, const char *call, bool change)
{
    const char **path = data;
    char owner[1024];
    (void)change;
    if (*path == NULL || strcmp(call, "fstat") != 0)
        return;
    snprintf(owner, sizeof owner, "%s/.owner", *path);
    *path = NULL;
    ck_assert_int_eq(unlink(owner), 0);
}

START_TEST(a_folder_that_was_swept_while_it_was_made_is_made_anew)
{
    temporary_t folder;
    char path[1024], kept[1024];
    snprintf(kept, sizeof kept, "%s", empty_folder("os_calls_swept"));
    refuse("flock", 1, EWOULDBLOCK);
    ck_assert(temporary_create(&folder, kept, "swept", path, sizeof path));
    expect_one_refused();
    ck_assert_uint_eq(entries_of(kept), 1);
    temporary_remove(&folder, path);

    const char *sought = path;
    calls_begin(0, false);
    calls_before_each(sweep_owner, &sought);
    ck_assert(temporary_create(&folder, kept, "swept", path, sizeof path));
    calls_end();
    ck_assert_ptr_null(sought);
    ck_assert_uint_eq(entries_of(kept), 1);
    ck_assert_uint_eq(entries_of(path), 1); /* its owner's file */
    temporary_remove(&folder, path);

    calls_begin_coded("flock", 1, true, EWOULDBLOCK);
    ck_assert(!temporary_create(&folder, kept, "swept", path, sizeof path));
    calls_end();
    ck_assert_uint_eq(entries_of(kept), 0);
}
END_TEST

/* What the system does not tell of a folder may be a living process's. */
START_TEST(a_folder_is_swept_only_where_every_call_says_that_it_may)
{
    static const char *const names[] = {"openat", "fdopendir", "fstat", "flock", "fstatat", "unlinkat", "opendir"};
    char parent[512], path[1024];
    snprintf(parent, sizeof parent, "%s", empty_folder("os_calls_dead"));
    for (size_t i = 0; i < COUNT(names); i++) {
        uint32_t refused = 0;
        for (uint32_t nth = 1;; nth++) {
            snprintf(path, sizeof path, "%s/dead-abcdef", parent);
            ck_assert(mkdir(path, 0700) == 0 || errno == EEXIST);
            static const char *const files[] = {".owner", "one", "two"};
            for (size_t j = 0; j < COUNT(files); j++) {
                snprintf(path, sizeof path, "%s/dead-abcdef/%s", parent, files[j]);
                close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
            }
            refuse(names[i], nth, EIO);
            uint32_t swept = temporary_sweep(parent, "dead");
            calls_end();
            if (calls_failed() == 0) {
                ck_assert_uint_eq(swept, 1);
                ck_assert_uint_eq(entries_of(parent), 0);
                break;
            }
            refused++;
            ck_assert_msg(swept == 0, "%s, call %u", names[i], nth);
            ck_assert_msg(entries_of(parent) == 1, "%s, call %u", names[i], nth);
        }
        ck_assert_msg(refused > 0, "%s", names[i]);
    }
}
END_TEST

START_TEST(a_temporary_folder_that_cannot_be_listed_stays_and_no_file_stays_open)
{
    temporary_t folder;
    char path[1024], file[1100];
    static const char *const names[] = {"open", "fdopendir"};
    for (size_t i = 0; i < COUNT(names); i++) {
        uint32_t before = calls_descriptors();
        ck_assert(temporary_create(&folder, TEST_SCRATCH_DIR, "listed", path, sizeof path));
        snprintf(file, sizeof file, "%s/file", path);
        ck_assert_msg(os_file_replace(file, "x", 1, file, 0), "no file");
        calls_begin_coded(names[i], 1, true, EMFILE);
        temporary_remove(&folder, path);
        calls_end();
        ck_assert_uint_eq(calls_failed(), 2);
        ck_assert(!os_path_is_missing(file));
        ck_assert_uint_eq(calls_descriptors(), before);
        temporary_remove(&folder, path); /* it has no owner any more */
        ck_assert(os_path_is_missing(path));
    }
    temporary_remove(&folder, path); /* it is not there */
}
END_TEST

/* --- memory ------------------------------------------------------------------------------------------------------- */

START_TEST(a_system_that_does_not_tell_the_size_of_its_pages_is_taken_to_have_small_ones)
{
    refuse("sysconf", 1, EINVAL);
    ck_assert_uint_eq(os_page_size(), 4096);
    expect_one_refused();
}
END_TEST

START_TEST(pages_that_copies_of_the_process_cannot_be_kept_from_are_told_of)
{
    size_t size = os_page_size();
    char *block = os_pages_alloc(size);
    ck_assert_ptr_nonnull(block);
    errno = 7;
    refuse("madvise", 1, EINVAL);
    ck_assert(!os_pages_inherit(block, size, false));
    expect_one_refused();
    refuse("mprotect", 1, EINVAL);
    ck_assert(!os_pages_let(block, size, OS_PAGES_CLOSED));
    expect_one_refused();
    ck_assert_int_eq(errno, 7);
    block[0] = 1; /* still to be written to */
    ck_assert(os_pages_inherit(block, size, false) && os_pages_inherit(block, size, true));
    os_pages_free(block, size);
}
END_TEST

static uint64_t return_nothing(void *data)
{
    (void)data;
    return 0;
}

START_TEST(where_no_code_can_be_made_no_function_is)
{
    static const char *const names[] = {"mmap", "mprotect"};
    for (size_t i = 0; i < COUNT(names); i++) {
        refuse(names[i], 1, EACCES);
        ck_assert_ptr_null(os_function_make(return_nothing, NULL));
        expect_one_refused();
    }
}
END_TEST

/* What the system is made to tell: the texts of files, NULL for one that is not there. */
typedef struct told_t {
    const char *memory, *groups, *most, *current, *about;
    uint64_t available;
} told_t;

START_TEST(the_memory_that_is_left_is_what_the_system_and_the_group_allow)
{
    static const char plenty[] = "MemTotal: 100 kB\nMemAvailable:   50 kB\nSwapFree:  30 kB\n", cgroup[] = "0::/a/b\n";
    static const told_t cases[] = {
        {NULL, NULL, NULL, NULL, NULL, UINT64_MAX},
        {plenty, NULL, NULL, NULL, NULL, 80 * 1024},
        {"MemAvailable: 50 kB\n", NULL, NULL, NULL, NULL, 50 * 1024},
        {"MemAvailable: much\n", NULL, NULL, NULL, NULL, UINT64_MAX},
        {"SwapFree: 30 kB\n", NULL, NULL, NULL, NULL, UINT64_MAX},
        {plenty, "", "1000\n", "10\n", "file 5\n", 80 * 1024},
        {plenty, "4:memory:/a/b\n", "1000\n", "10\n", "file 5\n", 80 * 1024},
        {plenty, cgroup, "10000\n", "4000\n", "anon 1\nfile 1000\n", 7000},
        {plenty, cgroup, "10000\n", "4000\n", "anon 1\n", 6000},
        {plenty, cgroup, "10000\n", "4000\n", "file 4001\n", 6000},
        {plenty, cgroup, "10000\n", "12000\n", "file 1000\n", 0},
        {plenty, cgroup, "200000\n", "4000\n", "file 1000\n", 80 * 1024},
        {plenty, cgroup, "max\n", "4000\n", "file 1000\n", 80 * 1024},
        {plenty, cgroup, NULL, "4000\n", "file 1000\n", 80 * 1024},
        {plenty, cgroup, "10000\n", NULL, "file 1000\n", 80 * 1024},
        {NULL, cgroup, "10000\n", "4000\n", "file 1000\n", 7000},
    };
    static const char *const paths[] = {"/proc/meminfo", "/proc/self/cgroup", "/sys/fs/cgroup/a/b/memory.max",
                                        "/sys/fs/cgroup/a/b/memory.current", "/sys/fs/cgroup/a/b/memory.stat"};
    char files[COUNT(paths)][512];
    for (size_t i = 0; i < COUNT(cases); i++) {
        const char *const texts[] = {cases[i].memory, cases[i].groups, cases[i].most, cases[i].current, cases[i].about};
        for (size_t j = 0; j < COUNT(paths); j++) {
            char name[32];
            snprintf(name, sizeof name, "os_calls_told_%zu", j);
            snprintf(files[j], sizeof files[j], "%s", scratch_file(name, texts[j] == NULL ? "" : texts[j]));
            if (texts[j] == NULL)
                remove(files[j]);
        }
        calls_begin(0, false);
        for (size_t j = 0; j < COUNT(paths); j++)
            calls_open_instead(paths[j], files[j]);
        uint64_t available = os_memory_available();
        calls_end();
        ck_assert_msg(available == cases[i].available, "case %zu: %llu", i, (unsigned long long)available);
    }
}
END_TEST

/* --- libraries ---------------------------------------------------------------------------------------------------- */

START_TEST(a_library_that_is_not_opened_is_always_explained)
{
    static char name[PATH_LENGTH + 1];
    char error[256] = "";
    memset(name, 'n', PATH_LENGTH - 2);
    ck_assert_ptr_null(os_library_open(name, error, sizeof error));
    ck_assert_str_eq(error, "the path is longer than 4093 bytes");
    refuse("dlerror", 1, 0);
    ck_assert_ptr_null(os_library_open(TEST_SCRATCH_DIR "/os_calls_none.so", error, sizeof error));
    expect_one_refused();
    ck_assert_str_eq(error, "the system did not say why");
}
END_TEST

static void *open_library(void)
{
    char error[256] = "";
    void *library = os_library_open(TEST_PLUGIN_DIR "/point_mass" TEST_SO, error, sizeof error);
    ck_assert_msg(library != NULL, "%s", error);
    return library;
}

START_TEST(of_a_library_that_the_system_does_not_tell_of_nothing_is_taken)
{
    enum { MOST = 16 };
    const void *begin, *end;
    void (*functions[MOST])(void);
    void *library = open_library();
    refuse("dlinfo", 1, 0);
    ck_assert(!os_library_image(library, &begin, &end));
    expect_one_refused();
    refuse("dlinfo", 1, 0);
    ck_assert_uint_eq(os_library_take_ends(library, functions, MOST), 0);
    expect_one_refused();
    ck_assert_uint_eq(os_library_take_ends(library, functions, 1), 0); /* there are two */
    refuse("mprotect", 1, EACCES);
    ck_assert_uint_eq(os_library_take_ends(library, functions, MOST), 0);
    expect_one_refused();
    uint32_t count = os_library_take_ends(library, functions, MOST);
    ck_assert_uint_ge(count, 2);
    for (uint32_t i = 0; i < count; i++)
        functions[i]();
    os_library_close(library);
}
END_TEST

START_TEST(an_ending_that_cannot_be_taken_is_left_to_the_system)
{
    enum { MOST = 16 };
    void (*functions[MOST])(void);
    void *library = open_library();
    for (uint32_t i = 0; i < MOST; i++)
        memset(&functions[i], 0xff, sizeof functions[i]);
    refuse("mprotect", 2, EACCES);
    uint32_t count = os_library_take_ends(library, functions, MOST);
    expect_one_refused();
    ck_assert_uint_ge(count, 1);
    ck_assert(functions[count] == NULL);
    for (uint32_t i = 0; i < count; i++)
        functions[i]();
    os_library_close(library);
}
END_TEST

/* --- terminal, programs, threads ---------------------------------------------------------------------------------- */

START_TEST(a_terminal_has_the_columns_that_it_tells)
{
    struct winsize window = {.ws_col = 123, .ws_row = 20};
    int master = posix_openpt(O_RDWR | O_NOCTTY);
    ck_assert(master >= 0 && grantpt(master) == 0 && unlockpt(master) == 0);
    int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    ck_assert_int_ge(terminal, 0);
    ck_assert(os_is_terminal(terminal));
    ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &window), 0);
    ck_assert_int_eq(os_terminal_columns(terminal), 123);
    window.ws_col = 0;
    ck_assert_int_eq(ioctl(terminal, TIOCSWINSZ, &window), 0);
    ck_assert_int_eq(os_terminal_columns(terminal), 80);
    close(terminal);
    close(master);
}
END_TEST

static void see(int number, siginfo_t *about, void *context)
{
    (void)number, (void)about, (void)context;
}

START_TEST(a_programs_own_handler_for_files_that_grow_too_large_stays)
{
    struct sigaction ours = {.sa_flags = SA_SIGINFO}, now;
    ours.sa_sigaction = see;
    ck_assert_int_eq(sigaction(SIGXFSZ, &ours, NULL), 0);
    os_survive_file_limit();
    ck_assert_int_eq(sigaction(SIGXFSZ, NULL, &now), 0);
    ck_assert(now.sa_sigaction == see);
    signal(SIGXFSZ, SIG_DFL);
    os_survive_file_limit();
    ck_assert_int_eq(sigaction(SIGXFSZ, NULL, &now), 0);
    ck_assert(now.sa_handler == SIG_IGN);
}
END_TEST

START_TEST(output_is_led_to_a_file_and_back)
{
    size_t size;
    FILE *file = tmpfile();
    ck_assert_ptr_nonnull(file);
    uint32_t before = calls_descriptors();
    int saved = os_output_lead(file);
    ck_assert_int_ge(saved, 0);
    printf("to the file\n");
    os_output_lead_back(saved);
    ck_assert_uint_eq(calls_descriptors(), before);
    static const char *const names[] = {"dup", "dup2"};
    for (size_t i = 0; i < COUNT(names); i++) {
        refuse(names[i], 1, EMFILE);
        ck_assert_int_eq(os_output_lead(file), -1);
        expect_one_refused();
        ck_assert_uint_eq(calls_descriptors(), before);
    }
    char *text = take_text(file, &size);
    ck_assert_str_eq(text, "to the file\n");
    free(text);
}
END_TEST

START_TEST(a_program_is_waited_for_though_a_signal_interrupts_it)
{
    static const char *const seven[] = {"sh", "-c", "exit 7", NULL};
    int status = -100;
    refuse("waitpid", 1, EINTR);
    ck_assert(os_program_run("/bin/sh", seven, &status));
    expect_one_refused();
    ck_assert_int_eq(status, 7);
    status = -100;
    refuse("waitpid", 1, ECHILD); /* the end of children that are not wanted to be waited for is not told */
    ck_assert(!os_program_run("/bin/sh", seven, &status));
    expect_one_refused();
    ck_assert_int_eq(status, -100);
    ck_assert_int_gt(wait(NULL), 0);
}
END_TEST

START_TEST(what_a_program_prints_is_read_though_signals_interrupt_it)
{
    static const char *const hello[] = {"sh", "-c", "echo hello", NULL};
    static const char *const bad[] = {"sh", "-c", "echo no; exit 1", NULL};
    char text[64], small[4];
    static const char *const names[] = {"read", "waitpid"};
    for (size_t i = 0; i < COUNT(names); i++) {
        refuse(names[i], 1, EINTR);
        ck_assert(os_program_read("sh", hello, text, sizeof text));
        expect_one_refused();
        ck_assert_str_eq(text, "hello\n");
    }
    ck_assert(os_program_read("sh", hello, small, sizeof small));
    ck_assert_str_eq(small, "hel");
    ck_assert(!os_program_read("sh", bad, text, sizeof text));
    refuse("waitpid", 1, ECHILD);
    ck_assert(!os_program_read("sh", hello, text, sizeof text));
    expect_one_refused();
    ck_assert_int_gt(wait(NULL), 0);
}
END_TEST

START_TEST(a_program_that_cannot_be_read_is_not_started_and_no_file_stays_open)
{
    static const char *const hello[] = {"sh", "-c", "echo hello", NULL};
    static const char *const names[] = {"pipe", "posix_spawn_file_actions_init", "posix_spawn_file_actions_addopen",
                                        "posix_spawn_file_actions_adddup2", "posix_spawn_file_actions_addclose"};
    char text[64];
    uint32_t before = calls_descriptors(), refused = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        for (uint32_t nth = 1;; nth++) {
            refuse(names[i], nth, ENOMEM);
            bool was_read = os_program_read("sh", hello, text, sizeof text);
            calls_end();
            ck_assert_msg(was_read == (calls_failed() == 0), "%s, call %u", names[i], nth);
            ck_assert_uint_eq(calls_descriptors(), before);
            if (was_read)
                break;
            ck_assert_str_eq(text, "");
            refused++;
        }
    }
    ck_assert_uint_eq(refused, 6);
    ck_assert_int_eq(wait(NULL), -1);
}
END_TEST

START_TEST(processors_that_are_not_told_of_are_at_least_one)
{
    refuse("sched_getaffinity", 1, EINVAL);
    ck_assert_uint_eq(os_processor_count(), (uint32_t)sysconf(_SC_NPROCESSORS_ONLN));
    expect_one_refused();
    calls_begin_coded("sched_getaffinity sysconf", 1, true, EINVAL);
    ck_assert_uint_eq(os_processor_count(), 1);
    calls_end();
    ck_assert_uint_eq(calls_failed(), 2);
}
END_TEST

START_TEST(a_lock_and_a_sleep_need_memory_and_handles)
{
    static const char *const of_locks[] = {"malloc", "pthread_mutex_init", "pthread_cond_init"};
    static const char *const of_sleeps[] = {"malloc", "pipe"};
    for (size_t i = 0; i < COUNT(of_locks); i++) {
        refuse(of_locks[i], 1, ENOMEM);
        ck_assert_ptr_null(os_lock_create());
        expect_one_refused();
    }
    for (size_t i = 0; i < COUNT(of_sleeps); i++) {
        refuse(of_sleeps[i], 1, ENOMEM);
        ck_assert_ptr_null(os_wake_create());
        expect_one_refused();
    }
    os_wake_destroy(NULL);
}
END_TEST

START_TEST(a_sleeper_is_woken_though_a_signal_interrupts_the_one_who_wakes)
{
    int ends[2];
    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], "x", 1), 1);
    os_wake_t *wake = os_wake_create();
    ck_assert_ptr_nonnull(wake);
    refuse("write", 1, EINTR);
    os_wake_signal(wake);
    expect_one_refused();
    const intptr_t handles[] = {ends[0]};
    ck_assert_uint_eq(os_wake_sleep(wake, UINT64_MAX, handles, 1), 1);
    for (int i = 0; i < 100; i++)
        os_wake_signal(wake);
    ck_assert_uint_eq(os_wake_sleep(wake, UINT64_MAX, NULL, 0), 0);
    ck_assert_uint_eq(os_wake_sleep(wake, 0, NULL, 0), 0); /* all that were signalled are one */
    intptr_t many[OS_WAKE_MOST + 3];
    for (uint32_t i = 0; i < COUNT(many); i++)
        many[i] = ends[0];
    ck_assert_uint_eq(os_wake_sleep(wake, UINT64_MAX, many, COUNT(many)), (1u << OS_WAKE_MOST) - 1);
    os_wake_destroy(wake);
    close(ends[0]);
    close(ends[1]);
}
END_TEST

Suite *os_calls_suite(void)
{
    Suite *suite = suite_create("os_calls");
    TCase *tests = add_case(suite, "files", NULL, NULL, 120);
    tcase_add_test(tests, what_is_no_plain_file_is_not_read);
    tcase_add_test(tests, a_file_is_written_whole_though_a_signal_interrupts_it);
    tcase_add_test(tests, a_file_that_is_larger_than_the_limit_is_refused_before_anything_is_written);
    tcase_add_test(tests, a_device_that_fails_says_why);
    tcase_add_test(tests, where_nothing_can_be_brought_to_the_disk_a_file_is_written_all_the_same);
    tcase_add_test(tests, a_folder_that_may_not_be_read_is_not_brought_to_the_disk_and_that_is_no_failure);
    tcase_add_test(tests, a_stream_goes_to_no_place_that_it_cannot_have);
    tcase_add_test(tests, a_part_that_was_renamed_meanwhile_is_left_alone_and_another_one_begun);
    tcase_add_test(tests, a_file_that_may_not_be_written_to_is_not_replaced);
    tcase_add_test(tests, only_a_path_that_is_known_to_lead_nowhere_is_missing);
    tcase_add_test(tests, where_the_program_lies_is_not_guessed);
    tcase_add_test(tests, a_folder_that_lets_no_code_be_run_is_known);

    tests = add_case(suite, "temporary folders", NULL, NULL, 120);
    tcase_add_test(tests, temporary_folders_lie_in_tmp_where_no_other_place_is_named);
    tcase_add_test(tests, a_temporary_folder_needs_room_for_its_path_and_that_of_its_owner);
    tcase_add_test(tests, a_folder_that_was_swept_while_it_was_made_is_made_anew);
    tcase_add_test(tests, a_folder_is_swept_only_where_every_call_says_that_it_may);
    tcase_add_test(tests, a_temporary_folder_that_cannot_be_listed_stays_and_no_file_stays_open);

    tests = add_case(suite, "memory and libraries", NULL, NULL, 120);
    tcase_add_test(tests, a_system_that_does_not_tell_the_size_of_its_pages_is_taken_to_have_small_ones);
    tcase_add_test(tests, pages_that_copies_of_the_process_cannot_be_kept_from_are_told_of);
    tcase_add_test(tests, where_no_code_can_be_made_no_function_is);
    tcase_add_test(tests, the_memory_that_is_left_is_what_the_system_and_the_group_allow);
    tcase_add_test(tests, a_library_that_is_not_opened_is_always_explained);
    tcase_add_test(tests, of_a_library_that_the_system_does_not_tell_of_nothing_is_taken);
    tcase_add_test(tests, an_ending_that_cannot_be_taken_is_left_to_the_system);

    tests = add_case(suite, "terminal, programs, threads", NULL, NULL, 120);
    tcase_add_test(tests, a_terminal_has_the_columns_that_it_tells);
    tcase_add_test(tests, a_programs_own_handler_for_files_that_grow_too_large_stays);
    tcase_add_test(tests, output_is_led_to_a_file_and_back);
    tcase_add_test(tests, a_program_is_waited_for_though_a_signal_interrupts_it);
    tcase_add_test(tests, what_a_program_prints_is_read_though_signals_interrupt_it);
    tcase_add_test(tests, a_program_that_cannot_be_read_is_not_started_and_no_file_stays_open);
    tcase_add_test(tests, processors_that_are_not_told_of_are_at_least_one);
    tcase_add_test(tests, a_lock_and_a_sleep_need_memory_and_handles);
    tcase_add_test(tests, a_sleeper_is_woken_though_a_signal_interrupts_the_one_who_wakes);
    return suite;
}
