/* steno: transcripts as bodies and as events of the API. SPDX-License-Identifier: MIT */
#include "answer.h"
#include "api/shipped_session.h"
#include "write_help.h"
#include <jansson.h>

/* ---- a made transcript ------------------------------------------------------------------------------------------------------- */

static const steno_segment two[] = {
    { .size = sizeof(steno_segment), .id = 0, .t0_ms = 0, .t1_ms = 2100, .text = " Guten Morgen.", .n_words = 2, .avg_logprob = -0.25,
      .compression_ratio = 0.5, .no_speech_prob = 0.125 },
    { .size = sizeof(steno_segment), .id = 1, .t0_ms = 2100, .t1_ms = -1, .end = (double)NAN, .start = 2.1, .text = " Es ist acht.",
      .n_words = 1, .avg_logprob = -0.25, .compression_ratio = 0.5, .no_speech_prob = 0.125 },
};
static const steno_word words[] = { WORD(" Guten", 20, 480), WORD(" Morgen.", 480, 2100), WORD(" Es", -1, -1) };
static const int32_t first_word[] = { 0, 2 };

static struct transcript made(void)
{
    return (struct transcript){ .segs = two, .n = 2, .text = " Guten Morgen. Es ist acht.", .language = "de", .first_timestamp = -1,
                                .duration_ms = 12480, .words = words, .first_word = first_word, .word_times = 1 };
}

static const struct answer_usage usage = { .audio_ms = 12480, .audio_tokens = 624, .prompt_tokens = 4, .text_tokens = 14 };

static char *body(const struct transcript *t, const struct ask *a, size_t *n)
{
    char *text = answer_body(t, a, &usage, n);
    assert_non_null(text);
    assert_int_equal(n && *n, strlen(text) > 0);
    assert_int_equal(*n, strlen(text));
    return text;
}

static json_t *object(const char *text, size_t n)
{
    json_error_t e;
    json_t *o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &e);
    if (!o) fail_msg("%s in %.*s", e.text, (int)n, text);
    assert_true(json_is_object(o));
    return o;
}

static json_t *asked(const struct transcript *t, const struct ask *a)
{
    size_t n;
    char *text = body(t, a, &n);
    json_t *o = object(text, n);
    free(text);
    return o;
}

static const char *text_at(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    if (!text) fail_msg("%s is not a text", key);
    return text;
}

static void check_seconds(const json_t *o, int seconds)
{
    const json_t *u = json_object_get(o, "usage");
    assert_string_equal(text_at(u, "type"), "duration");
    assert_int_equal(json_integer_value(json_object_get(u, "seconds")), seconds);
}

/* ---- whole bodies ------------------------------------------------------------------------------------------------------------ */

static void test_files_are_the_bytes_of_the_writers(void **state)
{
    (void)state;
    static const struct { enum ask_format format; int writer; const char *type; } of[] = {
        { ASK_TEXT, TXT, "text/plain; charset=utf-8" }, { ASK_SRT, SRT, "application/x-subrip" },
        { ASK_VTT, VTT, "text/vtt; charset=utf-8" }, { ASK_TSV, TSV, "text/tab-separated-values; charset=utf-8" },
    };
    for (int empty = 0; empty < 2; empty++) {
        for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
            struct transcript t = made();
            const struct ask a = { .format = of[i].format };
            size_t n;
            if (empty) t.n = 0, t.text = "";
            t.word_times = 0;
            char *got = body(&t, &a, &n);
            check_written(of[i].writer, &t, got);
            assert_string_equal(answer_type(of[i].format), of[i].type);
            free(got);
        }
    }
}

static void test_json_has_the_text_its_language_and_usage(void **state)
{
    (void)state;
    struct transcript t = made();
    const struct ask a = { .format = ASK_JSON };
    size_t n;
    char *text = body(&t, &a, &n);
    assert_string_equal(text, "{\"text\": \"Guten Morgen. Es ist acht.\", \"languages\": [{\"code\": \"de\"}], "
                              "\"usage\": {\"type\": \"duration\", \"seconds\": 13}}");
    free(text);
    t.language = "unknown";
    json_t *o = asked(&t, &a);
    assert_null(json_object_get(o, "languages"));
    json_decref(o);
    assert_string_equal(answer_type(ASK_JSON), "application/json");
}

