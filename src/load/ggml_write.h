/* steno: writing whisper.cpp .bin files. SPDX-License-Identifier: MIT
 *
 * The header, then for each tensor a record and its bytes (bytes_write_tensor). Nothing is aligned, and the file has no tensor count. */
#ifndef STENO_LOAD_GGML_WRITE_H
#define STENO_LOAD_GGML_WRITE_H
#include "load/tensor_write.h"

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
#endif
