/* steno: checks of products of 16 and 8 bits. SPDX-License-Identifier: MIT
 *
 * Bits are compared with the twin, which is compared with double; so is every level, within what rounding x and the weights may cost.
 * Where instructions for bf16 round in their own way, sums are compared with the twin's instead of bits. */
#include "shape.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const enum packed_type lowp_type[] = { PK_BF16_PAIR, PK_I16_PAIR, PK_I8_QUAD };
enum { N_TYPES = sizeof lowp_type / sizeof *lowp_type };
enum { GROUP = 128, X_MAX = 8191, W_MAX = 32750 }; /* of PK_I16_PAIR, see kern.h */

static double largest(const float *v, size_t n)
{
    double max = 0;
    for (size_t i = 0; i < n; i++) max = fabs((double)v[i]) > max ? fabs((double)v[i]) : max;
    return max;
}

static size_t part_of(size_t at, size_t k) { return k - at < GROUP ? k - at : GROUP; }

/* What W_MAX of PK_I16_PAIR stands for in a row of weights: the largest one, or an eighth of the largest sum of a group. */
static double int16_max(const float *w, size_t k)
{
    double max = largest(w, k);
    for (size_t at = 0; at < k; at += GROUP) {
        double sum = 0;
        for (size_t i = at; i < at + part_of(at, k); i++) sum += fabs((double)w[i]);
        max = sum / 8 > max ? sum / 8 : max;
    }
    return max;
}

/* ---- against the twin and against double --------------------------------------------------------------------------------------------
 * Half a step in x, and in w: of bf16 (2^-8 of the value), or of the scale. int16 has steps so small that rounding a scale's inverse, and
 * the product with it, moves a number by up to 0.006 of one. */
static void half_steps_x(double *step, enum packed_type t, const float *x, size_t k)
{
    const size_t run = t == PK_BF16_PAIR ? 1 : t == PK_I16_PAIR ? GROUP : k;
    for (size_t at = 0; at < k; at += run) {
        const size_t end = k - at < run ? k : at + run;
        const double max = largest(x + at, end - at);
        const double half = t == PK_BF16_PAIR ? max * 0x1p-8 : t == PK_I16_PAIR ? 0.51 * max / X_MAX : 0.5001 * max / 127;
        for (size_t i = at; i < end; i++) step[i] = half;
    }
}

static void half_steps_w(double *step, enum packed_type t, const float *w, size_t k)
{
    const double half = t == PK_I16_PAIR ? 0.51 * int16_max(w, k) / W_MAX : 0.5001 * largest(w, k) / 127;
    for (size_t i = 0; i < k; i++) step[i] = t == PK_BF16_PAIR ? fabs((double)w[i]) * 0x1p-8 : half;
}

static double *half_steps_all(enum packed_type t, void half_steps(double *, enum packed_type, const float *, size_t), const float *v,
                              size_t rows, size_t ld, size_t k)
{
    double *step = malloc(rows * k * sizeof *step);
    for (size_t i = 0; i < rows; i++) half_steps(step + i * k, t, v + i * ld, k);
    return step;
}

/* What rounding may cost an output, at most: half a step in x and in w, dx and dw, and the sum. */
static double bound(const float *x, const double *dx, const float *w, const double *dw, size_t k, double *sum, double *square)
{
    const double rounding = 4 * FLT_EPSILON * sqrt((double)k);
    double max = 0, total = 0, variance = 0;
    for (size_t i = 0; i < k; i++) {
        const double a = fabs((double)x[i]), b = fabs((double)w[i]), da = dx[i], db = dw[i];
        max += a * db + b * da + da * db + rounding * a * b;
        total += (double)x[i] * w[i];
        variance += (da * da * b * b + db * db * a * a) / 3; /* where errors are spread evenly */
    }
    *sum = total, *square = variance;
    return max;
}

