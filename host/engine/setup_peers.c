/* setup_peers.c - an ini that several processes read: each fills in its own rank, and all must have the same file.
 *
 * Ranks come from a plugin that offers the table of bp_peers.h; without one there is a single rank, and nothing here
 * changes anything. Compared are the ini as it is written, and the plugins by the bytes of their files: ranks with
 * different code would give a result that neither code gives.
 */
#include "../base/error.h"
#include "../base/file.h"
#include "setup.h"

#include <stdio.h>
#include <stdlib.h>

/* --- the ranks ------------------------------------------------------------------------------------------------- */

uint32_t bp_host_peers(bp_host_o *host, uint32_t *rank)
{
    if (rank != NULL)
        *rank = host->rank;
    return host->ranks;
}

static const bp_peers_api *peers_of(bp_host_o *host)
{
    const bp_peers_api *peers = registry_table(&host->registry, BP_PEERS_API, 1);
    return peers == NULL || peers->version == 0 || peers->count(host) == 0 ? NULL : peers;
}

bp_result_t bp_host_exchange(bp_host_o *host, const void *bytes, size_t size, bp_peers_take take, void *data)
{
    const bp_peers_api *peers = peers_of(host);
    bp_result_t result = BP_OK;
    if (peers != NULL)
        result = peers->exchange(host, bytes, size, take, data);
    else
        take(data, 0, size == 0 ? NULL : bytes, size);
    if (result == BP_ERROR_MEMORY)
        return error_memory(&host->base.error, "ranks tell each other something");
    return result == BP_OK ? BP_OK
                           : error_set(&host->base.error, result,
                                       result == BP_ERROR_LIMIT ? "they tell each other more than 2 GiB at once"
                                                                : "they do not reach each other");
}

void bp_host_leave_peers(bp_host_o *host, int32_t failed)
{
    const bp_peers_api *peers = peers_of(host);
    if (peers != NULL)
        peers->leave(host, failed != 0);
}

/* --- values for this rank ----------------------------------------------------------------------------------------- */

/* The value of an expression in braces: the rank, the number of ranks, or the word of a list that belongs to this
 * rank. */
static bp_result_t braces_value(setup_t *s, const ini_entry_t *entry, const char *inside, char *out)
{
    uint32_t count = 0;
    char word[SETUP_WORD];
    if (strcmp(inside, "rank") == 0 || strcmp(inside, "ranks") == 0) {
        snprintf(out, SETUP_WORD, "%u", inside[4] == '\0' ? s->host->rank : s->host->ranks);
        return BP_OK;
    }
    for (const char *at = inside + sizeof "rank:" - 1; (at = text_next_word(at, word, sizeof word)) != NULL; count++)
        if (count == s->host->rank)
            memcpy(out, word, sizeof word);
    if (count == s->host->ranks)
        return BP_OK;
    return setup_at_line(s, entry->line,
                         error_set(s->error, BP_ERROR_ARGUMENT, "%s = {%s}: %u %s for %u %s; write one for each",
                                   entry->key, inside, count, count == 1 ? "value" : "values", s->host->ranks,
                                   s->host->ranks == 1 ? "rank" : "ranks"));
}

/* Replace the first braces of a value from `from` on that name a rank; `next` is behind the text that replaced them, 0
 * where there are none. */
static bp_result_t fill_braces(setup_t *s, ini_entry_t *entry, size_t from, size_t *next)
{
    static const char *const forms[] = {"{rank}", "{ranks}", "{rank:"};
    const char *open = NULL, *close = NULL;
    char inside[SETUP_WORD], text[SETUP_WORD] = "";
    *next = 0;
    for (const char *at = strchr(entry->value + from, '{'); at != NULL && open == NULL; at = strchr(at + 1, '{'))
        for (uint32_t i = 0; i < 3; i++)
            if (strncmp(at, forms[i], strlen(forms[i])) == 0)
                open = at;
    if (open == NULL || (close = strchr(open, '}')) == NULL)
        return BP_OK;
    int length = snprintf(inside, sizeof inside, "%.*s", (int)(close - open - 1), open + 1);
    if (length < 0 || (size_t)length >= sizeof inside)
        return setup_at_line(s, entry->line,
                             error_set(s->error, BP_ERROR_LIMIT, "%s: what stands in braces is too long", entry->key));
    bp_result_t result = braces_value(s, entry, inside, text);
    if (result != BP_OK)
        return result;
    size_t before = (size_t)(open - entry->value), room = before + strlen(text) + strlen(close + 1) + 1;
    char *filled = memory_resize(&s->ini.memory, NULL, 0, room);
    if (filled == NULL)
        return setup_at_line(s, entry->line, error_memory(s->error, "reading an ini"));
    snprintf(filled, room, "%.*s%s%s", (int)before, entry->value, text, close + 1);
    memory_free_text(&s->ini.memory, entry->value);
    entry->value = filled;
    *next = before + strlen(text);
    return BP_OK;
}

