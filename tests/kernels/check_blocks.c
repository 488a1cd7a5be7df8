/* steno: checks of products of 8 bits by blocks. SPDX-License-Identifier: MIT
 *
 * kern.h defines every bit of these sums, so all levels, the twin included, are compared with that definition, computed here from the
 * stored rows; what rounding costs is compared with double. */
#include "rows_alone.h"
#include "kern/ref.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What is packed as what. */
static const struct kind { enum packed_type t; enum dtype from; } kinds[] = {
    { PK_Q8_QUAD, DT_F32 },    { PK_Q8_QUAD, DT_Q8_0 },    { PK_Q4_QUAD, DT_Q4_0 },
    { PK_Q8_QUAD_A8, DT_F32 }, { PK_Q8_QUAD_A8, DT_Q8_0 }, { PK_Q8_QUAD, DT_Q5_0 },    { PK_Q8_QUAD_A8, DT_Q5_0 },
    { PK_Q4_1_QUAD, DT_Q4_1 }, { PK_Q5_0_QUAD, DT_Q5_0 },  { PK_Q5_1_QUAD, DT_Q5_1 },  { PK_Q2_K_QUAD, DT_Q2_K },
    { PK_Q3_K_QUAD, DT_Q3_K }, { PK_Q4_K_QUAD, DT_Q4_K },  { PK_Q5_K_QUAD, DT_Q5_K },  { PK_Q6_K_QUAD, DT_Q6_K },
    { PK_IQ4_XS_QUAD, DT_IQ4_XS },
};
enum { KINDS = sizeof kinds / sizeof *kinds, BLOCK = 32, MAX = 32639 /* of an integer of 16 bits that x becomes */ };

struct shape { size_t m, n, k, ld_x; };

/* Rows of weights, or of x, as d * q + m: d, m [n, blocks of k, halves], q [n, k]. */
struct defined { float *d, *m; int *q; size_t blocks; };
static int is_k(enum dtype t) { return dtype_block(t) == KBLOCK; }
static size_t halves_apart(enum dtype t) { return t == DT_Q2_K || t == DT_Q3_K || t == DT_Q6_K; } /* 1: both have their own scale */
static int has_min(enum dtype t) { return t == DT_Q4_1 || t == DT_Q5_1 || t == DT_Q2_K || t == DT_Q4_K || t == DT_Q5_K; }

static size_t blocks_of(size_t k) { return (k + BLOCK - 1) / BLOCK; }
static size_t part_of(size_t b, size_t k) { return k - b * BLOCK < BLOCK ? k - b * BLOCK : BLOCK; }

static float largest(const float *v, size_t n)
{
    float max = 0;
    for (size_t i = 0; i < n; i++) max = fabsf(v[i]) > max ? fabsf(v[i]) : max;
    return max;
}

static float half_at(const uint8_t *p)
{
    uint16_t h;
    memcpy(&h, p, 2);
    return f16_to_f32(h);
}

static void define_k_block(float *d, float *m, int *q, enum dtype from, const uint8_t *stored, size_t b)
{
    struct k_block of;
    k_block_split(&of, from, stored);
    for (size_t i = 0; i < BLOCK; i++) q[i] = of.q[b * BLOCK + i];
    for (size_t half = 0; half < 2; half++) {
        const size_t run = halves_apart(from) ? 2 * b + half : b;
        d[half] = f16_to_f32(of.d) * (float)of.scale[run];
        m[half] = -f16_to_f32(of.dmin) * (float)of.min[run];
    }
}

/* Low bits, a fifth one, a minimum: what q4_1, q5_0 and q5_1 have. */
static void define_min_block(float *d, float *m, int *q, enum dtype from, const uint8_t *p)
{
    const uint8_t *fifth = p + (has_min(from) ? 4 : 2), *low = fifth + (from == DT_Q4_1 ? 0 : 4);
    d[0] = d[1] = half_at(p);
    if (has_min(from)) m[0] = m[1] = half_at(p + 2);
    for (size_t i = 0; i < BLOCK; i++) {
        q[i] = i < 16 ? low[i] & 15 : low[i - 16] >> 4;
        if (from != DT_Q4_1) q[i] += 16 * (fifth[i / 8] >> i % 8 & 1) - (from == DT_Q5_0 ? 16 : 0);
    }
}

