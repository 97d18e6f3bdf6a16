/* paths.c - hot paths whose instructions are counted (tools/budgets.py), some of each part of the engine.
 *
 * `bench --paths` runs each path once to fill the caches that the engine keeps, and then once between entry and
 * exit of paths_count, which callgrind is told to count; the program prints a line "name items" for each path, in
 * order. A path is small enough to take seconds under callgrind, and repeats to the instruction: fixed seeds, a fixed
 * tag for entities, one thread, and no loop that picks its instructions by processor.
 *
 * Not here: measuring time, verdicts.
 */
#include "bench.h"

#include "worlds.h"

#include <components/point_mass.h>
#include <components/transform.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 1000, STEPS = 100, PROTOTYPES = 50, MANY_SYSTEMS = 64, SCENE = 200, MANY_WORLDS = 500 };

/* --- a plugin for what systems do --------------------------------------------------------------------- */

static const bp_field_t number[] = {{.name = "value", .type = BP_F32, .initial = "1"}};
static const bp_component_i parts[] = {{.name = "a", .fields = BP_LIST(number)},
                                       {.name = "b", .fields = BP_LIST(number)}};

static void nothing(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

/* Records a component to come and to go, for each entity by itself. */
static void record(const bp_match_t *match, uint32_t count)
{
    const uint32_t key = *(const uint32_t *)match->system->state;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count; i++)
        result |= match->system->api->command->add(match->step->commands, key, &match->entities[i], 1);
    for (uint32_t i = 0; i < count; i++)
        result |= match->system->api->command->remove(match->step->commands, key, &match->entities[i], 1);
    worlds_must(match->system->host, result, "recording commands");
}

static uint32_t recorded_key;

static bp_result_t begin_recording(bp_system_t *s)
{
    s->state = &recorded_key;
    return BP_OK;
}

static void take_note(bp_system_t *s, const bp_entity_t *entities, uint32_t count)
{
    (void)s, (void)entities;
    measure_keep(count);
}

static const bp_term_field_t value[] = {{.name = "value", .type = BP_F32}};
#define READS(type) {.component = type, .fields = BP_LIST(value)}
static const bp_term_t only_a[] = {READS("a")}, a_and_b[] = {READS("a"), READS("b")};
static const bp_system_i systems[] = {
    {.name = "idle", .terms = BP_LIST(only_a), .run = nothing},
    {.name = "record", .terms = BP_LIST(only_a), .run = record, .start = begin_recording},
    {.name = "told", .terms = BP_LIST(a_and_b), .run = nothing, .entities_added = take_note,
     .entities_removed = take_note},
};
static const bp_plugin_desc_t plugin_desc = {.version = "1", .components = BP_LIST(parts), .systems = BP_LIST(systems)};
static const bp_plugin_head_t plugin = BP_PLUGIN_HEAD("paths", &plugin_desc);
enum { IDLE, RECORD, TOLD };

/* --- the worlds --------------------------------------------------------------------------------------- */

typedef struct paths_t {
    bench_world_t w;          /* point_mass and c0 to c31, no systems */
    bench_world_t alone, few, crowd, recording, telling, poses;
    bench_world_t names;      /* each entity with a component a of another name, so of another prototype */
    bench_world_t among;      /* one of MANY_WORLDS, with as many entities as the others have together */
    bench_field_t mass, mixed_mass, position;
    bp_entity_t rows[ITEMS];  /* of one prototype */
    bp_entity_t mixed[ITEMS]; /* dealt over PROTOTYPES */
    bp_entity_t made[ITEMS], others[ITEMS];
    bp_ref_t refs[ITEMS];
    float values[ITEMS];
    uint8_t flags[ITEMS];
    uint32_t c0, three[3], b;
    uint32_t living; /* how many of `made` live */
    const bp_transform_api *transforms;
    bp_manager_t *transform;
    char json[SCENE * 160];
    bp_scene_o *scene;
    bp_spawn_t spawned;
    bp_entity_t root;
    float moved;
    bp_snapshot_o *snapshots[2]; /* of `names`, a step apart */
    bp_scene_o *capture;         /* of `among` */
} paths_t;

