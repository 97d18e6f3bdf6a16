/* conformance_churn.c - thousands of random operations against a model.
 *
 * Instances are recognised by their values: the model keeps one seed a property, from which the value follows. When
 * instances move (swap-erase, other prototypes, growing arrays) and a value is not moved along, or goes to the wrong
 * entity, a comparison with the model finds it.
 *
 * With steps only the properties are watched that steps do not change; find_stable finds these by trial.
 */
#include "conformance.h"

#include <stdio.h>
#include <string.h>

enum { ENTITIES = 240, NAMES = 3, BATCH = 40, OPERATIONS = 5000, LOOK_EVERY = 250, STABLE_TRIALS = 8 };

static const char *const names[NAMES] = {"", "second", "third"};

typedef struct life_t {
    bp_entity_t e;
    bool alive, tagged;
    uint32_t tag;
    bool has[NAMES];
    uint64_t *seeds[NAMES]; /* one for each property; 0: the default */
} life_t;

typedef struct churn_t {
    conformance_t *c;
    uint64_t random;
    uint32_t keys[NAMES];
    uint64_t next_seed;
    bool watched[CONFORMANCE_FIELDS];
    life_t lives[ENTITIES];
    uint32_t chosen[BATCH];
    bp_entity_t batch[BATCH];
} churn_t;

/* --- choosing -------------------------------------------------------------------------------------- */

static bool any(const churn_t *t, const life_t *life) { (void)t; return life->alive; }

/* Can an entity take one more instance? An entity has at most one instance of a single component, under whichever
 * name. */
static bool has_room(const churn_t *t, const life_t *life)
{
    return life->alive && (!t->c->single || (!life->has[0] && !life->has[1] && !life->has[2]));
}

static bool dead(const churn_t *t, const life_t *life) { (void)t; return !life->alive; }
static bool tagged(const churn_t *t, const life_t *life) { (void)t; return life->alive && life->tagged; }
static bool untagged(const churn_t *t, const life_t *life) { (void)t; return life->alive && !life->tagged; }

/* Choose up to BATCH lives that fit, in random order, each once. */
static uint32_t choose(churn_t *t, bool (*fits)(const churn_t *, const life_t *), uint32_t name, int having)
{
    uint32_t found = 0, most = 1 + bp_random_below(&t->random, BATCH),
             at = bp_random_below(&t->random, ENTITIES);
    uint32_t stride = 7; /* prime to ENTITIES: each life is visited once */
    for (uint32_t i = 0; i < ENTITIES && found < most; i++, at = (at + stride) % ENTITIES) {
        const life_t *life = &t->lives[at];
        if (!fits(t, life) || (having >= 0 && life->has[name] != (having != 0)) ||
            bp_random_below(&t->random, 3) == 0)
            continue;
        t->chosen[found] = at;
        t->batch[found++] = life->e;
    }
    return found;
}

static void begin_instance(churn_t *t, life_t *life, uint32_t name)
{
    life->has[name] = true;
    memset(life->seeds[name], 0, t->c->property_count * sizeof(uint64_t));
}

/* --- operations ------------------------------------------------------------------------------------ */

/* New entities with a random set of instances, and perhaps the companion. */
static void create(churn_t *t)
{
    conformance_t *c = t->c;
    uint32_t keys[NAMES + 1], count = 0, prototype;
    uint32_t pick = c->single ? 1u << bp_random_below(&t->random, NAMES)
                              : 1 + bp_random_below(&t->random, (1u << NAMES) - 1);
    bool with_tag = bp_random_below(&t->random, 2) == 0;
    for (uint32_t n = 0; n < NAMES; n++) {
        if ((pick >> n & 1) != 0)
            keys[count++] = t->keys[n];
    }
    if (with_tag)
        keys[count++] = c->companion_key;
    EXPECT_OK(c, c->api->world->prototype(c->world, keys, count, &prototype));
    uint32_t found = choose(t, dead, 0, -1);
    EXPECT_OK(c, c->api->world->create(c->world, prototype, t->batch, found));
    for (uint32_t i = 0; i < found; i++) {
        life_t *life = &t->lives[t->chosen[i]];
        life->e = t->batch[i];
        life->alive = true;
        life->tagged = with_tag;
        life->tag = 4000000000u;
        for (uint32_t n = 0; n < NAMES; n++) {
            life->has[n] = false;
            if ((pick >> n & 1) != 0)
                begin_instance(t, life, n);
        }
        if (with_tag)
            conformance_tag(c, c->world, life->e, life->tag = (uint32_t)t->next_seed++);
    }
}

static void add(churn_t *t)
{
    uint32_t n = bp_random_below(&t->random, NAMES), found = choose(t, has_room, n, 0);
    EXPECT_OK(t->c, t->c->api->world->add(t->c->world, t->keys[n], t->batch, found));
    for (uint32_t i = 0; i < found; i++)
        begin_instance(t, &t->lives[t->chosen[i]], n);
}

