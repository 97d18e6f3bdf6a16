/* json.c - texts and numbers of JSON (RFC 8259).
 *
 * Numbers of few digits are made exactly: a mantissa below 2^53 times or by a power of ten up to 10^22, both of which
 * doubles hold, is rounded once (W. D. Clinger, "How to read floating point numbers accurately", 1990). All others go
 * through strtod.
 */
#include "json.h"

#include "../base/strings.h"

#include <helpers/bp_real.h>
#include <stdlib.h>

bp_result_t json_fail(json_cursor_t *in, const char *at, bp_result_t code, const char *sentence)
{
    in->fault->offset = (size_t)(at - in->start);
    return error_set(in->fault->error, code, "%s", sentence);
}

bp_result_t json_unexpected(json_cursor_t *in, const char *at, const char *expected)
{
    size_t left = (size_t)(in->end - at), length = 0;
    in->fault->offset = (size_t)(at - in->start);
    if (left == 0)
        return error_set(in->fault->error, BP_ERROR_SYNTAX, "%s expected, but here the text ends", expected);
    while (length < left && length < 20 &&
           ((at[length] >= 'a' && at[length] <= 'z') || (at[length] >= 'A' && at[length] <= 'Z')))
        length++;
    unsigned char c = (unsigned char)at[0];
    if (length == 0 && (c < 0x20 || c >= 0x7f))
        return error_set(in->fault->error, BP_ERROR_SYNTAX, "%s expected, not the byte 0x%02x", expected, c);
    return error_set(in->fault->error, BP_ERROR_SYNTAX, "%s expected, not '%.*s'", expected,
                     length == 0 ? 1 : (int)length, at);
}

/* --- strings ------------------------------------------------------------------------------------------------------ */

static int hex(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Four hexadecimal digits at `at`; -1 where they are not there. */
static int32_t hex4(const json_cursor_t *in, const char *at)
{
    int32_t number = 0;
    if (in->end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        if (hex(at[i]) < 0)
            return -1;
        number = number * 16 + hex(at[i]);
    }
    return number;
}

static char *write_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3F));
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

