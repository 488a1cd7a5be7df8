/* steno: products of 32, 16 and 8 bits at the shapes of encoders. SPDX-License-Identifier: MIT
 *
 *   bench_products [--tsv FILE] [ROWS [LEVEL]]    default: 1500 rows, and the best level
 *
 * FILE receives rows of figures (report.h).
 * Uses one thread. All bodies of a shape alternate for several rounds in one run, and the best time of each counts. Rates are compared with
 * the peak of their own instruction, if the level has one. The time includes narrowing x. If oneDNN was found, it runs the same shapes with
 * inputs that are already narrow. It is not compared with a lower level, because it uses the best instructions of the machine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "kern/kern.h"
#include "peak.h"
#include "cli/report.h"
#if STENO_ONEDNN
#include <oneapi/dnnl/dnnl.h>
#if DNNL_VERSION_MAJOR > 2 /* another interface */
#undef STENO_ONEDNN
#endif
#endif

enum { ROUNDS = 9, OURS = 4, BODIES = 7 };

static const struct { const char *name, *row; enum packed_type type; enum peak peak; } body[BODIES] = {
    { "f32", "f32", PK_F32, PEAK_F32 },
    { "bf16", "bf16", PK_BF16_PAIR, PEAK_BF16 },
    { "int16", "int16", PK_I16_PAIR, PEAK_INT16 },
    { "int8", "int8", PK_I8_QUAD, PEAK_INT8 },
    { "oneDNN f32", "onednn_f32", 0, PEAK_F32 },
    { "oneDNN bf16", "onednn_bf16", 0, PEAK_BF16 },
    { "oneDNN u8s8", "onednn_int8", 0, PEAK_INT8 },
};

static void *memory(size_t n)
{
    void *p = aligned_alloc(64, (n + 127) & ~(size_t)63);
    if (p) return p;
    fprintf(stderr, "bench_products: no memory for %zu bytes\n", n);
    exit(5);
}

static void fill(float *p, size_t n)
{
    uint32_t z = 1;
    for (size_t i = 0; i < n; i++) {
        z = z * 1664525u + 1013904223u;
        p[i] = (float)(int32_t)z * 0x1p-31f;
    }
}

/* ---- ours ----------------------------------------------------------------------------------------------------------------------- */
static void *pack(enum packed_type t, const float *rows, size_t n, size_t k)
{
    char *w = memory(pack_sz(t, n, k));
    for (size_t p = 0; p < pack_panels(n); p++) {
        const void *of[PANEL] = { 0 };
        for (size_t i = 0; i < PANEL && p * PANEL + i < n; i++) of[i] = rows + (p * PANEL + i) * k;
        pack_panel(w + p * pack_panel_sz(t, k), t, DT_F32, of, k);
    }
    return w;
}

static void run(const struct kern *k, enum packed_type t, const struct linear *l, size_t rows, void *scratch)
{
    const size_t slice = kern_slices(k, t, l->k).max;
    for (size_t m = 0; m < rows; m += slice) k->linear[t](l, m, m + slice < rows ? m + slice : rows, 0, pack_panels(l->n), scratch);
}

/* ---- oneDNN 2.6: matmul with bias, weights in its preferred layout ---------------------------------------------------------------- */
#if STENO_ONEDNN
struct peer {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t matmul;
    dnnl_exec_arg_t arg[4];
    void *data[4];
};

static int failed(dnnl_status_t s)
{
    if (s != dnnl_success) fprintf(stderr, "bench_products: oneDNN: status %d\n", (int)s);
    return s != dnnl_success;
}

/* An operand, filled with a byte that is a small number in every type. */
static int operand(struct peer *p, int i, int arg, const dnnl_memory_desc_t *d)
{
    const size_t n = dnnl_memory_desc_get_size(d);
    p->data[i] = memory(n);
    memset(p->data[i], 0x3c, n);
    p->arg[i].arg = arg;
    return failed(dnnl_memory_create(&p->arg[i].memory, d, p->engine, p->data[i]));
}

