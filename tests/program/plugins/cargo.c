/* cargo.c - a plugin for the tests of the program: a component with values of every shape that a field may have. */
#include <bp_plugin.h>

static const bp_field_t fields[] = {
    {.name = "crates", .type = BP_U16, .initial = "3", .max = "40000", .doc = "how many there are"},
    {.name = "weight", .type = BP_DVEC3, .initial = "0.1 0.2 0.3", .unit = "kg"},
    {.name = "serial", .type = BP_U64, .initial = "18446744073709551615"},
    {.name = "state", .type = BP_U8, .values = "empty loading=4 full", .doc = "what is done with it"},
    {.name = "marks", .type = BP_U32, .flags = BP_FIELD_BITS, .values = "fragile heavy wet=31", .initial = "heavy|wet"},
};

static const bp_field_t hold_fields[] = {
    {.name = "berths", .type = BP_U16, .count = 3, .initial = "[1, 2, 3]", .max = "40000", .doc = "which are taken"},
    {.name = "sealed", .type = BP_BOOL, .count = 2, .initial = "true"},
    {.name = "labels", .type = BP_STRING, .flags = BP_FIELD_LIST, .doc = "what is written on it"},
    {.name = "lots", .type = BP_F32, .flags = BP_FIELD_LIST, .min = "0", .unit = "kg"},
    {.name = "route", .type = BP_DVEC3, .flags = BP_FIELD_LIST, .unit = "m"},
    {.name = "states", .type = BP_U8, .flags = BP_FIELD_LIST, .values = "empty loading=4 full"},
    {.name = "mates", .type = BP_ENTITY, .flags = BP_FIELD_LIST},
};

static const bp_component_i components[] = {
    {.name = "cargo", .doc = "what a ship carries", .fields = BP_LIST(fields)},
    {.name = "hold", .doc = "where it lies", .fields = BP_LIST(hold_fields)},
};

BP_PLUGIN(cargo) = {
    .version = "1.0",
    .components = BP_LIST(components),
};
