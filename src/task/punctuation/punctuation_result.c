/* steno: punctuation for a transcript. SPDX-License-Identifier: MIT
 *
 * The network sees the segments as one text, because a sentence may span segments. Marks are inserted into the existing texts. FunASR does
 * so, too, where it knows the words (funasr/auto/auto_model.py, _punctuate_surface_text). Elsewhere it uses the punctuation model's own
 * text, with different spaces and capitals; texts of models that output bare words are written that way. Where a text already has a mark,
 * none is added. */
#include "task/punctuation/punctuation_result.h"
#include "model/parts.h"
#include <string.h>
#include "base/utf8.h"
#include "task/punctuation/punctuation_run.h"
#include "task/punctuation/punctuation_sentences.h"
#include "text/words.h"

/* New texts of the transcript. The old ones stay until all new ones are complete. */
struct woven {
    struct buf placed;  /* struct placed, of all segments */
    struct buf first;   /* size_t: words of segment i begin with index first[i]; one more entry at the end */
    struct buf first_word; /* as `first`, for the words of a network that sees the whole text */
    struct buf text;    /* appended to the result's text later */
    struct buf segments, words, whole;
    struct buf sentences, sentence_times;
    const struct punctuation_session *written; /* writes the words in its own form; NULL: texts keep their form */
};

/* Position of a text in the list of words: word `at`, after its first `part` bytes. */
struct cursor { const struct placed *at, *end; uint32_t part; };

static void woven_free(struct woven *v)
{
    buf_free(&v->placed);
    buf_free(&v->first);
    buf_free(&v->first_word);
    buf_free(&v->text);
    buf_free(&v->segments);
    buf_free(&v->words);
    buf_free(&v->whole);
    buf_free(&v->sentences);
    buf_free(&v->sentence_times);
}

static int woven_err(const struct woven *v)
{
    return v->placed.err || v->first.err || v->first_word.err || v->text.err || v->segments.err || v->words.err || v->whole.err ||
           v->sentences.err || v->sentence_times.err;
}

static const struct segment *segments_of(const struct result *r) { return (const struct segment *)(const void *)r->segments.p; }
static struct placed *placed_of(const struct woven *v) { return (struct placed *)(void *)v->placed.p; }
static size_t placed_count(const struct woven *v) { return v->placed.len / sizeof(struct placed); }

/* ---- choosing marks ------------------------------------------------------------------------------------------------------------ */

/* Lists words [from, to) of `text`, without marks yet. A word of several non-ASCII characters counts as one word per character, as in
 * FunASR. */
static void list_words(struct woven *v, const struct punctuation_session *q, size_t from, size_t to, const char *text, int32_t none)
{
    const struct marked_word *w = marked_words(q);
    const size_t n = placed_count(v);
    buf_add(&v->first, &n, sizeof n);
    for (size_t i = from; i < to; i++) {
        const char *s = text + w[i].from;
        const size_t len = w[i].to - w[i].from, part = mixed_is_wide(s, len) ? 0 : len;
        for (size_t k = 0, one; k < len; k += one) {
            uint32_t cp;
            one = part ? part : utf8_next(s + k, len - k, &cp);
            buf_add(&v->placed, &(struct placed) { s + k, (uint32_t)one, none, "" }, sizeof(struct placed));
        }
    }
}

static void list_end(struct woven *v)
{
    const size_t n = placed_count(v);
    buf_add(&v->first, &n, sizeof n);
}

/* Sets the mark of word `at`, unless the text has a mark there already. */
static void set_mark(struct woven *v, const struct punctuation_model *m, size_t at, int32_t mark)
{
    struct placed *w = placed_of(v) + at;
    const int is_marked = mixed_ends_marked(w->text, w->n) || (at + 1 < placed_count(v) && mixed_begins_marked(w[1].text, w[1].n));
    w->chosen = mark;
    w->mark = is_marked ? "" : punctuation_text(m, mark, *w->text);
}

