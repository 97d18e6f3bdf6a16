/* slots.c - declarations of components copied into their slots, and the records of their fields' names.
 *
 * A field's name is known for as long as the registry, because keys of properties and systems of other plugins refer to
 * the name while the plugin changes its list. So the record of a name hangs on the slot and only points at the present
 * declaration.
 */
#include "slots.h"

#include "../os/os.h"

/* --- fields ------------------------------------------------------------------------------------------------------- */

/* Let go of the counted default strings that copy_field has made: the single one, or the first `made` of an array. */
static void release_initial(base_t *base, field_t *field, uint32_t made)
{
    const char **texts = (const char **)(void *)field->initial_cell;
    if (field->type == BP_STRING && !field_is_list(field) && field->initial.string != NULL && texts == NULL)
        strings_release(&base->strings, field->initial.string);
    for (uint32_t i = 0; field->type == BP_STRING && texts != NULL && i < made; i++)
        strings_release(&base->strings, texts[i]);
}

void slot_free_field(base_t *base, memory_t *memory, field_t *field)
{
    release_initial(base, field, field->elements);
    field_free(field, memory);
}

static void free_fields(base_t *base, memory_t *memory, field_t *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        slot_free_field(base, memory, &fields[i]);
    memory_free(memory, fields, count * sizeof *fields);
}

/* Count the default strings of an array with different texts for its elements. On failure the field is empty. */
static bp_result_t count_elements(base_t *base, memory_t *memory, field_t *field)
{
    const char **texts = (const char **)(void *)field->initial_cell;
    for (uint32_t i = 0; i < field->elements; i++) {
        const char *text = strings_acquire(&base->strings, texts[i]);
        if (text == NULL) {
            release_initial(base, field, i);
            field_free(field, memory);
            return error_memory(&base->error, "copying declared fields");
        }
        texts[i] = text;
    }
    return BP_OK;
}

bp_result_t slot_copy_field(base_t *base, memory_t *memory, field_t *field, const bp_field_t *item, uint32_t item_size)
{
    bp_result_t result = field_init(field, memory, &base->values, item, item_size, &base->error);
    if (result != BP_OK || field->type != BP_STRING || field_is_list(field))
        return result;
    if (field->initial_cell != NULL)
        return count_elements(base, memory, field);
    field->initial.string = strings_acquire(&base->strings, field->initial_text);
    return field->initial.string != NULL ? BP_OK : error_memory(&base->error, "copying declared fields");
}

/* *fields stays as it is where there are none, and where they are refused. */
static bp_result_t copy_fields(base_t *base, memory_t *memory, const bp_field_list_t *list, field_t **fields)
{
    error_text_t *error = &base->error;
    if (list->count == 0)
        return BP_OK;
    if (list->count > REGISTRY_MAX_FIELDS)
        return error_set(error, BP_ERROR_LIMIT, "%u fields; at most %d are allowed", list->count, REGISTRY_MAX_FIELDS);
    if (list->items == NULL || list->item_size < sizeof(bp_field_t))
        return error_set(error, BP_ERROR_ABI, "the list of fields says %u items of %u bytes; use BP_LIST", list->count,
                         list->item_size);
    field_t *copy = memory_new(memory, list->count * sizeof *copy);
    if (copy == NULL)
        return error_memory(error, "copying declared fields");
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < list->count && result == BP_OK; i++) {
        const char *item = (const char *)list->items + (size_t)i * list->item_size;
        result = slot_copy_field(base, memory, &copy[i], (const bp_field_t *)(const void *)item, list->item_size);
        if (result == BP_OK && copy[i].column != 0 && copy[i].column != i + 1)
            result = error_set(error, BP_ERROR_ARGUMENT,
                               "field '%s' is number %u of the list and number %u of its struct of columns; bring them "
                               "into one order",
                               copy[i].name, i + 1, copy[i].column);
        for (uint32_t j = 0; j < i && result == BP_OK; j++) {
            if (copy[j].hash == copy[i].hash)
                result = error_set(error, BP_ERROR_EXISTS, "two fields are called '%s'", copy[i].name);
        }
    }
    if (result != BP_OK)
        free_fields(base, memory, copy, list->count);
    else
        *fields = copy;
    return result;
}

