/* setup.h - an ini on its way to plugins, worlds and entities: its state, its sections and its keys.
 *
 * Inner to setup*.c.
 *
 * Not here: doing what an ini says (setup.c).
 */
#ifndef HOST_ENGINE_SETUP_H
#define HOST_ENGINE_SETUP_H

#include "host.h"
#include "ini.h"

enum { SETUP_WORD = 1024 }; /* longer than any word of a value in use, so that words are judged whole */

typedef struct setup_t {
    bp_host_o *host;
    error_text_t *error;
    ini_t ini;
    uint32_t old_plugins, old_worlds;
    uint64_t old_steps, old_random;
    guard_t *old_guard;
    bool old_copies, old_watching, old_trying, old_building;
    uint32_t old_pause_limit;
    uint64_t history; /* bytes for the past; 0: none */
    bool audit;       /* of what units write */
    uint32_t threads; /* 0: not given */
    bp_entity_t *spawned; /* by [spawn ...] */
    uint32_t spawned_count, spawned_capacity;
    bp_spawn_t *spawns;   /* of scenes */
    uint32_t spawn_count, spawn_capacity;
    const char *plugin_path; /* "" where not given */
    uint32_t plugin_path_line;
    bool met;                /* the peers: values are those of this rank */
    char *alike;             /* the settings that all ranks must have alike, as lines; NULL: none yet */
} setup_t;

/* Say where the error comes from, unless it says so already. Returns `result`. */
bp_result_t setup_at_line(setup_t *s, uint32_t line, bp_result_t result);

/* Is every section and every key one that there is? The error suggests the nearest. */
bp_result_t setup_check_names(setup_t *s);

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

/* The crash guard and hot reload as [host] asks for them; and what this has turned on, off again. */
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

/* Spawn the scenes of the new worlds; then the [spawn] sections. */
bp_result_t setup_spawn_scenes(setup_t *s);
bp_result_t setup_spawn_all(setup_t *s);

/* Destroy what these spawned; and free the lists of it. */
void setup_end_spawned(setup_t *s);
void setup_release_spawned(setup_t *s);

#endif
