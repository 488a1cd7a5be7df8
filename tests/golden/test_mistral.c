/* steno tests: Mistral against the reference. SPDX-License-Identifier: MIT
 *
 * LLaMA's network, all of whose layers look back a window, if the settings say so: tests/golden/make/make_mistral.py. */
#include <math.h>
#include "api/lm_model.h"
#include "folder.h"

enum { N_IDS = 60, N_NEW = 20, N_LOGITS = 6 };

static const struct golden { float logits[N_LOGITS]; int32_t ids[N_NEW]; } golden[] = {
    { { 1.04594f, 1.75589f, 0.31628f, -3.30152f, -2.7195f, -0.27741f },
      { 6, 58, 61, 58, 57, 58, 57, 61, 3, 30, 30, 8, 37, 11, 63, 63, 63, 61, 61, 43 } }, /* a window of 12 */
    { { 1.81511f, -0.09189f, -3.13625f, 0.78227f, -0.34372f, -0.00233f },
      { 15, 11, 59, 8, 43, 11, 11, 11, 11, 33, 11, 11, 11, 11, 11, 11, 11, 11, 11, 11 } }, /* none */
};

static void check(const char *path, const struct golden *want)
{
    steno_model *m = lm_open_as(path, STENO_COMPUTE_F32, 0);
    steno_session *s = lm_session(m, NULL, NULL);
    steno_generate_params p;
    int32_t ids[N_IDS];
    int n;
    for (int i = 0; i < N_IDS; i++) ids[i] = (i * 37 + 11) % 64;
    assert_int_equal(steno_prefill(s, ids, N_IDS), 0);
    const float *logits = steno_logits(s, &n);
    assert_int_equal(n, 64);
    for (int i = 0; i < N_LOGITS; i++)
        if (!(fabsf(logits[i] - want->logits[i]) < 1e-3f)) fail_msg("%s: logit %d is %g", path, i, (double)logits[i]);
    steno_generate_params_init(&p);
    p.max_tokens = N_NEW;
    p.ignore_eos = 1;
    assert_int_equal(steno_generate(s, ids, N_IDS, &p), N_NEW);
    assert_memory_equal(steno_generated(s, &n), want->ids, sizeof want->ids);
    steno_session_close(s);
    steno_model_close(m);
}

/* A window of 4096 by default is none for these ids, and LLaMA has no such setting. */
static void test_logits_and_ids_are_the_references(void **state)
{
    (void)state;
    static const struct { const char *from, *to; } row[] = {
        { "\"sliding_window\": 12", "\"sliding_window\": null" }, { "\"sliding_window\": 12", "\"x\": 12" },
        { "\"model_type\": \"mistral\"", "\"model_type\": \"llama\"" },
    };
    char text[2048] = "", changed[2048], path[4096];
    const struct folder d = folder_new();
    check("tests/data/lm/mistral", &golden[0]);
    FILE *f = fopen("tests/data/lm/mistral/config.json", "rb");
    assert_non_null(f);
    assert_true(fread(text, 1, sizeof text - 1, f) > 0);
    fclose(f);
    assert_non_null(realpath("tests/data/lm/mistral/model.safetensors", path));
    assert_int_equal(symlink(path, folder_at(&d, "model.safetensors").path), 0);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        const char *at = strstr(text, row[i].from);
        assert_non_null(at);
        snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, row[i].to, at + strlen(row[i].from));
        folder_text(&d, "config.json", changed);
        check(d.path, &golden[1]);
    }
    folder_remove(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_logits_and_ids_are_the_references) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
