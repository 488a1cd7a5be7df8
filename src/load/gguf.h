/* steno: reading GGUF files. SPDX-License-Identifier: MIT
 *
 * Counts, then keys with values, then records of tensors, then their bytes; little-endian, dimensions fastest first. One model may span
 * several files. Shared by the files of the reader (gguf*.c). */
#ifndef STENO_LOAD_GGUF_H
#define STENO_LOAD_GGUF_H
#include "base/rd.h"
#include "load/weights.h"

/* Type numbers of values in a file. */
enum gguf_value {
    GGUF_U8,
    GGUF_I8,
    GGUF_U16,
    GGUF_I16,
    GGUF_U32,
    GGUF_I32,
    GGUF_F32,
    GGUF_BOOL,
    GGUF_TEXT,
    GGUF_LIST,
    GGUF_U64,
    GGUF_I64,
    GGUF_F64,
    GGUF_VALUES
};

enum { GGUF_ALIGN = 32,
       GGUF_ALIGN_MAX = 1 << 20,
       GGUF_NAME_MAX = 63,
       GGUF_KEY_MAX = 65535 };

/* One file during indexing. */
struct gguf {
    struct weights *w;
    const struct file *f;
    struct meta *meta; /* receives the keys */
    steno_error *e;
    struct rd r;
    struct arena scratch; /* lives while the file is read */
    uint64_t n_keys, n_tensors;
    uint64_t align; /* alignment of tensor offsets */
};

/* Report that the file ends, or cannot be read, in `where`. @return a status */
int gguf_cut(const struct gguf *g, const char *where);
/* All keys, from the reader's position. Numbers, truth values and texts become entries of the table, lists become its long lists. */
int gguf_read_keys(struct gguf *g);
/* Counts, keys and tensors of one file. */
int gguf_read_file(struct weights *w, const struct file *f, struct meta *meta, uint64_t *n_tensors, steno_error *e);
/* The other files of a model in several files, if this is one; n_tensors: tensors of the first file. */
int gguf_read_parts(struct weights *w, uint64_t n_tensors, steno_error *e);
/* Fill w->vocab with the strings by id that the keys list. Entries about strings and special ids must be consistent. */
int gguf_read_vocab(struct weights *w, steno_error *e);
/* Check that the keys of a language model about layers and heads (ARCHITECTURE.KEY) are in range and consistent. */
int gguf_check_network(const struct weights *w, const char *architecture, steno_error *e);
#endif
