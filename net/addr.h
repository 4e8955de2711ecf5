/* Socket addresses as text and back. No name resolution: an address is literal, so parsing never blocks. */
#ifndef PAWL_NET_ADDR_H
#define PAWL_NET_ADDR_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

struct net_addr {
    struct sockaddr_storage ss;
    socklen_t len;
};

/* Longest text net_addr_format() writes, terminator included. */
#define NET_ADDR_TEXT 128

/* Parses "1.2.3.4:80", "[::1]:80", "*:80", ":80" (any IPv4), "unix@/path". A port is required and lies in
 * 0..65535. On failure returns false and sets *err to a static sentence that says what was expected. */
bool net_addr_parse(struct net_addr *out, const char *text, const char **err);

/* Writes "1.2.3.4:80" (or the IPv6/unix form) into text; always terminated. Returns text. */
char *net_addr_format(const struct net_addr *a, char *text, size_t size);

/* Writes the host part alone ("1.2.3.4", "::1"; "unix" for a Unix socket). Returns the length without
 * terminator. */
size_t net_addr_host(const struct net_addr *a, char *text, size_t size);

/* The port in host order, 0 for a Unix socket. */
unsigned net_addr_port(const struct net_addr *a);

#endif
