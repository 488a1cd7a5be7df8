/* steno tests: plans over rows of features. SPDX-License-Identifier: MIT
 *
 * SAN-M layers (attention beside a filter over time) and streamed memories, built with the builder from a few made-up tensors, against the
 * same layers written out slowly in double precision; at every processor level, with one and two threads. */
#include <float.h>
#include "executor/net.h"
#include "plan/sub.h"

enum { D_IN = 20, D = 24, HEADS = 3, D_HEAD = D / HEADS, D_FF = 28, TAPS = 5, ROWS = 45, MAX_ROWS = 70,
       CHAIN = 16 /* at most this number of products in a row, each as far off as it may be */ };
static float const eps = 1e-5f;
static float const linear_eps = 4 * FLT_EPSILON * 5.3f; /* kern.h: of a linear against the twin; sqrt(D_FF) */

/* ---- tensors ------------------------------------------------------------------------------------------------------------------- */

static struct net_shape const shapes[] = {
    { "first.norm.weight", { D_IN } },
    { "first.norm.bias", { D_IN } },
    { "first.a.linear_q_k_v.weight", { 3 * D, D_IN } },
    { "first.a.linear_q_k_v.bias", { 3 * D } },
    { "first.a.fsmn_block.weight", { D, 1, TAPS } },
    { "first.a.linear_out.weight", { D, D } },
    { "first.a.linear_out.bias", { D } },
    { "more.0.norm.weight", { D } },
    { "more.0.norm.bias", { D } },
    { "more.0.a.linear_q_k_v.weight", { 3 * D, D } },
    { "more.0.a.linear_q_k_v.bias", { 3 * D } },
    { "more.0.a.fsmn_block.weight", { D, 1, TAPS } },
    { "more.0.a.linear_out.weight", { D, D } },
    { "more.0.a.linear_out.bias", { D } },
    { "more.0.norm2.weight", { D } },
    { "more.0.norm2.bias", { D } },
    { "more.0.w1.weight", { D_FF, D } },
    { "more.0.w1.bias", { D_FF } },
    { "more.0.w2.weight", { D, D_FF } },
    { "more.0.w2.bias", { D } },
    { "memory.weight", { D, 1, TAPS, 1 } },
    { "memory63.weight", { D, 1, FSMN_TAPS - 1, 1 } },
    { "memory64.weight", { D, 1, FSMN_TAPS, 1 } },
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

/* ---- the layers, slowly -------------------------------------------------------------------------------------------------------- */

/* x[rows, d_in] -> out[rows, D]; the residual where the widths agree. */
static void slow_sanm(struct net *s, double *out, const double *x, const char *name, int rows, int d_in)
{
    static double normed[MAX_ROWS * D], qkv[MAX_ROWS * 3 * D], attended[MAX_ROWS * D], memory[MAX_ROWS * D], y[MAX_ROWS * D];
    char full[64];
    const float *w[7];
    static const char *const part[] = { "norm.weight", "norm.bias", "a.linear_q_k_v.weight", "a.linear_q_k_v.bias",
                                        "a.fsmn_block.weight", "a.linear_out.weight", "a.linear_out.bias" };
    for (int i = 0; i < 7; i++) {
        snprintf(full, sizeof full, "%s.%s", name, part[i]);
        w[i] = net_find(s, full);
    }
    slow_norm(normed, x, w[0], w[1], (double)eps, rows, d_in);
    slow_linear(qkv, normed, w[2], w[3], rows, 3 * D, d_in);
    slow_attention(attended, &(struct slow_attn){ qkv, qkv + D, 3 * D, 3 * D, rows, rows, HEADS, D_HEAD });
    slow_memory(memory, qkv + 2 * D, 3 * D, &(struct slow_filter){ w[4], D, TAPS, (TAPS - 1) / 2 }, rows);
    slow_linear(y, attended, w[5], w[6], rows, D, D);
    for (int i = 0; i < rows * D; i++) out[i] = y[i] + memory[i] + (d_in == D ? x[i] : 0);
}

static void slow_ffn(struct net *s, double *x, int rows)
{
    static double normed[MAX_ROWS * D], wide[MAX_ROWS * D_FF], y[MAX_ROWS * D];
    slow_norm(normed, x, net_find(s, "more.0.norm2.weight"), net_find(s, "more.0.norm2.bias"), (double)eps, rows, D);
    slow_linear(wide, normed, net_find(s, "more.0.w1.weight"), net_find(s, "more.0.w1.bias"), rows, D_FF, D);
    slow_relu(wide, rows * D_FF);
    slow_linear(y, wide, net_find(s, "more.0.w2.weight"), net_find(s, "more.0.w2.bias"), rows, D, D_FF);
    for (int i = 0; i < rows * D; i++) x[i] += y[i];
}

/* ---- the same as plans --------------------------------------------------------------------------------------------------------- */

/* The streamed memory at hand. */
static struct memory { const char *name; int taps; } memory = { "memory.weight", TAPS };

static void rig_open(struct net *r, int level, int threads, void (*fill)(struct build *b))
{
    const struct state_desc tail = { "tail", STATE_SHIFT, 1, 1, D, (uint32_t)memory.taps - 1, 0, 0, 0 };
    const struct net_desc d = { .shape = shapes, .n_shapes = N_SHAPES, .fill = fill, .max_rows = MAX_ROWS, .state = &tail, .n_states = 1 };
    net_open(r, &d, level, threads);
}

/* Rows of x through the plan; y [rows, width of the output]. */
static void rig_run(struct net *r, float *y, const float *x, int rows)
{
    net_phases(r, &(struct phases){ .end = 1, .n_rows = (uint32_t)rows }, x);
    net_output(r, r->plan.output, y, (uint32_t)rows, CHAIN * linear_eps);
}

/* The same, rows of LANES sequences, n[i] of lane i. */
enum { LANES = NET_LANES };

static void rig_sequences(struct net *r, float *y, const float *x, const int n[LANES])
{
    struct sequence s[LANES];
    uint32_t n_s = 0, rows = 0;
    for (int i = 0; i < LANES; rows += (uint32_t)n[i++])
        if (n[i]) s[n_s] = sequence_next(n_s ? &s[n_s - 1] : NULL, (uint32_t)n[i], (uint16_t)i), n_s++;
    net_phases(r, &(struct phases){ .end = 1, .n_rows = rows, .sequence = s, .n_sequences = n_s }, x);
    net_output(r, r->plan.output, y, rows, CHAIN * linear_eps);
}

static struct sub const layer[] = {
    { sub_sanm, "norm", "a", NULL, 0 },
    { sub_ffn, "norm2", "w1", "w2", SUB_RELU },
    { 0 },
};

static void fill_sanm(struct build *b)
{
    static struct sub_dims const dims = { .d = D, .n_heads = HEADS, .n_kv_heads = HEADS, .d_head = D_HEAD, .d_ff = D_FF, .taps = TAPS,
                                          .eps = 1e-5f };
    b->plan.input = build_slot(b, D_IN);
    b->plan.output = build_slot(b, D);
    b->prefix = "first";
    sub_sanm_first(b, &dims, layer, b->plan.output, b->plan.input, D_IN);
    b->prefix = "";
    sub_stack(b, layer, &dims, "more", 1, b->plan.output);
}

static void fill_memory(struct build *b)
{
    b->plan.input = build_slot(b, D);
    b->plan.output = build_slot(b, D);
    const uint16_t taps = bind_fsmn(b, memory.name, D, (uint32_t)memory.taps, (uint32_t)memory.taps - 1, 1);
    struct op *op = emit(b, OP_FSMN, "memory", b->plan.output, b->plan.input, taps);
    if (op) op->state = 0;
    op = emit(b, OP_SHIFT_STATE, "tail", NO_SLOT, b->plan.input, taps);
    if (op) op->state = 0;
}

static void check_sanm(int level, int threads)
{
    static double slow_x[MAX_ROWS * D_IN], want[MAX_ROWS * D], first[MAX_ROWS * D];
    static float x[MAX_ROWS * D_IN], y[MAX_ROWS * D], again[MAX_ROWS * D];
    struct net r;
    rig_open(&r, level, threads, fill_sanm);
    for (int i = 0; i < MAX_ROWS * D_IN; i++) slow_x[i] = (double)(x[i] = net_noise());
    const int rows[] = { MAX_ROWS, ROWS, 1 }; /* what a longer run left behind must not be seen */
    for (int k = 0; k < 3; k++) {
        slow_sanm(&r, first, slow_x, "first", rows[k], D_IN);
        slow_sanm(&r, want, first, "more.0", rows[k], D);
        slow_ffn(&r, want, rows[k]);
        rig_run(&r, y, x, rows[k]);
        for (int i = 0; i < rows[k] * D; i++)
            if (fabs((double)y[i] - want[i]) > 1e-5 * (1 + fabs(want[i])))
                fail_msg("level %d, %d rows: row %d, column %d is %.9g, want %.9g", level, rows[k], i / D, i % D, (double)y[i], want[i]);
        rig_run(&r, again, x, rows[k]);
        assert_memory_equal(y, again, (size_t)rows[k] * D * sizeof *y);
    }
    net_close(&r);
}

static void test_sanm_layers_equal_the_slow_ones_at_every_level(void **state)
{
    (void)state;
    net_each_level(check_sanm);
}

static void check_memory(int level, int threads)
{
    static double slow_x[MAX_ROWS * D], want[MAX_ROWS * D];
    static float x[MAX_ROWS * D], whole[MAX_ROWS * D], pieces[MAX_ROWS * D];
    struct net r;
    rig_open(&r, level, threads, fill_memory);
    for (int i = 0; i < MAX_ROWS * D; i++) slow_x[i] = (double)(x[i] = net_noise());
    slow_memory(want, slow_x, D, &(struct slow_filter){ net_find(&r, memory.name), D, memory.taps, memory.taps - 1 }, MAX_ROWS);
    exec_state_reset(r.exec, 0, 0);
    exec_state_reset(r.other, 0, 0);
    rig_run(&r, whole, x, MAX_ROWS);
    for (int i = 0; i < MAX_ROWS * D; i++) assert_true(fabs((double)whole[i] - want[i]) <= 1e-5 * (1 + fabs(want[i])));
    for (int piece = 1; piece <= 7; piece += 3) { /* shorter and longer than the memory */
        exec_state_reset(r.exec, 0, 0);
        exec_state_reset(r.other, 0, 0);
        for (int at = 0; at < MAX_ROWS; at += piece)
            rig_run(&r, pieces + (size_t)at * D, x + (size_t)at * D, piece < MAX_ROWS - at ? piece : MAX_ROWS - at);
        assert_memory_equal(whole, pieces, sizeof whole);
    }
    net_close(&r);
}

static void test_a_memory_streamed_in_pieces_gives_the_bits_of_the_whole(void **state)
{
    (void)state;
    net_each_level(check_memory);
}

static int attends_in(const struct net *r, enum kv_type t)
{
    int n = 0;
    for (int i = 0; i < r->plan.n_ops; i++)
        n += r->plan.op[i].kind == OP_KV_PACK && r->plan.slot[r->plan.op[i].kv_slot].kv_type == t;
    return n;
}

/* In integers, attention, too, in that of the same width. Beside int8 a weight near a tie is a step off in the plain executor, which is of
 * 254. @return layers with such attention */
static int open_in(struct net *r, enum packed_type t, float scale, int level, int threads)
{
    const enum kv_type attn = t == PK_I8_QUAD ? KV_I8 : KV_I16;
    struct net_desc d = { .shape = shapes, .n_shapes = N_SHAPES, .fill = fill_sanm, .max_rows = MAX_ROWS, .scale = scale,
                          .precision = { .int8_scores = 1, .int8_attn = attn == KV_I8, .int16_attn = attn == KV_I16 } };
    for (int i = 0; i < LINEAR_ROLES; i++) d.precision.by_role[i] = t;
    net_open(r, &d, level, threads);
    return attends_in(r, attn);
}

static void test_beside_int8_attention_is_int16_where_int8_does_not_serve_and_bf16_is_not_faster(void **state)
{
    (void)state;
    static const struct { float scale; int int8; enum packed_type bf16; enum kv_type want; } of[] = {
        { 0.4f, 1, 0, KV_I8 }, { 0.4f, 0, 0, KV_I16 }, { 0.4f, 1, PK_BF16_PAIR, KV_I8 }, { 0.4f, 0, PK_BF16_PAIR, KV_BF16 },
    };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        struct net_desc d = { .shape = shapes, .n_shapes = N_SHAPES, .fill = fill_sanm, .max_rows = MAX_ROWS, .scale = of[i].scale,
                              .precision = { .bf16 = of[i].bf16, .int8_scores = 1, .int8_attn = of[i].int8, .int16_attn = 1 } };
        struct net r;
        for (int role = 0; role < LINEAR_ROLES; role++) d.precision.by_role[role] = PK_I8_QUAD;
        net_open(&r, &d, 0, 1);
        assert_int_equal(attends_in(&r, KV_I8), of[i].want == KV_I8 ? 2 : 0);
        assert_int_equal(attends_in(&r, KV_I16), of[i].want == KV_I16 ? 2 : 0);
        net_close(&r);
    }
}

