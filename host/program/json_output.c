/* json_output.c - texts to JSON values.
 *
 * Numbers are written with 15 digits: that is what any double carries of a decimal text, so 0.1 stays 0.1
 * and does not turn into 0.10000000000000001. A text whose number a double cannot hold (1e999) stays a
 * string rather than becoming something else.
 */
#include "json_output.h"

#include "messages.h"
#include "numbers.h"

#include <backplane.h>

#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 256, KEY_MAX = 512 };

json_t *json_output_checked(json_t *value, int bad)
{
    if (bad == 0)
        return value;
    json_decref(value);
    return NULL;
}

json_t *json_output_text(const char *text)
{
    if (text == NULL)
        return json_null();
    json_t *string = json_string(text);
    if (string != NULL)
        return string;
    size_t length = strlen(text);
    char *plain = malloc(length + 1);
    if (plain == NULL)
        return NULL;
    for (size_t i = 0; i <= length; i++)
        plain[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    string = json_string(plain);
    free(plain);
    return string;
}

json_t *json_output_count(uint64_t count)
{
    return json_integer(count > INT64_MAX ? INT64_MAX : (json_int_t)count);
}

static json_t *number_of(const char *text)
{
    if (numbers_is_whole(text)) {
        errno = 0;
        long long whole = strtoll(text, NULL, 10);
        if (errno == 0 && strcmp(text, "-0") != 0)
            return json_integer(whole);
    }
    double real = strtod(text, NULL);
    return real >= -DBL_MAX && real <= DBL_MAX ? json_real(real) : json_output_text(text);
}

json_t *json_output_cell(const char *text)
{
    return text != NULL && numbers_is_number(text) ? number_of(text) : json_output_text(text);
}

/* Cut the next word off `*text`; false where there is none. */
static bool next_word(const char **text, char word[WORD_MAX])
{
    const char *start = *text + strspn(*text, " \t,");
    size_t length = strcspn(start, " \t,");
    *text = start + length;
    if (length >= WORD_MAX)
        length = WORD_MAX - 1;
    memcpy(word, start, length);
    word[length] = '\0';
    return length > 0;
}

static json_t *list_of(const char *text)
{
    char word[WORD_MAX];
    int bad = 0;
    const char *rest = text;
    while (next_word(&rest, word))
        if (!numbers_is_number(word))
            return json_output_text(text);
    json_t *list = json_array();
    rest = text;
    while (bad == 0 && next_word(&rest, word))
        bad = json_array_append_new(list, number_of(word));
    return json_output_checked(list, bad);
}

json_t *json_output_value(uint32_t type, const char *text)
{
    if (text == NULL)
        return json_null();
    switch (type) {
    case BP_BOOL:
        if (strcmp(text, "true") == 0 || strcmp(text, "1") == 0)
            return json_true();
        return strcmp(text, "false") == 0 || strcmp(text, "0") == 0 ? json_false() : json_output_text(text);
    case BP_I32: case BP_U32: case BP_I64: case BP_F32: case BP_F64:
        return json_output_cell(text);
    case BP_VEC2: case BP_VEC3: case BP_VEC4: case BP_QUAT: case BP_MAT4: case BP_COLOUR:
        return list_of(text);
    default:
        return json_output_text(text);
    }
}

json_t *json_output_words(const char *text)
{
    char word[WORD_MAX];
    int bad = 0;
    json_t *list = json_array();
    while (bad == 0 && text != NULL && next_word(&text, word))
        bad = json_array_append_new(list, json_output_text(word));
    return json_output_checked(list, bad);
}

/* A key must be UTF-8, which a cut or a careless plugin may have broken. */
static const char *make_valid(char *key)
{
    json_t *string = json_string(key);
    for (char *c = key; string == NULL && *c != '\0'; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    json_decref(string);
    return key;
}

int json_output_set_unique(json_t *object, const char *key, json_t *value)
{
    char numbered[KEY_MAX];
    snprintf(numbered, sizeof numbered, "%s", key);
    for (unsigned i = 2; json_object_get(object, make_valid(numbered)) != NULL; i++)
        snprintf(numbered, sizeof numbered, "%.*s %u", KEY_MAX - 16, key, i);
    return json_object_set_new(object, numbered, value);
}

int json_output_print(json_t *root)
{
    if (root == NULL) {
        complain("out of memory while writing JSON");
        return STATUS_FAILED;
    }
    int bad = json_dumpf(root, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_decref(root);
    putchar('\n');
    if (bad == 0 || ferror(stdout))
        return STATUS_FINE; /* a stream that takes nothing more is found by main, as for all output */
    complain("out of memory while writing JSON");
    return STATUS_FAILED;
}
