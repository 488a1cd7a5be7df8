/* steno: what this process may use of its machine. SPDX-License-Identifier: MIT
 *
 * For reports only: the library decides for itself. Everything is read from /proc and /sys, and what cannot be read is not known. */
#ifndef STENO_TOOLS_HOST_H
#define STENO_TOOLS_HOST_H
#include <stddef.h>
#include <stdint.h>

struct host {
    int online, allowed;     /* logical processors; those that the affinity mask allows */
    double quota;            /* processors' worth of time by the cgroup, 0: no limit */
    int64_t memory;          /* of the machine, bytes; 0: not known */
    int64_t available;       /* of it without swapping, 0: not known */
    int64_t memory_limit;    /* by the cgroup, 0: none */
    char cgroup[256];        /* the process's own, "" when it has none */
    char huge_pages[16];     /* "always", "madvise", "never", "" when the kernel has none */
    char caches[128];        /* of data, with the processors that share each: "L1 32K (0), L2 1024K (0), ..."; "": not known */
};

void host_get(struct host *h);

/* Those of `flags` (separated by spaces) that the processor does not list; "" when it lists all, or nothing is known. */
void host_missing_flags(char *out, size_t n, const char *flags);

/* Shared library `i` of this process: its file with every link followed. @return 1, or 0 past the last one */
int host_library(int i, char *out, size_t n);
#endif
