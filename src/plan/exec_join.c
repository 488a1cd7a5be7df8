/* steno: ops joined without a barrier on the CPU. SPDX-License-Identifier: MIT
 *
 * After an op all threads wait for each other, and a step of one row does little work between two products. An op that needs only the
 * output of the same thread therefore follows without a barrier:
 *
 *   a norm of few rows       each thread computes the rows for itself before the linear's items
 *   linears of different types over the same rows    one after another
 *   after a linear           norms of heads, rotary positions and gates, on an item's rows and columns while they are in the caches
 *   packing of keys and values    together with a filter of values: they are independent
 *   row by row               norms, sums, gates and rotations of a row, one after another
 *
 * The same kernels process the same numbers in the same order, so no bit changes. Slots with disjoint lifetimes share bytes. A joined op
 * therefore writes only where the op before it wrote, or to a slot that was live before the first op. */
#include "plan/partition.h"
#include "plan/replay.h"

/* ---- row-wise ops, alone or joined with a linear ----------------------------------------------------------------------------- */

/* Process heads of rows in place, one by one: norms, or rotations. */
static void heads_run(const struct replay *rp, const struct op *op, struct area a)
{
    const struct bind *c = &rp->p->bind[op->bind];
    for (uint32_t r = a.m0; r < a.m1; r++) {
        const float *turn = op->kind == OP_ROPE ? c->positions + (size_t)rp->run->row[r].pos * c->n : NULL;
        float *row = row0(rp, op->in) + (size_t)r * rp->p->slot[op->in].ld;
        for (size_t h = 0, at = op->column; h < c->heads; h++, at += c->d_head) {
            if (at < a.c0 || at >= a.c1) continue;
            if (turn) rp->x->kern->rope(row + at, turn, c->n, c->neighbours);
            else rp->x->kern->norm_rms(row + at, row + at, c->norm_weight, c->eps, c->d_head);
        }
    }
}

static void glu_run(const struct replay *rp, const struct op *op, struct area a)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t end = a.c1 < c->n ? a.c1 : c->n, n = a.c0 < end ? end - a.c0 : 0;
    for (uint32_t r = a.m0; r < a.m1 && n; r++) {
        float *y = row0(rp, op->out) + (size_t)r * rp->p->slot[op->out].ld + a.c0;
        float *x = row0(rp, op->in) + (size_t)r * rp->p->slot[op->in].ld + a.c0;
        if (c->gate_last) {
            rp->x->kern->act[c->act](x + c->n, x + c->n, n);
            rp->x->kern->mul(y, x, x + c->n, n);
            continue;
        }
        rp->x->kern->act[c->act](y, x, n);
        rp->x->kern->mul(y, y, x + c->n, n);
    }
}

void area_run(const struct replay *rp, const struct op *op, struct area a)
{
    if (op->kind == OP_GLU) glu_run(rp, op, a);
    else heads_run(rp, op, a);
}

void norm_rows_to(const struct replay *rp, const struct op *op, float *y, size_t ld, uint32_t from, uint32_t to)
{
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t ld_x = rp->p->slot[op->in].ld;
    const float *x = row0(rp, op->in);
    for (uint32_t r = from; r < to; r++) {
        const size_t src = op->rows == ROWS_OUT ? rp->run->out_row[r] : r;
        if (c->norm_kind == NORM_RMS) rp->x->kern->norm_rms(y + r * ld, x + src * ld_x, c->norm_weight, c->eps, c->k);
        else rp->x->kern->norm_layer(y + r * ld, x + src * ld_x, c->norm_weight, c->bias, c->eps, c->k);
    }
}

/* ---- which ops are joined ---------------------------------------------------------------------------------------------------- */

enum {
    NORM_ROWS = 8,  /* limit of rows that each thread computes for itself: that takes no longer than waiting */
    STEP_MAX = 16   /* minimum panels of an item, so that it ends at the end of a head */
};

size_t joined_norm_sz(const struct bind *norm)
{
    return norm->heads ? 0 : NORM_ROWS * ((size_t)norm->k + ROW_PAD) * sizeof(float);
}

static int may_follow(const struct replay *rp, uint16_t at)
{
    return at < rp->last && at != rp->split;
}

/* Does op compute the columns next to those of a linear, from the same rows? */
static int is_parallel(const struct replay *rp, const struct op *linear, const struct op *op)
{
    const struct bind *a = &rp->p->bind[linear->bind], *b = &rp->p->bind[op->bind];
    return op->kind == OP_LINEAR && !linear->flags && !op->flags && op->in == linear->in && op->out == linear->out && op->in != op->out &&
           op->rows == linear->rows && linear->aux == NO_SLOT && op->aux == NO_SLOT && a->n_y == a->n && b->n_y == b->n &&
           op->column == linear->column + a->n && a->in_column == b->in_column;
}

/* The number of linears that follow linear `at` and are beside it. */
static uint16_t linears_parallel(const struct replay *rp, uint16_t at)
{
    uint16_t n = 0;
    while (n < JOINED_PARALLEL && may_follow(rp, (uint16_t)(at + n + 1)) &&
           is_parallel(rp, &rp->p->op[at + n], &rp->p->op[at + n + 1])) n++;
    return n;
}

