/* steno tests: Qwen3-ASR: draft tokens from earlier text. SPDX-License-Identifier: MIT
 *
 * Tokens, probabilities and times are the same bits with and without drafts: of passes over a growing clip, of clips in a batch, at the
 * limits of a text, and after canceled calls. */
#include "qwen_spoken.h"
#include "api/funasr_model.h"
#include "same_results.h"

enum { IDS = 40 };

static steno_transcribe_params params(int32_t drafts)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = "English";
    p.sample_len = IDS;
    p.draft_max = drafts;
    return p;
}

static void run(steno_session *s, double from_s, double to_s, const steno_transcribe_params *p)
{
    const int64_t from = (int64_t)(from_s * RATE), to = (int64_t)(to_s * RATE);
    if (steno_transcribe(s, audio.pcm + from, to - from, p)) fail_msg("%s", steno_last_error(s));
}

static steno_timings timings_of(const steno_session *s)
{
    steno_timings t = { .size = sizeof t };
    assert_int_equal(steno_timings_get(s, &t), 0);
    return t;
}

/* Twice in a row the same clip, as a turn whose end is silent; with longer ends, contexts, prefixes, penalties and limits. */
static const struct pass { double from_s, to_s; const char *context, *prefix, *hotwords; double penalty; int32_t most, guards; } pass[] = {
    { 0, 4, NULL, NULL, NULL, 1, IDS, STENO_GUARDS_FLAG }, { 0, 4, NULL, NULL, NULL, 1, IDS, STENO_GUARDS_FLAG },
    { 0, 4.1, NULL, NULL, NULL, 1, IDS, STENO_GUARDS_FLAG }, { 0, 6, NULL, "one", NULL, 1, IDS, STENO_GUARDS_FLAG },
    { 0, 6, NULL, "one", "seven\nnine", 1, IDS, STENO_GUARDS_FLAG }, { 0, 6, "one two one two", NULL, NULL, 1.2, IDS, STENO_GUARDS_FLAG },
    { 0, 6, "one two one two", NULL, NULL, 1.2, IDS, STENO_GUARDS_RETRY }, { 1, 3, NULL, NULL, NULL, 1, 1, STENO_GUARDS_OFF },
    { 1, 3, NULL, NULL, NULL, 1, 2, STENO_GUARDS_OFF }, { 1, 3, NULL, NULL, NULL, 1, 512, STENO_GUARDS_RETRY },
    { 1, 3, NULL, NULL, NULL, 1, 512, STENO_GUARDS_FLAG }, { 1, 3, NULL, NULL, NULL, 1, 512, STENO_GUARDS_OFF },
};
enum { PASSES = sizeof pass / sizeof *pass };

static void pass_set(steno_transcribe_params *p, const struct pass *of)
{
    p->initial_prompt = of->context;
    p->prefix = of->prefix;
    p->hotwords = of->hotwords;
    p->repetition_penalty = of->penalty;
    p->sample_len = of->most;
    p->guards = of->guards;
}

/* Runs pass i with drafts and without, and compares the results. */
static void pass_both(steno_session *s, steno_session *alone, int i, int32_t drafts)
{
    steno_transcribe_params p = params(drafts), q = params(0);
    pass_set(&p, &pass[i]);
    pass_set(&q, &pass[i]);
    steno_timings_reset(s);
    steno_timings_reset(alone);
    run(s, pass[i].from_s, pass[i].to_s, &p);
    run(alone, pass[i].from_s, pass[i].to_s, &q);
    results_are_equal(s, alone, "with drafts");
}

static void test_passes_with_drafts_have_the_same_bits(void **state)
{
    static const int32_t drafts[] = { -1, 1, 4, 15 };
    (void)state;
    for (size_t k = 0; k < sizeof drafts / sizeof *drafts; k++) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, 1 + (int)k % 2, NULL), 0);
        steno_session *s, *alone = qwen_session(model);
        assert_int_equal(steno_session_open(&s, model, team, NULL, NULL), 0);
        int64_t steps = 0, accepted = 0, drafted = 0;
        for (int i = 0; i < PASSES; i++) {
            pass_both(s, alone, i, drafts[k]);
            const steno_timings t = timings_of(s), want = timings_of(alone);
            assert_int_equal(want.n_drafted, 0);
            assert_int_equal(t.n_steps + t.n_accepted, want.n_steps);
            assert_true(t.n_accepted <= t.n_drafted);
            steps += t.n_steps;
            drafted += t.n_drafted;
            accepted += t.n_accepted;
        }
        print_message("up to %d: %lld steps, %lld of %lld draft tokens accepted\n", (int)drafts[k], (long long)steps,
                      (long long)accepted, (long long)drafted);
        assert_true(accepted > 0);
        steno_session_close(s);
        steno_session_close(alone);
        steno_team_close(team);
    }
}

