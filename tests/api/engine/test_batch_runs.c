/* steno tests: runs that requests of FunASR's models share. SPDX-License-Identifier: MIT
 *
 * How many there are, who goes first, who waits, and what a batch refuses. */
#include "funasr_families.h"
#include "internal.h"

/* ---- one run for several ------------------------------------------------------------------------------------------------------- */

static void *batch_new(const steno_model *m, int windows, steno_session **s, int n)
{
    steno_batch *b;
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = windows;
    assert_int_equal(steno_batch_open(&b, m, NULL, &bp, NULL), 0);
    sp.batch = b;
    for (int i = 0; i < n; i++) assert_int_equal(steno_session_open(&s[i], m, NULL, &sp, NULL), 0);
    return b;
}

static void batch_free(steno_batch *b, steno_session **s, int n)
{
    for (int i = 0; i < n; i++) steno_session_close(s[i]);
    steno_batch_close(b);
}

/* Operations of the encoder that a session's timings count. */
static int64_t encoder_calls(const steno_session *s)
{
    int64_t ns, calls = 0;
    const char *label;
    assert_int_equal(steno_profile_get(s, 0, &label, &ns, &calls), 0);
    return calls;
}

static void test_short_clips_share_runs_of_the_encoder(void **state)
{
    (void)state;
    enum { N = 8 };
    /* Rows of a run are at most 504, keys of a clip take blocks of 32, the head goes over all rows at once. Clips have 21, 54, 488 rows. */
    static const struct { int windows, seconds, runs; } scene[] = { { 1, 1, N * 2 }, { 4, 1, 2 * 2 }, { 8, 1, 2 }, { 8, 29, N * 2 },
                                                                    { 128, 3, 2 }, { 5, 3, 2 + 2 } };
    for (size_t k = 0; k < sizeof scene / sizeof *scene; k++) {
        steno_session *s[N];
        struct tap tap[N];
        steno_batch *b = batch_new(ctc, scene[k].windows, s, N);
        int64_t encodes = 0;
        for (int i = 0; i < N; i++) {
            tap[i] = (struct tap){ .pcm = audio.pcm + i * RATE, .n = (int64_t)scene[k].seconds * RATE };
            const steno_source src = tap_source(&tap[i]);
            steno_profile_enable(s[i], 1);
            assert_int_equal(steno_batch_add(b, s[i], &src, NULL), 0);
        }
        assert_int_equal(steno_batch_run(b), 0);
        steno_request_timings t = { .size = sizeof t };
        for (int i = 0; i < N; i++) {
            assert_int_equal(steno_request_timings_get(s[i], &t), 0);
            assert_true(t.n_windows == 1 && t.queued_us >= 0 && t.first_window_us >= t.queued_us && t.total_us >= t.first_window_us);
            assert_true(t.encode_us >= 0 && t.decode_us >= 0);
            encodes += encoder_calls(s[i]);
        }
        assert_int_equal(encodes, N);
        assert_int_equal(inside_runs(s[0]), scene[k].runs);
        batch_free(b, s, N);
    }
}

static void test_short_clips_share_all_phases_where_tokens_are_integrated(void **state)
{
    (void)state;
    enum { N = 8 };
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.guards = STENO_GUARDS_OFF; /* some clips are silent */
    /* Frames of a run are at most 1000, of a clip 17 here; a clip has a few tokens, logits exist for 64 at a time. */
    for (int together = 0; together < 2; together++) {
        steno_session *s[N];
        struct tap tap[N];
        steno_batch *b = batch_new(cif, together ? N : 1, s, N);
        for (int i = 0; i < N; i++) {
            tap[i] = (struct tap){ .pcm = audio.pcm + i * RATE, .n = RATE };
            const steno_source src = tap_source(&tap[i]);
            assert_int_equal(steno_batch_add(b, s[i], &src, &p), 0);
        }
        assert_int_equal(steno_batch_run(b), 0);
        for (int i = 0; i < N; i++) assert_true(strlen(steno_text(s[i])) > 1);
        assert_in_range(inside_runs(s[0]), together ? 3 : 3 * N, together ? 4 : 3 * N);
        batch_free(b, s, N);
    }
}

static void test_chunks_of_streams_share_all_phases(void **state)
{
    (void)state;
    enum { N = 8, CHUNKS = 5 };
    int64_t alone = 0;
    for (int windows = 1; windows <= N; windows *= 8) {
        steno_session *s[N];
        struct tap tap[N];
        steno_batch *b = batch_new(live, windows, s, N);
        for (int i = 0; i < N; i++) {
            tap[i] = (struct tap){ .pcm = audio.pcm, .n = CHUNKS * 9600 };
            const steno_source src = tap_source(&tap[i]);
            assert_int_equal(steno_batch_add(b, s[i], &src, NULL), 0);
        }
        assert_int_equal(steno_batch_run(b), 0);
        assert_true(strlen(steno_text(s[0])) > 1);
        for (int i = 1; i < N; i++) assert_string_equal(steno_text(s[i]), steno_text(s[0]));
        if (windows == 1) alone = inside_runs(s[0]);
        else assert_int_equal(inside_runs(s[0]) * N, alone);
        batch_free(b, s, N);
    }
}

/* ---- who goes first, who waits ----------------------------------------------------------------------------------------------------- */

struct turn { int n, id[64]; };
struct member { struct turn *t; int id; struct tap tap; int64_t stops_at; int status; };

