/* steno: facts about this machine. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MACHINE_H
#define STENO_TOOLS_MACHINE_H
#include <stddef.h>
#include <stdint.h>

void machine_name(char *out, size_t n); /* the processor's own name */
int64_t machine_peak_rss(void);         /* bytes this process has held at most */

struct machine_peaks {
    double gflops; /* f32 multiply-adds, two operations each, on all threads */
    double gbytes; /* bytes read from memory per ns, on all threads */
};

/* Measure both on `n_threads` threads, about half a second. @return 0, or -1 when memory or threads could not be had */
int machine_measure(struct machine_peaks *p, int n_threads);
#endif
