/* test_save.c - a saved world comes back equal in every property, wherever it is restored; and what goes wrong costs
 *nothing.
 *
 * Worlds are compared through the public face only: entities are matched by the numbers that the scene gives them, then
 * every component and every property of both is asked for and compared, references by whom they mean.
 */
#define _POSIX_C_SOURCE 200809L

#include "../suites.h"
#include "../unit/inspect.h"
#include "../unit/zoo.h"
#include "kin.h"
#include "scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const types[] = {"body", "label", "fx",   "flag", "mark",  "once", "sample",
                                    "bag",  "pool",  "told", "kin",  "vault", "tag"};

typedef struct place_t {
    rig_t rig;
    bp_world_o *world;
} place_t;

static void open_place(place_t *place, uint32_t tag)
{
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &kin_plugin;
    rig_init(&place->rig);
    place->rig.desc.static_plugins = plugins;
    place->rig.desc.static_plugin_count = COUNT(plugins);
    place->rig.desc.tag = tag;
    rig_open(&place->rig);
    for (uint32_t i = 0; i < COUNT(plugins); i++)
        WORKS(place->rig.host, bp_host_load_plugin(place->rig.host, plugins[i]->name, NULL, 0));
    place->world = bp_world_create(place->rig.host, &(bp_world_desc_t){.name = "main"});
    for (uint32_t i = 0; i < COUNT(types); i++)
        WORKS(place->rig.host, bp_world_use_component(place->world, types[i]));
}

static void close_place(place_t *place)
{
    check_host(place->rig.host);
    rig_close(&place->rig);
}

/* --- random worlds ------------------------------------------------------------------------------------------------ */

enum { MOST = 300 };

static const char *const instance_names[] = {"", "a", "b", "haze", "in-law"};

static void add_components(place_t *place, bp_entity_t e, uint64_t *random)
{
    uint32_t count = bp_random_below(random, 7);
    for (uint32_t i = 0; i < count; i++) {
        const char *type = types[bp_random_below(random, COUNT(types))];
        const char *name = instance_names[bp_random_below(random, COUNT(instance_names))];
        place->rig.api->world->add(place->world, key_of(place->world, type, name), &e, 1); /* may be there already */
    }
}

static bp_value_t random_value(place_t *place, const bp_field_t *field, const bp_entity_t *all, uint32_t count,
                               uint64_t *random)
{
    static char text[40];
    bp_value_t value;
    uint64_t bits = bp_random_next(random);
    memset(&value, 0, sizeof value);
    if (field->values != NULL && strcmp(field->name, "moods") == 0) {
        value.u8 = bits % 2 == 0 ? 0 : 7;
        return value;
    }
    if (field->values != NULL) { /* those of a_mood, a_level and some_flags */
        value.u16 = field->type == BP_U8    ? (uint16_t)(bits % 3 == 0 ? 0 : 4 + bits % 3)
                    : field->type == BP_I16 ? (uint16_t)(bits % 3 - 1)
                                            : (uint16_t)(bits & 0x203);
        return value;
    }
    snprintf(text, sizeof text, "text %u \"\xc3\xa9\n", (uint32_t)bits % 9);
    switch (field->type) {
    case BP_BOOL: value.boolean = (uint8_t)(bits & 1); break;
    case BP_I32: value.i32 = (int32_t)(bits % 9) - 4; break;
    case BP_U32: value.u32 = (uint32_t)(bits % 999); break;
    case BP_I8: value.i8 = (int8_t)((bits % 100)); break;
    case BP_U8: value.u8 = (uint8_t)(1 + bits % 255); break;
    case BP_I16: value.i16 = (int16_t)bits; break;
    case BP_U16: value.u16 = (uint16_t)(bits % 60001); break;
    case BP_U64: value.u64 = bits; break;
    case BP_DVEC2: case BP_DVEC3: case BP_DVEC4:
        for (uint32_t i = 0; i < 4; i++)
            (&value.dvec4.x)[i] = (double)bp_random_below(random, 1000) / 7;
        break;
    case BP_I64: value.i64 = field->min != NULL ? (int64_t)(bits % 1000) : (int64_t)bits; break;
    case BP_F64: value.f64 = (double)(bits % 1000) / 1000; break;
    case BP_STRING: value.string = bits % 5 == 0 ? "" : text; break;
    case BP_ENTITY: value.entity = bits % 4 == 0 ? (bp_entity_t){0} : all[(bits >> 8) % count]; break;
    case BP_NAME: WORKS(place->rig.host, place->rig.api->name->intern(place->rig.host, text, &value.name)); break;
    default:
        for (uint32_t i = 0; i < 16; i++)
            value.mat4.m[i] = (float)bp_random_below(random, 1000) / 32;
        break;
    }
    return value;
}

