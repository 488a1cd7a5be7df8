/* steno tests: ops that go together. SPDX-License-Identifier: MIT
 *
 * A layer of a language model of all kinds of heads and gates, also such as no item of a linear ends with, in types that many rows are cut
 * differently for. The plain executor makes every op by itself: at the level of the twins the bits are the same. And at every level rows
 * keep their bits however many run together: as many as each thread norms for itself, as go together as few, and one more of each. */
#include "executor/net.h"
#include "plan/sub.h"

enum { D = 40, IDS = 30, N = 37, POSITIONS = 64 };

/* Heads of queries, of keys and values; numbers of a head, and of the gates. */
static struct kind { uint32_t heads, kv_heads, d_head, d_ff; } const kinds[] = {
    { 4, 2, 16, 160 },  /* two heads to a panel; gates of five panels, of which items take four */
    { 2, 1, 32, 64 },
    { 6, 3, 96, 96 },   /* heads of three panels: items of twelve */
    { 3, 1, 128, 288 },
    { 2, 1, 256, 32 },  /* items of eight */
    { 4, 4, 24, 128 },
    { 14, 2, 64, 224 },
    { 5, 1, 80, 52 },   /* items of twenty would be too many, and gates end within a panel */
    { 1, 1, 100, 33 },
};
static struct kind const *kind;
static int has_post_norms, has_qk_norm;

static struct net_shape shapes[] = {
    { "embed.weight", { IDS, D } },
    { "0.norm1.weight", { D } }, { "0.norm2.weight", { D } }, { "0.post1.weight", { D } }, { "0.post2.weight", { D } },
    { "0.a.q_norm.weight", { 0 } }, { "0.a.k_norm.weight", { 0 } },
    { "0.a.q_proj.weight", { 0, D } }, { "0.a.k_proj.weight", { 0, D } }, { "0.a.v_proj.weight", { 0, D } },
    { "0.a.o_proj.weight", { D, 0 } },
    { "0.mlp.gate_proj.weight", { 0, D } }, { "0.mlp.up_proj.weight", { 0, D } }, { "0.mlp.down_proj.weight", { D, 0 } },
};
enum { Q_NORM = 5, K_NORM, Q_PROJ, K_PROJ, V_PROJ, O_PROJ, GATE, UP, DOWN };

static void shapes_of(const struct kind *k)
{
    shapes[Q_NORM].dim[0] = shapes[K_NORM].dim[0] = k->d_head;
    shapes[Q_PROJ].dim[0] = shapes[O_PROJ].dim[1] = (uint64_t)k->heads * k->d_head;
    shapes[K_PROJ].dim[0] = shapes[V_PROJ].dim[0] = (uint64_t)k->kv_heads * k->d_head;
    shapes[GATE].dim[0] = shapes[UP].dim[0] = shapes[DOWN].dim[1] = k->d_ff;
}

static void fill(struct build *b)
{
    const struct sub table[] = { { sub_attn_rope, "norm1", "a", has_post_norms ? "post1" : NULL, 0 },
                                 { sub_ffn_glu, "norm2", "mlp", has_post_norms ? "post2" : NULL, 0 }, { 0 } };
    const struct rope rope = { .base = 1e4, .scale = 1, .n = kind->d_head / 2 * 2, .positions = POSITIONS };
    const struct sub_dims dims = { .d = D, .n_heads = kind->heads, .n_kv_heads = kind->kv_heads, .d_head = kind->d_head, .d_ff = kind->d_ff,
                                   .norm = NORM_RMS, .rope = bind_rope(b, &rope, kind->heads + kind->kv_heads, kind->d_head),
                                   .has_qk_norm = has_qk_norm, .eps = 1e-6f };
    const struct linear_part part = { "embed.weight", NULL, IDS };
    b->plan.self_state = 0;
    b->plan.output = build_slot(b, D);
    emit(b, OP_EMBED, "embed", b->plan.output, NO_SLOT, bind_matrix(b, &part, D, LINEAR_OTHER, NO_BIND));
    b->prefix = "0";
    for (const struct sub *s = table; s->fn; s++) s->fn(b, &dims, s, b->plan.output, 0);
    b->prefix = "";
}

/* other: one of the matrices of queries, keys and values, stored in another type; NULL: all in one. */
static void check_layer(int level, int threads, enum packed_type t, const char *other)
{
    static int const at_once[] = { N, 17, 16, 9, 8, 5, 1 };
    static float y[N * D], whole[N * D];
    const enum packed_type lower = packed_is_lowp(t) ? t : 0;
    const struct state_desc keys = { "keys", STATE_APPEND, 1, kind->kv_heads, kind->d_head, POSITIONS, 0, 0, 0 };
    const struct net_desc d = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = N, .state = &keys,
                                .n_states = 1, .scale = 0.5f, .stored = t == PK_F16 ? DT_F16 : DT_F32,
                                .other = other, .other_stored = DT_BF16,
                                .precision = { .by_role = { [LINEAR_QKV] = lower, [LINEAR_UP] = lower } } };
    struct net r;
    shapes_of(kind);
    net_open(&r, &d, level, threads);
    for (size_t k = 0; k < sizeof at_once / sizeof *at_once; k++) {
        state_truncate(&r.state[0], 0, 0);
        for (int from = 0; from < N; from += at_once[k]) {
            const int n = N - from < at_once[k] ? N - from : at_once[k];
            r.run.n_rows = 0;
            for (int at = from; at < from + n; at++) run_add(&r.run, at * 11 % IDS, at, 0, 0);
            assert_int_equal(state_prepare(&r.state[0], 0, (uint32_t)from, (uint32_t)(from + n)), 0);
            run_prepare(&r.run);
            net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)n, .run = &r.run }, NULL);
            net_output(&r, r.plan.output, y + from * D, (uint32_t)n, lower ? 1 : 1e-4f);
        }
        if (!k) memcpy(whole, y, sizeof whole);
        assert_memory_equal(whole, y, sizeof whole);
    }
    net_close(&r);
}

static void check_kinds(int level, int threads)
{
    static enum packed_type const types[] = { PK_F32, PK_F16, PK_BF16_PAIR, PK_Q8_QUAD_A8 };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        kind = &kinds[i];
        has_post_norms = i % 2;
        has_qk_norm = i % 3 != 1;
        check_layer(level, threads, types[i % 4], NULL);
        check_layer(level, threads, types[(i + 1 + i / 4) % 4], NULL);
        check_layer(level, threads, types[i / 3 % 2], shapes[i % 3 ? V_PROJ : K_PROJ].name);
    }
}

static void test_ops_that_go_together_give_the_bits_of_each_by_itself(void **state)
{
    (void)state;
    net_each_level(check_kinds);
    check_kinds(CPU_C, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ops_that_go_together_give_the_bits_of_each_by_itself),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
