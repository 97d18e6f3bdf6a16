/* loop.h - the thread that serves: its waiting, waking, end and new beginning; the socket that it listens on; the
 * clock.
 *
 * Not here: HTTP. Of libmicrohttpd the loop knows only which sockets its daemon waits for.
 */
#ifndef INSPECTOR_LOOP_H
#define INSPECTOR_LOOP_H

#include "allocator.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct loop_t loop_t;

/* A socket, as wide as the systems have them; LOOP_NONE: none. */
typedef intptr_t loop_socket_t;
#define LOOP_NONE ((loop_socket_t)-1)

struct MHD_Daemon;

enum { LOOP_SENTENCE_MAX = 256 };

/* Nanoseconds of a clock that only goes forward. [any] */
uint64_t loop_now_ns(void);

/* A socket that listens on `address` (digits, or localhost) and `port`; 0: any free port, told in `*bound`. LOOP_NONE
 * with a sentence where such a socket cannot be had. */
loop_socket_t loop_listen(const char *address, uint16_t port, uint16_t *bound, char sentence[LOOP_SENTENCE_MAX]);
void loop_close(loop_socket_t descriptor);

/* End both directions of a connection that has exceeded a time limit; the connection's owner finds it closed. */
void loop_cut(loop_socket_t descriptor);

/* A loop that is not running yet; NULL where the system has not enough memory, descriptors or the like. */
loop_t *loop_make(const allocator_t *allocator);

/* The flags for MHD_start_daemon with which the loop can wait for the daemon; and wake the loop also when that daemon
 * has something to do. */
unsigned loop_daemon_flags(void);
bool loop_watch_daemon(loop_t *loop, struct MHD_Daemon *daemon);

/* Wake the loop once when the other side of the connection `descriptor` goes away. A descriptor that is closed is
 * forgotten. */
void loop_watch_end(loop_t *loop, loop_socket_t descriptor);

/* Set the function that the thread calls over and over; `turn` waits by loop_wait and returns. */
void loop_turns(loop_t *loop, void (*turn)(void *context), void *context);

/* Start the thread, for the first time or after loop_stop. False where the system has no thread left. [main] */
bool loop_start(loop_t *loop);

/* End the thread after its present turn, and wait for its end; all else stays as it is. [main] */
void loop_stop(loop_t *loop);

/* Is this a copy of the process that made the loop? Then the loop's descriptors, and the sockets behind them, belong to
 * the original. */
bool loop_is_copy(const loop_t *loop);

/* [loop] Wait until something can be read, the loop is woken, or `milliseconds` have passed; negative: for any time.
 * `gone` is called for each connection after its other side has gone away. */
void loop_wait(loop_t *loop, int milliseconds, void (*gone)(void *context, loop_socket_t descriptor),
               void *context);

/* End the wait that is under way, or the next one. [any] */
void loop_wake(loop_t *loop);

/* loop_stop, and free the loop. NULL is allowed. [main] */
void loop_end(loop_t *loop);

#endif