/* --- records of fields -------------------------------------------------------------------------------------- */

/* The record of a field's name, made where the name is new to the component. */
static known_field_t *know(memory_t *memory, component_t *slot, const field_t *field)
{
    for (uint32_t i = 0; i < slot->known_count; i++) {
        if (slot->known[i]->hash == field->hash)
            return slot->known[i];
    }
    if (!memory_reserve(memory, &slot->known, &slot->known_capacity, slot->known_count + 1u, sizeof *slot->known))
        return NULL;
    known_field_t *known = memory_new(memory, sizeof *known);
    if (known == NULL)
        return NULL;
    known->name = memory_copy_text(memory, field->name);
    known->hash = field->hash;
    if (known->name == NULL) {
        memory_free(memory, known, sizeof *known);
        return NULL;
    }
    slot->known[slot->known_count++] = known;
    return known;
}

static bool bind_fields(memory_t *memory, component_t *slot, const field_t *fields, uint32_t count,
                        known_field_t ***bound)
{
    *bound = NULL;
    if (count == 0)
        return true;
    *bound = memory_new(memory, count * sizeof **bound);
    bool good = *bound != NULL;
    for (uint32_t i = 0; i < count && good; i++) {
        (*bound)[i] = know(memory, slot, &fields[i]);
        good = (*bound)[i] != NULL;
    }
    if (!good)
        memory_free(memory, *bound, *bound == NULL ? 0 : count * sizeof **bound);
    return good;
}

static const field_t *find_named(const component_t *component, const char *name)
{
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (strcmp(component->fields[i].name, name) == 0)
            return &component->fields[i];
    }
    return NULL;
}

void component_restore_fields(component_t *slot)
{
    for (uint32_t i = 0; i < slot->known_count; i++)
        slot->known[i]->field = NULL;
    for (uint32_t i = 0; i < slot->field_count; i++) {
        slot->bound[i]->field = &slot->fields[i];
        slot->bound[i]->index = i;
        slot->bound[i]->min_f32 = slot->fields[i].min_f32;
        slot->bound[i]->max_f32 = slot->fields[i].max_f32;
    }
}

void component_know_fields(component_t *slot)
{
    component_restore_fields(slot);
    for (uint32_t i = 0; i < slot->field_count; i++)
        slot->bound[i]->renamed = NULL;
    for (uint32_t i = 0; i < slot->known_count; i++) {
        known_field_t *gone = slot->known[i];
        for (uint32_t f = 0; f < slot->field_count && gone->field == NULL; f++) {
            if (strcmp(slot->fields[f].former_name, gone->name) == 0)
                gone->renamed = slot->bound[f];
        }
    }
}

/* Does `later` of the list `after` continue `former` of the list `before` under another name? Not where `before` has a
 * field of the later name, nor where `after` has one of the former name. */
static bool goes_on(const component_t *before, const field_t *former, const component_t *after, const field_t *later)
{
    return strcmp(later->former_name, former->name) == 0 && find_named(before, later->name) == NULL &&
           find_named(after, former->name) == NULL;
}

void component_succeed_fields(component_t *slot, const component_t *before)
{
    component_restore_fields(slot);
    for (uint32_t f = 0; f < before->field_count; f++) {
        if (before->bound[f]->field != NULL)
            continue;
        before->bound[f]->renamed = NULL;
        for (uint32_t i = 0; i < slot->field_count; i++) {
            if (goes_on(before, &before->fields[f], slot, &slot->fields[i]))
                before->bound[f]->renamed = slot->bound[i];
        }
    }
}

void component_return_fields(component_t *slot, const component_t *withdrawn)
{
    for (uint32_t f = 0; f < withdrawn->field_count; f++) {
        if (withdrawn->bound[f]->field != NULL)
            continue;
        withdrawn->bound[f]->renamed = NULL;
        for (uint32_t i = 0; i < slot->field_count; i++) {
            if (goes_on(slot, &slot->fields[i], withdrawn, &withdrawn->fields[f]))
                withdrawn->bound[f]->renamed = slot->bound[i];
        }
    }
}

