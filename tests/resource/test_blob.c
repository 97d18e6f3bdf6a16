/* test_blob.c - the binary form: what the writer writes is what the reader finds, and nothing else is believed. */
#include "../suites.h"
#include "scenes.h"

#include <stdlib.h>
#include <string.h>

#define OPENS(desk, blob, made) WORKS_AT(desk, blob_open(blob, &(desk)->memory, (made).bytes, (made).size, "x.bpe", &(desk)->error))
#define REFUSES(desk, made, code, part)                                                                               \
    do {                                                                                                              \
        blob_t refused_;                                                                                              \
        bp_result_t result_ = blob_open(&refused_, &(desk)->memory, (made).bytes, (made).size, "x.bpe", &(desk)->error); \
        EXPECT(result_ == (code), "%d: %s", result_, (desk)->error.text);                                             \
        EXPECT(strncmp((desk)->error.text, "x.bpe: ", 7) == 0, "no file in: %s", (desk)->error.text);                 \
        EXPECT(strstr((desk)->error.text, (part)) != NULL, "\"%s\" is not in: %s", (part), (desk)->error.text);       \
    } while (0)

START_TEST(what_is_written_is_read)
{
    desk_t desk;
    blob_t blob;
    desk_open(&desk);
    bytes_t made = scene_of_everything(&desk);
    OPENS(&desk, &blob, made);
    ck_assert_uint_eq(blob.info->entity_count, 6);
    ck_assert_uint_eq(blob.info->group_count, 3);
    ck_assert_uint_eq(blob.info->part_count, 5);
    ck_assert_uint_eq(blob.info->component_count, 3);
    ck_assert_uint_eq(blob.info->steps, 12);
    ck_assert(blob.info->step_rate == 24 && blob.info->time == 0.5);
    ck_assert_str_eq(blob_text(&blob, blob.components[0].type), "body");
    ck_assert_uint_eq(blob.components[0].version, 7);
    ck_assert_uint_eq(blob.components[0].instance_count, 3);
    ck_assert_uint_eq(blob.components[1].instance_count, 4);
    ck_assert_uint_eq(blob.groups[2].first_entity, 5);
    ck_assert_uint_eq(blob.parts[blob.groups[2].first_part + 1].first_instance, 2);
    ck_assert(blob.parts[0].name == names_hash("body") && blob.parts[2].name == 77);
    for (uint32_t f = 0; f < blob.components[0].field_count; f++) {
        const blob_field_t *field = &blob.fields[f];
        char text[32];
        snprintf(text, sizeof text, "%s 0", blob_text(&blob, field->name));
        const uint32_t *values = blob_values(&blob, field);
        ck_assert_uint_eq(field->offset % (field->kind == BLOB_ONE ? 16 : 64), 0);
        if (field->type == BP_STRING)
            ck_assert_str_eq(blob_text(&blob, values[0]), text);
        if (field->type == BP_NAME)
            ck_assert(*(const bp_name_t *)(const void *)values == names_hash(text));
        if (field->type == BP_ENTITY)
            ck_assert_uint_eq(values[0], 6);
    }
    size_t size;
    ck_assert_mem_eq(blob_opaque_bytes(&blob, &blob.components[2], 0, &size), "twenty-one characters", 21);
    ck_assert_uint_eq(size, 21);
    ck_assert_uint_eq(blob.parents[0], 6);
    ck_assert_uint_eq(blob.info->name_count, 8); /* four instances with a text, three names in a column, one single */
    desk_free(&desk, made);
    desk_close(&desk);
}
END_TEST

START_TEST(the_same_scene_gives_the_same_bytes)
{
    desk_t desk;
    desk_open(&desk);
    bytes_t a = scene_of_everything(&desk), b = scene_of_everything(&desk);
    ck_assert_uint_eq(a.size, b.size);
    ck_assert_mem_eq(a.bytes, b.bytes, a.size);
    desk_free(&desk, a);
    desk_free(&desk, b);
    desk_close(&desk);
}
END_TEST

