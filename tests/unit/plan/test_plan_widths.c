/* steno tests: widths that no block divides. SPDX-License-Identifier: MIT
 *
 * Features of 560 and 400 numbers, layers of 250 and 140, heads of 6 classes and of one weight: linears and SAN-M layers of the widths of
 * the FunASR models in every arithmetic, at every level, against the same written out slowly. */
#include "executor/net.h"
#include "plan/sub.h"

enum { MAX_ROWS = 20 };

/* How far outputs may lie from the exact ones, as a share of their norm. */
static struct { enum packed_type type; double near; } const arithmetic[] = {
    { 0, 1e-5 }, { PK_BF16_PAIR, 6e-3 }, { PK_I16_PAIR, 3e-4 }, { PK_I8_QUAD, 2e-2 }, { PK_Q8_QUAD, 1e-2 },
};
enum { ARITHMETICS = sizeof arithmetic / sizeof *arithmetic };

static struct precision precision_in(enum packed_type t)
{
    struct precision p = { .bf16 = t ? PK_BF16_PAIR : 0 };
    for (int i = 0; i < LINEAR_ROLES; i++) p.by_role[i] = t;
    return p;
}

static void assert_near(const float *y, const double *want, size_t n, double near, const char *what, int level, enum packed_type t)
{
    double off = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        off += ((double)y[i] - want[i]) * ((double)y[i] - want[i]);
        norm += want[i] * want[i];
    }
    if (!(off <= near * near * norm)) fail_msg("%s, level %d, type %d: %g off", what, level, (int)t, sqrt(off / norm));
}

/* ---- linears */

static struct { int n, k; } const shape[] = {
    { 512, 560 }, { 1536, 560 }, { 140, 400 }, { 250, 140 }, { 128, 250 }, { 250, 128 }, { 140, 250 }, { 248, 140 }, { 6, 256 }, { 1, 512 },
};
static int at; /* the one at hand */

static void fill_linear(struct build *b)
{
    const uint32_t n = (uint32_t)shape[at].n, k = (uint32_t)shape[at].k;
    const struct linear_part part = { "w", "b", n };
    b->plan.input = build_slot(b, k);
    b->plan.output = build_slot(b, n);
    emit(b, OP_LINEAR, "linear", b->plan.output, b->plan.input, bind_matrix(b, &part, k, LINEAR_OTHER, NO_BIND));
}

static void check_linear(int level, int threads)
{
    static float x[MAX_ROWS * 560], y[MAX_ROWS * 1536];
    static double slow_x[MAX_ROWS * 560], want[MAX_ROWS * 1536];
    for (at = 0; at < (int)(sizeof shape / sizeof *shape); at++)
        for (int a = 0; a < 2 + ARITHMETICS; a++) {
            const int n = shape[at].n, k = shape[at].k, as_stored = a < 2;
            const struct net_shape shapes[] = { { "w", { (uint64_t)n, (uint64_t)k } }, { "b", { (uint64_t)n } } };
            const enum packed_type t = as_stored ? 0 : arithmetic[a - 2].type;
            const struct net_desc d = { .shape = shapes, .n_shapes = 2, .fill = fill_linear, .max_rows = MAX_ROWS,
                                        .precision = precision_in(t), .stored = as_stored ? DT_F16 + (enum dtype)a : DT_F32 };
            struct net r;
            net_open(&r, &d, level, threads);
            for (int i = 0; i < MAX_ROWS * k; i++) slow_x[i] = (double)(x[i] = net_noise());
            if (a <= 2) slow_linear(want, slow_x, net_find(&r, "w"), net_find(&r, "b"), MAX_ROWS, n, k); /* then the same again */
            assert_true(!t || r.plan.bind[r.plan.op[0].bind].type == t);
            for (int rows = 1; rows <= MAX_ROWS; rows += MAX_ROWS - 1) {
                net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)rows }, x);
                net_output(&r, r.plan.output, y, (uint32_t)rows, 1e-4f);
                assert_near(y, want, (size_t)(rows * n), as_stored ? 1e-5 : arithmetic[a - 2].near, "linear", level, t);
            }
            net_close(&r);
        }
}

static void test_linears_of_any_width_are_right_in_every_arithmetic(void **state)
{
    (void)state;
    net_each_level(check_linear);
}

/* ---- layers: the first one, from features, and one of the stream */

enum { D_IN = 560, D = 512, HEADS = 4, D_HEAD = D / HEADS, TAPS = 11, D_FF = 250 };
static struct net_shape const layers[] = {
    { "first.norm.weight", { D_IN } }, { "first.norm.bias", { D_IN } },
    { "first.a.linear_q_k_v.weight", { 3 * D, D_IN } }, { "first.a.linear_q_k_v.bias", { 3 * D } },
    { "first.a.fsmn_block.weight", { D, 1, TAPS } },
    { "first.a.linear_out.weight", { D, D } }, { "first.a.linear_out.bias", { D } },
    { "first.norm2.weight", { D } }, { "first.norm2.bias", { D } },
    { "first.w1.weight", { D_FF, D } }, { "first.w1.bias", { D_FF } },
    { "first.w2.weight", { D, D_FF } }, { "first.w2.bias", { D } },
};

