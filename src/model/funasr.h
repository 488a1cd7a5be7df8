/* steno: how FunASR's models are stored. SPDX-License-Identifier: MIT
 *
 * A folder says what a network is like in its config.yaml, and has mean and variance of the features in am.mvn. A GGUF file of FunASR's
 * runtime says the same in words of its own, behind the name of an architecture, with all of it inside, and has the filters of memories
 * tap by tap; names of tensors are the same. A table has both spellings of every setting, for those who read and for who writes. */
#ifndef STENO_MODEL_FUNASR_H
#define STENO_MODEL_FUNASR_H
#include "load/gguf_write.h"
#include "load/weights.h"

/* A whole number in [lo, hi] at `at` of a struct. */
struct funasr_setting {
    const char *config, *gguf; /* NULL: that spelling does not say it, and the value is left alone */
    int32_t lo, hi, optional;  /* optional: FUNASR_CONFIG, FUNASR_GGUF: that one need not say it */
    size_t at;
};

enum { FUNASR_CONFIG = 1, FUNASR_GGUF = 2 };

/* The model's name in a folder, the architecture's in a GGUF file. */
int funasr_match(const struct weights *w, const char *model, const char *architecture);
int funasr_is_gguf(const struct weights *w);
/* Fill what the table says, n rows of it; STENO_EFORMAT names key and range. How filters lie is noted in *w. */
int funasr_read_settings(void *to, const struct funasr_setting *row, size_t n, struct weights *w, steno_error *e);
/* shift[width] and scale[width] of the features, from the arena: x = (x + shift) * scale. STENO_EFORMAT when they cannot be had. */
int funasr_read_cmvn(struct weights *w, int width, struct arena *a, float **shift, float **scale, steno_error *e);

/* ---- writing */

/* The settings that a GGUF file has, of those that it need not say only what differs from `usual`. */
void funasr_put_settings(struct gguf_writer *g, const void *shape, const void *usual, const struct funasr_setting *row, size_t n);
struct convert_order;
/* Everything that was put, and all weights, matrices in the type that is wanted; features have `width` values, 0: nothing is heard.
 * STENO_EARG: they would be rounded twice. */
int funasr_write_weights(struct gguf_writer *g, struct weights *w, int width, const struct convert_order *o);

extern const char *const funasr_spare[]; /* tensors that are looked at or not, as settings say; NULL behind the last */
#endif
