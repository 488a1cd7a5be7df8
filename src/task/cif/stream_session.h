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

/* In a batch: what the chunks of the run at hand are made of. */
struct stream_batch {
    struct clip_batch clips;
    struct run_past (*past)[PAST_STATES]; /* [n_windows] by lane */
    struct sequence *tokens;              /* [n_windows] by window that has rows */
    struct cif_token *token;              /* [rows] of all chunks, one behind the other, */
    struct cif_token *rest;               /* [n_windows] and of what goes into the next chunk of each */
    float *weight;                        /* [2 rows + 4 n_windows] */
};

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
    uint32_t first;              /* token in the table of the run */
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

/* The chunks of the run at hand (stream_run.c). */
size_t stream_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
int stream_batch_open(struct steno_batch *b, steno_error *e);
uint32_t stream_keys(const steno_session *s); /* that the rows of a chunk see, earlier ones with them */
int stream_run(struct steno_batch *b);
int stream_settle(steno_session *s, const struct clip_window *w);      /* its words (stream_words.c) */
#endif
