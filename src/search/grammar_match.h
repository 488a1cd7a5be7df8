/* steno: the stacks and states of a grammar at work. SPDX-License-Identifier: MIT
 *
 * A stack is a place, where reading goes on, and the stack below it, where it goes on after that; equal stacks are one, so they share
 * what lies below. Places that end an alternative are never on a stack, so a rule that calls itself last does not grow it. A state is a
 * sorted list of stacks whose top is a character or a set (or of the empty stack: what was read is a sentence), and the bits of a
 * character that has begun; equal states are one. */
#ifndef STENO_SEARCH_GRAMMAR_MATCH_H
#define STENO_SEARCH_GRAMMAR_MATCH_H
#include "search/grammar_rules.h"

enum { STACKS_MAX = 1 << 19,   /* of a matcher */
       STATES_MAX = 1 << 18,
       LISTED_MAX = 1 << 21,   /* stacks in the lists of all states */
       WORK_MAX = 1 << 26,     /* of one call, see WORK_STACK */
       WORK_STACK = 8,         /* what looking at a stack costs that is not only asked whether it goes on; that costs 1 */
       EDGE_BITS = 14,
       MASKS = 64 };           /* kept */

struct stack {
    uint32_t place, below; /* stack 0 is the empty one */
    uint32_t seen;         /* the step that met it last */
};

struct state {
    uint32_t list, n; /* stacks, in matcher.listed */
    uint32_t bits;    /* of a character that has begun */
    uint32_t left;    /* bytes it still wants, 0: none has begun */
};

/* Things by their contents: open addressing, at most half full. What was added last can be taken out again. */
struct lookup { uint32_t *slot, *hash, mask, n, cap; };

struct edge { uint32_t key; int32_t next; }; /* key: state << 8 | byte; while a mask is being made */

struct mask { int32_t state; uint32_t last, used, *bits; }; /* last: of ids that end a sentence; used: when last */

struct mark { uint32_t n_stacks, n_states, n_listed; };

struct frame { uint32_t node, end; int32_t state; }; /* siblings that are left to look at, and the state before them */

struct matcher {
    const struct grammar *g;
    const struct symbol *symbol;
    const struct alt *alt;
    const struct rule *rule;
    const struct set *set;
    const struct range *range;
    const struct vocab *v;
    int32_t n_text;
    struct trie trie;

    struct lookup stacks, states;
    struct stack *stack;                  /* [stacks.cap] */
    uint32_t *todo, *now;                 /* [stacks.cap] stacks to look at; the next state's */
    uint32_t n_todo, n_now, step;
    struct state *state;                  /* [states.cap] */
    uint32_t *listed, n_listed, listed_cap;

    uint32_t work;
    const char *why;
    int no_memory; /* why: the system's, not a bound of ours */
    struct mark begin; /* the first state, all that reset leaves */
    struct edge *edge; /* [1 << EDGE_BITS] */
    struct frame *frame; /* [trie.depth + 1] */
    struct mask mask[MASKS];
    uint32_t clock;
};

/* The state before any text, to be made once. MATCH_NOMEM: matcher.why says why; so below */
int32_t state_first(struct matcher *m);
/* The state after one more byte. */
int32_t state_step(struct matcher *m, int32_t state, uint8_t byte);

struct mark matcher_mark(const struct matcher *m);
void matcher_rewind(struct matcher *m, struct mark to); /* forget what was made since */
void match_free(struct matcher *m);
#endif