/* \uXXXX, or two of them; in->at is behind the \u. */
static bp_result_t read_unicode(json_cursor_t *in, char **out)
{
    const char *begin = in->at - 2;
    int32_t c = hex4(in, in->at), low;
    if (c < 0)
        return json_fail(in, begin, BP_ERROR_SYNTAX, "\\u takes four hexadecimal digits");
    in->at += 4;
    if (c == 0)
        return json_fail(in, begin, BP_ERROR_SYNTAX, "\\u0000 cannot be part of a text here");
    if (c >= 0xDC00 && c <= 0xDFFF)
        return json_fail(in, begin, BP_ERROR_SYNTAX, "the second half of a surrogate pair stands alone");
    if (c >= 0xD800 && c <= 0xDBFF) {
        low = in->end - in->at >= 6 && in->at[0] == '\\' && in->at[1] == 'u' ? hex4(in, in->at + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return json_fail(in, begin, BP_ERROR_SYNTAX, "the first half of a surrogate pair stands alone");
        in->at += 6;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    *out = write_utf8(*out, (uint32_t)c);
    return BP_OK;
}

static bp_result_t read_escape(json_cursor_t *in, char **out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = in->end - in->at > 1 ? in->at[1] : '\0';
    const char *found = c == '\0' ? NULL : strchr(letters, c);
    if (c != 'u' && found == NULL)
        return json_fail(in, in->at, BP_ERROR_SYNTAX, "behind \\ stands one of \" \\ / b f n r t u");
    in->at += 2;
    if (c == 'u')
        return read_unicode(in, out);
    *(*out)++ = meant[found - letters];
    return BP_OK;
}

/* Bytes of the UTF-8 sequence at `at`, 0 where there is no such sequence; a valid one is neither overlong nor half a
 * surrogate nor beyond U+10FFFF. */
static int sequence(const json_cursor_t *in, const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    int length = c[0] >= 0xC2 && c[0] < 0xE0   ? 2
                 : c[0] >= 0xE0 && c[0] < 0xF0 ? 3
                 : c[0] >= 0xF0 && c[0] < 0xF5 ? 4
                                               : 0;
    if (length == 0 || in->end - at < length)
        return 0;
    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    }
    bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    bool none = (c[0] == 0xED && c[1] >= 0xA0) || (c[0] == 0xF4 && c[1] >= 0x90);
    return overlong || none ? 0 : length;
}

/* Read the escape that ends a run of plain characters, or refuse the character that does. */
static bp_result_t read_special(json_cursor_t *in, char **out)
{
    unsigned char c = (unsigned char)*in->at;
    if (c == '\\')
        return read_escape(in, out);
    if (c < 0x20) {
        in->fault->offset = (size_t)(in->at - in->start);
        return error_set(in->fault->error, BP_ERROR_SYNTAX,
                         "the control character 0x%02x in a string; write it as \\u%04x", c, c);
    }
    int length = sequence(in, in->at);
    if (length == 0) {
        in->fault->offset = (size_t)(in->at - in->start);
        return error_set(in->fault->error, BP_ERROR_SYNTAX, "the byte 0x%02x is not UTF-8 here", c);
    }
    memcpy(*out, in->at, (size_t)length);
    *out += length;
    in->at += length;
    return BP_OK;
}

bp_result_t json_read_string(json_cursor_t *in, char **decoded)
{
    const char *begin = in->at++;
    char *out = *decoded;
    while (in->at < in->end && *in->at != '"') {
        unsigned char c = (unsigned char)*in->at;
        bp_result_t result;
        if (c >= 0x20 && c < 0x80 && c != '\\') {
            *out++ = (char)c;
            in->at++;
        } else if ((result = read_special(in, &out)) != BP_OK) {
            return result;
        }
    }
    if (in->at == in->end)
        return json_fail(in, begin, BP_ERROR_SYNTAX, "a string begins here and does not end");
    in->at++;
    *decoded = out;
    return BP_OK;
}

/* --- numbers ------------------------------------------------------------------------------------------------------ */

typedef struct digits_t {
    const char *begin, *end;
    uint64_t mantissa; /* its first 19 digits */
    int32_t digits;    /* from the first that is not 0 */
    int32_t exponent;  /* of ten */
    bool negative, whole;
} digits_t;

/* The digits at in->at; false where there is none. */
static bool read_digits(json_cursor_t *in, digits_t *n, bool fraction)
{
    const char *begin = in->at;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++) {
        if (n->digits > 0 || *in->at != '0')
            n->digits++;
        if (n->digits <= 19)
            n->mantissa = n->mantissa * 10 + (uint64_t)(*in->at - '0');
        n->exponent -= fraction && n->digits <= 19;
    }
    return in->at > begin;
}

static bool read_exponent(json_cursor_t *in, digits_t *n)
{
    int32_t exponent = 0;
    bool negative = false;
    in->at++;
    if (in->at < in->end && (*in->at == '+' || *in->at == '-'))
        negative = *in->at++ == '-';
    const char *begin = in->at;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++)
        exponent = exponent < 100000 ? exponent * 10 + (*in->at - '0') : exponent;
    n->exponent += negative ? -exponent : exponent;
    return in->at > begin;
}

NOT_INLINED static bp_result_t slow_real(json_cursor_t *in, const digits_t *n, double *real)
{
    char text[JSON_MAX_NUMBER + 1];
    size_t length = (size_t)(n->end - n->begin);
    if (length > JSON_MAX_NUMBER)
        return json_fail(in, n->begin, BP_ERROR_LIMIT, "a number has at most 400 characters");
    memcpy(text, n->begin, length);
    text[length] = '\0';
    *real = bp_real_read(text, NULL);
    if (*real - *real == 0.0)
        return BP_OK;
    return json_fail(in, n->begin, BP_ERROR_SYNTAX, "the number is larger than any: the largest is 1.8e308");
}

static bp_result_t make_real(json_cursor_t *in, const digits_t *n, double *real)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (n->digits > 19 || n->mantissa > (UINT64_C(1) << 53) || n->exponent < -22 || n->exponent > 22)
        return slow_real(in, n, real);
    double mantissa = (double)n->mantissa;
    *real = n->exponent < 0 ? mantissa / powers[-n->exponent] : mantissa * powers[n->exponent];
    *real = n->negative ? -*real : *real;
    return BP_OK;
}

static bp_result_t make_whole(json_cursor_t *in, const digits_t *n, int64_t *whole)
{
    uint64_t most = (uint64_t)INT64_MAX + n->negative;
    if (n->digits > 19 || n->mantissa > most)
        return json_fail(in, n->begin, BP_ERROR_SYNTAX,
                         "the whole number is too large: they go from -9223372036854775808 to 9223372036854775807; "
                         "others have a dot or an e, or stand in quotes");
    *whole = n->negative ? (int64_t)(0 - n->mantissa) : (int64_t)n->mantissa;
    return BP_OK;
}

