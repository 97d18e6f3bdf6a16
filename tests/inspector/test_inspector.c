/* test_inspector.c - the parts of the inspector that need no server: JSON written and read, who may come in,
 * conditions.
 *
 * Conditions are held against an oracle: random trees of tests are evaluated row by row by the tree, and as text by the
 * code under test. What a server does is the subject of the scripts beside it.
 */
#include "../suites.h"

#include "../../plugins/inspector/condition.h"
#include "../../plugins/inspector/door.h"
#include "../../plugins/inspector/near.h"
#include "../../plugins/inspector/rpc.h"
#include "../../plugins/inspector/shapes.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- memory that counts and fails ----------------------------------------------------------------------------- */

typedef struct account_t {
    size_t bytes;
    int64_t allowed; /* allocations until one fails; negative: none does */
} account_t;

static void *account_resize(void *context, void *old, size_t old_size, size_t new_size)
{
    account_t *account = context;
    ck_assert_int_eq(old == NULL, old_size == 0);
    if (new_size == 0) {
        account->bytes -= old_size;
        free(old);
        return NULL;
    }
    if (account->allowed == 0)
        return NULL;
    account->allowed -= account->allowed > 0;
    account->bytes += new_size - old_size;
    return realloc(old, new_size);
}

static account_t account;
static const allocator_t allocator = {&account, account_resize};

static void open_account(void)
{
    account = (account_t){0, -1};
}

static void close_account(void)
{
    ck_assert_uint_eq(account.bytes, 0);
}

/* What has been written, as a text; good until the next call. */
static const char *text_of(writer_t *w)
{
    static char text[4096];
    ck_assert(!w->failed && w->length < sizeof text);
    memcpy(text, w->length == 0 ? "" : w->bytes, w->length);
    text[w->length] = '\0';
    writer_release(w);
    return text;
}

/* --- the writer ----------------------------------------------------------------------------------------------- */

START_TEST(commas_stand_between_items_and_nowhere_else)
{
    writer_t w = {.allocator = &allocator};
    writer_array(&w);
    writer_object(&w);
    writer_object_end(&w);
    writer_object(&w);
    writer_key_count(&w, "a", 1);
    writer_key(&w, "b");
    writer_array(&w);
    writer_null(&w);
    writer_truth(&w, true);
    writer_array_end(&w);
    writer_object_end(&w);
    writer_json(&w, "{\"c\":2}", 7);
    writer_array_end(&w);
    ck_assert_str_eq(text_of(&w), "[{},{\"a\":1,\"b\":[null,true]},{\"c\":2}]");
}
END_TEST

START_TEST(texts_are_escaped_and_what_is_no_utf8_is_replaced)
{
    writer_t w = {.allocator = &allocator};
    writer_text(&w, "a\"b\\c\n\x01\x7f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    ck_assert_str_eq(text_of(&w), "\"a\\\"b\\\\c\\n\\u0001\\u007f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
    static const char *const wrong[] = {"\xff", "\xc3", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\x80"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        writer_text(&w, wrong[i]);
        ck_assert_ptr_nonnull(strstr(w.bytes, "\xef\xbf\xbd"));
        json_t *read = json_loadb(w.bytes, w.length, JSON_DECODE_ANY, NULL);
        ck_assert_ptr_nonnull(read);
        json_decref(read);
        writer_release(&w);
    }
}
END_TEST

START_TEST(numbers_come_back_as_they_were)
{
    static const double reals[] = {0, -0.0, 0.1, 1e300, 1.0 / 3, 123456789012345680.0, 5e-324, -2.5};
    static const float floats[] = {0.1f, 3.0034896e-06f, 1e38f, 16777217.0f, 1.0f / 3, 1e-45f};
    writer_t w = {.allocator = &allocator};
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++) {
        writer_real(&w, reals[i]);
        ck_assert_double_eq(strtod(text_of(&w), NULL), reals[i]);
    }
    for (size_t i = 0; i < sizeof floats / sizeof *floats; i++) {
        writer_real32(&w, floats[i]);
        ck_assert_float_eq(strtof(text_of(&w), NULL), floats[i]);
    }
    writer_array(&w);
    writer_real(&w, (double)NAN);
    writer_real32(&w, -INFINITY);
    writer_integer(&w, INT64_MIN);
    writer_count(&w, UINT64_MAX);
    writer_array_end(&w);
    ck_assert_str_eq(text_of(&w), "[\"nan\",\"-inf\",-9223372036854775808,18446744073709551615]");
}
END_TEST

