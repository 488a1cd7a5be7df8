/* steno tests: front ends on several threads. SPDX-License-Identifier: MIT
 *
 * Features of a sound have equal bits for any number of threads. The tests use lengths on both sides of every step and limit. Sources
 * return pieces of any size, have no data yet, or fail. Memory does not depend on the length. */
#ifndef STENO_TESTS_FRONT_THREADS_H
#define STENO_TESTS_FRONT_THREADS_H
#include "fbank_rows.h"
#include "harness.h"
#include "audio/fbank_stream.h"
#include "audio/mel_stream.h"

enum { RATE = 16000, MELS = 80, WINDOW = 3000, LONGEST = 75 * RATE, SPECIAL = 9 };
static const int threads[] = { 1, 2, 3, 7, 12 };
enum { TEAMS = sizeof threads / sizeof *threads };
static steno_team *team[TEAMS];
static float *sound;

static void assert_same(const float *a, const float *b, size_t bytes) /* also for zero bytes */
{
    assert_true(!bytes || !memcmp(a, b, bytes));
}

static int teams_open(void **state)
{
    (void)state;
    steno_error e;
    uint32_t seed = 5;
    for (int i = 0; i < TEAMS; i++) assert_int_equal(team_open(&team[i], threads[i], &e), STENO_OK);
    sound = malloc(LONGEST * sizeof *sound);
    assert_non_null(sound);
    for (int i = 0; i < LONGEST; i++) {
        seed = seed * 1664525u + 1013904223u;
        sound[i] = 0.3f * (float)(int32_t)seed / 2147483648.0f;
    }
    memset(sound + 20 * RATE, 0, 3 * RATE * sizeof *sound);
    for (int i = 0; i < SPECIAL; i++) sound[(i + 1) * 41000] = i % 3 == 0 ? NAN : i % 3 == 1 ? INFINITY : -INFINITY;
    return 0;
}

static int teams_close(void **state)
{
    (void)state;
    for (int i = 0; i < TEAMS; i++) team_close(team[i]);
    free(sound);
    return 0;
}

/* ---- features of pushed samples ---- ---- */

/* Samples of n frames, and one sample fewer and more. */
static void test_pushes_around_every_limit(void **state)
{
    (void)state;
    static const int frames[] = { 1, 2, STFT_GROUP, STFT_GROUP + 1, STFT_ALONE, STFT_ALONE + 1, 1023, 1024, 1025, 2048, 2049, 5000 };
    static float filters[MELS * MEL_BINS];
    mel_filters_slaney(filters, MELS, MEL_FFT);
    struct mel_bank bank;
    mel_bank_init(&bank, filters, MELS, &kern);
    for (size_t k = 0; k < sizeof frames / sizeof *frames; k++)
        for (int off = -1; off <= 1; off++) {
            const int64_t n = (int64_t)(frames[k] - 1) * FBANK_HOP + FBANK_WINDOW + off, most = n / MEL_HOP + MEL_END + 1;
            struct rows one = run(sound, n, n, 7, 6, 1), vad = run(sound, n, n, 5, 1, 1);
            float *want = NULL;
            int64_t count = 0;
            for (int i = 0; i < TEAMS; i++) {
                struct rows asr = run(sound, n, n, 7, 6, threads[i]), other = run(sound, n, n, 5, 1, threads[i]);
                assert_int_equal(asr.n, one.n);
                assert_int_equal(other.n, vad.n);
                assert_same(asr.v, one.v, (size_t)one.n * one.width * sizeof(float));
                assert_same(other.v, vad.v, (size_t)vad.n * vad.width * sizeof(float));
                free(asr.v);
                free(other.v);

                struct arena a;
                struct mel *m;
                arena_init(&a);
                assert_int_equal(mel_open(&m, &a, &bank, team[i], NULL), STENO_OK);
                float *got = calloc((size_t)most * MELS, sizeof *got);
                assert_non_null(got);
                int64_t made = mel_push(m, sound, n, got);
                made += mel_end(m, MEL_END, got + made * MELS);
                float loudest = -10;
                for (int64_t v = 0; v < made * MELS; v++) loudest = fmaxf(loudest, got[v]);
                assert_true(mel_loudest(m) == loudest);
                arena_free(&a);
                if (!i) want = got, count = made;
                assert_int_equal(made, count);
                assert_same(got, want, (size_t)made * MELS * sizeof *got);
                if (i) free(got);
            }
            free(want);
            free(one.v);
            free(vad.v);
        }
}

