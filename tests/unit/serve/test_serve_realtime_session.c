/* steno tests: the session object of realtime transcription. SPDX-License-Identifier: MIT */
#include "realtime_session.h"
#include "harness.h"
#include <stdio.h>

static struct realtime_session session;
static struct realtime_error error;

static json_t *parse(const char *text)
{
    json_t *v = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!v) print_error("not JSON: %s\n", text);
    assert_non_null(v);
    return v;
}

static int update(const char *patch)
{
    json_t *v = parse(patch);
    error = (struct realtime_error){ 0 };
    const int rc = realtime_session_update(&session, v, &error);
    json_decref(v);
    return rc;
}

static void effective_is(const char *expected, int is_flat)
{
    json_t *is = realtime_session_json(&session, is_flat, NULL, 0), *should = parse(expected);
    assert_non_null(is);
    if (!json_equal(is, should)) {
        char *text = json_dumps(is, 0);
        print_error("is     %s\nshould %s\n", text, expected);
        free(text);
        fail();
    }
    json_decref(is);
    json_decref(should);
}

static int begin(void **state)
{
    (void)state;
    return realtime_session_init(&session, "base");
}

static int end(void **state)
{
    (void)state;
    realtime_session_free(&session);
    return 0;
}

#define SESSION(include, format, transcription, noise, turns) \
    "{\"type\":\"transcription\",\"object\":\"realtime.transcription_session\",\"include\":" include ",\"audio\":{\"input\":{" \
    "\"format\":" format ",\"transcription\":" transcription ",\"noise_reduction\":" noise ",\"turn_detection\":" turns "}}}"
#define PCM "{\"type\":\"audio/pcm\",\"rate\":24000}"
#define BASE "{\"model\":\"base\",\"language\":null,\"prompt\":\"\"}"
#define SERVER_VAD "{\"type\":\"server_vad\",\"threshold\":0.5,\"prefix_padding_ms\":300,\"silence_duration_ms\":500}"
#define LOUD "{\"type\":\"server_vad\",\"threshold\":0.8,\"prefix_padding_ms\":300,\"silence_duration_ms\":500}"
#define ALL_KEYS \
    "{\"type\":\"server_vad\",\"threshold\":1,\"prefix_padding_ms\":0,\"silence_duration_ms\":200," \
    "\"idle_timeout_ms\":6000,\"create_response\":false,\"interrupt_response\":true}"
#define DEFAULTS SESSION("null", PCM, BASE, "null", SERVER_VAD)
#define INPUT(x) "{\"audio\":{\"input\":{" x "}}}"

static void defaults(void **state)
{
    struct realtime_config c;
    (void)state;
    effective_is(DEFAULTS, 0);
    effective_is("{\"type\":\"transcription\",\"object\":\"realtime.transcription_session\",\"include\":null,"
                 "\"input_audio_format\":\"pcm16\",\"input_audio_transcription\":" BASE ",\"input_audio_noise_reduction\":null,"
                 "\"turn_detection\":" SERVER_VAD "}", 1);
    realtime_session_config(&session, &c);
    assert_int_equal(c.format, REALTIME_PCM);
    assert_int_equal(c.rate, 24000);
    assert_string_equal(c.model, "base");
    assert_true(!c.language && !c.prompt && !c.hotwords && !c.step_ms && !c.include);
    assert_true(c.uses_vad && c.threshold == 0.5 && c.padding_ms == 300 && c.silence_ms == 500);
    json_t *v = realtime_session_json(&session, 0, "sess_7f", 1790000000);
    assert_string_equal(json_string_value(json_object_get(v, "id")), "sess_7f");
    assert_int_equal(json_integer_value(json_object_get(v, "expires_at")), 1790000000);
    json_decref(v);
}

