/* A request with a server connection: its body goes up, the answer comes down.
 *
 * The order matters for the queue: as soon as the answer's last byte has been read the connection and the
 * slot are given on, before the answer is written to the client. */
#include "balancer/proxy/internal.h"

#include <sys/socket.h>

enum step { STEP_ON, STEP_WAIT, STEP_OVER /* the request has ended: don't touch it */ };

static long read_server(struct client *c)
{
    struct sconn *sc = c->srv;
    if (!sc) {
        return 0;
    }
    long n = socket_read(c->worker, &c->down.src, sc->fd, &sc->read_ready, sc->hup);
    if (n == -1) {
        sc->eof = true;
    }
    return n;
}

/* A write blocked: the poller shall tell when it can go on. Should that fail the time-out ends it. */
static void want_write(struct worker *w, int fd, struct source *s, bool *polls)
{
    if (!*polls) {
        *polls = worker_watch_write(w->epoll, fd, s) == 0;
    }
}

/* More of the request's body. */
static enum step read_client(struct client *c)
{
    long n = socket_read(c->worker, &c->up.src, c->fd, &c->read_ready, c->hup);
    if (n > 0) {
        return STEP_ON;
    }
    if (n == 0) {
        return STEP_WAIT;
    }
    if (n == -1 && flow_eof(&c->up)) { /* a tunnel's one side is done */
        return STEP_ON;
    }
    client_close(c);
    return STEP_OVER;
}

static enum step send_request(struct client *c)
{
    while (!c->up_done && !c->up_failed && c->srv) {
        switch (flow_write(&c->up, c->srv->fd)) {
        case FLOW_DONE:
            c->up_done = true;
            if (c->up.body == HTTP_BODY_TUNNEL) {
                shutdown(c->srv->fd, SHUT_WR);
            }
            break;
        case FLOW_MORE: {
            enum step s = read_client(c);
            if (s != STEP_ON) {
                return s;
            }
            break;
        }
        case FLOW_ERROR: /* it may have answered before it closed */
            c->up_failed = true;
            c->srv->read_ready = c->srv->hup = true;
            break;
        case FLOW_BAD:
            client_error(c, 400);
            return STEP_OVER;
        case FLOW_BLOCK:
        default:
            want_write(c->worker, c->srv->fd, &c->srv->source, &c->srv->polls_write);
            return STEP_WAIT;
        }
    }
    return STEP_ON;
}

/* The server side is complete: connection and slot go on. */
static void server_done(struct client *c)
{
    struct sconn *sc = c->srv;
    size_t rest = buf_unread(c->down.src) - c->down.payload - c->down.skip;
    bool reusable = c->up_done && !c->server_close && !sc->eof && !sc->hup && !rest;
    c->srv = NULL;
    if (!reusable) {
        sconn_close(c->worker, sc);
        sc = NULL;
    }
    slot_release(c, sc);
}

static void start_tunnel(struct client *c)
{
    flow_start(&c->up, HTTP_BODY_TUNNEL, 0, false);
    c->up_done = false;
    c->server_close = c->close = true;
}

/* Prepares the head of an answer that has been parsed into the worker's response. 0, or the status of the
 * error. */
static unsigned prepare_answer(struct client *c, size_t head_len)
{
    struct http_response *r = &c->worker->response;
    bool interim = r->status < 200 && r->status != 101;
    if (r->body == HTTP_BODY_TUNNEL && !(c->upgrade && r->status == 101)) {
        return 502;
    }
    c->down.src->pos += (uint32_t)head_len;
    c->answer_scan = 0;
    if (interim && c->minor == 0) {
        return 0; /* an HTTP/1.0 client knows no interim answers */
    }
    if (!c->down.head && !(c->down.head = buf_get(c->worker))) {
        return 500;
    }
    struct http_response_edit e = {.client_minor = c->minor,
                                   .client_keep_alive = c->keep_alive && !c->worker->stopping,
                                   .force_close = !c->up_done && !interim};
    bool close_after = false, chunked = false;
    size_t n = http_write_response(c->down.head->data, BUF_SIZE, r, &e, &close_after, &chunked);
    if (!n) {
        return 502;
    }
    c->down.head->pos = 0;
    c->down.head->len = (uint32_t)n;
    flow_start(&c->down, interim ? HTTP_BODY_NONE : r->body, r->content_length, chunked);
    c->answered = true;
    c->interim = interim;
    if (!interim) {
        c->close = close_after;
        c->server_close = !r->keep_alive || r->body == HTTP_BODY_CLOSE;
        if (r->body == HTTP_BODY_TUNNEL) {
            start_tunnel(c);
        }
    }
    return 0;
}

