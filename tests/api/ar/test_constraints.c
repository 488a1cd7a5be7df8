/* steno tests: ids that may not be chosen. SPDX-License-Identifier: MIT
 *
 * A logits filter lifts what is barred far above the rest: whatever the search, it must not come out. */
#include "attempts.h"
#include "shipped_session.h"

enum { SEARCHES = 4, MOST_TOKENS = 500 };

static steno_transcribe_params search(int which)
{
    steno_transcribe_params p = params_new();
    p.temperature_increment_on_fallback = 0;
    p.no_speech_threshold = (double)NAN;
    p.without_timestamps = 1;
    p.sample_len = 12;
    p.audio_ctx = 190; /* as long as the recording */
    if (which == 1) p.beam_size = 4;
    if (which == 2) p.temperature = 1, p.seed = 4;
    if (which == 3) p.temperature = 0.7, p.best_of = 4;
    return p;
}

static int run_ids(const steno_transcribe_params *p, int32_t ids[MOST_TOKENS])
{
    run(&demo, p);
    return tokens_of(session, ids, MOST_TOKENS);
}

/* ---- patterns ---------------------------------------------------------------------------------------------------------------- */

static int is_number(int32_t id)
{
    char text[64];
    const int64_t n = steno_detokenize(model, &id, 1, text, sizeof text);
    return n > 0 && n < 64 && strspn(text, "0123456789") == (size_t)n;
}

static uint8_t number[1 << 16]; /* by id */

static void lift_numbers(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    (void)tokens;
    if (n % 2 == 0)
        for (int32_t i = 0; i < at->n_vocab; i++)
            if (number[i]) logits[i] += 1000;
}

static int count_numbers(const int32_t *ids, int n)
{
    int numbers = 0;
    for (int i = 0; i < n; i++) numbers += number[ids[i]];
    return numbers;
}

static void test_ids_that_a_pattern_matches_as_a_whole_are_never_chosen(void **state)
{
    (void)state;
    static int32_t ids[MOST_TOKENS];
    const int32_t end = steno_token_id(model, STENO_TOKEN_END);
    int numbers = 0;
    for (int32_t i = 0; i < end; i++) numbers += number[i] = (uint8_t)is_number(i);
    assert_true(numbers > 100);
    for (int i = 0; i < SEARCHES; i++) {
        steno_transcribe_params p = search(i);
        p.logits_filter = lift_numbers;
        int n = run_ids(&p, ids);
        assert_true(count_numbers(ids, n) >= n / 2 && n > 4);
        p.suppress_regex = "[0-9]+";
        n = run_ids(&p, ids);
        assert_true(n > 0);
        assert_int_equal(count_numbers(ids, n), 0);
        p.suppress_regex = "[0-9]"; /* of one character only */
        n = run_ids(&p, ids);
        assert_true(count_numbers(ids, n) > 0);
        for (int k = 0; k < n; k++) assert_false(number[ids[k]] && steno_detokenize(model, &ids[k], 1, NULL, 0) == 1);
    }
    steno_transcribe_params p = search(0); /* part of a word is no match */
    p.audio_ctx = 0;
    p.suppress_regex = "e|n|[0-9]";
    run_ids(&p, ids);
    assert_string_equal(steno_text(session), demo_text);
    p.suppress_regex = " (zero|nine)";
    run_ids(&p, ids);
    assert_null(strstr(steno_text(session), " zero"));
    assert_null(strstr(steno_text(session), " nine"));
    p.suppress_regex = "(?i) ?[a-zé零]+"; /* letters of any script */
    run_ids(&p, ids);
    assert_null(strstr(steno_text(session), "e"));
    p.suppress_regex = "";
    run_ids(&p, ids);
    assert_string_equal(steno_text(session), demo_text);
}

static int32_t raised; /* id that is far above all others from the first (raised_at 0) or the fourth token on */
static int raised_at;

static void raise_one(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    (void)at;
    (void)tokens;
    if (n >= raised_at) logits[raised] += 1000;
}

