/* recording.h - a host's past in a file: written as the host goes on, and read back.
 *
 * A file is a row of chunks, each with a checksum over itself and the checksum of the one before: so a chunk is good
 * only behind the chunks that it was written behind, and the old chunks of a file that was cut and written on are never
 * taken for its end. A process that is killed leaves a file of which all chunks but perhaps the last are good.
 *
 *     head       version, order of bytes, the ini, the program
 *     names      the texts of all names interned by now; before what needs them
 *     keyframe   a moment, the hash of the host, and its state or the differences from the keyframe before; a flag says
 *                whether the state must be brought back, or equals the computed one
 *     calls      a moment, and calls of the journal that came there
 *     steps      the moment of the first of them, then worlds and how many steps of each
 *     parts      the makeup of the host from here on (eras.h), with the files of its plugins: before the keyframe
 *                behind which the makeup differs. Before the first of these comes one for the beginning. A recording
 *                without any is played with the makeup of the host that plays it
 *
 * A moment of a recording is the number of steps taken in it, from that of its first keyframe on; a host that goes to
 * another moment of its past goes on counting here, behind a keyframe that must be brought back.
 *
 * A keyframe that has the size of the one before is written as those blocks of its bytes that differ, and whole after
 * RECORDING_DELTAS such keyframes. Keyframes come so seldom that the file grows by RECORDING_RATE bytes a second at
 * most beside steps and calls: resuming computes the steps after the last keyframe again, and loses none of them.
 * Written chunks are brought to the disk every RECORDING_SYNC_MS.
 *
 * A failed write ends the recording with one sentence in the log; the host goes on.
 *
 * Not here: when keyframes and calls come (history.c), taking steps (playback.h).
 */
#ifndef HOST_HISTORY_RECORDING_H
#define HOST_HISTORY_RECORDING_H

#include "eras.h"
#include "restore.h"

#include <stdio.h>

#define RECORDING_MAGIC "BKPPREC"

enum {
    RECORDING_VERSION = 5,
    RECORDING_OLDEST = 4,          /* the oldest version that can be read: hosts of older ones gave out other ids after
                                      many deaths, so that their steps cannot be taken again */
    RECORDING_KEYFRAME_MS = 10000, /* from keyframe to keyframe, at least, unless said otherwise; and ... */
    RECORDING_RATE = 40000,        /* ... so long that keyframes take so many bytes a second; and ... */
    RECORDING_DELTAS = 15,
    RECORDING_BLOCK = 4096,        /* bytes that are compared, and written where they differ */
    RECORDING_SYNC_MS = 10000,
    RECORDING_SHARE = 40,          /* ... so many times what the last one took */
    RECORDING_FLUSH_MS = 1000      /* steps that are not written yet are so old at most */
};

enum { CHUNK_HEAD = 1, CHUNK_NAMES, CHUNK_KEYFRAME, CHUNK_CALLS, CHUNK_STEPS, CHUNK_PARTS };

enum {
    CHUNK_BRING_BACK = 1u << 0, /* of a keyframe: its state cannot be computed */
    CHUNK_LOST = 1u << 3,       /* of such a keyframe: the step before cannot be computed again (touch_t.lost); of
                                   steps, which are one then: such a keyframe is to follow */
    CHUNK_BEGINNING = 1u << 2,  /* of parts: from the beginning */
    CHUNK_DELTA = 1u << 1       /* of a keyframe: what differs from the one before, stretch by stretch: where it begins
                                   and how long it is, then its bytes */
};

/* In front of each chunk. The bytes of the chunk follow, padded with zeros to a multiple of 16. */
typedef struct chunk_t {
    char magic[8];
    uint32_t kind, flags;
    uint64_t moment;
    uint64_t hash; /* of a keyframe's host */
    uint64_t size; /* of the bytes behind this head, without padding */
    uint64_t sum;
} chunk_t;

/* So many steps of a world, or of all (BP_NONE). */
typedef struct chunk_steps_t {
    uint32_t world, count;
} chunk_steps_t;

