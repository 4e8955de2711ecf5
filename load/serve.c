/* The endpoint's connections. The common request (a head seen before, no body, no delay) costs one receive,
 * one comparison and one send. */
#include "load/serve.h"

#include "load/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define GONE     (EPOLLHUP | EPOLLERR)
#define MAX_IOV  64
#define MAX_OWED 32 /* answers gathered into one send */

enum outcome { MORE, HOLD, CLOSE }; /* read on; wait for time, room or the peer; close */

void serve_raise(atomic_uint_least64_t *max, uint64_t now)
{
    uint64_t seen = atomic_load_explicit(max, memory_order_relaxed);
    while (now > seen && !atomic_compare_exchange_weak_explicit(max, &seen, now, memory_order_relaxed,
                                                                memory_order_relaxed)) {
    }
}

static void enter_flight(struct serve_worker *w, struct serve_conn *c)
{
    c->counted = true;
    serve_raise(&w->shared->max_in_flight,
                atomic_fetch_add_explicit(&w->shared->in_flight, 1, memory_order_relaxed) + 1);
}

/* Before the answer is sent: after it, the asker may send its next request before we get to run again. */
static void leave_flight(struct serve_worker *w, struct serve_conn *c)
{
    if (c->counted) {
        c->counted = false;
        atomic_fetch_sub_explicit(&w->shared->in_flight, 1, memory_order_relaxed);
    }
}

int serve_open(struct serve_worker *w, int fd)
{
    struct serve_conn *c = calloc(1, sizeof *c);
    if (!c) {
        close(fd);
        return -ENOMEM;
    }
    c->fd = fd;
    TAILQ_INSERT_TAIL(&w->all, c, in_all);
    serve_raise(&w->shared->max_open,
                atomic_fetch_add_explicit(&w->shared->open, 1, memory_order_relaxed) + 1);
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, fd, &ev)) {
        int error = errno;
        serve_close(w, c);
        return -error;
    }
    return 0;
}

void serve_close(struct serve_worker *w, struct serve_conn *c)
{
    leave_flight(w, c);
    if (c->state == SERVE_HELD) {
        TAILQ_REMOVE(&w->delayed, c, in_delayed);
    }
    TAILQ_REMOVE(&w->all, c, in_all);
    atomic_fetch_sub_explicit(&w->shared->open, 1, memory_order_relaxed);
    close(c->fd);
    free(c->part);
    free(c);
}

/* The pieces of the answers owed, from where sending stopped. */
static int gather(const struct serve_worker *w, const struct serve_conn *c, struct iovec iov[MAX_IOV])
{
    const struct serve_shared *s = w->shared;
    size_t skip = c->offset;
    int n = 0;
    for (unsigned i = 0; i < c->owed && n + 2 <= MAX_IOV; i++) {
        const struct iovec pieces[2] = {s->head[c->request.kind], s->body};
        for (int k = 0; k < (c->request.head_only ? 1 : 2); k++) {
            size_t len = pieces[k].iov_len;
            if (skip >= len) {
                skip -= len;
                continue;
            }
            iov[n++] = (struct iovec){(char *)pieces[k].iov_base + skip, len - skip};
            skip = 0;
        }
    }
    return n;
}

static ssize_t send_some(const struct serve_worker *w, const struct serve_conn *c, size_t unit)
{
    if (c->owed == 1 && c->request.kind == SERVE_KEEP) { /* head and body lie behind each other */
        const char *p = w->shared->head[SERVE_KEEP].iov_base;
        return send(c->fd, p + c->offset, unit - c->offset, MSG_NOSIGNAL);
    }
    struct iovec iov[MAX_IOV];
    struct msghdr m = {.msg_iov = iov, .msg_iovlen = (size_t)gather(w, c, iov)};
    return sendmsg(c->fd, &m, MSG_NOSIGNAL);
}

/* Sends what is owed. HOLD: the rest when there is room. */
static enum outcome send_owed(struct serve_worker *w, struct serve_conn *c)
{
    const struct serve_shared *s = w->shared;
    if (c->owed == 0) {
        return MORE;
    }
    size_t unit = s->head[c->request.kind].iov_len + (c->request.head_only ? 0 : s->body.iov_len);
    while (c->owed) {
        ssize_t n = send_some(w, c, unit);
        if (n < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN ? HOLD : CLOSE;
        }
        c->offset += (size_t)n;
        while (c->owed && c->offset >= unit) {
            c->offset -= unit;
            c->owed--;
        }
    }
    return c->request.kind == SERVE_CLOSE ? CLOSE : MORE;
}

