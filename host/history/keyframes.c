/* keyframes.c - keyframes taken, put in their order, and dropped. */
#include "keyframes.h"

void keyframes_init(keyframes_t *k, memory_t *memory)
{
    *k = (keyframes_t){.memory = memory};
}

void keyframes_free(keyframes_t *k)
{
    while (k->count > 0)
        keyframes_drop(k, k->count - 1);
    memory_free(k->memory, k->items, k->capacity * sizeof *k->items);
    k->items = NULL;
    k->capacity = 0;
}

/* --- one keyframe ------------------------------------------------------------------------------------------------- */

bp_result_t keyframe_take(keyframes_t *k, const parts_t *parts, keyframe_t *keyframe)
{
    bytes_init(&keyframe->bytes, k->memory);
    bp_result_t result = snapshot_take(parts, &keyframe->bytes);
    if (result == BP_OK)
        bytes_fit(&keyframe->bytes);
    else
        bytes_free(&keyframe->bytes);
    return result;
}

void keyframe_free(keyframe_t *keyframe)
{
    bytes_free(&keyframe->bytes);
}

uint64_t keyframe_room(const keyframe_t *keyframe)
{
    return keyframe->bytes.room;
}

uint64_t keyframe_size(const keyframe_t *keyframe)
{
    return keyframe->bytes.size;
}

bp_result_t keyframe_bring_back(const parts_t *parts, const keyframe_t *keyframe)
{
    snapshot_t snapshot;
    bp_result_t result = snapshot_open(&snapshot, keyframe->bytes.memory, &parts->base->error, keyframe->bytes.start,
                                       keyframe->bytes.size);
    if (result != BP_OK)
        return result;
    result = snapshot_restore(parts, &snapshot);
    snapshot_close(&snapshot);
    return result;
}

/* --- in their order ----------------------------------------------------------------------------------------------- */

bool keyframes_reserve(keyframes_t *k)
{
    return memory_reserve(k->memory, &k->items, &k->capacity, k->count + UINT64_C(1), sizeof *k->items);
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
    if (at > 0 && !is_behind(keyframe, &k->items[at - 1]))
        keyframes_drop(k, --at);
    memmove(k->items + at + 1, k->items + at, (k->count - at) * sizeof *k->items);
    k->items[at] = *keyframe;
    k->count++;
    k->bytes += keyframe_room(keyframe);
    return at;
}

void keyframes_drop(keyframes_t *k, uint32_t at)
{
    k->bytes -= keyframe_room(&k->items[at]);
    keyframe_free(&k->items[at]);
    memmove(k->items + at, k->items + at + 1, (k->count - at - 1) * sizeof *k->items);
    k->count--;
}

uint32_t keyframes_least_missed(const keyframes_t *k, uint64_t last)
{
    uint32_t least = BP_NONE;
    double score = 0;
    for (uint32_t i = 1; i + 1 < k->count; i++) {
        const keyframe_t *at = k->items + i;
        double gap = (double)(at[1].moment - at[-1].moment) + 1, age = (double)(last - at->moment) + 1;
        double mine = gap / age * (at->touched ? 1000 : 1);
        if (least == BP_NONE || mine < score) {
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