static void deal(paths_t *s)
{
    uint32_t prototypes[PROTOTYPES];
    for (uint32_t p = 0; p < PROTOTYPES; p++) {
        char names[64] = BP_POINT_MASS;
        for (uint32_t k = 0; k < 6; k++)
            if (((p + 1) >> k & 1) != 0)
                snprintf(names + strlen(names), sizeof names - strlen(names), " c%u", k);
        prototypes[p] = worlds_prototype(&s->w, names);
    }
    for (uint32_t i = 0; i < ITEMS; i++)
        worlds_must(s->w.host, worlds_make(&s->w, prototypes[i % PROTOTYPES], &s->mixed[i], 1), "creating");
}

static void open_main(paths_t *s)
{
    worlds_create(&s->w, 32);
    worlds_must(s->w.host, worlds_make(&s->w, s->w.prototype, s->rows, ITEMS), "creating");
    deal(s);
    worlds_field(&s->w, BP_POINT_MASS, "mass", &s->mass);
    s->mixed_mass = s->mass;
    s->c0 = worlds_key(&s->w, "c0");
    for (uint32_t i = 0; i < 3; i++)
        s->three[i] = worlds_key(&s->w, i == 0 ? "c0" : i == 1 ? "c4" : "c8");
    for (uint32_t i = 0; i < ITEMS; i++) {
        s->values[i] = (float)(i + 1);
        s->refs[i] = (bp_ref_t){.entity = s->rows[i], .field = s->w.key << 8 | BP_POINT_MASS_MASS};
    }
}

static void open_with_systems(bench_world_t *w, uint32_t system, uint32_t systems_used, uint32_t rows)
{
    bp_entity_t e[ITEMS];
    worlds_open(w, &plugin, system, systems_used, 1);
    worlds_must(w->host, worlds_make(w, worlds_prototype(w, "a"), e, rows), "creating");
}

static void open_steps(paths_t *s)
{
    open_with_systems(&s->alone, 0, 0, ITEMS);
    s->alone.prototype = worlds_prototype(&s->alone, "a");
    open_with_systems(&s->few, IDLE, 1, 4);
    open_with_systems(&s->recording, RECORD, 1, ITEMS);
    recorded_key = worlds_key(&s->recording, "b");
    worlds_open(&s->telling, &plugin, TOLD, 1, 1);
    s->b = worlds_key(&s->telling, "b");
    worlds_must(s->telling.host, worlds_make(&s->telling, worlds_prototype(&s->telling, "a"), s->others, ITEMS),
                "creating");
    worlds_create_with(&s->crowd, 32, MANY_SYSTEMS, NULL);
    bp_entity_t e[4];
    worlds_must(s->crowd.host, worlds_make(&s->crowd, worlds_prototype(&s->crowd, "c0 c4 c8"), e, 4), "creating");
}

/* A root and ITEMS - 1 children. */
static void open_poses(paths_t *s)
{
    static const char path[] = BENCH_PLUGIN_DIR "/transform";
    bp_entity_t e[ITEMS], parents[ITEMS];
    bench_field_t parent;
    worlds_create(&s->poses, 0);
    worlds_must(s->poses.host, bp_host_load_plugin(s->poses.host, path, NULL, 0), "loading transform");
    worlds_must(s->poses.host, bp_world_use_component(s->poses.world, BP_TRANSFORM), "bringing in transform");
    worlds_must(s->poses.host, worlds_make(&s->poses, worlds_prototype(&s->poses, BP_TRANSFORM), e, ITEMS), "creating");
    worlds_field(&s->poses, BP_TRANSFORM, "parent", &parent);
    worlds_field(&s->poses, BP_TRANSFORM, "position", &s->position);
    for (uint32_t i = 0; i < ITEMS; i++)
        parents[i] = e[0];
    worlds_must(s->poses.host, worlds_set(&s->poses, &parent, e + 1, ITEMS - 1, parents, sizeof *parents), "linking");
    s->root = e[0];
    s->transforms = s->poses.api->registry->find(s->poses.host, BP_TRANSFORM_API, 2);
    uint32_t component = s->poses.api->world->component(s->poses.world, BP_TRANSFORM);
    s->transform = s->poses.api->world->manager(s->poses.world, component);
}

