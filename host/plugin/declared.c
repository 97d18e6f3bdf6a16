/* declared.c - the copies of what a plugin declares.
 *
 * The same walk is made twice: the first adds up how many bytes there are, the second copies them. A walk reads each
 * item into a local variable, copies what the item leads to into the block, and stores the item with the new addresses.
 * The first walk has no block, so it changes nothing; it finds out whether all items can be read, and skips those that
 * cannot.
 */
#include "declared.h"

#include "../os/os.h"
#include "slots.h"

enum { MOST_ITEMS = 4096, MOST_ITEM_BYTES = 4096, ALIGNMENT = 16, PAGES = 64 };

typedef struct walk_t {
    char *block; /* NULL: only add up */
    size_t used;
    uintptr_t page_size;
    uintptr_t pages[PAGES]; /* found readable, by number modulo PAGES: the number and 1; asking takes a system call */
    const void *barred; /* the first address that cannot be read, or NULL */
    const char *what;   /* lies there, for people */
} walk_t;

/* --- what can be read --------------------------------------------------------------------------------------------- */

static bool can_read(walk_t *walk, const void *at, size_t size, const char *what)
{
    if (walk->block != NULL || size == 0)
        return true; /* the first walk has looked */
    if (walk->page_size == 0)
        walk->page_size = os_page_size();
    uintptr_t begin = (uintptr_t)at, first = begin / walk->page_size, last = (begin + (size - 1)) / walk->page_size;
    uintptr_t known = first;
    while (known <= last && walk->pages[known % PAGES] == known + 1)
        known++;
    if (last >= first && known > last)
        return true;
    if (os_can_read(at, size)) {
        for (uintptr_t page = first; page <= last; page++)
            walk->pages[page % PAGES] = page + 1;
        return true;
    }
    if (walk->barred == NULL) {
        walk->barred = at;
        walk->what = what;
    }
    return false;
}

static bool can_read_text(walk_t *walk, const char *text)
{
    size_t page_size = walk->page_size != 0 ? walk->page_size : os_page_size();
    for (size_t length; walk->block == NULL; text += length) {
        length = page_size - (uintptr_t)text % page_size;
        if (!can_read(walk, text, length, "a text"))
            return false;
        if (memchr(text, '\0', length) != NULL)
            return true;
    }
    return true;
}

