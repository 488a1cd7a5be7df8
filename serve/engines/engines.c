/* steno-serve: the models of a server. SPDX-License-Identifier: MIT */
#include "engines_in.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- names ------------------------------------------------------------------------------------------------------------------- */

/* Names of OpenAI's models, which stand for the default. */
static const char *const openai_names[] = {
    "whisper-1", "gpt-transcribe", "gpt-4o-transcribe", "gpt-4o-mini-transcribe", "gpt-4o-mini-transcribe-2025-12-15",
    "gpt-live-transcribe", "gpt-realtime-whisper", "default", "", NULL };

static int is_in(const char *const *list, const char *name)
{
    for (; list && *list; list++)
        if (strcmp(*list, name) == 0) return 1;
    return 0;
}

/* What is behind the last slash. */
static const char *last_part(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? slash + 1 : name;
}

/* Is it the name of the file, with or without its ending? */
static int is_file_name(const char *base, const char *name)
{
    const size_t n = strlen(name);
    if (strncmp(base, name, n)) return 0;
    return !base[n] || (base[n] == '.' && !strchr(base + n + 1, '.'));
}

static int is_named(const struct engine *g, const char *name, int how)
{
    switch (how) {
    case 0: return strcmp(g->model->id, name) == 0;
    case 1: return is_in(g->model->aliases, name);
    case 2: return *name && g->base && is_file_name(g->base, name);
    default: return *name && strcmp(last_part(g->model->id), name) == 0;
    }
}

static struct engine *find_named(struct engines *es, const char *name)
{
    enum { WAYS = 4 };
    for (int how = 0; how < WAYS; how++)
        for (int i = 0; i < es->n; i++)
            if (is_named(&es->engine[i], name, how)) return &es->engine[i];
    return NULL;
}

struct engine *engines_find(struct engines *es, const char *name)
{
    struct engine *g = name ? find_named(es, name) : NULL;
    return !g && (!name || is_in(openai_names, name) || es->p->any_model) ? es->engine : g;
}

struct engine *engines_for(struct engines *es, const char *name, unsigned calls, struct api_error *e)
{
    static const char *const what[] = { [ENGINE_TRANSCRIBES] = "transcribe", [ENGINE_GENERATES] = "generate texts",
                                        [ENGINE_EMBEDS] = "make vectors of texts" };
    struct engine *const named = name ? find_named(es, name) : NULL, *const found = named ? named : engines_find(es, name);
    struct engine *g = found;
    for (int i = 0; !named && g && !(engine_calls(g) & calls); i++) g = engines_at(es, i);
    if (g && engine_calls(g) & calls) return g;
    if (named)
        api_fail(e, API_invalid_value, "model", "the model \"%s\" does not %s; GET %s/v1/models lists what each model does",
                 engine_id(named), what[calls], es->p->prefix);
    else if (found) api_fail(e, API_model_not_found, "model", "no model of this server can %s", what[calls]);
    else engines_unknown(es, name, e);
    return NULL;
}

int engines_unknown(const struct engines *es, const char *name, struct api_error *e)
{
    return api_fail(e, API_model_not_found, "model", "the model \"%.200s\" is not served here; GET %s/v1/models lists the models", name,
                    es->p->prefix);
}

struct engine *engines_at(struct engines *es, int i)
{
    return i >= 0 && i < es->n ? &es->engine[i] : NULL;
}

const char *engine_id(const struct engine *g)
{
    return g->model->id;
}

int64_t engine_created(const struct engine *g)
{
    return g->created;
}

static int is_loaded(const struct engine *g)
{
    return g->state == ENGINE_OPEN;
}

int engine_is_loaded(const struct engine *g)
{
    pthread_mutex_lock(&g->es->lock);
    const int is = is_loaded(g);
    pthread_mutex_unlock(&g->es->lock);
    return is;
}

int engine_info(const struct engine *g, steno_model_info *out)
{
    pthread_mutex_lock(&g->es->lock);
    const int has = g->has_info;
    if (has) *out = g->info;
    pthread_mutex_unlock(&g->es->lock);
    return has ? 0 : -1;
}

const char *const *engine_languages(const struct engine *g)
{
    pthread_mutex_lock(&g->es->lock);
    const int has = g->has_info;
    pthread_mutex_unlock(&g->es->lock);
    return has ? g->language : NULL;
}

static int engine_has_language(const struct engine *g, const char *code)
{
    const char *const *of = engine_languages(g);
    int i = 0;
    while (of && of[i] && strcmp(of[i], code) != 0) i++;
    return !of || !of[0] || of[i];
}

int engine_language(const struct engine *g, const char *name, const char **code, struct api_error *e)
{
    *code = name && *name ? steno_language_code(name) : NULL;
    if (!name || !*name) return API_OK;
    if (!*code) return api_fail(e, API_invalid_value, "language", "there is no language \"%.40s\"", name);
    if (engine_has_language(g, *code)) return API_OK;
    return api_fail(e, API_invalid_value, "language", "the model \"%s\" does not have the language \"%.40s\"", engine_id(g), name);
}

