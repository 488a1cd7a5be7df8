/* steno-serve: the Wyoming server over its port: info, texts equal to a job's, errors, clients that leave. SPDX-License-Identifier: MIT */
#include "engines_rig.h"
#include "loop.h"
#include "wyoming.h"
#include "wyoming_codec.h"
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>

static struct loop *loop;
static struct rig rig;
static struct wyoming *server;
static steno_model *model;
static struct folder folder;

static int open_all(void **state)
{
    (void)state;
    steno_error e = { 0 };
    model = shipped_open();
    folder = folder_new();
    rig_init(&rig, 2);
    rig_open(&rig);
    wait_loaded(engines_at(rig.es, 0), 1);
    if (loop_open(&loop)) return -1;
    const struct wyoming_params p = { .loop = loop, .engines = rig.es, .spool = rig.spool, .host = "127.0.0.1", .port = 0,
                                      .upload_max = 4 << 20, .version = "9.9" };
    return wyoming_open(&server, &p, &e);
}

static int close_all(void **state)
{
    (void)state;
    wyoming_close(server);
    loop_close(loop);
    rig_close(&rig);
    steno_model_close(model);
    folder_remove(&folder);
    return 0;
}

/* ---- a client ------------------------------------------------------------------------------------------------------------------ */

struct client { int fd; struct wyoming_reader *reader; char type[32]; json_t *data; };

static int keep_event(void *user, const struct wyoming_event *e)
{
    struct client *c = user;
    snprintf(c->type, sizeof c->type, "%s", e->type);
    json_decref(c->data);
    c->data = json_deep_copy(e->data);
    return 0;
}