/* Every output within its bound, and all of them together about as far off as rounding at random would leave them. */
static void check_accuracy(struct check *c, enum packed_type t, const struct shape *s, const struct linear *l, const float *w,
                           const float *y)
{
    double *dx = half_steps_all(t, half_steps_x, l->x, s->m, s->ld_x, s->k), *dw = half_steps_all(t, half_steps_w, w, s->n, s->k, s->k);
    double error = 0, expected = 0;
    int ok = 1;
    for (size_t i = 0; i < s->m * s->n && ok; i++) {
        const size_t m = i / s->n, n = i % s->n;
        double sum, square;
        double max = bound(l->x + m * s->ld_x, dx + m * s->k, w + n * s->k, dw + n * s->k, s->k, &sum, &square);
        max += FLT_EPSILON * fabs(sum);
        const double off = y[m * l->ld_y + n] - sum;
        error += off * off, expected += square;
        ok = check(c, fabs(off) <= max, "%s m %zu/%zu n %zu/%zu k %zu: %.9g is %.3g from the product, more than %.3g", packed_name(t), m,
                   s->m, n, s->n, s->k, (double)y[m * l->ld_y + n], fabs(off), max);
    }
    const double chance = 1 + 5 * sqrt(2 / (double)(s->m * s->n)); /* five standard deviations of a mean of m * n squares */
    if (ok && s->m * s->n * s->k > 10000)
        check(c, error <= fmax(1.5, chance) * expected, "%s %zu x %zu x %zu: errors are %.2f of what rounding costs", packed_name(t), s->m,
              s->n, s->k, sqrt(error / expected));
    free(dx);
    free(dw);
}

/* What sums that are rounded otherwise than the twin's may change in y, after bias and residual were added to them. Activations have
 * slopes of up to 1.13. */
static double sum_tolerance(const struct linear *l, size_t m, size_t n, const float *w, float y)
{
    const double res = l->res ? fabs((double)l->res[m * l->ld_res + n]) : 0;
    double sum = 0;
    for (size_t k = 0; k < l->k; k++) sum += fabs((double)l->x[m * l->ld_x + k] * (double)w[n * l->k + k]);
    return (l->act == ACT_NONE ? 4 : 4.52) * FLT_EPSILON * sqrt((double)l->k) * sum + 2 * FLT_EPSILON * (fabs((double)y) + res);
}

/* Activations have errors of their own, in proportion to what they are given, which is above -6 where they give much; the other bits are
 * the twin's. */
static void check_twin(struct check *c, enum packed_type t, const struct shape *s, const struct linear *l, const float *w, const float *y,
                       const float *y_ref)
{
    const int same = t != PK_BF16_PAIR || !c->other_order, exact = l->act == ACT_NONE || l->act == ACT_RELU;
    for (size_t m = 0; m < s->m; m++) {
        const float *a = y + m * l->ld_y, *b = y_ref + m * l->ld_y;
        for (size_t n = 0; n < s->n; n++) {
            double tol = exact ? 0 : 2e-7 * (7 + fabs((double)b[n])) + 4 * FLT_EPSILON * fabs((double)b[n]);
            if (!same) tol += sum_tolerance(l, m, n, w, b[n]);
            if (!check(c, exact && same ? same_bits(a + n, b + n, 1) : fabs((double)a[n] - (double)b[n]) <= tol,
                       "%s m %zu/%zu n %zu/%zu k %zu ld_x %zu act %d: got %.9g, the twin %.9g", packed_name(t), m, s->m, n, s->n, s->k,
                       s->ld_x, l->act, (double)a[n], (double)b[n]))
                return;
        }
    }
}

static void check_shape(struct check *c, enum packed_type t, struct shape s)
{
    float *w_rows = malloc(s.n * s.k * sizeof *w_rows);
    rnd_floats(w_rows, s.n * s.k, 1 / sqrtf((float)s.k));
    void *w = pack_all(w_rows, t, s.n, s.k);
    const struct around a = around_new(&s);
    for (int mode = 0; mode < MODES; mode += 1 + (c->quick > 0)) {
        struct linear l = linear_of(&a, &s, w, mode);
        if (s.m * s.n * s.k > 1000000 && mode > 1) break;
        run_whole(c, t, &l, &a, &s);
        if (mode == 0) check_accuracy(c, t, &s, &l, w_rows, l.y);
        if (c->kern->level == CPU_C) continue;
        const float *y = l.y;
        l.y = a.y_ref;
        run(c->ref, t, &l, 0, s.m, 0, pack_panels(s.n), c->scratch);
        check_twin(c, t, &s, &l, w_rows, y, a.y_ref);
    }
    free(w_rows);
    free(w);
    guarded_free_all();
}