static bp_result_t scan_number(json_cursor_t *in, digits_t *n)
{
    n->negative = *in->at == '-';
    in->at += n->negative;
    const char *first = in->at;
    if (!read_digits(in, n, false))
        return json_unexpected(in, in->at, "a digit");
    if (*first == '0' && in->at - first > 1)
        return json_fail(in, first, BP_ERROR_SYNTAX, "a number does not begin with 0, unless a dot follows");
    if (in->at < in->end && *in->at == '.') {
        n->whole = false;
        in->at++;
        if (!read_digits(in, n, true))
            return json_unexpected(in, in->at, "a digit");
    }
    if (in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
        n->whole = false;
        if (!read_exponent(in, n))
            return json_unexpected(in, in->at, "a digit");
    }
    n->end = in->at;
    return BP_OK;
}

bp_result_t json_read_number(json_cursor_t *in, json_number_t *number)
{
    digits_t n = {.begin = in->at, .whole = true};
    bp_result_t result = scan_number(in, &n);
    if (result != BP_OK)
        return result;
    /* as a whole number -0 would lose its sign */
    number->is_whole = n.whole && !(n.negative && n.mantissa == 0 && n.digits == 0);
    return number->is_whole ? make_whole(in, &n, &number->whole) : make_real(in, &n, &number->real);
}

/* --- tree -------------------------------------------------------------------------------------------------------- */

/* Reading JSON (RFC 8259) in one pass, without recursion.
 *
 * A tree costs 16 bytes an item and as many bytes of text as the input has at most, all from the caller's account; the
 * nesting is a stack of numbers; and every item holds its place in the text. The reasons for not using a library:
 * docs/dependencies.md, with figures. Tests compare it with the library that the program uses, on everything that
 * either takes or refuses.
 */

typedef struct reader_t {
    json_cursor_t in;
    tree_t *tree;
    char *strings; /* behind the last one */
    uint32_t depth;
    uint32_t open[TREE_MAX_DEPTH]; /* items of the containers that are not closed yet */
} reader_t;

