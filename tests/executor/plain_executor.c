/* steno tests: a second executor. SPDX-License-Identifier: MIT */
#include "executor/plain_choose.h"
#include "executor/plain_conformer.h"
#include "executor/plain_past.h"

/* ---- runs */

static void plain_op_run(struct plain_op *o, const struct op *op)
{
    static void (*const run[OP_KINDS])(const struct plain_op *o) = {
        [OP_EMBED] = plain_embed, [OP_NORM] = plain_norm, [OP_SCALE] = plain_rows, [OP_LINEAR] = plain_linear, [OP_ATTN] = plain_attn,
        [OP_KV_PACK] = plain_kv_pack, [OP_FSMN] = plain_fsmn, [OP_SHIFT_STATE] = plain_shift, [OP_LOOK_BACK] = plain_look_back,
        [OP_SOFTMAX] = plain_rows, [OP_ATTN_WEIGHTS] = plain_align,
        [OP_ZSCORE] = plain_align, [OP_MEDIAN_FILTER] = plain_align, [OP_CIF] = plain_cif, [OP_LSTM] = plain_lstm,
        [OP_MAGNITUDE] = plain_magnitude,
        [OP_ROPE] = plain_heads, [OP_GLU] = plain_glu, [OP_ACT] = plain_rows,
        [OP_ADD] = plain_rows, [OP_LOGITS_APPROX] = plain_nothing, [OP_LOGITS_BOUND] = plain_nothing,
        [OP_LOGITS_REDUCE] = plain_nothing, [OP_LOGITS_BEST] = plain_best, [OP_SAMPLE] = plain_sample,
        [OP_STEM2D] = plain_stem, [OP_DISTANCES] = plain_distances,
        [OP_PACK_DISTANCES] = plain_pack_distances, [OP_ATTN_REL] = plain_attn_rel,
    };
    o->op = op;
    o->bind = &o->plan->p->bind[op->bind];
    o->rows = plain_rows_count(o, op->rows);
    run[op->kind](o);
}

static int plain_run(struct plain_op *o, int first, int last)
{
    struct plain_exec *x = o->x;
    x->base.n_wakes++;
    if (++x->x->n_runs == x->x->fails_at) return err_set(&x->base.error, STENO_EIO, "the plain executor fails as requested");
    for (int i = first; i < last; i++) {
        if (x->base.should_stop && x->base.should_stop(x->base.user)) return STENO_ECANCELED;
        plain_op_run(o, &o->plan->p->op[i]);
    }
    return STENO_OK;
}

static struct plain_exec *plain_of(struct exec *x) { return (struct plain_exec *)(void *)x; }

static struct room plain_room(const struct exec *x, const struct plan *p)
{
    const uint32_t max = ((const struct plain_exec *)(const void *)x)->max_out;
    return (struct room){ p->max_rows, p->logits == NO_SLOT ? 0 : p->max_out < max ? p->max_out : max };
}

static int plain_fits(struct plain_exec *x, const struct plan *p, const struct run *r, uint32_t n_rows)
{
    const struct room room = plain_room(&x->base, p);
    return n_rows <= room.rows && (!r || (r->n_rows <= r->room.rows && r->n_out <= room.out && r->n_out <= r->room.out));
}

static int plain_phases(struct exec *exec, const struct plan *p, const struct phases *what, struct op_time *time,
                        struct run_time *spent)
{
    struct plain_exec *x = plain_of(exec);
    struct plain_op o = { .x = x, .plan = plain_plan_of(x, p), .kern = &x->x->kern, .run = what->run, .what = what,
                          .n_rows = what->n_rows };
    (void)time;
    *spent = (struct run_time){ 1000, 1000 };
    err_clear(&exec->error);
    x->window = what->window;
    if (!plain_fits(x, p, what->run, what->n_rows)) return STENO_EARG;
    for (int i = 0; what->run && i < x->n_states; i++)
        if (x->state[i].desc.kind == STATE_APPEND) plain_copies(x, &x->state[i], x->mem[i]);
    if (!what->first && p->input != NO_SLOT && p->slot[p->input].front) {
        const struct op *op = &p->op[0];
        plain_pad(&o, p->input, (size_t)(op->rows == ROWS_TWICE ? 2 : 1) * what->n_rows * p->bind[op->bind].stride);
    }
    return plain_run(&o, p->phase[what->first].first, p->phase[what->end - 1].last);
}

