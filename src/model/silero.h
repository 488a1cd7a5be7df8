/* steno: Silero VAD: what its reader and its writer share. SPDX-License-Identifier: MIT */
#ifndef STENO_MODEL_SILERO_H
#define STENO_MODEL_SILERO_H

enum { SILERO_FRAME = 512, SILERO_MARGIN = 64, SILERO_STFT = 256, SILERO_BINS = SILERO_STFT / 2 + 1, SILERO_CELLS = 128, SILERO_TAPS = 3,
       SILERO_CONVS = 4 };

/* Inputs, outputs and columns of a convolution; the stride is the ratio of the columns. */
struct silero_conv { int in, out, columns, columns_out; };
extern const struct silero_conv silero_conv[SILERO_CONVS];
#endif
