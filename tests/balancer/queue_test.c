/* The queue before servers with maxconn: the limit holds at every moment, nobody waits while a slot is free,
 * who came first is served first, a time-out is a whole 503, and every slot comes back whatever happens to
 * its holder. */
#include "harness.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WAITING 128

/* A balancer over these endpoints, each with the limit; returns its port. */
static unsigned start(unsigned nbthread, const char *timeout_queue, unsigned limit, unsigned n,
                      struct endpoint **e)
{
    unsigned port;

    conf_common(nbthread);
    port = conf_listen("fe");
    conf_text("    balance roundrobin\n    timeout queue %s\n", timeout_queue);
    for (unsigned i = 0; i < n; i++)
        conf_text("    server s%u 127.0.0.1:%u maxconn %u\n", i, ep_port(e[i]), limit);
    balancer_start();
    return port;
}

static struct client *asking(unsigned port, const char *path)
{
    struct client *c = client_open(port);
    char text[128];

    assert_non_null(c);
    snprintf(text, sizeof text, "GET /%s HTTP/1.1\r\nHost: h\r\n\r\n", path);
    assert_true(client_text(c, text));
    return c;
}

/* The same, and it is certain that the balancer has read the request. */
static struct client *waiting(unsigned port, const char *path)
{
    struct client *c = asking(port, path);

    assert_true(client_taken(c, PATIENCE_MS));
    return c;
}

/* All slots of an endpoint with a shut gate are there: as many requests as the limit get through, not one
 * more. */
static void check_slots(unsigned port, struct endpoint *e, unsigned limit)
{
    struct client *c[MAX_WAITING];

    if (!ep_wait_free(e, PATIENCE_MS))
        fail_msg("%u requests are still in flight", ep_stats(e).in_flight);
    ep_gate_shut(e);
    for (unsigned i = 0; i <= limit; i++)
        c[i] = waiting(port, "slots");
    if (!ep_wait_in_flight(e, limit, PATIENCE_MS))
        fail_msg("only %u of %u slots came back", ep_stats(e).in_flight, limit);
    usleep(50000);
    assert_int_equal(ep_stats(e).in_flight, limit);
    ep_gate_open(e);
    for (unsigned i = 0; i <= limit; i++) {
        assert_response(c[i], 200);
        client_close(c[i]);
    }
    assert_int_equal(ep_stats(e).max_flight, limit);
}

/* Ten times the limit at once, again and again; two endpoints that answer after a moment. */
static void check_limit(unsigned nbthread, bool reconnect, bool connections)
{
    const unsigned limit = 4;
    struct endpoint *e[2];
    struct load_result r;
    unsigned port;

    for (unsigned i = 0; i < 2; i++)
        e[i] = endpoint_start(&(struct ep_script){.delay_ms = 1});
    port = start(nbthread, "60s", limit, 2, e);
    r = load_wait(load_start(
        &(struct load){.port = port, .clients = 20 * limit, .requests = 50, .reconnect = reconnect}));
    assert_int_equal(r.status[2], 20 * limit * 50);
    for (unsigned i = 0; i < 2; i++) {
        struct ep_stats s = ep_stats(e[i]);

        if (s.max_flight > limit || (connections && s.max_open > limit))
            fail_msg("limit %u; at once: %u requests, %u connections", limit, s.max_flight, s.max_open);
        assert_true(s.requests >= limit * 100); /* neither has starved */
    }
}

static void a_burst_never_exceeds_the_limit_with_1_thread(void **state)
{
    (void)state;
    check_limit(1, false, false);
}

static void a_burst_never_exceeds_the_limit_with_2_threads(void **state)
{
    (void)state;
    check_limit(2, false, false);
}

static void a_burst_never_exceeds_the_limit_with_8_threads(void **state)
{
    (void)state;
    check_limit(8, false, false);
}

static void a_burst_of_new_connections_never_exceeds_the_limit(void **state)
{
    (void)state;
    check_limit(8, true, false);
}

