/* new_fields.c - the types of fields that `backplane new` knows, and reading "hp:f32=100,max:f32".
 *
 * Defaults are judged by a host that is made for it and given a plugin with such fields: what it refuses here it would
 * refuse in the new plugin, with the same sentence.
 */
#include "new.h"

#include "output.h"

#include <backplane.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const new_type_t types[] = {
    {"bool", BP_BOOL, "BP_BOOL", "uint8_t", "u8", "boolean", 0, true},
    {"i8", BP_I8, "BP_I8", "int8_t", "i8", "i8", 1, true},
    {"u8", BP_U8, "BP_U8", "uint8_t", "u8", "u8", 1, true},
    {"i16", BP_I16, "BP_I16", "int16_t", "i16", "i16", 1, true},
    {"u16", BP_U16, "BP_U16", "uint16_t", "u16", "u16", 1, true},
    {"i32", BP_I32, "BP_I32", "int32_t", "i32", "i32", 1, true},
    {"u32", BP_U32, "BP_U32", "uint32_t", "u32", "u32", 1, true},
    {"i64", BP_I64, "BP_I64", "int64_t", "i64", "i64", 1, true},
    {"u64", BP_U64, "BP_U64", "uint64_t", "u64", "u64", 1, true},
    {"f32", BP_F32, "BP_F32", "float", "f32", "f32", 1, false},
    {"f64", BP_F64, "BP_F64", "double", "f64", "f64", 1, false},
    {"vec2", BP_VEC2, "BP_VEC2", "bp_vec2_t", "[f32; 2]", "vec2", 2, false},
    {"vec3", BP_VEC3, "BP_VEC3", "bp_vec3_t", "[f32; 3]", "vec3", 3, false},
    {"vec4", BP_VEC4, "BP_VEC4", "bp_vec4_t", "[f32; 4]", "vec4", 4, false},
    {"dvec2", BP_DVEC2, "BP_DVEC2", "bp_dvec2_t", "[f64; 2]", "dvec2", 2, false},
    {"dvec3", BP_DVEC3, "BP_DVEC3", "bp_dvec3_t", "[f64; 3]", "dvec3", 3, false},
    {"dvec4", BP_DVEC4, "BP_DVEC4", "bp_dvec4_t", "[f64; 4]", "dvec4", 4, false},
    {"quat", BP_QUAT, "BP_QUAT", "bp_quat_t", "[f32; 4]", "quat", 0, false},
    {"mat4", BP_MAT4, "BP_MAT4", "bp_mat4_t", "[f32; 16]", "mat4", 0, false},
    {"colour", BP_COLOUR, "BP_COLOUR", "bp_colour_t", "[f32; 4]", "colour", 0, false},
    {"string", BP_STRING, "BP_STRING", "const char *", "*const c_char", "string", 0, false},
    {"entity", BP_ENTITY, "BP_ENTITY", "bp_entity_t", "u64", "entity", 0, false},
    {"name", BP_NAME, "BP_NAME", "bp_name_t", "u64", "name", 0, false},
};

enum { TYPES = sizeof types / sizeof types[0], COUNT_MAX = 65536 };

/* Words that the languages keep for themselves; of C++ only the words that C does not have. */
static const char words_c[] = " auto bool break case char const continue default do double else enum extern false "
                              "float for goto if inline int long "
                              "register restrict return short signed sizeof static struct switch true typedef union "
                              "unsigned void volatile while ";
static const char words_cxx[] = " alignas alignof and and_eq asm bitand bitor catch char8_t char16_t char32_t class "
                                "co_await co_return co_yield compl "
                                "concept const_cast consteval constexpr constinit decltype delete dynamic_cast "
                                "explicit export friend mutable "
                                "namespace new noexcept not not_eq nullptr operator or or_eq private protected "
                                "public reinterpret_cast requires "
                                "static_assert static_cast template this thread_local throw try typeid typename "
                                "using virtual wchar_t xor xor_eq ";
static const char words_rust[] = " abstract as async await become box break const continue crate do dyn else enum "
                                 "extern false final fn for gen if "
                                 "impl in let loop macro match mod move mut override priv pub ref return self "
                                 "static struct super trait true try type "
                                 "typeof union unsafe unsized use virtual where while yield ";

