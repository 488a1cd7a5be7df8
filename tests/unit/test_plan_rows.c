/* steno tests: plans over rows of features. SPDX-License-Identifier: MIT
 *
 * SAN-M layers (attention beside a filter over time) and streamed memories, built with the builder from a few made-up tensors, against the
 * same layers written out slowly in double precision; at every processor level, with one and two threads. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "plan/bind.h"
#include "plan/emit.h"
#include "executor/plain_executor.h"
#include "plan/exec.h"
#include "plan/sub.h"

enum { D_IN = 20, D = 24, HEADS = 3, D_HEAD = D / HEADS, D_FF = 28, TAPS = 5, ROWS = 45, MAX_ROWS = 70,
       CHAIN = 16 /* at most so many products one after the other, each as far off as it may be */ };
static float const eps = 1e-5f;
static float const linear_eps = 4 * FLT_EPSILON * 5.3f; /* kern.h: of a linear against the twin; sqrt(D_FF) */

/* ---- tensors ------------------------------------------------------------------------------------------------------------------- */

static struct { const char *name; uint64_t dim[4]; } const shapes[] = {
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

static uint32_t seed = 1;
static float noise(void)
{
    seed = seed * 1664525u + 1013904223u;
    return (float)(int32_t)seed * 0x1p-31f;
}

static int same_name(const char *name, char *out, size_t n)
{
    (void)name, (void)out, (void)n;
    return 0;
}

/* Weights as a reader leaves them, over values in memory. */
struct set { struct weights w; struct file file; float *v; };

static void set_open(struct set *s)
{
    size_t total = 0;
    steno_error e;
    memset(s, 0, sizeof *s);
    arena_init(&s->w.arena);
    s->w.name = "made.up";
    for (int i = 0; i < N_SHAPES; i++) {
        struct tensor *t = weights_add(&s->w, &e);
        assert_non_null(t);
        t->name = shapes[i].name;
        t->type = DT_F32;
        size_t n = 1;
        for (int k = 0; k < 4; k++) {
            t->dim[k] = shapes[i].dim[k] ? shapes[i].dim[k] : 1;
            if (shapes[i].dim[k]) t->n_dims = k + 1;
            n *= t->dim[k];
        }
        t->file = &s->file;
        t->offset = total * sizeof(float);
        t->size = n * sizeof(float);
        total += n;
    }
    s->v = malloc(total * sizeof *s->v);
    assert_non_null(s->v);
    for (size_t i = 0; i < total; i++) s->v[i] = noise();
    file_from_memory(&s->file, "made.up", s->v, total * sizeof *s->v);
    assert_int_equal(weights_rename(&s->w, same_name, &e), 0); /* builds the index */
}

static const float *set_find(struct set *s, const char *name)
{
    const struct tensor *t = weights_find(&s->w, name);
    assert_non_null(t);
    return s->v + t->offset / sizeof *s->v;
}

static void set_close(struct set *s)
{
    weights_close(&s->w);
    free(s->v);
}

/* ---- the layers, slowly -------------------------------------------------------------------------------------------------------- */

static void slow_norm(double *y, const double *x, const float *g, const float *b, int rows, int n)
{
    for (int r = 0; r < rows; r++) {
        double mean = 0, square = 0;
        for (int i = 0; i < n; i++) mean += x[r * n + i] / n;
        for (int i = 0; i < n; i++) square += (x[r * n + i] - mean) * (x[r * n + i] - mean) / n;
        for (int i = 0; i < n; i++) y[r * n + i] = (x[r * n + i] - mean) / sqrt(square + (double)eps) * g[i] + b[i];
    }
}

static void slow_linear(double *y, const double *x, const float *w, const float *b, int rows, int n, int k)
{
    for (int r = 0; r < rows; r++)
        for (int i = 0; i < n; i++) {
            y[r * n + i] = b[i];
            for (int j = 0; j < k; j++) y[r * n + i] += x[r * k + j] * w[i * k + j];
        }
}

static void slow_attention(double *y, const double *qkv, int rows)
{
    static double p[MAX_ROWS];
    for (int h = 0; h < HEADS; h++)
        for (int r = 0; r < rows; r++) {
            double max = -INFINITY, sum = 0;
            for (int t = 0; t < rows; t++) {
                p[t] = 0;
                for (int i = h * D_HEAD; i < (h + 1) * D_HEAD; i++) p[t] += qkv[r * 3 * D + i] * qkv[t * 3 * D + D + i] / sqrt(D_HEAD);
                max = fmax(max, p[t]);
            }
            for (int t = 0; t < rows; t++) sum += p[t] = exp(p[t] - max);
            for (int i = h * D_HEAD; i < (h + 1) * D_HEAD; i++) {
                y[r * D + i] = 0;
                for (int t = 0; t < rows; t++) y[r * D + i] += p[t] / sum * qkv[t * 3 * D + 2 * D + i];
            }
        }
}

/* Identity and filter, `left` taps looking back. v: rows of ld. */
static void slow_memory(double *y, const double *v, int ld, const float *w, int rows, int taps, int left)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < D; c++) {
            y[r * D + c] = v[r * ld + c];
            for (int j = 0; j < taps; j++) {
                const int t = r + j - left;
                if (t >= 0 && t < rows) y[r * D + c] += w[c * taps + j] * v[t * ld + c];
            }
        }
}