/* An idle connection counts as one: a server with maxconn has no room for more. */
static void open_connections_never_exceed_the_limit(void **state)
{
    (void)state;
    check_limit(8, false, true);
}

/* Servers that close after each answer: a new connection replaces the old one, never joins it. */
static void the_limit_holds_when_servers_close(void **state)
{
    struct endpoint *e = endpoint_start(&(struct ep_script){.delay_ms = 1, .close = true});
    struct load_result r;
    unsigned port;

    (void)state;
    port = start(8, "60s", 3, 1, &e);
    r = load_wait(load_start(&(struct load){.port = port, .clients = 30, .requests = 30}));
    assert_int_equal(r.status[2], 900);
    assert_true(ep_stats(e).max_flight <= 3);
}

static void a_queued_request_gets_a_whole_503_at_the_time_out(void **state)
{
    struct endpoint *e = endpoint_start(&(struct ep_script){.gated = true});
    struct client *first, *second, *third;
    int64_t sent;
    unsigned port;

    (void)state;
    port = start(2, "500ms", 1, 1, &e);
    first = waiting(port, "first");
    assert_true(ep_wait_in_flight(e, 1, PATIENCE_MS));
    sent = wire_now_ms();
    second = asking(port, "second");
    assert_response(second, 503);
    assert_true(wire_now_ms() - sent >= 490); /* it was queued, not refused */
    ep_gate_open(e);
    assert_response_body(first, 200, "Hello World!", 12);
    third = asking(port, "third");
    assert_response_body(third, 200, "Hello World!", 12);
    assert_int_equal(ep_stats(e).requests, 2); /* the second never came through */
    assert_string_equal(ep_request(e, 1)->target, "/third");
    check_slots(port, e, 1);
}

static void many_time_outs_leave_no_place_taken(void **state)
{
    struct endpoint *e = endpoint_start(&(struct ep_script){.gated = true});
    struct client *held[2], *c[40];
    unsigned port;

    (void)state;
    port = start(8, "300ms", 2, 1, &e);
    for (unsigned i = 0; i < 2; i++)
        held[i] = waiting(port, "held");
    assert_true(ep_wait_in_flight(e, 2, PATIENCE_MS));
    for (unsigned i = 0; i < 40; i++)
        c[i] = asking(port, "queued");
    for (unsigned i = 0; i < 40; i++)
        assert_response(c[i], 503);
    assert_int_equal(ep_stats(e).heads, 2);
    ep_gate_open(e);
    for (unsigned i = 0; i < 2; i++)
        assert_response(held[i], 200);
    check_slots(port, e, 2);
}

/* Twenty of them queued, all gone: the next one has the slot while the gate is shut, and nothing of theirs is
 * sent. */
static void check_leaving(void (*leave)(struct client *))
{
    struct endpoint *e = endpoint_start(&(struct ep_script){.gated = true});
    struct client *first, *c[20], *last;
    unsigned port;

    port = start(2, "60s", 1, 1, &e);
    first = waiting(port, "first");
    assert_true(ep_wait_in_flight(e, 1, PATIENCE_MS));
    for (unsigned i = 0; i < 20; i++)
        c[i] = waiting(port, "left");
    for (unsigned i = 0; i < 20; i++)
        leave(c[i]);
    last = waiting(port, "last");
    ep_gate_let(e, 1);
    assert_response(first, 200);
    assert_true(ep_wait_requests(e, 2, PATIENCE_MS));
    assert_string_equal(ep_request(e, 1)->target, "/last");
    ep_gate_open(e);
    assert_response(last, 200);
    assert_int_equal(ep_stats(e).requests, 2);
    check_slots(port, e, 1);
}

static void clients_that_reset_while_queued_give_their_places_back(void **state)
{
    (void)state;
    check_leaving(client_abort);
}

static void clients_that_close_while_queued_give_their_places_back(void **state)
{
    (void)state;
    check_leaving(client_close);
}

