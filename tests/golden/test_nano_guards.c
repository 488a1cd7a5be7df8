/* steno tests: Fun-ASR-Nano where it goes round in circles. SPDX-License-Identifier: MIT
 *
 * A repetition penalty far below 1 makes earlier tokens the likeliest by far: so this model repeats itself for ever. */
#include "batch.h"
#include "funasr.h"
#include "internal.h"

enum { RATE_HZ = 16000, LONG_S = 30, USUAL_IDS = 512 };

static struct sound heard;
static steno_session *session;

static int group_begin(void **state)
{
    (void)state;
    steno_error e;
    if (model_open_f32(&model, funasr_file("%s", "models/nano/pt").s, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&session, model, NULL, NULL, NULL), 0);
    return sound_read(&heard, funasr_file("audio/%s.wav", "zh_synth").s);
}

static int group_end(void **state)
{
    (void)state;
    steno_session_close(session);
    steno_model_close(model);
    sound_free(&heard);
    return 0;
}

static steno_transcribe_params params_of(double penalty, int guards)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.itn = 1;
    p.repetition_penalty = penalty;
    p.guards = guards;
    return p;
}

struct told { int n; steno_attempt a[16]; };

static void on_attempt(void *user, const steno_attempt *a)
{
    struct told *t = user;
    assert_true(t->n < 16);
    t->a[t->n++] = *a;
}

static steno_segment hear(const steno_transcribe_params *p)
{
    steno_segment g = { .size = sizeof g };
    if (steno_transcribe(session, heard.pcm, heard.n, p)) fail_msg("%s", steno_last_error(session));
    assert_int_equal(steno_segment_count(session), 1);
    assert_int_equal(steno_segment_get(session, 0, &g), 0);
    return g;
}

static char *text_with(double penalty)
{
    const steno_transcribe_params p = params_of(penalty, STENO_GUARDS_OFF);
    return strdup(hear(&p).text);
}

/* ---- without another attempt ---------------------------------------------------------------------------------------------------- */

static void test_a_loop_ends_with_the_most_ids_and_is_marked(void **state)
{
    (void)state;
    steno_transcribe_params p = params_of(0.05, STENO_GUARDS_OFF);
    steno_segment g = hear(&p);
    char *text = strdup(g.text);
    assert_int_equal(g.n_tokens, USUAL_IDS); /* FunASR's max_length */
    assert_int_equal(g.flags, 0);
    p.guards = STENO_GUARDS_FLAG;
    struct told told = { 0 };
    p.on_attempt = on_attempt;
    p.user = &told;
    g = hear(&p);
    assert_string_equal(g.text, text);
    assert_true(g.flags & STENO_FLAG_REPETITION);
    assert_int_equal(told.n, 1);
    assert_true(told.a[0].kept && !told.a[0].completed && !told.a[0].failed && told.a[0].n_tokens == USUAL_IDS);
    p.sample_len = 40;
    assert_int_equal(hear(&p).n_tokens, 40);
    free(text);
}

static void test_a_text_that_does_not_repeat_itself_has_no_flags(void **state)
{
    (void)state;
    struct told told = { 0 };
    steno_transcribe_params p = params_of(1, STENO_GUARDS_FLAG);
    p.on_attempt = on_attempt;
    p.user = &told;
    const steno_segment g = hear(&p);
    assert_int_equal(g.flags, 0);
    assert_int_equal(g.attempt, 0);
    assert_true(told.n == 1 && told.a[0].kept && told.a[0].completed && told.a[0].n_tokens == g.n_tokens);
    assert_true(told.a[0].avg_logprob == g.avg_logprob && told.a[0].compression_ratio == g.compression_ratio);
    p.logprob_threshold = 0;
    assert_int_equal(hear(&p).flags, STENO_FLAG_LOW_CONFIDENCE);
    p.guards = STENO_GUARDS_OFF;
    p.logprob_threshold = -1;
    assert_int_equal(hear(&p).flags, 0);
}

/* ---- with others ---------------------------------------------------------------------------------------------------------------- */

static void test_a_loop_is_stopped_and_decoded_again(void **state)
{
    (void)state;
    char *want = text_with(1.1);
    struct told told = { 0 };
    steno_transcribe_params p = params_of(0.05, STENO_GUARDS_RETRY);
    p.on_attempt = on_attempt;
    p.user = &told;
    const steno_segment g = hear(&p);
    assert_string_equal(g.text, want);
    assert_int_equal(g.flags, STENO_FLAG_RETRIED);
    assert_int_equal(g.attempt, 1);
    assert_int_equal(told.n, 2);
    print_message("stopped after %d ids, then \"%s\"\n", told.a[0].n_tokens, g.text);
    assert_true(told.a[0].failed && !told.a[0].kept && told.a[0].n_tokens < 64 && (told.a[0].flags & STENO_FLAG_REPETITION));
    assert_true(!told.a[1].failed && told.a[1].kept && told.a[1].index == 1 && told.a[1].completed);
    free(want);
}

