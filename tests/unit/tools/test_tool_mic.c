/* steno: a microphone's thread loses nothing, and ends at any request. SPDX-License-Identifier: MIT
 *
 * ALSA is that of fake_alsa.c. */
#include "harness.h"
#include "fake_alsa.h"
#include "input/mic.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PIECE = 320, RING = 480000 /* 30 s */, EPIPE_IS = 32, ENODEV_IS = 19, ESTRPIPE_IS = 86 };

static struct fake_alsa *fake;

/* Microphones do as `n` steps say, `repeats` times. */
static void script(const long *step, int n, int repeats)
{
    *fake = (struct fake_alsa){ .script = step, .n = n, .repeats = repeats };
}

static struct mic *open_mic(void)
{
    struct mic *m;
    steno_error e = { 0 };
    if (mic_open(&m, "some", &e)) fail_msg("%s", e.text);
    return m;
}

static void close_mic(struct mic *m)
{
    mic_close(m);
    assert_int_equal(fake->n_opened, 1);
    assert_int_equal(fake->n_closed, 1);
}

static int16_t expected;

/* Up to n samples, each of which is the one behind that before it. @return what mic_read does, but for MIC_NOTHING_YET */
static int64_t hear(struct mic *m, int64_t n, steno_error *e)
{
    static float pcm[PIECE];
    int64_t got = MIC_NOTHING_YET;
    for (int tries = 0; got == MIC_NOTHING_YET && tries < 600; tries++) got = mic_read(m, pcm, n, e);
    for (int64_t i = 0; i < got; i++) {
        expected = (int16_t)(expected % FAKE_ALSA_SAMPLES + 1);
        if (pcm[i] != (float)expected / 32768) fail_msg("sample %g, not %d", (double)pcm[i] * 32768, expected);
    }
    return got;
}

/* All there is, in pieces of several lengths. @return their number; *last: what came behind them */
static int64_t hear_all(struct mic *m, int64_t *last, steno_error *e)
{
    static const int64_t lengths[] = { 1, PIECE, 17, PIECE - 1 };
    int64_t n = 0;
    expected = 0;
    for (int i = 0; (*last = hear(m, lengths[i % 4], e)) > 0; i++) n += *last;
    return n;
}

static void test_samples_of_the_device_arrive_in_order(void **state)
{
    (void)state;
    static const long pieces[] = { PIECE, 1, PIECE, -11 /* nothing yet */, 255, PIECE, 0 };
    steno_error e = { 0 };
    int64_t last;
    script(pieces, 7, 1);
    struct mic *m = open_mic();
    assert_int_equal(hear_all(m, &last, &e), 3 * PIECE + 256);
    assert_int_equal(last, 0);
    assert_int_equal(mic_waiting(m), 0);
    assert_int_equal(mic_lost(m), 0);
    close_mic(m);
}

static void test_a_device_that_disappears_is_reported_behind_its_samples(void **state)
{
    (void)state;
    static const long pieces[] = { PIECE, 7, -ENODEV_IS };
    steno_error e = { 0 };
    int64_t last;
    script(pieces, 3, 1);
    fake->recover_rc = -1;
    struct mic *m = open_mic();
    assert_int_equal(hear_all(m, &last, &e), PIECE + 7);
    assert_int_equal(last, STENO_EIO);
    assert_string_equal(e.text, "the microphone has stopped: no such device");
    close_mic(m);
}

static void test_dropped_samples_of_the_device_are_counted(void **state)
{
    (void)state;
    static const long pieces[] = { PIECE, -EPIPE_IS, PIECE, -ESTRPIPE_IS /* it slept, and nothing is lost */, 5, -EPIPE_IS, 0 };
    steno_error e = { 0 };
    int64_t last;
    script(pieces, 7, 1);
    struct mic *m = open_mic();
    assert_int_equal(hear_all(m, &last, &e), 2 * PIECE + 5);
    assert_int_equal(last, 0);
    assert_int_equal(mic_lost(m), 2);
    close_mic(m);
    assert_int_equal(fake->n_recovered, 3);
    assert_int_equal(fake->n_started, 4);
}

