/* steno tests: the alignment plan. SPDX-License-Identifier: MIT
 *
 * Random small models, at every processor level, against the network and the alignment written out slowly in double precision. */
#include "slow_align.h"
#include "internal.h"

enum { ROWS_MAX = 448 };

struct rig {
    struct bytes file;
    struct slow slow;
    steno_team *team;
    steno_model *model;
    steno_session *s;
    int32_t ids[ROWS_MAX];
};

static void rig_open(struct rig *r, const struct whisper_dims *d, const char *level, const char *heads, int threads)
{
    r->file = random_bytes(d, DT_F32, 7);
    slow_open(&r->slow, r->file);
    steno_model_params p;
    steno_model_params_init(&p);
    p.cpu_level = level;
    p.alignment_heads = heads;
    steno_error e;
    p.compute = STENO_COMPUTE_F32;
    if (steno_model_open_memory(&r->model, r->file.p, r->file.n, &p, &e)) fail_msg("%s", e.text);
    assert_int_equal(steno_team_open(&r->team, threads, NULL), 0);
    r->s = session_new(r->model, r->team, 3);
    inside_begin(r->s);
    const size_t n = 2 * (size_t)d->n_audio_ctx * (size_t)d->n_mels;
    uint32_t seed = 3;
    for (size_t i = 0; i < n; i++) inside_mel(r->s)[i] = noise(&seed);
    for (int i = 0; i < ROWS_MAX; i++) r->ids[i] = (i * 613 + 5) % d->n_vocab;
}

static void rig_close(struct rig *r)
{
    steno_session_close(r->s);
    steno_model_close(r->model);
    steno_team_close(r->team);
    slow_close(&r->slow);
    free(r->file.p);
}

/* The encoder's output in double; the session's window is encoded too. */
static const double *encoded(struct rig *r)
{
    const double *out = slow_encode(&r->slow, inside_mel(r->s)).out;
    assert_int_equal(inside_encode(r->s), 0);
    return out;
}

static const float *aligned(struct rig *r, uint16_t lane, int32_t n, int32_t n_ctx, size_t *ld, float *prob)
{
    const float *m = NULL;
    if (inside_align(r->s, lane, r->ids, n, n_ctx, &m, ld, prob)) fail_msg("%s", steno_last_error(r->s));
    return m;
}

static void near_slow(struct rig *r, const double *enc, int32_t n, int32_t n_ctx, const struct slow_head *heads, size_t n_heads)
{
    size_t ld;
    const double *want = slow_align(&r->slow, enc, r->ids, (size_t)n, (size_t)n_ctx, heads, n_heads);
    const float *m = aligned(r, 0, n, n_ctx, &ld, NULL);
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < n_ctx; j++) {
            const double got = (double)m[(size_t)i * ld + (size_t)j], w = want[i * n_ctx + j];
            if (!(fabs(got - w) <= 1e-3))
                fail_msg("%d rows, %d frames, row %d, frame %d: %.9g, want %.9g", (int)n, (int)n_ctx, (int)i, (int)j, got, w);
        }
}

static void test_matrix_equals_the_slow_computation_for_odd_sizes_at_every_level(void **state)
{
    (void)state;
    static const struct slow_head heads[] = { { 0, 1 }, { 1, 0 }, { 1, 2 } };
    static const int32_t frames[] = { 1, 2, 3, 4, 5, 7, 29, 30 }, rows[] = { 1, 2, 11, 13, 70 };
    const char *level[LEVELS_MAX];
    levels_for_plans(level);
    for (const char *const *l = level; *l; l++) {
        struct rig r;
        rig_open(&r, &small_dims, *l, "1,2 0,1 1,0 0,1", 1);
        const double *enc = encoded(&r);
        for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) near_slow(&r, enc, 11, frames[i], heads, 3);
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) near_slow(&r, enc, rows[i], 23, heads, 3);
        rig_close(&r);
    }
}

static void test_a_whole_window_of_1500_frames_and_448_rows_fit(void **state)
{
    (void)state;
    const struct whisper_dims d = { 80, 1500, 8, 2, 1, SMALL_VOCAB, 448, 8, 2, 1 };
    static const struct slow_head heads[] = { { 0, 0 }, { 0, 1 } };
    struct rig r;
    rig_open(&r, &d, NULL, NULL, 2);
    const double *enc = encoded(&r);
    near_slow(&r, enc, 5, 1500, heads, 2);
    near_slow(&r, enc, 448, 61, heads, 2);
    rig_close(&r);
}

