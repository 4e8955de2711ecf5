/* The harness's clients (see harness.h): raw bytes to the balancer, strict reading of what comes back, and
 * load. */
#include "harness.h"
#include "harness_private.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The clients not closed yet, so that a failed test leaves none. */
static struct {
    pthread_mutex_t lock;
    struct client **list;
    size_t n, cap;
} open_clients = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void remember(struct client *c)
{
    pthread_mutex_lock(&open_clients.lock);
    if (open_clients.n == open_clients.cap) {
        open_clients.cap = open_clients.cap ? open_clients.cap * 2 : 64;
        open_clients.list = realloc(open_clients.list, open_clients.cap * sizeof(*open_clients.list));
        if (!open_clients.list)
            abort();
    }
    open_clients.list[open_clients.n++] = c;
    pthread_mutex_unlock(&open_clients.lock);
}

static void forget(const struct client *c)
{
    pthread_mutex_lock(&open_clients.lock);
    for (size_t i = 0; i < open_clients.n; i++) {
        if (open_clients.list[i] != c)
            continue;
        open_clients.list[i] = open_clients.list[--open_clients.n];
        break;
    }
    pthread_mutex_unlock(&open_clients.lock);
}

static void release(struct client *c)
{
    close(c->w.fd);
    wire_free(&c->w);
    wire_msg_free(&c->last);
    free(c);
}

void client_close_all(void)
{
    while (open_clients.n)
        release(open_clients.list[--open_clients.n]);
    free(open_clients.list);
    open_clients.list = NULL;
    open_clients.cap = 0;
}

/* connect() with an end: a full queue of connections would keep it waiting for minutes. */
static bool connected(int fd, unsigned port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    socklen_t n = sizeof errno;
    int error;

    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0)
        return true;
    if (errno != EINPROGRESS)
        return false;
    if (poll(&p, 1, PATIENCE_MS) != 1) {
        errno = ETIMEDOUT;
        return false;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0 && error == 0)
        return true;
    errno = error;
    return false;
}

struct client *client_open(unsigned port)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), one = 1;
    struct client *c;

    if (fd < 0)
        return NULL;
    if (!connected(fd, port)) {
        int error = errno;

        close(fd);
        errno = error;
        return NULL;
    }
    fcntl(fd, F_SETFL, 0); /* a test may use the socket itself */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    c = calloc(1, sizeof *c);
    if (!c)
        abort();
    wire_init(&c->w, fd);
    remember(c);
    return c;
}

void client_close(struct client *c)
{
    forget(c);
    release(c);
}

void client_abort(struct client *c)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    setsockopt(c->w.fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    client_close(c);
}

bool client_send(struct client *c, const void *data, size_t n)
{
    return wire_send(c->w.fd, data, n, wire_now_ms() + PATIENCE_MS);
}

bool client_text(struct client *c, const char *text)
{
    return client_send(c, text, strlen(text));
}

void client_half_close(struct client *c)
{
    shutdown(c->w.fd, SHUT_WR);
}

/* The bytes that the other end of this connection has not read, from the kernel's table; -1: no such socket.
 */
static long unread_by_peer(const struct client *c)
{
    struct sockaddr_in me = {0}, peer = {0};
    socklen_t n = sizeof me;
    char want[64], line[512];
    long unread = -1;
    FILE *f;

    if (getsockname(c->w.fd, (struct sockaddr *)&me, &n) != 0 ||
        getpeername(c->w.fd, (struct sockaddr *)&peer, &n) != 0)
        return -1;
    snprintf(want, sizeof want, ": %08X:%04X %08X:%04X ", peer.sin_addr.s_addr, ntohs(peer.sin_port),
             me.sin_addr.s_addr, ntohs(me.sin_port));
    f = fopen("/proc/net/tcp", "re");
    if (!f)
        return -1;
    while (unread < 0 && fgets(line, sizeof line, f)) {
        const char *at = strstr(line, want);
        unsigned state, queued, rx;

        if (at && sscanf(at + strlen(want), "%x %x:%x", &state, &queued, &rx) == 3)
            unread = rx;
    }
    fclose(f);
    return unread;
}

