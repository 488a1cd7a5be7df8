/* steno tests: sound lies where the clock of its file puts it. SPDX-License-Identifier: MIT
 *
 * The clock alone, then files whose sound begins late, has gaps, jumps or lies under itself. */
#include <sys/resource.h>
#include "media_help.h"
#include "mkv_help.h"

enum { RATE = 16000 };

/* ---- the clock alone --------------------------------------------------------------------------------------------------------- */

static struct media_clock clock_of(double longest, int splices)
{
    return (struct media_clock){ .is_on = 1, .longest = longest, .splices = splices };
}

/* A second piece comes `off` seconds after the first one has ended, at 1 s. */
struct second {
    const char *what;
    double off, longest;
    int splices;
    int64_t moved; /* samples */
    int64_t jumps;
};

static const struct second seconds[] = {
    { "it goes on", 0, 10, 0, 0, 0 },
    { "a millisecond is rounding", 0.001, 10, 0, 0, 0 },
    { "just below the limit", 0.0999, 10, 0, 0, 0 },
    { "just above it", 0.1001, 10, 0, 1602, 0 },
    { "just below, under the first", -0.0999, 10, 0, 0, 0 },
    { "just above, under the first", -0.1001, 10, 0, -1602, 0 },
    { "a gap up to the end of the file", 9, 10, 0, 144000, 0 },
    { "a gap a little longer than the file's length", 9.9, 10, 0, 158400, 0 },
    { "a gap beyond it", 10.1, 10, 0, 0, 1 },
    { "hours", 7200, 7300, 0, 115200000, 0 },
    { "half a day and more", 43201, 1e9, 0, 0, 1 },
    { "a length that is not known", 599, -1, 0, 9584000, 0 },
    { "far beyond such a length", 601, -1, 0, 0, 1 },
    { "far back", -1.1, 10, 0, 0, 1 },
    { "back, where clocks begin anew", -0.2, 10, 1, 0, 1 },
    { "far on, where clocks begin anew", 11, 100, 1, 0, 1 },
    { "a gap there", 9, 100, 1, 144000, 0 },
    { "a time without sense", 1e300, 10, 0, 0, 1 },
    { "another", -1e300, 10, 0, 0, 1 },
    { "no number", NAN, 10, 0, 0, 0 },
    { "no end", INFINITY, 1e300, 0, 0, 0 },
};

static void test_a_second_piece_goes_on_or_moves_or_jumps(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        const struct second *s = &seconds[i];
        struct media_clock c = clock_of(s->longest, s->splices);
        assert_int_equal(media_clock_put(&c, 0, 1, 0, RATE), 0);
        assert_int_equal(media_clock_step(&c, 1 + s->off), s->moved ? MEDIA_MOVES : MEDIA_GOES_ON);
        const int64_t n = media_clock_put(&c, 1 + s->off, 1, RATE, RATE);
        if (n != s->moved || c.moved.jumps != s->jumps)
            fail_msg("%s: moved by %lld, want %lld; %d jumps", s->what, (long long)n, (long long)s->moved, (int)c.moved.jumps);
        assert_int_equal(c.moved.silence, s->moved > 0 ? s->moved : 0);
        assert_int_equal(c.moved.dropped, s->moved < 0 ? -s->moved : 0);
        if (!isfinite(s->off)) continue;
        const int64_t made = 2 * RATE + n;
        assert_int_equal(media_clock_put(&c, 2 + s->off, 1, made, RATE), 0); /* what follows goes on, after a jump too */
    }
}