static void define_block(float *d, float *m, int *q, enum dtype from, const uint8_t *rows, size_t row, size_t b, size_t k)
{
    m[0] = m[1] = 0;
    if (from == DT_F32) {
        float x[BLOCK];
        memcpy(x, rows + (row * k + b * BLOCK) * 4, part_of(b, k) * 4);
        const float exact = largest(x, part_of(b, k)) / 127;
        d[0] = d[1] = f16_to_f32(f16_from_f32(exact));
        for (size_t i = 0; i < part_of(b, k); i++) q[i] = *d > 0 ? (int)lrintf(x[i] * (1 / exact)) : 0;
        return;
    }
    const size_t per = is_k(from) ? KBLOCK / BLOCK : 1;
    const uint8_t *p = rows + row * dtype_row_sz(from, k) + dtype_row_sz(from, b / per * per * BLOCK);
    d[0] = d[1] = half_at(p);
    if (is_k(from)) define_k_block(d, m, q, from, p, b % per);
    else if (from == DT_Q4_1 || from == DT_Q5_0 || from == DT_Q5_1) define_min_block(d, m, q, from, p);
    else for (size_t i = 0; i < BLOCK; i++) q[i] = from == DT_Q8_0 ? (int8_t)p[2 + i] : (i < 16 ? p[2 + i] & 15 : p[2 + i - 16] >> 4) - 8;
}

static struct defined defined_new(size_t n, size_t k)
{
    const size_t blocks = blocks_of(k);
    const size_t sz = 2 * n * blocks * sizeof(float);
    return (struct defined) { malloc(sz), malloc(sz), malloc(n * k * sizeof(int)), blocks };
}

static struct defined define(enum dtype from, const void *rows, size_t n, size_t k)
{
    const struct defined w = defined_new(n, k);
    for (size_t i = 0; i < n; i++)
        for (size_t b = 0; b < w.blocks; b++) {
            const size_t at = 2 * (i * w.blocks + b);
            define_block(w.d + at, w.m + at, w.q + i * k + b * BLOCK, from, rows, i, b, k);
        }
    return w;
}

static void defined_free(struct defined *w)
{
    free(w->d);
    free(w->m);
    free(w->q);
}

static int has_16(enum packed_type t) { return t != PK_Q8_QUAD_A8 && t != PK_Q4_QUAD; }
static float steps_of(enum packed_type t) { return has_16(t) ? MAX : 127; }
static float min_of(enum packed_type t) { return has_16(t) ? 0x1p-111f : 0x1p-119f; } /* smaller blocks count as zeros */

static struct defined define_x(enum packed_type t, const float *x, size_t ld_x, size_t m, size_t k)
{
    const struct defined d = defined_new(m, k);
    for (size_t i = 0; i < m * d.blocks; i++) {
        const size_t b = i % d.blocks, len = part_of(b, k);
        const float *xb = x + i / d.blocks * ld_x + b * BLOCK, max = largest(xb, len);
        int *q = d.q + i / d.blocks * k + b * BLOCK;
        d.d[i] = max < min_of(t) ? 0 : max / steps_of(t);
        for (size_t j = 0; j < len; j++) q[j] = d.d[i] > 0 ? (int)rintf(xb[j] * (steps_of(t) / max)) : 0;
    }
    return d;
}

/* Output n of row m of x. */
static float defined_sum(const struct kind *kind, const struct defined *w, size_t n, const struct defined *x, size_t m, size_t k)
{
    const size_t runs = 1 + halves_apart(kind->from), len = BLOCK / runs;
    float acc = 0;
    for (size_t b = 0; b < w->blocks; b++)
        for (size_t run = 0; run < runs; run++) {
            const int *q = w->q + n * k + b * BLOCK + run * len, *of_x = x->q + m * k + b * BLOCK + run * len;
            const size_t at = 2 * (n * w->blocks + b) + run;
            const float scale = x->d[m * w->blocks + b];
            int sum = 0, whole = 0;
            for (size_t i = 0; i < len && run * len + i < part_of(b, k); i++) sum += q[i] * of_x[i], whole += of_x[i];
            acc = fmaf((float)sum, w->d[at] * scale, acc);
            if (has_min(kind->from)) acc = fmaf(w->m[at], (float)whole * scale, acc);
        }
    return acc;
}

