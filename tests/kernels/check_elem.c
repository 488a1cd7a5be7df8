/* steno: checks of element-wise kernels. SPDX-License-Identifier: MIT */
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double largest(const float *x, size_t n)
{
    double m = 0;
    for (size_t i = 0; i < n; i++) m = fabs((double)x[i]) > m ? fabs((double)x[i]) : m;
    return m;
}

static void check_norm(struct check *c, size_t n, float offset)
{
    float *x = guarded_floats(n), *g = guarded_floats(n), *b = guarded_floats(n), *want = guarded_floats(n);
    float *y = guarded_floats(n + 1);
    rnd_floats(x, n, 1);
    rnd_floats(g, n, 1);
    rnd_floats(b, n, 1);
    for (size_t i = 0; i < n; i++) x[i] = x[i] * (i % 61 == 3 ? 50 : 1) + offset;
    double sum = 0, square = 0;
    for (size_t i = 0; i < n; i++) sum += (double)x[i], square += (double)x[i] * (double)x[i];
    const double mean = sum / (double)n, deviation = sqrt(fmax(square / (double)n - mean * mean, 0) + 1e-5);
    for (int with_b = 0; with_b < 2; with_b++) {
        c->ref->norm_layer(want, x, g, with_b ? b : NULL, 1e-5f, n);
        fill_canary(y, n + 1);
        c->kern->norm_layer(y + 1, x, g, with_b ? b : NULL, 1e-5f, n);
        const double tol = 1e-6 * (largest(want, n) + 1) + 1e-7 * fabs(mean) / deviation;
        for (size_t i = 0; i < n; i++)
            if (!check(c, fabs((double)y[i + 1] - want[i]) <= tol, "norm_layer n %zu at %zu: got %.9g want %.9g", n, i, (double)y[i + 1],
                       (double)want[i]))
                break;
        check(c, is_canary(y[0]), "norm_layer wrote before y");
    }
    memcpy(want, x, n * sizeof *x);
    c->kern->norm_layer(want, want, g, b, 1e-5f, n); /* y may equal x */
    check(c, same_bits(want, y + 1, n), "norm_layer n %zu in place differs", n);
    guarded_free_all();
}

static void check_norm_rms(struct check *c, size_t n)
{
    float *x = guarded_floats(n), *g = guarded_floats(n), *want = guarded_floats(n), *y = guarded_floats(n + 1);
    rnd_floats(x, n, 1);
    rnd_floats(g, n, 1);
    for (size_t i = 0; i < n; i++) x[i] *= i % 61 == 3 ? 50 : 1;
    c->ref->norm_rms(want, x, g, 1e-6f, n);
    fill_canary(y, n + 1);
    c->kern->norm_rms(y + 1, x, g, 1e-6f, n);
    for (size_t i = 0; i < n; i++)
        if (!check(c, fabs((double)y[i + 1] - want[i]) <= 1e-6 * (largest(want, n) + 1e-30), "norm_rms n %zu at %zu: got %.9g want %.9g", n,
                   i, (double)y[i + 1], (double)want[i]))
            break;
    check(c, is_canary(y[0]), "norm_rms wrote before y");
    memcpy(want, x, n * sizeof *x);
    c->kern->norm_rms(want, want, g, 1e-6f, n); /* y may equal x */
    check(c, same_bits(want, y + 1, n), "norm_rms n %zu in place differs", n);
    guarded_free_all();
}

static void check_softmax(struct check *c, size_t n)
{
    float *x = guarded_floats(n), *y = guarded_floats(n), *want = guarded_floats(n);
    for (int mode = 0; mode < 3; mode++) {
        rnd_floats(x, n, 5);
        for (size_t i = 0; i < n; i++)
            if (mode == 2 || (mode == 1 && rnd() % 3 == 0)) x[i] = -INFINITY;
        if (mode == 1) x[0] = -3e38f;
        c->ref->softmax(want, x, n);
        fill_canary(y, n);
        c->kern->softmax(y, x, n);
        for (size_t i = 0; i < n; i++)
            if (!check(c, fabs((double)y[i] - want[i]) <= 1e-6 * (largest(want, n) + 1e-30), "softmax n %zu at %zu: got %.9g want %.9g", n,
                       i, (double)y[i], (double)want[i]))
                break;
        c->kern->softmax(x, x, n);
        check(c, same_bits(x, y, n), "softmax n %zu in place differs", n);
    }
    guarded_free_all();
}

