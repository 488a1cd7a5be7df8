/* steno tests: the built-in reader of WAV files. SPDX-License-Identifier: MIT */
#include "media_help.h"

static int wav_status(const struct bytes *b, steno_error *e)
{
    atomic_int stop = 0;
    uint8_t *copy = malloc(b->n ? b->n : 1); /* its own block: reading past the end is seen */
    assert_non_null(copy);
    memcpy(copy, b->p, b->n);
    const struct media_input in = { .name = "test.wav", .mem = copy, .fd = -1, .size = (int64_t)b->n, .stop = &stop };
    void *d;
    const int status = media_wav.open(&d, &in, e);
    if (status == STENO_OK) assert_true(media_wav.duration_ms(d) >= 0);
    else assert_null(d);
    media_wav.close(d);
    free(copy);
    return status;
}

static struct sound wav_read_channel(const struct bytes *b, int channel)
{
    atomic_int stop = 0;
    const struct media_input in = { .name = "test.wav", .mem = b->p, .fd = -1, .size = (int64_t)b->n, .stop = &stop };
    steno_error e = { 0 };
    void *d;
    if (media_wav.open(&d, &in, &e) != STENO_OK) fail_msg("%s", e.text);
    struct sound s = { .v = malloc(sizeof b->p) };
    assert_non_null(s.v);
    media_wav.select(d, channel);
    assert_int_equal(media_wav.rewind(d, &e), STENO_OK);
    float pcm[777];
    for (int64_t got; (got = media_wav.read(d, pcm, 777, &e)) > 0;)
        for (int64_t i = 0; i < got; i++) s.v[s.n++] = (int16_t)lrintf(pcm[i] * 32768.0f);
    assert_int_equal(media_wav.rewind(d, &e), STENO_OK);
    assert_int_equal(media_wav.read(d, pcm, 1, &e), s.n ? 1 : 0);
    assert_true(s.n == 0 || pcm[0] * 32768.0f == s.v[0]);
    media_wav.close(d);
    return s;
}

static struct sound wav_read_all(const struct bytes *b)
{
    return wav_read_channel(b, STENO_MEDIA_MIX);
}

static void test_wav_codings_keep_their_upper_16_bits(void **state)
{
    (void)state;
    static const int bits[] = { 8, 16, 24, 32 };
    for (int extensible = 0; extensible < 2; extensible++)
        for (int k = 0; k < 4; k++) {
            struct bytes b = { .n = 0 };
            put_header(&b, 1, bits[k], 1, 16000, extensible, (uint32_t)(1000 * bits[k] / 8));
            for (int i = 0; i < 1000; i++) put_sample(&b, 1, bits[k], i);
            struct sound s = wav_read_all(&b);
            assert_int_equal(s.n, 1000);
            for (int i = 0; i < 1000; i++) assert_int_equal(s.v[i], bits[k] == 8 ? (signal_s32(i) >> 24) * 256 : signal_s32(i) >> 16);
            free(s.v);
        }
}

static void test_wav_float_is_rounded_and_cut_off(void **state)
{
    (void)state;
    for (int bits = 32; bits <= 64; bits += 32) {
        struct bytes b = { .n = 0 };
        put_header(&b, 3, bits, 1, 16000, 0, (uint32_t)(500 * bits / 8));
        for (int i = 0; i < 500; i++) put_sample(&b, 3, bits, i);
        struct sound s = wav_read_all(&b);
        assert_int_equal(s.n, 500);
        for (int i = 0; i < 500; i++) {
            const double want = signal_s32(i) / 2147483648.0 * 1.25 * 32768;
            assert_true(fabs(s.v[i] - (want > 32767 ? 32767 : want < -32768 ? -32768 : want)) <= 0.5 + 1e-3);
        }
        free(s.v);
    }
}

static void test_wav_channels_are_averaged(void **state)
{
    (void)state;
    struct bytes b = { .n = 0 };
    put_header(&b, 1, 16, 2, 16000, 0, 12);
    static const int16_t pairs[] = { 100, 300, -32768, -32768, 32767, 32767 };
    for (int i = 0; i < 6; i++) put_le(&b, (uint16_t)pairs[i], 2);
    struct sound s = wav_read_all(&b);
    assert_int_equal(s.n, 3);
    assert_true(s.v[0] == 200 && s.v[1] == -32768 && s.v[2] == 32767);
    free(s.v);
}

