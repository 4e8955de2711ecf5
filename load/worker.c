/* The loop of one driver thread. A connection is always in exactly one list: waiting (for connect or answer),
 * idle, or closed (for its turn to be opened again). Since all waits have the same time-out, the waiting list
 * is ordered by itself: who enters last runs out last. */
#include "load/worker.h"

#include "load/wait.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#define MS             UINT64_C(1000000)
#define SECOND         UINT64_C(1000000000)
#define SAMPLE_NS      (100 * MS) /* of the rate; also how soon a stop is seen */
#define CONNECT_PHASE  SECOND     /* the longest wait for all connections before measuring starts */
#define BACKOFF_MIN_NS MS
#define BACKOFF_MAX_NS SECOND
#define MAX_EVENTS     256
#define RECEIVE_BUFFER 65536

static void handle(struct load_worker *w, struct load_conn *c, enum load_step step, uint64_t now);

uint64_t load_worker_due(const struct load_worker *w, uint64_t i)
{
    const struct load_options *o = w->shared->options;
    return w->shared->start + (uint64_t)(((double)i * o->threads + w->index) * (1e9 / o->rate));
}

static void move(struct load_conn *c, struct load_conn_list *to)
{
    TAILQ_REMOVE(c->in, c, link);
    TAILQ_INSERT_TAIL(to, c, link);
    c->in = to;
}

