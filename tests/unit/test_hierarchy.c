/* test_hierarchy.c - the hierarchy of transforms, through the public face: a host, worlds, properties and the
 * plugin's table.
 *
 * The model keeps for each entity its local pose, its parent and when it was linked, and computes everything else
 * anew by the shortest code there is, in double. Where the engine chooses a local pose (a pose that is to be kept),
 * the model checks that nothing has moved and takes over the pose.
 */
#include "../suites.h"
#include "support.h"

#include <bp_changes.h>
#include <components/transform.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- a world with transforms ----------------------------------------------------------------------- */

typedef struct stage_t {
    rig_t rig;
    bp_world_o *world;
    bp_manager_t *m;
    const bp_transform_api *table;
    uint32_t key, prototype;
    bp_property_t properties[5];
} stage_t;

static const char *const property_names[5] = {"position", "rotation", "scale", "world", "parent"};

static void stage_open_with(stage_t *s, const char *orphans)
{
    const bp_option_t option = {.name = "orphans", .value = orphans};
    rig_init(&s->rig);
    s->rig.desc.flags = BP_HOST_COPY_PLUGINS;
    rig_open(&s->rig);
    WORKS(s->rig.host, bp_host_load_plugin(s->rig.host, TEST_PLUGIN_DIR "/transform", &option, orphans != NULL));
    s->world = bp_world_create(s->rig.host, &(bp_world_desc_t){.name = "main"});
    EXPECT(s->world != NULL, "no world");
    WORKS(s->rig.host, bp_world_use_component(s->world, BP_TRANSFORM));
    const bp_world_api *w = s->rig.api->world;
    s->m = w->manager(s->world, w->component(s->world, BP_TRANSFORM));
    s->table = s->rig.api->registry->find(s->rig.host, BP_TRANSFORM_API, 2);
    EXPECT(s->table != NULL, "no table");
    s->key = key_of(s->world, BP_TRANSFORM, "");
    s->prototype = prototype_of(s->world, BP_TRANSFORM, NULL, NULL, NULL);
    for (uint32_t i = 0; i < 5; i++)
        WORKS(s->rig.host, s->rig.api->property->resolve(s->world, (bp_entity_t){0}, BP_TRANSFORM,
                                                         property_names[i], &s->properties[i]));
}

static void stage_open(stage_t *s)
{
    stage_open_with(s, NULL);
}

static void stage_create(stage_t *s, bp_entity_t *entities, uint32_t count)
{
    WORKS(s->rig.host, s->rig.api->world->create(s->world, s->prototype, entities, count));
}

static bp_result_t stage_set(stage_t *s, uint32_t property, const bp_entity_t *e, uint32_t count, const void *values,
                             size_t stride)
{
    return s->rig.api->property->set(s->world, &s->properties[property], e, count, values, stride);
}

static bp_result_t stage_link(stage_t *s, bp_entity_t child, bp_entity_t parent)
{
    return stage_set(s, BP_TRANSFORM_PARENT, &child, 1, &parent, sizeof parent);
}

static void stage_get(stage_t *s, uint32_t property, bp_entity_t e, void *value)
{
    WORKS(s->rig.host, s->rig.api->property->get(s->world, &s->properties[property], &e, 1, value, 0));
}

static uint32_t stage_slot(stage_t *s, bp_entity_t e)
{
    uint32_t slot;
    EXPECT(s->table->find(s->m, &e, 1, &slot) == 1, "an entity has no slot");
    return slot;
}

static bp_mat4_t world_of(stage_t *s, bp_entity_t e)
{
    bp_mat4_t m;
    stage_get(s, BP_TRANSFORM_WORLD, e, &m);
    return m;
}

static bp_entity_t parent_of(stage_t *s, bp_entity_t e)
{
    bp_entity_t parent;
    stage_get(s, BP_TRANSFORM_PARENT, e, &parent);
    return parent;
}

static void put(stage_t *s, bp_entity_t e, float x, float y, float z)
{
    bp_vec3_t position = {x, y, z};
    WORKS(s->rig.host, stage_set(s, BP_TRANSFORM_POSITION, &e, 1, &position, 0));
}

static void expect_at(stage_t *s, bp_entity_t e, double x, double y, double z)
{
    bp_mat4_t m = world_of(s, e);
    EXPECT(fabs((double)m.m[12] - x) + fabs((double)m.m[13] - y) + fabs((double)m.m[14] - z) < 1e-4,
           "at %g %g %g instead of %g %g %g", (double)m.m[12], (double)m.m[13], (double)m.m[14], x, y, z);
}

/* --- poses in double ------------------------------------------------------------------------------- */

typedef struct pose_t {
    bp_vec3_t position, scale;
    bp_quat_t rotation;
} pose_t;

typedef struct matrix_t {
    double m[16];
} matrix_t;

static matrix_t matrix_of(const pose_t *pose)
{
    matrix_t r = {{0}};
    double x = (double)pose->rotation.x, y = (double)pose->rotation.y, z = (double)pose->rotation.z,
           w = (double)pose->rotation.w;
    const double turn[9] = {1 - 2 * (y * y + z * z), 2 * (x * y + w * z),     2 * (x * z - w * y),
                            2 * (x * y - w * z),     1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
                            2 * (x * z + w * y),     2 * (y * z - w * x),     1 - 2 * (x * x + y * y)};
    const double scale[3] = {(double)pose->scale.x, (double)pose->scale.y, (double)pose->scale.z};
    for (int i = 0; i < 9; i++)
        r.m[i / 3 * 4 + i % 3] = turn[i] * scale[i / 3];
    r.m[12] = (double)pose->position.x;
    r.m[13] = (double)pose->position.y;
    r.m[14] = (double)pose->position.z;
    r.m[15] = 1;
    return r;
}

static matrix_t product(const matrix_t *a, const matrix_t *b)
{
    matrix_t r = {{0}};
    for (int c = 0; c < 4; c++) {
        for (int row = 0; row < 4; row++) {
            for (int k = 0; k < 4; k++)
                r.m[c * 4 + row] += a->m[k * 4 + row] * b->m[c * 4 + k];
        }
    }
    return r;
}

static double apart(const matrix_t *a, const bp_mat4_t *b)
{
    double most = 0;
    for (int i = 0; i < 16; i++)
        most = fmax(most, fabs(a->m[i] - (double)b->m[i]));
    return most;
}

