/* test_abi.c - the contract does not change: layouts, constants, and a plugin from the days of 1.0.
 *
 * The table below says every struct, member and constant of plugin_api/ and backplane.h, with its type; what
 * the compiler makes of it is printed as text and compared with layout.txt, line by line. Allowed are new
 * structs and constants, and members at the end of a struct that carries a size (struct_size in it, or
 * item_size in its list); then BP_ABI_MINOR must have grown. Anything else breaks plugins that are out there
 * and fails here. The table itself is checked too: its types against the headers, its members for gaps, the
 * headers for what it lacks.
 *
 * When something has been appended rightly, enter it in the table and write layout.txt anew, to be committed
 * too:
 *     BACKPLANE_WRITE_LAYOUT=1 CK_RUN_SUITE=abi build/tests
 *
 * headers_1_0/ is plugin_api/ as it was at 1.0 and stays so for ever; fixtures/fossil_1_0.c is built from it
 * and must work with every host of major version 1.
 *
 * What it does not do: the tables of plugins in plugin_api/components/ carry versions of their own.
 */
#include "../suites.h"
#include "../unit/support.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIXED_STRUCT, GROWING_STRUCT, MEMBER, CONSTANT, GROWING_CONSTANT, CHAPTER };

typedef struct entry_t {
    uint32_t kind;
    const char *name, *member, *type;
    uint64_t value; /* of a constant; else bytes */
    size_t offset;
    int as_typed;   /* the header has the type that stands here */
} entry_t;

#define FIXED(S) {.kind = FIXED_STRUCT, .name = #S, .value = sizeof(S), .as_typed = 1}
#define GROWS(S) {.kind = GROWING_STRUCT, .name = #S, .value = sizeof(S), .as_typed = 1}
#define TYPED(S, M, text, T)                                                                                 \
    {.kind = MEMBER, .name = #S, .member = #M, .type = text, .value = sizeof(((S *)0)->M),                   \
     .offset = offsetof(S, M), .as_typed = _Generic(((S *)0)->M, T: 1, default: 0)}
#define M(S, m, T) TYPED(S, m, #T, T)
#define F(S, m, R, P) TYPED(S, m, #R " " #P, R(*) P)
#define C(X) {.kind = CONSTANT, .name = #X, .value = (uint64_t)(X), .as_typed = 1}
#define COUNTS(X) {.kind = GROWING_CONSTANT, .name = #X, .value = (uint64_t)(X), .as_typed = 1}

static const char embedders[] = "# host/backplane.h";

/* bp_match_t and bp_run_t carry a size and are fixed nevertheless: a system gets an array of matches and walks it
 * with the sizeof that it was built with, and next_run fills a run that is its caller's. */