static void check_in(enum packed_type t, double most, int level, int threads)
{
    static double slow_x[MAX_ROWS * D_IN], want[MAX_ROWS * D], first[MAX_ROWS * D];
    static float x[MAX_ROWS * D_IN], y[MAX_ROWS * D], alone[MAX_ROWS * D], together[MAX_ROWS * D];
    const char *name = t == PK_I8_QUAD ? "int8" : "int16";
    struct net r;
    assert_int_equal(open_in(&r, t, 0.4f, level, threads), 2);
    for (int i = 0; i < MAX_ROWS * D_IN; i++) slow_x[i] = (double)(x[i] = net_noise());
    slow_sanm(&r, first, slow_x, "first", MAX_ROWS, D_IN);
    slow_sanm(&r, want, first, "more.0", MAX_ROWS, D);
    slow_ffn(&r, want, MAX_ROWS);
    net_phases(&r, &(struct phases){ .end = 1, .n_rows = MAX_ROWS }, x);
    net_output(&r, r.plan.output, y, MAX_ROWS, (float)most / 5);
    net_near(y, want, MAX_ROWS, D, most, name, level);
    static const int n[] = { 31, 5, 32 };
    struct sequence s[LANES];
    int rows = 0;
    for (int i = 0; i < LANES; rows += n[i++]) {
        net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)n[i] }, x + rows * D_IN);
        net_output(&r, r.plan.output, alone + rows * D, (uint32_t)n[i], (float)most / 5);
        s[i] = sequence_next(i ? &s[i - 1] : NULL, (uint32_t)n[i], (uint16_t)i);
    }
    net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)rows, .sequence = s, .n_sequences = LANES }, x);
    net_output(&r, r.plan.output, together, (uint32_t)rows, (float)most / 5);
    assert_memory_equal(alone, together, (size_t)rows * D * sizeof *alone);
    net_close(&r);
    assert_int_equal(open_in(&r, t, 8, level, threads), 0); /* scores are large */
    net_close(&r);
}

