/* steno tests: sound files to samples. SPDX-License-Identifier: MIT
 *
 * What tests/data/audio must decode to was computed with the ffmpeg program (5.1): `ffmpeg -i FILE -f s16le -ac 1 -acodec pcm_s16le
 * -ar 16000 -`. Lossless codings are compared by CRC-32. Some lossy decoders round differently from processor to processor, so those are
 * compared in length, loudness and at eight places. */
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>
#include "crc32.h"
#include "media.h"

#ifndef STENO_TEST_DATA
#define STENO_TEST_DATA "tests/data"
#endif
#define AUDIO STENO_TEST_DATA "/audio/"

/* ---- helpers ----------------------------------------------------------------------------------------------------------------- */

struct sound {
    int16_t *v; /* [n] */
    int64_t n;
    int64_t status; /* of the last read: 0 at the end */
};

static void need_ffmpeg(void)
{
    if (strncmp(steno_media_backend(), "FFmpeg", 6)) skip();
}

/* Read a source to its end in pieces. */
static struct sound drain(const steno_source *src, int64_t piece)
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

static steno_media *open_ok(const char *path)
{
    steno_error e = { 0 };
    steno_media *m;
    if (steno_media_open(&m, path, NULL, NULL, &e) != STENO_OK) fail_msg("%s", e.text);
    return m;
}

static struct sound read_file(const char *path)
{
    steno_media *m = open_ok(path);
    steno_source src;
    steno_media_source(m, &src);
    const struct sound s = drain(&src, 4801);
    assert_int_equal(s.status, 0);
    steno_media_close(m);
    return s;
}

static void assert_same(struct sound a, struct sound b)
{
    assert_int_equal(a.n, b.n);
    for (int64_t i = 0; i < a.n; i++)
        if (a.v[i] != b.v[i]) fail_msg("sample %d of %d: %d, want %d", (int)i, (int)a.n, a.v[i], b.v[i]);
}

