/* steno: processor levels. SPDX-License-Identifier: MIT
 *
 * This file keeps no state. A query costs microseconds and runs once per opened model. */
#include "base/cpu.h"

#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <xmmintrin.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

static const char *const level_name[CPU_LEVELS] = {
    [CPU_C] = "c",
#define LEVEL(NAME, name, gains) [CPU_##NAME] = #name,
    EACH_CPU_LEVEL(LEVEL)
#undef LEVEL
};

const char *cpu_level_name(int level)
{
    return level >= 0 && level < CPU_LEVELS ? level_name[level] : NULL;
}

int cpu_level_from_name(const char *name)
{
    for (int i = 0; name && i < CPU_LEVELS; i++)
        if (strcmp(name, level_name[i]) == 0) return i;
    return -1;
}

int cpu_level_includes(int level, int other)
{
#if defined(__x86_64__)
    if (other == CPU_AVXVNNI) return level == other;
#endif
    return other <= level;
}

int cpu_level_best(void)
{
    int level = CPU_LEVELS - 1;
    while (level > CPU_C && !cpu_level_usable(level)) level--;
    return level;
}

#if defined(__x86_64__)

struct cpuid { unsigned a, b, c, d; };

static struct cpuid cpuid_get(unsigned leaf, unsigned part)
{
    struct cpuid r = {0};
    __get_cpuid_count(leaf, part, &r.a, &r.b, &r.c, &r.d); /* leaves zeros where the leaf is missing */
    return r;
}

static unsigned bit(unsigned word, int i)
{
    return word >> i & 1;
}

/* Register state the system saves: bit 1 XMM, 2 YMM, 5..7 opmasks and ZMM, 17 and 18 tiles. XGETBV faults unless OSXSAVE is set. */
static unsigned xcr0_get(unsigned leaf1_c)
{
    if (!bit(leaf1_c, 27)) return 0;
    unsigned lo, hi;
    __asm__ volatile("xgetbv" : "=a"(lo), "=d"(hi) : "c"(0));
    return lo;
}

/* Ask Linux for permission to use tiles. From then on the process's signal frames have room for them. A second request changes nothing. */
static int tiles_allowed(void)
{
#if defined(__linux__)
    enum { REQUEST_PERMISSION = 0x1023, TILE_DATA = 18 };
    return syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
#else
    return 0;
#endif
}

int cpu_level_usable(int level)
{
    if (level == CPU_C) return 1;
    if (level < 0 || level >= CPU_LEVELS) return 0;
    const struct cpuid l1 = cpuid_get(1, 0), l7 = cpuid_get(7, 0);
    const unsigned xcr0 = xcr0_get(l1.c);
    if (level == CPU_SSE41) return bit(l1.c, 9) && bit(l1.c, 19);

    const unsigned fma = bit(l1.c, 12), avx = bit(l1.c, 28), f16c = bit(l1.c, 29), avx2 = bit(l7.b, 5);
    if (!(fma && avx && f16c && avx2 && (xcr0 & 0x06) == 0x06)) return 0;
    if (level == CPU_AVX2) return 1;
    const struct cpuid l7_1 = l7.a >= 1 ? cpuid_get(7, 1) : (struct cpuid) { 0 };
    if (level == CPU_AVXVNNI) return (int)bit(l7_1.a, 4);

    const unsigned f = bit(l7.b, 16), dq = bit(l7.b, 17), bw = bit(l7.b, 30), vl = bit(l7.b, 31);
    if (!(f && dq && bw && vl && (xcr0 & 0xe6) == 0xe6)) return 0;
    if (level == CPU_AVX512) return 1;

    const unsigned vnni = bit(l7.c, 11), bf16 = bit(l7_1.a, 5);
    if (!vnni) return 0;
    if (level == CPU_AVX512VNNI) return 1;
    if (!bf16) return 0;
    if (level == CPU_AVX512BF16) return 1;

    const unsigned tile_bf16 = bit(l7.d, 22), tile = bit(l7.d, 24), tile_int8 = bit(l7.d, 25);
    return tile_bf16 && tile && tile_int8 && (xcr0 & 0x60000) == 0x60000 && tiles_allowed();
}

static void model_name_raw(char name[49])
{
    memset(name, 0, 49);
    if ((unsigned)__get_cpuid_max(0x80000000u, NULL) < 0x80000004u) return;
    for (unsigned i = 0; i < 3; i++) {
        const struct cpuid r = cpuid_get(0x80000002 + i, 0);
        const unsigned word[4] = { r.a, r.b, r.c, r.d };
        memcpy(name + 16 * i, word, sizeof word);
    }
}

cpu_fpenv cpu_fpenv_enter(void)
{
    const cpu_fpenv saved = _mm_getcsr();
    _mm_setcsr(0x1f80); /* exceptions masked, nearest, no flushing to zero */
    return saved;
}

void cpu_fpenv_leave(cpu_fpenv saved)
{
    _mm_setcsr(saved);
}

#else

static void model_name_raw(char name[49])
{
    name[0] = 0;
}

#if defined(__aarch64__)
#if defined(__linux__)
/* Bits of Linux's auxiliary vector, which headers older than the processors do not name. */
static int has_dotprod(void) { return getauxval(AT_HWCAP) >> 20 & 1; }
static int has_i8mm(void) { return getauxval(AT_HWCAP2) >> 13 & 1; }
static int has_bf16(void) { return getauxval(AT_HWCAP2) >> 14 & 1; }
#elif defined(__ARM_FEATURE_DOTPROD) /* the system is not queried: the compiler may rely on the feature, as on every Apple processor */
static int has_dotprod(void) { return 1; }
static int has_i8mm(void) { return 0; }
static int has_bf16(void) { return 0; }
#else
static int has_dotprod(void) { return 0; }
static int has_i8mm(void) { return 0; }
static int has_bf16(void) { return 0; }
#endif

int cpu_level_usable(int level)
{
    if (level < 0 || level >= CPU_LEVELS) return 0;
    if (level >= CPU_DOTPROD && !has_dotprod()) return 0;
    if (level >= CPU_I8MM && !has_i8mm()) return 0;
    return level < CPU_NEONBF16 || has_bf16();
}

cpu_fpenv cpu_fpenv_enter(void)
{
    unsigned long long saved;
    __asm__ volatile("mrs %0, fpcr" : "=r"(saved));
    __asm__ volatile("msr fpcr, %0" : : "r"(0ULL));
    return (cpu_fpenv)saved;
}

void cpu_fpenv_leave(cpu_fpenv saved)
{
    __asm__ volatile("msr fpcr, %0" : : "r"((unsigned long long)saved));
}
#else
int cpu_level_usable(int level)
{
    return level == CPU_C;
}

cpu_fpenv cpu_fpenv_enter(void)
{
    return 0;
}

void cpu_fpenv_leave(cpu_fpenv saved)
{
    (void)saved;
}
#endif
#endif

void cpu_model_name(char *buf, unsigned n)
{
    if (n == 0) return;
    char raw[49];
    model_name_raw(raw);
    unsigned len = 0;
    for (const char *s = raw; *s && len + 1 < n; s++) { /* vendors pad with runs of spaces */
        if (*s == ' ' && (len == 0 || buf[len - 1] == ' ')) continue;
        buf[len++] = *s >= 0x20 && *s < 0x7f ? *s : '?';
    }
    while (len && buf[len - 1] == ' ') len--;
    buf[len] = 0;
    if (len == 0) {
        const char *unknown = "unknown";
        while (len + 1 < n && unknown[len]) {
            buf[len] = unknown[len];
            len++;
        }
        buf[len] = 0;
    }
}
