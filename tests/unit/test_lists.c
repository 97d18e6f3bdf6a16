/* test_lists.c - arrays and lists in rows: against a naive model under random operations, by loops on any number of
 * threads, whole and element by element, and with each allocation failing.
 */
#include "../suites.h"
#include "inspect.h"
#include "support.h"
#include "zoo.h"

#include "engine/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- a component whose loop makes its lists grow and shrink ------------------------------------------------------- */

struct sack {
    uint32_t *serial;
    bp_list_t *sums;
    bp_list_t *large;
    uint32_t *refused;
};

static const bp_field_t sack_fields[] = {
    {BP_FIELD_OF(struct sack, serial)},
    {BP_LIST_OF(struct sack, sums, BP_U32)},
    {BP_LIST_OF(struct sack, large, BP_MAT4)},
    {BP_FIELD_OF(struct sack, refused)},
};

/* What one step does to a row, for the loop and for the model. */
static bool clears(uint32_t serial, uint64_t step)
{
    return (serial + step) % 11 == 0;
}

static bool removes(uint32_t serial, uint64_t step)
{
    return (serial * 7 + step) % 3 == 0;
}

static void sack_simulate(const bp_run_t *run, uint32_t count)
{
    uint32_t step = (uint32_t)run->step->number;
    BP_COLUMNS(struct sack, c, run->columns);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t serial = c.serial[i];
        if (clears(serial, step))
            bp_list_clear(&c.sums[i]);
        if (removes(serial, step) && c.sums[i].count > 2)
            bp_list_remove(&c.sums[i], 1, sizeof(uint32_t));
        for (uint32_t k = 0; k < 1 + serial % 3; k++) {
            uint32_t sum = serial * 1000 + step + k;
            c.refused[i] += bp_list_append(run->lists, &c.sums[i], &sum, sizeof sum) == NULL;
        }
        if (serial % 16 == 0 && c.large[i].count < 40) {
            bp_mat4_t *last = (bp_mat4_t *)bp_list_append(run->lists, &c.large[i], NULL, sizeof *last);
            for (uint32_t k = 0; k < 16 && last != NULL; k++)
                last->m[k] = (float)(serial + step + k);
        }
    }
}

/* --- a component whose loop records changes of lists -------------------------------------------------------------- */

struct porter {
    bp_list_t *notes, *friends, *loads;
    const char **words;
};

static const bp_field_t porter_fields[] = {
    {BP_LIST_OF(struct porter, notes, BP_STRING)},
    {BP_LIST_OF(struct porter, friends, BP_ENTITY)},
    {BP_LIST_OF(struct porter, loads, BP_F32), .max = "100"},
    {BP_ARRAY_OF(struct porter, words, 2)},
};

/* Record `items` for all lists of the rows, then change what they lie in. */
static void record(const bp_run_t *run, const char *field, void *items, uint32_t count, size_t size)
{
    const bp_api_t *api = run->manager->api;
    bp_property_t property;
    bp_list_t list = {items, count, 0};
    bp_result_t result = api->property->resolve(run->manager->world, run->entities[0], "porter", field, &property);
    for (uint32_t i = 0; i < run->count && result == BP_OK; i++)
        result = api->command->set(run->step->commands, &property, &run->entities[i], 1,
                                   (property.flags & BP_FIELD_LIST) != 0 ? (void *)&list : items, size);
    ck_assert_int_eq(result, BP_OK);
    if (size > 0)
        memset(items, 0, size);
}

static void porter_simulate(const bp_run_t *run, uint32_t count)
{
    char text[] = "soon gone";
    const char *notes[] = {text, "", "kept"}, *words[] = {text, "second"};
    bp_entity_t friends[] = {{0}, run->entities[0]};
    float loads[] = {1, 2}, heavy[] = {1, 101};
    if (run->step->number > 0 || count == 0)
        return;
    ck_assert_int_eq(run->manager->api->command->create(run->step->commands, 0, friends, 1), BP_OK);
    record(run, "notes", notes, 3, sizeof notes);
    record(run, "friends", friends, 2, sizeof friends);
    record(run, "loads", loads, 2, sizeof loads);
    record(run, "loads", heavy, 2, sizeof heavy); /* fails when it is made */
    record(run, "words", words, 2, sizeof words);
    memset(text, '?', sizeof text - 1);
    if (count > 1)
        record(run, "notes", NULL, 0, 0);
}

static const bp_component_i sack_list[] = {
    {.name = "porter", .fields = BP_LIST(porter_fields), .simulate = porter_simulate},
    {.name = "sack", .flags = BP_COMPONENT_PARALLEL, .fields = BP_LIST(sack_fields), .simulate = sack_simulate},
};

static const bp_plugin_head_t sacks =
    BP_PLUGIN_HEAD("sacks", (&(const bp_plugin_desc_t){.version = "1.0", .components = BP_LIST(sack_list)}));

/* --- the model ---------------------------------------------------------------------------------------------------- */

enum { MOST = 48, ENTITIES = 60, TEXTS = 6 };

static const char *const texts[TEXTS] = {"", "rope", "a lamp", "\"quoted\", with commas ]", "line\nline", "\xc3\xa9"};

typedef struct thing_t {
    bp_entity_t id;
    bool lives, has_bag;
    uint16_t slots[5];
    float hits[MOST];
    uint32_t hit_count;
    uint32_t tags[MOST]; /* numbers of texts */
    uint32_t tag_count;
    uint32_t friends[MOST]; /* numbers of things + 1 */
    uint32_t friend_count;
    uint32_t words[2];
    bool has_sack;
    uint32_t serial;
    uint32_t sums[MOST * 4], sum_count;
} thing_t;

typedef struct model_t {
    rig_t rig;
    bp_world_o *world;
    const bp_property_api *p;
    uint64_t random;
    thing_t things[ENTITIES];
    uint32_t count, next_serial;
    uint32_t bag, sack, other[2];
} model_t;

