/* test_base.c - memory accounts, names, counted strings, typed values, words and files.
 *
 * What is laid down in tables of cases is tested by tables; what must hold for all values (what
 * value_format writes, value_parse reads back to the same bits; strings are counted right; cleared memory
 * is cleared) is tested by many random ones, from fixed seeds.
 */
#include "support.h"

#include "../suites.h"
#include "base/base.h"
#include "base/file.h"
#include "os/os.h"
#include "base/error.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static heap_t heap;
static memory_t memory;
static error_text_t error;
static names_t names;
static value_context_t context;

static void begin(void)
{
    heap = (heap_t){0};
    bp_allocator_i allocator = heap_allocator(&heap);
    memory_init(&memory, "test", &allocator);
    names_init(&names, &memory);
    context = (value_context_t){.names = &names, .entity_base = 5u << ENTITY_COUNTER_BITS};
    error.text[0] = '\0';
}

static void end(void)
{
    names_free(&names);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
    ck_assert_uint_eq(heap.bytes, 0);
}

static void expect_error(bp_result_t result, bp_result_t code, const char *part)
{
    ck_assert_msg(result == code, "%d instead of %d: %s", result, code, error.text);
    ck_assert_msg(strstr(error.text, part) != NULL, "\"%s\" is not in: %s", part, error.text);
}

/* --- memory --------------------------------------------------------------------------------------------- */

START_TEST(what_a_child_takes_is_counted_at_its_parents)
{
    memory_t child, grandchild;
    memory_init_child(&child, "child", &memory);
    memory_init_child(&grandchild, "grandchild", &child);
    char *a = memory_resize(&child, NULL, 0, 100);
    char *b = memory_new(&grandchild, 50);
    ck_assert_uint_eq(memory_bytes(&grandchild), 50);
    ck_assert_uint_eq(memory_bytes(&child), 150);
    ck_assert_uint_eq(memory_bytes(&memory), 150);
    a = memory_resize(&child, a, 100, 300);
    ck_assert_uint_eq(memory_bytes(&memory), 350);
    a = memory_resize(&child, a, 300, 10);
    ck_assert_uint_eq(memory_bytes(&memory), 60);
    memory_free(&child, a, 10);
    memory_free(&grandchild, b, 50);
    ck_assert_uint_eq(memory_bytes(&child), 0);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

START_TEST(a_refused_request_leaves_the_block_and_the_account)
{
    char *block = memory_resize(&memory, NULL, 0, 8);
    memcpy(block, "content", 8);
    heap.refuse_first = heap.requests + 1;
    heap.refuse_last = heap.requests + 2;
    ck_assert_ptr_null(memory_resize(&memory, block, 8, 4000));
    ck_assert_ptr_null(memory_resize_cleared(&memory, block, 8, 4000));
    ck_assert_str_eq(block, "content");
    ck_assert_uint_eq(memory_bytes(&memory), 8);
    memory_free(&memory, block, 8);
}
END_TEST

START_TEST(absurd_sizes_are_refused)
{
    memory_t system;
    memory_init(&system, "system", &(bp_allocator_i){0});
    ck_assert_ptr_null(memory_resize(&memory, NULL, 0, SIZE_MAX - 10));
    ck_assert_ptr_null(memory_resize(&system, NULL, 0, SIZE_MAX));
    ck_assert_ptr_null(memory_resize(&system, NULL, 0, SIZE_MAX / 2));
    ck_assert_ptr_null(memory_resize(&system, NULL, 0, 0));
    ck_assert_uint_eq(memory_bytes(&system), 0);
}
END_TEST

/* Sizes on both sides of the border where blocks become pages, and of page ends. */
static size_t random_size(uint64_t *random)
{
    static const size_t marks[] = {16,         4096, MEMORY_LARGE, MEMORY_LARGE + 4096, 3 * MEMORY_LARGE,
                                   MEMORY_HUGE};
    size_t mark = marks[bp_random_below(random, COUNT(marks))];
    return mark - 15 + bp_random_below(random, 30);
}

static void cleared_growth(const bp_allocator_i *allocator, uint64_t seed)
{
    memory_t account;
    memory_init(&account, "account", allocator);
    unsigned char *block = NULL;
    size_t size = 0, marked = 0;
    for (int i = 0; i < 250; i++) {
        size_t next = random_size(&seed);
        block = memory_resize_cleared(&account, block, size, next);
        ck_assert_ptr_nonnull(block);
        ck_assert_uint_eq((uintptr_t)block % 16, 0);
        marked = marked < next ? marked : next;
        for (size_t k = 0; k < next; k++)
            EXPECT(block[k] == (k < marked ? (unsigned char)(k * 7 + 1) : 0),
                   "byte %zu of %zu, grown from %zu", k, next, size);
        for (size_t k = marked; k < next; k++)
            block[k] = (unsigned char)(k * 7 + 1);
        marked = size = next;
        ck_assert_uint_eq(memory_bytes(&account), size);
    }
    memory_free(&account, block, size);
    ck_assert_uint_eq(memory_bytes(&account), 0);
}

START_TEST(cleared_growth_clears_across_the_border_to_pages)
{
    cleared_growth(&(bp_allocator_i){0}, 1);
}
END_TEST

START_TEST(cleared_growth_clears_what_an_embedders_allocator_gives)
{
    bp_allocator_i allocator = heap_allocator(&heap);
    cleared_growth(&allocator, 2);
}
END_TEST

START_TEST(a_block_shrunk_and_grown_again_is_cleared_again)
{
    memory_t system;
    memory_init(&system, "system", &(bp_allocator_i){0});
    size_t large = MEMORY_LARGE + 3 * os_page_size(), less = MEMORY_LARGE + 100;
    unsigned char *block = memory_new(&system, large);
    memset(block, 0xff, large);
    block = memory_resize(&system, block, large, less);
    block = memory_resize_cleared(&system, block, less, large);
    for (size_t i = 0; i < large; i++)
        EXPECT(block[i] == (i < less ? 0xff : 0), "byte %zu of %zu", i, large);
    memory_free(&system, block, large);
}
END_TEST

START_TEST(blocks_are_pages_from_the_border_on_unless_the_allocator_is_replaced)
{
    memory_t system;
    memory_init(&system, "system", &(bp_allocator_i){0});
    ck_assert(!memory_is_pages(&system, MEMORY_LARGE - 1));
    ck_assert(memory_is_pages(&system, MEMORY_LARGE));
    ck_assert(!memory_is_pages(&memory, MEMORY_LARGE));
}
END_TEST

START_TEST(an_array_grows_by_doubling_or_stays_as_it_is)
{
    uint64_t *items = NULL;
    uint32_t capacity = 0;
    ck_assert(memory_reserve(&memory, &items, &capacity, 1, sizeof *items));
    uint32_t first = capacity;
    ck_assert_uint_ge(first, 1);
    ck_assert(memory_reserve(&memory, &items, &capacity, first + 1, sizeof *items));
    ck_assert_uint_eq(capacity, 2 * first);
    ck_assert(memory_reserve(&memory, &items, &capacity, 1000, sizeof *items));
    ck_assert_uint_eq(capacity, 1000);
    uint64_t *kept = items;
    heap.refuse_first = heap.refuse_last = heap.requests + 1;
    ck_assert(!memory_reserve(&memory, &items, &capacity, 1001, sizeof *items));
    ck_assert(!memory_reserve(&memory, &items, &capacity, (uint64_t)UINT32_MAX + 1, sizeof *items));
    ck_assert_ptr_eq(items, kept);
    ck_assert_uint_eq(capacity, 1000);
    memory_free(&memory, items, capacity * sizeof *items);
}
END_TEST

/* --- errors and the log --------------------------------------------------------------------------------- */

START_TEST(a_sentence_may_be_made_from_the_present_one)
{
    ck_assert_int_eq(error_set(&error, BP_ERROR_RANGE, "first %d", 1), BP_ERROR_RANGE);
    error_set(&error, BP_ERROR_RANGE, "second after %s", error.text);
    ck_assert_str_eq(error.text, "second after first 1");
    ck_assert_int_eq(error_prefix(&error, BP_ERROR_IO, "%s:%d: ", "file", 3), BP_ERROR_IO);
    ck_assert_str_eq(error.text, "file:3: second after first 1");
    ck_assert_int_eq(error_memory(&error, "testing"), BP_ERROR_MEMORY);
    ck_assert_str_eq(error.text, "out of memory while testing");
}
END_TEST

START_TEST(a_sentence_that_is_too_long_is_cut)
{
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set(&error, BP_ERROR_IO, "%s", text);
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
    error_prefix(&error, BP_ERROR_IO, "begin");
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
    ck_assert_int_eq(strncmp(error.text, "beginxxx", 8), 0);
    error_prefix(&error, BP_ERROR_IO, "%s", text);
    ck_assert_uint_eq(strlen(error.text), sizeof error.text - 1);
}
END_TEST

START_TEST(the_log_gets_every_level_and_its_source)
{
    log_text_t log = {.count = 0};
    bp_log_i target = *log_into(&log);
    log_write(&target, BP_LOG_DEBUG, "here", "number %d", 7);
    log_write(&target, BP_LOG_ERROR, "there", "text");
    ck_assert_str_eq(log.text, "here: 0: number 7\nthere: 3: text\n");
}
END_TEST

/* --- names ---------------------------------------------------------------------------------------------- */

START_TEST(a_name_gives_its_text_back)
{
    bp_name_t fog, again, nothing = 1;
    ck_assert_str_eq(names_text(&names, 5), "?");
    ck_assert_int_eq(names_intern(&names, "fog", &fog, &error), BP_OK);
    ck_assert_int_eq(names_intern(&names, "fog", &again, &error), BP_OK);
    ck_assert_int_eq(names_intern(&names, "", &nothing, &error), BP_OK);
    ck_assert_uint_eq(fog, again);
    ck_assert_uint_eq(fog, names_hash("fog"));
    ck_assert_uint_eq(nothing, 0);
    ck_assert_str_eq(names_text(&names, fog), "fog");
    ck_assert_str_eq(names_text(&names, 0), "");
    ck_assert_str_eq(names_text(&names, names_hash("vignette")), "?");
    ck_assert_uint_eq(names.count, 1);
}
END_TEST

/* Names may be stored in files: their hashes (XXH3, 64 bits, seed 0) never change. */
START_TEST(hashes_are_those_of_xxh3)
{
    ck_assert_uint_eq(names_hash(""), 0);
    ck_assert_uint_eq(names_hash("fog"), UINT64_C(0x4770D5DD869C6485));
    ck_assert_uint_eq(names_hash("a name of more than sixteen bytes"), UINT64_C(0x7CCFF9AD82E42E22));
}
END_TEST

START_TEST(names_have_at_most_255_bytes)
{
    char text[NAMES_MAX_LENGTH + 2];
    bp_name_t name;
    memset(text, 'n', sizeof text);
    text[NAMES_MAX_LENGTH + 1] = '\0';
    expect_error(names_intern(&names, text, &name, &error), BP_ERROR_LIMIT, "longer than 255 bytes");
    ck_assert_uint_eq(names.count, 0);
    text[NAMES_MAX_LENGTH] = '\0';
    ck_assert_int_eq(names_intern(&names, text, &name, &error), BP_OK);
    ck_assert_str_eq(names_text(&names, name), text);
}
END_TEST

START_TEST(a_hundred_thousand_names_stay_apart)
{
    enum { MANY = 100000 };
    bp_name_t *made = malloc(MANY * sizeof *made);
    char text[32];
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "name-%d", i);
        EXPECT(names_intern(&names, text, &made[i], &error) == BP_OK, "%s", error.text);
    }
    ck_assert_uint_eq(names.count, MANY);
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof text, "name-%d", i);
        EXPECT(strcmp(names_text(&names, made[i]), text) == 0, "%s", text);
    }
    free(made);
}
END_TEST

