/* steno: the executor on the CPU. SPDX-License-Identifier: MIT */
#include "plan/exec.h"
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/cpu.h"
#include "base/os.h"
#include "plan/cut.h"
#include "plan/screen.h"

enum {
    FEW_ROWS = 16,       /* up to here weights are streamed once for all rows: panels are cut finely */
    TILE_PANELS = 8,     /* panels of an item of a linear with many rows */
    ATTN_SHARED = 2,     /* with fewer heads of groups of rows than this for each thread, threads share them */
    ATTN_PARTS = 256,    /* partials for each thread that there is room for: then those are groups of 21 rows over 1500 keys */
    ROWS_ITEM = 32,      /* rows of an item of an element-wise op, where there are so many for each thread */
    SCORE_ROWS = 12,     /* rows of an item of weights of attention: a tile */
    STANDARD_FRAMES = 64 /* columns of an item where rows are compared */
};

/* One replay as the threads see it. */
struct walk {
    struct exec *x;
    steno_team *team;      /* that walks; NULL: the caller alone */
    const struct plan *p;
    struct run *run;
    struct op_time *time;
    uint32_t n_rows;       /* of this replay */
    uint16_t first, last;  /* ops [first, last) */
    int steps, ran;        /* chain: replays allowed and done */
    int more;              /* thread 0: another replay follows */
    int status;            /* thread 0's */
    uint16_t split;        /* thread 0 looks at the clock before this op of the first replay... */
    int64_t split_ns;      /* ...and leaves the time here */
    _Atomic int64_t stop;  /* number of the op, counted over all replays, after which all threads leave */
};

/* ---- set-up ---- */

static uint32_t slices_of(uint32_t n_vocab)
{
    return (n_vocab + SCAN_IDS - 1) / SCAN_IDS;
}

/* Rows of logits that a plan ever has, where there is room for most_out. */
static uint32_t out_of(const struct plan *p, uint32_t most_out)
{
    return p->logits == NO_SLOT ? 0 : p->max_out < most_out ? p->max_out : most_out;
}