static void check_shapes(struct check *c, enum packed_type t)
{
    static const size_t n_of[] = { 1, 7, 16, 31, 32, 33, 47, 64, 65, 96, 100, 129 };
    static const size_t k_of[] = { 1, 2, 3, 4, 5, 17, 31, 33, 63, 66, 80, 242 };
    const int fast = c->kern->level != CPU_C && !c->quick;
    for (size_t m = 1; m <= (c->quick ? 20 : 67); m += fast || m < 5 ? 1 : 9)
        check_shape(c, t, (struct shape) { m, n_of[m * 5 % 12], k_of[m * 7 % 12], k_of[m * 7 % 12] + m % 3 });
    for (size_t k = 1; k <= 67; k += c->quick ? 13 : 2) check_shape(c, t, (struct shape) { 1 + k % 5, 33, k, k });
    if (t == PK_I16_PAIR) /* around groups, and rows that begin within one */
        for (size_t k = GROUP - 2; k <= 3 * GROUP + 2; k += k % GROUP == 2 ? GROUP - 4 : 1)
            check_shape(c, t, (struct shape) { 1 + k % 7, 33, k, k % 3 ? k : 3 });
    for (size_t k = 255; k <= 513; k += k == 257 ? 254 : 1) check_shape(c, t, (struct shape) { 2 + k % 14, 33, k, k });
    if (c->quick) return;
    for (size_t m = 95; m <= 97; m++) check_shape(c, t, (struct shape) { m, 33, 34, 35 }); /* rows of a slice */
    check_shape(c, t, (struct shape) { 40, 70, 96, 32 });   /* convolution: rows overlap */
    check_shape(c, t, (struct shape) { 13, 33, 193, 1 });
    check_shape(c, t, (struct shape) { 5, 64, 384, 400 });
    check_shape(c, t, (struct shape) { 3, 300, 1536, 1536 });
    if (!fast) return;
    check_shape(c, t, (struct shape) { GEMM_ROWS + 17, 70, 544, 544 });
    check_shape(c, t, (struct shape) { 100, 40, 5121, 5122 });       /* more rows than fit the scratch at a time */
    check_shape(c, t, (struct shape) { 14, 33, 46001, 46001 });      /* not even a tile of them */
    check_shape(c, t, (struct shape) { 3, 9, LOWP_K_MAX, LOWP_K_MAX });
}

/* ---- what the types promise ----------------------------------------------------------------------------------------------------- */
/* A matrix of n outputs from one row of numbers each, times one row of x. */
static void product(struct check *c, enum packed_type t, float *y, size_t n, const float *w_rows, const float *x, size_t m, size_t k)
{
    void *w = pack_all(w_rows, t, n, k);
    const struct linear l = { .w = w, .n = (uint32_t)n, .k = (uint32_t)k, .n_y = (uint32_t)n, .x = x, .ld_x = k, .y = y, .ld_y = n };
    run(c->kern, t, &l, 0, m, 0, pack_panels(n), c->scratch);
    free(w);
}

/* 1 + 2^24 - 2^24: the odd k of a pair comes first, so the 1 is lost. Where even and odd k of a tile are summed apart it is kept, also
 * between 2^24 and -2^24; and so it is where these are the next tile's. Where four k are summed at once, only the first is certain. */
static void check_order(struct check *c)
{
    static const float x[3][66] = {
        { 1, 0, -0x1p24f, 0x1p24f }, { 0x1p24f, 1, -0x1p24f, 0 }, { [30] = 1, [32] = 0x1p24f, [34] = -0x1p24f },
    };
    const size_t certain = strcmp(c->name, "neonbf16") ? 3 : 1;
    float one[66], y[3];
    for (size_t i = 0; i < 66; i++) one[i] = 1;
    product(c, PK_BF16_PAIR, y, 1, one, x[0], 3, 66);
    for (size_t i = 0; i < certain; i++)
        check(c, y[i] == (c->other_order ? 1 : 0), "bf16 pairs: 1, 2^24 and -2^24, order %zu, give %g", i, (double)y[i]);
}

