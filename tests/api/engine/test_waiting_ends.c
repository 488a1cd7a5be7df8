/* steno tests: requests that are canceled while they wait for others end within a step. SPDX-License-Identifier: MIT */
#include "lm_model.h"
#include "three_models.h"

/* Two requests of a batch. At a call of the first one's should_abort the other is canceled: by its session, or by its own callback. */
struct two {
    steno_session *s[2];
    int beams, calls, at, by_session, other_stops, other_status;
    int calls_at_end; /* of the first one's callback when the other ended; -1: it has not ended */
};

static int first_goes_on(void *user)
{
    struct two *t = user;
    if (++t->calls != t->at) return 0;
    if (t->by_session) steno_cancel(t->s[1]);
    else t->other_stops = 1;
    return 0;
}

static int other_stops(void *user)
{
    return ((struct two *)user)->other_stops;
}

static void done(void *user, steno_session *s, int status)
{
    struct two *t = user;
    if (s != t->s[1]) return;
    t->calls_at_end = t->calls;
    t->other_status = status;
}

/* A batch of so many windows, and two sessions of it. */
static steno_batch *two_open(struct two *t, const steno_model *m, int windows)
{
    steno_batch *b;
    steno_batch_params bp = batch_params_of(windows, 1);
    bp.on_done = done;
    bp.user = t;
    assert_int_equal(steno_batch_open(&b, m, NULL, &bp, NULL), 0);
    const steno_session_params sp = session_params_in(b);
    for (int i = 0; i < 2; i++) assert_int_equal(steno_session_open(&t->s[i], m, NULL, &sp, NULL), 0);
    return b;
}

static void two_close(struct two *t, steno_batch *b)
{
    for (int i = 0; i < 2; i++) steno_session_close(t->s[i]);
    steno_batch_close(b);
}

static void two_transcribe(struct two *t, const steno_model *m, int windows)
{
    struct loop loop[2];
    steno_source src[2];
    steno_transcribe_params p;
    steno_batch *b = two_open(t, m, windows);
    for (int i = 0; i < 2; i++) {
        steno_transcribe_params_init(&p);
        p.user = t;
        p.should_abort = i ? other_stops : first_goes_on;
        p.beam_size = t->beams;
        loop[i] = (struct loop){ &noises, noises.n, 0, noises.n };
        src[i] = (steno_source){ loop_read, loop_rewind, &loop[i] };
        assert_int_equal(steno_batch_add(b, t->s[i], &src[i], &p), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    two_close(t, b);
}

static void two_generate(struct two *t, const steno_model *m, int windows)
{
    static int32_t const ids[] = { 5, 6, 7, 8, 9, 10 };
    steno_generate_params p;
    steno_request_params r;
    steno_batch *b = two_open(t, m, windows);
    for (int i = 0; i < 2; i++) {
        steno_generate_params_init(&p);
        steno_request_params_init(&r);
        p.user = t;
        p.should_abort = i ? other_stops : first_goes_on;
        p.ignore_eos = 1;
        r.ids = ids;
        r.n_ids = sizeof ids / sizeof *ids;
        r.generate = &p;
        assert_int_equal(steno_batch_submit(b, t->s[i], NULL, &r), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    two_close(t, b);
}

/* The other request waits for a window, in a run of both, or between its windows. A run of an encoder is one step, with several calls:
 * less than a part of all. */
static void check(const steno_model *m, void (*run)(struct two *t, const steno_model *m, int windows), int beams, int part)
{
    for (int windows = 1; windows <= 2; windows++)
        for (int by_session = 0; by_session < 2; by_session++) {
            struct two all = { .at = -1, .beams = beams };
            run(&all, m, windows);
            struct two t = { .at = all.calls / 4, .by_session = by_session, .calls_at_end = -1, .beams = beams };
            run(&t, m, windows);
            assert_int_equal(t.other_status, STENO_ECANCELED);
            if (t.calls_at_end > t.at + all.calls / part)
                fail_msg("%d windows: canceled at call %d of %d, ended at %d", windows, t.at, all.calls, t.calls_at_end);
        }
}

static void test_a_request_ends_within_a_step_of_its_cancel(void **state)
{
    (void)state;
    static const struct { enum kind kind; int part; } row[] = { { TRANSCRIBE, 6 }, { TRANSCRIBE_TDT, 32 }, { TRANSCRIBE_CHUNKS, 32 },
                                                                { TRANSCRIBE_LM, 32 } };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) check(model_for(row[k].kind), two_transcribe, 0, row[k].part);
}

/* With two windows both clips are in one run, and the memory of beams is enough for one. */
static void test_a_clip_that_waits_for_slots_ends_within_a_step_of_its_cancel(void **state)
{
    (void)state;
    check(tdt, two_transcribe, 32, 8);
}

static void test_a_text_that_waits_ends_within_a_step_of_its_cancel(void **state)
{
    (void)state;
    steno_model *m = lm_open_as(small_lm, STENO_COMPUTE_AUTO, 0);
    check(m, two_generate, 0, 16);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_request_ends_within_a_step_of_its_cancel),
        cmocka_unit_test(test_a_clip_that_waits_for_slots_ends_within_a_step_of_its_cancel),
        cmocka_unit_test(test_a_text_that_waits_ends_within_a_step_of_its_cancel),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
