#include "sim/mutants.h"

#include "base/clock.h"
#include "base/compile.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATH_SIZE    4096
#define SOURCE_SIZE  (256u * 1024u)
#define MOST_AT_ONCE 16

/* ---- the sites */

static const char *const files[] = {"lock_word.h", "lock_wait.h", "lock_ops.h"};

/* A name in the source, and what stands there instead; a call is replaced with its arguments. */
static const struct rule {
    enum sim_mutation mutation;
    const char *from, *to;
    bool call;
} rules[] = {
    {SIM_WEAKER_ORDER, "PAWL_A(load_acquire)", "PAWL_A(load_relaxed)", false},
    {SIM_WEAKER_ORDER, "PAWL_A(store_release)", "PAWL_A(store_relaxed)", false},
    {SIM_WEAKER_ORDER, "PAWL_A(fetch_add_acquire)", "PAWL_A(fetch_add_relaxed)", false},
    {SIM_WEAKER_ORDER, "PAWL_A(fetch_sub_release)", "PAWL_A(fetch_sub_relaxed)", false},
    {SIM_WEAKER_ORDER, "PAWL_A(cas_acquire)", "PAWL_A(cas_relaxed)", false},
    {SIM_WEAKER_ORDER, "PAWL_A(cas_release)", "PAWL_A(cas_relaxed)", false},
    {SIM_WEAKER_ORDER, "PAWL_A(cas_acq_rel)", "PAWL_A(cas_acquire)", false},
    {SIM_WEAKER_ORDER, "PAWL_A(cas_acq_rel)", "PAWL_A(cas_release)", false},
    {SIM_NO_WAKE, "pawl_futex_wake(", "(0)", true},
    {SIM_NO_WAKE, "PAWL_F(wake_)(", "(void)0", true},
    {SIM_NO_WAKE, "PAWL_F(pass_on_)(", "(void)0", true},
    {SIM_NO_WAKE, "PAWL_F(gave_)(", "(void)0", true},
    {SIM_NO_MARK, "PAWL_QUEUE", "((PAWL_T)0)", false},
    {SIM_NO_MARK, "PAWL_HEAD", "((PAWL_T)0)", false},
    {SIM_NO_MARK, "PAWL_ASLEEP", "((PAWL_T)0)", false},
    {SIM_NO_MARK, "PAWL_TURN", "((PAWL_T)0)", false},
    {SIM_NO_MARK, "PAWL_DRAIN", "((PAWL_T)0)", false},
    {SIM_NO_MARK, "PAWL_OWES", "((PAWL_T)0)", false},
    {SIM_NO_MARK, "PAWL_HIGH", "((PAWL_T)0)", false},
    {SIM_NO_MARK, "PAWL_S", "((PAWL_T)0)", false},
    {SIM_NO_MARK, "PAWL_W", "((PAWL_T)0)", false},
};

struct text {
    char bytes[SOURCE_SIZE];
    size_t n;
};

static int read_text(struct text *t, const char *path, char *error, size_t size)
{
    FILE *f = fopen(path, "re");
    bool bad = !f;
    t->n = f ? fread(t->bytes, 1, sizeof t->bytes - 1, f) : 0;
    bad = bad || ferror(f) || !feof(f);
    if (bad) {
        snprintf(error, size, "%.600s: %s", path, !f || ferror(f) ? strerror(errno) : "larger than expected");
    }
    if (f) {
        fclose(f);
    }
    t->bytes[t->n] = 0;
    return bad ? -1 : 0;
}

/* Spaces instead of comments and preprocessor lines, so that what is found is code. */
static void blank(char *s, size_t n)
{
    bool line_begins = true;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '/' && s[i + 1] == '*') {
            while (i < n && !(s[i] == '*' && s[i + 1] == '/' && s[i - 1] != '/')) {
                s[i] = s[i] == '\n' ? '\n' : ' ';
                i++;
            }
            s[i] = s[i + 1] = ' ';
            i++;
        } else if (line_begins && s[i] == '#') {
            while (i < n && s[i] != '\n') {
                s[i++] = ' ';
            }
        }
        line_begins = s[i] == '\n' || (line_begins && s[i] == ' ');
    }
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The length of what a rule replaces here; 0: not here. A function's own head is no call of it. */
static size_t found_here(const struct rule *r, const char *s, size_t at)
{
    size_t length = strlen(r->from), depth = 1, line = at;
    if (strncmp(s + at, r->from, length) != 0 || (at && is_word(s[at - 1]))) {
        return 0;
    }
    if (!r->call) {
        return is_word(s[at + length]) && is_word(r->from[length - 1]) ? 0 : length;
    }
    while (line && s[line - 1] != '\n') {
        line--;
    }
    if (!strncmp(s + line, "PAWL_", 5) && strchr("INW", s[line + 5]) && s[line] == 'P') {
        return 0;
    }
    for (; depth && s[at + length]; length++) {
        depth += s[at + length] == '(';
        depth -= s[at + length] == ')';
    }
    return length;
}

