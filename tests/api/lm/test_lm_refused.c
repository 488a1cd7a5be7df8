/* steno tests: keys of language models: kinds that are not served, an id of another type. SPDX-License-Identifier: MIT */
#include "api/convert.h"
#include "api/lm_folder.h"
#include "api/lm_model.h"

static void refused(const char *path, const char *why)
{
    steno_model *m = NULL;
    steno_error e = { 0 };
    assert_int_equal(steno_model_open(&m, path, NULL, &e), STENO_EUNSUPPORTED);
    assert_null(m);
    if (!strstr(e.text, why)) fail_msg("%s: %s", path, e.text);
}

/* Networks of which each token takes a few, in the words of all who write such files. */
static void test_mixtures_of_experts_are_refused_by_name(void **state)
{
    (void)state;
    static const char *const word[] = { "num_local_experts", "num_experts", "n_routed_experts" };
    for (size_t i = 0; i < sizeof word / sizeof *word; i++) {
        const struct folder d = lm_folder();
        char config[1024];
        snprintf(config, sizeof config, "{\"%s\": 8, \"model_type\": \"qwen3\", \"hidden_size\": %d, \"num_hidden_layers\": %d,"
                 " \"num_attention_heads\": %d, \"intermediate_size\": %d}", word[i], LM_D, LM_LAYERS, LM_HEADS, LM_FF);
        folder_text(&d, "config.json", config);
        refused(d.path, "a mixture of 8 experts (MoE)");
        refused(d.path, word[i]);
        folder_remove(&d);
    }
}

/* Settings that change the network are not passed over. The served values, and those without effect, are taken. */
static void test_settings_that_change_the_network_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *type, *setting, *why; } row[] = {
        { "qwen3", "\"hidden_act\": \"relu\"", "hidden_act is relu, this version supports silu" },
        { "qwen3", "\"hidden_act\": \"silu\"", NULL },
        { "llama", "\"hidden_act\": \"gelu\"", "hidden_act is gelu" },
        { "gemma", "\"hidden_act\": \"silu\"", "hidden_act is silu, this version supports gelu_pytorch_tanh" },
        { "gemma", "\"hidden_activation\": \"gelu\"", "hidden_activation is gelu" },
        { "qwen3", "\"use_sliding_window\": true, \"sliding_window\": 8", NULL }, /* from layer 28 on */
        { "qwen3", "\"use_sliding_window\": true, \"sliding_window\": 8, \"max_window_layers\": 1", "use_sliding_window is true" },
        { "qwen3", "\"use_sliding_window\": true, \"max_window_layers\": 1", "use_sliding_window is true" },
        { "qwen3", "\"use_sliding_window\": true, \"sliding_window\": null, \"max_window_layers\": 1", NULL },
        { "qwen3", "\"use_sliding_window\": true, \"max_window_layers\": 0,"
                   " \"layer_types\": [\"full_attention\", \"full_attention\"]", NULL },
        { "qwen3", "\"use_sliding_window\": true, \"max_window_layers\": 64", NULL },
        { "qwen3", "\"use_sliding_window\": false, \"max_window_layers\": 0", NULL },
        { "qwen3", "\"layer_types\": [\"full_attention\", \"sliding_attention\"]", "layer_types.1 is sliding_attention" },
        { "qwen3", "\"layer_types\": [\"full_attention\", \"full_attention\"]", NULL },
        { "mistral", "\"sliding_window\": 8, \"layer_types\": [\"full_attention\"]", "layer_types.0 is full_attention" },
        { "llama", "\"partial_rotary_factor\": 0.5", "partial_rotary_factor is 0.5" },
        { "llama", "\"rope_parameters\": {\"partial_rotary_factor\": 0.5}", "rope_parameters.partial_rotary_factor is 0.5" },
        { "qwen3", "\"use_bidirectional_attention\": true", "use_bidirectional_attention is true" },
        { "qwen3", "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2, \"mscale\": 1}", NULL },
        { "qwen3", "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2, \"truncate\": false}", "rope_scaling.truncate is false" },
        { "qwen3", "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 2, \"truncate\": true}", NULL },
    };
    const struct folder d = lm_folder();
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        char config[1024];
        snprintf(config, sizeof config, "{%s, \"model_type\": \"%s\", \"hidden_size\": %d, \"num_hidden_layers\": %d,"
                 " \"num_attention_heads\": %d, \"num_key_value_heads\": %d, \"head_dim\": %d, \"intermediate_size\": %d}", row[i].setting,
                 row[i].type, LM_D, LM_LAYERS, LM_HEADS, LM_KV_HEADS, LM_HEAD, LM_FF);
        folder_text(&d, "config.json", config);
        if (row[i].why) refused(d.path, row[i].why);
        else steno_model_close(lm_open_as(d.path, STENO_COMPUTE_F32, 0));
    }
    folder_remove(&d);
}