static void skip_blanks(reader_t *r)
{
    const char *at = r->in.at, *end = r->in.end;
    while (at < end && (unsigned char)*at <= ' ' && (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r'))
        at++;
    r->in.at = at;
}

/* A new item for the value that begins at r->in.at; NULL with an error. The address is good until the next item is
 * made. */
static tree_item_t *add_item(reader_t *r, tree_kind_t kind, bp_result_t *result)
{
    tree_t *tree = r->tree;
    if (tree->count == TREE_MAX_ITEMS)
        *result = json_fail(&r->in, r->in.at, BP_ERROR_LIMIT,
                            "a text has at most 67108864 values; divide it, or say `count` for what is alike");
    else if (tree->count >= tree->capacity && /* asked here too, since there mostly is room */
             !memory_reserve(tree->memory, &tree->items, &tree->capacity, (uint64_t)tree->count + 1,
                             sizeof *tree->items))
        *result = json_fail(&r->in, r->in.at, BP_ERROR_MEMORY, "out of memory while reading it");
    if (*result != BP_OK)
        return NULL;
    tree_item_t *item = &tree->items[tree->count++];
    *item = (tree_item_t){.place_and_kind = (uint32_t)(r->in.at - r->in.start) << 3 | kind, .extent = 1};
    return item;
}

/* --- texts, numbers, words ---------------------------------------------------------------------------------------- */

static bp_result_t read_string(reader_t *r)
{
    bp_result_t result = BP_OK;
    tree_item_t *item = add_item(r, TREE_STRING, &result);
    char *begin = r->strings;
    if (item != NULL)
        result = json_read_string(&r->in, &r->strings);
    if (result != BP_OK)
        return result;
    item->string = begin;
    item->extent = (uint32_t)(r->strings - begin);
    *r->strings++ = '\0';
    return BP_OK;
}

static bp_result_t read_number(reader_t *r)
{
    bp_result_t result = BP_OK;
    json_number_t number;
    tree_item_t *item = add_item(r, TREE_INTEGER, &result);
    if (item != NULL)
        result = json_read_number(&r->in, &number);
    if (result != BP_OK)
        return result;
    if (number.is_whole) {
        item->integer = number.whole;
        return BP_OK;
    }
    item->place_and_kind ^= TREE_INTEGER ^ TREE_REAL;
    item->real = number.real;
    return BP_OK;
}

static bp_result_t read_word(reader_t *r)
{
    static const struct { const char *word; size_t length; tree_kind_t kind; } words[] = {
        {"null", 4, TREE_NULL}, {"true", 4, TREE_TRUE}, {"false", 5, TREE_FALSE}};
    bp_result_t result = BP_OK;
    for (size_t i = 0; i < 3; i++) {
        if ((size_t)(r->in.end - r->in.at) < words[i].length || memcmp(r->in.at, words[i].word, words[i].length) != 0)
            continue;
        add_item(r, words[i].kind, &result);
        r->in.at += words[i].length;
        return result;
    }
    return json_unexpected(&r->in, r->in.at, "a value");
}

/* --- objects and lists -------------------------------------------------------------------------------------------- */

static bp_result_t open_container(reader_t *r, tree_kind_t kind)
{
    bp_result_t result = BP_OK;
    if (r->depth == TREE_MAX_DEPTH)
        return json_fail(&r->in, r->in.at, BP_ERROR_LIMIT,
                         "objects and lists lie within each other more than 1024 deep");
    if (add_item(r, kind, &result) == NULL)
        return result;
    r->open[r->depth++] = r->tree->count - 1;
    r->in.at++;
    return BP_OK;
}

static bp_result_t refuse_twin(reader_t *r, const tree_item_t *key)
{
    r->in.fault->offset = tree_place(key);
    return error_set(r->in.fault->error, BP_ERROR_SYNTAX, "the member '%.60s' stands in this object twice",
                     key->string);
}

static bool same_key(const tree_item_t *a, const tree_item_t *b)
{
    return a->extent == b->extent && memcmp(a->string, b->string, a->extent) == 0;
}

enum { FEW_MEMBERS = 16 };

static bp_result_t find_twins_of_few(reader_t *r, const tree_item_t *object)
{
    const tree_item_t *keys[FEW_MEMBERS];
    uint32_t count = 0;
    for (tree_walk_t walk = tree_walk(object); tree_next(&walk); count++) {
        for (uint32_t i = 0; i < count; i++) {
            if (same_key(keys[i], walk.key))
                return refuse_twin(r, walk.key);
        }
        keys[count] = walk.key;
    }
    return BP_OK;
}

static bp_result_t find_twins(reader_t *r, const tree_item_t *object)
{
    if (object->count <= FEW_MEMBERS)
        return find_twins_of_few(r, object);
    uint32_t room = 64;
    while (room < 2 * object->count)
        room *= 2;
    uint32_t *buckets = memory_new(r->tree->memory, (size_t)room * sizeof *buckets); /* item + 1 */
    if (buckets == NULL)
        return json_fail(&r->in, r->in.at, BP_ERROR_MEMORY, "out of memory while reading it");
    bp_result_t result = BP_OK;
    for (tree_walk_t walk = tree_walk(object); result == BP_OK && tree_next(&walk);) {
        uint32_t i = (uint32_t)hash_bytes(walk.key->string, walk.key->extent) & (room - 1);
        while (buckets[i] != 0 && !same_key(&r->tree->items[buckets[i] - 1], walk.key))
            i = (i + 1) & (room - 1);
        if (buckets[i] != 0)
            result = refuse_twin(r, walk.key);
        buckets[i] = (uint32_t)(walk.key - r->tree->items) + 1;
    }
    memory_free(r->tree->memory, buckets, (size_t)room * sizeof *buckets);
    return result;
}

static bp_result_t close_container(reader_t *r)
{
    uint32_t number = r->open[--r->depth];
    tree_item_t *item = &r->tree->items[number];
    item->extent = r->tree->count - number;
    item->end = (uint32_t)(++r->in.at - r->in.start);
    return tree_is(item, TREE_OBJECT) ? find_twins(r, item) : BP_OK;
}

static bp_result_t read_key(reader_t *r)
{
    if (r->in.at == r->in.end || *r->in.at != '"')
        return json_unexpected(&r->in, r->in.at, "a member's name in quotes");
    bp_result_t result = read_string(r);
    if (result != BP_OK)
        return result;
    skip_blanks(r);
    if (r->in.at == r->in.end || *r->in.at != ':')
        return json_unexpected(&r->in, r->in.at, "':'");
    r->in.at++;
    skip_blanks(r);
    return BP_OK;
}

static bp_result_t read_value(reader_t *r)
{
    char c = r->in.at < r->in.end ? *r->in.at : '\0';
    if (c == '{' || c == '[')
        return open_container(r, c == '{' ? TREE_OBJECT : TREE_LIST);
    if (c == '"')
        return read_string(r);
    return c == '-' || (c >= '0' && c <= '9') ? read_number(r) : read_word(r);
}

/* The next member or element of the innermost container, or its end. */
static bp_result_t read_next(reader_t *r)
{
    tree_item_t *top = &r->tree->items[r->open[r->depth - 1]];
    bool object = tree_is(top, TREE_OBJECT);
    bp_result_t result = BP_OK;
    skip_blanks(r);
    if (r->in.at < r->in.end && *r->in.at == (object ? '}' : ']'))
        return close_container(r);
    if (top->count > 0) {
        if (r->in.at == r->in.end || *r->in.at != ',')
            return json_unexpected(&r->in, r->in.at, object ? "',' or '}'" : "',' or ']'");
        r->in.at++;
        skip_blanks(r);
    }
    top->count++;
    if (object)
        result = read_key(r);
    return result == BP_OK ? read_value(r) : result;
}

static bp_result_t read_all(reader_t *r)
{
    skip_blanks(r);
    if (r->in.at == r->in.end)
        return json_fail(&r->in, r->in.at, BP_ERROR_SYNTAX,
                         "the text is empty; an object is expected, which begins with '{'");
    if (*r->in.at != '{')
        return json_unexpected(&r->in, r->in.at, "an object, which begins with '{',");
    bp_result_t result = open_container(r, TREE_OBJECT);
    while (result == BP_OK && r->depth > 0)
        result = read_next(r);
    if (result != BP_OK)
        return result;
    skip_blanks(r);
    return r->in.at == r->in.end ? BP_OK : json_unexpected(&r->in, r->in.at, "the end of the text");
}

bp_result_t tree_read(tree_t *tree, memory_t *memory, const char *bytes, size_t size, json_fault_t *fault)
{
    reader_t r = {.tree = tree, .in = {.start = bytes, .at = bytes, .end = bytes + size, .fault = fault}};
    *tree = (tree_t){.memory = memory, .strings_size = size + 1};
    fault->offset = 0;
    if (size > TREE_MAX_BYTES)
        return error_set(fault->error, BP_ERROR_LIMIT, "a text has at most %d MiB", TREE_MAX_BYTES / (1024 * 1024));
    tree->strings = memory_resize(memory, NULL, 0, tree->strings_size);
    r.strings = tree->strings;
    bp_result_t result = tree->strings == NULL
                             ? json_fail(&r.in, bytes, BP_ERROR_MEMORY, "out of memory while reading it")
                             : read_all(&r);
    if (result != BP_OK)
        tree_free(tree);
    return result;
}

void tree_free(tree_t *tree)
{
    memory_free(tree->memory, tree->items, (size_t)tree->capacity * sizeof *tree->items);
    memory_free(tree->memory, tree->strings, tree->strings_size);
    tree->items = NULL;
    tree->strings = NULL;
    tree->count = tree->capacity = 0;
}

/* --- asking ------------------------------------------------------------------------------------------------------- */

const tree_item_t *tree_member(const tree_item_t *object, const char *name)
{
    if (!tree_is(object, TREE_OBJECT))
        return NULL;
    for (tree_walk_t walk = tree_walk(object); tree_next(&walk);) {
        if (strcmp(walk.key->string, name) == 0)
            return walk.value;
    }
    return NULL;
}

const char *tree_text(const tree_item_t *item, const char *bytes, size_t *size)
{
    const char *begin = bytes + tree_place(item), *end = begin + 1;
    if (tree_kind(item) >= TREE_LIST)
        end = bytes + item->end;
    else if (tree_is(item, TREE_STRING))
        for (; *end != '"'; end++)
            end += *end == '\\';
    else
        while ((*end >= '0' && *end <= '9') || (*end >= 'a' && *end <= 'z') || *end == '+' || *end == '-' ||
               *end == '.' || *end == 'E')
            end++;
    *size = (size_t)(end - begin) + tree_is(item, TREE_STRING);
    return begin;
}