static void test_wav_channels_can_be_picked_in_every_coding(void **state)
{
    (void)state;
    static const int forms[][2] = { { 1, 8 }, { 1, 16 }, { 1, 24 }, { 1, 32 }, { 3, 32 }, { 3, 64 } };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const int tag = forms[i][0], bits = forms[i][1], sz = bits / 8;
        struct bytes b = { .n = 0 };
        put_header(&b, tag, bits, 3, 16000, 0, (uint32_t)(2000 * 3 * sz));
        const size_t head = b.n;
        for (int k = 0; k < 3 * 2000; k++) put_sample(&b, tag, bits, k);
        for (int c = 0; c < 3; c++) {
            struct bytes one = { .n = 0 };
            put_header(&one, tag, bits, 1, 16000, 0, (uint32_t)(2000 * sz));
            for (int k = 0; k < 2000; k++) put(&one, b.p + head + (size_t)((3 * k + c) * sz), (size_t)sz);
            struct sound got = wav_read_channel(&b, c), want = wav_read_all(&one);
            assert_same(got, want);
            free(got.v);
            free(want.v);
        }
    }
}

static void test_wav_with_wrong_sizes_gives_the_decodable_samples(void **state)
{
    (void)state;
    static const struct { uint32_t says; int has, want; } cases[] = {
        { 2000, 2000, 1000 }, { 2000, 1501, 750 }, { 0xffffffff, 2000, 1000 }, { 0, 2000, 1000 }, { 100, 2000, 50 }, { 2001, 2001, 1000 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = { .n = 0 };
        put_header(&b, 1, 16, 1, 16000, 0, cases[i].says);
        for (int k = 0; k < cases[i].has; k++) put_le(&b, (uint64_t)(k * 7), 1);
        struct sound s = wav_read_all(&b);
        assert_int_equal(s.n, cases[i].want);
        free(s.v);
    }
}

static void test_wav_that_cannot_be_read_is_refused_by_name(void **state)
{
    (void)state;
    static const struct { int tag, bits, channels, rate, status; } cases[] = {
        { 1, 16, 1, 200000, STENO_EUNSUPPORTED }, { 6, 8, 1, 16000, STENO_EUNSUPPORTED }, { 1, 12, 1, 16000, STENO_EUNSUPPORTED },
        { 3, 16, 1, 16000, STENO_EUNSUPPORTED }, { 1, 16, 0, 16000, STENO_EFORMAT },     { 1, 16, 300, 16000, STENO_EFORMAT },
    };
    steno_error e;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes b = { .n = 0 };
        put_header(&b, cases[i].tag, cases[i].bits, cases[i].channels, cases[i].rate, 0, 100);
        put(&b, (uint8_t[100]){ 0 }, 100);
        assert_int_equal(wav_status(&b, &e), cases[i].status);
        assert_true(strncmp(e.text, "test.wav: ", 10) == 0);
    }
    struct bytes whole = { .n = 0 };
    put_header(&whole, 1, 16, 1, 16000, 1, 100);
    put(&whole, (uint8_t[100]){ 0 }, 100);
    for (size_t n = 0; n <= whole.n; n++) { /* cut anywhere: an error until one sample is there */
        struct bytes b = whole;
        b.n = n;
        const int ok = wav_status(&b, &e) == STENO_OK;
        assert_int_equal(ok, n >= whole.n - 98);
    }
}

/* A tone of `tone` Hz at rate `hz`, as WAV. */
static void tone_wav(struct bytes *b, int hz, double tone, int n)
{
    b->n = 0;
    put_header(b, 1, 16, 1, hz, 0, (uint32_t)(2 * n));
    for (int i = 0; i < n; i++) put_le(b, (uint64_t)lrint(16000 * sin(2 * M_PI * tone * i / hz)) & 0xffff, 2);
}

