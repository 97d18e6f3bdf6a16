/* setup.h - an ini on its way to plugins, worlds and entities: its state, its sections and its keys.
 *
 * Inner to setup*.c.
 *
 * Not here: doing what an ini says (setup.c).
 */
#ifndef HOST_ENGINE_SETUP_H
#define HOST_ENGINE_SETUP_H

#include "../base/bytes.h"
#include "../base/file.h"
#include "host.h"
#include "ini.h"

enum { SETUP_WORD = 1024 }; /* longer than any word of a value in use, so that words are judged whole */

/* The entities of one [spawn]: a part of setup_t.spawned. */
typedef struct setup_spawned_t {
    uint32_t section, first, count;
} setup_spawned_t;

typedef struct setup_t {
    bp_host_o *host;
    error_text_t *error;
    ini_t ini;
    uint32_t old_plugins, old_worlds;
    uint64_t old_steps, old_random;
    guard_t *old_guard;
    bool old_copies, old_watching, old_trying, old_building, old_command;
    uint64_t old_beside_steps;
    uint32_t old_pause_limit;
    source_settings_t old_compilers;
    int64_t steps, seed;
    uint64_t history; /* bytes for the past; 0: none */
    uint32_t keyframe_ms; /* from keyframe to keyframe */
    bool audit;       /* of what units write */
    uint32_t threads; /* 0: not given */
    jobs_t *pool;     /* of that many, until the host takes it; NULL: none */
    bp_host_desc_t live; /* about crashes and hot reload */
    bp_entity_t *spawned; /* by [spawn ...] */
    uint32_t spawned_count, spawned_capacity;
    setup_spawned_t *lists; /* of each section that has made some */
    uint32_t list_count, list_capacity;
    bp_spawn_t *spawns;   /* of scenes */
    uint32_t spawn_count, spawn_capacity;
    const char *plugin_path; /* "" where not given */
    uint32_t plugin_path_line;
    bool met;                /* the peers: values are those of this rank */
    char *alike;             /* the settings that all ranks must have alike, as lines; NULL: none yet */
} setup_t;

/* Put file and line in front of the error's sentence, unless it has them. Returns `result`. */
bp_result_t setup_at_line(setup_t *s, uint32_t line, bp_result_t result);

/* Begin a setup: note the host's plugins and worlds before it. The ini is read into `s->ini` next. */
void setup_begin(setup_t *s, bp_host_o *host);

/* Is every section and every key a known one? The error suggests the nearest. Is each section there once? Does each
 * [plugin ...] belong to one of that list? */
bp_result_t setup_check_names(setup_t *s);
bp_result_t setup_check_repeats(setup_t *s);
bp_result_t setup_check_plugin_sections(setup_t *s, const char *list);

extern const char *const setup_host_keys[]; /* of [host]; NULL behind the last */

/* Read the keys of [host] but its plugins, and do nothing yet. */
bp_result_t setup_read_host(setup_t *s);

/* The step rate of a world's section; 60 where it does not say. */
bp_result_t setup_read_rate(setup_t *s, const char *section, double *rate);

/* The options of a plugin. */
typedef struct setup_options_t {
    bp_option_t items[REGISTRY_MAX_FIELDS];
    char origins[REGISTRY_MAX_FIELDS][FILE_PATH_MAX + 16];
    uint32_t count;
} setup_options_t;
void setup_collect_options(const setup_t *s, const char *plugin, setup_options_t *options);

/* Load a plugin of the list in `line`; make the world of a section, with what it uses. */
bp_result_t setup_load_plugin(setup_t *s, const char *name, uint32_t line);
bp_result_t setup_make_world(setup_t *s, const ini_section_t *section);

/* Take back all that this setup has brought, newest first. The error stays. */
void setup_undo(setup_t *s);

/* The words of a section header: kind, first and second name. Returns how many there are (4: too many). */
uint32_t setup_section_words(const char *section, char words[3][SETUP_WORD]);
bool setup_is_kind(const char *section, const char *kind);

/* A key of a section, NULL where it is not given. */
const ini_entry_t *setup_find_entry(const setup_t *s, const char *section, const char *key);

/* A value of a key, parsed as a type; `value` stays as it is where `entry` is NULL. */
bp_result_t setup_read_value(setup_t *s, const ini_entry_t *entry, uint32_t type, bp_value_t *value);

/* Read a count of [host], with its range; 0 where the key is not given. */
bp_result_t setup_read_count(setup_t *s, const char *key, int64_t least, int64_t most, int64_t *out);

/* --- setup live -------------------------------------------------------------------------------------------------- */

/* The keys of [host] about crashes and hot reload.
 *
 * Inner to setup*.c.
 */

