/* steno: writing GGUF files. SPDX-License-Identifier: MIT
 *
 * Keys first, then the list of tensors, then their bytes in the order of the list. The header is therefore known before a weight is read,
 * and a file of any size passes through a buffer of any size. The caller's sink receives the bytes. */
#ifndef STENO_CONVERT_GGUF_WRITE_H
#define STENO_CONVERT_GGUF_WRITE_H
#include "base/buf.h"
#include "convert/tensor_write.h"

struct gguf_writer {
    struct byte_writer out;
    struct buf keys, tensors; /* in the form of the file */
    uint64_t n_keys, n_tensors;
    uint64_t data;            /* bytes of the tensors including padding */
    steno_error *e;
};

/* Start a file of this architecture (NULL: a later key gives it). gguf_end frees the writer's memory and must be called in every case. */
void gguf_begin(struct gguf_writer *g, const char *architecture, const struct model_sink *to, steno_error *e);
void gguf_end(struct gguf_writer *g);

/* ---- keys. They are not validated: put each at most once. gguf_write_header reports missing memory. */
void gguf_put_u32(struct gguf_writer *g, const char *key, uint32_t v);
void gguf_put_i32(struct gguf_writer *g, const char *key, int32_t v);
void gguf_put_f32(struct gguf_writer *g, const char *key, float v);
void gguf_put_bool(struct gguf_writer *g, const char *key, int v);
void gguf_put_text(struct gguf_writer *g, const char *key, const char *v);
void gguf_put_f32s(struct gguf_writer *g, const char *key, const float *v, uint32_t n);
void gguf_put_i32s(struct gguf_writer *g, const char *key, const int32_t *v, uint32_t n);
void gguf_put_vocab(struct gguf_writer *g, const char *key, const struct vocab_entry *v, uint32_t n);

/* Copy the keys of a GGUF file, already accepted by a reader, unchanged. `but` lists the keys to skip and ends with NULL. */
int gguf_copy_keys(struct gguf_writer *g, const struct file *f, const char *const *but);

/* Add a tensor. dim: n_dims extents, as in struct tensor */
void gguf_put_tensor(struct gguf_writer *g, const char *name, enum dtype type, const uint64_t *dim, int n_dims);

/* Write all keys and the list of tensors. The caller then writes the bytes of the tensors in order, in pieces of any size, and ends each
 * tensor with gguf_write_pad. */
int gguf_write_header(struct gguf_writer *g);
int gguf_write_data(struct gguf_writer *g, const void *data, size_t n);
int gguf_write_pad(struct gguf_writer *g);

/* Write the bytes of a tensor (bytes_write_tensor) and their padding. */
int gguf_write_tensor(struct gguf_writer *g, const struct tensor *t, const struct tensor_change *c);
#endif
