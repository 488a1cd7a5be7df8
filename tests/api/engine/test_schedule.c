/* steno tests: who gets a decode slot, and when. SPDX-License-Identifier: MIT
 *
 * A random model whose windows are 0.6 s long, and a log of what callbacks say: whose window was begun, and how many tokens of others were
 * chosen before it. No clocks, so every run is the same. */
#include "small_pair.h"

enum { MEMBERS = 12, ENTRIES = 4000, STEPS = 12, LONG = 30 };

struct scene;

/* One request of the scene. */
struct member {
    struct scene *x;
    steno_session *s;
    steno_transcribe_params p;
    int64_t n, at;             /* samples of its audio, read so far */
    int64_t stops_at;          /* from here on the source has nothing; 0: it never stops */
    const steno_heard *heard;
    int id, status, filtered, asked;
    int read_then, reads_then, reads_most; /* reads between two tokens of the first member */
};

/* Whose window began, and how many tokens had been chosen by then, in all and of the first member. */
struct entry { int id; int64_t at_ms; int tokens, of_first; };

struct scene {
    steno_batch *b;
    struct member m[MEMBERS];
    struct entry log[ENTRIES];
    int n, tokens, done;
    int late_at, late_by;      /* member `late` comes when the log has this length (-1: never), or, where late_by is a member, at the */
    int late, late_token;      /* late_token-th token of that one */
    int late_class, late_entry; /* where the log was then */
};

static int64_t member_read(void *user, float *pcm, int64_t n)
{
    struct member *m = user;
    int64_t take = m->n - m->at < n ? m->n - m->at : n;
    if (m->read_then != m->x->m[0].filtered) m->reads_then = 0;
    m->read_then = m->x->m[0].filtered;
    if (++m->reads_then > m->reads_most) m->reads_most = m->reads_then;
    if (m->stops_at && m->at + take > m->stops_at) take = m->stops_at - m->at;
    m->asked += m->stops_at && !take;
    if (m->stops_at && !take) return STENO_SOURCE_WAIT;
    for (int64_t i = 0; i < take; i++) pcm[i] = demo.pcm[(m->at + i) % demo.n];
    m->at += take;
    return take;
}

static int member_rewind(void *user)
{
    ((struct member *)user)->at = 0;
    return 0;
}

static void member_submit(struct member *m, int priority)
{
    const steno_source src = { member_read, member_rewind, m };
    steno_request_params r;
    steno_request_params_init(&r);
    r.priority = priority;
    r.transcribe = &m->p;
    r.heard = m->heard;
    if (steno_batch_submit(m->x->b, m->s, &src, &r)) fail_msg("member %d: %s", m->id, steno_last_error(m->s));
}

static void late_comes(struct scene *x)
{
    const int late = x->late;
    x->late = -1;
    x->late_entry = x->n;
    member_submit(&x->m[late], x->late_class);
}

static int on_window(void *user, int64_t at_ms)
{
    struct member *m = user;
    struct scene *x = m->x;
    assert_true(x->n < ENTRIES);
    x->log[x->n++] = (struct entry){ m->id, at_ms, x->tokens, x->m[0].filtered };
    if (x->late >= 0 && x->late_by < 0 && x->n == x->late_at) late_comes(x);
    return 1;
}

/* Nothing ends before its length: every window has STEPS tokens. */
static void filter(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    struct member *m = user;
    struct scene *x = m->x;
    (void)at, (void)tokens, (void)n;
    logits[steno_token_id(model, STENO_TOKEN_END)] = -INFINITY;
    x->tokens++;
    m->filtered++;
    if (x->late >= 0 && x->late_by == m->id && m->filtered == x->late_token) late_comes(x);
}

static void on_done(void *user, steno_session *s, int status)
{
    struct scene *x = user;
    for (int i = 0; i < MEMBERS; i++)
        if (x->m[i].s == s) x->m[i].status = status;
    x->done++;
}