static void fill_layers(struct build *b)
{
    static struct sub const sanm = { sub_sanm, "norm", "a", NULL, 0 }, ffn = { sub_ffn, "norm2", "w1", "w2", SUB_RELU };
    static struct sub_dims const dims = { .d = D, .n_heads = HEADS, .n_kv_heads = HEADS, .d_head = D_HEAD, .d_ff = D_FF, .taps = TAPS,
                                          .eps = 1e-12f };
    const uint16_t placed = build_slot(b, D_IN);
    b->plan.input = build_slot(b, D_IN);
    b->plan.output = build_slot(b, D);
    emit(b, OP_SCALE, "embed", placed, b->plan.input, bind_scale(b, sqrtf(D), bind_sinusoids(b, MAX_ROWS, D_IN), D_IN));
    b->prefix = "first";
    sub_sanm_first(b, &dims, &sanm, b->plan.output, placed, D_IN);
    sub_ffn(b, &dims, &ffn, b->plan.output, 0);
    b->prefix = "";
}

static void slow_layers(struct net *r, double *x, const double *in, int rows)
{
    static double placed[MAX_ROWS * D_IN], normed[MAX_ROWS * D_IN], qkv[MAX_ROWS * 3 * D], y[MAX_ROWS * D], memory[MAX_ROWS * D];
    for (int i = 0; i < rows * D_IN; i++) {
        const int c = i % D_IN, half = D_IN / 2;
        const double angle = (i / D_IN + 1) * pow(10000, -(c % half) / (double)(half - 1));
        placed[i] = in[i] * sqrt(D) + (c < half ? sin(angle) : cos(angle));
    }
    slow_norm(normed, placed, net_find(r, "first.norm.weight"), net_find(r, "first.norm.bias"), 1e-12, rows, D_IN);
    slow_linear(qkv, normed, net_find(r, "first.a.linear_q_k_v.weight"), net_find(r, "first.a.linear_q_k_v.bias"), rows, 3 * D, D_IN);
    slow_attention(y, &(struct slow_attn){ qkv, qkv + D, 3 * D, 3 * D, rows, rows, HEADS, D_HEAD });
    slow_memory(memory, qkv + 2 * D, 3 * D, &(struct slow_filter){ net_find(r, "first.a.fsmn_block.weight"), D, TAPS, TAPS / 2 }, rows);
    slow_linear(x, y, net_find(r, "first.a.linear_out.weight"), net_find(r, "first.a.linear_out.bias"), rows, D, D);
    for (int i = 0; i < rows * D; i++) x[i] += memory[i];
    slow_norm(normed, x, net_find(r, "first.norm2.weight"), net_find(r, "first.norm2.bias"), 1e-12, rows, D);
    slow_linear(qkv, normed, net_find(r, "first.w1.weight"), net_find(r, "first.w1.bias"), rows, D_FF, D);
    slow_relu(qkv, rows * D_FF);
    slow_linear(y, qkv, net_find(r, "first.w2.weight"), net_find(r, "first.w2.bias"), rows, D, D_FF);
    for (int i = 0; i < rows * D; i++) x[i] += y[i];
}

static void check_layers(int level, int threads)
{
    static float x[MAX_ROWS * D_IN], y[MAX_ROWS * D];
    static double slow_x[MAX_ROWS * D_IN], want[MAX_ROWS * D];
    for (int a = 0; a < ARITHMETICS; a++) {
        const struct net_desc d = { .shape = layers, .n_shapes = sizeof layers / sizeof *layers, .fill = fill_layers,
                                    .max_rows = MAX_ROWS, .precision = precision_in(arithmetic[a].type), .scale = 0.15f };
        struct net r;
        net_open(&r, &d, level, threads);
        for (int i = 0; i < MAX_ROWS * D_IN; i++) slow_x[i] = (double)(x[i] = net_noise());
        const int rows = level % 2 ? MAX_ROWS : 7;
        if (!a) slow_layers(&r, want, slow_x, rows); /* then the same again */
        net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)rows }, x);
        net_output(&r, r.plan.output, y, (uint32_t)rows, a ? 0.05f : 1e-4f);
        assert_near(y, want, (size_t)(rows * D), 2 * arithmetic[a].near, "layers", level, arithmetic[a].type);
        net_close(&r);
    }
}

static void test_layers_from_features_are_right_in_every_arithmetic(void **state)
{
    (void)state;
    net_each_level(check_layers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_linears_of_any_width_are_right_in_every_arithmetic),
        cmocka_unit_test(test_layers_from_features_are_right_in_every_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
