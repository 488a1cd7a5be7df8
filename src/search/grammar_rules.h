/* steno: a compiled grammar. SPDX-License-Identifier: MIT
 *
 * A rule is a list of alternatives, an alternative is a run of symbols that ends with SYMBOL_END: characters, sets of
 * characters, rules. Groups and repetitions are rules without a name. So e{1000} is one rule and a thousand symbols that name it,
 * whatever e is: nested repetitions add up and do not multiply. */
#ifndef STENO_SEARCH_GRAMMAR_RULES_H
#define STENO_SEARCH_GRAMMAR_RULES_H
#include "base/buf.h"
#include "search/grammar.h"

enum { NONE = 0x3fffffff }; /* no rule, no alternative; fits a symbol */

enum symbol_kind { SYMBOL_END, SYMBOL_CHAR, SYMBOL_SET, SYMBOL_RULE };
struct symbol { uint32_t kind : 2, arg : 30; }; /* arg: code point, set, rule */

struct alt { uint32_t place, next; }; /* first symbol; the rule's next alternative, NONE: the last one */

struct rule {
    uint32_t first, last;    /* alternatives, NONE: not defined (yet) */
    uint32_t name, name_len; /* in the text; length 0: made by a group or a repetition */
    uint32_t at;             /* in the text: its definition, or where it is first named */
    uint32_t repeats;        /* 1: made for e*, whose last symbol is the rule itself */
};

/* A set matches the characters of its ranges: rising, apart, without surrogates. Negation is done with when it is compiled. */
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

/* Where a grammar is wrong: "grammar, line L, column C: …" for byte `at` of text. @return STENO_EARG */
int grammar_fail(const char *text, size_t at, steno_error *e, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* ---- building: symbols of the alternatives that are being read wait in `pending`, those of nested groups above those around them */

struct rule_build {
    struct grammar *g;
    struct buf pending; /* struct symbol */
};

int build_failed(const struct rule_build *b); /* there was no memory; what was built since is not to be used, and rules may be NONE */
uint32_t build_n(const struct rule_build *b); /* symbols that wait */
void build_push(struct rule_build *b, enum symbol_kind kind, uint32_t arg);
uint32_t build_rule(struct rule_build *b, size_t at, size_t name_len); /* new, undefined: its number */
/* The symbols that wait from `first` on become an alternative of the rule. */
void build_alternative(struct rule_build *b, uint32_t rule, uint32_t first);
/* They become at least `min` and at most `max` (NONE: without end) repetitions of themselves. */
void build_repeat(struct rule_build *b, uint32_t first, uint32_t min, uint32_t max);

/* Read text[n] into g, which is empty. Rules may remain undefined. */
int grammar_parse(struct grammar *g, const char *text, size_t n, steno_error *e);

/* Append to g the set of the given ranges, in any order; n_ranges of them, 0 <= low <= high <= U+10FFFF, are sorted in place.
 * @return its number, NONE: it matches nothing. Memory may have run out: g->ranges.err, g->sets.err */
uint32_t grammar_add_set(struct grammar *g, struct range *range, size_t n_ranges, int negated);

/* Everything is defined, no rule begins with itself, every rule can end. */
int grammar_check(const struct grammar *g, const char *text, steno_error *e);
#endif
