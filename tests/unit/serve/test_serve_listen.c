/* steno-serve: Deepgram's streaming API: parameters, and messages from events of a live session. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "listen.h"
#include "live_words.h"
#include <jansson.h>
#include <stdio.h>

struct log { json_t *got[32]; int n; };

static void keep_message(void *user, const char *text, size_t n)
{
    struct log *l = user;
    assert_true(l->n < 32);
    l->got[l->n] = json_loadb(text, n, 0, NULL);
    assert_non_null(l->got[l->n++]);
}

static struct listen *machine_open(struct log *l, const char *query)
{
    struct listen_config c;
    struct api_error e = { 0 };
    char text[200], *rest = text;
    listen_config_init(&c, 0);
    snprintf(text, sizeof text, "%s", query);
    for (char *one; (one = strtok_r(rest, "&", &rest));) {
        char *value = strchr(one, '=');
        *value++ = '\0';
        if (listen_query(&c, one, value, 1, &e)) fail_msg("%s", e.message);
    }
    *l = (struct log){ 0 };
    return listen_open(&(struct listen_params){ &c, "req-1", "digits", "whisper", "2026-01-02T03:04:05Z", keep_message, l });
}

static void log_free(struct log *l)
{
    for (int i = 0; i < l->n; i++) json_decref(l->got[i]);
}

/* "0 F e 1.5-2.5 [a b]": Results; other types: their name. */
static const char *line_of(const json_t *m)
{
    static char line[400];
    const char *type = json_string_value(json_object_get(m, "type"));
    if (strcmp(type, "Results") != 0) {
        snprintf(line, sizeof line, "%s", type);
        return line;
    }
    const json_t *best = json_array_get(json_object_get(json_object_get(m, "channel"), "alternatives"), 0);
    const double start = json_real_value(json_object_get(m, "start"));
    snprintf(line, sizeof line, "%s%s%s %g-%g [%s] %zu",
             json_is_true(json_object_get(m, "is_final")) ? "final" : "interim",
             json_is_true(json_object_get(m, "speech_final")) ? " end" : "",
             json_is_true(json_object_get(m, "from_finalize")) ? " asked" : "", start,
             start + json_real_value(json_object_get(m, "duration")), json_string_value(json_object_get(best, "transcript")),
             json_array_size(json_object_get(best, "words")));
    return line;
}

static void expect(struct log *l, const char *const *want)
{
    int i = 0;
    for (; want[i] && i < l->n; i++) assert_string_equal(line_of(l->got[i]), want[i]);
    assert_null(want[i]);
    assert_int_equal(l->n, i);
}
#define EXPECT(l, ...) expect(l, (const char *const[]){ __VA_ARGS__, NULL })

static void report(struct listen *m, enum live_kind kind, const char *text, int64_t t0_ms, int64_t t1_ms)
{
    struct words w = { 0 };
    assert_int_equal(live_words_add_units(&w, text, t0_ms, t1_ms), STENO_OK);
    live_words_rate(&w, 0, 0.5);
    live_words_rate(&w, 1, 1);
    listen_event(m, &(struct live_event){ .kind = kind, .turn = 1, .t0_ms = t0_ms, .t1_ms = t1_ms, .decoded_ms = t1_ms, .now_ms = t1_ms,
                                          .text = text, .words = w.w, .n_words = w.n });
    live_words_free(&w);
}

/* ---- messages ------------------------------------------------------------------------------------------------------------------ */

static void test_utterance(void **state)
{
    (void)state;
    struct log l;
    struct listen *m = machine_open(&l, "interim_results=true&vad_events=true&utterance_end_ms=1000");
    listen_speech(m, 1, 400);
    report(m, LIVE_PARTIAL, "Seven", 500, 900);
    report(m, LIVE_FINAL, "Seven", 500, 900);
    report(m, LIVE_PARTIAL, "three nin", 1000, 1900);
    listen_pushed(m, 2500);
    listen_speech(m, 0, 2300);
    report(m, LIVE_FINAL, "three nine.", 1000, 2100);
    listen_pushed(m, 3500); /* no end of the utterance before its last result */
    report(m, LIVE_ENDPOINT, "Seven three nine.", 500, 2100);
    listen_pushed(m, 3600);
    listen_ended(m, NULL);
    EXPECT(&l, "SpeechStarted", "interim 0.5-0.9 [Seven] 1", "final 0.5-0.9 [Seven] 1", "interim 1-1.9 [three nin] 2",
           "final end 1-2.1 [three nine.] 2", "UtteranceEnd", "Metadata");
    assert_true(json_real_value(json_object_get(l.got[0], "timestamp")) == 0.4);
    assert_true(json_real_value(json_object_get(l.got[5], "last_word_end")) == 2.1);
    assert_true(json_real_value(json_object_get(l.got[6], "duration")) == 3.6);
    const json_t *best = json_array_get(json_object_get(json_object_get(l.got[4], "channel"), "alternatives"), 0);
    const json_t *w = json_array_get(json_object_get(best, "words"), 1);
    assert_string_equal(json_string_value(json_object_get(w, "word")), "nine");
    assert_string_equal(json_string_value(json_object_get(w, "punctuated_word")), "nine.");
    assert_true(json_real_value(json_object_get(w, "end")) == 2.1);
    assert_true(json_real_value(json_object_get(w, "start")) >= 1.0);
    assert_true(json_real_value(json_object_get(w, "confidence")) == 1);
    assert_true(json_real_value(json_object_get(best, "confidence")) == 0.75);
    assert_string_equal(json_string_value(json_object_get(json_object_get(l.got[4], "metadata"), "request_id")), "req-1");
    listen_close(m);
    log_free(&l);
}

