/* steno: work that is bound by reading. SPDX-License-Identifier: MIT
 *
 *   bench_streams [--tsv FILE] [--pool MIB] [--n OUTPUTS] [LEVEL]
 *
 * A decoder's step reads each weight once, for one row or a few. Measured are plain loops that read from each cache level and from main
 * memory, and linears of a few rows on one thread and on two. Attention of a few rows to a window's keys is measured, too. --n: only
 * linears with this number of outputs, of all types on one thread and two. Weights, keys
 * and values are spread over a pool of four times the reported size of the last-level cache (384 to 2047 MiB, or --pool). Each is read
 * once per turn. The last figure is the cost of writing keys and values head-major, the layout of attention. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rounds.h"
#include "kern/kern.h"

enum { POOL_LEAST = 384 << 20, POOL_MAX = 2047 << 20, THREADS = 2, MANY = 1500 };

struct bench {
    struct kern kern;
    int level;
    char *pool;
    size_t pool_sz;
    float *x, *y, *zero;
    void *scratch[THREADS];
    steno_team *team[THREADS]; /* [0] NULL */
    double read[THREADS];      /* GB/s from main memory */
    struct report out;
    size_t only_n;             /* 0: all */
};

/* ---- plain reading ---- */

static void bench_read(struct bench *b)
{
    static const char *const name[] = { "l1", "l2", "l3", "dram" };
    enum { PART = 8 << 20 };
    const size_t l1 = round_cache(1), l2 = round_cache(2); /* the third level is often shared: four times the second is used instead */
    const size_t size[] = { l1 / 4 * 3, l2 / 2, 4 * l2, PART };
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < 4; i++) {
            struct timed time;
            const size_t part = size[i] & ~(size_t)1023;
            const int repeat = i == 3 ? 1 : (int)((32 << 20) / part) + 1;
            const size_t from = i == 3 ? b->pool_sz : part * (size_t)(t + 1);
            const double bytes = round_read(&time, b->team[t], b->level, b->pool, from, part, repeat);
            printf("read %-4s %8zu KiB, %d thread%s %7.1f GB/s\n", name[i], part >> 10, t + 1, t ? "s" : " ", bytes / time.best);
            report_rate(&b->out, "GB/s", time, bytes, "read_%s_%dt", name[i], t + 1);
            if (i == 3) b->read[t] = bytes / time.best;
        }
}

/* ---- linears of a few rows ---- */

struct few_job {
    const struct bench *b;
    struct linear l;
    enum packed_type type;
    size_t w_sz, at, copies, rows, tile;
    _Atomic size_t next;     /* the next tile */
};

/* As in the executor: each thread takes panels until none are left. */
static void few_thread(void *arg, int thread)
{
    struct few_job *j = arg;
    const size_t panels = pack_panels(j->l.n);
    for (size_t p; (p = atomic_fetch_add(&j->next, 1) * j->tile) < panels;)
        j->b->kern.linear[j->type](&j->l, 0, j->rows, p, p + j->tile < panels ? p + j->tile : panels, j->b->scratch[thread]);
}

static struct timed few_measure(struct few_job *j, steno_team *team)
{
    double ns[60];
    int n = 0;
    const int64_t start = os_now_ns();
    while (n < 60 && (n < 3 || os_now_ns() - start < 300000000)) {
        struct round c = { .team = team, .fn = few_thread, .arg = j };
        j->l.w = j->b->pool + j->at++ % j->copies * j->w_sz;
        atomic_store(&j->next, 0);
        ns[n++] = round_round(&c);
    }
    return timed_of(ns, n);
}

static const char *name_of(enum packed_type t)
{
    static char name[24];
    if (t == PK_Q8_QUAD_A8) return "q8a8_quad";
    if (t <= PK_Q8_QUAD) return t == PK_Q8_QUAD ? "q8_quad" : packed_name(t);
    snprintf(name, sizeof name, t == PK_Q4_QUAD ? "q4_quad" : "%s_quad", dtype_name(packed_source(t)));
    return name;
}