bool declared_can_read_text(const char *text)
{
    walk_t walk = {0};
    return text == NULL || can_read_text(&walk, text);
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

static void *put(walk_t *walk, const void *bytes, size_t size)
{
    size_t at = walk->used;
    if (!can_read(walk, bytes, size, "a table of functions"))
        return NULL;
    walk->used += (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return walk->block == NULL ? NULL : memcpy(walk->block + at, bytes, size);
}

static void put_text(walk_t *walk, const char **text)
{
    const char *copy = *text == NULL || !can_read_text(walk, *text) ? NULL : put(walk, *text, strlen(*text) + 1);
    if (copy != NULL)
        *text = copy;
}

/* Room for the items of a list; NULL in the walk that only adds up. */
static void *put_items(walk_t *walk, uint32_t count, size_t size)
{
    void *items = walk->block == NULL ? NULL : walk->block + walk->used;
    walk->used += (count * size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return items;
}

static bool is_list(walk_t *walk, const void *items, uint32_t count, uint32_t most, size_t item_size, size_t least)
{
    return items != NULL && count > 0 && count <= most && item_size >= least &&
           can_read(walk, items, count * item_size, "a list");
}

/* Read item `index` of a list as far as both the plugin and the host know its members; further members are 0. */
static void read_item(void *item, size_t known, const void *items, uint32_t index, size_t item_size)
{
    memset(item, 0, known);
    memcpy(item, (const char *)items + index * item_size, item_size < known ? item_size : known);
}

static void put_fields(walk_t *walk, bp_field_list_t *list, size_t least)
{
    if (!is_list(walk, list->items, list->count, REGISTRY_MAX_FIELDS, list->item_size, least))
        return;
    bp_field_t *items = put_items(walk, list->count, sizeof *items);
    for (uint32_t i = 0; i < list->count; i++) {
        bp_field_t field;
        read_item(&field, sizeof field, list->items, i, list->item_size);
        const char **texts[] = {&field.name, &field.initial, &field.min,         &field.max,
                                &field.unit, &field.doc,     &field.former_name, &field.values};
        for (uint32_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
            put_text(walk, texts[t]);
        if (items != NULL)
            items[i] = field;
    }
    if (items != NULL)
        *list = (bp_field_list_t){items, list->count, sizeof *items};
}

/* The texts that "bp_deaths" leads to, which is alike for components, systems and plugins. */
static void put_deaths(walk_t *walk, const bp_extension_t *extension, char *verbs)
{
    bp_deaths_i deaths;
    if (extension->name == NULL || extension->verbs == NULL || extension->size < sizeof deaths ||
        extension->size > TABLE_MOST || walk->barred != NULL || strcmp(extension->name, "bp_deaths") != 0)
        return;
    memcpy(&deaths, extension->verbs, sizeof deaths);
    put_text(walk, &deaths.component);
    put_text(walk, &deaths.field);
    if (verbs != NULL)
        memcpy(verbs, &deaths, sizeof deaths);
}

static void put_extensions(walk_t *walk, bp_extension_list_t *list)
{
    if (!is_list(walk, list->items, list->count, MOST_ITEMS, list->item_size, sizeof *list->items))
        return;
    bp_extension_t *items = put_items(walk, list->count, sizeof *items);
    for (uint32_t i = 0; i < list->count; i++) {
        bp_extension_t extension;
        read_item(&extension, sizeof extension, list->items, i, list->item_size);
        put_text(walk, &extension.name);
        char *verbs =
            extension.verbs == NULL || extension.size > TABLE_MOST ? NULL : put(walk, extension.verbs, extension.size);
        put_deaths(walk, &extension, verbs);
        if (verbs != NULL)
            extension.verbs = verbs;
        if (items != NULL)
            items[i] = extension;
    }
    if (items != NULL)
        *list = (bp_extension_list_t){items, list->count, sizeof *items};
}

static void put_components(walk_t *walk, const bp_component_list_t *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        bp_component_i component = list->items[i];
        const char **texts[] = {&component.name, &component.doc, &component.reads, &component.writes};
        for (uint32_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
            put_text(walk, texts[t]);
        put_fields(walk, &component.fields, sizeof(bp_field_t));
        put_extensions(walk, &component.extensions);
        if (component.storage != NULL && can_read(walk, component.storage, sizeof(uint32_t), "its own storage") &&
            component.storage->struct_size >= sizeof(bp_storage_i)) {
            const bp_storage_i *storage = put(walk, component.storage, sizeof *storage);
            component.storage = storage == NULL ? component.storage : storage;
        }
        if (walk->block != NULL)
            *(bp_component_i *)(uintptr_t)&list->items[i] = component;
    }
}

static void put_asked(walk_t *walk, bp_term_field_list_t *list)
{
    if (!is_list(walk, list->items, list->count, TERMS_MAX_ASKED, list->item_size, sizeof *list->items))
        return;
    bp_term_field_t *items = put_items(walk, list->count, sizeof *items);
    for (uint32_t i = 0; i < list->count; i++) {
        bp_term_field_t field;
        read_item(&field, sizeof field, list->items, i, list->item_size);
        put_text(walk, &field.name);
        if (items != NULL)
            items[i] = field;
    }
    if (items != NULL)
        *list = (bp_term_field_list_t){items, list->count, sizeof *items};
}

static void put_terms(walk_t *walk, bp_term_list_t *list)
{
    if (!is_list(walk, list->items, list->count, TERMS_MAX, list->item_size, sizeof *list->items))
        return;
    bp_term_t *items = put_items(walk, list->count, sizeof *items);
    for (uint32_t i = 0; i < list->count; i++) {
        bp_term_t term;
        read_item(&term, sizeof term, list->items, i, list->item_size);
        put_text(walk, &term.component);
        put_text(walk, &term.instance);
        put_text(walk, &term.world);
        put_asked(walk, &term.fields);
        if (items != NULL)
            items[i] = term;
    }
    if (items != NULL)
        *list = (bp_term_list_t){items, list->count, sizeof *items};
}

static void put_systems(walk_t *walk, const bp_system_list_t *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        bp_system_i system = list->items[i];
        const char **texts[] = {&system.name,  &system.doc,   &system.before,
                                &system.after, &system.reads, &system.writes};
        for (uint32_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
            put_text(walk, texts[t]);
        put_terms(walk, &system.terms);
        put_extensions(walk, &system.extensions);
        if (walk->block != NULL)
            *(bp_system_i *)(uintptr_t)&list->items[i] = system;
    }
}

static void put_tables(walk_t *walk, bp_table_list_t *list)
{
    if (!is_list(walk, list->items, list->count, MOST_ITEMS, list->item_size, sizeof *list->items))
        return;
    bp_table_t *items = put_items(walk, list->count, sizeof *items);
    for (uint32_t i = 0; i < list->count; i++) {
        bp_table_t table;
        read_item(&table, sizeof table, list->items, i, list->item_size);
        put_text(walk, &table.name);
        put_text(walk, &table.returns);
        const void *entries =
            table.entries == NULL || table.size > TABLE_MOST ? NULL : put(walk, table.entries, table.size);
        if (entries != NULL)
            table.entries = entries;
        if (items != NULL)
            items[i] = table;
    }
    if (items != NULL)
        *list = (bp_table_list_t){items, list->count, sizeof *items};
}

static void put_tasks(walk_t *walk, const bp_task_list_t *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        bp_task_t task = list->items[i];
        put_text(walk, &task.name);
        if (walk->block != NULL)
            *(bp_task_t *)(uintptr_t)&list->items[i] = task;
    }
}

static void put_loaders(walk_t *walk, const bp_loader_list_t *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        bp_loader_t loader = list->items[i];
        put_text(walk, &loader.ending);
        if (walk->block != NULL)
            *(bp_loader_t *)(uintptr_t)&list->items[i] = loader;
    }
}

static void put_all(walk_t *walk, bp_plugin_desc_t *desc)
{
    put_components(walk, &desc->components);
    put_systems(walk, &desc->systems);
    put_fields(walk, &desc->options, offsetof(bp_field_t, initial));
    put_tables(walk, &desc->tables);
    put_tasks(walk, &desc->tasks);
    put_loaders(walk, &desc->loaders);
    put_extensions(walk, &desc->extensions);
}

bp_result_t declared_copy(error_text_t *error, memory_t *memory, bp_plugin_desc_t *desc, declared_t *declared)
{
    walk_t walk = {0};
    put_all(&walk, desc);
    *declared = (declared_t){NULL, walk.used};
    if (walk.barred != NULL)
        return error_set(error, BP_ERROR_ABI,
                         "its declaration says that %s lies at %p, where nothing can be read: its file is damaged, or "
                         "the address is none", walk.what, walk.barred);
    if (walk.used == 0)
        return BP_OK;
    declared->block = memory_new(memory, walk.used);
    walk = (walk_t){.block = declared->block};
    if (walk.block == NULL)
        return error_memory(error, "copying what it brings");
    put_all(&walk, desc);
    return BP_OK;
}

void declared_free(memory_t *memory, declared_t *declared)
{
    memory_free(memory, declared->block, declared->block == NULL ? 0 : declared->size);
    *declared = (declared_t){NULL, 0};
}

/* --- how long lists are ------------------------------------------------------------------------------------------- */

/* Refuse a list that begins in the plugin's image and ends outside it, and a list with more items than the limit. */
static bp_result_t judge_list(error_text_t *error, const plugin_t *plugin, const char *what, const void *items,
                              uint32_t count, uint32_t item_size)
{
    const char *at = items, *begin = plugin->image_begin, *end = plugin->image_end;
    bool inside = begin != NULL && at >= begin && at < end;
    bool whole = !inside || (uint64_t)count * item_size <= (uint64_t)(end - at);
    if (count == 0 || (whole && count <= MOST_ITEMS && item_size <= MOST_ITEM_BYTES))
        return BP_OK;
    const char *most = !whole                         ? "its library has; use BP_LIST"
                       : item_size > MOST_ITEM_BYTES ? "the 4096 bytes that an item can have; use BP_LIST"
                                                     : "the 4096 items that it can bring of a kind; divide it";
    return error_set(error, BP_ERROR_LIMIT, "its list of %s says %u items of %u bytes, which is more than %s", what,
                     count, item_size, most);
}

#define JUDGE(what, list) judge_list(error, plugin, what, (list)->items, (list)->count, (list)->item_size)

bp_result_t declared_judge_lists(error_text_t *error, const plugin_t *plugin, const bp_plugin_desc_t *desc)
{
    bp_result_t result = JUDGE("components", &desc->components);
    if (result == BP_OK)
        result = JUDGE("systems", &desc->systems);
    if (result == BP_OK)
        result = JUDGE("options", &desc->options);
    if (result == BP_OK)
        result = JUDGE("tables", &desc->tables);
    if (result == BP_OK)
        result = JUDGE("tasks", &desc->tasks);
    if (result == BP_OK)
        result = JUDGE("loaders", &desc->loaders);
    return result == BP_OK ? JUDGE("extensions", &desc->extensions) : result;
}

/* Put kind and name in front of the error. A name that has not been copied yet may be a bad address, so it is tested
 * first. */
static void prefix(error_text_t *error, bp_result_t result, const char *kind, const char *name)
{
    error_prefix(error, result, "%s '%.63s': ", kind, name != NULL && declared_can_read_text(name) ? name : "?");
}

bp_result_t declared_judge_items(error_text_t *error, const plugin_t *plugin, const bp_plugin_desc_t *desc)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < desc->components.count && result == BP_OK; i++) {
        const bp_component_i *component = &desc->components.items[i];
        if (component->fields.count <= REGISTRY_MAX_FIELDS) /* else it is refused as too many */
            result = JUDGE("fields", &component->fields);
        if (result == BP_OK)
            result = JUDGE("extensions", &component->extensions);
        if (result != BP_OK)
            prefix(error, result, "component", component->name);
    }
    for (uint32_t i = 0; i < desc->systems.count && result == BP_OK; i++) {
        const bp_system_i *system = &desc->systems.items[i];
        result = JUDGE("terms", &system->terms);
        if (result == BP_OK)
            result = JUDGE("extensions", &system->extensions);
        if (result != BP_OK)
            prefix(error, result, "system", system->name);
    }
    return result;
}
