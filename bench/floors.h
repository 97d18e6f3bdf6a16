/* floors.h - the plain C loops that the engine is compared with.
 *
 * Each floor does what its subject does and no more, over arrays of the simplest shape that can do it, with
 * nothing checked that C would not check. Floors lie in files of their own, so that no compiler can see
 * through a call and drop it.
 *
 * Not here: calls of the engine.
 */
#ifndef BENCH_FLOORS_H
#define BENCH_FLOORS_H

#include <bp_types.h>

/* velocity += acceleration * dt, position += velocity * dt over arrays of floats; the code and the flags
 * are those of the plugin point_mass. */
void floor_simulate(float *position, float *velocity, const float *acceleration, float dt, size_t count);

/* --- entities: an array of generations and a ring of free indices ------------------------------------- */

typedef struct floor_entities_t {
    uint32_t *generations;
    uint32_t *ring;
    uint32_t capacity, bound, head, waiting;
} floor_entities_t;

/* New ids: floor_create_fresh takes fresh indices, floor_create_recycled indices from the ring. */
void floor_create_fresh(floor_entities_t *all, bp_entity_t *out, uint32_t count);
void floor_create_recycled(floor_entities_t *all, bp_entity_t *out, uint32_t count);
void floor_destroy(floor_entities_t *all, const bp_entity_t *entities, uint32_t count);

/* alive[i] = generations[index] == generation; returns how many. */
uint32_t floor_alive(const uint32_t *generations, const bp_entity_t *entities, uint32_t count,
                     uint8_t *alive);

/* --- world matrices of a hierarchy, parents before children; item 0 is the root ------------------------ */

/* world[i] = world[parent[i]] * local[i] */
void floor_products(bp_mat4_t *world, const bp_mat4_t *local, const uint32_t *parent, uint32_t count);

/* Multiply as floor_products does, with the local matrix made from a pose. */
void floor_poses(bp_mat4_t *world, const bp_vec3_t *position, const bp_quat_t *rotation, const bp_vec3_t *scale,
                 const uint32_t *parent, uint32_t count);

/* --- boxes and planes --------------------------------------------------------------------------------- */

typedef struct floor_box_t {
    float middle[3], half[3];
} floor_box_t;

/* The boxes that reach into a frustum of six planes, in order; returns how many. */
uint32_t floor_frustum(const floor_box_t *boxes, uint32_t count, const bp_vec4_t *planes, uint32_t *found);

/* The boxes of instances of one mesh. */
void floor_boxes(floor_box_t *boxes, const bp_mat4_t *worlds, uint32_t count, const float middle[3],
                 const float half[3]);

/* --- memory ------------------------------------------------------------------------------------------- */

/* Write every byte of a block. */
void floor_touch(void *block, size_t bytes);

/* --- rows: records and columns written plainly -------------------------------------------------------- */

typedef struct floor_record_t {
    uint32_t generation, group, row;
} floor_record_t;

typedef struct floor_group_t {
    bp_entity_t *entities;
    float *mass;
    bp_vec3_t *position, *velocity, *acceleration;
    float *second; /* only in the group that has it */
    uint32_t count;
} floor_group_t;

/* Fresh ids, each with a record and a value in three columns, entity by entity. */
void floor_create_three(floor_entities_t *all, floor_record_t *records, float *const columns[3], bp_entity_t *out,
                        uint32_t count);

/* Rows at the end of a group, fields at their defaults. */
void floor_append(floor_record_t *records, floor_group_t *groups, uint32_t group, const bp_entity_t *entities,
                  uint32_t count);

/* out[i] = mass of entities[i]: record, group, column, one after another. Returns how many were found. */
uint32_t floor_look_up(const floor_record_t *records, const floor_group_t *groups,
                       const bp_entity_t *entities, uint32_t count, float *out);

/* Move each entity to group `to`: swap-erase where it is, append there. */
void floor_move(floor_record_t *records, floor_group_t *groups, uint32_t to, const bp_entity_t *entities,
                uint32_t count);

/* floor_move_singly moves one entity after the other to group 1 and back to group 0; floor_move_ahead moves as
 * floor_move does, with records and rows of a block of entities fetched ahead. */
void floor_move_singly(floor_record_t *records, floor_group_t *groups, const bp_entity_t *entities, uint32_t count);
void floor_move_ahead(floor_record_t *records, floor_group_t *groups, uint32_t to, const bp_entity_t *entities,
                      uint32_t count);

/* Swap-erase the rows of entities, whose records are cleared. Returns how many there were. */
uint32_t floor_erase(floor_record_t *records, floor_group_t *groups, const bp_entity_t *entities, uint32_t count);

/* The mass of entities[i] = in[i]. Returns how many were found. */
uint32_t floor_store(const floor_record_t *records, const floor_group_t *groups, const bp_entity_t *entities,
                     uint32_t count, const float *in);

/* The sum of values[index[i]]. */
float floor_indexed(const float *values, const uint32_t *index, uint32_t count);

/* --- one column --------------------------------------------------------------------------------------- */

void floor_copy(float *to, const float *from, uint32_t count);
void floor_fill(float *values, float value, uint32_t count);

/* a *= 0.5 */
void floor_halve(float *a, uint32_t count);

/* a += b * c */
void floor_multiply_add(float *a, const float *b, const float *c, uint32_t count);

#endif