static const entry_t contract[] = {
    FIXED(bp_entity_t),
    M(bp_entity_t, id, uint64_t),
    FIXED(bp_vec2_t),
    M(bp_vec2_t, x, float),
    M(bp_vec2_t, y, float),
    FIXED(bp_vec3_t),
    M(bp_vec3_t, x, float),
    M(bp_vec3_t, y, float),
    M(bp_vec3_t, z, float),
    FIXED(bp_vec4_t),
    M(bp_vec4_t, x, float),
    M(bp_vec4_t, y, float),
    M(bp_vec4_t, z, float),
    M(bp_vec4_t, w, float),
    FIXED(bp_quat_t),
    M(bp_quat_t, x, float),
    M(bp_quat_t, y, float),
    M(bp_quat_t, z, float),
    M(bp_quat_t, w, float),
    FIXED(bp_mat4_t),
    M(bp_mat4_t, m, float *),
    FIXED(bp_colour_t),
    M(bp_colour_t, r, float),
    M(bp_colour_t, g, float),
    M(bp_colour_t, b, float),
    M(bp_colour_t, a, float),
    C(BP_TYPE_NONE), C(BP_BOOL), C(BP_I32), C(BP_U32), C(BP_I64), C(BP_F32), C(BP_F64), C(BP_VEC2),
    C(BP_VEC3), C(BP_VEC4), C(BP_QUAT), C(BP_MAT4), C(BP_COLOUR), C(BP_STRING), C(BP_ENTITY), C(BP_NAME),
    COUNTS(BP_TYPE_COUNT),
    FIXED(bp_value_t),
    M(bp_value_t, boolean, uint8_t),
    M(bp_value_t, i32, int32_t),
    M(bp_value_t, u32, uint32_t),
    M(bp_value_t, i64, int64_t),
    M(bp_value_t, f32, float),
    M(bp_value_t, f64, double),
    M(bp_value_t, vec2, bp_vec2_t),
    M(bp_value_t, vec3, bp_vec3_t),
    M(bp_value_t, vec4, bp_vec4_t),
    M(bp_value_t, quat, bp_quat_t),
    M(bp_value_t, mat4, bp_mat4_t),
    M(bp_value_t, colour, bp_colour_t),
    M(bp_value_t, string, const char *),
    M(bp_value_t, entity, bp_entity_t),
    M(bp_value_t, name, bp_name_t),
    C(BP_OK), C(BP_ERROR_MEMORY), C(BP_ERROR_ARGUMENT), C(BP_ERROR_NOT_FOUND), C(BP_ERROR_DEAD),
    C(BP_ERROR_EXISTS), C(BP_ERROR_TYPE), C(BP_ERROR_RANGE), C(BP_ERROR_LIMIT), C(BP_ERROR_ABI),
    C(BP_ERROR_IO), C(BP_ERROR_SYNTAX), C(BP_ERROR_STATE), C(BP_ERROR_FAILED), C(BP_NONE),
    C(BP_FIELD_READ_ONLY), C(BP_FIELD_REQUIRED), C(BP_FIELD_PATH), C(BP_FIELD_PARENT), C(BP_FIELD_LABEL),
    GROWS(bp_field_t),
    M(bp_field_t, name, const char *),
    M(bp_field_t, type, uint32_t),
    M(bp_field_t, flags, uint32_t),
    M(bp_field_t, initial, const char *),
    M(bp_field_t, min, const char *),
    M(bp_field_t, max, const char *),
    M(bp_field_t, unit, const char *),
    M(bp_field_t, doc, const char *),
    M(bp_field_t, former_name, const char *),
    FIXED(bp_field_list_t),
    M(bp_field_list_t, items, const bp_field_t *),
    M(bp_field_list_t, count, uint32_t),
    M(bp_field_list_t, item_size, uint32_t),
    GROWS(bp_manager_t),
    M(bp_manager_t, struct_size, uint32_t),
    M(bp_manager_t, component, uint32_t),
    M(bp_manager_t, api, const struct bp_api_t *),
    M(bp_manager_t, host, bp_host_o *),
    M(bp_manager_t, world, bp_world_o *),
    M(bp_manager_t, plugin, const struct bp_plugin_t *),
    M(bp_manager_t, state, void *),
    GROWS(bp_step_t),
    M(bp_step_t, struct_size, uint32_t),
    M(bp_step_t, padding, uint32_t),
    M(bp_step_t, number, uint64_t),
    M(bp_step_t, dt, double),
    M(bp_step_t, time, double),
    M(bp_step_t, commands, bp_commands_o *),
    FIXED(bp_run_t),
    M(bp_run_t, struct_size, uint32_t),
    M(bp_run_t, count, uint32_t),
    M(bp_run_t, entities, const bp_entity_t *),
    M(bp_run_t, columns, void *const *),
    M(bp_run_t, instance, bp_name_t),
    C(BP_COMPONENT_OWN_STORAGE), C(BP_COMPONENT_AT_ONCE), C(BP_COMPONENT_PARALLEL), C(BP_COMPONENT_SINGLE),
    C(BP_COMPONENT_CONCURRENT),
    GROWS(bp_component_i),
    M(bp_component_i, name, const char *),
    M(bp_component_i, doc, const char *),
    M(bp_component_i, version, uint32_t),
    M(bp_component_i, flags, uint32_t),
    M(bp_component_i, fields, bp_field_list_t),
    F(bp_component_i, start, bp_result_t, (bp_manager_t *)),
    F(bp_component_i, stop, void, (bp_manager_t *)),
    F(bp_component_i, simulate, void, (bp_manager_t *, const bp_step_t *, const bp_run_t *)),
    F(bp_component_i, create, bp_result_t, (bp_manager_t *, bp_name_t, const bp_entity_t *, uint32_t, uint32_t
      *)),
    F(bp_component_i, destroy, void, (bp_manager_t *, const uint32_t *, uint32_t)),
    F(bp_component_i, get, bp_result_t, (bp_manager_t *, uint32_t, const uint32_t *, uint32_t, void *,
      size_t)),
    F(bp_component_i, set, bp_result_t, (bp_manager_t *, uint32_t, const uint32_t *, uint32_t, const void *,
      size_t)),
    F(bp_component_i, count, uint32_t, (bp_manager_t *)),
    F(bp_component_i, gc, uint32_t, (bp_manager_t *, uint64_t *)),
    F(bp_component_i, entities_destroyed, void, (bp_manager_t *, const bp_entity_t *, uint32_t)),
    F(bp_component_i, compile, bp_result_t, (bp_manager_t *, const char *, void **, size_t *)),
    F(bp_component_i, spawn, bp_result_t, (bp_manager_t *, bp_name_t, const bp_entity_t *, uint32_t, const
      void *const *, const size_t *, uint32_t *)),
    M(bp_component_i, spawn_order, int32_t),
    M(bp_component_i, padding, uint32_t),
    F(bp_component_i, save, bp_result_t, (bp_manager_t *, void **, size_t *)),
    F(bp_component_i, load, bp_result_t, (bp_manager_t *, uint32_t, const void *, size_t)),
    F(bp_component_i, report, void, (bp_manager_t *, bp_report_o *)),
    F(bp_component_i, create_with, bp_result_t, (bp_manager_t *, bp_name_t, const bp_entity_t *, uint32_t, const void
      *const *, uint32_t *)),
    M(bp_component_i, reads, const char *),
    M(bp_component_i, writes, const char *),
    M(bp_component_i, state_form, uint64_t),
    FIXED(bp_component_list_t),
    M(bp_component_list_t, items, const bp_component_i *),
    M(bp_component_list_t, count, uint32_t),
    M(bp_component_list_t, item_size, uint32_t),
    C(BP_TERM_WRITE), C(BP_TERM_OPTIONAL), C(BP_TERM_EXCLUDE),
    GROWS(bp_term_t),
    M(bp_term_t, component, const char *),
    M(bp_term_t, instance, const char *),
    M(bp_term_t, flags, uint32_t),
    M(bp_term_t, padding, uint32_t),
    FIXED(bp_term_list_t),
    M(bp_term_list_t, items, const bp_term_t *),
    M(bp_term_list_t, count, uint32_t),
    M(bp_term_list_t, item_size, uint32_t),
    FIXED(bp_match_t),
    M(bp_match_t, struct_size, uint32_t),
    M(bp_match_t, count, uint32_t),
    M(bp_match_t, entities, const bp_entity_t *),
    M(bp_match_t, columns, void *const *const *),
    GROWS(bp_system_t),
    M(bp_system_t, struct_size, uint32_t),
    M(bp_system_t, padding, uint32_t),
    M(bp_system_t, api, const struct bp_api_t *),
    M(bp_system_t, host, bp_host_o *),
    M(bp_system_t, world, bp_world_o *),
    M(bp_system_t, plugin, const struct bp_plugin_t *),
    M(bp_system_t, state, void *),
    C(BP_SYSTEM_PARALLEL), C(BP_SYSTEM_CONCURRENT), C(BP_SYSTEM_COMMANDS_FIRST),
    GROWS(bp_system_i),
    M(bp_system_i, name, const char *),
    M(bp_system_i, doc, const char *),
    M(bp_system_i, flags, uint32_t),
    M(bp_system_i, padding, uint32_t),
    M(bp_system_i, terms, bp_term_list_t),
    M(bp_system_i, before, const char *),
    M(bp_system_i, after, const char *),
    F(bp_system_i, start, bp_result_t, (bp_system_t *)),
    F(bp_system_i, stop, void, (bp_system_t *)),
    F(bp_system_i, run, void, (bp_system_t *, const bp_step_t *, const bp_match_t *)),
    F(bp_system_i, run_all, void, (bp_system_t *, const bp_step_t *, const bp_match_t *, uint32_t)),
    F(bp_system_i, report, void, (bp_system_t *, bp_report_o *)),
    M(bp_system_i, reads, const char *),
    M(bp_system_i, writes, const char *),
    F(bp_system_i, entities_added, void, (bp_system_t *, const bp_entity_t *, uint32_t)),
    F(bp_system_i, entities_removed, void, (bp_system_t *, const bp_entity_t *, uint32_t)),
    M(bp_system_i, state_form, uint64_t),
    FIXED(bp_system_list_t),
    M(bp_system_list_t, items, const bp_system_i *),
    M(bp_system_list_t, count, uint32_t),
    M(bp_system_list_t, item_size, uint32_t),
    GROWS(bp_memory_api),
    M(bp_memory_api, struct_size, uint32_t),
    M(bp_memory_api, padding, uint32_t),
    F(bp_memory_api, resize, void *, (const struct bp_plugin_t *, void *, size_t, size_t)),
    C(BP_LOG_DEBUG), C(BP_LOG_INFO), C(BP_LOG_WARNING), C(BP_LOG_ERROR),
    GROWS(bp_error_api),
    M(bp_error_api, struct_size, uint32_t),
    M(bp_error_api, padding, uint32_t),
    F(bp_error_api, set, bp_result_t, (bp_host_o *, bp_result_t, const char *)),
    F(bp_error_api, last, const char *, (bp_host_o *)),
    F(bp_error_api, log, void, (const struct bp_plugin_t *, int32_t, const char *)),
    GROWS(bp_name_api),
    M(bp_name_api, struct_size, uint32_t),
    M(bp_name_api, padding, uint32_t),
    F(bp_name_api, hash, bp_name_t, (const char *)),
    F(bp_name_api, intern, bp_result_t, (bp_host_o *, const char *, bp_name_t *)),
    F(bp_name_api, text, const char *, (bp_host_o *, bp_name_t)),
    F(bp_name_api, assign, bp_result_t, (bp_host_o *, const char **, const char *)),
    GROWS(bp_entity_api),
    M(bp_entity_api, struct_size, uint32_t),
    M(bp_entity_api, padding, uint32_t),
    F(bp_entity_api, create, bp_result_t, (bp_host_o *, bp_entity_t *, uint32_t)),
    F(bp_entity_api, destroy, uint32_t, (bp_host_o *, const bp_entity_t *, uint32_t)),
    F(bp_entity_api, alive, uint32_t, (bp_host_o *, const bp_entity_t *, uint32_t, uint8_t *)),
    F(bp_entity_api, count, uint32_t, (bp_host_o *)),
    F(bp_entity_api, at, bp_entity_t, (bp_host_o *, uint32_t)),
    F(bp_entity_api, bound, uint32_t, (bp_host_o *)),
    F(bp_entity_api, format, void, (bp_host_o *, bp_entity_t, char *, size_t)),
    FIXED(bp_ref_t),
    M(bp_ref_t, value, void *),
    M(bp_ref_t, version, const uint32_t *),
    M(bp_ref_t, expected, uint32_t),
    M(bp_ref_t, field, uint32_t),
    M(bp_ref_t, entity, bp_entity_t),
    GROWS(bp_world_api),
    M(bp_world_api, struct_size, uint32_t),
    M(bp_world_api, padding, uint32_t),
    F(bp_world_api, find, bp_world_o *, (bp_host_o *, const char *)),
    F(bp_world_api, at, bp_world_o *, (bp_host_o *, uint32_t)),
    F(bp_world_api, name, const char *, (bp_world_o *)),
    F(bp_world_api, clock, void, (bp_world_o *, bp_step_t *)),
    F(bp_world_api, component, uint32_t, (bp_world_o *, const char *)),
    F(bp_world_api, manager, bp_manager_t *, (bp_world_o *, uint32_t)),
    F(bp_world_api, key, bp_result_t, (bp_world_o *, uint32_t, bp_name_t, uint32_t *)),
    F(bp_world_api, key_info, bp_result_t, (bp_world_o *, uint32_t, uint32_t *, bp_name_t *)),
    F(bp_world_api, prototype, bp_result_t, (bp_world_o *, const uint32_t *, uint32_t, uint32_t *)),
    F(bp_world_api, create, bp_result_t, (bp_world_o *, uint32_t, bp_entity_t *, uint32_t)),
    F(bp_world_api, add, bp_result_t, (bp_world_o *, uint32_t, const bp_entity_t *, uint32_t)),
    F(bp_world_api, remove, bp_result_t, (bp_world_o *, uint32_t, const bp_entity_t *, uint32_t)),
    F(bp_world_api, has, uint32_t, (bp_world_o *, uint32_t, const bp_entity_t *, uint32_t, uint8_t *)),
    F(bp_world_api, slots, uint32_t, (bp_world_o *, uint32_t, const bp_entity_t *, uint32_t, uint32_t *)),
    F(bp_world_api, keys_of, uint32_t, (bp_world_o *, bp_entity_t, uint32_t *, uint32_t)),
    F(bp_world_api, count, uint32_t, (bp_world_o *, uint32_t)),
    F(bp_world_api, next_run, uint32_t, (bp_world_o *, uint32_t, uint32_t *, bp_run_t *)),
    F(bp_world_api, instances_moved, void, (bp_manager_t *, const bp_entity_t *, const bp_name_t *, const
      uint32_t *, uint32_t)),
    F(bp_world_api, ref, void *, (bp_world_o *, bp_ref_t *)),
    FIXED(bp_property_t),
    M(bp_property_t, key, uint32_t),
    M(bp_property_t, field, uint32_t),
    M(bp_property_t, type, uint32_t),
    M(bp_property_t, flags, uint32_t),
    M(bp_property_t, size, uint32_t),
    M(bp_property_t, layout, uint32_t),
    M(bp_property_t, prototype, uint32_t),
    M(bp_property_t, column, uint32_t),
    M(bp_property_t, run, void *),
    M(bp_property_t, declared, const void *),
    FIXED(bp_record_t),
    M(bp_record_t, generation, uint32_t),
    M(bp_record_t, prototype, uint32_t),
    M(bp_record_t, row, uint32_t),
    FIXED(bp_world_head_t),
    M(bp_world_head_t, records, const bp_record_t *),
    M(bp_world_head_t, record_count, uint32_t),
    M(bp_world_head_t, layout, uint32_t),
    FIXED(bp_run_head_t),
    M(bp_run_head_t, columns, void *const *),
    M(bp_run_head_t, count, uint32_t),
    M(bp_run_head_t, version, uint32_t),
    FIXED(bp_path_t),
    M(bp_path_t, world, bp_world_o *),
    M(bp_path_t, entity, bp_entity_t),
    M(bp_path_t, property, bp_property_t),
    GROWS(bp_property_api),
    M(bp_property_api, struct_size, uint32_t),
    M(bp_property_api, padding, uint32_t),
    F(bp_property_api, resolve, bp_result_t, (bp_world_o *, bp_entity_t, const char *, const char *,
      bp_property_t *)),
    F(bp_property_api, get, bp_result_t, (bp_world_o *, bp_property_t *, const bp_entity_t *, uint32_t, void
      *, size_t)),
    F(bp_property_api, set, bp_result_t, (bp_world_o *, bp_property_t *, const bp_entity_t *, uint32_t, const
      void *, size_t)),
    F(bp_property_api, get_named, bp_result_t, (bp_world_o *, bp_entity_t, const char *, const char *,
      uint32_t, void *)),
    F(bp_property_api, set_named, bp_result_t, (bp_world_o *, bp_entity_t, const char *, const char *,
      uint32_t, const void *)),
    F(bp_property_api, get_text, bp_result_t, (const bp_path_t *, char *, size_t)),
    F(bp_property_api, set_text, bp_result_t, (const bp_path_t *, const char *)),
    F(bp_property_api, parse_path, bp_result_t, (bp_host_o *, const char *, bp_path_t *)),
    F(bp_property_api, describe, bp_result_t, (bp_host_o *, const char *, uint32_t, bp_field_t *)),
    GROWS(bp_command_api),
    M(bp_command_api, struct_size, uint32_t),
    M(bp_command_api, padding, uint32_t),
    F(bp_command_api, create, bp_result_t, (bp_commands_o *, uint32_t, bp_entity_t *, uint32_t)),
    F(bp_command_api, destroy, bp_result_t, (bp_commands_o *, const bp_entity_t *, uint32_t)),
    F(bp_command_api, add, bp_result_t, (bp_commands_o *, uint32_t, const bp_entity_t *, uint32_t)),
    F(bp_command_api, remove, bp_result_t, (bp_commands_o *, uint32_t, const bp_entity_t *, uint32_t)),
    F(bp_command_api, set, bp_result_t, (bp_commands_o *, const bp_property_t *, const bp_entity_t *, uint32_t, const
      void *, size_t)),
    F(bp_command_api, created, uint32_t, (bp_world_o *, const bp_entity_t *, uint32_t, bp_entity_t *)),
    GROWS(bp_registry_api),
    M(bp_registry_api, struct_size, uint32_t),
    M(bp_registry_api, padding, uint32_t),
    F(bp_registry_api, offer, bp_result_t, (const struct bp_plugin_t *, const char *, const void *)),
    F(bp_registry_api, find, const void *, (bp_host_o *, const char *, uint32_t)),
    GROWS(bp_report_api),
    M(bp_report_api, struct_size, uint32_t),
    M(bp_report_api, padding, uint32_t),
    F(bp_report_api, table, void, (bp_report_o *, const char *, const char *const *, uint32_t)),
    F(bp_report_api, row, void, (bp_report_o *, const char *const *)),
    F(bp_report_api, value, void, (bp_report_o *, const char *, const char *)),
    FIXED(bp_spawn_t),
    M(bp_spawn_t, id, uint64_t),
    C(BP_SCENE_SKIP),
    GROWS(bp_scene_api),
    M(bp_scene_api, struct_size, uint32_t),
    M(bp_scene_api, padding, uint32_t),
    F(bp_scene_api, open, bp_result_t, (bp_host_o *, const char *, bp_scene_o **)),
    F(bp_scene_api, close, void, (bp_scene_o *)),
    F(bp_scene_api, entity_count, uint32_t, (const bp_scene_o *)),
    F(bp_scene_api, spawn, bp_result_t, (bp_scene_o *, bp_world_o *, uint32_t, bp_entity_t *, bp_spawn_t *)),
    F(bp_scene_api, despawn, uint32_t, (bp_host_o *, bp_spawn_t)),
    F(bp_scene_api, spawned, uint32_t, (bp_host_o *, bp_spawn_t, bp_entity_t *, uint32_t)),
    F(bp_scene_api, release, void, (bp_host_o *, bp_spawn_t)),
    GROWS(bp_api_t),
    M(bp_api_t, struct_size, uint32_t),
    M(bp_api_t, abi_major, uint32_t),
    M(bp_api_t, abi_minor, uint32_t),
    M(bp_api_t, padding, uint32_t),
    M(bp_api_t, memory, const bp_memory_api *),
    M(bp_api_t, error, const bp_error_api *),
    M(bp_api_t, name, const bp_name_api *),
    M(bp_api_t, entity, const bp_entity_api *),
    M(bp_api_t, world, const bp_world_api *),
    M(bp_api_t, property, const bp_property_api *),
    M(bp_api_t, registry, const bp_registry_api *),
    M(bp_api_t, report, const bp_report_api *),
    M(bp_api_t, command, const bp_command_api *),
    M(bp_api_t, scene, const bp_scene_api *),
    C(BP_ABI_MAJOR),
    COUNTS(BP_ABI_MINOR),
    C(BP_PLUGIN_MAGIC),
    GROWS(bp_plugin_t),
    M(bp_plugin_t, struct_size, uint32_t),
    M(bp_plugin_t, option_count, uint32_t),
    M(bp_plugin_t, api, const bp_api_t *),
    M(bp_plugin_t, host, bp_host_o *),
    M(bp_plugin_t, name, const char *),
    M(bp_plugin_t, options, const bp_value_t *),
    M(bp_plugin_t, state, void *),
    GROWS(bp_plugin_desc_t),
    M(bp_plugin_desc_t, magic, uint64_t),
    M(bp_plugin_desc_t, struct_size, uint32_t),
    M(bp_plugin_desc_t, pointer_size, uint32_t),
    M(bp_plugin_desc_t, abi_major, uint32_t),
    M(bp_plugin_desc_t, abi_minor, uint32_t),
    M(bp_plugin_desc_t, name, const char *),
    M(bp_plugin_desc_t, version, const char *),
    M(bp_plugin_desc_t, doc, const char *),
    M(bp_plugin_desc_t, flags, uint64_t),
    M(bp_plugin_desc_t, components, bp_component_list_t),
    M(bp_plugin_desc_t, systems, bp_system_list_t),
    M(bp_plugin_desc_t, options, bp_field_list_t),
    F(bp_plugin_desc_t, load, bp_result_t, (bp_plugin_t *)),
    F(bp_plugin_desc_t, unload, void, (bp_plugin_t *)),
    M(bp_plugin_desc_t, state_form, uint64_t),
    {.kind = CHAPTER, .name = embedders, .as_typed = 1},
    FIXED(bp_allocator_i),
    M(bp_allocator_i, context, void *),
    F(bp_allocator_i, resize, void *, (void *, void *, size_t, size_t)),
    FIXED(bp_log_i),
    M(bp_log_i, context, void *),
    F(bp_log_i, write, void, (void *, int32_t, const char *, const char *)),
    FIXED(bp_jobs_i),
    M(bp_jobs_i, context, void *),
    M(bp_jobs_i, threads, uint32_t),
    M(bp_jobs_i, padding, uint32_t),
    F(bp_jobs_i, run, void, (void *, void (*)(void *, uint32_t), void *, uint32_t)),
    C(BP_HOST_CRASH_GUARD), C(BP_HOST_HOT_RELOAD), C(BP_HOST_TRIAL), C(BP_HOST_COPY_PLUGINS),
    GROWS(bp_host_desc_t),
    M(bp_host_desc_t, struct_size, uint32_t),
    M(bp_host_desc_t, threads, uint32_t),
    M(bp_host_desc_t, seed, uint64_t),
    M(bp_host_desc_t, allocator, bp_allocator_i),
    M(bp_host_desc_t, log, bp_log_i),
    M(bp_host_desc_t, jobs, bp_jobs_i),
    M(bp_host_desc_t, static_plugins, const bp_plugin_desc_t *const *),
    M(bp_host_desc_t, static_plugin_count, uint32_t),
    M(bp_host_desc_t, tag, uint32_t),
    M(bp_host_desc_t, flags, uint32_t),
    M(bp_host_desc_t, call_limit, uint32_t),
    M(bp_host_desc_t, trial_deadline, uint32_t),
    M(bp_host_desc_t, probation, uint32_t),
    FIXED(bp_option_t),
    M(bp_option_t, name, const char *),
    M(bp_option_t, value, const char *),
    M(bp_option_t, origin, const char *),
    M(bp_option_t, base, const char *),
    C(BP_RELOAD_KEPT), C(BP_RELOAD_ADDED), C(BP_RELOAD_DROPPED), C(BP_RELOAD_RENAMED), C(BP_RELOAD_CONVERTED),
    FIXED(bp_reload_field_t),
    M(bp_reload_field_t, component, const char *),
    M(bp_reload_field_t, field, const char *),
    M(bp_reload_field_t, former, const char *),
    M(bp_reload_field_t, initial, const char *),
    M(bp_reload_field_t, what, uint32_t),
    M(bp_reload_field_t, old_type, uint32_t),
    M(bp_reload_field_t, new_type, uint32_t),
    M(bp_reload_field_t, padding, uint32_t),
    GROWS(bp_reload_report_t),
    M(bp_reload_report_t, struct_size, uint32_t),
    M(bp_reload_report_t, result, bp_result_t),
    M(bp_reload_report_t, text, const char *),
    M(bp_reload_report_t, pause, uint64_t),
    M(bp_reload_report_t, rows, uint64_t),
    M(bp_reload_report_t, worlds, uint32_t),
    M(bp_reload_report_t, field_count, uint32_t),
    M(bp_reload_report_t, fields, const bp_reload_field_t *),
    GROWS(bp_world_desc_t),
    M(bp_world_desc_t, struct_size, uint32_t),
    M(bp_world_desc_t, padding, uint32_t),
    M(bp_world_desc_t, name, const char *),
    M(bp_world_desc_t, step_rate, double),
    C(BP_DUMP_JSON),
    FIXED(bp_text_sink_i),
    M(bp_text_sink_i, context, void *),
    F(bp_text_sink_i, write, void, (void *, const char *, size_t)),
    FIXED(bp_unit_stats_t),
    M(bp_unit_stats_t, world, const char *),
    M(bp_unit_stats_t, unit, const char *),
    M(bp_unit_stats_t, plugin, const char *),
    M(bp_unit_stats_t, steps, uint64_t),
    M(bp_unit_stats_t, nanoseconds, uint64_t),
    M(bp_unit_stats_t, rows, uint64_t),
    FIXED(bp_world_stats_t),
    M(bp_world_stats_t, name, const char *),
    M(bp_world_stats_t, steps, uint64_t),
    M(bp_world_stats_t, time, double),
    M(bp_world_stats_t, nanoseconds, uint64_t),
    M(bp_world_stats_t, bytes, uint64_t),
    M(bp_world_stats_t, entities, uint32_t),
    M(bp_world_stats_t, holes, uint32_t),
    M(bp_world_stats_t, prototypes, uint32_t),
    M(bp_world_stats_t, runs, uint32_t),
    C(BP_SLICE_STEP), C(BP_SLICE_UNIT), C(BP_SLICE_RANGE), C(BP_SLICE_NOTICES), C(BP_SLICE_COMMANDS),
    C(BP_SLICE_GC), C(BP_SLICE_TOGETHER),
    GROWS(bp_trace_slice_t),
    M(bp_trace_slice_t, struct_size, uint32_t),
    M(bp_trace_slice_t, kind, uint32_t),
    M(bp_trace_slice_t, thread, uint32_t),
    M(bp_trace_slice_t, padding, uint32_t),
    M(bp_trace_slice_t, world, const char *),
    M(bp_trace_slice_t, name, const char *),
    M(bp_trace_slice_t, begin, uint64_t),
    M(bp_trace_slice_t, end, uint64_t),
    M(bp_trace_slice_t, count, uint64_t),
    FIXED(bp_trace_i),
    M(bp_trace_i, context, void *),
    F(bp_trace_i, slices, void, (void *, const bp_trace_slice_t *, uint32_t, uint64_t)),
    FIXED(bp_report_sink_i),
    M(bp_report_sink_i, context, void *),
    F(bp_report_sink_i, table, void, (void *, const char *, const char *, const char *, const char *const *,
      uint32_t)),
    F(bp_report_sink_i, row, void, (void *, const char *const *, uint32_t)),
    F(bp_report_sink_i, value, void, (void *, const char *, const char *, const char *, const char *)),
};

