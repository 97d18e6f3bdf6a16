/* carry.c - instances of managers with storage of their own, carried from one version to the next.
 *
 * Old and new manager are both at work: the old one is asked for values, the new one is given them, a batch at a time.
 * The new manager's slots go to new columns beside the old ones; its notices about instances that have moved, and its
 * requests for slots, are led to these columns too (carried_t).
 *
 * Carried are the properties that can be set from outside; read-only properties should follow from them. When all is
 * carried, both managers are asked for the read-only properties. Where their answers differ, something would be lost:
 * the report says so, and the change is refused unless the caller allows losses. Both managers are asked for the
 * other properties too, because a manager may not keep the values that it is given. Asking takes time; where a trial
 * has compared them in a copy of the host, the host itself does not. Texts are handed on at once, since they are good
 * only until the old manager is called again; references to entities are set when all instances are there.
 */
#include "../plugin/verbs.h"
#include "change.h"

enum { BATCH = 1024, BATCH_BYTES = 1024 * 1024 /* of a batch of one field, where that is fewer */ };

typedef struct carry_t {
    reload_change_t *change;
    world_change_t *w;
    manager_change_t *m;
    const component_t *old, *next;
    memory_t *memory;

    run_shape_t *shape;       /* the place at work: a key of a run, ... */
    uint32_t key, old_first, new_first;
    uint32_t row, count;      /* ... and the batch of `count` rows before `row` */
    uint32_t rows[BATCH];
    bp_entity_t entities[BATCH];
    uint32_t from[BATCH], to[BATCH]; /* slots */
    bool moved;               /* instances that were saved and loaded are in other slots */

    char *values;             /* room for a batch of each new field, one after another ... */
    size_t values_size;
    const void **columns;     /* ... and the address of each; NULL: not carried with the creation */
    char *read;               /* a batch as the old manager has it, ... */
    char *found;              /* ... and as the new manager has it afterwards */
    size_t read_size;
    uint32_t batch;           /* rows in one, at most */
    uint32_t living;          /* instances of the living, while count_living adds them up */
    uint32_t done, all;       /* living instances carried so far, and how many there are */
    carry_loss_t *losses;     /* of each new field, while they are counted */
} carry_t;

/* --- the batch at work -------------------------------------------------------------------------------------------- */

/* The next batch of living rows; false where there is none. */
static bool next_batch(carry_t *c)
{
    const run_t *run = c->shape->run;
    const uint32_t *slots = c->old->own_storage ? run->columns[c->old_first] : NULL;
    c->count = 0;
    for (; c->row < run->count && c->count < c->batch; c->row++) {
        bp_entity_t e = run_entities(run)[c->row];
        if (e.id == 0)
            continue;
        c->rows[c->count] = c->row;
        c->entities[c->count] = e;
        c->from[c->count++] = slots == NULL ? BP_NONE : slots[c->row];
    }
    return c->count > 0;
}

static uint32_t *new_slots(const carry_t *c)
{
    return c->shape->kept.columns[c->new_first];
}

static void gather_slots(carry_t *c)
{
    for (uint32_t i = 0; i < c->count; i++)
        c->to[i] = new_slots(c)[c->rows[i]];
}

/* Do something in every run, for every key of the manager. */
static bp_result_t everywhere(carry_t *c, bp_result_t (*visit)(carry_t *c))
{
    const prototypes_t *p = &c->w->world->prototypes;
    bp_result_t result = BP_OK;
    for (uint32_t s = 0; s < c->w->shape_count && result == BP_OK; s++) {
        const run_t *run = c->w->shapes[s].run;
        for (uint32_t at = run->prototype; at != 0 && result == BP_OK; at = p->items[at].base) {
            if (world_manager_change(c->w, p->items[at].key) != c->m)
                continue;
            c->key = p->items[at].key;
            c->old_first = p->items[p->items[at].base].columns;
            c->shape = world_shape(c->w, run, c->key, &c->new_first);
            c->row = 0;
            result = visit(c);
        }
    }
    return result;
}

/* Asked of runs with rows that have a key of the manager. Such runs all have a shape. */
static uint32_t *slots_of(void *context, const run_t *run, uint32_t key)
{
    const carry_t *c = context;
    uint32_t first;
    const run_shape_t *shape = world_shape(c->w, run, key, &first);
    return shape->kept.columns[first];
}

