/* steno: a stream that is transcribed chunk by chunk. SPDX-License-Identifier: MIT
 *
 * A chunk has c[1] new rows of features after the c[0] + c[2] rows before them. So each row is encoded again together with the rows around
 * it. Of a chunk's frames, the middle c[1] make tokens. Attention looks back at frames of earlier chunks. The partial sum of a token
 * carries over from chunk to chunk, as do the filter states of the decoder. Reference: FunASR 1.4, funasr/models/paraformer_streaming. */
#ifndef STENO_TASK_STREAM_SESSION_H
#define STENO_TASK_STREAM_SESSION_H
#include "engine/stream_state.h"
#include "model/parts.h"
#include "task/cif/cif_words.h"

enum { OPEN_MAX = 512, CHUNK_TOKENS = PARAM_CHUNK_ROWS + 2 }; /* tokens that wait for later ones; tokens of a chunk */

/* State in a batch: data of the chunks of the current run. */
struct stream_batch {
    struct clip_batch clips;
    struct run_past (*past)[PAST_STATES]; /* [n_windows] by lane */
    struct sequence *tokens;              /* [n_windows] by window with rows */
    struct cif_token *token;              /* [rows] of all chunks, in order */
    struct cif_token *rest;               /* [n_windows] the remainder that goes into the next chunk of each */
    float *weight;                        /* [2 rows + 4 n_windows] */
};

struct stream_session {
    struct clip_session clips;
    struct stream_state state;

    /* The request. */
    int32_t chunk[3];
    uint32_t look_back[MODEL_STATES]; /* rows, for states with look-back */

    /* The audio so far. */
    float *rows;             /* [max_rows, width] rows around the current chunk, then the new ones; scaled and with positions once the chunk
                              * is in a run */
    int32_t n_new;           /* number of new rows */
    int64_t placed;          /* rows of the stream that are in chunks so far */
    int is_complete, is_last;   /* the next chunk is complete; it is the last one */

    /* The chunk in the run, and the state that carries over to the next. */
    int32_t n_rows, n_tokens;
    uint32_t first;              /* its first token in the table of the run */
    float rest, *alpha, *weight; /* remainder of the sum of weights; [CHUNK_TOKENS], [2 CHUNK_TOKENS] */
    struct cif_token *token;
    struct run_past past[MODEL_STATES];

    /* Tokens: n_output of the last word that was output, then those not yet output. */
    int32_t n_output, n;
    int32_t *ids;
    struct sampled_token *sampled;
    double (*span)[2];
    int32_t *mute, n_mute;   /* [CHUNK_TOKENS] tokens of the chunk that are left out, since there is no speech near them */
    double mute_span[2], mute_logprob;
    struct cif_words words;
};

static inline struct stream_session *stream_of(const steno_session *s) { return s->part; }
static inline const struct cif_model *stream_model_of(const steno_model *m) { return m->part; }
static inline int32_t stream_context_rows(const struct stream_session *v) { return v->chunk[0] + v->chunk[2]; }

/* Run the chunks of the current run (stream_run.c). */
size_t stream_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
int stream_batch_open(struct steno_batch *b, steno_error *e);
uint32_t stream_keys(const steno_session *s); /* number of keys that a chunk's rows see, including earlier chunks */
int stream_run(struct steno_batch *b);
int stream_settle(steno_session *s, const struct clip_window *w);      /* outputs its words */
#endif
