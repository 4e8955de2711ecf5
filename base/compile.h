/* The C compiler, for what has to be compiled while a program runs. */
#ifndef PAWL_BASE_COMPILE_H
#define PAWL_BASE_COMPILE_H

#include <stddef.h>

#define BASE_COMPILE_ARGUMENTS 24

/* Runs $CC (else the compiler this program was made with, else cc) with these arguments, at most
 * BASE_COMPILE_ARGUMENTS, NULL at the end, for a minute at most. `what` names what is compiled and `why` is
 * the end of the sentence that says there is no compiler. 0, or -1 with what went wrong in error. */
int base_compile(const char *const *arguments, const char *what, const char *why, char *error, size_t size);

#endif