/* Each update in a new session, and the whole session after it. */
static const struct { const char *patch, *after; } good[] = {
    { "{}", DEFAULTS },
    { "{\"type\":\"transcription\"}", DEFAULTS }, { "{\"type\":null}", DEFAULTS },
    { "{\"id\":\"sess_1\",\"object\":\"x\",\"expires_at\":1,\"client_secret\":null}", DEFAULTS },
    { "{\"audio\":{}}", DEFAULTS }, { "{\"audio\":null}", DEFAULTS }, { INPUT(""), DEFAULTS }, { "{\"audio\":{\"input\":null}}", DEFAULTS },
    { INPUT("\"turn_detection\":{\"threshold\":0.8}"),
      SESSION("null", PCM, BASE, "null", LOUD) },
    { INPUT("\"turn_detection\":{\"type\":\"server_vad\",\"threshold\":1,\"prefix_padding_ms\":0,\"silence_duration_ms\":200.0,"
            "\"idle_timeout_ms\":6000,\"create_response\":false,\"interrupt_response\":true}"),
      SESSION("null", PCM, BASE, "null", ALL_KEYS) },
    { INPUT("\"turn_detection\":{\"threshold\":null,\"idle_timeout_ms\":null}"), DEFAULTS },
    { INPUT("\"turn_detection\":null"), SESSION("null", PCM, BASE, "null", "null") },
    { "{\"turn_detection\":null}", SESSION("null", PCM, BASE, "null", "null") },
    { INPUT("\"turn_detection\":{\"type\":\"semantic_vad\"}"),
      SESSION("null", PCM, BASE, "null", "{\"type\":\"semantic_vad\",\"eagerness\":\"auto\"}") },
    { INPUT("\"turn_detection\":{\"eagerness\":\"low\",\"type\":\"semantic_vad\"}"),
      SESSION("null", PCM, BASE, "null", "{\"type\":\"semantic_vad\",\"eagerness\":\"low\"}") },
    { INPUT("\"format\":{\"type\":\"audio/pcm\",\"rate\":16000}"),
      SESSION("null", "{\"type\":\"audio/pcm\",\"rate\":16000}", BASE, "null", SERVER_VAD) },
    { INPUT("\"format\":{\"rate\":48000}"), SESSION("null", "{\"type\":\"audio/pcm\",\"rate\":48000}", BASE, "null", SERVER_VAD) },
    { INPUT("\"format\":{\"type\":\"audio/pcmu\"}"), SESSION("null", "{\"type\":\"audio/pcmu\"}", BASE, "null", SERVER_VAD) },
    { INPUT("\"format\":{\"type\":\"audio/pcma\",\"rate\":8000}"), SESSION("null", "{\"type\":\"audio/pcma\"}", BASE, "null", SERVER_VAD) },
    { "{\"input_audio_format\":\"g711_ulaw\"}", SESSION("null", "{\"type\":\"audio/pcmu\"}", BASE, "null", SERVER_VAD) },
    { "{\"input_audio_format\":\"g711_alaw\"}", SESSION("null", "{\"type\":\"audio/pcma\"}", BASE, "null", SERVER_VAD) },
    { "{\"input_audio_format\":\"pcm16\"}", DEFAULTS },
    { INPUT("\"transcription\":{\"model\":\"gpt-4o-transcribe\",\"language\":\"en-US\",\"prompt\":\"a b\"}"),
      SESSION("null", PCM, "{\"model\":\"gpt-4o-transcribe\",\"language\":\"en-US\",\"prompt\":\"a b\"}", "null", SERVER_VAD) },
    { "{\"model\":\"tiny\"}", SESSION("null", PCM, "{\"model\":\"tiny\",\"language\":null,\"prompt\":\"\"}", "null", SERVER_VAD) },
    { INPUT("\"transcription\":{\"languages\":[\"de\"],\"keywords\":[\"Steno\",\"two words\"],\"delay\":\"minimal\"}"),
      SESSION("null", PCM, "{\"model\":\"base\",\"language\":null,\"prompt\":\"\",\"languages\":[\"de\"],"
              "\"keywords\":[\"Steno\",\"two words\"],\"delay\":\"minimal\"}", "null", SERVER_VAD) },
    { "{\"input_audio_transcription\":{\"language\":\"de\"}}",
      SESSION("null", PCM, "{\"model\":\"base\",\"language\":\"de\",\"prompt\":\"\"}", "null", SERVER_VAD) },
    { INPUT("\"transcription\":null"), DEFAULTS },
    { INPUT("\"noise_reduction\":{\"type\":\"far_field\",\"strength\":0.5}"),
      SESSION("null", PCM, BASE, "{\"type\":\"far_field\",\"strength\":0.5}", SERVER_VAD) },
    { "{\"input_audio_noise_reduction\":{\"type\":\"near_field\"}}", SESSION("null", PCM, BASE, "{\"type\":\"near_field\"}", SERVER_VAD) },
    { INPUT("\"noise_reduction\":null"), DEFAULTS },
    { "{\"include\":[\"steno.partial\",\"steno.words\"]}",
      SESSION("[\"steno.partial\",\"steno.words\"]", PCM, BASE, "null", SERVER_VAD) },
    { "{\"include\":[]}", SESSION("[]", PCM, BASE, "null", SERVER_VAD) }, { "{\"include\":null}", DEFAULTS },
};

