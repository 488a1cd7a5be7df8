/* steno tests: the alignment of two windows against the reference's. SPDX-License-Identifier: MIT
 *
 * golden/layers holds, for two files, what openai-whisper 20250625 computes to find word times: the scores of the alignment heads over the
 * frames that hold audio, and the matrix it makes of them (rows from "no timestamps" to the last text token). golden.json lists the
 * tokens it ran and the probabilities of the text's tokens. Needs the collection named by STENO_SHARED. */
#include <unistd.h>
#include "folder.h"
#include "layers.h"
#include "model/parts.h"

enum { TOKENS_MAX = 448, HEAD = 3 /* tokens before the matrix's first row */ };

/* Largest difference between rows that lie ld apart and the matrix, in units of the matrix's standard deviation. */
static double distance(const float *ours, size_t ld, const struct npy *want)
{
    double mean = 0, var = 0, worst = 0;
    for (size_t i = 0; i < want->n; i++) mean += (double)want->v[i] / (double)want->n;
    for (size_t i = 0; i < want->n; i++) {
        const double w = (double)want->v[i], d = fabs((double)ours[i / want->dim[1] * ld + i % want->dim[1]] - w);
        var += (w - mean) * (w - mean) / (double)want->n;
        if (!(d <= worst)) worst = d;
    }
    return worst / sqrt(var);
}

/* ---- the kernels alone: from the reference's scores to its matrix */

static void matrix_of_scores(const struct npy *qk, const struct kern *k, float *sum)
{
    const size_t heads = qk->dim[0], rows = qk->dim[1], n = qk->dim[2];
    for (size_t h = 0; h < heads; h++) {
        float *w = qk->v + h * rows * n;
        for (size_t r = 0; r < rows; r++) k->softmax(w + r * n, w + r * n, n);
        k->zscore(w, n, rows, n);
        for (size_t r = 0; r < rows; r++) k->median(sum + r * n, w + r * n, h ? sum + r * n : NULL, 1 / (float)heads, n);
    }
}

static void test_the_references_scores_become_its_matrix_at_every_level(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_STEMS; i++)
        for (int level = 0; level < CPU_LEVELS; level++) {
            struct kern k;
            if (!cpu_level_usable(level)) continue;
            kern_init(&k, level);
            struct npy qk = layers_tensor(stems[i], "align_qk"), want = layers_tensor(stems[i], "align_matrix");
            float *sum = calloc(qk.dim[1] * qk.dim[2], sizeof *sum);
            assert_non_null(sum);
            assert_int_equal(want.dim[0], qk.dim[1] - HEAD - 1);
            assert_int_equal(want.dim[1], qk.dim[2]);
            matrix_of_scores(&qk, &k, sum);
            const double d = distance(sum + HEAD * qk.dim[2], qk.dim[2], &want);
            print_message("%s, %s, from scores: %.2g of the spread\n", cpu_level_name(level), stems[i], d);
            assert_true(d <= 1e-4);
            free(sum);
            free(qk.v);
            free(want.v);
        }
}

/* ---- the whole way */

static int32_t ints_of(const json_t *list, int32_t ids[TOKENS_MAX])
{
    const size_t n = json_array_size(list);
    assert_in_range(n, 1, TOKENS_MAX);
    for (size_t i = 0; i < n; i++) ids[i] = (int32_t)json_integer_value(json_array_get(list, i));
    return (int32_t)n;
}

static void heads_equal(const steno_model *m, const json_t *want)
{
    char text[256] = "";
    assert_true(json_array_size(want) > 0);
    for (size_t i = 0; i < json_array_size(want); i++) {
        const json_t *pair = json_array_get(want, i);
        const size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%d,%d", i ? " " : "", (int)json_integer_value(json_array_get(pair, 0)),
                 (int)json_integer_value(json_array_get(pair, 1)));
    }
    steno_model_info info = { .size = sizeof info };
    assert_int_equal(steno_model_info_get(m, &info), 0);
    assert_string_equal(info.alignment_heads, text);
}

static int probabilities_differ(const char *stem, const char *level, const float *prob, const json_t *want)
{
    double worst = 0;
    assert_true(json_array_size(want) > 0);
    for (size_t i = 0; i < json_array_size(want); i++) {
        const double d = fabs((double)prob[HEAD + 1 + i] - json_number_value(json_array_get(want, i)));
        if (!(d <= worst)) worst = d;
    }
    print_message("%s, %s, probabilities: largest difference %.2g\n", level, stem, worst);
    return !(worst <= 1e-4);
}

struct bits { float m[64 * 1516], prob[64]; };

