/* steno: Paraformer's predictor. SPDX-License-Identifier: MIT
 *
 * It gives each frame a weight, by which frames are summed to tokens. One of its kinds has separate weights for times, in rows that are
 * finer than frames (Shi et al. 2023, "BiCif"). Reference: FunASR 1.4, CifPredictorV2 and CifPredictorV3. */
#ifndef STENO_MODEL_PARAFORMER_PREDICTOR_H
#define STENO_MODEL_PARAFORMER_PREDICTOR_H
#include "load/gguf_write.h"
#include "plan/build.h"

struct predictor {
    double threshold, tail, smooth, noise, fine_smooth, fine_noise;
    int32_t fine;       /* rows per frame for times, 0: times come from frames */
    int32_t after_conv; /* these rows come from the convolution's output, not from the frames */
    int32_t recurrent;  /* a bidirectional recurrent layer processes them */
};

/* STENO_EFORMAT; STENO_EUNSUPPORTED: another kind of predictor */
int predictor_read(struct predictor *p, struct weights *w, steno_error *e);
void predictor_put(struct gguf_writer *g, struct predictor *p);

struct predictor_slots { uint16_t frames, conv; };
/* Its output for the rows `frames`, d wide in a padded slot, is the plan's first side output. */
struct predictor_slots predictor_build(struct build *b, uint16_t frames, uint32_t d);
/* Its output for the finer rows is the second side output. */
void predictor_build_times(struct build *b, const struct predictor *p, const struct predictor_slots *s, uint32_t d);
#endif
