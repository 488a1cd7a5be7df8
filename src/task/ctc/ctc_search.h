/* steno: a CTC head's text by beam search, with hot words. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CTC_CTC_SEARCH_H
#define STENO_TASK_CTC_CTC_SEARCH_H
#include "model/family.h"

struct ctc_search; /* of a session: of one request after the other */

size_t ctc_search_memory(const steno_model *m);
int ctc_search_open(struct ctc_search **out, struct arena *a, const steno_model *m, steno_error *e);

/* What the parameters of a request ask for. *on 0: the most probable id of each row, and no search. STENO_OK, STENO_EARG (hot words),
 * STENO_ENOMEM */
int ctc_search_take(struct ctc_search *c, const steno_model *m, const steno_transcribe_params *p, int *on, steno_error *e);
void ctc_search_done(struct ctc_search *c); /* with the request, which may have ended before; NULL is allowed */

/* Of a clip: last is the id of the row before the first one, -1: none or nothing; rows in order; then the ids of the text. */
void ctc_search_begin(struct ctc_search *c, int32_t last);
void ctc_search_row(struct ctc_search *c, const float *logits, const struct best *best, const uint32_t *barred);
int32_t ctc_search_end(const struct ctc_search *c, int place, struct sampled_token *out, double *logprob); /* as ctc_beam_end */
#endif
