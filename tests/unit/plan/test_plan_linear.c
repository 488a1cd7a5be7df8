/* steno tests: linears of parts that are stored unequally, what cannot be built, and what is shared. SPDX-License-Identifier: MIT
 *
 * Each is compared to the bit with something simpler that computes the same. */
#include "plan_rig.h"

/* ---- parts that are stored unequally */

static struct linear_part const mixed[] = { { "0.m.query.weight", "0.m.query.bias", Q }, { "0.m.key.weight", NULL, KV },
                                            { "0.m.value.weight", "0.m.value.bias", KV }, { "0.gate.weight", NULL, D_FF } };

enum { MIXED = 4, WIDE = Q + 2 * KV + D_FF };

static struct linear_use use_of(uint16_t out, uint16_t in)
{
    return (struct linear_use){ .label = "linear", .out = out, .in = in, .aux = NO_SLOT, .kv_slot = NO_SLOT, .state = NO_STATE };
}

static void fill_together(struct build *b)
{
    const uint16_t out = fill_io(b, WIDE);
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ mixed, MIXED, D, LINEAR_QKV, NO_BIND, NULL, 0, 0 });
    const struct linear_use use = use_of(out, b->plan.input);
    emit_linear(b, &use, &l);
}

static int part_alone;

static void fill_alone(struct build *b)
{
    const uint16_t out = fill_io(b, (uint32_t)mixed[part_alone].n);
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ &mixed[part_alone], 1, D, LINEAR_OTHER, NO_BIND, NULL, 0, 0 });
    const struct linear_use use = use_of(out, b->plan.input);
    emit_linear(b, &use, &l);
}

static void check_mixed(int level, int threads)
{
    enum { N = 40 };
    static float together[N * WIDE], alone[N * WIDE], columns[N * WIDE];
    struct rig r;
    size_t at = 0;
    rig_open(&r, level, threads, fill_together, HEADS);
    assert_int_equal(r.plan.n_ops, MIXED);
    rig_run(&r, together, 0, N, NULL);
    rig_close(&r);
    for (part_alone = 0; part_alone < MIXED; at += mixed[part_alone++].n) {
        const size_t n = (size_t)mixed[part_alone].n;
        rig_open(&r, level, threads, fill_alone, HEADS);
        rig_run(&r, alone, 0, N, NULL);
        rig_close(&r);
        for (size_t i = 0; i < N; i++) memcpy(columns + i * n, together + i * WIDE + at, n * sizeof *columns);
        same(columns, alone, N, n, mixed[part_alone].weight, level);
    }
}

static void test_parts_stored_as_unequal_types_give_the_bits_of_linears_apart(void **state)
{
    (void)state;
    each_level(check_mixed);
}

/* Gate and up: stored alike, so one op, of rows that no panel's width divides. */
static void fill_gate_up(struct build *b)
{
    static struct linear_part const part[] = { { "0.gate.weight", NULL, D_FF }, { "0.up.weight", NULL, D_FF + 5 } };
    const uint16_t out = fill_io(b, 2 * D_FF + 5);
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ part, 2, D, LINEAR_UP, NO_BIND, NULL, 0, 0 });
    const struct linear_use use = use_of(out, b->plan.input);
    emit_linear(b, &use, &l);
}

static void test_parts_of_unequal_size_stored_alike_are_one_op(void **state)
{
    (void)state;
    static float y[3 * (2 * D_FF + 5)], gate[3 * D_FF];
    struct rig r;
    rig_open(&r, CPU_C, 1, fill_gate_up, HEADS);
    assert_int_equal(r.plan.n_ops, 1);
    rig_run(&r, y, 0, 3, NULL);
    rig_close(&r);
    part_alone = 3;
    rig_open(&r, CPU_C, 1, fill_alone, HEADS);
    rig_run(&r, gate, 0, 3, NULL);
    rig_close(&r);
    for (size_t i = 0; i < 3; i++) same(y + i * (2 * D_FF + 5), gate + i * D_FF, 1, D_FF, "gate", CPU_C);
}

/* ---- values that are packed apart from queries and keys, though they are stored in one matrix */

enum { VALUES = 21 };
static enum packed_type whole_as; /* the same matrix, packed as one; 0: values apart */

static void fill_values(struct build *b)
{
    static const struct linear_part part = { "0.g.query.weight", "0.g.query.bias", Q };
    const uint16_t out = fill_io(b, Q);
    b->p.precision = (struct precision){ .by_role = { [LINEAR_QKV] = PK_I8_QUAD, [LINEAR_VALUES] = PK_I8_QUAD, [LINEAR_OTHER] = whole_as },
                                         .bf16 = PK_BF16_PAIR };
    const struct linear_desc d = { &part, 1, D, whole_as ? LINEAR_OTHER : LINEAR_QKV, NO_BIND, NULL, 0, 0 };
    const struct linear_binds l = bind_linear_values(b, &d, whole_as ? 0 : VALUES);
    const struct linear_use use = use_of(out, b->plan.input);
    assert_int_equal(l.n, whole_as ? 1 : 2);
    assert_int_equal(l.width, Q);
    emit_linear(b, &use, &l);
}

static void check_values(int level, int threads)
{
    enum { N = 40 };
    static const enum packed_type as[] = { 0, PK_BF16_PAIR, PK_I8_QUAD };
    static float y[3][N * Q];
    for (size_t i = 0; i < 3; i++) {
        struct rig r;
        whole_as = as[i];
        rig_open(&r, level, threads, fill_values, HEADS);
        rig_run(&r, y[i], 0, N, NULL);
        rig_close(&r);
    }
    for (size_t r = 0; r < N; r++) {
        same(y[0] + r * Q, y[1] + r * Q, 1, Q - VALUES, "queries and keys", level);
        same(y[0] + (r + 1) * Q - VALUES, y[2] + (r + 1) * Q - VALUES, 1, VALUES, "values", level);
    }
}

