/* steno tests: the plain protocol of live audio, over a socket pair. SPDX-License-Identifier: MIT */
#include "live_rig.h"
#include "stream.h"
#include <jansson.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LOG_SZ = 1 << 17 };

static struct loop *loop;

static int all_open(void **state)
{
    (void)state;
    return loop_open(&loop) ? -1 : rig_open();
}

static int all_close(void **state)
{
    (void)state;
    loop_close(loop);
    steno_model_close(engine.e.model);
    return 0;
}

/* ---- a client that writes frames and reads to the end ------------------------------------------------------------------------- */

static void frame_send(int fd, unsigned opcode, const void *data, size_t n)
{
    static unsigned char b[1 << 20];
    size_t at = 0;
    assert_true(n < sizeof b - 14);
    b[at++] = (unsigned char)(0x80 | opcode);
    b[at++] = (unsigned char)(0x80 | (n < 126 ? n : n < 65536 ? 126 : 127));
    if (n >= 126)
        for (int i = n < 65536 ? 1 : 7; i >= 0; i--) b[at++] = (unsigned char)((uint64_t)n >> (8 * i));
    for (int i = 0; i < 4; i++) b[at++] = 0; /* a mask that changes nothing */
    memcpy(b + at, data, n);
    for (size_t sent = 0; sent < at + n;) {
        const ssize_t k = send(fd, b + sent, at + n - sent, MSG_NOSIGNAL);
        if (k <= 0) return;
        sent += (size_t)k;
    }
}

static void text_send(int fd, const char *text) { frame_send(fd, 1, text, strlen(text)); }

struct reply { char lines[LOG_SZ]; size_t n; int code; };

static void read_exactly(int fd, unsigned char *to, size_t n)
{
    for (size_t got = 0; got < n;) {
        struct pollfd f = { fd, POLLIN, 0 };
        assert_true(poll(&f, 1, 60000) > 0);
        const ssize_t k = recv(fd, to + got, n - got, 0);
        assert_true(k > 0);
        got += (size_t)k;
    }
}

/* Reads messages until the close frame, each as a line, or until one has `until`. */
static void reply_read(int fd, struct reply *r, const char *until)
{
    static unsigned char b[1 << 16];
    for (;;) {
        unsigned char head[2], more[2];
        read_exactly(fd, head, 2);
        size_t n = head[1];
        assert_true(n < 127);
        if (n == 126) {
            read_exactly(fd, more, 2);
            n = (size_t)more[0] << 8 | more[1];
        }
        read_exactly(fd, b, n);
        if ((head[0] & 15) == 8) {
            r->code = n >= 2 ? b[0] << 8 | b[1] : 0;
            frame_send(fd, 8, b, n >= 2 ? 2 : 0);
            return;
        }
        if (head[0] == 0x89) { /* a ping, on a slow machine */
            frame_send(fd, 10, b, n);
            continue;
        }
        assert_int_equal(head[0], 0x81);
        assert_true(r->n + n + 2 < LOG_SZ);
        memcpy(r->lines + r->n, b, n);
        r->n += n;
        memcpy(r->lines + r->n, "\n", 2);
        r->n++;
        if (until && strstr(r->lines + r->n - 1 - n, until)) return;
    }
}

static int client_limited(const struct live_session_params *p, int64_t most_ms)
{
    struct api_error e = { 0 };
    struct stream *s;
    int fd[2];
    if (stream_open(&s, NULL, p, most_ms, &e) != API_OK) fail_msg("%s", e.message);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    assert_int_equal(ws_take(loop, fd[1], NULL, 0, NULL, stream_opened, s), 0);
    return fd[0];
}

static int client_fd(const struct live_session_params *p) { return client_limited(p, 0); }

static void client_over(int fd)
{
    close(fd);
    for (int i = 0; i < 20000 && engine_get(&engine.n_sessions); i++) usleep(1000);
    assert_int_equal(engine_get(&engine.n_sessions), 0);
}

