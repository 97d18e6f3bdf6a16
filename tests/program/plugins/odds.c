/* odds.c - a plugin for the tests of the program: fields of the types that cargo.c has none of, without a default, and
 * with defaults that are written in other ways than they are shown.
 */
#include <bp_plugin.h>

static const bp_field_t plain_fields[] = {
    {.name = "flag", .type = BP_BOOL},    {.name = "i8", .type = BP_I8},       {.name = "u8", .type = BP_U8},
    {.name = "i16", .type = BP_I16},      {.name = "i32", .type = BP_I32},     {.name = "i64", .type = BP_I64},
    {.name = "f64", .type = BP_F64},      {.name = "vec2", .type = BP_VEC2},   {.name = "vec3", .type = BP_VEC3},
    {.name = "dvec2", .type = BP_DVEC2},  {.name = "dvec4", .type = BP_DVEC4}, {.name = "quat", .type = BP_QUAT},
    {.name = "mat4", .type = BP_MAT4},    {.name = "tint", .type = BP_COLOUR}, {.name = "text", .type = BP_STRING},
    {.name = "other", .type = BP_ENTITY}, {.name = "kind", .type = BP_NAME},
    {.name = "mood", .type = BP_I32, .values = "sad=-1 glad"},
};

static const bp_field_t given_fields[] = {
    {.name = "on", .type = BP_BOOL, .initial = "yes"},
    {.name = "off", .type = BP_BOOL, .initial = "0"},
    {.name = "mask", .type = BP_U32, .initial = "0x10", .max = "0xff"},
    {.name = "much", .type = BP_F64, .initial = "08", .max = "0x10"},
    {.name = "place", .type = BP_VEC3, .initial = "1, 2, 3"},
    {.name = "tint", .type = BP_COLOUR, .initial = "#ff8000"},
    {.name = "words", .type = BP_STRING, .count = 3, .initial = "[\"a \\\"b\\\"\", \"c\\\\d\\n\", e f ]"},
    {.name = "either", .type = BP_BOOL, .count = 2, .initial = "[false, 1]"},
};

static const bp_field_t must_fields[] = {
    {.name = "given", .type = BP_F32, .flags = BP_FIELD_REQUIRED},
    {.name = "marks", .type = BP_F32, .flags = BP_FIELD_LIST},
};

static const bp_component_i components[] = {
    {.name = "plain", .fields = BP_LIST(plain_fields)},
    {.name = "given", .doc = "", .fields = BP_LIST(given_fields)},
    {.name = "nothing"},
    {.name = "must", .flags = BP_COMPONENT_AT_ONCE, .fields = BP_LIST(must_fields)},
};

static const bp_term_field_t term_fields[] = {
    {.name = "f64", .type = BP_F64, .access = BP_WRITE},
    {.name = "speed", .type = BP_F32, .flags = BP_TERM_FIELD_OPTIONAL},
};
static const bp_term_t terms[] = {
    {.component = "plain", .instance = "big", .fields = BP_LIST(term_fields)},
    {.component = "given", .flags = BP_TERM_OPTIONAL},
    {.component = "nothing", .flags = BP_TERM_EXCLUDE},
};

static void rest(const bp_match_t *match, uint32_t count)
{
    (void)match, (void)count;
}

static const bp_term_field_t marks_field[] = {{.name = "marks", .type = BP_F32, .flags = BP_FIELD_LIST}};
static const bp_term_t gathered[] = {
    {.component = "must", .fields = BP_LIST(marks_field)},
    {.component = "plain", .flags = BP_TERM_BESIDE, .world = ".halo"},
    {.component = "given", .flags = BP_TERM_BESIDE, .world = "other"},
};

static const bp_system_i systems[] = {
    {.name = "sort", .terms = BP_LIST(terms), .run = rest},
    {.name = "gather", .flags = BP_SYSTEM_PARALLEL, .terms = BP_LIST(gathered), .run = rest},
};

BP_PLUGIN(odds) = {
    .version = "1.0",
    .components = BP_LIST(components),
    .systems = BP_LIST(systems),
};