static void await(struct mic *m, int64_t waiting)
{
    for (int i = 0; i < 10000 && mic_waiting(m) < waiting; i++) usleep(1000);
    usleep(20000); /* more would come now */
    assert_int_equal(mic_waiting(m), waiting);
}

static void test_half_a_minute_waits_for_who_computes_and_more_is_left_to_the_device(void **state)
{
    (void)state;
    static const long piece = PIECE;
    for (int more = -1; more < 2; more++) {
        const int n = RING / PIECE + more;
        steno_error e = { 0 };
        script(&piece, 1, n);
        struct mic *m = open_mic();
        await(m, more < 0 ? RING - PIECE : RING);
        expected = 0;
        for (int i = 0; i < n; i++) assert_int_equal(hear(m, PIECE, &e), PIECE);
        await(m, 0);
        close_mic(m);
    }
}

static void test_it_is_closed_at_any_moment(void **state)
{
    (void)state;
    static const long piece = PIECE, end = 0, gone = -ENODEV_IS;
    const struct { const long *step; int repeats, wait_for; } when[] = {
        { &piece, 1, 0 }, { &piece, 1000000, 0 }, { &piece, 1000000, RING }, { &piece, 10, 10 * PIECE }, { &end, 1, 0 }, { &gone, 1, 0 },
    };
    for (size_t i = 0; i < sizeof when / sizeof *when; i++) {
        script(when[i].step, 1, when[i].repeats);
        fake->recover_rc = -1;
        struct mic *m = open_mic();
        for (int k = 0; k < 10000 && mic_waiting(m) < when[i].wait_for; k++) usleep(1000);
        close_mic(m);
    }
    mic_close(NULL);
}

static void test_nothing_yet_is_no_end(void **state)
{
    (void)state;
    static const long piece = PIECE;
    float pcm[PIECE];
    steno_error e = { 0 };
    script(&piece, 1, 0);
    struct mic *m = open_mic();
    assert_int_equal(mic_read(m, pcm, PIECE, &e), MIC_NOTHING_YET);
    close_mic(m);
}

static void test_a_microphone_that_cannot_be_opened_is_reported_and_given_back(void **state)
{
    (void)state;
    static const char *const told[] = { "cannot be opened: a fault; \"arecord -L\" lists all microphones",
                                        "does not provide 16-bit mono samples at 16 kHz: a fault; ALSA converts",
                                        "cannot be started: a fault" };
    for (int i = 0; i < 3; i++) {
        struct mic *m;
        steno_error e = { 0 };
        script(NULL, 0, 0);
        *(i == 0 ? &fake->open_rc : i == 1 ? &fake->params_rc : &fake->start_rc) = -5;
        assert_int_equal(mic_open(&m, "some", &e), STENO_EIO);
        assert_null(m);
        assert_non_null(strstr(e.text, told[i]));
        assert_int_equal(fake->n_opened, i > 0);
        assert_int_equal(fake->n_closed, i > 0);
    }
}

/* Does the build read microphones? */
static int hears(void)
{
    struct mic *m;
    steno_error e = { 0 };
    script(NULL, 0, 0);
    fake->open_rc = -5;
    if (mic_open(&m, "some", &e) != STENO_EUNSUPPORTED) return 1;
    printf("skipped: %s\n", e.text);
    return !strstr(e.text, "STENO_MIC=OFF");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_of_the_device_arrive_in_order),
        cmocka_unit_test(test_a_device_that_disappears_is_reported_behind_its_samples),
        cmocka_unit_test(test_dropped_samples_of_the_device_are_counted),
        cmocka_unit_test(test_half_a_minute_waits_for_who_computes_and_more_is_left_to_the_device),
        cmocka_unit_test(test_it_is_closed_at_any_moment),
        cmocka_unit_test(test_nothing_yet_is_no_end),
        cmocka_unit_test(test_a_microphone_that_cannot_be_opened_is_reported_and_given_back),
    };
    void *lib = dlopen(FAKE_ALSA, RTLD_NOW | RTLD_LOCAL), *get = lib ? dlsym(lib, "fake_alsa") : NULL;
    fake_alsa_get *fake_get;
    if (!get) {
        printf("%s\n", dlerror());
        return 1;
    }
    memcpy(&fake_get, &get, sizeof fake_get);
    fake = fake_get();
    return hears() ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}
