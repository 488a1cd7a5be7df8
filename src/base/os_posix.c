/* steno: pages and time on POSIX systems. SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

static size_t round_to_page(size_t n)
{
    const long page = sysconf(_SC_PAGESIZE);
    const size_t mask = (page > 0 ? (size_t)page : 4096) - 1;
    return n ? (n + mask) & ~mask : mask + 1;
}

void *os_pages_alloc_sparse(size_t n)
{
    if (n > SIZE_MAX / 2) return NULL;
    const size_t sz = round_to_page(n);
    char *p = mmap(NULL, sz + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    const size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
    if (before) munmap(p, before);
    munmap(p + before + sz, HUGE_PAGE - before);
    return p + before;
}

void *os_pages_alloc(size_t n)
{
    void *p = os_pages_alloc_sparse(n);
#ifdef MADV_HUGEPAGE
    if (p && n >= HUGE_PAGE) (void)madvise(p, round_to_page(n), MADV_HUGEPAGE);
#endif
    return p;
}

void os_pages_trim(void *p, size_t n, size_t keep)
{
    const size_t all = round_to_page(n), rest = round_to_page(keep);
    if (p && rest < all) munmap((char *)p + rest, all - rest);
}

void os_pages_free(void *p, size_t n)
{
    if (p) munmap(p, round_to_page(n));
}

int64_t os_now_ns(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