const known_field_t *registry_follow(const known_field_t *field)
{
    for (uint32_t hops = 0; field->field == NULL && field->renamed != NULL && hops < REGISTRY_MAX_FIELDS; hops++)
        field = field->renamed;
    return field->field != NULL ? field : NULL;
}

/* --- extensions --------------------------------------------------------------------------------------------------- */

bp_result_t extensions_read(base_t *base, const char *plugin, const bp_extension_list_t *list,
                            const extension_place_t *places, uint32_t count)
{
    error_text_t *error = &base->error;
    if (list->count > 0 && (list->items == NULL || list->item_size < sizeof(bp_extension_t)))
        return error_set(error, BP_ERROR_ABI, "the list of extensions says %u items of %u bytes; use BP_LIST",
                         list->count, list->item_size);
    for (uint32_t i = 0; i < list->count; i++) {
        bp_extension_t extension;
        const extension_place_t *place = places;
        memcpy(&extension, (const char *)list->items + (size_t)i * list->item_size, sizeof extension);
        if (extension.name == NULL || extension.verbs == NULL || extension.size == 0)
            return error_set(error, BP_ERROR_ARGUMENT,
                             "extension %u has no name, no verbs or no size; use BP_EXTENSION", i);
        while (place < places + count && strcmp(place->name, extension.name) != 0)
            place++;
        if (place < places + count && extension.size > TABLE_MOST)
            return error_set(error, BP_ERROR_ABI, "extension '%.63s' says %u bytes of verbs; at most %d",
                             extension.name, extension.size, TABLE_MOST);
        if (place < places + count)
            memcpy(place->verbs, extension.verbs, extension.size < place->size ? extension.size : place->size);
        else if ((extension.flags & BP_EXTENSION_REQUIRED) != 0)
            return error_set(error, BP_ERROR_ABI, "it needs extension '%s', which this host does not know",
                             extension.name);
        else
            log_write(&base->log, BP_LOG_INFO, plugin, "extension '%s' is not known to this host and left out",
                      extension.name);
    }
    return BP_OK;
}

/* --- the slot ----------------------------------------------------------------------------------------------------- */

bp_result_t component_check(error_text_t *error, const bp_component_i *declared)
{
    const uint32_t known = BP_COMPONENT_AT_ONCE | BP_COMPONENT_PARALLEL | BP_COMPONENT_SINGLE |
                           BP_COMPONENT_CONCURRENT | BP_COMPONENT_LOSSY | BP_COMPONENT_WORLD;
    const bp_storage_i *own = declared->storage;
    if ((declared->flags & BP_FLAGS_REQUIRED & ~known) != 0)
        return error_set(error, BP_ERROR_ABI, "unknown flags 0x%x", declared->flags & BP_FLAGS_REQUIRED & ~known);
    if (own != NULL && (declared->flags & BP_COMPONENT_WORLD) != 0)
        return error_set(error, BP_ERROR_ARGUMENT,
                         "what belongs to a world has declared fields; leave its storage out, and use its manager's "
                         "state");
    if (own != NULL && own->struct_size < sizeof *own)
        return error_set(error, BP_ERROR_ABI,
                         "its storage says that it has %u bytes; struct_size is sizeof(bp_storage_i)",
                         own->struct_size);
    if (own != NULL && (own->create == NULL || own->destroy == NULL || own->count == NULL))
        return error_set(error, BP_ERROR_ARGUMENT, "own storage needs the verbs create, destroy and count");
    if (own != NULL && declared->fields.count > 0 && own->get == NULL)
        return error_set(error, BP_ERROR_ARGUMENT, "own storage with properties needs the verb get");
    return BP_OK;
}

uint32_t component_find_field(const component_t *component, bp_name_t hash, const char *name)
{
    for (uint32_t i = 0; i < component->field_count; i++) {
        if (component->fields[i].hash == hash)
            return i;
    }
    for (uint32_t i = 0; name[0] != '\0' && i < component->field_count; i++) {
        if (strcmp(component->fields[i].former_name, name) == 0)
            return i;
    }
    return BP_NONE;
}

/* --- deaths ------------------------------------------------------------------------------------------------------ */

bool deaths_fit(const component_t *component, uint32_t field)
{
    const field_t *f = &component->fields[field];
    return !component->own_storage && f->type == BP_ENTITY && field_is_single(f);
}

