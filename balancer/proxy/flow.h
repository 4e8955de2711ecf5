/* One direction of one message: a head, then a body that is read into a buffer, checked against its framing,
 * framed anew and written out. Buffers come from the worker's pool and belong to the flow's user. */
#ifndef PAWL_BALANCER_PROXY_FLOW_H
#define PAWL_BALANCER_PROXY_FLOW_H

#include "http/http.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUF_READ 16384                           /* a message head must fit into this */
#define BUF_SIZE (BUF_READ + 2 * HTTP_HEAD_ROOM) /* room for what rewriting adds */

struct buf {
    struct buf *next_free;
    uint32_t pos, len; /* data[pos..len) is not used up yet */
    char data[BUF_SIZE];
};

static inline size_t buf_unread(const struct buf *b)
{
    return b ? b->len - b->pos : 0;
}

enum flow_result {
    FLOW_DONE,  /* everything has been written, the end of the message included */
    FLOW_MORE,  /* everything there is has been written; more of the body must be read into src */
    FLOW_BLOCK, /* the receiver takes no more now */
    FLOW_ERROR, /* the receiver is gone */
    FLOW_BAD    /* the sender broke the framing */
};

struct flow {
    struct buf *head; /* written first; may be NULL */
    struct buf *src;  /* the body's bytes; may be NULL while there are none */
    enum http_body body;
    uint64_t left; /* of a HTTP_BODY_LENGTH body, not taken from src yet */
    struct http_chunked chunked;
    bool chunked_out; /* the body goes out in chunked coding */
    bool ended;       /* the sender's part is complete */
    bool finished;    /* the receiver's terminator has been put into a piece */
    bool touched;     /* at least one byte went out */

    /* the piece being written: pre, payload bytes at src->pos, post */
    bool piece;
    char pre[20];
    uint8_t pre_len, post_len;
    const char *post;
    uint32_t payload, skip; /* skip: bytes of src to drop behind the payload */
    uint32_t sent;
};

/* Prepares f for a new message; buffers are kept. */
void flow_start(struct flow *f, enum http_body body, uint64_t length, bool chunked_out);

/* Takes the next piece from src, if none is pending. Tells whether the sender's part is complete (f->ended)
 * as early as that is known, before anything is written. False: the framing is broken. */
bool flow_take(struct flow *f);

/* The sender has closed: ends a HTTP_BODY_CLOSE or tunnelled body. False: the message was not complete. */
bool flow_eof(struct flow *f);

/* Writes as much as possible to a non-blocking socket. */
enum flow_result flow_write(struct flow *f, int fd);

#endif
