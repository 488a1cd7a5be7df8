/* steno tests: callbacks of CTC and voice-activity models, and calls that end early. SPDX-License-Identifier: MIT
 *
 * Any callback may end a call: the reports before it are right, and the next call does not depend on it. */
#include "funasr_session.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- callbacks ---- */

struct order { char seen[32]; int n; int64_t done, total; int asked, after, wrong; int64_t frames, last_span; };

static int order_add(struct order *o, char c)
{
    if (o->n < (int)sizeof o->seen - 1) o->seen[o->n++] = c;
    return 1;
}

static int on_window(void *user, int64_t at_ms)
{
    struct order *o = user;
    o->wrong += at_ms != o->done;
    return order_add(o, 'w');
}

static void on_segment(void *user, const steno_segment *seg)
{
    ((struct order *)user)->wrong += seg->size != sizeof *seg || !*seg->text;
    order_add(user, 's');
}

static void on_progress(void *user, int64_t done_ms, int64_t total_ms)
{
    struct order *o = user;
    o->wrong += done_ms < o->done;
    o->wrong += total_ms ? done_ms > total_ms : done_ms >= 31000; /* 0: not known yet */
    o->done = done_ms;
    o->total = total_ms;
    order_add(o, 'p');
}

static int abort_after(void *user)
{
    struct order *o = user;
    return ++o->asked > o->after;
}

static int end_second(void *user, int64_t at_ms)
{
    (void)user;
    return at_ms == 0;
}

static void test_callbacks_of_a_transcription_come_in_order(void **state)
{
    (void)state;
    steno_session *s = session_new(ctc, NULL, 1);
    struct order o = { .after = 1 << 30 };
    steno_transcribe_params p = ctc_params();
    p.user = &o;
    p.on_window = on_window;
    p.on_segment = on_segment;
    p.on_progress = on_progress;
    p.should_abort = abort_after;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_string_equal(o.seen, "wspwsp");
    assert_int_equal(o.wrong, 0);
    assert_int_equal(o.done, 31000);
    assert_int_equal(o.total, 31000);
    assert_true(o.asked > 20);
    p.on_window = end_second;
    ctc_run(s, audio.pcm, audio.n, &p);
    assert_int_equal(steno_segment_count(s), 1);
    steno_session_close(s);
}

struct so_far { const steno_session *s; char text[4][512]; int n; };

static void keep_text(void *user, const steno_segment *seg)
{
    struct so_far *t = user;
    assert_true(t->n < 4 && seg->size == sizeof *seg);
    snprintf(t->text[t->n++], sizeof t->text[0], "%s", steno_text(t->s));
}

static void test_the_text_so_far_grows_with_each_clip_unless_tags_become_signs(void **state)
{
    (void)state;
    for (int tags = STENO_TAGS_APART; tags <= STENO_TAGS_RICH; tags++) {
        struct so_far t = { .s = session_new(ctc, NULL, 1) };
        steno_session *s = (steno_session *)(uintptr_t)t.s;
        steno_transcribe_params p = ctc_params();
        p.user = &t;
        p.on_segment = keep_text;
        p.tags = tags;
        ctc_run(s, audio.pcm, audio.n, &p);
        assert_int_equal(t.n, 2);
        const char *text = steno_text(s);
        assert_int_equal(strncmp(t.text[1], t.text[0], strlen(t.text[0])), 0);
        assert_string_equal(t.text[1], tags == STENO_TAGS_RICH ? "" : text);
        assert_int_equal(!t.text[0][0], tags == STENO_TAGS_RICH);
        assert_true(text[0]);
        steno_session_close(s);
    }
}

static void on_frame(void *user, int64_t t_ms, float p_speech)
{
    struct order *o = user;
    o->wrong += t_ms != o->frames * 10 || !(p_speech >= 0 && p_speech <= 1);
    o->frames++;
}

static void on_span(void *user, const steno_span *span)
{
    struct order *o = user;
    o->wrong += span->size != sizeof *span || span->t0_ms < o->last_span || span->t1_ms <= span->t0_ms;
    o->wrong += span->t0_ms > o->frames * 10; /* speech that has not been read yet */
    o->last_span = span->t1_ms;
    o->n++;
}

