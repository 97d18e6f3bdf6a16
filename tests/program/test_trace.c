/* test_trace.c - the trace of a run: a file that Perfetto and chrome://tracing read, checked as they would.
 *
 * What it does not do: which thread did what is not foreseen; only that each thread's slices nest.
 */
#include "../suites.h"
#include "../unit/support.h"
#include "shell.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char crowd[] =
    "[host]\nplugins = point_mass\nthreads = 2\nsteps = 5\n"
    "[world main]\ncomponents = point_mass\n[spawn main crowd]\ncount = 100000\ncomponents = point_mass\n"
    "[world other]\ncomponents = point_mass\n";

typedef struct slice_t {
    json_int_t thread;
    double begin, end;
} slice_t;

static int by_time(const void *a, const void *b)
{
    const slice_t *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->end > y->end ? -1 : x->end < y->end;
}

/* Slices of one thread are apart, or one lies within the other. Times have a thousandth of a microsecond. */
static void expect_nested(slice_t *slices, size_t count)
{
    double open[16];
    size_t depth = 0;
    qsort(slices, count, sizeof *slices, by_time);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && slices[i].thread != slices[i - 1].thread)
            depth = 0;
        while (depth > 0 && open[depth - 1] <= slices[i].begin + 0.0015)
            depth--;
        EXPECT(depth < COUNT(open), "slices are nested deeply");
        EXPECT(depth == 0 || slices[i].end <= open[depth - 1] + 0.0015, "a slice ends at %f, the one around it at %f",
               slices[i].end, open[depth - 1]);
        open[depth++] = slices[i].end;
    }
}

/* Every thread that did something has one name, and no two have the same. */
static void expect_lanes(json_t *events, const slice_t *slices, size_t count)
{
    const char *names[64] = {NULL};
    size_t at;
    json_t *event;
    json_array_foreach(events, at, event) {
        if (strcmp(text_of(event, "name"), "thread_name") != 0)
            continue;
        json_int_t thread = count_of(event, "tid");
        ck_assert(thread >= 0 && thread < (json_int_t)COUNT(names) && names[thread] == NULL);
        names[thread] = text_of(json_object_get(event, "args"), "name");
        for (json_int_t i = 0; i < (json_int_t)COUNT(names); i++)
            ck_assert(i == thread || names[i] == NULL || strcmp(names[i], names[thread]) != 0);
    }
    ck_assert_str_eq(names[0], "main");
    for (size_t i = 0; i < count; i++)
        EXPECT(names[slices[i].thread] != NULL, "a thread has no name");
}

START_TEST(a_trace_can_be_read_and_its_slices_nest)
{
    scratch_file("trace.ini", crowd);
    expect(shell("backplane run '" TEST_SCRATCH_DIR "/trace.ini' --trace '" TEST_SCRATCH_DIR "/trace.json'"), 0, NULL);
    json_error_t error;
    json_t *root = json_load_file(TEST_SCRATCH_DIR "/trace.json", 0, &error);
    EXPECT(root != NULL, "line %d: %s", error.line, error.text);
    json_t *events = json_object_get(root, "traceEvents"), *event;
    slice_t *slices = calloc(json_array_size(events), sizeof *slices);
    size_t count = 0, steps = 0, units = 0, counters = 0, collections = 0, at;
    json_array_foreach(events, at, event) {
        const char *kind = text_of(event, "ph");
        counters += strcmp(kind, "C") == 0;
        if (strcmp(kind, "X") != 0)
            continue;
        double begin = json_number_value(json_object_get(event, "ts")),
               length = json_number_value(json_object_get(event, "dur"));
        slices[count++] = (slice_t){count_of(event, "tid"), begin, begin + length};
        const char *category = text_of(event, "cat");
        steps += strcmp(category, "step") == 0;
        units += strcmp(category, "unit") == 0;
        collections += strcmp(category, "gc") == 0;
        if (strcmp(category, "unit") == 0)
            ck_assert_str_eq(text_of(event, "name"), "point_mass");
    }
    ck_assert_uint_eq(steps, 10);
    ck_assert_uint_eq(counters, 10);
    ck_assert_uint_eq(collections, 10);
    ck_assert_uint_ge(units, 10);
    ck_assert_int_eq(json_is_object(json_object_get(root, "otherData")), 1);
    expect_lanes(events, slices, count);
    expect_nested(slices, count);
    free(slices);
    json_decref(root);
}
END_TEST

START_TEST(a_trace_that_cannot_be_written_is_told)
{
    scratch_file("trace.ini", crowd);
    expect_refused(shell("backplane run '" TEST_SCRATCH_DIR "/trace.ini' --trace '" TEST_SCRATCH_DIR
                         "/no/such/folder/t.json'"),
                   "no/such/folder/t.json: the trace cannot be written there");
    expect(shell("test -e /dev/full || exit 1; backplane run '" TEST_SCRATCH_DIR "/trace.ini' --trace /dev/full"), 1,
           "/dev/full: the trace could not be written whole");
    expect_refused(shell("backplane run '" TEST_SCRATCH_DIR "/trace.ini' --trace"), "--trace takes one file to write");
}
END_TEST

Suite *trace_suite(void)
{
    Suite *suite = suite_create("trace");
    TCase *files = tcase_create("files");
    tcase_set_timeout(files, 60);
    tcase_add_test(files, a_trace_can_be_read_and_its_slices_nest);
    tcase_add_test(files, a_trace_that_cannot_be_written_is_told);
    suite_add_tcase(suite, files);
    return suite;
}
