/* bounds.c - boxes in the world, and finding those that reach into a frustum.
 *
 * A box follows from the resource's box and the world matrix. The host stamps blocks of the transforms' slots when
 * something in them changes; where a block has an old stamp, and the same entity is still in the slot, the box is
 * right as it is. Slots of transforms change, so each instance remembers a slot and checks that its entity is still in
 * it; only where it is not, the world is asked. Where no transform has changed since the last call the stamps are not
 * read.
 *
 * Middle and half size of the new box: the matrix takes the middle to the middle, and each half axis contributes its
 * absolute value (Arvo, "Transforming axis-aligned bounding boxes", Graphics Gems, 1990). An instance without a place
 * has half sizes of minus infinity: no plane has it inside.
 */
#include "bounds.h"

#include <helpers/bp_widest.h>
#include <math.h>

enum { BLOCK = 256, PLANES = 6 };

static float *column_of(const meshes_t *meshes, uint32_t column)
{
    return BP_SLOTS(float, &meshes->slots, column);
}

/* --- one box ---------------------------------------------------------------------------------- */

/* The fourth number of each array is not used: four numbers at a time are computed as fast as three. */
typedef struct box_t {
    float middle[4], half[4];
} box_t;

static const box_t nowhere = {.half = {-INFINITY, -INFINITY, -INFINITY}};

static inline box_t box_of(const mesh_resource_t *resource, const float *m)
{
    box_t box;
    const float *middle = resource->middle, *half = resource->half;
    for (int r = 0; r < 4; r++)
        box.middle[r] = m[12 + r] + m[r] * middle[0] + m[4 + r] * middle[1] + m[8 + r] * middle[2];
    for (int r = 0; r < 4; r++)
        box.half[r] = fabsf(m[r]) * half[0] + fabsf(m[4 + r]) * half[1] + fabsf(m[8 + r]) * half[2];
    return box;
}

static bool is_shown(const mesh_resource_t *resource)
{
    return resource != NULL && resource->shown.triangle_count > 0;
}

/* The transforms of this world; false where it has none. */
static bool find_transforms(bp_manager_t *m, const bp_transform_api **table, bp_manager_t **transforms)
{
    *table = m->api->registry->find(m->host, BP_TRANSFORM_API, 2);
    uint32_t component = *table == NULL ? BP_NONE : m->api->world->component(m->world, BP_TRANSFORM);
    *transforms = component == BP_NONE ? NULL : m->api->world->manager(m->world, component);
    return *transforms != NULL;
}

bool mesh_bounds_of(bp_manager_t *m, uint32_t slot, bp_vec3_t *lowest, bp_vec3_t *highest)
{
    const meshes_t *meshes = m->state;
    const mesh_resource_t *resource = resources_of(meshes)[slot];
    const bp_transform_api *table;
    bp_manager_t *transforms;
    uint32_t place;
    *lowest = *highest = (bp_vec3_t){0, 0, 0};
    if (!is_shown(resource) || !find_transforms(m, &table, &transforms) ||
        table->find(transforms, &BP_SLOTS(const bp_entity_t, &meshes->slots, BP_SLOTS_ENTITY)[slot], 1, &place) == 0)
        return false;
    box_t box = box_of(resource, table->world(transforms)[place].m);
    *lowest = (bp_vec3_t){box.middle[0] - box.half[0], box.middle[1] - box.half[1], box.middle[2] - box.half[2]};
    *highest = (bp_vec3_t){box.middle[0] + box.half[0], box.middle[1] + box.half[1], box.middle[2] + box.half[2]};
    return true;
}

/* --- all boxes -------------------------------------------------------------------------------- */

/* The columns that refreshing works on, for the time of one call: nothing is made or ended meanwhile. */
typedef struct columns_t {
    const bp_entity_t *entities;
    mesh_resource_t *const *resources;
    uint32_t *places;
    float *box[6];
} columns_t;

static columns_t columns_of(const meshes_t *meshes)
{
    columns_t c = {.entities = BP_SLOTS(const bp_entity_t, &meshes->slots, BP_SLOTS_ENTITY),
                   .resources = resources_of(meshes),
                   .places = BP_SLOTS(uint32_t, &meshes->slots, PLACE)};
    for (uint32_t i = 0; i < 6; i++)
        c.box[i] = column_of(meshes, MIDDLE + i);
    return c;
}

static inline void put_box(const columns_t *c, uint32_t slot, const bp_transform_view_t *view)
{
    uint32_t place = c->places[slot];
    const mesh_resource_t *resource = c->resources[slot];
    box_t box = place == BP_NONE || !is_shown(resource) ? nowhere : box_of(resource, view->world[place].m);
    for (uint32_t i = 0; i < 3; i++) {
        c->box[i][slot] = box.middle[i];
        c->box[3 + i][slot] = box.half[i];
    }
}

/* Does the place that is remembered still belong to the entity? */
static inline bool is_at(const columns_t *c, uint32_t slot, const bp_transform_view_t *view)
{
    uint32_t place = c->places[slot];
    return place < view->count && view->entities[place].id == c->entities[slot].id;
}

/* Find the places of some instances, and compute their boxes. */
static void find_places(const columns_t *c, const bp_transform_api *table, bp_manager_t *transforms,
                        const bp_transform_view_t *view, const uint32_t *slots, uint32_t count)
{
    bp_entity_t entities[BLOCK];
    uint32_t places[BLOCK];
    for (uint32_t i = 0; i < count; i++)
        entities[i] = c->entities[slots[i]];
    table->find(transforms, entities, count, places);
    for (uint32_t i = 0; i < count; i++) {
        c->places[slots[i]] = places[i];
        put_box(c, slots[i], view);
    }
}

