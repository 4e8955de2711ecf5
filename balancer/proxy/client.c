/* A client's connection: reading requests, answering errors, keep-alive, time-outs, closing.
 *
 *   state  | event                          | next
 *   HEAD   | a whole head                   | WAIT (queued) or XFER
 *   HEAD   | refused, or too late           | XFER (writes the error), then LINGER
 *   WAIT   | slot passed on                 | XFER
 *   WAIT   | client left, queue time-out    | XFER (503), then LINGER
 *   XFER   | server refused the connection  | PAUSE, then WAIT or XFER
 *   XFER   | answer written                 | HEAD (keep-alive), LINGER or CLOSED
 *   LINGER | the client's end, or a second  | CLOSED */
#include "balancer/proxy/internal.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define LINGER_MS    1000
#define LINGER_BYTES (1u << 20)

void client_timer(struct client *c, long ms)
{
    struct worker *w = c->worker;
    if (ms < 0) {
        net_timer_stop(&w->wheel, &c->timer);
    } else {
        net_timer_arm(&w->wheel, &c->timer, w->now + (uint64_t)ms);
    }
}

void client_free_buffers(struct client *c)
{
    buf_put(c->worker, &c->up.head);
    buf_put(c->worker, &c->up.src);
    buf_put(c->worker, &c->down.head);
    buf_put(c->worker, &c->down.src);
}

void client_close(struct client *c)
{
    struct worker *w = c->worker;
    c->state = CLIENT_CLOSED;
    if (c->srv) {
        sconn_close(w, c->srv);
        c->srv = NULL;
    }
    if (c->has_slot) {
        slot_release(c, NULL);
    }
    net_timer_stop(&w->wheel, &c->timer);
    close(c->fd);
    c->fd = -1;
    client_free_buffers(c);
    list_remove(&c->run);
    list_remove(&c->all);
    list_push(&w->dead, &c->run);
    w->nclients--;
    connection_closed(c);
}

/* Shuts the sending side and reads on for a while: closing with unread input would reset the connection and
 * might take the answer back from the client (RFC 9112, 9.6). */
static void linger(struct client *c)
{
    if (c->eof || c->reset) {
        client_close(c);
        return;
    }
    shutdown(c->fd, SHUT_WR);
    client_free_buffers(c);
    c->state = CLIENT_LINGER;
    c->lingered = 0;
    client_timer(c, LINGER_MS);
    if (c->read_ready) {
        worker_run_later(c);
    }
}

static void drain(struct client *c)
{
    for (;;) {
        long n = socket_read(c->worker, &c->up.src, c->fd, &c->read_ready, c->hup);
        if (n == 0) {
            buf_put(c->worker, &c->up.src);
            return;
        }
        if (n < 0 || (c->lingered += (uint32_t)n) > LINGER_BYTES) {
            client_close(c);
            return;
        }
        c->up.src->pos = c->up.src->len = 0;
    }
}

/* The time-out of a request that is still to come, or incomplete. */
static void head_timer(struct client *c)
{
    const struct cfg_timeouts *t = &c->fe->cfg->timeouts;
    long ms = t->http_request >= 0 ? t->http_request : t->client;
    if (!c->first && !buf_unread(c->up.src)) {
        ms = t->http_keep_alive >= 0 ? t->http_keep_alive : ms;
    }
    if (ms < 0) {
        client_timer(c, -1);
    } else {
        long past = (long)(c->worker->now - c->since);
        client_timer(c, past < ms ? ms - past : 0);
    }
}

/* The X-Forwarded-For to add, if any. The backend's name for it goes before the frontend's, and `if-none`
 * counts only if every one of them that asks for the field says so. */