/* No two texts of one hash are known, so one is made: the table is told that another text has it. */
START_TEST(a_text_whose_hash_is_taken_is_refused)
{
    bp_name_t name;
    ck_assert_int_eq(names_intern(&names, "fog", &name, &error), BP_OK);
    for (uint32_t i = 0; i < names.capacity; i++) {
        if (names.entries[i].name == name)
            names.entries[i].text[0] = 'd';
    }
    expect_error(names_intern(&names, "fog", &name, &error), BP_ERROR_EXISTS, "'fog'");
    ck_assert_str_eq(names_text(&names, names_hash("fog")), "dog");
    ck_assert_uint_eq(names.count, 1);
}
END_TEST

START_TEST(a_name_that_finds_no_memory_is_not_interned)
{
    bp_name_t name;
    for (uint64_t n = 1; n <= 2; n++) {
        heap.refuse_first = heap.refuse_last = heap.requests + n;
        expect_error(names_intern(&names, "fog", &name, &error), BP_ERROR_MEMORY, "out of memory");
        ck_assert_str_eq(names_text(&names, names_hash("fog")), "?");
    }
    ck_assert_int_eq(names_intern(&names, "fog", &name, &error), BP_OK);
}
END_TEST

START_TEST(words_are_letters_digits_and_underscore)
{
    char longest[65];
    memset(longest, 'w', sizeof longest);
    longest[63] = '\0';
    const char *const good[] = {"a", "Z9", "point_mass", "_", "0", longest};
    const char *const bad[] = {"", " ", "a b", "a.b", "a/b", "a:b", "a-b", "\xc3\xa4", "a\n", "#1"};
    for (uint32_t i = 0; i < COUNT(good); i++)
        ck_assert_msg(names_is_word(good[i]), "%s", good[i]);
    for (uint32_t i = 0; i < COUNT(bad); i++)
        ck_assert_msg(!names_is_word(bad[i]), "%s", bad[i]);
    longest[63] = 'w';
    longest[64] = '\0';
    ck_assert(!names_is_word(longest));
}
END_TEST

/* --- strings -------------------------------------------------------------------------------------------- */

