/* Moving one direction of a message: see flow.h. */
#include "balancer/proxy/flow.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>

void flow_start(struct flow *f, enum http_body body, uint64_t length, bool chunked_out)
{
    struct buf *head = f->head, *src = f->src;
    *f = (struct flow){.head = head, .src = src, .body = body, .left = length, .chunked_out = chunked_out};
    f->ended = body == HTTP_BODY_NONE || (body == HTTP_BODY_LENGTH && !length);
}

/* Payload and input bytes to use up of the next piece. False: bad chunked coding. */
static bool take_input(struct flow *f)
{
    size_t n = buf_unread(f->src);
    f->payload = f->skip = 0;
    if (f->ended || !n) {
        return true;
    }
    switch (f->body) {
    case HTTP_BODY_LENGTH:
        f->payload = (uint32_t)(n < f->left ? n : f->left);
        f->left -= f->payload;
        f->ended = !f->left;
        return true;
    case HTTP_BODY_CHUNKED: {
        size_t used = 0, payload = 0;
        enum http_chunk_result r =
            http_chunked_decode(&f->chunked, f->src->data + f->src->pos, n, &used, &payload);
        f->payload = (uint32_t)payload;
        f->skip = (uint32_t)(used - payload);
        f->ended = r == HTTP_CHUNK_DONE;
        return r != HTTP_CHUNK_BAD;
    }
    case HTTP_BODY_CLOSE:
    case HTTP_BODY_TUNNEL:
        f->payload = (uint32_t)n;
        return true;
    case HTTP_BODY_NONE:
    default:
        return true;
    }
}

bool flow_take(struct flow *f)
{
    if (f->piece) {
        return true;
    }
    if (!take_input(f)) {
        return false;
    }
    f->pre_len = f->post_len = 0;
    f->sent = 0;
    if (f->chunked_out && f->payload) {
        f->pre_len = (uint8_t)http_write_chunk_size(f->pre, f->payload);
        f->post = "\r\n0\r\n\r\n";
        f->post_len = 2;
    }
    if (f->chunked_out && f->ended && !f->finished) {
        f->post = f->payload ? "\r\n0\r\n\r\n" : "0\r\n\r\n";
        f->post_len = f->payload ? 7 : 5;
    }
    f->finished = f->ended;
    f->piece = f->pre_len + f->payload + f->post_len > 0;
    if (!f->piece && f->skip) { /* framing bytes only */
        f->src->pos += f->skip;
        f->skip = 0;
    }
    return true;
}

bool flow_eof(struct flow *f)
{
    if (f->body == HTTP_BODY_CLOSE || f->body == HTTP_BODY_TUNNEL) {
        f->ended = true;
    }
    return f->ended;
}

static void add(struct iovec *v, int *n, const char *p, size_t len, size_t *skip)
{
    if (*skip >= len) {
        *skip -= len;
        return;
    }
    /* iovec has no const form; sendmsg() only reads */
    v[(*n)++] = (struct iovec){.iov_base = (void *)(uintptr_t)(p + *skip), .iov_len = len - *skip};
    *skip = 0;
}

/* What is still to be written of the head and the piece. */
static int gather(const struct flow *f, struct iovec v[4], size_t *total)
{
    int n = 0;
    size_t none = 0, skip = f->sent;
    if (buf_unread(f->head)) {
        add(v, &n, f->head->data + f->head->pos, buf_unread(f->head), &none);
    }
    if (f->piece) {
        add(v, &n, f->pre, f->pre_len, &skip);
        add(v, &n, f->payload ? f->src->data + f->src->pos : "", f->payload, &skip);
        add(v, &n, f->post ? f->post : "", f->post_len, &skip);
    }
    *total = 0;
    for (int i = 0; i < n; i++) {
        *total += v[i].iov_len;
    }
    return n;
}

/* Accounts for n written bytes. */
static void advance(struct flow *f, size_t n)
{
    size_t head = buf_unread(f->head);
    if (head) {
        size_t part = n < head ? n : head;
        f->head->pos += (uint32_t)part;
        n -= part;
    }
    f->sent += (uint32_t)n;
    if (f->piece && f->sent == f->pre_len + f->payload + f->post_len) {
        f->piece = false;
        if (f->src) {
            f->src->pos += f->payload + f->skip;
            if (f->src->pos == f->src->len) {
                f->src->pos = f->src->len = 0;
            }
        }
        f->payload = f->skip = 0;
    }
}

enum flow_result flow_write(struct flow *f, int fd)
{
    for (;;) {
        if (!flow_take(f)) {
            return FLOW_BAD;
        }
        struct iovec v[4];
        size_t total = 0;
        int n = gather(f, v, &total);
        if (!n) {
            return f->ended ? FLOW_DONE : FLOW_MORE;
        }
        struct msghdr m = {.msg_iov = v, .msg_iovlen = (size_t)n};
        ssize_t r =
            n == 1 ? send(fd, v[0].iov_base, v[0].iov_len, MSG_NOSIGNAL) : sendmsg(fd, &m, MSG_NOSIGNAL);
        if (r < 0) {
            if (errno == EINTR) {
                continue;
            }
            return errno == EAGAIN ? FLOW_BLOCK : FLOW_ERROR;
        }
        f->touched = true;
        advance(f, (size_t)r);
        if ((size_t)r < total) {
            return FLOW_BLOCK;
        }
    }
}