static void test_a_first_piece_is_late_early_or_neither(void **state)
{
    (void)state;
    static const struct { double t; int64_t moved; int64_t jumps; } first[] = {
        { 0, 0, 0 }, { 0.039, 0, 0 }, { 0.041, 656, 0 }, { 4.087, 65392, 0 }, { 101.1, 0, 1 }, { -0.039, 0, 0 }, { -0.041, -656, 0 },
        { -0.9, -14400, 0 }, { -3, 0, 1 },
    };
    for (size_t i = 0; i < sizeof first / sizeof *first; i++) {
        struct media_clock c = clock_of(100, 0);
        assert_int_equal(media_clock_put(&c, first[i].t, 0.02, 0, RATE), first[i].moved);
        assert_int_equal(c.moved.start, first[i].moved);
        assert_int_equal(c.moved.jumps, first[i].jumps);
    }
}

/* Times are rounded to 1 ms, as Matroska has them; pieces last 1024 samples at 44.1 kHz. */
static void test_rounding_moves_nothing_in_a_day(void **state)
{
    (void)state;
    struct media_clock c = clock_of(100000, 0);
    const double lasts = 1024.0 / 44100;
    for (int64_t i = 0; (double)i * lasts < 86400; i++) {
        const double t = floor((double)i * lasts * 1000 + 0.5) / 1000;
        if (media_clock_put(&c, t, lasts, llround((double)i * lasts * RATE), RATE)) fail_msg("moved at %f s", t);
    }
}

static void test_a_clock_that_is_off_moves_nothing(void **state)
{
    (void)state;
    struct media_clock c = { .is_on = 0, .longest = 1e9 };
    static const double times[] = { 4, 100, -5, 1e18 };
    for (int i = 0; i < 4; i++) assert_int_equal(media_clock_put(&c, times[i], 1, i * RATE, RATE), 0);
    assert_int_equal(c.moved.start + c.moved.gaps + c.moved.jumps, 0);
}

/* Damage after damage: silence stays within what the file may have. */
static void test_silence_in_all_is_bounded(void **state)
{
    (void)state;
    static const struct { double longest; int64_t most_s; } of[] = { { -1, 3600 }, { 1e12, 43200 }, { 100, 101 } };
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        struct media_clock c = clock_of(of[k].longest, 0);
        double t = 0;
        int64_t silence = 0, made = 0;
        for (int i = 0; i < 10000; i++, t += 60) {
            const int64_t n = media_clock_put(&c, t, 0.02, made, RATE);
            assert_true(n >= 0);
            made += n + 320;
            silence += n;
        }
        assert_true(silence > 0 && silence <= of[k].most_s * RATE);
    }
}

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

static struct sound read_how(const char *path, int unclocked, int track, steno_media_state *s)
{
    steno_media *m;
    steno_source src;
    steno_media_params p;
    steno_error e = { 0 };
    steno_media_params_init(&p);
    p.unclocked = unclocked;
    p.track = track;
    if (steno_media_open_params(&m, path, &p, &e)) fail_msg("%s", e.text);
    steno_media_source(m, &src);
    struct sound a = drain(&src, 4801);
    assert_int_equal(a.status, 0);
    assert_int_equal(src.rewind(src.user), 0);
    struct sound b = drain(&src, 777);
    assert_same(b, a);
    free(b.v);
    s->size = sizeof *s;
    assert_int_equal(steno_media_state_get(m, s), STENO_OK);
    steno_media_close(m);
    return a;
}

static void test_a_late_sound_has_silence_before_it(void **state)
{
    (void)state;
    need_ffmpeg();
    static const struct { const char *path; int64_t start_ms; } late[] = { { AUDIO "late.mkv", 4087 }, { AUDIO "late.mp4", 4022 } };
    for (size_t i = 0; i < sizeof late / sizeof *late; i++) {
        steno_media_state s, plain;
        struct sound with = read_how(late[i].path, 0, 0, &s), without = read_how(late[i].path, 1, 0, &plain);
        const int64_t n = with.n - without.n;
        assert_in_range(n, late[i].start_ms * 16 - 16, late[i].start_ms * 16 + 16);
        assert_in_range(s.start_ms, late[i].start_ms - 1, late[i].start_ms + 1);
        assert_int_equal(s.gaps + s.jumps + s.dropped_ms + s.truncated, 0);
        assert_int_equal(plain.start_ms, 0);
        for (int64_t k = 0; k < n; k++) assert_int_equal(with.v[k], 0);
        for (int64_t k = 0; k < without.n; k++) assert_int_equal(with.v[n + k], without.v[k]);
        free(with.v);
        free(without.v);
    }
}