START_TEST(a_writer_without_memory_says_so_and_keeps_nothing)
{
    for (int64_t allowed = 0; allowed < 4; allowed++) {
        writer_t w = {.allocator = &allocator};
        account.allowed = allowed;
        for (int i = 0; i < 400; i++)
            writer_text(&w, "twelve bytes");
        ck_assert(w.failed);
        ck_assert_uint_eq(w.length, 0);
        ck_assert_uint_eq(account.bytes, 0);
    }
}
END_TEST

START_TEST(containers_too_deep_are_refused)
{
    writer_t w = {.allocator = &allocator};
    for (int i = 0; i <= WRITER_DEPTH_MAX; i++)
        writer_array(&w);
    ck_assert(w.failed);
}
END_TEST

/* --- JSON-RPC ------------------------------------------------------------------------------------------------- */

static rpc_body_t read_body(const char *text)
{
    rpc_body_t body;
    ck_assert(rpc_read(&body, &allocator, text, strlen(text)));
    return body;
}

START_TEST(a_call_is_read)
{
    rpc_body_t body = read_body("{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"a.b\",\"params\":{\"x\":1}}");
    ck_assert_int_eq(body.code, 0);
    ck_assert_uint_eq(body.count, 1);
    ck_assert(!body.batch && !body.notice);
    ck_assert_str_eq(body.calls[0].method, "a.b");
    ck_assert_int_eq(json_integer_value(json_object_get(body.calls[0].params, "x")), 1);
    writer_t w = {.allocator = &allocator};
    rpc_begin(&w, &body.calls[0]);
    writer_null(&w);
    rpc_end(&w);
    ck_assert_str_eq(text_of(&w), "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":null}");
    rpc_release(&body);
}
END_TEST

START_TEST(wrong_calls_of_a_batch_are_told_apart)
{
    rpc_body_t body = read_body(
        "[{\"jsonrpc\":\"2.0\",\"method\":\"a\"},1,{\"jsonrpc\":\"2.0\",\"id\":\"t\",\"method\":5},"
        "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"more\":1},{\"id\":1,\"method\":\"a\"}]");
    ck_assert_uint_eq(body.count, 5);
    ck_assert(body.batch && !body.notice);
    static const int32_t codes[] = {0, -32600, -32600, -32600, -32600};
    for (uint32_t i = 0; i < 5; i++)
        ck_assert_int_eq(body.calls[i].code, codes[i]);
    writer_t w = {.allocator = &allocator};
    rpc_error(&w, &body.calls[2], body.calls[2].code, "why");
    ck_assert_str_eq(text_of(&w), "{\"jsonrpc\":\"2.0\",\"id\":\"t\",\"error\":{\"code\":-32600,\"message\":\"why\"}}");
    rpc_release(&body);
}
END_TEST

START_TEST(bodies_that_are_no_calls_are_refused_as_a_whole)
{
    static const char *const bodies[] = {"", "{", "[]", "{\"a\":1,\"a\":2}", "\"\\ud800\""};
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        rpc_body_t body = read_body(bodies[i]);
        ck_assert_int_eq(body.code, RPC_INVALID_REQUEST);
        ck_assert_str_ne(body.why, "");
        rpc_release(&body);
    }
    rpc_body_t notice = read_body("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    ck_assert(notice.notice);
    rpc_release(&notice);
    notice = read_body("{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}"); /* the answer to another's call */
    ck_assert(notice.notice);
    rpc_release(&notice);
}
END_TEST

static void *no_memory(size_t size)
{
    (void)size;
    return NULL;
}

START_TEST(a_batch_that_is_too_long_is_refused)
{
    writer_t w = {.allocator = &allocator};
    rpc_body_t body;
    writer_array(&w);
    for (int i = 0; i <= RPC_BATCH_MAX; i++)
        writer_count(&w, 1);
    writer_array_end(&w);
    ck_assert(rpc_read(&body, &allocator, w.bytes, w.length));
    ck_assert_int_eq(body.code, RPC_INVALID_REQUEST);
    rpc_release(&body);
    writer_release(&w);
    account.allowed = 0;
    ck_assert(!rpc_read(&body, &allocator, "[1]", 3));
    rpc_release(&body);
    account.allowed = -1;
    json_set_alloc_funcs(no_memory, free);
    ck_assert(!rpc_read(&body, &allocator, "[1]", 3)); /* and not refused as a body that is wrong */
    json_set_alloc_funcs(malloc, free);
}
END_TEST

/* --- the door ------------------------------------------------------------------------------------------------- */

static const door_t local = {.address = "127.0.0.1",
                             .hosts = "tool.local",
                             .origins = "http://a:1, http://b",
                             .token = "",
                             .port = 80};

