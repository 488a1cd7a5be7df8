/* steno tests: refusals of NVIDIA's GGUF files. SPDX-License-Identifier: MIT
 *
 * Each refusal is proved by changing one value of tests/data/fuzz/open/asr-tdt.gguf or asr-ctc.gguf, which are small models. */
#include "api/model_bytes.h"

static struct model_bytes small(const char *head)
{
    char path[80];
    snprintf(path, sizeof path, "tests/data/fuzz/open/asr-%s.gguf", head);
    return model_bytes_read(path, 1); /* behind the byte for the fuzz target */
}

/* The value of a key, behind its type. */
static uint8_t *value_of(struct model_bytes *b, const char *key)
{
    return model_bytes_find(b, key) + strlen(key) + 4;
}

static void test_small_models_are_read(void **state)
{
    static const char *const head[] = { "tdt", "ctc" };
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct model_bytes b = small(head[i]);
        steno_error e;
        if (model_bytes_open(&b, &e)) fail_msg("%s", e.text);
        free(b.p);
    }
}

/* at: bytes of the value that are skipped. text: replaces as many bytes; NULL: the number v in four bytes */
static const struct { const char *head, *key; int at; const char *text; uint32_t v; const char *says; } bad[] = {
    { "tdt", "asr.head_type", 8, "aed", 0, "asr.head_type is aed, this version supports ctc, rnnt and tdt" },
    { "tdt", "general.architecture", 8, "asx", 0, "a GGUF file of the architecture asx; no model family" },
    { "tdt", "asr.encoder.q8_layout", 8, "tensor_pla", 0, "asr.encoder.q8_layout is tensor_pla, this version supports block_q8_0" },
    { "tdt", "asr.encoder.qkv_q8_layout", 8, "tensor_pla", 0, "asr.encoder.qkv_q8_layout is tensor_pla" },
    { "tdt", "asr.encoder.conv_norm", 8, "layer_norm", 0, "asr.encoder.conv_norm is layer_norm, this version supports batch_norm" },
    { "tdt", "asr.encoder.conv_context", 8, "caus", 0, "asr.encoder.conv_context is caus, this version supports None" },
    { "tdt", "asr.encoder.att_context_style", 8, "chunked", 0, "asr.encoder.att_context_style is chunked" },
    { "tdt", "asr.preprocessor.normalize", 8, "all_feature", 0, "asr.preprocessor.normalize is all_feature" },
    { "tdt", "asr.tokenizer.type", 8, "sentencepiece_uni", 0, "asr.tokenizer.type is sentencepiece_uni" },
    { "tdt", "asr.preprocessor.stft_center_window", 0, "", 0, "asr.preprocessor.stft_center_window is false, this version supports true" },
    { "tdt", "asr.preprocessor.hann_periodic", 0, "\1", 0, "asr.preprocessor.hann_periodic is true" },
    { "tdt", "asr.preprocessor.mask_invalid_frames", 0, "", 0, "asr.preprocessor.mask_invalid_frames is false" },
    { "tdt", "asr.preprocessor.hann_periodic", 0, "\2", 0, "is true or false, but stored as 2" },
    { "tdt", "asr.preprocessor.sample_rate", 0, NULL, 8000, "asr.preprocessor.sample_rate is 8000, this version supports 16000" },
    { "tdt", "asr.preprocessor.n_fft", 0, NULL, 400, "asr.preprocessor.n_fft is 400, this version supports 512" },
    { "tdt", "asr.preprocessor.window_size", 0, NULL, 0x3ca3d70a, "asr.preprocessor.window_size is 0.02, this version supports 0.025" },
    { "tdt", "asr.preprocessor.preemph", 0, NULL, 0x7fc00000, "asr.preprocessor.preemph" },
    { "tdt", "asr.preprocessor.features", 0, NULL, 9, "asr.preprocessor.features is 9, asr.encoder.feat_in 8" },
    { "tdt", "asr.rnnt.num_prompts", 0, NULL, 128, "asr.rnnt.num_prompts is 128, this version supports 0" },
    { "tdt", "asr.rnnt.vocab_size", 0, NULL, 7, ": asr.rnnt.blank_id is 5, want 6..6" },
    { "tdt", "asr.rnnt.vocab_size", 0, NULL, 0, ": asr.rnnt.vocab_size is 0" },
    { "tdt", "asr.rnnt.blank_id", 0, NULL, 4, ": asr.rnnt.blank_id is 4" },
    { "tdt", "asr.rnnt.pred_hidden", 0, NULL, 16, "want [6, 16]" }, { "tdt", "asr.rnnt.pred_num_layers", 0, NULL, 2, "lstm." },
    { "tdt", "asr.rnnt.max_symbols_per_step", 0, NULL, 0, ": asr.rnnt.max_symbols_per_step is 0" },
    { "tdt", "asr.encoder.d_model", 0, NULL, 16, "want [16" }, { "tdt", "asr.encoder.d_model", 0, NULL, 0, ": asr.encoder.d_model is 0" },
    { "tdt", "asr.encoder.n_layers", 0, NULL, 2, "encoder.layers.1." }, { "tdt", "asr.encoder.n_heads", 0, NULL, 3, "3 heads do not" },
    { "tdt", "asr.encoder.d_ff", 0, NULL, 17, "want [17" }, { "tdt", "asr.encoder.conv_kernel_size", 0, NULL, 4, "want an odd number" },
    { "tdt", "asr.encoder.subsampling_factor", 0, NULL, 4, ": asr.encoder.subsampling_factor is 4, this version supports 8" },
    { "tdt", "asr.encoder.subsampling_conv_channels", 0, NULL, 3, "want [3" },
    { "tdt", "asr.encoder.feat_in", 0, NULL, 16, "asr.preprocessor.features is 8, asr.encoder.feat_in 16" },
    { "tdt", "asr.encoder.offline_left_ctx", 0, NULL, 0xfffffffe, ": asr.encoder.offline_left_ctx is -2" },
    { "tdt", "asr.encoder.offline_left_ctx", -21, "x", 0, "encoder.att_context_size is not a pair" },
    { "tdt", "asr.tdt.durations", 12, NULL, 0xffffffff, "asr.tdt.durations has -1, want 0..64" },
    { "tdt", "asr.tdt.durations", 12, NULL, 65, "asr.tdt.durations has 65" },
    { "tdt", "asr.tdt.durations", -10, "D", 0, "asr.tdt.durations is missing" },
    { "tdt", "asr.tokenizer.spm_model", 8, "*", 0, "asr.tokenizer.spm_model is no SentencePiece model in base64" },
    { "tdt", "asr.tokenizer.spm_model", 8, "AAAA", 0, "asr.tokenizer.spm_model is no SentencePiece model in base64" },
    { "tdt", "asr.tokenizer.spm_model", 40, "////", 0, "piece 1 at byte 16 is damaged" },
    { "ctc", "asr.ctc.num_classes", 0, NULL, 6, "asr.ctc.blank_id is 5" },
    { "ctc", "asr.ctc.blank_id", 0, NULL, 0, "asr.ctc.blank_id is 0" },
    { "ctc", "asr.ctc.num_classes", 0, NULL, 0, "asr.ctc.num_classes is 0" },
    { "ctc", "asr.head_type", 8, "tdt", 0, "asr.tdt.durations is missing" },
    { "ctc", "asr.head_type", 8, "rnn", 0, "asr.head_type is rnn" },
    { "tdt", "asr.head_type", 8, "ctc", 0, "asr.ctc.num_classes is missing" },
};

