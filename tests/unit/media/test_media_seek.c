/* steno tests: going on to a later sample by the times of a container. SPDX-License-Identifier: MIT
 *
 * What a reader gives behind a skip is compared with what it gives there when it decodes everything, for whole files, and for files with
 * gaps, with lost packets, with clocks that are off, and with two clocks. A file of two hours shows how many bytes are read. */
#include <sys/stat.h>
#include "media_help.h"

#if STENO_MEDIA_FFMPEG
#include "remux_help.h"

enum { RATE = 16000 };

#define AAC AUDIO "seek.m4a"
#define OPUS AUDIO "seek.opus"
#define VORBIS AUDIO "seek.ogg"
#define FLAC AUDIO "skip_22k.flac"
#define MP3 AUDIO "skip_44k.mp3"
#define WMA AUDIO "de.wma"
#define NOISY AUDIO "de.m4a" /* AAC with bands of noise that the decoder draws */
#define FILM AUDIO "late.mkv"

/* ---- times ------------------------------------------------------------------------------------------------------------------- */

static double gap(double t, int64_t n)
{
    (void)n;
    return t < 11 ? t : t + 0.5137;
}

static double lost(double t, int64_t n)
{
    (void)n;
    return t < 11 || t > 12.3 ? t : -1;
}

static double jitter(double t, int64_t n)
{
    return n ? t + (double)(n * 7 % 11) * 0.001 : t;
}

static double drift(double t, int64_t n)
{
    (void)n;
    return t * 1.002;
}

static double later(double t, int64_t n)
{
    (void)n;
    return t + 3600;
}

/* ---- the comparison ---------------------------------------------------------------------------------------------------------- */

struct seek_case {
    const char *name, *muxer, *sound;
    int film;         /* the sound is the second stream, beside pictures */
    double start;     /* its delay in seconds */
    remux_time time;
    int goes_on;      /* a skip leaves samples out, from 5 s of sound on; -1: it may */
    double most, rms; /* how far a sample may be off; all of them, as a share of the sound */
    int slip;         /* by how many samples all of them may be later or earlier, where packets before them are missing */
};

enum { EXACT_LSB = 3 };
#define SAME EXACT_LSB / 32768.0, 1e-4, 0

