/* steno tests: files without sound are refused with a reason. SPDX-License-Identifier: MIT */
#include <sys/stat.h>
#include "media_help.h"

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

static void test_missing_files_directories_and_devices_are_io_errors(void **state)
{
    (void)state;
    assert_refused(AUDIO "no such file.wav", STENO_EIO);
    assert_refused("tests/data", STENO_EIO);
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

static const char letter[] = "This is a letter, not a sound. It goes on for a while and never becomes one.\n";

static void test_files_that_are_no_sound_are_refused(void **state)
{
    (void)state;
    char noise[20000];
    uint32_t r = 1;
    for (size_t i = 0; i < sizeof noise; i++) noise[i] = (char)((r = r * 1664525u + 1013904223u) >> 24);
    assert_bytes_refused("", 0, STENO_EFORMAT);
    assert_bytes_refused("R", 1, STENO_EUNSUPPORTED);
    assert_bytes_refused(letter, sizeof letter - 1, STENO_EUNSUPPORTED);
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

/* A name that promises a sound does not make text one. */
static void test_text_called_a_sound_is_refused(void **state)
{
    (void)state;
    need_ffmpeg();
    static const char *const ends[] = { ".mp3", ".m4a", ".wav", ".ts" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char plain[64], path[80];
        temp_file(plain, letter, sizeof letter - 1);
        snprintf(path, sizeof path, "%s%s", plain, ends[i]);
        assert_int_equal(rename(plain, path), 0);
        assert_refused(path, STENO_EUNSUPPORTED);
        unlink(path);
    }
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_files_directories_and_devices_are_io_errors),
        cmocka_unit_test(test_files_without_permission_are_io_errors),
        cmocka_unit_test(test_null_arguments_are_refused),
        cmocka_unit_test(test_messages_are_clean_utf8),
        cmocka_unit_test(test_files_that_are_no_sound_are_refused),
        cmocka_unit_test(test_video_without_sound_and_cut_files_are_refused),
        cmocka_unit_test(test_text_called_a_sound_is_refused),
        cmocka_unit_test(test_playlists_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
