/* steno: the encoder that FunASR's recognisers share. SPDX-License-Identifier: MIT
 *
 * Gao et al. 2020, SAN-M: rows of stacked filter banks, scaled, with sines of their positions; layers of attention beside a memory. The
 * first layer goes from the rows' width to the model's. Reference: FunASR 1.4, funasr/models/sanm/encoder.py. */
#ifndef STENO_MODEL_SANM_ENCODER_H
#define STENO_MODEL_SANM_ENCODER_H
#include "model/family.h"
#include "plan/sub.h"

struct sanm_encoder {
    int32_t d, heads, d_ff, layers, taps, shift;
    int32_t n_mels, lfr_m, lfr_n;                /* of the front end */
    int32_t width;                               /* of a row of the input; 0: as the front end makes it */
    float eps;                                   /* of the norms */
    int causal;                                  /* rows attend to those up to their own; in the last layer, to as many as a run's table
                                                    says (run.cross_len) */
    int32_t streams;                             /* 1: rows come scaled and with their positions, and look back (STATE_PAST) */
};

/* Settings against each other and the tensors; what may be left out is filled in. STENO_EFORMAT */
int sanm_encoder_check(struct sanm_encoder *s, struct weights *w, steno_error *e);
struct sub_dims sanm_encoder_dims(const struct sanm_encoder *s);
/* The plan's input and what layers make of it, before any norm: the slot. */
uint16_t sanm_encoder_build(struct build *b, const struct sanm_encoder *s);
uint16_t sanm_encoder_layers(struct build *b, const struct sanm_encoder *s, uint16_t in); /* the same of rows that are in a slot already */
/* More layers of the same kind, PREFIX.0 .. n-1, over x. */
void sanm_encoder_more(struct build *b, const struct sanm_encoder *s, const char *prefix, uint32_t n, uint16_t x);
/* What matrices of such encoders, and of decoders behind them, may be packed as: all of their layers alike. */
struct precision sanm_precision(const steno_model *m);
/* The front end; features are normalised by the vectors in am.mvn beside the weights, or in them, unless the caller wants none of it. */
int sanm_encoder_front(steno_model *m, struct weights *w, const struct sanm_encoder *s, steno_error *e);
#endif