/* ---- features of a source ---- ---- */

/* A source that returns pieces of any size and sometimes no data yet. It fails after `fails` samples unless that is negative. */
struct source { int64_t n, at, fails; uint32_t seed; int whole; };

static int64_t source_read(void *user, float *pcm, int64_t n)
{
    struct source *s = user;
    s->seed = s->seed * 1664525u + 1013904223u;
    const int64_t left = (s->fails >= 0 ? s->fails : s->n) - s->at;
    if (!s->whole && (s->seed >> 16) % 7 == 0) return STENO_SOURCE_WAIT;
    if (!left && s->fails >= 0) return -1;
    int64_t take = s->whole ? n : 1 + (s->seed >> 8) % n;
    if (take > left) take = left;
    memcpy(pcm, sound + s->at, (size_t)take * sizeof *pcm);
    s->at += take;
    return take;
}

static int source_rewind(void *user)
{
    ((struct source *)user)->at = 0;
    return 0;
}

enum { RING = (WINDOW + 1008) * MEL_HOP /* samples of the frames that are kept */ };
static const int64_t lengths[] = { 0, 1, 200, 201, 399, 400, 16000, 159999, 160000, 160001, 480000, RING, RING + 159, LONGEST };
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void window_of(struct mel_stream *f, int64_t from, int n, int floor, float *out)
{
    steno_error e;
    int rc;
    while ((rc = mel_stream_window(f, from, n, floor, out, &e)) == STREAM_WAITS) {}
    if (rc) fail_msg("%s", e.text);
}

/* Windows of a stream: in order, again from the start, and from places between. */
static void test_windows_of_log_mel(void **state)
{
    (void)state;
    static float filters[MELS * MEL_BINS];
    mel_filters_slaney(filters, MELS, MEL_FFT);
    struct mel_bank bank;
    mel_bank_init(&bank, filters, MELS, &kern);
    float *want = malloc(sizeof(float) * WINDOW * MELS), *got = malloc(sizeof(float) * WINDOW * MELS);
    assert_true(want && got);
    for (int l = 0; l < LENGTHS; l++)
        for (int i = 0; i < TEAMS; i += SANITIZED ? 2 : 1) {
            struct source a = { lengths[l], 0, -1, 1, 1 }, b = { lengths[l], 0, -1, 7 + (uint32_t)i, 0 };
            const steno_source alone = { source_read, source_rewind, &a }, src = { source_read, source_rewind, &b };
            struct arena arena;
            struct mel_stream f, g;
            steno_error e;
            arena_init(&arena);
            assert_int_equal(mel_stream_init(&f, &arena, &bank, WINDOW, NULL, &e), STENO_OK);
            assert_int_equal(mel_stream_init(&g, &arena, &bank, WINDOW, team[i], &e), STENO_OK);
            const size_t taken = arena.total;
            assert_int_equal(mel_stream_listen(&f, &alone, &e), STENO_OK);
            mel_stream_listen_begin(&g, &src);
            g.adds_levels = f.adds_levels = 0;
            g.may_wait = 1;
            while (!g.ended) {
                const int rc = mel_stream_listen_on(&g, 60 * RATE, &e);
                assert_true(rc == STENO_OK || rc == STREAM_WAITS);
            }
            assert_int_equal(g.samples, lengths[l]);
            assert_int_equal(g.frames, f.frames);
            assert_true(g.max == f.max);
            const int64_t last = f.frames > WINDOW ? f.frames - WINDOW : 0;
            const int64_t from[] = { last, 0, f.frames / 3, f.frames / 2 + 7, last, 1 < f.frames ? 1 : 0 };
            for (size_t k = 0; k < sizeof from / sizeof *from; k++) {
                const int64_t left = f.frames - from[k];
                const int n = left < WINDOW ? (int)left : WINDOW, floor = k % 2 == 1;
                window_of(&f, from[k], n, floor, want);
                window_of(&g, from[k], n, floor, got);
                assert_same(want, got, sizeof(float) * WINDOW * MELS);
            }
            assert_int_equal(arena.total, taken); /* memory does not grow with the audio */
            mel_stream_close(&f);
            mel_stream_close(&g);
            arena_free(&arena);
        }
    free(want);
    free(got);
}

