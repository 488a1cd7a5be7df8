/* steno: the executor on the CPU: its memory, and replays by a team of threads. SPDX-License-Identifier: MIT */
#include "plan/exec.h"
#include <string.h>
#include "base/cpu.h"
#include "base/os.h"
#include "plan/replay.h"

enum { ATTN_PARTIALS = 256 /* for each thread that there is room for: then those are groups of 21 rows over 1500 keys */ };

/* ---- memory */

/* Rows of logits that a plan ever has, where there is room for max_out. */
static uint32_t out_of(const struct plan *p, uint32_t max_out)
{
    return p->logits == NO_SLOT ? 0 : p->max_out < max_out ? p->max_out : max_out;
}

static size_t partials_of(const struct plan *p, uint32_t max_out)
{
    return p->logits == NO_SLOT ? 0 : (size_t)3 * out_of(p, max_out) * logit_slices(p->slot[p->logits].width);
}

/* Bytes of the scratch block that n rows of logits reach into. Plans are laid out for the most that there can be. */
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

/* The widest head's width; 0: there is no attention. */
static size_t head_of(const struct plan *p)
{
    size_t d = 0;
    for (uint16_t i = 0; i < p->n_ops; i++)
        if ((p->op[i].kind == OP_ATTN || p->op[i].kind == OP_ATTN_WEIGHTS) && p->bind[p->op[i].bind].d_head > d)
            d = p->bind[p->op[i].bind].d_head;
    return d;
}

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

struct sizes { size_t scratch, partials, approx, ops, thread, attn_partials, attn_done; };

static struct sizes sizes_of(const struct plan *const *plans, int n_plans, int threads, uint32_t max_out)
{
    struct sizes z = { .thread = kern_linear_scratch() };
    for (int i = 0; i < n_plans; i++) {
        const size_t d_head = head_of(plans[i]);
        z.scratch = larger(z.scratch, scratch_of(plans[i], max_out));
        z.partials = larger(z.partials, partials_of(plans[i], max_out));
        z.approx = larger(z.approx, out_of(plans[i], max_out));
        z.ops = larger(z.ops, plans[i]->n_ops);
        if (d_head && threads > 1) z.attn_partials = larger(z.attn_partials, attn_partial_len(d_head));
        if (d_head) z.thread = larger(z.thread, kern_attn_scratch(d_head));
    }
    z.attn_partials *= (size_t)threads * ATTN_PARTIALS;
    z.attn_done = z.attn_partials ? (size_t)threads * ATTN_SHARED : 0;
    z.thread = (z.thread + 4095) & ~(size_t)4095;
    return z;
}

size_t exec_memory(const struct plan *const *plans, int n_plans, int threads, uint32_t max_out)
{
    const struct sizes z = sizes_of(plans, n_plans, threads, max_out);
    return z.scratch + (size_t)threads * z.thread + z.partials * sizeof(struct logit_partial) + z.approx * sizeof(struct approx_row) +
           z.ops * sizeof(int64_t) + z.attn_partials * sizeof(float) + z.attn_done * sizeof(uint32_t);
}

int exec_open(struct exec *x, struct arena *a, const struct kern *k, steno_team *team, const struct plan *const *plans, int n_plans,
              uint32_t max_out, steno_error *e)
{
    memset(x, 0, sizeof *x);
    const size_t threads = (size_t)team_threads(team);
    const struct sizes z = sizes_of(plans, n_plans, (int)threads, max_out);
    x->kern = k;
    x->team = team;
    x->max_out = max_out;
    x->scratch_sz = z.scratch;
    x->thread_scratch_sz = z.thread;
    x->n_attn_partials = z.attn_partials ? threads * ATTN_PARTIALS : 0;
    x->attn_partials = arena_array(a, z.attn_partials, sizeof *x->attn_partials);
    x->attn_done = arena_array(a, z.attn_done, sizeof *x->attn_done);
    x->n_attn_done = z.attn_done;
    x->n_approx = z.approx;
    x->partials = arena_array(a, z.partials, sizeof *x->partials);
    x->approx = arena_array(a, z.approx, sizeof *x->approx);
    x->counter = arena_array(a, z.ops, sizeof *x->counter);
    x->scratch = os_pages_alloc(z.scratch);
    x->thread_scratch = os_pages_alloc(threads * z.thread);
    if (x->partials && x->approx && x->counter && x->attn_partials && x->attn_done && x->scratch && x->thread_scratch) return STENO_OK;
    exec_close(x);
    return err_nomem(e, z.scratch + threads * z.thread, "scratch");
}

