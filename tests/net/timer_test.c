/* The timer wheel against a plain list: every timer fires once, not early, and not later than the first look
 * after it was due; whatever was armed again or stopped in between. */
#include "net/timer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct net_wheel wheel;

static void a_timer_fires_when_it_is_due_and_not_before(void **state)
{
    (void)state;
    const uint64_t delays[] = {1, 2, 63, 64, 65, 4095, 4096, 4097, 30000, 3600000};
    for (size_t i = 0; i < sizeof delays / sizeof *delays; i++) {
        struct net_timer t = {0};
        net_wheel_init(&wheel, 1000);
        net_timer_arm(&wheel, &t, 1000 + delays[i]);
        uint64_t now = 1000;
        while (now < 1000 + delays[i]) {
            int wait = net_wheel_wait(&wheel, now);
            assert_true(wait >= 0);
            assert_null(net_timer_expired(&wheel, now));
            now += wait ? (uint64_t)wait : 1;
            assert_true(now <= 1000 + delays[i]);
            if (now < 1000 + delays[i]) {
                assert_null(net_timer_expired(&wheel, now));
            }
        }
        assert_ptr_equal(net_timer_expired(&wheel, now), &t);
        assert_null(net_timer_expired(&wheel, now));
        assert_int_equal(net_wheel_wait(&wheel, now), -1);
    }
}

static void arming_again_moves_a_timer_either_way(void **state)
{
    (void)state;
    struct net_timer t = {0};
    net_wheel_init(&wheel, 5);
    net_timer_arm(&wheel, &t, 100);
    net_timer_arm(&wheel, &t, 500); /* later */
    assert_null(net_timer_expired(&wheel, 499));
    assert_ptr_equal(net_timer_expired(&wheel, 500), &t);
    net_timer_arm(&wheel, &t, 900);
    net_timer_arm(&wheel, &t, 600); /* earlier */
    assert_null(net_timer_expired(&wheel, 599));
    assert_ptr_equal(net_timer_expired(&wheel, 600), &t);
    assert_null(net_timer_expired(&wheel, 100000));
}

static void a_stopped_timer_does_not_fire(void **state)
{
    (void)state;
    struct net_timer t = {0};
    net_wheel_init(&wheel, 5);
    net_timer_arm(&wheel, &t, 10);
    net_timer_stop(&wheel, &t);
    net_timer_stop(&wheel, &t);
    assert_null(net_timer_expired(&wheel, 10000));
}

static void a_timer_in_the_past_fires_at_the_next_look(void **state)
{
    (void)state;
    struct net_timer t = {0};
    net_wheel_init(&wheel, 1000);
    net_timer_arm(&wheel, &t, 10);
    assert_ptr_equal(net_timer_expired(&wheel, 1001), &t);
}

static void random_timers_fire_exactly_once_in_time(void **state)
{
    (void)state;
    enum { N = 200 };
    static struct net_timer t[N];
    uint64_t due[N] = {0}, now = 777;
    unsigned seed = 42;
    memset(t, 0, sizeof t);
    net_wheel_init(&wheel, now);
    for (int step = 0; step < 20000; step++) {
        for (int k = 0; k < 3; k++) {
            seed = seed * 1103515245u + 12345u;
            unsigned i = (seed >> 16) % N, what = (seed >> 8) % 8;
            if (what == 0) {
                net_timer_stop(&wheel, &t[i]);
                due[i] = 0;
            } else {
                due[i] = now + 1 + (seed >> 12) % (what == 1 ? 20000 : 300);
                net_timer_arm(&wheel, &t[i], due[i]);
            }
        }
        seed = seed * 1103515245u + 12345u;
        now += (seed >> 16) % 50 == 0 ? 9000 : (seed >> 16) % 20;
        struct net_timer *e;
        while ((e = net_timer_expired(&wheel, now))) {
            size_t i = (size_t)(e - t);
            assert_true(due[i] && due[i] <= now);
            due[i] = 0;
        }
        for (unsigned i = 0; i < N; i++) {
            assert_true(!due[i] || due[i] > now);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_timer_fires_when_it_is_due_and_not_before),
        cmocka_unit_test(arming_again_moves_a_timer_either_way),
        cmocka_unit_test(a_stopped_timer_does_not_fire),
        cmocka_unit_test(a_timer_in_the_past_fires_at_the_next_look),
        cmocka_unit_test(random_timers_fire_exactly_once_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