/* Reads and parses until the head of an answer has been prepared. */
static enum step answer_head(struct client *c)
{
    while (!c->answered) {
        struct buf *b = c->down.src;
        if (buf_unread(b)) {
            long n = http_parse_response(&c->worker->response, b->data + b->pos, buf_unread(b),
                                         &c->answer_scan, buf_unread(b) >= BUF_READ, c->method);
            unsigned status = n < 0 ? (unsigned)-n : n > 0 ? prepare_answer(c, (size_t)n) : 0;
            if (status) {
                client_error(c, status);
                return STEP_OVER;
            }
            if (n > 0) {
                continue;
            }
        }
        long n = read_server(c);
        if (n == 0) {
            return STEP_WAIT;
        }
        if (n < 0) {
            if (buf_unread(c->down.src)) {
                client_error(c, 502); /* it broke off within the head */
            } else {
                request_server_failed(c);
            }
            return STEP_OVER;
        }
    }
    return STEP_ON;
}

/* One step of writing the answer. */
static enum step forward_answer(struct client *c)
{
    if (!flow_take(&c->down)) {
        client_error(c, 502); /* closes instead if part of the answer is out: it must not look complete */
        return STEP_OVER;
    }
    if (c->down.ended && c->srv && !c->interim && c->up_done) {
        server_done(c);
    }
    switch (flow_write(&c->down, c->fd)) {
    case FLOW_DONE:
        if (c->interim) {
            c->answered = c->interim = false;
            return STEP_ON;
        }
        if (c->srv && c->down.body == HTTP_BODY_TUNNEL && !c->up_done && !c->up_failed) {
            shutdown(c->fd, SHUT_WR);
            return STEP_WAIT;
        }
        client_next(c);
        return STEP_OVER;
    case FLOW_MORE: {
        long n = read_server(c);
        if (n > 0 || (n == -1 && flow_eof(&c->down))) {
            return STEP_ON;
        }
        if (n == 0) {
            return STEP_WAIT;
        }
        break;
    }
    case FLOW_BLOCK:
        want_write(c->worker, c->fd, &c->source, &c->polls_write);
        return STEP_WAIT;
    case FLOW_ERROR:
    case FLOW_BAD:
    default:
        break;
    }
    client_close(c); /* a truncated answer is told by the connection's end */
    return STEP_OVER;
}

static bool connecting(const struct client *c)
{
    return c->srv && !c->srv->used_before && !c->up.touched && !c->answered;
}

/* Whether the client, not the server, is what the transfer waits for. */
static bool waits_for_client(const struct client *c)
{
    return !c->srv || (c->answered && (buf_unread(c->down.head) || c->down.piece)) ||
           (!c->up_done && !c->up_failed && !c->up.piece && !buf_unread(c->up.head));
}

/* The server's time-out; a request that another thread has sent was on its way before this worker knew of it.
 */
static long server_time(const struct client *c)
{
    long ms = c->be->cfg->timeouts.server;
    if (ms < 0 || !c->passed_at || c->answered) {
        return ms;
    }
    long past = c->worker->now > c->passed_at ? (long)(c->worker->now - c->passed_at) : 0;
    return past < ms ? ms - past : 0;
}

static void set_timer(struct client *c)
{
    client_timer(c, connecting(c)         ? c->be->cfg->timeouts.connect
                    : waits_for_client(c) ? c->fe->cfg->timeouts.client
                                          : server_time(c));
}

void transfer_run(struct client *c)
{
    if (c->reset) {
        client_close(c);
        return;
    }
    if (!c->srv && c->has_slot) { /* had to wait for a connection */
        request_start_on(c);
        return;
    }
    if (send_request(c) == STEP_OVER) {
        return;
    }
    enum step s;
    do {
        s = c->answered ? STEP_ON : answer_head(c);
        if (s == STEP_ON) {
            s = forward_answer(c);
        }
    } while (s == STEP_ON);
    if (s == STEP_WAIT) {
        if (!c->up_done && c->answered && c->up.body == HTTP_BODY_TUNNEL && send_request(c) == STEP_OVER) {
            return; /* what the client sent behind its request */
        }
        set_timer(c);
    }
}

void transfer_timeout(struct client *c)
{
    if (connecting(c)) {
        request_server_failed(c);
    } else if (c->answered) {
        client_close(c);
    } else {
        client_error(c, waits_for_client(c) ? 408 : 504);
    }
}