static uint32_t below(model_t *m, uint32_t bound)
{
    return bp_random_below(&m->random, bound);
}

static bp_property_t resolve(model_t *m, bp_entity_t e, const char *component, const char *name)
{
    bp_property_t property;
    WORKS(m->rig.host, m->p->resolve(m->world, e, component, name, &property));
    return property;
}

static void open_model(model_t *m, uint64_t seed)
{
    static const bp_plugin_head_t *plugins[ZOO_PLUGINS + 1];
    memset(m, 0, sizeof *m);
    m->random = seed;
    rig_init(&m->rig);
    memcpy(plugins, zoo_plugins, sizeof zoo_plugins);
    plugins[ZOO_PLUGINS] = &sacks;
    m->rig.desc.static_plugins = plugins;
    m->rig.desc.static_plugin_count = ZOO_PLUGINS + 1;
    rig_open(&m->rig);
    static const char *const names[] = {"zoo", "stocks", "sacks"};
    for (uint32_t i = 0; i < COUNT(names); i++)
        WORKS(m->rig.host, bp_host_load_plugin(m->rig.host, names[i], NULL, 0));
    m->world = bp_world_create(m->rig.host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    for (const char *const *name = (const char *const[]){"bag", "sack", "label", "pool", NULL}; *name != NULL; name++)
        WORKS(m->rig.host, bp_world_use_component(m->world, *name));
    m->p = m->rig.api->property;
    m->bag = key_of(m->world, "bag", "");
    m->sack = key_of(m->world, "sack", "");
    m->other[0] = key_of(m->world, "label", "");
    m->other[1] = key_of(m->world, "pool", "");
}

/* --- random operations -------------------------------------------------------------------------------------------- */

static thing_t *any_with_bag(model_t *m)
{
    for (uint32_t tries = 0; tries < 20 && m->count > 0; tries++) {
        thing_t *thing = &m->things[below(m, m->count)];
        if (thing->lives && thing->has_bag)
            return thing;
    }
    return NULL;
}

static void begin_bag(thing_t *thing)
{
    thing->has_bag = true;
    thing->hit_count = thing->tag_count = thing->friend_count = 0;
    for (uint16_t i = 0; i < 5; i++)
        thing->slots[i] = (uint16_t)(i + 1);
    thing->words[0] = thing->words[1] = TEXTS; /* the defaults */
}

static void create(model_t *m)
{
    if (m->count == ENTITIES)
        return;
    thing_t *thing = &m->things[m->count++];
    WORKS(m->rig.host, m->rig.api->entity->create(m->rig.host, &thing->id, 1));
    thing->lives = true;
    if (below(m, 4) > 0) {
        WORKS(m->rig.host, m->rig.api->world->add(m->world, m->bag, &thing->id, 1));
        begin_bag(thing);
    }
    if (below(m, 2) == 0) {
        WORKS(m->rig.host, m->rig.api->world->add(m->world, m->sack, &thing->id, 1));
        thing->has_sack = true;
        thing->serial = m->next_serial++;
        WORKS(m->rig.host, m->p->set_named(m->world, thing->id, "sack", "serial", BP_U32, &thing->serial));
    }
}

/* Rows move to other runs and back. */
static void change_components(model_t *m)
{
    const bp_world_api *api = m->rig.api->world;
    if (m->count == 0)
        return;
    thing_t *thing = &m->things[below(m, m->count)];
    if (!thing->lives)
        return;
    if (below(m, 6) == 0) {
        if (thing->has_bag)
            WORKS(m->rig.host, api->remove(m->world, m->bag, &thing->id, 1));
        else
            WORKS(m->rig.host, api->add(m->world, m->bag, &thing->id, 1));
        if (thing->has_bag)
            thing->has_bag = false;
        else
            begin_bag(thing);
        return;
    }
    uint32_t key = m->other[below(m, 2)];
    uint8_t has;
    api->has(m->world, key, &thing->id, 1, &has);
    WORKS(m->rig.host, has ? api->remove(m->world, key, &thing->id, 1) : api->add(m->world, key, &thing->id, 1));
}

/* Many at a time, in rows that lie together or not. */
static void change_many(model_t *m)
{
    bp_entity_t list[ENTITIES] = {{0}};
    uint32_t count = 0, key = m->other[below(m, 2)], one_in = 1 + below(m, 3);
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->things[i].lives && below(m, one_in) == 0)
            list[count++] = m->things[i].id;
    }
    uint8_t has[ENTITIES] = {0};
    m->rig.api->world->has(m->world, key, list, count, has);
    bp_entity_t with[ENTITIES] = {{0}}, without[ENTITIES] = {{0}};
    uint32_t with_count = 0, without_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (has[i])
            with[with_count++] = list[i];
        else
            without[without_count++] = list[i];
    }
    WORKS(m->rig.host, m->rig.api->world->add(m->world, key, without, without_count));
    WORKS(m->rig.host, m->rig.api->world->remove(m->world, key, with, with_count));
}

