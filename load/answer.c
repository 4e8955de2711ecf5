/* Where an answer ends. A head that lies whole in the bytes fed is parsed there; one that came in pieces is
 * gathered in a->part first. */
#include "load/answer.h"

#include <stdlib.h>
#include <string.h>

/* The length of the head at buf, 0 for an incomplete one, negative for a bad one; fills a->head. */
static long parse_head(struct load_answer *a, struct load_answer_memo *memo, const char *buf, size_t n,
                       bool full)
{
    if (memo->len && n >= memo->len && !memcmp(buf, memo->text, memo->len)) {
        a->head = memo->head;
        return (long)memo->len;
    }
    struct http_response r;
    long len = http_parse_response(&r, buf, n, &a->scan, full, memo->method);
    if (len <= 0) {
        return len;
    }
    a->head = (struct load_head){
        .status = r.status, .body = r.body, .content_length = r.content_length, .keep_alive = r.keep_alive};
    if ((size_t)len <= sizeof memo->text) {
        memo->head = a->head;
        memo->len = (size_t)len;
        memcpy(memo->text, buf, (size_t)len);
    }
    return len;
}

/* Looks for a head in what is held back and buf together. On a whole one, *used of buf belonged to it. */
static long gather_head(struct load_answer *a, struct load_answer_memo *memo, const char *buf, size_t n,
                        size_t *used)
{
    if (a->part_len == 0) {
        long len = parse_head(a, memo, buf, n, false);
        if (len != 0) {
            *used = len > 0 ? (size_t)len : 0;
            return len;
        }
    }
    if (!a->part && !(a->part = malloc(LOAD_ANSWER_MAX_HEAD))) {
        return -1;
    }
    size_t before = a->part_len, room = LOAD_ANSWER_MAX_HEAD - before, take = n < room ? n : room;
    memcpy(a->part + before, buf, take);
    a->part_len += take;
    long len = parse_head(a, memo, a->part, a->part_len, a->part_len == LOAD_ANSWER_MAX_HEAD);
    if (len > 0) {
        *used = (size_t)len - before;
    }
    return len;
}

static enum load_answer_result begin_body(struct load_answer *a)
{
    switch (a->head.body) {
    case HTTP_BODY_NONE:
        return LOAD_ANSWER_DONE;
    case HTTP_BODY_LENGTH:
        a->left = a->head.content_length;
        a->phase = LOAD_IN_LENGTH;
        return a->left ? LOAD_ANSWER_MORE : LOAD_ANSWER_DONE;
    case HTTP_BODY_CHUNKED:
        memset(&a->chunked, 0, sizeof a->chunked);
        a->phase = LOAD_IN_CHUNKED;
        return LOAD_ANSWER_MORE;
    case HTTP_BODY_CLOSE:
        a->phase = LOAD_IN_CLOSE;
        a->head.keep_alive = false;
        return LOAD_ANSWER_MORE;
    case HTTP_BODY_TUNNEL:
    default:
        return LOAD_ANSWER_BAD; /* nobody asked for it */
    }
}

/* Heads, interim ones included, up to the final one. */
static enum load_answer_result feed_heads(struct load_answer *a, struct load_answer_memo *memo,
                                          const char *buf, size_t n, size_t *used)
{
    while (*used < n) {
        size_t took = 0;
        long len = gather_head(a, memo, buf + *used, n - *used, &took);
        if (len < 0) {
            return LOAD_ANSWER_BAD;
        }
        if (len == 0) {
            *used = n; /* all of it is kept */
            break;
        }
        *used += took;
        a->part_len = a->scan = 0;
        if (a->head.status >= 200 || a->head.status == 101) {
            return begin_body(a);
        }
    }
    return LOAD_ANSWER_MORE;
}

static enum load_answer_result feed_body(struct load_answer *a, char *buf, size_t n, size_t *used)
{
    size_t took = n, payload;
    enum load_answer_result result = LOAD_ANSWER_MORE;

    if (a->phase == LOAD_IN_LENGTH) {
        took = n < a->left ? n : (size_t)a->left;
        a->left -= took;
        result = a->left ? LOAD_ANSWER_MORE : LOAD_ANSWER_DONE;
    } else if (a->phase == LOAD_IN_CHUNKED) {
        enum http_chunk_result r = http_chunked_decode(&a->chunked, buf, n, &took, &payload);
        result = r == HTTP_CHUNK_MORE   ? LOAD_ANSWER_MORE
                 : r == HTTP_CHUNK_DONE ? LOAD_ANSWER_DONE
                                        : LOAD_ANSWER_BAD;
    }
    *used += took;
    return result;
}

enum load_answer_result load_answer_feed(struct load_answer *a, struct load_answer_memo *memo, char *buf,
                                         size_t n, size_t *used)
{
    *used = 0;
    if (a->phase == LOAD_IN_HEAD) {
        enum load_answer_result result = feed_heads(a, memo, buf, n, used);
        if (result != LOAD_ANSWER_MORE || a->phase == LOAD_IN_HEAD || *used == n) {
            return result;
        }
    }
    return feed_body(a, buf + *used, n - *used, used);
}

bool load_answer_closed(const struct load_answer *a)
{
    return a->phase == LOAD_IN_CLOSE;
}

void load_answer_reset(struct load_answer *a)
{
    a->phase = LOAD_IN_HEAD;
    a->part_len = a->scan = 0;
}

void load_answer_free(struct load_answer *a)
{
    free(a->part);
    a->part = NULL;
}
