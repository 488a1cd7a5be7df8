/* steno: stacks and states of a grammar matcher. SPDX-License-Identifier: MIT
 *
 * A stack is a position, where matching continues, and the stack below it, where matching continues after that. Equal stacks are stored
 * once, so they share the part below. Positions that end an alternative are never on a stack, so a rule that calls itself last does not
 * grow it. A state is a sorted list of stacks whose top is a character or a set (or of the empty stack: the text so far is a sentence),
 * plus the bits of a character that has begun. Equal states are stored once. */
#ifndef STENO_SEARCH_GRAMMAR_MATCH_H
#define STENO_SEARCH_GRAMMAR_MATCH_H
#include "search/grammar_rules.h"

enum { STACKS_MAX = 1 << 19,   /* per matcher */
       STATES_MAX = 1 << 18,
       LISTED_MAX = 1 << 21,   /* stacks in the lists of all states */
       WORK_MAX = 1 << 26,     /* limit of one call, see WORK_STACK */
       WORK_STACK = 8,         /* cost of processing a stack; a mere check whether it is known costs 1 */
       EDGE_BITS = 14,
       MASKS = 64 };           /* cached */

struct stack {
    uint32_t place, below; /* stack 0 is the empty one */
    uint32_t seen;         /* the last step that reached it */
};

struct state {
    uint32_t list, n; /* stacks, in matcher.listed */
    uint32_t bits;    /* of a character that has begun */
    uint32_t left;    /* missing bytes of the character, 0: none has begun */
};

/* A hash table by contents: open addressing, at most half full. The newest entries can be removed again. */
struct lookup { uint32_t *slot, *hash, mask, n, cap; };

struct edge { uint32_t key; int32_t next; }; /* key: state << 8 | byte; used while a mask is computed */

struct mask { int32_t state; uint32_t last, used, *bits; }; /* last: of ids that end a sentence; used: time of the last use */

struct mark { uint32_t n_stacks, n_states, n_listed; };

struct frame { uint32_t node, end; int32_t state; }; /* remaining siblings, and the state before them */

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
    uint32_t *todo, *now;                 /* [stacks.cap] stacks to process; stacks of the next state */
    uint32_t n_todo, n_now, step;
    struct state *state;                  /* [states.cap] */
    uint32_t *listed, n_listed, listed_cap;

    uint32_t work;
    const char *why;
    int no_memory; /* why: the system is out of memory, rather than a limit was reached */
    struct mark begin; /* the first state, which reset keeps */
    struct edge *edge; /* [1 << EDGE_BITS] */
    struct frame *frame; /* [trie.depth + 1] */
    struct mask mask[MASKS];
    uint32_t clock;
};

/* Create the state before any text; call once. MATCH_NOMEM: see matcher.why, here and below */
int32_t state_first(struct matcher *m);
/* The state after one more byte. */
int32_t state_step(struct matcher *m, int32_t state, uint8_t byte);

struct mark matcher_mark(const struct matcher *m);
void matcher_rewind(struct matcher *m, struct mark to); /* drop everything created since the mark */
void match_free(struct matcher *m);
#endif