static int chooses(const char *pattern, int32_t decoding)
{
    static int32_t ids[MOST_TOKENS];
    steno_transcribe_params p = search(0);
    p.without_timestamps = 0;
    p.suppress_regex = pattern;
    p.decoding = decoding;
    p.guards = STENO_GUARDS_OFF;
    p.logits_filter = raise_one;
    const int n = run_ids(&p, ids);
    if (raised == steno_token_id(model, STENO_TOKEN_END)) return n <= raised_at;
    for (int i = 0; i < n; i++)
        if (ids[i] == raised) return 1;
    return 0;
}

static void test_names_of_special_ids_match_by_the_rules_of_whisper_cpp(void **state)
{
    (void)state;
    const int32_t zero = steno_token_id(model, STENO_TOKEN_TIMESTAMP), end = steno_token_id(model, STENO_TOKEN_END);
    const struct { int32_t id; int at; const char *name, *other; } special[] = {
        { end, 3, "\\[_EOT_\\]", "\\[_SOT_\\]" },       { zero, 0, "\\[_BEG_\\]", "\\[_TT_0\\]" },
        { zero + 1, 0, "\\[_TT_1\\]", "\\[_TT_\\]" },  { zero + 15, 0, ".TT.1[5-9].|\\[_TT_(15)\\]", "_TT_15" },
        { zero + 1500, 3, "\\[_TT_1500\\]", "\\[_TT_1501\\]" },
    };
    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        raised = special[i].id;
        raised_at = special[i].at;
        assert_true(chooses(NULL, STENO_DECODING_GGML));
        assert_true(chooses(special[i].other, STENO_DECODING_GGML));
        assert_false(chooses(special[i].name, STENO_DECODING_GGML));
        assert_true(chooses(special[i].name, STENO_DECODING_OPENAI));
    }
}

static void test_patterns_that_cannot_be_used_are_refused(void **state)
{
    (void)state;
    static const char *const broken[] = { "(", "[", "a{3,2}", "(?<x", "\\", "*", "(?R", "\xff", "(?C99999)" };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        steno_transcribe_params p = search(0);
        p.suppress_regex = broken[i];
        refuse(&p, "suppress_regex: '");
        refuse(&p, "at character");
    }
    /* words of a dozen letters, which these read in very many ways */
    static const char *const endless[] = {
        "(.|.|.|.)*[\\x01\\x02]", "((.*)*)*[\\x01\\x02]", "(*LIMIT_MATCH=4000000000)(.|.|.|.)*[\\x01\\x02]", "(.(?R)?.?)+[\\x01\\x02]",
    };
    for (size_t i = 0; i < sizeof endless / sizeof *endless; i++) {
        steno_transcribe_params p = search(0);
        p.suppress_regex = endless[i];
        refuse(&p, "takes too long to match");
    }
    static int32_t ids[MOST_TOKENS];
    steno_transcribe_params p = search(0);
    p.audio_ctx = 0;
    run_ids(&p, ids);
    assert_string_equal(steno_text(session), demo_text);
}

/* ---- lists ------------------------------------------------------------------------------------------------------------------- */

static int32_t const lifted[] = { 4018, 4949, 13 }; /* " zero", " nine", "." */

static void lift_three(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    (void)at;
    (void)tokens;
    logits[lifted[n % 3]] += 1000;
}

static void test_ids_of_the_list_are_never_chosen_whatever_lifts_them(void **state)
{
    (void)state;
    static int32_t ids[MOST_TOKENS];
    for (int i = 0; i < SEARCHES; i++)
        for (int barred = 0; barred < 2; barred++) {
            steno_transcribe_params p = search(i);
            p.suppress_tokens = barred ? "4018,4949,13" : "-1";
            p.logits_filter = lift_three;
            const int n = run_ids(&p, ids);
            int found = 0;
            for (int k = 0; k < n; k++)
                for (int j = 0; j < 3; j++) found += ids[k] == lifted[j];
            if (barred ? found : found != n || !n) fail_msg("search %d: %d of %d tokens", i, found, n);
        }
}

/* ---- the caller's filter ----------------------------------------------------------------------------------------------------- */

struct script { int32_t ids[16]; int n, lanes, bad; int64_t at_ms; };

