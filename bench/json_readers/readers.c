/* readers.c - one adapter for each library; see readers.h. Each library is asked to be as strict as it can be.
 *
 * One library at a time: Jansson and json-c both export json_object_get, and mean different things.
 */
#include "readers.h"

#include <stdlib.h>
#include <string.h>

/* --- ours --------------------------------------------------------------------------------------------------------- */

#include <bp_types.h>
#include <scene/json.h>

typedef struct own_t {
    memory_t memory;
    tree_t tree;
} own_t;

static void *own_read(const char *text, size_t size)
{
    error_text_t error = {.calls = NULL};
    json_fault_t fault = {.error = &error};
    own_t *own = malloc(sizeof *own);
    if (own == NULL)
        return NULL;
    memory_init(&own->memory, "reader", &(bp_allocator_i){.resize = NULL});
    if (tree_read(&own->tree, &own->memory, text, size, &fault) == BP_OK)
        return own;
    free(own);
    return NULL;
}

static void own_end(void *document)
{
    own_t *own = document;
    tree_free(&own->tree);
    free(own);
}

static void own_look(void *document, seen_t *seen)
{
    const own_t *own = document;
    const tree_item_t *x = tree_member(own->tree.items, "x");
    seen->members = tree_count(own->tree.items);
    seen->whole = x != NULL && tree_is(x, TREE_INTEGER);
    seen->integer = seen->whole ? x->integer : 0;
}

/* --- Jansson ------------------------------------------------------------------------------------------------------ */

#ifdef WITH_JANSSON
#include <jansson.h>

static void *jansson_read(const char *text, size_t size)
{
    return json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
}

static void jansson_end(void *document)
{
    json_decref(document);
}

static void jansson_look(void *document, seen_t *seen)
{
    const json_t *x = json_object_get(document, "x");
    seen->members = (uint32_t)json_object_size(document);
    seen->whole = json_is_integer(x);
    seen->integer = json_integer_value(x);
}
#endif

/* --- yajl: a stream of events; a tree would come on top ----------------------------------------------------------- */

#ifdef WITH_YAJL
#include <yajl/yajl_parse.h>
#include <yajl/yajl_version.h>

typedef struct yajl_seen_t {
    seen_t seen;
    uint32_t depth;
    bool is_x;
} yajl_seen_t;

static int yajl_any(yajl_seen_t *s)
{
    s->is_x = false;
    return 1;
}

static int yajl_on_null(void *s) { return yajl_any(s); }
static int yajl_on_bool(void *s, int value) { (void)value; return yajl_any(s); }
static int yajl_on_real(void *s, double value) { (void)value; return yajl_any(s); }
static int yajl_on_text(void *s, const unsigned char *text, size_t size) { (void)text, (void)size; return yajl_any(s); }
static int yajl_on_open(void *s) { ((yajl_seen_t *)s)->depth++; return yajl_any(s); }
static int yajl_on_close(void *s) { ((yajl_seen_t *)s)->depth--; return yajl_any(s); }

static int yajl_on_whole(void *state, long long value)
{
    yajl_seen_t *s = state;
    if (s->is_x) {
        s->seen.whole = true;
        s->seen.integer = value;
    }
    return yajl_any(s);
}

static int yajl_on_key(void *state, const unsigned char *text, size_t size)
{
    yajl_seen_t *s = state;
    s->seen.members += s->depth == 1;
    s->is_x = s->depth == 1 && size == 1 && text[0] == 'x';
    return 1;
}

static void *yajl_read(const char *text, size_t size)
{
    static const yajl_callbacks calls = {yajl_on_null, yajl_on_bool, yajl_on_whole, yajl_on_real, NULL, yajl_on_text,
                                         yajl_on_open, yajl_on_key, yajl_on_close, yajl_on_open, yajl_on_close};
    yajl_seen_t *s = calloc(1, sizeof *s);
    yajl_handle handle = s == NULL ? NULL : yajl_alloc(&calls, NULL, s);
    bool good = handle != NULL && yajl_parse(handle, (const unsigned char *)text, size) == yajl_status_ok &&
                yajl_complete_parse(handle) == yajl_status_ok;
    if (handle != NULL)
        yajl_free(handle);
    if (good)
        return s;
    free(s);
    return NULL;
}

static void yajl_look(void *document, seen_t *seen)
{
    *seen = ((yajl_seen_t *)document)->seen;
}
#endif

/* --- json-c ------------------------------------------------------------------------------------------------------- */

#ifdef WITH_JSON_C
#include <json-c/json.h>

static void *json_c_read(const char *text, size_t size)
{
    struct json_tokener *tokener = json_tokener_new_ex(1024);
    if (tokener == NULL)
        return NULL;
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *top = json_tokener_parse_ex(tokener, text, (int)size);
    if (json_tokener_get_error(tokener) != json_tokener_success) {
        json_object_put(top);
        top = NULL;
    }
    json_tokener_free(tokener);
    return top;
}

static void json_c_end(void *document)
{
    json_object_put(document);
}

static void json_c_look(void *document, seen_t *seen)
{
    const struct json_object *x = json_object_object_get(document, "x");
    if (!json_object_is_type(document, json_type_object))
        return;
    seen->members = (uint32_t)json_object_object_length(document);
    seen->whole = json_object_is_type(x, json_type_int);
    seen->integer = json_object_get_int64(x);
}
#endif

/* --- cJSON -------------------------------------------------------------------------------------------------------- */

#ifdef WITH_CJSON
#include <cjson/cJSON.h>

