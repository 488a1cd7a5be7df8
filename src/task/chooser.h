/* steno: the ids of a text that is made. SPDX-License-Identifier: MIT
 *
 * Between the logits of a step and its successor: what may be said (a grammar, ends of text), what is left to draw from (samplers), the
 * text that ids make, where it ends, and whoever wants to hear of each. The executor draws, as for all who choose tokens. */
#ifndef STENO_TASK_CHOOSER_H
#define STENO_TASK_CHOOSER_H
#include "search/grammar.h"
#include "search/samplers.h"
#include "task/draft.h"
#include "task/session.h"
#include "text/tokenizer.h"

struct chooser {
    steno_session *s;
    const steno_generate_params *p;
    struct lane *lane;
    struct sampler_chain chain;
    struct matcher *matcher;    /* of the session's grammar; NULL: anything may be said */
    int32_t n_text;             /* ids that a text may have */
    int32_t state;              /* of the matcher, after the ids so far */
    struct logit_rules rules;   /* that the lane's sampler reads */
    int filters;                /* logits are looked at before the draw */
    float *raw;                 /* [n_vocab] of the step at hand, as the model made them; NULL: nobody changes them */
    double lse;                 /* logarithm of the sum of their exponentials */
    struct draft draft;
    int is_guessed;             /* the batch's draft model guesses for it */
    int goes_on;                /* the chain ended for the draft model alone: chooser_guess, and another one */
    struct guessing guessing;
    int plan;                   /* of the model, that is replayed */
    const int32_t *given;       /* ids that are said instead of those that are chosen, as many as max_tokens; NULL: none are */
    int32_t taken;              /* ids of the lane that were looked at */
    uint32_t row, out;          /* of the run at hand: its first row, and that among those with logits */
    int32_t end;                /* the end of text that was chosen, -1: none */
    struct token_stream stream;
    size_t told;                /* bytes of the text that on_token has heard */
    int finish;                 /* enum steno_finish */
    int status;                 /* not STENO_OK: why nothing else is chosen */
};

/* What p points at stays where it is. STENO_EARG: a parameter is wrong; STENO_ENOMEM. Afterwards chooser_close, in any case. */
int chooser_open(struct chooser *c, steno_session *s, int plan, const steno_generate_params *p);
/* For ids behind those that the session holds (s->held), `room` of them at most, in a lane that was rewound. is_guessed: by the draft model
 * of the batch, if it has one that knows the text. */
void chooser_start(struct chooser *c, struct lane *lane, int32_t room, int is_guessed);
void chooser_give(struct chooser *c, const int32_t *ids); /* what is said is not chosen but this, max_tokens of them: for measuring */
struct chain_calls chooser_calls(struct chooser *c); /* of a chain of this lane alone */
int chooser_guess(struct chooser *c); /* the rows of the next one, which the draft model guesses. A status */
/* The chain has ended, as rc says: what is left is told. @return rc, or what else went wrong */
int chooser_end(struct chooser *c, int rc);
void chooser_close(struct chooser *c);

/* Of a chain that lanes share: after each replay in which its lane had rows to choose from, what they chose is looked at. @return 1: it
 * goes on, 0: it has ended, or c->status says why it cannot */
int chooser_next(struct chooser *c);
/* Its next rows behind those in the run: the id that was chosen last, and at most `guesses` behind it. rows: so many the run has without
 * those. */
void chooser_rows(struct chooser *c, int32_t guesses, int32_t rows);
/* Guesses that the draft model is to make, where so many texts choose together. */
int32_t chooser_guesses(const struct chooser *c, int32_t texts);
struct guessed_text chooser_text(const struct chooser *c, int32_t texts); /* what it has to know for that */
void chooser_guessed(struct chooser *c, const struct guessed_text *t);    /* it has made them: chooser_rows takes them */
void chooser_filter(struct chooser *c, float *logits); /* of its lane, before one is chosen from */
#endif
