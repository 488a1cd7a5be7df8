/* steno tests: Kaldi's filter banks. SPDX-License-Identifier: MIT
 *
 * The oracle is the definition in double precision with a direct Fourier sum, and the stacking rule frame by frame. What the reference
 * itself computes lies in the shared collection and is compared where that is. */
#include <math.h>
#include "audio/fbank.h"
#include "load/cmvn.h"
#include "npy.h"
#include "steno_media.h"

#ifndef STENO_TEST_DATA
#define STENO_TEST_DATA "tests/data"
#endif

static const double PI = 3.14159265358979323846;
static const float FLOOR = -15.942385f; /* ln FLT_EPSILON */
enum { N_BINS = FBANK_FFT / 2 + 1, LD_GAP = 16 };

/* ---- helpers ----------------------------------------------------------------------------------------------------------------- */

static struct kern kern; /* of the level that main is at */

static float *noise_new(int64_t n, uint32_t seed)
{
    float *x = calloc((size_t)n + 1, sizeof *x);
    assert_non_null(x);
    for (int64_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = 0.3f * (float)(int32_t)seed / 2147483648.0f;
    }
    return x;
}

struct rows {
    float *v; /* [n, width] */
    int64_t n;
    size_t width;
};

/* Move got[n, ld] together into the rows; what lies between rows must still be as it was. */
static void rows_add(struct rows *r, float *got, int64_t n, size_t ld)
{
    for (int64_t i = 0; i < n; i++) {
        memcpy(r->v + (size_t)(r->n + i) * r->width, got + (size_t)i * ld, r->width * sizeof *got);
        for (size_t k = r->width; k < ld; k++) assert_true(got[(size_t)i * ld + k] == 77.0f);
    }
    r->n += n;
}

/* Push x[n] in pieces of `piece` and end, on a team of `threads`. */
static struct rows run_on(const struct fbank_bank *bank, const float *x, int64_t n, int64_t piece, int threads)
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
    assert_int_equal(a.total, taken); /* nothing was allocated on the way */
    fbank_close(f);
    arena_free(&a);
    team_close(team);
    free(got);
    return r;
}

static struct rows run(const float *x, int64_t n, int64_t piece, int m, int lfr_n, int threads)
{
    struct arena a;
    struct fbank_bank bank;
    arena_init(&a);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ FBANK_BINS, m, lfr_n, NULL, NULL }, &kern, NULL), STENO_OK);
    struct rows r = run_on(&bank, x, n, piece, threads);
    arena_free(&a);
    return r;
}

static int64_t frames_of(int64_t n)
{
    return n < 400 ? 0 : 1 + (n - 400) / 160;
}

/* out[80] of frame t by the definition */
static void frame_by_definition(double *out, const float *x, int64_t t)
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

/* ---- values ------------------------------------------------------------------------------------------------------------------ */

static void test_frames_equal_the_definition(void **state)
{
    (void)state;
    float *x = noise_new(2000, 3);
    for (int i = 700; i < 1500; i++) x[i] = 0.4f * (float)sin(2 * PI * 440 * i / 16000) + 0.1f; /* a tone on a constant */
    struct rows r = run(x, 2000, 2000, 1, 1, 1);
    assert_int_equal(r.n, 11);
    for (int64_t t = 0; t < r.n; t++) {
        double want[80];
        frame_by_definition(want, x, t);
        for (int m = 0; m < 80; m++)
            if (!(fabs(r.v[t * 80 + m] - want[m]) < 1e-3)) /* f32 rounding of the transform shows beside a loud tone */
                fail_msg("frame %d, band %d: %.6f, want %.6f", (int)t, m, (double)r.v[t * 80 + m], want[m]);
    }
    free(r.v);
    free(x);
}

static void test_constant_and_silent_sound_is_exactly_the_floor(void **state)
{
    (void)state;
    static const float level[] = { 0, 0.1f, -0.7f, 1.0f / 3 };
    float x[800];
    for (size_t l = 0; l < sizeof level / sizeof *level; l++) {
        for (int i = 0; i < 800; i++) x[i] = level[l];
        struct rows r = run(x, 800, 800, 1, 1, 1);
        for (int i = 0; i < 3 * 80; i++) assert_true(r.v[i] == FLOOR);
        free(r.v);
    }
}

