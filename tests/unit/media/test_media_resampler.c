/* steno tests: raw samples in pieces. SPDX-License-Identifier: MIT */
#include "crc32.h"
#include "harness.h"
#include "media_version.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <steno/media.h>

#define PI 3.14159265358979323846

enum { N = 96003 /* bytes: not a whole number of most samples */, OUT_MAX = 200000 };

static uint8_t raw[N], floats[N / 2 * 4];

static int bytes_make(void **state)
{
    uint32_t seed = 1;
    (void)state;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        raw[i] = (uint8_t)(seed >> 24);
    }
    for (int i = 0; i < N / 2; i++) { /* some are above 1 */
        const float x = (float)((int16_t)(raw[2 * i] | raw[2 * i + 1] << 8) / 32768. * 1.25);
        memcpy(floats + 4 * i, &x, sizeof x);
    }
    return 0;
}

/* Number and CRC-32 of the samples that the ffmpeg program (5.1) makes of these bytes: -f TYPE -ar RATE -ac CHANNELS -i FILE -f s16le -ac 1
 * -acodec pcm_s16le -ar 16000. Later versions round 16 bits at other rates in another way: there the numbers of samples are the same, and
 * the tones below have bounds. */
static const struct golden { int type, rate, channels; int64_t n; uint32_t crc; } goldens[] = {
    { STENO_SAMPLES_S16LE, 8000, 1, 96002, 0xea72adac },  { STENO_SAMPLES_S16LE, 11025, 1, 69662, 0x90a29978 },
    { STENO_SAMPLES_S16LE, 16000, 1, 48001, 0x90bae9e7 }, { STENO_SAMPLES_S16LE, 16000, 2, 24000, 0x12280be1 },
    { STENO_SAMPLES_S16LE, 22050, 2, 17415, 0xb4df2da5 }, { STENO_SAMPLES_S16LE, 24000, 1, 32001, 0x03805ac5 },
    { STENO_SAMPLES_S16LE, 44100, 2, 8708, 0x42ca4729 },  { STENO_SAMPLES_S16LE, 48000, 1, 16000, 0xa784cc29 },
    { STENO_SAMPLES_S16LE, 48000, 8, 2000, 0xac0cb52b },  { STENO_SAMPLES_S16LE, 192000, 3, 1334, 0x8dd7163d },
    { STENO_SAMPLES_F32LE, 16000, 1, 48001, 0x4addc528 }, { STENO_SAMPLES_F32LE, 24000, 1, 32001, 0x439c6ece },
    { STENO_SAMPLES_F32LE, 48000, 2, 8000, 0xe8cab294 },  { STENO_SAMPLES_S32LE, 16000, 1, 24000, 0xfa8a8d68 },
    { STENO_SAMPLES_S32LE, 44100, 1, 8708, 0x69342d81 },  { STENO_SAMPLES_U8, 16000, 1, 96003, 0x22d4f00b },
    { STENO_SAMPLES_U8, 8000, 1, 192006, 0x72d1088f },    { STENO_SAMPLES_ULAW, 8000, 1, 192006, 0x640cba97 },
    { STENO_SAMPLES_ULAW, 16000, 1, 96003, 0x0fd1f8eb },  { STENO_SAMPLES_ULAW, 8000, 2, 96002, 0xe80d7e58 },
    { STENO_SAMPLES_ALAW, 8000, 1, 192006, 0xeb39d740 },  { STENO_SAMPLES_ALAW, 16000, 1, 96003, 0x21b8d4b9 },
    { STENO_SAMPLES_ALAW, 11025, 1, 139325, 0xde01e0c2 },
};

static int16_t out[OUT_MAX];

static int64_t take(int64_t at, const float *pcm, int64_t n)
{
    assert_true(n >= 0 && at + n <= OUT_MAX);
    for (int64_t i = 0; i < n; i++) {
        out[at + i] = (int16_t)(pcm[i] * 32768);
        assert_true((float)out[at + i] == pcm[i] * 32768);
    }
    return at + n;
}

/* bytes[n] in pieces of up to `most` bytes, to out[]. @return the number of samples */
static int64_t convert(int type, int rate, int channels, const uint8_t *bytes, size_t n, size_t most)
{
    steno_resampler *r;
    steno_error e = { 0 };
    const float *pcm = NULL;
    uint32_t seed = (uint32_t)most;
    int64_t got = 0, some;
    if (steno_resampler_open(&r, type, rate, channels, &e)) fail_msg("%s", e.text);
    for (size_t at = 0, k; at < n; at += k) {
        seed = seed * 1664525 + 1013904223;
        k = most < n ? (seed >> 8) % (most + 1) : n;
        if (k > n - at) k = n - at;
        some = steno_resampler_push(r, k ? bytes + at : NULL, k, &pcm, &e);
        if (some < 0) fail_msg("type %d, %d Hz, %d channels, %zu bytes: %s", type, rate, channels, k, e.text);
        got = take(got, pcm, some);
    }
    some = steno_resampler_end(r, &pcm, &e);
    got = take(got, pcm, some);
    assert_int_equal(steno_resampler_push(r, bytes, 2, &pcm, &e), STENO_EARG);
    assert_int_equal(steno_resampler_end(r, &pcm, &e), STENO_EARG);
    steno_resampler_close(r);
    return got;
}