void deaths_release(memory_t *memory, deaths_t *asked)
{
    memory_free_text(memory, asked->component);
    memory_free_text(memory, asked->field);
    *asked = (deaths_t){0};
}

bp_result_t deaths_copy(base_t *base, memory_t *memory, const bp_deaths_i *given, const char *own, deaths_t *asked)
{
    const char *component = given->component == NULL ? own : given->component;
    if (given->died == NULL)
        return BP_OK;
    if (given->which > BP_DEATHS_REFERRED)
        return error_set(&base->error, BP_ERROR_ABI, "it asks for deaths of kind %u, which this host does not know",
                         given->which);
    if (given->which != BP_DEATHS_ALL && component == NULL)
        return error_set(&base->error, BP_ERROR_ARGUMENT, "it asks for deaths by a component and does not say which");
    if (given->which == BP_DEATHS_REFERRED && given->field == NULL)
        return error_set(&base->error, BP_ERROR_ARGUMENT,
                         "it asks for the deaths of those that a field refers to, and does not say which field");
    *asked = (deaths_t){.which = given->which};
    if (given->which == BP_DEATHS_ALL)
        return BP_OK;
    asked->component = memory_copy_text(memory, component);
    asked->field = memory_copy_text(memory, given->field == NULL ? "" : given->field);
    if (asked->component != NULL && asked->field != NULL)
        return BP_OK;
    return error_memory(&base->error, "copying which deaths it asks for");
}

/* Does a component have the field that it asks for deaths by, where that field is its own? Fields of other components
 * are looked for when both meet in a world. */
static bp_result_t check_own_deaths(base_t *base, const component_t *made)
{
    const deaths_t *asked = &made->asked_deaths;
    if (asked->which != BP_DEATHS_REFERRED || strcmp(asked->component, made->name) != 0)
        return BP_OK;
    uint32_t field = component_find_field(made, names_hash(asked->field), asked->field);
    if (field != BP_NONE && deaths_fit(made, field))
        return BP_OK;
    return error_set(&base->error, BP_ERROR_TYPE,
                     "it asks for the deaths of those that its field '%s' refers to, which is no declared field of "
                     "type entity with a single value",
                     asked->field);
}

static void free_component_texts(memory_t *memory, component_t *slot)
{
    memory_free_text(memory, slot->doc);
    memory_free_text(memory, slot->reads);
    memory_free_text(memory, slot->writes);
    slot->doc = slot->reads = slot->writes = NULL;
}

static bool copy_component_texts(memory_t *memory, component_t *slot, const bp_component_i *declared)
{
    slot->doc = memory_copy_text(memory, declared->doc == NULL ? "" : declared->doc);
    slot->reads = memory_copy_text(memory, declared->reads == NULL ? "" : declared->reads);
    slot->writes = memory_copy_text(memory, declared->writes == NULL ? "" : declared->writes);
    return slot->doc != NULL && slot->reads != NULL && slot->writes != NULL;
}

void component_empty(base_t *base, memory_t *memory, component_t *slot)
{
    free_fields(base, memory, slot->fields, component_columns(slot));
    memory_free(memory, slot->bound, slot->bound == NULL ? 0 : slot->field_count * sizeof *slot->bound);
    free_component_texts(memory, slot);
    slot->fields = NULL;
    slot->bound = NULL;
    slot->field_count = slot->hidden_count = 0;
    slot->owner = NULL;
    slot->own_storage = false;
    slot->table = (bp_component_i){.name = slot->name};
    slot->storage = (bp_storage_i){0};
    slot->saving = (bp_save_i){0};
    slot->reporting = (bp_report_i){0};
    slot->rows = (bp_rows_i){0};
    slot->deaths = (bp_deaths_i){0};
    deaths_release(memory, &slot->asked_deaths);
    slot->spawn_order = 0;
    for (uint32_t i = 0; i < slot->known_count; i++)
        slot->known[i]->field = NULL;
}

