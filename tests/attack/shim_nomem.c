/* steno tests: a memory that runs out. SPDX-License-Identifier: MIT
 *
 * Preloaded into a program it counts allocations and refuses some. Environment:
 *
 *     NOMEM_AT=n      refuse the n-th (from 1)
 *     NOMEM_FROM=n    refuse the n-th and all that follow
 *     NOMEM_LEAST=b   only those of b bytes and more are counted and refused
 *     NOMEM_COUNT=f   write how many were counted to the file f at the end
 *
 * Allocations are the C library's, also those it makes itself (streams, copies of strings), pages without a file, and threads, which the
 * system refuses for the same reason. While libraries are loaded only the loader's own are among them: constructors of other people's
 * libraries end the process when they get none, and no caller can prevent it. For the same reason all is given from exit() on.
 *
 * A crash prints "crash in LIBRARY", so that a library's own is distinguished from the program's. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*aligned_alloc)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    void *(*dlopen)(const char *, int);
} real;

static uintptr_t loader, loader_end; /* where its code lies */
static _Thread_local int loading;

static enum { ASLEEP, WAKING, AWAKE, KIND } state;
static atomic_long count;
static long at, from, least;
static char early[1 << 16]; /* dlsym allocates before there is anything to allocate with */
static size_t early_used;

static long number(const char *name)
{
    const char *text = getenv(name);
    return text ? atol(text) : 0;
}

static int find_loader(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size, (void)user;
    if (!strstr(info->dlpi_name, "ld-linux") && !strstr(info->dlpi_name, "ld-musl")) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uintptr_t begin = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr, end = begin + info->dlpi_phdr[i].p_memsz;
        if (info->dlpi_phdr[i].p_type != PT_LOAD || !(info->dlpi_phdr[i].p_flags & PF_X)) continue;
        loader = begin;
        loader_end = end;
    }
    return 1;
}

static void print(const char *text)
{
    if (write(2, text, strlen(text)) < 0) _exit(99);
}

/* Who crashed, or who called nothing; going back does it again, and then the process ends. */
static void on_crash(int number_of, siginfo_t *info, void *context)
{
    (void)number_of, (void)info;
    const ucontext_t *c = context;
    Dl_info at_fault;
    void *pc;
#if defined(__x86_64__)
    memcpy(&pc, &c->uc_mcontext.gregs[REG_RIP], sizeof pc);
    if (!pc) memcpy(&pc, (const void *)c->uc_mcontext.gregs[REG_RSP], sizeof pc);
#elif defined(__aarch64__)
    memcpy(&pc, &c->uc_mcontext.pc, sizeof pc);
    if (!pc) memcpy(&pc, &c->uc_mcontext.regs[30], sizeof pc);
#else
    (void)c;
    return;
#endif
    state = KIND;
    const char *name = dladdr(pc, &at_fault) && at_fault.dli_fname ? strrchr(at_fault.dli_fname, '/') : NULL;
    print("crash in ");
    print(name ? name + 1 : "no library");
    print("\n");
}

static void wake(void)
{
    if (state != ASLEEP) return;
    state = WAKING;
    void *p;
#define BIND(f) p = dlsym(RTLD_NEXT, #f), memcpy(&real.f, &p, sizeof p)
    BIND(malloc), BIND(calloc), BIND(realloc), BIND(free), BIND(aligned_alloc), BIND(posix_memalign), BIND(mmap);
    BIND(pthread_create), BIND(dlopen);
#undef BIND
    dl_iterate_phdr(find_loader, NULL);
    at = number("NOMEM_AT");
    from = number("NOMEM_FROM");
    least = number("NOMEM_LEAST");
    static char room[1 << 14]; /* the stack may be what could not grow */
    const stack_t stack = { .ss_sp = room, .ss_size = sizeof room };
    const struct sigaction crash = { .sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK | (int)SA_RESETHAND };
    sigaltstack(&stack, NULL);
    sigaction(SIGSEGV, &crash, NULL);
    state = AWAKE;
}

static void relent(void)
{
    state = KIND;
}

/* Is this allocation refused? `who` asks for it. */
static int refuse(size_t size, const void *who)
{
    if (state != AWAKE || size < (size_t)least) return 0;
    if (loading && ((uintptr_t)who < loader || (uintptr_t)who >= loader_end)) return 0;
    const long n = atomic_fetch_add(&count, 1) + 1;
    if (n != at && (!from || n < from)) return 0;
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&told)) atexit(relent);
    errno = ENOMEM;
    return 1;
}

static void *early_take(size_t size)
{
    void *p = early + early_used;
    early_used += (size + 15) & ~(size_t)15;
    if (early_used > sizeof early) abort();
    return p;
}

void *malloc(size_t n)
{
    wake();
    if (state == WAKING) return early_take(n);
    return refuse(n, __builtin_return_address(0)) ? NULL : real.malloc(n);
}

void *calloc(size_t n, size_t size)
{
    wake();
    if (state == WAKING) return early_take(n * size);
    return refuse(n * size, __builtin_return_address(0)) ? NULL : real.calloc(n, size);
}

void *realloc(void *p, size_t n)
{
    wake();
    if (refuse(n, __builtin_return_address(0))) return NULL;
    return real.realloc(p, n);
}

void free(void *p)
{
    wake();
    if ((char *)p < early || (char *)p >= early + sizeof early) real.free(p);
}

void *aligned_alloc(size_t align, size_t n)
{
    wake();
    return refuse(n, __builtin_return_address(0)) ? NULL : real.aligned_alloc(align, n);
}

int posix_memalign(void **out, size_t align, size_t n)
{
    wake();
    return refuse(n, __builtin_return_address(0)) ? ENOMEM : real.posix_memalign(out, align, n);
}

void *mmap(void *place, size_t n, int protection, int flags, int fd, off_t offset)
{
    wake();
    return fd < 0 && refuse(n, __builtin_return_address(0)) ? MAP_FAILED : real.mmap(place, n, protection, flags, fd, offset);
}

int pthread_create(pthread_t *id, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
    wake();
    return refuse(SIZE_MAX, __builtin_return_address(0)) ? EAGAIN : real.pthread_create(id, attr, fn, arg);
}

void *dlopen(const char *name, int flags)
{
    wake();
    loading++;
    void *p = real.dlopen(name, flags);
    loading--;
    return p;
}

__attribute__((destructor)) static void tell(void)
{
    const char *path = getenv("NOMEM_COUNT");
    const int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;
    char text[32];
    if (fd < 0) return;
    const int n = snprintf(text, sizeof text, "%ld\n", atomic_load(&count));
    if (write(fd, text, (size_t)n) != n) abort();
    close(fd);
}
