/* steno tests: Whisper models as MLX keeps them. SPDX-License-Identifier: MIT
 *
 * The shipped model is written out as folders of MLX's kind. Where the values of its weights are the same, every bit of the results must
 * be; quantised folders give the text of the folder with the widened numbers of their groups. */
#include "api/convert.h"
#include "mlx_folder.h"
#include "transcript.h"

#ifdef _WIN32 /* widths of groups are the same arithmetic there, and Wine takes minutes for all of them */
enum { STEP = 2 };
#else
enum { STEP = 1 };
#endif

static steno_model *open_with(const char *path, enum steno_compute compute)
{
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.vocab = shipped_model;
    p.compute = (int32_t)compute;
    if (steno_model_open(&m, path, &p, &e)) fail_msg("%s", e.text);
    return m;
}

/* The shipped model with the positions that a folder without them gets. */
static struct shipped_text said_with_positions(const struct weights *w, const struct file *f)
{
    const struct bytes b = opened_bytes(f);
    const struct whisper_dims d = stored_dims(w);
    const int half = d.n_audio_state / 2;
    const struct tensor *t = NULL;
    for (uint32_t i = 0; i < w->n_tensors; i++)
        if (!strcmp(w->tensor[i].name, "encoder.positional_embedding")) t = &w->tensor[i];
    assert_true(t && t->type == DT_F32);
    float *table = (float *)(void *)malloc((size_t)t->size);
    assert_non_null(table);
    for (int p = 0; p < d.n_audio_ctx; p++)
        for (int i = 0; i < half; i++) {
            const float turn = (float)p * (float)exp((double)((float)(-log(10000.0) / (half - 1)) * (float)i));
            table[p * 2 * half + i] = (float)sin((double)turn);
            table[p * 2 * half + half + i] = (float)cos((double)turn);
        }
    for (size_t i = 0; i < (size_t)t->size / sizeof *table; i++) {
        float stored;
        memcpy(&stored, b.p + t->offset + i * sizeof stored, sizeof stored);
        if (fabsf(stored - table[i]) > 1e-3f) fail_msg("position %zu is %g, and by the rule %g", i, (double)stored, (double)table[i]);
    }
    memcpy(b.p + t->offset, table, (size_t)t->size);
    free(table);
    const struct shipped_text said = shipped_text(bytes_open(b, NULL));
    free(b.p);
    return said;
}

static struct shipped_text shipped_text_as(struct source *s, const struct mlx_how *h, enum steno_compute compute)
{
    const struct folder d = folder_new();
    mlx_model(&d, &s->w, h, NULL, 0);
    const struct shipped_text said = shipped_text(open_with(d.path, compute));
    folder_remove(&d);
    return said;
}

static void test_folders_made_of_the_shipped_model_give_its_text(void **state)
{
    (void)state;
    static const struct mlx_how how[] = { { .type = DT_F32 }, { .type = DT_F32, .npz = 1 } };
    struct source src;
    source_open(&src);
    const struct shipped_text want = said_with_positions(&src.w, &src.f);
    assert_string_equal(want.text, demo_text);
    assert_true(want.ids == shipped_text(shipped_open()).ids);
    for (size_t i = 0; i < (SANITIZED ? 1 : sizeof how / sizeof *how); i++) {
        const struct shipped_text got = shipped_text_as(&src, &how[i], STENO_COMPUTE_AUTO);
        assert_string_equal(got.text, want.text);
        assert_true(got.ids == want.ids);
        if (got.all != want.all) fail_msg("%zu: same text, but times or probabilities differ", i);
    }
    source_close(&src);
}