bp_result_t keeping_check(error_text_t *error, uint32_t keeps, uint64_t state_form, bool saves)
{
    if (keeps > BP_KEEP_SAVED)
        return error_set(error, BP_ERROR_ABI, "it keeps its state in way %u, which this host does not know", keeps);
    if (keeps == BP_KEEP_PLAIN && (uint32_t)state_form == 0)
        return error_set(error, BP_ERROR_ARGUMENT,
            "BP_KEEP_PLAIN needs a state_form, which says how large the state is");
    if (keeps == BP_KEEP_SAVED && !saves)
        return error_set(error, BP_ERROR_ARGUMENT, "BP_KEEP_SAVED needs the extension bp_save with save and load");
    return BP_OK;
}

static bp_result_t read_component_extensions(base_t *base, const plugin_t *owner, const bp_component_i *declared,
                                             component_t *made)
{
    bp_spawn_order_i order = {0};
    const extension_place_t places[] = {{"bp_save", &made->saving, sizeof made->saving},
                                        {"bp_report", &made->reporting, sizeof made->reporting},
                                        {"bp_rows", &made->rows, sizeof made->rows},
                                        {"bp_deaths", &made->deaths, sizeof made->deaths},
                                        {"bp_spawn_order", &order, sizeof order}};
    bp_result_t result =
        extensions_read(base, owner->name, &declared->extensions, places, sizeof places / sizeof places[0]);
    made->spawn_order = order.order;
    if (result == BP_OK && declared->storage != NULL &&
        (made->rows.rows_added != NULL || made->rows.rows_removed != NULL || made->rows.rows_set != NULL))
        result = error_set(&base->error, BP_ERROR_ARGUMENT,
                           "bp_rows is for declared components; storage of its own is told by create, destroy and set");
    if (result == BP_OK && (declared->flags & BP_COMPONENT_WORLD) != 0 &&
        (made->rows.rows_added != NULL || made->rows.rows_removed != NULL || made->rows.rows_set != NULL))
        result = error_set(&base->error, BP_ERROR_ARGUMENT,
                           "bp_rows is for components of entities; what belongs to a world comes and goes with its "
                           "manager, by start and stop");
    if (result == BP_OK && declared->keeps == BP_KEEP_ANEW && declared->storage != NULL)
        result = error_set(&base->error, BP_ERROR_ARGUMENT,
            "BP_KEEP_ANEW is not for a component with storage of its own");
    if (result == BP_OK)
        result = keeping_check(&base->error, declared->keeps, declared->state_form,
                               made->saving.save != NULL && made->saving.load != NULL);
    return result;
}

/* Own storage can have no lists, which are memory of the world's rows, nor arrays of texts or entities, which the world
 * counts and finds in its own rows. */
static bp_result_t check_storage(base_t *base, const bp_component_i *declared, const field_t *fields, uint32_t count)
{
    for (uint32_t i = 0; declared->storage != NULL && i < count; i++) {
        if (field_is_list(&fields[i]))
            return error_set(&base->error, BP_ERROR_TYPE,
                             "field '%s' is a list, which a component with storage of its own cannot have; declared "
                             "ones can",
                             fields[i].name);
        if (fields[i].elements > 0 && (fields[i].type == BP_STRING || fields[i].type == BP_ENTITY))
            return error_set(&base->error, BP_ERROR_TYPE,
                             "field '%s' is an array of %s, which a component with storage of its own cannot have; "
                             "declared ones can",
                             fields[i].name, value_type_name(fields[i].type));
    }
    return BP_OK;
}

/* Check hidden fields: they come behind all others. A derived one is neither a string nor a list and needs rows_added,
 * and a component with one makes its state anew (BP_KEEP_ANEW). */
