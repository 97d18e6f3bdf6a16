/* scenes.c - blobs made by the writer, as the compiler and a save make them. */
#include "scenes.h"

#include "base/strings.h"

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

void desk_free(desk_t *desk, blob_bytes_t bytes)
{
    memory_free(&desk->memory, bytes.bytes, bytes.size);
}

void scene_seal(blob_bytes_t bytes)
{
    uint64_t sum = hash_bytes(bytes.bytes + sizeof(blob_head_t), bytes.size - sizeof(blob_head_t));
    memcpy(bytes.bytes + offsetof(blob_head_t, checksum), &sum, sizeof sum);
}

enum { BODY, FOG, SECRET };
enum { TYPES = BP_NAME }; /* those that version 1 of the format has */

static const char *const field_names[2 * TYPES] = {"bool_c", "i32_c",    "u32_c",    "i64_c",    "f32_c",
                                                   "f64_c",  "vec2_c",   "vec3_c",   "vec4_c",   "quat_c",
                                                   "mat4_c", "colour_c", "string_c", "entity_c", "name_c",
                                                   "bool_o", "i32_o",    "u32_o",    "i64_o",    "f32_o",
                                                   "f64_o",  "vec2_o",   "vec3_o",   "vec4_o",   "quat_o",
                                                   "mat4_o", "colour_o", "string_o", "entity_o", "name_o"};

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

