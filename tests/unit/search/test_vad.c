/* steno tests: spans of speech. SPDX-License-Identifier: MIT
 *
 * The goldens are FunASR's own spans for real probabilities under eight settings; they lie in the shared collection. The made sequences
 * are the rules one by one: runs of frames, of speech and of silence in turn. */
#include <jansson.h>
#include <math.h>
#include "npy.h"
#include "search/vad.h"

enum { SPANS_MAX = 256 };

struct spans { struct vad_span v[SPANS_MAX]; size_t n; int64_t floor_ms; };

static void on_event(void *user, const struct vad_event *e)
{
    struct spans *s = user;
    assert_true(s->n < SPANS_MAX && e->span.t1_ms >= 0); /* openings are reported in streams alone */
    assert_true(e->span.t0_ms >= s->floor_ms);
    s->v[s->n++] = e->span;
}

static void spans_of(struct spans *s, const float *p, size_t n, int64_t samples, const struct vad_params *params)
{
    struct vad v;
    s->n = 0;
    vad_begin(&v, params, (struct vad_listener){ on_event, s });
    for (size_t t = 0; t < n; t++) {
        s->floor_ms = vad_floor_ms(&v);
        vad_step(&v, p[t]);
    }
    vad_end(&v, samples);
}

/* ---- goldens ----------------------------------------------------------------------------------------------------------------- */

static const struct { const char *name; int is_dynamic, end_silence, max_s; } settings[] = {
    { "default_dynamic", 1, 800, 60 }, { "fixed800", 0, 800, 60 },     { "fixed500", 0, 500, 60 },       { "dynamic_max5s", 1, 800, 5 },
    { "dynamic_max15s", 1, 800, 15 },  { "dynamic_max30s", 1, 800, 30 }, { "fixed800_max5s", 0, 800, 5 }, { "fixed800_max15s", 0, 800, 15 },
};

static void compare(const char *file, const char *setting, const struct spans *got, json_t *want)
{
    assert_non_null(want);
    for (size_t i = 0; i < got->n || i < json_array_size(want); i++) {
        json_t *w = json_array_get(want, i);
        const int64_t t0 = w ? json_integer_value(json_array_get(w, 0)) : -1, t1 = w ? json_integer_value(json_array_get(w, 1)) : -1;
        const struct vad_span g = i < got->n ? got->v[i] : (struct vad_span){ -1, -1 };
        if (g.t0_ms != t0 || g.t1_ms != t1)
            fail_msg("%s, %s: span %zu is %d-%d, want %d-%d", file, setting, i, (int)g.t0_ms, (int)g.t1_ms, (int)t0, (int)t1);
    }
}

static void test_spans_equal_the_reference_for_eight_settings_of_nine_files(void **state)
{
    (void)state;
    FILE *f = shared_open("funasr/fsmn-vad/golden/golden.json");
    if (!f) skip();
    json_t *golden = json_loadf(f, 0, NULL), *entry;
    fclose(f);
    assert_non_null(golden);
    assert_int_equal(json_object_size(golden), 9);
    const char *file;
    struct spans *got = malloc(sizeof *got);
    assert_non_null(got);
    json_object_foreach(golden, file, entry) {
        char name[256];
        snprintf(name, sizeof name, "funasr/fsmn-vad/golden/%.*s.psil.npy", (int)(strlen(file) - 4), file);
        struct npy p = npy_read(name);
        assert_non_null(p.v);
        assert_int_equal(p.n, json_integer_value(json_object_get(entry, "frames")));
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
            struct vad_params params;
            vad_params_init(&params);
            params.schedule = settings[i].is_dynamic ? VAD_FILES : VAD_FIXED;
            params.max_end_silence_ms = settings[i].end_silence;
            params.max_segment_ms = settings[i].max_s * 1000;
            spans_of(got, p.v, p.n, json_integer_value(json_object_get(entry, "samples")), &params);
            compare(file, settings[i].name, got, json_object_get(json_object_get(entry, "segments"), settings[i].name));
        }
        free(p.v);
    }
    free(got);
    json_decref(golden);
}

/* ---- streams ------------------------------------------------------------------------------------------------------------------ */

struct news { int64_t e[SPANS_MAX][3]; size_t n; int64_t chunk; };

static void on_news(void *user, const struct vad_event *e)
{
    struct news *s = user;
    assert_true(s->n < SPANS_MAX);
    if (e->is_cut) return;
    int64_t *to = s->e[s->n++];
    to[0] = s->chunk;
    to[1] = e->opens ? e->span.t0_ms : -1;
    to[2] = e->span.t1_ms;
}

