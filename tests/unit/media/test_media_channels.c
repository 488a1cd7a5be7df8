/* steno tests: channels read apart. SPDX-License-Identifier: MIT */
#include "crc32.h"
#include "media_help.h"

/* A WAV file of `n` frames, in which channel c holds a tone of its own; path[] receives its name. */
static int16_t tone(int c, int i)
{
    return (int16_t)lrint(sin(i * 0.05 * (c + 1)) * (20000 - 3000 * c));
}

static void tones_file(char path[64], int channels, int rate, int n)
{
    struct bytes b = { .n = 0 };
    put_header(&b, 1, 16, channels, rate, channels > 2, (uint32_t)(n * channels * 2));
    for (int i = 0; i < n; i++)
        for (int c = 0; c < channels; c++) put_le(&b, (uint16_t)tone(c, i), 2);
    temp_file(path, b.p, b.n);
}

static struct sound read_channel(steno_media *m, int channel)
{
    steno_source src;
    steno_media_source(m, &src);
    assert_int_equal(steno_media_select(m, channel), STENO_OK);
    const struct sound s = drain(&src, 701);
    assert_int_equal(s.status, 0);
    return s;
}

static void test_each_channel_can_be_read_alone(void **state)
{
    (void)state;
    for (int channels = 1; channels <= 3; channels++) {
        char path[64];
        tones_file(path, channels, 16000, 5000);
        steno_media *m = open_ok(path);
        steno_source src;
        steno_media_source(m, &src);
        assert_int_equal(steno_media_channels(m), channels);
        struct sound mix = drain(&src, 999);
        for (int c = channels - 1; c >= 0; c--) {
            struct sound s = read_channel(m, c);
            assert_int_equal(s.n, 5000);
            for (int i = 0; i < 5000; i++)
                if (s.v[i] != tone(c, i)) fail_msg("channel %d, sample %d: %d, want %d", c, i, s.v[i], tone(c, i));
            assert_int_equal(src.rewind(src.user), 0);
            struct sound again = drain(&src, 4000);
            assert_same(again, s); /* rewinding keeps the channel */
            free(s.v);
            free(again.v);
        }
        struct sound s = read_channel(m, STENO_MEDIA_MIX);
        assert_same(s, mix);
        free(s.v);
        free(mix.v);
        steno_media_close(m);
        unlink(path);
    }
}

static void test_a_channel_that_is_not_there_is_refused_and_changes_nothing(void **state)
{
    (void)state;
    char path[64];
    tones_file(path, 2, 16000, 3000);
    steno_media *m = open_ok(path);
    steno_source src;
    steno_media_source(m, &src);
    float a[100], b[100];
    assert_int_equal(steno_media_select(m, 1), STENO_OK);
    assert_int_equal(src.read(src.user, a, 100), 100);
    static const int bad[] = { -2, 2, 1000000 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(steno_media_select(m, bad[i]), STENO_EARG);
        assert_non_null(strstr(steno_media_error(m), "the last one is 1"));
    }
    assert_int_equal(src.read(src.user, b, 100), 100);
    for (int i = 0; i < 100; i++) assert_true(a[i] * 32768 == tone(1, i) && b[i] * 32768 == tone(1, 100 + i));
    steno_media_interrupt(m);
    assert_int_equal(steno_media_select(m, 1), STENO_ECANCELED);
    steno_media_close(m);
    unlink(path);
}

static void test_a_resampled_channel_equals_a_file_of_it_alone(void **state)
{
    (void)state;
    need_ffmpeg();
    char both[64], one[64];
    tones_file(both, 2, 44100, 8000);
    tones_file(one, 1, 44100, 8000); /* the first tone */
    steno_media *m = open_ok(both);
    struct sound left = read_channel(m, 0), right = read_channel(m, 1), want = read_file(one);
    assert_true(want.n > 2800);
    assert_same(left, want);
    assert_int_equal(right.n, want.n);
    int differ = 0;
    for (int64_t i = 0; i < right.n; i++) differ += right.v[i] != want.v[i];
    assert_true(differ > 2000);
    steno_media_close(m);
    unlink(both);
    unlink(one);
    free(left.v);
    free(right.v);
    free(want.v);
}

