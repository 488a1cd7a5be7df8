/* steno: writing GGUF files. SPDX-License-Identifier: MIT
 *
 * Keys first, then the list of tensors, then their bytes in the order of the list: so the header is known before a weight is read, and a
 * file of any size goes through a buffer of any size. Where the bytes go is the caller's. */
#ifndef STENO_LOAD_GGUF_WRITE_H
#define STENO_LOAD_GGUF_WRITE_H
#include "base/buf.h"
#include "load/weights.h"

struct gguf_sink {
    int (*write)(void *user, const void *data, size_t n); /* all of it; 0, or anything else, which ends the writing */
    void *user;
};

struct gguf_writer {
    const struct gguf_sink *to;
    struct buf keys, tensors; /* as they will be written */
    uint64_t n_keys, n_tensors;
    uint64_t data, at;        /* bytes of the tensors with their padding; bytes written */
    steno_error *e;
};

/* The writer of a file of this architecture; gguf_end frees what it holds, whatever has become of it. */
void gguf_begin(struct gguf_writer *g, const char *architecture, const struct gguf_sink *to, steno_error *e);
void gguf_end(struct gguf_writer *g);

/* ---- keys, which are not looked at: each may be there once. Want of memory is told by gguf_write_header. */
void gguf_put_u32(struct gguf_writer *g, const char *key, uint32_t v);
void gguf_put_f32(struct gguf_writer *g, const char *key, float v);
void gguf_put_text(struct gguf_writer *g, const char *key, const char *v);
void gguf_put_i32s(struct gguf_writer *g, const char *key, const int32_t *v, uint32_t n);
void gguf_put_vocab(struct gguf_writer *g, const char *key, const struct vocab_entry *v, uint32_t n);

/* One more tensor. dim: as struct tensor has them, n_dims of them */
void gguf_put_tensor(struct gguf_writer *g, const char *name, enum dtype type, const uint64_t *dim, int n_dims);

/* All that was put. Then come the bytes of the tensors, in their order, in pieces of any size, each tensor ended by gguf_write_pad. */
int gguf_write_header(struct gguf_writer *g);
int gguf_write_data(struct gguf_writer *g, const void *data, size_t n);
int gguf_write_pad(struct gguf_writer *g);
#endif