/* Read the keys of [host] about the crash guard and hot reload; turn on what they ask for; and turn that off again. */
bp_result_t setup_read_live(setup_t *s);
bp_result_t setup_live(setup_t *s);
void setup_end_live(setup_t *s);

/* --- setup peers ------------------------------------------------------------------------------------------------- */

/* The ranks that read one ini together (bp_peers.h).
 *
 * Inner to setup*.c.
 */

/* A plugin of the list in `line` has been loaded: where it knows of peers, put down what the ini says, and replace
 * {rank}, {ranks} and {rank: A B ...} in all values. */
bp_result_t setup_meet_peers(setup_t *s, uint32_t line);

/* All plugins are loaded: does every rank have the same ini and the same plugins? The error is the same on each. */
bp_result_t setup_compare_peers(setup_t *s);

/* Does this rank have the world of that section, and is it one that is split among all ranks? */
typedef struct setup_place_t {
    bool here, split;
} setup_place_t;
bp_result_t setup_place(setup_t *s, const char *section, setup_place_t *place);

/* Make the parts that a split world has beside its own: the world of copies, made like it, and the systems that send
 * and settle. */
bp_result_t setup_split(setup_t *s, bp_world_o *world, bp_world_o *halo, uint32_t line);

/* Is it known that this rank has not the world of that name? */
bool setup_is_elsewhere(const setup_t *s, const char *world);

void setup_release_peers(setup_t *s);

/* --- setup spawn ------------------------------------------------------------------------------------------------- */

/* The entities that live in the worlds of an ini from the start.
 *
 * Inner to setup*.c.
 */

/* Spawn the scenes of the new worlds; those of [host], which name their worlds; then the [spawn] sections. And spawn a
 * single scene of the list in `line` (`world` NULL: of [host]), or a single section. */
bp_result_t setup_spawn_scenes(setup_t *s);
bp_result_t setup_spawn_host_scenes(setup_t *s);
bp_result_t setup_spawn_all(setup_t *s);
bp_result_t setup_spawn_scene(setup_t *s, world_t *world, const char *name, uint32_t line);
bp_result_t setup_spawn(setup_t *s, const ini_section_t *section);

/* Destroy the entities that these spawned; and free the lists of them. */
void setup_end_spawned(setup_t *s);
void setup_release_spawned(setup_t *s);

/* --- setup again ------------------------------------------------------------------------------------------------- */

/* An ini that has been changed since.
 *
 * Inner to setup*.c.
 */

/* The ini that the host was set up from, as it was read then. */
typedef struct setup_ini_t {
    ini_t ini;
    bool met;           /* the ini was compared with those of peers; such an ini is not read again */
    file_stamp_t stamp; /* when it was read; ... */
    file_stamp_t last;  /* ... when looked at last */
} setup_ini_t;

/* Make room for one more ini; and, once a setup is over, give its ini to the host, which has that room. */
bp_result_t setup_make_room(setup_t *s);
void setup_remember(setup_t *s, const file_stamp_t *stamp);

typedef enum setup_what_t {
    SETUP_HOST,      /* a key of [host] */
    SETUP_LOAD,      /* a plugin */
    SETUP_OPTIONS,   /* of a plugin */
    SETUP_UNLOAD,
    SETUP_WORLD,     /* a world comes, with what it uses and its scenes */
    SETUP_END_WORLD,
    SETUP_RATE,      /* of a world: its step rate, units, ... */
    SETUP_UNITS,
    SETUP_USE,       /* ... a component or system comes, goes, ... */
    SETUP_DROP,
    SETUP_ORDER,     /* ... systems come in another order, ... */
    SETUP_SCENE,     /* ... a scene, a [spawn] */
    SETUP_SPAWN,
    SETUP_LATER      /* a change that takes effect at the next start */
} setup_what_t;

/* One difference between an ini as it was and as it is. */
typedef struct setup_change_t {
    setup_what_t what;
    uint32_t line;        /* 0: the key is not in the ini any more */
    bool system;          /* of what is used or dropped */
    const ini_section_t *section; /* of a world or a [spawn] that comes */
    char world[64], name[FILE_PATH_MAX];
} setup_change_t;

typedef struct setup_changes_t {
    setup_change_t *items;
    uint32_t count, capacity;
    bytes_t told; /* a line for each */
} setup_changes_t;

/* Compare `before` with s->ini (setup_changes.c). Errors are about what cannot be changed while the host runs. */
bp_result_t setup_compare(setup_t *s, const ini_t *before, setup_changes_t *changes);
void setup_release_changes(setup_t *s, setup_changes_t *changes);

#endif
