/* steno: segments cut to a length. SPDX-License-Identifier: MIT
 *
 * Tokens are those of the shipped model's vocabulary; times are made up. */
#include "api/heap.h"
#include "reshape.h"
#include "utf8.h"
#include "write_help.h"

enum { MAX_TOKENS = 64, MAX_WORDS = 16, STAMP_MS = 20 };

static steno_model *model;

/* A transcript of one segment between timestamps, in a store of its own, as it comes out of a session. */
struct one {
    struct transcript t;
    struct transcript_store store;
    int32_t ids[MAX_TOKENS];
    char text[512];
};

static void *copy_of(const void *p, size_t n)
{
    void *q = malloc(n + 1);
    assert_non_null(q);
    memcpy(q, p, n);
    return q;
}

/* The segment lasts from 1 s on, a second for each token; token k of the text begins at 1 + k s where `timed`. */
static void one_make(struct one *o, const char *text, int timed)
{
    const int32_t stamp = steno_token_id(model, STENO_TOKEN_TIMESTAMP);
    memset(o, 0, sizeof *o);
    snprintf(o->text, sizeof o->text, "%s", text);
    const int n = steno_tokenize(model, text, o->ids + 1, MAX_TOKENS - 2);
    assert_in_range(n, 0, MAX_TOKENS - 2);
    o->ids[0] = stamp + 1000 / STAMP_MS;
    o->ids[n + 1] = stamp + 1000 * (n + 1) / STAMP_MS;
    steno_token tokens[MAX_TOKENS];
    memset(tokens, 0, sizeof tokens);
    for (int k = 0; k < n + 2; k++)
        tokens[k] = (steno_token){ .id = o->ids[k], .t0_ms = timed ? 1000 * (k ? k : 1) : -1, .t1_ms = -1, .p = 0.5f };
    const steno_segment seg = { .t0_ms = 1000, .t1_ms = 1000 * (n + 1), .text = o->text, .tokens = o->ids, .n_tokens = n + 2,
                                .start = 1, .end = n + 1, .speaker_turn = 1, .avg_logprob = -0.5 };
    const int32_t zero = 0;
    o->store.segs = copy_of(&seg, sizeof seg);
    o->store.tokens = copy_of(tokens, sizeof tokens);
    o->store.first_token = copy_of(&zero, sizeof zero);
    o->store.first_word = copy_of(&zero, sizeof zero);
    o->t = (struct transcript){ .segs = o->store.segs, .n = 1, .tokens = o->store.tokens, .first_token = o->store.first_token,
                                .first_word = o->store.first_word, .first_timestamp = stamp, .model = model };
}

static void one_words(struct one *o, const steno_word *words, int n)
{
    o->store.words = copy_of(words, (size_t)n * sizeof *words);
    o->t.words = o->store.words;
    o->t.word_times = 1;
    o->store.segs[0].n_words = n;
}

/* Cut to a length. */
static int cut(struct one *o, int32_t max_len, int by_words)
{
    const struct reshape_rules rules = { .max_len = max_len, .by_words = by_words };
    return reshape(&o->t, &o->store, &rules);
}

/* `user` has a character for each second: who speaks, or '?'. The speaker with most of a stretch has it. */
static int speaker_in(const void *user, int64_t t0_ms, int64_t t1_ms)
{
    const char *second = user;
    int64_t ms[2] = { 0, 0 };
    for (int64_t t = t0_ms; t < t1_ms; t += 100)
        if (second[t / 1000] != '?') ms[second[t / 1000] - '0'] += 100;
    return ms[0] > ms[1] ? 0 : ms[1] > ms[0] ? 1 : WRITE_SPEAKER_UNKNOWN;
}

/* Cut where the speaker changes; `who` is about seconds from 0 on. */
static void cut_speakers(struct one *o, const char *who, int32_t max_len)
{
    const struct reshape_rules rules = { .max_len = max_len, .speaker = speaker_in, .user = who };
    o->store.speakers = copy_of(&(int32_t){ speaker_in(who, o->t.segs[0].t0_ms, o->t.segs[0].t1_ms) }, sizeof(int32_t));
    o->t.speakers = o->store.speakers;
    assert_int_equal(reshape(&o->t, &o->store, &rules), 0);
}

