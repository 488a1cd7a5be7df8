/* steno tests: folders that are no Qwen3-ASR, and no forced aligner. SPDX-License-Identifier: MIT
 *
 * Settings, tokenizers and weights that are wrong or missing are refused by name. A walk over all settings with values that do not fit
 * ends in a model or in a reason. */
#include "qwen3_asr.h"

struct second { float pcm[16000]; int64_t at; };

static int64_t second_read(void *user, float *to, int64_t n)
{
    struct second *f = user;
    if (n > 16000 - f->at) n = 16000 - f->at;
    memcpy(to, f->pcm + f->at, (size_t)n * sizeof *to);
    f->at += n;
    return n;
}

/* Opens, and transcribes or aligns a second. */
static int try_it(const char *path, steno_error *e)
{
    static struct second f;
    steno_model *m = NULL;
    steno_session *s = NULL;
    steno_transcribe_params p;
    steno_transcribe_params_init(&p);
    p.sample_len = 2;
    *e = (steno_error){ 0 };
    f.at = 0;
    for (int i = 0; i < 16000; i++) f.pcm[i] = (float)((i * 7919) % 2003 - 1001) / 4000;
    int rc = steno_model_open(&m, path, NULL, e);
    if (!rc) rc = steno_session_open(&s, m, NULL, NULL, e);
    if (!rc) {
        const steno_source src = { second_read, NULL, &f };
        const int aligns = steno_align_result(s, NULL, NULL, NULL) == 0 || strstr(steno_last_error(s), "tokenizer");
        rc = aligns ? steno_align(s, &src, "one two", NULL) : steno_transcribe(s, f.pcm, 16000, &p);
        if (rc) snprintf(e->text, sizeof e->text, "%s", steno_last_error(s));
    }
    steno_session_close(s);
    steno_model_close(m);
    return rc;
}

static void refused(const char *path, const char *why)
{
    steno_error e;
    const int rc = try_it(path, &e);
    if (!rc || !strstr(e.text, why)) fail_msg("\"%s\", want \"%s\"", rc ? e.text : "it is taken", why);
}

/* A file of the model with all places of a text replaced. */
static void put_changed(const struct folder *d, const char *dir, const char *name, const char *from, const char *to)
{
    size_t n, found = 0;
    char *bytes = qwen_bytes_of(dir, name, &n), *out = malloc(2 * n + 4096), *at = out;
    assert_non_null(out);
    for (size_t i = 0; i < n;)
        if (n - i >= strlen(from) && !memcmp(bytes + i, from, strlen(from))) {
            at = stpcpy(at, to);
            i += strlen(from);
            found++;
        } else *at++ = bytes[i++];
    if (!found) fail_msg("%s has no %s", name, from);
    folder_put(d, name, out, (size_t)(at - out));
    free(bytes);
    free(out);
}

