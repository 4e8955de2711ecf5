/* Memory that ends where the input ends: a page that can't be touched follows, so reading one byte too many
 * crashes. */
#ifndef PAWL_TESTS_HTTP_GUARD_H
#define PAWL_TESTS_HTTP_GUARD_H

#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define GUARD_ROOM (1 << 18)

/* Copies data to the end of the mapping; returns where it starts, NULL if there is no memory. Each call
 * replaces the one before. */
static inline char *guard_copy(const void *data, size_t n)
{
    static char *end;

    if (!end) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        char *map = mmap(NULL, GUARD_ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED || mprotect(map + GUARD_ROOM, page, PROT_NONE))
            return NULL;
        end = map + GUARD_ROOM;
    }
    if (n)
        memcpy(end - n, data, n);
    return end - n;
}

#endif
