/* steno: the ops on the CPU. SPDX-License-Identifier: MIT
 *
 * How each op is cut into items, and the bodies of the simple ones. */
#include <string.h>
#include "plan/replay.h"

enum {
    ROWS_ITEM = 32,    /* rows of an item of an element-wise op, if each thread has enough rows */
    ZSCORE_COLUMNS = 64 /* columns of an item of an op that compares rows */
};

static void embed_row(const struct replay *rp, const struct op *op, uint32_t r)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const struct slot *s = &rp->p->slot[op->out];
    const struct row *row = &rp->run->row[r];
    float *y = row0(rp, op->out) + (size_t)r * s->ld + op->column;
    if (row->token < 0) memcpy(y, row0(rp, op->in) + (size_t)(-1 - row->token) * rp->p->slot[op->in].ld, c->k * sizeof *y);
    else rp->x->kern->embed[c->type](y, c->w, (size_t)row->token, c->k);
    if (c->scale > 0 && row->token >= 0) rp->x->kern->scale(y, y, c->scale, NULL, c->k);
    if (c->positions) rp->x->kern->add(y, y, c->positions + (size_t)row->pos * c->k, c->k);
}

static void area_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to)
{
    area_run(rp, op, (struct area){ from, to, 0, SIZE_MAX });
}

static void norm_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to)
{
    if (rp->p->bind[op->bind].heads) {
        area_rows(rp, op, from, to);
        return;
    }
    norm_rows_to(rp, op, row0(rp, op->out), rp->p->slot[op->out].ld, from, to);
    if (!from && (op->flags & OPF_PADDED)) pad_rows(rp, op->out, rows_of(rp, op));
}

/* The position of row r in its sequence. */
static uint32_t position_of(const struct replay *rp, uint8_t rows, uint32_t r)
{
    return r - sequence_at(rp, rows, sequence_of_row(rp, rows, r)).row;
}

static void scale_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t ld_y = rp->p->slot[op->out].ld, ld_x = rp->p->slot[op->in].ld;
    float *y = row0(rp, op->out);
    const float *x = row0(rp, op->in);
    for (uint32_t r = from; r < to; r++) {
        const uint32_t src = op->rows == ROWS_OUT ? rp->run->out_row[r] : r;
        const uint8_t kind = op->rows == ROWS_OUT ? ROWS_RUN : op->rows;
        const float *position = c->positions ? c->positions + (size_t)position_of(rp, kind, src) * c->n : NULL;
        rp->x->kern->scale(y + r * ld_y, x + src * ld_x, c->scale, position, c->n);
    }
}

static void act_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t ld_y = rp->p->slot[op->out].ld, ld_x = rp->p->slot[op->in].ld;
    for (uint32_t r = from; r < to; r++) {
        float *y = row0(rp, op->out) + r * ld_y + op->column;
        const float *x = row0(rp, op->in) + r * ld_x + op->column;
        if (c->bias) rp->x->kern->add(y, x, c->bias, c->n);
        if (c->scale > 0) rp->x->kern->scale(y, x, 1 / c->scale, NULL, c->n);
        rp->x->kern->act[c->act](y, c->bias || c->scale > 0 ? y : x, c->n);
        if (c->scale > 0) rp->x->kern->scale(y, y, c->scale, NULL, c->n);
    }
}

static void add_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t ld_y = rp->p->slot[op->out].ld, ld_x = rp->p->slot[op->in].ld;
    const size_t ld_a = op->aux == NO_SLOT ? c->n : rp->p->slot[op->aux].ld;
    const float *x = row0(rp, op->in) + op->column, *a = op->aux == NO_SLOT ? c->positions : row0(rp, op->aux) + op->column;
    float *y = row0(rp, op->out) + op->column;
    const int scales = c->scale > 0 && c->scale != 1.0f;
    for (uint32_t r = from; r < to; r++)
        if (scales) rp->x->kern->scale(y + r * ld_y, x + r * ld_x, c->scale, a + r * ld_a, c->n);
        else rp->x->kern->add(y + r * ld_y, x + r * ld_x, a + r * ld_a, c->n);
}