/* --- layouts as text ----------------------------------------------------------------------------------- */

enum { LINES = 512, WIDTH = 256 };

typedef struct layout_t {
    char lines[LINES][WIDTH];
    uint32_t count;
} layout_t;

static const char grows[] = ", may grow";

static void print_entry(const entry_t *e, char *line)
{
    int n = 0;
    switch (e->kind) {
    case FIXED_STRUCT:
    case GROWING_STRUCT:
        n = snprintf(line, WIDTH, "struct %s: %" PRIu64 " bytes%s", e->name, e->value,
                     e->kind == GROWING_STRUCT ? grows : "");
        break;
    case MEMBER:
        n = snprintf(line, WIDTH, "%s.%s: at %zu, %" PRIu64 " bytes, %s", e->name, e->member, e->offset,
                     e->value, e->type);
        break;
    case CHAPTER: n = snprintf(line, WIDTH, "%s", e->name); break;
    default:
        n = snprintf(line, WIDTH, "%s = %" PRIu64 "%s", e->name, e->value,
                     e->kind == GROWING_CONSTANT ? grows : "");
        break;
    }
    EXPECT(n > 0 && n < WIDTH, "%s does not fit into a line", e->name);
}

static void print_layout(layout_t *layout)
{
    ck_assert_uint_le(COUNT(contract), LINES);
    layout->count = COUNT(contract);
    for (uint32_t i = 0; i < layout->count; i++)
        print_entry(&contract[i], layout->lines[i]);
}