static bool add_mutant(struct sim_mutants *m, const struct sim_mutant *mutant)
{
    if (m->n == m->room) {
        size_t room = m->room ? m->room * 2 : 256;
        struct sim_mutant *more = realloc(m->mutant, room * sizeof *more);
        if (!more) {
            return false;
        }
        m->mutant = more;
        m->room = room;
    }
    m->mutant[m->n++] = *mutant;
    return true;
}

static bool find_in(struct sim_mutants *m, const char *file, const struct text *t)
{
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < t->n; i++) {
        for (size_t r = 0; r < sizeof rules / sizeof *rules; r++) {
            size_t length = found_here(&rules[r], t->bytes, i);
            struct sim_mutant x = {
                .file = file, .line = line, .column = column, .at = i, .length = length, .nth = 1};
            if (!length) {
                continue;
            }
            x.mutation = rules[r].mutation;
            snprintf(x.from, sizeof x.from, "%.*s", (int)length, t->bytes + i);
            snprintf(x.to, sizeof x.to, "%s", rules[r].to);
            for (size_t k = m->n; k-- > 0 && m->mutant[k].file == file && m->mutant[k].line == line;) {
                x.nth += !strcmp(m->mutant[k].from, x.from) && !strcmp(m->mutant[k].to, x.to);
            }
            if (!add_mutant(m, &x)) {
                return false;
            }
        }
        column = t->bytes[i] == '\n' ? 1 : column + 1;
        line += t->bytes[i] == '\n';
    }
    return true;
}

int sim_mutants_find(struct sim_mutants *m, const char *source, char *error, size_t size)
{
    struct text *t = malloc(sizeof *t);
    char path[PATH_SIZE];
    int rc = t ? 0 : -1;
    memset(m, 0, sizeof *m);
    if (snprintf(m->source, sizeof m->source, "%s", source) >= (int)sizeof m->source) {
        snprintf(error, size, "%.40s...: a shorter path is needed", source);
        rc = -1;
    } else if (!t) {
        snprintf(error, size, "out of memory");
    }
    for (size_t i = 0; rc == 0 && i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/include/pawl/%s", m->source, files[i]);
        rc = read_text(t, path, error, size);
        if (rc == 0) {
            blank(t->bytes, t->n);
            if (!find_in(m, files[i], t)) {
                snprintf(error, size, "out of memory");
                rc = -1;
            }
        }
    }
    free(t);
    return rc;
}

void sim_mutants_free(struct sim_mutants *m)
{
    free(m->mutant);
    m->mutant = NULL;
    m->n = m->room = 0;
}

static bool is_at(const struct sim_mutant *x, const char *site)
{
    char line[80], place[96];
    snprintf(line, sizeof line, "%s:%u", x->file, x->line);
    snprintf(place, sizeof place, "%s:%u", line, x->column);
    return !strcmp(site, line) || !strcmp(site, place);
}

int sim_mutants_select(struct sim_mutants *m, const char *sites, char *error, size_t size)
{
    for (size_t i = 0; i < m->n; i++) {
        m->mutant[i].skipped = true;
    }
    for (const char *at = sites; at; at = strchr(at, ',')) {
        char site[96];
        size_t kept = 0;
        at += *at == ',';
        snprintf(site, sizeof site, "%.*s", (int)strcspn(at, ","), at);
        for (size_t i = 0; i < m->n; i++) {
            bool asked = is_at(&m->mutant[i], site);
            m->mutant[i].skipped = m->mutant[i].skipped && !asked;
            kept += asked;
        }
        if (kept) {
            continue;
        }
        snprintf(error, size,
                 "'%s': no mutant there; expected sites as FILE:LINE or FILE:LINE:COLUMN, as --verbose "
                 "prints them",
                 site);
        return -1;
    }
    return 0;
}

