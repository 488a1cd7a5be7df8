/* steno-serve: opening, running and closing of models. SPDX-License-Identifier: MIT */
#include "engines_in.h"
#include "live.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* Sets the number of windows, and the sequences of each that a request may ask for. Where both are too much for a batch, requests may ask
 * for fewer sequences, but at least for those of the defaults. Then fewer windows decode together. */
static void batch_shape(struct engine *g)
{
    enum { MOST_LANES = 32, MOST_RUN = 256 }; /* of a window, of a batch */
    const steno_transcribe_params *p = &g->e.job.params;
    const int own = p->beam_size > p->best_of ? p->beam_size : p->best_of;
    int lanes = g->e.lanes ? g->e.lanes : own;
    g->windows = g->es->p->parallel;
    g->has_lanes = g->can_transcribe && steno_serves(g->e.model, STENO_CALL_TRANSCRIBE, "best_of");
    if (lanes > MOST_RUN / g->windows) lanes = MOST_RUN / g->windows;
    if (lanes < own) lanes = own;
    g->lanes = !g->has_lanes || lanes < 1 ? 1 : lanes > MOST_LANES ? MOST_LANES : lanes;
    if (g->windows > MOST_RUN / g->lanes) g->windows = MOST_RUN / g->lanes;
    if (g->windows == g->es->p->parallel || !g->es->p->log) return;
    char line[256];
    snprintf(line, sizeof line, "note: model %.100s: %d windows decode together, not %d: each has up to %d sequences", g->model->id,
             g->windows, g->es->p->parallel, g->lanes);
    g->es->p->log(g->es->p->user, line);
}

static int slots_open(struct engine *g, steno_error *e)
{
    const struct serve_params *p = g->es->p;
    steno_session_params sp;
    steno_session_params_init(&sp);
    sp.batch = g->batch;
    g->n_work_slots = 2 * g->windows;
    const int n = g->n_work_slots + (g->can_transcribe ? p->live_max : 0);
    g->slot = calloc((size_t)n, sizeof *g->slot);
    if (!g->slot) return STENO_ENOMEM;
    for (; g->n_slots < n; g->n_slots++) {
        struct slot *s = &g->slot[g->n_slots];
        *s = (struct slot){ .engine = g };
        const int rc = steno_session_open(&s->session, g->e.model, g->e.team, &sp, e);
        if (rc != STENO_OK) return rc;
        if (pthread_cond_init(&s->ended, NULL)) {
            steno_session_close(s->session);
            return STENO_ENOMEM;
        }
    }
    g->need += n * steno_session_memory(g->e.model, g->e.team, &sp);
    return STENO_OK;
}

static int batch_open(struct engine *g, steno_error *e)
{
    steno_batch_params bp;
    steno_batch_params_init(&bp);
    batch_shape(g);
    bp.max_windows = g->windows;
    bp.max_lanes = g->lanes;
    bp.user = g;
    bp.on_done = engine_on_done;
    const int64_t bytes = steno_batch_memory(g->e.model, g->e.team, &bp);
    if (bytes > 0) g->need += bytes;
    const int rc = steno_batch_open(&g->batch, g->e.model, g->e.team, &bp, e);
    return rc == STENO_OK ? slots_open(g, e) : rc;
}

/* Sessions of the other models. Those of voice activity detection compute on the ingest threads, without the team. */
static int helpers_open(struct engine *g, steno_error *e)
{
    int rc = STENO_OK;
    for (int i = 0; i < g->es->n_ingest && g->e.vad && rc == STENO_OK; i++) rc = steno_session_open(&g->vad[i], g->e.vad, NULL, NULL, e);
    if (g->e.punctuation && rc == STENO_OK) rc = steno_session_open(&g->punctuation, g->e.punctuation, g->e.team, NULL, e);
    return rc;
}

static int64_t read_silence(void *user, float *pcm, int64_t n)
{
    int64_t *left = user;
    if (n > *left) n = *left;
    memset(pcm, 0, (size_t)n * sizeof *pcm);
    *left -= n;
    return n;
}

/* Is the audio read twice? Then the first pass runs on an ingest thread. */
static int reads_twice(const steno_model *m)
{
    int64_t none = 0;
    steno_heard h = { .size = sizeof h };
    const steno_source src = { read_silence, NULL, &none };
    return steno_listen(m, &src, &h, NULL) == STENO_OK;
}