static void softmax_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to)
{
    const size_t ld_y = rp->p->slot[op->out].ld, ld_x = rp->p->slot[op->in].ld;
    float *y = row0(rp, op->out);
    const float *x = row0(rp, op->in);
    for (uint32_t r = from; r < to; r++) rp->x->kern->softmax(y + r * ld_y, x + r * ld_x, rp->p->slot[op->in].width);
}

static void magnitude_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t ld_y = rp->p->slot[op->out].ld, ld_x = rp->p->slot[op->in].ld;
    for (uint32_t r = from; r < to; r++)
        for (size_t h = 0; h < c->heads; h++)
            rp->x->kern->magnitude(row0(rp, op->out) + r * ld_y + h * c->n, row0(rp, op->in) + r * ld_x + 2 * h * c->n, c->n);
}

/* Values of this run as f32 for one head, from row `first` of a sequence on. */
struct values { float *row; int64_t first; };

size_t fsmn_scratch(const struct plan *p, const struct op *op)
{
    const struct bind *c = &p->bind[op->bind];
    const int is_bf16 = op->in == NO_SLOT && p->slot[op->kv_slot].kv_type == KV_BF16;
    return is_bf16 ? (ROWS_ITEM + (size_t)c->taps + 1) * p->slot[op->kv_slot].d_head * sizeof(float) : 0;
}

/* Widen rows [v->first, end), which is even, of values that are stored as pairs of bf16. */
static void values_widen(const struct values *v, const struct replay *rp, const struct op *op, uint32_t head, const struct sequence *q,
                         int64_t end)
{
    enum kv_type type;
    const struct kv_view view = replay_kv(rp, op, head, 0, &type);
    const size_t n = rp->p->slot[op->kv_slot].d_head;
    float *y = v->row;
    for (size_t t = (size_t)v->first; t < (size_t)end; t += 2, y += 2 * n) {
        const char *block = (const char *)view.base + (q->block + t / KV_BLOCK) * view.block_stride;
        const uint32_t *values = (const uint32_t *)(const void *)(block + KV_BLOCK * n * sizeof(uint16_t)); /* after the keys */
        rp->x->kern->unpair(y, y + n, values + t % KV_BLOCK / 2 * n, n);
    }
}

/* Row t of a filter's input within a sequence, for one head: a row of the slot, a value of this run, an earlier row from the state, or NULL
 * for zeros. */
static const float *fsmn_row(const struct replay *rp, const struct op *op, uint32_t head, const struct sequence *q, const struct values *v,
                             int64_t t)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t at = (size_t)head * c->d_head;
    if (t >= (int64_t)q->n) return NULL;
    if (t < 0) {
        if (op->state == NO_STATE) return NULL;
        const struct shift_mem *m = &rp->x->mem[op->state].lane[q->lane];
        const int64_t i = (int64_t)m->positions + t;
        return i < 0 ? NULL : state_rows(m, op->layer) + (size_t)i * c->n + at;
    }
    if (op->in != NO_SLOT) return row0(rp, op->in) + (size_t)(q->row + t) * rp->p->slot[op->in].ld + op->column + at;
    const size_t wide = rp->p->slot[op->kv_slot].d_head; /* including its room */
    if (v->row) return v->row + (size_t)(t - v->first) * wide;
    enum kv_type type;
    const struct kv_view view = replay_kv(rp, op, head, 0, &type); /* keys first, then values [KV_BLOCK, wide] */
    const float *block = (const float *)(const void *)((const char *)view.base + (q->block + (size_t)t / KV_BLOCK) * view.block_stride);
    return block + ((size_t)KV_BLOCK + (size_t)t % KV_BLOCK) * wide;
}

