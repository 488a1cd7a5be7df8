/* steno tests: realtime transcription with a live session that the test plays. SPDX-License-Identifier: MIT */
#include "realtime_expect.h"
#include <math.h>

static int begin_beta(void **state) { (void)state; return begin_as(1); }

/* ---- sessions ---------------------------------------------------------------------------------------------------------------- */

static void created_and_updated(void **state)
{
    (void)state;
    const json_t *s = json_object_get(next_is("session.created"), "session");
    text_is(s, "id", "sess_7f");
    text_is(s, "object", "realtime.transcription_session");
    client("{\"type\":\"session.update\",\"session\":{\"type\":\"transcription\",\"audio\":{\"input\":{\"transcription\":"
           "{\"language\":\"en\"}}}}}");
    s = json_object_get(next_is("session.updated"), "session");
    s = json_object_get(json_object_get(json_object_get(s, "audio"), "input"), "transcription");
    text_is(s, "language", "en");
    text_is(s, "model", "base");
    client("{\"type\":\"transcription_session.update\",\"session\":{\"input_audio_format\":\"g711_ulaw\"}}");
    s = json_object_get(next_is("session.updated"), "session");
    s = json_object_get(json_object_get(json_object_get(s, "audio"), "input"), "format");
    text_is(s, "type", "audio/pcmu");
    none_left();
    assert_int_equal(p.n_open, 0);
}

/* Without a detector the session has none, and asking for one is no error. */
static void no_detector(void **state)
{
    static const char *const asked[] = { "{}", "{\"turn_detection\":{\"type\":\"server_vad\"}}",
                                         "{\"turn_detection\":{\"type\":\"semantic_vad\"}}" };
    (void)state;
    next_is("session.created");
    p.finds_none = 1;
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        char text[200];
        snprintf(text, sizeof text, "{\"type\":\"session.update\",\"session\":%s}", asked[i]);
        client(text);
        const json_t *s = json_object_get(next_is("session.updated"), "session");
        text_is(json_object_get(json_object_get(s, "audio"), "input"), "turn_detection", NULL);
    }
    p.finds_none = 0;
    client("{\"type\":\"session.update\",\"session\":{}}");
    const json_t *s = json_object_get(json_object_get(next_is("session.updated"), "session"), "audio");
    text_is(json_object_get(json_object_get(s, "input"), "turn_detection"), "type", "semantic_vad");
    none_left();
}

static void beta_names(void **state)
{
    (void)state;
    const json_t *s = json_object_get(next_is("transcription_session.created"), "session");
    text_is(s, "input_audio_format", "pcm16");
    assert_null(json_object_get(s, "audio"));
    client("{\"type\":\"transcription_session.update\",\"session\":{\"turn_detection\":null}}");
    s = json_object_get(next_is("transcription_session.updated"), "session");
    text_is(s, "turn_detection", NULL);
    append_ms(500);
    client("{\"type\":\"input_audio_buffer.commit\"}");
    text_is(next_is("input_audio_buffer.committed"), "item_id", "item_7f_1");
    text_is(json_object_get(next_is("conversation.item.created"), "item"), "id", "item_7f_1");
    played_words(&p, LIVE_FINAL, " one", 0, 400);
    played_words(&p, LIVE_ENDPOINT, " one", 0, 500);
    played_flushed(&p);
    delta_is("item_7f_1", "one");
    text_is(next_is(PREFIX "completed"), "transcript", "one");
    none_left();
}

/* ---- turns ------------------------------------------------------------------------------------------------------------------- */

/* The example of the protocol's page: deltas before and after the commit. */
static void manual_turns(void **state)
{
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    append_ms(1000);
    played_words(&p, LIVE_FINAL, " seven three", 0, 900);
    delta_is("item_7f_1", "seven three");
    append_ms(500);
    client("{\"type\":\"input_audio_buffer.commit\",\"event_id\":\"c9\"}");
    commit_is("item_7f_1", NULL);
    append_ms(300); /* of the next item */
    played_words(&p, LIVE_FINAL, " nine", 900, 1400);
    played_words(&p, LIVE_ENDPOINT, " seven three nine", 0, 1500);
    delta_is("item_7f_1", " nine");
    none_left();
    played_flushed(&p);
    completed_is("item_7f_1", "seven three nine", 2);
    client("{\"type\":\"input_audio_buffer.commit\"}");
    commit_is("item_7f_2", "item_7f_1");
    played_flushed(&p); /* no words: no endpoint either */
    completed_is("item_7f_2", "", 1);
    none_left();
}

