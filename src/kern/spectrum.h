/* steno: logarithms of bands of spectra, for several frames in parallel. SPDX-License-Identifier: MIT
 *
 * A lane is a frame: every step is a run of whole vectors, and no frame affects another. N real points (400, 512) are 16 times M. With n =
 * M n1 + n2 and k = k1 + 16 k2, and w_m = exp(-2 pi i / m) (Cooley and Tukey 1965),
 *
 *   X[k1 + 16 k2] = sum over n2 of w_M^(n2 k2) y[k1, n2],   y[k1, n2] = w_N^(n2 k1) * sum over n1 of w_16^(n1 k1) x[M n1 + n2]
 *
 * The sums over n1 are real transforms of 16 points. Rows k1 = 0..8 of these suffice: row 16 - k1 is the conjugate of row k1, so rows 1..7
 * have one of each pair of bins, rows 0 and 8 both. A row is a complex transform of M = 5 * 5 or 4 * 8 points by the same rule, in place.
 * Primitives are those of vec.h; plain C (ref_spectrum.c) has the ones used here. */
#ifndef STENO_KERN_SPECTRUM_H
#define STENO_KERN_SPECTRUM_H
#include "kern/scratch.h"

struct cf { vf re, im; };

#define COS_8TH 0.923879533f /* of a sixteenth of a turn, as the next one */
#define SIN_8TH 0.382683432f
#define HALF_ROOT 0.707106781f

INLINE struct cf cf_add(struct cf a, struct cf b) { return (struct cf) { vf_add(a.re, b.re), vf_add(a.im, b.im) }; }
INLINE struct cf cf_sub(struct cf a, struct cf b) { return (struct cf) { vf_sub(a.re, b.re), vf_sub(a.im, b.im) }; }
INLINE struct cf cf_add_i(struct cf a, struct cf b) { return (struct cf) { vf_sub(a.re, b.im), vf_add(a.im, b.re) }; } /* a + i b */
INLINE struct cf cf_sub_i(struct cf a, struct cf b) { return (struct cf) { vf_add(a.re, b.im), vf_sub(a.im, b.re) }; } /* a - i b */
INLINE struct cf cf_mul(struct cf a, float re, float im)
{
    const vf r = vf_set1(re), i = vf_set1(im);
    return (struct cf) { vf_fnma(a.im, i, vf_mul(a.re, r)), vf_fma(a.re, i, vf_mul(a.im, r)) };
}
/* a + re b, a real factor */
INLINE struct cf cf_fma(struct cf b, float re, struct cf a)
{
    return (struct cf) { vf_fma(b.re, vf_set1(re), a.re), vf_fma(b.im, vf_set1(re), a.im) };
}
INLINE struct cf cf_scale(struct cf a, float re) { return (struct cf) { vf_mul(a.re, vf_set1(re)), vf_mul(a.im, vf_set1(re)) }; }
INLINE struct cf cf_load(const float *p) { return (struct cf) { vf_load(p), vf_load(p + VF_N) }; }
INLINE void cf_store(float *p, struct cf a)
{
    vf_store(p, a.re);
    vf_store(p + VF_N, a.im);
}

/* ---- short transforms -------------------------------------------------------------------------------------------------------- */

INLINE void dft_4(struct cf *a, struct cf *b, struct cf *c, struct cf *d)
{
    const struct cf s = cf_add(*a, *c), t = cf_add(*b, *d), u = cf_sub(*a, *c), v = cf_sub(*b, *d);
    *a = cf_add(s, t);
    *b = cf_sub_i(u, v);
    *c = cf_sub(s, t);
    *d = cf_add_i(u, v);
}

INLINE void dft_5(struct cf x[5])
{
    const float c1 = 0.309016994f, c2 = -0.809016994f, s1 = 0.951056516f, s2 = 0.587785252f; /* of a fifth and two fifths of a turn */
    const struct cf o = x[0], s = cf_add(x[1], x[4]), t = cf_add(x[2], x[3]), u = cf_sub(x[1], x[4]), v = cf_sub(x[2], x[3]);
    const struct cf near = cf_fma(t, c2, cf_fma(s, c1, o)), far = cf_fma(t, c1, cf_fma(s, c2, o));
    const struct cf near_i = cf_fma(v, s2, cf_scale(u, s1)), far_i = cf_fma(v, -s1, cf_scale(u, s2));
    x[0] = cf_add(o, cf_add(s, t));
    x[1] = cf_sub_i(near, near_i);
    x[2] = cf_sub_i(far, far_i);
    x[3] = cf_add_i(far, far_i);
    x[4] = cf_add_i(near, near_i);
}

