/* branches.c - pieces taken off the line, and put back. */
#include "branches.h"

#include "history_inner.h"
#include "journal.h"

#include <string.h>

static void free_touch(history_t *h, touch_t *touch)
{
    memory_free(&h->memory, touch->calls, touch->size);
    memory_free(&h->memory, touch->inputs, touch->input_size);
}

uint64_t branch_bytes(const branch_t *b)
{
    uint64_t bytes = sizeof *b + taken_room(&b->taken) + b->touch_count * sizeof *b->touches +
                     keyframes_room(&b->keyframes) + b->mark_count * sizeof *b->marks +
                     b->stretch_count * sizeof *b->stretches;
    for (uint32_t i = 0; i < b->touch_count; i++)
        bytes += b->touches[i].size + b->touches[i].input_size;
    return bytes;
}

void branch_init(branch_t *b, history_t *h, uint64_t fork, uint64_t last)
{
    *b = (branch_t){.fork = fork, .last = last};
    keyframes_init(&b->keyframes, &h->store);
    taken_init(&b->taken, &h->memory);
    eras_init(&b->eras, &h->memory);
    b->eras.makers = h->eras.makers;
}

/* Free the lists, but not the calls, which are elsewhere or have been freed. */
static void free_lists(history_t *h, branch_t *b)
{
    memory_t *memory = &h->memory;
    keyframes_free(&b->keyframes);
    taken_free(&b->taken);
    eras_free(&b->eras);
    memory_free(memory, b->touches, b->touches == NULL ? 0 : b->touch_count * sizeof *b->touches);
    memory_free(memory, b->marks, b->marks == NULL ? 0 : b->mark_count * sizeof *b->marks);
    memory_free(memory, b->stretches, b->stretches == NULL ? 0 : b->stretch_count * sizeof *b->stretches);
}

void branch_free(branch_t *b, history_t *h)
{
    for (uint32_t i = 0; b->touches != NULL && i < b->touch_count; i++)
        free_touch(h, &b->touches[i]);
    free_lists(h, b);
}

static uint32_t place_of(const history_t *h, uint64_t number)
{
    uint32_t at = 0;
    while (at < h->branch_count && branch_number(&h->branches[at]) != number)
        at++;
    return at;
}

branch_t *branches_find(const history_t *h, uint64_t number)
{
    uint32_t at = place_of(h, number);
    return at < h->branch_count ? &h->branches[at] : NULL;
}

static void take_out(history_t *h, uint32_t at)
{
    h->branch_count--;
    memmove(h->branches + at, h->branches + at + 1, (h->branch_count - at) * sizeof *h->branches);
}

void branches_drop(history_t *h, uint64_t number)
{
    uint32_t at = place_of(h, number);
    if (at == h->branch_count)
        return;
    branch_t gone = h->branches[at];
    take_out(h, at);
    for (uint32_t i = h->branch_count; i > 0; i--) {
        if (i <= h->branch_count && h->branches[i - 1].parent == number)
            branches_drop(h, branch_number(&h->branches[i - 1]));
    }
    branch_free(&gone, h);
}

void branches_forget(history_t *h)
{
    while (h->branch_count > 0)
        branch_free(&h->branches[--h->branch_count], h);
}

bool branches_make_room(history_t *h)
{
    if (h->branch_count == 0)
        return false;
    branches_drop(h, branch_number(&h->branches[0]));
    return true;
}

bool branches_keep(history_t *h, const branch_t *branch)
{
    if (!memory_reserve(&h->memory, &h->branches, &h->branch_capacity, h->branch_count + 1u, sizeof *h->branches))
        return false;
    h->branches[h->branch_count++] = *branch;
    return true;
}

/* --- the line's numbers ------------------------------------------------------------------------------------------- */

static void add_stretch(history_t *h, stretch_t stretch)
{
    if (h->stretch_count > 0 && h->stretches[h->stretch_count - 1].number == stretch.number)
        return;
    if (memory_reserve(&h->memory, &h->stretches, &h->stretch_capacity, h->stretch_count + 1u, sizeof *h->stretches))
        h->stretches[h->stretch_count++] = stretch;
    else if (h->stretch_count > 0) /* no memory: the stretch before loses its number */
        h->stretches[h->stretch_count - 1] = stretch;
}