/* Entities with components a of ITEMS names. */
static void make_names(paths_t *s)
{
    for (uint32_t i = 0; i < ITEMS; i++) {
        char text[16];
        bp_name_t name;
        uint32_t component = s->names.api->world->component(s->names.world, "a"), key, prototype;
        snprintf(text, sizeof text, "a%u", i);
        worlds_must(s->names.host, s->names.api->name->intern(s->names.host, text, &name), "a name");
        worlds_must(s->names.host, s->names.api->world->key(s->names.world, component, name, &key), "a key");
        worlds_must(s->names.host, s->names.api->world->prototype(s->names.world, &key, 1, &prototype), "a prototype");
        worlds_must(s->names.host, worlds_make(&s->names, prototype, &s->others[i], 1), "creating");
    }
}

static void open_many(paths_t *s)
{
    worlds_open(&s->names, &plugin, 0, 0, 1);
    make_names(s);
    worlds_open(&s->among, &plugin, 0, 0, 1);
    for (uint32_t i = 1; i < MANY_WORLDS; i++) {
        char name[16];
        bp_entity_t e[ITEMS / MANY_WORLDS];
        bench_world_t other = s->among;
        snprintf(name, sizeof name, "w%u", i);
        other.world = worlds_another(&s->among, &plugin, name);
        worlds_must(other.host, worlds_make(&other, worlds_prototype(&other, "a"), e, ITEMS / MANY_WORLDS), "creating");
    }
    bp_entity_t e[ITEMS];
    worlds_must(s->among.host, worlds_make(&s->among, worlds_prototype(&s->among, "a"), e, ITEMS), "creating");
    worlds_must(s->among.host, bp_scene_capture(s->among.world, &s->capture), "capturing");
}

static void write_scene(paths_t *s)
{
    size_t at = (size_t)snprintf(s->json, sizeof s->json, "{\"entities\": [");
    for (uint32_t i = 0; i < SCENE; i++)
        at += (size_t)snprintf(s->json + at, sizeof s->json - at,
                               "%s{\"components\": {\"point_mass\": {\"mass\": %u.5, \"position\": [%u, 2, 3.25]}}}",
                               i == 0 ? "" : ",\n", i + 1, i);
    snprintf(s->json + at, sizeof s->json - at, "]}");
}

/* --- what comes before a path ------------------------------------------------------------------------- */

static void none_made(paths_t *s)
{
    if (s->living > 0)
        worlds_end(&s->w, s->made, s->living);
    s->living = 0;
    worlds_step(&s->w);
}

static void bare_made(paths_t *s)
{
    none_made(s);
    worlds_must(s->w.host, worlds_make_bare(&s->w, s->made, ITEMS), "creating");
}

static void rows_made(paths_t *s)
{
    none_made(s);
    worlds_must(s->w.host, worlds_make(&s->w, s->w.prototype, s->made, ITEMS), "creating");
}

static void rows_made_alone(paths_t *s)
{
    none_made(s);
    worlds_must(s->alone.host, worlds_make(&s->alone, s->alone.prototype, s->made, ITEMS), "creating");
}

static void none_second(paths_t *s)
{
    uint8_t has[ITEMS];
    if (worlds_has(&s->w, s->c0, s->rows, ITEMS, has) > 0)
        worlds_must(s->w.host, worlds_remove(&s->w, s->c0, s->rows, ITEMS), "removing");
}

static void all_second(paths_t *s)
{
    none_second(s);
    worlds_must(s->w.host, worlds_add(&s->w, s->c0, s->rows, ITEMS), "adding");
}

static void scene_ready(paths_t *s)
{
    if (s->scene == NULL)
        worlds_must(s->w.host, bp_scene_compile_text(s->w.host, "scene", s->json, strlen(s->json), &s->scene),
                    "compiling");
    bp_host_despawn(s->w.host, s->spawned);
    worlds_step(&s->w);
}

/* --- the paths ---------------------------------------------------------------------------------------- */

#define EACH(i) for (uint32_t i = 0; i < ITEMS; i++)

static bp_result_t create_bare_batch(paths_t *s) { s->living = ITEMS; return worlds_make_bare(&s->w, s->made, ITEMS); }

static bp_result_t create_batch(paths_t *s)
{
    s->living = ITEMS;
    return worlds_make(&s->w, s->w.prototype, s->made, ITEMS);
}

static bp_result_t destroy_batch(paths_t *s)
{
    return worlds_end(&s->w, s->made, ITEMS) == ITEMS ? BP_OK : BP_ERROR_FAILED;
}

static bp_result_t alive_batch(paths_t *s)
{
    return worlds_alive(&s->w, s->mixed, ITEMS, s->flags) == ITEMS ? BP_OK : BP_ERROR_FAILED;
}

