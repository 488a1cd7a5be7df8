/* steno: tensors of GGUF files, row by row. SPDX-License-Identifier: MIT
 *
 * Rows of a tensor in any form are read a piece at a time, changed and rounded, on all threads of a team, and written in order: memory does
 * not depend on the size of the tensor, nor the bytes on the number of threads. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "kern/narrow.h"
#include "load/gguf_write.h"

enum { PIECE = 1 << 19 /* numbers read and written at once, unless a row, or a run of rows that change places, has more */ };

/* Rows on their way. */
struct piece {
    const struct tensor *t;
    const struct gguf_change *c;
    uint64_t at;            /* of the first row */
    size_t rows, k;
    uint8_t *in, *out;      /* [rows] as read, as written */
    float *x;               /* [rows, k] */
    uint8_t *bad;           /* [rows] a number is not finite in the type */
};

/* The row of a piece that is written as number i. */
static size_t row_from(const struct piece *p, size_t i)
{
    const size_t run = p->c->turn, in_run = run ? i % run : 0;
    return run ? i - in_run + in_run % 2 * (run / 2) + in_run / 2 : i;
}

static void change_row(void *arg, int64_t i, int thread)
{
    const struct piece *p = arg;
    const size_t in_sz = dtype_row_sz(p->t->type, p->k), out_sz = dtype_row_sz(p->c->type, p->k);
    float *x = p->x + (size_t)i * p->k;
    uint8_t *out = p->out + (size_t)i * out_sz;
    (void)thread;
    p->bad[i] = 0;
    if (p->t->type == p->c->type && p->c->add == 0) { /* blocks are not rounded again, wherever they stand */
        memcpy(out, p->in + row_from(p, (size_t)i) * in_sz, in_sz);
        return;
    }
    dtype_widen_row(x, p->t->type, p->in + row_from(p, (size_t)i) * in_sz, p->k);
    for (size_t j = 0; j < p->k && p->c->add != 0; j++) x[j] += p->c->add;
    dtype_narrow_weighed(out, p->c->type, x, p->c->importance, p->k);
    p->bad[i] = dtype_find_nonfinite(p->c->type, out, p->k) < p->k;
}

static int write_piece(struct gguf_writer *g, struct piece *p)
{
    const struct gguf_change *c = p->c;
    const int is_same = p->t->type == c->type && c->add == 0 && !c->turn;
    int rc = tensor_read_rows(p->t, p->at, p->rows, p->in, g->e);
    if (!rc) rc = tensor_check_rows(p->t, p->at, p->rows, p->in, g->e);
    if (rc) return rc;
    if (is_same) return gguf_write_data(g, p->in, p->rows * dtype_row_sz(c->type, p->k));
    team_for(g->to->team, (int64_t)p->rows, change_row, p);
    for (size_t i = 0; i < p->rows; i++)
        if (p->bad[i])
            return err_set(g->e, STENO_EUNSUPPORTED, "%s: tensor %s has a value that is too large for %s", p->t->file->name, p->t->name,
                           dtype_name(c->type));
    return gguf_write_data(g, p->out, p->rows * dtype_row_sz(c->type, p->k));
}

int gguf_write_tensor(struct gguf_writer *g, const struct tensor *t, const struct gguf_change *c)
{
    struct piece p = { .t = t, .c = c, .k = (size_t)(t->dim[1] * t->dim[2] * t->dim[3]) };
    const uint64_t n = t->dim[0], run = c->turn ? c->turn : 1;
    if (n % run)
        return err_set(g->e, STENO_EFORMAT, "%s: tensor %s has %" PRIu64 " rows, want a multiple of %" PRIu64, t->file->name, t->name, n,
                       run);
    uint64_t most = p.k < PIECE ? PIECE / p.k / run * run : run;
    if (most < run) most = run;
    if (most > n) most = n;
    const size_t numbers = (size_t)most * p.k;
    p.in = malloc(numbers * sizeof *p.x);
    p.out = malloc(numbers * sizeof *p.x);
    p.x = malloc(numbers * sizeof *p.x);
    p.bad = malloc((size_t)most);
    int rc = p.in && p.out && p.x && p.bad ? STENO_OK : err_nomem(g->e, 3 * numbers * sizeof *p.x, "rows of a tensor");
    for (; p.at < n && !rc; p.at += most) {
        p.rows = (size_t)(n - p.at < most ? n - p.at : most);
        rc = write_piece(g, &p);
    }
    free(p.in);
    free(p.out);
    free(p.x);
    free(p.bad);
    return rc ? rc : gguf_write_pad(g);
}

int gguf_tell_tensor(struct gguf_writer *g, const struct gguf_note *n)
{
    if (!g->to->tensor || !g->to->tensor(g->to->user, n)) return STENO_OK;
    return err_set(g->e, STENO_ECANCELED, "the writing of the file was ended at tensor %s, %" PRIu32 " of %" PRIu32, n->name, n->i + 1,
                   n->n);
}