/* Commits that are sent before the texts of the first one. */
static void commits_wait_in_order(void **state)
{
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    for (int i = 0; i < 3; i++) {
        append_ms(100);
        client("{\"type\":\"input_audio_buffer.commit\"}");
    }
    commit_is("item_7f_1", NULL);
    commit_is("item_7f_2", "item_7f_1");
    commit_is("item_7f_3", "item_7f_2");
    played_words(&p, LIVE_FINAL, " a", 0, 100);
    delta_is("item_7f_1", "a");
    for (int i = 0; i < 3; i++) played_flushed(&p);
    completed_is("item_7f_1", "a", 1);
    completed_is("item_7f_2", "", 1);
    completed_is("item_7f_3", "", 1);
    none_left();
}

/* More commits than the live session is given at once. */
static void many_commits(void **state)
{
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    for (int i = 0; i < 100; i++) {
        append_ms(100);
        client("{\"type\":\"input_audio_buffer.commit\"}");
        assert_true(p.n_commits <= 32);
    }
    assert_true(p.is_paused);
    for (int i = 0; i < 100; i++) played_flushed(&p);
    assert_false(p.is_paused);
    assert_int_equal(p.n_bytes, 100 * 4800);
    assert_int_equal(json_array_size(p.sent), 2 + 100 * 4);
    assert_null(promises_broken(&p, 1));
}

/* A long item has several turns of the live session. Their texts are joined as their scripts are. */
static void turns_are_joined(void **state)
{
    static const struct { const char *first, *second, *joined; } cases[] = {
        { " one two", " three", "one two three" }, { "one", "two", "one two" }, { "你好", "世界", "你好世界" },
        { "你好", " and", "你好and" },
    };
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char id[20];
        append_ms(200);
        played_words(&p, LIVE_FINAL, cases[i].first, 0, 100);
        played_words(&p, LIVE_ENDPOINT, cases[i].first, 0, 100);
        played_words(&p, LIVE_FINAL, cases[i].second, 100, 200);
        played_words(&p, LIVE_ENDPOINT, cases[i].second, 100, 200);
        client("{\"type\":\"input_audio_buffer.commit\"}");
        played_flushed(&p);
        p.n_taken += 4; /* two deltas, committed, added */
        snprintf(id, sizeof id, "item_7f_%zu", i + 1);
        completed_is(id, cases[i].joined, 1);
    }
    append_ms(200); /* an endpoint with words that were not final before */
    played_words(&p, LIVE_FINAL, " one", 0, 100);
    played_words(&p, LIVE_ENDPOINT, " one two", 0, 100);
    played_words(&p, LIVE_ENDPOINT, " three", 100, 200);
    delta_is("item_7f_5", "one");
    delta_is("item_7f_5", " two");
    delta_is("item_7f_5", " three");
}

static void turns_of_voice(void **state)
{
    (void)state;
    next_is("session.created");
    append_ms(3000);
    for (int i = 0; i < 2; i++) {
        const char *id = i ? "item_7f_2" : "item_7f_1";
        realtime_live_speech(p.rt, 1, 200 + i * 1000);
        const json_t *e = next_is("input_audio_buffer.speech_started");
        text_is(e, "item_id", id);
        assert_int_equal(json_integer_value(json_object_get(e, "audio_start_ms")), 200 + i * 1000);
        played_words(&p, LIVE_FINAL, " yes", 300, 500);
        delta_is(id, "yes");
        realtime_live_speech(p.rt, 0, 1100 + i * 1000);
        e = next_is("input_audio_buffer.speech_stopped");
        text_is(e, "item_id", id);
        assert_int_equal(json_integer_value(json_object_get(e, "audio_end_ms")), 1100 + i * 1000);
        commit_is(id, i ? "item_7f_1" : NULL);
        played_words(&p, LIVE_ENDPOINT, " yes sir", 200, 1100);
        delta_is(id, " sir");
        completed_is(id, "yes sir", 1);
    }
    none_left();
    realtime_live_speech(p.rt, 1, 2500); /* a turn that is dropped: it has no endpoint */
    realtime_live_speech(p.rt, 0, 2500);
    next_is("input_audio_buffer.speech_started");
    next_is("input_audio_buffer.speech_stopped");
    commit_is("item_7f_3", "item_7f_2");
    realtime_live_speech(p.rt, 1, 2600);
    completed_is("item_7f_3", "", 0);
    next_is("input_audio_buffer.speech_started");
    none_left();
}

