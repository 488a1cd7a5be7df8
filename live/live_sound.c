/* steno: the audio of a live transcript: what is kept of it, and where there is speech. SPDX-License-Identifier: MIT */
#include "live_sound.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- audio, kept as long as it is needed ------------------------------------------------------------------------------------- */

enum { RATE = 16000, HOP = RATE / 100, WIDTH = 10 /* hops */ };

int kept_add(struct kept *k, const float *pcm, int64_t n)
{
    if (k->n + n > k->cap) {
        const int64_t cap = 2 * (k->n + n);
        float *more = realloc(k->pcm, (size_t)cap * sizeof *more);
        if (!more) return STENO_ENOMEM;
        k->pcm = more;
        k->cap = cap;
    }
    memcpy(k->pcm + k->n, pcm, (size_t)n * sizeof *pcm);
    k->n += n;
    return STENO_OK;
}

int64_t kept_end(const struct kept *k)
{
    return k->at + k->n;
}

const float *kept_from(const struct kept *k, int64_t at)
{
    return k->pcm + (at - k->at);
}

void kept_drop(struct kept *k, int64_t before)
{
    if (before - k->at < RATE) return; /* saves moving memory for every piece */
    k->n -= before - k->at;
    memmove(k->pcm, k->pcm + (before - k->at), (size_t)k->n * sizeof *k->pcm);
    k->at = before;
}

void kept_clear(struct kept *k, int64_t at)
{
    k->n = 0;
    k->at = at;
}

static double power(const float *pcm, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)pcm[i] * pcm[i];
    return sum;
}

int64_t kept_quietest(const struct kept *k, int64_t from, int64_t end)
{
    double least = -1;
    int64_t best = end;
    for (int64_t at = end - WIDTH * HOP; at >= from; at -= HOP) {
        const double p = power(kept_from(k, at), WIDTH * HOP);
        if (least >= 0 && p >= least) continue;
        least = p;
        best = at + WIDTH * HOP == end && p == 0 ? end : at + WIDTH * HOP / 2;
    }
    return best;
}

/* Each sample minus most of the one before: this weakens hum and rumble, which have only low frequencies, against speech. */
double kept_loudest(const struct kept *k, int64_t from, int64_t end)
{
    enum { FRAME = 2 * HOP };
    static const double EMPHASIS = 0.97;
    double loudest = 0;
    for (int64_t at = from; at < end; at += FRAME) {
        const int64_t n = end - at < FRAME ? end - at : FRAME;
        const float *pcm = kept_from(k, at);
        double sum = 0;
        for (int64_t i = 1; i < n; i++) sum += (pcm[i] - EMPHASIS * pcm[i - 1]) * (pcm[i] - EMPHASIS * pcm[i - 1]);
        if (sum > loudest) loudest = sum;
    }
    return loudest;
}

void kept_free(struct kept *k)
{
    free(k->pcm);
    *k = (struct kept){ 0 };
}

static int64_t part_read(void *user, float *pcm, int64_t n)
{
    struct kept_part *p = user;
    const int64_t left = p->n - p->at, some = n < left ? n : left;
    memcpy(pcm, p->pcm + p->at, (size_t)some * sizeof *pcm);
    p->at += some;
    return some;
}

static int part_rewind(void *user)
{
    ((struct kept_part *)user)->at = 0;
    return STENO_OK;
}

steno_source kept_source(struct kept_part *p)
{
    return (steno_source){ part_read, part_rewind, p };
}

/* ---- voice activity detection ------------------------------------------------------------------------------------------------ */

static void finder_edge(void *user, const steno_span *s)
{
    struct finder *f = user;
    if (f->n_edges == f->cap) {
        const size_t cap = f->cap ? 2 * f->cap : 16;
        struct edge *more = realloc(f->edge, cap * sizeof *more);
        if (!more) {
            f->rc = STENO_ENOMEM;
            return;
        }
        f->edge = more;
        f->cap = cap;
    }
    const int64_t off = f->begin / (RATE / 1000);
    f->edge[f->n_edges++] = (struct edge){ s->t0_ms < 0 ? -1 : off + s->t0_ms, s->t1_ms < 0 ? -1 : off + s->t1_ms };
}

static int64_t finder_read(void *user, float *pcm, int64_t n)
{
    struct finder *f = user;
    const int64_t left = kept_end(f->sound) - f->given, some = n < left ? n : left;
    if (!some) return f->is_over ? 0 : STENO_SOURCE_WAIT;
    memcpy(pcm, kept_from(f->sound, f->given), (size_t)some * sizeof *pcm);
    f->given += some;
    return some;
}

static void finder_done(void *user, steno_session *s, int status)
{
    struct finder *f = user;
    (void)s;
    if (status && !f->rc) f->rc = status;
}

static int finder_submit(struct finder *f, int64_t at)
{
    const steno_source src = { finder_read, NULL, f };
    steno_request_params r;
    steno_request_params_init(&r);
    r.find_speech = &f->params;
    f->begin = f->given = at;
    f->n_edges = 0;
    f->is_over = 0;
    return steno_batch_submit(f->batch, f->session, &src, &r);
}

int finder_open(struct finder *f, const struct kept *sound, const steno_model *vad, steno_team *team, const steno_vad_params *p,
                steno_error *e)
{
    steno_batch_params bp;
    steno_session_params sp;
    f->sound = sound;
    if (p) f->params = *p;
    else steno_vad_params_init(&f->params);
    f->params.user = f;
    f->params.on_event = finder_edge;
    f->params.streaming = 1;
    steno_batch_params_init(&bp);
    bp.max_windows = 1;
    bp.on_done = finder_done;
    bp.user = f;
    int rc = steno_batch_open(&f->batch, vad, team, &bp, e);
    steno_session_params_init(&sp);
    sp.batch = f->batch;
    if (!rc) rc = steno_session_open(&f->session, vad, team, &sp, e);
    if (!rc) rc = finder_submit(f, 0);
    if (rc && f->session && !e->text[0]) snprintf(e->text, sizeof e->text, "%s", steno_last_error(f->session));
    return rc;
}

void finder_close(struct finder *f)
{
    steno_session_close(f->session);
    steno_batch_close(f->batch);
    free(f->edge);
}

int finder_begin(struct finder *f, int64_t at)
{
    if (!f->batch) return STENO_OK;
    if (!f->is_over) { /* end the current request: what it finds is dropped */
        f->given = kept_end(f->sound); /* it reads no more */
        const int rc = finder_look(f, 1);
        if (rc) return rc;
    }
    return finder_submit(f, at);
}

int finder_look(struct finder *f, int is_over)
{
    f->n_edges = 0;
    f->is_over = is_over;
    if (!f->batch) return STENO_OK;
    steno_batch_wake(f->batch);
    if (is_over) steno_batch_run(f->batch);
    else steno_batch_run_as(f->batch, STENO_RUN_POLL);
    return f->rc;
}