/* Largest magnitudes 127 and 254 make scales 1 and 2: ties go to even, and sums are exact. */
static void check_known_int8(struct check *c)
{
    const float w[2 * 5] = { 127, -0.5f, 1.5f, 2.5f, -3.25f, 254, -3, 5, 6, -254 }, x[5] = { -127, 100, 0.5f, 2.4f, 3 };
    float y[2];
    product(c, PK_I8_QUAD, y, 2, w, x, 1, 5);
    const float want_0 = -127 * 127 + 0 * 100 + 2 * 0 + 2 * 2 + -3 * 3, want_1 = 2 * (-127 * 127 + -2 * 100 + 2 * 0 + 3 * 2 - 127 * 3);
    check(c, y[0] == want_0 && y[1] == want_1, "int8: %g %g, want %g %g", (double)y[0], (double)y[1], (double)want_0, (double)want_1);
}

/* int16: scales 1 and 2 as above, in x 1 and then 2; the second group begins anew. */
static void check_known_int16(struct check *c)
{
    enum { K = GROUP + 3 };
    const float two[2][6] = { { W_MAX, 3, -0.5f, 1.5f, 2.5f, -3.25f }, { 2 * W_MAX, 6, -3, 5, 6, -1 } }; /* the second's q: -2, 2, 3, 0 */
    const float next[2][3] = { { 5, -7, 11 }, { -10, 3, -22 } };                                           /*                -5, 2, -11 */
    float w[2 * K] = { 0 }, x[K] = { 1, -X_MAX, 100, 0.5f, 2.5f, 3 }, y[2];
    for (size_t n = 0; n < 2; n++) memcpy(w + n * K, two[n], sizeof two[n]), memcpy(w + n * K + GROUP, next[n], sizeof next[n]);
    x[GROUP] = 2 * X_MAX, x[GROUP + 1] = -3, x[GROUP + 2] = 7; /* q: -2, 4 */
    product(c, PK_I16_PAIR, y, 2, w, x, 1, K);
    const float want_0 = W_MAX - 3 * X_MAX + 0 * 100 + 2 * 0 + 2 * 2 - 3 * 3 + 2 * (5 * X_MAX + 7 * 2 + 11 * 4);
    const float want_1 = 2 * (W_MAX - 3 * X_MAX - 2 * 100 + 2 * 0 + 3 * 2 + 0 * 3 + 2 * (-5 * X_MAX - 2 * 2 - 11 * 4));
    check(c, y[0] == want_0 && y[1] == want_1, "int16: %g %g, want %g %g", (double)y[0], (double)y[1], (double)want_0, (double)want_1);
}

/* Integers of output i of a panel of PK_I16_PAIR, [k]; returns their scale. */
static float int16_read(int16_t *q, const void *panel, size_t i, size_t k)
{
    float scale;
    memcpy(&scale, (const char *)panel + 4 * i, sizeof scale);
    for (size_t j = 0; j < k; j++) memcpy(q + j, (const char *)panel + 4 * PANEL + (j / 2 * PANEL + i) * 4 + j % 2 * 2, 2);
    return scale;
}

/* Weights whose integers have the largest sum that a group can have: 127 which are rounded up by nearly half a step, and a last one, so
 * that an eighth of their sum is W_MAX. */
static float of_largest_sum(size_t k) { return k % GROUP == GROUP - 1 ? 8 * W_MAX - (GROUP - 1) * 2046.51f : 2046.51f; }

/* What decides the scale: the largest weight where one towers, or where there are few; an eighth of the largest group's sum else. Sums of
 * a group stay below 2^18, whatever rounding does. */
