/* Compiles the user's copy of plock at run time: the loops must have the lock inline, and this program has
 * nobody else's code in it. The sources of the loops are carried along as text. */
#include "bench/lock/plock.h"

#include "base/compile.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const lock_lines[] = {
#include "bench/lock/lock.h.lines"
};
static const char *const loops_lines[] = {
#include "bench/lock/loops.h.lines"
};
static const char *const wrap_lines[] = {
#include "bench/lock/plock_wrap.h.lines"
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

const struct bench_lock bench_plock_described[BENCH_PLOCK_LOCKS] = {
    {.name = "plock32", .what = "plock, 4 bytes", .flags = BENCH_SHARED, .size = sizeof(unsigned)},
    {.name = "plock64", .what = "plock, 8 bytes", .flags = BENCH_SHARED, .size = sizeof(unsigned long)},
};

/* What is made in the temporary directory, in the order of making. */
static const struct {
    const char *name;
    const char *const *lines;
    size_t n;
} files[] = {
    {"bench", NULL, 0},
    {"bench/lock", NULL, 0},
    {"bench/lock/lock.h", lock_lines, COUNT(lock_lines)},
    {"bench/lock/loops.h", loops_lines, COUNT(loops_lines)},
    {"plock_wrap.c", wrap_lines, COUNT(wrap_lines)},
    {"plock_wrap.so", NULL, 0}, /* the compiler's */
};

#define PATH_SIZE 4096

struct workshop {
    char dir[PATH_SIZE - 64];
    char *error;
    size_t size;
};

__attribute__((format(printf, 2, 3))) static int fail(struct workshop *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(w->error, w->size, format, args);
    va_end(args);
    return -1;
}

static char *path_of(const struct workshop *w, const char *name, char path[PATH_SIZE])
{
    snprintf(path, PATH_SIZE, "%s/%s", w->dir, name);
    return path;
}

static int write_lines(struct workshop *w, const char *path, const char *const *lines, size_t n)
{
    FILE *f = fopen(path, "we");
    int bad = !f;

    for (size_t i = 0; f && i < n; i++) {
        bad = bad || fputs(lines[i], f) < 0 || fputc('\n', f) < 0;
    }
    bad = (f && fclose(f)) || bad;
    return bad ? fail(w, "%s: %s", path, strerror(errno)) : 0;
}

static int open_workshop(struct workshop *w)
{
    const char *tmp = getenv("TMPDIR");
    char path[PATH_SIZE];

    if (!tmp || !*tmp) {
        tmp = "/tmp";
    }
    if (snprintf(w->dir, sizeof w->dir, "%s/pawl-bench-XXXXXX", tmp) >= (int)sizeof w->dir ||
        !mkdtemp(w->dir)) {
        w->dir[0] = 0;
        return fail(w, "cannot make a temporary directory in %s: %s; name another in TMPDIR", tmp,
                    strerror(errno));
    }
    for (size_t i = 0; i < COUNT(files) - 1; i++) {
        path_of(w, files[i].name, path);
        if (files[i].lines) {
            if (write_lines(w, path, files[i].lines, files[i].n) < 0) {
                return -1;
            }
        } else if (mkdir(path, 0700) < 0) {
            return fail(w, "%s: %s", path, strerror(errno));
        }
    }
    return 0;
}

static void close_workshop(const struct workshop *w)
{
    char path[PATH_SIZE];

    for (size_t i = COUNT(files); w->dir[0] && i > 0; i--) {
        path_of(w, files[i - 1].name, path);
        if (unlink(path) < 0) {
            rmdir(path);
        }
    }
    if (w->dir[0]) {
        rmdir(w->dir);
    }
}

static int compile(struct workshop *w, const char *plock_dir)
{
    char source[PATH_SIZE], object[PATH_SIZE], what[PATH_SIZE + 16];
    const char *const words[] = {"-std=gnu11",
                                 "-O2",
                                 "-fPIC",
                                 "-shared",
                                 "-w",
                                 "-D_GNU_SOURCE",
                                 "-I",
                                 w->dir,
                                 "-I",
                                 plock_dir,
                                 "-o",
                                 path_of(w, "plock_wrap.so", object),
                                 path_of(w, "plock_wrap.c", source),
                                 NULL};

    snprintf(what, sizeof what, "%s/plock.h", plock_dir);
    return base_compile(words, what, "plock is compiled here and needs one", w->error, w->size);
}

static int load(struct workshop *w, const struct bench_lock *locks[BENCH_PLOCK_LOCKS])
{
    static const char *const symbols[BENCH_PLOCK_LOCKS] = {"bench_lock_plock32", "bench_lock_plock64"};
    char path[PATH_SIZE];
    void *so = dlopen(path_of(w, "plock_wrap.so", path), RTLD_NOW | RTLD_LOCAL);

    for (size_t i = 0; i < BENCH_PLOCK_LOCKS; i++) {
        locks[i] = so ? dlsym(so, symbols[i]) : NULL;
        if (!locks[i]) {
            return fail(w, "cannot load what was compiled from plock.h: %s", dlerror());
        }
    }
    return 0;
}

int bench_plock_find(const char *dir, char *error, size_t size)
{
    static const char *const headers[] = {"plock.h", "atomic-ops.h"};
    char path[PATH_SIZE];

    for (size_t i = 0; i < COUNT(headers); i++) {
        bool fits = snprintf(path, sizeof path, "%s/%s", dir, headers[i]) < (int)sizeof path;

        if (!fits || access(path, R_OK) < 0) {
            snprintf(error, size, "--plock '%s': expected a directory with plock.h and atomic-ops.h (%s: %s)",
                     dir, headers[i], strerror(fits ? errno : ENAMETOOLONG));
            return -1;
        }
    }
    return 0;
}

int bench_plock_load(const char *dir, const struct bench_lock *locks[BENCH_PLOCK_LOCKS], char *error,
                     size_t size)
{
    struct workshop *w = calloc(1, sizeof *w);
    sigset_t ends, before;
    int rc;

    if (!w) {
        snprintf(error, size, "out of memory");
        return -1;
    }
    w->error = error;
    w->size = size;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    sigprocmask(SIG_BLOCK, &ends, &before); /* the directory goes away even then */
    rc = bench_plock_find(dir, error, size) < 0 || open_workshop(w) < 0 || compile(w, dir) < 0 ||
                 load(w, locks) < 0
             ? -1
             : 0;
    close_workshop(w);
    sigprocmask(SIG_SETMASK, &before, NULL);
    free(w);
    return rc;
}
