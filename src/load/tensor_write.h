/* steno: bytes and tensors of model files that are written. SPDX-License-Identifier: MIT
 *
 * A writer of any format gives bytes one after the other and never goes back, so that a file of any size goes through a buffer of any size.
 * Where the bytes go is the caller's. */
#ifndef STENO_LOAD_TENSOR_WRITE_H
#define STENO_LOAD_TENSOR_WRITE_H
#include "base/team.h"
#include "load/weights.h"

/* A tensor that comes next. */
struct tensor_note {
    const char *name, *from, *to;    /* as the file calls it, and its types */
    const char *wanted;              /* the type that its rows have no whole blocks of; NULL: that is `to` */
    uint32_t i, n;                   /* which of how many */
    uint64_t from_sz, to_sz;
};

struct model_sink {
    int (*write)(void *user, const void *data, size_t n); /* all of it; 0, or anything else, which ends the writing */
    void *user;
    int (*tensor)(void *user, const struct tensor_note *t); /* as write; NULL: nobody asks */
    int (*file)(void *user, const char *name);            /* of a folder: what follows are the bytes of this file; as write */
    steno_team *team;                                     /* NULL: the caller rounds alone */
};

struct byte_writer {
    const struct model_sink *to;
    uint64_t at;             /* bytes written so far, of this file */
    uint32_t sum;            /* CRC-32 of what was written since it was set to 0 */
    int sums;                /* 1: it is wanted */
    steno_error *e;
};

int bytes_write(struct byte_writer *b, const void *data, size_t n);
int bytes_write_file(struct byte_writer *b, const char *name); /* the next file of a folder begins; `at` is 0 again */

/* What becomes of a tensor's rows, seen as [dim[0], everything else]. */
struct tensor_change {
    enum dtype type;
    enum dtype via;          /* numbers are rounded to this type first; DT_F32: to no other */
    const float *importance; /* [everything else], of dtype_narrow_weighed, or NULL */
    float add;               /* to every number */
    uint32_t turn;           /* in runs of so many rows those of the second half stand between those of the first; 0: rows stay */
};
/* The bytes of a tensor. STENO_EFORMAT, STENO_EUNSUPPORTED: a number is not finite, there or in the type */
int bytes_write_tensor(struct byte_writer *b, const struct tensor *t, const struct tensor_change *c);
int bytes_tell_tensor(struct byte_writer *b, const struct tensor_note *n);
#endif