static int peer_open(struct peer *p, int what, size_t rows, size_t n, size_t k, int gelu)
{
    static const dnnl_data_type_t src_type[] = { dnnl_f32, dnnl_bf16, dnnl_u8 }, w_type[] = { dnnl_f32, dnnl_bf16, dnnl_s8 };
    const dnnl_dims_t src_dims = { (dnnl_dim_t)rows, (dnnl_dim_t)k }, w_dims = { (dnnl_dim_t)k, (dnnl_dim_t)n };
    const dnnl_dims_t bias_dims = { 1, (dnnl_dim_t)n }, dst_dims = { (dnnl_dim_t)rows, (dnnl_dim_t)n };
    dnnl_memory_desc_t src, w, bias, dst;
    dnnl_matmul_desc_t d;
    dnnl_primitive_desc_t pd;
    dnnl_primitive_attr_t attr;
    dnnl_post_ops_t ops;
    const float scale = 0.01f;
    memset(p, 0, sizeof *p);
    if (failed(dnnl_engine_create(&p->engine, dnnl_cpu, 0)) || failed(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags)))
        return -1;
    dnnl_memory_desc_init_by_tag(&src, 2, src_dims, src_type[what], dnnl_ab);
    dnnl_memory_desc_init_by_tag(&w, 2, w_dims, w_type[what], dnnl_format_tag_any);
    dnnl_memory_desc_init_by_tag(&bias, 2, bias_dims, dnnl_f32, dnnl_ab);
    dnnl_memory_desc_init_by_tag(&dst, 2, dst_dims, dnnl_f32, dnnl_ab);
    dnnl_primitive_attr_create(&attr);
    dnnl_post_ops_create(&ops);
    if (gelu) dnnl_post_ops_append_eltwise(ops, 1, dnnl_eltwise_gelu_erf, 0, 0);
    dnnl_primitive_attr_set_post_ops(attr, ops);
    if (what == 2) dnnl_primitive_attr_set_output_scales(attr, 1, 0, &scale);
    if (failed(dnnl_matmul_desc_init(&d, &src, &w, &bias, &dst)) || failed(dnnl_primitive_desc_create(&pd, &d, attr, p->engine, NULL)))
        return -1;
    const int bad = failed(dnnl_primitive_create(&p->matmul, pd)) || operand(p, 0, DNNL_ARG_SRC, &src) ||
                    operand(p, 1, DNNL_ARG_WEIGHTS, dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0)) ||
                    operand(p, 2, DNNL_ARG_BIAS, &bias) || operand(p, 3, DNNL_ARG_DST, &dst);
    dnnl_primitive_desc_destroy(pd);
    dnnl_post_ops_destroy(ops);
    dnnl_primitive_attr_destroy(attr);
    return bad ? -1 : 0;
}

static void peer_run(struct peer *p)
{
    if (failed(dnnl_primitive_execute(p->matmul, p->stream, 4, p->arg)) || failed(dnnl_stream_wait(p->stream))) exit(1);
}

static void peer_close(struct peer *p)
{
    for (int i = 0; i < 4; i++) {
        dnnl_memory_destroy(p->arg[i].memory);
        free(p->data[i]);
    }
    dnnl_primitive_destroy(p->matmul);
    dnnl_stream_destroy(p->stream);
    dnnl_engine_destroy(p->engine);
}
#else
struct peer { int none; };
static int peer_open(struct peer *p, int what, size_t rows, size_t n, size_t k, int gelu)
{
    (void)p, (void)what, (void)rows, (void)n, (void)k, (void)gelu;
    return -1;
}
static void peer_run(struct peer *p) { (void)p; }
static void peer_close(struct peer *p) { (void)p; }
#endif

/* ---- a shape -------------------------------------------------------------------------------------------------------------------- */
struct bench { struct kern kern; void *scratch; float *x, *y; double peak[PEAKS]; struct report out; };