/* A batch and its members; each member's audio is `windows` windows long. */
static struct scene *scene_new(int slots, int steps_between)
{
    struct scene *x = calloc(1, sizeof *x);
    assert_non_null(x);
    steno_batch_params bp;
    steno_session_params sp;
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = slots;
    bp.user = x;
    bp.on_done = on_done;
    bp.steps_between_encodes = steps_between;
    assert_int_equal(steno_batch_open(&x->b, model, NULL, &bp, NULL), 0);
    sp.batch = x->b;
    x->late = x->late_by = -1;
    x->late_class = STENO_PRIORITY_AUTO;
    for (int i = 0; i < MEMBERS; i++) {
        struct member *m = &x->m[i];
        *m = (struct member){ .x = x, .id = i, .status = 1, .p = params_new() };
        m->p.user = m;
        m->p.no_speech_threshold = (double)NAN;
        m->p.temperature_increment_on_fallback = 0;
        m->p.without_timestamps = 1;
        m->p.sample_len = STEPS;
        m->p.on_window = on_window;
        m->p.logits_filter = filter;
        assert_int_equal(steno_session_open(&m->s, model, NULL, &sp, NULL), 0);
    }
    return x;
}

static void member_add(struct scene *x, int id, int windows, int priority)
{
    x->m[id].n = (int64_t)windows * 9600;
    member_submit(&x->m[id], priority);
}

static void member_late(struct scene *x, int id, int windows, int priority)
{
    x->m[id].n = (int64_t)windows * 9600;
    x->late = id;
    x->late_class = priority;
}

static void scene_run(struct scene *x)
{
    assert_int_equal(steno_batch_run(x->b), 0);
    assert_int_equal(x->late, -1);
    for (int i = 0; i < MEMBERS; i++)
        if (x->m[i].n && x->m[i].status) fail_msg("member %d: status %d: %s", i, x->m[i].status, steno_last_error(x->m[i].s));
}

static void scene_free(struct scene *x)
{
    for (int i = 0; i < MEMBERS; i++) steno_session_close(x->m[i].s);
    steno_batch_close(x->b);
    free(x);
}

/* The first entry of a member from `from` on. */
static int entry_of(const struct scene *x, int id, int from)
{
    int i = from;
    while (i < x->n && x->log[i].id != id) i++;
    return i;
}

/* ---- least served first -------------------------------------------------------------------------------------------------------------- */

static void test_a_short_request_that_comes_late_has_the_next_slot(void **state)
{
    (void)state;
    for (int slots = 1; slots <= 4; slots++) {
        struct scene *x = scene_new(slots, 8);
        for (int i = 0; i < 8; i++) member_add(x, i, 20, STENO_PRIORITY_AUTO);
        member_late(x, 8, 1, STENO_PRIORITY_AUTO);
        x->late_at = 30; /* all have had some */
        scene_run(x);
        assert_int_equal(x->done, 9);
        assert_int_equal(entry_of(x, 8, 0), x->late_entry); /* the entry after those that there were */
        scene_free(x);
    }
}

static void test_requests_of_one_class_take_turns(void **state)
{
    (void)state;
    struct scene *x = scene_new(3, 8);
    for (int i = 0; i < 8; i++) member_add(x, i, 6, STENO_PRIORITY_AUTO);
    scene_run(x);
    assert_int_equal(x->n, 48);
    int had[8] = { 0 };
    for (int i = 0; i < x->n; i++) {
        int least = had[0], most = had[0];
        had[x->log[i].id]++;
        for (int k = 0; k < 8; k++) {
            if (had[k] < least) least = had[k];
            if (had[k] > most) most = had[k];
        }
        assert_true(most - least <= 2); /* those that decode count already, so no member is two ahead of one that waits */
    }
    scene_free(x);
}

