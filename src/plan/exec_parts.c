/* steno: row-wise ops on the CPU, alone or joined with a linear (exec_join.c). SPDX-License-Identifier: MIT */
#include "plan/replay.h"

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
        const float *x = row0(rp, op->in) + (size_t)r * rp->p->slot[op->in].ld + a.c0;
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
