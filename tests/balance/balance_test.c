/* The balancer's shared state without any network: round robin, slots, queue, idle connections; with one
 * thread, where every step is known, and with many, where only the invariants are. */
#include "balance/balance.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void make(struct bal_backend *b, unsigned n, const unsigned *weights, unsigned maxconn,
                 unsigned threads)
{
    assert_true(bal_backend_init(b, n, threads));
    for (unsigned i = 0; i < n; i++) {
        b->servers[i].weight = weights ? weights[i] : 1;
        b->servers[i].maxconn = maxconn;
    }
    assert_true(bal_backend_start(b));
}

/* --- round robin --- */

static void equal_weights_take_turns(void **state)
{
    (void)state;
    struct bal_backend b;
    make(&b, 4, NULL, 0, 1);
    for (unsigned k = 0; k < 400; k++) {
        struct bal_waiter w = {0};
        assert_int_equal(bal_acquire(&b, &w, NULL), BAL_PICKED);
        assert_int_equal(w.server->index, k % 4);
        assert_null(bal_release(w.server));
    }
    bal_backend_free(&b);
}

static void weights_are_exact_in_every_period_and_spread_smoothly(void **state)
{
    (void)state;
    const unsigned weights[] = {50, 10, 10}; /* a period of seven: a a b a c a a */
    struct bal_backend b;
    make(&b, 3, weights, 0, 1);
    unsigned run = 0, last = 3;
    for (unsigned period = 0; period < 20; period++) {
        unsigned got[3] = {0};
        for (unsigned k = 0; k < 7; k++) {
            struct bal_waiter w = {0};
            assert_int_equal(bal_acquire(&b, &w, NULL), BAL_PICKED);
            got[w.server->index]++;
            run = w.server->index == last ? run + 1 : 1;
            last = w.server->index;
            assert_true(run <= 4);
            bal_release(w.server);
        }
        assert_int_equal(got[0], 5);
        assert_int_equal(got[1], 1);
        assert_int_equal(got[2], 1);
    }
    bal_backend_free(&b);
}

static void a_server_of_weight_zero_gets_nothing(void **state)
{
    (void)state;
    const unsigned weights[] = {1, 0, 1}, none[] = {0, 0};
    struct bal_backend b;
    make(&b, 3, weights, 0, 1);
    for (unsigned k = 0; k < 100; k++) {
        struct bal_waiter w = {0};
        assert_int_equal(bal_acquire(&b, &w, NULL), BAL_PICKED);
        assert_int_not_equal(w.server->index, 1);
        bal_release(w.server);
    }
    bal_backend_free(&b);
    struct bal_waiter w = {0};
    make(&b, 2, none, 0, 1);
    assert_int_equal(bal_acquire(&b, &w, NULL), BAL_NOBODY);
    bal_backend_free(&b);
    make(&b, 0, NULL, 0, 1);
    assert_int_equal(bal_acquire(&b, &w, NULL), BAL_NOBODY);
    bal_backend_free(&b);
}

static void a_full_server_is_passed_over(void **state)
{
    (void)state;
    struct bal_backend b;
    struct bal_waiter w[6] = {0};
    make(&b, 2, NULL, 0, 1);
    b.servers[0].maxconn = 1;
    for (unsigned k = 0; k < 6; k++) {
        assert_int_equal(bal_acquire(&b, &w[k], NULL), BAL_PICKED);
    }
    assert_int_equal(atomic_load(&b.servers[0].served), 1);
    assert_int_equal(atomic_load(&b.servers[1].served), 5);
    bal_backend_free(&b);
}

/* --- queue, step by step --- */

