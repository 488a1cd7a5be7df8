/* steno tests: calls that end early, and calls in a batch that is shared. SPDX-License-Identifier: MIT
 *
 * A random model whose windows are 0.6 s long, so that a call can be ended at every place where it is asked. */
#include "batch.h"
#include "small_pair.h"

enum { LANES = 3, KINDS = 6 };

static const steno_model *model_of(int kind)
{
    return kind == 5 ? speaks_all : model;
}

/* The ways to decode that end in their own places. */
static steno_transcribe_params params_of(int kind)
{
    static double const clips[] = { 0, 1, 0.3, 1.5 };
    steno_transcribe_params p = params_new();
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.without_timestamps = 1;
    p.sample_len = 6;
    if (kind == 1) p.beam_size = LANES;
    if (kind == 2) p.best_of = LANES, p.temperature = 0.8;
    if (kind == 3) p.clip_timestamps = clips, p.n_clip_timestamps = 4, p.independent_clips = 1, p.condition_on_previous_text = 0;
    if (kind == 4) {
        p.grammar = "root ::= [a-z]+ \".\"";
        p.hotwords = "ab\nba";
        p.temperature_increment_on_fallback = 0.5;
        p.logprob_threshold = 0;
    }
    if (kind == 5) p.task = STENO_TRANSCRIBE_AND_TRANSLATE, p.language = NULL;
    return p;
}

struct reading { int64_t n, at; };

static int64_t read_some(void *user, float *pcm, int64_t n)
{
    struct reading *r = user;
    const int64_t take = r->n - r->at < n ? r->n - r->at : n;
    memcpy(pcm, demo.pcm + r->at, (size_t)take * sizeof *pcm);
    r->at += take;
    return take;
}

static int rewind_it(void *user)
{
    ((struct reading *)user)->at = 0;
    return 0;
}

static steno_source source_of(struct reading *r)
{
    return (steno_source){ read_some, rewind_it, r };
}

static steno_batch *batch_new(const steno_model *m, int windows, void *user, void (*on_done)(void *user, steno_session *s, int status))
{
    steno_batch *b;
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.max_windows = windows;
    bp.max_lanes = LANES;
    bp.user = user;
    bp.on_done = on_done;
    assert_int_equal(steno_batch_open(&b, m, NULL, &bp, NULL), 0);
    return b;
}

/* ---- should_abort ------------------------------------------------------------------------------------------------------------ */

/* Asked `asked` times so far; the answer is yes the time after `after`, and never again. */
struct asked { int asked, after; };

static int abort_once(void *user)
{
    struct asked *a = user;
    return a->asked++ == a->after;
}

static int transcribe(steno_session *s, steno_transcribe_params p, struct asked *a)
{
    p.user = a;
    p.should_abort = a ? abort_once : NULL;
    return steno_transcribe(s, demo.pcm, 3 * RATE / 2, &p);
}

static void test_a_callback_ends_a_call_anywhere_and_is_called_no_more(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int windows = 0; windows <= 3; windows += 3) { /* of its own; beside each other */
            const steno_model *m = model_of(kind);
            steno_batch *b = windows ? batch_new(m, windows, NULL, NULL) : NULL;
            steno_session *s = b ? member_new(m, b) : session_new(m, NULL, LANES);
            const steno_transcribe_params p = params_of(kind);
            struct asked all = { 0, -1 };
            assert_int_equal(transcribe(s, p, &all), 0);
            const uint64_t want = result_digest(s);
            const int step = all.asked / 60 + 1;
            assert_true(all.asked > 60);
            for (int after = 0; after < all.asked; after += step) {
                struct asked a = { 0, after };
                const int rc = transcribe(s, p, &a);
                if (rc != STENO_ECANCELED)
                    fail_msg("kind %d, %d windows: status %d when asked for the %dth time", kind, windows, rc, after);
                assert_non_null(strstr(steno_last_error(s), "cancel"));
            }
            assert_int_equal(transcribe(s, p, NULL), 0);
            assert_true(result_digest(s) == want);
            steno_session_close(s);
            steno_batch_close(b);
        }
}

/* ---- one call of several ends ------------------------------------------------------------------------------------------------- */

struct outcome { steno_session *victim; int status[2], done; };

static void note_outcome(void *user, steno_session *s, int status)
{
    struct outcome *o = user;
    o->status[s != o->victim] = status;
    o->done++;
}

