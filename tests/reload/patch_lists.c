/* patch_lists.c - lists of fields as plugins, and what follows from one list after another. */
#include "patch_lists.h"

#include "reload_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t types[] = {BP_BOOL, BP_I32, BP_U32, BP_I64, BP_F32, BP_F64,
                                 BP_VEC2, BP_VEC3, BP_VEC4, BP_QUAT, BP_COLOUR, BP_STRING,
                                 BP_I8, BP_U8, BP_I16, BP_U16, BP_U64, BP_DVEC2, BP_DVEC3, BP_DVEC4};

uint32_t patch_parts(uint32_t type)
{
    switch (type) {
    case BP_VEC2: case BP_DVEC2: return 2;
    case BP_VEC3: case BP_DVEC3: return 3;
    case BP_VEC4: case BP_DVEC4: case BP_QUAT: case BP_COLOUR: return 4;
    case BP_STRING: return 0;
    default: return 1;
    }
}

static bool is_unsigned(uint32_t type)
{
    return type == BP_U8 || type == BP_U16 || type == BP_U32 || type == BP_U64;
}

patch_value_t patch_random_value(uint64_t *random, uint32_t type)
{
    patch_value_t v;
    memset(&v, 0, sizeof v);
    for (uint32_t i = 0; i < patch_parts(type); i++) {
        int number = (int)bp_random_below(random, 7) - 2; /* small, so that conversions often fit: -2 ... 4 */
        v.part[i] = is_unsigned(type) ? fabs((double)number) : (double)number;
        if (type == BP_BOOL)
            v.part[i] = (double)bp_random_below(random, 2);
        if ((type == BP_F32 || type == BP_F64 || patch_parts(type) > 1) && bp_random_below(random, 8) == 0)
            v.part[i] += 0.5;
    }
    if (type == BP_STRING)
        snprintf(v.text, sizeof v.text, "text %u", bp_random_below(random, 5));
    return v;
}

/* --- lists ------------------------------------------------------------------------------------------------- */

static bool has_name(const patch_list_t *list, uint32_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->fields[i].name == name)
            return true;
    }
    return false;
}

static void add_field(uint64_t *random, patch_list_t *list)
{
    uint32_t name = bp_random_below(random, PATCH_NAMES);
    if (list->count == PATCH_FIELDS || has_name(list, name))
        return;
    uint32_t type = types[bp_random_below(random, COUNT(types))];
    list->fields[list->count++] = (patch_field_t){name, PATCH_NAMES, type, patch_random_value(random, type)};
}

static void change_field(uint64_t *random, patch_list_t *list)
{
    if (list->count == 0)
        return;
    uint32_t at = bp_random_below(random, list->count), name = bp_random_below(random, PATCH_NAMES);
    patch_field_t *field = &list->fields[at];
    switch (bp_random_below(random, 5)) {
    case 0: *field = list->fields[--list->count]; break;
    case 1:
        if (!has_name(list, name)) {
            field->former = field->name;
            field->name = name;
        }
        break;
    case 2:
        field->type = types[bp_random_below(random, COUNT(types))];
        field->initial = patch_random_value(random, field->type);
        break;
    case 3: field->initial = patch_random_value(random, field->type); break;
    default: field->former = name; break;
    }
}

static void shuffle(uint64_t *random, patch_list_t *list)
{
    for (uint32_t i = list->count; i > 1; i--) {
        uint32_t other = bp_random_below(random, i);
        patch_field_t kept = list->fields[i - 1];
        list->fields[i - 1] = list->fields[other];
        list->fields[other] = kept;
    }
}

patch_list_t patch_next(uint64_t *random, const patch_list_t *before)
{
    patch_list_t list = *before;
    if (bp_random_below(random, 12) == 0)
        list.count = 0;
    for (uint32_t i = 0; i < list.count; i++)
        list.fields[i].former = PATCH_NAMES;
    for (uint32_t n = bp_random_below(random, 4); n > 0; n--)
        change_field(random, &list);
    for (uint32_t n = list.count == 0 ? 6 : bp_random_below(random, 3); n > 0; n--)
        add_field(random, &list);
    if (bp_random_below(random, 3) == 0)
        shuffle(random, &list);
    return list;
}

