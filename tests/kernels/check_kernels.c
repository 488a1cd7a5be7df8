/* steno: every level of kernels against the plain C twins. SPDX-License-Identifier: MIT
 *
 *   check_kernels [--fewer|--emulated|--again] [level]    check every level this processor has, or one
 *
 * Levels that few processors have are checked in other instructions, too: avxvnni-evex, and those from avx512 on as NAME-emulated. Of a
 * level that changes nothing but low-precision products, and attention over integers, these alone are checked.
 *
 * --fewer: fewer and smaller shapes, unless STENO_LONG=1. Another build checks them all.
 * --emulated: fewer and smaller shapes; and on x86 reading past a buffer is allowed, because emulators touch the masked lanes of a load.
 * --again: still fewer shapes, for a level that another run of the same build checks without emulation.
 *
 * Needs libc, libm and the library's internals only, so that it also runs under emulation. Exit status 1 when a check failed. */
#include "check.h"
#include "doubles.h"
#include "kern/ref.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN /* without sockets, which windows/ has */
#include <windows.h>        /* with names such as ERROR, so only here */
#else
#include <sys/mman.h>
#include <unistd.h>
#endif

int check(struct check *c, int ok, const char *fmt, ...)
{
    c->checks++;
    if (ok) return 1;
    if (c->failures++ < 20) {
        va_list ap;
        va_start(ap, fmt);
        printf("  %s: ", c->name);
        vprintf(fmt, ap);
        printf("\n");
        va_end(ap);
    }
    return 0;
}

static struct { void *p; size_t n; } maps[256];
static unsigned n_maps;
static int reads_past_end; /* 1: reading past a buffer is allowed */

#ifdef _WIN32
enum { PAGE = 4096 };

/* Zeroed pages, the last of which cannot be written, nor read unless that is allowed. NULL: out of memory. */
static char *pages_before_guard(size_t body)
{
    DWORD was;
    char *p = VirtualAlloc(NULL, body + PAGE, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    return p && VirtualProtect(p + body, PAGE, reads_past_end ? PAGE_READONLY : PAGE_NOACCESS, &was) ? p : NULL;
}

static void pages_unmap(void *p, size_t n)
{
    (void)n;
    VirtualFree(p, 0, MEM_RELEASE);
}
#else
#define PAGE ((size_t)sysconf(_SC_PAGESIZE))

static char *pages_before_guard(size_t body)
{
    char *p = mmap(NULL, body + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && !mprotect(p + body, PAGE, reads_past_end ? PROT_READ : PROT_NONE) ? p : NULL;
}

static void pages_unmap(void *p, size_t n) { munmap(p, n); }
#endif

void *guarded(size_t n)
{
    const size_t page = PAGE, body = (n + page - 1) / page * page;
    char *p = pages_before_guard(body);
    if (!p || n_maps == sizeof maps / sizeof *maps) {
        fprintf(stderr, "check_kernels: cannot map %zu bytes\n", n);
        exit(2);
    }
    maps[n_maps].p = p, maps[n_maps++].n = body + page;
    return p + body - n;
}

float *guarded_floats(size_t n) { return guarded(n * sizeof(float)); }

void guarded_free_all(void)
{
    while (n_maps) n_maps--, pages_unmap(maps[n_maps].p, maps[n_maps].n);
}

void *aligned_alloc_64(size_t n)
{
    void *p = aligned_alloc(64, (n + 127) / 64 * 64);
    if (p) return memset(p, 0, (n + 127) / 64 * 64);
    fprintf(stderr, "check_kernels: out of memory\n");
    exit(2);
}

/* ---- scratch of linear: all of it is NaN before each call -----------------------------------------------------------------------------
 * It is half a megabyte, and calls are many and small: so only the part that a call may have written (kern_linear_scratch) is made NaN
 * again behind it. That it wrote nothing else is seen to wherever the type or k changes. */
static struct { enum packed_type t; size_t k, sz; } last_call;

void scratch_forget(void *scratch)
{
    memset(scratch, 0xff, kern_linear_scratch_max());
    last_call.k = last_call.sz = 0;
}

void scratch_for(void *scratch, const struct kern *kern, enum packed_type t, size_t k, size_t rows)
{
    const unsigned char *p = scratch;
    memset(scratch, 0xff, last_call.sz);
    if ((t != last_call.t || k != last_call.k) && (p[0] != 0xff || memcmp(p, p + 1, kern_linear_scratch_max() - 1))) {
        fprintf(stderr, "check_kernels: scratch of %s, k %zu, was written where no call should\n", packed_name(last_call.t), last_call.k);
        exit(2);
    }
    last_call.t = t, last_call.k = k, last_call.sz = kern_linear_scratch(kern, t, k, rows);
}

void fill_canary(float *p, size_t n)
{
    const uint32_t v = CANARY;
    for (size_t i = 0; i < n; i++) memcpy(p + i, &v, sizeof v);
}

int is_canary(float x)
{
    uint32_t v;
    memcpy(&v, &x, sizeof v);
    return v == CANARY;
}

int same_bits(const float *a, const float *b, size_t n) { return !memcmp(a, b, n * sizeof *a); }

void cut_as_level(const struct check *c, enum kv_type t, void *panels, size_t n, size_t k)
{
    const enum packed_type type = kv_run_packed(t);
    for (size_t i = 0; i < pack_panels(n) && t == KV_I16 && c->kern->i16_is_cut; i++)
        panel_cut((uint32_t *)(void *)((char *)panels + i * pack_panel_sz(type, k) + lowp_head_sz(type)), lowp_words(type, k));
}

static uint64_t seed;

uint32_t rnd(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 32);
}

float rnd_normal(void)
{
    float s = 0;
    for (int i = 0; i < 4; i++) s += (float)(int32_t)rnd() * 0x1p-31f;
    return s * 0.866f;
}

void rnd_floats(float *p, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++) p[i] = rnd_normal() * scale;
}