/* Put the new manager in place for a call. Its requests and notices about slots then concern its own slots. */
static void enter(carry_t *c)
{
    manager_enter(c->m);
    c->w->world->slots_elsewhere = &c->w->slots_elsewhere;
    reason_await(change_error(c->change));
}

static void leave(carry_t *c)
{
    c->w->world->slots_elsewhere = NULL;
    manager_leave(c->m);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static bp_result_t about(const carry_t *c, bp_result_t result, const char *what, const char *field)
{
    reason_given(change_error(c->change), result);
    return error_prefix(change_error(c->change), result, "component '%s', world '%s': %s%s: ", c->old->name,
                        c->w->world->name, what, field);
}

/* Read a batch of an old field, packed. */
static bp_result_t read_old(carry_t *c, uint32_t number, void *values)
{
    const field_t *field = &c->old->fields[number];
    if (c->old->own_storage) {
        reason_await(change_error(c->change));
        bp_result_t result = verb_get(c->old, &c->m->manager->verb, number, c->from, c->count, values, field->size);
        return result == BP_OK ? BP_OK : about(c, result, "the old version cannot tell property ", field->name);
    }
    for (uint32_t i = 0; i < c->count; i++)
        value_copy((char *)values + (size_t)i * field->size, run_cell(c->shape->run, c->old_first + number, c->rows[i]),
                   field->size);
    return BP_OK;
}

/* Read a batch of a new field, from the old field that it continues. */
static bp_result_t read_new(carry_t *c, uint32_t number, void *values)
{
    const convert_source_t *source = &c->m->component->sources[number];
    const field_t *field = &c->next->fields[number], *old = &c->old->fields[source->old];
    void *read = source->kind == CONVERT_SAME ? values : c->read;
    uint32_t bad = c->count;
    bp_result_t result = read_old(c, source->old, read);
    if (result != BP_OK)
        return result;
    if (source->kind != CONVERT_SAME)
        bad = cells_convert(&c->w->world->holdings, old, read, field, values, c->count, NULL);
    else if (source->check)
        bad = convert_check(field, values, c->count, NULL);
    if (bad == CELLS_NO_MEMORY)
        return error_memory(change_error(c->change), "carrying values");
    if (bad == c->count)
        return BP_OK;
    return columns_refuse(c->change, c->w, c->m, c->entities[bad], old, field, (char *)read + (size_t)bad * old->size);
}

/* Are values that read_new gives cells of their own, and not those of the old version? */
static bool are_made(const carry_t *c, uint32_t number)
{
    return c->m->component->sources[number].kind != CONVERT_SAME;
}

/* Release the values that read_new has put into c->values, after their use. */
static void release_new(carry_t *c, uint32_t number)
{
    if (are_made(c, number))
        cells_release(&c->w->world->holdings, &c->next->fields[number], c->values, c->count);
}

static bool is_carried(const carry_t *c, uint32_t number)
{
    return c->m->component->sources[number].old != BP_NONE && (c->next->fields[number].flags & BP_FIELD_READ_ONLY) == 0;
}

static bool with_creation(const carry_t *c, uint32_t number)
{
    uint32_t type = c->next->fields[number].type;
    return is_carried(c, number) && type != BP_STRING && type != BP_ENTITY;
}

/* --- into storage of its own -------------------------------------------------------------------------------------- */

static bp_result_t set_new(carry_t *c, uint32_t number, const void *values)
{
    const field_t *field = &c->next->fields[number];
    gather_slots(c);
    enter(c);
    bp_result_t result = verb_set(c->next, &c->m->manager->verb, number, c->to, c->count, values, field->size);
    leave(c);
    return result == BP_OK ? BP_OK : about(c, result, "the new version does not take property ", field->name);
}

/* Room for a batch of a new field. What follows is aligned for any type. */
static size_t batch_bytes(const carry_t *c, uint32_t number)
{
    return ((size_t)c->batch * c->next->fields[number].size + 15) / 16 * 16;
}

static bp_result_t read_columns(carry_t *c)
{
    char *at = c->values;
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < c->next->field_count && result == BP_OK; f++) {
        c->columns[f] = NULL;
        if (!with_creation(c, f))
            continue;
        result = read_new(c, f, at);
        c->columns[f] = at;
        at += batch_bytes(c, f);
    }
    return result;
}

