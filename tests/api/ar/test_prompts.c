/* steno tests: what stands before a window, held against the reference's list arithmetic. SPDX-License-Identifier: MIT
 *
 * The oracle keeps every token of the call in one list and cuts it as openai-whisper 20250625 does, negative and zero slices included. */
#include "shipped_session.h"
#include "internal.h"

enum { HALF = 223, MOST = 4000 };

struct list { int32_t id[MOST]; int n; };

static void list_add(struct list *l, const int32_t *ids, int n)
{
    assert_true(l->n + n <= MOST);
    memcpy(l->id + l->n, ids, (size_t)n * sizeof *ids);
    l->n += n;
}

/* Ids that are words, so that a prompt made of them is not far from speech. */
static struct list prompt_of(int n)
{
    struct list l = { .n = 0 };
    int32_t two[8];
    const int k = steno_tokenize(model, " one two three four five six seven", two, 8);
    assert_int_equal(k, 7);
    for (int i = 0; i < n; i++) list_add(&l, &two[(i * i + i / 3) % 7], 1);
    return l;
}

/* Python's list[-r:] of the last part. */
static void slice_last(struct list *out, const int32_t *ids, int n, int r)
{
    int from = r > 0 ? n - r : -r;
    if (from < 0) from = 0;
    if (from < n) list_add(out, ids + from, n - from);
}

static struct list expected(const struct list *initial, const struct list *rest, int carry)
{
    struct list all = { .n = 0 }, cut = { .n = 0 };
    list_add(&all, initial->id, initial->n);
    if (carry) slice_last(&all, rest->id, rest->n, HALF - initial->n);
    else list_add(&all, rest->id, rest->n);
    slice_last(&cut, all.id, all.n, HALF);
    return cut;
}

/* Tokens of the segments before the last window. */
static struct list before_last_window(void)
{
    struct list l = { .n = 0 };
    int64_t last = 0;
    steno_segment g = { .size = sizeof g };
    for (int i = 0; !steno_segment_get(session, i, &g); i++) last = g.seek_frames;
    for (int i = 0; !steno_segment_get(session, i, &g); i++)
        if (g.seek_frames < last) list_add(&l, g.tokens, g.n_tokens);
    assert_true(last > 0 && l.n > 20);
    return l;
}

static void check_prompt(const struct list *want)
{
    assert_int_equal(inside_prompt(session).id[0], want->n ? inside_tokens(model)->previous : inside_tokens(model)->sot);
    for (int i = 0; i < want->n; i++)
        if (inside_prompt(session).id[1 + i] != want->id[i])
            fail_msg("place %d of %d is %d, want %d", i, want->n, (int)inside_prompt(session).id[1 + i], (int)want->id[i]);
    assert_int_equal(inside_prompt(session).id[want->n ? 1 + want->n : 0], inside_tokens(model)->sot);
}

static steno_transcribe_params one_attempt(void)
{
    steno_transcribe_params p = params_new();
    p.guards = STENO_GUARDS_OFF; /* they try a window without the text before it, too */
    p.temperature_increment_on_fallback = 0;
    p.no_speech_threshold = (double)NAN;
    return p;
}

static void test_a_carried_prompt_leaves_the_rest_what_the_reference_leaves(void **state)
{
    (void)state;
    static const int sizes[] = { 0, 1, 50, 170, 200, 222, 223, 224, 230, 240, 300, 450, 1000 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int carry = 0; carry < 2; carry++) {
            if (SANITIZED && i % 4 != 2) continue;
            const struct list initial = prompt_of(sizes[i]);
            steno_transcribe_params p = one_attempt();
            p.prompt_tokens = initial.id;
            p.n_prompt_tokens = initial.n;
            p.carry_initial_prompt = carry;
            p.sample_len = 60;
            if (steno_transcribe(session, many.pcm, many.n, &p)) fail_msg("%s", steno_last_error(session));
            const struct list rest = before_last_window(), want = expected(&initial, &rest, carry);
            check_prompt(&want);
        }
}

static void test_without_conditioning_only_a_carried_prompt_comes_back(void **state)
{
    (void)state;
    const struct list initial = prompt_of(30), none = { .n = 0 };
    for (int carry = 0; carry < 2; carry++) {
        steno_transcribe_params p = one_attempt();
        p.prompt_tokens = initial.id;
        p.n_prompt_tokens = initial.n;
        p.carry_initial_prompt = carry;
        p.condition_on_previous_text = 0;
        assert_int_equal(steno_transcribe(session, many.pcm, many.n, &p), 0);
        check_prompt(carry ? &initial : &none);
    }
}

static void test_a_prompt_of_ids_is_the_prompt_of_its_text(void **state)
{
    (void)state;
    int32_t ids[64];
    steno_transcribe_params p = one_attempt();
    p.initial_prompt = "  four five six. \n";
    assert_int_equal(steno_transcribe(session, many.pcm, many.n, &p), 0);
    const uint64_t want = result_digest(session);
    p.initial_prompt = NULL;
    p.n_prompt_tokens = steno_tokenize(model, " four five six.", ids, 64);
    p.prompt_tokens = ids;
    assert_int_equal(steno_transcribe(session, many.pcm, many.n, &p), 0);
    assert_true(result_digest(session) == want);
    p.n_prompt_tokens = 0; /* an empty list adds nothing */
    assert_int_equal(steno_transcribe(session, many.pcm, RATE, &p), 0);
    assert_int_equal(inside_prompt(session).id[0], inside_tokens(model)->sot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_carried_prompt_leaves_the_rest_what_the_reference_leaves),
        cmocka_unit_test(test_without_conditioning_only_a_carried_prompt_comes_back),
        cmocka_unit_test(test_a_prompt_of_ids_is_the_prompt_of_its_text),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