/* Whether it has gone or only finished sending can't be told: it may lose its place, but not its answer. */
static void a_half_closing_client_gets_a_whole_answer_from_the_queue(void **state)
{
    struct endpoint *e = endpoint_start(&(struct ep_script){.gated = true});
    struct client *first, *second;
    unsigned port;

    (void)state;
    port = start(2, "60s", 1, 1, &e);
    first = waiting(port, "first");
    assert_true(ep_wait_in_flight(e, 1, PATIENCE_MS));
    second = waiting(port, "second");
    client_half_close(second);
    usleep(50000);
    ep_gate_open(e);
    assert_response(first, 200);
    assert_int_equal(client_read(second, false, PATIENCE_MS), WIRE_OK);
    assert_true(second->last.status == 200 || second->last.status == 503);
    assert_true(second->last.body_len > 0);
    assert_closed(second);
}

static void first_come_is_first_served(void **state)
{
    struct endpoint *e = endpoint_start(&(struct ep_script){.gated = true});
    struct client *c[30];
    char path[16];
    unsigned port;

    (void)state;
    port = start(4, "60s", 1, 1, &e);
    for (unsigned i = 0; i < 30; i++) {
        snprintf(path, sizeof path, "%u", i);
        c[i] = waiting(port, path);
        if (i == 0)
            assert_true(ep_wait_in_flight(e, 1, PATIENCE_MS));
    }
    ep_gate_open(e);
    for (unsigned i = 0; i < 30; i++)
        assert_response(c[i], 200);
    for (unsigned i = 0; i < 30; i++) {
        snprintf(path, sizeof path, "/%u", i);
        assert_string_equal(ep_request(e, i)->target, path);
    }
}

/* One server keeps its request for as long as the test likes; all others go through the second. */
static void nobody_waits_behind_a_slow_server_while_another_is_free(void **state)
{
    struct endpoint *e[2];
    struct client *stuck[2], *c[60];
    unsigned slow, port;

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        e[i] = endpoint_start(&(struct ep_script){.gated = true});
    port = start(4, "60s", 1, 2, e);
    for (unsigned i = 0; i < 2; i++)
        stuck[i] = waiting(port, "stuck");
    for (unsigned i = 0; i < 2; i++)
        assert_true(ep_wait_in_flight(e[i], 1, PATIENCE_MS)); /* both are full now */
    for (unsigned i = 0; i < 60; i++)
        c[i] = asking(port, "queued");
    slow = 0;
    ep_gate_open(e[1 - slow]);
    for (unsigned i = 0; i < 60; i++)
        assert_response(c[i], 200);
    assert_int_equal(ep_stats(e[slow]).requests, 1);
    assert_int_equal(ep_stats(e[1 - slow]).requests, 61);
    ep_gate_open(e[slow]);
    for (unsigned i = 0; i < 2; i++)
        assert_response(stuck[i], 200);
}

/* A request that finds its turn's server full takes the other one's free slot at once. */
static void a_free_slot_is_taken_at_once(void **state)
{
    struct endpoint *e[2];
    struct client *stuck = NULL;
    unsigned port;

    (void)state;
    e[0] = endpoint_start(&(struct ep_script){.gated = true});
    e[1] = endpoint_start(NULL);
    port = start(2, "60s", 1, 2, e);
    for (unsigned i = 0; i < 2 && !stuck; i++) { /* one of two lands on the gated one */
        struct client *c = waiting(port, "which");

        if (ep_wait_in_flight(e[0], 1, 200))
            stuck = c;
        else
            assert_response(c, 200);
    }
    assert_non_null(stuck);
    for (unsigned i = 0; i < 40; i++)
        assert_request(port, GET_LAST, 200);
    ep_gate_open(e[0]);
    assert_response(stuck, 200);
}

/* Slots that free up just as requests arrive: a lost wake-up would leave one waiting for the whole time-out.
 */
