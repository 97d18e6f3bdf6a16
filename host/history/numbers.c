/* numbers.c - a component is found by its type, a key by its type and name, and a prototype by its keys: none of these
 * depends on the order in which they came about, as the numbers do.
 */
#include "numbers.h"

#include <string.h>

uint32_t numbers_component(const world_t *of, const world_t *in, uint32_t component)
{
    if (component >= of->manager_count || !of->managers[component]->started)
        return BP_NONE;
    const char *type = of->managers[component]->component->name;
    for (uint32_t i = 0; i < in->manager_count; i++) {
        if (in->managers[i]->started && strcmp(in->managers[i]->component->name, type) == 0)
            return i;
    }
    return BP_NONE;
}

uint32_t numbers_key(const world_t *of, const world_t *in, uint32_t key)
{
    if (key >= of->prototypes.key_count)
        return BP_NONE;
    uint32_t component = numbers_component(of, in, of->prototypes.keys[key].manager);
    return component == BP_NONE ? BP_NONE
                                : prototypes_known_key(&in->prototypes, of->prototypes.keys[key].name, component);
}

uint32_t numbers_need_key(const world_t *of, world_t *in, uint32_t key)
{
    uint32_t found = numbers_key(of, in, key);
    uint32_t component = key < of->prototypes.key_count ? numbers_component(of, in, of->prototypes.keys[key].manager)
                                                        : BP_NONE;
    bp_name_t name;
    if (found != BP_NONE || component == BP_NONE)
        return found;
    const char *text = names_text(&of->base->names, of->prototypes.keys[key].name);
    if (names_intern(&in->base->names, text, &name, &in->base->error) != BP_OK ||
        world_key(in, component, name, &found) != BP_OK)
        return BP_NONE;
    return found;
}

void numbers_bring_keys(const world_t *of, world_t *in)
{
    for (uint32_t key = 0; key < of->prototypes.key_count; key++)
        numbers_need_key(of, in, key);
}

uint32_t numbers_prototype(const world_t *of, const world_t *in, uint32_t prototype)
{
    uint32_t keys[PROTOTYPES_MAX_KEYS], count = 0, found = 0;
    if (prototype >= of->prototypes.count)
        return BP_NONE;
    for (uint32_t at = prototype; at != 0; at = of->prototypes.items[at].base) {
        uint32_t key = numbers_key(of, in, of->prototypes.items[at].key), place = count++;
        for (; place > 0 && keys[place - 1] > key; place--)
            keys[place] = keys[place - 1];
        keys[place] = key;
    }
    for (uint32_t i = 0; i < count && found != BP_NONE; i++)
        found = prototypes_known_child(&in->prototypes, found, keys[i]);
    return found;
}
