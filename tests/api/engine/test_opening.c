/* steno tests: opening and closing models and sessions. SPDX-License-Identifier: MIT
 *
 * What cannot be opened is refused with its reason and leaves nothing behind; what is open closes in any order. */
#include "shipped_bytes.h"
#include <pthread.h>

/* The call failed, and its reason names `what`. */
static void assert_refused(int rc, const steno_error *e, int status, const char *what)
{
    if (rc != status || e->status != status || !strstr(e->text, what) || strchr(e->text, '\n'))
        fail_msg("status %d (in the error: %d), want %d and a reason naming '%s': %s", rc, (int)e->status, status, what, e->text);
}

static void test_opening_a_bad_file_gives_a_reason_and_null(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m = (steno_model *)&e;
    steno_model_params p;
    steno_model_params_init(&p);
    assert_refused(steno_model_open(&m, "no/such/file", NULL, &e), &e, STENO_EIO, "no/such/file");
    assert_null(m);
    assert_refused(steno_model_open(&m, "tests", NULL, &e), &e, STENO_EFORMAT, "tests: the folder holds no model");
    assert_int_equal(steno_model_open(&m, NULL, NULL, &e), STENO_EARG);
    assert_int_equal(steno_model_open(NULL, "x", NULL, NULL), STENO_EARG);
    assert_int_equal(steno_model_open_memory(&m, NULL, 5, NULL, &e), STENO_EARG);
    assert_refused(steno_model_open_memory(&m, "nothing", 7, NULL, &e), &e, STENO_EFORMAT, "text file");
    assert_refused(steno_model_open_memory(&m, file.p, file.n / 2, NULL, &e), &e, STENO_EFORMAT, "is the copy complete?");
    assert_null(m);
    p.compute = 9;
    assert_refused(steno_model_open_memory(&m, file.p, file.n, &p, &e), &e, STENO_EARG, "compute");
    steno_model_params_init(&p);
    p.cpu_level = "z80";
    assert_refused(steno_model_open_memory(&m, file.p, file.n, &p, &e), &e, STENO_EARG, "z80");
    steno_model_params_init(&p);
    p.size = 4;
    assert_refused(steno_model_open_memory(&m, file.p, file.n, &p, &e), &e, STENO_EARG, "steno_model_params");
    steno_model_params_init(&p);
    p.vocab = "no/such/vocab";
    assert_int_equal(steno_model_open(&m, shipped_model, &p, &e), 0); /* the model has its own */
    steno_model_close(m);
    const steno_reader none = { file.n, NULL, NULL, NULL };
    assert_refused(steno_model_open_reader(&m, &none, NULL, &e), &e, STENO_EARG, "read function");
    assert_refused(steno_model_open_reader(&m, NULL, NULL, &e), &e, STENO_EARG, "read function");
    assert_null(m);
    assert_refused(steno_model_open_random(&m, "huge", "f16", 1, NULL, &e), &e, STENO_EARG, "huge");
    assert_refused(steno_model_open_random(&m, "tiny", "q9", 1, NULL, &e), &e, STENO_EARG, "q9");
    steno_team *t;
    assert_refused(steno_team_open(&t, -1, &e), &e, STENO_EARG, "-1");
    assert_refused(steno_team_open(&t, 257, &e), &e, STENO_EARG, "257");
    assert_null(t);
}

/* The same model with `from` written over by `to` wherever a tensor is named so. */
static struct bytes renamed(const char *from, const char *to)
{
    struct bytes b = { malloc(file.n), file.n };
    assert_non_null(b.p);
    memcpy(b.p, file.p, file.n);
    const size_t n = strlen(from);
    assert_int_equal(n, strlen(to));
    for (size_t i = 0; i + n <= b.n; i++)
        if (!memcmp(b.p + i, from, n)) memcpy(b.p + i, to, n);
    return b;
}

static void test_a_key_with_a_bias_is_unknown_and_a_query_without_one_is_missing(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m;
    struct bytes b = renamed("encoder.blocks.0.attn.query.bias", "encoder.blocks.0.attn.quary.bias");
    assert_refused(steno_model_open_memory(&m, b.p, b.n, NULL, &e), &e, STENO_EFORMAT, "encoder.blocks.0.attn.query.bias");
    free(b.p);
    static char const name[] = "encoder.blocks.1.attn.key.bias";
    const int32_t head[] = { 1, (int32_t)sizeof name - 1, 0, small_dims.n_audio_state };
    const size_t data = (size_t)small_dims.n_audio_state * sizeof(float), n = file.n + sizeof head + sizeof name - 1 + data;
    b = (struct bytes){ calloc(1, n), n };
    assert_non_null(b.p);
    memcpy(b.p, file.p, file.n);
    memcpy(b.p + file.n, head, sizeof head);
    memcpy(b.p + file.n + sizeof head, name, sizeof name - 1);
    assert_refused(steno_model_open_memory(&m, b.p, b.n, NULL, &e), &e, STENO_EFORMAT, "tensor");
    free(b.p);
}