static void check_in_i8(int level, int threads) { check_in(PK_I8_QUAD, 0.05, level, threads); }
static void check_in_i16(int level, int threads) { check_in(PK_I16_PAIR, 2e-3, level, threads); }

/* The largest weights whose attention is in integers of type t in both layers. */
static double last_scale(enum packed_type t)
{
    double small = 0.2, large = 8;
    for (int i = 0; i < 16; i++) {
        const double middle = (small + large) / 2;
        struct net r;
        const int packs = open_in(&r, t, (float)middle, 0, 1);
        net_close(&r);
        *(packs == 2 ? &small : &large) = middle;
    }
    return small;
}

/* Scores grow with the fourth power of the scale, which is that of the matrices and of the norm before them. They may deviate by 1 beside
 * int8 and by 4 beside int16. */
static void test_attention_in_int16_allows_scores_four_times_as_large_as_in_int8(void **state)
{
    (void)state;
    const double ratio = last_scale(PK_I16_PAIR) / last_scale(PK_I8_QUAD);
    if (fabs(ratio - sqrt(2)) > 0.005) fail_msg("weights %.4g times as large", ratio);
}

static void test_layers_in_integers_are_near_the_slow_ones_and_sequences_stay_alone(void **state)
{
    (void)state;
    net_each_level(check_in_i8);
    net_each_level(check_in_i16);
}

