/* steno: Fun-ASR-Nano: the parts of its description. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_NANO_H
#define STENO_MODEL_NANO_H
#include "model/funasr.h"
#include "model/sanm_encoder.h"

/* Two linears, and transformer blocks with a quarter of the width inside. */
struct nano_adaptor { int32_t d_in, d, d_ff, layers, heads, downsample; };

struct nano_shape {
    struct sanm_encoder enc;
    int32_t more_layers;     /* after the encoder's first norm */
    struct nano_adaptor adp; /* makes the rows that the language model reads */
};

/* The CTC branch for word times: an adaptor of its own over the encoder's rows, and a head. */
struct nano_ctc { struct nano_adaptor adp; int32_t n_ids, blank; };

extern const char nano_architecture[]; /* of its GGUF files */
extern const struct audio_lm nano_audio_lm;

int nano_read_shape(struct nano_shape *s, struct weights *w, steno_error *e);
extern const struct funasr_settings nano_settings;
/* Adds the language model to the weights, wherever it is. llm: the caller's path, may be NULL. */
int nano_join(struct weights *w, const char *llm, steno_error *e);
int nano_rename(struct weights *w, steno_error *e); /* gives tensors the names that the plans use */

/* Input and output of an adaptor: names of its weights and ops, and the slot with its rows. */
struct nano_adaptor_names { const char *up, *up_bias, *down, *down_bias, *up_label, *down_label, *blocks; };
uint16_t nano_adaptor_build(struct build *b, const struct nano_adaptor *a, const struct nano_adaptor_names *n, uint16_t in);

/* 1: the weights of a CTC branch for rows of `d` numbers are complete, and *c describes it; 0: some are missing, so there is no branch;
 * STENO_EFORMAT */
int nano_ctc_find(struct nano_ctc *c, struct weights *w, int32_t d, steno_error *e);
/* Builds PLAN_ALIGN and struct audio_lm_ctc if these weights and the vocabulary of the head exist. */
int nano_ctc_describe(steno_model *m, struct weights *w, int32_t d, int32_t max_rows, steno_error *e);
/* Finds its vocabulary, which replaces that of the weights. STENO_ENOVOCAB: there is none */
int nano_ctc_find_vocab(struct weights *w, steno_error *e);
extern const char nano_key_tokens[], nano_key_heads[], nano_key_blank[]; /* keys of the branch in a GGUF file */
#endif