void exec_close(struct exec *x)
{
    if (x->scratch) os_pages_free(x->scratch, x->scratch_sz);
    if (x->thread_scratch) os_pages_free(x->thread_scratch, (size_t)team_threads(x->team) * x->thread_scratch_sz);
    x->scratch = x->thread_scratch = NULL;
}

struct room exec_room(const struct exec *x, const struct plan *p)
{
    return (struct room){ p->max_rows, out_of(p, x->max_out) };
}

/* Rows that nobody has room for would be written past what is there. */
static int fits(const struct exec *x, const struct plan *p, const struct run *run, uint32_t n_rows)
{
    const struct room room = exec_room(x, p);
    return n_rows <= room.rows && (!run || (run->n_rows <= run->room.rows && run->n_out <= room.out && run->n_out <= run->room.out));
}

float *exec_slot(const struct exec *x, const struct plan *p, uint16_t slot)
{
    return slot_row0(x, p, slot);
}

const float *exec_logits(const struct exec *x, const struct plan *p, uint32_t out)
{
    return slot_row0(x, p, p->logits) + (size_t)out * p->slot[p->logits].ld;
}

/* ---- replaying */

/* Thread 0 between ops: the only place where a run ends early. */
static void ask_stop(struct replay *rp, int64_t op)
{
    if (rp->x->should_stop && rp->x->should_stop(rp->x->user)) atomic_store(&rp->x->stop, 1);
    if (!atomic_load(&rp->x->stop)) return;
    rp->status = STENO_ECANCELED;
    atomic_store(&rp->stop, op); /* a slower thread may still be looking at an earlier number */
}

/* Thread 0 after a replay of a chain: lanes hold what the rows wrote; the tokens chosen are the next rows. */
static void next_step(struct replay *rp)
{
    struct run *r = rp->run;
    for (uint32_t i = 0; i < r->n_rows; i++) r->lane[r->row[i].lane].kv_len = r->row[i].pos + 1;
    if (!rp->ran++) rp->split_ns = os_now_ns();
    rp->more = 0;
    if (rp->status) return;
    if (rp->x->next) {
        if (!rp->x->next(rp->x->user)) return;
    } else {
        if (rp->ran >= rp->steps) return;
        run_advance(r);
    }
    if (!r->n_rows || r->n_rows > r->room.rows) {
        rp->status = r->n_rows ? STENO_EARG : rp->status;
        return;
    }
    struct kv_state *state = &rp->x->state[0];
    state->n_copies = 0;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        const struct row *row = &r->row[i];
        if (state_prepare_later(state, row->lane, (uint32_t)row->pos)) r->lane[row->lane].done = 1;
    }
    atomic_store_explicit(&rp->x->copied, 0, memory_order_relaxed);
    run_prepare(r);
    if (!fits(rp->x, rp->p, r, r->n_rows)) {
        rp->status = STENO_EARG;
        return;
    }
    rp->n_rows = r->n_rows;
    rp->more = 1;
}

/* Blocks that lanes of the next replay will write and others go on reading. The barrier behind the first op, an OP_EMBED that looks at no
 * state, is the one that stands behind this, too. */
static void copy_blocks(const struct replay *rp)
{
    const struct kv_state *s = &rp->x->state[0];
    const int64_t layers = s->desc.layers;
    const struct worker own = { .x = rp->x, .counter = &rp->x->copied }, *worker = &own;
    FOR_ITEMS(i, s->n_copies * layers) state_copy_layer(s, (uint32_t)(i / layers), (uint32_t)(i % layers));
}

/* Op `at` on one thread, until no items are left. */
static void run_op(const struct replay *rp, uint16_t at, int thread, int threads)
{
    const struct op *op = &rp->p->op[at];
    const int is_long = op->kind == OP_LINEAR || op->kind == OP_LOGITS_APPROX || op->kind == OP_ATTN; /* an item may take milliseconds */
    const struct worker worker = { rp->x, &rp->x->counter[at], is_long && !thread && rows_of(rp, op) > FEW_ROWS, threads,
                                   rp->x->thread_scratch + (size_t)thread * rp->x->thread_scratch_sz };
    op_run(rp, op, &worker);
}

