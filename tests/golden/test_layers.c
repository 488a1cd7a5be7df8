/* steno tests: tensors inside one window against the reference's. SPDX-License-Identifier: MIT
 *
 * golden/layers holds, for two files, what openai-whisper computes on the way: log-mel, encoder output, and the logits at the
 * start-of-transcript token, before the first text token and after five forced tokens. Needs the collection named by STENO_SHARED. */
#include "layers.h"

/* Rows [rows, n] that lie ld floats apart, against the reference: |difference| / |reference|. */
static double distance(const float *ours, size_t ld, const struct npy *want, size_t n)
{
    double d = 0, norm = 0;
    for (size_t i = 0; i < want->n; i++) {
        const double w = (double)want->v[i], x = (double)ours[i / n * ld + i % n];
        d += (x - w) * (x - w);
        norm += w * w;
    }
    return sqrt(d / norm);
}

static int near_reference(const char *stem, const char *what, const char *level, const float *ours, size_t ld, size_t n)
{
    struct npy want = layers_tensor(stem, what);
    const double d = distance(ours, ld, &want, n);
    free(want.v);
    print_message("%s, %s, %s: distance %.2g\n", level, stem, what, d);
    return d <= 2e-3;
}

static int mel_differs(const char *stem, const float *ours, int n_mels, int64_t frames)
{
    struct npy want = layers_tensor(stem, "mel");
    double worst = 0;
    assert_int_equal(want.n, frames * n_mels);
    for (int64_t t = 0; t < frames; t++) /* theirs is [n_mels, frames] */
        for (int i = 0; i < n_mels; i++) {
            const double d = fabs((double)ours[t * n_mels + i] - (double)want.v[i * frames + t]);
            if (d > worst) worst = d;
        }
    free(want.v);
    print_message("%s, mel: largest difference %.2g\n", stem, worst);
    return !(worst <= 1e-4);
}

/* All forced tokens in one run; logits are kept at the places the reference kept them. */
static void forced_run(steno_session *s, const json_t *forced)
{
    const int n = (int)json_array_size(forced);
    inside_lane_reset(s, 0);
    inside_clear(s);
    for (int i = 0; i < n; i++) {
        const int wanted = i == 0 || i == 2 || i == n - 1;
        inside_add(s, (int32_t)json_integer_value(json_array_get(forced, (size_t)i)), i, 0, wanted ? ROW_LOGITS : 0);
    }
    assert_int_equal(inside_replay(s, 1), 0);
}

static int one_window(struct engine *g, json_t *golden, const char *stem, const char *level)
{
    steno_session *s = g->session;
    const steno_model *m = g->model;
    const struct plan *enc = inside_plan(m, PLAN_ENCODER);
    const size_t n_vocab = (size_t)inside_n_vocab(m), d = (size_t)m->widths.audio_state;
    layers_hear(s, stem);
    assert_int_equal(inside_frames(s), json_integer_value(json_object_get(layers_of(golden, stem), "content_frames")));
    int bad = mel_differs(stem, inside_mel(s), inside_n_mels(s->model), inside_frames(s));
    assert_int_equal(inside_encode(s), 0);
    bad += !near_reference(stem, "encoder", level, inside_encoded(s), enc->slot[enc->output].ld, d);
    forced_run(s, json_object_get(layers_of(golden, stem), "forced"));
    bad += !near_reference(stem, "logits_sot", level, inside_logits(s, 0), n_vocab, n_vocab);
    bad += !near_reference(stem, "logits_first", level, inside_logits(s, 1), n_vocab, n_vocab);
    bad += !near_reference(stem, "logits_after5", level, inside_logits(s, 2), n_vocab, n_vocab);
    return bad;
}

static void test_mel_encoder_and_logits_equal_the_reference_at_every_level(void **state)
{
    (void)state;
    const struct golden_path json = shared_file("golden/golden.json");
    json_t *golden = json_open(json.s);
    const char *level[LEVELS_MAX];
    const int n = levels_for_models(level);
    int bad = 0;
    for (int i = 0; i < n; i++) {
        struct engine g;
        engine_open(&g, shared_file("whisper-digits.bin").s, level[i], 2);
        for (size_t k = 0; k < N_STEMS; k++) bad += one_window(&g, golden, stems[k], level[i]);
        engine_close(&g);
    }
    json_decref(golden);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_mel_encoder_and_logits_equal_the_reference_at_every_level) };
    const int missing = collection_missing();
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
