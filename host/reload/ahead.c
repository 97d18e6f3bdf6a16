/* ahead.c - the columns that are made ready before a change, and how many of their rows are done.
 *
 * Invariants
 *   - Rows 0 to `rows` - 1 of a column hold what the old column held at the moment `since` or later; where a row has
 *     been written since, its stamp is later than `since`.
 *   - `columns` is sorted by run, key and number of the field once all are listed.
 *   - A column belongs to a run as long as the world's layout is the one in which the column was begun: layouts are
 *     never given out twice, so no column of another declaration can be taken for the old one.
 *   - While columns are made ready their worlds keep stamps for them. Stamps are released when the change has been made
 *     or let go of, after its shapes.
 *   - Cells of texts and lists, rows 0 to `rows` - 1, hold what they hold until their column is dropped, shortened or
 *     taken over; all other cells hold nothing. What cells hold is counted by the main thread alone, so such columns
 *     are made by it.
 */
#include "ahead.h"

#include "../base/superblocks.h"
#include "../os/os.h"
#include "../step/jobs.h"

#include <stdlib.h>

enum {
    PIECE = 16384 /* rows converted by one job */,
    JOBS_OF_A_THREAD = 4,
    COUNTED_PIECE = 1024 /* rows of texts and lists converted at once */,
    MOST_FIELDS = 256
};

/* A declaration that the copy sent, and the old field that it takes its values from. */
typedef struct ahead_field_t {
    component_t *slot;
    uint32_t number, old; /* of the new field; of the old one, or BP_NONE: the column is filled with the default */
    field_t field;
} ahead_field_t;

struct ahead_column_t {
    const ahead_field_t *of;
    world_t *world;
    run_t *run;
    uint32_t prototype, key, layout;
    run_made_t made;
    uint32_t rows;
    int64_t blocks; /* that lists in it hold, until a shape takes the column over */
    uint64_t since;
};

typedef struct ahead_world_t {
    world_t *world;
} ahead_world_t;

struct ahead_t {
    ahead_field_t *fields;
    uint32_t field_count, field_capacity;
    ahead_column_t *columns;
    uint32_t column_count, column_capacity;
    ahead_world_t *worlds; /* that keep stamps for this */
    uint32_t world_count, world_capacity;
    uint32_t at;           /* the column at work */
    size_t wanted, held;   /* bytes of memory for runs whose columns share a block, and how many are there */
};

/* --- telling what is needed --------------------------------------------------------------------------------------- */

typedef struct writer_t {
    char *text;
    size_t size, room;
    bool full;
} writer_t;

static void write_bytes(writer_t *out, const void *bytes, size_t size)
{
    out->full = out->full || out->room - out->size < size;
    if (out->full)
        return;
    memcpy(out->text + out->size, bytes, size);
    out->size += size;
}

static void write_text(writer_t *out, const char *text)
{
    write_bytes(out, text, strlen(text) + 1);
}

/* A field that is made anew, value by value: converted, or added with a default that is not all zero. */
static bool is_worth_it(const component_change_t *c, uint32_t number)
{
    const field_t *field = &c->kept->fields[number];
    const convert_source_t *source = &c->sources[number];
    if (field_is_rebuilt(field))
        return false;
    return source->old == BP_NONE ? !field->initial_is_zero : source->kind != CONVERT_SAME;
}

static void tell_field(writer_t *out, const component_change_t *c, uint32_t number)
{
    const field_t *field = &c->kept->fields[number];
    uint32_t numbers[] = {number, c->sources[number].old, field->type, field->flags, field->elements};
    size_t before = out->size;
    write_text(out, c->slot->name);
    write_bytes(out, numbers, sizeof numbers);
    write_text(out, field->name);
    write_text(out, field->initial_text);
    write_text(out, field->min_text);
    write_text(out, field->max_text);
    write_text(out, field->values_text);
    if (out->full)
        out->size = before;
}

size_t ahead_tell(const reload_change_t *change, char *text, size_t room)
{
    writer_t out = {.text = text, .room = room};
    for (uint32_t i = 0; i < change->component_count; i++) {
        const component_change_t *c = &change->components[i];
        bool declared = !c->is_new && c->kept->owner != NULL && !c->kept->own_storage && !c->slot->own_storage;
        for (uint32_t f = 0; f < c->source_count && declared && !c->same; f++) {
            if (is_worth_it(c, f))
                tell_field(&out, c, f);
        }
    }
    return out.size;
}