static steno_vad_params watched(struct order *o)
{
    steno_vad_params p;
    steno_vad_params_init(&p);
    p.user = o;
    p.on_frame = on_frame;
    p.on_span = on_span;
    p.should_abort = abort_after;
    return p;
}

static void test_frames_and_spans_are_reported_once_and_in_order(void **state)
{
    (void)state;
    steno_session *s = session_new(vad, NULL, 1);
    struct order o = { .after = 1 << 30 };
    const steno_vad_params p = watched(&o);
    struct tap t = { audio.pcm, audio.n, 0, 0, 0, 0 };
    const steno_source src = tap_source(&t);
    assert_int_equal(steno_find_speech(s, &src, &p), 0);
    assert_int_equal(o.wrong, 0);
    assert_int_equal(o.n, steno_span_count(s));
    assert_int_equal(o.frames, (audio.n - 400) / 160 + 1);
    assert_true(o.asked > 20);
    steno_session_close(s);
}

static void test_samples_that_are_no_numbers_spoil_nothing_but_their_place(void **state)
{
    (void)state;
    const float strange[] = { NAN, INFINITY, -INFINITY, 3e38f, -1e30f };
    steno_session *s = session_new(vad, NULL, 1), *c = session_new(ctc, NULL, 1);
    const uint64_t want = vad_run(s, audio.pcm, audio.n, 0);
    float *pcm = malloc((size_t)audio.n * sizeof *pcm);
    assert_non_null(pcm);
    for (size_t k = 0; k < sizeof strange / sizeof *strange; k++) {
        memcpy(pcm, audio.pcm, (size_t)audio.n * sizeof *pcm);
        for (int64_t i = 0; i < audio.n; i += 16000) pcm[i] = strange[k];
        struct order o = { .after = 1 << 30 };
        const steno_vad_params p = watched(&o);
        struct tap t = { pcm, audio.n, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        assert_int_equal(steno_find_speech(s, &src, &p), 0);
        if (o.wrong) fail_msg("a sample of %g every second: %d frames or spans are out of range", (double)strange[k], o.wrong);
        for (int i = 0; i < steno_span_count(s); i++) {
            steno_span v = { .size = sizeof v };
            steno_span_get(s, i, &v);
            assert_true(v.t0_ms >= 0 && v.t0_ms < v.t1_ms && v.t1_ms <= 31000);
        }
        ctc_run(c, pcm, audio.n, NULL);
        for (int64_t i = 0; i < audio.n; i++) pcm[i] = strange[k];
        vad_run(s, pcm, audio.n, 0);
        ctc_run(c, pcm, audio.n, NULL);
    }
    assert_true(vad_run(s, audio.pcm, audio.n, 0) == want); /* nothing of it stays in the state */
    free(pcm);
    steno_session_close(s);
    steno_session_close(c);
}

/* ---- calls that end early ---- */

static void test_a_callback_ends_a_call_wherever_it_is_asked(void **state)
{
    (void)state;
    steno_session *c = session_new(ctc, NULL, 1), *v = session_new(vad, NULL, 1);
    const uint64_t text = ctc_run(c, audio.pcm, audio.n, NULL), spans = vad_run(v, audio.pcm, audio.n, 0);
    struct order o = { .after = 1 << 30 };
    steno_transcribe_params p = ctc_params();
    p.user = &o;
    p.should_abort = abort_after;
    ctc_run(c, audio.pcm, audio.n, &p);
    const int all = o.asked;
    for (int i = 0; i < 20; i++) {
        o = (struct order){ .after = i < 5 ? i : all * (i - 4) / 17 };
        assert_int_equal(steno_transcribe(c, audio.pcm, audio.n, &p), STENO_ECANCELED);
        assert_int_equal(o.asked, o.after + 1);
        assert_non_null(strstr(steno_last_error(c), "cancel"));
        assert_true(steno_segment_count(c) <= 1);
    }
    assert_true(ctc_run(c, audio.pcm, audio.n, NULL) == text);
    o = (struct order){ .after = 1 << 30 };
    const steno_vad_params q = watched(&o);
    for (int i = 0, every = 0; i < 20; i++) {
        struct tap t = { audio.pcm, audio.n, 0, 0, 0, 0 };
        const steno_source src = tap_source(&t);
        const int rc = steno_find_speech(v, &src, &q);
        if (!i) every = o.asked;
        assert_int_equal(rc, i ? STENO_ECANCELED : 0);
        if (i) assert_int_equal(o.asked, o.after + 1);
        assert_int_equal(steno_span_count(v), o.n);
        o = (struct order){ .after = every * i / 20 };
    }
    assert_true(vad_run(v, audio.pcm, audio.n, 0) == spans);
    steno_session_close(c);
    steno_session_close(v);
}

/* Audio without end: only a request to stop ends the call. */
struct endless { steno_session *s; _Atomic int reads; };

static int64_t endless_read(void *user, float *pcm, int64_t n)
{
    struct endless *e = user;
    memset(pcm, 0, (size_t)n * sizeof *pcm);
    atomic_fetch_add(&e->reads, 1);
    return n;
}

static void *cancel_later(void *arg)
{
    struct endless *e = arg;
    while (atomic_load(&e->reads) < 5) usleep(100);
    steno_cancel(e->s);
    return NULL;
}

static void test_another_thread_ends_a_call_that_would_listen_for_ever(void **state)
{
    (void)state;
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 2, NULL), 0);
    for (int k = 0; k < 2; k++) {
        steno_session *s = session_new(k ? vad : ctc, team, 1);
        struct endless e = { .s = s };
        const steno_source src = { endless_read, NULL, &e };
        pthread_t id;
        assert_int_equal(pthread_create(&id, NULL, cancel_later, &e), 0);
        assert_int_equal(k ? steno_find_speech(s, &src, NULL) : steno_transcribe_source(s, &src, NULL), STENO_ECANCELED);
        pthread_join(id, NULL);
        assert_non_null(strstr(steno_last_error(s), "cancel"));
        if (k) vad_run(s, audio.pcm, audio.n, 0);
        else ctc_run(s, audio.pcm, audio.n, NULL);
        steno_session_close(s);
    }
    steno_team_close(team);
}