START_TEST(equal_strings_are_one_and_go_with_their_last_use)
{
    strings_t strings;
    strings_init(&strings, &memory);
    const char *a = strings_acquire(&strings, "hello"), *b = strings_acquire(&strings, "hello");
    const char *c = strings_acquire(&strings, "hellp");
    ck_assert_ptr_eq(a, b);
    ck_assert_ptr_ne(a, c);
    ck_assert_uint_eq(strings.count, 2);
    strings_retain(a, 3);
    for (int uses = 5; uses > 1; uses--) {
        strings_release(&strings, a);
        ck_assert_str_eq(a, "hello");
    }
    strings_release(&strings, a);
    ck_assert_uint_eq(strings.count, 1);
    strings_release(&strings, c);
    ck_assert_uint_eq(strings.count, 0);
    strings_free(&strings);
}
END_TEST

START_TEST(the_empty_string_is_shared_and_not_counted)
{
    strings_t strings;
    strings_init(&strings, &memory);
    ck_assert_ptr_eq(strings_acquire(&strings, ""), strings_empty);
    strings_retain(strings_empty, 1000);
    strings_release(&strings, strings_empty);
    ck_assert_str_eq(strings_empty, "");
    ck_assert_uint_eq(heap.requests, 0);
    strings_free(&strings);
}
END_TEST

START_TEST(a_string_that_finds_no_memory_is_not_there)
{
    strings_t strings;
    strings_init(&strings, &memory);
    for (uint64_t n = 1; n <= 2; n++) {
        heap.refuse_first = heap.refuse_last = heap.requests + n;
        ck_assert_ptr_null(strings_acquire(&strings, "text"));
        ck_assert_uint_eq(strings.count, 0);
    }
    const char *text = strings_acquire(&strings, "text");
    ck_assert_str_eq(text, "text");
    strings_free(&strings);
}
END_TEST

/* A table that cannot grow has longer chains, no more. */
START_TEST(strings_are_found_though_the_table_could_not_grow)
{
    strings_t strings;
    char text[32];
    strings_init(&strings, &memory);
    for (int i = 0; i < 64; i++) {
        snprintf(text, sizeof text, "string %d", i);
        ck_assert_ptr_nonnull(strings_acquire(&strings, text));
    }
    heap.refuse_first = heap.refuse_last = heap.requests + 1;
    const char *more = strings_acquire(&strings, "one more");
    ck_assert_ptr_nonnull(more);
    ck_assert_uint_eq(heap.refused, 1);
    ck_assert_ptr_eq(strings_acquire(&strings, "one more"), more);
    ck_assert_uint_eq(strings.count, 65);
    strings_free(&strings);
}
END_TEST

START_TEST(counts_are_right_after_any_sequence_of_uses)
{
    enum { TEXTS = 500, MOVES = 100000 };
    strings_t strings;
    static const char *held[TEXTS];
    static uint32_t uses[TEXTS];
    uint64_t random = 3;
    uint32_t living = 0;
    char text[32];
    memset(uses, 0, sizeof uses);
    strings_init(&strings, &memory);
    for (int i = 0; i < MOVES; i++) {
        uint32_t t = bp_random_below(&random, TEXTS), what = bp_random_below(&random, 5);
        snprintf(text, sizeof text, "%u", t);
        if (what < 2) {
            const char *string = strings_acquire(&strings, text);
            EXPECT(uses[t] == 0 || string == held[t], "'%s' is there twice", text);
            held[t] = string;
            living += uses[t]++ == 0;
        } else if (what == 2 && uses[t] > 0) {
            strings_retain(held[t], 2);
            uses[t] += 2;
        } else if (uses[t] > 0) {
            EXPECT(strcmp(held[t], text) == 0, "'%s' reads '%s'", text, held[t]);
            strings_release(&strings, held[t]);
            living -= --uses[t] == 0;
        }
        EXPECT(strings.count == living, "%u strings instead of %u", strings.count, living);
    }
    strings_free(&strings);
}
END_TEST

/* --- values: there and back ----------------------------------------------------------------------------- */

static float random_float(uint64_t *random)
{
    static const float special[] = {0.0f,    -0.0f,    1.0f,    -1.0f,  0.1f,
                                    FLT_MAX, -FLT_MAX, FLT_MIN, 1e-45f, FLT_EPSILON};
    float number;
    do {
        uint32_t bits = (uint32_t)bp_random_next(random);
        memcpy(&number, &bits, sizeof number);
        if (bp_random_below(random, 8) == 0)
            number = special[bp_random_below(random, COUNT(special))];
    } while (!isfinite(number));
    return number;
}

static double random_double(uint64_t *random)
{
    static const double special[] = {0.0, -0.0, 1.0, 0.1, DBL_MAX, -DBL_MAX, DBL_MIN, 4.9e-324, DBL_EPSILON};
    double number;
    do {
        uint64_t bits = bp_random_next(random);
        memcpy(&number, &bits, sizeof number);
        if (bp_random_below(random, 8) == 0)
            number = special[bp_random_below(random, COUNT(special))];
    } while (!isfinite(number));
    return number;
}

static int64_t random_integer(uint64_t *random)
{
    static const int64_t special[] = {0, -1, 1, INT32_MIN, INT32_MAX, UINT32_MAX, INT64_MIN, INT64_MAX};
    if (bp_random_below(random, 4) == 0)
        return special[bp_random_below(random, COUNT(special))];
    return (int64_t)bp_random_next(random);
}

static const char *random_text(uint64_t *random)
{
    static char text[64];
    uint32_t length = bp_random_below(random, sizeof text);
    for (uint32_t i = 0; i < length; i++)
        text[i] = (char)(1 + bp_random_below(random, 255));
    text[length] = '\0';
    return text;
}

static void random_value(uint32_t type, uint64_t *random, bp_value_t *value)
{
    char text[16];
    memset(value, 0, sizeof *value);
    switch (type) {
    case BP_BOOL: value->boolean = (uint8_t)bp_random_below(random, 2); break;
    case BP_I32: value->i32 = (int32_t)random_integer(random); break;
    case BP_U32: value->u32 = (uint32_t)random_integer(random); break;
    case BP_I64: value->i64 = random_integer(random); break;
    case BP_I8: value->i8 = (int8_t)random_integer(random); break;
    case BP_U8: value->u8 = (uint8_t)random_integer(random); break;
    case BP_I16: value->i16 = (int16_t)random_integer(random); break;
    case BP_U16: value->u16 = (uint16_t)random_integer(random); break;
    case BP_U64: value->u64 = (uint64_t)random_integer(random); break;
    case BP_DVEC2: case BP_DVEC3: case BP_DVEC4:
        for (uint32_t i = 0; i < value_parts(type); i++)
            (&value->dvec4.x)[i] = random_double(random);
        break;
    case BP_F64: value->f64 = random_double(random); break;
    case BP_STRING: value->string = random_text(random); break;
    case BP_NAME:
        snprintf(text, sizeof text, "n %u", bp_random_below(random, 300));
        ck_assert_int_eq(names_intern(&names, text, &value->name, &error), BP_OK);
        break;
    case BP_ENTITY:
        if (bp_random_below(random, 10) > 0)
            value->entity = entity_make(context.entity_base, (uint32_t)bp_random_next(random),
                                        1 + bp_random_below(random, ENTITY_MAX_LIFE));
        break;
    default:
        for (uint32_t i = 0; i < value_parts(type); i++)
            value->mat4.m[i] = random_float(random);
        break;
    }
}