/* What holds of any cut: the pieces are the text and the tokens, without a gap in text, ids, tokens, words or time. */
static void check_whole(const struct one *o, const char *text)
{
    char all[512] = "";
    int32_t n_tokens = 0, n_words = 0;
    for (int i = 0; i < o->t.n; i++) {
        const steno_segment *s = &o->t.segs[i];
        strcat(all, s->text);
        assert_int_equal(s->id, i);
        assert_int_equal(utf8_invalid_at(s->text), -1);
        assert_int_equal(o->t.first_token[i], n_tokens);
        assert_ptr_equal(s->tokens, o->ids + n_tokens);
        assert_int_equal(o->t.first_word[i], n_words);
        n_tokens += s->n_tokens;
        n_words += s->n_words;
        assert_int_equal(s->speaker_turn, i == o->t.n - 1);
        assert_true(s->avg_logprob == -0.5);
        assert_true(s->t0_ms <= s->t1_ms);
        assert_true(fabs(s->start * 1000 - (double)s->t0_ms) < 1e-9 && fabs(s->end * 1000 - (double)s->t1_ms) < 1e-9);
        if (i) assert_int_equal(s->t0_ms, o->t.segs[i - 1].t1_ms);
    }
    assert_string_equal(all, text);
    assert_int_equal(o->ids[n_tokens], 0);
}

static const char digits[] = " one two three four, unbelievable five six";

static void test_pieces_are_the_text_and_no_longer_than_allowed(void **state)
{
    (void)state;
    for (int most = 1; most < 50; most++) {
        struct one o;
        one_make(&o, digits, 1);
        assert_int_equal(cut(&o, most, 0), 0);
        check_whole(&o, digits);
        for (int i = 0; most >= 14 && i < o.t.n; i++) assert_true(strlen(o.t.segs[i].text) <= (size_t)most);
        if (most >= (int)strlen(digits)) assert_int_equal(o.t.n, 1);
        transcript_free(&o.store);
    }
}

static void test_pieces_begin_at_words_when_asked_to(void **state)
{
    (void)state;
    struct one o;
    one_make(&o, digits, 1);
    assert_int_equal(cut(&o, 10, 1), 0);
    check_whole(&o, digits);
    static const char *const want[] = { " one two", " three", " four,", " unbelievable", " five six" };
    assert_int_equal(o.t.n, 5);
    for (int i = 0; i < 5; i++) assert_string_equal(o.t.segs[i].text, want[i]);
    transcript_free(&o.store);
}

static void test_pieces_begin_when_their_tokens_do(void **state)
{
    (void)state;
    struct one o;
    one_make(&o, " one two three four", 1);
    assert_int_equal(o.store.segs[0].n_tokens, 6);
    assert_int_equal(cut(&o, 8, 0), 0);
    check_whole(&o, " one two three four");
    assert_int_equal(o.t.n, 3);
    assert_int_equal(o.t.segs[1].t0_ms, 3000); /* the third of the text */
    assert_int_equal(o.t.segs[1].n_tokens, 1);
    assert_int_equal(o.t.segs[2].t0_ms, 4000);
    assert_int_equal(o.t.segs[2].t1_ms, 5000);
    assert_int_equal(o.t.segs[2].n_tokens, 2); /* the timestamp behind it too */
    transcript_free(&o.store);
}

static void test_times_that_are_not_known_are_shared_by_length(void **state)
{
    (void)state;
    struct one o;
    one_make(&o, " one two six ten", 0);
    assert_int_equal(cut(&o, 8, 0), 0);
    check_whole(&o, " one two six ten");
    assert_int_equal(o.t.n, 2);
    assert_int_equal(o.t.segs[0].t1_ms, 3000); /* half of 1..5 s */
    transcript_free(&o.store);
    one_make(&o, " one two six ten", 0);
    o.store.segs[0].t0_ms = o.store.segs[0].t1_ms = -1;
    assert_int_equal(cut(&o, 8, 0), 0);
    assert_int_equal(o.t.n, 2);
    assert_int_equal(o.t.segs[1].t0_ms, -1);
    transcript_free(&o.store);
}

