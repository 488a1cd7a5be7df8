/* steno-serve: word times by a forced aligner. SPDX-License-Identifier: MIT
 *
 * The aligner has a thread of its own, so that the batch decodes other requests meanwhile: the runs of both take turns on the model's team.
 * A request keeps its session until its words are found, because they are part of the session's result. One that is stopped before its turn
 * is ended by the keeper. Requests with little audio that wait at the same time are aligned together, since their texts then share runs of
 * its networks. */
#include "engines_in.h"

enum { TOGETHER = 16, TOGETHER_MS = 60000 /* of audio, so that none waits long for the others */ };

/* @return the number of requests whose words are found next, in out */
static int texts_take(const struct engine *g, struct item **out)
{
    int64_t all_ms = 0;
    int n = 0;
    for (struct item *it = g->es->first; it && n < TOGETHER; it = it->next) {
        if (it->engine != g || !it->has_text || it->stop) continue;
        all_ms += steno_duration_ms(it->slot->session);
        if (n && all_ms > TOGETHER_MS) break;
        out[n++] = it;
    }
    return n;
}

static void texts_align(struct item *const *it, int n)
{
    struct job_input *in[TOGETHER];
    steno_align_item *at[TOGETHER];
    int some = 0;
    for (int i = 0; i < n; i++)
        if (input_needs_words(&it[i]->w->input)) in[some++] = &it[i]->w->input;
    if (some) input_align(in, at, some);
}

static void *words_main(void *user)
{
    struct engine *g = user;
    struct engines *es = g->es;
    pthread_mutex_lock(&es->lock);
    while (!g->words_closing) {
        struct item *it[TOGETHER];
        const int n = texts_take(g, it);
        if (!n) {
            pthread_cond_wait(&g->changed, &es->lock);
            continue;
        }
        texts_begin(it, n);
        if (n > 1) texts_align(it, n);
        texts_end(it, n);
    }
    pthread_mutex_unlock(&es->lock);
    return NULL;
}

int words_open(struct engine *g, steno_error *e)
{
    if (!g->e.aligner || !g->can_transcribe) return STENO_OK;
    int rc = steno_session_open(&g->aligner, g->e.aligner, g->e.team, NULL, e);
    if (rc == STENO_OK && g->e.punctuation) rc = steno_session_open(&g->marks, g->e.punctuation, g->e.team, NULL, e);
    if (rc != STENO_OK) return rc;
    g->need += steno_session_memory(g->e.aligner, g->e.team, NULL);
    g->words_closing = 0;
    if (pthread_create(&g->words_thread, NULL, words_main, g)) return STENO_ENOMEM;
    g->has_words = 1;
    return STENO_OK;
}

void words_close(struct engine *g)
{
    if (g->has_words) {
        pthread_mutex_lock(&g->es->lock);
        g->words_closing = 1;
        pthread_cond_broadcast(&g->changed);
        pthread_mutex_unlock(&g->es->lock);
        pthread_join(g->words_thread, NULL);
    }
    steno_session_close(g->aligner);
    steno_session_close(g->marks);
    g->aligner = g->marks = NULL;
    g->has_words = 0;
}

int words_prepare(struct item *it)
{
    const struct engine *g = it->engine;
    struct job *j = &it->w->job;
    if (!j->aligner) return 0;
    if (g->marks) j->punctuation = g->marks;
    if (input_detects(&j->params) || steno_language_id(g->e.aligner, j->params.language) >= 0) return 0;
    return api_fail(&it->error, API_invalid_value, "language",
                    "language: the aligner of this server has no word times for \"%.40s\"; leave out the words, or the language",
                    j->params.language);
}
