/* steno: sampling as in whisper.cpp. SPDX-License-Identifier: MIT
 *
 * Each of its sequences has a separate generator, mt19937 (Matsumoto and Nishimura 1998), seeded with the sequence's number. It draws from
 * the probabilities of all ids with std::discrete_distribution. The standard does not define the algorithm. libstdc++ makes a number of
 * two outputs of the generator, the first one as its lower half. It adds shares from the first id on, and takes the first id whose sum
 * reaches the number. Equal probabilities therefore give equal tokens. Other results also follow from logits divided by the temperature:
 * the allowed timestamps, and the log-probabilities that are kept. */
#ifndef STENO_PLAN_MT19937_H
#define STENO_PLAN_MT19937_H
#include "plan/run.h"

enum { MT19937_WORDS = 624 };
struct mt19937 { uint32_t word[MT19937_WORDS]; int32_t next; };

void mt19937_seed(struct mt19937 *l, uint32_t seed);
uint32_t mt19937_word(struct mt19937 *l);
double mt19937_draw(struct mt19937 *l); /* in [0, 1) */

/* Replacements for sample_token and sample_topk (run.h), for a sampler with `mt19937`: the latter fills top with topk draws. */
void mt19937_token(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits);
void mt19937_tokens(struct sampler *s, const struct logit_partial *text, const struct logit_partial *ts, const float *logits);
#endif
