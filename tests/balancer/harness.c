/* See harness.h: the balancer as a child process, its configuration, and the order in which a test is cleared
 * up. */
#include "harness.h"

#include "harness_private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define TEST_SECONDS  120 /* a test that takes longer hangs */
#define MAX_ENDPOINTS 16
#define MAX_SOCKETS   32
#define MAX_FILES     8

static struct {
    const char *program;
    char **args;
    int nargs;
} main_arguments;

static struct {
    char *text; /* the configuration so far */
    size_t len;
    int inherited[MAX_SOCKETS]; /* listening sockets for the balancer */
    unsigned ports[MAX_SOCKETS];
    unsigned ninherited;
    int sockets[MAX_SOCKETS];
    unsigned nsockets;
    struct endpoint *endpoints[MAX_ENDPOINTS];
    unsigned nendpoints;
    char dir[64];
    char *files[MAX_FILES];
    unsigned nfiles;
    pid_t pid; /* 0: no balancer */
    int err_fd;
    int status;          /* once waited for */
    unsigned open_files; /* the limit for the next balancer; 0: as it is */
} test;

/* --- the configuration --- */

void conf_text(const char *fmt, ...)
{
    va_list ap;
    char *more;
    int n;

    va_start(ap, fmt);
    n = vasprintf(&more, fmt, ap);
    va_end(ap);
    assert_true(n >= 0);
    test.text = realloc(test.text, test.len + (size_t)n + 1);
    assert_non_null(test.text);
    memcpy(test.text + test.len, more, (size_t)n + 1);
    test.len += (size_t)n;
    free(more);
}

const char *conf_so_far(void)
{
    return test.text;
}

void conf_common(unsigned nbthread)
{
    conf_text("global\n    nbthread %u\n", nbthread);
    conf_defaults();
}

void conf_defaults(void)
{
    conf_text(
        "\ndefaults\n    mode http\n"
        "    timeout client 60s\n    timeout server 60s\n    timeout connect 10s\n    timeout queue 60s\n"
        "    timeout http-request 60s\n    timeout http-keep-alive 60s\n");
}

static int bound(int backlog, unsigned *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(fd >= 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_true(backlog < 0 || listen(fd, backlog) == 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &n), 0);
    *port = ntohs(a.sin_port);
    return fd;
}

unsigned conf_listen(const char *name)
{
    unsigned i = test.ninherited;

    assert_true(i < MAX_SOCKETS);
    test.inherited[i] = bound(4096, &test.ports[i]);
    test.ninherited++;
    conf_text("\nlisten %s\n    bind fd@%d\n", name, test.inherited[i]);
    return test.ports[i];
}

unsigned conf_listen_address(const char *name)
{
    unsigned i = test.ninherited;

    assert_true(i < MAX_SOCKETS);
    close(bound(-1, &test.ports[i]));
    test.inherited[i] = -1;
    test.ninherited++;
    conf_text("\nlisten %s\n    bind 127.0.0.1:%u\n", name, test.ports[i]);
    return test.ports[i];
}

void conf_server(const char *name, const struct endpoint *e, const char *options)
{
    conf_text("    server %s 127.0.0.1:%u %s\n", name, ep_port(e), options);
}

int socket_bound(int backlog, unsigned *port)
{
    assert_true(test.nsockets < MAX_SOCKETS);
    test.sockets[test.nsockets] = bound(backlog, port);
    return test.sockets[test.nsockets++];
}

struct endpoint *endpoint_start(const struct ep_script *script)
{
    assert_true(test.nendpoints < MAX_ENDPOINTS);
    return test.endpoints[test.nendpoints++] = ep_start(script);
}

const char *scratch_file(const char *name, const char *text)
{
    char *path;
    FILE *f;

    if (!test.dir[0]) {
        snprintf(test.dir, sizeof test.dir, "/tmp/pawl-test-XXXXXX");
        assert_non_null(mkdtemp(test.dir));
    }
    assert_true(test.nfiles < MAX_FILES);
    assert_true(asprintf(&path, "%s/%s", test.dir, name) > 0);
    test.files[test.nfiles++] = path;
    f = fopen(path, "we");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    return path;
}

static void remove_files(void)
{
    while (test.nfiles) {
        unlink(test.files[--test.nfiles]);
        free(test.files[test.nfiles]);
    }
    if (test.dir[0])
        rmdir(test.dir);
    test.dir[0] = '\0';
}

/* --- the process --- */

/* Starts the program; out and err become its stdout and stderr. Between fork and exec only what a signal
 * handler may call: the parent has threads. */