static const struct seek_case cases[] = {
    { "AAC in MP4", "mp4", AAC, 0, 0, NULL, 1, SAME },
    { "AAC in fragments", "ismv", AAC, 0, 0, NULL, -1, SAME },
    { "AAC in Matroska", "matroska", AAC, 0, 0, NULL, 1, SAME },
    { "AAC in MPEG-TS", "mpegts", AAC, 0, 0, NULL, 1, SAME },
    { "AAC in FLV", "flv", AAC, 0, 0, NULL, 1, SAME },
    { "AAC in NUT", "nut", AAC, 0, 0, NULL, 1, SAME },
    { "AAC alone", "adts", AAC, 0, 0, NULL, 1, SAME },
    { "Opus in Ogg", "ogg", OPUS, 0, 0, NULL, 1, SAME },
    { "Opus in WebM", "webm", OPUS, 0, 0, NULL, 1, SAME },
    { "Opus in MP4", "mp4", OPUS, 0, 0, NULL, 1, SAME },
    { "Opus in MPEG-TS", "mpegts", OPUS, 0, 0, NULL, 1, SAME },
    { "Vorbis in Ogg", "ogg", VORBIS, 0, 0, NULL, 1, SAME },
    { "Vorbis in WebM", "webm", VORBIS, 0, 0, NULL, 1, SAME },
    { "FLAC in Ogg", "ogg", FLAC, 0, 0, NULL, 1, SAME },
    { "FLAC in Matroska", "matroska", FLAC, 0, 0, NULL, 1, SAME },
    { "MP3 in Matroska", "matroska", MP3, 0, 0, NULL, 1, SAME },
    { "MP3 in MPEG-TS", "mpegts", MP3, 0, 0, NULL, 1, SAME },
    { "MP3 in AVI", "avi", MP3, 0, 0, NULL, 1, SAME },
    { "AAC in AVI", "avi", AAC, 0, 0, NULL, 1, SAME },
    { "a film in AVI", "avi", MP3, 1, 0, NULL, 1, SAME },
    { "MP3 in MPEG-PS", "vob", MP3, 0, 0, NULL, 1, SAME },
    { "a film in MPEG-PS", "vob", MP3, 1, 0, NULL, 1, SAME },
    { "late sound in MPEG-PS", "vob", MP3, 1, 3.3, NULL, 1, SAME },
    { "a gap in MPEG-PS", "vob", MP3, 0, 0, gap, -1, SAME },
    { "times that drift, in MPEG-PS", "vob", MP3, 0, 0, drift, -1, SAME },
    { "a film in Matroska", "matroska", AAC, 1, 0, NULL, 1, SAME },
    { "a film in MP4", "mp4", AAC, 1, 0, NULL, 1, SAME },
    { "a film in MPEG-TS", "mpegts", AAC, 1, 0, NULL, 1, SAME },
    { "late sound in Matroska", "matroska", OPUS, 1, 3.3, NULL, 1, SAME },
    { "late sound in MP4", "mp4", AAC, 1, 3.3, NULL, 1, SAME },
    { "late sound in MPEG-TS", "mpegts", AAC, 1, 3.3, NULL, 1, SAME },
    { "early sound in Matroska", "matroska", AAC, 1, -0.7, NULL, 1, SAME },
    { "early sound in MP4", "mp4", AAC, 1, -0.7, NULL, 1, SAME },
    { "a clock that begins at an hour, in Matroska", "matroska", OPUS, 0, 0, later, -1, SAME },
    { "the same in MPEG-TS", "mpegts", AAC, 0, 0, later, -1, SAME },
    { "a gap in Matroska", "matroska", AAC, 0, 0, gap, -1, SAME },
    { "a gap in WebM", "webm", OPUS, 0, 0, gap, -1, SAME },
    { "a gap in MP4", "mp4", AAC, 0, 0, gap, -1, SAME },
    { "a gap in MPEG-TS", "mpegts", AAC, 0, 0, gap, -1, SAME },
    { "a gap in a film", "matroska", AAC, 1, 0, gap, -1, SAME },
    { "lost packets in WebM", "webm", OPUS, 0, 0, lost, -1, 0.5, 0.5, RATE / 1000 + 1 },
    { "lost packets in Ogg", "ogg", OPUS, 0, 0, lost, -1, 0.5, 0.5, RATE / 1000 + 1 },
    { "lost packets in a film", "mp4", OPUS, 1, 0, lost, -1, SAME },
    { "times that tremble, in Matroska", "matroska", OPUS, 0, 0, jitter, -1, SAME },
    { "times that drift, in Matroska", "matroska", AAC, 0, 0, drift, -1, SAME },
    { "times that drift, in MP4", "mp4", AAC, 0, 0, drift, -1, SAME },
    { "times that drift, in MPEG-TS", "mpegts", AAC, 0, 0, drift, -1, SAME },
    { "AAC with bands of noise", "mp4", NOISY, 0, 0, NULL, 1, 0.2, 0.1, 0 },
};

static void make(char path[64], const struct seek_case *c, double seconds)
{
    const struct part sound = { c->sound, AVMEDIA_TYPE_AUDIO, c->start }, film = { FILM, AVMEDIA_TYPE_VIDEO, 0 };
    temp_file(path, "", 0);
    remux(path, c->muxer, (const struct part[2]){ c->film ? film : sound, c->film ? sound : (struct part){ 0 } }, seconds, c->time);
}

/* @return how far a skip to n goes */
static int64_t expect_near(steno_media *m, const struct sound *whole, int64_t n, const struct seek_case *c)
{
    steno_source src;
    double sum = 0, all = 0;
    steno_media_source(m, &src);
    assert_int_equal(src.rewind(src.user), 0);
    const int64_t at = steno_media_skip(m, n);
    if (at < 0 || at > n || at > whole->n) fail_msg("%s: a skip to %lld goes to %lld", c->name, (long long)n, (long long)at);
    struct sound rest = drain(&src, 4801);
    const int64_t slip = whole->n - at - rest.n;
    if (llabs(slip) > c->slip)
        fail_msg("%s: %lld samples behind %lld, want %lld", c->name, (long long)rest.n, (long long)at, (long long)(whole->n - at));
    for (int64_t i = 0; i < rest.n; i++) {
        const double a = rest.v[i] / 32768.0, b = at + i + slip >= 0 ? whole->v[at + i + slip] / 32768.0 : 0;
        if (fabs(a - b) > c->most)
            fail_msg("%s: skip to %lld: sample %lld is %g, want %g", c->name, (long long)n, (long long)(at + i), a, b);
        sum += (a - b) * (a - b);
        all += b * b;
    }
    if (sqrt(sum) > c->rms * sqrt(all)) fail_msg("%s: skip to %lld: off by %g of all", c->name, (long long)n, sqrt(sum / all));
    free(rest.v);
    return at;
}

