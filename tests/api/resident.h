/* steno tests: what of this process is resident. SPDX-License-Identifier: MIT
 *
 * Asked of the kernel; where it does not say (no /proc), or a sanitizer has memory of its own, need_resident skips the test. */
#ifndef STENO_TESTS_RESIDENT_H
#define STENO_TESTS_RESIDENT_H
#include <stdio.h>
#include <string.h>
#include "harness.h"
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#endif

/* Bytes behind a name of a file in /proc, -1: it has none such. */
static inline int64_t proc_bytes(const char *path, const char *name)
{
    char line[256];
    long long kb = -1, v;
    FILE *f = fopen(path, "r");
    while (f && fgets(line, sizeof line, f))
        if (!strncmp(line, name, strlen(name)) && sscanf(line + strlen(name), ": %lld", &v) == 1) kb = v;
    if (f) fclose(f);
    return kb < 0 ? -1 : kb * 1024;
}

/* Pages that are this process's alone, also those that the system has swapped out; the C library gives back unused ones first. */
static inline int64_t resident(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    const int64_t now = proc_bytes("/proc/self/smaps_rollup", "Anonymous"), out = proc_bytes("/proc/self/smaps_rollup", "Swap");
    return now + (out > 0 ? out : 0);
}

/* From here on the most that was resident counts. */
static inline void peak_begin(void)
{
    FILE *f = fopen("/proc/self/clear_refs", "w");
    if (!f) return;
    fputs("5", f);
    fclose(f);
}

static inline int64_t peak(void) { return proc_bytes("/proc/self/status", "VmHWM"); }
static inline int64_t address_space(void) { return proc_bytes("/proc/self/status", "VmSize"); }

/* From here on exactly what is touched counts, whatever the machine is set to and whichever test ran before: no large pages, and of what
 * the C library gave back nothing large is used again, which it would touch all of. */
static inline void need_resident(void)
{
    if (SANITIZED || resident() <= 0) skip();
#ifdef PR_SET_THP_DISABLE
    (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
#endif
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 128 << 10);
#endif
}

/* Within 5 percent, and what a heap needs for itself. */
static inline void assert_said(const char *what, int64_t said, int64_t took)
{
    enum { HEAP = 96 << 10 };
    const int64_t off = said > took ? said - took : took - said;
    if (off > took / 20 + HEAP) fail_msg("%s: %lld bytes reported, %lld resident", what, (long long)said, (long long)took);
}
#endif
