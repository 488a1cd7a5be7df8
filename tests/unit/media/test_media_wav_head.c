/* steno tests: WAV files whose heads are open, or mislead. SPDX-License-Identifier: MIT
 *
 * What a recorder leaves that was killed, in every kind of WAV file; and 24 bits in 32. */
#include "media_help.h"

enum { N = 4000 };

/* A file: its first bytes, then `fmt `, then the head of the samples with the size that is written in it. */
struct head {
    const char *what;
    const char *name;      /* RIFF, RF64, BW64 */
    const char *size_name; /* of the chunk with the long size, or JUNK in its place; NULL: none */
    uint64_t long_size;
    uint32_t size;
};

static const struct head heads[] = {
    { "a killed RF64", "RF64", "ds64", 0, 0xffffffffu },
    { "one whose long size is -1", "RF64", "ds64", UINT64_MAX, 0xffffffffu },
    { "one whose long size is still JUNK", "RF64", "JUNK", 0, 0xffffffffu },
    { "one without a place for it", "RF64", NULL, 0, 0xffffffffu },
    { "one whose short size is 0", "RF64", "ds64", 0, 0 },
    { "one whose short size is right", "RF64", "ds64", 0, 2 * N },
    { "one whose long size is right", "RF64", "ds64", 2 * N, 0xffffffffu },
    { "one whose long size is too large", "RF64", "ds64", 1000000, 0xffffffffu },
    { "a killed BW64", "BW64", "ds64", 0, 0xffffffffu },
    { "a whole BW64", "BW64", "ds64", 2 * N, 0xffffffffu },
    { "a RIFF of size -1", "RIFF", "JUNK", 0, 0xffffffffu },
    { "a RIFF of size 0", "RIFF", "JUNK", 0, 0 },
    { "a RIFF that is too large", "RIFF", NULL, 0, 1000000 },
};

static void put_format(struct bytes *b, int bits, int channels, int rate, int valid)
{
    put(b, "fmt ", 4);
    put_le(b, valid ? 40 : 16, 4);
    put_le(b, valid ? 0xfffe : 1, 2);
    put_le(b, (uint64_t)channels, 2);
    put_le(b, (uint64_t)rate, 4);
    put_le(b, (uint64_t)(rate * channels * bits / 8), 4);
    put_le(b, (uint64_t)(channels * bits / 8), 2);
    put_le(b, (uint64_t)bits, 2);
    if (!valid) return;
    put_le(b, 22, 2);
    put_le(b, (uint64_t)valid, 2);
    put_le(b, channels == 1 ? 4 : 3, 4);
    put(b, "\1\0\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 16);
}

static void put_riff(struct bytes *b, const struct head *h)
{
    put(b, h->name, 4);
    put_le(b, 0xffffffffu, 4);
    put(b, "WAVE", 4);
    if (!h->size_name) return;
    put(b, h->size_name, 4);
    put_le(b, 28, 4);
    put_le(b, h->long_size, 8);
    put_le(b, h->long_size, 8);
    put(b, (uint8_t[12]){ 0 }, 12);
}

static void read_back(const struct bytes *b, const char *what)
{
    char path[64];
    steno_media *m;
    steno_source src;
    steno_media_params p;
    steno_error e = { 0 };
    temp_file(path, b->p, b->n);
    steno_media_params_init(&p);
    const int rc = steno_media_open_params(&m, path, &p, &e);
    if (rc) fail_msg("%s: %s", what, e.text);
    steno_media_source(m, &src);
    struct sound s = drain(&src, 333);
    if (s.n != N) fail_msg("%s: %d samples, want %d", what, (int)s.n, N);
    for (int i = 0; i < N; i++)
        if (s.v[i] != signal_s32(i) >> 16) fail_msg("%s: sample %d is %d", what, i, s.v[i]);
    steno_media_close(m);
    unlink(path);
    free(s.v);
}

static void test_open_sizes_reach_to_the_end(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        struct bytes b = { .n = 0 };
        put_riff(&b, &heads[i]);
        put_format(&b, 16, 1, 16000, 0);
        put(&b, "data", 4);
        put_le(&b, heads[i].size, 4);
        for (int k = 0; k < N; k++) put_sample(&b, 1, 16, k);
        read_back(&b, heads[i].what);
    }
}

