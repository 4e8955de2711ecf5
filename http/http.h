/* HTTP/1.x messages (RFC 9110, 9112): strict parsing and writing over buffers. Pure functions: no input or
 * output, no allocation, nothing kept beyond the structures passed. Callable from any thread.
 *
 * Strict means: anything whose framing two implementations might read differently is refused, never repaired.
 */
#ifndef PAWL_HTTP_HTTP_H
#define PAWL_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of somebody else's buffer; not terminated. */
struct http_str {
    const char *p;
    size_t n;
};

enum http_method {
    HTTP_GET,
    HTTP_HEAD,
    HTTP_POST,
    HTTP_PUT,
    HTTP_DELETE,
    HTTP_OPTIONS,
    HTTP_TRACE,
    HTTP_CONNECT,
    HTTP_PATCH,
    HTTP_OTHER
};

/* How the end of a body is known (RFC 9112, 6.3). */
enum http_body {
    HTTP_BODY_NONE,    /* no body */
    HTTP_BODY_LENGTH,  /* content_length bytes (may be 0) */
    HTTP_BODY_CHUNKED, /* chunked coding */
    HTTP_BODY_CLOSE,   /* until the connection closes (answers only) */
    HTTP_BODY_TUNNEL   /* 101, or 2xx to CONNECT: bytes both ways until closed */
};

/* Fields a proxy treats; the rest are HTTP_F_OTHER and pass unchanged. */
enum http_field_id {
    HTTP_F_OTHER,
    HTTP_F_HOST,
    HTTP_F_CONNECTION,
    HTTP_F_CONTENT_LENGTH,
    HTTP_F_TRANSFER_ENCODING,
    HTTP_F_KEEP_ALIVE,
    HTTP_F_PROXY_CONNECTION,
    HTTP_F_TE,
    HTTP_F_TRAILER,
    HTTP_F_UPGRADE,
    HTTP_F_EXPECT,
    HTTP_F_X_FORWARDED_FOR
};

#define HTTP_MAX_FIELDS 100 /* more header fields than this: 431 (502 in an answer) */

struct http_field {
    struct http_str name, value; /* value without surrounding whitespace */
    enum http_field_id id;
    bool hop; /* hop-by-hop (RFC 9110, 7.6.1): a fixed one, or named by Connection; not forwarded */
};

struct http_request {
    struct http_str method_text, target;
    enum http_method method;
    unsigned minor; /* HTTP/1.minor: 0 or 1 */
    enum http_body body;
    uint64_t content_length;
    bool keep_alive;      /* the client's side may be reused after this request */
    bool expect_continue; /* Expect: 100-continue */
    bool upgrade;         /* Connection: upgrade with an Upgrade field */
    size_t nfields;
    struct http_field fields[HTTP_MAX_FIELDS];
};

struct http_response {
    unsigned status; /* 100..599 */
    struct http_str reason;
    unsigned minor;
    enum http_body body; /* decided with the request's method */
    uint64_t content_length;
    bool keep_alive; /* the server's side may be reused after this answer */
    size_t nfields;
    struct http_field fields[HTTP_MAX_FIELDS];
};

/* Parse a message head that starts at buf. Return
 *   > 0  the length of the head, its empty line included; the structure is filled and points into buf;
 *   0    more bytes are needed;
 *   < 0  refused: minus the status to answer (requests: 400, 414, 431, 501, 505; answers: always 502).
 * Unless > 0 is returned the structure's contents mean nothing; it need not be kept between calls.
 *
 * *scan must be 0 at first and is kept by the caller between calls with the same, longer buf (it may have
 * moved): it makes parsing a head that arrives byte by byte linear. The result for a head does not depend on
 * how it was split. A fault that shows in a byte (a bare LF, a version, a field too many) is reported as soon
 * as that byte is there, one of meaning (Host, the target's form, framing, Connection) once all is there.
 *
 * full: buf can't grow any more; an incomplete head is then 414 (no end of the request line yet) or 431.
 *
 * Choices where the RFCs leave one, or would have a fault repaired:
 * - Empty lines before a request line are skipped, at most 2. Minor versions above 1 count as 1.
 * - Content-Length: one field with one number up to 2^63 - 1; equal duplicates are refused too.
 * - Transfer-Encoding: "chunked" alone. Other codings before it are 501; anything else is refused, so is any
 *   in HTTP/1.0 or beside Content-Length, and a body announced by a 1xx or 204 answer.
 * - An absolute-form target (http or https) must have Host's authority; RFC 9112, 3.2.2, would overrule Host.
 * - Targets may hold any visible ASCII but '#'. CONNECT needs a port and Host, and no body.
 * - Host may be empty, and absent in HTTP/1.0; user information and commas are refused.
 * - Connection may not name Host, Content-Length or Transfer-Encoding, nor over 32 other fields.
 * - A field meant for every recipient (Cookie, Authorization, X-Forwarded-*, Content-*, ...) is forwarded,
 *   whether Connection names it or not.
 * - Expect other than 100-continue is the server's to judge. From HTTP/1.0, 100-continue is dropped.
 * - Upgrade with a body, or to h2c, is not forwarded: r->upgrade is false. */