static void test_rounding_to_two_bytes_keeps_the_text(void **state)
{
    (void)state;
    static const struct mlx_how how[] = {
        { .type = DT_F16 }, { .type = DT_F16, .npz = 1 }, { .type = DT_BF16 }, { .type = DT_BF16, .npz = 1 },
    };
    if (SANITIZED) skip();
    struct source src;
    source_open(&src);
    const struct shipped_text want = shipped_text(shipped_open());
    for (size_t i = 0; i < sizeof how / sizeof *how; i += in_full() ? 1 : 3) {
        const struct shipped_text got = shipped_text_as(&src, &how[i], STENO_COMPUTE_AUTO);
        assert_string_equal(got.text, want.text);
        assert_true(got.ids == want.ids);
    }
    source_close(&src);
}

static void test_groups_give_the_text_of_their_widened_numbers(void **state)
{
    (void)state;
    static const struct mlx_how how[] = {
        { .type = DT_F16, .bits = 8, .group = 64 },  { .type = DT_F16, .bits = 4, .group = 32, .npz = 1 },
        { .type = DT_BF16, .bits = 6, .group = 64, .npz = 2 }, { .type = DT_F32, .bits = 5, .group = 128 },
        { .type = DT_F16, .bits = 3, .group = 32 },  { .type = DT_F16, .bits = 2, .group = 32 },
    };
    struct source src;
    source_open(&src);
    for (size_t i = 0; i < (SANITIZED ? 1 : sizeof how / sizeof *how); i += STEP) {
        struct mlx_how plain = how[i];
        plain.dequantised = 1;
        const struct shipped_text want = shipped_text_as(&src, &plain, STENO_COMPUTE_F32),
                                  got = shipped_text_as(&src, &how[i], STENO_COMPUTE_F32);
        if (strcmp(got.text, want.text) != 0) fail_msg("%d bits: '%s', want '%s'", how[i].bits, got.text, want.text);
        assert_true(got.ids == want.ids);
        if (how[i].bits == 8) assert_string_equal(got.text, demo_text);
    }
    source_close(&src);
}

/* ---- other forms ---- */

static int converted(struct buf *b, const struct folder *d, const char *form, const char *type, steno_error *e)
{
    steno_convert_params p;
    steno_convert_params_init(&p);
    p.form = form;
    p.type = type;
    p.vocab = shipped_model;
    p.write = convert_take;
    p.user = b;
    buf_clear(b);
    return steno_model_convert(d->path, &p, e);
}

static struct shipped_text said_by_bytes(const struct buf *b, enum steno_compute compute)
{
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.vocab = shipped_model;
    p.compute = (int32_t)compute;
    if (steno_model_open_memory(&m, b->p, b->len, &p, &e)) fail_msg("%s", e.text);
    return shipped_text(m);
}

static void test_other_forms_give_the_text_of_the_folder(void **state)
{
    (void)state;
    static const char *const form[] = { "bin", "pt" };
    static const struct mlx_how how[] = {
        { .type = DT_F16 }, { .type = DT_F16, .bits = 4, .group = 32 }, { .type = DT_F16, .bits = 8, .group = 64 },
    };
    struct source src;
    struct buf b = { 0 };
    steno_error e;
    source_open(&src);
    for (size_t i = 0; i < (SANITIZED ? 1 : sizeof how / sizeof *how); i += STEP) {
        const struct folder d = folder_new();
        mlx_model(&d, &src.w, &how[i], NULL, 0);
        const struct shipped_text want = shipped_text(open_with(d.path, STENO_COMPUTE_F32));
        for (int k = 0; k < 2; k++) {
            if (converted(&b, &d, form[k], NULL, &e)) fail_msg("%s", e.text);
            const struct shipped_text got = said_by_bytes(&b, STENO_COMPUTE_F32);
            assert_string_equal(got.text, want.text);
            assert_true(got.ids == want.ids);
            const int same_bits = !how[i].bits || (how[i].bits == 4 && k == 0); /* groups of 4 bits are q4_1 */
            if (same_bits && got.all != want.all) fail_msg("%zu, %s: times or probabilities differ", i, form[k]);
        }
        folder_remove(&d);
    }
    buf_free(&b);
    source_close(&src);
}

