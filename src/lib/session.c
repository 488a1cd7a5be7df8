/* steno: sessions: scratch, state and results of one conversation with a model. SPDX-License-Identifier: MIT */
#include "task/ar/ar_task.h"
#include <stdlib.h>
#include <string.h>

void steno_session_params_fill(steno_session_params *p, uint32_t size)
{
    const steno_session_params own = { .max_lanes = 1 };
    params_give(p, size, &own, sizeof own);
}

static int params_of(steno_session_params *own, const steno_session_params *p)
{
    enum { FIRST_SIZE = 8 };
    steno_session_params_init(own);
    if (params_take(own, p, sizeof *own, FIRST_SIZE) || own->max_lanes < 1 || own->max_lanes > MAX_LANES) return STENO_EARG;
    return STENO_OK;
}

static int window_of(const steno_model *m)
{
    return 2 * m->audio_ctx;
}

/* Samples of a clip; 0: the family hears a stream. */
static int64_t clip_of(const steno_model *m)
{
    return m->family->search == SEARCH_CTC ? (int64_t)m->audio_ctx * m->fbank.lfr_n * FBANK_HOP : 0;
}

int64_t steno_session_memory(const steno_model *m, const steno_team *team, const steno_session_params *p)
{
    steno_session_params own;
    if (!m || params_of(&own, p)) return STENO_EARG;
    const int ar = m->family->search == SEARCH_AR;
    size_t n = sizeof(steno_session) + (own.batch ? 0 : batch_memory(m, team, 1, ar ? (uint32_t)own.max_lanes : 1));
    n += model_ops(m) * sizeof(struct op_time);
    n += ar ? mel_stream_memory(&m->mel, window_of(m), team) : fbank_stream_memory(&m->fbank, clip_of(m), team);
    if (m->family->search == SEARCH_VAD) return (int64_t)n;
    n += (size_t)m->n_vocab / 4 + (ar ? 2 * (sizeof(struct window_decoder) + decoder_memory(m, 0)) : batch_ids(m) * sizeof(int32_t));
    return (int64_t)n;
}

int session_ran(steno_session *s, const struct exec *x, int rc)
{
    if (!rc) return STENO_OK;
    if (rc == STENO_ECANCELED) return err_set(&s->error, rc, "canceled");
    return err_set(&s->error, rc, "the model could not be run: %s", *x->error.text ? x->error.text : steno_status_text(rc));
}

int session_should_stop(steno_session *s)
{
    if (atomic_load(&s->cancel)) return 1;
    int stop = s->should_abort && s->should_abort(s->abort_user);
    if (!stop) stop = s->params && s->params->should_abort && s->params->should_abort(s->params->user);
    if (stop) atomic_store(&s->cancel, 1); /* whoever asks next hears the same */
    return stop;
}

/* Asked by the feed between reads. */
static int should_stop(void *user)
{
    return session_should_stop(user);
}

/* What token by token decoding needs. */
static int open_ar(steno_session *s, steno_error *e)
{
    const steno_model *m = s->model;
    const int rc = mel_stream_init(&s->mel_stream, &s->arena, &m->mel, window_of(m), s->batch->team, e);
    if (rc) return rc;
    s->mel_stream.should_stop = should_stop;
    s->mel_stream.user = s;
    s->decoder = arena_array(&s->arena, 2, sizeof *s->decoder);
    for (int i = 0; s->decoder && i < 2; i++)
        if (decoder_init(&s->decoder[i], &s->arena, m, 0)) return err_nomem(e, decoder_memory(m, 0), "a session");
    return s->decoder ? STENO_OK : err_nomem(e, 2 * sizeof *s->decoder, "a session");
}

static int open_rows(steno_session *s, steno_error *e)
{
    const int rc = fbank_stream_init(&s->fbank_stream, &s->arena, &s->model->fbank, clip_of(s->model), s->batch->team, e);
    s->fbank_stream.should_stop = should_stop;
    s->fbank_stream.user = s;
    if (rc || s->model->family->search == SEARCH_VAD) return rc;
    s->ids = arena_array(&s->arena, batch_ids(s->model), sizeof *s->ids);
    return s->ids ? STENO_OK : err_nomem(e, batch_ids(s->model) * sizeof *s->ids, "a session");
}

static int open_parts(steno_session *s, steno_team *team, const steno_session_params *p, steno_error *e)
{
    const steno_model *m = s->model;
    const enum search search = m->family->search;
    int rc = STENO_OK;
    s->batch = p->batch;
    s->own_batch = !p->batch;
    if (s->own_batch) rc = batch_open(&s->batch, m, team, 1, search == SEARCH_AR ? (uint32_t)p->max_lanes : 1, e);
    if (rc) return rc;
    s->batch->n_sessions++;
    s->timings.load_us = m->load_us;
    s->time = arena_array(&s->arena, model_ops(m), sizeof *s->time);
    if (!s->time) return err_nomem(e, model_ops(m) * sizeof *s->time, "a session");
    if (search != SEARCH_VAD && rule_masks_init(&s->masks, &s->arena, m->n_vocab))
        return err_nomem(e, (size_t)m->n_vocab / 4, "a session");
    return search == SEARCH_AR ? open_ar(s, e) : open_rows(s, e);
}

