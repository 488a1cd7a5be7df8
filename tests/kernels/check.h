/* steno: what the kernel checks share. SPDX-License-Identifier: MIT
 *
 * Buffers end flush against a page without access, so reading or writing one byte too far is a crash, and everything around what a
 * kernel may write is a canary. A failed check prints where and both values, and is counted. */
#ifndef STENO_TESTS_KERNELS_CHECK_H
#define STENO_TESTS_KERNELS_CHECK_H
#include <stddef.h>
#include <stdint.h>
#include "base/err.h"
#include "kern/kern.h"

struct check {
    const char *name;          /* level under test */
    const struct kern *kern;   /* its table */
    const struct kern *ref;    /* the plain C twins */
    const struct kern *vectors; /* the level below, if attention in int16 is over tiles here: the bits are the same; else NULL */
    void *scratch;             /* enough for linear and attention */
    int other_order;           /* it sums products of bf16 in another order than the twin (kern.h): 1 in linear, 2 in attention as well */
    int quick;                 /* on an emulated processor: fewer and smaller shapes; 2: still fewer */
    unsigned checks, failures;
};

/* Count a check; print (at most 20 times per level) when it failed. */
int check(struct check *c, int ok, const char *fmt, ...) PRINTF_LIKE(3, 4);

void *guarded(size_t n);       /* n bytes that end at an untouchable page; freed by guarded_free_all */
float *guarded_floats(size_t n);
void guarded_free_all(void);
void *aligned_alloc_64(size_t n);
/* Cut panels that the twin has packed as the level under test does (kern.h: i16_is_cut): n outputs of k weights. */
void cut_as_level(const struct check *c, enum kv_type t, void *panels, size_t n, size_t k);

void scratch_forget(void *scratch); /* kern_linear_scratch_max bytes, whatever is there */
/* The same before a call of linear. */
void scratch_for(void *scratch, const struct kern *kern, enum packed_type t, size_t k, size_t rows);

enum { CANARY = 0x7fc0dead };  /* a quiet NaN no kernel produces */
void fill_canary(float *p, size_t n);
int is_canary(float x);
int same_bits(const float *a, const float *b, size_t n);

uint32_t rnd(void);            /* the same numbers in every run, and in each part for every level */
float rnd_normal(void);        /* roughly normal, variance 1 */
void rnd_floats(float *p, size_t n, float scale);
/* Keys and values of one head as a block holds them (kv_stored.c). slot: position in the block; value: of values, else of keys. */
double kv_read(enum kv_type t, const void *block, size_t slot, size_t d, size_t d_head, int value);
float kv_scale(enum kv_type t, const void *block, size_t slot, size_t d, size_t d_head, int value); /* of integers */
/* Every byte that belongs to a position. */
void kv_fill(enum kv_type t, void *block, size_t slot, size_t d_head, int value, int byte);
/* What becomes of a position's numbers, [d_head]. */
void kv_round(enum kv_type t, float *x, size_t d_head, int value);
/* n stored rows of k weights of type t around 1 / sqrt(k). */
void rnd_rows(void *rows, enum dtype t, size_t n, size_t k);
/* Rows of type `from` packed into 64-byte aligned panels (free() them); all: those of t itself, resp. of f32 where t is in no file. */
void *pack_as(const void *rows, enum packed_type t, enum dtype from, size_t n, size_t k);
void *pack_all(const void *rows, enum packed_type t, size_t n, size_t k);

void check_pack(struct check *c);    /* packing, and what it loses */
void check_linear(struct check *c);
void check_lowp(struct check *c);
void check_blocks(struct check *c);  /* low-precision products by blocks */
void check_kv(struct check *c);
void check_attn(struct check *c);
void check_attn_bf16(struct check *c); /* its part for KV_BF16 */
void check_attn_ints(struct check *c); /* and for KV_INT */
void check_kv_ints(struct check *c);   /* of which this is what neither rows nor shapes show */
void check_attn_run(struct check *c);
void check_attn_rel(struct check *c);
void check_elem(struct check *c);
void check_spectra(struct check *c); /* against the definition in double, not the twins */
void check_types(struct check *c);   /* plain C only: conversion, packing, embedding */
#endif
