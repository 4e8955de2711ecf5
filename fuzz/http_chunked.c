/* The chunked coding: payload, end and verdict do not depend on how the body was cut, and what was decoded,
 * coded again, decodes to itself. */
#include "fuzz/fuzz.h"
#include "http/http.h"
#include "tests/http/guard.h"

#define MAX_SIZE 6000

struct outcome {
    enum http_chunk_result result;
    size_t used, n;
    char payload[MAX_SIZE + 64];
};

/* The body arrives in a first piece and then step bytes at a time. */
static void decode(struct outcome *o, const char *text, size_t size, size_t first, size_t step)
{
    struct http_chunked c = {0};
    size_t piece = first, used, payload;

    o->result = HTTP_CHUNK_MORE;
    o->used = o->n = 0;
    while (o->result == HTTP_CHUNK_MORE && o->used < size) {
        if (piece > size - o->used)
            piece = size - o->used;
        char *buf = guard_copy(text + o->used, piece);
        FUZZ_HOLDS(buf);
        o->result = http_chunked_decode(&c, buf, piece, &used, &payload);
        FUZZ_HOLDS(payload <= used && used <= piece);
        FUZZ_HOLDS(o->result != HTTP_CHUNK_MORE || used == piece);
        memcpy(o->payload + o->n, buf, payload);
        o->used += used;
        o->n += payload;
        FUZZ_HOLDS(c.total == o->n);
        piece = step;
    }
}

static void same(const struct outcome *a, const struct outcome *b)
{
    FUZZ_HOLDS(a->result == b->result && a->used == b->used && a->n == b->n);
    FUZZ_HOLDS(!memcmp(a->payload, b->payload, a->n));
}

static void code_and_decode(const struct outcome *o)
{
    static struct outcome back;
    static char text[MAX_SIZE + 64];
    size_t n = 0;

    if (o->n) {
        n = http_write_chunk_size(text, o->n);
        memcpy(text + n, o->payload, o->n);
        n += o->n;
        text[n++] = '\r';
        text[n++] = '\n';
    }
    n += http_write_chunk_size(text + n, 0);
    text[n++] = '\r';
    text[n++] = '\n';
    decode(&back, text, n, n, n);
    FUZZ_HOLDS(back.result == HTTP_CHUNK_DONE && back.used == n && back.n == o->n);
    FUZZ_HOLDS(!memcmp(back.payload, o->payload, o->n));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct outcome once, cut;
    const char *text = (const char *)data;

    if (size > MAX_SIZE)
        return 0;
    decode(&once, text, size, size, size);
    decode(&cut, text, size, 1, 1);
    same(&once, &cut);
    for (size_t first = 1; first < size; first = first * 2 + 1) {
        decode(&cut, text, size, first, size);
        same(&once, &cut);
    }
    decode(&cut, text, size, size / 3 + 1, 7);
    same(&once, &cut);
    if (once.result == HTTP_CHUNK_DONE)
        code_and_decode(&once);
    return 0;
}
