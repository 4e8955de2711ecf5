/* Child processes: start, watch, reap. A process's life:
 *
 *   nothing --start--> runs (pid, pidfd) --its pidfd turns readable--> ended (status, usage) --free-->
 * nothing
 *
 * A pidfd keeps naming the same process, so no signal can reach a stranger that inherited the number. */
#include "base/proc.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_WAIT_MS 5000

static void close_fd(int *fd)
{
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = -1;
}

static void close_pair(int pair[2])
{
    close_fd(&pair[0]);
    close_fd(&pair[1]);
}

/* Between fork and exec: only async-signal-safe calls. Reports the errno of what failed through the pipe. */
static _Noreturn void child(const struct base_proc_spec *spec, pid_t parent, int out, int err, int report)
{
    sigset_t none;
    int nothing, e;

    setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent) {
        _exit(127);
    }
    for (int sig = 1; sig < NSIG; sig++) {
        signal(sig, SIG_DFL);
    }
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    nothing = open("/dev/null", O_RDONLY);
    if (nothing >= 0 && dup2(nothing, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0) {
        if (nothing > 2) {
            close(nothing);
        }
        if (spec->pass_fd < 0 || fcntl(spec->pass_fd, F_SETFD, 0) >= 0) {
            execvp(spec->argv[0], spec->argv);
        }
    }
    e = errno;
    if (write(report, &e, sizeof e) != sizeof e) {
        _exit(126);
    }
    _exit(127);
}

/* Waits for exec: the report pipe closes when it succeeded, or brings the errno. */
static int exec_result(int report)
{
    int e = 0;
    ssize_t got;

    do {
        got = read(report, &e, sizeof e);
    } while (got < 0 && errno == EINTR);
    return got == sizeof e ? -e : 0;
}

/* Descriptors 0 to 2 may be closed in a caller; a pipe end there would be lost to the child's dup2(). */
static int pipe_above_stdio(int pair[2])
{
    if (pipe2(pair, O_CLOEXEC) < 0) {
        pair[0] = pair[1] = -1;
        return -errno;
    }
    for (int i = 0; i < 2; i++) {
        if (pair[i] <= 2) {
            int higher = fcntl(pair[i], F_DUPFD_CLOEXEC, 3);
            int e = errno;

            close_fd(&pair[i]);
            pair[i] = higher;
            if (higher < 0) {
                close_pair(pair);
                return -e;
            }
        }
    }
    return 0;
}

int base_proc_start(struct base_proc *p, const struct base_proc_spec *spec)
{
    int out[2] = {-1, -1}, err[2] = {-1, -1}, report[2] = {-1, -1};
    pid_t parent = getpid(), pid = -1;
    int rc;

    *p = (struct base_proc)BASE_PROC_INIT;
    if ((rc = pipe_above_stdio(err)) < 0 || (rc = pipe_above_stdio(report)) < 0 ||
        (spec->capture && (rc = pipe_above_stdio(out)) < 0)) {
        goto end;
    }
    pid = fork();
    if (pid < 0) {
        rc = -errno;
        goto end;
    }
    if (pid == 0) {
        child(spec, parent, spec->capture ? out[1] : err[1], err[1], report[1]);
    }
    setpgid(pid, pid); /* so that the group exists before the child's own call, too */
    close_fd(&report[1]);
    rc = exec_result(report[0]);
    if (rc == 0 && (p->pidfd = pidfd_open(pid, 0)) < 0) {
        rc = -errno;
    }
    if (rc < 0) {
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        goto end;
    }
    p->pid = pid;
    p->err_fd = err[0];
    p->out_fd = out[0];
    err[0] = out[0] = -1;
    fcntl(p->err_fd, F_SETFL, O_NONBLOCK);
    if (p->out_fd >= 0) {
        fcntl(p->out_fd, F_SETFL, O_NONBLOCK);
    }
end:
    close_pair(report);
    close_pair(err);
    close_pair(out);
    return rc;
}

/* Keeps the last BASE_PROC_TAIL bytes at least. */
static void keep_tail(struct base_proc *p, const char *data, size_t len)
{
    if (p->tail_len + len > sizeof p->tail - 1) {
        size_t keep = p->tail_len < BASE_PROC_TAIL ? p->tail_len : BASE_PROC_TAIL;

        memmove(p->tail, p->tail + p->tail_len - keep, keep);
        p->tail_len = keep;
    }
    memcpy(p->tail + p->tail_len, data, len);
    p->tail_len += len;
    p->tail[p->tail_len] = 0;
}

static int keep_output(struct base_proc *p, const char *data, size_t len)
{
    if (p->out_overflow || p->out_len + len > BASE_PROC_CAPTURE) {
        p->out_overflow = true;
        return 0;
    }
    if (p->out_len + len + 1 > p->out_size) {
        size_t size = p->out_size ? 2 * p->out_size : 4 * BASE_PROC_TAIL;
        char *bigger;

        bigger = realloc(p->out, size);
        if (!bigger) {
            return -ENOMEM;
        }
        p->out = bigger;
        p->out_size = size;
    }
    memcpy(p->out + p->out_len, data, len);
    p->out_len += len;
    p->out[p->out_len] = 0;
    return 0;
}