static void test_a_constant_added_changes_nothing(void **state)
{
    (void)state;
    float *x = noise_new(1600, 5), y[1600];
    for (int i = 0; i < 1600; i++) y[i] = x[i] + 0.25f;
    struct rows a = run(x, 1600, 1600, 1, 1, 1), b = run(y, 1600, 1600, 1, 1, 1);
    for (int i = 0; i < 8 * 80; i++) assert_true(fabsf(a.v[i] - b.v[i]) < 1e-3f);
    free(a.v);
    free(b.v);
    free(x);
}

static void test_sound_divided_by_32768_is_lower_by_20_794(void **state)
{
    (void)state;
    float *x = noise_new(1600, 7), y[1600];
    for (int i = 0; i < 1600; i++) y[i] = x[i] / 32768;
    struct rows a = run(x, 1600, 1600, 1, 1, 1), b = run(y, 1600, 1600, 1, 1, 1);
    for (int i = 0; i < 8 * 80; i++) {
        assert_true(b.v[i] > FLOOR);
        assert_true(fabs((double)a.v[i] - b.v[i] - 30 * log(2)) < 5e-6);
    }
    free(a.v);
    free(b.v);
    free(x);
}

static void test_nan_counts_as_zero_and_huge_samples_stay_finite(void **state)
{
    (void)state;
    float *x = noise_new(3200, 37), *y = noise_new(3200, 37);
    x[700] = NAN;
    y[700] = 0;
    struct rows a = run(x, 3200, 3200, 7, 6, 1), b = run(y, 3200, 3200, 7, 6, 1);
    assert_memory_equal(a.v, b.v, (size_t)a.n * a.width * sizeof(float));
    free(a.v);
    free(b.v);
    for (int i = 500; i < 900; i++) x[i] = i & 1 ? INFINITY : i & 2 ? -INFINITY : 3e38f;
    a = run(x, 3200, 3200, 7, 6, 1);
    for (size_t i = 0; i < (size_t)a.n * a.width; i++) assert_true(isfinite(a.v[i]));
    free(a.v);
    free(x);
    free(y);
}

/* ---- rows -------------------------------------------------------------------------------------------------------------------- */

static void test_row_counts_are_ceil_of_frames_by_step(void **state)
{
    (void)state;
    static const int64_t table[][4] = { /* samples, frames, rows of 7/6, rows of 5/1 */
        { 0, 0, 0, 0 },       { 1, 0, 0, 0 },        { 399, 0, 0, 0 },        { 400, 1, 1, 1 },         { 559, 1, 1, 1 },
        { 560, 2, 1, 2 },     { 1359, 6, 1, 6 },     { 1360, 7, 2, 7 },       { 96000, 598, 100, 598 }, { 88747, 553, 93, 553 },
        { 79872, 497, 83, 497 }, { 1127530, 7045, 1175, 7045 },
    };
    float *x = noise_new(1127530, 9);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const int64_t n = table[i][0], piece = n > 1000 ? n : 7;
        struct rows one = run(x, n, piece, 1, 1, 1), asr = run(x, n, piece, 7, 6, 1), vad = run(x, n, piece, 5, 1, 1);
        assert_int_equal(one.n, table[i][1]);
        assert_int_equal(asr.n, table[i][2]);
        assert_int_equal(vad.n, table[i][3]);
        free(one.v);
        free(asr.v);
        free(vad.v);
    }
    free(x);
}

static void test_rows_stack_frames_with_repeated_edges(void **state)
{
    (void)state;
    static const int kinds[][2] = { { 7, 6 }, { 5, 1 }, { 1, 1 }, { 4, 2 }, { 3, 3 }, { 32, 32 }, { 32, 1 }, { 2, 1 } };
    float *x = noise_new(400 + 160 * 70, 11);
    for (int frames = 1; frames <= 70; frames++) {
        const int64_t n = 400 + 160 * (frames - 1);
        struct rows one = run(x, n, n, 1, 1, 1);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            const int m = kinds[k][0], step = kinds[k][1];
            struct rows r = run(x, n, frames % 2 ? n : 333, m, step, 1);
            assert_int_equal(r.n, (frames + step - 1) / step);
            for (int64_t i = 0; i < r.n; i++)
                for (int j = 0; j < m; j++) {
                    int64_t t = i * step + j - (m - 1) / 2;
                    t = t < 0 ? 0 : t > frames - 1 ? frames - 1 : t;
                    assert_memory_equal(r.v + (size_t)(i * m + j) * 80, one.v + (size_t)t * 80, 80 * sizeof(float));
                }
            free(r.v);
        }
        free(one.v);
    }
    free(x);
}

