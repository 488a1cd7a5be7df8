/* steno: checks of linear, packing and the stored types. SPDX-License-Identifier: MIT */
#include "shape.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kern/ref.h"

static double activate(double x, int act)
{
    if (act == ACT_GELU_ERF) return 0.5 * x * (1 + erf(x * sqrt(0.5)));
    if (act == ACT_GELU_TANH) return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    if (act == ACT_RELU) return x > 0 ? x : 0;
    return x;
}

/* Of an output, in double: x w^T, and the sum of its products' magnitudes. */
struct exact { double sum, mag; };

static struct exact *exact_of(const struct shape *s, const float *x, const float *wide)
{
    struct exact *e = malloc(s->m * s->n * sizeof *e);
    for (size_t i = 0; i < s->m * s->n; i++) {
        const float *a = x + i / s->n * s->ld_x, *b = wide + i % s->n * s->k;
        double sum[4] = { 0 }, mag[4] = { 0 }; /* no sum waits for the one before it */
        for (size_t k = 0; k < s->k; k++) {
            const double p = (double)a[k] * b[k];
            sum[k % 4] += p, mag[k % 4] += fabs(p);
        }
        e[i] = (struct exact) { sum[0] + sum[1] + sum[2] + sum[3], mag[0] + mag[1] + mag[2] + mag[3] };
    }
    return e;
}

/* The linear of kern.h in double, with the tolerance stated there. */
static void check_values(struct check *c, const char *who, enum dtype t, const struct shape *s, const struct linear *l,
                         const struct exact *e, const float *res, const float *y)
{
    for (size_t m = 0; m < s->m; m++)
        for (size_t n = 0; n < s->n; n++, e++) {
            const double v = e->sum + (l->bias ? l->bias[n] : 0);
            const double r = res ? res[m * l->ld_y + n] : 0, want = activate(v, l->act) + r;
            double tol = 4 * FLT_EPSILON * sqrt((double)s->k) * e->mag + FLT_EPSILON * (fabs(v) + fabs(r));
            if (l->act) tol = 1.2 * tol + 2e-7 * (1 + fabs(v));
            const double got = y[m * l->ld_y + n];
            if (!check(c, fabs(got - want) <= tol, "%s %s m %zu/%zu n %zu/%zu k %zu ld_x %zu act %d: got %.9g want %.9g tolerance %.3g",
                       who, dtype_name(t), m, s->m, n, s->n, s->k, s->ld_x, l->act, got, want, tol))
                return;
        }
}

static void check_shape(struct check *c, enum dtype t, struct shape s)
{
    const int large = s.m * s.n * s.k > 4000000;
    void *rows = malloc(s.n * dtype_row_sz(t, s.k) + 1);
    rnd_rows(rows, t, s.n, s.k);
    void *w = pack_all(rows, packed_as_stored(t), s.n, s.k);
    const struct around a = around_new(&s);
    struct exact *exact = NULL;
    if (c->kern->level == CPU_C || !large) {
        float *wide = malloc(s.n * s.k * sizeof *wide);
        for (size_t i = 0; i < s.n; i++) dtype_widen_row(wide + i * s.k, t, (char *)rows + i * dtype_row_sz(t, s.k), s.k);
        exact = exact_of(&s, a.x, wide);
        free(wide);
    }
    for (int mode = c->quick ? 1 + (int)(s.m + s.n) % 4 : 0; mode < MODES; mode += c->quick ? MODES : 1) {
        struct linear l = linear_of(&a, &s, w, mode);
        if (large && mode > 1) break;
        run_whole(c, packed_as_stored(t), &l, &a, &s);
        if (exact) check_values(c, "double", t, &s, &l, exact, l.res, l.y);
        else { /* large shapes: the twin in place of double */
            const float *y = l.y;
            l.y = a.y_ref;
            run(c->ref, packed_as_stored(t), &l, 0, s.m, 0, pack_panels(s.n), c->scratch);
            for (size_t i = 0; i < s.m * a.ld_y; i++) {
                const double got = y[i], want = a.y_ref[i], tol = 8 * FLT_EPSILON * sqrt((double)s.k) * 60;
                if (i % a.ld_y < s.n && !check(c, fabs(got - want) <= tol, "%s large: got %.9g want %.9g", dtype_name(t), got, want)) break;
            }
        }
    }
    free(rows);
    free(exact);
    free(w);
    guarded_free_all();
}

