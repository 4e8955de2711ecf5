#include "sim/suite.h"

#include "base/clock.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct sim_wish sim_no_wish = {-1, UINT64_MAX, UINT64_MAX, UINT_MAX, UINT_MAX, UINT_MAX, UINT_MAX};

const struct sim_lock *const sim_locks[SIM_LOCKS] = {&sim_lock_32, &sim_lock_64, &sim_lock_32_spin,
                                                     &sim_lock_64_spin};

const struct sim_lock *sim_lock_find(const char *name)
{
    for (size_t i = 0; i < SIM_LOCKS; i++) {
        if (!strcmp(sim_locks[i]->name, name)) {
            return sim_locks[i];
        }
    }
    return NULL;
}

/* What each operation needs before it, and whether it is of S and W or of the multiple-writer protocol: these
 * two do not go together on one lock (docs/lock.md). */
enum family { ANY, SEEK_WRITE, PROTOCOL, ATOMIC_CLAIM };

static const struct operation {
    enum family family;
    const char *text;
} operations[] = {
    {ANY, "read_lock"},
    {ANY, "read_trylock"},
    {ANY, "read_lock_until"},
    {SEEK_WRITE, "seek_lock"},
    {SEEK_WRITE, "seek_trylock"},
    {SEEK_WRITE, "seek_lock_until"},
    {SEEK_WRITE, "write_lock"},
    {SEEK_WRITE, "write_trylock"},
    {SEEK_WRITE, "write_lock_until"},
    {ANY, "atomic_lock"},
    {ANY, "atomic_trylock"},
    {ANY, "atomic_lock_until"},
    {ANY, "atomic_lock atomic_to_read"},
    {ANY, "join_lock"},
    {ANY, "join_trylock"},
    {ANY, "join_lock_until"},
    {SEEK_WRITE, "seek_lock seek_to_write"},
    {SEEK_WRITE, "seek_lock seek_to_write_until"},
    {SEEK_WRITE, "seek_lock seek_to_read"},
    {SEEK_WRITE, "write_lock write_to_seek"},
    {SEEK_WRITE, "write_lock write_to_read"},
    {SEEK_WRITE, "read_lock read_try_to_seek"},
    {SEEK_WRITE, "read_lock read_try_to_write"},
    {ANY, "read_lock read_try_to_atomic"},
    {SEEK_WRITE, "read_lock read_to_write_until"},
    {PROTOCOL, "read_lock read_to_join"},
    {PROTOCOL, "read_lock read_to_claim"},
    {PROTOCOL, "read_lock read_to_join join_to_claim"},
    {PROTOCOL, "read_lock read_to_claim claim_to_atomic"},
    {PROTOCOL, "atomic_lock atomic_to_join"},
    {SEEK_WRITE, "write_claim"},
    {ATOMIC_CLAIM, "atomic_claim"},
    {ANY, "join_claim"},
    {SEEK_WRITE, "read_lock read_claim_write"},
    {ATOMIC_CLAIM, "read_lock read_claim_atomic"},
    {ATOMIC_CLAIM, "read_lock read_claim_atomic atomic_to_read"},
};
#define COUNT(a)   (sizeof(a) / sizeof *(a))
#define OPERATIONS COUNT(operations)

static bool go_together(enum family a, enum family b)
{
    return !(a == PROTOCOL && (b == SEEK_WRITE || b == ATOMIC_CLAIM)) &&
           !(b == PROTOCOL && (a == SEEK_WRITE || a == ATOMIC_CLAIM));
}

bool sim_jobs_add_program(struct sim_jobs *jobs, const struct sim_program *program,
                          const struct sim_lock *lock, const struct sim_options *options)
{
    if (jobs->n == jobs->room) {
        size_t room = jobs->room ? jobs->room * 2 : 64;
        struct sim_job *more = realloc(jobs->job, room * sizeof *more);
        if (!more) {
            return false;
        }
        jobs->job = more;
        jobs->room = room;
    }
    jobs->job[jobs->n++] =
        (struct sim_job){.suite = "", .lock = lock, .program = *program, .options = *options};
    return true;
}