static void there_and_back(uint32_t type, const bp_value_t *value)
{
    char text[512];
    bp_value_t back;
    value_format(&context, type, value, text, sizeof text);
    bp_result_t result = value_parse(&context, type, text, &back, &error);
    EXPECT(result == BP_OK, "%s '%s': %s", value_type_name(type), text, error.text);
    bool same = type == BP_STRING ? strcmp(back.string, value->string) == 0
                                  : memcmp(&back, value, value_size(type)) == 0;
    EXPECT(same, "%s '%s' came back as other bits", value_type_name(type), text);
}

START_TEST(what_is_written_reads_back_to_the_same_bits)
{
    uint64_t random = 4;
    for (uint32_t i = 0; i < 105000; i++) {
        uint32_t type = BP_BOOL + i % (BP_TYPE_COUNT - 1);
        bp_value_t value;
        random_value(type, &random, &value);
        there_and_back(type, &value);
    }
}
END_TEST

START_TEST(values_are_written_in_the_fewest_digits)
{
    char text[64];
    value_format(&context, BP_F32, &(float){0.1f}, text, sizeof text);
    ck_assert_str_eq(text, "0.1");
    value_format(&context, BP_F64, &(double){0.1}, text, sizeof text);
    ck_assert_str_eq(text, "0.1");
    value_format(&context, BP_VEC3, &(bp_vec3_t){0, 0.5f, 1}, text, sizeof text);
    ck_assert_str_eq(text, "0 0.5 1");
    value_format(&context, BP_BOOL, &(uint8_t){1}, text, sizeof text);
    ck_assert_str_eq(text, "true");
    value_format(&context, BP_ENTITY, &(bp_entity_t){0}, text, sizeof text);
    ck_assert_str_eq(text, "none");
    bp_entity_t e = entity_make(context.entity_base, 12, 3);
    value_format(&context, BP_ENTITY, &e, text, sizeof text);
    ck_assert_str_eq(text, "#12:3");
}
END_TEST

START_TEST(writing_stays_within_its_room)
{
    bp_mat4_t matrix;
    for (int i = 0; i < 16; i++)
        matrix.m[i] = -1.17549435e-38f;
    char whole[512];
    value_format(&context, BP_MAT4, &matrix, whole, sizeof whole);
    for (size_t size = 0; size <= strlen(whole) + 1; size++) {
        char text[512];
        memset(text, '!', sizeof text);
        value_format(&context, BP_MAT4, &matrix, text, size);
        ck_assert_msg(text[size] == '!', "it wrote past %zu bytes", size);
        if (size > 0) {
            ck_assert_uint_lt(strlen(text), size);
            ck_assert_int_eq(strncmp(text, whole, strlen(text)), 0);
        }
    }
}
END_TEST

/* --- values: good and bad texts ------------------------------------------------------------------------- */

typedef struct text_case_t {
    uint32_t type;
    const char *text;
    const char *form; /* good: the text that is written back; bad: part of the sentence */
} text_case_t;

static const text_case_t good_texts[] = {
    {BP_BOOL, "true", "true"},
    {BP_BOOL, "on", "true"},
    {BP_BOOL, "yes", "true"},
    {BP_BOOL, "1", "true"},
    {BP_BOOL, "false", "false"},
    {BP_BOOL, "off", "false"},
    {BP_BOOL, "no", "false"},
    {BP_BOOL, " 0 ", "false"},
    {BP_I32, "-2147483648", "-2147483648"},
    {BP_I32, " 0x10 ", "16"},
    {BP_I32, "+5", "5"},
    {BP_U32, "4294967295", "4294967295"},
    {BP_U32, "0xffffffff", "4294967295"},
    {BP_I64, "-9223372036854775808", "-9223372036854775808"},
    {BP_I64, "9223372036854775807", "9223372036854775807"},
    {BP_I8, "-128", "-128"},
    {BP_I8, "0x7f", "127"},
    {BP_U8, "255", "255"},
    {BP_U8, "-0", "0"},
    {BP_I16, "-32768", "-32768"},
    {BP_U16, " 65535 ", "65535"},
    {BP_U64, "18446744073709551615", "18446744073709551615"},
    {BP_U64, "0xffffffffffffffff", "18446744073709551615"},
    {BP_DVEC2, "0.1,1e300", "0.1 1e+300"},
    {BP_DVEC3, "0.1 0.2 0.3", "0.1 0.2 0.3"},
    {BP_DVEC4, "1 -2 3 -4", "1 -2 3 -4"},
    {BP_F32, "1e3", "1000"},
    {BP_F32, "3.4028234663852886e38", "3.40282e+38"},
    {BP_F32, ".5", "0.5"},
    {BP_F32, "1e-50", "0"},
    {BP_F64, "0x1p-3", "0.125"},
    {BP_F64, "-1e308", "-1e+308"},
    {BP_VEC2, "1,2", "1 2"},
    {BP_VEC2, "1 , 2", "1 2"},
    {BP_VEC2, "\t1\t2 ", "1 2"},
    {BP_VEC3, "1 2,3", "1 2 3"},
    {BP_VEC4, "1 -2 3 -4", "1 -2 3 -4"},
    {BP_QUAT, "0 0 0 1", "0 0 0 1"},
    {BP_MAT4, "1 0 0 0 0 1 0 0 0 0 1 0 4 5 6 1", "1 0 0 0 0 1 0 0 0 0 1 0 4 5 6 1"},
    {BP_COLOUR, "#fff", "1 1 1 1"},
    {BP_COLOUR, "#0f0", "0 1 0 1"},
    {BP_COLOUR, "#FF0000", "1 0 0 1"},
    {BP_COLOUR, "#00000000", "0 0 0 0"},
    {BP_COLOUR, " #0000ffff ", "0 0 1 1"},
    {BP_COLOUR, "0.25 2 3", "0.25 2 3 1"},
    {BP_COLOUR, "1 2 3 4", "1 2 3 4"},
    {BP_COLOUR, "#333", "0.2 0.2 0.2 1"},
    {BP_STRING, "", ""},
    {BP_STRING, "  as it stands; # yes ", "  as it stands; # yes "},
    {BP_ENTITY, "none", "none"},
    {BP_ENTITY, " #0:1 ", "#0:1"},
    {BP_ENTITY, "#4294967295:1048576", "#4294967295:1048576"},
    {BP_NAME, "fog", "fog"},
    {BP_NAME, "", ""},
};

