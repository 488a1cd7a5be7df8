/* steno-serve: work of language models. SPDX-License-Identifier: MIT
 *
 * Texts are generated in the decode slots of the model's batch. Vectors come from a thread of their own, because a call that computes them
 * is no request of a batch; its session is opened when it is first needed. */
#include "engines_in.h"
#include <stdlib.h>
#include <string.h>

int lm_work_submit(struct lm_work *w, struct api_error *e)
{
    struct item *it = item_new(w->engine, w->client);
    w->session = NULL;
    w->timings = (steno_timings){ 0 };
    if (it) it->lm = w;
    return item_submit(w->engine, it, &w->internal, e);
}

int lm_prepare(struct item *it)
{
    struct lm_work *w = it->lm;
    const struct engine *g = it->engine;
    steno_generate_params_init(&w->generate);
    steno_embed_params_init(&w->embed);
    w->ids = NULL;
    w->texts = NULL;
    if (w->prepare(w, g->e.model, &it->error)) return api_fail(&it->error, API_internal_error, NULL, "the request could not be prepared");
    it->is_vectors = w->texts != NULL;
    if (it->is_vectors ? g->can_embed : g->can_generate) return 0;
    return api_fail(&it->error, API_invalid_value, "model", "model %s %s", g->model->id,
                    it->is_vectors ? "computes no vectors of texts" : "generates no text");
}

static int should_abort(void *user)
{
    return ((const struct item *)user)->stop != 0;
}

static int on_token(void *user, const struct steno_token *tok, const char *text, size_t n)
{
    struct item *it = user;
    struct lm_work *w = it->lm;
    return w->token ? w->token(w, tok, text, n) : 0;
}

int lm_submit(struct item *it, steno_session *s)
{
    struct lm_work *w = it->lm;
    steno_request_params rp;
    steno_request_params_init(&rp);
    w->session = s;
    w->generate.user = it;
    w->generate.on_token = on_token;
    w->generate.should_abort = should_abort;
    rp.ids = w->ids;
    rp.n_ids = w->n_ids;
    rp.generate = &w->generate;
    return steno_batch_submit(it->engine->batch, s, NULL, &rp);
}

/* Texts that do not fit into the context are the usual reason. */
static enum api_code code_of(const struct item *it, int status)
{
    const struct lm_work *w = it->lm;
    steno_model_info info = { .size = sizeof info };
    if (status != STENO_EARG) return API_internal_error;
    if (steno_model_info_get(it->engine->e.model, &info)) return API_invalid_value;
    for (int i = 0; it->is_vectors && i < w->n_texts; i++)
        if (steno_tokenize_text(it->engine->e.model, w->texts[i], strlen(w->texts[i]), STENO_TOKENIZE_WHOLE, NULL, 0) > info.n_text_ctx)
            return API_context_length_exceeded;
    return API_invalid_value;
}

void lm_done(struct item *it, steno_session *s, int status)
{
    struct lm_work *w = it->lm;
    w->timings.size = sizeof w->timings;
    steno_timings_get(s, &w->timings);
    if (status >= STENO_OK) { /* of a text: the number of its ids */
        if (w->output) w->output(w);
        it->is_delivered = 1;
    } else if (!it->stop) {
        const char *reason = steno_last_error(s);
        api_fail(&it->error, code_of(it, status), status == STENO_EARG && it->is_vectors ? "input" : NULL, "%.400s",
                 *reason ? reason : steno_status_text(status));
    }
    steno_timings_reset(s);
    item_end(it);
}

/* ---- vectors ----------------------------------------------------------------------------------------------------------------- */

static struct item *next_vectors(const struct engine *g)
{
    for (struct item *it = g->es->first; it; it = it->next)
        if (it->engine == g && it->state == ITEM_READY && it->is_vectors && !it->stop) return it;
    return NULL;
}

static void embed(struct engine *g, struct item *it)
{
    struct lm_work *w = it->lm;
    steno_error e = { 0 };
    int rc = g->vectors ? STENO_OK : steno_session_open(&g->vectors, g->e.model, g->e.team, NULL, &e);
    if (rc != STENO_OK) {
        api_fail(&it->error, API_internal_error, NULL, "%.400s", e.text);
        item_end(it);
        return;
    }
    w->embed.user = it;
    w->embed.should_abort = should_abort;
    w->session = g->vectors;
    rc = steno_embed(g->vectors, w->texts, w->n_texts, &w->embed);
    lm_done(it, g->vectors, rc);
}

static void *vectors_main(void *user)
{
    struct engine *g = user;
    struct engines *es = g->es;
    pthread_mutex_lock(&es->lock);
    while (!g->vectors_end) {
        struct item *it = next_vectors(g);
        if (!it) {
            pthread_cond_wait(&g->changed, &es->lock);
            continue;
        }
        item_begin(it);
        pthread_mutex_unlock(&es->lock);
        embed(g, it);
        pthread_mutex_lock(&es->lock);
    }
    pthread_mutex_unlock(&es->lock);
    return NULL;
}

int lm_open(struct engine *g)
{
    if (!g->can_embed) return STENO_OK;
    g->vectors_end = 0;
    if (pthread_create(&g->vectors_thread, NULL, vectors_main, g)) return STENO_ENOMEM;
    g->has_vectors = 1;
    return STENO_OK;
}

void lm_close(struct engine *g)
{
    if (!g->has_vectors) return;
    pthread_mutex_lock(&g->es->lock);
    g->vectors_end = 1;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->es->lock);
    pthread_join(g->vectors_thread, NULL);
    steno_session_close(g->vectors);
    g->vectors = NULL;
    g->has_vectors = 0;
}
