/* pose.h - the arithmetic of poses: rotations of length 1, matrices of poses, products, and back to a pose.
 *
 * A matrix is affine: its last row is 0 0 0 1. The functions of the inner loops are inline; each result is made
 * of the same operations in the same order wherever it is computed, so that it has the same bits.
 *
 * Not here: instances.
 */
#ifndef TRANSFORM_POSE_H
#define TRANSFORM_POSE_H

#include <bp_types.h>

#include <stdbool.h>
#include <string.h>

/* A local pose. All members are needed whenever a matrix is made, so they lie together. */
typedef struct pose_t {
    bp_vec3_t position;
    bp_quat_t rotation; /* of length 1 */
    bp_vec3_t scale;
} pose_t;

/* `off` is the squared length of a rotation, less 1: is the length 1 but for rounding? Then the rotation is left as it
 * is, so that a rotation that was read can be set again without a change. */
static inline bool pose_is_off_little(float off)
{
    return off < 4e-7f && off > -4e-7f;
}

static inline bool pose_is_unit(bp_quat_t q)
{
    return pose_is_off_little(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w - 1);
}

/* Are all rotations of length 1? `values` lie `stride` bytes apart and need not be aligned. */
bool pose_are_unit(const void *values, size_t stride, uint32_t count);

/* Bring a rotation to length 1. False where the rotation has no direction: length 0, or not finite. */
bool pose_normalise(bp_quat_t *q);

/* translation * rotation * scale */
static inline void pose_matrix(const pose_t *pose, float *m)
{
    bp_quat_t q = pose->rotation;
    bp_vec3_t s = pose->scale;
    float xx = 2 * q.x * q.x, yy = 2 * q.y * q.y, zz = 2 * q.z * q.z;
    float xy = 2 * q.x * q.y, xz = 2 * q.x * q.z, yz = 2 * q.y * q.z;
    float wx = 2 * q.w * q.x, wy = 2 * q.w * q.y, wz = 2 * q.w * q.z;
    m[0] = (1 - yy - zz) * s.x;
    m[1] = (xy + wz) * s.x;
    m[2] = (xz - wy) * s.x;
    m[3] = 0;
    m[4] = (xy - wz) * s.y;
    m[5] = (1 - xx - zz) * s.y;
    m[6] = (yz + wx) * s.y;
    m[7] = 0;
    m[8] = (xz + wy) * s.z;
    m[9] = (yz - wx) * s.z;
    m[10] = (1 - xx - yy) * s.z;
    m[11] = 0;
    m[12] = pose->position.x;
    m[13] = pose->position.y;
    m[14] = pose->position.z;
    m[15] = 1;
}

/* product = a * b, for affine matrices. Four rows at a time, so that it becomes vector instructions. */
static inline void pose_multiply(const float *restrict a, const float *restrict b, float *restrict product)
{
    for (int c = 0; c < 12; c += 4) {
        for (int r = 0; r < 4; r++)
            product[c + r] = a[r] * b[c] + a[4 + r] * b[c + 1] + a[8 + r] * b[c + 2];
    }
    for (int r = 0; r < 4; r++)
        product[12 + r] = a[r] * b[12] + a[4 + r] * b[13] + a[8 + r] * b[14] + a[12 + r];
}

/* The local matrix with which a child of `parent` is at `world`. False where `parent` has no inverse. `parent` may
 * be NULL. */
bool pose_relative(const float *parent, const float *world, float *local);

/* The pose that comes nearest to a matrix; a shear in the matrix is lost. */
pose_t pose_of_matrix(const float *m);

/* Are two world matrices the same but for rounding, where they were computed below `parent`? */
bool pose_is_near(const float *a, const float *b, const float *parent);

#endif
