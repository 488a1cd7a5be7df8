/* steno: a forced aligner: the words of transcripts. SPDX-License-Identifier: MIT
 *
 * Each segment is a text with its own audio. Segments that follow each other share a run of the networks, also those of several
 * transcripts. A transcript gets its words when all its segments have them. One that fails keeps its own, and the others go on. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "task/aligner/aligner_session.h"

/* A transcript. */
struct realigned {
    struct align_result *of;
    struct buf segments, words;
    size_t n_text;           /* bytes of its texts before the call */
    int n, settled;          /* segments; those at its beginning that have their words */
    int64_t done_ms;         /* reported progress */
};

struct realign {
    steno_session *s;
    struct realigned *t;     /* [n] */
    int n, at, done;         /* transcripts; the one whose segments are added; those before `done` have ended */
    int in_run;              /* the networks run, for all transcripts of the run */
    int stopped;             /* a should_abort ends the work at hand: the run, or the transcript `at` */
    steno_transcribe_params scope; /* those of the work at hand: should_abort */
};

static struct segment *segment_at(const struct realigned *t, int i) { return (struct segment *)(void *)t->segments.p + i; }

/* ---- the end of a transcript */

/* The transcript stays as it was. The reason is the session's error. */
static void fail(struct realign *j, struct realigned *t, int rc)
{
    struct result *r = t->of->r;
    if (t->of->status) return;
    t->of->status = rc;
    t->of->error = j->s->error;
    r->text.len = t->n_text;
    r->text.err = 0;
}

static void finish(struct realign *j, struct realigned *t)
{
    struct result *r = t->of->r;
    const steno_transcribe_params *p = &t->of->p;
    if (t->of->status || !r) return;
    if (t->words.err || result_status(r)) {
        fail(j, t, err_nomem(&j->s->error, t->words.len, "words"));
        return;
    }
    if (r->segments.len) memcpy(r->segments.p, t->segments.p, r->segments.len);
    const struct buf old = r->words;
    r->words = t->words;
    t->words = old;
    if (p->on_progress) p->on_progress(p->user, r->duration_ms, r->duration_ms);
}

/* ---- requests to stop */

static int stop_asked(const struct realigned *t)
{
    const steno_transcribe_params *p = &t->of->p;
    return p->should_abort && p->should_abort(p->user);
}

static struct realigned *transcript_of(const struct realign *j, const struct aligner_clip *c) { return &j->t[c->transcript]; }

/* Do all transcripts of the run ask for its end? Those that have failed are not asked. */
static int run_stop_asked(const struct realign *j)
{
    const struct aligner_batch *b = aligner_batch_of(j->s->batch);
    const struct realigned *last = NULL;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct realigned *t = transcript_of(j, &b->clip[i]);
        if (t != last && !t->of->status && !stop_asked(t)) return 0;
        last = t;
    }
    return 1;
}

/* Once true, it stays true until the work at hand has ended. */
static int should_abort(void *user)
{
    struct realign *j = user;
    if (!j->stopped) j->stopped = j->in_run ? run_stop_asked(j) : stop_asked(&j->t[j->at]);
    return j->stopped;
}

/* ---- segments */

/* Finds the words in the text of a segment. */
static int words_find(const struct realign *j, const struct realigned *t, int i)
{
    struct aligner_session *a = aligner_of(j->s);
    buf_clear(&a->text);
    buf_str(&a->text, t->of->r->text.p + segment_at(t, i)->text); /* the results' texts move while words are added */
    const int failed = a->text.err || spoken_words_find(&a->words, a->text.p, a->text.len);
    return failed ? err_nomem(&j->s->error, a->text.len, "the text") : STENO_OK;
}

/* Reports progress up to the end of a segment: less than the duration, which is reported at the end. */
static void progress(struct realigned *t, const struct segment *g)
{
    const steno_transcribe_params *p = &t->of->p;
    const int64_t at = llround(g->end * 1000);
    if (!p->on_progress || at <= t->done_ms || at >= t->of->r->duration_ms) return;
    t->done_ms = at;
    p->on_progress(p->user, at, t->of->r->duration_ms);
}

