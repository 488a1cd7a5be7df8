/* steno: products with packed weights, and recurrent layers, on the CPU. SPDX-License-Identifier: MIT */
#include "plan/partition.h"
#include "plan/replay.h"

enum {
    TILE_PANELS = 8, /* panels of an item of a linear with many rows */
    ROUNDING = 4     /* cost of rounding a row, in panels of its products */
};

static struct linear linear_of(const struct replay *rp, const struct op *op)
{
    const struct plan *p = rp->p;
    const struct bind *c = &p->bind[op->bind];
    const struct slot *in = &p->slot[op->in];
    struct linear l = { .w = c->w, .bias = c->bias, .n = c->n, .k = c->k, .n_y = c->n_y, .n_kv = c->n_kv, .act = c->act,
                        .d_head = c->d_head, .x = row0(rp, op->in) + c->in_column, .ld_x = in->ld };
    if (op->flags & OPF_CONV) {
        l.x -= in->ld;
        l.ld_x = (size_t)c->stride * in->ld;
    }
    if (op->out != NO_SLOT) {
        l.y = row0(rp, op->out) + op->column;
        l.ld_y = p->slot[op->out].ld * (op->flags & OPF_SPREAD ? c->stride : 1u);
    }
    if (op->aux != NO_SLOT) {
        l.res = row0(rp, op->aux) + op->column;
        l.ld_res = p->slot[op->aux].ld;
    } else if (c->positions) {
        l.res = c->positions;
        l.ld_res = c->n;
    }
    if (c->n_y < c->n) {
        enum kv_type type;
        l.kv = replay_kv(rp, op, 0, rp->window, &type);
        l.kv_type = (uint8_t)type;
        l.kv_head_sz = op->state != NO_STATE ? rp->x->mem[op->state].head_sz
                                             : rp->p->slot[op->kv_slot].rows / KV_BLOCK * l.kv.block_stride;
    }
    return l;
}

/* A tile: panels [p0, p1) of rows [m0, m1). */
struct tile { size_t m0, m1, p0, p1; };

/* A tile of logits in two stages. OP_LOGITS_APPROX computes the rows whose logits may be approximate. The linear after it computes the
 * other rows, and for approximate rows the panels that their bounds leave. Adjacent rows are computed together. */
static void approx_linear(const struct replay *rp, const struct op *op, const struct linear *l, struct tile t, void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    struct linear some = *l;
    int approx = 0;
    for (size_t m = t.m0; m < t.m1 && op->kind == OP_LINEAR; m++) approx |= rp->x->approx[m].n != 0;
    for (size_t p = t.p0, step; p < t.p1; p += step) {
        step = approx ? 1 : t.p1 - t.p0;
        for (size_t m = t.m0, end; m < t.m1; m = end + 1) {
            for (end = m; end < t.m1; end++)
                if (op->kind == OP_LINEAR ? !approx_keeps(rp, end, p) : !approx_needed(rp, end)) break;
            some.x_cached = l->x_cached && op->kind == OP_LOGITS_APPROX && m == t.m0 && end == t.m1; /* the previous item had them, too */
            if (m < end) rp->x->kern->linear[c->type](&some, m, end, p, p + step, scratch);
        }
    }
}

/* A tile of logits for a subset of the panels: runs of adjacent panels. */
static void some_linear(const struct replay *rp, const struct op *op, const struct linear *l, struct tile t, void *scratch)
{
    const uint32_t *panels = rp->run->argmax.panels;
    struct linear one = *l;
    one.x_cached = 0;
    for (size_t p = t.p0, end; p < t.p1; p = end + 1) {
        for (end = p; end < t.p1 && panels[end / 32] >> end % 32 & 1; end++) {}
        if (p < end) rp->x->kern->linear[rp->p->bind[op->bind].type](&one, t.m0, t.m1, p, end, scratch);
    }
}

/* A tile of a linear whose keys and values go to a slot of this run. Each sequence has its own blocks there. */
static void own_kv_linear(const struct replay *rp, const struct op *op, const struct linear *l, struct tile t, void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) {
        const struct sequence s = sequence_at(rp, op->rows, i);
        const size_t end = (size_t)s.row + s.n, m0 = s.row > t.m0 ? s.row : t.m0, m1 = end < t.m1 ? end : t.m1;
        struct linear some = *l;
        if (m0 >= m1) continue;
        some.kv_pos = (uint32_t)s.block * KV_BLOCK - s.row; /* the blocks before it hold at least the rows before it */
        some.x_cached = l->x_cached && m0 == t.m0 && m1 == t.m1;
        rp->x->kern->linear[c->type](&some, m0, m1, t.p0, t.p1, scratch);
    }
}

