/* steno: beam search for a CTC head, with hot words. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_CTC_CTC_SEARCH_H
#define STENO_TASK_CTC_CTC_SEARCH_H
#include "model/family.h"

struct ctc_search; /* one per session; serves one request at a time */

size_t ctc_search_memory(const steno_model *m);
int ctc_search_open(struct ctc_search **out, struct arena *a, const steno_model *m, steno_error *e);

/* Takes the parameters of a request. *on 0: no search is needed, the best path suffices. STENO_OK, STENO_EARG (hot words), STENO_ENOMEM */
int ctc_search_take(struct ctc_search *c, const steno_model *m, const steno_transcribe_params *p, int *on, steno_error *e);
void ctc_search_done(struct ctc_search *c); /* call at the end of a request, even if it was never begun; c may be NULL */

/* Begins a clip. last: id of the row before the first one, or -1 if there is none or it is blank. Pass the rows in order, then read the
 * texts. */
void ctc_search_begin(struct ctc_search *c, int32_t last);
void ctc_search_row(struct ctc_search *c, const float *logits, const struct best *best, const uint32_t *masked);
int32_t ctc_search_end(const struct ctc_search *c, int place, struct sampled_token *out, double *logprob); /* as ctc_beam_end */
#endif
