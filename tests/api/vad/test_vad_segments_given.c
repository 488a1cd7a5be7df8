/* steno tests: reports about segments, and calls with them that end early. SPDX-License-Identifier: MIT */
#include "segments_session.h"

enum told { ASKED, FRAME, SPAN, WINDOW, SEGMENT, PROGRESS, READ, TOLD };

/* The reports of a call; at the n-th of one kind it is ended, or the callback makes a call that is not allowed then. */
struct watch {
    struct tap tap;
    steno_session *s;
    int64_t count[TOLD], at[TOLD], done, total, last_segment, last_span;
    int64_t end_at;
    enum told end_in;
    int refused, calls_back, wrong;
};

static void change_something(struct watch *w)
{
    const steno_source src = tap_source(&w->tap);
    w->refused += steno_transcribe(w->s, audio.pcm, RATE, NULL) == STENO_EARG;
    w->refused += steno_find_speech(w->s, &src, NULL) == STENO_EARG;
    w->wrong += steno_span_count(w->s) < 0 || steno_segment_count(w->s) != w->count[SEGMENT];
    steno_timings_reset(w->s);
    steno_session_close(w->s); /* does nothing */
}

static void told(struct watch *w, enum told what)
{
    if (++w->count[what] != w->end_at || what != w->end_in) return;
    if (w->calls_back) change_something(w);
    else if (what != ASKED) steno_cancel(w->s);
}

static int64_t watch_read(void *user, float *pcm, int64_t n)
{
    struct watch *w = user;
    told(w, READ);
    return tap_read(&w->tap, pcm, n);
}

static int should_abort(void *user)
{
    struct watch *w = user;
    told(w, ASKED);
    return !w->calls_back && w->end_in == ASKED && w->end_at && w->count[ASKED] >= w->end_at;
}

static void on_frame(void *user, int64_t t_ms, float p)
{
    struct watch *w = user;
    w->wrong += t_ms != 10 * w->count[FRAME] || !(p >= 0 && p <= 1);
    told(w, FRAME);
}

static void on_span(void *user, const steno_span *v)
{
    struct watch *w = user;
    w->wrong += v->t0_ms < w->last_span || v->t1_ms <= v->t0_ms || v->t0_ms > 10 * w->count[FRAME];
    w->last_span = v->t1_ms;
    told(w, SPAN);
}

static int on_window(void *user, int64_t at_ms)
{
    struct watch *w = user;
    w->wrong += at_ms < w->at[WINDOW] || w->count[WINDOW] >= w->count[SPAN];
    w->at[WINDOW] = at_ms;
    told(w, WINDOW);
    return 1;
}

static void on_segment(void *user, const steno_segment *g)
{
    struct watch *w = user;
    w->wrong += g->t0_ms < w->last_segment || g->t1_ms < g->t0_ms || !*g->text;
    w->last_segment = g->t1_ms;
    w->count[SEGMENT]++;
    w->wrong += steno_segment_count(w->s) != w->count[SEGMENT];
    w->count[SEGMENT]--;
    told(w, SEGMENT);
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct watch *w = user;
    w->wrong += done_ms < w->done || (total_ms && done_ms > total_ms);
    w->done = done_ms;
    w->total = total_ms;
    told(w, PROGRESS);
}

static int watched(steno_session *s, struct watch *w)
{
    steno_vad_params v;
    steno_transcribe_params p = params_of(vad);
    steno_vad_params_init(&v);
    v.user = p.user = w;
    v.on_frame = on_frame;
    v.on_span = on_span;
    p.vad = &v;
    p.on_window = on_window;
    p.on_segment = on_segment;
    p.on_progress = on_progress;
    p.should_abort = should_abort;
    w->s = s;
    w->tap = (struct tap){ .pcm = audio.pcm, .n = 45 * RATE, .piece = 3000 };
    const steno_source src = { watch_read, NULL, w };
    return steno_transcribe_source(s, &src, &p);
}

static void test_segment_callbacks_come_in_order(void **state)
{
    (void)state;
    for (int k = 0; k < N_FAMILIES; k++)
        for (int windows = 0; windows < 3; windows++) {
            steno_batch *b;
            struct watch w = { 0 };
            steno_session *s = session_of(family[k], windows, NULL, &b);
            assert_int_equal(watched(s, &w), 0);
            assert_int_equal(w.wrong, 0);
            assert_int_equal(w.count[FRAME], (45 * RATE - 400) / 160 + 1);
            assert_int_equal(w.count[SPAN], 12);
            assert_int_equal(w.count[WINDOW], 12);
            assert_int_equal(w.count[SEGMENT], 12);
            assert_int_equal(w.done, 45000);
            assert_int_equal(w.total, 45000);
            session_gone(s, b);
        }
}

/* In each callback, early and late: the detector is at work, or the encoder, or neither. */
static void test_a_callback_ends_a_call_with_segments_anywhere(void **state)
{
    (void)state;
    for (int k = 0; k < N_FAMILIES; k++) {
        steno_batch *none;
        struct watch all = { 0 };
        steno_session *s = session_of(family[k], 0, NULL, &none);
        assert_int_equal(watched(s, &all), 0);
        const uint64_t want = digest_of(s);
        for (enum told what = 0; what < TOLD; what++)
            for (int part = 0; part < 5; part++) {
                struct watch w = { .end_in = what, .end_at = 1 + (all.count[what] - 1) * part / 5 };
                const int rc = watched(s, &w);
                if (rc != STENO_ECANCELED || !strstr(steno_last_error(s), "cancel"))
                    fail_msg("ended at call %d of callback %d: status %d (%s)", (int)w.end_at, (int)what, rc, steno_last_error(s));
                assert_int_equal(w.wrong, 0);
                assert_int_equal(steno_segment_count(s), w.count[SEGMENT]);
                assert_int_equal(steno_span_count(s), w.count[SPAN]);
            }
        struct watch after = { 0 };
        assert_int_equal(watched(s, &after), 0);
        assert_true(digest_of(s) == want);
        session_gone(s, none);
    }
}

static void test_calls_from_callbacks_are_refused_and_change_nothing(void **state)
{
    (void)state;
    steno_batch *none;
    struct watch first = { 0 };
    steno_session *s = session_of(family[0], 0, NULL, &none);
    assert_int_equal(watched(s, &first), 0);
    const uint64_t want = digest_of(s);
    for (enum told what = 0; what < TOLD; what++) {
        struct watch w = { .end_in = what, .end_at = 3, .calls_back = 1 };
        assert_int_equal(watched(s, &w), 0);
        assert_int_equal(w.refused, 2);
        assert_int_equal(w.wrong, 0);
        assert_true(digest_of(s) == want);
    }
    session_gone(s, none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segment_callbacks_come_in_order),
        cmocka_unit_test(test_a_callback_ends_a_call_with_segments_anywhere),
        cmocka_unit_test(test_calls_from_callbacks_are_refused_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
