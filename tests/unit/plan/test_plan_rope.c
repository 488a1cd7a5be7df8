/* steno tests: decoders with rotary positions. SPDX-License-Identifier: MIT
 *
 * Layers of causal attention whose queries and keys turn with their position, norms of each head before that, keys that several heads
 * share, and gated feed-forward networks: whole prompts, pieces and single steps against the same written out slowly, at every level. */
#include "executor/net.h"
#include "plan/sub.h"

enum { D = 40, HEADS = 4, KV_HEADS = 2, D_HEAD = 16, Q = HEADS * D_HEAD, KV = KV_HEADS * D_HEAD, D_FF = 52, IDS = 30, N = 37,
       MAX_ROWS = 40 };
static float const eps = 1e-6f;

static struct net_shape const shapes[] = {
    { "embed.weight", { IDS, D } },
    { "0.norm1.weight", { D } }, { "0.norm2.weight", { D } },
    { "0.a.q_proj.weight", { Q, D } }, { "0.a.k_proj.weight", { KV, D } }, { "0.a.v_proj.weight", { KV, D } },
    { "0.a.q_proj.bias", { Q } }, { "0.a.k_proj.bias", { KV } }, { "0.a.v_proj.bias", { KV } },
    { "0.a.q_norm.weight", { D_HEAD } }, { "0.a.k_norm.weight", { D_HEAD } },
    { "0.a.o_proj.weight", { D, Q } },
    { "0.mlp.gate_proj.weight", { D_FF, D } }, { "0.mlp.up_proj.weight", { D_FF, D } }, { "0.mlp.down_proj.weight", { D, D_FF } },
};

/* Kinds of decoders. */
static struct kind {
    uint32_t turning;
    int neighbours, has_qk_norm, has_qkv_bias, tanh;
    double base, scale;
    float divide;
} const kinds[] = {
    { D_HEAD, 0, 1, 0, 0, 1e6, 1, 0 },       /* norms of heads, halves */
    { D_HEAD, 1, 0, 0, 0, 1e4, 0.25, 0 },    /* neighbours, positions side by side */
    { D_HEAD - 4, 0, 0, 1, 1, 5e5, 1, 8 },   /* part of a head, slow pairs slower still, biases, GELU */
};
static struct kind const *kind;
static float divide[D_HEAD / 2];

static void fill(struct build *b)
{
    static unsigned flags;
    flags = kind->tanh ? SUB_TANH : 0;
    const struct sub table[] = { { sub_attn_rope, "norm1", "a", NULL, 0 }, { sub_ffn_glu, "norm2", "mlp", NULL, flags }, { 0 } };
    for (int j = 0; j < D_HEAD / 2; j++) divide[j] = j > 2 && kind->divide > 0 ? kind->divide : 1;
    const struct rope rope = { .base = kind->base, .scale = kind->scale, .n = kind->turning, .positions = 64,
                               .neighbours = kind->neighbours, .divide = kind->divide > 0 ? divide : NULL };
    const struct sub_dims dims = { .d = D, .n_heads = HEADS, .n_kv_heads = KV_HEADS, .d_head = D_HEAD, .d_ff = D_FF, .norm = NORM_RMS,
                                   .rope = bind_rope(b, &rope, HEADS + KV_HEADS, D_HEAD), .has_qk_norm = kind->has_qk_norm,
                                   .has_qkv_bias = kind->has_qkv_bias, .eps = eps };
    const struct linear_part part = { "embed.weight", NULL, IDS };
    b->plan.self_state = 0;
    b->plan.output = build_slot(b, D);
    emit(b, OP_EMBED, "embed", b->plan.output, NO_SLOT, bind_matrix(b, &part, D, LINEAR_OTHER, NO_BIND));
    b->prefix = "0";
    for (const struct sub *s = table; s->fn; s++) s->fn(b, &dims, s, b->plan.output, 0);
    b->prefix = "";
}

/* ---- the same, slowly */

static void slow_norm_rms(double *y, const double *x, const float *g, int n)
{
    double square = 0;
    for (int i = 0; i < n; i++) square += x[i] * x[i] / n;
    for (int i = 0; i < n; i++) y[i] = x[i] / sqrt(square + (double)eps) * (double)g[i];
}

