/* steno: text during speech, from sound to events. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "live.h"
#include "live_sound.h"
#include <stdio.h>
#include <stdlib.h>

enum { RATE = 16000, MOST = 40 * RATE, TEXT_SZ = 1 << 16 };

static float sound[MOST], many[MOST]; /* a sentence; many of it */
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
    if (!f || fseek(f, 44, SEEK_SET)) return 0;
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

/* Repeats the sentence up to a duration. @return samples of `many` */
static int64_t repeated(int seconds)
{
    int64_t n = 0;
    while (n + n_sound <= (int64_t)seconds * RATE) memcpy(many + n, sound, (size_t)n_sound * sizeof *many), n += n_sound;
    return n;
}

/* ---- events as text */

struct reported {
    char text[TEXT_SZ], known[TEXT_SZ], final[TEXT_SZ], turns[TEXT_SZ];
    int n_partials, n_turns, bad;
    int64_t decoded_ms, end_ms;
};

static void report(void *user, const struct live_event *e)
{
    struct reported *t = user;
    const size_t n = strlen(t->text), k = strlen(t->known), f = strlen(t->final);
    const char kind = e->kind == LIVE_PARTIAL ? 'p' : e->kind == LIVE_FINAL ? 'f' : 'e';
    snprintf(t->text + n, sizeof t->text - n, "%c%d %lld-%lld %lld %s\n", kind, e->turn, (long long)e->t0_ms, (long long)e->t1_ms,
             (long long)e->decoded_ms, e->text);
    if (e->kind == LIVE_PARTIAL) t->n_partials++;
    if (e->kind == LIVE_FINAL) snprintf(t->known + k, sizeof t->known - k, "%*s%s", e->spaces, "", e->text);
    if (e->kind == LIVE_FINAL) snprintf(t->final + f, sizeof t->final - f, "%*s%s", f && !k ? 1 : e->spaces, "", e->text);
    t->bad |= e->kind == LIVE_PARTIAL && e->text[0] && e->spaces != (k > 0); /* its language has spaces between words */
    if (e->kind == LIVE_ENDPOINT) {
        t->n_turns++;
        t->end_ms = e->t1_ms;
        t->bad |= strcmp(t->known, e->text) != 0;
        t->known[0] = '\0';
    }
    t->bad |= e->decoded_ms < t->decoded_ms - 5000 || e->now_ms < e->decoded_ms;
    t->decoded_ms = e->decoded_ms;
}

static struct live_params params_of(struct reported *t)
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
    static struct reported whole, t;
    struct live_params p = params_of(&whole);
    play(&p, sound, n_sound, 0, 0);
    assert_true(whole.n_partials > 1 && whole.n_turns == 1 && !whole.bad);
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        p = params_of(&t);
        p.text.best_of = i == 0; /* only the last pass of a turn may draw: the others do not fail because of it */
        play(&p, sound, n_sound, most[i], 0);
        assert_string_equal(t.text, whole.text);
    }
}

static void test_no_turn_lasts_no_time(void **state)
{
    (void)state;
    static struct reported t;
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
    static struct reported t;
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
    static struct reported whole, t;
    struct live_params p = params_of(&whole);
    play(&p, sound, n_sound, 0, 0);
    p = params_of(&t);
    play(&p, sound, n_sound, 0, 199);
    assert_string_equal(t.text, whole.text);
    p = params_of(&t);
    play(&p, sound, n_sound, 0, 200);
    assert_int_equal(t.n_partials, 0);
    assert_true(t.n_turns == 1 && !t.bad && strstr(t.text, "two"));
}

static void test_a_long_turn_goes_on_in_another_one(void **state)
{
    (void)state;
    static struct reported t;
    const int64_t n = repeated(36);
    struct live_params p = params_of(&t);
    p.turn_most_ms = 6000;
    play(&p, many, n, 0, 0);
    assert_true(t.n_turns >= 6 && t.n_turns <= 10 && !t.bad && t.end_ms == n / 16); /* none is shorter than half of it */
    p = params_of(&t);
    play(&p, many, 6 * RATE, 0, 0); /* at the limit, and above it */
    assert_int_equal(t.n_turns, 1);
    for (int over = 0; over <= 1; over++) {
        p = params_of(&t);
        p.turn_most_ms = 6000;
        play(&p, many, 6 * RATE + 16 * over, 0, 0);
        assert_int_equal(t.n_turns, 1 + over);
    }
    p = params_of(&t);
    play(&p, many, n, 0, 0); /* more than a pass decodes: the final part is cut off */
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
    static struct reported once, t;
    static char want[TEXT_SZ];
    enum { TIMES = 9 };
    struct live_params p = params_of(&once);
    play(&p, sound, n_sound, 0, 0);
    assert_true(once.n_turns == 1 && repeated(36) == n_sound * TIMES && once.final[0] && strlen(once.final) < TEXT_SZ / TIMES - 1);
    for (int i = 0; i < TIMES; i++) strcat(strcat(want, i ? " " : ""), once.final);
    for (size_t i = 0; i < sizeof mosts / sizeof *mosts; i++) {
        p = params_of(&t);
        p.turn_most_ms = mosts[i];
        play(&p, many, repeated(36), 0, 0);
        assert_true(t.n_turns > 1 && !t.bad);
        assert_string_equal(without_stops(t.final), without_stops(want));
    }
}