static void test_settings_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *from, *to, *why; } wrong[] = {
        { "\"d_model\": 64", "\"d_model\": 66", "heads do not divide a width of 66" },
        { "\"d_model\": 64", "\"d_modell\": 64", "audio_config.d_model is missing" },
        { "\"encoder_layers\": 2", "\"encoder_layers\": 3", "audio_tower.layers.2.self_attn_layer_norm.weight is missing" },
        { "\"encoder_layers\": 2", "\"encoder_layers\": 1", "audio_tower.layers.1" },
        { "\"encoder_layers\": 2", "\"encoder_layers\": \"2\"", "audio_config.encoder_layers is text" },
        { "\"num_mel_bins\": 128", "\"num_mel_bins\": 80", "audio_tower.conv_out.weight is [64, 256]" },
        { "\"num_mel_bins\": 128", "\"num_mel_bins\": 1000", "audio_config.num_mel_bins is 1000" },
        { "\"downsample_hidden_size\": 16", "\"downsample_hidden_size\": 17", "audio_tower.conv2d1.weight is [16, 1, 3, 3]" },
        { "\"output_dim\": 64", "\"output_dim\": 32", "audio_tower.proj2.weight is [64, 64]" },
        { "\"n_window\": 50", "\"n_window\": 0", "audio_config.n_window is 0" },
        { "\"n_window_infer\": 200", "\"n_window_infer\": 250", "audio_config.n_window_infer is 250, want a multiple of 100" },
        { "\"activation_function\": \"gelu\"", "\"activation_function\": \"relu\"", "audio_config.activation_function is relu" },
        { "\"scale_embedding\": false", "\"scale_embedding\": true", "audio_config.scale_embedding is true" },
        { "\"hidden_act\": \"silu\"", "\"hidden_act\": \"relu\"", "text_config.hidden_act is relu, this version supports silu" },
        { "\"hidden_act\": \"silu\"", "\"use_sliding_window\": true, \"max_window_layers\": 0", "text_config.use_sliding_window is true" },
        { "\"audio_token_id\": 593", "\"audio_token_id\": 594", "audio_token_id is 594, but <|audio_pad|> is token 593" },
        { "\"hidden_size\": 64", "\"hidden_size\": 32", "model.embed_tokens.weight is [608, 64]" },
        { "\"audio_token_id\": 593", "\"classify_num\": 500", "audio_token_id is missing" }, /* settings of an aligner */
        { "\"model_type\": \"qwen3_asr\"", "\"model_type\": \"qwen9_asr\"", "a model of the type qwen9_asr" },
    };
    const struct folder d = qwen_folder();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_changed(&d, qwen_dir, "config.json", wrong[i].from, wrong[i].to);
        refused(d.path, wrong[i].why);
    }
    folder_remove(&d);
}

static void test_other_features_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *text, *why; } row[] = {
        { "{\"n_fft\": 400, \"hop_length\": 160, \"sampling_rate\": 16000, \"feature_size\": 128, \"dither\": 0.0}", NULL },
        { "{\"n_fft\": 512}", "preprocessor_config.json: n_fft is 512, this version supports 400" },
        { "{\"sampling_rate\": 8000}", "preprocessor_config.json: sampling_rate is 8000, this version supports 16000" },
        { "{\"feature_size\": 80}", "preprocessor_config.json: feature_size is 80, this version supports 128" },
    };
    const char *const dir[] = { qwen_dir, aligner_dir };
    for (int k = 0; k < 2; k++) {
        const struct folder d = qwen_folder_of(dir[k]);
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            steno_error e;
            folder_text(&d, "preprocessor_config.json", row[i].text);
            if (row[i].why) refused(d.path, row[i].why);
            else if (try_it(d.path, &e)) fail_msg("%s", e.text);
        }
        folder_remove(&d);
    }
}

static void test_tokenizers_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *file, *from, *to, *why; } wrong[] = {
        { "tokenizer_config.json", "<asr_text>", "<asr_taxt>", "no token <asr_text>" },
        { "tokenizer_config.json", "\"content\": \"<|audio_pad|>\"", "\"content\": \"<|audio_pod|>\"", "no token <|audio_pad|>" },
        { "tokenizer_config.json", "Qwen2Tokenizer", "OtherTokenizer", "the tokenizer_class is 'OtherTokenizer'" },
        { "tokenizer_config.json", "\"588\"", "\"9999999\"", "want a text, for an id below" },
        { "tokenizer_config.json", "{\n", "[\n", "tokenizer_config.json" },
        { "vocab.json", "\"!\": 0", "\"!\": 1", "vocab.json" },
        { "vocab.json", "\"!\": 0", "\"\xe6\xbc\xa2\": 0", "stands for no byte" },
        { "merges.txt", "e r\n", "er\n", "merges.txt: line 3 is not a pair" },
        { "merges.txt", "e r\n", " er\n", "merges.txt: line 3 is not a pair" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct folder d = qwen_folder();
        put_changed(&d, qwen_dir, wrong[i].file, wrong[i].from, wrong[i].to);
        refused(d.path, wrong[i].why);
        folder_remove(&d);
    }
    const struct folder d = qwen_folder();
    assert_int_equal(unlink(folder_at(&d, "tokenizer_config.json").path), 0);
    refused(d.path, "vocab.json needs tokenizer_config.json beside it");
    assert_int_equal(unlink(folder_at(&d, "merges.txt").path), 0);
    refused(d.path, "the model has no tokenizer");
    folder_remove(&d);
}

