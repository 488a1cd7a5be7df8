/* steno tests: recurrent layers as ops. SPDX-License-Identifier: MIT
 *
 * Frames made three of each and read both ways, and sequences beside each other in a table read forth, by one layer behind another: against
 * the same written out slowly, at every level. */
#include "executor/net.h"
#include "plan/lstm.h"
#include "plan/replay.h"

enum { D = 20, N = 24, IDS = 12, MAX_ROWS = 30, TIMES = 3 };

static struct net_shape const shapes[] = {
    { "up.weight", { D, D, TIMES } }, { "up.bias", { D } },
    { "both.weight_ih_l0", { 4 * N, D } }, { "both.weight_hh_l0", { 4 * N, N } },
    { "both.bias_ih_l0", { 4 * N } }, { "both.bias_hh_l0", { 4 * N } },
    { "both.weight_ih_l0_reverse", { 4 * N, D } }, { "both.weight_hh_l0_reverse", { 4 * N, N } },
    { "both.bias_ih_l0_reverse", { 4 * N } }, { "both.bias_hh_l0_reverse", { 4 * N } },
    { "weight.weight", { 1, 2 * N } }, { "weight.bias", { 1 } },
    { "embed.weight", { IDS, D } },
    { "words.weight_ih_l0", { 4 * N, D } }, { "words.weight_hh_l0", { 4 * N, N } },
    { "words.bias_ih_l0", { 4 * N } }, { "words.bias_hh_l0", { 4 * N } },
    { "words.weight_ih_l1", { 4 * N, N } }, { "words.weight_hh_l1", { 4 * N, N } },
    { "words.bias_ih_l1", { 4 * N } }, { "words.bias_hh_l1", { 4 * N } },
};

static void fill(struct build *b)
{
    const uint16_t wide = build_slot_padded(b, TIMES * MAX_ROWS, D);
    b->plan.input = build_slot(b, D);
    b->plan.output = build_slot_rows(b, TIMES * MAX_ROWS, 2 * N);
    b->plan.side_output[0] = build_slot_rows(b, TIMES * MAX_ROWS, 1);
    sub_upsample(b, "up", wide, b->plan.input, D, D, TIMES);
    sub_lstm(b, &(struct lstm_layer){ "both", 0, N, D, 1, 0, 0 }, b->plan.output, wide, ROWS_THRICE);
    const struct linear_part part = { "weight.weight", "weight.bias", 1 }, table = { "embed.weight", NULL, IDS };
    const uint16_t weight = bind_matrix(b, &part, 2 * N, LINEAR_OTHER, NO_BIND);
    struct op *op = emit(b, OP_LINEAR, "weight", b->plan.side_output[0], b->plan.output, weight);
    if (op) op->rows = ROWS_THRICE;
    build_phase(b, "words");
    const uint16_t x = build_slot(b, D), y = build_slot(b, N);
    b->plan.side_output[1] = build_slot(b, N);
    op = emit(b, OP_EMBED, "embed", x, NO_SLOT, bind_matrix(b, &table, D, LINEAR_OTHER, NO_BIND));
    if (op) op->rows = ROWS_TABLE;
    sub_lstm(b, &(struct lstm_layer){ "words", 0, N, D, 0, 0, 0 }, y, x, ROWS_TABLE);
    sub_lstm(b, &(struct lstm_layer){ "words", 1, N, N, 0, 0, 0 }, b->plan.side_output[1], y, ROWS_TABLE);
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* One way over rows of x, [rows, k], to y, rows of ld_y. */
static void slow_way(struct net *s, double *y, int ld_y, const double *x, const char *name, const char *suffix, int rows, int k)
{
    static const char *const what[] = { "weight_ih", "weight_hh", "bias_ih", "bias_hh" };
    const float *w[4];
    double h[N] = { 0 }, c[N] = { 0 };
    const int back = suffix[0] && strstr(suffix, "_reverse") != NULL;
    for (int i = 0; i < 4; i++) {
        char full[64];
        snprintf(full, sizeof full, "%s.%s_%s", name, what[i], suffix);
        w[i] = net_find(s, full);
    }
    for (int i = 0; i < rows; i++) {
        const int r = back ? rows - 1 - i : i;
        double own[4 * N], from_x[4 * N];
        slow_linear(from_x, x + r * k, w[0], w[2], 1, 4 * N, k);
        slow_linear(own, h, w[1], w[3], 1, 4 * N, N);
        for (int j = 0; j < N; j++) {
            const double g[4] = { from_x[j] + own[j], from_x[N + j] + own[N + j], from_x[2 * N + j] + own[2 * N + j],
                                  from_x[3 * N + j] + own[3 * N + j] };
            c[j] = sigmoid(g[1]) * c[j] + sigmoid(g[0]) * tanh(g[2]);
            h[j] = sigmoid(g[3]) * tanh(c[j]);
            y[r * ld_y + j] = h[j];
        }
    }
}

static void slow_frames(struct net *s, double *y, double *weight, const double *x, int rows)
{
    static double up[TIMES * MAX_ROWS * D];
    const float *w = net_find(s, "up.weight"), *bias = net_find(s, "up.bias");
    for (int r = 0; r < rows; r++)
        for (int j = 0; j < TIMES; j++)
            for (int o = 0; o < D; o++) {
                double sum = (double)bias[o];
                for (int c = 0; c < D; c++) sum += x[r * D + c] * (double)w[(c * D + o) * TIMES + j];
                up[(r * TIMES + j) * D + o] = sum;
            }
    slow_way(s, y, 2 * N, up, "both", "l0", TIMES * rows, D);
    slow_way(s, y + N, 2 * N, up, "both", "l0_reverse", TIMES * rows, D);
    slow_linear(weight, y, net_find(s, "weight.weight"), net_find(s, "weight.bias"), TIMES * rows, 1, 2 * N);
}

static struct net_desc const desc = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = MAX_ROWS,
                                      .scale = 0.4f };

