/* steno tests: filter-bank rows of a sound, and frames by their definition. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_FBANK_ROWS_H
#define STENO_TESTS_FBANK_ROWS_H
#include <math.h>
#include "audio/fbank.h"
#include "load/cmvn.h"
#include "npy.h"

static const double PI = 3.14159265358979323846;
static const float FLOOR = -15.942385f; /* ln FLT_EPSILON */
enum { N_BINS = FBANK_FFT / 2 + 1, LD_GAP = 16 };
static struct kern kern; /* kernels of the level that main tests */

struct rows {
    float *v; /* [n, width] */
    int64_t n;
    size_t width;
};

/* Append got[n, ld] to the rows without gaps, and check that the memory between rows is unchanged. */
static inline void rows_add(struct rows *r, float *got, int64_t n, size_t ld)
{
    for (int64_t i = 0; i < n; i++) {
        memcpy(r->v + (size_t)(r->n + i) * r->width, got + (size_t)i * ld, r->width * sizeof *got);
        for (size_t k = r->width; k < ld; k++) assert_true(got[(size_t)i * ld + k] == 77.0f);
    }
    r->n += n;
}

/* Push x[n] in pieces of `piece` and end, on a team of `threads`. */
static inline struct rows run_on(const struct fbank_bank *bank, const float *x, int64_t n, int64_t piece, int threads)
{
    steno_team *team = NULL;
    steno_error e;
    if (threads > 1) assert_int_equal(team_open(&team, threads, &e), STENO_OK);
    struct arena a;
    arena_init(&a);
    struct fbank *f;
    assert_int_equal(fbank_open(&f, &a, bank, team, &e), STENO_OK);
    const size_t taken = a.total;
    assert_true(taken >= fbank_memory(bank, team));
    fbank_begin(f);

    struct rows r = { .width = (size_t)fbank_width(bank) };
    const size_t ld = r.width + LD_GAP;
    const int64_t all = fbank_rows_for(f, n, 1);
    float *got = malloc(((size_t)all + 1) * ld * sizeof *got);
    r.v = malloc(((size_t)all + 1) * r.width * sizeof *r.v);
    assert_true(got && r.v);
    for (int64_t i = 0; i <= n; i += piece) {
        const int64_t k = n - i < piece ? n - i : piece, said = fbank_rows_for(f, k, 0);
        for (size_t c = 0; c < ((size_t)said + 1) * ld; c++) got[c] = 77.0f;
        assert_int_equal(fbank_push(f, x + i, k, got, ld), said);
        assert_true(got[(size_t)said * ld] == 77.0f);
        rows_add(&r, got, said, ld);
    }
    assert_int_equal(fbank_samples(f), n);
    const int64_t said = fbank_rows_for(f, 0, 1);
    for (size_t c = 0; c < ((size_t)said + 1) * ld; c++) got[c] = 77.0f;
    assert_int_equal(fbank_end(f, got, ld), said);
    rows_add(&r, got, said, ld);
    assert_int_equal(r.n, all);
    assert_int_equal(a.total, taken); /* no further memory was allocated */
    fbank_close(f);
    arena_free(&a);
    team_close(team);
    free(got);
    return r;
}

static inline struct rows run(const float *x, int64_t n, int64_t piece, int m, int lfr_n, int threads)
{
    struct arena a;
    struct fbank_bank bank;
    arena_init(&a);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ FBANK_BINS, m, lfr_n, NULL, NULL }, &kern, NULL), STENO_OK);
    struct rows r = run_on(&bank, x, n, piece, threads);
    arena_free(&a);
    return r;
}

/* compute out[80] of frame t by the definition */
static inline void frame_by_definition(double *out, const float *x, int64_t t)
{
    double y[400], mean = 0, power[N_BINS];
    for (int i = 0; i < 400; i++) mean += 32768.0 * (double)x[160 * t + i] / 400;
    for (int i = 0; i < 400; i++) {
        const double now = 32768.0 * (double)x[160 * t + i] - mean, past = 32768.0 * (double)x[160 * t + (i ? i - 1 : 0)] - mean;
        y[i] = (now - 0.97 * past) * (0.54 - 0.46 * cos(2 * PI * i / 399));
    }
    for (int k = 0; k < N_BINS; k++) {
        double re = 0, im = 0;
        for (int i = 0; i < 400; i++) {
            const double w = 2 * PI * ((i * k) % 512) / 512;
            re += y[i] * cos(w);
            im -= y[i] * sin(w);
        }
        power[k] = re * re + im * im;
    }
    const double low = 1127 * log(1 + 20.0 / 700), d = (1127 * log(1 + 8000.0 / 700) - low) / 81;
    for (int m = 0; m < 80; m++) {
        double sum = 0;
        for (int k = 0; k < 256; k++) {
            const double mel = 1127 * log(1 + 31.25 * k / 700), up = (mel - low - m * d) / d, down = (low + (m + 2) * d - mel) / d;
            const double tri = up < down ? up : down;
            if (tri > 0) sum += tri * power[k];
        }
        out[m] = log(sum > 1.1920928955078125e-07 ? sum : 1.1920928955078125e-07);
    }
}
#endif
