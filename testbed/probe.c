/* One request, to see that a server serves before it is measured. */
#include "testbed/probe.h"

#include "base/clock.h"
#include "net/sock.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RETRY_NS 2000000

/* Waits for events on fd. 1: they came, 0: the deadline has passed, -1: *err. */
static int wait_for(struct tb_super *s, int fd, short events, int64_t deadline_ns, struct tb_error *err)
{
    struct pollfd p = {.fd = fd, .events = events};

    while (base_now_ns() < deadline_ns) {
        if (tb_super_wait(s, &p, 1, deadline_ns, err) < 0) {
            return -1;
        }
        if (p.revents) {
            return 1;
        }
    }
    return 0;
}

/* Sends the request and reads the start of the answer. 1: answer holds a status line, 0: nothing yet to be
 * had (refused, closed), -1: *err. */
static int ask(struct tb_super *s, unsigned port, char *answer, size_t size, int64_t deadline_ns,
               struct tb_error *err)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
    char text[32];
    struct net_addr a;
    const char *why;
    bool pending;
    size_t len = 0;
    int rc = 0, fd;

    snprintf(text, sizeof text, "127.0.0.1:%u", port);
    if (!net_addr_parse(&a, text, &why) || (fd = net_connect(&a, &pending)) < 0) {
        return 0;
    }
    if (pending && (rc = wait_for(s, fd, POLLOUT, deadline_ns, err)) <= 0) {
        goto end;
    }
    rc = 0;
    if (net_sock_error(fd) < 0 || write(fd, request, sizeof request - 1) != (ssize_t)sizeof request - 1) {
        goto end;
    }
    while (len < size - 1 && !memchr(answer, '\n', len)) {
        ssize_t got;

        if ((rc = wait_for(s, fd, POLLIN, deadline_ns, err)) <= 0) {
            goto end;
        }
        got = read(fd, answer + len, size - 1 - len);
        if (got <= 0 && !(got < 0 && errno == EAGAIN)) {
            break;
        }
        len += got > 0 ? (size_t)got : 0;
    }
    answer[len] = 0;
    rc = len > 0;
end:
    close(fd);
    return rc;
}

int tb_probe(struct tb_super *s, const char *who, unsigned port, int64_t deadline_ns, struct tb_error *err)
{
    char answer[256];
    int64_t began = base_now_ns();

    while (base_now_ns() < deadline_ns) {
        int64_t again;
        int rc = ask(s, port, answer, sizeof answer, deadline_ns, err);

        if (rc < 0) {
            return -1;
        }
        if (rc > 0) {
            answer[strcspn(answer, "\r\n")] = 0;
            if (strncmp(answer, "HTTP/1.1 200", 12) != 0) {
                return tb_fail(err, "%s answered \"%.80s\" on 127.0.0.1:%u where 200 was expected %s", who,
                               answer, port, s->phase);
            }
            return 0;
        }
        for (again = base_now_ns() + RETRY_NS; base_now_ns() < again;) {
            if (tb_super_wait(s, NULL, 0, again, err) < 0) {
                return -1;
            }
        }
    }
    return tb_fail(err, "%s did not answer on 127.0.0.1:%u within %.1f s %s; start it by hand to see why",
                   who, port, (double)(deadline_ns - began) / 1e9, s->phase);
}
