/* The scripted server: blocking sockets and one thread a connection, as simple as can be. */
#include "server.h"

#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

static void *conn_main(void *arg)
{
    struct server_conn *c = arg;
    c->server->script(c->server, c->fd);
    shutdown(c->fd, SHUT_RDWR); /* closed once joined, so that the number is not reused meanwhile */
    return NULL;
}

static void take(struct server *s, int fd)
{
    int i = s->nconns;
    if (i == SERVER_MAX_CONNS) {
        close(fd);
        return;
    }
    s->conns[i].server = s;
    s->conns[i].fd = fd;
    atomic_fetch_add(&s->accepted, 1);
    if (pthread_create(&s->conns[i].thread, NULL, conn_main, &s->conns[i])) {
        close(fd);
        return;
    }
    s->nconns++;
}

static void *accept_main(void *arg)
{
    struct server *s = arg;
    while (!atomic_load(&s->stop)) {
        struct pollfd p = {.fd = s->listener, .events = POLLIN};
        if (poll(&p, 1, 20) > 0) {
            int fd = accept(s->listener, NULL, NULL);
            if (fd >= 0) {
                take(s, fd);
            }
        }
    }
    return NULL;
}

void server_start(struct server *s, server_script *script, void *arg)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    memset(s, 0, sizeof *s);
    s->script = script;
    s->arg = arg;
    s->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(s->listener >= 0);
    assert_int_equal(bind(s->listener, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(s->listener, 128), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&a, &len), 0);
    snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d/", ntohs(a.sin_port));
    assert_int_equal(pthread_create(&s->thread, NULL, accept_main, s), 0);
}

void server_stop(struct server *s)
{
    atomic_store(&s->stop, true);
    pthread_join(s->thread, NULL);
    for (int i = 0; i < s->nconns; i++) {
        shutdown(s->conns[i].fd, SHUT_RDWR);
    }
    for (int i = 0; i < s->nconns; i++) {
        pthread_join(s->conns[i].thread, NULL);
        close(s->conns[i].fd);
    }
    close(s->listener);
}

bool server_read(int fd)
{
    char last[4] = "";
    while (memcmp(last, "\r\n\r\n", 4)) {
        memmove(last, last + 1, 3);
        if (recv(fd, last + 3, 1, 0) != 1) {
            return false;
        }
    }
    return true;
}

bool server_send(int fd, const char *text)
{
    size_t n = strlen(text);
    while (n) {
        ssize_t sent = send(fd, text, n, MSG_NOSIGNAL);
        if (sent < 0) {
            return false;
        }
        text += sent;
        n -= (size_t)sent;
    }
    return true;
}
