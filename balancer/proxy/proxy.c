/* From the configuration to running workers, and back to an exit status. */
#include "balancer/proxy/proxy.h"

#include "balancer/proxy/internal.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

unsigned proxy_default_threads(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return n < 1 ? 1 : n > 64 ? 64 : (unsigned)n;
}

static bool make_backend(struct backend *b, const struct cfg_proxy *cfg, unsigned nworkers)
{
    *b = (struct backend){.cfg = cfg};
    b->queue_ms = cfg->timeouts.queue >= 0 ? cfg->timeouts.queue : cfg->timeouts.connect;
    if (!bal_backend_init(&b->bal, (unsigned)cfg->nservers, nworkers)) {
        return false;
    }
    for (unsigned i = 0; i < b->bal.nservers; i++) {
        b->bal.servers[i].weight = cfg->servers[i].weight;
        b->bal.servers[i].maxconn = cfg->servers[i].maxconn;
        b->bal.servers[i].user = &cfg->servers[i];
    }
    return bal_backend_start(&b->bal);
}

static bool make_proxies(struct proxy *p)
{
    const struct cfg *cfg = p->cfg;
    p->frontends = calloc(cfg->nproxies + 1, sizeof *p->frontends);
    p->backends = aligned_alloc(BAL_CACHE_LINE, (cfg->nproxies + 1) * sizeof *p->backends);
    if (!p->frontends || !p->backends) {
        return false;
    }
    for (size_t i = 0; i < cfg->nproxies; i++) {
        if (cfg->proxies[i]->backend &&
            !make_backend(&p->backends[p->nbackends++], cfg->proxies[i], p->nworkers)) {
            return false;
        }
    }
    for (size_t i = 0; i < cfg->nproxies; i++) {
        const struct cfg_proxy *c = cfg->proxies[i];
        if (!c->frontend) {
            continue;
        }
        struct frontend *fe = &p->frontends[p->nfrontends++];
        fe->cfg = c;
        fe->maxconn = c->maxconn > 0 ? (unsigned)c->maxconn : 0;
        for (size_t k = 0; k < p->nbackends; k++) {
            if (p->backends[k].cfg == c->default_backend) {
                fe->backend = &p->backends[k];
            }
        }
    }
    return true;
}

/* How many clients the limit of open files allows, raised as far as it goes: a client needs one descriptor
 * and, while a request is under way, one to a server. Accepting more would leave none to serve anybody. */
static unsigned affordable_clients(const struct proxy *p)
{
    struct rlimit r;
    size_t own = 16; /* standard streams, what was inherited, the library's */
    if (getrlimit(RLIMIT_NOFILE, &r) < 0) {
        return 0;
    }
    if (r.rlim_cur < r.rlim_max) {
        r.rlim_cur = r.rlim_max;
        setrlimit(RLIMIT_NOFILE, &r);
        getrlimit(RLIMIT_NOFILE, &r);
    }
    for (size_t i = 0; i < p->cfg->nproxies; i++) {
        own += p->cfg->proxies[i]->nbinds * (p->nworkers + 1);
    }
    own += (size_t)p->nworkers * 2; /* poller and wake-up of each */
    if (r.rlim_cur == RLIM_INFINITY || r.rlim_cur / 2 > UINT32_MAX) {
        return 0;
    }
    return r.rlim_cur > own + 2 ? (unsigned)((r.rlim_cur - own) / 2) : 1;
}

static void limit_clients(struct proxy *p)
{
    unsigned most = affordable_clients(p);
    p->maxconn = p->cfg->maxconn > 0 ? (unsigned)p->cfg->maxconn : most;
    if (most && p->maxconn > most) {
        fprintf(stderr,
                "[WARNING]  pawld: maxconn %u needs about %llu open files, the limit allows %u clients; it "
                "is lowered to "
                "that: raise the limit (ulimit -n) or lower maxconn\n",
                p->maxconn, 2ULL * p->maxconn, most);
        p->maxconn = most;
    }
}