static void test_without_interim(void **state)
{
    (void)state;
    struct log l;
    struct listen *m = machine_open(&l, "endpointing=false");
    listen_speech(m, 1, 0);
    report(m, LIVE_PARTIAL, "one", 0, 500);
    report(m, LIVE_FINAL, "one", 0, 500);
    listen_speech(m, 0, 900);
    report(m, LIVE_FINAL, "two", 500, 700);
    report(m, LIVE_ENDPOINT, "one two", 0, 700);
    listen_pushed(m, 10000);
    EXPECT(&l, "final 0-0.5 [one] 1", "final 0.5-0.7 [two] 1");
    listen_close(m);
    log_free(&l);
}

/* All words were final before: the end is a result without text. */
static void test_end_without_words(void **state)
{
    (void)state;
    struct log l;
    struct listen *m = machine_open(&l, "endpointing=100");
    listen_speech(m, 1, 0);
    report(m, LIVE_FINAL, "one", 0, 500);
    listen_speech(m, 0, 900);
    report(m, LIVE_ENDPOINT, "one", 0, 500);
    EXPECT(&l, "final 0-0.5 [one] 1", "final end 0.5-0.5 [] 0");
    listen_close(m);
    log_free(&l);
}

static void test_finalize(void **state)
{
    (void)state;
    struct log l;
    struct listen *m = machine_open(&l, "interim_results=true");
    assert_int_equal(listen_text(m, "{\"type\":\"Finalize\"}", 19), LISTEN_FINALIZE);
    listen_flushing(m);
    listen_flushed(m); /* no speech */
    listen_speech(m, 1, 100);
    report(m, LIVE_PARTIAL, "one", 100, 500);
    assert_int_equal(listen_text(m, "{\"type\":\"Finalize\"}", 19), LISTEN_FINALIZE);
    listen_flushing(m);
    listen_speech(m, 0, 600);
    report(m, LIVE_FINAL, "one", 100, 500);
    report(m, LIVE_ENDPOINT, "one", 100, 500);
    listen_flushed(m);
    EXPECT(&l, "final asked 0-0 [] 0", "interim 0.1-0.5 [one] 1", "final end asked 0.1-0.5 [one] 1");
    listen_close(m);
    log_free(&l);
}

/* A turn that ended before is no answer to a Finalize, whose audio has not been decoded. Each one has its own. */
static void test_each_finalize_is_answered_with_its_audio(void **state)
{
    (void)state;
    struct log l;
    struct listen *m = machine_open(&l, "");
    listen_speech(m, 1, 100);
    for (int i = 0; i < 3; i++) assert_int_equal(listen_text(m, "{\"type\":\"Finalize\"}", 19), LISTEN_FINALIZE);
    listen_speech(m, 0, 600);
    report(m, LIVE_FINAL, "one", 100, 500);
    report(m, LIVE_ENDPOINT, "one", 100, 500);
    for (int i = 0; i < 3; i++) {
        listen_flushing(m);
        if (i == 1) listen_speech(m, 1, 700);
        if (i == 1) listen_speech(m, 0, 900);
        if (i == 1) report(m, LIVE_FINAL, "two", 700, 900);
        if (i == 1) report(m, LIVE_ENDPOINT, "two", 700, 900);
        listen_flushed(m);
    }
    listen_speech(m, 1, 1000);
    listen_speech(m, 0, 1200);
    report(m, LIVE_ENDPOINT, "", 1000, 1200);
    EXPECT(&l, "final end 0.1-0.5 [one] 1", "final asked 0.5-0.5 [] 0", "final end asked 0.7-0.9 [two] 1", "final asked 0.9-0.9 [] 0",
           "final end 1-1.2 [] 0");
    listen_close(m);
    log_free(&l);
}

