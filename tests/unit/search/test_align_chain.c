/* steno tests: times of a text that is longer than a clip. SPDX-License-Identifier: MIT
 *
 * A composed recording: words whose places are known, with pauses. In place of a model, an aligner that knows them, with small errors. It
 * puts words from behind the clip at its end, and words from before it at its beginning. It is also wrong on request. */
#include "search/align_chain.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"

enum { WORDS = 4000, CLIP_MS = 300000, CLASS_MS = 80 };

static int64_t start_at[WORDS], end_at[WORDS], audio_ms;
static uint32_t seed = 1;

static int32_t draw(int32_t below)
{
    seed = seed * 1664525 + 1013904223;
    return (int32_t)((seed >> 8) % (uint32_t)below);
}

/* n words; silence_at: a word with `silence_ms` before it. */
static void compose(size_t n, size_t silence_at, int64_t silence_ms)
{
    int64_t at = 400;
    for (size_t i = 0; i < n; i++) {
        if (i && i % 12 == 0) at += 300 + draw(1500);
        if (silence_ms && i == silence_at) at += silence_ms;
        start_at[i] = at;
        at += 120 + draw(400);
        end_at[i] = at;
        at += draw(60);
    }
    audio_ms = at + 500;
}

/* How the aligner is wrong: with clips that begin in [from, to) ms, all words are `by_ms` late from word `word` on. */
struct fault { int64_t from, to, by_ms; size_t word; };

static int32_t class_of(int64_t ms, int64_t len)
{
    const int64_t off = ms + draw(161) - 80, in = off < 0 ? 0 : off < len ? off : len;
    return (int32_t)(in / CLASS_MS * CLASS_MS);
}

struct tried { int n_clips; int64_t most_held; };

/* Aligns with clips of CLIP_MS, and `room` words in each. */
static struct tried align(int32_t *ms, float *p, size_t n, size_t room, const struct fault *f)
{
    struct chain_kept kept = { 0 };
    struct align_chain c = align_chain_of(ms, p, n, &kept);
    struct chain_clip before[CHAIN_TRIES] = { { -1, 0 }, { -1, 0 }, { -1, 0 } };
    int32_t *of = calloc(2 * n, sizeof *of);
    float *sure = calloc(2 * n, sizeof *sure);
    struct tried tried = { 0, 0 };
    assert_true(of && sure);
    for (int more = 1; more; tried.n_clips++) {
        const int64_t at = c.clip.at_ms, left = audio_ms - at, len = left < CLIP_MS ? left : CLIP_MS;
        const size_t first = c.clip.first, all = n - first, some = left > CLIP_MS && all > room ? room : all;
        assert_true(len > 0 && tried.n_clips < 3 * WORDS);
        assert_true(align_chain_from(&c) <= at);
        for (int i = 0; i < CHAIN_TRIES; i++) assert_true(before[i].at_ms != at || before[i].first != first); /* none is aligned twice */
        before[tried.n_clips % CHAIN_TRIES] = c.clip;
        if (at + len - align_chain_from(&c) > tried.most_held) tried.most_held = at + len - align_chain_from(&c);
        for (size_t i = 0; i < some; i++) {
            const size_t w = first + i;
            const int64_t late = f && at >= f->from && at < f->to && w >= f->word ? f->by_ms : 0;
            of[2 * i] = class_of(start_at[w] + late - at, len);
            of[2 * i + 1] = class_of(end_at[w] + late - at, len);
            sure[2 * i] = sure[2 * i + 1] = 0.9f;
        }
        for (size_t i = 1; i < 2 * some; i++)
            if (of[i] < of[i - 1]) of[i] = of[i - 1];
        more = align_chain_take(&c, &(struct chain_times){ of, sure, some, len, left <= CLIP_MS });
        assert_true(more >= 0);
    }
    chain_kept_free(&kept);
    free(of);
    free(sure);
    return tried;
}

/* Words whose times are more than 400 ms away; times never fall. */
static size_t n_wrong(const int32_t *ms, size_t n)
{
    size_t wrong = 0;
    for (size_t i = 0; i < n; i++) {
        assert_true(ms[2 * i] <= ms[2 * i + 1] && (!i || ms[2 * i - 1] <= ms[2 * i]));
        wrong += llabs(ms[2 * i] - start_at[i]) > 400 || llabs(ms[2 * i + 1] - end_at[i]) > 400;
    }
    return wrong;
}