/* The client commits while voice activity makes the turns. */
static void commit_within_a_turn(void **state)
{
    (void)state;
    next_is("session.created");
    append_ms(1000);
    realtime_live_speech(p.rt, 1, 100);
    next_is("input_audio_buffer.speech_started");
    client("{\"type\":\"input_audio_buffer.commit\"}");
    append_ms(300);
    assert_true(p.is_paused);
    none_left();
    realtime_live_speech(p.rt, 0, 1000);
    played_words(&p, LIVE_FINAL, " yes", 100, 900);
    played_words(&p, LIVE_ENDPOINT, " yes", 100, 1000);
    next_is("input_audio_buffer.speech_stopped");
    commit_is("item_7f_1", NULL);
    delta_is("item_7f_1", "yes");
    completed_is("item_7f_1", "yes", 1);
    played_flushed(&p);
    assert_false(p.is_paused);
    assert_int_equal(p.n_bytes, 1300 * 48);
    none_left();
    client("{\"type\":\"input_audio_buffer.commit\"}"); /* 300 ms of silence: an item without words */
    played_flushed(&p);
    commit_is("item_7f_2", "item_7f_1");
    completed_is("item_7f_2", "", 1);
    client("{\"type\":\"input_audio_buffer.commit\",\"event_id\":\"e\"}");
    error_is("input_audio_buffer_commit_empty", NULL, "e");
    none_left();
}

static void partials_and_words(void **state)
{
    (void)state;
    next_is("session.created");
    append_ms(500);
    realtime_live_speech(p.rt, 1, 0);
    played_words(&p, LIVE_PARTIAL, " seven", 100, 400); /* not included */
    client("{\"type\":\"session.update\",\"session\":{\"include\":[\"steno.partial\",\"steno.words\"]}}");
    next_is("input_audio_buffer.speech_started");
    next_is("session.updated");
    assert_int_equal(p.ends, 0); /* the live session goes on */
    played_words(&p, LIVE_PARTIAL, " seven three", 100, 400);
    const json_t *e = next_is("steno.partial");
    text_is(e, "item_id", "item_7f_1");
    text_is(e, "text", "seven three");
    assert_true(json_real_value(json_object_get(e, "start")) == 0.1 && json_real_value(json_object_get(e, "end")) == 0.4);
    played_words(&p, LIVE_FINAL, " seven three", 100, 400);
    e = json_object_get(next_is(PREFIX "delta"), "words");
    assert_int_equal(json_array_size(e), 2);
    text_is(json_array_get(e, 1), "word", "three");
    assert_true(json_real_value(json_object_get(json_array_get(e, 0), "start")) == 0.1);
    played_words(&p, LIVE_FINAL, " nine", 400, 480);
    played_words(&p, LIVE_ENDPOINT, " seven three nine", 0, 500);
    e = json_array_get(p.sent, json_array_size(p.sent) - 2);
    text_is(e, "transcript", "seven three nine");
    assert_int_equal(json_array_size(json_object_get(e, "words")), 3);
}

/* The tokens of a delta are its words; together they are its text. */
static void expect_logprobs(const json_t *e, const char *key, size_t n)
{
    char joined[64] = "";
    const json_t *list = json_object_get(e, "logprobs");
    assert_int_equal(json_array_size(list), n);
    for (size_t i = 0; i < n; i++) {
        const json_t *one = json_array_get(list, i), *bytes = json_object_get(one, "bytes");
        const char *token = json_string_value(json_object_get(one, "token"));
        assert_true(fabs(json_real_value(json_object_get(one, "logprob")) - log(0.5)) < 1e-9);
        assert_int_equal(json_array_size(bytes), strlen(token));
        assert_int_equal(json_integer_value(json_array_get(bytes, 0)), (unsigned char)*token);
        strcat(joined, token);
    }
    text_is(e, key, joined);
}

