/* steno: the inputs of a run. SPDX-License-Identifier: MIT
 *
 * A run is a plan plus two small tables: rows (data per row) and lanes (data per independent sequence). A prompt, a single step, beams and
 * ragged batches of windows are the same list of ops with other tables. */
#ifndef STENO_PLAN_RUN_H
#define STENO_PLAN_RUN_H
#include "plan/op.h"

enum row_flag {
    ROW_SAMPLE = 1,    /* choose the next token of the lane from this row's logits */
    ROW_PROB = 2,      /* lane.prob.p = softmax(unfiltered logits)[lane.prob.id] */
    ROW_LOGITS = 4,    /* keep the logits for exec_logits */
    ROW_BEST = 8,      /* argmax.best of this row = the most probable id; not together with ROW_PROB */
    ROW_TOPK = 16,     /* the lane's topk most probable ids that its rules allow go to sampler.top; no token is chosen */
    ROW_DRAFT = 64,    /* keep the logits and rules of ROW_SAMPLE for exec_choose */
    ROW_GIVEN = 32     /* argmax.best[row].logprob = the log-probability of its given id; not together with ROW_PROB, ROW_BEST */
};

/* One per row of activations. token: an id, or token_of_input(i). */
struct row { int32_t token, pos; uint16_t lane, flags; };
/* In place of an id: row i of the plan's input is the embedding, for example of audio in a prompt. */
static inline int32_t token_of_input(uint32_t i) { return -1 - (int32_t)i; }

/* Logit rules as data: constant during an attempt, shared by its lanes. Ids below ts_begin are text and specials, the others are
 * timestamps. Reference: openai-whisper 20250625, whisper/decoding.py, SuppressBlank, SuppressTokens, ApplyTimestampRules. */
struct logit_rules {
    const uint32_t *mask;        /* bit set: id suppressed at every position; may be NULL */
    const uint32_t *mask_first;  /* the same for the first position */
    int32_t n_vocab, eot, ts_begin;
    int32_t ts_initial_last;     /* highest timestamp id allowed at the first position */
    int32_t timestamps;          /* 1: timestamp rules apply; 0: no timestamp may be chosen */
    int32_t ts_enough;           /* a timestamp from this id on ends the text; 0: no timestamp does */
    int32_t begun;               /* 1: the timestamp 0.00 and text precede the first position, so more text or a timestamp follows */
    int32_t ggml_rules;               /* 1: the rules of whisper.cpp: text may come first, a timestamp may be repeated, 0.00 counts as none;
                                  * probabilities are shares of all ids, even where only timestamps are allowed */
    double temperature;          /* 0: choose the most probable id */
    uint64_t seed;               /* of the counter-based generator */
};

/* A chosen token and its probabilities. */
struct sampled_token {
    int32_t id, ts_id;             /* ts_id: most probable allowed timestamp, -1: none */
    float p, logprob, ts_prob, ts_prob_sum;
};

/* The smallest distance between the choices of a sequence and their runners-up; INFINITY: there were no alternatives. */
struct margins {
    float text;                  /* of logits, where the text depends on it; of sums of log-probabilities, where beams were chosen */
    float time;                  /* of logits, between two timestamps */
};

struct mt19937; /* mt19937.h */

/* The state of sampling: rules, and the tokens chosen so far. */
struct sampler {
    const struct logit_rules *rules;
    struct mt19937 *mt19937;     /* draws as whisper.cpp does; NULL: the most probable id, or a draw from rng_stream */
    struct sampled_token *out;   /* [limit] tokens chosen so far, without end of text */
    int32_t n, limit;
    int32_t ended;               /* 1: end of text was chosen */
    int32_t done;                /* ended, or the limit is reached */
    int32_t dead;                /* ended because no id was allowed */
    int32_t last_ts;             /* latest timestamp chosen, -1: none */
    double sum_logprob;          /* includes the end of text */
    int32_t keeps_margin;        /* 1: track `margin` */
    struct margins margin;
    uint64_t rng_stream;         /* random stream, from rng_stream_of */
    struct sampled_token *top;   /* [RUN_BEAMS + 1] best first, lower ids first among equals */
    int32_t topk;                /* ROW_TOPK: number requested, then number found */
};

/* One per independent sequence: a beam, a window, a request. */
struct lane {
    struct lane_kv {
        int32_t len;             /* positions held in the append state */
        int32_t enc_len;         /* positions of the window's cross keys */
        uint16_t window;         /* the window whose cross keys are used */
    } kv;
    struct sampler sampler;
    struct lane_processors {
        int32_t enabled;         /* 1: chain_calls.filter is called for this lane's logits */
        int32_t grammar_state, grammar_n; /* the state of a grammar after the first grammar_n tokens; owned by the filter */
    } processors;
    struct lane_prob { int32_t id; float p; } prob; /* ROW_PROB: of an id; NAN: no logit was a number */
    const uint32_t *argmax_mask; /* ROW_BEST: ids excluded from argmax.best; may be NULL */
};

enum {
    SLICE_IDS = 4096,   /* ids of a slice of logits: fixed, so that sums do not depend on threads */
    RUN_LANES = 256,    /* most lanes: a step of all lanes is one replay with one row per lane, each with logits */
    RUN_BEAMS = 32,     /* most lanes of one window */
    ATTN_TILE = 96,     /* most rows of an item of attention when all rows see the same keys */
    ROWS_OUT_MIN = 32   /* minimum room for rows of logits */
};

/* Rows that attend to the same keys, processed together; up to ATTN_TILE of them if none writes keys that the others read. */
struct group { uint16_t row, n, lane; };

/* Consecutive rows of the input that attend only to each other: a clip, or a piece of a stream. If the rows are each other's keys, the keys
 * of the sequence begin at block `block` of their slot. A shift state is that of lane `lane`. */