/* Fill in the values of all keys; without `options`, of those of plugins none. */
static bp_result_t fill_values(setup_t *s, bool options)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->ini.count && result == BP_OK; i++) {
        size_t at = 0;
        if (!options && setup_is_kind(s->ini.entries[i].section, "plugin"))
            continue;
        do
            result = fill_braces(s, &s->ini.entries[i], at, &at);
        while (result == BP_OK && at > 0);
    }
    return result;
}

/* --- the same for all --------------------------------------------------------------------------------------------- */

/* Note a setting that all ranks must have alike, as a line. */
static bp_result_t note_line(setup_t *s, const char *format, const char *a, const char *b, const char *c)
{
    int length = snprintf(NULL, 0, format, a, b, c);
    size_t old = s->alike == NULL ? 0 : strlen(s->alike), room = old + (size_t)length + 1;
    char *longer = memory_resize(&s->ini.memory, s->alike, s->alike == NULL ? 0 : old + 1, room);
    if (longer == NULL)
        return error_memory(s->error, "comparing ranks");
    snprintf(longer + old, room - old, format, a, b, c);
    s->alike = longer;
    return BP_OK;
}

static bp_result_t note_ini(setup_t *s)
{
    bp_result_t result = note_line(s, "backplane %s%s%s\n", BACKPLANE_VERSION, "", "");
    for (uint32_t i = 0; i < s->ini.count && result == BP_OK; i++)
        result = note_line(s, "[%s] %s = %s\n", s->ini.entries[i].section, s->ini.entries[i].key,
                           s->ini.entries[i].value);
    return result;
}

static bp_result_t note_plugin(setup_t *s, const plugin_t *plugin)
{
    const void *bytes = NULL;
    size_t size = 0;
    char sum[32];
    bp_result_t result = plugin->path[0] == '\0' ? BP_OK : file_map(plugin->path, &bytes, &size, s->error);
    if (result != BP_OK)
        return result;
    snprintf(sum, sizeof sum, "%016llx", (unsigned long long)hash_bytes(bytes, size));
    if (bytes != NULL)
        file_unmap(bytes, size);
    return note_line(s, "plugin %s %s (checksum of its file %s)\n", plugin->name, plugin->head.desc->version, sum);
}

/* The first line in which a rank differs from rank 0. */
typedef struct comparison_t {
    memory_t *memory;
    char *first; /* the lines of rank 0 */
    size_t first_size;
    uint32_t rank;
    bool differs, failed;
    char here[SETUP_WORD], there[SETUP_WORD];
} comparison_t;

static void copy_line(char *out, const char *text, size_t at, size_t size)
{
    size_t length = 0;
    while (at + length < size && text[at + length] != '\n' && length < SETUP_WORD - 1)
        length++;
    if (length > 0)
        memcpy(out, text + at, length);
    out[length] = '\0';
}

static void BP_CALL compare(void *data, uint32_t rank, const void *bytes, size_t size)
{
    comparison_t *c = data;
    const char *text = bytes;
    if (rank == 0) {
        c->first = memory_resize(c->memory, NULL, 0, size);
        c->first_size = c->first == NULL ? 0 : size;
        c->failed = c->first == NULL;
        if (!c->failed)
            memcpy(c->first, text, size);
    }
    if (c->failed || c->differs || (size == c->first_size && memcmp(text, c->first, size) == 0))
        return;
    size_t line = 0;
    for (size_t i = 0; i < size && i < c->first_size && text[i] == c->first[i]; i++)
        line = text[i] == '\n' ? i + 1 : line;
    c->differs = true;
    c->rank = rank;
    copy_line(c->here, c->first, line, c->first_size);
    copy_line(c->there, text, line, size);
}