static void test_rows_come_as_soon_as_their_last_frame_is_complete(void **state)
{
    (void)state;
    struct arena a;
    struct fbank_bank bank;
    struct fbank *f;
    arena_init(&a);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ 80, 7, 6, NULL, NULL }, &kern, NULL), STENO_OK);
    assert_int_equal(fbank_open(&f, &a, &bank, NULL, NULL), STENO_OK);
    float *x = noise_new(3000, 13), *out = calloc(20 * 560, sizeof *out);
    assert_non_null(out);
    fbank_begin(f);
    assert_int_equal(fbank_push(f, x, 400 + 160 * 3 - 1, out, 560), 0); /* frames 0..2 */
    assert_int_equal(fbank_push(f, x, 1, out, 560), 1);                 /* frame 3: row 0 is 0 0 0 0 1 2 3 */
    assert_int_equal(fbank_push(f, x, 160 * 6 - 1, out, 560), 0);
    assert_int_equal(fbank_push(f, x, 1, out, 560), 1); /* frame 9: row 1 is 3..9 */
    assert_int_equal(fbank_end(f, out, 560), 0);        /* 10 frames are two rows */
    free(x);
    free(out);
    arena_free(&a);
}

static void test_shift_and_scale_are_applied_per_column(void **state)
{
    (void)state;
    float *x = noise_new(4000, 15), shift[560], scale[560];
    for (int i = 0; i < 560; i++) {
        shift[i] = -8.0f - 0.01f * (float)i;
        scale[i] = 0.1f + 0.001f * (float)i;
    }
    struct arena a;
    struct fbank_bank bank;
    arena_init(&a);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ 80, 7, 6, shift, scale }, &kern, NULL), STENO_OK);
    struct rows plain = run(x, 4000, 4000, 7, 6, 1), r = run_on(&bank, x, 4000, 4000, 1);
    assert_int_equal(r.n, plain.n);
    for (int64_t i = 0; i < r.n; i++)
        for (int k = 0; k < 560; k++) assert_true(r.v[i * 560 + k] == (plain.v[i * 560 + k] + shift[k]) * scale[k]);
    free(plain.v);
    free(r.v);
    free(x);
    arena_free(&a);
}

static void test_rows_do_not_depend_on_push_sizes_and_threads(void **state)
{
    (void)state;
    static const int64_t pieces[] = { 1, 7, 160, 399, 400, 401, 960, 81920, 82160, 200001 };
    const int64_t n = 200001;
    float *x = noise_new(n, 17);
    memset(x + 100000, 0, 5000 * sizeof *x);
    for (int kind = 0; kind < 2; kind++) {
        const int m = kind ? 5 : 7, step = kind ? 1 : 6;
        struct rows whole = run(x, n, n, m, step, 1);
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i += SANITIZED ? 3 : 1) {
            const int64_t k = pieces[i] < 160 ? 20000 : n; /* small pieces: a shorter sound is enough */
            struct rows a = run(x, k, k, m, step, 1), b = run(x, k, pieces[i], m, step, i % 2 ? 3 : 1);
            assert_int_equal(a.n, b.n);
            assert_memory_equal(a.v, b.v, (size_t)a.n * a.width * sizeof(float));
            free(a.v);
            free(b.v);
        }
        struct rows seven = run(x, n, n, m, step, 7);
        assert_memory_equal(whole.v, seven.v, (size_t)whole.n * whole.width * sizeof(float));
        free(seven.v);
        free(whole.v);
    }
    free(x);
}

static void test_begin_forgets_the_previous_sound(void **state)
{
    (void)state;
    struct arena a;
    struct fbank_bank bank;
    struct fbank *f;
    arena_init(&a);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ 80, 7, 6, NULL, NULL }, &kern, NULL), STENO_OK);
    assert_int_equal(fbank_open(&f, &a, &bank, NULL, NULL), STENO_OK);
    float *x = noise_new(3000, 19), first[4 * 560], second[4 * 560];
    int64_t n = fbank_push(f, x, 3000, first, 560);
    n += fbank_end(f, first + n * 560, 560);
    assert_int_equal(n, 3);
    fbank_begin(f);
    fbank_push(f, x + 100, 1234, second, 560);
    fbank_begin(f);
    assert_int_equal(fbank_samples(f), 0);
    assert_int_equal(fbank_rows_for(f, 3000, 1), 3);
    n = fbank_push(f, x, 3000, second, 560);
    fbank_end(f, second + n * 560, 560);
    assert_memory_equal(first, second, 3 * 560 * sizeof(float));
    free(x);
    arena_free(&a);
}

