/* pieces.c - cutting, comparing and holding. */
#include "pieces.h"

#include "../os/os.h"

void pieces_init(pieces_t *p, memory_t *memory)
{
    *p = (pieces_t){.memory = memory, .most = UINT64_MAX};
    bytes_init(&p->rest, memory);
    bytes_init(&p->coded, memory);
}

/* Count the rooms as they are now. */
static void count_rooms(pieces_t *p)
{
    uint64_t rooms = p->part_capacity * sizeof *p->parts + p->piece_capacity * sizeof *p->pieces + p->rest.room +
                     p->coded.room;
    p->bytes = p->bytes - p->rooms + rooms;
    p->rooms = rooms;
}

void pieces_free(pieces_t *p)
{
    bytes_free(&p->rest);
    bytes_free(&p->coded);
    memory_free(p->memory, p->parts, p->part_capacity * sizeof *p->parts);
    memory_free(p->memory, p->pieces, p->piece_capacity * sizeof *p->pieces);
    p->parts = NULL;
    p->pieces = NULL;
    p->part_capacity = p->piece_capacity = 0;
    count_rooms(p);
    pieces_trim(p, 0);
}

/* --- pieces ------------------------------------------------------------------------------------------------------- */

/* May so many bytes more be taken? */
static bool may_take(pieces_t *p, uint64_t bytes)
{
    if (p->bytes + p->spare_bytes + bytes <= p->most || (p->make_room != NULL && p->make_room(p->context, bytes)))
        return true;
    p->full = true;
    return false;
}

static piece_t **spare_of(pieces_t *p, uint32_t size)
{
    return &p->spare[size / 512 % PIECE_CLASSES];
}

static void let_go(pieces_t *p, piece_t *piece)
{
    if (--piece->users > 0)
        return;
    piece_t **spare = spare_of(p, piece->size);
    piece->spare.next = *spare;
    *spare = piece;
    p->bytes -= sizeof *piece + piece->size;
    p->spare_bytes += sizeof *piece + piece->size;
}

void pieces_trim(pieces_t *p, uint64_t most)
{
    for (uint32_t i = 0; i < PIECE_CLASSES && p->spare_bytes > most; i++) {
        for (piece_t *piece = p->spare[i]; piece != NULL && p->spare_bytes > most; piece = p->spare[i]) {
            p->spare[i] = piece->spare.next;
            p->spare_bytes -= sizeof *piece + piece->size;
            memory_free(p->memory, piece, sizeof *piece + piece->size);
        }
    }
}

/* A spare piece of that size; NULL: there is none at hand. */
static piece_t *take_spare(pieces_t *p, uint32_t size)
{
    piece_t **spare = spare_of(p, size), *piece = *spare;
    if (piece == NULL || piece->size != size)
        return NULL;
    *spare = piece->spare.next;
    p->spare_bytes -= sizeof *piece + size;
    return piece;
}

static piece_t *make_piece(pieces_t *p, const char *bytes, uint32_t size)
{
    piece_t *piece = take_spare(p, size);
    if (piece == NULL && !may_take(p, sizeof *piece + size))
        return NULL;
    if (piece == NULL)
        piece = take_spare(p, size); /* making room may have made one */
    if (piece == NULL)
        piece = memory_resize(p->memory, NULL, 0, sizeof *piece + size);
    if (piece == NULL) {
        p->no_memory = true;
        return NULL;
    }
    *piece = (piece_t){.users = 1, .size = size};
    if (p->large)
        os_copy_away(piece_bytes(piece), bytes, size);
    else
        memcpy(piece_bytes(piece), bytes, size);
    p->bytes += sizeof *piece + size;
    return piece;
}

/* --- parts -------------------------------------------------------------------------------------------------------- */

static bool is_failed(const pieces_t *p)
{
    return p->no_memory || p->full;
}

void pieces_begin(pieces_t *p, bool trust)
{
    p->part_count = p->piece_count = p->at = 0;
    p->trust = trust;
    p->no_memory = p->full = false;
}

static bool comes_before(const part_key_t *a, const part_key_t *b)
{
    if (a->world != b->world)
        return a->world < b->world;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    return a->item != b->item ? a->item < b->item : a->column < b->column;
}

