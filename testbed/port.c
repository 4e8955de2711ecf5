/* Free ports. */
#include "testbed/port.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define LOWEST 10000
#define TRIES  2000

int tb_port_free(unsigned port)
{
    struct sockaddr_in a = {
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1, rc = 0;

    if (fd < 0) {
        return -errno;
    }
    /* SO_REUSEADDR passes over what closed connections left (TIME_WAIT), as the server's own bind will. */
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1) < 0) {
        rc = -errno;
    }
    close(fd);
    return rc;
}

/* The first port that outgoing connections use: those below stay free for who asks for them by number. */
static unsigned first_outgoing(void)
{
    FILE *f = fopen("/proc/sys/net/ipv4/ip_local_port_range", "re");
    unsigned low = 32768;

    if (f) {
        if (fscanf(f, "%u", &low) != 1 || low < LOWEST + 1000) {
            low = 32768;
        }
        fclose(f);
    }
    return low;
}

int tb_port_pick(struct tb_error *err)
{
    static unsigned next;
    unsigned width = first_outgoing() - LOWEST;
    int rc = 0;

    if (!next) { /* two runs at once start at different places */
        next = (unsigned)getpid() * 101u;
    }
    for (int i = 0; i < TRIES; i++) {
        unsigned port = LOWEST + next++ % width;

        rc = tb_port_free(port);
        if (rc == 0) {
            return (int)port;
        }
    }
    return tb_fail(err, "no free port on 127.0.0.1 in %d tries (the last: %s); name one with --port", TRIES,
                   strerror(-rc));
}