/* ---- those that are argued */

/* What stands between the next two backquotes; *at moves behind it. Empty when there is nothing. */
static size_t quoted(const char **at, const char *end, char *text, size_t size)
{
    const char *from = memchr(*at, '`', (size_t)(end - *at));
    const char *to = from ? memchr(from + 1, '`', (size_t)(end - from - 1)) : NULL;
    if (!to || (size_t)(to - from) > size) {
        return 0;
    }
    memcpy(text, from + 1, (size_t)(to - from - 1));
    text[to - from - 1] = 0;
    *at = to + 1;
    return (size_t)(to - from - 1);
}

/* The source's line without comments and the blanks around it. */
static void line_of(const struct text *t, const struct sim_mutant *x, char *line, size_t size)
{
    size_t from = x->at - (x->column - 1), to = x->at;
    while (t->bytes[from] == ' ') {
        from++;
    }
    while (t->bytes[to] && t->bytes[to] != '\n') {
        to++;
    }
    while (to > from && t->bytes[to - 1] == ' ') {
        to--;
    }
    snprintf(line, size, "%.*s", (int)(to - from), t->bytes + from);
}

/* FROM, FROM -> TO, FROM (2). */
static bool is_meant(const struct sim_mutant *x, const char *what)
{
    char from[100];
    snprintf(from, sizeof from, "%s", what);
    char *open = strrchr(from, '('), *end;
    unsigned long nth = open && open > from && open[-1] == ' ' ? strtoul(open + 1, &end, 10) : 1;
    if (open && open > from && open[-1] == ' ') {
        open[-1] = 0;
    }
    char *arrow = strstr(from, " -> ");
    if (arrow) {
        *arrow = 0;
    }
    return nth == x->nth && !strncmp(x->from, from, strlen(from)) && (!arrow || !strcmp(x->to, arrow + 4));
}

static bool argue(struct sim_mutants *m, const struct text *sources, const char *file, const char *what,
                  const char *line)
{
    char own[300];
    bool found = false;
    for (size_t i = 0; i < m->n; i++) {
        struct sim_mutant *x = &m->mutant[i];
        for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
            if (x->file == files[f] && !strcmp(file, files[f]) && is_meant(x, what)) {
                line_of(&sources[f], x, own, sizeof own);
                x->argued = x->argued || !strcmp(own, line);
                found = found || !strcmp(own, line);
            }
        }
    }
    return found;
}

static int argue_all(struct sim_mutants *m, const struct text *sources, const struct text *doc, char *error,
                     size_t size)
{
    unsigned number = 1;
    for (const char *at = doc->bytes, *end; *at; at = end + (*end == '\n'), number++) {
        char file[40], what[100], line[300];
        end = strchr(at, '\n');
        end = end ? end : at + strlen(at);
        if (strncmp(at, "- `lock_", 8) != 0 || !quoted(&at, end, file, sizeof file) ||
            !quoted(&at, end, what, sizeof what) || !quoted(&at, end, line, sizeof line)) {
            continue;
        }
        if (!argue(m, sources, file, what, line)) {
            snprintf(error, size,
                     "docs/check.md:%u: no site %s in '%.100s' of %s: it has changed, the argument "
                     "is to be looked at again",
                     number, what, line, file);
            return -1;
        }
    }
    return 0;
}

int sim_mutants_argued(struct sim_mutants *m, char *error, size_t size)
{
    enum { FILES = sizeof files / sizeof *files };
    struct text *t = calloc(FILES + 1, sizeof *t);
    char path[PATH_SIZE];
    int rc = t ? 0 : -1;
    if (!t) {
        snprintf(error, size, "out of memory");
    }
    for (size_t i = 0; rc == 0 && i <= FILES; i++) {
        snprintf(path, sizeof path, i < FILES ? "%s/include/pawl/%s" : "%s/%s", m->source,
                 i < FILES ? files[i] : "docs/check.md");
        rc = read_text(&t[i], path, error, size);
        if (rc == 0 && i < FILES) {
            blank(t[i].bytes, t[i].n);
        }
    }
    rc = rc == 0 ? argue_all(m, t, &t[FILES], error, size) : rc;
    free(t);
    return rc;
}