static bool add(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock,
                const char *text, struct sim_bounds bounds, const struct sim_options *options)
{
    char error[200];
    struct sim_program p;
    if (sim_program_read(&p, text, error, sizeof error) < 0) {
        abort(); /* the texts are ours */
    }
    p.bounds = bounds;
    if (!sim_jobs_add_program(jobs, &p, lock, options)) {
        return false;
    }
    jobs->job[jobs->n - 1].suite = suite->name;
    return true;
}

static bool add_pairs(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock,
                      struct sim_bounds bounds, const struct sim_options *options)
{
    for (size_t a = 0; a < OPERATIONS; a++) {
        for (size_t b = a; b < OPERATIONS; b++) {
            char text[200];
            snprintf(text, sizeof text, "%s | %s", operations[a].text, operations[b].text);
            if (go_together(operations[a].family, operations[b].family) &&
                !add(jobs, suite, lock, text, bounds, options)) {
                return false;
            }
        }
    }
    return true;
}

static const struct sim_options all = {.mode = SIM_ALL, .seed = 1};

static bool fill_pairs(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock)
{
    return add_pairs(jobs, suite, lock, (struct sim_bounds){.leaps = 1, .sleeps = 2}, &all);
}

static bool fill_triples(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock)
{
    static const char *const kinds[] = {
        "read_lock",   "write_lock",      "seek_lock seek_to_write", "read_lock read_try_to_write",
        "atomic_lock", "write_lock_until"};
    enum { N = sizeof kinds / sizeof *kinds };
    for (size_t a = 0; a < N; a++) {
        for (size_t b = a; b < N; b++) {
            for (size_t c = b; c < N; c++) {
                char text[200];
                snprintf(text, sizeof text, "%s | %s | %s", kinds[a], kinds[b], kinds[c]);
                if (!add(jobs, suite, lock, text,
                         (struct sim_bounds){.leaps = 1, .sleeps = 1, .patient = true}, &all)) {
                    return false;
                }
            }
        }
    }
    return true;
}

static bool add_texts(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock,
                      const char *const *texts, size_t n, struct sim_bounds bounds,
                      const struct sim_options *options)
{
    for (size_t i = 0; i < n; i++) {
        if (!add(jobs, suite, lock, texts[i], bounds, options)) {
            return false;
        }
    }
    return true;
}

/* What reads without counting first, so that unlock_any knows what is held; and the questions. */
static bool fill_exact(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock)
{
    static const char *const texts[] = {
        "read_lock_exact unlock_any | write_lock unlock_any",
        "read_lock_exact unlock_any | read_lock_exact unlock_any",
        "read_lock_exact unlock_any | read_lock_exact unlock_any | write_lock unlock_any",
        "read_lock_exact unlock_any | write_lock write_to_read unlock_any",
        "read_lock is_held | write_lock is_held",
        "read_lock is_held | seek_lock is_held",
        "read_lock is_held | atomic_lock is_held",
        "read_lock read_to_join is_held | read_lock is_held",
        "seek_lock is_held seek_to_write is_held | read_lock is_held",
        /* What is given down lets in who waits, though the rest is held until that one is in. */
        "write_lock write_to_seek await | read_lock signal",
        "write_lock write_to_read await | read_lock signal",
        "write_lock write_to_read await | seek_lock signal",
        "seek_lock seek_to_read await | seek_lock signal",
        "seek_lock await | read_lock signal",
        "atomic_lock await | atomic_lock signal",
        "read_lock await | read_lock signal",
        "read_lock read_try_to_atomic await | atomic_lock signal",
        "atomic_lock atomic_to_read await | read_lock signal",
        "write_lock is_held | write_lock is_held",
        "seek_lock is_held | seek_lock is_held",
    };
    return add_texts(jobs, suite, lock, texts, COUNT(texts),
                     (struct sim_bounds){.leaps = 1, .sleeps = 1, .patient = true}, &all);
}

