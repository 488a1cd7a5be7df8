/* steno: prefix beam search over the rows of a CTC head. SPDX-License-Identifier: MIT
 *
 * Of a text all ways to spread it over the rows count together (Graves et al. 2006, prefix search; Hannun et al. 2014), and the most
 * probable texts so far are kept. Of a row only the ids that can get into the beam are looked at: its width and two more, since blank and
 * the last id make no new text.
 *
 * A bias pushes ids after a text: their odds times e^push, and everything else is that much less likely, so that what is certain gains
 * nothing. An id that goes on over several rows is pushed where it begins. */
#ifndef STENO_SEARCH_CTC_BEAM_H
#define STENO_SEARCH_CTC_BEAM_H
#include "base/arena.h"
#include "base/err.h"
#include "plan/run.h"

/* What is preferred after ids[n], the end of a text (at most CTC_CONTEXT of them). */
struct ctc_bias {
    void (*each)(void *user, const int32_t *ids, int32_t n, void (*push)(void *to, int32_t id, float by), void *to); /* every id once */
    float (*of)(void *user, int32_t id, const int32_t *ids, int32_t n); /* what one id is pushed by, 0: not */
    void *user;
};

enum { CTC_CONTEXT = 64 };

struct ctc_beam; /* of one clip after the other */

/* rows: most of a clip. Memory is taken once, for searches of any width. STENO_OK, STENO_ENOMEM */
size_t ctc_beam_memory(int32_t rows);
int ctc_beam_open(struct ctc_beam **out, struct arena *a, int32_t rows, int32_t blank, steno_error *e);

/* width: 1..RUN_BEAMS; bias NULL: none, else copied. Both hold until they are set again. */
void ctc_beam_set(struct ctc_beam *b, int width, const struct ctc_bias *bias);

/* last: the id of the row before the first one, which goes on without being said again; -1: none. */
void ctc_beam_begin(struct ctc_beam *b, int32_t last);

struct ctc_logits {
    const float *x; /* [n] */
    int32_t n;
    double sum;     /* log of the sum of the exponents of what mask allows */
    const uint32_t *mask;
};
void ctc_beam_row(struct ctc_beam *b, const struct ctc_logits *row);

/* The place-th text, the most probable one first: its ids with the log-probability of each in the row where it is likeliest to begin, at
 * most a row each. *logprob: of the text. @return their number, -1: there are not so many texts */
int32_t ctc_beam_end(const struct ctc_beam *b, int place, struct sampled_token *out, double *logprob);
#endif
