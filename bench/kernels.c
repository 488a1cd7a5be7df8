/* steno: kernel benchmark. SPDX-License-Identifier: MIT
 *
 *   bench_kernels [--tsv FILE] [LEVEL]    measure every level of this processor, or only one
 *
 * Printed figures are the best of several runs on one thread, next to the multiply-add peak of the same run and the plain C twin. FILE
 * receives them as rows (report.h). bench_streams measures work that is bound by reading. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rounds.h"
#include "kern/kern.h"

enum { POOL = 192 << 20, MODEL_ROWS = 1500 };

/* fn(arg), up to `reps` times, for at most about 0.3 s. */
static struct timed measure(void (*fn)(void *), void *arg, int reps)
{
    double ns[ROUNDS_MAX];
    const double start = now_ns();
    int n = 0;
    while (n < reps && n < ROUNDS_MAX && (!n || now_ns() - start < 3e8)) {
        const double t = now_ns();
        fn(arg);
        ns[n++] = now_ns() - t;
    }
    return timed_of(ns, n);
}

static double best_ns(void (*fn)(void *), void *arg, int reps)
{
    return measure(fn, arg, reps).best;
}

/* ---- linear --------------------------------------------------------------------------------------------------------------------- */
struct linear_job {
    const struct kern *kern;
    enum packed_type type;
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
    double peak[PEAKS]; /* 0: the peak of f32 is used instead */
    struct report out;
};

static const char *type_name(enum packed_type t)
{
    return t == PK_BF16_PAIR ? "bf16" : t == PK_I16_PAIR ? "int16" : t == PK_I8_QUAD ? "int8" : packed_name(t);
}

static double peak_of(const struct bench *b, enum peak of) { return b->peak[of] > 0 ? b->peak[of] : b->peak[PEAK_F32]; }

static void bench_linear(const struct bench *b, enum packed_type t, size_t rows, size_t n, size_t k, enum act act)
{
    struct linear_job j = { .kern = &b->kern, .type = t, .rows = rows, .slice = kern_slices(&b->kern, t, k).max,
                            .pool = b->pool, .w_sz = pack_sz(t, n, k), .scratch = b->scratch };
    j.l = (struct linear) { .bias = b->res, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n, .act = (uint8_t)act, .x = b->x,
                            .ld_x = k + ROW_PAD, .y = b->y, .ld_y = n + ROW_PAD, .res = act ? NULL : b->res, .ld_res = n + ROW_PAD };
    j.copies = POOL / j.w_sz;
    linear_once(&j);
    const struct timed t_ns = measure(linear_once, &j, 9);
    j.kern = &b->ref;
    const size_t part = rows < 8 ? rows : 8; /* the twin is slow, so a few rows must do */
    j.rows = part;
    const double c_ns = best_ns(linear_once, &j, 2) * (double)rows / (double)part;
    const double ops = 2.0 * (double)(rows * n * k), ns = t_ns.best, gflops = ops / ns;
    const double peak = peak_of(b, t == PK_BF16_PAIR ? PEAK_BF16 : t == PK_I16_PAIR ? PEAK_INT16 : t == PK_I8_QUAD ? PEAK_INT8 : PEAK_F32);
    printf("linear %-6s %4zu x %4zu x %4zu%s %11.0f ns %7.1f GFLOP/s %4.0f %% of peak %6.1f x C\n", type_name(t), rows, n, k,
           act ? " gelu" : "     ", ns, gflops, 100 * gflops / peak, c_ns / ns);
    report_rate(&b->out, "GOP/s", t_ns, ops, "linear_%s_%zux%zux%zu%s", type_name(t), rows, n, k, act ? "_gelu" : "");
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
                          .kv = { b->pool, kv_block_sz((enum kv_type)type, 64), NULL }, .d_head = 64, .scale = 0.125f };
    for (size_t i = 0; i < keys; i++) j.kern->kv_put[type](&j.a.kv, (uint32_t)i, b->x + i * 7, b->x + i * 5 + 3, 64);
    static const char *const name[KV_TYPES] = { "f32", "f16", "bf16", "int", "q8" };
    const double peak = peak_of(b, type == KV_BF16 ? PEAK_BF16 : kv_is_ints(type) ? PEAK_INT8 : PEAK_F32);
    const struct timed t = measure(attn_once, &j, 50);
    const double ops = 4.0 * 64 * (double)(rows * keys), ns = t.best, gflops = ops / ns;
    j.kern = &b->ref, j.a.rows = (uint32_t)(rows < 8 ? rows : 8);
    const double c_ns = best_ns(attn_once, &j, 3) * (double)rows / (double)j.a.rows;
    const double bytes = (double)keys / KV_BLOCK * (double)kv_block_sz((enum kv_type)type, 64);
    printf("attn   %-5s %4zu x %4zu d 64        %11.0f ns %7.1f GFLOP/s %4.0f %% of peak %5.1f GB/s %6.1f x C\n", name[type],
           rows, keys, ns, gflops, 100 * gflops / peak, bytes / ns, c_ns / ns);
    report_rate(&b->out, "GOP/s", t, ops, "attn_%s_%zux%zu", name[type], rows, keys);
    fflush(stdout);
}

