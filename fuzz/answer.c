/* Any bytes as what a server sends to the driver: where answers end does not depend on how the bytes arrived,
 * nor on whether a head was met before. The first two bytes choose the method and where the rest is cut. */
#include "load/answer.h"

#include "fuzz/fuzz.h"

#include <string.h>

struct outcome {
    unsigned answers, last_status;
    bool bad, closed;
};

/* Feeds the bytes in pieces of `step`, answer after answer. */
static struct outcome feed(const uint8_t *data, size_t size, size_t step, enum http_method method)
{
    struct outcome o = {0};
    struct load_answer a = {0};
    static struct load_answer_memo memo;
    memo = (struct load_answer_memo){.method = method};
    for (size_t at = 0; at < size && !o.bad;) {
        size_t n = size - at < step ? size - at : step;
        char *piece = malloc(n);
        if (!piece) {
            break;
        }
        memcpy(piece, data + at, n);
        for (size_t done = 0; done < n && !o.bad;) {
            size_t used = 0;
            switch (load_answer_feed(&a, &memo, piece + done, n - done, &used)) {
            case LOAD_ANSWER_DONE:
                FUZZ_HOLDS(used > 0 && used <= n - done);
                o.answers++;
                o.last_status = a.head.status;
                load_answer_reset(&a);
                done += used;
                break;
            case LOAD_ANSWER_BAD:
                o.bad = true;
                break;
            case LOAD_ANSWER_MORE:
            default:
                done = n;
                break;
            }
        }
        free(piece);
        at += n;
    }
    o.closed = !o.bad && load_answer_closed(&a);
    load_answer_free(&a);
    return o;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    enum http_method method = data[0] % 2 ? HTTP_HEAD : HTTP_GET;
    size_t step = 1 + data[1];
    struct outcome whole = feed(data + 2, size - 2, size, method),
                   cut = feed(data + 2, size - 2, step, method);
    FUZZ_HOLDS(whole.answers == cut.answers && whole.last_status == cut.last_status);
    FUZZ_HOLDS(whole.bad == cut.bad && whole.closed == cut.closed);
    return 0;
}
