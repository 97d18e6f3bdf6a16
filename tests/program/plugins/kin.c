/* kin.c - a plugin for the tests of the program: a component that says who the mother is, and a nickname. The component
 * does not refuse circles of mothers. */
#include <bp_plugin.h>

static const bp_field_t fields[] = {
    {.name = "mother", .type = BP_ENTITY, .flags = BP_FIELD_PARENT},
    {.name = "nick", .type = BP_STRING, .flags = BP_FIELD_LABEL},
};

static const bp_component_i components[] = {
    {.name = "kin", .fields = BP_LIST(fields)},
};

BP_PLUGIN(kin) = {
    .version = "1.0",
    .components = BP_LIST(components),
};
