/* steno tests: centred filter banks. SPDX-License-Identifier: MIT
 *
 * The oracle is the definition in double precision with a direct Fourier sum. */
#include <math.h>
#include <stdlib.h>
#include "audio/fbank.h"
#include "audio/mel.h"
#include "harness.h"

enum { MELS = 80, STACK = 8, BINS = FBANK_FFT / 2 + 1, WIDTH = MELS * STACK + 1, ROWS_MAX = 17, SAMPLES_MAX = ROWS_MAX * STACK * 160 };
static double const pi = 3.14159265358979323846;
static float filters[MELS * BINS];

static void noise(float *x, int n, uint32_t seed)
{
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = 0.3f * (float)(int32_t)seed / 2147483648.0f * (float)(1 + i % 700) / 700;
    }
}

static struct fbank_centred centred = { .n_mels = MELS, .stack = STACK, .is_normalised = 1 };

/* Logarithms of frame t of x[n], before normalisation. */
static void frame_by_definition(double *out, const float *x, int n, int t)
{
    double y[FBANK_WINDOW], power[BINS];
    for (int i = 0; i < FBANK_WINDOW; i++) {
        const int at = 160 * t - 200 + i;
        const double now = at >= 0 && at < n ? (double)x[at] : 0, before = at > 0 && at < n ? (double)x[at - 1] : 0;
        y[i] = (now - 0.97 * before) * (0.5 - 0.5 * cos(2 * pi * i / 399));
    }
    for (int k = 0; k < BINS; k++) {
        double re = 0, im = 0;
        for (int i = 0; i < FBANK_WINDOW; i++) {
            re += y[i] * cos(2 * pi * k * (i + 56) / 512);
            im += y[i] * sin(2 * pi * k * (i + 56) / 512);
        }
        power[k] = re * re + im * im;
    }
    for (int m = 0; m < MELS; m++) {
        double sum = 0;
        for (int k = 0; k < BINS; k++) sum += power[k] * (double)filters[m * BINS + k];
        out[m] = log(sum + ldexp(1, -24));
    }
}

static void clip_by_definition(double *out, const float *x, int n)
{
    const int frames = n / 160;
    for (int t = 0; t < frames; t++) frame_by_definition(out + t * MELS, x, n, t);
    for (int m = 0; m < MELS && centred.is_normalised; m++) {
        double mean = 0, square = 0;
        for (int t = 0; t < frames; t++) mean += out[t * MELS + m] / frames;
        for (int t = 0; t < frames; t++) square += (out[t * MELS + m] - mean) * (out[t * MELS + m] - mean);
        const double deviation = frames > 1 ? sqrt(square / (frames - 1)) : 0;
        for (int t = 0; t < frames; t++) out[t * MELS + m] = (out[t * MELS + m] - mean) / (deviation + 1e-5);
    }
}

struct front { struct arena arena; struct kern kern; struct fbank_bank bank; struct fbank *fbank; steno_team *team; };

static void front_open(struct front *f, int threads)
{
    steno_error e;
    arena_init(&f->arena);
    kern_init(&f->kern, cpu_level_best());
    assert_int_equal(team_open(&f->team, threads, &e), 0);
    assert_int_equal(fbank_bank_centred(&f->bank, &f->arena, &centred, &f->kern, &e), 0);
    assert_int_equal(fbank_open(&f->fbank, &f->arena, &f->bank, f->team, &e), 0);
}

static void front_close(struct front *f)
{
    fbank_close(f->fbank);
    team_close(f->team);
    arena_free(&f->arena);
}

/* Rows of a clip that arrives in pieces. */
static int64_t clip_run(struct front *f, float *out, const float *x, int n, int piece)
{
    int64_t rows = 0;
    fbank_begin(f->fbank);
    const int64_t want = fbank_rows_for(f->fbank, n, 1);
    for (int at = 0; at < n; at += piece) {
        const int take = n - at < piece ? n - at : piece;
        const int64_t more = fbank_rows_for(f->fbank, take, 0);
        assert_int_equal(fbank_push(f->fbank, x + at, take, out + rows * WIDTH, WIDTH), more);
        rows += more;
    }
    rows += fbank_end(f->fbank, out + rows * WIDTH, WIDTH);
    assert_int_equal(rows, want);
    fbank_normalise(f->fbank, out, WIDTH);
    return rows;
}

