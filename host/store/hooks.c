/* hooks.c - rows that a component is told of before they come or after they have gone: made outside of the runs, handed
 * to the component's verbs (bp_rows_i), and put in place. hooks.h says which functions are called when. */
#include "hooks.h"

#include "../base/error.h"
#include "../plugin/verbs.h"
#include "store_inner.h"

/* --- telling ------------------------------------------------------------------------------------------------------ */

/* The state of a call in which a component is told of rows. */
typedef struct telling_t {
    world_t *world;
    world_hold_t hold;
    plugins_t *plugins;
    lists_call_t lists;
} telling_t;

static void begin(telling_t *t, world_t *world, const component_t *component)
{
    *t = (telling_t){.world = world, .hold = world->hold, .plugins = component->owner->all};
    if (world->hold == WORLD_FREE)
        world->hold = WORLD_TOLD;
    world->entities->told++;
    t->plugins->calling++;
    lists_begin(&t->lists, &world->lists);
    world->base->error.text[0] = '\0';
}

static void end(telling_t *t)
{
    lists_end(&t->lists);
    t->plugins->calling--;
    t->world->entities->told--;
    t->world->hold = t->hold;
}

static bp_result_t reason(world_t *world, const component_t *component, bp_result_t result)
{
    error_text_t *error = &world->base->error;
    if (result == BP_OK)
        return BP_OK;
    if (error->text[0] == '\0')
        error_set(error, result, "it gave no reason (code %d)", result);
    return error_prefix(error, result, "component '%s' of world '%s': ", component->name, world->name);
}

static bp_run_t view_of(world_t *world, manager_t *manager, uint32_t key, uint32_t prototype,
                        const bp_entity_t *entities, void *const *columns, uint32_t count)
{
    return (bp_run_t){.struct_size = sizeof(bp_run_t),
                      .count = count,
                      .prototype = prototype,
                      .manager = &manager->verb.handed,
                      .entities = entities,
                      .columns = columns,
                      .instance = world->prototypes.keys[key].name};
}

static bp_result_t tell_added(world_t *world, manager_t *manager, const component_t *component, bp_run_t *view)
{
    telling_t t;
    if (component->rows.rows_added == NULL)
        return BP_OK;
    begin(&t, world, component);
    view->lists = &t.lists.seen;
    bp_result_t result = verb_rows_added(component, &manager->verb, view);
    end(&t);
    return reason(world, component, result);
}

/* False: the component's plugin is set aside, by now. */
static bool tell_removed(world_t *world, manager_t *manager, bp_run_t *view)
{
    telling_t t;
    if (manager->component->rows.rows_removed == NULL)
        return true;
    error_text_t kept = world->base->error;
    begin(&t, world, manager->component);
    view->lists = &t.lists.seen;
    verb_made_t made = verb_rows_removed(manager->component, &manager->verb, view);
    end(&t);
    world->base->error = kept;
    return made == VERB_MADE || !plugin_is_aside(manager->component->owner);
}

/* --- aside -------------------------------------------------------------------------------------------------------- */

/* Rows that hold nothing, with the entities that they will be of. NULL when out of memory. */
static run_t *make_rows(world_t *world, const field_t *const *fields, uint32_t field_count,
                        const bp_entity_t *entities, uint32_t count)
{
    run_t *rows = run_create(&world->memory, 0, fields, field_count + 1u, 0);
    if (rows == NULL || !run_reserve(rows, &world->memory, count)) {
        run_free(rows, &world->memory, &world->holdings);
        return NULL;
    }
    rows->count = count;
    if (entities != NULL)
        memcpy(run_entities(rows), entities, count * sizeof *entities);
    for (uint32_t c = 1; c < rows->column_count; c++)
        cells_clear(rows->fields[c], rows->columns[c], field_is_counted(rows->fields[c]) ? count : 0);
    return rows;
}

static void free_rows(world_t *world, run_t *rows)
{
    run_free(rows, &world->memory, &world->holdings);
}

/* Copy a cell to a row aside, with what it holds. */
static bool copy_cell(world_t *world, run_t *rows, uint32_t column, uint32_t row, const void *cell)
{
    const field_t *field = rows->fields[column];
    if (field_is_counted(field))
        return cell_copy(&world->holdings, field, run_cell(rows, column, row), cell);
    memcpy(run_cell(rows, column, row), cell, field->size);
    return true;
}

