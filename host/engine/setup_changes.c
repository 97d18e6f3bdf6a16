/* setup_changes.c - what is different in an ini that a host was set up from: a list of changes, and a line about each.
 *
 * The ini as it was is compared with the ini as it is, section by section and word by word; changes made to the host
 * since by other means are not looked at, so that a world keeps them. Nothing is done here (setup_again.c): a change
 * that cannot be made while the host runs is refused before any change is made.
 *
 * Entities that live in a world stay. A new [spawn] or scene is spawned; one that was changed or taken away takes
 * effect at the next start.
 */
#include "../base/error.h"
#include "../base/units.h"
#include "setup.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct comparison_t {
    setup_t *s;        /* the ini as it is */
    setup_t before;    /* ... and as it was, to look things up in */
    setup_changes_t *changes;
} comparison_t;

static bp_result_t add(comparison_t *c, setup_change_t change, const char *format, ...) PRINTF_LIKE(3, 4);

static bp_result_t add(comparison_t *c, setup_change_t change, const char *format, ...)
{
    setup_changes_t *changes = c->changes;
    char text[1024] = "  ";
    va_list values;
    va_start(values, format);
    vsnprintf(text + 2, sizeof text - 3, format, values);
    va_end(values);
    strcat(text, "\n");
    bytes_put(&changes->told, text, strlen(text));
    if (changes->told.failed || !memory_reserve(&c->s->ini.memory, &changes->items, &changes->capacity,
                                                changes->count + 1u, sizeof *changes->items))
        return error_memory(c->s->error, "comparing an ini with what it was");
    changes->items[changes->count++] = change;
    return BP_OK;
}

/* --- looking things up -------------------------------------------------------------------------------------------- */

static const char *value_of(const ini_entry_t *entry)
{
    return entry == NULL ? "" : entry->value;
}

static uint32_t line_of(const ini_entry_t *entry)
{
    return entry == NULL ? 0 : entry->line;
}

/* Is the key there in both or in neither, with the same value? */
static bool is_same(const ini_entry_t *a, const ini_entry_t *b)
{
    return (a == NULL) == (b == NULL) && strcmp(value_of(a), value_of(b)) == 0;
}

static const ini_section_t *find_section(const ini_t *ini, const char *name)
{
    for (uint32_t i = 0; i < ini->section_count; i++) {
        if (strcmp(ini->sections[i].name, name) == 0)
            return &ini->sections[i];
    }
    return NULL;
}

/* Does a list have the word? Of plugins, which may be paths, the names of the files count. */
static bool has_word(const char *list, const char *wanted, bool stems)
{
    char word[FILE_PATH_MAX], stem[SETUP_WORD];
    while ((list = text_next_word(list, word, sizeof word)) != NULL) {
        file_stem(word, stem, sizeof stem);
        if (strcmp(stems ? stem : word, wanted) == 0)
            return true;
    }
    return false;
}

/* Are the entries of two sections of that name the same, in the same order? */
static bool same_entries(const ini_t *a, const ini_t *b, const char *section)
{
    uint32_t i = 0, k = 0;
    for (;; i++, k++) {
        while (i < a->count && strcmp(a->entries[i].section, section) != 0)
            i++;
        while (k < b->count && strcmp(b->entries[k].section, section) != 0)
            k++;
        if (i == a->count || k == b->count)
            return i == a->count && k == b->count;
        if (strcmp(a->entries[i].key, b->entries[k].key) != 0 || strcmp(a->entries[i].value, b->entries[k].value) != 0)
            return false;
    }
}

static bp_result_t refuse(const comparison_t *c, uint32_t line, bp_result_t result)
{
    return line > 0 ? setup_at_line(c->s, line, result) : error_prefix(c->s->error, result, "%s: ", c->s->ini.path);
}

/* --- [host] ------------------------------------------------------------------------------------------------------- */

/* Keys of [host] that may change while the host lives. All other keys hold from its start to its end. */
static bool can_change(const char *key)
{
    static const char *const keys[] = {"steps", "threads", "audit", "probation", "trial", "trial_deadline",
                                       "reload_pause", "reload"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        if (strcmp(keys[i], key) == 0)
            return true;
    }
    return false;
}

