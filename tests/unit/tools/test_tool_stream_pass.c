/* steno tests: passes of the verb stream draft from the text before, and change no event. SPDX-License-Identifier: MIT */
#include "api/flat_costs.h"
#include "api/shipped_session.h"
#include "api/tap.h"
#include "live.h"
#include "verbs/stream_pass.h"

enum { LOG_SZ = 1 << 14 };

struct played {
    char log[LOG_SZ]; /* all events */
    struct stream_passes passes;
    int n_passes, n_last;
};

static void on_event(void *user, const struct live_event *e)
{
    struct played *p = user;
    const size_t n = strlen(p->log);
    snprintf(p->log + n, LOG_SZ - n, "%d %d %lld-%lld %s\n", (int)e->kind, e->turn, (long long)e->t0_ms, (long long)e->t1_ms, e->text);
}

static int on_pass(void *user, steno_session *s, const steno_source *src, const steno_transcribe_params *t, int is_last)
{
    struct played *p = user;
    p->n_passes++;
    p->n_last += is_last;
    costs_flatten(p->passes.batch);
    return stream_pass(&p->passes, s, src, t, is_last);
}

/* Turns of up to 4 s over three times the spoken digits. */
static void play(struct played *p, steno_session *s, int has_batch, int beams)
{
    const struct audio a = demo_audio(0, 0, 3);
    struct live_params lp = { .session = s, .step_ms = 500, .turn_most_ms = 4000, .audio_padding_ms = LIVE_PADDING_MS, .report = on_event,
                              .transcribe = has_batch ? on_pass : NULL, .user = p };
    struct live *l;
    steno_error e = { 0 };
    live_params_of(&lp, model);
    steno_transcribe_params_init(&lp.text);
    lp.text.language = "en";
    lp.text.beam_size = beams;
    if (live_open(&l, &lp, &e)) fail_msg("%s", e.text);
    if (live_push(l, a.pcm, a.n, 0, &e) || live_end(l, &e)) fail_msg("%s", e.text);
    live_close(l);
    free(a.pcm);
}

static void test_drafts_change_no_event(void **state)
{
    (void)state;
    static struct played plain, drafted;
    for (int beams = 0; beams < 3; beams += 2) {
        struct engine e = { .model = model };
        steno_timings t = { .size = sizeof t };
        steno_session *own;
        steno_session_params sp;
        drafted = plain = (struct played){ 0 };
        steno_session_params_init(&sp);
        sp.max_lanes = 2;
        assert_int_equal(steno_session_open(&own, model, NULL, &sp, NULL), STENO_OK);
        play(&plain, own, 0, beams);
        steno_session_close(own);
        assert_int_equal(stream_passes_open(&drafted.passes, &e, 2), 0);
        play(&drafted, e.session, 1, beams);
        assert_int_equal(steno_timings_get(e.session, &t), STENO_OK);
        steno_session_close(e.session);
        steno_batch_close(e.batch);
        assert_string_equal(drafted.log, plain.log);
        assert_true(strstr(plain.log, "nine") && drafted.n_passes > drafted.n_last && drafted.n_last);
        if (beams) assert_int_equal(t.n_drafted, 0); /* greedy searches are drafted */
        else assert_true(t.n_accepted > 0 && t.n_accepted <= t.n_drafted);
    }
}

static void test_a_failure_is_the_status_of_the_pass(void **state)
{
    (void)state;
    struct engine e = { .model = model };
    struct stream_passes p;
    steno_transcribe_params t;
    const struct audio a = demo_audio(0, 0, 1);
    struct tap tap = { .pcm = a.pcm, .n = a.n };
    const steno_source src = tap_source(&tap);
    assert_int_equal(stream_passes_open(&p, &e, 1), 0);
    steno_transcribe_params_init(&t);
    t.language = "none";
    assert_int_equal(stream_pass(&p, e.session, &src, &t, 0), STENO_EARG);
    assert_true(*steno_last_error(e.session));
    t.language = "en";
    assert_int_equal(stream_pass(&p, e.session, &src, &t, 1), STENO_OK);
    assert_string_equal(steno_text(e.session), demo_text);
    steno_session_close(e.session);
    steno_batch_close(e.batch);
    free(a.pcm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_drafts_change_no_event),
        cmocka_unit_test(test_a_failure_is_the_status_of_the_pass),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
