/* Figures of processes and of the machine, from clocks and /proc. */
#include "base/usage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Reads a small file whole; returns its length or a negative errno. text is terminated. */
static ssize_t read_small(const char *path, char *text, size_t size)
{
    size_t len = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC), e = 0;

    if (fd < 0) {
        return -errno;
    }
    while (len < size - 1) {
        ssize_t got = read(fd, text + len, size - 1 - len);

        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            e = got < 0 ? errno : 0;
            break;
        }
        len += (size_t)got;
    }
    close(fd);
    text[len] = 0;
    return e ? -e : (ssize_t)len;
}

int base_cpu_time(pid_t pid, struct base_cpu_time *out)
{
    char path[64], text[1024], *fields;
    struct timespec ts;
    clockid_t clock;
    ssize_t got;
    int e = clock_getcpuclockid(pid, &clock);

    if (e) {
        return -e;
    }
    if (clock_gettime(clock, &ts) < 0) {
        return errno == EINVAL ? -ESRCH : -errno; /* it ended in between */
    }
    out->total_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    got = read_small(path, text, sizeof text);
    if (got < 0) {
        return got == -ENOENT ? -ESRCH : (int)got;
    }
    fields = strrchr(text, ')'); /* the name before it may hold anything */
    if (!fields || sscanf(fields + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
                          &out->user, &out->system) != 2) {
        return -EPROTO;
    }
    return 0;
}

/* Appends the children that one thread started. */
static size_t add_children(pid_t pid, const char *task, pid_t *out, size_t n, size_t max)
{
    char path[300];
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/task/%s/children", (int)pid, task);
    f = fopen(path, "re");
    while (f && n < max && fscanf(f, "%d", &out[n]) == 1) {
        n++;
    }
    if (f) {
        fclose(f);
    }
    return n;
}

size_t base_tree(pid_t pid, pid_t *out, size_t max)
{
    size_t n = 0;

    if (max) {
        out[n++] = pid;
    }
    for (size_t i = 0; i < n; i++) { /* what is found is searched in its turn */
        char path[64];
        struct dirent *e;
        DIR *tasks;

        snprintf(path, sizeof path, "/proc/%d/task", (int)out[i]);
        tasks = opendir(path);
        while (tasks && (e = readdir(tasks))) {
            if (e->d_name[0] != '.') {
                n = add_children(out[i], e->d_name, out, n, max);
            }
        }
        if (tasks) {
            closedir(tasks);
        }
    }
    return n;
}

int base_tree_cpu_time(pid_t pid, struct base_cpu_time *out)
{
    pid_t pids[BASE_TREE_MAX];
    size_t n = base_tree(pid, pids, BASE_TREE_MAX);
    int rc = base_cpu_time(pid, out);

    for (size_t i = 1; i < n && rc == 0; i++) {
        struct base_cpu_time one = {0};

        if (base_cpu_time(pids[i], &one) == 0) {
            out->total_ns += one.total_ns;
            out->user += one.user;
            out->system += one.system;
        }
    }
    return rc;
}

int64_t base_cpu_user_part(const struct base_cpu_time *from, const struct base_cpu_time *to)
{
    double user = (double)(to->user - from->user), system = (double)(to->system - from->system);

    return user + system > 0 ? (int64_t)((double)(to->total_ns - from->total_ns) * user / (user + system))
                             : 0;
}

int64_t base_memory_kib(pid_t pid)
{
    char path[64], text[2048], *line;
    int64_t kib;
    ssize_t got;

    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    got = read_small(path, text, sizeof text);
    if (got < 0) {
        return got;
    }
    line = strstr(text, "\nPss:");
    return line && sscanf(line, "\nPss: %" SCNd64, &kib) == 1 ? kib : -EPROTO;
}

int64_t base_tree_memory_kib(pid_t pid)
{
    pid_t pids[BASE_TREE_MAX];
    size_t n = base_tree(pid, pids, BASE_TREE_MAX);
    int64_t sum = base_memory_kib(pid);

    for (size_t i = 1; i < n && sum >= 0; i++) {
        int64_t one = base_memory_kib(pids[i]);

        sum += one > 0 ? one : 0;
    }
    return sum;
}

/* The quota of one control group in cores, 0 for none. */
static double group_quota(const char *group)
{
    char path[600], text[64];
    double quota, period;

    if (snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", group) >= (int)sizeof path ||
        read_small(path, text, sizeof text) < 0 || sscanf(text, "%lf %lf", &quota, &period) != 2 ||
        period <= 0) {
        return 0;
    }
    return quota / period;
}

/* The smallest quota on the way from a process's control group (version 2) up to the root, 0 for none. */
static double quota_of(pid_t pid)
{
    char path[64], text[1024], group[512], *line, *slash;
    double least = 0;

    snprintf(path, sizeof path, "/proc/%d/cgroup", (int)pid);
    if (read_small(path, text, sizeof text) < 0 || !(line = strstr(text, "0::/")) ||
        sscanf(line, "0::%511[^\n]", group) != 1) {
        return 0;
    }
    for (;;) {
        double quota = group_quota(strcmp(group, "/") ? group : "");

        if (quota > 0 && (least <= 0 || quota < least)) {
            least = quota;
        }
        slash = strrchr(group, '/');
        if (!slash || !group[1]) {
            return least;
        }
        slash[slash == group] = 0; /* "/a/b" -> "/a" -> "/" */
    }
}

double base_cores(pid_t pid)
{
    int size = 1024;
    double cores = 0, quota;

    for (; size <= 65536 && cores <= 0; size *= 2) { /* the kernel refuses a set smaller than its own */
        cpu_set_t *set = CPU_ALLOC((size_t)size);

        if (!set) {
            return 0;
        }
        if (sched_getaffinity(pid, CPU_ALLOC_SIZE((size_t)size), set) == 0) {
            cores = CPU_COUNT_S(CPU_ALLOC_SIZE((size_t)size), set);
        }
        CPU_FREE(set);
    }
    quota = quota_of(pid);
    return quota > 0 && quota < cores ? quota : cores;
}

int base_machine_time(struct base_machine_time *out)
{
    char text[4096];
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
    ssize_t got = read_small("/proc/stat", text, sizeof text);

    if (got < 0) {
        return (int)got;
    }
    if (sscanf(text,
               "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64,
               &user, &nice, &system, &idle, &iowait, &irq, &softirq, &steal) != 8) {
        return -EPROTO;
    }
    out->busy = user + nice + system + irq + softirq;
    out->idle = idle + iowait;
    out->steal = steal;
    return 0;
}
