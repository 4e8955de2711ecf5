/* Stands in for pawld under the testbed: reads the bind line of its configuration and answers every
 * connection once. As FAKE_SUT asks ("SIDE:WHAT", the side told by the configuration's name), it fails as a
 * server might: dies, deaf, refuses, unwell, stubborn, crashes, forks. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static bool asked(const char *config, const char *what)
{
    const char *value = getenv("FAKE_SUT"), *base = strrchr(config, '/');
    char expected[128];

    snprintf(expected, sizeof expected, "%.*s:%s", (int)strcspn(base ? base + 1 : config, "."),
             base ? base + 1 : config, what);
    return value && !strcmp(value, expected);
}

static int bound_port(const char *path)
{
    char line[256];
    int port = 0;
    FILE *f = fopen(path, "r");

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, " bind 127.0.0.1:%d", &port) == 1) {
            break;
        }
    }
    if (f) {
        fclose(f);
    }
    return port;
}

static int listen_on(int port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    return bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 16) < 0 ? -1 : fd;
}

static void answer(int fd, const char *text)
{
    char request[1024];

    if (read(fd, request, sizeof request) > 0 && write(fd, text, strlen(text)) < 0) {
        perror("fake sut");
    }
    close(fd);
}

static void crash(int sig)
{
    (void)sig;
    abort();
}

/* A child that nothing ties to this process any more. */
static void leave_child(void)
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0) {
            for (;;) {
                pause();
            }
        }
        _exit(0);
    }
}

static void apply(const char *config)
{
    if (asked(config, "stubborn")) {
        signal(SIGTERM, SIG_IGN);
    } else if (asked(config, "crashes")) {
        signal(SIGTERM, crash);
    } else if (asked(config, "forks")) {
        leave_child();
    }
}

int main(int argc, char **argv)
{
    const char *config = argc == 3 ? argv[2] : "";
    int listener;
    bool dies = asked(config, "dies"), unwell = asked(config, "unwell");

    if (argc == 2 && !strcmp(argv[1], "-v")) {
        puts("fake 1.2.3\nbuilt for tests");
        return 0;
    }
    if (asked(config, "refuses")) {
        fprintf(stderr, "[%s:1] unknown keyword\nfatal errors\n", config);
        return 1;
    }
    if (asked(config, "deaf")) {
        for (;;) {
            pause();
        }
    }
    listener = listen_on(bound_port(config));
    if (listener < 0) {
        perror("fake sut: listen");
        return 1;
    }
    apply(config);
    for (;;) {
        int fd = accept(listener, NULL, NULL);

        answer(fd, unwell ? "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n"
                          : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        if (dies) {
            usleep(20000);
            fputs("fake sut: assertion failed\n", stderr);
            abort();
        }
    }
}
