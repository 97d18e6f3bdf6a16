/* pieces.h - the bytes of a keyframe, cut into pieces that are shared with other keyframes.
 *
 * A *part* is a stretch of bytes with a key that says what they are: a column of a run, a state. A part is cut from its
 * beginning into pieces of one size. Where a keyframe is taken after another one, the part of the same key is looked at
 * piece by piece: a piece that has not been written since (store/stamps.h), or that has been written with the same
 * bytes, is held by both keyframes, and freed with the last of them. So a keyframe takes memory only for changed
 * pieces, and, where there are stamps, time only for those.
 *
 * Parts come in the order of their keys, in every keyframe.
 *
 * Pieces that no keyframe holds any more are spare: the next pieces of that size reuse them, so that a past with a full
 * budget allocates no memory. pieces_trim frees spare pieces where their memory is needed elsewhere.
 *
 * Invariant: `bytes` of a store is what all pieces, tables and the rooms for taking the next keyframe take, without
 * what is spare.
 *
 * Not here: what parts mean (snapshot.c), and which keyframes there are (keyframes.h).
 */
#ifndef HOST_HISTORY_PIECES_H
#define HOST_HISTORY_PIECES_H

#include "../base/bytes.h"
#include "../store/stamps.h"

enum {
    PIECE_CLASSES = 16,
    PIECE_BYTES = 4096, /* at least, but for the last piece of a part; whole blocks of stamps of a column */
    PART_PIECES = 1024, /* beyond so many, pieces are twice as large */
    PART_LARGE = 1 << 20, /* bytes; pieces of larger parts are copied past the caches */
    PART_LEAST = 1024   /* bytes; smaller parts are written down with what is not cut */
};

/* In front of the bytes of a piece, which lie at a multiple of 16. */
typedef struct piece_t {
    uint32_t users, size;
    union { struct piece_t *next; uint64_t padding; } spare; /* the next spare piece */
} piece_t;

static inline char *piece_bytes(const piece_t *piece)
{
    return (char *)(uintptr_t)(piece + 1);
}

/* What parts are of, in the order in which snapshots write them. */
enum { PART_IDS, PART_PLUGIN, PART_MANAGER, PART_RUN, PART_UNIT, PART_REST };

typedef struct part_key_t {
    uint32_t world; /* its number from 1 on; 0: of the host; BP_NONE: PART_REST */
    uint32_t kind;  /* PART_... */
    uint32_t item, column;
} part_key_t;

typedef struct part_t {
    part_key_t key;
    uint64_t size;         /* of all pieces together */
    uint32_t stride;       /* of each piece but the last */
    uint32_t first, count; /* its pieces */
    uint32_t mark;         /* a part of another mark is another part */
} part_t;

/* All parts of one keyframe, in one block. */
typedef struct cut_t {
    part_t *parts;
    piece_t **pieces;
    uint32_t part_count, piece_count;
} cut_t;

typedef struct pieces_t {
    memory_t *memory;
    uint64_t bytes, spare_bytes, most;
    piece_t *spare[PIECE_CLASSES]; /* by size */
    /* Make room for so many bytes more than `most`, or answer no. */
    bool (*make_room)(void *context, uint64_t bytes);
    void *context;
    const cut_t *before; /* the keyframe that the next one is compared with; NULL: none */

    /* While parts are being cut: */
    bytes_t rest;        /* the bytes that are not cut, written by the caller (snapshot.c) */
    bytes_t coded;       /* a column on its way into pieces: likewise */
    part_t *parts;
    piece_t **pieces;
    uint32_t part_count, part_capacity, piece_count, piece_capacity;
    uint32_t at;         /* the part of `before` that comes next */
    bool trust;          /* every write since the last keyframe has a stamp */
    bool no_memory, full, large; /* large: the part under way is */
    uint64_t rooms;      /* of these, as far as they are counted in `bytes` */
} pieces_t;

void pieces_init(pieces_t *pieces, memory_t *memory);

/* Free the rooms for taking keyframes, and what is spare. */
void pieces_free(pieces_t *pieces);

/* Free spare pieces until they take at most so many bytes. */
void pieces_trim(pieces_t *pieces, uint64_t most);

/* Begin to cut parts; where not `trust`, values may have been written without a stamp. */
void pieces_begin(pieces_t *pieces, bool trust);

/* The parts that have been cut since; NULL when out of memory, or where there was no room: nothing is held then. */
cut_t *pieces_end(pieces_t *pieces);
void pieces_drop(pieces_t *pieces, cut_t *cut);

/* Cut bytes. Returns the number of the part. A failure shows at the end. */
uint32_t pieces_put(pieces_t *pieces, part_key_t key, uint32_t mark, const void *bytes, size_t size);

/* Cut a column; `stamps` say what was written after the moment `since`; NULL: all of it may have been. */
uint32_t pieces_put_column(pieces_t *pieces, part_key_t key, uint32_t mark, const char *cells, uint32_t rows,
                           uint32_t cell, const stamps_t *stamps, uint64_t since);

/* Take a part as it was before, where there is one. False: there is none. */
bool pieces_repeat(pieces_t *pieces, part_key_t key, uint32_t mark, uint32_t *number);

/* Copy all bytes of a part. */
void part_copy(const cut_t *cut, const part_t *part, void *to);

/* Are these the bytes of the part? */
bool part_is(const cut_t *cut, const part_t *part, const void *bytes);

#endif
