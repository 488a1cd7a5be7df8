/* steno tests: plans over frames and tokens at once. SPDX-License-Identifier: MIT
 *
 * A decoder that sees all tokens at once: its rows are those of the table, while attention looks at the frames of the same run, and nothing
 * outlives it. Against the same network written out slowly, at every level, with more tokens than frames and with fewer. */
#include "executor/net.h"
#include "model/parts.h"
#include "plan/sub.h"

enum { D = 40, HEADS = 5, D_HEAD = D / HEADS, D_FF = 52, TAPS = 5, IDS = 30, CLASSES = 6, MAX_ROWS = 70, MAX_OUT = 8 };
static float const eps = 1e-12f;

static struct net_shape const shapes[] = {
    { "embed.weight", { IDS, D } },
    { "after.weight", { D } }, { "after.bias", { D } },
    { "conv.weight", { D, D, 3 } }, { "conv.bias", { D } },
    { "alpha.weight", { 1, D } }, { "alpha.bias", { 1 } },
    { "layer.norm1.weight", { D } }, { "layer.norm1.bias", { D } },
    { "layer.feed_forward.w_1.weight", { D_FF, D } }, { "layer.feed_forward.w_1.bias", { D_FF } },
    { "layer.feed_forward.norm.weight", { D_FF } }, { "layer.feed_forward.norm.bias", { D_FF } },
    { "layer.feed_forward.w_2.weight", { D, D_FF } },
    { "layer.norm2.weight", { D } }, { "layer.norm2.bias", { D } },
    { "layer.self_attn.fsmn_block.weight", { D, 1, TAPS } },
    { "layer.norm3.weight", { D } }, { "layer.norm3.bias", { D } },
    { "layer.src_attn.linear_q.weight", { D, D } }, { "layer.src_attn.linear_q.bias", { D } },
    { "layer.src_attn.linear_k_v.weight", { 2 * D, D } }, { "layer.src_attn.linear_k_v.bias", { 2 * D } },
    { "layer.src_attn.linear_out.weight", { D, D } }, { "layer.src_attn.linear_out.bias", { D } },
    { "last.norm1.weight", { D } }, { "last.norm1.bias", { D } },
    { "last.feed_forward.w_1.weight", { D_FF, D } }, { "last.feed_forward.w_1.bias", { D_FF } },
    { "last.feed_forward.norm.weight", { D_FF } }, { "last.feed_forward.norm.bias", { D_FF } },
    { "last.feed_forward.w_2.weight", { D, D_FF } },
    { "head.weight", { CLASSES, D } }, { "head.bias", { CLASSES } },
};

static uint32_t shift; /* of the memory over tokens */

static void fill_head(struct build *b, uint16_t x)
{
    const uint16_t some = build_slot_out(b, D);
    b->plan.logits = build_slot_out(b, CLASSES);
    const struct linear_part part = { "head.weight", "head.bias", CLASSES };
    const uint16_t head = bind_matrix(b, &part, D, LINEAR_LM_HEAD, NO_BIND), first = b->plan.n_ops;
    emit(b, OP_SCALE, "rows", some, x, bind_scale(b, 1, NULL, D));
    emit(b, OP_LINEAR, "logits", b->plan.logits, some, head);
    emit(b, OP_LOGITS_REDUCE, "reduce", NO_SLOT, b->plan.logits, head);
    emit(b, OP_SAMPLE, "best", NO_SLOT, b->plan.logits, head);
    emit_rows(b, first, ROWS_OUT);
}