/* A new temporary file with data[n]; path[] receives its name, the caller unlinks it. */
static void temp_file(char path[64], const void *data, size_t n)
{
    strcpy(path, P_tmpdir "/steno-test-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, data, n), n);
    close(fd);
}

static uint8_t *load(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    uint8_t *p = malloc(1 << 20);
    assert_non_null(p);
    *n = fread(p, 1, 1 << 20, f);
    fclose(f);
    return p;
}

/* Open path, expecting `status` and a one-line reason that names the path. */
static void assert_refused(const char *path, int status)
{
    steno_error e = { 0 };
    steno_media *m = (steno_media *)(void *)&e;
    const int got = steno_media_open(&m, path, NULL, NULL, &e);
    if (got != status) fail_msg("%s: status %d (%s), want %d", path, got, e.text, status);
    assert_null(m);
    assert_int_equal(e.status, status);
    assert_true(strncmp(e.text, path, strlen(path)) == 0 && strlen(e.text) > strlen(path) + 4);
    assert_null(strchr(e.text, '\n'));
    assert_int_equal(steno_media_open(&m, path, NULL, NULL, NULL), status);
}

/* ---- containers -------------------------------------------------------------------------------------------------------------- */

struct expected {
    const char *name;
    int64_t n;
    uint32_t crc;      /* 0: lossy */
    int64_t loudness;  /* sum of |sample| */
    int at_ninth[8];   /* samples n/9, 2n/9, … of lossy sounds */
};

static const struct expected sounds[] = {
    { "de.m4a", 80896, 0, 70967668, { 2877, 11, 20, -44, 19, -6493, 2324, -2488 } },
    { "de.opus", 24000, 0, 16904375, { 15, -6, 364, -2567, -5, -3968, -615, -248 } },
    { "de_22k.mp3", 24000, 0, 16802061, { 17, 4, 714, -2368, -4, -4057, -754, -705 } },
    { "de_8k.wav", 44892, 0xf23b9881, 39475427, { 0 } },
    { "de_alaw_48k.wav", 8000, 0x83f78c2d, 7613330, { 0 } },
    { "de_six.flac", 4800, 0x69edc8c3, 3117539, { 0 } },
    { "de_stereo.ogg", 24000, 0, 12457659, { 13, -4, 371, -1832, 10, -3297, -471, -550 } },
    { "de_video.mkv", 24000, 0, 16904375, { 15, -6, 364, -2567, -5, -3968, -615, -248 } },
    { "de_video.mp4", 24064, 0, 18439984, { -17, 4, 352, -1137, 64, 5560, -252, -156 } },
    { "fr.flac", 65686, 0xd4907b63, 40172470, { 0 } },
    { "zh_phrases.wav", 115498, 0xd1d3d119, 104753629, { 0 } },
};

static void test_containers_decode_to_the_samples_of_the_ffmpeg_program(void **state)
{
    (void)state;
    need_ffmpeg();
    for (size_t i = 0; i < sizeof sounds / sizeof *sounds; i++) {
        const struct expected *want = &sounds[i];
        char path[256];
        snprintf(path, sizeof path, "%s%s", AUDIO, want->name);
        struct sound s = read_file(path);
        if (s.n != want->n) fail_msg("%s: %d samples, want %d", want->name, (int)s.n, (int)want->n);
        int64_t loudness = 0;
        for (int64_t k = 0; k < s.n; k++) loudness += abs(s.v[k]);
        if (llabs(loudness - want->loudness) > (want->crc ? 0 : want->loudness / 1000))
            fail_msg("%s: loudness %ld, want %ld", want->name, (long)loudness, (long)want->loudness);
        const uint32_t crc = crc32_add(0, s.v, (size_t)s.n * sizeof *s.v);
        if (want->crc && crc != want->crc) fail_msg("%s: CRC %08x, want %08x", want->name, (unsigned)crc, (unsigned)want->crc);
        for (int k = 0; !want->crc && k < 8; k++) {
            const int got = s.v[s.n * (k + 1) / 9];
            if (abs(got - want->at_ninth[k]) > 3) fail_msg("%s: sample %d/9 is %d, want %d", want->name, k + 1, got, want->at_ninth[k]);
        }
        free(s.v);
    }
}

static void test_wav_at_16_khz_needs_no_ffmpeg(void **state)
{
    (void)state;
    struct sound s = read_file(AUDIO "zh_phrases.wav");
    assert_int_equal(s.n, 115498);
    assert_int_equal(crc32_add(0, s.v, (size_t)s.n * sizeof *s.v), 0xd1d3d119);
    free(s.v);
}

static void test_rewind_gives_the_same_samples_again(void **state)
{
    (void)state;
    need_ffmpeg();
    static const char *const names[] = { AUDIO "de.m4a", AUDIO "de_22k.mp3", AUDIO "de.opus", AUDIO "fr.flac", AUDIO "zh_phrases.wav" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        steno_media *m = open_ok(names[i]);
        steno_source src;
        steno_media_source(m, &src);
        float some[1000];
        struct sound all = drain(&src, 16000);
        for (int again = 0; again < 2; again++) { /* from the end, and from the middle */
            assert_int_equal(src.rewind(src.user), 0);
            struct sound s = drain(&src, 333);
            assert_same(s, all);
            free(s.v);
            assert_int_equal(src.rewind(src.user), 0);
            assert_true(src.read(src.user, some, 1000) > 0);
        }
        assert_string_equal(steno_media_error(m), "");
        assert_int_equal(steno_media_damaged_packets(m), 0);
        free(all.v);
        steno_media_close(m);
    }
}

static void test_duration_is_what_the_container_declares(void **state)
{
    (void)state;
    steno_media *m = open_ok(AUDIO "zh_phrases.wav");
    assert_in_range(steno_media_duration_ms(m), 7217, 7219); /* 115498 samples */
    steno_media_close(m);
}

static void test_damaged_packets_are_skipped_and_counted(void **state)
{
    (void)state;
    need_ffmpeg();
    size_t n;
    uint8_t *p = load(AUDIO "fr.flac", &n);
    for (size_t i = n / 2; i < n / 2 + 4000; i++) p[i] ^= 0x55;
    char path[64];
    temp_file(path, p, n);
    steno_media *m = open_ok(path);
    steno_source src;
    steno_media_source(m, &src);
    struct sound s = drain(&src, 16000);
    assert_int_equal(s.status, 0);
    assert_true(s.n > 40000 && s.n < 65686);
    assert_true(steno_media_damaged_packets(m) > 0);
    steno_media_close(m);
    unlink(path);
    free(s.v);
    free(p);
}

/* ---- pipes ------------------------------------------------------------------------------------------------------------------- */

/* A child that writes data[n] to fd. */
static pid_t feed(int fd, const uint8_t *data, size_t n)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        while (n > 0) {
            const ssize_t put = write(fd, data, n < 5000 ? n : 5000);
            if (put <= 0) _exit(1);
            data += put;
            n -= (size_t)put;
        }
        _exit(0);
    }
    return child;
}

