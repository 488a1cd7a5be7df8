/* steno tests: layers of other shapes than those of the models that are served. SPDX-License-Identifier: MIT
 *
 * Heads of queries that share keys and values, decoders without cross-attention and with another state before their own, rows of a prompt
 * that are no tokens: each is compared to the bit with something simpler that computes the same. */
#include "plan_rig.h"

static struct sub_dims const repeated = { .d = D, .n_heads = HEADS, .n_kv_heads = HEADS, .d_head = D_HEAD, .d_ff = D_FF, .eps = 1e-5f };

/* ---- plans of them */

/* Tokens [from, to), `at_once` to a run, to the rows of out. */
static void rig_tokens(struct rig *r, float *out, const int32_t *tokens, int n, int at_once)
{
    state_truncate(&r->state[1], 0, 0);
    for (int from = 0; from < n; from += at_once) {
        const int to = from + at_once < n ? from + at_once : n;
        r->run.n_rows = 0;
        for (int i = from; i < to; i++) run_add(&r->run, tokens[i], i, 0, 0);
        r->run.lane[0].kv.len = from;
        assert_int_equal(state_prepare(&r->state[1], 0, (uint32_t)from, (uint32_t)to), 0);
        run_prepare(&r->run);
        rig_run(r, out, (size_t)from, (uint32_t)(to - from), &r->run);
    }
}

/* ---- sub-layers: the input is the stream, or tokens are */

static struct sub const sub_g = { sub_attn, "norm", "g", NULL, 0 }, sub_r = { sub_attn, "norm", "r", NULL, 0 };
static struct sub const sub_m = { sub_attn, "norm", "m", NULL, 0 };
static struct sub const causal_m = { sub_attn, "norm", "m", NULL, SUB_CAUSAL };

static void fill_decoder(struct build *b, const struct sub *s, const struct sub_dims *d)
{
    fill_io(b, D);
    b->plan.self_state = 1;
    const struct linear_part tokens = { "tokens.weight", NULL, IDS };
    emit(b, OP_EMBED, "embed", b->plan.output, b->plan.input, bind_matrix(b, &tokens, D, LINEAR_LM_HEAD, NO_BIND));
    b->prefix = "0";
    s->fn(b, d, s, b->plan.output, 0);
    b->prefix = "";
}

static void fill_rows_g(struct build *b) { fill_layer(b, &sub_g, &grouped); }
static void fill_rows_r(struct build *b) { fill_layer(b, &sub_r, &repeated); }
static void fill_rows_m(struct build *b) { fill_layer(b, &sub_m, &grouped); }
static void fill_tokens_g(struct build *b) { fill_decoder(b, &causal_g, &grouped); }
static void fill_tokens_r(struct build *b) { fill_decoder(b, &causal_r, &repeated); }
static void fill_tokens_m(struct build *b) { fill_decoder(b, &causal_m, &grouped); }
static float got[ROWS * D], want[ROWS * D];
static int32_t token[ROWS];

static void tokens_fill(void)
{
    for (int i = 0; i < ROWS; i++) token[i] = i * 7 % IDS;
}

static void run_rows(float *out, int level, int threads, fill_fn *fill, uint32_t n)
{
    struct rig r;
    rig_open(&r, level, threads, fill, HEADS);
    rig_run(&r, out, 0, n, NULL);
    rig_close(&r);
}

static void run_tokens(float *out, int level, int threads, fill_fn *fill, uint32_t n_kv_heads, int n, int at_once)
{
    struct rig r;
    rig_open(&r, level, threads, fill, n_kv_heads);
    assert_int_equal(r.plan.cross_state, NO_STATE);
    rig_tokens(&r, out, token, n, at_once);
    rig_close(&r);
}

static void check_grouped(int level, int threads)
{
    tokens_fill();
    for (uint32_t n = 5; n <= ROWS; n += ROWS - 5) {
        run_rows(got, level, threads, fill_rows_g, n);
        run_rows(want, level, threads, fill_rows_r, n);
        same(got, want, n, D, "rows", level);
    }
    run_tokens(got, level, threads, fill_tokens_g, KV_HEADS, ROWS, ROWS);
    run_tokens(want, level, threads, fill_tokens_r, HEADS, ROWS, ROWS);
    same(got, want, ROWS, D, "tokens", level);
    assert_memory_not_equal(got, got + 50 * D, D * sizeof *got); /* the same token at another position attends to more */
}

static void test_heads_that_share_keys_give_the_bits_of_keys_repeated(void **state)
{
    (void)state;
    each_level(check_grouped);
}