/* Where a component lies in the run of an entity that has it. */
typedef struct place_t {
    run_t *run;
    uint32_t column, row;
} place_t;

static bool find_place(const world_t *world, uint32_t key, bp_entity_t e, place_t *place)
{
    const record_t *record = world_record(world, e);
    uint32_t column = record == NULL ? 0 : prototypes_column(&world->prototypes, record->prototype, key);
    if (column == 0)
        return false;
    *place = (place_t){world_run(world, record->prototype), column, record->row};
    return true;
}

/* Move the values of rows made aside into the rows that the entities have now. */
static void put_rows(world_t *world, uint32_t key, run_t *rows)
{
    place_t at;
    for (uint32_t i = 0; i < rows->count; i++) {
        bool there = find_place(world, key, run_entities(rows)[i], &at);
        assert(there);
        if (!there)
            continue;
        for (uint32_t c = 1; c < rows->column_count; c++) {
            const field_t *field = rows->fields[c];
            void *cell = run_cell(at.run, at.column + c - 1, at.row);
            if (field_is_counted(field))
                cells_release(&world->holdings, field, cell, 1);
            memcpy(cell, run_cell(rows, c, i), field->size);
        }
        stamps_note_rows(at.run->stamps, at.row, 1);
    }
    rows->count = 0;
    free_rows(world, rows);
}

/* --- rows that went untold ---------------------------------------------------------------------------------------- */

/* Keep rows of a run whose columns from `column` on are the first `have` of the manager's; the others get their
 * defaults. */
static void keep_untold(world_t *world, manager_t *manager, uint32_t key, const run_t *run, uint32_t column,
                        uint32_t have, uint32_t row, uint32_t count)
{
    untold_t *untold = &manager->untold;
    run_t *rows = make_rows(world, manager->columns, manager->column_count, run_entities(run) + row, count);
    bool good = rows != NULL && memory_reserve(&world->memory, &untold->items, &untold->capacity, untold->count + 1u,
                                               sizeof *untold->items);
    if (good)
        run_fill(rows, 1 + have, rows->column_count, 0, count);
    for (uint32_t i = 0; i < count && good; i++) {
        for (uint32_t c = 0; c < have && good; c++)
            good = copy_cell(world, rows, c + 1, i, run_cell(run, column + c, row + i));
    }
    if (good) {
        untold->items[untold->count++] = (untold_rows_t){rows, key, run->prototype};
        return;
    }
    if (rows != NULL)
        free_rows(world, rows);
    log_write(&world->base->log, BP_LOG_ERROR, "host",
              "world '%s': out of memory; component '%s' is not told of all rows that have gone", world->name,
              manager->component->name);
}

void hooks_tell_untold(world_t *world, manager_t *manager)
{
    untold_t *untold = &manager->untold;
    uint32_t told = 0;
    if (untold->count == 0 || !manager->started || plugin_is_aside(manager->component->owner))
        return;
    for (bool sound = true; sound && told < untold->count; told += sound) {
        const untold_rows_t *u = &untold->items[told];
        bp_run_t view = view_of(world, manager, u->key, u->prototype, run_entities(u->rows),
                                (void *const *)u->rows->columns + 1, u->rows->count);
        sound = tell_removed(world, manager, &view);
    }
    for (uint32_t i = 0; i < told; i++)
        free_rows(world, untold->items[i].rows);
    untold->count -= told;
    memmove(untold->items, untold->items + told, untold->count * sizeof *untold->items);
    if (untold->count == 0)
        hooks_forget_untold(world, manager);
}

void hooks_forget_untold(world_t *world, manager_t *manager)
{
    untold_t *untold = &manager->untold;
    for (uint32_t i = 0; i < untold->count; i++)
        free_rows(world, untold->items[i].rows);
    memory_free(&world->memory, untold->items, untold->capacity * sizeof *untold->items);
    *untold = (untold_t){.items = NULL};
}

/* --- rows that come ----------------------------------------------------------------------------------------------- */