START_TEST(good_texts_are_read)
{
    const text_case_t *c = &good_texts[_i];
    char text[256];
    bp_value_t value;
    bp_result_t result = value_parse(&context, c->type, c->text, &value, &error);
    ck_assert_msg(result == BP_OK, "'%s': %s", c->text, error.text);
    value_format(&context, c->type, &value, text, sizeof text);
    if (c->type == BP_F32 && c->form[0] == '3')
        ck_assert(value.f32 == FLT_MAX);
    else
        ck_assert_str_eq(text, c->form);
}
END_TEST

static const text_case_t bad_texts[] = {
    {BP_BOOL, "", "true or false"},
    {BP_BOOL, "TRUE", "true or false"},
    {BP_BOOL, "2", "true or false"},
    {BP_BOOL, "true false", "true or false"},
    {BP_BOOL, "falsehood", "true or false"},
    {BP_I32, "", "whole number"},
    {BP_I32, "1.5", "whole number"},
    {BP_I32, "2147483648", "2147483647"},
    {BP_I32, "-2147483649", "-2147483648"},
    {BP_I32, "12a", "whole number"},
    {BP_I32, "1 2", "whole number"},
    {BP_I32, "99999999999999999999", "whole number"},
    {BP_I32, "1,", "whole number"},
    {BP_U32, "-1", "0 to 4294967295"},
    {BP_U32, "4294967296", "0 to 4294967295"},
    {BP_I64, "9223372036854775808", "64 bits"},
    {BP_I64, "seven", "'seven'"},
    {BP_I64, "-9223372036854775809", "64 bits"},
    {BP_I8, "128", "-128 to 127"},
    {BP_I8, "-129", "-128 to 127"},
    {BP_U8, "256", "0 to 255"},
    {BP_U8, "-1", "0 to 255"},
    {BP_I16, "32768", "-32768 to 32767"},
    {BP_U16, "-1", "0 to 65535"},
    {BP_U64, "18446744073709551616", "0 to 18446744073709551615"},
    {BP_U64, "-1", "0 to 18446744073709551615"},
    {BP_U64, "+-1", "0 to 18446744073709551615"},
    {BP_DVEC2, "1", "2 numbers"},
    {BP_DVEC3, "1 2 3 4", "3 numbers"},
    {BP_DVEC4, "1 2 1e309 4", "4 numbers"},
    {BP_F32, "", "a number"},
    {BP_F32, "1e39", "a number"},
    {BP_F32, "3.4028235677973366e38", "a number"},
    {BP_F32, "inf", "a number"},
    {BP_F32, "nan", "a number"},
    {BP_F32, "1.5kg", "'1.5kg'"},
    {BP_F32, "1 2", "a number"},
    {BP_F32, "1,5", "a number"},
    {BP_F64, "1e309", "a number"},
    {BP_F64, "--1", "a number"},
    {BP_VEC2, "1", "2 numbers"},
    {BP_VEC2, "1 2 3", "2 numbers"},
    {BP_VEC2, "1,,2", "2 numbers"},
    {BP_VEC2, "1.5.5", "2 numbers"},
    {BP_VEC2, "1-2", "2 numbers"},
    {BP_VEC2, "1 2,", "2 numbers"},
    {BP_VEC3, "1 2", "3 numbers"},
    {BP_VEC3, "1 2 x", "3 numbers"},
    {BP_VEC4, "", "4 numbers"},
    {BP_QUAT, "0 0 1", "4 numbers x y z w"},
    {BP_MAT4, "1 2 3", "16 numbers"},
    {BP_COLOUR, "", "#rrggbb"},
    {BP_COLOUR, "#", "#rrggbb"},
    {BP_COLOUR, "#ff", "#rrggbb"},
    {BP_COLOUR, "#ffff", "#rrggbb"},
    {BP_COLOUR, "#fffffff", "#rrggbb"},
    {BP_COLOUR, "#gggggg", "#rrggbb"},
    {BP_COLOUR, "#ffffff 1", "#rrggbb"},
    {BP_COLOUR, "1 2", "3 or 4 numbers"},
    {BP_COLOUR, "red", "#rrggbb"},
    {BP_COLOUR, "1 2 3 4 5", "3 or 4 numbers"},
    {BP_ENTITY, "", "#index:generation"},
    {BP_ENTITY, "0:1", "#index:generation"},
    {BP_ENTITY, "#0", "#index:generation"},
    {BP_ENTITY, "#0:0", "#index:generation"},
    {BP_ENTITY, "#0:1048577", "#index:generation"},
    {BP_ENTITY, "#-1:1", "#index:generation"},
    {BP_ENTITY, "#1:-1", "#index:generation"},
    {BP_ENTITY, "#4294967296:1", "#index:generation"},
    {BP_ENTITY, "#0:4294967297", "#index:generation"},
    {BP_ENTITY, "#0:-4294967295", "#index:generation"},
    {BP_ENTITY, "#0:1 2", "#index:generation"},
    {BP_ENTITY, "nonesuch", "#index:generation"},
    {BP_ENTITY, "# 0:1", "#index:generation"},
    {BP_TYPE_NONE, "1", "nothing"},
    {BP_TYPE_COUNT, "1", "nothing"},
};

START_TEST(bad_texts_are_refused_and_told_what_would_be_right)
{
    const text_case_t *c = &bad_texts[_i];
    bp_value_t value;
    memset(&value, 0x77, sizeof value);
    bp_value_t before = value;
    bp_result_t result = value_parse(&context, c->type, c->text, &value, &error);
    ck_assert_msg(result == BP_ERROR_TYPE, "'%s' is %d as %s", c->text, result, value_type_name(c->type));
    ck_assert_msg(strstr(error.text, c->form) != NULL, "\"%s\" is not in: %s", c->form, error.text);
    ck_assert_int_eq(memcmp(&value, &before, sizeof value), 0);
}
END_TEST

START_TEST(a_name_that_is_too_long_is_no_value)
{
    char text[NAMES_MAX_LENGTH + 2];
    bp_value_t value;
    memset(text, 'n', sizeof text);
    text[NAMES_MAX_LENGTH + 1] = '\0';
    expect_error(value_parse(&context, BP_NAME, text, &value, &error), BP_ERROR_LIMIT, "255");
}
END_TEST

/* --- fields --------------------------------------------------------------------------------------------- */

static bp_result_t make_field(field_t *field, bp_field_t declared)
{
    return field_init(field, &memory, &context, &declared, sizeof declared, &error);
}

START_TEST(a_field_keeps_its_declaration)
{
    bp_field_t declared = {.name = "mass",
                           .type = BP_F32,
                           .flags = BP_FIELD_READ_ONLY,
                           .initial = "0.1",
                           .min = "0.1",
                           .max = "2",
                           .unit = "kg",
                           .doc = "how heavy",
                           .former_name = "weight"};
    bp_field_t told;
    field_t field;
    ck_assert_int_eq(make_field(&field, declared), BP_OK);
    field_describe(&field, &told);
    ck_assert_str_eq(told.name, "mass");
    ck_assert_str_eq(told.initial, "0.1");
    ck_assert_str_eq(told.min, "0.1");
    ck_assert_str_eq(told.max, "2");
    ck_assert_str_eq(told.unit, "kg");
    ck_assert_str_eq(told.doc, "how heavy");
    ck_assert_str_eq(told.former_name, "weight");
    ck_assert_uint_eq(told.type, BP_F32);
    ck_assert_uint_eq(told.flags, BP_FIELD_READ_ONLY);
    field_free(&field, &memory);
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "x", .type = BP_BOOL}), BP_OK);
    field_describe(&field, &told);
    ck_assert(told.initial == NULL && told.min == NULL && told.unit == NULL && told.doc == NULL);
    field_free(&field, &memory);
}
END_TEST