/* ---- draft models */

static steno_model *opened(int compute)
{
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.compute = compute;
    if (steno_model_open(&m, qwen_dir, &p, &e)) fail_msg("%s", e.text);
    return m;
}

static steno_session *drafted(const steno_model *m, const steno_model *draft, steno_team *team)
{
    steno_session_params p;
    steno_session *s;
    steno_error e;
    steno_session_params_init(&p);
    p.draft_model = draft;
    if (steno_session_open(&s, m, team, &p, &e)) fail_msg("%s", e.text);
    return s;
}

/* By itself, which is always right, and by itself in other arithmetic. */
static void test_a_draft_model_changes_no_bit(void **state)
{
    static const int32_t drafts[] = { 3, 15, 1, -1 };
    (void)state;
    steno_model *other = opened(STENO_COMPUTE_INT8);
    for (int k = 0; k < 4; k++)
        for (int is_same = 0; is_same < 2; is_same++) {
            steno_team *team;
            assert_int_equal(steno_team_open(&team, 1 + k % 2, NULL), 0);
            steno_session *s = drafted(model, is_same ? model : other, team), *alone = qwen_session(model);
            int64_t accepted = 0, made = 0;
            for (int i = 0; i < PASSES; i++) {
                pass_both(s, alone, i, drafts[k]);
                const steno_timings t = timings_of(s);
                assert_int_equal(t.n_steps + t.n_accepted, timings_of(alone).n_steps);
                accepted += t.n_accepted;
                made += t.n_drafted;
                const int is_plain = pass[i].penalty == 1 && pass[i].guards != STENO_GUARDS_RETRY;
                if (is_same && is_plain && drafts[k] > 0) assert_int_equal(t.n_accepted, t.n_drafted); /* -1: drafts from the text */
                if (t.n_drafted && drafts[k] > 0) assert_true(t.draft_us > 0);
            }
            print_message("up to %d: %lld of %lld draft tokens accepted\n", (int)drafts[k], (long long)accepted, (long long)made);
            if (drafts[k] > 0) assert_true(accepted > 0);
            steno_session_close(s);
            steno_session_close(alone);
            steno_team_close(team);
        }
    steno_model_close(other);
}

static void test_draft_models_that_do_not_fit_are_refused(void **state)
{
    (void)state;
    steno_model_params p;
    steno_session_params sp;
    steno_session *s;
    steno_error e = { 0 };
    steno_model *whisper = shipped_open(), *longer;
    steno_model_params_init(&p);
    p.text_ctx = 3000;
    assert_int_equal(steno_model_open(&longer, qwen_dir, &p, NULL), 0);
    steno_session_params_init(&sp);
    sp.draft_model = whisper;
    assert_int_equal(steno_session_open(&s, model, NULL, &sp, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "cannot draft for a qwen3-asr model"));
    sp.draft_model = longer;
    assert_int_equal(steno_session_open(&s, model, NULL, &sp, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "positions of audio"));
    steno_model_close(whisper);
    steno_model_close(longer);
}

/* ---- batches */

enum { REQUESTS = 6 };

static void told(void *user, steno_session *s, int status)
{
    (void)s;
    *(int *)user |= status;
}

