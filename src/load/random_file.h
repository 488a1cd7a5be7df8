/* steno: a file that exists only as a rule. SPDX-License-Identifier: MIT
 *
 * For measuring speed and memory, a model's file of any shape and type is described piece by piece; its weights are computed from a seed
 * when they are read. Everything after that - reader, binding, packing - is the path real files take. */
#ifndef STENO_LOAD_RANDOM_FILE_H
#define STENO_LOAD_RANDOM_FILE_H
#include "base/arena.h"
#include "base/file.h"
#include "kern/kern.h"

struct random_piece {
    uint64_t off, size;
    const uint8_t *bytes;  /* as they are, or NULL: weights */
    enum dtype type;
    float mean, spread;    /* weights are uniform in mean +- spread */
};

struct random_file {
    struct random_piece *piece; /* [n], in rising order of off; NULL: there was no memory */
    uint32_t n, cap;
    uint64_t size, seed;
    struct arena *arena;
};

/* A file of at most cap pieces; memory from the arena, which must outlive the file. Want of memory is told by random_file_end. */
void random_file_init(struct random_file *r, struct arena *a, uint32_t cap, uint64_t seed);
/* The next n bytes, for the caller to write; NULL: no memory. */
uint8_t *random_file_bytes(struct random_file *r, size_t n);
/* Of the bytes added last, only the first n are there. */
void random_file_shorten(struct random_file *r, size_t n);
/* The next n numbers, uniform in mean +- spread, whole blocks of the type. */
void random_file_weights(struct random_file *r, enum dtype type, float mean, float spread, uint64_t n);
/* Open what was described as *f; r must outlive it, and name, too. */
int random_file_end(const struct random_file *r, struct file *f, const char *name, steno_error *e);
#endif