static bool is_word_of(const char *words, const char *name)
{
    char wanted[NEW_NAME_MAX + 3];
    snprintf(wanted, sizeof wanted, " %s ", name);
    return strstr(words, wanted) != NULL;
}

bool new_name_fits(const new_plugin_t *plugin, const char *name, const char *what)
{
    size_t length = strlen(name);
    if (length == 0 || length > NEW_NAME_MAX) {
        complain("the name of a %s has 1 to %d letters; here are %zu", what, NEW_NAME_MAX, length);
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        bool letter = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') || name[i] == '_';
        if (letter || (i > 0 && name[i] >= '0' && name[i] <= '9'))
            continue;
        complain("'%s' is no name for a %s: letters, digits and '_', and no digit first, such as %s", name, what,
                 strcmp(what, "plugin") == 0 ? "health or wind_2" : "hp or max_speed");
        return false;
    }
    const char *language = plugin->language == NEW_RUST ? "Rust" : plugin->language == NEW_CXX ? "C++" : "C";
    bool taken = plugin->language == NEW_RUST ? is_word_of(words_rust, name)
                                              : is_word_of(words_c, name) || (plugin->language == NEW_CXX &&
                                                                              is_word_of(words_cxx, name));
    if (taken)
        complain("'%s' is a word of the language %s itself, so no %s can be called so", name, language, what);
    return !taken;
}

static const new_type_t *type_named(const char *name)
{
    char hint[96];
    guess_t guess = {.wanted = name};
    for (size_t i = 0; i < TYPES; i++) {
        if (strcmp(types[i].name, name) == 0)
            return &types[i];
        guess_consider(&guess, types[i].name);
    }
    complain("there is no type '%s'%s; there are bool, i8 to i64, u8 to u64, f32, f64, vec2 to vec4, dvec2 to "
             "dvec4, quat, mat4, colour, string, "
             "entity and name", name, guess_hint(&guess, hint, sizeof hint));
    return NULL;
}

/* "[4]" or "[]" behind a type; cuts it off. */
static bool read_shape(char *type, new_field_t *field)
{
    char *bracket = strchr(type, '[');
    if (bracket == NULL)
        return true;
    uint64_t count = 0;
    size_t length = strlen(bracket);
    bool closed = bracket[length - 1] == ']';
    if (closed)
        bracket[length - 1] = '\0';
    field->list = closed && length == 2;
    bool fine = field->list || (closed && numbers_read_count(bracket + 1, &count) && count >= 1 && count <= COUNT_MAX);
    if (!fine)
        complain("%s: write [] behind the type for a list, or [4] for an array of four; at most [%d]", field->name,
                 COUNT_MAX);
    field->count = (uint32_t)count;
    *bracket = '\0';
    return fine;
}

static bool is_taken(const new_plugin_t *plugin, const char *name)
{
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        if (strcmp(plugin->fields[i].name, name) == 0) {
            complain("two fields are called '%s'", name);
            return true;
        }
    }
    return false;
}

/* Can the plugin have such a field? With storage of its own the default is written as a value of C, and as options
 * fields are single values. */
static bool suits_kind(const new_plugin_t *plugin, const new_field_t *field)
{
    const char *type = field->type->name;
    bool shaped = field->list || field->count > 0;
    bool held = strcmp(type, "string") == 0 || strcmp(type, "name") == 0 || strcmp(type, "mat4") == 0 || strcmp(type,
                                                                                          "colour") == 0;
    if (plugin->kind == NEW_OWN_STORAGE && (shaped || held || (field->type->parts == 0 && field->initial != NULL &&
                                                               field->type->whole == false))) {
        complain("%s: what --own-storage writes holds booleans, numbers, vectors, and quat and entity without a "
                 "default; for others begin with "
                 "--component, whose fields may be anything", field->name);
        return false;
    }
    if (plugin->kind == NEW_SYSTEM && (shaped || strcmp(type, "entity") == 0)) {
        complain("%s: the fields of a system are options that the ini gives, so each is a single value, and no "
                 "entity", field->name);
        return false;
    }
    return true;
}