static pid_t spawn(const char *const *args, int out, int err)
{
    const char *argv[16] = {main_arguments.program};
    pid_t parent = getpid(), pid;
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

    for (unsigned i = 0; args[i]; i++) {
        assert_true(i + 2 < sizeof argv / sizeof *argv);
        argv[i + 1] = args[i];
    }
    assert_true(null >= 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(127);
        signal(SIGALRM, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        signal(SIGINT, SIG_DFL);
        if (test.open_files)
            setrlimit(RLIMIT_NOFILE, &(struct rlimit){test.open_files, test.open_files});
        for (unsigned i = 0; i < test.ninherited; i++)
            if (test.inherited[i] >= 0)
                fcntl(test.inherited[i], F_SETFD, 0);
        dup2(null, 0);
        dup2(out, 1);
        dup2(err, 2);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(null);
    return pid;
}

/* The whole content of a memory file. */
static char *content(int fd)
{
    struct stat st;
    char *s;

    assert_int_equal(fstat(fd, &st), 0);
    s = calloc(1, (size_t)st.st_size + 1);
    assert_non_null(s);
    assert_int_equal(pread(fd, s, (size_t)st.st_size, 0), st.st_size);
    return s;
}

/* Reaps pid within timeout_ms: true and its status. */
static bool reap(pid_t pid, int timeout_ms, int *status)
{
    int64_t end = wire_now_ms() + timeout_ms;
    int st;

    for (;;) {
        pid_t got = waitpid(pid, &st, WNOHANG);

        if (got == pid) {
            *status = WIFEXITED(st) ? WEXITSTATUS(st) : 128 + WTERMSIG(st);
            return true;
        }
        if ((got < 0 && errno != EINTR) || wire_now_ms() > end)
            return false;
        usleep(1000);
    }
}

int program_run(const char *const *args, char **out, char **err)
{
    int out_fd = memfd_create("stdout", MFD_CLOEXEC), err_fd = memfd_create("stderr", MFD_CLOEXEC);
    int status = -1;
    pid_t pid;

    assert_true(out_fd >= 0 && err_fd >= 0);
    pid = spawn(args, out_fd, err_fd);
    if (!reap(pid, PATIENCE_MS, &status)) {
        kill(pid, SIGKILL);
        reap(pid, PATIENCE_MS, &status);
        status = -1;
    }
    *out = content(out_fd);
    *err = content(err_fd);
    close(out_fd);
    close(err_fd);
    if (status == -1)
        fail_msg("it doesn't end; it wrote: %s%s", *out, *err);
    return status;
}

/* Asks for what any balancer refuses at once without troubling a server. A socket we passed on takes
 * connections from the start; with others there's nothing to do but try. */
static bool answers(unsigned port, bool passed_on)
{
    int64_t end = wire_now_ms() + PATIENCE_MS;
    struct client *c = client_open(port);
    bool ok;

    while (!c && !passed_on && balancer_alive() && wire_now_ms() < end) {
        usleep(2000);
        c = client_open(port);
    }
    ok = c && client_text(c, "?\r\n\r\n") && client_read(c, false, PATIENCE_MS) == WIRE_OK;

    if (c)
        client_close(c);
    return ok;
}

void balancer_limit_files(unsigned n)
{
    test.open_files = n;
}

void balancer_start(void)
{
    const char *path = scratch_file("balancer.cfg", test.text);
    const char *const args[] = {"-f", path, NULL};
    bool ready = true;

    assert_int_equal(test.pid, 0);
    test.err_fd = memfd_create("stderr", MFD_CLOEXEC);
    assert_true(test.err_fd >= 0);
    test.pid = spawn(args, test.err_fd, test.err_fd);
    for (unsigned i = 0; i < test.ninherited; i++) { /* so that the balancer alone keeps them open */
        bool passed_on = test.inherited[i] >= 0;

        if (passed_on)
            close(test.inherited[i]);
        ready = ready && answers(test.ports[i], passed_on);
    }
    test.ninherited = 0;
    if (!ready || !balancer_alive())
        fail_msg("the balancer didn't start");
    remove_files();
}

pid_t balancer_pid(void)
{
    return test.pid;
}

bool balancer_alive(void)
{
    siginfo_t info = {0};

    return test.pid && waitid(P_PID, (id_t)test.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           info.si_pid == 0;
}

unsigned balancer_fds(void)
{
    char path[64];
    unsigned n = 0;
    DIR *d;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)test.pid);
    d = opendir(path);
    assert_non_null(d);
    for (const struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

size_t balancer_rss_kb(void)
{
    char path[64], line[256];
    size_t kb = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)test.pid);
    f = fopen(path, "re");
    assert_non_null(f);
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "VmRSS: %zu kB", &kb) == 1)
            break;
    fclose(f);
    assert_true(kb > 0);
    return kb;
}

