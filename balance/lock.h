/* The exclusive lock that guards the balancer's shared state, chosen at build time so that one balancer can
 * be measured before and after: BAL_LOCKS_PAWL (default), BAL_LOCKS_NO_BACKOFF (Pawl's own source, plain
 * spinning: back-off and sleep switched off) or BAL_LOCKS_PTHREAD (glibc's mutex). */
#ifndef PAWL_BALANCE_LOCK_H
#define PAWL_BALANCE_LOCK_H

#if defined BAL_LOCKS_PTHREAD

#    include <pthread.h>

typedef pthread_mutex_t bal_lock_t;
#    define BAL_LOCKS "pthread (glibc mutex)"

static inline void bal_lock_init(bal_lock_t *l)
{
    pthread_mutex_init(l, NULL);
}
static inline void bal_lock(bal_lock_t *l)
{
    pthread_mutex_lock(l);
}
static inline void bal_unlock(bal_lock_t *l)
{
    pthread_mutex_unlock(l);
}

#else

#    if defined BAL_LOCKS_NO_BACKOFF
#        define PAWL_DISABLE_EBO
#        define PAWL_DISABLE_PARK
#        define BAL_LOCKS "no-backoff (Pawl, plain spinning)"
#    else
#        define BAL_LOCKS "pawl (back-off, then sleep)"
#    endif
#    include "pawl/lock.h"

typedef pawl_lock_t bal_lock_t;

static inline void bal_lock_init(bal_lock_t *l)
{
    *l = (pawl_lock_t)PAWL_LOCK_INIT;
}
static inline void bal_lock(bal_lock_t *l)
{
    pawl_write_lock(l);
}
static inline void bal_unlock(bal_lock_t *l)
{
    pawl_write_unlock(l);
}

#endif

#endif