static void queued_requests_are_served_in_order_of_arrival(void **state)
{
    (void)state;
    struct bal_backend b;
    struct bal_waiter w[5] = {0};
    make(&b, 1, NULL, 2, 1);
    assert_int_equal(bal_acquire(&b, &w[0], NULL), BAL_PICKED);
    assert_int_equal(bal_acquire(&b, &w[1], NULL), BAL_PICKED);
    for (unsigned k = 2; k < 5; k++) {
        assert_int_equal(bal_acquire(&b, &w[k], NULL), BAL_QUEUED);
    }
    for (unsigned k = 2; k < 5; k++) {
        assert_ptr_equal(bal_release(&b.servers[0]), &w[k]);
        assert_ptr_equal(w[k].server, &b.servers[0]);
        assert_int_equal(atomic_load(&b.servers[0].served), 2);
        assert_false(bal_passed(&w[k]));
        assert_true(bal_settled(&w[k]));
    }
    assert_null(bal_release(&b.servers[0]));
    assert_null(bal_release(&b.servers[0]));
    assert_int_equal(atomic_load(&b.servers[0].served), 0);
    bal_backend_free(&b);
}

static void who_leaves_the_queue_gives_its_place_back(void **state)
{
    (void)state;
    struct bal_backend b;
    struct bal_waiter w[4] = {0};
    make(&b, 1, NULL, 1, 1);
    assert_int_equal(bal_acquire(&b, &w[0], NULL), BAL_PICKED);
    for (unsigned k = 1; k < 4; k++) {
        assert_int_equal(bal_acquire(&b, &w[k], NULL), BAL_QUEUED);
    }
    assert_true(bal_leave(&b, &w[1]));
    assert_false(bal_leave(&b, &w[1]));
    assert_ptr_equal(bal_release(&b.servers[0]), &w[2]);
    assert_false(bal_leave(&b, &w[2])); /* it has a slot now */
    assert_true(bal_leave(&b, &w[3]));
    bal_told(&w[2]);
    assert_null(bal_release(&b.servers[0]));
    assert_int_equal(bal_acquire(&b, &w[1], NULL), BAL_PICKED);
    bal_backend_free(&b);
}

static void an_owner_that_asks_while_being_passed_a_slot_is_told(void **state)
{
    (void)state;
    struct bal_backend b;
    struct bal_waiter a = {0}, w = {0};
    make(&b, 1, NULL, 1, 1);
    bal_acquire(&b, &a, NULL);
    assert_int_equal(bal_acquire(&b, &w, NULL), BAL_QUEUED);
    assert_ptr_equal(bal_release(&b.servers[0]), &w);
    assert_false(bal_settled(&w));
    assert_false(bal_settled(&w));
    assert_true(bal_passed(&w));
    assert_false(bal_settled(&w)); /* until it has been told */
    bal_told(&w);
    assert_true(bal_settled(&w));
    bal_backend_free(&b);
}

static void a_bound_request_waits_for_its_server_and_the_older_goes_first(void **state)
{
    (void)state;
    struct bal_backend b;
    struct bal_waiter held[2] = {0}, bound = {0}, any = {0}, bound2 = {0};
    make(&b, 2, NULL, 1, 1);
    bal_acquire(&b, &held[0], NULL);
    bal_acquire(&b, &held[1], NULL);
    assert_int_equal(bal_acquire(&b, &bound, &b.servers[1]), BAL_QUEUED);
    assert_int_equal(bal_acquire(&b, &any, NULL), BAL_QUEUED);
    assert_int_equal(bal_acquire(&b, &bound2, &b.servers[1]), BAL_QUEUED);
    assert_ptr_equal(bal_release(&b.servers[1]), &bound);
    assert_ptr_equal(bal_release(&b.servers[1]), &any);
    assert_null(bal_release(&b.servers[0]));
    assert_ptr_equal(bal_release(&b.servers[1]), &bound2);
    bal_backend_free(&b);
}

static void another_server_is_found_for_a_request_whose_own_failed(void **state)
{
    (void)state;
    struct bal_backend b;
    make(&b, 3, NULL, 1, 1);
    struct bal_server *s = bal_acquire_other(&b, &b.servers[0]);
    assert_non_null(s);
    assert_ptr_not_equal(s, &b.servers[0]);
    struct bal_server *t = bal_acquire_other(&b, &b.servers[0]);
    assert_non_null(t);
    assert_ptr_not_equal(t, &b.servers[0]);
    assert_ptr_not_equal(t, s);
    assert_null(bal_acquire_other(&b, &b.servers[0]));
    bal_backend_free(&b);
}

/* --- idle connections --- */