static void logprobs_of_words(void **state)
{
    (void)state;
    next_is("session.created");
    client("{\"type\":\"session.update\",\"session\":{\"include\":[\"item.input_audio_transcription.logprobs\"]}}");
    next_is("session.updated");
    append_ms(500);
    realtime_live_speech(p.rt, 1, 0);
    next_is("input_audio_buffer.speech_started");
    played_words(&p, LIVE_FINAL, " seven three", 100, 400);
    expect_logprobs(next_is(PREFIX "delta"), "delta", 2);
    played_words(&p, LIVE_FINAL, " nine.", 400, 480);
    expect_logprobs(next_is(PREFIX "delta"), "delta", 1);
    played_words(&p, LIVE_ENDPOINT, " seven three nine.", 0, 500);
    expect_logprobs(json_array_get(p.sent, json_array_size(p.sent) - 2), "transcript", 3);
}

/* ---- audio ------------------------------------------------------------------------------------------------------------------- */

/* Random pieces, as text and as binary frames: the same samples. */
static void audio_in_pieces(void **state)
{
    unsigned char bytes[1001];
    char text[2000];
    unsigned seed = 1;
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)(i * 31);
    for (size_t at = 0, n; at < sizeof bytes; at += n) {
        seed = seed * 1664525 + 1013904223;
        n = seed >> 16 & 7;
        if (n > sizeof bytes - at) n = sizeof bytes - at;
        if (seed >> 20 & 1) {
            realtime_binary(p.rt, bytes + at, n);
            continue;
        }
        char *end = text + sprintf(text, "{\"type\":\"input_audio_buffer.append\",\"audio\":\"");
        base64_encode(bytes + at, n, end);
        client(strcat(text, "\"}"));
    }
    assert_int_equal(p.n_bytes, 1000); /* the last byte waits for its other half */
    assert_memory_equal(p.bytes, bytes, 1000);
    realtime_binary(p.rt, bytes, 1);
    assert_int_equal(p.n_bytes, 1002);
    assert_int_equal(p.bytes[1000], bytes[1000]);
    assert_int_equal(json_array_size(p.sent), 1); /* append has no answer */
}

/* A full ring stops the client, and nothing is lost or out of order. */
static void full_ring(void **state)
{
    static unsigned char bytes[48 * 5000 + 1];
    (void)state;
    next_is("session.created");
    p.ring_full_ms = 2000;
    realtime_binary(p.rt, bytes, sizeof bytes);
    assert_int_equal(p.n_bytes, 48 * 2000);
    assert_true(p.is_paused);
    realtime_binary(p.rt, bytes, 1); /* it was on its way */
    client(MANUAL);
    none_left();
    for (int i = 0; i < 2; i++) {
        p.ring_ms = 0;
        realtime_live_room(p.rt);
    }
    assert_int_equal(p.n_bytes, 48 * 5000 + 2);
    assert_int_equal(p.ends, 1); /* then the update was handled */
    next_is("session.updated");
    assert_true(p.is_paused);
    played_ended(&p, NULL);
    assert_false(p.is_paused);
}

/* Each format: its bytes in a millisecond. */
static void formats(void **state)
{
    static const struct { const char *format; int rate; size_t bytes_100ms; } cases[] = {
        { "{\"type\":\"audio/pcm\",\"rate\":8000}", 8000, 1600 }, { "{\"type\":\"audio/pcm\",\"rate\":16000}", 16000, 3200 },
        { "{\"type\":\"audio/pcm\",\"rate\":24000}", 24000, 4800 }, { "{\"type\":\"audio/pcm\",\"rate\":48000}", 48000, 9600 },
        { "{\"type\":\"audio/pcmu\"}", 8000, 800 }, { "{\"type\":\"audio/pcma\"}", 8000, 800 },
    };
    static const unsigned char zeros[9600];
    char text[200];
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sprintf(text, "{\"type\":\"session.update\",\"session\":{\"audio\":{\"input\":{\"format\":%s}}}}", cases[i].format);
        client(text);
        if (p.is_live && p.ends) played_ended(&p, NULL);
        next_is("session.updated");
        realtime_binary(p.rt, zeros, cases[i].bytes_100ms - (i < 4 ? 2 : 1));
        assert_int_equal(p.config.rate, cases[i].rate);
        client("{\"type\":\"input_audio_buffer.commit\"}");
        const json_t *e = json_object_get(json_array_get(p.sent, p.n_taken), "error");
        assert_non_null(strstr(text_at(e, "message"), "99 ms"));
        assert_non_null(strstr(text_at(e, "message"), "100 ms"));
        error_is("input_audio_buffer_commit_empty", NULL, NULL);
        client(text); /* the same format again is not a change */
        next_is("session.updated");
        client("{\"type\":\"session.update\",\"session\":{\"audio\":{\"input\":{\"format\":{\"type\":\"audio/pcm\",\"rate\":16000}}}}}");
        if (cases[i].rate == 16000) next_is("session.updated");
        else error_is("invalid_value", "session.audio.input.format", NULL); /* audio is buffered */
        realtime_binary(p.rt, zeros, i < 4 ? 2 : 1);
        client("{\"type\":\"input_audio_buffer.commit\"}");
        played_flushed(&p);
        p.n_taken += 4;
    }
    none_left();
}

