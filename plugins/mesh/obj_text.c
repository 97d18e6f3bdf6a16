/* obj_text.c - lines from a window, tokens from lines, numbers from tokens.
 *
 * Numbers are not read by strtof, which follows the locale of the program ("1,5" in much of Europe) and needs a closing
 * zero.
 */
#include "obj_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

enum { NAME_SHOWN = 300 };

bool mesh_text_refuse(mesh_text_t *t, bp_result_t code, uint64_t line, const char *format, ...)
{
    char place[32] = "";
    if (line > 0)
        snprintf(place, sizeof place, ":%" PRIu64, line);
    int length = snprintf(t->sentence, MESH_OBJ_SENTENCE_MAX, "%.*s%s: ", NAME_SHOWN, t->name, place);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(t->sentence + length, (size_t)(MESH_OBJ_SENTENCE_MAX - length), format, arguments);
    va_end(arguments);
    t->code = code;
    return false;
}

/* --- lines ------------------------------------------------------------------------------------ */

bool mesh_text_refuse_bytes(mesh_text_t *t)
{
    return mesh_text_refuse(t, BP_ERROR_LIMIT, 0, "the file is larger than the limit of %" PRIu64 " bytes",
                  t->limit);
}

/* Move what is unread to the window's beginning and read on behind it. *more says whether anything came. */
static bool fill_window(mesh_text_t *t, bool *more)
{
    *more = false;
    if (t->file == NULL)
        return true;
    if (t->end - t->begin == MESH_TEXT_WINDOW)
        return mesh_text_refuse(t, BP_ERROR_LIMIT, t->line, "the line is longer than %d bytes", MESH_OBJ_LINE_MAX);
    memmove(t->buffer, t->buffer + t->begin, t->end - t->begin);
    t->end -= t->begin;
    t->begin = 0;
    errno = 0;
    size_t got = fread(t->buffer + t->end, 1, MESH_TEXT_WINDOW - t->end, t->file);
    if (got == 0 && ferror(t->file))
        return mesh_text_refuse(t, BP_ERROR_IO, 0, "cannot be read: %s", errno != 0 ? strerror(errno) : "input error");
    t->end += got;
    t->bytes += got;
    if (t->bytes > t->limit)
        return mesh_text_refuse_bytes(t);
    *more = got > 0;
    return true;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\v' || c == '\f';
}

static bool is_comment(const char *begin, const char *end)
{
    while (begin < end && is_blank(*begin))
        begin++;
    return begin < end && *begin == '#';
}

/* Does a backslash stand before the newline at `newline`, in the line that begins at `begin`? */
static bool has_backslash(const char *begin, const char *newline)
{
    const char *p = newline;
    if (p > begin && p[-1] == '\r')
        p--;
    return p > begin && p[-1] == '\\';
}

static bool check_line(mesh_text_t *t, view_t line)
{
    if (line.end - line.begin > MESH_OBJ_LINE_MAX)
        return mesh_text_refuse(t, BP_ERROR_LIMIT, t->line, "the line is longer than %d bytes", MESH_OBJ_LINE_MAX);
    if (memchr(line.begin, '\0', (size_t)(line.end - line.begin)) != NULL)
        return mesh_text_refuse(t, BP_ERROR_SYNTAX, t->line, "a zero byte; an OBJ file is text");
    return true;
}

bool mesh_text_next_line(mesh_text_t *t, view_t *line, bool *found)
{
    size_t seen = 0; /* bytes of the line without an end */
    bool continued = false;
    t->line = t->next_line;
    *found = true;
    for (;;) {
        const char *begin = t->window + t->begin;
        const char *newline = memchr(begin + seen, '\n', t->end - t->begin - seen);
        if (newline != NULL) {
            t->next_line++;
            seen = (size_t)(newline - begin) + 1;
            continued = has_backslash(begin, newline) && (continued || !is_comment(begin, newline));
            if (continued)
                continue;
            *line = (view_t){begin, newline};
            t->begin += seen;
            return check_line(t, *line);
        }
        seen = t->end - t->begin;
        bool more;
        if (!fill_window(t, &more))
            return false;
        if (!more)
            break;
    }
    *line = (view_t){t->window + t->begin, t->window + t->end};
    *found = t->begin < t->end;
    t->begin = t->end;
    return check_line(t, *line);
}

/* --- tokens and numbers ----------------------------------------------------------------------- */

