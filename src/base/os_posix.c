/* steno: memory, time, threads and files on POSIX systems. SPDX-License-Identifier: MIT */
#include "base/os.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HUGE_PAGE = 2 << 20 };

static size_t round_to_page(size_t n)
{
    const long page = sysconf(_SC_PAGESIZE);
    const size_t mask = (page > 0 ? (size_t)page : 4096) - 1;
    return n ? (n + mask) & ~mask : mask + 1;
}

void *os_pages_alloc(size_t n)
{
    if (n > SIZE_MAX / 2) return NULL;
    const size_t sz = round_to_page(n);
    char *p = mmap(NULL, sz + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) return NULL;
    const size_t before = -(uintptr_t)p & (HUGE_PAGE - 1);
    if (before) munmap(p, before);
    munmap(p + before + sz, HUGE_PAGE - before);
    p += before;
#ifdef MADV_HUGEPAGE
    if (n >= HUGE_PAGE) (void)madvise(p, sz, MADV_HUGEPAGE);
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

void *os_aligned_alloc(size_t align, size_t n)
{
    return aligned_alloc(align, n);
}

void os_aligned_free(void *p)
{
    free(p);
}

int os_thread_start(pthread_t *id, void *(*fn)(void *arg), void *arg)
{
    static const int fault[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS };
    sigset_t set, saved;
    sigfillset(&set);
    for (size_t i = 0; i < sizeof fault / sizeof *fault; i++) sigdelset(&set, fault[i]);
    pthread_sigmask(SIG_SETMASK, &set, &saved);
    const int rc = pthread_create(id, NULL, fn, arg);
    pthread_sigmask(SIG_SETMASK, &saved, NULL);
    return rc;
}

/* ---- files */
static enum os_kind kind_of(mode_t mode)
{
    if (S_ISREG(mode)) return OS_FILE;
    if (S_ISDIR(mode)) return OS_FOLDER;
    return S_ISFIFO(mode) || S_ISSOCK(mode) ? OS_PIPE : OS_DEVICE;
}

enum os_kind os_path_kind(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? kind_of(st.st_mode) : OS_NOTHING;
}

int os_path_is_link(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

int os_file_open(const char *path)
{
    int fd;
    do fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO without a writer must not block */
    while (fd < 0 && errno == EINTR);
    if (fd == 0) {
        fd = fcntl(0, F_DUPFD_CLOEXEC, 3);
        const int saved = errno;
        close(0);
        errno = saved;
    }
    return fd;
}

enum os_kind os_file_kind(int fd, uint64_t *size)
{
    struct stat st;
    if (fstat(fd, &st) != 0) return OS_NOTHING;
    *size = (uint64_t)st.st_size;
    return kind_of(st.st_mode);
}

int64_t os_file_read(int fd, uint64_t off, void *dst, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const size_t want = n - done < (size_t)1 << 30 ? n - done : (size_t)1 << 30;
        const ssize_t got = pread(fd, (char *)dst + done, want, (off_t)(off + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (got == 0) break;
        done += (size_t)got;
    }
    return (int64_t)done;
}

void os_file_close(int fd)
{
    close(fd);
}

int os_folder_each(const char *path, int (*each)(void *user, const char *name), void *user)
{
    DIR *d = opendir(path);
    if (!d) return -1;
    for (struct dirent *it; (it = readdir(d));)
        if (each(user, it->d_name)) break;
    closedir(d);
    return 0;
}
