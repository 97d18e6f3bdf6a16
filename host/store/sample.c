/* sample.c - choosing the runs that are thinned, and mending the records of their worlds.
 *
 * Invariant, in the copy: a record either leads to the row that its entity is in, or is cleared. The records to be
 * cleared need no list: they are the records that lead to a row with another entity, or with none.
 */
#include "sample.h"

#include "store_inner.h"

static bool is_left_whole(const run_t *run)
{
    return run->count == 0 || (run->flags & (KEY_OWN_STORAGE | KEY_HOOKED)) != 0;
}

/* The rows that each large run keeps: there are RUN_SAMPLE_ROWS for all of them, since to copy rows from all over them
 * takes long while the process stands still. */
static uint32_t rows_of_large(world_t *const *worlds, uint32_t world_count)
{
    uint32_t large = 0;
    for (uint32_t w = 0; w < world_count; w++) {
        for (uint32_t r = 0; r < worlds[w]->run_count; r++)
            large += !is_left_whole(worlds[w]->runs[r]) && run_can_be_left_out(worlds[w]->runs[r], &worlds[w]->memory);
    }
    uint32_t each = RUN_SAMPLE_ROWS / (large > 0 ? large : 1) / RUN_SAMPLE_FEW * RUN_SAMPLE_FEW;
    return each > RUN_SAMPLE_FEW ? each : RUN_SAMPLE_FEW;
}

/* Take a sample of a run, if it is to be thinned. `large`: the rows that a large one keeps. */
static bool take_of_run(sample_t *sample, world_sample_t *next, world_t *world, run_t *run, uint32_t large)
{
    *next = (world_sample_t){.world = world};
    bool taken = run_sample_take(&next->run, run, &world->memory, large);
    uint32_t few = sample->few < SAMPLE_FEW_RUNS ? RUN_SAMPLE_FEW : 0;
    if (!taken && sample->rows >= SAMPLE_ROWS && run->count > few) {
        run_sample_first(&next->run, run, few);
        sample->few++;
        taken = true;
    }
    sample->rows += taken ? next->run.count : run->count;
    return taken;
}

static void take_of_world(sample_t *sample, world_t *world, uint32_t large)
{
    for (uint32_t r = 0; r < world->run_count; r++) {
        run_t *run = world->runs[r];
        if (is_left_whole(run) ||
            !memory_reserve(sample->memory, &sample->runs, &sample->capacity, sample->count + 1u, sizeof *sample->runs))
            continue;
        sample->count += take_of_run(sample, &sample->runs[sample->count], world, run, large);
    }
}

void sample_take(sample_t *sample, memory_t *memory, world_t *const *worlds, uint32_t world_count)
{
    uint32_t large = rows_of_large(worlds, world_count);
    *sample = (sample_t){.memory = memory};
    for (uint32_t w = 0; w < world_count; w++)
        take_of_world(sample, worlds[w], large);
}

void sample_give_back(sample_t *sample)
{
    for (uint32_t i = 0; i < sample->count; i++)
        run_sample_give_back(&sample->runs[i].run, &sample->runs[i].world->memory);
    memory_free(sample->memory, sample->runs, sample->capacity * sizeof *sample->runs);
    *sample = (sample_t){.memory = sample->memory};
}

/* --- in the copy -------------------------------------------------------------------------------------------------- */

static void enter_run(const world_sample_t *sample)
{
    run_sample_enter(&sample->run);
    if (sample->run.block.start == NULL)
        return; /* the rows are where they were */
    const bp_entity_t *entities = run_entities(sample->run.run);
    for (uint32_t row = 0; row < sample->run.count; row++)
        world_own_record(sample->world, entities[row])->row = row;
}

static bool is_there(const world_t *world, const record_t *record, bp_entity_t e)
{
    const run_t *run = world_run(world, record->prototype);
    return record->row < run->count && run_entities(run)[record->row].id == e.id;
}

/* Clear the records of entities in one page of the directory that are in no row any more. */
static void clear_page(world_t *world, uint32_t at)
{
    uint64_t first = ((uint64_t)world->first_page + at) * ENTITIES_PAGE;
    for (uint64_t index = first; index < first + ENTITIES_PAGE; index++) {
        record_t *record = world_record_at(world, (uint32_t)index);
        bp_entity_t e = {(uint64_t)record->generation << 32 | index};
        if (record->generation == 0 || record->prototype == 0 || is_there(world, record, e))
            continue;
        const run_t *run = world_run(world, record->prototype);
        *record = (record_t){0};
        store_moved(world, run, NULL, &e, 1);
    }
}

/* Which pages of the directory have the record of an entity that is in a row. NULL where there is no memory. */
static bool *find_kept(world_t *world)
{
    bool *kept = memory_new(&world->memory, world->page_count * sizeof *kept);
    for (uint32_t r = 0; r < world->run_count && kept != NULL; r++) {
        const bp_entity_t *entities = run_entities(world->runs[r]);
        for (uint32_t row = 0; row < world->runs[r]->count; row++) {
            if (entities[row].id != 0)
                kept[bp_entity_index(entities[row]) / ENTITIES_PAGE - world->first_page] = true;
        }
    }
    return kept;
}

/* Are systems told of entities that leave a run of the sample in this world? */
static bool is_told(const sample_t *sample, const world_t *world)
{
    bool told = false;
    for (uint32_t i = 0; i < sample->count; i++)
        told = told || (sample->runs[i].world == world && sample->runs[i].run.run->signature != 0);
    return told;
}

/* A page that no entity in a row has its record in goes as a whole: to clear it would copy it. Where systems are told
 * of the entities that go, these are looked at one by one. */
static void clear_records(const sample_t *sample, world_t *world)
{
    bool *kept = is_told(sample, world) ? NULL : find_kept(world);
    for (uint32_t at = 0; at < world->page_count; at++) {
        if (world->pages[at] == unused_records)
            continue;
        if (kept != NULL && !kept[at])
            records_drop_page(world, at);
        else
            clear_page(world, at);
    }
    memory_free(&world->memory, kept, world->page_count * sizeof *kept);
    world->occupied = 0;
    for (uint32_t r = 0; r < world->run_count; r++)
        world->occupied += world->runs[r]->count - world->runs[r]->holes;
}

void sample_enter(const sample_t *sample)
{
    for (uint32_t i = 0; i < sample->count; i++)
        enter_run(&sample->runs[i]);
    for (uint32_t i = 0; i < sample->count; i++) {
        if (i == 0 || sample->runs[i].world != sample->runs[i - 1].world)
            clear_records(sample, sample->runs[i].world);
    }
}
