/* conformance_lists.c - arrays and lists: values that were set come back, whole and one by one, and stay with their
 * entity.
 *
 * The values of a whole follow from the property and a seed, so none have to be remembered: 0 gives the default. Each
 * is a value as a single property of that type takes.
 */
#include "conformance.h"

#include <stdio.h>
#include <string.h>

enum { OWNERS = 42, MOST = 7 }; /* each seed below MOST gives a list another length */

/* --- wholes of one entity ---------------------------------------------------------------------------------------- */

static bool is_list(const conformance_property_t *p)
{
    return (p->declared.flags & BP_FIELD_LIST) != 0;
}

static uint32_t length_of(const conformance_property_t *p, uint64_t seed)
{
    return is_list(p) ? (uint32_t)(seed % MOST) : p->declared.count;
}

uint32_t conformance_room(const conformance_property_t *p)
{
    return (is_list(p) ? MOST : p->declared.count) + 1;
}

static void make_item(conformance_t *c, const conformance_property_t *p, uint64_t seed, uint32_t i,
                      conformance_value_t *v)
{
    if (seed == 0)
        conformance_default_item(c, p, i, v);
    else
        conformance_value(c, p, 1 + seed * 1009u + i, v);
}

void conformance_whole(conformance_t *c, const conformance_property_t *p, uint64_t seed, void *items)
{
    size_t size = conformance_size(p->declared.type);
    for (uint32_t i = 0; i < length_of(p, seed); i++) {
        make_item(c, p, seed, i, &p->room[i]);
        memcpy((char *)items + i * size, &p->room[i].value, size);
    }
}

static bp_property_t resolve(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                             const conformance_property_t *p, const char *element)
{
    char name[96];
    bp_property_t property;
    const char *component = instance[0] == '\0' ? c->subject->component : instance;
    snprintf(name, sizeof name, "%s%s", p->declared.name, element);
    EXPECT_OK(c, c->api->property->resolve(world, e, component, name, &property));
    EXPECT(c, property.type == p->declared.type, "'%s' is resolved as type %u, declared as %u", name, property.type,
           p->declared.type);
    return property;
}

static bp_result_t set_whole(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                             const conformance_property_t *p, uint64_t seed)
{
    uint32_t count = length_of(p, seed);
    bp_property_t property = resolve(c, world, e, instance, p, "");
    bp_list_t list = {p->items, count, 0};
    EXPECT(c, property.count == (is_list(p) ? 0 : count) && property.element == BP_NONE,
           "'%s' is resolved with %u values", p->declared.name, property.count);
    conformance_whole(c, p, seed, p->items);
    return c->api->property->set(world, &property, &e, 1, is_list(p) ? (const void *)&list : p->items, property.size);
}

/* Complain unless the whole has the values of the seed, and of a list `more` of them beyond its length. */
static void expect_whole(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                         const conformance_property_t *p, uint64_t seed, uint32_t more, const char *when)
{
    char a[CONFORMANCE_TEXT], b[CONFORMANCE_TEXT];
    uint32_t type = p->declared.type, count = length_of(p, seed) + more;
    size_t size = conformance_size(type);
    bp_property_t property = resolve(c, world, e, instance, p, "");
    bp_list_t list = {p->items, count, 0};
    EXPECT_OK(c, c->api->property->get(world, &property, &e, 1, is_list(p) ? (void *)&list : p->items, property.size));
    EXPECT(c, list.count == count, "%s: '%s' has %u values instead of %u", when, p->declared.name, list.count, count);
    for (uint32_t i = 0; i < count; i++) {
        conformance_value_t wanted;
        bp_value_t found;
        make_item(c, p, seed, i, &wanted);
        memset(&found, 0, sizeof found);
        memcpy(&found, (const char *)list.items + i * size, size);
        EXPECT(c, conformance_same(type, &found, &wanted.value), "%s: '%s[%u]' is %.200s instead of %.200s", when,
               p->declared.name, i, conformance_show(type, &found, a), conformance_show(type, &wanted.value, b));
    }
}

void conformance_expect_whole(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                              const conformance_property_t *p, uint64_t seed, const char *when)
{
    expect_whole(c, world, e, instance, p, seed, 0, when);
}

bool conformance_set_whole(conformance_t *c, bp_world_o *world, bp_entity_t e, const char *instance,
                           conformance_property_t *p, uint64_t seed)
{
    conformance_forget_error(c);
    bp_result_t result = set_whole(c, world, e, instance, p, seed);
    conformance_expect_sentence(c, result, p->declared.name);
    p->refuses = p->refuses || result != BP_OK;
    return result == BP_OK;
}