static bool always(const struct bal_idle_link *c, const void *arg)
{
    (void)c;
    (void)arg;
    return true;
}

static void idle_connections_are_taken_last_used_first_own_before_others(void **state)
{
    (void)state;
    struct bal_backend b;
    struct bal_idle_link c[4] = {0};
    unsigned owner = 9;
    make(&b, 1, NULL, 0, 3);
    struct bal_server *s = &b.servers[0];
    assert_null(bal_idle_take(s, 0, &owner));
    bal_idle_put(s, 0, &c[0]);
    bal_idle_put(s, 0, &c[1]);
    bal_idle_put(s, 2, &c[2]);
    bal_idle_put(s, 2, &c[3]);
    assert_ptr_equal(bal_idle_take(s, 0, &owner), &c[1]);
    assert_int_equal(owner, 0);
    assert_ptr_equal(bal_idle_take(s, 0, &owner), &c[0]);
    assert_ptr_equal(bal_idle_take(s, 0, &owner), &c[3]);
    assert_int_equal(owner, 2);
    assert_false(bal_idle_remove(s, 2, &c[3]));
    assert_false(bal_idle_remove(s, 0, &c[2]));
    assert_ptr_equal(bal_idle_expire(s, 2, always, NULL), &c[2]);
    assert_null(bal_idle_expire(s, 2, always, NULL));
    assert_int_equal(atomic_load(&s->nidle), 0);
    bal_backend_free(&b);
}

/* --- many threads --- */

#define THREADS 8

struct crowd {
    struct bal_backend b;
    _Atomic(int) inside[4], most[4];
    _Atomic(unsigned) next, left, served[4];
    unsigned maxconn, rounds;
    bool leave;
};

struct request {
    struct bal_waiter w;
    _Atomic(int) told;
};

static void enter(struct crowd *c, unsigned s)
{
    int n = atomic_fetch_add(&c->inside[s], 1) + 1, most = atomic_load(&c->most[s]);
    while (n > most && !atomic_compare_exchange_weak(&c->most[s], &most, n)) {
    }
    atomic_fetch_add(&c->served[s], 1);
}

/* Gives the slot back and passes it on as the balancer does. */
static void finish(struct crowd *c, struct bal_server *s)
{
    atomic_fetch_sub(&c->inside[s->index], 1);
    struct bal_waiter *w = bal_release(s);
    if (w) {
        struct request *r = (struct request *)(void *)((char *)w - offsetof(struct request, w));
        if (bal_passed(w)) {
            atomic_store(&r->told, 1);
        }
    }
}

static void wait_turn(struct request *r)
{
    while (!bal_settled(&r->w)) {
        while (!atomic_load(&r->told)) {
            sched_yield();
        }
        bal_told(&r->w);
    }
}

static void *worker(void *arg)
{
    struct crowd *c = arg;
    unsigned seed = atomic_fetch_add(&c->next, 1) * 7919u + 1;
    for (unsigned k = 0; k < c->rounds; k++) {
        struct request r = {0};
        seed = seed * 1103515245u + 12345u;
        struct bal_server *bound =
            c->maxconn && (seed >> 20) % 8 == 0 ? &c->b.servers[(seed >> 16) % 4] : NULL;
        if (bal_acquire(&c->b, &r.w, bound) == BAL_QUEUED) {
            if (c->leave && (seed >> 8) % 4 == 0 && bal_leave(&c->b, &r.w)) {
                atomic_fetch_add(&c->left, 1);
                continue;
            }
            while (atomic_load(&r.w.state) == BAL_WAIT_QUEUED) {
                sched_yield();
            }
            wait_turn(&r);
        }
        if (bound) {
            assert_ptr_equal(r.w.server, bound);
        }
        enter(c, r.w.server->index);
        if ((seed >> 12) % 4 == 0) {
            sched_yield();
        }
        finish(c, r.w.server);
    }
    return NULL;
}

static void crowd(struct crowd *c)
{
    pthread_t t[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&t[i], NULL, worker, c), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(t[i], NULL);
    }
}