static void fill(struct build *b)
{
    static struct sub const tokens = { NULL, "norm1", "feed_forward", "self_attn", 0 }, cross = { NULL, "norm3", "src_attn", NULL, 0 };
    const struct sub_dims dims = { .d = D, .n_heads = HEADS, .n_kv_heads = HEADS, .d_head = D_HEAD, .d_ff = D_FF, .taps = TAPS,
                                   .shift = shift, .eps = eps };
    const uint16_t in = b->plan.input = build_slot(b, D), enc = build_slot_padded(b, MAX_ROWS, D), wide = build_slot(b, D);
    const uint16_t x = build_slot(b, D), alpha = b->plan.side_output[0] = build_slot(b, 1);
    struct op *op = emit(b, OP_NORM, "after", enc, in, bind_norm(b, "after.weight", "after.bias", D, eps));
    if (op) op->flags = OPF_PADDED;
    const uint16_t conv = bind_conv(b, "conv.weight", "conv.bias", D, D, 1);
    op = emit(b, OP_LINEAR, "conv", wide, enc, conv);
    if (op) op->flags = OPF_CONV, bind_at(b, conv)->act = ACT_RELU;
    const struct linear_part weight = { "alpha.weight", "alpha.bias", 1 }, table = { "embed.weight", NULL, IDS };
    emit(b, OP_LINEAR, "alpha", alpha, wide, bind_matrix(b, &weight, D, LINEAR_OTHER, NO_BIND));
    build_phase(b, "tokens");
    const uint16_t first = b->plan.n_ops;
    const uint16_t ids = build_slot(b, D), sums = build_slot(b, D), width = bind_scale(b, 1, NULL, D);
    emit(b, OP_EMBED, "embed", ids, NO_SLOT, bind_matrix(b, &table, D, LINEAR_OTHER, NO_BIND));
    emit(b, OP_CIF, "cif", sums, enc, width);
    op = emit(b, OP_ADD, "both", x, sums, width);
    if (op) op->aux = ids;
    emit_rows(b, first, ROWS_TABLE);
    b->prefix = "layer";
    sub_sanm_tokens(b, &dims, &tokens, "norm2", x);
    sub_cross_rows(b, &dims, &cross, x, enc);
    b->prefix = "last";
    b->plan.output = build_slot(b, D);
    sub_ffn_tokens(b, &dims, &tokens, b->plan.output, x);
    b->prefix = "";
    build_phase(b, "head");
    fill_head(b, b->plan.output);
}

/* ---- the same, slowly */

static void slow_part(struct net *s, double *y, const double *x, const char *name, int rows, int n, int k, int has_bias)
{
    char w[96], v[96];
    snprintf(w, sizeof w, "%s.weight", name);
    snprintf(v, sizeof v, "%s.bias", name);
    slow_linear(y, x, net_find(s, w), has_bias ? net_find(s, v) : NULL, rows, n, k);
}

static void slow_norm_of(struct net *s, double *y, const double *x, const char *name, int rows, int n)
{
    char w[96], v[96];
    snprintf(w, sizeof w, "%s.weight", name);
    snprintf(v, sizeof v, "%s.bias", name);
    slow_norm(y, x, net_find(s, w), net_find(s, v), (double)eps, rows, n);
}

static void slow_alphas(struct net *s, double *alpha, const double *enc, int rows)
{
    const float *w = net_find(s, "conv.weight"), *bias = net_find(s, "conv.bias");
    static double wide[MAX_ROWS * D];
    for (int r = 0; r < rows; r++)
        for (int n = 0; n < D; n++) {
            double sum = (double)bias[n];
            for (int c = 0; c < D; c++)
                for (int j = 0; j < 3; j++)
                    if (r + j - 1 >= 0 && r + j - 1 < rows) sum += (double)w[(n * D + c) * 3 + j] * enc[(r + j - 1) * D + c];
            wide[r * D + n] = sum;
        }
    slow_relu(wide, rows * D);
    slow_part(s, alpha, wide, "alpha", rows, 1, D, 1);
}

static void slow_ffn(struct net *s, double *y, const double *x, const char *layer, int rows)
{
    static double normed[MAX_ROWS * D], wide[MAX_ROWS * D_FF], within[MAX_ROWS * D_FF];
    char name[64];
    snprintf(name, sizeof name, "%s.norm1", layer);
    slow_norm_of(s, normed, x, name, rows, D);
    snprintf(name, sizeof name, "%s.feed_forward.w_1", layer);
    slow_part(s, wide, normed, name, rows, D_FF, D, 1);
    slow_relu(wide, rows * D_FF);
    snprintf(name, sizeof name, "%s.feed_forward.norm", layer);
    slow_norm_of(s, within, wide, name, rows, D_FF);
    snprintf(name, sizeof name, "%s.feed_forward.w_2", layer);
    slow_part(s, y, within, name, rows, D, D_FF, 0);
}

/* Tokens of the run: some look at no frame, some at frames behind the last. */
static struct cif_token cif[MAX_ROWS];
static float cif_weight[MAX_ROWS * 4];

static void cif_make(int frames)
{
    for (uint32_t i = 0; i < MAX_ROWS; i++) {
        cif[i] = (struct cif_token){ (i * 5) % (uint32_t)(frames + 2), i % 5, i * 3 };
        for (uint32_t k = 0; k < 4; k++) cif_weight[i * 3 + k] = net_noise();
    }
}

