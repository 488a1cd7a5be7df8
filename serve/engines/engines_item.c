/* steno-serve: a piece of work: its submission and its end. SPDX-License-Identifier: MIT */
#include "engines_in.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the list ---------------------------------------------------------------------------------------------------------------- */

static void list_add(struct engines *es, struct item *it)
{
    it->before = es->last;
    if (es->last) es->last->next = it;
    else es->first = it;
    es->last = it;
    es->n_active++;
    it->engine->n_items++;
}

static void list_remove(struct engines *es, struct item *it)
{
    if (it->before) it->before->next = it->next;
    else es->first = it->next;
    if (it->next) it->next->before = it->before;
    else es->last = it->before;
}

/* ---- submission -------------------------------------------------------------------------------------------------------------- */

/* @return API_OK, or why no work is accepted now */
static int refusal(struct engines *es, const struct item *it, struct api_error *e)
{
    enum { RETRY_S = 5 };
    const struct engine *g = it->engine;
    if (es->is_draining) return api_fail(e, API_draining, NULL, "the server is shutting down");
    if (queue_waiting(es) >= es->p->queue) {
        e->retry_after_s = queue_retry_s(g);
        return api_fail(e, API_queue_full, NULL, "%d requests wait, and no more are accepted; try again later", es->p->queue);
    }
    if (engine_may_open(g)) return API_OK;
    e->retry_after_s = RETRY_S;
    return api_fail(e, API_loading, NULL, "model %s is not loaded, and models in use leave no memory for it; try again later",
                    g->model->id);
}

int item_submit(struct engine *g, struct item *it, void **internal, struct api_error *e)
{
    struct engines *es = g->es;
    *internal = NULL;
    if (!it) return api_fail(e, API_internal_error, NULL, "out of memory for a request");
    pthread_mutex_lock(&es->lock);
    const int code = refusal(es, it, e);
    if (code == API_OK) {
        *internal = it;
        list_add(es, it);
        engine_want(g);
        pthread_cond_broadcast(&es->for_ingest);
        pthread_cond_signal(&es->for_keeper);
    }
    pthread_mutex_unlock(&es->lock);
    if (code != API_OK) free(it);
    return code;
}

struct item *item_new(struct engine *g, const char *client)
{
    struct item *it = calloc(1, sizeof *it);
    if (!it) return NULL;
    const double own = g->es->p->timeout_s, s = own > 0 ? own : DEFAULT_TIMEOUT_S;
    it->engine = g;
    it->begun_us = loop_now_us();
    it->deadline_us = it->begun_us + (s < 1e9 ? (int64_t)(s * 1e6) : (int64_t)1e15);
    snprintf(it->client, sizeof it->client, "%s", client ? client : "");
    return it;
}

int work_submit(struct work *w, struct api_error *e)
{
    struct stat st;
    struct item *it = item_new(w->engine, w->client);
    w->input = (struct job_input){ 0 };
    w->n_together = 0;
    w->audio_ms = w->ingested_us = w->first_us = 0;
    w->session = NULL;
    w->timings = (steno_timings){ 0 };
    if (it) {
        it->w = w;
        it->priority = w->priority;
        it->bytes = fstat(w->fd, &st) ? 0 : (int64_t)st.st_size;
        w->submitted_us = it->begun_us;
    }
    const int code = item_submit(w->engine, it, &w->internal, e);
    if (code == API_OK) return API_OK;
    if (w->fd >= 0) close(w->fd);
    w->fd = -1;
    return code;
}

/* ---- the end ----------------------------------------------------------------------------------------------------------------- */

static void cancel(struct engine *g, void *const *internal)
{
    if (!g) return; /* it was not submitted */
    pthread_mutex_lock(&g->es->lock);
    if (*internal) item_stop(*internal, API_cancelled);
    pthread_mutex_unlock(&g->es->lock);
}

void work_cancel(struct work *w)
{
    cancel(w->engine, &w->internal);
}

void lm_work_cancel(struct lm_work *w)
{
    cancel(w->engine, &w->internal);
}

/* Its session is free for another one. */
static void leave(struct item *it)
{
    struct engine *g = it->engine;
    if (it->state != ITEM_RUNS) return;
    if (it->slot) it->slot->item = NULL;
    it->slot = NULL;
    if (--g->n_running == 0) g->busy_us += loop_now_us() - g->busy_since_us;
}

/* Why it ended without its results. */
static void explain(struct item *it)
{
    enum { RETRY_S = 10 };
    const double s = (double)(loop_now_us() - it->begun_us) / 1e6;
    struct api_error *e = &it->error;
    switch ((enum api_code)it->stop) {
    case API_OK: api_fail(e, API_internal_error, NULL, "the request ended without a result"); break;
    case API_timeout: api_fail(e, API_timeout, NULL, "the request took more than %.0f s", s); break;
    case API_queue_full:
        api_fail(e, API_queue_full, NULL, "the request waited %.0f s for its turn; try again later", s);
        e->retry_after_s = RETRY_S;
        break;
    case API_draining: api_fail(e, API_draining, NULL, "the server is shutting down"); break;
    case API_cancelled: api_fail(e, API_cancelled, NULL, "the client left"); break;
    default: api_fail(e, (enum api_code)it->stop, NULL, "the request was ended");
    }
}

/* Speed is that of the last minutes. */
static void count_audio(struct engine *g, int64_t ms)
{
    enum { MINUTES_US = 600 * 1000000 };
    g->audio_ms += ms;
    if (g->busy_us < MINUTES_US) return;
    g->audio_ms /= 2;
    g->busy_us /= 2;
}

static void files_close(struct item *it)
{
    struct work *w = it->w;
    input_free(&w->input);
    if (w->fd >= 0) close(w->fd);
    w->fd = -1;
    spool_file_close(it->file);
}

void item_end(struct item *it)
{
    struct engine *g = it->engine;
    struct engines *es = g->es;
    struct work *w = it->w;
    if (w) files_close(it);
    if (!it->is_delivered) explain(it);
    pthread_mutex_lock(&es->lock);
    if (it->is_delivered && w) count_audio(g, w->audio_ms);
    leave(it);
    list_remove(es, it);
    g->n_items--;
    g->used_us = loop_now_us();
    if (w) w->internal = NULL;
    else it->lm->internal = NULL;
    pthread_cond_signal(&es->for_keeper);
    pthread_mutex_unlock(&es->lock);
    const struct api_error ok = { 0 };
    const struct api_error *e = it->is_delivered ? &ok : &it->error;
    if (w) w->ended(w, e);
    else it->lm->ended(it->lm, e);
    free(it);
    pthread_mutex_lock(&es->lock);
    es->n_active--;
    pthread_cond_broadcast(&es->for_end);
    pthread_mutex_unlock(&es->lock);
}
