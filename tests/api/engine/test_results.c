/* steno tests: the result record, the logits filter, and questions about a model. SPDX-License-Identifier: MIT */
#define SHIPPED_COMPUTE STENO_COMPUTE_F32
#include "attempts.h"
#include "shipped_session.h"
#include "internal.h"

/* ---- the record ---- */

static void test_language_probabilities_stay_with_the_result(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    p.language = NULL;
    run(&demo, &p);
    double sum = 0;
    for (int i = 0; i < 99; i++) sum += (double)steno_language_prob(session, i);
    assert_true(fabs(sum - 1) < 1e-5);
    assert_true(steno_language_prob(session, steno_language_id(model, "en")) > 0.5f);
    assert_true(steno_language_prob(session, 99) == -1 && steno_language_prob(session, -1) == -1);
    p.language = "en";
    run(&demo, &p);
    assert_true(steno_language_prob(session, 0) == -1); /* nothing was detected */
}

static void test_audio_features_are_the_encoder_s_output_for_the_last_window_and_only_on_request(void **state)
{
    (void)state;
    const struct plan *enc = inside_plan(model, PLAN_ENCODER);
    const struct slot *out = &enc->slot[enc->output];
    int32_t n_ctx = 0, n_state = 0;
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    run(&many, &p);
    assert_null(steno_audio_features(session, &n_ctx, &n_state));
    p.keep_audio_features = 1;
    for (int detect = 0; detect < 2; detect++) { /* detection leaves a full window its encoder output */
        struct pcm memory = { many.pcm, detect ? 30 * RATE : demo.n, 0, 0 };
        const steno_source src = pcm_source(&memory);
        const struct audio a = { many.pcm, memory.n };
        p.language = detect ? NULL : "en";
        p.duration_ms = detect ? 30000 : 0;
        p.without_timestamps = 1; /* one window */
        run(&a, &p);
        const float *x = steno_audio_features(session, &n_ctx, &n_state);
        assert_non_null(x);
        assert_int_equal(n_ctx, inside_audio_ctx(model));
        assert_int_equal(n_state, out->width);
        assert_int_equal(inside_listen(session, &src, NULL), 0);
        assert_int_equal(inside_window(session, 0, (int)(a.n / 160), inside_mel(session)), 0);
        assert_int_equal(inside_encode(session), 0);
        const float *slot = inside_encoded(session);
        for (int i = 0; i < n_ctx; i++)
            assert_memory_equal(x + (size_t)i * (size_t)n_state, slot + (size_t)i * out->ld, (size_t)n_state * sizeof *x);
    }
}

/* What a token was chosen from, before the rules; and what they leave of it, as the reference has them (ApplyTimestampRules). */
struct choices { int n; float *logits; }; /* [CHOICES, n_vocab] */

enum { CHOICES = 64 };

static void note_choice(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    struct choices *c = user;
    (void)tokens;
    assert_true(n == c->n && c->n < CHOICES);
    for (int32_t i = 0; i < at->n_vocab; i++) logits[i] *= 0.4f; /* so that the model is less sure */
    memcpy(c->logits + (size_t)c->n++ * (size_t)at->n_vocab, logits, (size_t)at->n_vocab * sizeof *logits);
}

/* The share of timestamps among all that may follow ids[n]. */
static double timestamps_share(const float *x, const int32_t *ids, int n)
{
    const int32_t ts = inside_tokens(model)->timestamp_begin, eot = inside_tokens(model)->eot;
    const int last = n > 0 && ids[n - 1] >= ts, before = n < 2 || ids[n - 2] >= ts;
    int32_t from = ts;
    for (int i = 0; i < n; i++)
        if (ids[i] >= ts) from = ids[i] + !(last && !before);
    double text = 0, times = 0, best = 0, most = -INFINITY;
    for (int32_t i = 0; i < inside_n_vocab(model); i++)
        if ((double)x[i] > most) most = (double)x[i];
    for (int32_t i = 0; i < inside_n_vocab(model); i++) {
        const double p = exp((double)x[i] - most);
        const int is_text = i < ts && i != inside_tokens(model)->no_timestamps && n > 0 && (!(last && !before) || i >= eot);
        if (is_text && p > best) best = p;
        if (is_text) text += p;
        if (i >= from && !(last && before)) times += p;
    }
    return times > best ? 1 : times / (times + text);
}

