/* What a process, and the machine, have used: CPU time, memory, the cores they may run on; read from the
 * kernel. All of it can be read of a process that someone else started. Any thread. */
#ifndef PAWL_BASE_USAGE_H
#define PAWL_BASE_USAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct base_cpu_time {
    int64_t total_ns;      /* exact: what the scheduler accounts, threads that ended included */
    uint64_t user, system; /* in clock ticks (10 ms as a rule): good for the split, not for the sum */
};

/* Most processes that a server may consist of: it, its children, theirs. */
#define BASE_TREE_MAX 512

/* The CPU time a process has used so far, without its children. Returns 0 or a negative errno (-ESRCH: it
 * ended). */
int base_cpu_time(pid_t pid, struct base_cpu_time *out);

/* Lists a process and all its descendants that live now, itself first. Returns how many, at most max. Where
 * the kernel does not tell children (no CONFIG_PROC_CHILDREN), it is alone. */
size_t base_tree(pid_t pid, pid_t *out, size_t max);

/* The CPU time of a process and its living descendants together: what a server with worker processes uses, as
 * long as none ends between two readings. Returns as base_cpu_time() for the process itself; a descendant
 * that ends meanwhile is left out. */
int base_tree_cpu_time(pid_t pid, struct base_cpu_time *out);

/* Splits total_ns, spent between two readings, by the ticks counted meanwhile: the user part in nanoseconds.
 * All of it is the system's where no tick fell in between. */
int64_t base_cpu_user_part(const struct base_cpu_time *from, const struct base_cpu_time *to);

/* The memory that is a process's own, its share of what it shares included (PSS), in KiB; negative errno on
 * failure. */
int64_t base_memory_kib(pid_t pid);

/* The same of a process and its living descendants together. */
int64_t base_tree_memory_kib(pid_t pid);

/* How many cores a process may use: its affinity, or the CPU quota of the control group it lives in where
 * that is smaller (then it may be a fraction). 0 when it cannot be told. */
double base_cores(pid_t pid);

/* Clock ticks of all cores since boot. What the hypervisor took (steal) is part of neither of the others. */
struct base_machine_time {
    uint64_t busy, idle, steal;
};

/* Returns 0 or a negative errno. */
int base_machine_time(struct base_machine_time *out);

#endif