void branches_begin(history_t *h)
{
    while (h->stretch_count > 0 && h->stretches[h->stretch_count - 1].from >= h->now)
        h->stretch_count--;
    add_stretch(h, (stretch_t){++h->numbers, h->now});
}

void branches_drop_old(history_t *h)
{
    uint32_t old = 0;
    while (old + 1 < h->stretch_count && h->stretches[old + 1].from < h->first)
        old++;
    if (old <= OLD_STRETCHES)
        return;
    uint32_t gone = old - OLD_STRETCHES;
    h->stretch_count -= gone;
    memmove(h->stretches, h->stretches + gone, h->stretch_count * sizeof *h->stretches);
}

bool branches_holds(const history_t *h, uint64_t number, uint64_t moment)
{
    for (uint32_t i = 0; i < h->stretch_count; i++) {
        uint64_t end = i + 1 < h->stretch_count ? h->stretches[i + 1].from : h->last;
        if (h->stretches[i].number == number)
            return moment >= h->stretches[i].from && moment <= end && moment <= h->now;
    }
    return false;
}

/* --- off the line ------------------------------------------------------------------------------------------------- */

static void *copy(history_t *h, const void *items, size_t size, bool *good)
{
    void *copied = size == 0 ? NULL : memory_resize(&h->memory, NULL, 0, size);
    if (copied != NULL)
        memcpy(copied, items, size);
    *good = *good && (size == 0 || copied != NULL);
    return copied;
}

/* How much of the line stays. */
typedef struct stay_t {
    uint64_t moment;
    uint32_t keyframes, touches, stretches;
} stay_t;

static stay_t find_cut(const history_t *h, uint64_t moment)
{
    const keyframe_t *k = h->keyframes.items;
    stay_t cut = {moment, h->keyframes.count, h->touch_count, h->stretch_count};
    while (cut.keyframes > 0 && (k[cut.keyframes - 1].moment > moment ||
                                 (k[cut.keyframes - 1].moment == moment && k[cut.keyframes - 1].touched)))
        cut.keyframes--;
    while (cut.touches > 0 && h->touches[cut.touches - 1].moment >= moment)
        cut.touches--;
    while (cut.stretches > 0 && h->stretches[cut.stretches - 1].from >= moment)
        cut.stretches--;
    return cut;
}

static bool copy_stretches(history_t *h, branch_t *b, const stay_t *cut)
{
    bool good = true;
    uint32_t more = h->stretch_count - cut->stretches;
    bool begins = more > 0 && h->stretches[cut->stretches].from == cut->moment;
    if (begins) {
        b->stretch_count = more;
        b->stretches = copy(h, h->stretches + cut->stretches, more * sizeof *b->stretches, &good);
        return good;
    }
    if (cut->stretches == 0)
        return false;
    b->stretch_count = more + 1;
    b->stretches = copy(h, h->stretches + cut->stretches - 1, (more + 1) * sizeof *b->stretches, &good);
    if (good)
        b->stretches[0].from = cut->moment;
    return good;
}

static bool copy_marks(history_t *h, branch_t *b, const stay_t *cut)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < h->mark_count; i++)
        count += h->marks[i].moment > cut->moment;
    if (count == 0)
        return true;
    b->marks = memory_resize(&h->memory, NULL, 0, count * sizeof *b->marks);
    if (b->marks == NULL)
        return false;
    for (uint32_t i = 0; i < h->mark_count; i++) {
        if (h->marks[i].moment > cut->moment)
            b->marks[b->mark_count++] = h->marks[i];
    }
    return true;
}

/* Copy what comes after the cut; move the keyframes and the eras last, as what can fail. */
static bool take_rest(history_t *h, branch_t *b, const stay_t *cut)
{
    bool good = copy_stretches(h, b, cut) && copy_marks(h, b, cut) &&
                taken_copy(&h->taken, cut->moment, h->last, &b->taken);
    if (!good)
        return false;
    b->touches = copy(h, h->touches + cut->touches, (h->touch_count - cut->touches) * sizeof *b->touches, &good);
    b->touch_count = good ? h->touch_count - cut->touches : 0;
    good = good && keyframes_move(&h->keyframes, cut->keyframes, &b->keyframes);
    if (good && eras_split(&h->eras, cut->moment, &b->eras))
        return true;
    if (good)
        keyframes_move(&b->keyframes, 0, &h->keyframes); /* there is room: they were there */
    return false;
}

