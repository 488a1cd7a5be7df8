/* steno tests: callers who change their mind. SPDX-License-Identifier: MIT
 *
 * Meant to run under the thread sanitizer too. */
#include "three_models.h"

/* ---- changing one's mind ---- */

static void test_every_kind_of_call_can_be_ended_from_another_thread(void **state)
{
    (void)state;
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    for (int k = 0; k < N_KINDS; k++) {
        steno_session *s = session_new(model_for((enum kind)k), team, 1);
        const int64_t rc = call(s, (enum kind)k);
        const uint64_t want = result_digest(s) ^ spans_digest(s);
        if (rc < 0) fail_msg("kind %d: status %lld", k, (long long)rc);
        int ended = 0;
        for (int i = 0; i < (SANITIZED ? 2 : 5); i++) {
            struct pest p = { .s = s };
            assert_int_equal(pthread_create(&p.id, NULL, cancel_over_and_over, &p), 0);
            const int64_t got = call(s, (enum kind)k);
            atomic_store(&p.done, 1);
            pthread_join(p.id, NULL);
            if (got < 0 && got != STENO_ECANCELED) fail_msg("kind %d: status %lld", k, (long long)got);
            if (got < 0) assert_non_null(strstr(steno_last_error(s), "cancel"));
            ended += got < 0;
        }
        assert_true(ended > 0);
        assert_true(call(s, (enum kind)k) >= 0);
        assert_true((result_digest(s) ^ spans_digest(s)) == want);
        steno_session_close(s);
    }
    steno_team_close(team);
}

struct stop { steno_session *s; _Atomic int go; int asked, after; };

static void *cancel_soon(void *arg)
{
    struct stop *t = arg;
    while (!atomic_load(&t->go)) usleep(100);
    steno_cancel(t->s);
    return NULL;
}

static void assert_usable(steno_session *s)
{
    const steno_transcribe_params p = params_new();
    assert_int_equal(steno_transcribe(s, audio.pcm, audio.n, &p), 0);
    assert_string_equal(steno_text(s), demo_text);
}

/* Audio without end: only a request to stop ends the call. */
static int64_t endless(void *user, float *pcm, int64_t n)
{
    struct stop *t = user;
    memset(pcm, 0, (size_t)n * sizeof *pcm);
    t->asked++;
    if (t->asked == 20) atomic_store(&t->go, 1);
    return n;
}

static void test_another_thread_ends_a_call_that_listens(void **state)
{
    (void)state;
    steno_session *s = session_new(model, NULL, 1);
    struct stop t = { .s = s };
    const steno_source src = { endless, NULL, &t };
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, cancel_soon, &t), 0);
    assert_int_equal(steno_transcribe_source(s, &src, NULL), STENO_ECANCELED);
    pthread_join(id, NULL);
    assert_usable(s);
    steno_session_close(s);
}

/* The canceller is let go when the second window begins, and windows follow each other until it has come through. */
static int go_in_second_window(void *user, int64_t at_ms)
{
    if (at_ms > 0) atomic_store(&((struct stop *)user)->go, 1);
    return 1;
}

static void test_another_thread_ends_a_call_that_decodes(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 200);
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 2, NULL), 0);
    steno_session *s = session_new(model, team, 1);
    struct stop t = { .s = s };
    steno_transcribe_params p = params_new();
    p.user = &t;
    p.on_window = go_in_second_window;
    pthread_t id;
    assert_int_equal(pthread_create(&id, NULL, cancel_soon, &t), 0);
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), STENO_ECANCELED);
    pthread_join(id, NULL);
    assert_true(steno_segment_count(s) > 0);
    assert_usable(s);
    steno_session_close(s);
    steno_team_close(team);
    free(a.pcm);
}

static int abort_after(void *user)
{
    struct stop *t = user;
    return ++t->asked > t->after;
}

static void test_a_callback_ends_a_call_wherever_it_is_asked(void **state)
{
    (void)state;
    steno_session *s = session_new(model, NULL, 1);
    struct stop t = { .after = 1 << 30 };
    steno_transcribe_params p = params_new();
    p.user = &t;
    p.should_abort = abort_after;
    assert_int_equal(steno_transcribe(s, audio.pcm, audio.n, &p), 0);
    const int all = t.asked;
    assert_true(all > 100);
    for (int i = 0; i < 12; i++) {
        t = (struct stop){ .after = i < 6 ? i * 3 : (int)((int64_t)all * (i - 5) / 7) };
        assert_int_equal(steno_transcribe(s, audio.pcm, audio.n, &p), STENO_ECANCELED);
        assert_int_equal(t.asked, t.after + 1); /* never called again after it ended the call */
        assert_non_null(strstr(steno_last_error(s), "cancel"));
    }
    assert_usable(s);
    steno_session_close(s);
}

static void cancel_in_segment(void *user, const steno_segment *seg)
{
    (void)seg;
    steno_cancel(((struct stop *)user)->s);
}

static void test_segments_finished_before_the_end_can_be_read(void **state)
{
    (void)state;
    const struct audio a = demo_audio(0, 0, 10);
    steno_session *s = session_new(model, NULL, 1);
    struct stop t = { .s = s };
    steno_transcribe_params p = params_new();
    p.user = &t;
    p.on_segment = cancel_in_segment;
    assert_int_equal(steno_transcribe(s, a.pcm, a.n, &p), STENO_ECANCELED);
    const int n = steno_segment_count(s);
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        assert_int_equal(g.seek_frames, 0); /* of the first window only */
    }
    assert_true(strlen(steno_text(s)) > 0);
    assert_usable(s);
    steno_session_close(s);
    free(a.pcm);
}

static void test_a_request_made_between_calls_does_not_end_the_next_one(void **state)
{
    (void)state;
    steno_session *s = session_new(model, NULL, 1);
    steno_cancel(s);
    assert_usable(s);
    steno_session_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_of_call_can_be_ended_from_another_thread),
        cmocka_unit_test(test_another_thread_ends_a_call_that_listens),
        cmocka_unit_test(test_another_thread_ends_a_call_that_decodes),
        cmocka_unit_test(test_a_callback_ends_a_call_wherever_it_is_asked),
        cmocka_unit_test(test_segments_finished_before_the_end_can_be_read),
        cmocka_unit_test(test_a_request_made_between_calls_does_not_end_the_next_one),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
