/* test_json_tree.c - the reader of JSON against another one: jansson must take and refuse the same texts, and read the
 *same.
 *
 * Random documents with every kind of value and odd spacing are read as they are, and damaged in a few bytes. Numbers
 * are also held against strtod, bit for bit.
 */
#include "../suites.h"
#include "../unit/support.h"

#include "scene/json.h"

#include <bp_types.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 16 };

typedef struct bench_t {
    heap_t heap;
    memory_t memory;
    error_text_t error;
    json_fault_t fault;
    tree_t tree;
} bench_t;

static void open_bench(bench_t *bench)
{
    memset(bench, 0, sizeof *bench);
    bp_allocator_i allocator = heap_allocator(&bench->heap);
    memory_init(&bench->memory, "bench", &allocator);
    bench->fault.error = &bench->error;
}

/* Read a block of exactly that size, so that a sanitizer sees a byte read too far. */
static bp_result_t read_block(bench_t *bench, const char *text, size_t size)
{
    char *block = malloc(size > 0 ? size : 1);
    memcpy(block, text, size);
    bp_result_t result = tree_read(&bench->tree, &bench->memory, block, size, &bench->fault);
    free(block);
    return result;
}

static void close_bench(bench_t *bench)
{
    tree_free(&bench->tree);
    ck_assert_uint_eq(bench->heap.bytes, 0);
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static bool same(const tree_item_t *item, const json_t *json)
{
    size_t index = 0;
    switch (tree_kind(item)) {
    case TREE_NULL: return json_is_null(json);
    case TREE_FALSE: return json_is_false(json);
    case TREE_TRUE: return json_is_true(json);
    case TREE_INTEGER: return json_is_integer(json) && json_integer_value(json) == item->integer;
    case TREE_REAL: /* -0 is a whole number there, and 0 */
        return json_is_real(json) ? memcmp(&(double){json_real_value(json)}, &item->real, sizeof(double)) == 0
                                  : json_is_integer(json) && item->real == 0 && signbit(item->real) != 0;
    case TREE_STRING:
        return json_is_string(json) && json_string_length(json) == item->extent &&
               strcmp(json_string_value(json), item->string) == 0;
    default: break;
    }
    if (tree_is(item, TREE_OBJECT) ? json_object_size(json) != item->count : json_array_size(json) != item->count)
        return false;
    for (tree_walk_t walk = tree_walk(item); tree_next(&walk); index++) {
        if (!same(walk.value,
                  tree_is(item, TREE_OBJECT) ? json_object_get(json, walk.key->string) : json_array_get(json, index)))
            return false;
    }
    return true;
}

static void compare(bench_t *bench, const char *text, size_t size)
{
    json_t *json = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
    bp_result_t result = read_block(bench, text, size);
    bool taken = json_is_object(json);
    EXPECT((result == BP_OK) == taken, "%s by us (%s), %s by jansson: %.*s", result == BP_OK ? "taken" : "refused",
           bench->error.text, taken ? "taken" : "refused", (int)size, text);
    EXPECT(result == BP_OK || bench->fault.offset <= size, "a fault behind the end: %.*s", (int)size, text);
    EXPECT(!taken || same(bench->tree.items, json), "read otherwise: %.*s", (int)size, text);
    json_decref(json);
    tree_free(&bench->tree);
}

/* --- random documents --------------------------------------------------------------------------------------------- */

typedef struct pen_t {
    char text[ROOM];
    size_t size;
    uint64_t random;
} pen_t;

static uint32_t below(pen_t *pen, uint32_t bound)
{
    return bp_random_below(&pen->random, bound);
}

static void put(pen_t *pen, const char *text)
{
    size_t length = strlen(text);
    if (pen->size + length < ROOM) {
        memcpy(pen->text + pen->size, text, length);
        pen->size += length;
    }
}

static void put_one_of(pen_t *pen, const char *const *texts, uint32_t count)
{
    put(pen, texts[below(pen, count)]);
}

static void put_blank(pen_t *pen)
{
    static const char *const blanks[] = {"", "", "", " ", "\n", "\t", "\r\n  "};
    put_one_of(pen, blanks, COUNT(blanks));
}

static void put_string(pen_t *pen)
{
    static const char *const pieces[] = {"a",
                                         "entities",
                                         " ",
                                         "\\n",
                                         "\\\"",
                                         "\\\\",
                                         "\\/",
                                         "\\u00e9",
                                         "\\ud83d\\ude00",
                                         "\xC3\xA9",
                                         "\xE2\x82\xAC",
                                         "\xF0\x9F\x98\x80",
                                         "{",
                                         "]",
                                         ",",
                                         ":",
                                         "\\u0001",
                                         "\x7f"};
    char number[16];
    put(pen, "\"");
    for (uint32_t i = below(pen, 6); i > 0; i--)
        put_one_of(pen, pieces, COUNT(pieces));
    snprintf(number, sizeof number, "%u", below(pen, 20)); /* so that members seldom collide, but do */
    put(pen, number);
    put(pen, "\"");
}

static void put_number(pen_t *pen)
{
    static const char *const odd[] = {"0",
                                      "-0",
                                      "-0.0",
                                      "1e0",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "9223372036854775808",
                                      "1e308",
                                      "1e-400",
                                      "2e308",
                                      "0.1",
                                      "123456789012345678901234567890.5",
                                      "0.000000000000000000000000123",
                                      "1E+2",
                                      "5e-324",
                                      "9007199254740993",
                                      "9007199254740993.0",
                                      "1.7976931348623157e308",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "1e",
                                      "0x10",
                                      "-",
                                      "NaN"};
    char number[64];
    uint64_t bits = bp_random_next(&pen->random);
    double real;
    memcpy(&real, &bits, sizeof real);
    switch (below(pen, 5)) {
    case 0: put_one_of(pen, odd, below(pen, 20) == 0 ? COUNT(odd) : 6); return;
    case 1: snprintf(number, sizeof number, "%lld", (long long)(bits >> below(pen, 64))); break;
    case 2: snprintf(number, sizeof number, "%.*f", (int)below(pen, 8), (double)(int64_t)bits / 1e12); break;
    case 3: snprintf(number, sizeof number, "%.*e", (int)below(pen, 20), real - real == 0.0 ? real : 1.5); break;
    default: snprintf(number, sizeof number, "%.17g", real - real == 0.0 ? real : 2.5); break;
    }
    put(pen, number);
}

static void put_value(pen_t *pen, uint32_t depth);

static void put_members(pen_t *pen, uint32_t depth, bool object)
{
    uint32_t count = below(pen, depth == 0 ? 40 : 5);
    put(pen, object ? "{" : "[");
    for (uint32_t i = 0; i < count; i++) {
        put_blank(pen);
        if (object) {
            put_string(pen);
            put_blank(pen);
            put(pen, ":");
            put_blank(pen);
        }
        put_value(pen, depth + 1);
        put_blank(pen);
        put(pen, i + 1 < count ? "," : "");
    }
    put(pen, object ? "}" : "]");
}

static void put_value(pen_t *pen, uint32_t depth)
{
    static const char *const words[] = {"null", "true", "false"};
    switch (below(pen, depth < 6 ? 6 : 3)) {
    case 0: put_number(pen); break;
    case 1: put_string(pen); break;
    case 2: put_one_of(pen, words, COUNT(words)); break;
    case 3: put_members(pen, depth, true); break;
    default: put_members(pen, depth, false); break;
    }
}

static void damage(pen_t *pen)
{
    static const char bytes[] = "{}[]\",:\\ 0-.eEtnu\x80\xC3\xED\xF4\xFF\x01/";
    for (uint32_t i = 1 + below(pen, 3); i > 0 && pen->size > 0; i--) {
        uint32_t at = below(pen, (uint32_t)pen->size);
        switch (below(pen, 4)) {
        case 0: pen->text[at] = bytes[below(pen, sizeof bytes)]; break; /* the zero byte too */
        case 1: pen->size = at; break;
        case 2: memmove(pen->text + at, pen->text + at + 1, --pen->size - at); break;
        default: pen->text[at] = pen->text[below(pen, (uint32_t)pen->size)]; break;
        }
    }
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

START_TEST(random_documents_are_read_as_jansson_reads_them)
{
    static pen_t pen;
    bench_t bench;
    open_bench(&bench);
    for (uint64_t seed = 1; seed <= 4000; seed++) {
        pen.random = seed;
        pen.size = 0;
        put_blank(&pen);
        put_members(&pen, 0, true);
        put_blank(&pen);
        compare(&bench, pen.text, pen.size);
        for (int i = 0; i < 4; i++) {
            damage(&pen);
            compare(&bench, pen.text, pen.size);
        }
    }
    close_bench(&bench);
}
END_TEST

START_TEST(a_text_without_an_end_is_told_of_where_it_begins)
{
    static const char text[] = "{\"a\": \"abc";
    bench_t bench;
    open_bench(&bench);
    ck_assert_int_eq(read_block(&bench, text, sizeof text - 1), BP_ERROR_SYNTAX);
    ck_assert_str_eq(bench.error.text, "a string begins here and does not end");
    ck_assert_uint_eq(bench.fault.offset, 6);
    close_bench(&bench);
}
END_TEST

START_TEST(numbers_are_read_to_the_bit)
{
    bench_t bench;
    open_bench(&bench);
    uint64_t random = 7;
    for (int i = 0; i < 60000; i++) {
        char text[128];
        uint64_t bits = bp_random_next(&random);
        double real;
        memcpy(&real, &bits, sizeof real);
        if (real - real != 0.0)
            continue;
        if (i % 3 == 0)
            real = (double)(int64_t)bits / pow(10, (double)(i % 30));
        int length = snprintf(text, sizeof text, "{\"x\": %.*e}", i % 21, real);
        ck_assert_int_eq(read_block(&bench, text, (size_t)length), BP_OK);
        double expected = strtod(text + 6, NULL), read = tree_number(bench.tree.items + 2);
        EXPECT(memcmp(&expected, &read, sizeof read) == 0, "%s is read as %.17g", text, read);
        tree_free(&bench.tree);
    }
    close_bench(&bench);
}
END_TEST

START_TEST(many_members_are_held_apart)
{
    bench_t bench;
    open_bench(&bench);
    static char text[ROOM];
    for (int twin = 0; twin < 2; twin++) {
        size_t at = (size_t)sprintf(text, "{");
        for (int i = 0; i < 2000; i++)
            at += (size_t)sprintf(text + at, "\"member %d\": %d,", i, i);
        at += (size_t)sprintf(text + at, "\"member %d\": 0}", twin ? 77 : 2000);
        compare(&bench, text, at);
    }
    close_bench(&bench);
}
END_TEST

START_TEST(every_allocation_may_fail)
{
    static const char text[] =
        "{\"a\": [1, 2, {\"b\": \"c\"}], "
        "\"c1\":1,\"c2\":1,\"c3\":1,\"c4\":1,\"c5\":1,\"c6\":1,\"c7\":1,\"c8\":1,\"c9\":1,\"d1\":1,"
        "\"d2\":1,\"d3\":1,\"d4\":1,\"d5\":1,\"d6\":1,\"d7\":1}";
    for (uint64_t nth = 1;; nth++) {
        bench_t bench;
        open_bench(&bench);
        bench.heap.refuse_first = bench.heap.refuse_last = nth;
        bp_result_t result = read_block(&bench, text, sizeof text - 1);
        if (bench.heap.refused == 0) {
            ck_assert_int_eq(result, BP_OK);
            ck_assert_uint_gt(nth, 3);
            close_bench(&bench);
            break;
        }
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        ck_assert_ptr_nonnull(strstr(bench.error.text, "out of memory"));
        close_bench(&bench);
    }
}
END_TEST

START_TEST(a_number_has_a_longest)
{
    char text[2 * JSON_MAX_NUMBER];
    bench_t bench;
    open_bench(&bench);
    for (int more = 0; more < 2; more++) {
        int length = sprintf(text, "{\"x\": 0.%0*d}", JSON_MAX_NUMBER - 2 + more, 1);
        memset(text + 8, '7', JSON_MAX_NUMBER - 2 + (size_t)more);
        ck_assert_int_eq(read_block(&bench, text, (size_t)length), more == 0 ? BP_OK : BP_ERROR_LIMIT);
        tree_free(&bench.tree);
    }
    close_bench(&bench);
}
END_TEST

Suite *json_tree_suite(void)
{
    Suite *suite = suite_create("json_tree");
    TCase *tcase = tcase_create("tree");
    tcase_set_timeout(tcase, 30);
    tcase_add_test(tcase, random_documents_are_read_as_jansson_reads_them);
    tcase_add_test(tcase, a_text_without_an_end_is_told_of_where_it_begins);
    tcase_add_test(tcase, numbers_are_read_to_the_bit);
    tcase_add_test(tcase, many_members_are_held_apart);
    tcase_add_test(tcase, every_allocation_may_fail);
    tcase_add_test(tcase, a_number_has_a_longest);
    suite_add_tcase(suite, tcase);
    return suite;
}
