/* steno: FastConformer with a CTC or a transducer head (Parakeet). SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_PARAKEET_H
#define STENO_MODEL_PARAKEET_H
#include "model/family.h"
#include "plan/conformer.h"

enum { PARAKEET_STACK = 8 /* frames of a row */ };

/* Sizes and choices of a file. */
struct parakeet_shape {
    int32_t d, layers, heads, d_ff, taps, n_mels, channels, scales_input;
    int32_t n_vocab;        /* pieces, without blank */
    int32_t has_biases;
};

int parakeet_read_shape(struct parakeet_shape *s, struct weights *w, steno_error *e);
/* Gives the tensors NeMo's names. */
int parakeet_respell(struct weights *w, steno_error *e);
/* Reads the vocabulary of s->n_vocab pieces into the model: bytes of their text, nothing for control pieces. */
int parakeet_read_vocab(steno_model *m, struct weights *w, steno_error *e);

extern const struct pieces parakeet_pieces;
#endif
