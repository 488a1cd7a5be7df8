/* steno: writing GGUF files. SPDX-License-Identifier: MIT
 *
 * Keys first, then the list of tensors, then their bytes in the order of the list: so the header is known before a weight is read, and a
 * file of any size goes through a buffer of any size. Where the bytes go is the caller's. */
#ifndef STENO_LOAD_GGUF_WRITE_H
#define STENO_LOAD_GGUF_WRITE_H
#include "base/buf.h"
#include "base/team.h"
#include "load/weights.h"

/* A tensor that comes next. */
struct gguf_note {
    const char *name, *from, *to;    /* as the file calls it, and its types */
    const char *wanted;              /* the type that its rows have no whole blocks of; NULL: that is `to` */
    uint32_t i, n;                   /* which of how many */
    uint64_t from_sz, to_sz;
};

struct gguf_sink {
    int (*write)(void *user, const void *data, size_t n); /* all of it; 0, or anything else, which ends the writing */
    void *user;
    int (*tensor)(void *user, const struct gguf_note *t); /* as write; NULL: nobody asks */
    steno_team *team;                                     /* NULL: the caller rounds alone */
};

struct gguf_writer {
    const struct gguf_sink *to;
    struct buf keys, tensors; /* as they will be written */
    uint64_t n_keys, n_tensors;
    uint64_t data, at;        /* bytes of the tensors with their padding; bytes written */
    steno_error *e;
};

/* The writer of a file of this architecture (NULL: the keys to come say it); gguf_end frees what it holds, whatever has become of it. */
void gguf_begin(struct gguf_writer *g, const char *architecture, const struct gguf_sink *to, steno_error *e);
void gguf_end(struct gguf_writer *g);

/* ---- keys, which are not looked at: each may be there once. Want of memory is told by gguf_write_header. */
void gguf_put_u32(struct gguf_writer *g, const char *key, uint32_t v);
void gguf_put_f32(struct gguf_writer *g, const char *key, float v);
void gguf_put_bool(struct gguf_writer *g, const char *key, int v);
void gguf_put_text(struct gguf_writer *g, const char *key, const char *v);
void gguf_put_f32s(struct gguf_writer *g, const char *key, const float *v, uint32_t n);
void gguf_put_i32s(struct gguf_writer *g, const char *key, const int32_t *v, uint32_t n);
void gguf_put_vocab(struct gguf_writer *g, const char *key, const struct vocab_entry *v, uint32_t n);

/* All keys of a GGUF file that a reader has taken, as they lie there, but those in `but`, the last of which is NULL. */
int gguf_copy_keys(struct gguf_writer *g, const struct file *f, const char *const *but);

/* One more tensor. dim: as struct tensor has them, n_dims of them */
void gguf_put_tensor(struct gguf_writer *g, const char *name, enum dtype type, const uint64_t *dim, int n_dims);

/* All that was put. Then come the bytes of the tensors, in their order, in pieces of any size, each tensor ended by gguf_write_pad. */
int gguf_write_header(struct gguf_writer *g);
int gguf_write_data(struct gguf_writer *g, const void *data, size_t n);
int gguf_write_pad(struct gguf_writer *g);

/* What becomes of a tensor's rows, seen as [dim[0], everything else]. */
struct gguf_change {
    enum dtype type;
    const float *importance; /* [everything else], of dtype_narrow_weighed, or NULL */
    float add;               /* to every number */
    uint32_t turn;           /* in runs of so many rows those of the second half stand between those of the first; 0: rows stay */
};
/* The bytes of a tensor, and their padding. STENO_EFORMAT, STENO_EUNSUPPORTED: a number is not finite, there or in the type */
int gguf_write_tensor(struct gguf_writer *g, const struct tensor *t, const struct gguf_change *c);
int gguf_tell_tensor(struct gguf_writer *g, const struct gguf_note *n);
#endif
