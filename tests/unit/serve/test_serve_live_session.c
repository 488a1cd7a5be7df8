/* steno tests: live sessions of the server. SPDX-License-Identifier: MIT */
#include "live_rig.h"
#include "sink.h"
#include <math.h>
#include <steno/media.h>
#include <unistd.h>

static int all_open(void **state)
{
    (void)state;
    return rig_open();
}

static int all_close(void **state)
{
    (void)state;
    steno_model_close(engine.e.model);
    return 0;
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------- */

static char once[TEXT_SZ]; /* the words of the sound */

static void test_pieces_of_any_size_give_the_same_words(void **state)
{
    (void)state;
    static const size_t most[] = { 1 << 20, 333, 3200 };
    static struct client c;
    for (size_t i = 0; i < sizeof most / sizeof *most; i++) {
        struct live_session_params p = params_of(&c);
        c.closes = i % 2;
        engine_set(&engine.is_loaded, i != 2); /* else it waits on its own thread */
        client_open(&c, &p);
        push(&c, sound, (size_t)n_sound * 2, most[i]);
        assert_int_equal(live_session_pushed_ms(c.s), n_sound / 16);
        live_session_end(c.s);
        client_end(&c);
        assert_string_equal(c.why, "");
        if (i == 0) snprintf(once, sizeof once, "%s", c.final);
        assert_non_null(strstr(c.final, "zero nine one eight"));
        assert_string_equal(c.final, once);
        assert_int_equal(c.n_endpoints, 1);
    }
    engine_set(&engine.is_loaded, 1);
    assert_true(engine.n_last >= 3 && engine.n_passes > engine.n_last);
}

/* Value of a metric, the text of its labels included. */
static double metric(struct metrics *m, const char *name)
{
    struct sink_memory text = { 0 };
    struct sink to = sink_to_memory(&text);
    const struct metrics_now now = { 0 };
    metrics_write(m, &to, &now);
    sink_char(&to, '\0');
    assert_false(to.failed);
    const char *at = strstr(text.p, name);
    const double value = at ? atof(at + strlen(name)) : -1;
    free(text.p);
    return value;
}

static void test_updates_are_greedy_and_counted(void **state)
{
    (void)state;
    static struct client c;
    struct live_session_params p = params_of(&c);
    steno_transcribe_params *t = &engine.e.job.params;
    p.metrics = metrics_open("test");
    t->beam_size = t->n_best = 2;
    t->patience = t->length_penalty = 1;
    engine.n_passes = engine.n_last = engine.beams[0] = engine.beams[1] = 0;
    client_open(&c, &p);
    push(&c, sound, (size_t)n_sound * 2, 3200);
    live_session_end(c.s);
    client_end(&c);
    steno_transcribe_params_init(t);
    assert_string_equal(c.why, "");
    assert_true(strlen(c.final) > 10 && engine.n_last == 1 && engine.n_passes >= 3);
    assert_int_equal(engine.beams[0], 0);
    assert_int_equal(engine.beams[1], 2);
    assert_true(metric(p.metrics, "\nsteno_live_updates_total{result=\"done\"} ") == engine.n_passes);
    assert_true(metric(p.metrics, "\nsteno_live_lag_seconds_count ") == engine.n_passes);
    assert_true(metric(p.metrics, "\nsteno_live_lag_seconds_sum ") >= 0);
    assert_true(metric(p.metrics, "\nsteno_live_disagreements_total ") >= 0);
    metrics_close(p.metrics);
}

static void test_options_of_the_server_decide_what_passes_encode(void **state)
{
    (void)state;
    static struct client c;
    static const struct { int padding_ms, last, update_windows, last_windows; } of[] = {
        { 3000, 0, 0, 1 }, { 3000, 1, 0, 0 }, { 30000, 0, 1, 1 }, { 30000, 1, 1, 1 } };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        const struct live_session_params p = params_of(&c);
        engine.e.live_padding_ms = of[i].padding_ms;
        engine.e.live_last = of[i].last;
        engine.n_passes = engine.n_last = engine.windows[0] = engine.windows[1] = 0;
        client_open(&c, &p);
        assert_int_equal(live_session_push(c.s, sound, (size_t)n_sound * 2), 0); /* at once, so each update is made */
        live_session_end(c.s);
        client_end(&c);
        assert_string_equal(c.final, once);
        assert_true(engine.n_last == 1 && engine.n_passes > 2);
        assert_int_equal(engine.windows[0], of[i].update_windows ? engine.n_passes - 1 : 0);
        assert_int_equal(engine.windows[1], of[i].last_windows);
    }
    engine.e.live_padding_ms = engine.e.live_last = 0;
}