static void bench_few(struct bench *b, enum packed_type type, size_t rows, size_t n, size_t k, int threads)
{
    const size_t panels = pack_panels(n);
    size_t tile = panels / ((size_t)threads * 4); /* as plan/exec.c cuts it */
    tile = tile < 4 ? 4 : tile > 32 ? 32 : tile & ~(size_t)3;
    struct few_job j = { .b = b, .type = type, .w_sz = pack_sz(type, n, k), .rows = rows, .tile = tile };
    j.w_sz = (j.w_sz + 63) & ~(size_t)63;
    j.copies = b->pool_sz / j.w_sz;
    if (!j.copies) return;
    j.l = (struct linear) { .bias = b->zero, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n, .x = b->x, .ld_x = k + ROW_PAD,
                            .y = b->y, .ld_y = n + ROW_PAD };
    const struct timed t = few_measure(&j, b->team[threads - 1]);
    const double gb = (double)j.w_sz / t.best;
    printf("linear %-10s %zu x %6zu x %4zu, %d thread%s %9.0f ns %6.1f GB/s %4.0f %% of read\n", name_of(type), rows, n, k, threads,
           threads > 1 ? "s" : " ", t.best, gb, 100 * gb / b->read[threads - 1]);
    fflush(stdout);
    report_rate(&b->out, "GB/s", t, (double)j.w_sz, "linear_%s_%zux%zux%zu_%dt", name_of(type), rows, n, k, threads);
}

static void bench_decoders(struct bench *b)
{
    static const enum packed_type type[] = {
        PK_F16, PK_Q8_0, PK_Q8_QUAD, PK_Q8_QUAD_A8, PK_Q4_0, PK_Q4_QUAD, /* on two threads as well */
        PK_Q4_1, PK_Q4_1_QUAD, PK_Q5_0, PK_Q5_0_QUAD, PK_Q5_1, PK_Q5_1_QUAD, PK_Q2_K, PK_Q2_K_QUAD, PK_Q3_K, PK_Q3_K_QUAD,
        PK_Q4_K, PK_Q4_K_QUAD, PK_Q5_K, PK_Q5_K_QUAD, PK_Q6_K, PK_Q6_K_QUAD, PK_IQ4_XS, PK_IQ4_XS_QUAD, PK_F32,
    };
    static const size_t shape[][2] = {
        { 1536, 384 }, { 2048, 512 }, { 3072, 768 }, { 4096, 1024 }, { 5120, 1280 }, { 1280, 5120 }, { 51865, 512 }, /* Whisper */
        { 3072, 1024 }, { 151936, 1024 },                                                                          /* Qwen3-0.6B */
    };
    static const size_t rows[] = { 1, 5, 8 };
    for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) /* types alternate, so that other programs disturb them equally */
        for (size_t r = 0; r < 3; r++)
            for (int t = 1; t <= THREADS; t++)
                for (size_t i = 0; i < (t == 1 || b->only_n ? sizeof type / sizeof *type : 6); i++) /* the last ones on one thread only */
                    if ((!b->only_n || shape[s][0] == b->only_n) && shape[s][1] % (size_t)dtype_block(packed_source(type[i])) == 0)
                        bench_few(b, type[i], rows[r], shape[s][0], shape[s][1], t);
}

/* ---- attention of a few rows to a window's keys and values: one layer of base per turn ---- */

struct attn_job { const struct bench *b; enum kv_type type; struct attn a; size_t head_sz, at; _Atomic size_t next; size_t n_threads; };

static void attn_thread(void *arg, int thread)
{
    enum { HEADS = 8 };
    struct attn_job *j = arg;
    for (size_t h; (h = atomic_fetch_add(&j->next, 1)) < HEADS;) {
        struct attn a = j->a;
        char *first = j->b->pool + j->at * HEADS * j->head_sz;
        a.q += h * a.d_head, a.out += h * a.d_head, a.kv.base = first + h * j->head_sz;
        a.next = a.kv, a.next.base = first + (h + j->n_threads) * j->head_sz; /* the executor's hint */
        a.n_next = h + j->n_threads < HEADS ? ATTN_KEYS / KV_BLOCK : 0;
        j->b->kern.attn[j->type](&a, j->b->scratch[thread]);
    }
}

