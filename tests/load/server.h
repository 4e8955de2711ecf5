/* A server for the driver's tests: every accepted connection is given to a script, in a thread of its own. */
#ifndef PAWL_TESTS_LOAD_SERVER_H
#define PAWL_TESTS_LOAD_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#define SERVER_MAX_CONNS 512 /* more are closed at once */

struct server;

/* Plays on connection fd until it returns; the connection is closed then. s->arg and s->count are the
 * script's. */
typedef void server_script(struct server *s, int fd);

struct server_conn {
    struct server *server;
    int fd;
    pthread_t thread;
};

struct server {
    int listener;
    char url[64];
    server_script *script;
    void *arg;
    atomic_int count, accepted;
    atomic_bool stop;
    pthread_t thread;
    struct server_conn conns[SERVER_MAX_CONNS];
    int nconns; /* the accepting thread's until joined */
};

/* Starts on a free port of 127.0.0.1; fails the test where it can't. */
void server_start(struct server *s, server_script *script, void *arg);

/* Ends all scripts (their sockets are shut down) and joins everything. */
void server_stop(struct server *s);

/* Reads one request head without body; false when the client closed. */
bool server_read(int fd);

/* Sends all of text; false where the client is gone. */
bool server_send(int fd, const char *text);

#endif