static void test_groups_are_not_rounded_again_but_when_that_is_asked_for(void **state)
{
    (void)state;
    static const struct { int bits, group; const char *type; int rc; const char *says; } row[] = {
        { 0, 0, "q8_0", STENO_OK, "" },
        { 4, 32, "q4_1", STENO_OK, "" },
        { 4, 32, "f16", STENO_OK, "" },
        { 4, 32, "q8_0", STENO_EARG, "is mlx4 already, and would be rounded again" },
        { 8, 64, "q8_0", STENO_EARG, "is mlx8 already, and would be rounded again" },
    };
    struct source src;
    struct buf b = { 0 };
    source_open(&src);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const struct folder d = folder_new();
        const struct mlx_how h = { .type = DT_F16, .bits = row[i].bits, .group = row[i].group };
        steno_error e = { 0 };
        mlx_model(&d, &src.w, &h, NULL, 0);
        const int rc = converted(&b, &d, "bin", row[i].type, &e);
        if (rc != row[i].rc || (rc && !strstr(e.text, row[i].says))) fail_msg("%zu: %d, %s", i, rc, e.text);
        if (!rc && !row[i].bits) assert_string_equal(said_by_bytes(&b, STENO_COMPUTE_AUTO).text, demo_text);
        folder_remove(&d);
    }
    buf_free(&b);
    source_close(&src);
}

/* ---- a small model, so that this is quick everywhere ---- */

static struct whisper_dims const dims_64 = { 80, 30, 64, 4, 2, SMALL_VOCAB, 70, 64, 4, 2 };
static const struct mlx_how four_bits = { .type = DT_F16, .bits = 4, .group = 32 };

static void small_folder(const struct folder *d, const struct mlx_how *h, const int64_t (*heads)[2], uint64_t n_heads)
{
    const struct bytes b = random_bytes(&dims_64, DT_F32, 5);
    struct weights w;
    struct file f;
    steno_error e;
    file_from_memory(&f, "small", b.p, b.n);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    mlx_model(d, &w, h, heads, n_heads);
    spell_vocab(d, &w);
    weights_close(&w);
    free(b.p);
}

static void assert_heads(const struct folder *d, const char *want)
{
    steno_model *m;
    steno_error e;
    steno_model_info info = { .size = sizeof info };
    if (steno_model_open(&m, d->path, NULL, &e)) fail_msg("%s", e.text);
    steno_model_info_get(m, &info);
    assert_string_equal(info.alignment_heads, want);
    steno_model_close(m);
}

