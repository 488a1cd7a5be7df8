/* steno tests: products of distances that are kept from run to run. SPDX-License-Identifier: MIT
 *
 * Clips of many lengths in turn, also after runs that ended early, have the bits of a first run. */
#include "conformer_net.h"

/* `rows` rows of random frames in whole rows. */
static void clip_fill(float *in, uint32_t rows)
{
    for (uint32_t i = 0; i < rows; i++) {
        for (int m = 0; m < IN - 1; m++) in[i * IN + (uint32_t)m] = net_noise();
        in[i * IN + IN - 1] = STACK;
    }
}

static enum packed_type type; /* of the matrices */

static int64_t calls_left; /* of should_stop, before it ends a run */
static int counts_down(void *user)
{
    (void)user;
    return calls_left-- <= 0;
}

/* The network of `r` on the processor's executor, fresh. */
static struct exec *fresh_exec(struct net *r)
{
    const struct plan *plans[] = { &r->plan };
    const struct exec_params p = { .plan = plans, .n_plans = 1, .max_out = 1, .threads = 1, .should_stop = counts_down };
    struct exec *x;
    steno_error e;
    assert_int_equal(exec_open(&x, &r->cpu.base, &r->arena, &p, &e), 0);
    return x;
}

static void run_clip(struct exec *x, const struct net *r, const float *in, uint32_t rows, float *out)
{
    net_exec(x, &r->plan, &(struct phases){ .end = 1, .n_rows = rows }, in);
    net_read(x, &r->plan, r->plan.output, out, rows);
}

/* Clips of these lengths one after another have the bits of a fresh executor. */
static void check_kept(int level, int threads)
{
    static uint32_t const rows[] = { 40, 7, 41, 40, 1, 170, 62, 33, 200, 64, 170, 3, 65, 96, 200, 100,
                                     180, 190, 200, 30, 150, 20, 30, 40, 200, 200, 200 };
    enum { N = sizeof rows / sizeof *rows };
    static float in[MAX_ROWS * IN], got[MAX_ROWS * D], want[MAX_ROWS * D];
    struct net_desc d = desc;
    struct net r;
    if (type == PK_I16_PAIR)
        d.precision = (struct precision){ .by_role = { [LINEAR_QKV] = type, [LINEAR_OTHER] = type }, .int8_scores = 1, .int16_attn = 1 };
    net_open(&r, &d, level, threads);
    for (int i = 0; i < r.plan.n_ops; i++)
        if (r.plan.op[i].kind == OP_PACK_DISTANCES)
            assert_int_equal(r.plan.slot[r.plan.op[i].kv_slot].kv_type, type == PK_I16_PAIR ? KV_I16 : KV_PANELS);
    clip_fill(in, MAX_ROWS);
    calls_left = INT64_MAX;
    for (int i = 0; i < N; i++) {
        struct exec *fresh = fresh_exec(&r);
        run_clip(fresh, &r, in, rows[i], want);
        run_clip(r.exec, &r, in, rows[i], got);
        assert_memory_equal(got, want, rows[i] * D * sizeof *got);
        exec_close(fresh);
    }
    net_close(&r);
}

static void test_kept_products_of_distances_give_the_same_bits(void **state)
{
    (void)state;
    static uint32_t const limit[] = { SIGHT_ALL, 4, 20 };
    static size_t const most[] = { 0, 40 << 10, 1 << 20 };
    for (size_t i = 0; i < 18; i += SANITIZED && !in_full() ? 5 : 1) { /* 5: each limit, each most, both types */
        behind = limit[i % 3], ahead = limit[i % 3] / 2;
        kept_most = most[i / 3 % 3];
        type = i < 9 ? PK_F32 : PK_I16_PAIR;
        net_each_level(check_kept);
    }
}

/* A longer clip ends after any of its ops; the next clip has the bits of the one before. */
static void test_a_run_that_ends_early_leaves_nothing_wrong(void **state)
{
    (void)state;
    static float in[MAX_ROWS * IN], got[MAX_ROWS * D], want[MAX_ROWS * D];
    struct net r;
    behind = ahead = SIGHT_ALL;
    kept_most = 1 << 20;
    net_open(&r, &desc, CPU_C, 1);
    clip_fill(in, MAX_ROWS);
    int rc = STENO_ECANCELED, ended = 0;
    for (int calls = 0; rc; calls++) {
        struct exec *x = fresh_exec(&r);
        struct run_time spent;
        calls_left = INT64_MAX;
        run_clip(x, &r, in, 40, want);
        calls_left = calls;
        rc = exec_phases(x, &r.plan, &(struct phases){ .end = 1, .n_rows = MAX_ROWS }, NULL, &spent);
        assert_true(!rc || rc == STENO_ECANCELED);
        ended += rc == STENO_ECANCELED;
        calls_left = INT64_MAX;
        run_clip(x, &r, in, 40, got);
        assert_memory_equal(got, want, 40 * D * sizeof *got);
        exec_close(x);
    }
    assert_true(ended >= r.plan.n_ops);
    net_close(&r);
}