int steno_session_open(steno_session **out, const steno_model *m, steno_team *team, const steno_session_params *p, steno_error *e)
{
    err_clear(e);
    if (!out || !m) return err_set(e, STENO_EARG, "steno_session_open needs a place for the session and a model");
    *out = NULL;
    steno_session_params own;
    if (params_of(&own, p)) return err_set(e, STENO_EARG, "max_lanes is %d, want 1..%d", (int)own.max_lanes, MAX_LANES);
    if (own.batch && own.batch->model != m) return err_set(e, STENO_EARG, "the batch is one of another model");
    if (m->index_only) return err_set(e, STENO_EARG, "the model was opened with index_only: it has no weights");
    steno_session *s = calloc(1, sizeof *s);
    if (!s) return err_nomem(e, sizeof *s, "a session");
    arena_init(&s->arena);
    s->model = m;
    s->selected = &s->result;
    s->generate_len = -1;
    const int rc = open_parts(s, team, &own, e);
    if (rc) {
        steno_session_close(s);
        return rc;
    }
    *out = s;
    return STENO_OK;
}

/* A call that is in line or at work is over, and nobody is told. */
static void leave_line(steno_session *s)
{
    queue_take(s->batch);
    queue_remove(s);
    request_end(s, STENO_ECANCELED);
    atomic_store(&s->place.in_line, 0);
}

/* What the batch knows of the session; afterwards it may be gone. */
static void leave_batch(steno_session *s)
{
    struct steno_batch *b = s->batch;
    if (atomic_load(&s->place.in_line)) leave_line(s);
    if (b->solo == s) b->solo = NULL;
    if (b->heard == s) b->heard = NULL;
    b->n_sessions--;
    if (s->own_batch) b->closed = 1;
}

void steno_session_close(steno_session *s)
{
    if (!s || (s->batch && !session_may_close(s))) return;
    if (s->batch) leave_batch(s);
    mel_stream_close(&s->mel_stream);
    fbank_stream_close(&s->fbank_stream);
    batch_release(s->batch);
    for (int i = 0; s->decoder && i < 2; i++) decoder_free(&s->decoder[i]);
    result_free(&s->result);
    result_free(&s->translation);
    buf_free(&s->request.clips);
    buf_free(&s->request.parts);
    buf_free(&s->generated);
    buf_free(&s->bytes);
    buf_free(&s->text);
    arena_free(&s->arena);
    free(s);
}

const char *steno_last_error(const steno_session *s)
{
    return s ? s->error.text : "no session";
}

void steno_cancel(steno_session *s)
{
    if (!s) return;
    atomic_store(&s->cancel, 1);
    queue_wake(s->batch);
}

void session_ready(steno_session *s)
{
    struct steno_batch *b = s->batch;
    err_clear(&s->error);
    atomic_store(&s->cancel, 0);
    if (b->at_work && !s->entered) return; /* others go on */
    b->solo = s;
    for (uint32_t i = 0; i < b->run.n_lanes; i++) b->run.lane[i].done = 1; /* until lane_rewind puts one to use */
}

void session_forget(steno_session *s)
{
    err_clear(&s->error);
    atomic_store(&s->cancel, 0);
    result_clear(&s->result);
    result_clear(&s->translation);
    s->selected = &s->result;
    s->generate_len = -1;
}

void session_begin(steno_session *s)
{
    struct steno_batch *b = s->batch;
    session_forget(s);
    session_ready(s);
    b->heard = NULL;
    for (uint32_t i = 0; b->decode_slot && i < b->n_windows; i++)
        if (b->decode_slot[i].audio == s) b->decode_slot[i].audio = NULL;
}

/* ---- self-knowledge ---- */

struct op_time *session_time(const steno_session *s, int plan)
{
    struct op_time *t = s->time;
    if (!s->profiling) return NULL;
    for (int i = 0; i < plan; i++) t += s->model->plan[i].n_ops;
    return t;
}

int steno_timings_get(const steno_session *s, steno_timings *t)
{
    if (!s || !t || t->size < sizeof(uint32_t)) return STENO_EARG;
    steno_timings now = s->timings;
    now.source_us = (s->mel_stream.source_ns + s->fbank_stream.source_ns) / 1000;
    now.mel_us = (s->mel_stream.mel_ns + s->fbank_stream.fbank_ns) / 1000;
    const uint32_t n = t->size < sizeof now ? t->size : (uint32_t)sizeof now;
    now.size = n;
    memcpy(t, &now, n);
    return STENO_OK;
}

void steno_timings_reset(steno_session *s)
{
    if (!s || !session_may_change(s)) return;
    s->timings = (steno_timings){ .load_us = s->model->load_us };
    s->mel_stream.source_ns = s->mel_stream.mel_ns = s->fbank_stream.source_ns = s->fbank_stream.fbank_ns = 0;
}

void steno_profile_enable(steno_session *s, int on)
{
    if (s && session_may_change(s)) s->profiling = on;
}

int steno_profile_get(const steno_session *s, int i, const char **label, int64_t *ns, int64_t *calls)
{
    if (!s || i < 0) return STENO_EARG;
    int at = i;
    for (int p = 0; p < s->model->n_plans; p++) {
        const struct plan *plan = &s->model->plan[p];
        if (at >= plan->n_ops) {
            at -= plan->n_ops;
            continue;
        }
        if (label) *label = plan->label[at];
        if (ns) *ns = s->time[i].ns;
        if (calls) *calls = s->time[i].calls;
        return STENO_OK;
    }
    return STENO_EARG;
}
