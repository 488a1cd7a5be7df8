/* steno: the peak rates of a thread. SPDX-License-Identifier: MIT
 *
 * Kernel rates are compared with the rate of their own instruction in a loop without other work, and with loops that only read, measured in
 * the same run. */
#ifndef STENO_BENCH_PEAK_H
#define STENO_BENCH_PEAK_H
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/cpu.h"
#if defined(__x86_64__)
#include "kern/x86/tile.h"
#endif

static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* excludes time in which other programs use the processor */
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

enum peak { PEAK_F32, PEAK_BF16, PEAK_INT16, PEAK_INT8, PEAKS };
enum { PEAK_LOOPS = 100000 };
static inline const char *peak_name(enum peak of)
{
    static const char *const name[PEAKS] = { "f32", "bf16", "int16", "int8" };
    return name[of];
}

#if defined(__x86_64__)
/* Registers begin as zeros: some processors are a hundred times slower with subnormal numbers. */
#define PEAK_ZEROS(xor) ".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15\n " xor "\n .endr\n"
/* Twelve accumulators hide the latency of any of these instructions. */
#define PEAK_STEPS(sums, step)                                                                                                       \
    __asm__ volatile(PEAK_ZEROS("vpxor %%xmm\\r,%%xmm\\r,%%xmm\\r")                                                                       \
                     "1: .irp r," sums "\n " step "\n .endr\n dec %0\n jnz 1b"                                                         \
                     : "+r"(n)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",   \
                       "xmm12", "xmm13", "xmm14", "xmm15")
#define PEAK_LOOP(instruction, reg) PEAK_STEPS("0,1,2,3,4,5,6,7,8,9,10,11", instruction " %%" reg "14,%%" reg "15,%%" reg "\\r")
#define PEAK_SSE                                                                                                                      \
    "1: .irp r,0,1,2,3,4,5\n mulps %%xmm15,%%xmm\\r\n .endr\n .irp r,6,7,8,9,10,11\n addps %%xmm15,%%xmm\\r\n .endr\n dec %0\n jnz 1b"
/* Products of int16 without VPDPWSSD: a step is a multiplication and an addition. In pairs they reach 209 GOP/s with zmm on Zen 4.
 * Alternating they reach 177, less than products do. */
#define PEAK_MADD(reg)                                                                                                               \
    PEAK_STEPS("0,2,4,6,8,10", "vpmaddwd %%" reg "14,%%" reg "15,%%" reg "12\n vpmaddwd %%" reg "14,%%" reg "15,%%" reg "13\n vpaddd %%"  \
               reg "12,%%" reg "\\r,%%" reg "\\r\n vpaddd %%" reg "13,%%" reg "\\r,%%" reg "\\r")

/* Six sums of 16 x 16 hide the latency of tiles. A product takes 16 cycles, so there are fewer of them. */
#define PEAK_TILES(instruction)                                                                                                       \
    __asm__ volatile("1: .irp r,0,1,2,3,4,5\n " instruction " %%tmm7,%%tmm6,%%tmm\\r\n .endr\n dec %0\n jnz 1b" : "+r"(n)::"cc")
enum { PEAK_TILE_LOOPS = PEAK_LOOPS / 10, PEAK_TILE_SUMS = 6 };

static inline void peak_tiles(enum peak of)
{
    struct tile_config c = { .palette = 1 };
    long n = PEAK_TILE_LOOPS;
    for (int i = 0; i < 8; i++) c.row_sz[i] = 64, c.rows[i] = 16;
    tile_configure(&c);
    if (of == PEAK_BF16) PEAK_TILES("tdpbf16ps");
    else PEAK_TILES("tdpbusd");
    tile_release();
}

/* Tiles have no int16. */
static inline int peak_by_tiles(int level, enum peak of) { return level >= CPU_AMX && (of == PEAK_BF16 || of == PEAK_INT8); }

/* Additions and multiplications in one peak_loop with the level's instruction for such products; 0: it has none. */
static inline double peak_ops(int level, enum peak of)
{
    const int lanes = level >= CPU_AVX512 ? 16 : level >= CPU_AVX2 ? 8 : 4;
    const int per_lane = of == PEAK_INT8 ? 8 : of != PEAK_F32 ? 4 : level < CPU_AVX2 ? 1 : 2;
    const int vnni = level == CPU_AVXVNNI || level >= CPU_AVX512VNNI;
    const int has = of == PEAK_BF16 ? level >= CPU_AVX512BF16 : of == PEAK_INT16 ? level >= CPU_AVX2 : of == PEAK_F32 || vnni;
    if (peak_by_tiles(level, of)) return per_lane * 16.0 * 16 * 16 * PEAK_TILE_SUMS * PEAK_TILE_LOOPS;
    return has ? per_lane * 12.0 * lanes * PEAK_LOOPS : 0;
}

static inline void peak_loop(int level, enum peak of)
{
    long n = PEAK_LOOPS;
    if (peak_by_tiles(level, of)) peak_tiles(of);
    else if (of == PEAK_BF16) PEAK_LOOP("vdpbf16ps", "zmm");
    else if (of == PEAK_INT8 && level >= CPU_AVX512VNNI) PEAK_LOOP("vpdpbusd", "zmm");
    else if (of == PEAK_INT8) PEAK_LOOP("%{vex%} vpdpbusd", "ymm");
    else if (of == PEAK_INT16 && level >= CPU_AVX512VNNI) PEAK_LOOP("vpdpwssd", "zmm");
    else if (of == PEAK_INT16 && level >= CPU_AVX512) PEAK_MADD("zmm");
    else if (of == PEAK_INT16 && level == CPU_AVXVNNI) PEAK_LOOP("%{vex%} vpdpwssd", "ymm");
    else if (of == PEAK_INT16) PEAK_MADD("ymm");
    else if (level >= CPU_AVX512) PEAK_LOOP("vfmadd231ps", "zmm");
    else if (level >= CPU_AVX2) PEAK_LOOP("vfmadd231ps", "ymm");
    else
        __asm__ volatile(PEAK_ZEROS("xorps %%xmm\\r,%%xmm\\r") PEAK_SSE
                         : "+r"(n)::"cc", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11",
                           "xmm12", "xmm13", "xmm14", "xmm15");
}
#elif defined(__aarch64__)
/* Four pipes times a latency of four need 16 accumulators. Instructions are given as numbers, because assemblers reject the newer ones
 * without an option: v0..v23 += v30 times v31. */
#define PEAK_LOOP(instruction)                                                                                                        \
    __asm__ volatile("1: .irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23\n .inst " instruction "+\\r\n .endr\n"    \
                     " subs %0,%0,#1\n b.ne 1b"                                                                                      \
                     : "+r"(n)::"cc", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v8", "v9", "v10", "v11", "v12", "v13", "v14",   \
                       "v15", "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23")

/* As above. */
static inline double peak_ops(int level, enum peak of)
{
    const int f32 = 8, int16 = 8, bf16 = level >= CPU_NEONBF16 ? 32 : 0, int8 = level >= CPU_I8MM ? 64 : level >= CPU_DOTPROD ? 32 : 0;
    return (of == PEAK_F32 ? f32 : of == PEAK_BF16 ? bf16 : of == PEAK_INT16 ? int16 : int8) * 24.0 * PEAK_LOOPS;
}

static inline void peak_loop(int level, enum peak of)
{
    long n = PEAK_LOOPS;
    if (of == PEAK_F32) PEAK_LOOP("0x4e3fcfc0");                     /* FMLA, four lanes */
    else if (of == PEAK_BF16) PEAK_LOOP("0x6e5fefc0");               /* BFMMLA: 2 x 2 sums of four products */
    else if (of == PEAK_INT16) PEAK_LOOP("0x0e7f83c0");              /* SMLAL, four lanes */
    else if (level >= CPU_I8MM) PEAK_LOOP("0x4e9fafc0");             /* USMMLA: of eight */
    else PEAK_LOOP("0x4e9f97c0");                                    /* SDOT: four lanes of four products */
}
#else
static inline double peak_ops(int level, enum peak of) { return (void)level, (void)of, 0; }
static inline void peak_loop(int level, enum peak of) { (void)level, (void)of; }
#endif

/* Read n bytes, a multiple of 1 KiB, as four parallel streams, like the kernels: a single stream is bound by the latency of pending
 * loads. */
#define PEAK_READ(reg, stride)                                                                                                       \
    __asm__ volatile("1: vmovups (%0),%%" reg "0\n vmovups (%0,%2),%%" reg "1\n vmovups (%0,%2,2),%%" reg "2\n vmovups (%0,%3),%%" reg  \
                     "3\n vmovups " stride "(%0),%%" reg "4\n vmovups " stride "(%0,%2),%%" reg "5\n vmovups " stride "(%0,%2,2),%%" reg  \
                     "6\n vmovups " stride "(%0,%3),%%" reg "7\n add $2*" stride ",%0\n cmp %1,%0\n jb 1b\n vzeroupper"                 \
                     : "+r"(p) : "r"(end), "r"(part), "r"(3 * part)                                                                  \
                     : "cc", "memory", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7")

static inline void peak_read(int level, const char *p, size_t n)
{
    const size_t part = n / 4;
#if defined(__x86_64__)
    const char *end = p + part;
    if (level >= CPU_AVX512) {
        PEAK_READ("zmm", "64");
        return;
    }
    if (level >= CPU_AVX2) {
        PEAK_READ("ymm", "32");
        return;
    }
#else
    (void)level;
#endif
    uint64_t a[8] = { 0 };
    for (size_t i = 0; i + 64 <= part; i += 64)
        for (size_t g = 0; g < 4; g++)
            for (size_t j = 0; j < 8; j++) {
                uint64_t v;
                memcpy(&v, p + g * part + i + j * 8, 8);
                a[j] ^= v;
            }
    __asm__ volatile("" ::"r"(a) : "memory"); /* the compiler must assume that the values are used */
}

/* Peak rate of one thread, in 10^9 operations a second. */
static inline double peak_gops(int level, enum peak of)
{
    double best = 1e30;
    if (peak_ops(level, of) <= 0) return 0;
    for (int rep = 0; rep < 600; rep++) {
        const double t = now_ns();
        peak_loop(level, of);
        const double d = now_ns() - t;
        if (d < best) best = d;
    }
    return peak_ops(level, of) / best;
}
#endif