/* ---- passes of the caller, and turns that it ends */

/* Turns as they open and end: "o1:0 c1:700 ". */
static void on_turn(void *user, enum live_turn what, int turn, int64_t at_ms)
{
    struct reported *t = user;
    const size_t n = strlen(t->turns);
    snprintf(t->turns + n, sizeof t->turns - n, "%c%d:%lld ", "ocbd"[what], turn, (long long)at_ms);
}

static struct { int n, n_last, fails_at; int64_t longest; } passes;

static int pass_run(void *user, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int is_last)
{
    static float pcm[MOST];
    int64_t n = 0, k;
    (void)user;
    while ((k = src->read(src->user, pcm + n, MOST - n)) > 0) n += k;
    assert_int_equal(k, 0);
    assert_int_equal(src->rewind(src->user), STENO_OK);
    passes.n_last += is_last;
    if (n > passes.longest) passes.longest = n;
    return ++passes.n == passes.fails_at ? STENO_ECANCELED : steno_transcribe_source(s, src, p);
}

static void test_passes_can_run_elsewhere(void **state)
{
    (void)state;
    static struct reported whole, t;
    struct live_params p = params_of(&whole);
    play(&p, sound, n_sound, 0, 0);
    p = params_of(&t);
    p.transcribe = pass_run;
    memset(&passes, 0, sizeof passes);
    play(&p, sound, n_sound, 777, 0);
    assert_string_equal(t.text, whole.text);
    assert_true(passes.n > 2 && passes.n_last == 1 && passes.longest == n_sound);
    for (int at = passes.n; at > 0; at--) { /* each pass may fail, the last one too */
        struct live *l;
        steno_error e = { 0 };
        memset(&passes, 0, sizeof passes);
        passes.fails_at = at;
        p = params_of(&t);
        p.transcribe = pass_run;
        assert_int_equal(live_open(&l, &p, &e), STENO_OK);
        int rc = live_push(l, sound, n_sound, 0, &e);
        if (!rc) rc = live_end(l, &e);
        assert_int_equal(rc, STENO_ECANCELED);
        assert_int_equal(live_commit(l, &e), STENO_ECANCELED);
        assert_int_equal(live_clear(l, 0, &e), STENO_ECANCELED);
        assert_int_equal(passes.n, at);
        assert_int_equal(t.n_turns, 0);
        live_close(l);
    }
}

static void push(struct live *l, const float *pcm, int64_t n, int64_t piece)
{
    steno_error e = { 0 };
    for (int64_t at = 0, k; at < n; at += k) {
        k = n - at < piece ? n - at : piece;
        if (live_push(l, pcm + at, k, 0, &e)) fail_msg("%s", e.text);
    }
}

/* Each turn has the words that its audio has alone, whatever the pieces. */
static void test_a_turn_ends_where_the_caller_ends_it(void **state)
{
    (void)state;
    static const int64_t pieces[] = { 1 << 20, 100, 512, 7777 };
    static struct reported once, t;
    static char want[TEXT_SZ];
    struct live_params p = params_of(&once);
    play(&p, sound, n_sound, 0, 0);
    assert_true(snprintf(want, sizeof want, "%.2000s %.2000s", once.final, once.final) < (int)sizeof want);
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct live *l;
        steno_error e = { 0 };
        char turns[200];
        const long long end = n_sound / 16;
        p = params_of(&t);
        p.turn = on_turn;
        assert_int_equal(live_open(&l, &p, &e), STENO_OK);
        assert_int_equal(live_commit(l, &e), STENO_OK); /* nothing to end */
        push(l, sound, n_sound, pieces[i]);
        assert_int_equal(live_commit(l, &e), STENO_OK);
        assert_int_equal(t.n_turns, 1);
        assert_int_equal(t.end_ms, n_sound / 16);
        assert_int_equal(live_commit(l, &e), STENO_OK);
        push(l, sound, 15, 15); /* less than a time can express */
        assert_int_equal(live_commit(l, &e), STENO_OK);
        assert_int_equal(t.n_turns, 1);
        push(l, sound, n_sound, pieces[i]);
        assert_int_equal(live_end(l, &e), STENO_OK);
        assert_int_equal(t.n_turns, 2);
        assert_true(!t.bad);
        assert_string_equal(t.final, want);
        assert_int_equal(t.end_ms, (2 * n_sound + 15) / 16);
        snprintf(turns, sizeof turns, "o1:0 c1:%lld o2:%lld c2:%lld ", end, (n_sound + 15) / 16LL, (2 * n_sound + 15) / 16LL);
        assert_string_equal(t.turns, turns);
        assert_int_equal(live_end(l, &e), STENO_OK); /* no turn is left */
        assert_int_equal(t.n_turns, 2);
        live_close(l);
    }
}

