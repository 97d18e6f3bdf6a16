/* conformance_life.c - checks of instances: how instances come and go, alone and in batches, and with their entity,
 * world or plugin.
 *
 * The instances are asked for in two ways, through the world (has, slots) and through the manager (count), and the
 * answers must agree.
 */
#include "conformance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- helpers --------------------------------------------------------------------------------------- */

static bp_entity_t *bare(conformance_t *c, uint32_t count)
{
    bp_entity_t *entities = conformance_new(c, count * sizeof *entities);
    EXPECT_OK(c, c->api->entity->create(c->host, entities, count));
    return entities;
}

static void expect_count(conformance_t *c, uint32_t expected, const char *when)
{
    uint32_t count = conformance_count(c, c->world);
    EXPECT(c, count == expected, "%s: %u instances instead of %u", when, count, expected);
}

static void expect_has(conformance_t *c, uint32_t key, const bp_entity_t *entities, uint32_t count,
                       uint32_t expected, const char *when)
{
    uint32_t has = c->api->world->has(c->world, key, entities, count, NULL);
    EXPECT(c, has == expected, "%s: %u of %u entities have it instead of %u", when, has, count, expected);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* Every instance has a slot, and no two instances have the same slot. Declared components have none. */
static void expect_slots(conformance_t *c, const bp_entity_t *entities, uint32_t count, const char *when)
{
    uint32_t *slots = conformance_new(c, count * sizeof *slots);
    uint32_t found = c->api->world->slots(c->world, c->key, entities, count, slots);
    EXPECT(c, found == (c->own_storage ? count : 0), "%s: %u of %u entities have a slot", when, found, count);
    if (!c->own_storage)
        return;
    qsort(slots, count, sizeof *slots, by_number);
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(c, slots[i] != BP_NONE, "%s: the slot of an instance is BP_NONE", when);
        EXPECT(c, i == 0 || slots[i] != slots[i - 1], "%s: two instances have slot %u", when, slots[i]);
    }
}

/* --- declaration ----------------------------------------------------------------------------------- */

static bool same_text(const char *a, const char *b)
{
    return strcmp(a == NULL ? "" : a, b == NULL ? "" : b) == 0;
}

static void expect_described(conformance_t *c, const bp_field_t *declared, uint32_t index)
{
    bp_field_t told = {0};
    EXPECT_OK(c, c->api->property->describe(c->host, c->subject->component, index, &told, sizeof told));
    EXPECT(c,
           same_text(told.name, declared->name) && told.type == declared->type &&
               told.flags == declared->flags,
           "property %u is described otherwise than it was declared ('%s')", index, declared->name);
    EXPECT(c,
           same_text(told.initial, declared->initial) && same_text(told.min, declared->min) &&
               same_text(told.max, declared->max),
           "default or limits of '%s' are described otherwise than they were declared", declared->name);
    EXPECT(c, same_text(told.unit, declared->unit) && same_text(told.doc, declared->doc),
           "unit or doc of '%s' are described otherwise than they were declared", declared->name);
}

void check_declaration(conformance_t *c)
{
    for (uint32_t i = 0; i < c->property_count; i++) {
        expect_described(c, &c->properties[i].declared, c->properties[i].index);
        for (uint32_t j = 0; j < i; j++)
            EXPECT(c, strcmp(c->properties[i].declared.name, c->properties[j].declared.name) != 0,
                   "two properties are called '%s'", c->properties[i].declared.name);
    }
    for (uint32_t i = 0; i < c->whole_count; i++)
        expect_described(c, &c->wholes[i].declared, c->wholes[i].index);
    bp_field_t none;
    EXPECT_REFUSED(c, BP_ERROR_NOT_FOUND,
                   c->api->property->describe(c->host, c->subject->component,
                                                c->property_count + c->whole_count, &none, sizeof none));
    EXPECT(c, c->api->world->manager(c->world, c->component) != NULL, "the world has no manager of it");
    expect_count(c, 0, "before there is any");
    EXPECT_REFUSED(c, BP_ERROR_EXISTS, bp_world_use_component(c->world, c->subject->component));
}