static void shorten(history_t *h, const stay_t *cut)
{
    taken_cut(&h->taken, cut->moment);
    h->touch_count = cut->touches;
    h->stretch_count = cut->stretches;
    for (uint32_t i = h->mark_count; i > 0; i--) {
        if (h->marks[i - 1].moment > cut->moment)
            h->marks[i - 1] = h->marks[--h->mark_count];
    }
    h->last = cut->moment;
}

/* Forget what comes after the cut. */
static void forget_rest(history_t *h, const stay_t *cut)
{
    while (h->keyframes.count > cut->keyframes)
        keyframes_drop(&h->keyframes, h->keyframes.count - 1);
    for (uint32_t i = cut->touches; i < h->touch_count; i++)
        free_touch(h, &h->touches[i]);
    for (uint32_t i = h->branch_count; i > 0; i--) {
        if (i <= h->branch_count && h->branches[i - 1].parent == 0 && h->branches[i - 1].fork > cut->moment)
            branches_drop(h, branch_number(&h->branches[i - 1]));
    }
    eras_drop_from(&h->eras, cut->moment);
    shorten(h, cut);
}

/* As branches_cut; false without memory: nothing has changed. *number: of the branch; 0: nothing came there. */
static bool cut_off(history_t *h, uint64_t moment, uint64_t *number)
{
    branch_t b;
    stay_t cut = find_cut(h, moment);
    *number = 0;
    if (moment == h->last && cut.keyframes == h->keyframes.count && cut.touches == h->touch_count)
        return true;
    branch_init(&b, h, moment, h->last);
    bool good = memory_reserve(&h->memory, &h->branches, &h->branch_capacity, h->branch_count + 1u,
                               sizeof *h->branches) &&
                take_rest(h, &b, &cut);
    if (!good) {
        free_lists(h, &b);
        return false;
    }
    *number = branch_number(&b);
    for (uint32_t i = 0; i < h->branch_count; i++) {
        if (h->branches[i].parent == 0 && h->branches[i].fork > moment)
            h->branches[i].parent = *number;
    }
    shorten(h, &cut);
    branches_keep(h, &b); /* for which there is room */
    return true;
}

uint64_t branches_cut(history_t *h, uint64_t moment)
{
    uint64_t number;
    if (!cut_off(h, moment, &number)) {
        stay_t cut = find_cut(h, moment);
        forget_rest(h, &cut);
    }
    return number;
}

/* --- back on the line --------------------------------------------------------------------------------------------- */

uint64_t branches_root(const history_t *h, const branch_t *branch)
{
    while (branch->parent != 0)
        branch = branches_find(h, branch->parent);
    return branch->fork;
}

/* Make room for the contents of a branch, and move those for which that can fail. */
static bool move_lists(history_t *h, branch_t *b)
{
    bool good =
        memory_reserve(&h->memory, &h->touches, &h->touch_capacity, (uint64_t)h->touch_count + b->touch_count,
                       sizeof *h->touches) &&
        memory_reserve(&h->memory, &h->marks, &h->mark_capacity, (uint64_t)h->mark_count + b->mark_count,
                       sizeof *h->marks) &&
        memory_reserve(&h->memory, &h->stretches, &h->stretch_capacity, (uint64_t)h->stretch_count + b->stretch_count,
                       sizeof *h->stretches) &&
        taken_copy(&b->taken, b->fork, b->last, &h->taken);
    uint32_t own = h->keyframes.count;
    if (good && keyframes_move(&b->keyframes, 0, &h->keyframes)) {
        if (eras_join(&h->eras, &b->eras))
            return true;
        keyframes_move(&h->keyframes, own, &b->keyframes);
    }
    taken_cut(&h->taken, b->fork);
    return false;
}

static void append(history_t *h, branch_t *b)
{
    if (b->touch_count > 0)
        memcpy(h->touches + h->touch_count, b->touches, b->touch_count * sizeof *b->touches);
    if (b->mark_count > 0)
        memcpy(h->marks + h->mark_count, b->marks, b->mark_count * sizeof *b->marks);
    h->touch_count += b->touch_count;
    h->mark_count += b->mark_count;
    while (h->stretch_count > 0 && h->stretches[h->stretch_count - 1].from >= b->fork)
        h->stretch_count--;
    for (uint32_t i = 0; i < b->stretch_count; i++)
        add_stretch(h, b->stretches[i]);
    h->last = b->last;
}

