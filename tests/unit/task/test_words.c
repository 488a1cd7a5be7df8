/* steno tests: words against their segments, and what follows for the next window. SPDX-License-Identifier: MIT
 *
 * Cases worked by hand from the reference's rules: openai-whisper, whisper/timing.py (add_word_timestamps), whisper/transcribe.py (seek,
 * hallucination_silence_threshold). Real windows are in golden.words. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "task/words/words.h"

/* ---- rounding ---- */

static double printed(double x)
{
    char text[400];
    snprintf(text, sizeof text, "%.2f", x);
    return strtod(text, NULL);
}

static void test_cents_round_as_decimals_do(void **state)
{
    (void)state;
    static const double x[] = { 0.125, 0.375, 2.675, 1.005, 0.285, -0.125, 0, 1e15, 123456789.125,
                                1e22, 0.005, 0.015, 33.335, 4503599627370495.5 };
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) assert_true(round_cents(x[i]) == printed(x[i]));
    assert_true(isnan(round_cents(NAN)));
    assert_true(round_cents(INFINITY) == INFINITY);
    uint32_t seed = 5;
    for (int i = 0; i < 200000; i++) {
        seed = seed * 1664525u + 1013904223u;
        const double y = i % 2 ? (seed >> 8) / 200.0 : (seed >> 8) / 1000.0 + (i % 3 - 1) * 0x1p-40; /* halves of cents, and beside them */
        if (round_cents(y) != printed(y)) fail_msg("%.20g: %.20g, want %.20g", y, round_cents(y), printed(y));
    }
}

/* ---- one window, made by hand ---- */

enum { EOT = 20,
       FRAMES = 200 };

static const char *const vocabulary[] = { " a", " b", " c", ".", " d", "\"", "", " e", " f", " g" };

struct window {
    struct arena a;
    struct vocab v;
    struct words w;
    int32_t ids[32];
    float prob[32], matrix[32 * FRAMES];
    struct words_window at;
    struct words_options q;
    struct word_attention h;
    double last_speech;
    int64_t seek;
};

static void window_open(struct window *x, const int32_t *ids, int32_t n)
{
    memset(x, 0, sizeof *x);
    arena_init(&x->a);
    assert_int_equal(vocab_init(&x->v, &x->a, EOT + 1, EOT, NULL), STENO_OK);
    for (int32_t i = 0; i < (int32_t)(sizeof vocabulary / sizeof *vocabulary); i++)
        vocab_set(&x->v, i, (const uint8_t *)vocabulary[i], (uint32_t)strlen(vocabulary[i]));
    memcpy(x->ids, ids, (size_t)n * sizeof *ids);
    x->ids[n] = EOT;
    for (int32_t i = 0; i < n; i++) x->prob[i] = 0.9f;
    x->at = (struct words_window){ .seek = 1000, .frames = 2 * FRAMES, .full = 3000, .content_frames = 100000, .ids = x->ids, .n = n };
    x->q = (struct words_options){ "en", NULL, NULL, NAN };
    x->h = (struct word_attention){ x->ids, n, x->prob, x->matrix, FRAMES, FRAMES };
    x->seek = 1400;
    x->last_speech = 9.9;
}

/* Row i of the matrix is bright from jump[i] to jump[i + 1]. */
static void window_heard(struct window *x, const int32_t *jump)
{
    for (int32_t i = 0; i <= x->h.n; i++)
        for (int32_t f = 0; f < FRAMES; f++) x->matrix[i * FRAMES + f] = f >= jump[i] && (i == x->h.n || f < jump[i + 1]) ? 1 : -1;
}

static void window_run(struct window *x, struct draft *d, int *n)
{
    struct window_drafts all = { d, *n, x->last_speech, x->seek };
    assert_int_equal(words_place(&x->w, &x->v, EOT, &x->q, &x->at, &x->h, &all), STENO_OK);
    *n = all.n;
    x->last_speech = all.last_speech;
    x->seek = all.seek;
}

static const struct word *word_at(const struct window *x, int i)
{
    return (const struct word *)(const void *)x->w.word.p + i;
}

static void expect_word(const struct window *x, int i, const char *text, double start, double end)
{
    const struct word *w = word_at(x, i);
    assert_string_equal(x->w.text.p + w->text, text);
    if (w->start != start || w->end != end) fail_msg("'%s' is %.17g..%.17g, want %.17g..%.17g", text, w->start, w->end, start, end);
}

