/* steno tests: replaying a plan. SPDX-License-Identifier: MIT
 *
 * The contract that batching rests on: what a row gives depends on its own sequence alone - not on the rows beside it, on how a prompt
 * was cut, on chains or on threads - bit for bit, at every processor level. */
#include "api/random_model.h"
#include "internal.h"
#include "model/parts.h"

enum { LANES = 5, STEPS = 5, CHAIN = 60 };

static struct whisper_dims const dims = { 80, 30, 64, 2, 2, SMALL_VOCAB, 70, 64, 2, 2 }; /* rows of whole blocks of 32 */

static int32_t token_of(int lane, int i)
{
    return (lane * 577 + i * 131 + 3) % SMALL_VOCAB;
}

static int prompt_len(int lane)
{
    return 2 + 4 * lane;
}

static void encode(steno_session *s)
{
    const steno_model *m = s->model;
    float *mel = inside_mel(s);
    uint32_t seed = 9;
    inside_begin(s);
    for (size_t i = 0; i < inside_mel_n(m); i++) mel[i] = noise(&seed);
    assert_int_equal(inside_encode(s), 0);
}

static const float *logits(const steno_session *s, uint32_t i)
{
    return inside_logits(s, i);
}

static void run_once(steno_session *s)
{
    assert_int_equal(inside_replay(s, 1), 0);
    inside_clear(s);
}

static void add_prompt(steno_session *s, int lane, uint16_t into, int from, int to)
{
    for (int i = from; i < to; i++) inside_add(s, token_of(lane, i), i, into, i == prompt_len(lane) - 1 ? ROW_LOGITS : 0);
}

/* Logits after the prompt and after each of STEPS steps of one sequence, computed alone: [STEPS + 1, n_vocab]. */
static float *alone(const steno_model *m, steno_team *team, int lane, int chunk)
{
    const size_t n = (size_t)inside_n_vocab(m);
    float *out = malloc((STEPS + 1) * n * sizeof *out);
    assert_non_null(out);
    steno_session *s = session_new(m, team, 1);
    encode(s);
    inside_lane_reset(s, 0);
    inside_clear(s);
    for (int at = 0; at < prompt_len(lane); at += chunk) {
        add_prompt(s, lane, 0, at, at + chunk < prompt_len(lane) ? at + chunk : prompt_len(lane));
        run_once(s);
    }
    memcpy(out, logits(s, 0), n * sizeof *out);
    for (int k = 0; k < STEPS; k++) {
        inside_add(s, token_of(lane, prompt_len(lane) + k), prompt_len(lane) + k, 0, ROW_LOGITS);
        run_once(s);
        memcpy(out + (size_t)(k + 1) * n, logits(s, 0), n * sizeof *out);
    }
    steno_session_close(s);
    return out;
}

static void lanes_equal_each_alone(const char *level, steno_team *team)
{
    steno_model *m = random_model(&dims, DT_Q8_0, 5, level);
    const size_t n = (size_t)inside_n_vocab(m);
    float *want[LANES];
    for (int l = 0; l < LANES; l++) want[l] = alone(m, team, l, 1000);
    steno_session *s = session_new(m, team, LANES);
    encode(s);
    inside_clear(s);
    for (uint16_t l = 0; l < LANES; l++) {
        inside_lane_reset(s, l);
        add_prompt(s, l, l, 0, prompt_len(l));
    }
    run_once(s); /* five prompts of different lengths in one replay */
    for (uint32_t l = 0; l < LANES; l++) assert_memory_equal(logits(s, l), want[l], n * sizeof(float));
    for (int k = 0; k < STEPS; k++) {
        for (uint16_t l = 0; l < LANES; l++)
            inside_add(s, token_of(l, prompt_len(l) + k), prompt_len(l) + k, l, ROW_LOGITS);
        run_once(s);
        for (uint32_t l = 0; l < LANES; l++) assert_memory_equal(logits(s, l), want[l] + (size_t)(k + 1) * n, n * sizeof(float));
    }
    steno_session_close(s);
    for (int l = 0; l < LANES; l++) free(want[l]);
    steno_model_close(m);
}

static void test_lanes_of_one_replay_equal_each_alone_bit_for_bit_at_every_level(void **state)
{
    (void)state;
    steno_team *team;
    assert_int_equal(steno_team_open(&team, 3, NULL), 0);
    const char *level[LEVELS_MAX];
    levels_for_plans(level);
    for (const char *const *l = level; *l; l++) {
        lanes_equal_each_alone(*l, NULL);
        lanes_equal_each_alone(*l, team);
    }
    steno_team_close(team);
}