/* Sets the mark of each word at its last character. */
static void set_punctuation(struct woven *v, const struct punctuation_session *q, const struct punctuation_model *m)
{
    const struct marked_word *w = marked_words(q);
    for (size_t i = 0, at = 0; i < marked_count(q); i++) {
        for (size_t left = w[i].to - w[i].from; left; at++) left -= placed_of(v)[at].n;
        set_mark(v, m, at - 1, w[i].mark);
    }
}

/* For a model that sees the text as a whole. */
static int decide_whole(steno_session *s, const struct result *r, struct woven *v, const steno_punctuate_params *p)
{
    struct punctuation_session *q = punctuation_of(s);
    const struct punctuation_model *m = punctuation_model_of(s);
    int rc = STENO_OK;
    punctuation_begin(s, p);
    for (int i = 0; i <= result_segments(r) && !rc; i++) {
        const char *text = i < result_segments(r) ? r->text.p + segments_of(r)[i].text : "";
        const size_t from = marked_count(q);
        rc = punctuation_add(s, text, strlen(text), 0);
        buf_add(&v->first_word, &from, sizeof from);
    }
    if (!rc) rc = punctuation_decide(s);
    if (rc || woven_err(v)) return rc;
    const size_t *first = (const size_t *)(const void *)v->first_word.p;
    for (int i = 0; i < result_segments(r); i++) list_words(v, q, first[i], first[i + 1], r->text.p + segments_of(r)[i].text, m->none);
    list_end(v);
    punctuation_write(&v->whole, q, m); /* sets the last mark */
    if (woven_err(v)) return STENO_OK;
    if (!v->written) buf_clear(&v->whole);
    set_punctuation(v, q, m);
    return STENO_OK;
}

/* One segment, for decide_segments. */
static int decide_segment(steno_session *s, const char *text, struct woven *v, const steno_punctuate_params *p)
{
    struct punctuation_session *q = punctuation_of(s);
    const struct punctuation_model *m = punctuation_model_of(s);
    punctuation_begin(s, p);
    const size_t before = q->n_before, first = placed_count(v) - before; /* of the words that the session holds */
    int rc = punctuation_add(s, text, strlen(text), 0);
    if (rc) return rc;
    list_words(v, q, before, marked_count(q), text, m->none);
    if (marked_count(q) == before) return STENO_OK;
    rc = punctuation_decide(s);
    if (rc || woven_err(v)) return rc;
    punctuation_write_more(&v->whole, q, m);
    if (v->whole.err) return STENO_OK;
    buf_clear(&v->whole);
    for (size_t i = before ? before - 1 : 0; i < marked_count(q); i++) set_mark(v, m, first + i, marked_words(q)[i].mark);
    return STENO_OK;
}

/* For a streaming model: a segment ends at a pause of the speaker. The mark after its last word is known with the next segment. */
static int decide_segments(steno_session *s, const struct result *r, struct woven *v, const steno_punctuate_params *p)
{
    const struct punctuation_model *m = punctuation_model_of(s);
    steno_punctuate_params own = *p;
    int rc = STENO_OK;
    own.go_on = 0;
    for (int i = 0; i < result_segments(r) && !rc && !woven_err(v); i++, own.go_on = 1)
        rc = decide_segment(s, r->text.p + segments_of(r)[i].text, v, &own);
    list_end(v);
    if (rc || woven_err(v) || !placed_count(v)) return rc;
    const size_t last = placed_count(v) - 1;
    if (!*placed_of(v)[last].mark) set_mark(v, m, last, m->end);
    return STENO_OK;
}

/* ---- inserting marks ----------------------------------------------------------------------------------------------------------- */

/* Appends text[n] with the marks of its words. The words may be split differently. @return 0: the text has other words */
static int weave(struct buf *out, struct cursor *c, const char *text, size_t n)
{
    size_t from = 0;
    for (size_t at, end = 0; mixed_word_next(text, n, &at, &end);)
        while (at < end) {
            if (c->at == c->end) return 0;
            const size_t left = c->at->n - c->part, len = end - at < left ? end - at : left;
            if (memcmp(text + at, c->at->text + c->part, len)) return 0;
            at += len;
            c->part += (uint32_t)len;
            if (c->part < c->at->n) continue;
            buf_add(out, text + from, at - from);
            buf_str(out, c->at->mark);
            from = at;
            c->at++;
            c->part = 0;
        }
    buf_add(out, text + from, n - from);
    return 1;
}

