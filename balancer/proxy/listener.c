/* Listening sockets. On an address every worker has a socket of its own (SO_REUSEPORT), so that the kernel
 * spreads connections and a worker meets no other; an inherited socket (fd@N) is shared, and woken one worker
 * at a time.
 *
 * Over maxconn a worker stops polling a listener; a closed connection lets all of them look again. A pause
 * counts itself, then looks at the connections once more; a close uncounts itself, then looks at the pauses:
 * one of both sees the other. */
#include "balancer/proxy/internal.h"
#include "net/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPT_BATCH 32 /* connections taken at a time, so that the open ones are served in between */
#define BACKLOG      4096
#define EXHAUSTED_MS 100  /* until accepting is tried again after running out of descriptors */
#define COMPLAINT_MS 5000 /* between two complaints of a worker about that */

static int poll_listener(struct worker *w, struct listener *l)
{
    struct epoll_event ev = {.events = EPOLLIN | (l->shared ? (uint32_t)EPOLLEXCLUSIVE : 0),
                             .data.ptr = &l->source};
    return epoll_ctl(w->epoll, EPOLL_CTL_ADD, l->fd, &ev) < 0 ? -errno : 0;
}

static int open_one(struct worker *w, struct frontend *fe, const struct cfg_bind *b)
{
    struct listener *l = &w->listeners[w->nlisteners];
    *l = (struct listener){.source = {SOURCE_LISTENER}, .fe = fe};
    if (b->fd >= 0) {
        int listening = 0;
        socklen_t len = sizeof listening;
        if (getsockopt(b->fd, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) < 0 || !listening) {
            fprintf(stderr,
                    "[ALERT]    pawld: %s:%u: bind '%s': descriptor %d is not a listening socket; the parent "
                    "process must pass one\n",
                    b->where.file, b->where.line, b->text, b->fd);
            return -1;
        }
        l->shared = true;
        l->fd = fcntl(b->fd, F_DUPFD_CLOEXEC, 0);
        fcntl(b->fd, F_SETFL,
              fcntl(b->fd, F_GETFL) | O_NONBLOCK); /* the parent's copy too: they are one socket */
    } else if (b->addr.ss.ss_family == AF_UNIX && w->index) {
        l->shared = true;
        l->fd = fcntl(w->proxy->workers[0].listeners[w->nlisteners].fd, F_DUPFD_CLOEXEC, 0);
    } else {
        l->shared = b->addr.ss.ss_family == AF_UNIX;
        l->fd = net_listen(&b->addr, BACKLOG, !l->shared);
    }
    if (l->fd < 0) {
        fprintf(stderr, "[ALERT]    pawld: %s:%u: cannot bind '%s' for proxy '%s': %s\n", b->where.file,
                b->where.line, b->text, fe->cfg->name, strerror(l->fd == -1 ? errno : -l->fd));
        return -1;
    }
    w->nlisteners++;
    int r = poll_listener(w, l);
    if (r < 0) {
        fprintf(stderr, "[ALERT]    pawld: cannot poll '%s': %s\n", b->text, strerror(-r));
        return -1;
    }
    return 0;
}

/* Every worker has its own descriptor now; the one that was passed would keep the socket listening after a
 * stop. */
static void close_inherited(const struct proxy *p)
{
    for (size_t f = 0; f < p->nfrontends; f++) {
        for (size_t k = 0; k < p->frontends[f].cfg->nbinds; k++) {
            int fd = p->frontends[f].cfg->binds[k].fd;
            if (fd >= 0) {
                close(fd);
            }
        }
    }
}

int listeners_open(struct proxy *p)
{
    size_t total = 0;
    for (size_t f = 0; f < p->nfrontends; f++) {
        total += p->frontends[f].cfg->nbinds;
    }
    for (unsigned i = 0; i < p->nworkers; i++) {
        struct worker *w = &p->workers[i];
        w->listeners = calloc(total ? total : 1, sizeof *w->listeners);
        if (!w->listeners) {
            fputs("[ALERT]    pawld: not enough memory for the listeners\n", stderr);
            return -1;
        }
        for (size_t f = 0; f < p->nfrontends; f++) {
            for (size_t k = 0; k < p->frontends[f].cfg->nbinds; k++) {
                if (open_one(w, &p->frontends[f], &p->frontends[f].cfg->binds[k]) < 0) {
                    return -1;
                }
            }
        }
    }
    close_inherited(p);
    return 0;
}

