/* From files to the model: reads them whole, has them parsed one after the other, then checked together. */
#include "balancer/config/parse.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE ((size_t)16 << 20)

/* NULL where memory is short, which is told. */
static struct cfg_parser *parser_new(FILE *err)
{
    struct cfg_parser *p = calloc(1, sizeof *p);

    if (p) {
        p->diag.out = err;
        p->at.file = "";
        p->cfg = cfg_model_new();
    }
    if (!p || !p->cfg) {
        fputs("[ALERT]    config: out of memory\n", err);
        free(p);
        return NULL;
    }
    return p;
}

/* Ends the parsing: the model, or NULL when there was any error. */
static struct cfg *parser_finish(struct cfg_parser *p)
{
    struct cfg *c = p->cfg;

    if (!p->no_memory && !cfg_diag_full(&p->diag)) {
        cfg_check(p);
    }
    if (p->no_memory) {
        fputs("[ALERT]    config: out of memory\n", p->diag.out);
    }
    c->nwarnings = p->diag.nwarnings;
    if (p->no_memory || p->diag.nerrors) {
        cfg_free(c);
        c = NULL;
    }
    free(p);
    return c;
}

static void parse_text(struct cfg_parser *p, const char *name, const char *text, size_t len)
{
    const char *file = cfg_model_file(p->cfg, name);

    if (!file) {
        p->no_memory = true;
        return;
    }
    cfg_parse(p, file, text, len);
}

/* Reads all of fd, *len bytes; NULL with errno, EFBIG beyond the limit. Works on pipes too, whose size isn't
 * known. */
static char *read_all(int fd, size_t *len)
{
    size_t cap = 0, n = 0;
    char *text = NULL, *more;
    ssize_t got = 1;
    int error;

    while (got > 0) {
        if (n == cap) {
            cap = cap ? cap * 2 : 16384;
            more = n > MAX_FILE ? NULL : realloc(text, cap);
            if (!more) {
                errno = n > MAX_FILE ? EFBIG : ENOMEM;
                goto fail;
            }
            text = more;
        }
        do {
            got = read(fd, text + n, cap - n);
        } while (got < 0 && errno == EINTR);
        if (got < 0) {
            goto fail;
        }
        n += (size_t)got;
    }
    if (n > MAX_FILE) {
        errno = EFBIG;
        goto fail;
    }
    *len = n;
    return text;
fail:
    error = errno;
    free(text);
    errno = error;
    return NULL;
}

static const char *advice(int error)
{
    switch (error) {
    case EISDIR:
        return "expected a file; name the files in it one by one";
    case EFBIG:
        return "expected at most 16 MiB";
    case ENOENT:
    case ENOTDIR:
        return "expected the path of a file after -f";
    case EACCES:
        return "expected a file that this user may read";
    default:
        return "expected a readable file";
    }
}

static void load_file(struct cfg_parser *p, const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    char *text = NULL;
    size_t len = 0;

    if (fd >= 0) {
        text = read_all(fd, &len);
    }
    if (text) {
        parse_text(p, name, text, len);
    } else {
        cfg_alert(&p->diag, &(struct cfg_where){name, 0, 0}, "can't read the file: %s; %s", strerror(errno),
                  advice(errno));
    }
    free(text);
    if (fd >= 0) {
        close(fd);
    }
}

struct cfg *cfg_load(const char *const *files, size_t nfiles, FILE *err)
{
    struct cfg_parser *p;

    if (!nfiles) {
        fputs("[ALERT]    config: no file given; expected -f FILE\n", err);
        return NULL;
    }
    p = parser_new(err);
    if (!p) {
        return NULL;
    }
    for (size_t i = 0; i < nfiles && !p->no_memory && !cfg_diag_full(&p->diag); i++) {
        load_file(p, files[i]);
    }
    return parser_finish(p);
}

struct cfg *cfg_load_buffer(const char *name, const char *text, size_t len, FILE *err)
{
    struct cfg_parser *p = parser_new(err);

    if (!p) {
        return NULL;
    }
    parse_text(p, name, text, len);
    return parser_finish(p);
}
