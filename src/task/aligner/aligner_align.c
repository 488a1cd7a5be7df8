/* steno: a forced aligner: its calls. SPDX-License-Identifier: MIT
 *
 * All lines of a known text are aligned together. In a result of another session, each segment is a text with its own audio; consecutive
 * segments share a run of the networks. */
#include <math.h>
#include <string.h>
#include "engine/params.h"
#include "task/aligner/aligner_session.h"

static const char source_name[] = "aligner";

/* ---- checks */

static int check(steno_session *s, const steno_transcribe_params *p)
{
    const struct aligner_model *m = aligner_model_of(s->model);
    const int rc = params_check(s, STENO_CALL_ALIGN, p);
    s->params = p;
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

/* Where a line or a segment is written to. */
struct place {
    double at, end;           /* seconds in the file: of its clip */
    const struct buf *ms, *probability; /* of marks; ms empty: no times */
    size_t mark;              /* the first of its marks */
    struct buf *text, *words; /* results */
};

/* Adds the words in a->words, which are those of `text`, to g, and sets the times of g. */
static void put_words(const struct aligner_session *a, const char *text, const struct place *to, struct segment *g)
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
    struct place to = { .at = (double)p->offset_ms / 1000, .ms = &a->ms, .probability = &a->probability, .text = &r->text,
                        .words = &r->words };
    const char *at = a->text.p ? a->text.p : "", *end = at + a->text.len, *line;
    size_t n_line;
    to.end = to.at + (double)n / FBANK_RATE;
    while (text_next_line(&at, end, &line, &n_line)) {
        struct segment g = { .t0_ms = -1, .t1_ms = -1, .start = NAN, .end = NAN, .text = r->text.len };
        if (spoken_words_find(&a->words, line, n_line)) break;
        buf_add(&r->text, line, n_line);
        buf_add(&r->text, "", 1);
        put_words(a, line, &to, &g);
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
    int rc = check(s, p);
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

/* ---- segments of a result */

struct realign {
    steno_session *s;
    const steno_transcribe_params *p;
    struct result *r;
    struct buf segments, words;
    int settled;             /* segments before it have their words */
    int64_t done_ms;         /* reported progress */
};

static struct segment *segment_at(const struct realign *j, int i) { return (struct segment *)(void *)j->segments.p + i; }

/* Finds the words in the text of a segment. */
static int words_find(const struct realign *j, int i)
{
    struct aligner_session *a = aligner_of(j->s);
    buf_clear(&a->text);
    buf_str(&a->text, j->r->text.p + segment_at(j, i)->text); /* the results' texts move while words are added */
    const int failed = a->text.err || spoken_words_find(&a->words, a->text.p, a->text.len);
    return failed ? err_nomem(&j->s->error, a->text.len, "the text") : STENO_OK;
}

/* Reports progress up to the end of a segment: less than the duration, which is reported at the end. */
static void progress(struct realign *j, const struct segment *g)
{
    const int64_t at = llround(g->end * 1000);
    if (!j->p->on_progress || at <= j->done_ms || at >= j->r->duration_ms) return;
    j->done_ms = at;
    j->p->on_progress(j->p->user, at, j->r->duration_ms);
}

/* Writes the words of the next segment, whose times are in `of`: n samples, marks from `mark` on. of NULL: it has no words. */
static int settle(struct realign *j, const struct place *of, int64_t n)
{
    const int i = j->settled++;
    struct segment *g = segment_at(j, i);
    g->n_words = 0;
    g->first_word = j->words.len / sizeof(struct word);
    g->word_source = NULL;
    const int rc = of ? words_find(j, i) : STENO_OK;
    if (rc) return rc;
    if (of) {
        struct place to = *of;
        to.at = g->start;
        to.end = g->start + (double)n / FBANK_RATE;
        to.text = &j->r->text;
        to.words = &j->words;
        put_words(aligner_of(j->s), aligner_of(j->s)->text.p, &to, g);
    }
    progress(j, g);
    return STENO_OK;
}

/* Aligns the segments of the run, and settles all before `to`. */
static int run_end(struct realign *j, int to)
{
    struct aligner_session *a = aligner_of(j->s);
    const struct aligner_batch *b = aligner_batch_of(j->s->batch);
    int rc = b->n ? aligner_run(j->s) : STENO_OK;
    for (uint32_t k = 0; !rc && j->settled < to;) {
        const struct aligner_clip *c = k < b->n && b->clip[k].of == j->settled ? &b->clip[k++] : NULL;
        const struct place of = { .ms = &a->clip_ms, .probability = &a->clip_probability, .mark = c ? c->mark : 0 };
        rc = settle(j, c ? &of : NULL, c ? c->n : 0);
    }
    aligner_run_begin(j->s);
    aligner_text_begin(a);
    return rc;
}

/* A segment that is longer than a clip. */
static int chain_run(struct realign *j, int i, const struct aligner_range *r)
{
    struct aligner_session *a = aligner_of(j->s);
    const struct place of = { .ms = &a->ms, .probability = &a->probability };
    int64_t n = 0;
    int rc = run_end(j, i);
    if (!rc) rc = words_find(j, i);
    if (!rc) rc = aligner_text_add(j->s);
    if (!rc) rc = aligner_text_run(j->s, r, NULL, &n);
    if (!rc) rc = settle(j, n ? &of : NULL, n);
    aligner_run_begin(j->s);
    aligner_text_begin(a);
    return rc;
}

/* Adds a segment to the run: the words in a->words, with the audio pcm[n]. */
static int run_join(struct realign *j, int i, const float *pcm, int64_t n)
{
    struct aligner_session *a = aligner_of(j->s);
    for (int is_alone = 0;; is_alone = 1) {
        struct aligner_clip c = { .words = { aligner_text_words(a), 0 }, .n = n, .of = i };
        int fits = 0, rc = aligner_text_add(j->s);
        c.words.n = aligner_text_words(a) - c.words.first;
        if (!rc) rc = aligner_run_add(j->s, pcm, &c, &fits);
        if (rc || fits || is_alone) return rc;
        rc = run_end(j, i);
        if (!rc) rc = words_find(j, i);
        if (rc) return rc;
    }
}

static int segment_add(struct realign *j, int i)
{
    const struct segment *g = segment_at(j, i);
    const struct aligner_range r = { llround(g->start * FBANK_RATE), llround(g->end * FBANK_RATE) };
    const float *pcm;
    int64_t n;
    int rc = words_find(j, i);
    if (rc || !spoken_words_count(&aligner_of(j->s)->words) || r.from < 0 || r.to <= r.from) return rc;
    if (r.to - r.from > aligner_most_samples(j->s->model)) return chain_run(j, i, &r);
    rc = aligner_audio_get(j->s, r.from, r.to, &pcm, &n);
    return rc || !n ? rc : run_join(j, i, pcm, n);
}

static int align_all(struct realign *j)
{
    const int n = result_segments(j->r);
    int rc = STENO_OK;
    aligner_run_begin(j->s);
    aligner_text_begin(aligner_of(j->s));
    for (int i = 0; i < n && !rc; i++) {
        if (session_should_stop(j->s)) return err_set(&j->s->error, STENO_ECANCELED, "canceled");
        rc = segment_add(j, i);
    }
    if (!rc) rc = run_end(j, n);
    if (!rc && (j->words.err || result_status(j->r))) rc = err_nomem(&j->s->error, j->words.len, "words");
    return rc;
}

int aligner_align_result(steno_session *s, struct result *r, const steno_source *src, const steno_transcribe_params *p)
{
    struct realign j = { .s = s, .p = p, .r = r };
    const size_t n_text = r ? r->text.len : 0;
    int rc = check(s, p);
    if (rc || !r) return rc;
    if (r->sentences.len || r->marks.len)
        return err_set(&s->error, STENO_EARG, "the transcript has been punctuated: align it before that");
    buf_add(&j.segments, r->segments.p, r->segments.len);
    if (j.segments.err) rc = err_nomem(&s->error, r->segments.len, "segments");
    aligner_audio_begin(s, src);
    if (!rc) rc = align_all(&j);
    if (rc) {
        r->text.len = n_text;
        r->text.err = 0;
    } else {
        if (r->segments.len) memcpy(r->segments.p, j.segments.p, r->segments.len);
        const struct buf old = r->words;
        r->words = j.words;
        j.words = old;
        if (p->on_progress) p->on_progress(p->user, r->duration_ms, r->duration_ms);
    }
    buf_free(&j.segments);
    buf_free(&j.words);
    return rc;
}