START_TEST(only_names_of_this_server_are_hosts)
{
    static const char *const good[] = {"localhost", "LocalHost:80", "127.0.0.1:80", "[::1]",
                                       "[::1]:80",  "tool.local",   "TOOL.local:80"};
    static const char *const bad[] = {"",
                                      "evil",
                                      "localhost.evil",
                                      "localhost:",
                                      "localhost:81",
                                      "localhost:080x",
                                      "127.0.0.1.evil",
                                      "tool.loca",
                                      "tool.locall",
                                      "[::1",
                                      "127.0.0.2",
                                      "localhost:4294967376",
                                      ":80",
                                      "1.2.3.4"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        ck_assert_msg(door_host(&local, good[i]), "%s is refused", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!door_host(&local, bad[i]), "%s is let in", bad[i]);
    ck_assert(!door_host(&local, NULL));
    door_t wide = local;
    wide.address = "0.0.0.0";
    ck_assert(door_host(&wide, "1.2.3.4") && door_host(&wide, "[fe80::1]:80"));
    ck_assert(door_is_loopback("::1") && door_is_loopback("localhost") && !door_is_loopback("0.0.0.0"));
    wide.address = "127.0.0.5";
    ck_assert(door_host(&wide, "127.0.0.5:80") && !door_host(&wide, "127.0.0.6:80"));
    wide.address = "0.0.0.0";
    ck_assert(!door_host(&wide, "[fe80::x]:80") && !door_host(&wide, "[:80") && !door_host(&wide, "1.2.3.4.5"));
    ck_assert(!door_host(&wide, "localhost") && !door_host(&wide, "a.b.c.d") && !door_host(&wide, "1.2.3"));
}
END_TEST

START_TEST(origins_are_own_listed_or_refused)
{
    ck_assert_int_eq(door_origin(&local, NULL, "localhost"), DOOR_OWN);
    ck_assert_int_eq(door_origin(&local, "http://localhost:80", "localhost:80"), DOOR_OWN);
    ck_assert_int_eq(door_origin(&local, "http://localhost", "localhost:80"), DOOR_REFUSED);
    ck_assert_int_eq(door_origin(&local, "https://localhost:80", "localhost:80"), DOOR_REFUSED);
    ck_assert_int_eq(door_origin(&local, "null", "localhost"), DOOR_REFUSED);
    ck_assert_int_eq(door_origin(&local, "http://a:1", "localhost"), DOOR_LISTED);
    ck_assert_int_eq(door_origin(&local, "http://b", "localhost"), DOOR_LISTED);
    ck_assert_int_eq(door_origin(&local, "http://a", "localhost"), DOOR_REFUSED);
    ck_assert_int_eq(door_origin(&local, "", "localhost"), DOOR_REFUSED);
}
END_TEST

START_TEST(a_token_is_right_as_a_whole_only)
{
    door_t door = local;
    ck_assert(door_token(&door, NULL));
    door.token = "abc";
    ck_assert(door_token(&door, "Bearer abc") && door_token(&door, "bearer abc"));
    static const char *const bad[] = {"",          "Bearer", "Bearer ",    "Bearer ab", "Bearer abcd", "Bearer abcabc",
                                      "Basic abc", "abc",    "Bearer  abc"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(!door_token(&door, bad[i]), "'%s' is let in", bad[i]);
    ck_assert(!door_token(&door, NULL));
}
END_TEST

START_TEST(a_bucket_holds_a_second_of_requests)
{
    door_bucket_t bucket = {.rate = 10, .content = 10};
    for (int i = 0; i < 10; i++)
        ck_assert(door_take(&bucket, 1000, 1));
    ck_assert(!door_take(&bucket, 1000, 1));
    ck_assert(!door_take(&bucket, 50000000, 1));
    ck_assert(door_take(&bucket, 101000000, 1));
    ck_assert(!door_take(&bucket, 101000000, 1));
    ck_assert(!door_take(&bucket, UINT64_C(1) << 60, 11));
    ck_assert(door_take(&bucket, UINT64_C(1) << 60, 10));
}
END_TEST

START_TEST(the_nearest_word_is_found)
{
    near_t near = {.wanted = "masss"};
    near_consider(&near, "velocity");
    ck_assert_ptr_null(near.best);
    near_consider(&near, "mess");
    near_consider(&near, "mass");
    ck_assert_str_eq(near.best, "mass");
    ck_assert_uint_eq(near_distance("kitten", "sitting"), 3);
    ck_assert_uint_eq(near_distance("", "abc"), 3);
}
END_TEST

/* --- conditions ----------------------------------------------------------------------------------------------- */

enum { ROWS = 257, COLUMNS = 6 };

/* Six columns: what a condition may ask for, and what its rows hold. */
static struct {
    float f[ROWS];
    double d[ROWS];
    int32_t i[ROWS];
    bp_vec3_t v[ROWS];
    const char *s[ROWS];
    bp_entity_t e[ROWS];
    uint8_t has[COLUMNS][ROWS];
} rows;

static const char *const column_names[COLUMNS] = {"a.f", "a.d", "a.i", "b.v", "b.s", "c.e"};
static const char *const words[] = {"", "sun", "Earth", "moon", "earth moon"};

static void fill_rows(uint64_t seed)
{
    for (uint32_t r = 0; r < ROWS; r++) {
        rows.f[r] = (float)bp_random_below(&seed, 9) / 2 - 2;
        rows.d[r] = bp_random_below(&seed, 20) == 0 ? (double)NAN : (double)bp_random_below(&seed, 9) - 4;
        rows.i[r] = (int32_t)bp_random_below(&seed, 9) - 4;
        rows.v[r] = (bp_vec3_t){(float)bp_random_below(&seed, 5) - 2, (float)bp_random_below(&seed, 5) - 2, 0};
        rows.s[r] = words[bp_random_below(&seed, 5)];
        rows.e[r].id = bp_random_below(&seed, 3);
        for (uint32_t c = 0; c < COLUMNS; c++)
            rows.has[c][r] = bp_random_below(&seed, 5) != 0;
    }
}

static bool same_entity(void *context, bp_entity_t entity, const char *text)
{
    (void)context;
    return entity.id != 0 && text[0] == '#' && (uint64_t)(text[1] - '0') == entity.id;
}

static const char *name_of(void *context, bp_name_t name)
{
    static const char *const names[] = {"", "sun", "earth", "moon"};
    (void)context;
    return names[name];
}

static const char *no_name(void *context, bp_name_t name)
{
    (void)context, (void)name;
    return "";
}

/* Columns for the fields of a condition that has been read; `a` alone is there where a.f is. */
static void bind_columns(condition_t *c, condition_column_t columns[CONDITION_FIELDS_MAX])
{
    const condition_column_t all[COLUMNS] = {
        {rows.f, sizeof *rows.f, BP_F32, rows.has[0]}, {rows.d, sizeof *rows.d, BP_F64, rows.has[1]},
        {rows.i, sizeof *rows.i, BP_I32, rows.has[2]}, {rows.v, sizeof *rows.v, BP_VEC3, rows.has[3]},
        {rows.s, sizeof *rows.s, BP_STRING, rows.has[4]}, {rows.e, sizeof *rows.e, BP_ENTITY, rows.has[5]}};
    for (uint32_t i = 0; i < c->field_count; i++) {
        char name[2 * CONDITION_NAME_MAX];
        snprintf(name, sizeof name, "%s.%s", c->fields[i].component, c->fields[i].property);
        uint32_t at = 0;
        while (at < COLUMNS && strcmp(name, column_names[at]) != 0)
            at++;
        ck_assert(at < COLUMNS || strcmp(name, "a.") == 0);
        columns[i] = all[at < COLUMNS ? at : 0];
        if (c->fields[i].part_name[0] != '\0')
            c->fields[i].part = shape_part(columns[i].type, c->fields[i].part_name);
    }
}

static bool run(const char *text, uint8_t mask[ROWS])
{
    static condition_t c;
    condition_column_t columns[CONDITION_FIELDS_MAX];
    char sentence[CONDITION_SENTENCE_MAX];
    const condition_words_t hands = {NULL, same_entity, no_name};
    if (!condition_read(&c, text, sentence))
        return false;
    bind_columns(&c, columns);
    condition_test(&c, columns, &hands, ROWS, mask);
    return true;
}

/* A random condition as text, and whether row r satisfies it. */
typedef struct oracle_t {
    char text[4096];
    size_t length;
    uint64_t seed;
    bool truth[ROWS];
} oracle_t;

static void say(oracle_t *o, const char *text)
{
    size_t length = strlen(text);
    ck_assert(o->length + length < sizeof o->text);
    memcpy(o->text + o->length, text, length + 1);
    o->length += length;
}

static bool hold(uint32_t op, double a, double b)
{
    switch (op) {
    case 0: return a < b;
    case 1: return a <= b;
    case 2: return a > b;
    case 3: return a >= b;
    case 4: return !(a < b) && !(a > b) && !isnan(a) && !isnan(b);
    default: return a < b || a > b || isnan(a) || isnan(b);
    }
}

/* The value of column c (0 to 3) in a row; of the vector, x where `form` is 0, its length else. */
static double value_of(uint32_t c, uint32_t form, uint32_t r)
{
    switch (c) {
    case 0: return (double)rows.f[r];
    case 1: return rows.d[r];
    case 2: return rows.i[r];
    default:
        return form == 0 ? (double)rows.v[r].x : sqrt((double)(rows.v[r].x * rows.v[r].x + rows.v[r].y * rows.v[r].y));
    }
}

static void say_value(oracle_t *o, uint32_t c, uint32_t form)
{
    say(o, c == 3 ? form == 0 ? "b.v.x" : "length(b.v)" : column_names[c]);
}

static void say_comparison(oracle_t *o, bool truth[ROWS])
{
    static const char *const signs[] = {" < ", " <= ", ">", " >= ", " = ", " != "};
    uint32_t c = bp_random_below(&o->seed, 4), form = bp_random_below(&o->seed, 2), op = bp_random_below(&o->seed, 6);
    uint32_t other = bp_random_below(&o->seed, 4), kind = bp_random_below(&o->seed, 3);
    double number = (double)bp_random_below(&o->seed, 17) / 2 - 4;
    char text[32];
    snprintf(text, sizeof text, "%g", number);
    if (kind == 0) { /* number first */
        say(o, text);
        say(o, signs[op]);
        say_value(o, c, form);
    } else {
        say_value(o, c, form);
        say(o, signs[op]);
        if (kind == 1)
            say(o, text);
        else
            say_value(o, other, 0);
    }
    for (uint32_t r = 0; r < ROWS; r++) {
        double left = value_of(c, form, r), right = kind == 2 ? value_of(other, 0, r) : number;
        bool there = rows.has[c][r] && (kind != 2 || rows.has[other][r]);
        truth[r] = there && (kind == 0 ? hold(op, right, left) : hold(op, left, right));
    }
}

static void say_leaf(oracle_t *o, bool truth[ROWS])
{
    uint32_t kind = bp_random_below(&o->seed, 8), word = bp_random_below(&o->seed, 5);
    char text[64];
    if (kind > 3) {
        say_comparison(o, truth);
        return;
    }
    static const char *const texts[] = {"a", "c.e = none", "c.e = '#1'"};
    snprintf(text, sizeof text, "b.s = \"%s\"", words[word]);
    say(o, kind == 3 ? text : texts[kind]);
    for (uint32_t r = 0; r < ROWS; r++) {
        const bool truths[] = {rows.has[0][r] != 0, rows.has[5][r] && rows.e[r].id == 0,
                               rows.has[5][r] && rows.e[r].id == 1,
                               rows.has[4][r] && strcmp(rows.s[r], words[word]) == 0};
        truth[r] = truths[kind];
    }
}

static void say_tree(oracle_t *o, uint32_t depth, bool truth[ROWS])
{
    bool other[ROWS];
    uint32_t kind = depth == 0 ? 3 : bp_random_below(&o->seed, 4);
    if (kind == 3) {
        say_leaf(o, truth);
        return;
    }
    say(o, kind == 2 ? "not (" : "(");
    say_tree(o, depth - 1, truth);
    if (kind != 2) {
        say(o, kind == 0 ? " and " : " or ");
        say_tree(o, depth - 1, other);
    }
    say(o, ")");
    for (uint32_t r = 0; r < ROWS; r++)
        truth[r] = kind == 2 ? !truth[r] : kind == 0 ? truth[r] && other[r] : truth[r] || other[r];
}

START_TEST(random_conditions_hold_where_an_oracle_says)
{
    uint64_t seed = 5;
    uint32_t read = 0, held = 0;
    for (int round = 0; round < 3000; round++) {
        static oracle_t o;
        uint8_t mask[ROWS];
        if (round % 50 == 0)
            fill_rows(bp_random_next(&seed));
        o = (oracle_t){.seed = bp_random_next(&seed)};
        say_tree(&o, 1 + bp_random_below(&seed, 4), o.truth);
        if (!run(o.text, mask)) /* more than 16 different fields, or 64 parts */
            continue;
        read++;
        for (uint32_t r = 0; r < ROWS; r++) {
            held += mask[r];
            if ((mask[r] != 0) != o.truth[r])
                ck_abort_msg("row %" PRIu32 " of: %s", r, o.text);
        }
    }
    ck_assert_uint_gt(read, 2500);
    ck_assert_uint_gt(held, 100000);
}
END_TEST

START_TEST(conditions_that_are_none_are_refused_with_their_place)
{
    static const struct { const char *text, *part;
    } wrong[] = {
        {"", "a name is missing"}, {"a.", "a name"},          {"a.f >", "a name"},         {"a.f > 1 and", "a name"},
        {"(a", "')' is missing"},  {"a.f > 1)", "column 8"},  {"a.f > 1 a", "should end"}, {"\"x", "no end"},
        {"1", "comparison"},       {"a > 1", "has no value"}, {"length(a) > 1", "vector"}, {"b.s ~ 1", "text"},
        {"b.v[1 > 2", "']'"},      {"a..f", "a name"},        {"::a", "a name"},           {"a.f > 1e", "end"},
        {"a.f > -", "a name"},     {"a.f > -x", "no number"}, {"a.f > +.", "no number"},
        {"length(a.f[0]) > 1", "vector"},
        {"a.f > 1 or", "a name"},  {"(a.f > 1 x", "')'"},    {"a.f > a", "has no value"}, {"not", "a name"},
        {"a:: > 1", "a name"},     {"b.v[] > 1", "a name"},   {"length(a.f > 1", "')'"},   {"length() > 1", "a name"}};
    static condition_t c;
    char sentence[CONDITION_SENTENCE_MAX], deep[400];
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ck_assert_msg(!condition_read(&c, wrong[i].text, sentence), "'%s' is taken", wrong[i].text);
        ck_assert_msg(strstr(sentence, wrong[i].part) != NULL, "'%s': %s", wrong[i].text, sentence);
    }
    memset(deep, '(', sizeof deep - 1);
    deep[sizeof deep - 1] = '\0';
    ck_assert(!condition_read(&c, deep, sentence));
    ck_assert_ptr_nonnull(strstr(sentence, "deep"));
    for (size_t i = 0; i + 4 < sizeof deep; i += 4)
        memcpy(deep + i, "not ", 5);
    ck_assert(!condition_read(&c, deep, sentence));
    ck_assert_ptr_nonnull(strstr(sentence, "deep"));
}
END_TEST

START_TEST(words_are_compared_and_searched)
{
    uint8_t mask[ROWS];
    fill_rows(1);
    memset(rows.has, 1, sizeof rows.has);
    ck_assert(run("b.s ~ \"EART\"", mask));
    for (uint32_t r = 0; r < ROWS; r++)
        ck_assert_int_eq(mask[r], strstr(rows.s[r], "arth") != NULL);
    ck_assert(run("not b.s and c.e != none", mask));
    for (uint32_t r = 0; r < ROWS; r++)
        ck_assert_int_eq(mask[r], rows.s[r][0] == '\0' && rows.e[r].id != 0);
    ck_assert(condition_contains("abc", "") && condition_contains("aBc", "bC") && !condition_contains("ab", "abc"));
}
END_TEST

/* Four rows of columns of other types, and which of them a condition holds for. */
START_TEST(conditions_hold_for_columns_of_every_type)
{
    static const uint32_t u[4] = {0, 1, 5, 4000000000u};
    static const uint8_t truth[4] = {1, 0, 0, 1};
    static const int16_t h[4] = {-3, 0, 3, 300};
    static const char *const s[4] = {"", "sun", "earth", "moon"}, *const t[4] = {"", "moon", "earth", "sun"};
    static const bp_name_t n[4] = {0, 1, 2, 3}, m[4] = {0, 3, 2, 1};
    static const bp_dvec2_t q[4] = {{9, 1}, {9, 2}, {9, 2}, {9, 3}};
    static const bp_entity_t e[4] = {{0}, {1}, {2}, {3}}, d[4] = {{1}, {1}, {1}, {3}};
    static const struct {
        const char *name;
        condition_column_t column;
    } all[] = {{"u", {u, 4, BP_U32, NULL}},    {"b", {truth, 1, BP_BOOL, NULL}}, {"h", {h, 2, BP_I16, NULL}},
               {"s", {s, 8, BP_STRING, NULL}}, {"t", {t, 8, BP_STRING, NULL}},   {"n", {n, 8, BP_NAME, NULL}},
               {"m", {m, 8, BP_NAME, NULL}},   {"e", {e, 8, BP_ENTITY, NULL}},   {"d", {d, 8, BP_ENTITY, NULL}},
               {"z", {NULL, 0, BP_F32, NULL}},   {"q", {q, sizeof *q, BP_DVEC2, NULL}}};
    static const struct {
        const char *text, *holds;
    } cases[] = {
        {"a.u", "0111"}, {"a.u > 1", "0011"}, {"a.u >= 1", "0111"}, {"a.u < 1", "1000"}, {"a.u <= 1", "1100"},
        {"a.u = 5", "0010"}, {"a.u != 5", "1101"}, {"a.u > -1", "1111"}, {"a.u > 0.5", "0111"}, {"a.u < 3e9", "1110"},
        {"a.b", "1001"}, {"a.b = false", "0110"}, {"a.b = true", "1001"}, {"a.h", "1011"}, {"a.h < 0", "1000"},
        {"a.h >= 3", "0011"}, {"a.h = a.u", "0000"}, {"a.u > a.h", "1111"},
        {"a.s", "0111"}, {"a.s = \"sun\"", "0100"}, {"a.s != \"sun\"", "1011"}, {"a.s < \"moon\"", "1010"},
        {"a.s <= \"moon\"", "1011"}, {"a.s > \"moon\"", "0100"}, {"a.s >= \"moon\"", "0101"},
        {"a.s = \"s\\un\"", "0100"}, {"a.s ~ \"UN\"", "0100"}, {"a.s = 1", "0000"},
        {"a.s = a.t", "1010"}, {"a.s != a.t", "0101"}, {"a.s < a.t", "0001"}, {"a.s >= a.t", "1110"},
        {"a.n", "0111"}, {"not a.n", "1000"},
        {"a.n = \"sun\"", "0100"}, {"a.n ~ \"o\"", "0001"}, {"a.n = a.m", "1010"}, {"a.n != a.m", "0101"},
        {"a.n = a.s", "0000"}, {"a.e", "0111"}, {"a.e = \"#2\"", "0010"}, {"a.e = a.d", "0101"},
        {"a.e != none", "0111"}, {"a.e = none", "1000"},
        {"1 < 2", "1111"}, {"2 < 1", "0000"}, {"\"a\" = \"a\"", "1111"}, {"\"a\" > \"b\"", "0000"},
        {"a.q.y = 2", "0110"}, {"a.q.y != 2", "1001"}, {"a.q.y < 2", "1000"}, {"a.q.y <= 2", "1110"},
        {"a.q.y > 2", "0001"}, {"a.q.y >= 2", "0111"}, {"a.q[0] = 9", "1111"}, {"a.n = a.q", "0000"},
        {"none = none", "1111"}, {"a.u = none", "0000"}, {"a.u = \"x\"", "0000"}, {"a.u < 1e300", "1111"},
        {"true = 1", "1111"}, {"false = 1", "0000"}, {"\"a\" = 1", "0000"}, {"a.z > 1", "0000"}, {"not a.z", "1111"},
    };
    const condition_words_t hands = {NULL, same_entity, name_of};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static condition_t c;
        condition_column_t columns[CONDITION_FIELDS_MAX];
        char sentence[CONDITION_SENTENCE_MAX];
        uint8_t mask[4];
        ck_assert_msg(condition_read(&c, cases[i].text, sentence), "%s: %s", cases[i].text, sentence);
        for (uint32_t f = 0; f < c.field_count; f++) {
            for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
                if (strcmp(all[k].name, c.fields[f].property) == 0)
                    columns[f] = all[k].column;
            }
            if (c.fields[f].part_name[0] != '\0')
                c.fields[f].part = shape_part(columns[f].type, c.fields[f].part_name);
        }
        condition_test(&c, columns, &hands, 4, mask);
        for (uint32_t r = 0; r < 4; r++)
            ck_assert_msg((mask[r] != 0) == (cases[i].holds[r] == '1'), "row %u of: %s", r, cases[i].text);
    }
}
END_TEST