static struct http_request_edit edit_of(const struct client *c, const struct http_request *r)
{
    struct http_request_edit e = {0};
    const struct cfg_proxy *fe = c->fe->cfg->forwardfor ? c->fe->cfg : NULL;
    const struct cfg_proxy *be = c->be && c->be->cfg->forwardfor ? c->be->cfg : NULL;
    if ((!fe && !be) || !c->peer_len) {
        return e;
    }
    const char *name = be && be->forwardfor_header   ? be->forwardfor_header
                       : fe && fe->forwardfor_header ? fe->forwardfor_header
                                                     : "X-Forwarded-For";
    bool if_none = (!fe || fe->forwardfor_if_none) && (!be || be->forwardfor_if_none);
    size_t n = strlen(name);
    for (size_t i = 0; if_none && i < r->nfields; i++) {
        if (r->fields[i].name.n == n && !strncasecmp(r->fields[i].name.p, name, n)) {
            return e;
        }
    }
    e.forwarded_for = (struct http_str){c->peer, c->peer_len};
    e.forwarded_name = (struct http_str){name, n};
    return e;
}

/* A head of n bytes has been parsed into the worker's request. */
static void begin_request(struct client *c, size_t n)
{
    struct worker *w = c->worker;
    struct http_request *r = &w->request;
    c->be = c->fe->backend;
    c->method = r->method;
    c->minor = r->minor;
    c->keep_alive = r->keep_alive;
    c->upgrade = r->upgrade;
    bool body = r->body == HTTP_BODY_CHUNKED || (r->body == HTTP_BODY_LENGTH && r->content_length);
    c->repeatable = !body && http_method_idempotent(r->method);
    c->first = false;
    if (r->method == HTTP_CONNECT) {
        client_error(c, 501);
        return;
    }
    c->up.head = buf_get(w);
    if (!c->up.head) {
        client_error(c, 500);
        return;
    }
    struct http_request_edit e = edit_of(c, r);
    size_t len = http_write_request(c->up.head->data, BUF_SIZE, r, &e);
    if (!len) {
        client_error(c, 431);
        return;
    }
    c->up.head->len = (uint32_t)len;
    c->up.src->pos += (uint32_t)n;
    if (!buf_unread(c->up.src)) {
        buf_put(w, &c->up.src);
    }
    flow_start(&c->up, body ? r->body : HTTP_BODY_NONE, r->content_length, r->body == HTTP_BODY_CHUNKED);
    c->up_done = c->up_failed = c->retried = c->answered = c->interim = c->close = c->server_close = false;
    c->answer_scan = 0;
    c->passed_at = 0;
    request_start(c);
}

static void read_head(struct client *c)
{
    for (;;) {
        struct buf *b = c->up.src;
        if (buf_unread(b)) {
            long n = http_parse_request(&c->worker->request, b->data + b->pos, buf_unread(b), &c->scan,
                                        buf_unread(b) >= BUF_READ);
            if (n > 0) {
                begin_request(c, (size_t)n);
                return;
            }
            if (n < 0) {
                client_error(c, (unsigned)-n);
                return;
            }
        } else {
            c->since = c->worker->now; /* a request's time counts from its first byte */
        }
        long n = socket_read(c->worker, &c->up.src, c->fd, &c->read_ready, c->hup);
        if (n < 0) {
            c->eof = true;
            if (n == -1 && buf_unread(c->up.src)) {
                client_error(c, 400);
            } else {
                client_close(c);
            }
            return;
        }
        if (n == 0) {
            if (!buf_unread(c->up.src)) {
                buf_put(c->worker, &c->up.src);
            }
            head_timer(c);
            return;
        }
    }
}

void client_error(struct client *c, unsigned status)
{
    struct worker *w = c->worker;
    if (c->srv) {
        sconn_close(w, c->srv);
        c->srv = NULL;
    }
    if (c->has_slot) {
        slot_release(c, NULL);
    }
    /* Nothing of an answer may have gone out yet. */
    if ((c->answered && c->down.touched) || (!c->down.head && !(c->down.head = buf_get(w)))) {
        client_close(c);
        return;
    }
    struct http_str answer = http_error_answer(status, c->method == HTTP_HEAD);
    memcpy(c->down.head->data, answer.p, answer.n);
    c->down.head->pos = 0;
    c->down.head->len = (uint32_t)answer.n;
    buf_put(w, &c->down.src);
    flow_start(&c->down, HTTP_BODY_NONE, 0, false);
    c->answered = c->close = c->up_done = true;
    c->interim = false;
    c->first = false;
    c->state = CLIENT_XFER;
    transfer_run(c);
}