/* ---- several sequences in one run ---------------------------------------------------------------------------------------------- */

static void check_sequences(int level, int threads)
{
    static float x[MAX_ROWS * D_IN], alone[MAX_ROWS * D], together[MAX_ROWS * D];
    static const int n[][LANES] = { { 1, 1, 1 }, { 32, 1, 31 }, { 33, 20, 0 }, { 5, 30, 17 }, { 0, 64, 6 }, { 32, 0, 32 }, { 64, 1, 0 } };
    struct net r;
    rig_open(&r, level, threads, fill_sanm);
    for (int i = 0; i < MAX_ROWS * D_IN; i++) x[i] = net_noise();
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        int rows = 0;
        for (int i = 0; i < LANES; rows += n[k][i++])
            if (n[k][i]) rig_run(&r, alone + (size_t)rows * D, x + (size_t)rows * D_IN, n[k][i]);
        rig_sequences(&r, together, x, n[k]);
        if (memcmp(alone, together, (size_t)rows * D * sizeof *alone))
            fail_msg("level %d: rows %d, %d, %d", level, n[k][0], n[k][1], n[k][2]);
    }
    net_close(&r);
}

static void test_sequences_of_one_run_do_not_see_each_other(void **state)
{
    (void)state;
    net_each_level(check_sequences);
}

