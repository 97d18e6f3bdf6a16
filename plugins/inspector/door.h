/* door.h - which requests are let in: by the Host, the Origin and the token, and how many a second.
 *
 * A page of any site can make the user's browser send requests to 127.0.0.1. Three checks keep such a page out:
 *   Host     must name this server. A site that has rebound its name to 127.0.0.1 sends that name.
 *   Origin   where the browser sends one, must be this server's own, or an origin that an option lists.
 *   token    where one is set, must come along as "Authorization: Bearer TOKEN". Without a token the server listens
 *            on the loopback only.
 * A client that is no browser sends no Origin and is let in by Host and token alone.
 *
 * Not here: sockets and answers (http.c).
 */
#ifndef INSPECTOR_DOOR_H
#define INSPECTOR_DOOR_H

#include <stdbool.h>
#include <stdint.h>

typedef struct door_t {
    const char *address; /* that the server listens on, as text */
    const char *hosts;   /* further names that the Host may bear, separated by spaces */
    const char *origins; /* origins other than its own that may call, separated by spaces */
    const char *token;   /* "": none */
    uint16_t port;
} door_t;

/* Is this address, as text, one of the loopback? */
bool door_is_loopback(const char *address);

/* May a request bear this Host? NULL: the request bears none, which is refused. On the loopback: localhost, 127.0.0.1,
 * [::1] and the server's own address. Elsewhere: any address as digits, since only a name can be rebound. Everywhere:
 * the names in `hosts`. A port, where the Host has one, must be the server's. */
bool door_host(const door_t *door, const char *host);

/* The kinds of Origin. OWN: none, or "http://" and the Host. LISTED: one of `origins`; the answer says so to the
 * browser. */
enum { DOOR_REFUSED = 0, DOOR_OWN = 1, DOOR_LISTED = 2 };
int door_origin(const door_t *door, const char *origin, const char *host);

/* Is this value of the header Authorization the token? True where there is no token. The check takes the same time
 * wherever the two differ. */
bool door_token(const door_t *door, const char *authorization);

/* A bucket that fills at `rate` a second, holds at most `rate`, and from which each request takes one. */
typedef struct door_bucket_t {
    double rate, content;
    uint64_t filled_ns; /* when the bucket was last filled */
} door_bucket_t;

/* Take `count` out of the bucket at time `now_ns`; false, with nothing taken, where the bucket holds less. */
bool door_take(door_bucket_t *bucket, uint64_t now_ns, uint32_t count);

#endif