static void good_updates(void **state)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (update(good[i].patch)) print_error("%s: %s\n", good[i].patch, error.message);
        assert_null(error.code);
        effective_is(good[i].after, 0);
        end(state);
        begin(state);
    }
}

static const struct { const char *patch, *code, *param, *message; int ends; } bad[] = {
    { "[]", "invalid_value", "session", "must be an object", 0 }, { "null", "invalid_value", "session", "must be an object", 0 },
    { "{\"type\":\"realtime\"}", "invalid_value", "session.type", "does not reply", 1 },
    { "{\"type\":\"other\"}", "invalid_value", "session.type", "must be 'transcription'", 0 },
    { "{\"type\":7}", "invalid_value", "session.type", "must be 'transcription'", 0 },
    { "{\"voice\":\"alloy\"}", "unknown_parameter", "session.voice", "has no 'session.voice'", 0 },
    { "{\"stra\\u00dfe\":1}", "unknown_parameter", "session.stra??e", "has no", 0 },
    { "{\"audio\":1}", "invalid_value", "session.audio", "must be an object", 0 },
    { "{\"audio\":{\"output\":{}}}", "unknown_parameter", "session.audio.output", "has no", 0 },
    { "{\"audio\":{\"input\":[]}}", "invalid_value", "session.audio.input", "must be an object", 0 },
    { INPUT("\"gain\":1"), "unknown_parameter", "session.audio.input.gain", "has no", 0 },
    { INPUT("\"format\":7"), "invalid_value", "session.audio.input.format", "must be an object", 0 },
    { INPUT("\"format\":\"wav\""), "invalid_value", "session.audio.input.format", "pcm16, g711_ulaw or g711_alaw", 0 },
    { "{\"input_audio_format\":\"pcm8\"}", "invalid_value", "session.input_audio_format", "pcm16, g711_ulaw or g711_alaw", 0 },
    { INPUT("\"format\":{\"type\":\"audio/opus\"}"), "invalid_value", "session.audio.input.format.type",
      "must be audio/pcm, audio/pcmu or audio/pcma", 0 },
    { INPUT("\"format\":{\"type\":3}"), "invalid_value", "session.audio.input.format.type", "must be audio/pcm", 0 },
    { INPUT("\"format\":{\"rate\":44100}"), "invalid_value", "session.audio.input.format.rate", "8000, 16000, 24000 or 48000", 0 },
    { INPUT("\"format\":{\"rate\":7999}"), "invalid_value", "session.audio.input.format.rate", "from 8000 to 48000", 0 },
    { INPUT("\"format\":{\"rate\":48001}"), "invalid_value", "session.audio.input.format.rate", "from 8000 to 48000", 0 },
    { INPUT("\"format\":{\"rate\":1e300}"), "invalid_value", "session.audio.input.format.rate", "from 8000 to 48000", 0 },
    { INPUT("\"format\":{\"rate\":\"16000\"}"), "invalid_value", "session.audio.input.format.rate", "must be an integer", 0 },
    { INPUT("\"format\":{\"type\":\"audio/pcmu\",\"rate\":16000}"), "invalid_value", "session.audio.input.format.rate",
      "G.711 has 8000", 0 },
    { INPUT("\"format\":{\"channels\":1}"), "unknown_parameter", "session.audio.input.format.channels", "has no", 0 },
    { INPUT("\"transcription\":true"), "invalid_value", "session.audio.input.transcription", "must be an object", 0 },
    { INPUT("\"transcription\":{\"model\":5}"), "invalid_value", "session.audio.input.transcription.model", "must be a string", 0 },
    { INPUT("\"transcription\":{\"language\":\"e n\"}"), "invalid_value", "session.audio.input.transcription.language", "code", 0 },
    { INPUT("\"transcription\":{\"language\":\"abcdefghijabcdefghijabcdefghijabcdef\"}"), "invalid_value",
      "session.audio.input.transcription.language", "36 bytes: at most 35", 0 },
    { INPUT("\"transcription\":{\"languages\":\"de\"}"), "invalid_value", "session.audio.input.transcription.languages", "list", 0 },
    { INPUT("\"transcription\":{\"languages\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\",\"k\",\"l\",\"m\"]}"),
      "invalid_value", "session.audio.input.transcription.languages", "13 values: at most 12", 0 },
    { INPUT("\"transcription\":{\"languages\":[1]}"), "invalid_value", "session.audio.input.transcription.languages[0]",
      "string", 0 },
    { INPUT("\"transcription\":{\"keywords\":[\"\"]}"), "invalid_value", "session.audio.input.transcription.keywords[0]", "not empty", 0 },
    { INPUT("\"transcription\":{\"keywords\":[\"a\\nb\"]}"), "invalid_value", "session.audio.input.transcription.keywords[0]",
      "one line", 0 },
    { INPUT("\"transcription\":{\"delay\":\"none\"}"), "invalid_value", "session.audio.input.transcription.delay",
      "minimal, low, medium, high or xhigh", 0 },
    { INPUT("\"transcription\":{\"delay\":\"\"}"), "invalid_value", "session.audio.input.transcription.delay", "must be minimal", 0 },
    { INPUT("\"transcription\":{\"speed\":2}"), "unknown_parameter", "session.audio.input.transcription.speed", "has no", 0 },
    { INPUT("\"transcription\":{\"type\":\"x\"}"), "unknown_parameter", "session.audio.input.transcription.type", "has no", 0 },
    { INPUT("\"noise_reduction\":{\"type\":\"mid_field\"}"), "invalid_value", "session.audio.input.noise_reduction.type",
      "must be near_field or far_field", 0 },
    { INPUT("\"noise_reduction\":{\"strength\":1.1}"), "invalid_value", "session.audio.input.noise_reduction.strength", "from 0 to 1", 0 },
    { INPUT("\"turn_detection\":false"), "invalid_value", "session.audio.input.turn_detection", "must be an object", 0 },
    { INPUT("\"turn_detection\":{\"type\":\"none\"}"), "invalid_value", "session.audio.input.turn_detection.type",
      "must be server_vad or semantic_vad", 0 },
    { INPUT("\"turn_detection\":{\"threshold\":\"0.5\"}"), "invalid_value", "session.audio.input.turn_detection.threshold", "a number", 0 },
    { INPUT("\"turn_detection\":{\"threshold\":-0.1}"), "invalid_value", "session.audio.input.turn_detection.threshold", "from 0 to 1", 0 },
    { INPUT("\"turn_detection\":{\"prefix_padding_ms\":5001}"), "invalid_value", "session.audio.input.turn_detection.prefix_padding_ms",
      "from 0 to 5000", 0 },
    { INPUT("\"turn_detection\":{\"silence_duration_ms\":0.5}"), "invalid_value", "session.audio.input.turn_detection.silence_duration_ms",
      "an integer", 0 },
    { INPUT("\"turn_detection\":{\"silence_duration_ms\":10001}"), "invalid_value",
      "session.audio.input.turn_detection.silence_duration_ms", "from 0 to 10000", 0 },
    { INPUT("\"turn_detection\":{\"create_response\":1}"), "invalid_value", "session.audio.input.turn_detection.create_response",
      "true", 0 },
    { INPUT("\"turn_detection\":{\"eagerness\":\"low\"}"), "invalid_value", "session.audio.input.turn_detection.eagerness",
      "does not belong to type 'server_vad'", 0 },
    { "{\"turn_detection\":{\"type\":\"semantic_vad\",\"threshold\":0.5}}", "invalid_value", "session.turn_detection.threshold",
      "does not belong to type 'semantic_vad'", 0 },
    { "{\"include\":\"steno.partial\"}", "invalid_value", "session.include", "a list", 0 },
    { "{\"include\":[\"usage\"]}", "invalid_value", "session.include", "steno.partial and steno.words", 0 },
    { "{\"include\":[4]}", "invalid_value", "session.include", "steno.partial and steno.words", 0 },
};

