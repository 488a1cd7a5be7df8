/* steno: processor levels. SPDX-License-Identifier: MIT
 *
 * A level is a set of instructions that a group of kernels needs. Each architecture has its own levels, in the order in which they are
 * preferred. A level includes those before it, but for CPU_AVXVNNI, which none after it includes: a processor may have a level and lack
 * one before it. CPUID is believed only where XCR0 says that the system saves the registers. */
#ifndef STENO_BASE_CPU_H
#define STENO_BASE_CPU_H

enum cpu_level {
    CPU_C,           /* portable C: runs everywhere, defines the results */
#if defined(__x86_64__)
    CPU_AVX2,        /* AVX2 + FMA + F16C */
    CPU_AVXVNNI,     /* AVX2 and AVX-VNNI: products of 8 bits and of int16; no level after it needs that */
    CPU_AVX512,      /* AVX2, and AVX-512 F, BW, DQ, VL */
    CPU_AVX512VNNI,  /* and VNNI: products of 8 bits and of int16 */
    CPU_AVX512BF16,  /* and BF16: products of bf16 */
    CPU_AMX,         /* and AMX TILE, BF16, INT8: products of 8 bits and of bf16 by tiles */
#elif defined(__aarch64__)
    CPU_NEON,        /* what every 64-bit ARM has */
    CPU_DOTPROD,     /* FEAT_DotProd: products of 8 bits */
    CPU_I8MM,        /* FEAT_I8MM: the same, as matrices */
    CPU_NEONBF16,    /* and FEAT_BF16: products of 16 bits */
#endif
    CPU_LEVELS
};

const char *cpu_level_name(int level);        /* NULL past the last */
int cpu_level_from_name(const char *name);    /* -1: unknown */
int cpu_level_usable(int level);              /* on this machine, now; asking for CPU_AMX asks the system to let the process use tiles */
int cpu_level_best(void);                     /* highest usable */
void cpu_model_name(char *buf, unsigned n);   /* the processor's own name, "unknown" where it does not say */

/* Floating-point environment: round to nearest, subnormals kept. Saved at every entry of the library and in every worker. */
typedef unsigned cpu_fpenv;
cpu_fpenv cpu_fpenv_enter(void);
void cpu_fpenv_leave(cpu_fpenv saved);
#endif
