/* steno-serve: sessions of a model for live audio. SPDX-License-Identifier: MIT */
#include "engines_in.h"
#include <string.h>

static struct slot *slot_of(struct engine *g, const steno_session *s)
{
    for (int i = g->n_work_slots; i < g->n_slots; i++)
        if (g->slot[i].session == s) return &g->slot[i];
    return NULL;
}

enum { RETRY_S = 5 };

/* May another session begin? With the lock; the caller is counted in n_live, as below. @return API_OK or a code */
static int check_limit(const struct engine *g, struct api_error *e)
{
    const struct engines *es = g->es;
    if (es->is_draining) return api_fail(e, API_draining, NULL, "the server is shutting down");
    if (!g->can_transcribe) return api_fail(e, API_invalid_value, "model", "model %s does not transcribe audio", g->model->id);
    if (engines_live(es) <= es->p->live_max) return API_OK;
    e->retry_after_s = RETRY_S;
    return api_fail(e, API_too_many_sessions, NULL, "%d live sessions are open, and no more are accepted; try again later",
                    es->p->live_max);
}

static int is_left(const _Atomic int *stop) { return stop && atomic_load(stop); }

/* Waits until the model is open. @return API_OK or a code */
static int wait_open(struct engine *g, const _Atomic int *stop, struct api_error *e)
{
    struct engines *es = g->es;
    engine_want(g);
    while (!es->is_draining && !is_left(stop) && g->state != ENGINE_OPEN) {
        if (g->state == ENGINE_CLOSED && !g->is_wanted) {
            e->retry_after_s = g->why == API_loading ? RETRY_S : 0;
            return api_fail(e, g->why, NULL, "%s", g->reason);
        }
        pthread_cond_wait(&g->changed, &es->lock);
    }
    if (is_left(stop)) return api_fail(e, API_cancelled, NULL, "the client left");
    return es->is_draining ? api_fail(e, API_draining, NULL, "the server is shutting down") : API_OK;
}

/* One is free: each model has a session for every live session of the server. */
static steno_session *take(struct engine *g)
{
    struct slot *slot = &g->slot[g->n_work_slots];
    while (slot->is_taken) slot++;
    slot->is_taken = 1;
    slot->is_stopped = 0;
    return slot->session;
}

/* The session is over, or did not begin. */
static void live_end(struct engine *g)
{
    g->n_live--;
    g->used_us = loop_now_us();
    pthread_cond_signal(&g->es->for_keeper);
    pthread_cond_broadcast(&g->es->for_end);
}

int engine_session(struct engine *g, steno_session **s, const struct serve_engine **of, const _Atomic int *stop, struct api_error *e)
{
    *s = NULL;
    pthread_mutex_lock(&g->es->lock);
    g->n_live++;
    int code = check_limit(g, e);
    if (code == API_OK) code = wait_open(g, stop, e);
    if (code == API_OK) *s = take(g);
    else live_end(g);
    pthread_mutex_unlock(&g->es->lock);
    *of = &g->e;
    return code;
}

void engine_session_stop(struct engine *g)
{
    pthread_mutex_lock(&g->es->lock);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->es->lock);
}

void engine_session_end(struct engine *g, steno_session *s)
{
    pthread_mutex_lock(&g->es->lock);
    struct slot *slot = slot_of(g, s);
    if (slot && slot->is_taken) {
        slot->is_taken = 0;
        live_end(g);
    }
    pthread_mutex_unlock(&g->es->lock);
}

/* Submits a request of a live session. @return a status */
static int submit(struct engine *g, struct slot *slot, const steno_source *src, const steno_request_params *p)
{
    pthread_mutex_lock(&g->es->lock);
    const int may = slot && !slot->is_stopped;
    if (may) slot->is_running = 1;
    pthread_mutex_unlock(&g->es->lock);
    if (!may) return slot ? STENO_ECANCELED : STENO_EARG;
    const int rc = steno_batch_submit(g->batch, slot->session, src, p);
    pthread_mutex_lock(&g->es->lock);
    if (rc != STENO_OK) slot->is_running = 0;
    if (slot->is_stopped) steno_cancel(slot->session);
    pthread_mutex_unlock(&g->es->lock);
    return rc;
}

int engine_transcribe(struct engine *g, steno_session *s, const steno_source *src, const steno_transcribe_params *p, int priority)
{
    struct slot *slot = slot_of(g, s);
    steno_request_params rp;
    steno_request_params_init(&rp);
    rp.priority = priority;
    rp.transcribe = p;
    const int rc = submit(g, slot, src, &rp);
    if (rc != STENO_OK) return rc;
    pthread_mutex_lock(&g->es->lock);
    while (slot->is_running) pthread_cond_wait(&slot->ended, &g->es->lock);
    const int status = slot->status;
    pthread_mutex_unlock(&g->es->lock);
    return status;
}

/* ---- delay ------------------------------------------------------------------------------------------------------------------- */

void engine_live_delay(struct engine *g, int64_t delay_us)
{
    struct engines *es = g->es;
    pthread_mutex_lock(&es->lock);
    live_delays_add(&es->delays, loop_now_us(), (double)delay_us > es->p->live_delay_s * 1e6);
    pthread_mutex_unlock(&es->lock);
}

int engine_keeps_up(const struct engine *g, struct api_error *e)
{
    struct engines *es = g->es;
    pthread_mutex_lock(&es->lock);
    const int is_late = engines_are_late(es);
    pthread_mutex_unlock(&es->lock);
    if (!is_late) return API_OK;
    e->retry_after_s = LIVE_DELAYS_S;
    return api_fail(e, API_overloaded, NULL, "texts of live sessions are later than %g s, and no more sessions are accepted; try again "
                    "later", es->p->live_delay_s);
}

/* ---- streams ----------------------------------------------------------------------------------------------------------------- */

static int64_t stream_read(void *user, float *pcm, int64_t n)
{
    struct slot *slot = user;
    const int64_t got = slot->from.read(slot->from.user, pcm, n);
    if (got != STENO_SOURCE_WAIT) return got;
    pthread_mutex_lock(&slot->engine->es->lock);
    slot->n_waits++;
    pthread_cond_broadcast(&slot->ended);
    pthread_mutex_unlock(&slot->engine->es->lock);
    return got;
}

int engine_stream_begin(struct engine *g, steno_session *s, const steno_source *src, const steno_request_params *p)
{
    struct slot *slot = slot_of(g, s);
    const steno_source own = { stream_read, NULL, slot };
    if (slot) slot->from = *src;
    return submit(g, slot, &own, p);
}

int engine_stream_run(struct engine *g, steno_session *s, int is_over)
{
    enum { PASSES = 2 }; /* its chunks run between them */
    struct slot *slot = slot_of(g, s);
    if (!slot) return STENO_EARG;
    pthread_mutex_lock(&g->es->lock);
    for (int i = 0; i < PASSES && slot->is_running; i++) {
        const int before = slot->n_waits;
        pthread_mutex_unlock(&g->es->lock);
        steno_batch_wake(g->batch);
        pthread_mutex_lock(&g->es->lock);
        while (slot->is_running && (is_over || slot->n_waits == before)) pthread_cond_wait(&slot->ended, &g->es->lock);
    }
    const int status = slot->is_running ? STENO_OK : slot->status;
    pthread_mutex_unlock(&g->es->lock);
    return status;
}
