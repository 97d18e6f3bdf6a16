/* bp_real.h - floating-point numbers as text, with a point, whatever the locale of the program.
 *
 * In much of the world numbers have a comma, and a program that asks for the locale of its user (setlocale, which many
 * toolkits call) has printf write "1,5" and strtod end at the point of "1.5". Texts of Backplane (defaults, properties,
 * scenes, tables, what a program reads from a file or a socket) have a point in every locale, so plugins that read or
 * write numbers use these functions.
 *
 * The locale itself stays as it is: it belongs to the program, and all threads share it.
 *
 * Not here: whole numbers, which no locale changes; how many digits a number needs.
 */
#ifndef BP_REAL_H
#define BP_REAL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    BP_REAL_LONG = 1100, /* characters of a number in a locale without a point; longer ones are refused there */
    BP_REAL_POINT = 16   /* bytes of what such a locale has in its place, which may be several */
};

/* Of one number that printf has written (%e, %f, %g, not %a), in whatever locale, make that number with a point.
 * Returns `text`. [any] */
static inline char *bp_real_dot(char *text)
{
    char *at = text + strspn(text, "+- "), *rest;
    size_t whole = strspn(at, "0123456789");
    at += whole;
    if (whole == 0 || *at == '\0' || *at == 'e' || *at == 'E' || *at == '.')
        return text;
    rest = at + strcspn(at, "0123456789");
    *at = '.';
    memmove(at + 1, rest, strlen(rest) + 1);
    return text;
}

/* What the locale has in place of a point. */
static inline size_t bp_real_point(char point[BP_REAL_POINT])
{
    char text[BP_REAL_POINT + 8];
    size_t length;
    snprintf(text, sizeof text, "%.1f", 1.5);
    length = strcspn(text + 1, "0123456789");
    if (length == 0 || length > BP_REAL_POINT)
        return 0;
    memcpy(point, text + 1, length);
    return length;
}

/* As bp_real_read, in a locale that may have no point. `text` has nothing to skip before the number. */
static inline double bp_real_read_anywhere(const char *text, char **end, const char *point, size_t length)
{
    char copy[BP_REAL_LONG], *stop;
    size_t from = 0, to = 0, dot = sizeof copy, used;
    double number;
    for (; text[from] != '\0' && to + length < sizeof copy && strncmp(text + from, point, length) != 0; from++) {
        if (text[from] != '.') {
            copy[to++] = text[from];
            continue;
        }
        if (dot != sizeof copy)
            break; /* a second point, which no number has */
        dot = to;
        memcpy(copy + to, point, length);
        to += length;
    }
    copy[to] = '\0';
    number = strtod(copy, &stop);
    used = (size_t)(stop - copy);
    if (used == to && to + length >= sizeof copy)
        used = 0; /* there may be more of it */
    *end = (char *)(uintptr_t)text + (used > dot ? used - (length - 1) : used);
    return used == 0 ? 0 : number;
}

/* As strtod in the locale "C", in every locale: *end (`end` may be NULL) is what follows the number, and `text` itself
 * where there is none. errno is that of strtod. [any] */
static inline double bp_real_read(const char *text, char **end)
{
    char point[BP_REAL_POINT], *stop;
    double number = strtod(text, &stop);
    const char *at = text;
    size_t length, blanks;
    while (at < stop && ((*at >= '0' && *at <= '9') || *at == '.' || *at == '-' || *at == '+' || *at == 'e'))
        at++;
    if (at > text && at == stop && *at != '.' && *at != 'x' && *at != 'X') { /* the same in all locales */
        if (end != NULL)
            *end = stop;
        return number;
    }
    length = bp_real_point(point);
    if (length == 0 || (length == 1 && point[0] == '.'))
        return strtod(text, end);
    blanks = strspn(text, " \t\n\v\f\r");
    number = bp_real_read_anywhere(text + blanks, &stop, point, length);
    if (end != NULL)
        *end = stop == text + blanks ? (char *)(uintptr_t)text : stop;
    return number;
}

#endif
