/* steno: Paraformer: what its files share. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_PARAFORMER_H
#define STENO_MODEL_PARAFORMER_H
#include "model/funasr.h"
#include "model/parts.h"
#include "model/sanm_encoder.h"
#include "plan/build.h"
#include "plan/sub.h"

/* ---- the predictor ---------------------------------------------------------------------------------------------------------------- */

/* It gives each frame a weight, by which frames are summed to tokens. One of its kinds has separate weights for times, in rows that are
 * finer than frames (Shi et al. 2023, "BiCif"). Reference: FunASR 1.4, CifPredictorV2 and CifPredictorV3. */

struct predictor {
    double threshold, tail, smooth, noise, fine_smooth, fine_noise;
    int32_t fine;       /* rows per frame for times, 0: times come from frames */
    int32_t after_conv; /* these rows come from the convolution's output, not from the frames */
    int32_t recurrent;  /* a bidirectional recurrent layer processes them */
};

/* STENO_EFORMAT; STENO_EUNSUPPORTED: another kind of predictor */
int predictor_read(struct predictor *p, struct weights *w, steno_error *e);

/* Optional numbers, with the defaults of a folder and of a GGUF file, whose exporter writes few of them. */
struct predictor_number { const char *config, *gguf; double lo, hi, value, gguf_value; size_t at; };
/* The exporter writes the first ones always; those after PREDICTOR_PLAIN belong to times. */
enum { PREDICTOR_ALWAYS = 2, PREDICTOR_PLAIN = 4, PREDICTOR_NUMBERS = 6 };
extern const struct predictor_number predictor_number[PREDICTOR_NUMBERS];
extern const char predictor_after_conv[]; /* the key of after_conv in a GGUF file */

struct predictor_slots { uint16_t frames, conv; };
/* Its output for the rows `frames`, d wide in a padded slot, is the plan's first side output. */
struct predictor_slots predictor_build(struct build *b, uint16_t frames, uint32_t d);
/* Its output for the finer rows is the second side output. */
void predictor_build_times(struct build *b, const struct predictor *p, const struct predictor_slots *s, uint32_t d);

/* ---- hot words -------------------------------------------------------------------------------------------------------------------- */

/* A recurrent layer over their tokens turns hot words into vectors, and the tokens of a clip attend to these. In SeACo Paraformer (Shi et
 * al. 2023) a second decoder with its own head does this, and its output is used where it is a hot word. In Contextual Paraformer the last
 * layer of the decoder does it, where one vector always stands for no word. Reference: FunASR 1.4, funasr/models/seaco_paraformer,
 * funasr/models/contextual_paraformer. */

/* Shape of the second decoder. */
struct hot_shape {
    enum cif_hot kind;
    int32_t heads, d_ff, layers, attending, taps, shift;
    int32_t no_hotword; /* id by which its head signals that there is no hot word */
    int32_t shared;     /* the contextual kind uses the decoder's embeddings */
};

/* Reads the settings. The model's class may have hot words or not. */
int hot_read(struct hot_shape *h, struct weights *w, steno_error *e);
extern const struct funasr_settings hot_settings;
extern const char hot_shared_key[]; /* the key of `shared` in a GGUF file */

/* The last layer of a contextual decoder over x, in the phase of tokens. Its own rows and its attention over the frames are the plan's side
 * outputs CIF_OWN and CIF_ATTENDED. */
void hot_build_last(struct build *b, const struct sub_dims *d, uint16_t x, uint16_t frames);
/* Input of the second decoder: tokens before and after the main decoder, its side outputs CIF_OWN and CIF_ATTENDED. */
void hot_build_sums(struct build *b, const struct sub_dims *d, uint16_t frames);
void hot_build_hidden(struct build *b, const struct sub_dims *d, uint16_t last);
/* Builds the plans of words and of the attention to them; d: sizes of the main decoder. */
int hot_build(steno_model *m, struct weights *w, const struct hot_shape *h, const struct sub_dims *d, steno_error *e);

/* ---- the dictionary of hot words -------------------------------------------------------------------------------------------------- */

/* The dictionary that splits words into tokens is the file seg_dict in a folder, and a list of lines in a GGUF file. */

int dict_read(steno_model *m, struct weights *w, steno_error *e); /* the vocabulary must be set */
extern const char dict_file[], dict_key[]; /* names of the file and of the list */
int dict_word_ids(const steno_model *m, const char *phrase, size_t n, struct buf *ids); /* as cif.word_ids */

/* ---- the model ------------------------------------------------------------------------------------------------------------------- */

struct paraformer_shape {
    struct sanm_encoder enc;
    int32_t heads, d_ff, layers, attending, more_layers, taps, shift, n_vocab;
    struct predictor predictor;
    struct hot_shape hot;
};

extern const char paraformer_architecture[]; /* of its GGUF files */
extern const struct funasr_settings paraformer_settings;
int paraformer_read_shape(struct paraformer_shape *s, struct weights *w, steno_error *e);

extern const struct cif paraformer_cif;
/* Prepares the text of each id for building words. The model's vocabulary must be set. */
int paraformer_text_init(steno_model *m, steno_error *e);
void paraformer_ids_to_bytes(const steno_model *m, const int32_t *ids, int32_t n, struct buf *bytes); /* as family.ids_to_bytes */
#endif