/* Allocate memory for new rows in all states that grow with them. */
static int plain_prepare(struct plain_exec *x, const struct run *run)
{
    for (int k = 0; k < x->n_states; k++) {
        if (x->state[k].desc.kind != STATE_APPEND) continue;
        for (uint32_t i = 0; i < run->n_rows; i++)
            if (state_prepare(&x->state[k], run->row[i].lane, (uint32_t)run->row[i].pos, (uint32_t)run->row[i].pos + 1)) return 0;
        plain_copies(x, &x->state[k], x->mem[k]);
    }
    return 1;
}

static int plain_chain(struct exec *exec, const struct plan *p, struct run *run, int steps, const struct chain_calls *calls,
                       int *ran, struct op_time *time, struct run_time *spent)
{
    struct plain_exec *x = plain_of(exec);
    struct plain_op o = { .x = x, .plan = plain_plan_of(x, p), .kern = &x->x->kern, .run = run, .calls = calls };
    (void)time;
    *ran = 0;
    *spent = (struct run_time){ 1000, 1000 };
    err_clear(&exec->error);
    for (;;) {
        if (!run->n_rows) return STENO_OK;
        if (run->n_rows > run->room.rows) return STENO_EARG;
        if (!plain_prepare(x, run)) return STENO_EARG;
        run_prepare(run);
        if (!plain_fits(x, p, run, run->n_rows)) return STENO_EARG;
        o.n_rows = run->n_rows;
        const int rc = plain_run(&o, 0, p->n_ops);
        for (uint32_t i = 0; i < run->n_rows; i++) run->lane[run->row[i].lane].kv.len = run->row[i].pos + 1;
        ++*ran;
        if (rc) return rc;
        if (calls && calls->next) {
            if (!calls->next(calls->user)) return STENO_OK;
        } else {
            if (*ran >= steps) return STENO_OK;
            run_advance(run);
        }
    }
}

static int plain_exec_choose(struct exec *exec, const struct plan *p, struct run *run, const struct chain_calls *calls, uint32_t out)
{
    struct plain_exec *x = plain_of(exec);
    struct plain_op o = { .x = x, .plan = plain_plan_of(x, p), .kern = &x->x->kern, .run = run, .calls = calls };
    run->row[run->out_row[out]].flags = ROW_SAMPLE;
    plain_choose(&o, out);
    return STENO_OK;
}

/* ---- opening and other calls ---- */

static void *plain_pages(struct arena *a, size_t n, size_t *total) /* 64-aligned; without an arena only *total is counted */
{
    *total += n + 64;
    uint8_t *p = a ? arena_alloc(a, n + 64) : NULL;
    if (p) memset(p, 0xff, n + 64); /* NaN: memory has no defined content until it is written */
    return p ? (void *)(p + (64 - (uintptr_t)p % 64)) : NULL;
}

static size_t plain_state_bytes(const struct kv_state *s)
{
    const struct state_desc *d = &s->desc;
    if (d->kind == STATE_SHIFT) return (size_t)s->lanes * d->layers * d->positions * d->heads * d->d_head * sizeof(float);
    return kv_block_sz(s->type, d->d_head) * d->heads * d->layers * (d->kind == STATE_APPEND ? s->n_blocks : s->lane_blocks * s->lanes);
}