static bp_result_t create_batch(carry_t *c)
{
    verb_manager_t *verb = &c->m->manager->verb;
    bp_name_t name = c->w->world->prototypes.keys[c->key].name;
    bp_result_t result = read_columns(c);
    if (result != BP_OK)
        return result;
    enter(c);
    result = verb_create(c->next, verb, name, c->entities, c->count, c->columns, c->to);
    leave(c);
    if (result != BP_OK)
        return about(c, result, "the new version does not take the instances", "");
    for (uint32_t i = 0; i < c->count; i++)
        new_slots(c)[c->rows[i]] = c->to[i];
    return BP_OK;
}

static bp_result_t set_texts(carry_t *c)
{
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < c->next->field_count && result == BP_OK && c->next->storage.set != NULL; f++) {
        if (!is_carried(c, f) || c->next->fields[f].type != BP_STRING)
            continue;
        result = read_new(c, f, c->values);
        if (result == BP_OK) {
            result = set_new(c, f, c->values);
            release_new(c, f);
        }
    }
    return result;
}

static bp_result_t create_all(carry_t *c)
{
    bp_result_t result = BP_OK;
    while (result == BP_OK && next_batch(c)) {
        result = create_batch(c);
        if (result == BP_OK)
            result = set_texts(c);
        c->done += c->count;
        if (result == BP_OK)
            result = pause_check(c->change, c->w, c->m, c->done, c->all);
    }
    return result;
}

static bp_result_t set_entities(carry_t *c)
{
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < c->next->field_count && c->next->storage.set != NULL; f++) {
        if (!is_carried(c, f) || c->next->fields[f].type != BP_ENTITY)
            continue;
        c->row = 0;
        while (result == BP_OK && next_batch(c)) {
            result = read_new(c, f, c->values);
            if (result == BP_OK)
                result = set_new(c, f, c->values);
        }
    }
    return result;
}

static bp_result_t clear_slots(carry_t *c)
{
    for (uint32_t row = 0; row < c->shape->run->count; row++)
        new_slots(c)[row] = BP_NONE;
    return BP_OK;
}

static bp_result_t copy_slots(carry_t *c)
{
    const run_t *run = c->shape->run;
    if (run->count > 0)
        memcpy(new_slots(c), run->columns[c->old_first], run->count * sizeof(uint32_t));
    return BP_OK;
}

static bp_result_t add_living(carry_t *c)
{
    while (next_batch(c))
        c->living += c->count;
    return BP_OK;
}

static uint32_t count_living(carry_t *c)
{
    c->living = 0;
    everywhere(c, add_living);
    return c->living;
}

static bp_result_t look_for_moved(carry_t *c)
{
    while (next_batch(c)) {
        gather_slots(c);
        c->moved = c->moved || memcmp(c->to, c->from, c->count * sizeof *c->to) != 0;
    }
    return BP_OK;
}

/* Instances that are still to be ended have been saved and loaded too. The manager ends these by the slots that they
 * had; where loading has put other instances elsewhere, the host cannot tell which slots those are now. */
static void carry_unended(carry_t *c)
{
    const unended_t *due = &c->m->manager->unended;
    unended_t *next = &c->m->unended;
    if (due->count == 0 && !due->lost)
        return;
    everywhere(c, look_for_moved);
    if (!c->moved && due->count > 0)
        unended_keep(next, c->w->world, c->m->manager, due->slots, due->count, false);
    next->doubtful = next->count > 0 ? due->doubtful : 0;
    next->lost = next->lost || due->lost || c->moved;
}

static bp_result_t save_and_load(carry_t *c)
{
    manager_t *manager = c->m->manager;
    plugin_t *plugin = c->m->component->version->plugin;
    void *data = NULL;
    size_t size = 0;
    reason_await(change_error(c->change));
    bp_result_t result = verb_save(c->old, &manager->verb, &data, &size);
    if (result != BP_OK)
        return about(c, result, "the old version cannot save its instances", "");
    enter(c);
    result = verb_load_saved(c->next, &manager->verb, c->old->table.version, data, size);
    uint32_t count = result == BP_OK ? verb_count(c->next, &manager->verb) : 0;
    leave(c);
    memory_free(plugin_account(plugin), data, size);
    if (result != BP_OK)
        return about(c, result, "the new version cannot load what the old one has saved", "");
    uint32_t living = count_living(c);
    if (count >= living) {
        carry_unended(c);
        return BP_OK;
    }
    return about(c,
                 error_set(change_error(c->change), BP_ERROR_FAILED, "it has %u instances after loading; %u are alive",
                           count, living),
                 "the new version has lost instances", "");
}

/* --- values that do not come back --------------------------------------------------------------------------------- */