/* The window of a file, encoded by one engine and lent to the other. */
static void window_ready(struct engine *g, struct engine *other, const char *stem)
{
    steno_session *s = g->session;
    inside_begin(other->session);
    layers_hear(s, stem);
    assert_int_equal(inside_encode(s), 0);
    void *cross = inside_state_copy(s, STATE_CROSS);
    assert_non_null(cross);
    inside_state_set(other->session, STATE_CROSS, cross);
    free(cross);
}

static int one_window(struct engine *g, const json_t *layers, const char *stem, const char *level, struct bits *bits)
{
    int32_t ids[TOKENS_MAX];
    const int32_t n = ints_of(json_object_get(layers, "align_tokens"), ids);
    struct npy want = layers_tensor(stem, "align_matrix");
    const float *m;
    size_t ld;
    assert_true((size_t)n <= sizeof bits->prob / sizeof *bits->prob);
    assert_int_equal(want.dim[0], n - HEAD - 1);
    assert_int_equal(want.dim[1], json_integer_value(json_object_get(layers, "content_frames")) / 2);
    assert_int_equal(inside_align(g->session, 0, ids, n, (int32_t)want.dim[1], &m, &ld, bits->prob), 0);
    for (int32_t i = 0; i < n; i++) memcpy(bits->m + (size_t)i * want.dim[1], m + (size_t)i * ld, want.dim[1] * sizeof *m);
    const double d = distance(m + HEAD * ld, ld, &want);
    print_message("%s, %s, matrix: %.2g of the spread\n", level, stem, d);
    const int bad = !(d <= 1e-3) + probabilities_differ(stem, level, bits->prob, json_object_get(layers, "token_probabilities"));
    heads_equal(g->model, json_object_get(layers, "align_heads"));
    free(want.v);
    return bad;
}

static void test_matrix_and_probabilities_equal_the_reference_at_every_level_on_one_and_two_threads(void **state)
{
    (void)state;
    static struct bits first, bits;
    const struct golden_path json = shared_file("golden/golden.json");
    json_t *golden = json_open(json.s);
    const char *level[LEVELS_MAX];
    const int n = levels_for_models(level);
    int bad = 0;
    for (int i = 0; i < n; i++) {
        struct engine one, two;
        engine_open(&one, shared_file("whisper-digits.bin").s, level[i], 1);
        engine_open(&two, shared_file("whisper-digits.bin").s, level[i], 2);
        for (size_t k = 0; k < (i ? N_STEMS : 1); k++) { /* plain C takes its time */
            const json_t *layers = layers_of(golden, stems[k]);
            window_ready(&two, &one, stems[k]);
            bad += one_window(&one, layers, stems[k], level[i], &first) + one_window(&two, layers, stems[k], level[i], &bits);
            assert_memory_equal(&first, &bits, sizeof bits);
        }
        engine_close(&two);
        engine_close(&one);
    }
    json_decref(golden);
    assert_int_equal(bad, 0);
}

/* A folder of the same weights whose settings name other heads, and what is asked for beside them. */
static void test_a_folders_own_heads_are_used_unless_others_are_asked_for(void **state)
{
    (void)state;
    static const char *const linked[] = { "config.json", "model.safetensors", "tokenizer.json", "vocab.json", "added_tokens.json" };
    static const char *const asked[][2] = { { NULL, "0,1 2,0" }, { "", "0,1 2,0" }, { "1,1", "1,1" }, { "top:1", "2,0 2,1" } };
    const struct folder dir = folder_new();
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++) {
        char name[64];
        snprintf(name, sizeof name, "hf/%s", linked[i]);
        const struct golden_path from = shared_file(name);
        if (is_there(from.s)) assert_int_equal(symlink(from.s, folder_at(&dir, linked[i]).path), 0);
    }
    folder_text(&dir, "generation_config.json", "{\"alignment_heads\": [[2, 0], [0, 1]]}");
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        steno_model *m;
        steno_error e;
        steno_model_params p;
        steno_model_info info = { .size = sizeof info };
        steno_model_params_init(&p);
        p.index_only = 1;
        p.alignment_heads = asked[i][0];
        if (steno_model_open(&m, dir.path, &p, &e)) fail_msg("%s", e.text);
        assert_int_equal(steno_model_info_get(m, &info), 0);
        assert_string_equal(info.alignment_heads, asked[i][1]);
        steno_model_close(m);
    }
    folder_remove(&dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_references_scores_become_its_matrix_at_every_level),
        cmocka_unit_test(test_a_folders_own_heads_are_used_unless_others_are_asked_for),
        cmocka_unit_test(test_matrix_and_probabilities_equal_the_reference_at_every_level_on_one_and_two_threads),
    };
    const int missing = collection_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
