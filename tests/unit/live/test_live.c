/* steno: text while somebody speaks, from sound to events. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "live.h"
#include "live_sound.h"
#include <stdio.h>
#include <stdlib.h>

enum { RATE = 16000, MOST = 40 * RATE, TEXT_SZ = 1 << 16 };

static float sound[MOST];
static int64_t n_sound;
static steno_model *model;
static steno_team *team;
static steno_session *session;

/* 16-bit mono samples behind a header. @return how many */
static int64_t wav_read(float *to, int64_t most, const char *path)
{
    int64_t n = 0;
    unsigned char b[2];
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    fseek(f, 44, SEEK_SET);
    while (n < most && fread(b, 1, 2, f) == 2) to[n++] = (float)(int16_t)(b[0] | b[1] << 8) / 32768;
    fclose(f);
    return n;
}

static int all_open(void **state)
{
    (void)state;
    steno_error e;
    steno_model_params mp;
    steno_model_params_init(&mp);
    n_sound = wav_read(sound, MOST, "tests/data/demo.wav");
    return n_sound < RATE || steno_team_open(&team, 1, &e) ||
           steno_model_open(&model, "models/whisper-digits/whisper-digits.bin", &mp, &e) ||
           steno_session_open(&session, model, team, NULL, &e);
}

static int all_close(void **state)
{
    (void)state;
    steno_session_close(session);
    steno_model_close(model);
    steno_team_close(team);
    return 0;
}

/* ---- events as text */

struct told { char text[TEXT_SZ], known[TEXT_SZ], final[TEXT_SZ]; int n_partials, n_turns, bad; int64_t decoded_ms, end_ms; };

static void report(void *user, const struct live_event *e)
{
    struct told *t = user;
    const size_t n = strlen(t->text), k = strlen(t->known), f = strlen(t->final);
    const char kind = e->kind == LIVE_PARTIAL ? 'p' : e->kind == LIVE_FINAL ? 'f' : 'e';
    snprintf(t->text + n, sizeof t->text - n, "%c%d %lld-%lld %lld %s\n", kind, e->turn, (long long)e->t0_ms, (long long)e->t1_ms,
             (long long)e->decoded_ms, e->text);
    if (e->kind == LIVE_PARTIAL) t->n_partials++;
    if (e->kind == LIVE_FINAL) snprintf(t->known + k, sizeof t->known - k, "%s%s", k ? " " : "", e->text);
    if (e->kind == LIVE_FINAL) snprintf(t->final + f, sizeof t->final - f, "%s%s", f ? " " : "", e->text);
    if (e->kind == LIVE_ENDPOINT) {
        t->n_turns++;
        t->end_ms = e->t1_ms;
        t->bad |= strcmp(t->known, e->text) != 0;
        t->known[0] = '\0';
    }
    t->bad |= e->decoded_ms < t->decoded_ms - 5000 || e->now_ms < e->decoded_ms;
    t->decoded_ms = e->decoded_ms;
}

static struct live_params params_of(struct told *t)
{
    struct live_params p = { .session = session, .team = team, .has_words = 1, .has_prompt = 1, .step_ms = 1000, .turn_most_ms = 30000,
                             .report = report, .user = t };
    steno_transcribe_params_init(&p.text);
    p.text.language = "en";
    memset(t, 0, sizeof *t);
    return p;
}

/* Pieces of up to `most` samples; 0: all at once. */
static void play(const struct live_params *p, const float *pcm, int64_t n, int64_t most, int64_t late_ms)
{
    static uint32_t seed = 1;
    struct live *l;
    steno_error e = { 0 };
    if (live_open(&l, p, &e)) fail_msg("%s", e.text);
    for (int64_t at = 0, k; at < n; at += k) {
        seed = seed * 1664525 + 1013904223;
        k = most ? 1 + (seed >> 8) % most : n;
        if (k > n - at) k = n - at;
        if (live_push(l, pcm + at, k, late_ms, &e)) fail_msg("%s", e.text);
    }
    if (live_end(l, &e)) fail_msg("%s", e.text);
    live_close(l);
}