static void window_close(struct window *x)
{
    words_free(&x->w);
    arena_free(&x->a);
}

static void test_words_go_to_segments_by_tokens_and_marks_take_no_time(void **state)
{
    (void)state;
    struct window x;
    const int32_t ids[] = { 0, 1, 3, 2, 3 };
    window_open(&x, ids, 5);
    window_heard(&x, (const int32_t[]){ 10, 30, 50, 60, 80, 90 });
    x.prob[2] = 0.1f;
    struct draft d[] = { { 10.2, 11.2, 10.2, 11.2, 0, 3, 0, 0 }, { 11.2, 12, 11.2, 12, 3, 2, 0, 0 } };
    int n = 2;
    window_run(&x, d, &n);
    assert_int_equal(n, 2);
    assert_int_equal(d[0].n_words, 2);
    assert_int_equal(d[1].first_word, 2);
    assert_int_equal(d[1].n_words, 1);
    expect_word(&x, 0, " a", 10, 10.6); /* path of the first row begins at 0 */
    expect_word(&x, 1, " b.", 10.6, 11);
    expect_word(&x, 2, " c.", 11.2, 11.6);
    assert_int_equal(word_at(&x, 1)->n_tokens, 2);
    assert_true(fabs(word_at(&x, 1)->probability - 0.9) < 1e-6); /* the mark's is not counted */
    assert_true(d[0].start == 10 && d[0].end == 11 && d[1].start == 11.2 && d[1].end == 11.6);
    assert_int_equal(x.seek, 1160); /* where the last word ended */
    assert_true(x.last_speech == 11.6);
    window_close(&x);
}

static void test_a_window_that_was_used_up_keeps_its_seek(void **state)
{
    (void)state;
    struct window x;
    const int32_t ids[] = { 0, 1 };
    window_open(&x, ids, 2);
    window_heard(&x, (const int32_t[]){ 0, 30, 50 });
    x.at.single_end = 1;
    struct draft d[] = { { 10, 11, 10, 11, 0, 2, 0, 0 } };
    int n = 1;
    window_run(&x, d, &n);
    assert_int_equal(x.seek, 1400);
    assert_true(x.last_speech == 11);
    window_close(&x);
}

static void test_nothing_to_align_leaves_segments_as_they_are(void **state)
{
    (void)state;
    struct window x;
    const int32_t ids[] = { 21, 22 }; /* timestamps */
    window_open(&x, ids, 2);
    x.h = (struct word_attention){ 0 };
    struct draft d[] = { { 10, 12, 10, 12, 0, 2, 5, 5 } };
    int n = 1;
    window_run(&x, d, &n);
    assert_int_equal(d[0].n_words, 0);
    assert_true(d[0].start == 10 && d[0].end == 12 && x.last_speech == 12);
    assert_int_equal(x.seek, 1200); /* the segment's end stands in for a word's */
    n = 0;
    x.last_speech = 3;
    window_run(&x, d, &n);
    assert_true(n == 0 && x.last_speech == 3);
    window_close(&x);
}

static void test_one_frame_and_nan_give_words_without_length(void **state)
{
    (void)state;
    struct window x;
    const int32_t ids[] = { 0, 1, 2 };
    window_open(&x, ids, 3);
    for (int i = 0; i < 4 * FRAMES; i++) x.matrix[i] = NAN;
    struct draft d[] = { { 10, 12, 10, 12, 0, 3, 0, 0 } };
    int n = 1;
    window_run(&x, d, &n);
    assert_int_equal(d[0].n_words, 3);
    for (int i = 0; i < 3; i++) assert_true(word_at(&x, i)->start <= word_at(&x, i)->end && word_at(&x, i)->end <= 14);
    x.h.n_ctx = 1;
    window_run(&x, d, &n);
    expect_word(&x, 2, " c", 10, 10);
    window_close(&x);
}

/* ---- lengths ---- */

