/* steno: writing bytes, tensors and short headers of model files. SPDX-License-Identifier: MIT
 *
 * Rows of a tensor in any form are read a piece at a time, converted on all threads of a team, and written in order. Memory does not depend
 * on the size of the tensor, and the bytes do not depend on the number of threads. */
#include "convert/tensor_write.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "base/buf.h"
#include "kern/quantize_row.h"
#include "load/ggml.h"

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
struct row_piece {
    const struct tensor *t;
    const struct tensor_change *c;
    uint64_t at;            /* of the first row */
    size_t rows, k;
    uint8_t *in, *out;      /* [rows] as read, converted */
    float *x;               /* [rows, k] */
    uint8_t *bad;           /* [rows] 1: a number is not finite in the new type */
};

/* The source row of output row i of a piece. */
static size_t row_from(const struct row_piece *p, size_t i)
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
        quantize_row(rounded, t, x + i, n);
        dtype_widen_row(x + i, t, rounded, n);
    }
}

static void change_row(void *arg, int64_t i, int thread)
{
    const struct row_piece *p = arg;
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
    quantize_row_weighed(out, p->c->type, x, p->c->importance, p->k);
    p->bad[i] = dtype_find_nonfinite(p->c->type, out, p->k) < p->k;
}

static int write_piece(struct byte_writer *b, struct row_piece *p)
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
    struct row_piece p = { .t = t, .c = c, .k = (size_t)(t->dim[1] * t->dim[2] * t->dim[3]) };
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

int bytes_report_tensor(struct byte_writer *b, const struct tensor_note *n)
{
    if (!b->to->tensor || !b->to->tensor(b->to->user, n)) return STENO_OK;
    return err_set(b->e, STENO_ECANCELED, "the writing of the file was ended at tensor %s, %" PRIu32 " of %" PRIu32, n->name, n->i + 1,
                   n->n);
}

/* ---- whisper.cpp's .bin files ----------------------------------------------------------------------------------------------------- */

enum { MAGIC = 0x67676d6c, N_BINS = 201, BLOCK_LAYOUTS = 2000 /* version 2 of the block layouts, in thousands of ftype */ };

int32_t ggml_ftype_written(enum dtype t)
{
    const int32_t code = ggml_ftype_code(t);
    return code >= 0 && dtype_block(t) > 1 ? code + BLOCK_LAYOUTS : code;
}

static void put(struct buf *b, uint32_t v) /* little-endian */
{
    const uint8_t p[4] = { (uint8_t)v, (uint8_t)(v >> 8), (uint8_t)(v >> 16), (uint8_t)(v >> 24) };
    buf_add(b, p, sizeof p);
}

static int give(struct byte_writer *b, struct buf *from)
{
    const int rc = from->err ? err_nomem(b->e, from->len, "the header of a file") : bytes_write(b, from->p, from->len);
    buf_free(from);
    return rc;
}

int ggml_write_head(struct byte_writer *b, const struct ggml_head *h)
{
    struct buf head = { 0 };
    const int32_t n_mels = h->number[GGML_NUMBERS - 1];
    put(&head, MAGIC);
    for (int i = 0; i < GGML_NUMBERS; i++) put(&head, (uint32_t)h->number[i]);
    put(&head, (uint32_t)ggml_ftype_written(h->type));
    put(&head, (uint32_t)n_mels);
    put(&head, N_BINS);
    for (int32_t i = 0; i < n_mels * N_BINS; i++) {
        uint32_t bits;
        memcpy(&bits, &h->filters[i], sizeof bits);
        put(&head, bits);
    }
    put(&head, h->n_entries);
    for (uint32_t i = 0; i < h->n_entries; i++) {
        put(&head, h->vocab[i].n);
        buf_add(&head, h->vocab[i].s, h->vocab[i].n);
    }
    return give(b, &head);
}

int ggml_write_record(struct byte_writer *b, const char *name, enum dtype type, const uint64_t *dim, int n_dims)
{
    struct buf record = { 0 };
    put(&record, (uint32_t)n_dims);
    put(&record, (uint32_t)strlen(name));
    put(&record, (uint32_t)ggml_type_code(type));
    for (int i = n_dims - 1; i >= 0; i--) put(&record, (uint32_t)dim[i]); /* the fastest first */
    buf_str(&record, name);
    return give(b, &record);
}

/* ---- safetensors files ------------------------------------------------------------------------------------------------------------ */

void st_write_start(struct safetensors_writer *s)
{
    *s = (struct safetensors_writer){ .at = 0 };
    buf_str(&s->head, "{\"__metadata__\":{\"format\":\"pt\"}");
}

void st_put_tensor(struct safetensors_writer *s, const char *name, enum dtype type, const uint64_t *dim, int n_dims)
{
    const char *type_name = type == DT_F32 ? "F32" : type == DT_F16 ? "F16" : "BF16";
    uint64_t size = dtype_row_sz(type, 1);
    buf_fmt(&s->head, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[", name, type_name);
    for (int i = 0; i < n_dims; i++) {
        buf_fmt(&s->head, i ? ",%" PRIu64 : "%" PRIu64, dim[i]);
        size *= dim[i];
    }
    buf_fmt(&s->head, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", s->at, s->at + size);
    s->at += size;
}

int st_write_head(struct safetensors_writer *s, struct byte_writer *b)
{
    uint8_t len[8];
    buf_str(&s->head, "}");
    while (!s->head.err && s->head.len % 8) buf_str(&s->head, " ");
    for (int i = 0; i < 8; i++) len[i] = (uint8_t)((uint64_t)s->head.len >> 8 * i);
    int rc = s->head.err ? err_nomem(b->e, s->head.len, "the header of a file") : bytes_write(b, len, sizeof len);
    if (!rc) rc = bytes_write(b, s->head.p, s->head.len);
    buf_free(&s->head);
    return rc;
}