static void read_layout(layout_t *layout, const char *path)
{
    FILE *file = fopen(path, "r");
    EXPECT(file != NULL, "%s cannot be read", path);
    layout->count = 0;
    while (layout->count < LINES && fgets(layout->lines[layout->count], WIDTH, file) != NULL) {
        char *line = layout->lines[layout->count++];
        line[strcspn(line, "\r\n")] = '\0';
    }
    fclose(file);
    EXPECT(layout->count < LINES, "%s has too many lines", path);
}

static void write_layout(const layout_t *layout, const char *path)
{
    FILE *file = fopen(path, "w");
    EXPECT(file != NULL, "%s cannot be written", path);
    for (uint32_t i = 0; i < layout->count; i++)
        fprintf(file, "%s\n", layout->lines[i]);
    ck_assert_int_eq(fclose(file), 0);
}

/* --- then and now -------------------------------------------------------------------------------------- */

/* What a line is about: all before ":" or " =". */
static size_t key_length(const char *line)
{
    const char *equals = strstr(line, " = ");
    return equals != NULL ? (size_t)(equals - line) : strcspn(line, ":");
}

static const char *find_line(const layout_t *layout, const char *key, size_t length)
{
    for (uint32_t i = 0; i < layout->count; i++) {
        if (key_length(layout->lines[i]) == length && memcmp(layout->lines[i], key, length) == 0)
            return layout->lines[i];
    }
    return NULL;
}