/* Offset of the next text in the result. */
static size_t text_begin(const struct woven *v, const struct result *r)
{
    return r->text.len + v->text.len;
}

static int is_same(char a, char b)
{
    return a == b || ((a ^ b) == 32 && (a | 32) >= 'a' && (a | 32) <= 'z');
}

/* Finds a word of the recogniser in text[n] from `at` on: spaces, its characters in any case and possibly with spaces between them, then
 * marks up to a space or the next word. @return its end, 0: not found */
static size_t word_end_in(const char *text, size_t n, size_t at, const char *word, const char *next)
{
    for (; *word; word++) {
        if (*word == ' ') continue;
        while (at < n && text[at] == ' ' && text[at] != *word) at++;
        if (at == n || !is_same(text[at], *word)) return 0;
        at++;
    }
    while (next && *next == ' ') next++;
    if (!next) return n;
    while (at < n && text[at] != ' ' && !(*next && is_same(text[at], *next))) {
        uint32_t cp;
        at += utf8_next(text + at, n - at, &cp);
    }
    return at;
}

/* Splits a rewritten segment text into its words, with the new spaces, capitals and marks. The concatenated words are the text. @return 0:
 * the text has other words, and nothing was changed */
static int cut_words(struct woven *v, const struct result *r, const struct segment *g, size_t text_at, size_t n)
{
    const struct word *w = (const struct word *)(const void *)r->words.p + g->first_word;
    const size_t begin = v->text.len, words = v->words.len;
    for (size_t k = 0, at = 0, end; k < (size_t)g->n_words && !woven_err(v); k++, at = end) {
        struct word cut = w[k];
        const char *text = v->text.p + text_at;
        end = word_end_in(text, n, at, r->text.p + w[k].text, k + 1 < (size_t)g->n_words ? r->text.p + w[k + 1].text : NULL);
        if (!end) {
            v->text.len = begin;
            v->words.len = words;
            return 0;
        }
        cut.text = text_begin(v, r);
        if (!cut.spoken) cut.spoken = w[k].text + 1;
        for (size_t i = at; i < end && !v->text.err; i++) { /* buf_add may move the buffer */
            const char one = v->text.p[text_at + i];
            buf_add(&v->text, &one, 1);
        }
        buf_add(&v->text, "", 1);
        buf_add(&v->words, &cut, sizeof cut);
    }
    return 1;
}

static void weave_words(struct woven *v, const struct result *r, const struct segment *g, struct cursor c)
{
    const struct word *w = (const struct word *)(const void *)r->words.p;
    int same = 1;
    if (!g->n_words) return;
    w += g->first_word;
    for (int32_t k = 0; k < g->n_words; k++) {
        struct word moved = w[k];
        const char *text = r->text.p + w[k].text;
        const size_t at = text_begin(v, r), begin = v->text.len;
        if (same) same = weave(&v->text, &c, text, strlen(text));
        if (same && !v->text.err) {
            buf_add(&v->text, "", 1);
            moved.text = at;
            if (!moved.spoken) moved.spoken = w[k].text + 1;
        } else if (!v->text.err) {
            v->text.len = begin;
        }
        buf_add(&v->words, &moved, sizeof moved);
    }
}

/* Writes words [from, to) in the punctuation model's form, without a leading space. */
static void write_segment(struct woven *v, const struct punctuation_model *m, size_t from, size_t to)
{
    const size_t begin = v->text.len;
    punctuation_write_some(&v->text, v->written, m, from, to);
    if (v->text.err || v->text.len == begin || v->text.p[begin] != ' ') return;
    memmove(v->text.p + begin, v->text.p + begin + 1, v->text.len - begin); /* includes the NUL */
    v->text.len--;
}

