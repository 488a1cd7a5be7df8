/* steno: the louder channel decides the speaker. SPDX-License-Identifier: MIT */
#include "diarize.h"
#include "harness.h"
#include <stdlib.h>
#include <string.h>

/* A channel: loud in some tenths of a second. */
struct channel {
    const char *loud; /* a digit per tenth of a second: amplitude in tenths */
    int64_t at, n, piece, fails_at;
};

static int64_t channel_read(void *user, float *pcm, int64_t n)
{
    struct channel *c = user;
    if (c->fails_at && c->at >= c->fails_at) return STENO_ECANCELED;
    if (n > c->piece) n = c->piece;
    if (n > c->n - c->at) n = c->n - c->at;
    for (int64_t i = 0; i < n; i++, c->at++) pcm[i] = (c->at % 2 ? -0.1f : 0.1f) * (float)(c->loud[c->at / 1600] - '0');
    return n;
}

static int listen_to(struct diarize *d, int channel, const char *loud, int64_t piece)
{
    struct channel c = { .loud = loud, .n = (int64_t)strlen(loud) * 1600, .piece = piece };
    const steno_source src = { .read = channel_read, .user = &c };
    return diarize_listen(d, channel, &src);
}

static void test_each_stretch_belongs_to_the_louder_channel(void **state)
{
    (void)state;
    static const int64_t pieces[] = { 1, 159, 160, 161, 1000, 100000 };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct diarize d = { 0 };
        assert_int_equal(listen_to(&d, 0, "9900550", pieces[i]), STENO_OK);
        assert_int_equal(listen_to(&d, 1, "0088550", pieces[i]), STENO_OK);
        assert_int_equal(d.n, 70);
        assert_int_equal(diarize_speaker(&d, 0, 200), 0);
        assert_int_equal(diarize_speaker(&d, 200, 400), 1);
        assert_int_equal(diarize_speaker(&d, 400, 600), DIARIZE_UNKNOWN); /* equal */
        assert_int_equal(diarize_speaker(&d, 600, 700), DIARIZE_UNKNOWN); /* silence */
        assert_int_equal(diarize_speaker(&d, 0, 700), DIARIZE_UNKNOWN); /* 28 to 26 */
        assert_int_equal(diarize_speaker(&d, 250, 350), 1);
        assert_int_equal(diarize_speaker(&d, 195, 205), 0); /* 10 ms of each: 9 to 8 */
        diarize_free(&d);
    }
}

static void test_channels_whose_loudness_differs_by_less_than_a_tenth_have_no_speaker(void **state)
{
    (void)state;
    struct diarize d = { 0 };
    assert_int_equal(listen_to(&d, 0, "5555555555", 4096), STENO_OK);
    assert_int_equal(listen_to(&d, 1, "5555555554", 4096), STENO_OK); /* 50 to 49 */
    assert_int_equal(diarize_speaker(&d, 0, 1000), DIARIZE_UNKNOWN);
    assert_int_equal(diarize_speaker(&d, 600, 1000), DIARIZE_UNKNOWN); /* 20 to 19 */
    assert_int_equal(diarize_speaker(&d, 800, 1000), 0);               /* 10 to 9 */
    diarize_free(&d);
}

static void test_times_that_are_not_known_or_past_the_end_have_no_speaker(void **state)
{
    (void)state;
    struct diarize d = { 0 };
    assert_int_equal(diarize_speaker(&d, 0, 1000), DIARIZE_UNKNOWN);
    assert_int_equal(listen_to(&d, 0, "9", 4096), STENO_OK);
    assert_int_equal(listen_to(&d, 1, "", 4096), STENO_OK);
    assert_int_equal(diarize_speaker(&d, 0, 100), 0);
    assert_int_equal(diarize_speaker(&d, 0, INT64_MAX), 0);
    assert_int_equal(diarize_speaker(&d, -1, 100), DIARIZE_UNKNOWN);
    assert_int_equal(diarize_speaker(&d, 0, -1), DIARIZE_UNKNOWN);
    assert_int_equal(diarize_speaker(&d, 50, 20), DIARIZE_UNKNOWN);
    assert_int_equal(diarize_speaker(&d, 50, 50), DIARIZE_UNKNOWN);
    assert_int_equal(diarize_speaker(&d, 100, 200), DIARIZE_UNKNOWN);
    diarize_reset(&d);
    assert_int_equal(diarize_speaker(&d, 0, 100), DIARIZE_UNKNOWN);
    assert_int_equal(listen_to(&d, 1, "3", 4096), STENO_OK); /* what the memory held before is gone */
    assert_int_equal(diarize_speaker(&d, 0, 100), 1);
    diarize_free(&d);
}

static void test_a_channel_that_ends_early_is_silent_from_there(void **state)
{
    (void)state;
    struct diarize d = { 0 };
    assert_int_equal(listen_to(&d, 0, "99", 4096), STENO_OK);
    assert_int_equal(listen_to(&d, 1, "11119", 4096), STENO_OK);
    assert_int_equal(d.n, 50);
    assert_int_equal(diarize_speaker(&d, 0, 200), 0);
    assert_int_equal(diarize_speaker(&d, 200, 400), 1);
    diarize_free(&d);
}

static void test_a_read_that_fails_is_passed_on(void **state)
{
    (void)state;
    struct diarize d = { 0 };
    struct channel c = { .loud = "999", .n = 4800, .piece = 1000, .fails_at = 2000 };
    const steno_source src = { .read = channel_read, .user = &c };
    assert_int_equal(diarize_listen(&d, 0, &src), STENO_ECANCELED);
    diarize_free(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_stretch_belongs_to_the_louder_channel),
        cmocka_unit_test(test_channels_whose_loudness_differs_by_less_than_a_tenth_have_no_speaker),
        cmocka_unit_test(test_times_that_are_not_known_or_past_the_end_have_no_speaker),
        cmocka_unit_test(test_a_channel_that_ends_early_is_silent_from_there),
        cmocka_unit_test(test_a_read_that_fails_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