static void test_a_missing_tensor_is_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *from, *to, *why; } wrong[] = {
        { "thinker.audio_tower.conv2d2.weight", "thinker.audio_tower.conv2d9.weight", "audio_tower.conv2d2.weight is missing" },
        { "thinker.audio_tower.conv_out.weight", "thinker.audio_tower.conv_owt.weight", "audio_tower.conv_out.weight is missing" },
        { "thinker.audio_tower.ln_post.bias", "thinker.audio_tower.ln_past.bias", "audio_tower.ln_post.bias is missing" },
        { "thinker.audio_tower.proj1.weight", "thinker.audio_tower.proj9.weight", "audio_tower.proj1.weight is missing" },
        { "thinker.audio_tower.layers.1.self_attn.k_proj.bias", "thinker.audio_tower.layers.1.self_attn.x_proj.bias",
          "audio_tower.layers.1.self_attn.linear_k.bias is missing" },
        { "thinker.model.layers.1.mlp.up_proj.weight", "thinker.model.layers.1.mlp.xx_proj.weight", "mlp.up_proj.weight is missing" },
        { "thinker.model.embed_tokens.weight", "thinker.model.embed_takens.weight", "the embedding of tokens" },
    };
    const struct folder d = qwen_folder();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(strlen(wrong[i].from), strlen(wrong[i].to)); /* offsets stay */
        put_changed(&d, qwen_dir, "model.safetensors", wrong[i].from, wrong[i].to);
        refused(d.path, wrong[i].why);
    }
    folder_remove(&d);
}

static void test_settings_of_an_aligner_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *file, *from, *to, *why; } wrong[] = {
        { "config.json", "\"classify_num\": 500", "\"classify_none\": 500", "classify_num is missing" },
        { "config.json", "\"classify_num\": 500", "\"classify_num\": 0", "classify_num is 0" },
        { "config.json", "\"classify_num\": 500", "\"classify_num\": 2000000000", "classify_num is 2000000000" },
        { "config.json", "\"classify_num\": 500", "\"classify_num\": 501", "lm_head.weight is [500, 64]" },
        { "config.json", "\"classify_num\": 500", "\"classify_num\": \"many\"", "classify_num is text" },
        { "config.json", "\"timestamp_segment_time\": 80", "\"timestamp_segment_time\": 0", "timestamp_segment_time is 0" },
        { "config.json", "\"timestamp_token_id\": 595", "\"timestamp_taken_id\": 595", "timestamp_token_id is missing" },
        { "config.json", "\"timestamp_token_id\": 595", "\"timestamp_token_id\": 594", "timestamp_token_id is 594, but <timestamp> is" },
        { "config.json", "\"audio_token_id\": 593", "\"audio_token_id\": 592", "audio_token_id is 592, but <|audio_pad|> is token 593" },
        { "config.json", "\"output_dim\": 64", "\"output_dim\": 32", "audio_tower.proj2.weight is [64, 64]" },
        { "model.safetensors", "thinker.lm_head.weight", "thinker.lm_heat.weight", "the head of the aligner, lm_head.weight or" },
        { "model.safetensors", "thinker.audio_tower.conv2d2.weight", "thinker.audio_tower.conv2d9.weight", "conv2d2.weight is missing" },
        { "tokenizer_config.json", "<timestamp>", "<timestomp>", "no token <timestamp>" },
        { "tokenizer_config.json", "\"content\": \"<|audio_end|>\"", "\"content\": \"<|audio_and|>\"", "no token <|audio_end|>" },
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        const struct folder d = qwen_folder_of(aligner_dir);
        put_changed(&d, aligner_dir, wrong[i].file, wrong[i].from, wrong[i].to);
        refused(d.path, wrong[i].why);
        folder_remove(&d);
    }
    const struct folder d = qwen_folder_of(aligner_dir);
    assert_int_equal(unlink(folder_at(&d, "merges.txt").path), 0);
    refused(d.path, "the model has no tokenizer");
    folder_remove(&d);
}

