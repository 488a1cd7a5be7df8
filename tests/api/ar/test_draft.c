/* steno tests: draft models. SPDX-License-Identifier: MIT
 *
 * Whatever drafts, results are the same to the bit: alone, beside others in a batch, by any number of threads, and when it is canceled and
 * begun again. Models that do not fit are refused by name. The collection's results: golden/test_draft_model.c. */
#include "funasr_model.h"
#include "heap.h"
#include "internal.h"
#include "cut_model.h"
#include "shipped_session.h"

static steno_model *draft;  /* the first two layers of the model's decoder, of three */

static steno_model *draft_open(void)
{
    struct cut_file c = cut_model(shipped_model, 2);
    steno_model *m = bytes_open((struct bytes){ c.p, c.n }, NULL);
    free(c.p);
    return m;
}

static int all_open(void **state)
{
    draft = draft_open();
    return shipped_session_open(state);
}

static int all_close(void **state)
{
    steno_model_close(draft);
    return shipped_session_close(state);
}

static steno_session *drafted(const steno_model *m, const steno_model *d, steno_team *team, int lanes)
{
    steno_session_params p;
    steno_session *s;
    steno_error e;
    steno_session_params_init(&p);
    p.max_lanes = lanes;
    p.draft_model = d;
    if (steno_session_open(&s, m, team, &p, &e)) fail_msg("%s", e.text);
    return s;
}

static steno_timings timings_of(const steno_session *s)
{
    steno_timings t = { .size = sizeof t };
    assert_int_equal(steno_timings_get(s, &t), 0);
    return t;
}

/* ---- the same ---------------------------------------------------------------------------------------------------------------- */

static void test_a_draft_spares_steps_and_changes_nothing(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new(), with_draft = p;
    with_draft.draft_max = 3;
    run(&many, &p);
    const uint64_t want = result_digest(session);
    const steno_model *const drafts[] = { draft, model };
    for (int k = 0; k < 2; k++)
        for (int threads = 1; threads <= 3; threads += in_full() ? 1 : 2) {
            steno_team *team;
            assert_int_equal(steno_team_open(&team, threads, NULL), 0);
            steno_session *s = drafted(model, drafts[k], team, 1);
            steno_timings_reset(session);
            run(&many, &p);
            run_on(s, &many, &with_draft);
            assert_true(result_digest(s) == want);
            const steno_timings t = timings_of(s), alone = timings_of(session);
            assert_true(t.n_drafted > 0 && t.n_accepted > 0 && t.draft_us > 0);
            assert_int_equal(t.n_steps + t.n_accepted, alone.n_steps);
            if (drafts[k] == model) assert_true(t.n_accepted == t.n_drafted); /* it knows what itself will say */
            steno_session_close(s);
            steno_team_close(team);
        }
}

static int stop_at(void *user)
{
    return --*(int *)user < 0;
}

static void test_a_canceled_call_leaves_a_draft_that_goes_on_rightly(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    run(&demo, &p);
    const uint64_t want = result_digest(session);
    steno_session *s = drafted(model, draft, NULL, 1);
    p.draft_max = 2;
    for (int left, n = 0; n < 400; n = n * 3 / 2 + 1) {
        p.should_abort = stop_at;
        p.user = &left;
        left = n;
        const int rc = steno_transcribe(s, demo.pcm, demo.n, &p);
        assert_true(rc == STENO_ECANCELED || (rc == 0 && left >= 0));
        p.should_abort = NULL;
        run_on(s, &demo, &p);
        assert_true(result_digest(s) == want);
    }
    steno_session_close(s);
}

enum { REQUESTS = 10 };

