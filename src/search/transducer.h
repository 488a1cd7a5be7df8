/* steno: greedy search of a transducer. SPDX-License-Identifier: MIT
 *
 * Graves 2012 (RNN-T), Xu et al. 2023 (TDT: a token also has a duration, the rows that it skips). The caller computes the best token and
 * duration of a row for the current state of the prediction network, and passes them on. Only a token changes that state, so several rows
 * can be computed for one state; those after the first token are discarded. Reference: NeMo 3.0, greedy_batch. */
#ifndef STENO_SEARCH_TRANSDUCER_H
#define STENO_SEARCH_TRANSDUCER_H
#include <stdint.h>

enum { TRANSDUCER_DURATIONS = 64 /* most durations */ };

/* The best of a row: an id and a duration in rows. RNN-T: the duration does not count. */
struct joint_best { int32_t id, duration; };
struct transducer_token { int32_t id, row, duration; };

struct transducer {
    int32_t n_rows, blank;
    int32_t max_symbols;    /* tokens without a duration that a row may have; at least 1 */
    int32_t has_durations;  /* 1: TDT */
    int32_t row, n_here;    /* the next row to compute; tokens of that row */
};

void transducer_begin(struct transducer *s, int32_t n_rows);
static inline int transducer_is_done(const struct transducer *s) { return s->row >= s->n_rows; }
/* Uses the results of rows [first, first + n), first at most s->row. @return 1: a token was found, and the network must be run on it;
 * 0: the search needs row s->row, or it is done */
int transducer_feed(struct transducer *s, int32_t first, const struct joint_best *best, int32_t n, struct transducer_token *token);
#endif
