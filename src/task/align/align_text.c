/* steno: forced alignment of a known text: the text and the public call. SPDX-License-Identifier: MIT */
#include "task/align/align_text.h"
#include "engine/params.h"
#include "task/window/window.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

void known_text_free(struct known_text *t)
{
    buf_free(&t->ids);
    buf_free(&t->line_of);
    buf_free(&t->known);
    split_free(&t->split);
}

/* ---- the text ---- */

/* Appends the token ids of a line. Spaces around the line are as in a transcript. */
static int line_add(struct known_text *t, const steno_model *m, const char *line, size_t n, int spaces, steno_error *e)
{
    struct buf spaced = { 0 };
    if (spaces) buf_str(&spaced, " ");
    buf_add(&spaced, line, n);
    const int rc = spaced.err ? err_nomem(e, n, "the text") : bpe_encode(m->bpe, spaced.p, spaced.len, &t->ids, e);
    buf_free(&spaced);
    while (!rc && !t->line_of.err && t->line_of.len < t->ids.len) buf_add(&t->line_of, &t->n_lines, sizeof t->n_lines);
    t->n_lines++;
    return !rc && t->line_of.err ? err_nomem(e, n, "the text") : rc;
}

static int lines_add(struct known_text *t, const steno_model *m, const struct buf *text, int spaces, steno_error *e)
{
    const char *at = text->p, *end = text->p + text->len, *line;
    size_t n;
    int rc = STENO_OK;
    while (!rc && text_next_line(&at, end, &line, &n)) rc = line_add(t, m, line, n, spaces, e);
    return rc;
}

/* Builds the words from the split, then attaches punctuation to the word it belongs to. */
static void cues_add(struct known_text *t, const char *prepend, const char *append)
{
    const int32_t *line = (const int32_t *)(const void *)t->line_of.p;
    const size_t n = split_count(&t->split);
    for (size_t i = 0; i < n; i++) {
        const struct split_word *w = split_at(&t->split, i);
        const struct known_word c = { .start = NAN, .end = NAN, .probability = NAN, .line = line[w->first], .spoken = w->first,
                                      .n_spoken = w->n };
        buf_add(&t->known, &c, sizeof c);
    }
    if (t->known.err) return;
    split_merge(&t->split, n, prepend ? prepend : WORDS_PREPEND, append ? append : WORDS_APPEND);
    struct known_word *to = known_words_of(t);
    for (size_t i = 0; i < n; i++) {
        const struct split_word *w = split_at(&t->split, i);
        if (!w->len) continue;
        struct known_word c = known_words_of(t)[i];
        c.text = w->text, c.len = w->len, c.first = w->first, c.n = w->n;
        *to++ = c;
    }
    t->known.len = (size_t)(to - known_words_of(t)) * sizeof *to;
}

int known_text_make(struct known_text *t, const steno_model *m, const char *text, size_t n, int spaces, const char *prepend,
                    const char *append, steno_error *e)
{
    struct buf whole = { 0 };
    *t = (struct known_text){ 0 };
    utf8_append(&whole, (const uint8_t *)text, n);
    int rc = whole.err ? err_nomem(e, n, "the text") : lines_add(t, m, &whole, spaces, e);
    buf_free(&whole);
    if (rc) return rc;
    const size_t n_ids = t->ids.len / sizeof(int32_t);
    if (n_ids > INT32_MAX) return err_set(e, STENO_EARG, "a text of %zu tokens, want less than 2^31", n_ids);
    rc = split_words(&t->split, &m->vocab, (const int32_t *)(const void *)t->ids.p, (int32_t)n_ids, m->tokens.n_text, spaces);
    if (!rc) cues_add(t, prepend, append);
    if (rc || t->known.err) return err_nomem(e, n, "the text");
    return known_word_count(t) ? STENO_OK : err_set(e, STENO_EARG, "there are no words in the text to align");
}

/* ---- the results ---- */

static int64_t ms_of(double s)
{
    return isnan(s) ? -1 : llround(s * 1000);
}

