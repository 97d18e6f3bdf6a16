/* loop_posix.c - the serving thread on Linux: epoll, and an eventfd for waking (loop.h).
 *
 * All signals are blocked in the thread: Ctrl-C and the timers of the crash guard belong to the thread that steps.
 * The thread is ended before the process is copied for a trial, so that the copy finds no lock held, and begun again
 * afterwards; the sockets stay open meanwhile.
 */
#define _GNU_SOURCE /* accept4 and EPOLLRDHUP */

#include "loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

struct loop_t {
    const allocator_t *allocator;
    int epoll, wake;
    atomic_bool stop;
    bool started;
    pid_t process; /* the process that made the loop */
    pthread_t thread;
    void (*turn)(void *context);
    void *context;
};

uint64_t loop_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* --- the socket ----------------------------------------------------------------------------------------------- */

/* Room for an address of either family. */
typedef union place_t {
    struct sockaddr any;
    struct sockaddr_in four;
    struct sockaddr_in6 six;
} place_t;

static socklen_t place_of(const char *address, uint16_t port, place_t *place)
{
    *place = (place_t){0};
    if (inet_pton(AF_INET, strcmp(address, "localhost") == 0 ? "127.0.0.1" : address, &place->four.sin_addr) == 1) {
        place->four.sin_family = AF_INET;
        place->four.sin_port = htons(port);
        return sizeof place->four;
    }
    if (inet_pton(AF_INET6, address, &place->six.sin6_addr) == 1) {
        place->six.sin6_family = AF_INET6;
        place->six.sin6_port = htons(port);
        return sizeof place->six;
    }
    return 0;
}

static loop_socket_t refuse_listening(int descriptor, const char *address, uint16_t port,
                                      char sentence[LOOP_SENTENCE_MAX])
{
    int code = errno;
    if (descriptor >= 0)
        close(descriptor);
    if (code == EADDRINUSE)
        snprintf(sentence, LOOP_SENTENCE_MAX,
                 "port %u of %.64s is taken; set `port` to another one, or to 0 for any that is free", (unsigned)port,
                 address);
    else
        snprintf(sentence, LOOP_SENTENCE_MAX, "cannot listen on %.64s, port %u: %.100s", address, (unsigned)port,
                 strerror(code));
    return LOOP_NONE;
}

loop_socket_t loop_listen(const char *address, uint16_t port, uint16_t *bound, char sentence[LOOP_SENTENCE_MAX])
{
    place_t place;
    int yes = 1;
    socklen_t size = place_of(address, port, &place);
    if (size == 0) {
        snprintf(sentence, LOOP_SENTENCE_MAX, "'%.64s' is no address; write digits, like 127.0.0.1 or ::1", address);
        return LOOP_NONE;
    }
    int descriptor = socket(place.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (descriptor < 0 || setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(descriptor, &place.any, size) != 0 || listen(descriptor, 128) != 0 ||
        getsockname(descriptor, &place.any, &size) != 0)
        return refuse_listening(descriptor, address, port, sentence);
    *bound = ntohs(place.any.sa_family == AF_INET6 ? place.six.sin6_port : place.four.sin_port);
    return descriptor;
}

void loop_close(loop_socket_t descriptor)
{
    close((int)descriptor);
}

void loop_cut(loop_socket_t descriptor)
{
    shutdown((int)descriptor, SHUT_RDWR);
}

/* --- the loop ------------------------------------------------------------------------------------------------- */

static void free_loop(loop_t *loop)
{
    const int descriptors[] = {loop->epoll, loop->wake};
    for (size_t i = 0; i < sizeof descriptors / sizeof *descriptors; i++)
        if (descriptors[i] >= 0)
            close(descriptors[i]);
    allocator_free(loop->allocator, loop, sizeof *loop);
}

static bool watch(loop_t *loop, int descriptor)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = -1};
    return epoll_ctl(loop->epoll, EPOLL_CTL_ADD, descriptor, &event) == 0;
}

unsigned loop_daemon_flags(void)
{
    return MHD_USE_EPOLL;
}

bool loop_watch_daemon(loop_t *loop, struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info != NULL && watch(loop, info->epoll_fd);
}

void loop_watch_end(loop_t *loop, loop_socket_t descriptor)
{
    int own = (int)descriptor;
    struct epoll_event event = {.events = EPOLLRDHUP | EPOLLONESHOT, .data.fd = own};
    if (epoll_ctl(loop->epoll, EPOLL_CTL_ADD, own, &event) != 0)
        epoll_ctl(loop->epoll, EPOLL_CTL_MOD, own, &event);
}

loop_t *loop_make(const allocator_t *allocator)
{
    loop_t *loop = allocator_make(allocator, sizeof *loop);
    if (loop == NULL)
        return NULL;
    loop->allocator = allocator;
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    loop->process = getpid();
    if (loop->epoll >= 0 && loop->wake >= 0 && watch(loop, loop->wake))
        return loop;
    free_loop(loop);
    return NULL;
}

static void signal_to(int descriptor)
{
    uint64_t one = 1;
    ssize_t written = write(descriptor, &one,
                            sizeof one); /* fails where the count is at its largest: the loop is signalled then */
    (void)written;
}

static void *serve(void *context)
{
    loop_t *loop = context;
    while (!atomic_load(&loop->stop))
        loop->turn(loop->context);
    return NULL;
}

void loop_turns(loop_t *loop, void (*turn)(void *context), void *context)
{
    loop->turn = turn;
    loop->context = context;
}

bool loop_start(loop_t *loop)
{
    sigset_t all, before;
    if (loop->started)
        return true;
    atomic_store(&loop->stop, false);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    loop->started = pthread_create(&loop->thread, NULL, serve, loop) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return loop->started;
}

void loop_wait(loop_t *loop, int milliseconds, void (*gone)(void *context, loop_socket_t descriptor), void *context)
{
    struct epoll_event events[32];
    uint64_t count;
    if (atomic_load(&loop->stop))
        milliseconds = 0;
    int ready = epoll_wait(loop->epoll, events, 32, milliseconds);
    for (int i = 0; i < ready; i++)
        if (events[i].data.fd >= 0)
            gone(context, events[i].data.fd);
    ssize_t drained = read(loop->wake, &count, sizeof count);
    (void)drained;
}

void loop_wake(loop_t *loop)
{
    signal_to(loop->wake);
}

void loop_stop(loop_t *loop)
{
    if (!loop->started || loop_is_copy(loop))
        return;
    atomic_store(&loop->stop, true);
    loop_wake(loop);
    pthread_join(loop->thread, NULL);
    loop->started = false;
}

bool loop_is_copy(const loop_t *loop)
{
    return loop->process != getpid();
}

void loop_end(loop_t *loop)
{
    if (loop == NULL)
        return;
    loop_stop(loop);
    free_loop(loop);
}