/* The reference divides zero by zero here. */
static void test_one_row_gives_zeros(void **state)
{
    (void)state;
    struct rig r;
    size_t ld;
    rig_open(&r, &small_dims, NULL, NULL, 1);
    encoded(&r);
    const float *m = aligned(&r, 0, 1, 30, &ld, NULL);
    for (int j = 0; j < 30; j++) assert_true(m[j] == 0);
    rig_close(&r);
}

static void test_probabilities_are_the_softmax_of_text_before_each_token(void **state)
{
    (void)state;
    enum { N = 70 };
    struct rig r;
    rig_open(&r, &small_dims, NULL, NULL, 2);
    const int32_t eot = inside_tokens(r.model)->eot;
    for (int i = 0; i < N; i++) r.ids[i] = i % 6 == 5 ? eot + i % 3 : r.ids[i] % eot;
    const size_t vocab = (size_t)inside_n_vocab(r.model);
    const double *x = slow_decode(&r.slow, encoded(&r), r.ids, N);
    float prob[N + 1];
    size_t ld;
    prob[N] = -7;
    aligned(&r, 0, N, 30, &ld, prob);
    assert_true(prob[0] == 1 && prob[N] == -7);
    for (int i = 1; i < N; i++) {
        double sum = 0;
        for (int32_t id = 0; id < eot; id++) sum += exp(x[(size_t)(i - 1) * vocab + (size_t)id]);
        const double want = r.ids[i] < eot ? exp(x[(size_t)(i - 1) * vocab + (size_t)r.ids[i]]) / sum : 0;
        if (!(fabs((double)prob[i] - want) <= 1e-4 * want)) fail_msg("probability %d: %.9g, want %.9g", i, (double)prob[i], want);
    }
    rig_close(&r);
}

struct bits { float m[70 * 30], prob[70]; };

static void bits_of(struct rig *r, uint16_t lane, struct bits *b)
{
    size_t ld;
    const float *m = aligned(r, lane, 70, 30, &ld, b->prob);
    for (size_t i = 0; i < 70; i++) memcpy(b->m + i * 30, m + i * ld, 30 * sizeof *m);
}

static void test_threads_lanes_and_earlier_runs_change_no_bit(void **state)
{
    (void)state;
    static struct bits first, b;
    const char *level[LEVELS_MAX];
    levels_for_plans(level);
    for (const char *const *l = level; *l; l++)
        for (int threads = 1; threads <= 5; threads += 2) {
            struct rig r;
            rig_open(&r, &small_dims, *l, "0,0 0,1 1,1", threads);
            assert_int_equal(inside_encode(r.s), 0);
            bits_of(&r, 0, threads == 1 ? &first : &b);
            if (threads > 1) assert_memory_equal(&first, &b, sizeof b);
            size_t ld;
            aligned(&r, 0, 7, 9, &ld, NULL);
            inside_lane_reset(r.s, 1);
            inside_clear(r.s);
            inside_add(r.s, 3, 0, 1, ROW_LOGITS);
            assert_int_equal(inside_replay(r.s, 1), 0);
            bits_of(&r, 2, &b);
            assert_memory_equal(&first, &b, sizeof b);
            rig_close(&r);
        }
}

static void test_other_lanes_keep_their_state(void **state)
{
    (void)state;
    struct rig r;
    float logits[2][SMALL_VOCAB];
    rig_open(&r, &small_dims, NULL, NULL, 1);
    assert_int_equal(inside_encode(r.s), 0);
    for (int with = 0; with < 2; with++) {
        size_t ld;
        inside_lane_reset(r.s, 1);
        for (int i = 0; i < 40; i++) {
            inside_clear(r.s);
            inside_add(r.s, r.ids[i], i, 1, ROW_LOGITS);
            assert_int_equal(inside_replay(r.s, 1), 0);
            if (with && i == 20) aligned(&r, 0, 70, 30, &ld, NULL);
        }
        memcpy(logits[with], inside_logits(r.s, 0), sizeof logits[with]);
    }
    assert_memory_equal(logits[0], logits[1], sizeof logits[0]);
    rig_close(&r);
}