static struct client client_open(void)
{
    struct client c = { .fd = socket(AF_INET, SOCK_STREAM, 0) };
    const struct sockaddr_in a = { .sin_family = AF_INET, .sin_port = htons((uint16_t)wyoming_port(server)),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    assert_int_equal(connect(c.fd, (const struct sockaddr *)&a, sizeof a), 0);
    return c;
}

static void client_send(struct client *c, const void *bytes, size_t n)
{
    for (size_t at = 0; at < n;) {
        const ssize_t k = send(c->fd, (const char *)bytes + at, n - at, MSG_NOSIGNAL);
        if (k < 0) return;
        at += (size_t)k;
    }
}

static void client_text(struct client *c, const char *text)
{
    client_send(c, text, strlen(text));
}

/* Reads an event into *c; type "": the connection ended. */
static void client_read(struct client *c)
{
    char b[1];
    if (!c->reader) c->reader = wyoming_reader_open(keep_event, c);
    c->type[0] = '\0';
    while (!c->type[0] && poll(&(struct pollfd){ c->fd, POLLIN, 0 }, 1, 20000) > 0 && recv(c->fd, b, 1, 0) == 1)
        assert_int_equal(wyoming_reader_add(c->reader, b, 1), 0);
}

/* The next event. @return its data; NULL: the connection ended */
static const json_t *client_next(struct client *c, const char *type)
{
    client_read(c);
    if (!type) {
        assert_string_equal(c->type, "");
        return NULL;
    }
    assert_string_equal(c->type, type);
    return c->data;
}

static void client_close(struct client *c)
{
    close(c->fd);
    json_decref(c->data);
    wyoming_reader_close(c->reader);
}

static const char *text_of(const json_t *data, const char *name)
{
    const char *text = json_string_value(json_object_get(data, name));
    return text ? text : "(none)";
}

static void client_audio(struct client *c, const struct wyoming_format *f, const char *bytes, size_t n, size_t chunk)
{
    char line[200];
    snprintf(line, sizeof line, "{\"type\":\"audio-start\",\"data\":{\"rate\":%d,\"width\":%d,\"channels\":%d}}\n", f->rate, f->width,
             f->channels);
    client_text(c, line);
    for (size_t at = 0; at < n; at += chunk) {
        const size_t k = n - at < chunk ? n - at : chunk;
        snprintf(line, sizeof line, "{\"type\":\"audio-chunk\",\"data\":{\"rate\":%d,\"width\":%d,\"channels\":%d},"
                                    "\"payload_length\":%zu}\n", f->rate, f->width, f->channels, k);
        client_text(c, line);
        client_send(c, bytes + at, k);
    }
    client_text(c, "{\"type\":\"audio-stop\"}\n");
}

/* ---- texts --------------------------------------------------------------------------------------------------------------------- */

static int job_ended(void *user, const struct job_input *in, const struct job_end *e)
{
    (void)user, (void)in;
    if (e->status) fail_msg("the job failed: %s", e->reason);
    return 0;
}

static int keep_text(void *user, const struct job_input *in, struct transcript *t)
{
    (void)in;
    snprintf(user, 4096, "%s", t->text);
    return 0;
}

/* Samples of the recording in a format, and the text that a job makes of them as a WAV file. */
static char *audio_in(const struct wyoming_format *f, size_t *n, char want[4096])
{
    const struct audio a = demo_audio(0, 0, 1);
    unsigned char head[WYOMING_WAV_HEAD];
    *n = (size_t)(a.n * f->rate / RATE) * (size_t)(f->width * f->channels);
    char *file = calloc(1, sizeof head + *n), *at = file + sizeof head;
    for (size_t i = 0; i < *n / (size_t)f->width; i++, at += f->width) {
        const size_t frame = i / (size_t)f->channels * RATE / (size_t)f->rate;
        const float x = a.pcm[frame < (size_t)a.n ? frame : (size_t)a.n - 1];
        const int32_t v = (int32_t)(x * 2147483000.0);
        const uint32_t u = f->width == 1 ? (uint32_t)(v >> 24) + 128 : f->width == 2 ? (uint32_t)(v >> 16) : (uint32_t)v;
        for (int k = 0; k < f->width; k++) at[k] = (char)(u >> (8 * k));
    }
    wyoming_wav_head(head, f, *n);
    memcpy(file, head, sizeof head);
    folder_put(&folder, "want.wav", (uint8_t *)file, sizeof head + *n);
    struct job j = rig_job(model);
    steno_session *s;
    steno_error e;
    struct folder_file path = folder_at(&folder, "want.wav");
    char *files[] = { path.path };
    j.events.user = want;
    j.events.output = keep_text;
    j.events.end = job_ended;
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.max_lanes = 2;
    assert_int_equal(steno_session_open(&s, model, NULL, &sp, &e), 0);
    job_run(&j, s, files, 1);
    assert_int_equal(j.n_ok, 1);
    steno_session_close(s);
    memmove(file, file + sizeof head, *n);
    free(a.pcm);
    return file;
}

static void test_texts_equal_a_job(void **state)
{
    (void)state;
    static const struct wyoming_format f[] = { { 16000, 2, 1 }, { 16000, 4, 1 }, { 22050, 2, 2 }, { 8000, 1, 1 } };
    for (size_t i = 0; i < sizeof f / sizeof *f; i++) {
        char want[4096];
        size_t n;
        char *bytes = audio_in(&f[i], &n, want);
        struct client c = client_open();
        client_text(&c, "{\"type\":\"transcribe\",\"data\":{\"name\":null,\"language\":\"en-US\"}}\n");
        client_audio(&c, &f[i], bytes, n, i ? 4096 : 2048);
        client_text(&c, "{\"type\":\"describe\"}\n{\"type\":\"ping\",\"data\":{\"text\":\"busy\"}}\n"); /* answered while it runs */
        const json_t *data = client_next(&c, "info");
        assert_non_null(data);
        assert_string_equal(text_of(client_next(&c, "pong"), "text"), "busy");
        data = client_next(&c, "transcript");
        const char *got = text_of(data, "text"), *expected = want;
        while (*expected == ' ') expected++;
        assert_true(strlen(got) > 3 || f[i].width == 1);
        assert_string_equal(got, expected);
        assert_string_equal(text_of(data, "language"), "en");
        client_close(&c);
        free(bytes);
    }
}

/* transcript-start, chunks, transcript, transcript-stop. @return the number of chunks, which joined are the text of the transcript */
static int expect_parts(struct client *c, char text[4096])
{
    char joined[4096] = "";
    int n = 0;
    assert_string_equal(text_of(client_next(c, "transcript-start"), "language"), "en");
    for (client_read(c); strcmp(c->type, "transcript-chunk") == 0; client_read(c), n++) strcat(joined, text_of(c->data, "text"));
    assert_string_equal(c->type, "transcript");
    assert_string_equal(text_of(c->data, "text"), joined);
    client_next(c, "transcript-stop");
    strcpy(text, joined);
    return n;
}

static void test_texts_in_parts_are_for_clients_that_read_them(void **state)
{
    (void)state;
    static const struct { const char *version; int streams; } cases[] = {
        { "1.10.2", 1 }, { "1.7.0", 1 }, { "2.0", 1 }, { "1.6.1", 0 }, { "1", 0 }, { "", 0 }, { "x.9", 0 },
    };
    const struct wyoming_format f = { 16000, 2, 1 };
    char want[4096], got[4096], line[200];
    size_t n;
    char *bytes = audio_in(&f, &n, want);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct client c = client_open();
        snprintf(line, sizeof line, "{\"type\":\"transcribe\",\"version\":\"%s\",\"data\":{\"language\":\"en\"}}\n", cases[i].version);
        client_text(&c, line);
        client_audio(&c, &f, bytes, n, 4096);
        if (cases[i].streams) assert_true(expect_parts(&c, got) > 0);
        else strcpy(got, text_of(client_next(&c, "transcript"), "text"));
        assert_string_equal(got, want + strspn(want, " "));
        client_audio(&c, &f, NULL, 0, 1); /* an utterance without audio has no parts */
        if (cases[i].streams) assert_int_equal(expect_parts(&c, got), 0);
        else assert_string_equal(text_of(client_next(&c, "transcript"), "text"), "");
        client_close(&c);
    }
    free(bytes);
}