/* --- reading it --------------------------------------------------------------------------------------------------- */

typedef struct reader_t {
    const char *at, *end;
} reader_t;

/* The text that begins here; NULL where it does not end. */
static const char *read_text(reader_t *in)
{
    const char *text = in->at, *end = memchr(in->at, '\0', (size_t)(in->end - in->at));
    if (end == NULL)
        return NULL;
    in->at = end + 1;
    return text;
}

static bool read_declaration(reader_t *in, bp_field_t *declared, uint32_t *number, uint32_t *old)
{
    const char *texts[5];
    uint32_t numbers[5];
    if ((size_t)(in->end - in->at) < sizeof numbers)
        return false;
    memcpy(numbers, in->at, sizeof numbers);
    in->at += sizeof numbers;
    for (uint32_t i = 0; i < 5; i++) {
        texts[i] = read_text(in);
        if (texts[i] == NULL)
            return false;
    }
    *number = numbers[0];
    *old = numbers[1];
    *declared = (bp_field_t){.name = texts[0], .type = numbers[2], .flags = numbers[3], .count = numbers[4]};
    declared->initial = texts[1][0] == '\0' ? NULL : texts[1];
    declared->min = texts[2][0] == '\0' ? NULL : texts[2];
    declared->max = texts[3][0] == '\0' ? NULL : texts[3];
    declared->values = texts[4][0] == '\0' ? NULL : texts[4];
    return true;
}

static component_t *find_slot(const reload_t *reload, const char *name)
{
    for (uint32_t i = 0; i < reload->registry->component_count; i++) {
        component_t *slot = reload->registry->components[i];
        if (strcmp(slot->name, name) == 0)
            return slot;
    }
    return NULL;
}

/* Read the next field; false where nothing more can be read. A field that does not fit the host's declarations is left
 * out. */
static bool read_field(reload_change_t *change, ahead_t *ahead, reader_t *in)
{
    bp_field_t declared;
    ahead_field_t f = {.slot = NULL};
    const char *component = in->at == in->end ? NULL : read_text(in);
    if (component == NULL || !read_declaration(in, &declared, &f.number, &f.old))
        return false;
    f.slot = find_slot(change->reload, component);
    if (f.slot == NULL || f.slot->owner == NULL || f.slot->own_storage ||
        (f.old != BP_NONE && f.old >= component_columns(f.slot)))
        return true;
    memory_t *memory = &change->reload->memory;
    if (!memory_reserve(memory, &ahead->fields, &ahead->field_capacity, ahead->field_count + 1u,
                        sizeof *ahead->fields))
        return true;
    if (slot_copy_field(change->reload->base, memory, &f.field, &declared, sizeof declared) == BP_OK)
        ahead->fields[ahead->field_count++] = f;
    else
        slot_free_field(change->reload->base, memory, &f.field);
    return true;
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

static bool keep_stamps(reload_change_t *change, world_t *world)
{
    ahead_t *ahead = change->ahead;
    if (ahead->world_count > 0 && ahead->worlds[ahead->world_count - 1].world == world)
        return true; /* columns are listed world by world */
    if (!memory_reserve(&change->reload->memory, &ahead->worlds, &ahead->world_capacity, ahead->world_count + 1u,
                        sizeof *ahead->worlds) ||
        world_keep_stamps(world) != BP_OK)
        return false;
    ahead->worlds[ahead->world_count++] = (ahead_world_t){world};
    return true;
}

static void list_run(reload_change_t *change, const ahead_field_t *f, world_t *world, uint32_t manager, run_t *run)
{
    ahead_t *ahead = change->ahead;
    const prototypes_t *p = &world->prototypes;
    for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
        if (p->keys[p->items[at].key].manager != manager)
            continue;
        if (!memory_reserve(&change->reload->memory, &ahead->columns, &ahead->column_capacity,
                            ahead->column_count + 1u, sizeof *ahead->columns) ||
            !keep_stamps(change, world))
            return;
        ahead->columns[ahead->column_count++] = (ahead_column_t){.of = f,
                                                                 .world = world,
                                                                 .run = run,
                                                                 .prototype = run->prototype,
                                                                 .key = p->items[at].key,
                                                                 .layout = world->layout};
    }
}

