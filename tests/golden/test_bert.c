/* steno tests: vectors of texts against the reference. SPDX-License-Identifier: MIT
 *
 * The small BERT of the collection, from every form that it has, with both ways to pool; transformers has made the vectors. Stored weights
 * that are rounded are as far off as llama.cpp's, no farther. Of language models the last row of the reference's prompts is a vector,
 * too. */
#include <jansson.h>
#include <math.h>
#include <string.h>
#include "folder.h"
#include "harness.h"
#include "levels.h"
#include "npy.h"
#include "steno/steno.h"

enum { TEXTS = 10, EMPTY = 5 /* of them; that one has no tokens */ };
/* How near a vector is: its cosine with the reference's, and how far its numbers are off, of the largest one. */
struct bound { double cosine, off; };
static struct bound const exact = { 0.9999, 1e-4 }, rounded = { 0.99, 0.2 };

static const struct { const char *model, *golden; int pooling, is_rounded; } form[] = {
    { "hf", "mean", STENO_POOLING_MODEL, 0 },
    { "hf", "cls", STENO_POOLING_CLS, 0 },
    { "hf-plain", "mean", STENO_POOLING_MODEL, 0 },
    { "gguf/bert-F16.gguf", "mean", STENO_POOLING_MODEL, 0 },
    { "gguf/bert-F16.gguf", "cls", STENO_POOLING_CLS, 0 },
    { "gguf/bert-cls-Q8_0.gguf", "cls", STENO_POOLING_MODEL, 1 },
    { "gguf/bert-cls-Q8_0.gguf", "mean", STENO_POOLING_MEAN, 1 },
};
enum { FORMS = sizeof form / sizeof *form };

static json_t *golden, *lm_golden;

static const json_t *sentence(size_t i) { return json_array_get(json_object_get(golden, "sentences"), i); }
static const char *text_of(size_t i) { return json_string_value(json_object_get(sentence(i), "text")); }

static steno_model *model_open(const char *name, const char *level, int compute)
{
    char path[1024];
    steno_model_params p;
    steno_model *m;
    steno_error e;
    snprintf(path, sizeof path, "%s/material/llm/models/%s", shared_dir(), name);
    steno_model_params_init(&p);
    p.compute = compute;
    p.cpu_level = level;
    if (steno_model_open(&m, path, &p, &e)) fail_msg("%s: %s", name, e.text);
    return m;
}

static steno_model *bert_open(const char *name, const char *level, int compute)
{
    char path[128];
    snprintf(path, sizeof path, "bert/%s", name);
    return model_open(path, level, compute);
}

static steno_session *session_open(const steno_model *m)
{
    steno_session *s;
    assert_int_equal(steno_session_open(&s, m, NULL, NULL, NULL), 0);
    return s;
}

static steno_embedding embedding_of(const steno_session *s, int i)
{
    steno_embedding v = { .size = sizeof v };
    assert_int_equal(steno_embedding_get(s, i, &v), 0);
    return v;
}

/* The most that a vector is off, and the least cosine, so far. */
static void compare(struct bound *worst, const float *x, const float *want, int n)
{
    double xy = 0, xx = 0, yy = 0, off = 0, largest = 0;
    for (int i = 0; i < n; i++) {
        const double a = (double)x[i], b = (double)want[i];
        xy += a * b;
        xx += a * a;
        yy += b * b;
        off = fmax(off, fabs(a - b));
        largest = fmax(largest, fabs(b));
    }
    worst->cosine = fmin(worst->cosine, xy / sqrt(xx * yy));
    worst->off = fmax(worst->off, off / largest);
}

/* All texts of a form; normalised ones and others. */
static struct bound run_form(int k, const char *level, int compute)
{
    const char *texts[TEXTS];
    char name[128];
    steno_embed_params p;
    struct bound worst = { 1, 0 };
    steno_model *m = bert_open(form[k].model, level, compute);
    steno_session *s = session_open(m);
    int n = 0;
    for (size_t i = 0; i < TEXTS; i++)
        if (i != EMPTY) texts[n++] = text_of(i);
    for (int normal = 0; normal < 2; normal++) {
        snprintf(name, sizeof name, "llm/goldens/bert/%s%s.npy", form[k].golden, normal ? "_norm" : "");
        struct npy want = npy_read(name);
        steno_embed_params_init(&p);
        p.pooling = form[k].pooling;
        p.normalize = normal;
        p.truncate = 1;
        if (steno_embed(s, texts, n, &p)) fail_msg("%s: %s", form[k].model, steno_last_error(s));
        assert_int_equal(steno_embedding_count(s), n);
        for (int i = 0; i < n; i++) {
            const size_t row = (size_t)i + (i >= EMPTY);
            const steno_embedding v = embedding_of(s, i);
            assert_int_equal(v.n, want.n / want.dim[0]);
            assert_int_equal(v.n_tokens, json_integer_value(json_object_get(sentence(row), "n")));
            assert_int_equal(v.is_truncated, row == 7);
            compare(&worst, v.vector, want.v + row * (size_t)v.n, v.n);
        }
        free(want.v);
    }
    steno_session_close(s);
    steno_model_close(m);
    return worst;
}

