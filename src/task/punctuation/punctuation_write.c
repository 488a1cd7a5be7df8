/* steno: writes a text with its marks as the reference does. SPDX-License-Identifier: MIT
 *
 * FunASR 1.4, funasr/models/ct_transformer/model.py and ct_transformer_streaming/model.py, reproduced exactly: only ASCII words have spaces
 * between them. A sentence that begins with an ASCII word gets a space and a capital letter. */
#include "task/punctuation/punctuation_write.h"
#include <string.h>
#include "base/utf8.h"

#define COMMA "，"
#define STOP "。"
#define ASKS "？"
#define PAUSE "、" /* enumeration comma */

static int is_ascii(char c)
{
    return (unsigned char)c < 0x80;
}

/* As Python's str.capitalize(). */
static void put_capital(struct buf *out, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char lower = s[i] >= 'A' && s[i] <= 'Z' ? (char)(s[i] | 32) : s[i];
        const char c = !i && lower >= 'a' && lower <= 'z' ? (char)(lower & ~32) : lower;
        buf_add(out, &c, 1);
    }
}

static int ends_with(const struct buf *b, const char *s)
{
    const size_t n = strlen(s);
    return b->len >= n && !memcmp(b->p + b->len - n, s, n);
}

static void cut(struct buf *b, size_t n)
{
    b->len -= n;
    b->p[b->len] = 0;
}

/* Ends the text with a full stop or question mark. @return 1: the text was changed */
static int end_sentence(struct buf *out)
{
    if (ends_with(out, STOP) || ends_with(out, ASKS) || ends_with(out, ".") || ends_with(out, "?")) return 0;
    const int is_wide = !is_ascii(out->p[out->len - 1]);
    if (ends_with(out, COMMA) || ends_with(out, PAUSE)) cut(out, strlen(COMMA));
    else if (ends_with(out, ",")) cut(out, 1);
    buf_str(out, is_wide ? STOP : ".");
    return 1;
}

void marks_write_some(struct buf *out, const struct marks_session *q, const struct marks_model *m, size_t from, size_t to)
{
    const struct marked_word *w = marked_words(q);
    for (size_t i = from; i < to; i++) {
        const char *s = q->text.p + w[i].at, *mark = m->mark[w[i].mark];
        if (is_ascii(*s)) {
            const int begins = w[i].begins;
            if (begins || is_ascii(q->text.p[w[i - 1].at])) buf_str(out, " ");
            if (begins || m->kind[w[i - 1].mark] == MARK_END) put_capital(out, s, w[i].n);
            else buf_add(out, s, w[i].n);
        } else {
            buf_add(out, s, w[i].n);
        }
        buf_str(out, strcmp(mark, PAUSE) ? marks_text(m, w[i].mark, *s) : mark);
    }
}

void marks_write(struct buf *out, struct marks_session *q, const struct marks_model *m)
{
    struct marked_word *w = marked_words(q);
    const size_t n = marked_count(q), begin = out->len;
    marks_write_some(out, q, m, 0, n);
    if (out->err || out->len == begin) return;
    if (end_sentence(out)) w[n - 1].mark = m->end;
}

/* Length of the mark at the end of the text, or 0. */
static size_t mark_len_at_end(const struct buf *out, size_t begin, const struct marks_model *m)
{
    for (int32_t i = 0; i < m->n; i++) {
        const size_t n = strlen(m->mark[i]);
        if (n && out->len - begin >= n && ends_with(out, m->mark[i])) return n;
    }
    return out->len > begin && ends_with(out, "_"); /* the list of marks contains "_" */
}

void marks_write_more(struct buf *out, struct marks_session *q, const struct marks_model *m)
{
    struct marked_word *w = marked_words(q);
    const size_t n = marked_count(q), begin = out->len;
    for (size_t i = 0; i < n; i++) {
        const char *s = q->text.p + w[i].at;
        if (i >= q->n_before) {
            if (i && is_ascii(*s) && is_ascii(q->text.p[w[i - 1].at])) buf_str(out, " ");
            buf_add(out, s, w[i].n);
        }
        if (i + 1 >= q->n_before) buf_str(out, m->mark[w[i].mark]);
    }
    q->settled = marks_last_end(w, n, m->kind);
    if (out->err || !n) return;
    const size_t last = mark_len_at_end(out, begin, m);
    if (!last) return;
    cut(out, last);
    w[n - 1].mark = m->none;
}
