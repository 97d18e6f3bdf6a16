/* dump.h - a blob as text: for people, or as the JSON that the compiler reads.
 *
 * Text: a summary of the blob, then every entity with its components and values. JSON: a scene with the same entities,
 * components, values and parents; entities that others refer to are called e0, e1 ... by their numbers. Bytes that only
 * a manager can read are left out of the JSON and counted in the text.
 *
 * Not here: plugins; so a field that the blob leaves to its default is not shown.
 */
#ifndef HOST_SCENE_DUMP_H
#define HOST_SCENE_DUMP_H

#include "several.h"

/* Write a blob as text. The blob's names are interned, so that they have a text. Where memory fails the error is set;
 * the text may have begun. [main] */
bp_result_t dump_text(base_t *base, const blob_t *blob, const char *origin, const bp_text_sink_i *sink);
bp_result_t dump_json(base_t *base, const blob_t *blob, const bp_text_sink_i *sink);

/* The same of several worlds, `blobs` being one for each. Entities in several of them are told so, and are called s0,
 * s1 ... in the JSON. [main] */
bp_result_t dump_several(base_t *base, const several_t *several, const blob_t *blobs, const char *origin, bool json,
                         const bp_text_sink_i *sink);

#endif