static void test_the_share_of_timestamps_is_their_sum_over_all_that_may_be_chosen(void **state)
{
    (void)state;
    struct choices c = { 0, malloc((size_t)CHOICES * (size_t)inside_n_vocab(model) * sizeof(float)) };
    int32_t ids[CHOICES];
    int n = 0, middling = 0;
    assert_non_null(c.logits);
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.suppress_tokens = "";
    p.suppress_blank = 0;
    p.max_initial_timestamp = 0;
    p.user = &c;
    p.logits_filter = note_choice;
    run(&demo, &p);
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(session, i, &g); i++)
        for (int j = 0; j < g.n_tokens; j++, n++) {
            steno_token t = { .size = sizeof t };
            assert_int_equal(steno_token_get(session, i, j, &t), 0);
            const double want = timestamps_share(c.logits + (size_t)n * (size_t)inside_n_vocab(model), ids, n);
            if (!(fabs((double)t.ts_prob_sum - want) < 1e-5)) fail_msg("token %d: share %.9g, want %.9g", n, (double)t.ts_prob_sum, want);
            middling += want > 1e-6 && want < 0.999;
            ids[n] = t.id;
        }
    if (n <= 8 || !middling) fail_msg("%d tokens, %d of them between", n, middling);
    free(c.logits);
}

static void test_entropies_and_scores_of_all_attempts_are_within_their_bounds(void **state)
{
    (void)state;
    struct attempts l = { 0 };
    steno_transcribe_params p = params_noted(&l);
    p.guards = STENO_GUARDS_OFF; /* no attempt beside the ladder's */
    p.temperature_increment_on_fallback = 0.2;
    p.logprob_threshold = 0; /* all attempts are made */
    p.best_of = SHIPPED_LANES;
    run(&demo, &p);
    assert_int_equal(l.n, 6);
    for (int i = 0; i < l.n; i++) {
        const steno_attempt *a = &l.a[i];
        assert_true(a->entropy >= 0 && a->entropy <= log(32) + 1e-12);
        assert_true(a->n_tokens > 0 && a->avg_logprob <= 0 && a->no_speech_prob >= 0 && a->no_speech_prob <= 1);
        assert_int_equal(a->n_candidates, i ? SHIPPED_LANES : 1);
        assert_int_equal(a->kept, i == 5);
    }
}

/* ---- logits filter ---- */

struct filter { int calls, bad, mode; int32_t ban, last_n; };

enum { MODE_NONE, MODE_BAN, MODE_NAN, MODE_BAR_ALL };

static void filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    struct filter *f = user;
    f->bad += at->size != sizeof *at || at->lane != 0 || at->n_vocab != inside_n_vocab(model) || at->at_ms != 0 || at->attempt != 0;
    f->bad += n != (f->calls ? f->last_n + 1 : 0);
    for (int32_t i = 0; i < n; i++) f->bad += tokens[i] < 0 || tokens[i] >= at->n_vocab;
    f->last_n = n;
    f->calls++;
    if (f->mode == MODE_BAN) logits[f->ban] = -INFINITY;
    for (int32_t i = 0; i < at->n_vocab && f->mode >= MODE_NAN; i++)
        logits[i] = f->mode == MODE_NAN ? (i % 3 ? (float)NAN : i % 2 ? INFINITY : -INFINITY) : -INFINITY;
}

static steno_transcribe_params filtered(struct filter *f)
{
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.user = f;
    p.logits_filter = filter;
    return p;
}

static void test_a_filter_that_bans_an_id_removes_it_and_keeps_one_wake_up_a_window(void **state)
{
    (void)state;
    steno_timings t = { .size = sizeof t };
    int32_t zero;
    assert_int_equal(steno_tokenize(model, " zero", &zero, 1), 1);
    const steno_transcribe_params plain = params_new();
    run(&demo, &plain);
    assert_non_null(strstr(steno_text(session), "zero"));
    for (int threads = 1; threads <= 2; threads++) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, threads, NULL), 0);
        steno_session *s = session_new(model, team, 1);
        struct filter f = { .mode = MODE_BAN, .ban = zero };
        const steno_transcribe_params p = filtered(&f);
        assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0);
        steno_timings_get(s, &t);
        assert_null(strstr(steno_text(s), "zero"));
        assert_int_equal(f.bad, 0);
        assert_int_equal(f.calls, t.n_steps + t.n_prompts);
        assert_int_equal(t.n_wakes, 2);
        steno_session_close(s);
        steno_team_close(team);
    }
}

static void test_a_filter_that_changes_nothing_changes_nothing(void **state)
{
    (void)state;
    const steno_transcribe_params plain = params_new();
    struct filter f = { 0 };
    steno_transcribe_params p = filtered(&f);
    run(&demo, &plain);
    const uint64_t want = result_digest(session);
    run(&demo, &p);
    assert_true(result_digest(session) == want && f.calls > 5);
    run(&demo, &plain); /* and is gone afterwards */
    assert_int_equal(f.last_n + 1, f.calls);
}