static void slow_turn(double *x, int position)
{
    const int n = (int)kind->turning;
    for (int j = 0; j < n / 2; j++) {
        const double slower = kind->divide > 0 && j > 2 ? (double)kind->divide : 1;
        const double angle = position * kind->scale / slower / pow(kind->base, 2.0 * j / n);
        double *a = x + (kind->neighbours ? 2 * j : j), *b = kind->neighbours ? a + 1 : a + n / 2, was = *a;
        *a = was * cos(angle) - *b * sin(angle);
        *b = was * sin(angle) + *b * cos(angle);
    }
}

/* [rows, width] of one of the three, normed and turned as its heads are. */
static void slow_heads(struct net *s, double *y, const double *x, const char *name, int width, int turns)
{
    char w[32], v[32], g[32];
    snprintf(w, sizeof w, "0.a.%s_proj.weight", name);
    snprintf(v, sizeof v, "0.a.%s_proj.bias", name);
    snprintf(g, sizeof g, "0.a.%s_norm.weight", name);
    slow_linear(y, x, net_find(s, w), kind->has_qkv_bias ? net_find(s, v) : NULL, N, width, D);
    for (int r = 0; r < N && turns; r++)
        for (int at = 0; at < width; at += D_HEAD) {
            if (kind->has_qk_norm) slow_norm_rms(y + r * width + at, y + r * width + at, net_find(s, g), D_HEAD);
            slow_turn(y + r * width + at, r);
        }
}

static void slow_decoder(struct net *s, double *x, const int32_t *ids)
{
    static double normed[N * D], q[N * Q], k[N * KV], v[N * KV], y[N * Q], gate[N * D_FF], up[N * D_FF], out[N * D];
    for (int i = 0; i < N * D; i++) x[i] = (double)net_find(s, "embed.weight")[ids[i / D] * D + i % D];
    for (int r = 0; r < N; r++) slow_norm_rms(normed + r * D, x + r * D, net_find(s, "0.norm1.weight"), D);
    slow_heads(s, q, normed, "q", Q, 1);
    slow_heads(s, k, normed, "k", KV, 1);
    slow_heads(s, v, normed, "v", KV, 0);
    for (int h = 0; h < HEADS; h++)
        for (int r = 0; r < N; r++) {
            const int from = h / (HEADS / KV_HEADS) * D_HEAD;
            double p[N], sum = 0;
            for (int t = 0; t <= r; t++) {
                p[t] = 0;
                for (int i = 0; i < D_HEAD; i++) p[t] += q[r * Q + h * D_HEAD + i] * k[t * KV + from + i] / sqrt(D_HEAD);
                sum += p[t] = exp(p[t]);
            }
            for (int i = 0; i < D_HEAD; i++) {
                y[r * Q + h * D_HEAD + i] = 0;
                for (int t = 0; t <= r; t++) y[r * Q + h * D_HEAD + i] += p[t] / sum * v[t * KV + from + i];
            }
        }
    slow_linear(out, y, net_find(s, "0.a.o_proj.weight"), NULL, N, D, Q);
    for (int i = 0; i < N * D; i++) x[i] += out[i];
    for (int r = 0; r < N; r++) slow_norm_rms(normed + r * D, x + r * D, net_find(s, "0.norm2.weight"), D);
    slow_linear(gate, normed, net_find(s, "0.mlp.gate_proj.weight"), NULL, N, D_FF, D);
    slow_linear(up, normed, net_find(s, "0.mlp.up_proj.weight"), NULL, N, D_FF, D);
    for (int i = 0; i < N * D_FF; i++) {
        const double g = gate[i];
        gate[i] = (kind->tanh ? 0.5 * g * (1 + tanh(sqrt(2 / acos(-1)) * (g + 0.044715 * g * g * g))) : g / (1 + exp(-g))) * up[i];
    }
    slow_linear(out, gate, net_find(s, "0.mlp.down_proj.weight"), NULL, N, D, D_FF);
    for (int i = 0; i < N * D; i++) x[i] += out[i];
}

/* ---- both */