/* Of a batch of sessions, each with its own parameters; digests of what they say. */
static void batch_run(uint64_t digest[REQUESTS], const steno_model *d, int windows, int32_t *steps, int64_t *accepted)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_session *s[REQUESTS];
    steno_batch *b;
    steno_transcribe_params p[REQUESTS];
    struct tap tap[REQUESTS];
    steno_error e;
    static const double clips[] = { 0, 4, 5, 9.5, 10, 13 };
    steno_batch_params_init(&bp);
    bp.max_windows = windows;
    bp.max_lanes = 2;
    bp.draft_model = d;
    if (steno_batch_open(&b, model, NULL, &bp, &e)) fail_msg("%s", e.text);
    assert_true(steno_batch_memory(model, NULL, &bp) > 0);
    steno_session_params_init(&sp);
    sp.batch = b;
    for (int i = 0; i < REQUESTS; i++) {
        p[i] = params_new();
        p[i].draft_max = !d || i == 3 || i == 5 ? -1 : 1 + i;
        p[i].offset_ms = i % 3 ? 1000 * i : 0;
        p[i].duration_ms = i % 3 ? 4000 : 0;
        if (i == 3) p[i].beam_size = 2;
        if (i == 4) p[i].draft_max = 0;
        if (i == 5) p[i].temperature = 0.5;
        if (i == 6) p[i].hotwords = "seven";
        if (i == 7) p[i].word_timestamps = 1;
        if (i == 8) p[i].task = STENO_TRANSCRIBE_AND_TRANSLATE;
        if (i == 9) {
            p[i].offset_ms = p[i].duration_ms = p[i].condition_on_previous_text = 0;
            p[i].clip_timestamps = clips;
            p[i].n_clip_timestamps = 6;
            p[i].independent_clips = 1;
        }
        if (steno_session_open(&s[i], model, NULL, &sp, &e)) fail_msg("%s", e.text);
    }
    *steps = 0;
    *accepted = 0;
    for (int i = 0; i < REQUESTS; i++) {
        const steno_source src = tap_source(&tap[i]);
        tap[i] = (struct tap){ .pcm = many.pcm, .n = many.n };
        if (steno_batch_add(b, s[i], &src, &p[i])) fail_msg("request %d: %s", i, steno_last_error(s[i]));
    }
    assert_int_equal(steno_batch_run(b), 0);
    for (int i = 0; i < REQUESTS; i++) {
        const steno_timings t = timings_of(s[i]);
        assert_string_equal(steno_last_error(s[i]), "");
        digest[i] = result_digest(s[i]);
        *steps += t.n_steps;
        *accepted += t.n_accepted;
        steno_session_close(s[i]);
    }
    steno_batch_close(b);
}

static void test_windows_of_a_batch_are_drafted_each_for_itself(void **state)
{
    (void)state;
    static const int windows[] = { 1, 3, 8, 12 };
    uint64_t want[REQUESTS], got[REQUESTS];
    int32_t steps_alone, steps;
    int64_t accepted;
    for (int i = in_full() ? 0 : 1; i < 4; i += in_full() ? 1 : 2) {
        batch_run(want, NULL, windows[i], &steps_alone, &accepted);
        assert_int_equal(accepted, 0);
        batch_run(got, draft, windows[i], &steps, &accepted);
        for (int k = 0; k < REQUESTS; k++)
            if (got[k] != want[k]) fail_msg("%d windows, request %d: another result", windows[i], k);
        assert_true(accepted > 0);
    }
}

/* ---- an encoder that both have ------------------------------------------------------------------------------------------------ */

static int64_t weights_of(const steno_model *m)
{
    steno_model_info i = { .size = sizeof i };
    assert_int_equal(steno_model_info_get(m, &i), 0);
    return i.weight_bytes;
}

/* The shipped model's decoder with n of its three layers. */
static steno_model *sharing(const steno_model *with, int layers, enum steno_compute compute)
{
    steno_model_params p;
    steno_model *m;
    steno_error e;
    struct cut_file c = cut_model(shipped_model, layers);
    steno_model_params_init(&p);
    p.share_with = with;
    p.compute = (int32_t)compute;
    if (steno_model_open_memory(&m, c.p, c.n, &p, &e)) fail_msg("%s", e.text);
    free(c.p);
    return m;
}

