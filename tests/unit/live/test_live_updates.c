/* steno tests: updates of a turn: how much of a window they encode. SPDX-License-Identifier: MIT */
#include "api/shipped_session.h"
#include "live.h"

enum { PASSES = 64, TEXT_SZ = 4000 };

struct passes {
    int n, run;                 /* run: the passes decode the audio */
    int32_t ctx[PASSES];
    int64_t samples[PASSES];
    int is_last[PASSES];
    int32_t sample_len[PASSES]; /* 0: that of the model */
    int retries[PASSES];
    char language[PASSES][4];   /* "": it is detected */
    int n_partials;
    struct live *l;
    int64_t step_ms;            /* set after the first pass; 0: it stays */
    char endpoint[TEXT_SZ];
};

static int pass_run(void *user, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int is_last)
{
    struct passes *of = user;
    static float pcm[40 * RATE];
    int64_t n = 0, k;
    assert_true(of->n < PASSES);
    while ((k = src->read(src->user, pcm + n, 40 * RATE - n)) > 0) n += k;
    of->ctx[of->n] = p->audio_ctx;
    of->samples[of->n] = n;
    of->sample_len[of->n] = p->sample_len;
    of->retries[of->n] = p->temperature_increment_on_fallback > 0;
    snprintf(of->language[of->n], sizeof of->language[0], "%s", p->language ? p->language : "");
    of->is_last[of->n++] = is_last;
    if (of->step_ms) live_step_set(of->l, of->step_ms);
    return of->run ? steno_transcribe(s, pcm, n, p) : STENO_OK;
}

static void on_event(void *user, const struct live_event *e)
{
    struct passes *of = user;
    of->n_partials += e->kind == LIVE_PARTIAL;
    if (e->kind == LIVE_ENDPOINT) snprintf(of->endpoint, sizeof of->endpoint, "%s", e->text);
}

static struct live_params params_of(struct passes *of, int64_t padding_ms)
{
    *of = (struct passes){ .run = 1 };
    struct live_params p = { .session = session, .step_ms = 1000, .turn_most_ms = 30000, .audio_padding_ms = padding_ms,
                             .report = on_event, .transcribe = pass_run, .user = of };
    live_params_of(&p, model);
    assert_int_equal(p.audio_ctx, 1500);
    steno_transcribe_params_init(&p.text);
    p.text.language = "en";
    return p;
}

static void play(const struct live_params *p, const struct audio *a)
{
    struct live *l;
    steno_error e = { 0 };
    if (live_open(&l, p, &e)) fail_msg("%s", e.text);
    if (live_push(l, a->pcm, a->n, 0, &e) || live_end(l, &e)) fail_msg("%s", e.text);
    live_close(l);
}

/* Rounded up to a second; the model's window has 1500 positions of 20 ms. */
static int32_t ctx_of(int64_t samples, int64_t padding_ms)
{
    const int64_t s = (samples + padding_ms * (RATE / 1000) + RATE - 1) / RATE;
    return s < 30 ? (int32_t)s * 50 : 0;
}

static void test_an_update_encodes_the_turn_and_its_padding(void **state)
{
    (void)state;
    static const int64_t paddings[] = { 500, 3000, 10000, 29000, 30000 };
    static struct passes of;
    for (size_t k = 0; k < sizeof paddings / sizeof *paddings; k++) {
        const struct live_params p = params_of(&of, paddings[k]);
        play(&p, &demo);
        assert_true(of.n > 2);
        for (int i = 0; i < of.n; i++) {
            assert_int_equal(of.is_last[i], i == of.n - 1);
            assert_int_equal(of.ctx[i], of.is_last[i] ? 0 : ctx_of(of.samples[i], paddings[k]));
        }
    }
}

static void test_the_last_pass_has_the_same_text_with_any_padding(void **state)
{
    (void)state;
    static struct passes whole, of;
    struct live_params p = params_of(&whole, 0);
    play(&p, &demo);
    for (int i = 0; i < whole.n; i++) assert_int_equal(whole.ctx[i], 0);
    assert_true(whole.n_partials > 0 && strstr(whole.endpoint, "zero nine one eight"));
    p = params_of(&of, LIVE_PADDING_MS);
    play(&p, &demo);
    assert_true(of.n_partials > 0);
    assert_int_equal(of.n, whole.n);
    assert_string_equal(of.endpoint, whole.endpoint);
}

