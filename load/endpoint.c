/* The endpoint's threads. The first one accepts and deals the connections out in turn, so that every thread
 * has its share whatever the kernel would prefer. */
#include "load/endpoint.h"

#include "load/serve.h"
#include "load/wait.h"
#include "net/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define MAX_EVENTS      32
#define FOREVER_NS      (UINT64_C(3600) * 1000000000)
#define ACCEPT_PAUSE_NS UINT64_C(10000000) /* where no descriptor is free */

struct load_endpoint {
    struct serve_shared shared;
    struct serve_worker *workers;
    unsigned made, started; /* workers */
    /* The accepting thread's: */
    unsigned next;
    uint64_t connections;
    uint64_t accept_again; /* 0: the listener is polled */
};

struct thread_argument {
    struct load_endpoint *endpoint;
    struct serve_worker *worker;
};

/* Writes the heads; the last written is the one that the body follows. */
static bool make_answers(struct serve_shared *s)
{
    static const char hello[] = "Hello World!";
    static const char *const fields[SERVE_KINDS] = {[SERVE_KEEP] = "",
                                                    [SERVE_KEEP_10] = "Connection: keep-alive\r\n",
                                                    [SERVE_CLOSE] = "Connection: close\r\n"};
    static const enum serve_kind order[SERVE_KINDS] = {SERVE_CLOSE, SERVE_KEEP_10, SERVE_KEEP};
    const size_t bytes = s->options.sized ? (size_t)s->options.bytes : sizeof hello - 1, room = 160;
    size_t at = 0;
    if (!(s->text = malloc(SERVE_KINDS * room + bytes + 1))) {
        return false;
    }
    for (unsigned i = 0; i < SERVE_KINDS; i++) {
        enum serve_kind kind = order[i];
        int n = snprintf(s->text + at, room,
                         "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\nContent-Type: text/plain\r\n%s\r\n",
                         bytes, fields[kind]);
        s->head[kind] = (struct iovec){s->text + at, (size_t)n};
        at += (size_t)n;
    }
    s->body = (struct iovec){s->text + at, bytes};
    for (size_t i = 0; i < bytes; i++) {
        s->text[at + i] = hello[i % (sizeof hello - 1)];
    }
    return true;
}

static bool poll_add(int epoll, int op, int fd, uint32_t events, void *ptr)
{
    struct epoll_event ev = {.events = events, .data.ptr = ptr};
    return epoll_ctl(epoll, op, fd, &ev) == 0;
}

static int worker_init(struct serve_worker *w, struct serve_shared *s)
{
    memset(w, 0, sizeof *w);
    w->shared = s;
    w->inbox[0] = w->inbox[1] = -1;
    TAILQ_INIT(&w->delayed);
    TAILQ_INIT(&w->all);
    w->buf = malloc(SERVE_BUFFER);
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (!w->buf) {
        return -ENOMEM;
    }
    if (w->epoll < 0 || pipe2(w->inbox, O_CLOEXEC) || fcntl(w->inbox[0], F_SETFL, O_NONBLOCK) ||
        !poll_add(w->epoll, EPOLL_CTL_ADD, w->inbox[0], EPOLLIN, &w->inbox)) {
        return -errno;
    }
    return 0;
}

