/* Memory for records, the mutex that guards the tables, and what a fork does to both. Records are never given
 * back, so that others may read them without a lock; the program's malloc is not used, since it may itself be
 * guarded by watched locks. */
#include "internal.h"

#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#define CHUNK ((size_t)1 << 20)

struct pawl_stats_lost pawl_lib_lost;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void pawl_lib_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void pawl_lib_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

void *pawl_lib_alloc(size_t size)
{
    static char *free_;
    static size_t left;
    size = (size + 63) & ~(size_t)63; /* a cache line's: records of two threads share none */
    if (size > left) {
        size_t ask = size > CHUNK ? size : CHUNK;
        void *p = mmap(NULL, ask, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) {
            lib_count_loss(memory);
            return NULL;
        }
        free_ = p;
        left = ask;
    }
    void *p = free_;
    free_ += size;
    left -= size;
    return p;
}

const char *pawl_lib_copy(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = pawl_lib_alloc(size);
    return copy ? memcpy(copy, text, size) : NULL;
}
