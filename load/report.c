/* Writing results. Every figure that was not measured is left out or null: no NaN, no zero that means
 * nothing. */
#include "load/report.h"

#include "base/json_text.h"
#include "load/units.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

static const double percentiles[] = {50, 75, 90, 99, 99.9};

static double per_second(const struct load_result *r, uint64_t n)
{
    return r->duration_ns ? (double)n * 1e9 / (double)r->duration_ns : 0;
}

void load_report_head(FILE *f, const struct load_options *o)
{
    char time[LOAD_UNIT_TEXT], count[LOAD_UNIT_TEXT];
    fprintf(f, "Running %s test @ %s\n  %u threads and %u connections",
            load_write_time(time, (double)o->duration_ns), o->url, o->threads, o->connections);
    if (o->rate > 0) {
        fprintf(f, ", %s requests/s", load_write_count(count, o->rate));
    }
    if (o->requests) {
        fprintf(f, ", %llu requests", (unsigned long long)o->requests);
    }
    fputc('\n', f);
}

static void table_row(FILE *f, const char *name, const struct base_hist *h, char *(*write)(char *, double))
{
    char avg[LOAD_UNIT_TEXT], dev[LOAD_UNIT_TEXT], max[LOAD_UNIT_TEXT];
    if (h->n == 0) {
        fprintf(f, "    %-10s %8s  %8s  %8s  %8s\n", name, "-", "-", "-", "-");
        return;
    }
    double mean = base_hist_mean(h), stdev = base_hist_stdev(h);
    double within = (double)base_hist_within(h, mean - stdev, mean + stdev) * 100 / (double)h->n;
    fprintf(f, "    %-10s %8s  %8s  %8s  %7.2f%%\n", name, write(avg, mean), write(dev, stdev),
            write(max, (double)h->max), within);
}

static void table_distribution(FILE *f, const struct load_result *r)
{
    char text[LOAD_UNIT_TEXT];
    fputs("  Latency Distribution\n", f);
    for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
        double ns = (double)base_hist_percentile(&r->latency, percentiles[i]);
        fprintf(f, "    %5g%% %9s\n", percentiles[i], r->requests ? load_write_time(text, ns) : "-");
    }
}

static void table_errors(FILE *f, const struct load_result *r)
{
    char text[LOAD_UNIT_TEXT];
    if (r->connect_errors || r->read_errors || r->write_errors || r->timeouts) {
        fprintf(f, "  Socket errors: connect %llu, read %llu, write %llu, timeout %llu\n",
                (unsigned long long)r->connect_errors, (unsigned long long)r->read_errors,
                (unsigned long long)r->write_errors, (unsigned long long)r->timeouts);
    }
    if (r->malformed) {
        fprintf(f, "  Malformed answers (among the read errors): %llu\n", (unsigned long long)r->malformed);
    }
    if (r->status_errors) {
        fprintf(f, "  Non-2xx or 3xx responses: %llu (", (unsigned long long)r->status_errors);
        const char *comma = "";
        for (unsigned i = 400; i < LOAD_STATUSES; i++) {
            if (r->status[i]) {
                fprintf(f, "%s%u: %llu", comma, i, (unsigned long long)r->status[i]);
                comma = ", ";
            }
        }
        fputs(")\n", f);
    }
    if (r->open) {
        fprintf(f, "  Unanswered at the end: %llu, the longest for %s\n", (unsigned long long)r->open,
                load_write_time(text, (double)r->longest_open_ns));
    }
}

void load_report_table(FILE *f, const struct load_options *o, const struct load_result *r, bool distribution)
{
    static const struct base_hist none;
    char time[LOAD_UNIT_TEXT], size[LOAD_UNIT_TEXT];
    (void)o;
    fputs("  Thread Stats   Avg      Stdev     Max   +/- Stdev\n", f);
    table_row(f, "Latency", r->requests ? &r->latency : &none, load_write_time);
    table_row(f, "Req/Sec", &r->per_thread, load_write_count);
    if (distribution) {
        table_distribution(f, r);
    }
    fprintf(f, "  %llu requests in %s, %s read\n", (unsigned long long)r->requests,
            load_write_time(time, (double)r->duration_ns), load_write_size(size, (double)r->bytes));
    table_errors(f, r);
    fprintf(f, "Requests/sec: %10.2f\n", per_second(r, r->requests));
    fprintf(f, "Transfer/sec: %10s\n", load_write_size(size, per_second(r, r->bytes)));
}

static json_t *whole(uint64_t n)
{
    return json_integer((json_int_t)n);
}

