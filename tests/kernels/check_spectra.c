/* steno: checks of spectra. SPDX-License-Identifier: MIT
 *
 * Bands of one bin each show the power spectrum; what they must be is the Fourier sum in double precision. */
#include "check.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct spectrum_log log10_floored = { 1e-10f, -10.0f, 0.301029996f, 0.434294482f, 0 };
static const struct spectrum_log ln_floored = { 1.1920929e-07f, -15.942385f, 0.693147181f, 1.0f, 0 };

struct shape { uint32_t n, n_bands, first_bin; };

static double root[SPECTRUM_MAX][2]; /* of unity, for the spectrum made last */

/* A spectrum whose band b is bin first_bin + b times 2^(b mod 3), under a crooked window. */
static struct spectrum *spectrum_new(const struct shape *h, const struct spectrum_log *l)
{
    const uint32_t bins = h->n / 2 + 1;
    struct spectrum *s = aligned_alloc_64(sizeof *s);
    float *weight = guarded_floats((size_t)h->n_bands * bins);
    memset(weight, 0, (size_t)h->n_bands * bins * sizeof *weight);
    for (uint32_t b = 0; b < h->n_bands; b++) weight[b * bins + h->first_bin + b] = (float)(1u << b % 3);
    spectrum_init(s, h->n, weight, h->n_bands, l);
    for (uint32_t i = 0; i < h->n; i++) {
        const double turn = 2 * 3.14159265358979323846 * i / h->n;
        s->window[i] = 0.5f + 0.25f * rnd_normal();
        root[i][0] = cos(turn), root[i][1] = sin(turn);
    }
    return s;
}

/* Power of bin k of a windowed frame, by the definition. */
static double power_of(const float *x, const struct spectrum *s, uint32_t k)
{
    double re = 0, im = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const double v = (double)(x[i] * s->window[i]), *turn = root[i * k % s->n];
        re += v * turn[0];
        im -= v * turn[1];
    }
    return re * re + im * im;
}

static double norm_of(const float *x, const struct spectrum *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n; i++) sum += (double)(x[i] * s->window[i]) * (double)(x[i] * s->window[i]);
    return sqrt(sum);
}

/* The row of frame x: each logarithm lies between those of the powers that the transform's error allows. */
static void check_row(struct check *c, const float *got, const float *x, const struct spectrum *s, const struct shape *h, size_t row)
{
    const double off = 8 * (double)FLT_EPSILON * norm_of(x, s), log_off = 1e-6 / 0.434294482 * (double)s->log.unit;
    for (uint32_t b = 0; b < h->n_bands; b++) {
        const double size = sqrt(power_of(x, s, h->first_bin + b)), w = 1u << b % 3, floor = (double)s->log.floor;
        const double min = size > off ? w * (size - off) * (size - off) : 0, max = w * (size + off) * (size + off);
        const double low = log(min > floor ? min : floor) * (double)s->log.unit;
        const double high = log(max > floor ? max : floor) * (double)s->log.unit;
        const double slack = log_off + (double)FLT_EPSILON * fmax(fabs(low), fabs(high));
        if (!check(c, got[b] >= low - slack && got[b] <= high + slack, "spectra n %u row %zu band %u: got %.9g, want %.9g .. %.9g",
                   s->n, row, b, (double)got[b], low, high))
            return;
    }
}

static void frames_fill(float *x, const struct shape *h, size_t hop, size_t rows)
{
    rnd_floats(x, (rows - 1) * hop + h->n, 1);
    for (size_t i = 0; i < h->n && rows > 2; i++) x[2 * hop + i] *= 1e-4f; /* a quiet frame between loud ones, where hop allows */
    for (size_t i = 0; i < h->n && rows > 4; i++) x[(rows - 1) * hop + i] = 1e3f * (float)sin(0.7 * (double)i); /* one bin far above */
}

