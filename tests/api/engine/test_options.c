/* steno tests: what the options of a transcription do. SPDX-License-Identifier: MIT */
#include "shipped_session.h"
#include "internal.h"

/* ---- prompts and rules ---- */

static void test_initial_tokens_follow_from_the_vocabulary_language_and_task(void **state)
{
    (void)state;
    static const struct { int32_t vocab, want[4], n, nospeech; } c[] = {
        { ENGLISH, { 50257, 50362 }, 2, 50361 },
        { MULTILINGUAL, { 50258, 50261, 50358, 50363 }, 4, 50362 },
        { LANGUAGES_100, { 50258, 50261, 50359, 50364 }, 4, 50363 },
    };
    for (int i = 0; i < 3; i++) {
        const struct whisper_dims d = { 80, 4, 16, 2, 1, c[i].vocab, 8, 16, 2, 1 };
        steno_model *m = random_model(&d, DT_F16, 1, NULL);
        const struct speech_options q = { .translate = 1, .without_timestamps = 1, .lang = 2 };
        int32_t ids[PROMPT_PREFIX_MAX];
        int sot = -1;
        assert_int_equal(inside_family(m)->speech->prompt_prefix(m, &q, ids, &sot), c[i].n);
        assert_memory_equal(ids, c[i].want, (size_t)c[i].n * sizeof *ids);
        assert_int_equal(sot, 0);
        assert_int_equal(inside_tokens(m)->no_speech, c[i].nospeech);
        steno_model_close(m);
    }
}

static int bits(const uint32_t *mask, int32_t n)
{
    int set = 0;
    for (int32_t i = 0; i < n; i++) set += mask[i >> 5] >> (i & 31) & 1;
    return set;
}

static int is_barred(const uint32_t *mask, int32_t id)
{
    return mask[id >> 5] >> (id & 31) & 1;
}

static void masks_for(const char *suppress, int without_timestamps)
{
    const struct speech_options q = { .suppress_tokens = suppress, .without_timestamps = without_timestamps, .suppress_blank = 1,
                                      .max_initial_timestamp = 1 };
    assert_int_equal(inside_family(model)->speech->rules(model, &q, inside_masks(session), inside_rules(session), NULL), 0);
}

static void test_the_default_bars_82_non_speech_ids_and_six_control_ids(void **state)
{
    (void)state;
    const struct token_roles *t = inside_tokens(model);
    const int32_t control[] = { t->sot, t->previous, t->turn, t->transcribe, t->translate, t->no_speech };
    masks_for("-1", 1);
    assert_int_equal(bits(inside_masks(session)->always, inside_n_vocab(model)), 82 + 6);
    for (int i = 0; i < 6; i++) assert_true(is_barred(inside_masks(session)->always, control[i]));
    assert_false(is_barred(inside_masks(session)->always, t->eot));
    assert_int_equal(bits(inside_masks(session)->first, inside_n_vocab(model)), 82 + 6 + 2);
    assert_true(is_barred(inside_masks(session)->first, t->eot) && is_barred(inside_masks(session)->first, 220));
    masks_for("-1", 0);
    assert_int_equal(bits(inside_masks(session)->always, inside_n_vocab(model)), 82 + 6 + 1);
    assert_true(is_barred(inside_masks(session)->always, t->no_timestamps));
    masks_for("", 1);
    assert_int_equal(bits(inside_masks(session)->always, inside_n_vocab(model)), 0);
    masks_for("11,13", 1);
    assert_int_equal(bits(inside_masks(session)->always, inside_n_vocab(model)), 2 + 6);
    assert_true(is_barred(inside_masks(session)->always, 11) && is_barred(inside_masks(session)->always, 13));
}

static void test_a_barred_id_never_appears(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    p.suppress_tokens = "4018,-1"; /* " zero" */
    run(&demo, &p);
    for (int i = 0; i < steno_segment_count(session); i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(session, i, &g);
        for (int j = 0; j < g.n_tokens; j++) assert_int_not_equal(g.tokens[j], 4018);
    }
    assert_null(strstr(steno_text(session), "zero"));
}

static void test_without_timestamps_there_are_none_and_one_segment_covers_the_window(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    p.without_timestamps = 1;
    run(&demo, &p);
    assert_int_equal(steno_segment_count(session), 1);
    steno_segment g = { .size = sizeof g };
    steno_segment_get(session, 0, &g);
    for (int j = 0; j < g.n_tokens; j++) assert_true(g.tokens[j] < inside_tokens(model)->timestamp_begin);
    assert_int_equal(g.t0_ms, 0);
    assert_int_equal(g.t1_ms, demo.n / 160 * 10);
}

