/* steno-serve: events of the Wyoming protocol as bytes. SPDX-License-Identifier: MIT */
#include "harness.h"
#include "wyoming_codec.h"
#include <stdio.h>

struct log { char text[4096]; size_t n; int stop_at, n_events; };

static int on_event(void *user, const struct wyoming_event *e)
{
    struct log *l = user;
    char *data = json_dumps(e->data, JSON_COMPACT | JSON_SORT_KEYS);
    l->n += (size_t)snprintf(l->text + l->n, sizeof l->text - l->n, "%s %s [%.*s]\n", e->type, data, (int)e->n_payload, e->payload);
    free(data);
    return ++l->n_events == l->stop_at;
}

static const struct { const char *bytes, *events, *why; } cases[] = {
    { "{\"type\":\"describe\"}\n", "describe {} []\n", NULL },
    { "{\"type\":\"ping\",\"data\":{\"text\":\"a\"}}\n\n\r\n{\"type\":\"x\",\"data\":null,\"data_length\":null}\n",
      "ping {\"text\":\"a\"} []\nx {} []\n", NULL },
    { "{\"type\":\"t\",\"data\":{\"a\":1,\"b\":1},\"data_length\":13,\"payload_length\":3}\n{\"b\":2,\"c\":3}\n{}{\"type\":\"u\"}\n",
      "t {\"a\":1,\"b\":2,\"c\":3} [\n{}]\nu {} []\n", NULL },
    { "{\"type\":\"t\",\"payload_length\":0,\"data_length\":0}\n", "t {} []\n", NULL },
    { "{\"type\":\"t\"}\nnot json\n{\"type\":\"u\"}\n", "t {} []\n", "an event must begin with one line that is a JSON object" },
    { "[1]\n", "", "an event must begin with one line that is a JSON object" },
    { "{\"type\":1}\n", "", "an event has no type" },
    { "{\"data\":{}}\n", "", "an event has no type" },
    { "{\"type\":\"t\",\"data\":[]}\n", "", "the data of an event are not a JSON object" },
    { "{\"type\":\"t\",\"type\":\"u\"}\n", "", "an event must begin with one line that is a JSON object" },
    { "{\"type\":\"t\",\"data_length\":2}\n[]", "", "the data of an event are not a JSON object" },
    { "{\"type\":\"t\",\"data_length\":-1}\n", "", "data_length must be an integer from 0 to 1048576" },
    { "{\"type\":\"t\",\"data_length\":1048577}\n", "", "data_length must be an integer from 0 to 1048576" },
    { "{\"type\":\"t\",\"data_length\":1.5}\n", "", "data_length must be an integer from 0 to 1048576" },
    { "{\"type\":\"t\",\"payload_length\":99999999999999999999}\n", "", "an event must begin with one line that is a JSON object" },
    { "{\"type\":\"t\",\"payload_length\":\"5\"}\n", "", "payload_length must be an integer from 0 to 1048576" },
    { "{\"type\":\"t\",\"payload_length\":1048576}\nabc", "", NULL }, /* it waits, without memory for it */
};

static void test_events(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t piece = 1; piece <= 64; piece *= 2) {
            struct log l = { 0 };
            struct wyoming_reader *r = wyoming_reader_open(on_event, &l);
            const size_t n = strlen(cases[i].bytes);
            int rc = 0;
            for (size_t at = 0; at < n; at += piece) rc = wyoming_reader_add(r, cases[i].bytes + at, n - at < piece ? n - at : piece);
            assert_string_equal(l.text, cases[i].events);
            assert_int_equal(rc, cases[i].why ? -1 : 0);
            if (cases[i].why) assert_string_equal(wyoming_reader_why(r), cases[i].why);
            else assert_null(wyoming_reader_why(r));
            wyoming_reader_close(r);
        }
    wyoming_reader_close(NULL);
}