/* Transcribes a second of silence, so that the first request does not wait for pages of the weights. */
static void warm_up(struct engine *g)
{
    int64_t left = 16000;
    const steno_source src = { read_silence, NULL, &left };
    if (!g->can_transcribe) return;
    steno_transcribe_source(g->slot->session, &src, &g->e.job.params);
    steno_timings_reset(g->slot->session);
}

static void describe(struct engine *g)
{
    const steno_model *m = g->e.model;
    const int transcribes = steno_serves(m, STENO_CALL_TRANSCRIBE, NULL), embeds = steno_serves(m, STENO_CALL_EMBED, NULL);
    const int generates = !transcribes && steno_serves(m, STENO_CALL_GENERATE, NULL);
    g->need = g->e.memory;
    g->reads_twice = transcribes && reads_twice(m);
    pthread_mutex_lock(&g->es->lock);
    g->can_transcribe = transcribes;
    g->can_generate = generates;
    g->can_embed = embeds;
    pthread_mutex_unlock(&g->es->lock);
}

static void info_keep(struct engine *g)
{
    steno_model_info info = { .size = sizeof info };
    steno_model_info_get(g->e.model, &info);
    info.alignment_heads = NULL; /* it belongs to the model, which may be closed */
    pthread_mutex_lock(&g->es->lock);
    for (int i = 0; i < ENGINE_LANGUAGES_MAX && !g->has_info; i++) g->language[i] = steno_model_language(g->e.model, i); /* static texts */
    g->info = info;
    g->memory = g->need;
    g->has_vad = g->e.vad != NULL;
    g->decodes_chunks = live_decodes_chunks(g->e.model) && !g->e.punctuation;
    g->has_info = 1;
    pthread_mutex_unlock(&g->es->lock);
}

int engine_load(struct engine *g, steno_error *e)
{
    const struct serve_params *p = g->es->p;
    const int is_first = !g->has_info;
    g->e = (struct serve_engine){ 0 };
    pthread_mutex_lock(&g->es->opening);
    int rc = p->open(p->user, g->index, &g->e, e);
    pthread_mutex_unlock(&g->es->opening);
    if (rc != STENO_OK) return rc;
    g->e.live_padding_ms = p->live_padding_ms;
    g->e.live_last = p->live_last;
    describe(g);
    if (g->can_transcribe || g->can_generate) rc = batch_open(g, e);
    if (rc == STENO_OK) rc = helpers_open(g, e);
    if (rc == STENO_ENOMEM && !*e->text) snprintf(e->text, sizeof e->text, "out of memory for the sessions of a model");
    if (rc == STENO_OK) rc = lm_open(g);
    if (rc == STENO_OK) rc = words_open(g, e);
    if (rc == STENO_OK) info_keep(g);
    if (rc == STENO_OK && is_first) warm_up(g);
    if (rc != STENO_OK) engine_unload(g);
    return rc;
}

