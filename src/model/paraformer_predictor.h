/* steno: Paraformer's predictor. SPDX-License-Identifier: MIT
 *
 * It gives each frame a weight, by which frames are added up to tokens. One of its kinds tells times by weights of their own, of rows that
 * are finer than frames (Shi et al. 2023, "BiCif"). Reference: FunASR 1.4, CifPredictorV2 and CifPredictorV3. */
#ifndef STENO_MODEL_PARAFORMER_PREDICTOR_H
#define STENO_MODEL_PARAFORMER_PREDICTOR_H
#include "load/gguf_write.h"
#include "plan/build.h"

struct predictor {
    double threshold, tail, smooth, noise, fine_smooth, fine_noise;
    int32_t fine;       /* rows that tell times for each frame, 0: frames do */
    int32_t after_conv; /* they come from the convolution's output, not from the frames */
    int32_t recurrent;  /* a recurrent layer goes over them both ways */
};

/* STENO_EFORMAT; STENO_EUNSUPPORTED: one of another kind */
int predictor_read(struct predictor *p, struct weights *w, steno_error *e);
void predictor_put(struct gguf_writer *g, struct predictor *p);

struct predictor_slots { uint16_t frames, conv; };
/* What it says of each of the rows `frames`, d wide in a padded slot, is the plan's first side output. */
struct predictor_slots predictor_build(struct build *b, uint16_t frames, uint32_t d);
/* What it says of each finer row is the second one. */
void predictor_build_times(struct build *b, const struct predictor *p, const struct predictor_slots *s, uint32_t d);
#endif
