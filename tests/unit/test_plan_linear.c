/* steno tests: layers of other shapes than those of the models that are served. SPDX-License-Identifier: MIT
 *
 * Parts of a linear that are stored unequally, heads of queries that share keys and values, decoders without cross-attention and with
 * another state before their own, rows of a prompt that are no tokens: each built from a few made-up tensors, and compared to the bit with
 * something simpler that computes the same; at every processor level, with one and three threads. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "plan/emit.h"
#include "plan/exec.h"
#include "plan/linear.h"
#include "plan/sub.h"

enum { D = 256, HEADS = 4, KV_HEADS = 2, D_HEAD = 32, Q = HEADS * D_HEAD, KV = KV_HEADS * D_HEAD, D_FF = 64, IDS = 50, ROWS = 600 };
static struct sub_dims const grouped = { .d = D, .n_heads = HEADS, .n_kv_heads = KV_HEADS, .d_head = D_HEAD, .d_ff = D_FF, .eps = 1e-5f };
static struct sub_dims const repeated = { .d = D, .n_heads = HEADS, .n_kv_heads = HEADS, .d_head = D_HEAD, .d_ff = D_FF, .eps = 1e-5f };

/* ---- tensors */

/* Keys and values of "r" are those of "g" again for every head of queries; "m" has its three stored as three types. */
static struct { const char *name; uint64_t rows, columns; enum dtype type; } const shapes[] = {
    { "tokens.weight", IDS, D, DT_F32 },
    { "0.norm.weight", D, 0, DT_F32 }, { "0.norm.bias", D, 0, DT_F32 },
    { "0.g.query.weight", Q, D, DT_F32 }, { "0.g.query.bias", Q, 0, DT_F32 },
    { "0.g.key.weight", KV, D, DT_F32 },
    { "0.g.value.weight", KV, D, DT_F32 }, { "0.g.value.bias", KV, 0, DT_F32 },
    { "0.g.out.weight", D, Q, DT_F32 }, { "0.g.out.bias", D, 0, DT_F32 },
    { "0.r.query.weight", Q, D, DT_F32 }, { "0.r.query.bias", Q, 0, DT_F32 },
    { "0.r.key.weight", Q, D, DT_F32 },
    { "0.r.value.weight", Q, D, DT_F32 }, { "0.r.value.bias", Q, 0, DT_F32 },
    { "0.r.out.weight", D, Q, DT_F32 }, { "0.r.out.bias", D, 0, DT_F32 },
    { "0.m.query.weight", Q, D, DT_Q4_K }, { "0.m.query.bias", Q, 0, DT_F32 },
    { "0.m.key.weight", KV, D, DT_Q6_K },
    { "0.m.value.weight", KV, D, DT_F16 }, { "0.m.value.bias", KV, 0, DT_F32 },
    { "0.m.out.weight", D, Q, DT_F32 }, { "0.m.out.bias", D, 0, DT_F32 },
    { "0.gate.weight", D_FF, D, DT_Q4_K }, { "0.up.weight", D_FF + 5, D, DT_Q4_K },
};
enum { N_SHAPES = sizeof shapes / sizeof *shapes };

static float noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)*seed * 0x1p-31f;
}

/* One stored row: numbers, or blocks of any bits whose scales are small. */
static void row_fill(uint8_t *row, enum dtype type, size_t n, uint32_t *seed)
{
    const uint16_t scale = 0x1000; /* f16: 2^-11 */
    const size_t sz = dtype_row_sz(type, n), block = type == DT_Q4_K ? 144 : 210;
    for (size_t i = 0; i < sz; i++) row[i] = (uint8_t)(int)(noise(seed) * 127);
    for (size_t i = 0; i < n && type == DT_F32; i++) {
        const float v = noise(seed) / 8;
        memcpy(row + i * sizeof v, &v, sizeof v);
    }
    for (size_t i = 0; i < n && type == DT_F16; i++) row[2 * i + 1] = (uint8_t)(0x28 | (row[2 * i + 1] & 0x83)); /* at most 1/8 */
    for (size_t at = 0; at < sz && (type == DT_Q4_K || type == DT_Q6_K); at += block)
        for (int k = 0; k < 2; k++) /* q4_k: d and dmin at its beginning; q6_k: d at its end */
            if (type == DT_Q4_K) memcpy(row + at + 2 * k, &scale, sizeof scale);
            else memcpy(row + at + 208, &scale, sizeof scale);
}