/* An array or a list: as many values as it must or may have. */
static void set_several(place_t *place, bp_entity_t e, const char *component, const bp_field_t *field,
                        const bp_entity_t *all, uint32_t count, uint64_t *random)
{
    static const uint32_t sizes[] = {0, 1, 4, 4, 8, 4, 8, 8, 12, 16, 16, 64, 16, 8, 8, 8, 1, 1, 2, 2, 8, 16, 24, 32};
    char items[40][64], texts[40][40], packed[40 * 64];
    const bp_property_api *api = place->rig.api->property;
    bp_property_t property;
    uint32_t size = sizes[field->type], n = field->count > 1 ? field->count : bp_random_below(random, 40);
    for (uint32_t i = 0; i < n; i++) {
        bp_value_t value = random_value(place, field, all, count, random);
        if (field->type == BP_STRING) {
            snprintf(texts[i], sizeof texts[i], "%s", value.string);
            value.string = texts[i];
        }
        memcpy(items[i], &value, size);
        memcpy(packed + (size_t)i * size, items[i], size);
    }
    bp_list_t list = {packed, n, 0};
    WORKS(place->rig.host, api->resolve(place->world, e, component, field->name, &property));
    WORKS(place->rig.host,
          api->set(place->world, &property, &e, 1, field->count > 1 ? (const void *)packed : &list, property.size));
}

static void set_properties(place_t *place, bp_entity_t e, const bp_entity_t *all, uint32_t count, uint64_t *random)
{
    const bp_api_t *api = place->rig.api;
    uint32_t keys[32], key_count = api->world->keys_of(place->world, e, keys, 32);
    for (uint32_t k = 0; k < key_count; k++) {
        uint32_t component;
        bp_name_t name;
        WORKS(place->rig.host, api->world->key_info(place->world, keys[k], &component, &name));
        const char *type = place->world->rows.managers[component]->component->name;
        bp_field_t field;
        for (uint32_t f = 0; api->property->describe(place->rig.host, type, f, &field, sizeof field) == BP_OK; f++) {
            if ((field.flags & BP_FIELD_READ_ONLY) != 0 || strcmp(type, "vault") == 0 ||
                bp_random_below(random, 3) == 0)
                continue;
            if (field.count > 1 || (field.flags & BP_FIELD_LIST) != 0) {
                set_several(place, e, api->name->text(place->rig.host, name), &field, all, count, random);
                continue;
            }
            bp_value_t value = random_value(place, &field, all, count, random);
            WORKS(place->rig.host, api->property->set_named(place->world, e, api->name->text(place->rig.host, name),
                                                            field.name, field.type, &value));
        }
    }
}

/* What only plugins write. */
static void write_secrets(place_t *place, uint64_t *random)
{
    bp_run_t run;
    kin_t *vault = state_of(place->world, "vault");
    for (uint32_t i = 0; i < vault->count; i++)
        vault->items[i].secret = bp_random_below(random, 1000);
    uint32_t tag = place->rig.api->world->component(place->world, "tag");
    for (uint32_t cursor = 0; next_run(place->world, tag, &cursor, &run) != 0;) {
        for (uint32_t i = 0; i < run.count; i++)
            BP_COLUMN(&run, double, 1)[i] = bp_random_below(random, 100);
    }
}

/* Entities with components, without, dead and in another world; values of all kinds; holes. */
static void fill_world(place_t *place, uint64_t seed)
{
    uint64_t random = seed;
    bp_entity_t all[MOST];
    uint32_t count = 1 + bp_random_below(&random, MOST);
    const bp_api_t *api = place->rig.api;
    WORKS(place->rig.host, api->entity->create(place->rig.host, all, count));
    for (uint32_t i = 0; i < count; i++)
        add_components(place, all[i], &random);
    for (uint32_t i = 0; i < count; i++)
        set_properties(place, all[i], all, count, &random);
    write_secrets(place, &random);
    for (uint32_t i = 0; i < count; i++) {
        if (bp_random_below(&random, 5) == 0)
            api->entity->destroy(place->rig.host, &all[i], 1);
    }
    uint32_t steps = bp_random_below(&random, 3);
    for (uint32_t i = 0; i < steps; i++)
        WORKS(place->rig.host, bp_world_step(place->world));
}

/* --- comparing worlds --------------------------------------------------------------------------------------------- */

/* A world as a text in which nothing depends on ids: entities are called by `numbers`. */
typedef struct census_t {
    place_t *place;
    uint32_t *numbers; /* by entity index; 0: not of this census */
    char *text;
    size_t length, room;
} census_t;

static void say(census_t *c, const char *text)
{
    size_t more = strlen(text);
    if (c->length + more + 1 > c->room) {
        c->room = (c->length + more + 1) * 2;
        c->text = realloc(c->text, c->room);
        ck_assert(c->text != NULL);
    }
    memcpy(c->text + c->length, text, more + 1);
    c->length += more;
}

static void say_value(census_t *c, const bp_field_t *field, const bp_value_t *value)
{
    static const uint32_t sizes[] = {0, 1, 4, 4, 8, 4, 8, 8, 12, 16, 16, 64, 16, 0, 0, 8, 1, 1, 2, 2, 8, 16, 24, 32};
    char text[200];
    const unsigned char *bytes = (const unsigned char *)value;
    if (field->type == BP_STRING) {
        say(c, value->string);
    } else if (field->type == BP_ENTITY) {
        bool lives = c->place->rig.api->entity->alive(c->place->rig.host, &value->entity, 1, NULL) == 1;
        snprintf(text, sizeof text, "entity %u", lives ? c->numbers[bp_entity_index(value->entity)] : 0);
        EXPECT(!lives || c->numbers[bp_entity_index(value->entity)] != 0, "somebody who was not saved is referred to");
        say(c, text);
    } else {
        for (uint32_t i = 0; i < sizes[field->type]; i++) {
            snprintf(text, sizeof text, "%02x", bytes[i]);
            say(c, text);
        }
    }
}

