/* steno: facts about this machine. SPDX-License-Identifier: MIT */
#ifndef STENO_TOOLS_MACHINE_H
#define STENO_TOOLS_MACHINE_H
#include <stddef.h>
#include <stdint.h>

void machine_name(char *out, size_t n); /* the processor's model name */
int64_t machine_peak_rss(void);         /* maximum memory of this process, in bytes */

struct machine_peaks {
    double gflops; /* f32 multiply-adds on all threads, two operations each, in 10^9 per second */
    double gbytes; /* bytes read from memory per ns, by all threads */
};

/* Measure both on `n_threads` threads, in about half a second. @return 0, or -1 if memory or threads are not available */
int machine_measure(struct machine_peaks *p, int n_threads);
#endif
