/* steno: from audio and the rows of a VAD network to spans of speech. SPDX-License-Identifier: MIT */
#include "task/vad/vad_finder.h"
#include "model/parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "engine/batch.h"

/* ---- from rows to spans ------------------------------------------------------------------------------------------------------- */

enum { CHUNK_OF_FILES = 60000, CHUNK_OF_STREAMS = 200, CHUNK_LIVE = 60, PER_MS = FBANK_RATE / 1000 };

static void votes_take(struct vad_params *q, const struct vad_params *own, const steno_vad_params *p)
{
    const int is_live = p->schedule == STENO_VAD_SCHEDULE_LIVE;
    *q = *own;
    q->schedule = p->max_end_silence_ms >= 0 ? VAD_FIXED : is_live ? VAD_LIVE : VAD_FILES;
    q->streaming = p->streaming;
    q->chunk_ms = p->chunk_size_ms ? p->chunk_size_ms : is_live ? CHUNK_LIVE : p->streaming ? CHUNK_OF_STREAMS : CHUNK_OF_FILES;
    if (p->max_end_silence_ms >= 0) q->max_end_silence_ms = (int)p->max_end_silence_ms;
    if (p->max_segment_ms > 0) q->max_segment_ms = (int)p->max_segment_ms;
    q->threshold = p->threshold;
}

static void thresholds_take(struct hysteresis_params *q, const struct hysteresis_params *own, const steno_vad_params *p)
{
    *q = *own;
    q->rules = p->rules == STENO_VAD_RULES_CPP ? HYSTERESIS_LAST_PAUSE : HYSTERESIS_LONGEST_PAUSE;
    if (!isnan(p->threshold)) q->threshold = p->threshold;
    q->neg_threshold = !isnan(p->neg_threshold) ? p->neg_threshold : fmax(q->threshold - (own->threshold - own->neg_threshold), 0.01);
    if (p->min_speech_ms >= 0) q->min_speech = p->min_speech_ms * PER_MS;
    if (p->max_end_silence_ms >= 0) q->min_silence = p->max_end_silence_ms * PER_MS;
    if (p->speech_pad_ms >= 0) q->pad = p->speech_pad_ms * PER_MS;
    q->streaming = p->streaming;
    if (p->max_segment_ms <= 0) return;
    const int64_t ms = q->rules == HYSTERESIS_LAST_PAUSE ? p->max_segment_ms / 1000 * 1000 : p->max_segment_ms; /* in whole seconds */
    q->max_speech = ms * PER_MS - q->frame - 2 * q->pad;
}

void vad_search_take(struct vad_search *h, const steno_model *m, const steno_vad_params *p)
{
    const struct vad_model *own = vad_model_of(m);
    h->p = *p;
    h->frame = own->frame;
    h->by_thresholds = m->family->thresholds != NULL;
    if (h->by_thresholds) thresholds_take(&h->by.thresholds.rules, m->family->thresholds, p);
    else votes_take(&h->by.votes.rules, &own->votes, p);
}

static void on_event(void *search, const struct vad_event *e)
{
    struct vad_search *h = search;
    if (h->p.on_event && !e->is_cut)
        h->p.on_event(h->p.user, &(steno_span){ sizeof(steno_span), 0, e->opens ? e->span.t0_ms : -1, e->span.t1_ms });
    if (e->span.t1_ms >= 0) vad_spans_add(&h->spans, &e->span);
}

static void on_stretch(void *search, const struct stretch *s)
{
    struct vad_search *h = search;
    vad_spans_add(&h->spans, &(struct vad_span){ s->t0 / PER_MS, s->t1 / PER_MS });
}

static void on_edge(void *search, const struct stretch *s, int opens)
{
    const struct vad_search *h = search;
    if (h->p.on_event)
        h->p.on_event(h->p.user, &(steno_span){ sizeof(steno_span), 0, opens ? s->t0 / PER_MS : -1, s->t1 < 0 ? -1 : s->t1 / PER_MS });
}