static bool is_large(const run_t *run)
{
    return run->split && run->count >= AHEAD_LEAST;
}

static bool is_of_change(const reload_change_t *change, const plugin_t *owner)
{
    bool found = false;
    for (uint32_t v = 0; v < change->version_count; v++)
        found = found || owner == change->versions[v].plugin;
    return found;
}

bool ahead_pays(const reload_change_t *change)
{
    const destruction_t *d = change->reload->destruction;
    uint64_t rows = 0;
    for (uint32_t w = 0; w < d->world_count; w++) {
        const world_t *world = d->worlds[w];
        const prototypes_t *p = &world->prototypes;
        for (uint32_t r = 0; r < world->run_count && rows < AHEAD_ROWS; r++) {
            const run_t *run = world->runs[r];
            bool moves = false;
            for (uint32_t at = run->prototype; at != 0 && run->count > 0 && !moves; at = p->items[at].base)
                moves = is_of_change(change, world_key_manager(world, p->items[at].key)->component->owner);
            rows += moves ? run->count : 0;
        }
    }
    return rows >= AHEAD_ROWS;
}

static int compare_place(const ahead_column_t *c, const run_t *run, uint32_t key, uint32_t number)
{
    if (c->run != run)
        return (uintptr_t)c->run < (uintptr_t)run ? -1 : 1;
    if (c->key != key)
        return c->key < key ? -1 : 1;
    return (c->of->number > number) - (c->of->number < number);
}

static int by_place(const void *a, const void *b)
{
    const ahead_column_t *right = b;
    return compare_place(a, right->run, right->key, right->of->number);
}

