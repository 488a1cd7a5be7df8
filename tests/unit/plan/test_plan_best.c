/* steno tests: the most probable ids of all rows, in two stages and in one. SPDX-License-Identifier: MIT
 *
 * A head whose rows are alike, some to the last bit and some nearly, over rows of all kinds: ids and logits of two stages are those of one
 * stage, with any mask and any executor, and probabilities are close to them. */
#include "executor/net.h"
#include "plan/logits_approx.h"
#include "plan/sub.h"

enum { D = 72, MAX_ROWS = 64, LANES = 3, MOST = 2 * SLICE_IDS };

static uint32_t n_ids;
static int is_approx, alike; /* alike: each id but the first few is nearly one of those */
static struct net net;
static struct net_shape shapes[] = { { "head.weight", { 0, D } }, { "head.bias", { 0 } } };

/* Ids that are those before them again, in other panels and slices, every third with a difference that int8 does not see. */
static void make_alike(void)
{
    float *w = net.set.v + net.set.at[0], *bias = net.set.v + net.set.at[1];
    for (uint32_t i = 40; i < n_ids; i++) {
        const uint32_t of = alike ? i * 7 % 40 : i;
        if (!alike && i % 97) continue;
        memmove(w + (size_t)i * D, w + (size_t)(alike ? of : i / 97) * D, D * sizeof *w);
        bias[i] = bias[alike ? of : i / 97];
        if (i % 3 == 0) w[(size_t)i * D + i % D] += 1e-4f;
    }
    for (size_t k = 0; k < 2; k++) {
        const struct tensor *t = &net.set.w.tensor[k];
        for (size_t i = 0; i < t->size / dtype_row_sz(t->type, 1); i++)
            net_store(net.set.stored + t->offset + i * dtype_row_sz(t->type, 1), t->type, &net.set.v[net.set.at[k] + i]);
    }
}

static void fill(struct build *b)
{
    const struct linear_part part = { "head.weight", "head.bias", n_ids };
    make_alike();
    b->plan.input = b->plan.output = build_slot(b, D);
    const uint16_t head = bind_matrix(b, &part, D, LINEAR_LM_HEAD, NO_BIND), approx = bind_best_approx(b, part.weight, n_ids, D);
    is_approx = approx != NO_BIND;
    sub_best(b, &(struct best_head){ "two", head, approx, ROWS_RUN }, b->plan.input);
    build_phase(b, "one");
    sub_best(b, &(struct best_head){ "one", head, NO_BIND, ROWS_RUN }, b->plan.input);
}

/* Rows of zeros, of no numbers, of next to nothing, with an outlier; the others are of chance. */
static void make_rows(float *x, uint32_t rows)
{
    for (uint32_t i = 0; i < rows * D; i++) x[i] = net_noise() * 3;
    for (uint32_t i = 0; i < D && rows > 12; i++) x[3 * D + i] = 0, x[9 * D + i] *= 1e-30f, x[10 * D + i] *= 1e-42f;
    if (rows > 12) x[5 * D + 7] = NAN, x[7 * D + 1] = INFINITY, x[11 * D + 70] = 1e4f;
}

static void best_of(struct best *best, int phase, uint32_t rows, const float *x)
{
    net.run.argmax.best = best;
    net_exec(net.exec, &net.plan, &(struct phases){ .first = phase, .end = phase + 1, .n_rows = rows, .run = &net.run }, x);
}

