/* Stream sockets, made non-blocking and close-on-exec in the call that makes them, so no other thread's fork
 * sees one without. No buffers and no polling here. */
#include "net/sock.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static bool is_tcp(const struct net_addr *a)
{
    return a->ss.ss_family == AF_INET || a->ss.ss_family == AF_INET6;
}

static int new_socket(const struct net_addr *a)
{
    int fd = socket(a->ss.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

    return fd < 0 ? -errno : fd;
}

static int set_on(int fd, int level, int option)
{
    int one = 1;

    return setsockopt(fd, level, option, &one, sizeof one) ? -errno : 0;
}

static int connect_once(int fd, const struct net_addr *a)
{
    return connect(fd, (const struct sockaddr *)&a->ss, a->len) ? -errno : 0;
}

static int bind_once(int fd, const struct net_addr *a)
{
    return bind(fd, (const struct sockaddr *)&a->ss, a->len) ? -errno : 0;
}

/* A path left by a process that died: a socket nobody listens on. Anything else in the way stays. */
static bool remove_stale(const struct net_addr *a)
{
    const char *path = ((const struct sockaddr_un *)&a->ss)->sun_path;
    struct stat st;
    int fd, rc;

    if (lstat(path, &st) || !S_ISSOCK(st.st_mode)) {
        return false;
    }
    fd = new_socket(a);
    if (fd < 0) {
        return false;
    }
    rc = connect_once(fd, a);
    close(fd);
    return rc == -ECONNREFUSED && !unlink(path);
}

static int bind_to(int fd, const struct net_addr *a)
{
    int rc = bind_once(fd, a);

    if (rc == -EADDRINUSE && a->ss.ss_family == AF_UNIX && remove_stale(a)) {
        rc = bind_once(fd, a);
    }
    return rc;
}

int net_listen(const struct net_addr *a, int backlog, bool reuse_port)
{
    int fd, rc;

    if (reuse_port && !is_tcp(a)) {
        return -EOPNOTSUPP;
    }
    fd = new_socket(a);
    if (fd < 0) {
        return fd;
    }
    rc = is_tcp(a) ? set_on(fd, SOL_SOCKET, SO_REUSEADDR) : 0;
    if (!rc && reuse_port) {
        rc = set_on(fd, SOL_SOCKET, SO_REUSEPORT);
    }
    if (!rc) {
        rc = bind_to(fd, a);
    }
    if (!rc && listen(fd, backlog)) {
        rc = -errno;
    }
    if (rc) {
        close(fd);
        return rc;
    }
    return fd;
}

int net_accept(int listener, struct net_addr *peer)
{
    struct net_addr from;
    int fd;

    /* A connection that died while it waited is no reason to stop accepting: take the next one. */
    do {
        from.len = sizeof from.ss;
        fd = accept4(listener, (struct sockaddr *)&from.ss, &from.len, SOCK_NONBLOCK | SOCK_CLOEXEC);
    } while (fd < 0 && (errno == EINTR || errno == ECONNABORTED || errno == EPROTO));
    if (fd < 0) {
        return -errno;
    }
    if (is_tcp(&from)) {
        set_on(fd, IPPROTO_TCP, TCP_NODELAY); /* a peer already gone shows at the first read */
    }
    if (peer) {
        *peer = from;
    }
    return fd;
}

int net_connect(const struct net_addr *a, bool *pending)
{
    int fd = new_socket(a), rc;

    *pending = false;
    if (fd < 0) {
        return fd;
    }
    rc = is_tcp(a) ? set_on(fd, IPPROTO_TCP, TCP_NODELAY) : 0;
    if (!rc) {
        rc = connect_once(fd, a);
    }
    if (rc == -EINPROGRESS || rc == -EINTR) { /* a signal doesn't stop it: it goes on like any other */
        *pending = true;
        rc = 0;
    }
    if (rc) {
        close(fd);
        return rc;
    }
    return fd;
}

int net_sock_error(int fd)
{
    int error = 0;
    socklen_t len = sizeof error;

    if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len)) {
        return -errno;
    }
    return -error;
}

int net_sock_local(int fd, struct net_addr *out)
{
    out->len = sizeof out->ss;
    return getsockname(fd, (struct sockaddr *)&out->ss, &out->len) ? -errno : 0;
}
