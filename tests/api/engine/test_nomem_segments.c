/* steno tests: segments where a voice-activity model finds speech, when there is no memory. SPDX-License-Identifier: MIT
 *
 * Each allocation of a call fails once, the detector's that the first call opens, too. It ends with STENO_ENOMEM and a reason or with the
 * right result; nothing stays behind, and the session goes on. */
#include "batch.h"
#include "heap.h"
#include "segments_session.h"

enum { HEARD = 7 * RATE, ALLOCATIONS_MAX = 3000 };

static steno_model *ct; /* for punctuation */

static int open_with_marks(void **state)
{
    steno_error e;
    if (steno_model_open(&ct, "tests/data/punctuation_streaming", NULL, &e)) fail_msg("%s", e.text);
    return open_all(state);
}

static int close_with_marks(void **state)
{
    steno_model_close(ct);
    return close_all(state);
}

static steno_transcribe_params asked(steno_vad_params *v)
{
    steno_transcribe_params p = params_of(vad);
    steno_vad_params_init(v);
    v->max_end_silence_ms = 300;
    v->merge_ms = 2000;
    p.vad = v;
    p.word_timestamps = 1;
    return p;
}

static int call(steno_session *s, steno_batch *b, uint64_t *digest)
{
    steno_vad_params v;
    const steno_transcribe_params p = asked(&v);
    struct tap t = { .pcm = audio.pcm, .n = HEARD };
    const steno_source src = tap_source(&t);
    int rc = b ? steno_batch_add(b, s, &src, &p) : steno_transcribe_source(s, &src, &p);
    if (b && !rc) steno_batch_run(b);
    if (b && !rc && *steno_last_error(s)) rc = STENO_ENOMEM;
    *digest = digest_of(s); /* after a failure, too: what is there can be read */
    return rc;
}