/* One wrong part changes nothing, whether it is before or after parts that are right. */
static void bad_updates(void **state)
{
    static const char other[] = "{\"include\":[\"steno.partial\"],\"turn_detection\":null,\"model\":\"tiny\"}";
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(update(bad[i].patch), -1);
        if (strcmp(error.param, bad[i].param) != 0) print_error("%s: %s: %s\n", bad[i].patch, error.param, error.message);
        assert_string_equal(error.code, bad[i].code);
        assert_string_equal(error.param, bad[i].param);
        assert_non_null(strstr(error.message, bad[i].message));
        assert_int_equal(error.ends, bad[i].ends);
        effective_is(DEFAULTS, 0);
        json_t *both = parse(other), *wrong = parse(bad[i].patch);
        if (json_is_object(wrong)) {
            const char *key;
            json_t *v;
            json_object_foreach(wrong, key, v) assert_int_equal(json_object_set(both, key, v), 0);
            error = (struct realtime_error){ 0 };
            assert_int_equal(realtime_session_update(&session, both, &error), -1);
            effective_is(DEFAULTS, 0);
        }
        json_decref(both);
        json_decref(wrong);
    }
}

static void one_after_another(void **state)
{
    struct realtime_config c;
    (void)state;
    assert_int_equal(update(INPUT("\"format\":{\"rate\":16000},\"turn_detection\":{\"type\":\"semantic_vad\",\"eagerness\":\"high\"}")), 0);
    realtime_session_config(&session, &c);
    assert_true(c.uses_vad && c.rate == 16000 && c.silence_ms == 500 && c.threshold == -1 && c.padding_ms == -1);
    assert_int_equal(update(INPUT("\"turn_detection\":{\"create_response\":false}")), 0);
    effective_is(SESSION("null", "{\"type\":\"audio/pcm\",\"rate\":16000}", BASE, "null",
                 "{\"type\":\"semantic_vad\",\"eagerness\":\"high\",\"create_response\":false}"), 0);
    assert_int_equal(update("{\"turn_detection\":{\"type\":\"server_vad\",\"silence_duration_ms\":200}}"), 0); /* a new type: defaults */
    effective_is(SESSION("null", "{\"type\":\"audio/pcm\",\"rate\":16000}", BASE, "null",
                 "{\"type\":\"server_vad\",\"threshold\":0.5,\"prefix_padding_ms\":300,\"silence_duration_ms\":200}"), 0);
    assert_int_equal(update("{\"turn_detection\":null,\"input_audio_format\":\"g711_alaw\"}"), 0);
    realtime_session_config(&session, &c);
    assert_true(!c.uses_vad && c.rate == 8000 && c.format == REALTIME_ALAW);
    assert_int_equal(update("{\"turn_detection\":{\"threshold\":0.25}}"), 0); /* without a type: server_vad */
    assert_int_equal(update("{\"input_audio_format\":\"pcm16\"}"), 0); /* 24000, not 8000 */
    realtime_session_config(&session, &c);
    assert_true(c.uses_vad && c.threshold == 0.25 && c.rate == 24000);
    assert_int_equal(update("{\"model\":null,\"turn_detection\":{\"threshold\":null}}"), 0);
    effective_is(DEFAULTS, 0);
}

