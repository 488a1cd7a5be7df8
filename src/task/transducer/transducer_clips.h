/* steno: the clips of a run through a transducer. SPDX-License-Identifier: MIT
 *
 * Clips of several requests pass through the encoder together, and are then decoded together: each is a lane with a state of the prediction
 * network. */
#ifndef STENO_TASK_TRANSDUCER_TRANSDUCER_CLIPS_H
#define STENO_TASK_TRANSDUCER_TRANSDUCER_CLIPS_H
#include "model/parts.h"
#include "search/hotwords.h"
#include "search/transducer.h"
#include "task/clips/clip_pieces.h"
#include "task/clips/clip_session.h"

/* Hot words of a request. The plain logits decide whether a row is blank; hot words change the choice among the other ids. */
struct transducer_hot { struct hotwords *words; float boost; }; /* words may be NULL */

/* STENO_EARG: a hot word cannot be written, STENO_ENOMEM */
int transducer_hot_take(struct transducer_hot *h, const steno_model *m, const steno_transcribe_params *p, steno_error *e);
void transducer_hot_done(struct transducer_hot *h); /* at the end of a request */

/* State in a session that decodes clips. */
struct transducer_session {
    struct clip_session clips;
    struct transducer_hot hot;
    struct buf text;
};

static inline struct transducer_session *transducer_session_of(const steno_session *s) { return s->part; }

/* A text that a beam search found. */
struct searched_text { double logprob; int32_t n; };

/* A clip that is decoded. */
struct transducer_lane {
    const struct clip_window *window;
    struct transducer search;
    struct buf ids, tokens, rows; /* int32_t, struct sampled_token, struct piece_rows; an error ends the clip. Those of a clip begin in
                                   * the batch's memory */
    struct buf texts;             /* struct searched_text: texts of a beam search, one after another; rows are of the first */
    struct lane_search *beams;    /* its beam search, of the pool */
    int32_t base;                 /* number of the window's first row: of a stream */
    float *predicted;             /* [width] output of the prediction network */
    int32_t next;                 /* the id to run that network on; -1: it has been run */
    int32_t first, n_rows;        /* rows that are joined now */
    const struct transducer_hot *hot;
    int32_t recent[HOTWORD_IDS], n_recent; /* its last ids, with hot words */
};

/* State in a batch: what the encoder made of all rows of a run, and its clips. */
struct transducer_batch {
    struct clip_batch clips;
    float *joined;                /* [rows, width] */
    struct transducer_tokens {    /* [rows + n_windows] each, a token for every row and a byte behind those of a clip; NULL: of streams */
        int32_t *ids;
        struct sampled_token *tokens;
        struct piece_rows *rows;
    } tokens;
    struct transducer_lane *lane; /* [n_windows] by sequence number (clip_window.rows.lane) */
    struct transducer_lane **busy; /* [n_windows] those that are not done */
    struct beam_pool *pool;       /* of beam searches; NULL: streams have none */
};

static inline const struct transducer_model *transducer_of(const steno_model *m) { return m->part; }
static inline struct transducer_batch *transducer_batch_of(const struct steno_batch *b) { return b->part; }

/* Implement a task's part of a batch. */
size_t transducer_batch_memory(const steno_model *m, uint32_t n_windows, uint32_t n_lanes);
int transducer_batch_open(struct steno_batch *b, steno_error *e);
void transducer_batch_close(struct steno_batch *b);

/* For benchmarks (clip_run.h): decodes n tokens of the first clip, whatever its rows are. */
int transducer_clips_bench(struct steno_batch *b, int n);
/* The same for the first `lanes` of transducer_batch.busy: rounds over the rows of their windows, of which `tokens` begin with a token. */
int transducer_bench(struct steno_batch *b, uint32_t lanes, int rounds, int tokens);

int transducer_batch_init(struct steno_batch *b, steno_error *e); /* as transducer_batch_open, but b->part exists already */

/* Runs a phase of PLAN_DECODER. Returns a status of the executor. */
int transducer_run_decoder(struct steno_batch *b, struct phases what, int phase);
/* Adds a token to a lane. */
void transducer_token_add(struct transducer_lane *l, const steno_model *m, const struct transducer_token *token, float logprob);

/* Adds the time of decoding a run to its sessions, by their rows. */
void transducer_share_time(const struct clip_batch *c, int64_t ns);

/* Begins the text of a lane, which has no rows yet. Its state of the prediction network is zero. hot: of the request */
void transducer_lane_begin(struct transducer_lane *l, const steno_model *m, const struct transducer_hot *hot);
void transducer_lane_close(struct transducer_lane *l);
/* Frees the memory of texts that have more tokens than rows, or several texts. Called before the clips of a run begin. */
void transducer_lanes_close(struct steno_batch *b);
/* transducer_lane_begin for the clip of a window. Its state in the executor becomes zero, too. */
struct transducer_lane *transducer_clip_begin(struct steno_batch *b, const struct clip_window *w);
static inline int32_t transducer_lane_tokens(const struct transducer_lane *l) { return (int32_t)(l->ids.len / sizeof(int32_t)); }
/* Judges the tokens that the window brought; base: number of its first row in their rows. */
void transducer_lane_judge(const steno_session *s, struct transducer_lane *l, const struct clip_window *w, int32_t base);
/* Tokens [from, to) of a lane as the pieces of a clip. */
struct clip_pieces transducer_pieces(const steno_model *m, const struct transducer_lane *l, int32_t from, int32_t to);
/* Encodes the clips of the current run. transducer_batch.joined receives the rows. Returns a status of the executor. */
int transducer_encode(struct steno_batch *b);
/* Decodes the first n lanes of transducer_batch.busy: the most probable token of each row. Returns a status of the executor. */
int transducer_decode(struct steno_batch *b, uint32_t n);
#endif