/* The model is sure of its digits, so the window is not decoded. */
static void test_a_last_pass_over_the_turn(void **state)
{
    (void)state;
    static struct passes whole, of;
    struct live_params p = params_of(&whole, LIVE_PADDING_MS);
    play(&p, &demo);
    p = params_of(&of, LIVE_PADDING_MS);
    p.last_pass = LIVE_LAST_TURN;
    play(&p, &demo);
    assert_true(of.n > 1 && of.n <= whole.n);
    for (int i = 0; i < of.n; i++) assert_int_equal(of.ctx[i], ctx_of(of.samples[i], LIVE_PADDING_MS));
    assert_string_equal(of.endpoint, whole.endpoint);
}

/* A pass without text is doubtful, so the whole window follows, with temperature fallback. */
static void test_a_doubtful_last_pass_has_the_whole_window(void **state)
{
    (void)state;
    static struct passes of;
    static float zeros[RATE];
    struct live_params p = params_of(&of, LIVE_PADDING_MS);
    assert_int_equal(steno_transcribe(session, zeros, RATE, &p.text), STENO_OK);
    assert_int_equal(steno_segment_count(session), 0); /* nor does a pass that decodes nothing change that */
    p.last_pass = LIVE_LAST_TURN;
    of.run = 0;
    play(&p, &demo);
    assert_true(of.n > 1);
    assert_int_equal(of.is_last[of.n - 1] && of.is_last[of.n - 2], 1);
    assert_int_equal(of.ctx[of.n - 2], ctx_of(of.samples[of.n - 2], LIVE_PADDING_MS));
    assert_int_equal(of.retries[of.n - 2], 0);
    assert_int_equal(of.ctx[of.n - 1], 0);
}

static void test_positions_that_the_caller_chose_stay(void **state)
{
    (void)state;
    static struct passes of;
    struct live_params p = params_of(&of, LIVE_PADDING_MS);
    p.text.audio_ctx = 700;
    play(&p, &demo);
    for (int i = 0; i < of.n; i++) assert_int_equal(of.ctx[i], 700);
}

/* A clip must fit into the window that is encoded. */
static void test_updates_in_clips_encode_whole_windows(void **state)
{
    (void)state;
    static struct passes of;
    struct live_params p = params_of(&of, LIVE_PADDING_MS);
    p.text.chunk_ms = 20000;
    p.text.condition_on_previous_text = 0;
    play(&p, &demo);
    assert_true(of.n > 2);
    for (int i = 0; i < of.n; i++) assert_int_equal(of.ctx[i], 0);
}

static void push(struct live *l, int64_t from, int64_t end, int64_t late_ms)
{
    enum { PIECE = RATE / 10 };
    steno_error e = { 0 };
    for (int64_t at = from; at < end; at += PIECE)
        if (live_push(l, many.pcm + at, PIECE, late_ms, &e)) fail_msg("%s", e.text);
}

static void test_each_turn_has_a_first_update(void **state)
{
    (void)state;
    enum { LENGTH = 19 * RATE / 10 };
    static struct passes of;
    struct live_params p = params_of(&of, LIVE_PADDING_MS);
    steno_error e = { 0 };
    of.run = 0;
    of.step_ms = 10000; /* after the first pass: turns are shorter */
    assert_int_equal(live_open(&of.l, &p, &e), STENO_OK);
    for (int turn = 0; turn < 3; turn++) {
        push(of.l, turn * LENGTH, (turn + 1) * LENGTH, 0);
        assert_int_equal(of.n, 2 * turn + 1); /* and a last pass */
        assert_in_range(of.samples[2 * turn], RATE - 512, RATE + 512);
        assert_int_equal(live_commit(of.l, &e), STENO_OK);
    }
    assert_int_equal(live_end(of.l, &e), STENO_OK);
    live_close(of.l);
}

static void test_a_late_update_waits_for_newer_audio(void **state)
{
    (void)state;
    static struct passes of;
    enum { DUE = 10, LATE = 17, STEP = 512 }; /* tenths of a second; samples */
    struct live_params p = params_of(&of, LIVE_PADDING_MS);
    steno_error e = { 0 };
    of.run = 0;
    assert_int_equal(live_open(&of.l, &p, &e), STENO_OK);
    push(of.l, 0, DUE * RATE / 10 - RATE / 10, 0);
    push(of.l, DUE * RATE / 10 - RATE / 10, LATE * RATE / 10, 200);
    assert_int_equal(of.n, 0);
    push(of.l, LATE * RATE / 10, 2 * RATE, 199);
    assert_int_equal(of.n, 1);
    assert_in_range(of.samples[0], LATE * RATE / 10 - STEP, LATE * RATE / 10 + STEP);
    assert_int_equal(live_end(of.l, &e), STENO_OK);
    assert_int_equal(of.n, 2);
    assert_int_equal(of.samples[1], 2 * RATE); /* the last pass has all of it */
    live_close(of.l);
}

