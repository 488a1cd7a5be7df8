/* steno tests: refusals of .nemo files. SPDX-License-Identifier: MIT
 *
 * The small models of tests/data/fuzz/nemo, with one setting or one name changed. The last line of their settings is a comment, which gives
 * room. */
#include "api/model_bytes.h"

static struct model_bytes file_bytes(const char *name)
{
    char path[80];
    snprintf(path, sizeof path, "tests/data/fuzz/nemo/%s", name);
    return model_bytes_read(path, 0);
}

/* Replace the first `from` in the file's settings. */
static void change(struct model_bytes *b, const char *from, const char *to)
{
    const size_t m = strlen(from), n = strlen(to);
    uint8_t *at = model_bytes_find(b, from), *room = model_bytes_find(b, "....");
    if (n > m) memmove(at + n, at + m, (size_t)(room - at) - m);
    memset(at, ' ', m);
    memcpy(at, to, n);
}

static void test_small_models_are_read(void **state)
{
    static const char *const name[] = { "ctc", "tdt", "rnnt" };
    (void)state;
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        struct model_bytes b = file_bytes(name[i]);
        steno_error e;
        if (model_bytes_open(&b, &e)) fail_msg("%s: %s", name[i], e.text);
        free(b.p);
    }
}

static void test_a_model_s_description_has_durations_and_attention(void **state)
{
    static const struct { const char *name, *family, *head, *durations; int before, after; } row[] = {
        { "ctc", "parakeet-ctc", "ctc", "", -1, -1 }, { "tdt", "parakeet", "tdt", "0 1 3", 4, 2 },
        { "rnnt", "parakeet", "rnnt", "", -1, -1 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct model_bytes b = file_bytes(row[i].name);
        steno_model *m;
        steno_model_info info = { .size = sizeof info };
        assert_int_equal(steno_model_open_memory(&m, b.p, b.n, NULL, NULL), STENO_OK);
        assert_int_equal(steno_model_info_get(m, &info), STENO_OK);
        assert_string_equal(info.format, "NeMo");
        assert_string_equal(info.family, row[i].family);
        assert_string_equal(info.name, row[i].head);
        assert_string_equal(info.durations, row[i].durations);
        assert_int_equal(info.attention_before, row[i].before);
        assert_int_equal(info.attention_after, row[i].after);
        steno_model_close(m);
        free(b.p);
    }
}

static void test_a_style_of_attention_is_refused_before_what_follows_from_it(void **state)
{
    (void)state;
    struct model_bytes b = file_bytes("rnnt");
    steno_error e;
    change(&b, "batch_norm", "layer_norm");
    change(&b, "xscaling: false", "att_context_style: chunked_limited_with_rc");
    assert_int_equal(model_bytes_open(&b, &e), STENO_EUNSUPPORTED);
    if (!strstr(e.text, "encoder.att_context_style is chunked_limited_with_rc")) fail_msg("%s", e.text);
    free(b.p);
}

#define UNSUPPORTED STENO_EUNSUPPORTED
#define FORMAT STENO_EFORMAT

static const struct { const char *from, *to; int status; const char *says; } bad[] = {
    { "dw_striding", "striding", UNSUPPORTED, "encoder.subsampling is striding, this version supports dw_striding" },
    { "batch_norm", "group_norm", UNSUPPORTED, "encoder.conv_norm_type is group_norm" },
    { "self_attention_model: rel_pos", "self_attention_model: abs_pos", UNSUPPORTED, "encoder.self_attention_model is abs_pos" },
    { "xscaling: false", "att_context_style: chunked_limited", UNSUPPORTED, "encoder.att_context_style is chunked_limited" },
    { "xscaling: false", "conv_context_size: causal", UNSUPPORTED, "encoder.conv_context_size is causal, this version supports none" },
    { "xscaling: false", "causal_downsampling: true", UNSUPPORTED, "encoder.causal_downsampling is true, this version supports false" },
    { "xscaling: false", "untie_biases: false", UNSUPPORTED, "encoder.untie_biases is false" },
    { "xscaling: false", "reduction: pooling", UNSUPPORTED, "encoder.reduction is pooling" },
    { "xscaling: false", "feat_out: 4", UNSUPPORTED, "encoder.feat_out is 4, this version supports -1" },
    { "xscaling: false", "global_tokens: 1", UNSUPPORTED, "encoder.global_tokens is 1, this version supports 0" },
    { "subsampling_factor: 8", "subsampling_factor: 4", UNSUPPORTED, ": encoder.subsampling_factor is 4, this version supports 8" },
    { "per_feature", "all_features", UNSUPPORTED, "preprocessor.normalize is all_features, this version supports per_feature" },
    { "16000", "22050", UNSUPPORTED, "preprocessor.sample_rate is 22050, this version supports 16000" },
    { "window_size: 0.025", "window_size: 0.020", UNSUPPORTED, "preprocessor.window_size is 0.02, this version supports 0.025" },
    { "window: hann", "window: hamm", UNSUPPORTED, "preprocessor.window is hamm, this version supports hann" },
    { "n_fft: 512", "n_fft: 400", UNSUPPORTED, "preprocessor.n_fft is 400" },
    { "frame_splicing: 1", "frame_splicing: 3", UNSUPPORTED, "preprocessor.frame_splicing is 3" },
    { "frame_splicing: 1", "preemph: 0.95", UNSUPPORTED, "preprocessor.preemph is 0.95" },
    { "n_fft: 512", "n_fft: big", FORMAT, "preprocessor.n_fft" },
    { "log: true", "log: false", UNSUPPORTED, "preprocessor.log is false" },
    { "type: bpe", "type: wpe", UNSUPPORTED, "tokenizer.type is wpe, this version supports bpe" },
    { "nemo:t.model", "nemo:u.model", FORMAT, "u.model is missing in the archive" },
    { "decoding:", "decoder: {normalization_mode: batch}\ndecoding:", UNSUPPORTED, "decoder.normalization_mode is batch" },
    { "decoding:", "decoder: {_target_: StatelessTransducerDecoder}\ndecoding:", UNSUPPORTED, "this version supports an LSTM" },
    { "decoding:", "joint: {jointnet: {activation: tanh}}\ndecoding:", UNSUPPORTED, "joint.jointnet.activation is tanh" },
    { "decoding: {", "decoding: {big_blank_durations: [2], ", UNSUPPORTED,
      ": decoding.big_blank_durations is set, this version supports one blank" },
    { "decoding:", "loss: {multiblank_rnnt_kwargs: {big_blank_durations: [2]}}\ndecoding:", UNSUPPORTED,
      ": loss.multiblank_rnnt_kwargs.big_blank_durations is set" },
    { "[0, 1, 3]", "[0, 1]", FORMAT, "the joint network has 9 outputs, want 5 pieces, a blank and 2 durations" },
    { "[0, 1, 3]", "[0, 1, 3, 4]", FORMAT, "the joint network has 9 outputs, want 5 pieces, a blank and 4 durations" },
    { "[0, 1, 3]", "[0, -1, 3]", FORMAT, ": decoding.durations.1 is -1" },
    { "[0, 1, 3]", "[0, 65, 3]", FORMAT, ": decoding.durations.1 is 65" },
    { "[0, 1, 3]", "[0, x, 3]", FORMAT, ": decoding.durations.1 is text" },
    { "max_symbols: 2", "max_symbols: 0", FORMAT, ": decoding.greedy.max_symbols is 0" },
    { "[[4, 2], [1, 1]]", "[4]", FORMAT, "encoder.att_context_size is not a pair of numbers" },
    { "[[4, 2], [1, 1]]", "[4, 2, 1]", FORMAT, "encoder.att_context_size is not a pair of numbers" },
    { "[[4, 2], [1, 1]]", "[[4], [1]]", FORMAT, "encoder.att_context_size.0 is not a pair of numbers" },
    { "[[4, 2], [1, 1]]", "4", FORMAT, "encoder.att_context_size is not a pair of numbers" },
    { "[[4, 2], [1, 1]]", "[4, -2]", FORMAT, "encoder.att_context_size.1 is -2" },
    { "d_model: 8", "d_model: 16", FORMAT, "want [16" },
    { "n_heads: 2", "n_heads: 3", FORMAT, "3 heads do not divide a width of 8" },
    { "n_layers: 1", "n_layers: 2", FORMAT, "tensor encoder.layers.1." },
    { "conv_kernel_size: 3", "conv_kernel_size: 4", FORMAT, "a filter of 4 taps, want an odd number" },
    { "feat_in: 8", "feat_in: 0", FORMAT, ": encoder.feat_in is 0" },
    { "./model_weights.ckpt", "./model_weights.old", FORMAT, "the tar header at byte" }, /* the checksum is older */
    { "EncDecHybridRNNTCTCBPEModel", "EncDecMultiTaskModel", UNSUPPORTED, "a model of the type nemo.EncDecMultiTaskModel" },
    { "target: nemo", "target: [nem", FORMAT, "model_config.yaml: line" },
};

/* The first name of a tensor, whose length stays. */
static void test_models_for_several_speakers_are_refused_by_name(void **state)
{
    (void)state;
    struct model_bytes b = file_bytes("ctc");
    steno_error e;
    change(&b, "encoder.pre_encode.conv.0.weight", "spk_kernels.0.encode.conv.weight");
    assert_int_equal(model_bytes_open(&b, &e), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "tensor spk_kernels.0.encode.conv.weight is of a model that needs the activity of each speaker"));
    free(b.p);
}