static void config_of_transcription(void **state)
{
    struct realtime_config c;
    static const struct { const char *delay; int ms; } delays[] = {
        { "minimal", 500 }, { "low", 700 }, { "medium", 1000 }, { "high", 2000 }, { "xhigh", 4000 } };
    (void)state;
    for (size_t i = 0; i < sizeof delays / sizeof delays[0]; i++) {
        char patch[100];
        snprintf(patch, sizeof patch, INPUT("\"transcription\":{\"delay\":\"%s\"}"), delays[i].delay);
        assert_int_equal(update(patch), 0);
        realtime_session_config(&session, &c);
        assert_int_equal(c.step_ms, delays[i].ms);
    }
    assert_int_equal(update(INPUT("\"transcription\":{\"language\":\"auto\",\"keywords\":[\"one two\",\"three\"],\"prompt\":\"p\"}")), 0);
    realtime_session_config(&session, &c);
    assert_null(c.language);
    assert_string_equal(c.hotwords, "one two\nthree");
    assert_string_equal(c.prompt, "p");
    assert_int_equal(update(INPUT("\"transcription\":{\"languages\":[\"de\"],\"keywords\":null}")), 0);
    realtime_session_config(&session, &c);
    assert_null(c.hotwords);
    assert_null(c.language);
    assert_int_equal(update(INPUT("\"transcription\":{\"language\":null}")), 0);
    realtime_session_config(&session, &c);
    assert_string_equal(c.language, "de");
    assert_int_equal(update(INPUT("\"transcription\":{\"languages\":[\"de\",\"en-US\"]}")), 0);
    realtime_session_config(&session, &c);
    assert_string_equal(c.language, "de,en-US");
    assert_int_equal(update(INPUT("\"transcription\":{\"languages\":[]}")), 0);
    realtime_session_config(&session, &c);
    assert_null(c.language);
    assert_int_equal(update("{\"include\":[\"steno.words\",\"steno.partial\"]}"), 0);
    realtime_session_config(&session, &c);
    assert_int_equal(c.include, REALTIME_WORDS | REALTIME_PARTIAL);
    assert_int_equal(update("{\"include\":[\"item.input_audio_transcription.logprobs\"]}"), 0);
    realtime_session_config(&session, &c);
    assert_int_equal(c.include, REALTIME_LOGPROBS);
}