static void test_a_request_ended_anywhere_leaves_the_next_call_unchanged(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++)
        for (int windows = 1; windows <= 3; windows++) {
            const steno_model *m = model_of(kind);
            struct outcome o = { 0 };
            steno_batch *b = batch_new(m, windows, &o, note_outcome);
            steno_session *s[2] = { member_new(m, b), member_new(m, b) };
            steno_transcribe_params p = params_of(kind);
            assert_int_equal(transcribe(s[1], p, NULL), 0);
            const uint64_t want = result_digest(s[1]);
            struct asked all = { 0, -1 };
            assert_int_equal(transcribe(s[0], p, &all), 0);
            const int step = all.asked / 25 + 1;
            for (int after = 0; after < all.asked; after += step) {
                struct asked a = { 0, after };
                struct reading r[2] = { { 3 * RATE / 2, 0 }, { 3 * RATE / 2, 0 } };
                steno_transcribe_params doomed = p;
                o = (struct outcome){ .victim = s[0] };
                doomed.user = &a;
                doomed.should_abort = abort_once;
                for (int i = 0; i < 2; i++) {
                    const steno_source src = source_of(&r[i]);
                    assert_int_equal(steno_batch_add(b, s[i], &src, i ? &p : &doomed), 0);
                }
                assert_int_equal(steno_batch_run(b), 0);
                assert_int_equal(o.done, 2);
                if (o.status[0] != STENO_ECANCELED || o.status[1] || result_digest(s[1]) != want)
                    fail_msg("kind %d, %d windows, asked for the %dth time: %d and %d, %s", kind, windows, after, o.status[0], o.status[1],
                             steno_last_error(s[1]));
            }
            for (int i = 0; i < 2; i++) steno_session_close(s[i]);
            steno_batch_close(b);
        }
}

