/* steno tests: structs of every size. SPDX-License-Identifier: MIT
 *
 * A caller's struct of any size, which it names, in memory of just that size: what it has counts, what it lacks or has but a
 * part of is at its default, and nothing behind it is touched. */
#include "funasr_model.h"
#include "small_pair.h"

enum { MORE = 64, LANES = 2, LEAST = sizeof(uint32_t) };

/* The first `size` bytes of whole[n], which names that size, and rubbish behind n; in memory of just that size. */
static void *cut(const void *whole, size_t n, uint32_t size)
{
    uint8_t *p = malloc(size < LEAST ? LEAST : size);
    assert_non_null(p);
    memset(p, 0xee, size < LEAST ? LEAST : size);
    memcpy(p, whole, size < n ? size : n);
    memcpy(p, &size, sizeof size);
    return p;
}

/* What a call should make of it: defaults[n] with as many whole words of whole as there are. */
static void complete(void *out, const void *whole, const void *defaults, size_t n, uint32_t size)
{
    memcpy(out, defaults, n);
    memcpy(out, whole, size < n ? size & ~7u : n);
    const uint32_t all = (uint32_t)n;
    memcpy(out, &all, sizeof all);
}

static void expect(const char *what, uint32_t size, int least, int64_t rc)
{
    if ((int)size < least ? rc != STENO_EARG : rc < 0) fail_msg("%s of %u bytes: status %lld", what, size, (long long)rc);
}

/* ---- parameters ------------------------------------------------------------------------------------------------------------------- */

static void test_models_are_opened_with_parameters_of_every_size(void **state)
{
    (void)state;
    enum { FIRST = offsetof(steno_model_params, vocab) };
    const struct bytes file = random_bytes(&small_dims, DT_F16, 3);
    steno_model_params p;
    steno_model_params_init(&p);
    p.cpu_level = "c";
    p.vocab = shipped_model;
    p.alignment_heads = "top:1";
    p.index_only = 1;
    for (uint32_t size = 0; size <= sizeof p + MORE; size++) {
        steno_model *m = NULL;
        steno_model_params *q = cut(&p, sizeof p, size);
        expect("steno_model_open_memory", size, FIRST, steno_model_open_memory(&m, file.p, file.n, q, NULL));
        steno_model_close(m);
        expect("steno_model_open", size, FIRST, steno_model_open(&m, shipped_model, q, NULL));
        steno_model_close(m);
        free(q);
    }
    free(file.p);
}

static void test_sessions_and_batches_are_opened_with_parameters_of_every_size(void **state)
{
    (void)state;
    enum { FIRST_BATCH = offsetof(steno_batch_params, steps_between_encodes) };
    steno_batch *b, *c;
    steno_session *s;
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    bp.max_windows = 2;
    bp.max_lanes = LANES;
    assert_int_equal(steno_batch_open(&b, model, NULL, &bp, NULL), 0);
    steno_session_params_init(&sp);
    sp.batch = b;
    for (uint32_t size = 0; size <= sizeof bp + MORE; size++) {
        steno_batch_params *q = cut(&bp, sizeof bp, size);
        steno_session_params *r = cut(&sp, sizeof sp, size);
        expect("steno_batch_memory", size, FIRST_BATCH, steno_batch_memory(model, NULL, q));
        expect("steno_batch_open", size, FIRST_BATCH, steno_batch_open(&c, model, NULL, q, NULL));
        expect("steno_session_memory", size, 8, steno_session_memory(model, NULL, r));
        expect("steno_session_open", size, 8, steno_session_open(&s, model, NULL, r, NULL));
        steno_session_close(s);
        steno_batch_close(c);
        free(q);
        free(r);
    }
    steno_batch_close(b);
}

static int no_abort(void *user) { (void)user; return 0; }
static void no_progress(void *user, int64_t done, int64_t total) { (void)user, (void)done, (void)total; }
static void no_segment(void *user, const steno_segment *seg) { (void)user, (void)seg; }
static int no_window(void *user, int64_t at) { (void)user, (void)at; return 1; }
static void no_attempt(void *user, const steno_attempt *a) { (void)user, (void)a; }

static void no_filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user, (void)at, (void)logits, (void)tokens, (void)n;
}

/* Every address names something, every number is one that is taken. */
static steno_transcribe_params params_full(void)
{
    static double const clips[] = { 0, 0.8, 0.6, 1.1 };
    steno_transcribe_params p = params_new();
    p.initial_prompt = "ab";
    p.suppress_tokens = "-1,7";
    p.sample_len = 5;
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.carry_initial_prompt = 1;
    p.on_segment = no_segment;
    p.on_progress = no_progress;
    p.on_window = no_window;
    p.should_abort = no_abort;
    p.on_attempt = no_attempt;
    p.logits_filter = no_filter;
    p.beam_size = LANES;
    p.patience = 1.5;
    p.length_penalty = 0.5;
    p.prefix = "a";
    p.suppress_regex = "x+";
    p.grammar = "start ::= [a-z]+";
    p.grammar_rule = "start";
    p.hotwords = "ab\nba";
    p.clip_timestamps = clips;
    p.n_clip_timestamps = 4;
    p.audio_ctx = 20;
    p.word_timestamps = 1;
    p.prepend_punctuations = "(";
    p.append_punctuations = ")";
    p.hallucination_silence_threshold = 2;
    p.token_timestamps = 1;
    return p;
}

