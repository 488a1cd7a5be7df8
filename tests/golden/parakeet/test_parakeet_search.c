/* steno tests: Parakeet with beams and hot words. SPDX-License-Identifier: MIT
 *
 * The small models of the collection. Where they are sure, a search finds the greedy text with its times. */
#include "api/funasr_model.h"
#include "golden/parakeet/nemo_clips.h"

static const char *const models[] = { "hf/ctc", "hf/tdt", "hf/rnnt" };
enum { N_MODELS = sizeof models / sizeof *models };

static steno_transcribe_params params_of(int beam_size, const char *hotwords, double boost)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.word_timestamps = 1;
    p.beam_size = beam_size;
    p.hotwords = hotwords;
    p.hotwords_boost = boost;
    return p;
}

/* ---- beams */

/* Text, ids and word times. Probabilities of a search and of the greedy choice may be of different rows. */
static uint64_t words_digest(const steno_session *s)
{
    uint64_t h = 1469598103934665603u;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        for (int32_t k = 0; k < g.n_tokens; k++) h = (h ^ (uint64_t)g.tokens[k]) * 1099511628211u;
        for (int32_t k = 0; k < g.n_words; k++) {
            steno_word w = { .size = sizeof w };
            assert_int_equal(steno_word_get(s, i, k, &w), 0);
            h = (h ^ (uint64_t)(w.start * 1000 + 0.5)) * 1099511628211u;
            h = (h ^ (uint64_t)(w.end * 1000 + 0.5)) * 1099511628211u;
        }
    }
    return h;
}

static void test_one_beam_is_greedy_and_more_find_the_same_words(void **state)
{
    static int const other[N_MODELS] = { 1, 1, 5 }; /* clips in which greedy search is not sure */
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        steno_model *m = model_of(models[i]);
        steno_session *s = session_new(m, NULL, 1);
        const char *clip;
        json_t *results;
        int n = 0, same = 0;
        json_object_foreach(json_object_get(nemo, "clips"), clip, results) {
            steno_transcribe_params p = params_of(0, NULL, 2);
            hear(s, clip, &p);
            const uint64_t greedy = result_digest(s), words = words_digest(s);
            p.beam_size = 1;
            hear(s, clip, &p);
            assert_true(result_digest(s) == greedy);
            p.beam_size = 4;
            hear(s, clip, &p);
            same += words_digest(s) == words;
            n++;
        }
        if (same < n - other[i]) fail_msg("%s: %d of %d clips have the greedy words", models[i], same, n);
        steno_session_close(s);
        steno_model_close(m);
    }
}

/* The RNN-T head loses the last word when it takes the most probable token of each row. */
static void test_beams_find_words_that_greedy_search_loses(void **state)
{
    static const struct { const char *clip, *greedy, *text; } row[] = {
        { "three", "One two t.", "One two three." }, { "stranger", "Three, two s.", "Three, two six." },
    };
    (void)state;
    steno_model *m = model_of("hf/rnnt");
    steno_session *s = session_new(m, NULL, 1);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        for (int beams = 0; beams <= 16; beams += 4) {
            const steno_transcribe_params p = params_of(beams, NULL, 2);
            hear(s, row[i].clip, &p);
            assert_string_equal(steno_text(s), beams ? row[i].text : row[i].greedy);
        }
    steno_session_close(s);
    steno_model_close(m);
}

/* The log-probability of the best text does not fall with the number of beams. */
static void test_hypotheses_are_in_order_and_more_beams_find_better_ones(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        steno_model *m = model_of(models[i]);
        steno_session *s = session_new(m, NULL, 1);
        double before = -INFINITY;
        for (int beams = 2; beams <= 32; beams *= 4) {
            steno_transcribe_params p = params_of(beams, NULL, 2);
            steno_hypothesis first = { .size = sizeof first }, h = { .size = sizeof h };
            p.n_best = beams < 5 ? beams : 5;
            hear(s, "long", &p);
            assert_int_equal(steno_hypothesis_count(s), p.n_best);
            assert_int_equal(steno_hypothesis_get(s, 0, &first), 0);
            assert_string_equal(first.text, steno_text(s));
            assert_true((double)first.score >= before);
            before = (double)first.score;
            for (int k = 1; k < p.n_best; k++) {
                const double above = (double)(k == 1 ? first : h).score;
                assert_int_equal(steno_hypothesis_get(s, k, &h), 0);
                assert_true((double)h.score <= above);
                assert_true(h.n_tokens != first.n_tokens || memcmp(h.tokens, first.tokens, (size_t)h.n_tokens * sizeof *h.tokens) != 0);
            }
        }
        steno_session_close(s);
        steno_model_close(m);
    }
}

