/* steno tests: what settings of language models are where config.json has none. SPDX-License-Identifier: MIT
 *
 * The defaults are those of transformers 5.24: LlamaConfig, MistralConfig, Qwen3Config, GemmaConfig, Gemma3TextConfig,
 * modeling_rope_utils. */
#include "api/lm_folder.h"
#include "api/lm_model.h"
#include "load/weights.h"
#include "model/lm.h"

enum field { HEADS, KV_HEADS, HEAD, CTX, WINDOW, PATTERN, EPS, BASE, SCALE, FAST, SLOW, ORIGINAL };

static double value_of(const struct lm_dims *d, enum field f)
{
    const double value[] = { [HEADS] = d->heads, [KV_HEADS] = d->kv_heads, [HEAD] = d->d_head, [CTX] = d->ctx, [WINDOW] = d->window,
                             [PATTERN] = d->pattern, [EPS] = d->eps, [BASE] = d->rope_base, [SCALE] = d->attn_scale,
                             [FAST] = d->scaling.fast, [SLOW] = d->scaling.slow, [ORIGINAL] = d->scaling.context };
    return value[f];
}

/* settings: members of config.json, each with a comma behind it */
static void put_config(const struct folder *d, const char *type, const char *settings)
{
    char config[1024];
    snprintf(config, sizeof config, "{%s \"model_type\": \"%s\", \"hidden_size\": %d, \"num_hidden_layers\": %d,"
             " \"intermediate_size\": %d}", settings, type, LM_D, LM_LAYERS, LM_FF);
    folder_text(d, "config.json", config);
}

static int read_dims(struct lm_dims *dims, const struct folder *d, const struct lm_arch *arch, steno_error *e)
{
    struct model_source p;
    struct weights w;
    assert_int_equal(model_source_open(&p, d->path, NULL, e), STENO_OK);
    int rc = weights_open_source(&w, &p, e);
    if (!rc) {
        assert_true(lm_match(&w, arch));
        rc = lm_dims_read(dims, arch, &w, e);
        weights_close(&w);
    }
    model_source_close(&p);
    return rc;
}

#define WIDE "\"head_dim\": 16, "
#define YARN "\"rope_scaling\": {\"type\": \"yarn\", \"factor\": 4"

