/* `pawl load`: options and output; the work is load/driver.h's. */
#include "cli/cli.h"
#include "load/driver.h"
#include "load/report.h"
#include "load/units.h"

#include <getopt.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct arguments {
    struct load_options options;
    bool distribution, json, help;
};

static atomic_int stop;

static void on_signal(int signo)
{
    atomic_store(&stop, signo);
}

static void usage(FILE *f)
{
    fputs("usage: pawl load [OPTION...] http://ADDRESS[:PORT][/PATH]\n"
          "\n"
          "Sends one request again and again over many connections and measures the answers.\n"
          "ADDRESS is an IPv4 address, an IPv6 one in brackets, or localhost (127.0.0.1).\n"
          "\n"
          "  -t, --threads N        threads (default 2)\n"
          "  -c, --connections N    connections, over all threads (default 10)\n"
          "  -d, --duration T       how long: 2, 2s, 1m, 500ms (default 10s)\n"
          "  -R, --rate N           open loop: N requests/s over all threads, latency counted from when each "
          "was due;\n"
          "                         default: each connection sends as soon as it has been answered\n"
          "  -n, --requests N       send exactly N requests in all, then stop (at the latest after the "
          "duration)\n"
          "  -m, --method NAME      request method (default GET)\n"
          "  -H, --header 'N: V'    add a header field; may be repeated\n"
          "      --timeout T        how long a connect or a request may take (default 2s)\n"
          "      --latency          print the latency distribution\n"
          "      --json             print one JSON object instead of the table\n"
          "  -h, --help             this text\n"
          "\n"
          "Exit status: 0 every request was answered below 400; 1 some were not, or none completed, or the "
          "run was not\n"
          "possible; 2 wrong usage; 130 interrupted (143 terminated), what was measured is printed.\n",
          f);
}

static int bad(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "pawl load: %s '%s': expected %s\n", what, value, expected);
    return -1;
}

static int read_count(unsigned *out, const char *what, const char *text, unsigned max)
{
    uint64_t n;
    if (!load_read_number(text, 1, max, &n)) {
        char expected[64];
        snprintf(expected, sizeof expected, "a whole number, 1 to %u", max);
        return bad(what, text, expected);
    }
    *out = (unsigned)n;
    return 0;
}

static int read_time(uint64_t *out, const char *what, const char *text)
{
    if (!load_read_duration(text, out) || *out == 0) {
        return bad(what, text, "a duration such as 2s, 500ms or 1m, more than 0 and at most a day");
    }
    return 0;
}

static int read_rate(double *out, const char *text)
{
    char *end;
    *out = strtod(text, &end);
    if (!strchr("0123456789.", text[0]) || *end || !isfinite(*out) || *out < 1e-3 || *out > LOAD_MAX_RATE) {
        return bad("rate", text, "requests/s, 0.001 to 1e8");
    }
    return 0;
}

static int read_requests(uint64_t *out, const char *text)
{
    if (!load_read_number(text, 1, INT64_MAX / 2, out)) {
        return bad("requests", text, "a whole number, at least 1");
    }
    return 0;
}

enum { OPT_TIMEOUT = 256, OPT_LATENCY, OPT_JSON };

static int read_option(struct arguments *a, const char **headers, int option, const char *value)
{
    struct load_options *o = &a->options;
    switch (option) {
    case 't':
        return read_count(&o->threads, "threads", value, LOAD_MAX_THREADS);
    case 'c':
        return read_count(&o->connections, "connections", value, LOAD_MAX_CONNECTIONS);
    case 'd':
        return read_time(&o->duration_ns, "duration", value);
    case 'R':
        return read_rate(&o->rate, value);
    case 'n':
        return read_requests(&o->requests, value);
    case 'm':
        o->method = value;
        return 0;
    case 'H':
        headers[o->nheaders++] = value;
        return 0;
    case OPT_TIMEOUT:
        return read_time(&o->timeout_ns, "timeout", value);
    case OPT_LATENCY:
        a->distribution = true;
        return 0;
    case OPT_JSON:
        a->json = true;
        return 0;
    case 'h':
        a->help = true;
        return 0;
    default:
        fputs("pawl load: `pawl load --help` lists the options\n", stderr);
        return -1;
    }
}