/* ---- making one */

static int write_text(const char *path, const struct text *t, const struct sim_mutant *x, char *error,
                      size_t size)
{
    FILE *f = fopen(path, "we");
    size_t after = x ? x->at + x->length : 0;
    bool bad = !f;
    if (f && x) {
        fwrite(t->bytes, 1, x->at, f);
        fputs(x->to, f);
    }
    if (f) {
        fwrite(t->bytes + after, 1, t->n - after, f);
        bad = ferror(f);
        bad = fclose(f) != 0 || bad;
    }
    if (bad) {
        snprintf(error, size, "%.600s: %s", path, strerror(errno));
    }
    return bad ? -1 : 0;
}

/* The header, changed, into dir/pawl, where it is found first. The ones that include it have to lie beside
 * it. */
static int write_headers(const struct sim_mutants *m, const struct sim_mutant *x, const char *dir,
                         char *error, size_t size)
{
    static const char *const including[] = {"lock_word.h", "lock_wait.h", "lock_ops.h", "lock_size.h",
                                            "lock.h"};
    static struct text t;
    char from[PATH_SIZE], to[PATH_SIZE];
    for (size_t i = 0; i < sizeof including / sizeof *including; i++) {
        snprintf(from, sizeof from, "%s/include/pawl/%s", m->source, including[i]);
        snprintf(to, sizeof to, "%s/pawl/%s", dir, including[i]);
        if (read_text(&t, from, error, size) < 0 ||
            write_text(to, &t, strcmp(including[i], x->file) != 0 ? NULL : x, error, size) < 0) {
            return -1;
        }
    }
    return 0;
}

static int compile(const struct sim_mutants *m, const char *dir, const char *lock, char *object, char *error,
                   size_t size)
{
    char own[PATH_SIZE], headers[PATH_SIZE], program[PATH_SIZE], bits[32], name[48];
    snprintf(own, sizeof own, "-I%s", dir);
    snprintf(headers, sizeof headers, "-I%s/include", m->source);
    snprintf(program, sizeof program, "%s/sim/lock_program.c", m->source);
    snprintf(bits, sizeof bits, "-DLOCK_BITS=%.2s", lock);
    snprintf(name, sizeof name, "-DLOCK_NAME=%s", lock);
    snprintf(object, PATH_SIZE, "%s/%s.so", dir, lock);
    const char *const words[] = {
        "-std=c11", "-D_GNU_SOURCE", "-O1",   "-fPIC", "-shared", "-w",    bits, name, own,
        "-I",       m->source,       headers, "-o",    object,    program, NULL};
    return base_compile(words, "the mutant", "mutants are compiled here and need one", error, size);
}

/* ---- checking one, in a process of its own */

/* Of the suites that go through all executions a part is enough where it is to be quick: most executions of a
 * case are alike. */
#define MOST_EXECUTIONS 20000

static volatile sig_atomic_t time_is_over;

static void looks_at_the_time(const struct sim_job *job, void *until)
{
    (void)job;
    time_is_over = base_now_ns() > *(const int64_t *)until;
}

/* Goes through the suites until `until`. 'K': killed, and by what; 'S': survived, and what was not run. */
static char verdict(const struct sim_lock *l, uint64_t executions, int64_t until, char *by, size_t size)
{
    static const char *const names[] = {"pairs", "exact", "random",        "timeouts",
                                        "pct",   "eight", "interruptions", "triples"};
    static struct sim_graph g;
    struct sim_wish wish = sim_no_wish;
    char fate = 'S';
    for (size_t s = 0; s < sizeof names / sizeof *names && fate == 'S'; s++) {
        struct sim_jobs jobs = {NULL, 0, 0};
        const struct sim_suite *suite = sim_suite_find(names[s]);
        wish.executions = executions;
        if (!sim_jobs_add(&jobs, suite, l, &wish)) {
            snprintf(by, size, "out of memory");
            return 'F';
        }
        for (size_t i = 0; i < jobs.n; i++) {
            struct sim_options *o = &jobs.job[i].options;
            o->executions = executions == UINT64_MAX && o->mode == SIM_ALL ? MOST_EXECUTIONS : o->executions;
        }
        for (size_t i = 0; i < jobs.n && fate == 'S'; i++) {
            struct sim_job *j = &jobs.job[i];
            char program[300];
            sim_program_print(&j->program, program, sizeof program);
            sim_job_run(j, &g, &time_is_over, looks_at_the_time, &until);
            if (j->result.verdict != SIM_FINE) {
                snprintf(by, size, "%s, lock %s: %s", program, l->name, j->result.text);
                fate = 'K';
            } else if (time_is_over) {
                snprintf(by, size, "no time for what comes from %s on, lock %s, suite %s", program, l->name,
                         suite->name);
                sim_jobs_free(&jobs);
                return 'S';
            }
        }
        sim_jobs_free(&jobs);
    }
    return fate;
}

