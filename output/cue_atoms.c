/* steno: splits a transcript into the atoms of cues. SPDX-License-Identifier: MIT
 *
 * The text of the whole transcript is put into one buffer, with white space as single spaces. Words are spans of it with times. The
 * words of one speaker without a break are a paragraph. It is split where lines of text may end. */
#include "cue_atoms.h"
#include "text_shape.h"
#include "utf8.h"
#include "write.h"
#include <stdlib.h>
#include <string.h>

struct span {
    size_t from, to; /* bytes of the buffer */
    int64_t t0_ms, t1_ms;
    int32_t seg;
    size_t label;    /* bytes of the speaker label at its start */
    char is_readable; /* it has readable text, so its times count */
    char begins;     /* it begins a paragraph */
};

struct taker {
    const struct transcript *t;
    struct cue_atoms *out;
    size_t n;           /* bytes in the buffer */
    struct span *span;  /* [n_spans] */
    size_t n_spans;
    char *may;          /* [n] */
    int64_t t0_ms, t1_ms; /* of the last span */
};

/* ---- text and times ---------------------------------------------------------------------------------------------------------- */

static size_t text_room(const struct transcript *t, int labels, size_t *n_spans)
{
    size_t room = 1;
    *n_spans = 1;
    for (int i = 0; i < t->n; i++) {
        const int32_t words = t->word_times ? t->segs[i].n_words : 0;
        *n_spans += (size_t)words + 2;
        room += strlen(t->segs[i].text) + 1 + (labels ? WRITE_LABEL_SZ : 4);
        for (int32_t k = 0; k < words; k++) room += strlen(t->words[t->first_word[i] + k].text);
    }
    return room;
}

/* Appends text. White space becomes one space; a paragraph does not begin with a space. */
static void put_text(struct taker *k, const char *s, size_t paragraph)
{
    const size_t len = strlen(s);
    size_t used;
    char *buf = k->out->text;
    for (size_t i = 0; i < len; i += used) {
        const int32_t c = utf8_decode(s + i, len - i, &used);
        if (c == UTF8_BAD) buf[k->n++] = '?';
        else if (!text_is_space(c)) {
            memcpy(buf + k->n, s + i, used);
            k->n += used;
        } else if (k->n > paragraph && buf[k->n - 1] != ' ') buf[k->n++] = ' ';
    }
}

/* Appends a word. Times never decrease; an unknown time is that of a neighbour. */
static void put_span(struct taker *k, const char *s, int64_t t0_ms, int64_t t1_ms, int32_t seg, size_t paragraph)
{
    struct span *p = &k->span[k->n_spans];
    const size_t at = k->n;
    put_text(k, s, paragraph);
    const char *buf = k->out->text;
    *p = (struct span){ .from = at, .to = k->n, .seg = seg };
    while (p->from < p->to && buf[p->from] == ' ') p->from++;
    while (p->to > p->from && buf[p->to - 1] == ' ') p->to--;
    if (p->from == p->to) return;
    p->is_readable = (char)text_is_readable(buf + p->from, p->to - p->from);
    p->t0_ms = t0_ms >= 0 ? t0_ms : k->t1_ms;
    if (p->t0_ms < k->t0_ms) p->t0_ms = k->t0_ms;
    p->t1_ms = t1_ms > p->t0_ms ? t1_ms : p->t0_ms;
    if (p->is_readable) {
        k->t0_ms = p->t0_ms;
        k->t1_ms = p->t1_ms;
    }
    k->n_spans++;
}

/* Inserts a space between segments, in scripts that use spaces. */
static void part_segments(struct taker *k, const char *next, size_t paragraph)
{
    size_t used, from = k->n;
    const char *buf = k->out->text;
    if (k->n == paragraph || buf[k->n - 1] == ' ') return;
    do from--;
    while (from > paragraph && ((unsigned char)buf[from] & 0xC0) == 0x80);
    size_t n;
    next = utf8_strip(next, &n);
    utf8_decode(next, n, &used);
    if (text_cells(buf + from, k->n - from) < 2 || (n && text_cells(next, used) < 2)) k->out->text[k->n++] = ' ';
}

static void take_segment(struct taker *k, int i, size_t paragraph)
{
    const steno_segment *seg = &k->t->segs[i];
    const int32_t words = k->t->word_times ? seg->n_words : 0;
    const steno_word *w = words ? &k->t->words[k->t->first_word[i]] : NULL;
    part_segments(k, words ? w[0].text : seg->text, paragraph);
    for (int32_t j = 0; j < words; j++) put_span(k, w[j].text, w[j].t0_ms, w[j].t1_ms, i, paragraph);
    if (!words) put_span(k, seg->text, seg->t0_ms, seg->t1_ms, i, paragraph);
}

static int same_speaker(const struct transcript *t, int i)
{
    return !t->segs[i].speaker_turn && (!t->speakers || t->speakers[i] == t->speakers[i + 1]);
}

