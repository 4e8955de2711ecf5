/* The measures. */
#include "testbed/measure.h"

#include "base/clock.h"
#include "testbed/units.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

const struct tb_measure_info tb_measures[TB_MEASURES] = {
    [TB_RATE] = {"requests_per_s", "requests/s", "", TB_PER_SECOND, true},
    [TB_P50] = {"latency_p50_us", "latency", "p50", TB_LATENCY_US, true},
    [TB_P90] = {"latency_p90_us", NULL, "p90", TB_LATENCY_US, true},
    [TB_P99] = {"latency_p99_us", NULL, "p99", TB_LATENCY_US, true},
    [TB_P999] = {"latency_p99.9_us", NULL, "p99.9", TB_LATENCY_US, true},
    [TB_MAX] = {"latency_max_us", NULL, "max", TB_LATENCY_US, true},
    [TB_AVG] = {"latency_avg_us", NULL, "avg", TB_LATENCY_US, true},
    [TB_STDEV] = {"latency_stdev_us", NULL, "stdev", TB_LATENCY_US, true},
    [TB_SUT_CPU] = {"sut_cpu_percent", "SUT CPU", "", TB_PERCENT, true},
    [TB_REQUEST_CPU] = {"sut_cpu_per_request_us", "SUT CPU per request", "", TB_CPU_US, true},
    [TB_REQUEST_USER] = {"sut_cpu_per_request_user_us", NULL, "user", TB_CPU_US, true},
    [TB_REQUEST_SYSTEM] = {"sut_cpu_per_request_system_us", NULL, "system", TB_CPU_US, true},
    [TB_SUT_MEMORY] = {"sut_memory_kib", "SUT memory (PSS)", "", TB_KIB, true},
    [TB_ERR_CONNECT] = {"errors_connect", "errors", "connect", TB_ERRORS, true},
    [TB_ERR_READ] = {"errors_read", NULL, "read", TB_ERRORS, true},
    [TB_ERR_WRITE] = {"errors_write", NULL, "write", TB_ERRORS, true},
    [TB_ERR_TIMEOUT] = {"errors_timeout", NULL, "timeout", TB_ERRORS, true},
    [TB_ERR_STATUS] = {"errors_status", NULL, "status", TB_ERRORS, true},
    [TB_DRIVER_CPU] = {"driver_cpu_percent", NULL, "", TB_PERCENT, false},
    [TB_ENDPOINT_CPU] = {"endpoints_cpu_percent", NULL, "", TB_PERCENT, false},
    [TB_MACHINE_BUSY] = {"machine_busy_percent", NULL, "", TB_PERCENT, false},
    [TB_MACHINE_STOLEN] = {"machine_stolen_percent", NULL, "", TB_PERCENT, false},
    [TB_MACHINE_OTHERS] = {"machine_others_percent", NULL, "", TB_PERCENT, false},
};

int tb_reading_take(struct tb_reading *r, pid_t sut, const pid_t *endpoints, size_t n, const char **who)
{
    struct base_cpu_time t;
    int rc;

    r->at_ns = base_now_ns();
    *who = "the SUT's CPU time";
    if ((rc = base_tree_cpu_time(sut, &r->sut)) < 0) {
        return rc;
    }
    r->endpoints_ns = 0;
    *who = "an endpoint's CPU time";
    for (size_t i = 0; i < n; i++) {
        if ((rc = base_cpu_time(endpoints[i], &t)) < 0) {
            return rc;
        }
        r->endpoints_ns += t.total_ns;
    }
    *who = "the machine's CPU time";
    return base_machine_time(&r->machine);
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : NAN;
}

void tb_sample_usage(struct tb_sample *sample, const struct tb_reading *from, const struct tb_reading *to,
                     double sut_cores, double endpoint_cores, double driver_cpu_s, double driver_cores)
{
    double ns = (double)(to->at_ns - from->at_ns);
    double cpu_ns = (double)(to->sut.total_ns - from->sut.total_ns);
    double user_ns = (double)base_cpu_user_part(&from->sut, &to->sut);
    double busy = (double)(to->machine.busy - from->machine.busy);
    double stolen = (double)(to->machine.steal - from->machine.steal);
    double all = busy + stolen + (double)(to->machine.idle - from->machine.idle);
    double own_s = (cpu_ns + (double)(to->endpoints_ns - from->endpoints_ns)) / 1e9 + driver_cpu_s;
    double per_request = sample->requests > 0 ? sample->requests * 1e3 : NAN;

    sample->seconds = ns / 1e9;
    sample->v[TB_SUT_CPU] = percent(cpu_ns, ns * sut_cores);
    sample->v[TB_REQUEST_CPU] = cpu_ns / per_request;
    sample->v[TB_REQUEST_USER] = user_ns / per_request;
    sample->v[TB_REQUEST_SYSTEM] = (cpu_ns - user_ns) / per_request;
    sample->v[TB_DRIVER_CPU] = percent(driver_cpu_s * 1e9, ns * driver_cores);
    sample->v[TB_ENDPOINT_CPU] =
        percent((double)(to->endpoints_ns - from->endpoints_ns), ns * endpoint_cores);
    sample->v[TB_MACHINE_BUSY] = percent(busy, all);
    sample->v[TB_MACHINE_STOLEN] = percent(stolen, all);
    sample->v[TB_MACHINE_OTHERS] = fmax(0, percent(busy - own_s * (double)sysconf(_SC_CLK_TCK), all));
}

void tb_sample_clear(struct tb_sample *sample)
{
    *sample = (struct tb_sample){.driver = NULL};
    for (size_t m = 0; m < TB_MEASURES; m++) {
        sample->v[m] = NAN;
    }
}

char *tb_measure_format(enum tb_unit unit, double value, char *text, size_t size)
{
    if (isnan(value)) {
        snprintf(text, size, "-");
        return text;
    }
    switch (unit) {
    case TB_LATENCY_US:
        return tb_format_latency(text, size, value);
    case TB_PERCENT:
        snprintf(text, size, "%.1f %%", value);
        return text;
    case TB_CPU_US:
        snprintf(text, size, "%.1f us", value);
        return text;
    case TB_KIB:
        snprintf(text, size, "%.1f MiB", value / 1024);
        return text;
    case TB_PER_SECOND:
    case TB_ERRORS:
        break;
    }
    return tb_format_count(text, size, value);
}
