/* What went wrong in a run, as the one line its user reads. */
#ifndef PAWL_TESTBED_ERROR_H
#define PAWL_TESTBED_ERROR_H

#define TB_EXIT_FAILED 1
#define TB_EXIT_USAGE  2

struct tb_error {
    int status;      /* the exit status: TB_EXIT_FAILED, TB_EXIT_USAGE, or 128 + the number of a signal */
    char text[3072]; /* one line without its end: which object, what happened, what to do */
};

/* Keeps the first error (status TB_EXIT_FAILED, or TB_EXIT_USAGE for tb_misuse): what goes wrong after it is
 * mostly its consequence. Return -1, so that a caller can pass it on. */
__attribute__((format(printf, 2, 3))) int tb_fail(struct tb_error *err, const char *format, ...);
__attribute__((format(printf, 2, 3))) int tb_misuse(struct tb_error *err, const char *format, ...);

#endif