/* The error answer is small and the first thing in the socket buffer's way: one attempt to send it is all. */
static enum outcome refuse(struct serve_worker *w, struct serve_conn *c, unsigned status)
{
    struct http_str answer = http_error_answer(status, false);
    leave_flight(w, c);
    if (send_owed(w, c) != MORE || send(c->fd, answer.p, answer.n, MSG_NOSIGNAL) < 0 ||
        shutdown(c->fd, SHUT_WR)) {
        return CLOSE;
    }
    c->state = SERVE_DRAIN;
    return MORE;
}

/* As http_parse_request(), with the last head remembered. */
static long parse_head(struct serve_worker *w, struct serve_conn *c, const char *buf, size_t n, bool full)
{
    if (w->memo_len && n >= w->memo_len && !memcmp(buf, w->memo_text, w->memo_len)) {
        c->request = w->memo;
        return (long)w->memo_len;
    }
    struct http_request r;
    long len = http_parse_request(&r, buf, n, &c->scan, full);
    if (len <= 0) {
        return len;
    }
    c->request = (struct serve_request){
        .body = r.body,
        .content_length = r.content_length,
        .kind = !r.keep_alive ? SERVE_CLOSE
                : r.minor     ? SERVE_KEEP
                              : SERVE_KEEP_10,
        .head_only = r.method == HTTP_HEAD,
        .expect_continue = r.expect_continue,
        .tunnel = r.method == HTTP_CONNECT,
    };
    if ((size_t)len <= sizeof w->memo_text) {
        w->memo = c->request;
        w->memo_len = (size_t)len;
        memcpy(w->memo_text, buf, (size_t)len);
    }
    return len;
}

/* A whole request: answer it now, with the others read at the same time, or hold it. */
static enum outcome request_complete(struct serve_worker *w, struct serve_conn *c)
{
    w->requests++;
    c->state = SERVE_HEAD;
    if (w->shared->options.delay_ns) {
        c->state = SERVE_HELD;
        c->due = load_now() + w->shared->options.delay_ns;
        TAILQ_INSERT_TAIL(&w->delayed, c, in_delayed);
        if (c->ended) { /* as in serve_event() */
            leave_flight(w, c);
        }
        return HOLD;
    }
    leave_flight(w, c);
    c->owed++;
    return MORE;
}

static enum outcome begin_body(struct serve_worker *w, struct serve_conn *c, bool all_read)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";
    enter_flight(w, c);
    if (c->request.tunnel) {
        return refuse(w, c, 501);
    }
    if (c->request.body == HTTP_BODY_NONE ||
        (c->request.body == HTTP_BODY_LENGTH && c->request.content_length == 0)) {
        return request_complete(w, c);
    }
    c->state = SERVE_BODY;
    c->left = c->request.content_length;
    memset(&c->chunked, 0, sizeof c->chunked);
    if (!c->request.expect_continue || !all_read) {
        return MORE;
    }
    enum outcome o = send_owed(w, c);
    if (o == MORE && send(c->fd, go_on, sizeof go_on - 1, MSG_NOSIGNAL) < 0) {
        return CLOSE;
    }
    return o;
}

/* Answers are sent together only as long as they are alike and the connection goes on. */
static bool may_gather(const struct serve_conn *c, const struct serve_request *before)
{
    return c->owed < MAX_OWED && before->kind != SERVE_CLOSE && c->request.kind == before->kind &&
           c->request.head_only == before->head_only;
}

static enum outcome treat_head(struct serve_worker *w, struct serve_conn *c, const char *buf, size_t n,
                               size_t *used)
{
    struct serve_request before = c->request;
    long len = parse_head(w, c, buf, n, n == SERVE_BUFFER);
    if (len <= 0 || (c->owed && !may_gather(c, &before))) { /* first what is owed, then this head (again) */
        if (c->owed) {
            struct serve_request now = c->request;
            c->request = before;
            enum outcome o = send_owed(w, c);
            if (o != MORE) {
                c->scan = 0;
                return o;
            }
            c->request = now;
        }
        if (len <= 0) {
            return len ? refuse(w, c, (unsigned)-len) : MORE;
        }
    }
    c->scan = 0;
    *used = (size_t)len;
    return begin_body(w, c, (size_t)len == n);
}