/* k around what is widened at once, rows around those that are taken at once. */
static void check_edges(struct check *c, enum dtype t)
{
    static const size_t k_of[] = { K_BLOCK - 1, K_BLOCK, K_BLOCK + 1, 2 * K_BLOCK - 1, 2 * K_BLOCK, 2 * K_BLOCK + 1, 4 * K_BLOCK + 1 };
    static const size_t m_of[] = { 1, 14, 3, 37, 12 };
    const size_t step = c->quick == 2 ? 3 : 1, of_m = c->quick == 2 ? 3 : 2;
    for (size_t i = 0; i < 7; i += step)
        for (size_t j = i % 2; j < 5; j += of_m) check_shape(c, t, (struct shape) { m_of[j], 33, k_of[i], k_of[i] + i % 3 });
    for (size_t m = GEMM_ROWS - 1; m <= GEMM_ROWS + 1 && !c->quick; m++) check_shape(c, t, (struct shape) { m, 33, 17, 18 });
}

void check_linear(struct check *c)
{
    static const size_t n_of[] = { 1, 7, 16, 31, 32, 33, 47, 64, 65, 96, 100, 129 };
    static const size_t k_of[] = { 1, 2, 3, 5, 17, 31, 32, 33, 63, 67, 80, 240 };
    const int fast = c->kern->level != CPU_C && !c->quick;
    const size_t m_max = c->quick ? 20 : 67, m_step = c->quick ? 13 : 9, n_step = c->quick ? 33 : 6;
    for (int t = 0; t < DT_COUNT; t++) {
        const size_t unit = (size_t)dtype_block((enum dtype)t);
        const int is_k = unit == KBLOCK;
        for (size_t m = 1; m <= m_max; m += c->quick > 1 ? 17 : fast || m < 5 ? 1 : m_step) {
            const size_t n = n_of[(m * 5 + (size_t)t) % 12], k = (k_of[(m * 7 + (size_t)t) % 12] + unit - 1) / unit * unit;
            check_shape(c, (enum dtype)t, (struct shape) { m, n, k, k + m % 3 });
        }
        for (size_t n = 1; n <= (c->quick > 1 ? 34 : 67); n += n_step) {
            const size_t k = is_k ? 256 : 64;
            check_shape(c, (enum dtype)t, (struct shape) { 1 + n % 5, n, k, k });
        }
        if (unit == 1) check_edges(c, (enum dtype)t);
        if (c->quick) continue;
        check_shape(c, (enum dtype)t, (struct shape) { 40, 70, is_k ? 512 : 96, 32 });   /* convolution: rows overlap */
        check_shape(c, (enum dtype)t, (struct shape) { 13, 33, is_k ? 256 : 192, 1 });
        check_shape(c, (enum dtype)t, (struct shape) { 5, 64, is_k ? 768 : 384, is_k ? 784 : 400 });
        check_shape(c, (enum dtype)t, (struct shape) { 1, 161, 512, 512 });
        check_shape(c, (enum dtype)t, (struct shape) { 3, fast ? 300 : 70, 1536, 1536 }); /* the twin knows no groups of panels */
        if (fast) check_shape(c, (enum dtype)t, (struct shape) { 8, 384, 1536, 1552 });
        if (fast && t < DT_Q4_1) check_shape(c, (enum dtype)t, (struct shape) { GEMM_ROWS + 17, 180, 544, 544 });
        if (fast && is_k) check_shape(c, (enum dtype)t, (struct shape) { GEMM_ROWS + 17, 180, 768, 768 });
    }
}

/* ---- keys and values ------------------------------------------------------------------------------------------------------------ */
struct kv_case { size_t m, n_y, n_kv, n_v, d_head, k; uint32_t pos; int table; enum kv_type type; enum packed_type w; };

