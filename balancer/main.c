/* pawld's command line, which is HAProxy's as far as it goes. */
#include "balance/lock.h"
#include "balancer/config/config.h"
#include "balancer/proxy/proxy.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FILES 64

static void usage(FILE *f)
{
    fputs("usage: pawld -f FILE [-f FILE...] [-c] [-d] [-db] [-q]\n"
          "       pawld -v | -vv | -h\n\n"
          "  -f FILE  read the configuration from FILE; several are read in order as one\n"
          "  -c       check the configuration and leave: status 0 when it is valid, 1 when not\n"
          "  -d, -db  stay in the foreground (pawld always does)\n"
          "  -q       print nothing when all is well\n"
          "  -v       print the version\n"
          "  -vv      print the version and how this program was built\n\n"
          "SIGTERM or SIGUSR1 stop gracefully, SIGINT or a second SIGTERM at once.\n",
          f);
}

static void version(bool all)
{
    printf("pawld version %s, a multi-threaded HTTP load balancer\n", PAWL_VERSION);
    if (!all) {
        return;
    }
    printf("locks:    %s\n", BAL_LOCKS);
#ifdef __clang__
    puts("compiler: clang " __clang_version__);
#else
    puts("compiler: gcc " __VERSION__);
#endif
#if defined __x86_64__
    puts("target:   x86-64");
#elif defined __aarch64__
    puts("target:   arm64");
#else
    puts("target:   other");
#endif
#ifdef __ARM_FEATURE_ATOMICS
    puts("atomics:  LSE, required by this build");
#elif defined __aarch64__
    puts("atomics:  the compiler's");
#else
    puts("atomics:  native");
#endif
    printf("threads:  %u by default (the CPUs this process may use)\n", proxy_default_threads());
    puts("poller:   epoll, edge-triggered");
}

int main(int argc, char **argv)
{
    const char *files[MAX_FILES];
    size_t nfiles = 0;
    bool check = false, quiet = false;
    for (int i = 1; i < argc; i++) {
        const char *a = argv[i];
        if (!strcmp(a, "-f")) {
            if (i + 1 == argc || nfiles == MAX_FILES) {
                fprintf(stderr, "pawld: -f wants a file (at most %d of them)\n", MAX_FILES);
                return 1;
            }
            files[nfiles++] = argv[++i];
        } else if (!strcmp(a, "-c")) {
            check = true;
        } else if (!strcmp(a, "-q")) {
            quiet = true;
        } else if (!strcmp(a, "-v") || !strcmp(a, "-vv")) {
            version(a[2]);
            return 0;
        } else if (!strcmp(a, "-h") || !strcmp(a, "--help")) {
            usage(stdout);
            return 0;
        } else if (strcmp(a, "-d") && strcmp(a, "-db")) {
            fprintf(stderr, "pawld: unknown option '%s'; `pawld -h` lists them\n", a);
            return 1;
        }
    }
    if (!nfiles) {
        fputs("pawld: no configuration; name one with -f FILE (`pawld -h` tells more)\n", stderr);
        return 1;
    }
    struct cfg *cfg = cfg_load(files, nfiles, stderr);
    if (!cfg) {
        fprintf(stderr, "[ALERT]    pawld: errors in the configuration; nothing was started\n");
        return 1;
    }
    int status = 0;
    if (check) {
        if (!quiet) {
            puts("Configuration file is valid");
        }
    } else {
        status = proxy_run(cfg);
    }
    cfg_free(cfg);
    return status;
}