static void check_add(struct check *c, size_t n)
{
    float *a = guarded_floats(n), *b = guarded_floats(n), *y = guarded_floats(n);
    rnd_floats(a, n, 1);
    rnd_floats(b, n, 1);
    fill_canary(y, n);
    c->kern->add(y, a, b, n);
    for (size_t i = 0; i < n; i++) check(c, y[i] == a[i] + b[i], "add n %zu at %zu", n, i);
    c->kern->add(a, a, b, n);
    check(c, same_bits(a, y, n), "add n %zu in place differs", n);
    guarded_free_all();
}

static void check_act(struct check *c, enum act act)
{
    enum { N = 40003 };
    float *x = guarded_floats(N), *y = guarded_floats(N);
    for (size_t i = 0; i < N; i++) x[i] = ((float)i - N / 2) * (i % 5 ? 3e-4f : 5e-3f);
    x[0] = 0, x[1] = 1e30f, x[2] = -1e30f, x[3] = 1e-30f, x[4] = -50;
    c->kern->act[act](y, x, N);
    for (size_t i = 0; i < N; i++) {
        const double v = x[i], u = sqrt(2 / acos(-1)) * (v + 0.044715 * v * v * v);
        const double as_is = act == ACT_NONE || v > 0 ? v : 0, gated = v / (1 + exp(act == ACT_SILU ? -v : -2 * u));
        const double curved = act == ACT_GELU_ERF ? 0.5 * v * (1 + erf(v * sqrt(0.5))) : act == ACT_TANH ? tanh(v)
                            : act == ACT_SIGMOID ? 1 / (1 + exp(-v)) : gated;
        const double want = act == ACT_NONE || act == ACT_RELU ? as_is : curved;
        const double small = act == ACT_TANH || act == ACT_SIGMOID ? 2e-7 : 1e-7 * fmin(fabs(v), 10) + 2 * FLT_EPSILON * fabs(want);
        const double tol = act == ACT_NONE || act == ACT_RELU ? 0 : small;
        if (!check(c, fabs(y[i] - want) <= tol, "act %d of %.9g: got %.9g want %.9g", act, v, (double)y[i], want)) break;
    }
    for (size_t n = 1; n < 70; n++) {
        fill_canary(y, N);
        c->kern->act[act](y + N - n, x + N - n, n);
        check(c, is_canary(y[N - n - 1]), "act %d wrote before y", act);
        memcpy(y, x, n * sizeof *x);
        c->kern->act[act](y, y, n);
        c->kern->act[act](y + 100, x, n);
        check(c, same_bits(y, y + 100, n), "act %d n %zu in place differs", act, n);
    }
    guarded_free_all();
}

/* max(x, 0) bit for bit, and a NaN becomes 0 in whole vectors and in the last part, alone and at the end of linear. */
static void check_relu(struct check *c)
{
    static const float x[] = { NAN, -NAN, INFINITY, -INFINITY, 0, -0.0f, 1e-45f, -1e-45f, 3, -3 };
    static const float want[] = { 0, 0, INFINITY, 0, 0, 0, 1e-45f, 0, 3, 0 };
    enum { N = 67, CASES = sizeof x / sizeof *x };
    float *in = guarded_floats(N), *y = guarded_floats(N), one = 1, *w = aligned_alloc_64(pack_sz(PK_F32, N, 1) + 64);
    for (size_t i = 0; i < N; i++) in[i] = x[i % CASES];
    c->kern->act[ACT_RELU](y, in, N);
    for (size_t i = 0; i < N; i++) check(c, same_bits(&y[i], &want[i % CASES], 1), "relu of %g at %zu is %g", in[i], i, y[i]);
    memcpy(w, in, N * sizeof *w); /* k = 1: panels are the outputs in order */
    const struct linear l = { .w = w, .n = N, .k = 1, .n_y = N, .act = ACT_RELU, .x = &one, .ld_x = 1, .y = y, .ld_y = N };
    fill_canary(y, N);
    c->kern->linear[DT_F32](&l, 0, 1, 0, pack_panels(N), c->scratch);
    for (size_t i = 0; i < N; i++) check(c, y[i] == want[i % CASES], "linear: relu of %g at %zu is %g", in[i], i, y[i]);
    free(w);
    guarded_free_all();
}

