/* steno: the operating system, where C has no function for it. SPDX-License-Identifier: MIT
 *
 * Everything that differs between systems is behind these functions: os_posix.c, os_cores.c and os_park.c, or os_win.c. Threads and mutexes
 * are POSIX on all systems; on Windows the compiler's library provides them. */
#ifndef STENO_BASE_OS_H
#define STENO_BASE_OS_H
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed pages aligned to 2 MiB with huge pages advised, for weights, scratch and states. Pages that are never touched cost nothing. NULL:
 * out of memory. */
void *os_pages_alloc(size_t n);
void os_pages_trim(void *p, size_t n, size_t keep); /* give back everything past `keep` bytes: the block then equals os_pages_alloc(keep) */
void os_pages_free(void *p, size_t n);

/* Write to each page of p[n], which is all zeros. Memory of a thread is then resident from the start, whether or not the thread ever gets
 * work, so the reported memory equals the memory in use. */
static inline void os_pages_touch(void *p, size_t n)
{
    enum { PAGE = 4096 };
    for (size_t i = 0; i < n; i += PAGE) ((volatile char *)p)[i] = 0;
    if (n) ((volatile char *)p)[n - 1] = 0;
}

void *os_aligned_alloc(size_t align, size_t n); /* not zeroed; n a multiple of align; freed with os_aligned_free */
void os_aligned_free(void *p);

int64_t os_now_ns(void); /* monotonic */

int os_cpus(void);  /* logical processors that the affinity mask and the cgroup's quota allow, at least 1 */
int os_cores(void); /* the same in physical cores */
size_t os_cache(int level); /* bytes of data cache of this level (from 1) per core; 0: no such cache, or its size is unknown */

/* Start a thread that receives no signals of the application, except those that report a fault of the thread itself. @return 0, or an
 * error */
int os_thread_start(pthread_t *id, void *(*fn)(void *arg), void *arg);

/* Sleep until *number is no longer `seen`. After changing *number, wake all sleepers. The mutex and the condition serve systems other than
 * Linux and Windows, which sleep on the number alone. */
struct os_park { pthread_mutex_t lock; pthread_cond_t cond; };
void os_park_init(struct os_park *p);
void os_park_destroy(struct os_park *p);
void os_park_wait(struct os_park *p, atomic_uint *number, unsigned seen);
void os_park_wake(struct os_park *p, atomic_uint *number);

/* Files. Paths are UTF-8. A call that fails leaves its reason in errno. */
enum os_kind { OS_NOTHING, OS_FILE, OS_FOLDER, OS_PIPE, OS_DEVICE };
enum os_kind os_path_kind(const char *path);              /* OS_NOTHING: the path does not exist, or cannot be examined */
int os_path_is_link(const char *path);                    /* 1: the name is a symbolic link, wherever it leads */
int os_file_open(const char *path);                       /* for reading; a descriptor above 0, or -1. A pipe does not block. */
enum os_kind os_file_kind(int fd, uint64_t *size);        /* OS_NOTHING: the system does not report the kind */
int64_t os_file_read(int fd, uint64_t off, void *dst, size_t n); /* bytes read, fewer at the end, or -1 */
void os_file_close(int fd);
/* Give the names in a folder, in no order, to `each` until it returns other than 0. @return 0, or -1 with errno:
 * the folder cannot be read */
int os_folder_each(const char *path, int (*each)(void *user, const char *name), void *user);
#endif
