/* steno: processor levels. SPDX-License-Identifier: MIT
 *
 * A level is a set of instructions that a group of kernels needs. Each architecture has its own levels, in order of preference. A level
 * includes those before it. The exception is CPU_AVXVNNI, which no later level includes: a processor may have a level and lack an earlier
 * one. CPUID counts only where XCR0 shows that the system saves the registers. */
#ifndef STENO_BASE_CPU_H
#define STENO_BASE_CPU_H

/* A row each: LEVEL(NAME, name, what its low-precision products gain: kern_gains). kern_init_name fills the table of kernels. */
#if defined(__x86_64__)
#define EACH_CPU_LEVEL(LEVEL)                                                                                                             \
    LEVEL(SSE41, sse41, GAIN_I16 | GAIN_BLOCKS)                /* SSSE3 + SSE4.1 */                                                       \
    LEVEL(AVX2, avx2, GAIN_I16 | GAIN_BLOCKS | GAIN_ATTN_INT)  /* AVX2 + FMA + F16C */                                                    \
    /* AVX2 and AVX-VNNI: products of 8 bits and of int16; no level after it needs that */                                                \
    LEVEL(AVXVNNI, avxvnni, GAIN_I16 | GAIN_I8 | GAIN_ATTN_I8 | GAIN_BLOCKS)                                                              \
    LEVEL(AVX512, avx512, GAIN_BLOCKS)                         /* AVX2, and AVX-512 F, BW, DQ, VL */                                      \
    /* and VNNI: products of 8 bits and of int16 */                                                                                       \
    LEVEL(AVX512VNNI, avx512vnni, GAIN_I16 | GAIN_I8 | GAIN_ATTN_I8 | GAIN_BLOCKS)                                                        \
    /* and BF16: products of bf16 */                                                                                                      \
    LEVEL(AVX512BF16, avx512bf16, GAIN_BF16 | GAIN_I16 | GAIN_I8 | GAIN_ATTN_I8 | GAIN_BLOCKS)                                            \
    LEVEL(AMX, amx, GAIN_BF16 | GAIN_I16 | GAIN_I8 | GAIN_BLOCKS)               /* and AMX TILE, BF16, INT8: both by tiles */
#elif defined(__aarch64__)
#define EACH_CPU_LEVEL(LEVEL)                                                                                                             \
    LEVEL(NEON, neon, 0)                                         /* what every 64-bit ARM has */                                          \
    LEVEL(DOTPROD, dotprod, GAIN_I8 | GAIN_BLOCKS)               /* FEAT_DotProd: products of 8 bits */                                   \
    LEVEL(I8MM, i8mm, GAIN_I8 | GAIN_BLOCKS)                     /* FEAT_I8MM: the same, as matrices */                                   \
    LEVEL(NEONBF16, neonbf16, GAIN_BF16 | GAIN_I8 | GAIN_BLOCKS) /* and FEAT_BF16: products of 16 bits */
#else
#define EACH_CPU_LEVEL(LEVEL)
#endif

/* clang-format off */
enum cpu_level {
    CPU_C, /* portable C: runs everywhere, defines the results */
#define LEVEL(NAME, name, gains) CPU_##NAME,
    EACH_CPU_LEVEL(LEVEL)
#undef LEVEL
    CPU_LEVELS
};
/* clang-format on */

const char *cpu_level_name(int level);        /* NULL past the last */
int cpu_level_from_name(const char *name);    /* -1: unknown */
int cpu_level_includes(int level, int other);  /* what has `level` has `other`, too; each includes itself */
int cpu_level_usable(int level);              /* on this machine, now; asking for CPU_AMX asks the system to let the process use tiles */
int cpu_level_best(void);                     /* highest usable */
void cpu_model_name(char *buf, unsigned n);   /* the processor's own name, "unknown" where it does not say */

/* Floating-point environment: round to nearest, subnormals kept. Saved at every entry of the library and in every worker. */
typedef unsigned cpu_fpenv;
cpu_fpenv cpu_fpenv_enter(void);
void cpu_fpenv_leave(cpu_fpenv saved);
#endif