/* Reads what waits, at most a few dozen KiB a call so that a chatty child cannot hold the caller. */
static int drain(struct base_proc *p, int *fd, bool capture)
{
    char buf[BASE_PROC_TAIL];

    for (int turn = 0; *fd >= 0 && turn < 16; turn++) {
        ssize_t got = read(*fd, buf, sizeof buf);
        int rc = 0;

        if (got > 0) {
            if (capture) {
                rc = keep_output(p, buf, (size_t)got);
            } else {
                keep_tail(p, buf, (size_t)got);
            }
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            close_fd(fd);
        } else if (errno == EAGAIN) {
            break;
        }
        if (rc < 0) {
            return rc;
        }
    }
    return 0;
}

static int drain_both(struct base_proc *p)
{
    int out = drain(p, &p->out_fd, true);
    int err = drain(p, &p->err_fd, false);

    return out < 0 ? out : err;
}

/* Reaps a process whose pidfd is readable. While it is a zombie its number is still its own, and so is the
 * group's: now is the moment to kill what it left behind. */
static int reap(struct base_proc *p)
{
    int rc;

    kill(-p->pid, SIGKILL);
    while (wait4(p->pid, &p->status, 0, &p->usage) < 0) {
        if (errno != EINTR) {
            return -errno;
        }
    }
    p->pid = 0;
    p->ended = true;
    close_fd(&p->pidfd);
    rc = drain_both(p);
    close_fd(&p->out_fd);
    close_fd(&p->err_fd);
    return rc;
}

int base_proc_poll(struct base_proc *const *procs, size_t n, struct pollfd *extra, size_t n_extra,
                   int timeout_ms)
{
    struct pollfd fds[3 * BASE_PROC_POLL_MAX + BASE_PROC_EXTRA_MAX];
    size_t used = 0;
    int rc = 0;

    if (n > BASE_PROC_POLL_MAX || n_extra > BASE_PROC_EXTRA_MAX) {
        return -EINVAL;
    }
    for (size_t i = 0; i < n; i++) { /* poll() passes over negative descriptors */
        fds[used++] = (struct pollfd){.fd = procs[i]->pid ? procs[i]->pidfd : -1, .events = POLLIN};
        fds[used++] = (struct pollfd){.fd = procs[i]->out_fd, .events = POLLIN};
        fds[used++] = (struct pollfd){.fd = procs[i]->err_fd, .events = POLLIN};
    }
    for (size_t i = 0; i < n_extra; i++) {
        extra[i].revents = 0;
        fds[used++] = extra[i];
    }
    if (poll(fds, used, timeout_ms) < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    for (size_t i = 0; i < n_extra; i++) {
        extra[i].revents = fds[3 * n + i].revents;
    }
    for (size_t i = 0; i < n; i++) {
        int e = 0;

        if (fds[3 * i].revents) {
            e = reap(procs[i]);
        } else if (fds[3 * i + 1].revents || fds[3 * i + 2].revents) {
            e = drain_both(procs[i]);
        }
        rc = e < 0 ? e : rc;
    }
    return rc;
}

void base_proc_signal(struct base_proc *p, int sig)
{
    if (p->pid) { /* not yet reaped, so the number is still this process's */
        kill(-p->pid, sig);
    }
}

/* Waits for the end until the deadline; false when it still runs. */
static bool await_end(struct base_proc *p, int ms)
{
    int64_t deadline = base_now_ns() + (int64_t)ms * 1000000;

    while (p->pid) {
        int left = base_poll_ms(deadline);

        if (left == 0 && ms > 0) {
            return false;
        }
        if (base_proc_poll(&p, 1, NULL, 0, left) < 0 || ms == 0) {
            break;
        }
    }
    return !p->pid;
}

int base_proc_stop(struct base_proc *p, int sig, int grace_ms)
{
    if (!p->pid) {
        return 0;
    }
    base_proc_signal(p, sig);
    if (sig != SIGKILL && await_end(p, grace_ms)) {
        return 0;
    }
    base_proc_signal(p, SIGKILL);
    if (!await_end(p, KILL_WAIT_MS)) {
        return -ETIMEDOUT;
    }
    return sig == SIGKILL ? 0 : 1;
}

void base_proc_free(struct base_proc *p)
{
    base_proc_stop(p, SIGKILL, 0);
    close_fd(&p->pidfd);
    close_fd(&p->out_fd);
    close_fd(&p->err_fd);
    free(p->out);
    *p = (struct base_proc)BASE_PROC_INIT;
}

char *base_proc_how_ended(const struct base_proc *p, char *text, size_t size)
{
    if (!p->ended) {
        snprintf(text, size, "still runs");
    } else if (WIFSIGNALED(p->status)) {
        snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(p->status),
                 strsignal(WTERMSIG(p->status)));
    } else {
        snprintf(text, size, "exited with status %d", WEXITSTATUS(p->status));
    }
    return text;
}

char *base_proc_last_words(const struct base_proc *p, size_t lines, char *text, size_t size)
{
    const char *end = p->tail + p->tail_len, *start;
    size_t used = 0, left = lines;

    while (end > p->tail && (end[-1] == '\n' || end[-1] == ' ' || end[-1] == '\r')) {
        end--;
    }
    for (start = end; start > p->tail; start--) {
        if (start[-1] == '\n' && --left == 0) {
            break;
        }
    }
    if (size > 3 * lines &&
        (size_t)(end - start) > size - 3 * lines) { /* a line end becomes three characters */
        start = end - (size - 3 * lines);
    }
    for (; start < end && used + 3 < size; start++) {
        unsigned char c = (unsigned char)*start;

        if (c == '\n') {
            memcpy(text + used, " | ", 3);
            used += 3;
        } else {
            text[used++] = c < ' ' || c == 0x7f ? ' ' : (char)c;
        }
    }
    if (size) {
        text[used] = 0;
    }
    return text;
}
