#include "sim/coro.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Saves what a function must preserve on the stack, stores the stack pointer in *from, goes on where the one
 * in `to` was saved. */
void sim_coro_switch(void **from, void *to);

#if defined __x86_64__
#    define SAVED 7 /* six registers and where to go on */
__asm__(".text\n"
        ".globl sim_coro_switch\n"
        ".hidden sim_coro_switch\n"
        ".type sim_coro_switch, @function\n"
        "sim_coro_switch:\n"
        "    push %rbp\n"
        "    push %rbx\n"
        "    push %r12\n"
        "    push %r13\n"
        "    push %r14\n"
        "    push %r15\n"
        "    mov %rsp, (%rdi)\n"
        "    mov %rsi, %rsp\n"
        "    pop %r15\n"
        "    pop %r14\n"
        "    pop %r13\n"
        "    pop %r12\n"
        "    pop %rbx\n"
        "    pop %rbp\n"
        "    ret\n"
        ".size sim_coro_switch, .-sim_coro_switch\n");
#elif defined __aarch64__
#    define SAVED 20 /* x19 to x30, d8 to d15; x30 is where to go on */
__asm__(".text\n"
        ".globl sim_coro_switch\n"
        ".hidden sim_coro_switch\n"
        ".type sim_coro_switch, %function\n"
        "sim_coro_switch:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x9, sp\n"
        "    str x9, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size sim_coro_switch, .-sim_coro_switch\n");
#else
#    error "write sim_coro_switch for this machine"
#endif

/* The address sanitizer is told which stack it is on. It keeps frames of its own for each (the heap's, when
 * it looks for uses after return): they go with the coroutine, and those of a run that was left are given
 * back when it begins anew. */
#if defined __SANITIZE_ADDRESS__
#    define TOLD 1
#elif defined __has_feature
#    if __has_feature(address_sanitizer)
#        define TOLD 1
#    endif
#endif
#ifdef TOLD
#    include <sanitizer/asan_interface.h>
#    include <sanitizer/common_interface_defs.h>
static void *outside_frames;
static const void *outside_stack;
static size_t outside_size;

static void tell_begins(struct sim_coro *c)
{
    __asan_unpoison_memory_region(c->stack, c->size);
}

static void tell_goes_in(struct sim_coro *c)
{
    __sanitizer_start_switch_fiber(&outside_frames, c->stack, c->size);
}

static void tell_is_in(struct sim_coro *c)
{
    __sanitizer_finish_switch_fiber(c->frames, &outside_stack, &outside_size);
}

static void tell_is_in_anew(struct sim_coro *c)
{
    tell_is_in(c);
    __asan_handle_no_return();
}

static void tell_goes_out(struct sim_coro *c)
{
    __sanitizer_start_switch_fiber(&c->frames, outside_stack, outside_size);
}

static void tell_goes_for_good(struct sim_coro *c)
{
    c->frames = NULL;
    __sanitizer_start_switch_fiber(NULL, outside_stack, outside_size);
}

static void tell_is_out(struct sim_coro *c)
{
    (void)c;
    __sanitizer_finish_switch_fiber(outside_frames, NULL, NULL);
}
#else
static void tell_begins(struct sim_coro *c)
{
    (void)c;
}
#    define tell_goes_in       tell_begins
#    define tell_is_in         tell_begins
#    define tell_is_in_anew    tell_begins
#    define tell_goes_out      tell_begins
#    define tell_goes_for_good tell_begins
#    define tell_is_out        tell_begins
#endif

static void *outside;
static struct sim_coro *inside;

static void first_turn(void)
{
    struct sim_coro *me = inside;
    tell_is_in_anew(me);
    me->run(me->arg);
    __builtin_trap(); /* it must not return */
}

int sim_coro_make(struct sim_coro *c, size_t size)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    memset(c, 0, sizeof *c);
    size = (size + page - 1) / page * page + page;
    c->stack = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (c->stack == MAP_FAILED) {
        c->stack = NULL;
        return -1;
    }
    c->size = size;
    return mprotect(c->stack, page, PROT_NONE);
}

static void leave_for_good(void *arg)
{
    struct sim_coro *c = arg;
    tell_goes_for_good(c);
    sim_coro_switch(&c->at, outside);
}

void sim_coro_free(struct sim_coro *c)
{
    if (c->stack) {
        if (c->frames) {
            sim_coro_begin(c, leave_for_good, c);
            sim_coro_resume(c);
        }
        munmap(c->stack, c->size);
        c->stack = NULL;
    }
}

void sim_coro_begin(struct sim_coro *c, void (*run)(void *), void *arg)
{
    uintptr_t *top = (uintptr_t *)(void *)((char *)c->stack + c->size);
    c->run = run;
    c->arg = arg;
    tell_begins(c);
#if defined __x86_64__
    *--top = 0; /* a function expects the stack to be 8 off a multiple of 16 */
    *--top = (uintptr_t)first_turn;
    top -= SAVED - 1;
    memset(top, 0, (SAVED - 1) * sizeof *top);
#else
    top -= SAVED;
    memset(top, 0, SAVED * sizeof *top);
    top[11] = (uintptr_t)first_turn;
#endif
    c->at = top;
}

void sim_coro_resume(struct sim_coro *c)
{
    inside = c;
    tell_goes_in(c);
    sim_coro_switch(&outside, c->at);
    tell_is_out(c);
}

void sim_coro_yield(struct sim_coro *c)
{
    tell_goes_out(c);
    sim_coro_switch(&c->at, outside);
    tell_is_in(c);
}