static double activate(double x, int act)
{
    if (act == ACT_GELU_ERF) return 0.5 * x * (1 + erf(x * sqrt(0.5)));
    if (act == ACT_GELU_TANH) return 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
    return act == ACT_RELU && !(x > 0) ? 0 : x;
}

/* ---- shapes --------------------------------------------------------------------------------------------------------------------- */
static void check_defined(struct check *c, const struct kind *kind, const struct shape *s, const struct linear *l, const float *sums,
                          const float *y)
{
    const int exact = l->act == ACT_NONE || l->act == ACT_RELU;
    for (size_t m = 0; m < s->m; m++)
        for (size_t n = 0; n < s->n; n++) {
            const float got = y[m * l->ld_y + n], v = sums[m * s->n + n] + (l->bias ? l->bias[n] : 0);
            const float a = (float)activate((double)v, l->act), want = l->res ? a + l->res[m * l->ld_res + n] : a;
            const double tol = exact ? 0 : 2e-7 * (7 + fabs((double)v)) + 4 * FLT_EPSILON * fabs((double)want);
            if (!check(c, exact ? got == want : fabs((double)got - (double)want) <= tol,
                       "%s of %s m %zu/%zu n %zu/%zu k %zu ld_x %zu act %d: got %.9g, want %.9g", packed_name(kind->t),
                       dtype_name(kind->from), m, s->m, n, s->n, s->k, s->ld_x, l->act, (double)got, (double)want))
                return;
        }
}

/* A row of x costs half a step of its block's scale per weight, and sums of f32 their rounding. */
static void check_double(struct check *c, const struct kind *kind, const struct shape *s, const float *x, const struct defined *w,
                         const float *sums)
{
    const double rounding = 2 * FLT_EPSILON * sqrt((double)w->blocks);
    double error = 0, expected = 0, *steps = malloc(w->blocks * sizeof *steps);
    for (size_t m = 0; m < s->m; m++) {
        const float *row = x + m * s->ld_x;
        for (size_t b = 0; b < w->blocks; b++) steps[b] = (double)largest(row + b * BLOCK, part_of(b, s->k)) / (double)steps_of(kind->t);
        for (size_t n = 0; n < s->n; n++) {
            double sum = 0, max = 0, square = 0;
            for (size_t b = 0; b < w->blocks; b++) {
                const size_t of = 2 * (n * w->blocks + b);
                const double step = steps[b], half = 0.5001 * step + rounding * step;
                const int *q = w->q + n * s->k + b * BLOCK;
                double squares = 0;
                for (size_t i = 0; i < part_of(b, s->k); i++) {
                    const double least = w->m[of + i / 16], factor = w->d[of + i / 16] * q[i], v = factor + least, at = row[b * BLOCK + i];
                    sum += v * at;
                    max += fabs(v) * half + (fabs(factor) + fabs(least)) * rounding * (fabs(at) + step);
                    squares += v * v;
                }
                square += squares * step * step / 12;
            }
            const double off = sums[m * s->n + n] - sum;
            error += off * off, expected += square;
            if (!check(c, fabs(off) <= max, "%s m %zu n %zu k %zu: %.9g is %.3g from the product, more than %.3g", packed_name(kind->t), m,
                       n, s->k, (double)sums[m * s->n + n], fabs(off), max))
                break;
        }
    }
    free(steps);
    /* Fewer products have too few blocks for a bound: in 2569 shapes 0.97 on average, to 5.4 in small ones, here to 1.25. All weights of a
     * block have its minimum in common, and so have errors of sums. */
    if (!has_16(kind->t) && !has_min(kind->from) && s->m * s->n >= 1024)
        check(c, error <= 1.5 * expected, "%s %zu x %zu x %zu: errors are %.2f of what rounding costs", packed_name(kind->t), s->m, s->n,
              s->k, sqrt(error / expected));
}

