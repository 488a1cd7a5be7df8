/* steno tests: log-mel rows of whole clips. SPDX-License-Identifier: MIT
 *
 * The oracle is the definition in double precision with a direct Fourier sum: audio mirrored at both ends, the largest value of the clip,
 * rows that begin again with every chunk. */
#include <math.h>
#include <stdlib.h>
#include "audio/fbank.h"
#include "audio/mel.h"
#include "harness.h"

enum { MELS = 128, STACK = 8, CHUNK = 100, CHUNK_ROWS = 13, WIDTH = MELS * STACK, FRAMES_MAX = 212, ROWS_MAX = 28,
       SAMPLES_MAX = FRAMES_MAX * 160 };
static double const pi = 3.14159265358979323846;
static float filters[MELS * MEL_BINS], x[SAMPLES_MAX], got[ROWS_MAX * WIDTH], again[ROWS_MAX * WIDTH];
static double want[FRAMES_MAX * MELS];

/* Louder and louder, so that the clip's largest value is not in its first frames. */
static void noise(float loud)
{
    uint32_t seed = 7;
    for (int i = 0; i < SAMPLES_MAX; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = loud * (float)(int32_t)seed / 2147483648.0f * (float)(i + 1) / SAMPLES_MAX;
    }
}

/* Frames of n samples, zeros up to half a second; divided by the peak if that is above 1. @return their number */
static int clip_by_definition(int n)
{
    const int all = n < 8000 ? 8000 : n, frames = all / 160;
    double most = -10, peak = 1;
    for (int i = 0; i < n; i++) peak = fmax(peak, fabs((double)x[i]));
    for (int t = 0; t < frames; t++) {
        double power[MEL_BINS];
        for (int k = 0; k < MEL_BINS; k++) {
            double re = 0, im = 0;
            for (int i = 0; i < 400; i++) {
                int at = abs(160 * t - 200 + i);
                if (at >= all) at = 2 * (all - 1) - at;
                const double y = (at < n ? (double)x[at] / peak : 0) * (0.5 - 0.5 * cos(2 * pi * i / 400));
                re += y * cos(2 * pi * k * i / 400);
                im += y * sin(2 * pi * k * i / 400);
            }
            power[k] = re * re + im * im;
        }
        for (int m = 0; m < MELS; m++) {
            double sum = 0;
            for (int k = 0; k < MEL_BINS; k++) sum += power[k] * (double)filters[m * MEL_BINS + k];
            want[t * MELS + m] = log10(fmax(sum, 1e-10));
            most = fmax(most, want[t * MELS + m]);
        }
    }
    for (int i = 0; i < frames * MELS; i++) want[i] = (fmax(want[i], most - 8) + 4) / 4;
    return frames;
}

struct front { struct arena arena; struct kern kern; struct fbank_bank bank; struct fbank *fbank; steno_team *team; };

static void front_open(struct front *f, int level, int threads)
{
    steno_error e;
    arena_init(&f->arena);
    kern_init(&f->kern, level);
    assert_int_equal(team_open(&f->team, threads, &e), 0);
    assert_int_equal(fbank_bank_log_mel(&f->bank, &f->arena, MELS, STACK, CHUNK, &f->kern, &e), 0);
    assert_int_equal(fbank_open(&f->fbank, &f->arena, &f->bank, f->team, &e), 0);
}

static void front_close(struct front *f)
{
    fbank_close(f->fbank);
    team_close(f->team);
    arena_free(&f->arena);
}

static int64_t clip(struct front *f, float *out, int n)
{
    fbank_begin(f->fbank);
    const int64_t rows = fbank_rows_for(f->fbank, n, 1);
    assert_true(rows <= ROWS_MAX);
    for (int i = 0; i < ROWS_MAX * WIDTH; i++) out[i] = 77;
    assert_int_equal(fbank_clip(f->fbank, x, n, out, WIDTH), rows);
    return rows;
}