/* A file of blocks, the value of a sample at each of some times, and the facts that are reported about it. */
struct film {
    const char *what;
    int tracks, track;
    double duration_ms;
    struct mkv_block block[5];
    int64_t n;
    struct { int64_t ms; int value; } at[5];
    int64_t start_ms, gaps, gaps_ms, dropped_ms, jumps;
};

#define SECOND(track, ms, value) { track, ms, RATE, value }
static const struct film films[] = {
    { "sound alone begins at the file's start", 1, 1, 6000, { SECOND(1, 5000, 7) }, RATE, { { 1, 7 } }, 0, 0, 0, 0, 0 },
    { "a track that begins later", 2, 2, 6000, { SECOND(1, 0, 5), SECOND(2, 4000, 7) }, 5 * RATE, { { 1, 0 }, { 3999, 0 }, { 4000, 7 } },
      4000, 0, 0, 0, 0 },
    { "both late: the first one is the start", 2, 2, 9000, { SECOND(1, 3000, 5), SECOND(2, 4000, 7) }, 2 * RATE,
      { { 999, 0 }, { 1000, 7 } }, 1000, 0, 0, 0, 0 },
    { "a gap", 1, 1, 5000, { SECOND(1, 0, 5), SECOND(1, 3000, 7) }, 4 * RATE, { { 999, 5 }, { 1000, 0 }, { 2999, 0 }, { 3000, 7 } },
      0, 1, 2000, 0, 0 },
    { "a gap of a millisecond is none", 1, 1, 5000, { SECOND(1, 0, 5), SECOND(1, 1001, 7) }, 2 * RATE, { { 999, 5 }, { 1000, 7 } },
      0, 0, 0, 0, 0 },
    { "two gaps, of no whole samples", 1, 1, 9000, { { 1, 0, 1001, 5 }, { 1, 500, 1001, 6 }, { 1, 1000, 1001, 7 } }, 17001,
      { { 62, 5 }, { 499, 0 }, { 500, 6 }, { 999, 0 }, { 1000, 7 } }, 0, 2, 874, 0, 0 },
    { "a block under the one before", 1, 1, 5000, { SECOND(1, 0, 5), SECOND(1, 600, 7) }, RATE * 8 / 5, { { 999, 5 }, { 1000, 7 } },
      0, 0, 0, 400, 0 },
    { "a time far beyond the end, and back", 1, 1, 5000, { SECOND(1, 0, 5), SECOND(1, 1 << 30, 6), SECOND(1, 2000, 7) }, 3 * RATE,
      { { 999, 5 }, { 1000, 6 }, { 2000, 7 } }, 0, 0, 0, 0, 2 },
    { "two files, one behind the other", 1, 1, 2000, { SECOND(1, 0, 5), SECOND(1, 1000, 6), SECOND(1, 0, 7), SECOND(1, 1000, 8) }, 4 * RATE,
      { { 999, 5 }, { 1000, 6 }, { 2000, 7 }, { 3000, 8 } }, 0, 0, 0, 0, 1 },
    { "a gap without a length", 1, 1, -1, { SECOND(1, 0, 5), SECOND(1, 30000, 7) }, 31 * RATE, { { 29999, 0 }, { 30000, 7 } },
      0, 1, 29000, 0, 0 },
};