/* Appends the paragraphs, except those without readable text. */
static void take_paragraphs(struct taker *k, int labels)
{
    const struct transcript *t = k->t;
    for (int i = 0; i < t->n; i++) {
        const size_t paragraph = k->n, first = k->n_spans;
        char label[WRITE_LABEL_SZ] = "";
        int is_readable = 0;
        if (labels && t->speakers) write_speaker_label(label, sizeof label, t, i);
        else if (i && t->segs[i - 1].speaker_turn) memcpy(label, "- ", 3);
        put_text(k, label, paragraph);
        const size_t begun = k->n;
        take_segment(k, i, paragraph);
        while (i + 1 < t->n && same_speaker(t, i)) take_segment(k, ++i, paragraph);
        for (size_t j = first; j < k->n_spans; j++) is_readable |= k->span[j].is_readable;
        if (!is_readable) {
            k->n = paragraph;
            k->n_spans = first;
            continue;
        }
        k->span[first].begins = 1;
        k->span[first].from = paragraph; /* a label belongs to the first word */
        k->span[first].label = begun - paragraph;
        if (k->out->text[k->n - 1] != ' ') k->out->text[k->n++] = ' ';
    }
}

/* ---- atoms ------------------------------------------------------------------------------------------------------------------- */

/* Finds where lines may end in all paragraphs. A label stays with the text after it. @return number of pieces, at most */
static size_t find_breaks(struct taker *k)
{
    size_t n = 0;
    const char *buf = k->out->text;
    memset(k->may, 0, k->n);
    for (size_t i = 0; i < k->n_spans;) {
        const size_t first = i++, from = k->span[first].from;
        while (i < k->n_spans && !k->span[i].begins) i++;
        const size_t to = i < k->n_spans ? k->span[i].from : k->n;
        text_breaks(k->may + from, buf + from, to - from);
        memset(k->may + from, 0, k->span[first].label);
        k->may[to - 1] = 1;
    }
    for (size_t i = 0; i < k->n; i++) n += k->may[i] != 0;
    return n + 1;
}

static int64_t time_at(const struct span *s, size_t at)
{
    if (at <= s->from) return s->t0_ms;
    if (at >= s->to) return s->t1_ms;
    return s->t0_ms + (int64_t)((double)(s->t1_ms - s->t0_ms) * (double)(at - s->from) / (double)(s->to - s->from));
}

/* Sets the times of the text in [p->from, p->to). *i: the first span that does not end before it. */
static void set_times(struct cue_atom *a, const struct taker *k, const struct text_piece *p, size_t *i)
{
    int known = 0;
    while (*i + 1 < k->n_spans && k->span[*i].to <= p->from) ++*i;
    a->seg = k->span[*i].seg;
    a->t0_ms = a->t1_ms = k->span[*i].t0_ms;
    for (size_t j = *i; j < k->n_spans && k->span[j].from < p->to; j++) {
        const struct span *s = &k->span[j];
        if (!s->is_readable) continue;
        if (!known) a->t0_ms = time_at(s, p->from);
        a->t1_ms = time_at(s, p->to);
        known = 1;
    }
}

static void add_atom(struct taker *k, const struct text_piece *p, size_t *i)
{
    enum { SMALL = 3, LONG_PAUSE_MS = 2000 };
    struct cue_atoms *out = k->out;
    struct cue_atom *a = &out->atom[out->n++], *before = out->n > 1 ? a - 1 : NULL;
    const char *s = out->text + p->from;
    const size_t n = p->to - p->from;
    const struct text_size size = text_measure(s, n);
    const enum text_end end = text_end(s, n);
    *a = (struct cue_atom){ .text = s, .n = n, .cells = (int32_t)size.cells, .half_words = (int32_t)size.half_words,
                            .space = (char)p->space, .rough = (char)p->rough };
    set_times(a, k, p, i);
    a->ends = end == TEXT_ENDS_SENTENCE ? CUE_ENDS_SENTENCE : end == TEXT_ENDS_PHRASE ? CUE_ENDS_PHRASE : CUE_ENDS_WORD;
    a->small = a->ends == CUE_ENDS_WORD && a->cells <= SMALL && size.half_words == 2;
    a->labelled = k->span[*i].begins && k->span[*i].from == p->from && k->span[*i].label > 0;
    if (!before) return;
    if (a->t0_ms < before->t0_ms) a->t0_ms = before->t0_ms;
    if (a->t1_ms < a->t0_ms) a->t1_ms = a->t0_ms;
    if (before->ends == CUE_ENDS_SENTENCE && text_goes_on(s, n)) before->ends = CUE_ENDS_PHRASE; /* "Who?" he asked. */
    if (before->ends == CUE_ENDS_WORD && a->seg != before->seg) before->ends = CUE_ENDS_SEGMENT;
    if (k->span[*i].begins && k->span[*i].from == p->from) before->forced = 1;
    if (a->t0_ms - before->t1_ms >= LONG_PAUSE_MS) before->forced = 1;
}

int cue_atoms_take(struct cue_atoms *a, const struct transcript *t, int labels)
{
    struct taker k = { .t = t, .out = a };
    struct text_piece p;
    size_t spans, at = 0, i = 0, room = text_room(t, labels, &spans);
    *a = (struct cue_atoms){ .text = malloc(room) };
    k.span = calloc(spans, sizeof *k.span);
    k.may = malloc(room);
    int bad = !a->text || !k.span || !k.may;
    if (!bad) {
        take_paragraphs(&k, labels);
        a->atom = calloc(find_breaks(&k), sizeof *a->atom);
        bad = !a->atom;
    }
    while (!bad && k.n_spans && text_piece_next(&p, a->text, k.n, k.may, &at)) add_atom(&k, &p, &i);
    free(k.span);
    free(k.may);
    return bad ? -1 : 0;
}

void cue_atoms_free(struct cue_atoms *a)
{
    free(a->atom);
    free(a->text);
    memset(a, 0, sizeof *a);
}