static void test_no_character_of_several_tokens_is_cut(void **state)
{
    (void)state;
    static const char text[] = "\xe5\x85\xad\xe9\x9b\xb6\xf0\x9f\xa6\x84\xe4\xb8\x83" /* with a unicorn, and rare signs */
                               "\xe9\x99\x8c\xe7\xbe\xbd\xe7\x9f\x81";
    struct one o;
    one_make(&o, text, 1);
    assert_true(o.store.segs[0].n_tokens > 9);
    assert_int_equal(cut(&o, 1, 0), 0);
    check_whole(&o, text);
    assert_int_equal(o.t.n, 7);
    transcript_free(&o.store);
    one_make(&o, text, 1);
    assert_int_equal(cut(&o, 1, 1), 0); /* there is no space */
    assert_int_equal(o.t.n, 1);
    transcript_free(&o.store);
}

static const steno_word three_words[] = { WORD(" unbelievable", 1000, 1500), WORD(" one.", 1700, 2000), WORD("two", 2500, 2900) };

static void test_with_word_times_cuts_fall_before_words(void **state)
{
    (void)state;
    static const char text[] = " unbelievable one.two";
    struct one o;
    one_make(&o, text, 1);
    one_words(&o, three_words, 3);
    assert_int_equal(cut(&o, 5, 0), 0);
    check_whole(&o, text);
    assert_int_equal(o.t.n, 3);
    assert_string_equal(o.t.segs[0].text, " unbelievable");
    assert_string_equal(o.t.segs[2].text, "two");
    assert_int_equal(o.t.segs[1].t0_ms, 1700);
    assert_int_equal(o.t.segs[2].t0_ms, 2500);
    for (int i = 0; i < 3; i++) assert_int_equal(o.t.segs[i].n_words, 1);
    transcript_free(&o.store);
    one_make(&o, text, 1);
    one_words(&o, three_words, 3);
    assert_int_equal(cut(&o, 5, 1), 0);
    check_whole(&o, text);
    assert_int_equal(o.t.n, 2);
    assert_int_equal(o.t.segs[1].n_words, 2);
    transcript_free(&o.store);
}

static void test_text_that_tokens_do_not_spell_stays_whole(void **state)
{
    (void)state;
    struct one o;
    one_make(&o, digits, 1);
    snprintf(o.text, sizeof o.text, " other text than that");
    assert_int_equal(cut(&o, 3, 0), 0);
    check_whole(&o, " other text than that");
    assert_int_equal(o.t.n, 1);
    transcript_free(&o.store);
    one_make(&o, "", 1);
    assert_int_equal(cut(&o, 3, 0), 0);
    check_whole(&o, "");
    assert_int_equal(o.t.n, 1);
    transcript_free(&o.store);
}

/* The pieces, each behind its speaker: "0: one two|1: three". */
static void check_speakers(struct one *o, const char *text, const char *want)
{
    char got[512] = "";
    check_whole(o, text);
    for (int i = 0; i < o->t.n; i++) {
        const int32_t who = o->t.speakers[i];
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%c:%s", i ? "|" : "", who < 0 ? '?' : '0' + who, o->t.segs[i].text);
    }
    assert_string_equal(got, want);
    transcript_free(&o->store);
}

static void test_a_segment_of_two_speakers_becomes_two(void **state)
{
    (void)state;
    static const char text[] = " one two three four five six"; /* words begin at 1, 2, ... s */
    static const struct { const char *who; int32_t max_len; const char *want; } table[] = {
        { "?000000", 0, "0: one two three four five six" },
        { "?000111", 0, "0: one two three|1: four five six" },
        { "?011110", 0, "0: one|1: two three four five|0: six" },
        { "?010101", 0, "0: one|1: two|0: three|1: four|0: five|1: six" },
        { "?0???11", 0, "0: one two three four|1: five six" }, /* no speaker is known: the last one goes on */
        { "???1??0", 0, "1: one two three four five|0: six" },
        { "???????", 0, "?: one two three four five six" },
        { "?000111", 9, "0: one two|0: three|1: four|1: five six" }, /* and no piece is longer than allowed */
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct one o;
        one_make(&o, text, 1);
        cut_speakers(&o, table[i].who, table[i].max_len);
        check_speakers(&o, text, table[i].want);
    }
}

