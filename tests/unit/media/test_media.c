/* steno tests: sound files to samples. SPDX-License-Identifier: MIT
 *
 * What tests/data/audio must decode to was computed with the ffmpeg program (5.1): `ffmpeg -i FILE -f s16le -ac 1 -acodec pcm_s16le
 * -ar 16000 -`. Lossless codings are compared by CRC-32. Some lossy decoders round differently from processor to processor, and later
 * versions of FFmpeg round 16 bits differently at other rates, so those are compared in length, loudness and at eight places. */
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "crc32.h"
#include "media_help.h"
#include "media_version.h"

/* ---- containers -------------------------------------------------------------------------------------------------------------- */

struct expected {
    const char *name;
    int64_t n;
    uint32_t crc;      /* 0: lossy */
    int64_t loudness;  /* sum of |sample| */
    int at_ninth[8];   /* samples n/9, 2n/9, …; 0s for sounds of which every version gives the same bits */
};

static const struct expected sounds[] = {
    { "de.m4a", 80896, 0, 70967668, { 2877, 11, 20, -44, 19, -6493, 2324, -2488 } },
    { "de.opus", 24000, 0, 16904375, { 15, -6, 364, -2567, -5, -3968, -615, -248 } },
    { "de_22k.mp3", 24000, 0, 16802061, { 17, 4, 714, -2368, -4, -4057, -754, -705 } },
    { "de_8k.wav", 44892, 0xf23b9881, 39475427, { 262, -96, -1265, -1, 2332, 588, 146, 3 } },
    { "de_alaw_48k.wav", 8000, 0x83f78c2d, 7613330, { 1493, -3033, -2462, -140, -3467, 4, 6, 34 } },
    { "de_six.flac", 4800, 0x69edc8c3, 3117539, { 99, -360, -558, 364, -1154, 218, -53, -51 } },
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
        const int is_exact = want->crc && (!want->at_ninth[0] || media_is_ffmpeg_5());
        int64_t loudness = 0;
        for (int64_t k = 0; k < s.n; k++) loudness += abs(s.v[k]);
        if (llabs(loudness - want->loudness) > (is_exact ? 0 : want->loudness / 1000))
            fail_msg("%s: loudness %ld, want %ld", want->name, (long)loudness, (long)want->loudness);
        const uint32_t crc = crc32_add(0, s.v, (size_t)s.n * sizeof *s.v);
        if (is_exact && crc != want->crc) fail_msg("%s: CRC %08x, want %08x", want->name, (unsigned)crc, (unsigned)want->crc);
        for (int k = 0; !is_exact && k < 8; k++) {
            const int got = s.v[s.n * (k + 1) / 9];
            if (abs(got - want->at_ninth[k]) > 3) fail_msg("%s: sample %d/9 is %d, want %d", want->name, k + 1, got, want->at_ninth[k]);
        }
        free(s.v);
    }
}

