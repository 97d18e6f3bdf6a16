/* system.c - what host/os and host/reload ask of Windows, where it answers in another way than POSIX systems do:
 * system.exe FOLDER
 *
 * Suites of the tests hold on every system, so they hand over no events, devices and handles of this one.
 *
 * Check cannot fork here, so this is a program: it ends with 0 where everything was as it should be, else with 1 and a
 * line for each thing that was not. With "wait" as its argument it says so and then waits, for the tests of processes.
 */
#include "base/memory.h"
#include "os/arithmetic.h"
#include "os/files.h"
#include "os/os.h"
#include "os/surroundings.h"
#include "reload/folder.h"
#include "reload/process.h"

#include <windows.h>

#include <io.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { PATIENCE_MS = 60000, PATH_ROOM = 1024 };

static int failures;
static const char *scratch;
static memory_t memory;

static void expect(bool good, const char *what)
{
    if (good)
        return;
    failures++;
    printf("not so: %s\n", what);
}

/* A path in the folder of this run; good for three at a time. */
static const char *in_scratch(const char *name)
{
    static char paths[3][PATH_ROOM];
    static int next;
    char *path = paths[next++ % 3];
    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = os_file_open(path, "wb");
    expect(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0, "a file is written");
}

static bool holds(const char *path, const char *text)
{
    char bytes[64] = "";
    FILE *file = os_file_open(path, "rb");
    size_t size = file == NULL ? 0 : fread(bytes, 1, sizeof bytes - 1, file);
    bytes[size] = '\0';
    return file != NULL && fclose(file) == 0 && strcmp(bytes, text) == 0;
}

static HANDLE open_beside(const char *path, DWORD shared)
{
    return CreateFileA(path, GENERIC_READ, shared, NULL, OPEN_EXISTING, 0, NULL);
}

/* --- files -------------------------------------------------------------------------------------------------------- */

static void what_cannot_be_brought_to_the_disk_is_told(void)
{
    FILE *file = os_file_open(in_scratch("unsynced"), "wb");
    expect(file != NULL && fputs("x", file) >= 0 && fflush(file) == 0 && os_stream_sync(file), "a file is synced");
    if (file == NULL)
        return;
    CloseHandle((HANDLE)_get_osfhandle(_fileno(file)));
    expect(!os_stream_sync(file), "a file that the system does not know any more is not synced");
    fclose(file);
}

static void what_has_no_disk_needs_not_be_brought_there(void)
{
    FILE *file = os_file_open("NUL", "wb");
    expect(file != NULL && fputs("x", file) >= 0 && fflush(file) == 0 && os_stream_sync(file), "a device is synced");
    if (file != NULL)
        fclose(file);
}

static void a_device_is_special_and_written_to_directly(void)
{
    static const char *const devices[] = {"NUL", "nul", "CON", "\\\\.\\pipe\\backplane"};
    char error[256] = "";
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++)
        expect(os_path_is_special(devices[i]), devices[i]);
    write_file(in_scratch("plain"), "x");
    expect(!os_path_is_special(in_scratch("plain")) && !os_path_is_special(scratch) &&
               !os_path_is_special(in_scratch("nothing")),
           "files, folders and nothing are not special");
    expect(os_file_replace("NUL", "x", 1, error, sizeof error), error);
}

static void a_part_goes_where_its_file_cannot_be_kept(void)
{
    static char distant[5000];
    char error[256] = "";
    memset(distant, 'x', sizeof distant - 1);
    write_file(in_scratch("kept.part"), "x");
    expect(!os_file_keep(in_scratch("kept.part"), distant, error, sizeof error), "no system takes such a path");
    expect(error[0] != '\0' && os_path_is_missing(in_scratch("kept.part")), "its part is gone");
}

static void a_part_that_another_program_looks_at_is_kept(void)
{
    char error[256] = "";
    write_file(in_scratch("looked_at.part"), "x");
    HANDLE other = open_beside(in_scratch("looked_at.part"), FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE);
    expect(os_file_keep(in_scratch("looked_at.part"), in_scratch("looked_at"), error, sizeof error), error);
    CloseHandle(other);
    expect(holds(in_scratch("looked_at"), "x"), "the file has what was written");
}

/* A handle that another thread closes after a while. */
static void close_soon(void *data)
{
    Sleep(150);
    CloseHandle(data);
}