/* The rule must hold for whatever the weights say: random windows of a random model. */
static void test_every_window_of_a_random_model_begins_with_a_timestamp_within_the_limit(void **state)
{
    (void)state;
    const struct whisper_dims d = { 80, 1500, 16, 2, 1, SMALL_VOCAB, 20, 16, 2, 1 };
    uint32_t seed = 4;
    float *x = malloc(RATE * sizeof *x);
    assert_non_null(x);
    steno_model *m = random_model(&d, DT_F16, 9, NULL);
    steno_session *s = session_new(m, NULL, 1);
    const int rounds = SANITIZED ? 4 : 50;
    for (int i = 0; i < rounds; i++) {
        steno_transcribe_params p = params_new();
        steno_segment g = { .size = sizeof g };
        p.no_speech_threshold = (double)NAN;
        p.guards = STENO_GUARDS_OFF; /* noise has no speech */
        p.sample_len = 4;
        p.max_initial_timestamp = i % 2 ? 1.0 : 0.5;
        for (int k = 0; k < RATE; k++) x[k] = 0.1f * noise(&seed);
        assert_int_equal(steno_transcribe(s, x, RATE, &p), 0);
        const struct sampled_token *first = &inside_picked(s, 0)[0];
        assert_in_range(first->id, inside_tokens(m)->timestamp_begin, inside_tokens(m)->timestamp_begin + (i % 2 ? 50 : 25));
        assert_int_equal(steno_segment_get(s, 0, &g), 0);
        assert_true(g.t0_ms <= 1000);
    }
    steno_session_close(s);
    steno_model_close(m);
    free(x);
}

static void test_sampling_stops_at_the_given_length_and_else_at_half_the_context(void **state)
{
    (void)state;
    char never_ends[32];
    steno_transcribe_params p = params_new();
    steno_timings t = { .size = sizeof t };
    snprintf(never_ends, sizeof never_ends, "%d", (int)inside_tokens(model)->eot);
    p.without_timestamps = 1;
    p.temperature_increment_on_fallback = 0;
    p.sample_len = 5;
    run(&demo, &p);
    assert_int_equal(n_tokens(), 5);
    p.suppress_tokens = never_ends;
    p.sample_len = 0;
    run(&demo, &p);
    assert_int_equal(n_tokens(), 224);
    p.sample_len = 448;
    steno_timings_reset(session);
    run(&demo, &p);
    assert_int_equal(n_tokens(), 448 + 1 - 4); /* start, language, task, no timestamps; the last token need not be fed */
    steno_timings_get(session, &t);
    assert_int_equal(t.n_prompts + t.n_steps, 448 + 1 - 4);
}

/* ---- previous text ---- */

static void test_the_next_window_is_prompted_with_the_text_before_it(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 10);
    const struct token_roles *t = inside_tokens(model);
    steno_transcribe_params p = params_new();
    p.guards = STENO_GUARDS_OFF; /* they try a window without the text before it, too */
    p.temperature_increment_on_fallback = 0;
    run(&a, &p);
    steno_segment g = { .size = sizeof g }, last = { 0 };
    for (int i = 0; !steno_segment_get(session, i, &g); i++)
        if (g.seek_frames == 0) last = g;
    assert_true(last.n_tokens > 0);
    assert_int_equal(inside_prompt(session).id[0], t->previous);
    int sot = 1;
    while (inside_prompt(session).id[sot] != t->sot) assert_true(++sot < inside_text_ctx(model));
    assert_memory_equal(inside_prompt(session).id + sot - last.n_tokens, last.tokens, (size_t)last.n_tokens * sizeof(int32_t));
    p.condition_on_previous_text = 0;
    run(&a, &p);
    assert_int_equal(inside_prompt(session).id[0], t->sot);
    p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.temperature = 0.6; /* above 0.5 the text is not trusted */
    run(&a, &p);
    assert_int_equal(inside_prompt(session).id[0], t->sot);
    free(a.pcm);
}

static void test_a_long_prompt_keeps_its_last_223_ids(void **state)
{
    (void)state;
    static char text[4000];
    static int32_t ids[2000];
    for (int i = 0; i < 400; i++) strcat(text, i % 3 ? " one" : " seven");
    const int n = steno_tokenize(model, text, ids, 2000);
    assert_int_equal(n, 400);
    steno_transcribe_params p = params_new();
    p.initial_prompt = text;
    run(&demo, &p);
    assert_int_equal(inside_prompt(session).id[0], inside_tokens(model)->previous);
    assert_memory_equal(inside_prompt(session).id + 1, ids + n - 223, 223 * sizeof *ids);
    assert_int_equal(inside_prompt(session).id[224], inside_tokens(model)->sot);
    p.initial_prompt = "";
    run(&demo, &p);
    p.initial_prompt = NULL;
    run(&demo, &p);
    assert_int_equal(inside_prompt(session).id[0], inside_tokens(model)->sot);
}

/* ---- language and temperature ---- */

