/* steno tests: models with a CTC head and voice-activity models through the public calls. SPDX-License-Identifier: MIT
 *
 * Small models of random weights: the text means nothing, but it must not depend on how audio arrives or on threads. */
#include "funasr_session.h"

/* Whether a model was read from a file of this name. */
static int has_file(const steno_model *m, const char *name)
{
    const char *path;
    for (int i = 0; (path = steno_model_file(m, i)) != NULL; i++)
        if (strrchr(path, '/') && strcmp(strrchr(path, '/') + 1, name) == 0) return 1;
    return 0;
}

static void test_a_model_lists_the_files_it_was_read_from(void **state)
{
    (void)state;
    static const char *const files[] = { "model.safetensors", "config.json", "am.mvn", "tokens.json" };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (!has_file(ctc, files[i])) fail_msg("the model does not list %s", files[i]);
    assert_true(has_file(vad, "am.mvn"));
    assert_false(has_file(vad, "tokens.json"));
    assert_null(steno_model_file(ctc, -1));
    assert_null(steno_model_file(ctc, 1000));
    assert_null(steno_model_file(NULL, 0));
}

static uint64_t ids_digest(const steno_session *s)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < steno_segment_count(s); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        for (int j = 0; j < g.n_tokens; j++) h = (h ^ (uint64_t)g.tokens[j]) * 1099511628211u;
    }
    return h;
}

static steno_segment segment_at(const steno_session *s, int i)
{
    steno_segment g = { .size = sizeof g };
    if (steno_segment_get(s, i, &g)) fail_msg("there is no segment %d", i);
    return g;
}

/* ---- one result, however it comes about ---- */

/* In f32, as levels have arithmetics of their own else. */
static steno_model *open_at(const char *level)
{
    const struct folder d = ctc_folder();
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.cpu_level = level;
    p.compute = STENO_COMPUTE_F32;
    if (steno_model_open(&m, d.path, &p, &e)) fail_msg("%s", e.text);
    folder_remove(&d);
    return m;
}

static void test_results_do_not_depend_on_pieces_threads_or_level(void **state)
{
    (void)state;
    static const int64_t piece[] = { 0, 1, 399, 15999 };
    const char *level[LEVELS_MAX];
    uint64_t ids = 0, spans = 0;
    levels_for_models(level);
    for (int l = 0; level[l]; l++) {
        steno_model *c = open_at(level[l]), *v = funasr_open(vad_folder, level[l]);
        uint64_t digest = 0;
        for (int k = 0; k < 4; k++) {
            steno_team *team = NULL;
            if (k) assert_int_equal(steno_team_open(&team, k, NULL), 0);
            steno_session *s = session_new(c, team, 1);
            struct tap t = { audio.pcm, audio.n, 0, piece[k], 0, 0 };
            const steno_source src = tap_source(&t);
            if (steno_transcribe_source(s, &src, NULL)) fail_msg("%s", steno_last_error(s));
            if (k && result_digest(s) != digest) fail_msg("%s: pieces of %lld give another text", level[l], (long long)piece[k]);
            digest = result_digest(s);
            if ((l || k) && ids_digest(s) != ids) fail_msg("%s: other ids than those of c", level[l]);
            ids = ids_digest(s);
            assert_true(steno_segment_count(s) == 2 && strlen(steno_text(s)) > 20);
            steno_session_close(s);
            s = session_new(v, team, 1);
            const uint64_t d = vad_run(s, audio.pcm, audio.n, piece[k]);
            if ((l || k) && d != spans) fail_msg("%s, pieces of %lld: other spans", level[l], (long long)piece[k]);
            spans = d;
            assert_true(steno_span_count(s) >= 5);
            steno_session_close(s);
            steno_team_close(team);
        }
        steno_model_close(c);
        steno_model_close(v);
    }
}

static void test_empty_and_short_audio_and_silence_are_transcribed(void **state)
{
    (void)state;
    static const int64_t n[] = { 0, 1, 399, 400, 401, 16000, 480000 };
    float *quiet = calloc(480000, sizeof *quiet);
    assert_non_null(quiet);
    steno_session *c = session_new(ctc, NULL, 1), *v = session_new(vad, NULL, 1);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        ctc_run(c, quiet, n[i], NULL);
        assert_int_equal(steno_duration_ms(c), n[i] / 16);
        assert_true(steno_segment_count(c) <= 1);
        if (n[i] < 400) assert_int_equal(steno_segment_count(c), 0);
        if (n[i] < 400) assert_string_equal(steno_text(c), "");
        vad_run(v, quiet, n[i], 0);
        assert_int_equal(steno_span_count(v), 0);
        assert_int_equal(steno_duration_ms(v), n[i] / 16);
        ctc_run(c, audio.pcm, n[i], NULL); /* and so is sound as short as that */
        vad_run(v, audio.pcm, n[i], 0);
    }
    steno_session_close(c);
    steno_session_close(v);
    free(quiet);
}

