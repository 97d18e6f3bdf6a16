/* render_data.c - settings of screen effects: a component with a declaration and no code.
 *
 * One component type for all effects, told apart by their names in the entity ("fog", "vignette"), because a
 * renderer wants to walk all settings of a camera or a zone without knowing every plugin that brings an
 * effect. The defaults make a fog and a vignette that can be seen, so that adding an effect shows at once that it
 * works.
 */
#include <bp_plugin.h>
#include <components/render_data.h>

static const bp_field_t fields[] = {
    [BP_RENDER_DATA_ENABLED] = {.name = "enabled", .type = BP_BOOL, .initial = "true",
                                .doc = "is the effect applied at all?"},
    [BP_RENDER_DATA_EFFECT] = {.name = "effect", .type = BP_NAME,
                               .doc = "which effect this sets; empty: the one of the component's name"},
    [BP_RENDER_DATA_ORDER] = {.name = "order", .type = BP_I32, .initial = "0",
                              .doc = "effects are applied in ascending order"},
    [BP_RENDER_DATA_INTENSITY] = {.name = "intensity", .type = BP_F32, .initial = "1", .min = "0",
                                  .doc = "strength; 0 is none, 1 is full"},
    [BP_RENDER_DATA_COLOUR] = {.name = "colour", .type = BP_COLOUR, .initial = "#000000",
                               .doc = "colour that the picture is mixed with"},
    [BP_RENDER_DATA_NEAR] = {.name = "near", .type = BP_F32, .initial = "0", .min = "0", .unit = "m",
                             .doc = "fog: distance where it begins"},
    [BP_RENDER_DATA_FAR] = {.name = "far", .type = BP_F32, .initial = "1000", .min = "0", .unit = "m",
                            .doc = "fog: distance where it is full"},
    [BP_RENDER_DATA_EXPONENT] = {.name = "exponent", .type = BP_F32, .initial = "1", .min = "0",
                                 .doc = "fog: how it grows between near and far; 1 is evenly"},
    [BP_RENDER_DATA_RADIUS] = {.name = "radius", .type = BP_F32, .initial = "0.75", .min = "0",
                               .doc = "vignette: distance from the middle where it is half; corners are 1"},
    [BP_RENDER_DATA_SOFTNESS] = {.name = "softness", .type = BP_F32, .initial = "0.5", .min = "0", .max = "1",
                                 .doc = "vignette: width of its edge"},
};

static const bp_component_i components[] = {{
    .name = BP_RENDER_DATA,
    .doc = "settings of a screen effect, such as fog or vignette",
    .version = 1,
    .fields = BP_LIST(fields),
}};

BP_PLUGIN(render_data) = {
    .version = "1.0",
    .doc = "settings of screen effects, for renderers",
    .components = BP_LIST(components),
};