void balancer_signal(int sig)
{
    const char *graceful = getenv("PAWLD_STOP");

    if (sig == SIGTERM && graceful && !strcmp(graceful, "USR1"))
        sig = SIGUSR1;
    assert_true(test.pid != 0);
    assert_int_equal(kill(test.pid, sig), 0);
}

int balancer_wait(int timeout_ms)
{
    assert_true(test.pid != 0);
    if (!reap(test.pid, timeout_ms, &test.status))
        fail_msg("the balancer doesn't end");
    test.pid = 0;
    return test.status;
}

char *balancer_stderr(void)
{
    return content(test.err_fd);
}

/* --- the order of a test --- */

/* The alarm, or someone who wants us to end: nothing is left, the balancer goes with us (PR_SET_PDEATHSIG).
 * Calls only what a signal handler may. */
static void give_up(int sig)
{
    static const char text[] = "\nthe test hangs: giving up\n";

    if (sig == SIGALRM)
        (void)!write(2, text, sizeof text - 1);
    for (unsigned i = 0; i < test.nfiles; i++)
        unlink(test.files[i]);
    if (test.dir[0])
        rmdir(test.dir);
    _exit(99);
}

int harness_setup(void **state)
{
    (void)state;
    memset(&test, 0, sizeof test);
    test.err_fd = -1;
    signal(SIGALRM, give_up);
    signal(SIGTERM, give_up);
    signal(SIGINT, give_up);
    alarm(TEST_SECONDS);
    return 0;
}

/* Ends a balancer that still runs: in order when it can. False when it could not or ended badly. */
static bool end_balancer(void)
{
    bool ok = true;

    if (test.pid) {
        kill(test.pid, SIGTERM);
        if (!reap(test.pid, PATIENCE_MS, &test.status)) {
            print_error("the balancer doesn't stop on SIGTERM\n");
            kill(test.pid, SIGKILL);
            ok = reap(test.pid, PATIENCE_MS, &test.status) && false;
        } else if (test.status != 0 && !(getenv("PAWLD_STOP") && test.status == 128 + SIGTERM)) {
            print_error("the balancer ended with status %d\n", test.status);
            ok = false;
        }
        test.pid = 0;
    }
    if (test.err_fd >= 0) {
        char *text = content(test.err_fd);

        if (strstr(text, "Sanitizer") || strstr(text, "runtime error:"))
            ok = false;
        if (*text && (!ok || getenv("TEST_VERBOSE")))
            print_error("the balancer wrote:\n%s\n", text);
        free(text);
        close(test.err_fd);
    }
    return ok;
}

int harness_teardown(void **state)
{
    bool ok;

    (void)state;
    for (unsigned i = 0; i < test.nendpoints; i++)
        ep_gate_open(test.endpoints[i]);
    load_end_all();
    client_close_all();
    ok = end_balancer();
    while (test.nendpoints)
        ep_stop(test.endpoints[--test.nendpoints]);
    while (test.nsockets)
        close(test.sockets[--test.nsockets]);
    while (test.ninherited)
        if (test.inherited[--test.ninherited] >= 0)
            close(test.inherited[test.ninherited]);
    remove_files();
    free(test.text);
    memset(&test, 0, sizeof test);
    alarm(0);
    return ok ? 0 : -1;
}

int harness_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests, size_t n)
{
    main_arguments.program = argc > 1 ? argv[1] : getenv("PAWLD");
    main_arguments.args = argc > 2 ? argv + 2 : NULL;
    main_arguments.nargs = argc > 2 ? argc - 2 : 0;
    if (!main_arguments.program || access(main_arguments.program, X_OK) != 0) {
        fprintf(stderr, "usage: %s PAWLD [ARGUMENTS] (or the path of pawld in the environment's PAWLD)\n",
                argv[0]);
        return 2;
    }
    if (getenv("TEST_FILTER"))
        cmocka_set_test_filter(getenv("TEST_FILTER"));
    return _cmocka_run_group_tests(name, tests, n, NULL, NULL);
}

const char *harness_program(void)
{
    return main_arguments.program;
}

const char *harness_argument(int i)
{
    return i < main_arguments.nargs ? main_arguments.args[i] : NULL;
}
