/* pose.h - a 4x4 matrix as position, rotation and scale, or as two of these.
 *
 * A pose is what the component transform takes: translation * rotation * scale. Not every matrix is a pose: a shear
 * is not. But every affine matrix is the product of two, by its singular values: A = U S V', so the first pose
 * has rotation U and scale S, and the second, inside it, rotation V'. Mirrored matrices have negative scale.
 *
 * Not here: the last row of the matrix; pose_is_affine tells whether that row is other than 0 0 0 1.
 */
#ifndef IMPORT_POSE_H
#define IMPORT_POSE_H

#include <stdbool.h>

typedef struct pose_t {
    float position[3];
    float rotation[4]; /* x, y, z, w; of length 1; w is not negative */
    float scale[3];
} pose_t;

/* Split a matrix, row after row, for column vectors: into one pose where one is enough, else into two, whose product
 * (poses[0] * poses[1]) is the matrix. Returns how many poses; 0 where a number of the matrix is not finite. */
int pose_split(const float matrix[16], pose_t poses[2]);

/* Is the last row 0 0 0 1? */
bool pose_is_affine(const float matrix[16]);

/* The matrix of a pose, row after row. */
void pose_matrix(const pose_t *pose, double matrix[16]);

/* Does the pose move, turn and scale nothing? */
bool pose_is_identity(const pose_t *pose);

#endif