static bp_result_t compare_host(comparison_t *c)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; setup_host_keys[i] != NULL && result == BP_OK; i++) {
        const char *key = setup_host_keys[i];
        const ini_entry_t *was = setup_find_entry(&c->before, "host", key), *is = setup_find_entry(c->s, "host", key);
        setup_change_t change = {.what = SETUP_HOST, .line = line_of(is)};
        snprintf(change.name, sizeof change.name, "%s", key);
        if (is_same(was, is) || strcmp(key, "plugins") == 0 || strcmp(key, "scenes") == 0)
            continue;
        if (!can_change(key))
            return refuse(c, line_of(is),
                          error_set(c->s->error, BP_ERROR_STATE,
                                    "%s cannot change while the host runs (it was %s); end the program and start anew",
                                    key, was == NULL ? "not given" : was->value));
        result = is == NULL ? add(c, change, "[host] %s is not given any more; it was %s", key, value_of(was))
                            : add(c, change, "[host] %s = %s", key, is->value);
    }
    return result;
}

/* --- plugins ------------------------------------------------------------------------------------------------------ */

static bp_result_t tell_options(comparison_t *c, const char *plugin, const char *section)
{
    setup_change_t change = {.what = SETUP_OPTIONS};
    bp_result_t result = BP_OK;
    snprintf(change.name, sizeof change.name, "%s", plugin);
    const ini_section_t *found = find_section(&c->s->ini, section);
    change.line = found == NULL ? 0 : found->line;
    for (uint32_t side = 0; side < 2; side++) { /* what it says now; then what it does not say any more */
        const ini_t *ini = side == 0 ? &c->s->ini : &c->before.ini;
        for (uint32_t i = 0; i < ini->count && result == BP_OK; i++) {
            const ini_entry_t *e = &ini->entries[i];
            if (strcmp(e->section, section) != 0)
                continue;
            const ini_entry_t *other = setup_find_entry(side == 0 ? &c->before : c->s, section, e->key);
            if (side == 0 ? is_same(e, other) : other != NULL)
                continue;
            result = side == 1 ? add(c, change, "plugin %s: option %s is not given any more", plugin, e->key)
                               : add(c, change, "plugin %s: %s = %s", plugin, e->key, e->value);
            change.what = SETUP_LATER; /* one reload for all of them; the other lines only tell */
            change.line = e->line;
        }
    }
    return result;
}

static bp_result_t compare_listed(comparison_t *c, const char *word, const char *before, uint32_t line)
{
    char stem[SETUP_WORD], section[SETUP_WORD + 8];
    setup_change_t change = {.what = SETUP_LOAD, .line = line};
    file_stem(word, stem, sizeof stem);
    snprintf(section, sizeof section, "plugin %s", stem);
    snprintf(change.name, sizeof change.name, "%s", word);
    if (!has_word(before, stem, true))
        return add(c, change, "plugin %s is loaded", stem);
    if (!has_word(before, word, false))
        return refuse(c, line,
                      error_set(c->s->error, BP_ERROR_STATE,
                                "plugin '%s' comes from elsewhere, %s; start anew for that", stem, word));
    return same_entries(&c->before.ini, &c->s->ini, section) ? BP_OK : tell_options(c, stem, section);
}

static bp_result_t compare_plugins(comparison_t *c)
{
    const ini_entry_t *was = setup_find_entry(&c->before, "host", "plugins");
    const ini_entry_t *is = setup_find_entry(c->s, "host", "plugins");
    char word[FILE_PATH_MAX], stem[SETUP_WORD];
    bp_result_t result = setup_check_plugin_sections(c->s, value_of(is));
    const char *at = value_of(is);
    while (result == BP_OK && (at = text_next_word(at, word, sizeof word)) != NULL)
        result = compare_listed(c, word, value_of(was), is->line);
    at = value_of(was);
    while (result == BP_OK && (at = text_next_word(at, word, sizeof word)) != NULL) {
        setup_change_t change = {.what = SETUP_UNLOAD, .line = line_of(is)};
        file_stem(word, stem, sizeof stem);
        snprintf(change.name, sizeof change.name, "%s", stem);
        if (!has_word(value_of(is), stem, true))
            result = add(c, change, "plugin %s is unloaded", stem);
    }
    return result;
}

/* --- worlds ------------------------------------------------------------------------------------------------------- */

static setup_change_t of_world(setup_what_t what, const char *world, uint32_t line)
{
    setup_change_t change = {.what = what, .line = line};
    snprintf(change.world, sizeof change.world, "%.63s", world);
    return change;
}