static void check(int k, const char *level, int compute, const struct bound *least)
{
    const struct bound worst = run_form(k, level, compute);
    if (!level || least != &exact)
        print_message("%s, %s, %s: cosine %.7f, off by %.2g\n", form[k].model, form[k].golden, level ? level : "best", worst.cosine,
                      worst.off);
    if (worst.cosine < least->cosine || worst.off > least->off) fail_msg("that is not near enough");
}

static void test_vectors_are_those_of_the_reference(void **state)
{
    (void)state;
    for (int k = 0; k < FORMS; k++) check(k, NULL, STENO_COMPUTE_F32, form[k].is_rounded ? &rounded : &exact);
}

static void test_levels_agree(void **state)
{
    (void)state;
    const char *level[LEVELS_MAX];
    const int n = levels_for_models(level);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < FORMS; k++) check(k, level[i], STENO_COMPUTE_F32, form[k].is_rounded ? &rounded : &exact);
}

static void test_fewer_bits_cost_little(void **state)
{
    (void)state;
    static struct bound const bf16 = { 0.999, 0.1 }, int8 = { 0.98, 0.3 };
    check(0, NULL, STENO_COMPUTE_BF16, &bf16);
    check(0, NULL, STENO_COMPUTE_INT8, &int8);
    check(0, NULL, STENO_COMPUTE_AUTO, &int8);
}

/* Many texts, in runs that hold several of them, and each by itself: the same bits. */
/* The last row of a prompt behind the last norm is the last one of hidden_p. */
static void check_lm(const char *name, const char *file, double off)
{
    char path[128];
    steno_embed_params p;
    snprintf(path, sizeof path, "llm/goldens/%s/golden.json", name);
    FILE *f = shared_open(path);
    json_error_t e;
    lm_golden = json_loadf(f, 0, &e);
    fclose(f);
    snprintf(path, sizeof path, "%s/%s", name, file);
    steno_model *m = model_open(path, NULL, STENO_COMPUTE_F32);
    steno_session *s = session_open(m);
    steno_embed_params_init(&p);
    p.normalize = 0;
    json_t *prompts = json_object_get(lm_golden, "prompts");
    for (size_t i = 0; i < json_array_size(prompts); i++) {
        const char *text = json_string_value(json_object_get(json_array_get(prompts, i), "text"));
        struct bound worst = { 1, 0 };
        if (!text) continue;
        snprintf(path, sizeof path, "llm/goldens/%s/hidden_p%zu.npy", name, i);
        struct npy want = npy_read(path);
        if (steno_embed(s, &text, 1, &p)) fail_msg("%s: %s", name, steno_last_error(s));
        const steno_embedding v = embedding_of(s, 0);
        assert_int_equal(v.pooling, STENO_POOLING_LAST);
        assert_int_equal(v.n_tokens, json_array_size(json_object_get(json_array_get(prompts, i), "ids")));
        compare(&worst, v.vector, want.v + want.n - v.n, v.n);
        if (worst.off > off) fail_msg("%s, prompt %zu: cosine %.7f, off by %.2g", name, i, worst.cosine, worst.off);
        free(want.v);
    }
    steno_session_close(s);
    steno_model_close(m);
    json_decref(lm_golden);
}

static void test_language_models_have_vectors_too(void **state)
{
    (void)state;
    check_lm("llama", "hf", 1e-4);
    check_lm("llama", "gguf/llama-F32.gguf", 1e-4);
    check_lm("llama3", "hf", 1e-4);
    check_lm("qwen3", "hf", 1e-4);
    check_lm("gemma", "hf", 1e-3);
    check_lm("gemma3", "hf", 1e-3);
}

