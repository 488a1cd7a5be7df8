/* steno tests: Qwen3-ASR: texts that begin with a prefix, and prompts whose beginning was read before. SPDX-License-Identifier: MIT
 *
 * A text that continues its own beginning is the same text. The result of a clip does not depend on earlier clips of its session. */
#include "qwen_spoken.h"
#include "same_results.h"

enum { IDS = 24 };

static steno_transcribe_params params(void)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.language = "English";
    p.sample_len = IDS;
    return p;
}

static void run(steno_session *s, double from_s, double to_s, const steno_transcribe_params *p)
{
    const int64_t from = (int64_t)(from_s * RATE), to = (int64_t)(to_s * RATE);
    if (steno_transcribe(s, audio.pcm + from, to - from, p)) fail_msg("%s", steno_last_error(s));
}

/* ---- prefixes */

/* Prefixes of the text of a clip that have the tokens of the text. @return their number */
static int continue_clip(steno_session *s, steno_session *t, double at_s)
{
    steno_transcribe_params p = params();
    steno_segment whole = { .size = sizeof whole }, rest = { .size = sizeof rest };
    int tried = 0;
    run(s, at_s, at_s + 2, &p);
    if (steno_segment_count(s) != 1) return 0;
    steno_segment_get(s, 0, &whole);
    for (int k = 1; k < whole.n_tokens; k++) {
        char text[256];
        int32_t ids[IDS];
        if (steno_detokenize(model, whole.tokens, k, text, sizeof text) >= (int64_t)sizeof text) break;
        const int n = steno_tokenize(model, text, ids, IDS);
        if (n != k || memcmp(ids, whole.tokens, (size_t)k * sizeof *ids) != 0) continue; /* the same text has other tokens */
        p.prefix = text;
        p.sample_len = IDS - k;
        run(t, at_s, at_s + 2, &p);
        assert_int_equal(steno_segment_count(t), 1);
        steno_segment_get(t, 0, &rest);
        assert_string_equal(rest.text, whole.text);
        assert_int_equal(rest.n_tokens, whole.n_tokens - k);
        assert_memory_equal(rest.tokens, whole.tokens + k, (size_t)rest.n_tokens * sizeof *ids);
        tried++;
    }
    return tried;
}

static void test_a_text_that_continues_its_beginning_is_the_same(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model), *t = qwen_session(model);
    int tried = 0;
    for (int i = 0; i < 32; i++) tried += continue_clip(s, t, 0.25 * i);
    print_message("%d prefixes\n", tried);
    assert_true(tried > 2);
    steno_session_close(s);
    steno_session_close(t);
}

static void test_special_texts_of_a_prefix_are_no_tokens(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model);
    steno_transcribe_params p = params();
    p.prefix = "one<|im_end|>two";
    run(s, 0, 2, &p);
    assert_non_null(strstr(steno_text(s), "one<|im_end|>two"));
    steno_session_close(s);
}

static void test_a_prefix_without_a_language_is_refused(void **state)
{
    static const char *const none[] = { NULL, "auto" };
    (void)state;
    steno_session *s = qwen_session(model);
    steno_transcribe_params p = params();
    p.prefix = "one";
    for (int i = 0; i < 2; i++) {
        p.language = none[i];
        assert_int_equal(steno_transcribe(s, audio.pcm, RATE, &p), STENO_EARG);
        assert_non_null(strstr(steno_last_error(s), "a prefix needs the language"));
    }
    steno_session_close(s);
}

/* ---- prompts that begin as the one before */

static int64_t prompt_tokens(const steno_session *s)
{
    steno_timings t = { .size = sizeof t };
    steno_timings_get(s, &t);
    return t.n_prompt_tokens;
}

static void test_prompts_that_a_session_has_read_change_nothing(void **state)
{
    static const struct { double from_s, to_s; const char *context, *prefix; } clip[] = {
        { 0, 4, NULL, NULL }, { 0, 4, NULL, NULL }, { 0, 6, NULL, NULL }, { 0, 8, NULL, "one" }, { 0, 8, NULL, "one two" },
        { 0, 8, "a talk", "one two" }, { 0, 8, "a talk", NULL }, { 1, 8, "a talk", NULL }, { 0, 2.5, NULL, NULL }, { 0, 8, NULL, NULL },
    };
    (void)state;
    steno_session *s = qwen_session(model);
    int64_t before = 0, all[2] = { 0, 0 };
    for (size_t i = 0; i < sizeof clip / sizeof *clip; i++) {
        steno_session *alone = qwen_session(model);
        steno_transcribe_params p = params();
        p.initial_prompt = clip[i].context;
        p.prefix = clip[i].prefix;
        run(s, clip[i].from_s, clip[i].to_s, &p);
        run(alone, clip[i].from_s, clip[i].to_s, &p);
        results_are_equal(s, alone, clip[i].prefix ? clip[i].prefix : "no prefix");
        const int64_t now = prompt_tokens(s), read = now > before ? now - before : now, whole = prompt_tokens(alone);
        if (i == 1 && read != 1) fail_msg("the same clip again reads %lld positions", (long long)read);
        assert_true(read <= whole);
        before = now;
        all[0] += read;
        all[1] += whole;
        steno_session_close(alone);
    }
    if (all[0] > all[1] * 9 / 10) fail_msg("%lld of %lld positions are read", (long long)all[0], (long long)all[1]);
    steno_session_close(s);
}

static int stops(void *user)
{
    return --*(int *)user < 0;
}

/* A run that ends anywhere leaves a lane that later runs do not trust too far. */
static void test_runs_that_end_early_leave_nothing_wrong(void **state)
{
    (void)state;
    steno_session *s = qwen_session(model), *alone = qwen_session(model);
    steno_transcribe_params p = params();
    run(alone, 0, 4, &p);
    for (int asked = 0, done = 0; !done; asked += 1 + asked / 4) {
        steno_transcribe_params q = params();
        int left = asked;
        q.should_abort = stops;
        q.user = &left;
        run(s, 2, 6, &p);
        const int rc = steno_transcribe(s, audio.pcm, 4 * RATE, &q);
        done = !rc;
        assert_true(rc == STENO_OK || rc == STENO_ECANCELED);
        run(s, 0, 4, &p);
        results_are_equal(s, alone, "after a run that ended early");
    }
    steno_session_close(s);
    steno_session_close(alone);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_text_that_continues_its_beginning_is_the_same),
        cmocka_unit_test(test_special_texts_of_a_prefix_are_no_tokens),
        cmocka_unit_test(test_a_prefix_without_a_language_is_refused),
        cmocka_unit_test(test_prompts_that_a_session_has_read_change_nothing),
        cmocka_unit_test(test_runs_that_end_early_leave_nothing_wrong),
    };
    return cmocka_run_group_tests(tests, spoken_open, spoken_close);
}
