/* steno-serve: what bodies share: the end of a body, tokens with their log-probabilities. SPDX-License-Identifier: MIT */
#ifndef STENO_SERVE_ANSWER_TOKENS_H
#define STENO_SERVE_ANSWER_TOKENS_H
#include "sink.h"
#include <steno/steno.h>

/* What was written to f, which is a sink to m: m->p, [*n]. NULL: out of memory; then it is freed. */
char *body_taken(const struct sink *f, struct sink_memory *m, size_t *n);

/* A list of {"token", "logprob", "bytes"} of text tokens. `n`: the number that is already in the list */
void put_logprob(struct sink *f, const steno_model *m, const steno_token *tok, int *n);
/* The same for any token of a chat, number i of the new ones of s, with "top_logprobs": those that were asked for */
void put_chat_logprob(struct sink *f, const steno_model *m, const steno_session *s, int i, const steno_token *tok, int *n);
#endif
