/* steno: writing whisper.cpp .bin files. SPDX-License-Identifier: MIT
 *
 * The header, then each tensor: a record, and its bytes by bytes_write_tensor. Nothing is aligned, and no count of tensors is kept. */
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

int32_t ggml_ftype_written(enum dtype t); /* as files say it, with the version of the layouts of blocks; -1: there are no such files */
int ggml_write_head(struct byte_writer *b, const struct ggml_head *h);
/* dim: slowest first, n_dims of them */
int ggml_write_record(struct byte_writer *b, const char *name, enum dtype type, const uint64_t *dim, int n_dims);
#endif