/* Open, call, and close. */
static void fail_each(const steno_model *m, int windows)
{
    uint64_t want, got;
    int failed = 0;
    steno_batch *b;
    steno_session *s = session_of(m, windows, NULL, &b);
    assert_int_equal(call(s, b, &want), 0);
    assert_true(steno_segment_count(s) >= 2);
    session_gone(s, b);
    for (int64_t n = 0;; n++) {
        s = session_of(m, windows, NULL, &b);
        count_begin(n);
        const int rc = call(s, b, &got);
        const struct heap h = count_end();
        if (rc && (rc != STENO_ENOMEM || !*steno_last_error(s)))
            fail_msg("allocation %lld fails: status %d \"%s\"", (long long)n, rc, steno_last_error(s));
        if (!rc && got != want) fail_msg("allocation %lld fails: another result and no error", (long long)n);
        if (call(s, b, &got) || got != want) fail_msg("after allocation %lld failed: %s", (long long)n, steno_last_error(s));
        failed += rc != 0;
        session_gone(s, b);
        if (h.calls <= n) break;
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("%d allocations failed and the session went on\n", failed);
    assert_true(failed > 10);
}

static void test_a_session_goes_on_after_every_allocation_of_a_call_with_segments_has_failed(void **state)
{
    (void)state;
    need_counting();
    for (int k = 0; k < N_FAMILIES; k++)
        for (int windows = 0; windows < 3; windows += 2) fail_each(family[k], windows);
}

/* ---- speech, text, marks ------------------------------------------------------------------------------------------------------- */

/* A recogniser, what finds its speech and what marks its text, as the program uses them; *said names the one that failed. */
static int pipeline(steno_session *s, steno_session *marks, struct stopping *asked_for, uint64_t *digest, const char **said)
{
    steno_vad_params v;
    steno_transcribe_params p = asked(&v);
    steno_punctuate_params q;
    struct tap t = { .pcm = audio.pcm, .n = HEARD };
    const steno_source src = tap_source(&t);
    steno_punctuate_params_init(&q);
    q.block_words = 2;
    if (asked_for) p.should_abort = q.should_abort = stop_at, p.user = q.user = asked_for;
    int rc = steno_transcribe_source(s, &src, &p);
    *said = steno_last_error(s);
    if (rc) return rc;
    const uint64_t before = digest_of(s);
    rc = steno_punctuate_result(marks, s, &q);
    *said = steno_last_error(marks);
    *digest = digest_of(s);
    if (rc) assert_true(*digest == before); /* the last result stays */
    return rc;
}

struct three { steno_session *s, *marks; };

static struct three three_open(const steno_model *m)
{
    struct three t;
    steno_batch *none;
    t.s = session_of(m, 0, NULL, &none);
    assert_int_equal(steno_session_open(&t.marks, ct, NULL, NULL, NULL), 0);
    return t;
}

static void three_close(struct three t)
{
    steno_session_close(t.marks);
    steno_session_close(t.s);
}

static void test_three_models_go_on_after_every_allocation_of_theirs_has_failed(void **state)
{
    (void)state;
    need_counting();
    for (int k = 0; k < N_FAMILIES; k++) {
        uint64_t want, got;
        const char *said;
        int failed = 0;
        struct three t = three_open(family[k]);
        assert_int_equal(pipeline(t.s, t.marks, NULL, &want, &said), 0);
        three_close(t);
        for (int64_t n = 0;; n++) {
            t = three_open(family[k]);
            count_begin(n);
            const int rc = pipeline(t.s, t.marks, NULL, &got, &said);
            const struct heap h = count_end();
            if (rc && (rc != STENO_ENOMEM || !*said)) fail_msg("allocation %lld fails: status %d \"%s\"", (long long)n, rc, said);
            if (!rc && got != want) fail_msg("allocation %lld fails: another result and no error", (long long)n);
            if (pipeline(t.s, t.marks, NULL, &got, &said) || got != want) fail_msg("after allocation %lld failed: %s", (long long)n, said);
            three_close(t);
            failed += rc != 0;
            if (h.calls <= n) break;
            assert_true(n < ALLOCATIONS_MAX);
        }
        print_message("%d allocations failed and three models went on\n", failed);
        assert_true(failed > 10);
    }
}

static void test_a_callback_stops_three_models_anywhere(void **state)
{
    (void)state;
    for (int k = 0; k < N_FAMILIES; k++) {
        uint64_t want, got;
        const char *said;
        struct stopping all = { 0, 1 << 30 };
        struct three t = three_open(family[k]);
        assert_int_equal(pipeline(t.s, t.marks, &all, &want, &said), 0);
        assert_true(all.calls > 10);
        for (int at = 1; at <= all.calls; at += 1 + all.calls / 50) {
            struct stopping now = { 0, at };
            if (pipeline(t.s, t.marks, &now, &got, &said) != STENO_ECANCELED) fail_msg("asked for the %dth time: \"%s\"", at, said);
            assert_int_equal(now.calls, at); /* and the call is not repeated */
            assert_int_equal(pipeline(t.s, t.marks, NULL, &got, &said), 0);
            assert_true(got == want);
        }
        three_close(t);
    }
}

/* What the detector took goes with the session, or with the first call that does without. */
static void test_a_detector_is_gone_with_its_session(void **state)
{
    (void)state;
    need_counting();
    steno_batch *none;
    steno_transcribe_params p;
    uint64_t digest;
    steno_transcribe_params_init(&p);
    count_begin(-1);
    steno_session *s = session_of(family[0], 0, NULL, &none);
    assert_int_equal(call(s, NULL, &digest), 0);
    const int64_t with = count_end().bytes;
    heap.counting = 1;
    assert_int_equal(steno_transcribe(s, audio.pcm, RATE, &p), 0);
    assert_true(heap.bytes < with);
    session_gone(s, none);
    assert_int_equal(count_end().bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_session_goes_on_after_every_allocation_of_a_call_with_segments_has_failed),
        cmocka_unit_test(test_three_models_go_on_after_every_allocation_of_theirs_has_failed),
        cmocka_unit_test(test_a_callback_stops_three_models_anywhere),
        cmocka_unit_test(test_a_detector_is_gone_with_its_session),
    };
    return cmocka_run_group_tests(tests, open_with_marks, close_with_marks);
}
