/* steno tests: batches and searches when there is no memory. SPDX-License-Identifier: MIT
 *
 * As test_nomem.c does for models: each allocation of a way of working fails once. It must end with STENO_ENOMEM and a reason or with the
 * right result, nothing stays behind, calls beside the one that failed are not touched, and a session goes on. */
#include "parakeet_model.h"
#include "heap.h"
#include "small_pair.h"

enum { ALLOCATIONS_MAX = 5000, CALLS = 3, SAMPLES = 3 * RATE / 2, LANES = 3 };

static double const clips[] = { 0, 1, 0.3, 1.5 };

/* ---- calls ------------------------------------------------------------------------------------------------------------------- */

enum kind { BEAMS, CANDIDATES, CLIPS, CLIPS_TIMELESS, CONSTRAINED, NESTED, BOTH, KINDS };

static char const *const kind_name[] = { "beams", "candidates", "clips", "clips without times", "constraints", "a nested grammar", "both" };

static steno_transcribe_params params_of(enum kind kind)
{
    steno_transcribe_params p = params_new();
    p.no_speech_threshold = (double)NAN;
    p.temperature_increment_on_fallback = 0;
    p.without_timestamps = 1;
    p.sample_len = 6;
    if (kind == BEAMS) p.beam_size = LANES, p.prefix = "ab";
    if (kind == CANDIDATES) p.best_of = LANES, p.temperature = 0.8, p.initial_prompt = "ba";
    if (kind == CLIPS || kind == CLIPS_TIMELESS) {
        p.clip_timestamps = clips;
        p.n_clip_timestamps = 4;
        p.independent_clips = 1;
        p.condition_on_previous_text = 0;
        p.without_timestamps = kind == CLIPS_TIMELESS;
        p.prefix = "a";
    }
    if (kind == CONSTRAINED) {
        p.grammar = "root ::= [a-z]+ (\".\" | \"!\"{2,3})";
        p.hotwords = "ab\nba ba\nc";
        p.suppress_regex = "[e-g]|z+";
    }
    if (kind == NESTED) p.grammar = "root ::= [a-z] root [a-z] | \"()\"", p.beam_size = LANES;
    if (kind == BOTH) p.task = STENO_TRANSCRIBE_AND_TRANSLATE, p.language = NULL, p.keep_audio_features = 1;
    return p;
}

static const steno_model *model_of(enum kind kind)
{
    return kind == BOTH ? speaks_all : model;
}

static uint64_t digest_of(steno_session *s)
{
    const uint64_t h = result_digest(s) + spans_digest(s);
    if (steno_result_select(s, STENO_TRANSCRIBE) || steno_result_select(s, STENO_TRANSLATE)) return h;
    return h * 31 + result_digest(s);
}

static int call(steno_session *s, enum kind kind, uint64_t *digest, steno_error *e)
{
    const steno_transcribe_params p = params_of(kind);
    const int rc = steno_transcribe(s, demo.pcm, SAMPLES, &p);
    *digest = digest_of(s); /* after a failure, too: what is there can be read */
    if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    return rc;
}

/* ---- a session --------------------------------------------------------------------------------------------------------------- */