/* Only the next id of the script may be chosen, then the end. */
static void follow(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    struct script *s = user;
    const int32_t next = n < s->n ? s->ids[n] : steno_token_id(model, STENO_TOKEN_END);
    const float was = logits[next];
    s->bad += at->size != sizeof *at || at->n_vocab != 51865 || at->at_ms != 0 || n > s->n || at->attempt || at->lane < 0 || at->lane >= 4;
    s->bad += n && memcmp(tokens, s->ids, (size_t)n * sizeof *tokens) != 0;
    s->lanes |= 1 << at->lane;
    for (int32_t i = 0; i < at->n_vocab; i++) logits[i] = i % 3 ? -INFINITY : NAN;
    logits[next] = was;
}

static void test_a_filter_decides_and_receives_the_earlier_tokens(void **state)
{
    (void)state;
    static int32_t ids[MOST_TOKENS];
    for (int i = 0; i < SEARCHES; i++) {
        struct script s = { .n = 0 };
        steno_transcribe_params p = search(i);
        s.n = steno_tokenize(model, " Hello, world", s.ids, 16);
        p.logits_filter = follow;
        p.user = &s;
        assert_int_equal(run_ids(&p, ids), s.n);
        assert_memory_equal(ids, s.ids, (size_t)s.n * sizeof *ids);
        assert_string_equal(steno_text(session), " Hello, world");
        assert_int_equal(s.bad, 0);
        assert_int_equal(s.lanes, i == 3 ? 15 : 1);
        steno_token t = { .size = sizeof t };
        steno_token_get(session, 0, 0, &t);
        if (i < 2) assert_true(t.p == 1); /* among what is allowed */
    }
}

/* ---- another speaker --------------------------------------------------------------------------------------------------------- */

/* After the third token, and each ninth. */
static void lift_turn(void *user, const steno_step *at, float *logits, const int32_t *tokens, int32_t n)
{
    (void)user;
    (void)at;
    (void)tokens;
    if (n % 9 == 3) logits[steno_token_id(model, STENO_TOKEN_START_LM)] = 1000;
}

static void test_the_token_of_a_turn_is_reported_with_the_option_and_masked_without(void **state)
{
    (void)state;
    static int32_t ids[MOST_TOKENS];
    const int32_t solm = steno_token_id(model, STENO_TOKEN_START_LM);
    for (int i = 0; i < SEARCHES; i++)
        for (int with = 0; with < 3; with++) {
            steno_transcribe_params p = search(i);
            p.logits_filter = lift_turn;
            p.without_timestamps = i != 0;
            p.tinydiarize = with != 0;
            p.suppress_tokens = with == 2 ? "" : "-1";
            const int n = run_ids(&p, ids);
            int found = 0, turns = 0;
            for (int k = 0; k < n; k++) found += ids[k] == solm;
            steno_segment g = { .size = sizeof g };
            for (int k = 0; !steno_segment_get(session, k, &g); k++) {
                int has = 0;
                for (int j = 0; j < g.n_tokens; j++) has |= g.tokens[j] == solm;
                assert_int_equal(g.speaker_turn, has);
                assert_null(strstr(g.text, "<|"));
                turns += g.speaker_turn;
            }
            assert_int_equal(found > 0, with > 0);
            assert_int_equal(turns > 0, with > 0);
            if (strstr(steno_text(session), "<|")) fail_msg("the mark is no text: '%s'", steno_text(session));
        }
    steno_transcribe_params p = search(0); /* no option reads the name */
    p.logits_filter = lift_turn;
    p.suppress_tokens = "";
    run_ids(&p, ids);
    steno_segment g = { .size = sizeof g };
    assert_int_equal(steno_segment_get(session, 0, &g), 0);
    assert_int_equal(g.speaker_turn, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_that_a_pattern_matches_as_a_whole_are_never_chosen),
        cmocka_unit_test(test_names_of_special_ids_match_by_the_rules_of_whisper_cpp),
        cmocka_unit_test(test_patterns_that_cannot_be_used_are_refused),
        cmocka_unit_test(test_ids_of_the_list_are_never_chosen_whatever_lifts_them),
        cmocka_unit_test(test_a_filter_decides_and_receives_the_earlier_tokens),
        cmocka_unit_test(test_the_token_of_a_turn_is_reported_with_the_option_and_masked_without),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