/* k of a K type: whole blocks. */
static size_t whole(const struct kind *kind, size_t k) { return is_k(kind->from) ? (k + KBLOCK - 1) / KBLOCK * KBLOCK : k; }

static void check_shape(struct check *c, const struct kind *kind, struct shape s)
{
    if (s.ld_x >= s.k) s.ld_x += whole(kind, s.k) - s.k;
    s.k = whole(kind, s.k);
    const size_t ld_y = s.n + 1 + rnd() % 3, n_x = (s.m - 1) * s.ld_x + s.k;
    void *rows = malloc(s.n * dtype_row_sz(kind->from, s.k) + 1);
    float *bias = guarded_floats(s.n), *res = guarded_floats(s.m * ld_y), *sums = malloc(s.m * s.n * sizeof *sums);
    float *x = guarded_floats(n_x), *y = guarded_floats((s.m + 2) * ld_y);
    rnd_rows(rows, kind->from, s.n, s.k);
    struct defined def = define(kind->from, rows, s.n, s.k);
    void *w = pack_as(rows, kind->t, kind->from, s.n, s.k);
    fill_canary(x, n_x); /* NaN where rows are padded */
    for (size_t m = 0; m < s.m; m++)
        for (size_t k = 0; k < s.k; k++) x[m * s.ld_x + k] = rnd_normal() * (k % 41 == 7 ? 50 : 1); /* outlier channels */
    rnd_floats(bias, s.n, 1);
    rnd_floats(res, s.m * ld_y, 1);
    struct defined def_x = define_x(kind->t, x, s.ld_x, s.m, s.k);
    for (size_t i = 0; i < s.m * s.n; i++) sums[i] = defined_sum(kind, &def, i % s.n, &def_x, i / s.n, s.k);
    check_double(c, kind, &s, x, &def, sums);
    static const uint8_t act_of[] = { ACT_NONE, ACT_NONE, ACT_GELU_ERF, ACT_GELU_TANH, ACT_RELU };
    for (int mode = 0; mode < 5; mode += 1 + (c->quick > 0)) {
        struct linear l = { .w = w, .bias = mode ? bias : NULL, .n = (uint32_t)s.n, .k = (uint32_t)s.k, .n_y = (uint32_t)s.n,
                            .act = act_of[mode], .x = x, .ld_x = s.ld_x, .y = y + ld_y, .ld_y = ld_y,
                            .res = mode == 1 || mode == 3 ? res : NULL, .ld_res = ld_y };
        if (s.m * s.n * s.k > 100000 && mode > 1) break;
        fill_canary(y, (s.m + 2) * ld_y);
        run(c->kern, kind->t, &l, 0, s.m, 0, pack_panels(s.n), c->scratch);
        for (size_t i = 0; i < (s.m + 2) * ld_y; i++)
            if (i < ld_y || i >= (s.m + 1) * ld_y || i % ld_y >= s.n) check(c, is_canary(y[i]), "%s wrote outside y", packed_name(kind->t));
        check_defined(c, kind, &s, &l, sums, y + ld_y);
        if (c->kern->level != CPU_C || mode == 1) check_rows_alone(c, kind->t, s.m, &l, y + ld_y);
        if (pack_panels(s.n) > 1) { /* the second call may use rows that the first has rounded */
            float *again = guarded_floats((s.m + 2) * ld_y);
            fill_canary(again, (s.m + 2) * ld_y);
            l.y = again + ld_y;
            run(c->kern, kind->t, &l, 0, s.m, 0, 1, c->scratch);
            l.x_cached = 1;
            c->kern->linear[kind->t](&l, 0, s.m, 1, pack_panels(s.n), c->scratch);
            check(c, same_bits(again, y, (s.m + 2) * ld_y), "%s m %zu n %zu k %zu: rows kept from call to call give other bits",
                  packed_name(kind->t), s.m, s.n, s.k);
        }
    }
    defined_free(&def);
    defined_free(&def_x);
    free(rows);
    free(sums);
    free(w);
    guarded_free_all();
}

