/* steno: hot words of Paraformer as data. SPDX-License-Identifier: MIT
 *
 * Words that a caller gives become vectors by a recurrent layer over their tokens, and the tokens of a clip attend to those vectors: in
 * SeACo Paraformer (Shi et al. 2023) in a decoder beside the model's own, with a head of its own, which is heeded where it has a hot word
 * to say; in Contextual Paraformer within the last layer of the decoder, where there is always one vector, for no word. Reference: FunASR
 * 1.4, funasr/models/seaco_paraformer, funasr/models/contextual_paraformer. */
#ifndef STENO_MODEL_PARAFORMER_HOTWORDS_H
#define STENO_MODEL_PARAFORMER_HOTWORDS_H
#include "model/family.h"
#include "plan/sub.h"

/* Of a decoder beside the model's own. */
struct hot_shape {
    enum cif_hot kind;
    int32_t heads, d_ff, layers, attending, taps, shift;
    int32_t no_hotword; /* the id by which its head says that no hot word is spoken */
    int32_t shared;     /* embeddings of the contextual kind are the decoder's */
};

/* What the files say; the model is of a class that has hot words, or of none such. */
int hot_read(struct hot_shape *h, struct weights *w, steno_error *e);
void hot_put(struct gguf_writer *g, const struct hot_shape *h);

/* Of a contextual decoder, in the phase of tokens: its last layer, over x. What it made of itself and what it heard are the plan's side
 * outputs CIF_OWN and CIF_HEARD. */
void hot_build_last(struct build *b, const struct sub_dims *d, uint16_t x, uint16_t frames);
/* What a decoder beside the model's own goes by: tokens before and behind it, its side outputs CIF_OWN and CIF_HEARD. */
void hot_build_sums(struct build *b, const struct sub_dims *d, uint16_t frames);
void hot_build_hidden(struct build *b, const struct sub_dims *d, uint16_t last);
/* Plans of words and of what attends to them; d: the decoder's. */
int hot_build(steno_model *m, struct weights *w, const struct hot_shape *h, const struct sub_dims *d, steno_error *e);
#endif