static void stay_usable(enum kind kind)
{
    uint64_t want, got;
    steno_error e = { 0 };
    int failed = 0;
    steno_session *s = session_new(model_of(kind), NULL, LANES);
    if (call(s, kind, &want, &e)) fail_msg("%s: %s", kind_name[kind], e.text);
    steno_session_close(s);
    for (int64_t n = 0;; n++) {
        s = session_new(model_of(kind), NULL, LANES);
        e = (steno_error){ 0 };
        count_begin(n);
        const int rc = call(s, kind, &got, &e);
        const struct heap h = count_end();
        if (rc && (rc != STENO_ENOMEM || !*e.text))
            fail_msg("%s, allocation %lld fails: status %d \"%s\"", kind_name[kind], (long long)n, rc, e.text);
        if (!rc && got != want) fail_msg("%s, allocation %lld fails: another result and no error", kind_name[kind], (long long)n);
        if (call(s, kind, &got, &e) || got != want) fail_msg("%s, after allocation %lld failed: %s", kind_name[kind], (long long)n, e.text);
        failed += rc != 0;
        steno_session_close(s);
        if (h.calls <= n) break;
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("%s: %d allocations failed and the session went on\n", kind_name[kind], failed);
    assert_true(failed > 0);
}

static void test_a_session_goes_on_after_every_allocation_of_a_call_has_failed(void **state)
{
    (void)state;
    need_counting();
    for (int kind = 0; kind < KINDS; kind++) stay_usable((enum kind)kind);
}

/* ---- a batch ----------------------------------------------------------------------------------------------------------------- */

struct reading { int64_t at; };

static int64_t read_some(void *user, float *pcm, int64_t n)
{
    struct reading *r = user;
    const int64_t take = SAMPLES - r->at < n ? SAMPLES - r->at : n;
    memcpy(pcm, demo.pcm + r->at, (size_t)take * sizeof *pcm);
    r->at += take;
    return take;
}

static int rewind_it(void *user)
{
    ((struct reading *)user)->at = 0;
    return 0;
}

static enum kind const beside[CALLS] = { CLIPS, CONSTRAINED, BEAMS };
static uint64_t want_of[CALLS];

struct outcome { steno_session *s[CALLS]; int rc[CALLS], bad; };

static void on_done(void *user, steno_session *s, int status)
{
    struct outcome *o = user;
    int i = 0;
    while (o->s[i] != s) i++;
    o->rc[i] = status;
    if (!status) o->bad += digest_of(s) != want_of[i];
}

/* Open, add, run and close. @return the first status that is not OK */
static int batch_once(const steno_model *m, struct outcome *o, steno_error *e)
{
    steno_batch *b;
    steno_batch_params bp;
    steno_session_params sp;
    struct reading r[CALLS] = { { 0 } };
    steno_transcribe_params p[CALLS];
    steno_batch_params_init(&bp);
    steno_session_params_init(&sp);
    bp.max_windows = 3;
    bp.max_lanes = LANES;
    bp.user = o;
    bp.on_done = on_done;
    int rc = steno_batch_open(&b, m, NULL, &bp, e);
    sp.batch = b;
    for (int i = 0; i < CALLS && !rc; i++) {
        rc = steno_session_open(&o->s[i], m, NULL, &sp, e);
        if (rc) break;
        const steno_source src = { read_some, rewind_it, &r[i] };
        p[i] = params_of(beside[i]);
        const int added = steno_batch_add(b, o->s[i], &src, m == model ? &p[i] : NULL); /* the others are none the worse */
        if (added) o->rc[i] = added;
    }
    if (!rc) rc = steno_batch_run(b);
    for (int i = 0; i < CALLS; i++) {
        if (!rc && o->rc[i]) {
            rc = o->rc[i];
            snprintf(e->text, sizeof e->text, "%s", steno_last_error(o->s[i]));
        }
        steno_session_close(o->s[i]);
    }
    steno_batch_close(b);
    return rc;
}

/* want_of returns the result of each of its requests alone. */
static void batch_each(const steno_model *m)
{
    int failed = 0;
    steno_error e = { 0 };
    for (int64_t n = 0;; n++) {
        struct outcome o = { .bad = 0 };
        e = (steno_error){ 0 };
        count_begin(n);
        const int rc = batch_once(m, &o, &e);
        const struct heap h = count_end();
        if (rc && (rc != STENO_ENOMEM || !*e.text)) fail_msg("allocation %lld fails: status %d \"%s\"", (long long)n, rc, e.text);
        if (h.bytes) fail_msg("allocation %lld fails: %lld bytes stay behind", (long long)n, (long long)h.bytes);
        if (o.bad) fail_msg("allocation %lld fails: another result and no error", (long long)n);
        assert_true((o.rc[0] != 0) + (o.rc[1] != 0) + (o.rc[2] != 0) <= 1);
        failed += rc != 0;
        if (h.calls <= n) break;
        assert_true(n < ALLOCATIONS_MAX);
    }
    print_message("batch: %d allocations failed\n", failed);
    assert_true(failed > 20);
}

static void test_every_allocation_of_a_batch_may_fail_and_ends_at_most_one_call(void **state)
{
    (void)state;
    need_counting();
    steno_session *s = session_new(model, NULL, LANES);
    steno_error e = { 0 };
    for (int i = 0; i < CALLS; i++) assert_int_equal(call(s, beside[i], &want_of[i], &e), 0);
    steno_session_close(s);
    batch_each(model);
}

/* Clips that share a run, and streams that take turns. */
static void test_so_it_does_with_tags_and_with_spans_of_speech(void **state)
{
    (void)state;
    need_counting();
    static struct folder (*const folder[])(void) = { ctc_folder, vad_folder, pk_tdt_folder, pk_stream_folder, NULL };
    for (int i = 0; i < 5; i++) {
        const int finds = i == 1;
        steno_model *m = NULL;
        if (folder[i]) m = funasr_open(folder[i], NULL);
        else assert_int_equal(steno_model_open(&m, "tests/data/qwen3_asr", NULL, NULL), 0);
        steno_session *s = session_new(m, NULL, 1);
        for (int k = 0; k < CALLS; k++) {
            struct reading r = { 0 };
            const steno_source src = { read_some, rewind_it, &r };
            assert_int_equal(finds ? steno_find_speech(s, &src, NULL) : steno_transcribe_source(s, &src, NULL), 0);
            want_of[k] = digest_of(s);
        }
        steno_session_close(s);
        batch_each(m);
        steno_model_close(m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_session_goes_on_after_every_allocation_of_a_call_has_failed),
        cmocka_unit_test(test_every_allocation_of_a_batch_may_fail_and_ends_at_most_one_call),
        cmocka_unit_test(test_so_it_does_with_tags_and_with_spans_of_speech),
    };
    return cmocka_run_group_tests(tests, pair_open, pair_close);
}