static void weave_segments(struct woven *v, const struct result *r, const struct punctuation_model *m)
{
    const size_t *first = (const size_t *)(const void *)v->first.p, *word = (const size_t *)(const void *)v->first_word.p;
    for (int i = 0; i < result_segments(r) && !woven_err(v); i++) {
        struct segment g = segments_of(r)[i];
        const struct cursor c = { placed_of(v) + first[i], placed_of(v) + first[i + 1], 0 };
        struct cursor walk = c;
        const char *text = r->text.p + g.text;
        const size_t at = text_begin(v, r);
        if (v->written) write_segment(v, m, word[i], word[i + 1]);
        else weave(&v->text, &walk, text, strlen(text));
        buf_add(&v->text, "", 1);
        g.text = at;
        g.first_word = v->words.len / sizeof(struct word);
        const size_t from = at - r->text.len, n = v->text.err ? 0 : v->text.len - 1 - from;
        if (!v->written || v->text.err || !g.n_words || !cut_words(v, r, segments_of(r) + i, from, n))
            weave_words(v, r, segments_of(r) + i, c);
        buf_add(&v->segments, &g, sizeof g);
    }
}

static void weave_sentences(struct woven *v, const struct result *r, const struct punctuation_model *m)
{
    const struct sentence_source from = { .word = placed_of(v), .first = (const size_t *)(const void *)v->first.p, .result = r,
                                          .model = m, .is_bare = r->is_bare, .text_at = r->text.len };
    sentences_make(&(struct sentence_sink){ &v->text, &v->sentences, &v->sentence_times }, &from);
}

/* Builds the whole text. If its words differ from those of the segments, the segments are joined instead. */
static void weave_whole(struct woven *v, const struct result *r)
{
    struct cursor c = { placed_of(v), placed_of(v) + placed_count(v), 0 };
    if (weave(&v->whole, &c, r->whole.p ? r->whole.p : "", r->whole.len) && c.at == c.end) return;
    buf_clear(&v->whole);
    const struct segment *g = (const struct segment *)(const void *)v->segments.p;
    for (int i = 0; i < result_segments(r) && !woven_err(v); i++) {
        const char *text = v->text.p + (g[i].text - r->text.len);
        size_t n = strlen(text);
        text_strip(&text, &n);
        text_join(&v->whole, text, n);
    }
}

/* Replaces the old texts by the new ones. Only the growth of the text buffer can fail, so it comes first. */
static int adopt(struct woven *v, struct result *r)
{
    buf_add(&r->text, v->text.p ? v->text.p : "", v->text.len);
    if (r->text.err) {
        r->text.err = 0;
        return STENO_ENOMEM;
    }
    const struct { struct buf *old, *new; } swap[] = { { &r->segments, &v->segments }, { &r->words, &v->words }, { &r->whole, &v->whole },
                                                       { &r->sentences, &v->sentences }, { &r->sentence_times, &v->sentence_times } };
    for (size_t i = 0; i < sizeof swap / sizeof *swap; i++) {
        const struct buf b = *swap[i].old;
        *swap[i].old = *swap[i].new;
        *swap[i].new = b;
    }
    return STENO_OK;
}

int punctuation_put(steno_session *s, struct result *r, const steno_punctuate_params *p)
{
    const int comes = punctuation_model_of(s)->as_it_comes;
    struct woven v = { .written = r->is_bare && !comes ? punctuation_of(s) : NULL };
    int rc = comes ? decide_segments(s, r, &v, p) : decide_whole(s, r, &v, p);
    if (!rc && (placed_count(&v) || woven_err(&v))) {
        if (!woven_err(&v)) weave_segments(&v, r, punctuation_model_of(s));
        if (!woven_err(&v)) weave_sentences(&v, r, punctuation_model_of(s));
        if (!woven_err(&v) && !v.written) weave_whole(&v, r);
        if (woven_err(&v) || adopt(&v, r)) rc = err_nomem(&s->error, r->text.len, "a text with marks");
    }
    woven_free(&v);
    return rc;
}