static void say_several(census_t *c, bp_entity_t e, const char *component, const bp_field_t *field)
{
    static const uint32_t sizes[] = {0, 1, 4, 4, 8, 4, 8, 8, 12, 16, 16, 64, 16, 8, 8, 8, 1, 1, 2, 2, 8, 16, 24, 32};
    const bp_property_api *api = c->place->rig.api->property;
    union { char bytes[512]; bp_list_t list; } cell;
    bp_property_t property;
    WORKS(c->place->rig.host, api->resolve(c->place->world, e, component, field->name, &property));
    ck_assert_uint_le(property.size, sizeof cell);
    WORKS(c->place->rig.host, api->get(c->place->world, &property, &e, 1, &cell, property.size));
    bool list = property.count == 0;
    for (uint32_t i = 0; i < (list ? cell.list.count : property.count); i++) {
        bp_value_t value;
        memcpy(&value, (list ? (const char *)cell.list.items : cell.bytes) + (size_t)i * sizes[field->type],
               sizes[field->type]);
        say(c, i > 0 ? "," : "");
        say_value(c, field, &value);
    }
}

static void say_component(census_t *c, bp_entity_t e, uint32_t key)
{
    const bp_api_t *api = c->place->rig.api;
    bp_host_o *host = c->place->rig.host;
    uint32_t component;
    bp_name_t name;
    bp_field_t field;
    WORKS(host, api->world->key_info(c->place->world, key, &component, &name));
    const char *type = c->place->world->rows.managers[component]->component->name;
    say(c, "\n  ");
    say(c, api->name->text(host, name));
    say(c, " ");
    say(c, type);
    for (uint32_t f = 0; api->property->describe(host, type, f, &field, sizeof field) == BP_OK; f++) {
        bp_value_t value;
        memset(&value, 0, sizeof value);
        if (strcmp(field.name, "serial") == 0) /* derived: who came first */
            continue;
        say(c, " ");
        say(c, field.name);
        say(c, "=");
        if (field.count > 1 || (field.flags & BP_FIELD_LIST) != 0) {
            say_several(c, e, api->name->text(host, name), &field);
            continue;
        }
        WORKS(host, api->property->get_named(c->place->world, e, api->name->text(host, name), field.name, field.type,
                                             &value));
        say_value(c, &field, &value);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The components of an entity in the order of their texts: keys may have other numbers in another world. */
static void say_entity(census_t *c, bp_entity_t e)
{
    uint32_t keys[32], count = c->place->rig.api->world->keys_of(c->place->world, e, keys, 32);
    char *texts[32];
    for (uint32_t k = 0; k < count; k++) {
        census_t one = {.place = c->place, .numbers = c->numbers};
        say_component(&one, e, keys[k]);
        texts[k] = one.text;
    }
    qsort(texts, count, sizeof *texts, by_text);
    for (uint32_t k = 0; k < count; k++) {
        say(c, texts[k]);
        free(texts[k]);
    }
}

/* `entities` in the order of the scene. The caller frees the text. */
static char *take_census(place_t *place, const bp_entity_t *entities, uint32_t count)
{
    census_t c = {.place = place,
                  .numbers = calloc(place->rig.api->entity->bound(place->rig.host) + 1, sizeof(uint32_t))};
    char text[64];
    for (uint32_t i = 0; i < count; i++)
        c.numbers[bp_entity_index(entities[i])] = i + 1;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(text, sizeof text, "\nentity %u", i + 1);
        say(&c, text);
        say_entity(&c, entities[i]);
    }
    bp_step_t now = {.struct_size = sizeof now};
    place->rig.api->world->clock(place->world, &now);
    snprintf(text, sizeof text, "\nclock %u %g %g\n", (unsigned)now.number, now.dt, now.time);
    say(&c, text);
    free(c.numbers);
    return c.text;
}

/* Whom a scene of this world numbers how: by runs and rows, then those without components in the order of their
 * mention. The latter cannot be told from outside, so they are found as the scene's numbers are compared with values
 * below. */
static uint32_t list_saved(place_t *place, bp_entity_t *entities)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < place->world->rows.run_count; r++) {
        const run_t *run = place->world->rows.runs[r];
        for (uint32_t row = 0; row < run->count; row++) {
            if (run_entities(run)[row].id != 0)
                entities[count++] = run_entities(run)[row];
        }
    }
    return count;
}

/* Those among the entities that one instance's field refers to: by its one value, or by the items of an array or a
   list. */
