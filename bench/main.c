/* main.c - the list and order of the measurements, and the options.
 *
 * The list of things to measure is that of cases.h: gauges, groups and courses.
 *
 * Gauges of resident memory come first, while the process is small. The table has the order of the list.
 */
#include "cases.h"

#include "os/os.h"

#include <stdlib.h>
#include <string.h>

static const gauge_t *const gauges[] = {
    &gauge_entity_allocated, &gauge_entity_allocated_grown,
    &gauge_entity_resident,  &gauge_entity_resident_grown,  &gauge_entity_resident_churned,
    &gauge_prototype,
    &gauge_run_subsets,      &gauge_run_subsets_resident,
    &gauge_run_named,        &gauge_run_named_resident,
    &gauge_bubbles,          &gauge_list_empty,
};

static const group_t *const groups[] = {
    &group_simulate,
    &group_stamps_step,
    &group_stamps_search,
    &group_history_keyframe, &group_history_second, &group_history_snapshot, &group_history_compare,
    &group_history_go, &group_history_beside,
    &group_query,
    &group_guard_call,
    &group_guard_step,
    &group_create_fresh, &group_create_recycled, &group_destroy, &group_destroy_shuffled, &group_alive,
    &group_destroy_rows, &group_destroy_half_rows, &group_create_add_three,
    &group_spawn_fresh,  &group_spawn_touched,
    &group_scene_spawn,  &group_scene_level,     &group_scene_check,   &group_scene_save,
    &group_look_up,      &group_look_up_mixed,   &group_references,
    &group_change,       &group_change_shuffled,
    &group_property,     &group_scattered,       &group_scattered_50,  &group_names,
    &group_step,         &group_systems,         &group_many_prototypes, &group_many_changes,
    &group_hierarchy_in_order, &group_hierarchy_shuffled, &group_hierarchy_chain,
    &group_transform_create, &group_transform_set, &group_frustum, &group_reload, &group_reload_narrow,
    &group_reload_own, &group_reload_trial,
    &group_prototypes,
    &group_compile,
    &group_cycle_a,      &group_cycle_aa,        &group_cycle_aaa,
    &group_join_2_2,     &group_join_2_2s,       &group_join_2_8,   &group_join_2_8s,
    &group_join_2_64,    &group_join_2_64s,      &group_join_3_2,   &group_join_3_2s,
    &group_join_3_8,     &group_join_3_8s,       &group_join_3_64,  &group_join_3_64s,
    &group_join_prototypes, &group_join_own,
    &group_notices,      &group_threads_compute, &group_threads_light, &group_empty,
    &group_bubbles,      &group_bubbles_start,   &group_list_append, &group_list_iterate,
    &group_text_set,     &group_text_set_each,   &group_text_get_each, &group_text_come_and_go,
    &group_index, &group_index_500, &group_index_5000, &group_index_alone, &group_index_old,
};

static const course_t *const courses[] = {
    &course_churn_tenth, &course_churn_one,  &course_churn_five,
    &course_death_fifth, &course_death_half, &course_death_all, &course_waning,
    &course_worlds,      &course_post,       &course_messages,  &course_reload_stop,
    &course_declare,
};

enum {
    GAUGES = sizeof gauges / sizeof *gauges,
    GROUPS = sizeof groups / sizeof *groups,
    COURSES = sizeof courses / sizeof *courses
};
enum { TIMES = 3 }; /* how often a course is gone through */

static const uint32_t usual_sizes[] = {10000, 100000, 1000000, 0};
const uint32_t bench_long_sizes[] = {10000, 100000, 1000000, 10000000, 0};
const uint32_t bench_curve_sizes[] = {1000, 3000, 10000, 30000, 100000, 300000, 1000000, 0};
const uint32_t bench_wide_sizes[] = {1000, 3000, 10000, 30000, 100000, 300000, 1000000, 3000000, 10000000, 0};

/* --- options ------------------------------------------------------------------------------------------ */