/* Whether every version of FFmpeg gives the same bits. */
static int is_exact(const struct golden *g)
{
    const int is_short = g->type == STENO_SAMPLES_S16LE || g->type == STENO_SAMPLES_ULAW || g->type == STENO_SAMPLES_ALAW;
    return !is_short || g->rate == 16000 || media_is_ffmpeg_5();
}

/* In pieces of any size. */
static void compare(const struct golden *g)
{
    static const size_t most[] = { SIZE_MAX, 1, 3, 7, 64, 1000, 4096, 50000 };
    const uint8_t *bytes = g->type == STENO_SAMPLES_F32LE ? floats : raw;
    const size_t n = g->type == STENO_SAMPLES_F32LE ? sizeof floats : sizeof raw;
    uint32_t want = g->crc;
    for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
        const int64_t got = convert(g->type, g->rate, g->channels, bytes, n, most[k]);
        const uint32_t crc = crc32_add(0, out, (size_t)got * sizeof *out);
        if (k == 0 && !is_exact(g)) want = crc; /* the bits of the whole */
        if (got != g->n || crc != want)
            fail_msg("type %d, %d Hz, %d channels in pieces of up to %zu bytes: %lld samples, CRC %08x", g->type, g->rate, g->channels,
                     most[k], (long long)got, (unsigned)crc);
    }
}

static int has_ffmpeg(void)
{
    return strncmp(steno_media_backend(), "FFmpeg", 6) == 0;
}

static void test_pieces_of_any_size_are_those_of_the_ffmpeg_program(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        const struct golden *g = &goldens[i];
        if (!has_ffmpeg() && (g->rate != 16000 || g->channels != 1)) continue;
        compare(g);
    }
}

/* Codes of telephones give the bits of the numbers that they stand for, at any rate and in any version of FFmpeg. */
static void test_codes_are_converted_as_their_numbers(void **state)
{
    static const struct { int rate, channels; } as[] = { { 8000, 1 }, { 8000, 2 }, { 11025, 1 }, { 48000, 3 } };
    static int16_t numbers[N], want[OUT_MAX];
    (void)state;
    if (!has_ffmpeg()) skip();
    for (int type = STENO_SAMPLES_ULAW; type <= STENO_SAMPLES_ALAW; type++) {
        assert_int_equal(convert(type, 16000, 1, raw, N, SIZE_MAX), N);
        memcpy(numbers, out, sizeof numbers);
        for (size_t i = 0; i < sizeof as / sizeof *as; i++) {
            const int64_t n = convert(STENO_SAMPLES_S16LE, as[i].rate, as[i].channels, (const uint8_t *)numbers, sizeof numbers, 4096);
            memcpy(want, out, (size_t)n * sizeof *out);
            assert_int_equal(convert(type, as[i].rate, as[i].channels, raw, N, 1000), n);
            assert_memory_equal(out, want, (size_t)n * sizeof *out);
        }
    }
}

/* Channel c at time t: tones below 3 kHz, which every rate has. */
static double tone(int c, double t)
{
    return 0.2 * sin(2 * PI * (310 + 270 * c) * t) + 0.1 * sin(2 * PI * (1130 + 210 * c) * t + c);
}

static size_t put_tone(uint8_t *to, int type, double x)
{
    const int16_t s16 = (int16_t)lrint(x * 32767);
    const int32_t s32 = (int32_t)lrint(x * INT32_MAX);
    const float f32 = (float)x;
    if (type == STENO_SAMPLES_S16LE) return memcpy(to, &s16, sizeof s16), sizeof s16;
    if (type == STENO_SAMPLES_S32LE) return memcpy(to, &s32, sizeof s32), sizeof s32;
    return memcpy(to, &f32, sizeof f32), sizeof f32;
}

