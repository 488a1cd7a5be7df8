/* steno tests: parts of the audio. SPDX-License-Identifier: MIT
 *
 * A random model whose windows are 3 s long reports its windows by on_window; without timestamps every window is one segment that
 * covers it. */
#include "shipped.h"

enum { MOST = 64 };

static struct whisper_dims const three_seconds = { 80, 150, 48, 3, 2, SMALL_VOCAB, 70, 48, 3, 2 };

static steno_model *model;
static steno_session *session;
static struct audio ten; /* 9.99 s of bursts: 0.7 s loud, 0.3 s silent */

static int open_all(void **state)
{
    (void)state;
    uint32_t seed = 7;
    model = random_model(&three_seconds, DT_F16, 3, NULL);
    session = session_new(model, NULL, 3);
    ten = (struct audio){ calloc(10 * RATE, sizeof(float)), 10 * RATE - 160 };
    assert_non_null(ten.pcm);
    for (int i = 0; i < ten.n; i++)
        if (i % RATE < RATE * 7 / 10) ten.pcm[i] = 0.2f * noise(&seed);
    return 0;
}

static int close_all(void **state)
{
    (void)state;
    steno_session_close(session);
    steno_model_close(model);
    free(ten.pcm);
    return 0;
}

struct heard { int n, segments, bad; int64_t at[MOST], done, total; int most; };

static int on_window(void *user, int64_t at_ms)
{
    struct heard *h = user;
    assert_true(h->n < MOST);
    h->at[h->n++] = at_ms;
    return !h->most || h->n <= h->most;
}

static void on_segment(void *user, const steno_segment *g)
{
    struct heard *h = user;
    h->bad += g->id != h->segments++;
}

static void on_progress(void *user, int64_t done, int64_t total)
{
    struct heard *h = user;
    h->bad += done < h->done || done > total || (h->total && h->total != total);
    h->done = done;
    h->total = total;
}

static steno_transcribe_params told_to(struct heard *h)
{
    steno_transcribe_params p = params_new();
    *h = (struct heard){ 0 };
    p.no_speech_threshold = (double)NAN;
    p.guards = STENO_GUARDS_OFF; /* the sound is no speech: its text would be left out */
    p.temperature_increment_on_fallback = 0;
    p.condition_on_previous_text = 0;
    p.without_timestamps = 1;
    p.sample_len = 8;
    p.user = h;
    p.on_window = on_window;
    p.on_segment = on_segment;
    p.on_progress = on_progress;
    return p;
}

static void run(steno_session *s, const steno_transcribe_params *p)
{
    if (steno_transcribe(s, ten.pcm, ten.n, p)) fail_msg("%s", steno_last_error(s));
}

/* ---- which windows ----------------------------------------------------------------------------------------------------------- */

/* Windows in ms: begin and end; the times of its segment must agree. */
static void expect_windows(const steno_session *s, const struct heard *h, const int64_t (*want)[2], int n)
{
    int64_t all = 0;
    assert_int_equal(h->n, n);
    assert_int_equal(steno_segment_count(s), n);
    for (int i = 0; i < n; i++) {
        steno_segment g = { .size = sizeof g };
        steno_segment_get(s, i, &g);
        if (h->at[i] != want[i][0] || g.t0_ms != want[i][0] || g.t1_ms != want[i][1] || g.seek_frames * 10 != want[i][0])
            fail_msg("window %d: %lld, segment %lld to %lld, want %lld to %lld", i, (long long)h->at[i], (long long)g.t0_ms,
                     (long long)g.t1_ms, (long long)want[i][0], (long long)want[i][1]);
        all += want[i][1] - want[i][0];
    }
    assert_int_equal(h->bad, 0);
    assert_int_equal(h->done, all);
    assert_int_equal(h->total, all);
}