typedef struct options_t {
    const char *filter, *json;
    const char *old, *new; /* --compare: files of results; without `new`, `old` is compared with this run */
    uint32_t sizes[BENCH_MAX_SIZES + 1]; /* ended by 0; none: each group's own */
    uint32_t repetitions;
    bool quick;
    char command[256];     /* the command line of this run */
} options_t;

static const char help[] =
    "bench - what the engine costs, beside plain C\n"
    "\n"
    "  --filter TEXT      only what has TEXT in its name\n"
    "  --sizes LIST       entities, for instance 10k,1M, instead of the usual ones\n"
    "  --repetitions N    of each figure, 11 to 1001 (25)\n"
    "  --json FILE        write the results in Google Benchmark's schema as well\n"
    "  --quick            11 repetitions, at most a million entities, courses once: figures for a first look\n"
    "  --compare OLD.json         what has moved beyond the noise since then\n"
    "  --compare OLD.json NEW.json    likewise between two files; nothing is measured\n"
    "  --paths            run the hot paths once, for tools/budgets.py, and nothing else\n"
    "  --help\n"
    "\n"
    "Each line: time or bytes of one item (median), the time of its floor, their ratio, what is demanded,\n"
    "and whether that is kept. docs/benchmarks.md says what each line is.\n";

static int refuse(const char *what, const char *text, const char *right)
{
    fprintf(stderr, "bench: %s '%s'; %s\n", what, text, right);
    return 2;
}

/* "10k", "1M", "4096"; 0 where the text is no size. */
static uint32_t parse_size(const char *text, char **end)
{
    unsigned long long number = strtoull(text, end, 10);
    unsigned long long unit = **end == 'k' ? 1000 : **end == 'M' ? 1000000 : 1;
    if (*end == text || number > 100000000 / unit)
        return 0;
    *end += unit > 1;
    return (uint32_t)(number * unit);
}

static bool parse_sizes(const char *text, uint32_t sizes[BENCH_MAX_SIZES + 1])
{
    char *end = NULL;
    uint32_t count = 0;
    do {
        sizes[count] = parse_size(text, &end);
        if (sizes[count] == 0 || (*end != '\0' && *end != ','))
            return false;
        text = end + 1;
    } while (++count < BENCH_MAX_SIZES && *end == ',');
    sizes[count] = 0;
    return *end == '\0';
}

static bool parse_repetitions(const char *text, uint32_t *repetitions)
{
    char *end;
    unsigned long number = strtoul(text, &end, 10);
    if (*text == '\0' || *end != '\0' || number < BENCH_MIN_REPETITIONS || number > BENCH_MAX_REPETITIONS)
        return false;
    *repetitions = (uint32_t)number;
    return true;
}

/* Options that stand alone. 0: the name is none of them; else the result of parse_options, or -1 to go on. */
static int parse_flag(const char *name, options_t *options)
{
    if (strcmp(name, "--help") == 0) {
        fputs(help, stdout);
        return 1;
    }
    if (strcmp(name, "--paths") == 0) {
        paths_run();
        return 1;
    }
    if (strcmp(name, "--quick") != 0)
        return 0;
    options->quick = true;
    options->repetitions = BENCH_MIN_REPETITIONS;
    return -1;
}

/* An option with its value. 0: go on; else the exit status plus 1. */
static int parse_value(const char *name, const char *value, options_t *options)
{
    bool known = strcmp(name, "--filter") == 0 || strcmp(name, "--json") == 0 || strcmp(name, "--compare") == 0 ||
                 strcmp(name, "--sizes") == 0 || strcmp(name, "--repetitions") == 0;
    if (!known)
        return 1 + refuse("unknown option", name, "see --help");
    if (value == NULL)
        return 1 + refuse("no value after", name, "see --help");
    if (strcmp(name, "--filter") == 0)
        options->filter = value;
    else if (strcmp(name, "--json") == 0)
        options->json = value;
    else if (strcmp(name, "--compare") == 0)
        options->old = value;
    else if (strcmp(name, "--sizes") == 0 && !parse_sizes(value, options->sizes))
        return 1 + refuse("not a list of sizes:", value, "write numbers from 1 to 100M, such as 10k,1M");
    else if (strcmp(name, "--repetitions") == 0 && !parse_repetitions(value, &options->repetitions))
        return 1 + refuse("not a number of repetitions:", value, "11 to 1001: a median of fewer says little");
    return 0;
}