/* Audio in chunks, of which each gives the frames whose right neighbours it has. */
static void news_of(struct news *s, const struct npy *p, int64_t samples, const struct vad_params *params)
{
    struct vad v;
    const int64_t chunk = params->chunk_ms * 16;
    size_t t = 0;
    s->n = 0;
    vad_begin(&v, params, (struct vad_listener){ on_news, s });
    for (s->chunk = 0; (s->chunk + 1) * chunk < samples; s->chunk++) {
        const int64_t heard = (s->chunk + 1) * chunk, frames = heard < 400 ? 0 : (heard - 400) / 160 - 1;
        for (; (int64_t)t < frames && t < p->n; t++) vad_step(&v, p->v[t]);
        vad_advance(&v, heard);
    }
    for (; t < p->n; t++) vad_step(&v, p->v[t]);
    vad_end(&v, samples);
}

static void compare_news(const char *file, const char *setting, const struct news *got, json_t *want)
{
    json_t *call, *event;
    size_t i, k, n = 0;
    json_array_foreach(want, i, call) {
        json_array_foreach(json_array_get(call, 1), k, event) {
            const json_int_t chunk = json_integer_value(json_array_get(call, 0)), t0 = json_integer_value(json_array_get(event, 0));
            const int64_t *g = got->e[n];
            if (n >= got->n || g[0] != chunk || g[1] != t0 || g[2] != json_integer_value(json_array_get(event, 1)))
                fail_msg("%s, %s: news %zu differs: want %d in chunk %d", file, setting, n, (int)t0, (int)chunk);
            n++;
        }
    }
    if (n != got->n) fail_msg("%s, %s: %zu pieces of news, want %zu", file, setting, got->n, n);
}

static void test_streams_report_spans_in_the_reference_s_chunks(void **state)
{
    (void)state;
    static const struct { const char *name; enum vad_schedule schedule; int chunk_ms; } streams[] = {
        { "chunk200_fixed800", VAD_FIXED, 200 }, { "chunk200_default", VAD_FILES, 200 }, { "chunk60_fixed800", VAD_FIXED, 60 },
    };
    FILE *f = shared_open("funasr/fsmn-vad/golden/golden.json");
    if (!f) skip();
    json_t *golden = json_loadf(f, 0, NULL), *entry;
    fclose(f);
    struct news *got = malloc(sizeof *got);
    const char *file;
    int n = 0;
    assert_true(golden && got);
    json_object_foreach(golden, file, entry) {
        char name[256];
        snprintf(name, sizeof name, "funasr/fsmn-vad/golden/%.*s.psil.npy", (int)(strlen(file) - 4), file);
        struct npy p = npy_read(name);
        for (size_t i = 0; i < sizeof streams / sizeof *streams; i++) {
            json_t *want = json_object_get(json_object_get(entry, "streaming"), streams[i].name);
            struct vad_params params;
            vad_params_init(&params);
            params.schedule = streams[i].schedule;
            params.chunk_ms = streams[i].chunk_ms;
            params.streaming = 1;
            if (!want) continue;
            news_of(got, &p, json_integer_value(json_object_get(entry, "samples")), &params);
            compare_news(file, streams[i].name, got, want);
            n++;
        }
        free(p.v);
    }
    assert_true(n >= 20);
    free(got);
    json_decref(golden);
}

/* ---- the rules --------------------------------------------------------------------------------------------------------------- */

enum { RUNS = 12, FRAMES_MAX = 20000 };

static struct vad_params fixed(void)
{
    struct vad_params p;
    vad_params_init(&p);
    p.schedule = VAD_FIXED;
    return p;
}

static struct vad_params dynamic(void)
{
    struct vad_params p;
    vad_params_init(&p);
    p.max_segment_ms = 3600000;
    return p;
}

/* Frames of runs: silence, speech, silence, …, up to the first 0 after the first run; the audio has just the samples that they need.
 * want: times in ms in pairs, up to -1. */
static void expect(const struct vad_params *params, const int *runs, const int *want)
{
    float *p = malloc(FRAMES_MAX * sizeof *p);
    struct spans *s = malloc(sizeof *s);
    assert_true(p && s);
    int n = 0;
    for (int i = 0; i < RUNS && (i == 0 || runs[i]); i++)
        for (int k = 0; k < runs[i]; k++) {
            assert_true(n < FRAMES_MAX);
            p[n++] = i % 2 ? 0.05f : 0.95f;
        }
    spans_of(s, p, (size_t)n, n ? 160 * (n - 1) + 400 : 0, params);
    for (size_t i = 0; i < s->n || want[2 * i] >= 0; i++) {
        const int t0 = i < s->n ? (int)s->v[i].t0_ms : -1, t1 = i < s->n ? (int)s->v[i].t1_ms : -1;
        if (want[2 * i] < 0) fail_msg("span %zu is %d-%d, want no more", i, t0, t1);
        if (t0 != want[2 * i] || t1 != want[2 * i + 1])
            fail_msg("span %zu is %d-%d, want %d-%d", i, t0, t1, want[2 * i], want[2 * i + 1]);
    }
    free(p);
    free(s);
}
#define RUN(...) (const int[RUNS]){ __VA_ARGS__ }
#define WANT(...) (const int[]){ __VA_ARGS__, -1 }
#define NOTHING (const int[]){ -1 }

