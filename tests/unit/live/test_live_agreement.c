/* steno: local agreement, and the sound that is kept for it. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "live_sound.h"
#include "live_words.h"
#include <stdio.h>
#include <stdlib.h>

static void words_of(struct words *w, const char *text)
{
    live_words_clear(w);
    assert_int_equal(live_words_add_units(w, text, 0, 0), 0);
    for (size_t i = 0; i < w->n; i++) w->w[i].t0_ms = (int64_t)i * 100, w->w[i].t1_ms = w->w[i].t0_ms + 100;
}

/* A pass. @return the words that it made final, and those that are behind them: "final/others" */
static const char *pass(struct agreement *a, const char *text, int is_last)
{
    static char said[256];
    struct words w = { 0 };
    size_t first;
    words_of(&w, text);
    assert_int_equal(agreement_add(a, &w, is_last, &first), 0);
    char *final = live_words_text(&a->known, first, a->known.n), *recent = live_words_text(&a->recent, 0, a->recent.n);
    snprintf(said, sizeof said, "%s/%s", final, recent);
    free(final);
    free(recent);
    live_words_free(&w);
    return said;
}

static void test_words_on_which_two_passes_agree_are_final(void **state)
{
    (void)state;
    struct agreement a = { 0 };
    assert_string_equal(pass(&a, "one", 0), "/one");
    assert_string_equal(pass(&a, "one two", 0), "one/two");
    assert_string_equal(pass(&a, "one too three", 0), "/too three");
    assert_string_equal(pass(&a, "One, too, three four", 0), "too, three/four"); /* as the newer pass spells them */
    assert_string_equal(pass(&a, "one too", 0), "/"); /* they stay */
    assert_string_equal(pass(&a, "one too three four five", 0), "/four five");
    assert_string_equal(pass(&a, "one too three fore", 1), "fore/");
    assert_int_equal(a.disagreements, 0);
    char *all = live_words_text(&a.known, 0, a.known.n);
    assert_string_equal(all, "one too, three fore");
    free(all);
    agreement_free(&a);
}

static void test_final_words_stay_where_the_last_pass_has_others(void **state)
{
    (void)state;
    struct agreement a = { 0 };
    pass(&a, "one two three", 0);
    pass(&a, "one two three", 0);
    assert_int_equal(a.known.n, 3);
    assert_string_equal(pass(&a, "one four", 1), "four/");
    assert_int_equal(a.known.n, 4);
    assert_int_equal(a.disagreements, 2);
    agreement_clear(&a);
    assert_int_equal(a.known.n, 0);
    assert_string_equal(pass(&a, "", 1), "/");
    assert_int_equal(a.disagreements, 2);
    agreement_free(&a);
}

static void test_audio_before_a_cut_is_not_searched(void **state)
{
    (void)state;
    struct agreement a = { 0 };
    pass(&a, "a b c d", 0);
    pass(&a, "a b c d e", 0);
    assert_int_equal(agreement_end_ms(&a), 400);
    assert_int_equal(agreement_cut(&a, 0), -1); /* by four words the next pass is aligned */
    pass(&a, "a b c d e f g", 0);
    pass(&a, "a b c d e f g", 0);
    assert_int_equal(a.known.n, 7);
    assert_int_equal(agreement_cut(&a, 300), -1);
    a.known.w[2].t1_ms = -1; /* its time is unknown */
    assert_int_equal(agreement_cut(&a, 0), 200);
    assert_int_equal(a.cut, 2);
    assert_int_equal(agreement_cut(&a, 0), -1);
    assert_string_equal(pass(&a, "c d e f g h", 0), "/h");
    assert_string_equal(pass(&a, "d e f g h i", 0), "h/i"); /* no word is final twice */
    agreement_free(&a);
}

/* Passes that grow and err at random. */
static void test_final_words_only_grow_with_any_audio(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int turn = 0; turn < 300; turn++) {
        struct agreement a = { 0 };
        char *before = strdup("");
        for (int k = 0; k < 12; k++) {
            struct words w = { 0 };
            size_t first;
            for (int i = 0; i < k + 1; i++) {
                seed = seed * 1664525 + 1013904223;
                const char word[] = { ' ', (char)('a' + (seed >> 28 ? i % 5 : (int)(seed >> 8 & 3))), 0 };
                const int64_t t = seed >> 20 & 1 ? -1 : (int64_t)i * 300 - (seed >> 16 & 255);
                assert_int_equal(live_words_add(&w, word, t, t < 0 ? -1 : t + 200), 0);
            }
            assert_int_equal(agreement_add(&a, &w, k == 11, &first), 0);
            if ((seed >> 12 & 7) == 0) agreement_cut(&a, -1);
            char *now = live_words_text(&a.known, 0, a.known.n);
            if (strncmp(now, before, strlen(before)) != 0) fail_msg("\"%s\" became \"%s\"", before, now);
            free(before);
            before = now;
            live_words_free(&w);
        }
        assert_int_equal(a.recent.n, 0);
        free(before);
        agreement_free(&a);
    }
}

enum { SECOND = 16000, HOP = 160, WIDTH = 10 * HOP };

static void test_the_quietest_place_is_found(void **state)
{
    (void)state;
    struct kept k = { 0 };
    static float loud[3 * SECOND];
    for (int i = 0; i < 3 * SECOND; i++) loud[i] = i % 2 ? 0.5f : -0.5f;
    for (int i = SECOND; i < SECOND + 2 * WIDTH; i++) loud[i] = 0;
    assert_int_equal(kept_add(&k, loud, 3 * SECOND), 0);
    const int64_t at = kept_quietest(&k, 0, 3 * SECOND);
    assert_true(at >= SECOND && at <= SECOND + 2 * WIDTH);
    assert_in_range(kept_quietest(&k, 2 * SECOND, 3 * SECOND), 2 * SECOND, 3 * SECOND);
    assert_int_equal(kept_quietest(&k, 3 * SECOND - WIDTH + 1, 3 * SECOND), 3 * SECOND); /* no room to look */
    assert_int_equal(kept_quietest(&k, 3 * SECOND - WIDTH, 3 * SECOND), 3 * SECOND - WIDTH / 2);
    assert_int_equal(kept_quietest(&k, SECOND, SECOND + 2 * WIDTH), SECOND + 2 * WIDTH); /* silent to its end */
    kept_drop(&k, SECOND - 1); /* less than a second: not for every piece */
    assert_int_equal(k.at, 0);
    kept_drop(&k, SECOND);
    assert_int_equal(k.at, SECOND);
    assert_int_equal(kept_end(&k), 3 * SECOND);
    assert_true(*kept_from(&k, 2 * SECOND) == loud[2 * SECOND]);
    kept_free(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_on_which_two_passes_agree_are_final),
        cmocka_unit_test(test_final_words_stay_where_the_last_pass_has_others),
        cmocka_unit_test(test_audio_before_a_cut_is_not_searched),
        cmocka_unit_test(test_final_words_only_grow_with_any_audio),
        cmocka_unit_test(test_the_quietest_place_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