static void take_away(churn_t *t)
{
    uint32_t n = bp_random_below(&t->random, NAMES), found = choose(t, any, n, 1);
    EXPECT_OK(t->c, t->c->api->world->remove(t->c->world, t->keys[n], t->batch, found));
    for (uint32_t i = 0; i < found; i++)
        t->lives[t->chosen[i]].has[n] = false;
}

static void move_beside(churn_t *t)
{
    conformance_t *c = t->c;
    bool come = bp_random_below(&t->random, 2) == 0;
    uint32_t found = choose(t, come ? untagged : tagged, 0, -1);
    if (come)
        EXPECT_OK(c, c->api->world->add(c->world, c->companion_key, t->batch, found));
    else
        EXPECT_OK(c, c->api->world->remove(c->world, c->companion_key, t->batch, found));
    for (uint32_t i = 0; i < found; i++) {
        life_t *life = &t->lives[t->chosen[i]];
        life->tagged = come;
        if (come)
            conformance_tag(c, c->world, life->e, life->tag = (uint32_t)t->next_seed++);
    }
}

static void kill(churn_t *t)
{
    uint32_t found = choose(t, any, 0, -1);
    found = found > BATCH / 2 ? BATCH / 2 : found;
    EXPECT(t->c, t->c->api->entity->destroy(t->c->host, t->batch, found) == found, "not all of a batch died");
    for (uint32_t i = 0; i < found; i++)
        t->lives[t->chosen[i]].alive = false;
}

/* All writable properties of some instances. */
static void dress(churn_t *t)
{
    conformance_t *c = t->c;
    conformance_value_t v;
    uint32_t n = bp_random_below(&t->random, NAMES), found = choose(t, any, n, 1);
    for (uint32_t i = 0; i < found; i++) {
        life_t *life = &t->lives[t->chosen[i]];
        uint64_t seed = t->next_seed++;
        for (uint32_t k = 0; k < c->property_count; k++) {
            conformance_value(c, &c->properties[k], seed, &v);
            if (conformance_is_writable(&c->properties[k]) &&
                conformance_set(c, c->world, life->e, names[n], &c->properties[k], &v.value))
                life->seeds[n][k] = seed;
        }
    }
}

/* One property of many instances in one call. */
static void dress_batch(churn_t *t)
{
    conformance_t *c = t->c;
    if (c->property_count == 0)
        return;
    conformance_value_t v[BATCH];
    uint32_t n = bp_random_below(&t->random, NAMES), found = choose(t, any, n, 1);
    const conformance_property_t *p = &c->properties[bp_random_below(&t->random, c->property_count)];
    if (found == 0 || !conformance_is_writable(p))
        return;
    uint64_t seed = t->next_seed;
    t->next_seed += found;
    for (uint32_t i = 0; i < found; i++)
        conformance_value(c, p, seed + i, &v[i]);
    bp_property_t property = conformance_resolve(c, c->world, t->batch[0], names[n], p);
    conformance_forget_error(c);
    bp_result_t result = c->api->property->set(c->world, &property, t->batch, found, &v[0].value, sizeof v[0]);
    conformance_expect_sentence(c, result, "setting a batch");
    if (result != BP_OK)
        return;
    for (uint32_t i = 0; i < found; i++)
        t->lives[t->chosen[i]].seeds[n][p - c->properties] = seed + i;
}

/* A component may destroy entities in its step. */
static void step(churn_t *t)
{
    EXPECT_OK(t->c, bp_world_step(t->c->world));
    for (uint32_t i = 0; i < ENTITIES; i++) {
        life_t *life = &t->lives[i];
        life->alive = life->alive && t->c->api->entity->alive(t->c->host, &life->e, 1, NULL) == 1;
    }
}

/* --- looking --------------------------------------------------------------------------------------- */

static uint32_t look_at(churn_t *t, life_t *life)
{
    conformance_t *c = t->c;
    conformance_value_t v;
    uint32_t instances = 0;
    for (uint32_t n = 0; n < NAMES; n++) {
        uint32_t has = c->api->world->has(c->world, t->keys[n], &life->e, 1, NULL);
        EXPECT(c, has == (life->alive && life->has[n]), "an entity that %s '%s' is said to %s it",
               life->alive && life->has[n] ? "has" : "does not have", names[n], has ? "have" : "lack");
        instances += has;
        for (uint32_t k = 0; has && k < c->property_count; k++) {
            if (!t->watched[k])
                continue;
            conformance_value(c, &c->properties[k], life->seeds[n][k], &v);
            conformance_expect_value(c, c->world, life->e, names[n], &c->properties[k], &v.value,
                                     "after random operations");
        }
    }
    if (life->alive && life->tagged)
        conformance_expect_tag(c, c->world, life->e, life->tag, "after random operations");
    return instances;
}

/* Compare the world with the model. Managers that are told of a death at once must hold instances of living entities
 * only. */
static void look(churn_t *t)
{
    conformance_t *c = t->c;
    uint32_t living = 0, count = conformance_count(c, c->world);
    for (uint32_t i = 0; i < ENTITIES; i++)
        living += look_at(t, &t->lives[i]);
    bool exact = c->own_storage ? c->storage->gc == NULL : (c->table->flags & BP_COMPONENT_AT_ONCE) != 0;
    EXPECT(c, count >= living && (!exact || count == living),
           "%u instances are counted, %u belong to living entities", count, living);
}