static void test_a_prompt_in_pieces_equals_the_whole_bit_for_bit(void **state)
{
    (void)state;
    static const int chunks[] = { 1, 5, 17 };
    const char *level[LEVELS_MAX];
    levels_for_plans(level);
    for (const char *const *l = level; *l; l++) {
        steno_model *m = random_model(&dims, DT_F16, 6, *l);
        float *whole = alone(m, NULL, LANES - 1, 1000);
        for (int i = 0; i < 3; i++) {
            float *cut = alone(m, NULL, LANES - 1, chunks[i]);
            assert_memory_equal(cut, whole, (STEPS + 1) * (size_t)inside_n_vocab(m) * sizeof *cut);
            free(cut);
        }
        free(whole);
        steno_model_close(m);
    }
}

static void test_results_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    static const int threads[] = { 2, 3, 7 };
    steno_model *m = random_model(&dims, DT_Q5_1, 6, NULL);
    float *one = alone(m, NULL, 3, 1000);
    for (int i = 0; i < 3; i++) {
        steno_team *team;
        assert_int_equal(steno_team_open(&team, threads[i], NULL), 0);
        float *many = alone(m, team, 3, 1000);
        assert_memory_equal(many, one, (STEPS + 1) * (size_t)inside_n_vocab(m) * sizeof *one);
        free(many);
        steno_team_close(team);
    }
    free(one);
    steno_model_close(m);
}

/* ---- forks ---- */

static void test_a_forked_lane_goes_on_as_if_it_had_been_computed_alone(void **state)
{
    (void)state;
    enum { SHARED = 40 };
    steno_model *m = random_model(&dims, DT_F32, 8, NULL);
    const size_t sz = (size_t)inside_n_vocab(m) * sizeof(float);
    steno_session *s = session_new(m, NULL, 2), *t = session_new(m, NULL, 1);
    encode(s);
    encode(t);
    inside_lane_reset(s, 0);
    inside_lane_reset(s, 1);
    inside_clear(s);
    for (int i = 0; i < SHARED; i++) inside_add(s, token_of(0, i), i, 0, 0);
    run_once(s);
    inside_fork(s, 1, 0);
    for (int k = 0; k < 3; k++) { /* both go on, with tokens of their own */
        inside_add(s, token_of(1, k), SHARED + k, 0, ROW_LOGITS);
        inside_add(s, token_of(2, k), SHARED + k, 1, ROW_LOGITS);
        run_once(s);
    }
    for (int lane = 0; lane < 2; lane++) {
        inside_lane_reset(t, 0);
        inside_clear(t);
        for (int i = 0; i < SHARED; i++) inside_add(t, token_of(0, i), i, 0, 0);
        for (int k = 0; k < 3; k++) inside_add(t, token_of(lane + 1, k), SHARED + k, 0, k == 2 ? ROW_LOGITS : 0);
        run_once(t);
        assert_memory_equal(logits(s, (uint32_t)lane), logits(t, 0), sz);
    }
    steno_session_close(s);
    steno_session_close(t);
    steno_model_close(m);
}

/* ---- chains ---- */

struct chosen { struct sampled_token out[LANES][CHAIN + 1]; int32_t n[LANES]; double sum[LANES]; };

static void rules_set(steno_session *s, double temperature)
{
    const struct token_roles *t = inside_tokens(s->model);
    struct rule_masks *masks = inside_masks(s);
    rule_masks_clear(masks);
    rule_mask(masks, t->eot);
    for (int i = 0; i < 300; i++) rule_mask(masks, 5 * i);
    *inside_rules(s) = (struct logit_rules){ .mask = masks->always, .mask_first = masks->first, .n_vocab = inside_n_vocab(s->model),
                                            .eot = t->eot, .ts_begin = t->timestamp_begin, .ts_initial_last = t->timestamp_begin + 50,
                                            .timestamps = 1, .temperature = temperature, .seed = 4 };
}