static void test_ends_of_sentences_and_what_follows_them_are_cut(void **state)
{
    (void)state;
    struct window x;
    const int32_t ids[] = { 0, 1, 3, 2, 4 };
    window_open(&x, ids, 5);
    assert_int_equal(split_words(&x.w.split, &x.v, x.ids, 6, EOT, 1), STENO_OK);
    struct timing t[] = { { 0, 0.4, 1 }, { 0.4, 0.8, 1 }, { 0.8, 3, 1 }, { 3, 5, 1 }, { 5, 5, 1 } };
    double median = -1;
    assert_int_equal(timing_trim(t, &x.w.split, 5, &median), STENO_OK);
    assert_true(median == 0.7); /* of 0.4 0.4 2 2.2: 1.2, and 0.7 at most */
    assert_true(t[2].end == 0.8 + 1.4 && t[3].start == 5 - 1.4);
    assert_true(t[0].end == 0.4 && t[4].start == 5);
    struct timing still[] = { { 1, 1, 1 }, { 1, 1, 1 } };
    assert_int_equal(timing_trim(still, &x.w.split, 2, &median), STENO_OK);
    assert_true(median == 0);
    window_close(&x);
}

static void test_the_first_word_after_a_pause_loses_the_pause(void **state)
{
    (void)state;
    struct word one[] = { { 2, 5, 1, 0, 1, 0, 0 } };
    struct draft d = { 2, 5, 2, 5, 0, 1, 0, 1 };
    draft_adjust(&d, one, 0.5, 0);
    assert_true(one[0].start == 4 && d.start == 4 && d.end == 5);

    struct word two[] = { { 2, 5, 1, 0, 1, 0, 0 }, { 5, 8, 1, 0, 1, 0, 0 } }; /* the second is too long, too */
    d = (struct draft){ 2, 8, 2, 8, 0, 2, 0, 2 };
    draft_adjust(&d, two, 0.5, 0);
    assert_true(two[0].end == 7 && two[1].start == 7 && two[0].start == 6 && d.start == 6);

    struct word soon[] = { { 2, 5, 1, 0, 1, 0, 0 } }; /* no pause before it */
    d = (struct draft){ 2, 5, 2, 5, 0, 1, 0, 1 };
    draft_adjust(&d, soon, 0.5, 3.5);
    assert_true(soon[0].start == 2);
}

static void test_segments_lend_their_times_to_words_that_are_far_too_long(void **state)
{
    (void)state;
    struct word w[] = { { 1, 3, 1, 0, 1, 0, 0 }, { 3, 6, 1, 0, 1, 0, 0 } };
    struct draft d = { 2, 4, 2, 4, 0, 2, 0, 2 };
    draft_adjust(&d, w, 0.5, 2.9);
    assert_true(w[0].start == 2 && d.start == 2); /* least of 3 - 0.5 and 2 */
    assert_true(w[1].end == 4 && d.end == 4);

    struct word v[] = { { 1, 3, 1, 0, 1, 0, 0 }, { 3, 6, 1, 0, 1, 0, 0 } };
    d = (struct draft){ 1.5, 5.5, 1.5, 5.5, 0, 2, 0, 2 }; /* half a second is near enough */
    draft_adjust(&d, v, 0.5, 2.9);
    assert_true(v[0].start == 1 && d.start == 1 && v[1].end == 6 && d.end == 6);
}

/* ---- what looks invented ---- */

/* Words of `length` seconds each, alone in their segments, at the given starts. */
static void islands(struct words *w, struct draft *d, const double *start, const double *length, int n, double p)
{
    buf_clear(&w->word);
    buf_clear(&w->text);
    for (int i = 0; i < n; i++) {
        const struct word x = { start[i], start[i] + length[i], p, w->text.len, 1, 0, 0 };
        buf_add(&w->text, " a", 3);
        buf_add(&w->word, &x, sizeof x);
        d[i] = (struct draft){ start[i], start[i] + length[i], start[i], start[i] + length[i], i, 1, i, 1 };
    }
}

/* Words, their segments, and the arguments and results of words_seek. */
struct doubted { struct words w; struct draft d[4]; int n; double last; int64_t seek; };

static struct doubted doubted(int n)
{
    return (struct doubted){ .n = n, .last = 9, .seek = 5 };
}

/* words_seek of it */
static int doubt(struct doubted *x, double silence, const struct words_window *at)
{
    struct window_drafts d = { x->d, x->n, x->last, x->seek };
    const int skipped = words_seek(&x->w, silence, at, &d);
    x->n = d.n;
    x->last = d.last_speech;
    x->seek = d.seek;
    return skipped;
}

static const struct words_window place = { .seek = 1000, .frames = 3000, .full = 3000, .content_frames = 100000 };

