/* main.c - runs the suites. With a name as argument, or in CK_RUN_SUITE, only that one.
 *
 * Check forks a child for each test, so a crash is one failed test; CK_FORK=no runs them all in this process for a
 * debugger.
 */
#include "suites.h"

#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    Suite *(*const suites[])(void) = {
        base_suite,
        convert_suite,
        os_suite,
        image_suite,
        obj_suite,
        entities_suite,
        prototypes_suite,
        store_suite,
        destruction_suite,
        properties_suite,
        schedule_suite,
        threads_suite,
        sets_suite,
        trace_suite,
        side_by_side_suite,
        host_suite,
        memory_failure_suite,
        config_suite,
        loading_suite,
        plugins_suite,
        bubbles_suite,
        picture_suite,
        hierarchy_suite,
        camera_suite,
        import_suite,
        conformance_suite,
        blob_suite,
        json_tree_suite,
        compile_suite,
        compile_errors_suite,
        spawn_suite,
        scene_property_suite,
        save_suite,
        golden_suite,
        scene_files_suite,
        dump_suite,
        abi_suite,
        program_suite,
        console_scenes_suite,
        guard_suite,
        watch_suite,
        process_suite,
        check_suite,
        reload_suite,
        hot_suite,
        audit_suite,
        reload_faults_suite,
        reload_random_suite,
        reload_many_suite,
    };
    const size_t count = sizeof suites / sizeof suites[0];
    SRunner *runner = srunner_create(NULL);
    for (size_t i = 0; i < count; i++)
        srunner_add_suite(runner, suites[i]());
    srunner_run(runner, argc > 1 ? argv[1] : NULL, NULL, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
