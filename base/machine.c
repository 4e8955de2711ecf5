/* Describes the machine. */
#include "base/machine.h"

#include "base/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

/* The value of the first line "KEY : VALUE" of /proc/cpuinfo with that key; x86 and arm name it differently.
 */
static void cpu_model(char *text, size_t size)
{
    char line[512];
    FILE *f = fopen("/proc/cpuinfo", "re");

    text[0] = 0;
    while (f && !text[0] && fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');

        if (value && (!strncmp(line, "model name", 10) || !strncmp(line, "CPU part", 8) ||
                      !strncmp(line, "Model", 5))) {
            value += 1 + strspn(value + 1, " \t");
            value[strcspn(value, "\n")] = 0;
            snprintf(text, size, "%s%s", line[0] == 'C' ? "arm part " : "", value);
        }
    }
    if (f) {
        fclose(f);
    }
}

void base_machine_read(struct base_machine *m)
{
    struct utsname u;
    struct tm tm;
    time_t now = time(NULL);

    *m = (struct base_machine){.cores = sysconf(_SC_NPROCESSORS_ONLN), .allowed = base_cores(getpid())};
#ifdef __clang__
    snprintf(m->compiler, sizeof m->compiler, "clang %s", __clang_version__);
#else
    snprintf(m->compiler, sizeof m->compiler, "gcc %s", __VERSION__);
#endif
    if (uname(&u) == 0) {
        snprintf(m->kernel, sizeof m->kernel, "%s %s %s", u.sysname, u.release, u.machine);
    }
    cpu_model(m->cpu, sizeof m->cpu);
    m->memory_kib = (int64_t)sysconf(_SC_PHYS_PAGES) * (sysconf(_SC_PAGESIZE) / 1024);
    if (gmtime_r(&now, &tm)) {
        strftime(m->date, sizeof m->date, "%Y-%m-%dT%H:%M:%SZ", &tm);
    }
}