/* Is the new manager given this property's values? */
static bool is_given(const carry_t *c, uint32_t number)
{
    return with_creation(c, number) || (is_carried(c, number) && c->next->storage.set != NULL);
}

/* May values of this property be lost? Two kinds have to be compared: properties that are not carried over, since the
 * new manager may compute other values or lack the property; and properties that the new manager is given, since it may
 * not have kept the values. Of the second kind rotations are left out, because a manager may bring them to length 1,
 * and references, because those to the dead may have become none. */
static bool may_be_lost(const carry_t *c, uint32_t number)
{
    const field_t *field = &c->next->fields[number];
    bool exact = field->type != BP_QUAT && field->type != BP_ENTITY;
    bool asked = !c->change->compared || c->change->lossy;
    return (!is_given(c, number) || (exact && asked)) && c->m->component->sources[number].old != BP_NONE &&
           (field->flags & BP_FIELD_DERIVED) == 0 && c->next->storage.get != NULL &&
           (!c->old->own_storage || c->old->storage.get != NULL);
}

static bool is_same_cell(const field_t *field, const char *a, const char *b)
{
    uint32_t count, other;
    if (field->type != BP_STRING)
        return memcmp(a, b, field->size) == 0;
    const char *const *left = field_items(field, a, &count), *const *right = field_items(field, b, &other);
    bool same = count == other;
    for (uint32_t i = 0; i < count && same; i++)
        same = strcmp(left[i], right[i]) == 0;
    return same;
}

/* Read into c->values the values that the new manager should have. False where the old one cannot tell them, or there
 * are no such values. */
static bool read_expected(carry_t *c, uint32_t number)
{
    const convert_source_t *source = &c->m->component->sources[number];
    const field_t *field = &c->next->fields[number], *old = &c->old->fields[source->old];
    bool as_it_is = source->kind == CONVERT_SAME;
    if (read_old(c, source->old, as_it_is ? c->values : c->read) != BP_OK)
        return false;
    return as_it_is ||
           cells_convert(&c->w->world->holdings, old, c->read, field, c->values, c->count, NULL) == c->count;
}

static void note_difference(const carry_t *c, carry_loss_t *loss, const field_t *field, uint32_t at)
{
    const value_context_t *values = &c->w->world->base->values;
    char who[32], was[120], is[120];
    if (loss->count++ > 0)
        return;
    size_t offset = (size_t)at * field->size;
    value_format(values, BP_ENTITY, &c->entities[at], who, sizeof who);
    field_format_cell(field, values, c->values + offset, was, sizeof was);
    field_format_cell(field, values, c->found + offset, is, sizeof is);
    snprintf(loss->first, sizeof loss->first, "%s: %s before, %s after", who, was, is);
}

static bp_result_t add_loss(carry_t *c, const carry_loss_t *loss)
{
    reload_change_t *change = c->change;
    if (loss->count == 0)
        return BP_OK;
    if (!memory_reserve(&change->reload->memory, &change->losses, &change->loss_capacity, change->loss_count + 1u,
                        sizeof *change->losses))
        return error_memory(change_error(change), "carrying instances");
    change->losses[change->loss_count++] = *loss;
    return BP_OK;
}

/* Compare one property of the batch at work. */
static bp_result_t compare_field(carry_t *c, uint32_t number, carry_loss_t *loss)
{
    const field_t *field = &c->next->fields[number];
    if (!read_expected(c, number))
        return BP_OK;
    enter(c);
    bp_result_t result = verb_get(c->next, &c->m->manager->verb, number, c->to, c->count, c->found, field->size);
    leave(c);
    bool alike = result != BP_OK ||
                 (field->type != BP_STRING && memcmp(c->values, c->found, (size_t)c->count * field->size) == 0);
    for (uint32_t i = 0; i < c->count && !alike; i++) {
        size_t offset = (size_t)i * field->size;
        if (!is_same_cell(field, c->values + offset, c->found + offset))
            note_difference(c, loss, field, i);
    }
    release_new(c, number);
    return result == BP_OK ? BP_OK : about(c, result, "the new version cannot tell property ", field->name);
}

/* All properties of a batch before the next batch, so that its instances are still at hand. */
static bp_result_t compare_fields(carry_t *c)
{
    bp_result_t result = BP_OK;
    while (result == BP_OK && next_batch(c)) {
        gather_slots(c);
        for (uint32_t f = 0; f < c->next->field_count && result == BP_OK; f++) {
            if (may_be_lost(c, f))
                result = compare_field(c, f, &c->losses[f]);
        }
    }
    return result;
}