static void test_languages_are_known_by_code_and_name_and_english_models_take_english_alone(void **state)
{
    (void)state;
    static const char *const german[] = { "de", "german", "German", "DE" };
    steno_transcribe_params p = params_new();
    for (int i = 0; i < 4; i++) {
        p.language = german[i];
        run(&demo, &p);
        assert_string_equal(steno_language(session), "de");
        assert_int_equal(inside_prompt(session).id[1], inside_tokens(model)->first_language + 2);
    }
    p.language = "auto";
    run(&demo, &p);
    assert_string_equal(steno_language(session), "en");
    steno_model *m = random_model(&small_dims, DT_F16, 2, NULL);
    steno_session *s = session_new(m, NULL, 1);
    p.language = "de";
    assert_int_equal(steno_transcribe(s, demo.pcm, RATE, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "knows English only"));
    p.language = NULL;
    p.task = STENO_TRANSLATE;
    assert_int_equal(steno_transcribe(s, demo.pcm, RATE, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(s), "task"));
    p.task = STENO_TRANSCRIBE;
    assert_int_equal(steno_transcribe(s, demo.pcm, RATE, &p), 0);
    assert_string_equal(steno_language(s), "en");
    assert_int_equal(steno_detect_language(s, &(steno_source){ 0 }, NULL, 0), STENO_EARG);
    assert_null(steno_model_language(m, 0));
    steno_session_close(s);
    steno_model_close(m);
    assert_string_equal(steno_model_language(model, 0), "en");
    assert_string_equal(steno_model_language(model, 98), "su");
    assert_null(steno_model_language(model, 99));
}

static void test_detection_leaves_the_next_window_its_encoder_output(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 10);
    steno_transcribe_params p = params_new();
    steno_timings t = { .size = sizeof t };
    run(&a, &p);
    const uint64_t want = result_digest(session);
    p.language = NULL;
    steno_timings_reset(session);
    run(&a, &p);
    steno_timings_get(session, &t);
    assert_true(result_digest(session) == want);
    assert_int_equal(t.n_encodes, t.n_windows);
    free(a.pcm);
}

static void test_zero_temperature_repeats_and_sampling_repeats_with_its_seed(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    run(&demo, &p);
    const uint64_t greedy = result_digest(session);
    run(&demo, &p);
    assert_true(result_digest(session) == greedy);
    p.temperature = 1.5;
    int varied = 0;
    uint64_t first = 0;
    for (p.seed = 0; p.seed < 4; p.seed++) {
        run(&demo, &p);
        const uint64_t once = result_digest(session);
        run(&demo, &p);
        assert_true(result_digest(session) == once);
        if (!p.seed) first = once;
        varied += once != first;
        steno_segment g = { .size = sizeof g };
        if (steno_segment_count(session)) {
            steno_segment_get(session, 0, &g);
            assert_true(g.temperature == 1.5);
        }
    }
    assert_true(varied > 0);
}

static void test_a_session_of_many_lanes_transcribes_like_one_of_one(void **state)
{
    (void)state;
    const steno_transcribe_params p = params_new();
    run(&demo, &p);
    const uint64_t want = result_digest(session);
    steno_session *s = session_new(model, NULL, 7);
    assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0); /* the other lanes have never been used */
    assert_true(result_digest(s) == want);
    assert_true(steno_bench_phase(s, "beam5", 3) >= 0);
    assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0);
    assert_true(result_digest(s) == want);
    steno_session_close(s);
}

/* ---- text ---- */

static void test_stored_encoder_positions_are_sines_then_cosines(void **state)
{
    (void)state;
    const struct plan *p = inside_plan(model, PLAN_ENCODER);
    for (int i = 0; i < p->n_ops; i++)
        if (!strcmp(p->label[i], "encoder.conv2")) {
            const float *row = /* rounded to f16 in this file */ p->bind[p->op[i].bind].positions + 128;
            assert_true(fabs((double)row[0] - 0.841471) < 5e-4 && fabs((double)row[64] - 0.540302) < 5e-4);
            return;
        }
    fail_msg("no second convolution");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initial_tokens_follow_from_the_vocabulary_language_and_task),
        cmocka_unit_test(test_the_default_bars_82_non_speech_ids_and_six_control_ids),
        cmocka_unit_test(test_a_barred_id_never_appears),
        cmocka_unit_test(test_without_timestamps_there_are_none_and_one_segment_covers_the_window),
        cmocka_unit_test(test_every_window_of_a_random_model_begins_with_a_timestamp_within_the_limit),
        cmocka_unit_test(test_sampling_stops_at_the_given_length_and_else_at_half_the_context),
        cmocka_unit_test(test_the_next_window_is_prompted_with_the_text_before_it),
        cmocka_unit_test(test_a_long_prompt_keeps_its_last_223_ids),
        cmocka_unit_test(test_languages_are_known_by_code_and_name_and_english_models_take_english_alone),
        cmocka_unit_test(test_detection_leaves_the_next_window_its_encoder_output),
        cmocka_unit_test(test_zero_temperature_repeats_and_sampling_repeats_with_its_seed),
        cmocka_unit_test(test_a_session_of_many_lanes_transcribes_like_one_of_one),
        cmocka_unit_test(test_stored_encoder_positions_are_sines_then_cosines),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
