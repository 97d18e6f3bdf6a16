/* numbers.c - the grammar of numbers.
 *
 * strtod and strtoull are too willing for both jobs here: the one takes "inf", "0x10" and " 1", the other
 * "-1", which it turns into eighteen trillion million steps. So the form is checked by hand: for cells the
 * form that JSON has (with a plus sign allowed), because a cell that is a number becomes one in JSON; "007"
 * is more likely somebody's name.
 */
#include "numbers.h"

#include <stddef.h>
#include <string.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool numbers_read_count(const char *text, uint64_t *count)
{
    uint64_t sum = 0;
    if (*text == '\0')
        return false;
    for (; *text != '\0'; text++) {
        if (!is_digit(*text))
            return false;
        uint64_t digit = (uint64_t)(*text - '0');
        if (sum > (UINT64_MAX - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *count = sum;
    return true;
}

/* Past the digits at `text`; NULL where there are none. */
static const char *skip_digits(const char *text)
{
    if (!is_digit(*text))
        return NULL;
    while (is_digit(*text))
        text++;
    return text;
}

bool numbers_is_number(const char *text)
{
    if (*text == '-' || *text == '+')
        text++;
    if (text[0] == '0' && is_digit(text[1]))
        return false;
    text = skip_digits(text);
    if (text != NULL && *text == '.')
        text = skip_digits(text + 1);
    if (text != NULL && (*text == 'e' || *text == 'E')) {
        text++;
        text = skip_digits(*text == '-' || *text == '+' ? text + 1 : text);
    }
    return text != NULL && *text == '\0';
}

bool numbers_is_whole(const char *text)
{
    return strpbrk(text, ".eE") == NULL;
}
