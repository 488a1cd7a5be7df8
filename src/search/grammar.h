/* steno: grammars. SPDX-License-Identifier: MIT
 *
 * GBNF, the notation of llama.cpp and whisper.cpp, is compiled into rules over code points and matched by a nondeterministic pushdown
 * automaton. A state is a set of stacks of positions in rules, plus the rest of a character that a token split. States are interned, so a
 * state is a small number that beams copy. The ids that a state allows are computed once, by walking the vocabulary as a tree, and cached.
 *
 *     name ::= element …  | element …      a rule ends with its line, but not inside ( ), nor after ::= or |; # begins a comment
 *     "text"  [a-z_]  [^"\n]  .            characters; escapes \n \r \t \\ \" \[ \] \- \xHH \uHHHH \UHHHHHHHH
 *     other-rule  ( … | … )                names are letters, digits and '-'
 *     e*  e+  e?  e{3}  e{3,}  e{3,5}      repetitions; counts up to 2000
 *
 * Elements that stand for whole tokens, <…>, are refused: a grammar describes text, independent of the tokens. */
#ifndef STENO_SEARCH_GRAMMAR_H
#define STENO_SEARCH_GRAMMAR_H
#include "text/trie.h"

struct grammar; /* compiled; immutable, shared by threads */

/* text: GBNF, UTF-8, NUL-terminated, not kept; start: name of the start rule, NULL: "root". STENO_EARG names line and column (in
 * characters, both from 1) and the fault: syntax, undefined rules, left-recursive rules (also after a part that may be empty), rules that
 * never end, expansions past a limit, a start whose only sentence is the empty text. STENO_ENOMEM */
int grammar_open(struct grammar **out, const char *text, const char *start, steno_error *e);
void grammar_close(struct grammar *g); /* g may be NULL */

/* Matches a grammar over one vocabulary; one thread at a time. It grows with the reached states, up to a limit (about 40 MB). A call also
 * fails with MATCH_NOMEM before it has worked for about a second. Only grammars that parse a text in very many ways reach these limits.
 * matcher_why names the limit. A call that failed does not change the matcher. */
struct matcher;
enum { MATCH_REJECTED = -1,
       MATCH_NOMEM = -2 };

/* Text ids are [0, n_text) of v; eot, outside of this range, ends the text. g and v must outlive the matcher. STENO_EARG: v has fewer ids,
 * eot is a text id, or the grammar can begin in too many ways; STENO_ENOMEM */
int matcher_open(struct matcher **out, const struct grammar *g, const struct vocab *v, int32_t n_text, int32_t eot, steno_error *e);
void matcher_close(struct matcher *m); /* m may be NULL */
void matcher_reset(struct matcher *m); /* between texts, when no state is kept: drop all states but the first, and their memory */

int32_t matcher_start(const struct matcher *m);                     /* state before any text */
/* State after a text id; MATCH_REJECTED: the id may not follow (also: eot, empty ids, ids that begin with byte 00), MATCH_NOMEM. A negative
 * state is returned unchanged. */
int32_t matcher_next(struct matcher *m, int32_t state, int32_t id);
int matcher_complete(struct matcher *m, int32_t state);             /* 1: the text so far is a sentence */
int matcher_between(const struct matcher *m, int32_t state);        /* 1: the text so far is empty or ends with a whole character */
/* Bits of the ids that may follow: word i / 32, bit i % 32, over [0, n_text). eot may follow if matcher_complete. An id may follow if
 * the text so far plus the id begins some sentence. After MATCH_REJECTED no id may follow. Valid until the next call on m. NULL: out of
 * memory */
const uint32_t *matcher_mask(struct matcher *m, int32_t state);
/* The same for ids that complete a sentence: used when there is room for only one more id. */
const uint32_t *matcher_mask_last(struct matcher *m, int32_t state);
const char *matcher_why(const struct matcher *m); /* the reason of the last MATCH_NOMEM or NULL; "" before any */
#endif