/* --- the check --------------------------------------------------------------------------------------------------- */

typedef struct whole_t {
    conformance_t *c;
    conformance_property_t *p;
    bp_entity_t *e;
    uint32_t more; /* values that lists have got beside those of the seed */
} whole_t;

/* The seed of an entity's values is one more than its number. */
static void expect_living(const whole_t *w, const char *when)
{
    for (uint32_t i = 0; i < OWNERS; i++) {
        if (w->c->api->entity->alive(w->c->host, &w->e[i], 1, NULL) == 1)
            expect_whole(w->c, w->c->world, w->e[i], "", w->p, i + 1, w->more, when);
    }
}

/* One more value for each list, by the number behind the last; of an array each value once more. */
static void set_by_element(whole_t *w)
{
    for (uint32_t turn = 0; turn < OWNERS; turn++) {
        uint32_t count = length_of(w->p, turn + 1);
        for (uint32_t i = is_list(w->p) ? count : 0; i < count + is_list(w->p); i++) {
            char element[16];
            conformance_value_t v;
            snprintf(element, sizeof element, "[%u]", i);
            bp_property_t property = resolve(w->c, w->c->world, w->e[turn], "", w->p, element);
            make_item(w->c, w->p, turn + 1, i, &v);
            EXPECT_OK(w->c, w->c->api->property->set(w->c->world, &property, &w->e[turn], 1, &v.value, sizeof v.value));
        }
    }
    w->more = is_list(w->p);
}

static void set_by_text(const whole_t *w)
{
    enum { ROOM = 1 << 16 };
    char *text = conformance_new(w->c, ROOM);
    for (uint32_t turn = 0; turn < OWNERS; turn++) {
        bp_path_t path = {.world = w->c->world,
                          .entity = w->e[turn],
                          .property = resolve(w->c, w->c->world, w->e[turn], "", w->p, "")};
        EXPECT_OK(w->c, w->c->api->property->get_text(&path, text, ROOM));
        EXPECT_OK(w->c, w->c->api->property->set_text(&path, text));
    }
}

/* A batch with a dead entity in it must change no entity. */
static void refuse_the_dead(const whole_t *w, bp_entity_t dead)
{
    bp_property_t property = resolve(w->c, w->c->world, w->e[0], "", w->p, "");
    bp_entity_t both[] = {w->e[1], dead};
    char *cells = conformance_new(w->c, 2 * property.size);
    EXPECT_OK(w->c, w->c->api->property->get(w->c->world, &property, &w->e[2], 1, cells, property.size));
    memcpy(cells + property.size, cells, property.size);
    EXPECT_REFUSED(w->c, BP_ERROR_DEAD,
                   w->c->api->property->set(w->c->world, &property, both, 2, cells, property.size));
}

static void check_whole(conformance_t *c, conformance_property_t *p)
{
    whole_t w = {.c = c, .p = p, .e = conformance_create(c, OWNERS)};
    if (!conformance_is_writable(p)) {
        EXPECT_REFUSED(c, BP_ERROR_ARGUMENT, set_whole(c, c->world, w.e[0], "", p, MOST - 1));
        expect_whole(c, c->world, w.e[0], "", p, 0, 0, "after setting what is read only");
        return;
    }
    for (uint32_t i = 0; i < OWNERS; i++) {
        if (!conformance_set_whole(c, c->world, w.e[i], "", p, i + 1))
            return; /* the plugin refuses a value in range, which it may */
    }
    expect_living(&w, "after setting all");
    set_by_element(&w);
    expect_living(&w, "after setting by number");
    set_by_text(&w);
    expect_living(&w, "by way of its text");
    EXPECT_OK(c, c->api->world->add(c->world, c->companion_key, w.e + OWNERS / 4, OWNERS / 2));
    expect_living(&w, "after another component came");
    EXPECT_OK(c, c->api->world->remove(c->world, c->companion_key, w.e + OWNERS / 4, OWNERS / 4));
    expect_living(&w, "after another component went");
    c->api->entity->destroy(c->host, w.e + OWNERS / 2, OWNERS / 3);
    expect_living(&w, "after others died");
    refuse_the_dead(&w, w.e[OWNERS / 2]);
    expect_living(&w, "after a refused batch");
}

void check_wholes(conformance_t *c)
{
    for (uint32_t i = 0; i < c->whole_count; i++)
        check_whole(c, &c->wholes[i]);
}
