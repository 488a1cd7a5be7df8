/* steno: word segmentation for punctuation models trained on Chinese words. SPDX-License-Identifier: MIT */
#include "task/punctuation/punctuation_cut.h"
#include "text/mixed_words.h"

/* Bytes [at, end) of the input, without spaces. */
struct piece { size_t at, end; };

struct cutter {
    struct buf *out;
    const struct jieba *d;
    const char *text;
    marks_word *word;
    void *user;
    struct buf pieces, ends; /* struct piece to be segmented together; uint32_t ends of the words in them */
};

/* Finds the next piece from *end on. @return 0: there is none */
static int next_piece(const char *text, size_t n, struct piece *p, size_t *end)
{
    size_t at, next = *end;
    if (!mixed_word_next(text, n, &p->at, end)) return 0;
    for (next = *end; mixed_word_next(text, n, &at, &next) && at == *end; *end = next) {}
    p->end = *end;
    return 1;
}

static int is_latin(const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '\'')) return 0;
    return 1;
}

/* Reports the words. end[n]: their ends after `base` in the session's text, which holds the pieces in order. */
static void tell(struct cutter *c, size_t base, const uint32_t *end, size_t n)
{
    const struct piece *p = (const struct piece *)(const void *)c->pieces.p;
    size_t at = p->at;
    for (size_t i = 0, from = 0; i < n; from = end[i++]) {
        if (at == p->end) at = (++p)->at;
        const size_t begin = at;
        size_t left = end[i] - from;
        while (left > p->end - at) {
            left -= p->end - at;
            at = (++p)->at;
        }
        at += left;
        c->word(c->user, base + from, end[i] - from, begin, at);
    }
}

/* Segments the pieces collected so far. */
static void flush(struct cutter *c)
{
    struct buf *text = c->out;
    const struct piece *p = (const struct piece *)(const void *)c->pieces.p;
    const size_t n = c->pieces.len / sizeof *p, base = text->len;
    for (size_t i = 0; i < n; i++) buf_add(text, c->text + p[i].at, p[i].end - p[i].at);
    buf_clear(&c->ends);
    if (n && !text->err && jieba_cut(c->d, text->p + base, text->len - base, &c->ends)) text->err = 1;
    if (n && !text->err) tell(c, base, (const uint32_t *)(const void *)c->ends.p, c->ends.len / sizeof(uint32_t));
    buf_clear(&c->pieces);
}

void marks_cut(struct buf *out, const struct jieba *d, const char *text, size_t n, int joins, marks_word *word, void *user)
{
    struct cutter c = { .out = out, .d = d, .text = text, .word = word, .user = user };
    struct piece p;
    for (size_t end = 0; next_piece(text, n, &p, &end);) {
        const int latin = is_latin(text + p.at, p.end - p.at);
        if (latin || !joins) flush(&c);
        if (latin) {
            buf_add(out, text + p.at, p.end - p.at);
            if (!out->err) word(user, out->len - (p.end - p.at), p.end - p.at, p.at, p.end);
        } else {
            buf_add(&c.pieces, &p, sizeof p);
        }
        out->err |= c.pieces.err;
    }
    flush(&c);
    buf_free(&c.pieces);
    buf_free(&c.ends);
}