struct made { struct weights w; struct file file; uint8_t *bytes; };

static uint8_t *made_find(struct made *m, const char *name)
{
    const struct tensor *t = weights_find(&m->w, name);
    assert_non_null(t);
    return m->bytes + t->offset;
}

/* Heads of keys (and values) once for each head of queries. */
static void repeat(struct made *m, const char *part, size_t row_sz)
{
    char from[64], to[64];
    snprintf(from, sizeof from, "0.g.%s", part);
    snprintf(to, sizeof to, "0.r.%s", part);
    const uint8_t *src = made_find(m, from);
    uint8_t *dst = made_find(m, to);
    for (size_t h = 0; h < HEADS; h++) memcpy(dst + h * D_HEAD * row_sz, src + h / (HEADS / KV_HEADS) * D_HEAD * row_sz, D_HEAD * row_sz);
}

static void made_open(struct made *m)
{
    steno_error e;
    uint32_t seed = 1;
    uint64_t total = 0;
    memset(m, 0, sizeof *m);
    m->w.name = "made.up";
    for (int i = 0; i < N_SHAPES; i++) {
        struct tensor *t = weights_add(&m->w, &e);
        assert_non_null(t);
        const uint64_t columns = shapes[i].columns ? shapes[i].columns : shapes[i].rows, rows = shapes[i].columns ? shapes[i].rows : 1;
        t->name = shapes[i].name;
        t->type = shapes[i].type;
        t->n_dims = shapes[i].columns ? 2 : 1;
        t->dim[0] = shapes[i].rows;
        t->dim[1] = shapes[i].columns ? shapes[i].columns : 1;
        t->dim[2] = t->dim[3] = 1;
        t->file = &m->file;
        t->offset = total;
        t->size = rows * dtype_row_sz(t->type, (size_t)columns);
        total += t->size;
    }
    m->bytes = malloc((size_t)total);
    assert_non_null(m->bytes);
    for (int i = 0; i < N_SHAPES; i++) {
        const struct tensor *t = &m->w.tensor[i];
        const size_t n = (size_t)(shapes[i].columns ? shapes[i].columns : shapes[i].rows), sz = dtype_row_sz(t->type, n);
        for (uint64_t at = 0; at < t->size; at += sz) row_fill(m->bytes + t->offset + at, t->type, n, &seed);
    }
    file_from_memory(&m->file, "made.up", m->bytes, (size_t)total);
    assert_int_equal(weights_index(&m->w, &e), 0);
    static const char *const same[] = { "query.weight", "query.bias", "out.weight", "out.bias" };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        char from[64], to[64];
        snprintf(from, sizeof from, "0.g.%s", same[i]);
        snprintf(to, sizeof to, "0.r.%s", same[i]);
        memcpy(made_find(m, to), made_find(m, from), (size_t)weights_find(&m->w, from)->size);
    }
    repeat(m, "key.weight", D * sizeof(float));
    repeat(m, "value.weight", D * sizeof(float));
    repeat(m, "value.bias", sizeof(float));
}

/* ---- plans of them */

static struct state_desc const states[] = { { "another", STATE_SHIFT, 1, 1, D, 3 }, { "keys", STATE_APPEND, 1, HEADS, D_HEAD, ROWS } };

struct rig {
    struct made made;
    struct arena arena;
    struct weight_store store;
    struct plan plan;
    struct kern kern;
    steno_team *team;
    struct cpu_executor cpu;
    struct exec *exec;
    struct kv_state state[2];
    struct run run;
};
typedef void fill_fn(struct build *b);