/* Names that are in the list `key` of one ini and not of the other. */
static bp_result_t compare_used(comparison_t *c, const char *section, const char *world, bool system, bool drop)
{
    const char *key = system ? "systems" : "components";
    const ini_entry_t *was = setup_find_entry(&c->before, section, key), *is = setup_find_entry(c->s, section, key);
    char word[SETUP_WORD];
    bp_result_t result = BP_OK;
    const char *at = value_of(drop ? was : is);
    while (result == BP_OK && (at = text_next_word(at, word, sizeof word)) != NULL) {
        setup_change_t change = of_world(drop ? SETUP_DROP : SETUP_USE, world, line_of(is));
        change.system = system;
        snprintf(change.name, sizeof change.name, "%s", word);
        if (!has_word(value_of(drop ? is : was), word, false))
            result = add(c, change, "world %s %s %s %s", world, drop ? "drops" : "uses",
                         system ? "system" : "component", word);
    }
    return result;
}

/* Of a world; or of [host], where `world` is "". */
static bp_result_t compare_scenes(comparison_t *c, const char *section, const char *world)
{
    const char *kind = world[0] == '\0' ? "[host]" : "world ";
    const ini_entry_t *was = setup_find_entry(&c->before, section, "scenes");
    const ini_entry_t *is = setup_find_entry(c->s, section, "scenes");
    char word[FILE_PATH_MAX];
    bp_result_t result = BP_OK;
    const char *at = value_of(is);
    while (result == BP_OK && (at = text_next_word(at, word, sizeof word)) != NULL) {
        setup_change_t change = of_world(SETUP_SCENE, world, is->line);
        snprintf(change.name, sizeof change.name, "%s", word);
        if (!has_word(value_of(was), word, false))
            result = add(c, change, "%s%s: scene %s is spawned", kind, world, word);
    }
    at = value_of(was);
    while (result == BP_OK && (at = text_next_word(at, word, sizeof word)) != NULL) {
        if (!has_word(value_of(is), word, false))
            result = add(c, of_world(SETUP_LATER, world, 0),
                         "%s%s: entities of scene %s live on; they are not there after the next start", kind, world,
                         word);
    }
    return result;
}

/* The same systems, one of them elsewhere. */
static bool is_reordered(const char *was, const char *is)
{
    char a[SETUP_WORD], b[SETUP_WORD];
    const char *rest = was; /* behind the systems that have come so far */
    while ((is = text_next_word(is, a, sizeof a)) != NULL) {
        if (!has_word(was, a, false))
            continue;
        do {
            if ((rest = text_next_word(rest, b, sizeof b)) == NULL)
                return true;
        } while (strcmp(a, b) != 0);
    }
    return false;
}

static bp_result_t compare_clock(comparison_t *c, const char *section, const char *world)
{
    const ini_entry_t *rate = setup_find_entry(c->s, section, "step_rate");
    const ini_entry_t *place = setup_find_entry(c->s, section, "place");
    const ini_entry_t *units = setup_find_entry(c->s, section, "units");
    double now;
    bp_result_t result = setup_read_rate(c->s, section, &now);
    if (result == BP_OK && !is_same(setup_find_entry(&c->before, section, "place"), place))
        return refuse(c, line_of(place), error_set(c->s->error, BP_ERROR_STATE,
                                                   "the place of world '%s' cannot change while the host runs", world));
    if (result == BP_OK && !is_same(setup_find_entry(&c->before, section, "step_rate"), rate))
        result = add(c, of_world(SETUP_RATE, world, line_of(rate)), "world %s: step_rate = %g", world, now);
    if (result == BP_OK && units != NULL && units->value[0] != '\0' &&
        (result = units_check(units->value, c->s->error)) != BP_OK)
        return refuse(c, units->line, error_prefix(c->s->error, result, "world '%s': ", world));
    if (result == BP_OK && !is_same(setup_find_entry(&c->before, section, "units"), units))
        result = add(c, of_world(SETUP_UNITS, world, line_of(units)), "world %s: units = %s", world, value_of(units));
    return result;
}

static bp_result_t compare_kept(comparison_t *c, const ini_section_t *section, const char *world)
{
    const ini_entry_t *systems = setup_find_entry(c->s, section->name, "systems");
    bp_result_t result = compare_clock(c, section->name, world);
    for (uint32_t i = 0; i < 4 && result == BP_OK; i++) /* components come first, and go last */
        result = compare_used(c, section->name, world, i == 1 || i == 2, i >= 2);
    if (result == BP_OK && is_reordered(value_of(setup_find_entry(&c->before, section->name, "systems")),
                                        value_of(systems)))
        result = add(c, of_world(SETUP_ORDER, world, line_of(systems)), "world %s: its systems come in this order: %s",
                     world, value_of(systems));
    return result == BP_OK ? compare_scenes(c, section->name, world) : result;
}