/* headers has room for argc. */
static int read_arguments(struct arguments *a, const char **headers, int argc, char **argv)
{
    static const struct option options[] = {{"threads", required_argument, NULL, 't'},
                                            {"connections", required_argument, NULL, 'c'},
                                            {"duration", required_argument, NULL, 'd'},
                                            {"rate", required_argument, NULL, 'R'},
                                            {"requests", required_argument, NULL, 'n'},
                                            {"method", required_argument, NULL, 'm'},
                                            {"header", required_argument, NULL, 'H'},
                                            {"timeout", required_argument, NULL, OPT_TIMEOUT},
                                            {"latency", no_argument, NULL, OPT_LATENCY},
                                            {"json", no_argument, NULL, OPT_JSON},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;
    a->options = (struct load_options){.threads = 2,
                                       .connections = 10,
                                       .duration_ns = UINT64_C(10000000000),
                                       .timeout_ns = UINT64_C(2000000000),
                                       .headers = headers,
                                       .stop = &stop};
    optind = 0;
    while ((option = getopt_long(argc, argv, "t:c:d:R:n:m:H:h", options, NULL)) != -1) {
        if (read_option(a, headers, option, optarg)) {
            return -1;
        }
    }
    if (a->help) {
        return 0;
    }
    if (optind + 1 != argc) {
        fprintf(stderr, "pawl load: expected one URL, found %d; `pawl load --help` tells more\n",
                argc - optind);
        return -1;
    }
    a->options.url = argv[optind];
    return 0;
}

static void show_progress(void *arg, const struct load_progress *p)
{
    const struct load_options *o = arg;
    double seconds = (double)p->elapsed_ns / 1e9;
    fprintf(stderr, "\r%.1f s of %g s, %llu requests, %.0f/s, %llu errors\033[K", seconds,
            (double)o->duration_ns / 1e9, (unsigned long long)p->requests, (double)p->requests / seconds,
            (unsigned long long)p->errors);
}

/* The first signal ends the run early; a second one kills. */
static void catch_signals(void)
{
    struct sigaction act = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    sigaction(SIGTERM, &act, NULL);
}

static int run(struct arguments *a)
{
    static struct load_result result;
    struct load_options *o = &a->options;
    char err[512];
    bool terminal = isatty(STDERR_FILENO);

    if (terminal) {
        o->progress = show_progress;
        o->progress_arg = o;
    }
    catch_signals();
    enum load_status status = load_run(o, &result, err, sizeof err);
    if (terminal && status == LOAD_OK) {
        fputs("\r\033[K", stderr);
    }
    if (status != LOAD_OK) {
        fprintf(stderr, "pawl load: %s\n", err);
        return status == LOAD_USAGE ? 2 : 1;
    }
    bool written = true;
    if (a->json) {
        written = load_report_json(stdout, o, &result);
    } else {
        load_report_head(stdout, o);
        load_report_table(stdout, o, &result, a->distribution);
    }
    if (fflush(stdout) || ferror(stdout) || !written) {
        fputs("pawl load: the result could not be written to the standard output\n", stderr);
        return 1;
    }
    load_report_advice(stderr, o, &result);
    if (stop) {
        return 128 + stop;
    }
    return load_succeeded(o, &result) ? 0 : 1;
}

int cli_load(int argc, char **argv)
{
    struct arguments a = {.help = false};
    const char **headers = calloc((size_t)argc + 1, sizeof *headers);
    int status = 2;
    if (!headers) {
        fputs("pawl load: out of memory\n", stderr);
        return 1;
    }
    if (!read_arguments(&a, headers, argc, argv)) {
        if (a.help) {
            usage(stdout);
            status = 0;
        } else {
            status = run(&a);
        }
    }
    free(headers);
    return status;
}