static void test_lower_classes_go_first_and_the_last_gets_every_fourth_window(void **state)
{
    (void)state;
    struct scene *x = scene_new(1, 8);
    member_add(x, 0, 6, STENO_PRIORITY_LATER);
    member_add(x, 1, 12, STENO_PRIORITY_LIVE);
    member_add(x, 2, 12, STENO_PRIORITY_FIRST);
    member_add(x, 3, 4, STENO_PRIORITY_END_OF_TURN);
    scene_run(x);
    static int const want[] = { 3, 3, 3, 0, 3, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 2, 2, 0 };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++)
        if (x->log[i].id != want[i]) fail_msg("window %zu is of %d, not of %d", i, x->log[i].id, want[i]);
    for (int i = (int)(sizeof want / sizeof *want); i < x->n; i++) assert_int_equal(x->log[i].id, 2);
    scene_free(x);
}

static void test_the_end_of_a_turn_overtakes_everybody(void **state)
{
    (void)state;
    struct scene *x = scene_new(2, 8);
    for (int i = 0; i < 10; i++) member_add(x, i, 2, i % 2 ? STENO_PRIORITY_LIVE : STENO_PRIORITY_AUTO);
    member_late(x, 10, 2, STENO_PRIORITY_END_OF_TURN);
    x->late_at = 5;
    scene_run(x);
    assert_int_equal(entry_of(x, 10, 0), 5);
    scene_free(x);
}

/* ---- free slots and the encoder ------------------------------------------------------------------------------------------------------ */

static void test_a_new_request_gets_a_free_slot_after_the_next_step(void **state)
{
    (void)state;
    struct scene *x = scene_new(2, 4);
    x->m[0].p.sample_len = LONG;
    member_add(x, 0, 1, STENO_PRIORITY_AUTO);
    member_late(x, 1, 1, STENO_PRIORITY_AUTO);
    x->late_by = 0;
    x->late_token = 11;
    scene_run(x);
    assert_int_equal(x->log[1].id, 1);
    assert_int_equal(x->log[1].tokens, 11); /* before the twelfth */
    assert_int_equal(x->m[0].filtered, LONG);
    scene_free(x);
}

/* While the first member decodes a window, its tokens between the windows of others are the steps between them. @return the fewest */
static int steps_between(int steps)
{
    struct scene *x = scene_new(4, steps);
    for (int i = 0; i < 8; i++) {
        x->m[i].p.sample_len = i ? 3 : LONG; /* short ones free their slots at once */
        member_add(x, i, i ? 6 : 4, STENO_PRIORITY_AUTO);
    }
    scene_run(x);
    int least = INT32_MAX;
    for (int i = 1; i < x->n; i++) {
        const int since = x->log[i].of_first - x->log[i - 1].of_first;
        if (x->log[i].of_first % LONG && x->log[i].id && since < least) least = since;
    }
    scene_free(x);
    return least;
}

static void test_the_encoder_runs_once_in_a_number_of_steps_while_windows_are_decoded(void **state)
{
    (void)state;
    assert_int_equal(steps_between(0), 0); /* free slots are filled at once */
    static int const steps[] = { 1, 5, 8, 20 };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const int least = steps_between(steps[i]);
        if (least != steps[i]) fail_msg("%d steps between two windows, not %d", least, steps[i]);
    }
}

/* ---- the first pass ------------------------------------------------------------------------------------------------------------------ */

static void test_long_audio_is_listened_to_in_slices_between_the_steps_of_others(void **state)
{
    (void)state;
    struct scene *x = scene_new(2, 3);
    x->m[0].p.sample_len = LONG;
    x->m[1].p.duration_ms = 600;
    member_add(x, 0, 2, STENO_PRIORITY_AUTO);
    member_late(x, 1, 500, STENO_PRIORITY_AUTO); /* 300 s, a read a second */
    x->late_by = 0;
    x->late_token = 5;
    scene_run(x);
    assert_true(x->m[1].reads_most >= 60 && x->m[1].reads_most <= 61);
    assert_int_equal(x->log[1].id, 1);
    assert_true(x->log[1].of_first >= 5 + 4 * 3); /* five slices */
    scene_free(x);
}

