/* steno: subtitles as cues. SPDX-License-Identifier: MIT
 *
 * With words, cues follow the reference's rules (openai-whisper, SubtitlesWriter). There is one cue per segment; or lines of a given width
 * continue across segments until a cue has its number of lines. Line breaks depend only on the words of the cue. So a cue is a range of
 * words, and its lines are computed again when it is written.
 *
 * The reference checks if the first segment lists words, and fails if that segment was emptied and no other has any. Here word_times
 * decides. Without it an emptied segment is a cue without text, if empty_cues is set; with it there is no cue. A change of speaker begins a
 * cue.
 *
 * Without words only the times of segments are known. Lines break at spaces, and the cues of a segment divide its time by their lengths. */
#include "write_cues.h"
#include "cue_build.h"
#include "utf8.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static const struct write_layout *layout_of(const struct transcript *t)
{
    static const struct write_layout none;
    return t->layout ? t->layout : &none;
}

struct cues {
    struct sink *f;
    void (*put)(struct sink *f, const struct cue *c);
    struct cue cue; /* the current one */
};

static void note_text(void *user, const struct cue_part *p)
{
    int *has_text = user;
    for (size_t i = 0; i < p->n; i++) *has_text |= p->text[i] != ' ' && p->text[i] != '\n';
    *has_text |= p->turn;
}

static void emit(struct cues *q, int64_t t0_ms, int64_t t1_ms, int32_t lit)
{
    int has_text = q->cue.t->empty_cues;
    if (!has_text) cue_parts(&q->cue, note_text, &has_text);
    if (!has_text) return;
    q->cue.t0_ms = t0_ms;
    q->cue.t1_ms = t1_ms;
    q->cue.lit = lit;
    q->put(q->f, &q->cue);
    q->cue.index++;
}

/* ---- lines of words ---------------------------------------------------------------------------------------------------------- */

enum place { APPEND, BEGIN, NEW_LINE, NEW_CUE }; /* all except APPEND are written without surrounding white space */

/* State that decides where the next word goes. */
struct shaper {
    size_t width;
    int32_t max_lines, lines; /* 0: no limit; lines in the cue so far */
    int keep_segments;        /* cues end with segments */
    int n;                    /* words in the cue so far */
    size_t line;              /* code points in the line so far */
    double last;              /* start of the previous word */
};

static struct shaper shaper_begin(const struct write_layout *l)
{
    enum { WIDE = 1000 };
    return (struct shaper){ .width = l->max_line_width ? (size_t)l->max_line_width : WIDE, .max_lines = l->max_line_count, .lines = 1,
                            .keep_segments = !l->max_line_width || !l->max_line_count };
}

/* breaks: a segment begins here, or the cue has its maximum number of words; other: the speaker changes. */
static enum place shaper_step(struct shaper *s, const steno_word *w, int breaks, int other)
{
    const double long_pause = 3.0;
    size_t n;
    enum place place = BEGIN;
    const size_t whole = utf8_length(w->text, strlen(w->text));
    const int pause = s->n && !s->keep_segments && w->start - s->last > long_pause;
    const int cut = s->n && ((breaks && s->keep_segments) || other);
    if (s->line && s->line + whole <= s->width && !pause && !cut) {
        place = APPEND;
        s->line += whole;
    } else {
        if (cut || (s->n && s->max_lines && (pause || s->lines >= s->max_lines))) {
            place = NEW_CUE;
            s->lines = 1;
            s->n = 0;
        } else if (s->line) {
            place = NEW_LINE;
            s->lines++;
        }
        const char *bare = utf8_strip(w->text, &n);
        s->line = utf8_length(bare, n);
    }
    s->n++;
    if (!isnan(w->start)) s->last = w->start;
    return place;
}

static int turns_after(const struct transcript *t, int seg, int32_t word)
{
    return t->segs[seg].speaker_turn && word == t->first_word[seg] + t->segs[seg].n_words - 1;
}

static void parts_of_words(const struct cue *c, void (*put)(void *user, const struct cue_part *p), void *user)
{
    const struct transcript *t = c->t;
    struct shaper s = shaper_begin(layout_of(t));
    int seg = c->seg;
    for (int32_t i = c->first; i < c->first + c->n; i++) {
        const steno_word *w = &t->words[i];
        while (i >= t->first_word[seg] + t->segs[seg].n_words) seg++;
        const enum place place = shaper_step(&s, w, 0, 0);
        struct cue_part p = { .text = w->text, .n = strlen(w->text), .new_line = place == NEW_LINE, .lit = i == c->lit,
                              .turn = turns_after(t, seg, i), .t0_ms = w->t0_ms, .t1_ms = w->t1_ms };
        if (place != APPEND) p.text = utf8_strip(w->text, &p.n);
        put(user, &p);
    }
}

