/* steno tests: heads of any width. SPDX-License-Identifier: MIT
 *
 * Kernels take heads of multiples of four numbers; of others the rows and columns that are missing are zeros, made when weights are
 * packed. Layers with a memory and layers that attend to frames, with heads of 1 to 256 numbers, as they are stored and in every
 * arithmetic, at every level, against the same written out slowly. */
#include "executor/net.h"
#include "plan/sub.h"

enum {
    MAX_ROWS = 36, D_MAX = 256, TAPS = 5, D_FF = 24,
    NARROW = 3,   /* shapes that are tried in all arithmetics, the first ones */
    AS_STORED = 3 /* arithmetics that the others are tried in */
};
static float const eps = 1e-12f;

static struct { int heads, d_head; } const shape[] = {
    { 2, 43 }, { 1, 3 }, { 3, 33 }, { 3, 1 }, { 5, 2 }, { 2, 4 }, { 4, 5 }, { 3, 31 }, { 2, 63 }, { 1, 253 }, { 1, 255 }, { 1, 256 },
};
static struct { enum packed_type type; enum dtype stored; double near; } const arithmetic[] = {
    { 0, DT_F16, 1e-5 }, { 0, DT_BF16, 1e-5 }, { 0, DT_F32, 1e-5 }, { PK_BF16_PAIR, DT_F32, 1.5e-2 }, { PK_I16_PAIR, DT_F32, 1e-3 },
    { PK_Q8_QUAD, DT_F32, 4e-2 },
};
static int at; /* the shape at hand */
static int width(void) { return shape[at].heads * shape[at].d_head; }

static struct sub_dims dims_of(void)
{
    return (struct sub_dims){ .d = (uint32_t)width(), .n_heads = (uint32_t)shape[at].heads, .n_kv_heads = (uint32_t)shape[at].heads,
                              .d_head = (uint32_t)shape[at].d_head, .d_ff = D_FF, .taps = TAPS, .eps = eps };
}

/* Rows through a layer with a memory; each then attends to all. */
static void fill(struct build *b)
{
    static struct sub const sanm = { sub_sanm, "norm", "a", NULL, 0 }, cross = { NULL, "norm2", "c", NULL, 0 };
    const struct sub_dims dims = dims_of();
    const uint16_t x = build_slot(b, dims.d), copy = bind_scale(b, 1, NULL, dims.d);
    b->plan.input = build_slot(b, dims.d);
    b->plan.output = build_slot(b, dims.d);
    emit(b, OP_SCALE, "in", x, b->plan.input, copy);
    sub_sanm(b, &dims, &sanm, x, 0);
    build_phase(b, "across");
    struct op *op = emit(b, OP_SCALE, "copy", b->plan.output, x, copy);
    if (op) op->rows = ROWS_TABLE;
    sub_cross_rows(b, &dims, &cross, b->plan.output, x);
}

static void slow(struct net *r, double *x, const double *in, int rows, int part)
{
    static double normed[MAX_ROWS * D_MAX], qkv[MAX_ROWS * 3 * D_MAX], y[MAX_ROWS * D_MAX], memory[MAX_ROWS * D_MAX];
    const int d = width(), heads = shape[at].heads;
    const char *const q[] = { "a.linear_q_k_v", "c.linear_q" }, *const out[] = { "a.linear_out", "c.linear_out" };
    char w[2][64];
    for (int i = 0; i < rows * d; i++) x[i] = in[i];
    const char *const norm[] = { part ? "norm2.weight" : "norm.weight", part ? "norm2.bias" : "norm.bias" };
    slow_norm(normed, x, net_find(r, norm[0]), net_find(r, norm[1]), 1e-12, rows, d);
    for (int i = 0; i < 2; i++) snprintf(w[i], sizeof w[i], "%s.%s", q[part], i ? "bias" : "weight");
    slow_linear(qkv, normed, net_find(r, w[0]), net_find(r, w[1]), rows, part ? d : 3 * d, d);
    double *const kv = part ? qkv + MAX_ROWS * D_MAX : qkv + d;
    if (part) slow_linear(kv, x, net_find(r, "c.linear_k_v.weight"), net_find(r, "c.linear_k_v.bias"), rows, 2 * d, d);
    slow_attention(y, &(struct slow_attn){ qkv, kv, part ? d : 3 * d, part ? 2 * d : 3 * d, rows, rows, heads, shape[at].d_head });
    const struct slow_filter f = { net_find(r, "a.fsmn_block.weight"), d, TAPS, TAPS / 2 };
    if (!part) slow_memory(memory, qkv + 2 * d, 3 * d, &f, rows);
    for (int i = 0; i < 2; i++) snprintf(w[i], sizeof w[i], "%s.%s", out[part], i ? "bias" : "weight");
    slow_linear(normed, y, net_find(r, w[0]), net_find(r, w[1]), rows, d, d);
    for (int i = 0; i < rows * d; i++) x[i] += normed[i] + (part ? 0 : memory[i]);
}