static void check_int16_scales(struct check *c)
{
    enum { N = 32, K = 2 * GROUP + 44 };
    static const float decides[] = { 1, 8, 5.5f, 1, 1.25f, W_MAX }; /* of the first six rows */
    float *rows = calloc(N * K, sizeof *rows);
    int16_t q[K];
    for (size_t k = 0; k < K; k++) {
        const float sign = rnd() % 2 ? -1.f : 1.f;
        rows[0 * K + k] = k == 200 ? -1 : sign * 0.001f;
        rows[1 * K + k] = k / GROUP == 1 ? sign * 0.5f : sign * 0.25f;
        rows[2 * K + k] = k / GROUP == 2 ? sign : 0;
        rows[3 * K + k] = k % GROUP < 8 ? sign : 0;
        rows[4 * K + k] = k % GROUP < 10 ? sign : 0;
        rows[5 * K + k] = sign * of_largest_sum(k);
    }
    for (size_t n = 6; n < N; n++) rnd_floats(rows + n * K, K, n % 2 ? 1 : 1e-3f);
    for (size_t n = 6; n < N; n += 4) /* magnitudes that hardly differ: all rounded to one side or the other */
        for (size_t k = 0; k < K; k++) rows[n * K + k] = (rnd() % 2 ? -1.f : 1.f) * (1 + (float)(rnd() % 2 * n) * 1e-4f);
    void *w = pack_all(rows, PK_I16_PAIR, N, K);
    for (size_t n = 0; n < N; n++) {
        const double scale = (double)int16_read(q, w, n, K), max = int16_max(rows + n * K, K);
        int largest_q = 0, largest_sum = 0;
        for (size_t at = 0; at < K; at += GROUP) {
            int sum = 0;
            for (size_t k = at; k < at + part_of(at, K); k++) sum += abs(q[k]), largest_q = abs(q[k]) > largest_q ? abs(q[k]) : largest_q;
            largest_sum = sum > largest_sum ? sum : largest_sum;
        }
        if (n < 6) check(c, (float)max == decides[n], "int16: row %zu is not what it is meant to be: %g", n, max);
        check(c, fabs(scale * W_MAX - max) <= 1e-5 * max, "int16: scale of output %zu is that of %g, want %g", n, scale * W_MAX, max);
        check(c, largest_sum < 1 << 18, "int16: output %zu has a group of %d", n, largest_sum);
        if (max > largest(rows + n * K, K)) check(c, abs(largest_sum - 8 * W_MAX) <= GROUP / 2 + 2, "int16: a sum of %d", largest_sum);
        else check(c, largest_q == W_MAX, "int16: the largest of output %zu is %d", n, largest_q);
        if (n == 5) check(c, largest_sum > 8 * W_MAX + GROUP / 2 - 4, "int16: the largest sum is %d", largest_sum);
    }
    free(rows);
    free(w);
}

/* Integers of a group as large as they get, of either sign: they do not wrap. Each group of x has a scale of its own. */
static void check_largest_sums(struct check *c)
{
    enum { M = 29, N = 37, K = 3 * GROUP };
    float *rows = malloc(N * K * sizeof *rows), *x = malloc(M * K * sizeof *x), y[M * N];
    int16_t q[K];
    int32_t max = 0, min = 0;
    for (size_t i = 0; i < N * K; i++) /* signs: the same, in turn, at random */
        rows[i] = (i / K < 4 ? i / K / 2 * i % 2 != i / K % 2 : rnd() % 2) ? of_largest_sum(i % K) : -of_largest_sum(i % K);
    for (size_t i = 0; i < M * K; i++)
        x[i] = ((i / K < 4 ? i / K / 2 * i % 2 != i / K % 2 : rnd() % 2) ? X_MAX : -X_MAX) * (float)(1 << i % K / GROUP);
    void *w = pack_all(rows, PK_I16_PAIR, N, K);
    product(c, PK_I16_PAIR, y, N, rows, x, M, K);
    for (size_t n = 0; n < N; n++) {
        const float scale = int16_read(q, (const char *)w + n / PANEL * pack_panel_sz(PK_I16_PAIR, K), n % PANEL, K);
        for (size_t m = 0; m < M; m++) {
            float want = 0;
            for (size_t at = 0; at < K; at += GROUP) {
                int64_t sum = 0;
                for (size_t k = at; k < at + GROUP; k++) sum += (x[m * K + k] > 0 ? X_MAX : -X_MAX) * q[k];
                check(c, sum == (int32_t)sum, "int16: sums do not fit 32 bits");
                max = (int32_t)sum > max ? (int32_t)sum : max, min = (int32_t)sum < min ? (int32_t)sum : min;
                want = fmaf((float)sum, (float)(1 << at / GROUP), want);
            }
            want *= scale;
            check(c, y[m * N + n] == want, "int16: row %zu output %zu of largest sums is %.9g, want %.9g", m, n, (double)y[m * N + n],
                  (double)want);
        }
    }
    check(c, max > 262060 * X_MAX && min == -max, "int16: sums reach from %d to %d only", min, max);
    free(rows);
    free(x);
    free(w);
}