static float random_in(uint64_t *random, double low, double high)
{
    return (float)(low + (high - low) * ((double)(bp_random_next(random) >> 11) / 9007199254740992.0));
}

/* Scaled evenly: what is kept can then be kept. */
static pose_t random_pose(uint64_t *random)
{
    pose_t pose;
    double q[4], length = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = (double)random_in(random, -1, 1);
        length += q[i] * q[i];
    }
    length = sqrt(length) + 1e-9;
    pose.rotation = (bp_quat_t){(float)(q[0] / length), (float)(q[1] / length), (float)(q[2] / length),
                                (float)(q[3] / length)};
    pose.position.x = random_in(random, -3, 3);
    pose.position.y = random_in(random, -3, 3);
    pose.position.z = random_in(random, -3, 3);
    pose.scale.x = pose.scale.y = pose.scale.z = random_in(random, 0.95, 1.05);
    return pose;
}

/* --- the model ------------------------------------------------------------------------------------- */

enum { NODES = 150, NOBODY = -1, MOST = 24, ROUNDS = 4000 };

typedef struct node_t {
    bp_entity_t e;
    bool alive, has;
    int parent;
    uint64_t linked; /* when: siblings are in this order */
    pose_t pose;
} node_t;

typedef struct model_t {
    stage_t *s;
    uint64_t random, time;
    node_t nodes[NODES];
    int chosen[MOST];
    bp_entity_t batch[MOST];
    uint32_t slots[MOST];
} model_t;

static matrix_t model_world(const model_t *model, int i)
{
    matrix_t r = matrix_of(&model->nodes[i].pose);
    for (i = model->nodes[i].parent; i != NOBODY; i = model->nodes[i].parent) {
        matrix_t above = matrix_of(&model->nodes[i].pose);
        r = product(&above, &r);
    }
    return r;
}

/* What rounding may make of it: where ancestors are far away, digits are lost. */
static double tolerance(const model_t *model, int i)
{
    double reach = 10;
    for (; i != NOBODY; i = model->nodes[i].parent) {
        matrix_t m = model_world(model, i);
        reach = fmax(reach, fmax(fabs(m.m[12]), fmax(fabs(m.m[13]), fabs(m.m[14]))));
    }
    return 3e-5 * reach;
}

static bool has_transform(const node_t *node) { return node->alive && node->has; }
static bool has_none(const node_t *node) { return node->alive && !node->has; }
static bool is_dead(const node_t *node) { return !node->alive; }

static uint32_t choose(model_t *model, bool (*fits)(const node_t *))
{
    uint32_t found = 0, most = 1 + bp_random_below(&model->random, MOST);
    uint32_t at = bp_random_below(&model->random, NODES);
    if (bp_random_below(&model->random, 3) == 0)
        most = 1;
    for (uint32_t i = 0; i < NODES && found < most; i++, at = (at + 7) % NODES) {
        if (!fits(&model->nodes[at]) || bp_random_below(&model->random, 3) == 0)
            continue;
        model->chosen[found] = (int)at;
        model->batch[found++] = model->nodes[at].e;
    }
    return found;
}

