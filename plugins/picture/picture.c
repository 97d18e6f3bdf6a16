/* picture.c - the plugin picture: the last frame of a world's sprites, as a PNG file.
 *
 * The plugin's one system takes no part in the steps; when the system stops it takes the frame from the table of the
 * component `sprite`, paints it (paint.c) and writes it (png.c). The plugin needs libpng, which no other plugin needs:
 * hence a plugin of its own, which a build without that library leaves out.
 *
 * The system finds out at the start, rather than after the last step, whether the picture can be written.
 */
#include "picture.h"

#include <stdio.h>
#include <string.h>

static const bp_field_t options[] = {
    [PICTURE_FILE] = {.name = "file", .type = BP_STRING, .flags = BP_FIELD_REQUIRED,
                      .doc = "PNG to write, relative to where the program runs"},
    [PICTURE_WIDTH] = {.name = "width", .type = BP_U32, .initial = "1280", .min = "16", .max = "16384",
                       .unit = "pixels"},
    [PICTURE_HEIGHT] = {.name = "height", .type = BP_U32, .initial = "800", .min = "16", .max = "16384",
                        .unit = "pixels"},
    [PICTURE_VIEW] = {.name = "view", .type = BP_VEC2, .initial = "4 2.5", .min = "1e-6",
                      .doc = "half of what is seen, around 0 0, in units of the frame"},
    [PICTURE_BACKGROUND] = {.name = "background", .type = BP_COLOUR, .initial = "#0b1026"},
    [PICTURE_POINTS] = {.name = "points", .type = BP_F32, .initial = "6", .min = "0", .unit = "pixels",
                        .doc = "sprites with a smaller radius are points of light, others balls"},
    [PICTURE_EXPOSURE] = {.name = "exposure", .type = BP_F32, .initial = "1", .min = "0",
                          .doc = "of points; 1 shows their mean density at two thirds of their colour"},
    [PICTURE_SOFTNESS] = {.name = "softness", .type = BP_U32, .initial = "2", .max = "100",
                          .doc = "how often the light of points is spread to neighbouring pixels"},
    [PICTURE_WHITES] = {.name = "whites", .type = BP_F32, .initial = "1", .min = "0", .max = "1",
                        .doc = "the part of their light that points without a colour keep"},
    [PICTURE_VIVID] = {.name = "vivid", .type = BP_F32, .initial = "0", .min = "0", .max = "1",
                       .doc = "the part of the grey in their colour that points lose"},
    [PICTURE_TITLE] = {.name = "title", .type = BP_STRING,
                       .doc = "above the picture, with the step, a scale and a legend around it; without it, or "
                              "where the picture has no room, there are none"},
    [PICTURE_ZOOM] = {.name = "zoom", .type = BP_F32, .initial = "1", .min = "1e-6",
                      .doc = "units of the frame for one of the world; for the scale"},
    [PICTURE_POINTS_ARE] = {.name = "points_are", .type = BP_STRING, .initial = "points", .doc = "in the legend"},
    [PICTURE_BALLS_ARE] = {.name = "balls_are", .type = BP_STRING, .initial = "balls", .doc = "in the legend"},
};

/* The system at work in a world. */
typedef struct picture_state {
    const bp_sprite_api *sprites; /* the slot of their table */
    bp_manager_t *manager;        /* of the component `sprite` */
    uint64_t steps;
    double time;
    uint32_t ran;                 /* 1: a step has been taken since the system began */
    uint32_t padding;
} picture_state;

static const char *file_of(const bp_system_t *s)
{
    return s->plugin->options[PICTURE_FILE].string;
}

static bp_result_t find_sprites(bp_system_t *s, picture_state *p)
{
    uint32_t component = s->api->world->component(s->world, BP_SPRITE);
    p->sprites = s->api->registry->find(s->host, BP_SPRITE_API, 1);
    if (component == BP_NONE || p->sprites == NULL)
        return s->api->error->set(s->host, BP_ERROR_NOT_FOUND,
                                  "it draws component '" BP_SPRITE "', which the world lacks; add it to the "
                                  "world's components");
    p->manager = s->api->world->manager(s->world, component);
    return BP_OK;
}

static bp_result_t start(bp_system_t *s)
{
    char message[PICTURE_MESSAGE];
    picture_state p = {.steps = 0};
    bp_result_t result = find_sprites(s, &p);
    if (result != BP_OK)
        return result;
    if (!picture_try(file_of(s), message))
        return s->api->error->set(s->host, BP_ERROR_IO, message);
    picture_state *state = s->api->memory->resize(s->plugin, NULL, 0, sizeof *state);
    if (state == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "out of memory");
    *state = p;
    s->state = state;
    return BP_OK;
}

static void run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    picture_state *p = s->state;
    (void)matches, (void)count;
    p->steps = step->number + 1;
    p->time = step->time + step->dt;
    p->ran = 1;
}

/* What is painted is the frame of that moment. */
static void rewound(bp_system_t *s, const bp_step_t *now)
{
    picture_state *p = s->state;
    p->steps = now->number;
    p->time = now->time;
}