/* Keys or values of row m in head h are those of plain, [d_head], as kv_put would have written them; their bytes are marked. */
static void check_position(struct check *c, const struct kv_case *t, const struct linear *l, size_t m, size_t h, int value,
                           const float *plain, char *touched)
{
    const size_t pos = t->pos + m, block = l->kv.table ? l->kv.table[pos / 32] : pos / 32, sz = kv_block_sz(t->type, t->d_head);
    const size_t at = h * l->kv_head_sz + block * l->kv.block_stride;
    const char *kv = (const char *)l->kv.base + at;
    float *want = malloc(t->d_head * sizeof *want);
    char *put = calloc(sz, 1);
    memcpy(want, plain, t->d_head * sizeof *want);
    kv_round(t->type, want, t->d_head, value);
    kv_fill(t->type, touched + at, pos % 32, t->d_head, value, 1);
    c->kern->kv_put[t->type](&(struct kv_view) { put, sz, NULL }, (uint32_t)(pos % 32), plain, plain, (uint32_t)t->d_head);
    for (size_t d = 0; d < t->d_head; d++) {
        const double got = kv_read(t->type, kv, pos % 32, d, t->d_head, value);
        if (!check(c, got == want[d], "kv type %d d_head %zu n_y %zu pos %u: row %zu head %zu value %d d %zu is %.9g not %.9g", t->type,
                   t->d_head, t->n_y, t->pos, m, h, value, d, got, (double)want[d]))
            break;
    }
    size_t other = 0;
    char *mine = calloc(sz, 1);
    kv_fill(t->type, mine, pos % 32, t->d_head, value, 1);
    for (size_t i = 0; i < sz; i++) other += mine[i] && put[i] != kv[i];
    check(c, other == 0, "kv type %d d_head %zu pos %u: %zu bytes of row %zu head %zu value %d are not kv_put's", t->type, t->d_head,
          t->pos, other, m, h, value);
    free(mine);
    free(put);
    free(want);
}

static void check_kv_case(struct check *c, const struct kv_case *t)
{
    const size_t n = t->n_y + t->n_kv + t->n_v, n_blocks = (t->pos + t->m + 31) / 32;
    const size_t heads = (t->n_kv > t->n_v ? t->n_kv : t->n_v) / t->d_head, stride = kv_block_sz(t->type, t->d_head) + 64;
    const size_t kv_sz = heads * n_blocks * stride;
    float *rows = malloc(n * t->k * 4), *bias = guarded_floats(n), *x = guarded_floats(t->m * t->k), *plain = guarded_floats(t->m * n);
    float *y = guarded_floats(t->m * (t->n_y ? t->n_y : 1));
    char *kv = guarded(kv_sz), *touched = calloc(kv_sz, 1);
    uint16_t table[64];
    rnd_floats(rows, n * t->k, 0.2f);
    rnd_floats(bias, n, 1e-3f);
    rnd_floats(x, t->m * t->k, 1);
    for (size_t i = 0; i < n_blocks; i++) table[i] = (uint16_t)(n_blocks - 1 - i);
    void *w = pack_all(rows, t->w, n, t->k);
    struct linear l = { .w = w, .bias = bias, .n = (uint32_t)n, .k = (uint32_t)t->k, .n_y = (uint32_t)n, .x = x, .ld_x = t->k,
                        .y = plain, .ld_y = n };
    run(c->kern, t->w, &l, 0, t->m, 0, pack_panels(n), c->scratch);
    l.n_y = (uint32_t)t->n_y, l.n_kv = (uint32_t)t->n_kv, l.kv_type = (uint8_t)t->type, l.d_head = (uint16_t)t->d_head;
    l.y = y, l.ld_y = t->n_y, l.kv_pos = t->pos, l.kv_head_sz = n_blocks * stride;
    l.kv = (struct kv_view) { kv, stride, t->table ? table : NULL };
    memset(kv, 0xa5, kv_sz);
    const size_t half = t->m / 2;
    run(c->kern, t->w, &l, 0, half, 0, pack_panels(n), c->scratch);
    run(c->kern, t->w, &l, half, t->m, 0, pack_panels(n), c->scratch);
    for (size_t m = 0; m < t->m; m++) {
        const float *row = plain + m * n;
        check(c, same_bits(y + m * t->n_y, row, t->n_y), "kv: y part of row %zu differs", m);
        for (size_t i = t->n_y; i < n; i += t->d_head) {
            const int value = i >= t->n_y + t->n_kv;
            check_position(c, t, &l, m, (i - t->n_y - (value ? t->n_kv : 0)) / t->d_head, value, row + i, touched);
        }
    }
    size_t spoilt = 0;
    for (size_t i = 0; i < kv_sz; i++) spoilt += !touched[i] && (uint8_t)kv[i] != 0xa5;
    check(c, spoilt == 0, "kv: %zu bytes written beside keys and values", spoilt);
    free(rows);
    free(w);
    free(touched);
    guarded_free_all();
}

/* Every byte of a block is some position's. */
static void check_kv_sizes(struct check *c, enum kv_type t, size_t d_head)
{
    const size_t sz = kv_block_sz(t, d_head);
    char *block = calloc(sz, 1);
    const size_t want = t == KV_INT ? 84 * d_head : t == KV_Q8 ? 68 * d_head : 64 * d_head * kv_elem_sz(t);
    check(c, sz == want, "kv type %d d_head %zu: a block of %zu bytes", t, d_head, sz);
    for (size_t pos = 0; pos < 32; pos++)
        for (int value = 0; value < 2; value++) kv_fill(t, block, pos, d_head, value, 1);
    size_t nobodys = 0;
    for (size_t i = 0; i < sz; i++) nobodys += !block[i];
    check(c, nobodys == 0, "kv type %d d_head %zu: %zu bytes are no position's", t, d_head, nobodys);
    free(block);
}