/* The same for a text that is known. */
static steno_transcribe_params align_full(void)
{
    steno_transcribe_params p = params_new();
    p.on_progress = no_progress;
    p.should_abort = no_abort;
    p.offset_ms = 10;
    p.duration_ms = 900;
    p.prepend_punctuations = "(";
    p.append_punctuations = ")";
    return p;
}

enum { FIRST_TRANSCRIBE = offsetof(steno_transcribe_params, temperature_increment_on_fallback) };

/* Some cuts leave combinations that are refused, a grammar's rule without it for one; the whole of what is left is then refused alike. */
static void transcribe_sized(steno_session *s, const steno_transcribe_params *p, uint32_t size)
{
    steno_transcribe_params defaults, whole;
    steno_transcribe_params_init(&defaults);
    complete(&whole, p, &defaults, sizeof whole, size);
    steno_transcribe_params *q = cut(p, sizeof *p, size);
    const int want = steno_transcribe(s, demo.pcm, RATE, &whole);
    const uint64_t digest = result_digest(s);
    const int rc = steno_transcribe(s, demo.pcm, RATE, q);
    const int first = (int)size < FIRST_TRANSCRIBE;
    if (rc != (first ? STENO_EARG : want) || (!first && result_digest(s) != digest))
        fail_msg("%u bytes: status %d, want %d: %s", size, rc, want, steno_last_error(s));
    free(q);
}

static void test_audio_is_transcribed_with_parameters_of_every_size(void **state)
{
    (void)state;
    steno_batch *b;
    steno_session *alone = session_new(model, NULL, LANES), *s = session_in_batch(&b, model, 2, LANES);
    const steno_transcribe_params p = params_full(), known = align_full();
    if (steno_transcribe(alone, demo.pcm, RATE, &p)) fail_msg("%s", steno_last_error(alone));
    for (uint32_t size = 0; size <= sizeof p + MORE; size++) {
        transcribe_sized(alone, &p, size);
        struct tap t = { .pcm = demo.pcm, .n = RATE };
        const steno_source src = tap_source(&t);
        steno_transcribe_params *q = cut(&p, sizeof p, size), *k = cut(&known, sizeof known, size);
        expect("steno_align", size, FIRST_TRANSCRIBE, steno_align(alone, &src, "a b", k));
        free(k);
        t.at = 0;
        const int rc = steno_batch_add(b, s, &src, q);
        if (rc != STENO_EARG) expect("steno_batch_add", size, FIRST_TRANSCRIBE, rc);
        assert_int_equal(steno_batch_run(b), 0);
        free(q);
    }
    steno_session_close(s);
    steno_session_close(alone);
    steno_batch_close(b);
}

static void test_requests_are_submitted_with_parameters_of_every_size(void **state)
{
    (void)state;
    enum { FIRST_REQUEST = 16 };
    steno_batch *b;
    steno_session *s = session_in_batch(&b, model, 2, LANES);
    steno_transcribe_params p = params_new();
    steno_request_params r;
    steno_request_params_init(&r);
    p.sample_len = 3;
    r.priority = STENO_PRIORITY_LIVE;
    r.transcribe = &p;
    for (uint32_t size = 0; size <= sizeof r + MORE; size++) {
        struct tap t = { .pcm = demo.pcm, .n = RATE / 2 };
        const steno_source src = tap_source(&t);
        steno_request_params *q = cut(&r, sizeof r, size);
        expect("steno_batch_submit", size, FIRST_REQUEST, steno_batch_submit(b, s, &src, q));
        assert_int_equal(steno_batch_run(b), 0);
        free(q);
    }
    steno_session_close(s);
    steno_batch_close(b);
}