/* Seventeen properties, 65 parts, names and texts that have no room. */
START_TEST(conditions_that_are_too_long_are_refused)
{
    static condition_t c;
    char sentence[CONDITION_SENTENCE_MAX], text[8192];
    static const struct {
        const char *begin, *again, *end, *says;
        int fit;
    } cases[] = {{"a.", "b", " > 1", "this name is too long", CONDITION_NAME_MAX - 1},
                 {"a.f", " and a.f", "", "at most 64 parts", CONDITION_NODES_MAX / 2 - 1},
                 {"a.s = \"", "x", "\"", "its texts are too long", CONDITION_TEXTS_MAX - 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int more = 0; more < 2; more++) {
            strcpy(text, cases[i].begin);
            for (int k = 0; k < cases[i].fit + more; k++)
                strcat(text, cases[i].again);
            strcat(text, cases[i].end);
            bool read = condition_read(&c, text, sentence);
            ck_assert_msg(read == (more == 0), "case %zu, %d more: %s", i, more, sentence);
            ck_assert_msg(read || strstr(sentence, cases[i].says) != NULL, "case %zu: %s", i, sentence);
        }
    }
    for (int fields = 16; fields < 18; fields++) {
        strcpy(text, "a.f0");
        for (int k = 1; k < fields; k++)
            snprintf(text + strlen(text), 32, " and a.f%d", k);
        ck_assert(condition_read(&c, text, sentence) == (fields == 16));
    }
    ck_assert_ptr_nonnull(strstr(sentence, "at most 16 different properties"));
}
END_TEST