static bool room(const struct frontend *fe, const struct proxy *p, unsigned n, unsigned all)
{
    return (!fe->maxconn || n < fe->maxconn) && (!p->maxconn || all < p->maxconn);
}

static void uncount(struct proxy *p, struct frontend *fe)
{
    atomic_fetch_sub_explicit(&fe->nconn, 1, memory_order_seq_cst);
    atomic_fetch_sub_explicit(&p->nconn, 1, memory_order_seq_cst);
}

static bool count(struct proxy *p, struct frontend *fe)
{
    unsigned n = atomic_fetch_add_explicit(&fe->nconn, 1, memory_order_seq_cst);
    unsigned all = atomic_fetch_add_explicit(&p->nconn, 1, memory_order_seq_cst);
    if (room(fe, p, n, all)) {
        return true;
    }
    uncount(p, fe);
    return false;
}

/* Wakes whoever paused; also those whose attempt failed only because of a count taken back in the same
 * moment. */
static void tell_paused(struct proxy *p)
{
    if (!atomic_load_explicit(&p->npaused, memory_order_seq_cst)) {
        return;
    }
    for (unsigned i = 0; i < p->nworkers; i++) {
        atomic_store_explicit(&p->workers[i].resume, true, memory_order_release);
        worker_wake(&p->workers[i]);
    }
}

void connection_closed(struct client *c)
{
    uncount(c->worker->proxy, c->fe);
    tell_paused(c->worker->proxy);
}

static bool try_resume(struct worker *w, struct listener *l)
{
    struct proxy *p = w->proxy;
    if (!room(l->fe, p, atomic_load_explicit(&l->fe->nconn, memory_order_seq_cst),
              atomic_load_explicit(&p->nconn, memory_order_seq_cst)) ||
        poll_listener(w, l) < 0) {
        return false;
    }
    l->paused = false;
    atomic_fetch_sub_explicit(&p->npaused, 1, memory_order_seq_cst);
    return true;
}

static void pause_listener(struct worker *w, struct listener *l)
{
    epoll_ctl(w->epoll, EPOLL_CTL_DEL, l->fd, NULL);
    l->paused = true;
    atomic_fetch_add_explicit(&w->proxy->npaused, 1, memory_order_seq_cst);
}

/* Out of descriptors or memory: what frees them may be anything, so this looks again after a while. */
static void pause_exhausted(struct worker *w, struct listener *l, int error)
{
    pause_listener(w, l);
    w->accept_again = w->now + EXHAUSTED_MS;
    if (w->now >= w->next_complaint) {
        w->next_complaint = w->now + COMPLAINT_MS;
        fprintf(stderr,
                "[WARNING]  pawld: cannot accept for proxy '%s': %s; raise the limit of open files or lower "
                "maxconn\n",
                l->fe->cfg->name, strerror(error));
    }
}

void listeners_resume(struct worker *w)
{
    w->accept_again = 0;
    for (size_t i = 0; i < w->nlisteners; i++) {
        if (w->listeners[i].paused) {
            try_resume(w, &w->listeners[i]);
        }
    }
}

void listener_event(struct worker *w, struct listener *l)
{
    if (l->fd < 0 || l->paused) {
        return;
    }
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        if (!count(w->proxy, l->fe)) {
            pause_listener(w, l);
            try_resume(w, l);
            return;
        }
        struct net_addr peer;
        int fd = net_accept(l->fd, &peer);
        if (fd < 0) {
            uncount(w->proxy, l->fe);
            if (fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS) {
                pause_exhausted(w, l, -fd);
                return;
            }
            if (fd != -ECONNABORTED && fd != -EINTR) {
                return;
            }
            continue;
        }
        client_accepted(w, l, fd, &peer);
    }
}

void listeners_close(struct worker *w)
{
    for (size_t i = 0; i < w->nlisteners; i++) {
        struct listener *l = &w->listeners[i];
        if (l->fd < 0) {
            continue;
        }
        /* Connections that are established already would be reset by the close: they are taken in first. */
        for (int k = 0; k < BACKLOG && !l->paused; k++) {
            struct net_addr peer;
            int fd = net_accept(l->fd, &peer);
            if (fd < 0) {
                break;
            }
            atomic_fetch_add_explicit(&l->fe->nconn, 1, memory_order_seq_cst);
            atomic_fetch_add_explicit(&w->proxy->nconn, 1, memory_order_seq_cst);
            client_accepted(w, l, fd, &peer);
        }
        close(l->fd);
        l->fd = -1;
    }
}