static bp_result_t compare_worlds(comparison_t *c)
{
    bp_result_t result = BP_OK;
    char words[3][SETUP_WORD] = {"", "", ""};
    for (uint32_t i = 0; i < c->s->ini.section_count && result == BP_OK; i++) {
        const ini_section_t *section = &c->s->ini.sections[i];
        if (!setup_is_kind(section->name, "world"))
            continue;
        setup_section_words(section->name, words);
        setup_change_t change = of_world(SETUP_WORLD, words[1], section->line);
        change.section = section;
        result = find_section(&c->before.ini, section->name) != NULL ? compare_kept(c, section, words[1])
                                                                     : add(c, change, "world %s comes", words[1]);
    }
    for (uint32_t i = 0; i < c->before.ini.section_count && result == BP_OK; i++) {
        const ini_section_t *section = &c->before.ini.sections[i];
        setup_section_words(section->name, words);
        if (setup_is_kind(section->name, "world") && find_section(&c->s->ini, section->name) == NULL)
            result = add(c, of_world(SETUP_END_WORLD, words[1], 0),
                         "world %s ends, with the entities that live there alone", words[1]);
    }
    return result;
}

/* --- [spawn] ------------------------------------------------------------------------------------------------------ */

static bp_result_t compare_spawns(comparison_t *c)
{
    bp_result_t result = BP_OK;
    char words[3][SETUP_WORD] = {"", "", ""}, world[SETUP_WORD + 8];
    for (uint32_t i = 0; i < c->s->ini.section_count && result == BP_OK; i++) {
        const ini_section_t *section = &c->s->ini.sections[i];
        if (!setup_is_kind(section->name, "spawn"))
            continue;
        setup_section_words(section->name, words);
        snprintf(world, sizeof world, "world %s", words[1]);
        setup_change_t change = of_world(SETUP_SPAWN, words[1], section->line);
        change.section = section;
        if (find_section(&c->before.ini, world) != NULL && find_section(&c->s->ini, world) == NULL)
            return refuse(c, section->line, error_set(c->s->error, BP_ERROR_NOT_FOUND,
                                                      "world '%s' of [%s] ends: this file has no [%s]", words[1],
                                                      section->name, world));
        if (find_section(&c->before.ini, section->name) == NULL)
            result = add(c, change, "[%s] is spawned", section->name);
        else if (!same_entries(&c->before.ini, &c->s->ini, section->name))
            result = add(c, of_world(SETUP_LATER, words[1], section->line),
                         "[%s]: its entities live on as they are; it holds from the next start on", section->name);
    }
    for (uint32_t i = 0; i < c->before.ini.section_count && result == BP_OK; i++) {
        const char *name = c->before.ini.sections[i].name;
        setup_section_words(name, words);
        snprintf(world, sizeof world, "world %s", words[1]);
        bool lives = find_section(&c->s->ini, world) != NULL || find_section(&c->before.ini, world) == NULL;
        if (setup_is_kind(name, "spawn") && find_section(&c->s->ini, name) == NULL && lives)
            result = add(c, of_world(SETUP_LATER, words[1], 0),
                         "[%s]: its entities live on; they are not there after the next start", name);
    }
    return result;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

bp_result_t setup_compare(setup_t *s, const ini_t *before, setup_changes_t *changes)
{
    comparison_t c = {.s = s, .before = {.host = s->host, .error = s->error, .ini = *before}, .changes = changes};
    *changes = (setup_changes_t){0};
    bytes_init(&changes->told, &s->ini.memory);
    bp_result_t result = compare_host(&c);
    if (result == BP_OK)
        result = compare_plugins(&c);
    if (result == BP_OK)
        result = compare_worlds(&c);
    if (result == BP_OK)
        result = compare_scenes(&c, "host", "");
    return result == BP_OK ? compare_spawns(&c) : result;
}

void setup_release_changes(setup_t *s, setup_changes_t *changes)
{
    memory_free(&s->ini.memory, changes->items, (size_t)changes->capacity * sizeof *changes->items);
    bytes_free(&changes->told);
}