static void check_rows(const float *rows, int64_t n_rows, int frames, int n)
{
    int seen = 0;
    for (int r = 0; r < n_rows; r++)
        for (int s = 0; s < STACK; s++) {
            const int in = r % CHUNK_ROWS * STACK + s, t = r / CHUNK_ROWS * CHUNK + in, has = in < CHUNK && t < frames;
            for (int m = 0; m < MELS; m++) {
                const double is = (double)rows[r * WIDTH + s * MELS + m], should = has ? want[t * MELS + m] : 0;
                if (!(fabs(is - should) < 1e-5)) fail_msg("%d samples, frame %d, band %d: %.7f, want %.7f", n, t, m, is, should);
            }
            seen += has;
        }
    assert_int_equal(seen, frames);
}

static void check_lengths(float loud)
{
    static int const length[] = { 1, 100, 201, 7999, 8000, 8159, 15999, 16000, 16160, 32000, SAMPLES_MAX };
    static int const rows[] = { 7, 7, 7, 7, 7, 7, 13, 13, 14, 26, 28 };
    struct front f;
    mel_filters_slaney(filters, MELS, MEL_FFT);
    noise(loud);
    front_open(&f, cpu_level_best(), 1);
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        assert_int_equal(clip(&f, got, length[i]), rows[i]);
        check_rows(got, rows[i], clip_by_definition(length[i]), length[i]);
    }
    assert_int_equal(clip(&f, got, 0), 0);
    front_close(&f);
}

static void test_rows_equal_the_definition(void **state)
{
    (void)state;
    check_lengths(0.3f);
}

static void test_samples_above_one_are_divided_by_their_peak(void **state)
{
    (void)state;
    check_lengths(5);
}

static void test_threads_do_not_change_rows_and_levels_agree(void **state)
{
    (void)state;
    struct front f;
    noise(0.3f);
    const int frames = clip_by_definition(SAMPLES_MAX);
    for (int level = 0; level <= cpu_level_best(); level++) {
        if (!cpu_level_usable(level)) continue;
        front_open(&f, level, 1);
        const int64_t rows = clip(&f, got, SAMPLES_MAX);
        check_rows(got, rows, frames, SAMPLES_MAX);
        front_close(&f);
        front_open(&f, level, 3);
        clip(&f, again, SAMPLES_MAX);
        assert_memory_equal(got, again, sizeof got);
        front_close(&f);
    }
}

static void test_samples_that_are_not_numbers_count_as_zero(void **state)
{
    (void)state;
    struct front f;
    noise(0.3f);
    x[5000] = x[100] = 0;
    front_open(&f, cpu_level_best(), 1);
    clip(&f, got, 9000);
    x[5000] = NAN;
    x[100] = -NAN;
    clip(&f, again, 9000);
    assert_memory_equal(got, again, sizeof got);
    x[100] = INFINITY;
    const int64_t rows = clip(&f, again, 9000);
    for (int i = 0; i < rows * WIDTH; i++) assert_true(isfinite(again[i]));
    front_close(&f);
}

static void test_samples_of_rows_and_rows_of_frames_agree(void **state)
{
    (void)state;
    struct front f;
    front_open(&f, cpu_level_best(), 1);
    assert_int_equal(fbank_samples_of_rows(&f.bank, 390), 30 * 16000);
    assert_int_equal(fbank_samples_of_rows(&f.bank, 14), 16000 + 1280);
    for (int64_t frames = 0; frames < 400; frames++) {
        const int64_t rows = fbank_rows_of_frames(&f.bank, frames), spans = fbank_samples_of_rows(&f.bank, rows) / 160;
        assert_true(spans >= frames && spans < frames + STACK);
    }
    front_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_equal_the_definition),
        cmocka_unit_test(test_samples_above_one_are_divided_by_their_peak),
        cmocka_unit_test(test_threads_do_not_change_rows_and_levels_agree),
        cmocka_unit_test(test_samples_that_are_not_numbers_count_as_zero),
        cmocka_unit_test(test_samples_of_rows_and_rows_of_frames_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
