/* holdings.c - lists of what the process has, compared.
 *
 * Calls that are looked at may lie within each other: what a plugin holds already is not another one's as well.
 */
#include "holdings.h"

#include "../os/os.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST = 512, /* of a process that are looked at */
    LOOKS = 20, /* a thread that has been joined is listed by the system a moment longer */
    LOOK_NS = 1000000
};

static bool is_same(const os_holding_t *a, const os_holding_t *b)
{
    return a->kind == b->kind && a->number == b->number;
}

static bool is_among(const os_holding_t *holding, const os_holding_t *list, uint32_t count)
{
    bool found = false;
    for (uint32_t i = 0; i < count && !found; i++)
        found = is_same(holding, &list[i]);
    return found;
}

/* Does a plugin hold it? One that has ended may have left its number to another. */
static bool holds(const held_t *held, const os_holding_t *holding)
{
    bool found = false;
    for (uint32_t i = 0; i < held->count && !found; i++)
        found = is_same(holding, &held->items[i]) && os_holding_is_there(&held->items[i]);
    return found;
}

/* Does a plugin other than `but` (NULL: any) hold it? */
static bool is_held(const plugins_t *all, const os_holding_t *holding, const plugin_t *but)
{
    bool held = false;
    for (uint32_t i = 0; i < all->count && !held; i++)
        held = all->items[i] != but && holds(&all->items[i]->held, holding);
    return held;
}

void holdings_see(plugins_t *all, holdings_seen_t *seen)
{
    *seen = (holdings_seen_t){.items = memory_resize(&all->base->memory, NULL, 0, MOST * sizeof *seen->items)};
    seen->count = seen->items == NULL ? 0 : os_holdings_list(seen->items, MOST);
    if (seen->count == 0 || seen->count > MOST)
        holdings_forget(all, seen);
}

void holdings_forget(plugins_t *all, holdings_seen_t *seen)
{
    memory_free(&all->base->memory, seen->items, MOST * sizeof *seen->items);
    *seen = (holdings_seen_t){.items = NULL};
}

/* Take away what is there no more: a plugin that is paused and resumed often may have a new thread each time. */
static void forget_ended(held_t *held)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < held->count; i++) {
        if (os_holding_is_there(&held->items[i]))
            held->items[kept++] = held->items[i];
    }
    held->count = kept;
}

/* Take away one that is no thread: what is left of those is only told, but threads keep a library open. */
static void forget_for_thread(held_t *held)
{
    for (uint32_t i = 0; i < held->count; i++) {
        if (held->items[i].kind != OS_HOLDS_THREAD) {
            held->items[i] = held->items[--held->count];
            return;
        }
    }
}

static void hold(plugin_t *plugin, const os_holding_t *holding)
{
    held_t *held = &plugin->held;
    for (uint32_t i = 0; i < held->count; i++) {
        if (is_same(&held->items[i], holding)) { /* the same number once more */
            held->items[i] = held->items[--held->count];
            break;
        }
    }
    if (held->count == PLUGIN_HELD_MOST)
        forget_ended(held);
    if (held->count == PLUGIN_HELD_MOST && holding->kind == OS_HOLDS_THREAD)
        forget_for_thread(held);
    if (held->count == PLUGIN_HELD_MOST)
        return;
    held->items[held->count] = *holding;
    os_holding_know(&held->items[held->count++]);
}

static bool name_counts(const uint32_t counts[OS_HOLDS], char *text, size_t size)
{
    static const char *const names[OS_HOLDS][2] = {
        [OS_HOLDS_FILE] = {"file open", "files open"},
        [OS_HOLDS_THREAD] = {"thread running", "threads running"},
        [OS_HOLDS_CHILD] = {"process running", "processes running"},
        [OS_HOLDS_TIMER] = {"timer running", "timers running"},
    };
    size_t length = 0;
    text[0] = '\0';
    for (uint32_t kind = 0; kind < OS_HOLDS && length < size; kind++) {
        if (counts[kind] > 0)
            length += (size_t)snprintf(text + length, size - length, "%s%u %s", length > 0 ? ", " : "", counts[kind],
                                       names[kind][counts[kind] > 1]);
    }
    return length > 0;
}

bool holdings_note(plugins_t *all, plugin_t *plugin, holdings_seen_t *seen, char *came, size_t size)
{
    holdings_seen_t now;
    uint32_t counts[OS_HOLDS] = {0};
    if (seen->items == NULL)
        return false;
    holdings_see(all, &now);
    for (uint32_t i = 0; i < now.count; i++) {
        if (is_among(&now.items[i], seen->items, seen->count) || is_held(all, &now.items[i], plugin))
            continue;
        hold(plugin, &now.items[i]);
        counts[now.items[i].kind]++;
    }
    holdings_forget(all, &now);
    holdings_forget(all, seen);
    return name_counts(counts, came, size);
}

/* --- what is left ------------------------------------------------------------------------------------------------- */

static bool has_threads(const plugin_t *plugin)
{
    const held_t *held = &plugin->held;
    bool found = false;
    for (uint32_t i = 0; i < held->count && !found; i++)
        found = held->items[i].kind == OS_HOLDS_THREAD && os_holding_is_there(&held->items[i]);
    return found;
}

/* On trial: is there a thread that can only be the plugin's? */
static bool has_strange_threads(plugins_t *all, const plugin_t *plugin)
{
    holdings_seen_t now;
    bool found = false;
    holdings_see(all, &now);
    for (uint32_t i = 0; i < now.count && !found; i++)
        found = now.items[i].kind == OS_HOLDS_THREAD &&
                !is_among(&now.items[i], all->known->items, all->known->count) &&
                !is_held(all, &now.items[i], plugin);
    holdings_forget(all, &now);
    return found;
}

bool holdings_have_threads(const plugin_t *plugin)
{
    plugins_t *all = plugin->all;
    for (uint32_t look = 0;; look++) {
        bool strange = all->known != NULL && all->known->items != NULL;
        if (strange ? !has_strange_threads(all, plugin) : !has_threads(plugin))
            return false;
        if (look == LOOKS)
            return true;
        os_sleep_ns(LOOK_NS);
    }
}

bool holdings_name(const plugin_t *plugin, char *text, size_t size)
{
    uint32_t counts[OS_HOLDS] = {0};
    for (uint32_t i = 0; i < plugin->held.count; i++)
        counts[plugin->held.items[i].kind] += os_holding_is_there(&plugin->held.items[i]);
    return name_counts(counts, text, size);
}
