/* steno tests: whether a sound file holds all that it promises. SPDX-License-Identifier: MIT
 *
 * Whole files of every container give no alarm, not even where writers to pipes leave sizes open; cut anywhere they are refused, or say
 * that something is missing. */
#include "media_help.h"
#include <unistd.h>

/* What a container can say about its end. */
enum promise { LENGTH = 1, /* a cut is always seen */
               FRAME = 2,  /* a packet that is cut is damaged */
               NOTHING = 0 };

static const struct {
    const char *name;
    enum promise promise;
    int needs_ffmpeg;
    int slack_ms; /* MP3's length counts encoder's delays */
} files[] = {
    { "de_8k.wav", LENGTH, 1, 0 },     { "zh_phrases.wav", LENGTH, 0, 0 }, { "de_alaw_48k.wav", LENGTH, 1, 0 }, { "de.w64", LENGTH, 1, 0 },
    { "de.aiff", LENGTH, 1, 0 },       { "de.avi", LENGTH, 1, 0 },         { "de.wma", LENGTH, 1, 0 },          { "de.webm", LENGTH, 1, 0 },
    { "de_video.mkv", LENGTH, 1, 0 },  { "de_video.mp4", LENGTH, 1, 0 },   { "de.m4a", LENGTH, 1, 0 },          { "de.opus", LENGTH, 1, 0 },
    { "de_stereo.ogg", LENGTH, 1, 0 }, { "fr.flac", LENGTH, 1, 0 },        { "de_six.flac", LENGTH, 1, 0 },
    { "de_22k.mp3", LENGTH, 1, 250 },  { "de.aac", FRAME, 1, 0 },
};

enum { N_FILES = sizeof files / sizeof *files };

struct content { uint8_t *p; size_t n; };

static struct content content_of(const char *name)
{
    char path[256];
    struct content b;
    snprintf(path, sizeof path, AUDIO "%s", name);
    b.p = load(path, &b.n);
    return b;
}

/* Read the first n of these bytes as a file. @return 1 and what is known of it, or 0 when it was refused */
static int hear(steno_media_state *s, const struct content *b, size_t n)
{
    char path[] = "/tmp/steno-test-XXXXXX";
    const int fd = mkstemp(path);
    steno_media *m;
    steno_error e = { 0 };
    steno_source src;
    assert_true(fd >= 0);
    assert_int_equal(write(fd, b->p, n), n);
    const int rc = steno_media_open(&m, path, NULL, NULL, &e);
    close(fd);
    unlink(path);
    if (rc != STENO_OK) {
        assert_true(e.text[0]);
        return 0;
    }
    *s = (steno_media_state){ .size = sizeof *s };
    assert_int_equal(steno_media_state_get(m, s), STENO_OK);
    assert_false(s->truncated && !s->ended);
    steno_media_source(m, &src);
    for (int pass = 0; pass < 2; pass++) { /* the second forgets nothing */
        struct sound sound = drain(&src, 4096);
        assert_int_equal(sound.status, 0);
        free(sound.v);
        assert_int_equal(steno_media_state_get(m, s), STENO_OK);
        assert_true(s->ended);
        if (pass == 0) assert_int_equal(src.rewind(src.user), STENO_OK);
    }
    steno_media_close(m);
    return 1;
}

static int is_left_out(int i)
{
    return files[i].needs_ffmpeg && strncmp(steno_media_backend(), "FFmpeg", 6);
}

static void test_whole_files_give_no_alarm(void **state)
{
    (void)state;
    for (int i = 0; i < N_FILES; i++) {
        if (is_left_out(i)) continue;
        steno_media_state s;
        struct content b = content_of(files[i].name);
        if (!hear(&s, &b, b.n)) fail_msg("%s is refused", files[i].name);
        if (s.truncated || s.damaged_packets) fail_msg("%s: truncated %d, damaged %d", files[i].name, s.truncated, (int)s.damaged_packets);
        free(b.p);
    }
}

/* Cuts of a tenth and more of the file, which no index at its end makes up. */
static void test_files_that_were_cut_are_reported_as_truncated(void **state)
{
    (void)state;
    for (int i = 0; i < N_FILES; i++) {
        if (is_left_out(i)) continue;
        steno_media_state whole, s;
        struct content b = content_of(files[i].name);
        assert_true(hear(&whole, &b, b.n));
        for (size_t part = 1; part < 17; part += 3) {
            const size_t n = b.n * part / 17 + part % 5;
            if (!hear(&s, &b, n) || s.read_ms >= whole.read_ms - 10 - files[i].slack_ms) continue;
            if (files[i].promise == LENGTH ? !s.truncated : !s.damaged_packets)
                fail_msg("%s: no report of a cut at %zu of %zu bytes, %d of %d ms", files[i].name, n, b.n, (int)s.read_ms,
                         (int)whole.read_ms);
            if (s.promised_ms >= 0 && whole.promised_ms > 0) assert_in_range(s.promised_ms, whole.promised_ms - 60, whole.promised_ms + 60);
        }
        free(b.p);
    }
}

/* A plain WAV file with another size in its data chunk. */
static void put_size(struct content *b, uint32_t size)
{
    assert_memory_equal(b->p + 36, "data", 4);
    for (int i = 0; i < 4; i++) b->p[40 + i] = (uint8_t)(size >> 8 * i);
}

static void test_sizes_that_writers_leave_open_promise_nothing(void **state)
{
    (void)state;
    static const uint32_t open_sizes[] = { 0, 0xffffffffu, 0xfffffffeu, 0x7fffffffu, 0x80000000u, 0x7ffff000u };
    struct content b = content_of("zh_phrases.wav");
    steno_media_state s;
    const uint32_t size = (uint32_t)(b.n - 44);
    for (size_t i = 0; i < sizeof open_sizes / sizeof *open_sizes; i++) {
        put_size(&b, open_sizes[i]);
        assert_true(hear(&s, &b, b.n));
        if (s.truncated) fail_msg("size %x is taken for a promise", (unsigned)open_sizes[i]);
    }
    static const struct { int more, truncated; } wrong[] = {
        { -2, 0 }, { 0, 0 }, { 8, 0 }, { 44, 0 }, { 64, 0 }, { 400, 1 }, { 32000, 1 },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_size(&b, size + (uint32_t)wrong[i].more);
        assert_true(hear(&s, &b, b.n));
        if (s.truncated != wrong[i].truncated) fail_msg("a size that is %d too much: truncated %d", wrong[i].more, s.truncated);
    }
    put_size(&b, size);
    assert_true(hear(&s, &b, b.n - 64000));
    assert_int_equal(s.truncated, 1);
    assert_int_equal(s.promised_ms - s.read_ms, 2000);
    free(b.p);
}

static void test_a_state_without_its_size_is_refused(void **state)
{
    (void)state;
    steno_media_state s = { 0 };
    steno_media *m = open_ok(AUDIO "zh_phrases.wav");
    assert_int_equal(steno_media_state_get(m, NULL), STENO_EARG);
    assert_int_equal(steno_media_state_get(m, &s), STENO_EARG);
    steno_media_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_files_give_no_alarm),
        cmocka_unit_test(test_files_that_were_cut_are_reported_as_truncated),
        cmocka_unit_test(test_sizes_that_writers_leave_open_promise_nothing),
        cmocka_unit_test(test_a_state_without_its_size_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
