/* A run from outside: checks the options, makes room for the connections, starts the threads, waits, adds up.
 */
#include "load/driver.h"

#include "load/wait.h"
#include "load/worker.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#define PROGRESS_NS     UINT64_C(250000000)
#define SPARE_FILES     64      /* beside the sockets: what the process has open anyhow */
#define MAX_OPEN_POINTS 1000000 /* unsent requests entered one by one; more are entered in groups */

static bool options_valid(const struct load_options *o, char *err, size_t err_size)
{
    if (!o->url) {
        snprintf(err, err_size, "a URL is missing");
    } else if (o->threads < 1 || o->threads > LOAD_MAX_THREADS) {
        snprintf(err, err_size, "%u threads: expected 1 to %d", o->threads, LOAD_MAX_THREADS);
    } else if (o->connections < 1 || o->connections > LOAD_MAX_CONNECTIONS) {
        snprintf(err, err_size, "%u connections: expected 1 to %d", o->connections, LOAD_MAX_CONNECTIONS);
    } else if (o->connections < o->threads) {
        snprintf(err, err_size, "%u connections for %u threads: expected at least one for each",
                 o->connections, o->threads);
    } else if (o->duration_ns < 1 || o->duration_ns > LOAD_MAX_DURATION_NS) {
        snprintf(err, err_size, "duration: expected more than 0 and at most a day");
    } else if (o->timeout_ns < 1 || o->timeout_ns > LOAD_MAX_DURATION_NS) {
        snprintf(err, err_size, "time-out: expected more than 0 and at most a day");
    } else if (!(o->rate == 0 || (o->rate >= 1e-3 && o->rate <= LOAD_MAX_RATE))) {
        snprintf(err, err_size, "rate %g: expected 0.001 to %g requests/s", o->rate, LOAD_MAX_RATE);
    } else if (o->requests > INT64_MAX / 2) {
        snprintf(err, err_size, "%llu requests are too many", (unsigned long long)o->requests);
    } else {
        return true;
    }
    return false;
}

/* A descriptor for every connection and every thread's epoll. */
static bool make_room(const struct load_options *o, char *err, size_t err_size)
{
    struct rlimit limit;
    rlim_t need = (rlim_t)o->connections + o->threads + SPARE_FILES;
    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= need) {
        return true;
    }
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need) {
        snprintf(
            err, err_size,
            "%u connections need %llu open files, the hard limit is %llu: raise it (ulimit -Hn) or use fewer "
            "connections",
            o->connections, (unsigned long long)need, (unsigned long long)limit.rlim_max);
        return false;
    }
    limit.rlim_cur = need;
    if (setrlimit(RLIMIT_NOFILE, &limit)) {
        snprintf(err, err_size, "raising the limit of open files to %llu: %s", (unsigned long long)need,
                 strerror(errno));
        return false;
    }
    return true;
}

static int shared_init(struct load_shared *s)
{
    pthread_condattr_t attr;
    int rc = pthread_condattr_init(&attr);
    if (rc) {
        return rc;
    }
    rc = pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    if (!rc) {
        rc = pthread_cond_init(&s->changed, &attr);
    }
    pthread_condattr_destroy(&attr);
    if (rc) {
        return rc;
    }
    rc = pthread_mutex_init(&s->lock, NULL);
    if (rc) {
        pthread_cond_destroy(&s->changed);
    }
    return rc;
}

/* Starts the threads with all signals blocked, so that the program's handlers run in its own thread. Returns
 * how many started. */
