/* steno tests: speech joined to one sound keeps its samples and gets its times back. SPDX-License-Identifier: MIT
 *
 * Spans of jfk.wav by whisper.cpp's rules; the expected numbers were computed apart, by whisper.cpp's rules. */
#include "harness.h"
#include "join.h"
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 176000, JOINED = 135200, OVERLAP = 1600, SILENCE = 1600 };

static const int64_t ms[][2] = { { 322, 2270 }, { 3266, 4414 }, { 5378, 7678 }, { 8162, 10622 } };
enum { N = sizeof ms / sizeof *ms };

struct sound_at { int64_t at, piece; };

static int64_t read_count(void *user, float *pcm, int64_t n)
{
    struct sound_at *s = user;
    int64_t got = 0;
    for (; got < n && got < s->piece && s->at < SAMPLES; got++) pcm[got] = (float)++s->at;
    return got;
}

static int rewind_count(void *user)
{
    ((struct sound_at *)user)->at = 0;
    return STENO_OK;
}

static void begin(struct join *j, struct sound_at *from)
{
    steno_span spans[N];
    for (int i = 0; i < N; i++) spans[i] = (steno_span){ .size = sizeof spans[i], .t0_ms = ms[i][0], .t1_ms = ms[i][1] };
    const struct join_spans s = { spans, N, SAMPLES, JOIN_OVERLAP_MS };
    const steno_source src = { read_count, rewind_count, from };
    assert_int_equal(join_begin(j, &s, &src), STENO_OK);
}

/* What sample i of the joined sound is: the number of one in the source, or 0. */
static float wanted(int64_t i)
{
    static const int64_t cs[N][2] = { { 32, 227 }, { 327, 441 }, { 538, 768 }, { 816, 1062 } };
    for (int k = 0; k < N; k++) {
        const int64_t n = (cs[k][1] - cs[k][0]) * 160 + (k + 1 < N ? OVERLAP : 0);
        if (i < n) return (float)(cs[k][0] * 160 + i + 1);
        i -= n;
        if (i < SILENCE) return 0;
        i -= SILENCE;
    }
    return -1;
}

static void test_the_joined_sound_is_the_spans_with_silence_between_them_whatever_the_pieces(void **state)
{
    (void)state;
    static float pcm[JOINED + 100];
    static const int64_t pieces[][2] = { { 1 << 20, 1 << 20 }, { 1000, 333 }, { 77, 16000 }, { 5000, 1 } };
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        struct sound_at from = { 0, pieces[p][0] };
        struct join j;
        begin(&j, &from);
        for (int again = 0; again < 2; again++) {
            const steno_source s = join_source(&j);
            int64_t n = 0, got;
            while ((got = s.read(s.user, pcm + n, pieces[p][1] < JOINED + 50 - n ? pieces[p][1] : JOINED + 50 - n)) > 0) n += got;
            assert_int_equal(got, 0);
            assert_int_equal(n, JOINED);
            for (int64_t i = 0; i < n; i++)
                if (pcm[i] != wanted(i)) fail_msg("sample %lld is %g, want %g", (long long)i, (double)pcm[i], (double)wanted(i));
            assert_int_equal(s.rewind(s.user), STENO_OK);
        }
        join_free(&j);
    }
}

static void test_times_of_segments_and_words_are_the_sounds_own(void **state)
{
    (void)state;
    static const int64_t of_segments[][2] = { { 0, 32 },    { 100, 132 }, { 195, 227 }, { 200, 227 }, { 205, 227 },   { 210, 277 },
                                              { 215, 327 }, { 300, 412 }, { 340, 450 }, { 345, 499 }, { 500, 689 },   { 600, 817 },
                                              { 650, 867 }, { 800, 1017 }, { 850, 1062 }, { 9999, 1062 } };
    static const int64_t of_words[][2] = { { 0, 32 }, { 100, 132 }, { 195, 227 }, { 205, 227 }, { 206, 327 },
                                           { 215, 327 }, { 9999, 1062 } };
    struct sound_at from = { 0, 4000 };
    struct join j;
    begin(&j, &from);
    for (size_t i = 0; i < sizeof of_segments / sizeof *of_segments; i++)
        assert_int_equal(join_time(&j, of_segments[i][0]), of_segments[i][1]);
    for (size_t i = 0; i < sizeof of_words / sizeof *of_words; i++) assert_int_equal(join_word_time(&j, of_words[i][0]), of_words[i][1]);
    steno_segment s = { .size = sizeof s, .t0_ms = 1960, .t1_ms = 2000 }; /* within a pause: a tenth of a second at least */
    join_segment(&j, &s);
    assert_int_equal(s.t0_ms, 2270);
    assert_int_equal(s.t1_ms, 2370);
    join_free(&j);
}

/* The last span ends with the sound: what is short there does not end behind it. */
static void test_nothing_ends_behind_the_sound(void **state)
{
    static const int64_t ends[] = { 10620, 10625, 10650, 10719, 10720, 11000 };
    (void)state;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct sound_at from = { 0, 4000 };
        struct join j;
        begin(&j, &from);
        steno_segment s = { .size = sizeof s, .t0_ms = 99000, .t1_ms = 99010, .n_words = 2 };
        steno_word words[] = { { .start = 98.5, .end = 99 }, { .start = 990, .end = 990.1 } };
        struct transcript_store store = { .segs = &s, .words = words };
        struct transcript t = { .segs = &s, .n = 1, .words = words };
        j.end_ms = ends[i];
        join_transcript(&j, &t, &store);
        if (s.t0_ms != 10620 || s.t1_ms != (ends[i] < 10720 ? ends[i] : 10720)) fail_msg("%d to %d", (int)s.t0_ms, (int)s.t1_ms);
        assert_true(s.end == (double)s.t1_ms / 1000);
        for (int k = 0; k < 2; k++) assert_true(words[k].t1_ms <= ends[i] && words[k].t0_ms <= words[k].t1_ms);
        join_free(&j);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_joined_sound_is_the_spans_with_silence_between_them_whatever_the_pieces),
        cmocka_unit_test(test_times_of_segments_and_words_are_the_sounds_own),
        cmocka_unit_test(test_nothing_ends_behind_the_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
