/* steno: settings and features of FunASR's models. SPDX-License-Identifier: MIT
 *
 * A folder describes a network in config.yaml, and has mean and variance of the features in am.mvn. A GGUF file of FunASR's runtime
 * contains all of it, with its own keys after the name of an architecture, and stores memory filters tap by tap. Names of tensors are the
 * same. A table has both spellings of every setting, for reading and writing. */
#ifndef STENO_MODEL_FUNASR_H
#define STENO_MODEL_FUNASR_H
#include "load/weights.h"

/* An integer in [lo, hi] at offset `at` of a struct. */
struct funasr_setting {
    const char *config, *gguf; /* NULL: that spelling does not have it, and the value is not changed */
    int32_t lo, hi, optional;  /* optional: FUNASR_CONFIG, FUNASR_GGUF: forms in which it may be missing */
    size_t at;
};

enum { FUNASR_CONFIG = 1, FUNASR_GGUF = 2 };

/* The settings of a struct: n rows, and the values of a struct whose settings are all missing. */
struct funasr_settings { const struct funasr_setting *row; size_t n; const void *usual; };

/* The model's name in a folder, the architecture's name in a GGUF file. */
int funasr_match(const struct weights *w, const char *model, const char *architecture);
int funasr_is_gguf(const struct weights *w);
/* Reads the settings into a struct that has the usual values. STENO_EFORMAT; the message names key and range. The layout of filters is
 * stored in *w. */
int funasr_read_settings(void *to, const struct funasr_settings *s, struct weights *w, steno_error *e);
/* Reads shift[width] and scale[width] of the features, allocated in the arena: x = (x + shift) * scale. STENO_EFORMAT if they are not
 * available. */
int funasr_read_cmvn(struct weights *w, int width, struct arena *a, float **shift, float **scale, steno_error *e);

extern const char *const funasr_spare[]; /* tensors that depend on settings; ends with NULL */
#endif