static void test_encodings_and_rates(void **state)
{
    (void)state;
    static struct client c;
    static uint8_t bytes[MOST * 8];
    for (int k = 0; k < 4; k++) {
        struct live_session_params p = params_of(&c);
        size_t n = 0;
        for (int64_t i = 0; i < n_sound; i++) {
            const float f = (float)sound[i] / 32768;
            const int32_t wide = (int32_t)sound[i] * 65536;
            if (k == 0) memcpy(bytes + n, &f, 4), n += 4;
            if (k == 1) memcpy(bytes + n, &wide, 4), n += 4;
            for (int twice = 0; k == 2 && twice < 2; twice++) memcpy(bytes + n, &sound[i], 2), n += 2; /* both channels */
            for (int twice = 0; k == 3 && twice < 2; twice++) memcpy(bytes + n, &sound[i], 2), n += 2; /* twice the rate */
        }
        static const struct { enum audio_encoding encoding; int rate, channels; } of[] = {
            { AUDIO_F32LE, RATE, 1 }, { AUDIO_S32LE, RATE, 1 }, { AUDIO_S16LE, RATE, 2 }, { AUDIO_S16LE, 2 * RATE, 1 } };
        p.encoding = of[k].encoding;
        p.rate = of[k].rate;
        p.channels = of[k].channels;
        if (k >= 2 && strncmp(steno_media_backend(), "FFmpeg", 6) != 0) continue;
        client_open(&c, &p);
        push(&c, bytes, n, 1001);
        assert_int_equal(live_session_pushed_ms(c.s), n_sound / 16);
        live_session_end(c.s);
        client_end(&c);
        assert_string_equal(c.why, "");
        if (strcmp(c.final, once) != 0) fail_msg("%d: \"%s\", want \"%s\"", k, c.final, once);
    }
}

static void test_commits_and_clears_keep_their_places(void **state)
{
    (void)state;
    static struct client c;
    char want[TEXT_SZ];
    const long long ms = n_sound / 16;
    struct live_session_params p = params_of(&c);
    client_open(&c, &p);
    engine_set(&engine.holds, 1); /* all is pushed before anything is decoded */
    push(&c, sound, (size_t)n_sound * 2, 5000);
    live_session_commit(c.s);
    push(&c, sound, (size_t)n_sound * 2, 5000);
    live_session_clear(c.s); /* only what is after the commit */
    live_session_commit(c.s);
    push(&c, sound, (size_t)n_sound * 2, 5000);
    live_session_commit(c.s);
    live_session_end(c.s);
    assert_int_equal(live_session_push(c.s, sound, 2), -1);
    live_session_commit(c.s); /* after the end: nothing */
    engine_set(&engine.holds, 0);
    client_end(&c);
    assert_string_equal(c.why, "");
    snprintf(want, sizeof want, "%.2000s %.2000s", once, once);
    assert_string_equal(c.final, want);
    snprintf(want, sizeof want, "+0 -%lld e1 f0 c0 f0 +%lld -%lld e2 f0 ", ms, 2 * n_sound / 16LL, 3 * n_sound / 16LL);
    assert_string_equal(c.log, want);
    assert_int_equal(c.end_ms, 3 * n_sound / 16);
}

/* A turn that is open when it is cleared. */
static void test_a_clear_drops_the_open_turn(void **state)
{
    (void)state;
    static struct client c;
    struct live_session_params p = params_of(&c);
    client_open(&c, &p);
    push(&c, sound, RATE, 1000); /* 0.5 s, less than a step */
    live_session_clear(c.s);
    live_session_commit(c.s);
    live_session_end(c.s);
    client_end(&c);
    assert_int_equal(c.n_endpoints, 0);
    assert_string_equal(c.final, "");
    assert_non_null(strstr(c.log, "c0 f0 "));
}