static void check_frames(int level, int threads)
{
    static double slow_x[MAX_ROWS * D], want[TIMES * MAX_ROWS * 2 * N], want_weight[TIMES * MAX_ROWS];
    static float x[MAX_ROWS * D], y[TIMES * MAX_ROWS * 2 * N];
    struct net r;
    net_open(&r, &desc, level, threads);
    for (int i = 0; i < MAX_ROWS * D; i++) slow_x[i] = (double)(x[i] = net_noise());
    for (int rows = MAX_ROWS; rows; rows /= 3) {
        slow_frames(&r, want, want_weight, slow_x, rows);
        net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)rows }, x);
        net_output(&r, r.plan.output, y, (uint32_t)(TIMES * rows), 1e-5f);
        net_near(y, want, (size_t)(TIMES * rows), 2 * N, 1e-5, "both ways", level);
        net_output(&r, r.plan.side_output[0], y, (uint32_t)(TIMES * rows), 1e-5f);
        net_near(y, want_weight, (size_t)(TIMES * rows), 1, 1e-5, "weights", level);
    }
    net_close(&r);
}

static void test_frames_made_three_of_each_are_read_both_ways(void **state)
{
    (void)state;
    net_each_level(check_frames);
}

/* Frames of several sequences in one run are read as those of each alone. */
static void check_sequences(int level, int threads)
{
    static const uint32_t n[] = { 9, 1, 20 };
    static float x[MAX_ROWS * D], together[TIMES * MAX_ROWS * 2 * N], alone[TIMES * MAX_ROWS * 2 * N];
    struct sequence s[3];
    struct net r;
    net_open(&r, &desc, level, threads);
    for (int i = 0; i < MAX_ROWS * D; i++) x[i] = net_noise();
    for (int i = 0; i < 3; i++) {
        s[i] = sequence_next(i ? &s[i - 1] : NULL, n[i], 0);
        s[i].block = 0; /* keys are not read */
        net_phases(&r, &(struct phases){ .end = 1, .n_rows = n[i] }, x + s[i].row * D);
        net_output(&r, r.plan.output, alone + (size_t)TIMES * s[i].row * 2 * N, TIMES * n[i], 1e-5f);
    }
    net_phases(&r, &(struct phases){ .end = 1, .n_rows = MAX_ROWS, .sequence = s, .n_sequences = 3 }, x);
    net_output(&r, r.plan.output, together, TIMES * MAX_ROWS, 1e-5f);
    assert_memory_equal(together, alone, sizeof alone);
    net_close(&r);
}

static void test_sequences_of_frames_are_read_from_their_own_ends(void **state)
{
    (void)state;
    net_each_level(check_sequences);
}

