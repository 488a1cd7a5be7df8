/* steno tests: tokens, their times, and the words they make. SPDX-License-Identifier: MIT */
#include "shipped_session.h"
#include "internal.h"

/* ---- callbacks, tokens, counters ---- */

static void test_token_records_agree_with_themselves_and_their_segment(void **state)
{
    (void)state;
    const steno_transcribe_params p = params_new();
    run(&demo, &p);
    steno_segment g = { .size = sizeof g };
    double sum = 0;
    int n = 0;
    for (int i = 0; !steno_segment_get(session, i, &g); i++)
        for (int j = 0; j < g.n_tokens; j++, n++) {
            steno_token t = { .size = sizeof t };
            assert_int_equal(steno_token_get(session, i, j, &t), 0);
            assert_int_equal(t.id, g.tokens[j]);
            assert_true(fabs((double)t.p - exp((double)t.logprob)) < 1e-6);
            assert_true(t.p > 0 && t.p <= 1.0001f && t.ts_prob >= 0 &&
                        t.ts_prob <= 1.0001f && t.ts_prob_sum >= 0 && t.ts_prob_sum <= 1.0001f);
            assert_int_equal(t.t0_ms, -1);
            assert_int_equal(t.t_dtw_ms, -1);
            if (t.id >= inside_tokens(model)->timestamp_begin && t.ts_prob_sum > 0.999f) assert_int_equal(t.ts_id, t.id);
            sum += (double)t.logprob;
        }
    steno_segment_get(session, 0, &g);
    assert_true(n > 5);
    assert_true(g.avg_logprob * (n + 1) <= sum + 1e-6); /* the end of text adds its own */
    assert_true(g.avg_logprob * (n + 1) > sum - 1);
}

static void test_aligned_tokens_go_on_within_their_segment_and_its_words(void **state)
{
    (void)state;
    const struct audio a = demo_audio(16000, 0, 10); /* three windows */
    steno_transcribe_params p = params_new();
    p.word_timestamps = 1;
    run(&a, &p);
    steno_segment g = { .size = sizeof g };
    int64_t last = 0;
    int n = 0, begins = 0;
    for (int i = 0; !steno_segment_get(session, i, &g); i++) {
        steno_word word = { .size = sizeof word };
        for (int j = 0, k = 0; j < g.n_tokens; j++) {
            steno_token t = { .size = sizeof t };
            assert_int_equal(steno_token_get(session, i, j, &t), 0);
            assert_int_equal(t.t0_ms, -1);
            if (t.id >= inside_tokens(model)->eot) {
                assert_int_equal(t.t_dtw_ms, -1);
                continue;
            }
            assert_in_range(t.t_dtw_ms, g.t0_ms, g.t1_ms);
            assert_true(t.t_dtw_ms >= last && t.t_dtw_ms <= steno_duration_ms(session));
            last = t.t_dtw_ms;
            n++;
            if (!steno_word_get(session, i, k, &word) && word.t0_ms == t.t_dtw_ms) k++, begins++; /* a word begins with its first token */
        }
    }
    assert_true(n > 50);
    assert_true(begins > 30);
    free(a.pcm);
}

/* The reports of memory know no scratch of word times: there is none beyond what a transcription without them has. */
static void test_word_times_take_no_scratch_of_their_own(void **state)
{
    (void)state;
    static const char *const shapes[] = { "tiny", "base.en", "small", "medium", "large-v3", "turbo", "distil-large-v3" };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        steno_model *m = NULL;
        steno_model_params p;
        steno_model_params_init(&p);
        p.index_only = 1;
        assert_int_equal(steno_model_open_random(&m, shapes[i], "q8_0", 1, &p, NULL), STENO_OK);
        assert_int_equal(inside_n_plans(m), MODEL_PLANS);
        assert_true(inside_plan(m, PLAN_ALIGN)->scratch_sz <= inside_plan(m, PLAN_DECODER)->scratch_sz);
        steno_model_close(m);
    }
}

/* The text cut at its spaces, with times in order; none without the option. */
static void test_words_are_the_text_of_their_segments_in_order_of_time(void **state)
{
    (void)state;
    static const char *const want[] = { " zero", " nine", " one", " eight.", " two", " seven." };
    steno_transcribe_params p = params_new();
    for (p.word_timestamps = 0; p.word_timestamps < 2; p.word_timestamps++) {
        int n = 0;
        double last = 0;
        run(&demo, &p);
        assert_string_equal(steno_text(session), demo_text);
        steno_segment g = { .size = sizeof g };
        for (int i = 0; !steno_segment_get(session, i, &g); i++) {
            char text[100] = "";
            for (int j = 0; j < g.n_words; j++, n++) {
                steno_word w = { .size = sizeof w };
                assert_int_equal(steno_word_get(session, i, j, &w), 0);
                assert_true(n < 6);
                assert_string_equal(w.text, want[n]);
                assert_true(w.start >= last && w.end > w.start && w.end <= 3.8);
                assert_true(w.probability > 0.5 && w.probability <= 1.0001);
                last = w.end;
                strcat(text, w.text);
            }
            if (p.word_timestamps) assert_string_equal(text, g.text);
        }
        assert_int_equal(n, p.word_timestamps ? 6 : 0);
    }
}

/* ---- text ---- */

static void test_text_becomes_the_ids_of_the_reference_and_comes_back(void **state)
{
    (void)state;
    static const int32_t want[] = { 2425, 1002, 11, 309, 311, 45237, 0 };
    int32_t ids[16];
    char text[64];
    assert_int_equal(steno_tokenize(model, " Hello world, it's 2024!", ids, 16), 7);
    assert_memory_equal(ids, want, sizeof want);
    assert_int_equal(steno_tokenize(model, " Hello world, it's 2024!", NULL, 0), 7);
    assert_int_equal(steno_detokenize(model, ids, 7, text, sizeof text), 24);
    assert_string_equal(text, " Hello world, it's 2024!");
    assert_int_equal(steno_detokenize(model, ids, 7, text, 6), 24);
    assert_string_equal(text, " Hell");
    const int n = steno_tokenize(model, "零 é 𝄞", ids, 16);
    assert_in_range(n, 3, 16);
    assert_int_equal(steno_detokenize(model, ids, n, text, sizeof text), (int64_t)strlen("零 é 𝄞"));
    assert_string_equal(text, "零 é 𝄞");
    ids[0] = inside_tokens(model)->timestamp_begin + 3;
    ids[1] = inside_tokens(model)->sot;
    assert_true(steno_detokenize(model, ids, 2, text, sizeof text) > 0);
    assert_string_equal(text, "<|startoftranscript|>");
    ids[0] = inside_n_vocab(model);
    assert_int_equal(steno_detokenize(model, ids, 1, text, sizeof text), STENO_EARG);
    ids[0] = -1;
    assert_int_equal(steno_detokenize(model, ids, 1, NULL, 0), STENO_EARG);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_token_records_agree_with_themselves_and_their_segment),
        cmocka_unit_test(test_aligned_tokens_go_on_within_their_segment_and_its_words),
        cmocka_unit_test(test_word_times_take_no_scratch_of_their_own),
        cmocka_unit_test(test_words_are_the_text_of_their_segments_in_order_of_time),
        cmocka_unit_test(test_text_becomes_the_ids_of_the_reference_and_comes_back),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
