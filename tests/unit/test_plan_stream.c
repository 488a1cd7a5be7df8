/* steno tests: plans that go on where an earlier run ended. SPDX-License-Identifier: MIT
 *
 * A layer of attention and memory whose rows look back on keys and values of earlier runs, a decoder that does so too and whose filter
 * has a state, and sums of frames that go on: chunk by chunk, against the same written out slowly, at every level, with both executors,
 * with states that grow on the way. */
#include "executor/net.h"
#include "plan/sub.h"

enum { D = 16, HEADS = 2, D_HEAD = D / HEADS, IN = 24, D_FF = 20, TAPS = 5, MAX_ROWS = 12, MAX_PAST = 40, CHUNKS = 9, TOKENS = 3 };
enum { MEMORY = 0, PAST = 1, CROSS = 2 };
static float const eps = 1e-12f;

static struct net_shape const shapes[] = {
    { "enc.norm1.weight", { IN } }, { "enc.norm1.bias", { IN } },
    { "enc.self_attn.linear_q_k_v.weight", { 3 * D, IN } }, { "enc.self_attn.linear_q_k_v.bias", { 3 * D } },
    { "enc.self_attn.fsmn_block.weight", { D, 1, TAPS } },
    { "enc.self_attn.linear_out.weight", { D, D } }, { "enc.self_attn.linear_out.bias", { D } },
    { "dec.norm1.weight", { D } }, { "dec.norm1.bias", { D } },
    { "dec.feed_forward.w_1.weight", { D_FF, D } }, { "dec.feed_forward.w_1.bias", { D_FF } },
    { "dec.feed_forward.norm.weight", { D_FF } }, { "dec.feed_forward.norm.bias", { D_FF } },
    { "dec.feed_forward.w_2.weight", { D, D_FF } },
    { "dec.norm2.weight", { D } }, { "dec.norm2.bias", { D } },
    { "dec.self_attn.fsmn_block.weight", { D, 1, TAPS } },
    { "dec.norm3.weight", { D } }, { "dec.norm3.bias", { D } },
    { "dec.src_attn.linear_q.weight", { D, D } }, { "dec.src_attn.linear_q.bias", { D } },
    { "dec.src_attn.linear_k_v.weight", { 2 * D, D } }, { "dec.src_attn.linear_k_v.bias", { 2 * D } },
    { "dec.src_attn.linear_out.weight", { D, D } }, { "dec.src_attn.linear_out.bias", { D } },
};

static void fill(struct build *b)
{
    static struct sub const sanm = { NULL, "norm1", "self_attn", NULL, 0 }, tokens = { NULL, "norm1", "feed_forward", "self_attn", 0 };
    static struct sub const cross = { NULL, "norm3", "src_attn", NULL, 0 };
    struct sub_dims dims = { .d = D, .n_heads = HEADS, .n_kv_heads = HEADS, .d_head = D_HEAD, .d_ff = D_FF, .taps = TAPS, .eps = eps,
                             .past = PAST + 1 };
    const uint16_t in = b->plan.input = build_slot(b, IN), enc = build_slot(b, D);
    b->prefix = "enc";
    sub_sanm_first(b, &dims, &sanm, enc, in, IN);
    b->prefix = "";
    b->plan.side_output[0] = enc;
    build_phase(b, "fire");
    const uint16_t first = b->plan.n_ops, x = build_slot(b, D), width = bind_scale(b, 1, NULL, D);
    struct op *op[] = { emit(b, OP_CIF, "cif", x, enc, width), emit(b, OP_SHIFT_STATE, "rest", NO_SLOT, x, width) };
    for (int i = 0; i < 2 && op[1]; i++) op[i]->state = MEMORY, op[i]->layer = 1;
    emit_rows(b, first, ROWS_TABLE);
    build_phase(b, "tokens");
    dims.past = CROSS + 1;
    dims.memory = MEMORY + 1;
    dims.shift = TAPS / 2;
    b->prefix = "dec";
    sub_sanm_tokens(b, &dims, &tokens, "norm2", x);
    sub_cross_rows(b, &dims, &cross, x, enc);
    b->prefix = "";
    b->plan.output = x;
}

/* ---- the same, slowly, over all that was ever heard */

struct slow {
    double k[2][MAX_PAST * D], v[2][MAX_PAST * D]; /* of the encoder and of the decoder, oldest first */
    int held[2];
    double last[CHUNKS * TOKENS * D];              /* what the filter over tokens has seen */
    int n_last;
    double rest[D];
};

static void part(struct net *s, double *y, const double *x, const char *name, int rows, int n, int k, int has_bias)
{
    char w[96], v[96];
    snprintf(w, sizeof w, "%s.weight", name);
    snprintf(v, sizeof v, "%s.bias", name);
    slow_linear(y, x, net_find(s, w), has_bias ? net_find(s, v) : NULL, rows, n, k);
}