/* A change of the session in the middle of an item: another live session goes on with it. */
static void change_within_an_item(void **state)
{
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    append_ms(1000);
    played_words(&p, LIVE_FINAL, " one", 0, 900);
    delta_is("item_7f_1", "one");
    client("{\"type\":\"session.update\",\"session\":{\"audio\":{\"input\":{\"transcription\":{\"language\":\"de\"}}}}}");
    next_is("session.updated");
    append_ms(500); /* waits */
    client("{\"type\":\"input_audio_buffer.commit\"}");
    assert_int_equal(p.n_bytes, 48000);
    none_left();
    played_words(&p, LIVE_ENDPOINT, " one", 0, 900);
    played_ended(&p, NULL);
    assert_int_equal(p.n_open, 2);
    assert_string_equal(p.language, "de");
    assert_int_equal(p.n_bytes, 72000);
    commit_is("item_7f_1", NULL);
    played_words(&p, LIVE_FINAL, " zwei", 0, 400);
    delta_is("item_7f_1", " zwei");
    played_flushed(&p);
    completed_is("item_7f_1", "one zwei", 2);
    none_left();
}

static void clears(void **state)
{
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    client("{\"type\":\"input_audio_buffer.clear\"}"); /* even when it is empty */
    next_is("input_audio_buffer.cleared");
    append_ms(1000);
    played_words(&p, LIVE_FINAL, " one", 0, 900);
    delta_is("item_7f_1", "one");
    client("{\"type\":\"input_audio_buffer.clear\"}");
    append_ms(200);
    played_words(&p, LIVE_FINAL, " two", 0, 900); /* it was decoded before the session read the call */
    none_left();
    realtime_live_cleared(p.rt);
    p.clears = 0;
    next_is("input_audio_buffer.cleared");
    client("{\"type\":\"input_audio_buffer.commit\"}");
    commit_is("item_7f_2", NULL);
    client("{\"type\":\"input_audio_buffer.clear\"}"); /* what is committed is completed before */
    assert_int_equal(p.clears, 0);
    played_flushed(&p);
    completed_is("item_7f_2", "", 1);
    assert_int_equal(p.clears, 1);
    realtime_live_cleared(p.rt);
    next_is("input_audio_buffer.cleared");
    none_left();
}

/* An item whose text grows for ever is committed by the server. */
static void endless_item(void **state)
{
    (void)state;
    client(MANUAL);
    p.n_taken = 2;
    append_ms(1000);
    for (int i = 0; i < 70 && p.n_taken == 2; i++) {
        char text[1100] = "";
        for (int k = 0; k < 200; k++) strcat(text, " four");
        played_words(&p, LIVE_FINAL, text, i * 10, i * 10 + 10);
        played_words(&p, LIVE_ENDPOINT, text, i * 10, i * 10 + 10);
    }
    size_t n_completed = 0, i;
    json_t *e;
    json_array_foreach(p.sent, i, e) n_completed += !strcmp(text_at(e, "type"), PREFIX "completed");
    assert_int_equal(n_completed, 1);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(created_and_updated), TEST(no_detector),
        cmocka_unit_test_setup_teardown(beta_names, begin_beta, end), TEST(manual_turns),
        TEST(commits_wait_in_order), TEST(many_commits), TEST(turns_are_joined), TEST(turns_of_voice), TEST(commit_within_a_turn),
        TEST(partials_and_words),
        TEST(logprobs_of_words),
        TEST(audio_in_pieces), TEST(full_ring), TEST(formats), TEST(change_within_an_item), TEST(clears), TEST(endless_item),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
