#include "base/compile.h"

#include "base/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __clang__
#    define COMPILER "clang"
#else
#    define COMPILER "gcc"
#endif

#define COMPILE_MS 60000

/* Each the caller's to free; NULL at the end, and sooner where memory runs out. */
static size_t copy_words(const char *compiler, const char *const *arguments,
                         char *argv[BASE_COMPILE_ARGUMENTS + 2])
{
    size_t n = 0;
    argv[0] = strdup(compiler);
    while (argv[n] && n < BASE_COMPILE_ARGUMENTS && arguments[n]) {
        argv[n + 1] = strdup(arguments[n]);
        n++;
    }
    argv[n + 1] = NULL;
    return n;
}

/* Runs one compiler. -ENOENT: there is no such program. */
static int compile_with(const char *compiler, const char *const *arguments, const char *what, char *error,
                        size_t size)
{
    char *argv[BASE_COMPILE_ARGUMENTS + 2], words[1200], how[100];
    size_t n = copy_words(compiler, arguments, argv);
    struct base_proc_spec spec = {.argv = argv, .pass_fd = -1};
    struct base_proc proc = BASE_PROC_INIT, *procs = &proc;
    int rc = argv[0] && argv[n] ? base_proc_start(&proc, &spec) : -ENOMEM;

    for (int left_ms = COMPILE_MS; rc == 0 && !proc.ended && left_ms > 0; left_ms -= 100) {
        rc = base_proc_poll(&procs, 1, NULL, 0, 100);
    }
    if (rc == 0 && !proc.ended) {
        snprintf(error, size, "%s did not end within a minute", compiler);
        rc = -1;
    } else if (rc == 0 && proc.status != 0) {
        snprintf(error, size, "%s cannot compile %s (it %s): %s", compiler, what,
                 base_proc_how_ended(&proc, how, sizeof how),
                 base_proc_last_words(&proc, 12, words, sizeof words));
        rc = -1;
    }
    base_proc_free(&proc);
    for (size_t i = 0; argv[i]; i++) {
        free(argv[i]);
    }
    return rc;
}

int base_compile(const char *const *arguments, const char *what, const char *why, char *error, size_t size)
{
    const char *asked = getenv("CC"), *compiler = asked && *asked ? asked : COMPILER;
    int rc = compile_with(compiler, arguments, what, error, size);

    if (rc == -ENOENT && compiler != asked) {
        rc = compile_with(compiler = "cc", arguments, what, error, size);
    }
    if (rc < -1) {
        snprintf(error, size, "cannot run the C compiler '%s': %s; %s: install one, or name it in CC",
                 compiler, strerror(-rc), why);
        rc = -1;
    }
    return rc;
}
