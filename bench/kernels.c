/* steno: kernel benchmark. SPDX-License-Identifier: MIT
 *
 *   bench_kernels [level]    measure every level this processor has, or one
 *
 * Every figure is the best of several runs on one thread. Many-row shapes are compared with the multiply-add peak measured in the same
 * run, few-row shapes with a plain read loop over the same memory, everything with the plain C twin. Weights of few-row shapes are
 * spread over a pool larger than a second-level cache and never used twice in a row. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "kern/kern.h"
#include "peak.h"

enum { POOL = 192 << 20, MODEL_ROWS = 1500 };

/* Best time of fn(arg) in ns: at least `reps` calls, for at most about 0.3 s. */
static double best_ns(void (*fn)(void *), void *arg, int reps)
{
    double best = 1e30;
    const double start = now_ns();
    for (int i = 0; i < reps; i++) {
        const double t = now_ns();
        fn(arg);
        const double d = now_ns() - t;
        if (d < best) best = d;
        if (now_ns() - start > 3e8) break;
    }
    return best;
}

/* ---- what the machine can do ---------------------------------------------------------------------------------------------------- */
struct stream { const char *p; size_t n; uint64_t sink; };

/* Four streams side by side, as the kernels read: one alone is bound by the latency of what is in flight. */
static void read_all(void *arg)
{
    struct stream *s = arg;
    const size_t part = s->n / 4;
    uint64_t a[8] = { 0 };
    for (size_t i = 0; i + 64 <= part; i += 64)
        for (size_t g = 0; g < 4; g++)
            for (size_t j = 0; j < 8; j++) {
                uint64_t v;
                memcpy(&v, s->p + g * part + i + j * 8, 8);
                a[j] ^= v;
            }
    for (size_t j = 0; j < 8; j++) s->sink ^= a[j];
}

/* ---- linear --------------------------------------------------------------------------------------------------------------------- */
struct linear_job {
    const struct kern *kern;
    enum dtype type;
    struct linear l;
    size_t rows, copies, at, slice;
    const char *pool;
    size_t w_sz;
    void *scratch;
};

static void linear_once(void *arg)
{
    struct linear_job *j = arg;
    j->l.w = j->pool + j->at % j->copies * j->w_sz;
    j->at++;
    for (size_t m = 0; m < j->rows; m += j->slice)
        j->kern->linear[j->type](&j->l, m, m + j->slice < j->rows ? m + j->slice : j->rows, 0, pack_panels(j->l.n), j->scratch);
}

struct bench {
    struct kern kern, ref;
    void *scratch;
    char *pool;
    float *x, *y, *res;
    double peak, narrow_peak[2], read; /* narrow: of bf16 and int8, 0: f32 takes their place */
};

static void bench_linear(const struct bench *b, enum dtype t, size_t rows, size_t n, size_t k, enum act act)
{
    struct linear_job j = { .kern = &b->kern, .type = t, .rows = rows, .slice = t < DT_COUNT ? GEMM_ROWS : NARROW_ROWS,
                            .pool = b->pool, .w_sz = pack_sz(t, n, k), .scratch = b->scratch };
    j.l = (struct linear) { .bias = b->res, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n, .act = (uint8_t)act, .x = b->x,
                            .ld_x = k + ROW_PAD, .y = b->y, .ld_y = n + ROW_PAD, .res = act ? NULL : b->res, .ld_res = n + ROW_PAD };
    j.copies = POOL / j.w_sz;
    linear_once(&j);
    const double ns = best_ns(linear_once, &j, rows > 100 ? 7 : 60);
    j.kern = &b->ref;
    const size_t part = rows < 8 ? rows : 8; /* the twin is slow: a few rows are enough to tell */
    j.rows = part;
    const double c_ns = best_ns(linear_once, &j, 2) * (double)rows / (double)part;
    const double gflops = 2.0 * (double)(rows * n * k) / ns, gb = (double)j.w_sz / ns;
    double peak = t >= DT_COUNT ? b->narrow_peak[t - DT_COUNT] : b->peak;
    if (peak <= 0) peak = b->peak;
    printf("linear %-6s %4zu x %4zu x %4zu%s %11.0f ns %7.1f GFLOP/s", dtype_name(t), rows, n, k, act ? " gelu" : "     ", ns, gflops);
    if (rows > 16) printf(" %4.0f %% of peak", 100 * gflops / peak);
    else printf(" %5.1f GB/s %4.0f %% of read", gb, 100 * gb / b->read);
    printf(" %6.1f x C\n", c_ns / ns);
    fflush(stdout);
}

