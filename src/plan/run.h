/* steno: what changes from run to run. SPDX-License-Identifier: MIT
 *
 * A run is a plan plus two small tables: rows (what differs inside a run) and lanes (what differs between independent sequences). A
 * prompt, a single step, beams and ragged batches of windows are the same list of ops with other tables. */
#ifndef STENO_PLAN_RUN_H
#define STENO_PLAN_RUN_H
#include "plan/op.h"

enum row_flag {
    ROW_SAMPLE = 1,    /* choose the next token of the lane from this row's logits */
    ROW_PROB = 2,      /* lane.prob.p = softmax(unfiltered logits)[lane.prob.id] */
    ROW_LOGITS = 4,    /* leave the logits where exec_logits finds them */
    ROW_BEST = 8,      /* argmax.best of this row = the most probable id; not together with ROW_PROB */
    ROW_TOPK = 16,     /* the lane's topk most probable ids that its rules allow go to sampler.top; nothing is chosen */
    ROW_GUESS = 64,    /* leave what ROW_SAMPLE would choose from to exec_choose */
    ROW_GIVEN = 32     /* argmax.best[row].logprob = the log-probability of its id, which is given; not together with ROW_PROB, ROW_BEST */
};

/* One per row of activations. token: an id, or token_of_input(i). */
struct row { int32_t token, pos; uint16_t lane, flags; };
/* Instead of an id: row i of the plan's input stands for an embedding, as audio in a prompt does. */
static inline int32_t token_of_input(uint32_t i) { return -1 - (int32_t)i; }

/* Logit rules that are data: constant over one attempt, shared by its lanes. Ids below ts_begin are text and specials, the others are
 * timestamps. Reference: openai-whisper 20250625, whisper/decoding.py, SuppressBlank, SuppressTokens, ApplyTimestampRules. */
struct logit_rules {
    const uint32_t *mask;        /* bit set: id barred at every position; NULL: none */
    const uint32_t *mask_first;  /* the same for the first position */
    int32_t n_vocab, eot, ts_begin;
    int32_t ts_initial_last;     /* highest timestamp id allowed at the first position */
    int32_t timestamps;          /* 1: timestamp rules apply; 0: no timestamp may be chosen */
    int32_t ts_enough;           /* a timestamp from this id on ends the text; 0: none does */
    int32_t begun;               /* 1: before the first position stand 0.00 and text, so text goes on there, or a time ends it */
    int32_t loose;               /* 1: they are whisper.cpp's: text may come first, a time may be said again, 0.00 counts as none; and
                                  * probabilities are shares of all ids, where only times may be chosen, too */
    double temperature;          /* 0: most probable id */
    uint64_t seed;               /* of the counter-based generator */
};

/* A chosen token and what was known about it. */
struct sampled_token {
    int32_t id, ts_id;             /* ts_id: most probable allowed timestamp, -1: none */
    float p, logprob, ts_prob, ts_prob_sum;
};

/* The least by which choices of a sequence were ahead of what would have been chosen next, INFINITY: there was nothing else. */
struct margins {
    float text;                  /* of logits, where the text depends on it; of sums of log-probabilities, where beams were chosen */
    float time;                  /* of logits, of one timestamp before another */
};

struct lots; /* lots.h */

/* What chooses the tokens of a sequence, and has chosen so far. */
struct sampler {
    const struct logit_rules *rules;
    struct lots *lots;           /* draws as whisper.cpp does; NULL: the most probable id, or a draw of rng_stream, is chosen */
    struct sampled_token *out;   /* [limit] tokens chosen so far, end of text excluded */
    int32_t n, limit;
    int32_t ended;               /* end of text was chosen */
    int32_t done;                /* ended, or the limit is reached */
    int32_t dead;                /* ended because nothing was allowed */
    int32_t last_ts;             /* latest timestamp chosen, -1: none */
    double sum_logprob;          /* includes the end of text's */
    int32_t keeps_margin;        /* 1: margins are kept */
    struct margins margin;
    uint64_t rng_stream;         /* of random numbers, from rng_stream_of */
    struct sampled_token *top;   /* [RUN_BEAMS + 1] best first, lower ids first among equals */
    int32_t topk;                /* ROW_TOPK: how many are wanted, then how many there are */
};

/* One per independent sequence: a beam, a window, a request. */
struct lane {
    struct lane_kv {
        int32_t len;             /* positions held in the append state */
        int32_t enc_len;         /* positions of the window's cross keys */
        uint16_t window;         /* which window's cross keys */
    } kv;
    struct sampler sampler;
    struct lane_processors {
        int32_t wanted;          /* 1: chain_calls.filter is asked about this lane's logits */
        int32_t grammar_state, grammar_n; /* of a grammar after the first grammar_n tokens; kept by whoever filters */
    } processors;
    struct lane_prob { int32_t id; float p; } prob; /* ROW_PROB: of an id; NAN: no logit was a number */
    const uint32_t *argmax_mask; /* ROW_BEST: ids barred from argmax.best, NULL: none */
};

enum {
    SLICE_IDS = 4096,   /* ids of a slice of logits: fixed, so that sums do not depend on threads */
    RUN_LANES = 256,    /* most lanes: a step of all of them is one replay of so many rows, each with logits */
    RUN_BEAMS = 32,     /* most lanes of one window */
    ATTN_TILE = 96,     /* most rows of an item of attention when all rows see the same keys */
    ROWS_OUT_MIN = 32   /* rows of logits that there is always room for */
};