static struct stream_query query_of(void)
{
    struct stream_query q;
    stream_query_begin(&q);
    stream_query_add(&q, "language", "en");
    stream_query_add(&q, "vad", "off");
    return q;
}

/* Texts of one type, each followed by a space. */
static const char *texts(const struct reply *r, const char *type)
{
    static char all[LOG_SZ];
    all[0] = '\0';
    for (const char *line = r->lines; *line; line = strchr(line, '\n') + 1) {
        json_t *j = json_loadb(line, (size_t)(strchr(line, '\n') - line), 0, NULL);
        assert_non_null(j);
        if (!strcmp(json_string_value(json_object_get(j, "type")), type)) {
            strcat(all, json_string_value(json_object_get(j, strcmp(type, "error") ? "text" : "message")));
            strcat(all, " ");
        }
        json_decref(j);
    }
    return all;
}

/* ---- tests ------------------------------------------------------------------------------------------------------------------- */

static void test_messages_of_any_size_become_lines(void **state)
{
    (void)state;
    static const size_t sizes[] = { 1000000, 1001, 320 };
    static char whole[LOG_SZ];
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        static struct reply r;
        memset(&r, 0, sizeof r);
        struct stream_query q = query_of();
        const int fd = client_fd(&q.live);
        const size_t n = (size_t)n_sound * 2;
        for (size_t at = 0; at < n; at += sizes[i]) frame_send(fd, 2, (char *)sound + at, n - at < sizes[i] ? n - at : sizes[i]);
        text_send(fd, "{\"type\":\"end\"}");
        reply_read(fd, &r, NULL);
        assert_int_equal(r.code, LIVE_CLOSE_END);
        client_over(fd);
        if (i == 0) snprintf(whole, sizeof whole, "%s", texts(&r, "endpoint"));
        assert_non_null(strstr(whole, "zero nine one eight"));
        assert_string_equal(texts(&r, "endpoint"), whole);
        assert_string_equal(texts(&r, "final"), whole);
        assert_string_equal(texts(&r, "error"), "");
    }
}

static void test_turns_can_be_committed_and_cleared(void **state)
{
    (void)state;
    static struct reply r;
    memset(&r, 0, sizeof r);
    struct stream_query q = query_of();
    const int fd = client_fd(&q.live);
    frame_send(fd, 2, sound, (size_t)n_sound * 2);
    text_send(fd, "{\"type\":\"commit\"}");
    reply_read(fd, &r, "\"endpoint\"");
    frame_send(fd, 2, sound, (size_t)n_sound * 2);
    text_send(fd, "{\"type\":\"clear\"}");
    text_send(fd, "hello");
    text_send(fd, "{\"type\":\"dance\"}");
    text_send(fd, "{\"type\":5}");
    reply_read(fd, &r, "\"error\"");
    text_send(fd, "{\"type\":\"end\"}");
    reply_read(fd, &r, NULL);
    assert_int_equal(r.code, LIVE_CLOSE_END);
    client_over(fd);
    int n_endpoints = 0, n_errors = 0;
    for (const char *p = r.lines; (p = strstr(p, "\"endpoint\"")) != NULL; p++) n_endpoints++;
    for (const char *p = r.lines; (p = strstr(p, "\"error\"")) != NULL; p++) n_errors++;
    assert_int_equal(n_endpoints, 1);
    assert_int_equal(n_errors, 3);
}

static void test_a_session_ends_at_its_longest_time(void **state)
{
    (void)state;
    static struct reply r;
    memset(&r, 0, sizeof r);
    struct stream_query q = query_of();
    const int fd = client_limited(&q.live, n_sound / 16);
    for (int64_t at = 0; at < 3 * n_sound; at += n_sound / 3) frame_send(fd, 2, sound + at % (n_sound / 3 * 3), (size_t)(n_sound / 3) * 2);
    reply_read(fd, &r, NULL);
    assert_int_equal(r.code, LIVE_CLOSE_STOPPING);
    assert_true(*texts(&r, "endpoint"));
    client_over(fd);
}

