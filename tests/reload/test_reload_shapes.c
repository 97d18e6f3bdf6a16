/* test_reload_shapes.c - random lists of fields that are lists, arrays and single values, one reload after another,
 * against a plain model: what docs/reload.md says becomes of values, written down once more with arrays of doubles.
 *
 * Some reloads are taken back, and in some an allocation fails: then every value is what it was. Entities come and go
 * meanwhile, and lists grow and shrink.
 */
#include "../suites.h"
#include "reload_support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 6, NAMES = 8, MOST = 6, ENTITIES = 20, TEXT = 24, ROUNDS = 600, SINGLE = 1, LIST = 0 };

static const uint32_t types[] = {BP_I32, BP_I8, BP_U8, BP_I64, BP_F32, BP_F64, BP_STRING, BP_VEC2};

/* Items of a cell; of a vector both parts are the number, of a text it is the number. */
typedef struct cell_t {
    uint32_t count;
    double items[MOST];
} cell_t;

typedef struct shape_t {
    uint32_t name, type, count; /* LIST, SINGLE, or the elements of an array */
    double initial;
} shape_t;

typedef struct shapes_t {
    shape_t fields[FIELDS];
    uint32_t count;
} shapes_t;

static rig_t rig;
static bp_host_o *host;
static const bp_api_t *api;
static bp_world_o *world;
static uint64_t dice;
static shapes_t now;
static bp_entity_t entities[ENTITIES];
static cell_t cells[ENTITIES][NAMES];

static struct {
    char *bytes;
    size_t size;
    char *texts[FIELDS][2], *numbers[FIELDS][3], *count;
} file;

static uint32_t below(uint32_t bound)
{
    return bp_random_below(&dice, bound);
}

/* --- the plugin's file -------------------------------------------------------------------------------------------- */

static char *find(const void *mark, size_t length)
{
    for (size_t i = 0; i + length <= file.size; i++) {
        if (memcmp(file.bytes + i, mark, length) == 0)
            return file.bytes + i;
    }
    ck_abort_msg("a mark is not in the fixture");
    return NULL;
}

static void open_file(void)
{
    static const char *const marks[] = {"@shape_name", "@shape_init"};
    uint32_t number = 0x51EDC0DEu;
    file.bytes = fixture_bytes("reload_shapes", &file.size);
    forget_checksum(file.bytes, file.size);
    file.count = find(&number, sizeof number);
    for (uint32_t i = 0; i < FIELDS; i++) {
        for (uint32_t k = 0; k < 3; k++) {
            number = 0x51ED0000u + 0x1000u * k + i;
            file.numbers[i][k] = find(&number, sizeof number);
        }
        for (uint32_t k = 0; k < 2; k++) {
            char mark[24];
            snprintf(mark, sizeof mark, "%s%u@", marks[k], i);
            file.texts[i][k] = find(mark, strlen(mark));
        }
    }
}