START_TEST(the_component_that_is_sure_to_be_there_is_found)
{
    static const struct { const char *text, *component;
    } cases[] = {{"a.f > 1", "a"},
                 {"not a.f > 1", NULL},
                 {"a.f > 1 or b", NULL},
                 {"a.f > 1 or a.i > 1", "a"},
                 {"a.f > 1 or b.v.x > 1", NULL},
                 {"not a and b.v.x > 1", "b"},
                 {"1 < a.f", "a"},
                 {"(c or c.e) and not b", "c"}};
    static condition_t c;
    char sentence[CONDITION_SENTENCE_MAX];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert(condition_read(&c, cases[i].text, sentence));
        uint32_t field = condition_certain(&c);
        ck_assert_msg((field == BP_NONE) == (cases[i].component == NULL), "%s", cases[i].text);
        if (field != BP_NONE)
            ck_assert_str_eq(c.fields[field].component, cases[i].component);
    }
}
END_TEST

START_TEST(parts_of_types_have_names_and_numbers)
{
    const bp_dvec3_t d = {1, -2, 2};
    const int8_t small = -3;
    const uint64_t large = UINT64_MAX;
    ck_assert_uint_eq(shape_part(BP_VEC3, "z"), 2);
    ck_assert_uint_eq(shape_part(BP_VEC3, "w"), BP_NONE);
    ck_assert_uint_eq(shape_part(BP_COLOUR, "a"), 3);
    ck_assert_uint_eq(shape_part(BP_MAT4, "15"), 15);
    ck_assert_uint_eq(shape_part(BP_MAT4, "16"), BP_NONE);
    ck_assert_uint_eq(shape_part(BP_F32, "0"), BP_NONE);
    ck_assert_double_eq(shape_number(BP_DVEC3, 1, &d), -2);
    ck_assert_double_eq(shape_length(BP_DVEC3, &d), 3);
    ck_assert_double_eq(shape_number(BP_I8, 0, &small), -3);
    ck_assert_double_eq(shape_number(BP_U64, 0, &large), 18446744073709551615.0);
    ck_assert(isnan(shape_number(BP_STRING, 0, &large)));
    for (uint32_t type = BP_BOOL; type < BP_TYPE_COUNT; type++)
        ck_assert_msg(shape_of(type)->name != NULL && shape_size(type) > 0 && shape_size(type) <= sizeof(bp_value_t),
                      "type %u", type);
}
END_TEST