bp_result_t hooks_make(world_t *world, uint32_t key, uint32_t prototype, const bp_entity_t *entities, uint32_t count,
                       run_t **made)
{
    manager_t *manager = world_key_manager(world, key);
    *made = NULL;
    run_t *rows = make_rows(world, manager->columns, world_visible(manager), entities, count);
    if (rows == NULL)
        return error_memory(&world->base->error, "adding components");
    run_fill(rows, 1, rows->column_count, 0, count);
    bp_run_t view =
        view_of(world, manager, key, prototype, run_entities(rows), (void *const *)rows->columns + 1, count);
    bp_result_t result = tell_added(world, manager, manager->component, &view);
    if (result == BP_OK)
        *made = rows;
    else
        free_rows(world, rows);
    return result;
}

void hooks_put(world_t *world, uint32_t key, run_t *rows)
{
    if (rows != NULL)
        put_rows(world, key, rows);
}

void hooks_take_back(world_t *world, uint32_t key, run_t *rows)
{
    if (rows == NULL)
        return;
    manager_t *manager = world_key_manager(world, key);
    bp_run_t view =
        view_of(world, manager, key, BP_NONE, run_entities(rows), (void *const *)rows->columns + 1, rows->count);
    if (!tell_removed(world, manager, &view))
        keep_untold(world, manager, key, rows, 1, rows->column_count - 1u, 0, rows->count);
    free_rows(world, rows);
}

/* The next key from link `at` of a chain on with a component that is told of rows; the link after it is left in `at`.
   BP_NONE: there is none. */
static uint32_t next_hooked(const world_t *world, uint32_t *at)
{
    const prototypes_t *p = &world->prototypes;
    while (*at != 0) {
        uint32_t key = p->items[*at].key;
        *at = p->items[*at].base;
        if ((p->keys[key].flags & KEY_HOOKED) != 0)
            return key;
    }
    return BP_NONE;
}

uint32_t hooks_count(const world_t *world, uint32_t prototype)
{
    uint32_t count = 0;
    while (next_hooked(world, &prototype) != BP_NONE)
        count++;
    return count;
}

bp_result_t hooks_make_all(world_t *world, uint32_t prototype, const bp_entity_t *entities, uint32_t count,
                           run_t **made)
{
    bp_result_t result = BP_OK;
    uint32_t at = prototype, key, done = 0;
    while (result == BP_OK && (key = next_hooked(world, &at)) != BP_NONE)
        result = hooks_make(world, key, prototype, entities, count, &made[done++]);
    if (result != BP_OK)
        hooks_take_back_all(world, prototype, made);
    return result;
}

void hooks_put_all(world_t *world, uint32_t prototype, run_t **made)
{
    uint32_t at = prototype, key, done = 0;
    while ((key = next_hooked(world, &at)) != BP_NONE) {
        hooks_put(world, key, made[done]);
        made[done++] = NULL;
    }
}

void hooks_take_back_all(world_t *world, uint32_t prototype, run_t **made)
{
    uint32_t at = prototype, key, done = 0;
    while ((key = next_hooked(world, &at)) != BP_NONE) {
        hooks_take_back(world, key, made[done]);
        made[done++] = NULL;
    }
}

/* --- rows where they lie ------------------------------------------------------------------------------------------ */

static bp_run_t view_in_place(world_t *world, manager_t *manager, uint32_t key, const run_t *run, uint32_t row,
                              uint32_t count, void **columns)
{
    uint32_t column = prototypes_column(&world->prototypes, run->prototype, key);
    for (uint32_t c = 0; c < world_visible(manager); c++)
        columns[c] = run_cell(run, column + c, row);
    bp_run_t view = view_of(world, manager, key, run->prototype, run_entities(run) + row, columns, count);
    view.first = row;
    return view;
}

bp_result_t hooks_added(world_t *world, uint32_t key, run_t *run, uint32_t row, uint32_t count)
{
    void *columns[REGISTRY_MAX_FIELDS];
    manager_t *manager = world_key_manager(world, key);
    bp_run_t view = view_in_place(world, manager, key, run, row, count, columns);
    return tell_added(world, manager, manager->component, &view);
}

