/* See endpoint.h. One lock per endpoint guards all of its state; a connection's thread holds it only to
 * count. */
#include "endpoint.h"

#include <errno.h>
#include <linux/tcp.h> /* the C library's tcp_info ends before tcpi_bytes_received */
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define STATE_ESTABLISHED 1 /* the kernel's TCP_ESTABLISHED */

#define STALL_MS          60000 /* nothing a hook sends or reads takes longer */

struct ep_conn {
    struct endpoint *e;
    struct ep_conn *next, **link;
    struct wire w;
    unsigned number;
    bool in_flight;
};

struct endpoint {
    struct ep_script script;
    int listener;
    unsigned port;
    pthread_t acceptor;

    pthread_mutex_t lock;
    pthread_cond_t changed; /* any of what follows */
    struct ep_conn *conns;
    struct ep_stats stats;
    unsigned threads;
    struct wire_msg **requests;
    size_t requests_cap;
    bool gate_open, stopping;
    unsigned gate_tickets;
};

static void die(const char *what)
{
    perror(what);
    abort();
}

void ep_pattern(char *out, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++)
        out[i] = (char)('!' + (i * 7 + i / 91 + i / 8191 + seed) % 91);
}

/* A deadline for pthread_cond_timedwait() on the monotonic clock. */
static struct timespec deadline_in(int64_t ms)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000;
    if (t.tv_nsec >= 1000000000) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000;
    }
    return t;
}

