/* steno: grammars. SPDX-License-Identifier: MIT
 *
 * GBNF, the notation of llama.cpp and whisper.cpp, compiled into rules over code points and matched by a nondeterministic pushdown
 * automaton: a state is a set of stacks of places in rules, and what is left of a character that a token cut. States are interned, so a
 * state is a small number that beams copy; the ids that a state allows are found once, by walking the vocabulary as a tree, and kept.
 *
 *     name ::= element …  | element …      a rule ends with its line, but not inside ( ), nor behind ::= or |; # begins a comment
 *     "text"  [a-z_]  [^"\n]  .            characters; escapes \n \r \t \\ \" \[ \] \- \xHH \uHHHH \UHHHHHHHH
 *     other-rule  ( … | … )                names are letters, digits and '-'
 *     e*  e+  e?  e{3}  e{3,}  e{3,5}      repetitions; counts up to 2000
 *
 * Elements that stand for whole tokens, <…>, are refused: a grammar says what is said, not how it is cut. */
#ifndef STENO_SEARCH_GRAMMAR_H
#define STENO_SEARCH_GRAMMAR_H
#include "text/trie.h"

struct grammar; /* compiled; immutable, shared by threads */

/* text: GBNF, UTF-8, NUL-terminated, not kept; start: name of the start rule, NULL: "root". STENO_EARG names line, column (in characters,
 * both from 1) and what is wrong: syntax, undefined rules, rules that can begin with themselves (also behind what may be empty), rules
 * that never end, expansions past a bound, a start whose only sentence is the empty text. STENO_ENOMEM */
int grammar_open(struct grammar **out, const char *text, const char *start, steno_error *e);
void grammar_close(struct grammar *g); /* NULL is allowed */

/* A grammar at work over one vocabulary; one thread at a time. Grows with the states that are reached, up to a bound (some 40 MB); a call
 * also ends, with MATCH_NOMEM, before it has worked for about a second: both are met by grammars that read a text in very many ways at
 * once. matcher_why then says which. A call that failed leaves the matcher as it was. */
struct matcher;
enum { MATCH_REJECTED = -1,
       MATCH_NOMEM = -2 };

/* Text is ids [0, n_text) of v; eot, outside of them, ends it. g and v must outlive the matcher. STENO_EARG: v has fewer ids, eot is
 * among the text, or the grammar can begin in too many ways; STENO_ENOMEM */
int matcher_open(struct matcher **out, const struct grammar *g, const struct vocab *v, int32_t n_text, int32_t eot, steno_error *e);
void matcher_close(struct matcher *m); /* NULL is allowed */
void matcher_reset(struct matcher *m); /* give up all states but the first, and what they take: between texts, when no state is kept */

int32_t matcher_start(const struct matcher *m);                     /* state before any text */
/* State after a text id; MATCH_REJECTED: the id may not follow (also: eot, empty ids, ids that begin with byte 00), MATCH_NOMEM. A
 * negative state stays what it is. */
int32_t matcher_next(struct matcher *m, int32_t state, int32_t id);
int matcher_complete(struct matcher *m, int32_t state);             /* what was read is a sentence */
int matcher_between(const struct matcher *m, int32_t state);        /* what was read ends with a whole character, or is nothing */
/* Bits of the ids that may follow: word i / 32, bit i % 32, over [0, n_text); and whether eot may is matcher_complete. An id may follow
 * when what was read, with it, is the beginning of some sentence. None may after MATCH_REJECTED. Valid until the next call on m. NULL: no
 * memory */
const uint32_t *matcher_mask(struct matcher *m, int32_t state);
/* The same for ids that make a sentence of what was read: what is left when there is room for one more. */
const uint32_t *matcher_mask_last(struct matcher *m, int32_t state);
const char *matcher_why(const struct matcher *m); /* why the last MATCH_NOMEM or NULL came about; "" before any */
#endif
