/* steno: a grammar's rules: from its elements, and their checks. SPDX-License-Identifier: MIT
 *
 * Repetitions become rules when they are read: e* is r ::= e r | (nothing), e? is r ::= e | (nothing), e{2,4} is e e r2 with r2 ::= e r1 |
 * (nothing) and r1 ::= e | (nothing).
 *
 * A left-recursive rule would push itself on its own stack for ever, so such rules are refused. Rules that may be empty are found first, so
 * an empty part before the recursion does not hide it. The only exception is the rule of e*, which calls itself at its end and so never
 * grows a stack. A rule that never ends is refused as well; every text that is not rejected can then become a sentence. A start that
 * reaches no character is refused, because it would forbid all text. */
#include "search/grammar_rules.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"

/* ---- messages and character sets --------------------------------------------------------------------------------------------- */

int grammar_fail(const char *text, size_t at, steno_error *e, const char *fmt, ...)
{
    char why[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(why, sizeof why, fmt, args);
    va_end(args);
    unsigned line = 1, column = 1;
    for (size_t i = 0; i < at; i++) {
        if (text[i] == '\n') line++, column = 1;
        else if (!utf8_is_inside((uint8_t)text[i])) column++;
    }
    return err_set(e, STENO_EARG, "grammar, line %u, column %u: %s", line, column, why);
}

static int by_low(const void *x, const void *y)
{
    const struct range *a = x, *b = y;
    return (a->low > b->low) - (a->low < b->low);
}

/* low..high without surrogates, which text never contains */
static void add_range(struct grammar *g, uint32_t low, uint32_t high)
{
    const struct range part[] = { { low, high < 0xd7ff ? high : 0xd7ff }, { low > 0xe000 ? low : 0xe000, high } };
    for (int i = 0; i < 2; i++)
        if (part[i].low <= part[i].high) buf_add(&g->ranges, &part[i], sizeof part[i]);
}

uint32_t grammar_add_set(struct grammar *g, struct range *range, size_t n_ranges, int negated)
{
    if (n_ranges) qsort(range, n_ranges, sizeof *range, by_low);
    const size_t first = g->ranges.len / sizeof *range;
    uint32_t low = 0, next = 0; /* [low, next) is covered, [0, low) is finished */
    for (size_t i = 0; i < n_ranges; i++) {
        if (range[i].low > next) {
            if (negated) add_range(g, next, range[i].low - 1);
            else if (next > low) add_range(g, low, next - 1);
            low = range[i].low;
        }
        if (range[i].high + 1 > next) next = range[i].high + 1;
    }
    if (negated && next <= 0x10ffff) add_range(g, next, 0x10ffff);
    if (!negated && next > low) add_range(g, low, next - 1);
    const struct set set = { (uint32_t)first, (uint32_t)(g->ranges.len / sizeof *range - first) };
    if (!set.n) return NONE;
    buf_add(&g->sets, &set, sizeof set);
    return (uint32_t)(g->sets.len / sizeof set - 1);
}

/* ---- rules from elements ----------------------------------------------------------------------------------------------------- */

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

/* ---- checks ------------------------------------------------------------------------------------------------------------------ */

struct path { uint32_t rule, alt, place; };

struct check {
    const struct grammar *g;
    const char *text;
    steno_error *e;
    struct arena arena;
    uint32_t n_symbols, n_alts, n_rules;
    const struct symbol *symbol;
    const struct alt *alt;
    const struct rule *rule;
    uint32_t *rule_of, *need;     /* [n_alts] the rule of the alternative; number of its unresolved symbols */
    uint32_t *alt_of, *next_use;  /* [n_symbols] the alternative of the symbol; the next symbol with the same rule */
    uint32_t *first_use, *settled; /* [n_rules] a symbol with this rule; queue */
    uint8_t *empty, *ends, *seen; /* [n_rules] may be empty; can end; 1: on the path, 2: done */
    struct path *path;            /* [n_rules] */
};

static int check_prepare(struct check *c)
{
    const struct grammar *g = c->g;
    c->symbol = grammar_symbols(g), c->alt = grammar_alts(g), c->rule = grammar_rules(g);
    c->n_symbols = (uint32_t)(g->symbols.len / sizeof *c->symbol);
    c->n_alts = (uint32_t)(g->alts.len / sizeof *c->alt);
    c->n_rules = grammar_n_rules(g);
    c->rule_of = arena_array(&c->arena, c->n_alts, sizeof *c->rule_of);
    c->need = arena_array(&c->arena, c->n_alts, sizeof *c->need);
    c->alt_of = arena_array(&c->arena, c->n_symbols, sizeof *c->alt_of);
    c->next_use = arena_array(&c->arena, c->n_symbols, sizeof *c->next_use);
    c->first_use = arena_array(&c->arena, c->n_rules, sizeof *c->first_use);
    c->settled = arena_array(&c->arena, c->n_rules, sizeof *c->settled);
    c->empty = arena_array(&c->arena, c->n_rules, 1);
    c->ends = arena_array(&c->arena, c->n_rules, 1);
    c->seen = arena_array(&c->arena, c->n_rules, 1);
    c->path = arena_array(&c->arena, c->n_rules, sizeof *c->path);
    const int got_alts = c->rule_of && c->need, got_symbols = c->alt_of && c->next_use;
    if (!got_alts || !got_symbols || !c->first_use || !c->settled || !c->empty || !c->ends || !c->seen || !c->path)
        return err_nomem(c->e, c->n_symbols * 2 * sizeof *c->alt_of, "checking a grammar");
    for (uint32_t r = 0; r < c->n_rules; r++) c->first_use[r] = NONE;
    for (uint32_t r = 0; r < c->n_rules; r++)
        for (uint32_t a = c->rule[r].first; a != NONE; a = c->alt[a].next) {
            c->rule_of[a] = r;
            for (uint32_t i = c->alt[a].place; c->symbol[i].kind != SYMBOL_END; i++) {
                c->alt_of[i] = a;
                if (c->symbol[i].kind != SYMBOL_RULE) continue;
                c->next_use[i] = c->first_use[c->symbol[i].arg];
                c->first_use[c->symbol[i].arg] = i;
            }
        }
    return STENO_OK;
}

static int fail_rule(const struct check *c, uint32_t r, const char *what)
{
    const struct rule *rule = &c->rule[r];
    const uint32_t len = rule->name_len < 40 ? rule->name_len : 40;
    return grammar_fail(c->text, rule->at, c->e, "rule \"%.*s\" %s", (int)len, c->text + rule->name, what);
}

/* Resolve rules: a rule is resolved (is[rule] = 1) if all symbols of one of its alternatives are. Characters are resolved if `chars`. */
static void rules_settle(struct check *c, uint8_t *is, int chars)
{
    uint32_t n = 0;
    for (uint32_t a = 0; a < c->n_alts; a++) {
        c->need[a] = 0;
        for (uint32_t i = c->alt[a].place; c->symbol[i].kind != SYMBOL_END; i++)
            c->need[a] += c->symbol[i].kind == SYMBOL_RULE || !chars;
        if (c->need[a] || is[c->rule_of[a]]) continue;
        is[c->rule_of[a]] = 1;
        c->settled[n++] = c->rule_of[a];
    }
    while (n) {
        const uint32_t done = c->settled[--n];
        for (uint32_t i = c->first_use[done]; i != NONE; i = c->next_use[i]) {
            const uint32_t a = c->alt_of[i], r = c->rule_of[a];
            if (--c->need[a] || is[r]) continue;
            is[r] = 1;
            c->settled[n++] = r;
        }
    }
}

/* The next rule that the rule on top of the path can begin with, NONE: no more. */
static uint32_t next_begin(const struct check *c, struct path *top)
{
    while (top->alt != NONE) {
        const struct symbol p = c->symbol[top->place];
        if (p.kind == SYMBOL_RULE && c->empty[p.arg]) {
            top->place++;
        } else {
            top->alt = c->alt[top->alt].next;
            if (top->alt != NONE) top->place = c->alt[top->alt].place;
        }
        if (p.kind == SYMBOL_RULE && !(p.arg == top->rule && c->rule[p.arg].repeats)) return p.arg;
    }
    return NONE;
}

static void rule_enter(struct check *c, uint32_t n, uint32_t r)
{
    const uint32_t a = c->rule[r].first;
    c->path[n] = (struct path){ r, a, a == NONE ? 0 : c->alt[a].place };
    c->seen[r] = 1;
}

/* Every cycle of groups and repetitions contains a named rule; the message names it. */
static int fail_recursion(const struct check *c, uint32_t n, uint32_t again)
{
    uint32_t i = n, named = again;
    do {
        i--;
        if (c->rule[c->path[i].rule].name_len) named = c->path[i].rule;
    } while (i && c->path[i].rule != again);
    return fail_rule(c, named, "can begin with itself: put something before it, or use * or +");
}

static int refuse_left_recursion(struct check *c)
{
    for (uint32_t first = 0; first < c->n_rules; first++) {
        uint32_t n = 0;
        if (!c->seen[first]) rule_enter(c, n++, first);
        while (n) {
            const uint32_t r = next_begin(c, &c->path[n - 1]);
            if (r == NONE) c->seen[c->path[--n].rule] = 2;
            else if (c->seen[r] == 1) return fail_recursion(c, n, r);
            else if (!c->seen[r]) rule_enter(c, n++, r);
        }
    }
    return STENO_OK;
}

/* A rule that never ends and that the given one needs. */
static uint32_t endless_part(const struct check *c, uint32_t r)
{
    uint32_t i = c->alt[c->rule[r].first].place;
    while (c->symbol[i].kind != SYMBOL_RULE || c->ends[c->symbol[i].arg]) i++;
    return c->symbol[i].arg;
}

/* Following these parts leads into a cycle. The message names a rule of that cycle. */
static int refuse_endless(struct check *c)
{
    uint32_t r = 0;
    while (r < c->n_rules && c->ends[r]) r++;
    if (r == c->n_rules) return STENO_OK;
    memset(c->seen, 0, c->n_rules);
    for (; !c->seen[r]; r = endless_part(c, r)) c->seen[r] = 1;
    while (!c->rule[r].name_len) r = endless_part(c, r);
    return fail_rule(c, r, "never ends: none of its alternatives does");
}

/* All rules can end, so one character reachable from the start makes a sentence that is not empty. */
static int refuse_silent(struct check *c)
{
    uint32_t n = 0;
    memset(c->seen, 0, c->n_rules);
    c->seen[c->g->start] = 1;
    c->settled[n++] = c->g->start;
    while (n)
        for (uint32_t a = c->rule[c->settled[--n]].first; a != NONE; a = c->alt[a].next)
            for (uint32_t i = c->alt[a].place; c->symbol[i].kind != SYMBOL_END; i++) {
                if (c->symbol[i].kind != SYMBOL_RULE) return STENO_OK;
                if (!c->seen[c->symbol[i].arg]) c->settled[n++] = c->symbol[i].arg;
                c->seen[c->symbol[i].arg] = 1;
            }
    return fail_rule(c, c->g->start, "has only the empty text for a sentence: no token would be allowed");
}

static int check_rules(struct check *c)
{
    for (uint32_t r = 0; r < c->n_rules; r++)
        if (c->rule[r].first == NONE) return fail_rule(c, r, "is not defined");
    int rc = check_prepare(c);
    if (rc) return rc;
    rules_settle(c, c->empty, 0);
    rules_settle(c, c->ends, 1);
    rc = refuse_left_recursion(c);
    if (!rc) rc = refuse_endless(c);
    return rc ? rc : refuse_silent(c);
}

int grammar_check(const struct grammar *g, const char *text, steno_error *e)
{
    struct check c = { .g = g, .text = text, .e = e, .rule = grammar_rules(g), .n_rules = grammar_n_rules(g) };
    arena_init(&c.arena);
    const int rc = check_rules(&c);
    arena_free(&c.arena);
    return rc;
}
