/* test_reload_random.c - random lists of fields, one reload after another, against an oracle that knows names and values alone.
 *
 * The oracle keeps, for each entity and each name, what its value is; it knows no columns, runs or plans, and its rules of
 * conversion are written down here once more, from docs/reload.md. A list follows from the one before by changing it here and there, so
 * that most pairs are close, as versions of a plugin are, or it is new altogether. Where the oracle says that a value
 * cannot become what is asked, the reload must be refused and every value stand.
 *
 * RELOAD_PAIRS is the number of pairs, 1,000 where it is not set.
 */
#include "../suites.h"
#include "reload_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 10, NAMES = 14, ENTITIES = 24, TEXT = 24 };

typedef struct value_t {
    double part[4];
    char text[TEXT];
} value_t;

typedef struct declared_t {
    uint32_t name;   /* of NAMES */
    uint32_t former; /* NAMES: none */
    uint32_t type;
    value_t initial;
} declared_t;

typedef struct list_t {
    declared_t fields[FIELDS];
    uint32_t count;
} list_t;

typedef struct model_t {
    scene_t *scene;
    list_t list;
    bp_entity_t entities[ENTITIES];
    value_t values[ENTITIES][NAMES]; /* of the names in the list */
    uint64_t random;
    uint32_t made, refused;
} model_t;

static const uint32_t types[] = {BP_BOOL, BP_I32, BP_U32, BP_I64, BP_F32, BP_F64, BP_VEC2, BP_VEC3, BP_VEC4, BP_QUAT, BP_COLOUR, BP_STRING};

static uint32_t below(model_t *m, uint32_t bound)
{
    return bp_random_below(&m->random, bound);
}

static uint32_t parts(uint32_t type)
{
    return type <= BP_F64 ? 1 : type == BP_VEC2 ? 2 : type == BP_VEC3 ? 3 : type == BP_STRING ? 0 : 4;
}

static value_t random_value(model_t *m, uint32_t type)
{
    value_t v;
    memset(&v, 0, sizeof v);
    for (uint32_t i = 0; i < parts(type); i++) {
        int number = (int)below(m, 7) - 2; /* small, so that conversions often fit: -2 ... 4 */
        v.part[i] = type == BP_BOOL ? (double)below(m, 2) : type == BP_U32 ? fabs((double)number) : (double)number;
        if ((type == BP_F32 || type == BP_F64 || parts(type) > 1) && below(m, 8) == 0)
            v.part[i] += 0.5;
    }
    if (type == BP_STRING)
        snprintf(v.text, sizeof v.text, "text %u", below(m, 5));
    return v;
}

/* --- lists -------------------------------------------------------------------------------------------------------- */

static bool has_name(const list_t *list, uint32_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->fields[i].name == name)
            return true;
    }
    return false;
}

static void add_field(model_t *m, list_t *list)
{
    uint32_t name = below(m, NAMES);
    if (list->count == FIELDS || has_name(list, name))
        return;
    uint32_t type = types[below(m, COUNT(types))];
    list->fields[list->count++] = (declared_t){name, NAMES, type, random_value(m, type)};
}

static void change_field(model_t *m, list_t *list)
{
    if (list->count == 0)
        return;
    uint32_t at = below(m, list->count), name = below(m, NAMES);
    declared_t *field = &list->fields[at];
    switch (below(m, 5)) {
    case 0: *field = list->fields[--list->count]; break;
    case 1:
        if (!has_name(list, name)) {
            field->former = field->name;
            field->name = name;
        }
        break;
    case 2:
        field->type = types[below(m, COUNT(types))];
        field->initial = random_value(m, field->type);
        break;
    case 3: field->initial = random_value(m, field->type); break;
    default: field->former = name; break;
    }
}

static void shuffle(model_t *m, list_t *list)
{
    for (uint32_t i = list->count; i > 1; i--) {
        uint32_t other = below(m, i);
        declared_t kept = list->fields[i - 1];
        list->fields[i - 1] = list->fields[other];
        list->fields[other] = kept;
    }
}

static list_t next_list(model_t *m)
{
    list_t list = m->list;
    if (below(m, 12) == 0)
        list.count = 0;
    for (uint32_t i = 0; i < list.count; i++)
        list.fields[i].former = NAMES;
    for (uint32_t n = below(m, 4); n > 0; n--)
        change_field(m, &list);
    for (uint32_t n = list.count == 0 ? 6 : below(m, 3); n > 0; n--)
        add_field(m, &list);
    if (below(m, 3) == 0)
        shuffle(m, &list);
    return list;
}

/* --- the plugin's file ---------------------------------------------------------------------------------------------- */

static void name_of(uint32_t name, char *text)
{
    if (name == NAMES)
        text[0] = '\0';
    else
        snprintf(text, TEXT, "field_%c", (char)('a' + (int)name));
}

