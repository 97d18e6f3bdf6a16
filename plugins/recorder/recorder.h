/* recorder.h - what the files of the plugin recorder share.
 *
 * A source is one property that is recorded; a source yields up to 16 numbers ("parts") in each sample. Samples go to
 * two independent places: rows of a CSV file, and curves that become a picture at the end.
 *
 * Not here: declarations for other plugins.
 */
#ifndef RECORDER_RECORDER_H
#define RECORDER_RECORDER_H

#include <bp_plugin.h>

#include <stdio.h>

#define RECORDER_PARTS 16    /* of a matrix, the widest type */
#define RECORDER_MESSAGE 512 /* bytes of a sentence in the log */
#define RECORDER_LABEL 64    /* bytes of a name in the picture */

/* The options of the plugin, in the order of declaration. */
enum {
    RECORDER_PROPERTIES,
    RECORDER_EVERY,
    RECORDER_CSV,
    RECORDER_CSV_EVERY,
    RECORDER_SVG,
    RECORDER_SVG_AXES,
    RECORDER_SVG_PANELS,
    RECORDER_SVG_ORIGIN,
    RECORDER_TITLE,
    RECORDER_UNIT,
    RECORDER_TIME_UNIT
};

typedef struct recorder_curve recorder_curve;   /* curve.h */
typedef struct recorder_series recorder_series; /* series.h */

/* One property that is recorded. */
typedef struct recorder_source {
    char *path;            /* "world/entity.component.property" */
    char *reference;       /* the path of a value to subtract; NULL: none. Both texts lie in one allocation */
    size_t size;           /* of that allocation */
    bp_path_t at, from;    /* resolved, while `found` */
    uint32_t found;
    uint32_t complained;   /* the log has been told that the source cannot be read */
    uint32_t type;         /* BP_TYPE_NONE: not known yet */
    uint32_t parts;        /* numbers in a value; settled at the first sample */
    uint32_t valid;        /* `values` hold this sample's value */
    uint32_t seen;         /* samples with a value */
    double values[RECORDER_PARTS];
    char unit[64];
    char label[RECORDER_LABEL];
    recorder_curve *curve;   /* vec2 and vec3, where a picture is drawn */
    recorder_series *series; /* scalars, likewise */
} recorder_source;

/* The CSV file while it is written: the plugin's state, which one version of the plugin hands to the next even where
 * all other forms have changed. The form of this struct is therefore never changed; reserved members may get a meaning,
 * in which 0 must stand for the behaviour of older versions. */
typedef struct recorder_csv {
    FILE *file;           /* NULL: none is wanted, or writing has failed */
    bp_world_o *world;    /* where the system is at work; NULL: nowhere */
    uint64_t rows;
    uint32_t *types;      /* of the sources, as the header has them; good once there are rows */
    uint32_t sources;     /* entries of `types` */
    uint32_t systems;     /* systems at work: 2 while one version takes over from the other, else 0 or 1 */
    uint64_t reserved[4];
} recorder_csv;

#define RECORDER_CSV_FORM (UINT64_C(2) << 32 | 72)
BP_STATIC_ASSERT(sizeof(recorder_csv) == 72, "versions of the recorder hand this to each other: its form stays");

/* The system at work in a world. */
typedef struct recorder_state {
    bp_system_t *system;
    recorder_source *sources; /* `count` that are recorded, and behind them the origin, where there is one */
    recorder_source *origin;  /* what vectors are drawn relative to; NULL: nothing */
    uint32_t count, room;
    uint32_t settled;  /* the first sample is taken, perhaps by an earlier version: the columns are fixed */
    uint32_t axes[2];  /* of the picture: 0 x, 1 y, 2 z */
    uint32_t panels;   /* numbers in svg_panels */
    uint32_t every, csv_every;
    uint32_t samples;  /* for the picture */
    uint32_t shared;   /* the values of all ranks make up one recording */
    uint32_t met;      /* the ranks have told each other which files they write */
    uint32_t apart;    /* each rank records what it has of a world that they share */
    uint32_t writes;   /* this rank writes files */
    double first_time, time;
} recorder_state;

static inline recorder_csv *recorder_csv_of(const recorder_state *r)
{
    return r->system->plugin->state;
}