static void test_pieces_of_any_size_give_the_same_events(void **state)
{
    (void)state;
    static const int64_t most[] = { 50, 511, 512, 513, 5000, 40000 };
    static struct told whole, t;
    struct live_params p = params_of(&whole);
    play(&p, sound, n_sound, 0, 0);
    assert_true(whole.n_partials > 1 && whole.n_turns == 1 && !whole.bad);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        p = params_of(&t);
        play(&p, sound, n_sound, most[i], 0);
        assert_string_equal(t.text, whole.text);
    }
}

static void test_no_turn_lasts_no_time(void **state)
{
    (void)state;
    static struct told t;
    struct live_params p = params_of(&t);
    play(&p, sound, 0, 0, 0);
    assert_string_equal(t.text, "");
    p = params_of(&t);
    play(&p, sound, 15, 0, 0); /* times are in milliseconds */
    assert_string_equal(t.text, "");
    p = params_of(&t);
    play(&p, sound, 16, 0, 0);
    assert_string_equal(t.text, "e1 0-1 1 \n");
    static const float silence[7 * RATE];
    static const struct { int64_t n; int turns; } all[] = { { 2 * RATE, 1 }, { 4 * RATE, 2 }, { 4 * RATE + 15, 2 }, { 4 * RATE + 16, 3 },
                                                            { 6 * RATE, 3 } };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        p = params_of(&t);
        p.turn_most_ms = 2000;
        play(&p, silence, all[i].n, 0, 0);
        assert_int_equal(t.n_turns, all[i].turns);
        assert_int_equal(t.end_ms, all[i].n / 16 / 1000 * 1000 + (all[i].n == 4 * RATE + 16));
    }
}

/* What is decided once is not detected at each update. */
static void test_a_turn_has_one_language(void **state)
{
    (void)state;
    static struct told t;
    steno_timings before = { .size = sizeof before }, after = { .size = sizeof after };
    int64_t encodes[2];
    for (int named = 0; named < 2; named++) {
        struct live_params p = params_of(&t);
        p.step_ms = 500;
        p.text.language = named ? "en" : NULL;
        steno_timings_get(session, &before);
        play(&p, sound, n_sound, 0, 0);
        steno_timings_get(session, &after);
        encodes[named] = after.n_encodes - before.n_encodes;
        assert_true(t.n_turns == 1 && !t.bad);
    }
    assert_true(encodes[1] >= 8 && encodes[0] > encodes[1]);
    assert_true(encodes[0] <= encodes[1] + 6); /* detected in 2 s, and until there are words */
}

static void test_a_slow_caller_gets_no_updates(void **state)
{
    (void)state;
    static struct told whole, t;
    struct live_params p = params_of(&whole);
    play(&p, sound, n_sound, 0, 0);
    p = params_of(&t);
    play(&p, sound, n_sound, 0, p.step_ms - 1);
    assert_string_equal(t.text, whole.text);
    p = params_of(&t);
    play(&p, sound, n_sound, 0, p.step_ms);
    assert_int_equal(t.n_partials, 0);
    assert_true(t.n_turns == 1 && !t.bad && strstr(t.text, "two"));
}

static void test_a_long_turn_goes_on_in_another_one(void **state)
{
    (void)state;
    static struct told t;
    static float many[MOST];
    int64_t n = 0;
    while (n + n_sound <= 36 * RATE) memcpy(many + n, sound, (size_t)n_sound * sizeof *many), n += n_sound;
    struct live_params p = params_of(&t);
    p.turn_most_ms = 6000;
    play(&p, many, n, 0, 0);
    assert_true(t.n_turns >= 6 && t.n_turns <= 10 && !t.bad); /* none is shorter than half of it */
    assert_int_equal(t.end_ms, n / 16);
    p = params_of(&t);
    play(&p, many, 6 * RATE, 0, 0); /* at the limit, and above it */
    assert_int_equal(t.n_turns, 1);
    p = params_of(&t);
    p.turn_most_ms = 6000;
    play(&p, many, 6 * RATE, 0, 0);
    assert_int_equal(t.n_turns, 1);
    p = params_of(&t);
    p.turn_most_ms = 6000;
    play(&p, many, 6 * RATE + 16, 0, 0);
    assert_int_equal(t.n_turns, 2);
    p = params_of(&t);
    play(&p, many, n, 0, 0); /* more than is heard at once: what is final is cut off */
    assert_true(t.n_turns == 2 && !t.bad);
}

