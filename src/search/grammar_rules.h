/* steno: a compiled grammar. SPDX-License-Identifier: MIT
 *
 * A rule is a list of alternatives. An alternative is a run of symbols that ends with SYMBOL_END: characters, sets of characters, rules.
 * Groups and repetitions are rules without a name. e{1000} is therefore one rule and a thousand symbols that refer to it, for any e: the
 * sizes of nested repetitions add up and do not multiply. */
#ifndef STENO_SEARCH_GRAMMAR_RULES_H
#define STENO_SEARCH_GRAMMAR_RULES_H
#include "base/buf.h"
#include "search/grammar.h"

enum { NONE = 0x3fffffff }; /* no rule, no alternative; fits a symbol */

enum symbol_kind { SYMBOL_END, SYMBOL_CHAR, SYMBOL_SET, SYMBOL_RULE };
struct symbol { uint32_t kind : 2, arg : 30; }; /* arg: code point, set, rule */

struct alt { uint32_t place, next; }; /* first symbol; the rule's next alternative, NONE: last */

struct rule {
    uint32_t first, last;    /* alternatives, NONE: not (yet) defined */
    uint32_t name, name_len; /* position in the text; length 0: made by a group or a repetition */
    uint32_t at;             /* position in the text: the definition, or the first use */
    uint32_t repeats;        /* 1: made for e*, whose last symbol is the rule itself */
};

/* A set matches the characters of its ranges: ascending, disjoint, without surrogates. Negation is resolved at compile time. */
struct range { uint32_t low, high; };
struct set { uint32_t range, n; };

struct grammar {
    struct buf symbols, alts, rules, sets, ranges; /* arrays of the structs above */
    uint32_t start;                               /* rule */
};

static inline struct symbol *grammar_symbols(const struct grammar *g) { return (struct symbol *)(void *)g->symbols.p; }
static inline struct alt *grammar_alts(const struct grammar *g) { return (struct alt *)(void *)g->alts.p; }
static inline struct rule *grammar_rules(const struct grammar *g) { return (struct rule *)(void *)g->rules.p; }
static inline uint32_t grammar_n_rules(const struct grammar *g) { return (uint32_t)(g->rules.len / sizeof(struct rule)); }

/* Report a fault as "grammar, line L, column C: ..." for byte `at` of text. @return STENO_EARG */
int grammar_fail(const char *text, size_t at, steno_error *e, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* ---- building: `pending` holds symbols of the open alternatives, those of nested groups above those around them */

struct rule_build {
    struct grammar *g;
    struct buf pending; /* struct symbol */
};

int build_failed(const struct rule_build *b); /* 1: out of memory; later results must not be used, and rules may be NONE */
uint32_t build_n(const struct rule_build *b); /* number of pending symbols */
void build_push(struct rule_build *b, enum symbol_kind kind, uint32_t arg);
uint32_t build_rule(struct rule_build *b, size_t at, size_t name_len); /* a new, undefined rule; returns its index */
/* The pending symbols from `first` on become an alternative of the rule. */
void build_alternative(struct rule_build *b, uint32_t rule, uint32_t first);
/* Replace the pending symbols from `first` on by at least `min` and at most `max` repetitions of them (NONE: no limit). */
void build_repeat(struct rule_build *b, uint32_t first, uint32_t min, uint32_t max);

/* Append to g the set of the given ranges, in any order. The n_ranges ranges, 0 <= low <= high <= U+10FFFF, are sorted in place. @return
 * its index, NONE: it matches nothing. Memory may have run out: g->ranges.err, g->sets.err */
uint32_t grammar_add_set(struct grammar *g, struct range *range, size_t n_ranges, int negated);

/* Check that everything is defined, no rule is left-recursive, and every rule can end. */
int grammar_check(const struct grammar *g, const char *text, steno_error *e);
#endif
