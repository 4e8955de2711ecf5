/* Stands in for `pawl load` and `pawl endpoint` under the testbed: says what they say and, as the environment
 * asks, fails as they might. FAKE_DRIVER: garbage, list, lacking, killed, nothing, errors, silent.
 * FAKE_ENDPOINT: fails, dies, babbles, silent. What stands after a colon is the number of the process in
 * which it happens (0: the first; default: every). */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void sleep_ms(long ms)
{
    usleep((useconds_t)ms * 1000);
}

static const char *option(int argc, char **argv, const char *name, const char *fallback)
{
    for (int i = 2; i + 1 < argc; i++) {
        if (!strcmp(argv[i], name)) {
            return argv[i + 1];
        }
    }
    return fallback;
}

/* Which process of this kind this is: a line in $FAKE_COUNT/KIND for each. */
static int own_number(const char *kind)
{
    char path[512];
    int fd, number;

    snprintf(path, sizeof path, "%s/%s", getenv("FAKE_COUNT"), kind);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (fd < 0 || write(fd, "\n", 1) != 1) {
        _exit(99);
    }
    number = (int)lseek(fd, 0, SEEK_CUR) - 1;
    close(fd);
    return number;
}

static bool asked(const char *variable, int number, const char *what)
{
    const char *value = getenv(variable);
    size_t len = strlen(what);

    return value && !strncmp(value, what, len) &&
           (!value[len] || (value[len] == ':' && atoi(value + len + 1) == number));
}

static int endpoint(int number)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (asked("FAKE_ENDPOINT", number, "fails")) {
        fputs("fake endpoint: no memory for\nthe second line\n", stderr);
        return 3;
    }
    if (bind(fd, (struct sockaddr *)&a, len) < 0 || listen(fd, 16) < 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) < 0) {
        return 98;
    }
    if (asked("FAKE_ENDPOINT", number, "babbles")) {
        puts("serving on port http");
    } else if (!asked("FAKE_ENDPOINT", number, "silent")) {
        printf("listening on 127.0.0.1:%d\n", ntohs(a.sin_port));
    }
    fflush(stdout);
    if (asked("FAKE_ENDPOINT", number, "dies")) {
        sleep_ms(150);
        fputs("fake endpoint: gone\n", stderr);
        return 4;
    }
    for (;;) {
        pause();
    }
}

static void report(const char *connections, int requests, int timeouts, bool whole)
{
    printf("{\"url\": \"http://127.0.0.1/\", \"threads\": 1, \"connections\": %s, \"duration_s\": 0.05, "
           "\"rate\": null,"
           " \"requests\": %d, \"requests_per_s\": %d, \"bytes\": 1, \"bytes_per_s\": 20,",
           connections, requests, requests * 20);
    if (requests) {
        printf(
            " \"latency_us\": {\"avg\": 150.5, \"stdev\": 12.25, \"max\": 2500, \"p50\": 140, \"p75\": 160,"
            " \"p90\": 180, \"p99\": 900, \"p99.9\": 1800},");
    } else {
        printf(
            " \"latency_us\": {\"avg\": null, \"stdev\": null, \"max\": null, \"p50\": null, \"p75\": null,"
            " \"p90\": null, \"p99\": null, \"p99.9\": null},");
    }
    if (whole) {
        printf(" \"errors\": {\"connect\": 0, \"read\": 0, \"write\": 0, \"timeout\": %d, \"status\": 0},",
               timeouts);
    }
    printf(" \"status\": {\"200\": %d}, \"open\": 0, \"cpu_s\": {\"user\": 0.001, \"system\": 0.001}}\n",
           requests);
}

/* "50ms" or "2s", the only units that a round's load is asked for in. */
static long milliseconds(const char *text)
{
    return strstr(text, "ms") ? atol(text) : 1000 * atol(text);
}

static int load(int argc, char **argv, int number)
{
    const char *connections = option(argc, argv, "-c", "1");

    sleep_ms(milliseconds(option(argc, argv, "-d", "")));
    if (asked("FAKE_DRIVER", number, "garbage")) {
        puts("Running 2s test @ http://127.0.0.1/");
        return 0;
    }
    if (asked("FAKE_DRIVER", number, "list")) {
        puts("[1, 2]");
        return 0;
    }
    if (asked("FAKE_DRIVER", number, "lacking")) {
        report(connections, 1000, 0, false);
        return 0;
    }
    if (asked("FAKE_DRIVER", number, "killed")) {
        fputs("fake driver: about to fail\n", stderr);
        kill(getpid(), SIGKILL);
    }
    if (asked("FAKE_DRIVER", number, "nothing")) {
        report(connections, 0, 7, true);
        return 1;
    }
    if (asked("FAKE_DRIVER", number, "errors")) {
        report(connections, 1000, 7, true);
        return 1;
    }
    if (!asked("FAKE_DRIVER", number, "silent")) {
        report(connections, 1000, 0, true);
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "endpoint")) {
        return endpoint(own_number("endpoint"));
    }
    if (argc > 1 && !strcmp(argv[1], "load")) {
        return load(argc, argv, own_number("driver"));
    }
    return 97;
}
