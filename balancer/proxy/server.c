/* Connections to the servers: opening, reusing, moving between workers, closing. */
#include "balancer/proxy/internal.h"
#include "net/sock.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define IDLE_KEEP_MS                                                                       \
    5000u /* an unused connection is closed after this; servers commonly wait 5 s and more \
           */
#define IDLE_SWEEP_MS 1000u

static const struct net_addr *address_of(const struct bal_server *s)
{
    return &((const struct cfg_server *)s->user)->addr;
}

void sconn_attach(struct sconn *sc, struct client *c)
{
    c->srv = sc;
    atomic_store_explicit(&sc->client, c, memory_order_release);
}

void sconn_close(struct worker *w, struct sconn *sc)
{
    struct bal_server *s = atomic_load_explicit(&sc->server, memory_order_relaxed);
    atomic_store_explicit(&sc->client, NULL, memory_order_release);
    close(sc->fd);
    sc->fd = -1;
    atomic_fetch_sub_explicit(&s->nconn, 1, memory_order_relaxed);
    sconn_recycle(w, sc);
}

/* Nothing has come in on an idle connection, neither its end nor an answer to nobody's question. */
static bool quiet(const struct sconn *sc)
{
    char c;
    return recv(sc->fd, &c, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

static int move_here(struct worker *w, struct sconn *sc)
{
    sc->polls_write = false;
    return worker_watch(w->epoll, sc->fd, &sc->source, false);
}

static struct sconn *take_idle(struct worker *w, struct bal_server *s, bool check)
{
    unsigned owner;
    struct bal_idle_link *l;
    while ((l = bal_idle_take(s, w->index, &owner))) {
        struct sconn *sc = CONTAINER(l, struct sconn, idle);
        if (owner != w->index) {
            epoll_ctl(w->proxy->workers[owner].epoll, EPOLL_CTL_DEL, sc->fd, NULL);
        }
        if ((check && !quiet(sc)) || (owner != w->index && move_here(w, sc) < 0)) {
            sconn_close(w, sc);
            continue;
        }
        sc->used_before = true;
        return sc;
    }
    return NULL;
}

static struct sconn *connect_new(struct worker *w, struct bal_server *s, bool *later)
{
    if (atomic_fetch_add_explicit(&s->nconn, 1, memory_order_relaxed) >= s->maxconn && s->maxconn) {
        /* All are there, but one is on its way back from another thread: it will be found in a moment. */
        *later = true;
        goto uncount;
    }
    struct sconn *sc = sconn_alloc(w);
    if (!sc) {
        goto uncount;
    }
    bool pending = false;
    int fd = net_connect(address_of(s), &pending);
    if (fd < 0 || worker_watch(w->epoll, fd, &sc->source, pending) < 0) {
        goto recycle;
    }
    sc->fd = fd;
    sc->polls_write = pending;
    atomic_store_explicit(&sc->server, s, memory_order_relaxed);
    return sc;

recycle:
    if (fd >= 0) {
        close(fd);
    }
    sconn_recycle(w, sc);
uncount:
    atomic_fetch_sub_explicit(&s->nconn, 1, memory_order_relaxed);
    return NULL;
}

/* A connection to s for the slot the caller holds: an idle one (unless fresh; check: look whether it is still
 * good first), or a new one that is under way. NULL: failed, or *later is set: ask again soon. */
struct sconn *sconn_open(struct worker *w, struct bal_server *s, bool fresh, bool check, bool *later)
{
    *later = false;
    struct sconn *sc = fresh ? NULL : take_idle(w, s, check);
    if (sc) {
        return sc;
    }
    sc = connect_new(w, s, later);
    if (!sc && *later && fresh) { /* an idle one stands in the way of a new one */
        unsigned owner;
        struct bal_idle_link *l = bal_idle_take(s, w->index, &owner);
        if (l) {
            sconn_close(w, CONTAINER(l, struct sconn, idle));
            sc = connect_new(w, s, later);
        }
    }
    return sc;
}

void sconn_idle(struct worker *w, struct sconn *sc)
{
    struct bal_server *s = atomic_load_explicit(&sc->server, memory_order_relaxed);
    atomic_store_explicit(&sc->client, NULL, memory_order_release);
    sc->idle_since = w->now;
    sc->read_ready = false;
    bal_idle_put(s, w->index, &sc->idle);
}

/* Hands a free connection and the slot it stands for to a client of another worker whose request was waiting,
 * and sends that request: the server is not idle while the other thread gets round to it. */
void sconn_pass(struct worker *w, struct sconn *sc, struct client *c)
{
    bool whole = false;
    sc->used_before = true;
    c->passed_at = w->now;
    sconn_attach(sc, c);
    if (c->up.body != HTTP_BODY_CHUNKED) { /* checking a body's framing is left to its worker */
        switch (flow_write(&c->up, sc->fd)) {
        case FLOW_DONE:
            whole = true;
            break;
        case FLOW_ERROR:
            sc->failed = true;
            break;
        case FLOW_MORE:
        case FLOW_BLOCK:
        case FLOW_BAD:
        default:
            break;
        }
    }
    epoll_ctl(w->epoll, EPOLL_CTL_DEL, sc->fd, NULL);
    sc->polls_write = false;
    if (worker_watch(c->worker->epoll, sc->fd, &sc->source, false) < 0) {
        sc->failed = true;
        whole = false;
    }
    /* From here on c belongs to its worker, unless that must be told. */
    if (!whole || bal_passed(&c->wait)) {
        worker_mail(c);
    }
}

void sconn_event(struct worker *w, struct sconn *sc, uint32_t events)
{
    struct client *c = atomic_load_explicit(&sc->client, memory_order_acquire);
    if (!c) {
        struct bal_server *s = atomic_load_explicit(&sc->server, memory_order_relaxed);
        if (s && bal_idle_remove(s, w->index, &sc->idle)) {
            sconn_close(w, sc); /* an idle connection has nothing good to say */
        }
        return;
    }
    if (c->worker != w || (c->state == CLIENT_WAIT && !bal_settled(&c->wait))) {
        return; /* late, or being passed on: the mail will tell */
    }
    if (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        sc->read_ready = true;
    }
    if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) {
        sc->hup = true;
    }
    client_run(c);
}

static bool too_old(const struct bal_idle_link *l, const void *now)
{
    const struct sconn *sc =
        (const struct sconn *)(const void *)((const char *)l - offsetof(struct sconn, idle));
    return *(const uint64_t *)now - sc->idle_since >= IDLE_KEEP_MS;
}

static bool any(const struct bal_idle_link *l, const void *arg)
{
    (void)l;
    (void)arg;
    return true;
}

static void close_those(struct worker *w, bool (*wanted)(const struct bal_idle_link *l, const void *arg))
{
    for (size_t b = 0; b < w->proxy->nbackends; b++) {
        struct bal_backend *bal = &w->proxy->backends[b].bal;
        for (unsigned i = 0; i < bal->nservers; i++) {
            struct bal_idle_link *l;
            while ((l = bal_idle_expire(&bal->servers[i], w->index, wanted, &w->now))) {
                sconn_close(w, CONTAINER(l, struct sconn, idle));
            }
        }
    }
}

void sconn_sweep(struct worker *w)
{
    if (w->now >= w->next_sweep) {
        w->next_sweep = w->now + IDLE_SWEEP_MS;
        close_those(w, too_old);
    }
}

void sconn_close_idle(struct worker *w)
{
    close_those(w, any);
}
