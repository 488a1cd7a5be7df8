/* steno: writing bytes, tensors and short headers of model files. SPDX-License-Identifier: MIT
 *
 * A writer of any format emits bytes strictly in order, so a file of any size passes through a buffer of any size. The caller's sink
 * receives the bytes. */
#ifndef STENO_CONVERT_TENSOR_WRITE_H
#define STENO_CONVERT_TENSOR_WRITE_H
#include "base/buf.h"
#include "base/team.h"
#include "load/weights.h"

/* The tensor that is written next. */
struct tensor_note {
    const char *name, *from, *to;    /* its name in the file, its types before and after */
    const char *requested;           /* the requested type, if the row length is no multiple of its block; else NULL */
    uint32_t i, n;                   /* index of the tensor, number of tensors */
    uint64_t from_sz, to_sz;
};

struct model_sink {
    int (*write)(void *user, const void *data, size_t n); /* writes all n bytes; returns 0, or another value to stop */
    void *user;
    int (*tensor)(void *user, const struct tensor_note *t); /* as write; may be NULL */
    int (*file)(void *user, const char *name);            /* of a folder: the next bytes belong to this file; as write */
    steno_team *team;                                     /* rounds in parallel; may be NULL */
};

struct byte_writer {
    const struct model_sink *to;
    uint64_t at;             /* bytes written so far to this file */
    uint32_t sum;            /* CRC-32 of the bytes written since it was set to 0 */
    int sums;                /* 1: compute `sum` */
    steno_error *e;
};

int bytes_write(struct byte_writer *b, const void *data, size_t n);
int bytes_write_file(struct byte_writer *b, const char *name); /* the next file of a folder begins; `at` becomes 0 */

/* Conversion of a tensor's rows, seen as [dim[0], all other dimensions]. */
struct tensor_change {
    enum dtype type;
    enum dtype via;          /* numbers are rounded to this type first; DT_F32: no extra rounding */
    const float *importance; /* [all other dimensions], weights of quantize_row_weighed; may be NULL */
    float add;               /* added to every number */
    uint32_t turn;           /* rows per run whose two halves are interleaved; 0: rows keep their order */
};
/* Write the bytes of a tensor. STENO_EFORMAT, STENO_EUNSUPPORTED: a number is not finite, as stored or in the new type */
int bytes_write_tensor(struct byte_writer *b, const struct tensor *t, const struct tensor_change *c);
int bytes_report_tensor(struct byte_writer *b, const struct tensor_note *n);

/* ---- whisper.cpp's .bin files ----------------------------------------------------------------------------------------------------- */

/* The header, then for each tensor a record and its bytes (bytes_write_tensor). Nothing is aligned, and the file has no tensor count. */

enum { GGML_NUMBERS = 10 };

struct ggml_head {
    int32_t number[GGML_NUMBERS];    /* in the file's order, from n_vocab to n_mels */
    enum dtype type;                 /* of the matrices */
    const float *filters;            /* [n_mels, 201] */
    const struct vocab_entry *vocab; /* [n_entries] */
    uint32_t n_entries;
};

int32_t ggml_ftype_written(enum dtype t); /* the number in a file, including the version of the block layouts; -1: no such files */
int ggml_write_head(struct byte_writer *b, const struct ggml_head *h);
/* dim: n_dims extents, slowest first */
int ggml_write_record(struct byte_writer *b, const char *name, enum dtype type, const uint64_t *dim, int n_dims);

/* ---- safetensors files ------------------------------------------------------------------------------------------------------------ */

/* First the list of tensors, then their bytes (bytes_write_tensor), in the same order and without gaps. */

struct safetensors_writer { struct buf head; uint64_t at; };

void st_write_start(struct safetensors_writer *s);
void st_put_tensor(struct safetensors_writer *s, const char *name, enum dtype type, const uint64_t *dim, int n_dims); /* f32, f16 or bf16 */
int st_write_head(struct safetensors_writer *s, struct byte_writer *b); /* and frees it */
#endif