static void test_usage_rounds_seconds_up(void **state)
{
    (void)state;
    static const struct { int64_t ms; int seconds, tokens; } of[] = {
        { -1, 0, 0 }, { 0, 0, 0 }, { 1, 1, 1 }, { 999, 1, 50 }, { 1000, 1, 50 }, { 1001, 2, 51 }, { 8470, 9, 424 },
        { 14400000, 14400, 720000 },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct transcript t = made();
        const struct ask a = { .format = ASK_JSON };
        struct answer_usage u;
        size_t n;
        t.duration_ms = of[i].ms;
        answer_usage_take(&u, &t, 7);
        assert_int_equal(u.audio_tokens, of[i].tokens);
        assert_int_equal(u.prompt_tokens, 7);
        char *text = answer_body(&t, &a, &u, &n);
        json_t *o = object(text, n);
        check_seconds(o, of[i].seconds);
        json_decref(o);
        free(text);
    }
}

static void test_verbose_json_is_the_writer_s_object_with_usage(void **state)
{
    (void)state;
    struct transcript t = made();
    const struct ask a = { .format = ASK_VERBOSE_JSON, .granularities = ASK_SEGMENTS | ASK_WORDS };
    size_t n;
    char *got = body(&t, &a, &n), *file = written(VERBOSE_JSON, &t);
    const size_t same = strlen(file) - 1;
    assert_memory_equal(got, file, same);
    assert_string_equal(got + same, ", \"usage\": {\"type\": \"duration\", \"seconds\": 13}}");
    free(file);
    free(got);
    json_t *o = asked(&t, &a);
    assert_string_equal(text_at(o, "language"), "german");
    assert_string_equal(text_at(o, "text"), "Guten Morgen. Es ist acht.");
    assert_string_equal(text_at(json_array_get(json_object_get(o, "segments"), 0), "text"), " Guten Morgen.");
    assert_string_equal(text_at(json_array_get(json_object_get(o, "words"), 0), "word"), "Guten");
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(o, "words"), 2), "start")));
    assert_true(json_is_null(json_object_get(json_array_get(json_object_get(o, "segments"), 1), "end")));
    json_decref(o);
}

static void test_granularities_choose_the_lists(void **state)
{
    (void)state;
    static const struct { unsigned asked; int segments, words; } of[] = {
        { 0, 1, 0 }, { ASK_SEGMENTS, 1, 0 }, { ASK_WORDS, 0, 1 }, { ASK_SEGMENTS | ASK_WORDS, 1, 1 },
    };
    for (int times = 0; times < 2; times++) {
        for (int empty = 0; empty < 2; empty++) {
            for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
                struct transcript t = made();
                const struct ask a = { .format = ASK_VERBOSE_JSON, .granularities = of[i].asked };
                t.word_times = times;
                if (empty) t.n = 0, t.text = "";
                json_t *o = asked(&t, &a);
                const json_t *segments = json_object_get(o, "segments"), *list = json_object_get(o, "words");
                assert_int_equal(!!segments, of[i].segments);
                assert_int_equal(!!list, of[i].words);
                if (segments) assert_int_equal(json_array_size(segments), empty ? 0 : 2);
                if (list) assert_int_equal(json_array_size(list), empty ? 0 : 3);
                if (segments && !empty)
                    assert_int_equal(!!json_object_get(json_array_get(segments, 0), "words"), of[i].words && times);
                json_decref(o);
            }
        }
    }
}