static void test_clips_bound_windows_and_times_are_those_of_the_file(void **state)
{
    (void)state;
    static const struct { double t[8]; int n; int64_t want[MOST][2]; int windows; } c[] = {
        { { 0 }, 0, { { 0, 3000 }, { 3000, 6000 }, { 6000, 9000 }, { 9000, 9990 } }, 4 },
        { { 0 }, 1, { { 0, 3000 }, { 3000, 6000 }, { 6000, 9000 }, { 9000, 9990 } }, 4 },
        { { 0.5, 0.8, 2, 6.5, 9 }, 5, { { 500, 800 }, { 2000, 5000 }, { 5000, 6500 }, { 9000, 9990 } }, 4 },
        { { 8.5, 40 }, 2, { { 8500, 9990 } }, 1 },                   /* past the end: to the end */
        { { 9.98, 10, 10, 20, 1e9 }, 5, { { 9980, 9990 } }, 1 },     /* beginning there: none */
        { { 1.004, 1.996 }, 2, { { 1000, 2000 } }, 1 },              /* to the nearest frame */
        { { 1.001, 1.004, 2, 3 }, 4, { { 2000, 3000 } }, 1 },        /* of no frame */
        { { 6, 7, 2, 3 }, 4, { { 6000, 7000 }, { 2000, 3000 } }, 2 }, /* in the order they are named */
        { { 0, 4, 2, 6 }, 4, { { 0, 3000 }, { 3000, 4000 }, { 2000, 5000 }, { 5000, 6000 } }, 4 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        for (int independent = 0; independent < 2; independent++) {
            struct heard h;
            steno_transcribe_params p = told_to(&h);
            p.clip_timestamps = c[i].t;
            p.n_clip_timestamps = c[i].n;
            p.independent_clips = independent;
            run(session, &p);
            expect_windows(session, &h, c[i].want, c[i].windows);
        }
}

/* whisper.cpp's n_len_org: half a window of samples is missing at the end. A tenth of a second that is left is not decoded. */
static void test_windows_end_where_whisper_cpp_has_them_end(void **state)
{
    (void)state;
    static const struct { int samples, offset_ms, duration_ms, windows; int64_t end; } c[] = {
        { 1, 0, 0, 0, 0 },         { 40, 0, 0, 0, 0 },        { 41, 0, 0, 0, 0 },          { 200, 0, 0, 0, 0 },
        { 1600, 0, 0, 0, 0 },      { 1639, 0, 0, 0, 0 },      { 1799, 0, 0, 0, 0 },        { 1800, 0, 0, 1, 110 },
        { 16000, 0, 0, 1, 990 },   { 16039, 0, 0, 1, 990 },   { 16040, 0, 0, 1, 1000 },    { 48000, 0, 0, 1, 2990 },
        { 49600, 0, 0, 1, 3000 },  { 49799, 0, 0, 1, 3000 },  { 49800, 0, 0, 2, 3110 },    { 112373, 0, 0, 3, 7020 },
        { 16000, 890, 0, 0, 0 },   { 16000, 880, 0, 1, 990 }, { 16000, 500, 100, 0, 0 },   { 16000, 500, 110, 1, 610 },
        { 16000, 0, 1000, 1, 1000 }, { 16000, 0, 5000, 1, 1000 }, { 16000, 2000, 0, 0, 0 }, { 16000, 995, 1000, 0, 0 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct heard h;
        steno_transcribe_params p = told_to(&h);
        p.decoding = STENO_DECODING_GGML;
        p.offset_ms = c[i].offset_ms;
        p.duration_ms = c[i].duration_ms;
        if (steno_transcribe(session, ten.pcm, c[i].samples, &p)) fail_msg("%s", steno_last_error(session));
        if (h.n != c[i].windows) fail_msg("%d samples from %d ms: %d windows", c[i].samples, c[i].offset_ms, h.n);
        steno_segment g = { .size = sizeof g };
        if (h.n && steno_segment_get(session, h.n - 1, &g)) fail_msg("%d samples have no segment", c[i].samples);
        if (g.t1_ms != c[i].end) fail_msg("%d samples end at %lld ms", c[i].samples, (long long)g.t1_ms);
    }
}

static void test_a_clip_is_an_offset_with_a_duration(void **state)
{
    (void)state;
    for (int timestamps = 0; timestamps < 2; timestamps++) {
        static double const clip[] = { 1.5, 7.25 };
        struct heard h;
        steno_transcribe_params p = told_to(&h);
        p.without_timestamps = !timestamps;
        p.condition_on_previous_text = 1;
        p.clip_timestamps = clip;
        p.n_clip_timestamps = 2;
        run(session, &p);
        const uint64_t want = result_digest(session);
        p.clip_timestamps = NULL;
        p.n_clip_timestamps = 0;
        p.offset_ms = 1500;
        p.duration_ms = 5750;
        run(session, &p);
        assert_true(result_digest(session) == want);
        assert_true(steno_segment_count(session) > 0);
    }
}

/* All of the audio is a clip, too. */
static void test_without_a_list_all_of_it_is_one_clip(void **state)
{
    (void)state;
    static double const all[] = { 0 };
    for (int independent = 0; independent < 2; independent++) {
        uint64_t digest[3];
        for (int i = 0; i < 3; i++) {
            struct heard h;
            steno_transcribe_params p = told_to(&h);
            p.without_timestamps = 0;
            p.independent_clips = independent;
            p.clip_timestamps = i ? all : NULL;
            p.n_clip_timestamps = i == 1;
            run(session, &p);
            digest[i] = result_digest(session);
            if (independent) assert_true(h.at[0] == 0 && h.n >= 4); /* one for each 3 s at least */
        }
        assert_true(digest[1] == digest[0] && digest[2] == digest[0]);
    }
}

/* ---- clips that know nothing of each other ------------------------------------------------------------------------------------ */

/* Segments [from, from + n) of the result, as far as a run can have them at another place. */
static uint64_t digest_some(const steno_session *s, int from, int n)
{
    uint64_t h = 14695981039346656037u;
    for (int i = from; i < from + n; i++) {
        steno_segment g = { .size = sizeof g };
        assert_int_equal(steno_segment_get(s, i, &g), 0);
        uint64_t bits;
        memcpy(&bits, &g.avg_logprob, sizeof bits);
        h = ((h ^ bits) * 1099511628211u ^ (uint64_t)g.t0_ms) * 1099511628211u ^ (uint64_t)g.t1_ms;
        for (int k = 0; k < g.n_tokens; k++) h = (h ^ (uint64_t)g.tokens[k]) * 1099511628211u;
        for (const char *t = g.text; *t; t++) h = (h ^ (uint8_t)*t) * 1099511628211u;
    }
    return h;
}

static void compare_clips(steno_session *s, const steno_transcribe_params *all, const char *where)
{
    int from = 0;
    struct heard h = { 0 };
    steno_transcribe_params p = *all;
    p.user = &h;
    run(s, &p);
    assert_int_equal(h.bad, 0);
    assert_true(h.done == h.total && h.segments == steno_segment_count(s));
    for (int k = 0; k < all->n_clip_timestamps; k += 2) {
        struct heard one_h = { 0 };
        steno_transcribe_params one = *all;
        one.user = &one_h;
        one.clip_timestamps = all->clip_timestamps + k;
        one.n_clip_timestamps = 2;
        run(session, &one);
        const int n = steno_segment_count(session);
        const uint64_t want = digest_some(session, 0, n);
        if (s == session) run(s, &p);
        if (from + n > steno_segment_count(s) || digest_some(s, from, n) != want)
            fail_msg("%s: clip %d is not what it is alone", where, k / 2);
        from += n;
    }
    assert_int_equal(from, steno_segment_count(s));
}

static void test_an_independent_clip_gives_what_it_gives_alone(void **state)
{
    (void)state;
    static double const clips[] = { 0.5, 2, 2, 9.5, 1, 3.5, 7, 8 }; /* one is cut into windows, one lies in others */
    steno_batch *b;
    steno_session *member = session_in_batch(&b, model, 3, 3);
    for (int i = 0; i < 5; i++) {
        struct heard h;
        steno_transcribe_params p = told_to(&h);
        p.clip_timestamps = clips;
        p.n_clip_timestamps = 8;
        p.independent_clips = 1;
        p.initial_prompt = i == 1 ? "ab" : NULL;
        if (i == 2) p.beam_size = 3;
        if (i == 3) p.best_of = 2, p.temperature = 0.8, p.seed = 3;
        if (i == 4) p.without_timestamps = 0;
        compare_clips(session, &p, "one after the other");
        compare_clips(member, &p, "beside each other");
    }
    steno_session_close(member);
    steno_batch_close(b);
}

/* ---- pieces ------------------------------------------------------------------------------------------------------------------ */

static void test_pieces_cover_the_audio_and_are_cut_where_it_is_quiet(void **state)
{
    (void)state;
    for (int chunk = 1000; chunk <= 3000; chunk += 250) {
        struct heard h;
        steno_transcribe_params p = told_to(&h);
        p.chunk_ms = chunk;
        run(session, &p);
        const int n = steno_segment_count(session);
        assert_true(n >= 9990 / chunk && h.n == n && !h.bad);
        assert_true(h.done == h.total && h.total == 9990);
        int64_t at = 0;
        for (int i = 0; i < n; i++) {
            steno_segment g = { .size = sizeof g };
            steno_segment_get(session, i, &g);
            assert_int_equal(g.t0_ms, at);
            assert_in_range(g.t1_ms, at + 1, at + chunk);
            at = g.t1_ms;
            const int64_t phase = at % 1000; /* a silence from 700 on; a piece may be too short to reach one */
            if (i + 1 < n && chunk >= 2250 && phase < 700 && phase > 0) fail_msg("chunk %d: cut at %lld ms", chunk, (long long)at);
            if (i + 2 < n) assert_true(at - g.t0_ms >= chunk - chunk / 3 - 10);
        }
        assert_int_equal(at, 9990);
    }
}

static void test_a_window_that_is_declined_ends_what_has_not_begun(void **state)
{
    (void)state;
    steno_batch *b;
    steno_session *s = session_in_batch(&b, model, 3, 1);
    for (int most = 1; most < 8; most++)
        for (int beside = 0; beside < 2; beside++) {
            struct heard h;
            steno_transcribe_params p = told_to(&h);
            p.chunk_ms = 1000;
            h.most = most;
            run(beside ? s : session, &p);
            assert_int_equal(h.n, most + 1); /* a callback that ends the call is not called again */
            assert_int_equal(steno_segment_count(beside ? s : session), most);
            assert_int_equal(h.segments, most);
            assert_false(h.bad);
        }
    steno_session_close(s);
    steno_batch_close(b);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------------------- */

static void refuse(const steno_transcribe_params *p, const char *what)
{
    const int rc = steno_transcribe(session, ten.pcm, ten.n, p);
    if (rc != STENO_EARG || !strstr(steno_last_error(session), what))
        fail_msg("status %d, '%s' does not say '%s'", rc, steno_last_error(session), what);
    assert_int_equal(steno_segment_count(session), 0);
}

static void test_clips_that_make_no_sense_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { double t[4]; int n; const char *what; } c[] = {
        { { 2, 2 }, 2, "from 2 s to 2 s has no length" }, { { 3, 2 }, 2, "from 3 s to 2 s has no length" },
        { { 0, 1, 5, 4.5 }, 4, "from 5 s to 4.5 s" },     { { -1, 2 }, 2, "-1 at place 0" },
        { { 0, (double)NAN }, 2, "nan at place 1" },      { { (double)INFINITY }, 1, "inf at place 0" },
        { { 0, 2e9 }, 2, "2e+09 at place 1" },            { { 0, 1 }, -1, "n_clip_timestamps is -1" },
    };
    struct heard h;
    steno_transcribe_params p;
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        p = told_to(&h);
        p.clip_timestamps = c[i].t;
        p.n_clip_timestamps = c[i].n;
        refuse(&p, c[i].what);
    }
    static const double t[] = { 1, 2 };
    for (int i = 0; i < 12; i++) {
        static const char *const what[] = {
            "clip_timestamps is NULL but n_clip_timestamps is 2", "exclude each other", "exclude each other", "exclude each other",
            "exclude each other", "condition_on_previous_text does not go", "condition_on_previous_text does not go", "chunk_ms is 999",
            "chunk_ms is 3001", "chunk_ms is -1", "audio_ctx is 151", "chunk_ms is 2010, but a window",
        };
        p = told_to(&h);
        if (i < 4) p.n_clip_timestamps = 2, p.clip_timestamps = i ? t : NULL;
        if (i == 1) p.offset_ms = 10;
        if (i == 2) p.duration_ms = 10;
        if (i == 3) p.chunk_ms = 1000;
        if (i == 4) p.chunk_ms = 1000, p.offset_ms = 10;
        if (i == 5) p.independent_clips = 1, p.condition_on_previous_text = 1;
        if (i == 6) p.chunk_ms = 1000, p.condition_on_previous_text = 1;
        if (i >= 7 && i < 10) p.chunk_ms = i == 7 ? 999 : i == 8 ? 3001 : -1;
        if (i == 10) p.audio_ctx = 151;
        if (i == 11) p.audio_ctx = 100, p.chunk_ms = 2010;
        refuse(&p, what[i]);
    }
}

/* ---- shorter windows --------------------------------------------------------------------------------------------------------- */

static void test_half_the_audio_context_is_half_the_window_and_half_the_rows(void **state)
{
    (void)state;
    static const struct { int ctx; int64_t window; } c[] = { { 0, 3000 }, { 150, 3000 }, { 75, 1500 }, { 1, 20 } };
    uint64_t full = 0;
    for (int i = 0; i < 4; i++) {
        struct heard h;
        steno_transcribe_params p = told_to(&h);
        int32_t n_ctx = 0, n_state = 0;
        p.audio_ctx = c[i].ctx;
        p.keep_audio_features = 1;
        p.duration_ms = i == 3 ? 200 : 0;
        run(session, &p);
        assert_int_equal(h.n, (i == 3 ? 200 : 9990 + c[i].window - 1) / c[i].window);
        for (int k = 0; k < h.n; k++) assert_int_equal(h.at[k], k * c[i].window);
        const float *x = steno_audio_features(session, &n_ctx, &n_state);
        assert_non_null(x);
        assert_int_equal(n_ctx, c[i].ctx ? c[i].ctx : 150);
        assert_int_equal(n_state, 48);
        for (int k = 0; k < n_ctx * n_state; k++) assert_true(isfinite(x[k]));
        if (!i) full = result_digest(session);
        if (i == 1) assert_true(result_digest(session) == full);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clips_bound_windows_and_times_are_those_of_the_file),
        cmocka_unit_test(test_windows_end_where_whisper_cpp_has_them_end),
        cmocka_unit_test(test_a_clip_is_an_offset_with_a_duration),
        cmocka_unit_test(test_without_a_list_all_of_it_is_one_clip),
        cmocka_unit_test(test_an_independent_clip_gives_what_it_gives_alone),
        cmocka_unit_test(test_pieces_cover_the_audio_and_are_cut_where_it_is_quiet),
        cmocka_unit_test(test_a_window_that_is_declined_ends_what_has_not_begun),
        cmocka_unit_test(test_clips_that_make_no_sense_are_refused_by_name),
        cmocka_unit_test(test_half_the_audio_context_is_half_the_window_and_half_the_rows),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
