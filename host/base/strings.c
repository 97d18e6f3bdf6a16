/* strings.c - the pool of shared strings: a hash table with chains through the headers.
 *
 * Invariants: a header is in exactly one chain while its count is above 0; the characters follow the header
 * directly; the table grows when it holds more strings than buckets, and a failure to grow only makes chains
 * longer.
 */
#include "strings.h"

#include "names.h"

#include <string.h>

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

static void grow(strings_t *strings)
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
        grow(strings);
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
