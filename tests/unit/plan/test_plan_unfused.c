/* steno tests: fusions change no bit. SPDX-License-Identifier: MIT
 *
 * Random small models at every processor level, each opened twice: as it is, and with the fusions of its plans taken apart. */
#include "api/random_model.h"
#include "internal.h"
#include "model/parts.h"

enum { PROMPT = 9, STEPS = 5, ALIGNED = 12 };

struct rig { steno_model *model; steno_session *s; };

static void rig_open(struct rig *r, struct bytes b, const char *level, int compute, int unfused, steno_team *team)
{
    steno_model_params p;
    struct file f;
    steno_error e;
    steno_model_params_init(&p);
    p.cpu_level = level;
    p.compute = compute;
    p.alignment_heads = "0,1 1,0";
    file_from_memory(&f, "random", b.p, b.n);
    if (inside_open(&r->model, &f, &p, unfused, &e)) fail_msg("%s", e.text);
    r->s = session_new(r->model, team, 3);
    inside_begin(r->s);
    uint32_t seed = 4;
    for (size_t i = 0; i < inside_mel_n(r->model); i++) inside_mel(r->s)[i] = noise(&seed);
    assert_int_equal(inside_encode_for(r->s, 0, inside_audio_ctx(r->model)), 0);
}

static void rig_close(struct rig *r)
{
    steno_session_close(r->s);
    steno_model_close(r->model);
}

static const float *step(struct rig *r, int from, int n, uint16_t lane)
{
    const int32_t n_vocab = inside_n_vocab(r->model);
    inside_clear(r->s);
    for (int i = from; i < from + n; i++) inside_add(r->s, (i * 613 + 5) % n_vocab, i, lane, i == from + n - 1 ? ROW_LOGITS : 0);
    assert_int_equal(inside_replay(r->s, 1), 0);
    return inside_logits(r->s, 0);
}

static void same_rows(const char *what, const float *a, const float *b, size_t rows, size_t n, size_t ld)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < n; i++)
            if (memcmp(&a[r * ld + i], &b[r * ld + i], sizeof *a))
                fail_msg("%s, row %zu, column %zu: %.9g fused, %.9g apart", what, r, i, (double)a[r * ld + i], (double)b[r * ld + i]);
}

/* Greedy steps, whose logits may come in two stages: chosen ids with their probabilities, into out[STEPS]. */
static void choose(struct rig *r, struct sampled_token *out)
{
    assert_int_equal(inside_bench_lanes(r->s, STEPS, 1, 1), 0);
    inside_add(r->s, 1, 0, 0, ROW_SAMPLE);
    assert_int_equal(inside_replay(r->s, STEPS), 0);
    memcpy(out, inside_picked(r->s, 0), STEPS * sizeof *out);
}

static void same_bits(const struct whisper_dims *d, enum dtype type, const char *level, int compute, steno_team *team)
{
    struct rig r[2];
    const struct bytes b = random_bytes(d, type, 11);
    for (int i = 0; i < 2; i++) rig_open(&r[i], b, level, compute, i, team);
    const struct plan *enc[2] = { inside_plan(r[0].model, PLAN_ENCODER), inside_plan(r[1].model, PLAN_ENCODER) };
    const struct slot *out = &enc[0]->slot[enc[0]->output];
    same_rows("encoder", inside_encoded(r[0].s), inside_encoded(r[1].s),
              (size_t)d->n_audio_ctx, out->width, out->ld);
    void *cross[2] = { inside_state_copy(r[0].s, STATE_CROSS), inside_state_copy(r[1].s, STATE_CROSS) };
    assert_true(cross[0] && cross[1]);
    assert_int_equal(inside_state_sz(r[0].s, STATE_CROSS), inside_state_sz(r[1].s, STATE_CROSS));
    assert_memory_equal(cross[0], cross[1], inside_state_sz(r[0].s, STATE_CROSS));
    for (int i = 0; i < 2; i++) free(cross[i]);
    for (int i = 0; i < 2; i++) inside_lane_reset(r[i].s, 1);
    same_rows("prompt", step(&r[0], 0, PROMPT, 1), step(&r[1], 0, PROMPT, 1), 1, (size_t)d->n_vocab, 0);
    for (int k = 0; k < STEPS; k++)
        same_rows("step", step(&r[0], PROMPT + k, 1, 1), step(&r[1], PROMPT + k, 1, 1), 1, (size_t)d->n_vocab, 0);
    struct sampled_token chosen[2][STEPS];
    for (int i = 0; i < 2; i++) choose(&r[i], chosen[i]);
    for (int k = 0; k < STEPS; k++)
        if (chosen[0][k].id != chosen[1][k].id || chosen[0][k].logprob != chosen[1][k].logprob)
            fail_msg("choice %d: %d fused, %d apart", k, (int)chosen[0][k].id, (int)chosen[1][k].id);
    const float *m[2];
    size_t ld = 0;
    int32_t ids[ALIGNED];
    for (int i = 0; i < ALIGNED; i++) ids[i] = i * 7 + 1;
    for (int i = 0; i < 2; i++) assert_int_equal(inside_align(r[i].s, 0, ids, ALIGNED, d->n_audio_ctx, &m[i], &ld, NULL), 0);
    same_rows("alignment", m[0], m[1], ALIGNED, (size_t)d->n_audio_ctx, ld);
    for (int i = 0; i < 2; i++) rig_close(&r[i]);
    free(b.p);
}

