/* steno: aligns known tokens with audio frames. SPDX-License-Identifier: MIT
 *
 * One replay of the decoder's alignment plan over known tokens. Besides the decoder's output it gives the attention of the alignment heads
 * over the audio: softmax over the frames of the window, normalised over the tokens for each head and frame, median-filtered over seven
 * frames, averaged over heads. Reference: openai-whisper 20250625, whisper/timing.py, find_alignment. */
#ifndef STENO_TASK_WORDS_ALIGN_H
#define STENO_TASK_WORDS_ALIGN_H
#include "engine/session.h"

/* Where to align tokens. */
struct align_place {
    struct steno_batch *b; /* the session's batch, or its exact copy */
    uint16_t lane;         /* a lane that holds the window's cross keys; its self-attention state is overwritten */
    int32_t n_ctx;         /* number of encoder positions (20 ms) with audio */
};

/* Result of an alignment. */
struct alignment {
    const float *matrix;   /* [n, ld] attention averaged over heads; valid until the next run */
    size_t ld;
    float *prob;           /* [n], owned by the caller: for i > 0 the probability of ids[i] after ids[0 .. i-1], among ids less than
                            * end-of-text; prob[0] is 1; other ids get 0. May be NULL */
};

/* Aligns ids[n] (n <= the text context). @return STENO_OK, STENO_ECANCELED, STENO_EARG; the reason is in s->error */
int align_run(steno_session *s, const struct align_place *at, const int32_t *ids, int32_t n, struct alignment *out);
#endif
