/* conformance_properties.c - checks of properties: the values that properties begin with, take and give back, and
 * refuse.
 *
 * A plugin may refuse a value that lies in its declared range (a file that is not there): then nothing may have
 * changed. A plugin must not take one value and give back another, nor change a settable property when another one is
 * set.
 */
#include "conformance.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- defaults -------------------------------------------------------------------------------------- */

static void expect_defaults(conformance_t *c, bp_entity_t e, const char *when)
{
    conformance_value_t v;
    for (uint32_t i = 0; i < c->property_count; i++) {
        if (conformance_default(c, &c->properties[i], &v))
            conformance_expect_value(c, c->world, e, "", &c->properties[i], &v.value, when);
    }
    for (uint32_t i = 0; i < c->whole_count; i++)
        conformance_expect_whole(c, c->world, e, "", &c->wholes[i], 0, when);
}

void check_defaults(conformance_t *c)
{
    enum { COUNT = 60 };
    bp_entity_t *e = conformance_create(c, COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        expect_defaults(c, e[i], "just created");
        conformance_dress(c, c->world, e[i], "", i + 1);
    }
    EXPECT_OK(c, c->api->world->remove(c->world, c->key, e, COUNT));
    EXPECT_OK(c, c->api->world->add(c->world, c->key, e, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) {
        expect_defaults(c, e[i], "removed and added again");
        conformance_dress(c, c->world, e[i], "", i + 1);
    }
    c->api->entity->destroy(c->host, e, COUNT);
    for (int i = 0; i < 200; i++)
        EXPECT_OK(c, bp_world_step(c->world));
    e = conformance_create_both(c, COUNT * 2);
    for (uint32_t i = 0; i < COUNT * 2; i++)
        expect_defaults(c, e[i], "created where others have died");
}

/* --- round trips ----------------------------------------------------------------------------------- */

/* The writable properties of an entity, each as its seed says. */
static void expect_seeds(conformance_t *c, bp_entity_t e, const uint64_t *seeds, const char *when)
{
    conformance_value_t v;
    for (uint32_t i = 0; i < c->property_count; i++) {
        if (!conformance_is_writable(&c->properties[i]))
            continue;
        conformance_value(c, &c->properties[i], seeds[i], &v);
        conformance_expect_value(c, c->world, e, "", &c->properties[i], &v.value, when);
    }
}

static void round_trip(conformance_t *c, bp_entity_t e, uint64_t *seeds, uint32_t index, uint64_t seed)
{
    conformance_property_t *p = &c->properties[index];
    conformance_value_t v;
    bp_value_t found;
    memset(&found, 0, sizeof found);
    conformance_value(c, p, seed, &v);
    if (conformance_set(c, c->world, e, "", p, &v.value))
        seeds[index] = seed;
    expect_seeds(c, e, seeds, "after setting one property");
    conformance_value(c, p, seeds[index], &v);
    EXPECT_OK(c, c->api->property->get_named(c->world, e, c->subject->component, p->declared.name,
                                             p->declared.type, &found));
    EXPECT(c, conformance_same(p->declared.type, &found, &v.value),
           "'%s' by its name is not what it is by its key", p->declared.name);
}

/* Three entities in turn, so that a value which lands with a neighbour is seen. */
void check_round_trip(conformance_t *c)
{
    enum { ENTITIES = 3, ROUNDS = 240 };
    bp_entity_t *e = conformance_create(c, ENTITIES);
    uint64_t *seeds = conformance_new(c, ENTITIES * CONFORMANCE_FIELDS * sizeof *seeds);
    for (uint32_t round = 1; round <= ROUNDS && c->property_count > 0; round++) {
        for (uint32_t i = 0; i < c->property_count; i++) {
            uint32_t turn = (round + i) % ENTITIES;
            if (conformance_is_writable(&c->properties[i]))
                round_trip(c, e[turn], seeds + turn * CONFORMANCE_FIELDS, i, round);
        }
        for (uint32_t turn = 0; turn < ENTITIES; turn++)
            expect_seeds(c, e[turn], seeds + turn * CONFORMANCE_FIELDS, "after setting properties of others");
    }
}

enum { BATCH = 100 };

static void shuffle(bp_entity_t *e, uint32_t count, uint64_t *random)
{
    for (uint32_t i = count; i > 1; i--) {
        uint32_t k = bp_random_below(random, i);
        bp_entity_t kept = e[i - 1];
        e[i - 1] = e[k];
        e[k] = kept;
    }
}

/* Read a batch with room between the values, which must stay as it was. */
static void expect_batch(conformance_t *c, const bp_entity_t *e, uint32_t count,
                         const conformance_property_t *p, const conformance_value_t *expected,
                         const char *when)
{
    enum { STRIDE = sizeof(bp_value_t) + 24 };
    unsigned char *values = conformance_new(c, BATCH * STRIDE);
    size_t size = conformance_size(p->declared.type);
    char a[CONFORMANCE_TEXT], b[CONFORMANCE_TEXT];
    bp_property_t property = conformance_resolve(c, c->world, e[0], "", p);
    memset(values, 0xA5, BATCH * STRIDE);
    EXPECT_OK(c, c->api->property->get(c->world, &property, e, count, values, STRIDE));
    for (uint32_t i = 0; i < count; i++) {
        EXPECT(c, conformance_same(p->declared.type, values + i * STRIDE, &expected[i].value),
               "%s, value %u of %u: '%s' is %.150s instead of %.150s", when, i, count, p->declared.name,
               conformance_show(p->declared.type, values + i * STRIDE, a),
               conformance_show(p->declared.type, &expected[i].value, b));
        for (size_t k = size; k < STRIDE; k++)
            EXPECT(c, values[i * STRIDE + k] == 0xA5, "get of '%s' writes between the values",
                   p->declared.name);
    }
}

/* Set a property of a batch and read it back. A value that could not be set must be as before; `now` holds the expected
 * values, by place in the batch. */
static void batch_trip(conformance_t *c, const bp_entity_t *e, uint32_t count, conformance_property_t *p,
                       uint64_t seed, conformance_value_t *now)
{
    conformance_value_t *values = conformance_new(c, BATCH * sizeof *values);
    bp_property_t property = conformance_resolve(c, c->world, e[0], "", p);
    bool same_for_all = seed % 5 == 0;
    for (uint32_t i = 0; i < count; i++)
        conformance_value(c, p, seed * BATCH + (same_for_all ? 0 : i), &values[i]);
    conformance_forget_error(c);
    bp_result_t result = c->api->property->set(c->world, &property, e, count, &values[0].value,
                                               same_for_all ? 0 : sizeof *values);
    EXPECT(c, result == BP_OK || bp_host_error(c->host)[0] != '\0', "setting '%s' fails without a sentence",
           p->declared.name);
    for (uint32_t i = 0; i < count && result == BP_OK; i++) {
        now[i] = values[i];
        if (now[i].value.string == values[i].text && p->declared.type == BP_STRING)
            now[i].value.string = now[i].text;
    }
    expect_batch(c, e, count, p, now,
                 result == BP_OK ? "after setting a batch" : "after a batch that was refused");
}

/* All other properties, those that the plugin computes included, must be as if the values had been set one by one. */
static void expect_twins(conformance_t *c, const bp_entity_t *e, const bp_entity_t *twins, uint32_t count)
{
    bp_value_t value;
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < c->property_count; k++) {
            conformance_property_t *p = &c->properties[k];
            bp_property_t property = conformance_resolve(c, c->world, e[i], "", p);
            memset(&value, 0, sizeof value);
            EXPECT_OK(c, c->api->property->get(c->world, &property, &e[i], 1, &value, sizeof value));
            if (conformance_is_writable(p))
                conformance_set(c, c->world, twins[i], "", p, &value);
        }
        for (uint32_t k = 0; k < c->property_count; k++) {
            conformance_property_t *p = &c->properties[k];
            bp_property_t property = conformance_resolve(c, c->world, e[i], "", p);
            memset(&value, 0, sizeof value);
            EXPECT_OK(c, c->api->property->get(c->world, &property, &e[i], 1, &value, sizeof value));
            if (!p->refuses)
                conformance_expect_value(c, c->world, twins[i], "", p, &value,
                                         "set one by one instead of in a batch");
        }
    }
}