/* x[rows, d_in] -> out[rows, D]; the residual where the widths agree. */
static void slow_sanm(struct set *s, double *out, const double *x, const char *name, int rows, int d_in)
{
    static double normed[MAX_ROWS * D], qkv[MAX_ROWS * 3 * D], attended[MAX_ROWS * D], memory[MAX_ROWS * D], y[MAX_ROWS * D];
    char full[64];
    const float *w[7];
    static const char *const part[] = { "norm.weight", "norm.bias", "a.linear_q_k_v.weight", "a.linear_q_k_v.bias",
                                        "a.fsmn_block.weight", "a.linear_out.weight", "a.linear_out.bias" };
    for (int i = 0; i < 7; i++) {
        snprintf(full, sizeof full, "%s.%s", name, part[i]);
        w[i] = set_find(s, full);
    }
    slow_norm(normed, x, w[0], w[1], rows, d_in);
    slow_linear(qkv, normed, w[2], w[3], rows, 3 * D, d_in);
    slow_attention(attended, qkv, rows);
    slow_memory(memory, qkv + 2 * D, 3 * D, w[4], rows, TAPS, (TAPS - 1) / 2);
    slow_linear(y, attended, w[5], w[6], rows, D, D);
    for (int i = 0; i < rows * D; i++) out[i] = y[i] + memory[i] + (d_in == D ? x[i] : 0);
}

static void slow_ffn(struct set *s, double *x, int rows)
{
    static double normed[MAX_ROWS * D], wide[MAX_ROWS * D_FF], y[MAX_ROWS * D];
    slow_norm(normed, x, set_find(s, "more.0.norm2.weight"), set_find(s, "more.0.norm2.bias"), rows, D);
    slow_linear(wide, normed, set_find(s, "more.0.w1.weight"), set_find(s, "more.0.w1.bias"), rows, D_FF, D);
    for (int i = 0; i < rows * D_FF; i++) wide[i] = fmax(wide[i], 0);
    slow_linear(y, wide, set_find(s, "more.0.w2.weight"), set_find(s, "more.0.w2.bias"), rows, D, D_FF);
    for (int i = 0; i < rows * D; i++) x[i] += y[i];
}

/* ---- the same as plans --------------------------------------------------------------------------------------------------------- */

struct rig {
    struct set set;
    struct arena arena;
    struct weight_store store;
    struct plan plan;
    struct kern kern;
    steno_team *team;
    struct cpu_executor cpu;
    struct exec *exec, *other;   /* other: the same on the plain executor, beside it */
    struct plain_executor plain;
    struct kv_state state;
};

static struct build_params params_of(struct rig *r)
{
    return (struct build_params){ .name = "rows", .arena = &r->arena, .weights = &r->set.w, .store = &r->store, .kern = &r->kern,
                                  .team = r->team, .max_rows = MAX_ROWS };
}

