/* steno tests: hot words within a decoder. SPDX-License-Identifier: MIT
 *
 * A tiny Contextual Paraformer with random weights against the reference, with several lists of hot words (make_contextual.py); and
 * calls with hot words where memory is short, or with fields that are not served. */
#include <unistd.h>
#include "api/heap.h"
#include "api/shipped.h"
#include "batch.h"
#include "golden.h"

static const char folder[] = "tests/data/contextual";
enum { LINES_MAX = 4096, ALLOCATIONS_MAX = 3000 };

static steno_model *model;
static struct audio demo;

static int group_begin(void **state)
{
    steno_error e;
    (void)state;
    demo = demo_audio(0, 0, 1);
    steno_model_params as_reference;
    steno_model_params_init(&as_reference);
    as_reference.compute = STENO_COMPUTE_F32;
    if (steno_model_open(&model, folder, &as_reference, &e)) fail_msg("%s", e.text);
    return 0;
}

static int group_end(void **state)
{
    (void)state;
    steno_model_close(model);
    free(demo.pcm);
    return 0;
}

/* The recording as a source. */
struct feed { int64_t at; };
static int64_t feed_read(void *user, float *pcm, int64_t n)
{
    struct feed *f = user;
    const int64_t take = demo.n - f->at < n ? demo.n - f->at : n;
    if (take > 0) memcpy(pcm, demo.pcm + f->at, (size_t)take * sizeof *pcm);
    f->at += take;
    return take;
}

static int run(steno_session *s, const char *words)
{
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.hotwords = words;
    return steno_transcribe(s, demo.pcm, demo.n, &p);
}

static char *lines_of(json_t *words, char lines[LINES_MAX])
{
    size_t i;
    json_t *v;
    lines[0] = '\0';
    json_array_foreach(words, i, v) {
        strcat(lines, json_string_value(v));
        strcat(lines, "\n");
    }
    return lines[0] ? lines : NULL;
}

/* Ids that are text, and their log-probabilities together. */
static void compare(const steno_session *s, const char *name, json_t *want)
{
    json_t *ids = json_object_get(want, "ids"), *text = json_object_get(want, "text");
    steno_segment g = { .size = sizeof g };
    double sum = 0;
    int n = 0;
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_int_t id = json_integer_value(json_array_get(ids, i));
        if (id <= 2) continue;
        if (n >= g.n_tokens || g.tokens[n++] != id) fail_msg("%s: token %d is not %d", name, n, (int)id);
        sum += json_number_value(json_array_get(json_object_get(want, "logprobs"), i));
    }
    assert_int_equal(n, g.n_tokens);
    assert_true(fabs((double)g.avg_logprob * (n + 1) - sum) < 2e-3);
    if (json_is_string(text)) assert_string_equal(steno_text(s), json_string_value(text));
}

static void compare_all(steno_model *m)
{
    json_t *all = json_open("tests/data/contextual/golden.json"), *want;
    const char *name;
    char lines[LINES_MAX];
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    json_object_foreach(all, name, want) {
        if (run(s, lines_of(json_object_get(want, "words"), lines))) fail_msg("%s: %s", name, steno_last_error(s));
        compare(s, name, want);
    }
    steno_session_close(s);
    json_decref(all);
}

static void test_ids_and_texts_are_the_references(void **state)
{
    (void)state;
    compare_all(model);
}

/* Are its ids that are text those of the reference? */
static int has_ids(const steno_session *s, const json_t *ids)
{
    steno_segment g = { .size = sizeof g };
    int n = 0, same = 1;
    assert_int_equal(steno_segment_get(s, 0, &g), 0);
    for (size_t i = 0; i < json_array_size(ids); i++) {
        const json_int_t id = json_integer_value(json_array_get(ids, i));
        if (id > 2) same &= n < g.n_tokens && g.tokens[n] == id, n++;
    }
    return same && n == g.n_tokens;
}

/* In each arithmetic those lists whose margin is wider than what it moves logits by. */
static void test_ids_are_the_references_in_every_arithmetic(void **state)
{
    (void)state;
    static const struct { enum steno_compute compute; double margin; int n; } in[] = {
        { STENO_COMPUTE_BF16, 0.11, 4 }, { STENO_COMPUTE_INT16, 0.02, 8 }, { STENO_COMPUTE_INT8, 0.3, 2 },
    };
    json_t *all = json_open("tests/data/contextual/golden.json"), *want;
    for (size_t k = 0; k < sizeof in / sizeof *in; k++) {
        const char *name;
        char lines[LINES_MAX];
        steno_model *m;
        steno_session *s;
        steno_error e;
        steno_model_params p;
        int n = 0, differ = 0;
        steno_model_params_init(&p);
        p.compute = (int32_t)in[k].compute;
        p.cpu_level = level_tested();
        if (steno_model_open(&m, folder, &p, &e)) fail_msg("%s", e.text);
        assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
        json_object_foreach(all, name, want) {
            if (run(s, lines_of(json_object_get(want, "words"), lines))) fail_msg("%s: %s", name, steno_last_error(s));
            const int differs = !has_ids(s, json_object_get(want, "ids"));
            const double margin = json_number_value(json_object_get(want, "min_margin"));
            if (differs) print_message("compute %d, %s, margin %.3f: other ids\n", (int)in[k].compute, name, margin);
            differ += differs && margin >= in[k].margin;
            n += margin >= in[k].margin;
        }
        assert_int_equal(differ, 0);
        assert_int_equal(n, in[k].n);
        steno_session_close(s);
        steno_model_close(m);
    }
    json_decref(all);
}

