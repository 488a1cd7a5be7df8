/* steno tests: plans that go on where an earlier run ended. SPDX-License-Identifier: MIT
 *
 * A layer of attention and memory whose rows look back on keys and values of earlier runs, a decoder that does so too and whose filter
 * has a state, and sums of frames that go on: chunk by chunk, against the same written out slowly, at every level, with both executors,
 * with states that grow on the way, alone and with another stream in the run. */
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

/* ---- the same, slowly, over all earlier rows */

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

static void grow(struct net *r, int state, uint32_t lane, uint32_t positions)
{
    assert_int_equal(exec_state_grow(r->exec, state, lane, positions), 0);
    assert_int_equal(exec_state_grow(r->other, state, lane, positions), 0);
}

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }

/* A stream in the last lane, and before it in the run another one, of BESIDE rows and a token each time, which is not checked. */
enum { BESIDE = 3, BESIDE_HELD = 6 };
struct scene {
    struct net r;
    struct slow o;
    int beside;                       /* rows of the other one, 0: there is none */
    struct run_past past[2][PAST_STATES];
    struct sequence rows[2], tokens[2];
    double enc[MAX_ROWS * D];         /* of the chunk */
};

static struct phases phases_of(struct scene *x, int phase, int n)
{
    struct phases p = { .first = phase, .end = phase + 1, .n_rows = (uint32_t)(x->beside + n), .run = &x->r.run };
    if (x->beside) p.sequence = x->rows, p.n_sequences = 2, p.tokens = phase ? x->tokens : NULL;
    return p;
}

static void encode(struct scene *x, int n, int kept, int limit, int level)
{
    static double in[MAX_ROWS * IN];
    static float all[(MAX_ROWS + BESIDE) * IN], y[(MAX_ROWS + BESIDE) * D];
    const uint32_t lane = x->beside != 0, held = x->beside ? x->past[0][PAST].held : 0;
    for (int i = 0; i < (x->beside + n) * IN; i++) all[i] = net_noise();
    for (int i = 0; i < n * IN; i++) in[i] = (double)all[x->beside * IN + i];
    x->rows[0] = (struct sequence){ 0, BESIDE, 0, 0 };
    x->rows[1] = (struct sequence){ BESIDE, (uint16_t)n, 1, (uint16_t)kv_blocks(BESIDE + held) };
    x->past[lane][PAST] = (struct run_past){ (uint32_t)x->o.held[0], (uint32_t)kept };
    x->past[lane][CROSS] = (struct run_past){ (uint32_t)x->o.held[1], (uint32_t)n };
    grow(&x->r, PAST, lane, smaller((uint32_t)(x->o.held[0] + kept), (uint32_t)limit));
    x->r.run.past = x->past;
    x->r.run.n_rows = 0;
    run_prepare(&x->r.run);
    slow_encode(&x->r, &x->o, x->enc, in, n, kept, limit);
    const struct phases p = phases_of(x, 0, n);
    net_phases(&x->r, &p, all);
    net_output(&x->r, x->r.plan.side_output[0], y, p.n_rows, 1e-4f);
    net_near(y + x->beside * D, x->enc, (size_t)n, D, 1e-4, "rows that look back", level);
}

/* n tokens of the stream, one of that beside it. */
static void table(struct scene *x, int n)
{
    const int own = x->beside ? 1 : 0;
    x->r.run.n_rows = 0;
    x->tokens[0] = (struct sequence){ 0, 1, 0, 0 };
    x->tokens[1] = (struct sequence){ 1, (uint16_t)n, 1, 0 };
    for (int i = 0; i < own + n; i++) run_add(&x->r.run, 0, i < own ? 0 : i - own, 0, 0);
    run_prepare(&x->r.run);
}