/* Numbers of channels of which FFmpeg knows the places, and odd ones, of which it does not: their mix is their mean, but for how
 * the parts of it are rounded. */
static void test_channels_without_places_are_mixed_alike(void **state)
{
    (void)state;
    need_ffmpeg();
    static const int numbers[] = { 9, 10, 15, 16, 17, 25, 63, 64, 65, 129 };
    enum { N = 240, RATE = 8000, MOST = 64 };
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++) {
        const int channels = numbers[k];
        char path[64];
        struct bytes b = { .n = 0 };
        put_header(&b, 1, 16, channels, RATE, 0, (uint32_t)(N * channels * 2));
        for (int i = 0; i < N * channels; i++) put_le(&b, (uint16_t)tone(0, i / channels), 2);
        temp_file(path, b.p, b.n);
        steno_error e = { 0 };
        steno_media *m = NULL;
        float pcm[100];
        steno_source src;
        if (steno_media_open(&m, path, NULL, NULL, &e) == STENO_OK) {
            steno_media_source(m, &src);
            if (channels <= MOST) {
                struct sound mix = drain(&src, 999), last = read_channel(m, channels - 1);
                assert_true(mix.n > 2 * N - 100 && mix.n == last.n);
                for (int64_t i = 0; i < mix.n && channels % 2; i++)
                    if (abs(mix.v[i] - last.v[i]) > channels)
                        fail_msg("%d channels, sample %d: %d, want %d", channels, (int)i, mix.v[i], last.v[i]);
                free(mix.v);
                free(last.v);
            } else {
                assert_true(src.read(src.user, pcm, 100) < 0);
                snprintf(e.text, sizeof e.text, "%s", steno_media_error(m));
            }
        } else if (channels <= MOST) fail_msg("%s", e.text);
        if (channels > MOST && !strstr(e.text, "at most 64")) fail_msg("%d channels: \"%s\"", channels, e.text);
        steno_media_close(m);
        unlink(path);
    }
}

static void test_channels_of_lossy_films_add_up_to_their_mix(void **state)
{
    (void)state;
    need_ffmpeg();
    steno_media *m = open_ok(AUDIO "de_stereo.ogg");
    assert_int_equal(steno_media_channels(m), 2);
    struct sound left = read_channel(m, 0), right = read_channel(m, 1), mix = read_channel(m, STENO_MEDIA_MIX);
    assert_true(left.n == mix.n && right.n == mix.n);
    for (int64_t i = 0; i < mix.n; i++)
        if (abs((left.v[i] + right.v[i]) / 2 - mix.v[i]) > 2)
            fail_msg("sample %d: %d and %d, mixed %d", (int)i, left.v[i], right.v[i], mix.v[i]);
    steno_media_close(m);
    free(left.v);
    free(right.v);
    free(mix.v);
}

/* Length and CRC-32 of what the ffmpeg program (5.1) makes of each: -map 0:a:0 or -map 0:a:1, -ac 1 -acodec pcm_s16le -ar 16000 */
static const struct { int64_t n; uint32_t crc; int channels; } tracks[] = { { 24000, 0xffe1d48b, 1 }, { 35200, 0x34a1394b, 2 } };

static void assert_track(steno_media *m, int track)
{
    steno_source src;
    steno_media_source(m, &src);
    struct sound s = drain(&src, 4801);
    assert_int_equal(s.n, tracks[track - 1].n);
    assert_int_equal(steno_media_channels(m), tracks[track - 1].channels);
    const uint32_t crc = crc32_add(0, s.v, (size_t)s.n * sizeof *s.v);
    if (crc != tracks[track - 1].crc) fail_msg("track %d: CRC %08x, want %08x", track, (unsigned)crc, (unsigned)tracks[track - 1].crc);
    free(s.v);
}