static void test_a_full_ring_asks_the_client_to_wait(void **state)
{
    (void)state;
    static struct client c;
    static int16_t minute[60 * RATE];
    struct live_session_params p = params_of(&c);
    client_open(&c, &p);
    engine_set(&engine.holds, 1);
    assert_int_equal(live_session_push(c.s, minute, sizeof minute / 2), 0); /* 30 s are the limit */
    assert_int_equal(live_session_push(c.s, minute, 3 * RATE * 2), 1);      /* the first pass has taken at most 2 s */
    assert_int_equal(live_session_push(c.s, minute, 2), 1);
    assert_int_equal(c.n_room, 0);
    engine_set(&engine.holds, 0);
    wait_for(&c, &c.n_room, 1);
    assert_int_equal(live_session_push(c.s, minute, 2), 0);
    live_session_end(c.s);
    client_end(&c);
    assert_string_equal(c.why, "");
    assert_int_equal(c.n_room, 1);
    p = params_of(&c);
    client_open(&c, &p);
    engine_set(&engine.holds, 1);
    int n = 0;
    while (live_session_push(c.s, minute, sizeof minute) >= 0) assert_true(++n < 20);
    engine_set(&engine.holds, 0);
    client_end(&c);
    assert_non_null(strstr(c.why, "more audio than"));
}

static void test_commits_have_a_limit(void **state)
{
    (void)state;
    static struct client c;
    struct live_session_params p = params_of(&c);
    client_open(&c, &p);
    engine_set(&engine.holds, 1);
    push(&c, sound, 4 * RATE, 4 * RATE);
    for (int i = 0; i < 66; i++) live_session_commit(c.s);
    engine_set(&engine.holds, 0);
    client_end(&c);
    assert_non_null(strstr(c.why, "commits"));
}

/* Audio that waits longer than a step: passes are skipped. Audio that comes faster than from a microphone is not late. */
static void test_a_late_machine_skips_passes(void **state)
{
    (void)state;
    static struct client c;
    enum { STEP_MS = 200, ALL = 9 * RATE / 5, PASSES = 9 };
    struct live_session_params p = params_of(&c);
    p.step_ms = STEP_MS;
    client_open(&c, &p);
    const int before = engine_get(&engine.n_passes);
    engine_set(&engine.holds, 1);
    push(&c, sound, RATE, RATE);
    while (engine_get(&engine.n_passes) == before) usleep(1000);
    push(&c, sound + RATE / 2, (ALL - RATE / 2) * 2, RATE * 4);
    usleep(1500000); /* the first pass lasts long, and the rest waits */
    live_session_end(c.s);
    engine_set(&engine.holds, 0);
    client_end(&c);
    assert_string_equal(c.why, "");
    assert_true(*c.final && c.n_endpoints == 1);
    assert_true(engine_get(&engine.n_passes) - before < PASSES - 3);
    p = params_of(&c);
    p.step_ms = 2 * STEP_MS;
    const int before_all = engine_get(&engine.n_passes);
    client_open(&c, &p);
    push(&c, sound, (size_t)n_sound * 2, (size_t)n_sound * 2);
    live_session_end(c.s);
    client_end(&c);
    assert_true(engine_get(&engine.n_passes) - before_all >= n_sound * 1000 / RATE / (2 * STEP_MS));
}

static void test_failures_are_reasons(void **state)
{
    (void)state;
    static struct client c;
    struct live_session_params p = params_of(&c);
    client_open(&c, &p);
    engine_set(&engine.fails, 1);
    push(&c, sound, (size_t)n_sound * 2, 1000000);
    client_end(&c);
    engine_set(&engine.fails, 0);
    assert_true(c.why[0]);
    assert_int_equal(c.code, API_internal_error);
    assert_int_equal(c.n_endpoints, 0);

    static const struct { int encoding, rate, channels; const char *param; } of[] = {
        { 99, RATE, 1, "encoding" }, { -1, RATE, 1, "encoding" }, { AUDIO_S16LE, 7999, 1, "rate" },
        { AUDIO_S16LE, 192001, 1, "rate" }, { AUDIO_S16LE, RATE, 0, "channels" }, { AUDIO_S16LE, RATE, 9, "channels" } };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct live_session *s = (void *)&s;
        struct api_error e = { 0 };
        p = params_of(&c);
        p.encoding = (enum audio_encoding)of[i].encoding;
        p.rate = of[i].rate;
        p.channels = of[i].channels;
        assert_int_equal(live_session_open(&s, &p, &e), API_invalid_value);
        assert_null(s);
        assert_string_equal(e.param, of[i].param);
        assert_true(e.message[0]);
    }
    engine_set(&engine.most, 0);
    for (int loaded = 0; loaded < 2; loaded++) {
        struct live_session *s;
        struct api_error e = { 0 };
        p = params_of(&c);
        engine_set(&engine.is_loaded, loaded);
        if (loaded) assert_int_equal(live_session_open(&s, &p, &e), API_too_many_sessions);
        else {
            client_open(&c, &p);
            client_end(&c);
            assert_string_equal(c.why, "no more sessions");
            assert_int_equal(c.code, API_too_many_sessions);
        }
    }
    engine_set(&engine.most, 4);
}

