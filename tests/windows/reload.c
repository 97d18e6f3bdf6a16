/* reload.c - a plugin changes under a running world, on Windows: reload.exe FIRST.dll SECOND.dll FOLDER
 *
 * FIRST.dll is point_mass as it ships, SECOND.dll what point_mass_2.c makes of it. Both are copied over the same file
 * in FOLDER, which is loaded: a library that is at work cannot be written to on this system, so it also shows that the
 * host works from copies.
 *
 * Check cannot fork here, so this is a program: it ends with 0 where everything was as it should be, else with 1 and a
 * line for each thing that was not.
 */
#include <backplane.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1000, STEPS = 60, RELOADS = 40, PATIENCE = 120 /* seconds */ };

static int failures;

static void expect(bool good, const char *what, bp_host_o *host)
{
    if (good)
        return;
    failures++;
    printf("not so: %s (%s)\n", what, bp_host_error(host));
}

/* Put the first `most` bytes of a file in the place of another. */
static bool copy_file(const char *from, const char *to, size_t most)
{
    static char bytes[1 << 20];
    FILE *in = fopen(from, "rb"), *out = in == NULL ? NULL : fopen(to, "wb");
    size_t size = out == NULL ? 0 : fread(bytes, 1, sizeof bytes, in);
    bool good = out != NULL && size > 0 && size < sizeof bytes;
    size = size < most ? size : most;
    good = good && fwrite(bytes, 1, size, out) == size;
    if (in != NULL)
        fclose(in);
    return out != NULL && fclose(out) == 0 && good;
}

typedef struct scene_t {
    bp_host_o *host;
    bp_world_o *world;
    const bp_api_t *api;
    bp_entity_t entities[COUNT];
} scene_t;

static bool begin(scene_t *s, const char *plugin, uint32_t flags)
{
    uint32_t key, prototype;
    bp_vec3_t velocity = {1, 0, 0};
    s->host = bp_host_create(&(bp_host_desc_t){.flags = flags, .threads = 2});
    s->world = bp_world_create(s->host, &(bp_world_desc_t){.name = "main", .step_rate = STEPS});
    s->api = bp_host_api(s->host);
    if (bp_host_load_plugin(s->host, plugin, NULL, 0) != BP_OK ||
        bp_world_use_component(s->world, "point_mass") != BP_OK ||
        s->api->world->key(s->world, s->api->world->component(s->world, "point_mass"), 0, &key) != BP_OK ||
        s->api->world->prototype(s->world, &key, 1, &prototype) != BP_OK ||
        s->api->world->create(s->world, prototype, s->entities, COUNT) != BP_OK)
        return false;
    for (uint32_t i = 0; i < COUNT; i++) {
        float mass = (float)(i + 1);
        if (s->api->property->set_named(s->world, s->entities[i], "point_mass", "mass", BP_F32, &mass) != BP_OK ||
            s->api->property->set_named(s->world, s->entities[i], "point_mass", "velocity", BP_VEC3, &velocity) !=
                BP_OK)
            return false;
    }
    return true;
}

static void step_a_second(scene_t *s)
{
    for (int i = 0; i < STEPS; i++)
        expect(bp_world_step(s->world) == BP_OK, "a step", s->host);
}

/* Is every entity this far along, and has it the mass that it was given? */
static bool are_at(scene_t *s, float x, uint32_t type_of_mass)
{
    for (uint32_t i = 0; i < COUNT; i++) {
        bp_vec3_t position = {0, 0, 0};
        bp_value_t mass = {.i64 = 0};
        if (s->api->property->get_named(s->world, s->entities[i], "point_mass", "position", BP_VEC3, &position) !=
                BP_OK ||
            s->api->property->get_named(s->world, s->entities[i], "point_mass", "mass", type_of_mass, &mass) != BP_OK)
            return false;
        double weight = type_of_mass == BP_F64 ? mass.f64 : (double)mass.f32;
        if (fabsf(position.x - x) > 1e-4f || weight != (double)(i + 1))
            return false;
    }
    return true;
}

static bp_result_t reload(scene_t *s, bp_reload_report_t *report)
{
    static const char *const names[] = {"point_mass"};
    *report = (bp_reload_report_t){.struct_size = sizeof *report};
    return bp_host_reload(s->host, names, 1, report);
}

