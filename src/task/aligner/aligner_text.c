/* steno: a forced aligner: the whole text. SPDX-License-Identifier: MIT
 *
 * Audio that the aligner takes at once is one clip. Longer audio is a chain of clips, of which at most two are held. */
#include "task/aligner/aligner_session.h"

enum { PER_MS = FBANK_RATE / 1000 };

/* Makes room for the times of all marks. */
static int times_begin(steno_session *s)
{
    struct aligner_session *a = aligner_of(s);
    const int32_t none = 0;
    buf_clear(&a->ms);
    buf_clear(&a->probability);
    for (size_t i = 0; i < 2 * aligner_text_words(a) && !a->ms.err && !a->probability.err; i++) {
        buf_add(&a->ms, &none, sizeof none);
        buf_add(&a->probability, &none, sizeof none);
    }
    return a->ms.err || a->probability.err ? err_nomem(&s->error, a->ms.len, "the times of words") : STENO_OK;
}

static struct chain_times times_of(const struct aligner_session *a, const struct aligner_clip *c)
{
    return (struct chain_times){ (const int32_t *)(const void *)a->clip_ms.p, (const float *)(const void *)a->clip_probability.p,
                                 c->words.n, c->n / PER_MS, !c->goes_on };
}

/* Aligns the next clip of a chain. *more: there are others. */
static int clip_run(steno_session *s, struct align_chain *c, const struct aligner_range *r, int *more)
{
    struct aligner_session *a = aligner_of(s);
    const int64_t from = r->from + c->clip.at_ms * PER_MS, most = aligner_most_samples(s->model);
    const float *pcm;
    int64_t n;
    a->keep = r->from + align_chain_from(c) * PER_MS;
    int rc = aligner_audio_get(s, from, r->to - from > most ? from + most + 1 : r->to, &pcm, &n);
    *more = 0;
    if (rc || !n) return rc;
    const int goes_on = n > most;
    const struct aligner_clip clip = { .words = { c->clip.first, c->n - c->clip.first }, .n = goes_on ? most : n, .goes_on = goes_on };
    int fits;
    aligner_run_begin(s);
    rc = aligner_run_add(s, pcm, &clip, &fits);
    if (!rc) rc = aligner_run(s);
    if (rc) return rc;
    const struct chain_times t = times_of(a, aligner_batch_of(s->batch)->clip);
    *more = align_chain_take(c, &t);
    return *more < 0 ? err_nomem(&s->error, t.n * sizeof *t.ms, "the times of words") : STENO_OK;
}

/* Samples of the range that have been read. */
static int64_t samples_of(const struct aligner_session *a, const struct aligner_range *r)
{
    const int64_t end = r->to < a->stream.samples ? r->to : a->stream.samples;
    return end > r->from ? end - r->from : 0;
}

int aligner_text_run(steno_session *s, const struct aligner_range *r, const steno_transcribe_params *p, int64_t *n)
{
    struct aligner_session *a = aligner_of(s);
    int rc = times_begin(s), more = 1;
    struct align_chain c = align_chain_of((int32_t *)(void *)a->ms.p, (float *)(void *)a->probability.p, aligner_text_words(a), &a->kept);
    int64_t done_ms = 0;
    while (!rc && more) {
        if (c.clip.at_ms > done_ms && p && p->on_progress) p->on_progress(p->user, c.clip.at_ms, 0);
        if (c.clip.at_ms > done_ms) done_ms = c.clip.at_ms;
        if (session_should_stop(s)) rc = err_set(&s->error, STENO_ECANCELED, "canceled");
        else rc = clip_run(s, &c, r, &more);
    }
    a->keep = INT64_MAX;
    if (!rc && r->to == INT64_MAX) rc = aligner_audio_end(s);
    *n = samples_of(a, r);
    if (!*n) buf_clear(&a->ms);
    return rc;
}
