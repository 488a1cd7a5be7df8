/* steno: sentences of a transcript. SPDX-License-Identifier: MIT
 *
 * FunASR 1.4: timestamp_sentence() of funasr/utils/timestamp_tools.py for bare texts, _timestamp_sentences_from_surface() of
 * funasr/auto/auto_model.py for others. Words of the punctuation model and words with times are mostly the same. If a text that keeps its
 * form is split differently, the times of words are divided among their characters. If that fails, or the number of words differs in a bare
 * text, each segment becomes a sentence. */
#include "task/punctuation/punctuation_sentences.h"
#include <math.h>
#include <string.h>
#include "base/utf8.h"
#include "text/words.h"

struct span_ms { int64_t t0, t1; };

/* Working state: times of the words, and the current sentence. */
struct maker {
    const struct sentence_sink *to;
    const struct sentence_source *s;
    struct buf times;    /* struct span_ms per word */
    struct buf sentence;
    int by_words;        /* word i of the punctuation model is word i of the transcript */
};

static const struct word *words_of(const struct result *r) { return (const struct word *)(const void *)r->words.p; }
static const struct segment *segment_of(const struct result *r, int i) { return (const struct segment *)(const void *)r->segments.p + i; }
static size_t words_count(const struct result *r) { return r->words.len / sizeof(struct word); }
static int is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static struct span_ms span_of(const struct word *w)
{
    const int known = !isnan(w->start);
    return (struct span_ms){ known ? (int64_t)nearbyint(w->start * 1000) : -1, known ? (int64_t)nearbyint(w->end * 1000) : -1 };
}

/* ---- times of words ------------------------------------------------------------------------------------------------------------ */

/* Iterates over the characters of the transcript's words, without spaces. */
struct characters { const struct result *r; size_t word; const char *at; size_t n, i; struct span_ms of; };