static void put_file(const shapes_t *list)
{
    memcpy(file.count, &list->count, sizeof list->count);
    for (uint32_t i = 0; i < list->count; i++) {
        const shape_t *f = &list->fields[i];
        uint32_t numbers[] = {f->type, f->count == LIST ? BP_FIELD_LIST : 0u, f->count};
        for (uint32_t k = 0; k < 3; k++)
            memcpy(file.numbers[i][k], &numbers[k], sizeof numbers[k]);
        memset(file.texts[i][1], 0, TEXT);
        snprintf(file.texts[i][0], TEXT, "field_%c", (char)('a' + (int)f->name));
        if (f->count != LIST && f->type == BP_VEC2)
            snprintf(file.texts[i][1], TEXT, "%d %d", (int)f->initial, (int)f->initial);
        else if (f->count != LIST)
            snprintf(file.texts[i][1], TEXT, "%g", f->initial);
    }
    put_bytes(file.bytes, file.size, "shapes");
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static double random_item(uint32_t type)
{
    double item = below(4) == 0 ? (double)below(300) : (double)below(5);
    bool is_unsigned = type == BP_U8, is_byte = type == BP_U8 || type == BP_I8;
    if (is_byte)
        item = (double)below(100);
    if (!is_unsigned && type != BP_STRING && below(3) == 0)
        item = -item;
    if ((type == BP_F32 || type == BP_F64) && below(12) == 0)
        item += 0.5;
    return item;
}

static cell_t random_cell(const shape_t *f)
{
    cell_t cell = {.count = f->count == LIST ? below(MOST + 1) : f->count};
    for (uint32_t i = 0; i < cell.count; i++)
        cell.items[i] = random_item(f->type);
    return cell;
}

static cell_t initial_cell(const shape_t *f)
{
    cell_t cell = {.count = f->count};
    for (uint32_t i = 0; i < cell.count; i++)
        cell.items[i] = f->initial;
    return cell;
}

/* Packed items as the contract has them. `texts` holds those of strings. */
static void pack(const cell_t *cell, uint32_t type, char *bytes, char texts[MOST][TEXT])
{
    for (uint32_t i = 0; i < cell->count; i++) {
        double item = cell->items[i];
        switch (type) {
        case BP_I32: ((int32_t *)(void *)bytes)[i] = (int32_t)item; break;
        case BP_I8: ((int8_t *)(void *)bytes)[i] = (int8_t)item; break;
        case BP_U8: ((uint8_t *)(void *)bytes)[i] = (uint8_t)item; break;
        case BP_I64: ((int64_t *)(void *)bytes)[i] = (int64_t)item; break;
        case BP_F32: ((float *)(void *)bytes)[i] = (float)item; break;
        case BP_F64: ((double *)(void *)bytes)[i] = item; break;
        case BP_VEC2: ((bp_vec2_t *)(void *)bytes)[i] = (bp_vec2_t){(float)item, (float)item}; break;
        default:
            snprintf(texts[i], TEXT, "%g", item);
            ((const char **)(void *)bytes)[i] = texts[i];
            break;
        }
    }
}

static double unpack(uint32_t type, const char *bytes, uint32_t i)
{
    switch (type) {
    case BP_I32: return ((const int32_t *)(const void *)bytes)[i];
    case BP_I8: return ((const int8_t *)(const void *)bytes)[i];
    case BP_U8: return ((const uint8_t *)(const void *)bytes)[i];
    case BP_I64: return (double)((const int64_t *)(const void *)bytes)[i];
    case BP_F32: return ((const float *)(const void *)bytes)[i];
    case BP_F64: return ((const double *)(const void *)bytes)[i];
    case BP_VEC2: return ((const bp_vec2_t *)(const void *)bytes)[i].y;
    default: return strtod(((const char *const *)(const void *)bytes)[i], NULL);
    }
}

static bp_property_t resolve(uint32_t e, const shape_t *f)
{
    char name[TEXT];
    bp_property_t property;
    snprintf(name, sizeof name, "field_%c", (char)('a' + (int)f->name));
    WORKS(host, api->property->resolve(world, entities[e], "shapes", name, &property));
    return property;
}

static void expect_cell(uint32_t e, const shape_t *f)
{
    _Alignas(16) char bytes[MOST * 16];
    bp_property_t property = resolve(e, f);
    const cell_t *cell = &cells[e][f->name];
    const char *items = bytes;
    uint32_t count = property.count;
    EXPECT((property.count == 0) == (f->count == LIST), "another shape");
    WORKS(host, api->property->get(world, &property, &entities[e], 1, bytes, 0));
    if (f->count == LIST) {
        bp_list_t list;
        memcpy(&list, bytes, sizeof list);
        items = list.items;
        count = list.count;
    }
    EXPECT(count == cell->count, "field %u of %u has %u items instead of %u", f->name, e, count, cell->count);
    for (uint32_t i = 0; i < count; i++)
        EXPECT(unpack(f->type, items, i) == cell->items[i], "field %u (type %u) of %u: item %u is %g instead of %g",
               f->name, f->type, e, i, unpack(f->type, items, i), cell->items[i]);
}

static void expect_all(void)
{
    for (uint32_t e = 0; e < ENTITIES; e++) {
        for (uint32_t i = 0; i < now.count; i++)
            expect_cell(e, &now.fields[i]);
    }
}

static void set_cell(uint32_t e, const shape_t *f)
{
    _Alignas(16) char bytes[MOST * 16];
    char texts[MOST][TEXT];
    bp_property_t property = resolve(e, f);
    cells[e][f->name] = random_cell(f);
    const cell_t *cell = &cells[e][f->name];
    pack(cell, f->type, bytes, texts);
    bp_list_t list = {.items = bytes, .count = cell->count, .capacity = cell->count};
    const void *value = f->count == LIST ? (const void *)&list : bytes;
    WORKS(host, api->property->set(world, &property, &entities[e], 1, value, 0));
}

/* An entity dies and another one comes, in another run for some: rows move. */
static void replace(uint32_t e)
{
    ck_assert_uint_eq(api->entity->destroy(host, &entities[e], 1), 1);
    WORKS(host, api->world->create(world, prototype_of(world, "shapes", e % 2 == 0 ? "body" : NULL, NULL, NULL),
                                   &entities[e], 1));
    for (uint32_t i = 0; i < now.count; i++)
        cells[e][now.fields[i].name] = initial_cell(&now.fields[i]);
}

/* --- lists, and what follows from them ---------------------------------------------------------------------------- */

static shape_t *field_of(shapes_t *list, uint32_t name)
{
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->fields[i].name == name)
            return &list->fields[i];
    }
    return NULL;
}

