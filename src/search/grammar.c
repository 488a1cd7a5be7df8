/* steno: opening grammars: reading GBNF. SPDX-License-Identifier: MIT
 *
 * One pass over the text. A group opens a frame above the rule or group that contains it, so a nested group is finished before the outer
 * one. Allocation errors are sticky in the buffers and checked once per element. */
#include "search/grammar_rules.h"
#include <stdlib.h>
#include <string.h>
#include "base/hash.h"
#include "base/utf8.h"

enum { DEPTH_MAX = 500, COUNT_MAX = 2000, SYMBOLS_MAX = 1 << 20 };

struct group_frame { uint32_t rule, pending, at; }; /* symbols of the current alternative begin at pending; `at`: the text that opened it */

struct parser {
    struct rule_build b;
    const char *text; /* [n] and a NUL */
    size_t n, at;
    struct buf ranges; /* of the current set */
    struct group_frame frame[DEPTH_MAX];
    uint32_t n_frames;
    uint32_t *slot, slot_mask, n_names; /* rules by name: index + 1 */
    steno_error *e;
};

#define FAIL(p, at, ...) grammar_fail((p)->text, at, (p)->e, __VA_ARGS__)

static int out_of_memory(const struct parser *p)
{
    if (!build_failed(&p->b) && !p->ranges.err) return STENO_OK;
    return err_nomem(p->e, p->b.g->symbols.len + p->b.g->rules.len + p->b.pending.len, "a grammar");
}

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

static uint32_t *slot_of(const struct parser *p, const char *name, size_t len)
{
    for (uint32_t h = hash_bytes(name, len);; h++) {
        uint32_t *slot = &p->slot[h & p->slot_mask];
        const struct rule *r = *slot ? &grammar_rules(p->b.g)[*slot - 1] : NULL;
        if (!r || (r->name_len == len && !memcmp(p->text + r->name, name, len))) return slot;
    }
}

static int grow_names(struct parser *p)
{
    const uint32_t n = p->slot ? 2 * (p->slot_mask + 1) : 64;
    uint32_t *slot = calloc(n, sizeof *slot);
    if (!slot) return err_nomem(p->e, n * sizeof *slot, "the names of a grammar");
    free(p->slot);
    p->slot = slot;
    p->slot_mask = n - 1;
    const struct rule *rule = grammar_rules(p->b.g);
    for (uint32_t i = 0; i < grammar_n_rules(p->b.g); i++)
        if (rule[i].name_len) *slot_of(p, p->text + rule[i].name, rule[i].name_len) = i + 1;
    return STENO_OK;
}

static int is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
}

/* Read a rule name. A name that is new becomes a rule that is not yet defined. */
static int read_name(struct parser *p, uint32_t *rule)
{
    const size_t begin = p->at;
    while (is_name(p->text[p->at])) p->at++;
    if (!p->slot || 2 * p->n_names > p->slot_mask) {
        const int rc = grow_names(p);
        if (rc) return rc;
    }
    uint32_t *slot = slot_of(p, p->text + begin, p->at - begin);
    if (!*slot) {
        *rule = build_rule(&p->b, begin, p->at - begin);
        if (*rule == NONE) return out_of_memory(p);
        *slot = *rule + 1;
        p->n_names++;
    }
    *rule = *slot - 1;
    return STENO_OK;
}

/* ---- characters -------------------------------------------------------------------------------------------------------------- */

static void skip_space(struct parser *p, int lines)
{
    for (;; p->at++) {
        const char c = p->text[p->at];
        if (c == '#')
            while (p->text[p->at + 1] && p->text[p->at + 1] != '\n' && p->text[p->at + 1] != '\r') p->at++;
        else if (c != ' ' && c != '\t' && !(lines && (c == '\n' || c == '\r'))) return;
    }
}

static int read_hex(struct parser *p, size_t begin, int n, uint32_t *cp)
{
    uint32_t v = 0;
    for (int i = 0; i < n; i++, p->at++) {
        const char c = p->text[p->at];
        const int d = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (d < 0) return FAIL(p, begin, "the escape \\%c takes %d hexadecimal digits", p->text[begin + 1], n);
        v = v << 4 | (uint32_t)d;
    }
    if (v > 0x10ffff) return FAIL(p, begin, "0x%x is not a character: the last one is U+10FFFF", (unsigned)v);
    *cp = v;
    return STENO_OK;
}