void check_round_trip_in_batches(conformance_t *c)
{
    static const uint32_t sizes[] = {1, 2, 3, 5, 17, 64, 99, BATCH, 2, BATCH};
    uint64_t random = 3;
    bp_entity_t *e = conformance_create(c, BATCH), *twins = conformance_create(c, BATCH);
    conformance_value_t *now = conformance_new(c, BATCH * sizeof *now);
    shuffle(e, BATCH, &random);
    for (uint32_t k = 0; k < c->property_count; k++) {
        conformance_property_t *p = &c->properties[k];
        for (uint32_t i = 0; i < BATCH; i++)
            conformance_value(c, p, 0, &now[i]);
        for (uint32_t i = 0; i < BATCH && p->declared.type == BP_STRING; i++)
            snprintf(now[i].text, sizeof now[i].text, "%s", now[i].value.string),
                now[i].value.string = now[i].text;
        for (uint32_t s = 0; s < sizeof sizes / sizeof sizes[0] && conformance_is_writable(p); s++)
            batch_trip(c, e, sizes[s], p, s + 1, now);
    }
    expect_twins(c, e, twins, BATCH);
}

/* "main/#3:1.body.mass" */
static bp_path_t path_of(conformance_t *c, bp_entity_t e, const conformance_property_t *p)
{
    char entity[64], text[256];
    bp_path_t path;
    c->api->entity->format(c->host, e, entity, sizeof entity);
    snprintf(text, sizeof text, "main/%s.%s.%s", entity, c->subject->component, p->declared.name);
    EXPECT_OK(c, c->api->property->parse_path(c->host, text, &path));
    return path;
}