/* Greedy or drawn tokens of several lanes: in one chain, or by a call per step. */
static struct chosen generate(const steno_model *m, int lanes, double temperature, int chain, int *calls)
{
    struct chosen c = { 0 };
    steno_session *s = session_new(m, NULL, LANES);
    encode(s);
    rules_set(s, temperature);
    inside_clear(s);
    for (uint16_t l = 0; l < LANES; l++) {
        inside_lane_reset(s, l);
        struct lane *p = inside_lane(s, l);
        p->sampler.rules = inside_rules(s);
        p->sampler.limit = l < lanes ? CHAIN - 7 * l : 0;
        p->sampler.done = l >= lanes;
        p->sampler.rng_stream = l;
        if (l < lanes)
            for (int i = 0; i < 3; i++) inside_add(s, token_of(l, i), i, l, i == 2 ? ROW_SAMPLE : 0);
    }
    *calls = 0;
    while (inside_n_rows(s)) {
        assert_int_equal(inside_replay(s, chain ? CHAIN + 1 : 1), 0);
        inside_advance(s);
        ++*calls;
    }
    for (int l = 0; l < lanes; l++) {
        c.n[l] = inside_n_picked(s, l);
        c.sum[l] = inside_sum_logprob(s, l);
        memcpy(c.out[l], inside_picked(s, l), (size_t)c.n[l] * sizeof **c.out);
    }
    steno_session_close(s);
    return c;
}

static void test_a_chain_equals_single_steps_in_one_call(void **state)
{
    (void)state;
    steno_model *m = random_model(&dims, DT_F16, 2, NULL);
    for (int sampled = 0; sampled < 2; sampled++) {
        int one, many;
        const struct chosen chain = generate(m, 1, sampled, 1, &one), steps = generate(m, 1, sampled, 0, &many);
        assert_int_equal(one, 1);
        assert_int_equal(many, CHAIN);
        assert_int_equal(chain.n[0], CHAIN);
        assert_memory_equal(&chain, &steps, sizeof chain);
    }
    steno_model_close(m);
}

static void test_lanes_that_finish_early_leave_the_chain_and_keep_their_sums(void **state)
{
    (void)state;
    steno_model *m = random_model(&dims, DT_F16, 2, NULL);
    int calls;
    const struct chosen together = generate(m, LANES, 0, 1, &calls), single = generate(m, 1, 0, 1, &calls);
    for (int l = 0; l < LANES; l++) assert_int_equal(together.n[l], CHAIN - 7 * l);
    assert_memory_equal(together.out[0], single.out[0], sizeof single.out[0]);
    assert_true(together.sum[0] == single.sum[0]);
    for (int l = 0; l < LANES; l++) {
        double sum = 0;
        for (int i = 0; i < together.n[l]; i++) sum += (double)together.out[l][i].logprob;
        assert_true(fabs(sum - together.sum[l]) < 1e-9);
    }
    steno_model_close(m);
}

/* The op inside the plan chooses what the filters, applied to the logits it left, say. */
static void test_choosing_inside_the_plan_equals_filters_on_the_host(void **state)
{
    (void)state;
    steno_model *m = random_model(&dims, DT_F16, 2, NULL);
    const struct token_roles *t = inside_tokens(m);
    steno_session *s = session_new(m, NULL, 1);
    encode(s);
    rules_set(s, 0);
    inside_lane_reset(s, 0);
    inside_lane(s, 0)->sampler.rules = inside_rules(s);
    inside_lane(s, 0)->sampler.limit = CHAIN;
    inside_clear(s);
    inside_add(s, t->sot, 0, 0, ROW_SAMPLE);
    for (int step = 0; step < CHAIN; step++) {
        const struct lane before = *inside_lane(s, 0);
        const struct logit_range g = logit_range_of(&before.sampler);
        assert_int_equal(inside_replay(s, 1), 0);
        const float *x = logits(s, 0);
        double ts = 0, best_text = -INFINITY, best_ts = -INFINITY;
        int32_t text_id = -1, ts_id = -1;
        for (int32_t i = 0; i < inside_n_vocab(m); i++) {
            const double v = (double)x[i];
            if (g.mask[i >> 5] >> (i & 31) & 1) continue;
            if (i >= g.text_from && i < g.text_to && v > best_text) best_text = v, text_id = i;
            if (i < g.ts_from || i >= g.ts_to || i < t->timestamp_begin) continue;
            ts += exp(v);
            if (v > best_ts) best_ts = v, ts_id = i;
        }
        const int force = ts > 0 && log(ts) > best_text;
        assert_int_equal(inside_picked(s, 0)[step].id, force || best_ts > best_text ? ts_id : text_id);
        inside_advance(s);
    }
    steno_session_close(s);
    steno_model_close(m);
}

