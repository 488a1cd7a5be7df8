/* steno: a stem of chunks as ops. SPDX-License-Identifier: MIT
 *
 * Three convolutions 3x3 with stride 2 and GELU over chunks of a spectrogram, a projection, and positions that begin again with every
 * chunk. Names of weights are those of Qwen2-Audio's successors: conv2d1, conv2d2, conv2d3, conv_out. */
#ifndef STENO_PLAN_STEM_H
#define STENO_PLAN_STEM_H
#include "plan/build.h"

struct stem_of_chunks {
    uint32_t n_mels, channels, d;
    uint32_t stack;  /* frames of a row of the input */
    uint32_t frames; /* of a chunk */
    uint32_t rows;   /* most rows of a sequence */
};

uint32_t stem_chunk_rows(uint32_t frames); /* rows of a chunk of this number of frames */
/* Builds the stem over rows of plan.input, which it makes. PREFIX.conv2d1 ... @return the slot of the rows */
uint16_t stem_of_chunks_build(struct build *b, const struct stem_of_chunks *s, const char *prefix);
#endif