/* The text of a value must be complete: the value that is read back from the text must be the same. */
void check_round_trip_as_text(conformance_t *c)
{
    bp_entity_t *e = conformance_create(c, 2);
    conformance_value_t v;
    char text[2048];
    for (uint32_t round = 1; round <= 60; round++) {
        for (uint32_t i = 0; i < c->property_count; i++) {
            conformance_property_t *p = &c->properties[i];
            if (!conformance_is_writable(p))
                continue;
            conformance_value(c, p, round, &v);
            if (!conformance_set(c, c->world, e[0], "", p, &v.value))
                continue;
            bp_path_t from = path_of(c, e[0], p), to = path_of(c, e[1], p);
            EXPECT_OK(c, c->api->property->get_text(&from, text, sizeof text));
            EXPECT_OK(c, c->api->property->set_text(&to, text));
            conformance_expect_value(c, c->world, e[1], "", p, &v.value, "by way of its text");
        }
    }
}

/* --- refusals -------------------------------------------------------------------------------------- */

/* All properties of an entity, to see that nothing has changed. */
static bp_value_t *remember(conformance_t *c, bp_entity_t e)
{
    bp_value_t *all = conformance_new(c, CONFORMANCE_FIELDS * sizeof *all);
    for (uint32_t i = 0; i < c->property_count; i++) {
        bp_property_t property = conformance_resolve(c, c->world, e, "", &c->properties[i]);
        EXPECT_OK(c, c->api->property->get(c->world, &property, &e, 1, &all[i], sizeof all[i]));
        if (property.type != BP_STRING)
            continue;
        char *copy = conformance_new(c, strlen(all[i].string) + 1);
        strcpy(copy, all[i].string);
        all[i].string = copy;
    }
    return all;
}

static void expect_remembered(conformance_t *c, bp_entity_t e, const bp_value_t *all, const char *when)
{
    for (uint32_t i = 0; i < c->property_count; i++)
        conformance_expect_value(c, c->world, e, "", &c->properties[i], &all[i], when);
}