/* The number of a struct's or constant's line. */
static uint64_t number_of(const char *line)
{
    const char *at = line + key_length(line);
    return strtoull(at + strspn(at, ": ="), NULL, 10);
}

static int may_grow(const char *line)
{
    size_t length = strlen(line), end = strlen(grows);
    return length > end && strcmp(line + length - end, grows) == 0;
}

static int still_holds(const char *then, const char *now)
{
    if (strcmp(then, now) == 0)
        return 1;
    return may_grow(then) && may_grow(now) && number_of(now) > number_of(then);
}

typedef struct complaints_t {
    char text[8192];
    uint32_t count;
} complaints_t;

static void complain(complaints_t *c, const char *what, const char *line, const char *other)
{
    size_t used = strlen(c->text);
    snprintf(c->text + used, sizeof c->text - used, "%s: %s%s%s\n", what, line,
             other[0] != '\0' ? "; now " : "", other);
    c->count++;
}

/* A line of now that then had not: right for all but members that are put into a struct of then. */
static void judge_new_line(const layout_t *then, const char *line, complaints_t *c)
{
    char owner[WIDTH];
    const char *dot = memchr(line, '.', key_length(line)), *at = strstr(line, ": at ");
    if (dot == NULL || at == NULL)
        return;
    snprintf(owner, sizeof owner, "struct %.*s", (int)(dot - line), line);
    const char *then_line = find_line(then, owner, strlen(owner));
    if (then_line == NULL)
        return;
    if (!may_grow(then_line))
        complain(c, "new member in a struct of fixed size", line, "");
    else if (strtoull(at + strlen(": at "), NULL, 10) < number_of(then_line))
        complain(c, "new member not at the end", line, "");
}

static void compare(const layout_t *then, const layout_t *now, complaints_t *c)
{
    static const char minor[] = "BP_ABI_MINOR";
    uint32_t appended = 0;
    int for_plugins = 1;
    memset(c, 0, sizeof *c);
    for (uint32_t i = 0; i < then->count; i++) {
        const char *line = then->lines[i], *line_now = find_line(now, line, key_length(line));
        if (line_now == NULL)
            complain(c, "gone", line, "");
        else if (!still_holds(line, line_now))
            complain(c, "changed", line, line_now);
    }
    for (uint32_t i = 0; i < now->count; i++) {
        const char *line = now->lines[i];
        for_plugins = for_plugins && strcmp(line, embedders) != 0;
        if (find_line(then, line, key_length(line)) != NULL)
            continue;
        judge_new_line(then, line, c);
        appended += for_plugins != 0;
    }
    const char *then_minor = find_line(then, minor, strlen(minor)),
               *now_minor = find_line(now, minor, strlen(minor));
    if (appended > 0 && then_minor != NULL && now_minor != NULL &&
        number_of(now_minor) == number_of(then_minor))
        complain(c, "the contract has grown, but not", then_minor, "");
}

