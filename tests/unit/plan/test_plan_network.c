/* steno tests: the plans compute Whisper. SPDX-License-Identifier: MIT
 *
 * Random small models, at every processor level, against the network written out slowly in double precision. */
#include "slow_whisper.h"
#include "internal.h"

struct rig {
    struct bytes file;
    struct slow slow;
    steno_model *model;
    steno_session *session;
    float *mel; /* [2 ctx, n_mels] */
};

static void rig_open_as(struct rig *r, const struct whisper_dims *d, enum dtype type, const char *level, enum steno_gelu gelu)
{
    steno_model_params p;
    steno_error e;
    steno_model_params_init(&p);
    p.cpu_level = level;
    p.compute = STENO_COMPUTE_F32;
    p.gelu = (int32_t)gelu;
    r->file = random_bytes(d, type, 7);
    slow_open(&r->slow, r->file);
    r->slow.by_tanh = gelu == STENO_GELU_TANH;
    if (steno_model_open_memory(&r->model, r->file.p, r->file.n, &p, &e)) fail_msg("%s", e.text);
    r->session = session_new(r->model, NULL, 5);
    const size_t n = 2 * (size_t)d->n_audio_ctx * (size_t)d->n_mels;
    r->mel = malloc(n * sizeof *r->mel);
    assert_non_null(r->mel);
    uint32_t seed = 3;
    for (size_t i = 0; i < n; i++) r->mel[i] = noise(&seed);
    inside_begin(r->session);
    memcpy(inside_mel(r->session), r->mel, n * sizeof *r->mel);
}

static void rig_open(struct rig *r, const struct whisper_dims *d, enum dtype type, const char *level)
{
    rig_open_as(r, d, type, level, STENO_GELU_ERF);
}

static void rig_close(struct rig *r)
{
    steno_session_close(r->session);
    steno_model_close(r->model);
    slow_close(&r->slow);
    free(r->file.p);
    free(r->mel);
}

static void assert_rows_near(const char *what, const float *x, size_t ld, const double *want, size_t rows, size_t n, double tolerance)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++) {
            const double got = (double)x[r * ld + i], w = want[r * n + i];
            if (!(fabs(got - w) <= tolerance)) fail_msg("%s, row %zu, column %zu: %.9g, want %.9g", what, r, i, got, w);
        }
}

static int op_of(const struct plan *p, const char *label)
{
    for (int i = 0; i < p->n_ops; i++)
        if (!strcmp(p->label[i], label)) return i;
    fail_msg("plan %s has no op %s", p->name, label);
    return -1;
}

/* What op `label` of the encoder writes, by stopping the plan behind it. */
static const float *encode_until(const struct rig *r, const char *label, size_t *ld)
{
    const steno_session *s = r->session;
    struct plan p = *inside_plan(s->model, PLAN_ENCODER);
    const int at = op_of(&p, label);
    const size_t mels = (size_t)inside_n_mels(s->model), n = 2 * (size_t)inside_audio_ctx(s->model) * mels;
    float *mel = inside_mel(s);
    memset(mel - mels, 0, mels * sizeof *mel); /* a zero frame on both sides */
    memcpy(mel, r->mel, n * sizeof *mel);
    memset(mel + n, 0, mels * sizeof *mel);
    p.phase[PHASE_ENCODE].last = (uint16_t)(at + 1);
    assert_int_equal(inside_phases(r->session, &p, 0, 1, 0, p.max_rows), 0);
    *ld = p.slot[p.op[at].out].ld;
    return inside_slot(s, &p, p.op[at].out);
}

static void encoder_near(const struct whisper_dims *d, const char *level, enum steno_gelu gelu)
{
    struct rig r;
    rig_open_as(&r, d, DT_F32, level, gelu);
    const size_t ctx = (size_t)d->n_audio_ctx, n = (size_t)d->n_audio_state;
    const struct slow_encoder want = slow_encode(&r.slow, r.mel);
    size_t ld;
    const float *x = encode_until(&r, "encoder.conv1", &ld);
    assert_rows_near("conv1", x, ld, want.conv1, 2 * ctx, n, 1e-4);
    x = encode_until(&r, "encoder.conv2", &ld);
    assert_rows_near("conv2 + positions", x, ld, want.conv2, ctx, n, 1e-4);
    for (int i = 0; i < d->n_audio_layer; i++) {
        char label[64];
        snprintf(label, sizeof label, "encoder.blocks.%d.mlp.2", i);
        x = encode_until(&r, label, &ld);
        assert_rows_near(label, x, ld, want.layer[i], ctx, n, 1e-4);
    }
    x = encode_until(&r, "encoder.ln_post", &ld);
    assert_rows_near("ln_post", x, ld, want.out, ctx, n, 1e-4);
    rig_close(&r);
}

static void encoder_near_slow(const struct whisper_dims *d, const char *level)
{
    encoder_near(d, level, STENO_GELU_ERF);
    if (!SANITIZED || in_full() || d == &small_dims) encoder_near(d, level, STENO_GELU_TANH);
}

