/* setup_ini.c - sections and keys of an ini: what there may be, and reading one.
 *
 * Names are checked before anything is done, so that a slip of the pen is told at once and with the nearest right name.
 */
#include "setup_ini.h"

#include "base/text.h"

bp_result_t setup_at_line(setup_t *s, uint32_t line, bp_result_t result)
{
    size_t length = strlen(s->ini.path);
    if (strncmp(s->error->text, s->ini.path, length) == 0 && s->error->text[length] == ':')
        return result;
    return error_prefix(s->error, result, "%s:%u: ", s->ini.path, line);
}

/* --- names ------------------------------------------------------------------------------------------------------------ */

static const char *const host_keys[] = {"plugins", "plugin_path", "steps", "threads", "seed", "crash_guard", "call_limit", "probation",
                                        "hot_reload", "trial", "trial_deadline", "build", "sources", NULL};
static const char *const world_keys[] = {"step_rate", "components", "systems", "scenes", NULL};

uint32_t setup_section_words(const char *section, char words[3][SETUP_WORD])
{
    uint32_t count = 0;
    char word[SETUP_WORD];
    while ((section = text_next_word(section, word, sizeof word)) != NULL && count < 4) {
        if (count < 3)
            memcpy(words[count], word, sizeof word);
        count++;
    }
    return count;
}

bool setup_is_kind(const char *section, const char *kind)
{
    char words[3][SETUP_WORD] = {"", "", ""};
    setup_section_words(section, words);
    return strcmp(words[0], kind) == 0;
}

static bp_result_t check_section(setup_t *s, const ini_section_t *section)
{
    static const struct { const char *kind; uint32_t words; const char *form; } kinds[] = {
        {"host", 1, "[host]"}, {"plugin", 2, "[plugin NAME]"}, {"world", 2, "[world NAME]"}, {"spawn", 3, "[spawn WORLD LABEL]"},
    };
    char words[3][SETUP_WORD] = {"", "", ""};
    uint32_t count = setup_section_words(section->name, words);
    nearest_t nearest = {.wanted = words[0]};
    text_t hint;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        nearest_consider(&nearest, kinds[i].kind);
        if (strcmp(words[0], kinds[i].kind) != 0)
            continue;
        if (count == kinds[i].words)
            return BP_OK;
        return setup_at_line(s, section->line, error_set(s->error, BP_ERROR_SYNTAX, "section [%s]; write %s", section->name, kinds[i].form));
    }
    return setup_at_line(s, section->line,
                   error_set(s->error, BP_ERROR_NOT_FOUND, "unknown section [%s]%s (there are host, plugin, world and spawn)", section->name,
                             nearest_hint(&nearest, &hint)));
}

static bp_result_t check_key(setup_t *s, const ini_entry_t *entry, const char *const *known)
{
    nearest_t nearest = {.wanted = entry->key};
    text_t hint, all = {.length = 0};
    all.chars[0] = '\0';
    for (size_t i = 0; known[i] != NULL; i++) {
        if (strcmp(entry->key, known[i]) == 0)
            return BP_OK;
        nearest_consider(&nearest, known[i]);
        text_append(&all, "%s%s", i > 0 ? ", " : "", known[i]);
    }
    return setup_at_line(s, entry->line, error_set(s->error, BP_ERROR_NOT_FOUND, "unknown key '%s' in [%s]%s (known: %s)", entry->key, entry->section,
                                             nearest_hint(&nearest, &hint), all.chars));
}

bp_result_t setup_check_names(setup_t *s)
{
    bp_result_t result = BP_OK;
    for (uint32_t i = 0; i < s->ini.section_count && result == BP_OK; i++)
        result = check_section(s, &s->ini.sections[i]);
    for (uint32_t i = 0; i < s->ini.count && result == BP_OK; i++) {
        const ini_entry_t *entry = &s->ini.entries[i];
        if (entry->section[0] == '\0')
            result = setup_at_line(s, entry->line, error_set(s->error, BP_ERROR_SYNTAX, "'%s' stands before the first section", entry->key));
        else if (setup_is_kind(entry->section, "host"))
            result = check_key(s, entry, host_keys);
        else if (setup_is_kind(entry->section, "world"))
            result = check_key(s, entry, world_keys);
    }
    return result;
}

/* --- values ----------------------------------------------------------------------------------------------------------- */

const ini_entry_t *setup_find_entry(const setup_t *s, const char *section, const char *key)
{
    for (uint32_t i = 0; i < s->ini.count; i++) {
        if (strcmp(s->ini.entries[i].section, section) == 0 && strcmp(s->ini.entries[i].key, key) == 0)
            return &s->ini.entries[i];
    }
    return NULL;
}

bp_result_t setup_read_value(setup_t *s, const ini_entry_t *entry, uint32_t type, bp_value_t *value)
{
    if (entry == NULL)
        return BP_OK;
    bp_result_t result = value_parse(&s->host->base.values, type, entry->value, value, s->error);
    if (result == BP_OK)
        return BP_OK;
    error_prefix(s->error, result, "%s = ", entry->key);
    return setup_at_line(s, entry->line, result);
}

bp_result_t setup_read_count(setup_t *s, const char *key, int64_t least, int64_t most, int64_t *out)
{
    const ini_entry_t *entry = setup_find_entry(s, "host", key);
    bp_value_t value = {.i64 = 0};
    bp_result_t result = setup_read_value(s, entry, BP_I64, &value);
    if (result == BP_OK && entry != NULL && (value.i64 < least || value.i64 > most))
        result = setup_at_line(s, entry->line, error_set(s->error, BP_ERROR_RANGE, "%s = %s is outside its range, %lld to %lld", key,
                                                   entry->value, (long long)least, (long long)most));
    *out = value.i64;
    return result;
}
