/* weapon.c - a component for things with an owner, who holds them. When the owner dies the thing has none, and falls.
 *
 * The component asks for the deaths of the entities that its field `owner` refers to. The host looks for these deaths
 * and hands them over in one batch, with the weapon of each; no list of owners is kept here.
 */
#include <bp_plugin.h>

struct weapon { const bp_entity_t *owner; };

static const bp_field_t fields[] = {{BP_FIELD_OF(struct weapon, owner), .doc = "the entity that holds it"}};

static void died(bp_manager_t *m, const bp_death_t *batch)
{
    const bp_property_api *property = m->api->property;
    const bp_entity_t none = {0};
    bp_vec3_t position;
    for (uint32_t i = 0; i < batch->count; i++) {
        property->set_named(m->world, batch->referrers[i], "weapon", "owner", BP_ENTITY, &none);
        if (property->get_named(m->world, batch->referrers[i], "transform", "position", BP_VEC3, &position) != BP_OK)
            continue; /* the weapon has no transform in this world, so it cannot fall */
        position.y = 0;
        property->set_named(m->world, batch->referrers[i], "transform", "position", BP_VEC3, &position);
    }
}

static const bp_deaths_i deaths = {.died = died, .which = BP_DEATHS_REFERRED, .field = "owner"};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_deaths", deaths)}};
static const bp_component_i components[] = {
    {.doc = "a thing, and its owner", .fields = BP_LIST(fields), .extensions = BP_LIST(extensions)},
};

BP_PLUGIN(weapon) = {.version = "1.0", .components = BP_LIST(components)};