/* --- recorder.c ----------------------------------------------------------------------------------------- */

/* bp_memory_api.resize for this plugin. */
void *recorder_resize(const recorder_state *r, void *old, size_t old_size, size_t new_size);

/* The text of an option. */
const char *recorder_text(const recorder_state *r, uint32_t option);

/* A line to the log, as an error. The host says which plugin it comes from. */
void recorder_complain(const recorder_state *r, const char *text);

/* `value` with `digits` significant digits, with a point whatever the locale. Returns `text`. */
char *recorder_number(char *text, size_t size, double value, int digits);

/* Open the files that the options name; BP_ERROR_... with the sentence set. */
bp_result_t recorder_open_files(recorder_state *r);

/* --- ranks.c -------------------------------------------------------------------------------------------- */

/* Settle, as far as it is known before the first sample, whether several ranks record together. */
void recorder_begin_ranks(recorder_state *r);

/* Before the first sample: where every rank has files of its own, open them. */
bp_result_t recorder_meet(recorder_state *r);

/* Read what this rank has of all sources, and take what the others have. 0: other ranks cannot be reached, as in a copy
 * of the process in which something is tried; then nothing has been read. */
int recorder_read_shared(recorder_state *r);

/* --- source.c ------------------------------------------------------------------------------------------- */

/* Make the sources from the options `properties` and `svg_origin`; BP_ERROR_... with the sentence set. */
bp_result_t recorder_make_sources(recorder_state *r);
void recorder_free_sources(recorder_state *r);

/* Read all sources: values and valid. The first call settles types, units and labels. */
void recorder_read(recorder_state *r);

/* Read one path of type `*type`; where that is BP_TYPE_NONE it receives the type. 0 where it has no value here. */
int recorder_read_path(recorder_state *r, const char *path, uint32_t *type, double *numbers);

/* Entities have died: of sources that were found in them this is told, and is no error. */
void recorder_lose(recorder_state *r, const bp_death_t *batch);

/* Settle types, units and labels before the first sample, with these types. */
void recorder_settle_as(recorder_state *r, const uint32_t *types);

/* The name of part `part` of a value of `type`: "x", "g", "m3"; "" of a scalar. */
const char *recorder_part(uint32_t type, uint32_t part);

/* The entity in a path: where its text begins, and its length. And the text behind the entity, "component.property". */
const char *recorder_entity(const char *path, size_t *length);
const char *recorder_property(const char *path);

/* The name of a declared unit in a world, which may call it otherwise. */
void recorder_unit(const recorder_state *r, bp_world_o *world, const char *declared, char *text, uint32_t size);

/* The unit of the world's time: the option, else what the world calls its second; "" where neither says. Returns
   `text`. */
const char *recorder_time_unit(const recorder_state *r, char *text, uint32_t size);

/* The next word of a list separated by spaces and commas, NULL at its end; *list moves past it. */
const char *recorder_word(const char **list, size_t *length);

/* --- output.c: files that appear when they are whole ---------------------------------------------------- */

/* Open "TARGET.part" for writing. NULL: `message` says why not. */
FILE *recorder_open(const char *target, char *message);

/* Close the file and let it take the place of TARGET. 0: `message` says why not, and TARGET is as it was. */
int recorder_keep(const recorder_state *r, FILE *file, const char *target, char *message);

/* Close the file and remove it. */
void recorder_discard(FILE *file, const char *target);

/* --- csv.c ---------------------------------------------------------------------------------------------- */

/* Open the file; or go on with the file that the version before has open. `stop` closes the file, unless another
 * version goes on with it. */
bp_result_t recorder_csv_start(recorder_state *r);

/* Open the file where it is not open: for `start`, and for a rank that learns later that it has one of its own. */
bp_result_t recorder_csv_open(recorder_state *r);
void recorder_csv_row(recorder_state *r);
void recorder_csv_stop(recorder_state *r);
uint32_t recorder_csv_columns(const recorder_state *r);

/* Take out rows of times after `time`: the next rows take their place. */
void recorder_csv_rewind(recorder_state *r, double time);

/* --- svg.c ---------------------------------------------------------------------------------------------- */

/* Draw everything that has been recorded. 0 where the file cannot take it. */
int recorder_svg_draw(const recorder_state *r, FILE *file);

#endif