/* ---- cues of words ----------------------------------------------------------------------------------------------------------- */

/* Writes a cue once per word, with that word underlined. In a pause between words none is. */
static void emit_lit(struct cues *q, int64_t t0_ms)
{
    const struct cue *c = &q->cue;
    int64_t last = t0_ms;
    for (int32_t i = c->first; i < c->first + c->n; i++) {
        const steno_word *w = &c->t->words[i];
        if (w->t0_ms < 0 || w->t1_ms < 0) continue;
        if (w->t0_ms != last) emit(q, last, w->t0_ms, -1);
        emit(q, w->t0_ms, w->t1_ms, i);
        last = w->t1_ms;
    }
}

/* Writes the current cue. Words that were not found take their times from their neighbours, then from the segment. */
static void emit_words(struct cues *q)
{
    const struct cue *c = &q->cue;
    const struct transcript *t = c->t;
    if (c->n == 0) return;
    int64_t t0 = -1, t1 = -1;
    for (int32_t i = c->first; i < c->first + c->n && t0 < 0; i++) t0 = t->words[i].t0_ms;
    for (int32_t i = c->first + c->n - 1; i >= c->first && t1 < 0; i--) t1 = t->words[i].t1_ms;
    if (t0 < 0) t0 = t->segs[c->seg].t0_ms;
    if (t1 < 0) t1 = t->segs[c->seg].t1_ms;
    if (layout_of(t)->highlight_words) emit_lit(q, t0);
    else emit(q, t0, t1, -1);
}

static void cues_of_words(struct cues *q)
{
    const struct transcript *t = q->cue.t;
    const int32_t per_cue = layout_of(t)->max_words_per_line;
    struct shaper s = shaper_begin(layout_of(t));
    for (int seg = 0; seg < t->n; seg++) {
        for (int32_t k = 0; k < t->segs[seg].n_words; k++) {
            const int32_t i = t->first_word[seg] + k;
            const int other = t->speakers && t->speakers[seg] != t->speakers[q->cue.seg];
            if (shaper_step(&s, &t->words[i], per_cue ? k % per_cue == 0 : k == 0, other) == NEW_CUE || q->cue.n == 0) {
                emit_words(q);
                q->cue.seg = seg;
                q->cue.first = i;
                q->cue.n = 0;
            }
            q->cue.n++;
        }
    }
    emit_words(q);
}

/* ---- text without words ------------------------------------------------------------------------------------------------------ */

/* End of the first line of s[n], broken at a space to keep the width; a longer word is a line of its own. *next: start of the second
 * line. */
static size_t line_end(const char *s, size_t n, size_t width, size_t *next)
{
    size_t end = 0, at = 0;
    for (*next = 0; at < n; *next = at) {
        while (at < n && s[at] != ' ') at++;
        if (end && width && utf8_length(s, at) > width) break;
        end = at;
        while (at < n && s[at] == ' ') at++;
    }
    return end;
}

static void parts_of_text(const struct cue *c, void (*put)(void *user, const struct cue_part *p), void *user)
{
    const steno_segment *seg = &c->t->segs[c->seg];
    const size_t width = (size_t)layout_of(c->t)->max_line_width;
    size_t at = c->from, n;
    const char *text = utf8_strip(seg->text, &n);
    const size_t whole = (size_t)(text - seg->text) + n;
    do {
        size_t len = c->to - at, next = len;
        if (width) len = line_end(seg->text + at, len, width, &next);
        const struct cue_part p = { .text = seg->text + at, .n = len, .new_line = at > c->from, .t0_ms = -1, .t1_ms = -1,
                                    .turn = seg->speaker_turn && at + next >= whole };
        put(user, &p);
        at += next;
    } while (at < c->to);
}

static void cues_of_text(struct cues *q, int i)
{
    const steno_segment *seg = &q->cue.t->segs[i];
    const struct write_layout *l = layout_of(q->cue.t);
    const int known = seg->t0_ms >= 0 && seg->t1_ms > seg->t0_ms;
    size_t n, at = 0;
    const char *text = utf8_strip(seg->text, &n);
    const double total = (double)utf8_length(text, n);
    int64_t t0 = seg->t0_ms;
    q->cue.seg = i;
    do {
        size_t end = n, next = n;
        if (l->max_line_width && l->max_line_count) {
            next = end = at;
            for (int32_t k = 0; k < l->max_line_count && next < n; k++) {
                const size_t line = next;
                end = line + line_end(text + line, n - line, (size_t)l->max_line_width, &next);
                next += line;
            }
        }
        int64_t t1 = seg->t1_ms;
        if (next < n && known) t1 = seg->t0_ms + (int64_t)((double)(t1 - seg->t0_ms) * (double)utf8_length(text, next) / total);
        q->cue.from = (size_t)(text - seg->text) + at;
        q->cue.to = (size_t)(text - seg->text) + end;
        emit(q, t0, t1, -1);
        t0 = t1;
        at = next;
    } while (at < n);
}

