/* steno tests: a clip of minutes against transformers. SPDX-License-Identifier: MIT
 *
 * 206 s in one clip. The golden: tests/golden/make/make_parakeet_long.py. */
#include "golden/parakeet/nemo_clips.h"

enum { WIDTH = 128, IDS_MAX = 1024 };

static json_t *want;
static float *pcm;
static int64_t n_pcm;

static int want_int(const char *key) { return (int)json_integer_value(json_object_get(want, key)); }

static int group_begin(void **state)
{
    struct sound one = { 0 };
    (void)state;
    want = json_open("tests/data/parakeet/long_clip.json");
    assert_int_equal(sound_read(&one, material("audio/long.wav").s), 0);
    n_pcm = one.n * want_int("times");
    pcm = malloc((size_t)n_pcm * sizeof *pcm);
    assert_non_null(pcm);
    for (int64_t at = 0; at < n_pcm; at += one.n) memcpy(pcm + at, one.pcm, (size_t)one.n * sizeof *pcm);
    sound_free(&one);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    json_decref(want);
    free(pcm);
    return 0;
}

static steno_model *model_with_rows(int32_t rows)
{
    return reference_model(material("hf/ctc").s, rows, STENO_DECODER_AUTO);
}

/* Compares the rows of the encoder that the golden has. */
static void check_rows(void *user, const steno_rows *r)
{
    json_t *rows = json_object_get(want, "encoder");
    const double near = 2e-5 * json_number_value(json_object_get(want, "most"));
    if (strcmp(r->name, "encoder") != 0) return;
    assert_int_equal(r->n_rows, want_int("rows"));
    for (size_t i = 0; i < json_array_size(rows); i++, ++*(int *)user) {
        const float *got = r->rows + i * (size_t)want_int("step") * r->stride;
        for (size_t k = 0; k < WIDTH; k++) {
            const double x = json_number_value(json_array_get(json_array_get(rows, i), k));
            if (!(fabs((double)got[k] - x) <= near)) fail_msg("row %zu: number %zu is %.7g, want %.7g", i, k, (double)got[k], x);
        }
    }
}

static int ids_of(int32_t *ids, const steno_session *s)
{
    steno_segment g = { .size = sizeof g };
    int n = 0;
    for (int i = 0; !steno_segment_get(s, i, &g); i++)
        for (int k = 0; k < g.n_tokens && n < IDS_MAX; k++) ids[n++] = g.tokens[k];
    return n;
}

static void test_a_clip_of_minutes_has_the_rows_and_ids_of_the_reference(void **state)
{
    static int32_t ids[IDS_MAX];
    json_t *all = json_object_get(want, "ids");
    int n_rows = 0;
    (void)state;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.on_rows = check_rows;
    p.user = &n_rows;
    steno_model *m = model_with_rows(want_int("rows"));
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    if (steno_transcribe(s, pcm, n_pcm, &p)) fail_msg("%s", steno_last_error(s));
    const int n = ids_of(ids, s);
    assert_int_equal(n_rows, json_array_size(json_object_get(want, "encoder")));
    assert_int_equal(n, json_array_size(all));
    for (int i = 0; i < n; i++)
        if (ids[i] != json_integer_value(json_array_get(all, (size_t)i))) fail_msg("id %d is %d", i, (int)ids[i]);
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_clip_of_minutes_has_the_rows_and_ids_of_the_reference) };
    if (!is_there(material("README.md").s)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the Parakeet collection\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
