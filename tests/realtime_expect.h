/* steno tests: realtime transcription: what a client sends and expects. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_REALTIME_EXPECT_H
#define STENO_TESTS_REALTIME_EXPECT_H
#include "base64.h"
#include "harness.h"
#include "realtime_promises.h"

#define PREFIX "conversation.item.input_audio_transcription."
#define MANUAL "{\"type\":\"session.update\",\"session\":{\"audio\":{\"input\":{\"turn_detection\":null}}}}"

static struct played p;

static int begin_as(int is_beta)
{
    if (played_begin(&p, is_beta)) return -1;
    realtime_begin(p.rt);
    return 0;
}

static int begin(void **state) { (void)state; return begin_as(0); }

static int end(void **state)
{
    (void)state;
    const char *why = promises_broken(&p, 0);
    if (why) print_error("%s\n", why);
    played_finish(&p);
    return why || p.wrong ? -1 : 0;
}

static void client(const char *text) { realtime_text(p.rt, text, strlen(text)); }

/* Audio as a message: zeros for that number of milliseconds, at 24 kHz in s16. */
static void append_ms(int ms)
{
    const size_t n = (size_t)ms * 48;
    unsigned char *zeros = calloc(1, n + 1);
    char *text = malloc(BASE64_ENCODED(n) + 100), *at = text + sprintf(text, "{\"type\":\"input_audio_buffer.append\",\"audio\":\"");
    base64_encode(zeros, n, at);
    strcat(text, "\"}");
    client(text);
    free(zeros);
    free(text);
}

/* The next event, of this type. */
static const json_t *next_is(const char *type)
{
    const json_t *e = json_array_get(p.sent, p.n_taken++);
    if (!e || strcmp(text_at(e, "type"), type) != 0) {
        char *text = json_dumps(e, 0);
        print_error("event %zu should be %s, is %s\n", p.n_taken - 1, type, text ? text : "none");
        free(text);
        fail();
    }
    return e;
}

static void none_left(void)
{
    if (p.n_taken < json_array_size(p.sent)) next_is("none");
    assert_int_equal(p.n_taken, json_array_size(p.sent));
}

static void text_is(const json_t *e, const char *key, const char *text)
{
    if (!text) assert_true(json_is_null(json_object_get(e, key)));
    else assert_string_equal(text_at(e, key), text);
}

/* What a commit sends. */
static void commit_is(const char *id, const char *previous)
{
    const json_t *e = next_is("input_audio_buffer.committed");
    text_is(e, "item_id", id);
    text_is(e, "previous_item_id", previous);
    e = next_is("conversation.item.added");
    text_is(e, "previous_item_id", previous);
    text_is(json_object_get(e, "item"), "id", id);
    text_is(json_object_get(e, "item"), "object", "realtime.item");
    text_is(json_object_get(e, "item"), "status", "completed");
}

static void delta_is(const char *id, const char *text)
{
    const json_t *e = next_is(PREFIX "delta");
    text_is(e, "item_id", id);
    text_is(e, "delta", text);
    assert_int_equal(json_integer_value(json_object_get(e, "content_index")), 0);
}

static void completed_is(const char *id, const char *text, int seconds)
{
    const json_t *e = next_is(PREFIX "completed"), *usage = json_object_get(e, "usage");
    text_is(e, "item_id", id);
    assert_string_equal(json_string_value(json_object_get(e, "transcript")), text);
    text_is(usage, "type", "duration");
    assert_int_equal(json_integer_value(json_object_get(usage, "seconds")), seconds);
    e = json_object_get(next_is("conversation.item.done"), "item");
    text_is(e, "id", id);
    assert_string_equal(text_at(json_array_get(json_object_get(e, "content"), 0), "transcript"), text);
}

static void error_is(const char *code, const char *param, const char *event_id)
{
    const json_t *e = json_object_get(next_is("error"), "error");
    text_is(e, "code", code);
    text_is(e, "param", param);
    text_is(e, "event_id", event_id);
    text_is(e, "type", "invalid_request_error");
    assert_true(*text_at(e, "message"));
}
#endif