static void check_shapes(struct check *c, const struct kind *kind)
{
    static const size_t n_of[] = { 1, 7, 31, 32, 33, 64, 70, 97, 129, 160 };
    static const size_t k_of[] = { 32, 64, 160, 512, 2048 };
    const int fast = c->kern->level != CPU_C && !c->quick;
    for (size_t m = 1; m <= 13; m++)
        for (size_t i = 0; i < (c->quick ? 2 : 5); i++) {
            const size_t n = n_of[(m * 3 + i) % 10];
            if (i < 4 || fast) check_shape(c, kind, (struct shape) { m, i == 4 ? 33 : n, k_of[i], k_of[i] + m % 3 });
        }
    check_shape(c, kind, (struct shape) { c->quick ? 25 : 96, 47, 96, 96 });
    check_shape(c, kind, (struct shape) { 40, 70, 96, 32 });   /* convolution: rows overlap */
    check_shape(c, kind, (struct shape) { 1, 300, 64, 64 });   /* streams side by side, and what is left of them */
    if (kind->from == DT_F32)
        for (size_t k = 1; k <= 70; k += c->quick ? 23 : 3) check_shape(c, kind, (struct shape) { 1 + k % 6, 33, k, k });
    if (!fast) return;
    check_shape(c, kind, (struct shape) { 96, 40, 512, 512 });
    for (size_t m = 95; m <= 97; m += 2) check_shape(c, kind, (struct shape) { m, 33, 64, 64 }); /* rows of a slice */
    for (size_t m = GEMM_ROWS - 1; m <= GEMM_ROWS + 1; m++) check_shape(c, kind, (struct shape) { m, 33, 64, 64 });
    check_shape(c, kind, (struct shape) { GEMM_ROWS + 17, 33, 64, 64 });
    check_shape(c, kind, (struct shape) { 100, 33, 5120, 5121 });    /* more rows than fit the scratch at a time */
    if (kind->from == DT_F32) check_shape(c, kind, (struct shape) { 5, 33, LOWP_K_MAX - 1, LOWP_K_MAX }); /* not even a tile of them */
}

/* ---- what the types promise ----------------------------------------------------------------------------------------------------- */
/* What packing made of the weights, read back by embed; stored blocks keep their bits. */
static void check_packing(struct check *c, const struct kind *kind, size_t k)
{
    enum { N = 35 };
    void *rows = malloc(N * dtype_row_sz(kind->from, k));
    float *back = guarded_floats(k), *f32 = rows;
    rnd_rows(rows, kind->from, N, k);
    if (kind->from == DT_F32) {
        memset(f32 + k, 0, k * sizeof *f32);
        for (size_t i = 0; i < k; i++) f32[2 * k + i] *= 0x1p-40f, f32[3 * k + i] *= 0x1p-14f; /* d becomes 0, or a subnormal */
    }
    struct defined def = define(kind->from, rows, N, k);
    void *w = pack_as(rows, kind->t, kind->from, N, k);
    for (size_t n = 0; n < N; n++) {
        c->kern->embed[kind->t](back, w, n, k);
        for (size_t i = 0; i < k; i++) {
            const size_t at = 2 * (n * def.blocks + i / BLOCK) + i % BLOCK / 16;
            const float want = fmaf(def.d[at], (float)def.q[n * k + i], def.m[at]);
            check(c, back[i] == want, "%s of %s k %zu: weight %zu of output %zu is %.9g, want %.9g", packed_name(kind->t),
                  dtype_name(kind->from), k, i, n, (double)back[i], (double)want);
            if (kind->from != DT_F32) continue;
            const double max = largest(f32 + n * k + i / BLOCK * BLOCK, part_of(i / BLOCK, k));
            const double tol = max / 127 * 0.5001 + max * 0x1p-11 + 127 * 0x1p-25; /* q, and d as f16, which may be subnormal */
            check(c, fabs((double)back[i] - (double)f32[n * k + i]) <= tol, "%s k %zu: weight %zu of output %zu is %.9g, packed from %.9g",
                  packed_name(kind->t), k, i, n, (double)back[i], (double)f32[n * k + i]);
        }
    }
    static const struct { enum packed_type t; size_t per_block; } sizes[] = { /* 32 weights of a panel */
        { PK_Q4_QUAD, 18 * 32 },    { PK_Q4_1_QUAD, 20 * 32 },   { PK_Q5_0_QUAD, 22 * 32 },  { PK_Q5_1_QUAD, 24 * 32 },
        { PK_Q2_K_QUAD, 82 * 8 },   { PK_Q3_K_QUAD, 73 * 8 },    { PK_Q4_K_QUAD, 74 * 8 },   { PK_Q5_K_QUAD, 90 * 8 },
        { PK_Q6_K_QUAD, 105 * 8 },  { PK_IQ4_XS_QUAD, 133 * 8 },
    };
    size_t per_block = 34 * 32;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i].t == kind->t) per_block = sizes[i].per_block;
    check(c, pack_panel_sz(kind->t, k) == blocks_of(k) * per_block, "%s: a panel takes %zu bytes", packed_name(kind->t),
          pack_panel_sz(kind->t, k));
    check(c, pack_takes(kind->t, kind->from) && !pack_takes(kind->t, DT_Q4_1F) && !pack_takes(PK_Q4_QUAD, DT_F32), "pack_takes");
    defined_free(&def);
    free(rows);
    free(w);
    guarded_free_all();
}