/* Is the norm `at` read only by the linears after it? Its input must stay live, because one thread may still need it while another writes
 * the linear's output. */
static int norm_joins(const struct replay *rp, uint16_t at)
{
    const struct op *norm = &rp->p->op[at], *linear = norm + 1;
    const struct slot *slot = rp->p->slot;
    if (norm->kind != OP_NORM || norm->flags || rp->p->bind[norm->bind].heads || !may_follow(rp, (uint16_t)(at + 1))) return 0;
    return linear->kind == OP_LINEAR && !linear->flags && linear->in == norm->out && linear->aux != norm->out &&
           linear->rows == norm->rows && slot[norm->out].last == at + 1 + linears_parallel(rp, (uint16_t)(at + 1)) &&
           slot[norm->in].last > at && rows_of(rp, norm) <= NORM_ROWS;
}

static size_t gcd(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* The multiple of panels, starting from `step`, that items need so that op finds its inputs in one item; 0: impossible. */
static size_t panels_for(const struct replay *rp, const struct op *linear, const struct op *op, size_t step)
{
    const struct bind *c = &rp->p->bind[op->bind], *l = &rp->p->bind[linear->bind];
    if (op->kind == OP_GLU) return !linear->column && l->n == 2 * c->n && c->n % PANEL == 0 ? step : 0;
    const size_t begin = linear->column, end = begin + l->n, heads_end = op->column + (size_t)c->heads * c->d_head;
    const size_t from = op->column > begin ? op->column : begin, to = heads_end < end ? heads_end : end;
    const size_t head = c->d_head / gcd(c->d_head, PANEL);
    if (from >= to) return step; /* op reads columns of other linears */
    if ((from - op->column) % c->d_head || (to - op->column) % c->d_head || (from - begin) % c->d_head) return 0;
    const size_t panels = step / gcd(step, head) * head;
    return panels <= STEP_MAX ? panels : 0;
}

size_t joined_panels(const struct replay *rp, const struct op *linear, const struct op *after, uint32_t n_after)
{
    size_t step = PANELS_STEP;
    for (const struct op *op = after; op < after + n_after; op++) step = panels_for(rp, linear, op, step);
    return step;
}

/* Does op follow the linear, working on its output? */
static int follows_linear(const struct replay *rp, const struct op *linear, const struct op *op)
{
    const int by_heads = op->kind == OP_ROPE || (op->kind == OP_NORM && rp->p->bind[op->bind].heads);
    const struct bind *c = &rp->p->bind[linear->bind];
    return (by_heads || op->kind == OP_GLU) && !linear->flags && !op->flags && op->in == linear->out && op->out == linear->out &&
           op->rows == linear->rows && c->n_y == c->n;
}

/* Do the linears of j compute all inputs of op, with each head in one item? */
static int all_follow(const struct replay *rp, const struct joined *j, const struct op *op)
{
    const struct op *first = &rp->p->op[j->body], *last = first + j->parallel;
    const struct bind *c = &rp->p->bind[op->bind];
    const size_t end = (size_t)last->column + rp->p->bind[last->bind].n;
    if (op->kind != OP_GLU && (op->column < first->column || op->column + (size_t)c->heads * c->d_head > end)) return 0;
    for (const struct op *linear = first; linear <= last; linear++)
        if (!follows_linear(rp, linear, op) || !joined_panels(rp, linear, last + 1, (uint32_t)(op - last))) return 0;
    return 1;
}

static int is_by_row(const struct op *op)
{
    const int kind = op->kind == OP_NORM || op->kind == OP_ADD || op->kind == OP_ROPE || op->kind == OP_GLU;
    return kind && !op->flags && op->rows != ROWS_OUT;
}

/* Does a filter follow that reads the same rows as the packing of keys and values? The rows and the packed values then stay live. */
static int filters_parallel(const struct plan *p, const struct op *pack)
{
    const struct op *filter = pack + 1;
    const uint16_t at = (uint16_t)(pack - p->op);
    return filter->kind == OP_FSMN && filter->in == pack->in && filter->rows == pack->rows && p->slot[pack->in].last > at + 1 &&
           p->slot[pack->kv_slot].last > at + 1;
}

struct joined ops_joined(const struct replay *rp, uint16_t at)
{
    const struct plan *p = rp->p;
    struct joined j = { at, at, 0, (uint16_t)(at + 1) };
    if (norm_joins(rp, at)) j.body = j.end++;
    const struct op *body = &p->op[j.body];
    if (body->kind == OP_LINEAR) {
        j.parallel = linears_parallel(rp, j.body);
        for (j.end += j.parallel; may_follow(rp, j.end) && all_follow(rp, &j, &p->op[j.end]);) j.end++;
    }
    if (body->kind == OP_KV_PACK && may_follow(rp, j.end) && filters_parallel(p, body)) j.end++;
    if (is_by_row(body))
        for (; may_follow(rp, j.end) && is_by_row(&p->op[j.end]) && !norm_joins(rp, j.end); j.end++) {
            const struct op *op = &p->op[j.end];
            if (op->rows != body->rows || (op->out != op->in && p->slot[op->out].first >= at)) break;
        }
    return j;
}
