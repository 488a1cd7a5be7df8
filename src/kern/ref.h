/* steno: declarations shared by the plain C files. SPDX-License-Identifier: MIT
 *
 * The parts of kern_init_c, and functions that several files of the twins (ref_*.c), packing and stored types need. */
#ifndef STENO_KERN_REF_H
#define STENO_KERN_REF_H
#include "kern/kv.h"
#include "kern/scratch.h"

/* Write outputs [n0, n1) of `rows` rows from row m to keys and values. src holds them in the cache's type: [rows] of ld elements, output n0
 * first. */
void kern_put_kv(const struct linear *l, size_t m, size_t rows, size_t n0, size_t n1, const void *src, size_t ld);

/* Bias, activation, residual and store of one row's part of a panel, outputs [n0, n1), in plain C. */
void linear_epilogue_c(const struct linear *l, size_t m, size_t n0, size_t n1, const float *acc);

/* The twins of kern's pack and panel_finite. */
void pack_lossy(void *panel, struct q8_loss *loss, enum packed_type t, enum dtype from, const void *const rows[PANEL], size_t k);
int panel_finite_c(enum packed_type t, const void *panel, size_t k);

/* For attention over a run: logarithms to base 2 of e, and of the largest weights, 254 and 16380. */
#define RUN_LOG2_E 1.44269504f
#define RUN_LOG2_I8 7.98868469f
#define RUN_LOG2_I16 13.9996477f

/* Numbers from `least` to `most` as int8: (x - middle) * inverse rounded, with the value middle + scale * q. NaN if one is not finite. */
struct i8_range { float middle, scale, inverse; };
static inline struct i8_range i8_range_of(float least, float most)
{
    const float middle = least * 0.5f + most * 0.5f, reach = most - middle > middle - least ? most - middle : middle - least;
    const struct int_scale s = i8_scale_of(bits_of_f32(reach) & 0x7fffffffu);
    return (struct i8_range){ middle, s.scale, s.inverse };
}

/* Parts of kern_init_c. */
void kern_init_linear_c(struct kern *k);
void kern_init_lowp_c(struct kern *k);
void kern_init_attn_c(struct kern *k);
void kern_init_attn_run_c(struct kern *k);
void kern_init_attn_rel_c(struct kern *k);
void kern_init_spectra_c(struct kern *k);
void act_none_c(float *y, const float *x, size_t n);
void act_gelu_erf_c(float *y, const float *x, size_t n);
void act_gelu_tanh_c(float *y, const float *x, size_t n);
void act_relu_c(float *y, const float *x, size_t n);
void act_silu_c(float *y, const float *x, size_t n);
void act_tanh_c(float *y, const float *x, size_t n);
void act_sigmoid_c(float *y, const float *x, size_t n);

/* The twins of linear and embed of one type. A file defines linear_c first. */
#define LINEAR_C(name, t)                                                                                           \
    static void linear_##name(const struct linear *l, size_t m0, size_t m1, size_t p0, size_t p1, void *scratch)    \
    {                                                                                                               \
        linear_c(l, m0, m1, p0, p1, scratch, t);                                                                    \
    }                                                                                                               \
    static void embed_##name(float *y, const void *w, size_t id, size_t k)                                          \
    {                                                                                                               \
        const uint8_t *panel = (const uint8_t *)w + id / PANEL * pack_panel_sz(t, k);                               \
        for (size_t i = 0; i < k; i++) y[i] = panel_value(t, panel, i, id % PANEL);                                 \
    }
#define SET_LINEAR_C(name, t) k->linear[t] = linear_##name, k->embed[t] = embed_##name;

/* ---- an unpacked block of a K type (dtype_k.c): element e is d * scale[e / run_len] * q[e] - dmin * min[e / run_len]. */
struct k_block {
    uint16_t d, dmin;                                /* f16 */
    int8_t scale[KBLOCK / 16], min[KBLOCK / 16];     /* min and dmin are zeros if the type has no minimum */
    int8_t q[KBLOCK];
};
void k_block_split(struct k_block *b, enum dtype t, const uint8_t *stored);

/* The index in a row of n that replaces index i - before past its ends, mirrored without repeating the ends; n > before. */
static inline size_t mirrored(size_t i, size_t before, size_t n)
{
    const size_t at = i < before ? before - i : i - before;
    return at < n ? at : 2 * n - 2 - at;
}
#endif
