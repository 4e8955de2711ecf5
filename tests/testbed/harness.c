/* Runs `pawl testbed` in a scratch directory. This process adopts what the run leaves behind, so that it can
 * be counted: a process that the testbed did not reap comes here, dead or alive. */
#include "tests/testbed/harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char small_scenario[] = "title = a small case\n"
                                     "threads = 1\n"
                                     "connections = 4\n"
                                     "endpoints = 2\n"
                                     "side = before before-program\n"
                                     "side = after after-program\n";

void harness_init(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    alarm(280);
}

static char *path_in(const struct harness *h, const char *name)
{
    char *path = NULL;

    if (asprintf(&path, "%s/%s", h->dir, name) < 0) {
        abort();
    }
    return path;
}

static void make_directory(const struct harness *h, const char *name)
{
    char *path = path_in(h, name);

    assert_int_equal(mkdir(path, 0700), 0);
    free(path);
}

void harness_scenario(struct harness *h, const char *text)
{
    char *path = path_in(h, "small.cfg");
    FILE *f = fopen(path, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    free(path);
}

int harness_setup(void **state)
{
    struct harness *h = calloc(1, sizeof *h);

    assert_non_null(h);
    snprintf(h->dir, sizeof h->dir, "/tmp/pawl-test-testbed-XXXXXX");
    assert_non_null(mkdtemp(h->dir));
    snprintf(h->report, sizeof h->report, "%s/report.json", h->dir);
    make_directory(h, "count");
    make_directory(h, "tmp");
    harness_scenario(h, small_scenario);
    unsetenv("FAKE_DRIVER");
    unsetenv("FAKE_ENDPOINT");
    unsetenv("FAKE_SUT");
    *state = h;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path);
}

int harness_teardown(void **state)
{
    struct harness *h = *state;

    nftw(h->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(h->out);
    free(h->err);
    free(h);
    return 0;
}

static char *read_file(const char *path)
{
    char *text = NULL;
    size_t size = 0;
    FILE *f = fopen(path, "r"), *m = open_memstream(&text, &size);
    int c;

    assert_non_null(f);
    while ((c = fgetc(f)) != EOF) {
        fputc(c, m);
    }
    fclose(f);
    fclose(m);
    return text;
}

int harness_drivers(const struct harness *h)
{
    char *path = path_in(h, "count/driver");
    struct stat st;
    int n = stat(path, &st) == 0 ? (int)st.st_size : 0;

    free(path);
    return n;
}

static void redirect(int fd, const char *path)
{
    int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (to < 0 || dup2(to, fd) < 0) {
        _exit(125);
    }
}

static _Noreturn void child(const struct harness *h, const char *const *arguments)
{
    char *scenario = path_in(h, "small.cfg"), *count = path_in(h, "count"), *tmp = path_in(h, "tmp");
    char *out = path_in(h, "out"), *err = path_in(h, "err"), *sut = getenv("FAKE_SUT_PROGRAM");
    const char *other = getenv("HARNESS_TMPDIR");
    const char *const every[] = {"--scenario", scenario, "--pawl", getenv("FAKE_PAWL"), "--before", sut,
                                 "--after",    sut,      "--out",  h->report,           "--rounds", "2",
                                 "--time",     "50ms"};
    const char *argv[HARNESS_MAX_ARGS + 1] = {getenv("TESTBED"), getenv("TESTBED_COMMAND")};
    size_t n = argv[1] ? 2 : 1; /* `pawl testbed`, or the testbed alone */

    for (size_t i = 0; i < sizeof every / sizeof *every; i++) {
        argv[n++] = every[i];
    }
    for (; *arguments && n < HARNESS_MAX_ARGS; arguments++) {
        argv[n++] = *arguments;
    }
    setenv("FAKE_COUNT", count, 1);
    setenv("TMPDIR", other ? other : tmp, 1);
    redirect(1, out);
    redirect(2, err);
    if (!argv[0] || !sut) {
        _exit(124);
    }
    execv(argv[0], (char *const *)(uintptr_t)argv);
    _exit(126);
}

/* Waits for the run and everything it left; sends the signal in between. */
static void await(struct harness *h, pid_t run, int sig, int loads)
{
    const char *after = getenv("HARNESS_SIGNAL_AFTER_MS");
    bool running = true;

    for (int turn = 0; running; turn++) {
        int status;
        pid_t pid = waitpid(-1, &status, WNOHANG);

        if (pid == run) {
            h->status = WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
            running = false;
        } else if (pid > 0) {
            h->strays++;
        } else {
            if (sig && harness_drivers(h) >= loads) {
                usleep(after ? (useconds_t)atoi(after) * 1000 : 20000); /* into the load */
                kill(run, sig);
                sig = 0;
            }
            assert_true(turn < 60000);
            usleep(1000);
        }
    }
}

/* Counts what still lives, and ends it so that no later test meets it. */
static unsigned kill_strays(void)
{
    char path[64];
    unsigned n = 0;
    FILE *f;
    int pid;

    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    f = fopen(path, "r");
    while (f && fscanf(f, "%d", &pid) == 1) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        n++;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

void harness_run(struct harness *h, int sig, int loads, const char *const *arguments)
{
    char *out = path_in(h, "out"), *err = path_in(h, "err");
    pid_t run;

    h->strays = 0;
    run = fork();
    assert_true(run >= 0);
    if (run == 0) {
        child(h, arguments);
    }
    await(h, run, sig, loads);
    while (waitpid(-1, NULL, WNOHANG) > 0) {
        h->strays++;
    }
    h->strays += kill_strays();
    free(h->out);
    free(h->err);
    h->out = read_file(out);
    h->err = read_file(err);
    free(out);
    free(err);
}

static void expect_nothing_left(const struct harness *h)
{
    char *path = path_in(h, "tmp"), *part = path_in(h, "report.json.part");
    DIR *dir = opendir(path);
    struct dirent *e;

    assert_int_equal(h->strays, 0);
    assert_non_null(dir);
    while ((e = readdir(dir))) {
        if (e->d_name[0] != '.') {
            fail_msg("%s was left in TMPDIR", e->d_name);
        }
    }
    closedir(dir);
    assert_int_not_equal(access(part, F_OK), 0);
    free(path);
    free(part);
}

void harness_expect_failure(const struct harness *h, int status, const char *const *parts)
{
    size_t len = strlen(h->err);

    if (h->status != status) {
        fail_msg("status %d where %d was expected; it said: %s", h->status, status, h->err);
    }
    assert_true(len > 0 && strchr(h->err, '\n') == h->err + len - 1); /* one line */
    for (; *parts; parts++) {
        if (!strstr(h->err, *parts)) {
            fail_msg("\"%s\" is missing in: %s", *parts, h->err);
        }
    }
    expect_nothing_left(h);
}

void harness_expect_success(const struct harness *h)
{
    if (h->status) {
        fail_msg("status %d; it said: %s", h->status, h->err);
    }
    assert_string_equal(h->err, "");
    expect_nothing_left(h);
}
