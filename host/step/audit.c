/* audit.c - hashes of cells around units.
 *
 * A cell is hashed by its value: texts and lists by their contents, not by their addresses.
 */
#include "audit.h"

void audit_init(audit_t *a, base_t *base, bool writes)
{
    *a = (audit_t){.base = base, .writes = writes};
}

void audit_free(audit_t *a)
{
    memory_t *memory = &a->base->memory;
    memory_free(memory, a->cells, a->cell_capacity * sizeof *a->cells);
    memory_free(memory, a->told, a->told_capacity * sizeof *a->told);
    memory_free(memory, a->results, a->result_capacity * sizeof *a->results);
    audit_init(a, a->base, a->writes);
}

/* --- cells -------------------------------------------------------------------------------------------------------- */

static uint64_t hash_cell(const field_t *field, const void *cell)
{
    uint32_t count;
    const char *items = field_items(field, cell, &count);
    uint64_t hash = count;
    if (field->type != BP_STRING && field_is_single(field) && field->size <= sizeof hash) {
        hash = 0;
        memcpy(&hash, cell, field->size);
        return hash;
    }
    if (field->type != BP_STRING)
        return count == 0 ? 0 : hash_bytes(items, (size_t)count * field_item_size(field));
    for (uint32_t i = 0; i < count; i++) {
        const char *text;
        memcpy(&text, items + i * sizeof text, sizeof text);
        uint64_t words[] = {hash, hash_bytes(text, strlen(text))};
        hash = hash_bytes(words, sizeof words);
    }
    return hash;
}

static bool declares(const unit_t *unit, uint32_t manager, uint32_t column)
{
    for (uint32_t i = 0; i < unit->access_count; i++) {
        const access_t *access = &unit->access[i];
        if (access->manager == manager)
            return access->named || (access->writes[column / 64] >> column % 64 & 1) != 0;
    }
    return false;
}

/* See the columns of one run: which field of which manager each one is. Column 0, the entities, belongs to no
 * manager. */
typedef void (*audit_see)(void *data, const run_t *run, uint32_t place, uint32_t manager, uint32_t column);

static void see_columns(const world_t *world, const run_t *run, audit_see see, void *data)
{
    const prototypes_t *p = &world->prototypes;
    see(data, run, 0, BP_NONE, 0);
    for (uint32_t at = run->prototype; at != 0; at = p->items[at].base) {
        const component_key_t *key = &p->keys[p->items[at].key];
        for (uint32_t c = 0; c < key->columns; c++)
            see(data, run, p->items[p->items[at].base].columns + c, key->manager, c);
    }
}

/* --- writes that are not declared
   ----------------------------------------------------------------------------------------- */

typedef struct looking_t {
    audit_t *audit;
    const unit_t *unit;
    uint32_t at; /* the next cell, afterwards */
} looking_t;

static const void *cell_of(const run_t *run, uint32_t place, uint32_t row)
{
    return (const char *)run->columns[place] + (size_t)row * run->sizes[place];
}

static void take_down(void *data, const run_t *run, uint32_t place, uint32_t manager, uint32_t column)
{
    looking_t *l = data;
    audit_t *a = l->audit;
    if (a->lacking || (manager != BP_NONE && declares(l->unit, manager, column)))
        return;
    a->lacking = !memory_reserve(&a->base->memory, &a->cells, &a->cell_capacity, (uint64_t)a->cell_count + run->count,
                                 sizeof *a->cells);
    for (uint32_t row = 0; row < run->count && !a->lacking; row++)
        a->cells[a->cell_count++] = hash_cell(run->fields[place], cell_of(run, place, row));
}

static bool is_told(audit_t *a, const unit_t *unit, uint32_t manager, uint32_t column)
{
    const world_t *world = unit->schedule->world;
    const manager_t *of = manager == BP_NONE ? NULL : world->managers[manager];
    const uint64_t names[] = {names_hash(world->name), names_hash(unit->name), unit->system != NULL,
                              of == NULL ? 0 : names_hash(of->component->name),
                              of == NULL ? 0 : names_hash(of->columns[column]->name)};
    uint64_t hash = hash_bytes(names, sizeof names);
    for (uint32_t i = 0; i < a->told_count; i++) {
        if (a->told[i] == hash)
            return true;
    }
    if (memory_reserve(&a->base->memory, &a->told, &a->told_capacity, a->told_count + 1u, sizeof *a->told))
        a->told[a->told_count++] = hash;
    return false;
}