/* With the masks of lanes: none, of every other id and all of the last slice, of all. */
static void check_rows(uint32_t rows, int level)
{
    static float x[MAX_ROWS * D];
    static uint32_t mask[LANES][MOST / 32 + 1];
    static struct lane lanes[LANES];
    struct best two[MAX_ROWS], one[MAX_ROWS];
    net.run.lane = lanes; /* it has one of its own */
    net.run.n_lanes = LANES;
    make_rows(x, rows);
    for (uint32_t id = 0; id < n_ids; id++)
        if (id % 2 || id >= SLICE_IDS) mask[1][id / 32] |= 1u << id % 32;
    memset(mask[2], 0xff, sizeof mask[2]);
    for (uint32_t l = 0; l < LANES; l++) net.run.lane[l].argmax_mask = l ? mask[l] : NULL;
    net.run.n_rows = 0;
    for (uint32_t i = 0; i < rows; i++) run_add(&net.run, 0, (int32_t)i, (uint16_t)(i % 5 == 4 ? 1 + i / 5 % 2 : 0), 0);
    run_prepare(&net.run);
    best_of(two, 0, rows, x);
    best_of(one, 1, rows, x);
    for (uint32_t i = 0; i < rows; i++) {
        const int close = fabsf(two[i].logprob - one[i].logprob) <= 0.05f || (isnan(two[i].logprob) && isnan(one[i].logprob)) ||
                          two[i].logprob == one[i].logprob;
        if (two[i].id != one[i].id || memcmp(&two[i].logit, &one[i].logit, sizeof one[i].logit) != 0 || !close)
            fail_msg("level %d, %u ids, row %u of %u: %d, logit %.9g, %.9g; in one stage %d, %.9g, %.9g", level, n_ids, i, rows, two[i].id,
                     (double)two[i].logit, (double)two[i].logprob, one[i].id, (double)one[i].logit, (double)one[i].logprob);
    }
}

/* The loss of int8 in the matrix and in a row, as reported and by definition. */
static void check_losses(void)
{
    const struct bind *approx = &net.plan.bind[net.plan.op[0].approx - 1];
    const float *w = net_find(&net, "head.weight");
    float x[D], row[D], most = 0;
    for (uint32_t p = 0; p < pack_panels(n_ids); p++) {
        double error = 0, norm = 0;
        for (uint32_t id = p * PANEL; id < (p + 1) * PANEL && id < n_ids; id++) {
            double e = 0, n = 0;
            net.kern.embed[PK_I8_QUAD](row, approx->w, id, D);
            for (int i = 0; i < D; i++) e += pow((double)w[(size_t)id * D + i] - (double)row[i], 2), n += pow((double)row[i], 2);
            error = fmax(error, sqrt(e)), norm = fmax(norm, sqrt(n));
        }
        const struct approx_panel told = approx->approx[p];
        assert_true((double)told.norm >= norm && (double)told.norm <= 1.001 * norm);
        assert_true((double)told.error >= error && (double)told.error <= 1.001 * error + D * 0x1p-21 * norm);
    }
    double e = 0;
    for (int i = 0; i < D; i++) x[i] = net_noise(), most = fmaxf(most, fabsf(x[i]));
    for (int i = 0; i < D; i++) e += pow((double)x[i] - (double)(rintf(x[i] * (127 / most)) * (most / 127)), 2);
    const struct approx_x told = approx_x_of(PK_I8_QUAD, x, D);
    assert_true((double)told.error >= sqrt(e) && (double)told.error <= 1.001 * sqrt(e) + 1e-5);
}

static void check(int level, int threads)
{
    static const uint32_t ids[] = { 31, 33, 4095, 4097, 6000 };
    static const enum packed_type type[] = { PK_I16_PAIR, PK_BF16_PAIR };
    for (size_t i = 0; i < 2 * sizeof ids / sizeof *ids; i++) {
        n_ids = ids[i / 2];
        alike = i / 2 % 2;
        shapes[0].dim[0] = shapes[1].dim[0] = n_ids;
        const struct net_desc d = { .shape = shapes, .n_shapes = 2, .fill = fill, .max_rows = MAX_ROWS, .scale = 0.4f,
                                    .precision = { .by_role = { [LINEAR_LM_HEAD] = type[i % 2] } } };
        net_open(&net, &d, level, threads);
        assert_int_equal(is_approx, kern_gains(level, PK_I8_QUAD));
        if (is_approx) check_losses();
        check_rows(1, level);
        check_rows(12, level);
        check_rows(61, level);
        net_close(&net);
    }
}

static void test_two_stages_find_the_ids_and_logits_of_one(void **state)
{
    (void)state;
    net_each_level(check);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_stages_find_the_ids_and_logits_of_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
