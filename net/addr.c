/* Socket addresses as text and back. Literal addresses only: nothing here asks a resolver, so nothing blocks.
 */
#include "net/addr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#define UNIX_PREFIX "unix@"

static const char *const err_form =
    "expected a literal address and a port: 1.2.3.4:80, [::1]:80, *:80, :80 or unix@/path";
static const char *const err_port = "expected a port, at most 65535, after the last ':'";
static const char *const err_name = "expected a literal address, as in 127.0.0.1:80: names are not resolved";
static const char *const err_ipv4 =
    "expected an IPv4 address of four numbers from 0 to 255, as in 1.2.3.4:80";
static const char *const err_ipv6 =
    "expected an IPv6 address in the brackets and a port after them, as in [::1]:80";
static const char *const err_bare6 = "expected brackets around an IPv6 address, as in [::1]:80";
static const char *const err_unix = "expected an absolute path of at most 107 bytes after unix@";

/* Decimal digits only; no sign, no blank, at most five digits. */
static bool parse_port(const char *s, in_port_t *port)
{
    unsigned v = 0;
    size_t n = 0;

    for (; s[n]; n++) {
        if (s[n] < '0' || s[n] > '9' || n == 5) {
            return false;
        }
        v = v * 10 + (unsigned)(s[n] - '0');
    }
    if (!n || v > 65535) {
        return false;
    }
    *port = htons((in_port_t)v);
    return true;
}

static bool parse_unix(struct net_addr *out, const char *path, const char **err)
{
    struct sockaddr_un *un = (struct sockaddr_un *)&out->ss;
    size_t n = strlen(path);

    if (path[0] != '/' || n >= sizeof un->sun_path) {
        *err = err_unix;
        return false;
    }
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, path, n + 1);
    out->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n + 1);
    return true;
}

/* Copies the host part where it fits; no literal address is longer than INET6_ADDRSTRLEN. */
static bool copy_host(char *host, size_t size, const char *text, size_t n)
{
    if (n >= size) {
        return false;
    }
    memcpy(host, text, n);
    host[n] = '\0';
    return true;
}

static bool parse_ipv6(struct net_addr *out, const char *text, const char **err)
{
    struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&out->ss;
    const char *end = strchr(text, ']');
    char host[INET6_ADDRSTRLEN];

    if (!end || end[1] != ':' || !copy_host(host, sizeof host, text + 1, (size_t)(end - text - 1)) ||
        inet_pton(AF_INET6, host, &in6->sin6_addr) != 1) {
        *err = err_ipv6;
        return false;
    }
    if (!parse_port(end + 2, &in6->sin6_port)) {
        *err = err_port;
        return false;
    }
    in6->sin6_family = AF_INET6;
    out->len = sizeof *in6;
    return true;
}

static bool parse_ipv4(struct net_addr *out, const char *text, const char *colon, const char **err)
{
    struct sockaddr_in *in = (struct sockaddr_in *)&out->ss;
    size_t n = (size_t)(colon - text);
    char host[INET_ADDRSTRLEN];

    if (n && !(n == 1 && *text == '*')) {
        if (strspn(text, "0123456789.") < n) {
            *err = err_name;
            return false;
        }
        if (!copy_host(host, sizeof host, text, n) || inet_pton(AF_INET, host, &in->sin_addr) != 1) {
            *err = err_ipv4;
            return false;
        }
    }
    if (!parse_port(colon + 1, &in->sin_port)) {
        *err = err_port;
        return false;
    }
    in->sin_family = AF_INET;
    out->len = sizeof *in;
    return true;
}

bool net_addr_parse(struct net_addr *out, const char *text, const char **err)
{
    const char *colon;

    memset(out, 0, sizeof *out);
    if (!strncmp(text, UNIX_PREFIX, strlen(UNIX_PREFIX))) {
        return parse_unix(out, text + strlen(UNIX_PREFIX), err);
    }
    if (*text == '[') {
        return parse_ipv6(out, text, err);
    }
    colon = strchr(text, ':');
    if (!colon) {
        *err = err_form;
        return false;
    }
    if (strchr(colon + 1, ':')) {
        *err = err_bare6;
        return false;
    }
    return parse_ipv4(out, text, colon, err);
}

/* A Unix socket's name: a path, an abstract name (no terminator, begins with NUL) or none at all. */
static void format_unix(const struct net_addr *a, char *text, size_t size)
{
    const struct sockaddr_un *un = (const struct sockaddr_un *)&a->ss;
    size_t n =
        a->len > offsetof(struct sockaddr_un, sun_path) ? a->len - offsetof(struct sockaddr_un, sun_path) : 0;

    if (n && !un->sun_path[0]) {
        snprintf(text, size, "abns@%.*s", (int)(n - 1), un->sun_path + 1);
    } else {
        snprintf(text, size, UNIX_PREFIX "%.*s", (int)n, un->sun_path);
    }
}

char *net_addr_format(const struct net_addr *a, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN];

    if (a->ss.ss_family == AF_UNIX) {
        format_unix(a, text, size);
        return text;
    }
    net_addr_host(a, host, sizeof host);
    snprintf(text, size, a->ss.ss_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host, net_addr_port(a));
    return text;
}

size_t net_addr_host(const struct net_addr *a, char *text, size_t size)
{
    char host[INET6_ADDRSTRLEN];
    const char *s = "unknown";

    switch (a->ss.ss_family) {
    case AF_INET:
        s = inet_ntop(AF_INET, &((const struct sockaddr_in *)&a->ss)->sin_addr, host, sizeof host);
        break;
    case AF_INET6:
        s = inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)&a->ss)->sin6_addr, host, sizeof host);
        break;
    case AF_UNIX:
        s = "unix";
        break;
    default:
        break;
    }
    snprintf(text, size, "%s", s);
    return strnlen(text, size);
}

unsigned net_addr_port(const struct net_addr *a)
{
    if (a->ss.ss_family == AF_INET) {
        return ntohs(((const struct sockaddr_in *)&a->ss)->sin_port);
    }
    if (a->ss.ss_family == AF_INET6) {
        return ntohs(((const struct sockaddr_in6 *)&a->ss)->sin6_port);
    }
    return 0;
}
