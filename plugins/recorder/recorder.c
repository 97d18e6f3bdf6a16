/* recorder.c - the plugin recorder: any properties that the ini names, to a CSV file and to a picture.
 *
 * Its one system runs last in a step and takes a sample of the named properties every so many steps, by way
 * of the property tables, and knows no component. CSV rows are written as they come (csv.c); for the picture
 * vectors become curves (curve.c) and scalars become series (series.c), both of bounded size, so that a run may be of
 * any length; the SVG is drawn from them when the system stops (svg.c).
 *
 * The options name files, and a file has one writer: so the system can be at work in one world at a time. The system
 * may read from all worlds.
 *
 * A reload hands everything over where all of it has the same form. Else the CSV file goes over by itself, open as it
 * is, and the new version writes the next row; for the picture the new version begins anew, and the picture of the old
 * version is drawn.
 */
#include "recorder.h"
#include "curve.h"
#include "series.h"

#include <float.h>
#include <helpers/bp_real.h>
#include <stdlib.h>
#include <string.h>

#define CURVE_POINTS_IN_ALL 60000 /* over all curves and panels: at 10 bytes each, well below 1 MB */
#define CURVE_POINTS_LEAST 256
#define CURVE_POINTS_MOST 16384
#define PANELS_MOST 16

/* The form of all that the system's state leads to: raise the number when a member changes its meaning and not its
 * size. */
typedef struct recorder_form {
    recorder_state state;
    recorder_source source;
    recorder_curve curve;
    recorder_point point;
    recorder_series series;
} recorder_form;

static const bp_field_t options[] = {
    {.name = "properties", .type = BP_STRING, .flags = BP_FIELD_REQUIRED,
     .doc = "what to record: a list of world/entity.component.property; PATH@PATH records a difference"},
    {.name = "every", .type = BP_U32, .initial = "1", .min = "1", .unit = "steps",
     .doc = "from sample to sample"},
    {.name = "csv", .type = BP_STRING,
     .doc = "file to write, relative to where the program runs; empty: none"},
    {.name = "csv_every", .type = BP_U32, .unit = "steps",
     .doc = "from row to row of the CSV; 0: as `every`"},
    {.name = "svg", .type = BP_STRING, .doc = "picture to write, likewise"},
    {.name = "svg_axes", .type = BP_STRING, .initial = "xy",
     .doc = "the two parts of a vector that are drawn"},
    {.name = "svg_panels", .type = BP_STRING,
     .doc = "half-widths of square panels for the first vector property; empty: one panel that fits"},
    {.name = "svg_origin", .type = BP_STRING,
     .doc = "path of a vector that is the origin of the picture for all of the same property"},
    {.name = "title", .type = BP_STRING, .doc = "of the picture"},
    {.name = "unit", .type = BP_STRING, .doc = "of the first vector property; empty: as the world calls it"},
    {.name = "time_unit", .type = BP_STRING, .doc = "of the world's time; empty: as the world calls its second"},
};

void *recorder_resize(const recorder_state *r, void *old, size_t old_size, size_t new_size)
{
    return r->system->api->memory->resize(r->system->plugin, old, old_size, new_size);
}

const char *recorder_text(const recorder_state *r, uint32_t option)
{
    return r->system->plugin->options[option].string;
}

void recorder_complain(const recorder_state *r, const char *text)
{
    r->system->api->error->log(r->system->plugin, BP_LOG_ERROR, text);
}

char *recorder_number(char *text, size_t size, double value, int digits)
{
    snprintf(text, size, "%.*g", digits, value);
    return bp_real_dot(text);
}

/* --- options that are more than a value ----------------------------------------------------------------- */

static bp_result_t refuse(const recorder_state *r, const char *text)
{
    return r->system->api->error->set(r->system->host, BP_ERROR_ARGUMENT, text);
}

static bp_result_t read_axes(recorder_state *r)
{
    const char *axes = recorder_text(r, RECORDER_SVG_AXES);
    if (strlen(axes) != 2 || axes[0] == axes[1] || strspn(axes, "xyz") != 2)
        return refuse(r, "svg_axes names two different axes out of x, y and z: xy, xz, zy ...");
    r->axes[0] = (uint32_t)(axes[0] - 'x');
    r->axes[1] = (uint32_t)(axes[1] - 'x');
    return BP_OK;
}

static bp_result_t read_panels(recorder_state *r)
{
    size_t length;
    const char *list = recorder_text(r, RECORDER_SVG_PANELS);
    for (const char *word; (word = recorder_word(&list, &length)) != NULL; r->panels++) {
        char *end;
        double half = bp_real_read(word, &end);
        if (end != word + length || !(half > 0 && half <= DBL_MAX))
            return refuse(r, "svg_panels is a list of numbers above 0, such as: 2 32");
    }
    return r->panels <= PANELS_MOST ? BP_OK : refuse(r, "svg_panels lists more than 16 panels");
}