START_TEST(a_field_without_default_is_zero_empty_or_the_identity)
{
    for (uint32_t type = BP_BOOL; type < BP_TYPE_COUNT; type++) {
        field_t field;
        bp_value_t zero;
        memset(&zero, 0, sizeof zero);
        ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "f", .type = type}), BP_OK);
        if (type == BP_QUAT)
            zero.quat.w = 1;
        for (int i = 0; type == BP_MAT4 && i < 4; i++)
            zero.mat4.m[5 * i] = 1;
        if (type == BP_STRING)
            ck_assert_str_eq(field.initial.string, "");
        else
            ck_assert_int_eq(memcmp(&field.initial, &zero, value_size(type)), 0);
        ck_assert(field.initial_is_zero == (type != BP_QUAT && type != BP_MAT4 && type != BP_STRING));
        field_free(&field, &memory);
    }
}
END_TEST

START_TEST(members_that_an_older_author_did_not_know_are_left_out)
{
    bp_field_t declared = {.name = "old", .type = BP_F32, .initial = "5", .min = "9"};
    field_t field;
    ck_assert_int_eq(field_init(&field, &memory, &context, &declared, offsetof(bp_field_t, min), &error),
                     BP_OK);
    ck_assert(field.initial.f32 == 5.0f);
    ck_assert(!field.limited);
    field_free(&field, &memory);
}
END_TEST

typedef struct field_case_t {
    bp_field_t field;
    bp_result_t code;
    const char *part;
} field_case_t;

static const field_case_t bad_fields[] = {
    {{.name = NULL, .type = BP_F32}, BP_ERROR_ARGUMENT, "1 to 63"},
    {{.name = "", .type = BP_F32}, BP_ERROR_ARGUMENT, "1 to 63"},
    {{.name = "two words", .type = BP_F32}, BP_ERROR_ARGUMENT, "'two words'"},
    {{.name = "f", .type = BP_TYPE_NONE}, BP_ERROR_TYPE, "'f'"},
    {{.name = "f", .type = BP_TYPE_COUNT}, BP_ERROR_TYPE, "24 is no type"},
    {{.name = "f", .type = BP_F32, .initial = "much"}, BP_ERROR_TYPE, "'much' is not a number"},
    {{.name = "f", .type = BP_F32, .min = "low"}, BP_ERROR_TYPE, "'low'"},
    {{.name = "f", .type = BP_F32, .max = "high"}, BP_ERROR_TYPE, "field 'f': 'high'"},
    {{.name = "f", .type = BP_F32, .min = "2", .max = "1"}, BP_ERROR_RANGE, "min 2 is greater than max 1"},
    {{.name = "f", .type = BP_F32, .initial = "3", .max = "2"}, BP_ERROR_RANGE, "at most 2"},
    {{.name = "f", .type = BP_F32, .min = "1"}, BP_ERROR_RANGE, "f = 0 is outside its range: at least 1"},
    {{.name = "f", .type = BP_VEC3, .initial = "1 2 3", .max = "2", .unit = "m"},
     BP_ERROR_RANGE,
     "f = 3 is outside its range: at most 2 m"},
    {{.name = "f", .type = BP_STRING, .max = "9"}, BP_ERROR_TYPE, "a string has no limits"},
    {{.name = "f", .type = BP_BOOL, .min = "0"}, BP_ERROR_TYPE, "a bool has no limits"},
    {{.name = "f", .type = BP_U32, .max = "-1"}, BP_ERROR_TYPE, "0 to 4294967295"},
};

START_TEST(bad_declarations_are_refused_and_leave_nothing)
{
    field_t field;
    expect_error(make_field(&field, bad_fields[_i].field), bad_fields[_i].code, bad_fields[_i].part);
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

/* Values at, just inside and just outside both limits. */
static void expect_range(uint32_t type, const void *value, const field_t *field, bool inside)
{
    char text[64];
    value_format(&context, type, value, text, sizeof text);
    bp_result_t wanted = inside ? BP_OK : BP_ERROR_RANGE;
    ck_assert_msg(field_check(field, value, &error) == wanted, "%s", text);
    ck_assert_msg(field_check_all(field, value, value_size(type), 1, &error) == wanted, "%s in a column",
                  text);
}

START_TEST(limits_are_inside_and_the_next_number_is_outside)
{
    field_t field;
    float low = 0.1f, high = 0.7f;
    ck_assert_int_eq(
        make_field(&field,
                   (bp_field_t){.name = "f", .type = BP_F32, .initial = "0.5", .min = "0.1", .max = "0.7"}),
        BP_OK);
    expect_range(BP_F32, &low, &field, true);
    expect_range(BP_F32, &high, &field, true);
    expect_range(BP_F32, &(float){nextafterf(low, 0)}, &field, false);
    expect_range(BP_F32, &(float){nextafterf(high, 1)}, &field, false);
    expect_range(BP_F32, &(float){NAN}, &field, false);
    expect_range(BP_F32, &(float){INFINITY}, &field, false);
    field_free(&field, &memory);
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "f", .type = BP_I32, .min = "-3", .max = "3"}),
                     BP_OK);
    for (int32_t i = -5; i <= 5; i++)
        expect_range(BP_I32, &i, &field, i >= -3 && i <= 3);
    field_free(&field, &memory);
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "f", .type = BP_F64, .max = "0.1"}), BP_OK);
    expect_range(BP_F64, &(double){0.1}, &field, true);
    expect_range(BP_F64, &(double){nextafter(0.1, 1)}, &field, false);
    field_free(&field, &memory);
}
END_TEST

START_TEST(every_part_of_every_value_of_a_column_is_checked)
{
    enum { VALUES = 9 };
    struct { bp_vec3_t value; uint32_t other; } rows[VALUES];
    bp_vec3_t dense[VALUES];
    field_t field;
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "v", .type = BP_VEC3, .min = "-1", .max = "1"}),
                     BP_OK);
    memset(rows, 0, sizeof rows);
    memset(dense, 0, sizeof dense);
    ck_assert_int_eq(field_check_all(&field, rows, sizeof rows[0], VALUES, &error), BP_OK);
    ck_assert_int_eq(field_check_all(&field, dense, sizeof dense[0], VALUES, &error), BP_OK);
    for (uint32_t i = 0; i < VALUES * 3; i++) {
        rows[i / 3].other = UINT32_MAX;
        float *part = &(&rows[i / 3].value.x)[i % 3];
        memcpy(part, &(float){1.5f}, sizeof *part);
        memcpy((float *)dense + i, &(float){-1.5f}, sizeof(float));
        expect_error(field_check_all(&field, rows, sizeof rows[0], VALUES, &error), BP_ERROR_RANGE,
                     "v = 1.5 is outside");
        expect_error(field_check_all(&field, dense, sizeof dense[0], VALUES, &error), BP_ERROR_RANGE,
                     "v = -1.5 is outside");
        memcpy(part, &(float){0}, sizeof *part);
        memcpy((float *)dense + i, &(float){0}, sizeof(float));
    }
    field_free(&field, &memory);
}
END_TEST