/* --- the plugin's file ------------------------------------------------------------------------------------- */

void patch_name(uint32_t name, char *text)
{
    if (name == PATCH_NAMES)
        text[0] = '\0';
    else
        snprintf(text, PATCH_TEXT, "field_%c", (char)('a' + (int)name));
}

static void text_of(const patch_value_t *v, uint32_t type, char *text)
{
    size_t used = 0;
    if (type == BP_STRING || type == BP_ENTITY) {
        snprintf(text, PATCH_TEXT, "%s", type == BP_ENTITY ? "none" : v->text);
        return;
    }
    for (uint32_t i = 0; i < patch_parts(type); i++)
        used += (size_t)snprintf(text + used, PATCH_TEXT - used, "%s%g", i > 0 ? " " : "", v->part[i]);
}

static char *find(char *bytes, size_t size, const void *mark, size_t length)
{
    for (size_t i = 0; i + length <= size; i++) {
        if (memcmp(bytes + i, mark, length) == 0)
            return bytes + i;
    }
    ck_abort_msg("a mark is not in the fixture");
    return NULL;
}

void patch_open(patch_file_t *p)
{
    static const char *const marks[] = {"@name", "@init", "@frmr"};
    uint32_t number = 0x5EEDC0DEu;
    p->bytes = fixture_bytes("reload_patch", &p->size);
    forget_checksum(p->bytes, p->size);
    p->count = find(p->bytes, p->size, &number, sizeof number);
    for (uint32_t i = 0; i < PATCH_FIELDS; i++) {
        number = 0x5EED0000u + i;
        p->types[i] = find(p->bytes, p->size, &number, sizeof number);
        for (uint32_t k = 0; k < 3; k++) {
            char mark[16];
            snprintf(mark, sizeof mark, "%s%u@", marks[k], i);
            p->texts[i][k] = find(p->bytes, p->size, mark, strlen(mark));
        }
    }
}

void patch_put(const patch_file_t *p, const patch_list_t *list)
{
    memcpy(p->count, &list->count, sizeof list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const patch_field_t *d = &list->fields[i];
        char text[3][PATCH_TEXT];
        patch_name(d->name, text[0]);
        text_of(&d->initial, d->type, text[1]);
        patch_name(d->former, text[2]);
        memcpy(p->types[i], &d->type, sizeof d->type);
        for (uint32_t k = 0; k < 3; k++)
            memcpy(p->texts[i][k], text[k], PATCH_TEXT);
    }
    put_bytes(p->bytes, p->size, "patch");
}

/* --- the oracle -------------------------------------------------------------------------------------------- */

const patch_field_t *patch_find(const patch_list_t *list, uint32_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->fields[i].name == name)
            return &list->fields[i];
    }
    return NULL;
}

const patch_field_t *patch_source(const patch_list_t *old, const patch_list_t *list, const patch_field_t *field)
{
    const patch_field_t *source = patch_find(old, field->name);
    if (source == NULL && field->former != PATCH_NAMES && patch_find(list, field->former) == NULL)
        source = patch_find(old, field->former);
    return source;
}

uint32_t patch_after(const patch_list_t *old, const patch_list_t *list, uint32_t name, bool same)
{
    const patch_field_t *from = name == PATCH_NAMES ? NULL : patch_find(old, name);
    for (uint32_t i = 0; i < list->count && from != NULL; i++) {
        if (patch_source(old, list, &list->fields[i]) == from && (!same || list->fields[i].type == from->type))
            return list->fields[i].name;
    }
    return PATCH_NAMES;
}

uint32_t patch_before(const patch_list_t *old, const patch_list_t *list, uint32_t name, bool same)
{
    const patch_field_t *field = name == PATCH_NAMES ? NULL : patch_find(list, name);
    const patch_field_t *from = field == NULL ? NULL : patch_source(old, list, field);
    return from == NULL || (same && from->type != field->type) ? PATCH_NAMES : from->name;
}

static bool is_integer(double x, double least, double most)
{
    return x == floor(x) && x >= least && x <= most;
}

