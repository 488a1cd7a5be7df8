/* steno: tokens by lot, as whisper.cpp draws them. SPDX-License-Identifier: MIT
 *
 * Each of its sequences has a generator of its own, mt19937 (Matsumoto and Nishimura 1998), seeded with the sequence's number, and draws
 * from the probabilities of all ids with std::discrete_distribution. The standard leaves open how; libstdc++ adds up shares from the first
 * id on, makes a number of two outputs of the generator, the first one its lower half, and takes the first id whose sum reaches it. So who
 * draws from the same probabilities draws the same tokens. Of logits that a temperature has divided everything else follows, too: which
 * times there may be, and the log-probabilities that are kept. */
#ifndef STENO_PLAN_LOTS_H
#define STENO_PLAN_LOTS_H
#include "plan/run.h"

enum { LOTS_WORDS = 624 };
struct lots { uint32_t word[LOTS_WORDS]; int32_t next; };

void lots_seed(struct lots *l, uint32_t seed);
uint32_t lots_word(struct lots *l);
double lots_draw(struct lots *l); /* in [0, 1) */

/* In place of sample_token and of sample_topk (run.h), for a sampler that has lots: the latter fills top with topk draws. */
void lots_token(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits);
void lots_tokens(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits);
#endif
