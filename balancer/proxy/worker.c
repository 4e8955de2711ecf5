/* A worker: one thread, one poller, the connections it has accepted; and the mail by which other threads tell
 * it that a slot was passed on to a client of its own. */
#include "balancer/proxy/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS       256
#define STOP_STEP_MS 100  /* between two looks at the clients while stopping */
#define STOP_IDLE_MS 1000 /* a request already on its way on an idle connection gets this long to arrive */

int worker_watch(int epoll, int fd, struct source *s, bool write)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLRDHUP | EPOLLET | (write ? (uint32_t)EPOLLOUT : 0),
                             .data.ptr = s};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

int worker_watch_write(int epoll, int fd, struct source *s)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = s};
    return epoll_ctl(epoll, EPOLL_CTL_MOD, fd, &ev) < 0 ? -errno : 0;
}

int worker_init(struct worker *w, struct proxy *p, unsigned index)
{
    *w = (struct worker){.source = {SOURCE_WAKE}, .proxy = p, .index = index, .epoll = -1, .wake = -1};
    list_init(&w->clients);
    list_init(&w->dead);
    list_init(&w->run);
    list_init(&w->mail);
    bal_lock_init(&w->mail_lock);
    w->now = net_now_ms();
    net_wheel_init(&w->wheel, w->now);
    w->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (w->epoll < 0) {
        return -errno;
    }
    w->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->wake < 0) {
        return -errno;
    }
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET, .data.ptr = &w->source};
    return epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->wake, &ev) < 0 ? -errno : 0;
}

/* What an immediate stop left open. All threads have ended. */
static void free_clients(struct worker *w)
{
    for (struct bal_link *l = w->clients.next, *next; l != &w->clients; l = next) {
        struct client *c = CONTAINER(l, struct client, all);
        next = l->next;
        if (c->srv) {
            sconn_close(w, c->srv);
        }
        close(c->fd);
        client_free_buffers(c);
        free(c);
    }
    list_init(&w->clients);
}

void worker_free(struct worker *w)
{
    free_clients(w);
    sconn_close_idle(w);
    if (w->epoll >= 0) {
        close(w->epoll);
    }
    if (w->wake >= 0) {
        close(w->wake);
    }
    pool_free(w);
    free(w->listeners);
}

void worker_wake(struct worker *w)
{
    uint64_t one = 1;
    ssize_t r = write(w->wake, &one, sizeof one);
    (void)r; /* it can only be full, and then the worker is being woken already */
}

void worker_run_later(struct client *c)
{
    if (!c->in_run) {
        c->in_run = true;
        list_push(&c->worker->run, &c->run);
    }
}

void worker_mail(struct client *c)
{
    struct worker *w = c->worker;
    bal_lock(&w->mail_lock);
    bool first = list_empty(&w->mail);
    list_push(&w->mail, &c->run);
    bal_unlock(&w->mail_lock);
    if (first) {
        worker_wake(w);
    }
}

static void read_mail(struct worker *w)
{
    for (;;) {
        struct client *c = NULL;
        bal_lock(&w->mail_lock);
        if (!list_empty(&w->mail)) {
            c = CONTAINER(w->mail.next, struct client, run);
            list_remove(&c->run);
        }
        bal_unlock(&w->mail_lock);
        if (!c) {
            return;
        }
        bal_told(&c->wait);
        if (c->srv) { /* what was told of it meanwhile was not looked at */
            c->srv->read_ready = true;
        }
        client_run(c);
    }
}

static void run_list(struct worker *w)
{
    /* Only those present now: one that must wait for another thread comes back, after the poller was asked.
     */
    struct bal_link batch;
    if (list_empty(&w->run)) {
        return;
    }
    batch = w->run;
    batch.next->prev = batch.prev->next = &batch;
    list_init(&w->run);
    while (!list_empty(&batch)) {
        struct client *c = CONTAINER(batch.next, struct client, run);
        list_remove(&c->run);
        c->in_run = false;
        client_run(c);
    }
}

static void handle(struct worker *w, const struct epoll_event *ev)
{
    struct source *s = ev->data.ptr;
    switch (s->kind) {
    case SOURCE_CLIENT:
        client_event(CONTAINER(s, struct client, source), ev->events);
        break;
    case SOURCE_SERVER:
        sconn_event(w, CONTAINER(s, struct sconn, source), ev->events);
        break;
    case SOURCE_LISTENER:
        listener_event(w, CONTAINER(s, struct listener, source));
        break;
    case SOURCE_WAKE:
    default: {
        uint64_t n;
        ssize_t r = read(w->wake, &n, sizeof n);
        (void)r;
        read_mail(w);
        break;
    }
    }
}

static void expire(struct worker *w)
{
    struct net_timer *t;
    while ((t = net_timer_expired(&w->wheel, w->now))) {
        client_timeout(CONTAINER(t, struct client, timer));
    }
}

/* Clients closed in this round can't be met by an event any more. */
static void bury(struct worker *w)
{
    while (!list_empty(&w->dead)) {
        struct client *c = CONTAINER(w->dead.next, struct client, run);
        list_remove(&c->run);
        c->run.next = (struct bal_link *)(void *)w->free_clients;
        w->free_clients = c;
    }
}

static void stop_step(struct worker *w)
{
    if (!w->stopping) {
        w->stopping = true;
        w->stop_idle_at = w->now + STOP_IDLE_MS;
        listeners_close(w);
    }
    if (w->now < w->stop_idle_at) {
        return;
    }
    w->stop_idle_at = w->now + STOP_STEP_MS;
    for (struct bal_link *l = w->clients.next, *next; l != &w->clients; l = next) {
        next = l->next;
        client_stop_idle(CONTAINER(l, struct client, all));
    }
}

static int wait_ms(const struct worker *w)
{
    if (!list_empty(&w->run)) {
        return 0;
    }
    uint64_t now = net_now_ms();
    int ms = net_wheel_wait(&w->wheel, now);
    int sweep = w->next_sweep > now ? (int)(w->next_sweep - now) : 0;
    if (w->stopping || w->accept_again) {
        sweep = sweep < STOP_STEP_MS ? sweep : STOP_STEP_MS;
    }
    return ms < 0 || sweep < ms ? sweep : ms;
}

void *worker_main(void *arg)
{
    struct worker *w = arg;
    struct epoll_event events[EVENTS];
    for (;;) {
        int n = epoll_wait(w->epoll, events, EVENTS, wait_ms(w));
        w->now = net_now_ms();
        for (int i = 0; i < n; i++) {
            handle(w, &events[i]);
            run_list(w);
        }
        run_list(w);
        expire(w);
        sconn_sweep(w);
        if ((w->accept_again && w->now >= w->accept_again) ||
            (atomic_load_explicit(&w->resume, memory_order_relaxed) &&
             atomic_exchange_explicit(&w->resume, false, memory_order_acquire))) {
            listeners_resume(w);
        }
        int stop = atomic_load_explicit(&w->proxy->stop, memory_order_acquire);
        if (stop) {
            stop_step(w);
        }
        bury(w);
        if (stop == STOP_NOW || (stop && !w->nclients)) {
            return NULL;
        }
    }
}