/* M rows of x by N rows of weights, in one call. */
enum { M = 15, N = 37, K = KBLOCK };

static void product(struct check *c, const struct kind *kind, float *y, const void *rows, const float *x)
{
    void *w = pack_as(rows, kind->t, kind->from, N, K);
    const struct linear l = { .w = w, .n = N, .k = K, .n_y = N, .x = x, .ld_x = K, .y = y, .ld_y = N };
    run(c->kern, kind->t, &l, 0, M, 0, pack_panels(N), c->scratch);
    free(w);
}

/* Bits of all quants and small scales, zeros or ones. Scales of f16, which some types have at the end of a block, stay. */
static void fill_bits(uint8_t *row, enum dtype from, size_t k, uint8_t bits)
{
    const size_t sz = dtype_row_sz(from, (size_t)dtype_block(from)), f16 = has_min(from) ? 4 : 2;
    for (size_t i = 0; i < dtype_row_sz(from, k); i++)
        if (halves_apart(from) ? i % sz < sz - f16 : i % sz >= f16) row[i] = bits;
}

/* The largest sums there are: weights at both ends of what a byte and a nibble hold (-128 as well, which files may have) by 127 and -127.
 * Rows of x: one sign throughout, both in turn, at random; two whose low bytes are -128. */
static void check_largest_sums(struct check *c, const struct kind *kind)
{
    static const int8_t end[] = { -128, 127, -127, -128 };
    uint8_t *rows = malloc(N * dtype_row_sz(kind->from, K));
    float x[M * K], y[M * N];
    rnd_rows(rows, kind->from, N, K);
    const size_t row_sz = dtype_row_sz(kind->from, K);
    for (size_t n = 0; n < 4 && kind->t > PK_Q4_QUAD; n++) fill_bits(rows + n * row_sz, kind->from, K, n % 2 ? 0 : 0xff);
    for (size_t n = 0; n < N && kind->t <= PK_Q4_QUAD; n++)
        for (size_t i = 0; i < K; i++) {
            uint8_t *block = rows + n * dtype_row_sz(kind->from, K) + dtype_row_sz(kind->from, i / BLOCK * BLOCK);
            const unsigned at = n < 4 ? (unsigned)n : rnd() % 4;
            if (kind->from == DT_Q8_0) block[2 + i % BLOCK] = (uint8_t)end[at];
            else if (kind->from == DT_Q4_0) block[2 + i % 16] = n < 2 ? (n ? 0xff : 0) : rnd() % 2 ? 0xf0 : 0xff;
        }
    for (size_t i = 0; i < M * K; i++) x[i] = i / K < 2 ? (i / K ? 3.f : -3.f) : (i / K == 2 ? i % 2 : rnd() % 2) ? 3.f : -3.f;
    for (size_t i = 10 * K; i < 12 * K; i++) /* low bytes of -128 */
        if (i % BLOCK) x[i] = 3.f * (float)((int)(rnd() % 254) * 256 - 32384) / MAX;
    product(c, kind, y, rows, x);
    struct defined def = define(kind->from, rows, N, K), def_x = define_x(kind->t, x, K, M, K);
    for (size_t i = 0; i < M * N; i++) {
        const float want = defined_sum(kind, &def, i % N, &def_x, i / N, K);
        check(c, y[i] == want, "%s of %s: row %zu output %zu of largest sums is %.9g, want %.9g", packed_name(kind->t),
              dtype_name(kind->from), i / N, i % N, (double)y[i], (double)want);
    }
    defined_free(&def);
    defined_free(&def_x);
    free(rows);
}

