/* steno tests: plans of language models. SPDX-License-Identifier: MIT
 *
 * What is joined and what is taken apart has the same bits, and so have prompts in pieces of any size; weights in fewer bits stay near. Of
 * every kind of angles, heads and gates in the collection. */
#include <math.h>
#include "api/convert.h"
#include "api/lm_folder.h"
#include "api/lm_model.h"
#include "folder.h"
#include "internal.h"

static char const *const kinds[] = { "llama/gguf/llama-F32.gguf", "llama/gguf/llama-Q4_0.gguf", "llama3/gguf/llama3-Q4_0.gguf",
                                     "qwen3/gguf/qwen3-Q8_0.gguf", "qwen3k/gguf/qwen3k-Q4_K_M.gguf", "gemma/gguf/gemma-Q5_0.gguf",
                                     "gemma3/gguf/gemma3-Q8_0.gguf" };
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static const char *path_of(const char *name)
{
    static char path[1024];
    snprintf(path, sizeof path, "%s/material/llm/models/%s", shared_dir(), name);
    return path;
}

static void same_logits(const char *name, const char *what, const steno_session *a, const steno_session *b)
{
    int n, m;
    const float *x = steno_logits(a, &n), *y = steno_logits(b, &m);
    assert_true(x && y && n == m);
    for (int i = 0; i < n; i++)
        if (memcmp(&x[i], &y[i], sizeof *x)) fail_msg("%s, %s: logit %d is %.9g and %.9g", name, what, i, (double)x[i], (double)y[i]);
}

/* ---- joined, and taken apart -------------------------------------------------------------------------------------------------------- */

struct lines { int ops, qkv, gates, ropes, activations; };

static void count_line(void *user, const char *line)
{
    struct lines *l = user;
    int number;
    if (sscanf(line, "%d", &number) != 1 || line[0] != ' ') return;
    l->ops++;
    l->qkv += strstr(line, "linear") && strstr(line, ".qkv");
    l->gates += strstr(line, "linear") && strstr(line, ".gate_up");
    l->ropes += strstr(line, " rope ") != NULL;
    l->activations += strstr(line, " act ") != NULL || strstr(line, " add ") != NULL;
}

static steno_model *open_kind(struct file *f, const char *name, int unfused, const char *level)
{
    steno_model *m;
    steno_model_params p;
    steno_error e;
    steno_model_params_init(&p);
    p.compute = STENO_COMPUTE_F32;
    p.cpu_level = level;
    if (inside_open(&m, f, &p, unfused, &e)) fail_msg("%s: %s", name, e.text);
    return m;
}

static void check_apart(const char *name, const char *level)
{
    struct file f;
    steno_error e;
    steno_model *m[2];
    steno_session *s[2];
    struct lines l[2] = { { 0 }, { 0 } };
    int32_t ids[70];
    lm_ids(ids, 70, 5);
    if (file_open(&f, path_of(name), &e)) fail_msg("%s", e.text);
    for (int i = 0; i < 2; i++) {
        m[i] = open_kind(&f, name, i, level);
        s[i] = lm_session(m[i], NULL, NULL);
        steno_plan_dump(m[i], count_line, &l[i]);
        assert_int_equal(steno_prefill(s[i], ids, 65), 0);
    }
    same_logits(name, "a prompt", s[0], s[1]);
    for (int k = 65; k < 70; k++) {
        for (int i = 0; i < 2; i++) assert_int_equal(steno_prefill_continue(s[i], &ids[k], 1), 0);
        same_logits(name, "a step", s[0], s[1]);
    }
    print_message("%s: %d ops, %d taken apart\n", name, l[0].ops, l[1].ops);
    assert_true(l[1].ops > l[0].ops);
    const int layers = m[0]->widths.text_layers, is_mixed = strstr(name, "K_M") != NULL; /* v of some layers is of another type */
    assert_int_equal(l[0].activations, strstr(name, "gemma3") ? 2 * layers : 0); /* behind norms that follow a product */
    assert_true(l[0].ropes == layers && l[0].gates == layers && (is_mixed ? l[0].qkv > layers : l[0].qkv == layers));
    for (int i = 0; i < 2; i++) {
        steno_session_close(s[i]);
        steno_model_close(m[i]);
    }
    file_close(&f);
}

static void test_joined_plans_give_the_bits_of_separate_ones(void **state)
{
    (void)state;
    for (int i = 0; i < N_KINDS; i++) check_apart(kinds[i], NULL);
    check_apart(kinds[3], "c");
    check_apart(kinds[0], "c");
}