static void test_an_earlier_first_pass_is_reused_and_changes_nothing(void **state)
{
    (void)state;
    struct scene *x = scene_new(2, 8);
    steno_error e;
    for (int i = 0; i < 2; i++) x->m[i].n = 5 * 9600 + 1000;
    const steno_source src = { member_read, member_rewind, &x->m[1] };
    steno_heard h = { .size = sizeof h };
    if (steno_listen(model, &src, &h, &e)) fail_msg("%s", e.text);
    assert_int_equal(h.samples, x->m[1].n);
    assert_true(h.loudest > -5 && h.loudest < 5);
    x->m[1].at = x->m[1].asked = 0;
    x->m[1].heard = &h;
    for (int i = 0; i < 2; i++) member_submit(&x->m[i], STENO_PRIORITY_AUTO);
    scene_run(x);
    assert_true(steno_segment_count(x->m[0].s) > 0);
    assert_true(result_digest(x->m[0].s) == result_digest(x->m[1].s));
    assert_int_equal(steno_duration_ms(x->m[1].s), (5 * 9600 + 1000) / 16);
    steno_request_params r;
    const steno_heard bad[] = { { 8, 0, 5, 0 }, { sizeof h, 0, -1, 0 }, { sizeof h, 0, 5, (double)NAN } };
    for (int i = 0; i < 3; i++) {
        steno_request_params_init(&r);
        r.heard = &bad[i];
        assert_int_equal(steno_batch_submit(x->b, x->m[1].s, &src, &r), STENO_EARG);
        assert_non_null(strstr(steno_last_error(x->m[1].s), "heard"));
    }
    h.size = 8;
    assert_int_equal(steno_listen(model, &src, &h, &e), STENO_EARG);
    assert_int_equal(steno_listen(NULL, &src, &h, &e), STENO_EARG);
    assert_int_equal(steno_listen(model, NULL, &h, &e), STENO_EARG);
    scene_free(x);
}

/* ---- sources that have nothing yet --------------------------------------------------------------------------------------------------- */

static void test_a_request_whose_source_waits_has_no_slot_and_stops_no_other(void **state)
{
    (void)state;
    for (int heard = 0; heard < 2; heard++) {
        struct scene *x = scene_new(1, 8);
        steno_error e;
        steno_heard h = { .size = sizeof h };
        struct member *m = &x->m[0];
        for (int i = 0; i < 2; i++) x->m[i].n = 4 * 9600;
        const steno_source src = { member_read, member_rewind, m };
        if (steno_listen(model, &src, &h, &e)) fail_msg("%s", e.text);
        m->at = 0;
        m->heard = heard ? &h : NULL;
        m->stops_at = 2 * 9600 + 4000; /* in the middle of the third window, the second of which can be reported */
        for (int i = 0; i < 2; i++) member_submit(&x->m[i], STENO_PRIORITY_AUTO);
        assert_int_equal(steno_batch_run_as(x->b, STENO_RUN_POLL), 1);
        assert_int_equal(x->m[1].status, 0);
        assert_int_equal(m->status, 1); /* not yet */
        assert_int_equal(entry_of(x, 0, 0) < x->n, heard);
        assert_int_equal(steno_segment_count(m->s) > 0, heard);
        const int asked = m->asked;
        assert_true(asked > 0);
        assert_int_equal(steno_batch_run_as(x->b, STENO_RUN_POLL), 1);
        assert_int_equal(m->asked, asked + 1);
        m->stops_at = 0;
        assert_int_equal(steno_batch_run_as(x->b, STENO_RUN_POLL), 0);
        assert_int_equal(m->status, 0);
        assert_true(result_digest(m->s) == result_digest(x->m[1].s));
        int told = 0; /* a window that had to wait is reported once */
        for (int i = 0; i < x->n; i++) told += x->log[i].id == 0;
        assert_int_equal(told, 4);
        scene_free(x);
    }
}

