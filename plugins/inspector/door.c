/* door.c - the checks of door.h: pure functions of texts, so that tests and the fuzzer reach all of them. */
#include "door.h"

#include <stddef.h>
#include <string.h>

static char lower(char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
}

static bool same_word(const char *a, size_t length, const char *b)
{
    for (size_t i = 0; i < length; i++)
        if (b[i] == '\0' || lower(a[i]) != lower(b[i]))
            return false;
    return b[length] == '\0';
}

/* Is one of the words of `list` these `length` bytes, upper or lower case? */
static bool listed(const char *list, const char *word, size_t length)
{
    while (list != NULL && *list != '\0') {
        size_t begin = strspn(list, " \t\r\n,"), size = strcspn(list + begin, " \t\r\n,");
        bool same = size == length && size > 0;
        for (size_t i = 0; same && i < size; i++)
            same = lower(list[begin + i]) == lower(word[i]);
        if (same)
            return true;
        list += begin + size;
    }
    return false;
}

/* "1.2.3.4" or "[...]": digits instead of a name. */
static bool is_address(const char *host, size_t length)
{
    if (length > 2 && host[0] == '[' && host[length - 1] == ']')
        return strspn(host + 1, "0123456789abcdefABCDEF:.") == length - 2;
    size_t digits = 0, dots = 0;
    for (size_t i = 0; i < length; i++) {
        digits += host[i] >= '0' && host[i] <= '9';
        dots += host[i] == '.';
    }
    return length > 0 && digits + dots == length && dots == 3;
}

bool door_is_loopback(const char *address)
{
    return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 || strcmp(address, "localhost") == 0;
}

/* Where the port of a Host begins, at its colon; the Host's length where it has no port. */
static size_t name_length(const char *host)
{
    const char *bracket = host[0] == '[' ? strchr(host, ']') : NULL;
    const char *colon = strchr(bracket != NULL ? bracket : host, ':');
    return colon != NULL ? (size_t)(colon - host) : strlen(host);
}

static bool is_port(const char *text, uint16_t port)
{
    uint32_t number = 0;
    size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > 5 || text[digits] != '\0')
        return false;
    for (size_t i = 0; i < digits; i++)
        number = number * 10 + (uint32_t)(text[i] - '0');
    return number == port;
}

bool door_host(const door_t *door, const char *host)
{
    if (host == NULL)
        return false;
    size_t length = name_length(host);
    if (host[length] == ':' && !is_port(host + length + 1, door->port))
        return false;
    if (listed(door->hosts, host, length))
        return true;
    if (door_is_loopback(door->address))
        return same_word(host, length, "localhost") || same_word(host, length, "127.0.0.1") ||
               same_word(host, length, "[::1]") || same_word(host, length, door->address);
    return is_address(host, length);
}

int door_origin(const door_t *door, const char *origin, const char *host)
{
    if (origin == NULL)
        return DOOR_OWN;
    if (strncmp(origin, "http://", 7) == 0 && host != NULL && same_word(origin + 7, strlen(origin + 7), host))
        return DOOR_OWN;
    return listed(door->origins, origin, strlen(origin)) ? DOOR_LISTED : DOOR_REFUSED;
}

bool door_token(const door_t *door, const char *authorization)
{
    size_t length = strlen(door->token), given;
    unsigned different = 0;
    if (length == 0)
        return true;
    if (authorization == NULL ||
        !same_word(authorization, strlen(authorization) < 7 ? strlen(authorization) : 7, "Bearer "))
        return false;
    authorization += 7;
    given = strlen(authorization);
    for (size_t i = 0; i < given; i++)
        different |= (unsigned)(unsigned char)authorization[i] ^ (unsigned)(unsigned char)door->token[i % length];
    return (different | (unsigned)(given != length)) == 0;
}

bool door_take(door_bucket_t *bucket, uint64_t now_ns, uint32_t count)
{
    if (now_ns > bucket->filled_ns) {
        bucket->content += bucket->rate * (double)(now_ns - bucket->filled_ns) / 1e9;
        if (bucket->content > bucket->rate)
            bucket->content = bucket->rate;
        bucket->filled_ns = now_ns;
    }
    if (bucket->content < (double)count)
        return false;
    bucket->content -= (double)count;
    return true;
}