/* Read all rows of a stream, at most `max` at a time. @return the final status */
static int stream_rows(struct fbank_stream *r, const steno_source *src, int max, int waits, struct rows *all)
{
    steno_error e;
    float *out = malloc((size_t)max * all->width * sizeof *out);
    assert_non_null(out);
    fbank_stream_begin(r, src, 0, 0);
    r->may_wait = waits;
    all->n = 0;
    for (;;) {
        int n, rc = fbank_stream_next(r, max, out, all->width, &n, &e);
        if (rc == STREAM_WAITS) continue;
        if (rc || !n) {
            free(out);
            return rc;
        }
        assert_true(n <= max);
        memcpy(all->v + (size_t)all->n * all->width, out, (size_t)n * all->width * sizeof *out);
        all->n += n;
    }
}

static void test_rows_of_a_stream(void **state)
{
    (void)state;
    static const int most[] = { 132, 500 };
    struct arena bank_arena;
    struct fbank_bank bank;
    arena_init(&bank_arena);
    assert_int_equal(fbank_bank_init(&bank, &bank_arena, &(struct fbank_params){ MELS, 5, 1, NULL, NULL }, &kern, NULL), STENO_OK);
    struct rows got = { .v = malloc((LONGEST / FBANK_HOP + 1) * 5 * MELS * sizeof(float)), .width = (size_t)5 * MELS };
    assert_non_null(got.v);
    for (int l = 0; l < LENGTHS; l++) {
        struct rows whole = run(sound, lengths[l], lengths[l] + 1, 5, 1, 1);
        for (int i = 0; i < TEAMS; i++) {
            struct arena a;
            struct fbank_stream r;
            struct source s = { lengths[l], 0, -1, 11 + (uint32_t)i, 0 };
            const steno_source src = { source_read, NULL, &s };
            arena_init(&a);
            assert_int_equal(fbank_stream_init(&r, &a, &bank, 0, team[i], NULL), STENO_OK);
            for (int k = 0; k < 2; k++) {
                s.at = 0;
                assert_int_equal(stream_rows(&r, &src, most[k], 1, &got), STENO_OK);
                assert_int_equal(got.n, whole.n);
                assert_same(got.v, whole.v, (size_t)got.n * got.width * sizeof(float));
                s.at = 0;
                s.fails = lengths[l]; /* all rows come before the error, except those that only the end completes */
                s.whole = 1;
                assert_int_equal(stream_rows(&r, &src, most[k], 0, &got), STENO_ESOURCE);
                assert_int_equal(got.n, whole.n > 2 ? whole.n - 2 : 0);
                assert_same(got.v, whole.v, (size_t)got.n * got.width * sizeof(float));
                s.fails = -1;
                s.whole = 0;
            }
            fbank_stream_close(&r);
            arena_free(&a);
        }
        free(whole.v);
    }
    free(got.v);
    arena_free(&bank_arena);
}

/* Uses the best level only, because the division into threads does not depend on kernels. @return the number of failures */
static inline int front_threads_run(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pushes_around_every_limit),
        cmocka_unit_test(test_windows_of_log_mel),
        cmocka_unit_test(test_rows_of_a_stream),
    };
    kern_init(&kern, cpu_level_best());
    return cmocka_run_group_tests_name("threads", tests, teams_open, teams_close);
}
#endif