/* The words c[n] form one line: a segment from the first known start to the last known end. */
static void line_keep(steno_session *s, const struct known_text *t, const struct known_word *c, int32_t n)
{
    struct result *r = &s->result;
    const int32_t first = c[0].first, n_ids = c[n - 1].first + c[n - 1].n - first;
    const int32_t *ids = (const int32_t *)(const void *)t->ids.p + first;
    const char *text = t->split.text.p + c[0].text;
    const size_t len = c[n - 1].text + c[n - 1].len - c[0].text;
    double start = NAN, end = NAN;
    for (int32_t i = 0; i < n; i++) {
        if (isnan(start)) start = c[i].start;
        if (!isnan(c[i].end)) end = c[i].end;
    }
    const size_t n_before = r->ids.len / sizeof *ids;
    struct segment g = { .t0_ms = ms_of(start), .t1_ms = ms_of(end), .start = start, .end = end, .text = r->text.len,
                         .first_token = n_before, .n_tokens = n_ids, .first_word = r->words.len / sizeof(struct word), .n_words = n,
                         .word_source = "dtw" };
    buf_add(&r->text, text, len);
    buf_add(&r->text, "", 1);
    for (int32_t i = 0; i < n; i++) {
        const struct word v = { c[i].start, c[i].end, c[i].probability, r->text.len, c[i].n, 0, 0 };
        buf_add(&r->text, t->split.text.p + c[i].text, c[i].len);
        buf_add(&r->text, "", 1);
        buf_add(&r->words, &v, sizeof v);
    }
    buf_add(&r->whole, text, len);
    buf_add(&r->ids, ids, (size_t)n_ids * sizeof *ids);
    for (int32_t i = 0; i < n_ids; i++) {
        const struct sampled_token token = { .id = ids[i], .ts_id = -1 };
        buf_add(&r->tokens, &token, sizeof token);
    }
    if (!result_status(r)) buf_add(&r->segments, &g, sizeof g); /* added last, so that readers only see complete segments */
}

static int result_keep(steno_session *s, const struct known_text *t)
{
    const struct known_word *c = known_words_of(t);
    const int32_t n = known_word_count(t);
    for (int32_t i = 0, first = 0; i < n; i++) {
        if (i + 1 < n && c[i + 1].line == c[first].line) continue;
        line_keep(s, t, c + first, i + 1 - first);
        first = i + 1;
    }
    return result_status(&s->result) ? err_nomem(&s->error, s->result.text.len, "results") : STENO_OK;
}

/* ---- the call ---- */

/* Range of frames [*from, *to) to align, within the audio read so far. */
static void range_choose(const struct mel_stream *mel, const steno_transcribe_params *p, int64_t *from, int64_t *to)
{
    const int64_t frames = mel->frames, offset = p->offset_ms / 10;
    *from = offset < frames ? offset : frames;
    *to = p->duration_ms && p->duration_ms / 10 < frames - *from ? *from + p->duration_ms / 10 : frames;
}

/* Returns 1 if the text contains anything other than white space. */
static int has_text(const char *text)
{
    size_t n = strlen(text);
    text_strip(&text, &n);
    return n > 0;
}

int text_align_source(steno_session *s, struct mel_stream *mel, const steno_source *src, const char *text,
                      const steno_transcribe_params *p)
{
    struct language_vote vote;
    struct speech_options speech = { .translate = p->task == STENO_TRANSLATE, .lang = -1 };
    struct words_options q = { NULL, p->prepend_punctuations, p->append_punctuations, NAN };
    struct known_text t;
    int64_t from, to;
    int rc = params_check(s, STENO_CALL_ALIGN, p);
    s->params = p;
    if (!rc) rc = language_asked(s, p->language, &speech.lang);
    if (!rc && !has_text(text)) rc = err_set(&s->error, STENO_EARG, "there are no words in the text to align");
    if (!rc) rc = mel_stream_listen(mel, src, &s->error);
    language_vote_begin(&vote);
    while (!rc && !*s->result.language) rc = language_choose(s, mel, 0, p, &vote, &speech.lang);
    if (rc) return rc;
    q.language = s->result.language;
    s->result.duration_ms = mel->samples / 16;
    range_choose(mel, p, &from, &to);
    rc = known_text_make(&t, s->model, text, strlen(text), language_has_spaces(q.language), q.prepend, q.append, &s->error);
    if (!rc) rc = text_align(s, mel, &t, &q, &speech, from, to);
    if (!rc) rc = result_keep(s, &t);
    known_text_free(&t);
    return rc;
}