/* Find instances that the old manager has made for itself and that no entity of the world has. Not possible for a
 * manager that collects its dead later, since it counts these too, nor for one that has instances still to be ended,
 * because its plugin was set aside. */
static bp_result_t compare_counts(carry_t *c)
{
    const component_t *old = c->old;
    if (!old->own_storage || old->storage.gc != NULL || c->m->manager->unended.count > 0 ||
        c->m->manager->unended.lost)
        return BP_OK;
    uint32_t before = verb_count(old, &c->m->manager->verb);
    enter(c);
    uint32_t after = verb_count(c->next, &c->m->manager->verb);
    bool crashed = atomic_load(&c->next->owner->aside) != 0;
    leave(c);
    if (crashed)
        return BP_OK; /* the crash ends the change in another way */
    carry_loss_t loss = {.component = c->m->component, .world = c->w->world->name};
    loss.count = before > after ? before - after : 0;
    snprintf(loss.first, sizeof loss.first, "%u before, %u after", before, after);
    return add_loss(c, &loss);
}

const char *loss_describe(const carry_loss_t *loss, char *text, size_t size)
{
    if (loss->field == NULL)
        snprintf(text, size, "%u instances (%s)", loss->count, loss->first);
    else
        snprintf(text, size, "%s of %u %s (%s%s)", loss->field, loss->count, loss->count == 1 ? "entity" : "entities",
                 loss->count == 1 ? "" : "the first is ", loss->first);
    return text;
}

static bp_result_t refuse_losses(carry_t *c, uint32_t first)
{
    const reload_change_t *change = c->change;
    char text[480];
    if (change->loss_count == first || change->lossy || (c->next->table.flags & BP_COMPONENT_LOSSY) != 0)
        return BP_OK;
    uint32_t more = change->loss_count - first - 1;
    char others[40] = "";
    if (more > 0)
        snprintf(others, sizeof others, ", and %u more propert%s", more, more == 1 ? "y" : "ies");
    return error_set(change_error(change), BP_ERROR_FAILED,
                     "component '%s', world '%s': it would lose %s%s, %s; or let it go with `reload %s --lossy`",
                     c->old->name, c->w->world->name, loss_describe(&change->losses[first], text, sizeof text), others,
                     change->losses[first].given
                         ? "though it was given the values: `create` keeps those of its columns, and `set` all that it "
                           "takes"
                         : "which nothing can set: give it `save` and `load`, or a `state_form`; say BP_FIELD_DERIVED "
                           "of what follows from the rest",
                     c->m->component->version->plugin->name);
}

static bp_result_t compare(carry_t *c)
{
    uint32_t first = c->change->loss_count;
    size_t size = (c->next->field_count + 1u) * sizeof *c->losses;
    c->losses = memory_new(c->memory, size);
    if (c->losses == NULL)
        return error_memory(change_error(c->change), "carrying instances");
    for (uint32_t f = 0; f < c->next->field_count; f++)
        c->losses[f] = (carry_loss_t){.component = c->m->component,
                                      .world = c->w->world->name,
                                      .field = c->next->bound[f]->name, /* good longer than the change */
                                      .type = c->next->fields[f].type,
                                      .given = is_given(c, f)};
    bp_result_t result = everywhere(c, compare_fields);
    for (uint32_t f = 0; f < c->next->field_count && result == BP_OK; f++)
        result = add_loss(c, &c->losses[f]);
    memory_free(c->memory, c->losses, size);
    if (result == BP_OK)
        result = compare_counts(c);
    return result == BP_OK ? refuse_losses(c, first) : result;
}

/* --- into columns ------------------------------------------------------------------------------------------------- */

static bp_result_t put_batch(carry_t *c, uint32_t number)
{
    const field_t *field = &c->next->fields[number];
    const holdings_t *holdings = &c->w->world->holdings;
    char *cells = c->shape->kept.columns[c->new_first + number];
    bp_result_t result = read_new(c, number, c->values);
    if (result != BP_OK)
        return result;
    for (uint32_t i = 0; i < c->count && result == BP_OK; i++) {
        char *cell = cells + (size_t)c->rows[i] * field->size;
        cells_release(holdings, field, cell, 1);
        if (!cell_copy(holdings, field, cell, c->values + (size_t)i * field->size)) {
            cells_fill(field, cell, 1);
            result = error_memory(change_error(c->change), "carrying values");
        }
    }
    release_new(c, number);
    return result;
}