/* --- the contract -------------------------------------------------------------------------------------- */

static layout_t then, now;
static complaints_t complaints;

static const char layout_file[] = TEST_SOURCE_DIR "/tests/abi/layout.txt";

START_TEST(the_contract_is_as_it_was_laid_down)
{
    print_layout(&now);
    if (getenv("BACKPLANE_WRITE_LAYOUT") != NULL)
        write_layout(&now, layout_file);
    read_layout(&then, layout_file);
    compare(&then, &now, &complaints);
    ck_assert_msg(complaints.count == 0, "\n%s", complaints.text);
    ck_assert_uint_gt(then.count, 300);
}
END_TEST

START_TEST(the_table_says_the_types_of_the_headers)
{
    for (uint32_t i = 0; i < COUNT(contract); i++)
        EXPECT(contract[i].as_typed, "%s.%s is no %s", contract[i].name, contract[i].member,
               contract[i].type);
}
END_TEST

/* Members lie one behind the other, padding is spelt out: so the table lacks none, and no compiler can differ. */
START_TEST(members_fill_their_structs_without_gaps)
{
    for (uint32_t i = 0; i < COUNT(contract); i++) {
        const entry_t *s = &contract[i];
        if ((s->kind != FIXED_STRUCT && s->kind != GROWING_STRUCT) || strcmp(s->name, "bp_value_t") == 0)
            continue;
        uint64_t end = 0;
        for (const entry_t *m = s + 1; m < contract + COUNT(contract) && m->kind == MEMBER; m++) {
            EXPECT(strcmp(m->name, s->name) == 0, "%s.%s stands below %s", m->name, m->member, s->name);
            EXPECT(m->offset == end, "%s.%s lies at %zu, not %" PRIu64, m->name, m->member, m->offset, end);
            end = m->offset + m->value;
        }
        EXPECT(end == s->value, "the members of %s end at %" PRIu64 " of %" PRIu64 " bytes", s->name, end,
               s->value);
    }
}
END_TEST

static const entry_t *find_entry(const char *name, const char *member)
{
    for (uint32_t i = 0; i < COUNT(contract); i++) {
        const char *its = contract[i].member == NULL ? "" : contract[i].member;
        if (strcmp(contract[i].name, name) == 0 && strcmp(its, member) == 0)
            return &contract[i];
    }
    return NULL;
}

/* Is there a list of such items that says their size? */
static int is_listed(const char *name)
{
    char type[WIDTH];
    snprintf(type, sizeof type, "const %s *", name);
    for (uint32_t i = 0; i < COUNT(contract); i++) {
        const entry_t *e = &contract[i];
        if (e->kind == MEMBER && strcmp(e->member, "items") == 0 && strcmp(e->type, type) == 0)
            return find_entry(e->name, "item_size") != NULL;
    }
    return 0;
}

START_TEST(what_may_grow_carries_its_size)
{
    for (uint32_t i = 0; i < COUNT(contract); i++) {
        const char *name = contract[i].name;
        if (contract[i].kind == GROWING_STRUCT)
            EXPECT(find_entry(name, "struct_size") != NULL || is_listed(name),
                   "nobody tells the size of a %s", name);
    }
}
END_TEST

/* The file's text without its comments. */
static void read_code(const char *name, char *text, size_t size)
{
    char path[1024];
    snprintf(path, sizeof path, TEST_SOURCE_DIR "/%s", name);
    FILE *file = fopen(path, "r");
    EXPECT(file != NULL, "%s cannot be read", path);
    size_t length = fread(text, 1, size - 1, file);
    fclose(file);
    EXPECT(length < size - 1, "%s is too long", path);
    text[length] = '\0';
    for (char *at = strstr(text, "/*"); at != NULL; at = strstr(at, "/*")) {
        char *end = strstr(at, "*/");
        EXPECT(end != NULL, "%s: a comment has no end", path);
        memset(at, ' ', (size_t)(end + 2 - at));
    }
}

static uint32_t expect_structs(const char *header, const char *code, const char *opening)
{
    uint32_t found = 0;
    for (const char *at = strstr(code, opening); at != NULL; at = strstr(at + 1, opening)) {
        char name[WIDTH];
        int end = 0;
        if (sscanf(at + strlen(opening), " %200[a-z0-9_] %n", name, &end) != 1 ||
            at[strlen(opening) + (size_t)end] != '{')
            continue; /* opaque */
        EXPECT(find_entry(name, "") != NULL, "%s: %s is not in the table", header, name);
        found++;
    }
    return found;
}

static int is_word_char(char c)
{
    return isalnum((unsigned char)c) != 0 || c == '_';
}

/* Enumerators are all written as NAME = value. */
static uint32_t expect_constants(const char *header, const char *code)
{
    uint32_t found = 0;
    for (const char *at = strstr(code, "BP_"); at != NULL; at = strstr(at + 1, "BP_")) {
        char name[WIDTH], sign[2];
        int end = 0;
        if ((at > code && is_word_char(at[-1])) ||
            sscanf(at, "%200[A-Z0-9_] %1[=]%n", name, sign, &end) != 2 || at[end] == '=')
            continue;
        EXPECT(find_entry(name, "") != NULL, "%s: %s is not in the table", header, name);
        found++;
    }
    return found;
}

START_TEST(the_table_lacks_nothing_that_the_headers_have)
{
    static const char *const headers[] = {
        "plugin_api/bp_types.h",  "plugin_api/bp_field.h", "plugin_api/bp_component.h",
        "plugin_api/bp_system.h", "plugin_api/bp_api.h",   "plugin_api/bp_plugin.h",
        "host/backplane.h",
    };
    static char code[1 << 17];
    uint32_t structs = 0, constants = 0, wanted_structs = 0, wanted_constants = 0;
    for (uint32_t i = 0; i < COUNT(headers); i++) {
        read_code(headers[i], code, sizeof code);
        structs += expect_structs(headers[i], code, "typedef struct ") +
                   expect_structs(headers[i], code, "typedef union ");
        constants += expect_constants(headers[i], code);
    }
    for (uint32_t i = 0; i < COUNT(contract); i++) {
        wanted_structs += contract[i].kind == FIXED_STRUCT || contract[i].kind == GROWING_STRUCT;
        wanted_constants += contract[i].kind == CONSTANT || contract[i].kind == GROWING_CONSTANT;
    }
    ck_assert_uint_eq(structs, wanted_structs);
    ck_assert_uint_eq(constants + 4,
                      wanted_constants); /* BP_NONE, BP_ABI_MAJOR, BP_ABI_MINOR, BP_PLUGIN_MAGIC: macros */
}
END_TEST

/* --- the comparison itself ----------------------------------------------------------------------------- */

typedef struct case_t {
    const char *then[6], *now[6]; /* lines; NULL ends */
    const char *complaint;        /* NULL: none; else a part of the only one */
} case_t;

