/* steno: the operating system, where C has no word for it. SPDX-License-Identifier: MIT */
#ifndef STENO_BASE_OS_H
#define STENO_BASE_OS_H
#include <stddef.h>
#include <stdint.h>

/* Zeroed pages aligned to 2 MiB with huge pages advised, for weights and scratch; NULL: no memory. */
void *os_pages_alloc(size_t n);
void *os_pages_alloc_sparse(size_t n); /* small pages: what is never touched costs nothing */
void os_pages_trim(void *p, size_t n, size_t keep); /* give back what lies past `keep` bytes: the block is os_pages_alloc(keep) now */
void os_pages_free(void *p, size_t n);

int64_t os_now_ns(void); /* monotonic */

int os_cpus(void);  /* logical processors that the affinity mask and the cgroup's quota allow, at least 1 */
int os_cores(void); /* the same in physical cores */
#endif