/* A stop is where a pass takes a sentence to end. */
static char *without_stops(char *text)
{
    char *to = text;
    for (const char *p = text; *p; p++)
        if (*p != '.') *to++ = *p;
    *to = '\0';
    return text;
}

/* The words of a long speech are those of the whole, each once, wherever turns go on in others. */
static void test_no_word_is_lost_or_comes_twice_where_turns_join(void **state)
{
    (void)state;
    static const int64_t mosts[] = { 3000, 3700, 5000 };
    static struct told once, t;
    static float many[MOST];
    static char want[TEXT_SZ];
    enum { TIMES = 9 };
    struct live_params p = params_of(&once);
    play(&p, sound, n_sound, 0, 0);
    assert_true(once.n_turns == 1 && n_sound * TIMES <= MOST && once.final[0] && strlen(once.final) < TEXT_SZ / TIMES - 1);
    for (int i = 0; i < TIMES; i++) {
        memcpy(many + i * n_sound, sound, (size_t)n_sound * sizeof *many);
        if (i) strcat(want, " ");
        strcat(want, once.final);
    }
    for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
        p = params_of(&t);
        p.turn_most_ms = mosts[i];
        play(&p, many, TIMES * n_sound, 0, 0);
        assert_true(t.n_turns > 1 && !t.bad);
        assert_string_equal(without_stops(t.final), without_stops(want));
    }
}

/* More edges than anybody expects in one look. */
static void test_no_edge_is_lost(void **state)
{
    (void)state;
    const char *shared = shared_dir();
    char path[400];
    static float once[MOST];
    static struct kept k;
    static struct finder f;
    steno_model *vad;
    steno_error e = { 0 };
    enum { TIMES = 8 };
    snprintf(path, sizeof path, "%.200s/material/funasr/audio/vad/pauses.wav", shared);
    const int64_t n = wav_read(once, MOST, path);
    if (!n) skip();
    snprintf(path, sizeof path, "%.200s/material/funasr/silero/ggml-silero-v6.2.0.bin", shared);
    if (steno_model_open(&vad, path, NULL, &e)) fail_msg("%s", e.text);
    size_t n_edges[2];
    for (int i = 0; i < 2; i++) {
        if (finder_open(&f, &k, vad, team, NULL, &e)) fail_msg("%s", e.text);
        for (int t = 0; t < (i ? TIMES : 1); t++) assert_int_equal(kept_add(&k, once, n), 0);
        assert_int_equal(finder_look(&f, 1), 0);
        n_edges[i] = f.n_edges;
        finder_close(&f);
        kept_free(&k);
        memset(&f, 0, sizeof f);
    }
    assert_true(n_edges[0] > 16 && n_edges[1] > 64 && n_edges[1] >= TIMES * (n_edges[0] - 2));
    steno_model_close(vad);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_of_any_size_give_the_same_events),
        cmocka_unit_test(test_no_turn_lasts_no_time),
        cmocka_unit_test(test_a_turn_has_one_language),
        cmocka_unit_test(test_a_slow_caller_gets_no_updates),
        cmocka_unit_test(test_a_long_turn_goes_on_in_another_one),
        cmocka_unit_test(test_no_word_is_lost_or_comes_twice_where_turns_join),
        cmocka_unit_test(test_no_edge_is_lost),
    };
    return cmocka_run_group_tests(tests, all_open, all_close);
}