/* The part of the same key as it was before; NULL: there was none, or one of another mark or of other pieces. */
static const part_t *part_before(pieces_t *p, const part_t *part)
{
    const cut_t *before = p->before;
    while (before != NULL && p->at < before->part_count && comes_before(&before->parts[p->at].key, &part->key))
        p->at++;
    if (before == NULL || p->at == before->part_count)
        return NULL;
    const part_t *was = &before->parts[p->at];
    return memcmp(&was->key, &part->key, sizeof was->key) == 0 && was->mark == part->mark &&
           (was->stride == part->stride || part->stride == 0) ? was : NULL;
}

/* Make room for a part and its pieces. */
static bool reserve(pieces_t *p, uint32_t count)
{
    uint64_t parts = p->part_count + UINT64_C(1), pieces = p->piece_count + (uint64_t)count;
    uint64_t grown = (parts > p->part_capacity ? 2 * parts * sizeof *p->parts : 0) +
                     (pieces > p->piece_capacity ? 2 * pieces * sizeof *p->pieces : 0);
    if (is_failed(p) || !may_take(p, grown))
        return false;
    p->no_memory = !memory_reserve(p->memory, &p->parts, &p->part_capacity, parts, sizeof *p->parts) ||
                   !memory_reserve(p->memory, &p->pieces, &p->piece_capacity, pieces, sizeof *p->pieces);
    count_rooms(p);
    return !p->no_memory;
}

static uint32_t pieces_of(uint64_t size, uint32_t stride)
{
    return (uint32_t)((size + stride - 1) / stride);
}

static uint32_t size_of_piece(const part_t *part, uint32_t i)
{
    uint64_t left = part->size - (uint64_t)i * part->stride;
    return left < part->stride ? (uint32_t)left : part->stride;
}

/* A piece of the part as it was, where that has the same size; else NULL. */
static piece_t *same_place(const pieces_t *p, const part_t *was, uint32_t i, uint32_t size)
{
    piece_t *piece = was != NULL && p->before != NULL && i < was->count ? p->before->pieces[was->first + i] : NULL;
    return piece != NULL && piece->size == size ? piece : NULL;
}

/* Share the piece of the earlier part, or make one. Making room may drop the keyframe that is compared with: then
 * `before` is NULL. */
static void add_piece(pieces_t *p, const part_t *was, uint32_t i, const char *bytes, uint32_t size, bool same)
{
    piece_t *piece = is_failed(p) ? NULL : same_place(p, was, i, size);
    if (piece != NULL && (same || memcmp(piece_bytes(piece), bytes, size) == 0))
        piece->users++;
    else
        piece = is_failed(p) ? NULL : make_piece(p, bytes, size);
    if (piece != NULL)
        p->pieces[p->piece_count++] = piece;
}

static uint32_t put(pieces_t *p, part_t part, const char *bytes, const stamps_t *stamps, uint64_t since, uint32_t cell)
{
    part.first = p->piece_count;
    part.count = pieces_of(part.size, part.stride);
    if (!reserve(p, part.count))
        return 0;
    p->large = part.size >= PART_LARGE;
    const part_t *was = part_before(p, &part);
    const uint16_t columns[1] = {(uint16_t)part.key.column};
    bool stamped = stamps != NULL && p->trust && was != NULL;
    uint32_t rows = cell == 0 ? 0 : (uint32_t)(part.size / cell), next = 0, end = 0; /* rows written lately */
    for (uint32_t i = 0; i < part.count; i++) {
        uint64_t from = (uint64_t)i * part.stride;
        uint32_t size = size_of_piece(&part, i);
        while (stamped && next != BP_NONE && end <= from / cell) {
            uint32_t count;
            next = stamps_next(stamps, columns, part.key.column > 0, since, (uint32_t)(from / cell), rows, &count);
            end = next == BP_NONE ? rows : next + count;
        }
        bool same = stamped && (next == BP_NONE || next >= (from + size) / cell);
        add_piece(p, p->before == NULL ? NULL : was, i, bytes + from, size, same);
    }
    if (!is_failed(p))
        p->parts[p->part_count] = part;
    return is_failed(p) ? 0 : p->part_count++;
}