void hooks_removed(world_t *world, uint32_t key, run_t *run, uint32_t row, uint32_t count)
{
    void *columns[REGISTRY_MAX_FIELDS];
    manager_t *manager = world_key_manager(world, key);
    bp_run_t view = view_in_place(world, manager, key, run, row, count, columns);
    uint32_t column = prototypes_column(&world->prototypes, run->prototype, key);
    if (!tell_removed(world, manager, &view))
        keep_untold(world, manager, key, run, column, manager->column_count, row, count);
    for (uint32_t c = 0; c < world_visible(manager); c++) {
        if (field_is_rebuilt(manager->columns[c]))
            run_fill(run, column + c, column + c + 1, row, count);
    }
}

void hooks_leave(world_t *world, const manager_t *manager, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    const prototypes_t *p = &world->prototypes;
    for (uint32_t i = 0, n; i < count; i += n) {
        const record_t *record = world_record(world, entities[i]);
        n = 1;
        if (record == NULL || (p->items[record->prototype].flags & KEY_HOOKED) == 0)
            continue;
        run_t *run = world_run(world, record->prototype);
        uint32_t row = record->row, at = record->prototype;
        n = run_stretch(run, row, entities + i, count - i);
        for (; at != 0; at = p->items[at].base) {
            uint32_t found = p->items[at].key;
            if (p->keys[found].manager == manager->number && (key == BP_NONE || key == found))
                hooks_removed(world, found, run, row, n);
        }
    }
}

/* --- values that are set ------------------------------------------------------------------------------------------ */

static run_t *copy_rows(world_t *world, uint32_t key, const bp_entity_t *entities, uint32_t count)
{
    const manager_t *manager = world_key_manager(world, key);
    run_t *rows = make_rows(world, manager->columns, world_visible(manager), entities, count);
    bool good = rows != NULL;
    place_t at;
    for (uint32_t i = 0; i < count && good; i++) {
        good = find_place(world, key, entities[i], &at);
        for (uint32_t c = 1; good && c < rows->column_count; c++)
            good = copy_cell(world, rows, c, i, run_cell(at.run, at.column + c - 1, at.row));
    }
    if (good)
        return rows;
    if (rows != NULL)
        free_rows(world, rows);
    error_memory(&world->base->error, "setting a property");
    return NULL;
}

static bp_result_t put_element(world_t *world, const bp_property_t *p, const field_t *field, bp_entity_t e, char *cell,
                               const void *value)
{
    uint32_t have, size = field_item_size(field);
    field_items(field, cell, &have);
    bp_list_t *list = (bp_list_t *)(void *)cell;
    bool appends = field_is_list(field) && p->element == have;
    if (p->element >= have && !appends)
        return store_about(world, e, error_set(&world->base->error, BP_ERROR_NOT_FOUND,
                                               "'%s' has %u value%s, and none of number %u (they count from 0)",
                                               field->name, have, have == 1 ? "" : "s", p->element));
    const char *text = NULL;
    if (field->type == BP_STRING) {
        memcpy(&text, value, sizeof text);
        text = strings_acquire(&world->base->strings, text);
        if (text == NULL)
            return error_memory(&world->base->error, "setting a string");
        value = &text;
    }
    if (appends && !lists_reserve(&world->lists, list, size, have + 1)) {
        if (text != NULL)
            strings_release(&world->base->strings, text);
        return error_memory(&world->base->error, "appending to a list");
    }
    char *items = field_is_list(field) ? list->items : cell, *item = items + (size_t)p->element * size;
    if (field->type == BP_STRING && !appends) {
        const char *old;
        memcpy(&old, item, sizeof old);
        strings_release(&world->base->strings, old);
    }
    memcpy(item, value, size);
    if (appends)
        list->count++;
    return BP_OK;
}

static bp_result_t put_value(world_t *world, const bp_property_t *p, const field_t *field, bp_entity_t e, char *cell,
                             const char *value)
{
    if (p->element != BP_NONE)
        return put_element(world, p, field, e, cell, value);
    if (!field_is_counted(field)) {
        memcpy(cell, value, field->size);
        return BP_OK;
    }
    cells_release(&world->holdings, field, cell, 1);
    cells_clear(field, cell, 1);
    return cell_copy(&world->holdings, field, cell, value) ? BP_OK
                                                           : error_memory(&world->base->error, "setting a property");
}