static void tell(const looking_t *l, const run_t *run, uint32_t row, uint32_t manager, uint32_t column)
{
    const world_t *world = l->unit->schedule->world;
    const char *kind = l->unit->system != NULL ? "system" : "component";
    char entity[64];
    value_format(&world->base->values, BP_ENTITY, &run_entities(run)[row], entity, sizeof entity);
    if (manager == BP_NONE) {
        log_write(&world->base->log, BP_LOG_ERROR, "host",
                  "audit: %s '%s' of world '%s' has written over which entity is in a row, that of %s", kind,
                  l->unit->name, world->name, entity);
        return;
    }
    const manager_t *of = world->managers[manager];
    log_write(&world->base->log, BP_LOG_ERROR, "host",
              "audit: %s '%s' of world '%s' has changed %s.%s of entity %s, which it has not declared to write", kind,
              l->unit->name, world->name, of->component->name, of->columns[column]->name, entity);
}

static void compare(void *data, const run_t *run, uint32_t place, uint32_t manager, uint32_t column)
{
    looking_t *l = data;
    if (manager != BP_NONE && declares(l->unit, manager, column))
        return;
    for (uint32_t row = 0; row < run->count; row++) {
        bool same = l->audit->cells[l->at++] == hash_cell(run->fields[place], cell_of(run, place, row));
        if (!same && !is_told(l->audit, l->unit, manager, column))
            tell(l, run, row, manager, column);
    }
}

static void look(audit_t *a, const unit_t *unit, audit_see see)
{
    const world_t *world = unit->schedule->world;
    looking_t looking = {a, unit, 0};
    for (uint32_t i = 0; i < world->run_count; i++)
        see_columns(world, world->runs[i], see, &looking);
}

/* Call one of the functions of bp_unit_watch_i, where it is set. */
static void show(const audit_t *a, const unit_t *unit, void (*told)(void *, bp_world_o *, const char *, uint32_t))
{
    if (told != NULL)
        told(a->watch.context, world_handle(unit->schedule->world), unit->name, unit->system != NULL);
}

void audit_before(audit_t *a, const unit_t *unit)
{
    show(a, unit, a->watch.before);
    if (!a->writes)
        return;
    a->cell_count = 0;
    a->lacking = false;
    look(a, unit, take_down);
    if (a->lacking)
        log_write(&a->base->log, BP_LOG_WARNING, "host", "audit: out of memory; '%s' is not looked at in this step",
                  unit->name);
}

void audit_after(audit_t *a, const unit_t *unit)
{
    show(a, unit, a->watch.after);
    if (a->writes && !a->lacking)
        look(a, unit, compare);
    if (!a->writes)
        audit_done(a, unit);
}

/* --- results ------------------------------------------------------------------------------------------------------ */

void audit_clear(audit_t *a)
{
    a->result_count = 0;
}

static bp_result_t expect_unit(audit_t *a, const unit_t *unit)
{
    const world_t *world = unit->schedule->world;
    for (uint32_t m = 0; m < world->manager_count; m++) {
        for (uint32_t c = 0; c < world->managers[m]->column_count; c++) {
            if (!declares(unit, m, c) || field_is_rebuilt(world->managers[m]->columns[c]))
                continue; /* what is made again is not kept: in rows of the dead it has its default afterwards */
            if (!memory_reserve(&a->base->memory, &a->results, &a->result_capacity, a->result_count + 1u,
                                sizeof *a->results))
                return error_memory(&a->base->error, "comparing what units write");
            a->results[a->result_count++] = (audit_result_t){unit, m, c, 0};
        }
    }
    return BP_OK;
}

bp_result_t audit_expect(audit_t *a, const schedule_t *schedule)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < schedule->count && result == BP_OK; i++)
        result = expect_unit(a, schedule->units[i]);
    return result;
}

static void add_column(void *data, const run_t *run, uint32_t place, uint32_t manager, uint32_t column)
{
    audit_result_t *r = data;
    const field_t *field = run->fields[place];
    if (manager != r->manager || column != r->column || run->count == 0)
        return;
    uint64_t words[2] = {r->hash, 0};
    if (!field_is_counted(field)) {
        words[1] = hash_bytes(run->columns[place], (size_t)run->count * run->sizes[place]);
        r->hash = hash_bytes(words, sizeof words);
        return;
    }
    for (uint32_t row = 0; row < run->count; row++) {
        words[0] = r->hash;
        words[1] = hash_cell(field, cell_of(run, place, row));
        r->hash = hash_bytes(words, sizeof words);
    }
}

void audit_done(audit_t *a, const unit_t *unit)
{
    const world_t *world = unit->schedule->world;
    for (uint32_t i = 0; i < a->result_count && !a->writes; i++) {
        for (uint32_t r = 0; a->results[i].unit == unit && r < world->run_count; r++)
            see_columns(world, world->runs[r], add_column, &a->results[i]);
    }
}