static void test_a_late_server_refuses_new_sessions_only(void **state)
{
    (void)state;
    static struct client c;
    struct live_session *s;
    struct live_session_params p = params_of(&c);
    struct metrics *m = metrics_open("test");
    engine_set(&engine.is_late, 1);
    for (int loaded = 0; loaded < 2; loaded++) {
        struct api_error e = { 0 };
        engine_set(&engine.is_loaded, loaded);
        assert_int_equal(live_session_open(&s, &p, &e), API_overloaded);
        assert_null(s);
        assert_int_equal(live_session_refused(m, &e), LIVE_CLOSE_BUSY);
    }
    assert_true(metric(m, "\nsteno_requests_rejected_total{reason=\"overloaded\"} ") == 2);
    assert_int_equal(live_session_refused(m, &(struct api_error){ .code = API_invalid_value }), LIVE_CLOSE_FAILED);
    assert_int_equal(live_session_refused(m, &(struct api_error){ .code = API_draining }), LIVE_CLOSE_STOPPING);
    assert_int_equal(live_session_refused(NULL, &(struct api_error){ .code = API_too_many_sessions }), LIVE_CLOSE_BUSY);
    metrics_close(m);
    p.continues = 1;
    client_open(&c, &p);
    live_session_end(c.s);
    client_end(&c);
    assert_string_equal(c.why, "");
    engine_set(&engine.is_late, 0);
}

/* Audio that is sent ahead of time has no delay. */
static void test_passes_report_their_delay(void **state)
{
    (void)state;
    static struct client c;
    enum { HELD_MS = 1500, PUSHED_MS = 1100, PUSHED = RATE / 1000 * PUSHED_MS };
    for (int ahead = 0; ahead < 2; ahead++) {
        const struct live_session_params p = params_of(&c);
        const int before = engine_get(&engine.n_passes);
        engine.n_delays = 0;
        engine.delay_us = 0;
        client_open(&c, &p);
        engine_set(&engine.holds, 1);
        if (ahead) assert_int_equal(live_session_push(c.s, sound, (size_t)n_sound * 2), 0);
        else assert_int_equal(live_session_push(c.s, sound, PUSHED * 2), 0);
        while (engine_get(&engine.n_passes) == before) usleep(1000);
        usleep(HELD_MS * 1000);
        engine_set(&engine.holds, 0);
        live_session_end(c.s);
        client_end(&c);
        assert_string_equal(c.why, "");
        assert_int_equal(engine.n_delays, ahead ? 0 : engine.n_passes - before);
        if (!ahead) assert_true(engine.n_delays > 1 && engine.delay_us >= (HELD_MS - PUSHED_MS) * 1000);
    }
}

static void test_a_session_can_be_cancelled_at_any_time(void **state)
{
    (void)state;
    engine_set(&engine.loads, 1);
    for (int k = 0; k < 12; k++) {
        static struct client c;
        engine_set(&engine.is_loaded, k % 4 != 3); /* else it waits for its model */
        struct live_session_params p = params_of(&c);
        c.closes = k % 2;
        client_open(&c, &p);
        push(&c, sound, (size_t)n_sound * 2, 100000);
        if (k % 3 == 1) live_session_end(c.s);
        usleep((useconds_t)k * 3000);
        enter(&c);
        if (!c.is_over || !c.closes) live_session_cancel(c.s);
        pthread_mutex_unlock(&c.lock);
        client_end(&c);
        assert_string_equal(c.why, "");
    }
    engine_set(&engine.is_loaded, 1);
    engine_set(&engine.loads, 0);
}

static void test_sessions_run_beside_each_other(void **state)
{
    (void)state;
    static struct client c[4];
    for (int i = 0; i < 4; i++) {
        struct live_session_params p = params_of(&c[i]);
        client_open(&c[i], &p);
    }
    for (int64_t at = 0; at < n_sound; at += 800)
        for (int i = 0; i < 4; i++) {
            const int64_t n = n_sound - at < 800 ? n_sound - at : 800;
            assert_int_equal(live_session_push(c[i].s, sound + at, (size_t)n * 2), 0);
        }
    for (int i = 0; i < 4; i++) live_session_end(c[i].s);
    for (int i = 0; i < 4; i++) {
        wait_for(&c[i], &c[i].is_over, 1);
        live_session_close(c[i].s);
        assert_string_equal(c[i].why, "");
        assert_string_equal(c[i].final, once);
    }
    assert_int_equal(engine_get(&engine.n_sessions), 0);
}

