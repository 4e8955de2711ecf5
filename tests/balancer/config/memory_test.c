/* Memory that runs short at any allocation: an error, and nothing left behind (the leak sanitizer looks). The
 * linker sends the configuration's allocations here (--wrap). */
#include "balancer/config/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static long left = -1; /* allocations until one fails; -1: none does */

void *__real_calloc(size_t n, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
char *__real_strdup(const char *s);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);
char *__wrap_strdup(const char *s);

static bool fails(void)
{
    return left >= 0 && left-- == 0;
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
    return fails() ? NULL : __real_reallocarray(p, n, size);
}

char *__wrap_strdup(const char *s)
{
    return fails() ? NULL : __real_strdup(s);
}

static const char text[] = "global\n nbthread 2\n"
                           "defaults d\n mode http\n default_backend b\n option forwardfor header X\n"
                           " timeout client 1s\n timeout server 1s\n timeout connect 1s\n"
                           "frontend f\n bind :80,:81\n bind fd@3\n"
                           "listen l from d\n bind :82\n default_backend b\n"
                           "backend b\n server a 127.0.0.1:1\n server b 127.0.0.1:2\n server c 127.0.0.1:3\n";

static struct cfg *load(long allocations, char **said)
{
    size_t size;
    FILE *err = open_memstream(said, &size);
    struct cfg *c;

    assert_non_null(err);
    left = allocations;
    c = cfg_load_buffer("f", text, sizeof text - 1, err);
    left = -1;
    fclose(err);
    return c;
}

static void memory_short_at_any_allocation_is_an_error_and_leaves_nothing(void **state)
{
    struct cfg *c = NULL;
    char *said;
    long n;

    (void)state;
    for (n = 0; !c && n < 1000; n++) {
        c = load(n, &said);
        if (!c) {
            assert_non_null(strstr(said, "out of memory"));
        } else {
            assert_string_equal(said, "");
        }
        free(said);
    }
    assert_true(n > 30); /* every allocation had its turn */
    assert_non_null(c);
    cfg_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_short_at_any_allocation_is_an_error_and_leaves_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