/* ---- what a family is -------------------------------------------------------------------------------------------------------------- */

static void join_line(void *user, const char *line)
{
    struct buf *b = user;
    buf_str(b, line);
    buf_str(b, "\n");
}

static void test_plans_print_what_families_chose(void **state)
{
    (void)state;
    static const struct { const char *name, *has[7], *lacks[4]; } rows[] = {
        { "llama/hf", { "rms eps 1e-05", "by halves", "silu" }, { " times ", "window", "q_norm", "post_attention" } },
        { "llama/gguf/llama-F32.gguf", { "rms eps 1e-05", "by neighbours", "silu" }, { " times ", "window", "q_norm", "post_attention" } },
        { "qwen3/hf", { "rms eps 1e-06 of 4 heads", "by halves", "silu" }, { " times ", "window" } },
        { "gemma/hf", { " times ", "gelu(tanh)", "by halves" }, { "q_norm", "window", "post_attention" } },
        { "gemma3/gguf/gemma3-Q8_0.gguf", { " times ", "gelu(tanh)", "by halves", "window 24", "of 4 heads", "post_attention" }, { NULL } },
        { "bert/hf", { "layer eps 1e-12", "gelu(erf)", "positions" }, { " rope ", "rms", "causal" } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b = { 0 };
        steno_model *m = lm_open_as(path_of(rows[i].name), STENO_COMPUTE_F32, 0);
        steno_plan_dump(m, join_line, &b);
        for (int k = 0; k < 7 && rows[i].has[k]; k++)
            if (!strstr(b.p, rows[i].has[k])) fail_msg("%s: no \"%s\" in its plan", rows[i].name, rows[i].has[k]);
        for (int k = 0; k < 4 && rows[i].lacks[k]; k++)
            if (strstr(b.p, rows[i].lacks[k])) fail_msg("%s: \"%s\" in its plan", rows[i].name, rows[i].lacks[k]);
        buf_free(&b);
        steno_model_close(m);
    }
}

/* ---- prompts in pieces ------------------------------------------------------------------------------------------------------------- */

static void check_pieces(const char *name, int compute)
{
    static int const piece[] = { 64, 256, 17 };
    enum { N = 1000 };
    int32_t ids[N];
    lm_ids(ids, N, 9);
    steno_model *m = lm_open_as(path_of(name), (enum steno_compute)compute, 0);
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(m, &info);
    const int n = info.n_text_ctx < N ? info.n_text_ctx : N;
    steno_session *whole = lm_session(m, NULL, NULL), *s = lm_session(m, NULL, NULL);
    assert_int_equal(steno_prefill(whole, ids, n), 0);
    for (size_t i = 0; i < sizeof piece / sizeof *piece; i++) {
        for (int at = 0; at < n; at += piece[i]) {
            const int k = n - at < piece[i] ? n - at : piece[i];
            assert_int_equal(at ? steno_prefill_continue(s, ids + at, k) : steno_prefill(s, ids, k), 0);
        }
        same_logits(name, "pieces", whole, s);
        steno_prefill(s, ids + 1, 1); /* something else, so that nothing is left of it */
    }
    steno_session_close(s);
    steno_session_close(whole);
    steno_model_close(m);
}

static void test_prompts_in_pieces_have_the_bits_of_a_whole(void **state)
{
    (void)state;
    for (int i = 0; i < N_KINDS; i++) check_pieces(kinds[i], i % 2 ? STENO_COMPUTE_AUTO : STENO_COMPUTE_F32);
    check_pieces(kinds[6], STENO_COMPUTE_F32);
}

/* ---- fewer bits -------------------------------------------------------------------------------------------------------------------- */

static double cosine(const float *a, const float *b, int n)
{
    double ab = 0, aa = 0, bb = 0;
    for (int i = 0; i < n; i++) {
        ab += (double)a[i] * (double)b[i];
        aa += (double)a[i] * (double)a[i];
        bb += (double)b[i] * (double)b[i];
    }
    return ab / sqrt(aa * bb);
}

/* A Qwen3 as it is before it is trained: numbers of a standard deviation of 0.02. */
enum { D = 256, HEADS = 4, KV_HEADS = 2, HEAD = 64, FF = 512, LAYERS = 4 };

static struct folder untrained(void)
{
    static struct { const char *name; int rows, cols; } const of_layer[] = {
        { "self_attn.q_proj", HEADS * HEAD, D }, { "self_attn.k_proj", KV_HEADS * HEAD, D }, { "self_attn.v_proj", KV_HEADS * HEAD, D },
        { "self_attn.o_proj", D, HEADS * HEAD }, { "mlp.gate_proj", FF, D }, { "mlp.up_proj", FF, D }, { "mlp.down_proj", D, FF },
        { "input_layernorm", D, 0 }, { "post_attention_layernorm", D, 0 }, { "self_attn.q_norm", HEAD, 0 }, { "self_attn.k_norm", HEAD, 0 },
    };
    const float scale = 0.02f * sqrtf(3);
    const struct folder d = folder_new();
    struct st_writer w = st_begin(3);
    struct buf b = { 0 };
    st_tensor(&w, "model.embed_tokens.weight", LM_VOCAB, D, 0, scale);
    st_tensor(&w, "model.norm.weight", D, 0, 1, 0);
    for (int i = 0; i < LAYERS; i++)
        for (size_t k = 0; k < sizeof of_layer / sizeof *of_layer; k++)
            lm_tensor(&w, i, of_layer[k].name, of_layer[k].rows, of_layer[k].cols, of_layer[k].cols ? 0 : 1, of_layer[k].cols ? scale : 0);
    st_end(&w, &d);
    lm_tokenizer(&d);
    buf_fmt(&b, "{\"model_type\": \"qwen3\", \"vocab_size\": %d, \"hidden_size\": %d, \"num_hidden_layers\": %d,"
                " \"num_attention_heads\": %d,"
                " \"num_key_value_heads\": %d, \"head_dim\": %d, \"intermediate_size\": %d, \"max_position_embeddings\": 256,"
                " \"tie_word_embeddings\": true}\n", LM_VOCAB, D, LAYERS, HEADS, KV_HEADS, HEAD, FF);
    folder_put(&d, "config.json", b.p, b.len);
    buf_free(&b);
    return d;
}

static void check_type(const char *path, const char *type, double least)
{
    const struct folder d = folder_new();
    struct buf b = { 0 };
    steno_error e;
    int32_t ids[64];
    double worst = 1;
    if (convert_to(&b, path, type, &e)) fail_msg("%s: %s", type, e.text);
    folder_put(&d, "small.gguf", b.p, b.len);
    steno_model *m[2] = { lm_open_as(path, STENO_COMPUTE_F32, 0),
                          lm_open_as(folder_at(&d, "small.gguf").path, STENO_COMPUTE_F32, 0) };
    steno_session *s[2] = { lm_session(m[0], NULL, NULL), lm_session(m[1], NULL, NULL) };
    for (uint32_t seed = 1; seed <= 8; seed++) {
        int n, k;
        lm_ids(ids, 64, seed);
        for (int i = 0; i < 64; i++) ids[i] %= LM_VOCAB;
        for (int i = 0; i < 2; i++) assert_int_equal(steno_prefill(s[i], ids, 8 * (int)seed), 0);
        const float *x = steno_logits(s[0], &n), *y = steno_logits(s[1], &k);
        const double c = cosine(x, y, n < k ? n : k);
        if (c < worst) worst = c;
    }
    print_message("%s: cosine of logits %.5f at least\n", type, worst);
    if (worst < least) fail_msg("%s: cosine of logits %.5f, want %.5f", type, worst, least);
    for (int i = 0; i < 2; i++) {
        steno_session_close(s[i]);
        steno_model_close(m[i]);
    }
    buf_free(&b);
    folder_remove(&d);
}

static void test_fewer_bits_stay_near(void **state)
{
    (void)state;
    static const struct { const char *type; double least; } rows[] = {
        { "f16", 0.999999 }, { "q8_0", 0.999 }, { "q6_k", 0.998 }, { "q5_k_m", 0.99 }, { "q4_k_m", 0.98 }, { "q4_k_s", 0.98 },
        { "iq4_xs", 0.97 }, { "iq4_nl", 0.97 }, { "q3_k_l", 0.975 }, { "q3_k_m", 0.97 }, { "q3_k_s", 0.92 },
        { "q2_k", 0.89 },
    };
    const struct folder d = untrained();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_type(d.path, rows[i].type, rows[i].least);
    folder_remove(&d);
}

int main(void)
{
    if (!getenv("STENO_SHARED")) {
        puts("skipped: STENO_SHARED does not name the collection");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joined_plans_give_the_bits_of_separate_ones),
        cmocka_unit_test(test_plans_print_what_families_chose),
        cmocka_unit_test(test_prompts_in_pieces_have_the_bits_of_a_whole),
        cmocka_unit_test(test_fewer_bits_stay_near),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
