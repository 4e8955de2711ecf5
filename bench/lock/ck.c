/* Concurrency Kit's locks. All of them spin and nothing else; MCS, FAS and ticket have no readers: those take
 * them like writers. */
#include <ck_pflock.h>
#include <ck_rwlock.h>
#include <ck_spinlock.h>
#include <ck_swlock.h>
#include <ck_tflock.h>

#define BL                 ck_rwlock
#define BL_NAME            "ck-rwlock"
#define BL_WHAT            "Concurrency Kit: reader/writer, writers first"
#define BL_NOTE            NULL
#define BL_FLAGS           BENCH_SHARED
#define BL_TYPE            ck_rwlock_t
#define BL_INIT(l)         ck_rwlock_init(l)
#define BL_READ(l, c)      ck_rwlock_read_lock(l)
#define BL_READ_END(l, c)  ck_rwlock_read_unlock(l)
#define BL_WRITE(l, c)     ck_rwlock_write_lock(l)
#define BL_WRITE_END(l, c) ck_rwlock_write_unlock(l)
#include "bench/lock/loops.h"

#define BL                 ck_pflock
#define BL_NAME            "ck-pflock"
#define BL_WHAT            "Concurrency Kit: reader/writer, phases in turn"
#define BL_NOTE            NULL
#define BL_FLAGS           BENCH_SHARED
#define BL_TYPE            ck_pflock_t
#define BL_INIT(l)         ck_pflock_init(l)
#define BL_READ(l, c)      ck_pflock_read_lock(l)
#define BL_READ_END(l, c)  ck_pflock_read_unlock(l)
#define BL_WRITE(l, c)     ck_pflock_write_lock(l)
#define BL_WRITE_END(l, c) ck_pflock_write_unlock(l)
#include "bench/lock/loops.h"

#define BL                 ck_tflock
#define BL_NAME            "ck-tflock"
#define BL_WHAT            "Concurrency Kit: reader/writer, first come first served"
#define BL_NOTE            NULL
#define BL_FLAGS           BENCH_SHARED
#define BL_TYPE            ck_tflock_ticket_t
#define BL_INIT(l)         ck_tflock_ticket_init(l)
#define BL_READ(l, c)      ck_tflock_ticket_read_lock(l)
#define BL_READ_END(l, c)  ck_tflock_ticket_read_unlock(l)
#define BL_WRITE(l, c)     ck_tflock_ticket_write_lock(l)
#define BL_WRITE_END(l, c) ck_tflock_ticket_write_unlock(l)
#include "bench/lock/loops.h"

#define BL                 ck_swlock
#define BL_NAME            "ck-swlock"
#define BL_WHAT            "Concurrency Kit: reader/writer for one writing thread"
#define BL_NOTE            "one writing thread at most"
#define BL_FLAGS           (BENCH_SHARED | BENCH_ONE_WRITER)
#define BL_TYPE            ck_swlock_t
#define BL_INIT(l)         ck_swlock_init(l)
#define BL_READ(l, c)      ck_swlock_read_lock(l)
#define BL_READ_END(l, c)  ck_swlock_read_unlock(l)
#define BL_WRITE(l, c)     ck_swlock_write_lock(l)
#define BL_WRITE_END(l, c) ck_swlock_write_unlock(l)
#include "bench/lock/loops.h"

#define BL                 ck_mcs
#define BL_NAME            "ck-mcs"
#define BL_WHAT            "Concurrency Kit: queue lock"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            ck_spinlock_mcs_t
#define BL_CONTEXT         ck_spinlock_mcs_context_t
#define BL_INIT(l)         ck_spinlock_mcs_init(l)
#define BL_READ(l, c)      ck_spinlock_mcs_lock(l, c)
#define BL_READ_END(l, c)  ck_spinlock_mcs_unlock(l, c)
#define BL_WRITE(l, c)     ck_spinlock_mcs_lock(l, c)
#define BL_WRITE_END(l, c) ck_spinlock_mcs_unlock(l, c)
#include "bench/lock/loops.h"

#define BL                 ck_fas
#define BL_NAME            "ck-fas"
#define BL_WHAT            "Concurrency Kit: fetch-and-store lock"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            ck_spinlock_fas_t
#define BL_INIT(l)         ck_spinlock_fas_init(l)
#define BL_READ(l, c)      ck_spinlock_fas_lock(l)
#define BL_READ_END(l, c)  ck_spinlock_fas_unlock(l)
#define BL_WRITE(l, c)     ck_spinlock_fas_lock(l)
#define BL_WRITE_END(l, c) ck_spinlock_fas_unlock(l)
#include "bench/lock/loops.h"

#define BL                 ck_ticket
#define BL_NAME            "ck-ticket"
#define BL_WHAT            "Concurrency Kit: ticket lock"
#define BL_NOTE            NULL
#define BL_FLAGS           0
#define BL_TYPE            ck_spinlock_ticket_t
#define BL_INIT(l)         ck_spinlock_ticket_init(l)
#define BL_READ(l, c)      ck_spinlock_ticket_lock(l)
#define BL_READ_END(l, c)  ck_spinlock_ticket_unlock(l)
#define BL_WRITE(l, c)     ck_spinlock_ticket_lock(l)
#define BL_WRITE_END(l, c) ck_spinlock_ticket_unlock(l)
#include "bench/lock/loops.h"
