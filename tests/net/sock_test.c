/* Sockets over loopback: flags, TCP_NODELAY, errors as negative errno, Unix sockets and the paths they leave.
 */
#include "net/sock.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

#define WAIT_MS 5000 /* a bound against hanging, never reached where the code works */

static struct net_addr addr(const char *text)
{
    struct net_addr a;
    const char *err;

    assert_true(net_addr_parse(&a, text, &err));
    return a;
}

static void assert_flags(int fd)
{
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

static int nodelay(int fd)
{
    int on = 0;
    socklen_t len = sizeof on;

    assert_int_equal(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, &len), 0);
    return on;
}

static void wait_for(int fd, short events)
{
    struct pollfd p = {.fd = fd, .events = events};

    assert_int_equal(poll(&p, 1, WAIT_MS), 1);
}

/* One connection made and accepted; every descriptor has its flags. */
static void talk(const char *text)
{
    struct net_addr a = addr(text), local, peer;
    bool pending;
    int l = net_listen(&a, 16, false), c, s;
    char byte = 0;

    assert_flags(l);
    assert_int_equal(net_accept(l, NULL), -EAGAIN);
    assert_int_equal(net_sock_local(l, &local), 0);
    c = net_connect(&local, &pending);
    assert_flags(c);
    wait_for(c, POLLOUT);
    assert_int_equal(net_sock_error(c), 0);
    wait_for(l, POLLIN);
    s = net_accept(l, &peer);
    assert_flags(s);
    assert_int_equal(peer.ss.ss_family, a.ss.ss_family);
    if (a.ss.ss_family != AF_UNIX) {
        assert_true(nodelay(c) && nodelay(s));
        assert_int_not_equal(net_addr_port(&local), 0);
    }
    assert_int_equal(write(c, "x", 1), 1);
    wait_for(s, POLLIN);
    assert_int_equal(read(s, &byte, 1), 1);
    assert_int_equal(byte, 'x');
    close(s);
    close(c);
    close(l);
}

static void connects_and_accepts_over_ipv4(void **state)
{
    (void)state;
    talk("127.0.0.1:0");
}

static void connects_and_accepts_over_ipv6(void **state)
{
    struct net_addr a = addr("[::1]:0");
    int l = net_listen(&a, 1, false);

    (void)state;
    if (l == -EADDRNOTAVAIL || l == -EAFNOSUPPORT) {
        skip();
    }
    close(l);
    talk("[::1]:0");
}

static char *unix_text(char dir[32], char text[64])
{
    snprintf(dir, 32, "/tmp/pawl-sock-XXXXXX");
    assert_non_null(mkdtemp(dir));
    snprintf(text, 64, "unix@%s/s", dir);
    return text;
}

static void connects_and_accepts_over_a_unix_socket(void **state)
{
    char dir[32], text[64];

    (void)state;
    talk(unix_text(dir, text));
    unlink(text + 5);
    rmdir(dir);
}

static void a_path_left_by_a_dead_listener_is_taken_over_a_live_one_is_not(void **state)
{
    char dir[32], text[64];
    struct net_addr a = addr(unix_text(dir, text));
    int l = net_listen(&a, 1, false), again;

    (void)state;
    assert_true(l >= 0);
    assert_int_equal(net_listen(&a, 1, false), -EADDRINUSE);
    assert_int_equal(access(text + 5, F_OK), 0);
    close(l);
    again = net_listen(&a, 1, false);
    assert_true(again >= 0);
    close(again);
    unlink(text + 5);
    rmdir(dir);
}

static void a_file_in_the_way_of_a_unix_socket_is_left_alone(void **state)
{
    char dir[32], text[64];
    struct net_addr a = addr(unix_text(dir, text));
    int fd = open(text + 5, O_CREAT | O_WRONLY, 0600);
    struct stat st;

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(net_listen(&a, 1, false), -EADDRINUSE);
    assert_int_equal(lstat(text + 5, &st), 0);
    assert_true(S_ISREG(st.st_mode));
    unlink(text + 5);
    rmdir(dir);
}

static void several_listeners_share_a_port_only_when_asked(void **state)
{
    struct net_addr a = addr("127.0.0.1:0"), local, un = addr("unix@/nowhere/s");
    int first = net_listen(&a, 1, true), second;

    (void)state;
    assert_true(first >= 0);
    assert_int_equal(net_sock_local(first, &local), 0);
    second = net_listen(&local, 1, true);
    assert_true(second >= 0);
    assert_int_equal(net_listen(&local, 1, false), -EADDRINUSE);
    assert_int_equal(net_listen(&un, 1, true), -EOPNOTSUPP);
    close(second);
    close(first);
}

static void a_refused_connection_is_told_as_a_negative_errno(void **state)
{
    struct net_addr a = addr("127.0.0.1:0"), local, un = addr("unix@/nonexistent/s");
    int held = socket(AF_INET, SOCK_STREAM, 0), fd,
        rc; /* bound, never listening: nobody else can take the port */
    bool pending;

    (void)state;
    assert_int_equal(bind(held, (struct sockaddr *)&a.ss, a.len), 0);
    assert_int_equal(net_sock_local(held, &local), 0);
    fd = net_connect(&local, &pending);
    rc = fd;
    if (fd >= 0) {
        assert_true(pending);
        wait_for(fd, POLLOUT);
        rc = net_sock_error(fd);
        close(fd);
    }
    assert_int_equal(rc, -ECONNREFUSED);
    assert_int_equal(net_connect(&un, &pending), -ENOENT);
    assert_false(pending);
    close(held);
}

static void a_bad_descriptor_is_an_error_not_a_crash(void **state)
{
    struct net_addr a;

    (void)state;
    assert_int_equal(net_accept(-1, NULL), -EBADF);
    assert_int_equal(net_sock_error(-1), -EBADF);
    assert_int_equal(net_sock_local(-1, &a), -EBADF);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connects_and_accepts_over_ipv4),
        cmocka_unit_test(connects_and_accepts_over_ipv6),
        cmocka_unit_test(connects_and_accepts_over_a_unix_socket),
        cmocka_unit_test(a_path_left_by_a_dead_listener_is_taken_over_a_live_one_is_not),
        cmocka_unit_test(a_file_in_the_way_of_a_unix_socket_is_left_alone),
        cmocka_unit_test(several_listeners_share_a_port_only_when_asked),
        cmocka_unit_test(a_refused_connection_is_told_as_a_negative_errno),
        cmocka_unit_test(a_bad_descriptor_is_an_error_not_a_crash),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