void check_read_only(conformance_t *c)
{
    bp_entity_t *e = conformance_create(c, 3);
    conformance_value_t v[3];
    char text[2048];
    for (uint32_t i = 0; i < 3; i++)
        conformance_dress(c, c->world, e[i], "", i + 1);
    const bp_value_t *before = remember(c, e[1]);
    for (uint32_t i = 0; i < c->property_count; i++) {
        const conformance_property_t *p = &c->properties[i];
        if (conformance_is_writable(p))
            continue;
        bp_property_t property = conformance_resolve(c, c->world, e[0], "", p);
        for (uint32_t k = 0; k < 3; k++)
            conformance_value(c, p, k + 77, &v[k]);
        EXPECT_REFUSED(c, BP_ERROR_ARGUMENT,
                       c->api->property->set(c->world, &property, e, 3, &v[0].value, sizeof v[0]));
        bp_path_t path = path_of(c, e[1], p);
        EXPECT_OK(c, c->api->property->get_text(&path, text, sizeof text));
        EXPECT_REFUSED(c, BP_ERROR_ARGUMENT, c->api->property->set_text(&path, text));
    }
    expect_remembered(c, e[1], before, "after setting what is read only");
}

/* Write `number` as part `part` of a value of a type that is no integer. False where it has no such part. */
static bool put_number(uint32_t type, uint32_t part, double number, bp_value_t *value)
{
    uint32_t doubles = type == BP_F64 ? 1 : type == BP_DVEC2 ? 2 : type == BP_DVEC3 ? 3 : type == BP_DVEC4 ? 4 : 0;
    if (doubles > 0) {
        (&value->dvec4.x)[part < doubles ? part : 0] = number;
        return part < doubles;
    }
    uint32_t parts = type == BP_F32 ? 1 : type == BP_VEC2 ? 2 : type == BP_VEC3 ? 3 : type == BP_MAT4 ? 16 : 4;
    value->mat4.m[part < parts ? part : 0] = (float)number;
    return part < parts;
}

/* A number just beyond a limit, in the grain of the type. */
static double beyond(uint32_t type, double limit, double direction)
{
    return type == BP_F64 || type >= BP_DVEC2 ? nextafter(limit, direction * HUGE_VAL)
                          : (double)nextafterf((float)limit, (float)(direction * HUGE_VAL));
}

/* One bad value in the middle of good ones. */
static void expect_refused_value(conformance_t *c, const bp_entity_t *e, const conformance_property_t *p,
                                 const bp_value_t *bad)
{
    conformance_value_t v[3];
    for (uint32_t k = 0; k < 3; k++)
        conformance_value(c, p, k + 501, &v[k]);
    v[1].value = *bad;
    const bp_value_t *before[3] = {remember(c, e[0]), remember(c, e[1]), remember(c, e[2])};
    bp_property_t property = conformance_resolve(c, c->world, e[0], "", p);
    EXPECT_REFUSED(c, BP_ERROR_RANGE,
                   c->api->property->set(c->world, &property, e, 3, &v[0].value, sizeof v[0]));
    EXPECT_REFUSED(c, BP_ERROR_RANGE,
                   c->api->property->set(c->world, &property, e, 1, &v[1].value, sizeof v[1]));
    for (uint32_t k = 0; k < 3; k++)
        expect_remembered(c, e[k], before[k], "after a value out of range");
}

/* The same for part `part` of a value with a number in it, where the value has such a part. */
static void expect_out_of_range(conformance_t *c, const bp_entity_t *e, const conformance_property_t *p,
                                uint32_t part, double number)
{
    conformance_value_t v;
    conformance_value(c, p, 502, &v);
    if (put_number(p->declared.type, part, number, &v.value))
        expect_refused_value(c, e, p, &v.value);
}

static void expect_integers_refused(conformance_t *c, const bp_entity_t *e, const conformance_property_t *p)
{
    for (uint32_t above = 0; above < 2; above++) {
        bp_value_t value;
        if (conformance_beyond(p, above != 0, &value))
            expect_refused_value(c, e, p, &value);
    }
}

static void expect_numbers_refused(conformance_t *c, const bp_entity_t *e, const conformance_property_t *p)
{
    for (uint32_t part = 0; part < 16; part++) {
        if (p->min > -HUGE_VAL)
            expect_out_of_range(c, e, p, part, beyond(p->declared.type, p->min, -1));
        if (p->max < HUGE_VAL)
            expect_out_of_range(c, e, p, part, beyond(p->declared.type, p->max, 1));
        expect_out_of_range(c, e, p, part, (double)NAN);
    }
}