static void test_an_odd_chunk_may_lack_its_padding(void **state)
{
    (void)state;
    for (int padded = 0; padded < 2; padded++) {
        struct bytes b = { .n = 0 };
        put(&b, "RIFF\xff\xff\xff\xffWAVEbext\5\0\0\0words", 25);
        if (padded) put_le(&b, 0, 1);
        put_format(&b, 16, 1, 16000, 0);
        put(&b, "LIST\3\0\0\0abc", 11);
        if (padded) put_le(&b, 0, 1);
        put(&b, "data", 4);
        put_le(&b, 2 * N, 4);
        for (int k = 0; k < N; k++) put_sample(&b, 1, 16, k);
        put(&b, "LIST\4\0\0\0INFO", 12); /* is no sound */
        read_back(&b, padded ? "padded" : "not padded");
    }
}

static void put_wave64(struct bytes *b, const char *name, uint64_t size)
{
    static const uint8_t rest[] = { 0xf3, 0xac, 0xd3, 0x11, 0x8c, 0xd1, 0, 0xc0, 0x4f, 0x8e, 0xdb, 0x8a };
    put(b, name, 4);
    put(b, rest, sizeof rest);
    put_le(b, size, 8);
}

static void test_an_open_wave64_reaches_to_the_end(void **state)
{
    (void)state;
    need_ffmpeg();
    static const uint64_t sizes[] = { 24 + 2 * N, 0, 24, UINT64_MAX, 24 + 1000000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct bytes b = { .n = 0 };
        put(&b, "riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\0\0", 16);
        put_le(&b, sizes[i] ? 1000000 : 0, 8);
        put_wave64(&b, "wave", 0);
        b.n -= 8;
        struct bytes f = { .n = 0 };
        put_format(&f, 16, 1, 16000, 0);
        put_wave64(&b, "fmt ", 24 + 16);
        put(&b, f.p + 8, 16);
        put_wave64(&b, "data", sizes[i]);
        for (int k = 0; k < N; k++) put_sample(&b, 1, 16, k);
        read_back(&b, "Wave64");
    }
}

/* The same sound in containers of 32 bits with fewer valid ones: what counts is where the bits are. */
static void test_fewer_valid_bits_than_a_container_has(void **state)
{
    (void)state;
    need_ffmpeg();
    static const int forms[][3] = { { 16000, 1, 24 }, { 48000, 2, 24 }, { 16000, 1, 20 }, { 48000, 1, 16 }, { 16000, 2, 32 } };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct sound s[2];
        for (int valid = 0; valid < 2; valid++) {
            struct bytes b = { .n = 0 };
            char path[64];
            put(&b, "RIFF\xff\xff\xff\xffWAVE", 12);
            put_format(&b, 32, forms[i][1], forms[i][0], valid ? forms[i][2] : 0);
            put(&b, "data", 4);
            put_le(&b, (uint64_t)(4 * N), 4);
            for (int k = 0; k < N; k++) put_le(&b, (uint32_t)signal_s32(k) & 0xffff0000u, 4);
            put(&b, "LIST\4\0\0\0INFO", 12);
            temp_file(path, b.p, b.n);
            s[valid] = read_file(path);
            unlink(path);
        }
        assert_same(s[1], s[0]);
        free(s[0].v);
        free(s[1].v);
    }
}

/* Heads of random bytes: no length is trusted. */
static void test_damaged_heads_are_refused_or_read(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int round = 0; round < 20000; round++) {
        struct bytes b = { .n = 0 };
        struct media_wav_head out;
        put_riff(&b, &heads[round % (sizeof heads / sizeof *heads)]);
        put_format(&b, 32, 1, 16000, 24);
        put(&b, "data\xff\xff\xff\xffsound", 13);
        for (int k = 0; k < 1 + round % 5; k++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            b.p[(seed >> 33) % b.n] = (uint8_t)(seed >> 56);
        }
        const struct media_input in = { .name = "x", .mem = b.p, .fd = -1, .size = (int64_t)((seed >> 20) % (b.n + 1)) };
        const int64_t skip = media_wav_mend(&out, &in);
        assert_true(skip == -1 || (skip >= 0 && skip <= in.size && out.size <= sizeof out.bytes));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open_sizes_reach_to_the_end),
        cmocka_unit_test(test_an_odd_chunk_may_lack_its_padding),
        cmocka_unit_test(test_an_open_wave64_reaches_to_the_end),
        cmocka_unit_test(test_fewer_valid_bits_than_a_container_has),
        cmocka_unit_test(test_damaged_heads_are_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
