/* Tunnels: what follows a 101 passes both ways as it is, for as long as neither side's time-out ends it;
 * nothing of the request that opened one is ever sent again. */
#include "harness.h"

#include <string.h>
#include <sys/socket.h>

#define UPGRADE "GET /ws HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

static struct endpoint *endpoint;

/* Answers 101, then echoes whatever comes, until the other side ends. */
static enum ep_next echo(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    char buf[4096];
    ssize_t n;

    (void)m;
    (void)arg;
    ep_send_text(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n");
    ep_answered(c);
    while ((n = recv(ep_wire(c)->fd, buf, sizeof buf, 0)) > 0) {
        if (!ep_send(c, buf, (size_t)n))
            break;
    }
    return EP_CLOSE;
}

static unsigned start(const char *timeouts,
                      enum ep_next (*on_request)(struct ep_conn *, const struct wire_msg *, void *))
{
    unsigned port;

    endpoint = endpoint_start(&(struct ep_script){.on_request = on_request});
    conf_text("global\n    nbthread 2\ndefaults\n    mode http\n%s", timeouts);
    port = conf_listen("fe");
    conf_server("s", endpoint, "");
    balancer_start();
    return port;
}

/* The harness asks for something until the balancer answers: that is not the test's. */
static unsigned requests(void)
{
    unsigned n = 0;

    for (unsigned i = 0; ep_request(endpoint, i); i++)
        n += !strcmp(ep_request(endpoint, i)->target, "/ws");
    return n;
}

static struct client *opened(unsigned port)
{
    struct client *c = client_open(port);
    char head[512];
    size_t n = 0;

    assert_non_null(c);
    assert_true(client_text(c, UPGRADE));
    while (n < sizeof head - 1 && (n < 4 || memcmp(head + n - 4, "\r\n\r\n", 4) != 0)) {
        assert_int_equal(recv(c->w.fd, head + n, 1, 0), 1);
        n++;
    }
    head[n] = 0;
    assert_int_equal(strncmp(head, "HTTP/1.1 101 ", 13), 0);
    return c;
}

static void assert_echo(struct client *c, const char *text)
{
    char got[64];
    size_t n = 0, len = strlen(text);

    assert_true(client_text(c, text));
    while (n < len) {
        ssize_t r = recv(c->w.fd, got + n, len - n, 0);

        assert_true(r > 0);
        n += (size_t)r;
    }
    assert_memory_equal(got, text, len);
}

static void a_tunnel_passes_bytes_both_ways(void **state)
{
    unsigned port = start("    timeout connect 5s\n    timeout client 30s\n    timeout server 30s\n", echo);
    struct client *c = opened(port);

    (void)state;
    assert_echo(c, "one");
    assert_echo(c, "GET / HTTP/1.1\r\n\r\n");
    client_half_close(c);
    assert_closed(c);
}

static void an_idle_tunnel_outlives_the_time_to_connect(void **state)
{
    unsigned port =
        start("    timeout connect 200ms\n    timeout client 30s\n    timeout server 30s\n", echo);
    struct client *c = opened(port);

    (void)state;
    assert_true(client_quiet(c, 900));
    assert_echo(c, "still here");
    assert_int_equal(requests(), 1);
}

static void an_idle_tunnel_ends_at_the_clients_time_out(void **state)
{
    unsigned port = start("    timeout connect 5s\n    timeout client 500ms\n    timeout server 30s\n", echo);
    struct client *c = opened(port);

    (void)state;
    assert_closed(c);
    assert_int_equal(requests(), 1);
    assert_true(ep_wait_idle(endpoint, PATIENCE_MS));
}

static enum ep_next switch_unasked(struct ep_conn *c, const struct wire_msg *m, void *arg)
{
    (void)m;
    (void)arg;
    ep_send_text(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\nhello");
    return EP_CLOSE;
}

static void a_switch_nobody_asked_for_is_502(void **state)
{
    unsigned port;

    (void)state;
    endpoint = endpoint_start(&(struct ep_script){.on_request = switch_unasked});
    conf_common(1);
    port = conf_listen("fe");
    conf_server("s", endpoint, "");
    balancer_start();
    assert_request(port, GET, 502);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SYSTEM_TEST(a_tunnel_passes_bytes_both_ways),
        SYSTEM_TEST(an_idle_tunnel_outlives_the_time_to_connect),
        SYSTEM_TEST(an_idle_tunnel_ends_at_the_clients_time_out),
        SYSTEM_TEST(a_switch_nobody_asked_for_is_502),
    };

    return harness_main(argc, argv, "tunnel", tests, sizeof tests / sizeof *tests);
}