/* One random block of a K type whose weights are of the size of v. */
static void rnd_k_block(uint8_t *p, enum dtype t, float v)
{
    static const struct { float top; int d_at, min_at; } k_type[] = { /* about the largest weight for d = 1; where d and dmin stand */
        { 40, 80, 82 }, { 100, 108, -1 }, { 900, 0, 2 }, { 1800, 0, 2 }, { 3000, 208, -1 }, { 3000, 0, -1 },
    };
    const int i = (int)t - DT_Q2_K;
    const uint16_t d = f16_from_f32(v * 4 / k_type[i].top), dmin = f16_from_f32(v / 16);
    for (size_t j = 0; j < dtype_row_sz(t, 256); j++) p[j] = (uint8_t)rnd();
    memcpy(p + k_type[i].d_at, &d, 2);
    if (k_type[i].min_at >= 0) memcpy(p + k_type[i].min_at, &dmin, 2);
}

void rnd_rows(void *rows, enum dtype t, size_t n, size_t k)
{
    uint8_t *p = rows;
    const size_t total = n * k, block = dtype_row_sz(t, (size_t)dtype_block(t));
    const float scale = 1 / sqrtf((float)k);
    for (size_t i = 0; i < total; i += (size_t)dtype_block(t), p += block) {
        const float v = rnd_normal() * scale;
        uint16_t h = t == DT_BF16 ? bf16_from_f32(v) : f16_from_f32(t >= DT_Q4_0 ? v / (t == DT_Q8_0 ? 64 : 8) : v);
        if (t == DT_F32) {
            memcpy(p, &v, 4);
            continue;
        }
        if (t >= DT_Q4_1F) {
            const float d = v / (t == DT_Q4_1F ? 8 : 128), least = -v;
            for (size_t j = 8; j < block; j++) p[j] = (uint8_t)rnd();
            memcpy(p, &d, 4);
            memcpy(p + 4, &least, 4);
            continue;
        }
        if (t >= DT_Q2_K) {
            rnd_k_block(p, t, v);
            continue;
        }
        for (size_t j = 0; j < block; j++) p[j] = (uint8_t)rnd();
        memcpy(p, &h, 2);
        if (t == DT_Q4_1 || t == DT_Q5_1) {
            h = f16_from_f32(-v);
            memcpy(p + 2, &h, 2);
        }
    }
}

void *pack_as(const void *rows, enum packed_type t, enum dtype from, size_t n, size_t k)
{
    char *out = aligned_alloc_64(pack_sz(t, n, k));
    for (size_t p = 0; p < pack_panels(n); p++) {
        const void *of[PANEL] = { 0 };
        for (size_t i = 0; i < PANEL && p * PANEL + i < n; i++) of[i] = (const char *)rows + (p * PANEL + i) * dtype_row_sz(from, k);
        pack_panel(out + p * pack_panel_sz(t, k), t, from, of, k);
    }
    return out;
}

void *pack_all(const void *rows, enum packed_type t, size_t n, size_t k) { return pack_as(rows, t, packed_source(t), n, k); }