/* Rows [from, to) of one sequence. */
static void fsmn_some(const struct replay *rp, const struct op *op, const struct sequence *q, uint32_t from, uint32_t to, void *scratch)
{
    const struct plan *p = rp->p;
    const struct bind *c = &p->bind[op->bind];
    const float *x[ROWS_ITEM + FSMN_TAPS];
    const uint32_t rows = to - from, n_x = rows + c->taps - 1u;
    const int64_t before = (int64_t)from - q->row - c->left, behind = before + n_x;
    const struct values v = { fsmn_scratch(p, op) ? scratch : NULL, before > 0 ? before & ~INT64_C(1) : 0 };
    struct fsmn f = { .x = x, .taps = c->taps, .left = c->left, .n = c->d_head, .rows = rows, .ld_y = p->slot[op->out].ld };
    if (op->aux != NO_SLOT) f.ld_add = p->slot[op->aux].ld;
    for (uint32_t head = 0; head < c->heads; head++) {
        const size_t at = (size_t)head * c->d_head;
        f.w = c->filter + (size_t)head * c->taps * c->d_head;
        f.start = c->bias ? c->bias + at : NULL;
        if (v.row) values_widen(&v, rp, op, head, q, behind < q->n ? behind : q->n);
        for (uint32_t j = 0; j < n_x; j++) x[j] = fsmn_row(rp, op, head, q, &v, before + j);
        f.y = row0(rp, op->out) + from * f.ld_y + at;
        f.add = op->aux == NO_SLOT ? NULL : row0(rp, op->aux) + from * f.ld_add + at;
        rp->x->kern->fsmn(&f);
        for (uint32_t r = 0; r < rows && c->act != ACT_NONE; r++) {
            float *y = f.y + r * f.ld_y;
            rp->x->kern->act[c->act](y, y, c->d_head);
        }
    }
}

static void fsmn_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to, void *scratch)
{
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) {
        const struct sequence q = sequence_at(rp, op->rows, i);
        const uint32_t end = (uint32_t)q.row + q.n;
        if (q.row < to && from < end) fsmn_some(rp, op, &q, q.row > from ? q.row : from, end < to ? end : to, scratch);
    }
}

/* Frame i of sequence f: a row of in, after the one that a state holds. NULL: zeros. */
static const float *cif_frame(const struct replay *rp, const struct op *op, const struct sequence *f, uint32_t i)
{
    if (op->state != NO_STATE && !i--) {
        const struct shift_mem *m = &rp->x->mem[op->state].lane[f->lane];
        return state_rows(m, op->layer) + (size_t)(m->positions - 1) * rp->p->slot[op->in].width;
    }
    return i < f->n ? row0(rp, op->in) + (size_t)(f->row + i) * rp->p->slot[op->in].ld : NULL;
}

/* Adds the frames of a token's own sequence in ascending order, in one f32 accumulator per channel. */
static void cif_rows(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to)
{
    const struct slot *out = &rp->p->slot[op->out];
    for (uint32_t r = from; r < to; r++) {
        const struct cif_token t = rp->run->cif.token[r];
        float *y = row0(rp, op->out) + (size_t)r * out->ld;
        const struct sequence f = sequence_in_rows(rp, op->rows, ROWS_RUN, sequence_of_row(rp, op->rows, r));
        memset(y, 0, out->width * sizeof *y);
        for (uint32_t i = 0; i < t.n; i++) {
            const float *x = cif_frame(rp, op, &f, t.first + i);
            if (x) rp->x->kern->scale(y, x, rp->run->cif.weight[t.at + i], y, out->width);
        }
    }
}

/* Shift the state's rows up, and append the newest rows of a sequence. */
static void shift_state(const struct replay *rp, const struct op *op, struct sequence q)
{
    const struct kv_state *s = &rp->x->state[op->state];
    const struct slot *in = &rp->p->slot[op->in];
    const struct shift_mem *m = &rp->x->mem[op->state].lane[q.lane];
    const size_t n = m->positions, width = (size_t)s->desc.heads * s->desc.d_head, held = q.n < n ? n - q.n : 0;
    const size_t keeps = s->desc.window && s->desc.window < held ? s->desc.window : held;
    float *to = state_rows(m, op->layer);
    memmove(to + (held - keeps) * width, to + (n - keeps) * width, keeps * width * sizeof *to);
    for (size_t i = held; i < n; i++)
        memcpy(to + i * width, row0(rp, op->in) + (q.row + q.n - n + i) * in->ld + op->column, width * sizeof *to);
}