static void begin_node(node_t *node)
{
    node->has = true;
    node->parent = NOBODY;
    node->pose = (pose_t){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
}

static void create(model_t *model)
{
    uint32_t count = choose(model, is_dead);
    stage_create(model->s, model->batch, count);
    for (uint32_t i = 0; i < count; i++) {
        node_t *node = &model->nodes[model->chosen[i]];
        node->e = model->batch[i];
        node->alive = true;
        begin_node(node);
    }
}

static void add(model_t *model)
{
    stage_t *s = model->s;
    uint32_t count = choose(model, has_none);
    WORKS(s->rig.host, s->rig.api->world->add(s->world, s->key, model->batch, count));
    for (uint32_t i = 0; i < count; i++)
        begin_node(&model->nodes[model->chosen[i]]);
}

/* The engine has chosen a local pose for this one; it must be where it was. */
static void take_pose(model_t *model, int i, const matrix_t *was)
{
    stage_t *s = model->s;
    node_t *node = &model->nodes[i];
    stage_get(s, BP_TRANSFORM_POSITION, node->e, &node->pose.position);
    stage_get(s, BP_TRANSFORM_ROTATION, node->e, &node->pose.rotation);
    stage_get(s, BP_TRANSFORM_SCALE, node->e, &node->pose.scale);
    bp_mat4_t is = world_of(s, node->e);
    EXPECT(apart(was, &is) < tolerance(model, i), "a pose that should be kept has moved by %g", apart(was, &is));
}

/* The model's part of an end: children become roots where they are. */
static void end_chosen(model_t *model, uint32_t count, bool dies)
{
    static matrix_t was[NODES];
    for (int i = 0; i < NODES; i++) {
        if (has_transform(&model->nodes[i]))
            was[i] = model_world(model, i);
    }
    if (dies)
        EXPECT(model->s->rig.api->entity->destroy(model->s->rig.host, model->batch, count) == count, "not all died");
    else
        WORKS(model->s->rig.host,
              model->s->rig.api->world->remove(model->s->world, model->s->key, model->batch, count));
    for (uint32_t i = 0; i < count; i++) {
        model->nodes[model->chosen[i]].has = false;
        model->nodes[model->chosen[i]].alive = !dies;
    }
    for (int i = 0; i < NODES; i++) {
        node_t *node = &model->nodes[i];
        if (!has_transform(node) || node->parent == NOBODY || has_transform(&model->nodes[node->parent]))
            continue;
        node->parent = NOBODY;
        take_pose(model, i, &was[i]);
    }
}

static void destroy(model_t *model)
{
    uint32_t count = choose(model, has_transform);
    end_chosen(model, count > 4 ? 4 : count, true);
}

static void take_away(model_t *model)
{
    uint32_t count = choose(model, has_transform);
    end_chosen(model, count > 4 ? 4 : count, false);
}

static bool goes_round(const model_t *model)
{
    for (int i = 0; i < NODES; i++) {
        int steps = 0;
        for (int at = i; has_transform(&model->nodes[i]) && at != NOBODY; at = model->nodes[at].parent) {
            if (++steps > NODES)
                return true;
        }
    }
    return false;
}

static bool model_link(model_t *model, const int *parents, uint32_t count)
{
    static node_t before[NODES];
    memcpy(before, model->nodes, sizeof before);
    for (uint32_t i = 0; i < count; i++) {
        node_t *node = &model->nodes[model->chosen[i]];
        if (node->parent == parents[i])
            continue;
        node->parent = parents[i];
        node->linked = ++model->time;
    }
    if (!goes_round(model))
        return true;
    memcpy(model->nodes, before, sizeof before);
    return false;
}

static int random_parent(model_t *model)
{
    int i = (int)bp_random_below(&model->random, NODES);
    return bp_random_below(&model->random, 8) != 0 && has_transform(&model->nodes[i]) ? i : NOBODY;
}

/* A batch of links by property, or by the table, keeping poses or not. */
static void link_some(model_t *model)
{
    static matrix_t was[NODES];
    stage_t *s = model->s;
    int parents[MOST];
    bp_entity_t entities[MOST];
    uint32_t parent_slots[MOST], count = choose(model, has_transform);
    uint32_t way = bp_random_below(&model->random, 3);
    for (int i = 0; i < NODES; i++) {
        if (has_transform(&model->nodes[i]))
            was[i] = model_world(model, i);
    }
    for (uint32_t i = 0; i < count; i++) {
        parents[i] = random_parent(model);
        entities[i] = parents[i] == NOBODY ? (bp_entity_t){0} : model->nodes[parents[i]].e;
    }
    EXPECT(s->table->find(s->m, model->batch, count, model->slots) == count, "slots are missing");
    s->table->find(s->m, entities, count, parent_slots);
    bool possible = model_link(model, parents, count);
    bp_result_t result =
        way == 0 ? stage_set(s, BP_TRANSFORM_PARENT, model->batch, count, entities, sizeof entities[0])
                 : s->table->link(s->m, model->slots, parent_slots, count, way == 2 ? BP_TRANSFORM_KEEP_WORLD : 0);
    EXPECT(result == (possible ? BP_OK : BP_ERROR_ARGUMENT), "a link gives %d: %s", result,
           bp_host_error(s->rig.host));
    for (uint32_t i = 0; possible && way == 2 && i < count; i++)
        take_pose(model, model->chosen[i], &was[model->chosen[i]]);
}

static void unlink_some(model_t *model)
{
    static matrix_t was[NODES];
    stage_t *s = model->s;
    uint32_t count = choose(model, has_transform), flags = bp_random_below(&model->random, 2);
    for (uint32_t i = 0; i < count; i++)
        was[model->chosen[i]] = model_world(model, model->chosen[i]);
    s->table->find(s->m, model->batch, count, model->slots);
    WORKS(s->rig.host, s->table->unlink(s->m, model->slots, count, flags));
    for (uint32_t i = 0; i < count; i++)
        model->nodes[model->chosen[i]].parent = NOBODY;
    for (uint32_t i = 0; flags != 0 && i < count; i++)
        take_pose(model, model->chosen[i], &was[model->chosen[i]]);
}

static void set_poses(model_t *model)
{
    stage_t *s = model->s;
    bp_vec3_t positions[MOST], scales[MOST];
    bp_quat_t rotations[MOST];
    uint32_t count = choose(model, has_transform), way = bp_random_below(&model->random, 4);
    for (uint32_t i = 0; i < count; i++) {
        pose_t pose = random_pose(&model->random), *kept = &model->nodes[model->chosen[i]].pose;
        positions[i] = kept->position = way == 1 || way == 2 ? kept->position : pose.position;
        rotations[i] = kept->rotation = way == 0 || way == 2 ? kept->rotation : pose.rotation;
        scales[i] = kept->scale = way < 2 ? kept->scale : pose.scale;
    }
    if (way == 3) {
        s->table->find(s->m, model->batch, count, model->slots);
        WORKS(s->rig.host, s->table->set_local(s->m, model->slots, count, positions, rotations, scales));
        return;
    }
    const void *values = way == 0 ? (void *)positions : way == 1 ? (void *)rotations : (void *)scales;
    WORKS(s->rig.host, stage_set(s, way, model->batch, count, values,
                                 way == 1 ? sizeof rotations[0] : sizeof positions[0]));
}

/* Poses that were kept again and again would grow until nothing but rounding is left. */
static void tame(model_t *model)
{
    for (int i = 0; i < NODES; i++) {
        node_t *node = &model->nodes[i];
        const bp_vec3_t *p = &node->pose.position;
        if (!has_transform(node) || (fabsf(logf(node->pose.scale.x)) < 0.2f && fabsf(p->x) < 30 &&
                                     fabsf(p->y) < 30 && fabsf(p->z) < 30))
            continue;
        node->pose = random_pose(&model->random);
        uint32_t slot = stage_slot(model->s, node->e);
        WORKS(model->s->rig.host, model->s->table->set_local(model->s->m, &slot, 1, &node->pose.position,
                                                             &node->pose.rotation, &node->pose.scale));
    }
}

static void step_or_pack(model_t *model)
{
    if (bp_random_below(&model->random, 2) == 0)
        WORKS(model->s->rig.host, bp_world_step(model->s->world));
    else
        WORKS(model->s->rig.host, model->s->table->pack(model->s->m));
}

/* --- looking ---------------------------------------------------------------------------------------- */

static int by_time(const void *a, const void *b)
{
    const node_t *const *x = a, *const *y = b;
    return (*x)->linked < (*y)->linked ? -1 : (*x)->linked > (*y)->linked;
}

/* The children in order, from both ends, and everything below. */
static uint32_t look_at_family(model_t *model, int i)
{
    stage_t *s = model->s;
    const node_t *children[NODES];
    uint32_t count = 0, slot = stage_slot(s, model->nodes[i].e), previous = BP_NONE, child, below = 1;
    for (int k = 0; k < NODES; k++) {
        if (has_transform(&model->nodes[k]) && model->nodes[k].parent == i)
            children[count++] = &model->nodes[k];
    }
    qsort(children, count, sizeof children[0], by_time);
    s->table->relatives(s->m, &slot, 1, NULL, &child, NULL, NULL);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t parent, next, before;
        EXPECT(child == stage_slot(s, children[k]->e), "child %u of %u is another one", k, count);
        s->table->relatives(s->m, &child, 1, &parent, NULL, &next, &before);
        EXPECT(parent == slot && before == previous, "a child has another parent or neighbour");
        previous = child;
        child = next;
        below += look_at_family(model, (int)(children[k] - model->nodes));
    }
    EXPECT(child == BP_NONE, "there are more than %u children", count);
    static uint32_t slots[NODES];
    EXPECT(s->table->subtree(s->m, slot, slots, NODES) == below && slots[0] == slot, "a subtree is another one");
    return below;
}