/* Groups of x next to nothing count as zeros, those a little larger do not; the others stay as they are. */
static void check_tiny_groups(struct check *c)
{
    enum { M = 15, N = 33, K = 2 * GROUP + 7 };
    float *rows = malloc(N * K * sizeof *rows), x[M * K], y[M * N], zeros[M * N];
    rnd_floats(rows, N * K, 1);
    rnd_floats(x, M * K, 1);
    for (size_t m = 0; m < M; m++)
        for (size_t k = 0; k < K; k++)
            if (k / GROUP == m % 3) x[m * K + k] = k % 5 ? 0x1.fffffep-112f : -0x1p-149f;
    product(c, PK_I16_PAIR, y, N, rows, x, M, K);
    for (size_t m = 0; m < M; m++) memset(x + m * K + m % 3 * GROUP, 0, part_of(m % 3 * GROUP, K) * sizeof *x);
    product(c, PK_I16_PAIR, zeros, N, rows, x, M, K);
    check(c, same_bits(y, zeros, M * N), "int16: groups next to nothing do not count as zeros");
    for (size_t i = 0; i < M * K; i++) x[i] = i % 3 ? 0x1p-111f : -0x1p-112f;
    product(c, PK_I16_PAIR, y, N, rows, x, M, K);
    double *dx = half_steps_all(PK_I16_PAIR, half_steps_x, x, M, K, K), *dw = half_steps_all(PK_I16_PAIR, half_steps_w, rows, N, K, K);
    for (size_t m = 0; m < M; m++)
        for (size_t n = 0; n < N; n++) {
            double sum, square;
            const double max = bound(x + m * K, dx + m * K, rows + n * K, dw + n * K, K, &sum, &square) + K * 2.0 * (double)FLT_MIN;
            check(c, fabs((double)y[m * N + n] - sum) <= max && y[m * N + n] != 0, "int16: %g of a small row, want %g",
                  (double)y[m * N + n], sum);
        }
    free(rows);
    free(dx);
    free(dw);
}

/* What packing made of the weights, read back by embed. */
static void check_packing(struct check *c, enum packed_type t, size_t k)
{
    enum { N = 35 };
    float *rows = malloc(N * k * sizeof *rows), *back = guarded_floats(k);
    rnd_floats(rows, N * k, 0.3f);
    memset(rows + k, 0, k * sizeof *rows);
    for (size_t i = 0; i < k; i++) rows[2 * k + i] *= 0x1p-120f; /* integers: too small to have a scale */
    void *w = pack_all(rows, t, N, k);
    double *half_step = half_steps_all(t, half_steps_w, rows, N, k, k);
    for (size_t n = 0; n < N; n++) {
        c->kern->embed[t](back, w, n, k);
        for (size_t i = 0; i < k; i++) {
            const float v = rows[n * k + i], want = fabsf(v) < FLT_MIN ? 0 : bf16_to_f32(bf16_from_f32(v));
            const double off = fabs((double)back[i] - (double)v);
            const int ok = t == PK_BF16_PAIR ? back[i] == want : n == 2 ? back[i] == 0 : off <= half_step[n * k + i];
            check(c, ok, "%s k %zu: weight %zu of output %zu is %.9g, packed from %.9g", packed_name(t), k, i, n, (double)back[i],
                  (double)v);
        }
    }
    const size_t words = t == PK_I8_QUAD ? (k + 3) / 4 : (k + 1) / 2, head = t == PK_I8_QUAD ? 256 : t == PK_I16_PAIR ? 128 : 0;
    check(c, pack_panel_sz(t, k) == words * 128 + head, "%s: a panel takes %zu bytes", packed_name(t), pack_panel_sz(t, k));
    free(rows);
    free(half_step);
    free(w);
    guarded_free_all();
}

