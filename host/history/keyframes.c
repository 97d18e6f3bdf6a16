/* keyframes.c - keyframes taken, put in their order, and dropped. */
#include "keyframes.h"

#include <inttypes.h>

void keyframe_store_init(keyframe_store_t *store, memory_t *memory)
{
    *store = (keyframe_store_t){.look_capacity = 0};
    pieces_init(&store->pieces, memory);
}

void keyframe_store_free(keyframe_store_t *store)
{
    memory_free(store->pieces.memory, store->looks, store->look_capacity * sizeof *store->looks);
    store->looks = NULL;
    store->look_capacity = 0;
    pieces_free(&store->pieces);
}

void keyframe_store_forget(keyframe_store_t *store)
{
    store->pieces.before = NULL;
}

/* --- one keyframe ------------------------------------------------------------------------------------------------- */

/* Room for the moment at which each world was looked at. */
static bool reserve_looks(keyframe_store_t *store, uint32_t worlds)
{
    uint32_t had = store->look_capacity;
    if (!memory_reserve(store->pieces.memory, &store->looks, &store->look_capacity, worlds, sizeof *store->looks))
        return false;
    if (store->look_capacity > had)
        memset(store->looks + had, 0, (store->look_capacity - had) * sizeof *store->looks);
    return true;
}

static bp_result_t refuse(const keyframe_store_t *store, const parts_t *parts)
{
    if (!store->pieces.full)
        return error_memory(&parts->base->error, "remembering a moment");
    return error_set(&parts->base->error, BP_ERROR_LIMIT,
                     "a keyframe takes about %zu bytes, and history has room for %" PRIu64, snapshot_measure(parts),
                     store->pieces.most);
}

bp_result_t keyframe_take(keyframe_store_t *store, const parts_t *parts, keyframe_t *keyframe)
{
    pieces_t *pieces = &store->pieces;
    uint32_t worlds = parts->destruction->world_count;
    if (!reserve_looks(store, worlds))
        return refuse(store, parts);
    pieces_begin(pieces, !store->doubted);
    bp_result_t result = snapshot_take_pieces(parts, pieces, store->looks);
    keyframe->cut = pieces_end(pieces);
    if (result == BP_OK && keyframe->cut == NULL)
        result = refuse(store, parts);
    if (result != BP_OK) {
        if (keyframe->cut != NULL)
            pieces_drop(pieces, keyframe->cut);
        return result;
    }
    for (uint32_t i = 0; i < worlds; i++)
        store->looks[i] = world_look(parts->destruction->worlds[i]);
    pieces->before = keyframe->cut;
    store->doubted = false;
    return BP_OK;
}

void keyframe_free(keyframe_store_t *store, keyframe_t *keyframe)
{
    pieces_drop(&store->pieces, keyframe->cut);
}

uint64_t keyframe_size(const keyframe_t *keyframe)
{
    uint64_t size = 0;
    for (uint32_t i = 0; i < keyframe->cut->part_count; i++)
        size += keyframe->cut->parts[i].size;
    return size;
}

bp_result_t keyframe_bring_back(keyframe_store_t *store, const parts_t *parts, const keyframe_t *keyframe)
{
    snapshot_t snapshot;
    memory_t *memory = store->pieces.memory;
    const cut_t *cut = keyframe->cut;
    const part_t *rest = &cut->parts[cut->part_count - 1]; /* PART_REST */
    void *bytes = memory_resize(memory, NULL, 0, (size_t)rest->size);
    if (bytes == NULL)
        return error_memory(&parts->base->error, "going to a moment");
    part_copy(cut, rest, bytes);
    bp_result_t result = snapshot_open_pieces(&snapshot, memory, &parts->base->error, cut, bytes, (size_t)rest->size);
    if (result == BP_OK) {
        result = snapshot_restore(parts, &snapshot);
        snapshot_close(&snapshot);
    }
    memory_free(memory, bytes, (size_t)rest->size);
    if (result == BP_OK)
        store->pieces.before = cut;
    store->doubted = true; /* all values have been written, most of them with the bytes of the keyframe */
    return result;
}

/* --- in their order ----------------------------------------------------------------------------------------------- */

void keyframes_init(keyframes_t *k, keyframe_store_t *store)
{
    *k = (keyframes_t){.store = store};
}

void keyframes_free(keyframes_t *k)
{
    while (k->count > 0)
        keyframes_drop(k, k->count - 1);
    memory_free(k->store->pieces.memory, k->items, k->capacity * sizeof *k->items);
    k->items = NULL;
    k->capacity = 0;
}

bool keyframes_reserve(keyframes_t *k)
{
    return memory_reserve(k->store->pieces.memory, &k->items, &k->capacity, k->count + UINT64_C(1), sizeof *k->items);
}

static bool is_behind(const keyframe_t *a, const keyframe_t *b)
{
    return a->moment > b->moment || (a->moment == b->moment && a->touched && !b->touched);
}

uint32_t keyframes_put(keyframes_t *k, const keyframe_t *keyframe)
{
    uint32_t at = k->count;
    while (at > 0 && is_behind(&k->items[at - 1], keyframe))
        at--;
    bool stays = keyframe->stays;
    if (at > 0 && !is_behind(keyframe, &k->items[at - 1])) {
        stays = stays || k->items[at - 1].stays;
        keyframes_drop(k, --at);
    }
    memmove(k->items + at + 1, k->items + at, (k->count - at) * sizeof *k->items);
    k->items[at] = *keyframe;
    k->items[at].stays = stays;
    k->count++;
    return at;
}

void keyframes_drop(keyframes_t *k, uint32_t at)
{
    keyframe_free(k->store, &k->items[at]);
    memmove(k->items + at, k->items + at + 1, (k->count - at - 1) * sizeof *k->items);
    k->count--;
}

bool keyframes_move(keyframes_t *from, uint32_t first, keyframes_t *to)
{
    uint32_t count = from->count - first;
    if (!memory_reserve(to->store->pieces.memory, &to->items, &to->capacity, to->count + (uint64_t)count,
                        sizeof *to->items))
        return false;
    if (count > 0)
        memcpy(to->items + to->count, from->items + first, count * sizeof *to->items);
    to->count += count;
    from->count = first;
    return true;
}

uint64_t keyframes_own(const keyframes_t *k)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < k->count; i++) {
        const cut_t *cut = k->items[i].cut;
        for (uint32_t p = 0; p < cut->piece_count; p++)
            bytes += cut->pieces[p]->users == 1 ? cut->pieces[p]->size : 0;
    }
    return bytes;
}

uint32_t keyframes_least_missed(const keyframes_t *k, uint64_t last)
{
    uint32_t least = BP_NONE;
    double score = 0;
    for (uint32_t i = 1; i + 1 < k->count; i++) {
        const keyframe_t *at = k->items + i;
        double gap = (double)(at[1].moment - at[-1].moment) + 1, age = (double)(last - at->moment) + 1;
        double mine = gap / age * (at->touched ? 1000 : 1);
        if (!at->stays && (least == BP_NONE || mine < score)) {
            least = i;
            score = mine;
        }
    }
    return least;
}

const keyframe_t *keyframes_touched(const keyframes_t *k, uint64_t moment)
{
    for (uint32_t i = k->count; i > 0; i--) {
        if (k->items[i - 1].moment == moment && k->items[i - 1].touched)
            return &k->items[i - 1];
    }
    return NULL;
}
