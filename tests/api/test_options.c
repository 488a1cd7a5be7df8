/* steno tests: what the options of a transcription do. SPDX-License-Identifier: MIT */
#include <time.h>
#include "shipped_session.h"
#include "internal.h"

static int n_tokens(void)
{
    int n = 0;
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(session, i, &g); i++) n += g.n_tokens;
    return n;
}

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

/* ---- callbacks, tokens, counters ---- */

struct log { steno_transcribe_params *p; int segments, progress, windows, most_windows, bad; int64_t at, total, window_ms; };

static void log_segment(void *user, const steno_segment *g)
{
    struct log *l = user;
    l->bad += g->id != l->segments++ || !g->text;
    l->p->sample_len = 1; /* the caller's struct may change: the running call has its own copy */
    l->p->without_timestamps = 1;
}

static void log_progress(void *user, int64_t done, int64_t total)
{
    struct log *l = user;
    l->bad += done < l->at || done > total || (l->progress && total != l->total);
    l->at = done;
    l->total = total;
    l->progress++;
}

static int log_window(void *user, int64_t at_ms)
{
    struct log *l = user;
    l->bad += at_ms < l->window_ms;
    l->window_ms = at_ms;
    return ++l->windows <= l->most_windows;
}

static steno_transcribe_params logged(struct log *l)
{
    steno_transcribe_params p = params_new();
    p.user = l;
    p.on_segment = log_segment;
    p.on_progress = log_progress;
    p.on_window = log_window;
    return p;
}

static void test_callbacks_come_in_order_and_options_are_copied(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 10);
    steno_transcribe_params p = params_new();
    run(&a, &p);
    const uint64_t want = result_digest(session);
    struct log l = { .most_windows = 100 };
    p = logged(&l);
    l.p = &p;
    run(&a, &p);
    assert_true(result_digest(session) == want);
    assert_int_equal(l.bad, 0);
    assert_int_equal(l.segments, steno_segment_count(session));
    assert_true(l.windows >= 2 && l.progress >= l.windows);
    assert_int_equal(l.at, l.total);
    assert_int_equal(l.total, a.n / 160 * 10);
    free(a.pcm);
}

static void test_a_window_that_is_declined_ends_cleanly_with_what_came_before(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 10);
    struct log l = { .most_windows = 1 };
    steno_transcribe_params p = logged(&l);
    l.p = &p;
    run(&a, &p);
    assert_int_equal(l.windows, 2);
    assert_true(steno_segment_count(session) > 0);
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(session, i, &g); i++) assert_int_equal(g.seek_frames, 0);
    free(a.pcm);
}

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

/* The text cut at its spaces, with times in order; none where nobody asked. */
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

static void test_counters_tell_what_ran_and_times_stay_below_the_clock(void **state)
{
    (void)state;
    struct timespec a, b;
    const steno_transcribe_params p = params_new();
    steno_timings t = { .size = sizeof t };
    steno_timings_reset(session);
    clock_gettime(CLOCK_MONOTONIC, &a);
    run(&demo, &p);
    clock_gettime(CLOCK_MONOTONIC, &b);
    steno_timings_get(session, &t);
    assert_int_equal(t.n_windows, 1);
    assert_int_equal(t.n_encodes, 1);
    assert_int_equal(t.n_prompts, 1);
    assert_int_equal(t.n_prompt_tokens, 3);
    assert_int_equal(t.n_wakes, 2); /* one for encoder and cross keys, one for the whole chain of steps */
    assert_int_equal(t.n_steps, n_tokens()); /* the last one finds the end of text; the first comes with the prompt */
    const int64_t wall = (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000 + 1;
    assert_true(t.load_us > 0);
    assert_true(t.source_us + t.mel_us + t.encode_us + t.cross_us + t.prompt_us + t.decode_us <= wall);
    steno_timings_reset(session);
    steno_timings_get(session, &t);
    assert_int_equal(t.n_steps + t.n_encodes + t.n_windows, 0);
}

static int64_t profile_sum_ns(const steno_session *s)
{
    int64_t sum = 0, ns;
    for (int i = 0; !steno_profile_get(s, i, NULL, &ns, NULL); i++) sum += ns;
    return sum;
}

/* Part of the time of the runs that the ops of one more transcription account for, at most 1. */
static double profile_share(steno_session *s, const steno_transcribe_params *p)
{
    steno_timings t = { .size = sizeof t };
    const int64_t before = profile_sum_ns(s);
    steno_timings_reset(s);
    assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, p), 0);
    steno_timings_get(s, &t);
    return (double)(profile_sum_ns(s) - before) / 1e3 / (double)(t.encode_us + t.cross_us + t.prompt_us + t.decode_us);
}

static void test_profile_counts_each_op_and_cross_keys_only_once_per_window(void **state)
{
    (void)state;
    const steno_transcribe_params p = params_new();
    steno_session *s = session_new(model, NULL, 1);
    steno_timings t = { .size = sizeof t };
    const char *label;
    int64_t ns, calls;
    int cross = 0, steps = 0;
    int64_t sum = 0;
    assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0);
    for (int i = 0; !steno_profile_get(s, i, &label, &ns, &calls); i++) assert_true(ns == 0 && calls == 0); /* off at first */
    steno_timings_reset(s);
    steno_profile_enable(s, 1);
    assert_int_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0);
    steno_timings_get(s, &t);
    for (int i = 0; !steno_profile_get(s, i, &label, &ns, &calls); i++) {
        assert_true(label && *label);
        if (!strncmp(label, "align.", 6)) { /* nobody asked for word times */
            assert_true(ns == 0 && calls == 0);
            continue;
        }
        assert_true(ns > 0);
        sum += ns / 1000;
        if (strstr(label, "cross_attn.kv")) cross += (int)calls;
        if (!strncmp(label, "decoder.", 8) && !strstr(label, "cross_attn.kv")) {
            assert_int_equal(calls, t.n_prompts + t.n_steps);
            steps++;
        }
    }
    const int64_t wall = t.encode_us + t.cross_us + t.prompt_us + t.decode_us;
    assert_true(sum <= wall); /* the ops account for the time of the runs; a busy machine takes some between them, but not always */
    double share = (double)sum / (double)wall;
    for (int i = 0; share <= 0.9 && i < 50; i++) share = fmax(share, profile_share(s, &p));
    assert_true(share > 0.9);
    assert_int_equal(cross, model->widths.text_layers * t.n_encodes);
    assert_true(steps > 20);
    steno_session_close(s);
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
        cmocka_unit_test(test_callbacks_come_in_order_and_options_are_copied),
        cmocka_unit_test(test_a_window_that_is_declined_ends_cleanly_with_what_came_before),
        cmocka_unit_test(test_token_records_agree_with_themselves_and_their_segment),
        cmocka_unit_test(test_aligned_tokens_go_on_within_their_segment_and_its_words),
        cmocka_unit_test(test_word_times_take_no_scratch_of_their_own),
        cmocka_unit_test(test_words_are_the_text_of_their_segments_in_order_of_time),
        cmocka_unit_test(test_counters_tell_what_ran_and_times_stay_below_the_clock),
        cmocka_unit_test(test_profile_counts_each_op_and_cross_keys_only_once_per_window),
        cmocka_unit_test(test_text_becomes_the_ids_of_the_reference_and_comes_back),
        cmocka_unit_test(test_stored_encoder_positions_are_sines_then_cosines),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