void client_next(struct client *c)
{
    struct worker *w = c->worker;
    if (c->srv) { /* answered before the whole request was read */
        sconn_close(w, c->srv);
        c->srv = NULL;
        slot_release(c, NULL);
        c->close = true;
    }
    if (c->close || c->eof) {
        linger(c);
        return;
    }
    buf_put(w, &c->up.head);
    buf_put(w, &c->down.head);
    buf_put(w, &c->down.src);
    flow_start(&c->down, HTTP_BODY_NONE, 0, false);
    c->state = CLIENT_HEAD;
    c->answered = false;
    c->method = HTTP_OTHER; /* what an error answer to bytes that are no request goes by */
    c->scan = 0;
    c->since = w->now;
    if (buf_unread(c->up.src) || c->read_ready) {
        worker_run_later(c);
    } else {
        buf_put(w, &c->up.src);
        head_timer(c);
    }
}

void client_stop_idle(struct client *c)
{
    if (c->state == CLIENT_HEAD && !buf_unread(c->up.src)) {
        linger(c);
    }
}

void client_run(struct client *c)
{
    switch (c->state) {
    case CLIENT_HEAD:
        read_head(c);
        break;
    case CLIENT_WAIT:
        request_waiting(c);
        break;
    case CLIENT_XFER:
        transfer_run(c);
        break;
    case CLIENT_LINGER:
        drain(c);
        break;
    case CLIENT_PAUSE:
    case CLIENT_CLOSED:
    default:
        break;
    }
}

void client_event(struct client *c, uint32_t events)
{
    if (c->state == CLIENT_CLOSED) {
        return; /* closed earlier in this round */
    }
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        c->read_ready = true;
    }
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        c->hup = true;
    }
    if (events & (EPOLLHUP | EPOLLERR) && c->state != CLIENT_LINGER) {
        c->reset = true;
    }
    client_run(c);
}

void client_timeout(struct client *c)
{
    switch (c->state) {
    case CLIENT_HEAD:
        if (buf_unread(c->up.src)) {
            client_error(c, 408);
        } else {
            client_close(c);
        }
        break;
    case CLIENT_WAIT:
        request_waiting(c);
        break;
    case CLIENT_PAUSE:
        request_retry_pause_over(c);
        break;
    case CLIENT_XFER:
        transfer_timeout(c);
        break;
    case CLIENT_LINGER:
        client_close(c);
        break;
    case CLIENT_CLOSED:
    default:
        break;
    }
}

void client_accepted(struct worker *w, struct listener *l, int fd, const struct net_addr *peer)
{
    struct client *c = client_alloc(w);
    if (!c) {
        goto refuse;
    }
    c->fd = fd;
    c->fe = l->fe;
    c->since = w->now;
    c->state = CLIENT_HEAD;
    c->peer_len = peer->ss.ss_family == AF_UNIX ? 0 : (uint8_t)net_addr_host(peer, c->peer, sizeof c->peer);
    if (worker_watch(w->epoll, fd, &c->source, false) < 0) {
        c->run.next = (struct bal_link *)(void *)w->free_clients;
        w->free_clients = c;
        goto refuse;
    }
    list_push(&w->clients, &c->all);
    w->nclients++;
    head_timer(c);
    return;

refuse:
    close(fd);
    atomic_fetch_sub_explicit(&l->fe->nconn, 1, memory_order_seq_cst);
    atomic_fetch_sub_explicit(&w->proxy->nconn, 1, memory_order_seq_cst);
}