static void test_limits(void **state)
{
    (void)state;
    for (int over = 0; over < 2; over++) {
        struct log l = { 0 };
        struct wyoming_reader *r = wyoming_reader_open(on_event, &l);
        char *line = malloc(WYOMING_LINE_MAX + 2);
        const size_t n = WYOMING_LINE_MAX + (size_t)over;
        memset(line, ' ', n);
        memcpy(line, "{\"type\":\"t\"}", 12);
        line[n] = '\n';
        assert_int_equal(wyoming_reader_add(r, line, n + 1), -over);
        assert_int_equal(l.n_events, !over);
        wyoming_reader_close(r);
        free(line);
    }
    struct log l = { .stop_at = 2 };
    struct wyoming_reader *r = wyoming_reader_open(on_event, &l);
    const char three[] = "{\"type\":\"a\"}\n{\"type\":\"b\"}\n{\"type\":\"c\"}\n";
    assert_int_equal(wyoming_reader_add(r, three, sizeof three - 1), -1);
    assert_string_equal(l.text, "a {} []\nb {} []\n");
    assert_null(wyoming_reader_why(r));
    assert_int_equal(wyoming_reader_add(r, three, sizeof three - 1), -1);
    assert_int_equal(l.n_events, 2);
    wyoming_reader_close(r);
}

static void test_writing(void **state)
{
    (void)state;
    size_t n;
    char *t = wyoming_event_text("pong", NULL, &n);
    assert_string_equal(t, "{\"type\":\"pong\",\"version\":\"1.0.0\"}\n");
    assert_int_equal(n, strlen(t));
    free(t);
    t = wyoming_event_text("transcript", json_pack("{s:s}", "text", "a\nb"), &n);
    assert_string_equal(t, "{\"type\":\"transcript\",\"version\":\"1.0.0\",\"data_length\":15}\n{\"text\":\"a\\nb\"}");
    struct log l = { 0 };
    struct wyoming_reader *r = wyoming_reader_open(on_event, &l);
    assert_int_equal(wyoming_reader_add(r, t, n), 0);
    assert_string_equal(l.text, "transcript {\"text\":\"a\\nb\"} []\n");
    wyoming_reader_close(r);
    free(t);
}

static void test_format(void **state)
{
    (void)state;
    static const struct { const char *data; int is_bad; struct wyoming_format f; } c[] = {
        { "{\"rate\":16000,\"width\":2,\"channels\":1}", 0, { 16000, 2, 1 } },
        { "{\"rate\":44100,\"width\":4,\"channels\":2,\"timestamp\":null}", 0, { 44100, 4, 2 } },
        { "{\"rate\":8000,\"width\":1,\"channels\":8}", 0, { 8000, 1, 8 } }, { "{}", 1, { 0 } },
        { "{\"rate\":16000,\"width\":3,\"channels\":1}", 1, { 0 } },
        { "{\"rate\":999,\"width\":2,\"channels\":1}", 1, { 0 } },
        { "{\"rate\":384001,\"width\":2,\"channels\":1}", 1, { 0 } },
        { "{\"rate\":16000,\"width\":2,\"channels\":9}", 1, { 0 } },
        { "{\"rate\":16000,\"width\":2,\"channels\":0}", 1, { 0 } },
        { "{\"rate\":\"16000\",\"width\":2,\"channels\":1}", 1, { 0 } },
        { "{\"rate\":4294983296,\"width\":2,\"channels\":1}", 1, { 0 } },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct wyoming_format f;
        json_t *data = json_loads(c[i].data, 0, NULL);
        assert_non_null(data);
        assert_int_equal(wyoming_format_read(&f, data) != NULL, c[i].is_bad);
        if (!c[i].is_bad) assert_memory_equal(&f, &c[i].f, sizeof f);
        json_decref(data);
    }
    unsigned char head[WYOMING_WAV_HEAD];
    wyoming_wav_head(head, &(struct wyoming_format){ 44100, 2, 2 }, 1000);
    assert_memory_equal(head, "RIFF\x0c\x04\0\0WAVEfmt \x10\0\0\0\x01\0\x02\0\x44\xac\0\0\x10\xb1\x02\0\x04\0\x10\0data\xe8\x03\0\0", 44);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
