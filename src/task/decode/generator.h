/* steno: chooses the ids of a generated text. SPDX-License-Identifier: MIT
 *
 * It handles what lies between the logits of one step and the next: which ids are allowed (grammar, ends of text), the samplers, the text
 * of the chosen ids, where the text ends, and the callbacks. The executor does the sampling, as for all users of tokens. */
#ifndef STENO_TASK_DECODE_GENERATOR_H
#define STENO_TASK_DECODE_GENERATOR_H
#include "engine/session.h"
#include "search/grammar.h"
#include "search/samplers.h"
#include "task/decode/prompt_lookup.h"
#include "text/tokenizer.h"

struct generator {
    steno_session *s;
    const steno_generate_params *p;
    struct lane *lane;
    struct sampler_chain chain;
    struct matcher *matcher;    /* of the session's grammar; NULL: no grammar */
    int32_t n_text;             /* number of ids that can be text */
    int32_t state;              /* of the matcher after the ids so far */
    struct logit_rules rules;   /* rules of the lane's sampler */
    int filters;                /* logits are read before sampling, */
    int changes;                /* and changed */
    float *raw;                 /* [n_vocab] the model's logits of the current step; NULL if they are not read */
    double lse;                 /* log-sum-exp of them */
    struct prompt_lookup lookup;
    int uses_draft;             /* the batch's draft model drafts for it */
    int goes_on;                /* the chain ended only for the draft model: call generator_propose, then run another chain */
    struct speculation speculation;
    int plan;                   /* index of the model's plan to replay */
    const int32_t *given;       /* ids to use instead of sampled ones, max_tokens of them; may be NULL */
    int32_t taken;              /* ids of the lane that have been handled */
    uint32_t row, out;          /* of the current run: its first row, and that row's index among those with logits */
    int32_t end;                /* the end-of-text id that was chosen, or -1 */
    struct token_stream stream;
    size_t passed;                /* bytes of the text passed to on_token */
    int finish;                 /* enum steno_finish */
    int status;                 /* not STENO_OK: why the text cannot continue */
};

/* Data that p points to must stay in place. STENO_EARG: a parameter is wrong; STENO_ENOMEM. Call generator_close afterwards in any case. */
int generator_open(struct generator *c, steno_session *s, int plan, const steno_generate_params *p);
/* Begins after the ids in s->held, with at most `room` ids, in a lane that was rewound. uses_draft: use the batch's draft model, if it has
 * one that holds the text. */
void generator_start(struct generator *c, struct lane *lane, int32_t room, int uses_draft);
void generator_give(struct generator *c, const int32_t *ids); /* benchmarks: uses these max_tokens ids instead of sampled ones */
struct chain_calls generator_calls(struct generator *c); /* for a chain of this lane only */
int generator_propose(struct generator *c); /* drafts for the next chain. A status */
/* The chain has ended with rc. Passes the rest of the text to on_token. @return rc, or another error */
int generator_end(struct generator *c, int rc);
void generator_close(struct generator *c);

/* For a chain of several lanes: call it after each replay that had sampled rows of this lane. @return 1: the text continues, 0: it has
 * ended, or c->status has the error */
int generator_next(struct generator *c);
/* Adds its next rows to the run: the last chosen id, then at most `draft` draft tokens. rows: number of rows of the run without the draft
 * tokens. */
void generator_rows(struct generator *c, int32_t draft, int32_t rows);
/* Number of tokens to draft when `texts` texts run together. */
int32_t generator_draft_count(const struct generator *c, int32_t texts);
struct draft_text generator_text(const struct generator *c, int32_t texts); /* input of the draft model for that */
void generator_take_draft(struct generator *c, const struct draft_text *t);    /* stores the draft tokens for generator_rows */
void generator_filter(struct generator *c, float *logits); /* processes the logits of its lane before sampling */
#endif
