/* steno: logits processors: the caller's filter, repetitions, hot words, a grammar. SPDX-License-Identifier: MIT */
#ifndef STENO_TASK_AR_LOGITS_PROCESSORS_H
#define STENO_TASK_AR_LOGITS_PROCESSORS_H
#include "task/ar/window_decoder.h"

int processors_open(steno_session *s);
void processors_close(struct request *c);
int processors_needed(const struct request *c);
void process_logits(struct window_decoder *w, struct lane *l, float *logits);
void batch_filter(void *batch, uint16_t lane, float *logits); /* chain_calls.filter: calls process_logits for the window that uses the
                                                               * lane */
int processors_failed(steno_session *s); /* the reason for w->attempts.failed: a status */
/* Mean logit boost that hot words gave to the lane's ids and to end-of-text. The lane's text ids are in w->attempts.ids afterwards. */
double processors_pushed(struct window_decoder *w, const struct lane *l);

/* The part of a window's tokens that the grammar accepts. Text after the last pair of timestamps is decoded again in the next window, so
 * the window normally ends with that pair. If that would leave half a sentence, the window ends with an earlier pair, keeps all its text,
 * or has none. */
enum sentence_end { SENTENCE_AS_CUT /* cut at its timestamps */, SENTENCE_UNCUT /* the whole text is one sentence */, SENTENCE_NONE };
struct sentence { enum sentence_end end; int32_t n; /* tokens that are kept */ };
int is_forced(const struct request *c);                      /* does the grammar forbid tokens (infinite penalty)? */
int sentence_of(struct window_decoder *w, const int32_t *ids, int32_t n, struct sentence *out); /* STENO_OK, STENO_ENOMEM */
#endif
