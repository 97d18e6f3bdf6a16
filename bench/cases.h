/* cases.h - the names of all groups and gauges; main.c lists them in the order in which they run.
 *
 * Not here: descriptions of what is measured; each file of cases begins with its own.
 */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "bench.h"

/* cases_simulate.c */
extern const group_t group_simulate;

/* cases_stamps.c */
extern const group_t group_stamps_step, group_stamps_search;

/* cases_history.c */
extern const group_t group_history_keyframe, group_history_second, group_history_snapshot, group_history_compare;
extern const group_t group_history_go, group_history_beside;

/* cases_query.c */
extern const group_t group_query;

/* cases_guard.c */
extern const group_t group_guard_call, group_guard_step;

/* cases_entities.c */
extern const group_t group_create_fresh, group_create_recycled, group_destroy, group_destroy_shuffled;
extern const group_t group_alive, group_destroy_rows, group_destroy_half_rows, group_create_add_three;

/* cases_spawn.c */
extern const group_t group_spawn_fresh, group_spawn_touched;

/* cases_compile.c */
extern const group_t group_compile;

/* cases_scene.c */
extern const group_t group_scene_spawn, group_scene_level, group_scene_check, group_scene_save;

/* cases_look_up.c */
extern const group_t group_look_up, group_look_up_mixed, group_references;

/* cases_change.c */
extern const group_t group_change, group_change_shuffled;

/* cases_scattered.c */
extern const group_t group_scattered, group_scattered_50, group_names;

/* cases_many.c */
extern const group_t group_many_prototypes, group_many_changes, group_systems, group_step;

/* cases_worlds.c */
extern const course_t course_worlds;

/* cases_posts.c */
extern const course_t course_post;

/* cases_reload_stop.c */
extern const course_t course_reload_stop;

/* cases_declare.c */
extern const course_t course_declare;

/* cases_messages.c */
extern const course_t course_messages;

/* cases_property.c */
extern const group_t group_property;

/* cases_memory.c */
extern const gauge_t gauge_entity_allocated, gauge_entity_allocated_grown;
extern const gauge_t gauge_entity_resident, gauge_entity_resident_grown, gauge_entity_resident_churned;
extern const gauge_t gauge_prototype, gauge_run_subsets, gauge_run_subsets_resident, gauge_run_named,
    gauge_run_named_resident;
extern const group_t group_prototypes;

/* cases_churn.c */
extern const course_t course_churn_tenth, course_churn_one, course_churn_five;
extern const course_t course_death_fifth, course_death_half, course_death_all, course_waning;

/* cases_cycle.c */
extern const group_t group_cycle_a, group_cycle_aa, group_cycle_aaa;

/* cases_bubbles.c */
extern const group_t group_bubbles, group_bubbles_start;
extern const gauge_t gauge_bubbles;

/* cases_join.c */
extern const group_t group_join_2_2, group_join_2_8, group_join_2_64, group_join_3_2, group_join_3_8, group_join_3_64;
extern const group_t group_join_2_2s, group_join_2_8s, group_join_2_64s;
extern const group_t group_join_3_2s, group_join_3_8s, group_join_3_64s;
extern const group_t group_join_prototypes, group_join_own;

/* cases_schedule.c */
extern const group_t group_notices, group_threads_compute, group_threads_light, group_empty;

/* cases_index.c */
extern const group_t group_index, group_index_500, group_index_5000, group_index_alone, group_index_old;

/* cases_hierarchy.c */
extern const group_t group_hierarchy_in_order, group_hierarchy_shuffled, group_hierarchy_chain;
extern const group_t group_transform_create, group_transform_set;

/* cases_frustum.c */
extern const group_t group_frustum;

/* cases_lists.c */
extern const group_t group_list_append, group_list_iterate;
extern const gauge_t gauge_list_empty;

/* cases_names.c */
extern const group_t group_text_set, group_text_set_each, group_text_get_each, group_text_come_and_go;

/* cases_reload.c */
extern const group_t group_reload, group_reload_narrow, group_reload_own, group_reload_trial;

#endif