static void set_whole(model_t *m)
{
    thing_t *thing = any_with_bag(m);
    if (thing == NULL)
        return;
    uint32_t count = below(m, 3) == 0 ? 0 : below(m, MOST);
    const char *strings[MOST];
    bp_entity_t entities[MOST];
    bp_list_t list = {NULL, count, 0};
    bp_property_t property;
    switch (below(m, 4)) {
    case 0:
        property = resolve(m, thing->id, "bag", "hits");
        for (uint32_t i = 0; i < count; i++)
            thing->hits[i] = (float)below(m, 1000);
        thing->hit_count = count;
        list.items = thing->hits;
        break;
    case 1:
        property = resolve(m, thing->id, "bag", "tags");
        for (uint32_t i = 0; i < count; i++)
            strings[i] = texts[thing->tags[i] = below(m, TEXTS)];
        thing->tag_count = count;
        list.items = strings;
        break;
    case 2:
        property = resolve(m, thing->id, "bag", "friends");
        for (uint32_t i = 0; i < count; i++) {
            thing->friends[i] = below(m, m->count + 1);
            entities[i] = thing->friends[i] == 0 ? (bp_entity_t){0} : m->things[thing->friends[i] - 1].id;
        }
        thing->friend_count = count;
        list.items = entities;
        break;
    default:
        property = resolve(m, thing->id, "bag", "slots");
        for (uint32_t i = 0; i < 5; i++)
            thing->slots[i] = (uint16_t)below(m, 65536);
        ck_assert_uint_eq(property.size, sizeof thing->slots);
        WORKS(m->rig.host, m->p->set(m->world, &property, &thing->id, 1, thing->slots, sizeof thing->slots));
        return;
    }
    WORKS(m->rig.host, m->p->set(m->world, &property, &thing->id, 1, &list, sizeof list));
}

static void set_element(model_t *m)
{
    thing_t *thing = any_with_bag(m);
    char name[32];
    if (thing == NULL)
        return;
    uint32_t at, text = below(m, TEXTS);
    switch (below(m, 4)) {
    case 0:
        at = below(m, thing->hit_count + 1);
        if (at == MOST)
            return;
        thing->hits[at] = (float)below(m, 1000);
        snprintf(name, sizeof name, "hits[%u]", at);
        WORKS(m->rig.host, m->p->set_named(m->world, thing->id, "bag", name, BP_F32, &thing->hits[at]));
        thing->hit_count += at == thing->hit_count;
        break;
    case 1:
        at = below(m, thing->tag_count + 1);
        if (at == MOST)
            return;
        thing->tags[at] = text;
        snprintf(name, sizeof name, "tags[%u]", at);
        WORKS(m->rig.host, m->p->set_named(m->world, thing->id, "bag", name, BP_STRING, &texts[text]));
        thing->tag_count += at == thing->tag_count;
        break;
    case 2:
        at = below(m, 2);
        thing->words[at] = text;
        snprintf(name, sizeof name, "words[%u]", at);
        WORKS(m->rig.host, m->p->set_named(m->world, thing->id, "bag", name, BP_STRING, &texts[text]));
        break;
    default:
        at = below(m, 5);
        thing->slots[at] = (uint16_t)below(m, 65536);
        snprintf(name, sizeof name, "slots[%u]", at);
        WORKS(m->rig.host, m->p->set_named(m->world, thing->id, "bag", name, BP_U16, &thing->slots[at]));
        break;
    }
}

/* The text of a property, set again, changes nothing. */
static void set_text(model_t *m)
{
    static const char *const fields[] = {"slots", "words", "hits", "tags", "friends", "targets"};
    thing_t *thing = any_with_bag(m);
    char id[40], name[80], before[8192], after[8192];
    bp_path_t path;
    if (thing == NULL)
        return;
    m->rig.api->entity->format(m->rig.host, thing->id, id, sizeof id);
    snprintf(name, sizeof name, "main/%s.bag.%s", id, fields[below(m, COUNT(fields))]);
    WORKS(m->rig.host, m->p->parse_path(m->rig.host, name, &path));
    WORKS(m->rig.host, m->p->get_text(&path, before, sizeof before));
    WORKS(m->rig.host, m->p->set_text(&path, before));
    WORKS(m->rig.host, m->p->get_text(&path, after, sizeof after));
    ck_assert_str_eq(before, after);
}

static void destroy(model_t *m)
{
    if (m->count == 0)
        return;
    thing_t *thing = &m->things[below(m, m->count)];
    if (!thing->lives)
        return;
    m->rig.api->entity->destroy(m->rig.host, &thing->id, 1);
    thing->lives = false;
}