/* A letter (the fate), and words. */
static void answer(int fd, char fate, const char *words)
{
    char line[1024];
    int n = snprintf(line, sizeof line, "%c%s", fate, words);
    for (int at = 0; at < n && at < (int)sizeof line - 1;) {
        ssize_t wrote = write(fd, line + at, strlen(line) - (size_t)at);
        if (wrote <= 0) {
            return;
        }
        at += (int)wrote;
    }
}

static void check_one(const struct sim_mutants *m, const struct sim_mutant *x, const char *dir,
                      uint64_t executions, unsigned seconds, int fd)
{
    static const char *const names[] = {"32", "64"};
    const int64_t until = base_now_ns() + (int64_t)seconds * 1000000000;
    char object[PATH_SIZE], words[900] = "", symbol[32], fate = 'S';
    if (write_headers(m, x, dir, words, sizeof words) < 0) {
        answer(fd, 'F', words);
        return;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (compile(m, dir, names[i], object, words, sizeof words) < 0) {
            answer(fd, 'C', words);
            return;
        }
        void *so = dlopen(object, RTLD_NOW | RTLD_LOCAL);
        snprintf(symbol, sizeof symbol, "sim_lock_%s", names[i]);
        const struct sim_lock *l = so ? dlsym(so, symbol) : NULL;
        if (!l) {
            snprintf(words, sizeof words, "cannot load what was compiled: %s", dlerror());
            answer(fd, 'F', words);
            return;
        }
        fate = verdict(l, executions, until, words, sizeof words);
        if (fate != 'S' || time_is_over) {
            break;
        }
    }
    answer(fd, fate, words);
}

/* ---- several at once */

struct child {
    struct sim_mutant *mutant; /* NULL: none */
    pid_t pid;
    int fd;
    int64_t began;
    char dir[PATH_SIZE / 2];
    char said[1024];
    size_t n;
};

static int make_dir(char *dir, size_t size, char *error, size_t error_size)
{
    const char *tmp = getenv("TMPDIR");
    char path[PATH_SIZE];
    tmp = tmp && *tmp ? tmp : "/tmp";
    bool made = snprintf(dir, size, "%s/pawl-check-XXXXXX", tmp) < (int)size && mkdtemp(dir);
    snprintf(path, sizeof path, "%s/pawl", dir);
    if (!made || mkdir(path, 0700) < 0) {
        snprintf(error, error_size, "cannot make a temporary directory in %s: %s; name another in TMPDIR",
                 tmp, strerror(errno));
        return -1;
    }
    return 0;
}

static void remove_dir(const char *dir)
{
    static const char *const names[] = {"pawl/lock_word.h",
                                        "pawl/lock_wait.h",
                                        "pawl/lock_ops.h",
                                        "pawl/lock_size.h",
                                        "pawl/lock.h",
                                        "32.so",
                                        "64.so",
                                        "pawl"};
    char path[PATH_SIZE];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", dir, names[i]);
        if (unlink(path) < 0) {
            rmdir(path);
        }
    }
    rmdir(dir);
}

