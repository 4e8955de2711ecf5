/* A request on its way to a server: slot, queue, connection, and what happens when one of them fails. */
#include "balancer/proxy/internal.h"

#define RETRY_PAUSE_MS 1000 /* before asking a server again that refused a connection */

static void wait_timer(struct client *c)
{
    /* The passing thread can't arm this worker's timer: waking up at the server's time-out too is enough to
     * arm it. */
    long queue = c->be->queue_ms, server = c->be->cfg->timeouts.server;
    if (queue >= 0) {
        long past = (long)(c->worker->now - c->since);
        queue = past < queue ? queue - past : 0;
    }
    client_timer(c, queue < 0 || (server >= 0 && server < queue) ? server : queue);
}

static void acquire(struct client *c, struct bal_server *bound)
{
    /* Once queued, another thread may take it at any moment: everything it needs is ready before. */
    c->state = CLIENT_WAIT;
    c->since = c->worker->now;
    wait_timer(c);
    switch (bal_acquire(&c->be->bal, &c->wait, bound)) {
    case BAL_PICKED:
        c->has_slot = true;
        request_start_on(c);
        break;
    case BAL_NOBODY:
        client_error(c, 503);
        break;
    case BAL_QUEUED:
    default:
        if (c->hup) {
            request_waiting(c);
        }
        break;
    }
}

void request_start(struct client *c)
{
    if (!c->be) {
        client_error(c, 503);
        return;
    }
    c->attempts_left = (unsigned)c->be->cfg->retries;
    acquire(c, NULL);
}

/* Back to the state in which nothing has been sent. Only for requests whose body is empty, or of which
 * nothing was. */
static void rewind_request(struct client *c)
{
    if (c->up.touched) {
        flow_start(&c->up, HTTP_BODY_NONE, 0, false);
    }
    c->up.head->pos = 0;
    c->up_done = c->up_failed = false;
    c->passed_at = 0;
}

void request_start_on(struct client *c)
{
    bool later;
    c->state = CLIENT_XFER;
    c->srv = NULL;
    struct sconn *sc = sconn_open(c->worker, c->wait.server, c->retried, !c->repeatable, &later);
    if (sc) {
        sconn_attach(sc, c);
        transfer_run(c);
    } else if (later) {
        worker_run_later(c);
    } else {
        request_server_failed(c);
    }
}

/* The slot, and maybe a connection, has been passed on to this request. */
static void passed(struct client *c)
{
    c->has_slot = true;
    c->state = CLIENT_XFER;
    if (!c->srv) {
        request_start_on(c);
        return;
    }
    c->up_failed = c->srv->failed;
    transfer_run(c);
}

void request_waiting(struct client *c)
{
    bool left = c->hup, late = c->be->queue_ms >= 0 && c->worker->now - c->since >= (uint64_t)c->be->queue_ms;
    if ((left || late) && bal_leave(&c->be->bal, &c->wait)) {
        /* Whoever shut his side while waiting has most likely gone; if not, this is an answer. */
        client_error(c, 503);
        return;
    }
    if (atomic_load_explicit(&c->wait.state, memory_order_acquire) == BAL_WAIT_QUEUED) {
        wait_timer(c);
        return;
    }
    if (bal_settled(&c->wait)) {
        passed(c);
    } /* else the mail tells when */
}

void request_retry_pause_over(struct client *c)
{
    acquire(c, c->bound);
}

void slot_release(struct client *c, struct sconn *sc)
{
    struct worker *w = c->worker;
    struct bal_server *s = c->wait.server;
    c->has_slot = false;
    if (sc && !atomic_load_explicit(&s->backend->nqueued, memory_order_relaxed) &&
        !atomic_load_explicit(&s->nbound, memory_order_relaxed)) {
        sconn_idle(w, sc); /* before the slot: then there are never more connections than slots */
        sc = NULL;
    }
    struct bal_waiter *next = bal_release(s);
    if (!next) {
        if (sc) {
            sconn_idle(w, sc);
        }
        return;
    }
    struct client *n = CONTAINER(next, struct client, wait);
    if (n->worker == w) {
        if (sc) {
            sc->used_before = true;
            n->passed_at = w->now;
            sconn_attach(sc, n);
        }
        bal_told(next); /* by its owner: nobody else could ask */
        worker_run_later(n);
    } else if (sc) {
        sconn_pass(w, sc, n);
    } else {
        worker_mail(n);
    }
}

/* Takes the last attempt to another server, as `option redispatch` wants. */
static bool redispatch(struct client *c)
{
    struct bal_server *other = bal_acquire_other(&c->be->bal, c->wait.server);
    if (!other) {
        return false;
    }
    slot_release(c, NULL);
    c->wait.server = other;
    c->has_slot = true;
    request_start_on(c);
    return true;
}

void request_server_failed(struct client *c)
{
    bool reused = c->srv && c->srv->used_before;
    if (c->srv) {
        sconn_close(c->worker, c->srv);
        c->srv = NULL;
    }
    /* A reused connection that proves dead says nothing about the server: once, and only if the request can't
     * have been acted on or may be acted on twice (RFC 9112, 9.3.1), a new one is tried at once. */
    if (reused && !c->retried && (c->repeatable || !c->up.touched)) {
        c->retried = true;
        rewind_request(c);
        request_start_on(c);
        return;
    }
    if (c->up.touched) {
        client_error(c, 502);
        return;
    }
    if (!c->attempts_left) {
        client_error(c, 503);
        return;
    }
    c->attempts_left--;
    rewind_request(c);
    if (!c->attempts_left && c->be->cfg->redispatch && redispatch(c)) {
        return;
    }
    c->bound = c->wait.server;
    slot_release(c, NULL);
    c->state = CLIENT_PAUSE;
    long connect = c->be->cfg->timeouts.connect;
    client_timer(c, connect >= 0 && connect < RETRY_PAUSE_MS ? connect : RETRY_PAUSE_MS);
}