static bool fill_four(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock)
{
    static const char *const texts[] = {
        "write_trylock | write_trylock | write_trylock | read_trylock",
        "read_trylock | read_trylock | write_trylock | atomic_trylock",
        "read_lock | read_lock | read_trylock | write_trylock",
        "atomic_trylock | atomic_trylock | atomic_trylock | read_trylock",
        "seek_trylock | seek_trylock | read_trylock | write_trylock",
        "read_lock read_try_to_write | read_trylock | read_trylock | write_trylock",
        "read_lock read_try_to_seek | read_lock read_try_to_seek | read_trylock | seek_trylock",
        "read_lock read_try_to_atomic | atomic_trylock | atomic_trylock | read_trylock",
        "seek_trylock seek_to_write | read_trylock | read_trylock | write_trylock",
    };
    return add_texts(jobs, suite, lock, texts, COUNT(texts), (struct sim_bounds){0}, &all);
}

static const char *const few[] = {
    "write_lock unlock write_lock | write_lock unlock read_lock | read_lock unlock write_lock",
    "seek_lock seek_to_write write_to_seek seek_to_read | write_lock | read_lock | seek_lock",
    "seek_lock seek_to_write_until | read_lock | atomic_lock | write_lock_until",
    "seek_lock await | write_lock | read_lock signal",
    "atomic_lock atomic_to_read | atomic_lock atomic_to_read | write_lock",
    "write_lock unlock signal | write_lock | write_lock | await read_lock",
    "write_lock unlock write_lock | write_lock | write_lock | write_lock",
    "read_lock read_to_write_until | read_lock read_try_to_seek | write_lock | read_lock_until",
    "read_lock read_try_to_atomic unlock | atomic_lock unlock atomic_lock | write_lock | read_lock",
    ("read_lock read_to_claim claim_to_atomic atomic_to_read | read_lock read_to_claim claim_to_atomic | "
     "join_lock | read_lock"),
};

static const char *const eight[] = {
    ("write_lock | write_lock | write_lock | write_lock | read_lock | read_lock | atomic_lock | seek_lock "
     "seek_to_write"),
    ("write_lock_until | read_lock_until | atomic_lock_until | seek_lock_until | write_lock | read_lock | "
     "atomic_lock | seek_lock"),
    ("read_lock | read_lock | read_lock | read_lock unlock write_lock | read_lock | seek_lock seek_to_write "
     "| "
     "write_lock "
     "| write_lock_until"),
    ("join_lock_until | join_lock | join_lock | read_lock | read_lock_until | atomic_lock | "
     "atomic_lock_until "
     "| join_lock"),
};

/* Readers that sleep behind one that is due are let in beside S, by the one that is due, once its time has
 * come: by a time-out, here. */
static const char *const late[] = {
    "write_lock write_to_seek await | write_lock | read_lock signal",
    "write_lock write_to_seek await | atomic_lock | read_lock signal",
    "write_lock write_to_seek await | join_lock | read_lock signal",
    "write_lock write_to_seek await | seek_lock | read_lock signal | read_lock",
};

static const struct sim_bounds many_bounds = {.leaps = 1, .sleeps = 3};

static bool fill_random(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock)
{
    struct sim_options o = {.mode = SIM_RANDOM, .executions = 20000, .seed = 1};
    return add_texts(jobs, suite, lock, few, COUNT(few), many_bounds, &o) &&
           add_texts(jobs, suite, lock, eight, COUNT(eight), many_bounds, &o);
}

static bool fill_timeouts(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock)
{
    struct sim_options o = {.mode = SIM_RANDOM, .executions = 20000, .seed = 1};
    return add_texts(jobs, suite, lock, late, COUNT(late),
                     (struct sim_bounds){.leaps = 1, .sleeps = 3, .timeouts = true}, &o);
}

static bool fill_pct(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock)
{
    struct sim_options o = {.mode = SIM_PCT, .executions = 10000, .seed = 1, .changes = 3, .steps = 150};
    return add_texts(jobs, suite, lock, few, COUNT(few), many_bounds, &o);
}

/* 10^5 in all: as many for each of the four programs and the two locks. */
static bool fill_eight(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock)
{
    struct sim_options o = {.mode = SIM_PCT, .executions = 12500, .seed = 1, .changes = 3, .steps = 300};
    return add_texts(jobs, suite, lock, eight, COUNT(eight), many_bounds, &o);
}