/* Keys and values of one head of a sequence. The newest rows of the state are appended to the sequence's own rows. The first `kept` of its
 * own rows become the newest rows of the state. */
static void look_back(const struct replay *rp, const struct op *op, struct sequence q, uint32_t head)
{
    const struct shift_mem *m = &rp->x->mem[op->state].lane[q.lane];
    const struct run_past past = rp->run->past[q.lane][op->state];
    const uint32_t positions = m->positions;
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t n = c->d_head, values = (size_t)c->kv_heads * n, width = 2 * values;
    const uint32_t kept = past.kept < positions ? past.kept : positions, room = positions - kept;
    const uint32_t stays = past.held < room ? past.held : room;
    struct op at_slot = *op;
    enum kv_type type;
    at_slot.state = NO_STATE; /* read the slot, not the state */
    struct kv_view kv = replay_kv(rp, &at_slot, head, 0, &type);
    kv.base = (char *)kv.base + q.block * kv.block_stride;
    float *to = state_rows(m, op->layer) + head * n;
    for (uint32_t i = 0; i < past.held; i++) {
        const float *row = to + (positions - past.held + i) * width;
        rp->x->kern->kv_put[type](&kv, q.n + i, row, row + values, n);
    }
    for (size_t i = room - stays; kept && i < room; i++) {
        memcpy(to + i * width, to + (i + kept) * width, n * sizeof *to);
        memcpy(to + i * width + values, to + (i + kept) * width + values, n * sizeof *to);
    }
    for (uint32_t i = 0; i < kept; i++) {
        float *row = to + (room + i) * width;
        kv_get_f32(row, row + values, &kv, past.kept - kept + i, n);
    }
}

static void look_back_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t heads = rp->p->bind[op->bind].kv_heads;
    if (!rp->run->past) return;
    FOR_ITEMS(i, heads * sequences_of(rp, op->rows)) look_back(rp, op, sequence_at(rp, op->rows, (uint32_t)i / heads), (uint32_t)i % heads);
}

static void zscore_columns(const struct replay *rp, const struct op *op, uint32_t from, uint32_t n)
{
    rp->x->kern->zscore(row0(rp, op->out) + from, rp->p->slot[op->out].ld, rp->n_rows, n);
}

static void median_row(const struct replay *rp, const struct op *op, uint32_t r)
{
    const struct plan *p = rp->p;
    const size_t at = (size_t)r * p->slot[op->out].ld; /* both slots are as wide as the number of frames */
    const float *add = op->aux == NO_SLOT ? NULL : row0(rp, op->aux) + at;
    rp->x->kern->median(row0(rp, op->out) + at, row0(rp, op->in) + at, add, p->bind[op->bind].scale, rp->run->align.frames);
}

/* ---- cutting ops into items */

/* Rows of an item of an element-wise op. */
static uint32_t rows_item(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t threads = (uint32_t)worker->threads, share = (rows_of(rp, op) + threads - 1) / threads;
    return share < ROWS_ITEM ? share : ROWS_ITEM;
}

typedef void rows_fn(const struct replay *rp, const struct op *op, uint32_t from, uint32_t to);

/* How ops of a kind run: by their own function, or by `rows` on shares of rows. */
struct op_way { op_fn *run; rows_fn *rows; };

static struct op_way const way[OP_KINDS];

static void embed_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    FOR_ITEMS(i, rows_of(rp, op)) embed_row(rp, op, (uint32_t)i);
}

static void rows_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t rows = rows_of(rp, op), n = rows_item(rp, op, worker);
    if (!rows) return;
    FOR_ITEMS(i, (rows + n - 1) / n) {
        const uint32_t from = (uint32_t)i * n;
        for (const struct op *o = op; o <= op + worker->n_after; o++) way[o->kind].rows(rp, o, from, from + n < rows ? from + n : rows);
    }
}