static void test_no_frames_and_silence_have_no_spans(void **state)
{
    (void)state;
    const struct vad_params p = fixed();
    expect(&p, RUN(0), NOTHING);
    expect(&p, RUN(1), NOTHING);
    expect(&p, RUN(500), NOTHING);
    expect(&p, RUN(0, 14), NOTHING);
}

static void test_a_span_opens_at_15_votes_of_20_and_reaches_back_40_frames(void **state)
{
    (void)state;
    const struct vad_params p = fixed();
    expect(&p, RUN(100, 14, 200), NOTHING);
    expect(&p, RUN(100, 15, 200), WANT(740, 1310)); /* opens in frame 114; 120 is the first in which it stays silent */
    expect(&p, RUN(100, 3, 1, 3, 1, 3, 1, 3, 1, 3, 200), WANT(780, 1310)); /* in frame 118, whose window begins with the first vote */
    expect(&p, RUN(100, 3, 2, 3, 2, 3, 2, 3, 2, 3, 200), NOTHING);         /* never more than 13 in a window */
    expect(&p, RUN(10, 50, 200), WANT(0, 760));                            /* not before the audio */
}

static void test_a_span_closes_with_the_audio(void **state)
{
    (void)state;
    const struct vad_params p = fixed();
    expect(&p, RUN(100, 100), WANT(740, 2000));
    expect(&p, RUN(100, 100, 30), WANT(740, 2300));
    expect(&p, RUN(100, 15), WANT(740, 1150)); /* the last frame opened it */
    expect(&p, RUN(0, 15), WANT(0, 150));
}

static void test_silence_of_the_given_length_divides(void **state)
{
    (void)state;
    struct vad_params p = fixed();
    expect(&p, RUN(0, 50, 55, 50, 100), WANT(0, 1710)); /* 64 frames without a voice: 640 of 650 ms */
    expect(&p, RUN(0, 50, 56, 50, 100), WANT(0, 660, 940, 1720)); /* votes begin anew after it */
    p.max_end_silence_ms = 200;
    expect(&p, RUN(0, 50, 45, 50, 100), WANT(0, 600, 690, 1550)); /* shorter than the pad: closes where it is found */
    p.max_end_silence_ms = 0;
    expect(&p, RUN(0, 50, 45), WANT(0, 560));
}

static void test_long_speech_is_cut_and_goes_on_without_a_gap(void **state)
{
    (void)state;
    struct vad_params p = fixed();
    p.max_segment_ms = 5000;
    expect(&p, RUN(0, 1200), WANT(0, 5010, 5010, 10020, 10020, 12000));
    expect(&p, RUN(0, 495, 20, 700), WANT(0, 5010, 5010, 10020, 10020, 12150)); /* cut inside a short pause */
}

static void test_padding_is_taken_from_the_parameters(void **state)
{
    (void)state;
    struct vad_params p = fixed();
    p.start_pad_ms = 0;
    p.end_pad_ms = 0;
    expect(&p, RUN(100, 15, 200), WANT(940, 1210));
    p.start_pad_ms = 500;
    p.end_pad_ms = 300;
    expect(&p, RUN(100, 15, 200), WANT(440, 1510));
    p.window_ms = 100;
    p.to_speech_ms = p.to_silence_ms = 50;
    expect(&p, RUN(100, 5, 200), WANT(440, 1410));
}

static void test_the_schedule_waits_two_seconds_in_the_first_minute(void **state)
{
    (void)state;
    const struct vad_params d = dynamic(), f = fixed();
    expect(&d, RUN(0, 100, 150, 100, 300), WANT(0, 3660));
    expect(&f, RUN(0, 100, 150, 100, 300), WANT(0, 1160, 2240, 3660));
    expect(&d, RUN(0, 100, 176, 100), WANT(0, 1160, 2640, 3760));
}

static void test_the_schedule_grows_short_without_pauses_and_starts_anew_after_one(void **state)
{
    (void)state;
    const struct vad_params d = dynamic();
    expect(&d, RUN(0, 6100, 10, 100), WANT(0, 61100, 61100, 62100)); /* second minute: 50 ms */
    expect(&d, RUN(0, 12100, 10), WANT(0, 121060));                  /* third: at once */
    /* the pause in the second minute counts from the third on */
    expect(&d, RUN(0, 6100, 6000, 100, 150, 100), WANT(0, 61100, 120740, 124500));
}