/* Read one character of a literal or a set, plain or escaped. */
static int read_char(struct parser *p, uint32_t *cp)
{
    static const char from[] = "nrt\\\"[]-", to[] = "\n\r\t\\\"[]-";
    const size_t begin = p->at;
    if (p->text[begin] != '\\') {
        p->at += utf8_next(p->text + begin, p->n - begin, cp); /* never 0: the text is UTF-8 */
        return STENO_OK;
    }
    const char c = p->text[begin + 1];
    const char *known = c ? strchr(from, c) : NULL;
    p->at = begin + 1 + (c != 0);
    if (c == 'x' || c == 'u' || c == 'U') return read_hex(p, begin, c == 'x' ? 2 : c == 'u' ? 4 : 8, cp);
    if (!known) return FAIL(p, begin, "unknown escape; there are \\n \\r \\t \\\\ \\\" \\[ \\] \\- \\xHH \\uHHHH \\UHHHHHHHH");
    *cp = (uint8_t)to[known - from];
    return STENO_OK;
}

static int read_literal(struct parser *p)
{
    const size_t begin = p->at++;
    while (p->text[p->at] != '"') {
        const size_t at = p->at;
        uint32_t cp = 0;
        if (at >= p->n) return FAIL(p, begin, "this text in quotes is not closed");
        const int rc = read_char(p, &cp);
        if (rc) return rc;
        if (cp >= 0xd800 && cp < 0xe000) return FAIL(p, at, "U+%04X is half of a character: write the whole one", (unsigned)cp);
        build_push(&p->b, SYMBOL_CHAR, cp);
    }
    p->at++;
    return STENO_OK;
}

static int read_range(struct parser *p)
{
    const size_t begin = p->at;
    struct range r = { 0, 0 };
    int rc = read_char(p, &r.low);
    if (rc) return rc;
    r.high = r.low;
    if (p->text[p->at] == '-' && p->text[p->at + 1] && p->text[p->at + 1] != ']') {
        p->at++;
        rc = read_char(p, &r.high);
        if (rc) return rc;
    }
    if (r.high < r.low) return FAIL(p, begin, "this range ends before it begins");
    buf_add(&p->ranges, &r, sizeof r);
    return STENO_OK;
}

static int read_set(struct parser *p)
{
    const size_t begin = p->at++;
    const int negated = p->text[p->at] == '^';
    p->at += (size_t)negated;
    p->ranges.len = 0;
    while (p->text[p->at] != ']') {
        if (p->at >= p->n) return FAIL(p, begin, "this set of characters is not closed");
        const int rc = read_range(p);
        if (rc) return rc;
    }
    p->at++;
    const int rc = out_of_memory(p);
    if (rc) return rc;
    const size_t n = p->ranges.len / sizeof(struct range);
    if (!n) return FAIL(p, begin, "this set of characters is empty");
    const uint32_t set = grammar_add_set(p->b.g, (struct range *)(void *)p->ranges.p, n, negated);
    if (set == NONE && !p->b.g->ranges.err) return FAIL(p, begin, "this set matches no character");
    build_push(&p->b, SYMBOL_SET, set);
    return STENO_OK;
}

/* ---- elements ---------------------------------------------------------------------------------------------------------------- */

static int read_count(struct parser *p, uint32_t *out)
{
    const size_t begin = p->at;
    uint32_t v = 0;
    for (; p->text[p->at] >= '0' && p->text[p->at] <= '9'; p->at++)
        if (v <= COUNT_MAX) v = 10 * v + (uint32_t)(p->text[p->at] - '0');
    if (p->at == begin) return FAIL(p, begin, "a repetition is {3}, {3,} or {3,5}: a number is missing here");
    if (v > COUNT_MAX) return FAIL(p, begin, "at most %d repetitions can be asked for", (int)COUNT_MAX);
    skip_space(p, 0);
    *out = v;
    return STENO_OK;
}

