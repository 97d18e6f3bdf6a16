/* meshes.h - the instances of one world, shared by the files of the plugin.
 *
 * Invariants: resource[slot] is NULL or holds one reference. The columns from PLACE on exist from the first question
 * about the world on; PLACE is BP_NONE where a box is to be found anew, whatever the transform says.
 *
 * Not here: functions.
 */
#ifndef MESH_MESHES_H
#define MESH_MESHES_H

#include "resource.h"

#include <bp_changes.h>
#include <helpers/bp_slots.h>
#include <components/transform.h>

#include <stdbool.h>

/* Columns. A box is kept as middle and half size, one column a number, for the loop that asks all of them. */
enum {
    COLOUR = BP_SLOTS_FIRST, /* bp_colour_t */
    RESOURCE,                /* mesh_resource_t *, NULL or with one reference */
    VISIBLE,                 /* uint8_t */
    PLACE,                   /* uint32_t, slot of the entity's transform */
    MIDDLE,                  /* float, as the next five: x y z of the middle, x y z of the half size */
    HALF = MIDDLE + 3,
    COLUMNS_END = HALF + 3
};

typedef struct meshes_t {
    bp_slots_t slots;
    bool bounded;             /* the columns of boxes are in use */
    bool changed;             /* something of our own has changed since boxes were computed */
    uint64_t looked;          /* the moment at which boxes were computed */
    bp_manager_t *watched;    /* the transforms that stamps are kept for; NULL: none yet */
} meshes_t;

/* The form of a world's instances. Instances refer to resources, so a change in the form of resources changes this form
 * too: instances never go over without the resources that they hold. The number 512 below, to which the number of the
 * resources' form is added, is to be raised by 256 when a member changes its meaning and not its size. */
typedef struct meshes_form_t {
    meshes_t meshes;
    mesh_resources_form_t resources;
    uint64_t columns[COLUMNS_END];
} meshes_form_t;

#define MESHES_FORM BP_STATE_FORM(meshes_form_t, 512 + MESH_RESOURCES_NUMBER)

static inline mesh_resource_t **resources_of(const meshes_t *meshes)
{
    return BP_SLOTS(mesh_resource_t *, &meshes->slots, RESOURCE);
}

#endif
