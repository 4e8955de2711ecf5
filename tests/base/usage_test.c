/* Figures of processes and the machine. */
#include "base/clock.h"
#include "base/usage.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Uses at least that much CPU time of its own. */
static void burn(int64_t ns)
{
    struct timespec from, now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    do {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((now.tv_sec - from.tv_sec) * INT64_C(1000000000) + now.tv_nsec - from.tv_nsec < ns);
}

static void *burn_thread(void *arg)
{
    (void)arg;
    burn(20000000);
    return NULL;
}

static void cpu_time_counts_threads_that_ended(void **state)
{
    struct base_cpu_time from, to;
    pthread_t t;

    (void)state;
    assert_int_equal(base_cpu_time(getpid(), &from), 0);
    assert_int_equal(pthread_create(&t, NULL, burn_thread, NULL), 0);
    pthread_join(t, NULL);
    assert_int_equal(base_cpu_time(getpid(), &to), 0);
    assert_true(to.total_ns - from.total_ns >= 20000000);
}

/* A child that burns, tells its parent by a byte, and stays. */
static pid_t burning_child(int tell, bool with_own_child)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        if (with_own_child && fork() > 0) {
            for (;;) {
                pause();
            }
        }
        burn(30000000);
        if (write(tell, "x", 1) != 1) {
            _exit(1);
        }
        for (;;) {
            pause();
        }
    }
    return pid;
}

static void a_tree_counts_what_its_processes_used_and_hold(void **state)
{
    struct base_cpu_time one, tree;
    pid_t pids[8], child;
    int fds[2];
    char c;

    (void)state;
    assert_int_equal(pipe(fds), 0);
    child = burning_child(fds[1], true);
    assert_int_equal(read(fds[0], &c, 1), 1); /* the grandchild has burnt */
    assert_int_equal(base_tree(child, pids, 8), 2);
    assert_int_equal(pids[0], child);
    assert_int_equal(base_tree(child, pids, 1), 1);
    assert_int_equal(base_cpu_time(child, &one), 0);
    assert_int_equal(base_tree_cpu_time(child, &tree), 0);
    assert_true(tree.total_ns - one.total_ns >= 30000000);
    assert_true(base_memory_kib(child) > 0);
    assert_true(base_tree_memory_kib(child) > base_memory_kib(child));
    assert_int_equal(base_tree(child, pids, 8), 2);
    kill(pids[1], SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(fds[0]);
    close(fds[1]);
}

static void a_process_that_ended_is_told(void **state)
{
    struct base_cpu_time t;
    pid_t pid = fork();

    (void)state;
    if (pid == 0) {
        _exit(0);
    }
    waitpid(pid, NULL, 0);
    assert_int_equal(base_cpu_time(pid, &t), -ESRCH);
    assert_int_equal(base_tree_cpu_time(pid, &t), -ESRCH);
    assert_true(base_memory_kib(pid) < 0);
}

static void the_split_follows_the_ticks(void **state)
{
    struct base_cpu_time from = {1000, 10, 20}, to = {5000, 40, 30}, same = {5000, 10, 20};

    (void)state;
    assert_int_equal(base_cpu_user_part(&from, &to), 3000); /* 30 of 40 ticks */
    assert_int_equal(base_cpu_user_part(&from, &same), 0);
}

static void cores_follow_the_affinity(void **state)
{
    cpu_set_t all, one;
    int first = 0;
    double cores;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    cores = base_cores(getpid());
    assert_true(cores > 0 && cores <= CPU_COUNT(&all));
    while (!CPU_ISSET(first, &all)) {
        first++;
    }
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    cores = base_cores(getpid());
    assert_true(cores > 0 && cores <= 1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void the_machines_time_moves_on(void **state)
{
    struct base_machine_time from, to;
    int64_t deadline = base_now_ns() + INT64_C(20000000000);

    (void)state;
    assert_int_equal(base_machine_time(&from), 0);
    do {
        burn(20000000);
        assert_int_equal(base_machine_time(&to), 0);
        assert_true(base_now_ns() < deadline);
    } while (to.busy == from.busy);
    assert_true(to.busy > from.busy);
    assert_true(to.idle >= from.idle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cpu_time_counts_threads_that_ended),
        cmocka_unit_test(a_tree_counts_what_its_processes_used_and_hold),
        cmocka_unit_test(a_process_that_ended_is_told),
        cmocka_unit_test(the_split_follows_the_ticks),
        cmocka_unit_test(cores_follow_the_affinity),
        cmocka_unit_test(the_machines_time_moves_on),
    };

    alarm(60);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
