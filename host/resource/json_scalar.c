/* json_scalar.c - texts and numbers of JSON (RFC 8259).
 *
 * Numbers of few digits are made exactly: a mantissa below 2^53 times or by a power of ten up to 10^22, both of which doubles
 * hold, is rounded once (W. D. Clinger, "How to read floating point numbers accurately", 1990). All others go through strtod.
 */
#include "json_scalar.h"

#include <locale.h>
#include <stdlib.h>

bp_result_t json_fail(json_cursor_t *in, const char *at, bp_result_t code, const char *sentence)
{
    in->fault->offset = (size_t)(at - in->start);
    return error_set(in->fault->error, code, "%s", sentence);
}

bp_result_t json_unexpected(json_cursor_t *in, const char *at, const char *expected)
{
    size_t left = (size_t)(in->end - at), length = 0;
    in->fault->offset = (size_t)(at - in->start);
    if (left == 0)
        return error_set(in->fault->error, BP_ERROR_SYNTAX, "%s expected, but here the text ends", expected);
    while (length < left && length < 20 && ((at[length] >= 'a' && at[length] <= 'z') || (at[length] >= 'A' && at[length] <= 'Z')))
        length++;
    unsigned char c = (unsigned char)at[0];
    if (length == 0 && (c < 0x20 || c >= 0x7f))
        return error_set(in->fault->error, BP_ERROR_SYNTAX, "%s expected, not the byte 0x%02x", expected, c);
    return error_set(in->fault->error, BP_ERROR_SYNTAX, "%s expected, not '%.*s'", expected, length == 0 ? 1 : (int)length, at);
}

/* --- strings ---------------------------------------------------------------------------------------------------------- */

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Four hexadecimal digits at `at`; -1 where they are not there. */
static int32_t hex4(const json_cursor_t *in, const char *at)
{
    int32_t number = 0;
    if (in->end - at < 4)
        return -1;
    for (int i = 0; i < 4; i++) {
        if (hex(at[i]) < 0)
            return -1;
        number = number * 16 + hex(at[i]);
    }
    return number;
}

static char *write_utf8(char *out, uint32_t c)
{
    if (c < 0x80) {
        *out++ = (char)c;
    } else if (c < 0x800) {
        *out++ = (char)(0xC0 | c >> 6);
        *out++ = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        *out++ = (char)(0xE0 | c >> 12);
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    } else {
        *out++ = (char)(0xF0 | c >> 18);
        *out++ = (char)(0x80 | (c >> 12 & 0x3F));
        *out++ = (char)(0x80 | (c >> 6 & 0x3F));
        *out++ = (char)(0x80 | (c & 0x3F));
    }
    return out;
}

/* \uXXXX, or two of them; in->at is behind the \u. */
static bp_result_t read_unicode(json_cursor_t *in, char **out)
{
    const char *begin = in->at - 2;
    int32_t c = hex4(in, in->at), low;
    if (c < 0)
        return json_fail(in, begin, BP_ERROR_SYNTAX, "\\u takes four hexadecimal digits");
    in->at += 4;
    if (c == 0)
        return json_fail(in, begin, BP_ERROR_SYNTAX, "\\u0000 cannot be part of a text here");
    if (c >= 0xDC00 && c <= 0xDFFF)
        return json_fail(in, begin, BP_ERROR_SYNTAX, "the second half of a surrogate pair stands alone");
    if (c >= 0xD800 && c <= 0xDBFF) {
        low = in->end - in->at >= 6 && in->at[0] == '\\' && in->at[1] == 'u' ? hex4(in, in->at + 2) : -1;
        if (low < 0xDC00 || low > 0xDFFF)
            return json_fail(in, begin, BP_ERROR_SYNTAX, "the first half of a surrogate pair stands alone");
        in->at += 6;
        c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
    }
    *out = write_utf8(*out, (uint32_t)c);
    return BP_OK;
}

static bp_result_t read_escape(json_cursor_t *in, char **out)
{
    static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char c = in->end - in->at > 1 ? in->at[1] : '\0';
    const char *found = c == '\0' ? NULL : strchr(letters, c);
    if (c != 'u' && found == NULL)
        return json_fail(in, in->at, BP_ERROR_SYNTAX, "behind \\ stands one of \" \\ / b f n r t u");
    in->at += 2;
    if (c == 'u')
        return read_unicode(in, out);
    *(*out)++ = meant[found - letters];
    return BP_OK;
}

/* Bytes of the UTF-8 sequence at `at`, 0 where it is none: neither overlong nor half a surrogate nor beyond U+10FFFF. */
static int sequence(const json_cursor_t *in, const char *at)
{
    const unsigned char *c = (const unsigned char *)at;
    int length = c[0] >= 0xC2 && c[0] < 0xE0 ? 2 : c[0] >= 0xE0 && c[0] < 0xF0 ? 3 : c[0] >= 0xF0 && c[0] < 0xF5 ? 4 : 0;
    if (length == 0 || in->end - at < length)
        return 0;
    for (int i = 1; i < length; i++) {
        if ((c[i] & 0xC0) != 0x80)
            return 0;
    }
    bool overlong = (c[0] == 0xE0 && c[1] < 0xA0) || (c[0] == 0xF0 && c[1] < 0x90);
    bool none = (c[0] == 0xED && c[1] >= 0xA0) || (c[0] == 0xF4 && c[1] >= 0x90);
    return overlong || none ? 0 : length;
}

