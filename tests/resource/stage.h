/* stage.h - a host to compile scenes with, and what came out as a text.
 *
 * The host has the components of zoo.h and two more: `pose` (who is the parent, where) and `tag` (what people call it).
 * Scenes are written with ' for ", so that they can be read in C.
 *
 * What it does not do: it spawns nothing.
 */
#ifndef TESTS_RESOURCE_STAGE_H
#define TESTS_RESOURCE_STAGE_H

#include "../unit/support.h"

typedef struct stage_t {
    rig_t rig;
    bp_host_o *host;
} stage_t;

void stage_open(stage_t *stage);

/* The host ends; its memory must be back and its log empty. */
void stage_close(stage_t *stage);

/* Compile a scene; it must work. */
bp_scene_o *stage_compile(stage_t *stage, const char *scene);

/* A scene that must fail with this sentence, which goes on or ends there. */
void stage_refuses(stage_t *stage, bp_result_t code, const char *scene, const char *sentence);

/* A blob as text, to be freed: a line an entity, "0: body(mass=2) fog:fx(colour=...) < 3\n", with what the blob says of
 * its fields alone and its parent. */
char *stage_describe(const bp_scene_o *scene);

/* The scene must give this text. */
void stage_expects(stage_t *stage, const char *scene, const char *text);

/* Put " for '. To be freed. */
char *stage_json(const char *scene);

#endif
