/* steno: a grammar's rules from its elements. SPDX-License-Identifier: MIT
 *
 * Repetitions become rules when they are read: e* is r ::= e r | (nothing), e? is r ::= e | (nothing), e{2,4} is e e r2 with r2 ::= e r1 |
 * (nothing) and r1 ::= e | (nothing). */
#include "search/grammar_rules.h"

int build_failed(const struct rule_build *b)
{
    const struct grammar *g = b->g;
    return g->symbols.err || g->alts.err || g->rules.err || g->sets.err || g->ranges.err || b->pending.err;
}

uint32_t build_n(const struct rule_build *b)
{
    return (uint32_t)(b->pending.len / sizeof(struct symbol));
}

static const struct symbol *pending_from(const struct rule_build *b, uint32_t i)
{
    return b->pending.p ? (const struct symbol *)(void *)b->pending.p + i : NULL;
}

static struct symbol symbol_of(enum symbol_kind kind, uint32_t arg)
{
    return (struct symbol){ (unsigned)kind & 3, arg & NONE };
}

void build_push(struct rule_build *b, enum symbol_kind kind, uint32_t arg)
{
    const struct symbol symbol = symbol_of(kind, arg);
    buf_add(&b->pending, &symbol, sizeof symbol);
}

uint32_t build_rule(struct rule_build *b, size_t at, size_t name_len)
{
    const struct rule rule = { NONE, NONE, (uint32_t)at, (uint32_t)name_len, (uint32_t)at, 0 };
    buf_add(&b->g->rules, &rule, sizeof rule);
    return b->g->rules.err ? NONE : grammar_n_rules(b->g) - 1;
}

static void add_alternative(struct grammar *g, uint32_t rule, const struct symbol *symbol, size_t n)
{
    static const struct symbol end = { SYMBOL_END, 0 };
    const struct alt alt = { (uint32_t)(g->symbols.len / sizeof end), NONE };
    const uint32_t i = (uint32_t)(g->alts.len / sizeof alt);
    buf_add(&g->symbols, symbol, n * sizeof *symbol);
    buf_add(&g->symbols, &end, sizeof end);
    buf_add(&g->alts, &alt, sizeof alt);
    if (g->symbols.err || g->alts.err || rule == NONE) return;
    struct rule *r = &grammar_rules(g)[rule];
    if (r->first == NONE) r->first = i;
    else grammar_alts(g)[r->last].next = i;
    r->last = i;
}

void build_alternative(struct rule_build *b, uint32_t rule, uint32_t first)
{
    if (b->pending.err) return;
    add_alternative(b->g, rule, pending_from(b, first), build_n(b) - first);
    b->pending.len = first * sizeof(struct symbol);
}

/* The pending symbols from `first` on as one symbol: the symbol itself, or a rule made of them. */
static struct symbol one_symbol(struct rule_build *b, uint32_t first)
{
    struct symbol symbol;
    if (build_n(b) - first == 1) {
        symbol = *pending_from(b, first);
        b->pending.len = first * sizeof symbol;
    } else {
        symbol = symbol_of(SYMBOL_RULE, build_rule(b, 0, 0));
        build_alternative(b, symbol.arg, first);
    }
    return symbol;
}

/* rule ::= e then | (nothing); then is NONE: rule ::= e | (nothing) */
static void add_optional(struct rule_build *b, uint32_t rule, struct symbol e, uint32_t then)
{
    const struct symbol symbol[] = { e, symbol_of(SYMBOL_RULE, then) };
    add_alternative(b->g, rule, symbol, then == NONE ? 1 : 2);
    add_alternative(b->g, rule, NULL, 0);
}

void build_repeat(struct rule_build *b, uint32_t first, uint32_t min, uint32_t max)
{
    if (b->pending.err) return;
    const struct symbol e = one_symbol(b, first);
    uint32_t tail = NONE;
    for (uint32_t i = 0; i < min; i++) build_push(b, e.kind, e.arg);
    if (max == NONE) {
        tail = build_rule(b, 0, 0);
        if (tail == NONE) return;
        grammar_rules(b->g)[tail].repeats = 1;
        add_optional(b, tail, e, tail);
    }
    for (uint32_t i = min; max != NONE && i < max; i++) {
        const uint32_t rule = build_rule(b, 0, 0);
        add_optional(b, rule, e, tail);
        tail = rule;
    }
    if (tail != NONE) build_push(b, SYMBOL_RULE, tail);
}