/* {3}, {3,}, {3,5} */
static int read_counts(struct parser *p, uint32_t *min, uint32_t *max)
{
    const size_t begin = p->at++;
    skip_space(p, 0);
    int rc = read_count(p, min);
    if (rc) return rc;
    *max = *min;
    if (p->text[p->at] == ',') {
        p->at++;
        skip_space(p, 0);
        *max = NONE;
        if (p->text[p->at] != '}') rc = read_count(p, max);
        if (rc) return rc;
    }
    if (p->text[p->at] != '}') return FAIL(p, p->at, "'}' is missing: a repetition is {3}, {3,} or {3,5}");
    p->at++;
    if (*max < *min) return FAIL(p, begin, "a repetition from %u to %u times", (unsigned)*min, (unsigned)*max);
    return STENO_OK;
}

/* Repetitions of the element whose symbols are pending from `first` on; its text ends here. */
static int read_repetitions(struct parser *p, uint32_t first)
{
    const size_t begin = p->at;
    for (;;) {
        skip_space(p, p->n_frames > 1);
        int rc = out_of_memory(p);
        if (rc) return rc;
        if ((p->b.pending.len + p->b.g->symbols.len) / sizeof(struct symbol) > SYMBOLS_MAX)
            return FAIL(p, begin, "with its repetitions written out, the grammar is longer than %d elements", (int)SYMBOLS_MAX);
        uint32_t min = 0, max = NONE;
        switch (p->text[p->at]) {
        case '*': p->at++; break;
        case '+': p->at++, min = 1; break;
        case '?': p->at++, max = 1; break;
        case '{': rc = read_counts(p, &min, &max); break;
        default: return STENO_OK;
        }
        if (rc) return rc;
        build_repeat(&p->b, first, min, max);
    }
}

static int open_frame(struct parser *p, uint32_t rule, size_t at)
{
    if (p->n_frames == DEPTH_MAX) return FAIL(p, at, "groups are nested deeper than %d", (int)DEPTH_MAX - 1);
    p->frame[p->n_frames++] = (struct group_frame){ rule, build_n(&p->b), (uint32_t)at };
    return STENO_OK;
}

static void end_alternative(struct parser *p)
{
    const struct group_frame *f = &p->frame[p->n_frames - 1];
    build_alternative(&p->b, f->rule, f->pending);
}

static int close_group(struct parser *p)
{
    if (p->n_frames == 1) return FAIL(p, p->at, "')' without '('");
    end_alternative(p);
    const struct group_frame *f = &p->frame[--p->n_frames];
    p->at++;
    build_push(&p->b, SYMBOL_RULE, f->rule);
    return read_repetitions(p, f->pending);
}

static int unexpected(struct parser *p)
{
    const char c = p->text[p->at];
    const struct group_frame *f = &p->frame[p->n_frames - 1];
    if (c == '<' || c == '!') return FAIL(p, p->at, "elements that stand for tokens are not supported: write \"text\"");
    if (c && strchr("*+?{", c)) return FAIL(p, p->at, "'%c' has no element before it", c);
    if (p->n_frames > 1 && (!c || c == ':')) return FAIL(p, f->at, "this group is not closed");
    return FAIL(p, p->at, "an element, '|' or the end of the line was expected; names are letters, digits and '-'");
}

static int read_element(struct parser *p)
{
    static const struct range any = { 0, 0x10ffff };
    const uint32_t first = build_n(&p->b);
    const char c = p->text[p->at];
    uint32_t rule;
    int rc = STENO_OK;
    if (c == '(') {
        rule = build_rule(&p->b, p->at, 0);
        rc = open_frame(p, rule, p->at++);
        skip_space(p, 1);
        return rc ? rc : out_of_memory(p);
    }
    if (c == '"') {
        rc = read_literal(p);
    } else if (c == '[') {
        rc = read_set(p);
    } else if (c == '.') {
        struct range r = any;
        p->at++;
        build_push(&p->b, SYMBOL_SET, grammar_add_set(p->b.g, &r, 1, 0));
    } else if (is_name(c)) {
        rc = read_name(p, &rule);
        if (!rc) build_push(&p->b, SYMBOL_RULE, rule);
    } else {
        rc = unexpected(p);
    }
    return rc ? rc : read_repetitions(p, first);
}

/* ---- rules ------------------------------------------------------------------------------------------------------------------- */

