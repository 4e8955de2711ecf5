/* The one request a run sends: built once from URL, method and header fields, then sent as it is. */
#ifndef PAWL_LOAD_REQUEST_H
#define PAWL_LOAD_REQUEST_H

#include "http/http.h"
#include "net/addr.h"

struct load_request {
    struct net_addr addr; /* whom to connect to */
    enum http_method method;
    char *bytes; /* the whole message; allocated */
    size_t len;
};

/* Builds the request for "http://ADDR[:PORT][/PATH]". ADDR is a literal IPv4 address, a bracketed IPv6 one,
 * or localhost (127.0.0.1); names are not looked up. fields are lines "Name: value"; Host may be among them,
 * framing (Content-Length, Transfer-Encoding) may not, since no body is sent. method NULL is GET. On failure
 * returns false, *r holds nothing, and err says what was wrong with what. */
bool load_request_build(struct load_request *r, const char *url, const char *method,
                        const char *const *fields, size_t nfields, char *err, size_t err_size);

void load_request_free(struct load_request *r);

#endif