static int put(void *user, const void *data, size_t n)
{
    return fwrite(data, 1, n, user) != n;
}

static void test_a_gguf_file_gives_the_same_text(void **state)
{
    (void)state;
    char path[] = "/tmp/steno-contextual-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "wb");
    steno_convert_params p;
    steno_model *m;
    steno_error e;
    steno_convert_params_init(&p);
    p.write = put;
    p.user = f;
    if (steno_model_convert(folder, &p, &e)) fail_msg("%s", e.text);
    fclose(f);
    steno_model_params as_reference;
    steno_model_params_init(&as_reference);
    as_reference.compute = STENO_COMPUTE_F32;
    if (steno_model_open(&m, path, &as_reference, &e)) fail_msg("%s", e.text);
    compare_all(m);
    steno_model_close(m);
    unlink(path);
}

/* Requests with words of their own in one batch: each has the text of itself alone. */
static void test_requests_of_a_batch_have_their_own_words(void **state)
{
    (void)state;
    static const char *const words[] = { NULL, "你好", "xyz\n鑫鑫", "你好" };
    enum { N = sizeof words / sizeof *words };
    steno_session *s[N], *alone;
    steno_batch *b = batch_with(model, 3);
    struct feed from[N] = { 0 };
    steno_source src[N];
    assert_int_equal(steno_session_open(&alone, model, NULL, NULL, NULL), 0);
    for (int i = 0; i < N; i++) {
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.hotwords = words[i];
        src[i] = (steno_source){ feed_read, NULL, &from[i] };
        s[i] = member_new(model, b);
        assert_int_equal(steno_batch_add(b, s[i], &src[i], &p), 0);
    }
    assert_int_equal(steno_batch_run(b), 0);
    for (int i = 0; i < N; i++) {
        assert_int_equal(run(alone, words[i]), 0);
        assert_string_equal(steno_text(s[i]), steno_text(alone));
        steno_session_close(s[i]);
    }
    steno_session_close(alone);
    steno_batch_close(b);
}

static void test_unsupported_values_are_named(void **state)
{
    (void)state;
    char *many = malloc(1000 * 4 + 1), *at = many, *one = malloc(3 * 1001 + 1);
    assert_true(many && one);
    for (int i = 0; i < 1000; i++) at += sprintf(at, "一\n");
    at = one;
    for (int i = 0; i < 1001; i++) at += sprintf(at, "一");
    const struct { const char *words; double boost; const char *named; } c[] = {
        { "\n \n", 2, "held none" }, { many, 2, "takes at most 999" }, { one, 2, "1001 tokens" },
        { "\xff", 2, "line 1" }, { "你好", 3, "hotwords_boost" },
    };
    steno_session *s;
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        steno_transcribe_params p;
        steno_transcribe_params_init(&p);
        p.hotwords = c[i].words;
        p.hotwords_boost = c[i].boost;
        assert_int_not_equal(steno_transcribe(s, demo.pcm, demo.n, &p), 0);
        if (!strstr(steno_last_error(s), c[i].named)) fail_msg("%zu: %s", i, steno_last_error(s));
    }
    many[999 * 4] = '\0';
    assert_int_equal(run(s, many), 0); /* 999 of them */
    one[1000 * 3] = '\0';
    assert_int_equal(run(s, one), 0); /* 1000 characters */
    steno_session_close(s);
    free(many);
    free(one);
}

static void test_every_failed_allocation_is_reported(void **state)
{
    (void)state;
    need_counting();
    steno_session *s, *other;
    assert_int_equal(steno_session_open(&other, model, NULL, NULL, NULL), 0);
    assert_int_equal(run(other, "你好\nseven 我们"), 0);
    int64_t n = 0;
    for (;; n++) {
        steno_error e = { 0 };
        assert_true(n < ALLOCATIONS_MAX);
        count_begin(n);
        int rc = steno_session_open(&s, model, NULL, NULL, &e);
        if (!rc) rc = run(s, "你好\nseven 我们");
        const int64_t calls = heap.calls;
        if (!rc && strcmp(steno_text(s), steno_text(other)) != 0) rc = STENO_EARG;
        steno_session_close(s);
        const struct heap h = count_end();
        if (rc && rc != STENO_ENOMEM) fail_msg("allocation %d: status %d", (int)n, rc);
        assert_int_equal(h.bytes, 0);
        if (calls <= n) break;
    }
    assert_true(n > 10);
    steno_session_close(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_and_texts_are_the_references),
        cmocka_unit_test(test_ids_are_the_references_in_every_arithmetic),
        cmocka_unit_test(test_a_gguf_file_gives_the_same_text),
        cmocka_unit_test(test_requests_of_a_batch_have_their_own_words),
        cmocka_unit_test(test_unsupported_values_are_named),
        cmocka_unit_test(test_every_failed_allocation_is_reported),
    };
    return cmocka_run_group_tests(tests, group_begin, group_end);
}
