/* steno tests: refusals of whisper.cpp's files of transducers. SPDX-License-Identifier: MIT
 *
 * Each refusal is proved by changing one number or one name of tests/data/fuzz/ggml/tdt. */
#include "api/model_bytes.h"

enum { /* places of numbers */
    VOCAB = 4, STATE = 12, HEADS = 16, LAYERS = 20, MELS = 24, FTYPE = 28, FFT = 32, FACTOR = 36, CHANNELS = 40, KERNEL = 44, PRED = 48,
    PRED_LAYERS = 52, DURATIONS = 56, SYMBOLS = 60, FILTERS = 64, WINDOW = 72 + 8 * 257 * 4, DURATION = WINDOW + 4 + 1600,
       PIECES = DURATION + 12
};

static struct model_bytes small(void)
{
    return model_bytes_read("tests/data/fuzz/ggml/tdt", 1); /* behind the byte for the fuzz target */
}

static void set(struct model_bytes *b, size_t at, uint32_t v)
{
    for (int i = 0; i < 4; i++) b->p[at + (size_t)i] = (uint8_t)(v >> 8 * i);
}

static void test_the_small_file_is_read(void **state)
{
    (void)state;
    struct model_bytes b = small();
    steno_error e;
    if (model_bytes_open(&b, &e)) fail_msg("%s", e.text);
    free(b.p);
}

static const struct { size_t at; uint32_t v; const char *says; } numbers[] = {
    { VOCAB, 0, "header: tdt.n_vocab is 0, want 1..1048575" }, { VOCAB, 6, "the vocabulary has 5 pieces, n_vocab is 6" },
    { VOCAB, 4, "vocabulary has 5 strings, want 1..4 (n_vocab)" }, { VOCAB, 0xffffffff, "tdt.n_vocab is -1" },
    { STATE, 16, "want [16" }, { STATE, 0, "tdt.n_audio_state is 0" }, { HEADS, 3, "3 heads do not divide a width of 8" },
    { LAYERS, 2, "tensor encoder.layers.1." }, { LAYERS, 1025, "tdt.n_audio_layer is 1025, want 1..1024" },
    { MELS, 9, "mel filters are [8, 257], want [9, 257]" }, { FTYPE, 99, "ftype 99 is unknown" },
    { FFT, 513, ": tdt.n_fft is 513, this version supports 512" },
    { FFT, 1024, "mel filters are [8, 257], want [8, 513]" }, { FACTOR, 4, ": tdt.subsampling_factor is 4, this version supports 8" },
    { CHANNELS, 3, "want [3" }, { KERNEL, 4, "a filter of 4 taps, want an odd number" }, { KERNEL, 5, "want [8, 5]" },
    { PRED, 16, "want [6, 16]" }, { PRED_LAYERS, 2, "tensor decoder.prediction.dec_rnn.lstm." },
    { PRED_LAYERS, 0, "tdt.n_pred_layers is 0" },
    { DURATIONS, 65, "tdt.n_tdt_durations is 65, want 1..64" }, { DURATIONS, 0, "tdt.n_tdt_durations is 0" },
    { SYMBOLS, 0, "tdt.n_max_tokens is 0" }, { FILTERS, 9, "mel filters are [9, 257], want [8, 257]" },
    { FILTERS + 4, 256, "mel filters are [8, 256], want [8, 257]" }, { WINDOW, 0, "the window has 0 numbers, want 1..512 (n_fft)" },
    { WINDOW, 513, "the window has 513 numbers" }, { WINDOW, 0xffffffff, "the window has -1 numbers" },
    { DURATION, 65, "durations.0 is 65, want 0..64" }, { DURATION + 4, 0xffffffff, "durations.1 is -1" },
    { PIECES, 0, "vocabulary has 0 strings" }, { PIECES, 6, "vocabulary has 6 strings, want 1..5" },
    { PIECES + 4, 5000, "has length 5000, want at most 4096" },
    { 80, 0xbf800000, "preprocessor.featurizer.fb has -1, want no number below 0" }, { 80, 0x7fc00000, "preprocessor.featurizer.fb" },
    { WINDOW + 8, 0xff800000, "preprocessor.featurizer.window" },
};

static void test_wrong_numbers_are_refused_by_name(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct model_bytes b = small();
        steno_error e;
        set(&b, numbers[i].at, numbers[i].v);
        const int rc = model_bytes_open(&b, &e);
        if ((rc != STENO_EFORMAT && rc != STENO_EUNSUPPORTED) || !strstr(e.text, numbers[i].says))
            fail_msg("%zu: %d, '%s', want '%s'", numbers[i].at, rc, e.text, numbers[i].says);
        free(b.p);
    }
}

/* Records of tensors; the new name has the same length. */
static const struct { const char *from, *to, *says; } names[] = {
    { "lstm.bias_h_l0", "lstm.bias_h_l1", "tensor decoder.prediction.dec_rnn.lstm.bias_ih_l0 is missing" },
    { "lstm.weight_hh_l0", "lstm.weight_hh_l9", "tensor decoder.prediction.dec_rnn.lstm.weight_hh_l0 is missing" },
    { "joint.enc.weight", "joint.old.weight", "the joint network's matrices are missing" },
    { "encoder.pre_encode.out.bias", "encoder.pre_encode.new.bias", "tensor encoder.pre_encode.out.bias is missing" },
    { "joint.pred.bias", "joint.enc.bias\t", "its name has byte 0x09" },
    { "encoder.layers.0.norm_out.bias", "encoder.layers.0.norm_con.bias", "is missing" },
};

static void test_missing_and_unknown_tensors_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct model_bytes b = small();
        steno_error e;
        memcpy(model_bytes_find(&b, names[i].from), names[i].to, strlen(names[i].to));
        const int rc = model_bytes_open(&b, &e);
        if (rc != STENO_EFORMAT || !strstr(e.text, names[i].says)) fail_msg("%s: %d, '%s'", names[i].to, rc, e.text);
        free(b.p);
    }
}

static void test_a_record_s_numbers_are_not_trusted(void **state)
{
    /* In front of the name: rank, length of the name, type, extent. */
    static const struct { int back; uint32_t v; const char *says; } row[] = {
        { 16, 5, "n_dims is 5, want 0..4" }, { 16, 0xffffffff, "n_dims is -1" }, { 12, 0, "name length is 0" },
        { 12, 256, "name length is 256" },
        { 8, 77, "has the unknown type 77" }, { 4, 0, "extent 0 is out of range" }, { 4, 0x7fffffff, "the file ends at" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct model_bytes b = small();
        steno_error e;
        const uint8_t *name = model_bytes_find(&b, "decoder.prediction.dec_rnn.lstm.bias_h_l0");
        set(&b, (size_t)(name - b.p) - (size_t)row[i].back, row[i].v);
        const int rc = model_bytes_open(&b, &e);
        if (rc != STENO_EFORMAT || !strstr(e.text, row[i].says))
            fail_msg("%d, %u: %d, '%s'", row[i].back, (unsigned)row[i].v, rc, e.text);
        free(b.p);
    }
}

static void test_the_file_may_be_cut_nowhere(void **state)
{
    (void)state;
    struct model_bytes b = small();
    model_bytes_cuts_are_refused(&b, 200, 1);
    model_bytes_cuts_are_refused(&b, b.n, 97);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_small_file_is_read),
        cmocka_unit_test(test_wrong_numbers_are_refused_by_name),
        cmocka_unit_test(test_missing_and_unknown_tensors_are_refused),
        cmocka_unit_test(test_a_record_s_numbers_are_not_trusted),
        cmocka_unit_test(test_the_file_may_be_cut_nowhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