/* Magnitudes far apart, zeros, subnormals, the smallest block that has a scale and the largest that has none; ties go to even. */
static void check_extremes(struct check *c, const struct kind *kind)
{
    void *rows = malloc(N * dtype_row_sz(kind->from, K));
    float x[M * K], y[M * N];
    rnd_rows(rows, kind->from, N, K);
    rnd_floats(x, M * K, 1);
    for (size_t i = 0; i < K; i++) {
        if (i % 40 == 0) x[i] = 1e30f;
        x[K + i] *= 1e-30f, x[2 * K + i] = 0, x[3 * K + i] *= 0x1p-130f, x[4 * K + i] = i % 2 ? 0x1p-119f : -0x1p-120f;
        x[5 * K + i] = 0x1.fp-120f, x[6 * K + i] = i < 32 ? 0x1p-140f : x[6 * K + i], x[7 * K + i] = i < 64 ? 0 : 1;
        x[10 * K + i] = i % 2 ? 0x1p-111f : -0x1p-112f, x[11 * K + i] = 0x1.fp-112f;
        x[8 * K + i] = i % BLOCK ? (float)(i % BLOCK) - 15.5f : 127, x[9 * K + i] = FLT_MAX * (i % 3 ? 1.f : -1.f);
    }
    product(c, kind, y, rows, x);
    struct defined def = define(kind->from, rows, N, K), def_x = define_x(kind->t, x, K, M, K);
    for (size_t i = 0; i < M * N; i++) {
        const float want = defined_sum(kind, &def, i % N, &def_x, i / N, K);
        check(c, y[i] == want || (isnan(y[i]) && isnan(want)), "%s of %s: extreme row %zu output %zu is %.9g, want %.9g",
              packed_name(kind->t), dtype_name(kind->from), i / N, i % N, (double)y[i], (double)want);
    }
    defined_free(&def);
    defined_free(&def_x);
    free(rows);
}

/* A NaN or an infinity spoils every output of its own row; as a weight, its own output. */
static void check_not_finite(struct check *c, const struct kind *kind)
{
    static const float bad[] = { NAN, INFINITY, -INFINITY };
    void *rows = malloc(N * dtype_row_sz(kind->from, K));
    float x[M * K], good[M * N], y[M * N];
    rnd_rows(rows, kind->from, N, K);
    rnd_floats(x, M * K, 1);
    product(c, kind, good, rows, x);
    for (size_t i = 0; i < 3; i++) {
        const size_t m = 1 + 5 * i, n = 3 + 11 * i, at = m * K + (i * 31 + 8) % K;
        const float kept = x[at];
        x[at] = bad[i];
        product(c, kind, y, rows, x);
        size_t spoilt = 0;
        for (size_t j = 0; j < N; j++) spoilt += isnan(y[m * N + j]) != 0;
        check(c, spoilt == N, "%s: %g in x leaves %zu outputs of its row as they were", packed_name(kind->t), (double)bad[i], N - spoilt);
        memcpy(y + m * N, good + m * N, N * sizeof *y);
        check(c, same_bits(y, good, M * N), "%s: %g in x spoils another row", packed_name(kind->t), (double)bad[i]);
        x[at] = kept;
        if (kind->from != DT_F32) continue;
        float *weight = (float *)rows + n * K + 2;
        const float was = *weight;
        *weight = i == 2 ? 0x1p30f : bad[i]; /* the last: its scale is no f16 */
        product(c, kind, y, rows, x);
        spoilt = 0;
        for (size_t j = 0; j < M; j++) spoilt += isnan(y[j * N + n]) != 0, y[j * N + n] = good[j * N + n];
        check(c, spoilt == M && same_bits(y, good, M * N), "%s: %g as a weight spoils %zu rows, or other outputs", packed_name(kind->t),
              (double)*weight, spoilt);
        *weight = was;
    }
    free(rows);
}