static void look(model_t *model)
{
    stage_t *s = model->s;
    for (int i = 0; i < NODES; i++) {
        const node_t *node = &model->nodes[i];
        if (!has_transform(node))
            continue;
        matrix_t expected = model_world(model, i);
        bp_mat4_t found = world_of(s, node->e);
        EXPECT(apart(&expected, &found) < tolerance(model, i), "node %d is off by %g", i, apart(&expected, &found));
        bp_entity_t parent = parent_of(s, node->e);
        EXPECT(parent.id == (node->parent == NOBODY ? 0 : model->nodes[node->parent].e.id), "node %d: parent", i);
        uint32_t slot = stage_slot(s, node->e);
        EXPECT(memcmp(&s->table->world(s->m)[slot], &found, sizeof found) == 0, "the table says otherwise");
        if (node->parent == NOBODY)
            look_at_family(model, i);
    }
}

START_TEST(a_hierarchy_is_what_a_naive_model_says)
{
    static void (*const operations[])(model_t *) = {create,    create,    add,       destroy,  take_away,
                                                    link_some, link_some, link_some, link_some, unlink_some,
                                                    set_poses, set_poses, set_poses, set_poses, step_or_pack};
    static model_t model;
    stage_t s;
    stage_open(&s);
    memset(&model, 0, sizeof model);
    model.s = &s;
    model.random = (uint64_t)_i + 1;
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        operations[bp_random_below(&model.random, COUNT(operations))](&model);
        tame(&model);
        if (round % 20 == 0 || round < 50)
            look(&model);
    }
    rig_close(&s.rig);
}
END_TEST

/* --- parents ----------------------------------------------------------------------------------------- */

START_TEST(a_child_moves_with_its_parent)
{
    stage_t s;
    bp_entity_t e[3];
    stage_open(&s);
    stage_create(&s, e, 3);
    put(&s, e[0], 1, 0, 0);
    put(&s, e[1], 0, 2, 0);
    put(&s, e[2], 0, 0, 3);
    WORKS(s.rig.host, stage_link(&s, e[1], e[0]));
    WORKS(s.rig.host, stage_link(&s, e[2], e[1]));
    expect_at(&s, e[2], 1, 2, 3);
    put(&s, e[0], 10, 0, 0);
    expect_at(&s, e[1], 10, 2, 0);
    expect_at(&s, e[2], 10, 2, 3);
    const bp_quat_t quarter = {0, 0, 0.70710678f, 0.70710678f};
    WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_ROTATION, e, 1, &quarter, 0));
    expect_at(&s, e[2], 8, 0, 3);
    WORKS(s.rig.host, stage_link(&s, e[1], (bp_entity_t){0}));
    expect_at(&s, e[2], 0, 2, 3);
    ck_assert_uint_eq(parent_of(&s, e[1]).id, 0);
    ck_assert_uint_eq(parent_of(&s, e[2]).id, e[1].id);
    rig_close(&s.rig);
}
END_TEST

START_TEST(a_circle_is_refused_and_nothing_has_changed)
{
    stage_t s;
    bp_entity_t e[4], parents[3];
    stage_open(&s);
    stage_create(&s, e, 4);
    put(&s, e[0], 1, 0, 0);
    FAILS(s.rig.host, BP_ERROR_ARGUMENT, "its own parent", stage_link(&s, e[0], e[0]));
    WORKS(s.rig.host, stage_link(&s, e[1], e[0]));
    WORKS(s.rig.host, stage_link(&s, e[2], e[1]));
    FAILS(s.rig.host, BP_ERROR_ARGUMENT, "below itself", stage_link(&s, e[0], e[2]));
    if (_i == 1)
        WORKS(s.rig.host, s.table->pack(s.m));
    FAILS(s.rig.host, BP_ERROR_ARGUMENT, "below itself", stage_link(&s, e[0], e[2]));
    /* The batch as a whole closes one: no link of it is made. */
    parents[0] = e[2];
    parents[1] = e[3];
    FAILS(s.rig.host, BP_ERROR_ARGUMENT, "below itself",
          stage_set(&s, BP_TRANSFORM_PARENT, (bp_entity_t[]){e[3], e[0]}, 2, parents, sizeof parents[0]));
    ck_assert_uint_eq(parent_of(&s, e[3]).id, 0);
    ck_assert_uint_eq(parent_of(&s, e[1]).id, e[0].id);
    /* And one that would close a circle alone, but not with the rest of its batch, is taken. */
    parents[0] = e[2];
    parents[1] = (bp_entity_t){0};
    WORKS(s.rig.host,
          stage_set(&s, BP_TRANSFORM_PARENT, (bp_entity_t[]){e[0], e[1]}, 2, parents, sizeof parents[0]));
    ck_assert_uint_eq(parent_of(&s, e[0]).id, e[2].id);
    expect_at(&s, e[0], 1, 0, 0);
    rig_close(&s.rig);
}
END_TEST

START_TEST(only_what_lives_and_has_a_transform_can_be_a_parent)
{
    stage_t s;
    bp_entity_t e[3], bare, dead, parents[3];
    stage_open(&s);
    stage_create(&s, e, 3);
    stage_create(&s, &dead, 1);
    WORKS(s.rig.host, s.rig.api->entity->create(s.rig.host, &bare, 1));
    s.rig.api->entity->destroy(s.rig.host, &dead, 1);
    FAILS(s.rig.host, BP_ERROR_NOT_FOUND, "no transform in world 'main'", stage_link(&s, e[0], bare));
    FAILS(s.rig.host, BP_ERROR_DEAD, "no such entity", stage_link(&s, e[0], dead));
    parents[0] = e[2];
    parents[1] = bare;
    FAILS(s.rig.host, BP_ERROR_NOT_FOUND, "no transform",
          stage_set(&s, BP_TRANSFORM_PARENT, e, 2, parents, sizeof parents[0]));
    ck_assert_uint_eq(parent_of(&s, e[0]).id, 0);
    rig_close(&s.rig);
}
END_TEST