/* What linear does to its outputs are the bits of the activation alone. */
static void check_act_of_linear(struct check *c, enum act act)
{
    enum { N = 67 };
    float *x = guarded_floats(N), *y = guarded_floats(N), *want = guarded_floats(N), one = 1;
    float *w = aligned_alloc_64(pack_sz(PK_F32, N, 1) + 64);
    rnd_floats(x, N, 4);
    memcpy(w, x, N * sizeof *w); /* k = 1: panels are the outputs in order */
    const struct linear l = { .w = w, .n = N, .k = 1, .n_y = N, .act = (uint8_t)act, .x = &one, .ld_x = 1, .y = y, .ld_y = N };
    fill_canary(y, N);
    c->kern->linear[PK_F32](&l, 0, 1, 0, pack_panels(N), c->scratch);
    c->kern->act[act](want, x, N);
    check(c, same_bits(y, want, N), "linear: activation %d differs from that alone", act);
    free(w);
    guarded_free_all();
}

/* The twin's bits at every length, in place too, and nothing written around; turns back give what was there. */
static void check_rope(struct check *c, size_t n)
{
    float *x = guarded_floats(n), *turn = guarded_floats(n), *want = guarded_floats(n), *y = guarded_floats(n + 1);
    rnd_floats(x, n, 2);
    for (size_t j = 0; j < n / 2; j++) turn[j] = cosf((float)j), turn[n / 2 + j] = sinf((float)j);
    for (int neighbours = 0; neighbours < 2; neighbours++) {
        memcpy(want, x, n * sizeof *x);
        c->ref->rope(want, turn, n, neighbours);
        fill_canary(y, n + 1);
        memcpy(y + 1, x, n * sizeof *x);
        c->kern->rope(y + 1, turn, n, neighbours);
        check(c, same_bits(y + 1, want, n) && is_canary(y[0]), "rope of %zu, neighbours %d", n, neighbours);
        for (size_t j = n / 2; j < n; j++) turn[j] = -turn[j];
        c->kern->rope(y + 1, turn, n, neighbours);
        for (size_t j = n / 2; j < n; j++) turn[j] = -turn[j];
        for (size_t j = 0; j < n; j++)
            if (!check(c, fabsf(y[j + 1] - x[j]) < 1e-5f, "rope of %zu there and back at %zu: %.9g, was %.9g", n, j, y[j + 1], x[j])) break;
    }
    guarded_free_all();
}

static void check_mul(struct check *c, size_t n)
{
    float *a = guarded_floats(n), *b = guarded_floats(n), *y = guarded_floats(n + 1);
    rnd_floats(a, n, 2);
    rnd_floats(b, n, 2);
    fill_canary(y, n + 1);
    c->kern->mul(y + 1, a, b, n);
    for (size_t i = 0; i < n; i++)
        if (!check(c, y[i + 1] == a[i] * b[i], "mul n %zu at %zu: %.9g", n, i, (double)y[i + 1])) break;
    check(c, is_canary(y[0]), "mul wrote before y");
    c->kern->mul(a, a, b, n);
    check(c, same_bits(a, y + 1, n), "mul n %zu in place differs", n);
    guarded_free_all();
}

