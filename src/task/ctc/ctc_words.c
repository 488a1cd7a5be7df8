/* steno: the text and the word times of a clip, from a CTC head. SPDX-License-Identifier: MIT */
#include "task/ctc/ctc_words.h"
#include <math.h>
#include <string.h>
#include "search/ctc_align.h"

/* ---- the text ----------------------------------------------------------------------------------------------------------------- */

void ctc_text_free(struct ctc_text *t)
{
    buf_free(&t->bytes);
    buf_free(&t->text);
}

static const char *bytes_of(const struct buf *b)
{
    return b->p ? b->p : "";
}

int ctc_text_make(struct ctc_text *t, const steno_model *m, const struct ctc_ids *ids, int32_t tags, struct ctc_tags *tags_found,
                  struct ctc_shown *out)
{
    const struct ctc *ctc = m->family->ctc;
    buf_clear(&t->bytes);
    buf_clear(&t->text);
    ctc->ids_to_text(m, ids->ids, ids->n, tags != STENO_TAGS_APART, &t->bytes, tags_found);
    utf8_append_string(&t->text, (const uint8_t *)t->bytes.p, t->bytes.len);
    *out = (struct ctc_shown){ .whole = bytes_of(&t->text), .n_whole = t->text.len };
    text_strip(&out->whole, &out->n_whole);
    out->text = out->whole;
    out->n = out->n_whole;
    if (tags == STENO_TAGS_RICH && !t->bytes.err && !t->text.err) {
        buf_clear(&t->bytes);
        ctc->rich_text(out->whole, out->n_whole, &t->bytes);
        out->text = bytes_of(&t->bytes);
        out->n = t->bytes.len;
    }
    return t->bytes.err || t->text.err ? STENO_ENOMEM : STENO_OK;
}

void ctc_text_whole(struct ctc_text *t, const steno_model *m, int32_t tags, struct buf *whole)
{
    if (tags != STENO_TAGS_RICH || whole->err || !whole->len) return;
    buf_clear(&t->bytes);
    m->family->ctc->rich_text(whole->p, whole->len, &t->bytes);
    buf_clear(whole);
    buf_add(whole, bytes_of(&t->bytes), t->bytes.len);
    whole->err |= t->bytes.err;
}

/* ---- the words ---------------------------------------------------------------------------------------------------------------- */

void ctc_words_free(struct ctc_words *w)
{
    struct buf *const all[] = { &w->label, &w->at, &w->logp, &w->span, &w->back, &w->word, &w->panels };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) buf_free(all[i]);
}

static int32_t n_labels(const struct ctc_words *w)
{
    return (int32_t)(w->label.len / sizeof(int32_t));
}

/* ---- labels ---- */

static int is_space(const struct vocab *v, int32_t id)
{
    return v->len[id] == 1 && v->bytes[id][0] == ' ';
}

static int32_t label_of(const struct ctc_alphabet *a, int32_t id)
{
    return a->spoken ? a->spoken(a->model, id) : id;
}

/* A lone space between two pieces is a label only if the second piece does not begin with a space. */
static int is_needless(const struct ctc_alphabet *a, const struct ctc_ids *ids, int32_t i)
{
    if (!is_space(a->vocab, ids->ids[i])) return 0;
    for (i++; i < ids->n; i++)
        if (label_of(a, ids->ids[i]) >= 0) return a->vocab->bytes[ids->ids[i]][0] == ' ';
    return 1;
}

/* Marks the panels of logits that hold the blank or a label. */
static void panels_mark(struct ctc_words *w)
{
    const int32_t *label = (const int32_t *)(const void *)w->label.p;
    const uint32_t none = 0;
    buf_clear(&w->panels);
    for (size_t i = 0; i < pack_panels((size_t)w->of.n_ids); i += 32) buf_add(&w->panels, &none, sizeof none);
    uint32_t *bits = (uint32_t *)(void *)w->panels.p;
    for (int32_t i = -1; i < n_labels(w) && !w->panels.err; i++) {
        const uint32_t panel = (uint32_t)(i < 0 ? w->of.blank : label[i]) / PANEL;
        bits[panel / 32] |= 1u << panel % 32;
    }
}

int ctc_words_begin(struct ctc_words *w, const struct ctc_alphabet *of, const struct ctc_ids *ids, int32_t n_rows)
{
    const struct ctc_span none = { -1, -1 };
    const float zero = 0;
    buf_clear(&w->label);
    buf_clear(&w->at);
    buf_clear(&w->span);
    buf_clear(&w->logp);
    for (int32_t i = 0; i < ids->n; i++) {
        const int32_t label = label_of(of, ids->ids[i]);
        if (label < 0 || is_needless(of, ids, i)) continue;
        buf_add(&w->label, &label, sizeof label);
        buf_add(&w->at, &i, sizeof i);
        buf_add(&w->span, &none, sizeof none);
    }
    w->n_rows = n_rows;
    w->of = *of;
    for (int64_t i = 0; i < (int64_t)n_rows * (n_labels(w) + 1) && !w->logp.err; i++) buf_add(&w->logp, &zero, sizeof zero);
    panels_mark(w);
    return w->label.err || w->at.err || w->span.err || w->logp.err || w->panels.err ? STENO_ENOMEM : STENO_OK;
}

void ctc_words_row(struct ctc_words *w, int32_t row, const float *logits, const struct best *best)
{
    const int32_t *label = (const int32_t *)(const void *)w->label.p, n = n_labels(w);
    float *to = (float *)(void *)w->logp.p + (size_t)row * ((size_t)n + 1);
    const float base = best->logprob - best->logit;
    to[0] = best->id == w->of.blank ? 0 : logits[w->of.blank] + base;
    for (int32_t i = 0; i < n; i++) to[1 + i] = logits[label[i]] + base;
}

