/* Recognising where an answer ends in the bytes a server sends: interim answers, Content-Length, chunked
 * coding, until-close, and answers without a body. No input or output. Built on the strict parser of http/.
 *
 * The same head comes back most of the time, byte by byte: the last one parsed is kept, so that recognising
 * it again costs one comparison. Since a head's meaning depends on its bytes alone, this is as strict as
 * parsing it. */
#ifndef PAWL_LOAD_ANSWER_H
#define PAWL_LOAD_ANSWER_H

#include "http/http.h"

#define LOAD_ANSWER_MAX_HEAD 65536

/* What a head says about its message. */
struct load_head {
    unsigned status;
    enum http_body body;
    uint64_t content_length;
    bool keep_alive;
};

/* One a thread: the request's method and the last head. */
struct load_answer_memo {
    enum http_method method;
    struct load_head head;
    size_t len; /* of text; 0: none kept */
    char text[1024];
};

/* One a connection. Zero-initialise; load_answer_reset() after every answer. */
struct load_answer {
    enum { LOAD_IN_HEAD, LOAD_IN_LENGTH, LOAD_IN_CHUNKED, LOAD_IN_CLOSE } phase;
    struct load_head head;
    uint64_t left; /* of a body of known length */
    struct http_chunked chunked;
    char *part; /* the head so far, where it came in pieces; allocated then, kept for the next time */
    size_t part_len, scan;
};

enum load_answer_result { LOAD_ANSWER_MORE, LOAD_ANSWER_DONE, LOAD_ANSWER_BAD };

/* Feeds n > 0 bytes, which may be overwritten. DONE: the answer is complete, its a->head is filled, *used
 * bytes belonged to it. BAD: malformed, not HTTP, a switch of protocols, or out of memory. */
enum load_answer_result load_answer_feed(struct load_answer *a, struct load_answer_memo *memo, char *buf,
                                         size_t n, size_t *used);

/* The server closed: true where that completes the answer. */
bool load_answer_closed(const struct load_answer *a);

/* Ready for the next answer. */
void load_answer_reset(struct load_answer *a);

void load_answer_free(struct load_answer *a);

#endif
