/* feed.c - steps in a list, and the bytes of calls behind each other. */
#include "feed.h"

#include "../os/os.h"

enum { ALIGN = 16 };

static const char no_memory[] = "there was no memory to note what the host does";

void feed_init(feed_t *f, memory_t *memory)
{
    *f = (feed_t){.memory = memory};
    bytes_init(&f->bytes, memory);
}

void feed_free(feed_t *f)
{
    memory_free(f->memory, f->items, f->capacity * sizeof *f->items);
    bytes_free(&f->bytes);
    feed_init(f, f->memory);
}

void feed_calls(feed_t *f, const void *calls, size_t size, bool unknown)
{
    f->unknown = f->unknown || unknown;
    if (unknown || size == 0)
        return;
    bytes_put(&f->bytes, calls, size); /* each call ends at a multiple of ALIGN */
    if (f->bytes.failed)
        feed_break(f, no_memory);
}

void feed_pending(feed_t *f, const bytes_t *calls, bool unknown)
{
    size_t skip = f->skip < calls->size ? (size_t)f->skip : calls->size;
    f->skip = 0;
    if (calls->size > skip || unknown)
        feed_calls(f, (const char *)calls->start + skip, calls->size - skip, unknown);
}

void feed_begin_step(feed_t *f)
{
    f->began_at = os_clock_ns();
}

void feed_step(feed_t *f, uint64_t moment, uint32_t world, const void *inputs, size_t input_size, bool living)
{
    if (living) {
        f->ns += os_clock_ns() - f->began_at;
        f->steps++;
    }
    if (f->broken != NULL)
        return;
    feed_step_t step = {.moment = moment, .calls = f->begun, .world = world, .unknown = f->unknown};
    step.size = f->bytes.size - f->begun;
    step.inputs = f->bytes.size;
    step.input_size = input_size;
    bytes_put(&f->bytes, inputs, input_size);
    bytes_align(&f->bytes, ALIGN);
    if (f->bytes.failed || !memory_reserve(f->memory, &f->items, &f->capacity, f->count + UINT64_C(1),
                                           sizeof *f->items)) {
        feed_break(f, no_memory);
        return;
    }
    f->items[f->count++] = step;
    f->begun = f->bytes.size;
    f->unknown = false;
}

void feed_forget(feed_t *f)
{
    size_t left = f->bytes.size - (size_t)f->begun; /* calls since the last step */
    if (left > 0)
        memmove((char *)f->bytes.start, f->bytes.start + f->begun, left);
    f->bytes.size = left;
    f->begun = 0;
    f->count = 0;
}