static void remember_command(int argc, char **argv, options_t *options)
{
    size_t at = (size_t)snprintf(options->command, sizeof options->command, "build/bench");
    for (int i = 1; i < argc && at < sizeof options->command; i++) {
        if (strcmp(argv[i], "--json") == 0)
            i++; /* the name of the file of results has no effect on them */
        else
            at += (size_t)snprintf(options->command + at, sizeof options->command - at, " %s", argv[i]);
    }
}

/* 0: go on; else the exit status plus 1. */
static int parse_options(int argc, char **argv, options_t *options)
{
    *options = (options_t){.filter = "", .repetitions = BENCH_REPETITIONS};
    remember_command(argc, argv, options);
    for (int i = 1; i < argc; i++) {
        int flag = parse_flag(argv[i], options);
        if (flag > 0)
            return flag;
        if (flag < 0)
            continue;
        int refused = parse_value(argv[i], i + 1 < argc ? argv[i + 1] : NULL, options);
        if (refused != 0)
            return refused;
        i++;
        if (strcmp(argv[i - 1], "--compare") == 0 && i + 1 < argc && argv[i + 1][0] != '-')
            options->new = argv[++i];
    }
    return 0;
}

/* --- progress: on a terminal only --------------------------------------------------------------------- */

typedef struct progress_t {
    uint32_t done, all;
    bool shown;
} progress_t;

static void show_progress(progress_t *progress, const char *name, uint32_t size)
{
    char text[16];
    if (!progress->shown)
        return;
    table_size(size, text);
    fprintf(stderr, "\r%3u %%  %s %s\033[K", progress->done * 100 / (progress->all > 0 ? progress->all : 1),
            name, text);
    fflush(stderr);
}

static void hide_progress(progress_t *progress)
{
    progress->done++;
    if (progress->shown)
        fputs("\r\033[K", stderr);
}

/* --- all ---------------------------------------------------------------------------------------------- */

static const uint32_t *sizes_of(const options_t *options, const uint32_t *own)
{
    return options->sizes[0] != 0 ? options->sizes : own != NULL ? own : usual_sizes;
}

static const uint32_t *sizes_of_gauge(const gauge_t *gauge)
{
    return gauge->sizes != NULL ? gauge->sizes : usual_sizes;
}

/* Is this size, one of `sizes`, too large for a first look? Not where it was asked for. Sizes ascend. */
static bool is_left_out(const options_t *options, const uint32_t *sizes, const uint32_t *size)
{
    return options->quick && sizes != options->sizes && *size > BENCH_QUICK_SIZE;
}

static uint32_t length(const options_t *options, const uint32_t *sizes)
{
    uint32_t count = 0;
    while (sizes[count] != 0 && !is_left_out(options, sizes, &sizes[count]))
        count++;
    return count;
}

/* A course is asked for by its own name or by that of any of its figures. */
static bool course_matches(const course_t *course, const char *filter)
{
    return strstr(course->name, filter) != NULL || strncmp(filter, course->name, strlen(course->name)) == 0;
}

static uint32_t count_all(const options_t *options)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < GAUGES; i++)
        count += strstr(gauges[i]->name, options->filter) != NULL ? length(options, sizes_of_gauge(gauges[i])) : 0;
    for (uint32_t i = 0; i < GROUPS; i++)
        count += measure_matches(groups[i], options->filter) ? length(options, sizes_of(options, groups[i]->sizes)) : 0;
    for (uint32_t i = 0; i < COURSES; i++)
        if (course_matches(courses[i], options->filter))
            count += length(options, sizes_of(options, courses[i]->sizes));
    return count;
}

