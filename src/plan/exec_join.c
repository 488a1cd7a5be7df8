/* steno: ops that go together on the CPU. SPDX-License-Identifier: MIT
 *
 * Behind an op all threads wait for each other, and a step of one row has little to do between two products. So what needs nothing but what
 * the same thread has just made follows at once:
 *
 *   a norm of few rows       each thread makes the rows for itself before the linear's items
 *   behind a linear          norms of heads, rotary positions and gates, on an item's rows and columns, while those are in the caches
 *   row by row               norms, sums, gates and turns of a row, one after the other
 *
 * The same kernels see the same numbers in the same order, so no bit changes. Slots whose lives do not overlap share bytes: what follows
 * writes where the op before it wrote, or a slot that was alive before the first. */
#include "plan/partition.h"
#include "plan/replay.h"

enum {
    NORM_ROWS = 8,  /* that each thread makes for itself: then that takes no longer than waiting */
    STEP_MAX = 16   /* panels of an item at least, so that it ends where a head does */
};

size_t joined_norm_sz(const struct bind *norm)
{
    return norm->heads ? 0 : NORM_ROWS * ((size_t)norm->k + ROW_PAD) * sizeof(float);
}

static int may_follow(const struct replay *rp, uint16_t at)
{
    return at < rp->last && at != rp->split;
}

/* Does the norm `at` make rows for the linear behind it and for nobody else? What it reads must live on: one thread may still need it while
 * another writes what the linear makes. */
static int norm_joins(const struct replay *rp, uint16_t at)
{
    const struct op *norm = &rp->p->op[at], *linear = norm + 1;
    const struct slot *slot = rp->p->slot;
    if (norm->kind != OP_NORM || norm->flags || rp->p->bind[norm->bind].heads || !may_follow(rp, (uint16_t)(at + 1))) return 0;
    return linear->kind == OP_LINEAR && !linear->flags && linear->in == norm->out && linear->aux != norm->out &&
           linear->rows == norm->rows && slot[norm->out].last == at + 1 && slot[norm->in].last > at && rows_of(rp, norm) <= NORM_ROWS;
}

static size_t gcd(size_t a, size_t b)
{
    while (b) {
        const size_t rest = a % b;
        a = b, b = rest;
    }
    return a;
}

/* Panels of items that op finds what it needs in, where items were multiples of `step`; 0: of none. */
static size_t panels_for(const struct replay *rp, const struct op *linear, const struct op *op, size_t step)
{
    const struct bind *c = &rp->p->bind[op->bind], *l = &rp->p->bind[linear->bind];
    if (op->kind == OP_GLU) return !linear->column && l->n == 2 * c->n && c->n % PANEL == 0 ? step : 0;
    const size_t end = (size_t)op->column + (size_t)c->heads * c->d_head, head = c->d_head / gcd(c->d_head, PANEL);
    if (op->column < linear->column || end > (size_t)linear->column + l->n) return 0;
    if ((op->column - linear->column) % c->d_head) return 0;
    const size_t panels = step / gcd(step, head) * head;
    return panels <= STEP_MAX ? panels : 0;
}

size_t joined_panels(const struct replay *rp, const struct op *linear, uint32_t n_after)
{
    size_t step = PANELS_STEP;
    for (const struct op *op = linear + 1; op <= linear + n_after; op++) step = panels_for(rp, linear, op, step);
    return step;
}

/* Behind a linear, on what it wrote. */
static int follows_linear(const struct replay *rp, const struct op *linear, const struct op *op)
{
    const int by_heads = op->kind == OP_ROPE || (op->kind == OP_NORM && rp->p->bind[op->bind].heads);
    const struct bind *c = &rp->p->bind[linear->bind];
    return (by_heads || op->kind == OP_GLU) && !linear->flags && !op->flags && op->in == linear->out && op->out == linear->out &&
           op->rows == linear->rows && c->n_y == c->n;
}

static int is_by_row(const struct op *op)
{
    const int kind = op->kind == OP_NORM || op->kind == OP_ADD || op->kind == OP_ROPE || op->kind == OP_GLU;
    return kind && !op->flags && op->rows != ROWS_OUT;
}

struct joined ops_joined(const struct replay *rp, uint16_t at)
{
    const struct plan *p = rp->p;
    struct joined j = { at, at, (uint16_t)(at + 1) };
    if (norm_joins(rp, at)) j.body = j.end++;
    const struct op *body = &p->op[j.body];
    if (body->kind == OP_LINEAR)
        for (; may_follow(rp, j.end) && follows_linear(rp, body, &p->op[j.end]); j.end++)
            if (!joined_panels(rp, body, j.end - j.body)) break;
    if (is_by_row(body))
        for (; may_follow(rp, j.end) && is_by_row(&p->op[j.end]) && !norm_joins(rp, j.end); j.end++) {
            const struct op *op = &p->op[j.end];
            if (op->rows != body->rows || (op->out != op->in && p->slot[op->out].first >= at)) break;
        }
    return j;
}