static bp_result_t add_batch(paths_t *s) { return worlds_add(&s->w, s->c0, s->rows, ITEMS); }

static bp_result_t remove_batch(paths_t *s) { return worlds_remove(&s->w, s->c0, s->rows, ITEMS); }

static bp_result_t has_batch(paths_t *s)
{
    return worlds_has(&s->w, s->c0, s->mixed, ITEMS, s->flags) > 0 ? BP_OK : BP_ERROR_FAILED;
}

static bp_result_t get_batch(paths_t *s)
{
    return worlds_get(&s->w, &s->mass, s->rows, ITEMS, s->values, sizeof(float));
}

static bp_result_t set_batch(paths_t *s)
{
    return worlds_set(&s->w, &s->mass, s->rows, ITEMS, s->values, sizeof(float));
}

static bp_result_t get_mixed_batch(paths_t *s)
{
    return worlds_get(&s->w, &s->mixed_mass, s->mixed, ITEMS, s->values, sizeof(float));
}

static bp_result_t set_mixed_batch(paths_t *s)
{
    return worlds_set(&s->w, &s->mixed_mass, s->mixed, ITEMS, s->values, sizeof(float));
}

static bp_result_t create_bare(paths_t *s)
{
    bp_result_t result = BP_OK;
    s->living = ITEMS;
    EACH(i) result |= worlds_make_bare(&s->w, &s->made[i], 1);
    return result;
}

static bp_result_t create(paths_t *s)
{
    bp_result_t result = BP_OK;
    s->living = ITEMS;
    EACH(i) result |= worlds_make(&s->w, s->w.prototype, &s->made[i], 1);
    return result;
}

static bp_result_t create_add_three(paths_t *s)
{
    bp_result_t result = BP_OK;
    s->living = ITEMS;
    EACH(i)
    {
        result |= worlds_make_bare(&s->w, &s->made[i], 1);
        for (uint32_t k = 0; k < 3; k++)
            result |= worlds_add(&s->w, s->three[k], &s->made[i], 1);
    }
    return result;
}

static bp_result_t destroy(paths_t *s)
{
    uint32_t died = 0;
    EACH(i) died += worlds_end(&s->w, &s->made[i], 1);
    return died == ITEMS ? BP_OK : BP_ERROR_FAILED;
}

/* Destroy where no component simulates: loops that exist for several processors would otherwise be counted too. */
static bp_result_t destroy_and_collect(paths_t *s)
{
    uint32_t died = worlds_end(&s->alone, s->made, ITEMS);
    worlds_step(&s->alone);
    return died == ITEMS ? BP_OK : BP_ERROR_FAILED;
}

static bp_result_t alive(paths_t *s)
{
    uint32_t living = 0;
    EACH(i) living += worlds_alive(&s->w, &s->mixed[i], 1, NULL);
    return living == ITEMS ? BP_OK : BP_ERROR_FAILED;
}

static bp_result_t alive_inline(paths_t *s)
{
    bp_living_t who = bp_living_of(s->w.api->entity, s->w.host);
    uint32_t living = 0;
    EACH(i) living += bp_is_alive(&who, s->mixed[i]);
    return living == ITEMS ? BP_OK : BP_ERROR_FAILED;
}

static bp_result_t add(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_add(&s->w, s->c0, &s->rows[i], 1);
    return result;
}

static bp_result_t drop(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_remove(&s->w, s->c0, &s->rows[i], 1);
    return result;
}

/* Add and drop the component: the entity finds the row that it has left. */
static bp_result_t add_drop(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i)
    {
        result |= worlds_add(&s->w, s->c0, &s->rows[i], 1);
        result |= worlds_remove(&s->w, s->c0, &s->rows[i], 1);
    }
    return result;
}

static bp_result_t get(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_get(&s->w, &s->mass, &s->rows[i], 1, &s->values[i], 0);
    return result;
}

static bp_result_t set(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_set(&s->w, &s->mass, &s->rows[i], 1, &s->values[i], 0);
    return result;
}

static bp_result_t get_mixed(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_get(&s->w, &s->mixed_mass, &s->mixed[i], 1, &s->values[i], 0);
    return result;
}

static bp_result_t set_mixed(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_set(&s->w, &s->mixed_mass, &s->mixed[i], 1, &s->values[i], 0);
    return result;
}

