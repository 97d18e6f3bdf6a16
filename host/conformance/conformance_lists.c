/* conformance_lists.c - arrays and lists: values that were set come back, whole and one by one, and stay with their
 * entity.
 *
 * The values of entity number `turn` in a property follow from both and a seed, so none have to be remembered. Each is
 * a value as a single property of that type takes.
 */
#include "conformance.h"

#include <stdio.h>
#include <string.h>

enum { OWNERS = 40, MOST = 7 };

typedef struct whole_t {
    conformance_t *c;
    const conformance_property_t *p;
    bp_entity_t *e;
    uint64_t seed;
    uint32_t more; /* values that lists have got beside those of the seed */
    bool list;
} whole_t;

static uint32_t length_of(const whole_t *w, uint32_t turn)
{
    return w->list ? turn % MOST : w->p->declared.count;
}

/* Number `i` of an entity's values. */
static void make_item(const whole_t *w, uint32_t turn, uint32_t i, conformance_value_t *v)
{
    conformance_value(w->c, w->p, 1 + w->seed + turn * 1009u + i, v);
}

static bp_property_t resolve(const whole_t *w, const char *element)
{
    char name[96];
    bp_property_t property;
    snprintf(name, sizeof name, "%s%s", w->p->declared.name, element);
    EXPECT_OK(w->c, w->c->api->property->resolve(w->c->world, w->e[0], w->c->subject->component, name, &property));
    EXPECT(w->c, property.type == w->p->declared.type, "'%s' is resolved as type %u, declared as %u", name,
           property.type, w->p->declared.type);
    return property;
}

/* Set all values of an entity. */
static bp_result_t set_all(const whole_t *w, uint32_t turn)
{
    uint32_t count = length_of(w, turn);
    size_t size = conformance_size(w->p->declared.type);
    conformance_value_t *values = conformance_new(w->c, (count + 1) * sizeof *values);
    char *items = conformance_new(w->c, (count + 1) * size);
    for (uint32_t i = 0; i < count; i++) {
        make_item(w, turn, i, &values[i]);
        memcpy(items + i * size, &values[i].value, size);
    }
    bp_property_t property = resolve(w, "");
    bp_list_t list = {items, count, 0};
    EXPECT(w->c, property.count == (w->list ? 0 : count) && property.element == BP_NONE,
           "'%s' is resolved with %u values", w->p->declared.name, property.count);
    return w->c->api->property->set(w->c->world, &property, &w->e[turn], 1, w->list ? (void *)&list : items,
                                    property.size);
}

static void expect_all(const whole_t *w, uint32_t turn, const char *when)
{
    char a[CONFORMANCE_TEXT], b[CONFORMANCE_TEXT];
    uint32_t type = w->p->declared.type, count = length_of(w, turn);
    size_t size = conformance_size(type);
    bp_property_t property = resolve(w, "");
    char *cell = conformance_new(w->c, property.size);
    bp_list_t list = {cell, count, 0};
    EXPECT_OK(w->c, w->c->api->property->get(w->c->world, &property, &w->e[turn], 1, cell, property.size));
    if (w->list)
        memcpy(&list, cell, sizeof list);
    count += w->list ? w->more : 0;
    EXPECT(w->c, list.count == count, "%s: '%s' has %u values instead of %u", when, w->p->declared.name, list.count,
           count);
    for (uint32_t i = 0; i < count; i++) {
        conformance_value_t wanted;
        bp_value_t found;
        make_item(w, turn, i, &wanted);
        memset(&found, 0, sizeof found);
        memcpy(&found, (const char *)list.items + i * size, size);
        EXPECT(w->c, conformance_same(type, &found, &wanted.value), "%s: '%s[%u]' is %.200s instead of %.200s", when,
               w->p->declared.name, i, conformance_show(type, &found, a), conformance_show(type, &wanted.value, b));
    }
}

static void expect_living(const whole_t *w, const char *when)
{
    for (uint32_t i = 0; i < OWNERS; i++) {
        if (w->c->api->entity->alive(w->c->host, &w->e[i], 1, NULL) == 1)
            expect_all(w, i, when);
    }
}

/* One more value for each list, by the number behind the last; of an array each value once more. */
static void set_by_element(whole_t *w)
{
    for (uint32_t turn = 0; turn < OWNERS; turn++) {
        uint32_t count = length_of(w, turn);
        for (uint32_t i = w->list ? count : 0; i < count + (w->list ? 1 : 0); i++) {
            char element[16];
            conformance_value_t v;
            snprintf(element, sizeof element, "[%u]", i);
            bp_property_t property = resolve(w, element);
            make_item(w, turn, i, &v);
            EXPECT_OK(w->c, w->c->api->property->set(w->c->world, &property, &w->e[turn], 1, &v.value, sizeof v.value));
        }
    }
    w->more = w->list ? 1 : 0;
}

static void set_by_text(const whole_t *w)
{
    enum { ROOM = 1 << 16 };
    char *text = conformance_new(w->c, ROOM);
    for (uint32_t turn = 0; turn < OWNERS; turn++) {
        bp_path_t path = {.world = w->c->world, .entity = w->e[turn], .property = resolve(w, "")};
        EXPECT_OK(w->c, w->c->api->property->get_text(&path, text, ROOM));
        EXPECT_OK(w->c, w->c->api->property->set_text(&path, text));
    }
}

/* A batch with a dead entity in it must change no entity. */
static void refuse_the_dead(const whole_t *w, bp_entity_t dead)
{
    bp_property_t property = resolve(w, "");
    bp_entity_t both[] = {w->e[1], dead};
    char *cells = conformance_new(w->c, 2 * property.size);
    EXPECT_OK(w->c, w->c->api->property->get(w->c->world, &property, &w->e[2], 1, cells, property.size));
    memcpy(cells + property.size, cells, property.size);
    EXPECT_REFUSED(w->c, BP_ERROR_DEAD,
                   w->c->api->property->set(w->c->world, &property, both, 2, cells, property.size));
}

static void check_whole(conformance_t *c, const conformance_property_t *p, uint64_t seed)
{
    whole_t w = {.c = c, .p = p, .seed = seed * 100003u, .list = (p->declared.flags & BP_FIELD_LIST) != 0};
    w.e = conformance_create(c, OWNERS);
    if (!conformance_is_writable(p)) {
        EXPECT_REFUSED(c, BP_ERROR_ARGUMENT, set_all(&w, MOST - 1));
        return;
    }
    for (uint32_t i = 0; i < OWNERS; i++) {
        conformance_forget_error(c);
        if (set_all(&w, i) == BP_OK)
            continue;
        EXPECT(c, bp_host_error(c->host)[0] != '\0', "'%s' is refused without a sentence", p->declared.name);
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
        check_whole(c, &c->wholes[i], i);
}
