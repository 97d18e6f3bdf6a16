/* strings.c - the table of interned texts, the pool of shared strings, and the hash of bytes.
 *
 * An open-addressing table of {hash, text}; the hash is the key and needs no hashing again. The
 * table is at most half full. A text that has the hash 0, or the hash of another interned text, is refused, since two
 * names must be equal exactly when their texts are. With hashes of 64 bits such a text does not occur in practice.
 */
#include "strings.h"

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

static bool grow_names(names_t *names)
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
    if (names->count * 2 >= names->capacity && !grow_names(names))
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

/* --- strings ----------------------------------------------------------------------------------------------------- */

/* The pool of shared strings: a hash table with chains through the headers.
 *
 * Invariants: a header is in exactly one chain while its count is above 0; the characters follow the header
 * directly; the table grows when it holds more strings than buckets, and a failure to grow only makes chains
 * longer.
 */

typedef struct string_header_t {
    struct string_header_t *next;
    uint64_t hash;
    uint32_t uses;
    uint32_t length;
} string_header_t;

const char strings_empty[1] = "";

void strings_init(strings_t *strings, memory_t *parent)
{
    memset(strings, 0, sizeof *strings);
    memory_init_child(&strings->memory, "strings", parent);
}

static size_t block_size(const string_header_t *header)
{
    return sizeof *header + header->length + 1;
}

void strings_free(strings_t *strings)
{
    for (uint32_t i = 0; i < strings->capacity; i++) {
        for (string_header_t *h = strings->buckets[i], *next; h != NULL; h = next) {
            next = h->next;
            memory_free(&strings->memory, h, block_size(h));
        }
    }
    memory_free(&strings->memory, strings->buckets, strings->capacity * sizeof *strings->buckets);
    strings->buckets = NULL;
    strings->capacity = strings->count = 0;
}

static void grow_strings(strings_t *strings)
{
    uint32_t capacity = strings->capacity == 0 ? 64 : strings->capacity * 2;
    string_header_t **buckets = memory_new(&strings->memory, capacity * sizeof *buckets);
    if (buckets == NULL)
        return;
    for (uint32_t i = 0; i < strings->capacity; i++) {
        for (string_header_t *h = strings->buckets[i], *next; h != NULL; h = next) {
            next = h->next;
            string_header_t **bucket = &buckets[h->hash & (capacity - 1)];
            h->next = *bucket;
            *bucket = h;
        }
    }
    memory_free(&strings->memory, strings->buckets, strings->capacity * sizeof *strings->buckets);
    strings->buckets = buckets;
    strings->capacity = capacity;
}

static string_header_t *add(strings_t *strings, const char *text, size_t length, uint64_t hash)
{
    string_header_t *h = memory_resize(&strings->memory, NULL, 0, sizeof *h + length + 1);
    if (h == NULL)
        return NULL;
    string_header_t **bucket = &strings->buckets[hash & (strings->capacity - 1)];
    *h = (string_header_t){.next = *bucket, .hash = hash, .uses = 1, .length = (uint32_t)length};
    memcpy(h + 1, text, length + 1);
    *bucket = h;
    strings->count++;
    return h;
}

const char *strings_acquire(strings_t *strings, const char *text)
{
    if (text[0] == '\0')
        return strings_empty;
    size_t length = strlen(text);
    if (length >= UINT32_MAX / 2)
        return NULL;
    if (strings->count >= strings->capacity)
        grow_strings(strings);
    if (strings->capacity == 0)
        return NULL;
    uint64_t hash = names_hash(text);
    for (string_header_t *h = strings->buckets[hash & (strings->capacity - 1)]; h != NULL; h = h->next) {
        if (h->hash == hash && h->length == length && memcmp(h + 1, text, length) == 0) {
            h->uses++;
            return (const char *)(h + 1);
        }
    }
    string_header_t *h = add(strings, text, length, hash);
    return h == NULL ? NULL : (const char *)(h + 1);
}

static string_header_t *header_of(const char *string)
{
    return (string_header_t *)(uintptr_t)string - 1;
}

uint32_t strings_uses(const char *string)
{
    return string == strings_empty ? 0 : header_of(string)->uses;
}

void strings_retain(const char *string, uint32_t times)
{
    if (string != strings_empty)
        header_of(string)->uses += times;
}

void strings_release(strings_t *strings, const char *string)
{
    if (string == strings_empty)
        return;
    string_header_t *h = header_of(string);
    if (--h->uses > 0)
        return;
    string_header_t **link = &strings->buckets[h->hash & (strings->capacity - 1)];
    while (*link != h)
        link = &(*link)->next;
    *link = h->next;
    strings->count--;
    memory_free(&strings->memory, h, block_size(h));
}

/* --- hash -------------------------------------------------------------------------------------------------------- */

/* XXH3 as a function of its own.
 *
 * The library is used as a header; here it is compiled once for whole files, where its loops over long inputs matter.
 * Names have a copy of their own that is inlined for short texts (names_hash).
 */

uint64_t hash_bytes(const void *bytes, size_t size)
{
    return XXH3_64bits(bytes, size);
}
