/* steno tests: segments where a voice-activity model finds speech. SPDX-License-Identifier: MIT
 *
 * Segments of all sessions share runs of the encoder. Their texts do not depend on that, on how the audio arrives, on threads or on
 * levels. */
#include <time.h>
#include "base/cpu.h"
#include "segments_session.h"

static uint64_t run(steno_session *s, struct tap t, const steno_transcribe_params *p)
{
    const steno_source src = tap_source(&t);
    if (steno_transcribe_source(s, &src, p)) fail_msg("%s", steno_last_error(s));
    return digest_of(s);
}

static struct tap all_of(void)
{
    return (struct tap){ .pcm = audio.pcm, .n = audio.n };
}

/* One segment in a run, in pieces as they come: what everything else is compared with. */
static uint64_t alone(const steno_model *m, struct tap t, const steno_transcribe_params *p)
{
    steno_batch *b;
    steno_session *s = session_of(m, 1, NULL, &b);
    const uint64_t want = run(s, t, p);
    session_gone(s, b);
    return want;
}

/* ---- runs that segments share ------------------------------------------------------------------------------------------------------ */

static void test_segments_of_a_session_share_runs_of_the_encoder(void **state)
{
    (void)state;
    for (int k = 0; k < N_FAMILIES; k++) {
        steno_transcribe_params p = params_of(vad);
        p.word_timestamps = 1;
        const uint64_t want = alone(family[k], all_of(), &p);
        steno_batch *none;
        steno_session *s = session_of(family[k], 0, NULL, &none);
        assert_true(run(s, all_of(), &p) == want);
        steno_timings t = { .size = sizeof t };
        steno_timings_get(s, &t);
        assert_int_equal(steno_segment_count(s), SECONDS / 4);
        assert_int_equal(t.n_windows, SECONDS / 4);
        assert_true(t.vad_us > 0 && t.n_vad == SECONDS + 1); /* a second at a time, and the end */
        steno_request_timings r = { .size = sizeof r };
        assert_int_equal(steno_request_timings_get(s, &r), 0);
        assert_int_equal(r.vad_us, t.vad_us);
        assert_in_range(t.n_encodes, 2, 8); /* a machine that stands still makes a source look slow: then they are more */
        session_gone(s, none);
    }
}

static void test_segments_are_the_same_however_they_are_carried_out(void **state)
{
    (void)state;
    static const struct { int windows, threads; int64_t n, piece; } how[] = {
        { 0, 1, SECONDS, 1601 }, { 0, 2, SECONDS, 50000 }, { 0, 1, SECONDS, 77 }, { 5, 1, SECONDS, 16000 }, { 16, 2, SECONDS, 333 },
        { 128, 1, SECONDS, 0 }, { 0, 3, 13, 0 }, { 2, 8, 13, 4000 }, /* more threads than cores are slow */
    };
    for (int k = 0; k < N_FAMILIES; k++)
        for (size_t i = 0; i < sizeof how / sizeof *how; i++) {
            steno_transcribe_params p = params_of(vad);
            steno_team *team;
            steno_batch *b;
            p.word_timestamps = k;
            const struct tap whole = { .pcm = audio.pcm, .n = how[i].n * RATE };
            struct tap t = whole;
            const uint64_t want = alone(family[k], whole, &p);
            t.piece = SANITIZED ? 16000 : how[i].piece;
            assert_int_equal(steno_team_open(&team, how[i].threads, NULL), 0);
            steno_session *s = session_of(family[k], how[i].windows, team, &b);
            for (int again = 0; again < 2; again++)
                if (run(s, t, &p) != want)
                    fail_msg("%d windows, %d threads, pieces of %d differ", how[i].windows, how[i].threads, (int)how[i].piece);
            session_gone(s, b);
            steno_team_close(team);
        }
}

static int64_t most_ahead;

/* Samples that were read before the search gave its first frame. */
struct ahead {
    struct tap tap;
    int64_t read, before; /* before: -1 until a frame comes */
};