INLINE void dft_8(struct cf x[8])
{
    dft_4(&x[0], &x[2], &x[4], &x[6]); /* of the even: outputs 0..3 */
    dft_4(&x[1], &x[3], &x[5], &x[7]); /* of the odd */
    const struct cf a = x[0], b = x[2], c = x[4], d = x[6];
    const struct cf p = x[1], q = cf_mul(x[3], HALF_ROOT, -HALF_ROOT), r = x[5], s = cf_mul(x[7], -HALF_ROOT, -HALF_ROOT);
    x[0] = cf_add(a, p), x[4] = cf_sub(a, p);
    x[1] = cf_add(b, q), x[5] = cf_sub(b, q);
    x[2] = cf_sub_i(c, r), x[6] = cf_add_i(c, r);
    x[3] = cf_add(d, s), x[7] = cf_sub(d, s);
}

INLINE void dft(struct cf *x, size_t n)
{
    if (n == 4) dft_4(&x[0], &x[1], &x[2], &x[3]);
    else if (n == 5) dft_5(x);
    else dft_8(x);
}

/* Outputs 0..8 of 16 reals: four transforms of four, then one of the sums, one of the differences (both real) and one of the rest. */
INLINE void dft_16_real(struct cf y[SPECTRA_ROWS], const vf x[SPECTRA_RADIX])
{
    vf z[4], t[4];
    struct cf o[4];
    UNROLL
    for (int b = 0; b < 4; b++) {
        const vf s = vf_add(x[b], x[b + 8]), u = vf_add(x[b + 4], x[b + 12]);
        z[b] = vf_add(s, u);
        t[b] = vf_sub(s, u);
        o[b] = (struct cf) { vf_sub(x[b], x[b + 8]), vf_sub(x[b + 12], x[b + 4]) };
    }
    const vf even = vf_add(z[0], z[2]), odd = vf_add(z[1], z[3]);
    y[0] = (struct cf) { vf_add(even, odd), vf_zero() };
    y[4] = (struct cf) { vf_sub(z[0], z[2]), vf_sub(z[3], z[1]) };
    y[8] = (struct cf) { vf_sub(even, odd), vf_zero() };
    const vf d = vf_sub(t[1], t[3]), s = vf_add(t[1], t[3]), h = vf_set1(HALF_ROOT);
    y[2] = (struct cf) { vf_fma(d, h, t[0]), vf_sub(vf_zero(), vf_fma(s, h, t[2])) };
    y[6] = (struct cf) { vf_fnma(d, h, t[0]), vf_fnma(s, h, t[2]) };
    o[1] = cf_mul(o[1], COS_8TH, -SIN_8TH);
    o[2] = cf_mul(o[2], HALF_ROOT, -HALF_ROOT);
    o[3] = cf_mul(o[3], SIN_8TH, -COS_8TH);
    dft_4(&o[0], &o[1], &o[2], &o[3]); /* 1, 5, 9, 13; the last two are conjugates of 7 and 3 */
    y[1] = o[0];
    y[5] = o[1];
    y[7] = (struct cf) { o[2].re, vf_sub(vf_zero(), o[2].im) };
    y[3] = (struct cf) { o[3].re, vf_sub(vf_zero(), o[3].im) };
}

/* ---- the steps --------------------------------------------------------------------------------------------------------------- */

/* points[n, VF_N]: the windowed samples of `frames` frames, one per lane; lanes without a frame are zero. */
INLINE void points_fill(float *points, const float *x, size_t hop, size_t frames, const struct spectrum *s)
{
    for (size_t i = 0; i < s->n; i += VF_N) {
        const vf window = vf_load(s->window + i);
        vf v[VF_N];
        UNROLL
        for (size_t f = 0; f < VF_N; f++) v[f] = f < frames ? vf_mul(vf_load(x + f * hop + i), window) : vf_zero();
        vf_transpose(v);
        UNROLL
        for (size_t j = 0; j < VF_N; j++) vf_store(points + (i + j) * VF_N, v[j]);
    }
}

/* rows[9, m complex] of points[16 m] */
INLINE void columns_transform(float *rows, const float *points, const struct spectrum *s, size_t m)
{
    for (size_t i = 0; i < m; i++) {
        vf x[SPECTRA_RADIX];
        struct cf y[SPECTRA_ROWS];
        UNROLL
        for (size_t j = 0; j < SPECTRA_RADIX; j++) x[j] = vf_load(points + (m * j + i) * VF_N);
        dft_16_real(y, x);
        cf_store(rows + 2 * i * VF_N, y[0]);
        UNROLL
        for (size_t k = 1; k < SPECTRA_ROWS; k++)
            cf_store(rows + (k * spectra_row(m) + 2 * i) * VF_N, cf_mul(y[k], s->turn[i][k - 1][0], s->turn[i][k - 1][1]));
    }
}