void check_kv(struct check *c)
{
    for (int type = 0; type < KV_TYPES; type++)
        for (int table = 0; table < 2; table++) {
            const enum kv_type t = (enum kv_type)type;
            const enum packed_type f32 = PK_F32, bf16 = PK_BF16_PAIR, int16 = PK_I16_PAIR, int8 = PK_I8_QUAD;
            const enum packed_type q8 = PK_Q8_QUAD, a8 = PK_Q8_QUAD_A8;
            const struct kv_case cases[] = {
                { 1, 384, 384, 384, 64, 33, 0, table, t, f32 },  { 1, 64, 64, 64, 64, 33, 447, table, t, f32 },
                { 13, 64, 64, 64, 32, 40, 20, table, t, f32 },   { 5, 128, 128, 128, 64, 40, 29, table, t, f32 },
                { 70, 0, 128, 128, 64, 16, 0, table, t, f32 },   { 3, 80, 80, 80, 80, 20, 31, table, t, f32 },
                { 7, 24, 24, 24, 8, 20, 64, table, t, f32 },     { 4, 17, 48, 48, 24, 20, 5, table, t, f32 },
                { 33, 0, 0, 64, 64, 20, 3, table, t, f32 },      { 2, 5, 0, 40, 40, 9, 63, table, t, f32 },
                { 70, 64, 128, 128, 64, 16, 7, table, t, bf16 }, { 29, 17, 48, 48, 24, 21, 5, table, t, bf16 },
                { 70, 64, 128, 128, 64, 160, 7, table, t, int16 }, { 29, 17, 48, 48, 24, 21, 5, table, t, int16 },
                { 70, 64, 128, 128, 64, 16, 7, table, t, int8 }, { 29, 17, 48, 48, 24, 21, 5, table, t, int8 },
                { 70, 64, 128, 128, 64, 64, 7, table, t, q8 },   { 29, 17, 48, 48, 24, 21, 5, table, t, q8 },
                { 70, 64, 128, 128, 64, 64, 7, table, t, a8 },   { 15, 32, 96, 96, 96, 21, 9, table, t, int16 },
            };
            for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                if (!kv_is_ints(t) || (cases[i].n_y | cases[i].n_kv | cases[i].d_head) % KV_INT_D == 0) check_kv_case(c, &cases[i]);
            check_kv_sizes(c, t, table ? 160 : 64);
        }
}

/* ---- stored types --------------------------------------------------------------------------------------------------------------- */
static double f16_value(uint16_t h)
{
    const int e = h >> 10 & 31, m = h & 1023;
    const double v = e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -v : v;
}

static void check_f16(struct check *c)
{
    for (uint32_t h = 0; h < 65536; h++) {
        const float f = f16_to_f32((uint16_t)h);
        if ((h & 0x7c00) == 0x7c00) {
            check(c, (h & 1023) ? isnan(f) : isinf(f), "f16 %04x: widened to %g", h, (double)f);
            continue;
        }
        check(c, (double)f == f16_value((uint16_t)h), "f16 %04x: widened to %g", h, (double)f);
        check(c, f16_from_f32(f) == h, "f16 %04x: comes back as %04x", h, f16_from_f32(f));
        if ((h & 0x7fff) >= 0x7bff) continue;
        const float next = f16_to_f32((uint16_t)(h + 1)), mid = (f + next) / 2; /* exact in f32 */
        check(c, f16_from_f32(mid) == (h & 1 ? h + 1 : h), "f16 between %04x and its neighbour does not round to even", h);
        check(c, f16_from_f32(nextafterf(mid, next)) == h + 1, "f16 just above the middle after %04x", h);
        check(c, f16_from_f32(nextafterf(mid, f)) == h, "f16 just below the middle after %04x", h);
    }
    check(c, f16_from_f32(65519.99f) == 0x7bff && f16_from_f32(65520) == 0x7c00 && f16_from_f32(-INFINITY) == 0xfc00, "f16 overflow");
    check(c, bf16_from_f32(1.00390625f) == 0x3f80 && bf16_from_f32(1.01171875f) == 0x3f82, "bf16 does not round to even");
}

