/* steno: settings and features of FunASR's models. SPDX-License-Identifier: MIT
 *
 * A folder describes a network in config.yaml, and has mean and variance of the features in am.mvn. A GGUF file of FunASR's runtime
 * contains all of it, with its own keys after the name of an architecture, and stores memory filters tap by tap. Names of tensors are the
 * same. A table has both spellings of every setting, for reading and writing. */
#ifndef STENO_MODEL_FUNASR_H
#define STENO_MODEL_FUNASR_H
#include "load/weights.h"
#include "model/family.h"

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

/* ---- word lists ------------------------------------------------------------------------------------------------------------------- */

/* In a folder a list is a text file, in a GGUF file an array of texts. */

/* Reads the lines of a list, concatenated in the arena. *text NULL: there is none. STENO_EFORMAT: they are too long */
int funasr_read_lines(struct weights *w, const char *file, const char *key, struct arena *a, const char **text, size_t *n, steno_error *e);

/* ---- vocabularies of recognisers -------------------------------------------------------------------------------------------------- */

/* Finds the vocabulary before the weights are read: it may be in another file, and belong to another model. m->n_vocab is known.
 * STENO_EFORMAT: different number of entries; or the status of weights_read_vocab */
int funasr_find_vocab(const steno_model *m, struct weights *w, steno_error *e);
/* Reads every entry, by id. text: rewrites s[n] in place and returns the new length; may be NULL. */
int funasr_read_vocab(steno_model *m, const struct weights *w, uint32_t (*text)(char *s, uint32_t n), steno_error *e);
#endif
