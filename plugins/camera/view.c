/* view.c - the matrix of a camera, and the meshes that it sees.
 *
 * The mesh plugin answers which meshes are seen (its boxes against the camera's frustum); view.c puts the answer
 * together with the matrices of transforms, and sorts the list. Only whole lists are sorted, since a caller asks again
 * for a list that did not fit.
 */
#include "camera.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { ON_STACK = 256 };

bp_result_t camera_refuse(bp_manager_t *m, bp_result_t code, bp_entity_t camera, const char *why)
{
    char sentence[240], text[40];
    m->api->entity->format(m->host, camera, text, sizeof text);
    snprintf(sentence, sizeof sentence, "camera: %s in world '%.40s' %.120s", text, m->api->world->name(m->world), why);
    return m->api->error->set(m->host, code, sentence);
}

uint32_t camera_component(bp_manager_t *m, uint32_t key, bp_name_t *name)
{
    uint32_t component = BP_NONE;
    m->api->world->key_info(m->world, key, &component, name);
    return component;
}

/* --- the matrix ------------------------------------------------------------------------------- */

typedef struct lens_t {
    float angle, aspect, near_distance, far_distance;
} lens_t;

static bool read_lens(bp_manager_t *m, bp_entity_t camera, lens_t *lens)
{
    float *const parts[] = {&lens->angle, &lens->aspect, &lens->near_distance, &lens->far_distance};
    uint32_t keys[CAMERA_KEYS], count = m->api->world->keys_of(m->world, camera, keys, CAMERA_KEYS), at = 0;
    bp_name_t name;
    while (at < count && camera_component(m, keys[at], &name) != m->component)
        at++;
    if (at == count)
        return false;
    for (uint32_t i = 0; i < 4; i++) {
        bp_ref_t ref = {.entity = camera, .field = keys[at] << 8 | i};
        *parts[i] = *(const float *)m->api->world->ref(m->world, &ref);
    }
    return true;
}

/* A component of another plugin in this world: its table and its manager. False where either is missing. */
static bool find_manager(bp_manager_t *m, const char *name, const void **table, bp_manager_t **manager)
{
    *table = m->api->registry->find(m->host, name, 2);
    uint32_t component = *table == NULL ? BP_NONE : m->api->world->component(m->world, name);
    *manager = component == BP_NONE ? NULL : m->api->world->manager(m->world, component);
    return *manager != NULL;
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* From the world to the camera: its axes, brought to length 1 and to right angles, as rows. False where an axis has no
 * direction. */
static bool make_view(const float *world, double view[16])
{
    double x[3], y[3], z[3], eye[3] = {(double)world[12], (double)world[13], (double)world[14]};
    for (int i = 0; i < 3; i++) {
        y[i] = (double)world[4 + i];
        z[i] = (double)world[8 + i];
    }
    double length = sqrt(dot(z, z));
    for (int i = 0; i < 3; i++)
        z[i] /= length;
    for (int i = 0; i < 3; i++)
        x[i] = y[(i + 1) % 3] * z[(i + 2) % 3] - y[(i + 2) % 3] * z[(i + 1) % 3];
    length *= sqrt(dot(x, x));
    if (!(length > 0 && length < HUGE_VAL))
        return false;
    double width = sqrt(dot(x, x));
    for (int i = 0; i < 3; i++)
        x[i] /= width;
    for (int i = 0; i < 3; i++)
        y[i] = z[(i + 1) % 3] * x[(i + 2) % 3] - z[(i + 2) % 3] * x[(i + 1) % 3];
    const double *rows[3] = {x, y, z};
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            view[4 * c + r] = rows[r][c];
        view[12 + r] = -dot(rows[r], eye);
        view[4 * r + 3] = 0;
    }
    view[15] = 1;
    return true;
}

/* Perspective, depth from -1 at the near plane to 1 at the far one. */
static void project(const lens_t *lens, const double view[16], bp_mat4_t *matrix)
{
    double near_distance = (double)lens->near_distance, far_distance = (double)lens->far_distance;
    double high = 1 / tan((double)lens->angle * (3.14159265358979323846 / 360)), wide = high / (double)lens->aspect;
    double slope = (near_distance + far_distance) / (near_distance - far_distance);
    double offset = 2 * near_distance * far_distance / (near_distance - far_distance);
    for (int c = 0; c < 4; c++) {
        matrix->m[4 * c] = (float)(wide * view[4 * c]);
        matrix->m[4 * c + 1] = (float)(high * view[4 * c + 1]);
        matrix->m[4 * c + 2] = (float)(slope * view[4 * c + 2] + offset * view[4 * c + 3]);
        matrix->m[4 * c + 3] = (float)-view[4 * c + 2];
    }
}