static void test_no_speech_probability_is_taken_before_the_rules_at_the_row_asked_for(void **state)
{
    (void)state;
    steno_model *m = random_model(&dims, DT_F16, 2, NULL);
    steno_session *s = session_new(m, NULL, 1);
    encode(s);
    rules_set(s, 0);
    rule_mask(inside_masks(s), inside_tokens(m)->no_speech);
    inside_lane_reset(s, 0);
    struct lane *l = inside_lane(s, 0);
    l->sampler.rules = inside_rules(s);
    l->sampler.limit = 1;
    l->prob.id = inside_tokens(m)->no_speech;
    inside_clear(s);
    for (int i = 0; i < 53; i++) inside_add(s, token_of(1, i), i, 0, i == 50 ? ROW_PROB | ROW_LOGITS : i == 52 ? ROW_SAMPLE : 0);
    assert_int_equal(inside_replay(s, 1), 0);
    const float *x = logits(s, 0);
    double sum = 0;
    for (int32_t i = 0; i < inside_n_vocab(m); i++) sum += exp((double)x[i]);
    assert_true(fabs((double)l->prob.p - exp((double)x[inside_tokens(m)->no_speech]) / sum) < 1e-7);
    steno_session_close(s);
    steno_model_close(m);
}

/* ---- the list ---- */

static uint64_t digest(const void *p, size_t n, uint64_t h)
{
    for (size_t i = 0; i < n; i++) h = (h ^ ((const uint8_t *)p)[i]) * 1099511628211u;
    return h;
}

static uint64_t plans_digest(const steno_model *m)
{
    uint64_t h = 14695981039346656037u;
    for (int i = 0; i < MODEL_PLANS; i++) {
        h = digest(inside_plan(m, i)->op, inside_plan(m, i)->n_ops * sizeof(struct op), h);
        h = digest(inside_plan(m, i)->bind, inside_plan(m, i)->n_binds * sizeof(struct bind), h);
    }
    return digest(inside_plan(m, 0), sizeof inside_plan(m, 0), h);
}

static void test_replays_change_no_byte_of_the_commands(void **state)
{
    (void)state;
    steno_model *m = random_model(&dims, DT_F16, 2, NULL);
    const uint64_t before = plans_digest(m);
    int calls;
    generate(m, LANES, 0, 0, &calls);
    assert_true(plans_digest(m) == before);
    steno_model_close(m);
}

static int count(const struct plan *p, int phase, enum op_kind kind, const char *part)
{
    int n = 0;
    for (int i = p->phase[phase].first; i < p->phase[phase].last; i++) n += p->op[i].kind == kind && strstr(p->label[i], part) != NULL;
    return n;
}

static void test_the_lists_are_the_networks_boxes_and_nothing_else(void **state)
{
    (void)state;
    steno_model *m = random_model_as(&dims, DT_F16, 2, NULL, STENO_COMPUTE_F32);
    const struct plan *e = inside_plan(m, PLAN_ENCODER), *d = inside_plan(m, PLAN_DECODER);
    const int layers = 2;
    assert_int_equal(e->phase[PHASE_ENCODE].last - e->phase[PHASE_ENCODE].first, 2 + 7 * layers + 1);
    assert_int_equal(count(e, PHASE_ENCODE, OP_LINEAR, ".mlp."), 2 * layers);
    assert_int_equal(count(e, PHASE_CROSS, OP_LINEAR, "cross_attn.kv"), layers); /* keys and values together, once per window */
    assert_int_equal(e->phase[PHASE_CROSS].last - e->phase[PHASE_CROSS].first, layers);
    assert_int_equal(d->n_ops, 1 + 11 * layers + 4);
    assert_int_equal(count(d, 0, OP_LINEAR, "cross_attn."), 2 * layers); /* query and output: nothing is computed from the audio here */
    assert_int_equal(count(d, 0, OP_ATTN, "cross_attn"), layers);
    for (int i = 0; i < e->n_ops; i++) /* the encoder's projections write keys and values where attention reads them */
        if (strstr(e->label[i], "attn.qkv")) assert_true(e->op[i].kv_slot != NO_SLOT && e->op[i].kv_slot == e->op[i + 1].kv_slot);
    assert_true(d->op[0].kind == OP_EMBED && d->bind[d->op[0].bind].w == d->bind[d->op[d->n_ops - 3].bind].w); /* one embedding */
    assert_int_equal(sizeof(struct op), 20);
    steno_model_close(m);
}

/* Where arithmetic is narrow, logits come in two stages, but for words, whose probabilities are asked one by one. A matrix of 8 bits or
 * less has nothing to be screened by. */
