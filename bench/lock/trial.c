/* A trial's memory and its process. */
#include "bench/lock/trial.h"

#include "base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_MS 20000
#define TICK_MS  200

struct bench_trial *bench_trial_new(const struct bench_lock *lock, const struct bench_point *point)
{
    size_t size = sizeof(struct bench_trial) + point->threads * sizeof(struct bench_seat);
    struct bench_trial *t =
        mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);

    if (t == MAP_FAILED) {
        return NULL;
    }
    t->size = size;
    t->lock = lock;
    t->point = point;
    t->grace_ms = GRACE_MS;
    base_hist_init(&t->hand_off);
    for (unsigned i = 0; i < point->threads; i++) {
        base_hist_init(&t->seats[i].wait[0]);
        base_hist_init(&t->seats[i].wait[1]);
    }
    return t;
}

void bench_trial_free(struct bench_trial *t)
{
    if (t) {
        munmap(t, t->size);
    }
}

_Noreturn void bench_give_up(struct bench_trial *t, const char *what, int error)
{
    snprintf(t->error, sizeof t->error, "%s: %s", what, strerror(error));
    _exit(1);
}

static _Noreturn void child(struct bench_trial *t, pid_t parent)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(1);
    }
    switch (t->point->of.type) {
    case BENCH_SOLO:
    case BENCH_HELD:
        bench_solo(t);
        break;
    case BENCH_CONTEND:
        bench_contend(t);
        break;
    case BENCH_SLEEP:
        bench_sleep(t);
        break;
    }
    _exit(0);
}

/* Waits for the child's end. BENCH_DONE where it ended. */
static enum bench_end await(pid_t pid, int64_t deadline_ns, int *status, bench_tick *tick, void *ctx)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    enum bench_end end = BENCH_KILLED;

    while (base_now_ns() < deadline_ns) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        int left = base_poll_ms(deadline_ns);

        if (tick && !tick(ctx)) {
            end = BENCH_STOPPED;
            break;
        }
        if (waitpid(pid, status, WNOHANG) == pid) {
            end = BENCH_DONE;
            break;
        }
        poll(&p, fd >= 0, left < TICK_MS ? left : TICK_MS);
    }
    if (fd >= 0) {
        close(fd);
    }
    return end;
}

enum bench_end bench_trial_run(struct bench_trial *t, bench_tick *tick, void *ctx)
{
    int64_t limit_ms = (int64_t)t->warm_up_ms + t->time_ms + t->grace_ms;
    pid_t parent = getpid(), pid;
    enum bench_end end;
    int status = 0;

    fflush(NULL);
    pid = fork();
    if (pid < 0) {
        snprintf(t->error, sizeof t->error, "cannot start a process: %s", strerror(errno));
        return BENCH_FAILED;
    }
    if (pid == 0) {
        child(t, parent);
    }
    end = await(pid, base_now_ns() + limit_ms * 1000000, &status, tick, ctx);
    if (end != BENCH_DONE) {
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return end;
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        return BENCH_DONE;
    }
    if (!t->error[0] && WIFSIGNALED(status)) {
        snprintf(t->error, sizeof t->error, "the process was killed by signal %d (%s)", WTERMSIG(status),
                 strsignal(WTERMSIG(status)));
    } else if (!t->error[0]) {
        snprintf(t->error, sizeof t->error, "the process ended with status %d", WEXITSTATUS(status));
    }
    return BENCH_FAILED;
}
