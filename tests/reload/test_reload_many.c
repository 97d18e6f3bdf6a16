/* test_reload_many.c - a thousand reloads in a row, while worlds step: nothing grows.
 *
 * What may grow, and by how much, is said here: the process by GROWTH_BYTES in all (the system's loader and heap keep a
 * little: 10,000 opened and closed libraries cost 64 KiB), its mappings by none, the host by 4 bytes a world for each
 * reload that changed fields.
 */
#include "../suites.h"
#include "reload_support.h"

#include <stdlib.h>
#include <string.h>

#if defined(BACKPLANE_SANITIZED)
enum { RELOADS = 300 };
#else
enum { RELOADS = 1000 };
#endif
enum { WARM_UP = 60, GROWTH_BYTES = 1024 * 1024 };

static scene_t scene;

/* Lines of /proc/self/maps, and resident bytes; 0 where there is none. */
static uint32_t count_mappings(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    uint32_t lines = 0;
    for (int c; file != NULL && (c = fgetc(file)) != EOF;)
        lines += c == '\n';
    if (file != NULL)
        fclose(file);
    return lines;
}

/* 0 where the system does not tell, or where the pages are those of an emulator that runs this program. */
static size_t resident(void)
{
    unsigned long all = 0, held = 0;
    FILE *file = getenv("TESTS_EMULATED") == NULL ? fopen("/proc/self/statm", "r") : NULL;
    if (file == NULL || fscanf(file, "%lu %lu", &all, &held) != 2)
        held = 0;
    if (file != NULL)
        fclose(file);
    return (size_t)held * 4096;
}

static void reload_many(uint32_t from, uint32_t to)
{
    static const int versions[] = {
        PROBE_FASTER, PROBE_FIRST, PROBE_REORDERED, PROBE_RESHAPED, PROBE_OWN, PROBE_REORDERED, PROBE_FIRST,
        PROBE_OTHER_TEXTS,
    };
    for (uint32_t n = from; n < to; n++) {
        WORKS(scene.host, scene_reload(&scene, versions[n % COUNT(versions)]));
        WORKS(scene.host, n % 3 == 0 ? bp_world_step(scene.second) : bp_host_step(scene.host));
    }
}

START_TEST(a_thousand_reloads_grow_nothing)
{
    scene_open(&scene, PROBE_FIRST);
    scene.host->reload.probation_steps = _i == 0 ? 0 : 2;
    reload_many(0, WARM_UP);
    reload_accept(&scene.host->reload);
    size_t held = scene.rig.heap.bytes, pages = resident();
    uint32_t mappings = count_mappings();
    reload_many(WARM_UP, RELOADS + WARM_UP - WARM_UP % 8 + 4);
    reload_accept(&scene.host->reload);
    uint32_t changes = 2 * 3 * RELOADS; /* layouts: 2 worlds, up to 3 for a reload */
    EXPECT(scene.rig.heap.bytes <= held + changes * 4 * 2 + 4096, "the host holds %zu bytes, and held %zu",
           scene.rig.heap.bytes, held);
#if !defined(BACKPLANE_SANITIZED)
    EXPECT(count_mappings() <= mappings + 2, "%u mappings have become %u", mappings, count_mappings());
    EXPECT(resident() <= pages + GROWTH_BYTES, "%zu resident bytes have become %zu", pages, resident());
#else
    (void)mappings, (void)pages;
#endif
    check_host(scene.host);
    scene_close(&scene);
}
END_TEST

Suite *reload_many_suite(void)
{
    Suite *suite = suite_create("reload_many");
    TCase *many = tcase_create("many");
    tcase_set_timeout(many, 60);
    tcase_add_loop_test(many, a_thousand_reloads_grow_nothing, 0, 2);
    suite_add_tcase(suite, many);
    return suite;
}