static void norm(struct net *s, double *y, const double *x, const char *name, int rows, int n)
{
    char w[96], v[96];
    snprintf(w, sizeof w, "%s.weight", name);
    snprintf(v, sizeof v, "%s.bias", name);
    slow_norm(y, x, net_find(s, w), net_find(s, v), (double)eps, rows, n);
}

/* Attention of q over what is held and n rows of kv, of which the first `kept` are held then, `limit` at most. */
struct looks { int n_q, n, kept, limit; };
static void look_back(struct slow *o, int which, double *out, const double *q, const double *kv, struct looks l)
{
    static double both[(MAX_PAST + MAX_ROWS) * 2 * D];
    double *k = o->k[which], *v = o->v[which];
    const int held = o->held[which];
    for (int i = 0; i < held + l.n; i++)
        for (int c = 0; c < D; c++) {
            both[i * 2 * D + c] = i < held ? k[i * D + c] : kv[(i - held) * 2 * D + c];
            both[i * 2 * D + D + c] = i < held ? v[i * D + c] : kv[(i - held) * 2 * D + D + c];
        }
    slow_attention(out, &(struct slow_attn){ q, both, D, 2 * D, l.n_q, held + l.n, HEADS, D_HEAD });
    const int all = held + l.kept, now = all < l.limit ? all : l.limit;
    for (int i = 0; i < now; i++)
        for (int c = 0; c < D; c++) {
            k[i * D + c] = both[(all - now + i) * 2 * D + c];
            v[i * D + c] = both[(all - now + i) * 2 * D + D + c];
        }
    o->held[which] = now;
}

static void slow_encode(struct net *s, struct slow *o, double *enc, const double *x, int n, int kept, int limit)
{
    static double z[MAX_ROWS * IN], qkv[MAX_ROWS * 3 * D], q[MAX_ROWS * D], kv[MAX_ROWS * 2 * D], att[MAX_ROWS * D], v[MAX_ROWS * D];
    norm(s, z, x, "enc.norm1", n, IN);
    part(s, qkv, z, "enc.self_attn.linear_q_k_v", n, 3 * D, IN, 1);
    for (int i = 0; i < n; i++) {
        memcpy(q + i * D, qkv + i * 3 * D, D * sizeof *q);
        memcpy(kv + i * 2 * D, qkv + i * 3 * D + D, 2 * D * sizeof *q);
        memcpy(v + i * D, qkv + i * 3 * D + 2 * D, D * sizeof *q);
    }
    look_back(o, 0, att, q, kv, (struct looks){ n, n, kept, limit });
    part(s, enc, att, "enc.self_attn.linear_out", n, D, D, 1);
    const struct slow_filter f = { net_find(s, "enc.self_attn.fsmn_block.weight"), D, TAPS, (TAPS - 1) / 2 };
    slow_memory(att, v, D, &f, n);
    for (int i = 0; i < n * D; i++) enc[i] += att[i];
}

static void slow_decode(struct net *s, struct slow *o, double *x, int n, const double *enc, int rows, int limit)
{
    static double z[MAX_ROWS * D_FF], wide[MAX_ROWS * D_FF], y[MAX_ROWS * D], kv[MAX_ROWS * 2 * D], q[MAX_ROWS * D];
    static double seen[(CHUNKS + 1) * TOKENS * D];
    norm(s, z, x, "dec.norm1", n, D);
    part(s, wide, z, "dec.feed_forward.w_1", n, D_FF, D, 1);
    slow_relu(wide, n * D_FF);
    norm(s, z, wide, "dec.feed_forward.norm", n, D_FF);
    part(s, y, z, "dec.feed_forward.w_2", n, D, D_FF, 0);
    norm(s, o->last + o->n_last * D, y, "dec.norm2", n, D);
    o->n_last += n;
    const struct slow_filter f = { net_find(s, "dec.self_attn.fsmn_block.weight"), D, TAPS, TAPS - 1 };
    slow_memory(seen, o->last, D, &f, o->n_last);
    for (int i = 0; i < n * D; i++) x[i] += seen[(o->n_last - n) * D + i];
    norm(s, z, x, "dec.norm3", n, D);
    part(s, q, z, "dec.src_attn.linear_q", n, D, D, 1);
    part(s, kv, enc, "dec.src_attn.linear_k_v", rows, 2 * D, D, 1);
    look_back(o, 1, z, q, kv, (struct looks){ n, rows, rows, limit });
    part(s, y, z, "dec.src_attn.linear_out", n, D, D, 1);
    for (int i = 0; i < n * D; i++) x[i] += y[i];
}

/* ---- both */