static bp_result_t read_options(recorder_state *r)
{
    const bp_value_t *given = r->system->plugin->options;
    const char *csv = given[RECORDER_CSV].string, *svg = given[RECORDER_SVG].string;
    if (csv[0] == 0 && svg[0] == 0)
        return refuse(r, "neither csv nor svg names a file, so there is nothing to record for");
    if (strcmp(csv, svg) == 0)
        return refuse(r, "csv and svg name the same file");
    r->every = given[RECORDER_EVERY].u32;
    r->csv_every = given[RECORDER_CSV_EVERY].u32 != 0 ? given[RECORDER_CSV_EVERY].u32 : r->every;
    bp_result_t result = read_axes(r);
    return result != BP_OK ? result : read_panels(r);
}

/* --- begin and end -------------------------------------------------------------------------------------- */

/* Find out now, not after an hour of simulation, whether the picture can be written; not again in a reload. */
static bp_result_t try_svg(const recorder_state *r)
{
    char message[RECORDER_MESSAGE];
    const char *target = recorder_text(r, RECORDER_SVG);
    if (target[0] == 0 || recorder_csv_of(r)->systems > 0)
        return BP_OK;
    FILE *file = recorder_open(target, message);
    if (file == NULL)
        return r->system->api->error->set(r->system->host, BP_ERROR_IO, message);
    recorder_discard(file, target);
    return BP_OK;
}

bp_result_t recorder_open_files(recorder_state *r)
{
    bp_result_t result = try_svg(r);
    return result == BP_OK ? recorder_csv_open(r) : result;
}

static bp_result_t open_all(recorder_state *r)
{
    bp_result_t result = read_options(r);
    recorder_begin_ranks(r);
    if (result == BP_OK)
        result = recorder_make_sources(r);
    if (result == BP_OK && r->writes)
        result = try_svg(r);
    if (result == BP_OK)
        result = recorder_csv_start(r);
    return result;
}

static void release(recorder_state *r)
{
    bp_system_t *s = r->system;
    recorder_free_sources(r);
    s->state = s->api->memory->resize(s->plugin, r, sizeof *r, 0);
}

static bp_result_t start(bp_system_t *s)
{
    const recorder_csv *csv = s->plugin->state;
    if (csv->systems > 0 && csv->world != s->world)
        return s->api->error->set(s->host, BP_ERROR_STATE,
                                  "it is at work in another world already; one "
                                  "recorder reads the properties of all worlds");
    recorder_state *r = s->api->memory->resize(s->plugin, NULL, 0, sizeof *r);
    if (r == NULL)
        return s->api->error->set(s->host, BP_ERROR_MEMORY, "out of memory");
    *r = (recorder_state){.system = s};
    s->state = r;
    bp_result_t result = open_all(r);
    if (result != BP_OK)
        release(r);
    return result;
}

static void write_svg(recorder_state *r)
{
    char message[RECORDER_MESSAGE];
    const char *target = recorder_text(r, RECORDER_SVG);
    if (target[0] == 0 || r->samples == 0)
        return;
    FILE *file = recorder_open(target, message);
    if (file == NULL) {
        recorder_complain(r, message);
        return;
    }
    recorder_svg_draw(r, file);
    if (!recorder_keep(r, file, target, message))
        recorder_complain(r, message);
}

static void stop(bp_system_t *s)
{
    recorder_state *r = s->state;
    recorder_csv_stop(r);
    write_svg(r);
    release(r);
}

/* --- a step --------------------------------------------------------------------------------------------- */

/* Points that each curve may keep, so that all of them in all panels fit the budget. */
static uint32_t curve_limit(const recorder_state *r)
{
    uint32_t limit = CURVE_POINTS_IN_ALL / r->count / (r->panels > 0 ? r->panels : 1);
    if (limit < CURVE_POINTS_LEAST)
        return CURVE_POINTS_LEAST;
    return limit > CURVE_POINTS_MOST ? CURVE_POINTS_MOST : limit;
}

/* Say once that there is no memory to draw a source; the source tries again at the next sample. */
static void remark_memory(const recorder_state *r, recorder_source *s, const void *made)
{
    char message[RECORDER_MESSAGE];
    if (made != NULL || s->complained)
        return;
    s->complained = 1;
    snprintf(message, sizeof message, "'%.300s' is not drawn: out of memory", s->path);
    recorder_complain(r, message);
}

static void draw_curve(recorder_state *r, recorder_source *s)
{
    uint32_t a = r->axes[0], b = r->axes[1];
    int relative = r->origin != NULL && s->reference == NULL && s->type == r->origin->type &&
                   strcmp(recorder_property(s->path), recorder_property(r->origin->path)) == 0;
    if (s->curve == NULL && s->valid) {
        s->curve = recorder_curve_make(r, curve_limit(r));
        remark_memory(r, s, s->curve);
    }
    if (s->curve == NULL)
        return;
    if (!s->valid || (relative && !r->origin->valid))
        recorder_curve_lift(s->curve);
    else
        recorder_curve_add(s->curve, s->values[a] - (relative ? r->origin->values[a] : 0.0),
                           s->values[b] - (relative ? r->origin->values[b] : 0.0));
}

