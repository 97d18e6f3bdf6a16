/* cases_scene.c - scenes: spawning a level, checking its blob, saving a world.
 *
 * The level has entities with transform, point_mass and debug_name, each with a name of its own. Spawning writes
 * to memory that was never touched, so its floor is the first touch of as many bytes as the host then holds more than
 * before, in one block straight from the system. Checking is compared with reading every word of the same bytes once.
 * Saving makes a block of its own each time: its floor is writing as many bytes to fresh pages.
 */
#include "cases.h"

#include "os/os.h"
#include "step/schedule.h"
#include "store/store.h"
#include "floors.h"
#include "scene/blob_write.h"
#include "worlds.h"

#include <components/point_mass.h>
#include <components/transform.h>
#include <stdlib.h>
#include <string.h>

enum { BODY, NAME, POSE };

typedef struct stage_t {
    bench_world_t w;
    bp_scene_o *scene, *saved, *opened;
    bp_spawn_t spawned;
} stage_t;

typedef struct scene_case_t {
    memory_t memory;
    error_text_t error;
    void *bytes;
    size_t size;
    uint32_t entities;
    stage_t stage;
    size_t held;  /* bytes that a spawn takes */
    void *pages;
    size_t page_bytes;
} scene_case_t;

static void must(scene_case_t *s, bp_result_t result, const char *what)
{
    if (result != BP_OK)
        fprintf(stderr, "bench: %s: %s\n", what, s->error.text);
    worlds_must(NULL, result, what);
}

/* --- the level ------------------------------------------------------------------------------------------ */

static void fill_names(scene_case_t *s, blob_writer_t *writer)
{
    uint32_t *names = blob_column(writer, NAME, 0);
    for (uint32_t i = 0; i < s->entities; i++) {
        char text[32];
        snprintf(text, sizeof text, "body %u", i);
        must(s, blob_string(writer, text, &names[i], &s->error), "a name");
    }
}

static void fill_numbers(blob_writer_t *writer, uint32_t entities)
{
    float *mass = blob_column(writer, BODY, 0);
    bp_vec3_t *position = blob_column(writer, BODY, 1), *velocity = blob_column(writer, BODY, 2);
    bp_vec3_t *place = blob_column(writer, POSE, 0);
    bp_quat_t *rotation = blob_column(writer, POSE, 1);
    for (uint32_t i = 0; i < entities; i++) {
        mass[i] = 1.0f + (float)(i % 100);
        position[i] = place[i] = (bp_vec3_t){(float)(i % 1000), (float)(i / 1000), 1};
        velocity[i] = (bp_vec3_t){0, (float)(i % 7), 0};
        rotation[i] = (bp_quat_t){0, 0, 0, 1};
    }
    *(bp_vec3_t *)blob_column(writer, BODY, 3) = (bp_vec3_t){0, 0, -9.81f};
    *(bp_vec3_t *)blob_column(writer, POSE, 2) = (bp_vec3_t){1, 1, 1};
}

static void write_level(scene_case_t *s)
{
    static const blob_field_desc_t body[] = {{.name = "mass", .type = BP_F32, .kind = BLOB_COLUMN},
                                             {.name = "position", .type = BP_VEC3, .kind = BLOB_COLUMN},
                                             {.name = "velocity", .type = BP_VEC3, .kind = BLOB_COLUMN},
                                             {.name = "acceleration", .type = BP_VEC3, .kind = BLOB_ONE}};
    static const blob_field_desc_t name[] = {{.name = "name", .type = BP_STRING, .kind = BLOB_COLUMN}};
    static const blob_field_desc_t pose[] = {{.name = "position", .type = BP_VEC3, .kind = BLOB_COLUMN},
                                             {.name = "rotation", .type = BP_QUAT, .kind = BLOB_COLUMN},
                                             {.name = "scale", .type = BP_VEC3, .kind = BLOB_ONE}};
    static const blob_component_desc_t components[] = {
        [BODY] = {.type = BP_POINT_MASS, .fields = body, .field_count = 4},
        [NAME] = {.type = "debug_name", .fields = name, .field_count = 1},
        [POSE] = {.type = BP_TRANSFORM, .fields = pose, .field_count = 3},
    };
    static const blob_part_desc_t parts[] = {{.component = BODY, .text = BP_POINT_MASS},
                                             {.component = NAME, .text = "debug_name"},
                                             {.component = POSE, .text = BP_TRANSFORM}};
    const blob_group_desc_t group = {parts, 3, s->entities};
    const blob_desc_t desc = {.components = components, .component_count = 3, .groups = &group, .group_count = 1};
    blob_writer_t writer;
    must(s, blob_write_begin(&writer, &s->memory, &desc, &s->error), "laying out a level");
    fill_numbers(&writer, s->entities);
    fill_names(s, &writer);
    must(s, blob_write_end(&writer, &s->bytes, &s->size, &s->error), "ending a level");
}