static void a_file_that_is_being_read_is_replaced_when_its_reader_is_done(void)
{
    char error[256] = "";
    os_thread_t thread;
    write_file(in_scratch("read"), "old");
    HANDLE reader = open_beside(in_scratch("read"), FILE_SHARE_READ | FILE_SHARE_WRITE);
    expect(os_thread_start(&thread, close_soon, reader), "a thread");
    expect(os_file_replace(in_scratch("read"), "new", 3, error, sizeof error), error);
    os_thread_join(thread);
    expect(holds(in_scratch("read"), "new"), "the new bytes are there");
    reader = open_beside(in_scratch("read"), FILE_SHARE_READ | FILE_SHARE_WRITE);
    expect(!os_file_replace(in_scratch("read"), "odd", 3, error, sizeof error), "a reader that stays is an error");
    expect(strstr(error, "error 32") != NULL || strstr(error, "error 5") != NULL, error);
    CloseHandle(reader);
    expect(holds(in_scratch("read"), "new") && os_path_is_missing(in_scratch("read.part")), "nothing has changed");
}

/* Two writers at a time, as two processes that save to the same file. */
static void replace_often(void *data)
{
    const char *path = data;
    char error[256] = "";
    for (int i = 0; i < 100; i++)
        expect(os_file_replace(path, "whole", 5, error, sizeof error), error);
}

static void writers_of_the_same_file_wait_for_each_other(void)
{
    os_thread_t thread;
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s", in_scratch("of_two"));
    expect(os_thread_start(&thread, replace_often, path), "a thread");
    replace_often(path);
    os_thread_join(thread);
    expect(holds(path, "whole"), "the file is whole");
}

static void count_name(void *data, const char *name)
{
    (void)name;
    ++*(int *)data;
}

static void a_temporary_folder_whose_path_does_not_fit_is_not_left(void)
{
    char small[4];
    int left = 0;
    temporary_t folder;
    expect(os_folder_create(in_scratch("small")), "a folder");
    expect(!temporary_create(&folder, in_scratch("small"), "backplane", small, sizeof small), "the path does not fit");
    expect(os_folder_list(in_scratch("small"), count_name, &left) && left == 0, "the folder is not left");
}

/* --- threads ------------------------------------------------------------------------------------------------------ */

static void an_event_that_resets_itself_ends_a_sleep_and_is_told(void)
{
    os_wake_t *wake = os_wake_create();
    HANDLE events[] = {CreateEventW(NULL, FALSE, FALSE, NULL), CreateEventW(NULL, FALSE, TRUE, NULL)};
    intptr_t handles[] = {(intptr_t)events[0], (intptr_t)events[1]};
    expect(os_wake_sleep(wake, UINT64_C(1000000000), handles, 2) == 2, "the second event");
    expect(os_wake_sleep(wake, 0, handles, 2) == 0, "it was told once");
    SetEvent(events[0]);
    SetEvent(events[1]);
    expect(os_wake_sleep(wake, UINT64_C(1000000000), handles, 2) == 3, "both events");
    CloseHandle(events[0]);
    SetEvent(events[1]);
    expect(os_wake_sleep(wake, UINT64_C(1000000000), handles, 2) == 3, "what is no handle need not be waited for");
    CloseHandle(events[1]);
    os_wake_destroy(wake);
}

static void processors_are_those_that_the_process_may_run_on(void)
{
    DWORD_PTR before, all;
    if (!GetProcessAffinityMask(GetCurrentProcess(), &before, &all) ||
        !SetProcessAffinityMask(GetCurrentProcess(), before & (~before + 1)))
        return;
    expect(os_processor_count() == 1, "one processor of several");
    SetProcessAffinityMask(GetCurrentProcess(), before);
}

static void a_change_of_how_denormal_numbers_are_treated_is_told(void)
{
    enum { TO_ZERO = 0x8040 };
    char text[256] = "";
    volatile float third = 3;
    os_surroundings_t *before = os_surroundings_take(false);
    uint32_t control = arithmetic_control();
    arithmetic_set_control(control | TO_ZERO);
    expect(os_surroundings_put_back(before, text, sizeof text) && strcmp(text, "the way numbers are rounded") == 0,
           "denormal numbers are told");
    expect((arithmetic_control() & TO_ZERO) == (control & TO_ZERO), "they are put back");
    arithmetic_set_control(control & ~ARITHMETIC_FLAGS);
    before = os_surroundings_take(false);
    third = 1 / third;
    expect(!os_surroundings_put_back(before, text, sizeof text), "that a number was rounded is no change");
}

/* --- processes ---------------------------------------------------------------------------------------------------- */

/* Read what a process says until it has said this, or is over. */
static bool says(process_t *process, const char *text)
{
    char said[512] = "";
    size_t length = 0;
    for (int ms = 0; process != NULL && ms < PATIENCE_MS && strstr(said, text) == NULL; ms += 10) {
        bool over = process_state(process).state != PROCESS_RUNNING;
        length += process_read(process, said + length, sizeof said - 1 - length);
        if (over && strstr(said, text) == NULL)
            return false;
        Sleep(10);
    }
    return strstr(said, text) != NULL;
}