static void list_extras_of(place_t *place, const blob_t *blob, const blob_part_t *part, const blob_field_t *field,
                           uint32_t instance, bp_entity_t e, bp_entity_t *entities, uint32_t count)
{
    uint32_t instances = blob->components[part->component].instance_count;
    const uint32_t *numbers = blob_is_list(field) ? blob_list_items(blob, field, instances) : blob_values(blob, field);
    uint64_t first =
        blob_is_list(field) ? blob_list_starts(blob, field)[instance] : (uint64_t)instance * (field->more + 1u);
    uint64_t end = blob_is_list(field) ? blob_list_starts(blob, field)[instance + 1] : first + field->more + 1u;
    for (uint64_t i = first; i < end; i++) {
        bp_value_t value;
        char path[64];
        if (numbers[i] <= count)
            continue;
        snprintf(path, sizeof path, blob_is_list(field) || field->more > 0 ? "%s[%u]" : "%s",
                 blob_text(blob, field->name), (unsigned)(i - first));
        WORKS(place->rig.host, place->rig.api->property->get_named(
                  place->world, e, place->rig.api->name->text(place->rig.host, part->name), path, BP_ENTITY, &value));
        entities[numbers[i] - 1] = value.entity;
    }
}

/* Living entities without components that values refer to, in order of their first mention in the blob. */
static uint32_t list_extras(place_t *place, const bp_scene_o *scene, bp_entity_t *entities, uint32_t count)
{
    const blob_t *blob = &scene->blob;
    uint32_t total = blob->info->entity_count;
    memset(entities + count, 0, (total - count) * sizeof *entities);
    for (uint32_t g = 0; g < blob->info->group_count; g++) {
        const blob_group_t *group = &blob->groups[g];
        for (uint32_t p = 0; p < group->part_count; p++) {
            const blob_part_t *part = &blob->parts[group->first_part + p];
            const blob_component_t *component = &blob->components[part->component];
            for (uint32_t f = 0; f < component->field_count; f++) {
                const blob_field_t *field = &blob->fields[component->first_field + f];
                for (uint32_t i = 0; field->type == BP_ENTITY && field->kind == BLOB_COLUMN && i < group->rows; i++)
                    list_extras_of(place, blob, part, field, part->first_instance + i,
                                   entities[group->first_entity + i], entities, count);
            }
        }
    }
    for (uint32_t i = 0; blob->parents != NULL && i < count; i++) { /* from the parents section, by kin.parent or
                                                                       tag.owner */
        static const char *const fields[] = {"parent", "owner"};
        uint32_t keys[32], key_count = place->rig.api->world->keys_of(place->world, entities[i], keys, 32), component;
        bp_name_t name;
        for (uint32_t k = 0; blob->parents[i] > count && k < 2 * key_count; k++) {
            bp_value_t value = {.i64 = 0};
            place->rig.api->world->key_info(place->world, keys[k / 2], &component, &name);
            if (place->rig.api->property->get_named(place->world, entities[i],
                                                    place->rig.api->name->text(place->rig.host, name), fields[k % 2],
                                                    BP_ENTITY, &value) != BP_OK)
                continue;
            const record_t *record = world_record(&place->world->rows, value.entity);
            if (record == NULL && value.entity.id != 0 &&
                place->rig.api->entity->alive(place->rig.host, &value.entity, 1, NULL) == 1 &&
                entities[blob->parents[i] - 1].id == 0)
                entities[blob->parents[i] - 1] = value.entity;
        }
    }
    return total;
}

static char *census_of_saved(place_t *place, const bp_scene_o *scene)
{
    bp_entity_t *entities = calloc((size_t)scene->blob.info->entity_count + MOST, sizeof *entities);
    uint32_t count = list_extras(place, scene, entities, list_saved(place, entities));
    ck_assert_uint_eq(count, scene->blob.info->entity_count);
    char *text = take_census(place, entities, count);
    free(entities);
    return text;
}

/* The restored world's entities in the scene's order: spawned in this order, so their ids ascend in a fresh host. */
static char *census_of_restored(place_t *place, const bp_scene_o *scene)
{
    uint32_t count = scene->blob.info->entity_count, found = 0;
    bp_entity_t *entities = calloc(count + (size_t)1, sizeof *entities);
    for (uint32_t i = 0; i < place->rig.api->entity->bound(place->rig.host) && found < count; i++) {
        entities[found] = place->rig.api->entity->at(place->rig.host, i);
        found += entities[found].id != 0;
    }
    ck_assert_uint_eq(found, count);
    char *text = take_census(place, entities, count);
    free(entities);
    return text;
}

/* A scene that is checked as a file from a stranger would be. */
static bp_scene_o *reopen(place_t *place, const bp_scene_o *scene)
{
    size_t size;
    bp_scene_o *opened;
    const void *bytes = bp_scene_bytes(scene, &size);
    WORKS(place->rig.host, bp_scene_open_memory(place->rig.host, bytes, size, "x.bpe", &opened));
    return opened;
}

START_TEST(a_random_world_comes_back_in_another_host)
{
    place_t here, there;
    open_place(&here, 1);
    open_place(&there, 2);
    fill_world(&here, (uint64_t)_i * 977 + 5);
    bp_scene_o *scene;
    WORKS(here.rig.host, bp_scene_capture(here.world, &scene));
    char *before = census_of_saved(&here, scene);
    bp_scene_o *opened = reopen(&there, scene);
    WORKS(there.rig.host, bp_scene_restore(opened, there.world, 0));
    expect_same(before, census_of_restored(&there, opened), "saving and restoring");
    check_host(here.rig.host);
    check_host(there.rig.host);
    /* And once more: what was restored is saved to the same bytes but for the order of keys and names. */
    bp_scene_o *again;
    WORKS(there.rig.host, bp_scene_capture(there.world, &again));
    ck_assert_uint_eq(again->blob.info->entity_count, scene->blob.info->entity_count);
    bp_scene_close(opened);
    close_place(&there);
    close_place(&here);
}
END_TEST

