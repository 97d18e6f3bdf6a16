/* conformance_questions.c - the list of questions, with the way to mend what does not hold.
 *
 * Each stands with the levels that it is asked from and up to, whether it is for components of worlds, and a hint.
 */
#include "conformance.h"

#define HOW_DECLARED "compare the declaration with what the code does: docs/plugin_abi.md"
#define HOW_BATCHES "let create, destroy and set do all of a batch or nothing of it: bp_component.h, bp_storage_i"
#define HOW_VALUES "each property must come back as it was set, and leave the others alone: get and set of bp_storage_i"
#define HOW_DEATH "end an instance with its entity: destroy, or gc and asking whether an entity is alive"
#define HOW_MIXED "look at what happens when instances move: tell with instances_moved, and forget the old slot"
#define HOW_STATE "keep state in bp_manager_t.state, and give all of it back in stop: no variables of your own"
#define HOW_MEMORY "check what bp_memory_api.resize answers; on NULL take back what was done and return BP_ERROR_MEMORY"
#define HOW_THREADS "a parallel loop works on its own range of rows alone, and does not depend on where that is cut"
#define HOW_OWNED "a world has it once, from use_component on: BP_COMPONENT_WORLD in bp_component.h"
#define HOW_RELOAD "say a state_form, or save and load, or make properties settable: docs/reload.md"

const conformance_check_t conformance_checks[] = {
    {"declares itself properly", check_declaration, 0, 2, false, HOW_DECLARED},
    {"creates by count", check_creates_by_count, 0, 2, false, HOW_BATCHES},
    {"adds and removes", check_adds_and_removes, 0, 2, false, HOW_BATCHES},
    {"does a batch whole or not at all", check_batches_are_all_or_nothing, 0, 2, false, HOW_BATCHES},
    {"keeps instances apart by name, or is single", check_names_of_instances, 0, 2, false, HOW_VALUES},
    {"begins with the declared defaults", check_defaults, 0, 2, false, HOW_DECLARED},
    {"gives back what was set", check_round_trip, 0, 2, false, HOW_VALUES},
    {"gives back what was set in batches", check_round_trip_in_batches, 0, 2, false, HOW_VALUES},
    {"gives back what was set as text", check_round_trip_as_text, 0, 2, false, HOW_VALUES},
    {"keeps arrays and lists", check_wholes, 0, 2, false, HOW_VALUES},
    {"refuses to set what is read only", check_read_only, 0, 2, false, HOW_VALUES},
    {"refuses what is out of range", check_range, 0, 2, false, HOW_VALUES},
    {"refuses wrong types and absent entities", check_refusals, 0, 2, false, HOW_VALUES},
    {"ends with its entity", check_death, 0, 2, false, HOW_DEATH},
    {"collects the dead in time", check_collection, 0, 2, false, HOW_DEATH},
    {"never mixes entities up", check_churn, 0, 3, false, HOW_MIXED},
    {"never mixes entities up between steps", check_churn_with_steps, 0, 3, false, HOW_MIXED},
    {"keeps worlds apart", check_worlds_are_independent, 0, 2, false, HOW_STATE},
    {"stops with living instances", check_stops_with_living_instances, 0, 2, false, HOW_STATE},
    {"is unloaded with living instances", check_unloads_with_living_instances, 0, 2, false, HOW_STATE},
    {"survives a lack of memory", check_out_of_memory, 0, 5, false, HOW_MEMORY},
    {"loads what it saves", check_save_and_load, 0, 2, false, HOW_RELOAD},
    {"creates with values as by create and set", check_creates_with_values, 0, 2, false, HOW_BATCHES},
    {"is reloaded over itself and over older versions", check_reload, 0, 4, false, HOW_RELOAD},
    {"steps alike on any number of threads", check_threads_agree, 3, 5, false, HOW_THREADS},
    {"belongs to worlds", check_belongs_to_worlds, 0, 2, true, HOW_OWNED},
    {"is saved with its world", check_worlds_are_saved_with_it, 0, 2, true, HOW_OWNED},
    {"is reloaded in its worlds", check_worlds_are_reloaded_with_it, 0, 4, true, HOW_RELOAD},
};
const uint32_t conformance_check_count = sizeof conformance_checks / sizeof conformance_checks[0];
