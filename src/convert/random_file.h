/* steno: a file computed from a seed. SPDX-License-Identifier: MIT
 *
 * For measurements of speed and memory. A model file of any shape and type is described piece by piece. Its weights are computed from a
 * seed when they are read. All later steps (reader, binding, packing) are those of real files. */
#ifndef STENO_CONVERT_RANDOM_FILE_H
#define STENO_CONVERT_RANDOM_FILE_H
#include "base/arena.h"
#include "base/file.h"
#include "kern/kern.h"

struct random_piece {
    uint64_t off, size;
    const uint8_t *bytes;  /* the bytes themselves; NULL: weights */
    enum dtype type;
    float mean, spread;    /* weights are uniform in mean +- spread */
};

struct random_file {
    struct random_piece *piece; /* [n], in rising order of off; NULL: out of memory */
    uint32_t n, cap;
    uint64_t size, seed;
    struct arena *arena;
};

/* Start a file of at most cap pieces. Memory comes from the arena, which must outlive the file. random_file_end reports missing memory. */
void random_file_init(struct random_file *r, struct arena *a, uint32_t cap, uint64_t seed);
/* Add n bytes, which the caller writes; NULL: out of memory. */
uint8_t *random_file_bytes(struct random_file *r, size_t n);
/* Keep only the first n of the bytes added last. */
void random_file_shorten(struct random_file *r, size_t n);
/* Add n numbers, uniform in mean +- spread, in whole blocks of the type. */
void random_file_weights(struct random_file *r, enum dtype type, float mean, float spread, uint64_t n);
/* Open the described file as *f. r and name must outlive it. */
int random_file_end(const struct random_file *r, struct file *f, const char *name, steno_error *e);
#endif