static enum outcome treat_body(struct serve_worker *w, struct serve_conn *c, char *buf, size_t n,
                               size_t *used)
{
    if (c->request.body == HTTP_BODY_LENGTH) {
        *used = n < c->left ? n : (size_t)c->left;
        c->left -= *used;
        return c->left ? MORE : request_complete(w, c);
    }
    size_t payload;
    switch (http_chunked_decode(&c->chunked, buf, n, used, &payload)) {
    case HTTP_CHUNK_DONE:
        return request_complete(w, c);
    case HTTP_CHUNK_BAD:
        return refuse(w, c, 400);
    case HTTP_CHUNK_MORE:
    default:
        *used = n;
        return MORE;
    }
}

/* Treats buf[0..n) as far as it goes; what is left over (an incomplete head, or what must wait) starts at
 * *used. */
static enum outcome treat(struct serve_worker *w, struct serve_conn *c, char *buf, size_t n, size_t *used)
{
    enum outcome o = MORE;
    *used = 0;
    while (*used < n && o == MORE) {
        size_t took = 0;
        if (c->state == SERVE_DRAIN) {
            took = n - *used;
        } else if (c->state == SERVE_BODY) {
            o = treat_body(w, c, buf + *used, n - *used, &took);
        } else {
            o = treat_head(w, c, buf + *used, n - *used, &took);
        }
        *used += took;
        if (took == 0 && c->state != SERVE_DRAIN) {
            break;
        }
    }
    return o == MORE ? send_owed(w, c) : o;
}

/* Keeps buf[0..n), which may lie in c->part already, for later. */
static bool keep(struct serve_conn *c, const char *buf, size_t n)
{
    if (n && !c->part && !(c->part = malloc(SERVE_BUFFER))) {
        return false;
    }
    if (n) {
        memmove(c->part, buf, n);
    }
    c->part_len = n;
    return true;
}

/* Treats what is there, from n new bytes at buf or, with n 0, what was kept. */
static enum outcome treat_kept(struct serve_worker *w, struct serve_conn *c, char *buf, size_t n)
{
    size_t used;
    enum outcome o = treat(w, c, buf, n, &used);
    if (o != CLOSE && !keep(c, buf + used, n - used)) {
        return CLOSE;
    }
    return o;
}

/* Reads and treats until the socket is empty or something must be waited for. */
static enum outcome read_on(struct serve_worker *w, struct serve_conn *c)
{
    enum outcome o = MORE;
    while (o == MORE && c->readable) {
        char *buf = c->part_len ? c->part : w->buf;
        size_t room = SERVE_BUFFER - c->part_len;
        ssize_t n = recv(c->fd, buf + c->part_len, room, 0);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0 && errno == EAGAIN) {
            c->readable = false;
            break;
        }
        if (n <= 0) {
            return CLOSE;
        }
        o = treat_kept(w, c, buf, c->part_len + (size_t)n);
        if ((size_t)n < room && !c->ended) {
            c->readable = false; /* empty; more, or the end, will be a new edge */
        }
    }
    return o;
}

/* Goes on after a wait: first what is owed, then what was kept, then what comes. */
static enum outcome resume(struct serve_worker *w, struct serve_conn *c)
{
    enum outcome o = send_owed(w, c);
    if (o == MORE && c->part_len) {
        o = treat_kept(w, c, c->part, c->part_len);
    }
    return o == MORE ? read_on(w, c) : o;
}

void serve_event(struct serve_worker *w, struct serve_conn *c, uint32_t events)
{
    if (events & GONE) {
        serve_close(w, c);
        return;
    }
    if (events & (EPOLLIN | EPOLLRDHUP)) {
        c->readable = true;
    }
    c->ended |= (events & EPOLLRDHUP) != 0;
    if (c->state == SERVE_HELD) {
        if (c->ended) { /* the asker may have given up; if it only ended its side, it is answered */
            leave_flight(w, c);
        }
        return;
    }
    enum outcome o = c->owed ? resume(w, c) : read_on(w, c);
    if (o == CLOSE) {
        serve_close(w, c);
    }
}

void serve_due(struct serve_worker *w, uint64_t now)
{
    struct serve_conn *next;
    for (struct serve_conn *c = TAILQ_FIRST(&w->delayed); c && c->due <= now; c = next) {
        next = TAILQ_NEXT(c, in_delayed); /* c may be freed, or enter again at the end */
        TAILQ_REMOVE(&w->delayed, c, in_delayed);
        c->state = SERVE_HEAD;
        c->owed = 1;
        leave_flight(w, c);
        if (resume(w, c) == CLOSE) {
            serve_close(w, c);
        }
    }
}