static void test_info(void **state)
{
    (void)state;
    struct client c = client_open();
    client_text(&c, "{\"type\":\"describe\"}\n");
    const json_t *asr = json_array_get(json_object_get(client_next(&c, "info"), "asr"), 0);
    assert_string_equal(text_of(asr, "name"), "steno");
    assert_string_equal(text_of(asr, "version"), "9.9");
    assert_true(json_is_true(json_object_get(asr, "installed")));
    assert_true(json_is_true(json_object_get(asr, "supports_transcript_streaming")));
    assert_true(json_is_string(json_object_get(json_object_get(asr, "attribution"), "url")));
    const json_t *m = json_array_get(json_object_get(asr, "models"), 0);
    assert_string_equal(text_of(m, "name"), "digits");
    assert_true(json_is_true(json_object_get(m, "installed")));
    assert_string_equal(json_string_value(json_array_get(json_object_get(m, "languages"), 0)), "en");
    client_close(&c);
}

static void test_no_audio(void **state)
{
    (void)state;
    const struct wyoming_format f = { 16000, 2, 1 };
    struct client c = client_open();
    client_audio(&c, &f, NULL, 0, 1);
    assert_string_equal(text_of(client_next(&c, "transcript"), "text"), "");
    client_text(&c, "{\"type\":\"audio-stop\"}\n");
    assert_string_equal(text_of(client_next(&c, "transcript"), "text"), "");
    client_audio(&c, &f, "\0\0\0\0", 4, 4); /* less than a tenth of a second */
    assert_string_equal(text_of(client_next(&c, "transcript"), "text"), "");
    client_close(&c);
}

/* ---- errors -------------------------------------------------------------------------------------------------------------------- */

static const struct { const char *bytes, *code; } wrong[] = {
    { "GET / HTTP/1.1\r\n\r\n", "invalid_event" },
    { "{\"type\":\"audio-start\",\"data\":{\"rate\":16000,\"width\":3,\"channels\":1}}\n", "invalid_audio" },
    { "{\"type\":\"audio-start\",\"data\":{\"rate\":16000,\"width\":2,\"channels\":1}}\n"
      "{\"type\":\"audio-chunk\",\"data\":{\"rate\":8000,\"width\":2,\"channels\":1},\"payload_length\":2}\nab", "invalid_audio" },
    { "{\"type\":\"transcribe\",\"data\":{\"language\":5}}\n", "invalid_value" },
    { "{\"type\":\"transcribe\",\"data\":{\"name\":\"other\"}}\n"
      "{\"type\":\"audio-chunk\",\"data\":{\"rate\":8000,\"width\":2,\"channels\":1},\"payload_length\":2}\nab{\"type\":\"audio-stop\"}\n",
      "model_not_found" },
};

static void test_errors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct client c = client_open();
        client_text(&c, wrong[i].bytes);
        for (int k = 0; k < 100; k++) client_text(&c, "{\"type\":\"ping\"}\n"); /* what comes later does not destroy the answer */
        const json_t *data = client_next(&c, "error");
        assert_string_equal(text_of(data, "code"), wrong[i].code);
        assert_true(strlen(text_of(data, "text")) > 10);
        client_next(&c, NULL);
        client_close(&c);
    }
    const struct wyoming_format f = { 16000, 2, 1 };
    char *bytes = calloc(1, (4 << 20) + 2);
    struct client c = client_open();
    client_audio(&c, &f, bytes, (4 << 20) + 2, 1 << 20);
    assert_string_equal(text_of(client_next(&c, "error"), "code"), "audio_too_long");
    client_close(&c);
    c = client_open();
    client_text(&c, "{\"type\":\"transcribe\",\"data\":{\"language\":\"qq\"}}\n");
    client_audio(&c, &f, bytes, 64000, 64000);
    assert_string_equal(text_of(client_next(&c, "error"), "code"), "invalid_value");
    client_close(&c);
    free(bytes);
}

static void test_clients_that_leave(void **state)
{
    (void)state;
    const struct wyoming_format f = { 16000, 2, 1 };
    char want[4096];
    size_t n;
    char *bytes = audio_in(&f, &n, want);
    for (int i = 0; i < 12; i++) {
        struct client c = client_open();
        if (i % 3 == 0) client_text(&c, "{\"type\":\"audio-start\",\"data\":{\"rate\":16000,\"width\":2,\"channels\":1}}\n{\"ty");
        else client_audio(&c, &f, bytes, n, 3000);
        if (i % 3 == 1) sleep_ms(5 * i);
        client_close(&c);
    }
    struct client c = client_open(); /* and the server goes on */
    client_audio(&c, &f, bytes, n, 100000);
    client_next(&c, "transcript");
    client_close(&c);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_texts_equal_a_job),
        cmocka_unit_test(test_texts_in_parts_are_for_clients_that_read_them),
        cmocka_unit_test(test_no_audio),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_clients_that_leave),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