static size_t parts_of(const struct plan *p, uint32_t most_out)
{
    return p->logits == NO_SLOT ? 0 : (size_t)3 * out_of(p, most_out) * slices_of(p->slot[p->logits].width);
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

struct sizes { size_t scratch, parts, screened, ops, thread, attn_part, attn_done; };

static struct sizes sizes_of(const struct plan *const *plans, int n_plans, int threads, uint32_t most_out)
{
    struct sizes z = { .thread = kern_linear_scratch() };
    for (int i = 0; i < n_plans; i++) {
        const size_t d_head = head_of(plans[i]);
        z.scratch = larger(z.scratch, scratch_of(plans[i], most_out));
        z.parts = larger(z.parts, parts_of(plans[i], most_out));
        z.screened = larger(z.screened, out_of(plans[i], most_out));
        z.ops = larger(z.ops, plans[i]->n_ops);
        if (d_head && threads > 1) z.attn_part = larger(z.attn_part, attn_partial_len(d_head));
        if (d_head) z.thread = larger(z.thread, kern_attn_scratch(d_head));
    }
    z.attn_part *= (size_t)threads * ATTN_PARTS;
    z.attn_done = z.attn_part ? (size_t)threads * ATTN_SHARED : 0;
    z.thread = (z.thread + 4095) & ~(size_t)4095;
    return z;
}

size_t exec_memory(const struct plan *const *plans, int n_plans, int threads, uint32_t most_out)
{
    const struct sizes z = sizes_of(plans, n_plans, threads, most_out);
    return z.scratch + (size_t)threads * z.thread + z.parts * sizeof(struct logit_partial) + z.screened * sizeof(struct screened) +
           z.ops * sizeof(int64_t) + z.attn_part * sizeof(float) + z.attn_done * sizeof(uint32_t);
}

int exec_open(struct exec *x, struct arena *a, const struct kern *k, steno_team *team, const struct plan *const *plans, int n_plans,
              uint32_t most_out, steno_error *e)
{
    memset(x, 0, sizeof *x);
    const size_t threads = (size_t)team_threads(team);
    const struct sizes z = sizes_of(plans, n_plans, (int)threads, most_out);
    x->kern = k;
    x->team = team;
    x->most_out = most_out;
    x->scratch_sz = z.scratch;
    x->thread_scratch_sz = z.thread;
    x->attn_part_n = z.attn_part ? threads * ATTN_PARTS : 0;
    x->attn_part = arena_array(a, z.attn_part, sizeof *x->attn_part);
    x->attn_done = arena_array(a, z.attn_done, sizeof *x->attn_done);
    x->attn_done_n = z.attn_done;
    x->screened_n = z.screened;
    x->parts = arena_array(a, z.parts, sizeof *x->parts);
    x->screened = arena_array(a, z.screened, sizeof *x->screened);
    x->counter = arena_array(a, z.ops, sizeof *x->counter);
    x->scratch = os_pages_alloc(z.scratch);
    x->thread_scratch = os_pages_alloc(threads * z.thread);
    if (x->parts && x->screened && x->counter && x->attn_part && x->attn_done && x->scratch && x->thread_scratch) return STENO_OK;
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
    return (struct room){ p->max_rows, out_of(p, x->most_out) };
}

/* Rows that nobody has room for would be written past what is there. */
static int fits(const struct exec *x, const struct plan *p, const struct run *run, uint32_t n_rows)
{
    const struct room most = exec_room(x, p);
    return n_rows <= most.rows && (!run || (run->n_rows <= run->room.rows && run->n_out <= most.out && run->n_out <= run->room.out));
}

float *exec_slot(const struct exec *x, const struct plan *p, uint16_t slot)
{
    const struct slot *s = &p->slot[slot];
    return (float *)(void *)(x->scratch + s->offset) + (size_t)s->front * s->ld;
}

const float *exec_logits(const struct exec *x, const struct plan *p, uint32_t out)
{
    return exec_slot(x, p, p->logits) + (size_t)out * p->slot[p->logits].ld;
}

/* ---- ops, item by item ---- */

static uint32_t rows_of(const struct walk *w, const struct op *op)
{
    return op->rows == ROWS_TWICE ? 2 * w->n_rows : op->rows == ROWS_OUT ? w->run->n_out : w->n_rows;
}

/* Keys and values of one head: in the state, or in a slot of this run. */
static struct kv_view view_of(const struct walk *w, const struct op *op, uint32_t head, uint16_t lane, enum kv_type *type)
{
    const struct exec *x = w->x;
    if (op->state != NO_STATE) {
        const struct kv_state *s = &x->state[op->state];
        const uint32_t l = s->desc.kind == STATE_APPEND || !w->run ? lane : w->run->lane[lane].window;
        *type = s->type;
        return state_view(s, op->layer, head, l);
    }
    const struct slot *s = &w->p->slot[op->kv_slot];
    *type = (enum kv_type)s->kv_type;
    const size_t block = kv_block_sz(*type, s->d_head);
    return (struct kv_view){ x->scratch + s->offset + head * (s->rows / KV_BLOCK) * block, block, NULL };
}

static void do_embed(const struct walk *w, const struct op *op, uint32_t r)
{
    const struct bind *c = &w->p->bind[op->bind];
    const struct slot *s = &w->p->slot[op->out];
    const struct row *row = &w->run->row[r];
    float *y = exec_slot(w->x, w->p, op->out) + (size_t)r * s->ld;
    w->x->kern->embed[c->type](y, c->w, (size_t)row->token, c->k);
    if (c->table) w->x->kern->add(y, y, c->table + (size_t)row->pos * c->k, c->k);
}

static void do_norm(const struct walk *w, const struct op *op, uint32_t from, uint32_t to)
{
    const struct bind *c = &w->p->bind[op->bind];
    const size_t ld_y = w->p->slot[op->out].ld, ld_x = w->p->slot[op->in].ld;
    float *y = exec_slot(w->x, w->p, op->out);
    const float *x = exec_slot(w->x, w->p, op->in);
    for (uint32_t r = from; r < to; r++) {
        const size_t src = op->rows == ROWS_OUT ? w->run->out_row[r] : r;
        w->x->kern->norm_layer(y + r * ld_y, x + src * ld_x, c->gain, c->bias, c->eps, c->k);
    }
}

static void do_scale(const struct walk *w, const struct op *op, uint32_t from, uint32_t to)
{
    const struct bind *c = &w->p->bind[op->bind];
    const size_t ld_y = w->p->slot[op->out].ld, ld_x = w->p->slot[op->in].ld;
    float *y = exec_slot(w->x, w->p, op->out);
    const float *x = exec_slot(w->x, w->p, op->in);
    for (uint32_t r = from; r < to; r++) {
        const size_t src = op->rows == ROWS_OUT ? w->run->out_row[r] : r;
        w->x->kern->scale(y + r * ld_y, x + src * ld_x, c->scale, c->table ? c->table + src * c->n : NULL, c->n);
    }
}

static void do_act(const struct walk *w, const struct op *op, uint32_t from, uint32_t to)
{
    const struct bind *c = &w->p->bind[op->bind];
    const size_t ld_y = w->p->slot[op->out].ld, ld_x = w->p->slot[op->in].ld;
    for (uint32_t r = from; r < to; r++) {
        float *y = exec_slot(w->x, w->p, op->out) + r * ld_y;
        const float *x = exec_slot(w->x, w->p, op->in) + r * ld_x;
        if (c->bias) w->x->kern->add(y, x, c->bias, c->n);
        w->x->kern->act[c->act](y, c->bias ? y : x, c->n);
    }
}

static void do_add(const struct walk *w, const struct op *op, uint32_t from, uint32_t to)
{
    const struct bind *c = &w->p->bind[op->bind];
    const size_t ld_y = w->p->slot[op->out].ld, ld_x = w->p->slot[op->in].ld;
    const size_t ld_a = op->aux == NO_SLOT ? c->n : w->p->slot[op->aux].ld;
    const float *x = exec_slot(w->x, w->p, op->in), *a = op->aux == NO_SLOT ? c->table : exec_slot(w->x, w->p, op->aux);
    for (uint32_t r = from; r < to; r++) w->x->kern->add(exec_slot(w->x, w->p, op->out) + r * ld_y, x + r * ld_x, a + r * ld_a, c->n);
}

static void do_softmax(const struct walk *w, const struct op *op, uint32_t from, uint32_t to)
{
    const size_t ld_y = w->p->slot[op->out].ld, ld_x = w->p->slot[op->in].ld;
    float *y = exec_slot(w->x, w->p, op->out);
    const float *x = exec_slot(w->x, w->p, op->in);
    for (uint32_t r = from; r < to; r++) w->x->kern->softmax(y + r * ld_y, x + r * ld_x, w->p->slot[op->in].width);
}

/* Row t of what a filter reads, for one head: rows of the slot, values of this run, what the state kept of earlier rows, or nothing. */
static const float *fsmn_row(const struct walk *w, const struct op *op, uint32_t head, int64_t t)
{
    const struct bind *c = &w->p->bind[op->bind];
    const size_t at = (size_t)head * c->d_head;
    if (t >= (int64_t)w->n_rows) return NULL;
    if (t < 0) {
        if (op->state == NO_STATE) return NULL;
        const struct kv_state *s = &w->x->state[op->state];
        const int64_t i = (int64_t)s->desc.positions + t;
        return i < 0 ? NULL : state_rows(s, op->layer, w->x->window) + (size_t)i * c->n + at;
    }
    if (op->in != NO_SLOT) return exec_slot(w->x, w->p, op->in) + (size_t)t * w->p->slot[op->in].ld + at;
    enum kv_type type;
    const struct kv_view v = view_of(w, op, head, 0, &type); /* keys first, then values [KV_BLOCK, d_head] */
    const float *block = (const float *)(const void *)((const char *)v.base + (size_t)t / KV_BLOCK * v.block_stride);
    return block + ((size_t)KV_BLOCK + (size_t)t % KV_BLOCK) * c->d_head;
}

static void do_fsmn(const struct walk *w, const struct op *op, uint32_t from, uint32_t to)
{
    const struct plan *p = w->p;
    const struct bind *c = &p->bind[op->bind];
    const float *x[FSMN_TAPS];
    struct fsmn f = { .x = x, .taps = c->taps, .left = c->left, .n = c->d_head };
    for (uint32_t head = 0; head < c->heads; head++) {
        const size_t at = (size_t)head * c->d_head;
        f.w = c->table + (size_t)head * c->taps * c->d_head;
        for (uint32_t r = from; r < to; r++) {
            for (uint32_t j = 0; j < c->taps; j++) x[j] = fsmn_row(w, op, head, (int64_t)r - c->left + j);
            f.y = exec_slot(w->x, p, op->out) + (size_t)r * p->slot[op->out].ld + at;
            f.add = op->aux == NO_SLOT ? NULL : exec_slot(w->x, p, op->aux) + (size_t)r * p->slot[op->aux].ld + at;
            w->x->kern->fsmn(&f);
        }
    }
}

/* The state's rows move up to make room for the newest. */
static void do_keep(const struct walk *w, const struct op *op, uint32_t rows, uint32_t lane)
{
    const struct kv_state *s = &w->x->state[op->state];
    const struct slot *in = &w->p->slot[op->in];
    const size_t n = s->desc.positions, width = (size_t)s->desc.heads * s->desc.d_head, held = rows < n ? n - rows : 0;
    float *to = state_rows(s, op->layer, w->x->window + lane);
    memmove(to, to + (n - held) * width, held * width * sizeof *to);
    for (size_t i = held; i < n; i++)
        memcpy(to + i * width, exec_slot(w->x, w->p, op->in) + (rows - n + i) * in->ld, width * sizeof *to);
}

static void do_rows(const struct walk *w, const struct op *op, uint32_t from, uint32_t to)
{
    if (op->kind == OP_NORM) do_norm(w, op, from, to);
    else if (op->kind == OP_SCALE) do_scale(w, op, from, to);
    else if (op->kind == OP_FSMN) do_fsmn(w, op, from, to);
    else if (op->kind == OP_ACT) do_act(w, op, from, to);
    else if (op->kind == OP_ADD) do_add(w, op, from, to);
    else do_softmax(w, op, from, to);
}

static struct linear linear_of(const struct walk *w, const struct op *op)
{
    const struct plan *p = w->p;
    const struct bind *c = &p->bind[op->bind];
    const struct slot *in = &p->slot[op->in];
    struct linear l = { .w = c->w, .bias = c->bias, .n = c->n, .k = c->k, .n_y = c->n_y, .n_kv = c->n_kv, .act = c->act,
                        .d_head = c->d_head, .x = exec_slot(w->x, p, op->in), .ld_x = in->ld };
    if (op->flags & OPF_CONV) {
        l.x -= in->ld;
        l.ld_x = (size_t)c->stride * in->ld;
    }
    if (op->out != NO_SLOT) {
        l.y = exec_slot(w->x, p, op->out) + op->head;
        l.ld_y = p->slot[op->out].ld;
    }
    if (op->aux != NO_SLOT) {
        l.res = exec_slot(w->x, p, op->aux);
        l.ld_res = p->slot[op->aux].ld;
    } else if (c->table) {
        l.res = c->table;
        l.ld_res = c->n;
    }
    if (c->n_y < c->n) {
        enum kv_type type;
        l.kv = view_of(w, op, 0, w->x->window, &type);
        l.kv_type = (uint8_t)type;
        l.kv_head_sz = op->state != NO_STATE ? w->x->state[op->state].head_sz
                                             : w->p->slot[op->kv_slot].rows / KV_BLOCK * l.kv.block_stride;
    }
    return l;
}

/* How an attention is cut: groups of rows that see the same keys, of each all heads, of each all keys or blocks of them. */
struct attn_items {
    uint32_t high, groups, heads, blocks, n; /* high: rows of a group where this run's rows are each other's keys */
    uint32_t ahead;                          /* from an item to the one that its thread is likely to take next */
};

/* A group of rows and a head. */
struct unit { struct group g; uint32_t head; };

/* Where rows are each other's keys, those of a head stay in the second-level cache for all groups, one after the other. Elsewhere each
 * group has keys of its own. */
static struct unit unit_of(const struct walk *w, const struct op *op, const struct attn_items *t, uint32_t i)
{
    if (op->state != NO_STATE) {
        const struct group *g = op->flags & OPF_CAUSAL ? w->run->self : w->run->cross;
        return (struct unit){ g[i / t->heads], i % t->heads };
    }
    const uint32_t row = i % t->groups * t->high, left = w->n_rows - row;
    return (struct unit){ { (uint16_t)row, (uint16_t)(left < t->high ? left : t->high), 0 }, i / t->groups };
}

/* Blocks of keys are items of their own where heads of groups are not enough for the threads, and partials have room. */
static struct attn_items attn_items_of(const struct walk *w, const struct op *op, uint32_t rows, int threads)
{
    struct attn_items t = { .heads = w->p->bind[op->bind].heads, .blocks = 1, .ahead = (uint32_t)threads };
    const int causal = op->flags & OPF_CAUSAL, own = op->state == NO_STATE;
    const int32_t keys = own ? (int32_t)w->n_rows : causal ? w->run->self_most : w->run->cross_most;
    const size_t blocks = ((size_t)keys + ATTN_KEYS - 1) / ATTN_KEYS;
    if (own) {
        t.high = (uint32_t)cut_heads(rows, ATTN_TILE, t.heads, threads);
        t.groups = (rows + t.high - 1) / t.high;
    } else t.groups = causal ? w->run->n_self : w->run->n_cross;
    if (blocks > 1 && t.groups * t.heads < (uint32_t)threads * ATTN_SHARED && rows * t.heads * blocks <= w->x->attn_part_n)
        t.blocks = (uint32_t)blocks;
    t.n = t.groups * t.heads * t.blocks;
    return t;
}

/* The keys and values of this run's rows, as far as they lie in block b of `blocks`: nobody else reads or writes that one. */
static void put_rows(const struct walk *w, const struct op *op, const struct attn *a, enum kv_type type, struct group g, uint32_t b,
                     uint32_t blocks)
{
    const size_t n = w->p->bind[op->bind].n;
    for (uint32_t r = 0; r < g.n; r++) {
        const uint32_t pos = (uint32_t)w->run->row[g.row + r].pos;
        const float *k = a->q + r * a->ld_q + n;
        if (blocks == 1 || pos / ATTN_KEYS == b) w->x->kern->kv_put[type](&a->kv, pos, k, k + n, a->d_head);
    }
}

/* Where the keys of an item begin; NULL: they do not lie one behind the other, or there is no such item. */
static const void *keys_of(const struct walk *w, const struct op *op, const struct attn_items *t, uint32_t item)
{
    enum kv_type type;
    if (item >= t->n) return NULL;
    const struct unit u = unit_of(w, op, t, item / t->blocks);
    const struct kv_view v = view_of(w, op, u.head, u.g.lane, &type);
    return v.table ? NULL : (const char *)v.base + item % t->blocks * (ATTN_KEYS / KV_BLOCK) * v.block_stride;
}

/* A group of rows of one head, over all keys or over one block of them. */
static void do_attn(const struct walk *w, const struct op *op, const struct attn_items *t, uint32_t item, void *scratch)
{
    const struct plan *p = w->p;
    const struct bind *c = &p->bind[op->bind];
    const struct kern *kern = w->x->kern;
    const uint32_t unit = item / t->blocks, b = item % t->blocks;
    const struct unit u = unit_of(w, op, t, unit);
    const struct group g = u.g;
    const int32_t *len = op->state == NO_STATE ? NULL : op->flags & OPF_CAUSAL ? w->run->self_len : w->run->cross_len;
    const size_t ld_q = p->slot[op->in].ld, ld_out = p->slot[op->out].ld, at = (size_t)u.head * c->d_head;
    enum kv_type type;
    const struct attn a = { .out = exec_slot(w->x, p, op->out) + g.row * ld_out + at, .ld_out = ld_out,
                            .q = exec_slot(w->x, p, op->in) + g.row * ld_q + at, .ld_q = ld_q,
                            .kv = view_of(w, op, u.head, g.lane, &type), .len = len ? len + g.row : NULL, .n_keys = (int32_t)w->n_rows,
                            .rows = g.n, .d_head = c->d_head, .scale = c->scale,
                            .next = keys_of(w, op, t, item + t->ahead) };
    if (op->flags & OPF_WRITE_KV) put_rows(w, op, &a, type, g, b, t->blocks);
    if (t->blocks == 1) {
        kern->attn[type](&a, scratch);
        return;
    }
    const size_t part_len = attn_partial_len(c->d_head), row_len = t->heads * t->blocks * part_len;
    float *part = w->x->attn_part + g.row * row_len + u.head * t->blocks * part_len;
    kern->attn_partial[type](&a, b, part + b * part_len, row_len, scratch);
    if (atomic_fetch_add(&w->x->attn_done[unit], 1) + 1 < t->blocks) return;
    atomic_store_explicit(&w->x->attn_done[unit], 0, memory_order_relaxed);
    kern->attn_merge(&a, part, row_len, t->blocks);
}

/* ---- attention of single heads over the frames, for alignment */
static void do_score(const struct walk *w, const struct op *op, uint32_t from, uint32_t n, void *scratch)
{
    const struct plan *p = w->p;
    const struct bind *c = &p->bind[op->bind];
    const size_t ld_q = p->slot[op->in].ld, ld_out = p->slot[op->out].ld;
    enum kv_type type;
    const struct attn a = { .out = exec_slot(w->x, p, op->out) + from * ld_out, .ld_out = ld_out,
                            .q = exec_slot(w->x, p, op->in) + from * ld_q + (size_t)op->head * c->d_head, .ld_q = ld_q,
                            .kv = view_of(w, op, op->head, w->run->row[from].lane, &type), .n_keys = (int32_t)w->run->frames,
                            .rows = n, .d_head = c->d_head, .scale = c->scale };
    w->x->kern->attn_weights[type](&a, scratch);
}

static void do_standard(const struct walk *w, const struct op *op, uint32_t from, uint32_t n)
{
    w->x->kern->zscore(exec_slot(w->x, w->p, op->out) + from, w->p->slot[op->out].ld, w->n_rows, n);
}

static void do_median(const struct walk *w, const struct op *op, uint32_t r)
{
    const struct plan *p = w->p;
    const size_t at = (size_t)r * p->slot[op->out].ld; /* both slots are as wide as there are frames */
    const float *add = op->aux == NO_SLOT ? NULL : exec_slot(w->x, p, op->aux) + at;
    w->x->kern->median(exec_slot(w->x, p, op->out) + at, exec_slot(w->x, p, op->in) + at, add, p->bind[op->bind].scale, w->run->frames);
}

/* ---- logits in two stages, see screen.h */
/* Bounds, and what they rest on, are made by whoever is free: rows in OP_LOGITS_APPROX, slices in OP_BOUND; whoever makes the last slice
 * of a row
 * finds what its best ids are at least.
 *
 * Where nothing is wanted of the out-th row but its most probable ids, how many; 0: all logits are. */
static int n_screened(const struct walk *w, size_t out)
{
    const struct row *row = &w->run->row[w->run->out_row[out]];
    const struct lane *l = &w->run->lane[row->lane];
    if (l->adjust || (row->flags != ROW_SAMPLE && row->flags != ROW_TOPK) || l->rules->temperature != 0) return 0;
    return row->flags == ROW_SAMPLE ? 1 + l->weigh : l->topk <= SCREEN_TOP ? l->topk : 0;
}

static float *bounds_of(const struct walk *w, size_t out)
{
    return exec_slot(w->x, w->p, w->p->bounds) + out * w->p->slot[w->p->bounds].ld;
}

static void do_screened(const struct walk *w, const struct op *op, uint32_t out)
{
    struct screened *s = &w->x->screened[out];
    s->n = n_screened(w, out);
    const struct bind *c = &w->p->bind[op->bind];
    if (s->n) s->x = screen_row_of(c->type, exec_slot(w->x, w->p, op->in) + out * (size_t)w->p->slot[op->in].ld, c->k);
}

static void do_bound(const struct walk *w, const struct op *op, uint32_t out, uint32_t slice, uint32_t slices)
{
    struct screened *s = &w->x->screened[out];
    if (!s->n) return;
    const struct plan *p = w->p;
    const struct bind *c = &p->bind[op->bind];
    const struct logit_range g = pick_range_of(&w->run->lane[w->run->row[w->run->out_row[out]].lane]);
    const size_t panels = pack_panels(c->n), p0 = (size_t)slice * SCREEN_PANELS;
    float *most = bounds_of(w, out), *least = most + panels;
    screen_bounds(most, least + slice * SCREEN_TOP, s->n, exec_logits(w->x, p, out), c->screen, s->x, &g, p0,
                  p0 + SCREEN_PANELS < panels ? p0 + SCREEN_PANELS : panels, w->x->kern);
    if (atomic_fetch_add(&s->slices, 1) + 1 < slices) return;
    atomic_store_explicit(&s->slices, 0, memory_order_relaxed);
    s->least = screen_least(least, slices, s->n);
}

/* Is panel p of the out-th row's logits wanted from the stored weights? */
static int is_wanted(const struct walk *w, size_t out, size_t p)
{
    const struct screened *s = &w->x->screened[out];
    return !s->n || screen_wants(bounds_of(w, out)[p], s->least);
}

/* Part of [a, b) that lies in the slice. */
static void scan_range(const struct walk *w, struct logit_partial *part, const float *x, const uint32_t *mask, int32_t a, int32_t b,
                       int32_t lo, int32_t hi)
{
    const int32_t from = a > lo ? a : lo, to = b < hi ? b : hi;
    *part = (struct logit_partial){ -INFINITY, 0, -1 };
    if (from < to) w->x->kern->logits_reduce(part, x + from, mask, from, (size_t)(to - from));
}

static void do_scan(const struct walk *w, uint32_t item, uint32_t slices)
{
    const uint32_t out = item / slices, slice = item % slices;
    const int32_t n = (int32_t)w->p->slot[w->p->logits].width, lo = (int32_t)slice * SCAN_IDS, hi = lo + SCAN_IDS;
    const struct row *row = &w->run->row[w->run->out_row[out]];
    const float *x = exec_logits(w->x, w->p, out);
    struct logit_partial *part = &w->x->parts[(size_t)item * 3];
    if (row->flags & (ROW_SAMPLE | ROW_TOPK)) {
        const struct logit_range g = pick_range_of(&w->run->lane[row->lane]);
        scan_range(w, &part[0], x, g.mask, g.text_from, g.text_to, lo, hi);
        scan_range(w, &part[1], x, g.mask, g.ts_from, g.ts_to, lo, hi);
    }
    if (row->flags & ROW_PROB) scan_range(w, &part[2], x, NULL, 0, n, lo, hi);
    if (row->flags & ROW_BEST) scan_range(w, &part[2], x, w->run->mask, 0, n, lo, hi);
    if (row->flags & ROW_GIVEN) scan_range(w, &part[2], x, NULL, 0, w->run->given_end < n ? w->run->given_end : n, lo, hi);
}

static void do_prob(const struct walk *w, uint32_t out, uint32_t slices)
{
    struct lane *l = &w->run->lane[w->run->row[w->run->out_row[out]].lane];
    const struct logit_partial all = logits_merge(&w->x->parts[(size_t)out * slices * 3 + 2], slices, 3);
    l->prob = all.arg < 0 ? NAN : (float)(exp((double)exec_logits(w->x, w->p, out)[l->prob_id] - all.max) / all.sum);
}

/* What a caller wrote into logits must still have an order. */
static void tame(float *x, size_t n)
{
    for (size_t i = 0; i < n; i++) x[i] = x[i] > FLT_MAX ? FLT_MAX : x[i] >= -FLT_MAX ? x[i] : -INFINITY;
}

/* A probability asked for beside a choice is that of the logits as they were. */
static void filter_row(const struct walk *w, uint32_t out)
{
    const size_t n = w->p->slot[w->p->logits].width;
    const uint32_t slices = slices_of((uint32_t)n);
    struct row *row = &w->run->row[w->run->out_row[out]];
    float *x = exec_slot(w->x, w->p, w->p->logits) + out * (size_t)w->p->slot[w->p->logits].ld;
    if (!(row->flags & (ROW_SAMPLE | ROW_TOPK)) || !w->run->lane[row->lane].adjust) return;
    if (row->flags & ROW_PROB) {
        for (uint32_t i = 0; i < slices; i++) do_scan(w, out * slices + i, slices);
        do_prob(w, out, slices);
        row->flags &= (uint16_t)~ROW_PROB;
    }
    w->x->filter(w->x->user, row->lane, x);
    tame(x, n);
}

static void do_pick(const struct walk *w, uint32_t out, uint32_t slices)
{
    const struct row *row = &w->run->row[w->run->out_row[out]];
    struct lane *l = &w->run->lane[row->lane];
    const float *x = exec_logits(w->x, w->p, out);
    const struct logit_partial *part = &w->x->parts[(size_t)out * slices * 3];
    if (row->flags & ROW_PROB) do_prob(w, out, slices);
    if (row->flags & ROW_BEST) {
        const struct logit_partial all = logits_merge(part + 2, slices, 3);
        w->run->best[w->run->out_row[out]] = (struct best){ all.arg, all.arg < 0 ? -INFINITY : (float)-log(all.sum) };
    }
    if (row->flags & ROW_GIVEN) {
        const struct logit_partial all = logits_merge(part + 2, slices, 3);
        struct best *b = &w->run->best[w->run->out_row[out]];
        const int counts = all.arg >= 0 && b->id >= 0 && b->id < w->run->given_end;
        b->logprob = counts ? (float)((double)x[b->id] - all.max - log(all.sum)) : -INFINITY;
    }
    if (row->flags & (ROW_SAMPLE | ROW_TOPK)) {
        const struct logit_partial text = logits_merge(part, slices, 3), ts = logits_merge(part + 1, slices, 3);
        if (row->flags & ROW_SAMPLE) sample_token(l, &text, &ts, x, w->x->kern);
        else sample_topk(l, &text, &ts, x, w->x->kern);
    }
}

/* The zero rows around a padded slot; its bytes may have held something else since the last run. */
static void pad_rows(const struct walk *w, const struct op *op, uint32_t rows)
{
    const size_t ld = w->p->slot[op->out].ld;
    float *y = exec_slot(w->x, w->p, op->out);
    memset(y - ld, 0, ld * sizeof *y);
    memset(y + rows * ld, 0, ld * sizeof *y);
}

/* ---- walking ---- */

/* How a thread takes items of an op. */
struct taker { struct exec *x; _Atomic int64_t *counter; int asks; };

/* The next item of n; -1: there is none, or the run is to end. What was taken is always done, so whoever leaves because of that leaves
 * nothing behind that others believe done: thread 0 ends the run behind this op. */
static int64_t item_take(const struct taker *t, int64_t n)
{
    struct exec *x = t->x;
    if (t->asks && x->should_stop && x->should_stop(x->user)) atomic_store(&x->stop, 1);
    if (atomic_load_explicit(&x->stop, memory_order_relaxed)) return -1;
    const int64_t i = atomic_fetch_add_explicit(t->counter, 1, memory_order_relaxed);
    return i < n ? i : -1;
}

#define FOR_ITEMS(i, n) for (int64_t i; (i = item_take(&taker, (int64_t)(n))) >= 0;)

/* Panels [p0, p1) of rows [m0, m1): for OP_LOGITS_APPROX of the screened rows, else of the others, and of screened ones as far as they
 * are wanted.
 * Rows that stand beside each other go together. */
static void screened_linear(const struct walk *w, const struct op *op, const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1,
                            void *scratch)
{
    const struct bind *c = &w->p->bind[op->bind];
    struct linear part = *l;
    int screened = 0;
    for (size_t m = m0; m < m1 && op->kind == OP_LINEAR; m++) screened |= w->x->screened[m].n != 0;
    for (size_t p = p0, step; p < p1; p += step) {
        step = screened ? 1 : p1 - p0;
        for (size_t m = m0, end; m < m1; m = end + 1) {
            for (end = m; end < m1; end++)
                if (op->kind == OP_LINEAR ? !is_wanted(w, end, p) : !n_screened(w, end)) break;
            part.x_cached = l->x_cached && op->kind == OP_LOGITS_APPROX && m == m0 && end == m1; /* then the item before had all, too */
            if (m < end) w->x->kern->linear[c->type](&part, m, end, p, p + step, scratch);
        }
    }
}

static void run_linear(const struct walk *w, const struct op *op, struct taker taker, int threads, void *scratch)
{
    const struct bind *c = &w->p->bind[op->bind];
    struct linear l = linear_of(w, op);
    const size_t rows = rows_of(w, op), panels = pack_panels(c->n);
    const int narrow = packed_is_lowp((enum packed_type)c->type); /* whoever takes rows narrows them: all panels at once */
    if (!rows) return;
    const struct cut cut = rows <= FEW_ROWS ? cut_few(rows, panels, threads)
                                            : cut_many(rows, panels, threads, kern_slices(w->x->kern, (enum packed_type)c->type, c->k),
                                                       narrow ? panels : TILE_PANELS, narrow);
    const size_t across = (panels + cut.panels - 1) / cut.panels, down = (rows + cut.rows - 1) / cut.rows;
    size_t before = SIZE_MAX; /* rows of the item before */
    FOR_ITEMS(i, across * down) {
        const size_t m = (size_t)i / across * cut.rows, p = (size_t)i % across * cut.panels;
        l.x_cached = m == before;
        before = m;
        for (size_t r = (size_t)i; op->kind == OP_LOGITS_APPROX && r < rows; r += across * down) do_screened(w, op, (uint32_t)r);
        if (!i && (op->flags & OPF_PADDED)) pad_rows(w, op, (uint32_t)rows);
        const size_t m1 = m + cut.rows < rows ? m + cut.rows : rows, p1 = p + cut.panels < panels ? p + cut.panels : panels;
        if (op->kind == OP_LOGITS_APPROX || op->flags & OPF_APPROX) screened_linear(w, op, &l, m, m1, p, p1, scratch);
        else w->x->kern->linear[c->type](&l, m, m1, p, p1, scratch);
    }
}

static void run_op(const struct walk *w, uint16_t at, int thread, int threads)
{
    const struct op *op = &w->p->op[at];
    void *scratch = w->x->thread_scratch + (size_t)thread * w->x->thread_scratch_sz;
    const uint32_t rows = rows_of(w, op);
    const int is_long = op->kind == OP_LINEAR || op->kind == OP_LOGITS_APPROX || op->kind == OP_ATTN; /* an item may take milliseconds */
    const struct taker taker = { w->x, &w->x->counter[at], is_long && !thread && rows > FEW_ROWS };
    switch ((enum op_kind)op->kind) {
    case OP_EMBED:
        FOR_ITEMS(i, rows) do_embed(w, op, (uint32_t)i);
        break;
    case OP_NORM:
    case OP_SCALE:
    case OP_FSMN:
    case OP_ACT:
    case OP_ADD:
    case OP_SOFTMAX:
        if (rows) {
            const uint32_t share = (rows + (uint32_t)threads - 1) / (uint32_t)threads, n = share < ROWS_ITEM ? share : ROWS_ITEM;
            FOR_ITEMS(i, (rows + n - 1) / n) {
                const uint32_t from = (uint32_t)i * n;
                do_rows(w, op, from, from + n < rows ? from + n : rows);
            }
        }
        break;
    case OP_SHIFT_STATE:
        FOR_ITEMS(i, 1) do_keep(w, op, rows, (uint32_t)i);
        break;
    case OP_LINEAR:
    case OP_LOGITS_APPROX:
        run_linear(w, op, taker, threads, scratch);
        break;
    case OP_ATTN: {
        const struct attn_items t = attn_items_of(w, op, rows, threads);
        FOR_ITEMS(i, t.n) do_attn(w, op, &t, (uint32_t)i, scratch);
        break;
    }
    case OP_ATTN_WEIGHTS:
        FOR_ITEMS(i, (rows + SCORE_ROWS - 1) / SCORE_ROWS) {
            const uint32_t from = (uint32_t)i * SCORE_ROWS;
            do_score(w, op, from, rows - from < SCORE_ROWS ? rows - from : SCORE_ROWS, scratch);
        }
        break;
    case OP_ZSCORE:
        FOR_ITEMS(i, (w->run->frames + STANDARD_FRAMES - 1) / STANDARD_FRAMES) {
            const uint32_t from = (uint32_t)i * STANDARD_FRAMES, left = w->run->frames - from;
            do_standard(w, op, from, left < STANDARD_FRAMES ? left : STANDARD_FRAMES);
        }
        break;
    case OP_MEDIAN_FILTER:
        FOR_ITEMS(i, rows) do_median(w, op, (uint32_t)i);
        break;
    case OP_LOGITS_BOUND: {
        const uint32_t slices = slices_of(w->p->bind[op->bind].n);
        FOR_ITEMS(i, rows * slices) do_bound(w, op, (uint32_t)i / slices, (uint32_t)i % slices, slices);
        break;
    }
    case OP_LOGITS_REDUCE: {
        const uint32_t slices = slices_of(w->p->slot[w->p->logits].width);
        FOR_ITEMS(i, rows * slices) do_scan(w, (uint32_t)i, slices);
        break;
    }
    case OP_SAMPLE:
        FOR_ITEMS(i, rows) do_pick(w, (uint32_t)i, slices_of(w->p->slot[w->p->logits].width));
        break;
    case OP_KINDS:
        break;
    }
}

/* Thread 0 between ops: the only place where a run ends early. */
static void ask_stop(struct walk *w, int64_t op)
{
    if (w->x->should_stop && w->x->should_stop(w->x->user)) atomic_store(&w->x->stop, 1);
    if (!atomic_load(&w->x->stop)) return;
    w->status = STENO_ECANCELED;
    atomic_store(&w->stop, op); /* a slower thread may still be looking at an earlier number */
}

/* Thread 0 after a replay of a chain: lanes hold what the rows wrote; the tokens chosen are the next rows. */
static void next_step(struct walk *w)
{
    struct run *r = w->run;
    for (uint32_t i = 0; i < r->n_rows; i++) r->lane[r->row[i].lane].kv_len = r->row[i].pos + 1;
    if (!w->ran++) w->split_ns = os_now_ns();
    w->more = 0;
    if (w->status) return;
    if (w->x->next) {
        if (!w->x->next(w->x->user)) return;
    } else {
        if (w->ran >= w->steps) return;
        run_advance(r);
    }
    if (!r->n_rows || r->n_rows > r->room.rows) {
        w->status = r->n_rows ? STENO_EARG : w->status;
        return;
    }
    struct kv_state *state = &w->x->state[0];
    state->n_copies = 0;
    for (uint32_t i = 0; i < r->n_rows; i++) {
        const struct row *row = &r->row[i];
        if (state_prepare_later(state, row->lane, (uint32_t)row->pos)) r->lane[row->lane].done = 1;
    }
    atomic_store_explicit(&w->x->copied, 0, memory_order_relaxed);
    run_prepare(r);
    if (!fits(w->x, w->p, r, r->n_rows)) {
        w->status = STENO_EARG;
        return;
    }
    w->n_rows = r->n_rows;
    w->more = 1;
}

/* Blocks that lanes of the next replay will write and others go on reading. The barrier behind the first op, an OP_EMBED that looks at no
 * state, is the one that stands behind this, too. */
static void copy_blocks(const struct walk *w)
{
    const struct kv_state *s = &w->x->state[0];
    const int64_t layers = s->desc.layers;
    const struct taker taker = { w->x, &w->x->copied, 0 };
    FOR_ITEMS(i, s->n_copies * layers) state_copy_layer(s, (uint32_t)(i / layers), (uint32_t)(i % layers));
}

static void walk_thread(void *arg, int thread)
{
    struct walk *w = arg;
    const int threads = team_threads(w->team);
    int64_t n = 0;
    do {
        for (uint16_t at = w->first; at < w->last; at++, n++) {
            const int64_t t0 = w->time && !thread ? os_now_ns() : 0;
            if (!thread && at == w->split && !w->split_ns) w->split_ns = os_now_ns();
            if (w->x->filter && w->p->op[at].kind == OP_LOGITS_REDUCE) {
                for (uint32_t out = 0; !thread && out < w->run->n_out; out++) filter_row(w, out);
                team_barrier(w->team);
            }
            run_op(w, at, thread, threads);
            if (!thread) ask_stop(w, n);
            team_barrier(w->team);
            if (!thread) atomic_store_explicit(&w->x->counter[at], 0, memory_order_relaxed);
            if (w->time && !thread) {
                w->time[at].ns += os_now_ns() - t0;
                w->time[at].calls++;
            }
            if (atomic_load(&w->stop) <= n) return;
        }
        if (!w->steps) return;
        if (!thread) next_step(w);
        team_barrier(w->team);
        if (w->more) copy_blocks(w);
    } while (w->more);
}

/* A run that ended within an op may leave parts that nobody has put together. */
static void parts_forget(struct exec *x)
{
    for (size_t i = 0; i < x->attn_done_n; i++) atomic_store_explicit(&x->attn_done[i], 0, memory_order_relaxed);
    for (size_t i = 0; i < x->screened_n; i++) atomic_store_explicit(&x->screened[i].slices, 0, memory_order_relaxed);
}

static int walk(struct walk *w, struct run_time *spent)
{
    const cpu_fpenv fp = cpu_fpenv_enter();
    const int64_t t0 = os_now_ns();
    w->x->runs++;
    atomic_store(&w->stop, INT64_MAX);
    team_run(w->team = team_here(w->x->team), walk_thread, w);
    const int64_t t1 = os_now_ns(), split = w->split_ns ? w->split_ns : t1;
    *spent = (struct run_time){ split - t0, t1 - split };
    if (w->status) parts_forget(w->x);
    cpu_fpenv_leave(fp);
    return w->status;
}

int exec_phases(struct exec *x, const struct plan *p, int first, int end, struct run *run, uint32_t n_rows, struct op_time *time,
                struct run_time *spent)
{
    struct walk w = { .x = x, .p = p, .run = run, .time = time, .n_rows = n_rows, .first = p->phase[first].first,
                      .last = p->phase[end - 1].last, .split = p->phase[first].last };
    *spent = (struct run_time){ 0 };
    return fits(x, p, run, n_rows) ? walk(&w, spent) : STENO_EARG;
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
    struct walk w = { .x = x, .p = p, .run = run, .time = time, .n_rows = run->n_rows, .last = p->n_ops, .steps = steps,
                      .split = UINT16_MAX };
    const int rc = walk(&w, spent);
    *ran = w.ran;
    return rc;
}

void exec_choose(struct exec *x, const struct plan *p, struct run *run, uint32_t out)
{
    const struct walk w = { .x = x, .p = p, .run = run };
    const uint32_t slices = slices_of(p->slot[p->logits].width);
    const cpu_fpenv fp = cpu_fpenv_enter();
    run->row[run->out_row[out]].flags = ROW_SAMPLE;
    if (x->filter) filter_row(&w, out);
    for (uint32_t i = 0; i < slices; i++) do_scan(&w, out * slices + i, slices);
    do_pick(&w, out, slices);
    cpu_fpenv_leave(fp);
}
