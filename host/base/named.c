/* named.c - a list of names read once, and values by them.
 *
 * Lists are short and are looked through from the front: forty comparisons cost less than reading the text around the
 * value.
 *
 * Invariant: names point into `texts`, a copy of the list with a zero byte behind each name.
 */
#include "named.h"

#include <inttypes.h>

enum { NAME_BYTES = 63, DIGITS = 24 };

/* --- the list ----------------------------------------------------------------------------------------------------- */

static bool is_between(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',';
}

static bool is_name(const char *word)
{
    return names_is_word(word) && !(word[0] >= '0' && word[0] <= '9');
}

/* The next word at `at`, ended with a zero byte; NULL at the end. */
static char *cut_word(char **at)
{
    char *word = *at;
    while (is_between(*word))
        word++;
    char *end = word;
    while (*end != '\0' && !is_between(*end))
        end++;
    *at = *end == '\0' ? end : end + 1;
    *end = '\0';
    return word == end ? NULL : word;
}

static uint32_t count_words(const char *text)
{
    uint32_t count = 0;
    for (const char *at = text; *at != '\0'; at++)
        count += !is_between(*at) && (at == text || is_between(at[-1]));
    return count;
}

static bool same(value_integer_t a, value_integer_t b)
{
    return a.bits == b.bits && a.negative == b.negative;
}

/* False behind the last number of 64 bits. */
static bool next_number(const named_t *named, value_integer_t *number)
{
    if (named->count == 0)
        return true;
    bool last = !number->negative && number->bits == UINT64_MAX;
    number->bits++;
    number->negative = number->negative && number->bits != 0;
    return !last;
}

/* Read the number of 64 bits behind a name ("heavy=8"). False where the text is no such number. */
static bool read_number(const char *text, value_integer_t *number)
{
    bp_value_t value;
    error_text_t unused = {.calls = NULL};
    uint32_t type = text[0] == '-' ? BP_I64 : BP_U64;
    if (value_parse(NULL, type, text, &value, &unused) != BP_OK)
        return false;
    *number = value_read_integer(type, &value);
    return true;
}

static const char *number_text(value_integer_t number, char *text)
{
    snprintf(text, DIGITS, number.negative ? "-%" PRIu64 : "%" PRIu64, number.negative ? 0 - number.bits : number.bits);
    return text;
}

static bp_result_t check(const named_t *named, uint32_t type, value_integer_t number, const named_value_t *item,
                         error_text_t *error)
{
    char digits[DIGITS];
    uint64_t unused;
    uint32_t width = value_integer_bits(type);
    if (named->bits && (number.negative || number.bits >= width))
        return error_set(error, BP_ERROR_RANGE, "'%s' is bit %s; a %s has the bits 0 to %u", item->name,
                         number_text(number, digits), value_type_name(type), width - 1);
    if (!named->bits && !value_write_integer(type, number, &unused))
        return error_set(error, BP_ERROR_RANGE, "'%s' is %s, which is not %s (type %s)", item->name,
                         number_text(number, digits), value_form(type), value_type_name(type));
    for (uint32_t i = 0; i < named->count; i++) {
        if (strcmp(named->items[i].name, item->name) == 0)
            return error_set(error, BP_ERROR_EXISTS, "'%s' stands twice in the named values", item->name);
        if (same(named->items[i].number, item->number))
            return error_set(error, BP_ERROR_EXISTS, "'%s' and '%s' are the same number", named->items[i].name,
                             item->name);
    }
    return BP_OK;
}

/* `number` is that of the name before, and becomes that of this one. */
static bp_result_t add(named_t *named, uint32_t type, char *word, value_integer_t *number, error_text_t *error)
{
    char *equals = strchr(word, '=');
    if (equals != NULL)
        *equals = '\0';
    if (!is_name(word))
        return error_set(error, BP_ERROR_ARGUMENT,
                         "a named value is a word of letters, digits and '_' that begins with no digit, of at most %d "
                         "bytes, not '%.64s'",
                         NAME_BYTES, word);
    if (equals != NULL && !read_number(equals + 1, number))
        return error_set(error, BP_ERROR_TYPE, "'%s=%.40s' ends with no whole number", word, equals + 1);
    if (equals == NULL && !next_number(named, number))
        return error_set(error, BP_ERROR_RANGE, "'%s' has no number: there is none behind %" PRIu64, word, UINT64_MAX);
    named_value_t item = {word, *number};
    if (named->bits)
        item.number = (value_integer_t){number->bits < 64 ? UINT64_C(1) << number->bits : 0, false};
    bp_result_t result = check(named, type, *number, &item, error);
    if (result != BP_OK)
        return result;
    named->items[named->count++] = item;
    named->mask |= item.number.bits;
    return BP_OK;
}