/* ---- hot words */

static int times_of(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) n++;
    return n;
}

/* A clip that the models were not trained for, and one of which they are sure. */
static void test_hot_words_bring_in_what_is_near_and_leave_what_is_sure(void **state)
{
    static const struct { const char *word; double boost; } near[N_MODELS] = { { "two", 6 }, { "seven", 2 }, { "seven", 20 } };
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        steno_model *m = model_of(models[i]);
        steno_session *s = session_new(m, NULL, 1);
        for (int beams = 0; beams <= 4; beams += 4) {
            steno_transcribe_params p = params_of(beams, NULL, 2);
            hear(s, "long", &p);
            const int before = times_of(steno_text(s), near[i].word);
            hear(s, "phrases", &p);
            const uint64_t sure = words_digest(s);
            p.hotwords = "two\nseven";
            hear(s, "phrases", &p);
            assert_true(words_digest(s) == sure);
            p.hotwords = near[i].word;
            p.hotwords_boost = near[i].boost;
            hear(s, "long", &p);
            if (times_of(steno_text(s), near[i].word) <= before) fail_msg("%s, %d beams: '%s'", models[i], beams, steno_text(s));
            for (int32_t k = 0, n = 0; n < steno_segment_count(s); n++) {
                steno_segment g = { .size = sizeof g };
                assert_int_equal(steno_segment_get(s, n, &g), 0);
                for (k = 0; k < g.n_tokens; k++) {
                    steno_token t = { .size = sizeof t };
                    assert_int_equal(steno_token_get(s, n, k, &t), 0);
                    assert_true(t.p >= 0 && t.p <= 1);
                }
            }
        }
        steno_session_close(s);
        steno_model_close(m);
    }
}

static void test_hot_words_that_cannot_be_written_are_refused(void **state)
{
    static const float x[1600] = { 0 };
    (void)state;
    for (size_t i = 0; i < N_MODELS; i++) {
        steno_model *m = model_of(models[i]);
        steno_session *s = session_new(m, NULL, 1);
        steno_transcribe_params p = params_of(0, "five\n\xc2\xb6", 2);
        assert_int_equal(steno_transcribe(s, x, 1600, &p), STENO_EARG);
        assert_non_null(strstr(steno_last_error(s), "line 2: \"\xc2\xb6\" is not in the vocabulary"));
        p.hotwords = NULL;
        assert_int_equal(steno_transcribe(s, x, 1600, &p), 0);
        steno_session_close(s);
        steno_model_close(m);
    }
}

/* ---- batches */

enum { REQUESTS = 6 };

/* Requests with other searches beside each other. */
static steno_transcribe_params request_of(int i)
{
    const int beams = i % 3 == 2;
    steno_transcribe_params p = params_of(beams ? 1 + i : 0, i % 2 ? "two\nseven" : NULL, i % 2 ? 5 : 2);
    p.n_best = beams ? 2 : 0;
    return p;
}