static size_t character_len(const char *s)
{
    const unsigned char c = (unsigned char)*s;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static int is_space(const char *s) { return *s == ' ' || !strncmp(s, "\xe2\x96\x81", 3); }

static size_t characters_in(const char *s)
{
    size_t n = 0;
    for (; *s; s += character_len(s)) n += !is_space(s);
    return n;
}

/* Returns the next character and its share of the word's time. NULL: there are no more, or the time is not known. */
static const char *next_character(struct characters *c, struct span_ms *share)
{
    while (!c->at || !*c->at || is_space(c->at)) {
        if (c->at && *c->at) {
            c->at += character_len(c->at);
            continue;
        }
        if (c->word == words_count(c->r)) return NULL;
        const struct word *w = words_of(c->r) + c->word++;
        c->at = c->r->text.p + w->text;
        c->n = characters_in(c->at);
        c->i = 0;
        c->of = span_of(w);
    }
    if (c->of.t0 < 0) return NULL;
    const int64_t duration = c->of.t1 - c->of.t0, n = (int64_t)c->n, i = (int64_t)c->i++;
    const char *at = c->at;
    *share = (struct span_ms){ c->of.t0 + duration * i / n, c->of.t0 + duration * (i + 1) / n };
    c->at += character_len(at);
    return at;
}

/* @return 0: the words differ, or one has no time */
static int share_times(struct maker *m, size_t n)
{
    struct characters c = { .r = m->s->result };
    struct span_ms share;
    for (size_t i = 0; i < n; i++) {
        const struct placed *w = &m->s->word[i];
        struct span_ms of = { -1, -1 };
        for (size_t k = 0; k < w->n; k += character_len(w->text + k)) {
            const char *at = next_character(&c, &share);
            if (!at || strncmp(at, w->text + k, character_len(w->text + k)) != 0) return 0;
            of = (struct span_ms){ of.t0 < 0 ? share.t0 : of.t0, share.t1 };
        }
        buf_add(&m->times, &of, sizeof of);
    }
    return !next_character(&c, &share) && c.word == words_count(c.r);
}

/* Finds a time for each word of the punctuation model. @return 0: there is none */
static int find_times(struct maker *m, size_t n)
{
    const struct result *r = m->s->result;
    m->by_words = n == words_count(r);
    if (!m->by_words) return !m->s->is_bare && share_times(m, n);
    for (size_t i = 0; i < n; i++) {
        const struct span_ms of = span_of(words_of(r) + i);
        if (of.t0 < 0) return 0;
        buf_add(&m->times, &of, sizeof of);
    }
    return 1;
}

/* ---- sentences ----------------------------------------------------------------------------------------------------------------- */

static void add_sentence(struct maker *m, const struct span_ms *times, size_t n, int64_t first_word)
{
    const struct sentence_sink *to = m->to;
    const struct marked_sentence g = { .text = m->s->text_at + to->text->len, .first_time = to->times->len / sizeof *times,
                                .t0_ms = times[0].t0, .t1_ms = times[n - 1].t1, .n_words = (int32_t)n, .first_word = first_word };
    buf_add(to->times, times, n * sizeof *times);
    buf_add(to->text, m->sentence.p ? m->sentence.p : "", m->sentence.len);
    buf_add(to->text, "", 1);
    buf_add(to->sentences, &g, sizeof g);
    to->text->err |= m->sentence.err;
    buf_clear(&m->sentence);
}

/* Appends words [from, to) of the transcript. A word that begins or ends with a letter gets a space before or after it. */
static void put_words(struct maker *m, size_t from, size_t to)
{
    const struct result *r = m->s->result;
    for (size_t i = from; i < to; i++) {
        const char *text = r->text.p + words_of(r)[i].text;
        text += *text == ' ';
        if (is_letter(*text) || (m->sentence.len && is_letter(m->sentence.p[m->sentence.len - 1]))) buf_str(&m->sentence, " ");
        buf_str(&m->sentence, text);
    }
}

/* Appends the text of words [from, to) as it is; it may span several segments. */
static void put_text(struct maker *m, size_t from, size_t to)
{
    const size_t *first = m->s->first;
    for (int i = 0; i < result_segments(m->s->result); i++) {
        const size_t a = from > first[i] ? from : first[i], b = to < first[i + 1] ? to : first[i + 1];
        if (a >= b) continue;
        const struct placed *last = &m->s->word[b - 1];
        text_join(&m->sentence, m->s->word[a].text, (size_t)(last->text + last->n - m->s->word[a].text));
    }
}

static void make_sentences(struct maker *m, size_t n)
{
    const struct span_ms *times = (const struct span_ms *)(const void *)m->times.p;
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        const struct placed *w = &m->s->word[i];
        const char *chosen = m->s->model->mark[w->chosen];
        if (!*chosen && (m->s->is_bare || i + 1 < n)) continue;
        if (m->s->is_bare) put_words(m, from, i + 1);
        else put_text(m, from, i + 1);
        buf_str(&m->sentence, m->s->is_bare ? chosen : w->mark);
        add_sentence(m, times + from, i + 1 - from, m->by_words ? (int64_t)from : -1);
        from = i + 1;
    }
}

/* Appends the text without <|...|> tags. */
static void put_untagged(struct buf *out, const char *text)
{
    for (const char *end; *text; text++) {
        if (!strncmp(text, "<|", 2) && (end = strstr(text, "|>")) != NULL) text = end + 1;
        else buf_add(out, text, 1);
    }
}

static void segments_instead(struct maker *m)
{
    const struct result *r = m->s->result;
    struct buf plain = { 0 };
    for (int i = 0; i < result_segments(r); i++) {
        const struct segment *g = segment_of(r, i);
        buf_clear(&m->times);
        buf_clear(&plain);
        put_untagged(&plain, r->text.p + g->text);
        for (int32_t k = 0; k < g->n_words; k++) {
            const struct span_ms of = span_of(words_of(r) + g->first_word + k);
            buf_add(&m->times, &of, sizeof of);
        }
        const char *text = plain.p ? plain.p : "";
        size_t n = plain.len;
        text_strip(&text, &n);
        m->to->text->err |= plain.err | m->times.err;
        if (!n || !g->n_words || m->to->text->err) continue;
        buf_add(&m->sentence, text, n);
        add_sentence(m, (const struct span_ms *)(const void *)m->times.p, (size_t)g->n_words, (int64_t)g->first_word);
    }
    buf_free(&plain);
}

void sentences_make(const struct sentence_sink *to, const struct sentence_source *s)
{
    struct maker m = { .to = to, .s = s };
    const size_t n = s->first[result_segments(s->result)];
    if (!words_count(s->result) || !n) return;
    const int found = find_times(&m, n);
    if (found && !m.times.err) make_sentences(&m, n);
    else if (!m.times.err) segments_instead(&m);
    to->text->err |= m.times.err | m.sentence.err;
    buf_free(&m.times);
    buf_free(&m.sentence);
}