static process_end_t end_of(process_t *process)
{
    for (int ms = 0; ms < PATIENCE_MS && process_state(process).state == PROCESS_RUNNING; ms += 10)
        Sleep(10);
    process_end_t end = process_state(process);
    process_free(process);
    return end;
}

/* `program` is this one. */
static void a_command_holds_no_file_of_the_hosts(const char *program)
{
    char command[2 * PATH_ROOM], error[256] = "";
    FILE *file = os_file_open(in_scratch("held.part"), "wb");
    expect(file != NULL && fputs("x", file) >= 0, "a part is being written");
    snprintf(command, sizeof command, "\"%s\" wait", program);
    process_t *process = process_start(&memory, command, NULL);
    expect(says(process, "waiting"), "a command runs");
    expect(file != NULL && fclose(file) == 0, "the part is written");
    expect(os_file_keep(in_scratch("held.part"), in_scratch("held"), error, sizeof error), error);
    expect(process != NULL && process_state(process).state == PROCESS_RUNNING, "the command still runs");
    process_free(process);
}

static void a_command_that_returns_a_negative_number_has_ended_by_itself(void)
{
    process_end_t end = end_of(process_start(&memory, "exit -1", NULL));
    expect(end.state == PROCESS_ENDED && end.code == -1 && end.signal[0] == '\0', "exit -1");
    end = end_of(process_start(&memory, "exit 7", NULL));
    expect(end.state == PROCESS_ENDED && end.code == 7, "exit 7");
}

/* `program` is this one. */
static void a_program_that_returns_a_negative_number_was_ended_by_no_signal(const char *program)
{
    int status = 0;
    const char *const arguments[] = {"system", "return", NULL};
    expect(os_program_run(program, arguments, &status) && status == 255, "-1 is told as other systems do");
}

/* --- folders ------------------------------------------------------------------------------------------------------ */

static void a_folder_with_a_long_path_is_watched(void)
{
    char path[PATH_ROOM], file[PATH_ROOM + 8];
    size_t length = (size_t)snprintf(path, sizeof path, "%s", scratch);
    folder_notice_t notice = {.what = 0};
    while (length < 400) {
        length += (size_t)snprintf(path + length, sizeof path - length, "/a_long_name_0123456789_0123456789_012345678");
        expect(os_folder_create(path), "a folder far down");
    }
    snprintf(file, sizeof file, "%s/file", path);
    folder_watch_t *watch = folder_watch_open(&memory);
    int32_t id = watch == NULL ? -1 : folder_watch_add(watch, path);
    expect(id >= 0, "a long path is watched");
    write_file(file, "x");
    for (int ms = 0; id >= 0 && ms < PATIENCE_MS && !folder_watch_next(watch, &notice); ms += 10)
        Sleep(10);
    expect(id < 0 || (notice.id == id && strcmp(notice.name, "file") == 0), "its notice comes");
    folder_watch_close(watch);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "wait") == 0) {
        puts("waiting");
        fflush(stdout);
        Sleep(PATIENCE_MS);
        return 0;
    }
    if (argc == 2 && strcmp(argv[1], "return") == 0)
        return -1;
    if (argc != 2) {
        fprintf(stderr, "usage: system FOLDER\n");
        return 2;
    }
    char program[PATH_ROOM];
    GetModuleFileNameA(NULL, program, PATH_ROOM);
    scratch = argv[1];
    memory_init(&memory, "test", &(bp_allocator_i){0});
    what_cannot_be_brought_to_the_disk_is_told();
    what_has_no_disk_needs_not_be_brought_there();
    a_device_is_special_and_written_to_directly();
    a_part_goes_where_its_file_cannot_be_kept();
    a_part_that_another_program_looks_at_is_kept();
    a_file_that_is_being_read_is_replaced_when_its_reader_is_done();
    writers_of_the_same_file_wait_for_each_other();
    a_temporary_folder_whose_path_does_not_fit_is_not_left();
    an_event_that_resets_itself_ends_a_sleep_and_is_told();
    processors_are_those_that_the_process_may_run_on();
    a_change_of_how_denormal_numbers_are_treated_is_told();
    a_command_holds_no_file_of_the_hosts(program);
    a_command_that_returns_a_negative_number_has_ended_by_itself();
    a_program_that_returns_a_negative_number_was_ended_by_no_signal(program);
    a_folder_with_a_long_path_is_watched();
    expect(memory_bytes(&memory) == 0, "no memory is kept");
    printf("%d failures\n", failures);
    return failures > 0;
}
