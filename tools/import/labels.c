/* labels.c - names that are unique in a scene, and names that every file system takes.
 *
 * Files name nodes as they please: not at all, all alike, in encodings of the last century. A scene wants names
 * that are unique, since entities refer to each other by them. The first node keeps its name, further ones get
 * _2, _3 and so on. All names of the file are announced first, so that a made-up name is never one that a later
 * node brings along.
 *
 * One table of texts with open addressing; each entry remembers the number given out last, so that a hundred
 * thousand nodes of one name do not count from 2 each.
 */
#include "import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct label_entry_t {
    char *text; /* NULL: free */
    uint32_t taken;  /* given out */
    uint32_t number; /* the last number put behind the text */
} label_entry_t;

/* FNV-1a (Fowler, Noll, Vo). */
static uint64_t hash(const char *text)
{
    uint64_t h = UINT64_C(14695981039346656037);
    for (; *text != '\0'; text++)
        h = (h ^ (unsigned char)*text) * UINT64_C(1099511628211);
    return h ^ (h >> 32);
}

/* The entry where `text` stands or would stand. The table always has a free entry. */
static label_entry_t *find(const labels_t *names, const char *text)
{
    size_t i = hash(text) & (names->room - 1);
    while (names->entries[i].text != NULL && strcmp(names->entries[i].text, text) != 0)
        i = (i + 1) & (names->room - 1);
    return &names->entries[i];
}

static bool grow(labels_t *names)
{
    labels_t wider = {.room = names->room == 0 ? 64 : 2 * names->room, .count = names->count};
    wider.entries = calloc(wider.room, sizeof *wider.entries);
    if (wider.entries == NULL)
        return false;
    for (size_t i = 0; i < names->room; i++)
        if (names->entries[i].text != NULL)
            *find(&wider, names->entries[i].text) = names->entries[i];
    free(names->entries);
    *names = wider;
    return true;
}

static char *copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *bytes = malloc(size);
    return bytes == NULL ? NULL : memcpy(bytes, text, size);
}

/* The entry of `text`, made where there is none. NULL: out of memory. */
static label_entry_t *entry_of(labels_t *names, const char *text)
{
    if (2 * (names->count + 1) > names->room && !grow(names))
        return NULL;
    label_entry_t *entry = find(names, text);
    if (entry->text != NULL)
        return entry;
    entry->text = copy(text);
    if (entry->text == NULL)
        return NULL;
    entry->number = 1;
    names->count++;
    return entry;
}

bool labels_announce(labels_t *names, const char *name)
{
    return entry_of(names, name) != NULL;
}

/* `base` with a number behind it, cut where both would be too long, but not within a character. */
static void numbered(const char *base, uint32_t number, char *name)
{
    char digits[16];
    size_t length = strlen(base);
    size_t room = NAME_MAX_BYTES - (size_t)snprintf(digits, sizeof digits, "_%u", (unsigned)number);
    if (length > room)
        length = room;
    while (length > 0 && length < strlen(base) && ((unsigned char)base[length] & 0xc0) == 0x80)
        length--;
    memcpy(name, base, length);
    memcpy(name + length, digits, strlen(digits) + 1);
}

char *labels_take(labels_t *names, const char *wanted)
{
    char name[NAME_MAX_BYTES + 1];
    label_entry_t *entry = entry_of(names, wanted);
    if (entry == NULL)
        return NULL;
    if (!entry->taken) {
        entry->taken = 1;
        return copy(wanted);
    }
    uint32_t number = entry->number;
    do
        numbered(wanted, ++number, name);
    while (find(names, name)->text != NULL);
    entry->number = number;
    entry = entry_of(names, name); /* may move the other */
    if (entry == NULL)
        return NULL;
    entry->taken = 1;
    return copy(name);
}

void labels_free(labels_t *names)
{
    for (size_t i = 0; i < names->room; i++)
        free(names->entries[i].text);
    free(names->entries);
    *names = (labels_t){0};
}

/* Bytes of the UTF-8 character at `text`, of at most `left`; 0 where there is none. */
static size_t character(const unsigned char *text, size_t left)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = text[0] < 0x80 ? 1 : text[0] >= 0xf0 ? 4 : text[0] >= 0xe0 ? 3 : 2;
    uint32_t code = bytes == 1 ? text[0] : text[0] & (0x7fu >> bytes);
    if ((text[0] >= 0x80 && text[0] < 0xc0) || text[0] >= 0xf8 || bytes > left)
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (text[i] & 0x3fu);
    }
    return code < least[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0 : bytes;
}

bool label_tidy(const char *text, size_t bytes, char *name)
{
    size_t length = 0;
    bool same = true;
    for (size_t i = 0; i < bytes;) {
        size_t n = character((const unsigned char *)text + i, bytes - i);
        bool kept = n > 1 || (n == 1 && (unsigned char)text[i] >= 0x20 && text[i] != 0x7f);
        if (length + (kept ? n : 1) > NAME_MAX_BYTES) {
            same = false;
            break;
        }
        if (kept)
            memcpy(name + length, text + i, n);
        else
            name[length] = '?';
        same &= kept;
        length += kept ? n : 1;
        i += n > 0 ? n : 1;
    }
    name[length] = '\0';
    return same;
}

void label_for_file(const char *text, char *out, size_t size)
{
    size_t length = 0;
    for (; *text != '\0' && length + 1 < size; text++) {
        char c = *text;
        bool fine = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
        out[length++] = fine ? c : '_';
    }
    out[length] = '\0';
}