int engine_decodes_chunks(const struct engine *g)
{
    pthread_mutex_lock(&g->es->lock);
    const int decodes = g->decodes_chunks;
    pthread_mutex_unlock(&g->es->lock);
    return decodes;
}

int engine_finds_turns(const struct engine *g)
{
    pthread_mutex_lock(&g->es->lock);
    const int finds = !g->has_info || g->has_vad;
    pthread_mutex_unlock(&g->es->lock);
    return finds;
}

unsigned engine_calls(const struct engine *g)
{
    pthread_mutex_lock(&g->es->lock);
    const unsigned calls = (g->can_transcribe ? ENGINE_TRANSCRIBES : 0u) | (g->can_generate ? ENGINE_GENERATES : 0u) |
                           (g->can_embed ? ENGINE_EMBEDS : 0u);
    pthread_mutex_unlock(&g->es->lock);
    return calls;
}

int engines_ready(const struct engines *es)
{
    return es->has_keeper; /* engines_open returns when all are open */
}

struct engines_now engines_now(struct engines *es)
{
    struct engines_now now = { 0 };
    pthread_mutex_lock(&es->lock);
    now.waiting = queue_waiting(es);
    now.live = engines_live(es);
    now.is_late = engines_are_late(es);
    for (const struct item *it = es->first; it; it = it->next) now.running += it->state == ITEM_RUNS;
    for (int i = 0; i < es->n; i++) {
        const struct engine *g = &es->engine[i];
        now.loaded += is_loaded(g);
        now.memory += g->state == ENGINE_CLOSED ? 0 : g->memory;
    }
    pthread_mutex_unlock(&es->lock);
    return now;
}

int engines_running(const struct engines *es)
{
    struct engines *own = (struct engines *)es; /* its lock changes */
    pthread_mutex_lock(&own->lock);
    const int n = own->n_active;
    pthread_mutex_unlock(&own->lock);
    return n;
}

/* ---- opening ----------------------------------------------------------------------------------------------------------------- */

/* A condition with the monotonic clock. */
static int cond_init(pthread_cond_t *c)
{
    pthread_condattr_t a;
    if (pthread_condattr_init(&a)) return -1;
    const int rc = pthread_condattr_setclock(&a, CLOCK_MONOTONIC) || pthread_cond_init(c, &a) ? -1 : 0;
    pthread_condattr_destroy(&a);
    return rc;
}

static int fail_memory(steno_error *e)
{
    e->status = STENO_ENOMEM;
    if (!*e->text) snprintf(e->text, sizeof e->text, "out of memory for the threads of the server");
    return STENO_ENOMEM;
}

/* Name of its file or folder, without slashes at its end. @return 0, or -1: out of memory */
static int name_model(struct engine *g)
{
    struct stat st;
    const char *path = g->model->path;
    if (!path) return 0;
    if (stat(path, &st) == 0) g->created = (int64_t)st.st_mtime;
    char *copy = strdup(path);
    if (!copy) return -1;
    for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--) copy[n - 1] = '\0';
    g->base = strdup(last_part(copy));
    free(copy);
    return g->base ? 0 : -1;
}

static int engine_init(struct engines *es, int i)
{
    struct engine *g = &es->engine[i];
    *g = (struct engine){ .es = es, .index = i, .model = &es->p->models[i] };
    es->n++;
    if (cond_init(&g->changed)) return -1;
    g->has_changed = 1;
    return name_model(g);
}

/* Opens each model once: its description stays known. Those that the memory limit does not allow are closed again. */
static int open_models(struct engines *es, steno_error *e)
{
    const int64_t max = es->p->memory_max;
    for (int i = 0; i < es->n; i++) {
        struct engine *g = &es->engine[i];
        const int rc = engine_load(g, e);
        if (rc != STENO_OK) return rc;
        if (max && g->memory > max) {
            engine_unload(g);
            snprintf(e->text, sizeof e->text, "model %.200s takes %lld MB, and the limit of all models is %lld MB", g->model->id,
                     (long long)(g->memory + 999999) / 1000000, (long long)(max / 1000000));
            return e->status = STENO_EARG;
        }
        if (engine_fits(g)) g->state = ENGINE_OPEN;
        else engine_unload(g);
        g->used_us = loop_now_us();
    }
    return STENO_OK;
}