static void draw_series(recorder_state *r, recorder_source *s)
{
    if (s->series == NULL && s->valid) {
        s->series = recorder_series_make(r);
        remark_memory(r, s, s->series);
    }
    if (s->series == NULL)
        return;
    if (!s->valid)
        recorder_series_lift(s->series);
    else
        recorder_series_add(s->series, r->time, s->values[0]);
}

static void draw_sample(recorder_state *r)
{
    if (r->samples++ == 0)
        r->first_time = r->time;
    for (uint32_t i = 0; i < r->count; i++) {
        recorder_source *s = &r->sources[i];
        if (s->type == BP_VEC2 || s->type == BP_VEC3)
            draw_curve(r, s);
        else if (s->parts == 1)
            draw_series(r, s);
    }
}

static void run_all(bp_system_t *s, const bp_step_t *step, const bp_match_t *matches, uint32_t count)
{
    (void)matches;
    (void)count;
    recorder_state *r = s->state;
    int csv = recorder_text(r, RECORDER_CSV)[0] != 0 && step->number % r->csv_every == 0;
    int svg = recorder_text(r, RECORDER_SVG)[0] != 0 && step->number % r->every == 0;
    if (!csv && !svg)
        return;
    if (recorder_meet(r) != BP_OK)
        recorder_complain(r, s->api->error->last(s->host));
    r->time = step->time + step->dt; /* the last unit of a step sees the values of the end of the step */
    recorder_read(r);
    if (csv)
        recorder_csv_row(r);
    if (svg && r->writes)
        draw_sample(r);
}

/* --- report --------------------------------------------------------------------------------------------- */

static void report(bp_system_t *s, bp_report_o *out)
{
    recorder_state *r = s->state;
    char text[RECORDER_MESSAGE];
    const char *csv = recorder_text(r, RECORDER_CSV), *svg = recorder_text(r, RECORDER_SVG);
    if (!r->writes)
        return;
    if (csv[0] != 0) {
        snprintf(text, sizeof text, "%.300s: %llu rows of %u columns", csv,
                 (unsigned long long)recorder_csv_of(r)->rows, (unsigned)recorder_csv_columns(r));
        s->api->report->value(out, "table, written at the end", text);
    }
    if (svg[0] != 0) {
        snprintf(text, sizeof text, "%.300s: %u samples of %u properties", svg, (unsigned)r->samples,
                 (unsigned)r->count);
        s->api->report->value(out, "picture, written at the end", text);
    }
    for (uint32_t i = 0; i < r->count; i++) {
        if (r->sources[i].seen == 0)
            s->api->report->value(out, "never found", r->sources[i].path);
    }
}

/* The world has gone to another moment. Rows of later times are taken out of the CSV file; the picture shows only
 * samples from this moment on, since its curves have no times by which to take points out. */
static void rewound(bp_system_t *s, const bp_step_t *now)
{
    recorder_state *r = s->state;
    recorder_csv_rewind(r, now->time + now->dt / 2);
    for (uint32_t i = 0; i < r->count; i++) {
        recorder_source *source = &r->sources[i];
        if (source->curve != NULL)
            recorder_curve_free(r, source->curve);
        if (source->series != NULL)
            recorder_series_free(r, source->series);
        source->curve = NULL;
        source->series = NULL;
    }
    r->samples = 0;
}

static void died(bp_system_t *s, const bp_death_t *batch)
{
    recorder_lose(s->state, batch);
}

static bp_result_t load(bp_plugin_t *plugin)
{
    if (plugin->state != NULL)
        return BP_OK; /* the state has come over from the version before */
    recorder_csv *csv = plugin->api->memory->resize(plugin, NULL, 0, sizeof *csv);
    if (csv == NULL)
        return plugin->api->error->set(plugin->host, BP_ERROR_MEMORY, "out of memory");
    *csv = (recorder_csv){0};
    plugin->state = csv;
    return BP_OK;
}

static void unload(bp_plugin_t *plugin)
{
    plugin->state = plugin->api->memory->resize(plugin, plugin->state, sizeof(recorder_csv), 0);
}

static const bp_system_report_i reporting = {report};
static const bp_rewind_i rewinding = {rewound};
static const bp_system_deaths_i deaths = {.died = died, .which = BP_DEATHS_ALL};
static const bp_extension_t extensions[] = {{BP_EXTENSION("bp_report", reporting)},
                                            {BP_EXTENSION("bp_rewind", rewinding)},
                                            {BP_EXTENSION("bp_deaths", deaths)}};

static const bp_system_i systems[] = {
    {.name = "recorder",
     .doc = "records properties to CSV and SVG; list it last", .flags = BP_SYSTEM_OUTPUT, .start = start, .stop = stop,
     .run_all = run_all, .state_form = BP_STATE_FORM(recorder_form, 2), .extensions = BP_LIST(extensions)},
};

BP_PLUGIN(recorder) = {
    .version = "1.0",
    .doc = "records any properties to a CSV file and an SVG picture",
    .systems = BP_LIST(systems),
    .options = BP_LIST(options),
    .load = load,
    .unload = unload,
    .state_form = RECORDER_CSV_FORM,
    .keeps = BP_KEEP_NOTHING,
};