static void assert_near(const float *y, const double *want, size_t n, double near, int level, int a)
{
    double off = 0, norm = 0;
    for (size_t i = 0; i < n; i++) {
        off += ((double)y[i] - want[i]) * ((double)y[i] - want[i]);
        norm += want[i] * want[i];
    }
    if (!(off <= near * near * norm))
        fail_msg("%d heads of %d, level %d, arithmetic %d: %g off", shape[at].heads, shape[at].d_head, level, a, sqrt(off / norm));
}

static void check_heads(int level, int threads)
{
    static float in[MAX_ROWS * D_MAX], y[MAX_ROWS * D_MAX];
    static double slow_in[MAX_ROWS * D_MAX], mid[MAX_ROWS * D_MAX], want[MAX_ROWS * D_MAX];
    enum dtype last = DT_COUNT;
    const uint64_t d = (uint64_t)width();
    const struct net_shape shapes[] = {
        { "norm.weight", { d } }, { "norm.bias", { d } }, { "norm2.weight", { d } }, { "norm2.bias", { d } },
        { "a.linear_q_k_v.weight", { 3 * d, d } }, { "a.linear_q_k_v.bias", { 3 * d } }, { "a.fsmn_block.weight", { d, 1, TAPS } },
        { "a.linear_out.weight", { d, d } }, { "a.linear_out.bias", { d } },
        { "c.linear_q.weight", { d, d } }, { "c.linear_q.bias", { d } },
        { "c.linear_k_v.weight", { 2 * d, d } }, { "c.linear_k_v.bias", { 2 * d } },
        { "c.linear_out.weight", { d, d } }, { "c.linear_out.bias", { d } },
    };
    const int n = at < NARROW ? (int)(sizeof arithmetic / sizeof *arithmetic) : AS_STORED;
    for (int a = threads - 1; a < n; a += threads) {
        struct net_desc desc = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = MAX_ROWS,
                                 .scale = 0.2f, .stored = arithmetic[a].stored };
        for (int i = 0; i < LINEAR_ROLES; i++) desc.precision.by_role[i] = arithmetic[a].type;
        desc.precision.bf16 = arithmetic[a].type ? PK_BF16_PAIR : 0;
        struct net r;
        net_open(&r, &desc, level, threads);
        const int rows = level % 2 && shape[at].d_head < 60 ? MAX_ROWS : 7;
        r.run.n_rows = 0;
        for (int i = 0; i < rows; i++) run_add(&r.run, 0, i, 0, 0);
        run_prepare(&r.run);
        for (int i = 0; i < MAX_ROWS * (int)d; i++) slow_in[i] = (double)(in[i] = net_noise());
        if (desc.stored != last) slow(&r, mid, slow_in, rows, 0), slow(&r, want, mid, rows, 1); /* else the same again */
        last = desc.stored;
        net_phases(&r, &(struct phases){ .end = 2, .n_rows = (uint32_t)rows, .run = &r.run }, in);
        net_output(&r, r.plan.output, y, (uint32_t)rows, arithmetic[a].type ? 0.1f : 1e-4f);
        assert_near(y, want, (size_t)rows * (size_t)d, arithmetic[a].near, level, a);
        net_close(&r);
    }
}

static void test_heads_of_any_width_are_right_in_every_arithmetic(void **state)
{
    (void)state;
    for (at = 0; at < (int)(sizeof shape / sizeof *shape); at++) net_each_level(check_heads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads_of_any_width_are_right_in_every_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
