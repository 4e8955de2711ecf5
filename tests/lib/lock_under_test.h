/* The lock that a test program is built for: LOCK_BITS (32 or 64) picks its size, and the library's switches
 * are given to the compiler, so one source becomes many programs. Also what every lock test needs: a bound
 * against hanging, and threads that take the lock and tell when they got it. */
#ifndef LOCK_UNDER_TEST_H
#define LOCK_UNDER_TEST_H

#include "pawl/lock.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* LOCK_F(name): a function that has no name over both sizes. */
#if LOCK_BITS == 64
typedef pawl_lock64_t lock_t;
#    define LOCK_F(name) name##_64
#else
typedef pawl_lock_t lock_t;
#    define LOCK_F(name) name##_32
#endif

#ifdef PAWL_DISABLE_PARK
#    define WAITERS_SLEEP 0
#else
#    define WAITERS_SLEEP 1
#endif

/* Far above what any step takes, even emulated and on a busy machine: only against hanging. */
#define PATIENCE_MS 20000

static inline void on_alarm_(int sig)
{
    (void)sig;
    static const char text[] = "a lock test hangs: no end within its bound\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n;
    abort();
}

/* Ends the program, with a word, should it last longer than that. */
static inline void bound_program(unsigned seconds)
{
    signal(SIGALRM, on_alarm_);
    alarm(seconds);
}

static inline uint64_t clock_us(clockid_t id)
{
    struct timespec t;
    clock_gettime(id, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

static inline void nap_us(unsigned us)
{
    struct timespec t = {us / 1000000, (long)(us % 1000000) * 1000};
    nanosleep(&t, NULL);
}

/* Waits until *flag is at least `value`; false once patience is over. */
static inline bool reaches(const int *flag, int value)
{
    for (uint64_t end = clock_us(CLOCK_MONOTONIC) + PATIENCE_MS * 1000u; clock_us(CLOCK_MONOTONIC) < end;) {
        if (__atomic_load_n(flag, __ATOMIC_ACQUIRE) >= value) {
            return true;
        }
        nap_us(200);
    }
    return false;
}

/* KINDS: with J taken from outside. */
enum state { READ, SEEK, WRITE, ATOMIC, STATES, JOIN = STATES, KINDS };
static const char *const state_names[KINDS] __attribute__((unused)) = {"R", "S", "W", "A", "J"};

static inline void take(lock_t *l, enum state s)
{
    switch (s) {
    case READ:
        pawl_read_lock(l);
        break;
    case SEEK:
        pawl_seek_lock(l);
        break;
    case WRITE:
        pawl_write_lock(l);
        break;
    case ATOMIC:
        pawl_atomic_lock(l);
        break;
    default:
        pawl_join_lock(l);
        break;
    }
}

static inline bool try_take(lock_t *l, enum state s)
{
    switch (s) {
    case READ:
        return pawl_read_trylock(l);
    case SEEK:
        return pawl_seek_trylock(l);
    case WRITE:
        return pawl_write_trylock(l);
    case ATOMIC:
        return pawl_atomic_trylock(l);
    default:
        return pawl_join_trylock(l);
    }
}

static inline bool take_until(lock_t *l, enum state s, uint64_t deadline)
{
    switch (s) {
    case READ:
        return pawl_read_lock_until(l, deadline);
    case SEEK:
        return pawl_seek_lock_until(l, deadline);
    case WRITE:
        return pawl_write_lock_until(l, deadline);
    case ATOMIC:
        return pawl_atomic_lock_until(l, deadline);
    default:
        return pawl_join_lock_until(l, deadline);
    }
}

/* A deadline, so many microseconds from now; negative: past. */
static inline uint64_t in_us(int64_t us)
{
    return (clock_us(CLOCK_MONOTONIC) + (uint64_t)us) * 1000u;
}

static inline void give(lock_t *l, enum state s)
{
    switch (s) {
    case READ:
        pawl_read_unlock(l);
        break;
    case SEEK:
        pawl_seek_unlock(l);
        break;
    case WRITE:
        pawl_write_unlock(l);
        break;
    case ATOMIC:
        pawl_atomic_unlock(l);
        break;
    default:
        pawl_join_unlock(l);
        break;
    }
}

/* A thread that takes the lock in `state` (or, `upgrade`, goes from S to W), keeps it until told, and gives
 * it back. */
struct waiter {
    lock_t *lock;
    enum state state;
    bool upgrade;
    int ready;   /* S is held already, if it is to upgrade; about to ask otherwise */
    int go;      /* may ask (upgrade only) */
    int entered; /* got it */
    int leave;   /* may give it back */
    uint64_t cpu_us;
    pthread_t thread;
};

static inline void *waiter_main_(void *arg)
{
    struct waiter *w = arg;
    if (w->upgrade) {
        pawl_seek_lock(w->lock);
    }
    __atomic_store_n(&w->ready, 1, __ATOMIC_RELEASE);
    while (w->upgrade && !__atomic_load_n(&w->go, __ATOMIC_ACQUIRE)) {
        nap_us(200);
    }
    uint64_t cpu = clock_us(CLOCK_THREAD_CPUTIME_ID);
    if (w->upgrade) {
        pawl_seek_to_write(w->lock);
    } else {
        take(w->lock, w->state);
    }
    w->cpu_us = clock_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
    __atomic_store_n(&w->entered, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&w->leave, __ATOMIC_ACQUIRE)) {
        nap_us(200);
    }
    give(w->lock, w->state);
    return NULL;
}

/* Starts it; returns when it is about to ask. */
static inline void waiter_start(struct waiter *w, lock_t *l, enum state s)
{
    memset(w, 0, sizeof *w);
    w->lock = l;
    w->state = s;
    assert_int_equal(pthread_create(&w->thread, NULL, waiter_main_, w), 0);
    assert_true(reaches(&w->ready, 1));
}

/* The same with one that holds S and waits to be told to go to W (waiter_go). */
static inline void waiter_start_upgrade(struct waiter *w, lock_t *l)
{
    memset(w, 0, sizeof *w);
    w->lock = l;
    w->state = WRITE;
    w->upgrade = true;
    assert_int_equal(pthread_create(&w->thread, NULL, waiter_main_, w), 0);
    assert_true(reaches(&w->ready, 1));
}

static inline void waiter_go(struct waiter *w)
{
    __atomic_store_n(&w->go, 1, __ATOMIC_RELEASE);
}

static inline bool waiter_is_in(struct waiter *w)
{
    return __atomic_load_n(&w->entered, __ATOMIC_ACQUIRE);
}

static inline bool waiter_gets_in(struct waiter *w)
{
    return reaches(&w->entered, 1);
}

static inline void waiter_end(struct waiter *w)
{
    assert_true(waiter_gets_in(w));
    __atomic_store_n(&w->leave, 1, __ATOMIC_RELEASE);
    pthread_join(w->thread, NULL);
}

/* Long enough for a waiter that just asked to have spun out and gone to sleep, and to be due a turn. */
static inline void settle(void)
{
    nap_us(30000);
}

#endif