static void test_encoder_equals_the_slow_network_layer_by_layer_at_every_level(void **state)
{
    (void)state;
    const char *level[LEVELS_MAX];
    levels_for_plans(level);
    for (const char *const *l = level; *l; l++) encoder_near_slow(&small_dims, *l);
}

static void test_encoder_serves_128_mels_and_unequal_depths_and_odd_lengths(void **state)
{
    (void)state;
    const struct whisper_dims d = { 128, 27, 64, 1, 3, SMALL_VOCAB, 40, 64, 4, 1 };
    encoder_near_slow(&d, NULL);
}

/* What the two forms make is further apart than the plans are from either. */
static void test_the_forms_of_gelu_are_further_apart_than_plans_from_the_slow_network(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, &small_dims, DT_F32, NULL);
    const size_t n = (size_t)small_dims.n_audio_ctx * (size_t)small_dims.n_audio_state;
    const double *erf_out = slow_encode(&r.slow, r.mel).out;
    r.slow.by_tanh = 1;
    const double *tanh_out = slow_encode(&r.slow, r.mel).out;
    double most = 0;
    for (size_t i = 0; i < n; i++) most = fmax(most, fabs(erf_out[i] - tanh_out[i]));
    if (!(most > 3e-4)) fail_msg("the forms are %g apart", most);
    rig_close(&r);
}

/* Encode, feed tokens in runs of at most `chunk` rows, and compare the logits after every token. */
static void decoder_near(const struct whisper_dims *d, enum dtype type, const char *level, int chunk, double tolerance,
                         enum steno_gelu gelu)
{
    enum { N = 20 };
    struct rig r;
    rig_open_as(&r, d, type, level, gelu);
    steno_session *s = r.session;
    int32_t tokens[N];
    for (int i = 0; i < N; i++) tokens[i] = (i * 613 + 5) % d->n_vocab;
    const double *want = slow_decode(&r.slow, slow_encode(&r.slow, r.mel).out, tokens, N);
    assert_int_equal(inside_encode(s), 0);
    inside_lane_reset(s, 0);
    for (int at = 0; at < N; at += chunk) {
        const int n = N - at < chunk ? N - at : chunk;
        inside_clear(s);
        for (int i = 0; i < n; i++) inside_add(s, tokens[at + i], at + i, 0, ROW_LOGITS);
        assert_int_equal(inside_replay(s, 1), 0);
        assert_int_equal(inside_lane(s, 0)->kv.len, at + n);
        for (int i = 0; i < n; i++)
            assert_rows_near("logits", inside_logits(s, (uint32_t)i), 0, want + (size_t)(at + i) * (size_t)d->n_vocab, 1,
                             (size_t)d->n_vocab, tolerance);
    }
    rig_close(&r);
}

static void decoder_near_slow(const struct whisper_dims *d, enum dtype type, const char *level, int chunk, double tolerance)
{
    decoder_near(d, type, level, chunk, tolerance, STENO_GELU_ERF);
    if (!SANITIZED || in_full() || d == &small_dims) decoder_near(d, type, level, chunk, tolerance, STENO_GELU_TANH);
}

static void test_teacher_forced_logits_equal_the_slow_network_at_every_level(void **state)
{
    (void)state;
    const char *level[LEVELS_MAX];
    levels_for_plans(level);
    for (const char *const *l = level; *l; l++) decoder_near_slow(&small_dims, DT_F32, *l, 20, 1e-3);
}

static void test_logits_step_by_step_equal_the_slow_networks_full_recomputation(void **state)
{
    (void)state;
    decoder_near_slow(&small_dims, DT_F32, NULL, 1, 1e-4);
    decoder_near_slow(&small_dims, DT_F32, NULL, 7, 1e-4);
}

static void test_quantised_weights_serve_lookup_and_logits_alike(void **state)
{
    (void)state;
    static const enum dtype type[] = { DT_F16, DT_Q8_0, DT_Q5_0, DT_Q5_1, DT_Q4_0, DT_Q4_1, DT_Q2_K, DT_Q3_K,
                                       DT_Q4_K, DT_Q5_K, DT_Q6_K };
    for (size_t i = 0; i < sizeof type / sizeof *type; i++) {
        const int32_t width = dtype_block(type[i]) == KBLOCK ? 256 : 64;
        const struct whisper_dims d = { 80, 20, width, 2, 1, SMALL_VOCAB, 40, width, 2, 2 };
        decoder_near_slow(&d, type[i], NULL, 6, 1e-3);
    }
}

static void test_a_change_in_the_last_frame_reaches_the_first_row(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, &small_dims, DT_F32, NULL);
    size_t ld;
    float before[48];
    memcpy(before, encode_until(&r, "encoder.ln_post", &ld), sizeof before);
    r.mel[(2 * small_dims.n_audio_ctx - 1) * small_dims.n_mels] += 3;
    assert_memory_not_equal(before, encode_until(&r, "encoder.ln_post", &ld), sizeof before);
    rig_close(&r);
}