START_TEST(a_world_is_restored_over_itself)
{
    place_t here;
    open_place(&here, 1);
    fill_world(&here, 41);
    bp_world_o *other = bp_world_create(here.rig.host, &(bp_world_desc_t){.name = "other"});
    WORKS(here.rig.host, bp_world_use_component(other, "mark"));
    bp_scene_o *scene;
    WORKS(here.rig.host, bp_scene_capture(here.world, &scene));
    bp_entity_t *old = calloc(scene->blob.info->entity_count + (size_t)MOST, sizeof *old);
    uint32_t count = list_saved(&here, old), occupied = here.world->rows.occupied;
    ck_assert_uint_gt(count, 10);
    for (uint32_t i = 0; i < 5; i++) /* these live in another world too */
        WORKS(here.rig.host, here.rig.api->world->add(other, key_of(other, "mark", ""), &old[i], 1));
    WORKS(here.rig.host, bp_scene_restore(scene, here.world, 0));
    ck_assert_uint_eq(here.world->rows.occupied, occupied);
    ck_assert_uint_eq(here.rig.api->entity->alive(here.rig.host, old, count, NULL), 5);
    ck_assert_uint_eq(here.rig.api->world->keys_of(here.world, old[0], NULL, 0), 0);
    ck_assert_uint_eq(here.rig.api->world->has(other, key_of(other, "mark", ""), old, 5, NULL), 5);
    check_host(here.rig.host);
    free(old);
    close_place(&here);
}
END_TEST

/* --- after a restore ---------------------------------------------------------------------------------------------- */

/* Each parent gets a child in each step, and refers to it. */
static void bear(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    bp_property_t child;
    WORKS(s->host, s->api->property->resolve(s->world, (bp_entity_t){0}, "parent", "child", &child));
    for (uint32_t m = 0; m < count; m++) {
        for (uint32_t i = 0; i < matches[m].count; i++) {
            bp_entity_t made;
            s->api->command->create(step->commands, 0, &made, 1);
            s->api->command->add(step->commands, key_of(s->world, "infant", ""), &made, 1);
            s->api->command->set(step->commands, &child, &matches[m].entities[i], 1, &made, sizeof made);
        }
    }
}

static const bp_field_t child_field[] = {{.name = "child", .type = BP_ENTITY}};
static const bp_component_i parent_and_infant[] = {{.name = "parent", .fields = BP_LIST(child_field)},
                                                   {.name = "infant"}};
static const bp_term_t parents[] = {{.component = "parent"}};
static const bp_system_i bearing[] = {
    {.name = "bear", .terms = BP_LIST(parents), .run_all = bear, .keeps = BP_KEEP_NOTHING}};
static const bp_plugin_head_t nursery = BP_PLUGIN_HEAD("nursery", (&(const bp_plugin_desc_t){.version = "1",
                                            .components = BP_LIST(parent_and_infant), .systems = BP_LIST(bearing)}));

/* The step after the restore has the number of the step before it, and gives out the same placeholders. */
START_TEST(entities_that_are_made_after_a_restore_are_told_from_those_made_before)
{
    static const bp_plugin_head_t *const linked[] = {&nursery};
    rig_t rig;
    bp_entity_t mother, child;
    bp_scene_o *scene;
    bp_run_t run;
    rig_open_with(&rig, linked, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "nursery", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "parent"));
    WORKS(rig.host, bp_world_use_component(world, "infant"));
    WORKS(rig.host, bp_world_use_system(world, "bear"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "parent", NULL, NULL, NULL), &mother, 1));
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, bp_scene_capture(world, &scene));
    WORKS(rig.host, bp_world_step(world));
    WORKS(rig.host, bp_scene_restore(scene, world, 0));
    WORKS(rig.host, bp_world_step(world));
    uint32_t cursor = 0;
    ck_assert_uint_ne(next_run(world, world_component(&world->rows, "parent"), &cursor, &run), 0);
    WORKS(rig.host, rig.api->property->get_named(world, run.entities[0], "parent", "child", BP_ENTITY, &child));
    ck_assert_uint_eq(rig.api->entity->alive(rig.host, &child, 1, NULL), 1);
    ck_assert_uint_eq(rig.api->world->has(world, key_of(world, "infant", ""), &child, 1, NULL), 1);
    bp_scene_close(scene);
    check_host(rig.host);
    rig_close(&rig);
}
END_TEST

/* --- the plugins that come with it -------------------------------------------------------------------------------- */

enum { FAMILY = 400 };

static bp_world_o *open_shipped(rig_t *rig, uint32_t tag)
{
    static const char *const shipped[] = {"transform", "debug_name", "point_mass", "render_data"};
    rig_init(rig);
    rig->desc.tag = tag;
    rig_open(rig);
    bp_world_o *world = bp_world_create(rig->host, &(bp_world_desc_t){.name = "main"});
    for (uint32_t i = 0; i < COUNT(shipped); i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", TEST_PLUGIN_DIR, shipped[i]);
        WORKS(rig->host, bp_host_load_plugin(rig->host, path, NULL, 0));
        WORKS(rig->host, bp_world_use_component(world, shipped[i]));
    }
    return world;
}