struct elem_job { const struct kern *kern; const struct bench *b; size_t n; int what; struct fsmn f; };

static void elem_once(void *arg)
{
    struct elem_job *j = arg;
    const struct kern *k = j->kern;
    float *y = j->b->y, *x = j->b->x;
    struct logit_partial part;
    for (int i = 0; i < 16; i++, x += j->n) switch (j->what) {
        case 0: k->norm_layer(y, x, j->b->res, j->b->res, 1e-5f, j->n); break;
        case 1: k->softmax(y, x, j->n); break;
        case 2: k->act[ACT_GELU_ERF](y, x, j->n); break;
        case 3: k->act[ACT_GELU_TANH](y, x, j->n); break;
        case 4: k->add(y, x, j->b->res, j->n); break;
        case 6: k->scale(y, x, 22.6f, j->b->res, j->n); break;
        case 7: k->fsmn(&j->f); break;
        default: k->logits_reduce(&part, x, NULL, 0, j->n);
        }
}

static void bench_elem(const struct bench *b)
{
    static const struct { const char *name, *row; int what; size_t n; } job[] = {
        { "norm_layer", "norm_layer", 0, 384 }, { "norm_layer", "norm_layer", 0, 1280 }, { "softmax", "softmax", 1, 1500 },
        { "gelu_erf", "gelu_erf", 2, 1536 }, { "gelu_tanh", "gelu_tanh", 3, 1536 }, { "add", "add", 4, 384 },
        { "logit_scan", "logit_scan", 5, 3242 }, { "scale", "scale", 6, 512 }, { "fsmn 11", "fsmn_11_taps", 7, 512 },
    };
    const float *rows[11];
    for (size_t i = 0; i < 11; i++) rows[i] = b->x + i * (512 + ROW_PAD);
    for (size_t i = 0; i < sizeof job / sizeof *job; i++) {
        struct elem_job j = { &b->kern, b, job[i].n, job[i].what,
                              { .y = b->y, .add = b->res, .x = rows, .w = b->x + 16384, .taps = 11, .left = 5, .n = job[i].n } };
        const struct timed t = measure(elem_once, &j, 500);
        const double ns = t.best / 16;
        j.kern = &b->ref;
        const double c_ns = best_ns(elem_once, &j, 20) / 16;
        printf("%-10s %5zu %25.0f ns %7.2f elements/ns %31.1f x C\n", job[i].name, job[i].n, ns, (double)job[i].n / ns, c_ns / ns);
        report_rate(&b->out, "elements/ns", t, 16 * (double)job[i].n, "%s_%zu", job[i].row, job[i].n);
    }
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

/* Encoders: each matrix of a layer is d x d, 4d x d with GELU, or d x 4d. */
static const struct { size_t n, k; enum act act; } shape[] = {
    { 384, 384, ACT_NONE },   { 1536, 384, ACT_GELU_ERF },  { 384, 1536, ACT_NONE },  /* Whisper tiny */
    { 512, 512, ACT_NONE },   { 2048, 512, ACT_GELU_ERF },  { 512, 2048, ACT_NONE },  /* base; SAN-M, with the next two */
    { 1536, 512, ACT_NONE },  { 1536, 560, ACT_NONE },      { 768, 768, ACT_NONE },   /* small */
    { 3072, 768, ACT_GELU_ERF }, { 768, 3072, ACT_NONE },   { 1024, 1024, ACT_NONE }, /* medium */
    { 4096, 1024, ACT_GELU_ERF }, { 1024, 4096, ACT_NONE }, { 1280, 1280, ACT_NONE }, /* large */
    { 5120, 1280, ACT_GELU_ERF }, { 1280, 5120, ACT_NONE },
    { 3072, 1024, ACT_NONE }, { 1024, 3072, ACT_NONE },     { 2048, 1024, ACT_NONE }, /* Qwen3-0.6B */
};

/* The rates of the level's own instructions, on one thread and on two. */
static void bench_peaks(struct bench *b, int level)
{
    printf("== %s: peaks in GOP/s on 1 and 2 threads:", cpu_level_name(level));
    for (int of = 0; of < PEAKS; of++)
        for (int threads = 2; threads >= 1; threads--) {
            steno_team *team = round_team(threads);
            struct timed t;
            const double ops = round_peak(&t, team, level, (enum peak)of);
            team_close(team);
            b->peak[of] = ops > 0 ? ops / t.best : 0;
            if (ops <= 0) continue;
            printf(" %s %.1f (%d)", peak_name((enum peak)of), b->peak[of], threads);
            report_rate(&b->out, "GOP/s", t, ops, "peak_%s_%dt", peak_name((enum peak)of), threads);
        }
    printf("\n");
}

static void bench_level(struct bench *b, int level)
{
    static const enum packed_type type[] = {
        PK_F32, PK_F16, PK_Q8_0, PK_Q4_0, PK_BF16_PAIR, PK_I16_PAIR, PK_I8_QUAD, PK_Q5_1, PK_Q4_K, PK_Q5_K, PK_Q6_K,
    };
    enum { TYPES = sizeof type / sizeof *type, SHAPES = sizeof shape / sizeof *shape, LOWER_TYPES = 7 };
    const int best = level == cpu_level_best();
    kern_init(&b->kern, level);
    if (!best) snprintf(b->out.suffix, sizeof b->out.suffix, "@%s", cpu_level_name(level));
    else b->out.suffix[0] = 0;
    bench_peaks(b, level);
    for (int i = 0; i < (best ? TYPES : LOWER_TYPES) && level != CPU_C; i++)
        for (size_t j = 0; j < SHAPES; j++)
            if (shape[j].k % (size_t)dtype_block(packed_source(type[i])) == 0)
                bench_linear(b, type[i], MODEL_ROWS, shape[j].n, shape[j].k, shape[j].act);
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
    const size_t slot = (size_t)MODEL_ROWS * (4 * 1280 + ROW_PAD), lin = kern_linear_scratch_max(), att = kern_attn_scratch_max();
    struct bench b = { .scratch = round_memory(lin > att ? lin : att), .pool = round_memory(POOL) };
    char machine[64];
    const int rows = argc > 2 && !strcmp(argv[1], "--tsv");
    const char *only = argc > 1 + 2 * rows ? argv[1 + 2 * rows] : NULL;
    if (report_open(&b.out, rows ? argv[2] : NULL, "kernels")) return 6;
    cpu_model_name(machine, sizeof machine);
    report_head(&b.out, machine, cpu_level_name(cpu_level_best()), 1);
    b.x = round_memory(slot * 4), b.y = round_memory(slot * 4), b.res = round_memory(slot * 4);
    fill(b.x, slot);
    fill(b.res, slot);
    for (size_t i = 0; i < POOL; i += 2) { /* small f16 values are valid in any type */
        const uint16_t h = (uint16_t)(0x2000 + (i * 2654435761u >> 16 & 0x83ff));
        memcpy(b.pool + i, &h, 2);
    }
    kern_init_c(&b.ref);
    for (int level = 0; cpu_level_name(level); level++) {
        if (only && strcmp(only, cpu_level_name(level))) continue;
        if (cpu_level_usable(level)) bench_level(&b, level);
        else printf("== %s: skipped, this processor lacks it\n", cpu_level_name(level));
    }
    free(b.scratch);
    free(b.pool);
    free(b.x);
    free(b.y);
    free(b.res);
    return report_close(&b.out) ? 6 : 0;
}