static bp_result_t get_named(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_get_float(&s->w, s->rows[i], BP_POINT_MASS, "mass", &s->values[i]);
    return result;
}

static bp_result_t set_named(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_set_float(&s->w, s->rows[i], BP_POINT_MASS, "mass", &s->values[i]);
    return result;
}

static bp_result_t get_named_mixed(paths_t *s)
{
    bp_result_t result = BP_OK;
    EACH(i) result |= worlds_get_float(&s->w, s->mixed[i], BP_POINT_MASS, "mass", &s->values[i]);
    return result;
}

static bp_result_t follow_references(paths_t *s)
{
    float sum = 0;
    EACH(i) sum += *(const float *)bp_ref_get(s->w.api->world, s->w.world, &s->refs[i]);
    measure_keep((double)sum);
    return BP_OK;
}

static bp_result_t step_all(const bench_world_t *w)
{
    for (uint32_t i = 0; i < STEPS; i++)
        worlds_step(w);
    return BP_OK;
}

static bp_result_t step_alone(paths_t *s) { return step_all(&s->alone); }

static bp_result_t step_few(paths_t *s) { return step_all(&s->few); }

static bp_result_t step_crowd(paths_t *s) { return step_all(&s->crowd); }

static bp_result_t step_recording(paths_t *s)
{
    worlds_step(&s->recording);
    return BP_OK;
}

static bp_result_t tell(paths_t *s)
{
    bp_result_t result = worlds_add(&s->telling, s->b, s->others, ITEMS);
    worlds_step(&s->telling);
    result |= worlds_remove(&s->telling, s->b, s->others, ITEMS);
    worlds_step(&s->telling);
    return result;
}

static bp_result_t move_root(paths_t *s)
{
    bp_vec3_t position = {s->moved += 1, 2, 3};
    bp_result_t result = worlds_set(&s->poses, &s->position, &s->root, 1, &position, 0);
    measure_keep((double)s->transforms->world(s->transform)->m[12]);
    return result;
}

static bp_result_t spawn(paths_t *s) { return bp_scene_spawn(s->scene, s->w.world, 0, NULL, &s->spawned); }

static bp_result_t compile(paths_t *s)
{
    bp_scene_o *scene;
    bp_result_t result = bp_scene_compile_text(s->w.host, "scene", s->json, strlen(s->json), &scene);
    if (result == BP_OK)
        bp_scene_close(scene);
    return result;
}

static bp_result_t capture(paths_t *s)
{
    bp_scene_o *scene;
    bp_result_t result = bp_scene_capture(s->alone.world, &scene);
    if (result == BP_OK)
        bp_scene_close(scene);
    return result;
}

static void snapshots_taken(paths_t *s)
{
    for (uint32_t i = 0; i < 2; i++) {
        bp_snapshot_free(s->snapshots[i]);
        worlds_must(s->names.host, bp_host_snapshot(s->names.host, &s->snapshots[i]), "a snapshot");
        worlds_step(&s->names);
    }
}

static void told_field(void *context, const bp_diff_field_t *field)
{
    (void)context;
    measure_keep((double)field->count);
}

static bp_result_t diff_names(paths_t *s)
{
    const bp_diff_i sink = {.struct_size = sizeof sink, .field = told_field};
    return bp_snapshot_diff(s->names.host, s->snapshots[0], s->snapshots[1], &sink);
}

static bp_result_t back_names(paths_t *s) { return bp_host_bring_back(s->names.host, s->snapshots[0]); }

static void names_made(paths_t *s)
{
    worlds_destroy(&s->names);
    worlds_open(&s->names, &plugin, 0, 0, 1);
    make_names(s);
}

static bp_result_t drop_names(paths_t *s) { return bp_world_drop_component(s->names.world, "a"); }

static bp_result_t snapshot_worlds(paths_t *s)
{
    bp_snapshot_o *taken, *read;
    size_t size;
    bp_result_t result = bp_host_snapshot(s->among.host, &taken);
    if (result != BP_OK)
        return result;
    const void *bytes = bp_snapshot_bytes(taken, &size);
    result = bp_snapshot_read(s->among.host, bytes, size, &read);
    if (result == BP_OK)
        bp_snapshot_free(read);
    bp_snapshot_free(taken);
    return result;
}

static bp_result_t restore_among(paths_t *s) { return bp_scene_restore(s->capture, s->among.world, 0); }