static void step(model_t *m)
{
    bp_step_t now = {.struct_size = sizeof now};
    m->rig.api->world->clock(m->world, &now);
    WORKS(m->rig.host, bp_world_step(m->world));
    for (uint32_t i = 0; i < m->count; i++) {
        thing_t *thing = &m->things[i];
        if (!thing->lives || !thing->has_sack)
            continue;
        if (clears(thing->serial, now.number))
            thing->sum_count = 0;
        if (removes(thing->serial, now.number) && thing->sum_count > 2) {
            memmove(&thing->sums[1], &thing->sums[2], (thing->sum_count - 2) * sizeof thing->sums[0]);
            thing->sum_count--;
        }
        for (uint32_t k = 0; k < 1 + thing->serial % 3; k++)
            thing->sums[thing->sum_count++] = thing->serial * 1000 + (uint32_t)now.number + k;
    }
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

static bp_list_t list_of(model_t *m, bp_entity_t e, const char *component, const char *field)
{
    bp_list_t list;
    bp_property_t property = resolve(m, e, component, field);
    WORKS(m->rig.host, m->p->get(m->world, &property, &e, 1, &list, sizeof list));
    return list;
}

static void compare_bag(model_t *m, const thing_t *thing)
{
    uint16_t slots[5];
    const char *words[2];
    static const char *const default_words[] = {"a", "b, c"};
    bp_list_t hits = list_of(m, thing->id, "bag", "hits"), tags = list_of(m, thing->id, "bag", "tags"),
              friends = list_of(m, thing->id, "bag", "friends");
    bp_property_t property = resolve(m, thing->id, "bag", "slots");
    WORKS(m->rig.host, m->p->get(m->world, &property, &thing->id, 1, slots, sizeof slots));
    EXPECT(memcmp(slots, thing->slots, sizeof slots) == 0, "slots differ");
    property = resolve(m, thing->id, "bag", "words");
    WORKS(m->rig.host, m->p->get(m->world, &property, &thing->id, 1, words, sizeof words));
    for (uint32_t i = 0; i < 2; i++)
        EXPECT(strcmp(words[i], thing->words[i] == TEXTS ? default_words[i] : texts[thing->words[i]]) == 0,
               "word %u is '%s'", i, words[i]);
    EXPECT(hits.count == thing->hit_count, "%u hits, not %u", hits.count, thing->hit_count);
    for (uint32_t i = 0; i < hits.count; i++)
        EXPECT(memcmp((float *)hits.items + i, &thing->hits[i], sizeof(float)) == 0, "hit %u differs", i);
    EXPECT(tags.count == thing->tag_count, "%u tags, not %u", tags.count, thing->tag_count);
    for (uint32_t i = 0; i < tags.count; i++)
        EXPECT(strcmp(((const char **)tags.items)[i], texts[thing->tags[i]]) == 0, "tag %u is '%s'", i,
               ((const char **)tags.items)[i]);
    EXPECT(friends.count == thing->friend_count, "%u friends, not %u", friends.count, thing->friend_count);
    for (uint32_t i = 0; i < friends.count; i++) {
        bp_entity_t wanted = thing->friends[i] == 0 ? (bp_entity_t){0} : m->things[thing->friends[i] - 1].id;
        EXPECT(((bp_entity_t *)friends.items)[i].id == wanted.id, "friend %u is another", i);
    }
}

static void compare(model_t *m)
{
    for (uint32_t i = 0; i < m->count; i++) {
        const thing_t *thing = &m->things[i];
        if (thing->lives && thing->has_bag)
            compare_bag(m, thing);
        if (!thing->lives || !thing->has_sack)
            continue;
        bp_list_t sums = list_of(m, thing->id, "sack", "sums");
        EXPECT(sums.count == thing->sum_count &&
                   (sums.count == 0 || memcmp(sums.items, thing->sums, sums.count * sizeof(uint32_t)) == 0),
               "sums of %u differ", i);
    }
    check_host(m->rig.host);
}

START_TEST(random_operations_come_to_what_a_naive_model_says)
{
    static model_t model;
    model_t *m = &model;
    open_model(m, (uint64_t)_i + 1);
    for (uint32_t n = 0; n < 600; n++) {
        switch (below(m, 10)) {
        case 0: create(m); break;
        case 1: change_components(m); break;
        case 2: change_many(m); break;
        case 3: case 4: set_whole(m); break;
        case 5: case 6: set_element(m); break;
        case 7: set_text(m); break;
        case 8: below(m, 3) == 0 ? destroy(m) : create(m); break;
        default: step(m); break;
        }
        if (n % 50 == 0)
            compare(m);
    }
    compare(m);
    for (uint32_t i = 0; i < m->count; i++)
        m->rig.api->entity->destroy(m->rig.host, &m->things[i].id, 1);
    for (uint32_t i = 0; i < 200; i++)
        WORKS(m->rig.host, bp_world_step(m->world));
    ck_assert_uint_eq(memory_bytes(&world_of(m->world)->lists.memory), 0); /* the last list gives all chunks back */
    rig_close(&m->rig);
}
END_TEST

/* --- threads ------------------------------------------------------------------------------------------------------ */

/* A host on the C library's memory, with the plugin. */
static bp_host_o *open_sacks(uint32_t threads)
{
    static const bp_plugin_head_t *const plugins[] = {&sacks};
    bp_host_o *host = bp_host_create(&(bp_host_desc_t){.struct_size = sizeof(bp_host_desc_t),
                                                       .tag = 1,
                                                       .threads = threads,
                                                       .static_plugins = plugins,
                                                       .static_plugin_count = 1});
    WORKS(host, bp_host_load_plugin(host, "sacks", NULL, 0));
    return host;
}

enum { CROWD = 60000, CROWD_STEPS = 30 };

static uint64_t crowd_hash(uint32_t threads)
{
    bp_host_o *host = open_sacks(threads);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *world = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(host, bp_world_use_component(world, "sack"));
    bp_entity_t *e = malloc(CROWD * sizeof *e);
    WORKS(host, api->world->create(world, prototype_of(world, "sack", NULL, NULL, NULL), e, CROWD));
    bp_run_t run;
    uint32_t cursor = 0, rows = 0;
    ck_assert_uint_eq(next_run(world, api->world->component(world, "sack"), &cursor, &run), 1);
    BP_COLUMNS(struct sack, c, run.columns);
    for (uint32_t i = 0; i < run.count; i++)
        c.serial[i] = i;
    for (uint32_t i = 0; i < CROWD_STEPS; i++)
        WORKS(host, bp_world_step(world));
    check_host(host);
    uint64_t hash = 0;
    for (cursor = 0; next_run(world, api->world->component(world, "sack"), &cursor, &run) != 0;) {
        BP_COLUMNS(struct sack, now, run.columns);
        for (uint32_t i = 0; i < run.count; i++, rows++) {
            hash =
                hash * 31 + hash_bytes(now.sums[i].items, now.sums[i].count * sizeof(uint32_t)) + now.sums[i].capacity;
            hash = hash * 31 + hash_bytes(now.large[i].items, now.large[i].count * sizeof(bp_mat4_t)) + now.refused[i];
        }
    }
    ck_assert_uint_eq(rows, CROWD);
    free(e);
    bp_host_destroy(host);
    return hash;
}

START_TEST(loops_make_the_same_lists_on_any_number_of_threads)
{
    uint64_t one = crowd_hash(1);
    ck_assert_uint_eq(crowd_hash(2), one);
    ck_assert_uint_eq(crowd_hash(5), one);
}
END_TEST

/* --- long use ----------------------------------------------------------------------------------------------------- */

enum { GENERATION = 3000, GENERATIONS = 60 };

/* Rows come, a loop fills their lists, and they go; one entity stays, so that the memory is never given back whole.
   Blocks of the dead serve those that come. */
static size_t bytes_after_generations(uint32_t threads, size_t *early)
{
    bp_host_o *host = open_sacks(threads);
    const bp_api_t *api = bp_host_api(host);
    bp_world_o *many = bp_world_create(host, &(bp_world_desc_t){.name = "main", .step_rate = 1});
    WORKS(host, bp_world_use_component(many, "sack"));
    uint32_t prototype = prototype_of(many, "sack", NULL, NULL, NULL);
    bp_entity_t *e = malloc(GENERATION * sizeof *e), keeper;
    WORKS(host, api->world->create(many, prototype, &keeper, 1));
    for (uint32_t i = 0; i < GENERATIONS; i++) {
        WORKS(host, api->world->create(many, prototype, e, GENERATION));
        WORKS(host, bp_world_step(many));
        api->entity->destroy(host, e, GENERATION);
        for (uint32_t k = 0; k < 3; k++)
            WORKS(host, bp_world_step(many));
        if (i == GENERATIONS / 4)
            *early = memory_bytes(&world_of(many)->lists.memory);
    }
    size_t bytes = memory_bytes(&world_of(many)->lists.memory);
    check_host(host);
    free(e);
    bp_host_destroy(host);
    return bytes;
}

START_TEST(lists_of_those_that_come_take_the_memory_of_those_that_went)
{
    for (uint32_t threads = 1; threads <= 4; threads += 3) {
        size_t early, late = bytes_after_generations(threads, &early);
        ck_assert_msg(late <= early + early / 4, "%zu bytes became %zu", early, late);
    }
}
END_TEST

/* --- properties --------------------------------------------------------------------------------------------------- */

static rig_t rig;
static bp_world_o *world;
static bp_entity_t some;

static void begin(void)
{
    rig_open_zoo(&rig);
    world = rig_world(&rig, "main");
    some = entity_with(world, "bag");
}

static void end(void)
{
    check_host(rig.host);
    rig_close(&rig);
}

static void text(const char *field, const char *set, const char *get)
{
    char name[64], read[512];
    bp_path_t path;
    snprintf(name, sizeof name, "main/#0:1.bag.%s", field);
    WORKS(rig.host, rig.api->property->parse_path(rig.host, name, &path));
    if (set != NULL)
        WORKS(rig.host, rig.api->property->set_text(&path, set));
    WORKS(rig.host, rig.api->property->get_text(&path, read, sizeof read));
    ck_assert_str_eq(read, get);
    union { char bytes[1024]; bp_list_t list; bp_value_t value; } cell;
    ck_assert(path.property.size <= sizeof cell);
    WORKS(rig.host, rig.api->property->get(world, &path.property, &path.entity, 1, &cell, path.property.size));
    WORKS(rig.host, rig.api->property->format(world, &path.property, &cell, read, sizeof read));
    ck_assert_str_eq(read, get);
}

static void refused(const char *field, const char *set, bp_result_t code, const char *says)
{
    char name[64];
    bp_path_t path;
    snprintf(name, sizeof name, "main/#0:1.bag.%s", field);
    WORKS(rig.host, rig.api->property->parse_path(rig.host, name, &path));
    FAILS(rig.host, code, says, rig.api->property->set_text(&path, set));
}

START_TEST(texts_of_arrays_and_lists_are_written_and_read)
{
    text("slots", NULL, "[1, 2, 3, 4, 5]");
    text("slots", " [ 9,0x10 , 7,6,5 ] ", "[9, 16, 7, 6, 5]");
    text("slots[1]", "11", "11");
    text("slots", NULL, "[9, 11, 7, 6, 5]");
    text("marks", NULL, "[1, 1, 1]");
    text("words", NULL, "[\"a\", \"b, c\"]");
    text("words[1]", "x \"y\"", "x \"y\"");
    text("words", NULL, "[\"a\", \"x \\\"y\\\"\"]");
    text("kinds", NULL, "[\"plain\", \"plain\"]");
    text("kinds", "[fog, \"a name\"]", "[\"fog\", \"a name\"]");
    text("targets", NULL, "[none, none, none]");
    text("targets[2]", "#0:1", "#0:1");
    text("hits", NULL, "[]");
    text("hits", "[1.5, 2]", "[1.5, 2]");
    text("hits[2]", "3", "3"); /* behind the last: appends */
    text("hits", NULL, "[1.5, 2, 3]");
    text("hits", "[]", "[]");
    text("tags", "[\"a\\\\b\\n\", plain words, \"\"]", "[\"a\\\\b\\n\", \"plain words\", \"\"]");
    text("friends", "[#0:1, none]", "[#0:1, none]");
    text("path", "[0 0 0.1, 1 2 3]", "[0 0 0.1, 1 2 3]");
    text("path[1]", NULL, "1 2 3");
    text("moods", "[cross, 0]", "[cross, calm]");
    text("moods[0]", "calm", "calm");
    text("names", "[one]", "[\"one\"]");
}
END_TEST

START_TEST(texts_that_are_none_are_refused_and_told_where)
{
    text("hits", "[4]", "[4]");
    refused("slots", "5", BP_ERROR_TYPE, "slots: '5' is not a list like [1, 2]");
    refused("slots", "[1, 2, 3, 4]", BP_ERROR_TYPE, "slots: it has 5 elements, not 4");
    refused("slots", "[1, 2, x, 4, 5]", BP_ERROR_TYPE, "slots: item 2: 'x' is not a whole number from 0 to 65535");
    refused("slots", "[1, 2, 3, 4, 65536]", BP_ERROR_TYPE, "item 4: '65536' is not");
    refused("marks", "[1, -1, 1]", BP_ERROR_RANGE, "marks: item 1: marks = -1 is outside its range: at least 0");
    refused("marks[1]", "-1", BP_ERROR_RANGE, "marks = -1 is outside its range");
    refused("hits", "[1, 2", BP_ERROR_TYPE, "item 1 of '[1, 2' does not end with a comma or a ]");
    refused("hits", "[1] 2", BP_ERROR_TYPE, "'[1] 2' goes on behind its ]");
    refused("hits", "[1,]", BP_ERROR_TYPE, "item 1: '' is not a number");
    refused("hits", "[1001]", BP_ERROR_RANGE, "hits: item 0: hits = 1001 is outside");
    refused("hits[2]", "1", BP_ERROR_NOT_FOUND, "'hits' of entity #0:1 has 1 value, and none of number 2");
    refused("tags", "[\"a]", BP_ERROR_TYPE, "item 0 of");
    refused("tags", "[\"a\\x\"]", BP_ERROR_TYPE, "item 0 of");
    refused("moods", "[calm, crss]", BP_ERROR_TYPE,
            "moods: item 1: 'crss' is none of its values; did you mean 'cross'?");
    refused("friends", "[nobody]", BP_ERROR_NOT_FOUND, "cannot be found");
    text("hits", NULL, "[4]");
    text("slots", NULL, "[1, 2, 3, 4, 5]");
}
END_TEST

#define NO_PROPERTY(name) "'" name "' is no property; an element is written like items[3]"

START_TEST(elements_that_cannot_be_are_refused_by_name)
{
    static const struct { const char *name; bp_result_t code; const char *says; } bad[] = {
        {"slots[5]", BP_ERROR_NOT_FOUND, "property 'slots' has the elements 0 to 4, and no 5"},
        {"slots[", BP_ERROR_SYNTAX, NO_PROPERTY("slots[")},
        {"slots[4294967295]", BP_ERROR_SYNTAX, NO_PROPERTY("slots[4294967295]")},
        {"slots[4294967294]", BP_ERROR_NOT_FOUND, "property 'slots' has the elements 0 to 4, and no 4294967294"},
        {"slots[]", BP_ERROR_SYNTAX, NO_PROPERTY("slots[]")},
        {"slots[-1]", BP_ERROR_SYNTAX, NO_PROPERTY("slots[-1]")},
        {"slots[1", BP_ERROR_SYNTAX, NO_PROPERTY("slots[1")},
        {"slots[1]x", BP_ERROR_SYNTAX, NO_PROPERTY("slots[1]x")},
        {"slots[99999999999]", BP_ERROR_SYNTAX, NO_PROPERTY("slots[99999999999]")},
        {"slotz[1]", BP_ERROR_NOT_FOUND, 
         "no property 'slotz' in bag; did you mean 'slots'? (it has slots, marks, words, kinds, targets, hits, tags, "
         "friends, path, moods, names)"},
    };
    bp_property_t property;
    for (uint32_t i = 0; i < COUNT(bad); i++)
        SAID(rig.host, bad[i].code, bad[i].says,
             rig.api->property->resolve(world, some, "bag", bad[i].name, &property));
    bp_entity_t body = entity_with(world, "body");
    SAID(rig.host, BP_ERROR_NOT_FOUND, "property 'mass' has one value, and no elements",
         rig.api->property->resolve(world, body, "body", "mass[0]", &property));
}
END_TEST

START_TEST(by_two_names_there_is_room_for_one_value)
{
    float hit = 7;
    uint16_t slot;
    bp_list_t list;
    const bp_property_api *p = rig.api->property;
    SAID(rig.host, BP_ERROR_TYPE,
         "property 'hits' is a list of f32; resolve it, or name one of its values like hits[0]",
         p->get_named(world, some, "bag", "hits", BP_F32, &list));
    SAID(rig.host, BP_ERROR_TYPE,
         "property 'slots' is an array of 5 u16; resolve it, or name one of them like slots[0]",
         p->set_named(world, some, "bag", "slots", BP_U16, &slot));
    for (uint32_t i = 0; i < 3; i++) /* through the cache too */
        WORKS(rig.host, p->set_named(world, some, "bag", "hits[0]", BP_F32, &hit));
    hit = 0;
    for (uint32_t i = 0; i < 3; i++)
        WORKS(rig.host, p->get_named(world, some, "bag", "hits[0]", BP_F32, &hit));
    ck_assert(hit == 7);
    WORKS(rig.host, p->get_named(world, some, "bag", "slots[4]", BP_U16, &slot));
    ck_assert_uint_eq(slot, 5);
    SAID(rig.host, BP_ERROR_TYPE, "property 'slots[4]' is a u16, not a f32",
         p->get_named(world, some, "bag", "slots[4]", BP_F32, &hit));
    SAID(rig.host, BP_ERROR_NOT_FOUND, "'hits' of entity #0:1 has 1 value, and none of number 1 (they count from 0)",
         p->get_named(world, some, "bag", "hits[1]", BP_F32, &hit));
}
END_TEST

START_TEST(a_property_says_how_many_values_it_has)
{
    bp_property_t p;
    WORKS(rig.host, rig.api->property->resolve(world, some, "bag", "slots", &p));
    ck_assert(p.count == 5 && p.element == BP_NONE && p.size == 10 && p.type == BP_U16 &&
              (p.flags & BP_FIELD_LIST) == 0);
    WORKS(rig.host, rig.api->property->resolve(world, some, "bag", "slots[2]", &p));
    ck_assert(p.count == 1 && p.element == 2 && p.size == 2);
    WORKS(rig.host, rig.api->property->resolve(world, some, "bag", "path", &p));
    ck_assert(p.count == 0 && p.element == BP_NONE && p.size == sizeof(bp_list_t) && p.type == BP_DVEC3 &&
              (p.flags & BP_FIELD_LIST) != 0);
    WORKS(rig.host, rig.api->property->resolve(world, some, "bag", "path[8]", &p));
    ck_assert(p.count == 1 && p.element == 8 && p.size == 24 && (p.flags & BP_FIELD_LIST) == 0);
    bp_field_t field;
    WORKS(rig.host, rig.api->property->describe(rig.host, "bag", BAG_SLOTS, &field, sizeof field));
    ck_assert(field.count == 5 && strcmp(field.initial, "[1, 2, 3, 4, 5]") == 0);
    WORKS(rig.host, rig.api->property->describe(rig.host, "bag", BAG_PATH, &field, sizeof field));
    ck_assert(field.count == 0 && (field.flags & BP_FIELD_LIST) != 0);
}
END_TEST

START_TEST(one_list_is_set_to_many_entities_and_each_has_its_own)
{
    enum { MANY = 20 };
    bp_entity_t e[MANY];
    const char *tags[] = {"one", "two", "one"};
    bp_list_t list = {tags, 3, 0}, read[MANY];
    bp_property_t p;
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "bag", "label", NULL, NULL), e, MANY));
    WORKS(rig.host, rig.api->property->resolve(world, e[0], "bag", "tags", &p));
    WORKS(rig.host, rig.api->property->set(world, &p, e, MANY, &list, 0));
    WORKS(rig.host, rig.api->property->get(world, &p, e, MANY, read, sizeof read[0]));
    for (uint32_t i = 0; i < MANY; i++) {
        ck_assert_uint_eq(read[i].count, 3);
        ck_assert(i == 0 || read[i].items != read[i - 1].items);
        ck_assert_str_eq(((const char **)read[i].items)[1], "two");
    }
    WORKS(rig.host, rig.api->property->set(world, &p, &e[3], 1, &read[3], 0)); /* its own view */
    WORKS(rig.host, rig.api->property->get(world, &p, &e[3], 1, &list, 0));
    ck_assert_str_eq(((const char **)list.items)[2], "one");
}
END_TEST

