/* steno: a stream that is transcribed chunk by chunk. SPDX-License-Identifier: MIT
 *
 * A chunk is c[1] rows of features that are new, behind the c[0] + c[2] rows before them: so what is new now is seen again, with what came
 * before and after it. Of a chunk's frames the middle c[1] make tokens. Frames of earlier chunks are looked back on by attention, and the
 * sum that makes a token goes on from chunk to chunk, as do the filters of the decoder. Reference: FunASR 1.4,
 * funasr/models/paraformer_streaming. */
#ifndef STENO_TASK_STREAM_SESSION_H
#define STENO_TASK_STREAM_SESSION_H
#include "task/cif/cif_words.h"
#include "task/stream_state.h"

enum { OPEN_MAX = 512, CHUNK_TOKENS = PARAM_CHUNK_ROWS + 2 }; /* tokens that may wait for what follows; of a chunk */

struct stream_session {
    struct clip_session clips;
    struct stream_state state;

    /* The request. */
    int32_t chunk[3];
    uint32_t look_back[MODEL_STATES]; /* rows, of states that are looked back on */

    /* What has been heard. */
    float *rows;             /* [max_rows, width] beside the chunk at hand, then those that are new; scaled and with their positions, once
                              * the chunk is in a run */
    int32_t n_new;           /* the latter */
    int64_t placed;          /* rows of the stream that are in chunks */
    int is_heard, is_last;   /* there is a chunk for the next run; none follows */

    /* The chunk in the run, and what goes on from it to the next. */
    int32_t n_rows, n_tokens;
    float rest, *alpha, *weight; /* of the frames' sum; [CHUNK_TOKENS], [2 CHUNK_TOKENS] */
    struct cif_token *token;
    struct run_past past[MODEL_STATES];

    /* Tokens: of the last word that was told, then those that were not. */
    int32_t n_told, n;
    int32_t *ids;
    struct sampled_token *sampled;
    double (*span)[2];
    struct cif_words words;
};

static inline struct stream_session *stream_of(const steno_session *s) { return s->part; }
static inline const struct cif_model *stream_model_of(const steno_model *m) { return m->part; }
static inline int32_t stream_beside(const struct stream_session *v) { return v->chunk[0] + v->chunk[2]; }

int stream_run(struct steno_batch *b);                                 /* the chunk of the run at hand (stream_run.c) */
int stream_settle(steno_session *s, const struct clip_window *w);      /* its words (stream_words.c) */
#endif