static void slow_decoder(struct net *s, double *out, const double *enc, int frames, const int32_t *token, int n)
{
    static double x[MAX_ROWS * D], y[MAX_ROWS * D], z[MAX_ROWS * D], q[MAX_ROWS * D], kv[MAX_ROWS * 2 * D];
    for (int i = 0; i < n * D; i++) {
        const struct cif_token t = cif[i / D];
        x[i] = (double)net_find(s, "embed.weight")[token[i / D] * D + i % D];
        for (uint32_t k = 0; k < t.n; k++)
            if (t.first + k < (uint32_t)frames) x[i] += (double)cif_weight[t.at + k] * enc[(int)(t.first + k) * D + i % D];
    }
    slow_ffn(s, y, x, "layer", n);
    slow_norm_of(s, z, y, "layer.norm2", n, D);
    const struct slow_filter f = { net_find(s, "layer.self_attn.fsmn_block.weight"), D, TAPS, (TAPS - 1) / 2 + (int)shift };
    slow_memory(y, z, D, &f, n);
    for (int i = 0; i < n * D; i++) x[i] += y[i];
    slow_norm_of(s, z, x, "layer.norm3", n, D);
    slow_part(s, q, z, "layer.src_attn.linear_q", n, D, D, 1);
    slow_part(s, kv, enc, "layer.src_attn.linear_k_v", frames, 2 * D, D, 1);
    slow_attention(z, &(struct slow_attn){ q, kv, D, 2 * D, n, frames, HEADS, D_HEAD });
    slow_part(s, y, z, "layer.src_attn.linear_out", n, D, D, 1);
    for (int i = 0; i < n * D; i++) x[i] += y[i];
    slow_ffn(s, out, x, "last", n);
}

/* ---- both */

/* The class of each token, found a few at a time, is where its logit is largest, and its log-probability that of the softmax. */
static void check_classes(struct net *r, const double *out, int frames, int n)
{
    static struct best best[2][MAX_ROWS];
    static double logits[MAX_ROWS * CLASSES];
    struct exec *const on[] = { r->exec, r->other };
    slow_part(r, logits, out, "head", n, CLASSES, D, 1);
    for (int k = 0; k < 2; k++)
        for (int from = 0; from < n; from += MAX_OUT) {
            r->run.argmax.best = best[k];
            r->run.n_rows = 0;
            for (int i = 0; i < n; i++) run_add(&r->run, 0, i, 0, i >= from && i < from + MAX_OUT ? ROW_BEST : 0);
            run_prepare(&r->run);
            net_exec(on[k], &r->plan, &(struct phases){ .first = 2, .end = 3, .n_rows = (uint32_t)frames, .run = &r->run }, NULL);
        }
    for (int i = 0; i < n; i++) {
        double sum = 0;
        int arg = 0;
        for (int c = 0; c < CLASSES; c++) {
            sum += exp(logits[i * CLASSES + c]);
            if (logits[i * CLASSES + c] > logits[i * CLASSES + arg]) arg = c;
        }
        for (int k = 0; k < 2; k++) {
            assert_int_equal(best[k][i].id, arg);
            assert_true(fabs((double)best[k][i].logprob - (logits[i * CLASSES + arg] - log(sum))) < 1e-4);
        }
    }
}

static void check_tokens(int level, int threads)
{
    static struct { int frames, tokens; } const runs[] = { { MAX_ROWS, 3 }, { 7, MAX_ROWS }, { 1, 1 }, { 33, 20 } };
    static double slow_in[MAX_ROWS * D], enc[MAX_ROWS * D], alpha[MAX_ROWS], want[MAX_ROWS * D];
    static float in[MAX_ROWS * D], y[MAX_ROWS * D];
    const struct net_desc d = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = MAX_ROWS,
                                .max_out = MAX_OUT };
    struct net r;
    net_open(&r, &d, level, threads);
    for (int i = 0; i < MAX_ROWS * D; i++) slow_in[i] = (double)(in[i] = net_noise());
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        const int frames = runs[k].frames, n = runs[k].tokens;
        int32_t token[MAX_ROWS];
        r.run.n_rows = 0;
        for (int i = 0; i < n; i++) run_add(&r.run, token[i] = (i * 7 + frames) % IDS, i, 0, 0);
        run_prepare(&r.run);
        cif_make(frames);
        r.run.cif = (struct run_cif){ cif, cif_weight };
        slow_norm_of(&r, enc, slow_in, "after", frames, D);
        net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)frames, .run = &r.run }, in);
        slow_alphas(&r, alpha, enc, frames);
        net_output(&r, r.plan.side_output[0], y, (uint32_t)frames, 1e-5f);
        net_near(y, alpha, (size_t)frames, 1, 1e-5, "weights of frames", level);
        net_phases(&r, &(struct phases){ .first = 1, .end = 2, .n_rows = (uint32_t)frames, .run = &r.run }, NULL);
        slow_decoder(&r, want, enc, frames, token, n);
        net_output(&r, r.plan.output, y, (uint32_t)n, 1e-4f);
        net_near(y, want, (size_t)n, D, 1e-4, "tokens", level);
        net_output(&r, r.plan.side_output[0], y, (uint32_t)frames, 1e-5f);
        net_near(y, alpha, (size_t)frames, 1, 1e-5, "weights of frames that a decoder left alone", level);
        check_classes(&r, want, frames, n);
    }
    net_close(&r);
}