/* ---- words ---- */

/* The word under construction. */
struct open_word {
    struct word w;
    int32_t n_timed;
    int letters; /* all of it is ASCII letters */
    int is_open;
};

static int all_letters(const uint8_t *s, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if ((s[i] | 32) < 'a' || (s[i] | 32) > 'z') return 0;
    return n > 0;
}

static void word_close(struct ctc_words *w, struct open_word *o, struct result *r, struct segment *g)
{
    if (!o->is_open) return;
    o->w.text = r->text.len;
    o->w.probability /= o->n_timed;
    utf8_append_string(&r->text, (const uint8_t *)w->word.p, w->word.len);
    buf_add(&r->text, "", 1);
    buf_add(&r->words, &o->w, sizeof o->w);
    g->n_words++;
    buf_clear(&w->word);
    *o = (struct open_word){ 0 };
}

/* Start of row i in seconds from the clip's start, for n rows in all. */
static double row_begin(const struct ctc_clip *h, int32_t i, int32_t n)
{
    const int64_t at = (int64_t)(i < n ? i : n) * h->row_ms - h->before_ms;
    return at > 0 ? (double)at / 1000 : 0;
}

/* Probability of the k-th label. */
static double probability_of(const struct ctc_words *w, const struct ctc_clip *h, int32_t k)
{
    const size_t width = (size_t)n_labels(w) + 1;
    const struct ctc_span *span = (const struct ctc_span *)(const void *)w->span.p + k;
    const float *logp = (const float *)(const void *)w->logp.p + k + 1;
    float best = -INFINITY;
    if (h->tokens) return (double)h->tokens[((const int32_t *)(const void *)w->at.p)[k]].p;
    for (int32_t i = span->begin; i < span->end; i++) best = logp[(size_t)i * width] > best ? logp[(size_t)i * width] : best;
    return (double)expf(best);
}

/* Adds the piece of the k-th label to the current word, or begins a word with it. */
static void piece_take(struct ctc_words *w, const struct ctc_clip *h, struct open_word *o, int32_t k)
{
    const struct ctc_span *span = (const struct ctc_span *)(const void *)w->span.p + k;
    const int32_t id = h->ids.ids[((const int32_t *)(const void *)w->at.p)[k]];
    const uint8_t *s = w->of.vocab->bytes[id];
    const uint32_t len = w->of.vocab->len[id];
    if (!o->is_open) o->w.start = h->at + row_begin(h, span->begin, w->n_rows);
    o->is_open = 1;
    o->w.end = h->at + row_begin(h, span->end, w->n_rows);
    o->w.probability += probability_of(w, h, k);
    o->w.n_tokens++;
    o->n_timed++;
    o->letters = s[0] == ' ' ? all_letters(s + 1, len - 1) : all_letters(s, len);
    buf_add(&w->word, s, len);
}

/* Call it if every label has a span of rows. */
static void words_make(struct ctc_words *w, const struct ctc_clip *h, struct result *r, struct segment *g)
{
    const int32_t *at = (const int32_t *)(const void *)w->at.p;
    const struct vocab *v = w->of.vocab;
    struct open_word o = { 0 };
    int32_t n_spaces = 0;
    buf_clear(&w->word);
    for (int32_t k = 0; k < n_labels(w); k++) {
        const int32_t id = h->ids.ids[at[k]];
        const uint8_t *s = v->bytes[id];
        if (is_space(v, id)) {
            n_spaces++;
            continue;
        }
        const int joins = !n_spaces && ((o.letters && all_letters(s, v->len[id])) || (o.is_open && utf8_is_inside(s[0])));
        if (!joins) word_close(w, &o, r, g);
        if (n_spaces && g->n_words) buf_str(&w->word, " ");
        if (!o.is_open) o.w.n_tokens = n_spaces;
        n_spaces = 0;
        piece_take(w, h, &o, k);
        if (!g->n_words && w->word.len && w->word.p[0] == ' ') { /* the segment's text begins without this space */
            memmove(w->word.p, w->word.p + 1, --w->word.len);
        }
    }
    word_close(w, &o, r, g);
}

int ctc_words_align(struct ctc_words *w)
{
    return ctc_align((struct ctc_span *)(void *)w->span.p, (const int32_t *)(const void *)w->label.p, n_labels(w),
                     (const float *)(const void *)w->logp.p, w->n_rows, &w->back);
}

int32_t ctc_words_row_of(const struct ctc_words *w, int32_t i, int32_t *k)
{
    if (*k >= n_labels(w) || ((const int32_t *)(const void *)w->at.p)[*k] != i) return -1;
    return ((const struct ctc_span *)(const void *)w->span.p)[(*k)++].begin;
}

int ctc_words_add(struct ctc_words *w, const struct ctc_clip *h, struct result *r, struct segment *g)
{
    if (!n_labels(w)) return STENO_OK;
    const int rc = ctc_words_align(w);
    if (rc || ((const struct ctc_span *)(const void *)w->span.p)[0].begin < 0) return rc;
    g->first_word = r->words.len / sizeof(struct word);
    words_make(w, h, r, g);
    if (w->word.err || r->text.err || r->words.err) return STENO_ENOMEM;
    if (!g->n_words) return STENO_OK;
    const struct word *first = (const struct word *)(const void *)r->words.p + g->first_word, *last = first + g->n_words - 1;
    g->start = first->start;
    g->end = last->end;
    g->t0_ms = (int64_t)nearbyint(g->start * 1000);
    g->t1_ms = (int64_t)nearbyint(g->end * 1000);
    g->word_source = "ctc";
    return STENO_OK;
}