static uint32_t fsmn_items(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t rows = rows_of(rp, op), n = rows_item(rp, op, worker);
    return rows ? (rows + n - 1) / n : 0;
}

static void fsmn_item(const struct replay *rp, const struct op *op, uint32_t i, const struct worker *worker)
{
    const uint32_t rows = rows_of(rp, op), n = rows_item(rp, op, worker), from = i * n;
    fsmn_rows(rp, op, from, from + n < rows ? from + n : rows, worker->scratch);
}

static void fsmn_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    FOR_ITEMS(i, fsmn_items(rp, op, worker)) fsmn_item(rp, op, (uint32_t)i, worker);
}

/* A filter after it that reads the same rows starts without a barrier. */
static void kv_pack_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t n = kv_pack_items(rp, op), more = worker->n_after ? fsmn_items(rp, op + 1, worker) : 0;
    FOR_ITEMS(i, n + more) {
        if (i < n) kv_pack_item(rp, op, (uint32_t)i);
        else fsmn_item(rp, op + 1, (uint32_t)i - n, worker);
    }
}

static void shift_state_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    FOR_ITEMS(i, sequences_of(rp, op->rows)) shift_state(rp, op, sequence_at(rp, op->rows, (uint32_t)i));
}

static void zscore_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    FOR_ITEMS(i, (rp->run->align.frames + ZSCORE_COLUMNS - 1) / ZSCORE_COLUMNS) {
        const uint32_t from = (uint32_t)i * ZSCORE_COLUMNS, left = rp->run->align.frames - from;
        zscore_columns(rp, op, from, left < ZSCORE_COLUMNS ? left : ZSCORE_COLUMNS);
    }
}

static void median_filter_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    FOR_ITEMS(i, rows_of(rp, op)) median_row(rp, op, (uint32_t)i);
}

static struct op_way const way[OP_KINDS] = {
    [OP_EMBED] = { embed_run, NULL },
    [OP_NORM] = { rows_run, norm_rows },
    [OP_SCALE] = { rows_run, scale_rows },
    [OP_LINEAR] = { linear_run, NULL },
    [OP_ATTN] = { attn_run, NULL },
    [OP_KV_PACK] = { kv_pack_run, NULL },
    [OP_FSMN] = { fsmn_run, NULL },
    [OP_SHIFT_STATE] = { shift_state_run, NULL },
    [OP_LOOK_BACK] = { look_back_run, NULL },
    [OP_SOFTMAX] = { rows_run, softmax_rows },
    [OP_ATTN_WEIGHTS] = { attn_weights_run, NULL },
    [OP_ZSCORE] = { zscore_run, NULL },
    [OP_MEDIAN_FILTER] = { median_filter_run, NULL },
    [OP_CIF] = { rows_run, cif_rows },
    [OP_LSTM] = { lstm_run, NULL },
    [OP_MAGNITUDE] = { rows_run, magnitude_rows },
    [OP_ROPE] = { rows_run, area_rows },
    [OP_GLU] = { rows_run, area_rows },
    [OP_ACT] = { rows_run, act_rows },
    [OP_ADD] = { rows_run, add_rows },
    [OP_LOGITS_APPROX] = { linear_run, NULL },
    [OP_LOGITS_BOUND] = { logits_bound_run, NULL },
    [OP_LOGITS_REDUCE] = { logits_reduce_run, NULL },
    [OP_LOGITS_BEST] = { logits_best_run, NULL },
    [OP_SAMPLE] = { sample_run, NULL },
    [OP_STEM2D] = { stem2d_run, NULL },
    [OP_DISTANCES] = { distances_run, NULL },
    [OP_PACK_DISTANCES] = { pack_distances_run, NULL },
    [OP_ATTN_REL] = { attn_rel_run, NULL },
};

void op_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    way[op->kind].run(rp, op, worker);
}