/* ---- cues built by rules ----------------------------------------------------------------------------------------------------- */

static void built_cues(struct cues *q, int labels)
{
    const struct transcript *t = q->cue.t;
    struct cue_build b;
    struct cue_rules rules;
    cue_rules_of(&rules, &layout_of(t)->cues, t->language);
    if (cue_build(&b, t, &rules, labels)) {
        errno = ENOMEM;
        q->f->failed = 1;
    }
    for (size_t i = 0; i < b.n && !q->f->failed; i++) {
        q->cue.atom = &b.text.atom[b.cue[i].first];
        q->cue.n_atoms = b.cue[i].n;
        q->cue.seg = q->cue.atom->seg;
        emit(q, b.cue[i].t0_ms, b.cue[i].t1_ms, -1);
    }
    cue_build_free(&b);
}

static void parts_of_atoms(const struct cue *c, void (*put)(void *user, const struct cue_part *p), void *user)
{
    static const char space[] = " ";
    for (size_t i = 0; i < c->n_atoms; i++) {
        const struct cue_atom *a = &c->atom[i];
        const struct cue_part part = { .text = a->text, .n = a->n, .new_line = i && a->new_line, .t0_ms = a->t0_ms, .t1_ms = a->t1_ms };
        const struct cue_part between = { .text = space, .n = 1, .t0_ms = -1, .t1_ms = -1 };
        if (i && !a->new_line && a->space) put(user, &between);
        put(user, &part);
    }
}

void write_cues(struct sink *f, const struct transcript *t, void (*put)(struct sink *f, const struct cue *c), int labels)
{
    struct cues q = { .f = f, .put = put, .cue = { .t = t } };
    if (layout_of(t)->cues.on) {
        built_cues(&q, labels);
        return;
    }
    if (t->word_times) cues_of_words(&q);
    for (int i = 0; !t->word_times && i < t->n; i++) cues_of_text(&q, i);
}

void cue_parts(const struct cue *c, void (*put)(void *user, const struct cue_part *p), void *user)
{
    if (c->atom) parts_of_atoms(c, put, user);
    else if (c->n) parts_of_words(c, put, user);
    else parts_of_text(c, put, user);
}

/* ---- text of a cue ----------------------------------------------------------------------------------------------------------- */

/* A stream of text in which "-->" becomes "->", because a cue's text must not look like its times. */
struct plain {
    struct sink *f;
    enum text_form form;
    int dashes; /* held back, at most two */
};

static void flush(struct plain *p)
{
    while (p->dashes > 0) {
        sink_char(p->f, '-');
        p->dashes--;
    }
}

static int plain_write(void *user, const char *s, size_t n)
{
    struct plain *p = user;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '-' && p->dashes < 2) {
            p->dashes++;
            continue;
        }
        if (s[i] == '>' && p->dashes == 2) p->dashes = 1;
        if (s[i] != '-') flush(p);
        sink_char(p->f, s[i]);
    }
    return p->f->failed;
}

static void put_text(struct plain *p, const char *s, size_t n)
{
    struct sink to = { .write = plain_write, .user = p };
    text_put(&to, p->form, s, n);
}

static void put_markup(struct plain *p, const char *text)
{
    flush(p);
    sink_text(p->f, text);
}

static void put_part(void *user, const struct cue_part *part)
{
    struct plain *p = user;
    if (part->new_line) put_markup(p, "\n");
    if (part->lit) { /* a whole word, which ends with a NUL */
        size_t n;
        const size_t lead = (size_t)(utf8_strip(part->text, &n) - part->text);
        put_text(p, part->text, lead);
        put_markup(p, "<u>");
        put_text(p, part->text + lead, part->n - lead);
        put_markup(p, "</u>");
    } else {
        put_text(p, part->text, part->n);
    }
    if (part->turn) put_markup(p, WRITE_SPEAKER_TURN);
}

void write_cue(struct sink *f, enum text_form form, const struct cue *c, const char *label)
{
    struct plain p = { .f = f, .form = form };
    put_text(&p, label, strlen(label));
    cue_parts(c, put_part, &p);
    flush(&p);
}

void write_cue_text(struct sink *f, enum text_form form, const char *text)
{
    struct plain p = { .f = f, .form = form };
    put_text(&p, text, strlen(text));
    flush(&p);
}