static const case_t cases[] = {
    {{"A = 1", "struct s: 4 bytes"}, {"A = 1", "struct s: 4 bytes"}, NULL},
    {{"A = 1", "B = 2"}, {"B = 2", "A = 1"}, NULL},
    {{"A = 1", "B = 2"}, {"A = 1"}, "gone: B = 2"},
    {{"A = 1"}, {"A = 2"}, "changed: A = 1; now A = 2"},
    {{"A = 1"}, {"A = 1", "B = 2"}, NULL},
    {{"A = 1, may grow"}, {"A = 2, may grow"}, NULL},
    {{"A = 2, may grow"}, {"A = 1, may grow"}, "changed: A = 2, may grow; now A = 1, may grow"},
    {{"A = 1, may grow"}, {"A = 1"}, "changed: A = 1, may grow; now A = 1"},
    {{"A = 1"}, {"A = 2, may grow"}, "changed: A = 1; now A = 2, may grow"},
    {{"struct s: 4 bytes", "s.a: at 0, 4 bytes, int"},
     {"struct s: 4 bytes"},
     "gone: s.a: at 0, 4 bytes, int"},
    {{"struct s: 4 bytes", "s.a: at 0, 4 bytes, int"},
     {"struct s: 4 bytes", "s.a: at 0, 4 bytes, float"},
     "changed: s.a: at 0"},
    {{"s.a: at 0, 4 bytes, int"}, {"s.a: at 4, 4 bytes, int"}, "changed: s.a: at 0"},
    {{"struct s: 4 bytes"}, {"struct s: 8 bytes"}, "changed: struct s: 4 bytes; now struct s: 8 bytes"},
    {{"struct s: 4 bytes"},
     {"struct s: 4 bytes", "s.b: at 4, 4 bytes, int"},
     "new member in a struct of fixed size: s.b"},
    {{"struct s: 4 bytes, may grow"}, {"struct s: 8 bytes, may grow", "s.b: at 4, 4 bytes, int"}, NULL},
    {{"struct s: 4 bytes, may grow"},
     {"struct s: 8 bytes, may grow", "s.b: at 0, 4 bytes, int"},
     "new member not at the end: s.b"},
    {{"struct s: 4 bytes"}, {"struct s: 4 bytes", "struct t: 4 bytes", "t.a: at 0, 4 bytes, int"}, NULL},
    {{"BP_ABI_MINOR = 3, may grow"},
     {"BP_ABI_MINOR = 3, may grow", "A = 1"},
     "the contract has grown, but not: BP_ABI_MINOR = 3"},
    {{"BP_ABI_MINOR = 3, may grow"}, {"BP_ABI_MINOR = 4, may grow", "A = 1"}, NULL},
    {{"BP_ABI_MINOR = 3, may grow", embedders}, {"BP_ABI_MINOR = 3, may grow", embedders, "A = 1"}, NULL},
};

static void fill_layout(layout_t *layout, const char *const *lines)
{
    for (layout->count = 0; layout->count < 6 && lines[layout->count] != NULL; layout->count++)
        snprintf(layout->lines[layout->count], WIDTH, "%s", lines[layout->count]);
}

START_TEST(every_break_is_found_and_every_growth_allowed)
{
    const case_t *c = &cases[_i];
    fill_layout(&then, c->then);
    fill_layout(&now, c->now);
    compare(&then, &now, &complaints);
    ck_assert_msg(complaints.count == (c->complaint != NULL), "case %d: %s", _i, complaints.text);
    if (c->complaint != NULL)
        ck_assert_msg(strstr(complaints.text, c->complaint) != NULL, "case %d: %s", _i, complaints.text);
}
END_TEST

/* --- the fossil ---------------------------------------------------------------------------------------- */

static const char fossil_file[] = TEST_FIXTURE_DIR "/fossil_1_0.so";

static rig_t rig;
static bp_world_o *world;

/* A host with the fossil, and a world with all that it brings. */
static void open_fossil(void)
{
    const bp_option_t option = {.name = "strength", .value = "4"};
    rig_init(&rig);
    rig.desc.static_plugin_count = 0;
    rig_open(&rig);
    WORKS(rig.host, bp_host_load_plugin(rig.host, fossil_file, &option, 1));
    world = bp_world_create(rig.host, &(bp_world_desc_t){.name = "sea", .step_rate = 4});
    ck_assert_ptr_nonnull(world);
    WORKS(rig.host, bp_world_use_component(world, "shell"));
    WORKS(rig.host, bp_world_use_component(world, "core"));
    WORKS(rig.host, bp_world_use_system(world, "tide"));
}

static void expect_text(bp_entity_t e, const char *component, const char *property, const char *wanted)
{
    char path[128], who[32], text[256];
    bp_path_t found;
    rig.api->entity->format(rig.host, e, who, sizeof who);
    snprintf(path, sizeof path, "sea/%s.%s.%s", who, component, property);
    WORKS(rig.host, rig.api->property->parse_path(rig.host, path, &found));
    WORKS(rig.host, rig.api->property->get_text(&found, text, sizeof text));
    ck_assert_msg(strcmp(text, wanted) == 0, "%s is %s, not %s", path, text, wanted);
}

START_TEST(the_fossil_is_of_abi_1_0)
{
    open_fossil();
    const char *path;
    const bp_plugin_desc_t *desc = bp_host_plugin(rig.host, 0, &path);
    ck_assert_str_eq(desc->name, "fossil_1_0");
    ck_assert_str_eq(path, fossil_file);
    ck_assert_uint_eq(desc->abi_major, 1);
    ck_assert_uint_eq(desc->abi_minor, 0);
    ck_assert_uint_eq(desc->struct_size, 120);
    ck_assert_uint_eq(desc->components.item_size, 168);
    ck_assert_uint_eq(desc->systems.item_size, 96);
    ck_assert_uint_eq(desc->options.item_size, 64);
    rig_close(&rig);
}
END_TEST

START_TEST(fields_of_the_fossil_begin_as_it_declared_them)
{
    static const char *const wanted[][2] = {
        {"age", "0"},        {"growth", "0.5"},  {"rings", "3"},        {"weight", "1.5"},
        {"depth", "-40"},    {"living", "true"}, {"place", "1 2 3"},    {"turn", "0 0 0 1"},
        {"tint", "1 0 0 1"}, {"note", "found"},  {"neighbour", "none"}, {"order", "ammonitida"},
    };
    open_fossil();
    bp_entity_t e = entity_with(world, "shell");
    for (uint32_t i = 0; i < COUNT(wanted); i++)
        expect_text(e, "shell", wanted[i][0], wanted[i][1]);
    bp_field_t field;
    WORKS(rig.host, rig.api->property->describe(rig.host, "shell", 3, &field));
    ck_assert_str_eq(field.name, "weight");
    ck_assert_str_eq(field.former_name, "mass");
    ck_assert_str_eq(field.min, "0");
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "no number 12",
          rig.api->property->describe(rig.host, "shell", 12, &field));
    rig_close(&rig);
}
END_TEST

START_TEST(properties_of_the_fossil_are_set_within_its_limits)
{
    open_fossil();
    bp_entity_t e = entity_with(world, "shell"), other = entity_with(world, "core");
    const bp_property_api *property = rig.api->property;
    const char *note = "spiral";
    double growth = 11;
    int64_t heat = 7;
    bp_name_t order = 0;
    WORKS(rig.host, property->set_named(world, e, "shell", "note", BP_STRING, &note));
    WORKS(rig.host, property->set_named(world, e, "shell", "neighbour", BP_ENTITY, &other));
    WORKS(rig.host, property->set_named(world, other, "core", "heat", BP_I64, &heat));
    FAILS(rig.host, BP_ERROR_RANGE, "growth",
          property->set_named(world, e, "shell", "growth", BP_F64, &growth));
    FAILS(rig.host, BP_ERROR_ARGUMENT, "order",
          property->set_named(world, e, "shell", "order", BP_NAME, &order));
    heat = -1;
    FAILS(rig.host, BP_ERROR_RANGE, "heat", property->set_named(world, other, "core", "heat", BP_I64, &heat));
    expect_text(e, "shell", "note", "spiral");
    expect_text(e, "shell", "neighbour", "#1:1");
    expect_text(e, "shell", "growth", "0.5");
    expect_text(other, "core", "heat", "7");
    rig_close(&rig);
}
END_TEST