struct sequence { uint16_t row, n, lane, block; };
/* The next sequence, of n rows. last: the sequence before it; may be NULL. */
struct sequence sequence_next(const struct sequence *last, uint32_t n, uint16_t lane);
uint32_t sequence_room(const struct sequence *last, uint32_t max_rows); /* rows that the next sequence may have, of a plan's max_rows */

/* Result for a row. Either the most probable id that its lane's argmax_mask allows, its log-probability among those ids, and its logit. Or
 * a given id and its log-probability among the ids below align.given_end (-INFINITY: it is not one of them). */
struct best { int32_t id; float logprob, logit; };

/* A token as a sum of frames (Dong and Xu 2020, continuous integrate-and-fire): weight[at + i] of frame first + i of its sequence, for n
 * frames. Frames outside the sequence are zeros. */
struct cif_token { uint32_t first, n, at; };

/* For a state used by OP_LOOK_BACK: the number of its newest rows that are attended to, and the number of rows of the sequence that it
 * stores. The attended rows follow the sequence's own keys and values, so the next sequence's blocks begin after them. */
struct run_past { uint32_t held, kept; };

/* The place of a sequence in its stream: rows of earlier runs, and rows of a chunk (OP_ATTN_REL). */
struct run_stream { uint32_t before, chunk; };

/* Room for rows, and for rows of logits. */
struct room { uint32_t rows, out; };

struct run {
    struct row *row;             /* [room.rows] */
    uint32_t n_rows;             /* may exceed room.rows: the excess rows are lost, and the run must not be replayed */
    struct room room;            /* of these tables; a plan and its scratch may have less */
    struct lane *lane;           /* [n_lanes] */
    uint32_t n_lanes;

    struct run_argmax {
        struct best *best;       /* by row, for ROW_BEST and ROW_GIVEN; NULL if no plan needs it */
        const uint32_t *panels;  /* bits of panels whose logits are needed (OPF_SOME); NULL: all */
    } argmax;
    struct run_align {
        int32_t given_end;       /* ROW_GIVEN: ids below it are counted */
        uint32_t frames;         /* number of leading keys that OP_ATTN_WEIGHTS attends to */
    } align;
    struct run_cif {
        const struct cif_token *token; /* by row of the table, for OP_CIF */
        const float *weight;
    } cif;
    struct run_past (*past)[PAST_STATES]; /* by the lane of a sequence, by state; NULL: no OP_LOOK_BACK */
    const struct run_stream *stream; /* by the lane of a sequence; NULL: each sequence is whole, and all its rows are one chunk */

    /* Derived from the rows by run_prepare. */
    uint32_t *out_row;           /* [room.out] rows whose logits are needed */
    uint32_t n_out;
    int32_t *self_len, *cross_len; /* [room.rows] number of keys that each row attends to */
    struct group *self, *cross;  /* [room.rows] */
    uint32_t n_self, n_cross;
    int32_t self_len_max, cross_len_max; /* the largest of self_len, cross_len */
};

/* Allocate the tables from the arena, with room for the largest of some plans and n_lanes lanes. 0, or -1: out of memory. */
int run_init(struct run *r, struct arena *a, const struct plan *const *plans, int n_plans, uint32_t n_lanes);
size_t run_memory(const struct plan *const *plans, int n_plans, uint32_t n_lanes);
void run_add(struct run *r, int32_t token, int32_t pos, uint16_t lane, uint16_t flags);
struct room run_left(const struct run *r, struct room max); /* room left of `max` after the rows added since n_rows was set to 0 */
void run_prepare(struct run *r);
/* Set the rows of the next step: the last chosen token of each lane that is not done. */
void run_advance(struct run *r);

/* The ids that a lane may choose now: text ids [text_from, ts_begin), timestamps [ts_from, ts_to); empty if from >= to. */
struct logit_range { int32_t text_from, text_to, ts_from, ts_to; const uint32_t *mask; };
struct logit_range logit_range_of(const struct sampler *s);
/* The same for row `row` among a run's rows of draft tokens, assuming that the ids before it are chosen. If timestamps have rules, those
 * ids are stored in `out` after the chosen ones. */
struct logit_range logit_range_at(const struct run *r, uint32_t row);
/* A separate random stream for each candidate of each attempt at each window. */
static inline uint64_t rng_stream_of(int64_t window, int attempt, int candidate)
{
    return (uint64_t)window << 16 | (uint64_t)(attempt & 0xff) << 8 | (uint64_t)(candidate & 0xff);
}
/* Choose from merged partials (text, timestamps) and advance. logits [n_vocab] are read only if the temperature is above 0 or the margin is
 * tracked. */
void sample_token(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits,
                  const struct kern *kern);
/* The text id with the largest logit, -1: none. If rules suppress other ids, it stays the choice as long as it is not suppressed itself. */
int32_t sampler_favourite(const struct sampler *s, const float *logits);
/* Make ids that s has chosen less likely, each once: logits are divided by `by` if positive, else multiplied (Keskar et al. 2019). */
void sampler_penalise(const struct sampler *s, float *logits, float by);
/* Fill top from the same inputs. */
void sample_topk(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits,
                 const struct kern *kern);
/* Advance by a chosen token. The end of text, or the limit, ends the sequence. */
void sampler_choose(struct sampler *s, const struct sampled_token *p);
/* dst continues like src: tokens, rules, sums. It keeps its own state, block table and buffers. */
void lane_copy(struct lane *dst, const struct lane *src);
/* Merge partials that are in ascending order of ids. */
struct logit_partial logits_merge(const struct logit_partial *part, size_t n, size_t stride);
struct best logits_best(const struct logit_partial *all); /* all: the merged partial of all ids that count */
#endif