static void check_rows(struct check *c, const struct shape *h, size_t hop, size_t rows, const struct spectrum_log *l)
{
    struct spectrum *s = spectrum_new(h, l);
    float *x = guarded_floats((rows - 1) * hop + h->n), *out = guarded_floats(rows * h->n_bands + 1), one[SPECTRUM_BANDS];
    char *scratch = guarded(kern_spectra_scratch(h->n));
    frames_fill(x, h, hop, rows);
    fill_canary(out, rows * h->n_bands + 1);
    c->kern->spectra(out + 1, x, hop, rows, s, scratch);
    check(c, is_canary(out[0]), "spectra wrote before out");
    for (size_t i = 0; i < rows; i++) {
        check_row(c, out + 1 + i * h->n_bands, x + i * hop, s, h, i);
        c->kern->spectra(one, x + i * hop, 1, 1, s, scratch);
        check(c, same_bits(one, out + 1 + i * h->n_bands, h->n_bands), "spectra n %u row %zu of %zu differs from the row alone", h->n, i,
              rows);
    }
    free(s);
    guarded_free_all();
}

/* Frames of nothing, of NaN and of infinities keep to themselves. */
static void check_neighbours(struct check *c, uint32_t n)
{
    enum { ROWS = 40, BANDS = 24 };
    const struct shape h = { n, BANDS, 3 };
    struct spectrum *s = spectrum_new(&h, &log10_floored);
    float *x = guarded_floats(ROWS * (size_t)n), *out = guarded_floats(ROWS * BANDS), *want = guarded_floats(ROWS * BANDS);
    char *scratch = guarded(kern_spectra_scratch(n));
    rnd_floats(x, ROWS * (size_t)n, 1);
    c->kern->spectra(want, x, n, ROWS, s, scratch);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < n && i % 4; k++) x[i * n + k] = i % 4 == 1 ? 0 : i % 4 == 2 ? NAN : INFINITY;
    memset(scratch, 0xff, kern_spectra_scratch(n)); /* NaN */
    c->kern->spectra(out, x, n, ROWS, s, scratch);
    for (size_t i = 0; i < ROWS; i++) {
        const float *got = out + i * BANDS;
        if (i % 4 == 0) check(c, same_bits(got, want + i * BANDS, BANDS), "spectra n %u row %zu feels its neighbours", n, i);
        for (size_t b = 0; b < BANDS && i % 4 == 1; b++) check(c, got[b] == -10.0f, "spectra of silence: %.9g", (double)got[b]);
    }
    free(s);
    guarded_free_all();
}

/* log10 of powers from far below the floor to the largest: a single impulse has the same power in every bin. */
static void check_log(struct check *c, const struct spectrum_log *l)
{
    const struct shape h = { 400, 1, 7 };
    struct spectrum *s = spectrum_new(&h, l);
    float *x = guarded_floats(400), got;
    char *scratch = guarded(kern_spectra_scratch(400));
    memset(x, 0, 400 * sizeof *x);
    s->window[0] = 1;
    for (double size = 1e-22; size < 1e19; size *= c->quick ? 1.37 : 1.0173) {
        x[0] = (float)size;
        c->kern->spectra(&got, x, 400, 1, s, scratch);
        const double power = (double)x[0] * (double)x[0], floor = (double)l->floor;
        const double want = power > floor ? log(power) * (double)l->unit : (double)l->floor_log;
        const double off = 1e-6 / 0.434294482 * (double)l->unit + (double)FLT_EPSILON * fabs(want);
        check(c, fabs((double)got - want) <= off && got >= l->floor_log, "log of %.9g: got %.9g, want %.9g", power, (double)got,
              want);
        if (power <= floor / 2) check(c, got == l->floor_log, "log of %.9g is %.9g, not the floor", power, (double)got);
    }
    free(s);
    guarded_free_all();
}

void check_spectra(struct check *c)
{
    static const struct shape shapes[] = {
        { 400, 128, 0 }, { 400, 128, 73 }, { 400, 80, 60 }, { 400, 1, 200 }, { 400, 17, 100 },
        { 512, 128, 0 }, { 512, 128, 129 }, { 512, 80, 100 }, { 512, 5, 252 },
    };
    static const size_t rows[] = { 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 70 };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        for (size_t j = 0; j < sizeof rows / sizeof *rows; j++) {
            if ((i + j) % (c->quick ? 11 : 3) && rows[j] != 17) continue;
            const size_t hop = j % 3 == 0 ? 160 : j % 3 == 1 ? shapes[i].n + 3 : 1;
            check_rows(c, &shapes[i], hop, rows[j], i % 2 ? &ln_floored : &log10_floored);
        }
    check_neighbours(c, 400);
    check_neighbours(c, 512);
    check_log(c, &log10_floored);
    check_log(c, &ln_floored);
}
