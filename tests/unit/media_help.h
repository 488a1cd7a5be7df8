/* steno tests: helpers for tests of sound files. SPDX-License-Identifier: MIT
 *
 * Reads a source to its end, makes temporary files, and builds WAV files byte by byte. */
#ifndef STENO_TESTS_MEDIA_HELP_H
#define STENO_TESTS_MEDIA_HELP_H
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "harness.h"
#include "media.h"

#define AUDIO "tests/data/audio/"

struct sound {
    int16_t *v; /* [n] */
    int64_t n;
    int64_t status; /* status of the last read: 0 at the end */
};

static inline void need_ffmpeg(void)
{
    if (strncmp(steno_media_backend(), "FFmpeg", 6)) skip();
}

/* Read a source to its end in pieces. */
static inline struct sound drain(const steno_source *src, int64_t piece)
{
    struct sound s = { 0 };
    int64_t cap = 0;
    float *pcm = malloc((size_t)piece * sizeof *pcm);
    assert_non_null(pcm);
    while ((s.status = src->read(src->user, pcm, piece)) > 0) {
        assert_true(s.status <= piece);
        if (s.n + s.status > cap) {
            cap = 2 * (s.n + s.status);
            s.v = realloc(s.v, (size_t)cap * sizeof *s.v);
            assert_non_null(s.v);
        }
        for (int64_t i = 0; i < s.status; i++) {
            s.v[s.n + i] = (int16_t)lrintf(pcm[i] * 32768.0f);
            assert_true((float)s.v[s.n + i] / 32768.0f == pcm[i]);
        }
        s.n += s.status;
    }
    free(pcm);
    return s;
}

static inline steno_media *open_ok(const char *path)
{
    steno_error e = { 0 };
    steno_media *m;
    if (steno_media_open(&m, path, NULL, NULL, &e) != STENO_OK) fail_msg("%s", e.text);
    return m;
}

static inline struct sound read_file(const char *path)
{
    steno_media *m = open_ok(path);
    steno_source src;
    steno_media_source(m, &src);
    const struct sound s = drain(&src, 4801);
    assert_int_equal(s.status, 0);
    steno_media_close(m);
    return s;
}

static inline void assert_same(struct sound a, struct sound b)
{
    assert_int_equal(a.n, b.n);
    assert_true(a.n > 0);
    for (int64_t i = 0; i < a.n; i++)
        if (a.v[i] != b.v[i]) fail_msg("sample %d of %d: %d, want %d", (int)i, (int)a.n, a.v[i], b.v[i]);
}

/* A new temporary file with data[n]; path[] receives its name, the caller unlinks it. */
static inline void temp_file(char path[64], const void *data, size_t n)
{
    strcpy(path, P_tmpdir "/steno-test-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), n);
    close(fd);
}

static inline uint8_t *load(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    uint8_t *p = malloc(1 << 20);
    assert_non_null(p);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

/* ---- WAV files --------------------------------------------------------------------------------------------------------------- */

struct bytes {
    uint8_t p[1 << 16];
    size_t n;
};

static inline void put(struct bytes *b, const void *data, size_t n)
{
    assert_true(n <= sizeof b->p - b->n);
    memcpy(b->p + b->n, data, n);
    b->n += n;
}

static inline void put_le(struct bytes *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) put(b, &(uint8_t){ (uint8_t)(v >> 8 * i) }, 1);
}

/* A WAV header for samples of kind `tag`, up to the body of a data chunk whose size field is data_sz bytes. */
static inline void put_header(struct bytes *b, int tag, int bits, int channels, int rate, int extensible, uint32_t data_sz)
{
    put(b, "RIFF", 4);
    put_le(b, 36 + (uint64_t)data_sz, 4);
    put(b, "WAVELIST\5\0\0\0INFO?\0", 18); /* an odd chunk with its padding, before the format */
    put(b, "fmt ", 4);
    put_le(b, extensible ? 40 : 16, 4);
    put_le(b, (uint64_t)(extensible ? 0xfffe : tag), 2);
    put_le(b, (uint64_t)channels, 2);
    put_le(b, (uint64_t)rate, 4);
    put_le(b, (uint64_t)rate * (uint64_t)(channels * bits / 8), 4);
    put_le(b, (uint64_t)(channels * bits / 8), 2);
    put_le(b, (uint64_t)bits, 2);
    if (extensible) {
        put_le(b, 22, 2);
        put_le(b, (uint64_t)bits, 2);
        put_le(b, channels == 1 ? 4 : 3, 4);
        put_le(b, (uint64_t)tag, 2);
        put(b, "\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71", 14);
    }
    put(b, "data", 4);
    put_le(b, data_sz, 4);
}

/* Sample i of a test signal in the given coding, scaled from a 32-bit value. */
static inline int32_t signal_s32(int i)
{
    static const int32_t edge[] = { 0, INT32_MAX, INT32_MIN, 65535, -65536, 32768, -32768, 1, -1 };
    return i < 9 ? edge[i] : (int32_t)((uint32_t)i * 2654435761u);
}

static inline void put_sample(struct bytes *b, int tag, int bits, int i)
{
    const int32_t v = signal_s32(i);
    if (tag == 3) {
        const double d = v / 2147483648.0 * 1.25; /* some are beyond full scale */
        const float f = (float)d;
        put(b, bits == 32 ? (const void *)&f : (const void *)&d, (size_t)bits / 8);
    } else if (bits == 8) put_le(b, (uint64_t)((v >> 24) + 128), 1);
    else put_le(b, (uint32_t)v >> (32 - bits), bits / 8);
}
#endif