static int64_t too_much(void *user, float *pcm, int64_t n)
{
    (void)user;
    memset(pcm, 0, (size_t)n * sizeof *pcm);
    return n + 1;
}

static void test_a_source_that_fails_is_reported_and_earlier_results_stay(void **state)
{
    (void)state;
    static const int64_t at[] = { 1, 16000, 16001, 490000 };
    steno_session *c = session_new(ctc, NULL, 1), *v = session_new(vad, NULL, 1);
    const steno_source liar = { too_much, NULL, NULL };
    for (int i = 0; i < 4; i++) {
        struct tap t = { audio.pcm, audio.n, 0, 1000, at[i], 0 };
        const steno_source src = tap_source(&t);
        assert_int_equal(steno_transcribe_source(c, &src, NULL), STENO_ESOURCE);
        assert_non_null(strstr(steno_last_error(c), "source"));
        assert_int_equal(steno_segment_count(c), i == 3);
        t.at = 0;
        assert_int_equal(steno_find_speech(v, &src, NULL), STENO_ESOURCE);
        assert_true(i < 3 || steno_span_count(v) > 2);
    }
    assert_int_equal(steno_transcribe_source(c, &liar, NULL), STENO_ESOURCE);
    assert_int_equal(steno_find_speech(v, &liar, NULL), STENO_ESOURCE);
    ctc_run(c, audio.pcm, audio.n, NULL);
    vad_run(v, audio.pcm, audio.n, 0);
    assert_string_equal(steno_last_error(c), "");
    steno_session_close(c);
    steno_session_close(v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_callbacks_of_a_transcription_come_in_order),
        cmocka_unit_test(test_the_text_so_far_grows_with_each_clip_unless_tags_become_signs),
        cmocka_unit_test(test_frames_and_spans_are_reported_once_and_in_order),
        cmocka_unit_test(test_samples_that_are_no_numbers_spoil_nothing_but_their_place),
        cmocka_unit_test(test_a_callback_ends_a_call_wherever_it_is_asked),
        cmocka_unit_test(test_another_thread_ends_a_call_that_would_listen_for_ever),
        cmocka_unit_test(test_a_source_that_fails_is_reported_and_earlier_results_stay),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
