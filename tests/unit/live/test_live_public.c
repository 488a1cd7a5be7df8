/* steno tests: live text for other programs. SPDX-License-Identifier: MIT */
#include <steno/live.h>
#include "api/shipped_session.h"

enum { TEXT_SZ = 1000 };

struct log {
    char text[TEXT_SZ]; /* what is final */
    char endpoint[TEXT_SZ];
    int n[3], last_turn;
};

static void note(void *user, const steno_live_event *e)
{
    struct log *l = user;
    assert_int_equal(e->size, sizeof *e);
    assert_in_range(e->kind, 0, 2);
    assert_true(e->turn >= l->last_turn && e->pushed_ms >= e->decoded_ms);
    l->n[e->kind]++;
    l->last_turn = e->turn;
    const size_t n = strlen(l->text);
    if (e->kind == STENO_LIVE_FINAL) snprintf(l->text + n, sizeof l->text - n, "%*s%s", e->spaces, "", e->text);
    if (e->kind == STENO_LIVE_ENDPOINT) snprintf(l->endpoint, sizeof l->endpoint, "%s", e->text);
}

static steno_live_params live_new(struct log *l)
{
    steno_live_params p;
    steno_live_params_init(&p);
    *l = (struct log){ 0 };
    p.on_event = note;
    p.user = l;
    return p;
}

static void play(const steno_live_params *p, int64_t piece)
{
    steno_live *l;
    steno_error e = { 0 };
    if (steno_live_open(&l, model, session, NULL, p, &e)) fail_msg("%s", e.text);
    for (int64_t at = 0; at < demo.n; at += piece) {
        const int64_t n = demo.n - at < piece ? demo.n - at : piece;
        if (steno_live_push(l, demo.pcm + at, n, 0, &e)) fail_msg("%s", e.text);
    }
    if (steno_live_end(l, &e)) fail_msg("%s", e.text);
    steno_live_close(l);
}

static void test_the_size_of_pieces_does_not_matter(void **state)
{
    (void)state;
    struct log whole, pieces;
    steno_live_params p = live_new(&whole);
    play(&p, demo.n);
    assert_int_equal(whole.n[STENO_LIVE_ENDPOINT], 1);
    assert_true(whole.n[STENO_LIVE_FINAL] > 0);
    assert_non_null(strstr(whole.endpoint, "zero nine one eight"));
    assert_string_equal(whole.endpoint, whole.text);
    p = live_new(&pieces);
    play(&p, 777);
    assert_string_equal(pieces.endpoint, whole.endpoint);
    assert_memory_equal(pieces.n, whole.n, sizeof whole.n);
}

static void test_a_longer_step_makes_fewer_passes(void **state)
{
    (void)state;
    struct log often, seldom;
    steno_live_params p = live_new(&often);
    p.step_ms = 300;
    play(&p, 1600);
    p = live_new(&seldom);
    p.step_ms = 10000;
    play(&p, 1600);
    assert_true(often.n[STENO_LIVE_PARTIAL] > seldom.n[STENO_LIVE_PARTIAL]);
}

static void test_callbacks_of_the_text_are_not_called(void **state)
{
    (void)state;
    struct log l;
    steno_live_params p = live_new(&l);
    steno_transcribe_params text = params_new();
    text.language = "en";
    text.on_segment = (void (*)(void *, const steno_segment *))(uintptr_t)1; /* a call would end this program */
    p.text = &text;
    play(&p, 16000);
    assert_int_equal(l.n[STENO_LIVE_ENDPOINT], 1);
}

static void refused(const steno_live_params *p, const steno_model *m, steno_session *s, const char *what)
{
    steno_live *l = (void *)&l;
    steno_error e = { 0 };
    if (steno_live_open(&l, m, s, NULL, p, &e) != STENO_EARG || l || e.status != STENO_EARG || !strstr(e.text, what))
        fail_msg("\"%s\" does not say %s", e.text, what);
}

static void test_impossible_values_are_refused(void **state)
{
    (void)state;
    struct log log;
    steno_live_params p = live_new(&log);
    refused(NULL, model, session, "steno_live_params_init");
    refused(&p, NULL, session, "model is NULL");
    refused(&p, model, NULL, "session is NULL");
    static const int32_t steps[] = { INT32_MIN, 0, 199, 10001, INT32_MAX }, turns[] = { INT32_MIN, 1999, 30001, INT32_MAX };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        p = live_new(&log);
        p.step_ms = steps[i];
        refused(&p, model, session, "step_ms");
    }
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) {
        p = live_new(&log);
        p.max_turn_ms = turns[i];
        refused(&p, model, session, "max_turn_ms");
    }
    static const int32_t paddings[] = { INT32_MIN, -1, 1, 499, 30001, INT32_MAX };
    for (size_t i = 0; i < sizeof paddings / sizeof *paddings; i++) {
        p = live_new(&log);
        p.audio_padding_ms = paddings[i];
        refused(&p, model, session, "audio_padding_ms");
    }
    static const int32_t last_passes[] = { INT32_MIN, -1, STENO_LIVE_LAST_TURN + 1, INT32_MAX };
    for (size_t i = 0; i < sizeof last_passes / sizeof *last_passes; i++) {
        p = live_new(&log);
        p.last_pass = last_passes[i];
        refused(&p, model, session, "last_pass");
    }
    p = live_new(&log);
    p.on_event = NULL;
    refused(&p, model, session, "on_event");
    steno_vad_params find;
    steno_vad_params_init(&find);
    p = live_new(&log);
    p.find = &find;
    refused(&p, model, session, "find needs vad");
    p = live_new(&log);
    p.vad = model; /* no detector */
    steno_live *l = NULL;
    steno_error e = { 0 };
    assert_int_not_equal(steno_live_open(&l, model, session, NULL, &p, &e), STENO_OK);
    assert_true(e.text[0] && !l);
    p = live_new(&log);
    assert_int_equal(steno_live_open(NULL, model, session, NULL, &p, &e), STENO_EARG);
    assert_int_equal(steno_live_open(&l, model, session, NULL, &p, &e), STENO_OK);
    assert_int_equal(steno_live_push(l, NULL, 1, 0, &e), STENO_EARG);
    assert_int_equal(steno_live_push(l, demo.pcm, -1, 0, &e), STENO_EARG);
    assert_int_equal(steno_live_push(l, demo.pcm, 1, -1, &e), STENO_EARG);
    assert_int_equal(steno_live_push(l, NULL, 0, 0, &e), STENO_OK);
    assert_int_equal(steno_live_end(l, &e), STENO_OK);
    assert_int_equal(steno_live_end(NULL, NULL), STENO_EARG);
    steno_live_close(l);
    steno_live_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_size_of_pieces_does_not_matter),
        cmocka_unit_test(test_a_longer_step_makes_fewer_passes),
        cmocka_unit_test(test_callbacks_of_the_text_are_not_called),
        cmocka_unit_test(test_impossible_values_are_refused),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
