/* steno tests: raw samples in pieces. SPDX-License-Identifier: MIT */
#include "crc32.h"
#include "harness.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <steno/media.h>

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
 * -acodec pcm_s16le -ar 16000 */
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

/* Pieces of up to `most` bytes. */
static void compare(const struct golden *g, size_t most)
{
    steno_resampler *r;
    steno_error e = { 0 };
    const float *pcm = NULL;
    const uint8_t *bytes = g->type == STENO_SAMPLES_F32LE ? floats : raw;
    const size_t n = g->type == STENO_SAMPLES_F32LE ? sizeof floats : sizeof raw;
    uint32_t seed = (uint32_t)most;
    int64_t got = 0, some;
    if (steno_resampler_open(&r, g->type, g->rate, g->channels, &e)) fail_msg("%s", e.text);
    for (size_t at = 0, k; at < n; at += k) {
        seed = seed * 1664525 + 1013904223;
        k = most < n ? (seed >> 8) % (most + 1) : n;
        if (k > n - at) k = n - at;
        some = steno_resampler_push(r, k ? bytes + at : NULL, k, &pcm, &e);
        if (some < 0) fail_msg("type %d, %d Hz, %d channels, %zu bytes: %s", g->type, g->rate, g->channels, k, e.text);
        got = take(got, pcm, some);
    }
    some = steno_resampler_end(r, &pcm, &e);
    got = take(got, pcm, some);
    const uint32_t crc = crc32_add(0, out, (size_t)got * sizeof *out);
    if (got != g->n || crc != g->crc)
        fail_msg("type %d, %d Hz, %d channels in pieces of up to %zu bytes: %lld samples, CRC %08x", g->type, g->rate, g->channels, most,
                 (long long)got, (unsigned)crc);
    assert_int_equal(steno_resampler_push(r, bytes, 2, &pcm, &e), STENO_EARG);
    assert_int_equal(steno_resampler_end(r, &pcm, &e), STENO_EARG);
    steno_resampler_close(r);
}

static int has_ffmpeg(void)
{
    return strncmp(steno_media_backend(), "FFmpeg", 6) == 0;
}

static void test_pieces_of_any_size_are_those_of_the_ffmpeg_program(void **state)
{
    (void)state;
    static const size_t most[] = { 1, 3, 7, 64, 1000, 4096, 50000, SIZE_MAX };
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) {
        const struct golden *g = &goldens[i];
        if (!has_ffmpeg() && (g->rate != 16000 || g->channels != 1)) continue;
        for (size_t k = 0; k < sizeof most / sizeof *most; k++) compare(g, most[k]);
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
        cmocka_unit_test(test_values_that_are_no_numbers_are_silence),
        cmocka_unit_test(test_values_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, bytes_make, NULL);
}
