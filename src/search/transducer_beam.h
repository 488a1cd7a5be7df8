/* steno: beam search of a transducer. SPDX-License-Identifier: MIT
 *
 * The probability of a text is the sum over its alignments: the rows of its tokens and, in TDT models, their durations (Graves 2012; Xu et
 * al. 2023). Rows are taken in order. The hypotheses at a row are extended by blank and by their most probable tokens. Tokens without a
 * duration stay at the row and are extended again, unless they are less probable than the worst hypothesis of a full beam (adaptive
 * expansion, Kim et al. 2020). Hypotheses with the same text at the same row are merged. A token has the row and duration of its text's
 * most probable alignment.
 *
 * The prediction network depends on a text only. Its states are numbered slots, which the caller stores: a hypothesis with a `pending` id
 * needs the network to be run on this id, from slot `from` to slot `to`.
 *
 * Hot words leave the probability of blank as it is, and distribute the rest among tokens by odds times e^push. */
#ifndef STENO_SEARCH_TRANSDUCER_BEAM_H
#define STENO_SEARCH_TRANSDUCER_BEAM_H
#include "base/buf.h"
#include "plan/run.h"
#include "search/hotwords.h"
#include "search/transducer.h"

/* A text and its most probable alignment. */
struct beam_text {
    uint32_t node;         /* of its last token, or of the one before it if `tail` has that; 0: none */
    struct transducer_token tail;
    float tail_logprob;
    int has_tail;
    int32_t n;             /* tokens */
    uint64_t hash;         /* of their ids */
    int32_t row, n_here;   /* the next row; tokens of that row */
    double total, best;    /* log-probabilities: of the text, of its most probable alignment */
    int32_t from, to;      /* slots; to -1: none yet */
    int32_t pending;       /* -1: slot `from` has its state */
};

enum { BEAM_SLOTS = 3 * RUN_BEAMS + 1 };

struct transducer_shape {
    int32_t blank, max_symbols; /* tokens are less than blank */
    const int32_t *duration;
    int32_t n_durations;        /* 0: RNN-T */
};

struct transducer_beam {
    struct transducer_shape of;
    const struct hotwords *hot; /* may be NULL */
    float boost;
    int width;
    int32_t n_rows;
    struct beam_text pool[RUN_BEAMS], here[RUN_BEAMS], next[RUN_BEAMS]; /* best first. here: all at one row */
    int n_pool, n_here, n_next;
    uint8_t users[BEAM_SLOTS];  /* hypotheses that refer to a slot */
    struct buf nodes;           /* struct beam_node: of the texts that are left, and at most as many others */
    uint32_t n_nodes_most;      /* with more, those of no text are dropped */
};

/* Number of slots of a search. */
static inline int transducer_beam_slots(int width) { return 3 * width + 1; }

/* Bytes of the nodes of n searches together that have n_rows rows and `width` beams in all, with a token per row. */
size_t transducer_beam_nodes_sz(int width, int32_t n_rows, int n);
/* Lends memory of that size for the nodes of the next clip. More nodes move to the heap. */
void transducer_beam_lend(struct transducer_beam *b, uint8_t *nodes, size_t sz);

/* Begins a clip of n_rows rows. The start symbol, blank, is pending from slot 0. The fields of, hot, boost and width are set. */
void transducer_beam_begin(struct transducer_beam *b, int32_t n_rows);
/* The number of hypotheses in `here` that need logits of their common row, 0: the search is over. Call transducer_beam_feed for each in
 * order, then transducer_beam_next again. */
int transducer_beam_next(struct transducer_beam *b);
struct joint_logits {
    const float *x; /* [blank + 1 + n_durations] */
    double sum;     /* log of the sum of exponentials of the first blank + 1 */
};
void transducer_beam_feed(struct transducer_beam *b, int i, const struct joint_logits *logits);

/* The text of rank `place`, best first: appends struct transducer_token and float (its log-probability) for each token. @return the number
 * of tokens, -1: there is no such text, or nodes.err is set. *logprob: of the text */
int32_t transducer_beam_end(const struct transducer_beam *b, int place, struct buf *tokens, struct buf *logprobs, double *logprob);
void transducer_beam_close(struct transducer_beam *b);
#endif