static int64_t member_read(void *user, float *pcm, int64_t n)
{
    struct member *m = user;
    if (m->stops_at && m->tap.at >= m->stops_at) return STENO_SOURCE_WAIT;
    return tap_read(&m->tap, pcm, m->stops_at && m->stops_at - m->tap.at < n ? m->stops_at - m->tap.at : n);
}

static int member_window(void *user, int64_t at_ms)
{
    const struct member *m = user;
    (void)at_ms;
    assert_true(m->t->n < 64);
    m->t->id[m->t->n++] = m->id;
    return 1;
}

static void test_the_request_with_the_fewest_windows_goes_first(void **state)
{
    (void)state;
    steno_session *s[3];
    struct turn t = { 0 };
    struct member m[3];
    steno_transcribe_params p[3];
    steno_batch *b = batch_new(ctc, 1, s, 3);
    for (int i = 0; i < 3; i++) {
        m[i] = (struct member){ .t = &t, .id = i, .tap = { .pcm = audio.pcm, .n = i ? RATE : 65 * RATE } };
        const steno_source src = { member_read, NULL, &m[i] };
        steno_request_params r;
        steno_request_params_init(&r);
        steno_transcribe_params_init(&p[i]);
        p[i].user = &m[i];
        p[i].on_window = member_window;
        r.transcribe = &p[i];
        r.priority = i == 2 ? STENO_PRIORITY_LIVE : STENO_PRIORITY_AUTO;
        assert_int_equal(steno_batch_submit(b, s[i], &src, &r), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    assert_true(t.n >= 5 && t.id[0] == 2 && t.id[1] == 0 && t.id[2] == 1);
    batch_free(b, s, 3);
}

static void test_a_source_that_waits_stops_no_other_request_and_gives_its_text(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        steno_session *s[2];
        struct turn t = { 0 };
        struct member m[2];
        steno_batch *b = batch_new(k ? vad : ctc, 2, s, 2);
        for (int i = 0; i < 2; i++) {
            m[i] = (struct member){ .t = &t, .id = i, .tap = { .pcm = audio.pcm, .n = 50 * RATE }, .stops_at = i ? 0 : 40 * RATE };
            const steno_source src = { member_read, NULL, &m[i] };
            assert_int_equal(steno_batch_add(b, s[i], &src, NULL), 0);
        }
        assert_int_equal(steno_batch_run_as(b, STENO_RUN_POLL), 1);
        int n[2];
        for (int i = 0; i < 2; i++) n[i] = k ? steno_span_count(s[i]) : steno_segment_count(s[i]);
        assert_true(n[0] > 0 && n[0] < n[1]);
        m[0].stops_at = 0;
        assert_int_equal(steno_batch_run_as(b, STENO_RUN_POLL), 0);
        assert_true(result_digest(s[0]) == result_digest(s[1]) && spans_digest(s[0]) == spans_digest(s[1]));
        m[0] = (struct member){ .t = &t, .tap = { .pcm = audio.pcm, .n = RATE }, .stops_at = 100 };
        const steno_source src = { member_read, NULL, &m[0] };
        if (k) assert_int_equal(steno_find_speech(s[0], &src, NULL), STENO_ESOURCE); /* a call of its own does not wait */
        else assert_int_equal(steno_transcribe_source(s[0], &src, NULL), STENO_ESOURCE);
        batch_free(b, s, 2);
    }
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------------- */

static void assert_refused(steno_batch *b, steno_session *s, const steno_request_params *r, const char *what)
{
    struct tap t = { .pcm = audio.pcm, .n = RATE };
    const steno_source src = tap_source(&t);
    assert_int_equal(steno_batch_submit(b, s, &src, r), STENO_EARG);
    if (!strstr(steno_last_error(s), what)) fail_msg("'%s' does not say '%s'", steno_last_error(s), what);
    assert_int_equal(t.reads, 0);
    assert_int_equal(steno_batch_run(b), 0);
}

static void test_requests_that_a_model_cannot_serve_are_refused_by_name(void **state)
{
    (void)state;
    steno_transcribe_params p;
    steno_vad_params v;
    steno_transcribe_params_init(&p);
    steno_vad_params_init(&v);
    const steno_heard heard = { .size = sizeof heard, .samples = 100 };
    for (int k = 0; k < 2; k++) {
        steno_session *s;
        steno_request_params r;
        steno_batch *b = batch_new(k ? vad : ctc, 1, &s, 1);
        steno_request_params_init(&r);
        r.heard = &heard;
        assert_refused(b, s, &r, "heard");
        steno_request_params_init(&r);
        if (k) r.transcribe = &p;
        else r.find_speech = &v;
        assert_refused(b, s, &r, k ? "does not transcribe" : "does not find speech");
        steno_request_params_init(&r);
        p.best_of = 2;
        v.threshold = 3;
        if (k) r.find_speech = &v;
        else r.transcribe = &p;
        assert_refused(b, s, &r, k ? "threshold" : "best_of");
        p.best_of = 0;
        batch_free(b, s ? &s : NULL, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short_clips_share_runs_of_the_encoder),
        cmocka_unit_test(test_short_clips_share_all_phases_where_tokens_are_integrated),
        cmocka_unit_test(test_chunks_of_streams_share_all_phases),
        cmocka_unit_test(test_the_request_with_the_fewest_windows_goes_first),
        cmocka_unit_test(test_a_source_that_waits_stops_no_other_request_and_gives_its_text),
        cmocka_unit_test(test_requests_that_a_model_cannot_serve_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