/* ---- attention and the rest ----------------------------------------------------------------------------------------------------- */
struct attn_job { const struct kern *kern; struct attn a; int type; void *scratch; };

static void attn_once(void *arg)
{
    struct attn_job *j = arg;
    j->kern->attn[j->type](&j->a, j->scratch);
}

static void bench_attn(const struct bench *b, int type, size_t rows, size_t keys)
{
    struct attn_job j = { .kern = &b->kern, .type = type, .scratch = b->scratch };
    j.a = (struct attn) { .out = b->y, .ld_out = 400, .q = b->x, .ld_q = 400, .n_keys = (int32_t)keys, .rows = (uint32_t)rows,
                          .kv = { b->pool, 64 * 64 * kv_elem_sz((enum kv_type)type), NULL }, .d_head = 64, .scale = 0.125f };
    for (size_t i = 0; i < keys; i++) j.kern->kv_put[type](&j.a.kv, (uint32_t)i, b->x + i * 7, b->x + i * 5 + 3, 64);
    static const char *const name[KV_TYPES] = { "f32", "f16", "bf16" };
    const double peak = type == KV_BF16 && b->narrow_peak[0] > 0 ? b->narrow_peak[0] : b->peak;
    const double ns = best_ns(attn_once, &j, 50), gflops = 4.0 * 64 * (double)(rows * keys) / ns;
    j.kern = &b->ref, j.a.rows = (uint32_t)(rows < 8 ? rows : 8);
    const double c_ns = best_ns(attn_once, &j, 3) * (double)rows / (double)j.a.rows;
    printf("attn   %-5s %4zu x %4zu d 64        %11.0f ns %7.1f GFLOP/s %4.0f %% of peak %5.1f GB/s %6.1f x C\n", name[type], rows,
           keys, ns, gflops, 100 * gflops / peak, (double)(keys * 128) * (double)kv_elem_sz((enum kv_type)type) / ns, c_ns / ns);
    fflush(stdout);
}

struct elem_job { const struct kern *kern; const struct bench *b; size_t n; int what; struct fsmn f; };

static void elem_once(void *arg)
{
    struct elem_job *j = arg;
    const struct kern *k = j->kern;
    float *y = j->b->y, *x = j->b->x;
    struct logit_part part;
    for (int i = 0; i < 16; i++, x += j->n) switch (j->what) {
        case 0: k->norm_layer(y, x, j->b->res, j->b->res, 1e-5f, j->n); break;
        case 1: k->softmax(y, x, j->n); break;
        case 2: k->act[ACT_GELU_ERF](y, x, j->n); break;
        case 3: k->act[ACT_GELU_TANH](y, x, j->n); break;
        case 4: k->add(y, x, j->b->res, j->n); break;
        case 6: k->scale(y, x, 22.6f, j->b->res, j->n); break;
        case 7: k->fsmn(&j->f); break;
        default: k->logit_scan(&part, x, NULL, 0, j->n);
        }
}

static void bench_elem(const struct bench *b)
{
    static const struct { const char *name; int what; size_t n; } job[] = {
        { "norm_layer", 0, 384 }, { "norm_layer", 0, 1280 }, { "softmax", 1, 1500 }, { "gelu_erf", 2, 1536 }, { "gelu_tanh", 3, 1536 },
        { "add", 4, 384 }, { "logit_scan", 5, 3242 }, { "scale", 6, 512 }, { "fsmn 11", 7, 512 },
    };
    const float *rows[11];
    for (size_t i = 0; i < 11; i++) rows[i] = b->x + i * (512 + ROW_PAD);
    for (size_t i = 0; i < sizeof job / sizeof *job; i++) {
        struct elem_job j = { &b->kern, b, job[i].n, job[i].what,
                              { .y = b->y, .add = b->res, .x = rows, .w = b->x + 16384, .taps = 11, .left = 5, .n = job[i].n } };
        const double ns = best_ns(elem_once, &j, 500) / 16;
        j.kern = &b->ref;
        const double c_ns = best_ns(elem_once, &j, 20) / 16;
        printf("%-10s %5zu %25.0f ns %7.2f elements/ns %31.1f x C\n", job[i].name, job[i].n, ns, (double)job[i].n / ns, c_ns / ns);
    }
}

