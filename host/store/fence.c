/* fence.c - laying columns between closed pages, and telling what was done at an address.
 *
 * Invariant: `columns` is sorted by address, and a column with `lies` is where its run has it. A run that was laid owns
 * its block of before as well (run_lay), which it gives back when it grows, like any run.
 *
 * The host writes and reads values of up to 16 bytes as 16 bytes (RUN_COPIED_BYTES), so as many bytes behind a column
 * can be touched. These bytes are part of the pattern.
 */
#include "fence.h"

#include "../base/field.h"
#include "../os/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PATTERN = 0xA5,
    BEHIND = RUN_COPIED_BYTES,
    ALIGNED = 64,
    ALIGNED_FEW = 16,
    COLUMNS_MOST = 1024 /* of a run that is laid */
};

void fence_init(fence_t *f, memory_t *memory, plugin_t *const *first, uint32_t first_count)
{
    *f = (fence_t){.memory = memory, .first = first, .first_count = first_count, .most = FENCE_COLUMNS};
    f->pattern = memory_resize(memory, NULL, 0, os_page_size());
    if (f->pattern != NULL)
        memset(f->pattern, PATTERN, os_page_size());
}

void fence_free(fence_t *f)
{
    memory_free(f->memory, f->columns, f->capacity * sizeof *f->columns);
    memory_free(f->memory, f->pattern, os_page_size());
    memory_free(f->memory, f->kept, f->kept_capacity);
    *f = (fence_t){.memory = f->memory};
}

/* --- looking up --------------------------------------------------------------------------------------------------- */

/* The one of the first `count` columns whose pages, closed ones included, are at an address; else NULL. For handlers of
 * signals too. */
static fence_column_t *column_at(const fence_t *f, uint32_t count, uintptr_t address)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        fence_column_t *column = &f->columns[middle];
        uintptr_t begin = (uintptr_t)column->pages - FENCE_CLOSED;
        if (address < begin)
            high = middle;
        else if (address >= begin + column->bytes + 2 * FENCE_CLOSED)
            low = middle + 1;
        else
            return column;
    }
    return NULL;
}

static char *end_of_cells(const fence_column_t *column)
{
    return column->cells + (size_t)column->rows * column->cell;
}

/* The bytes behind the cells that can be touched. */
static size_t room_behind(const fence_column_t *column)
{
    return (size_t)(column->pages + column->bytes - end_of_cells(column));
}

/* --- laying ------------------------------------------------------------------------------------------------------- */

/* Which field of which component is a column of a run? */
static void name_column(fence_column_t *column, uint32_t place)
{
    const prototypes_t *p = &column->world->prototypes;
    column->manager = BP_NONE;
    column->field = 0;
    for (uint32_t at = column->run->prototype; at != 0 && place > 0; at = p->items[at].base) {
        const component_key_t *key = &p->keys[p->items[at].key];
        uint32_t first = p->items[p->items[at].base].columns;
        if (place < first || place >= first + key->columns)
            continue;
        column->manager = key->manager;
        column->field = place - first;
        snprintf(column->component, sizeof column->component, "%s",
                 column->world->managers[key->manager]->component->name);
        snprintf(column->name, sizeof column->name, "%s", column->run->fields[place]->name);
    }
}

/* The columns that a run still has in the fence lie, as the columns that they are now: a reload may have changed their
 * order and number. */
static void still_lies(const fence_t *f, const world_t *world, const run_t *run)
{
    for (uint32_t c = 0; c < run->column_count && run->capacity > 0; c++) {
        fence_column_t *column = column_at(f, f->count, (uintptr_t)run->columns[c]);
        if (column == NULL || column->cells != run->columns[c])
            continue;
        column->lies = true;
        column->world = world;
        column->run = run;
        column->prototype = run->prototype;
        name_column(column, c);
    }
}

static bool has_first(const fence_t *f, const world_t *world, const run_t *run)
{
    const prototypes_t *p = &world->prototypes;
    bool found = false;
    for (uint32_t at = run->prototype; at != 0 && !found; at = p->items[at].base) {
        const plugin_t *owner = world_key_manager(world, p->items[at].key)->component->owner;
        for (uint32_t i = 0; i < f->first_count && !found; i++)
            found = f->first[i] == owner;
    }
    return found;
}

