/* fuzz_obj.c - libFuzzer target of the OBJ reader.
 *
 * Every input is read three times: from memory, where the input fits its block exactly, so that a sanitizer
 * sees a byte read too far; through a file, which must give the same mesh or the same sentence; and with an
 * allocation that fails. What was accepted must be what the header promises, and nothing may be left behind.
 *
 * seeds: config/meshes
 * canary: plugins/mesh/obj.c s/if (r->reach\[kind\] > r->count\[kind\])/if (r->reach[kind] > r->count[kind] + 1)/
 */
#define _POSIX_C_SOURCE 200809L /* fmemopen */

#include "../../plugins/mesh/obj.h"

#include "account.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_mesh(const mesh_obj_t *mesh)
{
    expect(mesh->triangle_count > 0 && mesh->vertex_count > 0);
    expect(mesh->position_bytes == 3 * sizeof(float) * mesh->vertex_count);
    expect(mesh->index_bytes == 3 * sizeof(uint32_t) * mesh->triangle_count);
    for (size_t i = 0; i < (size_t)3 * mesh->vertex_count; i++)
        expect(mesh->positions[i] - mesh->positions[i] == 0.0f);
    for (size_t i = 0; i < (size_t)3 * mesh->triangle_count; i++) {
        expect(mesh->indices[i] < mesh->vertex_count);
        const float *p = mesh->positions + (size_t)3 * mesh->indices[i];
        expect(mesh->bounds_min.x <= p[0] && p[0] <= mesh->bounds_max.x);
        expect(mesh->bounds_min.y <= p[1] && p[1] <= mesh->bounds_max.y);
        expect(mesh->bounds_min.z <= p[2] && p[2] <= mesh->bounds_max.z);
    }
}

static void expect_equal(const mesh_obj_t *a, const mesh_obj_t *b)
{
    expect(a->vertex_count == b->vertex_count && a->triangle_count == b->triangle_count);
    expect(memcmp(a->positions, b->positions, a->position_bytes) == 0);
    expect(memcmp(a->indices, b->indices, a->index_bytes) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const mesh_obj_limits_t limits = {1 << 20, 5000, 5000};
    account_t account = {.allowed = -1};
    const mesh_obj_memory_t memory = {&account, account_resize};
    char sentence[MESH_OBJ_SENTENCE_MAX], file_sentence[MESH_OBJ_SENTENCE_MAX];
    mesh_obj_t mesh, from_file;

    bp_result_t result = mesh_obj_read_memory(&memory, &limits, data, size, "f", &mesh, sentence);
    if (result == BP_OK)
        check_mesh(&mesh);

    FILE *file = size == 0 ? NULL : fmemopen((void *)(uintptr_t)data, size, "rb");
    if (file != NULL) {
        setvbuf(file, NULL, _IONBF, 0);
        bp_result_t again = mesh_obj_read_file(&memory, &limits, file, "f", &from_file, file_sentence);
        fclose(file);
        expect(again == result);
        if (again == BP_OK) {
            expect_equal(&mesh, &from_file);
            mesh_obj_free(&memory, &from_file);
        } else {
            expect(strcmp(sentence, file_sentence) == 0);
        }
    }
    if (result == BP_OK)
        mesh_obj_free(&memory, &mesh);

    account.allowed = (int)(size % 5);
    result = mesh_obj_read_memory(&memory, &limits, data, size, "f", &mesh, sentence);
    if (result == BP_OK)
        mesh_obj_free(&memory, &mesh);
    expect(account.bytes == 0);
    return 0;
}