START_TEST(a_scene_of_nothing_is_a_blob)
{
    desk_t desk;
    blob_writer_t w;
    blob_t blob;
    bytes_t made;
    void *block;
    desk_open(&desk);
    WORKS_AT(&desk, blob_write_begin(&w, &desk.memory, &(blob_desc_t){.parents = true}, &desk.error));
    WORKS_AT(&desk, blob_write_end(&w, &block, &made.size, &desk.error));
    made.bytes = block;
    OPENS(&desk, &blob, made);
    ck_assert_uint_eq(blob.info->entity_count, 0);
    ck_assert(blob.parents == NULL);
    desk_free(&desk, made);
    desk_close(&desk);
}
END_TEST

/* A copy that ends where its block ends, so that a sanitizer sees a byte read too far. */
static bytes_t cut(bytes_t made, size_t size)
{
    bytes_t copy = {malloc(size == 0 ? 1 : size), size};
    ck_assert(copy.bytes != NULL);
    memcpy(copy.bytes, made.bytes, size);
    return copy;
}

START_TEST(a_blob_cut_off_anywhere_is_refused)
{
    desk_t desk;
    desk_open(&desk);
    bytes_t made = scene_of_everything(&desk);
    for (size_t size = 0; size < made.size; size++) {
        bytes_t part = cut(made, size);
        blob_t blob;
        EXPECT(blob_open(&blob, &desk.memory, part.bytes, size, "x.bpe", &desk.error) != BP_OK, "%zu bytes were taken", size);
        if (size >= sizeof(blob_head_t)) { /* and where it says itself that it is so short */
            uint64_t says = size;
            memcpy(part.bytes + offsetof(blob_head_t, size), &says, sizeof says);
            scene_seal(part);
            EXPECT(blob_open(&blob, &desk.memory, part.bytes, size, "x.bpe", &desk.error) != BP_OK, "%zu bytes were taken", size);
        }
        free(part.bytes);
    }
    desk_free(&desk, made);
    desk_close(&desk);
}
END_TEST

START_TEST(every_flipped_byte_is_seen)
{
    desk_t desk;
    desk_open(&desk);
    bytes_t made = scene_of_everything(&desk);
    for (size_t i = 0; i < made.size; i++) {
        blob_t blob;
        made.bytes[i] ^= 0xff;
        EXPECT(blob_open(&blob, &desk.memory, made.bytes, made.size, "x.bpe", &desk.error) != BP_OK, "byte %zu", i);
        made.bytes[i] ^= 0xfe;
        EXPECT(blob_open(&blob, &desk.memory, made.bytes, made.size, "x.bpe", &desk.error) != BP_OK, "byte %zu", i);
        made.bytes[i] ^= 0x01;
    }
    desk_free(&desk, made);
    desk_close(&desk);
}
END_TEST

START_TEST(other_versions_and_byte_orders_are_named)
{
    desk_t desk;
    desk_open(&desk);
    bytes_t made = scene_of_everything(&desk);
    made.bytes[12] = 2;
    REFUSES(&desk, made, BP_ERROR_ABI, "head: format version 2");
    memcpy(made.bytes + 8, "\x01\x02\x03\x04\x00\x00\x00\x01", 8);
    REFUSES(&desk, made, BP_ERROR_ABI, "byte order");
    made.bytes[0] = 'P';
    REFUSES(&desk, made, BP_ERROR_SYNTAX, "is no scene blob");
    desk_free(&desk, made);
    desk_close(&desk);
}
END_TEST

Suite *blob_suite(void)
{
    Suite *suite = suite_create("blob");
    TCase *form = tcase_create("form");
    tcase_add_test(form, what_is_written_is_read);
    tcase_add_test(form, the_same_scene_gives_the_same_bytes);
    tcase_add_test(form, a_scene_of_nothing_is_a_blob);
    tcase_add_test(form, a_blob_cut_off_anywhere_is_refused);
    tcase_add_test(form, every_flipped_byte_is_seen);
    tcase_add_test(form, other_versions_and_byte_orders_are_named);
    suite_add_tcase(suite, form);
    return suite;
}