/* Compare an instance with a new one that gets the same values: every property that can be read must be equal, so that
 * values which the manager computes have moved along as well. */
static void look_beside_twin(churn_t *t, const life_t *life, uint32_t name)
{
    conformance_t *c = t->c;
    conformance_value_t v;
    bp_value_t value;
    bp_entity_t twin = *conformance_create(c, 1);
    for (uint32_t k = 0; k < c->property_count; k++) {
        conformance_value(c, &c->properties[k], life->seeds[name][k], &v);
        if (conformance_is_writable(&c->properties[k]) && life->seeds[name][k] != 0)
            conformance_set(c, c->world, twin, "", &c->properties[k], &v.value);
    }
    for (uint32_t k = 0; k < c->property_count; k++) {
        bp_property_t property = conformance_resolve(c, c->world, twin, "", &c->properties[k]);
        memset(&value, 0, sizeof value);
        EXPECT_OK(c, c->api->property->get(c->world, &property, &twin, 1, &value, sizeof value));
        conformance_expect_value(c, c->world, life->e, names[name], &c->properties[k], &value,
                                 "beside a new one with the same values");
    }
    c->api->entity->destroy(c->host, &twin, 1);
}

static void look_beside_twins(churn_t *t)
{
    for (uint32_t i = 0; i < ENTITIES * NAMES; i++) {
        const life_t *life = &t->lives[i / NAMES];
        if (life->alive && life->has[i % NAMES])
            look_beside_twin(t, life, i % NAMES);
    }
}

/* --- the checks ------------------------------------------------------------------------------------ */

/* Find the properties that a step leaves as they are. */
static void find_stable(churn_t *t)
{
    conformance_t *c = t->c;
    conformance_value_t v;
    bp_entity_t *e = conformance_create(c, STABLE_TRIALS);
    bool taken[STABLE_TRIALS][CONFORMANCE_FIELDS] = {{false}};
    for (uint32_t i = 0; i < STABLE_TRIALS; i++) {
        for (uint32_t k = 0; k < c->property_count; k++) {
            conformance_value(c, &c->properties[k], i + 1, &v);
            if (t->watched[k])
                taken[i][k] = conformance_set(c, c->world, e[i], "", &c->properties[k], &v.value);
        }
    }
    for (uint32_t i = 0; i < STABLE_TRIALS; i++)
        EXPECT_OK(c, bp_world_step(c->world));
    for (uint32_t i = 0; i < STABLE_TRIALS; i++) {
        for (uint32_t k = 0; k < c->property_count && c->api->entity->alive(c->host, &e[i], 1, NULL) == 1;
             k++) {
            bp_value_t found;
            bp_property_t property = conformance_resolve(c, c->world, e[i], "", &c->properties[k]);
            memset(&found, 0, sizeof found);
            EXPECT_OK(c, c->api->property->get(c->world, &property, &e[i], 1, &found, sizeof found));
            conformance_value(c, &c->properties[k], taken[i][k] ? i + 1 : 0, &v);
            t->watched[k] = t->watched[k] && conformance_same(property.type, &found, &v.value);
        }
    }
    c->api->entity->destroy(c->host, e, STABLE_TRIALS);
}

static churn_t *begin(conformance_t *c, bool with_steps)
{
    churn_t *t = conformance_new(c, sizeof *t);
    t->c = c;
    t->random = 42;
    t->next_seed = 1;
    for (uint32_t n = 0; n < NAMES; n++)
        t->keys[n] = conformance_key(c, c->world, names[n]);
    for (uint32_t i = 0; i < ENTITIES * NAMES; i++)
        t->lives[i / NAMES].seeds[i % NAMES] = conformance_new(c, (c->property_count + 1) * sizeof(uint64_t));
    for (uint32_t k = 0; k < c->property_count; k++)
        t->watched[k] = conformance_is_writable(&c->properties[k]);
    if (with_steps)
        find_stable(t);
    return t;
}

static void churn(conformance_t *c, bool with_steps)
{
    void (*const operations[])(churn_t *) = {create, create, add,         take_away, move_beside,
                                             kill,   dress,  dress_batch, step};
    churn_t *t = begin(c, with_steps);
    for (uint32_t i = 1; i <= OPERATIONS; i++) {
        operations[bp_random_below(&t->random, with_steps ? 9 : 8)](t);
        if (i % LOOK_EVERY == 0)
            look(t);
    }
    if (!with_steps)
        look_beside_twins(t);
    for (uint32_t i = 0; i < ENTITIES; i++) {
        if (t->lives[i].alive)
            EXPECT(c, c->api->entity->destroy(c->host, &t->lives[i].e, 1) == 1,
                   "a living entity does not die");
        t->lives[i].alive = false;
    }
    look(t);
}

void check_churn(conformance_t *c)
{
    churn(c, false);
}

void check_churn_with_steps(conformance_t *c)
{
    churn(c, true);
}
