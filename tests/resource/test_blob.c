/* test_blob.c - the binary form: what the writer writes is what the reader finds, and nothing else is believed. */
#include "../suites.h"
#include "scenes.h"

#include <stdlib.h>
#include <string.h>

#define OPENS(desk, blob, made)                                                                                        \
    WORKS_AT(desk, blob_open(blob, &(desk)->memory, (made).bytes, (made).size, "x.bpe", &(desk)->error))
#define REFUSES(desk, made, code, part)                                                                                \
    do {                                                                                                               \
        blob_t refused_;                                                                                               \
        bp_result_t result_ =                                                                                          \
            blob_open(&refused_, &(desk)->memory, (made).bytes, (made).size, "x.bpe", &(desk)->error);                 \
        EXPECT(result_ == (code), "%d: %s", result_, (desk)->error.text);                                              \
        EXPECT(strncmp((desk)->error.text, "x.bpe: ", 7) == 0, "no file in: %s", (desk)->error.text);                  \
        EXPECT(strstr((desk)->error.text, (part)) != NULL, "\"%s\" is not in: %s", (part), (desk)->error.text);        \
    } while (0)

START_TEST(what_is_written_is_read)
{
    desk_t desk;
    blob_t blob;
    desk_open(&desk);
    blob_bytes_t made = scene_of_everything(&desk);
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
    blob_bytes_t a = scene_of_everything(&desk), b = scene_of_everything(&desk);
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
    blob_bytes_t made;
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
static blob_bytes_t cut(blob_bytes_t made, size_t size)
{
    blob_bytes_t copy = {malloc(size == 0 ? 1 : size), size};
    ck_assert(copy.bytes != NULL);
    memcpy(copy.bytes, made.bytes, size);
    return copy;
}

START_TEST(a_blob_cut_off_anywhere_is_refused)
{
    desk_t desk;
    desk_open(&desk);
    blob_bytes_t made = scene_of_everything(&desk);
    for (size_t size = 0; size < made.size; size++) {
        blob_bytes_t part = cut(made, size);
        blob_t blob;
        EXPECT(blob_open(&blob, &desk.memory, part.bytes, size, "x.bpe", &desk.error) != BP_OK, "%zu bytes were taken",
               size);
        if (size >= sizeof(blob_head_t)) { /* and where it says itself that it is so short */
            uint64_t says = size;
            memcpy(part.bytes + offsetof(blob_head_t, size), &says, sizeof says);
            scene_seal(part);
            EXPECT(blob_open(&blob, &desk.memory, part.bytes, size, "x.bpe", &desk.error) != BP_OK,
                   "%zu bytes were taken", size);
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
    blob_bytes_t made = scene_of_everything(&desk);
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
    blob_bytes_t made = scene_of_everything(&desk);
    made.bytes[12] = 3;
    REFUSES(&desk, made, BP_ERROR_ABI,
            "head: format version 3; this backplane reads versions 1 to 2, a newer one has written it");
    memcpy(made.bytes + 8, "\x01\x02\x03\x04\x00\x00\x00\x01", 8);
    REFUSES(&desk, made, BP_ERROR_ABI, "byte order");
    made.bytes[0] = 'P';
    REFUSES(&desk, made, BP_ERROR_SYNTAX, "is no scene blob");
    desk_free(&desk, made);
    desk_close(&desk);
}
END_TEST

/* Bytes that may be others without the blob being wrong: what names, types and values mean is not the form's
   business. */
static void mark_free(unsigned char *loose, const blob_t *blob)
{
    const unsigned char *bytes = blob->bytes;
    const size_t head = sizeof(blob_head_t), info = sizeof(blob_info_t);
    memset(loose + head + offsetof(blob_info_t, flags), 1, 4); /* whether there is a clock */
    memset(loose + head + offsetof(blob_info_t, steps), 1, 24);
    memset(loose + head + info, 1, BLOB_FIRST_SECTION - head - info);
    for (uint32_t s = 0; s < BLOB_SECTIONS; s++) {
        const blob_section_t *section = &blob->info->sections[s];
        size_t end = (size_t)(section->offset + section->size), next = (size_t)blob_align(end, BLOB_ALIGN);
        memset(loose + end, 1, (next < blob->size ? next : blob->size) - end);
    }
    for (uint32_t p = 0; p < blob->info->part_count; p++)
        memset(loose + ((const unsigned char *)&blob->parts[p].name - bytes), 1, 8);
    for (uint32_t c = 0; c < blob->info->component_count; c++)
        /* another word is another type */
        memset(loose + ((const unsigned char *)&blob->components[c].type - bytes), 1, 8);
    for (uint32_t c = 0; c < blob->info->component_count; c++) {
        if (blob->components[c].instance_count == 1 && (blob->components[c].flags & BLOB_OPAQUE) == 0)
            /* a single one may as well belong to the world */
            loose[(const unsigned char *)&blob->components[c].flags - bytes] = 2;
    }
    for (uint32_t f = 0; f < blob->info->field_count; f++)
        memset(loose + ((const unsigned char *)&blob->fields[f] - bytes), 1, 12);
    memset(loose + blob->info->sections[BLOB_PARENTS].offset, 1, (size_t)blob->info->sections[BLOB_PARENTS].size);
    memset(loose + blob->info->sections[BLOB_DATA].offset, 1, (size_t)blob->info->sections[BLOB_DATA].size);
    memset(loose + blob->info->sections[BLOB_NAMES].offset, 1, (size_t)blob->info->sections[BLOB_NAMES].size);
    memset(loose + blob->info->sections[BLOB_STRINGS].offset, 1, (size_t)blob->info->sections[BLOB_STRINGS].size);
}

/* One word after another at its extremes, under a checksum that is right. */
static void stretch_words(desk_t *desk, blob_bytes_t made, const unsigned char *loose, size_t width)
{
    static const uint64_t extremes[] = {0,
                                        1,
                                        2,
                                        63,
                                        64,
                                        255,
                                        256,
                                        INT32_MAX,
                                        UINT64_C(1) << 31,
                                        UINT32_MAX - 1,
                                        UINT32_MAX,
                                        UINT64_C(1) << 32,
                                        INT64_MAX,
                                        UINT64_C(1) << 63,
                                        UINT64_MAX - 63,
                                        UINT64_MAX};
    for (size_t at = 8; at + width <= made.size; at += width) {
        unsigned char kept[8];
        blob_t blob;
        memcpy(kept, made.bytes + at, width);
        for (size_t i = 0; i < COUNT(extremes); i++) {
            memcpy(made.bytes + at, &extremes[i], width);
            if (at >= sizeof(blob_head_t))
                scene_seal(made);
            bool same = memcmp(kept, made.bytes + at, width) == 0;
            bp_result_t result = blob_open(&blob, &desk->memory, made.bytes, made.size, "x.bpe", &desk->error);
            EXPECT(!same || result == BP_OK, "the original is refused: %s", desk->error.text);
            bool free = loose[at] == 1 || (loose[at] == 2 && extremes[i] == BLOB_WORLD);
            EXPECT(same || free || result != BP_OK, "byte %zu may be %llx", at, (unsigned long long)extremes[i]);
        }
        memcpy(made.bytes + at, kept, width);
        scene_seal(made);
    }
}

START_TEST(every_size_at_its_extremes_is_refused)
{
    desk_t desk;
    blob_t blob;
    desk_open(&desk);
    blob_bytes_t made = scene_of_everything(&desk), copy = cut(made, made.size);
    unsigned char *loose = calloc(1, made.size + 64);
    OPENS(&desk, &blob, copy);
    mark_free(loose, &blob);
    stretch_words(&desk, copy, loose, 4);
    stretch_words(&desk, copy, loose, 8);
    free(loose);
    free(copy.bytes);
    desk_free(&desk, made);
    desk_close(&desk);
}
END_TEST

/* Bytes of a blob, what is written there instead in spite of a right checksum, and the sentence about it. */
typedef struct wrong_t {
    const void *at;
    size_t size;
    const char *with, *says;
} wrong_t;

static void expect_named(desk_t *desk, blob_bytes_t made, const wrong_t *wrong, size_t count)
{
    blob_t blob;
    for (size_t i = 0; i < count; i++) {
        unsigned char kept[8], *at = made.bytes + ((const unsigned char *)wrong[i].at - made.bytes);
        memcpy(kept, at, wrong[i].size);
        memcpy(at, wrong[i].with, wrong[i].size);
        scene_seal(made);
        desk->error.text[0] = '\0';
        REFUSES(desk, made, BP_ERROR_SYNTAX, wrong[i].says);
        memcpy(at, kept, wrong[i].size);
    }
    scene_seal(made);
    OPENS(desk, &blob, made);
}

START_TEST(what_is_wrong_is_named)
{
    desk_t desk;
    blob_t blob;
    desk_open(&desk);
    blob_bytes_t made = scene_of_everything(&desk);
    OPENS(&desk, &blob, made);
    unsigned char *bytes = made.bytes;
    const wrong_t wrong[] = {
        {blob.strings, 1, "x", "section strings: does not begin and end with a zero byte"},
        {blob.names, 4, "\x02\0\0\0", "section names: entry 0 points to no text"},
        {blob_values(&blob, &blob.fields[0]), 1, "\x02", "section data: a bool of body.bool_c is neither 0 nor 1"},
        {blob_values(&blob, &blob.fields[12]), 4, "\x03\0\0\0", "section data: body.string_c points to no text"},
        {blob_values(&blob, &blob.fields[13]), 4, "\x07\0\0\0",
         "section data: body.entity_c refers to entity 6; there are 6"},
        {&blob.parts[1].name, 8, "\0\0\0\0\0\0\0\0", "section parts: part 1 has no name"},
        {&blob.parts[2].name, 8, (const char *)&blob.parts[1].name,
         "section parts: part 2 has no name, or that of another"},
        {&blob.parts[0].component, 4, "\x03\0\0\0", "section parts: part 0 is of component 3; there are 3"},
        {&blob.components[1].type, 4, "\x02\0\0\0", "section components: component 1 has no type name"},
        {&blob.fields[1].name, 4, (const char *)&blob.fields[0].name, "section fields: body has two fields 'bool_c'"},
        {&blob.fields[1].type, 4, "\x10\0\0\0", "section fields: body.i32_c has type 16"},
        {&blob.groups[1].rows, 4, "\xff\xff\xff\xff", "section groups: group 1 has 4294967295 entities"},
        {blob.parents, 4, "\x07\0\0\0", "section parents: an entity has a parent that there is not"},
        {&blob.parents[1], 4, "\x01\0\0\0", "section parents: an entity is its own ancestor"},
        {&blob.parents[3], 4, "\x04\0\0\0", "section parents: an entity is its own ancestor"},
        {blob.bytes + blob.components[2].index_offset, 4, "\x08\0\0\0",
         "section data: the bytes of instance 0 of secret"},
        {&blob.info->step_rate, 8, "\0\0\0\0\0\0\0\0", "info: a clock with 0 steps"},
        {(const char *)&blob.info->steps + 7, 1, "\x80", "info: a clock of 9223372036854775820 steps; there are"},
        {&blob.info->sections[BLOB_DATA].offset, 1, "\x01", "section data: lies at"},
    };
    expect_named(&desk, made, wrong, COUNT(wrong));
    bytes[made.size / 2] ^= 1;
    REFUSES(&desk, made, BP_ERROR_SYNTAX, "the file is damaged");
    desk_free(&desk, made);
    desk_close(&desk);
}
END_TEST

static const blob_field_t *field_of(const blob_t *blob, const char *name)
{
    uint32_t f = 0;
    while (strcmp(blob_text(blob, blob->fields[f].name), name) != 0)
        ck_assert_uint_lt(++f, blob->components[0].field_count);
    return &blob->fields[f];
}

/* The same of lists, in the file that test_golden.c reads: where each begins, and the values behind each other. */
START_TEST(what_is_wrong_with_lists_is_named)
{
    desk_t desk;
    blob_t blob;
    uint8_t read[16384];
    FILE *file = fopen(TEST_SOURCE_DIR "/tests/resource/golden/v2_lists.bpe", "rb");
    ck_assert_ptr_nonnull(file);
    blob_bytes_t made = cut((blob_bytes_t){read, sizeof read}, fread(read, 1, sizeof read, file));
    fclose(file);
    ck_assert_uint_lt(made.size, sizeof read);
    desk_open(&desk);
    OPENS(&desk, &blob, made);
    const uint32_t instances = blob.components[0].instance_count;
    const blob_field_t *lots = field_of(&blob, "lots"), *labels = field_of(&blob, "labels"),
                       *mates = field_of(&blob, "mates"), *berths = field_of(&blob, "berths");
    const uint64_t *starts = blob_list_starts(&blob, lots);
    ck_assert(starts[1] < starts[2] && starts[instances] > 8);
    static const char astray[] = "section data: the lists of hold.lots do not follow each other, or end behind";
    const wrong_t wrong[] = {
        {&lots->offset, 1, "\x01", "section data: ends before the lists of hold.lots"},
        {&lots->offset, 8, "\xff\xff\xff\xff\xff\xff\xff\x7f", "section data: ends before the lists of hold.lots"},
        {&lots->size, 1, "\x01", "section fields: hold.lots has "},
        {&berths->offset, 1, "\x01", "section fields: hold.berths has "},
        {&berths->size, 1, "\x01", "section fields: hold.berths has "},
        {&lots->more, 2, "\x01\0", "section fields: hold.lots is a list and an array"},
        {&starts[0], 1, "\x01", astray},
        {&starts[1], 8, (const char *)&starts[3], astray},
        {&starts[instances], 8, "\0\0\0\0\0\0\0\0", astray},
        {&starts[instances], 8, "\xff\xff\0\0\0\0\0\0", astray},
        {&starts[instances], 8, "\0\0\0\0\x02\0\0\0", astray},
        {blob_list_items(&blob, labels, instances), 4, "\x03\0\0\0", "section data: hold.labels points to no text"},
        {blob_list_items(&blob, mates, instances), 4, "\xff\0\0\0", "section data: hold.mates refers to entity 254"},
    };
    expect_named(&desk, made, wrong, COUNT(wrong));
    free(made.bytes);
    desk_close(&desk);
}
END_TEST

START_TEST(a_blob_is_written_or_nothing_is_left)
{
    desk_t desk;
    desk_open(&desk);
    for (uint32_t refused = 1;; refused++) {
        const blob_field_desc_t fields[] = {{.name = "text", .type = BP_STRING, .kind = BLOB_COLUMN},
                                            {.name = "number", .type = BP_F64, .kind = BLOB_COLUMN}};
        const blob_component_desc_t component = {.type = "body", .fields = fields, .field_count = 2};
        const blob_part_desc_t part = {.text = "body"};
        const blob_group_desc_t group = {&part, 1, 500};
        const blob_desc_t desc = {.components = &component, .component_count = 1, .groups = &group, .group_count = 1};
        blob_writer_t w;
        blob_bytes_t made = {NULL, 0};
        void *block = NULL;
        desk.heap.refuse_first = desk.heap.refuse_last = desk.heap.requests + refused;
        bp_result_t result = blob_write_begin(&w, &desk.memory, &desc, &desk.error);
        uint32_t *texts = result == BP_OK ? blob_column(&w, 0, 0) : NULL;
        for (uint32_t i = 0; i < 500 && result == BP_OK; i++) {
            char text[100];
            snprintf(text, sizeof text, "a text that is long enough to let the table of texts grow more than once: %u",
                     i);
            result = blob_string(&w, text, &texts[i], &desk.error);
        }
        if (result == BP_OK)
            result = blob_write_end(&w, &block, &made.size, &desk.error);
        else
            blob_write_drop(&w);
        desk.heap.refuse_first = desk.heap.refuse_last = 0;
        if (result == BP_OK) {
            blob_t blob;
            made.bytes = block;
            OPENS(&desk, &blob, made);
            desk_free(&desk, made);
            ck_assert_uint_gt(refused, 8);
            break;
        }
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        ck_assert_uint_eq(memory_bytes(&desk.memory), 0);
    }
    desk_close(&desk);
}
END_TEST

START_TEST(what_no_blob_can_hold_is_refused_when_it_is_described)
{
    desk_t desk;
    blob_writer_t w;
    desk_open(&desk);
    static const blob_part_desc_t parts[256];
    const blob_component_desc_t opaque = {.type = "x",
                                          .flags = BLOB_OPAQUE,
                                          .fields = &(blob_field_desc_t){.name = "y", .type = BP_F32, .kind = 0},
                                          .field_count = 1};
    const blob_component_desc_t untyped = {.type = "x",
                                           .fields =
                                               &(blob_field_desc_t){.name = "y", .type = BP_TYPE_COUNT, .kind = 0},
                                           .field_count = 1};
    const blob_group_desc_t stranger = {parts, 1, 1}, crowd = {parts, 256, 1},
                            many[2] = {{NULL, 0, UINT32_MAX - 2}, {NULL, 0, 2}};
    const struct {
        blob_desc_t desc;
        bp_result_t code;
        const char *says;
    } wrong[] = {
        {{.components = &opaque, .component_count = 1}, BP_ERROR_ARGUMENT, "x is opaque and has fields"},
        {{.components = &untyped, .component_count = 1}, BP_ERROR_ARGUMENT, "x.y: 24 is no type"},
        {{.groups = &stranger, .group_count = 1}, BP_ERROR_ARGUMENT, "group 0 has a component 0; there are 0"},
        {{.groups = &crowd, .group_count = 1}, BP_ERROR_LIMIT, "256 components of one entity"},
        {{.groups = many, .group_count = 2}, BP_ERROR_LIMIT, "at most 4294967294 entities"},
    };
    for (size_t i = 0; i < COUNT(wrong); i++) {
        ck_assert_int_eq(blob_write_begin(&w, &desk.memory, &wrong[i].desc, &desk.error), wrong[i].code);
        EXPECT(strstr(desk.error.text, wrong[i].says) != NULL, "\"%s\" is not in: %s", wrong[i].says, desk.error.text);
    }
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
    tcase_add_test(form, every_size_at_its_extremes_is_refused);
    tcase_add_test(form, what_is_wrong_is_named);
    tcase_add_test(form, what_is_wrong_with_lists_is_named);
    tcase_add_test(form, a_blob_is_written_or_nothing_is_left);
    tcase_add_test(form, what_no_blob_can_hold_is_refused_when_it_is_described);
    suite_add_tcase(suite, form);
    return suite;
}