/* The twin's bits at every length, in place too, and nothing written around. */
static void check_scale(struct check *c, size_t n)
{
    static const float factor[] = { 0, 1, -1.7f, 22.627417f };
    float *x = guarded_floats(n), *b = guarded_floats(n), *want = guarded_floats(n), *y = guarded_floats(n + 1);
    rnd_floats(x, n, 1);
    rnd_floats(b, n, 1);
    for (int i = 0; i < 8; i++) {
        const float *add = i & 1 ? b : NULL, f = factor[i / 2];
        c->ref->scale(want, x, f, add, n);
        fill_canary(y, n + 1);
        c->kern->scale(y + 1, x, f, add, n);
        for (size_t j = 0; j < n; j++)
            if (!check(c, y[j + 1] == want[j], "scale n %zu by %g at %zu: got %.9g want %.9g", n, f, j, y[j + 1], want[j])) break;
        check(c, is_canary(y[0]), "scale wrote before y");
        memcpy(y + 1, x, n * sizeof *x);
        c->kern->scale(y + 1, y + 1, f, add, n);
        check(c, !memcmp(y + 1, want, n * sizeof *y) || f == 0, "scale n %zu in place of x differs", n);
        if (!add) continue;
        memcpy(y + 1, b, n * sizeof *b);
        c->kern->scale(y + 1, x, f, y + 1, n);
        check(c, same_bits(y + 1, want, n), "scale n %zu in place of add differs", n);
    }
    guarded_free_all();
}

/* Random rows, some of them absent, against the twin; y in place of add. */
static void check_fsmn(struct check *c, size_t taps, size_t left, size_t n, size_t rows)
{
    enum { APART = 3 };
    const float *x[64];
    const size_t ld = n + APART, sz = (rows - 1) * ld + n;
    float *w = guarded_floats(taps * n), *add = guarded_floats(sz), *want = guarded_floats(sz), *y = guarded_floats(sz + 1);
    rnd_floats(w, taps * n, 1);
    rnd_floats(add, sz, 1);
    for (size_t j = 0; j < rows + taps - 1; j++) {
        float *row = guarded_floats(n);
        rnd_floats(row, n, 1);
        x[j] = (j >= left && j < left + rows) || rnd() % 3 ? row : NULL;
    }
    struct fsmn f = { .x = x, .w = w, .taps = taps, .left = left, .n = n, .rows = rows, .ld_y = ld, .ld_add = ld };
    for (int i = 0; i < 3; i++) {
        f.add = i == 1 ? add : NULL;
        f.start = i == 2 ? add : NULL;
        fill_canary(want, sz);
        f.y = want;
        c->ref->fsmn(&f);
        f.y = y + 1;
        fill_canary(y, sz + 1);
        c->kern->fsmn(&f);
        check(c, same_bits(y + 1, want, sz), "fsmn taps %zu left %zu n %zu rows %zu differs", taps, left, n, rows);
        check(c, is_canary(y[0]), "fsmn wrote before y");
    }
    f.start = NULL;
    f.add = add;
    f.y = want;
    c->ref->fsmn(&f);
    f.y = y + 1;
    memcpy(y + 1, add, sz * sizeof *y);
    f.add = y + 1;
    c->kern->fsmn(&f);
    for (size_t r = 0; r < rows; r++)
        check(c, same_bits(y + 1 + r * ld, want + r * ld, n), "fsmn n %zu in place of add differs in row %zu", n, r);
    guarded_free_all();
}

static void check_unpair(struct check *c, size_t n)
{
    uint32_t *words = guarded(n * sizeof *words);
    float *even = guarded_floats(n + 1), *odd = guarded_floats(n + 1), *want = guarded_floats(2 * n);
    for (size_t i = 0; i < n; i++) words[i] = rnd();
    c->ref->unpair(want, want + n, words, n);
    fill_canary(even, n + 1);
    fill_canary(odd, n + 1);
    c->kern->unpair(even + 1, odd + 1, words, n);
    check(c, !memcmp(even + 1, want, n * sizeof *want) && !memcmp(odd + 1, want + n, n * sizeof *want), "unpair n %zu differs", n);
    check(c, is_canary(even[0]) && is_canary(odd[0]), "unpair wrote before its rows");
    guarded_free_all();
}