static void batch_round(steno_batch *b, steno_session **s, int32_t drafts)
{
    steno_request_params r;
    steno_transcribe_params p[REQUESTS];
    struct tap tap[REQUESTS];
    steno_request_params_init(&r);
    for (int i = 0; i < REQUESTS; i++) {
        p[i] = params(i == 3 ? 0 : drafts);
        pass_set(&p[i], &pass[2 * i]);
        tap[i] = (struct tap){ .pcm = audio.pcm + i * RATE / 2, .n = (3 + i % 3) * RATE };
        const steno_source src = tap_source(&tap[i]);
        r.transcribe = &p[i];
        assert_int_equal(steno_batch_submit(b, s[i], &src, &r), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
}

static void check_batch(int windows, int threads, const steno_model *draft)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_session *s[REQUESTS];
    steno_team *team;
    steno_batch *b;
    steno_error e;
    int status = 0;
    assert_int_equal(steno_team_open(&team, threads, NULL), 0);
    steno_batch_params_init(&bp);
    bp.max_windows = windows;
    bp.draft_model = draft;
    bp.on_done = told;
    bp.user = &status;
    if (steno_batch_open(&b, model, team, &bp, &e)) fail_msg("%s", e.text);
    steno_session_params_init(&sp);
    sp.batch = b;
    for (int i = 0; i < REQUESTS; i++) assert_int_equal(steno_session_open(&s[i], model, NULL, &sp, NULL), 0);
    for (int round = 0; round < 3; round++) {
        batch_round(b, s, round == 2 ? 15 : -1);
        assert_int_equal(status, 0);
        for (int i = 0; i < REQUESTS; i++) {
            steno_session *alone = qwen_session(model);
            steno_transcribe_params p = params(0);
            pass_set(&p, &pass[2 * i]);
            const double at = i * 0.5;
            run(alone, at, at + 3 + i % 3, &p);
            results_are_equal(s[i], alone, "in a batch with drafts");
            steno_session_close(alone);
        }
    }
    int64_t accepted = 0;
    for (int i = 0; i < REQUESTS; i++) accepted += timings_of(s[i]).n_accepted;
    print_message("%d windows: %lld draft tokens accepted\n", windows, (long long)accepted);
    assert_true(accepted > 0);
    assert_int_equal(timings_of(s[3]).n_drafted, 0);
    for (int i = 0; i < REQUESTS; i++) steno_session_close(s[i]);
    steno_batch_close(b);
    steno_team_close(team);
}

static void test_batches_with_drafts_have_the_same_bits(void **state)
{
    (void)state;
    steno_model *other = opened(STENO_COMPUTE_INT8);
    check_batch(1, 1, NULL);
    check_batch(2, 2, NULL);
    check_batch(REQUESTS, 1, NULL);
    check_batch(1, 2, other);
    check_batch(REQUESTS, 1, model);
    check_batch(3, 1, other);
    steno_model_close(other);
}

/* ---- canceled */

static int stops(void *user)
{
    return --*(int *)user < 0;
}

static void check_canceled(steno_session *s)
{
    steno_session *alone = qwen_session(model);
    steno_transcribe_params p = params(15), q = params(0);
    run(alone, 0, 4, &q);
    for (int asked = 0, done = 0; !done; asked += 1 + asked / 3) {
        int left = asked;
        steno_transcribe_params c = p;
        c.should_abort = stops;
        c.user = &left;
        const int rc = steno_transcribe(s, audio.pcm, 4 * RATE, &c);
        done = !rc;
        assert_true(rc == STENO_OK || rc == STENO_ECANCELED);
        run(s, 0, 4, &p);
        results_are_equal(s, alone, "after a canceled pass");
    }
    assert_true(timings_of(s).n_accepted > 0);
    steno_session_close(s);
    steno_session_close(alone);
}

static void test_a_canceled_pass_leaves_drafts_that_change_nothing(void **state)
{
    (void)state;
    check_canceled(qwen_session(model));
    check_canceled(drafted(model, model, NULL));
}

/* ---- the end of the context */

static void test_a_full_context_ends_the_same_text(void **state)
{
    (void)state;
    steno_model_params mp;
    steno_model *small;
    steno_error e;
    steno_model_params_init(&mp);
    mp.text_ctx = 640;
    if (steno_model_open(&small, qwen_dir, &mp, &e)) fail_msg("%s", e.text);
    steno_session *s = qwen_session(small), *alone = qwen_session(small);
    for (int i = 0; i < 3; i++) {
        steno_transcribe_params p = params(15), q = params(0);
        p.sample_len = q.sample_len = 640;
        run(s, 0.1 * i, 8, &p);
        run(alone, 0.1 * i, 8, &q);
        results_are_equal(s, alone, "up to the end of the context");
    }
    assert_true(timings_of(s).n_accepted > 0);
    steno_session_close(s);
    steno_session_close(alone);
    steno_model_close(small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passes_with_drafts_have_the_same_bits),
        cmocka_unit_test(test_a_draft_model_changes_no_bit),
        cmocka_unit_test(test_draft_models_that_do_not_fit_are_refused),
        cmocka_unit_test(test_batches_with_drafts_have_the_same_bits),
        cmocka_unit_test(test_a_canceled_pass_leaves_drafts_that_change_nothing),
        cmocka_unit_test(test_a_full_context_ends_the_same_text),
    };
    return cmocka_run_group_tests(tests, spoken_open, spoken_close);
}