/* Writes the words of the next segment, whose times are in `of`: n samples, marks from `mark` on. of NULL: it has no words. */
static int settle(struct realign *j, struct realigned *t, const struct aligner_place *of, int64_t n)
{
    const int i = t->settled++;
    struct segment *g = segment_at(t, i);
    g->n_words = 0;
    g->first_word = t->words.len / sizeof(struct word);
    g->word_source = NULL;
    const int rc = of ? words_find(j, t, i) : STENO_OK;
    if (rc) return rc;
    if (of) {
        struct aligner_place to = *of;
        to.at = g->start;
        to.end = g->start + (double)n / FBANK_RATE;
        to.text = &t->of->r->text;
        to.words = &t->words;
        aligner_words_add(aligner_of(j->s), aligner_of(j->s)->text.p, &to, g);
    }
    progress(t, g);
    return STENO_OK;
}

/* ---- runs */

static void run_begin(const struct realign *j)
{
    aligner_run_begin(j->s);
    aligner_text_begin(aligner_of(j->s));
}

/* Settles the segments of a transcript before `to`, whose clips begin with number *k. */
static void settle_all(struct realign *j, int transcript, int to, uint32_t *k)
{
    struct realigned *t = &j->t[transcript];
    const struct aligner_session *a = aligner_of(j->s);
    const struct aligner_batch *b = aligner_batch_of(j->s->batch);
    while (!t->of->status && t->settled < to) {
        const struct aligner_clip *c = *k < b->n && b->clip[*k].transcript == transcript && b->clip[*k].segment == t->settled ?
                                       &b->clip[(*k)++] : NULL;
        const struct aligner_place of = { .ms = &a->clip_ms, .probability = &a->clip_probability, .mark = c ? c->mark : 0 };
        const int rc = settle(j, t, c ? &of : NULL, c ? c->n : 0);
        if (rc) fail(j, t, rc);
    }
    while (*k < b->n && b->clip[*k].transcript == transcript) ++*k; /* of one that failed */
}

/* Runs the clips, unless all their transcripts have failed. */
static void run(struct realign *j)
{
    const struct aligner_batch *b = aligner_batch_of(j->s->batch);
    uint32_t n_failed = 0;
    while (n_failed < b->n && transcript_of(j, &b->clip[n_failed])->of->status) n_failed++;
    if (n_failed == b->n) return;
    j->in_run = 1;
    const int rc = aligner_run(j->s);
    j->in_run = j->stopped = 0;
    for (uint32_t i = 0; rc && i < b->n; i++) fail(j, transcript_of(j, &b->clip[i]), rc);
}

/* Runs the clips, and settles all segments before segment `to` of the current transcript. @return its status */
static int run_end(struct realign *j, int to)
{
    uint32_t k = 0;
    run(j);
    for (; j->done < j->at; j->done++) {
        settle_all(j, j->done, j->t[j->done].n, &k);
        finish(j, &j->t[j->done]);
    }
    settle_all(j, j->at, to, &k);
    run_begin(j);
    return j->t[j->at].of->status;
}

/* A segment that is longer than a clip. */
static int chain_run(struct realign *j, int i, const struct aligner_range *r)
{
    struct aligner_session *a = aligner_of(j->s);
    struct realigned *t = &j->t[j->at];
    const struct aligner_place of = { .ms = &a->ms, .probability = &a->probability };
    int64_t n = 0;
    int rc = run_end(j, i);
    if (!rc) rc = words_find(j, t, i);
    if (!rc) rc = aligner_text_add(j->s);
    if (!rc) rc = aligner_text_run(j->s, r, NULL, &n);
    if (!rc) rc = settle(j, t, n ? &of : NULL, n);
    run_begin(j);
    return rc;
}