static void test_archives_without_weights_are_refused(void **state)
{
    static const struct { const char *name, *says; } row[] = {
        { "no_weights", "model_weights.ckpt is missing in the archive" }, { "base256", "t.model is missing in the archive" },
        { "link", "is of type 0x32; want files and folders" }, { "twice", "model_config.yaml is in the tar archive twice" },
        { "past_end", "is the copy complete?" }, { "cut", "is the copy complete?" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct model_bytes b = file_bytes(row[i].name);
        steno_error e;
        assert_int_equal(model_bytes_open(&b, &e), STENO_EFORMAT);
        if (!strstr(e.text, row[i].says)) fail_msg("%s: %s", row[i].name, e.text);
        free(b.p);
    }
}

static void test_an_archive_may_be_cut_nowhere(void **state)
{
    (void)state;
    struct model_bytes b = file_bytes("ctc");
    model_bytes_cuts_are_refused(&b, b.n - 1024, 251);
    free(b.p);
}

static void test_a_compressed_archive_is_refused_with_what_to_do(void **state)
{
    (void)state;
    static uint8_t gzip[] = "\x1f\x8b\10\0\0\0\0\0";
    steno_error e;
    assert_int_equal(model_bytes_open(&(struct model_bytes){ gzip, sizeof gzip }, &e), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "this is a gzip archive; decompress it (gunzip <OLD >NEW), and give the .nemo file"));
}

static void test_other_settings_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct model_bytes b = file_bytes("tdt");
        steno_error e;
        change(&b, bad[i].from, bad[i].to);
        const int rc = model_bytes_open(&b, &e);
        if (rc != bad[i].status || !strstr(e.text, bad[i].says))
            fail_msg("'%s': %d, '%s', want '%s'", bad[i].to, rc, e.text, bad[i].says);
        free(b.p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small_models_are_read),
        cmocka_unit_test(test_a_style_of_attention_is_refused_before_what_follows_from_it),
        cmocka_unit_test(test_a_model_s_description_has_durations_and_attention),
        cmocka_unit_test(test_models_for_several_speakers_are_refused_by_name),
        cmocka_unit_test(test_archives_without_weights_are_refused),
        cmocka_unit_test(test_an_archive_may_be_cut_nowhere),
        cmocka_unit_test(test_a_compressed_archive_is_refused_with_what_to_do),
        cmocka_unit_test(test_other_settings_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