static void test_client_messages(void **state)
{
    (void)state;
    static const struct { const char *text; enum listen_message m; int is_error; } c[] = {
        { "{\"type\":\"KeepAlive\"}", LISTEN_NOTHING, 0 }, { "{\"type\": \"CloseStream\"}", LISTEN_CLOSE, 0 },
        { "{\"type\":\"Finalize\",\"channel\":0}", LISTEN_FINALIZE, 0 }, { "", LISTEN_NOTHING, 1 }, { "[]", LISTEN_NOTHING, 1 },
        { "{\"type\":1}", LISTEN_NOTHING, 1 }, { "{\"type\":\"Configure\"}", LISTEN_NOTHING, 1 }, { "{\"type\":", LISTEN_NOTHING, 1 },
        { "{\"type\":\"keepalive\"}", LISTEN_NOTHING, 1 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct log l;
        struct listen *m = machine_open(&l, "");
        assert_int_equal(listen_text(m, c[i].text, strlen(c[i].text)), c[i].m);
        assert_int_equal(l.n, c[i].is_error);
        if (c[i].is_error) {
            assert_string_equal(line_of(l.got[0]), "Error");
            assert_string_equal(json_string_value(json_object_get(l.got[0], "variant")), "SchemaError");
        }
        listen_close(m);
        log_free(&l);
    }
    listen_close(NULL);
}

static void test_failure(void **state)
{
    (void)state;
    struct log l;
    struct listen *m = machine_open(&l, "");
    listen_speech(m, 0, 100);
    report(m, LIVE_FINAL, "one", 0, 100); /* is not lost */
    listen_ended(m, "the model could not be opened");
    EXPECT(&l, "final 0-0.1 [one] 1", "Error", "Metadata");
    listen_close(m);
    log_free(&l);
}

/* ---- parameters ---------------------------------------------------------------------------------------------------------------- */

struct parameter { const char *name, *value; int is_ok; };

static void expect_read(const struct parameter *p, int is_file)
{
    struct listen_config config;
    struct api_error e = { 0 };
    listen_config_init(&config, is_file);
    const int rc = listen_query(&config, p->name, p->value, 1, &e);
    if ((rc == API_OK) != p->is_ok) fail_msg("%s=%s: %s", p->name, p->value, e.message);
    if (rc != API_OK) assert_string_equal(e.param, p->name);
}

static void test_parameters(void **state)
{
    (void)state;
    static const struct parameter c[] = {
        { "model", "nova-3", 1 }, { "language", "en-US", 1 }, { "encoding", "linear16", 1 }, { "encoding", "Mulaw", 1 },
        { "encoding", "opus", 0 }, { "sample_rate", "16000", 1 }, { "sample_rate", "8000", 1 }, { "sample_rate", "7999", 0 },
        { "sample_rate", "192000", 1 }, { "sample_rate", "192001", 0 }, { "sample_rate", "16k", 0 }, { "sample_rate", "1.5e4", 1 },
        { "sample_rate", "16000.5", 0 }, { "sample_rate", "nan", 0 }, { "channels", "1", 1 }, { "channels", "8", 1 },
        { "channels", "0", 0 }, { "channels", "9", 0 }, { "interim_results", "True", 1 }, { "interim_results", "maybe", 0 },
        { "endpointing", "false", 1 }, { "endpointing", "25", 1 }, { "endpointing", "60001", 0 }, { "endpointing", "-1", 0 },
        { "utterance_end_ms", "1000", 1 }, { "utterance_end_ms", "999", 0 }, { "vad_events", "true", 1 }, { "punctuate", "true", 1 },
        { "smart_format", "true", 1 }, { "profanity_filter", "true", 1 }, { "diarize", "false", 1 }, { "diarize", "true", 0 },
        { "multichannel", "false", 1 }, { "multichannel", "true", 0 }, { "redact", "false", 1 }, { "redact", "pci", 0 },
        { "callback", "http://x", 0 }, { "search", "x", 0 }, { "alternatives", "1", 1 }, { "alternatives", "2", 0 },
        { "keyterm", "steno", 1 }, { "other", "x", 0 }, { "other", "", 1 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) expect_read(&c[i], 0);
    struct listen_config config;
    struct api_error e = { 0 };
    listen_config_init(&config, 0);
    assert_int_equal(listen_query(&config, "other", "x", 0, &e), API_OK);
    assert_int_equal(listen_config_check(&config, &e), API_missing_required_parameter);
    e = (struct api_error){ 0 };
    assert_int_equal(listen_query(&config, "encoding", "linear16", 1, &e), API_OK);
    assert_int_equal(listen_config_check(&config, &e), API_missing_required_parameter);
    e = (struct api_error){ 0 };
    assert_int_equal(listen_query(&config, "encoding", "mulaw", 1, &e), API_OK);
    assert_int_equal(listen_config_check(&config, &e), API_OK);
    assert_int_equal(config.rate, 8000);
    assert_int_equal(listen_query(&config, "keywords", "steno:2", 1, &e) | listen_query(&config, "keyterm", "a b", 1, &e), API_OK);
    assert_string_equal(config.hotwords, "steno a b");
    assert_int_equal(listen_query(&config, "endpointing", "25", 1, &e), API_OK);
    assert_int_equal(config.silence_ms, LISTEN_SILENCE_MIN_MS);
    assert_int_equal(listen_query(&config, "endpointing", "800", 1, &e), API_OK);
    assert_int_equal(config.silence_ms, 800);
    char *many = malloc(LISTEN_HOTWORDS_SZ + 1);
    memset(many, 'x', LISTEN_HOTWORDS_SZ);
    many[LISTEN_HOTWORDS_SZ] = '\0';
    assert_int_equal(listen_query(&config, "keyterm", many, 1, &e), API_invalid_value);
    free(many);
    assert_true(listen_model_is_hosted("nova-3-general") && listen_model_is_hosted("nova-2") && listen_model_is_hosted("base"));
    assert_false(listen_model_is_hosted("novalis") || listen_model_is_hosted("") || listen_model_is_hosted("digits"));
}

static void test_multi_is_detection(void **state)
{
    (void)state;
    for (int is_file = 0; is_file < 2; is_file++) {
        struct listen_config config;
        struct api_error e = { 0 };
        listen_config_init(&config, is_file);
        assert_int_equal(listen_query(&config, "language", "multi", 1, &e), API_OK);
        if (!is_file) assert_int_equal(listen_query(&config, "encoding", "mulaw", 1, &e), API_OK);
        assert_int_equal(listen_config_check(&config, &e), API_OK);
        assert_string_equal(config.language, "");
    }
}

static void test_parameters_of_files(void **state)
{
    (void)state;
    static const struct parameter c[] = {
        { "model", "nova-3", 1 }, { "language", "en-US", 1 }, { "detect_language", "true", 1 }, { "detect_language", "en", 0 },
        { "utterances", "true", 1 }, { "utt_split", "0.8", 1 }, { "utt_split", "0", 0 }, { "utt_split", "61", 0 },
        { "utt_split", "inf", 0 },
        { "encoding", "linear16", 0 }, { "sample_rate", "16000", 0 }, { "channels", "1", 0 }, { "interim_results", "true", 0 },
        { "endpointing", "300", 0 }, { "utterance_end_ms", "1000", 0 }, { "vad_events", "true", 0 }, { "smart_format", "true", 1 },
        { "diarize", "true", 0 }, { "summarize", "v2", 0 }, { "summarize", "false", 1 }, { "callback", "http://x", 0 },
        { "paragraphs", "true", 0 }, { "keyterm", "steno", 1 }, { "other", "x", 0 },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) expect_read(&c[i], 1);
    static const struct { const char *query[4]; const char *param; } pairs[] = {
        { { "utt_split", "1", "model", "x" }, "utt_split" }, { { "utt_split", "1", "utterances", "true" }, NULL },
        { { "detect_language", "true", "language", "en" }, "detect_language" },
        { { "utterances", "true", "detect_language", "true" }, NULL },
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct listen_config config;
        struct api_error e = { 0 };
        listen_config_init(&config, 1);
        for (int k = 0; k < 4; k += 2) listen_query(&config, pairs[i].query[k], pairs[i].query[k + 1], 1, &e);
        listen_config_check(&config, &e);
        assert_string_equal(e.param, pairs[i].param ? pairs[i].param : "");
        assert_true(e.code != API_OK || config.utt_split_s == (i == 1 ? 1 : 0.8));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_utterance),
        cmocka_unit_test(test_without_interim),
        cmocka_unit_test(test_end_without_words),
        cmocka_unit_test(test_finalize),
        cmocka_unit_test(test_each_finalize_is_answered_with_its_audio),
        cmocka_unit_test(test_client_messages),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_multi_is_detection),
        cmocka_unit_test(test_parameters_of_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