/* One 1 in time: the filter's taps come out in turn, the identity where the 1 is its own row; rows past both ends are absent. */
static void check_fsmn_impulse(struct check *c, size_t taps, size_t left, size_t n)
{
    enum { T = 45, AT = 21 };
    const float *rows[32];
    float *w = guarded_floats(taps * n), *x = guarded_floats(T * n), *y = guarded_floats(n);
    rnd_floats(w, taps * n, 1);
    memset(x, 0, T * n * sizeof *x);
    for (size_t i = 0; i < n; i++) x[AT * n + i] = 1;
    for (size_t t = 0; t < T; t++) {
        for (size_t j = 0; j < taps; j++) {
            const size_t at = t + j;
            rows[j] = at < left || at - left >= T ? NULL : x + (at - left) * n;
        }
        const struct fsmn f = { .y = y, .x = rows, .w = w, .taps = taps, .left = left, .n = n, .rows = 1 };
        c->kern->fsmn(&f);
        const size_t tap = AT + left - t; /* rows[tap] is the 1, when there is such a tap */
        for (size_t i = 0; i < n; i++) {
            const float want = (t == AT ? 1.0f : 0.0f) + (t <= AT + left && tap < taps ? w[tap * n + i] : 0.0f);
            if (!check(c, y[i] == want, "fsmn taps %zu left %zu: impulse seen from %zu, channel %zu: got %.9g want %.9g", taps, left, t,
                       i, y[i], want))
                break;
        }
    }
    guarded_free_all();
}

/* Columns of several kinds: usual ones, far from zero, so small that their squares vanish, equal ones, one outlier. Rows lie apart and the
 * last ends at the page. */
static void check_lstm(struct check *c, size_t n)
{
    float *gates = guarded_floats(4 * n), *before = guarded_floats(n), *h = guarded_floats(n + 1), *state = guarded_floats(n + 1);
    float *want_h = guarded_floats(n), *want = guarded_floats(n);
    rnd_floats(gates, 4 * n, 3);
    rnd_floats(before, n, 2);
    for (size_t i = 0; i < 4 * n; i += 13) gates[i] *= 60; /* where the activations end */
    for (int first = 0; first < 2; first++) {
        const float *from = first ? NULL : before;
        c->ref->lstm(want_h, want, gates, from, n);
        fill_canary(h, n + 1);
        fill_canary(state, n + 1);
        c->kern->lstm(h + 1, state + 1, gates, from, n);
        for (size_t i = 0; i < n; i++) {
            const double scale = 1e-6 * (1 + (from ? fabs((double)before[i]) : 0));
            if (!check(c, fabs((double)state[i + 1] - (double)want[i]) <= scale && fabs((double)h[i + 1] - (double)want_h[i]) <= 2 * scale,
                       "lstm n %zu at %zu: got %.9g, %.9g want %.9g, %.9g", n, i, (double)state[i + 1], (double)h[i + 1], (double)want[i],
                       (double)want_h[i]))
                break;
        }
        check(c, is_canary(h[0]) && is_canary(state[0]), "lstm wrote before h or c");
    }
    c->kern->lstm(h + 1, state + 1, gates, before, n);
    c->kern->lstm(want_h, gates, gates, before, n); /* c may be gates */
    check(c, same_bits(want_h, h + 1, n) && same_bits(gates, state + 1, n), "lstm n %zu in place of gates differs", n);
    guarded_free_all();
}

