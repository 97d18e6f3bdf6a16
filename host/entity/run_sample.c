/* run_sample.c - a few rows of a large run, and a run that has only those.
 *
 * A sample is one block, laid out as the block of a small run with as many rows. So a run that takes it in place of its own
 * columns is a small run like any other, and grows and changes its columns as such.
 */
#include "run_inner.h"

#include "../base/os.h"

enum { STRETCH = 64 /* rows that lie together stay together: entities made together often refer to each other */ };

/* The numbers of at most RUN_SAMPLE_ROWS living rows, in stretches from all of the run. */
static uint32_t choose_rows(const run_t *run, uint32_t *rows)
{
    const uint32_t stretches = RUN_SAMPLE_ROWS / STRETCH;
    uint32_t count = 0;
    for (uint32_t s = 0; s < stretches; s++) {
        uint32_t first = (uint32_t)((uint64_t)run->count * s / stretches);
        for (uint32_t row = first; row < first + STRETCH; row++) {
            if (run_entities(run)[row].id != 0)
                rows[count++] = row;
        }
    }
    return count;
}

static bool copy_rows(run_sample_t *sample, memory_t *memory)
{
    const run_t *run = sample->run;
    uint32_t rows[RUN_SAMPLE_ROWS];
    size_t size = run_shared_bytes(run, RUN_SAMPLE_ROWS);
    char *block = memory_resize(memory, NULL, 0, size);
    if (block == NULL)
        return false;
    sample->block = (run_block_t){block, size};
    sample->count = choose_rows(run, rows);
    char *at = run_shared_start(block, RUN_SAMPLE_ROWS);
    for (uint32_t c = 0; c < run->column_count; c++) {
        for (uint32_t i = 0; i < sample->count; i++)
            value_copy(at + (size_t)i * run->sizes[c], run_cell(run, c, rows[i]), run->sizes[c]);
        at += run_column_bytes(run, c, RUN_SAMPLE_ROWS);
    }
    return true;
}

static void inherit(const run_t *run, const memory_t *memory, uint32_t columns)
{
    for (uint32_t c = 0; c < columns; c++) {
        if (memory_is_pages(memory, run->blocks[c].size))
            os_pages_inherit(run->blocks[c].start, run->blocks[c].size, true);
    }
}

static bool leave_out(const run_t *run, const memory_t *memory)
{
    for (uint32_t c = 0; c < run->column_count; c++) {
        if (memory_is_pages(memory, run->blocks[c].size) && !os_pages_inherit(run->blocks[c].start, run->blocks[c].size, false)) {
            inherit(run, memory, c);
            return false;
        }
    }
    return true;
}

bool run_sample_take(run_sample_t *sample, run_t *run, memory_t *memory)
{
    if (!run->split || run->count < RUN_SAMPLE_FROM || memory->allocator.resize != NULL)
        return false;
    sample->run = run;
    if (!copy_rows(sample, memory))
        return false;
    if (leave_out(run, memory))
        return true;
    memory_free(memory, sample->block.start, sample->block.size);
    return false;
}

void run_sample_give_back(run_sample_t *sample, memory_t *memory)
{
    inherit(sample->run, memory, sample->run->column_count);
    memory_free(memory, sample->block.start, sample->block.size);
}

void run_sample_enter(const run_sample_t *sample)
{
    run_t *run = sample->run;
    char *at = run_shared_start(sample->block.start, RUN_SAMPLE_ROWS);
    run->split = false;
    run->blocks[0] = sample->block;
    run->count = sample->count;
    run->capacity = RUN_SAMPLE_ROWS;
    run->holes = run->sweep = 0;
    run->version++;
    for (uint32_t c = 0; c < run->column_count; c++) {
        run->columns[c] = at;
        at += run_column_bytes(run, c, RUN_SAMPLE_ROWS);
    }
}
