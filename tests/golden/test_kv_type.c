/* steno tests: how keys and values of language models are kept. SPDX-License-Identifier: MIT
 *
 * Small models read a prompt at once and id by id, draft ahead, and read another prompt that begins alike: of every type the logits are the
 * same to the bit however ids come. Against f32, f16 moves them by less than a hundredth and q8_0 by less than three, beside products that
 * are not rounded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "harness.h"
#include "steno/steno.h"

enum { N = 70, TYPES = STENO_KV_Q8_0 + 1 };

static const char *const served[] = { "gemma/gguf/gemma-F16.gguf", "qwen3k/gguf/qwen3k-Q6_K.gguf", "llama3/gguf/llama3-Q4_0.gguf",
                                      "qwen3/gguf/qwen3-Q8_0.gguf", "gemma3/gguf/gemma3-Q8_0.gguf" };

static void path_of(char path[512], const char *name)
{
    snprintf(path, 512, "%s/material/llm/models/%s", shared_dir(), name);
}

static steno_model *open_with(const char *path, int type, int compute, steno_error *e)
{
    steno_model_params p;
    steno_model *m;
    steno_model_params_init(&p);
    p.kv_type = type;
    p.compute = compute;
    return steno_model_open(&m, path, &p, e) ? NULL : m;
}

/* Logits behind ids, read `at_once` at a time. */
static void read_ids(float *to, steno_session *s, const int32_t *ids, int n, int at_once)
{
    int n_vocab;
    for (int at = 0; at < n; at += at_once) {
        const int k = n - at < at_once ? n - at : at_once;
        assert_int_equal(at ? steno_prefill_continue(s, ids + at, k) : steno_prefill(s, ids, k), 0);
    }
    const float *got = steno_logits(s, &n_vocab);
    memcpy(to, got, (size_t)n_vocab * sizeof *to);
}

static double distance(const float *a, const float *b, int n)
{
    double off = 0, all = 0;
    for (int i = 0; i < n; i++) off += ((double)a[i] - b[i]) * ((double)a[i] - b[i]), all += (double)b[i] * b[i];
    return sqrt(off / all);
}

static void check_model(const char *path, int compute)
{
    float *logits[TYPES] = { NULL };
    int n_vocab = 0;
    for (int type = TYPES - 1; type >= 0; type--) {
        steno_error e;
        steno_model *m = open_with(path, type, compute, &e);
        if (!m) fail_msg("%s", e.text);
        steno_model_info i = { .size = sizeof i };
        steno_model_info_get(m, &i);
        n_vocab = i.n_vocab;
        logits[type] = malloc((size_t)n_vocab * sizeof *logits[type]);
        float *again = malloc((size_t)n_vocab * sizeof *again);
        int32_t ids[N];
        for (int k = 0; k < N; k++) ids[k] = 3 + k * 37 % (n_vocab - 10);
        steno_session *s;
        assert_int_equal(steno_session_open(&s, m, NULL, NULL, &e), 0);
        read_ids(logits[type], s, ids, N, N);
        for (int at_once = 1; at_once < N; at_once = at_once * 3 + 4) {
            read_ids(again, s, ids, N, at_once);
            assert_memory_equal(logits[type], again, (size_t)n_vocab * sizeof *again);
        }
        free(again);
        steno_session_close(s);
        steno_model_close(m);
    }
    const int usual = compute == STENO_COMPUTE_F32 ? STENO_KV_F32 : STENO_KV_F16;
    assert_memory_equal(logits[STENO_KV_AUTO], logits[usual], (size_t)n_vocab * sizeof(float));
    const int rounds = compute != STENO_COMPUTE_F32; /* products that are: what is nearly a tie falls to the other side */
    const double f16 = distance(logits[STENO_KV_F16], logits[STENO_KV_F32], n_vocab);
    const double q8 = distance(logits[STENO_KV_Q8_0], logits[STENO_KV_F32], n_vocab);
    if (!(f16 < (rounds ? 0.1 : 0.01)) || !(q8 < (rounds ? 0.1 : 0.03)) || !(q8 > 0)) fail_msg("%s: f16 %g, q8_0 %g", path, f16, q8);
    for (int type = 0; type < TYPES; type++) free(logits[type]);
}

static void test_keys_and_values_of_every_type_keep_the_bits_of_rows(void **state)
{
    (void)state;
    char path[512];
    for (size_t i = 0; i < sizeof served / sizeof *served; i++) {
        path_of(path, served[i]);
        check_model(path, STENO_COMPUTE_AUTO);
        check_model(path, STENO_COMPUTE_F32);
    }
}

static void test_heads_of_another_width_are_refused_by_name(void **state)
{
    (void)state;
    char path[512];
    steno_error e;
    path_of(path, "llama/gguf/llama-F32.gguf");
    assert_null(open_with(path, STENO_KV_Q8_0, STENO_COMPUTE_AUTO, &e));
    assert_non_null(strstr(e.text, "kv_type q8_0 needs heads of a multiple of 32 numbers"));
    assert_null(open_with(path, TYPES, STENO_COMPUTE_AUTO, &e));
    assert_non_null(strstr(e.text, "kv_type"));
}

int main(void)
{
    if (!getenv("STENO_SHARED")) {
        puts("skipped: STENO_SHARED does not name the collection");
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys_and_values_of_every_type_keep_the_bits_of_rows),
        cmocka_unit_test(test_heads_of_another_width_are_refused_by_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