size_t conv_row_sz(const struct op *op, const struct bind *c)
{
    return op->flags & OPF_CONV ? (c->k * sizeof(float) + 63) & ~(size_t)63 : 0;
}

/* Row r of a convolution at an edge of its sequence. It reads a copy with zeros in place of the rows of other sequences. */
static void conv_edge(const struct replay *rp, const struct op *op, const struct linear *l, struct sequence s, size_t r, struct tile t,
                      void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t ld = rp->p->slot[op->in].ld, taps = c->k / ld;
    float *x = scratch;
    struct linear one = *l;
    for (size_t j = 0; j < taps; j++) {
        const size_t at = r * c->stride + j; /* of the row after it */
        if (at > (size_t)s.row * c->stride && at <= (size_t)(s.row + s.n) * c->stride)
            memcpy(x + j * ld, row0(rp, op->in) + (at - 1) * ld, ld * sizeof *x);
        else memset(x + j * ld, 0, ld * sizeof *x);
    }
    one.x = x;
    one.y += r * l->ld_y;
    if (one.res) one.res += r * l->ld_res;
    one.x_cached = 0;
    rp->x->kern->linear[c->type](&one, 0, 1, t.p0, t.p1, (char *)scratch + conv_row_sz(op, c));
}

/* A tile of a convolution over several independent sequences. */
static void conv_linear(const struct replay *rp, const struct op *op, const struct linear *l, struct tile t, void *scratch)
{
    for (uint32_t i = 0; i < sequences_of(rp, op->rows); i++) {
        const struct sequence s = sequence_at(rp, op->rows, i);
        const size_t end = (size_t)s.row + s.n;
        size_t m0 = s.row > t.m0 ? s.row : t.m0, m1 = end < t.m1 ? end : t.m1;
        struct linear some = *l;
        if (m0 >= m1) continue;
        if (m0 == s.row) conv_edge(rp, op, l, s, m0++, t, scratch);
        if (m1 == end && m0 < m1) conv_edge(rp, op, l, s, --m1, t, scratch);
        some.x_cached = l->x_cached && m0 == t.m0 && m1 == t.m1;
        if (m0 < m1) rp->x->kern->linear[rp->p->bind[op->bind].type](&some, m0, m1, t.p0, t.p1, scratch);
    }
}

static struct partition partition_of(const struct bind *c, size_t rows, size_t panels, int threads, struct slices s, size_t step)
{
    const int lowp = packed_is_lowp((enum packed_type)c->type); /* takers of rows round them, so they take all panels */
    const size_t fine = (TILE_PANELS + step - 1) / step * step;
    if (rows <= FEW_ROWS) return partition_few(rows, panels, threads, step);
    return partition_many(rows, panels, threads, s, lowp ? panels : fine, lowp ? ROUNDING : 0, step);
}

/* Scratch of a thread: the larger of an item of a run with all rows, and of a run with the highest item for each thread. Items of other
 * runs are not higher (slices_in). */
size_t linear_scratch(const struct kern *k, const struct bind *c, uint32_t rows, int threads)
{
    const enum packed_type type = (enum packed_type)c->type;
    const struct slices s = kern_slices(k, type, c->k);
    const size_t panels = pack_panels(c->n), each = s.max * (size_t)threads;
    const size_t all = partition_of(c, rows, panels, threads, s, PANELS_STEP).rows;
    const size_t one = partition_of(c, each < rows ? each : rows, panels, threads, s, PANELS_STEP).rows;
    const size_t item = all > one ? all : one, most = item > s.min ? item : s.min; /* s.min: more than few rows */
    return kern_linear_scratch(k, type, c->k, rows < most ? rows : most);
}

static struct slices slices_in(const struct cpu_exec *x, const struct bind *c)
{
    const enum packed_type type = (enum packed_type)c->type;
    struct slices s = kern_slices(x->kern, type, c->k);
    while (s.max > s.min && kern_linear_scratch(x->kern, type, c->k, s.max) > x->thread_scratch_sz)
        s.max = s.max - s.min > s.step ? s.max - s.step : s.min;
    return s;
}

