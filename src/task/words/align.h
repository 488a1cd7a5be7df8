/* steno: which frame each token was heard at. SPDX-License-Identifier: MIT
 *
 * One replay of the decoder's alignment plan over known tokens: besides what the decoder does, it leaves the attention of the alignment
 * heads over the audio: softmax over the frames of the window, normalised over the tokens for each head and frame, median-filtered over
 * seven frames, averaged over heads. Reference: openai-whisper 20250625, whisper/timing.py, find_alignment. */
#ifndef STENO_TASK_WORDS_ALIGN_H
#define STENO_TASK_WORDS_ALIGN_H
#include "task/session.h"

/* Where tokens are aligned. */
struct align_place {
    struct steno_batch *b; /* the session's batch, or the exact one beside it */
    uint16_t lane;         /* the cross keys of its window are at hand; its state is overwritten */
    int32_t n_ctx;         /* positions of the encoder (20 ms) that hold audio, the first ones */
};

/* What comes of it. */
struct alignment {
    const float *matrix;   /* [n, ld] averages over heads; valid until the next run */
    size_t ld;
    float *prob;           /* [n], the caller's: for each i > 0 the probability of ids[i] after ids[0 .. i-1] among ids below end of text;
                            * prob[0] is 1; ids that are not below it get 0. NULL: nobody asks */
};

/* Run ids[n] (n <= the text context). @return STENO_OK, STENO_ECANCELED, STENO_EARG; the reason in s->error */
int align_run(steno_session *s, const struct align_place *at, const int32_t *ids, int32_t n, struct alignment *out);
#endif