static json_t *json_latency(const struct load_result *r)
{
    static const char *const names[] = {"p50", "p75", "p90", "p99", "p99.9"};
    bool any = r->requests > 0;
    json_t *j = json_object();
    json_object_set_new(j, "avg", any ? json_real(base_hist_mean(&r->latency) / 1e3) : json_null());
    json_object_set_new(j, "stdev", any ? json_real(base_hist_stdev(&r->latency) / 1e3) : json_null());
    json_object_set_new(j, "max", any ? json_real((double)r->latency.max / 1e3) : json_null());
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double us = (double)base_hist_percentile(&r->latency, percentiles[i]) / 1e3;
        json_object_set_new(j, names[i], any ? json_real(us) : json_null());
    }
    return j;
}

static json_t *json_status(const struct load_result *r)
{
    json_t *j = json_object();
    for (unsigned i = 0; i < LOAD_STATUSES; i++) {
        if (r->status[i]) {
            char name[8];
            snprintf(name, sizeof name, "%u", i);
            json_object_set_new(j, name, whole(r->status[i]));
        }
    }
    return j;
}

static json_t *json_errors(const struct load_result *r)
{
    json_t *j = json_object();
    json_object_set_new(j, "connect", whole(r->connect_errors));
    json_object_set_new(j, "read", whole(r->read_errors));
    json_object_set_new(j, "write", whole(r->write_errors));
    json_object_set_new(j, "timeout", whole(r->timeouts));
    json_object_set_new(j, "status", whole(r->status_errors));
    return j;
}

static json_t *json_cpu(const struct load_result *r)
{
    json_t *j = json_object();
    json_object_set_new(j, "user", json_real((double)r->user_ns / 1e9));
    json_object_set_new(j, "system", json_real((double)r->system_ns / 1e9));
    return j;
}

bool load_report_json(FILE *f, const struct load_options *o, const struct load_result *r)
{
    json_t *j = json_object();
    json_object_set_new(j, "url", base_json_text(o->url));
    json_object_set_new(j, "threads", whole(o->threads));
    json_object_set_new(j, "connections", whole(o->connections));
    json_object_set_new(j, "duration_s", json_real((double)r->duration_ns / 1e9));
    json_object_set_new(j, "rate", o->rate > 0 ? json_real(o->rate) : json_null());
    json_object_set_new(j, "requests", whole(r->requests));
    json_object_set_new(j, "requests_per_s", json_real(per_second(r, r->requests)));
    json_object_set_new(j, "bytes", whole(r->bytes));
    json_object_set_new(j, "bytes_per_s", json_real(per_second(r, r->bytes)));
    json_object_set_new(j, "latency_us", json_latency(r));
    json_object_set_new(j, "errors", json_errors(r));
    json_object_set_new(j, "malformed", whole(r->malformed));
    json_object_set_new(j, "status", json_status(r));
    json_object_set_new(j, "open", whole(r->open));
    json_object_set_new(j, "longest_open_us", json_real((double)r->longest_open_ns / 1e3));
    json_object_set_new(j, "cpu_s", json_cpu(r));
    bool ok = j && !json_dumpf(j, f, JSON_COMPACT | JSON_REAL_PRECISION(12)) && fputc('\n', f) != EOF;
    json_decref(j);
    return ok;
}

void load_report_advice(FILE *f, const struct load_options *o, const struct load_result *r)
{
    if (r->connect_errno == EADDRNOTAVAIL) {
        fprintf(
            f,
            "pawl load: no free local port for %s: too many connections to it, or too many closed within the "
            "last minute; use fewer connections, or widen net.ipv4.ip_local_port_range\n",
            o->url);
    } else if (r->connect_errno == EMFILE || r->connect_errno == ENFILE) {
        fprintf(
            f,
            "pawl load: no free file descriptor for a connection: raise the limit of open files (ulimit -n, "
            "fs.file-max)\n");
    } else if (r->connect_errno) {
        fprintf(f, "pawl load: first connect error, to %s: %s\n", o->url, strerror(r->connect_errno));
    }
    if (r->read_errno) {
        fprintf(f, "pawl load: first read error: %s\n", strerror(r->read_errno));
    } else if (r->read_errors > r->malformed) {
        fputs("pawl load: the server closed connections before it had answered\n", f);
    }
    if (r->write_errno) {
        fprintf(f, "pawl load: first write error: %s\n", strerror(r->write_errno));
    }
    if (r->requests == 0) {
        fputs("pawl load: no request was answered\n", f);
    } else if (o->requests && r->requests < o->requests) {
        fprintf(f, "pawl load: only %llu of %llu requests were answered\n", (unsigned long long)r->requests,
                (unsigned long long)o->requests);
    }
}
