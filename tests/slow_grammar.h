/* steno tests: slow recognition of a grammar's sentences. SPDX-License-Identifier: MIT
 *
 * A reader and a recogniser of GBNF that share no code with the engine. A grammar is a tree of nodes. A table holds the stretches of a
 * text that each rule matches; it is filled until it no longer changes, for any recursion of rules. Elements for tokens are not
 * supported. */
#ifndef STENO_TESTS_SLOW_GRAMMAR_H
#define STENO_TESTS_SLOW_GRAMMAR_H
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { SLOW_NODES = 4000, SLOW_RULES = 60, SLOW_RANGES = 2000, SLOW_TEXT = 639, SLOW_WORDS = (SLOW_TEXT + 64) / 64 };

enum slow_kind { SLOW_EMPTY, SLOW_SET, SLOW_THEN, SLOW_OR, SLOW_REPEAT, SLOW_RULE };
struct slow_node { enum slow_kind kind; int a, b, extra; }; /* children; ranges [a, b), extra: negated; extra: minimum of repetitions */
struct slow_places { uint64_t bit[SLOW_WORDS]; };

struct slow_grammar {
    struct slow_node node[SLOW_NODES];
    int more[SLOW_NODES]; /* SLOW_REPEAT: maximum of repetitions, -1: none */
    int n_nodes;
    struct { char name[48]; int top; } rule[SLOW_RULES]; /* top -1: not defined */
    int n_rules;
    struct { uint32_t low, high; } range[SLOW_RANGES];
    int n_ranges;
    const char *at; /* position while reading */
    int bad, depth;
    uint32_t text[SLOW_TEXT];
    int n_text, changed;
    struct slow_places *table; /* [n_rules][n_text + 1] */
};

/* ---- reading ---- */

static uint32_t slow_char(const char **at)
{
    const uint8_t *s = (const uint8_t *)*at;
    const int more = s[0] < 0x80 ? 0 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    uint32_t c = more ? s[0] & (0x3fu >> more) : s[0];
    for (int i = 1; i <= more; i++) {
        if ((s[i] & 0xc0) != 0x80) return ++*at, 0xfffd;
        c = c << 6 | (s[i] & 0x3fu);
    }
    *at += more + 1;
    return c;
}

static int slow_node(struct slow_grammar *g, enum slow_kind kind, int a, int b, int extra)
{
    if (g->n_nodes == SLOW_NODES) return g->bad = 1, 0;
    g->node[g->n_nodes] = (struct slow_node){ kind, a, b, extra };
    return g->n_nodes++;
}

static void slow_range(struct slow_grammar *g, uint32_t low, uint32_t high)
{
    if (g->n_ranges == SLOW_RANGES) { g->bad = 1; return; }
    g->range[g->n_ranges].low = low;
    g->range[g->n_ranges++].high = high;
}

static void slow_blank(struct slow_grammar *g, int lines)
{
    for (;; g->at++) {
        if (*g->at == '#')
            while (g->at[1] && g->at[1] != '\n') g->at++;
        else if (*g->at != ' ' && *g->at != '\t' && !(lines && (*g->at == '\n' || *g->at == '\r'))) return;
    }
}

static uint32_t slow_escaped(struct slow_grammar *g)
{
    if (*g->at != '\\') return slow_char(&g->at);
    const char c = g->at[1];
    static const char from[] = "nrt\\\"[]-", to[] = "\n\r\t\\\"[]-";
    g->at += c ? 2 : 1;
    if (c && strchr(from, c)) return (uint8_t)to[strchr(from, c) - from];
    const int n = c == 'x' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    uint32_t v = 0;
    for (int i = 0; i < n; i++, g->at++) {
        const char *digits = "0123456789abcdef", *d = *g->at ? strchr(digits, *g->at | 32) : NULL;
        if (!d) g->bad = 1;
        else v = v << 4 | (uint32_t)(d - digits);
        if (g->bad) return 0;
    }
    if (!n) g->bad = 1;
    return v;
}