/* Adds a segment to the run: the words in a->words, with the audio pcm[n]. */
static int run_join(struct realign *j, int i, const float *pcm, int64_t n)
{
    struct aligner_session *a = aligner_of(j->s);
    for (int is_alone = 0;; is_alone = 1) {
        struct aligner_clip c = { .words = { aligner_text_words(a), 0 }, .n = n, .transcript = j->at, .segment = i };
        int fits = 0, rc = aligner_text_add(j->s);
        c.words.n = aligner_text_words(a) - c.words.first;
        if (!rc) rc = aligner_run_add(j->s, pcm, &c, &fits);
        if (rc || fits || is_alone) return rc;
        rc = run_end(j, i);
        if (!rc) rc = words_find(j, &j->t[j->at], i);
        if (rc) return rc;
    }
}

static int segment_add(struct realign *j, int i)
{
    const struct realigned *t = &j->t[j->at];
    const struct segment *g = segment_at(t, i);
    const struct aligner_range r = { llround(g->start * FBANK_RATE), llround(g->end * FBANK_RATE) };
    const float *pcm;
    int64_t n;
    int rc = words_find(j, t, i);
    if (rc || !spoken_words_count(&aligner_of(j->s)->words) || r.from < 0 || r.to <= r.from) return rc;
    if (r.to - r.from > aligner_most_samples(j->s->model)) return chain_run(j, i, &r);
    rc = aligner_audio_get(j->s, r.from, r.to, &pcm, &n);
    return rc || !n ? rc : run_join(j, i, pcm, n);
}

/* ---- transcripts */

static int transcript_begin(struct realign *j, struct realigned *t, struct align_result *of)
{
    struct result *r = of->r;
    t->of = of;
    int rc = of->status ? of->status : aligner_check(j->s, &of->p);
    if (!rc && r && (r->sentences.len || r->marks.len))
        rc = err_set(&j->s->error, STENO_EARG, "the transcript has been punctuated: align it before that");
    if (!rc && r) buf_add(&t->segments, r->segments.p, r->segments.len);
    if (t->segments.err) rc = err_nomem(&j->s->error, r->segments.len, "segments");
    t->n_text = r ? r->text.len : 0;
    t->n = r ? result_segments(r) : 0;
    return rc;
}

static void transcript_add(struct realign *j)
{
    struct realigned *t = &j->t[j->at];
    int rc = STENO_OK;
    if (t->of->status || !t->of->r) return;
    aligner_audio_begin(j->s, t->of->src);
    for (int i = 0; i < t->n && !rc; i++) {
        if (session_should_stop(j->s)) rc = err_set(&j->s->error, STENO_ECANCELED, "canceled");
        else rc = segment_add(j, i);
    }
    j->stopped = 0;
    if (rc) fail(j, t, rc);
}

static void align_all(struct realign *j)
{
    run_begin(j);
    for (j->at = 0; j->at < j->n; j->at++) transcript_add(j);
    j->at = j->n - 1;
    run_end(j, j->t[j->at].n);
    finish(j, &j->t[j->at]);
}

static int nomem(steno_session *s, struct align_result *results, int n)
{
    const int rc = err_nomem(&s->error, (size_t)n * sizeof(struct realigned), "transcripts");
    for (int i = 0; i < n; i++) {
        if (results[i].status) continue;
        results[i].status = rc;
        results[i].error = s->error;
    }
    return rc;
}

int aligner_align_results(steno_session *s, struct align_result *results, int n)
{
    struct realign j = { .s = s, .n = n };
    int first = STENO_OK, has_audio = 0;
    j.t = calloc((size_t)n, sizeof *j.t);
    if (!j.t) return nomem(s, results, n);
    for (int i = 0; i < n; i++) {
        struct align_result *of = &results[i];
        const int rc = transcript_begin(&j, &j.t[i], of);
        if (rc && !of->status) of->error = s->error;
        of->status = rc;
        has_audio |= !rc && of->r;
    }
    j.scope = (steno_transcribe_params){ .should_abort = should_abort, .user = &j };
    s->params = &j.scope;
    s->stops_parts = 1;
    if (has_audio) align_all(&j);
    s->stops_parts = 0;
    for (int i = 0; i < n; i++) {
        buf_free(&j.t[i].segments);
        buf_free(&j.t[i].words);
        if (first || !results[i].status) continue;
        first = results[i].status;
        s->error = results[i].error;
    }
    free(j.t);
    return first;
}
