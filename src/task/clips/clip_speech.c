/* steno: clips from spans of speech. SPDX-License-Identifier: MIT */
#include "task/clips/clip_speech.h"
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "audio/fbank_stream.h"
#include "base/os.h"
#include "engine/params.h"
#include "engine/task.h"

enum { PER_MS = FBANK_RATE / 1000, PAUSE_MS = 60000, LONGEST_MS = 60000 /* of a span, if unlimited */ };

static int longest_rows(const struct clip_speech *c) { return c->session->model->segment_ctx; } /* 0: of a stream, any number */

/* Samples of the longest clip. */
static int64_t longest(const struct clip_speech *c)
{
    return fbank_samples_of_rows(fbank_bank_of(c->session->model), longest_rows(c));
}

int clip_speech_take(struct clip_speech *c, const steno_transcribe_params *p, steno_error *e)
{
    steno_vad_params own = { .size = sizeof own };
    params_default(STENO_CALL_FIND_SPEECH, &own);
    c->model = p->vad_model;
    if (!c->model) return p->vad ? err_set(e, STENO_EARG, "vad needs vad_model") : STENO_OK;
    if (c->model->task->call != STENO_CALL_FIND_SPEECH)
        return err_set(e, STENO_EARG, "vad_model is a %s model, want one that finds speech", c->model->family->name);
    if (c->model->index_only) return err_set(e, STENO_EARG, "vad_model was opened with index_only: it has no weights");
    if (params_take(&own, p->vad, sizeof own, offsetof(steno_vad_params, user)))
        return err_set(e, STENO_EARG, "steno_vad_params was not filled by steno_vad_params_init");
    if (own.max_segment_ms < 0 && c->model->family->thresholds) own.max_segment_ms = LONGEST_MS;
    vad_search_take(&c->search, c->model, &own);
    return param_check_all(&(struct param_check){ c->model, STENO_CALL_FIND_SPEECH, &own, NULL, e });
}

static void on_span(void *speech, const struct vad_span *v)
{
    struct clip_speech *c = speech;
    buf_add(&c->found, v, sizeof *v);
    result_span(&c->session->result, v, &c->search.p);
}

int clip_speech_begin(struct clip_speech *c, steno_session *s, struct fbank_stream *from)
{
    c->session = s;
    c->from = from;
    c->n = c->at = c->begin = c->end = c->rest = 0;
    c->ended = c->pieces = c->piece_at = c->failed = 0;
    c->ahead = 0;
    c->taken = 0;
    buf_clear(&c->found);
    if (c->finder && vad_finder_model(c->finder) != c->model) {
        vad_finder_close(c->finder);
        c->finder = NULL;
    }
    const int rc = c->finder ? STENO_OK : vad_finder_open(&c->finder, c->model, s->batch->team, &s->error);
    if (rc) return rc;
    const size_t n_levels = (size_t)(longest(c) / FBANK_HOP) + 1;
    if (!c->level) c->level = malloc(n_levels * sizeof *c->level);
    if (!c->level) return err_nomem(&s->error, n_levels * sizeof *c->level, "audio");
    vad_search_begin(&c->search, on_span, c);
    vad_finder_begin(c->finder, &c->search);
    return STENO_OK;
}

void clip_speech_close(struct clip_speech *c)
{
    vad_finder_close(c->finder);
    buf_free(&c->found);
    free(c->pcm);
    free(c->level);
    *c = (struct clip_speech){ 0 };
}

/* ---- audio ---- */

/* Drops audio before the earliest possible start of a future span. Merging keeps pauses in memory, up to PAUSE_MS. */
static void pcm_drop(struct clip_speech *c)
{
    const steno_vad_params *p = &c->search.p;
    const int64_t read_to = c->at + c->n, most = (p->merge_ms + vad_search_longest_ms(&c->search) + PAUSE_MS) * PER_MS;
    int64_t from = vad_search_floor_ms(&c->search) * PER_MS;
    if (p->merge_ms && read_to - from > most) {
        vad_spans_hasten(&c->search.spans);
        from = read_to - most;
    }
    if (from > read_to) from = read_to;
    if (from <= c->at) return;
    c->n = read_to - from;
    memmove(c->pcm, c->pcm + (from - c->at), (size_t)(c->n + c->ahead) * sizeof *c->pcm);
    c->at = from;
}

static int pcm_room(struct clip_speech *c)
{
    if (c->cap - c->n - c->ahead >= FBANK_STREAM_CHUNK) return STENO_OK;
    const int64_t cap = c->cap ? 2 * c->cap : 8 * FBANK_STREAM_CHUNK;
    float *pcm = realloc(c->pcm, (size_t)cap * sizeof *pcm);
    if (!pcm) return err_nomem(&c->session->error, (size_t)cap * sizeof *pcm, "audio");
    c->pcm = pcm;
    c->cap = cap;
    return STENO_OK;
}

