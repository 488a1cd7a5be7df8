/* steno: hot words of Paraformer as data. SPDX-License-Identifier: MIT
 *
 * A recurrent layer over their tokens turns hot words into vectors, and the tokens of a clip attend to these. In SeACo Paraformer (Shi et
 * al. 2023) a second decoder with its own head does this, and its output is used where it is a hot word. In Contextual Paraformer the last
 * layer of the decoder does it, where one vector always stands for no word. Reference: FunASR 1.4, funasr/models/seaco_paraformer,
 * funasr/models/contextual_paraformer. */
#ifndef STENO_MODEL_PARAFORMER_HOTWORDS_H
#define STENO_MODEL_PARAFORMER_HOTWORDS_H
#include "model/family.h"
#include "plan/sub.h"

/* Shape of the second decoder. */
struct hot_shape {
    enum cif_hot kind;
    int32_t heads, d_ff, layers, attending, taps, shift;
    int32_t no_hotword; /* id by which its head signals that there is no hot word */
    int32_t shared;     /* the contextual kind uses the decoder's embeddings */
};

/* Reads the settings. The model's class may have hot words or not. */
int hot_read(struct hot_shape *h, struct weights *w, steno_error *e);
void hot_put(struct gguf_writer *g, const struct hot_shape *h);

/* The last layer of a contextual decoder over x, in the phase of tokens. Its own rows and its attention over the frames are the plan's side
 * outputs CIF_OWN and CIF_HEARD. */
void hot_build_last(struct build *b, const struct sub_dims *d, uint16_t x, uint16_t frames);
/* Input of the second decoder: tokens before and after the main decoder, its side outputs CIF_OWN and CIF_HEARD. */
void hot_build_sums(struct build *b, const struct sub_dims *d, uint16_t frames);
void hot_build_hidden(struct build *b, const struct sub_dims *d, uint16_t last);
/* Builds the plans of words and of the attention to them; d: sizes of the main decoder. */
int hot_build(steno_model *m, struct weights *w, const struct hot_shape *h, const struct sub_dims *d, steno_error *e);
#endif