/* --- coming and going ------------------------------------------------------------------------------ */

void check_creates_by_count(conformance_t *c)
{
    static const uint32_t counts[] = {1, 2, 3, 7, 15, 16, 17, 63, 64, 65, 200, 1000, 1};
    bp_entity_t *all = conformance_new(c, 2000 * sizeof *all);
    uint32_t total = 0;
    conformance_create(c, 0);
    expect_count(c, 0, "after creating none");
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        memcpy(all + total, conformance_create(c, counts[i]), counts[i] * sizeof *all);
        total += counts[i];
        expect_count(c, total, "after creating");
        expect_has(c, c->key, all, total, total, "after creating");
        expect_slots(c, all, total, "after creating");
    }
    EXPECT(c, c->api->entity->count(c->host) == total + CONFORMANCE_FRIENDS,
           "entities were made beside those that were asked for");
    uint32_t keys[2];
    EXPECT(c, c->api->world->keys_of(c->world, all[0], keys, 2) == 1 && keys[0] == c->key,
           "keys_of does not tell of it");
}

/* Add a component to entities of which some have the companion already; remove the component again. The companion's
 * values must stay the same. */
void check_adds_and_removes(conformance_t *c)
{
    enum { COUNT = 300, HALF = COUNT / 2, WITH = COUNT / 3 };
    bp_entity_t *e = bare(c, COUNT);
    EXPECT_OK(c, c->api->world->add(c->world, c->companion_key, e, WITH));
    for (uint32_t i = 0; i < WITH; i++)
        conformance_tag(c, c->world, e[i], i);
    for (uint32_t i = 0; i < HALF; i++)
        EXPECT_OK(c, c->api->world->add(c->world, c->key, &e[i], 1));
    expect_count(c, HALF, "after adding one by one");
    EXPECT_OK(c, c->api->world->add(c->world, c->key, e + HALF, HALF));
    expect_count(c, COUNT, "after adding a batch");
    expect_slots(c, e, COUNT, "after adding");
    for (uint32_t i = 0; i < COUNT; i++)
        conformance_dress(c, c->world, e[i], "", i + 1);
    for (uint32_t i = 0; i < COUNT; i += 7)
        EXPECT_OK(c, c->api->world->remove(c->world, c->key, &e[i], 1));
    uint32_t left = COUNT - (COUNT + 6) / 7;
    expect_has(c, c->key, e, COUNT, left, "after removing one by one");
    expect_count(c, left, "after removing one by one");
    for (uint32_t i = 0; i < COUNT; i++) {
        if (i % 7 != 0)
            conformance_expect_dressed(c, c->world, e[i], "", i + 1, "after others were removed");
    }
    for (uint32_t i = 0; i < COUNT; i += 7)
        EXPECT_OK(c, c->api->world->add(c->world, c->key, &e[i], 1));
    expect_slots(c, e, COUNT, "after adding again");
    EXPECT_OK(c, c->api->world->remove(c->world, c->key, e, COUNT));
    expect_count(c, 0, "after removing all");
    expect_has(c, c->companion_key, e, COUNT, WITH, "the companion, after removing all");
    for (uint32_t i = 0; i < WITH; i++)
        conformance_expect_tag(c, c->world, e[i], i, "after removing all");
}