/* A key of `n` letters and its value, of 32 bits or, type 7, a byte. */
static void put_key(struct buf *b, const char *key, uint32_t type, uint32_t value)
{
    const uint64_t n = strlen(key);
    buf_add(b, &n, sizeof n);
    buf_add(b, key, n);
    buf_add(b, &type, sizeof type);
    buf_add(b, &value, type == 7 ? 1 : sizeof value);
}

/* Writes a GGUF file with one more key, and another so that what lies behind stays where it has to. */
static void put_file(const struct folder *d, const struct buf *b, const char *key, uint32_t type, uint32_t value)
{
    enum { N_KEYS_AT = 16, KEYS_AT = 24, ALIGNMENT = 32, OF_PADDING = 13 };
    static const char padding[] = "general.with_a_name_of_any_length";
    struct buf more = { 0 };
    char name[sizeof padding];
    uint64_t keys;
    memcpy(&keys, (const char *)b->p + N_KEYS_AT, sizeof keys);
    keys += 2;
    buf_add(&more, b->p, KEYS_AT);
    memcpy((char *)more.p + N_KEYS_AT, &keys, sizeof keys);
    put_key(&more, key, type, value);
    snprintf(name, sizeof name, "%.*s", ALIGNMENT - (int)((more.len - KEYS_AT + OF_PADDING) % ALIGNMENT), padding);
    put_key(&more, name, 7, 1);
    buf_add(&more, (const char *)b->p + KEYS_AT, b->len - KEYS_AT);
    folder_put(d, "more.gguf", more.p, more.len);
    buf_free(&more);
}

static void test_so_are_those_of_gguf_files(void **state)
{
    (void)state;
    enum { OF_U32 = 4, OF_F32 = 6 };
    static const char gain[] = "qwen3.rope.scaling.attn_factor";
    static const struct { const char *key; uint32_t type; float x; const char *why; } row[] = {
        { "qwen3.expert_count", OF_U32, 8, "a mixture of 8 experts (MoE)" }, { "qwen3.expert_count", OF_U32, 0, NULL },
        { gain, OF_F32, 1.5f, "qwen3.rope.scaling.attn_factor is 1.5" }, { gain, OF_F32, 1, NULL }, /* which yarn alone has */
    };
    const struct folder d = lm_folder();
    struct buf b = { 0 };
    steno_error e = { 0 };
    if (convert_to(&b, d.path, "f32", &e)) fail_msg("%s", e.text);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        uint32_t value = (uint32_t)row[i].x;
        if (row[i].type == OF_F32) memcpy(&value, &row[i].x, sizeof value);
        put_file(&d, &b, row[i].key, row[i].type, value);
        if (row[i].why) refused(folder_at(&d, "more.gguf").path, row[i].why);
        else steno_model_close(lm_open_as(folder_at(&d, "more.gguf").path, STENO_COMPUTE_F32, 0));
    }
    buf_free(&b);
    folder_remove(&d);
}

/* The id of the end may be stored as a float, of the same 32 bits. */
static void test_the_end_may_be_a_float(void **state)
{
    (void)state;
    static const char key[] = "tokenizer.ggml.eos_token_id";
    enum { KEY_N = sizeof key - 1, OF_F32 = 6 };
    const struct folder d = lm_folder();
    struct buf b = { 0 };
    steno_error e = { 0 };
    uint32_t end;
    if (convert_to(&b, d.path, "f32", &e)) fail_msg("%s", e.text);
    char *at = b.p;
    while (memcmp(at, key, KEY_N) != 0) assert_true(++at + KEY_N + 2 * sizeof end < (char *)b.p + b.len);
    memcpy(&end, at + KEY_N + sizeof end, sizeof end);
    const uint32_t type = OF_F32;
    const float x = (float)end;
    memcpy(at + KEY_N, &type, sizeof type);
    memcpy(at + KEY_N + sizeof type, &x, sizeof x);
    folder_put(&d, "end.gguf", b.p, b.len);
    steno_model *m = lm_open_as(folder_at(&d, "end.gguf").path, STENO_COMPUTE_F32, 0);
    assert_int_equal(steno_token_id(m, STENO_TOKEN_END), end);
    steno_model_close(m);
    buf_free(&b);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mixtures_of_experts_are_refused_by_name),
        cmocka_unit_test(test_settings_that_change_the_network_are_refused_by_name),
        cmocka_unit_test(test_so_are_those_of_gguf_files),
        cmocka_unit_test(test_the_end_may_be_a_float),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
