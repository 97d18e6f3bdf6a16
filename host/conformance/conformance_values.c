/* conformance_values.c - defaults as declared, random values in range, and comparing.
 *
 * Defaults are read from the declaration by a reader of this file and not by the host's, so that a fault of the host's
 * reader shows as a difference.
 *
 * A value is a function of property and seed, so that a model of thousands of instances remembers one seed a
 * property and no values.
 *
 * Rotations are compared up to their length, because a manager may bring them to length 1; all rotations made here have
 * that length already. Values of all other types have to come back bit for bit.
 */
#include "conformance.h"

#include <helpers/bp_real.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t conformance_size(uint32_t type)
{
    static const size_t sizes[BP_TYPE_COUNT] = {
        [BP_BOOL] = 1,
        [BP_I32] = 4,
        [BP_U32] = 4,
        [BP_I64] = 8,
        [BP_F32] = 4,
        [BP_F64] = 8,
        [BP_VEC2] = 8,
        [BP_VEC3] = 12,
        [BP_VEC4] = 16,
        [BP_QUAT] = 16,
        [BP_MAT4] = 64,
        [BP_COLOUR] = 16,
        [BP_STRING] = sizeof(const char *),
        [BP_ENTITY] = 8,
        [BP_NAME] = 8,
        [BP_I8] = 1,
        [BP_U8] = 1,
        [BP_I16] = 2,
        [BP_U16] = 2,
        [BP_U64] = 8,
        [BP_DVEC2] = 16,
        [BP_DVEC3] = 24,
        [BP_DVEC4] = 32,
    };
    return type < BP_TYPE_COUNT ? sizes[type] : 0;
}

/* The floats that a value consists of, 0 for other types. */
static uint32_t float_count(uint32_t type)
{
    switch (type) {
    case BP_F32: return 1;
    case BP_VEC2: return 2;
    case BP_VEC3: return 3;
    case BP_VEC4: case BP_QUAT: case BP_COLOUR: return 4;
    case BP_MAT4: return 16;
    default: return 0;
    }
}

/* Likewise the doubles. */
static uint32_t double_count(uint32_t type)
{
    switch (type) {
    case BP_F64: return 1;
    case BP_DVEC2: return 2;
    case BP_DVEC3: return 3;
    case BP_DVEC4: return 4;
    default: return 0;
    }
}

bool conformance_is_writable(const conformance_property_t *p)
{
    return (p->declared.flags & BP_FIELD_READ_ONLY) == 0;
}

/* --- defaults -------------------------------------------------------------------------------------- */

static void read_floats(const char *text, float *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char *end;
        float number = (float)bp_real_read(text, &end);
        if (end == text)
            return;
        out[i] = number;
        text = end + strspn(end, " ,\t");
    }
}

static void read_doubles(const char *text, double *out, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        char *end;
        double number = bp_real_read(text, &end);
        if (end == text)
            return;
        out[i] = number;
        text = end + strspn(end, " ,\t");
    }
}

static void read_colour(const char *text, float out[4])
{
    if (text[0] != '#') {
        read_floats(text, out, 4);
        return;
    }
    size_t digits = strlen(text + 1), wide = digits == 3 ? 1 : 2;
    for (size_t i = 0; i < 4 && i < digits / wide; i++) {
        char pair[3] = {text[1 + i * wide], text[i * wide + wide], '\0'};
        out[i] = (float)strtol(pair, NULL, 16) / 255.0f;
    }
}

static bool is_true(const char *text)
{
    return strcmp(text, "true") == 0 || strcmp(text, "on") == 0 || strcmp(text, "yes") == 0 ||
           strcmp(text, "1") == 0;
}

/* The value that a property begins with where the declaration gives none. */
static void begin_value(uint32_t type, conformance_value_t *v)
{
    memset(v, 0, sizeof *v);
    if (type == BP_QUAT)
        v->value.quat.w = 1;
    if (type == BP_MAT4)
        v->value.mat4.m[0] = v->value.mat4.m[5] = v->value.mat4.m[10] = v->value.mat4.m[15] = 1;
    if (type == BP_STRING)
        v->value.string = v->text;
}

