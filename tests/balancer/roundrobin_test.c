/* Round robin is exact: over all threads together, by weight, and smooth. */
#include "harness.h"

#include <stdio.h>
#include <string.h>

#define MAX_SERVERS 4

static struct endpoint *servers[MAX_SERVERS];

/* A balancer over n endpoints with these weights; returns its port. */
static unsigned start(unsigned nbthread, unsigned n, const unsigned *weights, const char *options)
{
    unsigned port;

    for (unsigned i = 0; i < n; i++)
        servers[i] = endpoint_start(NULL);
    conf_common(nbthread);
    port = conf_listen("fe");
    conf_text("    balance roundrobin\n");
    for (unsigned i = 0; i < n; i++)
        conf_text("    server s%u 127.0.0.1:%u weight %u %s\n", i, ep_port(servers[i]), weights[i], options);
    balancer_start();
    return port;
}

static void check_exact(unsigned nbthread, bool reconnect, const char *options)
{
    static const unsigned weights[] = {1, 1, 1, 1};
    unsigned port = start(nbthread, 4, weights, options);
    struct load_result r = load_wait(
        load_start(&(struct load){.port = port, .clients = 40, .requests = 100, .reconnect = reconnect}));

    assert_int_equal(r.status[2], 4000);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(ep_stats(servers[i]).requests, 1000);
}

static void eight_threads_give_each_of_four_servers_the_same(void **state)
{
    (void)state;
    check_exact(8, false, "");
}

static void a_connection_for_each_request_changes_nothing(void **state)
{
    (void)state;
    check_exact(8, true, "");
}

static void a_limit_that_is_never_reached_changes_nothing(void **state)
{
    (void)state;
    check_exact(8, false, "maxconn 100");
}

static void weights_share_exactly_across_threads(void **state)
{
    static const unsigned weights[] = {5, 3, 2};
    struct load_result r;
    unsigned port;

    (void)state;
    port = start(8, 3, weights, "");
    r = load_wait(load_start(&(struct load){.port = port, .clients = 40, .requests = 50}));
    assert_int_equal(r.status[2], 2000);
    assert_int_equal(ep_stats(servers[0]).requests, 1000);
    assert_int_equal(ep_stats(servers[1]).requests, 600);
    assert_int_equal(ep_stats(servers[2]).requests, 400);
}

/* Which of n servers got the last request: the one whose count has grown. */
static unsigned chosen(unsigned n, unsigned *counts)
{
    unsigned who = n;

    for (unsigned i = 0; i < n; i++) {
        unsigned now = ep_stats(servers[i]).requests;

        if (now != counts[i])
            who = i;
        counts[i] = now;
    }
    assert_true(who < n);
    return who;
}

/* One client, one request after the other: exact counts in every period, never more than longest in a row. */
static void check_smooth(const unsigned *weights, unsigned n, unsigned longest)
{
    unsigned port = start(1, n, weights, ""), counts[MAX_SERVERS] = {0}, period = 0, last = n, run = 0;
    struct client *c = client_open(port);
    char order[256] = "";

    assert_non_null(c);
    for (unsigned i = 0; i < n; i++)
        period += weights[i];
    for (unsigned k = 0; k < 4; k++) {
        unsigned got[MAX_SERVERS] = {0};

        for (unsigned i = 0; i < period; i++) {
            assert_true(client_text(c, GET));
            assert_response(c, 200);
            unsigned who = chosen(n, counts);
            run = who == last ? run + 1 : 1;
            last = who;
            got[who]++;
            snprintf(order + strlen(order), sizeof order - strlen(order), "%c", 'a' + (int)who);
            if (run > longest)
                fail_msg("more than %u in a row: %s", longest, order);
        }
        for (unsigned i = 0; i < n; i++)
            if (got[i] != weights[i])
                fail_msg("server %u has weight %u and got %u of a period: %s", i, weights[i], got[i], order);
    }
}

static void equal_weights_take_turns(void **state)
{
    static const unsigned weights[] = {1, 1, 1, 1};

    (void)state;
    check_smooth(weights, 4, 1);
}

static void a_heavy_server_gets_no_burst(void **state)
{
    static const unsigned weights[] = {5, 1, 1};

    (void)state;
    check_smooth(weights, 3, 4);
}

static void mixed_weights_are_interleaved(void **state)
{
    static const unsigned weights[] = {3, 2, 1};

    (void)state;
    check_smooth(weights, 3, 2);
}

static void weight_0_gets_none(void **state)
{
    static const unsigned weights[] = {1, 0, 1};
    struct load_result r;
    unsigned port;

    (void)state;
    port = start(4, 3, weights, "");
    r = load_wait(load_start(&(struct load){.port = port, .clients = 10, .requests = 20}));
    assert_int_equal(r.status[2], 200);
    assert_int_equal(ep_stats(servers[0]).requests, 100);
    assert_int_equal(ep_stats(servers[1]).requests, 0);
    assert_int_equal(ep_stats(servers[1]).connections, 0);
    assert_int_equal(ep_stats(servers[2]).requests, 100);
}

static void only_weight_0_is_503(void **state)
{
    static const unsigned weights[] = {0, 0};

    (void)state;
    assert_request(start(2, 2, weights, ""), GET, 503);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        SYSTEM_TEST(eight_threads_give_each_of_four_servers_the_same),
        SYSTEM_TEST(a_connection_for_each_request_changes_nothing),
        SYSTEM_TEST(a_limit_that_is_never_reached_changes_nothing),
        SYSTEM_TEST(weights_share_exactly_across_threads),
        SYSTEM_TEST(equal_weights_take_turns),
        SYSTEM_TEST(a_heavy_server_gets_no_burst),
        SYSTEM_TEST(mixed_weights_are_interleaved),
        SYSTEM_TEST(weight_0_gets_none),
        SYSTEM_TEST(only_weight_0_is_503),
    };

    return harness_main(argc, argv, "roundrobin", tests, sizeof tests / sizeof *tests);
}
