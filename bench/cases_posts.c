/* cases_posts.c - how long it takes from a thread's post to the task, while the main thread waits.
 *
 * A thread posts as many times as the size says, each time when the main thread has been asleep in bp_host_wait for a
 * moment. There is no floor: the bound is a time. The figures are the median and the 99th of a hundred.
 */
#include "cases.h"

#include "worlds.h"

#include "os/os.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { MOST_TIMES = 8, PAUSE_NS = 100000 };

typedef struct posting_t {
    bp_host_o *host;
    bp_plugin_t *plugin;
    const bp_task_api *tasks;
    uint32_t count;
    _Atomic uint32_t done;
    double *took;
} posting_t;

static posting_t posting; /* static, as the plugin is linked in and only one course runs at a time */

static bp_result_t load(bp_plugin_t *plugin)
{
    posting.plugin = plugin;
    posting.tasks = (const bp_task_api *)plugin->api->registry->find(plugin->host, BP_TASK_API, 1);
    return BP_OK;
}

static void note(bp_plugin_t *plugin, const void *bytes, size_t size)
{
    uint64_t now = measure_now();
    (void)plugin, (void)size;
    posting.took[posting.done] = (double)(now - *(const uint64_t *)bytes);
    atomic_fetch_add(&posting.done, 1);
}

static const bp_task_t tasks[] = {{"note", note}};
static const bp_plugin_head_t plugin = BP_PLUGIN_HEAD(
    "posting", (&(const bp_plugin_desc_t){.version = "1", .load = load, .tasks = BP_LIST(tasks)}));
static const bp_plugin_head_t *const plugins[] = {&plugin};

static void post_all(void *data)
{
    (void)data;
    for (uint32_t i = 0; i < posting.count; i++) {
        os_sleep_ns(PAUSE_NS);
        uint64_t now = measure_now();
        worlds_must(posting.host, posting.tasks->post(posting.plugin, "note", &now, sizeof now), "posting");
        while (atomic_load(&posting.done) <= i)
            os_relax(OS_SHORT_TURNS);
    }
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void go(uint32_t count)
{
    os_thread_t thread;
    posting.count = count;
    posting.done = 0;
    posting.host = bp_host_create(&(bp_host_desc_t){.static_plugins = plugins, .static_plugin_count = 1});
    worlds_must(posting.host, bp_host_load_plugin(posting.host, "posting", NULL, 0), "loading");
    if (!os_thread_start(&thread, post_all, NULL))
        worlds_must(posting.host, BP_ERROR_LIMIT, "starting a thread");
    while (atomic_load(&posting.done) < count)
        worlds_must(posting.host, bp_host_wait(posting.host, UINT64_MAX), "waiting");
    os_thread_join(thread);
    bp_host_destroy(posting.host);
    qsort(posting.took, count, sizeof *posting.took, compare);
}

static void run(results_t *results, uint32_t size, uint32_t times)
{
    double median[MOST_TIMES], late[MOST_TIMES];
    uint32_t count = times < MOST_TIMES ? times : MOST_TIMES;
    posting.took = worlds_memory(size, sizeof *posting.took);
    for (uint32_t i = 0; i < count; i++) {
        go(size);
        median[i] = posting.took[size / 2];
        late[i] = posting.took[size * 99ull / 100];
    }
    measure_put(results, "post", "median", size, UNIT_NS, median, NULL, count, (bound_t)AT_MOST(10000));
    measure_put(results, "post", "of_100_the_99th", size, UNIT_NS, late, NULL, count, (bound_t)AT_MOST(100000));
    free(posting.took);
}

static const uint32_t sizes[] = {2000, 0};

const course_t course_post = {"post", sizes, run};
