/* steno: bytes and tensors of model files that are written. SPDX-License-Identifier: MIT
 *
 * A writer of any format emits bytes strictly in order, so a file of any size passes through a buffer of any size. The caller's sink
 * receives the bytes. */
#ifndef STENO_LOAD_TENSOR_WRITE_H
#define STENO_LOAD_TENSOR_WRITE_H
#include "base/team.h"
#include "load/weights.h"

/* The tensor that is written next. */
struct tensor_note {
    const char *name, *from, *to;    /* its name in the file, its types before and after */
    const char *wanted;              /* the requested type, if the row length is no multiple of its block; else NULL */
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
    const float *importance; /* [all other dimensions], weights of dtype_narrow_weighed; may be NULL */
    float add;               /* added to every number */
    uint32_t turn;           /* rows per run whose two halves are interleaved; 0: rows keep their order */
};
/* Write the bytes of a tensor. STENO_EFORMAT, STENO_EUNSUPPORTED: a number is not finite, as stored or in the new type */
int bytes_write_tensor(struct byte_writer *b, const struct tensor *t, const struct tensor_change *c);
int bytes_tell_tensor(struct byte_writer *b, const struct tensor_note *n);
#endif