static void close_fd(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

static void worker_free(struct serve_worker *w)
{
    struct serve_conn *c;
    int fd;
    while ((c = TAILQ_FIRST(&w->all))) {
        serve_close(w, c);
    }
    while (w->inbox[0] >= 0 && read(w->inbox[0], &fd, sizeof fd) == (ssize_t)sizeof fd) {
        close_fd(fd);
    }
    close_fd(w->inbox[0]);
    close_fd(w->inbox[1]);
    close_fd(w->epoll);
    free(w->buf);
}

/* Takes what other threads put into the inbox; false when told to end. */
static bool read_inbox(struct serve_worker *w)
{
    int fd;
    while (read(w->inbox[0], &fd, sizeof fd) == (ssize_t)sizeof fd) {
        if (fd < 0) {
            return false;
        }
        serve_open(w, fd);
    }
    return true;
}

static void put_into_inbox(const struct serve_worker *w, int fd)
{
    while (write(w->inbox[1], &fd, sizeof fd) < 0) {
        if (errno != EINTR) {
            close_fd(fd);
            return;
        }
    }
}

/* Where no descriptor is free, the listener would be ready again and again: it is left alone for a while. */
static void pause_accepting(struct load_endpoint *e, struct serve_worker *w, bool pause)
{
    e->accept_again = pause ? load_now() + ACCEPT_PAUSE_NS : 0;
    poll_add(w->epoll, EPOLL_CTL_MOD, e->shared.options.listener, pause ? 0 : EPOLLIN, e);
}

static void accept_all(struct load_endpoint *e, struct serve_worker *self)
{
    int fd;
    while ((fd = net_accept(e->shared.options.listener, NULL)) >= 0) {
        struct serve_worker *w = &e->workers[e->next];
        e->next = (e->next + 1) % e->shared.options.threads;
        e->connections++;
        if (w == self) {
            serve_open(w, fd);
        } else {
            put_into_inbox(w, fd);
        }
    }
    if (fd != -EAGAIN) {
        pause_accepting(e, self, true);
    }
}

/* How long to wait for events: until the first held answer is due. */
static uint64_t wait_time(const struct load_endpoint *e, const struct serve_worker *w, bool accepts)
{
    uint64_t until = TAILQ_EMPTY(&w->delayed) ? UINT64_MAX : TAILQ_FIRST(&w->delayed)->due;
    if (accepts && e->accept_again && e->accept_again < until) {
        until = e->accept_again;
    }
    if (until == UINT64_MAX) {
        return FOREVER_NS;
    }
    uint64_t now = load_now();
    return until > now ? until - now : 0;
}

static void serve_loop(struct load_endpoint *e, struct serve_worker *w)
{
    struct epoll_event events[MAX_EVENTS];
    bool accepts = w == e->workers;
    for (;;) {
        int n = load_wait(w->epoll, events, MAX_EVENTS, wait_time(e, w, accepts));
        for (int i = 0; i < n; i++) {
            void *what = events[i].data.ptr;
            if (what == e) {
                accept_all(e, w);
            } else if (what != &w->inbox) {
                serve_event(w, what, events[i].events);
            } else if (!read_inbox(w)) {
                return;
            }
        }
        if (!TAILQ_EMPTY(&w->delayed)) {
            serve_due(w, load_now());
        }
        if (accepts && e->accept_again && load_now() >= e->accept_again) {
            pause_accepting(e, w, false);
        }
    }
}

static void *thread_main(void *arg)
{
    struct thread_argument a = *(struct thread_argument *)arg;
    free(arg);
    load_wait_precisely();
    serve_loop(a.endpoint, a.worker);
    return NULL;
}

static int start_thread(struct load_endpoint *e, struct serve_worker *w)
{
    struct thread_argument *a = malloc(sizeof *a);
    sigset_t all, old;
    if (!a) {
        return ENOMEM;
    }
    *a = (struct thread_argument){e, w};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int rc = pthread_create(&w->thread, NULL, thread_main, a);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (rc) {
        free(a);
    }
    return rc;
}

static bool options_valid(const struct load_endpoint_options *o, char *err, size_t err_size)
{
    int listening = 0;
    socklen_t len = sizeof listening;
    if (o->threads < 1 || o->threads > LOAD_ENDPOINT_MAX_THREADS) {
        snprintf(err, err_size, "%u threads: expected 1 to %d", o->threads, LOAD_ENDPOINT_MAX_THREADS);
    } else if (o->sized && o->bytes > LOAD_ENDPOINT_MAX_BYTES) {
        snprintf(err, err_size, "%llu bytes: expected at most 1 GiB", (unsigned long long)o->bytes);
    } else if (getsockopt(o->listener, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len)) {
        snprintf(err, err_size, "descriptor %d: expected a listening socket: %s", o->listener,
                 strerror(errno));
    } else if (!listening) {
        snprintf(err, err_size, "descriptor %d: expected a listening socket, this one does not listen",
                 o->listener);
    } else {
        return true;
    }
    return false;
}

/* Fills e; what was made is freed by load_endpoint_stop(). */
static bool start_all(struct load_endpoint *e, char *err, size_t err_size)
{
    const struct load_endpoint_options *o = &e->shared.options;
    int flags = fcntl(o->listener, F_GETFL), rc;
    if (flags < 0 || fcntl(o->listener, F_SETFL, flags | O_NONBLOCK)) {
        snprintf(err, err_size, "descriptor %d: %s", o->listener, strerror(errno));
        return false;
    }
    e->workers = calloc(o->threads, sizeof *e->workers);
    if (!e->workers || !make_answers(&e->shared)) {
        snprintf(err, err_size, "out of memory");
        return false;
    }
    for (; e->made < o->threads; e->made++) {
        if ((rc = worker_init(&e->workers[e->made], &e->shared))) {
            snprintf(err, err_size, "preparing thread %u: %s", e->made + 1, strerror(-rc));
            worker_free(&e->workers[e->made]);
            return false;
        }
    }
    if (!poll_add(e->workers->epoll, EPOLL_CTL_ADD, o->listener, EPOLLIN, e)) {
        snprintf(err, err_size, "polling descriptor %d: %s", o->listener, strerror(errno));
        return false;
    }
    for (; e->started < o->threads; e->started++) {
        if ((rc = start_thread(e, &e->workers[e->started]))) {
            snprintf(err, err_size, "starting thread %u: %s", e->started + 1, strerror(rc));
            return false;
        }
    }
    return true;
}

struct load_endpoint *load_endpoint_start(const struct load_endpoint_options *o, char *err, size_t err_size)
{
    if (!options_valid(o, err, err_size)) {
        return NULL;
    }
    struct load_endpoint *e = calloc(1, sizeof *e);
    if (!e) {
        snprintf(err, err_size, "out of memory");
        return NULL;
    }
    e->shared.options = *o;
    if (!start_all(e, err, err_size)) {
        load_endpoint_stop(e, NULL);
        return NULL;
    }
    return e;
}

void load_endpoint_stop(struct load_endpoint *e, struct load_endpoint_stats *stats)
{
    uint64_t requests = 0;
    for (unsigned i = 0; i < e->started; i++) { /* in this order: the first one fills the others' inboxes */
        put_into_inbox(&e->workers[i], -1);
        pthread_join(e->workers[i].thread, NULL);
    }
    for (unsigned i = 0; i < e->made; i++) {
        requests += e->workers[i].requests;
        worker_free(&e->workers[i]);
    }
    if (stats) {
        *stats = (struct load_endpoint_stats){.requests = requests,
                                              .connections = e->connections,
                                              .max_connections = atomic_load(&e->shared.max_open),
                                              .max_concurrent = atomic_load(&e->shared.max_in_flight)};
    }
    free(e->workers);
    free(e->shared.text);
    free(e);
}