static void check_zscore(struct check *c, size_t rows, size_t n)
{
    const size_t ld = n + 3, size = (rows - 1) * ld + n;
    float *x = guarded_floats(size), *want = guarded_floats(size);
    fill_canary(x, size);
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++) {
            const float v = rnd_normal(), kind[5] = { v, 100 + v, v * 1e-30f, 0.1f, r == rows / 2 ? 1 : v * 1e-6f };
            x[r * ld + i] = kind[i % 5];
        }
    memcpy(want, x, size * sizeof *x);
    c->ref->zscore(want, ld, rows, n);
    c->kern->zscore(x, ld, rows, n);
    for (size_t i = 0; i < n; i++) {
        double max = 0;
        for (size_t r = 0; r < rows; r++) max = fmax(max, fabs((double)want[r * ld + i]));
        check(c, (max == 0) == (rows == 1 || i % 5 == 3), "zscore: column %zu of %zu rows has a max of %g", i, rows, max);
        for (size_t r = 0; r < rows; r++)
            if (!check(c, fabs((double)x[r * ld + i] - want[r * ld + i]) <= 1e-5 * max,
                       "zscore rows %zu n %zu at %zu, %zu: got %.9g want %.9g", rows, n, r, i, (double)x[r * ld + i],
                       (double)want[r * ld + i]))
                break;
    }
    for (size_t i = 0; i < size; i++)
        if (i % ld >= n) check(c, is_canary(x[i]), "zscore rows %zu n %zu wrote between rows", rows, n);
    guarded_free_all();
}

/* The twin's bits; many values are equal. And the twin's own by counting: as many are smaller as are larger, at most. */
static void check_median(struct check *c, size_t n)
{
    float *x = guarded_floats(n), *b = guarded_floats(n), *want = guarded_floats(n), *y = guarded_floats(n + 1);
    for (size_t i = 0; i < n; i++) x[i] = n % 2 ? rnd_normal() : (float)(rnd() % 4);
    rnd_floats(b, n, 1);
    c->ref->median(want, x, NULL, 1, n);
    for (size_t i = 0; i < n && n > 3; i++) {
        int below = 0, above = 0, equal = 0;
        for (long j = (long)i - 3; j <= (long)i + 3; j++) {
            const float v = x[labs(j) < (long)n ? labs(j) : 2 * (long)n - 2 - j];
            below += v < want[i];
            above += v > want[i];
            equal += v == want[i];
        }
        check(c, below <= 3 && above <= 3 && equal, "median n %zu at %zu: %.9g has %d below and %d above", n, i, (double)want[i], below,
              above);
    }
    for (size_t i = 0; i < n && n <= 3; i++) check(c, want[i] == x[i], "median n %zu is not left alone", n);
    for (int i = 0; i < 4; i++) {
        const float *add = i & 1 ? b : NULL, scale = i & 2 ? 0.3f : 1;
        c->ref->median(want, x, add, scale, n);
        fill_canary(y, n + 1);
        c->kern->median(y + 1, x, add, scale, n);
        for (size_t j = 0; j < n; j++)
            if (!check(c, y[j + 1] == want[j], "median n %zu at %zu: got %.9g want %.9g", n, j, (double)y[j + 1], (double)want[j])) break;
        check(c, is_canary(y[0]), "median wrote before y");
        if (!add) continue;
        memcpy(y + 1, b, n * sizeof *b);
        c->kern->median(y + 1, x, y + 1, scale, n);
        check(c, same_bits(y + 1, want, n), "median n %zu in place of add differs", n);
    }
    guarded_free_all();
}

/* Every order of seven: the network has no gap. */
static void check_median_orders(struct check *c)
{
    float x[32] = { 0 }, y[32];
    for (int bits = 0; bits < 128; bits++) { /* an exchange network that sorts zeros and ones sorts anything (Knuth 5.3.4) */
        for (int i = 0; i < 7; i++) x[12 + i] = (float)(bits >> i & 1);
        c->kern->median(y, x, NULL, 1, 32);
        check(c, y[15] == (float)(__builtin_popcount((unsigned)bits) > 3), "median of bits %x is %g", (unsigned)bits, (double)y[15]);
    }
}

/* exp seen through softmax of two: y[1] / y[0] = exp(x[1] - x[0]). */
static void check_exp(struct check *c)
{
    for (int i = 0; i < 20000; i++) {
        const float x[2] = { 0, -(float)i * 4.3e-3f };
        float y[2];
        c->kern->softmax(y, x, 2);
        const double want = exp((double)x[1]), got = (double)y[1] / y[0];
        if (!check(c, fabs(got - want) <= 4 * FLT_EPSILON * want, "exp(%.9g): got %.9g want %.9g", (double)x[1], got, want)) return;
    }
}