static void bench_attn(struct bench *b, enum kv_type type, uint32_t rows, int threads)
{
    enum { HEADS = 8, D = 64 };
    const char *const name = type == KV_INT ? "int" : "f16";
    const size_t block = kv_block_sz(type, D), head_sz = (MANY + KV_BLOCK - 1) / KV_BLOCK * block;
    const size_t copies = b->pool_sz / (HEADS * head_sz), ld = HEADS * D + ROW_PAD;
    struct attn_job j = { .b = b, .type = type, .head_sz = head_sz, .n_threads = (size_t)threads };
    double ns[200];
    int n = 0;
    j.a = (struct attn) { .out = b->y, .ld_out = ld, .q = b->x, .ld_q = ld, .kv = { NULL, block, NULL }, .n_keys = MANY, .rows = rows,
                          .d_head = D, .scale = 0.125f };
    while (n < 200) {
        struct round c = { .team = b->team[threads - 1], .fn = attn_thread, .arg = &j };
        j.at = (size_t)n % copies;
        atomic_store(&j.next, 0);
        ns[n++] = round_round(&c);
    }
    const struct timed t = timed_of(ns, n);
    const double bytes = (double)(HEADS * head_sz), gb = bytes / t.best;
    printf("attention %s, %u rows x %d keys, 8 heads, %d thread%s %9.0f ns %6.1f GB/s %4.0f %% of read\n", name, (unsigned)rows, MANY,
           threads, threads > 1 ? "s" : " ", t.best, gb, 100 * gb / b->read[threads - 1]);
    report_rate(&b->out, "GB/s", t, bytes, "attn_%s_%ux%d_%dt", name, (unsigned)rows, MANY, threads);
}

/* ---- keys and values ---- */

struct kv_job { const struct bench *b; struct linear l; size_t rows; int how; };

/* 0: the projection writes rows; 1: it writes head-major; 2: rows are copied to head-major order afterwards. */
static void kv_thread(void *arg, int thread)
{
    const struct kv_job *j = arg;
    const struct bench *b = j->b;
    const uint32_t d = j->l.n / 2, heads = d / j->l.d_head;
    if (j->how < 2) {
        for (size_t m = 0; m < j->rows; m += GEMM_ROWS)
            b->kern.linear[PK_F32](&j->l, m, m + GEMM_ROWS < j->rows ? m + GEMM_ROWS : j->rows, 0, pack_panels(j->l.n), b->scratch[thread]);
        return;
    }
    for (uint32_t h = 0; h < heads; h++) {
        const struct kv_view v = { (char *)j->l.kv.base + h * j->l.kv_head_sz, j->l.kv.block_stride, NULL };
        for (uint32_t r = 0; r < j->rows; r++) {
            const float *row = b->y + r * j->l.ld_y + h * j->l.d_head;
            b->kern.kv_put[KV_F32](&v, r, row, row + d, j->l.d_head);
        }
    }
}

static void bench_kv(struct bench *b, uint32_t d)
{
    static const char *const name[] = { "rows", "head_major", "put_afterwards" };
    const size_t block = 2 * KV_BLOCK * 64 * sizeof(float), head_sz = (MANY + KV_BLOCK - 1) / KV_BLOCK * block;
    struct kv_job j = { .b = b, .rows = MANY };
    j.l = (struct linear) { .w = b->pool, .bias = b->zero, .n = 2 * d, .k = d, .n_y = 2 * d, .d_head = 64, .x = b->x, .ld_x = d + ROW_PAD,
                            .y = b->y, .ld_y = 2 * d + ROW_PAD, .kv = { b->pool + b->pool_sz / 2, block, NULL }, .kv_head_sz = head_sz };
    for (j.how = 0; j.how < 3; j.how++) {
        j.l.n_y = j.how == 1 ? 0 : 2 * d;
        j.l.n_kv = j.how == 1 ? d : 0;
        const struct timed t = round_measure(NULL, kv_thread, &j, 15, 400);
        printf("keys and values of %d rows, d %4u, %-14s %9.3f ms\n", MANY, d, name[j.how], t.best * 1e-6);
        report_row(&b->out, "ms", t, 1e-6, "kv_%s_%ux%u", name[j.how], (unsigned)MANY, (unsigned)d);
    }
}