/* No part of a refused batch may be done: neither `has` nor `count` may show a change. */
void check_batches_are_all_or_nothing(conformance_t *c)
{
    enum { COUNT = 20 };
    const bp_world_api *w = c->api->world;
    bp_entity_t *with = conformance_create(c, COUNT), *without = bare(c, COUNT), batch[COUNT];
    bp_entity_t dead = without[0];
    c->api->entity->destroy(c->host, &dead, 1);
    without++;
    for (uint32_t i = 0; i < COUNT; i++)
        conformance_dress(c, c->world, with[i], "", i + 1);

    memcpy(batch, without, (COUNT - 1) * sizeof *batch);
    batch[COUNT - 1] = dead;
    EXPECT_REFUSED(c, BP_ERROR_DEAD, w->add(c->world, c->key, batch, COUNT));
    batch[COUNT - 1] = with[3];
    EXPECT_REFUSED(c, BP_ERROR_EXISTS, w->add(c->world, c->key, batch, COUNT));
    batch[COUNT - 1] = without[1];
    EXPECT_REFUSED(c, BP_ERROR_ARGUMENT, w->add(c->world, c->key, batch, COUNT));
    expect_has(c, c->key, without, COUNT - 1, 0, "after refused batches");
    expect_count(c, COUNT, "after refused batches");

    memcpy(batch, with, COUNT * sizeof *batch);
    batch[COUNT - 1] = without[2];
    EXPECT_REFUSED(c, BP_ERROR_NOT_FOUND, w->remove(c->world, c->key, batch, COUNT));
    batch[COUNT - 1] = dead;
    EXPECT_REFUSED(c, BP_ERROR_DEAD, w->remove(c->world, c->key, batch, COUNT));
    batch[COUNT - 1] = with[0];
    EXPECT_REFUSED(c, BP_ERROR_ARGUMENT, w->remove(c->world, c->key, batch, COUNT));
    expect_has(c, c->key, with, COUNT, COUNT, "after refused batches");
    for (uint32_t i = 0; i < COUNT; i++)
        conformance_expect_dressed(c, c->world, with[i], "", i + 1, "after refused batches");
}

/* --- instances by name ----------------------------------------------------------------------------- */

static void expect_single(conformance_t *c)
{
    uint32_t keys[2] = {c->key, conformance_key(c, c->world, "other")}, prototype;
    bp_entity_t *e = conformance_create(c, 10);
    for (uint32_t i = 0; i < 10; i++)
        conformance_dress(c, c->world, e[i], "", i + 1);
    EXPECT_REFUSED(c, BP_ERROR_EXISTS, c->api->world->add(c->world, keys[1], e, 10));
    EXPECT_REFUSED(c, BP_ERROR_EXISTS, c->api->world->prototype(c->world, keys, 2, &prototype));
    expect_count(c, 10, "after a second instance was refused");
    for (uint32_t i = 0; i < 10; i++)
        conformance_expect_dressed(c, c->world, e[i], "", i + 1, "after a second instance was refused");
}

static void expect_several(conformance_t *c)
{
    enum { COUNT = 50, NAMES = 3 };
    static const char *const names[NAMES] = {"", "fog", "vignette"};
    uint32_t keys[NAMES], prototype;
    for (uint32_t n = 0; n < NAMES; n++)
        keys[n] = conformance_key(c, c->world, names[n]);
    bp_entity_t *e = conformance_new(c, COUNT * sizeof *e);
    EXPECT_OK(c, c->api->world->prototype(c->world, keys, 2, &prototype));
    EXPECT_OK(c, c->api->world->create(c->world, prototype, e, COUNT));
    EXPECT_OK(c, c->api->world->add(c->world, keys[2], e, COUNT));
    expect_count(c, COUNT * NAMES, "three instances an entity");
    for (uint32_t i = 0; i < COUNT * NAMES; i++)
        conformance_dress(c, c->world, e[i % COUNT], names[i / COUNT], i + 1);
    EXPECT_OK(c, c->api->world->remove(c->world, keys[1], e, COUNT / 2));
    expect_count(c, COUNT * NAMES - COUNT / 2, "after removing one of three");
    for (uint32_t i = 0; i < COUNT * NAMES; i++) {
        uint32_t n = i / COUNT;
        if (n == 1 && i % COUNT < COUNT / 2)
            expect_has(c, keys[n], &e[i % COUNT], 1, 0, "after removing one of three");
        else
            conformance_expect_dressed(c, c->world, e[i % COUNT], names[n], i + 1,
                                       "after removing one of three");
    }
}

void check_names_of_instances(conformance_t *c)
{
    bp_entity_t e = *conformance_create(c, 1);
    EXPECT_REFUSED(c, BP_ERROR_EXISTS, c->api->world->add(c->world, c->key, &e, 1));
    expect_count(c, 1, "after a second instance of the same name");
    EXPECT_OK(c, c->api->world->remove(c->world, c->key, &e, 1));
    if (c->single)
        expect_single(c);
    else
        expect_several(c);
}

