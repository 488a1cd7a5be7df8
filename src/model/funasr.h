/* steno: settings and features of FunASR's models. SPDX-License-Identifier: MIT
 *
 * A folder describes a network in config.yaml, and has mean and variance of the features in am.mvn. A GGUF file of FunASR's runtime
 * contains all of it, with its own keys after the name of an architecture, and stores memory filters tap by tap. Names of tensors are the
 * same. A table has both spellings of every setting, for reading and writing. */
#ifndef STENO_MODEL_FUNASR_H
#define STENO_MODEL_FUNASR_H
#include "load/gguf_write.h"
#include "load/weights.h"

/* An integer in [lo, hi] at offset `at` of a struct. */
struct funasr_setting {
    const char *config, *gguf; /* NULL: that spelling does not have it, and the value is not changed */
    int32_t lo, hi, optional;  /* optional: FUNASR_CONFIG, FUNASR_GGUF: forms in which it may be missing */
    size_t at;
};

enum { FUNASR_CONFIG = 1, FUNASR_GGUF = 2 };

/* The model's name in a folder, the architecture's name in a GGUF file. */
int funasr_match(const struct weights *w, const char *model, const char *architecture);
int funasr_is_gguf(const struct weights *w);
/* Reads the n settings of the table. STENO_EFORMAT; the message names key and range. The layout of filters is stored in *w. */
int funasr_read_settings(void *to, const struct funasr_setting *row, size_t n, struct weights *w, steno_error *e);
/* Reads shift[width] and scale[width] of the features, allocated in the arena: x = (x + shift) * scale. STENO_EFORMAT if they are not
 * available. */
int funasr_read_cmvn(struct weights *w, int width, struct arena *a, float **shift, float **scale, steno_error *e);

/* ---- writing */

/* Writes the settings of a GGUF file. An optional setting is written only if it differs from `usual`. */
void funasr_put_settings(struct gguf_writer *g, const void *shape, const void *usual, const struct funasr_setting *row, size_t n);
struct convert_order;
/* Writes the header and all weights, matrices in the requested type. width: size of a feature row, 0: no audio. STENO_EARG: weights would
 * be rounded twice. */
int funasr_write_weights(struct gguf_writer *g, struct weights *w, int width, const struct convert_order *o);

extern const char *const funasr_spare[]; /* tensors that depend on settings; ends with NULL */
#endif