static void change(scene_t *s, const char *second, const char *plugin)
{
    bp_reload_report_t report;
    float charge = 0;
    expect(copy_file(second, plugin, SIZE_MAX), "the file of a plugin at work can be written", s->host);
    expect(reload(s, &report) == BP_OK, "the second version comes", s->host);
    printf("%s\n", report.text != NULL ? report.text : "");
    expect(report.rows == COUNT, "all instances are told", s->host);
    expect(are_at(s, 1, BP_F64), "positions stay and masses are doubles", s->host);
    expect(s->api->property->get_named(s->world, s->entities[7], "point_mass", "charge", BP_F32, &charge) == BP_OK &&
               charge == 2,
           "the new field has its default", s->host);
    step_a_second(s);
    expect(are_at(s, 0, BP_F64), "the new code runs backwards", s->host);
}

/* Cut short at many lengths, the file is refused, and the world goes on. */
static void refuse_damage(scene_t *s, const char *first, const char *plugin)
{
    bp_reload_report_t report;
    for (size_t part = 1; part < 32; part++) {
        expect(copy_file(first, plugin, part * 2048), "writing half a file", s->host);
        expect(reload(s, &report) != BP_OK, "half a file is refused", s->host);
        expect(are_at(s, 0, BP_F64), "a refused file changes nothing", s->host);
    }
    printf("refused: %s\n", bp_host_error(s->host));
}

static void change_often(scene_t *s, const char *first, const char *second, const char *plugin)
{
    bp_reload_report_t report;
    for (int i = 0; i < RELOADS; i++) {
        bool forwards = i % 2 == 0;
        expect(copy_file(forwards ? first : second, plugin, SIZE_MAX), "writing the other version", s->host);
        expect(reload(s, &report) == BP_OK, "one version after the other", s->host);
        step_a_second(s);
        expect(are_at(s, forwards ? 1 : 0, forwards ? BP_F32 : BP_F64), "each version runs its own loop", s->host);
    }
}

static void count_reload(void *data, const bp_reload_report_t *report)
{
    uint32_t *count = data;
    *count += report->result == BP_OK;
}

/* The host sees by itself that the file has been written anew. It may take as long as it likes on a busy machine. */
static void notice(const char *first, const char *second, const char *plugin)
{
    static scene_t s;
    uint32_t reloads = 0;
    bool begun = copy_file(first, plugin, SIZE_MAX) && begin(&s, plugin, BP_HOST_HOT_RELOAD | BP_HOST_TRIAL);
    expect(begun, "a host that watches files", s.host);
    if (!begun)
        return;
    expect(bp_host_on_reload(s.host, count_reload, &reloads) == BP_OK, "asking to be told", s.host);
    step_a_second(&s);
    expect(copy_file(second, plugin, SIZE_MAX), "writing the file that is watched", s.host);
    for (time_t until = time(NULL) + PATIENCE; reloads == 0 && time(NULL) < until;)
        expect(bp_host_poll(s.host) == BP_OK, "polling", s.host);
    expect(reloads == 1, "a file that was written is reloaded", s.host);
    step_a_second(&s);
    expect(are_at(&s, 0, BP_F64), "what was noticed runs backwards", s.host);
    bp_host_destroy(s.host);
}

int main(int argc, char **argv)
{
    static scene_t s;
    static char plugin[1024];
    if (argc != 4) {
        fprintf(stderr, "usage: reload FIRST.dll SECOND.dll FOLDER\n");
        return 2;
    }
    snprintf(plugin, sizeof plugin, "%s/point_mass.dll", argv[3]);
    if (!copy_file(argv[1], plugin, SIZE_MAX) || !begin(&s, plugin, BP_HOST_COPY_PLUGINS)) {
        printf("cannot begin: %s\n", s.host == NULL ? "no host" : bp_host_error(s.host));
        return 1;
    }
    step_a_second(&s);
    expect(are_at(&s, 1, BP_F32), "the first version moves", s.host);
    change(&s, argv[2], plugin);
    refuse_damage(&s, argv[1], plugin);
    change_often(&s, argv[1], argv[2], plugin);
    bp_host_destroy(s.host);
    notice(argv[1], argv[2], plugin);
    printf("%d reloads, %d failures\n", RELOADS + 2, failures);
    return failures > 0;
}
