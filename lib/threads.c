/* What each thread holds, and its counters' home. A thread's record is made at its first watched operation
 * and goes to the next new thread when it ends, its counts with it. */
#include "internal.h"

#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static __thread struct {
    struct lib_thread *self;
    volatile sig_atomic_t busy; /* inside the library: what a signal handler does now is not recorded */
    int endings;
} mine __attribute__((tls_model("initial-exec")));

static struct lib_thread *threads;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool have_key;

/* Destructors of other keys may still use locks: waits for the last round but one (the last is where the
 * thread sanitizer ends, whose functions this needs). */
static void thread_ends(void *t_)
{
    struct lib_thread *t = t_;
    if (++mine.endings < PTHREAD_DESTRUCTOR_ITERATIONS - 1 && !pthread_setspecific(key, t)) {
        return;
    }
    if (!t || pawl_lib_enter() != t) {
        return;
    }
    for (unsigned i = 0; i < t->depth; i++) {
        if (t->holds[i].mode & PAWL_WATCH_DEBUG) {
            pawl_lib_fault_thread_ends(t, &t->holds[i]);
        }
    }
    pawl_lib_lock();
    mine.self = NULL;
    mine.endings = 0;
    t->in_use = false;
    pawl_lib_unlock();
    pawl_lib_leave();
}

static void before_fork(void)
{
    if (!mine.busy) {
        pawl_lib_lock();
    }
}

static void after_fork_in_parent(void)
{
    if (!mine.busy) {
        pawl_lib_unlock();
    }
}

/* Only the calling thread lives on, with what it holds. */
static void after_fork_in_child(void)
{
    for (struct lib_thread *t = threads; t; t = t->next) {
        if (t != mine.self) {
            t->in_use = false;
        } else {
            t->id = gettid();
        }
    }
    after_fork_in_parent();
}

static void first_use(void)
{
    have_key = !pthread_key_create(&key, thread_ends);
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

static struct lib_thread *thread_starts(void)
{
    pthread_once(&once, first_use);
    pawl_lib_lock();
    struct lib_thread *t = threads;
    while (t && t->in_use) {
        t = t->next;
    }
    if (!t && (t = pawl_lib_alloc(sizeof *t))) {
        t->next = threads;
        lib_set_rel(&threads, t);
    }
    if (t) {
        t->in_use = true;
        t->depth = t->unlisted = 0;
        t->id = gettid();
        mine.self = t;
    }
    pawl_lib_unlock();
    if (t && have_key) {
        pthread_setspecific(key, t);
    }
    return t;
}

struct lib_thread *pawl_lib_enter(void)
{
    if (mine.busy) {
        lib_count_loss(nested);
        return NULL;
    }
    mine.busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct lib_thread *t = mine.self ? mine.self : thread_starts();
    if (!t) {
        pawl_lib_leave();
    }
    return t;
}

void pawl_lib_leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    mine.busy = 0;
}

struct lib_thread *pawl_lib_threads(void)
{
    return lib_get_acq(&threads);
}

struct lib_hold *pawl_lib_held(struct lib_thread *t, const void *lock, unsigned state)
{
    for (unsigned i = t->depth; i-- > 0;) {
        if (t->holds[i].address == (uintptr_t)lock && (state == PAWL_STATES || t->holds[i].state == state)) {
            return &t->holds[i];
        }
    }
    return NULL;
}

void pawl_lib_drop(struct lib_thread *t, struct lib_hold *hold)
{
    size_t behind = (size_t)(t->holds + t->depth - hold) - 1;
    memmove(hold, hold + 1, behind * sizeof *hold);
    t->depth--;
}