bp_result_t named_init(named_t *named, memory_t *memory, uint32_t type, const char *text, bool bits,
                       error_text_t *error)
{
    *named = (named_t){.bits = bits};
    uint32_t most = count_words(text);
    if (value_integer_bits(type) < 8)
        return error_set(error, BP_ERROR_TYPE, "a %s has no named values; integers have", value_type_name(type));
    if (bits && value_is_signed(type))
        return error_set(error, BP_ERROR_TYPE, "named bits need an unsigned type (u8, u16, u32 or u64), not %s",
                         value_type_name(type));
    if (most == 0)
        return error_set(error, BP_ERROR_ARGUMENT, "there are no names in its named values");
    named->texts_size = strlen(text) + 1;
    named->texts = memory_resize(memory, NULL, 0, named->texts_size);
    named->items = memory_new(memory, most * sizeof *named->items);
    bp_result_t result =
        named->texts == NULL || named->items == NULL ? error_memory(error, "reading named values") : BP_OK;
    value_integer_t number = {0, false};
    if (result == BP_OK)
        memcpy(named->texts, text, named->texts_size);
    char *at = named->texts;
    for (uint32_t i = 0; i < most && result == BP_OK; i++)
        result = add(named, type, cut_word(&at), &number, error);
    if (result != BP_OK) {
        memory_free(memory, named->items, named->items == NULL ? 0 : most * sizeof *named->items);
        memory_free(memory, named->texts, named->texts == NULL ? 0 : named->texts_size);
        *named = (named_t){.bits = false};
    }
    return result;
}

void named_free(named_t *named, memory_t *memory)
{
    memory_free(memory, named->items, named->count * sizeof *named->items);
    memory_free(memory, named->texts, named->texts_size);
    *named = (named_t){.bits = false};
}

/* --- finding ------------------------------------------------------------------------------------------------------ */

const named_value_t *named_find(const named_t *named, const char *name, size_t length)
{
    for (uint32_t i = 0; i < named->count; i++) {
        if (strncmp(named->items[i].name, name, length) == 0 && named->items[i].name[length] == '\0')
            return &named->items[i];
    }
    return NULL;
}

const named_value_t *named_by_number(const named_t *named, value_integer_t number)
{
    for (uint32_t i = 0; i < named->count; i++) {
        if (same(named->items[i].number, number))
            return &named->items[i];
    }
    return NULL;
}

bool named_holds(const named_t *named, uint32_t type, const void *value)
{
    value_integer_t number = value_read_integer(type, value);
    return named->bits ? (number.bits & ~named->mask) == 0 : named_by_number(named, number) != NULL;
}

/* --- text --------------------------------------------------------------------------------------------------------- */

const char *named_list(const named_t *named, const char *between, text_t *text)
{
    text->length = 0;
    text->chars[0] = '\0';
    for (uint32_t i = 0; i < named->count; i++)
        text_append(text, "%s%s", i > 0 ? between : "", named->items[i].name);
    return text->chars;
}

static bp_result_t refuse(const named_t *named, const char *word, error_text_t *error)
{
    nearest_t nearest = {.wanted = word};
    text_t hint, list;
    for (uint32_t i = 0; i < named->count; i++)
        nearest_consider(&nearest, named->items[i].name);
    return error_set(error, BP_ERROR_TYPE, "'%.60s' is none of its %s%s (it has %s)", word,
                     named->bits ? "flags" : "values", nearest_hint(&nearest, &hint), named_list(named, ", ", &list));
}

/* One word between '|'s, or the whole text. */
static bp_result_t read_word(const named_t *named, uint32_t type, const char *word, size_t length, uint64_t *value,
                             error_text_t *error)
{
    char copy[NAME_BYTES + 1];
    bp_value_t number = {.u64 = 0};
    const named_value_t *item = named_find(named, word, length);
    snprintf(copy, sizeof copy, "%.*s", (int)(length < NAME_BYTES ? length : NAME_BYTES), word);
    if (item != NULL)
        value_write_integer(type, item->number, &number);
    else if (length > NAME_BYTES || value_parse(NULL, type, copy, &number, error) != BP_OK)
        return refuse(named, copy, error);
    *value = named->bits ? *value | number.u64 : number.u64;
    return BP_OK;
}

bp_result_t named_parse(const named_t *named, uint32_t type, const char *text, void *value, error_text_t *error)
{
    uint64_t number = 0;
    bp_result_t result;
    const char *at = text;
    do {
        const char *end = at + (named->bits ? strcspn(at, "|") : strlen(at)), *last = end;
        at += strspn(at, " \t");
        while (last > at && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        result = read_word(named, type, at, last > at ? (size_t)(last - at) : 0, &number, error);
        at = *end == '|' ? end + 1 : NULL;
    } while (result == BP_OK && at != NULL);
    if (result == BP_OK)
        memcpy(value, &number, value_size(type)); /* the low bytes come first */
    return result;
}

static void append(char *text, size_t size, const char *word)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s%s", length > 0 ? "|" : "", word);
}

void named_format(const named_t *named, uint32_t type, const void *value, char *text, size_t size)
{
    value_integer_t number = value_read_integer(type, value);
    const named_value_t *item = named_by_number(named, number);
    char rest[24];
    if (item != NULL) {
        snprintf(text, size, "%s", item->name);
        return;
    }
    if (!named->bits || number.bits == 0) {
        value_format(NULL, type, value, text, size);
        return;
    }
    if (size > 0)
        text[0] = '\0';
    for (uint32_t i = 0; i < named->count && size > 0; i++) {
        if ((number.bits & named->items[i].number.bits) != 0)
            append(text, size, named->items[i].name);
    }
    snprintf(rest, sizeof rest, "0x%llx", (unsigned long long)(number.bits & ~named->mask));
    if ((number.bits & ~named->mask) != 0 && size > 0)
        append(text, size, rest);
}