/* Whether this level takes everything but low-precision products and attention over integers from the level below. ints: not the latter. */
static int only_lowp(const struct kern *k, int *ints)
{
    const size_t first = offsetof(struct kern, linear); /* of the pointers, which are all the rest */
    struct kern below;
    if (k->level == CPU_C) return 0;
    kern_init(&below, k->level - 1);
    for (int t = PK_LOWP; t < PK_COUNT; t++) below.linear[t] = k->linear[t];
    *ints = below.attn[KV_INT] != k->attn[KV_INT];
    memcpy(below.run, k->run, sizeof below.run);
    for (int t = KV_INT; t < KV_TYPES; t++) {
        below.attn[t] = k->attn[t];
        below.attn_partial[t] = k->attn_partial[t];
        below.attn_weights[t] = k->attn_weights[t];
    }
    return !memcmp((const char *)&below + first, (const char *)k + first, sizeof below - first);
}

/* The nearest level below that does not cut panels; CPU_C never does. */
static void init_uncut(struct kern *below, int level)
{
    do kern_init(below, --level);
    while (below->i16_is_cut);
}

struct check_part { const char *name; void (*fn)(struct check *); };

/* Checks of one table; returns how many failed. */
static unsigned run_parts(struct check *c, const char *name, const struct check_part *part, size_t n)
{
    unsigned failures = 0;
    c->name = name;
    c->other_order = !strcmp(name, "amx") || !strcmp(name, "amx-emulated") ? 2 : !strcmp(name, "neonbf16");
    c->failures = 0;
    for (size_t i = 0; i < n; i++) {
        c->checks = 0;
        seed = 1; /* not what the last part left: how far off rounding gets is chance, and so is the same chance at every level */
        scratch_forget(c->scratch);
        part[i].fn(c);
        printf("%-19s %-9s %8u checks %s\n", name, part[i].name, c->checks, c->failures == failures ? "ok" : "FAILED");
        fflush(stdout);
        failures = c->failures;
    }
    return failures;
}

static unsigned check_levels(struct check *c, struct kern *k, const char *only)
{
    static const struct check_part part[] = {
        { "types", check_types },   { "pack", check_pack }, { "linear", check_linear }, { "lowp", check_lowp },
        { "blocks", check_blocks }, { "kv", check_kv },     { "attn", check_attn },     { "attn_run", check_attn_run },
        { "attn_rel", check_attn_rel }, { "elem", check_elem }, { "spectra", check_spectra },
    };
    static const struct check_part lowp[] = { { "lowp", check_lowp }, { "blocks", check_blocks }, { "attn", check_attn_ints },
                                              { "attn_run", check_attn_run }, { "attn_rel", check_attn_rel } };
    struct kern below;
    unsigned failures = 0;
    int ints;
    for (int level = 0; cpu_level_name(level); level++) {
        if (!cpu_level_usable(level)) {
            printf("%-19s skipped: this processor lacks it\n", cpu_level_name(level));
            continue;
        }
        if (only && strcmp(only, cpu_level_name(level))) continue;
        kern_init(k, level);
        if (k->i16_is_cut) init_uncut(&below, level);
        c->vectors = k->i16_is_cut ? &below : NULL;
        if (only_lowp(k, &ints)) failures += run_parts(c, cpu_level_name(level), lowp, ints ? 5 : 2);
        else failures += run_parts(c, cpu_level_name(level), part, sizeof part / sizeof *part);
    }
    return failures;
}

/* Which products a level gains from: of bf16, int16, int8 (by blocks if x has no more bits, too), blocks. KV_INT is faster than f16 at
 * levels with products of bytes, and at avx2. */
static unsigned check_gains(struct check *c)
{
    static const struct { const char *level, *gains; } table[] = {
        { "c", "" }, { "sse41", "16 blocks" }, { "avx2", "16 blocks" }, { "avxvnni", "16 8 blocks" }, { "avx512", "blocks" },
        { "avx512vnni", "16 8 blocks" }, { "avx512bf16", "bf 16 8 blocks" }, { "amx", "bf 16 8 blocks" }, { "neon", "" },
        { "dotprod", "8 blocks" }, { "i8mm", "8 blocks" }, { "neonbf16", "bf 8 blocks" },
    };
    static const struct { enum packed_type t; const char *name; } type[] = {
        { PK_F32, "f32" },      { PK_Q8_0, "q8_0" },        { PK_BF16_PAIR, "bf" },     { PK_I16_PAIR, "16" },
        { PK_I8_QUAD, "8" },    { PK_Q8_QUAD, "blocks" },   { PK_Q4_QUAD, "blocks" },
        { PK_Q8_QUAD_A8, "8" },
    };
    const char *name;
    c->failures = 0, c->name = "gains";
    for (int level = 0; (name = cpu_level_name(level)) != NULL; level++) {
        const char *gains = NULL;
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) gains = strcmp(table[i].level, name) ? gains : table[i].gains;
        for (size_t i = 0; i < sizeof type / sizeof *type && check(c, gains != NULL, "level %s is not in the table", name); i++)
            check(c, !kern_gains(level, type[i].t) == !strstr(gains, type[i].name), "%s at %s: %d", packed_name(type[i].t), name,
                  kern_gains(level, type[i].t));
        check(c, !kern_gains_attn(level, KV_INT) == (!kern_gains(level, PK_I8_QUAD) && strcmp(name, "avx2")), "KV_INT at %s", name);
    }
    return c->failures;
}