/* The component may bear another name in each entity. */
START_TEST(a_parent_is_found_under_whatever_name_it_bears_its_transform)
{
    stage_t s;
    bp_entity_t e[4];
    stage_open(&s);
    WORKS(s.rig.host, s.rig.api->entity->create(s.rig.host, e, 4));
    static const char *const names[] = {"place", "body", "", "place"};
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t key = key_of(s.world, BP_TRANSFORM, names[i]);
        WORKS(s.rig.host, s.rig.api->world->add(s.world, key, &e[i], 1));
    }
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t slot = stage_slot(&s, e[i]), parent = i == 0 ? BP_NONE : stage_slot(&s, e[i - 1]);
        const bp_vec3_t one = {1, 0, 0};
        WORKS(s.rig.host, s.table->set_local(s.m, &slot, 1, &one, NULL, NULL));
        WORKS(s.rig.host, s.table->link(s.m, &slot, &parent, 1, 0));
    }
    WORKS(s.rig.host, s.rig.api->property->set_named(s.world, e[3], "place", "parent", BP_ENTITY, &e[1]));
    bp_mat4_t m;
    WORKS(s.rig.host, s.rig.api->property->get_named(s.world, e[3], "place", "world", BP_MAT4, &m));
    ck_assert_float_eq(m.m[12], 3);
    rig_close(&s.rig);
}
END_TEST

/* --- death ------------------------------------------------------------------------------------------- */

START_TEST(children_of_the_dead_become_roots_and_stay_where_they_are)
{
    stage_t s;
    bp_entity_t e[4];
    stage_open(&s);
    stage_create(&s, e, 4);
    const bp_quat_t quarter = {0, 0, 0.70710678f, 0.70710678f};
    put(&s, e[0], 5, 0, 0);
    put(&s, e[1], 2, 0, 0);
    put(&s, e[2], 0, 3, 0);
    put(&s, e[3], 1, 1, 1);
    WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_ROTATION, e, 1, &quarter, 0));
    for (uint32_t i = 1; i < 4; i++)
        WORKS(s.rig.host, stage_link(&s, e[i], e[i == 3 ? 1 : 0]));
    bp_mat4_t before[4];
    for (uint32_t i = 0; i < 4; i++)
        before[i] = world_of(&s, e[i]);
    if (_i == 0)
        s.rig.api->entity->destroy(s.rig.host, e, 1);
    else
        WORKS(s.rig.host, s.rig.api->world->remove(s.world, s.key, e, 1));
    for (uint32_t i = 1; i < 4; i++) {
        bp_mat4_t now = world_of(&s, e[i]);
        ck_assert_mem_eq(&now, &before[i], sizeof now); /* not even by rounding */
        ck_assert_uint_eq(parent_of(&s, e[i]).id, i == 3 ? e[1].id : 0);
    }
    bp_vec3_t position;
    stage_get(&s, BP_TRANSFORM_POSITION, e[1], &position); /* it was 2 0 0, turned by a quarter, from 5 0 0 */
    ck_assert_float_eq_tol(position.x, 5, 1e-5f);
    ck_assert_float_eq_tol(position.y, 2, 1e-5f);
    put(&s, e[1], 0, 0, 0);
    expect_at(&s, e[3], -1, 1, 1);
    rig_close(&s.rig);
}
END_TEST

START_TEST(children_die_with_their_parents_where_that_is_asked_for)
{
    enum { CHAIN = 300 };
    stage_t s;
    static bp_entity_t e[CHAIN + 4];
    stage_open_with(&s, "die");
    const bp_entity_api *entities = s.rig.api->entity;
    stage_create(&s, e, COUNT(e));
    for (uint32_t i = 1; i < CHAIN; i++)
        WORKS(s.rig.host, stage_link(&s, e[i], e[i - 1]));
    bp_entity_t *family = e + CHAIN; /* a parent that loses its transform, two children, and a stranger */
    WORKS(s.rig.host, stage_link(&s, family[1], family[0]));
    WORKS(s.rig.host, stage_link(&s, family[2], family[0]));
    WORKS(s.rig.host, s.rig.api->world->remove(s.world, s.key, family, 1));
    ck_assert_uint_eq(entities->count(s.rig.host), COUNT(e));
    WORKS(s.rig.host, s.rig.api->world->add(s.world, s.key, family, 1));
    WORKS(s.rig.host, stage_link(&s, family[1], family[0]));
    bp_world_o *other = bp_world_create(s.rig.host, &(bp_world_desc_t){.name = "other"});
    WORKS(s.rig.host, bp_world_use_component(other, BP_TRANSFORM));
    WORKS(s.rig.host, s.rig.api->world->add(other, key_of(other, BP_TRANSFORM, ""), e, 2));
    entities->destroy(s.rig.host, family, 1);
    ck_assert_uint_eq(entities->count(s.rig.host), CHAIN + 2);
    ck_assert_uint_eq(entities->alive(s.rig.host, &family[1], 1, NULL), 0);
    const char *const names[] = {"transform"};
    WORKS(s.rig.host, bp_host_reload(s.rig.host, names, 1, NULL)); /* which asks for the same */
    s.rig.log = (log_text_t){.count = 0};
    entities->destroy(s.rig.host, &e[100], 1); /* all below it go, in this world and in the other */
    ck_assert_uint_eq(entities->count(s.rig.host), 100 + 2);
    entities->destroy(s.rig.host, e, 1);
    ck_assert_uint_eq(entities->count(s.rig.host), 2);
    rig_close(&s.rig);
}
END_TEST

/* Scaled unevenly and turned below that is shear, which no pose can say: the nearest one is taken, and world and
 * local pose agree. */
START_TEST(a_sheared_child_of_the_dead_keeps_its_place_and_loses_its_shear)
{
    stage_t s;
    bp_entity_t e[3];
    stage_open(&s);
    stage_create(&s, e, 3);
    const bp_vec3_t uneven = {4, 1, 1};
    const bp_quat_t eighth = {0, 0, 0.38268343f, 0.92387953f};
    put(&s, e[1], 1, 1, 0);
    put(&s, e[2], 0, 0, 7);
    WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_SCALE, e, 1, &uneven, 0));
    WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_ROTATION, &e[1], 1, &eighth, 0));
    WORKS(s.rig.host, stage_link(&s, e[1], e[0]));
    WORKS(s.rig.host, stage_link(&s, e[2], e[1]));
    expect_at(&s, e[1], 4, 1, 0);
    s.rig.api->entity->destroy(s.rig.host, e, 1);
    expect_at(&s, e[1], 4, 1, 0);
    expect_at(&s, e[2], 4, 1, 7);
    pose_t pose;
    stage_get(&s, BP_TRANSFORM_POSITION, e[1], &pose.position);
    stage_get(&s, BP_TRANSFORM_ROTATION, e[1], &pose.rotation);
    stage_get(&s, BP_TRANSFORM_SCALE, e[1], &pose.scale);
    matrix_t expected = matrix_of(&pose);
    bp_mat4_t found = world_of(&s, e[1]);
    ck_assert_msg(apart(&expected, &found) < 1e-5, "off by %g", apart(&expected, &found));
    rig_close(&s.rig);
}
END_TEST