static void four_thousand_requests_of_eight_threads_are_a_thousand_each(void **state)
{
    (void)state;
    static struct crowd c;
    memset(&c, 0, sizeof c);
    c.rounds = 4000 / THREADS;
    make(&c.b, 4, NULL, 0, THREADS);
    crowd(&c);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(atomic_load(&c.served[i]), 1000);
    }
    bal_backend_free(&c.b);
}

static void never_more_than_maxconn_and_every_slot_comes_back(void **state)
{
    (void)state;
    for (unsigned maxconn = 1; maxconn <= 2; maxconn++) {
        static struct crowd c;
        memset(&c, 0, sizeof c);
        c.maxconn = maxconn;
        c.rounds = 4000;
        c.leave = true;
        make(&c.b, 4, NULL, maxconn, THREADS);
        crowd(&c);
        unsigned served = 0;
        for (unsigned i = 0; i < 4; i++) {
            assert_true(atomic_load(&c.most[i]) <= (int)maxconn);
            assert_int_equal(atomic_load(&c.b.servers[i].served), 0);
            assert_int_equal(atomic_load(&c.b.servers[i].nbound), 0);
            served += atomic_load(&c.served[i]);
        }
        assert_int_equal(atomic_load(&c.b.nqueued), 0);
        assert_int_equal(served + atomic_load(&c.left), THREADS * c.rounds);
        bal_backend_free(&c.b);
    }
}

/* Threads that pass connections about, so that each takes from the others' lists. */
static struct bal_backend idle_backend;
static struct bal_idle_link idle_conns[16];
static _Atomic(int) in_use[16];

static void *idler(void *arg)
{
    unsigned me = (unsigned)(uintptr_t)arg, owner;
    struct bal_server *s = &idle_backend.servers[0];
    for (int k = 0; k < 20000; k++) {
        struct bal_idle_link *c = bal_idle_take(s, me, &owner);
        if (c) {
            assert_int_equal(atomic_fetch_add(&in_use[c - idle_conns], 1), 0);
            assert_int_equal(atomic_fetch_sub(&in_use[c - idle_conns], 1), 1);
            bal_idle_put(s, me, c);
        }
        c = &idle_conns[(unsigned)k % 16];
        if (bal_idle_remove(s, me, c)) { /* as the poller does when a server closes it */
            assert_int_equal(atomic_fetch_add(&in_use[c - idle_conns], 1), 0);
            assert_int_equal(atomic_fetch_sub(&in_use[c - idle_conns], 1), 1);
            bal_idle_put(s, me, c);
        }
    }
    return NULL;
}

static void an_idle_connection_is_never_given_to_two(void **state)
{
    (void)state;
    pthread_t t[4];
    make(&idle_backend, 1, NULL, 0, 4);
    for (unsigned i = 0; i < 16; i++) {
        bal_idle_put(&idle_backend.servers[0], i % 4, &idle_conns[i]);
    }
    for (uintptr_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_create(&t[i], NULL, idler, (void *)i), 0);
    }
    for (unsigned i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
    }
    assert_int_equal(atomic_load(&idle_backend.servers[0].nidle), 16);
    bal_backend_free(&idle_backend);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_weights_take_turns),
        cmocka_unit_test(weights_are_exact_in_every_period_and_spread_smoothly),
        cmocka_unit_test(a_server_of_weight_zero_gets_nothing),
        cmocka_unit_test(a_full_server_is_passed_over),
        cmocka_unit_test(queued_requests_are_served_in_order_of_arrival),
        cmocka_unit_test(who_leaves_the_queue_gives_its_place_back),
        cmocka_unit_test(an_owner_that_asks_while_being_passed_a_slot_is_told),
        cmocka_unit_test(a_bound_request_waits_for_its_server_and_the_older_goes_first),
        cmocka_unit_test(another_server_is_found_for_a_request_whose_own_failed),
        cmocka_unit_test(idle_connections_are_taken_last_used_first_own_before_others),
        cmocka_unit_test(four_thousand_requests_of_eight_threads_are_a_thousand_each),
        cmocka_unit_test(never_more_than_maxconn_and_every_slot_comes_back),
        cmocka_unit_test(an_idle_connection_is_never_given_to_two),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