/* Sleeps that end for no reason, or by a signal. */
static bool fill_interruptions(struct sim_jobs *jobs, const struct sim_suite *suite,
                               const struct sim_lock *lock)
{
    struct sim_options o = {.mode = SIM_RANDOM, .executions = 500, .seed = 1};
    struct sim_bounds bounds = {.leaps = 1, .sleeps = 4, .interruptions = 2};
    bool added = add_pairs(jobs, suite, lock, bounds, &o);
    o.executions = 5000;
    return added && add_texts(jobs, suite, lock, few, COUNT(few), bounds, &o) &&
           add_texts(jobs, suite, lock, eight, COUNT(eight), bounds, &o);
}

static const struct sim_suite suites[] = {
    {"pairs", "two threads, every pair of operations, all executions", false, false, fill_pairs},
    {"triples", "three threads, R, W, S->W, R->W, A, W until, all executions", false, true, fill_triples},
    {"exact", "readers that count themselves once they are in; questions", false, false, fill_exact},
    {"four", "four threads that do not sleep, all executions", true, false, fill_four},
    {"interruptions", "sleeps that end for no reason or by a signal, at random", false, false,
     fill_interruptions},
    {"random", "up to eight threads, at random", false, false, fill_random},
    {"timeouts", "who sleeps behind one that is due, beside S, at random", false, false, fill_timeouts},
    {"pct", "up to four threads, by priorities that change (PCT)", false, false, fill_pct},
    {"eight", "eight threads, PCT", false, false, fill_eight},
};

const struct sim_suite *sim_suites(size_t *n)
{
    *n = sizeof suites / sizeof *suites;
    return suites;
}

const struct sim_suite *sim_suite_find(const char *name)
{
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++) {
        if (!strcmp(suites[i].name, name)) {
            return &suites[i];
        }
    }
    return NULL;
}

static void apply(struct sim_job *job, const struct sim_wish *w)
{
    struct sim_options *o = &job->options;
    struct sim_bounds *b = &job->program.bounds;
    o->mode = w->mode >= 0 ? (enum sim_mode)w->mode : o->mode;
    o->executions = w->executions != UINT64_MAX ? w->executions : o->executions;
    o->seed = w->seed != UINT64_MAX ? w->seed : o->seed;
    o->changes = w->changes != UINT_MAX ? w->changes : o->changes;
    b->leaps = w->leaps != UINT_MAX ? w->leaps : b->leaps;
    b->sleeps = w->sleeps != UINT_MAX ? w->sleeps : b->sleeps;
    b->interruptions = w->interruptions != UINT_MAX ? w->interruptions : b->interruptions;
}

bool sim_jobs_add(struct sim_jobs *jobs, const struct sim_suite *suite, const struct sim_lock *lock,
                  const struct sim_wish *wish)
{
    size_t from = jobs->n;
    if (suite->spin == lock->sleeps) {
        return true;
    }
    bool added = suite->fill(jobs, suite, lock);
    for (size_t i = from; i < jobs->n; i++) {
        apply(&jobs->job[i], wish);
    }
    return added;
}

void sim_jobs_free(struct sim_jobs *jobs)
{
    free(jobs->job);
    *jobs = (struct sim_jobs){NULL, 0, 0};
}

struct watch {
    struct sim_job *job;
    const volatile sig_atomic_t *stop;
    void (*tick)(const struct sim_job *job, void *arg);
    void *arg;
    int64_t began;
};

static bool looks(const struct sim_result *so_far, void *arg)
{
    struct watch *w = arg;
    w->job->result = *so_far;
    w->job->seconds = (double)(base_now_ns() - w->began) / 1e9;
    if (w->tick) {
        w->tick(w->job, w->arg);
    }
    return *w->stop;
}

bool sim_job_run(struct sim_job *job, struct sim_graph *g, const volatile sig_atomic_t *stop,
                 void (*tick)(const struct sim_job *job, void *arg), void *arg)
{
    struct watch w = {job, stop, tick, arg, base_now_ns()};
    struct sim_case c = sim_lock_case(job->lock, &job->program, job->suite);
    struct sim_options o = job->options;
    o.stop = looks;
    o.stop_arg = &w;
    struct sim_result r = sim_explore(&c, &o, g);
    looks(&r, &w);
    job->done = !*stop || r.verdict != SIM_FINE;
    return job->done;
}
