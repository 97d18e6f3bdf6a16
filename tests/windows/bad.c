/* bad.c - files that are no plugins, offered to a host on Windows: bad.exe PLUGIN.dll OTHER.so FOLDER
 *
 * PLUGIN.dll cut short at each length, and ended with zeros from each length on, in the places where that changes it;
 * the library of another system; texts, nothing, a folder. Each is refused with a sentence that names the file, by a
 * host that goes on, whether it is loaded or takes the place of a plugin at work.
 *
 * Check cannot fork here, so this is a program: it ends with 0 where everything was as it should be, else with 1 and a
 * line for each of the first things that were not.
 */
#include <backplane.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20, EVERY = 7 /* lengths, where files end with zeros */, TOLD = 20 };

static int failures;
static char path[1024];

static void fail(const char *what, size_t at, const char *why)
{
    if (failures++ < TOLD)
        printf("not so: %s (%zu): %s\n", what, at, why);
}

static size_t read_file(const char *from, char *bytes)
{
    FILE *file = fopen(from, "rb");
    size_t size = file == NULL ? 0 : fread(bytes, 1, MOST, file);
    if (file != NULL)
        fclose(file);
    return size == MOST ? 0 : size;
}

static bool write_file(const char *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    bool good = file != NULL && fwrite(bytes, 1, size, file) == size;
    return file != NULL && fclose(file) == 0 && good;
}

/* The file is refused with a sentence about it, and no plugin has come. */
static void expect_refused(bp_host_o *host, const char *what, size_t at)
{
    if (bp_host_load_plugin(host, path, NULL, 0) == BP_OK)
        fail(what, at, "it has been loaded");
    else if (strstr(bp_host_error(host), "bad.dll") == NULL)
        fail(what, at, bp_host_error(host));
    if (bp_host_plugin(host, 0, NULL) != NULL) {
        fail(what, at, "the host has a plugin");
        bp_host_unload_plugin(host, "point_mass");
    }
}

static void cut_at_each_length(bp_host_o *host, const char *bytes, size_t size)
{
    for (size_t length = 0; length < size; length++) {
        if (!write_file(bytes, length))
            fail("writing", length, "the file cannot be written");
        expect_refused(host, "cut short", length);
    }
}

static void end_with_zeros(bp_host_o *host, const char *bytes, size_t size)
{
    static char other[MOST];
    for (size_t length = 0; length < size; length += EVERY) {
        memcpy(other, bytes, length);
        memset(other + length, 0, size - length);
        if (memcmp(other, bytes, size) == 0)
            continue;
        if (!write_file(other, size))
            fail("writing", length, "the file cannot be written");
        expect_refused(host, "ended with zeros", length);
    }
}

static void give_others(bp_host_o *host, const char *elf)
{
    static char bytes[MOST];
    static const char text[] = "int main(void) { return 0; }\n";
    size_t size = read_file(elf, bytes);
    if (size == 0 || !write_file(bytes, size))
        fail("the library of Linux", size, "it cannot be copied");
    expect_refused(host, "the library of Linux", size);
    if (strstr(bp_host_error(host), "Linux") == NULL)
        fail("the library of Linux is named", 0, bp_host_error(host));
    printf("%s\n", bp_host_error(host));
    write_file(text, sizeof text - 1);
    expect_refused(host, "a text", 0);
    write_file("MZ", 2);
    expect_refused(host, "two letters", 0);
    remove(path);
    expect_refused(host, "nothing", 0);
}

/* What is at work stays at work. */
static void reload_cut(const char *bytes, size_t size)
{
    static const char *const names[] = {"point_mass"};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.flags = BP_HOST_COPY_PLUGINS, .log = &(bp_log_i){0}});
    if (!write_file(bytes, size) || bp_host_load_plugin(host, path, NULL, 0) != BP_OK)
        fail("loading the whole file", size, bp_host_error(host));
    for (size_t length = 0; length < size; length += EVERY * EVERY) {
        write_file(bytes, length);
        if (bp_host_reload(host, names, 1, NULL) == BP_OK)
            fail("a reload of a file that was cut", length, "it came in");
    }
    write_file(bytes, size);
    if (bp_host_reload(host, names, 1, NULL) != BP_OK)
        fail("a reload of the whole file", size, bp_host_error(host));
    bp_host_destroy(host);
}

int main(int argc, char **argv)
{
    static char bytes[MOST];
    if (argc != 4) {
        fprintf(stderr, "usage: bad PLUGIN.dll OTHER.so FOLDER\n");
        return 2;
    }
    size_t size = read_file(argv[1], bytes);
    snprintf(path, sizeof path, "%s/bad.dll", argv[3]);
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.log = &(bp_log_i){0}});
    if (size == 0) {
        printf("%s cannot be read\n", argv[1]);
        return 1;
    }
    cut_at_each_length(host, bytes, size);
    end_with_zeros(host, bytes, size);
    give_others(host, argv[2]);
    bp_host_destroy(host);
    reload_cut(bytes, size);
    printf("%zu lengths, %d failures\n", size, failures);
    return failures > 0;
}