static void test_a_batch_gives_the_bits_of_each_clip_alone(void **state)
{
    static const char *const clip[REQUESTS] = { "long", "phrases", "long", "long", "three", "long" };
    (void)state;
    for (size_t k = 0; k < N_MODELS; k++) {
        steno_model *m = model_of(models[k]);
        steno_session *alone = session_new(m, NULL, 1), *s[REQUESTS];
        struct sound a[REQUESTS] = { 0 };
        struct tap tap[REQUESTS];
        steno_batch_params bp;
        steno_session_params sp;
        steno_batch_params_init(&bp);
        steno_session_params_init(&sp);
        bp.max_windows = 4;
        assert_int_equal(steno_batch_open(&sp.batch, m, NULL, &bp, NULL), 0);
        for (int i = 0; i < REQUESTS; i++) {
            char name[64];
            const steno_transcribe_params p = request_of(i);
            snprintf(name, sizeof name, "audio/%s.wav", clip[i]);
            assert_int_equal(sound_read(&a[i], material(name).s), 0);
            tap[i] = (struct tap){ .pcm = a[i].pcm, .n = a[i].n };
            const steno_source src = tap_source(&tap[i]);
            assert_int_equal(steno_session_open(&s[i], m, NULL, &sp, NULL), 0);
            assert_int_equal(steno_batch_add(sp.batch, s[i], &src, &p), 0);
        }
        assert_int_equal(steno_batch_run(sp.batch), 0);
        for (int i = 0; i < REQUESTS; i++) {
            const steno_transcribe_params p = request_of(i);
            hear(alone, clip[i], &p);
            if (result_digest(s[i]) != result_digest(alone))
                fail_msg("%s, request %d: '%s', alone '%s'", models[k], i, steno_text(s[i]), steno_text(alone));
            steno_session_close(s[i]);
            sound_free(&a[i]);
        }
        steno_session_close(alone);
        steno_batch_close(sp.batch);
        steno_model_close(m);
    }
}

/* ---- streams */

/* The second of two streams has hot words, a phrase that goes on across words that have been reported. */
static void streams_run(const struct sound *a, int64_t piece, steno_session *s[2], steno_batch *b)
{
    struct tap tap[2];
    for (int i = 0; i < 2; i++) {
        steno_transcribe_params p = params_of(0, i ? "seven two" : NULL, i ? 20 : 2);
        p.lookahead = 1;
        tap[i] = (struct tap){ .pcm = a->pcm, .n = a->n, .piece = piece };
        const steno_source src = tap_source(&tap[i]);
        assert_int_equal(steno_batch_add(b, s[i], &src, &p), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
}

static void test_hot_words_of_a_stream_depend_neither_on_pieces_nor_on_neighbours(void **state)
{
    (void)state;
    steno_model *m = model_of("../nemotron/nemotron-tiny.nemo");
    steno_session *alone = session_new(m, NULL, 1), *s[2];
    struct sound a = { 0 };
    steno_session_params sp;
    uint64_t want[2];
    steno_session_params_init(&sp);
    assert_int_equal(sound_read(&a, material("audio/phrases.wav").s), 0);
    assert_int_equal(steno_batch_open(&sp.batch, m, NULL, NULL, NULL), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(steno_session_open(&s[i], m, NULL, &sp, NULL), 0);
    for (int64_t piece = 100; piece < 10000; piece *= 9) {
        streams_run(&a, piece, s, sp.batch);
        assert_null(strstr(steno_text(s[0]), "seven two"));
        assert_non_null(strstr(steno_text(s[1]), "seven two"));
        for (int i = 0; i < 2; i++) {
            if (piece == 100) want[i] = result_digest(s[i]);
            assert_true(result_digest(s[i]) == want[i]);
        }
    }
    for (int i = 0; i < 2; i++) {
        steno_transcribe_params p = params_of(0, i ? "seven two" : NULL, i ? 20 : 2);
        p.lookahead = 1;
        assert_int_equal(steno_transcribe(alone, a.pcm, a.n, &p), 0);
        assert_true(result_digest(alone) == want[i]);
        steno_session_close(s[i]);
    }
    steno_session_close(alone);
    steno_batch_close(sp.batch);
    steno_model_close(m);
    sound_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_beam_is_greedy_and_more_find_the_same_words),
        cmocka_unit_test(test_beams_find_words_that_greedy_search_loses),
        cmocka_unit_test(test_hypotheses_are_in_order_and_more_beams_find_better_ones),
        cmocka_unit_test(test_hot_words_bring_in_what_is_near_and_leave_what_is_sure),
        cmocka_unit_test(test_hot_words_that_cannot_be_written_are_refused),
        cmocka_unit_test(test_a_batch_gives_the_bits_of_each_clip_alone),
        cmocka_unit_test(test_hot_words_of_a_stream_depend_neither_on_pieces_nor_on_neighbours),
    };
    if (!is_there(material("README.md").s)) {
        fprintf(stderr, "skipped: STENO_SHARED does not name the Parakeet collection\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, nemo_open, nemo_close);
}