/* Allocate all memory; x NULL: only count it. */
static size_t plain_take(struct plain_exec *x, struct arena *a, const struct exec_params *p)
{
    size_t n = 0;
    for (int i = 0; i < p->n_plans; i++) {
        const struct plan *plan = p->plan[i];
        float **slot = plain_pages(a, plan->n_slots * sizeof *slot, &n);
        for (uint16_t s = 0; s < plan->n_slots; s++) {
            const struct slot *k = &plan->slot[s];
            const size_t sz = k->heads ? k->size : ((size_t)k->rows + 2 * k->front) * plain_ld(plan, s) * sizeof(float);
            float *at = plain_pages(a, sz, &n);
            if (at) slot[s] = at + (k->heads ? 0 : k->front * plain_ld(plan, s));
        }
        if (x) x->plan[i] = (struct plain_plan){ plan, slot };
    }
    for (int i = 0; i < p->n_states; i++) {
        void *at = plain_pages(a, plain_state_bytes(&p->state[i]), &n);
        if (x) x->mem[i] = at, x->positions[i] = p->state[i].desc.positions;
    }
    void *scratch = plain_pages(a, kern_linear_scratch_max() + kern_attn_scratch_max(), &n);
    if (x) x->scratch = scratch;
    return n;
}

static size_t plain_memory(const struct executor *x, const struct exec_params *p)
{
    (void)x;
    return sizeof(struct plain_exec) + plain_take(NULL, NULL, p);
}

static int plain_open(struct exec **out, const struct executor *executor, struct arena *a, const struct exec_params *p,
                      steno_error *e)
{
    struct plain_exec *x = arena_array(a, 1, sizeof *x);
    if (!x || p->n_plans > PLAIN_PLANS || p->n_states > PLAIN_STATES) return err_nomem(e, sizeof *x, "the plain executor");
    x->base = (struct exec){ .ops = executor->ops, .should_stop = p->should_stop, .user = p->user };
    x->x = (struct plain_executor *)(uintptr_t)executor;
    x->n_plans = p->n_plans;
    x->n_states = p->n_states;
    x->state = p->state;
    x->max_out = p->max_out;
    plain_take(x, a, p);
    *out = &x->base;
    return STENO_OK;
}

static void plain_close(struct exec *x)
{
    free(plain_of(x)->staging);
    for (int i = 0; i < PLAIN_STATES; i++) free(plain_of(x)->grown[i]);
}

static float *plain_input(struct exec *x, const struct plan *p)
{
    return plain_plan_of(plain_of(x), p)->slot[p->input];
}

static float *plain_given(struct exec *x, const struct plan *p, uint16_t slot)
{
    return plain_plan_of(plain_of(x), p)->slot[slot];
}

/* Returns a copy, with a larger distance between rows than in the plan. */
static const float *plain_output(struct exec *exec, const struct plan *p, uint16_t slot, uint32_t row, uint32_t n, size_t *ld)
{
    struct plain_exec *x = plain_of(exec);
    const struct slot *s = &p->slot[slot];
    const size_t from = plain_ld(p, slot);
    *ld = s->width + 3;
    float *copy = realloc(x->staging, (size_t)n * *ld * sizeof *copy);
    if (!copy) return NULL;
    x->staging = copy;
    for (uint32_t r = 0; r < n; r++) memcpy(copy + r * *ld, plain_plan_of(x, p)->slot[slot] + (row + r) * from, s->width * sizeof *copy);
    return copy;
}

static void plain_state_reset(struct exec *x, int state, uint32_t lane)
{
    const struct state_desc *d = &plain_of(x)->state[state].desc;
    const size_t rows = (size_t)d->layers * plain_of(x)->positions[state];
    memset(plain_state_rows(plain_of(x), state, 0, lane), 0, rows * d->heads * d->d_head * sizeof(float));
}

static size_t plain_state_sz(const struct exec *x, int state, uint32_t lane, uint32_t newest)
{
    const struct plain_exec *p = (const struct plain_exec *)(const void *)x;
    const struct state_desc *d = &p->state[state].desc;
    (void)lane;
    if (d->kind != STATE_SHIFT) return plain_state_bytes(&p->state[state]);
    return (size_t)d->layers * (newest ? newest : p->positions[state]) * d->heads * d->d_head * sizeof(float);
}

