/* What a profile shows: waiting stands under functions of its own, named pawl_wait_KIND; in builds with
 * PAWL_DISABLE_EBO or PAWL_INLINE_WAIT it stands in the caller. Samples itself by a timer of CPU time, and
 * finds the function of each sample in its own symbol table. */
#include "lock_under_test.h"

#include <elf.h>
#include <link.h>
#include <sys/time.h>
#include <ucontext.h>

#if defined PAWL_DISABLE_EBO || defined PAWL_INLINE_WAIT
#    define WAITS_IN_CALLER 1
#else
#    define WAITS_IN_CALLER 0
#endif

#define ENOUGH 16 /* samples */

/* ---- the symbols of this program */

struct function {
    uintptr_t start, size;
    const char *name;
};

static char *image;
static size_t image_size;
static struct function *functions;
static size_t function_count;

static void read_image(void)
{
    FILE *f = fopen("/proc/self/exe", "re");
    assert_non_null(f);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    image_size = (size_t)ftell(f);
    rewind(f);
    image = malloc(image_size);
    assert_non_null(image);
    assert_true(fread(image, 1, image_size, f) == image_size);
    fclose(f);
}

static void read_functions(uintptr_t base)
{
    const ElfW(Ehdr) *head = (const void *)image;
    const ElfW(Shdr) *sections = (const void *)(image + head->e_shoff);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (sections[i].sh_type != SHT_SYMTAB) {
            continue;
        }
        const ElfW(Sym) *symbols = (const void *)(image + sections[i].sh_offset);
        const char *names = image + sections[sections[i].sh_link].sh_offset;
        size_t n = sections[i].sh_size / sizeof *symbols;
        functions = calloc(n, sizeof *functions);
        assert_non_null(functions);
        for (size_t k = 0; k < n; k++) {
            if ((symbols[k].st_info & 0xf) == STT_FUNC && symbols[k].st_size > 0) {
                functions[function_count++] =
                    (struct function){base + (uintptr_t)symbols[k].st_value, (uintptr_t)symbols[k].st_size,
                                      names + symbols[k].st_name};
            }
        }
    }
}

static int on_object(struct dl_phdr_info *info, size_t size, void *base)
{
    (void)size;
    *(uintptr_t *)base = (uintptr_t)info->dlpi_addr;
    return 1; /* the first is the program */
}

static const char *function_at(uintptr_t at)
{
    for (size_t i = 0; i < function_count; i++) {
        if (at - functions[i].start < functions[i].size) {
            return functions[i].name;
        }
    }
    return NULL;
}

/* ---- samples */

static uintptr_t samples[1024];
static unsigned sampled;

static void on_sample(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)info;
    const ucontext_t *c = context;
#if defined __x86_64__
    uintptr_t at = (uintptr_t)c->uc_mcontext.gregs[REG_RIP];
#elif defined __i386__
    uintptr_t at = (uintptr_t)c->uc_mcontext.gregs[REG_EIP];
#elif defined __aarch64__
    uintptr_t at = (uintptr_t)c->uc_mcontext.pc;
#else
#    error "tell where this machine's context keeps the program counter"
#endif
    unsigned n = __atomic_load_n(&sampled, __ATOMIC_RELAXED);
    if (n < sizeof samples / sizeof *samples) {
        samples[n] = at;
        __atomic_store_n(&sampled, n + 1, __ATOMIC_RELEASE);
    }
}

/* ---- one that waits in vain, again and again */

enum { UPGRADE = KINDS, JOIN_BEHIND_READ, WAYS };
static const struct {
    enum state held;
    const char *function; /* under which the wait stands */
} ways[WAYS] = {{WRITE, "pawl_wait_read_"},   {WRITE, "pawl_wait_seek_"}, {WRITE, "pawl_wait_write_"},
                {WRITE, "pawl_wait_atomic_"}, {WRITE, "pawl_wait_join_"}, {READ, "pawl_wait_readers_"},
                {READ, "pawl_wait_phase_"}};

struct contender {
    lock_t lock;
    int way, stop;
};