static int64_t ahead_read(void *user, float *pcm, int64_t n)
{
    struct ahead *a = user;
    const int64_t got = tap_read(&a->tap, pcm, n);
    a->read += got > 0 ? got : 0;
    return got;
}

static void ahead_frame(void *user, int64_t ms, float p_speech)
{
    struct ahead *a = user;
    (void)ms, (void)p_speech;
    if (a->before < 0) a->before = a->read;
}

static void test_features_of_several_seconds_are_computed_at_once(void **state)
{
    (void)state;
    static const struct { int threads; int64_t piece, want; } how[] = { { 1, 0, RATE }, { 1, 370, RATE }, { 2, 0, 5 * RATE },
                                                                    { 2, 370, 5 * RATE } };
    enum { HOWS = sizeof how / sizeof *how, TRIES = 10 }; /* a read that takes long ends the piece, as on a loaded machine */
    for (size_t k = 0; k < HOWS || (k < TRIES * HOWS && most_ahead < 5 * RATE); k++) {
        const size_t i = k % HOWS;
        struct ahead a = { .tap = all_of(), .before = -1 };
        steno_transcribe_params p = params_of(vad);
        steno_vad_params own;
        steno_team *team;
        steno_batch *none;
        steno_vad_params_init(&own);
        own.on_frame = ahead_frame;
        own.user = &a;
        p.vad = &own;
        a.tap.piece = how[i].piece;
        assert_int_equal(steno_team_open(&team, how[i].threads, NULL), 0);
        steno_session *s = session_of(family[0], 0, team, &none);
        const steno_source src = { ahead_read, NULL, &a };
        assert_int_equal(steno_transcribe_source(s, &src, &p), STENO_OK);
        assert_int_equal(a.read, SECONDS * RATE);
        if (a.before > how[i].want || a.before < RATE || (a.before != how[i].want && !SANITIZED && how[i].threads == 1))
            fail_msg("%d threads: %lld samples were read ahead", how[i].threads, (long long)a.before);
        if (how[i].threads > 1) most_ahead = a.before > most_ahead ? a.before : most_ahead;
        session_gone(s, none);
        steno_team_close(team);
    }
    assert_int_equal(most_ahead, 5 * RATE);
}

static void test_segments_are_the_same_in_a_run_or_alone_at_every_level(void **state)
{
    (void)state;
    for (int level = 0; level < CPU_LEVELS; level++) {
        if (!cpu_level_usable(level)) continue;
        steno_model *finder = funasr_open(vad_folder, cpu_level_name(level));
        for (int k = 0; k < N_FAMILIES; k++) {
            steno_model *m = funasr_open(k ? cif_folder : ctc_folder, cpu_level_name(level));
            const steno_transcribe_params p = params_of(finder);
            steno_batch *none;
            steno_session *s = session_of(m, 0, NULL, &none);
            const uint64_t want = alone(m, all_of(), &p);
            if (run(s, all_of(), &p) != want) fail_msg("level %s: segments that share runs differ", cpu_level_name(level));
            session_gone(s, none);
            steno_model_close(m);
        }
        steno_model_close(finder);
    }
}