static int give(void *user, const void *at, size_t n)
{
    return executor_weights(user, at, n, NULL);
}

/* The streamed memory at hand. */
static struct memory { const char *name; int taps; } memory = { "memory.weight", TAPS };

static void rig_open(struct rig *r, int level, int threads, void (*fill)(struct build *b))
{
    const struct state_desc tail = { "tail", STATE_SHIFT, 1, 1, D, (uint32_t)memory.taps - 1 };
    struct build b;
    steno_error e;
    memset(r, 0, sizeof *r);
    seed = 1;
    set_open(&r->set);
    arena_init(&r->arena);
    kern_init(&r->kern, level);
    assert_int_equal(team_open(&r->team, threads, &e), 0);
    const struct build_params p = params_of(r);
    build_begin(&b, &p, &e);
    build_phase(&b, "all");
    fill(&b);
    if (build_end(&b, &r->plan)) fail_msg("%s", e.text);
    const struct plan *plans[] = { &r->plan };
    assert_int_equal(state_open(&r->state, &r->arena, &tail, KV_F32, 1, &e), 0);
    const struct exec_params exec = { .plan = plans, .n_plans = 1, .state = &r->state, .n_states = 1, .max_out = RUN_LANES,
                                      .threads = threads, .team = r->team };
    executor_cpu(&r->cpu, &r->kern);
    assert_int_equal(exec_open(&r->exec, &r->cpu.base, &r->arena, &exec, &e), 0);
    plain_executor_open(&r->plain);
    assert_int_equal(weight_store_each(&r->store, give, &r->plain.base), 0);
    assert_int_equal(exec_open(&r->other, &r->plain.base, &r->arena, &exec, &e), 0);
    exec_state_reset(r->other, 0, 0);
}

static void rig_close(struct rig *r)
{
    exec_close(r->exec);
    exec_close(r->other);
    plain_executor_close(&r->plain);
    weight_store_close(&r->store);
    team_close(r->team);
    arena_free(&r->arena);
    set_close(&r->set);
}

static void exec_rows(struct exec *x, const struct plan *p, float *y, const float *in, int rows)
{
    const struct slot *from = &p->slot[p->input];
    const size_t width = p->slot[p->output].width;
    for (int i = 0; i < rows; i++) memcpy(exec_input(x, p) + (size_t)i * from->ld, in + (size_t)i * from->width, from->width * sizeof *in);
    struct run_time spent;
    assert_int_equal(exec_phases(x, p, &(struct phases){ .end = 1, .n_rows = (uint32_t)rows }, NULL, &spent), 0);
    size_t ld;
    const float *got = exec_output(x, p, p->output, 0, (uint32_t)rows, &ld);
    for (int i = 0; i < rows; i++) memcpy(y + (size_t)i * width, got + (size_t)i * ld, width * sizeof *y);
}

/* Rows of x through the plan; y [rows, width of the output]. The plain executor comes to the same: to the same bits at the
 * level of the twins, which it computes with. */
