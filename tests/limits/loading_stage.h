/* loading_stage.h - what the tests of loading share: a host whose memory and log are watched, and loads that are
 * refused.
 *
 * Every file of tests that includes this header has a host of its own. Each test begins with `begin` or `begin_with`
 * and finishes with `end`, which wants all memory back.
 *
 * What it does not do: it makes no broken files (test_loading.c) and no broken declarations (test_declarations.c).
 */
#ifndef TESTS_LIMITS_LOADING_STAGE_H
#define TESTS_LIMITS_LOADING_STAGE_H

#include "../unit/support.h"

#include <backplane.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 4096 };

static const char companion_file[] = TEST_FIXTURE_DIR "/companion" TEST_SO;

/* Each test runs in a process of its own. */
static bp_host_o *host;
static const bp_api_t *api;
static size_t bytes;
static char log_text[LOG_MAX];

static inline void *resize_counted(void *context, void *old, size_t old_size, size_t new_size)
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

static inline void write_log(void *context, int32_t level, const char *source, const char *text)
{
    char *all = context;
    size_t used = strlen(all);
    snprintf(all + used, LOG_MAX - used, "%d %s: %s\n", level, source, text);
}

static inline void begin_with(const bp_plugin_head_t *const *plugins, uint32_t count)
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

static inline void begin(void)
{
    begin_with(NULL, 0);
}

static inline void end(void)
{
    bp_host_destroy(host);
    host = NULL;
    ck_assert_msg(bytes == 0, "%zu bytes are left", bytes);
    ck_assert_msg(strstr(log_text, "not given back") == NULL, "%s", log_text);
}

static inline void expect_words(const char *const *words, size_t count)
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

static inline uint32_t plugin_count(void)
{
    uint32_t count = 0;
    while (bp_host_plugin(host, count, NULL) != NULL)
        count++;
    return count;
}

static inline void expect_loaded(const char *name)
{
    bp_result_t result = bp_host_load_plugin(host, name, NULL, 0);
    ck_assert_msg(result == BP_OK, "%s: %s", name, bp_host_error(host));
}

/* No such component: neither described nor to be had by a world. */
static inline void expect_no_component(const char *name)
{
    bp_field_t field;
    ck_assert_int_eq(api->property->describe(host, name, 0, &field, sizeof field), BP_ERROR_NOT_FOUND);
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "trial"});
    ck_assert_ptr_nonnull(world);
    ck_assert_int_eq(bp_world_use_component(world, name), BP_ERROR_NOT_FOUND);
    bp_world_destroy(world);
}

#endif