__attribute__((noinline)) static void contend_here(struct contender *c)
{
    while (!__atomic_load_n(&c->stop, __ATOMIC_RELAXED)) {
        /* so short that it expires before there is a sleep; it is looked at after some spinning */
        uint64_t deadline = pawl_clock_ns() + (c->way < KINDS ? 90000 : 20000);
        switch (c->way) {
        case READ:
            (void)pawl_read_lock_until(&c->lock, deadline);
            break;
        case SEEK:
            (void)pawl_seek_lock_until(&c->lock, deadline);
            break;
        case WRITE:
            (void)pawl_write_lock_until(&c->lock, deadline);
            break;
        case ATOMIC:
            (void)pawl_atomic_lock_until(&c->lock, deadline);
            break;
        case UPGRADE:
            (void)pawl_seek_to_write_until(&c->lock, deadline);
            break;
        default:
            (void)pawl_join_lock_until(&c->lock, deadline);
            break;
        }
    }
}

static void *contender_main(void *arg)
{
    struct contender *c = arg;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    if (c->way == UPGRADE) {
        pawl_seek_lock(&c->lock);
    }
    contend_here(c);
    if (c->way == UPGRADE) {
        pawl_seek_unlock(&c->lock);
    }
    return NULL;
}

/* Counts the samples so far: those in the function where this wait should stand; where any should; in any
 * function of ours. */
static void tell(const char *function, unsigned *there, unsigned *waiting, unsigned *ours)
{
    const char *any = WAITS_IN_CALLER ? function : "pawl_wait_";
    *there = *waiting = *ours = 0;
    for (unsigned i = 0, n = __atomic_load_n(&sampled, __ATOMIC_ACQUIRE); i < n; i++) {
        const char *name = function_at(samples[i]);
        if (!name) {
            continue; /* the C library, the kernel's page */
        }
        if (strncmp(name, function, strlen(function)) == 0) {
            ++*there;
        }
        if (strncmp(name, any, strlen(any)) == 0) {
            ++*waiting;
        }
        if (strncmp(name, "pawl_", 5) == 0 || strncmp(name, "contend_here", 12) == 0) {
            ++*ours;
        }
    }
}

static void waiting_shows_where_it_should(int way)
{
    static struct contender c;
    memset(&c, 0, sizeof c);
    c.way = way;
    __atomic_store_n(&sampled, 0, __ATOMIC_RELEASE);
    take(&c.lock, ways[way].held);
    pthread_t t;
    assert_int_equal(pthread_create(&t, NULL, contender_main, &c), 0);
    const char *function = WAITS_IN_CALLER ? "contend_here" : ways[way].function;
    unsigned there = 0, waiting = 0, ours = 0;
    for (uint64_t end = clock_us(CLOCK_MONOTONIC) + 3 * PATIENCE_MS * 1000u;
         (ours < ENOUGH || there == 0) && clock_us(CLOCK_MONOTONIC) < end;) {
        nap_us(10000);
        tell(function, &there, &waiting, &ours);
    }
    __atomic_store_n(&c.stop, 1, __ATOMIC_RELAXED);
    pthread_join(t, NULL);
    give(&c.lock, ways[way].held);
    assert_true(c.lock.word == 0);
    if (ours < ENOUGH || there == 0 || waiting * 3 < ours * 2) {
        for (unsigned i = 0; i < sampled; i++) {
            const char *name = function_at(samples[i]);
            fprintf(stderr, "sample in %s\n", name ? name : "another object");
        }
        fail_msg("waiting for %d: of %u samples %u wait, %u in %s", way, ours, waiting, there, function);
    }
}

static int start_profile(void **state)
{
    (void)state;
    uintptr_t base = 0;
    dl_iterate_phdr(on_object, &base);
    read_image();
    read_functions(base);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    struct sigaction sa = {.sa_sigaction = on_sample, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(SIGPROF, &sa, NULL);
    struct itimerval each = {{0, 1000}, {0, 1000}};
    return setitimer(ITIMER_PROF, &each, NULL);
}

static int end_profile(void **state)
{
    (void)state;
    struct itimerval never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_PROF, &never, NULL);
    free(functions);
    free(image);
    return 0;
}

static void the_program_knows_its_functions(void **state)
{
    (void)state;
    assert_true(function_count > 10);
    assert_string_equal(function_at((uintptr_t)contend_here), "contend_here");
}

static void waiting_shows_under_its_own_name_or_in_the_caller(void **state)
{
    (void)state;
    for (int way = 0; way < WAYS; way++) {
        waiting_shows_where_it_should(way);
    }
}

int main(void)
{
    bound_program(300);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_program_knows_its_functions),
        cmocka_unit_test(waiting_shows_under_its_own_name_or_in_the_caller),
    };
    return cmocka_run_group_tests(tests, start_profile, end_profile);
}