static void test_a_table_of_heads_is_read_and_an_empty_one_is_not(void **state)
{
    (void)state;
    static const struct { int64_t head[4][2]; uint64_t n; const char *want; } table[] = {
        { { { 0, 1 }, { 1, 3 } }, 2, "0,1 1,3" },
        { { { 1, 3 } }, 1, "1,3" },
        { { { 1, 0 }, { 1, 1 }, { 1, 2 }, { 1, 3 } }, 4, "1,0 1,1 1,2 1,3" }, /* the upper half, as without a table */
        { { { 2, 0 } }, 1, "1,0 1,1 1,2 1,3" },                               /* there is no such layer */
        { { { 0, -1 } }, 1, "1,0 1,1 1,2 1,3" },
        { { { 0, INT64_MAX } }, 1, "1,0 1,1 1,2 1,3" },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (int npz = 0; npz < 2; npz++) {
            const struct folder d = folder_new();
            const struct mlx_how h = { .type = DT_F16, .npz = npz };
            small_folder(&d, &h, table[i].head, table[i].n);
            assert_heads(&d, table[i].want);
            folder_remove(&d);
        }
}

static void assert_refused(const struct folder *d, int status, const char *says)
{
    steno_model *m;
    steno_error e = { 0 };
    const int rc = steno_model_open(&m, d->path, NULL, &e);
    if (rc != status || !strstr(e.text, says)) fail_msg("%d, \"%s\", want \"%s\"", rc, e.text, says);
}

#define DIMS(audio, text)                                                                                                        \
    "{\"n_mels\": 80, \"n_audio_ctx\": 30, " audio "\"n_audio_head\": 4, \"n_audio_layer\": 2, \"n_vocab\": 1900, "                \
    "\"n_text_ctx\": 70, \"n_text_state\": 64, \"n_text_head\": 4, \"n_text_layer\": 2" text "}"
#define STATE "\"n_audio_state\": 64, "

static void test_settings_that_contradict_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *config; int status; const char *says; } bad[] = {
        { DIMS("", ", \"quantization\": {\"group_size\": 32, \"bits\": 4}"), STENO_EFORMAT, "n_audio_state is missing" },
        { DIMS(STATE, ", \"quantization\": {\"group_size\": 32, \"bits\": 4}, \"d_model\": 48"), STENO_EFORMAT,
          "n_audio_state is 64, and d_model is something else" },
        { DIMS(STATE, ", \"quantization\": {\"group_size\": 64, \"bits\": 4}"), STENO_EFORMAT, ".scales is ["  },
        { DIMS(STATE, ", \"quantization\": {\"group_size\": 32, \"bits\": 7}"), STENO_EFORMAT, "bits is 7" },
        { DIMS(STATE, ", \"quantization\": {\"group_size\": 32, \"bits\": 8}"), STENO_EFORMAT, ".scales is [" },
        { DIMS(STATE, ", \"quantization\": {\"group_size\": 32, \"bits\": 4, \"mode\": \"mxfp4\"}"), STENO_EUNSUPPORTED, "affine is read" },
        { DIMS("\"n_audio_state\": 32, ", ", \"quantization\": {\"group_size\": 32, \"bits\": 4}"), STENO_EFORMAT, "want the same" },
        { "{\"model_type\": \"bart\"}", STENO_EFORMAT, ".scales is [" },
        { "{\"quantization\": {\"group_size\": 32, \"bits\": 4}}", STENO_EUNSUPPORTED, "no model family" },
    };
    const struct folder d = folder_new();
    small_folder(&d, &four_bits, NULL, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        folder_text(&d, "config.json", bad[i].config);
        assert_refused(&d, bad[i].status, bad[i].says);
    }
    folder_remove(&d);
}

static void test_shapes_that_the_settings_do_not_have_are_refused_by_name(void **state)
{
    (void)state;
    static const struct { const char *dims, *says; } bad[] = {
        { "\"n_mels\": 128, \"n_vocab\": 1900, \"n_text_ctx\": 70", "tensor encoder.conv1.weight is [64, 3, 80], want [64, 128, 3]" },
        { "\"n_mels\": 80, \"n_vocab\": 1900, \"n_text_ctx\": 71", "tensor decoder.positional_embedding is [70, 64], want [71, 64]" },
        { "\"n_mels\": 80, \"n_vocab\": 1901, \"n_text_ctx\": 70", "are not the vocabulary of this model" }, /* it is looked at first */
    };
    static const char rest[] = ", \"n_audio_ctx\": 30, \"n_audio_state\": 64, \"n_audio_head\": 4, \"n_audio_layer\": 2, "
                               "\"n_text_state\": 64, \"n_text_head\": 4, \"n_text_layer\": 2, "
                               "\"quantization\": {\"group_size\": 32, \"bits\": 4}";
    const struct folder d = folder_new();
    small_folder(&d, &four_bits, NULL, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char text[500];
        snprintf(text, sizeof text, "{%s%s}", bad[i].dims, rest);
        folder_text(&d, "config.json", text);
        assert_refused(&d, STENO_EFORMAT, bad[i].says);
    }
    folder_remove(&d);
}

