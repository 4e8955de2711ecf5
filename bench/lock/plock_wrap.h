/* plock's locks in the loops of the benchmark. Not part of the program: bench/lock/plock.c compiles it at run
 * time, against the plock.h that the user has. */
#include <plock.h>

#define BL                  plock32
#define BL_NAME             "plock32"
#define BL_WHAT             "plock, 4 bytes"
#define BL_NOTE             NULL
#define BL_FLAGS            BENCH_SHARED
#define BL_TYPE             unsigned int
#define BL_INIT(l)          (*(l) = 0)
#define BL_READ(l, c)       pl_take_r(l)
#define BL_READ_END(l, c)   pl_drop_r(l)
#define BL_SEEK(l, c)       pl_take_s(l)
#define BL_SEEK_END(l, c)   pl_drop_s(l)
#define BL_WRITE(l, c)      pl_take_w(l)
#define BL_WRITE_END(l, c)  pl_drop_w(l)
#define BL_ATOMIC(l, c)     pl_take_a(l)
#define BL_ATOMIC_END(l, c) pl_drop_a(l)
#include "bench/lock/loops.h"

#define BL                  plock64
#define BL_NAME             "plock64"
#define BL_WHAT             "plock, 8 bytes"
#define BL_NOTE             NULL
#define BL_FLAGS            BENCH_SHARED
#define BL_TYPE             unsigned long
#define BL_INIT(l)          (*(l) = 0)
#define BL_READ(l, c)       pl_take_r(l)
#define BL_READ_END(l, c)   pl_drop_r(l)
#define BL_SEEK(l, c)       pl_take_s(l)
#define BL_SEEK_END(l, c)   pl_drop_s(l)
#define BL_WRITE(l, c)      pl_take_w(l)
#define BL_WRITE_END(l, c)  pl_drop_w(l)
#define BL_ATOMIC(l, c)     pl_take_a(l)
#define BL_ATOMIC_END(l, c) pl_drop_a(l)
#include "bench/lock/loops.h"
