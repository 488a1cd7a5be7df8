/* steno: writing GGUF files. SPDX-License-Identifier: MIT
 *
 * Keys first, then the list of tensors, then their bytes in the order of the list: so the header is known before a weight is read, and a
 * file of any size goes through a buffer of any size. Where the bytes go is the caller's. */
#ifndef STENO_LOAD_GGUF_WRITE_H
#define STENO_LOAD_GGUF_WRITE_H
#include "base/buf.h"
#include "load/tensor_write.h"

struct gguf_writer {
    struct byte_writer out;
    struct buf keys, tensors; /* as they will be written */
    uint64_t n_keys, n_tensors;
    uint64_t data;            /* bytes of the tensors with their padding */
    steno_error *e;
};

/* The writer of a file of this architecture (NULL: the keys to come say it); gguf_end frees what it holds, whatever has become of it. */
void gguf_begin(struct gguf_writer *g, const char *architecture, const struct model_sink *to, steno_error *e);
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

/* The bytes of a tensor as bytes_write_tensor has them, and their padding. */
int gguf_write_tensor(struct gguf_writer *g, const struct tensor *t, const struct tensor_change *c);
#endif