void vad_search_begin(struct vad_search *h, void (*put)(void *user, const struct vad_span *s), void *user)
{
    const int64_t least = h->by_thresholds || h->p.min_speech_ms < 0 ? 0 : h->p.min_speech_ms; /* the thresholds apply their own minimum */
    h->frames = 0;
    const struct hysteresis_listener listener = { on_stretch, on_edge, h };
    if (h->by_thresholds) hysteresis_begin(&h->by.thresholds.at, &h->by.thresholds.rules, listener);
    else vad_begin(&h->by.votes.at, &h->by.votes.rules, (struct vad_listener){ on_event, h });
    vad_spans_begin(&h->spans, least, h->p.merge_ms, put, user);
}

/* NAN stays NAN. */
static float sigmoid(float x)
{
    return (float)(1 / (1 + exp(-(double)x)));
}

void vad_search_rows(struct vad_search *h, const float *out, size_t ld, int n)
{
    for (int i = 0; i < n; i++, h->frames++) {
        const float y = out[(size_t)i * ld], p_speech = h->by_thresholds ? sigmoid(y) : 1 - y;
        if (h->p.on_frame) h->p.on_frame(h->p.user, h->frames * h->frame / PER_MS, p_speech);
        if (h->by_thresholds) hysteresis_step(&h->by.thresholds.at, p_speech);
        else vad_step(&h->by.votes.at, y);
    }
}

int64_t vad_search_floor_ms(const struct vad_search *h)
{
    const int64_t floor_ms = h->by_thresholds ? hysteresis_floor(&h->by.thresholds.at) / PER_MS : vad_floor_ms(&h->by.votes.at);
    return vad_spans_floor_ms(&h->spans, floor_ms);
}

int64_t vad_search_longest_ms(const struct vad_search *h)
{
    if (!h->by_thresholds) return h->by.votes.at.p.max_segment_ms;
    return h->p.max_segment_ms > 0 ? h->p.max_segment_ms : 0;
}

void vad_search_passed(struct vad_search *h, int64_t samples)
{
    if (h->by_thresholds) {
        vad_spans_certain(&h->spans, hysteresis_floor(&h->by.thresholds.at) / PER_MS);
    } else {
        vad_advance(&h->by.votes.at, samples);
        vad_spans_certain(&h->spans, vad_floor_ms(&h->by.votes.at));
    }
}

void vad_search_end(struct vad_search *h, int64_t samples)
{
    const int64_t whole = (samples + h->frame - 1) / h->frame * h->frame; /* whisper.cpp counts the zeros that pad the last frame */
    if (h->by_thresholds) hysteresis_end(&h->by.thresholds.at, vad_search_mirrors(h) ? whole : samples);
    else vad_end(&h->by.votes.at, samples);
    vad_spans_end(&h->spans);
}

/* ---- from audio to rows ------------------------------------------------------------------------------------------------------- */

struct vad_finder {
    struct arena arena;
    struct steno_batch *batch; /* used by this finder only */
    struct fbank *fbank;
    struct vad_search *search;
    float *rows; /* [.., fbank_width] features of pieces that are not searched yet */
    struct {
        int64_t rows, samples; /* number of rows; samples pushed up to its end */
    } piece[VAD_FINDER_PIECES];
    int n, at; /* number of pieces, index of the next one */
    int64_t row;
};

static size_t width_of(const struct vad_finder *f)
{
    return (size_t)fbank_width(fbank_bank_of(f->batch->model));
}

/* Number of pieces whose features are computed together. Frames of raw samples are only copied, so they are not gathered. */
int vad_finder_gathers(const struct vad_finder *f)
{
    return team_threads(f->batch->team) > 1 && !fbank_bank_of(f->batch->model)->frame ? VAD_FINDER_PIECES : 1;
}

static int rows_open(struct vad_finder *f, steno_error *e)
{
    fbank_begin(f->fbank);
    const int64_t rows = fbank_rows_for(f->fbank, (int64_t)vad_finder_gathers(f) * FBANK_PUSH, 1) + FBANK_LFR_MAX;
    f->rows = arena_array(&f->arena, (size_t)rows * width_of(f), sizeof *f->rows);
    return f->rows ? STENO_OK : err_nomem(e, (size_t)rows * width_of(f) * sizeof *f->rows, "a search for speech");
}