/* Cut the blanks off both ends. */
static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static bool read_one(new_plugin_t *plugin, char *text)
{
    char *initial = strchr(text, '=');
    if (initial != NULL)
        *initial++ = '\0';
    char *type = strchr(text, ':');
    if (type == NULL) {
        complain("'%s' has no type; write NAME:TYPE or NAME:TYPE=DEFAULT, such as hp:f32=100", trim(text));
        return false;
    }
    *type++ = '\0';
    char *name = trim(text);
    if (!new_name_fits(plugin, name, plugin->kind == NEW_SYSTEM ? "option" : "field") || is_taken(plugin, name))
        return false;
    if (plugin->field_count == NEW_FIELDS_MAX) {
        complain("more than %d fields; add the others in the source", NEW_FIELDS_MAX);
        return false;
    }
    new_field_t *field = &plugin->fields[plugin->field_count];
    *field = (new_field_t){.initial = NULL};
    snprintf(field->name, sizeof field->name, "%s", name);
    type = trim(type);
    if (!read_shape(type, field) || (field->type = type_named(type)) == NULL)
        return false;
    if (initial != NULL) {
        initial = trim(initial);
        field->initial = malloc(strlen(initial) + 1);
        if (field->initial == NULL) {
            complain("out of memory");
            return false;
        }
        memcpy(field->initial, initial, strlen(initial) + 1);
    }
    plugin->field_count++;
    return suits_kind(plugin, field);
}

/* Does a number begin here, and no name with a colon behind it? */
static bool is_further_number(const char *text)
{
    size_t name = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_ ");
    return *text != '\0' && text[name] != ':' && (isdigit((unsigned char)*text) || strchr("+-.", *text) != NULL);
}

/* Find the comma that ends a field: one outside of brackets, behind which no number comes, so that "p:vec3=0,0,1" and
 * "on:bool[2]=[true, false]" are one field each. In brackets texts may be quoted. */
static char *field_end(char *text)
{
    uint32_t depth = 0;
    bool quoted = false;
    for (char *at = text; *at != '\0'; at++) {
        if (quoted && *at == '\\' && at[1] != '\0')
            at++;
        else if (depth > 0 && *at == '"')
            quoted = !quoted;
        else if (*at == '[' && !quoted)
            depth++;
        else if (*at == ']' && !quoted)
            depth -= depth > 0;
        else if (*at == ',' && depth == 0 && !is_further_number(at + 1 + strspn(at + 1, " \t")))
            return at;
    }
    return NULL;
}

/* Would a host load the plugin with these fields? */
static bool host_takes(const new_plugin_t *plugin)
{
    bp_field_t declared[NEW_FIELDS_MAX];
    bp_field_list_t fields = {declared, plugin->field_count, (uint32_t)sizeof declared[0]};
    for (uint32_t i = 0; i < plugin->field_count; i++) {
        const new_field_t *field = &plugin->fields[i];
        declared[i] = (bp_field_t){.name = field->name,
                                   .type = field->type->type,
                                   .flags = field->list ? BP_FIELD_LIST : 0,
                                   .count = field->count,
                                   .initial = field->initial};
    }
    bp_component_i component = {.fields = fields};
    bp_plugin_desc_t brings = {.components = {&component, 1, (uint32_t)sizeof component}};
    bp_plugin_desc_t takes = {.options = fields};
    bp_plugin_head_t head = BP_PLUGIN_HEAD(plugin->name, plugin->kind == NEW_SYSTEM ? &takes : &brings);
    const bp_plugin_head_t *heads[] = {&head};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.struct_size = sizeof(bp_host_desc_t),
                                                       .static_plugins = heads,
                                                       .static_plugin_count = 1});
    bool taken = host != NULL && bp_host_load_plugin(host, plugin->name, NULL, 0) == BP_OK;
    if (!taken)
        complain("%s", host == NULL ? "out of memory" : bp_host_error(host));
    bp_host_destroy(host);
    return taken;
}

bool new_fields_read(new_plugin_t *plugin, const char *text)
{
    char *copy = malloc(strlen(text) + 1);
    bool fine = copy != NULL;
    if (!fine) {
        complain("out of memory");
        return false;
    }
    memcpy(copy, text, strlen(text) + 1);
    for (char *at = copy; fine && at != NULL;) {
        char *end = field_end(at), *next = end == NULL ? NULL : end + 1;
        if (end != NULL)
            *end = '\0';
        fine = read_one(plugin, at);
        at = next;
    }
    free(copy);
    return fine && host_takes(plugin);
}

void new_fields_free(new_plugin_t *plugin)
{
    for (uint32_t i = 0; i < plugin->field_count; i++)
        free(plugin->fields[i].initial);
    plugin->field_count = 0;
}