static void test_speech_to_the_end_of_the_window_moves_on_by_the_window(void **state)
{
    (void)state;
    struct doubted x = doubted(2);
    islands(&x.w, x.d, (const double[]){ 20, 37.5 }, (const double[]){ 0.5, 0.5 }, 2, 0.9);
    assert_int_equal(doubt(&x, 3, &place), 0);
    assert_true(x.n == 2 && x.seek == 4000 && x.last == 38);
    assert_int_equal(doubt(&x, 1.5, &place), 0);
    assert_int_equal(x.seek, 3800);
    words_free(&x.w);
}

static void test_a_window_that_begins_with_silence_and_an_odd_segment_is_skipped(void **state)
{
    (void)state;
    struct doubted x = doubted(2);
    islands(&x.w, x.d, (const double[]){ 15.256, 20 }, (const double[]){ 0.02, 0.5 }, 2, 0.1); /* improbable and short */
    assert_int_equal(doubt(&x, 2, &place), 1);
    assert_true(x.n == 0 && x.seek == 1526 && x.last == 9);
    words_free(&x.w);
}

static void test_odd_segments_in_silence_are_dropped_with_what_follows(void **state)
{
    (void)state;
    struct doubted x = doubted(3);
    islands(&x.w, x.d, (const double[]){ 11, 20, 30 }, (const double[]){ 0.5, 0.02, 0.5 }, 3, 0.9);
    x.d[1].n = 1;
    ((struct word *)(void *)x.w.word.p)[1].probability = 0.01;
    assert_int_equal(doubt(&x, 2, &place), 0);
    assert_true(x.n == 1 && x.seek == 2000 && x.last == 11.5);

    x.n = 3;
    x.last = 9;
    struct words_window end = place;
    end.content_frames = 2100; /* less than the threshold is left: nothing will come */
    assert_int_equal(doubt(&x, 2, &end), 0);
    assert_true(x.n == 1 && x.seek == 2100);

    x.n = 3; /* without silence around it, it is not doubtful */
    islands(&x.w, x.d, (const double[]){ 19, 20, 21 }, (const double[]){ 0.5, 0.02, 0.5 }, 3, 0.9);
    ((struct word *)(void *)x.w.word.p)[1].probability = 0.01;
    assert_int_equal(doubt(&x, 2, &place), 0);
    assert_int_equal(x.n, 3);
    words_free(&x.w);
}

static void test_a_segment_of_marks_alone_is_odd(void **state)
{
    (void)state;
    struct doubted x = doubted(1);
    islands(&x.w, x.d, (const double[]){ 20 }, (const double[]){ 0.5 }, 1, 0.9);
    memcpy(x.w.text.p, ",\0", 2);
    assert_int_equal(doubt(&x, 2, &place), 1);
    assert_int_equal(x.seek, 2000);
    words_free(&x.w);
}

static void test_results_take_the_memory_of_the_documents(void **state)
{
    (void)state;
    FILE *f = fopen("doc/models.md", "r");
    char line[1024];
    unsigned segment = 0, token = 0, word = 0;
    assert_non_null(f);
    while (fgets(line, sizeof line, f) && !segment)
        sscanf(line, "results take at most %u bytes for a segment, %u for a token and %u for a word", &segment, &token, &word);
    fclose(f);
    assert_in_range(sizeof(struct segment), segment - 40, segment);
    assert_in_range(sizeof(struct sampled_token) + sizeof(int32_t), token - 8, token);
    assert_in_range(sizeof(struct word), word - 8, word);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_take_the_memory_of_the_documents),
        cmocka_unit_test(test_cents_round_as_decimals_do),
        cmocka_unit_test(test_words_go_to_segments_by_tokens_and_marks_take_no_time),
        cmocka_unit_test(test_a_window_that_was_used_up_keeps_its_seek),
        cmocka_unit_test(test_nothing_to_align_leaves_segments_as_they_are),
        cmocka_unit_test(test_one_frame_and_nan_give_words_without_length),
        cmocka_unit_test(test_ends_of_sentences_and_what_follows_them_are_cut),
        cmocka_unit_test(test_the_first_word_after_a_pause_loses_the_pause),
        cmocka_unit_test(test_segments_lend_their_times_to_words_that_are_far_too_long),
        cmocka_unit_test(test_speech_to_the_end_of_the_window_moves_on_by_the_window),
        cmocka_unit_test(test_a_window_that_begins_with_silence_and_an_odd_segment_is_skipped),
        cmocka_unit_test(test_odd_segments_in_silence_are_dropped_with_what_follows),
        cmocka_unit_test(test_a_segment_of_marks_alone_is_odd),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