static int32_t ms[2 * WORDS];
static float p[2 * WORDS];

static void test_words_of_half_an_hour_are_where_they_are_spoken(void **state)
{
    (void)state;
    static const size_t rooms[] = { WORDS, 1500, 600, 100, 20, 3, 1 };
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        compose(WORDS, 0, 0);
        assert_true(audio_ms > 5 * CLIP_MS);
        const struct tried t = align(ms, p, WORDS, rooms[i], NULL);
        assert_int_equal(n_wrong(ms, WORDS), 0);
        if (rooms[i] > 600) assert_in_range(t.n_clips, audio_ms / CLIP_MS, 3 * audio_ms / CLIP_MS);
        assert_true(t.most_held <= 2 * CLIP_MS);
    }
}

static void test_a_text_of_one_clip_is_as_the_clip_gives_it(void **state)
{
    (void)state;
    compose(100, 0, 0);
    assert_true(audio_ms < CLIP_MS);
    assert_int_equal(align(ms, p, 100, WORDS, NULL).n_clips, 1);
    assert_int_equal(n_wrong(ms, 100), 0);
}

/* Silence of several clips, at the beginning, in the middle and before the last words. */
static void test_silence_longer_than_clips_is_passed(void **state)
{
    (void)state;
    static const size_t at[] = { 0, 1, 700, 1500, 1999 };
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        compose(2000, at[i], 1000000);
        (void)align(ms, p, 2000, 1500, NULL);
        assert_int_equal(n_wrong(ms, 2000), 0);
    }
}

static void test_a_text_that_ends_before_the_audio_needs_no_more_clips(void **state)
{
    (void)state;
    compose(200, 0, 0);
    audio_ms += 3600000;
    assert_int_equal(align(ms, p, 200, WORDS, NULL).n_clips, 1);
    assert_int_equal(n_wrong(ms, 200), 0);
}

/* A clip that is wrong from its beginning disagrees with the one before, and another beginning is taken. */
static void test_a_clip_that_begins_wrong_is_begun_elsewhere(void **state)
{
    (void)state;
    compose(2000, 0, 0);
    const struct fault f = { 200000, 290000, 20000, 0 }; /* clips that begin in the last third of the first one */
    (void)align(ms, p, 2000, WORDS, &f);
    assert_int_equal(n_wrong(ms, 2000), 0);
}

/* The first clip goes wrong in its second half. The next one begins before that. */
static void test_a_clip_that_ends_wrong_is_mended_by_the_next(void **state)
{
    (void)state;
    compose(2000, 0, 0);
    size_t half = 0;
    while (start_at[half] < CLIP_MS * 6 / 10) half++;
    const struct fault f = { 0, 1, 15000, half };
    (void)align(ms, p, 2000, WORDS, &f);
    assert_int_equal(n_wrong(ms, 2000), 0);
}

/* If no beginning agrees, words go on without end or loss. */
static void test_an_aligner_that_is_always_wrong_ends(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        const size_t n = 1 + (size_t)draw(WORDS);
        const struct fault f = { 1, INT64_MAX, draw(2) ? 60000 : -60000, 0 };
        compose(n, (size_t)draw((int32_t)n), draw(2) ? 400000 : 0);
        (void)align(ms, p, n, 20 + (size_t)draw(1500), &f);
        (void)n_wrong(ms, n);
        assert_true(ms[2 * n - 1] <= audio_ms);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_of_half_an_hour_are_where_they_are_spoken),
        cmocka_unit_test(test_a_text_of_one_clip_is_as_the_clip_gives_it),
        cmocka_unit_test(test_silence_longer_than_clips_is_passed),
        cmocka_unit_test(test_a_text_that_ends_before_the_audio_needs_no_more_clips),
        cmocka_unit_test(test_a_clip_that_begins_wrong_is_begun_elsewhere),
        cmocka_unit_test(test_a_clip_that_ends_wrong_is_mended_by_the_next),
        cmocka_unit_test(test_an_aligner_that_is_always_wrong_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