/* An English-only prompt is one token long: its row is asked for the no-speech probability and for the first token. */
static void test_the_no_speech_probability_is_that_of_unfiltered_logits(void **state)
{
    (void)state;
    steno_model *m = random_model(&small_dims, DT_F16, 2, NULL), *before = model;
    steno_session *s = session_new(m, NULL, 1);
    double want = 0;
    model = m;
    for (int i = 0; i < 2; i++) {
        struct filter f = { .mode = MODE_BAN, .ban = inside_tokens(m)->no_speech };
        steno_transcribe_params p = filtered(&f);
        steno_segment g = { .size = sizeof g };
        p.no_speech_threshold = (double)NAN;
        if (!i) p.logits_filter = NULL;
        assert_int_equal(steno_transcribe(s, demo.pcm, small_dims.n_audio_ctx * 320, &p), 0);
        assert_int_equal(steno_segment_get(s, 0, &g), 0);
        if (i) assert_true(g.no_speech_prob == want && f.calls > 0);
        want = g.no_speech_prob;
        assert_true(want > 0);
    }
    model = before;
    steno_session_close(s);
    steno_model_close(m);
}

static void test_a_call_ends_for_any_output_of_a_filter(void **state)
{
    (void)state;
    for (int mode = MODE_NAN; mode <= MODE_BAR_ALL; mode++)
        for (int hot = 0; hot < 2; hot++) {
            struct filter f = { .mode = mode };
            steno_transcribe_params p = filtered(&f);
            p.temperature = hot;
            run(&demo, &p);
            assert_int_equal(f.bad, 0);
            if (mode == MODE_BAR_ALL) assert_string_equal(steno_text(session), ""); /* nothing is left: the text ends */
            steno_token t = { .size = sizeof t };
            steno_segment g = { .size = sizeof g };
            int n = 0;
            for (int i = 0; !steno_segment_get(session, i, &g); i++)
                for (int j = 0; !steno_token_get(session, i, j, &t); j++, n++) assert_true(t.p >= 0 && t.p <= 1.0001f);
            assert_int_equal(n > 0, mode != MODE_BAR_ALL);
        }
}

/* ---- the end of the audio ---- */

static void test_a_word_in_the_last_half_second_is_written(void **state)
{
    (void)state;
    const steno_transcribe_params p = params_new();
    const struct audio until_two = { demo.pcm, (int64_t)(3.24 * RATE) }; /* " seven" fills 3.25 to 3.72 s */
    run(&until_two, &p);
    assert_null(strstr(steno_text(session), "seven"));
    run(&demo, &p);
    assert_non_null(strstr(steno_text(session), " two seven."));
    struct audio late = demo_audio((int64_t)(26.77 * RATE), 0, 1); /* the same word behind the first window */
    assert_in_range(late.n, 30 * RATE, 305 * RATE / 10);
    run(&late, &p);
    const char *text = steno_text(session);
    assert_true(strlen(text) > 7 && strcmp(text + strlen(text) - 7, " seven.") == 0);
    free(late.pcm);
}

static void test_clips_under_a_second_do_not_vanish(void **state)
{
    (void)state;
    static const struct { double s; const char *text; } c[] = { { 0.5, " zero." }, { 0.95, " zero nine." } };
    const steno_transcribe_params p = params_new();
    for (int i = 0; i < 2; i++) {
        const struct audio a = { demo.pcm, (int64_t)(c[i].s * RATE) };
        run(&a, &p);
        assert_string_equal(steno_text(session), c[i].text);
    }
    const struct audio seven = { demo.pcm + (int64_t)(3.25 * RATE), demo.n - (int64_t)(3.25 * RATE) };
    run(&seven, &p);
    assert_string_equal(steno_text(session), " seven.");
}

/* ---- the text so far ---- */

struct so_far { char text[64][1024]; int n; };

static void keep_text(void *user, const steno_segment *seg)
{
    struct so_far *t = user;
    assert_true(t->n < 64 && seg->size == sizeof *seg);
    snprintf(t->text[t->n++], sizeof t->text[0], "%s", steno_text(session));
}