/* Ask for stamps of these transforms, unless that has been done. Returns the moment from which on changes are asked
 * for. */
static uint64_t watch(const bp_changes_api *changes, meshes_t *meshes, bp_manager_t *transforms)
{
    if (meshes->watched == transforms)
        return meshes->looked;
    mesh_bounds_forget(changes, meshes);
    if (changes->keep(transforms) == BP_OK)
        meshes->watched = transforms;
    return 0;
}

/* Bring all boxes up to the transforms as they are. */
static void refresh(bp_manager_t *m, const bp_transform_api *table, bp_manager_t *transforms)
{
    meshes_t *meshes = m->state;
    const bp_changes_api *changes = m->api->registry->find(m->host, BP_CHANGES_API, 1);
    bp_transform_view_t view = {.struct_size = sizeof view};
    const columns_t c = columns_of(meshes);
    uint32_t lost[BLOCK], count = 0;
    uint64_t since = watch(changes, meshes, transforms);
    bp_slot_stamps_t stamps = {.struct_size = sizeof stamps};
    changes->slots(transforms, &stamps);
    if (stamps.latest <= since && !meshes->changed)
        return;
    meshes->looked = changes->look(m->world);
    table->view(transforms, &view);
    for (uint32_t slot = 0; slot < meshes->slots.count; slot++) {
        if (is_at(&c, slot, &view)) {
            if (bp_slot_stamp(&stamps, c.places[slot]) > since)
                put_box(&c, slot, &view);
            continue;
        }
        lost[count++] = slot;
        if (count == BLOCK) {
            find_places(&c, table, transforms, &view, lost, count);
            count = 0;
        }
    }
    find_places(&c, table, transforms, &view, lost, count);
    meshes->changed = false;
}

void mesh_bounds_forget(const bp_changes_api *changes, meshes_t *meshes)
{
    if (meshes->watched != NULL)
        changes->release(meshes->watched);
    meshes->watched = NULL;
}

/* Add the columns of boxes, which come with the first question. */
static bp_result_t begin_bounds(bp_manager_t *m, meshes_t *meshes)
{
    for (uint32_t column = PLACE; !meshes->bounded && column < COLUMNS_END; column++) {
        bp_result_t result = bp_slots_use(m, &meshes->slots, column, sizeof(uint32_t));
        if (result != BP_OK)
            return result;
    }
    for (uint32_t slot = 0; !meshes->bounded && slot < meshes->slots.count; slot++)
        BP_SLOTS(uint32_t, &meshes->slots, PLACE)[slot] = BP_NONE;
    meshes->bounded = true;
    return BP_OK;
}

/* --- the question ----------------------------------------------------------------------------- */

/* inside[i] for `count` instances from `first` on: a box is outside of a plane where even its nearest corner is. */
BP_WIDEST
static void ask_planes(const meshes_t *meshes, const bp_frustum_t *frustum, uint32_t first, uint32_t count,
                       uint32_t *restrict inside)
{
    const float *x = column_of(meshes, MIDDLE) + first, *half_x = column_of(meshes, HALF) + first;
    const float *y = column_of(meshes, MIDDLE + 1) + first, *half_y = column_of(meshes, HALF + 1) + first;
    const float *z = column_of(meshes, MIDDLE + 2) + first, *half_z = column_of(meshes, HALF + 2) + first;
    for (uint32_t i = 0; i < count; i++)
        inside[i] = 1;
    for (uint32_t k = 0; k < PLANES; k++) {
        bp_vec4_t p = frustum->planes[k];
        float reach_x = fabsf(p.x), reach_y = fabsf(p.y), reach_z = fabsf(p.z);
        for (uint32_t i = 0; i < count; i++) {
            float nearest = x[i] * p.x + y[i] * p.y + z[i] * p.z + p.w +
                            (half_x[i] * reach_x + half_y[i] * reach_y + half_z[i] * reach_z);
            inside[i] &= nearest >= 0;
        }
    }
}

/* The slots from `first` on that are inside and visible, one after another in `found`. The loop has no branch, since
 * which ones they are follows no pattern. */
static uint32_t list_seen(const uint32_t *inside, const uint8_t *visible, uint32_t first, uint32_t count,
                          uint32_t *found)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++) {
        found[n] = first + i;
        n += (inside[i] & visible[first + i]) != 0;
    }
    return n;
}

bp_result_t mesh_bounds_seen(bp_manager_t *m, const bp_frustum_t *frustum, uint32_t *slots, uint32_t capacity,
                             uint32_t *count)
{
    meshes_t *meshes = m->state;
    const bp_transform_api *table;
    bp_manager_t *transforms;
    uint32_t inside[BLOCK], seen[BLOCK], found = 0;
    *count = 0;
    if (!find_transforms(m, &table, &transforms))
        return BP_OK;
    bp_result_t result = begin_bounds(m, meshes);
    if (result != BP_OK)
        return result;
    refresh(m, table, transforms);
    const uint8_t *visible = BP_SLOTS(uint8_t, &meshes->slots, VISIBLE);
    for (uint32_t first = 0; first < meshes->slots.count; first += BLOCK) {
        uint32_t n = meshes->slots.count - first < BLOCK ? meshes->slots.count - first : BLOCK;
        ask_planes(meshes, frustum, first, n, inside);
        n = list_seen(inside, visible, first, n, seen);
        uint32_t room = found < capacity ? capacity - found : 0;
        if (n > 0 && room > 0)
            memcpy(slots + found, seen, (n < room ? n : room) * sizeof *slots);
        found += n;
    }
    *count = found;
    return BP_OK;
}
