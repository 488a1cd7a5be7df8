/* steno: autoregressive decoding of one sequence as a step machine. SPDX-License-Identifier: MIT
 *
 * The machine says which rows it wants next (ar_want), somebody runs them - alone or together with the rows of other machines - and
 * tells it so (ar_give). Greedy decoding and sampling choose inside the plan, so one want may stand for many steps. */
#ifndef STENO_SEARCH_AR_H
#define STENO_SEARCH_AR_H
#include "plan/run.h"

struct ar {
    const int32_t *prompt;   /* [n_prompt] all tokens before the first chosen one */
    int32_t n_prompt, sot;   /* sot: index of the start-of-transcript token, whose row gives the no-speech probability */
    int32_t fed;             /* tokens of the prompt whose rows have run: 0, or more where the lane holds them from before */
    uint16_t lane;
};

/* The lane must have been reset for this attempt (kv_len 0, rules, out, limit, window, enc_len). prompt is kept, not copied. */
void ar_begin(struct ar *a, uint16_t lane, const int32_t *prompt, int32_t n_prompt, int32_t sot);
/* Add the rows wanted now, at most max_rows. @return replays that may follow without asking again, 0 when the sequence is finished */
int ar_want(struct ar *a, struct run *r, uint32_t max_rows);
void ar_give(struct ar *a, const struct run *r);

/* Average log-probability of what was chosen: sum / (tokens + 1), the end of text counted (openai-whisper, decoding.py). */
double ar_avg_logprob(const struct lane *l);
#endif
