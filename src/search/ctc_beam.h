/* steno: prefix beam search over the rows of a CTC head. SPDX-License-Identifier: MIT
 *
 * The probability of a text is the sum over all its alignments to the rows (Graves et al. 2006, prefix search; Hannun et al. 2014). The
 * most probable prefixes are kept. Of a row, only the ids that can enter the beam are examined: the beam width plus two, because blank and
 * the last id do not extend a text.
 *
 * A bias favours ids after a text: their odds are multiplied by e^push, and all other ids become less likely accordingly, so that an id
 * that is certain gains nothing. An id that continues over several rows is pushed where it begins. */
#ifndef STENO_SEARCH_CTC_BEAM_H
#define STENO_SEARCH_CTC_BEAM_H
#include "base/arena.h"
#include "base/err.h"
#include "plan/run.h"

/* The preferred continuations of ids[n], the end of a text (at most CTC_CONTEXT ids). */
struct ctc_bias {
    /* visits every id once */
    void (*each)(void *user, const int32_t *ids, int32_t n, void (*push)(void *to, int32_t id, float by), void *to);
    float (*of)(void *user, int32_t id, const int32_t *ids, int32_t n); /* the push of one id, 0: none */
    void *user;
};

enum { CTC_CONTEXT = 64 };

struct ctc_beam; /* serves one clip at a time */

/* rows: maximum of a clip. Memory is allocated once, for searches of any width. STENO_OK, STENO_ENOMEM */
size_t ctc_beam_memory(int32_t rows);
int ctc_beam_open(struct ctc_beam **out, struct arena *a, int32_t rows, int32_t blank, steno_error *e);

/* width: 1..RUN_BEAMS; bias is copied and may be NULL. Both stay until the next call. */
void ctc_beam_set(struct ctc_beam *b, int width, const struct ctc_bias *bias);

/* last: the id of the row before the first one; it can continue without being a new token. -1: none. */
void ctc_beam_begin(struct ctc_beam *b, int32_t last);

struct ctc_logits {
    const float *x; /* [n] */
    int32_t n;
    double sum;     /* log of the sum of exponentials over the ids that mask allows */
    const uint32_t *mask;
};
void ctc_beam_row(struct ctc_beam *b, const struct ctc_logits *row);

/* The text of rank `place`, most probable first: its ids, each with its log-probability in the row where it most likely begins; at most one
 * id per row. *logprob: of the text. @return the number of ids, -1: there is no text of this rank */
int32_t ctc_beam_end(const struct ctc_beam *b, int place, struct sampled_token *out, double *logprob);
#endif
