/* steno: pools the rows of a text into one vector. SPDX-License-Identifier: MIT
 *
 * It holds the tokens of all texts of a call, and the running sum over a text's rows. The task runs its network over the tokens and adds
 * the output rows here. */
#ifndef STENO_TASK_EMBED_EMBEDDING_H
#define STENO_TASK_EMBED_EMBEDDING_H
#include "engine/session.h"

struct embed_text { size_t at; int32_t n, is_truncated; }; /* ids [at, at + n) */

struct embed_call {
    const steno_embed_params *p; /* with all fields set */
    struct buf ids, texts;       /* int32_t; struct embed_text */
    int n_texts;
};

struct embedded { int32_t n_tokens, is_truncated, pooling; };

/* Tokenizes the texts, with the ids that the model adds before and after each. STENO_EARG, STENO_ENOVOCAB, STENO_ENOMEM, with a reason */
int embed_texts_read(steno_session *s, struct embed_call *c, const char *const *texts, int n);
void embed_texts_free(struct embed_call *c);
static inline const struct embed_text *embed_text(const struct embed_call *c, int i)
{
    return (const struct embed_text *)(const void *)c->texts.p + i;
}
static inline const int32_t *embed_ids(const struct embed_call *c, const struct embed_text *t)
{
    return (const int32_t *)(const void *)c->ids.p + t->at;
}

/* Accumulator for one text, whose rows come in order. */
struct pool { double *sum; int32_t width, pooling, at; const struct embed_text *t; };
/* Allocates [width] for the sums of a call. STENO_ENOMEM; release it with pool_close */
int pool_open(struct pool *l, steno_session *s, const struct embed_call *c);
void pool_close(struct pool *l);
void pool_begin(struct pool *l, const struct embed_text *t);
int pool_counts(const struct pool *l, int32_t row); /* does the row count? */
void pool_add(struct pool *l, const float *rows, size_t ld, int32_t n); /* adds the next n rows */
void pool_end(struct pool *l, steno_session *s, const struct embed_call *c); /* appends the vector to the session's vectors */
#endif