static bool peer_open(const struct ep_conn *c)
{
    struct tcp_info info;
    socklen_t n = sizeof info;

    return getsockopt(c->w.fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0 && info.tcpi_state == STATE_ESTABLISHED;
}

/* Counts anew what is open and in flight: a thread may not have seen its peer's close yet. */
static void recount(struct endpoint *e)
{
    e->stats.open = e->stats.in_flight = 0;
    for (const struct ep_conn *c = e->conns; c; c = c->next) {
        if (!peer_open(c))
            continue;
        e->stats.open++;
        e->stats.in_flight += c->in_flight;
    }
    if (e->stats.open > e->stats.max_open)
        e->stats.max_open = e->stats.open;
    if (e->stats.in_flight > e->stats.max_flight)
        e->stats.max_flight = e->stats.in_flight;
}

static void begin_request(struct ep_conn *c)
{
    pthread_mutex_lock(&c->e->lock);
    c->in_flight = true;
    c->e->stats.heads++;
    recount(c->e);
    pthread_cond_broadcast(&c->e->changed);
    pthread_mutex_unlock(&c->e->lock);
}

void ep_answered(struct ep_conn *c)
{
    pthread_mutex_lock(&c->e->lock);
    c->in_flight = false;
    pthread_cond_broadcast(&c->e->changed);
    pthread_mutex_unlock(&c->e->lock);
}

bool ep_gate_wait(struct ep_conn *c)
{
    struct endpoint *e = c->e;
    bool ok;

    pthread_mutex_lock(&e->lock);
    while (!e->gate_open && !e->gate_tickets && !e->stopping)
        pthread_cond_wait(&e->changed, &e->lock);
    if (!e->gate_open && e->gate_tickets)
        e->gate_tickets--;
    ok = !e->stopping;
    pthread_mutex_unlock(&e->lock);
    return ok;
}

bool ep_pause(struct ep_conn *c, unsigned ms)
{
    struct timespec until = deadline_in(ms);
    bool ok;

    pthread_mutex_lock(&c->e->lock);
    while (!c->e->stopping && pthread_cond_timedwait(&c->e->changed, &c->e->lock, &until) != ETIMEDOUT)
        ;
    ok = !c->e->stopping;
    pthread_mutex_unlock(&c->e->lock);
    return ok;
}

bool ep_send(struct ep_conn *c, const void *data, size_t n)
{
    return wire_send(c->w.fd, data, n, wire_now_ms() + STALL_MS);
}

bool ep_send_text(struct ep_conn *c, const char *text)
{
    return ep_send(c, text, strlen(text));
}

bool ep_respond(struct ep_conn *c, unsigned status, const void *body, size_t n)
{
    char head[128];
    int h = snprintf(head, sizeof head, "HTTP/1.1 %u Whatever\r\nContent-Length: %zu\r\n\r\n", status, n);
    char *all;
    bool ok;

    if (n > 1u << 16) { /* the body's last byte ends the request */
        ok = ep_send(c, head, (size_t)h) && ep_send(c, body, n - 1);
        ep_answered(c);
        return ok && ep_send(c, (const char *)body + n - 1, 1);
    }
    all = malloc((size_t)h + n);
    if (!all)
        die("malloc");
    memcpy(all, head, (size_t)h);
    if (n)
        memcpy(all + h, body, n);
    ep_answered(c);
    ok = ep_send(c, all, (size_t)h + n);
    free(all);
    return ok;
}

unsigned ep_conn_number(const struct ep_conn *c)
{
    return c->number;
}

struct wire *ep_wire(struct ep_conn *c)
{
    return &c->w;
}

static enum ep_next built_in_answer(struct ep_conn *c)
{
    const struct ep_script *s = &c->e->script;
    bool ok;

    if ((s->gated && !ep_gate_wait(c)) || (s->delay_ms && !ep_pause(c, s->delay_ms)))
        return EP_CLOSE;
    if (s->answer) {
        ep_answered(c);
        ok = ep_send_text(c, s->answer);
    } else if (s->body_len) {
        char *body = malloc(s->body_len);

        if (!body)
            die("malloc");
        ep_pattern(body, s->body_len, 0);
        ok = ep_respond(c, 200, body, s->body_len);
        free(body);
    } else {
        ok = ep_respond(c, 200, "Hello World!", 12);
    }
    return ok && !s->close ? EP_DONE : EP_CLOSE;
}

static void keep_request(struct ep_conn *c, struct wire_msg *m)
{
    struct endpoint *e = c->e;

    pthread_mutex_lock(&e->lock);
    if (e->stats.requests == e->requests_cap) {
        e->requests_cap = e->requests_cap ? e->requests_cap * 2 : 64;
        e->requests = realloc(e->requests, e->requests_cap * sizeof(*e->requests));
        if (!e->requests)
            die("realloc");
    }
    e->requests[e->stats.requests++] = m;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

/* Serves one request; what to do with the connection then. */
static enum ep_next serve_one(struct ep_conn *c, unsigned nth)
{
    const struct ep_script *s = &c->e->script;
    int64_t deadline = wire_now_ms() + STALL_MS * 10;
    enum ep_next next = EP_GO_ON;
    struct wire_msg *m = NULL;
    enum wire_result r;

    if (wire_wait(&c->w, deadline) != WIRE_OK)
        return EP_CLOSE;
    if (s->on_bytes && s->on_bytes(c, nth, s->arg) == EP_CLOSE)
        return EP_CLOSE;
    m = calloc(1, sizeof *m);
    if (!m)
        die("calloc");
    m->connection = c->number;
    r = wire_read_request_head(&c->w, m, deadline);
    if (r == WIRE_OK) {
        begin_request(c);
        if (s->on_head)
            next = s->on_head(c, m, s->arg);
        if (next == EP_GO_ON)
            r = wire_read_body(&c->w, m, deadline);
    }
    if (r != WIRE_OK || next != EP_GO_ON) {
        pthread_mutex_lock(&c->e->lock);
        c->e->stats.bad += r == WIRE_BAD || r == WIRE_TRUNCATED || r == WIRE_TIMEOUT;
        pthread_mutex_unlock(&c->e->lock);
        wire_msg_free(m);
        free(m);
        return next == EP_DONE ? EP_DONE : EP_CLOSE;
    }
    keep_request(c, m);
    if (s->on_request)
        next = s->on_request(c, m, s->arg);
    return next == EP_GO_ON ? built_in_answer(c) : next;
}

static void *serve_connection(void *arg)
{
    struct ep_conn *c = arg;
    struct endpoint *e = c->e;
    unsigned nth = 0;

    while (serve_one(c, nth++) != EP_CLOSE)
        ep_answered(c);
    pthread_mutex_lock(&e->lock);
    *c->link = c->next;
    if (c->next)
        c->next->link = c->link;
    e->stats.bytes += c->w.received;
    close(c->w.fd);
    wire_free(&c->w);
    recount(e);
    e->threads--;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    free(c);
    return NULL;
}

static void start_connection(struct endpoint *e, int fd)
{
    struct ep_conn *c = calloc(1, sizeof *c);
    int one = 1;
    pthread_attr_t attr;
    pthread_t t;

    if (!c)
        die("calloc");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c->e = e;
    wire_init(&c->w, fd);
    pthread_mutex_lock(&e->lock);
    c->number = e->stats.connections++;
    c->next = e->conns;
    c->link = &e->conns;
    if (c->next)
        c->next->link = &c->next;
    e->conns = c;
    e->threads++;
    recount(e);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 256 << 10);
    errno = pthread_create(&t, &attr, serve_connection, c);
    if (errno)
        die("pthread_create");
    pthread_attr_destroy(&attr);
}

static void *accept_all(void *arg)
{
    struct endpoint *e = arg;

    for (;;) {
        int fd = accept4(e->listener, NULL, NULL, SOCK_CLOEXEC);

        if (fd >= 0)
            start_connection(e, fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            return NULL; /* ep_stop() has shut the listener down */
    }
}

struct endpoint *ep_start(const struct ep_script *script)
{
    struct endpoint *e = calloc(1, sizeof *e);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    pthread_condattr_t attr;

    if (!e)
        die("calloc");
    if (script)
        e->script = *script;
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&e->changed, &attr);
    pthread_condattr_destroy(&attr);
    e->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (e->listener < 0 || bind(e->listener, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(e->listener, 4096) != 0 || getsockname(e->listener, (struct sockaddr *)&a, &n) != 0)
        die("an endpoint's listening socket");
    e->port = ntohs(a.sin_port);
    errno = pthread_create(&e->acceptor, NULL, accept_all, e);
    if (errno)
        die("pthread_create");
    return e;
}

void ep_stop(struct endpoint *e)
{
    pthread_mutex_lock(&e->lock);
    e->stopping = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    shutdown(e->listener, SHUT_RDWR);
    pthread_join(e->acceptor, NULL);
    pthread_mutex_lock(&e->lock);
    for (const struct ep_conn *c = e->conns; c; c = c->next)
        shutdown(c->w.fd, SHUT_RDWR);
    while (e->threads)
        pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
    close(e->listener);
    for (unsigned i = 0; i < e->stats.requests; i++) {
        wire_msg_free(e->requests[i]);
        free(e->requests[i]);
    }
    free(e->requests);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    free(e);
}

unsigned ep_port(const struct endpoint *e)
{
    return e->port;
}

struct ep_stats ep_stats(struct endpoint *e)
{
    struct ep_stats s;

    pthread_mutex_lock(&e->lock);
    recount(e);
    s = e->stats;
    for (const struct ep_conn *c = e->conns; c; c = c->next) {
        struct tcp_info info;
        socklen_t n = sizeof info;

        if (getsockopt(c->w.fd, IPPROTO_TCP, TCP_INFO, &info, &n) == 0)
            s.bytes += info.tcpi_bytes_received; /* read or not */
    }
    pthread_mutex_unlock(&e->lock);
    return s;
}

const struct wire_msg *ep_request(struct endpoint *e, unsigned i)
{
    const struct wire_msg *m;

    pthread_mutex_lock(&e->lock);
    m = i < e->stats.requests ? e->requests[i] : NULL;
    pthread_mutex_unlock(&e->lock);
    return m;
}

typedef bool reached_fn(struct endpoint *e, unsigned n);

static bool reached_requests(struct endpoint *e, unsigned n)
{
    return e->stats.requests >= n;
}

static bool reached_in_flight(struct endpoint *e, unsigned n)
{
    recount(e);
    return e->stats.in_flight >= n;
}

static bool reached_free(struct endpoint *e, unsigned n)
{
    recount(e);
    return e->stats.in_flight == n;
}

static bool reached_idle(struct endpoint *e, unsigned n)
{
    recount(e);
    return e->stats.open == n;
}

/* Polls besides waiting: that a peer has closed is told by no signal. */
static bool wait_until(struct endpoint *e, reached_fn *reached, unsigned n, int timeout_ms)
{
    int64_t end = wire_now_ms() + timeout_ms;
    bool ok;

    pthread_mutex_lock(&e->lock);
    while (!(ok = reached(e, n)) && wire_now_ms() < end) {
        struct timespec until = deadline_in(5);

        pthread_cond_timedwait(&e->changed, &e->lock, &until);
    }
    pthread_mutex_unlock(&e->lock);
    return ok;
}

bool ep_wait_requests(struct endpoint *e, unsigned n, int timeout_ms)
{
    return wait_until(e, reached_requests, n, timeout_ms);
}

bool ep_wait_in_flight(struct endpoint *e, unsigned n, int timeout_ms)
{
    return wait_until(e, reached_in_flight, n, timeout_ms);
}

bool ep_wait_free(struct endpoint *e, int timeout_ms)
{
    return wait_until(e, reached_free, 0, timeout_ms);
}

bool ep_wait_idle(struct endpoint *e, int timeout_ms)
{
    return wait_until(e, reached_idle, 0, timeout_ms);
}

static void gate(struct endpoint *e, bool open, unsigned tickets)
{
    pthread_mutex_lock(&e->lock);
    e->gate_open = open;
    e->gate_tickets = tickets ? e->gate_tickets + tickets : 0;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

void ep_gate_open(struct endpoint *e)
{
    gate(e, true, 0);
}

void ep_gate_shut(struct endpoint *e)
{
    gate(e, false, 0);
}

void ep_gate_let(struct endpoint *e, unsigned n)
{
    gate(e, false, n);
}

void ep_close_idle(struct endpoint *e)
{
    pthread_mutex_lock(&e->lock);
    for (const struct ep_conn *c = e->conns; c; c = c->next)
        if (!c->in_flight)
            shutdown(c->w.fd, SHUT_RDWR);
    pthread_mutex_unlock(&e->lock);
}