/* A file of raw samples gives the bits that its samples give without it, in any version of FFmpeg. */
static void test_wav_at_other_rates_has_the_bits_of_its_samples(void **state)
{
    static const struct { const char *path; int type, rate; } files[] = {
        { AUDIO "de_8k.wav", STENO_SAMPLES_S16LE, 8000 }, { AUDIO "de_alaw_48k.wav", STENO_SAMPLES_ALAW, 48000 },
    };
    (void)state;
    need_ffmpeg();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t n;
        uint8_t *p = load(files[i].path, &n), *data = memmem(p, n, "data", 4);
        struct sound s = read_file(files[i].path);
        steno_resampler *r;
        const float *pcm;
        assert_non_null(data);
        const size_t n_data = (size_t)data[4] | (size_t)data[5] << 8 | (size_t)data[6] << 16;
        assert_true(data + 8 + n_data <= p + n);
        assert_int_equal(steno_resampler_open(&r, files[i].type, files[i].rate, 1, NULL), STENO_OK);
        int64_t at = 0, some = steno_resampler_push(r, data + 8, n_data, &pcm, NULL);
        for (int64_t k = 0; k < some; k++, at++) assert_true(at < s.n && pcm[k] == (float)s.v[at] / 32768);
        some = steno_resampler_end(r, &pcm, NULL);
        for (int64_t k = 0; k < some; k++, at++) assert_true(at < s.n && pcm[k] == (float)s.v[at] / 32768);
        assert_int_equal(at, s.n);
        steno_resampler_close(r);
        free(s.v);
        free(p);
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

static struct sound read_live(int once)
{
    steno_media *m;
    steno_source src;
    steno_media_params p;
    steno_error e = { 0 };
    steno_media_params_init(&p);
    p.live = 1;
    p.once = once;
    if (steno_media_open_params(&m, "-", &p, &e)) fail_msg("%s", e.text);
    steno_media_source(m, &src);
    const struct sound s = drain(&src, 4801);
    assert_int_equal(s.status, 0);
    steno_media_close(m);
    return s;
}

/* Decode "-" while standard input is `fd`, which is closed. */
static struct sound read_stdin(int fd, int live)
{
    const int saved = dup(STDIN_FILENO);
    assert_true(saved >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    close(fd);
    struct sound s = live ? read_live(live > 1) : read_file("-");
    assert_true(dup2(saved, STDIN_FILENO) == STDIN_FILENO);
    close(saved);
    return s;
}

static void test_pipe_gives_the_samples_of_the_file(void **state)
{
    (void)state;
    /* ends of files matter: an MP4 index at the end, the trimmed end of an MP3 */
    static const char *const names[] = { AUDIO "zh_phrases.wav", AUDIO "de_video.mp4", AUDIO "de_22k.mp3", AUDIO "de.opus",
                                         AUDIO "de_stereo.ogg", AUDIO "fr.flac", AUDIO "de.m4a", AUDIO "de.webm", AUDIO "de.aac",
                                         AUDIO "de_video.mkv", AUDIO "de.avi", AUDIO "de.wma", AUDIO "de.w64", AUDIO "de.aiff" };
    const size_t n_names = strncmp(steno_media_backend(), "FFmpeg", 6) ? 1 : sizeof names / sizeof *names;
    for (size_t k = 0; k < 3 * n_names; k++) { /* in one go, then as it comes, then once */
        const size_t i = k % n_names;
        size_t n;
        uint8_t *p = load(names[i], &n);
        int ends[2], status;
        assert_int_equal(pipe(ends), 0);
        const pid_t child = feed(ends[1], p, n);
        close(ends[1]);
        struct sound want = read_file(names[i]), got = read_stdin(ends[0], (int)(k / n_names));
        if (got.n != want.n)
            fail_msg("%s: %lld samples from a pipe%s, want %lld", names[i], (long long)got.n, k < n_names ? "" : " as it comes",
                     (long long)want.n);
        assert_same(got, want);
        assert_true(waitpid(child, &status, 0) == child && status == 0);
        free(got.v);
        free(want.v);
        free(p);
    }
}

/* A child that writes `head` and then `body` again and again, `times`. */
static pid_t feed_long(int fd, const uint8_t *head, size_t n_head, const uint8_t *body, size_t n_body, int times)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child) return child;
    signal(SIGPIPE, SIG_DFL);
    for (int i = -1; i < times; i++) {
        const uint8_t *p = i < 0 ? head : body;
        for (size_t left = i < 0 ? n_head : n_body; left;) {
            const ssize_t put = write(fd, p, left);
            if (put <= 0) _exit(1);
            p += put;
            left -= (size_t)put;
        }
    }
    _exit(0);
}

/* Bytes of the largest file without a name that this process has open. */
static long long largest_unnamed(void)
{
    long long most = 0;
    for (int fd = 3; fd < 64; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 0 && st.st_size > most) most = st.st_size;
    }
    return most;
}