/* The first of the columns for a field of a run, or where it would be. */
static uint32_t first_at(const ahead_t *ahead, const run_t *run, uint32_t key, uint32_t number)
{
    uint32_t low = 0, high = ahead == NULL ? 0 : ahead->column_count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (compare_place(&ahead->columns[middle], run, key, number) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void list_columns(reload_change_t *change)
{
    const destruction_t *d = change->reload->destruction;
    const ahead_t *ahead = change->ahead;
    for (uint32_t w = 0; w < d->world_count; w++) {
        world_t *world = d->worlds[w];
        for (uint32_t m = 0; m < world->manager_count; m++) {
            for (uint32_t f = 0; f < ahead->field_count; f++) {
                if (!world->managers[m]->started || world->managers[m]->component != ahead->fields[f].slot)
                    continue;
                for (uint32_t r = 0; r < world->run_count; r++) {
                    if (is_large(world->runs[r]))
                        list_run(change, &ahead->fields[f], world, m, world->runs[r]);
                }
            }
        }
    }
}

/* The bytes of a run's new columns. */
static size_t bytes_of_new(const ahead_t *ahead, const world_t *world, const run_t *run)
{
    const prototypes_t *p = &world->prototypes;
    size_t bytes = 0;
    for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
        const component_t *component = world_key_manager(world, p->items[at].key)->component;
        for (uint32_t f = 0; f < ahead->field_count; f++)
            bytes += component == ahead->fields[f].slot ? (size_t)run->capacity * ahead->fields[f].field.size : 0;
    }
    return bytes;
}

/* How much memory will the blocks need that columns share? An eighth more, since not all room of a superblock can be
 * used. */
static void want_memory(reload_change_t *change)
{
    const destruction_t *d = change->reload->destruction;
    ahead_t *ahead = change->ahead;
    for (uint32_t w = 0; w < d->world_count; w++) {
        const world_t *world = d->worlds[w];
        for (uint32_t r = 0; r < world->run_count; r++) {
            const run_t *run = world->runs[r];
            size_t more = run->split || run->capacity == 0 ? 0 : bytes_of_new(ahead, world, run);
            size_t bytes = more == 0 ? 0 : run->blocks->size + more;
            ahead->wanted += bytes < SUPERBLOCKS_LEAST ? 0 : bytes + bytes / 8;
        }
    }
}

void ahead_begin(reload_change_t *change, const char *told, size_t size)
{
    reload_t *reload = change->reload;
    reader_t in = {told, told + size};
    if (size == 0 || change->ahead != NULL)
        return;
    error_text_t kept = reload->base->error;
    change->ahead = memory_new(&reload->memory, sizeof *change->ahead);
    if (change->ahead == NULL)
        return;
    reload->readies = change;
    while (change->ahead->field_count < MOST_FIELDS && read_field(change, change->ahead, &in))
        ;
    if (ahead_pays(change)) {
        list_columns(change);
        want_memory(change);
    }
    if (change->ahead->column_count > 0)
        qsort(change->ahead->columns, change->ahead->column_count, sizeof *change->ahead->columns, by_place);
    reload->base->error = kept; /* where memory was lacking the change is made without columns made ready */
}

/* --- slices ------------------------------------------------------------------------------------------------------- */

/* Is the old column still the one from which this one was begun? A run that a world has given up when it went back to
 * an earlier moment may be used again for another prototype. */
static bool is_current(const ahead_column_t *c)
{
    const prototypes_t *p = &c->world->prototypes;
    return c->world->layout == c->layout && c->prototype < p->count && p->items[c->prototype].run == c->run &&
           c->run->prototype == c->prototype && c->run->split && prototypes_column(p, c->prototype, c->key) != 0;
}

static const field_t *old_field(const ahead_column_t *c)
{
    return c->of->old == BP_NONE ? NULL : &c->of->slot->fields[c->of->old];
}

static bool is_counted(const ahead_column_t *c)
{
    return field_is_counted(&c->of->field) || (c->of->old != BP_NONE && field_is_counted(old_field(c)));
}

static char *cell_of(const ahead_column_t *c, uint32_t row)
{
    return (char *)c->made.cells + (size_t)row * c->of->field.size;
}

/* Count for the world the blocks of lists that are in none of its rows (store/world_check.h). */
static void count_blocks(ahead_column_t *c, int64_t before)
{
    int64_t more = c->world->lists.main.blocks - before;
    c->blocks += more;
    c->world->blocks_aside += more;
}

/* Let go of what cells from `row` on hold. */
static void shorten(ahead_column_t *c, uint32_t row)
{
    int64_t before = c->world->lists.main.blocks;
    if (c->rows <= row)
        return;
    cells_release(&c->world->holdings, &c->of->field, cell_of(c, row), c->rows - row);
    count_blocks(c, before);
    c->rows = row;
}

/* Is the column let go of in slices? */
static bool leave(ahead_column_t *c)
{
    bool taken = leavings_take(&c->world->leavings, &c->world->memory, &c->of->field, c->made.block.start,
                               c->made.block.size, c->made.cells, c->rows);
    if (taken)
        c->made = (run_made_t){.cells = NULL};
    return taken;
}

static void drop_memory(ahead_column_t *c)
{
    if (c->made.cells != NULL && !leave(c)) {
        shorten(c, 0);
        run_free_column(&c->made, &c->world->memory);
    }
    c->world->blocks_aside -= c->blocks; /* they are in rows now, or in leavings */
    c->rows = 0;
    c->blocks = 0;
}

/* Bring the memory into step with the run, which may have got more or less room. */
static bool has_room(ahead_column_t *c)
{
    uint32_t size = c->of->field.size;
    uint32_t column = prototypes_column(&c->world->prototypes, c->prototype, c->key) + c->of->number;
    if (c->made.cells == NULL)
        return run_make_column(&c->made, c->run, &c->world->memory, column, size);
    shorten(c, c->run->count);
    return run_fit_column(&c->made, c->run, &c->world->memory, column, size, c->rows);
}

static uint32_t old_column(const ahead_column_t *c)
{
    return prototypes_column(&c->world->prototypes, c->prototype, c->key) + c->of->old;
}

/* Make cells, which hold nothing. False where a value does not fit, or memory is lacking: they hold nothing then. */
static bool convert_rows(const ahead_column_t *c, uint32_t row, uint32_t count)
{
    const field_t *field = &c->of->field;
    if (c->of->old == BP_NONE)
        cells_fill_many(field, cell_of(c, row), count);
    return c->of->old == BP_NONE ||
           cells_convert(&c->world->holdings, old_field(c), run_cell(c->run, old_column(c), row), field,
                         cell_of(c, row), count, run_entities(c->run) + row) == count;
}

/* A few pieces of one column. */
typedef struct slice_t {
    const ahead_column_t *column;
    uint32_t first, end;
    _Atomic bool misfit;
} slice_t;

static void convert_piece(void *data, uint32_t index)
{
    slice_t *s = data;
    const ahead_column_t *c = s->column;
    uint32_t row = s->first + index * PIECE, count = s->end - row < PIECE ? s->end - row : PIECE;
    if (!convert_rows(c, row, count))
        atomic_store(&s->misfit, true);
}

/* Convert the next rows of a column that this thread alone may make; false as convert_rows. */
static bool convert_counted(ahead_column_t *c)
{
    int64_t before = c->world->lists.main.blocks;
    uint32_t left = c->run->count - c->rows, count = left < COUNTED_PIECE ? left : COUNTED_PIECE;
    bool good = convert_rows(c, c->rows, count);
    count_blocks(c, before);
    c->rows += good ? count : 0;
    return good;
}

/* Convert the next rows of a column; false where one of them does not fit. */
static bool convert_some(const reload_change_t *change, ahead_column_t *c)
{
    const bp_jobs_i *jobs = change->reload->jobs;
    bool shared = jobs != NULL && jobs->threads > 1 && jobs->run != NULL;
    uint32_t left = c->run->count - c->rows, most = PIECE * JOBS_OF_A_THREAD * (shared ? jobs->threads : 1);
    slice_t s = {.column = c, .first = c->rows, .end = c->rows + (left < most ? left : most)};
    uint32_t pieces = (s.end - s.first + PIECE - 1) / PIECE;
    atomic_init(&s.misfit, false);
    if (c->rows == 0)
        c->since = world_look(c->world);
    if (is_counted(c))
        return convert_counted(c);
    if (shared && pieces > 1)
        jobs_run(jobs, convert_piece, &s, pieces);
    for (uint32_t i = 0; i < pieces && !(shared && pieces > 1); i++)
        convert_piece(&s, i);
    c->rows = s.end;
    return !atomic_load(&s.misfit);
}

bool ahead_slice(reload_change_t *change)
{
    ahead_t *ahead = change->ahead;
    uint64_t began = os_clock_ns();
    while (ahead != NULL && ahead->at < ahead->column_count) {
        ahead_column_t *c = &ahead->columns[ahead->at];
        if (!is_current(c) || !has_room(c)) {
            drop_memory(c);
            ahead->at++;
            continue;
        }
        if (!convert_some(change, c)) {
            ahead_end(change); /* the change will report the value, if it is still there */
            return false;
        }
        if (c->rows >= c->run->count)
            ahead->at++;
        if (os_clock_ns() - began >= change->reload->slice_ns)
            return true;
    }
    while (ahead != NULL && ahead->held < ahead->wanted && superblocks_hold(&change->reload->memory)) {
        ahead->held += SUPERBLOCKS_BYTES;
        if (os_clock_ns() - began >= change->reload->slice_ns)
            return true;
    }
    return false;
}

/* --- the change --------------------------------------------------------------------------------------------------- */

/* Do both declarations make the same cells of the same old ones? */
static bool same_cells(const field_t *a, const field_t *b)
{
    return a->type == b->type && a->size == b->size && a->elements == b->elements && a->flags == b->flags &&
           strcmp(a->initial_text, b->initial_text) == 0 && strcmp(a->min_text, b->min_text) == 0 &&
           strcmp(a->max_text, b->max_text) == 0 && strcmp(a->values_text, b->values_text) == 0;
}

bool ahead_has(const reload_change_t *change, const component_t *slot, uint32_t number)
{
    const ahead_t *ahead = change->ahead;
    for (uint32_t i = 0; ahead != NULL && i < ahead->column_count; i++) {
        const ahead_column_t *c = &ahead->columns[i];
        if (c->of->slot == slot && c->of->number == number && c->rows > 0 && is_current(c))
            return true;
    }
    return false;
}

run_made_t *ahead_find(const reload_change_t *change, const world_change_t *w, const manager_change_t *m,
                       const run_t *run, uint32_t key, uint32_t number)
{
    const ahead_t *ahead = change->ahead;
    ahead_column_t *found = NULL;
    for (uint32_t i = first_at(ahead, run, key, number); i < ahead->column_count && found == NULL; i++) {
        ahead_column_t *c = &ahead->columns[i];
        if (compare_place(c, run, key, number) != 0)
            break;
        if (c->world == w->world && c->rows > 0 && c->of->slot == m->component->slot &&
            c->of->old == m->component->sources[number].old && is_current(c) && c->made.cells != NULL &&
            same_cells(&c->of->field, &m->component->kept->fields[number]))
            found = c;
    }
    if (found == NULL || !has_room(found))
        return NULL;
    change->reload->readied++;
    if (field_is_counted(&found->of->field))
        cells_clear(&found->of->field, cell_of(found, found->rows), run->count - found->rows);
    return &found->made;
}

const ahead_column_t *ahead_taken(const reload_change_t *change, const run_t *run, uint32_t key, uint32_t number)
{
    const ahead_t *ahead = change->ahead;
    for (uint32_t i = first_at(ahead, run, key, number); ahead != NULL && i < ahead->column_count; i++) {
        const ahead_column_t *c = &ahead->columns[i];
        if (compare_place(c, run, key, number) != 0)
            break;
        if (c->rows > 0 && c->made.cells == NULL)
            return c;
    }
    return NULL;
}

uint32_t ahead_next_stale(const ahead_column_t *column, const run_t *run, uint32_t old, uint32_t row, uint32_t count,
                          uint32_t *length)
{
    uint32_t end = row + count, ready = column->rows < end ? column->rows : end, found = row;
    uint16_t number = (uint16_t)old;
    *length = count;
    if (run->stamps == NULL)
        return row;
    if (column->of->old == BP_NONE)
        found = row < ready ? BP_NONE : row; /* a default is the same in every row */
    else if (row < ready)
        found = stamps_next(run->stamps, &number, 1, column->since, row, ready, length);
    if (row < ready && found != BP_NONE)
        return found;
    row = row < ready ? ready : row;
    *length = end - row;
    return row;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

static void release_worlds(ahead_t *ahead, const world_t *only)
{
    for (uint32_t i = ahead->world_count; i > 0; i--) {
        if (only != NULL && ahead->worlds[i - 1].world != only)
            continue;
        world_release_stamps(ahead->worlds[i - 1].world);
        ahead->worlds[i - 1] = ahead->worlds[--ahead->world_count];
    }
}

void ahead_end(reload_change_t *change)
{
    ahead_t *ahead = change->ahead;
    memory_t *memory = &change->reload->memory;
    if (ahead == NULL)
        return;
    for (uint32_t i = 0; i < ahead->column_count; i++)
        drop_memory(&ahead->columns[i]);
    release_worlds(ahead, NULL);
    if (ahead->held > 0)
        superblocks_let_go(memory);
    for (uint32_t i = 0; i < ahead->field_count; i++)
        slot_free_field(change->reload->base, memory, &ahead->fields[i].field);
    memory_free(memory, ahead->fields, ahead->field_capacity * sizeof *ahead->fields);
    memory_free(memory, ahead->columns, ahead->column_capacity * sizeof *ahead->columns);
    memory_free(memory, ahead->worlds, ahead->world_capacity * sizeof *ahead->worlds);
    memory_free(memory, ahead, sizeof *ahead);
    change->ahead = NULL;
    if (change->reload->readies == change)
        change->reload->readies = NULL;
}

void ahead_forget_world(reload_change_t *change, const world_t *world)
{
    ahead_t *ahead = change->ahead;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < ahead->column_count; i++) {
        if (ahead->columns[i].world == world) {
            drop_memory(&ahead->columns[i]);
            ahead->at -= i < ahead->at;
        }
    }
    for (uint32_t i = 0; i < ahead->column_count; i++) {
        if (ahead->columns[i].world != world)
            ahead->columns[kept++] = ahead->columns[i];
    }
    ahead->column_count = kept;
    release_worlds(ahead, world);
}
