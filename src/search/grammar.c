/* steno: grammars: opening. SPDX-License-Identifier: MIT */
#include "search/grammar_rules.h"

#include <stdlib.h>
#include <string.h>

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

static int compile(struct grammar *g, const char *text, const char *start, steno_error *e)
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
    const int rc = compile(g, text, start, e);
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
