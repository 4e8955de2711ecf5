/* Reading HTTP/1.1 messages off a socket for the tests: strict, exact, with a deadline on everything. It is
 * written apart from the project's own parser, so that a fault there can't hide here. It never asserts: any
 * thread may use it. */
#ifndef PAWL_TESTS_BALANCER_WIRE_H
#define PAWL_TESTS_BALANCER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_result {
    WIRE_OK,        /* a whole message */
    WIRE_CLOSED,    /* end of the stream before its first byte */
    WIRE_TRUNCATED, /* end of the stream inside it */
    WIRE_RESET,     /* the connection was reset */
    WIRE_TIMEOUT,   /* the deadline passed */
    WIRE_BAD        /* not a valid message: see error */
};

enum wire_framing { WIRE_NONE, WIRE_LENGTH, WIRE_CHUNKED, WIRE_UNTIL_CLOSE };

/* A connection with what was read from it and not yet used. The owner closes fd and calls wire_free(). */
struct wire {
    int fd;
    char *buf;
    size_t off, len, cap; /* unused bytes: buf[off..len) */
    uint64_t received;    /* bytes taken from the socket so far */
};

struct wire_field {
    char *name, *value;
};

/* One message. Zero-initialise; wire_msg_free() releases what reading allocated. */
struct wire_msg {
    char *method, *target; /* of a request */
    unsigned status;       /* of a response */
    char *version;
    struct wire_field *fields;
    size_t nfields;
    char *head; /* its exact bytes, terminated */
    size_t head_len;
    char *raw_body; /* the body's exact bytes as received (chunk framing included), terminated */
    size_t raw_body_len, raw_body_cap;
    char *body; /* its payload, terminated */
    size_t body_len;
    enum wire_framing framing;
    const char *error;   /* static: what was wrong, after WIRE_BAD */
    int64_t when_ms;     /* when the head was complete, on wire_now_ms()'s clock */
    unsigned connection; /* an endpoint's: which of its connections, from 0 */
};

int64_t wire_now_ms(void); /* CLOCK_MONOTONIC */

void wire_init(struct wire *w, int fd);
void wire_free(struct wire *w);
void wire_msg_free(struct wire_msg *m);

/* Waits until bytes are there to read, in the buffer or in the socket (WIRE_OK; the end of the stream
 * counts). */
enum wire_result wire_wait(struct wire *w, int64_t deadline_ms);

/* Reads the head, then the body, of a request or of a response. head_only: the response is to a HEAD. Interim
 * responses (1xx) are messages without a body. */
enum wire_result wire_read_request_head(struct wire *w, struct wire_msg *m, int64_t deadline_ms);
enum wire_result wire_read_response_head(struct wire *w, struct wire_msg *m, bool head_only,
                                         int64_t deadline_ms);
enum wire_result wire_read_body(struct wire *w, struct wire_msg *m, int64_t deadline_ms);

/* Reads whatever comes until the stream ends; WIRE_OK at an orderly end, WIRE_RESET, WIRE_TIMEOUT. *bytes
 * counts what came; keep (may be NULL) holds its first keep_cap bytes. */
enum wire_result wire_drain(struct wire *w, int64_t deadline_ms, char *keep, size_t keep_cap,
                            uint64_t *bytes);

/* Sends all of it; false when the peer is gone or the deadline passed. */
bool wire_send(int fd, const void *data, size_t n, int64_t deadline_ms);

/* The value of the field's first line, or NULL; how many lines it has. Names compare without case. */
const char *wire_field(const struct wire_msg *m, const char *name);
size_t wire_field_count(const struct wire_msg *m, const char *name);

const char *wire_result_text(enum wire_result r);

#endif
