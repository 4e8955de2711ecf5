/* This library's locks. Compiled once for each combination of the switches that changes how a lock waits:
 * BENCH_VARIANT_NAME is what follows the lock's name, BENCH_VARIANT_ID the same as an identifier. */
#include "pawl/lock.h"

#ifndef BENCH_VARIANT_NAME
#    define BENCH_VARIANT_NAME  ""
#    define BENCH_VARIANT_ID    normal
#    define BENCH_VARIANT_FLAGS 0
#else
#    define BENCH_VARIANT_FLAGS BENCH_VARIANT
#endif

#define BENCH_JOIN_(a, b)   a##_##b
#define BENCH_JOIN(a, b)    BENCH_JOIN_(a, b)

#define BL                  BENCH_JOIN(pawl, BENCH_VARIANT_ID)
#define BL_NAME             "pawl" BENCH_VARIANT_NAME
#define BL_WHAT             "this library's lock of 4 bytes"
#define BL_NOTE             NULL
#define BL_FLAGS            (BENCH_SHARED | BENCH_VARIANT_FLAGS)
#define BL_TYPE             pawl_lock_t
#define BL_INIT(l)          (*(l) = (pawl_lock_t)PAWL_LOCK_INIT)
#define BL_READ(l, c)       pawl_read_lock(l)
#define BL_READ_END(l, c)   pawl_read_unlock(l)
#define BL_SEEK(l, c)       pawl_seek_lock(l)
#define BL_SEEK_END(l, c)   pawl_seek_unlock(l)
#define BL_WRITE(l, c)      pawl_write_lock(l)
#define BL_WRITE_END(l, c)  pawl_write_unlock(l)
#define BL_ATOMIC(l, c)     pawl_atomic_lock(l)
#define BL_ATOMIC_END(l, c) pawl_atomic_unlock(l)
#include "bench/lock/loops.h"

#define BL                  BENCH_JOIN(pawl64, BENCH_VARIANT_ID)
#define BL_NAME             "pawl64" BENCH_VARIANT_NAME
#define BL_WHAT             "this library's lock of 8 bytes"
#define BL_NOTE             NULL
#define BL_FLAGS            (BENCH_SHARED | BENCH_VARIANT_FLAGS)
#define BL_TYPE             pawl_lock64_t
#define BL_INIT(l)          (*(l) = (pawl_lock64_t)PAWL_LOCK64_INIT)
#define BL_READ(l, c)       pawl_read_lock(l)
#define BL_READ_END(l, c)   pawl_read_unlock(l)
#define BL_SEEK(l, c)       pawl_seek_lock(l)
#define BL_SEEK_END(l, c)   pawl_seek_unlock(l)
#define BL_WRITE(l, c)      pawl_write_lock(l)
#define BL_WRITE_END(l, c)  pawl_write_unlock(l)
#define BL_ATOMIC(l, c)     pawl_atomic_lock(l)
#define BL_ATOMIC_END(l, c) pawl_atomic_unlock(l)
#include "bench/lock/loops.h"