START_TEST(a_batch_with_one_bad_list_changes_nothing)
{
    bp_entity_t e[3] = {some, {0}, entity_with(world, "bag")};
    float good[] = {1, 2}, bad[] = {1, 1001};
    bp_list_t lists[3] = {{good, 2, 0}, {good, 2, 0}, {bad, 2, 0}};
    bp_property_t p, first;
    WORKS(rig.host, rig.api->property->resolve(world, some, "bag", "hits", &p));
    SAID(rig.host, BP_ERROR_DEAD, "no entity is given (its id is 0)",
         rig.api->property->set(world, &p, e, 2, lists, sizeof lists[0]));
    e[1] = e[2];
    SAID(rig.host, BP_ERROR_RANGE, "hits = 1001 is outside its range: at most 1000",
         rig.api->property->set(world, &p, e, 2, &lists[1], sizeof lists[0]));
    text("hits", NULL, "[]");
    WORKS(rig.host, rig.api->property->resolve(world, some, "bag", "hits[0]", &first));
    e[1] = entity_with(world, "body");
    SAID(rig.host, BP_ERROR_NOT_FOUND, "entity #2:1 has no component 'bag' in world 'main' (it has body)",
         rig.api->property->set(world, &first, e, 2, good, sizeof good[0]));
    text("hits", NULL, "[]");
}
END_TEST