static void test_a_translation_is_english(void **state)
{
    (void)state;
    struct transcript t = made();
    t.task = STENO_TRANSLATE;
    t.language_prob = 0.5;
    json_t *o = asked(&t, &(struct ask){ .format = ASK_VERBOSE_JSON });
    assert_string_equal(text_at(o, "task"), "translate");
    assert_string_equal(text_at(o, "language"), "english");
    assert_null(json_object_get(o, "language_probability"));
    json_decref(o);
    o = asked(&t, &(struct ask){ .format = ASK_JSON });
    assert_string_equal(text_at(json_array_get(json_object_get(o, "languages"), 0), "code"), "en");
    json_decref(o);
}

static void test_speakers_are_letters(void **state)
{
    (void)state;
    struct transcript t = made();
    static const int32_t speakers[] = { 1, WRITE_SPEAKER_UNKNOWN };
    t.speakers = speakers;
    json_t *o = asked(&t, &(struct ask){ .format = ASK_DIARIZED_JSON });
    const json_t *list = json_object_get(o, "segments"), *first = json_array_get(list, 0);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(text_at(first, "type"), "transcript.text.segment");
    assert_string_equal(text_at(first, "id"), "seg_0");
    assert_string_equal(text_at(first, "text"), "Guten Morgen.");
    assert_string_equal(text_at(first, "speaker"), "B");
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "speaker")));
    assert_true(json_is_null(json_object_get(json_array_get(list, 1), "end")));
    check_seconds(o, 13);
    json_decref(o);
}

static void test_an_empty_result_has_the_reason(void **state)
{
    (void)state;
    static const enum ask_format formats[] = { ASK_JSON, ASK_VERBOSE_JSON, ASK_DIARIZED_JSON };
    struct transcript t = made();
    struct notes notes = { .n = 0 };
    notes_add(&notes, NOTE_NO_SPEECH, "the audio is silent");
    t.notes = &notes;
    t.n = 0;
    t.text = "";
    t.lost = 1;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        json_t *o = asked(&t, &(struct ask){ .format = formats[i] });
        const json_t *note = json_array_get(json_object_get(o, "notes"), 0);
        assert_string_equal(text_at(o, "text"), "");
        assert_string_equal(text_at(note, "kind"), "no-speech");
        assert_string_equal(text_at(note, "text"), "the audio is silent");
        assert_int_equal(json_array_size(json_object_get(o, "flags")), 1);
        json_decref(o);
    }
}

/* ---- tokens ------------------------------------------------------------------------------------------------------------------ */

static int32_t id_of(const char *bytes)
{
    char piece[16];
    for (int32_t id = 0; id < 50000; id++) {
        const int64_t n = steno_token_bytes(model, id, piece, sizeof piece);
        if (n == (int64_t)strlen(bytes) && !memcmp(piece, bytes, (size_t)n)) return id;
    }
    fail_msg("the vocabulary lacks a token");
    return -1;
}

static void test_tokens_have_exact_bytes_and_specials_none(void **state)
{
    (void)state;
    const int32_t end = steno_token_id(model, STENO_TOKEN_END), stamp = steno_token_id(model, STENO_TOKEN_TIMESTAMP);
    const int32_t ids[] = { stamp, id_of(" the"), id_of("\xe2"), id_of("\xac"), end, stamp + 5 };
    steno_token tokens[6];
    const int32_t first[] = { 0 };
    steno_segment seg = two[0];
    struct transcript t = made();
    for (int i = 0; i < 6; i++) tokens[i] = (steno_token){ .size = sizeof tokens[i], .id = ids[i], .logprob = -0.5f };
    seg.n_tokens = 6;
    seg.tokens = ids;
    t.segs = &seg;
    t.n = 1;
    t.tokens = tokens;
    t.first_token = first;
    t.model = model;
    size_t n;
    char *text = body(&t, &(struct ask){ .format = ASK_JSON, .logprobs = 1 }, &n);
    assert_non_null(strstr(text, "\"logprobs\": [{\"token\": \" the\", \"logprob\": -0.5, \"bytes\": [32, 116, 104, 101]}, "
                                 "{\"token\": \"\\ufffd\", \"logprob\": -0.5, \"bytes\": [226]}, "
                                 "{\"token\": \"\\ufffd\", \"logprob\": -0.5, \"bytes\": [172]}]"));
    free(text);
    t.n = 0;
    json_t *o = asked(&t, &(struct ask){ .format = ASK_JSON, .logprobs = 1 });
    assert_int_equal(json_array_size(json_object_get(o, "logprobs")), 0);
    assert_true(json_is_array(json_object_get(o, "logprobs")));
    json_decref(o);
}