/* --- the state ------------------------------------------------------------------------------------------ */

static void open_stage(scene_case_t *s)
{
    static const char *const plugins[] = {BENCH_PLUGIN_DIR "/transform", BENCH_PLUGIN_DIR "/debug_name"};
    stage_t *stage = &s->stage;
    worlds_create(&stage->w, 0);
    for (uint32_t i = 0; i < 2; i++)
        worlds_must(stage->w.host, bp_host_load_plugin(stage->w.host, plugins[i], NULL, 0), "loading a plugin");
    worlds_must(stage->w.host, bp_world_use_component(stage->w.world, BP_TRANSFORM), "bringing in transform");
    worlds_must(stage->w.host, bp_world_use_component(stage->w.world, "debug_name"), "bringing in debug_name");
    worlds_must(stage->w.host, bp_scene_open_memory(stage->w.host, s->bytes, s->size, "level", &stage->scene),
                "opening the level");
}

static void spawn_level(scene_case_t *s)
{
    worlds_must(s->stage.w.host, bp_scene_spawn(s->stage.scene, s->stage.w.world, 0, NULL, NULL), "spawning the level");
}

static void *setup(uint32_t size)
{
    scene_case_t *s = worlds_memory(1, sizeof *s);
    s->entities = size;
    memory_init(&s->memory, "bench", &(bp_allocator_i){.resize = NULL});
    write_level(s);
    open_stage(s);
    size_t before = worlds_host_bytes(&s->stage.w);
    spawn_level(s);
    s->held = worlds_host_bytes(&s->stage.w) - before;
    return s;
}

static void teardown(void *state)
{
    scene_case_t *s = state;
    bp_host_destroy(s->stage.w.host);
    memory_free(&s->memory, s->bytes, s->size);
    os_pages_free(s->pages, s->page_bytes);
    free(s);
}

static void fresh_pages(scene_case_t *s, size_t bytes)
{
    os_pages_free(s->pages, s->page_bytes);
    s->pages = os_pages_alloc(bytes);
    s->page_bytes = bytes;
    worlds_must(NULL, s->pages == NULL ? BP_ERROR_MEMORY : BP_OK, "allocating pages");
}

static void touch(void *state)
{
    scene_case_t *s = state;
    floor_touch(s->pages, s->page_bytes);
}

/* --- spawning ------------------------------------------------------------------------------------------- */

static void pages_of_a_world(void *state)
{
    scene_case_t *s = state;
    fresh_pages(s, s->held);
}

static void touched_pages(void *state)
{
    scene_case_t *s = state;
    if (s->page_bytes != s->held)
        fresh_pages(s, s->held);
    memset(s->pages, 1, s->page_bytes);
}

static void fresh_stage(void *state)
{
    scene_case_t *s = state;
    bp_host_destroy(s->stage.w.host);
    open_stage(s);
    machine_release();
}

static void spawn(void *state)
{
    spawn_level(state);
}

static double held(void *state)
{
    return (double)((scene_case_t *)state)->held;
}