/* A NaN or an infinity spoils its own row, in integers every output of it; as a weight, its own output. */
static void check_not_finite(struct check *c, enum packed_type t)
{
    enum { M = 29, N = 37, K = 2 * GROUP + 44 };
    static const float bad[] = { NAN, INFINITY, -INFINITY };
    const int ints = t != PK_BF16_PAIR;
    float *rows = malloc(N * K * sizeof *rows), x[M * K], good[M * N], y[M * N];
    rnd_floats(rows, N * K, 0.2f);
    rnd_floats(x, M * K, 1);
    product(c, t, good, N, rows, x, M, K);
    for (size_t i = 0; i < 3; i++) {
        const size_t m = 5 + 7 * i, n = 3 + 11 * i, at = m * K + i * GROUP + 8, w_at = n * K + i % 2 * GROUP + 2;
        const float kept = x[at], weight = rows[w_at];
        x[at] = bad[i];
        product(c, t, y, N, rows, x, M, K);
        size_t spoilt = 0;
        for (size_t j = 0; j < N; j++) spoilt += ints ? isnan(y[m * N + j]) : !isfinite(y[m * N + j]);
        check(c, spoilt == N, "%s: %g in x leaves %zu outputs of its row as they were", packed_name(t), (double)bad[i], N - spoilt);
        memcpy(y + m * N, good + m * N, N * sizeof *y);
        check(c, same_bits(y, good, M * N), "%s: %g in x spoils another row", packed_name(t), (double)bad[i]);
        x[at] = kept, rows[w_at] = bad[i];
        product(c, t, y, N, rows, x, M, K);
        spoilt = 0;
        for (size_t j = 0; j < M; j++) {
            spoilt += ints ? isnan(y[j * N + n]) : !isfinite(y[j * N + n]);
            y[j * N + n] = good[j * N + n];
        }
        check(c, spoilt == M && same_bits(y, good, M * N), "%s: %g as a weight spoils %zu rows, or other outputs", packed_name(t),
              (double)bad[i], spoilt);
        rows[w_at] = weight;
    }
    free(rows);
}

/* Rows of zeros and rows too small for a scale give zeros; subnormals are zeros for bf16; tiny sums are as the twin's but for FLT_MIN. */
static void check_tiny(struct check *c, enum packed_type t)
{
    enum { M = 3, N = 32, K = 66 };
    float rows[N * K], x[M * K] = { 0 }, y[M * N], y_ref[M * N];
    rnd_floats(rows, N * K, 1);
    const float nothing = t == PK_I8_QUAD ? 0x1.fp-120f : t == PK_I16_PAIR ? 0x1.fp-112f : 0x1.fffp-127f;
    for (size_t i = 0; i < K; i++) x[K + i] = nothing * (i % 2 ? -1.f : 1.f), x[2 * K + i] = 0x1p-125f;
    for (size_t i = 0; i < N * K; i++) rows[i] *= 0.3f;
    product(c, t, y, N, rows, x, M, K);
    for (size_t i = 0; i < 2 * N; i++) check(c, y[i] == 0, "%s: a row of nearly nothing gives %g", packed_name(t), (double)y[i]);
    const struct kern *kern = c->kern;
    c->kern = c->ref;
    product(c, t, y_ref, N, rows, x, M, K);
    c->kern = kern;
    for (size_t i = 2 * N; i < M * N; i++)
        check(c, fabs((double)y[i] - (double)y_ref[i]) <= K * 2.0 * FLT_MIN, "%s: got %g, the twin %g", packed_name(t), (double)y[i],
              (double)y_ref[i]);
}

void check_lowp(struct check *c)
{
    check_order(c);
    check_known_int8(c);
    check_known_int16(c);
    check_int16_scales(c);
    check_largest_sums(c);
    check_tiny_groups(c);
    for (size_t i = 0; i < N_TYPES; i++) {
        const enum packed_type t = lowp_type[i];
        for (size_t k = 1; k <= 19; k++) check_packing(c, t, k);
        check_packing(c, t, 260);
        check_not_finite(c, t);
        check_tiny(c, t);
        check_shapes(c, t);
    }
}
