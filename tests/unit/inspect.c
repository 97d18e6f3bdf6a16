/* inspect.c - invariants of a host checked one by one, and a host written down.
 *
 * Those of worlds and entities are checked by the host's own world_check; here come those of strings and places, which
 * no world can know alone.
 */
#include "inspect.h"

#include "reload/change.h"
#include "step/schedule_check.h"
#include "store/world_check.h"

#include "support.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define THAT(condition) EXPECT(condition, "%s", #condition)
#define SAME(a, b) \
    EXPECT((a) == (b), "%s is %" PRIu64 ", %s is %" PRIu64, #a, (uint64_t)(a), #b, (uint64_t)(b))

/* --- strings and places --------------------------------------------------------------------------------- */

typedef struct texts_t {
    const char **items;
    size_t count, capacity;
} texts_t;

static void add_text(texts_t *texts, const char *text)
{
    THAT(text != NULL);
    if (text == strings_empty)
        return;
    EXPECT(text[0] != '\0', "an empty string that is not the shared one");
    if (texts->count == texts->capacity) {
        texts->capacity = texts->capacity * 2 + 64;
        texts->items = realloc(texts->items, texts->capacity * sizeof *texts->items);
        THAT(texts->items != NULL);
    }
    texts->items[texts->count++] = text;
}

static void add_cells(texts_t *texts, const field_t *field, const char *cells, uint32_t count)
{
    for (uint32_t cell = 0; field->type == BP_STRING && cell < count; cell++) {
        uint32_t item_count;
        const char *const *items = field_items(field, cells + (size_t)cell * field->size, &item_count);
        for (uint32_t i = 0; i < item_count; i++)
            add_text(texts, items[i]);
    }
}

static void add_run(texts_t *texts, const run_t *run)
{
    for (uint32_t c = 1; c < run->column_count && run->count > 0; c++)
        add_cells(texts, run->fields[c], run_cell(run, c, 0), run->count);
}

/* What the rows of a world hold, copies of rows that have gone, and what columns that have left them do still. */
static void add_world(texts_t *texts, const world_t *world)
{
    for (uint32_t r = 0; r < world->run_count; r++)
        add_run(texts, world->runs[r]);
    for (uint32_t m = 0; m < world->manager_count; m++) {
        const untold_t *untold = &world->managers[m]->untold;
        for (uint32_t i = 0; i < untold->count; i++)
            add_run(texts, untold->items[i].rows);
    }
    for (uint32_t i = 0; i < world->leavings.count; i++) {
        const left_column_t *left = &world->leavings.items[i];
        add_cells(texts, &left->field, left->cells + (size_t)left->done * left->field.size, left->count - left->done);
    }
}

static int by_address(const void *a, const void *b)
{
    const char *x, *y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

/* The defaults of the fields of a component. */
static void add_defaults(texts_t *texts, const component_t *c)
{
    for (uint32_t f = 0; f < component_columns(c); f++) {
        const field_t *field = &c->fields[f];
        uint32_t values = field->initial_cell != NULL ? field->elements : 1;
        for (uint32_t v = 0; field->type == BP_STRING && !field_is_list(field) && v < values; v++) {
            const char *text;
            memcpy(&text, field_initial(field, v), sizeof text);
            add_text(texts, text);
        }
    }
}

/* The pool holds exactly the strings that cells and defaults point to, each as often as they do: none is forgotten,
 * none freed early (the sanitizers see that). */
static void check_strings(const bp_host_o *host)
{
    texts_t texts = {NULL, 0, 0};
    for (uint32_t i = 0; i < host->registry.component_count; i++)
        add_defaults(&texts, host->registry.components[i]);
    const reload_change_t *probation = host->reload.probation;
    for (uint32_t v = 0; probation != NULL && v < probation->version_count; v++) {
        const registry_set_t *set = &probation->versions[v].set;
        for (uint32_t i = 0; i < set->component_count; i++)
            add_defaults(&texts, &set->components[i].kept);
    }
    for (uint32_t w = 0; w < host->destruction.world_count; w++)
        add_world(&texts, host->destruction.worlds[w]);
    size_t distinct = 0;
    if (texts.count > 0)
        qsort(texts.items, texts.count, sizeof *texts.items, by_address);
    for (size_t i = 0, length; i < texts.count; i += length) {
        for (length = 1; i + length < texts.count && texts.items[i + length] == texts.items[i];)
            length++;
        EXPECT(strings_uses(texts.items[i]) == length, "'%s' is counted %u times, and found %zu times", texts.items[i],
               strings_uses(texts.items[i]), length);
        distinct++;
    }
    SAME(distinct, host->base.strings.count);
    free(texts.items);
}

/* What the host knows of worlds beside them: their places, names and pools of indices. */
static void check_places(const destruction_t *d)
{
    for (uint32_t i = 0; i < d->world_count; i++) {
        const entity_pool_t *pool = &d->worlds[i]->ids;
        uint32_t pages = 0, first = 0;
        SAME(d->worlds[i]->number, i);
        THAT(destruction_find_world(d, d->worlds[i]->name) == d->worlds[i]);
        for (uint32_t p = 0; p < d->entities->owner_capacity; p++) {
            if (d->entities->owners[p] == pool->number && pages++ == 0)
                first = p;
        }
        SAME(pages, pool->pages);
        THAT(pages == 0 || first == pool->first_page);
    }
    for (uint32_t i = 0; i < d->entities->pool_free; i++)
        THAT(d->entities->pools[i] != NULL);
}

/* While no listener has come or gone since, the list is that of the managers and units that ask for deaths, in
 * order. */
static void check_listeners(const destruction_t *d)
{
    uint32_t asking = d->missed != NULL, listed = 0;
    for (uint32_t i = 0; d->missed != NULL && i < d->missed->count; i++) {
        const world_t *world = d->missed->items[i].listener.world;
        THAT(world == NULL || d->worlds[world->number] == world);
    }
    if (d->listened != d->entities->listeners + d->plugins->roster)
        return;
    for (uint32_t i = 0; i < d->plugins->count; i++)
        asking += d->plugins->items[i]->deaths.died != NULL;
    SAME(asking, d->asking);
    for (uint32_t w = 0; w < d->world_count; w++) {
        listener_t *listener;
        for (uint32_t m = 0; m < d->worlds[w]->manager_count; m++) {
            manager_t *manager = d->worlds[w]->managers[m];
            if (!manager->started || manager->component->deaths.died == NULL)
                continue;
            THAT(listed < d->listener_count && d->listeners[listed] == &manager->listener);
            listed++;
        }
        for (uint32_t u = 0; d->unit != NULL && d->unit(d->worlds[w], u, &listener); u++) {
            THAT(listener == NULL || (listed < d->listener_count && d->listeners[listed] == listener));
            listed += listener != NULL;
        }
    }
    SAME(listed, d->listener_count);
}

void check_host(const bp_host_o *host)
{
    char text[256];
    uint32_t owned = 0;
    EXPECT(world_check_entities(&host->entities, text, sizeof text), "%s", text);
    check_places(&host->destruction);
    check_listeners(&host->destruction);
    for (uint32_t i = 0; i < host->destruction.world_count; i++) {
        const world_t *world = host->destruction.worlds[i];
        owned += world->own.id != 0;
        THAT(world->hold == WORLD_FREE);
        THAT(world->slots_elsewhere == NULL);
        EXPECT(world_check(world, text, sizeof text), "%s", text);
        EXPECT(schedule_check(world_handle(world)->schedule, text, sizeof text), "%s", text);
    }
    SAME(owned, host->entities.owned);
    SAME(host->entities.makings, 0);
    THAT(host->entities.making == NULL);
    SAME(host->base.attention & BASE_MAKING, 0);
    SAME(host->entities.told, 0);
    check_strings(host);
    THAT(!host->destruction.announcing);
    SAME(host->destruction.stepping, 0);
    SAME(host->destruction.queue_count, 0);
    SAME(host->destruction.waiting_count, 0);
}

/* --- a host written down -------------------------------------------------------------------------------- */

typedef struct page_t {
    char *text;
    size_t length, capacity;
} page_t;

static void write_down(page_t *page, const char *format, ...) PRINTF_LIKE(2, 3);

static void write_down(page_t *page, const char *format, ...)
{
    char line[1200];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    THAT(length >= 0);
    size_t size = (size_t)length < sizeof line ? (size_t)length : sizeof line - 1;
    if (page->length + size + 1 > page->capacity) {
        page->capacity = 2 * page->capacity + size + 4096;
        page->text = realloc(page->text, page->capacity);
        THAT(page->text != NULL);
    }
    memcpy(page->text + page->length, line, size + 1);
    page->length += size;
}

static void describe_value(page_t *page, world_t *world, bp_entity_t e, const char *instance,
                           const char *field)
{
    char text[4096];
    bp_property_t property;
    char value[1024];
    bp_result_t result = property_resolve(world, e, instance, field, &property);
    THAT(result != BP_OK || property.size <= sizeof value);
    if (result == BP_OK)
        result = property_get(world, &property, &e, 1, value, sizeof value);
    EXPECT(result == BP_OK, "%s.%s: %s", instance, field, bp_host_error(world->host));
    field_format_cell(property_field(&property), &world->base->values, value, text, sizeof text);
    write_down(page, " %s=%s", field, text);
}

static void describe_entity(page_t *page, world_t *world, bp_entity_t e)
{
    uint32_t keys[PROTOTYPES_MAX_KEYS];
    uint32_t count = store_keys_of(world, e, keys, PROTOTYPES_MAX_KEYS);
    for (uint32_t i = 0; i < count; i++) {
        const component_t *type = world_key_manager(world, keys[i])->component;
        const char *instance = names_text(&world->base->names, world->prototypes.keys[keys[i]].name);
        write_down(page, "  %s/%016" PRIx64 " %s:%s", world->name, e.id, instance, type->name);
        for (uint32_t f = 0; f < type->field_count; f++)
            describe_value(page, world, e, instance, type->fields[f].name);
        write_down(page, "\n");
    }
}

static void describe_world(page_t *page, world_t *world)
{
    const schedule_t *schedule = world_handle(world)->schedule;
    write_down(page, "world %s rate %g steps %" PRIu64 " occupied %u:", world->name, schedule->clock->step_rate,
               schedule->clock->steps, world->occupied);
    for (uint32_t i = 0; i < world->manager_count; i++) {
        if (world->managers[i]->started)
            write_down(page, " %s", world->managers[i]->component->name);
    }
    write_down(page, "; units");
    for (uint32_t i = 0; i < schedule->count; i++)
        write_down(page, " %s", schedule->units[i]->name);
    write_down(page, "\n");
}

static void describe_registry(page_t *page, const registry_t *registry)
{
    for (uint32_t i = 0; i < registry->component_count; i++) {
        if (registry->components[i]->owner != NULL)
            write_down(page, "component %s\n", registry->components[i]->name);
    }
    for (uint32_t i = 0; i < registry->system_count; i++) {
        if (registry->systems[i]->owner != NULL)
            write_down(page, "system %s\n", registry->systems[i]->name);
    }
    for (uint32_t i = 0; i < registry->table_count; i++) {
        if (registry->tables[i]->owner != NULL)
            write_down(page, "table %s\n", registry->tables[i]->name);
    }
}

char *describe_host(bp_host_o *host)
{
    page_t page = {NULL, 0, 0};
    error_text_t kept = host->base.error;
    write_down(&page, "seed %" PRIu64 " threads %u steps %" PRIu64 " callbacks %u\n", host->base.random,
               host->crew.jobs.threads, host->steps, host->destruction.callback_count);
    for (uint32_t i = 0; i < host->loader.plugins.count; i++)
        write_down(&page, "plugin %s\n", host->loader.plugins.items[i]->name);
    describe_registry(&page, &host->registry);
    for (uint32_t i = 0; i < host->destruction.world_count; i++)
        describe_world(&page, host->destruction.worlds[i]);
    for (uint32_t i = 0; i < host->entities.bound; i++) {
        bp_entity_t e = entities_at(&host->entities, i);
        if (e.id == 0)
            continue;
        write_down(&page, "entity %016" PRIx64 "\n", e.id);
        for (uint32_t w = 0; w < host->destruction.world_count; w++)
            describe_entity(&page, host->destruction.worlds[w], e);
    }
    host->base.error = kept;
    return page.text;
}

void expect_same(char *before, char *after, const char *what)
{
    const char *a = before, *b = after;
    while (*a != '\0' && *b != '\0') {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        EXPECT(n == m && memcmp(a, b, n) == 0, "%s: \"%.*s\" was \"%.*s\"", what, (int)m, b, (int)n, a);
        a += n + (a[n] != '\0');
        b += m + (b[m] != '\0');
    }
    EXPECT(*a == *b, "%s: \"%.200s\" has become \"%.200s\"", what, a, b);
    free(before);
    free(after);
}