static void rig_run(struct rig *r, float *y, const float *x, int rows)
{
    static float plain[MAX_ROWS * D];
    const float near = r->kern.level == CPU_C ? 0 : CHAIN * linear_eps;
    const size_t n = (size_t)rows * r->plan.slot[r->plan.output].width;
    assert_true(n <= sizeof plain / sizeof *plain);
    exec_rows(r->exec, &r->plan, y, x, rows);
    exec_rows(r->other, &r->plan, plain, x, rows);
    for (size_t i = 0; i < n; i++)
        if (!(fabsf(y[i] - plain[i]) <= near * (1 + fabsf(y[i]))) && !(isnan(y[i]) && isnan(plain[i])))
            fail_msg("%d rows, value %zu: %g, plain %g", rows, i, (double)y[i], (double)plain[i]);
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

static void each_level(void (*check)(int level, int threads))
{
    for (int level = 0; level < CPU_LEVELS; level++)
        for (int threads = 1; threads <= 2 && cpu_level_usable(level); threads++) check(level, threads);
}

static void check_sanm(int level, int threads)
{
    static double slow_x[MAX_ROWS * D_IN], want[MAX_ROWS * D], first[MAX_ROWS * D];
    static float x[MAX_ROWS * D_IN], y[MAX_ROWS * D], again[MAX_ROWS * D];
    struct rig r;
    rig_open(&r, level, threads, fill_sanm);
    for (int i = 0; i < MAX_ROWS * D_IN; i++) slow_x[i] = (double)(x[i] = noise());
    const int rows[] = { MAX_ROWS, ROWS, 1 }; /* what a longer run left behind must not be seen */
    for (int k = 0; k < 3; k++) {
        slow_sanm(&r.set, first, slow_x, "first", rows[k], D_IN);
        slow_sanm(&r.set, want, first, "more.0", rows[k], D);
        slow_ffn(&r.set, want, rows[k]);
        rig_run(&r, y, x, rows[k]);
        for (int i = 0; i < rows[k] * D; i++)
            if (fabs((double)y[i] - want[i]) > 1e-5 * (1 + fabs(want[i])))
                fail_msg("level %d, %d rows: row %d, column %d is %.9g, want %.9g", level, rows[k], i / D, i % D, (double)y[i], want[i]);
        rig_run(&r, again, x, rows[k]);
        assert_memory_equal(y, again, (size_t)rows[k] * D * sizeof *y);
    }
    rig_close(&r);
}

static void test_sanm_layers_equal_the_slow_ones_at_every_level(void **state)
{
    (void)state;
    each_level(check_sanm);
}

static void check_memory(int level, int threads)
{
    static double slow_x[MAX_ROWS * D], want[MAX_ROWS * D];
    static float x[MAX_ROWS * D], whole[MAX_ROWS * D], pieces[MAX_ROWS * D];
    struct rig r;
    rig_open(&r, level, threads, fill_memory);
    for (int i = 0; i < MAX_ROWS * D; i++) slow_x[i] = (double)(x[i] = noise());
    slow_memory(want, slow_x, D, set_find(&r.set, memory.name), MAX_ROWS, memory.taps, memory.taps - 1);
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
    rig_close(&r);
}

static void test_a_memory_streamed_in_pieces_gives_the_bits_of_the_whole(void **state)
{
    (void)state;
    each_level(check_memory);
}

static void test_the_longest_memory_and_one_tap_less_are_served(void **state)
{
    (void)state;
    const struct memory usual = memory;
    memory = (struct memory){ "memory63.weight", FSMN_TAPS - 1 };
    each_level(check_memory);
    memory = (struct memory){ "memory64.weight", FSMN_TAPS };
    each_level(check_memory);
    memory = usual;
}

/* Features row D10: an impulse spreads over the taps around it, exactly. */
static void test_an_impulse_spreads_over_the_taps_exactly(void **state)
{
    (void)state;
    static float x[MAX_ROWS * D], y[MAX_ROWS * D];
    struct rig r;
    rig_open(&r, CPU_C, 1, fill_memory);
    const float *w = set_find(&r.set, "memory.weight");
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
    rig_close(&r);
}

static void test_filters_that_the_executor_cannot_hold_are_refused(void **state)
{
    (void)state;
    struct rig r;
    struct build b;
    steno_error e = { 0 };
    rig_open(&r, CPU_C, 1, fill_memory);
    const struct build_params params = params_of(&r);
    build_begin(&b, &params, &e);
    bind_fsmn(&b, "memory.weight", D, FSMN_TAPS + 1, 0, 1);
    struct plan p;
    assert_int_equal(build_end(&b, &p), STENO_EUNSUPPORTED);
    assert_non_null(strstr(e.text, "65 taps"));
    rig_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sanm_layers_equal_the_slow_ones_at_every_level),
        cmocka_unit_test(test_a_memory_streamed_in_pieces_gives_the_bits_of_the_whole),
        cmocka_unit_test(test_the_longest_memory_and_one_tap_less_are_served),
        cmocka_unit_test(test_an_impulse_spreads_over_the_taps_exactly),
        cmocka_unit_test(test_filters_that_the_executor_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
