/* steno: resources available to this process. SPDX-License-Identifier: MIT
 *
 * For reports only; the library reads its own data. All values come from /proc and /sys, and a value that cannot be read is unknown. */
#ifndef STENO_TOOLS_HOST_H
#define STENO_TOOLS_HOST_H
#include <stddef.h>
#include <stdint.h>

struct host {
    int online, allowed;     /* number of logical processors, and of those in the affinity mask */
    double quota;            /* processor time limit of the cgroup, in processors; 0: no limit */
    int64_t memory;          /* memory of the machine in bytes; 0: unknown */
    int64_t available;       /* memory available without swapping; 0: unknown */
    int64_t memory_limit;    /* memory limit of the cgroup; 0: none */
    char cgroup[256];        /* the process's cgroup, "" if none */
    char huge_pages[16];     /* "always", "madvise", "never", "" if the kernel has no huge pages */
    char caches[128];        /* data caches, with the processors that share each: "L1 32K (0), L2 1024K (0), ..."; "": unknown */
};

void host_get(struct host *h);

int host_text(const char *path, char *out, size_t n); /* read the beginning of a small text file; @return 0: "", it cannot be read */

/* The words of `flags` (separated by spaces) that the processor does not report; "" if none is missing, or nothing is known. */
void host_missing_flags(char *out, size_t n, const char *flags);

int64_t host_peak_rss(void); /* maximum memory of this process, in bytes; 0: unknown */

/* Path of shared library `i` of this process, with all links resolved. @return 1, or 0 past the last one */
int host_library(int i, char *out, size_t n);
#endif
