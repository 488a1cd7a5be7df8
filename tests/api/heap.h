/* steno tests: what is allocated, and what happens when it cannot be. SPDX-License-Identifier: MIT
 *
 * malloc and mmap are replaced in the one program that includes this: calls and bytes alive are counted, and the n-th call can be made to
 * fail. Sanitizers bring their own; there COUNTING is 0 and need_counting skips the test. With COUNT_LIBRARIES libraries find them, too:
 * what one of them takes and this program gives back is counted both times, and their allocations may fail. */
#ifndef STENO_TESTS_HEAP_H
#define STENO_TESTS_HEAP_H
#include <stdlib.h>
#include "harness.h"

#if defined(__GLIBC__) && !SANITIZED
#define COUNTING 1
#else
#define COUNTING 0
#endif

struct heap {
    int64_t calls, bytes, most, fail_at; /* fail_at: number of the call that fails, -1: none */
    int counting;
};

static struct heap heap = { .fail_at = -1 };

#if COUNTING
#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifdef COUNT_LIBRARIES
#pragma GCC visibility push(default)
#endif
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

static int fails(void)
{
    if (!heap.counting) return 0;
    const int now = heap.calls++ == heap.fail_at;
    if (now) errno = ENOMEM;
    return now;
}

static void *took(void *p, size_t n)
{
    if (heap.counting && p) heap.bytes += (int64_t)n;
    if (heap.bytes > heap.most) heap.most = heap.bytes;
    return p;
}

void *malloc(size_t n)
{
    if (fails()) return NULL;
    void *p = __libc_malloc(n);
    return took(p, malloc_usable_size(p));
}

void *calloc(size_t n, size_t size)
{
    if (fails()) return NULL;
    void *p = __libc_calloc(n, size);
    return took(p, malloc_usable_size(p));
}

void *realloc(void *old, size_t n)
{
    if (fails()) return NULL;
    const size_t before = malloc_usable_size(old);
    void *p = __libc_realloc(old, n);
    if (p && heap.counting) heap.bytes -= (int64_t)before;
    return took(p, malloc_usable_size(p));
}

void *aligned_alloc(size_t align, size_t n)
{
    if (fails()) return NULL;
    void *p = __libc_memalign(align, n);
    return took(p, malloc_usable_size(p));
}

void free(void *p)
{
    if (heap.counting && p) heap.bytes -= (int64_t)malloc_usable_size(p);
    __libc_free(p);
}

void *mmap(void *at, size_t n, int prot, int flags, int fd, off_t off)
{
    if (fails()) return MAP_FAILED;
    const long p = syscall(SYS_mmap, at, n, prot, flags, fd, off);
    if (p != -1) took(&heap, n);
    return p == -1 ? MAP_FAILED : (void *)p;
}

int munmap(void *p, size_t n)
{
    if (heap.counting) heap.bytes -= (int64_t)n;
    return (int)syscall(SYS_munmap, p, n);
}
#ifdef COUNT_LIBRARIES
#pragma GCC visibility pop
#endif
#endif

static void count_begin(int64_t fail_at)
{
    heap = (struct heap){ .fail_at = fail_at, .counting = COUNTING };
}

static struct heap count_end(void)
{
    heap.counting = 0;
    return heap;
}

static void need_counting(void)
{
    if (!COUNTING) skip();
}
#endif