/* What is set may lie in the list that grows. */
START_TEST(an_item_of_a_list_is_appended_to_it)
{
    bp_property_t whole, element;
    char name[16];
    bp_list_t list;
    text("hits", "[1, 2, 3, 4]", "[1, 2, 3, 4]");
    text("tags", "[\"a text\", \"another\"]", "[\"a text\", \"another\"]");
    WORKS(rig.host, rig.api->property->resolve(world, some, "bag", "hits", &whole));
    for (uint32_t i = 4; i < 40; i++) {
        snprintf(name, sizeof name, "hits[%u]", i);
        WORKS(rig.host, rig.api->property->resolve(world, some, "bag", name, &element));
        WORKS(rig.host, rig.api->property->get(world, &whole, &some, 1, &list, sizeof list));
        WORKS(rig.host, rig.api->property->set(world, &element, &some, 1, list.items, sizeof(float)));
        text(name, NULL, "1");
    }
    WORKS(rig.host, rig.api->property->resolve(world, some, "bag", "tags", &whole));
    for (uint32_t i = 2; i < 40; i++) {
        snprintf(name, sizeof name, "tags[%u]", i);
        WORKS(rig.host, rig.api->property->resolve(world, some, "bag", name, &element));
        WORKS(rig.host, rig.api->property->get(world, &whole, &some, 1, &list, sizeof list));
        WORKS(rig.host, rig.api->property->set(world, &element, &some, 1, list.items, sizeof(char *)));
        text(name, NULL, "a text");
    }
}
END_TEST

