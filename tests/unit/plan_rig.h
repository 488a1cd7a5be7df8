/* steno tests: plans of a few synthetic tensors, run at every processor level with one and three threads. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_PLAN_RIG_H
#define STENO_TESTS_PLAN_RIG_H
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "harness.h"
#include "plan/bind.h"
#include "plan/build.h"
#include "plan/exec.h"
#include "plan/sub.h"

enum { D = 256, HEADS = 4, KV_HEADS = 2, D_HEAD = 32, Q = HEADS * D_HEAD, KV = KV_HEADS * D_HEAD, D_FF = 64, IDS = 50, ROWS = 600 };
static struct sub_dims const grouped = { .d = D, .n_heads = HEADS, .n_kv_heads = KV_HEADS, .d_head = D_HEAD, .d_ff = D_FF, .eps = 1e-5f };

/* Keys and values of "r" repeat those of "g" for every query head; "m" has its three matrices stored as three types. */
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

static inline float noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (float)(int32_t)*seed * 0x1p-31f;
}

/* One stored row: numbers, or blocks of random bits with small scales. */
static inline void row_fill(uint8_t *row, enum dtype type, size_t n, uint32_t *seed)
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
        for (int k = 0; k < 2; k++) /* q4_k: d and dmin at the start; q6_k: d at the end */
            if (type == DT_Q4_K) memcpy(row + at + 2 * k, &scale, sizeof scale);
            else memcpy(row + at + 208, &scale, sizeof scale);
}

struct made { struct weights w; struct file file; uint8_t *bytes; };

static inline uint8_t *made_find(struct made *m, const char *name)
{
    const struct tensor *t = weights_find(&m->w, name);
    assert_non_null(t);
    return m->bytes + t->offset;
}

/* Repeat heads of keys (and values) for each query head. */
static inline void repeat(struct made *m, const char *part, size_t row_sz)
{
    char from[64], to[64];
    snprintf(from, sizeof from, "0.g.%s", part);
    snprintf(to, sizeof to, "0.r.%s", part);
    const uint8_t *src = made_find(m, from);
    uint8_t *dst = made_find(m, to);
    for (size_t h = 0; h < HEADS; h++) memcpy(dst + h * D_HEAD * row_sz, src + h / (HEADS / KV_HEADS) * D_HEAD * row_sz, D_HEAD * row_sz);
}

static inline void made_open(struct made *m)
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

static struct state_desc const states[] = { { "another", STATE_SHIFT, 1, 1, D, 3, 0, 0, 0 },
                                            { "keys", STATE_APPEND, 1, HEADS, D_HEAD, ROWS, 0, 0, 0 } };

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

static inline int rig_build(struct rig *r, int level, int threads, fill_fn *fill, steno_error *e)
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

/* n_kv_heads: heads of the key/value state. */
static inline void rig_open(struct rig *r, int level, int threads, fill_fn *fill, uint32_t n_kv_heads)
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

static inline void rig_close(struct rig *r)
{
    exec_close(r->exec);
    weight_store_close(&r->store);
    team_close(r->team);
    arena_free(&r->arena);
    weights_close(&r->made.w);
    free(r->made.bytes);
}

/* The input: [ROWS, D]; its first IDS rows equal the table of tokens. */
static inline const float *inputs(struct rig *r)
{
    static float x[ROWS * D];
    uint32_t seed = 7;
    for (int i = 0; i < ROWS * D; i++) x[i] = noise(&seed);
    memcpy(x, made_find(&r->made, "tokens.weight"), IDS * D * sizeof *x);
    return x;
}

static inline void write_input(struct rig *r)
{
    const float *x = inputs(r);
    float *to = exec_input(r->exec, &r->plan);
    for (size_t i = 0; i < ROWS; i++) memcpy(to + i * r->plan.slot[r->plan.input].ld, x + i * D, D * sizeof *x);
}

/* Append rows of the output to out[at, ...); run NULL: the plan reads no tables. */
static inline void rig_run(struct rig *r, float *out, size_t at, uint32_t n, struct run *run)
{
    const size_t width = r->plan.slot[r->plan.output].width;
    struct run_time spent;
    size_t ld;
    write_input(r);
    assert_int_equal(exec_phases(r->exec, &r->plan, &(struct phases){ .end = 1, .n_rows = n, .run = run }, NULL, &spent), 0);
    const float *got = exec_output(r->exec, &r->plan, r->plan.output, 0, n, &ld);
    for (size_t i = 0; i < n; i++) memcpy(out + (at + i) * width, got + i * ld, width * sizeof *out);
}

static inline void each_level(void (*check)(int level, int threads))
{
    for (int level = 0; level < CPU_LEVELS; level++)
        for (int threads = 1; threads <= 3 && cpu_level_usable(level) && level_is_checked(level, cpu_level_best()); threads += 2)
            check(level, threads);
}

static inline void same(const float *a, const float *b, size_t rows, size_t n, const char *what, int level)
{
    for (size_t i = 0; i < rows * n; i++)
        if (memcmp(&a[i], &b[i], sizeof *a))
            fail_msg("%s, level %d: row %zu, column %zu is %.9g, and %.9g", what, level, i / n, i % n, (double)a[i], (double)b[i]);
}

static inline uint16_t fill_io(struct build *b, uint32_t width)
{
    b->plan.input = build_slot(b, D);
    return b->plan.output = build_slot(b, width);
}

static struct sub const causal_g = { sub_attn, "norm", "g", NULL, SUB_CAUSAL }, causal_r = { sub_attn, "norm", "r", NULL, SUB_CAUSAL };

static inline void fill_layer(struct build *b, const struct sub *s, const struct sub_dims *d)
{
    b->plan.input = b->plan.output = build_slot(b, D);
    b->prefix = "0";
    s->fn(b, d, s, b->plan.input, 0);
    b->prefix = "";
}
#endif
