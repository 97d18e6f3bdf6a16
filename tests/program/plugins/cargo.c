/* cargo.c - a plugin for the tests of the program: a component with values of every shape that a field may have. */
#include <bp_plugin.h>

static const bp_field_t fields[] = {
    {.name = "crates", .type = BP_U16, .initial = "3", .max = "40000", .doc = "how many there are"},
    {.name = "weight", .type = BP_DVEC3, .initial = "0.1 0.2 0.3", .unit = "kg"},
    {.name = "serial", .type = BP_U64, .initial = "18446744073709551615"},
    {.name = "state", .type = BP_U8, .values = "empty loading=4 full", .doc = "what is done with it"},
    {.name = "marks", .type = BP_U32, .flags = BP_FIELD_BITS, .values = "fragile heavy wet=31", .initial = "heavy|wet"},
};

static const bp_component_i components[] = {
    {.name = "cargo", .doc = "what a ship carries", .fields = BP_LIST(fields)},
};

BP_PLUGIN(cargo) = {
    .version = "1.0",
    .components = BP_LIST(components),
};
