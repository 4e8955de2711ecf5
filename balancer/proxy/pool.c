/* Buffers and connection structures of one worker. Last freed, first used: it is still in the cache. */
#include "balancer/proxy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define KEEP_BUFS 256u /* free buffers a worker keeps; more go back to the allocator */

struct buf *buf_get(struct worker *w)
{
    struct buf *b = w->free_bufs;
    if (b) {
        w->free_bufs = b->next_free;
        w->nfree_bufs--;
    } else {
        b = malloc(sizeof *b);
        if (!b) {
            return NULL;
        }
    }
    b->pos = b->len = 0;
    return b;
}

void buf_put(struct worker *w, struct buf **b)
{
    if (!*b) {
        return;
    }
    if (w->nfree_bufs < KEEP_BUFS) {
        (*b)->next_free = w->free_bufs;
        w->free_bufs = *b;
        w->nfree_bufs++;
    } else {
        free(*b);
    }
    *b = NULL;
}

struct client *client_alloc(struct worker *w)
{
    struct client *c = w->free_clients;
    if (c) {
        w->free_clients = (struct client *)(void *)c->run.next;
    } else {
        c = malloc(sizeof *c);
        if (!c) {
            return NULL;
        }
        c->source.kind = SOURCE_CLIENT;
        c->worker = w;
    }
    /* kind and worker never change: another thread's late event may look at them */
    memset((char *)c + offsetof(struct client, fe), 0, sizeof *c - offsetof(struct client, fe));
    c->fd = -1;
    c->first = true;
    list_init(&c->run);
    list_init(&c->all);
    return c;
}

struct sconn *sconn_alloc(struct worker *w)
{
    struct sconn *sc = w->free_sconns;
    if (sc) {
        w->free_sconns = sc->next_free;
    } else {
        sc = calloc(1, sizeof *sc);
        if (!sc) {
            return NULL;
        }
        sc->source.kind = SOURCE_SERVER;
    }
    sc->fd = -1;
    sc->used_before = sc->read_ready = sc->hup = sc->eof = sc->failed = sc->polls_write = false;
    return sc;
}

void sconn_recycle(struct worker *w, struct sconn *sc)
{
    sc->next_free = w->free_sconns;
    w->free_sconns = sc;
}

void pool_free(struct worker *w)
{
    for (struct buf *b = w->free_bufs, *next; b; b = next) {
        next = b->next_free;
        free(b);
    }
    for (struct client *c = w->free_clients, *next; c; c = next) {
        next = (struct client *)(void *)c->run.next;
        free(c);
    }
    for (struct sconn *sc = w->free_sconns, *next; sc; sc = next) {
        next = sc->next_free;
        free(sc);
    }
    w->free_bufs = NULL;
    w->free_clients = NULL;
    w->free_sconns = NULL;
}

/* Makes room behind what is unread, by moving that to the front where needed. Returns the room. */
static size_t make_room(struct buf *b)
{
    if (b->pos == b->len) {
        b->pos = b->len = 0;
    } else if (b->pos && b->len >= BUF_READ) {
        memmove(b->data, b->data + b->pos, b->len - b->pos);
        b->len -= b->pos;
        b->pos = 0;
    }
    return b->len < BUF_READ ? BUF_READ - b->len : 0;
}

long socket_read(struct worker *w, struct buf **bp, int fd, bool *ready, bool hup)
{
    if (!*ready) {
        return 0;
    }
    if (!*bp && !(*bp = buf_get(w))) {
        return -3;
    }
    struct buf *b = *bp;
    size_t room = make_room(b);
    if (!room) {
        return -3;
    }
    ssize_t n;
    do {
        n = recv(fd, b->data + b->len, room, 0);
    } while (n < 0 && errno == EINTR);
    if (n > 0) {
        b->len += (uint32_t)n;
        if ((size_t)n < room && !hup) {
            *ready = false; /* drained: the poller will tell of more */
        }
        return n;
    }
    if (n == 0) {
        *ready = false;
        return -1;
    }
    *ready = false;
    return errno == EAGAIN ? 0 : -2;
}
