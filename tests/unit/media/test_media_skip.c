/* steno tests: going on to a later sample. SPDX-License-Identifier: MIT
 *
 * What a reader gives behind a skip is compared with what it gives there when it reads everything. Containers whose times are rounded are
 * in test_media_seek.c. */
#include "media_help.h"

enum { RATE = 16000, MP3_FRAMES_LIE = 1 << 10 };

/* ---- files ------------------------------------------------------------------------------------------------------------------- */

/* A new WAV file of noise that is louder and softer; path[] receives its name. */
static void noise_wav(char path[64], int tag, int bits, int channels, int rate, int seconds)
{
    const size_t n = (size_t)seconds * (size_t)rate * (size_t)channels, width = (size_t)bits / 8;
    struct bytes head = { .n = 0 };
    put_header(&head, tag, bits, channels, rate, 0, (uint32_t)(n * width));
    uint8_t *all = malloc(head.n + n * width), *to = all + head.n;
    assert_non_null(all);
    memcpy(all, head.p, head.n);
    uint32_t seed = 1;
    for (size_t i = 0; i < n; i++, to += width) {
        seed = seed * 1664525 + 1013904223;
        const int32_t v = (int32_t)seed >> (i / 5000 % 7);
        const float f = (float)v / 2147483648.0f;
        if (tag == 3) memcpy(to, &f, 4);
        else for (size_t k = 0; k < width; k++) to[k] = (uint8_t)((uint32_t)v >> (32 - bits + 8 * (int)k));
    }
    temp_file(path, all, head.n + n * width);
    free(all);
}

/* The file without its first frame, which has the number of frames. */
static void without_xing(char path[64], const char *from)
{
    size_t n, at = 0;
    uint8_t *p = load(from, &n);
    while (at + 4 < n && !(p[at] == 0xff && (p[at + 1] & 0xe0) == 0xe0)) at++;
    size_t next = at + 24;
    while (next + 4 < n && !(p[next] == 0xff && p[next + 1] == p[at + 1])) next++;
    int is_xing = 0;
    for (size_t i = at; i + 4 < next; i++) is_xing |= !memcmp(p + i, "Xing", 4);
    assert_true(is_xing && next - at < MP3_FRAMES_LIE);
    temp_file(path, p + next, n - next);
    free(p);
}

/* ---- the comparison ---------------------------------------------------------------------------------------------------------- */

/* @return how far it went */
static int64_t expect_rest(steno_media *m, const struct sound *whole, int64_t n, const char *name)
{
    steno_source src;
    steno_media_source(m, &src);
    assert_int_equal(src.rewind(src.user), 0);
    const int64_t at = steno_media_skip(m, n);
    if (at < 0 || at > n || at > whole->n) fail_msg("%s: a skip to %lld goes to %lld", name, (long long)n, (long long)at);
    struct sound rest = drain(&src, 4801);
    if (rest.n != whole->n - at) fail_msg("%s: %lld samples behind %lld, want %lld", name, (long long)rest.n, (long long)at,
                                          (long long)(whole->n - at));
    for (int64_t i = 0; i < rest.n; i++)
        if (rest.v[i] != whole->v[at + i])
            fail_msg("%s: skip to %lld: sample %lld is %d, want %d", name, (long long)n, (long long)(at + i), rest.v[i], whole->v[at + i]);
    steno_media_state s = { .size = sizeof s };
    assert_int_equal(steno_media_state_get(m, &s), STENO_OK);
    assert_true(s.ended && !s.damaged_packets);
    free(rest.v);
    return at;
}

/* At all places and channels; skips: whether it goes on at all. */
static void expect_same(const char *path, const char *name, int skips)
{
    struct sound whole = read_file(path);
    const int64_t all = whole.n, far[] = { 1, RATE - 1, RATE, 2 * RATE, 3 * RATE, 3 * RATE + 1, 80001, 6 * RATE - 1, all / 2, all - RATE,
                                           all - 1, all, all + 1, INT64_MAX };
    steno_media *m = open_ok(path);
    steno_media_state before = { .size = sizeof before }, after = before;
    steno_media_state_get(m, &before);
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        const int64_t n = far[i], at = expect_rest(m, &whole, n, name), least = n / RATE * RATE;
        if (!skips) assert_int_equal(at, 0);
        else if (n >= 3 * RATE && n <= all - RATE && at < least)
            fail_msg("%s: a skip to %lld goes to %lld alone", name, (long long)n, (long long)at);
    }
    steno_media_state_get(m, &after);
    assert_int_equal(after.truncated, 0);
    assert_int_equal(after.promised_ms, before.promised_ms);
    free(whole.v);
    for (int c = 0; c < steno_media_channels(m); c++) {
        steno_source src;
        steno_media_source(m, &src);
        assert_int_equal(steno_media_select(m, c), STENO_OK);
        struct sound one = drain(&src, 4801);
        expect_rest(m, &one, 4 * RATE + 7, name);
        free(one.v);
    }
    steno_media_close(m);
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------- */