/* As the host does: the values get another place, and the one before is given to others. */
static bp_result_t move_to_more_room(bp_lists_o *lists, bp_list_t *list, uint32_t item_size, uint32_t capacity)
{
    (void)lists;
    void *items = malloc((size_t)capacity * item_size);
    ck_assert_ptr_nonnull(items);
    if (list->count > 0) {
        memcpy(items, list->items, (size_t)list->count * item_size);
        memset(list->items, 0xa5, (size_t)list->count * item_size);
        free(list->items);
    }
    list->items = items;
    list->capacity = capacity;
    return BP_OK;
}

START_TEST(a_loop_appends_an_item_of_a_list_to_it)
{
    bp_lists_o lists = {.struct_size = sizeof lists, .reserve = move_to_more_room};
    bp_list_t list = {NULL, 0, 0};
    uint64_t first = 7;
    ck_assert_ptr_nonnull(bp_list_append(&lists, &list, &first, sizeof first));
    for (uint32_t i = 1; i < 20; i++) {
        const uint64_t *items = list.items;
        ck_assert_ptr_nonnull(bp_list_append(&lists, &list, &items[(i - 1) / 2], sizeof first));
        items = list.items;
        ck_assert_uint_eq(items[i], 7);
        ck_assert_uint_eq(items[0], 7);
    }
    ck_assert_uint_eq(list.count, 20);
    free(list.items);
}
END_TEST