static bp_result_t check_hidden(base_t *base, const bp_component_i *declared, const component_t *made,
                                const field_t *fields, uint32_t count)
{
    const uint32_t others = BP_FIELD_REQUIRED | BP_FIELD_PATH | BP_FIELD_PARENT | BP_FIELD_LABEL;
    error_text_t *error = &base->error;
    bool kept = declared->keeps != BP_KEEP_UNSAID && declared->keeps != BP_KEEP_ANEW;
    for (uint32_t i = 0; i < count; i++) {
        const field_t *f = &fields[i];
        if (!field_is_hidden(f) && i > 0 && field_is_hidden(&fields[i - 1]))
            return error_set(error, BP_ERROR_ARGUMENT,
                             "field '%s' comes after '%s', which is hidden; hidden ones come last", f->name,
                             fields[i - 1].name);
        if (!field_is_hidden(f))
            continue;
        if (declared->storage != NULL || (f->flags & others) != 0)
            return error_set(error, BP_ERROR_ARGUMENT,
                             "field '%s' is hidden, which is for columns of a declared component that its manager "
                             "alone sees",
                             f->name);
        if (field_is_rebuilt(f) && (field_is_counted(f) || made->rows.rows_added == NULL))
            return error_set(error, BP_ERROR_ARGUMENT,
                             "field '%s' is made again by rows_added of the extension bp_rows, and is no text and no "
                             "list",
                             f->name);
        if (field_is_rebuilt(f) && declared->start != NULL && kept)
            return error_set(error, BP_ERROR_ARGUMENT,
                             "field '%s' is made again by rows_added, so the state is too: BP_KEEP_ANEW", f->name);
    }
    return BP_OK;
}

static uint32_t count_visible(const field_t *fields, uint32_t count)
{
    while (count > 0 && field_is_hidden(&fields[count - 1]))
        count--;
    return count;
}

bp_result_t component_declare(base_t *base, memory_t *memory, plugin_t *owner, const bp_component_i *declared,
                              component_t *slot, component_t *made)
{
    field_t *fields = NULL;
    known_field_t **bound = NULL;
    uint32_t count = declared->fields.count;
    bp_result_t result = read_component_extensions(base, owner, declared, made);
    if (result == BP_OK)
        result = deaths_copy(base, memory, &made->deaths, slot->name, &made->asked_deaths);
    if (result == BP_OK)
        result = copy_fields(base, memory, &declared->fields, &fields);
    if (result == BP_OK) {
        result = check_storage(base, declared, fields, count);
        if (result == BP_OK)
            result = check_hidden(base, declared, made, fields, count);
        if (result != BP_OK)
            free_fields(base, memory, fields, count);
    }
    if (result != BP_OK) {
        component_empty(base, memory, made);
        return result;
    }
    uint32_t visible = count_visible(fields, count);
    if (!copy_component_texts(memory, made, declared) || !bind_fields(memory, slot, fields, visible, &bound)) {
        free_fields(base, memory, fields, count);
        component_empty(base, memory, made);
        return error_memory(&base->error, "registering a component");
    }
    made->table = *declared;
    made->table.name = made->name;
    made->table.doc = made->doc;
    made->table.reads = made->reads;
    made->table.writes = made->writes;
    made->table.fields = (bp_field_list_t){0};
    made->table.extensions = (bp_extension_list_t){0};
    made->table.storage = NULL;
    made->owner = owner;
    made->fields = fields;
    made->bound = bound;
    made->field_count = visible;
    made->hidden_count = count - visible;
    made->own_storage = declared->storage != NULL;
    if (made->own_storage)
        made->storage = *declared->storage;
    made->deaths.component = made->deaths.field = NULL; /* these texts lie in the plugin's image */
    result = check_own_deaths(base, made);
    if (result != BP_OK)
        component_empty(base, memory, made);
    return result;
}

void *slot_new(memory_t *memory, size_t size, const char *name, char **copy)
{
    void *slot = memory_new(memory, size);
    *copy = slot == NULL ? NULL : memory_copy_text(memory, name);
    if (slot == NULL || *copy != NULL)
        return slot;
    memory_free(memory, slot, size);
    return NULL;
}

component_t *component_new(memory_t *memory, const char *name)
{
    char *copy;
    component_t *slot = slot_new(memory, sizeof *slot, name, &copy);
    if (slot != NULL)
        slot->name = copy;
    return slot;
}

void component_free(memory_t *memory, component_t *slot)
{
    for (uint32_t i = 0; i < slot->known_count; i++) {
        memory_free_text(memory, slot->known[i]->name);
        memory_free(memory, slot->known[i], sizeof(known_field_t));
    }
    memory_free(memory, slot->known, slot->known_capacity * sizeof *slot->known);
    memory_free_text(memory, slot->name);
    memory_free(memory, slot, sizeof *slot);
}