static void test_values_of_fewer_bits_are_the_last_rows_of_their_matrix(void **state)
{
    (void)state;
    each_level(check_values);
}

/* ---- queries and keys in int8 */

static float norm_by; /* weights of the norm before them */

/* Type of the matrix of queries, keys and values behind such a norm. */
static enum packed_type scores_type(struct build *b)
{
    static float norm[D];
    static const struct linear_part part = { "0.g.query.weight", "0.g.query.bias", Q };
    const uint16_t of = bind_add(b);
    for (int i = 0; i < D; i++) norm[i] = norm_by;
    *bind_at(b, of) = (struct bind){ .norm_weight = norm, .k = D };
    const struct linear_binds l = bind_linear_values(b, &(struct linear_desc){ &part, 1, D, LINEAR_QKV, of, NULL, 0, 0 }, VALUES);
    assert_int_equal(b->status, 0);
    return (enum packed_type)bind_at(b, l.bind[0])->type;
}

static void fill_scores(struct build *b)
{
    static const float by[] = { 1e-3f, 1e3f };
    (void)fill_io(b, Q);
    for (int may = 0; may < 2; may++)
        for (int large = 0; large < 2; large++) {
            b->p.precision = (struct precision){ .by_role = { [LINEAR_QKV] = PK_I8_QUAD, [LINEAR_VALUES] = PK_I8_QUAD },
                                                 .bf16 = PK_BF16_PAIR, .int8_scores = may };
            norm_by = by[large];
            const enum packed_type t = scores_type(b);
            if (may && !large) assert_int_equal(t, PK_I8_QUAD);
            if (!may && !large) assert_int_equal(t, PK_BF16_PAIR);
            if (large) assert_int_equal(t, PK_F32); /* not even bf16 */
        }
}

static void test_queries_and_keys_are_int8_where_they_may_be_and_scores_are_small(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, CPU_C, 1, fill_scores, HEADS);
    rig_close(&r);
}

/* ---- what is refused, and what is shared */

static void fill_cross(struct build *b)
{
    static struct sub const cross = { sub_cross, "norm", "g", NULL, 0 };
    fill_layer(b, &cross, &grouped);
}

static void fill_no_state(struct build *b) { fill_layer(b, &causal_g, &grouped); }
static void fill_uneven(struct build *b) { bind_attn(b, 4, 3, D_HEAD); }
static void fill_no_kv_heads(struct build *b) { bind_attn(b, 4, 0, D_HEAD); }

static void test_invalid_networks_are_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct { fill_fn *fill; const char *why; } c[] = {
        { fill_cross, "g attends to a state, but the plan has no cross_state" },
        { fill_no_state, "g attends to a state, but the plan has no self_state" },
        { fill_uneven, "4 heads of queries do not share 3 heads of keys" },
        { fill_no_kv_heads, "do not share 0 heads" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        struct rig r;
        steno_error e = { 0 };
        assert_int_equal(rig_build(&r, CPU_C, 1, c[i].fill, &e), STENO_EUNSUPPORTED);
        if (!strstr(e.text, c[i].why)) fail_msg("'%s' does not say '%s'", e.text, c[i].why);
        rig_close(&r);
    }
}

static const void *placed(struct rig *r, int at) { return r->plan.bind[r->plan.op[at].bind].w; }

/* Twice as it is stored and twice in bf16: two places. Behind two matrices of one norm the norm is known to both. */
static void fill_twice(struct build *b)
{
    static const struct linear_part part = { "0.g.query.weight", "0.g.query.bias", Q };
    static const enum linear_role role[] = { LINEAR_OTHER, LINEAR_UP, LINEAR_OTHER, LINEAR_UP };
    const uint16_t out = fill_io(b, Q), norm = bind_norm(b, "0.norm.weight", "0.norm.bias", D, 1e-5f);
    b->p.precision.by_role[LINEAR_UP] = PK_BF16_PAIR;
    for (int i = 0; i < 4; i++) {
        const struct linear_binds l = bind_linear(b, &(struct linear_desc){ &part, 1, D, role[i], norm, NULL, 0, 0 });
        const struct linear_use use = use_of(out, b->plan.input);
        emit_linear(b, &use, &l);
    }
}

static void test_weights_packed_alike_are_shared(void **state)
{
    (void)state;
    struct rig r;
    steno_error e;
    assert_int_equal(rig_build(&r, CPU_C, 1, fill_twice, &e), 0);
    assert_ptr_equal(placed(&r, 0), placed(&r, 2));
    assert_ptr_equal(placed(&r, 1), placed(&r, 3));
    assert_ptr_not_equal(placed(&r, 0), placed(&r, 1));
    for (int i = 0; i < 4; i++) {
        const struct bind *c = &r.plan.bind[r.plan.op[i].bind];
        assert_int_equal(c->type, i % 2 ? PK_BF16_PAIR : PK_F32);
        assert_ptr_equal(c->bias, r.plan.bind[r.plan.op[0].bind].bias);
    }
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_stored_as_unequal_types_give_the_bits_of_linears_apart),
        cmocka_unit_test(test_parts_of_unequal_size_stored_alike_are_one_op),
        cmocka_unit_test(test_values_of_fewer_bits_are_the_last_rows_of_their_matrix),
        cmocka_unit_test(test_queries_and_keys_are_int8_where_they_may_be_and_scores_are_small),
        cmocka_unit_test(test_invalid_networks_are_refused_with_a_reason),
        cmocka_unit_test(test_weights_packed_alike_are_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
