/* steno: grammars. SPDX-License-Identifier: MIT
 *
 * GBNF, the notation of llama.cpp and whisper.cpp, compiled into rules over code points and matched by a nondeterministic pushdown
 * automaton: a state is a set of stacks of places in rules, and what is left of a character that a token cut. States are interned, so a
 * state is a small number that beams copy; the ids that a state allows are found once, by walking the vocabulary as a tree, and kept. */
#ifndef STENO_SEARCH_GRAMMAR_H
#define STENO_SEARCH_GRAMMAR_H
#include "text/trie.h"

struct grammar; /* compiled; immutable, shared by threads */

/* text: GBNF, UTF-8, NUL-terminated; start: name of the start rule, NULL: "root". STENO_EARG names line, column and what is wrong:
 * syntax, undefined rules, left recursion (hidden too), expansions past a bound. */
int grammar_open(struct grammar **out, const char *text, const char *start, steno_error *e);
void grammar_close(struct grammar *g); /* NULL is allowed */

/* A grammar at work over one vocabulary; one thread at a time. Grows with the states that are reached, up to a bound. */
struct matcher;
enum { MATCH_REJECTED = -1,
       MATCH_NOMEM = -2 };

/* Text is ids [0, n_text) of v; eot, outside of them, ends it. g and v must outlive the matcher. */
int matcher_open(struct matcher **out, const struct grammar *g, const struct vocab *v, int32_t n_text, int32_t eot, steno_error *e);
void matcher_close(struct matcher *m); /* NULL is allowed */

int32_t matcher_start(const struct matcher *m);                     /* state before any text */
int32_t matcher_next(struct matcher *m, int32_t state, int32_t id); /* state after a text id; MATCH_REJECTED, MATCH_NOMEM */
int matcher_complete(struct matcher *m, int32_t state);             /* what was read is a sentence */
/* Bits of the ids that may follow: word i / 32, bit i % 32, over [0, n_text); and whether eot may is matcher_complete. Valid until the next
 * call on m. NULL: no memory */
const uint32_t *matcher_mask(struct matcher *m, int32_t state);
#endif