/* Decode "-" while standard input is `fd`, which is closed. */
static struct sound read_stdin(int fd)
{
    const int saved = dup(STDIN_FILENO);
    assert_true(saved >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    close(fd);
    struct sound s = read_file("-");
    assert_true(dup2(saved, STDIN_FILENO) == STDIN_FILENO);
    close(saved);
    return s;
}

static void test_pipe_gives_the_samples_of_the_file(void **state)
{
    (void)state;
    /* ends of files matter: an MP4 index at the end, the trimmed end of an MP3 */
    static const char *const names[] = { AUDIO "zh_phrases.wav", AUDIO "de_video.mp4", AUDIO "de_22k.mp3" };
    const size_t n_names = strncmp(steno_media_backend(), "FFmpeg", 6) ? 1 : 3;
    for (size_t i = 0; i < n_names; i++) {
        size_t n;
        uint8_t *p = load(names[i], &n);
        int ends[2], status;
        assert_int_equal(pipe(ends), 0);
        const pid_t child = feed(ends[1], p, n);
        close(ends[1]);
        struct sound want = read_file(names[i]), got = read_stdin(ends[0]);
        assert_same(got, want);
        assert_true(waitpid(child, &status, 0) == child && status == 0);
        free(got.v);
        free(want.v);
        free(p);
    }
}

static void test_redirected_file_is_read_as_standard_input(void **state)
{
    (void)state;
    struct sound want = read_file(AUDIO "zh_phrases.wav"), got = read_stdin(open(AUDIO "zh_phrases.wav", O_RDONLY));
    assert_same(got, want);
    free(got.v);
    free(want.v);
}

static void test_fifo_waits_for_its_writer(void **state)
{
    (void)state;
    char dir[] = P_tmpdir "/steno-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/fifo", dir);
    assert_int_equal(mkfifo(path, 0600), 0);
    size_t n;
    uint8_t *p = load(AUDIO "zh_phrases.wav", &n);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        const int fd = open(path, O_WRONLY); /* blocks until the reader is there */
        const pid_t writer = fd < 0 ? -1 : feed(fd, p, n);
        int status = 1;
        if (writer > 0) waitpid(writer, &status, 0);
        _exit(status != 0);
    }
    struct sound want = read_file(AUDIO "zh_phrases.wav"), got = read_file(path);
    int status;
    assert_true(waitpid(child, &status, 0) == child && status == 0);
    assert_same(got, want);
    unlink(path);
    rmdir(dir);
    free(got.v);
    free(want.v);
    free(p);
}

static int stop_at_third(void *user)
{
    return ++*(int *)user >= 3;
}