static void bench_shape(const struct bench *b, size_t rows, size_t n, size_t k, int gelu)
{
    struct peer peer[BODIES - OURS];
    int open[BODIES];
    void *w[OURS];
    static double ns[BODIES][ROUNDS];
    float *w_rows = memory(n * k * 4);
    fill(w_rows, n * k);
    for (int i = 0; i < BODIES; i++) {
        if (i < OURS) w[i] = pack(body[i].type, w_rows, n, k), open[i] = 1;
        else open[i] = b->kern.level == cpu_level_best() && peer_open(&peer[i - OURS], i - OURS, rows, n, k, gelu) == 0;
    }
    struct linear l = { .bias = b->x, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n, .act = gelu ? ACT_GELU_ERF : ACT_NONE,
                        .x = b->x, .ld_x = k + ROW_PAD, .y = b->y, .ld_y = n + ROW_PAD };
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < BODIES; i++) {
            if (!open[i]) continue;
            const double t = now_ns();
            if (i < OURS) {
                l.w = w[i];
                run(&b->kern, body[i].type, &l, rows, b->scratch);
            } else {
                peer_run(&peer[i - OURS]);
            }
            ns[i][round] = now_ns() - t;
        }
    printf("%zu x %4zu x %4zu%s", rows, n, k, gelu ? " gelu" : "     ");
    for (int i = 0; i < BODIES; i++) {
        const double ops = 2.0 * (double)(rows * n * k), peak = b->peak[body[i].peak];
        if (!open[i]) {
            printf(" | %12s", "-");
            continue;
        }
        const struct timed t = timed_of(ns[i], ROUNDS);
        report_rate(&b->out, "GOP/s", t, ops, "%s_%zux%zux%zu%s", body[i].row, rows, n, k, gelu ? "_gelu" : "");
        printf(" | %6.1f", ops / t.best);
        if (peak > 0) printf(" %3.0f %%", 100 * ops / t.best / peak);
        else printf(" %5s", "-");
        if (i < OURS) free(w[i]);
        else peer_close(&peer[i - OURS]);
    }
    printf("\n");
    fflush(stdout);
    free(w_rows);
}

int main(int argc, char **argv)
{
    static const size_t width[] = { 384, 512, 768, 1024, 1280 };
    if (!getenv("OMP_NUM_THREADS")) { /* oneDNN's OpenMP library reads this before main */
        setenv("OMP_NUM_THREADS", "1", 1);
        execv("/proc/self/exe", argv);
    }
    const int to_file = argc > 2 && !strcmp(argv[1], "--tsv");
    char **const arg = argv + 2 * to_file, *const text = argc > 1 + 2 * to_file ? arg[1] : NULL;
    const int best = cpu_level_best(), level = argc > 2 + 2 * to_file ? cpu_level_from_name(arg[2]) : best;
    const size_t rows = text ? (size_t)atoi(text) : 1500, slot = rows * (4 * 1280 + ROW_PAD);
    struct bench b = { .scratch = memory(kern_linear_scratch_max()), .x = memory(slot * 4), .y = memory(slot * 4) };
    char machine[64];
    if (!rows || level < 0 || !cpu_level_usable(level)) {
        fprintf(stderr, "usage: bench_products [--tsv FILE] [ROWS [LEVEL]], LEVEL one that this processor has\n");
        return 2;
    }
    if (report_open(&b.out, to_file ? argv[2] : NULL, "products")) return 6;
    if (level != best) snprintf(b.out.suffix, sizeof b.out.suffix, "@%s", cpu_level_name(level));
    fill(b.x, slot);
    memset(b.y, 0, slot * 4);
    kern_init(&b.kern, level);
    cpu_model_name(machine, sizeof machine);
    report_head(&b.out, machine, cpu_level_name(b.kern.level), 1);
    printf("level %s, GOP/s and part of the instruction's peak:", cpu_level_name(level));
    for (int of = 0; of < PEAKS; of++) {
        b.peak[of] = peak_gops(level, (enum peak)of);
        if (b.peak[of] <= 0) continue;
        report_row(&b.out, "GOP/s", counted(b.peak[of]), 1, "peak_%s", peak_name((enum peak)of));
        printf(" %s %.1f", peak_name((enum peak)of), b.peak[of]);
    }
    printf("\n%23s", "rows x n x k     ");
    for (int i = 0; i < BODIES; i++) printf(" | %12s", body[i].name);
    printf("\n");
    for (size_t i = 0; i < sizeof width / sizeof *width; i++) {
        bench_shape(&b, rows, width[i], width[i], 0);
        bench_shape(&b, rows, 4 * width[i], width[i], 1);
        bench_shape(&b, rows, width[i], 4 * width[i], 0);
    }
    free(b.scratch);
    free(b.x);
    free(b.y);
    return report_close(&b.out) ? 6 : 0;
}
