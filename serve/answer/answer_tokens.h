/* steno-serve: members of answers: tokens with their log-probabilities, usage. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ANSWER_TOKENS_H
#define STENO_SERVE_ANSWER_TOKENS_H
#include "sink.h"
#include <steno/steno.h>

/* A list of {"token", "logprob", "bytes"} of text tokens. `n`: the number that is already in the list */
void put_logprob(struct sink *f, const steno_model *m, const steno_token *tok, int *n);
#endif