static void test_a_request_that_waits_can_be_canceled(void **state)
{
    (void)state;
    struct scene *x = scene_new(2, 8);
    x->m[0].n = 9600;
    x->m[0].stops_at = 100;
    member_submit(&x->m[0], STENO_PRIORITY_AUTO);
    assert_int_equal(steno_batch_run_as(x->b, STENO_RUN_POLL), 1);
    steno_cancel(x->m[0].s);
    assert_int_equal(steno_batch_run_as(x->b, STENO_RUN_POLL), 0);
    assert_int_equal(x->m[0].status, STENO_ECANCELED);
    scene_free(x);
}

static void test_calls_that_are_in_no_batch_do_not_wait(void **state)
{
    (void)state;
    struct scene *x = scene_new(2, 8);
    struct member *m = &x->m[0];
    m->n = 9600;
    m->stops_at = 100;
    const steno_source src = { member_read, member_rewind, m };
    assert_int_equal(steno_transcribe_source(m->s, &src, NULL), STENO_ESOURCE);
    assert_int_equal(steno_align(m->s, &src, "a", NULL), STENO_ESOURCE);
    steno_heard h = { .size = sizeof h };
    assert_int_equal(steno_listen(model, &src, &h, NULL), STENO_ESOURCE);
    assert_int_equal(steno_batch_run_as(NULL, STENO_RUN_POLL), STENO_EARG);
    assert_int_equal(steno_batch_run_as(x->b, (enum steno_run_mode)3), STENO_EARG);
    scene_free(x);
}

/* ---- what is refused ----------------------------------------------------------------------------------------------------------------- */

static void test_requests_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    struct scene *x = scene_new(2, 8);
    const steno_source src = { member_read, member_rewind, &x->m[0] };
    steno_request_params r;
    static int const bad[] = { -2, 4, 1000 };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        steno_request_params_init(&r);
        r.priority = bad[i];
        assert_int_equal(steno_batch_submit(x->b, x->m[0].s, &src, &r), STENO_EARG);
        assert_non_null(strstr(steno_last_error(x->m[0].s), "priority"));
    }
    r.size = 3;
    assert_int_equal(steno_batch_submit(x->b, x->m[0].s, &src, &r), STENO_EARG);
    assert_int_equal(steno_batch_submit(NULL, x->m[0].s, &src, NULL), STENO_EARG);
    assert_int_equal(steno_batch_submit(x->b, NULL, &src, NULL), STENO_EARG);
    assert_int_equal(steno_batch_submit(x->b, x->m[0].s, NULL, NULL), STENO_EARG);
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    bp.steps_between_encodes = -1;
    steno_batch *b;
    steno_error e;
    assert_int_equal(steno_batch_open(&b, model, NULL, &bp, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "steps_between_encodes"));
    scene_free(x);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_short_request_that_comes_late_has_the_next_slot),
        cmocka_unit_test(test_requests_of_one_class_take_turns),
        cmocka_unit_test(test_lower_classes_go_first_and_the_last_gets_every_fourth_window),
        cmocka_unit_test(test_the_end_of_a_turn_overtakes_everybody),
        cmocka_unit_test(test_a_new_request_gets_a_free_slot_after_the_next_step),
        cmocka_unit_test(test_the_encoder_runs_once_in_a_number_of_steps_while_windows_are_decoded),
        cmocka_unit_test(test_long_audio_is_listened_to_in_slices_between_the_steps_of_others),
        cmocka_unit_test(test_an_earlier_first_pass_is_reused_and_changes_nothing),
        cmocka_unit_test(test_a_request_whose_source_waits_has_no_slot_and_stops_no_other),
        cmocka_unit_test(test_a_request_that_waits_can_be_canceled),
        cmocka_unit_test(test_calls_that_are_in_no_batch_do_not_wait),
        cmocka_unit_test(test_requests_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, pair_open, pair_close);
}