/* A text may be longer than the rows that run together. What is generated behind has forgotten it. */
static void test_a_long_text_is_read_piece_by_piece(void **state)
{
    (void)state;
    enum { N = 1000 };
    static char text[2 * N + 1];
    const char *texts[] = { text, "short" };
    steno_embed_params p;
    for (int i = 0; i < N; i++) memcpy(text + 2 * i, i % 3 ? " a" : " b", 2);
    steno_model *m = model_open("qwen3/hf", NULL, STENO_COMPUTE_F32);
    steno_session *s = session_open(m), *alone = session_open(m);
    steno_embed_params_init(&p);
    for (p.pooling = STENO_POOLING_MEAN; p.pooling <= STENO_POOLING_LAST; p.pooling++) {
        if (steno_embed(s, texts, 2, &p)) fail_msg("%s", steno_last_error(s));
        assert_in_range(embedding_of(s, 0).n_tokens, 513, 1024);
        assert_int_equal(steno_embed(alone, texts + 1, 1, &p), 0);
        assert_memory_equal(embedding_of(s, 1).vector, embedding_of(alone, 0).vector, (size_t)embedding_of(s, 1).n * sizeof(float));
    }
    assert_null(steno_logits(s, NULL));
    assert_int_equal(steno_prefill_continue(s, (const int32_t[]){ 5 }, 1), 0); /* a beginning: nothing is before it */
    steno_session_close(alone);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_texts_beside_a_text_change_no_bit(void **state)
{
    (void)state;
    enum { N = 300 };
    static char made[N][64];
    const char *texts[N];
    for (int i = 0; i < N; i++) {
        snprintf(made[i], sizeof made[i], "%.*s", 3 + i * 7 % 50, "seven green lamps stay lit in the quiet harbour, and one more is lost");
        texts[i] = made[i];
    }
    for (int compute = 0; compute < 2; compute++) {
        steno_model *m = bert_open("hf", NULL, compute ? STENO_COMPUTE_F32 : STENO_COMPUTE_AUTO);
        steno_session *s = session_open(m), *alone = session_open(m);
        assert_int_equal(steno_embed(s, texts, N, NULL), 0);
        assert_int_equal(steno_embedding_count(s), N);
        for (int i = 0; i < N; i++) {
            assert_int_equal(steno_embed(alone, &texts[i], 1, NULL), 0);
            const steno_embedding a = embedding_of(s, i), b = embedding_of(alone, 0);
            assert_int_equal(a.n_tokens, b.n_tokens);
            assert_memory_equal(a.vector, b.vector, (size_t)a.n * sizeof *a.vector);
        }
        steno_session_close(alone);
        steno_session_close(s);
        steno_model_close(m);
    }
}

/* n words of one token each, between the two that belong to a text. */
static const char *words_of(char text[1024], int n)
{
    text[0] = 0;
    for (int i = 0; i < n; i++) strcat(text, "a ");
    return text;
}

static void expect_refusal(steno_session *s, const char *const *texts, int n, const steno_embed_params *p, const char *why)
{
    assert_int_equal(steno_embed(s, texts, n, p), STENO_EARG);
    assert_int_equal(steno_embedding_count(s), 0);
    if (!strstr(steno_last_error(s), why)) fail_msg("'%s' does not say '%s'", steno_last_error(s), why);
}

static void test_texts_are_as_long_as_the_model_takes(void **state)
{
    (void)state;
    char full[1024], over[1024];
    const char *texts[] = { "one", words_of(full, 94), words_of(over, 95) };
    steno_embed_params p;
    steno_model *m = bert_open("hf", NULL, STENO_COMPUTE_F32);
    steno_session *s = session_open(m);
    steno_embed_params_init(&p);
    assert_int_equal(steno_embed(s, texts, 2, &p), 0);
    assert_int_equal(embedding_of(s, 1).n_tokens, 96);
    expect_refusal(s, texts, 3, &p, "text 3 has 97 tokens, and the model takes 96");
    p.truncate = 1;
    assert_int_equal(steno_embed(s, texts, 3, &p), 0);
    const steno_embedding a = embedding_of(s, 1), b = embedding_of(s, 2);
    assert_true(b.is_truncated && !a.is_truncated && b.n_tokens == 96);
    assert_memory_equal(a.vector, b.vector, (size_t)a.n * sizeof *a.vector);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_invalid_texts_are_refused_by_number(void **state)
{
    (void)state;
    steno_embed_params p;
    steno_model *m = bert_open("hf", NULL, STENO_COMPUTE_F32);
    steno_session *s = session_open(m);
    steno_embed_params_init(&p);
    expect_refusal(s, (const char *const[]){ "a", "" }, 2, NULL, "text 2 has no tokens");
    expect_refusal(s, (const char *const[]){ " \n\t" }, 1, NULL, "text 1 has no tokens");
    expect_refusal(s, (const char *const[]){ "a", "b", NULL }, 3, NULL, "text 3 is NULL");
    expect_refusal(s, NULL, 1, NULL, "texts is NULL");
    expect_refusal(s, NULL, -1, NULL, "n is -1");
    p.pooling = 4;
    expect_refusal(s, (const char *const[]){ "a" }, 1, &p, "pooling is 4");
    assert_int_equal(steno_embed(s, NULL, 0, NULL), 0);
    assert_int_equal(steno_embedding_count(s), 0);
    steno_embedding v = { .size = sizeof v };
    assert_int_equal(steno_embedding_get(s, 0, &v), STENO_EARG);
    steno_session_close(s);
    steno_model_close(m);
}

int main(void)
{
    FILE *f = shared_open("llm/goldens/bert/golden.json");
    json_error_t e;
    if (!f) return 77;
    golden = json_loadf(f, 0, &e);
    fclose(f);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_vectors_are_those_of_the_reference),
        cmocka_unit_test(test_levels_agree),
        cmocka_unit_test(test_fewer_bits_cost_little),
        cmocka_unit_test(test_language_models_have_vectors_too),
        cmocka_unit_test(test_a_long_text_is_read_piece_by_piece),
        cmocka_unit_test(test_texts_beside_a_text_change_no_bit),
        cmocka_unit_test(test_texts_are_as_long_as_the_model_takes),
        cmocka_unit_test(test_invalid_texts_are_refused_by_number),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(golden);
    return failed;
}
