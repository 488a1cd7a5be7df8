/* steno: the executor on the CPU: its memory, and replays by a team of threads. SPDX-License-Identifier: MIT */
#include "plan/exec.h"
#include <string.h>
#include "base/cpu.h"
#include "base/os.h"
#include "plan/replay.h"

/* ---- memory */

/* The most rows of logits of a plan, given room for max_out. */
static uint32_t out_of(const struct plan *p, uint32_t max_out)
{
    return p->logits == NO_SLOT ? 0 : p->max_out < max_out ? p->max_out : max_out;
}

static size_t partials_of(const struct plan *p, uint32_t max_out)
{
    return p->logits == NO_SLOT ? 0 : (size_t)3 * out_of(p, max_out) * logit_slices(p->slot[p->logits].width);
}

/* Bytes of the scratch block used with n rows of logits. Plans are laid out for the maximum number. */
static size_t scratch_of(const struct plan *p, uint32_t n)
{
    size_t need = 0;
    for (uint16_t i = 0; i < p->n_slots; i++) {
        const struct slot *s = &p->slot[i];
        const size_t unused = s->is_out && n < s->rows ? (size_t)(s->rows - n) * s->ld * sizeof(float) : 0;
        const size_t end = s->offset + s->size - unused;
        if (end > need) need = end;
    }
    return need;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

struct sizes { size_t kept, scratch, partials, panel_max, approx, ops, thread, attn_partials, attn_floats, attn_done; };

/* Scratch of a thread that computes the input rows of a linear itself. */
static size_t norm_before_sz(const struct plan *p, uint16_t i)
{
    while (i && p->op[i - 1].kind == OP_LINEAR) i--; /* the norm may be joined with this linear */
    return i && p->op[i - 1].kind == OP_NORM ? joined_norm_sz(&p->bind[p->op[i - 1].bind]) : 0;
}

/* Add the memory of the plan's ops other than slots. */
static void ops_need(struct sizes *z, const struct kern *k, const struct plan *p, const struct exec_params *e)
{
    for (uint16_t i = 0; i < p->n_ops; i++) {
        const struct op *op = &p->op[i];
        const struct bind *c = &p->bind[op->bind];
        const uint32_t rows = rows_max(p, op, out_of(p, e->max_out));
        if (op->kind == OP_LINEAR || op->kind == OP_LOGITS_APPROX)
            z->thread = larger(z->thread, conv_row_sz(op, c) + norm_before_sz(p, i) + linear_scratch(k, c, rows, e->threads));
        if (op->kind == OP_LOGITS_BEST) {
            z->thread = larger(z->thread, logits_best_scratch(k, c));
            z->partials = larger(z->partials, (size_t)rows * logit_slices(c->n));
            if (op->approx) z->thread = larger(z->thread, logits_best_scratch(k, &p->bind[op->approx - 1u]));
            if (op->approx) z->panel_max = larger(z->panel_max, (size_t)rows * pack_panels(c->n));
        }
        if (op->kind == OP_ATTN_REL) z->thread = larger(z->thread, attn_rel_scratch(p, op, e->state));
        if (op->kind == OP_STEM2D) z->thread = larger(z->thread, stem2d_scratch(k, p, op));
        if (op->kind == OP_FSMN) z->thread = larger(z->thread, fsmn_scratch(p, op));
        if (op->kind == OP_LSTM) z->thread = larger(z->thread, lstm_scratch(k, p, op, rows_max(p, op, 0)));
        if (op->kind != OP_ATTN && op->kind != OP_ATTN_WEIGHTS) continue;
        const enum kv_type kv = attn_kv_type(p, op, e->state);
        z->thread = larger(z->thread, kv_is_run(kv) ? kern_attn_run_scratch(k, kv, p->max_rows) : kern_attn_scratch(k, kv, c->d_head));
        if (op->kind != OP_ATTN || kv_is_run(kv)) continue;
        const size_t n = attn_partials_max(p, op, e->state, rows, e->threads);
        z->attn_partials = larger(z->attn_partials, n);
        z->attn_floats = larger(z->attn_floats, n * attn_partial_len(c->d_head));
    }
}

static struct sizes sizes_of(const struct executor *x, const struct exec_params *p)
{
    struct sizes z = { .thread = 1 };
    for (int i = 0; i < p->n_plans; i++) {
        const struct plan *plan = p->plan[i];
        z.kept = larger(z.kept, plan->kept.sz);
        z.scratch = larger(z.scratch, scratch_of(plan, p->max_out));
        z.partials = larger(z.partials, partials_of(plan, p->max_out));
        z.approx = larger(z.approx, out_of(plan, p->max_out));
        z.ops = larger(z.ops, plan->n_ops);
        ops_need(&z, ((const struct cpu_executor *)(const void *)x)->kern, plan, p);
    }
    z.attn_done = z.attn_partials ? (size_t)p->threads * ATTN_SHARED : 0;
    z.thread = (z.thread + 4095) & ~(size_t)4095;
    return z;
}

static struct cpu_exec *cpu_of(struct exec *x) { return (struct cpu_exec *)(void *)x; }
static const struct cpu_exec *cpu_of_const(const struct exec *x) { return (const struct cpu_exec *)(const void *)x; }

/* Take all memory except scratch pages and states. */
static void tables_take(struct cpu_exec *x, struct arena_take *t, const struct sizes *z)
{
    x->attn_partials = arena_take(t, z->attn_floats, sizeof *x->attn_partials);
    x->attn_done = arena_take(t, z->attn_done, sizeof *x->attn_done);
    x->partials = arena_take(t, z->partials, sizeof *x->partials);
    x->panel_max = arena_take(t, z->panel_max, sizeof *x->panel_max);
    x->approx = arena_take(t, z->approx, sizeof *x->approx);
    x->counter = arena_take(t, z->ops, sizeof *x->counter);
}

static size_t cpu_memory(const struct executor *executor, const struct exec_params *p)
{
    const struct sizes z = sizes_of(executor, p);
    struct cpu_exec x;
    struct arena_take t = { 0 };
    tables_take(&x, &t, &z);
    size_t n = sizeof x + t.sz + z.kept + z.scratch + (size_t)p->threads * z.thread;
    for (int i = 0; i < p->n_states; i++) n += state_pool_sz(&p->state[i].desc, p->state[i].type, p->state[i].lanes);
    return n;
}

static void cpu_close(struct exec *exec)
{
    struct cpu_exec *x = cpu_of(exec);
    for (int i = 0; x->mem && i < x->n_states; i++) state_mem_close(&x->mem[i]);
    if (x->kept.at) os_pages_free(x->kept.at, x->kept.sz);
    if (x->scratch) os_pages_free(x->scratch, x->scratch_sz);
    if (x->thread_scratch) os_pages_free(x->thread_scratch, (size_t)team_threads(x->team) * x->thread_scratch_sz);
    x->kept.at = x->scratch = x->thread_scratch = NULL;
}

static int states_open(struct cpu_exec *x, struct arena *a, const struct exec_params *p, steno_error *e)
{
    int rc = STENO_OK;
    x->state = p->state;
    x->mem = arena_array(a, (size_t)p->n_states, sizeof *x->mem);
    if (p->n_states && !x->mem) return err_nomem(e, (size_t)p->n_states * sizeof *x->mem, "states");
    x->n_states = p->n_states;
    for (int i = 0; i < p->n_states && !rc; i++) {
        const uint32_t lanes = p->state[i].desc.kind == STATE_SHIFT ? p->state[i].lanes : 0;
        x->mem[i].lane = arena_array(a, lanes, sizeof *x->mem[i].lane);
        if (lanes && !x->mem[i].lane) return err_nomem(e, lanes * sizeof *x->mem[i].lane, "states");
        rc = state_mem_open(&x->mem[i], &p->state[i], e);
        x->appends += p->state[i].desc.kind == STATE_APPEND;
    }
    return rc;
}

static int cpu_open(struct exec **out, const struct executor *executor, struct arena *a, const struct exec_params *p, steno_error *e)
{
    struct cpu_exec *x = arena_array(a, 1, sizeof *x);
    const size_t threads = (size_t)p->threads;
    const struct sizes z = sizes_of(executor, p);
    *out = NULL;
    if (!x) return err_nomem(e, sizeof *x, "an executor");
    x->base = (struct exec){ .ops = executor->ops, .should_stop = p->should_stop, .user = p->user };
    x->kern = ((const struct cpu_executor *)(const void *)executor)->kern;
    x->team = p->team;
    x->max_out = p->max_out;
    x->scratch_sz = z.scratch;
    x->thread_scratch_sz = z.thread;
    x->n_attn_partials = z.attn_partials;
    x->n_attn_done = z.attn_done;
    x->n_approx = z.approx;
    struct arena_take t = { .a = a };
    tables_take(x, &t, &z);
    x->kept = (struct kept){ .at = z.kept ? os_pages_alloc(z.kept) : NULL, .sz = z.kept };
    x->scratch = os_pages_alloc(z.scratch);
    x->thread_scratch = os_pages_alloc(threads * z.thread);
    const int whole = !t.failed && (x->kept.at || !z.kept) && x->scratch && x->thread_scratch;
    const int rc = whole ? states_open(x, a, p, e) : err_nomem(e, z.kept + z.scratch + threads * z.thread, "scratch");
    if (rc) {
        cpu_close(&x->base);
        return rc;
    }
    os_pages_touch(x->thread_scratch, threads * z.thread);
    os_pages_touch(x->attn_partials, z.attn_floats * sizeof *x->attn_partials);
    *out = &x->base;
    return rc;
}

static struct room cpu_room(const struct exec *x, const struct plan *p)
{
    return (struct room){ p->max_rows, out_of(p, cpu_of_const(x)->max_out) };
}

/* Whether the rows of a run fit into the allocated memory. */
static int fits(const struct cpu_exec *x, const struct plan *p, const struct run *run, uint32_t n_rows)
{
    const struct room room = cpu_room(&x->base, p);
    return n_rows <= room.rows && (!run || (run->n_rows <= run->room.rows && run->n_out <= room.out && run->n_out <= run->room.out));
}

/* The sequences cover all rows, and their keys have blocks. */
static int sequences_fit(const struct plan *p, const struct phases *what)
{
    if (!what->n_sequences) return 1;
    const struct sequence behind = sequence_next(&what->sequence[what->n_sequences - 1], 0, 0);
    if (behind.row != what->n_rows || behind.block > kv_blocks(p->max_rows + p->max_past)) return 0;
    if (!what->tokens) return 1;
    const struct sequence last = sequence_next(&what->tokens[what->n_sequences - 1], 0, 0);
    return last.row == what->run->n_rows && last.block <= kv_blocks(p->max_rows);
}

/* The past keys of a sequence exist, and fit after its own keys, before block `end`. */
static int past_fits(const struct cpu_exec *x, const struct plan *p, const struct run *run, struct sequence s, uint32_t end)
{
    for (int i = 0; i < PAST_STATES; i++) {
        const uint32_t held = run->past[s.lane][i].held;
        if (!held) continue;
        if (held > p->max_past || s.block + kv_blocks(s.n + held) > end) return 0;
        if (i >= x->n_states || s.lane >= x->mem[i].n_lanes || held > x->mem[i].lane[s.lane].positions) return 0;
    }
    return 1;
}

static int pasts_fit(const struct cpu_exec *x, const struct plan *p, const struct phases *what)
{
    const uint32_t end = kv_blocks(p->max_rows + p->max_past), n = what->n_sequences;
    if (!what->run || !what->run->past) return 1;
    if (!n) return past_fits(x, p, what->run, (struct sequence){ .n = (uint16_t)what->n_rows, .lane = what->window }, end);
    for (uint32_t i = 0; i < n; i++)
        if (!past_fits(x, p, what->run, what->sequence[i], i + 1 < n ? what->sequence[i + 1].block : end)) return 0;
    return 1;
}

static float *cpu_input(struct exec *x, const struct plan *p)
{
    return slot_row0(cpu_of(x), p, p->input);
}

static float *cpu_given(struct exec *x, const struct plan *p, uint16_t slot)
{
    return slot_row0(cpu_of(x), p, slot);
}

static const float *cpu_output(struct exec *x, const struct plan *p, uint16_t slot, uint32_t row, uint32_t n, size_t *ld)
{
    (void)n;
    *ld = p->slot[slot].ld;
    return slot_row0(cpu_of(x), p, slot) + row * *ld;
}

static struct shift_mem *shift_of(struct exec *x, int state, uint32_t lane) { return &cpu_of(x)->mem[state].lane[lane]; }

static void cpu_state_reset(struct exec *x, int state, uint32_t lane)
{
    const struct shift_mem *m = shift_of(x, state, lane);
    memset(m->at, 0, m->sz);
}

static int cpu_state_grow(struct exec *x, int state, uint32_t lane, uint32_t positions)
{
    return state_mem_grow(shift_of(x, state, lane), &cpu_of(x)->state[state].desc, positions, &x->error);
}

/* Bytes of a layer's newest rows. */
static size_t newest_sz(const struct shift_mem *m, uint32_t newest)
{
    return newest ? m->layer_sz / m->positions * newest : m->layer_sz;
}

static size_t cpu_state_sz(const struct exec *x, int state, uint32_t lane, uint32_t newest)
{
    const struct state_mem *all = &cpu_of_const(x)->mem[state];
    if (!all->n_lanes) return all->sz;
    const struct shift_mem *m = &all->lane[lane];
    return m->sz / m->layer_sz * newest_sz(m, newest);
}

static void cpu_state_get(struct exec *x, int state, uint32_t lane, uint32_t newest, void *to)
{
    const struct state_mem *all = &cpu_of(x)->mem[state];
    if (!all->n_lanes) {
        memcpy(to, all->at, all->sz);
        return;
    }
    const struct shift_mem *m = &all->lane[lane];
    const size_t n = newest_sz(m, newest);
    for (size_t i = 0; i < m->sz / m->layer_sz; i++) memcpy((char *)to + i * n, m->at + (i + 1) * m->layer_sz - n, n);
}

static void cpu_state_set(struct exec *x, int state, uint32_t lane, uint32_t newest, const void *from)
{
    const struct state_mem *all = &cpu_of(x)->mem[state];
    if (!all->n_lanes) {
        memcpy(all->at, from, all->sz);
        return;
    }
    const struct shift_mem *m = &all->lane[lane];
    const size_t n = newest_sz(m, newest);
    for (size_t i = 0; i < m->sz / m->layer_sz; i++) memcpy(m->at + (i + 1) * m->layer_sz - n, (const char *)from + i * n, n);
}

static void cpu_state_copy(struct exec *x, int state, uint32_t to, uint32_t from)
{
    const struct state_mem *m = &cpu_of(x)->mem[state];
    if (to != from) memcpy(m->at + to * m->window_sz, m->at + from * m->window_sz, m->window_sz);
}

/* ---- replaying */

/* Thread 0 between ops: the only place that ends a run early. */
static void ask_stop(struct replay *rp, int64_t op)
{
    const struct exec *x = &rp->x->base;
    if (x->should_stop && x->should_stop(x->user)) atomic_store(&rp->x->stop, 1);
    if (!atomic_load(&rp->x->stop)) return;
    rp->status = STENO_ECANCELED;
    atomic_store(&rp->stop, op); /* a slower thread may still read an earlier number */
}

/* Thread 0 after a replay of a chain: update the lanes with the written rows. The chosen tokens become the next rows. */
static void next_step(struct replay *rp)
{
    struct run *r = rp->run;
    for (uint32_t i = 0; i < r->n_rows; i++) r->lane[r->row[i].lane].kv.len = r->row[i].pos + 1;
    if (!rp->ran++) rp->split_ns = os_now_ns();
    rp->more = 0;
    appends_copied(rp->x);
    if (rp->status) return;
    if (rp->calls.next) {
        if (!rp->calls.next(rp->calls.user)) return;
    } else {
        if (rp->ran >= rp->steps) return;
        run_advance(r);
    }
    if (!r->n_rows || r->n_rows > r->room.rows) {
        rp->status = r->n_rows ? STENO_EARG : rp->status;
        return;
    }
    appends_prepare(rp->x, r);
    atomic_store_explicit(&rp->x->copied, 0, memory_order_relaxed);
    run_prepare(r);
    if (!fits(rp->x, rp->p, r, r->n_rows)) {
        rp->status = STENO_EARG;
        return;
    }
    rp->n_rows = r->n_rows;
    rp->more = 1;
}

/* Copy blocks that lanes of the next replay write while other lanes still read them. The first op, an OP_EMBED, reads no state, so the
 * barrier after it also covers this copy. */
static void copy_blocks(const struct replay *rp)
{
    const struct worker own = { .x = rp->x, .counter = &rp->x->copied }, *worker = &own;
    FOR_ITEMS(i, appends_copies(rp->x)) appends_copy_one(rp->x, i);
}

/* Run ops that go together on one thread, until no items are left. */
static void run_joined(const struct replay *rp, struct joined j, int thread, int threads)
{
    const struct op *op = &rp->p->op[j.body];
    const int takes_ms = op->kind == OP_LINEAR || op->kind == OP_LOGITS_APPROX || op->kind == OP_LOGITS_BEST || op->kind == OP_ATTN ||
                         op->kind == OP_LSTM || op->kind == OP_ATTN_REL || op->kind == OP_STEM2D; /* one item */
    const struct worker worker = { rp->x, &rp->x->counter[j.body], takes_ms && !thread && rows_of(rp, op) > FEW_ROWS, threads,
                                   rp->x->thread_scratch + (size_t)thread * rp->x->thread_scratch_sz,
                                   j.first < j.body ? &rp->p->op[j.first] : NULL, j.parallel, j.end - j.body - 1u - j.parallel };
    op_run(rp, op, &worker);
}

static void replay_thread(void *arg, int thread)
{
    struct replay *rp = arg;
    const int threads = team_threads(rp->team);
    int64_t n = 0;
    do {
        struct joined j;
        for (uint16_t at = rp->first; at < rp->last; at = j.end, n++) {
            j = ops_joined(rp, at);
            const int64_t t0 = rp->time && !thread ? os_now_ns() : 0;
            if (!thread && at == rp->split && !rp->split_ns) rp->split_ns = os_now_ns();
            if (rp->calls.filter && rp->p->op[at].kind == OP_LOGITS_REDUCE) {
                if (!thread) logits_filter(rp);
                team_barrier(rp->team);
            }
            run_joined(rp, j, thread, threads);
            if (!thread) ask_stop(rp, n);
            team_barrier(rp->team);
            if (!thread) atomic_store_explicit(&rp->x->counter[j.body], 0, memory_order_relaxed);
            if (rp->time && !thread) {
                rp->time[j.body].ns += os_now_ns() - t0;
                for (; at < j.end; at++) rp->time[at].calls++;
            }
            if (atomic_load(&rp->stop) <= n) return;
        }
        if (!rp->steps) return;
        if (!thread) next_step(rp);
        team_barrier(rp->team);
        if (rp->more) copy_blocks(rp);
    } while (rp->more);
}

/* A run that ended within an op may leave partials that were not merged. */
static void partials_reset(struct cpu_exec *x)
{
    for (size_t i = 0; i < x->n_attn_done; i++) atomic_store_explicit(&x->attn_done[i], 0, memory_order_relaxed);
    for (size_t i = 0; i < x->n_approx; i++) atomic_store_explicit(&x->approx[i].slices, 0, memory_order_relaxed);
}

static int replay(struct replay *rp, struct run_time *spent)
{
    const cpu_fpenv fp = cpu_fpenv_enter();
    const int64_t t0 = os_now_ns();
    rp->x->base.n_wakes++;
    atomic_store(&rp->x->stop, 0);
    atomic_store(&rp->stop, INT64_MAX);
    team_run(rp->team = team_here(rp->x->team), replay_thread, rp);
    const int64_t t1 = os_now_ns(), split = rp->split_ns ? rp->split_ns : t1;
    *spent = (struct run_time){ split - t0, t1 - split };
    appends_copied(rp->x); /* includes copies that a run left when it ended early: they are dropped */
    if (rp->status) partials_reset(rp->x);
    cpu_fpenv_leave(fp);
    return rp->status;
}

/* Zero the rows around an input that a convolution reads. */
static void pad_input(const struct replay *rp)
{
    const struct op *op = &rp->p->op[0];
    if (rp->p->slot[rp->p->input].front) pad_rows(rp, rp->p->input, (size_t)rows_of(rp, op) * rp->p->bind[op->bind].stride);
}

static int cpu_phases(struct exec *exec, const struct plan *p, const struct phases *what, struct op_time *time, struct run_time *spent)
{
    struct cpu_exec *x = cpu_of(exec);
    struct replay rp = { .x = x, .p = p, .run = what->run, .time = time, .n_rows = what->n_rows, .window = what->window,
                         .sequence = what->sequence, .n_sequences = what->n_sequences, .tokens = what->tokens,
                         .first = p->phase[what->first].first, .last = p->phase[what->end - 1].last, .split = p->phase[what->first].last };
    *spent = (struct run_time){ 0 };
    err_clear(&exec->error);
    if (!fits(x, p, what->run, what->n_rows) || !sequences_fit(p, what)) return STENO_EARG;
    if (!pasts_fit(x, p, what) || !streams_fit(x, p, what)) return STENO_EARG;
    if (!what->first && p->input != NO_SLOT) pad_input(&rp);
    if (what->run) appends_copy(x);
    distances_begin(&rp, !what->first);
    const int rc = replay(&rp, spent);
    distances_end(&rp);
    return rc;
}

static int cpu_chain(struct exec *exec, const struct plan *p, struct run *run, int steps, const struct chain_calls *calls, int *ran,
                     struct op_time *time, struct run_time *spent)
{
    struct cpu_exec *x = cpu_of(exec);
    *ran = 0;
    *spent = (struct run_time){ 0 };
    err_clear(&exec->error);
    if (!x->appends || run->n_rows > run->room.rows || !appends_prepare(x, run)) return STENO_EARG;
    appends_copy(x);
    run_prepare(run);
    if (!fits(x, p, run, run->n_rows)) return STENO_EARG;
    struct replay rp = { .x = x, .p = p, .run = run, .time = time, .n_rows = run->n_rows, .last = p->n_ops, .steps = steps,
                         .split = UINT16_MAX };
    if (calls) rp.calls = *calls;
    const int rc = replay(&rp, spent);
    *ran = rp.ran;
    return rc;
}

/* Only the calling thread works. */
static int cpu_choose(struct exec *x, const struct plan *p, struct run *run, const struct chain_calls *calls, uint32_t out)
{
    struct replay rp = { .x = cpu_of(x), .p = p, .run = run };
    if (calls) rp.calls = *calls;
    const cpu_fpenv fp = cpu_fpenv_enter();
    logits_choose(&rp, out);
    cpu_fpenv_leave(fp);
    return STENO_OK;
}

/* ---- the seam */

static struct executor_ops const cpu_ops = {
    .memory = cpu_memory,
    .open = cpu_open,
    .close = cpu_close,
    .room = cpu_room,
    .input = cpu_input,
    .given = cpu_given,
    .output = cpu_output,
    .phases = cpu_phases,
    .chain = cpu_chain,
    .choose = cpu_choose,
    .state_reset = cpu_state_reset,
    .state_grow = cpu_state_grow,
    .state_sz = cpu_state_sz,
    .state_get = cpu_state_get,
    .state_set = cpu_state_set,
    .state_copy = cpu_state_copy,
};

void executor_cpu(struct cpu_executor *x, const struct kern *kern)
{
    *x = (struct cpu_executor){ .base = { .ops = &cpu_ops, .caps = { .name = "cpu" } }, .kern = kern };
    x->base.caps.attn_i8 = kern_gains_attn(kern->level, KV_I8);
    x->base.caps.attn_i16 = kern_gains_attn(kern->level, KV_I16);
    x->base.caps.attn_int = kern_gains_attn(kern->level, KV_INT);
    for (int t = 0; t < PK_COUNT; t++) x->base.caps.gains |= (uint64_t)(kern_gains(kern->level, (enum packed_type)t) != 0) << t;
}