/* ---- all of it ---- */

static void open_memory(struct bench *b, size_t pool_mib)
{
    const size_t slot = 8 * (151936 + ROW_PAD) > MANY * (2 * 1280 + ROW_PAD) ? 8 * (151936 + ROW_PAD) : MANY * (2 * 1280 + ROW_PAD);
    b->pool_sz = 4 * round_cache(3) > POOL_LEAST ? 4 * round_cache(3) : POOL_LEAST;
    if (b->pool_sz > POOL_MAX) b->pool_sz = POOL_MAX;
    if (pool_mib) b->pool_sz = pool_mib << 20;
    b->pool = round_memory(b->pool_sz);
    for (size_t i = 0; i < b->pool_sz; i += 2) { /* small f16 values are harmless as any type */
        const uint16_t h = (uint16_t)(0x2000 + (i * 2654435761u >> 16 & 0x83ff));
        memcpy(b->pool + i, &h, 2);
    }
    b->x = round_memory(slot * 4), b->y = round_memory(slot * 4), b->zero = round_memory(slot * 4);
    for (size_t i = 0; i < slot; i++) b->x[i] = (float)((int)(i * 2654435761u % 2001) - 1000) * 1e-3f;
    memset(b->y, 0, slot * 4);
    memset(b->zero, 0, slot * 4);
    const size_t lin = kern_linear_scratch_max(), att = kern_attn_scratch_max();
    for (int i = 0; i < THREADS; i++) {
        b->scratch[i] = round_memory(lin > att ? lin : att);
        b->team[i] = round_team(i + 1);
    }
}

int main(int argc, char **argv)
{
    struct bench b = { .level = cpu_level_best() };
    const char *path = NULL;
    size_t pool_mib = 0;
    char machine[64];
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--tsv") && i + 1 < argc) path = argv[++i];
        else if (!strcmp(argv[i], "--n") && i + 1 < argc) b.only_n = (size_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--pool") && i + 1 < argc) pool_mib = (size_t)atoi(argv[++i]);
        else b.level = cpu_level_from_name(argv[i]);
    }
    if (b.level < 0 || !cpu_level_usable(b.level)) {
        fprintf(stderr, "usage: bench_streams [--tsv FILE] [--pool MIB] [--n OUTPUTS] [LEVEL]\n");
        return 2;
    }
    if (report_open(&b.out, path, "streams")) return 6;
    open_memory(&b, pool_mib);
    kern_init(&b.kern, b.level);
    cpu_model_name(machine, sizeof machine);
    report_head(&b.out, machine, cpu_level_name(b.level), THREADS);
    printf("level %s, pool of %zu MiB\n", cpu_level_name(b.level), b.pool_sz >> 20);
    bench_read(&b);
    bench_decoders(&b);
    for (uint32_t rows = 1; rows <= 9; rows += 4) /* types alternate */
        for (int t = 1; t <= THREADS; t++) {
            bench_attn(&b, KV_F16, rows, t);
            bench_attn(&b, KV_INT, rows, t);
        }
    for (uint32_t d = 512; d <= 1280; d += 768) bench_kv(&b, d);
    for (int i = 0; i < THREADS; i++) {
        team_close(b.team[i]);
        free(b.scratch[i]);
    }
    free(b.pool);
    free(b.x);
    free(b.y);
    free(b.zero);
    return report_close(&b.out) ? 6 : 0;
}
