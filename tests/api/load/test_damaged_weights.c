/* steno tests: weights that are no numbers are refused when a model is opened. SPDX-License-Identifier: MIT
 *
 * One value of one matrix is damaged, in every stored type, in every format, for every arithmetic: the message names the file, the tensor,
 * and the first such value, whichever thread meets another first. */
#include "folder.h"
#include "random_model.h"
#include "spell.h"
#include "torch_model.h"

enum { D = 256, ROW = 70, COLUMN = 133 };
static struct whisper_dims const dims = { 80, 8, D, 4, 1, SMALL_VOCAB, 16, D, 4, 1 };

/* Stored blocks as ggml has them: weights, bytes, and where the f16 scales lie. Numbers are blocks of one. */
static const struct stored_block { int n, sz, scale[2]; } blocks[DT_COUNT] = {
    [DT_F32] = { 1, 4, { 2, 2 } },          [DT_F16] = { 1, 2, { 0, 0 } },          [DT_BF16] = { 1, 2, { 0, 0 } },
    [DT_Q4_0] = { 32, 18, { 0, 0 } },       [DT_Q4_1] = { 32, 20, { 0, 2 } },       [DT_Q5_0] = { 32, 22, { 0, 0 } },
    [DT_Q5_1] = { 32, 24, { 0, 2 } },       [DT_Q8_0] = { 32, 34, { 0, 0 } },       [DT_Q2_K] = { 256, 84, { 80, 82 } },
    [DT_Q3_K] = { 256, 110, { 108, 108 } }, [DT_Q4_K] = { 256, 144, { 0, 2 } },     [DT_Q5_K] = { 256, 176, { 0, 2 } },
    [DT_Q6_K] = { 256, 210, { 208, 208 } }, [DT_IQ4_XS] = { 256, 136, { 0, 0 } },
};

/* Damage what the tensor's value is made of, or the second scale of its block. @return the first value that is damaged */
static uint64_t poison(struct bytes b, const char *name, uint64_t value, int second, int nan)
{
    struct file f;
    struct weights w;
    steno_error e;
    file_from_memory(&f, "m", b.p, b.n);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    const struct tensor *t = weights_find(&w, name);
    assert_non_null(t);
    const struct stored_block *s = &blocks[t->type];
    const uint16_t wide = nan ? 0xffc0 : 0x7f80, half = nan ? 0xfe00 : 0x7c00, bits = t->type == DT_F32 || t->type == DT_BF16 ? wide : half;
    uint8_t *p = b.p + t->offset + value / (uint64_t)s->n * (uint64_t)s->sz + s->scale[second];
    p[0] = (uint8_t)bits;
    p[1] = (uint8_t)(bits >> 8);
    if (t->type == DT_F32) p[-1] = p[-2] = 0;
    weights_close(&w);
    return value - value % (uint64_t)s->n;
}

static void expect_text(int rc, const steno_error *e, const char *file, const char *name, uint64_t value, const char *what)
{
    char want[400];
    snprintf(want, sizeof want, "%s: tensor %s: value %llu is not finite; the file is damaged, take another copy", file, name,
             (unsigned long long)value);
    if (rc != STENO_EFORMAT || strcmp(e->text, want) != 0) fail_msg("%s: %d \"%s\", want \"%s\"", what, rc, rc ? e->text : "", want);
}

static void expect_refused(struct bytes b, enum steno_compute compute, steno_team *team, const char *name, uint64_t value)
{
    steno_model_params p;
    steno_model *m;
    steno_error e;
    steno_model_params_init(&p);
    p.compute = (int32_t)compute;
    p.team = team;
    const int rc = steno_model_open_memory(&m, b.p, b.n, &p, &e);
    expect_text(rc, &e, "model in memory", name, value, name);
    assert_null(m);
}

static void test_every_stored_type_is_looked_at_in_every_arithmetic(void **state)
{
    (void)state;
    static const char *const name[] = { "encoder.conv2.weight", "encoder.blocks.0.attn.key.weight", "encoder.blocks.0.mlp.2.weight",
                                        "decoder.blocks.0.cross_attn.value.weight", "decoder.token_embedding.weight" };
    static const enum steno_compute compute[] = { STENO_COMPUTE_AUTO, STENO_COMPUTE_F32, STENO_COMPUTE_BF16, STENO_COMPUTE_INT16,
                                                  STENO_COMPUTE_INT8 };
    for (int t = 0; t < DT_COUNT; t++) {
        if (t == DT_BF16 || t > DT_IQ4_XS) continue; /* not in whisper.cpp's files */
        const struct bytes b = random_bytes(&dims, (enum dtype)t, 5), copy = { malloc(b.n), b.n };
        assert_non_null(copy.p);
        for (size_t i = 0; i < sizeof name / sizeof *name; i++)
            for (int k = 0; k < 4; k++) { /* either scale; infinite, or not a number */
                memcpy(copy.p, b.p, b.n);
                const uint64_t first = poison(copy, name[i], ROW * D + COLUMN, k / 2, k % 2);
                expect_refused(copy, compute[(i + (size_t)(k + t)) % (sizeof compute / sizeof *compute)], NULL, name[i], first);
            }
        free(b.p);
        free(copy.p);
    }
}