blob_bytes_t scene_of_everything(desk_t *desk)
{
    blob_field_desc_t body[2 * TYPES];
    for (uint32_t i = 0; i < 2 * TYPES; i++)
        body[i] = (blob_field_desc_t){.name = field_names[i],
                                      .type = 1 + i % TYPES,
                                      .kind = i < TYPES ? BLOB_COLUMN : BLOB_ONE};
    const blob_field_desc_t fog[] = {{.name = "thick", .type = BP_F32, .kind = BLOB_COLUMN}};
    const blob_component_desc_t components[] = {
        {.type = "body", .fields = body, .field_count = COUNT(body), .version = 7},
        {.type = "fog", .fields = fog, .field_count = 1},
        {.type = "secret", .flags = BLOB_OPAQUE, .opaque_bytes = blob_opaque_room(21)},
    };
    const blob_part_desc_t rich[] = {{.component = BODY, .text = "body"},
                                     {.component = FOG, .text = "haze"},
                                     {.component = FOG, .name = 77}};
    const blob_part_desc_t poor[] = {{.component = SECRET, .text = "secret"}, {.component = BODY, .text = "corpse"}};
    const blob_group_desc_t groups[] = {{rich, COUNT(rich), 2}, {NULL, 0, 3}, {poor, COUNT(poor), 1}};
    const blob_desc_t desc = {.components = components,
                              .groups = groups,
                              .component_count = COUNT(components),
                              .group_count = COUNT(groups),
                              .parents = true,
                              .clock = true,
                              .steps = 12,
                              .time = 0.5,
                              .step_rate = 24};
    blob_writer_t w;
    blob_bytes_t made = {NULL, 0};
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

enum { LEVEL_BODY, LEVEL_LABEL, LEVEL_POOL, LEVEL_KIN, LEVEL_VAULT, LEVEL_TAG };

/* The values of a level's components but the vaults'. */
static void fill_level(desk_t *desk, blob_writer_t *w)
{
    float *mass = blob_column(w, LEVEL_BODY, 0);
    uint32_t *text = blob_column(w, LEVEL_LABEL, 0), *home = blob_column(w, LEVEL_LABEL, 1),
             *names = blob_column(w, LEVEL_KIN, 0);
    uint32_t *friends = blob_column(w, LEVEL_KIN, 2);
    int64_t *number = blob_column(w, LEVEL_POOL, 0);
    for (uint32_t i = 0; i < LEVEL_LOTS; i++) {
        char words[32];
        mass[i] = (float)i;
        number[i] = 10 * (int64_t)i;
        snprintf(words, sizeof words, "sign %u", i / 3);
        WORKS_AT(desk, blob_string(w, words, &text[i], &desk->error));
        WORKS_AT(desk, blob_string(w, words, &names[i], &desk->error));
        home[i] = LEVEL_LOTS - i; /* the entity LEVEL_LOTS - i - 1 */
        friends[i] = i % 4 == 0 ? LEVEL_LOTS + 5 : 0;
        blob_parents(w)[i] = i + 2;
    }
    *(bp_vec3_t *)blob_column(w, LEVEL_BODY, 1) = (bp_vec3_t){7, 8, 9};
    WORKS_AT(desk, blob_name(w, "guild", blob_column(w, LEVEL_LABEL, 2), &desk->error));
    *(int32_t *)blob_column(w, LEVEL_LABEL, 3) = -3;
    WORKS_AT(desk, blob_string(w, "pooled", blob_column(w, LEVEL_POOL, 1), &desk->error));
    *(float *)blob_column(w, LEVEL_KIN, 1) = 70;
    blob_parents(w)[LEVEL_LOTS + 1] = LEVEL_LOTS + 3;
}

/* `compiled`: as contract 1 had it, the vaults are bytes that their manager compiled. */
static blob_bytes_t write_level(desk_t *desk, bool compiled)
{
    static const blob_field_desc_t body[] = {
        {.name = "mass", .type = BP_F32, .kind = BLOB_COLUMN},
        {.name = "velocity", .type = BP_VEC3, .kind = BLOB_ONE},
    };
    static const blob_field_desc_t label[] = {
        {.name = "text", .type = BP_STRING, .kind = BLOB_COLUMN},
        {.name = "home", .type = BP_ENTITY, .kind = BLOB_COLUMN},
        {.name = "kind", .type = BP_NAME, .kind = BLOB_ONE},
        {.name = "rank", .type = BP_I32, .kind = BLOB_ONE},
    };
    static const blob_field_desc_t pool[] = {
        {.name = "number", .type = BP_I64, .kind = BLOB_COLUMN},
        {.name = "text", .type = BP_STRING, .kind = BLOB_ONE},
        {.name = "serial", .type = BP_U32, .kind = BLOB_ONE},
    };
    static const blob_field_desc_t kin[] = {
        {.name = "label", .type = BP_STRING, .kind = BLOB_COLUMN},
        {.name = "weight", .type = BP_F32, .kind = BLOB_ONE},
        {.name = "friend", .type = BP_ENTITY, .kind = BLOB_COLUMN},
    };
    static const blob_field_desc_t vault[] = {{.name = "secret", .type = BP_U32, .kind = BLOB_COLUMN}};
    const blob_component_desc_t components[] = {
        [LEVEL_BODY] = {.type = "body", .fields = body, .field_count = COUNT(body)},
        [LEVEL_LABEL] = {.type = "label", .fields = label, .field_count = COUNT(label)},
        [LEVEL_POOL] = {.type = "pool", .fields = pool, .field_count = COUNT(pool)},
        [LEVEL_KIN] = {.type = "kin", .fields = kin, .field_count = COUNT(kin)},
        [LEVEL_VAULT] = compiled
                            ? (blob_component_desc_t){.type = "vault", .flags = BLOB_OPAQUE, .opaque_bytes = 2 * 16}
                            : (blob_component_desc_t){.type = "vault", .fields = vault, .field_count = 1},
        [LEVEL_TAG] = {.type = "tag"},
    };
    static const blob_part_desc_t many[] = {{.component = LEVEL_BODY, .text = "body"},
                                            {.component = LEVEL_LABEL, .text = "sign"},
                                            {.component = LEVEL_POOL, .text = "pool"},
                                            {.component = LEVEL_KIN, .text = "kin"}};
    static const blob_part_desc_t few[] = {{.component = LEVEL_VAULT, .text = "vault"},
                                           {.component = LEVEL_KIN, .text = "kin"},
                                           {.component = LEVEL_KIN, .text = "in-law"},
                                           {.component = LEVEL_TAG, .text = "tag"}};
    static const blob_group_desc_t groups[] = {{many, COUNT(many), LEVEL_LOTS}, {few, COUNT(few), 2}, {NULL, 0, 3}};
    const blob_desc_t desc = {.components = components,
                              .component_count = COUNT(components),
                              .groups = groups,
                              .group_count = COUNT(groups),
                              .parents = true};
    blob_writer_t w;
    blob_bytes_t made;
    void *block;
    WORKS_AT(desk, blob_write_begin(&w, &desk->memory, &desc, &desk->error));
    fill_level(desk, &w);
    uint32_t *secret = compiled ? NULL : blob_column(&w, LEVEL_VAULT, 0);
    for (uint32_t i = 0; i < 2; i++) {
        if (compiled)
            WORKS_AT(desk, blob_opaque(&w, LEVEL_VAULT, i, &(uint32_t){100 + i}, 4, &desk->error));
        else
            secret[i] = 100 + i;
    }
    WORKS_AT(desk, blob_write_end(&w, &block, &made.size, &desk->error));
    made.bytes = block;
    return made;
}

blob_bytes_t scene_of_a_level(desk_t *desk)
{
    return write_level(desk, false);
}

blob_bytes_t scene_of_an_old_level(desk_t *desk)
{
    return write_level(desk, true);
}
