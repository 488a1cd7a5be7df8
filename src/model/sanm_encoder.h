/* steno: the encoder that FunASR's recognisers share. SPDX-License-Identifier: MIT
 *
 * Gao et al. 2020, SAN-M: rows of stacked filter banks, scaled, plus sinusoidal positions; layers of attention with a parallel memory
 * filter. The first layer converts the rows' width to the model's. Reference: FunASR 1.4, funasr/models/sanm/encoder.py. */
#ifndef STENO_MODEL_SANM_ENCODER_H
#define STENO_MODEL_SANM_ENCODER_H
#include "model/family.h"
#include "plan/build.h"
#include "plan/sub.h"

struct sanm_encoder {
    int32_t d, heads, d_ff, layers, taps, shift;
    int32_t n_mels, lfr_m, lfr_n;                /* of the front end */
    int32_t width;                               /* of an input row; 0: as the front end makes it */
    float eps;                                   /* of the norms */
    int causal;                                  /* rows attend to rows up to themselves; in the last layer, to the number in the run's
                                                  * table (run.cross_len) */
    int32_t streams;                             /* 1: rows are already scaled, have positions, and look back (STATE_PAST) */
};

/* Checks settings against each other and the tensors, and fills in optional ones. STENO_EFORMAT */
int sanm_encoder_check(struct sanm_encoder *s, struct weights *w, steno_error *e);
struct sub_dims sanm_encoder_dims(const struct sanm_encoder *s);
/* Builds the plan's input and the layers. Returns the slot before any norm. */
uint16_t sanm_encoder_build(struct build *b, const struct sanm_encoder *s);
uint16_t sanm_encoder_layers(struct build *b, const struct sanm_encoder *s, uint16_t in); /* the same for rows that are already in a slot */
/* More layers of the same kind, PREFIX.0 .. n-1, over x. */
void sanm_encoder_more(struct build *b, const struct sanm_encoder *s, const char *prefix, uint32_t n, uint16_t x);
/* Packed types of matrices in such encoders and the decoders after them, the same for all layers. */
struct precision sanm_precision(const steno_model *m);
/* Sets up the front end. Features are normalised by the vectors of am.mvn beside the weights, or of the weights themselves, unless the
 * caller disables it. */
int sanm_encoder_front(steno_model *m, struct weights *w, const struct sanm_encoder *s, steno_error *e);

/* ---- a CTC head ------------------------------------------------------------------------------------------------------------------- */

/* Adds the phases "head" (logits of the rows that request them) and "best" (the most probable ids of all rows), PHASE_LM_HEAD and
 * PHASE_BEST. rows: the input slot, of width d. Weights: NAME.weight, NAME.bias. */
void ctc_head_build(struct build *b, const char *name, uint16_t rows, uint32_t d, uint32_t n_ids);
#endif