static void look_at(const struct film *f, int unclocked)
{
    size_t n, n_blocks = 0;
    int64_t all = 0;
    char path[64];
    steno_media_state s;
    while (n_blocks < 5 && f->block[n_blocks].samples) {
        all += f->block[n_blocks].track == f->track ? f->block[n_blocks].samples : 0;
        n_blocks++;
    }
    uint8_t *p = mkv_make(&n, f->tracks, f->duration_ms, f->block, n_blocks);
    temp_file(path, p, n);
    struct sound got = read_how(path, unclocked, f->track, &s);
    unlink(path);
    free(p);
    if (got.n != (unclocked ? all : f->n)) fail_msg("%s: %lld samples, want %lld", f->what, (long long)got.n, (long long)f->n);
    for (int i = 0; i < 5 && !unclocked; i++)
        if (f->at[i].value && got.v[f->at[i].ms * 16] != f->at[i].value)
            fail_msg("%s: %d at %lld ms, want %d", f->what, got.v[f->at[i].ms * 16], (long long)f->at[i].ms, f->at[i].value);
    const int64_t said[] = { s.start_ms, s.gaps, s.gaps_ms, s.dropped_ms, s.jumps };
    const int64_t want[] = { f->start_ms, f->gaps, f->gaps_ms, f->dropped_ms, f->jumps };
    for (int i = 0; i < 5; i++)
        if (said[i] != (unclocked ? 0 : want[i]))
            fail_msg("%s: fact %d is %lld, want %lld", f->what, i, (long long)said[i], (long long)want[i]);
    free(got.v);
}

static void test_blocks_lie_at_their_times(void **state)
{
    (void)state;
    need_ffmpeg();
    for (size_t i = 0; i < sizeof films / sizeof *films; i++)
        for (int unclocked = 0; unclocked < 2; unclocked++) look_at(&films[i], unclocked);
}

/* Four hours of silence are given, and never lie in memory. */
static void test_a_gap_of_hours_takes_no_memory(void **state)
{
    (void)state;
    need_ffmpeg();
    const struct mkv_block block[] = { SECOND(1, 0, 5), SECOND(1, 4 * 3600000, 7) };
    size_t n;
    char path[64];
    float pcm[4096];
    steno_source src;
    uint8_t *p = mkv_make(&n, 1, 4 * 3600000 + 1000, block, 2);
    temp_file(path, p, n);
    steno_media *m = open_ok(path);
    steno_media_source(m, &src);
    struct rusage before, after;
    int64_t all = 0, got;
    getrusage(RUSAGE_SELF, &before);
    while ((got = src.read(src.user, pcm, 4096)) > 0) all += got;
    getrusage(RUSAGE_SELF, &after);
    assert_int_equal(got, 0);
    assert_int_equal(all, (int64_t)4 * 3600 * RATE + RATE);
    assert_true(after.ru_maxrss - before.ru_maxrss < 8 << 10); /* KiB */
    steno_media_close(m);
    unlink(path);
    free(p);
}

static void test_an_older_state_is_served(void **state)
{
    (void)state;
    steno_media *m = open_ok(AUDIO "zh_phrases.wav");
    steno_media_state s;
    memset(&s, 0x55, sizeof s);
    s.size = offsetof(steno_media_state, start_ms);
    assert_int_equal(steno_media_state_get(m, &s), STENO_OK);
    assert_int_equal(s.start_ms, 0x5555555555555555);
    assert_int_equal(s.damaged_packets, 0);
    s.size--;
    assert_int_equal(steno_media_state_get(m, &s), STENO_EARG);
    steno_media_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_second_piece_goes_on_or_moves_or_jumps),
        cmocka_unit_test(test_a_first_piece_is_late_early_or_neither),
        cmocka_unit_test(test_rounding_moves_nothing_in_a_day),
        cmocka_unit_test(test_a_clock_that_is_off_moves_nothing),
        cmocka_unit_test(test_silence_in_all_is_bounded),
        cmocka_unit_test(test_a_late_sound_has_silence_before_it),
        cmocka_unit_test(test_blocks_lie_at_their_times),
        cmocka_unit_test(test_a_gap_of_hours_takes_no_memory),
        cmocka_unit_test(test_an_older_state_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
