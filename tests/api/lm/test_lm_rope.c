/* steno tests: settings of YaRN. SPDX-License-Identifier: MIT
 *
 * Settings that say the same give the same bits; those that say something else give others. A GGUF file, whose settings are f32, gives the
 * same ids and their logarithms to 1e-4. */
#include "api/convert.h"
#include "api/lm_folder.h"
#include "api/lm_model.h"

enum { PROMPT = 24, NEW = 6 };

static void write_config(const struct folder *d, const char *scaling)
{
    char config[1024];
    snprintf(config, sizeof config,
             "{\"rope_scaling\": {\"type\": \"yarn\", \"original_max_position_embeddings\": 64%s},"
             " \"model_type\": \"qwen3\", \"hidden_size\": %d, \"num_hidden_layers\": %d, \"num_attention_heads\": %d,"
             " \"num_key_value_heads\": %d, \"head_dim\": %d, \"intermediate_size\": %d, \"max_position_embeddings\": 256}",
             scaling, LM_D, LM_LAYERS, LM_HEADS, LM_KV_HEADS, LM_HEAD, LM_FF);
    folder_text(d, "config.json", config);
}

static void generate(struct lm_made *to, const char *path)
{
    int32_t ids[PROMPT];
    steno_generate_params p;
    steno_generate_params_init(&p);
    p.max_tokens = NEW;
    p.temperature = 0;
    steno_model *m = lm_open_as(path, STENO_COMPUTE_F32, 0);
    steno_session *s = lm_session(m, NULL, NULL);
    for (int i = 0; i < PROMPT; i++) ids[i] = (7 * i) % 200;
    const int rc = steno_generate(s, ids, PROMPT, &p);
    if (rc < 0) fail_msg("%s", steno_last_error(s));
    lm_made_of(to, s, rc);
    steno_session_close(s);
    steno_model_close(m);
}

static void test_gains_are_those_of_the_settings(void **state)
{
    (void)state;
    /* with a factor of 4 the usual gain is 1 + 0.1 ln 4 */
    static const struct { const char *scaling; int is_usual; } row[] = {
        { ", \"factor\": 4", 1 }, { "", 1 }, { ", \"factor\": 4, \"attention_factor\": null", 1 },
        { ", \"factor\": 4, \"attention_factor\": 1.1386294361119891", 1 }, { ", \"factor\": 4, \"mscale\": 5", 1 },
        { ", \"factor\": 4, \"mscale_all_dim\": 1", 1 }, { ", \"factor\": 4, \"truncate\": true", 1 },
        { ", \"factor\": 4, \"attention_factor\": 2", 0 }, { ", \"factor\": 4, \"mscale\": 2, \"mscale_all_dim\": 1", 0 },
        { ", \"factor\": 2", 0 },
    };
    const struct folder d = lm_folder();
    struct lm_made usual, of_folder, of_file;
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        struct buf b = { 0 };
        steno_error e = { 0 };
        write_config(&d, row[i].scaling);
        generate(&of_folder, d.path);
        if (!i) usual = of_folder;
        if (row[i].is_usual == lm_differ(&usual, &of_folder)) fail_msg("'%s' is not as expected", row[i].scaling);
        if (convert_to(&b, d.path, "f32", &e)) fail_msg("%s", e.text);
        folder_put(&d, "m.gguf", b.p, b.len);
        generate(&of_file, folder_at(&d, "m.gguf").path);
        assert_int_equal(of_file.n, of_folder.n);
        for (int k = 0; k < of_folder.n; k++)
            if (of_folder.id[k] != of_file.id[k] || fabsf(of_folder.logprob[k] - of_file.logprob[k]) > 1e-4f)
                fail_msg("'%s', token %d: %d %g, from the GGUF file %d %g", row[i].scaling, k, (int)of_folder.id[k],
                         (double)of_folder.logprob[k], (int)of_file.id[k], (double)of_file.logprob[k]);
        assert_int_equal(remove(folder_at(&d, "m.gguf").path), 0);
        buf_free(&b);
    }
    folder_remove(&d);
}

/* The factor of the gain of mscale 2 and mscale_all_dim 1 is their quotient. */
static void test_a_quotient_equals_its_value(void **state)
{
    (void)state;
    const struct folder d = lm_folder();
    struct lm_made quotient, number;
    write_config(&d, ", \"factor\": 4, \"mscale\": 2, \"mscale_all_dim\": 1");
    generate(&quotient, d.path);
    write_config(&d, ", \"factor\": 4, \"attention_factor\": 1.121751143713058");
    generate(&number, d.path);
    assert_int_equal(quotient.n, number.n);
    for (int k = 0; k < number.n; k++) {
        assert_int_equal(quotient.id[k], number.id[k]);
        assert_true(fabsf(quotient.logprob[k] - number.logprob[k]) < 1e-5f);
    }
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_gains_are_those_of_the_settings),
        cmocka_unit_test(test_a_quotient_equals_its_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