static size_t page_bytes(const run_t *run, uint32_t column)
{
    size_t page = os_page_size(), bytes = (size_t)run->count * run->sizes[column] + BEHIND + ALIGNED;
    return (bytes + page - 1) / page * page;
}

/* Closed pages for all columns of a run; NULL where they are too many, or cannot be had. */
static char *take_block(fence_t *f, const run_t *run, size_t *size)
{
    size_t open = 0;
    for (uint32_t c = 0; c < run->column_count; c++)
        open += page_bytes(run, c);
    *size = open + (size_t)run->column_count * 2 * FENCE_CLOSED;
    if (f->count + run->column_count > f->most || f->bytes + open > FENCE_BYTES / FENCE_COLUMNS * (size_t)f->most ||
        !memory_reserve(f->memory, &f->columns, &f->capacity, f->count + (uint64_t)run->column_count,
                        sizeof *f->columns))
        return NULL;
    char *block = os_pages_alloc(*size);
    if (block != NULL && os_pages_let(block, *size, OS_PAGES_CLOSED)) {
        f->bytes += open;
        return block;
    }
    os_pages_free(block, *size);
    return NULL;
}

/* Open the pages of each column in a block; false where the system does not. */
static bool open_places(const fence_t *f, const run_t *run, char *block, void **places)
{
    size_t align = run->count >= RUN_ALIGNED_ROWS ? ALIGNED : ALIGNED_FEW, page = os_page_size();
    char *at = block + FENCE_CLOSED;
    for (uint32_t c = 0; c < run->column_count; c++) {
        size_t bytes = page_bytes(run, c), cells = (size_t)run->count * run->sizes[c];
        if (!os_pages_let(at, bytes, OS_PAGES_WRITE))
            return false;
        size_t first = (bytes - BEHIND - cells) / align * align;
        for (size_t done = 0; done < first; done += page)
            memcpy(at + done, f->pattern, first - done < page ? first - done : page);
        places[c] = at + first;
        at += bytes + 2 * FENCE_CLOSED;
    }
    return true;
}

static void lay_run(fence_t *f, world_t *world, run_t *run)
{
    void *places[COLUMNS_MOST];
    size_t size;
    char *block = run->column_count > COLUMNS_MOST ? NULL : take_block(f, run, &size);
    if (block == NULL)
        return;
    if (!open_places(f, run, block, places) || !run_lay(run, &world->memory, places)) {
        os_pages_free(block, size);
        return;
    }
    world->laid = true;
    char *at = block + FENCE_CLOSED;
    for (uint32_t c = 0; c < run->column_count; c++) {
        fence_column_t *column = &f->columns[f->count++];
        *column = (fence_column_t){.pages = at, .bytes = page_bytes(run, c), .cells = places[c],
                                   .cell = run->sizes[c], .rows = run->count, .world = world, .run = run,
                                   .version = run->version, .prototype = run->prototype, .lies = true};
        name_column(column, c);
        at += column->bytes + 2 * FENCE_CLOSED;
    }
}

static int by_address(const void *a, const void *b)
{
    const fence_column_t *left = a, *right = b;
    return (left->pages > right->pages) - (left->pages < right->pages);
}

/* Close the places that runs have left. */
static void close_left(const fence_t *f, const bool *lay_before, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (lay_before[i] && !f->columns[i].lies)
            os_pages_let(f->columns[i].pages, f->columns[i].bytes, OS_PAGES_CLOSED);
    }
}

/* Do the columns of a run lie in places that are among the first `count`? */
static bool lies_among(const fence_t *f, uint32_t count, const run_t *run)
{
    const fence_column_t *column = run->capacity == 0 ? NULL : column_at(f, count, (uintptr_t)run->columns[0]);
    return column != NULL && column->lies;
}