static void test_session_parameters_out_of_range_are_refused(void **state)
{
    (void)state;
    steno_error e;
    steno_session *s;
    steno_session_params p;
    steno_model *m = bytes_open(file, NULL);
    static const int32_t lanes[] = { 0, -1, 33, INT32_MAX };
    for (int i = 0; i < 4; i++) {
        steno_session_params_init(&p);
        p.max_lanes = lanes[i];
        assert_refused(steno_session_open(&s, m, NULL, &p, &e), &e, STENO_EARG, "max_lanes");
        assert_null(s);
        assert_int_equal(steno_session_memory(m, NULL, &p), STENO_EARG);
    }
    steno_session_params_init(&p);
    p.size = 0;
    assert_int_equal(steno_session_open(&s, m, NULL, &p, NULL), STENO_EARG);
    assert_int_equal(steno_session_open(NULL, m, NULL, NULL, NULL), STENO_EARG);
    assert_int_equal(steno_session_open(&s, NULL, NULL, NULL, NULL), STENO_EARG);
    steno_model_close(m);
}

struct counted { int reads, closes; };

static int read_file(void *user, uint64_t off, void *dst, size_t n)
{
    ((struct counted *)user)->reads++;
    assert_true(off <= file.n && n <= file.n - off);
    memcpy(dst, file.p + off, n);
    return 0;
}

static void close_counted(void *user)
{
    ((struct counted *)user)->closes++;
}

static void test_a_reader_is_closed_once_whatever_comes_of_it(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m = NULL;
    steno_model_params p;
    steno_model_params_init(&p);
    p.cpu_level = "z80";
    static const uint64_t size[] = { 0, 1, 3, 4, 100, 10000 };
    for (int i = 0; i < 9; i++) {
        struct counted c = { 0, 0 };
        const steno_reader r = { i < 6 ? size[i] : file.n, read_file, close_counted, &c };
        if (i < 6) assert_refused(steno_model_open_reader(&m, &r, NULL, &e), &e, STENO_EFORMAT, i < 3 ? "get it again" : "the file ends");
        if (i == 6) assert_refused(steno_model_open_reader(&m, &r, &p, &e), &e, STENO_EARG, "z80");
        if (i == 7) assert_int_equal(steno_model_open_reader(NULL, &r, NULL, &e), STENO_EARG);
        if (i < 8) assert_null(m);
        if (i == 8) assert_int_equal(steno_model_open_reader(&m, &r, NULL, &e), 0);
        assert_int_equal(c.closes, 1);
    }
    steno_model_close(m);
}

static void test_a_model_without_weights_is_described_and_not_run(void **state)
{
    (void)state;
    steno_error e;
    steno_model *m;
    steno_session *s;
    steno_model_params p;
    steno_model_info info = { .size = sizeof info };
    steno_model_params_init(&p);
    p.index_only = 1;
    if (steno_model_open_memory(&m, file.p, file.n, &p, &e)) fail_msg("%s", e.text);
    assert_refused(steno_session_open(&s, m, NULL, NULL, &e), &e, STENO_EARG, "index_only");
    assert_null(s);
    assert_int_equal(steno_model_info_get(m, &info), 0);
    assert_string_equal(info.family, "whisper");
    assert_int_equal(steno_plan_dump(m, no_line, NULL), 0);
    steno_model_close(m);
}

static void test_objects_close_in_any_order_that_keeps_the_model_last(void **state)
{
    (void)state;
    static const int order[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    const float x[RATE / 2] = { 0 };
    for (int i = 0; i < 6; i++) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, 2, NULL), 0);
        steno_model *m = bytes_open(file, NULL);
        steno_session *s[3];
        for (int k = 0; k < 3; k++) s[k] = session_new(m, k ? team : NULL, k + 1);
        assert_int_equal(steno_transcribe(s[i % 3], x, RATE / 2, NULL), 0);
        for (int k = 0; k < 3; k++) steno_session_close(s[order[i][k]]);
        steno_team_close(team);
        steno_model_close(m);
    }
}

struct failing { const char *path; steno_error e; };

static void *fail_often(void *arg)
{
    struct failing *f = arg;
    steno_model *m;
    for (int i = 0; i < 200; i++) {
        memset(&f->e, 0, sizeof f->e);
        if (steno_model_open(&m, f->path, NULL, &f->e) != STENO_EIO || !strstr(f->e.text, f->path)) return f;
    }
    return NULL;
}

static void test_threads_that_fail_differently_read_their_own_reasons(void **state)
{
    (void)state;
    struct failing f[2] = { { .path = "no/such/first" }, { .path = "no/such/second" } };
    pthread_t id[2];
    void *bad;
    for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&id[i], NULL, fail_often, &f[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(id[i], &bad);
        assert_null(bad);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_opening_a_bad_file_gives_a_reason_and_null),
        cmocka_unit_test(test_a_key_with_a_bias_is_unknown_and_a_query_without_one_is_missing),
        cmocka_unit_test(test_session_parameters_out_of_range_are_refused),
        cmocka_unit_test(test_a_reader_is_closed_once_whatever_comes_of_it),
        cmocka_unit_test(test_a_model_without_weights_is_described_and_not_run),
        cmocka_unit_test(test_objects_close_in_any_order_that_keeps_the_model_last),
        cmocka_unit_test(test_threads_that_fail_differently_read_their_own_reasons),
    };
    return cmocka_run_group_tests(tests, open_file, close_file);
}
