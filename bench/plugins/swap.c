/* swap.c - entities of 64 bytes that change sides in each step: on two ranks, all entities of a split world go to the
 * other rank in each step (tools/measure_machines.py).
 */
#include <bp_plugin.h>

struct body { bp_dvec3_t *place; bp_dvec3_t *speed; double *mass; uint64_t *number; };

static const bp_field_t fields[] = {
    {BP_FIELD_OF(struct body, place)},
    {BP_FIELD_OF(struct body, speed)},
    {BP_FIELD_OF(struct body, mass)},
    {BP_FIELD_OF(struct body, number)},
};
static const bp_component_i components[] = {{.name = "body", .fields = BP_LIST(fields)}};
static const bp_field_t options[] = {{.name = "count", .type = BP_U32, .initial = "1000", .doc = "of bodies"}};

struct placed { bp_dvec3_t *place; };
static const bp_term_field_t placed[] = {{BP_FIELD_OF(struct placed, place)}};
static const bp_term_t terms[] = {{.component = "body", .fields = BP_LIST(placed)}};

/* Half of the bodies on each side of 0, no two at the same place. */
static bp_result_t start(bp_system_t *s)
{
    uint32_t key, prototype, count = s->plugin->options[0].u32, component = s->api->world->component(s->world, "body");
    bp_property_t place;
    if (component == BP_NONE)
        return s->api->error->set(s->host, BP_ERROR_NOT_FOUND, "swap: the world lacks component 'body'");
    if (count == 0 || s->api->world->count(s->world, component) > 0)
        return BP_OK;
    bp_entity_t *bodies = s->api->memory->resize(s->plugin, NULL, 0, count * sizeof *bodies);
    bp_dvec3_t *places = s->api->memory->resize(s->plugin, NULL, 0, count * sizeof *places);
    if (bodies == NULL || places == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "swap: out of memory for its bodies");
    for (uint32_t i = 0; i < count; i++) {
        double at = 1 + (double)i / count;
        places[i] = (bp_dvec3_t){i % 2 == 0 ? at : -at, 0, 0};
    }
    bp_result_t result = s->api->world->key(s->world, component, 0, &key);
    if (result == BP_OK)
        result = s->api->world->prototype(s->world, &key, 1, &prototype);
    if (result == BP_OK)
        result = s->api->world->create(s->world, prototype, bodies, count);
    if (result == BP_OK)
        result = s->api->property->resolve(s->world, bodies[0], "body", "place", &place);
    if (result == BP_OK)
        result = s->api->property->set(s->world, &place, bodies, count, places, sizeof *places);
    s->api->memory->resize(s->plugin, bodies, count * sizeof *bodies, 0);
    s->api->memory->resize(s->plugin, places, count * sizeof *places, 0);
    return result;
}

static void run(const bp_match_t *match, uint32_t count)
{
    BP_COLUMNS(struct placed, c, match->columns[0]);
    for (uint32_t i = 0; i < count; i++)
        c.place[i].x = -c.place[i].x;
}

static const bp_system_i systems[] = {{
    .name = "swap",
    .doc = "all bodies change sides",
    .terms = BP_LIST(terms),
    .start = start,
    .run = run,
}};

BP_PLUGIN(swap) = {
    .version = "1.0",
    .components = BP_LIST(components),
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
};