/* Whole numbers are decimal, whatever they begin with, or hexadecimal behind 0x. */
static int base_of(const char *text)
{
    text += strspn(text, " \t");
    text += *text == '-' || *text == '+';
    return text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
}

/* The next name of a list of named values, "idle walking=4 running", and its number; false: there is none. */
static bool next_named(const char **list, const char **name, size_t *length, int64_t *number)
{
    char *end;
    *name = *list + strspn(*list, " \t\r\n,");
    *length = strcspn(*name, " \t\r\n,=");
    if (*length == 0)
        return false;
    ++*number;
    *list = *name + *length;
    if (**list == '=') {
        *number = strtoll(*list + 1, &end, base_of(*list + 1));
        *list = end;
    }
    return true;
}

/* What a named value counts for: its number, or its bit. */
static int64_t named_part(const conformance_property_t *p, int64_t number)
{
    return (p->declared.flags & BP_FIELD_BITS) != 0 ? (int64_t)(UINT64_C(1) << number) : number;
}

static void put_integer(uint32_t type, int64_t number, bp_value_t *value)
{
    switch (conformance_size(type)) {
    case 1: value->u8 = (uint8_t)number; break;
    case 2: value->u16 = (uint16_t)number; break;
    case 4: value->u32 = (uint32_t)number; break;
    default: value->u64 = (uint64_t)number; break;
    }
}

/* A default that is written by its name, or by several with '|' between them; false: it is a number. */
static bool named_default(const conformance_property_t *p, const char *text, bp_value_t *value)
{
    int64_t sum = 0;
    text += strspn(text, " \t");
    if (p->declared.values == NULL || strchr("-0123456789", text[0]) != NULL)
        return false;
    for (size_t wanted; *text != '\0'; text += wanted + (text[wanted] == '|')) {
        const char *list = p->declared.values, *name;
        size_t length;
        int64_t number = -1;
        text += strspn(text, " \t");
        wanted = strcspn(text, "|");
        while (next_named(&list, &name, &length, &number)) {
            if (length <= wanted && memcmp(name, text, length) == 0 &&
                length + strspn(text + length, " \t") == wanted)
                sum |= named_part(p, number);
        }
    }
    put_integer(p->declared.type, sum, value);
    return true;
}

/* The value that a text says, of a declaration; false where it cannot be known here. `text` stays as long as `v`. */
static bool read_default(conformance_t *c, const conformance_property_t *p, const char *text, conformance_value_t *v)
{
    uint32_t type = p->declared.type;
    begin_value(type, v);
    if (text == NULL || text[0] == '\0' || named_default(p, text, &v->value))
        return true;
    if (type == BP_COLOUR)
        v->value.colour.a = 1;
    switch (type) {
    case BP_BOOL: v->value.boolean = is_true(text); break;
    case BP_I32: v->value.i32 = (int32_t)strtol(text, NULL, base_of(text)); break;
    case BP_U32: v->value.u32 = (uint32_t)strtoll(text, NULL, base_of(text)); break;
    case BP_I64: v->value.i64 = strtoll(text, NULL, base_of(text)); break;
    case BP_U64: v->value.u64 = strtoull(text, NULL, base_of(text)); break;
    case BP_I8: v->value.i8 = (int8_t)strtol(text, NULL, base_of(text)); break;
    case BP_U8: v->value.u8 = (uint8_t)strtol(text, NULL, base_of(text)); break;
    case BP_I16: v->value.i16 = (int16_t)strtol(text, NULL, base_of(text)); break;
    case BP_U16: v->value.u16 = (uint16_t)strtol(text, NULL, base_of(text)); break;
    case BP_F64:
    case BP_DVEC2:
    case BP_DVEC3:
    case BP_DVEC4: read_doubles(text, &v->value.dvec4.x, double_count(type)); break;
    case BP_COLOUR: read_colour(text, v->value.mat4.m); break;
    case BP_NAME: v->value.name = c->api->name->hash(text); break;
    case BP_ENTITY: return strcmp(text, "none") == 0;
    case BP_STRING:
        v->value.string = text;
        break;
    default: read_floats(text, v->value.mat4.m, float_count(type)); break;
    }
    return true;
}