bool client_taken(const struct client *c, int timeout_ms)
{
    int64_t end = wire_now_ms() + timeout_ms;

    while (unread_by_peer(c) > 0) {
        if (wire_now_ms() > end)
            return false;
        usleep(1000);
    }
    usleep(5000); /* what was read takes effect */
    return true;
}

bool client_send_cut(struct client *c, const char *data, size_t n, size_t cut)
{
    if (!client_send(c, data, cut))
        return false;
    if (cut)
        client_taken(c, 1000);
    return client_send(c, data + cut, n - cut);
}

enum wire_result client_read(struct client *c, bool head_only, int timeout_ms)
{
    int64_t deadline = wire_now_ms() + timeout_ms;
    enum wire_result r;

    wire_msg_free(&c->last);
    r = wire_read_response_head(&c->w, &c->last, head_only, deadline);
    return r == WIRE_OK ? wire_read_body(&c->w, &c->last, deadline) : r;
}

bool client_quiet(struct client *c, int ms)
{
    return wire_wait(&c->w, wire_now_ms() + ms) == WIRE_TIMEOUT;
}

enum wire_result client_end(struct client *c, int timeout_ms, uint64_t *bytes)
{
    uint64_t n;
    enum wire_result r = wire_drain(&c->w, wire_now_ms() + timeout_ms, NULL, 0, &n);

    if (bytes)
        *bytes = n;
    return r;
}

/* --- assertions --- */

void check_response(struct client *c, bool head_only, unsigned status, const char *body, size_t n,
                    const char *file, int line)
{
    enum wire_result r = client_read(c, head_only, PATIENCE_MS);
    bool built_in = !body && !head_only && (status == 408 || status >= 500);

    if (r != WIRE_OK)
        print_error("expected a whole %u, got: %s%s%s\n", status, wire_result_text(r),
                    c->last.error ? ": " : "", c->last.error ? c->last.error : "");
    else if (c->last.status != status)
        print_error("expected a %u, got:\n%s", status, c->last.head);
    else if (body && (c->last.body_len != n || memcmp(c->last.body, body, n) != 0))
        print_error("expected a body of %zu bytes, got another of %zu\n", n, c->last.body_len);
    else if (built_in && c->last.body_len == 0)
        print_error("the %u has no body\n", status);
    else
        return;
    _fail(file, line);
}

void check_closed(struct client *c, const char *file, int line)
{
    uint64_t n;
    enum wire_result r = client_end(c, PATIENCE_MS, &n);

    if (r == WIRE_OK && n == 0)
        return;
    print_error("expected the connection to be closed, got: %s, %lu bytes\n",
                r == WIRE_OK ? "closed" : wire_result_text(r), (unsigned long)n);
    _fail(file, line);
}

void check_request(unsigned port, const char *text, unsigned status, const char *file, int line)
{
    struct client *c = client_open(port);

    if (!c || !client_text(c, text)) {
        print_error("the request can't be sent\n");
        _fail(file, line);
        return;
    }
    check_response(c, false, status, NULL, 0, file, line);
    client_close(c);
}

/* --- load --- */

struct load_client {
    struct load_run *run;
    pthread_t thread;
    uint64_t seed;
    struct load_result result;
};

struct load_run {
    struct load load;
    struct load_run *next;
    pthread_mutex_t lock;
    bool stop;
    struct load_client clients[];
};

static struct load_run *load_runs; /* of the main thread */

static bool told_to_stop(struct load_run *r)
{
    pthread_mutex_lock(&r->lock);
    bool stop = r->stop;
    pthread_mutex_unlock(&r->lock);
    return stop;
}

static unsigned random_below(struct load_client *l, unsigned n)
{
    l->seed = l->seed * 6364136223846793005u + 1442695040888963407u;
    return n ? (unsigned)(l->seed >> 33) % n : 0;
}

static void count_end(struct load_result *r, enum wire_result end, bool fresh)
{
    fresh = fresh && (end == WIRE_CLOSED || end == WIRE_RESET);
    r->turned_away += fresh;
    r->closed += end == WIRE_CLOSED && !fresh;
    r->truncated += end == WIRE_TRUNCATED;
    r->reset += end == WIRE_RESET && !fresh;
    r->timeout += end == WIRE_TIMEOUT;
    r->bad += end == WIRE_BAD;
}

