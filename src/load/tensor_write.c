/* steno: bytes and tensors of model files that are written. SPDX-License-Identifier: MIT
 *
 * Rows of a tensor in any form are read a piece at a time, converted on all threads of a team, and written in order. Memory does not depend
 * on the size of the tensor, and the bytes do not depend on the number of threads. */
#include "load/tensor_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "kern/narrow.h"

enum { PIECE = 1 << 19 /* numbers read and written at once; more if a row, or a run of interleaved rows, has more */ };

int bytes_write(struct byte_writer *b, const void *data, size_t n)
{
    b->at += n;
    if (b->sums) b->sum = (uint32_t)crc32_z(b->sum, data, n);
    if (!b->to->write(b->to->user, data, n)) return STENO_OK;
    return err_set(b->e, STENO_ECANCELED, "the bytes of the file were not taken");
}

int bytes_write_file(struct byte_writer *b, const char *name)
{
    b->at = 0;
    if (!b->to->file(b->to->user, name)) return STENO_OK;
    return err_set(b->e, STENO_ECANCELED, "the file %s was not taken", name);
}

/* A piece of rows. */
struct piece {
    const struct tensor *t;
    const struct tensor_change *c;
    uint64_t at;            /* of the first row */
    size_t rows, k;
    uint8_t *in, *out;      /* [rows] as read, converted */
    float *x;               /* [rows, k] */
    uint8_t *bad;           /* [rows] 1: a number is not finite in the new type */
};

/* The source row of output row i of a piece. */
static size_t row_from(const struct piece *p, size_t i)
{
    const size_t run = p->c->turn, in_run = run ? i % run : 0;
    return run ? i - in_run + in_run % 2 * (run / 2) + in_run / 2 : i;
}

/* Round to a type without blocks. */
static void round_row(float *x, enum dtype t, size_t k)
{
    float rounded[KBLOCK];
    for (size_t i = 0, n; i < k; i += n) {
        n = k - i < KBLOCK ? k - i : KBLOCK;
        dtype_narrow_row(rounded, t, x + i, n);
        dtype_widen_row(x + i, t, rounded, n);
    }
}

static void change_row(void *arg, int64_t i, int thread)
{
    const struct piece *p = arg;
    const size_t in_sz = dtype_row_sz(p->t->type, p->k), out_sz = dtype_row_sz(p->c->type, p->k);
    float *x = p->x + (size_t)i * p->k;
    uint8_t *out = p->out + (size_t)i * out_sz;
    (void)thread;
    p->bad[i] = 0;
    if (p->t->type == p->c->type && p->c->add == 0) { /* stored blocks are never rounded again */
        memcpy(out, p->in + row_from(p, (size_t)i) * in_sz, in_sz);
        return;
    }
    dtype_widen_row(x, p->t->type, p->in + row_from(p, (size_t)i) * in_sz, p->k);
    for (size_t j = 0; j < p->k && p->c->add != 0; j++) x[j] += p->c->add;
    if (p->c->via != DT_F32) round_row(x, p->c->via, p->k);
    dtype_narrow_weighed(out, p->c->type, x, p->c->importance, p->k);
    p->bad[i] = dtype_find_nonfinite(p->c->type, out, p->k) < p->k;
}

static int write_piece(struct byte_writer *b, struct piece *p)
{
    const struct tensor_change *c = p->c;
    const int is_same = p->t->type == c->type && c->add == 0 && !c->turn;
    int rc = tensor_read_rows(p->t, p->at, p->rows, p->in, b->e);
    if (!rc) rc = tensor_check_rows(p->t, p->at, p->rows, p->in, b->e);
    if (rc) return rc;
    if (is_same) return bytes_write(b, p->in, p->rows * dtype_row_sz(c->type, p->k));
    team_for(b->to->team, (int64_t)p->rows, change_row, p);
    for (size_t i = 0; i < p->rows; i++)
        if (p->bad[i])
            return err_set(b->e, STENO_EUNSUPPORTED, "%s: tensor %s has a value that is too large for %s", p->t->file->name, p->t->name,
                           dtype_name(c->type));
    return bytes_write(b, p->out, p->rows * dtype_row_sz(c->type, p->k));
}

int bytes_write_tensor(struct byte_writer *b, const struct tensor *t, const struct tensor_change *c)
{
    struct piece p = { .t = t, .c = c, .k = (size_t)(t->dim[1] * t->dim[2] * t->dim[3]) };
    const uint64_t n = t->dim[0], run = c->turn ? c->turn : 1;
    if (n % run)
        return err_set(b->e, STENO_EFORMAT, "%s: tensor %s has %" PRIu64 " rows, want a multiple of %" PRIu64, t->file->name, t->name, n,
                       run);
    uint64_t most = p.k < PIECE ? PIECE / p.k / run * run : run;
    if (most < run) most = run;
    if (most > n) most = n;
    const size_t numbers = (size_t)most * p.k;
    p.in = malloc(numbers * sizeof *p.x);
    p.out = malloc(numbers * sizeof *p.x);
    p.x = malloc(numbers * sizeof *p.x);
    p.bad = malloc((size_t)most);
    int rc = p.in && p.out && p.x && p.bad ? STENO_OK : err_nomem(b->e, 3 * numbers * sizeof *p.x, "rows of a tensor");
    for (; p.at < n && !rc; p.at += most) {
        p.rows = (size_t)(n - p.at < most ? n - p.at : most);
        rc = write_piece(b, &p);
    }
    free(p.in);
    free(p.out);
    free(p.x);
    free(p.bad);
    return rc;
}

int bytes_tell_tensor(struct byte_writer *b, const struct tensor_note *n)
{
    if (!b->to->tensor || !b->to->tensor(b->to->user, n)) return STENO_OK;
    return err_set(b->e, STENO_ECANCELED, "the writing of the file was ended at tensor %s, %" PRIu32 " of %" PRIu32, n->name, n->i + 1,
                   n->n);
}
