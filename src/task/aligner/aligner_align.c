/* steno: a forced aligner: the times of a known text. SPDX-License-Identifier: MIT
 *
 * All lines are aligned together. */
#include <math.h>
#include <string.h>
#include "engine/params.h"
#include "task/aligner/aligner_session.h"

static const char source_name[] = "aligner";

/* ---- checks */

int aligner_check(steno_session *s, const steno_transcribe_params *p)
{
    const struct aligner_model *m = aligner_model_of(s->model);
    const int rc = params_check(s, STENO_CALL_ALIGN, p);
    if (rc) return rc;
    if (!s->model->lm.tokenizer)
        return err_set(&s->error, STENO_ENOVOCAB, "the model has no tokenizer: there is no tokenizer.json, and no vocab.json with "
                                                  "merges.txt");
    if (language_is_auto(p->language)) return STENO_OK;
    const char *code = language_code(language_find(p->language));
    for (int i = 0; code && i < m->n_languages; i++)
        if (!strcmp(code, m->language(i))) return STENO_OK;
    return language_refuse(&s->error, p->language, m->language, m->n_languages);
}

/* ---- words */

void aligner_words_add(const struct aligner_session *a, const char *text, const struct aligner_place *to, struct segment *g)
{
    const int32_t *ms = (const int32_t *)(const void *)to->ms->p;
    const float *p = (const float *)(const void *)to->probability->p;
    const size_t n = spoken_words_count(&a->words);
    const int is_timed = to->ms->len > 0;
    g->first_word = to->words->len / sizeof(struct word);
    g->n_words = (int32_t)n;
    g->word_source = source_name;
    for (size_t i = 0, k = to->mark; i < n; i++, k += 2) {
        const struct spoken_word *w = spoken_word_at(&a->words, i);
        const double start = is_timed ? fmin(to->at + ms[k] / 1000.0, to->end) : (double)NAN;
        const double end = is_timed ? fmin(to->at + ms[k + 1] / 1000.0, to->end) : (double)NAN;
        const struct word v = { .start = start, .end = end, .text = to->text->len,
                                .probability = is_timed ? ((double)p[k] + (double)p[k + 1]) / 2 : (double)NAN };
        buf_add(to->text, text + w->from, w->to - w->from);
        buf_add(to->text, "", 1);
        buf_add(to->words, &v, sizeof v);
        if (!i) g->start = start;
        g->end = end;
    }
    g->t0_ms = is_timed ? llround(g->start * 1000) : -1;
    g->t1_ms = is_timed ? llround(g->end * 1000) : -1;
}

/* ---- a known text */

/* Puts the words of all lines into the prompt. */
static int take_text(steno_session *s, const char *text)
{
    struct aligner_session *a = aligner_of(s);
    const char *line;
    size_t n;
    int rc = STENO_OK;
    buf_clear(&a->text);
    utf8_append(&a->text, (const uint8_t *)text, strlen(text));
    aligner_text_begin(a);
    const char *at = a->text.p ? a->text.p : "", *end = at + a->text.len;
    while (!rc && !a->text.err && text_next_line(&at, end, &line, &n)) {
        rc = spoken_words_find(&a->words, line, n);
        if (!rc) rc = aligner_text_add(s);
    }
    if (rc == STENO_ENOMEM || a->text.err) return err_nomem(&s->error, strlen(text), "the text");
    if (!rc && !a->prompt.len) rc = err_set(&s->error, STENO_EARG, "there are no words in the text to align");
    return rc;
}

/* The range that is asked for. */
static struct aligner_range range_of(const steno_transcribe_params *p)
{
    const int64_t from = p->offset_ms * (FBANK_RATE / 1000), some = p->duration_ms * (FBANK_RATE / 1000);
    return (struct aligner_range){ from, some ? from + some : INT64_MAX };
}

/* Makes each line a segment. */
static int put_lines(steno_session *s, const steno_transcribe_params *p, int64_t n)
{
    struct aligner_session *a = aligner_of(s);
    struct result *r = &s->result;
    struct aligner_place to = { .at = (double)p->offset_ms / 1000, .ms = &a->ms, .probability = &a->probability, .text = &r->text,
                        .words = &r->words };
    const char *at = a->text.p ? a->text.p : "", *end = at + a->text.len, *line;
    size_t n_line;
    to.end = to.at + (double)n / FBANK_RATE;
    while (text_next_line(&at, end, &line, &n_line)) {
        struct segment g = { .t0_ms = -1, .t1_ms = -1, .start = NAN, .end = NAN, .text = r->text.len };
        if (spoken_words_find(&a->words, line, n_line)) break;
        buf_add(&r->text, line, n_line);
        buf_add(&r->text, "", 1);
        aligner_words_add(a, line, &to, &g);
        to.mark += 2 * spoken_words_count(&a->words);
        if (r->whole.len) buf_str(&r->whole, "\n");
        buf_add(&r->whole, line, n_line);
        if (!result_status(r)) buf_add(&r->segments, &g, sizeof g); /* added last, so that readers only see complete segments */
        if (!result_status(r)) result_report(r, p->on_segment, p->user);
    }
    return result_status(r) || a->words.kept.err || a->words.word.err ? err_nomem(&s->error, r->text.len, "results") : STENO_OK;
}

int aligner_align(steno_session *s, const steno_source *src, const char *text, const steno_transcribe_params *p)
{
    const struct aligner_range r = range_of(p);
    int64_t n = 0;
    int rc = aligner_check(s, p);
    s->params = p;
    if (!rc) rc = take_text(s, text);
    if (rc) return rc;
    if (!language_is_auto(p->language)) s->result.language = language_code(language_find(p->language));
    aligner_audio_begin(s, src);
    rc = aligner_text_run(s, &r, p, &n);
    s->result.duration_ms = aligner_of(s)->stream.samples / (FBANK_RATE / 1000);
    if (!rc) rc = put_lines(s, p, n);
    const int64_t done_ms = n / (FBANK_RATE / 1000);
    if (!rc && p->on_progress) p->on_progress(p->user, done_ms, done_ms);
    return rc;
}