/* Tokens of two frames in a row, the first of which may be what was left; then what is left now: the last frame. */
static void fire(struct scene *x, double *want, int n_tokens, int n)
{
    static struct cif_token token[TOKENS + 2];
    static float weight[2 * (TOKENS + 2)];
    const int own = x->beside ? 1 : 0;
    for (int i = 0; i <= n_tokens + own; i++)
        token[i] = (struct cif_token){ i < own ? 1 : (uint32_t)(i - own), 2, (uint32_t)(2 * i) };
    for (int i = 0; i < 2 * (n_tokens + 1 + own); i++) weight[i] = net_noise();
    for (int i = 0; i <= n_tokens; i++)
        for (int k = 0; k < D; k++) {
            const double a = i ? i <= n ? x->enc[(i - 1) * D + k] : 0 : x->o.rest[k], e = i < n ? x->enc[i * D + k] : 0;
            want[i * D + k] = (double)weight[2 * (own + i)] * a + (double)weight[2 * (own + i) + 1] * e;
        }
    memcpy(x->o.rest, want + n_tokens * D, sizeof x->o.rest);
    table(x, n_tokens + 1);
    x->r.run.cif = (struct run_cif){ token, weight };
    const struct phases p = phases_of(x, 1, n);
    net_phases(&x->r, &p, NULL);
}

static void decode(struct scene *x, double *want, int n_tokens, int n, int limit, int level)
{
    static float y[(TOKENS + 2) * D];
    const int own = x->beside ? 1 : 0;
    table(x, n_tokens);
    slow_decode(&x->r, &x->o, want, n_tokens, x->enc, n, limit);
    const struct phases p = phases_of(x, 2, n);
    net_phases(&x->r, &p, NULL);
    net_output(&x->r, x->r.plan.output, y, (uint32_t)(own + n_tokens), 1e-4f);
    net_near(y + own * D, want, (size_t)n_tokens, D, 1e-4, "tokens that look back", level);
}

enum { LIMIT = 11, LIMIT_LATER = 30, CROSS_LIMIT = 9 };
static struct state_desc const states[] = { { "memory", STATE_SHIFT, 2, 1, D, TAPS - 1, 0, 0, 0 },
                                            { "past", STATE_SHIFT, 1, 2 * HEADS, D_HEAD, 4, 0, 0, 0 },
                                            { "cross", STATE_SHIFT, 1, 2 * HEADS, D_HEAD, CROSS_LIMIT, 0, 0, 0 } };

static void check_stream_beside(int level, int threads, int beside)
{
    static const int rows[CHUNKS] = { 7, 12, 12, 3, 1, 12, 8, 12, 5 }, kept[CHUNKS] = { 5, 9, 9, 3, 0, 7, 8, 12, 0 };
    const struct net_desc d = { .shape = shapes, .n_shapes = sizeof shapes / sizeof *shapes, .fill = fill, .max_rows = MAX_ROWS + BESIDE,
                                .max_past = MAX_PAST + (beside ? KV_BLOCK : 0), .state = states, .n_states = 3, .scale = 0.4f };
    static struct scene x;
    memset(&x, 0, sizeof x);
    x.beside = beside;
    net_open(&x.r, &d, level, threads);
    if (beside) grow(&x.r, PAST, 0, BESIDE_HELD);
    for (int c = 0; c < CHUNKS; c++) {
        const int n = rows[c], limit = c < 5 ? LIMIT : LIMIT_LATER;
        static double want[(TOKENS + 1) * D];
        if (beside) x.past[0][PAST] = (struct run_past){ c ? BESIDE_HELD : 0, BESIDE };
        if (beside) x.past[0][CROSS] = (struct run_past){ c ? 4 : 0, 1 };
        encode(&x, n, kept[c], limit, level);
        const int n_tokens = c % (TOKENS + 1);
        fire(&x, want, n_tokens, n);
        if (n_tokens) decode(&x, want, n_tokens, n, CROSS_LIMIT, level);
    }
    x.past[beside != 0][PAST].held = MAX_PAST + KV_BLOCK + 1; /* more than anybody has room for */
    struct run_time spent;
    const struct phases p = phases_of(&x, 0, rows[CHUNKS - 1]);
    assert_int_equal(exec_phases(x.r.exec, &x.r.plan, &p, NULL, &spent), STENO_EARG);
    net_close(&x.r);
}

static void check_stream(int level, int threads)
{
    check_stream_beside(level, threads, 0);
    check_stream_beside(level, threads, BESIDE);
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
