/* steno: language models with random weights. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_LM_RANDOM_H
#define STENO_MODEL_LM_RANDOM_H
#include "load/random_file.h"
#include "model/funasr_random.h"

struct lm_shape;
const struct lm_shape *lm_shape_find(const char *name); /* "qwen3-0.6b"; NULL: unknown shape */
extern const char lm_shape_names[];                     /* list of all names, for messages */
/* Makes a GGUF file without a tokenizer. Memory comes from the arena, which must outlive *f, as must *r. */
int lm_random_file(struct random_file *r, struct file *f, struct arena *a, const struct lm_shape *s, enum dtype type, uint64_t seed,
                   steno_error *e);
/* Adds the settings and tensors to a file with other content. */
void lm_random_add(struct funasr_random *w, const struct lm_shape *s);
#endif
