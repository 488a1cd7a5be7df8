/* steno-serve: work that runs, and its times. SPDX-License-Identifier: MIT */
#include "engines_in.h"
#include <time.h>

/* ---- running ----------------------------------------------------------------------------------------------------------------- */

static int priority_of(const struct work *w)
{
    return w->priority < 0 ? STENO_PRIORITY_LATER : w->priority > 0 ? STENO_PRIORITY_FIRST : STENO_PRIORITY_AUTO;
}

/* Gives it to the batch. From then on it belongs to the thread of the model. @return a status */
static int file_submit(struct item *it, steno_session *s)
{
    struct work *w = it->w;
    struct job_input *in = &w->input;
    steno_request_params rp;
    in->session = w->session = s;
    in->failing = s;
    const steno_transcribe_params p = input_params(in);
    const steno_source src = input_source(in);
    steno_request_params_init(&rp);
    rp.priority = priority_of(w);
    rp.transcribe = &p;
    rp.heard = it->heard.size ? &it->heard : NULL;
    return steno_batch_submit(it->engine->batch, s, &src, &rp);
}

/* The next item with a session for it. */
static struct item *take(struct engine *g, uint64_t *serial)
{
    pthread_mutex_lock(&g->es->lock);
    struct slot *s = g->state == ENGINE_OPEN ? queue_free_slot(g) : NULL;
    struct item *it = s ? queue_for_batch(g) : NULL;
    if (it) {
        item_begin(it);
        it->slot = s;
        s->item = it;
        *serial = ++s->serial;
        if (it->w) it->w->n_together = g->n_running;
        g->n_pumps++;
    }
    pthread_mutex_unlock(&g->es->lock);
    return it;
}

/* The slot is in use no more, and the model may close. A stop that came before the batch had the request has not reached it.
 * The item may be over. */
static void pumped(struct engine *g, struct slot *s, uint64_t serial)
{
    pthread_mutex_lock(&g->es->lock);
    if (s->serial == serial && s->item && s->item->stop) steno_cancel(s->session);
    if (!--g->n_pumps) pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->es->lock);
}

void engine_pump(struct engine *g)
{
    uint64_t serial;
    struct item *it;
    while ((it = take(g, &serial))) {
        struct slot *slot = it->slot;
        const int rc = it->lm ? lm_submit(it, slot->session) : file_submit(it, slot->session);
        if (rc == STENO_OK) {
            pumped(g, slot, serial);
            continue;
        }
        const char *reason = steno_last_error(slot->session);
        api_fail(&it->error, rc == STENO_EARG ? API_invalid_value : API_internal_error, NULL, "%.400s",
                 *reason ? reason : steno_status_text(rc));
        item_end(it);
        pumped(g, slot, serial);
    }
}

/* The last step of a file: makes and delivers the transcript. */
static void file_done(struct item *it, steno_session *s, int status)
{
    struct work *w = it->w;
    if (!input_end(&w->input, status)) it->is_delivered = 0;
    w->timings.size = sizeof w->timings;
    steno_timings_get(s, &w->timings);
    steno_timings_reset(s);
    item_end(it);
}

/* @return 1: an aligner finds its words, on another thread (texts_begin); 0: it is complete */
static int needs_words(struct item *it)
{
    struct engine *g = it->engine;
    pthread_mutex_lock(&g->es->lock);
    it->has_text = it->w->job.aligner && !it->stop;
    const int needs = it->has_text;
    if (needs) pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->es->lock);
    return needs;
}

void texts_begin(struct item *const *it, int n)
{
    for (int i = 0; i < n; i++) it[i]->has_text = 0;
    it[0]->engine->n_pumps++; /* the model stays open until its next request is submitted */
    pthread_mutex_unlock(&it[0]->engine->es->lock);
}

void texts_end(struct item *const *it, int n)
{
    struct engine *g = it[0]->engine;
    for (int i = 0; i < n; i++) file_done(it[i], it[i]->slot->session, STENO_OK);
    engine_pump(g);
    pthread_mutex_lock(&g->es->lock);
    if (!--g->n_pumps) pthread_cond_broadcast(&g->changed);
}

void engine_on_done(void *user, steno_session *session, int status)
{
    struct engine *g = user;
    struct slot *s = g->slot;
    while (s->session != session) s++;
    if (s >= g->slot + g->n_work_slots) { /* of a live session */
        pthread_mutex_lock(&g->es->lock);
        s->is_running = 0;
        s->status = status;
        pthread_cond_broadcast(&s->ended);
        pthread_mutex_unlock(&g->es->lock);
        return;
    }
    pthread_mutex_lock(&g->es->lock);
    struct item *it = s->item;
    pthread_mutex_unlock(&g->es->lock);
    if (it->lm) lm_done(it, session, status);
    else if (status != STENO_OK || !needs_words(it)) file_done(it, session, status);
    engine_pump(g);
}

/* ---- the keeper -------------------------------------------------------------------------------------------------------------- */

/* Stops work whose time is over. @return when the next one is due */
static int64_t check_times(struct engines *es, int64_t now)
{
    const double wait_s = es->p->queue_timeout_s;
    int64_t next = INT64_MAX;
    for (struct item *it = es->first; it; it = it->next) {
        if (it->stop) continue;
        const int waits = it->state == ITEM_WAITS || it->state == ITEM_READY;
        const int64_t turn_us = wait_s > 0 && waits ? it->begun_us + (int64_t)(wait_s * 1e6) : INT64_MAX;
        if (now >= it->deadline_us) item_stop(it, API_timeout);
        else if (now >= turn_us) item_stop(it, API_queue_full);
        if (it->deadline_us < next) next = it->deadline_us;
        if (turn_us < next) next = turn_us;
    }
    return next;
}

/* Closes models that were idle for a while. @return when the next one is due */
static int64_t check_models(struct engines *es, int64_t now)
{
    const int64_t idle_us = (int64_t)(es->p->idle_unload_s * 1e6);
    int64_t next = INT64_MAX;
    for (int i = 0; i < es->n && idle_us > 0; i++) {
        struct engine *g = &es->engine[i];
        if (!engine_is_idle(g)) continue;
        if (now >= g->used_us + idle_us) engine_close_soon(g);
        else if (g->used_us + idle_us < next) next = g->used_us + idle_us;
    }
    return next;
}

/* The first item that is stopped and that no other thread has. */
static struct item *stopped(struct engines *es)
{
    for (struct item *it = es->first; it; it = it->next)
        if (it->stop && (it->state == ITEM_WAITS || it->state == ITEM_READY || it->has_text)) return it;
    return NULL;
}

static void wait_until(struct engines *es, int64_t us)
{
    enum { MOST_S = 3600 };
    const int64_t most = loop_now_us() + MOST_S * 1000000LL;
    if (us > most) us = most;
    const struct timespec t = { .tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000 };
    pthread_cond_timedwait(&es->for_keeper, &es->lock, &t);
}

void *keeper_main(void *user)
{
    struct engines *es = user;
    pthread_mutex_lock(&es->lock);
    while (!es->is_closing || es->first) {
        const int64_t now = loop_now_us(), work = check_times(es, now), models = check_models(es, now);
        struct item *it = stopped(es);
        if (!it) {
            wait_until(es, work < models ? work : models);
            continue;
        }
        if (it->has_text) {
            texts_begin(&it, 1);
            texts_end(&it, 1);
            continue;
        }
        it->state = ITEM_ENDS;
        pthread_mutex_unlock(&es->lock);
        item_end(it);
        pthread_mutex_lock(&es->lock);
    }
    pthread_mutex_unlock(&es->lock);
    return NULL;
}