static void check_decoder(int level, int threads)
{
    enum { N = 70 };
    tokens_fill();
    run_tokens(want, level, threads, fill_tokens_g, KV_HEADS, N, N);
    for (int at_once = 1; at_once < N; at_once += 32) {
        run_tokens(got, level, threads, fill_tokens_g, KV_HEADS, N, at_once);
        same(got, want, N, D, "a few at a time", level);
    }
    run_tokens(got, level, threads, fill_tokens_m, KV_HEADS, N, N);
    run_tokens(want, level, threads, fill_tokens_m, KV_HEADS, N, 1);
    same(got, want, N, D, "unequal types, a few at a time", level);
}

static void test_a_decoder_needs_no_cross_attention_and_no_first_state(void **state)
{
    (void)state;
    each_level(check_decoder);
}

/* What a row sees of those before it, the last row sees of all: keys and values in a state and in a slot of the run are the same. */
static void check_in_a_slot(int level, int threads)
{
    tokens_fill();
    for (int i = 0; i < IDS; i++) token[i] = i; /* the rows that the input begins with */
    run_tokens(want, level, threads, fill_tokens_m, KV_HEADS, IDS, IDS);
    run_rows(got, level, threads, fill_rows_m, IDS);
    same(got + (IDS - 1) * D, want + (IDS - 1) * D, 1, D, "the last row", level);
}

static void test_unequal_types_go_to_keys_and_values_of_a_slot_as_to_those_of_a_state(void **state)
{
    (void)state;
    each_level(check_in_a_slot);
}

static void check_prompt(int level, int threads)
{
    enum { N = 90 };
    tokens_fill();
    run_tokens(want, level, threads, fill_tokens_g, KV_HEADS, N, N);
    for (int i = 0; i < N; i++)
        if (i % 3 || (i > 20 && i < 60)) token[i] = token_of_input((uint32_t)token[i]); /* the same numbers, from the input */
    run_tokens(got, level, threads, fill_tokens_g, KV_HEADS, N, N);
    same(got, want, N, D, "at once", level);
    run_tokens(got, level, threads, fill_tokens_g, KV_HEADS, N, 7);
    same(got, want, N, D, "seven at a time", level);
    token[N - 1] = token_of_input(IDS + 3);
    run_tokens(got, level, threads, fill_tokens_g, KV_HEADS, N, N);
    same(got, want, N - 1, D, "before another row", level);
    assert_memory_not_equal(got + (N - 1) * D, want + (N - 1) * D, D * sizeof *got);
}

static void test_rows_of_the_input_stand_for_tokens_in_a_prompt(void **state)
{
    (void)state;
    each_level(check_prompt);
}

static struct sub_dims const rms = { .d = D, .n_heads = HEADS, .n_kv_heads = KV_HEADS, .d_head = D_HEAD, .d_ff = D_FF, .norm = NORM_RMS,
                                     .eps = 1e-6f };

static void fill_norm_rms(struct build *b)
{
    fill_io(b, D);
    emit(b, OP_NORM, "norm", b->plan.output, b->plan.input, bind_norm_rms(b, "0.norm.weight", D, 1e-6f, 0));
}

static void fill_rows_rms(struct build *b) { fill_layer(b, &sub_g, &rms); }

static void check_norm_rms(int level, int threads)
{
    struct rig r;
    rig_open(&r, level, threads, fill_norm_rms, HEADS);
    rig_run(&r, got, 0, 9, NULL);
    const float *x = inputs(&r), *w = (const float *)(const void *)made_find(&r.made, "0.norm.weight");
    for (size_t i = 0; i < 9; i++) {
        double square = 0;
        for (size_t k = 0; k < D; k++) square += (double)x[i * D + k] * (double)x[i * D + k];
        for (size_t k = 0; k < D; k++) {
            const double v = (double)x[i * D + k] / sqrt(square / D + 1e-6) * (double)w[k];
            if (!(fabs((double)got[i * D + k] - v) <= 1e-6 * (1 + fabs(v)))) fail_msg("level %d, row %zu, column %zu", level, i, k);
        }
    }
    rig_close(&r);
    run_rows(got, level, threads, fill_rows_rms, 9);
    run_rows(want, level, threads, fill_rows_g, 9);
    assert_memory_not_equal(got, want, 9 * D * sizeof *got); /* layers have the norm that they are described with */
}

static void test_rms_norms_divide_by_the_root_of_the_mean_square(void **state)
{
    (void)state;
    each_level(check_norm_rms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads_that_share_keys_give_the_bits_of_keys_repeated),
        cmocka_unit_test(test_a_decoder_needs_no_cross_attention_and_no_first_state),
        cmocka_unit_test(test_unequal_types_go_to_keys_and_values_of_a_slot_as_to_those_of_a_state),
        cmocka_unit_test(test_rows_of_the_input_stand_for_tokens_in_a_prompt),
        cmocka_unit_test(test_rms_norms_divide_by_the_root_of_the_mean_square),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