/* Is at p a blank, or a backslash that continues the line (or would, were it not the input's last byte)? */
static bool is_gap(const char *p, const char *end)
{
    if (*p != '\\')
        return is_blank(*p);
    return p + 1 == end || p[1] == '\n' || (p[1] == '\r' && p + 2 < end && p[2] == '\n');
}

bool mesh_text_take_token(view_t *line, view_t *token)
{
    const char *p = line->begin;
    while (p < line->end && is_gap(p, line->end))
        p++;
    token->begin = p;
    while (p < line->end && !is_gap(p, line->end))
        p++;
    token->end = line->begin = p;
    return token->begin < token->end && *token->begin != '#';
}

bool mesh_text_is(view_t token, const char *word)
{
    size_t length = (size_t)(token.end - token.begin);
    return strlen(word) == length && memcmp(token.begin, word, length) == 0;
}

const char *mesh_text_show(view_t token, char text[MESH_TEXT_SHOWN + 4])
{
    size_t length = (size_t)(token.end - token.begin);
    bool cut = length > MESH_TEXT_SHOWN;
    if (cut)
        length = MESH_TEXT_SHOWN;
    for (size_t i = 0; i < length; i++)
        text[i] = token.begin[i] >= ' ' && token.begin[i] <= '~' ? token.begin[i] : '?';
    memcpy(text + length, cut ? "..." : "", cut ? 4 : 1);
    return text;
}

bool mesh_text_refuse_token(mesh_text_t *t, view_t token, const char *complaint)
{
    char text[MESH_TEXT_SHOWN + 4];
    return mesh_text_refuse(t, BP_ERROR_SYNTAX, t->line, "'%s' %s", mesh_text_show(token, text), complaint);
}

bool mesh_text_take_minus(const char **p, const char *end)
{
    bool minus = *p < end && **p == '-';
    if (minus || (*p < end && **p == '+'))
        ++*p;
    return minus;
}

int64_t mesh_text_take_digits(const char **p, const char *end)
{
    int64_t number = 0;
    for (; mesh_text_is_digit(*p, end); ++*p)
        number = number < INT64_C(100000000000000000) ? number * 10 + (**p - '0') : number;
    return number;
}

/* The digits of a mantissa; those beyond the 18th only count for the exponent. */
typedef struct mantissa_t {
    uint64_t number;
    int64_t exponent;
    bool any;
} mantissa_t;

static void take_mantissa(const char **p, const char *end, mantissa_t *m, bool fraction)
{
    for (; mesh_text_is_digit(*p, end); ++*p) {
        m->any = true;
        bool kept = m->number < UINT64_C(100000000000000000);
        if (kept)
            m->number = m->number * 10 + (uint64_t)(**p - '0');
        m->exponent += fraction ? (kept ? -1 : 0) : (kept ? 0 : 1);
    }
}

/* number * 10^exponent: exact factors up to 10^22, so small numbers are rounded once. */
static double scaled(uint64_t number, int64_t exponent)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double value = (double)number;
    if (number == 0 || exponent < -400)
        return 0;
    if (exponent > 400)
        exponent = 400; /* infinite all the same */
    for (; exponent > 22; exponent -= 22)
        value *= 1e22;
    for (; exponent < -22; exponent += 22)
        value /= 1e22;
    return exponent >= 0 ? value * powers[exponent] : value / powers[-exponent];
}

/* The least double that would round to an infinite float, and the largest float. */
#define FLOAT_END 0x1.ffffffp127
#define FLOAT_LARGEST 0x1.fffffep127

bool mesh_text_read_number(mesh_text_t *t, view_t token, float *number)
{
    const char *p = token.begin, *end = token.end;
    mantissa_t m = {0, 0, false};
    bool minus = mesh_text_take_minus(&p, end);
    take_mantissa(&p, end, &m, false);
    if (p < end && *p == '.') {
        p++;
        take_mantissa(&p, end, &m, true);
    }
    if (m.any && p < end && (*p == 'e' || *p == 'E')) {
        p++;
        bool down = mesh_text_take_minus(&p, end);
        m.any = mesh_text_is_digit(p, end);
        int64_t exponent = mesh_text_take_digits(&p, end);
        m.exponent += down ? -exponent : exponent;
    }
    if (!m.any || p != end)
        return mesh_text_refuse_token(t, token, "is not a finite number");
    double value = scaled(m.number, m.exponent);
    if (value >= FLOAT_END)
        return mesh_text_refuse_token(t, token, "is too large for a float");
    if (value > FLOAT_LARGEST)
        value = FLOAT_LARGEST;
    *number = (float)(minus ? -value : value);
    return true;
}