/* More than a ring, as fast as the socket takes it, while the engine waits: reading stops and goes on. */
static void test_a_fast_client_waits_and_is_read_to_its_end(void **state)
{
    (void)state;
    static const unsigned char silence[65536];
    static struct reply r;
    struct stream_query q = query_of();
    stream_query_add(&q, "encoding", "s16le");
    stream_query_add(&q, "rate", "8000");
    stream_query_add(&q, "step_ms", "10000");
    for (int i = 0; i < 2; i++) {
        memset(&r, 0, sizeof r);
        const int fd = client_fd(&q.live);
        engine_set(&engine.holds, i % 2);
        for (int k = 0; k < 24; k++) { /* 1.6 MB: 98 s */
            if (k == 10) engine_set(&engine.holds, 0);
            frame_send(fd, 2, silence, sizeof silence);
        }
        text_send(fd, "{\"type\":\"end\"}");
        reply_read(fd, &r, NULL);
        assert_int_equal(r.code, LIVE_CLOSE_END);
        assert_string_equal(texts(&r, "error"), "");
        client_over(fd);
    }
}

/* The last words arrive, then 1001; and a session that ends before its opening has returned. */
static void test_a_stop_and_an_early_end(void **state)
{
    (void)state;
    static struct reply r;
    struct api_error e = { 0 };
    struct stream_query q = query_of();
    struct sessions of;
    struct stream *s;
    int fd[2];
    memset(&r, 0, sizeof r);
    sessions_open(&of, stream_end);
    assert_int_equal(stream_open(&s, &of, &q.live, 0, &e), API_OK);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
    assert_int_equal(ws_take(loop, fd[1], NULL, 0, NULL, stream_opened, s), 0);
    frame_send(fd[0], 2, sound, (size_t)n_sound * 2);
    reply_read(fd[0], &r, "\"final\"");
    sessions_drain(&of);
    reply_read(fd[0], &r, NULL);
    assert_int_equal(r.code, LIVE_CLOSE_STOPPING);
    assert_non_null(strstr(texts(&r, "endpoint"), "zero nine one eight"));
    client_over(fd[0]);
    engine_set(&engine.is_loaded, 0);
    engine_set(&engine.most, 0);
    for (int i = 0; i < 20; i++) {
        memset(&r, 0, sizeof r);
        assert_int_equal(stream_open(&s, &of, &q.live, 0, &e), API_OK);
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fd), 0);
        assert_int_equal(ws_take(loop, fd[1], NULL, 0, NULL, stream_opened, s), 0);
        reply_read(fd[0], &r, NULL);
        assert_int_equal(r.code, LIVE_CLOSE_BUSY);
        assert_string_equal(texts(&r, "error"), "no more sessions ");
        client_over(fd[0]);
    }
    engine_set(&engine.is_loaded, 1);
    engine_set(&engine.most, 4);
    sessions_close(&of); /* waits for all */
}

static void test_failures_close_the_connection(void **state)
{
    (void)state;
    static struct reply r;
    struct stream_query q = query_of();
    memset(&r, 0, sizeof r);
    engine_set(&engine.fails, 1);
    int fd = client_fd(&q.live);
    frame_send(fd, 2, sound, (size_t)n_sound * 2);
    reply_read(fd, &r, NULL);
    engine_set(&engine.fails, 0);
    assert_int_equal(r.code, LIVE_CLOSE_FAILED);
    assert_true(*texts(&r, "error"));
    client_over(fd);
    fd = client_fd(&q.live); /* a client that leaves */
    frame_send(fd, 2, sound, (size_t)n_sound * 2);
    client_over(fd);
    struct api_error e = { 0 };
    struct stream *s;
    assert_int_equal(stream_open(&s, NULL, &q.live, 0, &e), API_OK); /* a connection that never opens */
    stream_opened(s, NULL);
    for (int i = 0; i < 20000 && engine_get(&engine.n_sessions); i++) usleep(1000);
    engine_set(&engine.most, 0);
    assert_int_equal(stream_open(&s, NULL, &q.live, 0, &e), API_too_many_sessions);
    engine_set(&engine.most, 4);
}