/* Lay the runs that do not lie in the fence: those with columns of the plugins on trial, or the others. */
static void lay_those(fence_t *f, world_t *const *worlds, uint32_t world_count, bool first)
{
    uint32_t count = f->count;
    for (uint32_t w = 0; w < world_count; w++) {
        for (uint32_t r = 0; r < worlds[w]->run_count; r++) {
            run_t *run = worlds[w]->runs[r];
            if (run->count > 0 && !lies_among(f, count, run) && has_first(f, worlds[w], run) == first)
                lay_run(f, worlds[w], run);
        }
    }
}

/* `only`: the one world whose columns may have moved; NULL: those of all may. */
static void lay(fence_t *f, world_t *const *worlds, uint32_t world_count, const world_t *only)
{
    bool lay_before[FENCE_COLUMNS];
    if (f->pattern == NULL)
        return;
    for (uint32_t i = 0; i < f->count; i++) {
        lay_before[i] = f->columns[i].lies;
        f->columns[i].lies = f->columns[i].lies && only != NULL && f->columns[i].world != only;
    }
    for (uint32_t w = 0; w < world_count; w++) {
        for (uint32_t r = 0; r < worlds[w]->run_count; r++)
            still_lies(f, worlds[w], worlds[w]->runs[r]);
    }
    close_left(f, lay_before, f->count);
    for (uint32_t pass = 0; pass < 2; pass++) {
        uint32_t before = f->count; /* those that come now lie behind these until they are sorted in */
        lay_those(f, worlds, world_count, pass == 0);
        if (before < f->count)
            qsort(f->columns, f->count, sizeof *f->columns, by_address);
    }
}

void fence_lay(fence_t *f, world_t *const *worlds, uint32_t world_count)
{
    lay(f, worlds, world_count, NULL);
}

void fence_lay_in(fence_t *f, world_t *world)
{
    lay(f, &world, 1, world);
}

bool fence_has(const fence_t *f, const run_t *run)
{
    return lies_among(f, f->count, run);
}

/* --- the pattern -------------------------------------------------------------------------------------------------- */

/* Is it a column of the rows that a call is handed? */
static bool is_handed(const fence_column_t *column, const fence_rights_t *rights)
{
    return rights->prototype != 0 && column->prototype == rights->prototype && column->world == rights->world;
}

static void fill_column(fence_t *f, fence_column_t *column)
{
    memset(end_of_cells(column), PATTERN, room_behind(column));
    column->version = column->run->version;
    column->call = f->call;
}

void fence_fill(fence_t *f, const fence_rights_t *rights)
{
    uint32_t others = 0, looked = 0, own = 0;
    f->call++;
    for (uint32_t i = 0; i < f->count; i++)
        own += f->columns[i].lies && f->columns[i].world == rights->world;
    for (uint32_t i = 0; i < f->count; i++) {
        bool of_few = own <= FENCE_FEW && f->columns[i].world == rights->world;
        if (f->columns[i].lies && (of_few || is_handed(&f->columns[i], rights)))
            fill_column(f, &f->columns[i]);
    }
    for (; looked < f->count && (others < FENCE_LOOKED || rights->all); looked++) {
        fence_column_t *column = &f->columns[(f->looked_turn + looked) % f->count];
        if (!column->lies || column->call == f->call)
            continue;
        fill_column(f, column);
        others++;
    }
    f->looked_turn = f->count == 0 ? 0 : (f->looked_turn + looked) % f->count;
}

static size_t first_changed(const char *bytes, size_t size)
{
    size_t at = 0;
    while (at < size && (unsigned char)bytes[at] == PATTERN)
        at++;
    return at;
}

/* "of the column 'x' of 'spin'" */
static void tell_column(const fence_column_t *column, const char *before, char *text, size_t size)
{
    if (column->manager == BP_NONE) {
        snprintf(text, size, "%s of the column of the entities", before);
        return;
    }
    snprintf(text, size, "%s of the column '%.47s' of '%.47s'", before, column->name, column->component);
}

static void tell_behind(const fence_column_t *column, const char *did, size_t first, size_t last, char *text,
                        size_t size)
{
    char where[128];
    uint32_t rows = column->rows, row = rows + (uint32_t)(first / column->cell);
    uint32_t end = rows + (uint32_t)(last / column->cell);
    if (row == end)
        snprintf(where, sizeof where, "it %s behind the last of %u rows, to row %u", did, rows, row);
    else
        snprintf(where, sizeof where, "it %s behind the last of %u rows, to rows %u to %u", did, rows, row, end);
    tell_column(column, where, text, size);
}