static void test_audio_that_is_cleared_has_no_endpoint(void **state)
{
    (void)state;
    static struct reported once, t;
    struct live_params p = params_of(&once);
    play(&p, sound, n_sound, 0, 0);
    for (int64_t n = 0; n < n_sound; n += 9999) {
        struct live *l;
        steno_error e = { 0 };
        p = params_of(&t);
        p.turn = on_turn;
        assert_int_equal(live_open(&l, &p, &e), STENO_OK);
        assert_int_equal(live_clear(l, 0, &e), STENO_OK);
        push(l, sound, n, 1000);
        assert_int_equal(live_clear(l, 777, &e), STENO_OK);
        assert_int_equal(live_clear(l, 0, &e), STENO_OK);
        assert_int_equal(live_commit(l, &e), STENO_OK);
        assert_int_equal(t.n_turns, 0);
        t.known[0] = t.final[0] = '\0';
        push(l, sound, n_sound, 1000);
        assert_int_equal(live_end(l, &e), STENO_OK);
        assert_int_equal(t.n_turns, 1);
        assert_int_equal(t.end_ms, (n + 777 + n_sound) / 16);
        assert_string_equal(t.final, once.final);
        assert_true(!t.bad && (n == 0) == !strchr(t.turns, 'd'));
        live_close(l);
    }
}

static void test_a_turn_at_its_longest_breaks(void **state)
{
    (void)state;
    static struct reported t;
    static const float silence[5 * RATE];
    struct live_params p = params_of(&t);
    p.turn_most_ms = 2000;
    p.turn = on_turn;
    play(&p, silence, 4 * RATE + 15, 0, 0);
    assert_string_equal(t.turns, "o1:0 b1:2000 o2:2000 b2:4000 o3:4000 d3:4000 "); /* less than 1 ms was left */
    p = params_of(&t);
    p.turn_most_ms = 5000;
    p.turn = on_turn;
    play(&p, many, repeated(20), 0, 0);
    int turn = 0, opened = 0, ended = 0;
    for (const char *s = t.turns; *s; s = strchr(s, ' ') + 1) { /* one after another */
        const int number = atoi(s + 1);
        if (*s == 'o') assert_true(opened == ended && number == ++turn), opened++;
        else assert_true(number == turn && ++ended == opened && (*s == 'b') == (number < t.n_turns));
    }
    assert_true(turn > 3 && turn == t.n_turns && ended == turn);
}

/* One pass over repeated sentences has a high compression ratio, and its text is kept as that of a file is. */
static void test_speech_that_repeats_keeps_its_text(void **state)
{
    (void)state;
    static struct reported t;
    struct live_params p = params_of(&t);
    play(&p, many, repeated(20), 0, 5000);
    assert_true(t.n_turns == 1 && !t.bad && strstr(t.final, "zero nine one eight. two seven"));
}

/* With voice activity: speech that goes on after a commit opens the next turn; what was cleared is not found. */
static void test_voice_activity_begins_anew(void **state)
{
    (void)state;
    static struct reported t;
    static float once[MOST];
    const char *shared = shared_dir();
    char path[400];
    steno_error e = { 0 };
    steno_model *vad;
    struct live *l;
    snprintf(path, sizeof path, "%.200s/material/funasr/audio/vad/pauses.wav", shared);
    const int64_t n = wav_read(once, MOST, path);
    if (!n) skip();
    snprintf(path, sizeof path, "%.200s/material/funasr/silero/ggml-silero-v6.2.0.bin", shared);
    if (steno_model_open(&vad, path, NULL, &e)) fail_msg("%s", e.text);
    struct live_params p = params_of(&t);
    p.vad = vad;
    p.turn = on_turn;
    play(&p, once, n, 0, 0);
    const int n_turns = t.n_turns;
    assert_true(n_turns > 1 && !t.bad);
    p = params_of(&t);
    p.vad = vad;
    p.turn = on_turn;
    assert_int_equal(live_open(&l, &p, &e), STENO_OK);
    push(l, once, n / 2, 800);
    assert_int_equal(live_clear(l, 0, &e), STENO_OK);
    t.turns[0] = '\0';
    t.n_turns = 0;
    push(l, once, n, 800);
    assert_int_equal(live_commit(l, &e), STENO_OK);
    assert_true(t.n_turns >= n_turns - 1 && t.n_turns <= n_turns + 1);
    assert_true(atoll(strchr(t.turns, ':') + 1) >= n / 2 / 16); /* nothing before */
    assert_int_equal(live_end(l, &e), STENO_OK);
    live_close(l);
    steno_model_close(vad);
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
        cmocka_unit_test(test_passes_can_run_elsewhere),
        cmocka_unit_test(test_a_turn_ends_where_the_caller_ends_it),
        cmocka_unit_test(test_audio_that_is_cleared_has_no_endpoint),
        cmocka_unit_test(test_a_turn_at_its_longest_breaks),
        cmocka_unit_test(test_speech_that_repeats_keeps_its_text),
        cmocka_unit_test(test_voice_activity_begins_anew),
        cmocka_unit_test(test_no_edge_is_lost),
    };
    return cmocka_run_group_tests(tests, all_open, all_close);
}