/* Grows all lanes. */
static int plain_state_grow(struct exec *exec, int state, uint32_t lane, uint32_t positions)
{
    struct plain_exec *x = plain_of(exec);
    const struct state_desc *d = &x->state[state].desc;
    const uint32_t before = x->positions[state];
    const size_t width = (size_t)d->heads * d->d_head * sizeof(float), n = (size_t)d->layers * x->state[state].lanes;
    (void)lane;
    if (positions <= before) return STENO_OK;
    uint8_t *more = calloc(n * positions, width);
    if (!more) return STENO_ENOMEM;
    for (size_t i = 0; i < n; i++)
        memcpy(more + ((i + 1) * positions - before) * width, x->mem[state] + i * before * width, before * width);
    free(x->grown[state]);
    x->mem[state] = x->grown[state] = more;
    x->positions[state] = positions;
    return STENO_OK;
}

/* Layers of a lane: its first layer, bytes per layer, and bytes of the newest rows of a layer; other kinds of states count as one layer. */
struct plain_layers { uint8_t *at; size_t layer, n, layers; };
static struct plain_layers plain_state_layers(struct exec *x, int state, uint32_t lane, uint32_t newest)
{
    const struct kv_state *s = &plain_of(x)->state[state];
    const int shifts = s->desc.kind == STATE_SHIFT;
    struct plain_layers l = { .layers = shifts ? s->desc.layers : 1 };
    l.layer = plain_state_sz(x, state, lane, 0) / l.layers;
    l.n = plain_state_sz(x, state, lane, newest) / l.layers;
    l.at = plain_of(x)->mem[state] + (shifts ? lane * l.layers * l.layer : 0);
    return l;
}

static void plain_state_get(struct exec *x, int state, uint32_t lane, uint32_t newest, void *to)
{
    const struct plain_layers l = plain_state_layers(x, state, lane, newest);
    for (size_t i = 0; i < l.layers; i++) memcpy((char *)to + i * l.n, l.at + (i + 1) * l.layer - l.n, l.n);
}

static void plain_state_set(struct exec *x, int state, uint32_t lane, uint32_t newest, const void *from)
{
    const struct plain_layers l = plain_state_layers(x, state, lane, newest);
    for (size_t i = 0; i < l.layers; i++) memcpy(l.at + (i + 1) * l.layer - l.n, (const char *)from + i * l.n, l.n);
}

static void plain_state_copy(struct exec *x, int state, uint32_t to, uint32_t from)
{
    const size_t sz = plain_state_sz(x, state, 0, 0) / plain_of(x)->state[state].lanes;
    if (to != from) memcpy(plain_of(x)->mem[state] + to * sz, plain_of(x)->mem[state] + from * sz, sz);
}

void plain_executor_open(struct plain_executor *x)
{
    static struct executor_ops const ops = {
        .weights = plain_weights, .memory = plain_memory, .open = plain_open, .close = plain_close, .room = plain_room,
        .input = plain_input, .given = plain_given, .output = plain_output,
        .phases = plain_phases, .chain = plain_chain, .choose = plain_exec_choose,
        .state_reset = plain_state_reset, .state_grow = plain_state_grow,
        .state_sz = plain_state_sz, .state_get = plain_state_get, .state_set = plain_state_set,
        .state_copy = plain_state_copy,
    };
    *x = (struct plain_executor){ .base = { .ops = &ops, .caps = { .name = "plain" } } };
    kern_init_c(&x->kern);
}

void plain_executor_close(struct plain_executor *x)
{
    for (int i = 0; i < x->n_spans; i++) free(x->span[i].own);
}

void plain_forget_host(struct plain_executor *x)
{
    for (int i = 0; i < x->n_spans; i++) memset((void *)(uintptr_t)x->span[i].name, 0xff, x->span[i].n);
}
