/* loop_win32.c - the serving thread on Windows: select over the sockets that libmicrohttpd waits for, those of
 * loop_watch_end, and one of the loop's own, to which a byte is sent for waking (loop.h).
 *
 * On Windows only reading from a socket shows that its other side has gone away. So a socket that can be read is peeked
 * at; where bytes wait in it, which are not to be read yet, it is left out of the set for a while.
 */
#define _WIN32_WINNT 0x0600 /* inet_pton */
#define FD_SETSIZE 1024     /* sockets in a set */

#include <winsock2.h>
#include <ws2tcpip.h>

#include "loop.h"

#include <microhttpd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { QUIET_MS = 200, ENDS = FD_SETSIZE / 2 };

/* A connection that is watched for its end. */
typedef struct end_t {
    SOCKET socket;
    uint64_t quiet_until_ns;
} end_t;

struct loop_t {
    const allocator_t *allocator;
    SOCKET wake; /* bound to a port of its own, and connected to that */
    struct MHD_Daemon *daemon;
    atomic_bool stop;
    HANDLE thread; /* NULL: not started */
    void (*turn)(void *context);
    void *context;
    end_t ends[ENDS];
    uint32_t end_count;
};

uint64_t loop_now_ns(void)
{
    LARGE_INTEGER rate, now;
    QueryPerformanceFrequency(&rate);
    QueryPerformanceCounter(&now);
    uint64_t ticks = (uint64_t)now.QuadPart, second = (uint64_t)rate.QuadPart;
    return ticks / second * 1000000000u + ticks % second * 1000000000u / second;
}

/* --- the socket ----------------------------------------------------------------------------------------------- */

/* Room for an address of either family. */
typedef union place_t {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} place_t;

static int place_of(const char *address, uint16_t port, place_t *place)
{
    memset(place, 0, sizeof *place);
    if (inet_pton(AF_INET, strcmp(address, "localhost") == 0 ? "127.0.0.1" : address, &place->four.sin_addr) == 1) {
        place->four.sin_family = AF_INET;
        place->four.sin_port = htons(port);
        return (int)sizeof place->four;
    }
    if (inet_pton(AF_INET6, address, &place->six.sin6_addr) == 1) {
        place->six.sin6_family = AF_INET6;
        place->six.sin6_port = htons(port);
        return (int)sizeof place->six;
    }
    return 0;
}

/* The library for sockets stays begun until the process ends: libmicrohttpd's own sockets may outlive a loop. */
static bool begin_sockets(void)
{
    WSADATA data;
    return WSAStartup(MAKEWORD(2, 2), &data) == 0;
}

static loop_socket_t refuse_listening(SOCKET socket, const char *address, uint16_t port,
                                      char sentence[LOOP_SENTENCE_MAX])
{
    int code = WSAGetLastError();
    if (socket != INVALID_SOCKET)
        closesocket(socket);
    if (code == WSAEADDRINUSE || code == WSAEACCES)
        snprintf(sentence, LOOP_SENTENCE_MAX,
                 "port %u of %.64s is taken; set `port` to another one, or to 0 for any that is free", (unsigned)port,
                 address);
    else
        snprintf(sentence, LOOP_SENTENCE_MAX, "cannot listen on %.64s, port %u: error %d of Windows", address,
                 (unsigned)port, code);
    return LOOP_NONE;
}

static bool is_left_alone(SOCKET socket)
{
    u_long yes = 1;
    return ioctlsocket(socket, (long)FIONBIO, &yes) == 0;
}

loop_socket_t loop_listen(const char *address, uint16_t port, uint16_t *bound, char sentence[LOOP_SENTENCE_MAX])
{
    place_t place;
    BOOL yes = TRUE;
    if (!begin_sockets())
        return refuse_listening(INVALID_SOCKET, address, port, sentence);
    int size = place_of(address, port, &place);
    if (size == 0) {
        snprintf(sentence, LOOP_SENTENCE_MAX, "'%.64s' is no address; write digits, like 127.0.0.1 or ::1", address);
        return LOOP_NONE;
    }
    SOCKET own = socket(place.any.sa_family, SOCK_STREAM, IPPROTO_TCP);
    if (own == INVALID_SOCKET || !is_left_alone(own) ||
        setsockopt(own, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, (const char *)&yes, (int)sizeof yes) != 0 ||
        bind(own, &place.any, size) != 0 || listen(own, 128) != 0 || getsockname(own, &place.any, &size) != 0)
        return refuse_listening(own, address, port, sentence);
    *bound = ntohs(place.any.sa_family == AF_INET6 ? place.six.sin6_port : place.four.sin_port);
    return (loop_socket_t)own;
}

void loop_close(loop_socket_t descriptor)
{
    closesocket((SOCKET)descriptor);
}

void loop_cut(loop_socket_t descriptor)
{
    shutdown((SOCKET)descriptor, SD_BOTH);
}

/* --- the loop ------------------------------------------------------------------------------------------------- */

/* A socket that gets what it sends. */
static SOCKET make_wake(void)
{
    struct sockaddr_in here = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int size = (int)sizeof here;
    SOCKET own = socket(AF_INET, SOCK_DGRAM, IPPROTO_UDP);
    if (own == INVALID_SOCKET)
        return own;
    if (bind(own, (struct sockaddr *)&here, size) == 0 && getsockname(own, (struct sockaddr *)&here, &size) == 0 &&
        connect(own, (struct sockaddr *)&here, size) == 0 && is_left_alone(own))
        return own;
    closesocket(own);
    return INVALID_SOCKET;
}