static unsigned start_threads(struct load_worker *workers, unsigned n, int *error)
{
    sigset_t all, old;
    unsigned started = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (*error = 0; started < n; started++) {
        *error = pthread_create(&workers[started].thread, NULL, load_worker_main, &workers[started]);
        if (*error) {
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return started;
}

/* Opens the gate once all threads are ready, or sends the started ones home. */
static void open_gate(struct load_shared *s, unsigned started, bool abort_run)
{
    pthread_mutex_lock(&s->lock);
    while (!abort_run && s->ready < started) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    s->start = load_now();
    s->end = s->start + s->options->duration_ns;
    s->abort = abort_run;
    s->go = !abort_run;
    pthread_cond_broadcast(&s->changed);
    pthread_mutex_unlock(&s->lock);
}

static void tell_progress(const struct load_shared *s, const struct load_worker *workers)
{
    const struct load_options *o = s->options;
    struct load_progress p = {.elapsed_ns = load_now() - s->start};
    for (unsigned i = 0; i < o->threads; i++) {
        p.requests += atomic_load_explicit(&workers[i].done, memory_order_relaxed);
        p.errors += atomic_load_explicit(&workers[i].failed, memory_order_relaxed);
    }
    o->progress(o->progress_arg, &p);
}

static void wait_for_end(struct load_shared *s, const struct load_worker *workers)
{
    pthread_mutex_lock(&s->lock);
    while (s->finished < s->options->threads) {
        uint64_t until = load_now() + PROGRESS_NS;
        struct timespec t = {.tv_sec = (time_t)(until / 1000000000), .tv_nsec = (long)(until % 1000000000)};
        int rc = pthread_cond_timedwait(&s->changed, &s->lock, &t);
        if (rc == ETIMEDOUT && s->options->progress) {
            pthread_mutex_unlock(&s->lock);
            tell_progress(s, workers);
            pthread_mutex_lock(&s->lock);
        }
    }
    pthread_mutex_unlock(&s->lock);
}

static void add_errors(struct load_result *r, const struct load_worker *w)
{
    r->connect_errno = r->connect_errno ? r->connect_errno : w->connect_errno;
    r->read_errno = r->read_errno ? r->read_errno : w->read_errno;
    r->write_errno = r->write_errno ? r->write_errno : w->write_errno;
    r->connect_errors += w->connect_errors;
    r->read_errors += w->read_errors;
    r->write_errors += w->write_errors;
    r->timeouts += w->timeouts;
    r->status_errors += w->status_errors;
    r->malformed += w->malformed;
}

static void add_worker(struct load_result *r, const struct load_worker *w)
{
    uint64_t duration = w->ended - w->shared->start;
    r->duration_ns = duration > r->duration_ns ? duration : r->duration_ns;
    r->requests += atomic_load_explicit(&w->done, memory_order_relaxed);
    r->bytes += w->io.bytes;
    base_hist_merge(&r->latency, &w->latency);
    base_hist_merge(&r->per_thread, &w->per_thread);
    add_errors(r, w);
    for (unsigned i = 0; i < LOAD_STATUSES; i++) {
        r->status[i] += w->status[i];
    }
    r->user_ns += w->user_ns;
    r->system_ns += w->system_ns;
}

/* Counts times requests that had waited so long at the end. */
static void add_open(struct load_result *r, uint64_t wait, uint64_t times, uint64_t threshold)
{
    r->open += times;
    if (wait > r->longest_open_ns) {
        r->longest_open_ns = wait;
    }
    if (wait > threshold) {
        base_hist_add_n(&r->latency, wait, times);
    }
}

/* What worker w left unanswered. */
static void add_open_of(struct load_result *r, const struct load_worker *w, uint64_t threshold)
{
    const struct load_options *o = w->shared->options;
    for (unsigned i = 0; i < w->nconns; i++) {
        const struct load_conn *c = &w->conns[i];
        if (c->state == LOAD_BUSY) {
            add_open(r, w->ended > c->due ? w->ended - c->due : 0, 1, threshold);
        }
    }
    if (o->rate == 0 || (o->requests && atomic_load(&w->shared->left) <= 0)) {
        return;
    }
    uint64_t until = w->ended < w->shared->end ? w->ended : w->shared->end, n = 0;
    uint64_t first = load_worker_due(w, w->slot);
    if (first < until) {
        n = (uint64_t)((double)(until - first) * o->rate / 1e9 / o->threads) + 1;
    }
    uint64_t step = n / MAX_OPEN_POINTS + 1;
    for (uint64_t i = 0; i < n; i += step) {
        uint64_t due = load_worker_due(w, w->slot + i), times = n - i < step ? n - i : step;
        if (due < w->ended) {
            add_open(r, w->ended - due, times, threshold);
        }
    }
}

static void add_up(struct load_result *r, const struct load_worker *workers, unsigned n)
{
    memset(r, 0, sizeof *r);
    base_hist_init(&r->latency);
    base_hist_init(&r->per_thread);
    for (unsigned i = 0; i < n; i++) {
        add_worker(r, &workers[i]);
    }
    uint64_t threshold = base_hist_percentile(&r->latency, 99);
    for (unsigned i = 0; i < n; i++) {
        add_open_of(r, &workers[i], threshold);
    }
}

static unsigned share(unsigned connections, unsigned threads, unsigned index)
{
    return connections / threads + (index < connections % threads);
}

/* Starts, waits, joins. */
static enum load_status drive(struct load_shared *s, struct load_worker *workers, char *err, size_t err_size)
{
    const struct load_options *o = s->options;
    int error;
    unsigned started = start_threads(workers, o->threads, &error);
    open_gate(s, started, started < o->threads);
    if (started == o->threads) {
        wait_for_end(s, workers);
    } else {
        snprintf(err, err_size, "starting thread %u of %u: %s", started + 1, o->threads, strerror(error));
    }
    for (unsigned i = 0; i < started; i++) {
        pthread_join(workers[i].thread, NULL);
    }
    return started == o->threads ? LOAD_OK : LOAD_FAILED;
}

static enum load_status run_workers(struct load_shared *s, struct load_result *r, char *err, size_t err_size)
{
    const struct load_options *o = s->options;
    enum load_status status = LOAD_FAILED;
    unsigned made = 0;
    struct load_worker *workers = calloc(o->threads, sizeof *workers);
    if (!workers) {
        snprintf(err, err_size, "out of memory for %u threads", o->threads);
        return LOAD_FAILED;
    }
    for (; made < o->threads; made++) {
        int rc = load_worker_init(&workers[made], s, made, share(o->connections, o->threads, made));
        if (rc) {
            snprintf(err, err_size, "preparing thread %u of %u: %s", made + 1, o->threads, strerror(-rc));
            goto out;
        }
    }
    status = drive(s, workers, err, err_size);
    if (status == LOAD_OK) {
        add_up(r, workers, o->threads);
    }
out:
    for (unsigned i = 0; i < made; i++) {
        load_worker_free(&workers[i]);
    }
    free(workers);
    return status;
}

enum load_status load_run(const struct load_options *o, struct load_result *r, char *err, size_t err_size)
{
    struct load_shared s = {.options = o};
    enum load_status status = LOAD_FAILED;

    if (!options_valid(o, err, err_size) ||
        !load_request_build(&s.request, o->url, o->method, o->headers, o->nheaders, err, err_size)) {
        return LOAD_USAGE;
    }
    if (!make_room(o, err, err_size)) {
        goto out_request;
    }
    atomic_init(&s.left, (int_least64_t)o->requests);
    int rc = shared_init(&s);
    if (rc) {
        snprintf(err, err_size, "preparing the run: %s", strerror(rc));
        goto out_request;
    }
    status = run_workers(&s, r, err, err_size);
    pthread_mutex_destroy(&s.lock);
    pthread_cond_destroy(&s.changed);
out_request:
    load_request_free(&s.request);
    return status;
}

bool load_succeeded(const struct load_options *o, const struct load_result *r)
{
    return r->requests > 0 && (o->requests == 0 || r->requests == o->requests) && r->connect_errors == 0 &&
           r->read_errors == 0 && r->write_errors == 0 && r->timeouts == 0 && r->status_errors == 0;
}
