/* steno tests: the best texts of a beam search are the reference's candidates. SPDX-License-Identifier: MIT
 *
 * tests/data/n_best.json (make_n_best.py) holds what openai-whisper's beam search hands to its ranker, by rank: each sequence, its sum of
 * log-probabilities and what it is ranked by. */
#include "golden.h"
#include "api/shipped.h"

enum { LANES = 5 };
static double const near = 1e-4;

static struct audio wav_open(const char *name)
{
    char path[128];
    steno_media *m;
    steno_source src;
    steno_error e = { 0 };
    struct audio a = { calloc(PCM_MAX, sizeof(float)), 0 };
    assert_non_null(a.pcm);
    snprintf(path, sizeof path, "tests/data/%s.wav", name);
    if (steno_media_open(&m, path, NULL, NULL, &e)) fail_msg("%s", e.text);
    steno_media_source(m, &src);
    for (int64_t got; (got = src.read(src.user, a.pcm + a.n, PCM_MAX - a.n)) > 0;) a.n += got;
    steno_media_close(m);
    return a;
}

static void compare(size_t k, const json_t *c, int i, const steno_hypothesis *h)
{
    const json_t *want = json_array_get(json_object_get(c, "candidates"), (size_t)i), *ids = json_object_get(want, "tokens");
    const double score = json_number_value(json_object_get(want, "score"));
    if (fabs(h->score - score) > near) fail_msg("case %zu, text %d: score %.9g, want %.9g", k, i, h->score, score);
    assert_int_equal(h->n_tokens, json_array_size(ids));
    assert_true(fabs(h->avg_logprob * (h->n_tokens + 1) - json_number_value(json_object_get(want, "sum"))) < near * (h->n_tokens + 1));
    for (int32_t j = 0; j < h->n_tokens; j++) {
        const int32_t id = (int32_t)json_integer_value(json_array_get(ids, (size_t)j));
        if (h->tokens[j] != id) fail_msg("case %zu, text %d: token %d is %d, want %d", k, i, (int)j, (int)h->tokens[j], (int)id);
    }
}

static void test_texts_of_beams_are_the_candidates_of_the_reference(void **state)
{
    (void)state;
    steno_model *m = shipped_open_as(STENO_COMPUTE_F32);
    steno_session *s = session_new(m, NULL, LANES);
    json_t *cases = json_open("tests/data/n_best.json"), *c;
    size_t k;
    assert_int_equal(json_array_size(cases), 15);
    json_array_foreach(cases, k, c) {
        json_t *patience = json_object_get(c, "patience"), *penalty = json_object_get(c, "length_penalty");
        struct audio a = wav_open(json_string_value(json_object_get(c, "file")));
        steno_transcribe_params p = params_new();
        p.language = json_string_value(json_object_get(c, "language"));
        p.temperature_increment_on_fallback = 0;
        p.beam_size = p.n_best = (int32_t)json_integer_value(json_object_get(c, "beam_size"));
        if (json_is_number(patience)) p.patience = json_number_value(patience);
        if (json_is_number(penalty)) p.length_penalty = json_number_value(penalty);
        if (steno_transcribe(s, a.pcm, a.n, &p)) fail_msg("%s", steno_last_error(s));
        for (int i = 0; i < p.n_best; i++) {
            steno_hypothesis h = { .size = sizeof h };
            assert_int_equal(steno_hypothesis_get(s, i, &h), STENO_OK);
            assert_int_equal(h.place, i);
            compare(k, c, i, &h);
        }
        free(a.pcm);
    }
    json_decref(cases);
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_texts_of_beams_are_the_candidates_of_the_reference) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