long http_parse_request(struct http_request *r, const char *buf, size_t len, size_t *scan, bool full);
long http_parse_response(struct http_response *r, const char *buf, size_t len, size_t *scan, bool full,
                         enum http_method request_method);

/* A method that may be sent again without harm (RFC 9110, 9.2.2). */
bool http_method_idempotent(enum http_method m);

/* Chunked coding, decoded in place (RFC 9112, 7.1). Zero-initialise before a body. Bounds: 16 digits and
 * 2^63 - 1 for a chunk's size, 256 bytes for its extensions, 8192 bytes for the trailer section. Extensions
 * and trailers are checked, then dropped. */
struct http_chunked {
    uint64_t left;    /* of the chunk being read */
    uint32_t state;   /* private */
    uint32_t line;    /* bytes of the line being read: bounded */
    uint32_t trailer; /* bytes of the trailer section read: bounded, checked, then dropped */
    uint64_t total;   /* payload bytes so far */
};

enum http_chunk_result { HTTP_CHUNK_MORE = 0, HTTP_CHUNK_DONE = 1, HTTP_CHUNK_BAD = -1 };

/* Decodes buf[0..len): payload is moved to the front, *payload bytes of it; *used input bytes were consumed
 * (all of them, unless DONE or BAD). After DONE, buf[*used..len) belongs to the next message. Never keeps
 * input back. */
enum http_chunk_result http_chunked_decode(struct http_chunked *c, char *buf, size_t len, size_t *used,
                                           size_t *payload);

/* Upper bound of what writing a head adds to the length of the parsed one, where the name and the value of
 * forwarded_for have at most 256 bytes together. */
#define HTTP_HEAD_ROOM 512

struct http_request_edit {
    struct http_str forwarded_for;  /* n != 0: add X-Forwarded-For with this value */
    struct http_str forwarded_name; /* another name for that field; n == 0: X-Forwarded-For */
    bool close;                     /* add Connection: close */
};

/* Writes the head to send to a server: HTTP/1.1, hop-by-hop fields dropped (Connection: upgrade and Upgrade
 * kept where r->upgrade), framing fields normalised (one Content-Length, or Transfer-Encoding: chunked), an
 * absolute-form target reduced to origin form. An HTTP/1.0 request without Host gets one: from such a target,
 * or empty. Returns the length, or 0 if cap is too small. */
size_t http_write_request(char *out, size_t cap, const struct http_request *r,
                          const struct http_request_edit *e);

struct http_response_edit {
    unsigned client_minor;  /* the client's version: to 1.0 no chunked coding goes out */
    bool client_keep_alive; /* what the client asked for */
    bool force_close;       /* the connection closes after this answer whatever was asked */
};

/* Writes the head to send to a client (interim answers included; an HTTP/1.0 client must be sent none).
 * *close tells whether the connection must be closed after the body: never after an interim answer, always
 * after a tunnel. *chunked tells whether the body goes out in chunked coding (else raw): so goes every body
 * without a length to an HTTP/1.1 client, which can then tell when it was cut short. Returns the length, or 0
 * if cap is too small. */
size_t http_write_response(char *out, size_t cap, const struct http_response *r,
                           const struct http_response_edit *e, bool *close, bool *chunked);

/* Writes a chunk-size line for a chunk of n bytes (n > 0), e.g. "1f40\r\n". Returns its length, at most 18.
 */
size_t http_write_chunk_size(char out[20], uint64_t n);

/* A whole built-in error answer (400 403 404 408 413 414 417 431 500 501 502 503 504 505; for any other
 * status that of 500), with body and Connection: close; a static string. head_only: without the body. */
struct http_str http_error_answer(unsigned status, bool head_only);

/* The standard reason phrase of a status, "Unknown" for one that has none. */
const char *http_reason(unsigned status);

#endif