/* ---- events ------------------------------------------------------------------------------------------------------------------ */

struct reader {
    const struct ask *ask;
    struct answer_stream stream;
    struct sink_memory all;
    struct sink to;
};

static void read_segment(void *user, const steno_segment *seg)
{
    struct reader *r = user;
    size_t n;
    char *event = answer_delta(&r->stream, session, seg, model, r->ask, &n);
    assert_non_null(event);
    sink_bytes(&r->to, event, n);
    free(event);
}

/* Joins what the deltas have; *done: the last event; *n_tokens: of all deltas; *n_placed: those with times. @return malloc'd */
static char *joined(const char *events, json_t **done, int *n_deltas, int *n_tokens, int *n_placed)
{
    struct sink_memory m = { 0 };
    struct sink f = sink_to_memory(&m);
    sink_text(&f, "");
    *done = NULL;
    *n_deltas = *n_tokens = *n_placed = 0;
    double last = 0;
    while (*events) {
        const char *end = strstr(events, "\n\n");
        assert_non_null(end);
        assert_int_equal(strncmp(events, "data: ", 6), 0);
        assert_null(memchr(events, '\n', (size_t)(end - events)));
        assert_null(*done); /* it is the last one */
        json_t *o = object(events + 6, (size_t)(end - events) - 6);
        const char *type = text_at(o, "type");
        if (strcmp(type, "transcript.text.done") == 0) *done = json_incref(o);
        else if (strcmp(type, "transcript.text.delta") == 0) {
            assert_true(text_at(o, "delta")[0]);
            sink_text(&f, text_at(o, "delta"));
            *n_tokens += (int)json_array_size(json_object_get(o, "logprobs"));
            ++*n_deltas;
            const double start = json_real_value(json_object_get(o, "start")), place = json_real_value(json_object_get(o, "end"));
            assert_true(start >= 0 && (place == 0 || (place > start && place > last)));
            if (place > 0) last = place, ++*n_placed;
        } else {
            assert_string_equal(type, "transcript.text.segment");
        }
        json_decref(o);
        events = end + 2;
    }
    return m.p ? m.p : calloc(1, 1);
}

