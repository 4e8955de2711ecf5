/* The tests of the balancer as a process: starts it with a configuration the test builds, talks to it over
 * loopback, and fails the test when it crashes, hangs or a sanitizer reports. The program under test is named
 * by the first argument or by PAWLD; anything that takes HAProxy's language and command line will do
 * (PAWLD_STOP=USR1 names the signal of haproxy's own graceful stop). All of it is for the test's main thread,
 * except where noted. */
#ifndef PAWL_TESTS_BALANCER_HARNESS_H
#define PAWL_TESTS_BALANCER_HARNESS_H

#include "endpoint.h"
#include "wire.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

/* Long enough for a sanitizer on a busy machine; only a fault ever waits so long. */
#define PATIENCE_MS    20000

/* A test: everything it started through this interface is stopped after it, passed or failed. */
#define SYSTEM_TEST(f) cmocka_unit_test_setup_teardown(f, harness_setup, harness_teardown)
int harness_setup(void **state);
int harness_teardown(void **state);

/* The body of main(). argv: the program under test, then options of the test program's own. The environment's
 * TEST_FILTER selects tests by a cmocka pattern. */
int harness_main(int argc, char **argv, const char *name, const struct CMUnitTest *tests, size_t n);
const char *harness_program(void);
const char *harness_argument(int i); /* the ith behind the program, from 0; or NULL */

/* The configuration of the balancer to start next: text, a bit at a time. */
void conf_text(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void conf_common(unsigned nbthread);    /* global and defaults */
void conf_defaults(void);               /* with time-outs nobody reaches */
unsigned conf_listen(const char *name); /* a listen section on an inherited socket; returns its port */
unsigned conf_listen_address(
    const char *name); /* one that binds itself, to a port that was free a moment ago */
void conf_server(const char *name, const struct endpoint *e, const char *options);
const char *conf_so_far(void);

/* The balancer started next may open only so many files. */
void balancer_limit_files(unsigned n);

/* Starts the balancer, at most one at a time, and waits until it answers. */
void balancer_start(void);
pid_t balancer_pid(void);
unsigned balancer_fds(void);  /* descriptors it has open */
size_t balancer_rss_kb(void); /* its resident memory */
bool balancer_alive(void);
void balancer_signal(int sig); /* SIGTERM stands for the graceful stop */
int balancer_wait(
    int timeout_ms); /* its exit status, once; 128 + n when signal n ended it; fails the test if late */
char *balancer_stderr(void); /* all it has written so far; the caller frees */

/* Runs the program with these arguments (NULL-terminated) to its end; out gets stdout, err stderr, both to be
 * freed. Returns the status as balancer_wait(). */
int program_run(const char *const *args, char **out, char **err);
/* A file with this text in the test's own directory; its path, valid until the test ends. */
const char *scratch_file(const char *name, const char *text);

/* The endpoints of a test, stopped after it. */
struct endpoint *endpoint_start(const struct ep_script *script);

/* Listening sockets for other uses: bound to 127.0.0.1, port from the kernel, closed after the test. backlog
 * < 0: not listening, so that the port refuses. */
int socket_bound(int backlog, unsigned *port);

/* Clients. From any thread: client_open(), client_close(), client_abort() and the sending and reading ones.
 */
struct client {
    struct wire w;
    struct wire_msg last; /* what client_read() got */
};

struct client *client_open(unsigned port); /* NULL: see errno. The harness closes what is left open */
void client_close(struct client *c);
void client_abort(struct client *c); /* with a reset */
bool client_send(struct client *c, const void *data, size_t n);
bool client_text(struct client *c, const char *text);
void client_half_close(struct client *c);
/* Sends n bytes cut at the given place, so that the two parts arrive apart. */
bool client_send_cut(struct client *c, const char *data, size_t n, size_t cut);
/* One response, whole, into c->last. head_only: to a HEAD. */
enum wire_result client_read(struct client *c, bool head_only, int timeout_ms);
/* True if nothing arrives and the connection stays open for so long. */
bool client_quiet(struct client *c, int ms);
/* Reads to the end of the stream: what ended it; *bytes (may be NULL): how many came before. */
enum wire_result client_end(struct client *c, int timeout_ms, uint64_t *bytes);
/* Waits until the balancer has read all that this client sent. */
bool client_taken(const struct client *c, int timeout_ms);

/* Assertions of the main thread. */
#define assert_response(c, status) check_response((c), false, (status), NULL, 0, __FILE__, __LINE__)
#define assert_response_body(c, status, body, n) \
    check_response((c), false, (status), (body), (n), __FILE__, __LINE__)
#define assert_response_to_head(c, status) check_response((c), true, (status), NULL, 0, __FILE__, __LINE__)
#define assert_closed(c)                   check_closed((c), __FILE__, __LINE__)
#define assert_request(port, text, status) check_request((port), (text), (status), __FILE__, __LINE__)
/* Reads a response; it is whole and has this status (and body). Built-in error answers have a body. */
void check_response(struct client *c, bool head_only, unsigned status, const char *body, size_t n,
                    const char *file, int line);
/* The stream ends in order, nothing more having come. */
void check_closed(struct client *c, const char *file, int line);
/* A connection of its own: one request, its whole answer. */
void check_request(unsigned port, const char *text, unsigned status, const char *file, int line);

#define GET      "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
#define GET_LAST "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"

/* Load: clients in threads of their own, each sending one request after the other. */
struct load {
    unsigned port, clients, requests; /* requests of each client; UINT_MAX: until load_stop() */
    const char *text;                 /* the request; NULL: GET */
    bool reconnect;                   /* a connection for each request */
    unsigned pause_us;                /* at random up to this before each */
    unsigned abort_percent; /* of the requests that are given up at random up to abort_us after sending */
    unsigned abort_us;
};

struct load_result {
    unsigned answered;    /* whole answers, all of them */
    unsigned status[6];   /* those of them by hundreds */
    unsigned aborted;     /* given up on purpose */
    unsigned closed;      /* a used connection ended in order before an answer's first byte */
    unsigned turned_away; /* a new connection ended so, or by a reset: nearly a refused one */
    unsigned truncated, reset, timeout, bad, refused;
    int64_t longest_ms; /* from sending to the whole answer */
};

struct load_run;
struct load_run *load_start(const struct load *l);
struct load_result load_stop(
    struct load_run *r); /* tells the clients to end after the answer they wait for */
struct load_result load_wait(struct load_run *r); /* waits until all requests are done */

#endif