/* A tree in shuffled order, every node with a pose and a name, some with more. */
static void grow_tree(bp_world_o *world, bp_entity_t *nodes, uint64_t seed)
{
    const bp_property_api *property = api_of(world)->property;
    bp_host_o *host = host_of(world);
    WORKS(host, api_of(world)->world->create(world, prototype_of(world, "transform", "debug_name", NULL, NULL), nodes,
                                             FAMILY));
    for (uint32_t i = 0; i < FAMILY; i++) {
        char words[32];
        const char *name = words;
        bp_vec3_t place = {(float)bp_random_below(&seed, 100), 1, (float)i};
        bp_quat_t turn = {(float)bp_random_below(&seed, 9), 1, 0, 1};
        snprintf(words, sizeof words, "node %u", i % 37);
        WORKS(host, property->set_named(world, nodes[i], "transform", "position", BP_VEC3, &place));
        WORKS(host, property->set_named(world, nodes[i], "transform", "rotation", BP_QUAT, &turn));
        WORKS(host, property->set_named(world, nodes[i], "debug_name", "name", BP_STRING, &name));
        if (i % 7 == 0)
            WORKS(host, api_of(world)->world->add(world, key_of(world, "render_data", "haze"), &nodes[i], 1));
    }
    for (uint32_t i = 1; i < FAMILY; i++) { /* parents anywhere before in this order, which is not that of the rows */
        bp_entity_t parent = nodes[(bp_random_below(&seed, i) * 7) % FAMILY], child = nodes[(i * 7) % FAMILY];
        if (bp_random_below(&seed, 10) > 0)
            WORKS(host, property->set_named(world, child, "transform", "parent", BP_ENTITY, &parent));
    }
}

static void get_pose(bp_world_o *world, bp_entity_t e, const char *name, uint32_t type, bp_value_t *value)
{
    memset(value, 0, sizeof *value);
    WORKS(host_of(world), api_of(world)->property->get_named(world, e, "transform", name, type, value));
}

/* Where an entity is in the scene's order. */
static uint32_t number_of(const bp_entity_t *entities, uint32_t count, bp_entity_t e)
{
    uint32_t i = 0;
    while (i < count && entities[i].id != e.id)
        i++;
    return i;
}

START_TEST(a_tree_of_transforms_comes_back)
{
    rig_t here, there;
    bp_entity_t nodes[FAMILY], saved[FAMILY + MOST], restored[FAMILY];
    bp_scene_o *scene, *opened;
    size_t size;
    bp_world_o *world = open_shipped(&here, 1), *other = open_shipped(&there, 2);
    grow_tree(world, nodes, 99);
    WORKS(here.host, bp_scene_capture(world, &scene));
    const void *bytes = bp_scene_bytes(scene, &size);
    ck_assert_uint_eq(list_saved(&(place_t){.world = world}, saved), FAMILY);
    ck_assert(scene->blob.parents != NULL);
    WORKS(there.host, bp_scene_open_memory(there.host, bytes, size, "tree.bpe", &opened));
    WORKS(there.host, bp_scene_spawn(opened, other, 0, restored, NULL));
    for (uint32_t i = 0; i < FAMILY; i++) {
        bp_value_t a, b;
        get_pose(world, saved[i], "world", BP_MAT4, &a);
        get_pose(other, restored[i], "world", BP_MAT4, &b);
        ck_assert_mem_eq(&a, &b, sizeof a);
        get_pose(world, saved[i], "position", BP_VEC3, &a);
        get_pose(other, restored[i], "position", BP_VEC3, &b);
        ck_assert_mem_eq(&a, &b, sizeof a);
        get_pose(world, saved[i], "parent", BP_ENTITY, &a);
        get_pose(other, restored[i], "parent", BP_ENTITY, &b);
        ck_assert_uint_eq(number_of(saved, FAMILY, a.entity), number_of(restored, FAMILY, b.entity));
        ck_assert_uint_eq(number_of(saved, FAMILY, a.entity) == FAMILY, a.entity.id == 0);
    }
    check_host(there.host);
    rig_close(&there);
    rig_close(&here);
}
END_TEST

START_TEST(saving_and_restoring_without_memory_leave_no_trace)
{
    place_t here;
    open_place(&here, 1);
    fill_world(&here, 17);
    bp_scene_o *scene = NULL;
    char *before = describe_host(here.rig.host);
    for (uint32_t refused = 0; scene == NULL; refused++) {
        here.rig.heap.refuse_first = here.rig.heap.refuse_last = here.rig.heap.requests + refused + 1;
        bp_result_t result = bp_scene_capture(here.world, &scene);
        here.rig.heap.refuse_first = here.rig.heap.refuse_last = 0;
        ck_assert(result == BP_OK || (result == BP_ERROR_MEMORY && scene == NULL));
    }
    expect_same(before, describe_host(here.rig.host), "saving");
    before = describe_host(here.rig.host);
    for (uint32_t refused = 0;; refused++) {
        here.rig.heap.refuse_first = here.rig.heap.refuse_last = here.rig.heap.requests + refused + 1;
        bp_result_t result = bp_scene_restore(scene, here.world, 0);
        here.rig.heap.refuse_first = here.rig.heap.refuse_last = 0;
        if (result == BP_OK)
            break;
        ck_assert_int_eq(result, BP_ERROR_MEMORY);
        char *now = describe_host(here.rig.host);
        ck_assert_str_eq(before, now);
        free(now);
    }
    free(before);
    close_place(&here);
}
END_TEST

