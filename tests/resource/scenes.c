/* scenes.c - blobs made by the writer, as the compiler and a save make them. */
#include "scenes.h"

#include "base/hash.h"

#include <string.h>

void desk_open(desk_t *desk)
{
    memset(desk, 0, sizeof *desk);
    bp_allocator_i allocator = heap_allocator(&desk->heap);
    memory_init(&desk->memory, "desk", &allocator);
}

void desk_close(desk_t *desk)
{
    ck_assert_uint_eq(memory_bytes(&desk->memory), 0);
    ck_assert_uint_eq(desk->heap.bytes, 0);
}

void desk_free(desk_t *desk, bytes_t bytes)
{
    memory_free(&desk->memory, bytes.bytes, bytes.size);
}

void scene_seal(bytes_t bytes)
{
    uint64_t sum = hash_bytes(bytes.bytes + sizeof(blob_head_t), bytes.size - sizeof(blob_head_t));
    memcpy(bytes.bytes + offsetof(blob_head_t, checksum), &sum, sizeof sum);
}

enum { BODY, FOG, SECRET };
enum { TYPES = BP_TYPE_COUNT - 1 };

static const char *const field_names[2 * TYPES] = {
    "bool_c", "i32_c", "u32_c", "i64_c", "f32_c", "f64_c", "vec2_c", "vec3_c", "vec4_c", "quat_c", "mat4_c", "colour_c", "string_c",
    "entity_c", "name_c", "bool_o", "i32_o", "u32_o", "i64_o", "f32_o", "f64_o", "vec2_o", "vec3_o", "vec4_o", "quat_o", "mat4_o",
    "colour_o", "string_o", "entity_o", "name_o"};

static void fill(desk_t *desk, blob_writer_t *w, uint32_t field, uint32_t type, uint32_t count)
{
    unsigned char *values = blob_column(w, BODY, field);
    for (uint32_t i = 0; i < count; i++) {
        char text[32];
        snprintf(text, sizeof text, "%s %u", field_names[field], i);
        if (type == BP_STRING)
            WORKS_AT(desk, blob_string(w, text, (uint32_t *)(void *)values + i, &desk->error));
        else if (type == BP_NAME)
            WORKS_AT(desk, blob_name(w, text, (bp_name_t *)(void *)values + i, &desk->error));
        else if (type == BP_ENTITY)
            ((uint32_t *)(void *)values)[i] = 6 - i;
        else if (type == BP_BOOL)
            values[i] = (uint8_t)(i % 2);
        else
            memset(values + i * blob_value_size(type), (int)(i + type), blob_value_size(type));
    }
}

bytes_t scene_of_everything(desk_t *desk)
{
    blob_field_desc_t body[2 * TYPES];
    for (uint32_t i = 0; i < 2 * TYPES; i++)
        body[i] = (blob_field_desc_t){field_names[i], 1 + i % TYPES, i < TYPES ? BLOB_COLUMN : BLOB_ONE};
    const blob_field_desc_t fog[] = {{"thick", BP_F32, BLOB_COLUMN}};
    const blob_component_desc_t components[] = {
        {.type = "body", .fields = body, .field_count = COUNT(body), .version = 7},
        {.type = "fog", .fields = fog, .field_count = 1},
        {.type = "secret", .flags = BLOB_OPAQUE, .opaque_bytes = blob_opaque_room(21)},
    };
    const blob_part_desc_t rich[] = {{.component = BODY, .text = "body"}, {.component = FOG, .text = "haze"}, {.component = FOG, .name = 77}};
    const blob_part_desc_t poor[] = {{.component = SECRET, .text = "secret"}, {.component = BODY, .text = "corpse"}};
    const blob_group_desc_t groups[] = {{rich, COUNT(rich), 2}, {NULL, 0, 3}, {poor, COUNT(poor), 1}};
    const blob_desc_t desc = {.components = components, .groups = groups, .component_count = COUNT(components), .group_count = COUNT(groups),
                              .parents = true, .clock = true, .steps = 12, .time = 0.5, .step_rate = 24};
    blob_writer_t w;
    bytes_t made = {NULL, 0};
    WORKS_AT(desk, blob_write_begin(&w, &desk->memory, &desc, &desk->error));
    for (uint32_t i = 0; i < 2 * TYPES; i++)
        fill(desk, &w, i, body[i].type, i < TYPES ? 3 : 1);
    float *thick = blob_column(&w, FOG, 0);
    for (uint32_t row = 0; row < 2; row++) {
        thick[blob_first(&w, 0, 1) + row] = 1.5f;
        thick[blob_first(&w, 0, 2) + row] = 2.5f;
    }
    WORKS_AT(desk, blob_opaque(&w, SECRET, 0, "twenty-one characters", 21, &desk->error));
    blob_parents(&w)[0] = 6; /* its parent is the last one, whose parent is the second */
    blob_parents(&w)[5] = 2;
    void *block;
    WORKS_AT(desk, blob_write_end(&w, &block, &made.size, &desk->error));
    made.bytes = block;
    return made;
}