static bp_result_t put_all(carry_t *c)
{
    bp_result_t result = BP_OK;
    for (uint32_t f = 0; f < c->next->field_count && result == BP_OK; f++) {
        uint32_t column = c->new_first + f;
        if (c->shape->run->count > 0)
            cells_fill_many(&c->next->fields[f], c->shape->kept.columns[column], c->shape->run->count);
        c->shape->filled[column] = true;
        c->row = 0;
        while (result == BP_OK && c->m->component->sources[f].old != BP_NONE && next_batch(c))
            result = put_batch(c, f);
    }
    return result;
}

/* --- instances that can be brought back --------------------------------------------------------------------------- */

static bp_result_t note_slots(carry_t *c)
{
    while (next_batch(c)) {
        memcpy(c->m->old_slots + c->m->old_slot_count, c->from, c->count * sizeof *c->from);
        c->m->old_slot_count += c->count;
    }
    return BP_OK;
}

static bp_result_t remember_slots(carry_t *c)
{
    if (!c->change->hides || !c->old->own_storage)
        return BP_OK;
    c->m->old_slot_room = count_living(c) + 1;
    c->m->old_slots = memory_new(c->memory, c->m->old_slot_room * sizeof *c->m->old_slots);
    if (c->m->old_slots == NULL)
        return error_memory(change_error(c->change), "carrying instances");
    return everywhere(c, note_slots);
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static bp_result_t carry(carry_t *c)
{
    bp_result_t result = remember_slots(c);
    if (result != BP_OK)
        return result;
    if (c->change->anew && c->next->own_storage)
        return everywhere(c, clear_slots);
    if (c->m->road == ROAD_FROM_OWN)
        return everywhere(c, put_all);
    if (c->m->road == ROAD_SAVED) {
        everywhere(c, copy_slots);
        return save_and_load(c);
    }
    everywhere(c, clear_slots);
    c->all = world_count(c->w->world, c->m->manager->number);
    result = everywhere(c, create_all);
    if (result == BP_OK)
        result = everywhere(c, set_entities);
    return result == BP_OK ? compare(c) : result;
}

/* Set the number of rows of a batch so that the largest field's batch has a reasonable size. */
static void size_batch(carry_t *c)
{
    uint32_t largest = 1;
    for (uint32_t f = 0; f < c->old->field_count; f++)
        largest = c->old->fields[f].size > largest ? c->old->fields[f].size : largest;
    for (uint32_t f = 0; f < c->next->field_count; f++)
        largest = c->next->fields[f].size > largest ? c->next->fields[f].size : largest;
    c->batch = BATCH_BYTES / largest == 0 ? 1 : BATCH_BYTES / largest < BATCH ? BATCH_BYTES / largest : BATCH;
    c->read_size = (size_t)c->batch * largest;
}

bp_result_t carry_instances(reload_change_t *change, world_change_t *w, manager_change_t *m)
{
    memory_t *memory = &w->world->memory;
    carry_t *c = memory_new(memory, sizeof *c);
    if (c == NULL)
        return error_memory(change_error(change), "carrying instances");
    *c = (carry_t){.change = change,
                   .w = w,
                   .m = m,
                   .old = m->component->slot,
                   .next = m->component->kept,
                   .memory = memory};
    size_batch(c);
    for (uint32_t f = 0; f < c->next->field_count; f++)
        c->values_size += batch_bytes(c, f);
    size_t columns_size = (c->next->field_count + 1u) * sizeof *c->columns;
    c->values = memory_new(memory, c->values_size + 1);
    c->columns = memory_new(memory, columns_size);
    c->read = memory_new(memory, c->read_size);
    c->found = memory_new(memory, c->read_size);
    bp_result_t result = BP_ERROR_MEMORY;
    if (c->values != NULL && c->columns != NULL && c->read != NULL && c->found != NULL) {
        w->slots_elsewhere = (world_slots_i){.manager = m->manager->number, .context = c, .slots = slots_of};
        result = carry(c);
    } else {
        error_memory(change_error(change), "carrying instances");
    }
    memory_free(memory, c->values, c->values_size + 1);
    memory_free(memory, c->columns, columns_size);
    memory_free(memory, c->read, c->read_size);
    memory_free(memory, c->found, c->read_size);
    memory_free(memory, c, sizeof *c);
    return result;
}
