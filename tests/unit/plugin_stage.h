/* plugin_stage.h - what the tests of our own plugins share: a host that loads them from their files, one world, and
 * short names for its properties.
 *
 * Every file of tests that includes this header has a host of its own. Each test begins with `begin` or with
 * `begin_with` and `new_world`, and finishes with `end`, which wants an empty log.
 *
 * What it does not do: no memory is counted (support.h does that).
 */
#ifndef TESTS_UNIT_PLUGIN_STAGE_H
#define TESTS_UNIT_PLUGIN_STAGE_H

#include <backplane.h>
#include <check.h>
#include <components/point_mass.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 8192 };

/* Each test runs in a process of its own. */
static bp_host_o *host;
static const bp_api_t *api;
static bp_world_o *world;
static char log_text[LOG_MAX];
static int32_t log_least = BP_LOG_WARNING;

static inline void write_log(void *context, int32_t level, const char *source, const char *text)
{
    char *all = context;
    size_t used = strlen(all);
    if (level >= log_least)
        snprintf(all + used, LOG_MAX - used, "%s: %s\n", source, text);
}

#define OK(call)                                                                   \
    do {                                                                           \
        bp_result_t result_ = (call);                                              \
        ck_assert_msg(result_ == BP_OK, "%s: %s", #call, bp_host_error(host));     \
    } while (0)

#define REFUSED(code, word, call)                                                                 \
    do {                                                                                          \
        bp_result_t result_ = (call);                                                             \
        ck_assert_msg(result_ == (code), "%s: %d instead of %d: %s", #call, result_, (int)(code), \
                      bp_host_error(host));                                                       \
        ck_assert_msg(strstr(bp_host_error(host), (word)) != NULL, "\"%s\" does not say \"%s\"",  \
                      bp_host_error(host), (word));                                               \
    } while (0)

static inline void begin_with(const bp_plugin_head_t *const *plugins, uint32_t count)
{
    log_text[0] = '\0';
    log_least = BP_LOG_WARNING; /* where tests are no processes of their own, one before may have set it */
    host = bp_host_create(&(bp_host_desc_t){.log = &(bp_log_i){.context = log_text, .write = write_log},
                                            .tag = 5,
                                            .static_plugins = plugins,
                                            .static_plugin_count = count});
    ck_assert_ptr_nonnull(host);
    api = bp_host_api(host);
}

static inline void new_world(double step_rate)
{
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = step_rate});
    ck_assert_ptr_nonnull(world);
}

static inline void load(const char *name, const bp_option_t *options, uint32_t count)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", TEST_PLUGIN_DIR, name);
    OK(bp_host_load_plugin(host, path, options, count));
}

static inline void begin(double step_rate)
{
    begin_with(NULL, 0);
    new_world(step_rate);
}

/* The end of a test: the log has no complaint, and no memory has leaked. */
static inline void end(void)
{
    bp_host_destroy(host);
    host = NULL;
    ck_assert_msg(log_text[0] == '\0', "%s", log_text);
}

/* A component of a plugin of the same name, in the world. */
static inline void use(const char *name)
{
    load(name, NULL, 0);
    OK(bp_world_use_component(world, name));
}

static inline bp_manager_t *manager_of(bp_world_o *w, const char *type)
{
    uint32_t component = api->world->component(w, type);
    ck_assert_uint_ne(component, BP_NONE);
    return api->world->manager(w, component);
}

static inline uint32_t key_in(bp_world_o *w, const char *type, const char *name)
{
    uint32_t key;
    bp_name_t interned;
    OK(api->name->intern(host, name, &interned));
    OK(api->world->key(w, api->world->component(w, type), interned, &key));
    return key;
}

static inline uint32_t key_of(const char *type)
{
    return key_in(world, type, "");
}

static inline void create(const char *type, bp_entity_t *entities, uint32_t count)
{
    uint32_t prototype, key = key_of(type);
    OK(api->world->prototype(world, &key, 1, &prototype));
    OK(api->world->create(world, prototype, entities, count));
}

static inline void set(bp_entity_t e, const char *component, const char *property, uint32_t type, const void *value)
{
    OK(api->property->set_named(world, e, component, property, type, value));
}

static inline void get(bp_entity_t e, const char *component, const char *property, uint32_t type, void *value)
{
    OK(api->property->get_named(world, e, component, property, type, value));
}

static inline bp_vec3_t vector_of(bp_entity_t e, const char *component, const char *property)
{
    bp_vec3_t v;
    get(e, component, property, BP_VEC3, &v);
    return v;
}

static inline void set_text(bp_entity_t e, const char *component, const char *property, const char *text)
{
    set(e, component, property, BP_STRING, &text);
}

static inline void steps(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        OK(bp_world_step(world));
}

static inline float random_float(uint64_t *random, double reach)
{
    return (float)(((double)bp_random_next(random) / 18446744073709551616.0 * 2 - 1) * reach);
}

static inline bp_vec3_t random_vector(uint64_t *random, double reach)
{
    bp_vec3_t v;
    v.x = random_float(random, reach);
    v.y = random_float(random, reach);
    v.z = random_float(random, reach);
    return v;
}

static inline double length_of(bp_vec3_t v)
{
    return sqrt((double)v.x * (double)v.x + (double)v.y * (double)v.y + (double)v.z * (double)v.z);
}

/* What the report of the host says, one line a value or row. */
static char report_text[16384];

static inline void add_line(const char *kind, const char *const *cells, uint32_t count)
{
    size_t used = strlen(report_text);
    used += (size_t)snprintf(report_text + used, sizeof report_text - used, "%s", kind);
    for (uint32_t i = 0; i < count && used < sizeof report_text; i++)
        used += (size_t)snprintf(report_text + used, sizeof report_text - used, "|%s", cells[i]);
    snprintf(report_text + used, sizeof report_text - used, "\n");
}

static inline void take_table(void *context, const char *w, const char *unit, const char *title,
                       const char *const *headers, uint32_t columns)
{
    (void)context, (void)w, (void)unit;
    add_line(title, headers, columns);
}

static inline void take_row(void *context, const char *const *cells, uint32_t columns)
{
    (void)context;
    add_line("row", cells, columns);
}

static inline void take_value(void *context, const char *w, const char *unit, const char *name, const char *text)
{
    (void)context, (void)w, (void)unit;
    add_line(name, &text, 1);
}

static inline const char *take_report(void)
{
    report_text[0] = '\0';
    bp_host_report(host, &(bp_report_sink_i){.table = take_table, .row = take_row, .value = take_value});
    return report_text;
}

/* A file as a text that the caller frees. */
static inline char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_msg(file != NULL, "%s cannot be read", path);
    char *text = calloc(1, 1 << 21);
    ck_assert_ptr_nonnull(text);
    size_t length = fread(text, 1, (1 << 21) - 1, file);
    fclose(file);
    text[length] = '\0';
    return text;
}

static inline void put_body(bp_entity_t e, float mass, bp_vec3_t position, bp_vec3_t velocity)
{
    set(e, "point_mass", "mass", BP_F32, &mass);
    set(e, "point_mass", "position", BP_VEC3, &position);
    set(e, "point_mass", "velocity", BP_VEC3, &velocity);
}

#endif