static bp_result_t compare_ranks(setup_t *s)
{
    comparison_t c = {.memory = &s->ini.memory};
    bp_result_t result = BP_OK;
    for (uint32_t i = s->old_plugins; i < s->host->loader.plugins.count && result == BP_OK; i++)
        result = note_plugin(s, s->host->loader.plugins.items[i]);
    if (result == BP_OK)
        result = bp_host_exchange(s->host, s->alike, strlen(s->alike), compare, &c);
    memory_free(c.memory, c.first, c.first_size);
    if (result != BP_OK) {
        char why[SETUP_WORD];
        snprintf(why, sizeof why, "%s", error_last(s->error));
        return error_set(s->error, result, "what the ranks were started with cannot be compared: %s", why);
    }
    if (c.failed)
        result = error_memory(s->error, "comparing ranks");
    if (result != BP_OK || !c.differs)
        return result;
    return error_set(s->error, BP_ERROR_ARGUMENT,
                     "rank %u was not started with what rank 0 was: '%s' there, '%s' on rank 0", c.rank,
                     c.there[0] == '\0' ? "nothing more" : c.there, c.here[0] == '\0' ? "nothing more" : c.here);
}

bp_result_t setup_meet_peers(setup_t *s, uint32_t line)
{
    const bp_peers_api *peers = peers_of(s->host);
    if (peers == NULL || s->met)
        return BP_OK;
    s->met = true;
    s->host->rank = peers->rank(s->host);
    s->host->ranks = peers->count(s->host);
    bp_result_t result = note_ini(s);
    return result == BP_OK ? fill_values(s, true) : setup_at_line(s, line, result);
}

/* Where no plugin brings ranks, plugins have been given their options without replacement of braces. So options are not
 * filled in here either, nor when the ini is read again. */
bp_result_t setup_compare_peers(setup_t *s)
{
    bp_result_t result = s->met ? BP_OK : fill_values(s, false);
    return result == BP_OK && s->host->ranks > 1 ? compare_ranks(s) : result;
}

/* --- places ------------------------------------------------------------------------------------------------------- */

bp_result_t setup_place(setup_t *s, const char *section, setup_place_t *out)
{
    const ini_entry_t *entry = setup_find_entry(s, section, "place");
    const char *place = entry == NULL ? "each" : entry->value;
    *out = (setup_place_t){.here = true, .split = strcmp(place, "split") == 0};
    if (out->split && peers_of(s->host) == NULL)
        return setup_at_line(s, entry->line,
                             error_set(s->error, BP_ERROR_NOT_FOUND,
                                       "place = split needs the plugin mpi, listed first"));
    if (out->split || strcmp(place, "each") == 0)
        return BP_OK;
    bool numbered = strncmp(place, "rank ", 5) == 0 && place[5] != '\0' && strlen(place + 5) < 10 &&
                    strspn(place + 5, "0123456789") == strlen(place + 5);
    unsigned long rank = numbered ? strtoul(place + 5, NULL, 10) : 0;
    if (!numbered)
        return setup_at_line(s, entry->line,
                             error_set(s->error, BP_ERROR_SYNTAX, "place = %s; write each, split, or rank 0", place));
    out->here = rank == s->host->rank;
    if (rank < s->host->ranks)
        return BP_OK;
    return setup_at_line(s, entry->line,
                         error_set(s->error, BP_ERROR_RANGE,
                                   "place = %s: there %s %u, from rank 0 on; start the program with mpirun -n %lu, and "
                                   "list the plugin mpi",
                                   place, s->host->ranks == 1 ? "is" : "are", s->host->ranks, rank + 1));
}

bp_result_t setup_split(setup_t *s, bp_world_o *world, bp_world_o *halo, uint32_t line)
{
    bp_result_t result = halo == NULL ? BP_ERROR_MEMORY : bp_world_use_system(world, "split");
    if (result == BP_OK)
        result = bp_world_use_system(world, "split_settled");
    return result == BP_OK ? BP_OK : setup_at_line(s, line, result);
}

bool setup_is_elsewhere(const setup_t *s, const char *world)
{
    char section[SETUP_WORD];
    bool here = true;
    snprintf(section, sizeof section, "world %s", world);
    const ini_entry_t *entry = setup_find_entry(s, section, "place");
    if (entry != NULL && strncmp(entry->value, "rank ", 5) == 0)
        here = strtoul(entry->value + 5, NULL, 10) == s->host->rank;
    return !here;
}

void setup_release_peers(setup_t *s)
{
    if (s->alike != NULL)
        memory_free_text(&s->ini.memory, s->alike);
    s->alike = NULL;
}