START_TEST(recorded_lists_are_copied_with_all_that_they_hold)
{
    static const bp_plugin_head_t *const plugins[] = {&sacks};
    for (uint32_t count = 1; count <= 2; count++) {
        rig_t own;
        rig_init(&own);
        own.desc.static_plugins = plugins;
        own.desc.static_plugin_count = 1;
        rig_open(&own);
        WORKS(own.host, bp_host_load_plugin(own.host, "sacks", NULL, 0));
        bp_world_o *yard = bp_world_create(own.host, &(bp_world_desc_t){.name = "yard", .step_rate = 1});
        WORKS(own.host, bp_world_use_component(yard, "porter"));
        bp_entity_t e[2];
        WORKS(own.host, own.api->world->create(yard, prototype_of(yard, "porter", NULL, NULL, NULL), e, count));
        WORKS(own.host, bp_world_step(yard));
        const bp_property_api *p = own.api->property;
        char read[128];
        bp_path_t path;
        WORKS(own.host, p->parse_path(own.host, "yard/#0:1.porter.notes", &path));
        WORKS(own.host, p->get_text(&path, read, sizeof read));
        ck_assert_str_eq(read, count == 1 ? "[\"soon gone\", \"\", \"kept\"]" : "[]");
        WORKS(own.host, p->parse_path(own.host, "yard/#0:1.porter.friends", &path));
        WORKS(own.host, p->get_text(&path, read, sizeof read));
        ck_assert_str_eq(read, count == 1 ? "[#1:1, #0:1]" : "[#2:1, #0:1]");
        WORKS(own.host, p->parse_path(own.host, "yard/#0:1.porter.loads", &path));
        WORKS(own.host, p->get_text(&path, read, sizeof read));
        ck_assert_str_eq(read, "[1, 2]");
        WORKS(own.host, p->parse_path(own.host, "yard/#0:1.porter.words", &path));
        WORKS(own.host, p->get_text(&path, read, sizeof read));
        ck_assert_str_eq(read, "[\"soon gone\", \"second\"]");
        ck_assert_uint_ge(own.log.count, 1);
        ck_assert(strstr(own.log.text, "loads = 101") != NULL);
        own.log.count = 0;
        own.log.text[0] = '\0';
        rig_close(&own);
    }
}
END_TEST

/* --- failing memory ----------------------------------------------------------------------------------------------- */

/* One allocation fails in each round: what fails says so and changes nothing; loops are told, and go on. */
START_TEST(without_memory_lists_stay_what_they_were)
{
    for (uint64_t fails = 1; fails < 400; fails++) {
        static model_t model;
        model_t *m = &model;
        open_model(m, fails);
        bp_entity_t e[8];
        const char *tags[] = {"a text of its own", "another text"};
        bp_list_t list = {tags, 2, 0};
        bp_property_t p;
        WORKS(m->rig.host,
              m->rig.api->world->create(m->world, prototype_of(m->world, "bag", "sack", NULL, NULL), e, 8));
        WORKS(m->rig.host, m->p->resolve(m->world, e[0], "bag", "tags", &p));
        m->rig.heap.refuse_first = m->rig.heap.refuse_last = m->rig.heap.requests + fails;
        bp_result_t result = m->p->set(m->world, &p, e, 8, &list, 0);
        bp_list_t read[8];
        WORKS(m->rig.host, m->p->get(m->world, &p, e, 8, read, sizeof read[0]));
        for (uint32_t i = 0; i < 8; i++)
            ck_assert_uint_eq(read[i].count, result == BP_OK ? 2 : 0);
        for (uint32_t i = 0; i < 6; i++)
            bp_world_step(m->world);
        check_host(m->rig.host);
        bool failed = m->rig.heap.refused > 0;
        m->rig.log.count = 0;
        m->rig.log.text[0] = '\0';
        rig_close(&m->rig);
        if (!failed)
            return;
    }
    ck_abort_msg("it never ended");
}
END_TEST

Suite *lists_suite(void)
{
    Suite *suite = suite_create("lists");
    TCase *random = tcase_create("random");
    tcase_set_timeout(random, 60);
    tcase_add_loop_test(random, random_operations_come_to_what_a_naive_model_says, 0, 12);
    tcase_add_test(random, loops_make_the_same_lists_on_any_number_of_threads);
    tcase_add_test(random, without_memory_lists_stay_what_they_were);
    tcase_add_test(random, recorded_lists_are_copied_with_all_that_they_hold);
    tcase_add_test(random, lists_of_those_that_come_take_the_memory_of_those_that_went);
    suite_add_tcase(suite, random);
    TCase *tests = tcase_create("properties");
    tcase_add_checked_fixture(tests, begin, end);
    tcase_add_test(tests, texts_of_arrays_and_lists_are_written_and_read);
    tcase_add_test(tests, texts_that_are_none_are_refused_and_told_where);
    tcase_add_test(tests, elements_that_cannot_be_are_refused_by_name);
    tcase_add_test(tests, by_two_names_there_is_room_for_one_value);
    tcase_add_test(tests, a_property_says_how_many_values_it_has);
    tcase_add_test(tests, one_list_is_set_to_many_entities_and_each_has_its_own);
    tcase_add_test(tests, a_batch_with_one_bad_list_changes_nothing);
    tcase_add_test(tests, an_item_of_a_list_is_appended_to_it);
    tcase_add_test(tests, a_loop_appends_an_item_of_a_list_to_it);
    suite_add_tcase(suite, tests);
    return suite;
}