static void text_of(const value_t *v, uint32_t type, char *text)
{
    size_t used = 0;
    if (type == BP_STRING) {
        snprintf(text, TEXT, "%s", v->text);
        return;
    }
    for (uint32_t i = 0; i < parts(type); i++)
        used += (size_t)snprintf(text + used, TEXT - used, "%s%g", i > 0 ? " " : "", v->part[i]);
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

typedef struct patch_t {
    char *bytes;
    size_t size;
    char *texts[FIELDS][3], *types[FIELDS], *count; /* where the marks are */
} patch_t;

static void open_patch(patch_t *p)
{
    static const char *const marks[] = {"@name", "@init", "@frmr"};
    uint32_t number = 0x5EEDC0DEu;
    p->bytes = fixture_bytes("reload_patch", &p->size);
    p->count = find(p->bytes, p->size, &number, sizeof number);
    for (uint32_t i = 0; i < FIELDS; i++) {
        number = 0x5EED0000u + i;
        p->types[i] = find(p->bytes, p->size, &number, sizeof number);
        for (uint32_t k = 0; k < 3; k++) {
            char mark[16];
            snprintf(mark, sizeof mark, "%s%u@", marks[k], i);
            p->texts[i][k] = find(p->bytes, p->size, mark, strlen(mark));
        }
    }
}

static void put_list(const patch_t *p, const list_t *list)
{
    memcpy(p->count, &list->count, sizeof list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const declared_t *d = &list->fields[i];
        char text[3][TEXT];
        name_of(d->name, text[0]);
        text_of(&d->initial, d->type, text[1]);
        name_of(d->former, text[2]);
        memcpy(p->types[i], &d->type, sizeof d->type);
        for (uint32_t k = 0; k < 3; k++)
            memcpy(p->texts[i][k], text[k], TEXT);
    }
    put_bytes(p->bytes, p->size, "patch");
}

/* --- the oracle ------------------------------------------------------------------------------------------------------- */

static const declared_t *find_field(const list_t *list, uint32_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->fields[i].name == name)
            return &list->fields[i];
    }
    return NULL;
}

/* The old field that goes on as `field`: of its own name, else of its former one, unless somebody still bears that. */
static const declared_t *source_of(const list_t *old, const list_t *list, const declared_t *field)
{
    const declared_t *source = find_field(old, field->name);
    if (source == NULL && field->former != NAMES && find_field(list, field->former) == NULL)
        source = find_field(old, field->former);
    return source;
}

static bool is_integer(double x, double least, double most)
{
    return x == floor(x) && x >= least && x <= most;
}

/* A value of one field as one of another; false where it cannot be. */
static bool convert(const declared_t *old, const value_t *from, const declared_t *field, value_t *to)
{
    uint32_t n = parts(old->type), wanted = parts(field->type);
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
    case BP_U32: return is_integer(to->part[0], 0, 4294967295.0);
    case BP_I32:
    case BP_I64: return is_integer(to->part[0], -2147483648.0, 2147483647.0);
    default: return true;
    }
}

/* All that follows from a list; false where it must be refused. */
static bool foresee(const model_t *m, const list_t *list, value_t (*values)[NAMES])
{
    for (uint32_t i = 0; i < list->count; i++) {
        const declared_t *field = &list->fields[i], *source = source_of(&m->list, list, field);
        for (uint32_t k = 0; k < i && source != NULL; k++) {
            if (source_of(&m->list, list, &list->fields[k]) == source)
                return false;
        }
        for (uint32_t e = 0; e < ENTITIES; e++) {
            if (source == NULL)
                values[e][field->name] = field->initial;
            else if (!convert(source, &m->values[e][source->name], field, &values[e][field->name]))
                return false;
        }
    }
    return true;
}

/* --- values in the world ------------------------------------------------------------------------------------------------ */

static void pack(const value_t *v, uint32_t type, bp_value_t *value)
{
    memset(value, 0, sizeof *value);
    switch (type) {
    case BP_BOOL: value->boolean = (uint8_t)v->part[0]; break;
    case BP_I32: value->i32 = (int32_t)v->part[0]; break;
    case BP_U32: value->u32 = (uint32_t)v->part[0]; break;
    case BP_I64: value->i64 = (int64_t)v->part[0]; break;
    case BP_F64: value->f64 = v->part[0]; break;
    case BP_STRING: value->string = v->text; break;
    default:
        for (uint32_t i = 0; i < parts(type); i++)
            value->mat4.m[i] = (float)v->part[i];
        break;
    }
}