static void *aligned_alloc_64(size_t n)
{
    void *p = aligned_alloc(64, (n + 63) & ~(size_t)63);
    if (!p) {
        fprintf(stderr, "bench_kernels: no memory for %zu bytes\n", n);
        exit(5);
    }
    return p;
}

/* Numbers in [-1, 1], the same in every run. */
static void fill(float *p, size_t n)
{
    uint32_t z = 1;
    for (size_t i = 0; i < n; i++) {
        z = z * 1664525u + 1013904223u;
        p[i] = (float)(int32_t)z * 0x1p-31f;
    }
}

static void bench_level(struct bench *b, int level)
{
    static const enum dtype type[] = { DT_F32, DT_F16, DT_Q8_0, DT_Q5_1, DT_Q4_0, DT_Q4_K, DT_Q5_K, DT_Q6_K,
                                       DT_BF16_PAIR, DT_I8_QUAD };
    static const size_t width[] = { 384, 512, 768, 1280 };
    struct stream s = { b->pool, POOL, 0 };
    kern_init(&b->kern, level);
    b->read = POOL / best_ns(read_all, &s, 5);
    b->peak = peak_gops(level, PEAK_F32);
    b->narrow_peak[0] = peak_gops(level, PEAK_BF16), b->narrow_peak[1] = peak_gops(level, PEAK_INT8);
    printf("== %s: multiply-add peak %.1f GFLOP/s, plain read of %d MiB %.1f GB/s (%u)\n", cpu_level_name(level), b->peak, POOL >> 20,
           b->read, (unsigned)s.sink & 1u);
    for (size_t i = 0; i < sizeof type / sizeof *type && level != CPU_C; i++)
        for (size_t j = 0; j < 4; j++) {
            const size_t d = width[j];
            if (d % (size_t)dtype_block(type[i])) continue;
            bench_linear(b, type[i], MODEL_ROWS, d, d, ACT_NONE);
            bench_linear(b, type[i], MODEL_ROWS, 4 * d, d, ACT_GELU_ERF);
            bench_linear(b, type[i], MODEL_ROWS, d, 4 * d, ACT_NONE);
            for (size_t m = 1; m <= 8; m += m == 1 ? 4 : 3) bench_linear(b, type[i], m, 4 * d, d, ACT_NONE);
        }
    for (int t = 0; t < KV_TYPES; t++) {
        bench_attn(b, t, MODEL_ROWS, MODEL_ROWS);
        bench_attn(b, t, 96, MODEL_ROWS); /* an item of the encoder */
        bench_attn(b, t, 1, MODEL_ROWS);
        bench_attn(b, t, 5, MODEL_ROWS);
        bench_attn(b, t, 1, 100);
    }
    bench_elem(b);
}

int main(int argc, char **argv)
{
    const size_t slot = (size_t)MODEL_ROWS * (4 * 1280 + ROW_PAD), lin = kern_linear_scratch(), att = kern_attn_scratch();
    struct bench b = { .scratch = aligned_alloc_64(lin > att ? lin : att), .pool = aligned_alloc_64(POOL) };
    b.x = aligned_alloc_64(slot * 4), b.y = aligned_alloc_64(slot * 4), b.res = aligned_alloc_64(slot * 4);
    fill(b.x, slot);
    fill(b.res, slot);
    for (size_t i = 0; i < POOL; i += 2) { /* small f16 values are harmless as any type */
        const uint16_t h = (uint16_t)(0x2000 + (i * 2654435761u >> 16 & 0x83ff));
        memcpy(b.pool + i, &h, 2);
    }
    kern_init_c(&b.ref);
    for (int level = 0; cpu_level_name(level); level++) {
        if (argc > 1 && strcmp(argv[1], cpu_level_name(level))) continue;
        if (cpu_level_usable(level)) bench_level(&b, level);
        else printf("== %s: skipped, this processor lacks it\n", cpu_level_name(level));
    }
    free(b.scratch);
    free(b.pool);
    free(b.x);
    free(b.y);
    free(b.res);
    return 0;
}