static void reset_all(struct net *r)
{
    for (uint32_t i = 0; i < LANES; i++) {
        exec_state_reset(r->exec, 0, i);
        exec_state_reset(r->other, 0, i);
    }
}

static void check_streams(int level, int threads)
{
    static float x[LANES][MAX_ROWS * D], whole[LANES][MAX_ROWS * D], in[MAX_ROWS * D], out[MAX_ROWS * D];
    struct net r;
    rig_open(&r, level, threads, fill_memory);
    for (int i = 0; i < LANES; i++) {
        for (int k = 0; k < MAX_ROWS * D; k++) x[i][k] = net_noise();
        reset_all(&r);
        rig_run(&r, whole[i], x[i], MAX_ROWS);
    }
    int at[LANES] = { 0 };
    reset_all(&r);
    for (int turn = 0; at[0] < MAX_ROWS || at[1] < MAX_ROWS || at[2] < MAX_ROWS; turn++) {
        int n[LANES], rows = 0;
        for (int i = 0; i < LANES; rows += n[i++]) {
            const int want = (turn * 7 + i * 5) % 9, left = MAX_ROWS - at[i];
            n[i] = want < left ? want : left;
            memcpy(in + (size_t)rows * D, x[i] + (size_t)at[i] * D, (size_t)n[i] * D * sizeof *in);
        }
        if (!rows) continue;
        rig_sequences(&r, out, in, n);
        rows = 0;
        for (int i = 0; i < LANES; rows += n[i], at[i] += n[i], i++)
            for (int k = 0; k < n[i] * D; k++) assert_true(out[rows * D + k] == whole[i][at[i] * D + k]);
    }
    net_close(&r);
}

static void test_streams_that_share_runs_keep_their_own_memories(void **state)
{
    (void)state;
    net_each_level(check_streams);
}