/* Read all of it, or up to an error. most: receives the largest file that was open meanwhile */
static int read_long(int fd, const char *dir, long long *n, long long *most, steno_error *e)
{
    float pcm[4096];
    steno_media *m;
    steno_source src;
    steno_media_params p;
    const int saved = dup(STDIN_FILENO);
    assert_true(saved >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
    close(fd);
    steno_media_params_init(&p);
    p.live = p.once = 1;
    p.spool_dir = dir;
    *n = *most = 0;
    int rc = steno_media_open_params(&m, "-", &p, e);
    if (rc == STENO_OK) {
        steno_media_source(m, &src);
        int64_t got, reads = 0;
        while ((got = src.read(src.user, pcm, 4096)) > 0) {
            *n += got;
            if (reads++ % 64) continue;
            const long long now = largest_unnamed();
            if (now > *most) *most = now;
        }
        rc = (int)got;
        if (got < 0) snprintf(e->text, sizeof e->text, "%s", steno_media_error(m));
        if (*n > 4 << 20) assert_int_equal(src.rewind(src.user), STENO_EARG); /* it is not there any more */
        steno_media_close(m);
    }
    assert_true(dup2(saved, STDIN_FILENO) == STDIN_FILENO);
    close(saved);
    return rc;
}

/* What comes without an end needs no disk, and no more memory than a window. */
static void test_a_pipe_that_is_read_once_is_bounded(void **state)
{
    static const struct { const char *name; size_t head; int times; } is[] = { /* a head, and what may come again */
        { AUDIO "zh_phrases.wav", 44, 0 }, { AUDIO "de_22k.mp3", 0, 0 }, { AUDIO "de_stereo.ogg", 0, 0 }, { AUDIO "de.aac", 0, 0 },
    };
    enum { ALL = 24 << 20, PACKED = 5 << 20 };
    (void)state;
    for (size_t i = 0; i < (strncmp(steno_media_backend(), "FFmpeg", 6) ? 1 : sizeof is / sizeof *is); i++) {
        size_t size;
        int ends[2], status;
        long long n, most;
        steno_error e = { 0 };
        uint8_t *p = load(is[i].name, &size);
        if (is[i].head) memset(p + 4, 0xff, 4), memset(p + 40, 0xff, 4); /* a stream without a length */
        const size_t head = is[i].head ? is[i].head : size;
        assert_int_equal(pipe(ends), 0);
        const size_t n_body = size - is[i].head;
        const pid_t child = feed_long(ends[1], p, head, p + is[i].head, n_body, (int)((is[i].head ? ALL : PACKED) / n_body));
        close(ends[1]);
        const int rc = read_long(ends[0], "/nonexistent", &n, &most, &e);
        if (rc != 0 || n < (4 << 20) || most > (4 << 20))
            fail_msg("%s: status %d (%s), %lld samples, at most %lld bytes kept", is[i].name, rc, e.text, n, most);
        assert_true(waitpid(child, &status, 0) == child && status == 0);
        free(p);
    }
}

static void test_redirected_file_is_read_as_standard_input(void **state)
{
    (void)state;
    struct sound want = read_file(AUDIO "zh_phrases.wav"), got = read_stdin(open(AUDIO "zh_phrases.wav", O_RDONLY), 0);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_containers_decode_to_the_samples_of_the_ffmpeg_program),
        cmocka_unit_test(test_wav_at_other_rates_has_the_bits_of_its_samples),
        cmocka_unit_test(test_wav_at_16_khz_needs_no_ffmpeg),
        cmocka_unit_test(test_rewind_gives_the_same_samples_again),
        cmocka_unit_test(test_duration_is_what_the_container_declares),
        cmocka_unit_test(test_damaged_packets_are_skipped_and_counted),
        cmocka_unit_test(test_pipe_gives_the_samples_of_the_file),
        cmocka_unit_test(test_a_pipe_that_is_read_once_is_bounded),
        cmocka_unit_test(test_redirected_file_is_read_as_standard_input),
        cmocka_unit_test(test_fifo_waits_for_its_writer),
        cmocka_unit_test(test_stop_ends_spooling_of_a_silent_pipe),
        cmocka_unit_test(test_interrupt_ends_reading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