static void test_other_values_are_refused_by_key(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct model_bytes b = small(bad[i].head);
        steno_error e;
        uint8_t *at = value_of(&b, bad[i].key) + bad[i].at;
        if (!bad[i].text) memcpy(at, &bad[i].v, 4);
        else memcpy(at, bad[i].text, *bad[i].text ? strlen(bad[i].text) : 1); /* "": a zero */
        const int rc = model_bytes_open(&b, &e);
        if ((rc != STENO_EFORMAT && rc != STENO_EUNSUPPORTED) || !strstr(e.text, bad[i].says))
            fail_msg("%s: %d, '%s', want '%s'", bad[i].key, rc, e.text, bad[i].says);
        free(b.p);
    }
}

static void test_missing_tensors_are_refused(void **state)
{
    static const char *const name[] = { "lstm.ih_l0.weight", "lstm.hh_l0.bias", "joint.enc.weight", "norm_out.bias" };
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct model_bytes b = small("tdt");
        steno_error e;
        model_bytes_find(&b, name[i])[2] = 'x';
        const int rc = model_bytes_open(&b, &e);
        if (rc != STENO_EFORMAT || !strstr(e.text, "missing")) fail_msg("%s: %d, '%s'", name[i], rc, e.text);
        free(b.p);
    }
}

static void test_a_file_may_be_cut_nowhere(void **state)
{
    (void)state;
    struct model_bytes b = small("ctc");
    model_bytes_cuts_are_refused(&b, b.n - 32, 61);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_models_are_read),
        cmocka_unit_test(test_other_values_are_refused_by_key),
        cmocka_unit_test(test_missing_tensors_are_refused),
        cmocka_unit_test(test_a_file_may_be_cut_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