static void tile_run(const struct replay *rp, const struct op *op, const struct linear *l, struct tile t, void *scratch)
{
    const struct bind *c = &rp->p->bind[op->bind];
    if (op->kind == OP_LOGITS_APPROX || op->flags & OPF_APPROX) approx_linear(rp, op, l, t, scratch);
    else if (op->flags & OPF_SOME && rp->run->argmax.panels) some_linear(rp, op, l, t, scratch);
    else if (op->flags & OPF_CONV && sequences_of(rp, op->rows) > 1) conv_linear(rp, op, l, t, scratch);
    else if (c->n_y < c->n && op->state == NO_STATE) own_kv_linear(rp, op, l, t, scratch);
    else rp->x->kern->linear[c->type](l, t.m0, t.m1, t.p0, t.p1, scratch);
}

/* Panels that are computed before the joined ops follow. With many rows: the number that still fits the second-level cache. All panels at
 * once if rows are few, because their weights are streamed, or if rows would be rounded again. */
static size_t panels_at_once(const struct bind *c, struct tile t, size_t step, uint32_t n_after)
{
    const int anew = c->type == PK_BF16_PAIR || c->type == PK_I16_PAIR || c->type == PK_I8_QUAD;
    return !n_after || anew || t.m1 - t.m0 <= FEW_ROWS ? t.p1 - t.p0 : (TILE_PANELS + step - 1) / step * step;
}

/* A linear cut into items. `times` matrices are stacked in w, for example gates and their values. */
struct cut { const struct op *op, *after; struct linear l; struct partition part; size_t times, panels, across, n; uint32_t n_after; };

static struct cut cut_of(const struct replay *rp, const struct op *op, const struct op *after, const struct worker *worker)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t times = worker->n_after && after->kind == OP_GLU ? 2 : 1, rows = rows_of(rp, op), panels = pack_panels(c->n) / times;
    const size_t step = joined_panels(rp, op, after, worker->n_after);
    const struct partition part = partition_of(c, rows, panels, worker->threads, slices_in(rp->x, c), step);
    const size_t across = (panels + part.panels - 1) / part.panels, down = (rows + part.rows - 1) / part.rows;
    return (struct cut){ op, after, linear_of(rp, op), part, times, panels, across, across * down, worker->n_after };
}

/* Compute a tile, then the ops joined with it. */
static void joined_run(const struct replay *rp, struct cut *c, struct tile t, void *scratch)
{
    const size_t step = panels_at_once(&rp->p->bind[c->op->bind], t, joined_panels(rp, c->op, c->after, c->n_after), c->n_after);
    for (size_t p = t.p0; p < t.p1; p += step) {
        struct tile part = { t.m0, t.m1, p, p + step < t.p1 ? p + step : t.p1 };
        const size_t column = c->op->column;
        const struct area a = { (uint32_t)t.m0, (uint32_t)t.m1, column + part.p0 * PANEL, column + part.p1 * PANEL };
        for (size_t i = 0; i < c->times; i++, part.p0 += c->panels, part.p1 += c->panels, c->l.x_cached = 1)
            tile_run(rp, c->op, &c->l, part, scratch);
        for (uint32_t i = 0; i < c->n_after; i++) area_run(rp, c->after + i, a);
    }
}

/* Rows of the norm joined with the linears, for this thread only. @return the scratch after them */
static void *own_norm(const struct replay *rp, struct cut *cut, size_t rows, const struct worker *worker)
{
    const struct bind *c = &rp->p->bind[worker->norm->bind];
    float *x = worker->scratch;
    const size_t ld = c->k + ROW_PAD;
    for (uint32_t i = 0; i <= worker->n_parallel; i++) cut[i].l.x = x, cut[i].l.ld_x = ld;
    norm_rows_to(rp, worker->norm, x, ld, 0, (uint32_t)rows);
    return (char *)worker->scratch + joined_norm_sz(c);
}

void linear_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    struct cut cut[1 + JOINED_PARALLEL];
    const struct cut *last = NULL; /* of the previous item */
    size_t before = 0, n = 0, rows = rows_of(rp, op); /* rows: of the previous item */
    void *scratch = worker->scratch;
    if (!rows) return;
    for (uint32_t i = 0; i <= worker->n_parallel; i++) {
        cut[i] = cut_of(rp, op + i, op + worker->n_parallel + 1, worker);
        n += cut[i].n;
    }
    FOR_ITEMS(i, n) {
        struct cut *c = cut;
        size_t at = (size_t)i;
        for (; at >= c->n; c++) at -= c->n;
        const size_t m = at / c->across * c->part.rows, p = at % c->across * c->part.panels;
        const size_t m1 = m + c->part.rows, p1 = p + c->part.panels;
        const struct tile t = { m, m1 < rows ? m1 : rows, p, p1 < c->panels ? p1 : c->panels };
        if (worker->norm && !last) scratch = own_norm(rp, cut, rows, worker);
        c->l.x_cached = last == c && m == before;
        last = c;
        before = m;
        for (size_t r = at; op->kind == OP_LOGITS_APPROX && r < rows; r += n) approx_begin(rp, op, (uint32_t)r);
        if (!i && (op->flags & OPF_PADDED)) pad_rows(rp, op->out, rows);
        joined_run(rp, c, t, scratch);
    }
}