START_TEST(a_pose_cannot_be_kept_below_nothing)
{
    stage_t s;
    bp_entity_t e[2];
    uint32_t slots[2];
    stage_open(&s);
    stage_create(&s, e, 2);
    put(&s, e[1], 1, 2, 3);
    WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_SCALE, e, 1, &(bp_vec3_t){1, 0, 1}, 0));
    s.table->find(s.m, e, 2, slots);
    FAILS(s.rig.host, BP_ERROR_RANGE, "scaled to nothing",
          s.table->link(s.m, &slots[1], &slots[0], 1, BP_TRANSFORM_KEEP_WORLD));
    ck_assert_uint_eq(parent_of(&s, e[1]).id, 0);
    WORKS(s.rig.host, s.table->link(s.m, &slots[1], &slots[0], 1, 0));
    expect_at(&s, e[1], 1, 0, 3);
    rig_close(&s.rig);
}
END_TEST

/* --- order ------------------------------------------------------------------------------------------- */

enum { MANY = 3000 };

/* The same random forest in two worlds, linked in a batch and one by one. */
static void plant(stage_t *s, bp_entity_t *e, uint64_t random, bool singly)
{
    static bp_entity_t children[MANY], parents[MANY];
    uint32_t count = 0;
    stage_create(s, e, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        pose_t pose = random_pose(&random);
        WORKS(s->rig.host, stage_set(s, BP_TRANSFORM_POSITION, &e[i], 1, &pose.position, 0));
        WORKS(s->rig.host, stage_set(s, BP_TRANSFORM_ROTATION, &e[i], 1, &pose.rotation, 0));
    }
    for (uint32_t i = 1; i < MANY; i++) {
        children[count] = e[(i * 7919u) % MANY]; /* every one once, in an order of its own */
        parents[count++] = e[(bp_random_below(&random, i) * 7919u) % MANY];
    }
    for (uint32_t i = count; singly && i > 1; i--) {
        uint32_t k = bp_random_below(&random, i);
        bp_entity_t child = children[k], parent = parents[k];
        children[k] = children[i - 1];
        parents[k] = parents[i - 1];
        children[i - 1] = child;
        parents[i - 1] = parent;
    }
    for (uint32_t i = 0; singly && i < count; i++)
        WORKS(s->rig.host, stage_link(s, children[i], parents[i]));
    if (!singly)
        WORKS(s->rig.host,
              stage_set(s, BP_TRANSFORM_PARENT, children, count, parents, sizeof parents[0]));
}

static void expect_same_worlds(stage_t *a, const bp_entity_t *e, stage_t *b, const bp_entity_t *f)
{
    for (uint32_t i = 0; i < MANY; i++) {
        bp_mat4_t x = world_of(a, e[i]), y = world_of(b, f[i]);
        EXPECT(memcmp(&x, &y, sizeof x) == 0, "matrix %u differs", i);
    }
}

/* However the links came, and whether families are packed or not, a world matrix has the same bits. */
START_TEST(a_world_matrix_is_the_same_bit_for_bit_however_it_was_come_by)
{
    static bp_entity_t e[MANY], f[MANY];
    static bp_vec3_t positions[MANY];
    static uint32_t slots[MANY];
    static stage_t a, b;
    stage_open(&a);
    stage_open(&b);
    plant(&a, e, 5, false);
    plant(&b, f, 5, true);
    expect_same_worlds(&a, e, &b, f);
    uint64_t random = 9;
    for (uint32_t i = 0; i < MANY; i++)
        positions[i] = random_pose(&random).position;
    WORKS(a.rig.host, stage_set(&a, BP_TRANSFORM_POSITION, e, MANY, positions, sizeof positions[0]));
    b.table->find(b.m, f, MANY, slots);
    if (_i == 0)
        WORKS(b.rig.host, b.table->set_local(b.m, slots, MANY, positions, NULL, NULL));
    for (uint32_t i = MANY; _i == 1 && i-- > 0;)
        WORKS(b.rig.host, b.table->set_local(b.m, &slots[i], 1, &positions[i], NULL, NULL));
    expect_same_worlds(&a, e, &b, f);
    WORKS(b.rig.host, b.table->pack(b.m));
    expect_same_worlds(&a, e, &b, f);
    rig_close(&a.rig);
    rig_close(&b.rig);
}
END_TEST

START_TEST(packed_families_lie_together_parents_before_children)
{
    static bp_entity_t e[MANY];
    static uint32_t subtree[MANY];
    static stage_t s;
    stage_open(&s);
    plant(&s, e, 3, true);
    WORKS(s.rig.host, s.table->pack(s.m));
    bp_transform_view_t view = {.struct_size = sizeof view};
    s.table->view(s.m, &view);
    ck_assert_uint_eq(view.count, MANY);
    for (uint32_t slot = 0; slot < MANY; slot++) {
        EXPECT(view.parents[slot] == BP_NONE || view.parents[slot] < slot, "slot %u comes before its parent", slot);
        uint32_t below = s.table->subtree(s.m, slot, subtree, MANY);
        EXPECT(subtree[below - 1] == slot + below - 1, "the subtree of slot %u has gaps", slot);
    }
    rig_close(&s.rig);
}
END_TEST