int vad_finder_open(struct vad_finder **out, const steno_model *m, steno_team *team, steno_error *e)
{
    struct vad_finder *f = calloc(1, sizeof *f);
    *out = NULL;
    if (!f) return err_nomem(e, sizeof *f, "a search for speech");
    arena_init(&f->arena);
    int rc = batch_open(&f->batch, m, team, 1, 1, e);
    if (!rc) rc = fbank_open(&f->fbank, &f->arena, fbank_bank_of(m), team, e);
    if (!rc) rc = rows_open(f, e);
    if (rc) vad_finder_close(f);
    else *out = f;
    return rc;
}

void vad_finder_close(struct vad_finder *f)
{
    if (!f) return;
    fbank_close(f->fbank);
    if (f->batch) f->batch->closed = 1;
    batch_release(f->batch);
    arena_free(&f->arena);
    free(f);
}

const steno_model *vad_finder_model(const struct vad_finder *f)
{
    return f->batch->model;
}

void vad_finder_begin(struct vad_finder *f, struct vad_search *h)
{
    f->search = h;
    f->n = f->at = 0;
    fbank_begin(f->fbank);
    fbank_mirror(f->fbank, vad_search_mirrors(h));
    exec_state_reset(f->batch->exec, 0, 0);
}

/* Runs the n rows in the network's input. */
static int rows_run(struct vad_finder *f, int64_t n, steno_error *e)
{
    const struct plan *p = &f->batch->model->plan[PLAN_ENCODER];
    struct exec *x = f->batch->exec;
    struct run_time spent;
    size_t ld;
    if (!n) return STENO_OK;
    int rc = exec_phases(x, p, &(struct phases){ .end = 1, .n_rows = (uint32_t)n }, NULL, &spent);
    const float *out = rc ? NULL : exec_output(x, p, p->output, 0, (uint32_t)n, &ld);
    if (!rc && !out) rc = STENO_ENOMEM;
    if (rc) return err_set(e, rc, "the voice-activity model could not be run: %s", *x->error.text ? x->error.text : err_status_text(rc));
    vad_search_rows(f->search, out, ld, (int)n);
    return STENO_OK;
}

static float *input_of(const struct vad_finder *f, size_t *ld)
{
    const struct plan *p = &f->batch->model->plan[PLAN_ENCODER];
    *ld = p->slot[p->input].ld;
    return exec_input(f->batch->exec, p);
}

void vad_finder_front(struct vad_finder *f, const float *pcm, const int64_t *piece, int n)
{
    const int64_t before = fbank_samples(f->fbank);
    int64_t all = 0, rows = 0;
    for (int i = 0; i < n; i++) {
        all += piece[i];
        f->piece[i].rows = fbank_rows_for(f->fbank, all, 0) - rows;
        f->piece[i].samples = before + all;
        rows += f->piece[i].rows;
    }
    fbank_push(f->fbank, pcm, all, f->rows, width_of(f));
    f->n = n;
    f->at = 0;
    f->row = 0;
}

int vad_finder_search(struct vad_finder *f, steno_error *e)
{
    size_t ld;
    float *in = input_of(f, &ld);
    const size_t width = width_of(f);
    const int64_t rows = f->piece[f->at].rows, samples = f->piece[f->at++].samples;
    for (int64_t i = 0; i < rows; i++, f->row++) memcpy(in + (size_t)i * ld, f->rows + (size_t)f->row * width, width * sizeof *in);
    const int rc = rows_run(f, rows, e);
    if (!rc) vad_search_passed(f->search, samples);
    return rc;
}

int vad_finder_end(struct vad_finder *f, steno_error *e)
{
    size_t ld;
    float *in = input_of(f, &ld);
    const int64_t samples = fbank_samples(f->fbank);
    const int rc = rows_run(f, fbank_end(f->fbank, in, ld), e);
    if (!rc) vad_search_end(f->search, samples);
    return rc;
}