/* A value of one field as one of another; false where it cannot be. */
static bool convert(const patch_field_t *old, const patch_value_t *from, const patch_field_t *field, patch_value_t *to)
{
    uint32_t n = patch_parts(old->type), wanted = patch_parts(field->type);
    *to = field->initial;
    if (old->type == BP_STRING || field->type == BP_STRING) {
        *to = *from;
        return old->type == field->type;
    }
    if ((n == 1) != (wanted == 1))
        return false;
    for (uint32_t i = 0; i < n && i < wanted; i++)
        to->part[i] = from->part[i];
    for (uint32_t i = wanted; i < n; i++) {
        if (from->part[i] != old->initial.part[i])
            return false;
    }
    switch (field->type) {
    case BP_BOOL: return is_integer(to->part[0], 0, 1);
    case BP_I8: return is_integer(to->part[0], -128, 127);
    case BP_U8: return is_integer(to->part[0], 0, 255);
    case BP_I16: return is_integer(to->part[0], -32768, 32767);
    case BP_U16: return is_integer(to->part[0], 0, 65535);
    case BP_U32:
    case BP_U64: return is_integer(to->part[0], 0, 4294967295.0);
    case BP_I32:
    case BP_I64: return is_integer(to->part[0], -2147483648.0, 2147483647.0);
    default: return true;
    }
}

bool patch_foresee(const patch_list_t *old, const patch_values_t *values, const patch_list_t *list,
                   patch_values_t *next, uint32_t rows)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const patch_field_t *field = &list->fields[i], *source = patch_source(old, list, field);
        for (uint32_t k = 0; k < i && source != NULL; k++) {
            if (patch_source(old, list, &list->fields[k]) == source)
                return false;
        }
        for (uint32_t r = 0; r < rows; r++) {
            if (source == NULL)
                next[r].of[field->name] = field->initial;
            else if (!convert(source, &values[r].of[source->name], field, &next[r].of[field->name]))
                return false;
        }
    }
    return true;
}

/* --- values ------------------------------------------------------------------------------------------------ */

void patch_pack(const patch_value_t *v, uint32_t type, bp_value_t *value)
{
    memset(value, 0, sizeof *value);
    switch (type) {
    case BP_BOOL: value->boolean = (uint8_t)v->part[0]; break;
    case BP_I32: value->i32 = (int32_t)v->part[0]; break;
    case BP_U32: value->u32 = (uint32_t)v->part[0]; break;
    case BP_I64: value->i64 = (int64_t)v->part[0]; break;
    case BP_I8: value->i8 = (int8_t)v->part[0]; break;
    case BP_U8: value->u8 = (uint8_t)v->part[0]; break;
    case BP_I16: value->i16 = (int16_t)v->part[0]; break;
    case BP_U16: value->u16 = (uint16_t)v->part[0]; break;
    case BP_U64: value->u64 = (uint64_t)v->part[0]; break;
    case BP_F64:
    case BP_DVEC2:
    case BP_DVEC3:
    case BP_DVEC4: memcpy(value, v->part, patch_parts(type) * sizeof(double)); break;
    case BP_STRING: value->string = v->text; break;
    default:
        for (uint32_t i = 0; i < patch_parts(type); i++)
            value->mat4.m[i] = (float)v->part[i];
        break;
    }
}

size_t patch_size(uint32_t type)
{
    switch (type) {
    case BP_BOOL: case BP_I8: case BP_U8: return 1;
    case BP_I16: case BP_U16: return 2;
    case BP_I32: case BP_U32: return 4;
    case BP_I64: case BP_U64: case BP_STRING: return 8;
    case BP_F64: case BP_DVEC2: case BP_DVEC3: case BP_DVEC4: return patch_parts(type) * sizeof(double);
    default: return patch_parts(type) * sizeof(float);
    }
}

bool patch_same(const patch_value_t *v, uint32_t type, const bp_value_t *value)
{
    bp_value_t wanted;
    patch_pack(v, type, &wanted);
    if (type == BP_STRING)
        return strcmp(value->string, wanted.string) == 0;
    return memcmp(value, &wanted, patch_size(type)) == 0;
}
