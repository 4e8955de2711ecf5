/* `pawl endpoint`: options and output; the work is load/endpoint.h's. */
#include "load/endpoint.h"

#include "cli/cli.h"
#include "load/units.h"
#include "net/sock.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BACKLOG 4096

struct arguments {
    const char *listen;
    struct load_endpoint_options options; /* listener: -1, or the inherited one */
    bool stats, help;
};

static void usage(FILE *f)
{
    fputs("usage: pawl endpoint [OPTION...]\n"
          "\n"
          "A small HTTP/1.1 server that answers every request with 200 and `Hello World!`, until SIGTERM or "
          "SIGINT.\n"
          "It prints `listening on ADDRESS:PORT` once it can be connected to.\n"
          "\n"
          "  -l, --listen ADDR:PORT  address (default 127.0.0.1:0; port 0: a free one)\n"
          "      --fd N              use the listening socket inherited as descriptor N instead\n"
          "  -t, --threads N         threads, 1 to 256 (default 1)\n"
          "      --delay T           answer each request so long after it has arrived, such as 1ms or 250us\n"
          "      --bytes N           answer with N bytes, at most 1 GiB\n"
          "      --stats             at the end print what was asked as one JSON object\n"
          "  -h, --help              this text\n"
          "\n"
          "Exit status: 0 ended by a signal; 1 it could not listen or start; 2 wrong usage.\n",
          f);
}

static int bad(const char *what, const char *value, const char *expected)
{
    fprintf(stderr, "pawl endpoint: %s '%s': %s\n", what, value, expected);
    return -1;
}

enum { OPT_FD = 256, OPT_DELAY, OPT_BYTES, OPT_STATS };

static int read_option(struct arguments *a, int option, const char *value)
{
    struct load_endpoint_options *o = &a->options;
    uint64_t n;
    switch (option) {
    case 'l':
        a->listen = value;
        return 0;
    case 't':
        if (!load_read_number(value, 1, LOAD_ENDPOINT_MAX_THREADS, &n)) {
            return bad("threads", value, "expected a whole number, 1 to 256");
        }
        o->threads = (unsigned)n;
        return 0;
    case OPT_FD:
        if (!load_read_number(value, 0, 1 << 20, &n)) {
            return bad("fd", value, "expected the number of an open descriptor");
        }
        o->listener = (int)n;
        return 0;
    case OPT_DELAY:
        if (!load_read_duration(value, &o->delay_ns)) {
            return bad("delay", value, "expected a duration such as 1ms, 250us or 2s, at most a day");
        }
        return 0;
    case OPT_BYTES:
        if (!load_read_number(value, 0, LOAD_ENDPOINT_MAX_BYTES, &o->bytes)) {
            return bad("bytes", value, "expected a whole number, at most 1073741824");
        }
        o->sized = true;
        return 0;
    case OPT_STATS:
        a->stats = true;
        return 0;
    case 'h':
        a->help = true;
        return 0;
    default:
        fputs("pawl endpoint: `pawl endpoint --help` lists the options\n", stderr);
        return -1;
    }
}

static int read_arguments(struct arguments *a, int argc, char **argv)
{
    static const struct option options[] = {{"listen", required_argument, NULL, 'l'},
                                            {"fd", required_argument, NULL, OPT_FD},
                                            {"threads", required_argument, NULL, 't'},
                                            {"delay", required_argument, NULL, OPT_DELAY},
                                            {"bytes", required_argument, NULL, OPT_BYTES},
                                            {"stats", no_argument, NULL, OPT_STATS},
                                            {"help", no_argument, NULL, 'h'},
                                            {NULL, 0, NULL, 0}};
    int option;
    *a = (struct arguments){.options = {.listener = -1, .threads = 1}};
    optind = 0;
    while ((option = getopt_long(argc, argv, "l:t:h", options, NULL)) != -1) {
        if (read_option(a, option, optarg)) {
            return -1;
        }
    }
    if (a->help) {
        return 0;
    }
    if (optind < argc) {
        return bad("argument", argv[optind], "expected options only");
    }
    if (a->listen && a->options.listener >= 0) {
        return bad("listen", a->listen, "expected either --listen or --fd, not both");
    }
    return 0;
}

/* The listening socket; negative with a message printed. */
static int open_listener(const char *text, int *status)
{
    struct net_addr addr;
    const char *why;
    if (!net_addr_parse(&addr, text, &why)) {
        bad("listen", text, why);
        *status = 2;
        return -1;
    }
    int fd = net_listen(&addr, BACKLOG, false);
    if (fd < 0) {
        fprintf(stderr, "pawl endpoint: listening on %s: %s\n", text, strerror(-fd));
        *status = 1;
    }
    return fd;
}

/* A connection each takes a descriptor: as many as this user may have. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (!getrlimit(RLIMIT_NOFILE, &limit)) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

static int announce(int listener)
{
    struct net_addr addr;
    char text[NET_ADDR_TEXT];
    int rc = net_sock_local(listener, &addr);
    if (rc) {
        fprintf(stderr, "pawl endpoint: the socket's address: %s\n", strerror(-rc));
        return -1;
    }
    printf("listening on %s\n", net_addr_format(&addr, text, sizeof text));
    if (fflush(stdout)) {
        fputs("pawl endpoint: the standard output can't be written to\n", stderr);
        return -1;
    }
    return 0;
}

static int print_stats(const struct load_endpoint_stats *s)
{
    printf("{\"requests\":%llu,\"connections\":%llu,\"max_concurrent\":%llu,\"max_connections\":%llu}\n",
           (unsigned long long)s->requests, (unsigned long long)s->connections,
           (unsigned long long)s->max_concurrent, (unsigned long long)s->max_connections);
    return fflush(stdout) ? 1 : 0;
}

static int serve(const struct arguments *a)
{
    struct load_endpoint_stats stats;
    sigset_t ending;
    char err[256];
    int signo;

    sigemptyset(&ending);
    sigaddset(&ending, SIGINT);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, NULL); /* before anybody is told that we are here */
    raise_file_limit();
    struct load_endpoint *e = load_endpoint_start(&a->options, err, sizeof err);
    if (!e) {
        fprintf(stderr, "pawl endpoint: %s\n", err);
        return 1;
    }
    int status = announce(a->options.listener) ? 1 : 0;
    while (status == 0 && sigwait(&ending, &signo)) {
    }
    load_endpoint_stop(e, &stats);
    if (status == 0 && a->stats) {
        status = print_stats(&stats);
    }
    return status;
}

int cli_endpoint(int argc, char **argv)
{
    struct arguments a;
    int status = 2;
    if (read_arguments(&a, argc, argv)) {
        return 2;
    }
    if (a.help) {
        usage(stdout);
        return 0;
    }
    if (a.options.listener < 0) {
        a.options.listener = open_listener(a.listen ? a.listen : "127.0.0.1:0", &status);
        if (a.options.listener < 0) {
            return status;
        }
    }
    status = serve(&a);
    close(a.options.listener);
    return status;
}