/* --- death ----------------------------------------------------------------------------------------- */

void check_death(conformance_t *c)
{
    enum { COUNT = 200, HEIRS = 3000 };
    bp_entity_t *e = conformance_create_both(c, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        conformance_dress(c, c->world, e[i], "", i + 1);
        conformance_tag(c, c->world, e[i], i);
    }
    uint32_t half = COUNT / 2, slot = 0;
    EXPECT(c, c->api->entity->destroy(c->host, e, half) == half, "not all died");
    expect_has(c, c->key, e, COUNT, COUNT - half, "after half of them died");
    c->api->world->slots(c->world, c->key, e, 1, &slot);
    EXPECT(c, slot == BP_NONE, "a dead entity still has slot %u", slot);
    conformance_value_t v;
    for (uint32_t i = 0; i < c->property_count; i++) {
        bp_property_t property = conformance_resolve(c, c->world, e[half], "", &c->properties[i]);
        EXPECT_REFUSED(c, BP_ERROR_DEAD,
                       c->api->property->get(c->world, &property, e, 1, &v.value, sizeof v.value));
    }
    /* New entities that get the indices of the dead must not inherit their instances. */
    bp_entity_t *heirs = bare(c, HEIRS);
    EXPECT(c, c->api->entity->destroy(c->host, heirs, HEIRS) == HEIRS, "not all heirs died");
    heirs = bare(c, HEIRS);
    expect_has(c, c->key, heirs, HEIRS, 0, "entities at the indices of dead ones");
    for (uint32_t i = half; i < COUNT; i++) {
        conformance_expect_dressed(c, c->world, e[i], "", i + 1, "after others died");
        conformance_expect_tag(c, c->world, e[i], i, "after others died");
    }
    expect_slots(c, e + half, COUNT - half, "after others died");
}

enum { COLLECTION_STEPS = 20000 };

/* Step until there are as many instances as living entities. */
static void expect_collected(conformance_t *c, const bp_entity_t *e, uint32_t count, const char *when)
{
    uint32_t steps = 0, living;
    while (living = c->api->world->has(c->world, c->key, e, count, NULL),
           conformance_count(c, c->world) > living) {
        EXPECT(c, steps++ < COLLECTION_STEPS,
               "%s: %u instances are left for %u living entities after %u steps", when,
               conformance_count(c, c->world), living, steps);
        EXPECT_OK(c, bp_world_step(c->world));
    }
    EXPECT(c, conformance_count(c, c->world) == living, "%s: %u instances for %u living entities", when,
           conformance_count(c, c->world), living);
}