static void expect_case(const char *path, const struct seek_case *c)
{
    struct sound whole = read_file(path);
    const int64_t all = whole.n, start = (int64_t)(c->start * RATE);
    const int64_t far[] = { start + 5 * RATE, 9 * RATE + 7, 15 * RATE, all - RATE / 2, 2 * RATE, all / 2, all - 1, all, all + 1,
                            INT64_MAX };
    const size_t places = c == cases || c->time ? sizeof far / sizeof *far : 4;
    steno_media *m = open_ok(path);
    steno_media_state before = { .size = sizeof before }, after = before;
    for (size_t i = 0; i < places; i++) {
        const int64_t n = far[i], at = expect_near(m, &whole, n, c);
        steno_media_state_get(m, i ? &after : &before);
        if (n >= start + 5 * RATE && n < all - RATE && c->goes_on >= 0 && (c->goes_on ? at <= n - 3 * RATE : at != 0))
            fail_msg("%s: a skip to %lld goes to %lld", c->name, (long long)n, (long long)at);
    }
    assert_int_equal(after.start_ms, before.start_ms);
    assert_int_equal(after.promised_ms, before.promised_ms);
    assert_int_equal(after.truncated, before.truncated);
    assert_true(after.ended && (!c->goes_on || !after.damaged_packets)); /* where files are joined, a packet may be cut */
    steno_media_close(m);
    free(whole.v);
}

static void test_the_rest_is_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[64];
        const int once = !strcmp(cases[i].sound, VORBIS); /* its blocks overlap by their sizes: a second round begins with a gap */
        make(path, &cases[i], once ? 11.5 : 26);
        expect_case(path, &cases[i]);
        unlink(path);
    }
}

/* ---- two clocks, and damage -------------------------------------------------------------------------------------------------- */

/* The files' bytes, one behind the other; what is made is unlinked by the caller. */
static void join(char path[64], const char *a, const char *b)
{
    size_t n, k;
    uint8_t *p = load(a, &n), *q = load(b, &k), *both = malloc(n + k);
    assert_non_null(both);
    memcpy(both, p, n);
    memcpy(both + n, q, k);
    temp_file(path, both, n + k);
    free(p);
    free(q);
    free(both);
}

static void test_joined_files_are_decoded(void **state)
{
    (void)state;
    static const struct seek_case kinds[] = {
        { "two transport streams", "mpegts", AAC, 0, 0, NULL, 0, SAME }, { "two Ogg files", "ogg", OPUS, 0, 0, NULL, 0, SAME },
        { "two program streams", "vob", MP3, 0, 0, NULL, 0, SAME }, { "two AVI files", "avi", MP3, 0, 0, NULL, -1, SAME },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char one[64], other[64], path[64];
        make(one, &kinds[i], 26);
        make(other, &kinds[i], 14);
        for (int turn = 0; turn < 3; turn++) {
            join(path, turn ? one : other, turn == 1 ? other : one);
            expect_case(path, &kinds[i]);
            unlink(path);
        }
        unlink(one);
        unlink(other);
    }
}

/* A region of zeros somewhere in the file: there is a rest all the same, and it ends where the file ends. */
static void test_damage_is_passed(void **state)
{
    (void)state;
    static const int kinds[] = { 0, 2, 3, 7, 8, 11, 17, 19, 20, 21 };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        for (int place = 1; place < 8; place += 2) {
            char path[64];
            size_t n;
            make(path, &cases[kinds[i]], 26);
            uint8_t *p = load(path, &n);
            memset(p + n / 8 * (size_t)place, 0, 3000);
            FILE *f = fopen(path, "wb");
            assert_int_equal(fwrite(p, 1, n, f), n);
            fclose(f);
            free(p);
            struct sound whole = read_file(path);
            steno_media *m = open_ok(path);
            steno_source src;
            steno_media_source(m, &src);
            const int64_t at = steno_media_skip(m, 15 * RATE);
            assert_in_range(at, 0, 15 * RATE);
            struct sound rest = drain(&src, 4801);
            assert_int_equal(rest.status, 0);
            assert_in_range(at + rest.n, whole.n - 2 * RATE, whole.n + 2 * RATE);
            steno_media_close(m);
            free(rest.v);
            free(whole.v);
            unlink(path);
        }
}

/* Changes the index of an AVI file: `change` receives the entries, 16 bytes each. */
static void change_index(const char *path, void (*change)(uint8_t *entry, size_t n))
{
    size_t n;
    uint8_t *p = load(path, &n), *at = p + n;
    while (at > p && memcmp(--at, "idx1", 4)) {}
    assert_true(at > p);
    change(at + 8, (size_t)(at[4] | at[5] << 8 | at[6] << 16) / 16);
    FILE *f = fopen(path, "wb");
    assert_int_equal(fwrite(p, 1, n, f), n);
    fclose(f);
    free(p);
}