static void test_decoder_input_is_token_row_plus_position_row(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, &small_dims, DT_F16, NULL);
    const struct plan *p = inside_plan(r.model, PLAN_DECODER);
    struct plan first = *p;
    const int32_t tokens[] = { 9, 1, 1, 1, 1, 9 };
    first.phase[0].last = 1;
    for (int i = 0; i < 6; i++) inside_add(r.session, tokens[i], i, 0, 0);
    assert_int_equal(inside_phases(r.session, &first, 0, 1, 1, 6), 0);
    assert_int_equal(p->op[0].kind, OP_EMBED);
    assert_rows_near("embedding", inside_slot(r.session, p, p->op[0].out), p->slot[p->op[0].out].ld,
                     slow_embed(&r.slow, tokens, 6),
                     6, 48, 1e-6);
    rig_close(&r);
}

static void test_gelu_is_the_erf_form_and_the_tanh_form_is_kept_apart(void **state)
{
    (void)state;
    for (int level = 0; level < CPU_LEVELS; level++) {
        struct kern k;
        float y[2], x[2] = { 1, -30 };
        if (!cpu_level_usable(level)) continue;
        kern_init(&k, level);
        k.act[ACT_GELU_ERF](y, x, 2);
        assert_true(fabs((double)y[0] - 0.841345) < 1e-6 && fabsf(y[1]) < 1e-6f);
        k.act[ACT_GELU_TANH](y, x, 2);
        assert_true(fabs((double)y[0] - 0.841192) < 1e-6 && fabsf(y[1]) < 1e-6f);
    }
}

static void test_tiny_and_turbo_like_shapes_load_and_encode(void **state)
{
    (void)state;
    static const struct whisper_dims shapes[] = {
        { 80, 40, 96, 6, 4, MULTILINGUAL, 60, 96, 6, 4 }, { 128, 40, 32, 2, 6, LANGUAGES_100, 60, 32, 2, 2 },
        { 80, 40, 32, 1, 1, ENGLISH, 60, 32, 1, 1 },
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct rig r;
        rig_open(&r, &shapes[i], DT_F16, NULL);
        assert_int_equal(inside_encode(r.session), 0);
        const float *x = inside_encoded(r.session);
        for (int k = 0; k < shapes[i].n_audio_state; k++) assert_true(isfinite(x[k]));
        rig_close(&r);
    }
}

static void test_layers_as_wide_as_base_and_large_are_right(void **state)
{
    (void)state;
    static const struct whisper_dims shapes[] = { { 80, 5, 512, 8, 1, SMALL_VOCAB, 20, 512, 8, 1 },
                                                  { 128, 5, 1280, 20, 1, SMALL_VOCAB, 20, 1280, 20, 1 } };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        encoder_near_slow(&shapes[i], NULL);
        decoder_near_slow(&shapes[i], DT_F32, NULL, 5, 1e-3);
    }
}

/* A softmax over few keys and one over many see every key once: the tail behind the last full block of keys counts, nothing more. */
static void test_encoder_attention_has_no_phantom_keys(void **state)
{
    (void)state;
    const struct whisper_dims d = { 80, 261, 32, 1, 1, SMALL_VOCAB, 20, 32, 1, 1 };
    encoder_near_slow(&d, NULL);
}

static void test_heads_of_any_size_are_right_at_every_level(void **state)
{
    (void)state;
    static const int32_t head[] = { 4, 12, 32, 64, 100, 128, 256 };
    const char *level[LEVELS_MAX];
    levels_for_plans(level);
    for (const char *const *l = level; *l; l++)
        for (size_t i = 0; i < sizeof head / sizeof *head; i++) {
            const int32_t heads = head[i] < 64 ? 2 : 1, n = head[i] * heads;
            const struct whisper_dims d = { 80, 9, n, heads, 1, SMALL_VOCAB, 20, n, heads, 1 };
            encoder_near_slow(&d, *l);
            decoder_near_slow(&d, DT_F32, *l, 13, 1e-3);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_forms_of_gelu_are_further_apart_than_plans_from_the_slow_network),
        cmocka_unit_test(test_encoder_equals_the_slow_network_layer_by_layer_at_every_level),
        cmocka_unit_test(test_encoder_serves_128_mels_and_unequal_depths_and_odd_lengths),
        cmocka_unit_test(test_teacher_forced_logits_equal_the_slow_network_at_every_level),
        cmocka_unit_test(test_logits_step_by_step_equal_the_slow_networks_full_recomputation),
        cmocka_unit_test(test_quantised_weights_serve_lookup_and_logits_alike),
        cmocka_unit_test(test_a_change_in_the_last_frame_reaches_the_first_row),
        cmocka_unit_test(test_decoder_input_is_token_row_plus_position_row),
        cmocka_unit_test(test_gelu_is_the_erf_form_and_the_tanh_form_is_kept_apart),
        cmocka_unit_test(test_tiny_and_turbo_like_shapes_load_and_encode),
        cmocka_unit_test(test_layers_as_wide_as_base_and_large_are_right),
        cmocka_unit_test(test_encoder_attention_has_no_phantom_keys),
        cmocka_unit_test(test_heads_of_any_size_are_right_at_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