static int read_alternatives(struct parser *p)
{
    for (int rc = STENO_OK;;) {
        const char c = p->text[p->at];
        if (p->n_frames == 1 && (!c || c == '\n' || c == '\r')) {
            end_alternative(p);
            p->n_frames = 0;
            return out_of_memory(p);
        }
        if (c == '|') {
            end_alternative(p);
            p->at++;
            skip_space(p, 1);
        } else {
            rc = c == ')' ? close_group(p) : read_element(p);
        }
        if (rc) return rc;
    }
}

static int read_rule(struct parser *p)
{
    const size_t begin = p->at;
    uint32_t rule;
    if (p->text[begin] == '|') return FAIL(p, begin, "a rule ends with its line: put '|' at the end of the line before");
    if (!is_name(p->text[begin])) return FAIL(p, begin, "a rule's name was expected; names are letters, digits and '-'");
    int rc = read_name(p, &rule);
    if (rc) return rc;
    struct rule *r = &grammar_rules(p->b.g)[rule];
    const uint32_t len = r->name_len < 40 ? r->name_len : 40;
    if (r->first != NONE) return FAIL(p, begin, "rule \"%.*s\" is defined twice", (int)len, p->text + begin);
    r->at = (uint32_t)begin;
    skip_space(p, 0);
    if (strncmp(p->text + p->at, "::=", 3) != 0) return FAIL(p, p->at, "'::=' was expected behind the rule's name");
    p->at += 3;
    skip_space(p, 1);
    rc = open_frame(p, rule, begin);
    return rc ? rc : read_alternatives(p);
}

/* Parse text[n] into the empty grammar g. Rules may remain undefined. */
static int grammar_parse(struct grammar *g, const char *text, size_t n, steno_error *e)
{
    struct parser *p = calloc(1, sizeof *p);
    if (!p) return err_nomem(e, sizeof *p, "reading a grammar");
    p->b.g = g;
    p->text = text;
    p->n = n;
    p->e = e;
    int rc = STENO_OK;
    skip_space(p, 1);
    while (!rc && p->at < n) {
        rc = read_rule(p);
        if (!rc) skip_space(p, 1);
    }
    buf_free(&p->b.pending);
    buf_free(&p->ranges);
    free(p->slot);
    free(p);
    return rc;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

enum { TEXT_MAX = 4 << 20 };

static int find_start(struct grammar *g, const char *text, const char *name, steno_error *e)
{
    const struct rule *rule = grammar_rules(g);
    const uint32_t n = grammar_n_rules(g);
    const size_t len = strlen(name);
    for (g->start = 0; g->start < n; g->start++) {
        const struct rule *r = &rule[g->start];
        if (r->first != NONE && r->name_len == len && !memcmp(text + r->name, name, len)) return STENO_OK;
    }
    return grammar_fail(text, strlen(text), e, "the text ends without a rule \"%.40s\", with which sentences begin", name);
}

static int grammar_compile(struct grammar *g, const char *text, const char *start, steno_error *e)
{
    const size_t n = strlen(text), good = utf8_valid((const uint8_t *)text, n);
    if (!text[strspn(text, " \t\r\n")]) return grammar_fail(text, n, e, "the text is empty; without a grammar any text is allowed");
    if (n > TEXT_MAX) return grammar_fail(text, TEXT_MAX, e, "a grammar has at most %d bytes", (int)TEXT_MAX);
    if (good < n) return grammar_fail(text, good, e, "byte 0x%02x is not UTF-8", (unsigned)(uint8_t)text[good]);
    int rc = grammar_parse(g, text, n, e);
    if (!rc) rc = find_start(g, text, start ? start : "root", e);
    if (!rc) rc = grammar_check(g, text, e);
    return rc;
}

int grammar_open(struct grammar **out, const char *text, const char *start, steno_error *e)
{
    *out = NULL;
    struct grammar *g = calloc(1, sizeof *g);
    if (!g) return err_nomem(e, sizeof *g, "a grammar");
    const int rc = grammar_compile(g, text, start, e);
    if (rc) {
        grammar_close(g);
        return rc;
    }
    *out = g;
    return STENO_OK;
}

void grammar_close(struct grammar *g)
{
    if (!g) return;
    buf_free(&g->symbols);
    buf_free(&g->alts);
    buf_free(&g->rules);
    buf_free(&g->sets);
    buf_free(&g->ranges);
    free(g);
}