static void stream(const struct ask *a, int holds, int empty)
{
    struct reader r = { .ask = a, .stream.holds = holds };
    steno_transcribe_params p = params_new();
    struct transcript t = { .first_timestamp = steno_token_id(model, STENO_TOKEN_TIMESTAMP), .model = model };
    struct transcript_store store = { 0 };
    struct answer_usage u;
    json_t *done;
    int n_deltas, n_tokens, n_placed;
    size_t n;
    r.to = sink_to_memory(&r.all);
    p.user = &r;
    p.on_segment = read_segment;
    p.duration_ms = empty ? 100 : 0;
    run(&many, &p);
    assert_int_equal(transcript_take(&t, &store, session), 0);
    if (empty) t.n = 0, t.text = "", store.segs[0].n_tokens = 0;
    answer_usage_take(&u, &t, 4);
    if (empty) r.stream = (struct answer_stream){ .holds = holds }, r.all.n = 0;
    char *event = answer_done(&r.stream, &t, a, &u, &n);
    sink_bytes(&r.to, event, n);
    free(event);
    char *text = joined(r.all.p, &done, &n_deltas, &n_tokens, &n_placed);
    assert_non_null(done);
    const int apart = a->format == ASK_DIARIZED_JSON;
    if (!apart) assert_string_equal(text, text_at(done, "text"));
    assert_in_range(n_deltas, apart || empty ? 0 : holds ? 1 : 2, apart || empty ? 0 : holds ? 1 : 1000);
    assert_int_equal(n_placed, a->format == ASK_VERBOSE_JSON && !holds ? n_deltas : 0);
    assert_int_equal(n_tokens, a->logprobs && !apart ? json_array_size(json_object_get(done, "logprobs")) : 0);
    assert_true(!a->logprobs || apart || empty || n_tokens > 10);
    const json_t *use = json_object_get(done, "usage"), *in = json_object_get(use, "input_token_details");
    assert_string_equal(text_at(use, "type"), "tokens");
    assert_int_equal(json_integer_value(json_object_get(in, "text_tokens")), 4);
    assert_int_equal(json_integer_value(json_object_get(use, "input_tokens")), 4 + u.audio_tokens);
    assert_int_equal(json_integer_value(json_object_get(use, "output_tokens")), u.text_tokens);
    assert_int_equal(json_integer_value(json_object_get(use, "total_tokens")), 4 + u.audio_tokens + u.text_tokens);
    assert_int_equal(!!json_object_get(done, "segments"), a->format == ASK_VERBOSE_JSON && a->granularities != ASK_WORDS);
    assert_int_equal(!!json_object_get(done, "language"), a->format == ASK_VERBOSE_JSON);
    json_decref(done);
    free(text);
    free(r.all.p);
    transcript_free(&store);
}

static void test_joined_deltas_are_the_text(void **state)
{
    (void)state;
    stream(&(struct ask){ .format = ASK_JSON, .stream = 1 }, 0, 0);
    stream(&(struct ask){ .format = ASK_JSON, .logprobs = 1, .stream = 1 }, 0, 0);
    stream(&(struct ask){ .format = ASK_VERBOSE_JSON, .stream = 1 }, 0, 0);
    stream(&(struct ask){ .format = ASK_DIARIZED_JSON, .stream = 1 }, 0, 0);
}

static void test_a_text_that_changes_at_its_end_is_one_delta(void **state)
{
    (void)state;
    stream(&(struct ask){ .format = ASK_TEXT, .stream = 1 }, 1, 0);
    stream(&(struct ask){ .format = ASK_JSON, .logprobs = 1, .stream = 1 }, 1, 0);
}

static void test_silence_has_no_delta(void **state)
{
    (void)state;
    stream(&(struct ask){ .format = ASK_JSON, .logprobs = 1, .stream = 1 }, 0, 1);
}

static void test_an_error_in_the_middle_is_an_event(void **state)
{
    (void)state;
    struct api_error e = { 0 };
    size_t n;
    api_fail(&e, API_timeout, NULL, "no result after 120 s");
    char *text = answer_stream_error(&e, &n);
    assert_string_equal(text, "data: {\"error\":{\"message\":\"no result after 120 s\",\"type\":\"server_error\",\"param\":null,"
                              "\"code\":\"timeout\"}}\n\n");
    assert_int_equal(n, strlen(text));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_are_the_bytes_of_the_writers),
        cmocka_unit_test(test_json_has_the_text_its_language_and_usage),
        cmocka_unit_test(test_usage_rounds_seconds_up),
        cmocka_unit_test(test_verbose_json_is_the_writer_s_object_with_usage),
        cmocka_unit_test(test_granularities_choose_the_lists),
        cmocka_unit_test(test_a_translation_is_english),
        cmocka_unit_test(test_speakers_are_letters),
        cmocka_unit_test(test_an_empty_result_has_the_reason),
        cmocka_unit_test(test_tokens_have_exact_bytes_and_specials_none),
        cmocka_unit_test(test_joined_deltas_are_the_text),
        cmocka_unit_test(test_a_text_that_changes_at_its_end_is_one_delta),
        cmocka_unit_test(test_silence_has_no_delta),
        cmocka_unit_test(test_an_error_in_the_middle_is_an_event),
    };
    return cmocka_run_group_tests(tests, shipped_session_open, shipped_session_close);
}
