/* A connection's input and output. It is registered once, edge-triggered for everything, so that a request
 * costs one send, one receive, and its share of an epoll_wait. */
#include "load/conn.h"

#include "net/sock.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#define ENDED     (EPOLLRDHUP | EPOLLHUP | EPOLLERR)

/* Buffers received of one connection before the others get their turn. */
#define MAX_READS 64

static enum load_step fail(struct load_conn *c, enum load_step step, int error)
{
    c->error = error;
    load_conn_close(c);
    return step;
}

enum load_step load_conn_open(struct load_conn *c, struct load_io *io)
{
    bool pending;
    int fd = net_connect(&io->request->addr, &pending);
    if (fd < 0) {
        c->fd = -1;
        return fail(c, LOAD_CONNECT_FAILED, -fd);
    }
    c->fd = fd;
    c->state = LOAD_CONNECTING;
    /* A connection that is there at once reports EPOLLOUT as well. */
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (epoll_ctl(io->epoll, EPOLL_CTL_ADD, fd, &ev)) {
        return fail(c, LOAD_CONNECT_FAILED, errno);
    }
    return LOAD_WAIT;
}

static enum load_step send_rest(struct load_conn *c, struct load_io *io)
{
    const struct load_request *r = io->request;
    while (c->sent < r->len) {
        ssize_t n = send(c->fd, r->bytes + c->sent, r->len - c->sent, MSG_NOSIGNAL);
        if (n >= 0) {
            c->sent += (size_t)n;
        } else if (errno == EAGAIN) {
            break; /* EPOLLOUT comes */
        } else if (errno != EINTR) {
            return fail(c, LOAD_WRITE_FAILED, errno);
        }
    }
    return LOAD_WAIT;
}

enum load_step load_conn_request(struct load_conn *c, struct load_io *io)
{
    c->state = LOAD_BUSY;
    c->sent = 0;
    load_answer_reset(&c->answer);
    return send_rest(c, io);
}

/* An answer is complete; may the connection carry another? Not where the server ended it meanwhile, nor where
 * the answer came before the whole request was sent. */
static enum load_step answered(struct load_conn *c, const struct load_io *io, uint32_t events)
{
    if (!c->answer.head.keep_alive || c->sent < io->request->len || (events & ENDED)) {
        load_conn_close(c);
    } else {
        c->state = LOAD_IDLE;
    }
    return LOAD_ANSWERED;
}

static enum load_step stream_ended(struct load_conn *c)
{
    if (load_answer_closed(&c->answer)) {
        load_conn_close(c);
        return LOAD_ANSWERED;
    }
    return fail(c, LOAD_READ_FAILED, 0);
}

/* Receives up to what the body still lacks without copying it: nobody looks at it. */
static ssize_t receive_some(struct load_conn *c, struct load_io *io, size_t *want)
{
    bool skip = c->answer.phase == LOAD_IN_LENGTH;
    *want = skip && c->answer.left < io->cap ? (size_t)c->answer.left : io->cap;
    ssize_t n = recv(c->fd, io->buf, *want, skip ? MSG_TRUNC : 0);
    if (n > 0) {
        io->bytes += (uint64_t)n;
    }
    return n;
}

static enum load_step receive(struct load_conn *c, struct load_io *io, uint32_t events)
{
    for (unsigned reads = 0; reads < MAX_READS; reads++) {
        size_t used, want;
        ssize_t n = receive_some(c, io, &want);
        if (n == 0) {
            return stream_ended(c);
        }
        if (n < 0) {
            if (errno == EAGAIN) {
                return LOAD_WAIT;
            }
            if (errno == EINTR) {
                continue;
            }
            return fail(c, LOAD_READ_FAILED, errno);
        }
        enum load_answer_result result = load_answer_feed(&c->answer, &io->memo, io->buf, (size_t)n, &used);
        if (result == LOAD_ANSWER_BAD || used < (size_t)n) { /* also: bytes nobody asked for */
            return fail(c, LOAD_MALFORMED, 0);
        }
        if (result == LOAD_ANSWER_DONE) {
            return answered(c, io, events);
        }
        /* Less than asked for: the socket is empty, and more will be a new edge. The end may have come
         * already. */
        if ((size_t)n < want && !(events & ENDED)) {
            return LOAD_WAIT;
        }
    }
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    if (epoll_ctl(io->epoll, EPOLL_CTL_MOD, c->fd, &ev)) { /* a new edge for what is left */
        return fail(c, LOAD_READ_FAILED, errno);
    }
    return LOAD_WAIT;
}

/* Anything but room to send means that the connection is of no more use. */
static enum load_step idle_event(struct load_conn *c, uint32_t events)
{
    if (events & (EPOLLIN | ENDED)) {
        return fail(c, LOAD_LOST, 0);
    }
    return LOAD_WAIT;
}

static enum load_step connect_event(struct load_conn *c, uint32_t events)
{
    int error = net_sock_error(c->fd);
    if (error) {
        return fail(c, LOAD_CONNECT_FAILED, -error);
    }
    if (!(events & EPOLLOUT)) {
        return LOAD_WAIT;
    }
    if (events & (EPOLLIN | ENDED)) { /* this edge won't come again */
        return fail(c, LOAD_LOST, 0);
    }
    c->state = LOAD_IDLE;
    return LOAD_CONNECTED;
}

enum load_step load_conn_event(struct load_conn *c, struct load_io *io, uint32_t events)
{
    switch (c->state) {
    case LOAD_BUSY:
        if (c->sent < io->request->len && (events & EPOLLOUT)) {
            enum load_step step = send_rest(c, io);
            if (step != LOAD_WAIT) {
                return step;
            }
        }
        return events & (EPOLLIN | ENDED) ? receive(c, io, events) : LOAD_WAIT;
    case LOAD_CONNECTING:
        return connect_event(c, events);
    case LOAD_IDLE:
        return idle_event(c, events);
    case LOAD_CLOSED:
    default:
        return LOAD_WAIT;
    }
}

void load_conn_close(struct load_conn *c)
{
    if (c->fd >= 0) {
        close(c->fd);
        c->fd = -1;
    }
    c->state = LOAD_CLOSED;
    load_answer_reset(&c->answer);
}