bool conformance_default(conformance_t *c, const conformance_property_t *p, conformance_value_t *v)
{
    return read_default(c, p, p->declared.initial, v);
}

/* The next value of "[a, \"b\"]" from `at` on, which is at the bracket or behind a comma; returns what is behind it. */
static const char *next_item(const char *at, char *text, size_t room)
{
    static const char letters[] = "\"\\/nrt", meant[] = "\"\\/\n\r\t";
    size_t length = 0;
    at += *at == '[';
    at += strspn(at, " \t\r\n");
    bool quoted = *at == '"';
    for (at += quoted; *at != '\0' && (quoted ? *at != '"' : *at != ',' && *at != ']'); at++) {
        const char *letter = quoted && *at == '\\' && at[1] != '\0' ? strchr(letters, *++at) : NULL;
        if (length + 1 < room)
            text[length++] = letter != NULL ? meant[letter - letters] : *at;
    }
    while (!quoted && length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    text[length] = '\0';
    at += quoted && *at == '"';
    at += strspn(at, " \t\r\n");
    return at + (*at == ',');
}

void conformance_default_item(conformance_t *c, const conformance_property_t *p, uint32_t number,
                              conformance_value_t *v)
{
    char text[sizeof v->text] = "";
    const char *at = p->declared.initial;
    if (at == NULL || at[0] != '[') {
        conformance_default(c, p, v);
        return;
    }
    for (uint32_t i = 0; i <= number; i++)
        at = next_item(at, text, sizeof text);
    read_default(c, p, text, v);
    if (p->declared.type == BP_STRING)
        v->value.string = strcpy(v->text, text);
}

/* --- limits of integers ------------------------------------------------------------------------------------------ */

int conformance_bits(uint32_t type)
{
    switch (type) {
    case BP_I8: return -8;
    case BP_U8: return 8;
    case BP_I16: return -16;
    case BP_U16: return 16;
    case BP_I32: return -32;
    case BP_U32: return 32;
    case BP_I64: return -64;
    case BP_U64: return 64;
    default: return 0;
    }
}

/* Integers are compared by rank: signed ones are moved up by half of all, so that the least has the least rank. */
static uint64_t rank_of(uint32_t type, int64_t number)
{
    return conformance_bits(type) < 0 ? (uint64_t)number + (UINT64_C(1) << 63) : (uint64_t)number;
}

static int64_t integer_of(uint32_t type, uint64_t rank)
{
    return (int64_t)(conformance_bits(type) < 0 ? rank - (UINT64_C(1) << 63) : rank);
}

/* The least and the greatest rank of a type. */
static void type_limits(uint32_t type, uint64_t *least, uint64_t *most)
{
    int bits = conformance_bits(type);
    *least = bits < 0 ? (UINT64_C(1) << 63) - (UINT64_C(1) << (-bits - 1)) : 0;
    *most = bits < 0 ? (UINT64_C(1) << 63) + ((UINT64_C(1) << (-bits - 1)) - 1) : UINT64_MAX >> (64 - bits);
}

static uint64_t read_rank(uint32_t type, const char *text)
{
    int base = base_of(text);
    return rank_of(type, type == BP_U64 ? (int64_t)strtoull(text, NULL, base) : strtoll(text, NULL, base));
}

static bool is_given(const char *text)
{
    return text != NULL && text[0] != '\0';
}

void conformance_learn_limits(conformance_property_t *p)
{
    const bp_field_t *f = &p->declared;
    p->min = is_given(f->min) ? bp_real_read(f->min, NULL) : -HUGE_VAL;
    p->max = is_given(f->max) ? bp_real_read(f->max, NULL) : HUGE_VAL;
    if (conformance_bits(f->type) == 0)
        return;
    type_limits(f->type, &p->least, &p->most);
    p->least = is_given(f->min) ? read_rank(f->type, f->min) : p->least;
    p->most = is_given(f->max) ? read_rank(f->type, f->max) : p->most;
}

bool conformance_beyond(const conformance_property_t *p, bool above, bp_value_t *value)
{
    uint64_t least, most;
    type_limits(p->declared.type, &least, &most);
    if (above ? p->most == most : p->least == least)
        return false;
    put_integer(p->declared.type, integer_of(p->declared.type, above ? p->most + 1 : p->least - 1), value);
    return true;
}

/* --- random values --------------------------------------------------------------------------------- */

static double random_share(uint64_t *random)
{
    return (double)(bp_random_next(random) >> 11) / 9007199254740992.0;
}

/* A number from min to max, sometimes one of the two; where there is no limit, of any magnitude that fits a
 * float. */
static double random_number(uint64_t *random, double min, double max)
{
    uint32_t kind = bp_random_below(random, 8);
    if (kind == 0 && min > -HUGE_VAL)
        return min;
    if (kind == 1 && max < HUGE_VAL)
        return max;
    if (min > -HUGE_VAL && max < HUGE_VAL)
        return min + (max - min) * random_share(random);
    double magnitude = ldexp(random_share(random), kind < 6 ? 20 : (int)bp_random_below(random, 240) - 120);
    if (min > -HUGE_VAL)
        return min + magnitude;
    return max < HUGE_VAL ? max - magnitude : bp_random_below(random, 2) == 0 ? magnitude : -magnitude;
}

/* A float in range: rounding must not carry it over a limit. */
static float random_float(uint64_t *random, const conformance_property_t *p)
{
    float number = (float)random_number(random, p->min, p->max);
    if ((double)number < p->min || (double)number > p->max)
        number = (float)(p->min > -HUGE_VAL ? p->min : p->max);
    return number;
}

static int64_t random_integer(uint64_t *random, const conformance_property_t *p)
{
    uint64_t width = p->most - p->least;
    if (bp_random_below(random, 8) == 0)
        return integer_of(p->declared.type, bp_random_below(random, 2) == 0 ? p->least : p->most);
    uint64_t step = bp_random_next(random);
    return integer_of(p->declared.type, p->least + (width == UINT64_MAX ? step : step % (width + 1)));
}

/* Letters, blanks, marks and now and then a letter of two bytes; up to 40 bytes, or 255. */
static void random_text(uint64_t *random, char *text, size_t size)
{
    size_t length = bp_random_below(random, bp_random_below(random, 10) == 0 ? (uint32_t)size : 40);
    for (size_t i = 0; i < length; i++) {
        bool wide = i + 1 < length && bp_random_below(random, 20) == 0;
        text[i] = wide ? '\303' : (char)(' ' + bp_random_below(random, '~' - ' ' + 1));
        if (wide)
            text[++i] = (char)('\240' + (int)bp_random_below(random, 30));
    }
    text[length] = '\0';
}

static bp_quat_t random_turn(uint64_t *random)
{
    double parts[4], length = 0;
    for (int i = 0; i < 4; i++) {
        parts[i] = random_share(random) * 2 - 1;
        length += parts[i] * parts[i];
    }
    if (length < 0.01)
        return (bp_quat_t){0, 1, 0, 0};
    length = sqrt(length);
    return (bp_quat_t){(float)(parts[0] / length), (float)(parts[1] / length), (float)(parts[2] / length),
                       (float)(parts[3] / length)};
}

/* One of the named values, or some of the named bits. */
static void random_named(uint64_t *random, const conformance_property_t *p, bp_value_t *value)
{
    const char *list = p->declared.values, *name;
    size_t length;
    int64_t number = -1, chosen = 0;
    bool bits = (p->declared.flags & BP_FIELD_BITS) != 0;
    for (uint32_t seen = 1; next_named(&list, &name, &length, &number); seen++) {
        if (bits && bp_random_below(random, 2) == 0)
            chosen |= named_part(p, number);
        else if (!bits && bp_random_below(random, seen) == 0)
            chosen = number;
    }
    put_integer(p->declared.type, chosen, value);
}

void conformance_value(conformance_t *c, const conformance_property_t *p, uint64_t seed,
                       conformance_value_t *v)
{
    uint64_t random = seed * 1000003u + p->index;
    uint32_t type = p->declared.type;
    if (seed == 0) {
        conformance_default(c, p, v);
        return;
    }
    begin_value(type, v);
    if (p->declared.values != NULL && p->declared.values[0] != '\0') {
        random_named(&random, p, &v->value);
        return;
    }
    switch (type) {
    case BP_BOOL: v->value.boolean = (uint8_t)bp_random_below(&random, 2); break;
    case BP_I8: case BP_U8: case BP_I16: case BP_U16: case BP_I32: case BP_U32: case BP_I64: case BP_U64:
        put_integer(type, random_integer(&random, p), &v->value);
        break;
    case BP_F64: case BP_DVEC2: case BP_DVEC3: case BP_DVEC4:
        for (uint32_t i = 0; i < double_count(type); i++)
            (&v->value.dvec4.x)[i] = random_number(&random, p->min, p->max);
        break;
    case BP_QUAT: v->value.quat = random_turn(&random); break;
    case BP_STRING: random_text(&random, v->text, sizeof v->text); break;
    case BP_NAME: v->value.name = c->labels[bp_random_below(&random, CONFORMANCE_LABELS)]; break;
    case BP_ENTITY: v->value.entity = c->friends[bp_random_below(&random, CONFORMANCE_FRIENDS)]; break;
    default:
        for (uint32_t i = 0; i < float_count(type); i++)
            v->value.mat4.m[i] = random_float(&random, p);
        break;
    }
}

/* --- comparing ------------------------------------------------------------------------------------- */

static bool same_turn(const float *a, const float *b)
{
    double length_a = 0, length_b = 0;
    for (int i = 0; i < 4; i++) {
        length_a += (double)a[i] * (double)a[i];
        length_b += (double)b[i] * (double)b[i];
    }
    for (int i = 0; i < 4; i++) {
        double difference = (double)a[i] / sqrt(length_a) - (double)b[i] / sqrt(length_b);
        if (!(fabs(difference) < 1e-5))
            return false;
    }
    return true;
}

bool conformance_same(uint32_t type, const void *a, const void *b)
{
    if (type == BP_STRING) {
        const char *text_a, *text_b;
        memcpy(&text_a, a, sizeof text_a);
        memcpy(&text_b, b, sizeof text_b);
        return text_a != NULL && text_b != NULL && strcmp(text_a, text_b) == 0;
    }
    if (memcmp(a, b, conformance_size(type)) == 0)
        return true;
    float turn_a[4], turn_b[4];
    if (type != BP_QUAT)
        return false;
    memcpy(turn_a, a, sizeof turn_a);
    memcpy(turn_b, b, sizeof turn_b);
    return same_turn(turn_a, turn_b);
}

/* Append a number, behind a blank where others are there; returns how much of the text is used now. */
static size_t show_real(char *text, size_t used, double number, int digits)
{
    snprintf(text + used, CONFORMANCE_TEXT - used, "%s", used > 0 ? " " : "");
    used += used > 0;
    snprintf(text + used, CONFORMANCE_TEXT - used, "%.*g", digits, number);
    return used + strlen(bp_real_dot(text + used));
}

const char *conformance_show(uint32_t type, const void *value, char *text)
{
    bp_value_t v;
    size_t used = 0;
    memset(&v, 0, sizeof v);
    memcpy(&v, value, conformance_size(type));
    text[0] = '\0';
    switch (type) {
    case BP_BOOL: snprintf(text, CONFORMANCE_TEXT, "%u", v.boolean); break;
    case BP_I32: snprintf(text, CONFORMANCE_TEXT, "%d", v.i32); break;
    case BP_U32: snprintf(text, CONFORMANCE_TEXT, "%u", v.u32); break;
    case BP_I64: snprintf(text, CONFORMANCE_TEXT, "%lld", (long long)v.i64); break;
    case BP_U64: snprintf(text, CONFORMANCE_TEXT, "%llu", (unsigned long long)v.u64); break;
    case BP_I8: snprintf(text, CONFORMANCE_TEXT, "%d", v.i8); break;
    case BP_U8: snprintf(text, CONFORMANCE_TEXT, "%u", v.u8); break;
    case BP_I16: snprintf(text, CONFORMANCE_TEXT, "%d", v.i16); break;
    case BP_U16: snprintf(text, CONFORMANCE_TEXT, "%u", v.u16); break;
    case BP_F64: case BP_DVEC2: case BP_DVEC3: case BP_DVEC4:
        for (uint32_t i = 0; i < double_count(type); i++)
            used = show_real(text, used, (&v.dvec4.x)[i], 17);
        break;
    case BP_STRING: snprintf(text, CONFORMANCE_TEXT, "\"%s\"", v.string == NULL ? "(null)" : v.string); break;
    case BP_ENTITY: case BP_NAME: snprintf(text, CONFORMANCE_TEXT, "%llx", (unsigned long long)v.name); break;
    default:
        for (uint32_t i = 0; i < float_count(type) && used < CONFORMANCE_TEXT - 20; i++)
            used = show_real(text, used, (double)v.mat4.m[i], 9);
        break;
    }
    return text;
}

/* --- properties of one entity ---------------------------------------------------------------------- */

static const char *own_or(const conformance_t *c, const char *instance)
{
    return instance[0] == '\0' ? c->subject->component : instance;
}

bp_property_t conformance_resolve(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                                  const conformance_property_t *p)
{
    bp_property_t property;
    EXPECT_OK(c, c->api->property->resolve(world, e, own_or(c, instance), p->declared.name, &property));
    EXPECT(c, property.type == p->declared.type, "'%s' is resolved as type %u, declared as %u",
           p->declared.name, property.type, p->declared.type);
    return property;
}

void conformance_expect_value(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                              const conformance_property_t *p, const bp_value_t *expected, const char *when)
{
    char wanted[CONFORMANCE_TEXT], found[CONFORMANCE_TEXT];
    bp_value_t value;
    bp_property_t property = conformance_resolve(c, world, e, instance, p);
    memset(&value, 0, sizeof value);
    EXPECT_OK(c, c->api->property->get(world, &property, &e, 1, &value, sizeof value));
    EXPECT(c, conformance_same(p->declared.type, &value, expected), "%s: '%s' is %.200s instead of %.200s",
           when, p->declared.name, conformance_show(p->declared.type, &value, found),
           conformance_show(p->declared.type, expected, wanted));
}

bool conformance_set(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                     conformance_property_t *p, const bp_value_t *value)
{
    bp_property_t property = conformance_resolve(c, world, e, instance, p);
    conformance_forget_error(c);
    bp_result_t result = c->api->property->set(world, &property, &e, 1, value, sizeof *value);
    EXPECT(c, result == BP_OK || bp_host_error(c->host)[0] != '\0',
           "setting '%s' fails with %d and without a sentence", p->declared.name, result);
    p->refuses = p->refuses || result != BP_OK;
    return result == BP_OK;
}

void conformance_dress(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                       uint64_t seed)
{
    conformance_value_t v;
    for (uint32_t i = 0; i < c->property_count; i++) {
        if (!conformance_is_writable(&c->properties[i]))
            continue;
        conformance_value(c, &c->properties[i], seed, &v);
        conformance_set(c, world, e, instance, &c->properties[i], &v.value);
    }
    for (uint32_t i = 0; i < c->whole_count; i++) {
        if (conformance_is_writable(&c->wholes[i]))
            conformance_set_whole(c, world, e, instance, &c->wholes[i], seed);
    }
}

static bool is_default(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                       const conformance_property_t *p)
{
    conformance_value_t first;
    bp_value_t found;
    bp_property_t property = conformance_resolve(c, world, e, instance, p);
    memset(&found, 0, sizeof found);
    EXPECT_OK(c, c->api->property->get(world, &property, &e, 1, &found, sizeof found));
    return conformance_default(c, p, &first) && conformance_same(p->declared.type, &found, &first.value);
}

void conformance_expect_dressed(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                                uint64_t seed, const char *when)
{
    conformance_value_t wanted;
    for (uint32_t i = 0; i < c->property_count; i++) {
        const conformance_property_t *p = &c->properties[i];
        if (!conformance_is_writable(p) || (p->refuses && is_default(c, world, e, instance, p)))
            continue;
        conformance_value(c, p, seed, &wanted);
        conformance_expect_value(c, world, e, instance, p, &wanted.value, when);
    }
    for (uint32_t i = 0; i < c->whole_count; i++) {
        if (conformance_is_writable(&c->wholes[i]) && !c->wholes[i].refuses)
            conformance_expect_whole(c, world, e, instance, &c->wholes[i], seed, when);
    }
}
