/* suites.h - every suite of tests, one line each; main.c runs them in this order.
 *
 * A suite covers one subject and lies in the file test_<subject>.c of a folder: unit (parts of the host through their
 * headers), resource (scenes), limits (bad input and the ends of what is possible), conformance (what every component
 * plugin must do), program (the program as a program).
 */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include <check.h>

Suite *base_suite(void);
Suite *os_suite(void);
Suite *convert_suite(void);
Suite *named_suite(void);
Suite *lists_suite(void);
Suite *image_suite(void);
Suite *obj_suite(void);
Suite *entities_suite(void);
Suite *prototypes_suite(void);
Suite *store_suite(void);
Suite *stamps_suite(void);
Suite *queries_suite(void);
Suite *referrers_suite(void);
Suite *own_suite(void);
Suite *destruction_suite(void);
Suite *long_use_suite(void);
Suite *many_worlds_suite(void);
Suite *properties_suite(void);
Suite *schedule_suite(void);
Suite *threads_suite(void);
Suite *sets_suite(void);
Suite *terms_suite(void);
Suite *trace_suite(void);
Suite *side_by_side_suite(void);
Suite *messages_suite(void);
Suite *pace_suite(void);
Suite *host_suite(void);
Suite *allowed_suite(void);
Suite *look_suite(void);
Suite *memory_failure_suite(void);
Suite *config_suite(void);
Suite *config_again_suite(void);
Suite *peers_suite(void);
Suite *loading_suite(void);
Suite *power_suite(void);
Suite *calls_suite(void);
Suite *plugins_suite(void);
Suite *bubbles_suite(void);
Suite *picture_suite(void);
Suite *inspector_suite(void); /* where the plugin is not left out, as the next */
Suite *inspector_served_suite(void);
Suite *hierarchy_suite(void);
Suite *camera_suite(void);
Suite *import_suite(void);
Suite *conformance_suite(void);
Suite *blob_suite(void);
Suite *json_tree_suite(void);
Suite *compile_suite(void);
Suite *compile_errors_suite(void);
Suite *spawn_suite(void);
Suite *scene_property_suite(void);
Suite *save_suite(void);
Suite *several_suite(void);
Suite *golden_suite(void);
Suite *scene_files_suite(void);
Suite *dump_suite(void);
Suite *program_suite(void);
Suite *console_scenes_suite(void);
Suite *console_edit_suite(void);
Suite *manual_suite(void);
Suite *new_suite(void);
Suite *crash_suite(void);
Suite *program_values_suite(void);
Suite *snapshot_suite(void);
Suite *history_suite(void);
Suite *eras_suite(void);
Suite *outside_suite(void);
Suite *draft_suite(void);
Suite *journal_suite(void);
Suite *recording_suite(void);
Suite *twice_suite(void);
Suite *recordings_suite(void);
Suite *clone_suite(void);
Suite *guard_suite(void);
Suite *helper_suite(void);
Suite *watch_suite(void);
Suite *process_suite(void);
Suite *check_suite(void);
Suite *reload_suite(void);
Suite *hot_suite(void);
Suite *trial_suite(void);
Suite *temporary_suite(void);
Suite *audit_suite(void);
Suite *reload_plugins_suite(void);
Suite *reload_faults_suite(void);
Suite *reload_ahead_suite(void);
Suite *reload_random_suite(void);
Suite *reload_terms_suite(void);
Suite *reload_kept_suite(void);
Suite *reload_shapes_suite(void);
Suite *rows_suite(void);
Suite *rollback_suite(void);
Suite *rollback_own_suite(void);
Suite *reload_many_suite(void);
Suite *reload_threads_suite(void);
Suite *reload_limit_suite(void);
Suite *crash_matrix_suite(void);
Suite *behind_suite(void);
Suite *storm_suite(void);
Suite *pause_suite(void);
Suite *posts_suite(void);
Suite *vote_suite(void);
Suite *loaders_suite(void);
Suite *sources_suite(void);
Suite *wants_suite(void);

#endif
