/* `pawl`: the table of subcommands and nothing else. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *line;
} commands[] = {
    {"testbed", cli_testbed, "compare a server before and after, in interleaved rounds"},
    {"bench", cli_bench, "measure locks: this library's and others', interleaved"},
    {"check", cli_check, "run the locks' source through all executions the memory model allows"},
    {"load", cli_load, "drive an HTTP/1.1 server: throughput, latency, errors"},
    {"endpoint", cli_endpoint, "a small HTTP/1.1 server that answers Hello World!"},
};

static void usage(FILE *f)
{
    fputs("usage: pawl COMMAND [OPTION...]\n\n", f);
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        fprintf(f, "  %-10s %s\n", commands[i].name, commands[i].line);
    }
    fputs("\n`pawl COMMAND --help` tells a command's options; `pawl --version` the version.\n", f);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        usage(stderr);
        return 2;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        usage(stdout);
        return 0;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-v")) {
        printf("pawl %s\n", PAWL_VERSION);
        return 0;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (!strcmp(argv[1], commands[i].name)) {
            static char name[32]; /* what getopt() puts before its complaints */
            snprintf(name, sizeof name, "pawl %s", commands[i].name);
            argv[1] = name;
            return commands[i].run(argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "pawl: no command '%s'; `pawl --help` lists them\n", argv[1]);
    return 2;
}