/* Gives pages that no allocation needs any more back to the system. */
static void memory_trim(void)
{
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void engine_unload(struct engine *g)
{
    const struct serve_params *p = g->es->p;
    for (int i = 0; i < g->n_slots; i++) {
        steno_session_close(g->slot[i].session);
        pthread_cond_destroy(&g->slot[i].ended);
    }
    free(g->slot);
    for (int i = 0; i < INGEST_MAX; i++) steno_session_close(g->vad[i]);
    steno_session_close(g->punctuation);
    lm_close(g);
    words_close(g);
    steno_batch_close(g->batch);
    memset(g->vad, 0, sizeof g->vad);
    g->slot = NULL;
    g->n_slots = g->n_work_slots = 0;
    g->punctuation = NULL;
    g->batch = NULL;
    pthread_mutex_lock(&g->es->opening);
    p->close(p->user, &g->e);
    pthread_mutex_unlock(&g->es->opening);
    memory_trim();
}

/* ---- memory ------------------------------------------------------------------------------------------------------------------ */

static struct engine *least_used(struct engines *es)
{
    struct engine *best = NULL;
    for (int i = 0; i < es->n; i++) {
        struct engine *g = &es->engine[i];
        if (engine_is_idle(g) && (!best || g->used_us < best->used_us)) best = g;
    }
    return best;
}

/* ---- the thread of a model --------------------------------------------------------------------------------------------------- */

static void states_changed(struct engines *es)
{
    for (int i = 0; i < es->n; i++) pthread_cond_broadcast(&es->engine[i].changed);
    pthread_cond_broadcast(&es->for_ingest);
    pthread_cond_signal(&es->for_keeper);
}

/* Work that waits for the model cannot be done. */
static void refuse_waiting(struct engine *g, enum api_code why, int retry_s, const char *reason)
{
    snprintf(g->reason, sizeof g->reason, "model %s: %.400s", g->model->id, reason);
    g->why = why;
    for (struct item *it = g->es->first; it; it = it->next) {
        if (it->engine != g || it->state != ITEM_WAITS || it->stop) continue;
        api_fail(&it->error, why, NULL, "%s", g->reason);
        it->error.retry_after_s = retry_s;
        item_stop(it, why);
    }
    pthread_cond_broadcast(&g->changed);
}

/* Closes idle models until this one fits. @return 1, or 0: none is idle, or the end has come */
static int make_room(struct engine *g)
{
    struct engines *es = g->es;
    while (!es->is_closing && !engine_fits(g)) {
        struct engine *other = least_used(es);
        int is_closing = 0;
        for (int i = 0; i < es->n; i++) is_closing |= es->engine[i].state == ENGINE_CLOSING;
        if (!other && !is_closing) return 0;
        if (other) engine_close_soon(other);
        pthread_cond_wait(&g->changed, &es->lock);
    }
    return !es->is_closing;
}

static void open_wanted(struct engine *g)
{
    enum { RETRY_S = 5 };
    struct engines *es = g->es;
    steno_error e = { 0 };
    const int may = make_room(g);
    g->is_wanted = 0;
    if (!may) {
        if (!es->is_closing) refuse_waiting(g, API_loading, RETRY_S, "the models that are in use leave no memory for it; try again later");
        return;
    }
    g->state = ENGINE_OPENING;
    pthread_mutex_unlock(&es->lock);
    const int rc = engine_load(g, &e);
    pthread_mutex_lock(&es->lock);
    g->state = rc == STENO_OK ? ENGINE_OPEN : ENGINE_CLOSED;
    g->used_us = loop_now_us();
    if (rc != STENO_OK) refuse_waiting(g, API_internal_error, 0, *e.text ? e.text : steno_status_text(rc));
    states_changed(es);
}

/* Runs it until it shall close. */
static void run(struct engine *g)
{
    struct engines *es = g->es;
    if (g->batch) {
        pthread_mutex_unlock(&es->lock);
        steno_batch_run_as(g->batch, STENO_RUN_SERVE);
        pthread_mutex_lock(&es->lock);
    }
    while (!g->batch && g->state == ENGINE_OPEN && !es->is_closing) pthread_cond_wait(&g->changed, &es->lock);
}

static void close_now(struct engine *g)
{
    struct engines *es = g->es;
    g->state = ENGINE_CLOSING;
    while (g->n_pumps) pthread_cond_wait(&g->changed, &es->lock); /* an item may be over before its submission has returned */
    pthread_mutex_unlock(&es->lock);
    engine_unload(g);
    pthread_mutex_lock(&es->lock);
    g->state = ENGINE_CLOSED;
    if (g->n_items || g->n_live) g->is_wanted = 1; /* it came while the model was closing */
    states_changed(es);
}

void *engine_main(void *user)
{
    struct engine *g = user;
    struct engines *es = g->es;
    pthread_mutex_lock(&es->lock);
    for (;;) {
        if (g->state == ENGINE_OPEN && !es->is_closing) run(g); /* the end may have come while it was opening */
        if (g->state == ENGINE_CLOSING || (g->state == ENGINE_OPEN && es->is_closing)) close_now(g);
        if (es->is_closing) break;
        if (g->state == ENGINE_CLOSED && g->is_wanted) open_wanted(g);
        else if (g->state == ENGINE_CLOSED) pthread_cond_wait(&g->changed, &es->lock);
    }
    pthread_mutex_unlock(&es->lock);
    return NULL;
}
