/* Non-blocking, close-on-exec stream sockets. Every function returns a descriptor or 0, or a negative errno.
 */
#ifndef PAWL_NET_SOCK_H
#define PAWL_NET_SOCK_H

#include "net/addr.h"

/* Binds and listens. reuse_port lets several sockets (one a thread) share the address. Sets SO_REUSEADDR. A
 * Unix socket's path left behind by a dead process is taken over; it can't be shared (-EOPNOTSUPP with
 * reuse_port). */
int net_listen(const struct net_addr *a, int backlog, bool reuse_port);

/* Accepts one connection, TCP_NODELAY set where it is TCP; peer may be NULL. -EAGAIN when none waits. */
int net_accept(int listener, struct net_addr *peer);

/* Starts a connection, TCP_NODELAY set. *pending tells whether it is still under way (wait for EPOLLOUT, then
 * net_sock_error()). */
int net_connect(const struct net_addr *a, bool *pending);

/* The pending error of a socket (SO_ERROR) as a negative errno, 0 for none. */
int net_sock_error(int fd);

/* The local address a socket is bound to. */
int net_sock_local(int fd, struct net_addr *out);

#endif