static void test_an_encoder_that_both_have_is_held_and_run_once(void **state)
{
    (void)state;
    steno_model *large = sharing(NULL, 3, STENO_COMPUTE_AUTO), *small = sharing(large, 1, STENO_COMPUTE_AUTO);
    steno_model *twin = sharing(large, 3, STENO_COMPUTE_AUTO), *apart = sharing(NULL, 1, STENO_COMPUTE_AUTO);
    steno_model *other = sharing(large, 1, STENO_COMPUTE_F32);
    assert_true(weights_of(small) < weights_of(apart) / 2 && weights_of(twin) < weights_of(large) / 2);
    steno_transcribe_params p = params_new();
    run(&many, &p);
    const uint64_t want = result_digest(session);
    steno_model *const drafts[] = { small, apart, twin, other };
    steno_model_close(large); /* who share with it hold it */
    for (int k = 0; k < 4; k++)
        for (p.draft_max = in_full() ? 1 : 6; p.draft_max < 8; p.draft_max += 5) {
            steno_session *s = drafted(model, drafts[k], NULL, 1);
            assert_int_equal(inside_hears_once(s), k < 3);
            run_on(s, &many, &p);
            assert_true(result_digest(s) == want && timings_of(s).n_accepted > 0);
            steno_session_close(s);
        }
    for (int k = 0; k < 4; k++) steno_model_close(drafts[k]);
}

/* ---- refusals ---------------------------------------------------------------------------------------------------------------- */

static void refused(const steno_model *m, const steno_model *d, const char *why)
{
    steno_session_params p;
    steno_batch_params bp;
    steno_session *s;
    steno_batch *b;
    steno_error e;
    steno_session_params_init(&p);
    steno_batch_params_init(&bp);
    p.draft_model = bp.draft_model = d;
    assert_int_equal(steno_session_open(&s, m, NULL, &p, &e), STENO_EARG);
    if (!strstr(e.text, why)) fail_msg("'%s' does not say '%s'", e.text, why);
    assert_null(s);
    assert_int_equal(steno_session_memory(m, NULL, &p), STENO_EARG);
    assert_int_equal(steno_batch_open(&b, m, NULL, &bp, &e), STENO_EARG);
    if (!strstr(e.text, why)) fail_msg("'%s' does not say '%s'", e.text, why);
    assert_null(b);
    assert_int_equal(steno_batch_memory(m, NULL, &bp), STENO_EARG);
}

static void test_drafts_that_do_not_fit_are_refused_by_name(void **state)
{
    (void)state;
    struct whisper_dims d = { 128, 1500, 48, 3, 1, MULTILINGUAL, 448, 48, 3, 1 };
    steno_model_params mp;
    steno_model *m = funasr_open(ctc_folder, NULL), *index;
    steno_model_params_init(&mp);
    mp.index_only = 1;
    assert_int_equal(steno_model_open(&index, shipped_model, &mp, NULL), 0);
    refused(model, m, "cannot draft for a whisper model");
    refused(m, model, "has no use for a draft model");
    refused(model, index, "index_only");
    steno_model_close(m);
    steno_model_close(index);
    refused(model, m = random_model(&d, DT_F16, 1, NULL), "128 mel bands");
    steno_model_close(m);
    d.n_mels = 80;
    refused(model, m = random_model(&d, DT_F16, 1, NULL), "another vocabulary: id 0");
    steno_model_close(m);
    d.n_vocab = ENGLISH;
    refused(model, m = random_model(&d, DT_F16, 1, NULL), "another vocabulary, of 51864 ids");
    steno_model_close(m);
    refused(model, m = random_model(&small_multilingual, DT_F16, 1, NULL), "30 positions of audio");
    steno_model_close(m);
}