static void test_the_step_can_change(void **state)
{
    (void)state;
    static struct passes of;
    struct live_params p = params_of(&of, LIVE_PADDING_MS);
    steno_error e = { 0 };
    of.run = 0;
    of.step_ms = 500;
    assert_int_equal(live_open(&of.l, &p, &e), STENO_OK);
    push(of.l, 0, 3 * RATE + RATE / 10, 0);
    assert_int_equal(of.n, 4); /* the second one is due a second after the first one */
    for (int i = 0; i < of.n; i++) assert_int_equal(of.samples[i], i ? RATE + (i + 1) * RATE / 2 : RATE);
    live_close(of.l);
}

static void test_only_a_last_pass_with_room_for_a_word_is_retried(void **state)
{
    (void)state;
    static struct passes of;
    static const int tenths[] = { 2, 3, 25, 95 };
    for (size_t i = 0; i < sizeof tenths / sizeof *tenths; i++) {
        struct live_params p = params_of(&of, LIVE_PADDING_MS);
        steno_error e = { 0 };
        of.run = 0;
        assert_int_equal(live_open(&of.l, &p, &e), STENO_OK);
        push(of.l, 0, tenths[i] * RATE / 10, 0);
        assert_int_equal(live_end(of.l, &e), STENO_OK);
        live_close(of.l);
        assert_int_equal(of.n, 1 + tenths[i] / 10);
        for (int k = 0; k < of.n; k++) {
            assert_int_equal(of.retries[k], of.is_last[k] && tenths[i] > 2);
            const int64_t most = 40 + of.samples[k] * 50 / RATE; /* 224 is the model's */
            assert_int_equal(of.sample_len[k], most < 224 ? most : 0);
        }
    }
}

/* The languages that are given to the passes of the last turn, as "en,en,". */
static const char *languages_of(const struct passes *of)
{
    static char list[PASSES * 4];
    int from = of->n - 1;
    while (from > 0 && !of->is_last[from - 1]) from--;
    list[0] = '\0';
    for (int i = from; i < of->n; i++) {
        strcat(list, of->language[i]);
        strcat(list, ",");
    }
    return list;
}

static void test_a_short_update_has_the_language_of_the_turn_before(void **state)
{
    (void)state;
    static struct passes of;
    struct live_params p = params_of(&of, LIVE_PADDING_MS);
    steno_error e = { 0 };
    p.text.language = NULL;
    assert_int_equal(live_open(&of.l, &p, &e), STENO_OK);
    assert_int_equal(live_push(of.l, demo.pcm, RATE * 3 / 2, 0, &e) || live_commit(of.l, &e), 0);
    assert_string_equal(languages_of(&of), ",,"); /* too short to decide */
    assert_int_equal(live_push(of.l, demo.pcm, demo.n, 0, &e) || live_commit(of.l, &e), 0);
    assert_string_equal(languages_of(&of), ",,en,en,"); /* updates at 1, 2 and 3 s, and the last pass */
    assert_int_equal(live_push(of.l, demo.pcm, demo.n, 0, &e) || live_commit(of.l, &e), 0);
    assert_string_equal(languages_of(&of), "en,,en,en,"); /* what decides is detected */
    assert_int_equal(live_push(of.l, demo.pcm, RATE * 3 / 2, 0, &e) || live_end(of.l, &e), 0);
    assert_string_equal(languages_of(&of), "en,,");
    live_close(of.l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_update_encodes_the_turn_and_its_padding),
        cmocka_unit_test(test_the_last_pass_has_the_same_text_with_any_padding),
        cmocka_unit_test(test_updates_in_clips_encode_whole_windows),
        cmocka_unit_test(test_each_turn_has_a_first_update),
        cmocka_unit_test(test_a_late_update_waits_for_newer_audio),
        cmocka_unit_test(test_the_step_can_change),
        cmocka_unit_test(test_only_a_last_pass_with_room_for_a_word_is_retried),
        cmocka_unit_test(test_a_last_pass_over_the_turn),
        cmocka_unit_test(test_a_doubtful_last_pass_has_the_whole_window),
        cmocka_unit_test(test_positions_that_the_caller_chose_stay),
        cmocka_unit_test(test_a_short_update_has_the_language_of_the_turn_before),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