/* Signals are taken by the main thread alone. */
static void wait_for_stop(struct proxy *p, const sigset_t *set, _Atomic(unsigned) *running)
{
    int stop = STOP_NOT;
    while (atomic_load(running)) {
        struct timespec second = {.tv_sec = 1};
        int sig = stop == STOP_NOT ? sigwaitinfo(set, NULL) : sigtimedwait(set, NULL, &second);
        if (sig < 0 || sig == SIGHUP) {
            continue;
        }
        stop = sig == SIGINT || stop != STOP_NOT ? STOP_NOW : STOP_GRACEFUL;
        if (sig == SIGUSR2) { /* the last worker has ended */
            return;
        }
        atomic_store_explicit(&p->stop, stop, memory_order_release);
        for (unsigned i = 0; i < p->nworkers; i++) {
            worker_wake(&p->workers[i]);
        }
    }
}

struct start {
    struct worker *worker;
    _Atomic(unsigned) *running;
    pthread_t main;
};

static void *start_worker(void *arg)
{
    struct start *s = arg;
    worker_main(s->worker);
    if (atomic_fetch_sub(s->running, 1) == 1) {
        pthread_kill(s->main, SIGUSR2);
    }
    return NULL;
}

static int run_workers(struct proxy *p, const sigset_t *set)
{
    pthread_t *threads = calloc(p->nworkers, sizeof *threads);
    struct start *starts = calloc(p->nworkers, sizeof *starts);
    static _Atomic(unsigned) running;
    unsigned n = 0;
    int status = 1;
    if (!threads || !starts) {
        fputs("[ALERT]    pawld: not enough memory\n", stderr);
        goto out;
    }
    atomic_store(&running, p->nworkers);
    for (; n < p->nworkers; n++) {
        starts[n] = (struct start){&p->workers[n], &running, pthread_self()};
        int e = pthread_create(&threads[n], NULL, start_worker, &starts[n]);
        if (e) {
            fprintf(stderr, "[ALERT]    pawld: cannot start thread %u of %u: %s; lower nbthread\n", n + 1,
                    p->nworkers, strerror(e));
            atomic_fetch_sub(&running, p->nworkers - n);
            atomic_store(&p->stop, STOP_NOW);
            break;
        }
    }
    if (n == p->nworkers) {
        wait_for_stop(p, set, &running);
        status = 0;
    }
    for (unsigned i = 0; i < n; i++) {
        worker_wake(&p->workers[i]);
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(threads[i], NULL);
    }
out:
    free(starts);
    free(threads);
    return status;
}

int proxy_run(const struct cfg *cfg)
{
    struct proxy proxy = {.cfg = cfg}, *p = &proxy;
    p->nworkers = cfg->nbthread > 0 ? (unsigned)cfg->nbthread : proxy_default_threads();
    limit_clients(p);

    sigset_t set;
    sigemptyset(&set);
    const int signals[] = {SIGTERM, SIGINT, SIGUSR1, SIGUSR2, SIGHUP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        sigaddset(&set, signals[i]);
    }
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);

    int status = 1;
    p->workers = aligned_alloc(BAL_CACHE_LINE, p->nworkers * sizeof *p->workers);
    if (!p->workers || !make_proxies(p)) {
        fputs("[ALERT]    pawld: not enough memory for this configuration\n", stderr);
        return 1;
    }
    unsigned n = 0;
    for (; n < p->nworkers; n++) {
        int r = worker_init(&p->workers[n], p, n);
        if (r < 0) {
            fprintf(stderr, "[ALERT]    pawld: cannot set up thread %u: %s\n", n + 1, strerror(-r));
            n++;
            goto out;
        }
    }
    if (listeners_open(p) == 0) {
        status = run_workers(p, &set);
    }
out:
    while (n--) {
        worker_free(&p->workers[n]);
    }
    for (size_t i = 0; i < p->nbackends; i++) {
        bal_backend_free(&p->backends[i].bal);
    }
    free(p->frontends);
    free(p->backends);
    free(p->workers);
    return status;
}