bool branches_return(history_t *h, uint64_t number)
{
    const branch_t *wanted = branches_find(h, number);
    if (wanted->parent != 0 && !branches_return(h, wanted->parent))
        return false;
    uint64_t line;
    if (!cut_off(h, branches_find(h, number)->fork, &line))
        return false;
    branch_t *b = branches_find(h, number);
    if (b == NULL || !move_lists(h, b))
        return false;
    branch_t back = *b;
    take_out(h, place_of(h, number));
    append(h, &back);
    for (uint32_t i = 0; i < h->branch_count; i++) {
        if (h->branches[i].parent == number)
            h->branches[i].parent = 0;
    }
    free_lists(h, &back);
    return true;
}

/* --- a future made elsewhere -------------------------------------------------------------------------------------- */

/* Copy the calls of the line from the fork to the branch's last moment. What was no call is passed over. The calls at
 * that moment itself have been made only where it is the present one, and the last of the line. */
static bool copy_calls(history_t *h, branch_t *b, const parts_t *in)
{
    uint32_t first = 0, end = h->touch_count;
    uint64_t behind = b->last < h->last ? b->last : b->last + 1;
    bool good = true;
    while (first < end && h->touches[first].moment < b->fork)
        first++;
    while (end > first && h->touches[end - 1].moment >= behind)
        end--;
    bool own = first < end && h->touches[first].moment == b->fork;
    size_t count = end - first + (own ? 0u : 1u);
    b->touches = memory_new(&h->memory, count * sizeof *b->touches);
    if (b->touches == NULL)
        return false;
    b->touch_count = (uint32_t)count;
    uint32_t at = 1;
    b->touches[0] = (touch_t){.moment = b->fork, .unknown = true};
    for (uint32_t i = first; i < end && good; i++) {
        const touch_t *from = &h->touches[i];
        touch_t *to = &b->touches[from->moment == b->fork ? 0 : at++];
        to->moment = from->moment;
        to->passes = true;
        to->inputs = copy(h, from->inputs, from->input_size, &good);
        to->input_size = to->inputs == NULL ? 0 : from->input_size;
        if (to != b->touches && good) {
            to->calls = copy(h, from->calls, from->size, &good);
            to->size = to->calls == NULL ? 0 : from->size;
            journal_renumber(to->calls, to->size, h->parts.destruction, in->destruction);
        }
    }
    return good;
}

uint64_t history_add_future(history_t *h, uint64_t fork, uint64_t last, const parts_t *in, makeup_t *makeup,
                            keyframe_t begins, keyframe_t ends)
{
    branch_t b;
    begins.moment = fork;
    begins.touched = begins.stays = true;
    ends.moment = last;
    ends.touched = ends.stays = false;
    branch_init(&b, h, fork, last);
    bool good = fork >= h->first; /* the room for the keyframes may have cost that past */
    good = good && keyframes_reserve(&b.keyframes);
    if (good)
        keyframes_put(&b.keyframes, &begins);
    else
        keyframe_free(&h->store, &begins);
    good = good && keyframes_reserve(&b.keyframes);
    if (good)
        keyframes_put(&b.keyframes, &ends);
    else
        keyframe_free(&h->store, &ends);
    if (!eras_put(&b.eras, fork, makeup)) {
        h->eras.makers.drop(h->eras.makers.context, makeup);
        good = false;
    }
    b.stretches = memory_new(&h->memory, sizeof *b.stretches);
    b.stretch_count = b.stretches == NULL ? 0 : 1;
    good = good && b.stretches != NULL && taken_copy(&h->taken, fork, last, &b.taken) && copy_calls(h, &b, in);
    if (good) {
        b.stretches[0] = (stretch_t){++h->numbers, fork};
        good = branches_keep(h, &b);
    }
    if (!good) {
        branch_free(&b, h);
        return 0;
    }
    uint64_t number = branch_number(&b);
    history_make_room(h, 0); /* this branch is the last one, so the others go first */
    return branches_find(h, number) != NULL ? number : 0;
}