static void test_stop_ends_spooling_of_a_silent_pipe(void **state)
{
    (void)state;
    int ends[2], asked = 0;
    assert_int_equal(pipe(ends), 0);
    const int saved = dup(STDIN_FILENO);
    assert_true(saved >= 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    steno_media *m;
    steno_error e;
    assert_int_equal(steno_media_open(&m, "-", stop_at_third, &asked, &e), STENO_ECANCELED);
    assert_null(m);
    assert_int_equal(asked, 3);
    assert_true(dup2(saved, STDIN_FILENO) == STDIN_FILENO);
    close(saved);
    close(ends[0]);
    close(ends[1]);
}

static void test_interrupt_ends_reading(void **state)
{
    (void)state;
    steno_media *m = open_ok(AUDIO "zh_phrases.wav");
    steno_source src;
    steno_media_source(m, &src);
    float pcm[100];
    assert_true(src.read(src.user, pcm, 100) > 0);
    steno_media_interrupt(m);
    assert_int_equal(src.read(src.user, pcm, 100), STENO_ECANCELED);
    assert_int_equal(src.rewind(src.user), STENO_ECANCELED);
    assert_true(strlen(steno_media_error(m)) > 0);
    steno_media_close(m);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------------------- */

static void test_missing_files_directories_and_devices_are_io_errors(void **state)
{
    (void)state;
    assert_refused(AUDIO "no such file.wav", STENO_EIO);
    assert_refused(STENO_TEST_DATA, STENO_EIO);
    assert_refused("/dev/null", STENO_EIO);
    assert_refused("", STENO_EIO);
}

static void test_files_without_permission_are_io_errors(void **state)
{
    (void)state;
    if (geteuid() == 0) skip(); /* root may read everything */
    char path[64];
    temp_file(path, "RIFF", 4);
    assert_int_equal(chmod(path, 0), 0);
    assert_refused(path, STENO_EIO);
    unlink(path);
}

static void test_null_arguments_are_refused(void **state)
{
    (void)state;
    steno_media *m;
    assert_int_equal(steno_media_open(NULL, "x", NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_media_open(&m, NULL, NULL, NULL, NULL), STENO_EARG);
    steno_media_close(NULL);
}

static void test_messages_are_clean_utf8(void **state)
{
    (void)state;
    steno_error e;
    steno_media *m;
    assert_int_equal(steno_media_open(&m, "/no/\xc3\xa9\n\x1b[31m\xff\xc3/x", NULL, NULL, &e), STENO_EIO);
    assert_true(strncmp(e.text, "/no/\xc3\xa9?" "?[31m?" "?/x: ", 17) == 0);
}

static void assert_bytes_refused(const char *bytes, size_t n, int status)
{
    char path[64];
    temp_file(path, bytes, n);
    assert_refused(path, status);
    unlink(path);
}

static void test_files_that_are_no_sound_are_refused(void **state)
{
    (void)state;
    static const char text[] = "This is a letter, not a sound. It goes on for a while and never becomes one.\n";
    char noise[20000];
    uint32_t r = 1;
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (char)((r = r * 1664525u + 1013904223u) >> 24);
    assert_bytes_refused("", 0, STENO_EFORMAT);
    assert_bytes_refused("R", 1, STENO_EUNSUPPORTED);
    assert_bytes_refused(text, sizeof text - 1, STENO_EUNSUPPORTED);
    assert_bytes_refused(noise, sizeof noise, STENO_EUNSUPPORTED);
}

static void test_video_without_sound_and_cut_files_are_refused(void **state)
{
    (void)state;
    need_ffmpeg();
    assert_refused(AUDIO "silent_film.mp4", STENO_EUNSUPPORTED);
    size_t n;
    uint8_t *p = load(AUDIO "de_video.mp4", &n);
    assert_bytes_refused((const char *)p, n / 2, STENO_EFORMAT); /* the index was at the end */
    free(p);
    p = load(AUDIO "de_8k.wav", &n);
    assert_bytes_refused((const char *)p, 44, STENO_EFORMAT); /* a header and no samples */
    free(p);
}

/* Text that names other files must not make FFmpeg open them, whatever the text is called. */
static void test_playlists_are_refused(void **state)
{
    (void)state;
    char cwd[512], text[3][1024];
    assert_non_null(getcwd(cwd, sizeof cwd));
    snprintf(text[0], sizeof *text, "ffconcat version 1.0\nfile '%s/%szh_phrases.wav'\n", cwd, AUDIO);
    snprintf(text[1], sizeof *text, "#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile://%s/%szh_phrases.wav\n#EXT-X-ENDLIST\n", cwd,
             AUDIO);
    snprintf(text[2], sizeof *text, "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nt=0 0\nm=audio 5004 RTP/AVP 0\n");
    static const char *const ends[] = { "", ".wav", ".mp3", ".m3u8" };
    for (size_t i = 0; i < 12; i++) {
        char plain[64], path[80];
        temp_file(plain, text[i / 4], strlen(text[i / 4]));
        snprintf(path, sizeof path, "%s%s", plain, ends[i % 4]);
        assert_int_equal(rename(plain, path), 0);
        assert_refused(path, STENO_EUNSUPPORTED);
        unlink(path);
    }
}

/* ---- the built-in WAV reader ------------------------------------------------------------------------------------------------- */

struct bytes {
    uint8_t p[1 << 16];
    size_t n;
};

static void put(struct bytes *b, const void *data, size_t n)
{
    assert_true(n <= sizeof b->p - b->n);
    memcpy(b->p + b->n, data, n);
    b->n += n;
}

static void put_le(struct bytes *b, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) put(b, &(uint8_t){ (uint8_t)(v >> 8 * i) }, 1);
}

/* A WAV header for `tag` samples, up to the body of a data chunk that says it has data_sz bytes. */
static void put_header(struct bytes *b, int tag, int bits, int channels, int rate, int extensible, uint32_t data_sz)
{
    put(b, "RIFF", 4);
    put_le(b, 36 + (uint64_t)data_sz, 4);
    put(b, "WAVELIST\5\0\0\0INFO?\0", 18); /* an odd chunk with its padding, before what matters */
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
static int32_t signal_s32(int i)
{
    static const int32_t edge[] = { 0, INT32_MAX, INT32_MIN, 65535, -65536, 32768, -32768, 1, -1 };
    return i < 9 ? edge[i] : (int32_t)((uint32_t)i * 2654435761u);
}

static void put_sample(struct bytes *b, int tag, int bits, int i)
{
    const int32_t v = signal_s32(i);
    if (tag == 3) {
        const double d = v / 2147483648.0 * 1.25; /* some are beyond full scale */
        const float f = (float)d;
        put(b, bits == 32 ? (const void *)&f : (const void *)&d, (size_t)bits / 8);
    } else if (bits == 8) put_le(b, (uint64_t)((v >> 24) + 128), 1);
    else put_le(b, (uint32_t)v >> (32 - bits), bits / 8);
}

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
    return wav_read_channel(b, MEDIA_MIX);
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
            struct sound got = wav_read_channel(&b, c + 1), want = wav_read_all(&one);
            assert_same(got, want);
            free(got.v);
            free(want.v);
        }
    }
}