static shape_t random_shape(uint32_t name)
{
    static const uint32_t counts[] = {LIST, LIST, SINGLE, 2, 3, 4};
    shape_t f = {.name = name, .type = types[below(COUNT(types))], .count = counts[below(COUNT(counts))]};
    f.initial = f.type == BP_STRING || f.type == BP_U8 ? (double)below(9) : (double)below(9) - 4;
    if (f.count == LIST)
        f.initial = 0;
    return f;
}

static shapes_t next_list(void)
{
    shapes_t list = now;
    for (uint32_t n = 1 + below(2); n > 0 && list.count > 0; n--) {
        shape_t *f = &list.fields[below(list.count)];
        shape_t fresh = random_shape(f->name);
        if (below(6) == 0) {
            *f = list.fields[--list.count];
        } else if (below(2) == 0) { /* another shape, of the same values */
            fresh.type = f->type;
            fresh.initial = f->type == BP_U8 || f->type == BP_STRING ? fabs(fresh.initial) : fresh.initial;
            *f = fresh;
        } else {
            *f = fresh;
        }
    }
    while (list.count < 3 || (list.count < FIELDS && below(4) == 0)) {
        uint32_t name = below(NAMES);
        if (field_of(&list, name) == NULL)
            list.fields[list.count++] = random_shape(name);
    }
    return list;
}

static bool fits(double item, uint32_t from, uint32_t to)
{
    double least = to == BP_I8 ? -128 : to == BP_U8 ? 0 : -1e9, most = to == BP_I8 ? 127 : to == BP_U8 ? 255 : 1e9;
    if (from == to)
        return true;
    if (from == BP_STRING || to == BP_STRING || from == BP_VEC2 || to == BP_VEC2)
        return false;
    return to == BP_F32 || to == BP_F64 || (item == floor(item) && item >= least && item <= most);
}

/* Can values of these types never become each other, whatever they are? */
static bool strangers(uint32_t from, uint32_t to)
{
    return from != to && (from == BP_STRING || to == BP_STRING || from == BP_VEC2 || to == BP_VEC2);
}

/* One cell as that of another field; false where it cannot be. */
static bool convert(const shape_t *old, const cell_t *from, const shape_t *f, cell_t *to)
{
    *to = initial_cell(f);
    if (strangers(old->type, f->type))
        return false;
    if (old->count == LIST && f->count != LIST && from->count > f->count)
        return false;
    if (f->count == LIST)
        to->count = from->count;
    for (uint32_t i = 0; i < from->count && i < to->count; i++) {
        to->items[i] = from->items[i];
        if (!fits(from->items[i], old->type, f->type))
            return false;
    }
    return true;
}

static bool foresee(shapes_t *list, cell_t next[ENTITIES][NAMES])
{
    for (uint32_t i = 0; i < list->count; i++) {
        const shape_t *f = &list->fields[i], *old = field_of(&now, f->name);
        for (uint32_t e = 0; e < ENTITIES; e++) {
            if (old == NULL)
                next[e][f->name] = initial_cell(f);
            else if (!convert(old, &cells[e][f->name], f, &next[e][f->name]))
                return false;
        }
    }
    return true;
}

/* --- the test ----------------------------------------------------------------------------------------------------- */

static uint32_t made, refused, failed, returned;

static void reload_once(void)
{
    static const char *const names[] = {"shapes"};
    static cell_t next[ENTITIES][NAMES];
    shapes_t list = next_list(), before = now;
    bool possible = foresee(&list, next), fails = below(3) == 0;
    put_file(&list);
    if (fails) {
        rig.heap.refuse_first = rig.heap.requests + 1 + below(150);
        rig.heap.refuse_last = rig.heap.refuse_first + below(3);
    }
    bp_result_t result = bp_host_reload(host, names, 1, NULL);
    bool met = fails && rig.heap.requests >= rig.heap.refuse_first;
    rig.heap.refuse_first = 0;
    EXPECT(result != BP_OK || possible, "it was taken");
    EXPECT(result == BP_OK || !possible || met, "it was refused: %s", bp_host_error(host));
    made += result == BP_OK;
    failed += result == BP_ERROR_MEMORY;
    refused += !possible;
    if (result != BP_OK)
        return;
    now = list;
    if (host->reload.probation == NULL || below(3) != 0) {
        memcpy(cells, next, sizeof cells);
        return;
    }
    cell_t kept[ENTITIES][NAMES];
    memcpy(kept, cells, sizeof kept);
    memcpy(cells, next, sizeof cells);
    expect_all();
    replace(1);
    memcpy(cells, kept, sizeof cells);
    now = before;
    WORKS(host, reload_rollback(&host->reload));
    replace(1); /* who came meanwhile has what both versions have in common; who comes now has the old defaults */
    returned++;
}