static void test_if_every_attempt_repeats_itself_the_best_is_kept(void **state)
{
    (void)state;
    struct told told = { 0 };
    steno_transcribe_params p = params_of(1, STENO_GUARDS_RETRY);
    p.compression_ratio_threshold = 0.01; /* nothing passes */
    p.on_attempt = on_attempt;
    p.user = &told;
    const steno_segment g = hear(&p);
    int best = 0, kept = -1;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(told.a[i].index, i);
        assert_true(told.a[i].failed);
        if (told.a[i].avg_logprob > told.a[best].avg_logprob) best = i;
    }
    for (int i = 0; i < told.n; i++)
        if (told.a[i].kept) kept = told.a[i].index;
    assert_int_equal(told.n, best == 2 ? 3 : 4);
    assert_int_equal(kept, best);
    assert_int_equal(g.attempt, best);
    assert_true(g.avg_logprob == told.a[best].avg_logprob);
    static double const penalty[] = { 1, 1.1, 1.3 };
    char *want = strdup(g.text), *alone = text_with(penalty[best]);
    assert_string_equal(want, alone);
    free(want);
    free(alone);
}

/* ---- side by side --------------------------------------------------------------------------------------------------------------- */

static void test_windows_that_are_decoded_again_do_not_change_others(void **state)
{
    (void)state;
    const int64_t n = LONG_S * RATE_HZ;
    float *pcm = malloc((size_t)n * sizeof *pcm);
    for (int64_t i = 0; i < n; i++) pcm[i] = heard.pcm[i % heard.n];
    static double const penalty[] = { 0.05, 1, 0.05 };
    steno_transcribe_params p[3];
    struct pcm memory[3];
    char *want[3];
    steno_batch *b = batch_with(model, 8);
    steno_session *s[3];
    for (int i = 0; i < 3; i++) {
        p[i] = params_of(penalty[i], i < 2 ? STENO_GUARDS_RETRY : STENO_GUARDS_FLAG);
        p[i].chunk_ms = 3000;
        p[i].sample_len = 60;
        if (steno_transcribe(session, pcm, n, &p[i])) fail_msg("%s", steno_last_error(session));
        want[i] = strdup(steno_text(session));
        s[i] = member_new(model, b);
        memory[i] = (struct pcm){ pcm, n, 0, 0 };
        const steno_source src = pcm_source(&memory[i]);
        assert_int_equal(steno_batch_add(b, s[i], &src, &p[i]), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(steno_text(s[i]), want[i]);
        free(want[i]);
        steno_session_close(s[i]);
    }
    steno_batch_close(b);
    free(pcm);
}

/* ---- an end within -------------------------------------------------------------------------------------------------------------- */

static void test_a_call_stops_within_any_attempt(void **state)
{
    (void)state;
    struct stopping t = { 0, 1 << 30 };
    steno_transcribe_params p = params_of(0.05, STENO_GUARDS_RETRY);
    p.should_abort = stop_at;
    p.user = &t;
    hear(&p);
    const int all = t.calls;
    for (int at = 1; at < all; at += 1 + at / 4) {
        t = (struct stopping){ 0, at };
        assert_int_equal(steno_transcribe(session, heard.pcm, heard.n, &p), STENO_ECANCELED);
    }
    t = (struct stopping){ 0, 1 << 30 };
    assert_int_equal(hear(&p).attempt, 1);
}

/* ---- what does not go together -------------------------------------------------------------------------------------------------- */

static void test_a_threshold_without_guards_is_refused(void **state)
{
    (void)state;
    steno_transcribe_params p = params_of(1, STENO_GUARDS_OFF);
    p.compression_ratio_threshold = 2;
    assert_int_equal(steno_transcribe(session, heard.pcm, heard.n, &p), STENO_EARG);
    assert_non_null(strstr(steno_last_error(session), "guards"));
    p.guards = STENO_GUARDS_FLAG;
    hear(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_loop_ends_with_the_most_ids_and_is_marked),
        cmocka_unit_test(test_a_text_that_does_not_repeat_itself_has_no_flags),
        cmocka_unit_test(test_a_loop_is_stopped_and_decoded_again),
        cmocka_unit_test(test_if_every_attempt_repeats_itself_the_best_is_kept),
        cmocka_unit_test(test_windows_that_are_decoded_again_do_not_change_others),
        cmocka_unit_test(test_a_call_stops_within_any_attempt),
        cmocka_unit_test(test_a_threshold_without_guards_is_refused),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, group_begin, group_end);
}
