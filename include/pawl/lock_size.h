/* The locks for one word size and one set of names. Included by pawl/lock.h and pawl/plock.h once for each;
 * not for direct use, hence no include guard. Takes, and undefines:
 *   PAWL_N       bits of the word: 32 or 64
 *   PAWL_L       the lock's type;  PAWL_WORD(l)  the address of its word
 *   PAWL_PREFIX  what the names begin with
 *   PAWL_LOW     low bits that are the application's: never changed, never looked at */
#define PAWL_CAT_(a, b, c) a##b##c
#define PAWL_CAT(a, b, c)  PAWL_CAT_(a, b, c)
/* `name` is pasted at once: a program may have a macro of that name. */
#define PAWL_F(name)       PAWL_CAT(PAWL_PREFIX, _##name##_, PAWL_N)
#define PAWL_A(name)       PAWL_CAT(pawl, _##name##_, PAWL_N)
#define PAWL_T             PAWL_CAT(uint, PAWL_N, _t)
#define PAWL_WT            PAWL_CAT(pawl_word, PAWL_N, _t)
#define PAWL_BIT(n)        ((PAWL_T)((PAWL_T)1 << (n)))
#define PAWL_LOW_MASK      ((PAWL_T)(PAWL_BIT(PAWL_LOW) - 1))

#define PAWL_QUEUE         PAWL_BIT(PAWL_LOW)
#define PAWL_HEAD          PAWL_BIT(PAWL_LOW + 1)
#define PAWL_ASLEEP        PAWL_BIT(PAWL_LOW + 2)
#define PAWL_TURN          ((PAWL_T)(PAWL_HEAD | PAWL_ASLEEP))
#define PAWL_DRAIN         PAWL_BIT(PAWL_LOW + 3)
#define PAWL_OWES          PAWL_DRAIN /* another meaning, while W is held */
#define PAWL_S             PAWL_BIT(PAWL_LOW + 4)
#define PAWL_W             PAWL_BIT(PAWL_LOW + 5)
#define PAWL_R1            PAWL_BIT(PAWL_LOW + 6)
#if PAWL_N == 64
#    define PAWL_A1   PAWL_BIT(34) /* readers: 28 bits less PAWL_LOW; atomic holders: 29 */
#    define PAWL_HIGH PAWL_BIT(63)
#else
#    define PAWL_A1   PAWL_BIT(19 + PAWL_LOW / 2) /* 13 bits each, or 12 with two low ones */
#    define PAWL_HIGH ((PAWL_T)0)
#endif
#define PAWL_R_MASK ((PAWL_T)(PAWL_A1 - PAWL_R1))
#define PAWL_A_MASK ((PAWL_T)((PAWL_T) ~(PAWL_A1 - 1) & ~PAWL_HIGH))
#define PAWL_HELD   ((PAWL_T)(PAWL_S | PAWL_W | PAWL_R_MASK | PAWL_A_MASK))

/* in this order */
#ifndef __cplusplus /* declarations stand where they are first needed */
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeclaration-after-statement"
#endif
/* clang-format off */
#include "pawl/lock_word.h"
#include "pawl/lock_wait.h"
#include "pawl/lock_ops.h"
/* clang-format on */
#ifndef __cplusplus
#    pragma GCC diagnostic pop
#endif

#undef PAWL_CAT_
#undef PAWL_CAT
#undef PAWL_F
#undef PAWL_A
#undef PAWL_T
#undef PAWL_WT
#undef PAWL_BIT
#undef PAWL_LOW_MASK
#undef PAWL_QUEUE
#undef PAWL_HEAD
#undef PAWL_ASLEEP
#undef PAWL_TURN
#undef PAWL_DRAIN
#undef PAWL_OWES
#undef PAWL_S
#undef PAWL_W
#undef PAWL_R1
#undef PAWL_A1
#undef PAWL_HIGH
#undef PAWL_R_MASK
#undef PAWL_A_MASK
#undef PAWL_HELD
#undef PAWL_N
#undef PAWL_L
#undef PAWL_WORD
#undef PAWL_PREFIX
#undef PAWL_LOW