static void check_scan(struct check *c, size_t n, int32_t first, int masked, int quantised)
{
    float *x = guarded_floats(n);
    const size_t words = ((size_t)first + n + 31) / 32;
    uint32_t *mask = guarded(words * 4);
    struct logit_partial want, got;
    for (size_t i = 0; i < n; i++) {
        x[i] = quantised ? (float)(rnd() % 4) : rnd_normal() * 8; /* few values: many ties */
        if (rnd() % 11 == 0) x[i] = -INFINITY;
        if (rnd() % 13 == 0) x[i] = NAN;
    }
    for (size_t i = 0; i < words; i++) mask[i] = masked == 2 ? ~0u : rnd() & rnd();
    c->ref->logits_reduce(&want, x, masked ? mask : NULL, first, n);
    c->kern->logits_reduce(&got, x, masked ? mask : NULL, first, n);
    check(c, want.arg == got.arg && want.max == got.max && fabs((double)want.sum - got.sum) <= 1e-5 * want.sum,
          "logits_reduce n %zu first %d mask %d: got %d %g %g want %d %g %g", n, first, masked, got.arg, (double)got.max, (double)got.sum,
          want.arg, (double)want.max, (double)want.sum);
    guarded_free_all();
}

static void check_panel_max(struct check *c, size_t panels)
{
    float *y = guarded_floats(panels * PANEL), *want = guarded_floats(panels), *got = guarded_floats(panels);
    for (size_t i = 0; i < panels * PANEL; i++) {
        y[i] = rnd_normal();
        if (rnd() % 5 == 0 || i / PANEL % 5 == 3) y[i] = rnd() % 2 ? -INFINITY : NAN;
    }
    c->ref->panel_max(want, y, panels);
    c->kern->panel_max(got, y, panels);
    check(c, same_bits(got, want, panels), "panel_max of %zu panels", panels);
    for (size_t i = 0; i < panels * PANEL; i++) check(c, !(y[i] > got[i / PANEL]), "panel_max: panel %zu has %g", i / PANEL, (double)y[i]);
    guarded_free_all();
}

void check_elem(struct check *c)
{
    static const size_t model[] = { 80, 384, 512, 768, 1280, 1500, 1536, 5120 };
    for (size_t i = 0; i < 67 + sizeof model / sizeof *model; i++) {
        const size_t n = i < 67 ? i + 1 : model[i - 67];
        if (n > 1) check_norm(c, n, n % 4 == 1 ? 3 : 0);
        check_norm_rms(c, n);
        check_softmax(c, n);
        check_add(c, n);
        check_scale(c, n);
        check_median(c, n);
        check_zscore(c, 1 + i % 9, n);
        check_lstm(c, n);
        check_mul(c, n);
        if (n % 2 == 0) check_rope(c, n);
        check_fsmn(c, 11, 5, n, 1 + n % 7);
        check_unpair(c, n);
        if (i < 9) check_panel_max(c, i + 1);
        check_fsmn(c, 20, 19, n, 1 + n % 3);
        for (int mode = 0; mode < 6; mode++) check_scan(c, n, (int32_t)(rnd() % 100), mode % 3, mode > 2);
    }
    for (int act = 0; act < ACT_COUNT; act++) check_act(c, (enum act)act), check_act_of_linear(c, (enum act)act);
    check_relu(c);
    check_median_orders(c);
    check_zscore(c, 448, 37);
    check_zscore(c, 97, 64);
    check_fsmn(c, 1, 0, 37, 5);
    check_fsmn(c, 11, 10, 130, 32);
    for (size_t n = 1; n < 600; n = n * 3 + 2) {
        check_fsmn_impulse(c, 11, 5, n);
        check_fsmn_impulse(c, 20, 19, n);
    }
    check_exp(c);
}