static void check_rows(void)
{
    static int const length[] = { 0, 1, 159, 160, 319, 320, 400, 1279, 1280, 1281, 2567, 4000, 15999 };
    static float x[SAMPLES_MAX], got[ROWS_MAX * WIDTH];
    static double want[ROWS_MAX * STACK * MELS];
    struct front f;
    front_open(&f, 1);
    mel_filters_slaney(filters, MELS, FBANK_FFT);
    noise(x, SAMPLES_MAX, 3);
    for (size_t l = 0; l < sizeof length / sizeof *length; l++) {
        const int n = length[l], frames = n / 160, lead = centred.lead, rows = frames ? (frames + lead + STACK - 1) / STACK : 0;
        assert_int_equal(clip_run(&f, got, x, n, 4000), rows);
        clip_by_definition(want, x, n);
        for (int t = -lead; t < rows * STACK - lead; t++)
            for (int m = 0; m < MELS; m++) {
                const double is = (double)got[(t + lead) / STACK * WIDTH + (t + lead) % STACK * MELS + m];
                const double should = t >= 0 && t < frames ? want[t * MELS + m] : 0;
                if (!(fabs(is - should) < 2e-4)) fail_msg("%d samples, frame %d, band %d: %.6f, want %.6f", n, t, m, is, should);
            }
        for (int r = 0; r < rows; r++)
            assert_true((int)got[r * WIDTH + STACK * MELS] == (frames + lead - r * STACK < STACK ? frames + lead - r * STACK : STACK));
    }
    front_close(&f);
}

static void test_rows_equal_the_definition(void **state)
{
    (void)state;
    for (centred.lead = 0; centred.lead < STACK; centred.lead += STACK - 1) check_rows();
    centred.lead = 0;
}

static void test_rows_may_keep_their_level(void **state)
{
    (void)state;
    centred.is_normalised = 0;
    centred.lead = STACK - 1;
    check_rows();
    centred = (struct fbank_centred){ .n_mels = MELS, .stack = STACK, .is_normalised = 1 };
}

static void test_rows_depend_neither_on_pieces_nor_on_threads(void **state)
{
    (void)state;
    static float x[SAMPLES_MAX], want[ROWS_MAX * WIDTH], got[ROWS_MAX * WIDTH];
    static int const piece[] = { 1, 7, 160, 161, 399, SAMPLES_MAX };
    struct front f;
    noise(x, SAMPLES_MAX, 9);
    front_open(&f, 1);
    const int64_t rows = clip_run(&f, want, x, 15000, 15000);
    front_close(&f);
    for (int threads = 1; threads <= 2; threads++) {
        front_open(&f, threads);
        for (size_t i = 0; i < sizeof piece / sizeof *piece; i++) {
            assert_int_equal(clip_run(&f, got, x, 15000, piece[i]), rows);
            assert_memory_equal(got, want, (size_t)rows * WIDTH * sizeof *got);
        }
        front_close(&f);
    }
}

static void test_silence_and_damaged_samples_are_finite(void **state)
{
    (void)state;
    static float x[4000], got[ROWS_MAX * WIDTH];
    struct front f;
    front_open(&f, 1);
    int64_t rows = clip_run(&f, got, x, 4000, 4000);
    for (int64_t i = 0; i < rows * WIDTH; i++) assert_true(got[i] == 0 || i % WIDTH == WIDTH - 1);
    noise(x, 4000, 5);
    x[100] = NAN;
    x[2000] = INFINITY;
    x[3000] = -INFINITY;
    rows = clip_run(&f, got, x, 4000, 4000);
    for (int64_t i = 0; i < rows * WIDTH; i++) assert_true(isfinite(got[i]));
    front_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_equal_the_definition),
        cmocka_unit_test(test_rows_may_keep_their_level),
        cmocka_unit_test(test_rows_depend_neither_on_pieces_nor_on_threads),
        cmocka_unit_test(test_silence_and_damaged_samples_are_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