static void test_a_call_canceled_while_it_waits_never_begins(void **state)
{
    (void)state;
    struct outcome o = { 0 };
    steno_batch *b = batch_new(model, 2, &o, note_outcome);
    steno_session *s[2] = { member_new(model, b), member_new(model, b) };
    struct reading r[2] = { { RATE, 0 }, { RATE, 0 } };
    const steno_transcribe_params p = params_of(0);
    o.victim = s[0];
    for (int i = 0; i < 2; i++) {
        const steno_source src = source_of(&r[i]);
        assert_int_equal(steno_batch_add(b, s[i], &src, &p), 0);
    }
    steno_cancel(s[0]);
    assert_int_equal(steno_batch_run(b), 0);
    assert_int_equal(o.status[0], STENO_ECANCELED);
    assert_int_equal(r[0].at, 0); /* nothing was read */
    assert_int_equal(o.status[1], 0);
    assert_true(steno_segment_count(s[1]) > 0);
    for (int i = 0; i < 2; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

/* ---- calls on a member of a batch --------------------------------------------------------------------------------------------- */

static void test_transcribing_on_a_member_gives_what_it_gives_alone_and_takes_the_line_along(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        const steno_model *m = model_of(kind);
        struct outcome o = { 0 };
        steno_batch *b = batch_new(m, 2, &o, note_outcome);
        steno_session *alone = session_new(m, NULL, LANES), *s[2] = { member_new(m, b), member_new(m, b) };
        const steno_transcribe_params p = params_of(kind), waits = params_of(0);
        assert_int_equal(transcribe(alone, p, NULL), 0);
        assert_int_equal(transcribe(s[0], p, NULL), 0);
        assert_true(result_digest(s[0]) == result_digest(alone));
        assert_int_equal(o.done, 0); /* who called has its status */
        struct reading r = { RATE, 0 };
        const steno_source src = source_of(&r);
        assert_int_equal(steno_batch_add(b, s[1], &src, &waits), 0);
        assert_int_equal(transcribe(s[0], p, NULL), 0);
        assert_true(result_digest(s[0]) == result_digest(alone));
        assert_int_equal(o.done, 1);
        assert_true(steno_segment_count(s[1]) > 0);
        steno_session_close(alone);
        for (int i = 0; i < 2; i++) steno_session_close(s[i]);
        steno_batch_close(b);
    }
}

struct closing { int closed; };

static void close_it(void *user, steno_session *s, int status)
{
    ((struct closing *)user)->closed += !status;
    steno_session_close(s);
}

static void test_sessions_may_be_closed_as_soon_as_they_are_done(void **state)
{
    (void)state;
    struct closing c = { 0 };
    steno_batch *b = batch_new(model, 2, &c, close_it);
    struct reading r[5];
    const steno_transcribe_params p = params_of(3);
    for (int i = 0; i < 5; i++) {
        r[i] = (struct reading){ RATE + i * 1000, 0 };
        const steno_source src = source_of(&r[i]);
        assert_int_equal(steno_batch_add(b, member_new(model, b), &src, &p), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    assert_int_equal(c.closed, 5);
    steno_session *s = member_new(model, b); /* what is called directly belongs to its caller */
    assert_int_equal(transcribe(s, p, NULL), 0);
    assert_true(steno_segment_count(s) > 0);
    steno_session_close(s);
    steno_batch_close(b);
}

struct inside { steno_batch *b; steno_session *self, *other; int refused; };

static void call_inside(void *user, const steno_segment *seg)
{
    struct inside *in = user;
    float x[100] = { 0 };
    struct reading r = { RATE, 0 };
    const steno_source src = source_of(&r);
    (void)seg;
    in->refused += steno_transcribe(in->self, x, 100, NULL) == STENO_EARG;
    in->refused += steno_transcribe(in->other, x, 100, NULL) == STENO_EARG;
    in->refused += steno_encode(in->other, x, 100) == STENO_EARG;
    in->refused += steno_detect_language(in->other, &src, NULL, 0) == STENO_EARG;
    in->refused += steno_batch_run(in->b) == STENO_EARG;
    in->refused += steno_batch_add(in->b, in->self, &src, NULL) == STENO_EARG;
}

static void test_calls_from_callbacks_of_a_call_are_refused(void **state)
{
    (void)state;
    steno_batch *b = batch_new(model, 2, NULL, NULL);
    struct inside in = { b, member_new(model, b), member_new(model, b), 0 };
    steno_transcribe_params p = params_of(0);
    assert_int_equal(transcribe(in.self, p, NULL), 0);
    const uint64_t want = result_digest(in.self);
    p.user = &in;
    p.on_segment = call_inside;
    assert_int_equal(steno_transcribe(in.self, demo.pcm, 3 * RATE / 2, &p), 0);
    assert_true(result_digest(in.self) == want);
    assert_int_equal(in.refused, 6 * steno_segment_count(in.self));
    steno_session_close(in.self);
    steno_session_close(in.other);
    steno_batch_close(b);
}

/* ---- token by token ----------------------------------------------------------------------------------------------------------- */

/* The members share one place to keep a window in. */
static void test_a_window_that_another_member_has_overwritten_is_not_decoded(void **state)
{
    (void)state;
    steno_batch *b = batch_new(model, 1, NULL, NULL);
    steno_session *s[2] = { member_new(model, b), member_new(model, b) };
    const int32_t start = steno_token_id(model, STENO_TOKEN_START);
    for (int how = 0; how < 4; how++) {
        assert_int_equal(steno_encode(s[0], demo.pcm, RATE), 0);
        assert_true(steno_generate(s[0], &start, 1, NULL) > 0);
        if (how == 0) assert_int_equal(steno_encode(s[1], demo.pcm + RATE, RATE), 0);
        if (how == 1) assert_int_equal(transcribe(s[1], params_of(0), NULL), 0);
        if (how == 2) assert_int_equal(transcribe(s[0], params_of(0), NULL), 0);
        if (how == 3) assert_true(steno_bench_phase(s[1], "decode", 2) >= 0);
        for (int again = 0; again < 2; again++) {
            const int rc = again ? steno_generate_continue(s[0], &start, 1, NULL) : steno_generate(s[0], &start, 1, NULL);
            if (rc != STENO_EARG || !strstr(steno_last_error(s[0]), "no window was encoded")) fail_msg("case %d: %d", how, rc);
        }
        if (!how) assert_true(steno_generate(s[1], &start, 1, NULL) > 0);
    }
    for (int i = 0; i < 2; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_callback_ends_a_call_anywhere_and_is_called_no_more),
        cmocka_unit_test(test_a_request_ended_anywhere_leaves_the_next_call_unchanged),
        cmocka_unit_test(test_a_call_canceled_while_it_waits_never_begins),
        cmocka_unit_test(test_transcribing_on_a_member_gives_what_it_gives_alone_and_takes_the_line_along),
        cmocka_unit_test(test_sessions_may_be_closed_as_soon_as_they_are_done),
        cmocka_unit_test(test_calls_from_callbacks_of_a_call_are_refused),
        cmocka_unit_test(test_a_window_that_another_member_has_overwritten_is_not_decoded),
    };
    return cmocka_run_group_tests(tests, pair_open, pair_close);
}