static void test_sizes_out_of_range_are_refused(void **state)
{
    (void)state;
    static const int bad[][3] = { { 0, 7, 6 }, { 129, 7, 6 }, { 80, 0, 1 }, { 80, 33, 1 }, { 80, 7, 0 }, { 80, 5, 6 }, { -1, 1, 1 } };
    struct arena a;
    struct fbank_bank bank;
    arena_init(&a);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        steno_error e = { 0 };
        const struct fbank_params p = { bad[i][0], bad[i][1], bad[i][2], NULL, NULL };
        assert_int_equal(fbank_bank_init(&bank, &a, &p, &kern, &e), STENO_EUNSUPPORTED);
        assert_true(*e.text);
    }
    arena_free(&a);
}

/* ---- the reference ----------------------------------------------------------------------------------------------------------- */

static float *sound_read(const char *path, int64_t *n)
{
    enum { MOST = 16000 * 80 };
    steno_media *m = NULL;
    steno_error e;
    if (steno_media_open(&m, path, NULL, NULL, &e)) fail_msg("%s: %s", path, e.text);
    steno_source src;
    steno_media_source(m, &src);
    float *x = malloc(MOST * sizeof *x);
    assert_non_null(x);
    *n = 0;
    for (int64_t got; (got = src.read(src.user, x + *n, MOST - *n)) > 0;) *n += got;
    steno_media_close(m);
    return x;
}

/* A sound of the collection; NULL where it is not on this machine. */
static float *sound_shared(const char *name, int64_t *n)
{
    char file[512], path[1024];
    snprintf(file, sizeof file, "funasr/audio/%s.wav", name);
    FILE *f = shared_open(file);
    if (!f) return NULL;
    fclose(f);
    snprintf(path, sizeof path, "%s/material/%s", getenv("STENO_SHARED"), file);
    return sound_read(path, n);
}

/* Far below the loudest band of its row a value shows the rounding of the reference's own transform, in f32: zh_synth's frame 172 has
 * 3.358567 in band 1 where double precision throughout has 3.357935. There twice the tolerance is given. */
static void compare(const char *file, const struct rows *r, double tolerance)
{
    enum { FAR_BELOW = 18 }; /* nats: a power of 1.5e-8 */
    struct npy want = npy_read(file);
    if (!want.v) fail_msg("%s is missing", file);
    assert_int_equal(r->n, want.dim[0]);
    assert_int_equal(r->width, want.dim[1]);
    for (size_t row = 0; row < want.n; row += r->width) {
        float top = want.v[row];
        for (size_t i = 1; i < r->width; i++) top = fmaxf(top, want.v[row + i]);
        for (size_t i = 0; i < r->width; i++) {
            const double got = r->v[row + i], wanted = want.v[row + i];
            if (!(fabs(got - wanted) <= (wanted < top - FAR_BELOW ? 2 * tolerance : tolerance)))
                fail_msg("%s: row %zu, column %zu: %.6f, want %.6f", file, row / r->width, i, got, wanted);
        }
    }
    free(want.v);
}

static void golden(const char *name)
{
    int64_t n;
    float *x = sound_shared(name, &n), *shift, *scale;
    if (!x) skip();
    char path[1024], file[256];
    struct file f;
    struct arena a;
    struct fbank_bank bank;
    snprintf(path, sizeof path, "%s/material/funasr/models/sensevoice/pt/am.mvn", getenv("STENO_SHARED"));
    arena_init(&a);
    assert_int_equal(file_open(&f, path, NULL), STENO_OK);
    assert_int_equal(cmvn_read(&f, &a, 560, &shift, &scale, NULL), STENO_OK);
    file_close(&f);

    struct rows r = run(x, n, n, 1, 1, 1);
    snprintf(file, sizeof file, "funasr/golden/sensevoice/%s.fbank.npy", name);
    compare(file, &r, 5e-4);
    free(r.v);
    r = run(x, n, 1600, 7, 6, 2);
    snprintf(file, sizeof file, "funasr/golden/sensevoice/%s.lfr.npy", name);
    compare(file, &r, 5e-4);
    free(r.v);
    assert_int_equal(fbank_bank_init(&bank, &a, &(struct fbank_params){ 80, 7, 6, shift, scale }, &kern, NULL), STENO_OK);
    r = run_on(&bank, x, n, n, 1);
    snprintf(file, sizeof file, "funasr/golden/sensevoice/%s.cmvn.npy", name);
    compare(file, &r, 2e-4); /* twice 5e-4 times a scale of at most 0.2 */
    free(r.v);
    arena_free(&a);
    free(x);
}