/* What ends a run of plain characters: anything but the quote. */
static bp_result_t read_special(json_cursor_t *in, char **out)
{
    unsigned char c = (unsigned char)*in->at;
    if (c == '\\')
        return read_escape(in, out);
    if (c < 0x20) {
        in->fault->offset = (size_t)(in->at - in->start);
        return error_set(in->fault->error, BP_ERROR_SYNTAX, "the control character 0x%02x in a string; write it as \\u%04x", c, c);
    }
    int length = sequence(in, in->at);
    if (length == 0) {
        in->fault->offset = (size_t)(in->at - in->start);
        return error_set(in->fault->error, BP_ERROR_SYNTAX, "the byte 0x%02x is not UTF-8 here", c);
    }
    memcpy(*out, in->at, (size_t)length);
    *out += length;
    in->at += length;
    return BP_OK;
}

bp_result_t json_read_string(json_cursor_t *in, char **decoded)
{
    const char *begin = in->at++;
    char *out = *decoded;
    while (in->at < in->end && *in->at != '"') {
        unsigned char c = (unsigned char)*in->at;
        bp_result_t result;
        if (c >= 0x20 && c < 0x80 && c != '\\') {
            *out++ = (char)c;
            in->at++;
        } else if ((result = read_special(in, &out)) != BP_OK) {
            return result;
        }
    }
    if (in->at == in->end)
        return json_fail(in, begin, BP_ERROR_SYNTAX, "a string begins here and does not end");
    in->at++;
    *decoded = out;
    return BP_OK;
}

/* --- numbers ------------------------------------------------------------------------------------------------------------ */

typedef struct digits_t {
    const char *begin, *end;
    uint64_t mantissa; /* its first 19 digits */
    int32_t digits;    /* from the first that is not 0 */
    int32_t exponent;  /* of ten */
    bool negative, whole;
} digits_t;

/* The digits at in->at; false where there is none. */
static bool read_digits(json_cursor_t *in, digits_t *n, bool fraction)
{
    const char *begin = in->at;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++) {
        if (n->digits > 0 || *in->at != '0')
            n->digits++;
        if (n->digits <= 19)
            n->mantissa = n->mantissa * 10 + (uint64_t)(*in->at - '0');
        n->exponent -= fraction && n->digits <= 19;
    }
    return in->at > begin;
}

static bool read_exponent(json_cursor_t *in, digits_t *n)
{
    int32_t exponent = 0;
    bool negative = false;
    in->at++;
    if (in->at < in->end && (*in->at == '+' || *in->at == '-'))
        negative = *in->at++ == '-';
    const char *begin = in->at;
    for (; in->at < in->end && *in->at >= '0' && *in->at <= '9'; in->at++)
        exponent = exponent < 100000 ? exponent * 10 + (*in->at - '0') : exponent;
    n->exponent += negative ? -exponent : exponent;
    return in->at > begin;
}

static bp_result_t slow_real(json_cursor_t *in, const digits_t *n, double *real)
{
    char text[JSON_MAX_NUMBER + 1];
    size_t length = (size_t)(n->end - n->begin);
    if (length > JSON_MAX_NUMBER)
        return json_fail(in, n->begin, BP_ERROR_LIMIT, "a number has at most 400 characters");
    memcpy(text, n->begin, length);
    text[length] = '\0';
    char *point = strchr(text, '.');
    if (point != NULL)
        *point = localeconv()->decimal_point[0]; /* strtod's idea of it */
    *real = strtod(text, NULL);
    if (*real - *real == 0.0)
        return BP_OK;
    return json_fail(in, n->begin, BP_ERROR_SYNTAX, "the number is larger than any: the largest is 1.8e308");
}

static bp_result_t make_real(json_cursor_t *in, const digits_t *n, double *real)
{
    static const double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (n->digits > 19 || n->mantissa > (UINT64_C(1) << 53) || n->exponent < -22 || n->exponent > 22)
        return slow_real(in, n, real);
    double mantissa = (double)n->mantissa;
    *real = n->exponent < 0 ? mantissa / powers[-n->exponent] : mantissa * powers[n->exponent];
    *real = n->negative ? -*real : *real;
    return BP_OK;
}

static bp_result_t make_whole(json_cursor_t *in, const digits_t *n, int64_t *whole)
{
    uint64_t most = (uint64_t)INT64_MAX + n->negative;
    if (n->digits > 19 || n->mantissa > most)
        return json_fail(in, n->begin, BP_ERROR_SYNTAX,
                    "the whole number is too large: they go from -9223372036854775808 to 9223372036854775807; others have a dot or an e");
    *whole = n->negative ? (int64_t)(0 - n->mantissa) : (int64_t)n->mantissa;
    return BP_OK;
}

static bp_result_t scan_number(json_cursor_t *in, digits_t *n)
{
    n->negative = *in->at == '-';
    in->at += n->negative;
    const char *first = in->at;
    if (!read_digits(in, n, false))
        return json_unexpected(in, in->at, "a digit");
    if (*first == '0' && in->at - first > 1)
        return json_fail(in, first, BP_ERROR_SYNTAX, "a number does not begin with 0, unless a dot follows");
    if (in->at < in->end && *in->at == '.') {
        n->whole = false;
        in->at++;
        if (!read_digits(in, n, true))
            return json_unexpected(in, in->at, "a digit");
    }
    if (in->at < in->end && (*in->at == 'e' || *in->at == 'E')) {
        n->whole = false;
        if (!read_exponent(in, n))
            return json_unexpected(in, in->at, "a digit");
    }
    n->end = in->at;
    return BP_OK;
}

bp_result_t json_read_number(json_cursor_t *in, json_number_t *number)
{
    digits_t n = {.begin = in->at, .whole = true};
    bp_result_t result = scan_number(in, &n);
    if (result != BP_OK)
        return result;
    number->is_whole = n.whole && !(n.negative && n.mantissa == 0 && n.digits == 0); /* as a whole number -0 would lose its sign */
    return number->is_whole ? make_whole(in, &n, &number->whole) : make_real(in, &n, &number->real);
}