bp_result_t hooks_set(world_t *world, const bp_property_t *p, const field_t *field, const bp_entity_t *entities,
                      uint32_t count, const char *values, size_t stride)
{
    telling_t t;
    manager_t *manager = world_key_manager(world, p->key);
    const component_t *component = manager->component;
    if (world->entities->told > 0)
        return error_set(&world->base->error, BP_ERROR_STATE,
                         "'%s' of component '%s' cannot be set while a component is told of rows; it writes its "
                         "columns",
                         field->name, component->name);
    run_t *rows = copy_rows(world, p->key, entities, count);
    if (rows == NULL)
        return BP_ERROR_MEMORY;
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < count && result == BP_OK; i++)
        result = put_value(world, p, field, entities[i], run_cell(rows, p->field + 1, i), values + i * stride);
    if (result == BP_OK) {
        bp_run_t view =
            view_of(world, manager, p->key, BP_NONE, run_entities(rows), (void *const *)rows->columns + 1, count);
        begin(&t, world, component);
        view.lists = &t.lists.seen;
        result = verb_rows_set(component, &manager->verb, &view, p->field);
        end(&t);
        reason(world, component, result);
    }
    if (result == BP_OK)
        put_rows(world, p->key, rows);
    else
        free_rows(world, rows);
    return result;
}

/* --- all rows anew ------------------------------------------------------------------------------------------------ */

static uint32_t count_living(const run_t *run)
{
    uint32_t living = 0;
    for (uint32_t row = 0; row < run->count; row++)
        living += run_entities(run)[row].id != 0;
    return living;
}

/* Copy the living rows aside; false when out of memory. */
static bool copy_living(world_t *world, const hooked_rows_t *from, run_t *rows)
{
    uint32_t i = 0;
    for (uint32_t row = 0; row < from->run->count; row++) {
        if (run_entities(from->run)[row].id == 0)
            continue;
        run_entities(rows)[i] = run_entities(from->run)[row];
        for (uint32_t c = 0; c < from->field_count; c++) {
            if (!copy_cell(world, rows, c + 1, i, (const char *)from->columns[c] + (size_t)row * from->fields[c]->size))
                return false;
        }
        i++;
    }
    return true;
}

static void put_rebuilt(const hooked_rows_t *to, const run_t *rows)
{
    for (uint32_t c = 0; c < to->field_count; c++) {
        uint32_t i = 0, size = to->fields[c]->size;
        for (uint32_t row = 0; field_is_rebuilt(to->fields[c]) && row < to->run->count; row++) {
            if (run_entities(to->run)[row].id != 0)
                memcpy((char *)to->columns[c] + (size_t)row * size, run_cell(rows, c + 1, i++), size);
        }
    }
}

bp_result_t hooks_rebuild(world_t *world, const hooked_rows_t *from)
{
    uint32_t living = count_living(from->run);
    if (living == 0)
        return BP_OK;
    run_t *rows = make_rows(world, from->fields, from->field_count, NULL, living);
    bp_result_t result = rows != NULL && copy_living(world, from, rows)
                             ? BP_OK
                             : error_memory(&world->base->error, "telling a component of its rows");
    if (result == BP_OK) {
        bp_run_t view = view_of(world, from->manager, from->key, from->run->prototype, run_entities(rows),
                                (void *const *)rows->columns + 1, living);
        result = tell_added(world, from->manager, from->component, &view);
    }
    if (result == BP_OK)
        put_rebuilt(from, rows);
    if (rows != NULL)
        free_rows(world, rows);
    return result;
}

bp_result_t hooks_rebuild_all(world_t *world, manager_t *manager)
{
    const prototypes_t *p = &world->prototypes;
    bp_result_t result = BP_OK;
    for (uint32_t r = 0; r < world->run_count && result == BP_OK; r++) {
        const run_t *run = world->runs[r];
        for (uint32_t at = run->prototype; run->count > 0 && at != 0 && result == BP_OK; at = p->items[at].base) {
            if (p->keys[p->items[at].key].manager != manager->number)
                continue;
            const hooked_rows_t rows = {.manager = manager,
                                        .component = manager->component,
                                        .fields = manager->columns,
                                        .field_count = world_visible(manager),
                                        .key = p->items[at].key,
                                        .run = run,
                                        .columns = run->columns + p->items[p->items[at].base].columns};
            result = hooks_rebuild(world, &rows);
        }
    }
    return result;
}