START_TEST(lists_arrays_and_values_become_each_other_as_the_rules_say)
{
    dice = 31 + (uint64_t)_i;
    made = refused = failed = returned = 0;
    rig_init(&rig);
    rig_open(&rig);
    host = rig.host;
    api = rig.api;
    host->reload.probation_steps = _i == 0 ? 0 : 5;
    for (uint32_t i = 0; i < ZOO_PLUGINS; i++)
        WORKS(host, bp_host_load_plugin(host, zoo_plugins[i]->name, NULL, 0));
    open_file();
    now = (shapes_t){.count = 0};
    now = next_list();
    put_file(&now);
    WORKS(host, bp_host_load_plugin(host, TEST_SCRATCH_DIR "/shapes" TEST_SO, NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "body"));
    WORKS(host, bp_world_use_component(world, "shapes"));
    WORKS(host, api->entity->create(host, entities, ENTITIES));
    for (uint32_t e = 0; e < ENTITIES; e++)
        replace(e);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        reload_once();
        expect_all();
        for (uint32_t n = below(12); n > 0; n--)
            set_cell(below(ENTITIES), &now.fields[below(now.count)]);
        if (below(4) == 0)
            replace(below(ENTITIES));
        if (round % 40 == 0) {
            reload_accept(&host->reload);
            check_host(host);
            WORKS(host, bp_world_step(world));
        }
    }
    ck_assert_uint_gt(made, ROUNDS / 8);
    ck_assert_uint_gt(refused, ROUNDS / 20);
    ck_assert_uint_gt(failed, ROUNDS / 30);
    ck_assert(_i == 0 || returned > ROUNDS / 40);
    free(file.bytes);
    reload_accept(&host->reload);
    memset(rig.log.text, 0, sizeof rig.log.text);
    rig.log.count = 0;
    rig_close(&rig);
}
END_TEST

/* A property that was resolved says how many values it has, and who keeps it has made room for so many. */
START_TEST(a_kept_array_that_has_become_longer_or_shorter_is_not_read_any_more)
{
    static const char *const names[] = {"shapes"};
    static const uint32_t counts[] = {4, 2};
    shapes_t list = {.fields = {{.name = 0, .type = BP_I32, .count = 3, .initial = 7}}, .count = 1};
    bp_property_t whole, second, third;
    int32_t values[4] = {9, 9, 9, 9};
    char text[32];
    rig_open_zoo(&rig);
    host = rig.host;
    api = rig.api;
    open_file();
    put_file(&list);
    WORKS(host, bp_host_load_plugin(host, TEST_SCRATCH_DIR "/shapes" TEST_SO, NULL, 0));
    world = bp_world_create(host, &(bp_world_desc_t){.name = "main"});
    WORKS(host, bp_world_use_component(world, "shapes"));
    bp_entity_t e = entity_with(world, "shapes");
    WORKS(host, api->property->resolve(world, e, "shapes", "field_a", &whole));
    WORKS(host, api->property->resolve(world, e, "shapes", "field_a[1]", &second));
    WORKS(host, api->property->resolve(world, e, "shapes", "field_a[2]", &third));
    list.fields[0].count = counts[_i];
    put_file(&list);
    WORKS(host, bp_host_reload(host, names, 1, NULL));
    FAILS(host, BP_ERROR_TYPE, "property 'field_a' of shapes has another number of values after a reload",
          api->property->get(world, &whole, &e, 1, values, 0));
    FAILS(host, BP_ERROR_TYPE, "another number of values",
          api->property->format(world, &whole, values, text, sizeof text));
    FAILS(host, BP_ERROR_TYPE, "another number of values", api->property->set(world, &whole, &e, 1, values, 0));
    ck_assert_int_eq(values[0], 9);
    WORKS(host, api->property->get(world, &second, &e, 1, values, 0));
    ck_assert_int_eq(values[0], 7);
    if (counts[_i] == 4)
        WORKS(host, api->property->get(world, &third, &e, 1, values + 1, 0));
    else
        FAILS(host, BP_ERROR_NOT_FOUND, "property 'field_a' has the elements 0 to 1, and no 2",
              api->property->get(world, &third, &e, 1, values + 1, 0));
    ck_assert_int_eq(values[1], counts[_i] == 4 ? 7 : 9);
    free(file.bytes);
    rig.log.count = 0;
    rig_close(&rig);
}
END_TEST

Suite *reload_shapes_suite(void)
{
    Suite *suite = suite_create("reload_shapes");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 240);
    tcase_add_loop_test(random, lists_arrays_and_values_become_each_other_as_the_rules_say, 0, 2);
    tcase_add_loop_test(random, a_kept_array_that_has_become_longer_or_shorter_is_not_read_any_more, 0, 2);
    suite_add_tcase(suite, random);
    return suite;
}