/* The reported loss of rows of x, against the definition: never less, and for ordinary rows hardly more. */
static void check_loss_of_x(struct check *c, enum packed_type t)
{
    static const char *const name[] = { "ordinary", "outliers", "small", "large", "halves", "one tiny block", "tiny", "zeros" };
    enum { SMALL = 2, LARGE, HALVES, ONE_TINY, TINY, ZEROS };
    static const size_t k_of[] = { 1, 7, 31, 32, 33, 70, 160, 384, 512, 1280 };
    for (size_t i = 0; i < sizeof k_of / sizeof *k_of; i++)
        for (size_t row = 0; row < sizeof name / sizeof *name; row++) {
            const size_t k = k_of[i];
            const float scale = row == SMALL ? 0x1p-70f : row == LARGE ? 0x1p+120f : row == TINY ? 0x1p-90f : row == ZEROS ? 0 : 1;
            float *x = guarded_floats(k);
            double error = 0, norm = 0;
            for (size_t j = 0; j < k; j++) {
                x[j] = rnd_normal() * scale * (row == 1 && j % 41 == 7 ? 50 : 1) * (row == ONE_TINY && j < BLOCK ? 0x1p-85f : 1);
                if (row == HALVES) x[j] = j % BLOCK ? (float)(rnd() % 200) - 99.5f : steps_of(t);
            }
            struct defined def = define_x(t, x, k, 1, k);
            for (size_t j = 0; j < k; j++) {
                const double at = (double)x[j], off = at - (double)def.d[j / BLOCK] * def.q[j];
                const int is_lost = row == TINY || (row == ONE_TINY && j < BLOCK);
                error += is_lost ? at * at : off * off;
                norm += at * at;
            }
            const struct q8_loss l = q8_loss_of_x(t, x, k);
            check(c, l.error >= error && l.norm >= norm * 0.99999, "%s, x of %zu, %s: loses %.17g of %.17g, at least %.17g of %.17g are",
                  packed_name(t), k, name[row], l.error, l.norm, error, norm);
            if (row <= HALVES && k >= 160)
                check(c, l.error <= 1.01 * 1.01 * error && l.norm <= norm * 1.00001,
                      "%s, x of %zu, %s: loses %.17g of %.17g, not %.17g of %.17g", packed_name(t), k, name[row], l.error, l.norm, error,
                      norm);
            if (row == ZEROS) check(c, l.error == 0 && l.norm == 0, "%s, x of zeros: loses %g of %g", packed_name(t), l.error, l.norm);
            x[rnd() % k] = row % 2 ? -INFINITY : NAN;
            const struct q8_loss none = q8_loss_of_x(t, x, k);
            check(c, isnan(none.error), "%s, x of %zu, %s, with no number: loses %g", packed_name(t), k, name[row], none.error);
            defined_free(&def);
            guarded_free_all();
        }
}

void check_blocks(struct check *c)
{
    check_loss_of_x(c, PK_Q8_QUAD);
    check_loss_of_x(c, PK_Q8_QUAD_A8);
    for (size_t i = 0; i < KINDS; i++) {
        const struct kind *kind = &kinds[i];
        for (size_t k = 32; k <= 160; k += 64) check_packing(c, kind, whole(kind, k));
        for (size_t k = 1; k <= 70 && kind->from == DT_F32; k += 5) check_packing(c, kind, k);
        check_largest_sums(c, kind);
        check_extremes(c, kind);
        check_not_finite(c, kind);
        check_shapes(c, kind);
    }
}
