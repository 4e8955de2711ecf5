/* Building the request of a run. Strict about what goes out: a URL or header field that would make another
 * message than the one meant is refused, never repaired. */
#include "load/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    enum http_method method;
} methods[] = {{"GET", HTTP_GET},     {"HEAD", HTTP_HEAD},       {"POST", HTTP_POST},
               {"PUT", HTTP_PUT},     {"DELETE", HTTP_DELETE},   {"TRACE", HTTP_TRACE},
               {"PATCH", HTTP_PATCH}, {"OPTIONS", HTTP_OPTIONS}, {"CONNECT", HTTP_CONNECT}};

static bool token_char(unsigned char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!token_char((unsigned char)s[i])) {
            return false;
        }
    }
    return n > 0;
}

static bool read_method(struct load_request *r, const char *name, char *err, size_t err_size)
{
    if (!is_token(name, strlen(name))) {
        snprintf(err, err_size, "method '%s': expected a token such as GET", name);
        return false;
    }
    r->method = HTTP_OTHER;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        if (!strcmp(name, methods[i].name)) {
            r->method = methods[i].method;
        }
    }
    if (r->method == HTTP_CONNECT) {
        snprintf(err, err_size, "method 'CONNECT': opens a tunnel, which can't be measured as requests");
        return false;
    }
    return true;
}

/* Splits a URL: authority into auth (cap bytes), *path to the rest ("" where there is none). */
static bool split_url(const char *url, char *auth, size_t cap, const char **path, char *err, size_t err_size)
{
    if (strncasecmp(url, "http://", 7) != 0) {
        snprintf(err, err_size, "URL '%s': expected http://ADDRESS:PORT/PATH%s", url,
                 strncasecmp(url, "https://", 8) ? "" : " (TLS is not supported)");
        return false;
    }
    const char *start = url + 7;
    size_t n = strcspn(start, "/?#");
    if (n == 0 || n >= cap) {
        snprintf(err, err_size, "URL '%s': expected an address after http://", url);
        return false;
    }
    memcpy(auth, start, n);
    auth[n] = '\0';
    *path = start + n;
    for (const char *p = *path; *p; p++) {
        if (*p <= ' ' || *p > '~' || *p == '#') {
            snprintf(err, err_size, "URL '%s': byte %zu may not stand in a path; percent-encode it", url,
                     (size_t)(p - url) + 1);
            return false;
        }
    }
    return true;
}

/* The authority as an address; a missing port is 80. */
static bool read_authority(struct load_request *r, const char *url, const char *auth, char *err,
                           size_t err_size)
{
    const char *why = NULL, *colon = strrchr(auth, ':'), *bracket = strrchr(auth, ']');
    char text[NET_ADDR_TEXT + 32];
    size_t host = colon && (!bracket || colon > bracket) ? (size_t)(colon - auth) : strlen(auth);
    const char *port = auth[host] ? auth + host : ":80";

    if (host == 9 && !strncasecmp(auth, "localhost", 9)) {
        snprintf(text, sizeof text, "127.0.0.1%s", port);
    } else {
        snprintf(text, sizeof text, "%.*s%s", (int)host, auth, port);
    }
    if (host == 0 || text[0] == '*' || !strncmp(text, "unix@", 5)) {
        why = "expected a literal IP address";
    } else if (net_addr_parse(&r->addr, text, &why)) {
        if (net_addr_port(&r->addr) > 0) {
            return true;
        }
        why = "port 0 can't be connected to";
    }
    snprintf(err, err_size, "URL '%s': %s (of names only localhost is known)", url, why);
    return false;
}

static bool name_is(const char *field, size_t n, const char *name)
{
    return strlen(name) == n && !strncasecmp(field, name, n);
}

static bool check_field(const char *field, char *err, size_t err_size)
{
    const char *colon = strchr(field, ':');
    size_t n = colon ? (size_t)(colon - field) : 0;

    if (!colon || !is_token(field, n)) {
        snprintf(err, err_size, "header '%s': expected 'Name: value'", field);
        return false;
    }
    if (name_is(field, n, "Content-Length") || name_is(field, n, "Transfer-Encoding")) {
        snprintf(err, err_size, "header '%s': framing is not yours to set, since no body is sent", field);
        return false;
    }
    for (const unsigned char *p = (const unsigned char *)colon + 1; *p; p++) {
        if ((*p < ' ' && *p != '\t') || *p == 0x7f) {
            snprintf(err, err_size, "header '%.*s': control character in the value", (int)n, field);
            return false;
        }
    }
    return true;
}

static bool has_host(const char *const *fields, size_t nfields)
{
    for (size_t i = 0; i < nfields; i++) {
        if (!strncasecmp(fields[i], "Host:", 5)) {
            return true;
        }
    }
    return false;
}

static bool write_message(struct load_request *r, const char *method, const char *path, const char *auth,
                          const char *const *fields, size_t nfields)
{
    FILE *f = open_memstream(&r->bytes, &r->len);
    if (!f) {
        return false;
    }
    fprintf(f, "%s %s%s HTTP/1.1\r\n", method, path[0] == '/' ? "" : "/", path);
    if (!has_host(fields, nfields)) {
        fprintf(f, "Host: %s\r\n", auth);
    }
    for (size_t i = 0; i < nfields; i++) {
        size_t name = strcspn(fields[i], ":");
        const char *value = fields[i] + name + 1;
        value += strspn(value, " \t");
        size_t n = strlen(value);
        while (n && (value[n - 1] == ' ' || value[n - 1] == '\t')) {
            n--;
        }
        fprintf(f, "%.*s: %.*s\r\n", (int)name, fields[i], (int)n, value);
    }
    if (r->method == HTTP_POST || r->method == HTTP_PUT || r->method == HTTP_PATCH) {
        fputs("Content-Length: 0\r\n",
              f); /* RFC 9110, 8.6: a method that expects content says there is none */
    }
    fputs("\r\n", f);
    bool bad = ferror(f);
    if (fclose(f) || bad) {
        free(r->bytes);
        return false;
    }
    return true;
}

bool load_request_build(struct load_request *r, const char *url, const char *method,
                        const char *const *fields, size_t nfields, char *err, size_t err_size)
{
    char auth[NET_ADDR_TEXT];
    const char *path;

    memset(r, 0, sizeof *r);
    if (!method) {
        method = "GET";
    }
    if (!read_method(r, method, err, err_size) || !split_url(url, auth, sizeof auth, &path, err, err_size) ||
        !read_authority(r, url, auth, err, err_size)) {
        return false;
    }
    for (size_t i = 0; i < nfields; i++) {
        if (!check_field(fields[i], err, err_size)) {
            return false;
        }
    }
    if (!write_message(r, method, path, auth, fields, nfields)) {
        r->bytes = NULL;
        snprintf(err, err_size, "out of memory for the request");
        return false;
    }
    return true;
}

void load_request_free(struct load_request *r)
{
    free(r->bytes);
    r->bytes = NULL;
    r->len = 0;
}