Suite *inspector_suite(void)
{
    const TTest *const tests[] = {commas_stand_between_items_and_nowhere_else,
                                  texts_are_escaped_and_what_is_no_utf8_is_replaced,
                                  numbers_come_back_as_they_were,
                                  a_writer_without_memory_says_so_and_keeps_nothing,
                                  containers_too_deep_are_refused,
                                  a_call_is_read,
                                  wrong_calls_of_a_batch_are_told_apart,
                                  bodies_that_are_no_calls_are_refused_as_a_whole,
                                  a_batch_that_is_too_long_is_refused,
                                  only_names_of_this_server_are_hosts,
                                  origins_are_own_listed_or_refused,
                                  a_token_is_right_as_a_whole_only,
                                  a_bucket_holds_a_second_of_requests,
                                  the_nearest_word_is_found,
                                  random_conditions_hold_where_an_oracle_says,
                                  conditions_that_are_none_are_refused_with_their_place,
                                  words_are_compared_and_searched,
                                  conditions_hold_for_columns_of_every_type,
                                  conditions_that_are_too_long_are_refused,
                                  the_component_that_is_sure_to_be_there_is_found,
                                  parts_of_types_have_names_and_numbers};
    Suite *suite = suite_create("inspector");
    TCase *parts = tcase_create("parts");
    tcase_add_checked_fixture(parts, open_account, close_account);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        tcase_add_test(parts, tests[i]);
    suite_add_tcase(suite, parts);
    return suite;
}