START_TEST(limited_integers_of_a_dense_column_are_checked)
{
    int32_t numbers[7] = {0, 1, 2, 3, -3, -2, -1};
    field_t field;
    ck_assert_int_eq(make_field(&field, (bp_field_t){.name = "n", .type = BP_I32, .min = "-3", .max = "3"}),
                     BP_OK);
    ck_assert_int_eq(field_check_all(&field, numbers, sizeof numbers[0], COUNT(numbers), &error), BP_OK);
    numbers[5] = 4;
    expect_error(field_check_all(&field, numbers, sizeof numbers[0], COUNT(numbers), &error), BP_ERROR_RANGE,
                 "n = 4");
    field_free(&field, &memory);
}
END_TEST

/* --- words ---------------------------------------------------------------------------------------------- */

START_TEST(lists_are_cut_at_blanks_commas_and_line_ends)
{
    const char *const words[] = {"one", "two", "three", "four", "five"};
    const char *list = " one,two\tthree ,\r\n four,,five,\n";
    char word[16];
    uint32_t count = 0;
    for (const char *at = list; (at = text_next_word(at, word, sizeof word)) != NULL;)
        ck_assert_str_eq(word, words[count++]);
    ck_assert_uint_eq(count, COUNT(words));
    ck_assert_ptr_null(text_next_word("", word, sizeof word));
    ck_assert_ptr_null(text_next_word(" ,\t\r\n", word, sizeof word));
}
END_TEST

START_TEST(a_word_longer_than_its_room_is_cut_and_passed_over_whole)
{
    char word[4];
    const char *rest = text_next_word("abcdefgh next", word, sizeof word);
    ck_assert_str_eq(word, "abc");
    ck_assert_str_eq(rest, " next");
}
END_TEST

static void expect_hint(const char *wanted, const char *hint)
{
    const char *const known[] = {"mass", "position", "velocity", "acceleration"};
    nearest_t nearest = {.wanted = wanted};
    text_t text;
    for (uint32_t i = 0; i < COUNT(known); i++)
        nearest_consider(&nearest, known[i]);
    ck_assert_str_eq(nearest_hint(&nearest, &text), hint);
}

START_TEST(the_nearest_known_word_is_suggested)
{
    expect_hint("masss", "; did you mean 'mass'?");
    expect_hint("mas", "; did you mean 'mass'?");
    expect_hint("mssa", "; did you mean 'mass'?");
    expect_hint("veloctiy", "; did you mean 'velocity'?");
    expect_hint("positions", "; did you mean 'position'?");
    expect_hint("acelleration", "; did you mean 'acceleration'?");
    expect_hint("x", "");
    expect_hint("", "");
    expect_hint("temperature", "");
    char far[100];
    memset(far, 'm', sizeof far - 1);
    far[sizeof far - 1] = '\0';
    expect_hint(far, "");
    nearest_t alone = {.wanted = "any"};
    text_t text;
    ck_assert_str_eq(nearest_hint(&alone, &text), "");
}
END_TEST

START_TEST(a_text_of_fixed_room_is_cut_not_overrun)
{
    text_t text = {.length = 0};
    for (int i = 0; i < 200; i++)
        text_append(&text, "%s ", "words");
    ck_assert_uint_eq(text.length, sizeof text.chars - 1);
    ck_assert_uint_eq(strlen(text.chars), text.length);
}
END_TEST

/* --- files ---------------------------------------------------------------------------------------------- */

START_TEST(paths_are_seen_from_the_folder_of_a_file)
{
    char out[32];
    ck_assert(file_path_beside("dir/game.ini", "mesh.obj", out, sizeof out));
    ck_assert_str_eq(out, "dir/mesh.obj");
    ck_assert(file_path_beside("/a/b/game.ini", "../x", out, sizeof out));
    ck_assert_str_eq(out, "/a/b/../x");
    ck_assert(file_path_beside("game.ini", "x", out, sizeof out));
    ck_assert_str_eq(out, "x");
    ck_assert(file_path_beside("dir\\game.ini", "x", out, sizeof out));
    ck_assert_str_eq(out, "dir\\x");
    ck_assert(file_path_beside("dir/game.ini", "/x", out, sizeof out));
    ck_assert_str_eq(out, "/x");
    ck_assert(file_path_join("folder", "name", out, sizeof out));
    ck_assert_str_eq(out, "folder/name");
}
END_TEST

START_TEST(paths_that_do_not_fit_are_refused)
{
    char out[12];
    ck_assert(file_path_beside("dir/f", "1234567", out, sizeof out));
    ck_assert(!file_path_beside("dir/f", "12345678", out, sizeof out));
    ck_assert(file_path_join("dir", "1234567", out, sizeof out));
    ck_assert(!file_path_join("dir", "12345678", out, sizeof out));
}
END_TEST

START_TEST(the_stem_of_a_library_is_its_name_without_folder_and_ending)
{
    char path[64], out[16];
    snprintf(path, sizeof path, "dir/gravity%s", os_library_suffix);
    file_stem(path, out, sizeof out);
    ck_assert_str_eq(out, "gravity");
    file_stem("gravity", out, sizeof out);
    ck_assert_str_eq(out, "gravity");
    file_stem("a.b/c.d", out, sizeof out);
    ck_assert_str_eq(out, "c");
    file_stem(os_library_suffix, out, sizeof out);
    ck_assert_str_eq(out, os_library_suffix);
}
END_TEST

START_TEST(files_are_read_whole)
{
    static const size_t sizes[] = {0, 1, (1 << 16) - 2, (1 << 16) - 1, 1 << 16, 200000};
    for (uint32_t i = 0; i < COUNT(sizes); i++) {
        char *wanted = calloc(sizes[i] + 1, 1), *bytes;
        size_t size;
        for (size_t k = 0; k < sizes[i]; k++)
            wanted[k] = (char)(k * 31);
        const char *path = scratch_bytes("base.bin", wanted, sizes[i]);
        ck_assert(file_exists(path));
        ck_assert_int_eq(file_read(&memory, path, &bytes, &size, &error), BP_OK);
        ck_assert_uint_eq(size, sizes[i]);
        ck_assert_int_eq(memcmp(bytes, wanted, sizes[i] + 1), 0);
        memory_free(&memory, bytes, size + 1);
        free(wanted);
    }
}
END_TEST