static int rig_build(struct rig *r, int level, int threads, fill_fn *fill, steno_error *e)
{
    struct build b;
    memset(r, 0, sizeof *r);
    made_open(&r->made);
    kern_init(&r->kern, level);
    assert_int_equal(team_open(&r->team, threads, e), 0);
    const struct build_params p = { .name = "made up", .arena = &r->arena, .weights = &r->made.w, .store = &r->store, .kern = &r->kern,
                                    .team = r->team, .max_rows = ROWS };
    build_begin(&b, &p, e);
    build_phase(&b, "all");
    fill(&b);
    return build_end(&b, &r->plan);
}

/* n_kv_heads: of the state of keys and values. */
static void rig_open(struct rig *r, int level, int threads, fill_fn *fill, uint32_t n_kv_heads)
{
    steno_error e;
    if (rig_build(r, level, threads, fill, &e)) fail_msg("%s", e.text);
    const struct plan *plans[] = { &r->plan };
    for (int i = 0; i < 2; i++) {
        struct state_desc d = states[i];
        if (i) d.heads = n_kv_heads;
        assert_int_equal(state_open(&r->state[i], &r->arena, &d, KV_F32, 1, &e), 0);
    }
    const struct exec_params params = { .plan = plans, .n_plans = 1, .state = r->state, .n_states = 2, .max_out = 1, .threads = threads,
                                        .team = r->team };
    executor_cpu(&r->cpu, &r->kern);
    assert_int_equal(exec_open(&r->exec, &r->cpu.base, &r->arena, &params, &e), 0);
    assert_int_equal(run_init(&r->run, &r->arena, plans, 1, 1), 0);
}

static void rig_close(struct rig *r)
{
    exec_close(r->exec);
    weight_store_close(&r->store);
    team_close(r->team);
    arena_free(&r->arena);
    weights_close(&r->made.w);
    free(r->made.bytes);
}

/* What the input holds: [ROWS, D], the first IDS rows those of the table of tokens. */
static const float *inputs(struct rig *r)
{
    static float x[ROWS * D];
    uint32_t seed = 7;
    for (int i = 0; i < ROWS * D; i++) x[i] = noise(&seed);
    memcpy(x, made_find(&r->made, "tokens.weight"), IDS * D * sizeof *x);
    return x;
}

static void write_input(struct rig *r)
{
    const float *x = inputs(r);
    float *to = exec_input(r->exec, &r->plan);
    for (size_t i = 0; i < ROWS; i++) memcpy(to + i * r->plan.slot[r->plan.input].ld, x + i * D, D * sizeof *x);
}

/* Rows of the output behind those of out[at, ...); run NULL: the plan looks at no tables. */
static void rig_run(struct rig *r, float *out, size_t at, uint32_t n, struct run *run)
{
    const size_t width = r->plan.slot[r->plan.output].width;
    struct run_time spent;
    size_t ld;
    write_input(r);
    assert_int_equal(exec_phases(r->exec, &r->plan, &(struct phases){ .end = 1, .n_rows = n, .run = run }, NULL, &spent), 0);
    const float *got = exec_output(r->exec, &r->plan, r->plan.output, 0, n, &ld);
    for (size_t i = 0; i < n; i++) memcpy(out + (at + i) * width, got + i * ld, width * sizeof *out);
}

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

static void each_level(void (*check)(int level, int threads))
{
    for (int level = 0; level < CPU_LEVELS; level++)
        for (int threads = 1; threads <= 3 && cpu_level_usable(level); threads += 2) check(level, threads);
}

static void same(const float *a, const float *b, size_t rows, size_t n, const char *what, int level)
{
    for (size_t i = 0; i < rows * n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a))
            fail_msg("%s, level %d: row %zu, column %zu is %.9g, and %.9g", what, level, i / n, i % n, (double)a[i], (double)b[i]);
}

/* ---- parts that are stored unequally */