/* ---- channels ---------------------------------------------------------------------------------------------------------------- */

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

static void test_each_channel_can_be_heard_alone(void **state)
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
        for (int c = channels; c >= 1; c--) {
            struct sound s = read_channel(m, c);
            assert_int_equal(s.n, 5000);
            for (int i = 0; i < 5000; i++)
                if (s.v[i] != tone(c - 1, i)) fail_msg("channel %d, sample %d: %d, want %d", c, i, s.v[i], tone(c - 1, i));
            assert_int_equal(src.rewind(src.user), 0);
            struct sound again = drain(&src, 4000);
            assert_same(again, s); /* rewinding keeps the channel */
            free(s.v);
            free(again.v);
        }
        struct sound s = read_channel(m, 0);
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
    assert_int_equal(steno_media_select(m, 2), STENO_OK);
    assert_int_equal(src.read(src.user, a, 100), 100);
    static const int bad[] = { -1, 3, 1000000 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(steno_media_select(m, bad[i]), STENO_EARG);
        assert_non_null(strstr(steno_media_error(m), "the last one is 2"));
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
    struct sound left = read_channel(m, 1), right = read_channel(m, 2), want = read_file(one);
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

static void test_channels_of_lossy_films_add_up_to_their_mix(void **state)
{
    (void)state;
    need_ffmpeg();
    steno_media *m = open_ok(AUDIO "de_stereo.ogg");
    assert_int_equal(steno_media_channels(m), 2);
    struct sound left = read_channel(m, 1), right = read_channel(m, 2), mix = read_channel(m, 0);
    assert_true(left.n == mix.n && right.n == mix.n);
    for (int64_t i = 0; i < mix.n; i++)
        if (abs((left.v[i] + right.v[i]) / 2 - mix.v[i]) > 2)
            fail_msg("sample %d: %d and %d, mixed %d", (int)i, left.v[i], right.v[i], mix.v[i]);
    steno_media_close(m);
    free(left.v);
    free(right.v);
    free(mix.v);
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
    struct sound ear[2] = { read_channel(m, 1), read_channel(m, 2) };
    static const double spoken[2][2] = { { 0.3, 2.075 }, { 2.6, 4.181 } }; /* seconds, from truth.json beside it */
    for (int c = 0; c < 2; c++) {
        int64_t inside = 0, all = 0;
        assert_int_equal(ear[c].n, 81208);
        for (int64_t i = 0; i < ear[c].n; i++) {
            all += abs(ear[c].v[i]);
            if (i >= (int64_t)(spoken[c][0] * 16000) && i < (int64_t)(spoken[c][1] * 16000)) inside += abs(ear[c].v[i]);
        }
        if (inside * 100 < all * 95) fail_msg("channel %d: %ld of %ld is where it should be", c + 1, (long)inside, (long)all);
        free(ear[c].v);
    }
    steno_media_close(m);
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
        { 1, 16, 1, 44100, STENO_EUNSUPPORTED }, { 6, 8, 1, 16000, STENO_EUNSUPPORTED }, { 1, 12, 1, 16000, STENO_EUNSUPPORTED },
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
        cmocka_unit_test(test_containers_decode_to_the_samples_of_the_ffmpeg_program),
        cmocka_unit_test(test_wav_at_16_khz_needs_no_ffmpeg),
        cmocka_unit_test(test_rewind_gives_the_same_samples_again),
        cmocka_unit_test(test_duration_is_what_the_container_declares),
        cmocka_unit_test(test_damaged_packets_are_skipped_and_counted),
        cmocka_unit_test(test_pipe_gives_the_samples_of_the_file),
        cmocka_unit_test(test_redirected_file_is_read_as_standard_input),
        cmocka_unit_test(test_fifo_waits_for_its_writer),
        cmocka_unit_test(test_stop_ends_spooling_of_a_silent_pipe),
        cmocka_unit_test(test_interrupt_ends_reading),
        cmocka_unit_test(test_missing_files_directories_and_devices_are_io_errors),
        cmocka_unit_test(test_files_without_permission_are_io_errors),
        cmocka_unit_test(test_null_arguments_are_refused),
        cmocka_unit_test(test_messages_are_clean_utf8),
        cmocka_unit_test(test_files_that_are_no_sound_are_refused),
        cmocka_unit_test(test_video_without_sound_and_cut_files_are_refused),
        cmocka_unit_test(test_playlists_are_refused),
        cmocka_unit_test(test_wav_codings_keep_their_upper_16_bits),
        cmocka_unit_test(test_wav_float_is_rounded_and_cut_off),
        cmocka_unit_test(test_wav_channels_are_averaged),
        cmocka_unit_test(test_wav_channels_can_be_picked_in_every_coding),
        cmocka_unit_test(test_each_channel_can_be_heard_alone),
        cmocka_unit_test(test_a_channel_that_is_not_there_is_refused_and_changes_nothing),
        cmocka_unit_test(test_a_resampled_channel_equals_a_file_of_it_alone),
        cmocka_unit_test(test_channels_of_lossy_films_add_up_to_their_mix),
        cmocka_unit_test(test_speakers_of_a_stereo_recording_are_apart),
        cmocka_unit_test(test_wav_with_wrong_sizes_gives_the_decodable_samples),
        cmocka_unit_test(test_wav_that_cannot_be_read_is_refused_by_name),
        cmocka_unit_test(test_wav_reader_equals_ffmpeg),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