static void test_drafts_are_refused_for_tasks_without_drafts(void **state)
{
    (void)state;
    steno_transcribe_params p = params_new();
    steno_session_params sp;
    steno_session *s = session, *none;
    steno_batch *b;
    p.draft_max = 3;
    refuse(&p, "there is no draft model");
    session = drafted(model, draft, NULL, 2);
    p.beam_size = 2;
    refuse(&p, "draft_max drafts the most probable ids");
    p.beam_size = 0;
    p.temperature = 0.5;
    refuse(&p, "draft_max drafts the most probable ids");
    p.draft_max = 16;
    refuse(&p, "draft_max is 16, want -1 to 15");
    p.draft_max = -1; /* no length is required */
    run(&demo, &p);
    assert_int_equal(timings_of(session).n_drafted, 0);
    steno_session_close(session);
    session = s;
    steno_session *in_batch = session_in_batch(&b, model, 2, 1);
    steno_session_params_init(&sp);
    sp.batch = b;
    sp.draft_model = draft;
    assert_int_equal(steno_session_open(&none, model, NULL, &sp, NULL), STENO_EARG);
    steno_session_close(in_batch);
    steno_batch_close(b);
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

static void test_memory_of_a_draft_is_known_and_given_back(void **state)
{
    (void)state;
    need_counting();
    steno_session_params p;
    steno_session_params_init(&p);
    const int64_t alone = steno_session_memory(model, NULL, &p);
    p.draft_model = draft;
    const int64_t both = steno_session_memory(model, NULL, &p);
    assert_true(both > alone);
    count_begin(-1);
    steno_session *s = drafted(model, draft, NULL, 1);
    struct heap h = count_end();
    assert_true(labs((long)(both - h.bytes)) < 0.05 * (double)both);
    heap.counting = 1;
    steno_session_close(s);
    h = count_end();
    assert_int_equal(h.bytes, 0);
}

static void test_a_session_with_a_draft_lives_through_every_allocation_that_fails(void **state)
{
    (void)state;
    need_counting();
    steno_transcribe_params p = params_new();
    p.sample_len = 12;
    run(&demo, &p);
    const uint64_t want = result_digest(session);
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.draft_model = draft;
    p.draft_max = 2;
    int failed = 0;
    for (int64_t n = 0;; n += in_full() ? 1 : 1 + n / 16) {
        steno_session *s;
        steno_error e = { 0 };
        count_begin(n);
        int rc = steno_session_open(&s, model, NULL, &sp, &e);
        if (rc && (rc != STENO_ENOMEM || !*e.text || s)) fail_msg("allocation %lld fails: status %d '%s'", (long long)n, rc, e.text);
        if (!rc) rc = steno_transcribe(s, demo.pcm, demo.n, &p);
        const struct heap h = count_end();
        if (!rc) assert_true(result_digest(s) == want);
        if (s && rc) assert_int_equal(rc, STENO_ENOMEM);
        if (s) {
            run_on(s, &demo, &p);
            assert_true(result_digest(s) == want);
        }
        steno_session_close(s);
        failed += rc != 0;
        if (h.calls <= n) break;
    }
    assert_true(failed > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_draft_spares_steps_and_changes_nothing),
        cmocka_unit_test(test_a_canceled_call_leaves_a_draft_that_goes_on_rightly),
        cmocka_unit_test(test_windows_of_a_batch_are_drafted_each_for_itself),
        cmocka_unit_test(test_an_encoder_that_both_have_is_held_and_run_once),
        cmocka_unit_test(test_drafts_that_do_not_fit_are_refused_by_name),
        cmocka_unit_test(test_drafts_are_refused_for_tasks_without_drafts),
        cmocka_unit_test(test_memory_of_a_draft_is_known_and_given_back),
        cmocka_unit_test(test_a_session_with_a_draft_lives_through_every_allocation_that_fails),
    };
    return cmocka_run_group_tests(tests, all_open, all_close);
}
