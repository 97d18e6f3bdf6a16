/* names.c - the table of interned texts.
 *
 * An open-addressing table of {hash, text}; the hash is the key and needs no hashing again. It is kept at most
 * half full. A text whose hash is 0, or is taken by another text, is refused: with 64 bits nobody will see that,
 * but names must be equal exactly when texts are.
 */
#include "names.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

void names_init(names_t *names, memory_t *parent)
{
    memset(names, 0, sizeof *names);
    memory_init_child(&names->memory, "names", parent);
}

void names_free(names_t *names)
{
    for (uint32_t i = 0; i < names->capacity; i++)
        memory_free_text(&names->memory, names->entries[i].text);
    memory_free(&names->memory, names->entries, names->capacity * sizeof *names->entries);
    names->entries = NULL;
    names->capacity = names->count = 0;
}

bp_name_t names_hash(const char *text)
{
    return text[0] == '\0' ? 0 : XXH3_64bits(text, strlen(text));
}

static names_entry_t *find(const names_t *names, bp_name_t name)
{
    uint32_t i = (uint32_t)name & (names->capacity - 1);
    while (names->entries[i].name != 0 && names->entries[i].name != name)
        i = (i + 1) & (names->capacity - 1);
    return &names->entries[i];
}

static bool grow(names_t *names)
{
    names_t bigger = *names;
    bigger.capacity = names->capacity == 0 ? 64 : names->capacity * 2;
    bigger.entries = memory_new(&names->memory, bigger.capacity * sizeof *bigger.entries);
    if (bigger.entries == NULL)
        return false;
    for (uint32_t i = 0; i < names->capacity; i++) {
        if (names->entries[i].name != 0)
            *find(&bigger, names->entries[i].name) = names->entries[i];
    }
    memory_free(&names->memory, names->entries, names->capacity * sizeof *names->entries);
    names->entries = bigger.entries;
    names->capacity = bigger.capacity;
    return true;
}

bp_result_t names_intern(names_t *names, const char *text, bp_name_t *name, error_text_t *error)
{
    if (strlen(text) > NAMES_MAX_LENGTH)
        return error_set(error, BP_ERROR_LIMIT, "the name '%.40s...' is longer than %d bytes", text, NAMES_MAX_LENGTH);
    *name = names_hash(text);
    if (text[0] == '\0')
        return BP_OK;
    if (names->count * 2 >= names->capacity && !grow(names))
        return error_memory(error, "interning a name");
    names_entry_t *entry = find(names, *name);
    if (*name == 0 || (entry->name != 0 && strcmp(entry->text, text) != 0))
        return error_set(error, BP_ERROR_EXISTS, "the name '%s' has the hash of another name; choose another", text);
    if (entry->name != 0)
        return BP_OK;
    char *copy = memory_copy_text(&names->memory, text);
    if (copy == NULL)
        return error_memory(error, "interning a name");
    entry->name = *name;
    entry->text = copy;
    names->count++;
    return BP_OK;
}

const char *names_text(const names_t *names, bp_name_t name)
{
    if (name == 0)
        return "";
    if (names->capacity == 0)
        return "?";
    const names_entry_t *entry = find(names, name);
    return entry->name != 0 ? entry->text : "?";
}

bool names_is_word(const char *text)
{
    size_t length = 0;
    for (; text[length] != '\0'; length++) {
        char c = text[length];
        bool good = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
        if (!good || length >= 63)
            return false;
    }
    return length > 0;
}