static void test_sequences_whose_keys_have_no_room_are_refused(void **state)
{
    (void)state;
    struct net r;
    struct run_time spent;
    rig_open(&r, CPU_C, 1, fill_sanm); /* 70 rows: three blocks of keys */
    assert_int_equal(sequence_room(NULL, MAX_ROWS), MAX_ROWS);
    struct sequence s[] = { sequence_next(NULL, 33, 0), { 0 }, { 0 } };
    assert_int_equal(sequence_room(&s[0], MAX_ROWS), 32);
    s[1] = sequence_next(&s[0], 1, 1);
    assert_int_equal(sequence_room(&s[1], MAX_ROWS), 0);
    s[2] = sequence_next(&s[1], 1, 2);
    struct phases what = { .end = 1, .n_rows = 35, .sequence = s, .n_sequences = 3 };
    assert_int_equal(exec_phases(r.exec, &r.plan, &what, NULL, &spent), STENO_EARG);
    what.n_sequences = 2; /* a row is of none */
    assert_int_equal(exec_phases(r.exec, &r.plan, &what, NULL, &spent), STENO_EARG);
    s[0] = sequence_next(NULL, 10, 0);
    s[1] = sequence_next(&s[0], 31, 1);
    assert_int_equal(sequence_room(&s[1], MAX_ROWS), 29);
    net_close(&r);
}

static void test_the_longest_memory_and_one_tap_less_are_served(void **state)
{
    (void)state;
    const struct memory usual = memory;
    memory = (struct memory){ "memory63.weight", FSMN_TAPS - 1 };
    net_each_level(check_memory);
    memory = (struct memory){ "memory64.weight", FSMN_TAPS };
    net_each_level(check_memory);
    memory = usual;
}

/* Features row D10: an impulse spreads over the taps around it, exactly. */
static void test_an_impulse_spreads_over_the_taps_exactly(void **state)
{
    (void)state;
    static float x[MAX_ROWS * D], y[MAX_ROWS * D];
    struct net r;
    rig_open(&r, CPU_C, 1, fill_memory);
    const float *w = net_find(&r, "memory.weight");
    for (int c = 0; c < D; c++) x[20 * D + c] = 1;
    exec_state_reset(r.exec, 0, 0);
    exec_state_reset(r.other, 0, 0);
    rig_run(&r, y, x, MAX_ROWS);
    for (int t = 0; t < MAX_ROWS; t++)
        for (int c = 0; c < D; c++) {
            const int j = 20 - t + TAPS - 1; /* the tap that falls on row 20 */
            const float want = (t == 20 ? 1.0f : 0) + (j >= 0 && j < TAPS ? w[c * TAPS + j] : 0);
            assert_true(y[t * D + c] == want);
        }
    net_close(&r);
}

static void test_filters_that_the_executor_cannot_hold_are_refused(void **state)
{
    (void)state;
    struct net r;
    struct build b;
    steno_error e = { 0 };
    rig_open(&r, CPU_C, 1, fill_memory);
    const struct build_params params = net_params(&r, &(struct net_desc){ .max_rows = MAX_ROWS });
    build_begin(&b, &params, &e);
    bind_fsmn(&b, "memory.weight", D, FSMN_TAPS + 1, 0, 1);
    struct plan p;
    assert_int_equal(build_end(&b, &p), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "65 taps"));
    net_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sanm_layers_equal_the_slow_ones_at_every_level),
        cmocka_unit_test(test_beside_int8_attention_is_int16_where_int8_does_not_serve_and_bf16_is_not_faster),
        cmocka_unit_test(test_attention_in_int16_allows_scores_four_times_as_large_as_in_int8),
        cmocka_unit_test(test_layers_in_integers_are_near_the_slow_ones_and_sequences_stay_alone),
        cmocka_unit_test(test_a_memory_streamed_in_pieces_gives_the_bits_of_the_whole),
        cmocka_unit_test(test_sequences_of_one_run_do_not_see_each_other),
        cmocka_unit_test(test_streams_that_share_runs_keep_their_own_memories),
        cmocka_unit_test(test_sequences_whose_keys_have_no_room_are_refused),
        cmocka_unit_test(test_the_longest_memory_and_one_tap_less_are_served),
        cmocka_unit_test(test_an_impulse_spreads_over_the_taps_exactly),
        cmocka_unit_test(test_filters_that_the_executor_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
