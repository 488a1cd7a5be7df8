/* steno: what a thread can do at most. SPDX-License-Identifier: MIT
 *
 * Figures of kernels are compared with the rate of their own instruction in a loop that does nothing else, measured in the same run. */
#ifndef STENO_BENCH_PEAK_H
#define STENO_BENCH_PEAK_H
#include <time.h>
#include "base/cpu.h"

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* waiting for a processor that others use is not ours */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Twelve accumulators hide the latency of any of these instructions. */
#define PEAK_LOOP(instruction, reg)                                                                                                  \
    __asm__ volatile("1: .irp r,0,1,2,3,4,5,6,7,8,9,10,11\n " instruction " %%" reg "14,%%" reg "15,%%" reg "\\r\n .endr\n"            \
                     " dec %0\n jnz 1b"                                                                                              \
                     : "+r"(n)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",   \
                       "xmm14", "xmm15")

enum peak { PEAK_F32, PEAK_BF16, PEAK_INT8 };

/* 10^9 additions and multiplications a second with the instruction that a level has for such products; 0: it has none. */
static inline double peak_gops(int level, enum peak of)
{
#if defined(__x86_64__)
    enum { LOOPS = 200000 };
    double best = 1e30;
    const int lanes = level >= CPU_AVX512 ? 16 : level >= CPU_AVX2 ? 8 : 4;
    if (of != PEAK_F32 && level < CPU_AVX512BF16) return 0;
    for (int rep = 0; rep < 300; rep++) {
        const double t = now_ns();
        long n = LOOPS;
        if (of == PEAK_BF16) PEAK_LOOP("vdpbf16ps", "zmm");
        else if (of == PEAK_INT8) PEAK_LOOP("vpdpbusd", "zmm");
        else if (level >= CPU_AVX512) PEAK_LOOP("vfmadd231ps", "zmm");
        else if (level >= CPU_AVX2) PEAK_LOOP("vfmadd231ps", "ymm");
        else
            __asm__ volatile("1: .irp r,0,1,2,3,4,5\n mulps %%xmm15,%%xmm\\r\n .endr\n .irp r,6,7,8,9,10,11\n addps %%xmm15,%%xmm\\r\n"
                             " .endr\n dec %0\n jnz 1b"
                             : "+r"(n) :: "cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
                               "xmm11", "xmm15");
        const double d = now_ns() - t;
        if (d < best) best = d;
    }
    const int per_lane = of == PEAK_INT8 ? 8 : of == PEAK_BF16 ? 4 : level == CPU_C ? 1 : 2;
    return per_lane * 12.0 * lanes * LOOPS / best;
#else
    (void)level, (void)of;
    return 0;
#endif
}
#endif