static void tell_before(const fence_column_t *column, const char *did, size_t bytes, char *text, size_t size)
{
    char where[128];
    snprintf(where, sizeof where, "it %s before the first of %u rows, %zu bytes before the beginning", did,
             column->rows, bytes);
    tell_column(column, where, text, size);
}

static bool column_is_whole(const fence_t *f, const fence_column_t *column, char *reason, size_t size)
{
    const char *behind = end_of_cells(column);
    size_t room = room_behind(column), page = os_page_size(), before = (size_t)(column->cells - column->pages);
    if (memcmp(behind, f->pattern, room) != 0) {
        size_t first = first_changed(behind, room), last = room - 1;
        while ((unsigned char)behind[last] == PATTERN)
            last--;
        tell_behind(column, "wrote", first, last, reason, size);
        return false;
    }
    for (size_t done = 0; done < before; done += page) {
        size_t some = before - done < page ? before - done : page;
        if (memcmp(column->pages + done, f->pattern, some) == 0)
            continue;
        tell_before(column, "wrote", before - done - first_changed(column->pages + done, some), reason, size);
        return false;
    }
    return true;
}

/* --- rows that a call was not handed ------------------------------------------------------------------------------ */

/* Cells of the rows before those that the call was handed, and of the rows behind them. */
static size_t bytes_before(const fence_t *f, const fence_column_t *column)
{
    return (size_t)f->handed_first * column->cell;
}

static size_t bytes_after(const fence_t *f, const fence_column_t *column)
{
    return (size_t)(f->handed_rows - f->handed_first - f->handed_count) * column->cell;
}

/* Choose the columns to be kept; returns how many bytes. */
static size_t choose_kept(fence_t *f)
{
    size_t bytes = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        fence_column_t *column = &f->columns[i];
        column->kept = column->lies && !column->shut && column->run == f->handed;
        bytes += column->kept ? bytes_before(f, column) + bytes_after(f, column) : 0;
    }
    return bytes;
}

static void keep_others(fence_t *f, const fence_rights_t *rights)
{
    const fence_column_t *column = column_at(f, f->count, (uintptr_t)rights->entities);
    f->handed = NULL;
    if (column == NULL || !column->lies || column->manager != BP_NONE || rights->count >= column->run->count)
        return;
    f->handed = column->run;
    f->handed_first = (uint32_t)(rights->entities - run_entities(column->run));
    f->handed_count = rights->count;
    f->handed_rows = column->run->count;
    size_t bytes = choose_kept(f);
    if (!memory_reserve(f->memory, &f->kept, &f->kept_capacity, bytes, 1)) {
        f->handed = NULL;
        return;
    }
    char *at = f->kept;
    for (uint32_t i = 0; i < f->count; i++) {
        column = &f->columns[i];
        if (!column->kept)
            continue;
        size_t before = bytes_before(f, column), after = bytes_after(f, column);
        memcpy(at, column->cells, before);
        memcpy(at + before, column->cells + before + (size_t)f->handed_count * column->cell, after);
        at += before + after;
    }
}

static void tell_other(const fence_t *f, const fence_column_t *column, uint32_t row, char *reason, size_t size)
{
    char where[64];
    snprintf(where, sizeof where, "it wrote to row %u", row);
    tell_column(column, where, reason, size);
    size_t length = strlen(reason);
    snprintf(reason + length, size - length, ", and was handed rows %u to %u", f->handed_first,
             f->handed_first + f->handed_count - 1);
}

static bool stretch_is_whole(const fence_t *f, const fence_column_t *column, const char *kept, uint32_t first,
                             size_t bytes, char *reason, size_t size)
{
    const char *cells = column->cells + (size_t)first * column->cell;
    if (memcmp(kept, cells, bytes) == 0)
        return true;
    size_t at = 0;
    while (kept[at] == cells[at])
        at++;
    tell_other(f, column, first + (uint32_t)(at / column->cell), reason, size);
    return false;
}