/* --- the picture ---------------------------------------------------------------------------------------- */

static picture_look look_of(const bp_value_t *given)
{
    return (picture_look){.width = given[PICTURE_WIDTH].u32,
                          .height = given[PICTURE_HEIGHT].u32,
                          .view = given[PICTURE_VIEW].vec2,
                          .background = given[PICTURE_BACKGROUND].colour,
                          .points = given[PICTURE_POINTS].f32,
                          .exposure = given[PICTURE_EXPOSURE].f32,
                          .softness = given[PICTURE_SOFTNESS].u32,
                          .whites = given[PICTURE_WHITES].f32,
                          .vivid = given[PICTURE_VIVID].f32,
                          .zoom = given[PICTURE_ZOOM].f32,
                          .title = given[PICTURE_TITLE].string,
                          .points_are = given[PICTURE_POINTS_ARE].string,
                          .balls_are = given[PICTURE_BALLS_ARE].string};
}

/* The frame, and around it the labels. */
static void paint(const picture_state *p, const picture_look *look, const bp_sprite_t *sprites, uint32_t count,
                  float *light, const picture_canvas *canvas)
{
    picture_area area = picture_inside(look);
    picture_counts counts;
    char when[96];
    for (size_t i = 0; i < (size_t)look->width * look->height; i++)
        picture_blend(canvas, (int32_t)(i % look->width), (int32_t)(i / look->width),
                      (bp_colour_t){look->background.r, look->background.g, look->background.b, 1}, 1);
    picture_paint(look, &area, sprites, count, light, canvas, &counts);
    snprintf(when, sizeof when, "step %llu, time %g", (unsigned long long)p->steps, p->time);
    if (picture_is_labelled(look))
        picture_label(canvas, look, &area, &counts, when);
}

static void make(bp_system_t *s, const bp_sprite_t *sprites, uint32_t count)
{
    const bp_memory_api *memory = s->api->memory;
    picture_look look = look_of(s->plugin->options);
    size_t area = (size_t)look.width * look.height;
    float *light = memory->resize(s->plugin, NULL, 0, area * 4 * sizeof *light);
    uint8_t *pixels = memory->resize(s->plugin, NULL, 0, area * 3);
    char message[PICTURE_MESSAGE] = "out of memory for the picture";
    bool good = light != NULL && pixels != NULL;
    char file[PICTURE_MESSAGE];
    if (good && s->api->file->output(s->world, file_of(s), file, sizeof file, NULL, 0) != BP_OK) {
        snprintf(message, sizeof message, "%.400s: the path is too long", file_of(s));
        good = false;
    }
    if (good) {
        memset(pixels, 0, area * 3);
        paint(s->state, &look, sprites, count, light, &(picture_canvas){pixels, look.width, look.height});
        good = picture_write(s, file, pixels, look.width, look.height, message);
    }
    if (!good)
        s->api->error->log(s->plugin, BP_LOG_ERROR, message);
    if (light != NULL)
        memory->resize(s->plugin, light, area * 4 * sizeof *light, 0);
    if (pixels != NULL)
        memory->resize(s->plugin, pixels, area * 3, 0);
}

static void stop(bp_system_t *s)
{
    picture_state *p = s->state;
    uint32_t count = 0;
    const bp_sprite_t *sprites = p->ran != 0 ? p->sprites->frame(p->manager, &count) : NULL;
    if (p->ran != 0)
        make(s, sprites, sprites == NULL ? 0 : count);
    s->state = s->api->memory->resize(s->plugin, p, sizeof *p, 0);
}

static void report(bp_system_t *s, bp_report_o *out)
{
    const picture_state *p = s->state;
    uint32_t count = 0;
    char text[PICTURE_MESSAGE];
    if (p->sprites->frame(p->manager, &count) == NULL)
        count = 0;
    char file[PICTURE_MESSAGE], ran[64];
    if (s->api->file->output(s->world, file_of(s), file, sizeof file, ran, sizeof ran) != BP_OK)
        file[0] = ran[0] = '\0';
    snprintf(text, sizeof text, "%.380s: %u sprites%s%s", file, (unsigned)count, ran[0] != '\0' ? ", after " : "", ran);
    s->api->report->value(out, "picture, written at the end", text);
}

static const bp_system_report_i reporting = {report};
static const bp_rewind_i rewinding = {rewound};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)},
                                            {BP_EXTENSION("bp_rewind", rewinding)}};

static const bp_system_i systems[] = {
    {.name = "picture", .doc = "draws the last frame of the sprites to a PNG file; list it last",
     .flags = BP_SYSTEM_CONCURRENT | BP_SYSTEM_OUTPUT, .start = start, .stop = stop, .run_all = run_all, .extensions =
         BP_LIST(extensions),
     .state_form = BP_STATE_FORM(picture_state, 3)}, /* else a reload would stop the old version, which paints */
};

BP_PLUGIN(picture) = {
    .version = "1.0",
    .doc = "sprites as a PNG file",
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
};