/* Rows of x with a single 1 give the weights of one k each back, exactly; so does embed. */
static void check_widening(struct check *c, enum dtype t)
{
    enum { N = 75 };
    static const size_t together[] = { 1, 5, 17 }; /* the bodies of few rows, of some and of many */
    const size_t k_len = dtype_block(t) == KBLOCK ? 2 * KBLOCK : 64, row_sz = dtype_row_sz(t, k_len);
    float *x = calloc(k_len * k_len, sizeof *x), *y = guarded_floats(k_len * N), *row = guarded_floats(k_len);
    float *wide = malloc(N * k_len * sizeof *wide);
    void *rows = malloc(N * row_sz);
    rnd_rows(rows, t, N, k_len);
    for (size_t i = 0; i < N; i++) dtype_widen_row(wide + i * k_len, t, (char *)rows + i * row_sz, k_len);
    for (size_t k = 0; k < k_len; k++) x[k * k_len + k] = 1;
    void *w = pack_all(rows, packed_as_stored(t), N, k_len);
    struct linear l = { .w = w, .n = N, .k = (uint32_t)k_len, .n_y = N, .x = x, .ld_x = k_len, .y = y, .ld_y = N };
    for (size_t i = 0; i < (c->quick ? 2 : 3); i++)
        for (size_t from = 0, end; from < k_len; from += c->quick ? 37 : together[i]) {
            end = from + together[i] < k_len ? from + together[i] : k_len;
            run(c->kern, packed_as_stored(t), &l, from, end, 0, pack_panels(N), c->scratch);
            for (size_t k = from; k < end; k++)
                for (size_t n = 0; n < N; n++)
                    check(c, y[k * N + n] == wide[n * k_len + k], "%s: w[%zu, %zu] is %g, want %g", dtype_name(t), n, k,
                          (double)y[k * N + n], (double)wide[n * k_len + k]);
        }
    for (size_t i = 0; i < N; i++) {
        c->kern->embed[t](row, w, i, k_len);
        for (size_t k = 0; k < k_len; k++)
            check(c, row[k] == wide[i * k_len + k], "%s: embedded row %zu differs at %zu", dtype_name(t), i, k);
    }
    free(x);
    free(rows);
    free(wide);
    free(w);
    guarded_free_all();
}

/* Panels have the size in kern.h, and no more: bytes per 32 outputs and 256 weights. */
static void check_panel_sizes(struct check *c)
{
    static const size_t want[DT_COUNT] = {
        [DT_F32] = 32768, [DT_F16] = 16384, [DT_BF16] = 16384, [DT_Q4_0] = 4608, [DT_Q4_1] = 5120, [DT_Q5_0] = 5632, [DT_Q5_1] = 6144,
        [DT_Q8_0] = 8704, [DT_Q2_K] = 5248, [DT_Q3_K] = 4672, [DT_Q4_K] = 4736, [DT_Q5_K] = 5760, [DT_Q6_K] = 8768,
        [DT_IQ4_XS] = 8512, [DT_Q4_1F] = 6144, [DT_Q8_1F] = 10240,
    };
    for (int t = 0; t < DT_COUNT; t++)
        check(c, pack_panel_sz((enum packed_type)t, 256) == want[t] && pack_sz((enum packed_type)t, 33, 512) == 4 * want[t],
              "%s: a panel takes %zu bytes", dtype_name((enum dtype)t), pack_panel_sz((enum packed_type)t, 256));
}

static void check_stored_block(struct check *c)
{
    uint8_t q5_1[24] = { 0 }; /* d = 0.5, m = -1, element 0: 3 + 16, element 16: 9 */
    const uint16_t d = f16_from_f32(0.5f), m = f16_from_f32(-1);
    float y[32];
    memcpy(q5_1, &d, 2);
    memcpy(q5_1 + 2, &m, 2);
    q5_1[4] = 1;
    q5_1[8] = 0x93;
    dtype_widen_row(y, DT_Q5_1, q5_1, 32);
    check(c, y[0] == 8.5f && y[16] == 3.5f && y[1] == -1, "q5_1 block: %g %g %g", (double)y[0], (double)y[16], (double)y[1]);
    check(c, dtype_row_sz(DT_Q4_0, 64) == 36 && dtype_row_sz(DT_Q5_1, 32) == 24 && dtype_row_sz(DT_Q8_0, 32) == 34, "row sizes");
}

void check_types(struct check *c)
{
    if (c->kern->level == CPU_C) check_f16(c);
    check_stored_block(c);
    check_panel_sizes(c);
    for (int t = 0; t < DT_COUNT; t++) check_widening(c, (enum dtype)t);
}