static void test_logits_come_in_two_stages_where_arithmetic_is_narrow(void **state)
{
    (void)state;
    static const struct { enum dtype type; enum steno_compute compute; int stages; } row[] = {
        { DT_F16, STENO_COMPUTE_F32, 1 }, { DT_F16, STENO_COMPUTE_BF16, 2 },  { DT_F32, STENO_COMPUTE_INT8, 2 },
        { DT_Q8_0, STENO_COMPUTE_BF16, 1 }, { DT_Q4_0, STENO_COMPUTE_INT8, 1 },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        steno_model *m = random_model_as(&dims, row[i].type, 2, NULL, row[i].compute);
        assert_int_equal(count(inside_plan(m, PLAN_DECODER), 0, OP_LOGITS_APPROX, ".approx"), row[i].stages - 1);
        assert_int_equal(count(inside_plan(m, PLAN_DECODER), 0, OP_LOGITS_BOUND, ".bounds"), row[i].stages - 1);
        assert_int_equal(inside_plan(m, PLAN_DECODER)->bounds != NO_SLOT, row[i].stages - 1);
        assert_int_equal(count(inside_plan(m, PLAN_ALIGN), 1, OP_LOGITS_APPROX, ""), 0);
        steno_model_close(m);
    }
}

static void test_models_as_deep_as_large_and_as_the_reader_allows_have_plans(void **state)
{
    (void)state;
    static const int32_t layers[] = { 32, 256 };
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        const struct whisper_dims d = { 80, 4, 8, 1, layers[i], SMALL_VOCAB, 16, 8, 1, layers[i] };
        steno_model *m = random_model_as(&d, DT_F16, 3, NULL, STENO_COMPUTE_F32);
        const struct plan *p = inside_plan(m, PLAN_DECODER);
        assert_int_equal(p->n_ops, 1 + 11 * layers[i] + 4);
        /* the residual stream and one layer's buffers, however many layers there are */
        const size_t layer = (size_t)p->max_rows * 4 * (12 * 8 + 8 * ROW_PAD);
        assert_true(p->scratch_sz < layer + (size_t)RUN_LANES * 4 * (SMALL_VOCAB + 64 + ROW_PAD));
        steno_model_close(m);
    }
}

struct dump { int lines, gelu, residual, positions, head_major; };

static void dump_line(void *user, const char *line)
{
    struct dump *d = user;
    d->lines++;
    d->gelu += strstr(line, "gelu(erf)") != NULL;
    d->residual += strstr(line, " residual") != NULL;
    d->positions += strstr(line, " positions") != NULL;
    d->head_major += strstr(line, "head-major") != NULL;
}

static void test_bias_activation_and_residual_are_part_of_the_linear(void **state)
{
    (void)state;
    steno_model *m = random_model_as(&dims, DT_F16, 2, NULL, STENO_COMPUTE_F32);
    struct dump d = { 0 };
    assert_int_equal(steno_plan_dump(m, dump_line, &d), 0);
    int lines = 2 + 3 + 5; /* states, headings, phases */
    for (int p = 0; p < MODEL_PLANS; p++) lines += inside_plan(m, p)->n_ops;
    assert_int_equal(d.lines, lines);
    assert_int_equal(d.head_major, 2);
    assert_int_equal(d.gelu, 2 + 2 + 2 + 2);
    assert_int_equal(d.residual, 2 * 2 + 3 * 2 + 3 * 2);
    assert_int_equal(d.positions, 3);
    for (int p = 0; p < MODEL_PLANS; p++)
        for (int i = 0; i < inside_plan(m, p)->n_ops; i++) assert_true(inside_plan(m, p)->op[i].kind < OP_KINDS);
    steno_model_close(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lanes_of_one_replay_equal_each_alone_bit_for_bit_at_every_level),
        cmocka_unit_test(test_a_prompt_in_pieces_equals_the_whole_bit_for_bit),
        cmocka_unit_test(test_results_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(test_a_forked_lane_goes_on_as_if_it_had_been_computed_alone),
        cmocka_unit_test(test_a_chain_equals_single_steps_in_one_call),
        cmocka_unit_test(test_lanes_that_finish_early_leave_the_chain_and_keep_their_sums),
        cmocka_unit_test(test_choosing_inside_the_plan_equals_filters_on_the_host),
        cmocka_unit_test(test_no_speech_probability_is_taken_before_the_rules_at_the_row_asked_for),
        cmocka_unit_test(test_replays_change_no_byte_of_the_commands),
        cmocka_unit_test(test_the_lists_are_the_networks_boxes_and_nothing_else),
        cmocka_unit_test(test_logits_come_in_two_stages_where_arithmetic_is_narrow),
        cmocka_unit_test(test_models_as_deep_as_large_and_as_the_reader_allows_have_plans),
        cmocka_unit_test(test_bias_activation_and_residual_are_part_of_the_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