static void number_families(results_t *results, uint32_t first)
{
    for (uint32_t i = first; i < results->count; i++) {
        result_t *result = &results->items[i];
        result->family = i;
        for (uint32_t j = 0; j < i; j++) {
            if (strcmp(results->items[j].name, result->name) == 0) {
                result->family = results->items[j].family;
                break;
            }
        }
        table_row(stdout, result);
    }
}

static void run_gauge(const gauge_t *gauge, const options_t *options, results_t *results, progress_t *progress)
{
    const uint32_t *sizes = sizes_of_gauge(gauge);
    for (const uint32_t *size = sizes; *size != 0 && !is_left_out(options, sizes, size); size++) {
        uint32_t first = results->count;
        show_progress(progress, gauge->name, *size);
        measure_gauge(results, gauge, *size);
        hide_progress(progress);
        number_families(results, first);
    }
}

static void run_group(const group_t *group, const options_t *options, results_t *results,
                      progress_t *progress)
{
    const uint32_t *sizes = sizes_of(options, group->sizes);
    for (const uint32_t *size = sizes; *size != 0 && !is_left_out(options, sizes, size); size++) {
        uint32_t first = results->count;
        show_progress(progress, group->name, *size);
        measure_group(results, group, *size, options->repetitions, options->filter);
        hide_progress(progress);
        number_families(results, first);
    }
}

static void run_course(const course_t *course, const options_t *options, results_t *results, progress_t *progress)
{
    const uint32_t *sizes = sizes_of(options, course->sizes);
    for (const uint32_t *size = sizes; *size != 0 && !is_left_out(options, sizes, size); size++) {
        uint32_t first = results->count;
        show_progress(progress, course->name, *size);
        course->run(results, *size, options->quick ? 1 : TIMES);
        hide_progress(progress);
        number_families(results, first);
    }
}

static void run_all(const options_t *options, results_t *results, progress_t *progress)
{
    for (uint32_t i = 0; i < GAUGES; i++) {
        if (strstr(gauges[i]->name, options->filter) != NULL)
            run_gauge(gauges[i], options, results, progress);
    }
    for (uint32_t i = 0; i < GROUPS; i++) {
        if (measure_matches(groups[i], options->filter))
            run_group(groups[i], options, results, progress);
    }
    for (uint32_t i = 0; i < COURSES; i++) {
        if (course_matches(courses[i], options->filter))
            run_course(courses[i], options, results, progress);
    }
}

static void print_machine(void)
{
    machine_t machine;
    machine_describe(&machine);
    printf("%s, %u processors, load %.2f\n", machine.model[0] != '\0' ? machine.model : "unknown processor",
           machine.processors, machine.load[0]);
}

static int compare_files(const options_t *options)
{
    results_t old = {0}, new = {0};
    bool good = compare_read(options->old, &old) && compare_read(options->new, &new);
    if (good)
        compare_print(stdout, &old, &new);
    compare_free(&old);
    compare_free(&new);
    return good ? 0 : 1;
}

static int measure_all(const options_t *options, const results_t *old)
{
    progress_t progress = {.all = count_all(options), .shown = os_is_terminal(2)};
    if (progress.all == 0)
        return refuse("nothing has this in its name:", options->filter, "run without --filter to see all names");
    if (options->json != NULL && !json_can_write(options->json))
        return 1;
    results_t results = {0};
    print_machine();
    table_begin(stdout);
    run_all(options, &results, &progress);
    table_end(stdout, &results);
    if (options->old != NULL)
        compare_print(stdout, old, &results);
    bool good = options->json == NULL || json_write(options->json, &results, options->command, options->quick);
    free(results.items);
    return good ? 0 : 1;
}

int main(int argc, char **argv)
{
    options_t options;
    int refused = parse_options(argc, argv, &options);
    if (refused != 0)
        return refused - 1;
    if (options.new != NULL)
        return compare_files(&options);
    results_t old = {0};
    if (options.old != NULL && !compare_read(options.old, &old))
        return 1;
    int status = measure_all(&options, &old);
    compare_free(&old);
    return status;
}