/* Levels in other instructions than their own: what they override, each beside those that it stands on. */
static unsigned check_doubles(struct check *c, struct kern *k, const char *only)
{
    unsigned failures = 0;
#if defined(__x86_64__)
    struct kern below;
    enum { EVERY = 1, INTS = 2, PAIRS = 4 };
    /* over: the first of those before it that it stands on, 0: none */
    static const struct { const char *name; int needs; void (*init)(struct kern *k); int over, changes; } doubled[] = {
        { "avxvnni-evex", CPU_AVX512VNNI, kern_init_avxvnni_evex, 0, INTS },
        { "avx512-emulated", CPU_AVX2, kern_init_avx512_emulated, 1, EVERY | INTS | PAIRS },
        { "avx512vnni-emulated", CPU_AVX2, kern_init_avx512vnni_emulated, 1, INTS },
        { "avx512bf16-emulated", CPU_AVX2, kern_init_avx512bf16_emulated, 1, PAIRS },
        { "amx-emulated", CPU_AVX2, kern_init_amx_emulated, 1, PAIRS },
    };
    static const struct { int changes; struct check_part part; } all[] = {
        { EVERY, { "types", check_types } }, { EVERY, { "pack", check_pack } }, { EVERY, { "linear", check_linear } },
        { EVERY | INTS | PAIRS, { "lowp", check_lowp } }, { EVERY | INTS | PAIRS, { "blocks", check_blocks } },
        { EVERY | INTS | PAIRS, { "kv", check_kv } }, { EVERY, { "attn", check_attn } }, { INTS, { "attn_int", check_attn_ints } },
        { PAIRS, { "attn_bf16", check_attn_bf16 } }, { EVERY | INTS | PAIRS, { "attn_run", check_attn_run } },
        { EVERY | INTS | PAIRS, { "attn_rel", check_attn_rel } }, { EVERY, { "elem", check_elem } },
        { EVERY, { "spectra", check_spectra } },
    };
    for (size_t i = 0; i < sizeof doubled / sizeof *doubled; i++) {
        struct check_part part[sizeof all / sizeof *all];
        size_t n = 0;
        for (size_t j = 0; j < sizeof all / sizeof *all; j++)
            if (all[j].changes & doubled[i].changes) part[n++] = all[j].part;
        if (!cpu_level_usable(doubled[i].needs)) {
            printf("%-19s skipped: this processor lacks %s\n", doubled[i].name, cpu_level_name(doubled[i].needs));
            continue;
        }
        if (only && strcmp(only, doubled[i].name)) continue;
        kern_init(k, CPU_AVX2);
        for (size_t j = doubled[i].over ? (size_t)doubled[i].over : i; j <= i; j++) {
            if (!k->i16_is_cut) below = *k;
            doubled[j].init(k);
        }
        c->vectors = k->i16_is_cut ? &below : NULL;
        failures += run_parts(c, doubled[i].name, part, n);
    }
#else
    (void)c, (void)k, (void)only;
#endif
    return failures;
}

int main(int argc, char **argv)
{
    const size_t a = kern_linear_scratch_max(), b = kern_attn_scratch_max();
    struct kern ref, k;
    struct check c = { .ref = &ref, .kern = &k, .scratch = aligned_alloc_64(a > b ? a : b) };
    const char *how = argc > 1 ? argv[1] : "", *full = getenv("STENO_LONG");
    const int fewer = !strcmp(how, "--fewer"), emulated = !strcmp(how, "--emulated"), again = !strcmp(how, "--again");
    c.quick = again ? 2 : emulated || (fewer && !(full && !strcmp(full, "1")));
#if defined(__x86_64__)
    if (emulated || again) reads_past_end = 1;
#endif
    const char *only = argc > 1 ? argv[1 + (fewer || emulated || again)] : NULL;
    kern_init_c(&ref);
    const unsigned failures = check_gains(&c) + check_levels(&c, &k, only) + check_doubles(&c, &k, only);
    free(c.scratch);
    if (failures) printf("%u checks failed\n", failures);
    return failures != 0;
}