/* Requests of several lengths beside each other; each receives its own reports. */
static void test_segments_of_several_requests_give_what_each_gives_alone(void **state)
{
    (void)state;
    enum { N = 6 };
    for (int k = 0; k < N_FAMILIES; k++)
        for (int windows = 1; windows <= 16; windows *= 4) {
            steno_session *s[N];
            struct tap tap[N];
            uint64_t want[N];
            const steno_transcribe_params p = params_of(vad);
            steno_batch *b, *none;
            s[0] = session_of(family[k], windows, NULL, &b);
            steno_session_params sp;
            steno_session_params_init(&sp);
            sp.batch = b;
            for (int i = 0; i < N; i++) {
                if (i) assert_int_equal(steno_session_open(&s[i], family[k], NULL, &sp, NULL), 0);
                tap[i] = (struct tap){ .pcm = audio.pcm + i * RATE, .n = i * i * 2 * RATE, .piece = i % 2 ? 0 : 1234 };
                steno_session *by_itself = session_of(family[k], 0, NULL, &none);
                want[i] = run(by_itself, tap[i], &p);
                session_gone(by_itself, none);
            }
            for (int i = 0; i < N; i++) {
                const steno_source src = tap_source(&tap[i]);
                assert_int_equal(steno_batch_add(b, s[i], &src, &p), 0);
            }
            assert_int_equal(steno_batch_run(b), 0);
            for (int i = 0; i < N; i++) {
                steno_request_timings t = { .size = sizeof t };
                if (digest_of(s[i]) != want[i]) fail_msg("request %d of a batch of %d differs", i, windows);
                assert_int_equal(steno_request_timings_get(s[i], &t), 0);
                assert_int_equal(t.n_windows, steno_segment_count(s[i]));
                assert_true(t.encode_us >= 0 && t.decode_us >= 0 && t.vad_us >= (i > 1) && t.vad_us <= t.total_us);
            }
            for (int i = N - 1; i >= 0; i--) steno_session_close(s[i]);
            steno_batch_close(b);
        }
}

/* ---- a source that gives audio as it is spoken ------------------------------------------------------------------------------------- */

struct live { struct tap tap; int64_t told[8]; int n; };

static int64_t live_read(void *user, float *pcm, int64_t n)
{
    struct live *l = user;
    const struct timespec pause = { 0, 4000000 }; /* for 25 ms */
    (void)n;
    nanosleep(&pause, NULL);
    return tap_read(&l->tap, pcm, 400);
}

static void on_live_segment(void *user, const steno_segment *seg)
{
    struct live *l = user;
    (void)seg;
    if (l->n < 8) l->told[l->n++] = l->tap.at;
}

static void test_a_segment_does_not_wait_for_audio_that_is_not_spoken_yet(void **state)
{
    (void)state;
    struct live l[2];
    for (int k = 0; k < 2; k++) {
        steno_batch *b;
        steno_session *s = session_of(family[0], k ? 0 : 1, NULL, &b); /* first one segment in a run */
        steno_transcribe_params p = params_of(vad);
        l[k] = (struct live){ .tap = { .pcm = audio.pcm, .n = 11 * RATE } };
        const steno_source src = { live_read, NULL, &l[k] };
        p.user = &l[k];
        p.on_segment = on_live_segment;
        assert_int_equal(steno_transcribe_source(s, &src, &p), 0);
        session_gone(s, b);
    }
    assert_int_equal(l[0].n, 3);
    assert_int_equal(l[1].n, 3);
    for (int i = 0; i < 3; i++) assert_in_range(l[1].told[i] - l[0].told[i], 0, 400); /* reported at once, or a piece later */
}

/* ---- audio of any kind ------------------------------------------------------------------------------------------------------------- */

/* Seconds of speech and of pause in turn. */
static float *turns(double speech, double pause, int64_t n)
{
    float *pcm = malloc((size_t)(n ? n : 1) * sizeof *pcm);
    uint32_t seed = 3;
    assert_non_null(pcm);
    for (int64_t i = 0; i < n; i++) pcm[i] = fmod((double)i / RATE, speech + pause) < speech ? 0.3f * noise(&seed) : 0;
    return pcm;
}

