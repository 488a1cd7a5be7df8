/* steno: words from the tokens of integrate-and-fire. SPDX-License-Identifier: MIT */
#include "task/cif/cif_words.h"
#include "model/parts.h"
#include <math.h>

void cif_words_close(struct cif_words *c)
{
    buf_free(&c->bytes);
    buf_free(&c->words);
    buf_free(&c->text);
}

int cif_words_make(struct cif_words *c, const steno_model *m, const int32_t *ids, int32_t n, int32_t *open)
{
    return m->family->cif->words(m, ids, n, &c->bytes, &c->words, open);
}

int cif_words_text(struct cif_words *c, size_t from, size_t to)
{
    const struct token_word *w = cif_word(c);
    buf_clear(&c->text);
    for (size_t i = from; i < to; i++) {
        if (i > from && w[i - 1].space) buf_str(&c->text, " ");
        utf8_append_string(&c->text, (const uint8_t *)c->bytes.p + w[i].text, w[i].n_text);
    }
    return c->text.err;
}

static double word_start(const struct token_word *w, const struct cif_timed *t) { return t->at + t->span[w->from][0]; }
static double word_end(const struct token_word *w, const struct cif_timed *t) { return t->at + t->span[w->to][1]; }

void cif_words_add(steno_session *s, const struct cif_words *c, size_t from, size_t to, const struct cif_timed *t, struct segment *g)
{
    struct result *r = &s->result;
    g->first_word = r->words.len / sizeof(struct word);
    for (size_t i = from; i < to; i++) {
        const struct token_word *w = &cif_word(c)[i];
        struct word one = { .start = word_start(w, t), .end = word_end(w, t), .text = r->text.len, .n_tokens = w->n };
        for (int32_t k = w->first; k < w->first + w->n; k++) one.probability += (double)t->tokens[k].p / w->n;
        if (i > from && w[-1].space) buf_str(&r->text, " ");
        utf8_append_string(&r->text, (const uint8_t *)c->bytes.p + w->text, w->n_text);
        buf_add(&r->text, "", 1);
        buf_add(&r->words, &one, sizeof one);
    }
    g->n_words = (int32_t)(to - from);
    g->word_source = "cif";
}

void cif_words_place(const struct cif_words *c, size_t from, size_t to, const struct cif_timed *t, struct segment *g)
{
    g->start = word_start(&cif_word(c)[from], t);
    g->end = word_end(&cif_word(c)[to - 1], t);
    g->t0_ms = (int64_t)nearbyint(g->start * 1000);
    g->t1_ms = (int64_t)nearbyint(g->end * 1000);
}
