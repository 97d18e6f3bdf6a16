/* fuzz_ini.c - libFuzzer target of inis: any bytes as the file that a host is set up from, and changed by afterwards.
 *
 * What is set up must step; what is refused must say where, and leave a host without worlds and entities that the same
 * file, and another one, are given to once more. An ini that is empty is read between them. The target's host has one
 * plugin, which is linked in; other files that an ini names are not there.
 *
 * seeds: tests/fuzz/corpus/fuzz_ini
 * canary: host/engine/ini.c s/ini->count + 1u/ini->count/
 */
#define _GNU_SOURCE 1

#include <backplane.h>

#include "account.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 16 << 20, MOST_STEPS = 2 };

static const bp_field_t fields[] = {
    {.name = "x", .type = BP_F32, .min = "-9", .max = "9"}, {.name = "s", .type = BP_STRING},
    {.name = "e", .type = BP_ENTITY}, {.name = "v", .type = BP_VEC3},
    {.name = "l", .type = BP_F32, .flags = BP_FIELD_LIST}};
static const bp_field_t tag_fields[] = {{.name = "name", .type = BP_STRING, .flags = BP_FIELD_LABEL}};
static const bp_field_t options[] = {{.name = "rate", .type = BP_F32, .initial = "1"},
                                     {.name = "text", .type = BP_STRING}};
static const bp_component_i components[] = {{.name = "a", .fields = BP_LIST(fields)},
                                            {.name = "tag", .fields = BP_LIST(tag_fields)}};

static void run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)s, (void)step, (void)matches, (void)count;
}

static const bp_system_i systems[] = {{.name = "walk", .run_all = run_all}};
static const bp_plugin_head_t plugin = BP_PLUGIN_HEAD(
    "plugin", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(components),
                                         .systems = BP_LIST(systems), .options = BP_LIST(options)}));
static const bp_plugin_head_t *const plugins[] = {&plugin};

static account_t account;

static void silent(void *context, int32_t level, const char *source, const char *text)
{
    (void)context, (void)level, (void)source, (void)text;
}

/* A file without a folder, of these bytes. */
static const char *path_of(const void *bytes, size_t size)
{
    static char path[64];
    static int file = -1;
    if (file < 0) {
        file = memfd_create("ini", 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    expect(ftruncate(file, 0) == 0 && pwrite(file, bytes, size, 0) == (ssize_t)size);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    account = (account_t){.allowed = -1, .most = MOST_BYTES};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.struct_size = sizeof(bp_host_desc_t),
                                                       .tag = 1,
                                                       .allocator = &(bp_allocator_i){.context = &account,
                                                                                      .resize = account_resize},
                                                       .log = &(bp_log_i){.write = silent},
                                                       .static_plugins = plugins,
                                                       .static_plugin_count = 1});
    expect(host != NULL);
    for (uint32_t turn = 0; turn < 2; turn++) {
        bp_result_t result = bp_host_setup(host, path_of(data, size));
        if (result == BP_OK) {
            for (uint32_t i = 0; i < MOST_STEPS; i++)
                expect(bp_host_step(host) == BP_OK);
            break;
        }
        expect(bp_host_error(host)[0] != '\0' && bp_host_api(host)->entity->count(host) == 0);
        expect(bp_host_api(host)->world->at(host, 0) == NULL);
        bp_host_setup(host, path_of("", 0));
    }
    bp_host_destroy(host);
    expect(account.bytes == 0);
    return 0;
}