static void test_funasr_models_and_generation_take_parameters_of_every_size(void **state)
{
    (void)state;
    const struct audio noisy = bursts(RATE / 2);
    steno_model *vad = funasr_open(vad_folder, NULL), *ctc = funasr_open(ctc_folder, NULL);
    steno_session *v = session_new(vad, NULL, 1), *c = session_new(ctc, NULL, 1), *s = session_new(model, NULL, 1);
    steno_vad_params vp;
    steno_generate_params gp;
    steno_transcribe_params tp = params_new();
    steno_vad_params_init(&vp);
    steno_generate_params_init(&gp);
    vp.should_abort = no_abort;
    gp.max_tokens = 2;
    tp.on_segment = no_segment;
    tp.on_progress = no_progress;
    tp.should_abort = no_abort;
    assert_int_equal(steno_encode(s, demo.pcm, RATE), 0);
    for (uint32_t size = 0; size <= sizeof tp + MORE; size++) {
        struct tap t = { .pcm = noisy.pcm, .n = noisy.n };
        const steno_source src = tap_source(&t);
        steno_vad_params *vq = cut(&vp, sizeof vp, size);
        steno_generate_params *gq = cut(&gp, sizeof gp, size);
        steno_transcribe_params *tq = cut(&tp, sizeof tp, size);
        if (size <= sizeof vp + MORE)
            expect("steno_find_speech", size, offsetof(steno_vad_params, user), steno_find_speech(v, &src, vq));
        if (size <= sizeof gp + MORE) {
            const uint32_t first = offsetof(steno_generate_params, top_k);
            expect("steno_generate", size, (int)first, steno_generate(s, (int32_t[]){ 1 }, 1, gq));
            if (size >= first) expect("steno_generate_continue", size, 0, steno_generate_continue(s, (int32_t[]){ 2 }, 1, gq));
        }
        expect("steno_transcribe", size, FIRST_TRANSCRIBE, steno_transcribe(c, noisy.pcm, RATE / 4, tq));
        free(vq);
        free(gq);
        free(tq);
    }
    steno_session_close(s);
    steno_session_close(c);
    steno_session_close(v);
    steno_model_close(ctc);
    steno_model_close(vad);
    free(noisy.pcm);
}

/* ---- what is filled in -------------------------------------------------------------------------------------------------------------- */

static void test_defaults_fill_structs_of_every_size_and_no_more(void **state)
{
    (void)state;
    static const struct { void (*fill)(void *p, uint32_t size); size_t n; } c[] = {
        { (void (*)(void *, uint32_t))steno_model_params_fill, sizeof(steno_model_params) },
        { (void (*)(void *, uint32_t))steno_session_params_fill, sizeof(steno_session_params) },
        { (void (*)(void *, uint32_t))steno_transcribe_params_fill, sizeof(steno_transcribe_params) },
        { (void (*)(void *, uint32_t))steno_generate_params_fill, sizeof(steno_generate_params) },
        { (void (*)(void *, uint32_t))steno_batch_params_fill, sizeof(steno_batch_params) },
        { (void (*)(void *, uint32_t))steno_vad_params_fill, sizeof(steno_vad_params) },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        uint8_t whole[1024] = { 0 };
        assert_true(c[i].n <= sizeof whole);
        c[i].fill(whole, (uint32_t)c[i].n);
        for (uint32_t size = 0; size <= c[i].n + MORE; size++) {
            uint8_t *p = cut("", 0, size);
            c[i].fill(p, size);
            for (uint32_t k = LEAST; k < size; k++)
                if (p[k] != (k < c[i].n && (k < (size & ~7u) || size >= c[i].n) ? whole[k] : 0))
                    fail_msg("struct %zu of %u bytes: byte %u is %d", i, size, k, p[k]);
            if (size >= LEAST) assert_memory_equal(p, &size, sizeof size);
            free(p);
        }
    }
}

static void test_results_fill_structs_of_every_size_and_no_more(void **state)
{
    (void)state;
    steno_session *s = session_new(model, NULL, 1);
    steno_transcribe_params p = params_new();
    p.sample_len = 6;
    p.word_timestamps = 1;
    p.no_speech_threshold = (double)NAN;
    assert_int_equal(steno_transcribe(s, demo.pcm, RATE, &p), 0);
    int with_words = 0;
    steno_word any = { .size = sizeof any };
    while (with_words < steno_segment_count(s) && steno_word_get(s, with_words, 0, &any)) with_words++;
    for (uint32_t size = 0; size <= sizeof(steno_model_info) + MORE; size++)
        for (int what = 0; what < 5; what++) {
            void *q = cut("", 0, size);
            const int rc = what == 0   ? steno_model_info_get(model, q)
                           : what == 1 ? steno_timings_get(s, q)
                           : what == 2 ? steno_segment_get(s, 0, q)
                           : what == 3 ? steno_token_get(s, with_words, 0, q)
                                       : steno_word_get(s, with_words, 0, q);
            expect("a result", size, LEAST, rc);
            free(q);
        }
    steno_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models_are_opened_with_parameters_of_every_size),
        cmocka_unit_test(test_sessions_and_batches_are_opened_with_parameters_of_every_size),
        cmocka_unit_test(test_audio_is_transcribed_with_parameters_of_every_size),
        cmocka_unit_test(test_requests_are_submitted_with_parameters_of_every_size),
        cmocka_unit_test(test_funasr_models_and_generation_take_parameters_of_every_size),
        cmocka_unit_test(test_defaults_fill_structs_of_every_size_and_no_more),
        cmocka_unit_test(test_results_fill_structs_of_every_size_and_no_more),
    };
    return cmocka_run_group_tests(tests, pair_open, pair_close);
}