/* As much as the limit, and one byte more; a device may have no end at all. */
START_TEST(files_are_read_no_further_than_a_limit)
{
    static const size_t limits[] = {1, 100, (1 << 16) - 1, 1 << 16, 199998};
    char *text = calloc(200000, 1), *bytes;
    size_t size;
    for (uint32_t i = 0; i < COUNT(limits); i++) {
        const char *path = scratch_bytes("base.bin", text, limits[i]);
        ck_assert_int_eq(file_read_most(&memory, path, limits[i], &bytes, &size, &error), BP_OK);
        ck_assert_uint_eq(size, limits[i]);
        memory_free(&memory, bytes, size + 1);
        path = scratch_bytes("base.bin", text, limits[i] + 1);
        expect_error(file_read_most(&memory, path, limits[i], &bytes, &size, &error), BP_ERROR_LIMIT,
                     "bytes, the most that is read");
        ck_assert_uint_eq(memory_bytes(&memory), 0);
    }
    free(text);
    if (file_exists("/dev/zero"))
        expect_error(file_read_most(&memory, "/dev/zero", 300000, &bytes, &size, &error), BP_ERROR_LIMIT,
                     "/dev/zero: has more than 300000 bytes");
}
END_TEST

START_TEST(files_that_cannot_be_read_are_named)
{
    char *bytes;
    size_t size;
    ck_assert(!file_exists(TEST_SCRATCH_DIR "/missing"));
    expect_error(file_read(&memory, TEST_SCRATCH_DIR "/missing", &bytes, &size, &error), BP_ERROR_IO,
                 "/missing: cannot be opened: ");
    expect_error(file_read(&memory, TEST_SCRATCH_DIR, &bytes, &size, &error), BP_ERROR_IO,
                 TEST_SCRATCH_DIR ": cannot be ");
    ck_assert_uint_eq(memory_bytes(&memory), 0);
}
END_TEST

START_TEST(a_file_that_finds_no_memory_leaves_nothing)
{
    char text[100001], *bytes;
    size_t size;
    memset(text, 't', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    const char *path = scratch_file("base.txt", text);
    for (uint64_t n = 1; n <= 3; n++) {
        heap.refuse_first = heap.refuse_last = heap.requests + n;
        expect_error(file_read(&memory, path, &bytes, &size, &error), BP_ERROR_MEMORY, "out of memory");
        ck_assert_uint_eq(memory_bytes(&memory), 0);
    }
}
END_TEST

/* --- the suite ------------------------------------------------------------------------------------------ */

static TCase *new_case(Suite *suite, const char *name)
{
    TCase *tests = tcase_create(name);
    tcase_add_checked_fixture(tests, begin, end);
    tcase_set_timeout(tests, 120);
    suite_add_tcase(suite, tests);
    return tests;
}

static void add_memory(Suite *suite)
{
    TCase *tests = new_case(suite, "memory");
    tcase_add_test(tests, what_a_child_takes_is_counted_at_its_parents);
    tcase_add_test(tests, a_refused_request_leaves_the_block_and_the_account);
    tcase_add_test(tests, absurd_sizes_are_refused);
    tcase_add_test(tests, cleared_growth_clears_across_the_border_to_pages);
    tcase_add_test(tests, cleared_growth_clears_what_an_embedders_allocator_gives);
    tcase_add_test(tests, a_block_shrunk_and_grown_again_is_cleared_again);
    tcase_add_test(tests, blocks_are_pages_from_the_border_on_unless_the_allocator_is_replaced);
    tcase_add_test(tests, an_array_grows_by_doubling_or_stays_as_it_is);
    tcase_add_test(tests, a_sentence_may_be_made_from_the_present_one);
    tcase_add_test(tests, a_sentence_that_is_too_long_is_cut);
    tcase_add_test(tests, the_log_gets_every_level_and_its_source);
}

static void add_names_and_strings(Suite *suite)
{
    TCase *tests = new_case(suite, "names and strings");
    tcase_add_test(tests, a_name_gives_its_text_back);
    tcase_add_test(tests, hashes_are_those_of_xxh3);
    tcase_add_test(tests, names_have_at_most_255_bytes);
    tcase_add_test(tests, a_hundred_thousand_names_stay_apart);
    tcase_add_test(tests, a_text_whose_hash_is_taken_is_refused);
    tcase_add_test(tests, a_name_that_finds_no_memory_is_not_interned);
    tcase_add_test(tests, words_are_letters_digits_and_underscore);
    tcase_add_test(tests, equal_strings_are_one_and_go_with_their_last_use);
    tcase_add_test(tests, the_empty_string_is_shared_and_not_counted);
    tcase_add_test(tests, a_string_that_finds_no_memory_is_not_there);
    tcase_add_test(tests, strings_are_found_though_the_table_could_not_grow);
    tcase_add_test(tests, counts_are_right_after_any_sequence_of_uses);
}

static void add_values(Suite *suite)
{
    TCase *tests = new_case(suite, "values");
    tcase_add_test(tests, what_is_written_reads_back_to_the_same_bits);
    tcase_add_test(tests, values_are_written_in_the_fewest_digits);
    tcase_add_test(tests, writing_stays_within_its_room);
    tcase_add_loop_test(tests, good_texts_are_read, 0, (int)COUNT(good_texts));
    tcase_add_loop_test(tests, bad_texts_are_refused_and_told_what_would_be_right, 0, (int)COUNT(bad_texts));
    tcase_add_test(tests, a_name_that_is_too_long_is_no_value);
    tcase_add_test(tests, a_field_keeps_its_declaration);
    tcase_add_test(tests, a_field_without_default_is_zero_empty_or_the_identity);
    tcase_add_test(tests, members_that_an_older_author_did_not_know_are_left_out);
    tcase_add_loop_test(tests, bad_declarations_are_refused_and_leave_nothing, 0, (int)COUNT(bad_fields));
    tcase_add_test(tests, limits_are_inside_and_the_next_number_is_outside);
    tcase_add_test(tests, every_part_of_every_value_of_a_column_is_checked);
    tcase_add_test(tests, limited_integers_of_a_dense_column_are_checked);
}

static void add_words_and_files(Suite *suite)
{
    TCase *tests = new_case(suite, "words and files");
    tcase_add_test(tests, lists_are_cut_at_blanks_commas_and_line_ends);
    tcase_add_test(tests, a_word_longer_than_its_room_is_cut_and_passed_over_whole);
    tcase_add_test(tests, the_nearest_known_word_is_suggested);
    tcase_add_test(tests, a_text_of_fixed_room_is_cut_not_overrun);
    tcase_add_test(tests, paths_are_seen_from_the_folder_of_a_file);
    tcase_add_test(tests, paths_that_do_not_fit_are_refused);
    tcase_add_test(tests, the_stem_of_a_library_is_its_name_without_folder_and_ending);
    tcase_add_test(tests, files_are_read_whole);
    tcase_add_test(tests, files_are_read_no_further_than_a_limit);
    tcase_add_test(tests, files_that_cannot_be_read_are_named);
    tcase_add_test(tests, a_file_that_finds_no_memory_leaves_nothing);
}

Suite *base_suite(void)
{
    Suite *suite = suite_create("base");
    add_memory(suite);
    add_names_and_strings(suite);
    add_values(suite);
    add_words_and_files(suite);
    return suite;
}