/* However the audio is made, segments lie in it, in order, and are the same in any company. @return how many */
static int check_any(const char *what, const float *pcm, int64_t n, const steno_vad_params *v)
{
    int count = 0;
    for (int k = 0; k < N_FAMILIES; k++) {
        steno_transcribe_params p = params_of(vad);
        const struct tap t = { .pcm = pcm, .n = n, .piece = 5000 };
        uint64_t digest[2];
        p.vad = v;
        p.guards = STENO_GUARDS_OFF; /* the "speech" is steady noise */
        for (int by_itself = 0; by_itself < 2; by_itself++) {
            steno_batch *b;
            steno_session *s = session_of(family[k], !by_itself, NULL, &b);
            digest[by_itself] = run(s, t, &p);
            int64_t at = 0;
            count = steno_segment_count(s);
            for (int i = 0; i < count; i++) {
                steno_segment g = { .size = sizeof g };
                assert_int_equal(steno_segment_get(s, i, &g), 0);
                if (g.t0_ms < at || g.t1_ms < g.t0_ms || g.t1_ms > n / 16 + 1) fail_msg("%s: segment %d is in no place", what, i);
                at = g.t1_ms;
            }
            assert_int_equal(steno_duration_ms(s), n / 16);
            session_gone(s, b);
        }
        if (digest[0] != digest[1]) fail_msg("%s: segments that share runs differ", what);
    }
    return count;
}

static void test_audio_of_any_kind_has_segments_in_their_places(void **state)
{
    (void)state;
    static const struct { const char *what; double speech, pause; int64_t n; int least, most; } scene[] = {
        { "nothing", 1, 1, 0, 0, 0 }, { "one sample", 1, 1, 1, 0, 0 }, { "less than a frame", 1, 1, 399, 0, 0 },
        { "a frame", 1, 1, 400, 0, 1 }, { "silence", 0, 1, 40 * RATE, 0, 0 }, { "speech without end", 1, 0, 130 * RATE, 3, 8 },
        { "65 s at a time", 65, 5, 140 * RATE, 4, 12 }, { "clicks", 0.005, 2, 30 * RATE, 0, 15 },
        { "a word a second", 0.4, 0.6, 60 * RATE, 1, 60 },
    };
    for (size_t i = 0; i < sizeof scene / sizeof *scene; i++) {
        float *pcm = turns(scene[i].speech, scene[i].pause, scene[i].n);
        const int n = check_any(scene[i].what, pcm, scene[i].n, NULL);
        free(pcm);
        if (n < scene[i].least || n > scene[i].most)
            fail_msg("%s: %d segments, want %d to %d", scene[i].what, n, scene[i].least, scene[i].most);
    }
}

static void test_a_thousand_short_segments_are_all_transcribed(void **state)
{
    (void)state;
    enum { N = SANITIZED ? 100 : 1000 };
    steno_vad_params v;
    steno_vad_params_init(&v);
    v.max_end_silence_ms = 200;
    float *pcm = turns(0.4, 0.5, (int64_t)(N * 0.9 * RATE));
    const int n = check_any("short segments", pcm, (int64_t)(N * 0.9 * RATE), &v);
    free(pcm);
    assert_in_range(n, N - 1, N);
}

static void test_samples_that_are_no_numbers_spoil_no_segment_elsewhere(void **state)
{
    (void)state;
    float *pcm = turns(2, 4, 30 * RATE);
    for (int i = 0; i < 100; i++) pcm[13 * RATE + i * 7] = i % 3 ? NAN : i % 2 ? INFINITY : -3e38f;
    check_any("no numbers", pcm, 30 * RATE, NULL);
    for (int64_t i = 0; i < 30 * RATE; i++) pcm[i] = NAN;
    check_any("nothing but no numbers", pcm, 30 * RATE, NULL);
    free(pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_segments_of_a_session_share_runs_of_the_encoder),
        cmocka_unit_test(test_segments_are_the_same_however_they_are_carried_out),
        cmocka_unit_test(test_features_of_several_seconds_are_computed_at_once),
        cmocka_unit_test(test_segments_are_the_same_in_a_run_or_alone_at_every_level),
        cmocka_unit_test(test_segments_of_several_requests_give_what_each_gives_alone),
        cmocka_unit_test(test_a_segment_does_not_wait_for_audio_that_is_not_spoken_yet),
        cmocka_unit_test(test_audio_of_any_kind_has_segments_in_their_places),
        cmocka_unit_test(test_a_thousand_short_segments_are_all_transcribed),
        cmocka_unit_test(test_samples_that_are_no_numbers_spoil_no_segment_elsewhere),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