START_TEST(stamps_tell_what_has_changed)
{
    static bp_entity_t e[MANY];
    static stage_t s;
    bp_slot_stamps_t stamps = {.struct_size = sizeof stamps};
    stage_open(&s);
    const bp_changes_api *changes = s.rig.api->registry->find(s.rig.host, BP_CHANGES_API, 1);
    stage_create(&s, e, MANY);
    ck_assert_int_eq(changes->keep(s.m), BP_OK);
    uint64_t before = changes->look(s.m->world);
    changes->slots(s.m, &stamps);
    ck_assert_uint_le(stamps.latest, before);
    uint32_t slot = stage_slot(&s, e[1000]);
    put(&s, e[1000], 1, 1, 1);
    changes->slots(s.m, &stamps);
    ck_assert_uint_gt(stamps.latest, before);
    for (uint32_t at = 0; at < MANY; at += BP_STAMP_ROWS)
        EXPECT((bp_slot_stamp(&stamps, at) > before) == (at / BP_STAMP_ROWS == slot / BP_STAMP_ROWS), "slot %u", at);
    before = changes->look(s.m->world);
    WORKS(s.rig.host, s.table->set_local(s.m, &slot, 1, &(bp_vec3_t){1, 1, 1}, NULL, NULL));
    changes->slots(s.m, &stamps);
    ck_assert_uint_le(stamps.latest, before); /* it is where it was */
    ck_assert_uint_ne(s.m->watched, 0);
    changes->release(s.m);
    ck_assert_uint_eq(s.m->watched, 0);
    rig_close(&s.rig);
}
END_TEST

/* --- want of memory ---------------------------------------------------------------------------------- */

/* Every allocation of a batch of links fails once; then the links are made, and packing fails. */
START_TEST(links_are_made_or_not_when_memory_is_short)
{
    enum { FEW = 500 };
    static bp_entity_t e[FEW];
    static bp_vec3_t position = {1, 0, 0};
    bp_result_t result = BP_ERROR_MEMORY;
    for (uint64_t n = 1; result != BP_OK; n++) {
        stage_t s;
        stage_open(&s);
        stage_create(&s, e, FEW);
        WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_POSITION, e, FEW, &position, 0));
        s.rig.heap.refuse_first = s.rig.heap.refuse_last = s.rig.heap.requests + n;
        result = stage_set(&s, BP_TRANSFORM_PARENT, e + 1, FEW - 1, e, sizeof e[0]);
        bool refused = s.rig.heap.refused > 0;
        s.rig.heap.refuse_first = s.rig.heap.refuse_last = 0;
        EXPECT(refused || result == BP_OK, "%d: %s", result, bp_host_error(s.rig.host));
        for (uint32_t i = 1; i < FEW; i++)
            EXPECT((parent_of(&s, e[i]).id != 0) == (result == BP_OK), "half a batch of links");
        expect_at(&s, e[FEW - 1], result == BP_OK ? FEW : 1, 0, 0);
        WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_PARENT, e + 1, FEW - 1, e, sizeof e[0]));
        WORKS(s.rig.host, stage_link(&s, e[FEW / 2], (bp_entity_t){0}));
        WORKS(s.rig.host, stage_link(&s, e[FEW - 1], e[0]));
        s.rig.heap.refuse_first = s.rig.heap.requests + 1 + n % 2;
        s.rig.heap.refuse_last = UINT64_MAX;
        FAILS(s.rig.host, BP_ERROR_MEMORY, "another order", s.table->pack(s.m));
        s.rig.heap.refuse_first = s.rig.heap.refuse_last = 0;
        expect_at(&s, e[FEW - 2], FEW / 2 - 1, 0, 0);
        WORKS(s.rig.host, s.table->pack(s.m));
        expect_at(&s, e[FEW - 2], FEW / 2 - 1, 0, 0);
        put(&s, e[FEW / 2], 5, 0, 0);
        expect_at(&s, e[FEW - 2], FEW / 2 + 3, 0, 0);
        expect_at(&s, e[FEW - 1], 2, 0, 0);
        rig_close(&s.rig);
        EXPECT(n < 100, "a batch of links takes no end of allocations");
    }
}
END_TEST

/* --- a million ---------------------------------------------------------------------------------------- */

#if defined(BACKPLANE_SANITIZED)
enum { LONG = 100000 };
#else
enum { LONG = 1000000 };
#endif

START_TEST(a_chain_of_a_million_moves_and_dies_at_once)
{
    bp_entity_t *const e = room_of(LONG * sizeof *e);
    bp_vec3_t *const positions = room_of(LONG * sizeof *positions);
    static stage_t s;
    stage_open(&s);
    stage_create(&s, e, LONG);
    WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_PARENT, e + 1, LONG - 1, e, sizeof e[0]));
    put(&s, e[0], 3, 0, 0);
    expect_at(&s, e[LONG - 1], 3, 0, 0);
    for (uint32_t i = 0; i < LONG; i++)
        positions[i] = (bp_vec3_t){0, i % 2 == 0 ? 1 : -1, 0};
    WORKS(s.rig.host, stage_set(&s, BP_TRANSFORM_POSITION, e, LONG, positions, sizeof positions[0]));
    expect_at(&s, e[LONG - 2], 0, 1, 0);
    expect_at(&s, e[LONG - 1], 0, 0, 0);
    FAILS(s.rig.host, BP_ERROR_ARGUMENT, "below itself", stage_link(&s, e[0], e[LONG - 1]));
    ck_assert_uint_eq(s.rig.api->entity->destroy(s.rig.host, e, LONG - 1), LONG - 1);
    expect_at(&s, e[LONG - 1], 0, 0, 0);
    ck_assert_uint_eq(parent_of(&s, e[LONG - 1]).id, 0);
    rig_close(&s.rig);
}
END_TEST

/* Grown at either end one by one, a chain does not cost its length each time: this would not end otherwise. */
START_TEST(a_long_chain_grows_at_both_ends)
{
    enum { GROWN = LONG / 5 };
    bp_entity_t *const e = room_of(GROWN * sizeof *e);
    static stage_t s;
    stage_open(&s);
    stage_create(&s, e, GROWN);
    for (uint32_t i = 1; i < GROWN / 2; i++)
        WORKS(s.rig.host, stage_link(&s, e[i], e[i - 1]));
    for (uint32_t i = GROWN - 1; i > GROWN / 2; i--)
        WORKS(s.rig.host, stage_link(&s, e[i], e[i - 1]));
    WORKS(s.rig.host, stage_link(&s, e[GROWN / 2], e[GROWN / 2 - 1]));
    put(&s, e[0], 0, 0, 4);
    expect_at(&s, e[GROWN - 1], 0, 0, 4);
    rig_close(&s.rig);
}
END_TEST

/* --- links of a snapshot --------------------------------------------------------------------------- */