/* Reads a piece of a second after those read so far, or the part of it that arrives quickly. May return STREAM_WAITS */
static int read_piece(struct clip_speech *c)
{
    int64_t n = 0;
    int rc = pcm_room(c);
    while (!rc && n < FBANK_STREAM_CHUNK && !(n && c->from->is_slow)) {
        float *pcm = c->pcm + c->n + c->ahead + n;
        const int64_t got = fbank_stream_samples(c->from, pcm, FBANK_STREAM_CHUNK - n, &c->session->error);
        if (got < 0) rc = (int)got;
        if (got <= 0) break;
        n += got;
    }
    if (n) c->piece[c->pieces++] = n;
    c->ahead += n;
    return rc;
}

/* Reads pieces ahead, as many as threads can share, and computes their features. Does not wait for a slow source. May return
 * STREAM_WAITS */
static int read_ahead(struct clip_speech *c)
{
    int rc = c->failed, had = -1;
    c->pieces = c->piece_at = 0;
    while (!rc && had < c->pieces && c->pieces < vad_finder_gathers(c->finder) && !(c->pieces && c->from->is_slow)) {
        had = c->pieces;
        rc = read_piece(c);
    }
    if (rc == STENO_ECANCELED || !c->pieces) return rc;
    c->failed = rc == STREAM_WAITS ? STENO_OK : rc; /* the pieces are processed first */
    const int64_t t = os_now_ns();
    vad_finder_front(c->finder, c->pcm + c->n, c->piece, c->pieces);
    c->session->timings.vad_us += (os_now_ns() - t) / 1000;
    return STENO_OK;
}

/* Processes the next piece of audio. May return STREAM_WAITS */
static int listen(struct clip_speech *c)
{
    steno_error *e = &c->session->error;
    pcm_drop(c);
    if (c->taken < c->found.len) return STENO_OK; /* a span was completed early */
    int rc = c->piece_at < c->pieces ? STENO_OK : read_ahead(c);
    if (rc) return rc;
    const int64_t got = c->piece_at < c->pieces ? c->piece[c->piece_at++] : 0;
    c->n += got;
    c->ahead -= got;
    c->ended = !got;
    const int64_t t = os_now_ns();
    rc = got ? vad_finder_search(c->finder, e) : vad_finder_end(c->finder, e);
    c->session->timings.vad_us += (os_now_ns() - t) / 1000;
    c->session->timings.n_vad++;
    if (!rc && (c->found.err || c->session->result.spans.err)) rc = err_nomem(e, c->found.len, "spans");
    return rc;
}

/* ---- clips ---- */

/* Takes the next span. @return 0: there is none */
static int span_take(struct clip_speech *c)
{
    if (c->taken == c->found.len) return 0;
    const struct vad_span *v = (const struct vad_span *)(const void *)(c->found.p + c->taken);
    c->taken += sizeof *v;
    c->begin = c->end = v->t0_ms * PER_MS;
    c->rest = v->t1_ms * PER_MS < c->at + c->n ? v->t1_ms * PER_MS : c->at + c->n;
    if (c->begin < c->at) c->begin = c->end = c->rest; /* the span began in a pause that was too long to keep */
    if (c->taken < c->found.len) return 1;
    buf_clear(&c->found);
    c->taken = 0;
    return 1;
}

/* Takes the next clip of the span, at most as long as fits. @return 0: the span is finished */
static int clip_take(struct clip_speech *c)
{
    const int64_t n = c->rest - c->end, most = longest(c);
    c->begin = c->end;
    if (n <= 0) return 0;
    c->end = c->rest;
    if (!most || n <= most || fbank_stream_rows_of(c->from, n) <= longest_rows(c)) return 1;
    level_measure(c->level, c->pcm + (c->begin - c->at), most / FBANK_HOP, c->session->batch->team);
    c->end = c->begin + level_cut(c->level, most / FBANK_HOP, most / FBANK_HOP) * FBANK_HOP;
    return 1;
}

int clip_speech_gather(struct clip_speech *c, int *has)
{
    for (;;) {
        *has = c->end > c->begin || clip_take(c);
        if (*has) return STENO_OK;
        if (span_take(c)) continue;
        if (c->ended) return STENO_OK;
        const int rc = listen(c);
        if (rc) return rc;
    }
}

const float *clip_speech_pcm(const struct clip_speech *c, int64_t *n)
{
    *n = c->end - c->begin;
    return c->pcm + (c->begin - c->at);
}

void clip_speech_pass(struct clip_speech *c)
{
    c->begin = c->end;
}

void clip_speech_fill(struct clip_speech *c, float *out, size_t ld)
{
    int64_t n;
    const float *pcm = clip_speech_pcm(c, &n);
    fbank_stream_fill(c->from, out, ld, pcm, n);
    clip_speech_pass(c);
}