/* Other programs keep transformers' settings and vocabulary beside MLX's weights. */
static void test_settings_of_transformers_go_with_weights_of_mlx(void **state)
{
    (void)state;
    const struct folder d = folder_new();
    const struct mlx_how h = { .type = DT_F32 };
    struct source src;
    source_open(&src);
    mlx_model(&d, &src.w, &h, NULL, 0);
    spell_config(&d, &src.w);
    spell_vocab(&d, &src.w);
    const struct folder_file from = folder_at(&d, "weights.safetensors"), to = folder_at(&d, "model.safetensors");
    assert_int_equal(rename(from.path, to.path), 0);
    steno_model *m;
    steno_error e;
    if (steno_model_open(&m, d.path, NULL, &e)) fail_msg("%s", e.text);
    assert_string_equal(shipped_text(m).text, demo_text);
    if (steno_model_open(&m, to.path, NULL, &e)) fail_msg("%s", e.text);
    assert_string_equal(shipped_text(m).text, demo_text);
    source_close(&src);
    folder_remove(&d);
}

static void test_a_tensor_that_is_missing_is_named(void **state)
{
    (void)state;
    static const struct { const char *leave, *says; } bad[] = {
        { "encoder.blocks.0.attn.query.scales", "tensor encoder.blocks.0.attn.query.scales is missing" },
        { "decoder.token_embedding.biases", "tensor decoder.token_embedding.biases is missing" },
        { "decoder.positional_embedding", "tensor decoder.positional_embedding is missing" },
        { "encoder.conv1.weight", "tensor encoder.conv1.weight is missing" },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct mlx_how h = four_bits;
        const struct folder d = folder_new();
        h.leave = bad[i].leave;
        small_folder(&d, &h, NULL, 0);
        assert_refused(&d, STENO_EFORMAT, bad[i].says);
        folder_remove(&d);
    }
}

/* Every cut of a file of either form is refused, and its first bytes one by one. */
static void test_a_file_that_was_cut_is_refused(void **state)
{
    (void)state;
    for (int npz = 0; npz < 2; npz++) {
        const struct folder d = folder_new();
        const struct mlx_how h = { .type = DT_F16, .npz = npz };
        const char *name = npz ? "weights.npz" : "weights.safetensors";
        steno_error e;
        struct file f;
        small_folder(&d, &h, NULL, 0);
        const struct folder_file at = folder_at(&d, name);
        if (file_open(&f, at.path, &e)) fail_msg("%s", e.text);
        const struct bytes b = opened_bytes(&f);
        file_close(&f);
        for (size_t n = 0; n < b.n; n += 1 + n / 8) {
            steno_model *m;
            folder_put(&d, name, b.p, n);
            const int rc = steno_model_open(&m, d.path, NULL, &e);
            if (rc != STENO_EFORMAT || !e.text[0]) fail_msg("%s cut at %zu: %d, %s", name, n, rc, e.text);
        }
        free(b.p);
        folder_remove(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders_made_of_the_shipped_model_give_its_text),
        cmocka_unit_test(test_rounding_to_two_bytes_keeps_the_text),
        cmocka_unit_test(test_groups_give_the_text_of_their_widened_numbers),
        cmocka_unit_test(test_other_forms_give_the_text_of_the_folder),
        cmocka_unit_test(test_groups_are_not_rounded_again_but_when_that_is_asked_for),
        cmocka_unit_test(test_a_table_of_heads_is_read_and_an_empty_one_is_not),
        cmocka_unit_test(test_settings_that_contradict_are_refused_by_name),
        cmocka_unit_test(test_shapes_that_the_settings_do_not_have_are_refused_by_name),
        cmocka_unit_test(test_settings_of_transformers_go_with_weights_of_mlx),
        cmocka_unit_test(test_a_tensor_that_is_missing_is_named),
        cmocka_unit_test(test_a_file_that_was_cut_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