static bool others_are_whole(const fence_t *f, char *reason, size_t size)
{
    const char *at = f->kept;
    bool whole = true;
    for (uint32_t i = 0; f->handed != NULL && i < f->count && whole; i++) {
        const fence_column_t *column = &f->columns[i];
        if (!column->kept || column->run->version != column->version)
            continue;
        size_t before = bytes_before(f, column), after = bytes_after(f, column);
        whole = stretch_is_whole(f, column, at, 0, before, reason, size) &&
                stretch_is_whole(f, column, at + before, f->handed_first + f->handed_count, after, reason, size);
        at += before + after;
    }
    return whole;
}

bool fence_is_whole(fence_t *f, char *reason, size_t size)
{
    bool whole = true;
    for (uint32_t i = 0; i < f->count && whole; i++) {
        const fence_column_t *column = &f->columns[i];
        if (column->lies && column->call == f->call && column->run->version == column->version)
            whole = column_is_whole(f, column, reason, size);
    }
    whole = whole && others_are_whole(f, reason, size);
    f->handed = NULL;
    return whole;
}

/* --- columns that a call may not write ---------------------------------------------------------------------------- */

static void shut_column(fence_column_t *column)
{
    column->shut = os_pages_let(column->pages, column->bytes, OS_PAGES_READ);
}

static void open_column(fence_column_t *column)
{
    column->shut = !os_pages_let(column->pages, column->bytes, OS_PAGES_WRITE);
}

void fence_shut(fence_t *f, const fence_rights_t *rights)
{
    uint32_t others = 0, looked = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        fence_column_t *column = &f->columns[i];
        if (column->lies && is_handed(column, rights) && !rights->may_write(rights->data, column))
            shut_column(column);
    }
    for (; looked < f->count && others < FENCE_SHUT; looked++) {
        fence_column_t *column = &f->columns[(f->turn + looked) % f->count];
        if (!column->lies || column->shut || rights->may_write(rights->data, column))
            continue;
        shut_column(column);
        others++;
    }
    f->turn = f->count == 0 ? 0 : (f->turn + looked) % f->count;
    keep_others(f, rights);
}

void fence_open(fence_t *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->columns[i].shut)
            open_column(&f->columns[i]);
    }
}

void fence_open_for(fence_t *f, const fence_rights_t *rights)
{
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->columns[i].shut && rights->may_write(rights->data, &f->columns[i]))
            open_column(&f->columns[i]);
    }
}

bool fence_permit(fence_t *f, const void *address)
{
    fence_column_t *column = column_at(f, f->count, (uintptr_t)address);
    if (column == NULL || !column->shut)
        return false;
    open_column(column);
    return !column->shut;
}

/* --- telling ------------------------------------------------------------------------------------------------------ */

/* The rows of a column, of which some may have gone since it was laid. */
static uint32_t rows_of(const fence_column_t *column)
{
    return column->lies && column->run->count < column->rows ? column->run->count : column->rows;
}

bool fence_explain(const fence_t *f, uintptr_t address, const char *did, char *text, size_t size)
{
    const fence_column_t *found = column_at(f, f->count, address);
    char where[128];
    if (found == NULL)
        return false;
    fence_column_t column = *found;
    column.rows = rows_of(found);
    uintptr_t first = (uintptr_t)column.cells, end = (uintptr_t)end_of_cells(&column);
    if (!column.lies) {
        snprintf(where, sizeof where, "it %s at an address that it has kept since the rows moved,", did);
        tell_column(&column, where, text, size);
    } else if (address < first) {
        tell_before(&column, did, (size_t)(first - address), text, size);
    } else if (address >= end) {
        tell_behind(&column, did, (size_t)(address - end), (size_t)(address - end), text, size);
    } else {
        snprintf(where, sizeof where, "it %s to row %u of %u", did, (uint32_t)((address - first) / column.cell),
                 column.rows);
        tell_column(&column, where, text, size);
        size_t length = strlen(text);
        snprintf(text + length, size - length, ", which %s write",
                 column.manager == BP_NONE ? "no plugin may" : "it has not declared to");
    }
    return true;
}