/* Limits of texts and lists: at the edge and beyond it. */
static void limits(void **state)
{
    (void)state;
    for (int more = 0; more < 2; more++) {
        json_t *list = json_array(), *long_word = json_array();
        char *text = malloc(REALTIME_PROMPT_MAX + 2);
        memset(text, 'x', REALTIME_PROMPT_MAX + 1);
        for (int i = 0; i < REALTIME_KEYWORDS_MAX + more; i++) json_array_append_new(list, json_string("k"));
        json_array_append_new(long_word, json_stringn(text, (size_t)(REALTIME_KEYWORD_MAX + more)));
        json_t *patches[] = { json_pack("{s:{s:s%}}", "input_audio_transcription", "prompt", text, (size_t)(REALTIME_PROMPT_MAX + more)),
                              json_pack("{s:s%}", "model", text, (size_t)(255 + more)),
                              json_pack("{s:{s:o}}", "input_audio_transcription", "keywords", list),
                              json_pack("{s:{s:o}}", "input_audio_transcription", "keywords", long_word) };
        for (size_t i = 0; i < sizeof patches / sizeof patches[0]; i++) {
            error = (struct realtime_error){ 0 };
            assert_non_null(patches[i]);
            assert_int_equal(realtime_session_update(&session, patches[i], &error), -more);
            if (more) assert_non_null(strstr(error.message, "at most"));
            json_decref(patches[i]);
        }
        free(text);
    }
}

/* Models whose clients commit. */
static void default_of_turns(void **state)
{
    static const struct { const char *patch; int uses_vad; } steps[] = {
        { "{\"model\":\"gpt-realtime-whisper\"}", 0 }, { "{\"model\":\"whisper-1\"}", 1 },
        { INPUT("\"transcription\":{\"model\":\"gpt-live-transcribe-2026\"}"), 0 }, { "{\"audio\":null}", 1 },
        { "{\"model\":\"gpt-realtime-whisper\",\"turn_detection\":{\"type\":\"server_vad\"}}", 1 },
        { "{\"turn_detection\":null}", 0 }, { "{\"model\":\"base\"}", 0 }, /* it was set */
    };
    struct realtime_config c;
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(update(steps[i].patch), 0);
        realtime_session_config(&session, &c);
        assert_int_equal(c.uses_vad, steps[i].uses_vad);
    }
    end(state);
    assert_int_equal(realtime_session_init(&session, "gpt-realtime-whisper"), 0);
    realtime_session_config(&session, &c);
    assert_false(c.uses_vad);
}

static void copies(void **state)
{
    struct realtime_session other;
    struct realtime_config c;
    (void)state;
    assert_int_equal(update(INPUT("\"transcription\":{\"keywords\":[\"a\"],\"language\":\"fr\"}")), 0);
    assert_int_equal(realtime_session_copy(&other, &session), 0);
    assert_int_equal(update(INPUT("\"transcription\":null")), 0);
    realtime_session_config(&other, &c);
    assert_string_equal(c.hotwords, "a");
    assert_string_equal(c.language, "fr");
    realtime_session_free(&other);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults), TEST(good_updates), TEST(bad_updates), TEST(one_after_another), TEST(config_of_transcription), TEST(limits),
        TEST(default_of_turns), TEST(copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
