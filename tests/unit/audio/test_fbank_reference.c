/* steno tests: Kaldi's filter banks of recordings. SPDX-License-Identifier: MIT
 *
 * What the reference itself computes lies in the shared collection and is compared where that is. */
#include "fbank_rows.h"
#include <steno/media.h>

static int64_t frames_of(int64_t n)
{
    return n < 400 ? 0 : 1 + (n - 400) / 160;
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
    snprintf(path, sizeof path, "%s/material/%s", shared_dir(), file);
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
    snprintf(path, sizeof path, "%s/material/funasr/models/sensevoice/pt/am.mvn", shared_dir());
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
    float *x = sound_read("tests/data/demo.wav", &n);
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