static void test_the_text_so_far_is_a_beginning_of_the_whole_text_at_each_segment(void **state)
{
    (void)state;
    for (int clips = 0; clips < 2; clips++) { /* in one chain of windows, and as clips that are decoded in parallel */
        static const double at[] = { 0, 10, 10, 20, 20, 37 };
        struct so_far t = { .n = 0 };
        steno_transcribe_params p = params_new();
        p.on_segment = keep_text;
        p.user = &t;
        p.clip_timestamps = clips ? at : NULL;
        p.n_clip_timestamps = clips ? 6 : 0;
        p.independent_clips = clips;
        p.condition_on_previous_text = !clips;
        run(&many, &p);
        assert_in_range(t.n, 2, 64);
        assert_int_equal(t.n, steno_segment_count(session));
        for (int i = 0; i < t.n; i++) {
            const char *next = i + 1 < t.n ? t.text[i + 1] : steno_text(session);
            assert_true(t.text[i][0]);
            assert_int_equal(strncmp(next, t.text[i], strlen(t.text[i])), 0);
        }
        assert_string_equal(t.text[t.n - 1], steno_text(session));
        assert_true(clips || strlen(t.text[0]) < strlen(steno_text(session)));
    }
}

/* A segment may end inside a character: the next one completes it, or the end replaces it. */
static void test_a_character_that_is_cut_waits_for_its_other_bytes(void **state)
{
    (void)state;
    struct result r = { .language = "" };
    steno_error e;
    int status = STENO_OK;
    for (int again = 0; again < 2; again++) {
        buf_str(&r.bytes, "a\xe2\x82");
        result_convert(&r);
        assert_string_equal(r.whole.p, "a");
        result_convert(&r);
        assert_string_equal(r.whole.p, "a");
        buf_str(&r.bytes, "\xac" "b\xff" "c\xf0\x9f");
        result_convert(&r);
        assert_string_equal(r.whole.p, "a\xe2\x82\xac" "b\xef\xbf\xbd" "c");
        result_finish(&r, &status, &e);
        assert_int_equal(status, STENO_OK);
        assert_string_equal(r.whole.p, "a\xe2\x82\xac" "b\xef\xbf\xbd" "c\xef\xbf\xbd");
        result_clear(&r);
    }
    result_free(&r);
}

/* ---- questions about a model ---- */

static void test_special_tokens_and_languages_have_the_ids_of_their_vocabulary(void **state)
{
    (void)state;
    static const struct { int32_t vocab, want[10]; } c[] = {
        { ENGLISH, { 50256, 50257, -1, 50357, 50358, 50359, 50360, 50361, 50362, 50363 } },
        { MULTILINGUAL, { 50257, 50258, 50259, 50358, 50359, 50360, 50361, 50362, 50363, 50364 } },
        { LANGUAGES_100, { 50257, 50258, 50259, 50359, 50360, 50361, 50362, 50363, 50364, 50365 } },
    };
    for (int i = 0; i < 3; i++) {
        const struct whisper_dims d = { 80, 4, 16, 2, 1, c[i].vocab, 8, 16, 2, 1 };
        steno_model *m = random_model(&d, DT_F16, 1, NULL);
        for (int k = 0; k < 10; k++) assert_int_equal(steno_token_id(m, (enum steno_special)k), c[i].want[k]);
        assert_int_equal(steno_token_id(m, (enum steno_special)10), -1);
        assert_int_equal(steno_language_id(m, "German"), i ? 2 : -1);
        assert_int_equal(steno_language_id(m, "yue"), i == 2 ? 99 : -1);
        assert_int_equal(steno_language_id(m, "klingon"), -1);
        steno_model_close(m);
    }
    assert_int_equal(steno_token_id(NULL, STENO_TOKEN_END), -1);
    assert_int_equal(steno_language_id(NULL, "en"), -1);
    assert_int_equal(steno_language_id(model, NULL), -1);
    int32_t ids[2];
    assert_int_equal(steno_tokenize(model, " one two three", ids, 2), 3); /* returns the number needed, writes those that fit */
    assert_int_equal(steno_tokenize(model, " one two three", NULL, 0), 3);
}

struct given_frames { const float *want; int64_t n, most; };

static int same_frames(void *user, const float *frames, int64_t n)
{
    struct given_frames *g = user;
    assert_true(n > 0);
    if (g->n + n > g->most) return 1;
    assert_memory_equal(frames, g->want + g->n * 80, (size_t)n * 80 * sizeof *frames);
    g->n += n;
    return 0;
}

static int64_t read_fails(void *user, float *pcm, int64_t n)
{
    (void)user, (void)pcm, (void)n;
    return -1;
}

