/* steno: what changes logits before they are chosen from: the caller's filter, hot words, a grammar. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_LOGITS_PROCESSORS_H
#define STENO_TASK_AR_LOGITS_PROCESSORS_H
#include "task/ar/window_decoder.h"

int processors_open(steno_session *s);
void processors_close(struct request *c);
int processors_wanted(const struct request *c);
void process_logits(struct window_decoder *w, struct lane *l, float *logits);
void batch_filter(void *batch, uint16_t lane, float *logits); /* chain_calls.filter: process_logits of whoever has the lane */
int processors_failed(steno_session *s); /* why w->failed: a status */
/* Mean of what hot words added to the lane's ids and to the end; its ids are left in w->ids. */
double processors_pushed(struct window_decoder *w, const struct lane *l);

/* What a grammar leaves of a window's tokens. Text behind the last pair of times is heard again in the next window and the window ends
 * with that pair; where that would leave half a sentence it ends with an earlier pair, or keeps all its text, or has none. */
enum sentence_end { SENTENCE_AS_CUT /* by its times */, SENTENCE_UNCUT /* all of it is one sentence */, SENTENCE_NONE };
struct sentence { enum sentence_end end; int32_t n; /* tokens that count */ };
int is_forced(const struct request *c);                      /* is a grammar more than a wish? */
int sentence_of(struct window_decoder *w, const int32_t *ids, int32_t n, struct sentence *out); /* STENO_OK, STENO_ENOMEM */
#endif