/* ---- recurrent layers */

/* Whether the recurrence restarts here: at its end of the sequence, and at rows of the table with position 0. */
static int begins(const struct replay *rp, const struct op *op, struct sequence s, uint32_t r, int back)
{
    if (r == (back ? s.row + s.n - 1u : s.row)) return 1;
    return op->rows == ROWS_TABLE && rp->run->row[back ? r + 1 : r].pos == 0;
}

enum { LSTM_ROWS = 64 /* rows whose input gates are computed at a time */ };

static uint32_t lstm_rows(uint32_t rows) { return rows < LSTM_ROWS ? rows : LSTM_ROWS; }

/* Floats of a thread in addition to those of products: the cell state, gates, and of a stream's layer the last outputs, in whole lines. */
static size_t lstm_floats(const struct op *op, const struct bind *c, uint32_t rows)
{
    const size_t each = op->state == NO_STATE ? 4 : 5;
    return ((1 + each * lstm_rows(rows)) * c->d_head + 15) & ~(size_t)15;
}

size_t lstm_scratch(const struct kern *k, const struct plan *p, const struct op *op, uint32_t rows)
{
    const struct bind *c = &p->bind[op->bind];
    size_t product = kern_linear_scratch(k, (enum packed_type)c->type, c->k, op->state == NO_STATE ? 1 : lstm_rows(rows));
    for (uint32_t back = 0; back < c->heads; back++) {
        const struct bind *x = &p->bind[c->of_input[back]];
        const size_t sz = kern_linear_scratch(k, (enum packed_type)x->type, x->k, lstm_rows(rows));
        if (sz > product) product = sz;
    }
    return lstm_floats(op, c, rows) * sizeof(float) + product;
}

/* One direction over a sequence on its thread: gates [n, 4 d_head] of rows from `from` on, and the cell state. */
struct lstm_at { float *cell, *gates; void *scratch; uint32_t from, n; };

static void lstm_input(const struct replay *rp, const struct op *op, const struct lstm_at *at, int back)
{
    const struct bind *c = &rp->p->bind[rp->p->bind[op->bind].of_input[back]];
    const size_t ld = rp->p->slot[op->in].ld;
    const struct linear l = { .w = c->w, .bias = c->bias, .n = c->n, .k = c->k, .n_y = c->n, .x = row0(rp, op->in) + at->from * ld,
                              .ld_x = ld, .y = at->gates, .ld_y = c->n };
    rp->x->kern->linear[c->type](&l, 0, at->n, 0, pack_panels(c->n), at->scratch);
}

/* A stream layer's state between runs: its last output, then the cell state. NULL: start with zeros. */
static float *lstm_kept(const struct replay *rp, const struct op *op, struct sequence s)
{
    if (op->state == NO_STATE) return NULL;
    const struct shift_mem *m = &rp->x->mem[op->state].lane[s.lane];
    return state_rows(m, op->layer) + (size_t)(m->positions - 1) * 2 * rp->p->bind[op->bind].d_head;
}