void check_collection(conformance_t *c)
{
    enum { COUNT = 600 };
    uint64_t random = 7;
    bp_entity_t *e = conformance_create_both(c, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        conformance_tag(c, c->world, e[i], i);
    for (uint32_t i = 0; i < COUNT; i++) {
        if (bp_random_below(&random, 2) == 0)
            c->api->entity->destroy(c->host, &e[i], 1);
    }
    expect_collected(c, e, COUNT, "half of them dead");
    for (uint32_t i = 0; i < COUNT; i++) {
        if (c->api->entity->alive(c->host, &e[i], 1, NULL) == 1)
            conformance_expect_tag(c, c->world, e[i], i, "after collection");
    }
    c->api->entity->destroy(c->host, e, COUNT);
    expect_collected(c, e, COUNT, "all of them dead");
    expect_count(c, 0, "after all died and were collected");
    bp_entity_t *again = conformance_create(c, COUNT);
    expect_count(c, COUNT, "created after all died");
    expect_slots(c, again, COUNT, "created after all died");
}

/* --- worlds ---------------------------------------------------------------------------------------- */

void check_worlds_are_independent(conformance_t *c)
{
    enum { COUNT = 100 };
    bp_world_o *second = conformance_world(c, "second");
    uint32_t key = conformance_key(c, second, "");
    bp_entity_t *e = conformance_create(c, COUNT);
    EXPECT_OK(c, c->api->world->add(second, key, e, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) {
        conformance_dress(c, c->world, e[i], "", i + 1);
        conformance_dress(c, second, e[i], "", i + 1001);
    }
    EXPECT(c, conformance_count(c, second) == COUNT, "%u instances in the second world",
           conformance_count(c, second));
    EXPECT_OK(c, c->api->world->remove(second, key, e, COUNT / 4));
    expect_count(c, COUNT, "after removing in the second world");
    for (uint32_t i = 0; i < COUNT; i++) {
        conformance_expect_dressed(c, c->world, e[i], "", i + 1, "the entity is in two worlds");
        if (i >= COUNT / 4)
            conformance_expect_dressed(c, second, e[i], "", i + 1001, "the entity is in two worlds");
    }
    c->api->entity->destroy(c->host, &e[COUNT - 1], 1);
    EXPECT(c, c->api->world->has(second, key, &e[COUNT - 1], 1, NULL) == 0,
           "a dead entity has it in the second world");
    bp_world_destroy(second);
    for (uint32_t i = 0; i < COUNT - 1; i++)
        conformance_expect_dressed(c, c->world, e[i], "", i + 1, "after the second world ended");
}

void check_stops_with_living_instances(conformance_t *c)
{
    bp_world_o *second = conformance_world(c, "second");
    uint32_t key = conformance_key(c, second, "");
    bp_entity_t *e = conformance_create(c, 150);
    EXPECT_OK(c, c->api->world->add(second, key, e, 100));
    for (uint32_t i = 0; i < 100; i++) {
        conformance_dress(c, c->world, e[i], "", i + 1);
        conformance_dress(c, second, e[i], "", i + 2);
    }
    c->api->entity->destroy(c->host, e, 30);
    bp_world_destroy(second);
    expect_has(c, c->key, e, 150, 120, "after another world ended");
}

/* Copy the plugin's name as the host has it, since the plugin's own text goes with the plugin. */
static void plugin_of(conformance_t *c, char *name, size_t size)
{
    const bp_plugin_head_t *desc;
    for (uint32_t i = 0; (desc = bp_host_plugin(c->host, i, NULL)) != NULL; i++)
        snprintf(name, size, "%s", desc->name);
}

void check_unloads_with_living_instances(conformance_t *c)
{
    enum { COUNT = 100 };
    char name[64] = "";
    const char *component = c->subject->component;
    bp_entity_t *e = conformance_create_both(c, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        conformance_dress(c, c->world, e[i], "", i + 1);
        conformance_tag(c, c->world, e[i], i);
    }
    plugin_of(c, name, sizeof name);
    EXPECT_OK(c, bp_host_unload_plugin(c->host, name));
    EXPECT(c, c->api->world->component(c->world, component) == BP_NONE,
           "the world still has a manager of it");
    EXPECT(c, c->api->entity->alive(c->host, e, COUNT, NULL) == COUNT, "entities died with the plugin");
    EXPECT_REFUSED(c, BP_ERROR_NOT_FOUND, bp_world_use_component(c->world, component));
    for (uint32_t i = 0; i < COUNT && strcmp(name, "companion") != 0; i++)
        conformance_expect_tag(c, c->world, e[i], i, "after the plugin went");

    conformance_load_again(c);
    EXPECT_OK(c, bp_world_use_component(c->world, component));
    c->component = c->api->world->component(c->world, component);
    c->key = conformance_key(c, c->world, "");
    EXPECT_OK(c, c->api->world->add(c->world, c->key, e, COUNT));
    for (uint32_t i = 0; i < COUNT; i++)
        conformance_dress(c, c->world, e[i], "", i + 5);
    for (uint32_t i = 0; i < COUNT; i++)
        conformance_expect_dressed(c, c->world, e[i], "", i + 5, "after the plugin came again");
}

/* --- saving and loading ---------------------------------------------------------------------------- */

/* The bytes of an array in storage of its own. */
static size_t array_size(const conformance_property_t *p)
{
    return conformance_size(p->declared.type) * p->declared.count;
}

static void expect_same_arrays(conformance_t *c, bp_manager_t *a, uint32_t slot_a, bp_manager_t *b, uint32_t slot_b,
                               const char *when)
{
    for (uint32_t i = 0; i < c->whole_count; i++) {
        const conformance_property_t *p = &c->wholes[i];
        EXPECT_OK(c, c->storage->get(a, p->index, &slot_a, 1, p->items, array_size(p)));
        EXPECT_OK(c, c->storage->get(b, p->index, &slot_b, 1, p->room, array_size(p)));
        EXPECT(c, memcmp(p->items, p->room, array_size(p)) == 0, "%s array '%s' has other values", when,
               p->declared.name);
    }
}

static void expect_loaded(conformance_t *c, bp_manager_t *from, bp_manager_t *to, uint32_t slot)
{
    bp_value_t saved, loaded;
    char a[CONFORMANCE_TEXT], b[CONFORMANCE_TEXT];
    for (uint32_t i = 0; i < c->property_count; i++) {
        uint32_t type = c->properties[i].declared.type, field = c->properties[i].index;
        memset(&saved, 0, sizeof saved);
        memset(&loaded, 0, sizeof loaded);
        EXPECT_OK(c, c->storage->get(from, field, &slot, 1, &saved, sizeof saved));
        EXPECT_OK(c, c->storage->get(to, field, &slot, 1, &loaded, sizeof loaded));
        EXPECT(c, conformance_same(type, &saved, &loaded),
               "'%s' in slot %u is %.200s, after save and load %.200s", c->properties[i].declared.name, slot,
               conformance_show(type, &saved, a), conformance_show(type, &loaded, b));
    }
    expect_same_arrays(c, from, slot, to, slot, "after save and load");
}

/* Save one manager, and load the bytes into another one that has just started: the same instances must be in the same
 * slots. */
void check_save_and_load(conformance_t *c)
{
    enum { COUNT = 70 };
    uint32_t slots[COUNT];
    void *data = NULL;
    size_t size = 0;
    EXPECT(c, (c->saving.save == NULL) == (c->saving.load == NULL),
           "save and load come together or not at all");
    if (c->saving.save == NULL)
        return;
    bp_entity_t *e = conformance_create(c, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        conformance_dress(c, c->world, e[i], "", i + 1);
    bp_world_o *second = conformance_world(c, "second");
    bp_manager_t *from = c->api->world->manager(c->world, c->component);
    bp_manager_t *to =
        c->api->world->manager(second, c->api->world->component(second, c->subject->component));
    conformance_starve(c, 1);
    bp_result_t result = c->saving.save(from, &data, &size);
    conformance_feed(c, 1);
    EXPECT(c, result != BP_OK, "save succeeds without memory");
    conformance_expect_sentence(c, result, "save");
    EXPECT_OK(c, c->saving.save(from, &data, &size));
    for (uint64_t n = 1;
         conformance_starve(c, n), (result = c->saving.load(to, c->table->version, data, size)) != BP_OK; n++) {
        conformance_expect_sentence(c, result, "load");
        EXPECT(c, conformance_feed(c, n) && n < CONFORMANCE_CALLS, "load fails: %s", bp_host_error(c->host));
        EXPECT(c, c->storage->count(to) == 0, "a load that failed leaves %u instances", c->storage->count(to));
    }
    conformance_feed(c, 0);
    c->api->memory->resize(from->plugin, data, size, 0);
    EXPECT(c, c->storage->count(to) == COUNT, "%u instances were loaded, %d were saved", c->storage->count(to),
           (int)COUNT);
    EXPECT(c, c->api->world->slots(c->world, c->key, e, COUNT, slots) == COUNT, "saving has cost instances");
    for (uint32_t i = 0; i < COUNT; i++) {
        conformance_expect_dressed(c, c->world, e[i], "", i + 1, "after saving");
        expect_loaded(c, from, to, slots[i]);
    }
}

/* --- creation with values -------------------------------------------------------------------------- */

enum { WITH_COUNT = 70 };

/* Columns of values for the fields in `chosen`, a bit each, packed as `create` wants them. */
static void make_columns(conformance_t *c, uint32_t chosen, uint64_t seed, const void **columns)
{
    conformance_value_t *values = conformance_new(c, WITH_COUNT * CONFORMANCE_FIELDS * sizeof *values);
    for (uint32_t k = 0; k < c->property_count; k++) {
        const conformance_property_t *p = &c->properties[k];
        size_t size = conformance_size(p->declared.type);
        if (!conformance_is_writable(p) || p->declared.type == BP_ENTITY || (chosen >> k % 32 & 1) == 0)
            continue;
        char *column = conformance_new(c, WITH_COUNT * size);
        for (uint32_t i = 0; i < WITH_COUNT; i++) {
            conformance_value_t *v = &values[k * WITH_COUNT + i];
            conformance_value(c, p, p->refuses ? 0 : seed + i, v); /* other values may be refused */
            memcpy(column + i * size, &v->value, size);
        }
        columns[p->index] = column;
    }
    for (uint32_t k = 0; k < c->whole_count; k++) {
        const conformance_property_t *p = &c->wholes[k];
        if (!conformance_is_writable(p) || (chosen >> p->index % 32 & 1) == 0)
            continue;
        char *column = conformance_new(c, WITH_COUNT * array_size(p));
        for (uint32_t i = 0; i < WITH_COUNT; i++)
            conformance_whole(c, p, p->refuses ? 0 : seed + i, column + i * array_size(p));
        columns[p->index] = column;
    }
}

/* Put the same values into a manager of its own by create and then set. False where a set is refused. */
static bool create_and_set(conformance_t *c, bp_manager_t *m, const bp_entity_t *e, const void **columns,
                           uint32_t *slots)
{
    EXPECT_OK(c, c->storage->create(m, 1, e, WITH_COUNT, NULL, slots));
    for (uint32_t k = 0; k < c->property_count + c->whole_count; k++) {
        bool whole = k >= c->property_count;
        const conformance_property_t *p = whole ? &c->wholes[k - c->property_count] : &c->properties[k];
        size_t size = whole ? array_size(p) : conformance_size(p->declared.type);
        bp_result_t result = BP_OK;
        conformance_forget_error(c);
        if (columns[p->index] != NULL)
            result = c->storage->set(m, p->index, slots, WITH_COUNT, columns[p->index], size);
        conformance_expect_sentence(c, result, "set");
        if (result != BP_OK)
            return false;
    }
    return true;
}

static void expect_same_instances(conformance_t *c, bp_manager_t *a, const uint32_t *slots_a, bp_manager_t *b,
                                  const uint32_t *slots_b)
{
    bp_value_t x, y;
    char one[CONFORMANCE_TEXT], other[CONFORMANCE_TEXT];
    for (uint32_t k = 0; k < c->property_count; k++) {
        uint32_t type = c->properties[k].declared.type, index = c->properties[k].index;
        for (uint32_t i = 0; i < WITH_COUNT; i++) {
            memset(&x, 0, sizeof x);
            memset(&y, 0, sizeof y);
            EXPECT_OK(c, c->storage->get(a, index, &slots_a[i], 1, &x, sizeof x));
            EXPECT_OK(c, c->storage->get(b, index, &slots_b[i], 1, &y, sizeof y));
            EXPECT(c, conformance_same(type, &x, &y), "created with values '%s' is %.200s, created and set %.200s",
                   c->properties[k].declared.name, conformance_show(type, &x, one), conformance_show(type, &y, other));
        }
    }
    for (uint32_t i = 0; i < WITH_COUNT; i++)
        expect_same_arrays(c, a, slots_a[i], b, slots_b[i], "created with values, beside created and set,");
}

/* Both ways in managers of their own, with each choice of columns; and once with every allocation failing. */
void check_creates_with_values(conformance_t *c)
{
    enum { CHOICES = 12 };
    uint32_t with[WITH_COUNT], set[WITH_COUNT];
    if (!c->own_storage || c->storage->set == NULL)
        return;
    for (uint32_t i = 0; i < c->property_count; i++) /* find out for which properties values may be refused */
        conformance_dress(c, c->world, *conformance_create(c, 1), "", i + 1);
    for (uint32_t choice = 0; choice < CHOICES; choice++) {
        const void *columns[CONFORMANCE_FIELDS] = {NULL};
        bp_entity_t *e = bare(c, WITH_COUNT);
        bp_world_o *first = conformance_world(c, "with"), *second = conformance_world(c, "set");
        bp_manager_t *a = c->api->world->manager(first, c->api->world->component(first, c->subject->component));
        bp_manager_t *b = c->api->world->manager(second, c->api->world->component(second, c->subject->component));
        make_columns(c, choice == 0 ? UINT32_MAX : choice == 1 ? 0 : choice * 0x9E3779B9u, choice * 1000 + 1, columns);
        bool taken = create_and_set(c, b, e, columns, set);
        if (!taken)
            memset(columns, 0, sizeof columns);
        bp_result_t result;
        for (uint64_t n = 1; conformance_starve(c, n),
                      (result = c->storage->create(a, 1, e, WITH_COUNT, columns, with)) != BP_OK; n++) {
            conformance_expect_sentence(c, result, "creating with values");
            EXPECT(c, conformance_feed(c, n) && n < CONFORMANCE_CALLS, "creating with values fails: %s",
                   bp_host_error(c->host));
            EXPECT(c, c->storage->count(a) == 0, "creating with values failed and left %u", c->storage->count(a));
        }
        conformance_feed(c, 0);
        EXPECT(c, c->storage->count(a) == WITH_COUNT, "%u instances were created with values", c->storage->count(a));
        if (taken)
            expect_same_instances(c, a, with, b, set);
        bp_world_destroy(first);
        bp_world_destroy(second);
    }
}

/* --- threads --------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t digest, uint64_t number)
{
    uint64_t state = digest ^ number;
    return bp_random_next(&state);
}

static uint64_t digest_value(uint64_t digest, uint32_t type, const bp_value_t *value)
{
    uint64_t words[8] = {0};
    if (type == BP_STRING) {
        for (const char *at = value->string; *at != '\0'; at++)
            digest = mix(digest, (unsigned char)*at);
        return digest;
    }
    memcpy(words, value, conformance_size(type));
    if (type == BP_ENTITY)
        words[0] = bp_entity_index(value->entity); /* the index alone, since another host gives ids another tag */
    for (int i = 0; i < 8; i++)
        digest = mix(digest, words[i]);
    return digest;
}

/* Long runs and short ones, three steps; the digest is of all values. With several threads more of the entities have a
 * second component, so that their rows lie in other runs: the values must not depend on where a row lies, or beside how
 * many others. */
void check_threads_agree(conformance_t *c)
{
    enum { LONG = 40000, SHORT = 700 };
    bp_entity_t *e = conformance_new(c, (LONG + SHORT) * sizeof *e);
    uint32_t alone = c->threads > 1 ? LONG / 2 : LONG;
    memcpy(e, conformance_create(c, alone), alone * sizeof *e);
    memcpy(e + alone, conformance_create_both(c, LONG + SHORT - alone), (LONG + SHORT - alone) * sizeof *e);
    for (uint32_t i = 0; i < LONG + SHORT; i += 1 + i % 3)
        conformance_dress(c, c->world, e[i], "", i + 1);
    for (int i = 0; i < 3; i++)
        EXPECT_OK(c, bp_world_step(c->world));
    for (uint32_t i = 0; i < c->property_count; i++) {
        bp_property_t property = conformance_resolve(c, c->world, e[0], "", &c->properties[i]);
        for (uint32_t k = 0; k < LONG + SHORT; k++) {
            bp_value_t value;
            bp_result_t result = c->api->property->get(c->world, &property, &e[k], 1, &value, sizeof value);
            if (result == BP_ERROR_DEAD || result == BP_ERROR_NOT_FOUND)
                continue; /* a step may end an entity, or take the component from it */
            EXPECT(c, result == BP_OK, "after some steps '%s' cannot be read: error %d: %s",
                   c->properties[i].declared.name, result, bp_host_error(c->host));
            c->digest = digest_value(c->digest, property.type, &value);
        }
    }
}
