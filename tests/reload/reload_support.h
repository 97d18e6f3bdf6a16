/* reload_support.h - what the tests of reloading share: a world with probes among other components, and plugin files
 * put in each other's place.
 *
 * What it does not do: it looks at no result; describe_host and check_host (unit/inspect.h) do.
 */
#ifndef TESTS_RELOAD_RELOAD_SUPPORT_H
#define TESTS_RELOAD_RELOAD_SUPPORT_H

#include "../fixtures/probes.h"
#include "../unit/inspect.h"
#include "../unit/support.h"
#include "../unit/zoo.h"

enum { SCENE_ENTITIES = 400 };

typedef struct scene_t {
    rig_t rig;
    bp_host_o *host;
    const bp_api_t *api;
    bp_world_o *world, *second; /* two worlds with the same components */
    bp_entity_t entities[SCENE_ENTITIES]; /* of the first; some have died */
} scene_t;

/* Put a fixture's file in the place of the plugin `as` in the scratch folder; its path, good until the next call. By
 * renaming, as linkers and moves do. */
const char *put_plugin(const char *fixture, const char *as);
const char *put_bytes(const void *bytes, size_t size, const char *as);

/* From now on plugins are put in that folder of the scratch folder, which exists. */
void put_into(const char *folder);

/* Set a variable of the environment, by which fixtures are told what to do; NULL takes it out. */
void put_environment(const char *name, const char *value);

/* Where the next version of tests/fixtures/crasher.h goes wrong, and how. */
void crash_next(const char *where, const char *how);

/* Rename a file, also where there is one of that name, and where that is a library at work. */
bool move_over(const char *from, const char *to);

/* The bytes of a fixture; the caller frees them. */
char *fixture_bytes(const char *fixture, size_t *size);

/* Two worlds with entities of many compositions, every value different, some of them dead but not collected; the plugin
 * "probe" is version `version` of reload_probe. */
void scene_open(scene_t *scene, int version); /* PROBE_FIRST ... of probes.h */

/* As scene_open, with one more plugin that is linked in, and loaded. */
void scene_open_with(scene_t *scene, int version, const bp_plugin_head_t *linked);
void scene_close(scene_t *scene);

/* Put version `version` of the probe in place and reload it. */
bp_result_t scene_reload(scene_t *scene, int version);

/* The fixture that has a version of the probe. */
const char *probe_fixture(int version);

/* A value of the probe of entity `i`, by names. */
float probe_f32(scene_t *scene, uint32_t i, const char *property);
double probe_f64(scene_t *scene, uint32_t i, const char *property);
int64_t probe_i64(scene_t *scene, uint32_t i, const char *property);
int32_t probe_i32(scene_t *scene, uint32_t i, const char *property);
bp_vec3_t probe_vec3(scene_t *scene, uint32_t i, const char *property);
const char *probe_text(scene_t *scene, uint32_t i, const char *property);
bp_entity_t probe_entity(scene_t *scene, uint32_t i, const char *property);

/* Has entity `i` a probe, and does it live? */
bool has_probe(scene_t *scene, uint32_t i);

/* Forget what the log has been told. */
void scene_clear_log(scene_t *scene);

#define EACH_PROBE(scene, i) for (uint32_t i = 0; i < SCENE_ENTITIES; i++) if (has_probe(scene, i))

#endif