/* A tone has the same value at the same time at any rate, and channels are mixed to their mean. */
static void test_tones_stay_as_they_are(void **state)
{
    static const struct { int type, rate, channels; } as[] = {
        { STENO_SAMPLES_S16LE, 8000, 1 },  { STENO_SAMPLES_S16LE, 11025, 2 }, { STENO_SAMPLES_S16LE, 22050, 2 },
        { STENO_SAMPLES_S16LE, 24000, 1 }, { STENO_SAMPLES_S16LE, 44100, 2 }, { STENO_SAMPLES_S16LE, 48000, 1 },
        { STENO_SAMPLES_S16LE, 48000, 2 }, { STENO_SAMPLES_S16LE, 192000, 1 }, { STENO_SAMPLES_F32LE, 8000, 2 },
        { STENO_SAMPLES_F32LE, 44100, 1 }, { STENO_SAMPLES_S32LE, 48000, 2 },
    };
    enum { EDGE = 100 /* samples in which a filter has not all of its input */, FRAMES = 20000, MOST_OFF = 3 };
    static uint8_t bytes[FRAMES * 8];
    (void)state;
    if (!has_ffmpeg()) skip();
    for (size_t i = 0; i < sizeof as / sizeof *as; i++) {
        size_t n = 0;
        for (int k = 0; k < FRAMES; k++)
            for (int c = 0; c < as[i].channels; c++) n += put_tone(bytes + n, as[i].type, tone(c, (double)k / as[i].rate));
        const int64_t got = convert(as[i].type, as[i].rate, as[i].channels, bytes, n, 1000);
        const double length = FRAMES * 16000. / as[i].rate;
        if (fabs((double)got - length) > 1.5) fail_msg("%d Hz: %lld samples, want %.1f", as[i].rate, (long long)got, length);
        for (int64_t k = EDGE; k < got - EDGE; k++) {
            double want = 0;
            for (int c = 0; c < as[i].channels; c++) want += tone(c, (double)k / 16000) * 32768 / as[i].channels;
            if (fabs(out[k] - want) > MOST_OFF)
                fail_msg("type %d, %d Hz, %d channels: sample %d is %d, want %.1f", as[i].type, as[i].rate, as[i].channels, (int)k, out[k],
                         want);
        }
    }
}

static void test_values_that_are_no_numbers_are_silence(void **state)
{
    (void)state;
    const float in[] = { NAN, INFINITY, -INFINITY, 2, -2, 0.5f }, want[] = { 0, 0, 0, 32767 / 32768.f, -1, 0.5f };
    steno_resampler *r;
    steno_error e = { 0 };
    const float *pcm;
    assert_int_equal(steno_resampler_open(&r, STENO_SAMPLES_F32LE, 16000, 1, &e), STENO_OK);
    assert_int_equal(steno_resampler_push(r, in, sizeof in, &pcm, &e), 6);
    assert_memory_equal(pcm, want, sizeof want);
    assert_int_equal(steno_resampler_end(r, &pcm, &e), 0);
    steno_resampler_close(r);
}

static void test_values_out_of_range_are_refused(void **state)
{
    (void)state;
    static const struct { int type, rate, channels; const char *says; } of[] = {
        { -1, 16000, 1, "type is -1" },   { 6, 16000, 1, "type is 6" },     { 0, 7999, 1, "7999 Hz, not 8000 to 192000" },
        { 0, 192001, 1, "192001 Hz" },    { 0, INT32_MIN, 1, "Hz" },        { 0, INT32_MAX, 1, "Hz" },
        { 0, 16000, 0, "is 0, not 1 to 8" }, { 0, 16000, 9, "is 9, not" }, { 0, 16000, INT32_MAX, "channels" },
    };
    steno_resampler *r = (void *)&r;
    const float *pcm;
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        steno_error e = { 0 };
        r = (void *)&r;
        assert_int_equal(steno_resampler_open(&r, of[i].type, of[i].rate, of[i].channels, &e), STENO_EARG);
        assert_null(r);
        if (!strstr(e.text, of[i].says)) fail_msg("\"%s\"", e.text);
    }
    assert_int_equal(steno_resampler_open(NULL, 0, 16000, 1, NULL), STENO_EARG);
    assert_int_equal(steno_resampler_open(&r, STENO_SAMPLES_S16LE, 16000, 1, NULL), STENO_OK);
    assert_int_equal(steno_resampler_push(r, NULL, 1, &pcm, NULL), STENO_EARG);
    assert_int_equal(steno_resampler_push(r, raw, 1, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_resampler_push(NULL, raw, 1, &pcm, NULL), STENO_EARG);
    assert_int_equal(steno_resampler_end(NULL, &pcm, NULL), STENO_EARG);
    steno_resampler_close(r);
    steno_resampler_close(NULL);
    if (has_ffmpeg()) return;
    steno_error e = { 0 };
    assert_int_equal(steno_resampler_open(&r, STENO_SAMPLES_S16LE, 24000, 1, &e), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "conversion needs FFmpeg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_any_size_are_those_of_the_ffmpeg_program),
        cmocka_unit_test(test_codes_are_converted_as_their_numbers),
        cmocka_unit_test(test_tones_stay_as_they_are),
        cmocka_unit_test(test_values_that_are_no_numbers_are_silence),
        cmocka_unit_test(test_values_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, bytes_make, NULL);
}