static void *cjson_read(const char *text, size_t size)
{
    const char *end = NULL;
    cJSON *top = cJSON_ParseWithLengthOpts(text, size, &end, 0);
    while (top != NULL && end < text + size && strchr(" \t\r\n", *end) != NULL)
        end++;
    if (top != NULL && end == text + size)
        return top;
    cJSON_Delete(top);
    return NULL;
}

static void cjson_end(void *document)
{
    cJSON_Delete(document);
}

static void cjson_look(void *document, seen_t *seen)
{
    const cJSON *x = cJSON_GetObjectItemCaseSensitive(document, "x");
    seen->members = (uint32_t)cJSON_GetArraySize(document);
    seen->whole = cJSON_IsNumber(x) && x->valuedouble - x->valuedouble == 0.0;
    seen->integer = seen->whole && x->valuedouble < 9.3e18 && x->valuedouble > -9.3e18 ? (int64_t)x->valuedouble : 0;
}
#endif

/* --- jsmn: tokens; texts and numbers are left as they stand ------------------------------------------------------- */

#ifdef WITH_JSMN
#define JSMN_STRICT
#define JSMN_STATIC
#define JSMN_PARENT_LINKS /* without, the end of a list costs as much as the list is long */
#include <jsmn.h>

typedef struct jsmn_seen_t {
    jsmntok_t *tokens;
    const char *text;
    int count;
} jsmn_seen_t;

static void *jsmn_read(const char *text, size_t size)
{
    jsmn_parser parser;
    jsmn_seen_t *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    jsmn_init(&parser);
    int count = jsmn_parse(&parser, text, size, NULL, 0);
    s->tokens = count > 0 ? malloc((size_t)count * sizeof *s->tokens) : NULL;
    jsmn_init(&parser);
    s->text = text;
    s->count = s->tokens == NULL ? -1 : jsmn_parse(&parser, text, size, s->tokens, (unsigned)count);
    if (s->count > 0)
        return s;
    free(s->tokens);
    free(s);
    return NULL;
}

static void jsmn_end(void *document)
{
    jsmn_seen_t *s = document;
    free(s->tokens);
    free(s);
}

static void jsmn_look(void *document, seen_t *seen)
{
    const jsmn_seen_t *s = document;
    seen->members = (uint32_t)s->tokens[0].size;
    for (int i = 1; i + 1 < s->count; i++) {
        if (s->tokens[i].end - s->tokens[i].start != 1 || s->text[s->tokens[i].start] != 'x')
            continue;
        seen->whole = true; /* jsmn does not say which kind of number */
        seen->integer = strtoll(s->text + s->tokens[i + 1].start, NULL, 10);
        return;
    }
}
#endif

/* --- json-parser -------------------------------------------------------------------------------------------------- */

#ifdef WITH_JSON_PARSER
#include <json-parser/json.h>

static void *json_parser_read(const char *text, size_t size)
{
    char why[json_error_max];
    json_settings settings = {0};
    return json_parse_ex(&settings, text, size, why);
}

static void json_parser_end(void *document)
{
    json_value_free(document);
}

static void json_parser_look(void *document, seen_t *seen)
{
    const json_value *top = document;
    seen->members = top->type == json_object ? top->u.object.length : 0;
    for (unsigned i = 0; i < seen->members; i++) {
        const json_value *x = top->u.object.values[i].value;
        if (strcmp(top->u.object.values[i].name, "x") != 0)
            continue;
        seen->whole = x->type == json_integer;
        seen->integer = seen->whole ? x->u.integer : 0;
    }
}
#endif

/* --- yyjson ------------------------------------------------------------------------------------------------------- */

#ifdef WITH_YYJSON
#include <yyjson.h>

static void *yyjson_read_all(const char *text, size_t size)
{
    return yyjson_read(text, size, 0);
}

static void yyjson_end(void *document)
{
    yyjson_doc_free(document);
}

static void yyjson_look(void *document, seen_t *seen)
{
    yyjson_val *top = yyjson_doc_get_root(document), *x = yyjson_obj_get(top, "x");
    seen->members = (uint32_t)yyjson_obj_size(top);
    seen->whole = yyjson_is_int(x) && (yyjson_is_sint(x) || yyjson_get_uint(x) <= INT64_MAX);
    seen->integer = yyjson_get_sint(x);
}
#endif

const reader_t readers[] = {
    {"ours", "", "each value's offset", "each reading's own", own_read, own_end, own_look},
#ifdef WITH_JANSSON
    {"jansson", JANSSON_VERSION, "none", "one hook for the process", jansson_read, jansson_end, jansson_look},
#endif
#ifdef WITH_JSON_C
    {"json-c", JSON_C_VERSION, "none", "malloc", json_c_read, json_c_end, json_c_look},
#endif
#ifdef WITH_CJSON
    {"cJSON", WITH_CJSON, "none", "one hook for the process", cjson_read, cjson_end, cjson_look},
#endif
#ifdef WITH_YAJL
    {"yajl", WITH_YAJL, "asked for in events", "each reading's own", yajl_read, free, yajl_look},
#endif
#ifdef WITH_JSMN
    {"jsmn", "", "each value's offset", "the caller's block", jsmn_read, jsmn_end, jsmn_look},
#endif
#ifdef WITH_JSON_PARSER
    {"json-parser", WITH_JSON_PARSER, "none as packaged", "each reading's own", json_parser_read, json_parser_end,
     json_parser_look},
#endif
#ifdef WITH_YYJSON
    {"yyjson", YYJSON_VERSION_STRING, "none", "each reading's own", yyjson_read_all, yyjson_end, yyjson_look},
#endif
};
const size_t reader_count = sizeof readers / sizeof readers[0];