void check_range(conformance_t *c)
{
    bp_entity_t *e = conformance_create(c, 3);
    for (uint32_t i = 0; i < 3; i++)
        conformance_dress(c, c->world, e[i], "", i + 1);
    for (uint32_t i = 0; i < c->property_count; i++) {
        const conformance_property_t *p = &c->properties[i];
        if (!conformance_is_writable(p) || (p->min == -HUGE_VAL && p->max == HUGE_VAL))
            continue;
        if (conformance_bits(p->declared.type) != 0)
            expect_integers_refused(c, e, p);
        else
            expect_numbers_refused(c, e, p);
    }
}

/* An entity of another host. */
static bp_entity_t stranger(conformance_t *c)
{
    bp_entity_t e[64];
    bp_host_o *other = bp_host_create(&(bp_host_desc_t){.tag = 1});
    EXPECT(c, other != NULL, "no second host can be had");
    EXPECT(c, bp_host_api(other)->entity->create(other, e, 64) == BP_OK, "the second host creates nothing");
    bp_host_destroy(other);
    return e[CONFORMANCE_FRIENDS]; /* an id with the index that the first entity with the component has in this host */
}

static void expect_absent(conformance_t *c, const bp_entity_t *e, const conformance_property_t *p,
                          bp_entity_t odd, bp_result_t code)
{
    conformance_value_t v[3];
    bp_entity_t batch[3] = {e[0], odd, e[1]};
    bp_property_t property = conformance_resolve(c, c->world, e[0], "", p);
    for (uint32_t k = 0; k < 3; k++)
        conformance_value(c, p, k + 901, &v[k]);
    EXPECT_REFUSED(c, code, c->api->property->get(c->world, &property, batch, 3, &v[0].value, sizeof v[0]));
    EXPECT_REFUSED(c, code, c->api->property->get(c->world, &property, &odd, 1, &v[0].value, sizeof v[0]));
    for (uint32_t k = 0; k < 3; k++)
        conformance_value(c, p, k + 901, &v[k]);
    if (!conformance_is_writable(p))
        return;
    EXPECT_REFUSED(c, code, c->api->property->set(c->world, &property, batch, 3, &v[0].value, sizeof v[0]));
    EXPECT_REFUSED(c, code, c->api->property->set(c->world, &property, &odd, 1, &v[1].value, sizeof v[1]));
}

void check_refusals(conformance_t *c)
{
    bp_entity_t *e = conformance_create(c, 3), without;
    bp_value_t value;
    EXPECT_OK(c, c->api->entity->create(c->host, &without, 1));
    for (uint32_t i = 0; i < 3; i++)
        conformance_dress(c, c->world, e[i], "", i + 1);
    c->api->entity->destroy(c->host, &e[2], 1);
    const bp_value_t *before = remember(c, e[0]);
    bp_entity_t foreign = stranger(c);
    for (uint32_t i = 0; i < c->property_count; i++) {
        const conformance_property_t *p = &c->properties[i];
        uint32_t wrong = p->declared.type == BP_F64 ? BP_I64 : BP_F64;
        memset(&value, 0, sizeof value);
        EXPECT_REFUSED(c, BP_ERROR_TYPE,
                       c->api->property->set_named(c->world, e[0], c->subject->component, p->declared.name,
                                                   wrong, &value));
        EXPECT_REFUSED(c, BP_ERROR_TYPE,
                       c->api->property->get_named(c->world, e[0], c->subject->component, p->declared.name,
                                                   wrong, &value));
        expect_absent(c, e, p, e[2], BP_ERROR_DEAD);
        expect_absent(c, e, p, foreign, BP_ERROR_DEAD);
        expect_absent(c, e, p, without, BP_ERROR_NOT_FOUND);
    }
    bp_property_t none;
    EXPECT_REFUSED(c, BP_ERROR_NOT_FOUND,
                   c->api->property->resolve(c->world, e[0], c->subject->component, "no_such_property",
                                             &none));
    EXPECT_REFUSED(c, BP_ERROR_NOT_FOUND,
                   c->api->property->resolve(c->world, e[0], "no_such_component", "x", &none));
    expect_remembered(c, e[0], before, "after refused calls");
}