static void test_missing_settings_are_those_of_transformers(void **state)
{
    (void)state;
    const struct { const char *type; const struct lm_arch *arch; const char *settings; enum field of; double want; } row[] = {
        { "llama", lm_llama, WIDE, HEADS, 32 }, { "llama", lm_llama, WIDE, KV_HEADS, 32 }, { "llama", lm_llama, WIDE, CTX, 2048 },
        { "llama", lm_llama, WIDE, EPS, 1e-6 }, { "llama", lm_llama, WIDE, BASE, 1e4 },
        { "llama", lm_llama, WIDE "\"sliding_window\": 8,", WINDOW, 0 }, { "llama", lm_llama, WIDE "\"sliding_window\": -1,", WINDOW, 0 },
        { "mistral", lm_llama, WIDE, HEADS, 32 }, { "mistral", lm_llama, WIDE, KV_HEADS, 8 },
        { "mistral", lm_llama, WIDE "\"num_key_value_heads\": null,", KV_HEADS, 32 }, { "mistral", lm_llama, WIDE, CTX, 131072 },
        { "mistral", lm_llama, WIDE, EPS, 1e-6 }, { "mistral", lm_llama, WIDE, BASE, 1e4 }, { "mistral", lm_llama, WIDE, WINDOW, 4096 },
        { "mistral", lm_llama, WIDE "\"sliding_window\": null,", WINDOW, 0 },
        { "mistral", lm_llama, WIDE "\"sliding_window\": 8,", WINDOW, 8 }, { "qwen3", lm_qwen3, "", HEADS, 32 },
        { "qwen3", lm_qwen3, "", KV_HEADS, 32 }, { "qwen3", lm_qwen3, "", HEAD, 128 }, { "qwen3", lm_qwen3, "", CTX, 32768 },
        { "qwen3", lm_qwen3, "", WINDOW, 0 }, { "qwen3", lm_qwen3, "", EPS, 1e-6 }, { "qwen3", lm_qwen3, "", BASE, 1e4 },
        { "gemma", lm_gemma, "", HEADS, 16 }, { "gemma", lm_gemma, "", KV_HEADS, 16 }, { "gemma", lm_gemma, "", HEAD, 256 },
        { "gemma", lm_gemma, "", CTX, 8192 }, { "gemma", lm_gemma, "", EPS, 1e-6 }, { "gemma", lm_gemma, "", BASE, 1e4 },
        { "gemma", lm_gemma, "\"head_dim\": 64,", SCALE, 0.125 },
        { "gemma", lm_gemma, "\"use_sliding_window\": true, \"max_window_layers\": 0, \"sliding_window\": 8,", WINDOW, 0 },
        { "gemma3_text", lm_gemma3, "", HEADS, 8 }, { "gemma3_text", lm_gemma3, "", KV_HEADS, 4 },
        { "gemma3_text", lm_gemma3, "", HEAD, 256 }, { "gemma3_text", lm_gemma3, "", CTX, 131072 },
        { "gemma3_text", lm_gemma3, "", WINDOW, 4096 }, { "gemma3_text", lm_gemma3, "", PATTERN, 6 },
        { "gemma3", lm_gemma3, "", WINDOW, 4096 }, { "gemma3_text", lm_gemma3, "\"sliding_window\": null,", WINDOW, 0 },
        { "gemma3_text", lm_gemma3, "\"sliding_window\": 512,", WINDOW, 512 }, { "gemma3_text", lm_gemma3, "", EPS, 1e-6 },
        { "gemma3_text", lm_gemma3, "", BASE, 1e6 }, { "gemma3_text", lm_gemma3, "\"head_dim\": 64,", SCALE, 0.0625 },
        { "gemma3_text", lm_gemma3, "\"query_pre_attn_scalar\": 64,", SCALE, 0.125 },
        { "qwen3", lm_qwen3, YARN "},", FAST, 32 }, { "qwen3", lm_qwen3, YARN ", \"beta_fast\": 0},", FAST, 32 },
        { "qwen3", lm_qwen3, YARN ", \"beta_fast\": 16},", FAST, 16 }, { "qwen3", lm_qwen3, YARN ", \"beta_fast\": null},", FAST, 32 },
        { "qwen3", lm_qwen3, YARN ", \"beta_slow\": 0},", SLOW, 1 }, { "qwen3", lm_qwen3, YARN ", \"beta_slow\": 2},", SLOW, 2 },
        { "qwen3", lm_qwen3, YARN "},", ORIGINAL, 32768 },
        { "qwen3", lm_qwen3, YARN ", \"original_max_position_embeddings\": 64},", ORIGINAL, 64 },
        { "qwen3", lm_qwen3, "\"original_max_position_embeddings\": 128, " YARN "},", ORIGINAL, 128 },
        { "qwen3", lm_qwen3, "\"original_max_position_embeddings\": 128, " YARN ", \"original_max_position_embeddings\": 64},", ORIGINAL,
          128 },
        { "qwen3", lm_qwen3, "\"original_max_position_embeddings\": null, " YARN ", \"original_max_position_embeddings\": 64},", ORIGINAL,
          64 },
    };
    const struct folder d = lm_folder();
    int wrong = 0;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct lm_dims dims;
        steno_error e = { 0 };
        put_config(&d, row[i].type, row[i].settings);
        const int rc = read_dims(&dims, &d, row[i].arch, &e);
        if (!rc && fabs(value_of(&dims, row[i].of) - row[i].want) < 1e-9) continue;
        print_error("%zu: %s, '%s': %g, want %g %s\n", i, row[i].type, row[i].settings, rc ? NAN : value_of(&dims, row[i].of), row[i].want,
                    e.text);
        wrong++;
    }
    folder_remove(&d);
    assert_int_equal(wrong, 0);
}

static void test_a_gain_of_zero_is_refused(void **state)
{
    (void)state;
    const struct folder d = lm_folder();
    struct lm_dims dims;
    steno_error e = { 0 };
    put_config(&d, "qwen3", YARN ", \"attention_factor\": 0},");
    assert_int_equal(read_dims(&dims, &d, lm_qwen3, &e), STENO_EFORMAT);
    if (!strstr(e.text, "rope_scaling.attention_factor is 0")) fail_msg("%s", e.text);
    folder_remove(&d);
}

/* 32 heads of 128 numbers. */
static void test_tensors_have_the_usual_sizes(void **state)
{
    (void)state;
    const struct folder d = lm_folder();
    steno_model *m = NULL;
    steno_error e = { 0 };
    put_config(&d, "qwen3", "");
    assert_int_equal(steno_model_open(&m, d.path, NULL, &e), STENO_EFORMAT);
    if (!strstr(e.text, "want [4096, 32]")) fail_msg("%s", e.text);
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing_settings_are_those_of_transformers),
        cmocka_unit_test(test_a_gain_of_zero_is_refused),
        cmocka_unit_test(test_tensors_have_the_usual_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