static void no_request_is_forgotten_in_the_queue(void **state)
{
    struct endpoint *e[2];
    struct load_run *l;
    struct load_result r;
    unsigned port;

    (void)state;
    for (unsigned i = 0; i < 2; i++)
        e[i] = endpoint_start(NULL);
    port = start(8, "5s", 1, 2, e);
    l = load_start(&(struct load){.port = port, .clients = 4, .requests = UINT_MAX, .pause_us = 300});
    sleep(4);
    r = load_stop(l);
    assert_int_equal(r.status[5], 0); /* none timed out in the queue */
    assert_int_equal(r.status[2], r.answered);
    assert_int_equal(r.closed + r.turned_away + r.truncated + r.reset + r.timeout + r.bad, 0);
    assert_true(r.answered > 100);
    for (unsigned i = 0; i < 2; i++)
        assert_true(ep_stats(e[i]).max_flight <= 1);
}

/* --- slots come back --- */

static enum ep_next misbehave(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)arg;
    if (!strcmp(m->target, "/dies-inside")) {
        ep_send_text(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this");
        return EP_CLOSE;
    }
    if (!strcmp(m->target, "/dies-before"))
        return EP_CLOSE;
    if (!strcmp(m->target, "/garbage")) {
        ep_send_text(c, "no answer at all\r\n\r\n");
        return EP_DONE;
    }
    if (!strcmp(m->target, "/endless")) {
        static char data[65536];

        ep_send_text(c, "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n");
        while (ep_send(c, data, sizeof data))
            ;
        return EP_CLOSE;
    }
    if (!strcmp(m->target, "/stuck-inside")) {
        ep_send_text(c, "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nonly this");
        wire_wait(ep_wire(c), wire_now_ms() + 3 * PATIENCE_MS); /* until the balancer closes */
        return EP_CLOSE;
    }
    return EP_GO_ON; /* the gated answer */
}

static unsigned start_misbehaving(struct endpoint **e)
{
    *e = endpoint_start(&(struct ep_script){.gated = true, .on_request = misbehave});
    return start(4, "60s", 3, 1, e);
}

static void slots_return_after_the_server_dies_inside_an_answer(void **state)
{
    struct endpoint *e;
    unsigned port;

    (void)state;
    port = start_misbehaving(&e);
    for (unsigned i = 0; i < 12; i++) {
        struct client *c = asking(port, "dies-inside");
        enum wire_result r = client_read(c, false, PATIENCE_MS);

        assert_true(r == WIRE_TRUNCATED || r == WIRE_RESET || (r == WIRE_OK && c->last.status == 502));
        client_close(c);
    }
    check_slots(port, e, 3);
}

static void slots_return_after_a_502(void **state)
{
    struct endpoint *e;
    unsigned port;

    (void)state;
    port = start_misbehaving(&e);
    for (unsigned i = 0; i < 12; i++) {
        struct client *c = asking(port, i % 2 ? "dies-before" : "garbage");

        assert_response(c, 502);
        client_close(c);
    }
    check_slots(port, e, 3);
}

static void slots_return_after_clients_leave_inside_an_answer(void **state)
{
    static const char *const paths[] = {"endless", "stuck-inside"};
    struct endpoint *e;
    unsigned port;

    (void)state;
    port = start_misbehaving(&e);
    for (unsigned i = 0; i < 12; i++) {
        struct client *c = asking(port, paths[i % 2]);

        assert_int_equal(wire_read_response_head(&c->w, &c->last, false, wire_now_ms() + PATIENCE_MS),
                         WIRE_OK);
        client_abort(c);
    }
    check_slots(port, e, 3);
}

static void slots_return_after_clients_leave_before_the_answer(void **state)
{
    struct endpoint *e;
    unsigned port;

    (void)state;
    port = start_misbehaving(&e);
    for (unsigned i = 0; i < 12; i++)
        client_abort(waiting(port, "left"));
    check_slots(port, e, 3);
}