static void test_numbers_that_are_merely_too_large_to_be_rounded_are_none_of_these(void **state)
{
    (void)state;
    const struct bytes b = random_bytes(&dims, DT_F32, 5);
    static const enum steno_compute compute[] = { STENO_COMPUTE_AUTO, STENO_COMPUTE_INT8 };
    poison(b, "decoder.blocks.0.mlp.0.weight", ROW * D + COLUMN, 0, 0);
    poison(b, "encoder.blocks.0.mlp.0.weight", ROW * D + COLUMN, 0, 0);
    for (size_t i = 0; i + 4 <= b.n; i++) { /* infinities become the largest number below them: no f16, and infinite in bf16 */
        static const uint8_t infinite[] = { 0, 0, 0x80, 0x7f }, largest[] = { 0xff, 0xff, 0x7f, 0x7f };
        if (!memcmp(b.p + i, infinite, 4)) memcpy(b.p + i, largest, 4);
    }
    for (int i = 0; i < 2; i++) steno_model_close(bytes_open_as(b, NULL, compute[i]));
    free(b.p);
}

static void test_first_damaged_value_is_named_by_any_number_of_threads(void **state)
{
    (void)state;
    const struct bytes b = random_bytes(&dims, DT_F16, 5);
    steno_error e;
    poison(b, "encoder.blocks.0.attn.value.weight", 3 * D, 0, 0);
    const uint64_t first = poison(b, "encoder.blocks.0.attn.query.weight", 200 * D + 9, 0, 1);
    poison(b, "encoder.blocks.0.attn.key.weight", 2 * D, 0, 0);
    for (int threads = 1; threads <= 5; threads += 2) {
        steno_team *team;
        if (steno_team_open(&team, threads, &e)) fail_msg("%s", e.text);
        for (int i = 0; i < 30; i++) expect_refused(b, STENO_COMPUTE_AUTO, team, "encoder.blocks.0.attn.query.weight", first);
        steno_team_close(team);
    }
    free(b.p);
}

static struct bytes file_bytes(const char *path)
{
    struct file f;
    steno_error e;
    if (file_open(&f, path, &e)) fail_msg("%s", e.text);
    struct bytes b = { malloc((size_t)f.size), (size_t)f.size };
    assert_non_null(b.p);
    assert_int_equal(file_read(&f, 0, b.p, b.n, &e), 0);
    file_close(&f);
    return b;
}

static void test_safetensors_are_looked_at_in_every_type(void **state)
{
    (void)state;
    static const enum dtype type[] = { DT_F32, DT_F16, DT_BF16 };
    struct file f;
    struct weights w;
    steno_error e;
    steno_model *m;
    const struct bytes b = random_bytes(&dims, DT_F32, 5);
    file_from_memory(&f, "m", b.p, b.n);
    if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    for (size_t i = 0; i < 3; i++) {
        const struct folder d = folder_new();
        spell_model(&d, &w, (int)type[i], 1);
        const struct folder_file at = folder_at(&d, "model.safetensors");
        const struct bytes file = file_bytes(at.path);
        const uint64_t first = poison(file, "model.decoder.layers.0.fc1.weight", ROW * D + COLUMN, 0, 1);
        folder_put(&d, "model.safetensors", file.p, file.n);
        expect_text(steno_model_open(&m, d.path, NULL, &e), &e, at.path, "decoder.blocks.0.mlp.0.weight", first, dtype_name(type[i]));
        folder_remove(&d);
        free(file.p);
    }
    weights_close(&w);
    free(b.p);
}

static void test_pytorch_files_are_looked_at(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const struct bytes b = random_bytes(&dims, i ? DT_F16 : DT_F32, 5);
        struct file f;
        struct weights w;
        steno_error e;
        steno_model *m;
        steno_model_params p;
        file_from_memory(&f, "m", b.p, b.n);
        if (weights_open(&w, &f, &e)) fail_msg("%s", e.text);
        struct buf pt = torch_model(&w, &f, 0);
        const struct folder d = folder_new();
        const uint64_t first = poison((struct bytes){ (uint8_t *)pt.p, pt.len }, "encoder.blocks.0.mlp.2.weight", ROW * D, 0, 0);
        folder_put(&d, "m.pt", pt.p, pt.len);
        folder_put(&d, "vocab.bin", b.p, b.n);
        const struct folder_file at = folder_at(&d, "m.pt"), vocab = folder_at(&d, "vocab.bin");
        steno_model_params_init(&p);
        p.vocab = vocab.path;
        expect_text(steno_model_open(&m, at.path, &p, &e), &e, at.path, "encoder.blocks.0.mlp.2.weight", first, "torch");
        folder_remove(&d);
        buf_free(&pt);
        weights_close(&w);
        free(b.p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_stored_type_is_looked_at_in_every_arithmetic),
        cmocka_unit_test(test_numbers_that_are_merely_too_large_to_be_rounded_are_none_of_these),
        cmocka_unit_test(test_first_damaged_value_is_named_by_any_number_of_threads),
        cmocka_unit_test(test_safetensors_are_looked_at_in_every_type),
        cmocka_unit_test(test_pytorch_files_are_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