static const struct {
    const char *name;
    uint32_t items;
    void (*prepare)(paths_t *s);
    bp_result_t (*run)(paths_t *s);
} all[] = {
    {"create_bare", ITEMS, none_made, create_bare},
    {"create_bare_batch", ITEMS, none_made, create_bare_batch},
    {"create", ITEMS, none_made, create},
    {"create_batch", ITEMS, none_made, create_batch},
    {"create_add_three", ITEMS, none_made, create_add_three},
    {"destroy_bare_batch", ITEMS, bare_made, destroy_batch},
    {"destroy", ITEMS, rows_made, destroy},
    {"destroy_batch", ITEMS, rows_made, destroy_batch},
    {"destroy_batch_and_collect", ITEMS, rows_made_alone, destroy_and_collect},
    {"alive", ITEMS, NULL, alive},
    {"alive_batch", ITEMS, NULL, alive_batch},
    {"alive_inline", ITEMS, NULL, alive_inline},
    {"has_batch", ITEMS, NULL, has_batch},
    {"add", ITEMS, none_second, add},
    {"add_batch", ITEMS, none_second, add_batch},
    {"remove", ITEMS, all_second, drop},
    {"remove_batch", ITEMS, all_second, remove_batch},
    {"add_remove", 2 * ITEMS, none_second, add_drop},
    {"get", ITEMS, none_second, get},
    {"get_batch", ITEMS, NULL, get_batch},
    {"get_50_prototypes", ITEMS, NULL, get_mixed},
    {"get_50_prototypes_batch", ITEMS, NULL, get_mixed_batch},
    {"set", ITEMS, NULL, set},
    {"set_batch", ITEMS, NULL, set_batch},
    {"set_50_prototypes", ITEMS, NULL, set_mixed},
    {"set_50_prototypes_batch", ITEMS, NULL, set_mixed_batch},
    {"get_named", ITEMS, NULL, get_named},
    {"set_named", ITEMS, NULL, set_named},
    {"get_named_50_prototypes", ITEMS, NULL, get_named_mixed},
    {"reference", ITEMS, NULL, follow_references},
    {"step_empty", STEPS, NULL, step_alone},
    {"step_few_rows", STEPS, NULL, step_few},
    {"step_64_systems", STEPS, NULL, step_crowd},
    {"commands", 2 * ITEMS, NULL, step_recording},
    {"notices", 2 * ITEMS, NULL, tell},
    {"transform_root_moved", ITEMS, NULL, move_root},
    {"scene_spawn", SCENE, scene_ready, spawn},
    {"scene_compile", SCENE, NULL, compile},
    {"scene_capture", ITEMS, NULL, capture},
    {"restore_among_500_worlds", ITEMS, NULL, restore_among},
    {"snapshot_of_500_worlds", MANY_WORLDS, NULL, snapshot_worlds},
    {"diff_of_1000_prototypes", ITEMS, snapshots_taken, diff_names},
    {"bring_back_1000_prototypes", ITEMS, snapshots_taken, back_names},
    {"drop_from_1000_prototypes", ITEMS, names_made, drop_names},
};

/* callgrind counts the instructions between entry and exit. The result is checked in here, so that the call of `run`
 * cannot become a jump. */
__attribute__((noinline)) static void paths_count(paths_t *s, bp_result_t (*run)(paths_t *s))
{
    if (run(s) != BP_OK)
        worlds_must(s->w.host, BP_ERROR_FAILED, "a hot path");
}

void paths_run(void)
{
    paths_t *s = worlds_memory(1, sizeof *s);
    open_main(s);
    open_steps(s);
    open_poses(s);
    open_many(s);
    write_scene(s);
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        for (uint32_t round = 0; round < 2; round++) {
            if (all[i].prepare != NULL)
                all[i].prepare(s);
            if (round == 0)
                worlds_must(s->w.host, all[i].run(s), all[i].name);
            else
                paths_count(s, all[i].run);
        }
        printf("%s %u\n", all[i].name, all[i].items);
    }
    for (uint32_t i = 0; i < 2; i++)
        bp_snapshot_free(s->snapshots[i]);
    bp_scene_close(s->capture);
    bench_world_t *const worlds[] = {&s->w, &s->alone, &s->few, &s->crowd, &s->recording, &s->telling, &s->poses,
                                     &s->names, &s->among};
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++)
        worlds_destroy(worlds[i]);
    free(s);
}