typedef struct recording_t {
    const parts_t *parts;
    memory_t *memory;
    FILE *file;
    bytes_t beginning;         /* bytes that are written before there is a file */
    char *path;
    uint64_t moment;
    uint64_t sum;              /* of the last chunk */
    bytes_t steps;             /* chunk_steps_t, not yet written */
    uint64_t steps_from;       /* the moment of the first of them */
    bool step_lost;            /* they are one, which cannot be computed again */
    bytes_t keyframe, before;  /* room for the next one; the last one */
    bytes_t delta;             /* room */
    uint32_t deltas;           /* since the last whole keyframe */
    uint64_t keyframe_size;    /* of the last one */
    uint64_t written;          /* bytes of the last one in the file */
    uint32_t interval_ms;      /* from keyframe to keyframe; 0: one after each step */
    uint64_t keyframe_at, took, flushed_at, synced_at; /* ns */
    uint32_t names;            /* written by now */
    bool elsewhere;            /* the host has been brought to another moment */
    const makers_t *makers;
    makeup_t *made;            /* the makeup that the end of the file has; NULL: makeups are not kept */
    bool parts_written;        /* `made` is in the file */
} recording_t;

/* Begin a file, in the place of one that is there, which stays whole where this fails; `origin` is the text of the ini
 * that the host was set up from. `makers` outlive the recording. Errors: IO, memory, those of a snapshot. [main],
 * between steps */
bp_result_t recording_begin(recording_t *recording, const parts_t *parts, const makers_t *makers, memory_t *memory,
                            const char *path, const char *origin, uint64_t moment);

/* End the recording: nothing is written after this. Errors: IO. */
bp_result_t recording_finish(recording_t *recording);

/* Is something being recorded? */
static inline bool recording_is_on(const recording_t *recording)
{
    return recording->file != NULL;
}

/* Before a step: write the calls that have come; or write a keyframe, with CHUNK_BRING_BACK and CHUNK_LOST or
 * neither. */
void recording_calls(recording_t *recording, const bytes_t *calls);
void recording_keyframe(recording_t *recording, uint32_t flags);

/* Note a step that has been taken; `lost`: it cannot be computed again, and a keyframe with CHUNK_LOST comes next. */
void recording_step(recording_t *recording, uint32_t world, bool lost);

/* --- reading ------------------------------------------------------------------------------------------------------ */

typedef struct recorded_t {
    const char *bytes;   /* mapped */
    size_t size, good;   /* of the file; of its whole chunks */
    uint64_t first, last; /* moments */
    uint64_t sum;        /* of the last good chunk */
    uint32_t keyframes;
    uint32_t parts;      /* chunks of that kind */
    const char *origin;
} recorded_t;

/* Open a file and look at all its chunks, up to the first that is not good. BP_ERROR_SYNTAX where the file is no
 * recording, or not even its first keyframe is whole; IO. [main] */
bp_result_t recorded_open(recorded_t *recorded, const char *path, error_text_t *error);
void recorded_close(recorded_t *recorded);

/* The bytes of a keyframe, put together from the last whole one and what differs since. BP_ERROR_SYNTAX where these do
 * not fit together; memory. [main] */
bp_result_t recorded_keyframe(const recorded_t *recorded, const chunk_t *keyframe, bytes_t *bytes, error_text_t *error);

/* The moment of the `index`-th keyframe; `last` where there is none. */
uint64_t recorded_keyframe_moment(const recorded_t *recorded, uint32_t index);

/* Pass over what comes after a moment, or after the last one before it at which the file can be ended; at least the
 * first keyframe is left. Returns that moment. The file stays as it is. */
uint64_t recorded_cut(recorded_t *recorded, uint64_t moment);

/* Is the next chunk behind `at`, beside names and parts, a keyframe behind a lost step (CHUNK_LOST)? */
bool recorded_lost(const recorded_t *recorded, size_t at);

/* Is the state of that moment the one of such a keyframe? */
bool recorded_lost_before(const recorded_t *recorded, uint64_t moment);

/* The chunk at `*at`, which is moved behind it; NULL at the end of the good chunks. */
const chunk_t *recorded_next(const recorded_t *recorded, size_t *at);

/* Read the makeups of the recorded host, and from when on it had them: eras[0] from the beginning, then one for each
 * further chunk of parts; none where there are no such chunks. `eras` is empty before, with its makers; on an error it
 * is empty again. Errors: SYNTAX, STATE where this host has other plugins, IO, memory. [main] */
bp_result_t recorded_eras(const recorded_t *recorded, eras_t *eras, error_text_t *error);

/* The era of a chunk; NULL where there are no eras. */
const era_t *recorded_era(const recorded_t *recorded, const eras_t *eras, const chunk_t *chunk);

/* The bytes behind the head of a chunk. */
static inline const void *chunk_bytes(const chunk_t *chunk)
{
    return chunk + 1;
}

/* Go on writing behind the good chunks of a file that has been played to its end. Errors: IO, memory. [main] */
bp_result_t recording_resume(recording_t *recording, const parts_t *parts, const makers_t *makers, memory_t *memory,
                             const char *path, const recorded_t *recorded);

#endif