/* Makes the positions of all distances others, so that products that are computed again change. */
static void distances_spoil(const struct plan *p)
{
    for (int i = 0; i < p->n_ops; i++) {
        if (p->op[i].kind != OP_DISTANCES) continue;
        float *table = (float *)(uintptr_t)(const void *)p->bind[p->op[i].bind].positions;
        for (uint32_t k = 0; k < (2 * p->reach - 1) * D; k++) table[k] = -table[k] + 1;
    }
}

/* What is kept fits into the bytes allowed, and the second run of a clip computes no distances. */
static void test_a_second_run_computes_no_distances(void **state)
{
    (void)state;
    static float in[MAX_ROWS * IN], out[MAX_ROWS * D];
    const struct plan *p;
    struct net r;
    behind = ahead = SIGHT_ALL;
    for (size_t most = 0; most <= 128 << 10; most += 8 << 10) {
        kept_most = most;
        net_open(&r, &desc, CPU_C, 1);
        p = &r.plan;
        assert_true(p->kept.sz <= most && p->kept.rows <= p->reach && !p->kept.sz == !p->kept.rows);
        const struct plan *plans[] = { p };
        struct exec_params params = { .plan = plans, .n_plans = 1, .max_out = 1, .threads = 1 };
        const size_t with = exec_memory(&r.cpu.base, &params);
        struct plan none = *p;
        none.kept = (struct kept_distances){ 0 };
        plans[0] = &none;
        assert_int_equal(with - exec_memory(&r.cpu.base, &params), p->kept.sz);
        clip_fill(in, MAX_ROWS);
        struct exec *x = fresh_exec(&r);
        calls_left = INT64_MAX;
        const uint32_t rows = p->kept.rows ? p->kept.rows : MAX_ROWS;
        run_clip(x, &r, in, rows, out);
        distances_spoil(p); /* which changes nothing if the products are kept */
        static float again[MAX_ROWS * D];
        run_clip(x, &r, in, rows, again);
        assert_int_equal(!memcmp(out, again, rows * D * sizeof *out), p->kept.rows > 0);
        exec_close(x);
        net_close(&r);
    }
}

/* Do runs of a clip after those in `before` use some products, or all, that are kept? */
struct kept_by { int some, all; };
static struct kept_by kept_by(const uint32_t *before, int n, uint32_t rows)
{
    static float in[MAX_ROWS * IN], out[MAX_ROWS * D], again[MAX_ROWS * D], none[MAX_ROWS * D];
    struct net r;
    net_open(&r, &desc, CPU_C, 1);
    clip_fill(in, MAX_ROWS);
    struct exec *x = fresh_exec(&r);
    calls_left = INT64_MAX;
    for (int i = 0; i < n; i++) run_clip(x, &r, in, before[i], out);
    struct exec *fresh = fresh_exec(&r);
    run_clip(fresh, &r, in, rows, out);
    exec_close(fresh);
    distances_spoil(&r.plan);
    run_clip(x, &r, in, rows, again);
    fresh = fresh_exec(&r);
    run_clip(fresh, &r, in, rows, none);
    const size_t sz = rows * D * sizeof *out;
    const struct kept_by k = { memcmp(again, none, sz) != 0, memcmp(again, out, sz) == 0 };
    exec_close(fresh);
    exec_close(x);
    net_close(&r);
    return k;
}

/* Of clips for which not all products fit, those of the first layers are kept; one clip of another length does not change that. */
static void test_long_clips_keep_products_of_the_first_layers(void **state)
{
    (void)state;
    enum { LONG = MAX_ROWS, SHORT = 32 };
    static uint32_t const runs[][5] = { { LONG }, { SHORT, LONG }, { SHORT, LONG, LONG }, { LONG, SHORT }, { LONG, SHORT, SHORT },
                                        { SHORT, LONG, SHORT, LONG, SHORT } };
    static int const n[] = { 1, 2, 3, 2, 3, 5 };
    static struct kept_by const want_long[] = { { 1, 0 }, { 0, 0 }, { 1, 0 }, { 1, 0 }, { 0, 0 }, { 0, 0 } };
    static struct kept_by const want_short[] = { { 1, 0 }, { 1, 1 }, { 1, 0 }, { 0, 0 }, { 1, 1 }, { 1, 1 } };
    struct net r;
    behind = ahead = SIGHT_ALL;
    kept_most = SIZE_MAX;
    net_open(&r, &desc, CPU_C, 1);
    kept_most = r.plan.kept.sz * 3 / 4;
    net_close(&r);
    for (size_t i = 0; i < sizeof n / sizeof *n; i++) {
        const struct kept_by l = kept_by(runs[i], n[i], LONG), k = kept_by(runs[i], n[i], SHORT);
        if (l.some != want_long[i].some || l.all != want_long[i].all || k.some != want_short[i].some || k.all != want_short[i].all)
            fail_msg("case %zu: a long clip uses some %d, all %d; a short one some %d, all %d", i, l.some, l.all, k.some, k.all);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kept_products_of_distances_give_the_same_bits),
        cmocka_unit_test(test_a_run_that_ends_early_leaves_nothing_wrong),
        cmocka_unit_test(test_a_second_run_computes_no_distances),
        cmocka_unit_test(test_long_clips_keep_products_of_the_first_layers),
    };
    layers = 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