enum { KIN = 6, LINKS = 4 };

/* Bring back the snapshot `bytes`, in which `length` bytes at `at` are others. */
static bp_result_t bring_back_with(stage_t *s, const char *bytes, size_t size, size_t at, const void *others,
                                   size_t length)
{
    bp_snapshot_o *read;
    char *copy = malloc(size);
    EXPECT(copy != NULL, "no memory");
    memcpy(copy, bytes, size);
    memcpy(copy + at, others, length);
    WORKS(s->rig.host, bp_snapshot_read(s->rig.host, copy, size, &read));
    bp_result_t result = bp_host_bring_back(s->rig.host, read);
    bp_snapshot_free(read);
    free(copy);
    return result;
}

/* Parents, first children, next and previous siblings: one of them changed, or a circle. */
START_TEST(links_of_a_damaged_snapshot_are_refused)
{
#define N BP_NONE
    static const uint32_t made[LINKS][KIN] = {
        {N, 0, 0, 0, 1, N}, {1, 4, N, N, N, N}, {N, 2, 3, N, N, N}, {N, 3, 1, 2, 4, N}};
    static const uint32_t circle[LINKS][KIN] = {
        {N, 0, 0, N, 5, 4}, {1, N, N, N, 5, 4}, {N, 2, N, N, N, N}, {N, 2, 1, N, 4, 5}};
    static const uint32_t values[] = {0, 1, 2, 3, 4, 5, KIN, 1000000, N};
#undef N
    uint32_t links[LINKS][KIN];
    bp_entity_t e[KIN];
    bp_snapshot_o *taken;
    stage_t s;
    size_t size, at = 0;
    stage_open(&s);
    stage_create(&s, e, KIN);
    for (uint32_t i = 0; i < KIN; i++) {
        if (made[0][i] != BP_NONE)
            WORKS(s.rig.host, stage_link(&s, e[i], e[made[0][i]]));
    }
    WORKS(s.rig.host, bp_host_snapshot(s.rig.host, &taken));
    const char *bytes = bp_snapshot_bytes(taken, &size);
    while (at + sizeof made <= size && memcmp(bytes + at, made, sizeof made) != 0)
        at += sizeof(uint32_t);
    EXPECT(at + sizeof made <= size, "the links are not in the snapshot as they were made");
    for (uint32_t i = 0; i < LINKS * KIN; i++) {
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            memcpy(links, made, sizeof links);
            if (links[i / KIN][i % KIN] == values[k])
                continue;
            links[i / KIN][i % KIN] = values[k];
            EXPECT(bring_back_with(&s, bytes, size, at, links, sizeof links) == BP_ERROR_FAILED,
                   "column %u, slot %u: %u is not refused", i / KIN, i % KIN, values[k]);
        }
    }
    memcpy(links, circle, sizeof links);
    EXPECT(bring_back_with(&s, bytes, size, at, links, sizeof links) == BP_ERROR_FAILED, "a circle is not refused");
    WORKS(s.rig.host, bp_host_bring_back(s.rig.host, taken));
    EXPECT(parent_of(&s, e[4]).id == e[1].id && parent_of(&s, e[5]).id == 0, "links are not as they were");
    bp_snapshot_free(taken);
    rig_close(&s.rig);
}
END_TEST

/* Entities, world matrices and poses are there always: they are not left as memory happens to be. */
START_TEST(a_snapshot_that_lacks_a_column_is_refused)
{
    enum { ENTITIES = 1, WORLDS = 4, POSES = 8 };
    static const uint32_t made[] = {KIN, ENTITIES | WORLDS | POSES};
    bp_entity_t e[KIN];
    bp_snapshot_o *taken;
    stage_t s;
    size_t size, at = 0;
    stage_open(&s);
    stage_create(&s, e, KIN);
    WORKS(s.rig.host, bp_host_snapshot(s.rig.host, &taken));
    const char *bytes = bp_snapshot_bytes(taken, &size);
    while (at + sizeof made <= size && memcmp(bytes + at, made, sizeof made) != 0)
        at += sizeof(uint32_t);
    EXPECT(at + sizeof made <= size, "the columns are not in the snapshot as they were made");
    for (uint32_t bit = ENTITIES; bit <= POSES; bit *= 2) {
        const uint32_t fewer[] = {KIN, made[1] & ~bit};
        EXPECT((made[1] & bit) == 0 || bring_back_with(&s, bytes, size, at, fewer, sizeof fewer) == BP_ERROR_FAILED,
               "column %x is missing and that is not refused", bit);
    }
    WORKS(s.rig.host, bp_host_bring_back(s.rig.host, taken));
    bp_snapshot_free(taken);
    rig_close(&s.rig);
}
END_TEST

Suite *hierarchy_suite(void)
{
    Suite *suite = suite_create("hierarchy");
    TCase *tests = tcase_create("hierarchy");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_hierarchy_is_what_a_naive_model_says, 0, 6);
    tcase_add_test(tests, a_child_moves_with_its_parent);
    tcase_add_loop_test(tests, a_circle_is_refused_and_nothing_has_changed, 0, 2);
    tcase_add_test(tests, only_what_lives_and_has_a_transform_can_be_a_parent);
    tcase_add_test(tests, a_parent_is_found_under_whatever_name_it_bears_its_transform);
    tcase_add_loop_test(tests, children_of_the_dead_become_roots_and_stay_where_they_are, 0, 2);
    tcase_add_test(tests, children_die_with_their_parents_where_that_is_asked_for);
    tcase_add_test(tests, a_sheared_child_of_the_dead_keeps_its_place_and_loses_its_shear);
    tcase_add_test(tests, a_pose_cannot_be_kept_below_nothing);
    tcase_add_loop_test(tests, a_world_matrix_is_the_same_bit_for_bit_however_it_was_come_by, 0, 2);
    tcase_add_test(tests, packed_families_lie_together_parents_before_children);
    tcase_add_test(tests, stamps_tell_what_has_changed);
    tcase_add_test(tests, links_are_made_or_not_when_memory_is_short);
    tcase_add_test(tests, a_chain_of_a_million_moves_and_dies_at_once);
    tcase_add_test(tests, a_long_chain_grows_at_both_ends);
    tcase_add_test(tests, links_of_a_damaged_snapshot_are_refused);
    tcase_add_test(tests, a_snapshot_that_lacks_a_column_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
