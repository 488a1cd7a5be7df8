/* steno: GGUF models with random weights. SPDX-License-Identifier: MIT
 *
 * A GGUF file in the convention of FunASR's runtime or of llama.cpp, for benchmarks. It has complete settings and vocabulary; the weights
 * are computed when they are read. A family lists its tensors. */
#ifndef STENO_CONVERT_GGUF_RANDOM_H
#define STENO_CONVERT_GGUF_RANDOM_H
#include "convert/gguf_write.h"
#include "convert/random_file.h"

struct funasr_random {
    struct random_file *r;
    struct gguf_writer g;       /* for the settings */
    struct model_sink to;
    struct random_tensor *tensor; /* in file order */
    uint32_t n;
    enum dtype type;            /* of the matrices whose rows are whole blocks of it */
};

/* Begins a file of this architecture; memory as in random_file_init. funasr_random_end frees the rest and returns any error. */
void funasr_random_begin(struct funasr_random *f, struct random_file *r, struct arena *a, const char *architecture, enum dtype type,
                         uint64_t seed, steno_error *e);
void funasr_random_vocab(struct funasr_random *f, const char *key, uint32_t n); /* arbitrary words */
int funasr_random_end(struct funasr_random *f, struct file *file, steno_error *e);

/* ---- tensors PREFIX.NAME.weight and .bias; without a prefix NAME.weight */
void random_scale(struct funasr_random *f, const char *prefix, const char *name, uint64_t n); /* a norm without a bias */
void random_norm(struct funasr_random *f, const char *prefix, const char *name, uint64_t d);
void random_matrix(struct funasr_random *f, const char *prefix, const char *name, uint64_t n, uint64_t k); /* with a bias */
void random_plain(struct funasr_random *f, const char *prefix, const char *name, uint64_t n, uint64_t k);  /* without */
void random_filter(struct funasr_random *f, const char *prefix, const char *name, uint64_t n, uint64_t taps);
void random_cmvn(struct funasr_random *f, uint64_t width);
/* Any shape, f32: uniform in mean +- spread. */
struct random_fill { float mean, spread; };
void random_tensor(struct funasr_random *f, const char *name, const uint64_t *dim, int n_dims, struct random_fill fill);
/* A SAN-M encoder layer for rows of d_in. */
struct random_sanm { uint64_t d, d_ff, taps; };
void random_sanm_layer(struct funasr_random *f, const char *prefix, const struct random_sanm *s, uint64_t d_in);
/* All layers of an encoder, and its second list (tp_encoders) with more_layers. */
void random_sanm_encoder(struct funasr_random *f, const struct random_sanm *s, uint64_t width, int32_t layers, int32_t more_layers);
#endif