const group_t group_scene_spawn = {
    .name = "scene/spawn",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "first_touch", .prepare = pages_of_a_world, .run = touch},
        {.name = "level", .floor = "first_touch", .prepare = fresh_stage, .run = spawn,
         .bound = AT_MOST_TIMES_FROM(2, 1000000), .bytes = held},
    },
};

/* The bound is a time: a level of 10,000 within a millisecond, when it begins anew in the memory that the level before
 * has left. */
static const uint32_t level_sizes[] = {10000, 0};

static void end_level(void *state)
{
    scene_case_t *s = state;
    bp_host_despawn(s->stage.w.host, s->stage.spawned);
    store_collect_all(&s->stage.w.world->rows);
    worlds_must(s->stage.w.host, bp_world_step(s->stage.w.world), "a step");
}

static void spawn_again(void *state)
{
    scene_case_t *s = state;
    worlds_must(s->stage.w.host, bp_scene_spawn(s->stage.scene, s->stage.w.world, 0, NULL, &s->stage.spawned),
                "spawning the level");
}

static void *setup_again(uint32_t size)
{
    scene_case_t *s = setup(size);
    bp_host_destroy(s->stage.w.host);
    open_stage(s);
    spawn_again(s);
    return s;
}

const group_t group_scene_level = {
    .name = "scene/level",
    .sizes = level_sizes,
    .setup = setup_again,
    .teardown = teardown,
    .sides = {
        {.name = "write_bytes", .prepare = touched_pages, .run = touch},
        {.name = "again", .floor = "write_bytes", .prepare = end_level, .run = spawn_again, .bound = AT_MOST(100)},
    },
};

/* --- checking ------------------------------------------------------------------------------------------- */

static void read_words(void *state)
{
    const scene_case_t *s = state;
    const uint64_t *words = s->bytes;
    uint64_t sum = 0;
    for (size_t i = 0; i < s->size / sizeof *words; i++)
        sum += words[i];
    measure_keep((double)sum);
}

static void close_opened(void *state)
{
    scene_case_t *s = state;
    bp_scene_close(s->stage.opened);
    s->stage.opened = NULL;
}

static void check(void *state)
{
    scene_case_t *s = state;
    worlds_must(s->stage.w.host, bp_scene_open_memory(s->stage.w.host, s->bytes, s->size, "level", &s->stage.opened),
                "checking the level");
}

static double blob_bytes(void *state)
{
    return (double)((scene_case_t *)state)->size;
}

const group_t group_scene_check = {
    .name = "scene/check",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "read_words", .run = read_words},
        /* 70 bytes an entity and more: 35 ns are 2 GB/s. */
        {.name = "open", .floor = "read_words", .prepare = close_opened, .run = check, .bound = AT_MOST(35),
         .bytes = blob_bytes},
    },
};

/* --- saving --------------------------------------------------------------------------------------------- */

static void pages_of_a_blob(void *state)
{
    scene_case_t *s = state;
    fresh_pages(s, s->size);
}

static void close_saved(void *state)
{
    scene_case_t *s = state;
    bp_scene_close(s->stage.saved);
    s->stage.saved = NULL;
    machine_release();
}

static void save(void *state)
{
    scene_case_t *s = state;
    worlds_must(s->stage.w.host, bp_scene_capture(s->stage.w.world, &s->stage.saved), "saving the world");
}

static double saved_bytes(void *state)
{
    const scene_case_t *s = state;
    size_t size = 0;
    if (s->stage.saved != NULL)
        bp_scene_bytes(s->stage.saved, &size);
    return (double)size;
}

const group_t group_scene_save = {
    .name = "scene/save",
    .setup = setup,
    .teardown = teardown,
    .sides = {
        {.name = "write_bytes", .prepare = pages_of_a_blob, .run = touch},
        {.name = "capture", .floor = "write_bytes", .prepare = close_saved, .run = save,
         .bound = AT_MOST_TIMES_FROM(3, 1000000),
         .bytes = saved_bytes},
    },
};