/* In pieces and from a source, log-mel has the bits of the whole. */
static void check_mel_read(const struct audio *apart, const float *want, int64_t frames)
{
    struct pcm memory = { apart->pcm, apart->n, 0, 0 };
    const steno_source src = pcm_source(&memory), bad = { read_fails, NULL, NULL };
    struct given_frames all = { want, 0, frames }, some = { want, 0, 3200 };
    assert_int_equal(steno_mel_read(model, &src, same_frames, &all), frames);
    assert_int_equal(all.n, frames);
    memory.at = 0;
    assert_int_equal(steno_mel_read(model, &src, same_frames, &some), STENO_ECANCELED);
    assert_true(some.n > 0 && some.n <= 3200);
    assert_int_equal(steno_mel_read(model, &bad, same_frames, &some), STENO_ESOURCE);
    assert_int_equal(steno_mel_read(model, &src, NULL, &some), STENO_EARG);
    assert_int_equal(steno_mel_read(model, NULL, same_frames, &some), STENO_EARG);
    assert_int_equal(steno_mel_read(NULL, &src, same_frames, &some), STENO_EARG);
    assert_int_equal(steno_mel_read(model, &(steno_source){ 0 }, same_frames, &some), STENO_EARG);
}

static void test_log_mel_is_what_the_encoder_is_given(void **state)
{
    (void)state;
    struct audio apart = demo_audio(0, RATE, 8); /* 37.8 s */
    const int64_t frames = apart.n / 160;
    float *all = malloc((size_t)frames * 80 * sizeof *all), *part = malloc(100 * 80 * sizeof *part), guard = 7;
    assert_true(all && part);
    assert_int_equal(steno_mel(model, apart.pcm, apart.n, all, frames), frames);
    assert_int_equal(steno_mel(model, apart.pcm, apart.n, NULL, 0), frames);
    part[99 * 80] = guard;
    assert_int_equal(steno_mel(model, apart.pcm, apart.n, part, 99), frames);
    assert_memory_equal(part, all, 99 * 80 * sizeof *part);
    assert_true(part[99 * 80] == guard);
    struct pcm memory = { apart.pcm, apart.n, 0, 0 };
    const steno_source src = pcm_source(&memory);
    const int64_t at[] = { 0, 3000, 700 };
    const int n[] = { 3000, (int)frames - 3000, 2500 };
    float *window = malloc(3000 * 80 * sizeof *window);
    assert_int_equal(inside_listen(session, &src, NULL), 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(inside_window(session, at[i], n[i], window), 0);
        assert_memory_equal(window, all + at[i] * 80, (size_t)n[i] * 80 * sizeof *window);
    }
    check_mel_read(&apart, all, frames);
    assert_int_equal(steno_mel(model, NULL, 0, NULL, 0), 0);
    assert_int_equal(steno_mel(model, apart.pcm, 159, part, 1), 0);
    assert_int_equal(steno_mel(model, NULL, 5, NULL, 0), STENO_EARG);
    assert_int_equal(steno_mel(model, apart.pcm, -1, NULL, 0), STENO_EARG);
    assert_int_equal(steno_mel(NULL, apart.pcm, 1, NULL, 0), STENO_EARG);
    assert_int_equal(steno_mel(model, apart.pcm, 160, NULL, 1), STENO_EARG);
    free(window);
    free(part);
    free(all);
    free(apart.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_language_probabilities_stay_with_the_result),
        cmocka_unit_test(test_audio_features_are_the_encoder_s_output_for_the_last_window_and_only_on_request),
        cmocka_unit_test(test_the_share_of_timestamps_is_their_sum_over_all_that_may_be_chosen),
        cmocka_unit_test(test_entropies_and_scores_of_all_attempts_are_within_their_bounds),
        cmocka_unit_test(test_a_filter_that_bans_an_id_removes_it_and_keeps_one_wake_up_a_window),
        cmocka_unit_test(test_a_filter_that_changes_nothing_changes_nothing),
        cmocka_unit_test(test_the_no_speech_probability_is_that_of_unfiltered_logits),
        cmocka_unit_test(test_a_call_ends_for_any_output_of_a_filter),
        cmocka_unit_test(test_a_word_in_the_last_half_second_is_written),
        cmocka_unit_test(test_clips_under_a_second_do_not_vanish),
        cmocka_unit_test(test_the_text_so_far_is_a_beginning_of_the_whole_text_at_each_segment),
        cmocka_unit_test(test_a_character_that_is_cut_waits_for_its_other_bytes),
        cmocka_unit_test(test_special_tokens_and_languages_have_the_ids_of_their_vocabulary),
        cmocka_unit_test(test_log_mel_is_what_the_encoder_is_given),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