static void test_tracks_are_those_of_the_ffmpeg_program(void **state)
{
    (void)state;
    need_ffmpeg();
    steno_media *m = open_ok(AUDIO "two_tracks.mkv");
    assert_int_equal(steno_media_tracks(m), 2);
    assert_track(m, 2); /* which is marked as default */
    for (int track = 1; track <= 2; track++) {
        assert_int_equal(steno_media_select_track(m, track), STENO_OK);
        assert_int_equal(steno_media_tracks(m), 2);
        assert_track(m, track);
    }
    assert_int_equal(steno_media_select(m, 1), STENO_OK); /* the second channel of the second track */
    assert_int_equal(steno_media_select_track(m, 1), STENO_OK);
    assert_track(m, 1);
    steno_media_close(m);
    steno_media_params p;
    steno_media_params_init(&p);
    p.track = 1;
    steno_error e = { 0 };
    assert_int_equal(steno_media_open_params(&m, AUDIO "two_tracks.mkv", &p, &e), STENO_OK);
    assert_track(m, 1);
    steno_media_close(m);
}

static void test_a_track_that_is_not_there_is_refused(void **state)
{
    (void)state;
    static const struct { const char *file, *says; int track, film; } of[] = {
        { "two_tracks.mkv", "no audio track 3; the last one is 2", 3, 1 },
        { "two_tracks.mkv", "no audio track -1; the last one is 2", -1, 1 },
        { "zh_phrases.wav", "no audio track 2; the only one is 1", 2, 0 },
    };
    const int has_ffmpeg = strncmp(steno_media_backend(), "FFmpeg", 6) == 0;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        char path[128];
        steno_error e = { 0 };
        steno_media *m = NULL;
        steno_media_params p;
        if (of[i].film && !has_ffmpeg) continue;
        snprintf(path, sizeof path, "%s%s", AUDIO, of[i].file);
        steno_media_params_init(&p);
        p.track = of[i].track;
        assert_int_equal(steno_media_open_params(&m, path, &p, &e), STENO_EUNSUPPORTED);
        if (!strstr(e.text, of[i].says)) fail_msg("%s", e.text);
        m = open_ok(path);
        assert_int_equal(steno_media_select_track(m, of[i].track), STENO_EARG);
        if (!strstr(steno_media_error(m), of[i].says)) fail_msg("%s", steno_media_error(m));
        assert_int_equal(steno_media_select_track(m, 1), STENO_OK);
        steno_media_close(m);
    }
}

static void test_speakers_of_a_stereo_recording_are_apart(void **state)
{
    (void)state;
    char path[1024];
    const char *shared = getenv("STENO_SHARED");
    snprintf(path, sizeof path, "%s/material/whisper-digits/golden/audio/stereo_two.wav", shared ? shared : "");
    if (access(path, R_OK) != 0) skip();
    steno_media *m = open_ok(path);
    assert_int_equal(steno_media_channels(m), 2);
    struct sound ear[2] = { read_channel(m, 0), read_channel(m, 1) };
    static const double spoken[2][2] = { { 0.3, 2.075 }, { 2.6, 4.181 } }; /* seconds, from truth.json beside it */
    for (int c = 0; c < 2; c++) {
        int64_t inside = 0, all = 0;
        assert_int_equal(ear[c].n, 81208);
        for (int64_t i = 0; i < ear[c].n; i++) {
            all += abs(ear[c].v[i]);
            if (i >= (int64_t)(spoken[c][0] * 16000) && i < (int64_t)(spoken[c][1] * 16000)) inside += abs(ear[c].v[i]);
        }
        if (inside * 100 < all * 95) fail_msg("channel %d: %ld of %ld is where it should be", c, (long)inside, (long)all);
        free(ear[c].v);
    }
    steno_media_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_channel_can_be_read_alone),
        cmocka_unit_test(test_a_channel_that_is_not_there_is_refused_and_changes_nothing),
        cmocka_unit_test(test_a_resampled_channel_equals_a_file_of_it_alone),
        cmocka_unit_test(test_channels_without_places_are_mixed_alike),
        cmocka_unit_test(test_channels_of_lossy_films_add_up_to_their_mix),
        cmocka_unit_test(test_tracks_are_those_of_the_ffmpeg_program),
        cmocka_unit_test(test_a_track_that_is_not_there_is_refused),
        cmocka_unit_test(test_speakers_of_a_stereo_recording_are_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
