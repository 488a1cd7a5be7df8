/* steno tests: a grammar applied to a toy vocabulary. SPDX-License-Identifier: MIT */
#ifndef STENO_TESTS_GRAMMAR_WORK_H
#define STENO_TESTS_GRAMMAR_WORK_H
#include <stdio.h>
#include "base/buf.h"
#include "search/grammar.h"
#include "toy_vocab.h"

static struct toy toy;

static inline int group_begin(void **state)
{
    (void)state;
    toy = TOY("yes", "no", " ", "ab", "abc", "bc", "aaaa", "\xe4\xbd\xa0", "\xe4\xbd", "\xa0x", "", "a\0b");
    return 0;
}

static inline int group_end(void **state)
{
    (void)state;
    toy_free(&toy);
    return 0;
}

struct at_work { struct grammar *g; struct matcher *m; };

static inline struct at_work work(const char *text)
{
    struct at_work w;
    steno_error e;
    if (grammar_open(&w.g, text, NULL, &e)) fail_msg("%.200s: %s", text, e.text);
    if (matcher_open(&w.m, w.g, &toy.v, toy.n_text, toy.n_text, &e)) fail_msg("%.200s: %s", text, e.text);
    return w;
}

static inline void done(struct at_work *w)
{
    matcher_close(w->m);
    grammar_close(w->g);
}

static inline int32_t feed(struct matcher *m, const char *text)
{
    int32_t at = matcher_start(m);
    for (; *text; text++) at = matcher_next(m, at, (uint8_t)*text);
    return at;
}

static inline void expect_refused_from(const char *text, const char *start, const char *why)
{
    struct grammar *g = (struct grammar *)&toy;
    steno_error e = { 0 };
    if (grammar_open(&g, text, start, &e) != STENO_EARG) fail_msg("%.200s: is taken", text);
    assert_null(g);
    if (!strstr(e.text, why)) fail_msg("%.200s: \"%s\" does not say \"%s\"", text, e.text, why);
}

static inline void expect_refused(const char *text, const char *why)
{
    expect_refused_from(text, NULL, why);
}
#endif