static int start_threads(struct engines *es)
{
    for (int i = 0; i < es->n; i++) {
        struct engine *g = &es->engine[i];
        if (pthread_create(&g->thread, NULL, engine_main, g)) return -1;
        g->has_thread = 1;
    }
    const int n = es->n_ingest;
    for (es->n_started = 0; es->n_started < n; es->n_started++) {
        struct ingest *t = &es->ingest[es->n_started];
        *t = (struct ingest){ .es = es, .i = es->n_started };
        if (pthread_create(&t->thread, NULL, ingest_main, t)) return -1;
    }
    if (pthread_create(&es->keeper, NULL, keeper_main, es)) return -1;
    es->has_keeper = 1;
    return 0;
}

static struct engines *engines_new(const struct serve_params *p, struct spool *spool)
{
    struct engines *es = calloc(1, sizeof *es);
    if (!es) return NULL;
    *es = (struct engines){ .p = p, .spool = spool, .n_ingest = p->n_ingest + 1 }; /* and the one for small files */
    if (es->n_ingest > INGEST_MAX) es->n_ingest = INGEST_MAX;
    if (es->n_ingest < 2) es->n_ingest = 2;
    es->engine = calloc((size_t)p->n_models, sizeof *es->engine);
    if (!es->engine || pthread_mutex_init(&es->lock, NULL)) {
        free(es->engine);
        free(es);
        return NULL;
    }
    pthread_mutex_init(&es->opening, NULL);
    return es;
}

int engines_open(struct engines **out, const struct serve_params *p, struct spool *spool, steno_error *e)
{
    *out = NULL;
    *e = (steno_error){ 0 };
    struct engines *es = engines_new(p, spool);
    if (!es) return fail_memory(e);
    int rc = cond_init(&es->for_keeper) || cond_init(&es->for_ingest) || cond_init(&es->for_end) ? STENO_ENOMEM : STENO_OK;
    for (int i = 0; i < p->n_models && rc == STENO_OK; i++) rc = engine_init(es, i) ? STENO_ENOMEM : STENO_OK;
    if (rc == STENO_OK) rc = open_models(es, e);
    if (rc == STENO_OK && start_threads(es)) rc = STENO_ENOMEM;
    if (rc == STENO_OK) *out = es;
    else engines_close(es);
    return rc == STENO_ENOMEM ? fail_memory(e) : rc;
}

/* ---- the end ----------------------------------------------------------------------------------------------------------------- */

void engines_drain(struct engines *es)
{
    pthread_mutex_lock(&es->lock);
    es->is_draining = 1;
    for (struct item *it = es->first; it; it = it->next)
        if (it->state < ITEM_RUNS) item_stop(it, API_draining);
    for (int i = 0; i < es->n; i++) pthread_cond_broadcast(&es->engine[i].changed);
    pthread_mutex_unlock(&es->lock);
}

void engines_cancel(struct engines *es)
{
    pthread_mutex_lock(&es->lock);
    for (struct item *it = es->first; it; it = it->next) item_stop(it, API_draining);
    for (int i = 0; i < es->n; i++) {
        struct engine *g = &es->engine[i];
        for (int k = g->n_work_slots; g->state == ENGINE_OPEN && k < g->n_slots; k++) {
            g->slot[k].is_stopped = g->slot[k].is_taken;
            if (g->slot[k].is_running) steno_cancel(g->slot[k].session);
        }
    }
    pthread_mutex_unlock(&es->lock);
}

/* Work and live sessions are over. */
static void wait_for_end(struct engines *es)
{
    pthread_mutex_lock(&es->lock);
    while (es->n_active || engines_live(es)) pthread_cond_wait(&es->for_end, &es->lock);
    es->is_closing = 1;
    pthread_cond_broadcast(&es->for_ingest);
    pthread_cond_signal(&es->for_keeper);
    for (int i = 0; i < es->n; i++) {
        pthread_cond_broadcast(&es->engine[i].changed);
        if (es->engine[i].state == ENGINE_OPEN) steno_batch_stop(es->engine[i].batch);
    }
    pthread_mutex_unlock(&es->lock);
}

void engines_close(struct engines *es)
{
    if (!es) return;
    engines_drain(es);
    engines_cancel(es);
    wait_for_end(es);
    if (es->has_keeper) pthread_join(es->keeper, NULL);
    for (int i = 0; i < es->n_started; i++) pthread_join(es->ingest[i].thread, NULL);
    for (int i = 0; i < es->n; i++) /* each may signal the others until it has ended */
        if (es->engine[i].has_thread) pthread_join(es->engine[i].thread, NULL);
    for (int i = 0; i < es->n; i++) {
        struct engine *g = &es->engine[i];
        if (!g->has_thread && g->state == ENGINE_OPEN) engine_unload(g);
        if (g->has_changed) pthread_cond_destroy(&g->changed);
        free(g->base);
    }
    pthread_cond_destroy(&es->for_keeper);
    pthread_cond_destroy(&es->for_ingest);
    pthread_cond_destroy(&es->for_end);
    pthread_mutex_destroy(&es->opening);
    pthread_mutex_destroy(&es->lock);
    free(es->engine);
    free(es);
}