loop_t *loop_make(const allocator_t *allocator)
{
    loop_t *loop = allocator_make(allocator, sizeof *loop);
    if (loop == NULL)
        return NULL;
    loop->allocator = allocator;
    loop->wake = begin_sockets() ? make_wake() : INVALID_SOCKET;
    if (loop->wake != INVALID_SOCKET)
        return loop;
    allocator_free(allocator, loop, sizeof *loop);
    return NULL;
}

unsigned loop_daemon_flags(void)
{
    return 0; /* select */
}

bool loop_watch_daemon(loop_t *loop, struct MHD_Daemon *daemon)
{
    loop->daemon = daemon;
    return true;
}

void loop_watch_end(loop_t *loop, loop_socket_t descriptor)
{
    uint32_t at = 0;
    while (at < loop->end_count && loop->ends[at].socket != (SOCKET)descriptor)
        at++;
    if (at == ENDS)
        return; /* the time limits of http.c end it */
    loop->ends[at] = (end_t){.socket = (SOCKET)descriptor};
    loop->end_count += at == loop->end_count;
}

static DWORD WINAPI serve(void *context)
{
    loop_t *loop = context;
    while (!atomic_load(&loop->stop))
        loop->turn(loop->context);
    return 0;
}

void loop_turns(loop_t *loop, void (*turn)(void *context), void *context)
{
    loop->turn = turn;
    loop->context = context;
}

bool loop_start(loop_t *loop)
{
    if (loop->thread != NULL)
        return true;
    atomic_store(&loop->stop, false);
    loop->thread = CreateThread(NULL, 0, serve, loop, 0, NULL);
    return loop->thread != NULL;
}

static void forget(loop_t *loop, uint32_t at)
{
    loop->ends[at] = loop->ends[--loop->end_count];
}

/* Peek at a socket: > 0 bytes can be read, 0 its other side has gone away, < 0 nothing yet. */
static int look(SOCKET socket)
{
    char byte;
    int got = recv(socket, &byte, 1, MSG_PEEK);
    if (got >= 0)
        return got;
    return WSAGetLastError() == WSAEWOULDBLOCK ? -1 : 0;
}

/* Call `gone` for those of the readable sockets that have lost their other side. */
static void tell_gone(loop_t *loop, const fd_set *readable, void (*gone)(void *context, loop_socket_t descriptor),
                      void *context)
{
    for (uint32_t i = loop->end_count; i > 0; i--) {
        end_t *end = &loop->ends[i - 1];
        SOCKET socket = end->socket;
        if (!FD_ISSET(socket, readable))
            continue;
        int found = look(socket);
        if (found > 0) {
            end->quiet_until_ns = loop_now_ns() + (uint64_t)QUIET_MS * 1000000u;
        } else if (found == 0) {
            forget(loop, i - 1);
            gone(context, (loop_socket_t)socket);
        }
    }
}

/* A socket of the sets has been closed: forget those that are no sockets any more. */
static void forget_closed(loop_t *loop)
{
    for (uint32_t i = loop->end_count; i > 0; i--) {
        int kind, size = (int)sizeof kind;
        if (getsockopt(loop->ends[i - 1].socket, SOL_SOCKET, SO_TYPE, (char *)&kind, &size) != 0)
            forget(loop, i - 1);
    }
}

void loop_wait(loop_t *loop, int milliseconds, void (*gone)(void *context, loop_socket_t descriptor), void *context)
{
    fd_set readable, writable, failed;
    MHD_socket highest = 0;
    uint64_t now = loop_now_ns();
    char bytes[64];
    FD_ZERO(&readable);
    FD_ZERO(&writable);
    FD_ZERO(&failed);
    FD_SET(loop->wake, &readable);
    MHD_get_fdset2(loop->daemon, &readable, &writable, &failed, &highest, FD_SETSIZE);
    for (uint32_t i = 0; i < loop->end_count; i++) {
        if (loop->ends[i].quiet_until_ns <= now && !FD_ISSET(loop->ends[i].socket, &readable))
            FD_SET(loop->ends[i].socket, &readable);
        else if (loop->ends[i].quiet_until_ns > now && (milliseconds < 0 || milliseconds > QUIET_MS))
            milliseconds = QUIET_MS;
    }
    if (atomic_load(&loop->stop))
        milliseconds = 0;
    struct timeval most = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000};
    int ready = select(0, &readable, &writable, &failed, milliseconds < 0 ? NULL : &most);
    if (ready == SOCKET_ERROR)
        forget_closed(loop);
    else if (ready > 0)
        tell_gone(loop, &readable, gone, context);
    while (recv(loop->wake, bytes, (int)sizeof bytes, 0) > 0)
        ;
}

void loop_wake(loop_t *loop)
{
    send(loop->wake, "", 1, 0); /* fails where many wait to be read: the loop is woken then */
}

void loop_stop(loop_t *loop)
{
    if (loop->thread == NULL)
        return;
    atomic_store(&loop->stop, true);
    loop_wake(loop);
    WaitForSingleObject(loop->thread, INFINITE);
    CloseHandle(loop->thread);
    loop->thread = NULL;
}

/* Windows has no copies of a process. */
bool loop_is_copy(const loop_t *loop)
{
    (void)loop;
    return false;
}

void loop_end(loop_t *loop)
{
    if (loop == NULL)
        return;
    loop_stop(loop);
    closesocket(loop->wake);
    allocator_free(loop->allocator, loop, sizeof *loop);
}