static void slots_return_after_clients_leave_inside_their_request(void **state)
{
    struct endpoint *e;
    unsigned port;

    (void)state;
    port = start_misbehaving(&e);
    for (unsigned i = 0; i < 12; i++) {
        struct client *c = client_open(port);

        assert_non_null(c);
        assert_true(client_text(c, "POST /half HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\nhalf"));
        client_taken(c, PATIENCE_MS);
        i % 2 ? client_abort(c) : client_close(c);
    }
    check_slots(port, e, 3);
}

/* A slot that stayed with a failed attempt would leave the next request waiting for it. */
static void slots_return_when_servers_refuse(void **state)
{
    unsigned port, dead;

    (void)state;
    conf_common(4);
    port = conf_listen("fe");
    conf_text("    balance roundrobin\n    retries 1\n    option redispatch\n");
    for (unsigned i = 0; i < 2; i++) {
        socket_bound(-1, &dead);
        conf_text("    server dead%u 127.0.0.1:%u maxconn 1\n", i, dead);
    }
    balancer_start();
    for (unsigned i = 0; i < 6; i++)
        assert_request(port, GET_LAST, 503);
}

/* Everything at once for a while: clients that leave at any moment. Afterwards all is as at first. */
static void random_aborts_lose_no_slot(void **state)
{
    struct endpoint *e = endpoint_start(&(struct ep_script){.gated = true, .delay_ms = 1});
    struct load_run *l;
    struct load_result r;
    unsigned port;

    (void)state;
    port = start(8, "60s", 4, 1, &e);
    ep_gate_open(e);
    l = load_start(&(struct load){.port = port,
                                  .clients = 40,
                                  .requests = UINT_MAX,
                                  .pause_us = 500,
                                  .abort_percent = 30,
                                  .abort_us = 8000});
    sleep(4);
    r = load_stop(l);
    assert_int_equal(r.status[2], r.answered);
    assert_int_equal(r.closed + r.turned_away + r.truncated + r.reset + r.timeout + r.bad + r.refused, 0);
    assert_true(r.answered > 100 && r.aborted > 100);
    assert_true(ep_stats(e).max_flight <= 4);
    check_slots(port, e, 4);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        SYSTEM_TEST(a_burst_never_exceeds_the_limit_with_1_thread),
        SYSTEM_TEST(a_burst_never_exceeds_the_limit_with_2_threads),
        SYSTEM_TEST(a_burst_never_exceeds_the_limit_with_8_threads),
        SYSTEM_TEST(a_burst_of_new_connections_never_exceeds_the_limit),
        SYSTEM_TEST(open_connections_never_exceed_the_limit),
        SYSTEM_TEST(the_limit_holds_when_servers_close),
        SYSTEM_TEST(a_queued_request_gets_a_whole_503_at_the_time_out),
        SYSTEM_TEST(many_time_outs_leave_no_place_taken),
        SYSTEM_TEST(clients_that_reset_while_queued_give_their_places_back),
        SYSTEM_TEST(clients_that_close_while_queued_give_their_places_back),
        SYSTEM_TEST(a_half_closing_client_gets_a_whole_answer_from_the_queue),
        SYSTEM_TEST(first_come_is_first_served),
        SYSTEM_TEST(nobody_waits_behind_a_slow_server_while_another_is_free),
        SYSTEM_TEST(a_free_slot_is_taken_at_once),
        SYSTEM_TEST(no_request_is_forgotten_in_the_queue),
        SYSTEM_TEST(slots_return_after_the_server_dies_inside_an_answer),
        SYSTEM_TEST(slots_return_after_a_502),
        SYSTEM_TEST(slots_return_after_clients_leave_inside_an_answer),
        SYSTEM_TEST(slots_return_after_clients_leave_before_the_answer),
        SYSTEM_TEST(slots_return_after_clients_leave_inside_their_request),
        SYSTEM_TEST(slots_return_when_servers_refuse),
        SYSTEM_TEST(random_aborts_lose_no_slot),
    };

    return harness_main(argc, argv, "queue", tests, sizeof tests / sizeof *tests);
}
