/* steno tests: Fun-ASR-Nano: rows in place of tokens, and its size. SPDX-License-Identifier: MIT
 *
 * Rows of the embedding, handed over as rows of audio are, must give the logits of the ids themselves, to the bit; so they must among ids,
 * whatever is replayed together. The facts of a file of the real size. */
#include "funasr.h"
#include "internal.h"

enum { IDS = 24, WIDTH_MAX = 4096 };

static float *embedding(const char *path, uint64_t *d)
{
    struct file f;
    struct weights w;
    steno_error e;
    if (file_open(&f, path, &e) || weights_open(&w, &f, &e)) fail_msg("%s", e.text);
    const struct tensor *t = weights_find(&w, "token_embd.weight");
    assert_non_null(t);
    *d = t->dim[1];
    float *x = malloc(t->dim[0] * t->dim[1] * sizeof *x);
    assert_int_equal(tensor_read_f32(t, x, &e), 0);
    weights_close(&w);
    file_close(&f);
    return x;
}

/* Logits behind the ids; bit i of `rows`: the i-th is handed over as a row of the input. piece: most of a replay */
static float *logits_behind(steno_session *s, const int32_t *ids, uint32_t rows, int piece, const float *table)
{
    const struct plan *p = inside_plan(model, PLAN_DECODER);
    const size_t d = p->slot[p->input].width, ld = p->slot[p->input].ld, n_vocab = (size_t)inside_n_vocab(model);
    float *out = malloc(n_vocab * sizeof *out);
    inside_lane_reset(s, 0);
    for (int at = 0, heard = 0; at < IDS; at += piece, heard = 0) {
        inside_clear(s);
        for (int i = at; i < at + piece && i < IDS; i++) {
            const int is_row = (int)(rows >> i & 1);
            if (is_row) memcpy(exec_input(inside_exec(s), p) + (size_t)heard * ld, table + (size_t)ids[i] * d, d * sizeof *table);
            inside_add(s, is_row ? token_of_input((uint32_t)heard++) : ids[i], i, 0, i == IDS - 1 ? ROW_LOGITS : 0);
        }
        inside_lane(s, 0)->sampler.done = 1;
        assert_int_equal(inside_replay(s, 1), 0);
    }
    memcpy(out, inside_logits(s, 0), n_vocab * sizeof *out);
    return out;
}

static void compare(const char *encoder, const char *llm, int compute)
{
    steno_model_params mp;
    steno_session *s;
    steno_error e;
    uint64_t d;
    int32_t ids[IDS];
    steno_model_params_init(&mp);
    mp.compute = compute;
    mp.llm = llm;
    if (steno_model_open(&model, encoder, &mp, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_session_open(&s, model, NULL, NULL, NULL), 0);
    float *table = embedding(llm, &d);
    assert_int_equal(d, inside_plan(model, PLAN_DECODER)->slot[inside_plan(model, PLAN_DECODER)->input].width);
    uint32_t seed = 7;
    for (int i = 0; i < IDS; i++) ids[i] = (int32_t)((seed = seed * 1664525 + 1013904223) >> 8) % inside_n_vocab(model);
    float *want = logits_behind(s, ids, 0, IDS, table);
    static const uint32_t masks[] = { UINT32_MAX, 0x00fff0, 0x555555, 0x800000, 1 };
    for (size_t k = 0; k < sizeof masks / sizeof *masks; k++)
        for (int piece = 5; piece <= IDS; piece += 19) {
            float *got = logits_behind(s, ids, masks[k], piece, table);
            assert_memory_equal(got, want, (size_t)inside_n_vocab(model) * sizeof *got);
            free(got);
        }
    free(want);
    free(table);
    steno_session_close(s);
    steno_model_close(model);
    model = NULL;
}

static void test_rows_of_the_embedding_give_the_logits_of_its_ids(void **state)
{
    (void)state;
    static const char *const llm[] = { "qwen3-mini-f32.gguf", "qwen3-mini-f16.gguf", "qwen3-mini-f16-tied.gguf", "qwen3-mini-q8_0.gguf" };
    const struct golden_path enc = funasr_file("%s", "models/nano/gguf/funasr-encoder-mini.gguf");
    for (int i = 0; i < 4; i++)
        for (int c = STENO_COMPUTE_AUTO; c <= STENO_COMPUTE_INT16; c++) compare(enc.s, funasr_file("models/nano/gguf/%s", llm[i]).s, c);
}

/* ---- the real size -------------------------------------------------------------------------------------------------------------- */

static int64_t parameters_of(const char *shape, steno_model_info *info)
{
    steno_model *m;
    steno_model_params p;
    steno_error e;
    steno_model_params_init(&p);
    p.index_only = 1;
    if (steno_model_open_random(&m, shape, "f16", 1, &p, &e)) fail_msg("%s", e.text);
    *info = (steno_model_info){ .size = sizeof *info };
    assert_int_equal(steno_model_info_get(m, info), 0);
    const int64_t n = info->parameters;
    steno_model_close(m);
    return n;
}

static void test_encoder_and_adaptor_have_as_many_weights_as_published(void **state)
{
    (void)state;
    steno_model_info nano, lm;
    const int64_t all = parameters_of("nano", &nano), text = parameters_of("qwen3-0.6b", &lm);
    assert_int_equal(all - text, 233741920);
    assert_int_equal(nano.n_text_layer, 28);
    assert_int_equal(nano.n_text_state, 1024);
    assert_int_equal(nano.n_audio_layer, 70);
    assert_int_equal(nano.n_audio_state, 512);
    assert_int_equal(nano.n_vocab, 151936);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_the_embedding_give_the_logits_of_its_ids),
        cmocka_unit_test(test_encoder_and_adaptor_have_as_many_weights_as_published),
    };
    const int missing = funasr_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