/* ---- clips beside each other ------------------------------------------------------------------------------------------------- */

/* Clips with numbers of frames and tokens, one behind the other, those from `from` on: weights of frames, and tokens. */
struct clips { int frames[3], tokens[3]; };
static void run_clips(struct net *r, const float *in, const struct clips *c, int from, int n, float *alpha, float *out)
{
    struct sequence s[3], t[3];
    int row = 0, first = 0;
    uint32_t rows = 0;
    for (int i = 0; i < from; i++) row += c->frames[i], first += c->tokens[i];
    r->run.n_rows = 0;
    for (int i = 0; i < n; i++) {
        const int n_tokens = c->tokens[from + i];
        s[i] = sequence_next(i ? &s[i - 1] : NULL, (uint32_t)c->frames[from + i], (uint16_t)i);
        t[i] = sequence_next(i ? &t[i - 1] : NULL, (uint32_t)n_tokens, (uint16_t)i);
        for (int k = 0; k < n_tokens; k++) run_add(&r->run, (first + (int)r->run.n_rows) * 7 % IDS, k, 0, 0);
        rows += s[i].n;
    }
    run_prepare(&r->run);
    r->run.cif = (struct run_cif){ cif + first, cif_weight };
    struct phases what = { .end = 1, .n_rows = rows, .run = &r->run, .sequence = s, .n_sequences = n > 1 ? (uint32_t)n : 0 };
    net_phases(r, &what, in + row * D);
    net_output(r, r->plan.side_output[0], alpha + row, rows, 1e-5f);
    what.first = 1, what.end = 2, what.tokens = t;
    if (r->run.n_rows) net_phases(r, &what, NULL);
    if (r->run.n_rows) net_output(r, r->plan.output, out + first * D, r->run.n_rows, 1e-4f);
}

static void check_clips(int level, int threads)
{
    static const struct clips scene[] = { { { 20, 7, 30 }, { 12, 0, 40 } }, { { 1, 31, 32 }, { 1, 3, 0 } }, { { 64, 2, 1 }, { 0, 5, 2 } },
                                          { { 10, 5, 1 }, { 31, 33, 1 } } };
    static float in[MAX_ROWS * D], alpha[2][MAX_ROWS], out[2][MAX_ROWS * D];
    const struct net_desc d = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = 2 * MAX_ROWS,
                                .max_out = MAX_OUT };
    struct net r;
    net_open(&r, &d, level, threads);
    for (int i = 0; i < MAX_ROWS * D; i++) in[i] = net_noise();
    for (size_t k = 0; k < sizeof scene / sizeof *scene; k++) {
        cif_make(9);
        memset(alpha, 0, sizeof alpha);
        memset(out, 0, sizeof out);
        run_clips(&r, in, &scene[k], 0, 3, alpha[0], out[0]);
        for (int i = 0; i < 3; i++) run_clips(&r, in, &scene[k], i, 1, alpha[1], out[1]);
        assert_memory_equal(alpha[0], alpha[1], sizeof alpha[0]);
        assert_memory_equal(out[0], out[1], sizeof out[0]);
    }
    net_close(&r);
}

static void test_clips_beside_each_other_give_what_each_gives_alone(void **state)
{
    (void)state;
    shift = 0;
    net_each_level(check_clips);
}

static void test_tokens_that_attend_to_frames_of_the_same_run(void **state)
{
    (void)state;
    shift = 0;
    net_each_level(check_tokens);
}

static void test_a_memory_over_tokens_may_look_back_alone(void **state)
{
    (void)state;
    shift = (TAPS - 1) / 2;
    check_tokens(CPU_C, 1);
    check_tokens(cpu_level_best(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tokens_that_attend_to_frames_of_the_same_run),
        cmocka_unit_test(test_clips_beside_each_other_give_what_each_gives_alone),
        cmocka_unit_test(test_a_memory_over_tokens_may_look_back_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