static int slow_rule_of(struct slow_grammar *g)
{
    char name[48];
    size_t n = 0;
    while (n < sizeof name - 1 && (*g->at == '-' || (*g->at >= '0' && *g->at <= '9') || ((*g->at | 32) >= 'a' && (*g->at | 32) <= 'z')))
        name[n++] = *g->at++;
    name[n] = 0;
    for (int i = 0; i < g->n_rules; i++)
        if (!strcmp(g->rule[i].name, name)) return i;
    if (!n || n == sizeof name - 1 || g->n_rules == SLOW_RULES) return g->bad = 1, 0;
    memcpy(g->rule[g->n_rules].name, name, n + 1);
    g->rule[g->n_rules].top = -1;
    return g->n_rules++;
}

static int slow_set(struct slow_grammar *g)
{
    const int others = g->at[1] == '^', first = g->n_ranges;
    g->at += 1 + others;
    while (!g->bad && *g->at && *g->at != ']') {
        const uint32_t low = slow_escaped(g);
        const int to = *g->at == '-' && g->at[1] && g->at[1] != ']';
        if (to) g->at++;
        slow_range(g, low, to ? slow_escaped(g) : low);
    }
    if (*g->at) g->at++;
    else g->bad = 1;
    return slow_node(g, SLOW_SET, first, g->n_ranges, others);
}

static int slow_quoted(struct slow_grammar *g)
{
    int all = slow_node(g, SLOW_EMPTY, 0, 0, 0);
    for (g->at++; !g->bad && *g->at && *g->at != '"';) {
        const uint32_t c = slow_escaped(g);
        slow_range(g, c, c);
        all = slow_node(g, SLOW_THEN, all, slow_node(g, SLOW_SET, g->n_ranges - 1, g->n_ranges, 0), 0);
    }
    if (*g->at) g->at++;
    else g->bad = 1;
    return all;
}

static int slow_repeated(struct slow_grammar *g, int e)
{
    long least = 0, most = -1;
    char *end;
    if (*g->at == '+') least = 1;
    if (*g->at == '?') most = 1;
    if (*g->at == '{') {
        g->at++;
        slow_blank(g, 0);
        most = least = strtol(g->at, &end, 10);
        if (end == g->at) g->bad = 1;
        g->at = end;
        slow_blank(g, 0);
        if (*g->at == ',') {
            g->at++;
            slow_blank(g, 0);
            most = strtol(g->at, &end, 10);
            if (end == g->at) most = -1;
            g->at = end;
            slow_blank(g, 0);
        }
        if (*g->at != '}') g->bad = 1;
    }
    if (!g->bad) g->at++;
    const int k = slow_node(g, SLOW_REPEAT, e, 0, (int)least);
    g->more[k] = (int)most;
    return k;
}

static int slow_either(struct slow_grammar *g, int inside);

static int slow_sequence(struct slow_grammar *g, int inside)
{
    int all = slow_node(g, SLOW_EMPTY, 0, 0, 0);
    for (;;) {
        int e;
        slow_blank(g, inside);
        if (g->bad || !*g->at || strchr("\r\n|)", *g->at)) return all;
        if (*g->at == '"') e = slow_quoted(g);
        else if (*g->at == '[') e = slow_set(g);
        else if (*g->at == '.') g->at++, e = slow_node(g, SLOW_SET, 0, 0, 1);
        else if (*g->at != '(') e = slow_node(g, SLOW_RULE, slow_rule_of(g), 0, 0);
        else if (g->at++, ++g->depth > 60) return g->bad = 1, all;
        else {
            e = slow_either(g, 1);
            slow_blank(g, 1);
            if (*g->at == ')') g->at++, g->depth--;
            else g->bad = 1;
        }
        for (slow_blank(g, inside); !g->bad && *g->at && strchr("*+?{", *g->at); slow_blank(g, inside)) e = slow_repeated(g, e);
        all = slow_node(g, SLOW_THEN, all, e, 0);
    }
}

static int slow_either(struct slow_grammar *g, int inside)
{
    slow_blank(g, 1); /* lines may end after ::=, | and ( */
    int all = slow_sequence(g, inside);
    while (!g->bad && (slow_blank(g, inside), *g->at == '|')) {
        g->at++;
        slow_blank(g, 1);
        all = slow_node(g, SLOW_OR, all, slow_sequence(g, inside), 0);
    }
    return all;
}