static void grow(struct net *r, int state, uint32_t positions)
{
    assert_int_equal(exec_state_grow(r->exec, state, positions), 0);
    assert_int_equal(exec_state_grow(r->other, state, positions), 0);
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void check_stream(int level, int threads)
{
    static const int rows[CHUNKS] = { 7, 12, 12, 3, 1, 12, 8, 12, 5 }, kept[CHUNKS] = { 5, 9, 9, 3, 0, 7, 8, 12, 0 };
    enum { LIMIT = 11, LIMIT_LATER = 30, CROSS_LIMIT = 9 };
    static struct state_desc const states[] = { { "memory", STATE_SHIFT, 2, 1, D, TAPS - 1 },
                                                { "past", STATE_SHIFT, 1, 2 * HEADS, D_HEAD, 4 },
                                                { "cross", STATE_SHIFT, 1, 2 * HEADS, D_HEAD, CROSS_LIMIT } };
    const struct net_desc d = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = MAX_ROWS,
                                .max_past = MAX_PAST, .state = states, .n_states = 3, .scale = 0.4f };
    static struct slow o;
    struct net r;
    net_open(&r, &d, level, threads);
    memset(&o, 0, sizeof o);
    for (int c = 0; c < CHUNKS; c++) {
        const int n = rows[c], limit = c < 5 ? LIMIT : LIMIT_LATER;
        static double x[MAX_ROWS * IN], enc[MAX_ROWS * D], want[(TOKENS + 1) * D];
        static float in[MAX_ROWS * IN], y[MAX_ROWS * D];
        for (int i = 0; i < n * IN; i++) x[i] = (double)(in[i] = net_noise());
        r.run.past[PAST] = (struct run_past){ (uint32_t)o.held[0], (uint32_t)kept[c] };
        r.run.past[CROSS] = (struct run_past){ (uint32_t)o.held[1], (uint32_t)n };
        grow(&r, PAST, smaller((uint32_t)(o.held[0] + kept[c]), (uint32_t)limit));
        r.run.n_rows = 0;
        run_prepare(&r.run);
        slow_encode(&r, &o, enc, x, n, kept[c], limit);
        net_phases(&r, &(struct phases){ .end = 1, .n_rows = (uint32_t)n, .run = &r.run }, in);
        net_output(&r, r.plan.side_output[0], y, (uint32_t)n, 1e-4f);
        net_near(y, enc, (size_t)n, D, 1e-4, "rows that look back", level);

        /* Tokens of two frames in a row, the first of which may be what was left; then what is left now: the last frame. */
        struct cif_token token[TOKENS + 1];
        float weight[2 * (TOKENS + 1)];
        const int n_tokens = c % (TOKENS + 1);
        for (int i = 0; i <= n_tokens; i++) token[i] = (struct cif_token){ (uint32_t)i, 2, (uint32_t)(2 * i) };
        for (int i = 0; i < 2 * (n_tokens + 1); i++) weight[i] = net_noise();
        for (int i = 0; i <= n_tokens; i++)
            for (int k = 0; k < D; k++) {
                const double a = i ? i <= n ? enc[(i - 1) * D + k] : 0 : o.rest[k], e = i < n ? enc[i * D + k] : 0;
                want[i * D + k] = (double)weight[2 * i] * a + (double)weight[2 * i + 1] * e;
            }
        memcpy(o.rest, want + n_tokens * D, sizeof o.rest);
        for (int i = 0; i <= n_tokens; i++) run_add(&r.run, 0, i, 0, 0);
        run_prepare(&r.run);
        r.run.cif = (struct run_cif){ token, weight };
        net_phases(&r, &(struct phases){ .first = 1, .end = 2, .n_rows = (uint32_t)n, .run = &r.run }, NULL);
        if (!n_tokens) continue;
        r.run.n_rows = 0;
        for (int i = 0; i < n_tokens; i++) run_add(&r.run, 0, i, 0, 0);
        run_prepare(&r.run);
        slow_decode(&r, &o, want, n_tokens, enc, n, CROSS_LIMIT);
        net_phases(&r, &(struct phases){ .first = 2, .end = 3, .n_rows = (uint32_t)n, .run = &r.run }, NULL);
        net_output(&r, r.plan.output, y, (uint32_t)n_tokens, 1e-4f);
        net_near(y, want, (size_t)n_tokens, D, 1e-4, "tokens that look back", level);
    }
    r.run.past[PAST].held = MAX_PAST + 1; /* more than anybody has room for */
    struct run_time spent;
    assert_int_equal(exec_phases(r.exec, &r.plan, &(struct phases){ .end = 1, .n_rows = 1, .run = &r.run }, NULL, &spent), STENO_EARG);
    net_close(&r);
}

static void test_chunks_look_back_on_earlier_ones(void **state)
{
    (void)state;
    net_each_level(check_stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_chunks_look_back_on_earlier_ones) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
