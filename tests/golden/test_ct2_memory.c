/* steno tests: memory of CTranslate2's folders. SPDX-License-Identifier: MIT
 *
 * Every n-th allocation from the folder to a text fails once. Opening takes what the model keeps and a fixed amount, however large
 * model.bin is. A file that is refused takes little. */
#include <glob.h>
#include "api/heap.h"
#include "api/resident.h"
#include "api/shipped.h"
#include "ct2_folder.h"
#include "load/weights.h"

enum { MB = 1 << 20, WHILE_LOADING = 4 * MB };

static struct whisper_dims const dims_384 = { 80, 30, 384, 6, 4, SMALL_VOCAB, 70, 384, 6, 4 };

/* ---- allocations that fail ----------------------------------------------------------------------------------------------------- */

static int text_of(const char *path, const struct audio *a, uint64_t *digest, steno_error *e)
{
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_transcribe_params p = params_new();
    p.sample_len = 8;
    p.word_timestamps = 1;
    p.temperature_increment_on_fallback = 0;
    int rc = steno_model_open(&m, path, NULL, e);
    assert_true(!m == !!rc);
    if (!rc) rc = steno_session_open(&s, m, NULL, NULL, e);
    if (!rc && (rc = steno_transcribe(s, a->pcm, a->n, &p))) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    *digest = rc ? 0 : result_digest(s);
    steno_session_close(s);
    steno_model_close(m);
    return rc;
}

static void each_fails(const char *path, const struct audio *a)
{
    uint64_t want, got;
    steno_error e = { 0 };
    struct heap h;
    int64_t i = 0;
    if (text_of(path, a, &want, &e)) fail_msg("%s", e.text); /* libraries allocate here what they keep */
    do {
        e = (steno_error){ 0 };
        count_begin(i);
        const int rc = text_of(path, a, &got, &e);
        h = count_end();
        if (h.bytes) fail_msg("allocation %lld fails: %lld bytes are left", (long long)i, (long long)h.bytes);
        if (rc ? rc != STENO_ENOMEM || !e.text[0] : got != want)
            fail_msg("allocation %lld fails: status %d, \"%s\", or another result", (long long)i, rc, e.text);
    } while (i++ < h.calls); /* the last run has no allocation of this number */
    print_message("%lld allocations\n", (long long)h.calls);
    assert_true(h.calls > 100);
}

static void test_every_allocation_of_a_folder_may_fail(void **state)
{
    (void)state;
    need_counting();
    static const struct ct2_how how[] = {
        { .type = DT_F16, .integers = CT2_INT8, .heads = "[[0, 1], [1, 2]]" },
        { .type = DT_BF16, .vocab = CT2_LINES, .untied = 1 },
        { .type = DT_F32, .integers = CT2_INT16, .vocab = CT2_LINES_CRLF },
    };
    struct audio a = demo_audio(0, 0, 1);
    a.n = RATE / 2;
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        const struct folder d = folder_new();
        ct2_random(&d, &small_dims, &how[i]);
        each_fails(d.path, &a);
        folder_remove(&d);
    }
    free(a.pcm);
}

/* ---- memory of opening --------------------------------------------------------------------------------------------------------- */

static int64_t size_of_file(const struct folder *d, const char *name)
{
    struct file f;
    steno_error e;
    if (file_open(&f, folder_at(d, name).path, &e)) fail_msg("%s", e.text);
    const int64_t size = (int64_t)f.size;
    file_close(&f);
    return size;
}

/* Bytes that become resident while a folder is opened, and those that the open model reports. */
static int64_t most_while_opening(const char *path, enum steno_compute compute, int64_t *reported)
{
    steno_model_params p;
    steno_model_info info = { .size = sizeof info };
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    (void)resident(); /* the C library gives back what is free */
    peak_begin();
    const int64_t before = peak();
    if (steno_model_open(&m, path, &p, &e)) fail_msg("%s", e.text);
    const int64_t most = peak() - before;
    steno_model_info_get(m, &info);
    *reported = info.weight_bytes;
    steno_model_close(m);
    return most;
}

static void test_opening_takes_little_more_than_the_model_holds(void **state)
{
    (void)state;
    need_resident();
    static const struct ct2_how how[] = {
        { .type = DT_F16 }, { .type = DT_F32 }, { .type = DT_F16, .integers = CT2_INT8 }, { .type = DT_F32, .integers = CT2_INT16 },
    };
    for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
        const struct folder d = folder_new();
        ct2_random(&d, &dims_384, &how[i]);
        const int64_t size = size_of_file(&d, "model.bin");
        assert_true(size > 16 * MB);
        for (int compute = STENO_COMPUTE_AUTO; compute <= STENO_COMPUTE_INT16; compute++) {
            int64_t reported = 0;
            const int64_t most = most_while_opening(d.path, (enum steno_compute)compute, &reported);
            if (most > reported + reported / 20 + WHILE_LOADING)
                fail_msg("form %zu, compute %d: %lld bytes while loading, %lld reported", i, compute, (long long)most,
                         (long long)reported);
            assert_true(most > reported / 2); /* it is measured */
        }
        folder_remove(&d);
    }
}

static void test_reading_a_malformed_file_takes_less_than_1_mb(void **state)
{
    (void)state;
    need_counting();
    glob_t found;
    assert_int_equal(glob("tests/data/fuzz/ct2/*.bin", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 20);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct file f;
        struct weights w;
        steno_error e;
        if (file_open(&f, found.gl_pathv[i], &e)) fail_msg("%s", e.text);
        count_begin(-1);
        const int rc = weights_open(&w, &f, &e);
        if (!rc) weights_close(&w);
        const struct heap h = count_end();
        if (h.most >= MB || h.bytes) fail_msg("%s: %lld bytes, %lld of them left", f.name, (long long)h.most, (long long)h.bytes);
        file_close(&f);
    }
    globfree(&found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_of_a_folder_may_fail),
        cmocka_unit_test(test_opening_takes_little_more_than_the_model_holds),
        cmocka_unit_test(test_reading_a_malformed_file_takes_less_than_1_mb),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