static void test_wav_at_other_rates_keeps_tones_that_16_khz_can_have(void **state)
{
    (void)state;
    static const int rates[] = { 4000, 8000, 11025, 22050, 32000, 44100, 47999, 48000, 96000, 192000 };
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        struct bytes b;
        const int n = rates[k] / 10, edge = 100;
        tone_wav(&b, rates[k], 440, n);
        struct sound s = wav_read_all(&b);
        assert_in_range(s.n, 1600 - 4, 1600 + 4);
        for (int i = edge; i < (int)s.n - edge; i++)
            assert_true(fabs(s.v[i] - 16000 * sin(2 * M_PI * 440 * i / 16000)) < 8); /* 66 dB below the tone */
        free(s.v);
        if (rates[k] < 2 * 10000) continue;
        tone_wav(&b, rates[k], 9500, n);
        s = wav_read_all(&b);
        for (int i = edge; i < (int)s.n - edge; i++) assert_in_range(s.v[i] + 8, 0, 16); /* it would be heard at 6500 Hz */
        free(s.v);
    }
}

static void test_wav_at_other_rates_does_not_depend_on_how_it_is_read(void **state)
{
    (void)state;
    static const int rates[] = { 8000, 11025, 44100, 48000 };
    static float all[4096], pcm[4096];
    for (size_t k = 0; k < sizeof rates / sizeof *rates; k++) {
        struct bytes b;
        atomic_int stop = 0;
        tone_wav(&b, rates[k], 700, rates[k] / 5);
        const struct media_input in = { .name = "test.wav", .mem = b.p, .fd = -1, .size = (int64_t)b.n, .stop = &stop };
        steno_error e;
        void *d;
        assert_int_equal(media_wav.open(&d, &in, &e), STENO_OK);
        assert_int_equal(media_wav.duration_ms(d), 200);
        int64_t n = 0;
        for (int64_t got; (got = media_wav.read(d, all + n, 1 + n % 37, &e)) > 0;) n += got;
        assert_int_equal(n, 3200);
        for (int64_t from = 0; from <= n + 1; from += 97) {
            assert_int_equal(media_wav.rewind(d, &e), STENO_OK);
            const int64_t at = (media_wav.skip)(d, from, &e);
            assert_int_equal(at, from < n ? from : n);
            int64_t have = 0;
            for (int64_t got; (got = media_wav.read(d, pcm + have, 1000, &e)) > 0;) have += got;
            assert_int_equal(at + have, n);
            if (have) assert_memory_equal(pcm, all + at, (size_t)have * sizeof *pcm);
        }
        media_wav.close(d);
    }
}

static void test_wav_reader_equals_ffmpeg(void **state)
{
    (void)state;
    need_ffmpeg();
    static const int forms[][3] = { { 1, 8, 1 }, { 1, 16, 1 }, { 1, 24, 1 }, { 1, 32, 1 }, { 3, 32, 1 }, { 3, 64, 1 }, { 1, 16, 2 } };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct bytes b = { .n = 0 };
        const int tag = forms[i][0], bits = forms[i][1], channels = forms[i][2];
        put_header(&b, tag, bits, channels, 16000, 0, (uint32_t)(3000 * channels * bits / 8));
        for (int k = 0; k < 3000 * channels; k++) put_sample(&b, tag, bits, k);
        char path[64];
        temp_file(path, b.p, b.n);
        struct sound own = wav_read_all(&b), ffmpeg = read_file(path);
        assert_same(own, ffmpeg);
        unlink(path);
        free(own.v);
        free(ffmpeg.v);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wav_codings_keep_their_upper_16_bits),
        cmocka_unit_test(test_wav_float_is_rounded_and_cut_off),
        cmocka_unit_test(test_wav_channels_are_averaged),
        cmocka_unit_test(test_wav_channels_can_be_picked_in_every_coding),
        cmocka_unit_test(test_wav_with_wrong_sizes_gives_the_decodable_samples),
        cmocka_unit_test(test_wav_that_cannot_be_read_is_refused_by_name),
        cmocka_unit_test(test_wav_at_other_rates_keeps_tones_that_16_khz_can_have),
        cmocka_unit_test(test_wav_at_other_rates_does_not_depend_on_how_it_is_read),
        cmocka_unit_test(test_wav_reader_equals_ffmpeg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