static void lose_from(uint8_t *entry, size_t n, size_t i)
{
    for (int lost = 0; i < n && lost < 9; i++) {
        if (memcmp(entry + 16 * i + 2, "wb", 2)) continue;
        memcpy(entry + 16 * i, "JUNK", 4);
        lost++;
    }
}

static void lose_sound(uint8_t *entry, size_t n)
{
    lose_from(entry, n, n / 4);
}

static void lose_first(uint8_t *entry, size_t n)
{
    lose_from(entry, n, 0);
}

static void change_sizes(uint8_t *entry, size_t n)
{
    for (size_t i = n / 4; i < n / 2; i++) entry[16 * i + 12] ^= 2;
}

static void move_places(uint8_t *entry, size_t n)
{
    for (size_t i = n / 4; i < n / 2; i++) entry[16 * i + 8] ^= 2;
}

static void twice(uint8_t *entry, size_t n)
{
    for (size_t i = n / 4; i < n / 4 + 9; i++) memcpy(entry + 16 * i, entry + 16 * (i - 9), 16);
}

static void test_an_index_that_does_not_fit_is_not_used(void **state)
{
    (void)state;
    static void (*const changes[])(uint8_t *, size_t) = { lose_sound, lose_first, change_sizes, move_places, twice };
    static const char *const names[] = { "sound is not listed", "the first is not listed", "sizes", "places", "twice" };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++)
        for (int film = 0; film < 2 - (changes[i] == twice); film++) { /* a film's index has empty chunks there */
            const struct seek_case c = { names[i], "avi", MP3, film, 0, NULL, 0, SAME };
            char path[64];
            make(path, &c, 26);
            change_index(path, changes[i]);
            expect_case(path, &c);
            unlink(path);
        }
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------------- */

/* Bytes that this process has read so far, -1: the system does not count them. */
static int64_t bytes_read(void)
{
    long long n = -1;
    FILE *f = fopen("/proc/self/io", "r");
    if (!f) return -1;
    if (fscanf(f, "rchar: %lld", &n) != 1) n = -1;
    fclose(f);
    return n;
}

static int64_t open_size(const char *path)
{
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_size;
}

static void test_two_hours_are_not_read(void **state)
{
    (void)state;
    static const struct { struct seek_case of; double share; } files[] = {
        { { "AAC in MP4", "mp4", AAC, 0, 0, NULL, 1, SAME }, 0.10 }, /* most of it the index */
        { { "Opus in Ogg", "ogg", OPUS, 0, 0, NULL, 1, SAME }, 0.10 },
        { { "Vorbis in Ogg", "ogg", VORBIS, 0, 0, NULL, 1, SAME }, 0.10 },
        { { "Opus in WebM", "webm", OPUS, 0, 0, NULL, 1, SAME }, 0.05 },
        { { "MP3 in AVI", "avi", MP3, 0, 0, NULL, 1, SAME }, 0.40 }, /* its index, and a look at chunks */
        { { "MP3 in MPEG-PS", "vob", MP3, 0, 0, NULL, 1, SAME }, 0.25 },
        { { "AAC in MPEG-TS", "mpegts", AAC, 0, 0, NULL, 1, SAME }, 0.25 }, /* a look at every 9 seconds of it, at 40 kbit/s */
    };
    const int64_t hours = 2 * 3600;
    if (bytes_read() < 0) skip();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[64];
        make(path, &files[i].of, (double)hours + 30);
        const int64_t size = open_size(path), before = bytes_read();
        steno_media *m = open_ok(path);
        steno_source src;
        steno_media_source(m, &src);
        const int64_t at = steno_media_skip(m, hours * RATE);
        float pcm[RATE];
        assert_true(src.read(src.user, pcm, RATE) > 0);
        const int64_t read = bytes_read() - before;
        if (at < (hours - 2) * RATE) fail_msg("%s: goes to %lld alone", files[i].of.name, (long long)at);
        if ((double)read > files[i].share * (double)size)
            fail_msg("%s: %lld of %lld bytes are read", files[i].of.name, (long long)read, (long long)size);
        struct sound rest = drain(&src, 4801);
        assert_in_range(at + rest.n, (hours + 29) * RATE, (hours + 31) * RATE);
        free(rest.v);
        steno_media_close(m);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rest_is_the_same),
        cmocka_unit_test(test_joined_files_are_decoded),
        cmocka_unit_test(test_damage_is_passed),
        cmocka_unit_test(test_an_index_that_does_not_fit_is_not_used),
        cmocka_unit_test(test_two_hours_are_not_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
    return 77; /* FFmpeg is left out */
}
#endif