static int start(struct child *c, const struct sim_mutants *m, struct sim_mutant *x, uint64_t executions,
                 unsigned seconds, char *error, size_t size)
{
    int pipe_fds[2];
    if (make_dir(c->dir, sizeof c->dir, error, size) < 0) {
        return -1;
    }
    if (pipe2(pipe_fds, O_CLOEXEC) < 0 || (fflush(NULL), c->pid = fork()) < 0) {
        snprintf(error, size, "cannot start a process: %s", strerror(errno));
        remove_dir(c->dir);
        return -1;
    }
    if (c->pid == 0) {
        setpgid(0, 0);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        check_one(m, x, c->dir, executions, seconds, pipe_fds[1]);
        _exit(0);
    }
    close(pipe_fds[1]);
    c->fd = pipe_fds[0];
    c->mutant = x;
    c->began = base_now_ns();
    c->n = 0;
    return 0;
}

/* It has said all it will, or is to be ended. */
static int finish(struct child *c, bool in_time, char *error, size_t size)
{
    struct sim_mutant *x = c->mutant;
    int rc = 0;
    kill(-c->pid, SIGKILL);
    waitpid(c->pid, NULL, 0);
    close(c->fd);
    remove_dir(c->dir);
    c->mutant = NULL;
    c->said[c->n] = 0;
    x->seconds = (double)(base_now_ns() - c->began) / 1e9;
    snprintf(x->by, sizeof x->by, "%s",
             c->n      ? c->said + 1
             : in_time ? "the check itself crashed"
                       : "it does not end");
    switch (c->said[0]) {
    case 'S':
        x->fate = SIM_SURVIVED;
        break;
    case 'C':
        x->fate = SIM_NO_COMPILE;
        break;
    case 'F':
        snprintf(error, size, "%s", x->by);
        rc = -1;
        break;
    default:
        x->fate = SIM_KILLED;
        break;
    }
    return rc;
}

/* Reads what they say, ends those whose time is over. */
static int look(struct child *children, unsigned n, unsigned seconds,
                void (*told)(const struct sim_mutant *, void *), void *arg, char *error, size_t size)
{
    struct pollfd fds[MOST_AT_ONCE];
    int rc = 0;
    for (unsigned i = 0; i < n; i++) {
        fds[i] = (struct pollfd){children[i].mutant ? children[i].fd : -1, POLLIN, 0};
    }
    poll(fds, n, 100);
    for (unsigned i = 0; i < n; i++) {
        struct child *c = &children[i];
        struct sim_mutant *x = c->mutant;
        bool over = x && base_now_ns() - c->began > (int64_t)seconds * 2000000000;
        ssize_t got = -1;
        if (x && (fds[i].revents & (POLLIN | POLLHUP))) {
            got = read(c->fd, c->said + c->n, sizeof c->said - 1 - c->n);
            c->n += got > 0 ? (size_t)got : 0;
            over = over || got == 0 || c->n == sizeof c->said - 1;
        }
        if (over) {
            rc = finish(c, got == 0, error, size) < 0 ? -1 : rc;
            if (rc == 0 && told) {
                told(x, arg);
            }
        }
    }
    return rc;
}

int sim_mutants_run(struct sim_mutants *m, unsigned at_once, unsigned seconds, uint64_t executions,
                    const volatile sig_atomic_t *stop,
                    void (*told)(const struct sim_mutant *mutant, void *arg), void *arg, char *error,
                    size_t size)
{
    static struct child children[MOST_AT_ONCE];
    size_t next = 0;
    unsigned running = 1;
    int rc = 0;
    at_once = at_once < 1 ? 1 : at_once > MOST_AT_ONCE ? MOST_AT_ONCE : at_once;
    memset(children, 0, sizeof children);
    while (rc == 0 && !*stop && (running || next < m->n)) {
        for (unsigned i = 0; i < at_once && rc == 0; i++) {
            while (next < m->n && (m->mutant[next].fate != SIM_NOT_RUN || m->mutant[next].skipped)) {
                next++;
            }
            if (!children[i].mutant && next < m->n) {
                rc = start(&children[i], m, &m->mutant[next++], executions, seconds, error, size);
            }
        }
        rc = rc == 0 ? look(children, at_once, seconds, told, arg, error, size) : rc;
        running = 0;
        for (unsigned i = 0; i < at_once; i++) {
            running += children[i].mutant != NULL;
        }
    }
    for (unsigned i = 0; i < at_once; i++) {
        if (children[i].mutant) {
            struct sim_mutant *x = children[i].mutant;
            finish(&children[i], true, error, size);
            x->fate = SIM_NOT_RUN;
        }
    }
    return rc;
}