static void test_the_query_is_checked(void **state)
{
    (void)state;
    static const struct { const char *name, *value, *says; enum api_code code; } bad[] = {
        { "rate", "7999", "not a number from 8000 to 192000", API_invalid_value }, { "rate", "192001", "192001", API_invalid_value },
        { "rate", "", "rate is \"\"", API_invalid_value }, { "rate", "16000.5", "16000.5", API_invalid_value },
        { "rate", "-16000", "rate", API_invalid_value }, { "rate", "0x4000", "rate", API_invalid_value },
        { "rate", "99999999999999999999", "rate", API_invalid_value }, { "channels", "0", "1 to 8", API_invalid_value },
        { "channels", "9", "1 to 8", API_invalid_value }, { "encoding", "s16", "s16le|f32le", API_invalid_value },
        { "encoding", "s16le|f32le", "not one of", API_invalid_value }, { "vad", "yes", "off|on", API_invalid_value },
        { "vad_threshold", "1.01", "0 to 1", API_invalid_value }, { "vad_threshold", "nan", "0 to 1", API_invalid_value },
        { "vad_threshold", "0.5.5", "0 to 1", API_invalid_value }, { "step_ms", "199", "200 to 10000", API_invalid_value },
        { "max_turn_ms", "30001", "2000 to 30000", API_invalid_value }, { "task", "sing", "transcribe|translate", API_invalid_value },
        { "lang", "en", "no parameter \"lang\"", API_unknown_parameter }, { "", "", "no parameter", API_unknown_parameter },
    };
    struct stream_query q;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        stream_query_begin(&q);
        stream_query_add(&q, bad[i].name, bad[i].value);
        if (q.e.code != bad[i].code || !strstr(q.e.message, bad[i].says)) fail_msg("%s=%s: \"%s\"", bad[i].name, bad[i].value, q.e.message);
    }
    stream_query_begin(&q);
    assert_true(q.live.rate == 16000 && q.live.encoding == AUDIO_S16LE && q.live.uses_vad && q.live.channels == 1);
    static const char *const good[][2] = {
        { "rate", "8000" }, { "channels", "8" }, { "encoding", "u8" }, { "language", "de" }, { "prompt", "" }, { "task", "translate" },
        { "vad", "off" }, { "vad_threshold", ".25" }, { "vad_min_silence_ms", "0" }, { "step_ms", "200" }, { "max_turn_ms", "2000" },
        { "model", "base" }, { "hotwords", "Ada" } };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) stream_query_add(&q, good[i][0], good[i][1]);
    assert_int_equal(q.e.code, API_OK);
    assert_true(q.live.rate == 8000 && q.live.channels == 8 && q.live.encoding == AUDIO_U8 && q.live.task == STENO_TRANSLATE);
    assert_true(!q.live.uses_vad && q.live.threshold == .25 && !q.live.silence_ms && q.live.step_ms == 200 && q.live.max_turn_ms == 2000);
    assert_string_equal(q.model, "base");
    assert_string_equal(q.live.hotwords, "Ada");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages_of_any_size_become_lines),
        cmocka_unit_test(test_turns_can_be_committed_and_cleared),
        cmocka_unit_test(test_a_session_ends_at_its_longest_time),
        cmocka_unit_test(test_failures_close_the_connection),
        cmocka_unit_test(test_a_fast_client_waits_and_is_read_to_its_end),
        cmocka_unit_test(test_a_stop_and_an_early_end),
        cmocka_unit_test(test_the_query_is_checked),
    };
    return cmocka_run_group_tests(tests, all_open, all_close);
}