/* The bytes of a piece of a part of so many bytes: twice as many, until there are not too many pieces. */
static uint32_t stride_of(uint64_t size, uint32_t least)
{
    uint32_t stride = least;
    while (size / stride > PART_PIECES)
        stride *= 2;
    return stride;
}

uint32_t pieces_put(pieces_t *p, part_key_t key, uint32_t mark, const void *bytes, size_t size)
{
    part_t part = {.key = key, .mark = mark, .size = size, .stride = stride_of(size, PIECE_BYTES)};
    return put(p, part, bytes, NULL, 0, 0);
}

uint32_t pieces_put_column(pieces_t *p, part_key_t key, uint32_t mark, const char *cells, uint32_t rows,
                           uint32_t cell, const stamps_t *stamps, uint64_t since)
{
    uint32_t block = cell * BP_STAMP_ROWS;
    part_t part = {.key = key, .mark = mark, .size = (uint64_t)rows * cell};
    part.stride = stride_of(part.size, (PIECE_BYTES + block - 1) / block * block);
    return put(p, part, cells, stamps, since, cell);
}

bool pieces_repeat(pieces_t *p, part_key_t key, uint32_t mark, uint32_t *number)
{
    part_t part = {.key = key, .mark = mark};
    const part_t *was = is_failed(p) || !p->trust ? NULL : part_before(p, &part);
    *number = 0;
    if (was == NULL || !reserve(p, was->count) || p->before == NULL)
        return false;
    part = *was;
    part.first = p->piece_count;
    for (uint32_t i = 0; i < was->count; i++) {
        piece_t *piece = p->before->pieces[was->first + i];
        piece->users++;
        p->pieces[p->piece_count++] = piece;
    }
    *number = p->part_count;
    p->parts[p->part_count++] = part;
    return true;
}

/* --- cuts --------------------------------------------------------------------------------------------------------- */

static size_t size_of_cut(uint32_t parts, uint32_t pieces)
{
    return sizeof(cut_t) + parts * sizeof(part_t) + pieces * sizeof(piece_t *);
}

static cut_t *make_cut(pieces_t *p)
{
    size_t size = size_of_cut(p->part_count, p->piece_count);
    cut_t *cut = is_failed(p) || !may_take(p, size) ? NULL : memory_resize(p->memory, NULL, 0, size);
    if (cut == NULL) {
        p->no_memory = p->no_memory || !p->full;
        return NULL;
    }
    *cut = (cut_t){.part_count = p->part_count, .piece_count = p->piece_count};
    cut->parts = (part_t *)(void *)(cut + 1);
    cut->pieces = (piece_t **)(void *)(cut->parts + cut->part_count);
    if (p->part_count > 0)
        memcpy(cut->parts, p->parts, p->part_count * sizeof *p->parts);
    if (p->piece_count > 0)
        memcpy(cut->pieces, p->pieces, p->piece_count * sizeof *p->pieces);
    p->bytes += size;
    return cut;
}

cut_t *pieces_end(pieces_t *p)
{
    count_rooms(p);
    cut_t *cut = make_cut(p);
    for (uint32_t i = 0; cut == NULL && i < p->piece_count; i++)
        let_go(p, p->pieces[i]);
    p->part_count = p->piece_count = 0;
    return cut;
}

void pieces_drop(pieces_t *p, cut_t *cut)
{
    size_t size = size_of_cut(cut->part_count, cut->piece_count);
    if (p->before == cut)
        p->before = NULL;
    for (uint32_t i = 0; i < cut->piece_count; i++)
        let_go(p, cut->pieces[i]);
    p->bytes -= size;
    memory_free(p->memory, cut, size);
}

void part_copy(const cut_t *cut, const part_t *part, void *to)
{
    char *at = to;
    for (uint32_t i = 0; i < part->count; i++) {
        const piece_t *piece = cut->pieces[part->first + i];
        memcpy(at, piece_bytes(piece), piece->size);
        at += piece->size;
    }
}

bool part_is(const cut_t *cut, const part_t *part, const void *bytes)
{
    const char *at = bytes;
    for (uint32_t i = 0; i < part->count; i++) {
        const piece_t *piece = cut->pieces[part->first + i];
        if (memcmp(at, piece_bytes(piece), piece->size) != 0)
            return false;
        at += piece->size;
    }
    return true;
}