static void test_voice_activity_opens_turns(void **state)
{
    (void)state;
    char path[400];
    steno_error e = { 0 };
    steno_model *vad;
    static struct client c;
    static int16_t audio[6 * RATE + MOST];
    snprintf(path, sizeof path, "%.200s/material/funasr/silero/ggml-silero-v6.2.0.bin", shared_dir());
    if (access(path, R_OK) != 0) skip();
    if (steno_model_open(&vad, path, NULL, &e)) fail_msg("%s", e.text);
    engine.e.vad = vad;
    struct live_session_params p = params_of(&c);
    p.uses_vad = 1;
    p.threshold = 0.5;
    p.silence_ms = 400;
    p.padding_ms = 100;
    memcpy(audio + 3 * RATE, sound, (size_t)n_sound * 2);
    client_open(&c, &p);
    push(&c, audio, (size_t)(6 * RATE + n_sound) * 2, 3200);
    live_session_end(c.s);
    client_end(&c);
    engine.e.vad = NULL;
    steno_model_close(vad);
    assert_string_equal(c.why, "");
    assert_true(c.n_endpoints >= 1 && c.final[0]);
    assert_in_range(atoll(c.log + 1), 2500, 3500); /* where the speech begins */
}

static void test_updates_become_rarer_while_they_wait(void **state)
{
    (void)state;
    int step = 1000, n = 0;
    assert_int_equal(live_session_step(step, 1000, 0), 1000);
    for (int before = 0; step > before; n++) before = step, step = live_session_step(step, 1000, 1000000);
    assert_int_equal(step, 10000); /* at most */
    assert_in_range(n, 5, 20);
    int64_t all_ms = 0;
    for (n = 0; step > 1000 && n < 100; n++) {
        const int next = live_session_step(step, 1000, 1000);
        assert_true(next < step && next >= 1000);
        all_ms += step;
        step = next;
    }
    assert_in_range(n, 6, 12);
    assert_in_range(all_ms, 10000, 30000); /* of audio, until it is as before the load */
    assert_int_equal(live_session_step(1000, 200, 0), 889);      /* 9/8 in a second */
    assert_int_equal(live_session_step(1000, 200, 125000), 941); /* 17/16 */
    assert_int_equal(live_session_step(1000, 200, 250000), 1000);
    assert_int_equal(live_session_step(1000, 200, 250001), 1500);
    int few = 1000, many = 8000; /* of two sessions that wait alike, the rarer one comes near the other */
    for (n = 0; n < 40; n++) {
        const int64_t wait_us = n % 4 ? 0 : 300000;
        few = live_session_step(few, 200, wait_us);
        many = live_session_step(many, 200, wait_us);
    }
    assert_in_range(many, few, few * 11 / 10);
    assert_int_equal(live_session_step(400, 200, 300000), 600);
    assert_int_equal(live_session_step(200, 200, 4000000), 6000); /* at once: what was waited for is the step */
    assert_int_equal(live_session_step(200, 200, INT64_MAX), 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_updates_become_rarer_while_they_wait),
        cmocka_unit_test(test_pieces_of_any_size_give_the_same_words),
        cmocka_unit_test(test_updates_are_greedy_and_counted),
        cmocka_unit_test(test_options_of_the_server_decide_what_passes_encode),
        cmocka_unit_test(test_encodings_and_rates),
        cmocka_unit_test(test_commits_and_clears_keep_their_places),
        cmocka_unit_test(test_a_clear_drops_the_open_turn),
        cmocka_unit_test(test_a_full_ring_asks_the_client_to_wait),
        cmocka_unit_test(test_commits_have_a_limit),
        cmocka_unit_test(test_a_late_machine_skips_passes),
        cmocka_unit_test(test_failures_are_reasons),
        cmocka_unit_test(test_a_late_server_refuses_new_sessions_only),
        cmocka_unit_test(test_passes_report_their_delay),
        cmocka_unit_test(test_a_session_can_be_cancelled_at_any_time),
        cmocka_unit_test(test_sessions_run_beside_each_other),
        cmocka_unit_test(test_voice_activity_opens_turns),
    };
    return cmocka_run_group_tests(tests, all_open, all_close);
}
