/* steno: a model file that exists only as a rule. SPDX-License-Identifier: MIT
 *
 * For measuring speed and memory, a whisper.cpp .bin file of any shape and type is described piece by piece; its weights are computed
 * from a seed when they are read. Everything after that - reader, binding, packing - is the path real files take. */
#ifndef STENO_LOAD_RANDOM_H
#define STENO_LOAD_RANDOM_H
#include "base/arena.h"
#include "load/weights.h"

struct random_piece {
    uint64_t off, size;
    const uint8_t *bytes;  /* as they are, or NULL: weights */
    enum dtype type;
    float mean, spread;    /* weights are uniform in mean +- spread */
};

struct random_file {
    struct random_piece *piece; /* [n], in rising order of off */
    uint32_t n, cap;
    uint64_t size, seed;
    struct arena *arena;
};

/* Whisper-shaped file: header, filters, a vocabulary of n_vocab_entries short words, all tensors. Memory from the arena, which must
 * outlive *f. type: of the matrices. STENO_EARG when rows do not divide into the type's blocks. */
int random_model_file(struct random_file *r, struct file *f, struct arena *a, const struct model_dims *d, uint32_t n_vocab_entries,
                      enum dtype type, uint64_t seed, steno_error *e);
#endif