START_TEST(the_fossil_steps)
{
    open_fossil();
    bp_entity_t bare = entity_with(world, "shell"), both, dead = entity_with(world, "shell");
    WORKS(rig.host,
          rig.api->world->create(world, prototype_of(world, "shell", "core", NULL, NULL), &both, 1));
    rig.api->entity->destroy(rig.host, &dead, 1);
    for (int i = 0; i < 8; i++)
        WORKS(rig.host, bp_world_step(world));
    expect_text(bare, "shell", "age", "1"); /* 8 steps of 1/4 at growth 0.5 */
    expect_text(bare, "shell", "rings", "11");
    expect_text(both, "shell", "age", "1");
    expect_text(both, "shell", "rings", "35"); /* strength 4 */
    rig_close(&rig);
}
END_TEST

START_TEST(cores_of_the_fossil_come_and_go)
{
    open_fossil();
    bp_entity_t e[10];
    uint32_t core = key_of(world, "core", ""), shell = key_of(world, "shell", ""),
             component = rig.api->world->component(world, "core");
    WORKS(rig.host, rig.api->world->create(world, prototype_of(world, "core", NULL, NULL, NULL), e, 10));
    for (int64_t i = 0; i < 10; i++)
        WORKS(rig.host, rig.api->property->set_named(world, e[i], "core", "heat", BP_I64, &i));
    WORKS(rig.host, rig.api->world->add(world, shell, e, 10));
    WORKS(rig.host, rig.api->world->remove(world, core, e, 2));
    ck_assert_uint_eq(rig.api->entity->destroy(rig.host, &e[2], 3), 3);
    ck_assert_uint_eq(rig.api->world->count(world, component), 5);
    for (uint32_t i = 5; i < 10; i++)
        expect_text(e[i], "core", "heat", (const char[]){(char)('0' + i), '\0'});
    ck_assert_uint_eq(rig.api->world->has(world, core, e, 10, NULL), 5);
    ck_assert_uint_eq(rig.api->world->has(world, shell, e, 10, NULL), 7);
    rig_close(&rig);
}
END_TEST

START_TEST(the_fossil_says_no_in_its_own_words)
{
    open_fossil();
    static bp_entity_t e[65];
    uint32_t prototype = prototype_of(world, "core", NULL, NULL, NULL);
    FAILS(rig.host, BP_ERROR_LIMIT, "core: a world has at most 64",
          rig.api->world->create(world, prototype, e, 65));
    ck_assert_uint_eq(rig.api->entity->count(rig.host), 0);
    WORKS(rig.host, rig.api->world->create(world, prototype, e, 64));
    rig_close(&rig);
}
END_TEST

typedef struct fossil_api_t {
    uint32_t struct_size, version;
    uint32_t (*deaths)(bp_manager_t *m);
} fossil_api_t;

START_TEST(the_table_of_the_fossil_answers_and_is_a_stub_when_it_has_gone)
{
    open_fossil();
    bp_entity_t e = entity_with(world, "shell");
    bp_manager_t *manager = rig.api->world->manager(world, rig.api->world->component(world, "core"));
    const fossil_api_t *fossil = rig.api->registry->find(rig.host, "fossil_api", 1);
    ck_assert_ptr_nonnull(fossil);
    rig.api->entity->destroy(rig.host, &e, 1);
    ck_assert_uint_eq(fossil->deaths(manager), 1);
    WORKS(rig.host, bp_host_unload_plugin(rig.host, "fossil_1_0"));
    ck_assert_uint_eq(fossil->deaths(manager), 0);
    WORKS(rig.host, bp_host_load_plugin(rig.host, fossil_file, NULL, 0));
    ck_assert_ptr_eq(rig.api->registry->find(rig.host, "fossil_api", 1), fossil);
    rig_close(&rig);
}
END_TEST

static char report_text[1024];

static void note_table(void *context, const char *where, const char *unit, const char *title,
                       const char *const *headers, uint32_t columns)
{
    size_t used = strlen(report_text);
    (void)context;
    snprintf(report_text + used, sizeof report_text - used, "%s %s %s %s %s %u\n", where, unit, title,
             headers[0], headers[1], columns);
}

static void note_row(void *context, const char *const *cells, uint32_t columns)
{
    size_t used = strlen(report_text);
    (void)context;
    snprintf(report_text + used, sizeof report_text - used, "%s %s %u\n", cells[0], cells[1], columns);
}

static void note_value(void *context, const char *where, const char *unit, const char *name, const char *text)
{
    size_t used = strlen(report_text);
    (void)context;
    snprintf(report_text + used, sizeof report_text - used, "%s %s %s %s\n", where, unit, name, text);
}

START_TEST(the_fossil_reports)
{
    open_fossil();
    const bp_report_sink_i sink = {.table = note_table, .row = note_row, .value = note_value};
    entity_with(world, "core");
    report_text[0] = '\0';
    bp_host_report(rig.host, &sink);
    ck_assert_str_eq(report_text, "sea core cores cores deaths 2\n1 0 2\nsea core plugin fossil_1_0\n");
    rig_close(&rig);
}
END_TEST

START_TEST(options_of_the_fossil_are_checked)
{
    rig_init(&rig);
    rig_open(&rig);
    const bp_option_t high = {.name = "strength", .value = "6"}, unknown = {.name = "strenght", .value = "2"};
    FAILS(rig.host, BP_ERROR_RANGE, "strength", bp_host_load_plugin(rig.host, fossil_file, &high, 1));
    FAILS(rig.host, BP_ERROR_NOT_FOUND, "did you mean 'strength'?",
          bp_host_load_plugin(rig.host, fossil_file, &unknown, 1));
    ck_assert_ptr_null(bp_host_plugin(rig.host, 0, NULL));
    rig_close(&rig);
}
END_TEST

Suite *abi_suite(void)
{
    Suite *suite = suite_create("abi");
    TCase *layout = tcase_create("layout"), *fossil = tcase_create("fossil");
    tcase_add_test(layout, the_contract_is_as_it_was_laid_down);
    tcase_add_test(layout, the_table_says_the_types_of_the_headers);
    tcase_add_test(layout, members_fill_their_structs_without_gaps);
    tcase_add_test(layout, what_may_grow_carries_its_size);
    tcase_add_test(layout, the_table_lacks_nothing_that_the_headers_have);
    tcase_add_loop_test(layout, every_break_is_found_and_every_growth_allowed, 0, (int)COUNT(cases));
    suite_add_tcase(suite, layout);
    tcase_add_test(fossil, the_fossil_is_of_abi_1_0);
    tcase_add_test(fossil, fields_of_the_fossil_begin_as_it_declared_them);
    tcase_add_test(fossil, properties_of_the_fossil_are_set_within_its_limits);
    tcase_add_test(fossil, the_fossil_steps);
    tcase_add_test(fossil, cores_of_the_fossil_come_and_go);
    tcase_add_test(fossil, the_fossil_says_no_in_its_own_words);
    tcase_add_test(fossil, the_table_of_the_fossil_answers_and_is_a_stub_when_it_has_gone);
    tcase_add_test(fossil, the_fossil_reports);
    tcase_add_test(fossil, options_of_the_fossil_are_checked);
    suite_add_tcase(suite, fossil);
    return suite;
}