/* --- what is not saved ------------------------------------------------------------------------------------------- */

static bp_result_t open_books(bp_manager_t *m, bp_name_t instance, const bp_entity_t *entities, uint32_t count,
                              const void *const *columns, uint32_t *slots)
{
    (void)m, (void)instance, (void)entities, (void)columns;
    for (uint32_t i = 0; i < count; i++)
        slots[i] = i;
    return BP_OK;
}

static void close_books(bp_manager_t *m, const uint32_t *slots, uint32_t count)
{
    (void)m, (void)slots, (void)count;
}

static bp_result_t read_titles(bp_manager_t *m, uint32_t field, const uint32_t *slots, uint32_t count, void *values,
                               size_t stride)
{
    (void)m, (void)field;
    for (uint32_t i = 0; i < count; i++) {
        const char *title = slots[i] == 0 ? "untitled" : "a title";
        memcpy((char *)values + i * stride, &title, sizeof title);
    }
    return BP_OK;
}

static uint32_t count_books(bp_manager_t *m)
{
    (void)m;
    return 3;
}

static const bp_field_t book_fields[] = {
    {.name = "title", .type = BP_STRING, .initial = "untitled", .flags = BP_FIELD_READ_ONLY}};
static const bp_storage_i books = {
    .struct_size = sizeof books, .create = open_books, .destroy = close_books, .get = read_titles,
    .count = count_books};
static const bp_component_i book_components[] = {
    {.name = "book", .fields = BP_LIST(book_fields), .storage = &books}};
static const bp_plugin_head_t book_plugin =
    BP_PLUGIN_HEAD("book", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(book_components)}));

START_TEST(texts_that_nothing_can_set_are_missed_where_they_are_not_the_default)
{
    static const bp_plugin_head_t *plugins[] = {&book_plugin};
    rig_t rig;
    bp_entity_t e[3];
    bp_scene_o *scene;
    rig_open_with(&rig, plugins, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "book", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "book"));
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "book", NULL, NULL, NULL), e, 3));
    WORKS(rig.host, bp_scene_capture(world, &scene));
    ck_assert_str_eq(rig.log.text, "save: 2: world 'main': property 'title' of component 'book' is not saved, since "
                                   "nothing can set it: lost for 2 of 3 entities\n");
    bp_scene_close(scene);
    rig.log = (log_text_t){.count = 0};
    rig_close(&rig);
}
END_TEST

/* --- the longest texts -------------------------------------------------------------------------------------------- */

enum { FLAGS = 64, FLAG_LENGTH = 63 };

static char flag_names[FLAGS * (FLAG_LENGTH + 1) + 1];
static const bp_field_t banner_fields[] = {
    {.name = "flags", .type = BP_U64, .values = flag_names, .flags = BP_FIELD_BITS},
    {.name = "two", .type = BP_U64, .values = flag_names, .flags = BP_FIELD_BITS, .count = 2}};
static const bp_component_i banner_components[] = {{.name = "banner", .fields = BP_LIST(banner_fields)}};
static const bp_plugin_head_t banner_plugin =
    BP_PLUGIN_HEAD("banner", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(banner_components)}));

typedef struct dumped_t {
    char text[65536];
    size_t length;
} dumped_t;

static void dump_into(void *context, const char *text, size_t length)
{
    dumped_t *dumped = context;
    ck_assert_uint_lt(dumped->length + length, sizeof dumped->text);
    memcpy(dumped->text + dumped->length, text, length);
    dumped->length += length;
    dumped->text[dumped->length] = '\0';
}

static const bp_field_t lantern_fields[] = {{.name = "height", .type = BP_U32},
                                            {.name = "type", .type = BP_STRING, .initial = "oil"}};
static const bp_component_i lantern_components[] = {{.name = "lantern", .fields = BP_LIST(lantern_fields)}};
static const bp_plugin_head_t lantern_plugin =
    BP_PLUGIN_HEAD("lantern", (&(const bp_plugin_desc_t){.version = "1", .components = BP_LIST(lantern_components)}));