/* One direction over a sequence, row after row. The gates are the sum of the input's part and the previous state's part. */
static void lstm_way(const struct replay *rp, const struct op *op, struct sequence s, int back, const struct worker *worker)
{
    enum { ASK = 32 /* rows between checks of whether the run must end */ };
    const struct bind *c = &rp->p->bind[op->bind];
    const uint32_t n = c->d_head;
    const size_t ld_out = rp->p->slot[op->out].ld, panels = pack_panels(4 * (size_t)n);
    float *const out = row0(rp, op->out) + (size_t)back * n;
    const char *const w = (const char *)c->w + (size_t)back * panels * pack_panel_sz((enum packed_type)c->type, c->k);
    float *const kept = lstm_kept(rp, op, s);
    struct lstm_at at = { .cell = worker->scratch };
    at.gates = at.cell + n;
    at.scratch = at.cell + lstm_floats(op, c, rows_max(rp->p, op, 0));
    for (uint32_t i = 0; i < s.n && (i % ASK || !item_stops(worker)); i++) {
        const uint32_t r = back ? s.row + s.n - 1u - i : s.row + i, before = back ? r + 1 : r - 1;
        const int begun = begins(rp, op, s, r, back), first = begun && !kept;
        const float *const h = begun ? kept : out + before * ld_out, *const cell = first ? NULL : begun ? kept + n : at.cell;
        if (i % LSTM_ROWS == 0) {
            at.n = s.n - i < LSTM_ROWS ? s.n - i : LSTM_ROWS;
            at.from = back ? r + 1 - at.n : r;
            lstm_input(rp, op, &at, back);
        }
        float *g = at.gates + (size_t)(r - at.from) * 4 * n;
        const struct linear l = { .w = w, .n = 4 * n, .k = n, .n_y = 4 * n, .x = h, .ld_x = n, .y = g, .res = g };
        if (!first) rp->x->kern->linear[c->type](&l, 0, 1, 0, panels, at.scratch);
        rp->x->kern->lstm(out + r * ld_out, at.cell, g, cell, n);
        if (!kept || i + 1 < s.n) continue;
        memcpy(kept, out + r * ld_out, n * sizeof *kept);
        memcpy(kept + n, at.cell, n * sizeof *kept);
    }
}

/* Is every sequence a single row of a stream? */
static int lstm_is_step(const struct replay *rp, const struct op *op)
{
    const uint32_t n = sequences_of(rp, op->rows);
    int all = op->state != NO_STATE && rp->p->bind[op->bind].heads == 1;
    for (uint32_t i = 0; i < n && all; i++) all = sequence_at(rp, op->rows, i).n == 1;
    return all;
}

/* Such sequences from `first` on: weights are read once for all of them. */
static void lstm_step(const struct replay *rp, const struct op *op, uint32_t first, uint32_t rows, const struct worker *worker)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t n = c->d_head, ld_out = rp->p->slot[op->out].ld;
    const struct lstm_at at = { .gates = (float *)worker->scratch + n, .from = sequence_at(rp, op->rows, first).row, .n = rows,
                                .scratch = (float *)worker->scratch + lstm_floats(op, c, rows_max(rp->p, op, 0)) };
    float *const h = at.gates + 4 * n * rows;
    const struct linear l = { .w = c->w, .n = 4 * c->d_head, .k = c->d_head, .n_y = 4 * c->d_head, .x = h, .ld_x = n, .y = at.gates,
                              .ld_y = 4 * n, .res = at.gates, .ld_res = 4 * n };
    lstm_input(rp, op, &at, 0);
    for (uint32_t i = 0; i < rows; i++) memcpy(h + i * n, lstm_kept(rp, op, sequence_at(rp, op->rows, first + i)), n * sizeof *h);
    rp->x->kern->linear[c->type](&l, 0, rows, 0, pack_panels(4 * n), at.scratch);
    for (uint32_t i = 0; i < rows; i++) {
        float *kept = lstm_kept(rp, op, sequence_at(rp, op->rows, first + i)), *out = row0(rp, op->out) + (at.from + i) * ld_out;
        rp->x->kern->lstm(out, kept + n, at.gates + i * 4 * n, kept + n, n);
        memcpy(kept, out, n * sizeof *kept);
    }
}

/* A part of the lanes for each thread. */
static void lstm_steps(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t n = sequences_of(rp, op->rows), threads = (uint32_t)worker->threads, most = (n + LSTM_ROWS - 1) / LSTM_ROWS;
    const uint32_t some = n < threads ? n : threads, parts = most > some ? most : some;
    FOR_ITEMS(i, parts) {
        const uint32_t at = (uint32_t)((uint64_t)n * (uint64_t)i / parts), end = (uint32_t)((uint64_t)n * ((uint64_t)i + 1) / parts);
        lstm_step(rp, op, at, end - at, worker);
    }
}

void lstm_run(const struct replay *rp, const struct op *op, const struct worker *worker)
{
    const uint32_t ways = rp->p->bind[op->bind].heads;
    if (lstm_is_step(rp, op)) {
        lstm_steps(rp, op, worker);
        return;
    }
    FOR_ITEMS(i, ways * sequences_of(rp, op->rows)) {
        const uint32_t at = (uint32_t)i;
        lstm_way(rp, op, sequence_at(rp, op->rows, at / ways), (int)(at % ways), worker);
    }
}