static void expect_value(model_t *m, uint32_t e, const declared_t *field)
{
    char name[TEXT];
    bp_value_t value, wanted;
    name_of(field->name, name);
    memset(&value, 0, sizeof value);
    pack(&m->values[e][field->name], field->type, &wanted);
    WORKS(m->scene->host, m->scene->api->property->get_named(m->scene->world, m->entities[e], e % 3 == 2 ? "second" : "patch", name,
                                                             field->type, &value));
    if (field->type == BP_STRING)
        EXPECT(strcmp(value.string, wanted.string) == 0, "%s of %u is '%s', not '%s'", name, e, value.string, wanted.string);
    else
        EXPECT(memcmp(&value, &wanted, sizeof value) == 0, "%s (type %u) of %u is not %g", name, field->type, e,
               m->values[e][field->name].part[0]);
}

static void change_values(model_t *m)
{
    for (uint32_t n = m->list.count == 0 ? 0 : below(m, 20); n > 0; n--) {
        uint32_t e = below(m, ENTITIES);
        const declared_t *field = &m->list.fields[below(m, m->list.count)];
        char name[TEXT];
        bp_value_t value;
        name_of(field->name, name);
        m->values[e][field->name] = random_value(m, field->type);
        pack(&m->values[e][field->name], field->type, &value);
        WORKS(m->scene->host, m->scene->api->property->set_named(m->scene->world, m->entities[e], e % 3 == 2 ? "second" : "patch", name,
                                                                 field->type, &value));
    }
}

/* --- the test --------------------------------------------------------------------------------------------------------------- */

static void open_model(model_t *m, scene_t *scene, const patch_t *patch)
{
    static const char *const beside[] = {"body", "label", "pool"};
    memset(m, 0, sizeof *m);
    m->scene = scene;
    m->random = 2;
    put_list(patch, &m->list);
    WORKS(scene->host, bp_host_load_plugin(scene->host, TEST_SCRATCH_DIR "/patch.so", NULL, 0));
    WORKS(scene->host, bp_world_use_component(scene->world, "patch"));
    uint32_t keys[] = {key_of(scene->world, "patch", ""), key_of(scene->world, "patch", "second")};
    WORKS(scene->host, scene->api->entity->create(scene->host, m->entities, ENTITIES));
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t b = 0; b < COUNT(beside); b++) {
            if ((e >> b & 1) != 0)
                WORKS(scene->host, scene->api->world->add(scene->world, key_of(scene->world, beside[b], ""), &m->entities[e], 1));
        }
        for (uint32_t k = 0; k < 2; k++) {
            if ((e % 3 == 2) == (k == 1) || e % 5 == 0)
                WORKS(scene->host, scene->api->world->add(scene->world, keys[k], &m->entities[e], 1));
        }
    }
}

static void reload_once(model_t *m, const patch_t *patch)
{
    static const char *const names[] = {"patch"};
    static value_t values[ENTITIES][NAMES];
    list_t list = next_list(m);
    bool possible = foresee(m, &list, values);
    put_list(patch, &list);
    bp_result_t result = bp_host_reload(m->scene->host, names, 1, NULL);
    EXPECT(possible == (result == BP_OK), "pair %u: %s", m->made + m->refused, result == BP_OK ? "it was taken" : bp_host_error(m->scene->host));
    scene_clear_log(m->scene);
    m->made += possible;
    m->refused += !possible;
    if (possible) {
        m->list = list;
        memcpy(m->values, values, sizeof values);
    }
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t i = 0; i < m->list.count; i++)
            expect_value(m, e, &m->list.fields[i]);
    }
    change_values(m);
}

static uint32_t pair_count(void)
{
    const char *asked = getenv("RELOAD_PAIRS");
    return asked != NULL ? (uint32_t)strtoul(asked, NULL, 10) : 1000;
}

START_TEST(random_lists_of_fields_come_to_what_names_say)
{
    static scene_t scene;
    static model_t model;
    patch_t patch;
    uint32_t pairs = pair_count();
    scene_open(&scene, 1);
    scene.host->reload.probation_steps = _i == 0 ? 0 : 5;
    open_patch(&patch);
    open_model(&model, &scene, &patch);
    /* Values that no entity has been given yet are the defaults. */
    for (uint32_t n = 0; n < pairs / 2; n++) {
        reload_once(&model, &patch);
        if (n % 50 == 0) {
            reload_accept(&scene.host->reload);
            check_host(scene.host);
            WORKS(scene.host, bp_host_step(scene.host));
        }
    }
    ck_assert_uint_gt(model.made, pairs / 8);
    ck_assert_uint_gt(model.refused, pairs / 40);
    free(patch.bytes);
    reload_accept(&scene.host->reload);
    scene_close(&scene);
}
END_TEST

Suite *reload_random_suite(void)
{
    Suite *suite = suite_create("reload_random");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 120);
    tcase_add_loop_test(random, random_lists_of_fields_come_to_what_names_say, 0, 2);
    suite_add_tcase(suite, random);
    return suite;
}