static void test_speakers_do_not_cut_words_and_need_times(void **state)
{
    (void)state;
    struct one o;
    one_make(&o, " antidisestablishmentarianism one", 1);
    assert_in_range(o.store.segs[0].n_tokens, 6, 20); /* several tokens make the word */
    cut_speakers(&o, "?010101010101010101010", 0);
    assert_in_range(o.t.n, 1, 2);
    check_whole(&o, " antidisestablishmentarianism one");
    transcript_free(&o.store);
    one_make(&o, " one two", 0);
    cut_speakers(&o, "?01", 0);
    assert_int_equal(o.t.n, 1);
    transcript_free(&o.store);
    one_make(&o, "\xe4\xb8\x80\xe4\xba\x8c\xe4\xb8\x89\xe5\x9b\x9b", 1); /* no spaces: anywhere */
    const int n = o.store.segs[0].n_tokens - 2;
    cut_speakers(&o, n == 4 ? "?0011" : "?0000011111", 0);
    assert_int_equal(o.t.n, 2);
    check_whole(&o, "\xe4\xb8\x80\xe4\xba\x8c\xe4\xb8\x89\xe5\x9b\x9b");
    transcript_free(&o.store);
}

static void test_words_with_times_decide_the_speaker(void **state)
{
    (void)state;
    static const steno_word words[] = { WORD(" one", 1000, 1500), WORD(" two,", 1500, 2500), WORD(" three", 2500, 5000) };
    struct one o;
    one_make(&o, " one two, three", 1);
    one_words(&o, words, 3);
    cut_speakers(&o, "?00111", 0);
    assert_int_equal(o.t.n, 2);
    assert_int_equal(o.t.segs[1].t0_ms, 2500);
    check_speakers(&o, " one two, three", "0: one two,|1: three");
}

static void test_a_failed_allocation_changes_nothing(void **state)
{
    (void)state;
    need_counting();
    int64_t n = 0;
    for (int bad = 1; bad; n++) {
        struct one o;
        one_make(&o, digits, 1);
        const struct transcript before = o.t;
        count_begin(n);
        bad = cut(&o, 4, 0);
        const struct heap h = count_end();
        if (!bad) assert_int_equal(h.calls, n); /* nothing failed, and so nothing did */
        if (bad) assert_memory_equal(&o.t, &before, sizeof before);
        else assert_true(o.t.n > 5);
        check_whole(&o, digits);
        transcript_free(&o.store);
        assert_true(n < 1000);
    }
    assert_true(n > 10);
}

static int open_model(void **state)
{
    (void)state;
    steno_error e;
    return steno_model_open(&model, "models/whisper-digits/whisper-digits.bin", NULL, &e);
}

static int close_model(void **state)
{
    (void)state;
    steno_model_close(model);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_the_text_and_no_longer_than_allowed),
        cmocka_unit_test(test_pieces_begin_at_words_when_asked_to),
        cmocka_unit_test(test_pieces_begin_when_their_tokens_do),
        cmocka_unit_test(test_times_that_are_not_known_are_shared_by_length),
        cmocka_unit_test(test_no_character_of_several_tokens_is_cut),
        cmocka_unit_test(test_with_word_times_cuts_fall_before_words),
        cmocka_unit_test(test_text_that_tokens_do_not_spell_stays_whole),
        cmocka_unit_test(test_a_segment_of_two_speakers_becomes_two),
        cmocka_unit_test(test_speakers_do_not_cut_words_and_need_times),
        cmocka_unit_test(test_words_with_times_decide_the_speaker),
        cmocka_unit_test(test_a_failed_allocation_changes_nothing),
    };
    return cmocka_run_group_tests(tests, open_model, close_model);
}