/* Powers of the bins k1 + 16 k2, or their mirror images, from row k1 of a * b numbers. */
INLINE void row_power(float *power, float *row, size_t k1, const struct spectrum *s, size_t a, size_t b)
{
    const size_t n = SPECTRA_RADIX * a * b;
    struct cf v[8];
    for (size_t j = 0; j < b; j++) {
        UNROLL
        for (size_t i = 0; i < a; i++) v[i] = cf_load(row + 2 * (b * i + j) * VF_N);
        dft(v, a);
        cf_store(row + 2 * j * VF_N, v[0]);
        UNROLL
        for (size_t i = 1; i < a; i++)
            cf_store(row + 2 * (b * i + j) * VF_N, cf_mul(v[i], s->row_turn[b * i + j][0], s->row_turn[b * i + j][1]));
    }
    for (size_t i = 0; i < a; i++) {
        UNROLL
        for (size_t j = 0; j < b; j++) v[j] = cf_load(row + 2 * (b * i + j) * VF_N);
        dft(v, b);
        UNROLL
        for (size_t j = 0; j < b; j++) {
            const size_t k = k1 + SPECTRA_RADIX * (i + a * j), bin = size_min(k, n - k);
            vf_store(power + bin * VF_N, vf_fma(v[j].re, v[j].re, vf_mul(v[j].im, v[j].im)));
        }
    }
}

INLINE void transform(float *points, float *rows, const struct spectrum *s, size_t a, size_t b)
{
    columns_transform(rows, points, s, a * b);
    for (size_t k = 0; k < SPECTRA_ROWS; k++) row_power(points, rows + k * spectra_row(a * b) * VF_N, k, s, a, b);
}

INLINE void bands_sum(float *band, const float *power, const struct spectrum *s)
{
    for (size_t b = 0; b < s->n_bands; b++) {
        const float *w = s->weight + b * (s->n / 2 + 1);
        vf sum = vf_set1(s->log.guard);
        for (size_t k = s->first[b]; k < s->last[b]; k++) sum = vf_fma(vf_load(power + k * VF_N), vf_set1(w[k]), sum);
        vf_store(band + b * VF_N, sum);
    }
}

/* With x = m 2^e and m near 1, ln m = 2 artanh((m - 1) / (m + 1)). |error| < 1e-6 of log10, 2e-6 of ln. */
INLINE vf log_floored(vf x, const struct spectrum_log *l)
{
    vf m;
    const vf e = vf_exponent(vf_max(x, vf_set1(l->floor / 2)), &m), one = vf_set1(1);
    const vf s = vf_div(vf_sub(m, one), vf_add(m, one)), z = vf_mul(s, s);
    vf p = vf_fma(z, vf_set1(0.11111111f), vf_set1(0.14285714f));
    p = vf_fma(p, z, vf_set1(0.2f));
    p = vf_fma(p, z, vf_set1(0.33333333f));
    p = vf_fma(p, z, one);
    const vf ln = vf_mul(vf_add(s, s), p);
    return vf_max(vf_fma(e, vf_set1(l->octave), vf_mul(ln, vf_set1(l->unit))), vf_set1(l->floor_log));
}

/* Logarithms of band[n_bands, VF_N] to the rows of the frames. */
INLINE void logs_store(float *out, const float *band, size_t frames, const struct spectrum *s)
{
    for (size_t b = 0; b < s->n_bands; b += VF_N) {
        const size_t n = size_min(VF_N, s->n_bands - b);
        vf v[VF_N];
        UNROLL
        for (size_t j = 0; j < VF_N; j++) v[j] = log_floored(j < n ? vf_load(band + (b + j) * VF_N) : vf_zero(), &s->log);
        vf_transpose(v);
        UNROLL
        for (size_t f = 0; f < VF_N; f++) {
            if (f >= frames) break;
            if (n == VF_N) vf_store(out + f * s->n_bands + b, v[f]);
            else vf_store_n(out + f * s->n_bands + b, v[f], n);
        }
    }
}

static void spectra(float *out, const float *x, size_t hop, size_t n, const struct spectrum *s, void *scratch)
{
    float *points = scratch, *rows = points + (size_t)s->n * VF_N;
    for (size_t i = 0; i < n; i += VF_N) {
        const size_t frames = size_min(VF_N, n - i);
        points_fill(points, x + i * hop, hop, frames, s);
        if (s->n == 400) transform(points, rows, s, 5, 5);
        else transform(points, rows, s, 4, 8);
        bands_sum(rows, points, s);
        logs_store(out + i * s->n_bands, rows, frames, s);
    }
}

static void init_spectra(struct kern *k)
{
    k->spectra = spectra;
}
#endif