/* The camera's own world matrix. */
static bp_result_t find_eye(bp_manager_t *m, bp_entity_t camera, bp_mat4_t *world)
{
    const void *found;
    bp_manager_t *transforms;
    uint32_t slot;
    if (!find_manager(m, BP_TRANSFORM, &found, &transforms))
        return camera_refuse(m, BP_ERROR_NOT_FOUND, camera, "has no place: the world has no transforms");
    const bp_transform_api *table = found;
    if (table->find(transforms, &camera, 1, &slot) == 0)
        return camera_refuse(m, BP_ERROR_NOT_FOUND, camera, "has no place: give it a transform");
    *world = table->world(transforms)[slot];
    return BP_OK;
}

/* The matrix of a camera, and that of its transform. */
static bp_result_t look_through(bp_manager_t *m, bp_entity_t camera, bp_mat4_t *view_projection, bp_mat4_t *world)
{
    lens_t lens;
    double view[16];
    if (!read_lens(m, camera, &lens))
        return camera_refuse(m, BP_ERROR_NOT_FOUND, camera, "is no camera");
    bp_result_t result = find_eye(m, camera, world);
    if (result != BP_OK)
        return result;
    if (!(lens.far_distance > lens.near_distance))
        return camera_refuse(m, BP_ERROR_RANGE, camera, "has a far plane that is not behind its near one");
    if (!make_view(world->m, view))
        return camera_refuse(m, BP_ERROR_RANGE, camera,
                             "looks nowhere: it is scaled to nothing, or beyond all numbers");
    project(&lens, view, view_projection);
    return BP_OK;
}

bp_result_t camera_matrix(bp_manager_t *m, bp_entity_t camera, bp_mat4_t *view_projection)
{
    bp_mat4_t world;
    return look_through(m, camera, view_projection, &world);
}

/* --- what is seen ----------------------------------------------------------------------------- */

static int by_distance(const void *a, const void *b)
{
    const bp_camera_draw_t *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    return x->entity.id != y->entity.id ? (x->entity.id < y->entity.id ? -1 : 1)
                                        : (x->name > y->name) - (x->name < y->name);
}

static void describe(const bp_mesh_look_t *look, const bp_mat4_t *world, const float *eye, bp_camera_draw_t *draw)
{
    float x = world->m[12] - eye[12], y = world->m[13] - eye[13], z = world->m[14] - eye[14];
    *draw = (bp_camera_draw_t){.entity = look->entity,
                               .name = look->name,
                               .resource = look->resource,
                               .colour = look->colour,
                               .world = *world,
                               .distance = sqrtf(x * x + y * y + z * z)};
}

typedef struct scene_t {
    const bp_mesh_api *meshes;
    const bp_transform_api *transforms;
    bp_manager_t *mesh, *transform;
} scene_t;

/* Put meshes and transforms together, for the slots of seen meshes. */
static void describe_all(const scene_t *scene, const uint32_t *slots, uint32_t count, const float *eye,
                         bp_camera_draw_t *draws)
{
    const bp_mat4_t *worlds = scene->transforms->world(scene->transform);
    for (uint32_t i = 0; i < count; i++) {
        bp_mesh_look_t look;
        uint32_t place;
        scene->meshes->look(scene->mesh, &slots[i], 1, &look, sizeof look);
        scene->transforms->find(scene->transform, &look.entity, 1, &place);
        describe(&look, &worlds[place], eye, &draws[i]);
    }
}

/* List the meshes seen through `view_projection`, with room for `capacity` slots to work with. */
static bp_result_t list_seen(const scene_t *scene, const bp_mat4_t *view_projection, const float *eye,
                             uint32_t *slots, bp_camera_draw_t *draws, uint32_t capacity, uint32_t *count)
{
    bp_frustum_t frustum = bp_frustum_of(view_projection, -1);
    bp_result_t result = scene->meshes->seen(scene->mesh, &frustum, slots, capacity, count);
    if (result != BP_OK)
        return result;
    describe_all(scene, slots, *count < capacity ? *count : capacity, eye, draws);
    if (*count > 1 && *count <= capacity)
        qsort(draws, *count, sizeof *draws, by_distance);
    return BP_OK;
}

bp_result_t camera_draws(bp_manager_t *m, bp_entity_t camera, bp_camera_draw_t *draws, uint32_t capacity,
                         uint32_t *count)
{
    bp_mat4_t view_projection, eye;
    const void *meshes, *transforms;
    scene_t scene;
    uint32_t few[ON_STACK], *slots = few;
    *count = 0;
    bp_result_t result = look_through(m, camera, &view_projection, &eye);
    if (result != BP_OK || !find_manager(m, BP_MESH, &meshes, &scene.mesh))
        return result;
    find_manager(m, BP_TRANSFORM, &transforms, &scene.transform); /* the camera has one, so there is a manager */
    scene.meshes = meshes;
    scene.transforms = transforms;
    size_t size = capacity * sizeof *slots;
    if (capacity > ON_STACK)
        slots = m->api->memory->resize(m->plugin, NULL, 0, size);
    if (slots == NULL)
        return camera_refuse(m, BP_ERROR_MEMORY, camera, "sees more than there is memory for");
    result = list_seen(&scene, &view_projection, eye.m, slots, draws, capacity, count);
    if (slots != few)
        m->api->memory->resize(m->plugin, slots, size, 0);
    return result;
}