static void test_wav_goes_on_at_the_sample(void **state)
{
    (void)state;
    char path[64];
    expect_same(AUDIO "zh_phrases.wav", "plain WAV", 1);
    noise_wav(path, 1, 16, 1, RATE, 9);
    steno_media *m = open_ok(path);
    assert_int_equal(steno_media_skip(m, 70001), 70001); /* the built-in reader needs no whole second */
    steno_media_close(m);
    expect_same(path, "16 kHz", 1);
    unlink(path);
}

static void test_pcm_of_any_form_goes_on_at_a_second(void **state)
{
    static const struct { int tag, bits, channels, rate, skips; const char *name; } rows[] = {
        { 1, 16, 2, 44100, 1, "44.1 kHz" }, { 1, 16, 1, 8000, 1, "8 kHz" }, { 3, 32, 3, 48000, 1, "48 kHz, float, 3 channels" },
        { 1, 24, 1, 96000, 1, "96 kHz, 24 bits" }, { 1, 16, 1, 11025, 1, "11 kHz" }, { 1, 8, 2, 22050, 1, "22 kHz, 8 bits" },
        { 1, 32, 1, 192000, 1, "192 kHz" }, { 1, 16, 2, 16000, 1, "two channels at 16 kHz" }, { 1, 16, 1, 15625, 1, "1024 phases" },
        { 1, 16, 1, 11127, 0, "a rate whose ratio is not exact" },
    };
    (void)state;
    need_ffmpeg();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char path[64];
        noise_wav(path, rows[i].tag, rows[i].bits, rows[i].channels, rows[i].rate, 5);
        expect_same(path, rows[i].name, rows[i].skips);
        unlink(path);
    }
}

static void test_flac_and_mp3_go_on(void **state)
{
    char path[64];
    (void)state;
    need_ffmpeg();
    expect_same(AUDIO "skip_22k.flac", "FLAC", 1);
    expect_same(AUDIO "skip_44k.mp3", "MP3 with Xing's header", 1);
    without_xing(path, AUDIO "skip_44k.mp3");
    expect_same(path, "MP3 without it", 1);
    unlink(path);
}

static void test_short_ones_are_read_from_their_start(void **state)
{
    static const char *const names[] = { "de.aac", "de.opus", "de_stereo.ogg", "de_video.mkv", "late.mkv", "late.mp4", "de.avi",
                                         "de.wma" };
    (void)state;
    need_ffmpeg();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, AUDIO "%s", names[i]);
        expect_same(path, names[i], 0);
    }
}

static void test_a_skip_is_the_first_thing(void **state)
{
    (void)state;
    float x[10];
    steno_source src;
    steno_media *m = open_ok(AUDIO "zh_phrases.wav");
    steno_media_source(m, &src);
    assert_int_equal(steno_media_skip(m, -1), STENO_EARG);
    assert_int_equal(steno_media_skip(m, 0), 0);
    assert_int_equal(src.read(src.user, x, 10), 10);
    assert_int_equal(steno_media_skip(m, 100), 0);
    assert_int_equal(src.rewind(src.user), 0);
    assert_int_equal(steno_media_skip(m, 100), 100);
    steno_media_interrupt(m);
    assert_int_equal(steno_media_skip(m, 100), STENO_ECANCELED);
    steno_media_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wav_goes_on_at_the_sample),
        cmocka_unit_test(test_pcm_of_any_form_goes_on_at_a_second),
        cmocka_unit_test(test_flac_and_mp3_go_on),
        cmocka_unit_test(test_short_ones_are_read_from_their_start),
        cmocka_unit_test(test_a_skip_is_the_first_thing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