static void replay_thread(void *arg, int thread)
{
    struct replay *rp = arg;
    const int threads = team_threads(rp->team);
    int64_t n = 0;
    do {
        for (uint16_t at = rp->first; at < rp->last; at++, n++) {
            const int64_t t0 = rp->time && !thread ? os_now_ns() : 0;
            if (!thread && at == rp->split && !rp->split_ns) rp->split_ns = os_now_ns();
            if (rp->x->filter && rp->p->op[at].kind == OP_LOGITS_REDUCE) {
                if (!thread) logits_filter(rp);
                team_barrier(rp->team);
            }
            run_op(rp, at, thread, threads);
            if (!thread) ask_stop(rp, n);
            team_barrier(rp->team);
            if (!thread) atomic_store_explicit(&rp->x->counter[at], 0, memory_order_relaxed);
            if (rp->time && !thread) {
                rp->time[at].ns += os_now_ns() - t0;
                rp->time[at].calls++;
            }
            if (atomic_load(&rp->stop) <= n) return;
        }
        if (!rp->steps) return;
        if (!thread) next_step(rp);
        team_barrier(rp->team);
        if (rp->more) copy_blocks(rp);
    } while (rp->more);
}

/* A run that ended within an op may leave partials that nobody has put together. */
static void partials_forget(struct exec *x)
{
    for (size_t i = 0; i < x->n_attn_done; i++) atomic_store_explicit(&x->attn_done[i], 0, memory_order_relaxed);
    for (size_t i = 0; i < x->n_approx; i++) atomic_store_explicit(&x->approx[i].slices, 0, memory_order_relaxed);
}

static int replay(struct replay *rp, struct run_time *spent)
{
    const cpu_fpenv fp = cpu_fpenv_enter();
    const int64_t t0 = os_now_ns();
    rp->x->runs++;
    atomic_store(&rp->stop, INT64_MAX);
    team_run(rp->team = team_here(rp->x->team), replay_thread, rp);
    const int64_t t1 = os_now_ns(), split = rp->split_ns ? rp->split_ns : t1;
    *spent = (struct run_time){ split - t0, t1 - split };
    if (rp->status) partials_forget(rp->x);
    cpu_fpenv_leave(fp);
    return rp->status;
}

int exec_phases(struct exec *x, const struct plan *p, int first, int end, struct run *run, uint32_t n_rows, struct op_time *time,
                struct run_time *spent)
{
    struct replay rp = { .x = x, .p = p, .run = run, .time = time, .n_rows = n_rows, .first = p->phase[first].first,
                         .last = p->phase[end - 1].last, .split = p->phase[first].last };
    *spent = (struct run_time){ 0 };
    return fits(x, p, run, n_rows) ? replay(&rp, spent) : STENO_EARG;
}

int exec_chain(struct exec *x, const struct plan *p, struct run *run, int steps, int *ran, struct op_time *time, struct run_time *spent)
{
    *ran = 0;
    *spent = (struct run_time){ 0 };
    if (run->n_rows > run->room.rows) return STENO_EARG;
    for (uint32_t i = 0; i < run->n_rows; i++) {
        const struct row *row = &run->row[i];
        if (state_prepare(&x->state[0], row->lane, (uint32_t)row->pos, (uint32_t)row->pos + 1)) return STENO_EARG;
    }
    run_prepare(run);
    if (!fits(x, p, run, run->n_rows)) return STENO_EARG;
    struct replay rp = { .x = x, .p = p, .run = run, .time = time, .n_rows = run->n_rows, .last = p->n_ops, .steps = steps,
                         .split = UINT16_MAX };
    const int rc = replay(&rp, spent);
    *ran = rp.ran;
    return rc;
}

void exec_choose(struct exec *x, const struct plan *p, struct run *run, uint32_t out)
{
    const struct replay rp = { .x = x, .p = p, .run = run };
    const cpu_fpenv fp = cpu_fpenv_enter();
    logits_choose(&rp, out);
    cpu_fpenv_leave(fp);
}