/* Segment i is what its stretch of the audio gives alone. */
static void expect_alone(const steno_session *s, steno_session *other, const float *pcm, int i)
{
    const steno_segment g = segment_at(s, i);
    assert_true(g.start * RATE == floor(g.start * RATE) && g.end > g.start); /* whole samples, or at least close to */
    assert_int_equal(g.t0_ms, (int64_t)(g.start * 1000));
    assert_int_equal(g.t1_ms, (int64_t)(g.end * 1000));
    const int64_t from = llround(g.start * RATE), to = llround(g.end * RATE);
    ctc_run(other, pcm + from, to - from, NULL);
    assert_int_equal(steno_segment_count(other), 1);
    const steno_segment h = segment_at(other, 0);
    assert_int_equal(h.n_tokens, g.n_tokens);
    assert_memory_equal(h.tokens, g.tokens, (size_t)g.n_tokens * sizeof *g.tokens);
}

static void test_a_clip_longer_than_the_model_knows_is_cut_where_it_is_quiet(void **state)
{
    (void)state;
    enum { SECONDS = 95, CLIP = 30 * RATE };
    static const struct { double from, to; } pause[] = { { 15, 16 }, { 24.2, 24.9 }, { 49.5, 50.5 }, { 70.1, 70.9 } };
    static const int64_t n[] = { CLIP - 1, CLIP, CLIP + 1, CLIP + 160, 2 * CLIP + 1, SECONDS * RATE };
    float *pcm = malloc(SECONDS * RATE * sizeof *pcm);
    assert_non_null(pcm);
    for (int64_t i = 0; i < SECONDS * RATE; i++) pcm[i] = 0.02f * audio.pcm[i % audio.n] + 0.2f * (float)sin((double)i * 0.1);
    for (size_t i = 0; i < sizeof pause / sizeof *pause; i++)
        memset(pcm + (int64_t)(pause[i].from * RATE), 0, (size_t)((pause[i].to - pause[i].from) * RATE) * sizeof *pcm);
    steno_session *s = session_new(ctc, NULL, 1), *other = session_new(ctc, NULL, 1);
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        ctc_run(s, pcm, n[k], NULL);
        const int count = steno_segment_count(s);
        assert_int_equal(count, n[k] <= CLIP ? 1 : n[k] == SECONDS * RATE ? 4 : n[k] > 2 * CLIP ? 3 : 2);
        assert_int_equal(steno_duration_ms(s), n[k] / 16);
        double at = 0;
        for (int i = 0; i < count; i++) {
            const steno_segment g = segment_at(s, i);
            assert_true(g.start == at); /* nothing is left out, nothing is decoded twice */
            at = g.end;
            if (i + 1 < count && !(at > pause[i + 1].from && at < pause[i + 1].to)) fail_msg("%zu: cut %d is at %f", k, i, at);
            expect_alone(s, other, pcm, i);
        }
        assert_true(at == (double)n[k] / RATE);
    }
    steno_session_close(s);
    steno_session_close(other);
    free(pcm);
}

static void test_offset_and_duration_cut_the_audio(void **state)
{
    (void)state;
    steno_session *s = session_new(ctc, NULL, 1);
    steno_transcribe_params p = ctc_params();
    ctc_run(s, audio.pcm + RATE, 2 * RATE, NULL);
    const uint64_t want = ids_digest(s);
    p.offset_ms = 1000;
    p.duration_ms = 2000;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_true(ids_digest(s) == want);
    assert_int_equal(segment_at(s, 0).t0_ms, 1000);
    assert_int_equal(segment_at(s, 0).t1_ms, 3000);
    p.offset_ms = 31000;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_int_equal(steno_segment_count(s), 0);
    p.offset_ms = 30000;
    p.duration_ms = 1000000000;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_int_equal(segment_at(s, 0).t0_ms, 30000);
    steno_session_close(s);
}

/* ---- measuring ---- */

static void test_phases_of_clips_of_any_length_are_timed(void **state)
{
    (void)state;
    static const char *const phase[] = { "features", "encode", "ctc" };
    steno_session *s = session_new(ctc, NULL, 1);
    for (int i = 0; i < 3; i++) {
        assert_true(steno_bench_phase(s, phase[i], 1) >= 0);
        assert_true(steno_bench_phase(s, phase[i], 61) > 0); /* three clips */
    }
    assert_int_equal(steno_bench_phase(s, "cif", 1), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "features, encode, ctc"));
    steno_session_close(s);
}

/* ---- calls that a model does not serve ---- */

static void test_alignment_heads_are_refused_where_nothing_attends_to_audio(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct folder d = i ? vad_folder() : ctc_folder();
        steno_model *m;
        steno_error e;
        steno_model_params p;
        steno_model_params_init(&p);
        p.alignment_heads = "0,0";
        assert_int_equal(steno_model_open(&m, d.path, &p, &e), STENO_EARG);
        assert_non_null(strstr(e.text, "alignment_heads"));
        p.alignment_heads = "";
        assert_int_equal(steno_model_open(&m, d.path, &p, &e), 0);
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_info_get(m, &info), 0);
        assert_null(info.alignment_heads);
        steno_model_close(m);
        folder_remove(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_model_lists_the_files_it_was_read_from),
        cmocka_unit_test(test_results_do_not_depend_on_pieces_threads_or_level),
        cmocka_unit_test(test_empty_and_short_audio_and_silence_are_transcribed),
        cmocka_unit_test(test_phases_of_clips_of_any_length_are_timed),
        cmocka_unit_test(test_alignment_heads_are_refused_where_nothing_attends_to_audio),
        cmocka_unit_test(test_a_clip_longer_than_the_model_knows_is_cut_where_it_is_quiet),
        cmocka_unit_test(test_offset_and_duration_cut_the_audio),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