/* Rows that attend to the same keys, processed together; up to ATTN_TILE of them where none writes what the others read. */
struct group { uint16_t row, n, lane; };

/* Neighbours among the input's rows that see each other and nobody else: a clip, a piece of a stream. Where rows are each other's keys,
 * those of a sequence begin with block `block` of the slot that holds them; a shift state is that of lane `lane`. */
struct sequence { uint16_t row, n, lane, block; };
/* The next one, of n rows. last: the one before it, NULL: there is none. */
struct sequence sequence_next(const struct sequence *last, uint32_t n, uint16_t lane);
uint32_t sequence_room(const struct sequence *last, uint32_t max_rows); /* rows that it may have, of a plan's max_rows */

/* Of a row: the most probable id that its lane's argmax_mask allows, its log-probability among them, and its logit; or an id that is given,
 * and its log-probability among the ids below align.given_end (-INFINITY: it is not one of them). */
struct best { int32_t id; float logprob, logit; };

/* A token made of frames (Dong and Xu 2020, continuous integrate-and-fire): weight[at + i] of frame first + i of its sequence, for n of
 * them. Frames that the sequence does not have are zeros. */
struct cif_token { uint32_t first, n, at; };

/* Of a state that is looked back on (OP_LOOK_BACK): its newest rows that are seen, and how many rows of the sequence it takes. Those that
 * are seen follow the sequence's own where keys and values are, so the next one's blocks begin behind them. */
struct run_past { uint32_t held, kept; };

/* Rows that there is room for, and rows of logits. */
struct room { uint32_t rows, out; };

struct run {
    struct row *row;             /* [room.rows] */
    uint32_t n_rows;             /* more than there is room for: the rows after those are lost, and nobody replays such a run */
    struct room room;            /* of these tables; what a plan and its scratch have room for may be less */
    struct lane *lane;           /* [n_lanes] */
    uint32_t n_lanes;

    struct run_argmax {
        struct best *best;       /* by row, for ROW_BEST and ROW_GIVEN; NULL where no plan asks */
        const uint32_t *panels;  /* bits of those whose logits are wanted (OPF_SOME); NULL: all are */
    } argmax;
    struct run_align {
        int32_t given_end;       /* ROW_GIVEN: ids below it count */
        uint32_t frames;         /* keys that OP_ATTN_WEIGHTS looks at, the first ones */
    } align;
    struct run_cif {
        const struct cif_token *token; /* by row of the table, for OP_CIF */
        const float *weight;
    } cif;
    struct run_past (*past)[PAST_STATES]; /* by the lane of a sequence, by state; NULL: nothing is looked back on */

    /* Derived from the rows by run_prepare. */
    uint32_t *out_row;           /* [room.out] rows whose logits are wanted */
    uint32_t n_out;
    int32_t *self_len, *cross_len; /* [room.rows] keys each row sees */
    struct group *self, *cross;  /* [room.rows] */
    uint32_t n_self, n_cross;
    int32_t self_len_max, cross_len_max; /* the largest of self_len, cross_len */
};

/* Take the tables from the arena for what the largest of some plans needs, and n_lanes lanes. 0, or -1: no memory. */
int run_init(struct run *r, struct arena *a, const struct plan *const *plans, int n_plans, uint32_t n_lanes);
size_t run_memory(const struct plan *const *plans, int n_plans, uint32_t n_lanes);
void run_add(struct run *r, int32_t token, int32_t pos, uint16_t lane, uint16_t flags);
struct room run_left(const struct run *r, struct room max); /* of `max`, beside the rows added since n_rows was set to 0 */
void run_prepare(struct run *r);
/* Rows of the next step: the token just chosen by each lane that is not done. */
void run_advance(struct run *r);

/* Range of ids a lane may choose now. Text ids [text_from, ts_begin), timestamps [ts_from, ts_to); empty where from >= to. */
struct logit_range { int32_t text_from, text_to, ts_from, ts_to; const uint32_t *mask; };
struct logit_range logit_range_of(const struct sampler *s);
/* The same for row `row`, of the rows of guesses in a run: where the ids before it are chosen. Where times have rules they stand in out
 * behind those that were. */
struct logit_range logit_range_at(const struct run *r, uint32_t row);
/* A stream of random numbers of its own for each candidate of each attempt at each window. */
static inline uint64_t rng_stream_of(int64_t window, int attempt, int candidate)
{
    return (uint64_t)window << 16 | (uint64_t)(attempt & 0xff) << 8 | (uint64_t)(candidate & 0xff);
}
/* Choose from merged parts (text, timestamps) and advance. logits[n_vocab] are read only when the temperature is above 0, or the margin is
 * kept. */
void sample_token(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits,
                  const struct kern *kern);
/* The text that would be chosen of these logits, -1: none. Where rules bar others, it still would be, if it is not barred itself. */
int32_t sampler_favourite(const struct sampler *s, const float *logits);
/* Fill top from the same. */
void sample_topk(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits,
                 const struct kern *kern);
/* Advance by a token that was chosen: the end of text ends it, the limit does. */
void sampler_choose(struct sampler *s, const struct sampled_token *p);
/* dst goes on like src: tokens, rules, sums. Its state, its table and its places stay its own. */
void lane_copy(struct lane *dst, const struct lane *src);
/* parts in rising order of ids into one */
struct logit_partial logits_merge(const struct logit_partial *part, size_t n, size_t stride);
struct best logits_best(const struct logit_partial *all); /* of all ids that count, merged */
#endif