/* A kept connection that the balancer has closed meanwhile, with nothing sent on it: no request is lost. */
static bool gone(const struct client *c)
{
    char byte;

    return c->w.off == c->w.len && recv(c->w.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* One request; true if the connection may be used for another. */
static bool load_one(struct load_client *l, struct client *c)
{
    const struct load *o = &l->run->load;
    int64_t start = wire_now_ms();
    bool fresh = c->w.received == 0;
    enum wire_result end;

    if (!client_text(c, o->text ? o->text : GET)) {
        count_end(&l->result, WIRE_RESET, fresh);
        return false;
    }
    if (o->abort_percent && random_below(l, 100) < o->abort_percent) {
        usleep(random_below(l, o->abort_us));
        l->result.aborted++;
        return false;
    }
    end = client_read(c, false, PATIENCE_MS);
    if (end != WIRE_OK) {
        count_end(&l->result, end, fresh && c->w.received == 0);
        return false;
    }
    l->result.answered++;
    l->result.status[c->last.status / 100]++;
    if (wire_now_ms() - start > l->result.longest_ms)
        l->result.longest_ms = wire_now_ms() - start;
    const char *connection = wire_field(&c->last, "Connection");
    return !o->reconnect && !(connection && !strcmp(connection, "close")) &&
           c->last.framing != WIRE_UNTIL_CLOSE;
}

static void *load_thread(void *arg)
{
    struct load_client *l = arg;
    const struct load *o = &l->run->load;
    struct client *c = NULL;

    for (unsigned i = 0; i < o->requests && !told_to_stop(l->run); i++) {
        if (o->pause_us)
            usleep(random_below(l, o->pause_us));
        if (c && gone(c)) {
            client_close(c);
            c = NULL;
        }
        if (!c)
            c = client_open(o->port);
        if (!c) {
            l->result.refused++;
            if (o->requests == UINT_MAX)
                break; /* it is gone; to go on would only spin */
            continue;
        }
        if (!load_one(l, c)) {
            if (l->result.aborted && random_below(l, 2))
                client_abort(c);
            else
                client_close(c);
            c = NULL;
        }
    }
    if (c)
        client_close(c);
    return NULL;
}

struct load_run *load_start(const struct load *l)
{
    struct load_run *r = calloc(1, sizeof *r + l->clients * sizeof r->clients[0]);
    pthread_attr_t attr;

    assert_non_null(r);
    r->load = *l;
    pthread_mutex_init(&r->lock, NULL);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 256 << 10);
    for (unsigned i = 0; i < l->clients; i++) {
        r->clients[i].run = r;
        r->clients[i].seed = i * 7919 + 1;
        errno = pthread_create(&r->clients[i].thread, &attr, load_thread, &r->clients[i]);
        if (errno)
            abort();
    }
    pthread_attr_destroy(&attr);
    r->next = load_runs;
    load_runs = r;
    return r;
}

struct load_result load_wait(struct load_run *r)
{
    struct load_result sum = {0};
    struct load_run **link = &load_runs;

    for (unsigned i = 0; i < r->load.clients; i++) {
        const struct load_result *one = &r->clients[i].result;

        pthread_join(r->clients[i].thread, NULL);
        sum.answered += one->answered;
        for (unsigned k = 0; k < 6; k++)
            sum.status[k] += one->status[k];
        sum.aborted += one->aborted;
        sum.closed += one->closed;
        sum.turned_away += one->turned_away;
        sum.truncated += one->truncated;
        sum.reset += one->reset;
        sum.timeout += one->timeout;
        sum.bad += one->bad;
        sum.refused += one->refused;
        if (one->longest_ms > sum.longest_ms)
            sum.longest_ms = one->longest_ms;
    }
    while (*link != r)
        link = &(*link)->next;
    *link = r->next;
    pthread_mutex_destroy(&r->lock);
    free(r);
    return sum;
}

struct load_result load_stop(struct load_run *r)
{
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    pthread_mutex_unlock(&r->lock);
    return load_wait(r);
}

void load_end_all(void)
{
    while (load_runs)
        load_stop(load_runs);
}