/* What is not the alignment's own is the decoder's list, with the decoder's bytes behind it. */
static void test_the_plan_is_the_decoders_with_three_commands_a_head_and_the_same_weights(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, &small_dims, NULL, "0,1 1,0 1,2", 1);
    const struct plan *a = inside_plan(r.model, PLAN_ALIGN), *d = inside_plan(r.model, PLAN_DECODER);
    assert_int_equal(a->n_ops, d->n_ops + 3 * 3);
    assert_int_equal(a->max_rows, small_dims.n_text_ctx);
    int at = 0, n_own = 0;
    for (int i = 0; i < a->n_ops; i++) {
        const struct op *o = &a->op[i];
        if (o->kind == OP_ATTN_WEIGHTS || o->kind == OP_ZSCORE || o->kind == OP_MEDIAN_FILTER) {
            n_own++;
            continue;
        }
        assert_int_equal(o->kind, d->op[at].kind);
        assert_memory_equal(a->label[i], "align.", 6);
        assert_string_equal(a->label[i] + 6, d->label[at]);
        assert_memory_equal(&a->bind[o->bind], &d->bind[d->op[at].bind], sizeof(struct bind));
        at++;
    }
    assert_int_equal(n_own, 9);
    assert_int_equal(at, d->n_ops);
    rig_close(&r);
}

static void test_text_that_cannot_be_aligned_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct { uint16_t lane; int32_t n, n_ctx, bad_id; const char *says; } c[] = {
        { 3, 5, 5, -9, "lane 3" },     { 0, 0, 5, -9, "0 tokens" },   { 0, 71, 5, -9, "71 tokens" },
        { 0, 5, 0, -9, "0 positions" }, { 0, 5, 31, -9, "31 positions" }, { 0, 5, 5, -1, "id -1" },
        { 0, 5, 5, SMALL_VOCAB, "id 1900" },
    };
    struct rig r;
    rig_open(&r, &small_dims, NULL, NULL, 1);
    assert_int_equal(inside_encode(r.s), 0);
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        const float *m;
        size_t ld;
        const int32_t was = r.ids[4];
        if (c[i].bad_id != -9) r.ids[4] = c[i].bad_id;
        assert_int_equal(inside_align(r.s, c[i].lane, r.ids, c[i].n, c[i].n_ctx, &m, &ld, NULL), STENO_EARG);
        if (!strstr(steno_last_error(r.s), c[i].says)) fail_msg("'%s' does not say '%s'", steno_last_error(r.s), c[i].says);
        r.ids[4] = was;
    }
    rig_close(&r);
}

static int always(void *user)
{
    (void)user;
    return 1;
}

static void test_an_alignment_ends_when_it_is_cancelled(void **state)
{
    (void)state;
    struct rig r;
    const float *m;
    size_t ld;
    rig_open(&r, &small_dims, NULL, NULL, 2);
    assert_int_equal(inside_encode(r.s), 0);
    inside_abort(r.s, always);
    assert_int_equal(inside_align(r.s, 0, r.ids, 9, 9, &m, &ld, NULL), STENO_ECANCELED);
    rig_close(&r);
}

static void test_as_many_heads_as_a_plan_takes(void **state)
{
    (void)state;
    const struct whisper_dims d = { 80, 4, 64, 16, 1, SMALL_VOCAB, 16, 64, 16, 80 };
    struct rig r;
    rig_open(&r, &d, NULL, NULL, 1); /* 640 of 40 layers */
    assert_int_equal(inside_encode(r.s), 0);
    assert_int_equal(inside_plan(r.model, PLAN_ALIGN)->n_ops, inside_plan(r.model, PLAN_DECODER)->n_ops + 3 * 640);
    size_t ld;
    const float *m = aligned(&r, 0, 3, 4, &ld, NULL);
    for (int j = 0; j < 4; j++) assert_true(isfinite(m[j]) && isfinite(m[2 * ld + (size_t)j]));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matrix_equals_the_slow_computation_for_odd_sizes_at_every_level),
        cmocka_unit_test(test_a_whole_window_of_1500_frames_and_448_rows_fit),
        cmocka_unit_test(test_one_row_gives_zeros),
        cmocka_unit_test(test_probabilities_are_the_softmax_of_text_before_each_token),
        cmocka_unit_test(test_threads_lanes_and_earlier_runs_change_no_bit),
        cmocka_unit_test(test_other_lanes_keep_their_state),
        cmocka_unit_test(test_the_plan_is_the_decoders_with_three_commands_a_head_and_the_same_weights),
        cmocka_unit_test(test_text_that_cannot_be_aligned_is_refused_with_a_reason),
        cmocka_unit_test(test_an_alignment_ends_when_it_is_cancelled),
        cmocka_unit_test(test_as_many_heads_as_a_plan_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