/* Whether the component is called by its type or not, and whether the text is the name of a component type or not. */
START_TEST(a_property_that_is_called_type_comes_back_from_json)
{
    static const bp_plugin_head_t *plugins[] = {&lantern_plugin};
    static dumped_t json;
    const char *const texts[] = {"gas", "lantern"}, *const said = texts[_i];
    const char *found = NULL;
    const uint32_t height = 4;
    rig_t rig;
    bp_scene_o *scene, *again;
    bp_entity_t back[2];
    rig_open_with(&rig, plugins, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "lantern", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "lantern"));
    const bp_property_api *property = rig.api->property;
    bp_entity_t e = entity_with(world, "lantern"), other;
    const uint32_t keys[] = {key_of(world, "lantern", "second")};
    uint32_t prototype;
    WORKS(rig.host, rig.api->world->prototype(world, keys, 1, &prototype));
    WORKS(rig.host, rig.api->world->create(world, prototype, &other, 1));
    WORKS(rig.host, property->set_named(world, e, "lantern", "type", BP_STRING, &said));
    WORKS(rig.host, property->set_named(world, other, "second", "height", BP_U32, &height));
    WORKS(rig.host, property->set_named(world, other, "second", "type", BP_STRING, &said));
    WORKS(rig.host, bp_scene_capture(world, &scene));
    json.length = 0;
    WORKS(rig.host, bp_scene_dump(scene, BP_DUMP_JSON, &(bp_text_sink_i){.struct_size = sizeof(bp_text_sink_i),
                                                                         .context = &json, .write = dump_into}));
    WORKS(rig.host, bp_scene_compile_text(rig.host, "again", json.text, json.length, &again));
    WORKS(rig.host, bp_scene_spawn(again, world, 0, back, NULL));
    WORKS(rig.host, property->get_named(world, back[0], "lantern", "type", BP_STRING, &found));
    ck_assert_str_eq(found, said);
    WORKS(rig.host, property->get_named(world, back[1], "second", "type", BP_STRING, &found));
    ck_assert_str_eq(found, said);
    uint32_t high = 0;
    WORKS(rig.host, property->get_named(world, back[1], "second", "height", BP_U32, &high));
    ck_assert_uint_eq(high, 4);
    bp_scene_close(scene);
    bp_scene_close(again);
    rig_close(&rig);
}
END_TEST

/* All flags of a value together, whose names are as long as names may be: in JSON that is compiled again, and in the
 * text for people. */
START_TEST(all_flags_of_a_value_are_dumped_by_their_names_and_come_back)
{
    static const bp_plugin_head_t *plugins[] = {&banner_plugin};
    static dumped_t json, text;
    const uint64_t all[] = {UINT64_MAX, UINT64_MAX};
    uint64_t found[] = {0, 0};
    rig_t rig;
    bp_scene_o *scene, *again;
    bp_entity_t back;
    for (uint32_t i = 0; i < FLAGS; i++)
        snprintf(flag_names + i * (FLAG_LENGTH + 1), FLAG_LENGTH + 2, "flag_%02u_%055u ", i, i);
    rig_open_with(&rig, plugins, 1);
    WORKS(rig.host, bp_host_load_plugin(rig.host, "banner", NULL, 0));
    bp_world_o *world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "main"});
    WORKS(rig.host, bp_world_use_component(world, "banner"));
    bp_entity_t e = entity_with(world, "banner");
    const bp_property_api *property = rig.api->property;
    bp_property_t two;
    WORKS(rig.host, property->set_named(world, e, "banner", "flags", BP_U64, all));
    WORKS(rig.host, property->resolve(world, e, "banner", "two", &two));
    WORKS(rig.host, property->set(world, &two, &e, 1, all, sizeof all));
    WORKS(rig.host, bp_scene_capture(world, &scene));
    json.length = text.length = 0;
    WORKS(rig.host, bp_scene_dump(scene, BP_DUMP_JSON, &(bp_text_sink_i){.struct_size = sizeof(bp_text_sink_i),
                                                                         .context = &json, .write = dump_into}));
    WORKS(rig.host, bp_scene_dump(scene, 0, &(bp_text_sink_i){.struct_size = sizeof(bp_text_sink_i),
                                                              .context = &text, .write = dump_into}));
    for (uint32_t i = 0, times = 0; i < FLAGS; i++, times = 0) {
        char name[FLAG_LENGTH + 1];
        snprintf(name, sizeof name, "flag_%02u_%055u", i, i);
        for (const char *at = text.text; (at = strstr(at, name)) != NULL; at++)
            times++;
        EXPECT(times == 4, "%s stands %u times in the text", name, times);
    }
    WORKS(rig.host, bp_scene_compile_text(rig.host, "again", json.text, json.length, &again));
    WORKS(rig.host, bp_scene_spawn(again, world, 0, &back, NULL));
    WORKS(rig.host, property->get_named(world, back, "banner", "flags", BP_U64, found));
    ck_assert_uint_eq(found[0], UINT64_MAX);
    WORKS(rig.host, property->get(world, &two, &back, 1, found, sizeof found));
    ck_assert_mem_eq(found, all, sizeof all);
    bp_scene_close(scene);
    bp_scene_close(again);
    rig_close(&rig);
}
END_TEST

Suite *save_suite(void)
{
    Suite *suite = suite_create("save");
    TCase *trips = tcase_create("round trips");
    tcase_add_loop_test(trips, a_random_world_comes_back_in_another_host, 0, 40);
    tcase_add_test(trips, a_world_is_restored_over_itself);
    tcase_add_test(trips, entities_that_are_made_after_a_restore_are_told_from_those_made_before);
    tcase_add_test(trips, a_tree_of_transforms_comes_back);
    tcase_add_test(trips, saving_and_restoring_without_memory_leave_no_trace);
    tcase_add_test(trips, texts_that_nothing_can_set_are_missed_where_they_are_not_the_default);
    tcase_add_test(trips, all_flags_of_a_value_are_dumped_by_their_names_and_come_back);
    tcase_add_loop_test(trips, a_property_that_is_called_type_comes_back_from_json, 0, 2);
    suite_add_tcase(suite, trips);
    return suite;
}