static struct whisper_dims const dims = { 80, 30, 64, 2, 2, SMALL_VOCAB, 70, 64, 2, 2 };

static void test_plans_without_fusions_give_the_same_bits_at_every_level(void **state)
{
    (void)state;
    static const enum dtype type[] = { DT_F32, DT_F16, DT_Q8_0, DT_Q4_0, DT_Q5_1 };
    const char *level[LEVELS_MAX];
    const int n = levels_for_plans(level);
    for (const char *const *l = level; l < level + n; l++)
        for (size_t i = 0; i < sizeof type / sizeof *type; i++) same_bits(&dims, type[i], *l, STENO_COMPUTE_F32, NULL);
}

static void test_plans_without_fusions_give_the_same_bits_in_bf16_and_int8(void **state)
{
    (void)state;
    const char *level[LEVELS_MAX];
    const int n = levels_for_plans(level);
    for (const char *const *l = level; l < level + n; l++) {
        same_bits(&dims, DT_F16, *l, STENO_COMPUTE_BF16, NULL);
        same_bits(&dims, DT_F16, *l, STENO_COMPUTE_INT8, NULL);
    }
}

static void test_plans_without_fusions_give_the_same_bits_for_other_shapes_and_three_threads(void **state)
{
    (void)state;
    static const struct whisper_dims other[] = {
        { 80, 30, 48, 3, 2, SMALL_VOCAB, 70, 48, 3, 2 }, /* Q, K and V share panels and stay together */
        { 128, 261, 96, 3, 2, SMALL_VOCAB, 70, 96, 3, 3 },
    };
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) same_bits(&other[i], DT_F32, NULL, STENO_COMPUTE_F32, team);
    steno_team_close(team);
}

static int count(const struct plan *p, enum op_kind kind)
{
    int n = 0;
    for (int i = 0; i < p->n_ops; i++) n += p->op[i].kind == kind;
    return n;
}

/* A decoder layer is 11 commands, or 22: two linears more for Q, K and V; six biases, one of them with the GELU; three residuals. */
static void test_every_fusion_is_taken_apart_and_phases_stay_whole(void **state)
{
    (void)state;
    struct rig r[2];
    const struct bytes b = random_bytes(&dims, DT_F16, 11);
    for (int i = 0; i < 2; i++) rig_open(&r[i], b, NULL, STENO_COMPUTE_F32, i, NULL);
    const struct plan *p = inside_plan(r[1].model, 0), *fused = inside_plan(r[0].model, 0);
    assert_int_equal(p[PLAN_DECODER].n_ops - fused[PLAN_DECODER].n_ops, dims.n_text_layer * (22 - 11));
    for (int k = 0; k < MODEL_PLANS; k++) {
        assert_int_equal(count(&fused[k], OP_ACT) + count(&fused[k], OP_ADD), 0);
        for (int i = 0; i < p[k].n_ops; i++) {
            const struct bind *c = &p[k].bind[p[k].op[i].bind];
            if (p[k].op[i].kind != OP_LINEAR || !c->n_y) continue;
            if (c->bias || c->act || c->positions || p[k].op[i].aux != NO_SLOT || c->n_y != c->n) fail_msg("%s", p[k].label[i]);
        }
        for (int i = 0; i < PLAN_PHASES && p[k].phase[i].name; i++) {
            const char *begin = fused[k].label[fused[k].phase[i].first]; /* parts of an op are called after it */
            assert_memory_equal(p[k].label[p[k].phase[i].first], begin, strlen(begin));
            assert_int_equal(p[k].phase[i].last, i + 1 < PLAN_PHASES && p[k].phase[i + 1].name ? p[k].phase[i + 1].first : p[k].n_ops);
        }
    }
    for (int i = 0; i < 2; i++) rig_close(&r[i]);
    free(b.p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans_without_fusions_give_the_same_bits_at_every_level),
        cmocka_unit_test(test_plans_without_fusions_give_the_same_bits_in_bf16_and_int8),
        cmocka_unit_test(test_plans_without_fusions_give_the_same_bits_for_other_shapes_and_three_threads),
        cmocka_unit_test(test_every_fusion_is_taken_apart_and_phases_stay_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