static void check_decoder(int level, int threads)
{
    static struct state_desc const keys = { "keys", STATE_APPEND, 1, KV_HEADS, D_HEAD, 64, 0, 0, 0 };
    static double want[N * D];
    static float y[N * D], whole[N * D];
    const struct net_desc d = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = MAX_ROWS,
                                .state = &keys, .n_states = 1, .scale = 0.5f };
    int32_t ids[N];
    for (int i = 0; i < N; i++) ids[i] = i * 11 % IDS;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        static int const at_once[] = { N, 5, 1 };
        struct net r;
        kind = &kinds[i];
        net_open(&r, &d, level, threads);
        slow_decoder(&r, want, ids);
        for (int k = 0; k < 3; k++) {
            state_truncate(&r.state[0], 0, 0);
            for (int from = 0; from < N; from += at_once[k]) {
                const int n = N - from < at_once[k] ? N - from : at_once[k];
                r.run.n_rows = 0;
                for (int at = from; at < from + n; at++) run_add(&r.run, ids[at], at, 0, 0);
                assert_int_equal(state_prepare(&r.state[0], 0, (uint32_t)from, (uint32_t)(from + n)), 0);
                run_prepare(&r.run);
                net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)n, .run = &r.run }, NULL);
                net_output(&r, r.plan.output, y + from * D, (uint32_t)n, 1e-5f);
            }
            net_near(y, want, N, D, 1e-5, "decoder", level);
            if (!k) memcpy(whole, y, sizeof whole);
            assert_memory_equal(whole, y, sizeof whole);
        }
        net_close(&r);
    }
}

static void test_rotary_decoders_equal_the_slow_ones_however_their_rows_come(void **state)
{
    (void)state;
    net_each_level(check_decoder);
}

/* ---- angles of positions far on */

enum { FAR = 8193 };
static uint16_t far_bind;

static void fill_far(struct build *b)
{
    for (int j = 0; j < D_HEAD / 2; j++) divide[j] = kind->divide > 0 ? 1 + kind->divide * (float)j : 1;
    const struct rope rope = { .base = kind->base, .scale = kind->scale, .n = kind->turning, .positions = FAR,
                               .neighbours = kind->neighbours, .divide = kind->divide > 0 ? divide : NULL };
    b->plan.self_state = 0;
    b->plan.output = build_slot(b, D);
    emit(b, OP_EMBED, "embed", b->plan.output, NO_SLOT, bind_matrix(b, &(struct linear_part){ "embed.weight", NULL, IDS }, D, LINEAR_OTHER,
                                                                    NO_BIND));
    far_bind = bind_rope(b, &rope, HEADS, D_HEAD);
}

static void test_angles_far_on_are_those_of_double(void **state)
{
    (void)state;
    static const int at[] = { 0, 1, 4095, FAR - 1 };
    static struct state_desc const keys = { "keys", STATE_APPEND, 1, KV_HEADS, D_HEAD, 64, 0, 0, 0 };
    const struct net_desc d = { .shape = shapes, .n_shapes = 1, .fill = fill_far, .max_rows = MAX_ROWS, .state = &keys, .n_states = 1 };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct net r;
        kind = &kinds[i];
        net_open(&r, &d, CPU_C, 1);
        for (size_t k = 0; k < sizeof at / sizeof *at; k++)
            for (uint32_t j = 0; j < kind->turning / 2; j++) {
                const float *turn = r.plan.bind[far_bind].positions + (size_t)at[k] * kind->turning;
                const long double slower = kind->divide > 0 ? (long double)divide[j] : 1;
                const long double angle = at[k] * (long double)kind->scale / slower / powl(kind->base, 2.0L * j / kind->turning);
                const double c = fabs((double)turn[j] - (double)cosl(angle)), s = fabs((double)turn[j + kind->turning / 2] -
                                                                                       (double)sinl(angle));
                if (!(c <= 1e-6 && s <= 1e-6)) fail_msg("kind %zu, position %d, pair %u: %g and %g off", i, at[k], j, c, s);
            }
        net_close(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotary_decoders_equal_the_slow_ones_however_their_rows_come),
        cmocka_unit_test(test_angles_far_on_are_those_of_double),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