static struct linear_part const mixed[] = { { "0.m.query.weight", "0.m.query.bias", Q }, { "0.m.key.weight", NULL, KV },
                                            { "0.m.value.weight", "0.m.value.bias", KV }, { "0.gate.weight", NULL, D_FF } };
enum { MIXED = 4, WIDE = Q + 2 * KV + D_FF };

static uint16_t fill_io(struct build *b, uint32_t width)
{
    b->plan.input = build_slot(b, D);
    return b->plan.output = build_slot(b, width);
}

static struct linear_use use_of(uint16_t out, uint16_t in)
{
    return (struct linear_use){ .label = "linear", .out = out, .in = in, .aux = NO_SLOT, .kv_slot = NO_SLOT, .state = NO_STATE };
}

static void fill_together(struct build *b)
{
    const uint16_t out = fill_io(b, WIDE);
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ mixed, MIXED, D, LINEAR_QKV, NO_BIND });
    const struct linear_use use = use_of(out, b->plan.input);
    emit_linear(b, &use, &l);
}

static int part_alone;
static void fill_alone(struct build *b)
{
    const uint16_t out = fill_io(b, (uint32_t)mixed[part_alone].n);
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ &mixed[part_alone], 1, D, LINEAR_OTHER, NO_BIND });
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
    const struct linear_binds l = bind_linear(b, &(struct linear_desc){ part, 2, D, LINEAR_UP, NO_BIND });
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

/* ---- sub-layers: the input is the stream, or tokens are */

static struct sub const sub_g = { sub_attn, "norm", "g", NULL, 0 }, sub_r = { sub_attn, "norm", "r", NULL, 0 };
static struct sub const sub_m = { sub_attn, "norm", "m", NULL, 0 };
static struct sub const causal_g = { sub_attn, "norm", "g", NULL, SUB_CAUSAL }, causal_r = { sub_attn, "norm", "r", NULL, SUB_CAUSAL };
static struct sub const causal_m = { sub_attn, "norm", "m", NULL, SUB_CAUSAL };

static void fill_layer(struct build *b, const struct sub *s, const struct sub_dims *d)
{
    b->plan.input = b->plan.output = build_slot(b, D);
    b->prefix = "0";
    s->fn(b, d, s, b->plan.input, 0);
    b->prefix = "";
}

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
    emit(b, OP_NORM, "norm", b->plan.output, b->plan.input, bind_norm_rms(b, "0.norm.weight", D, 1e-6f));
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

/* ---- what is refused, and what is shared */

static void fill_cross(struct build *b)
{
    static struct sub const cross = { sub_cross, "norm", "g", NULL, 0 };
    fill_layer(b, &cross, &grouped);
}
static void fill_no_state(struct build *b) { fill_layer(b, &causal_g, &grouped); }
static void fill_uneven(struct build *b) { bind_attn(b, 4, 3, D_HEAD); }
static void fill_no_kv_heads(struct build *b) { bind_attn(b, 4, 0, D_HEAD); }

static void test_what_cannot_be_built_says_why(void **state)
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
        const struct linear_binds l = bind_linear(b, &(struct linear_desc){ &part, 1, D, role[i], norm });
        const struct linear_use use = use_of(out, b->plan.input);
        emit_linear(b, &use, &l);
    }
}

static void test_what_is_packed_is_shared_by_those_who_want_it_packed_alike(void **state)
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
        cmocka_unit_test(test_heads_that_share_keys_give_the_bits_of_keys_repeated),
        cmocka_unit_test(test_a_decoder_needs_no_cross_attention_and_no_first_state),
        cmocka_unit_test(test_unequal_types_go_to_keys_and_values_of_a_slot_as_to_those_of_a_state),
        cmocka_unit_test(test_rows_of_the_input_stand_for_tokens_in_a_prompt),
        cmocka_unit_test(test_rms_norms_divide_by_the_root_of_the_mean_square),
        cmocka_unit_test(test_what_cannot_be_built_says_why),
        cmocka_unit_test(test_what_is_packed_is_shared_by_those_who_want_it_packed_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