static void test_a_chunk_begins_when_the_audio_goes_on_after_it(void **state)
{
    (void)state;
    float *p = calloc(6000, sizeof *p);
    struct spans s;
    assert_non_null(p);
    for (int t = 5985; t < 6000; t++) p[t] = 0.95f;
    const struct vad_params d = dynamic();
    spans_of(&s, p, 5998, 959999, &d); /* one chunk: its last frame closes the span */
    assert_int_equal(s.n, 1);
    assert_int_equal(s.v[0].t1_ms, 59980);
    spans_of(&s, p, 5998, 960000, &d); /* two: frame 5996 is the first in which 50 ms of silence are enough */
    assert_int_equal(s.n, 1);
    assert_int_equal(s.v[0].t1_ms, 59970);
    spans_of(&s, p, 6000, 960300, &d); /* known while frames come in */
    assert_int_equal(s.n, 1);
    assert_int_equal(s.v[0].t1_ms, 59970);
    free(p);
}

static void test_threshold_divides_speech_from_silence(void **state)
{
    (void)state;
    float p[100];
    struct spans s;
    struct vad_params f = fixed(), d = dynamic();
    for (int t = 0; t < 100; t++) p[t] = 0.22f; /* 0.78 against 0.22 + 0.5 and 0.22 + 0.6 */
    spans_of(&s, p, 100, 16240, &d);
    assert_int_equal(s.n, 1);
    spans_of(&s, p, 100, 16240, &f);
    assert_int_equal(s.n, 0);
    f.threshold = 0.5;
    spans_of(&s, p, 100, 16240, &f);
    assert_int_equal(s.n, 1);
    for (int t = 0; t < 100; t++) p[t] = NAN;
    spans_of(&s, p, 100, 16240, &d);
    assert_int_equal(s.n, 0);
}

/* Spans come in order, and have a length. */
static void follow(void *user, const struct vad_event *e)
{
    struct vad_span *last = user;
    assert_true(e->span.t0_ms >= last->t1_ms);
    if (e->span.t1_ms < 0) return;
    assert_true(e->span.t1_ms > e->span.t0_ms && e->span.t1_ms <= 7000);
    *last = e->span;
}

static void test_wild_parameters_and_probabilities_do_no_harm(void **state)
{
    (void)state;
    static const int wild[] = { INT32_MIN, -1, 0, 1, 15, 640, 650, 1000000, INT32_MAX };
    enum { N = sizeof wild / sizeof *wild };
    float p[700];
    uint32_t seed = 1;
    for (int round = 0; round < 2000; round++) {
        struct vad_params q;
        vad_params_init(&q);
        int *const field[] = { &q.max_end_silence_ms, &q.max_segment_ms, &q.start_pad_ms, &q.end_pad_ms, &q.window_ms, &q.to_speech_ms,
                               &q.to_silence_ms, &q.chunk_ms, &q.late_frames };
        for (size_t i = 0; i < sizeof field / sizeof *field; i++) {
            seed = seed * 1664525u + 1013904223u;
            if (seed >> 30) *field[i] = wild[(seed >> 20) % N];
        }
        q.schedule = (enum vad_schedule)(round % 3);
        q.streaming = round & 1;
        q.extend = round >> 1 & 1;
        for (int t = 0; t < 700; t++) {
            if (t % 25 == 0) seed = seed * 1664525u + 1013904223u;
            p[t] = seed >> 31 ? 0.05f : 0.95f;
        }
        struct vad v;
        struct vad_span last = { 0, 0 };
        vad_begin(&v, &q, (struct vad_listener){ follow, &last });
        for (int t = 0; t < 700; t++) {
            vad_step(&v, p[t]);
            if (seed >> (t % 32) & 1) vad_advance(&v, 160 * t + 400);
        }
        vad_end(&v, 160 * 699 + 400);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spans_equal_the_reference_for_eight_settings_of_nine_files),
        cmocka_unit_test(test_streams_report_spans_in_the_reference_s_chunks),
        cmocka_unit_test(test_no_frames_and_silence_have_no_spans),
        cmocka_unit_test(test_a_span_opens_at_15_votes_of_20_and_reaches_back_40_frames),
        cmocka_unit_test(test_a_span_closes_with_the_audio),
        cmocka_unit_test(test_silence_of_the_given_length_divides),
        cmocka_unit_test(test_long_speech_is_cut_and_goes_on_without_a_gap),
        cmocka_unit_test(test_padding_is_taken_from_the_parameters),
        cmocka_unit_test(test_the_schedule_waits_two_seconds_in_the_first_minute),
        cmocka_unit_test(test_the_schedule_grows_short_without_pauses_and_starts_anew_after_one),
        cmocka_unit_test(test_a_chunk_begins_when_the_audio_goes_on_after_it),
        cmocka_unit_test(test_threshold_divides_speech_from_silence),
        cmocka_unit_test(test_wild_parameters_and_probabilities_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