static void count_failed(struct load_worker *w, uint64_t *kind, int *first_errno, int error)
{
    if (first_errno && *kind == 0) {
        *first_errno = error;
    }
    ++*kind;
    atomic_store_explicit(&w->failed, atomic_load_explicit(&w->failed, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}

/* A connection that failed is opened again after a pause that doubles until an answer comes. */
static void back_off(struct load_worker *w, struct load_conn *c, uint64_t now)
{
    unsigned doublings = c->failures < 10 ? c->failures : 10;
    uint64_t pause = BACKOFF_MIN_NS << doublings;
    c->failures++;
    c->since = now + (pause < BACKOFF_MAX_NS ? pause : BACKOFF_MAX_NS);
    if (c->since < w->next_reopen) {
        w->next_reopen = c->since;
    }
    move(c, &w->closed);
}

static void open_again(struct load_worker *w, struct load_conn *c, uint64_t now)
{
    c->since = now;
    move(c, &w->waiting);
    handle(w, c, load_conn_open(c, &w->io), now);
}

/* The right to send one more request. */
static bool claim(struct load_worker *w)
{
    if (w->shared->options->requests == 0) {
        return true;
    }
    return atomic_load_explicit(&w->shared->left, memory_order_relaxed) > 0 &&
           atomic_fetch_sub_explicit(&w->shared->left, 1, memory_order_relaxed) > 0;
}

static void begin(struct load_worker *w, struct load_conn *c, uint64_t due, uint64_t now)
{
    c->due = due;
    c->since = now;
    w->busy++;
    move(c, &w->waiting);
    enum load_step step = load_conn_request(c, &w->io);
    if (step != LOAD_WAIT) {
        handle(w, c, step, now);
    }
}

/* Open loop: sends what is due on the connections that have been idle longest. */
static void send_due(struct load_worker *w, uint64_t now)
{
    struct load_conn *c;
    while ((c = TAILQ_FIRST(&w->idle))) {
        uint64_t due = load_worker_due(w, w->slot);
        if (due > now || due >= w->shared->end || !claim(w)) {
            return;
        }
        w->slot++;
        begin(w, c, due, now);
    }
}

/* What a connection does that is free to send. */
static void next_request(struct load_worker *w, struct load_conn *c, uint64_t now)
{
    if (w->running && w->shared->options->rate == 0 && now < w->shared->end && claim(w)) {
        begin(w, c, now, now);
        return;
    }
    move(c, &w->idle);
    if (w->running && w->shared->options->rate > 0) {
        send_due(w, now);
    }
}

static void answered(struct load_worker *w, struct load_conn *c, uint64_t now)
{
    unsigned status = c->answer.head.status;
    w->busy--;
    c->failures = 0;
    base_hist_add(&w->latency, now - c->due);
    w->status[status < LOAD_STATUSES ? status : 0]++;
    if (status >= 400) {
        count_failed(w, &w->status_errors, NULL, 0);
    }
    atomic_store_explicit(&w->done, atomic_load_explicit(&w->done, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    if (c->state == LOAD_CLOSED) {
        open_again(w, c, now);
    } else {
        next_request(w, c, now);
    }
}

/* What follows from what a connection did. */
static void handle(struct load_worker *w, struct load_conn *c, enum load_step step, uint64_t now)
{
    switch (step) {
    case LOAD_WAIT:
        return;
    case LOAD_CONNECTED:
        next_request(w, c, now);
        return;
    case LOAD_ANSWERED:
        answered(w, c, now);
        return;
    case LOAD_LOST: /* a server may close an idle connection; one that only ever does so is in error */
        if (c->failures > 0) {
            count_failed(w, &w->read_errors, &w->read_errno, 0);
        }
        break;
    case LOAD_CONNECT_FAILED:
        count_failed(w, &w->connect_errors, &w->connect_errno, c->error);
        break;
    case LOAD_MALFORMED:
        w->malformed++;
        /* fallthrough */
    case LOAD_READ_FAILED:
        w->busy--;
        count_failed(w, &w->read_errors, &w->read_errno, c->error);
        break;
    case LOAD_WRITE_FAILED:
        w->busy--;
        count_failed(w, &w->write_errors, &w->write_errno, c->error);
        break;
    }
    back_off(w, c, now);
}

/* Ends the waits that have lasted too long. The request's wait enters the latency: leaving it out would make
 * the distribution look better because the server stalls. */
static void expire_waits(struct load_worker *w, uint64_t now)
{
    struct load_conn *c;
    while ((c = TAILQ_FIRST(&w->waiting)) && now - c->since >= w->shared->options->timeout_ns) {
        if (c->state == LOAD_CONNECTING) {
            count_failed(w, &w->connect_errors, &w->connect_errno, ETIMEDOUT);
        } else {
            w->busy--;
            base_hist_add(&w->latency, now - c->due);
            count_failed(w, &w->timeouts, NULL, 0);
        }
        load_conn_close(c);
        back_off(w, c, now);
    }
}

static void reopen_closed(struct load_worker *w, uint64_t now)
{
    uint64_t next = UINT64_MAX;
    struct load_conn *c, *following;
    if (now < w->next_reopen) {
        return;
    }
    w->next_reopen = UINT64_MAX; /* back_off() may lower it again meanwhile */
    for (c = TAILQ_FIRST(&w->closed); c; c = following) {
        following = TAILQ_NEXT(c, link);
        if (c->since <= now) {
            open_again(w, c, now);
        } else if (c->since < next) {
            next = c->since;
        }
    }
    next = next < w->next_reopen ? next : w->next_reopen;
    w->next_reopen = next < now + MS ? now + MS : next; /* at most one walk a millisecond */
}

static void sample_rate(struct load_worker *w, uint64_t now)
{
    if (now < w->next_sample) {
        return;
    }
    uint64_t done = atomic_load_explicit(&w->done, memory_order_relaxed);
    double seconds = (double)(now - w->last_sample) / 1e9;
    base_hist_add(&w->per_thread, (uint64_t)((double)(done - w->sampled) / seconds + 0.5));
    w->sampled = done;
    w->last_sample = now;
    w->next_sample = now + SAMPLE_NS;
}

static void sooner(uint64_t *when, uint64_t other)
{
    if (other < *when) {
        *when = other;
    }
}

/* How long epoll may wait: until the first thing that has its time. */
static uint64_t next_wake(const struct load_worker *w, uint64_t limit)
{
    const struct load_options *o = w->shared->options;
    uint64_t wake = limit;
    if (!TAILQ_EMPTY(&w->waiting)) {
        sooner(&wake, TAILQ_FIRST(&w->waiting)->since + o->timeout_ns);
    }
    if (w->running) {
        sooner(&wake, w->next_sample);
        sooner(&wake, w->next_reopen);
        if (o->rate > 0 && !TAILQ_EMPTY(&w->idle)) {
            sooner(&wake, load_worker_due(w, w->slot));
        }
    }
    return wake;
}

/* Waits for events, at most until wake, and handles them. */
static void poll_once(struct load_worker *w, uint64_t now, uint64_t wake)
{
    struct epoll_event events[MAX_EVENTS];
    int n = load_wait(w->io.epoll, events, MAX_EVENTS, wake > now ? wake - now : 0);
    for (int i = 0; i < n; i++) {
        struct load_conn *c = events[i].data.ptr;
        enum load_step step = load_conn_event(c, &w->io, events[i].events);
        if (step != LOAD_WAIT) {
            handle(w, c, step, load_now());
        }
    }
}

static bool stopped(const struct load_worker *w)
{
    const atomic_int *stop = w->shared->options->stop;
    return stop && atomic_load_explicit(stop, memory_order_relaxed);
}

/* Opens all connections. Measuring starts when they are there, so that neither the cost nor the noise of
 * connecting is in the figures; one that takes longer than a second connects during the run. */
static void connect_all(struct load_worker *w)
{
    uint64_t now = load_now(), limit = now + CONNECT_PHASE;
    for (unsigned i = 0; i < w->nconns; i++) {
        open_again(w, &w->conns[i], load_now());
    }
    while (!TAILQ_EMPTY(&w->waiting) && now < limit && !stopped(w)) {
        uint64_t wake = next_wake(w, limit);
        sooner(&wake, now + SAMPLE_NS);
        poll_once(w, now, wake);
        now = load_now();
        expire_waits(w, now);
    }
}

/* Waits until all threads are ready; false where the run is called off. */
static bool pass_gate(struct load_shared *s)
{
    pthread_mutex_lock(&s->lock);
    s->ready++;
    pthread_cond_broadcast(&s->changed);
    while (!s->go && !s->abort) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    bool go = s->go;
    pthread_mutex_unlock(&s->lock);
    return go;
}

static bool all_sent(const struct load_worker *w)
{
    return w->shared->options->requests > 0 && w->busy == 0 &&
           atomic_load_explicit(&w->shared->left, memory_order_relaxed) <= 0;
}

static void run(struct load_worker *w)
{
    uint64_t now = load_now(), end = w->shared->end;
    w->running = true;
    w->last_sample = w->shared->start;
    w->next_sample = w->last_sample + SAMPLE_NS;
    w->next_reopen = now;
    if (w->shared->options->rate == 0) {
        struct load_conn *c, *last = TAILQ_LAST(&w->idle, load_conn_list);
        while (last && (c = TAILQ_FIRST(&w->idle))) { /* each once: who may not send goes to the tail */
            next_request(w, c, load_now());
            if (c == last) {
                break;
            }
        }
    }
    for (;;) {
        now = load_now();
        expire_waits(w, now);
        sample_rate(w, now);
        if (now >= end || stopped(w) || all_sent(w)) {
            break;
        }
        reopen_closed(w, now);
        if (w->shared->options->rate > 0) {
            send_due(w, now);
        }
        poll_once(w, now, next_wake(w, end));
    }
    w->ended = now;
}

static uint64_t to_ns(const struct timeval *t)
{
    return (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_usec * 1000;
}

void *load_worker_main(void *arg)
{
    struct load_worker *w = arg;
    struct rusage before, after;
    load_wait_precisely();
    connect_all(w);
    if (pass_gate(w->shared)) {
        getrusage(RUSAGE_THREAD, &before);
        run(w);
        getrusage(RUSAGE_THREAD, &after);
        w->user_ns = to_ns(&after.ru_utime) - to_ns(&before.ru_utime);
        w->system_ns = to_ns(&after.ru_stime) - to_ns(&before.ru_stime);
    }
    pthread_mutex_lock(&w->shared->lock);
    w->shared->finished++;
    pthread_cond_broadcast(&w->shared->changed);
    pthread_mutex_unlock(&w->shared->lock);
    return NULL;
}

int load_worker_init(struct load_worker *w, struct load_shared *shared, unsigned index, unsigned nconns)
{
    memset(w, 0, sizeof *w);
    w->shared = shared;
    w->index = index;
    w->io.request = &shared->request;
    w->io.memo.method = shared->request.method;
    w->io.cap = RECEIVE_BUFFER;
    w->next_reopen = UINT64_MAX;
    TAILQ_INIT(&w->waiting);
    TAILQ_INIT(&w->idle);
    TAILQ_INIT(&w->closed);
    base_hist_init(&w->latency);
    base_hist_init(&w->per_thread);
    w->io.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (w->io.epoll < 0) {
        return -errno;
    }
    w->io.buf = malloc(w->io.cap);
    w->conns = calloc(nconns, sizeof *w->conns);
    if (!w->io.buf || !w->conns) {
        load_worker_free(w);
        return -ENOMEM;
    }
    w->nconns = nconns;
    for (unsigned i = 0; i < nconns; i++) {
        w->conns[i].fd = -1;
        w->conns[i].in = &w->closed;
        TAILQ_INSERT_TAIL(&w->closed, &w->conns[i], link);
    }
    return 0;
}

void load_worker_free(struct load_worker *w)
{
    for (unsigned i = 0; i < w->nconns; i++) {
        load_conn_close(&w->conns[i]);
        load_answer_free(&w->conns[i].answer);
    }
    w->nconns = 0;
    free(w->conns);
    free(w->io.buf);
    if (w->io.epoll >= 0) {
        close(w->io.epoll);
    }
    w->conns = NULL;
    w->io.buf = NULL;
    w->io.epoll = -1;
}