/* @return 1, or 0 if it cannot be read. */
static int slow_read(struct slow_grammar *g, const char *text)
{
    memset(g, 0, sizeof *g);
    g->at = text;
    for (slow_blank(g, 1); *g->at && !g->bad; slow_blank(g, 1)) {
        const int r = slow_rule_of(g);
        slow_blank(g, 0);
        if (g->bad || strncmp(g->at, "::=", 3) || g->rule[r].top >= 0) return 0;
        g->at += 3;
        const int top = slow_either(g, 0);
        g->rule[r].top = top;
        slow_blank(g, 0);
        if (*g->at && *g->at != '\n' && *g->at != '\r') return 0;
    }
    return !g->bad && g->n_rules > 0;
}

/* ---- recognising ---- */

static int slow_matches(const struct slow_grammar *g, const struct slow_node *k, uint32_t c)
{
    for (int i = k->a; i < k->b; i++)
        if (c >= g->range[i].low && c <= g->range[i].high) return !k->extra;
    return k->extra;
}

static int slow_more(struct slow_places *all, const struct slow_places *some)
{
    int more = 0;
    for (int i = 0; i < SLOW_WORDS; i++) {
        more |= (some->bit[i] & ~all->bit[i]) != 0;
        all->bit[i] |= some->bit[i];
    }
    return more;
}

/* The positions where node k can end if it begins at the positions `from`, by the table's present state. */
static struct slow_places slow_ends(struct slow_grammar *g, int k, struct slow_places from)
{
    const struct slow_node *e = &g->node[k];
    struct slow_places to = { { 0 } }, one;
    switch (e->kind) {
    case SLOW_EMPTY: return from;
    case SLOW_THEN: return slow_ends(g, e->b, slow_ends(g, e->a, from));
    case SLOW_OR:
        to = slow_ends(g, e->a, from);
        one = slow_ends(g, e->b, from);
        (void)slow_more(&to, &one);
        return to;
    case SLOW_REPEAT:
        for (int i = 0; g->more[k] < 0 || i <= g->more[k]; i++) {
            if (i >= e->extra && !slow_more(&to, &from)) return to; /* an empty match or a cycle */
            if (i != g->more[k]) from = slow_ends(g, e->a, from);
        }
        return to;
    case SLOW_SET:
    case SLOW_RULE:
        for (int i = 0; i <= g->n_text; i++) {
            if (!(from.bit[i / 64] >> i % 64 & 1)) continue;
            if (e->kind == SLOW_RULE) (void)slow_more(&to, &g->table[e->a * (g->n_text + 1) + i]);
            else if (i < g->n_text && slow_matches(g, e, g->text[i])) to.bit[(i + 1) / 64] |= (uint64_t)1 << (i + 1) % 64;
        }
    }
    return to;
}

/* Is text a sentence of the rule? -1 if it is too long to decide */
static int slow_sentence(struct slow_grammar *g, const char *rule, const char *text)
{
    int start = 0;
    while (start < g->n_rules && strcmp(g->rule[start].name, rule ? rule : "root")) start++;
    for (g->n_text = 0; *text; g->n_text++) {
        if (g->n_text == SLOW_TEXT) return -1;
        g->text[g->n_text] = slow_char(&text);
    }
    const int places = g->n_text + 1;
    g->table = calloc((size_t)g->n_rules * (size_t)places, sizeof *g->table);
    if (!g->table || start == g->n_rules) abort();
    do {
        g->changed = 0;
        for (int r = g->n_rules - 1; r >= 0; r--)
            for (int i = g->n_text; i >= 0 && g->rule[r].top >= 0; i--) {
                struct slow_places from = { { 0 } };
                from.bit[i / 64] = (uint64_t)1 << i % 64;
                const struct slow_places to = slow_ends(g, g->rule[r].top, from);
                g->changed |= slow_more(&g->table[r * places + i], &to);
            }
    } while (g->changed);
    const int is = (int)(g->table[start * places].bit[g->n_text / 64] >> g->n_text % 64 & 1);
    free(g->table);
    return is;
}
#endif
