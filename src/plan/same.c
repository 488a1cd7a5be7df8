/* steno: the common parts of two models. SPDX-License-Identifier: MIT */
#include "plan/same.h"
#include <string.h>

enum { FIRST_BYTES = 64 }; /* distinguishes most matrices without reading them as a whole */

const void *same_matrix(const struct plan *plans, int n_plans, enum packed_type t, uint64_t n, uint64_t k, const void *packed)
{
    const size_t sz = pack_sz(t, n, (size_t)k);
    if (sz < FIRST_BYTES) return NULL;
    for (int p = 0; p < n_plans; p++)
        for (uint16_t i = 0; i < plans[p].n_binds; i++) {
            const struct bind *c = &plans[p].bind[i];
            if (!c->w || c->type != t || c->n != n || c->k != k || c->approx || pack_sz(t, c->n, c->k) != sz) continue;
            if (!memcmp(c->w, packed, FIRST_BYTES) && !memcmp(c->w, packed, sz)) return c->w;
        }
    return NULL;
}

static int same_numbers(const float *a, const float *b, size_t n)
{
    return a == b || (a && b && !memcmp(a, b, n * sizeof *a));
}

static int same_bind(const struct plan *p, const struct op *op, const struct bind *a, const struct bind *b)
{
    const int same = a->n == b->n && a->k == b->k && a->n_y == b->n_y && a->n_kv == b->n_kv && a->type == b->type && a->act == b->act &&
                     a->norm_kind == b->norm_kind && a->heads == b->heads && a->kv_heads == b->kv_heads && a->d_head == b->d_head &&
                     a->stride == b->stride && !memcmp(&a->scale, &b->scale, sizeof a->scale) && !memcmp(&a->eps, &b->eps, sizeof a->eps);
    if (!same || a->filter || b->filter || a->approx || b->approx || !a->w != !b->w) return 0; /* encoders of windows have no filters */
    return (a->w == b->w || !memcmp(a->w, b->w, pack_sz((enum packed_type)a->type, a->n, a->k))) && same_numbers(a->bias, b->bias, a->n) &&
           same_numbers(a->norm_weight, b->norm_weight, a->k) && same_numbers(a->positions, b->positions, (size_t)p->max_rows * a->n) &&
           op->kind != OP_LSTM;
}

int same_phase(const struct plan *a, const struct plan *b, int phase)
{
    const struct phase *f = &a->phase[phase], *g = &b->phase[phase];
    if (!f->name || !g->name || f->first != g->first || f->last != g->last || a->max_rows != b->max_rows || a->input != b->input ||
        a->output != b->output || a->slot[a->output].width != b->slot[b->output].width)
        return 0;
    if (memcmp(a->op + f->first, b->op + f->first, (f->last - f->first) * sizeof *a->op) != 0) return 0;
    for (uint16_t i = f->first; i < f->last; i++)
        if (a->op[i].bind < a->n_binds && !same_bind(a, &a->op[i], &a->bind[a->op[i].bind], &b->bind[b->op[i].bind])) return 0;
    return 1;
}
