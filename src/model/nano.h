/* steno: Fun-ASR-Nano: the parts of its description. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_NANO_H
#define STENO_MODEL_NANO_H
#include "model/sanm_encoder.h"

struct nano_shape {
    struct sanm_encoder enc;
    int32_t more_layers;                                             /* behind the encoder's first norm */
    struct { int32_t d_in, d, d_ff, layers, heads, downsample; } adp; /* the adaptor, whose rows the language model reads */
};

extern const char nano_architecture[]; /* of its GGUF files */
extern const struct audio_lm nano_audio_lm;

int nano_read_shape(struct nano_shape *s, struct weights *w, steno_error *e);
struct convert_order;
int nano_to_gguf(struct weights *w, const struct convert_order *o, const struct gguf_sink *to, steno_error *e);
int nano_random_file(struct random_file *r, struct file *f, struct arena *a, enum dtype type, uint64_t seed, steno_error *e);
void nano_put_settings(struct gguf_writer *g, const struct nano_shape *s);
/* The language model joins the weights, wherever it lies. llm: a path that the caller says, NULL: none. */
int nano_join(struct weights *w, const char *llm, steno_error *e);
int nano_rename(struct weights *w, steno_error *e); /* tensors get the names that plans know */
#endif