static void test_zh_synth_equals_the_reference_before_and_after_stacking_and_scaling(void **state)
{
    (void)state;
    golden("zh_synth");
}

static void test_en_george_equals_the_reference_before_and_after_stacking_and_scaling(void **state)
{
    (void)state;
    golden("en_george");
}

static void test_recordings_have_the_values_of_the_reference_in_frame_100(void **state)
{
    (void)state;
    static const struct { const char *name; int64_t frames; double band[6], mean, std; } want[] = {
        { "vad/sample", 598, { 6.1421, 7.7458, 8.4524, 10.3017, 11.1107, 12.1374 }, 12.26470, 4.53956 },
        { "vad/asr_example", 553, { 14.6321, 14.4664, 19.2907, 17.6030, 16.4062, 13.7162 }, 14.06654, 4.89852 },
        { "vad/vad_example", 7045, { 11.6606, 9.7523, 18.3750, 14.2835, 18.2406, 13.0661 }, 13.71291, 3.31249 },
    };
    static const int band[6] = { 0, 1, 20, 40, 60, 79 };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        int64_t n;
        float *x = sound_shared(want[i].name, &n);
        if (!x) skip();
        struct rows r = run(x, n, n, 1, 1, 2);
        assert_int_equal(r.n, want[i].frames);
        for (int b = 0; b < 6; b++) assert_true(fabs(r.v[100 * 80 + band[b]] - want[i].band[b]) <= 1e-4);
        double sum = 0, squares = 0;
        for (int64_t k = 0; k < r.n * 80; k++) {
            sum += r.v[k];
            squares += (double)r.v[k] * r.v[k];
        }
        const double mean = sum / (double)(r.n * 80);
        assert_true(fabs(mean - want[i].mean) < 5e-5);
        assert_true(fabs(sqrt(squares / (double)(r.n * 80) - mean * mean) - want[i].std) < 5e-5);
        if (!i)
            for (int m = 0; m < 80; m++) assert_true(r.v[m] == FLOOR); /* it begins with digital silence */
        free(r.v);
        free(x);
    }
}

static void test_demo_equals_the_definition(void **state)
{
    (void)state;
    int64_t n;
    float *x = sound_read(STENO_TEST_DATA "/demo.wav", &n);
    struct rows r = run(x, n, 777, 1, 1, 2);
    assert_int_equal(r.n, frames_of(n));
    for (int64_t t = 0; t < r.n; t += 29) {
        double want[80];
        frame_by_definition(want, x, t);
        for (int m = 0; m < 80; m++)
            if (!(fabs(r.v[t * 80 + m] - want[m]) < (want[m] < 0 ? 2e-2 : 1e-3)))
                fail_msg("demo.wav: frame %d, band %d: %.6f, want %.6f", (int)t, m, (double)r.v[t * 80 + m], want[m]);
    }
    free(r.v);
    free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_equal_the_definition),
        cmocka_unit_test(test_constant_and_silent_sound_is_exactly_the_floor),
        cmocka_unit_test(test_a_constant_added_changes_nothing),
        cmocka_unit_test(test_sound_divided_by_32768_is_lower_by_20_794),
        cmocka_unit_test(test_nan_counts_as_zero_and_huge_samples_stay_finite),
        cmocka_unit_test(test_row_counts_are_ceil_of_frames_by_step),
        cmocka_unit_test(test_rows_stack_frames_with_repeated_edges),
        cmocka_unit_test(test_rows_come_as_soon_as_their_last_frame_is_complete),
        cmocka_unit_test(test_shift_and_scale_are_applied_per_column),
        cmocka_unit_test(test_rows_do_not_depend_on_push_sizes_and_threads),
        cmocka_unit_test(test_begin_forgets_the_previous_sound),
        cmocka_unit_test(test_sizes_out_of_range_are_refused),
        cmocka_unit_test(test_zh_synth_equals_the_reference_before_and_after_stacking_and_scaling),
        cmocka_unit_test(test_en_george_equals_the_reference_before_and_after_stacking_and_scaling),
        cmocka_unit_test(test_recordings_have_the_values_of_the_reference_in_frame_100),
        cmocka_unit_test(test_demo_equals_the_definition),
    };
    int failed = 0;
    for (int level = 0; cpu_level_name(level); level++) {
        if (!cpu_level_usable(level)) continue;
        kern_init(&kern, level);
        failed += cmocka_run_group_tests_name(cpu_level_name(level), tests, NULL, NULL);
    }
    return failed;
}