static void check_words(int level, int threads)
{
    static const int length[] = { 1, 5, 2, 9 };
    static double x[MAX_ROWS * D], y[MAX_ROWS * N], want[MAX_ROWS * N];
    static float got[MAX_ROWS * N];
    struct net r;
    int n = 0;
    net_open(&r, &desc, level, threads);
    r.run.n_rows = 0;
    for (int k = 0; k < 4; k++) {
        const int from = n;
        for (int i = 0; i < length[k]; i++, n++) {
            const int32_t id = n * 5 % IDS;
            run_add(&r.run, id, i, 0, 0);
            for (int j = 0; j < D; j++) x[n * D + j] = (double)net_find(&r, "embed.weight")[id * D + j];
        }
        slow_way(&r, y + from * N, N, x + from * D, "words", "l0", length[k], D);
        slow_way(&r, want + from * N, N, y + from * N, "words", "l1", length[k], N);
    }
    run_prepare(&r.run);
    net_phases(&r, &(struct phases){ .first = 1, .end = 2, .n_rows = 1, .run = &r.run }, NULL);
    net_output(&r, r.plan.side_output[1], got, (uint32_t)n, 1e-5f);
    net_near(got, want, (size_t)n, N, 1e-5, "words", level);
    net_close(&r);
}

static void test_sequences_of_a_table_begin_anew_at_their_first_row(void **state)
{
    (void)state;
    net_each_level(check_words);
}

/* Gates are four times as wide as what they make of a row, and there are never those of all rows. */
static void test_memory_does_not_hold_the_gates_of_all_rows(void **state)
{
    (void)state;
    struct net r;
    net_open(&r, &desc, cpu_level_best(), 1);
    size_t rows = 0;
    for (int i = 0; i < r.plan.n_slots; i++) {
        assert_true(r.plan.slot[i].width <= 2 * N);
        rows += (size_t)r.plan.slot[i].rows * (r.plan.slot[i].width + 16) * sizeof(float);
    }
    assert_true(r.plan.scratch_sz <= rows + 4096);
    const struct op *op = r.plan.op;
    while (op->kind != OP_LSTM) op++;
    const size_t some = lstm_scratch(&r.kern, &r.plan, op, 64), many = lstm_scratch(&r.kern, &r.plan, op, 100000);
    assert_int_equal(some, many);
    assert_true(lstm_scratch(&r.kern, &r.plan, op, 10) < some);
    net_close(&r);
}

static int at_once(void *user)
{
    return ++*(int *)user > 4;
}

static void test_a_recurrent_layer_ends_early(void **state)
{
    (void)state;
    static float x[MAX_ROWS * D];
    struct net r;
    struct run_time spent;
    int asked = 0;
    net_open(&r, &desc, cpu_level_best(), 1);
    net_exec(r.exec, &r.plan, &(struct phases){ .end = 1, .n_rows = MAX_ROWS }, x);
    r.exec->should_stop = at_once;
    r.exec->user = &asked;
    assert_int_equal(exec_phases(r.exec, &r.plan, &(struct phases){ .end = 1, .n_rows = MAX_ROWS }, NULL, &spent), STENO_ECANCELED);
    assert_true(asked < 20);
    net_close(&r);
}

static void refused(const char *says, const struct lstm_layer *l)
{
    struct net r;
    struct build b;
    struct plan p;
    steno_error e = { 0 };
    net_open(&r, &desc, CPU_C, 1);
    const struct build_params params = net_params(&r, &desc);
    build_begin(&b, &params, &e);
    const uint16_t in = build_slot(&b, l->k), out = build_slot(&b, 2 * N);
    sub_lstm(&b, l, out, in, ROWS_RUN);
    assert_int_not_equal(build_end(&b, &p), 0);
    assert_non_null(strstr(e.text, says));
    net_close(&r);
}

static void test_layers_that_are_not_there_or_do_not_fit_are_refused(void **state)
{
    (void)state;
    refused("multiple of 8", &(struct lstm_layer){ "words", 0, N - 4, D, 0, 0, 0 });
    refused("bias_ih_l0_reverse", &(struct lstm_layer){ "words", 0, N, D, 1, 0, 0 });
    refused("bias_ih_l2", &(struct lstm_layer){ "words", 2, N, D, 0, 0, 0 });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_made_three_of_each_are_read_both_ways),
        cmocka_unit_test(test_sequences_of_frames_are_read_from_their_own_ends),
        cmocka_unit_test(test_sequences_of_a_table_begin_anew_at_their_first_row),
        cmocka_unit_test(test_memory_does_not_hold_the_gates_of_all_rows),
        cmocka_unit_test(test_a_recurrent_layer_ends_early),
        cmocka_unit_test(test_layers_that_are_not_there_or_do_not_fit_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