/* Every number and every truth value of the settings, replaced one at a time. */
static void walk(const char *dir)
{
    static const char *const other[] = { "0", "-1", "3", "1024", "2147483647", "1e30", "null", "\"x\"", "[]", "true" };
    static const char *const files[] = { "config.json", "tokenizer_config.json", "generation_config.json" };
    const struct folder d = qwen_folder_of(dir);
    int taken = 0, said = 0;
    steno_error e;
    for (size_t f = 0; f < 3; f++) {
        size_t n;
        char *bytes = qwen_bytes_of(dir, files[f], &n), *out = malloc(n + 64);
        assert_non_null(out);
        for (size_t at = 0; at + 2 < n; at++) {
            if (bytes[at] != ':') continue;
            const size_t from = at + 2, len = strcspn(bytes + from, ",\n}");
            if (!strchr("0123456789tf-", bytes[from])) continue;
            for (size_t k = (f + at) % 5; k < sizeof other / sizeof *other; k += SANITIZED ? 10 : 5) {
                memcpy(out, bytes, from);
                char *end = stpcpy(out + from, other[k]);
                memcpy(end, bytes + from + len, n - from - len);
                folder_put(&d, files[f], out, (size_t)(end - out) + n - from - len);
                const int rc = try_it(d.path, &e);
                if (rc && !*e.text) fail_msg("%s: byte %zu as %s: %d without a reason", files[f], from, other[k], rc);
                *(rc ? &said : &taken) += 1;
            }
        }
        folder_put(&d, files[f], bytes, n);
        free(bytes);
        free(out);
    }
    print_message("%d taken, %d refused\n", taken, said);
    assert_true(taken > (SANITIZED ? 5 : 20) && said > (SANITIZED ? 2 : 10));
    folder_remove(&d);
}

static void test_a_walk_over_all_settings_ends_in_a_model_or_a_reason(void **state)
{
    (void)state;
    walk(qwen_dir);
}

static void test_a_walk_over_the_settings_of_an_aligner(void **state)
{
    (void)state;
    walk(aligner_dir);
}

/* Weights that end early. */
static void test_files_that_end_early_are_refused(void **state)
{
    (void)state;
    const struct folder d = qwen_folder();
    size_t n;
    steno_error e;
    char *bytes = qwen_bytes("model.safetensors", &n);
    for (size_t cut = 0; cut < n; cut += n / (SANITIZED ? 7 : 41)) {
        folder_put(&d, "model.safetensors", bytes, cut);
        if (!try_it(d.path, &e) || !strstr(e.text, "model.safetensors")) fail_msg("%zu bytes: \"%s\"", cut, e.text);
    }
    free(bytes);
    folder_remove(&d);
}

static void test_the_path_of_a_language_model_is_refused(void **state)
{
    (void)state;
    steno_model *m = NULL;
    steno_model_params p;
    steno_error e;
    steno_model_params_init(&p);
    p.llm = "models/none.gguf";
    assert_int_equal(steno_model_open(&m, qwen_dir, &p, &e), STENO_EARG);
    assert_non_null(strstr(e.text, "llm is for models whose language model is another file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_settings_are_refused_by_name),
        cmocka_unit_test(test_other_features_are_refused_by_name),
        cmocka_unit_test(test_tokenizers_are_refused_by_name),
        cmocka_unit_test(test_a_missing_tensor_is_refused_by_name),
        cmocka_unit_test(test_settings_of_an_aligner_are_refused_by_name),
        cmocka_unit_test(test_a_walk_over_all_settings_ends_in_a_model_or_a_reason),
        cmocka_unit_test(test_a_walk_over_the_settings_of_an_aligner),
        cmocka_unit_test(test_files_that_end_early_are_refused),
        cmocka_unit_test(test_the_path_of_a_language_model_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
