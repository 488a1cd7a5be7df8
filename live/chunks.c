/* steno: live text from models that decode a stream chunk by chunk. SPDX-License-Identifier: MIT */
#include "chunks.h"
#include <string.h>

enum { PER_MS = 16 };

static void on_segment(void *user, const steno_segment *seg)
{
    struct chunks *c = user;
    const int64_t off = c->begin / PER_MS;
    pthread_mutex_lock(&c->lock);
    for (int32_t k = 0; k < seg->n_words && !c->rc; k++) {
        steno_word w = { .size = sizeof w };
        steno_word_get(c->session, seg->id, k, &w);
        const size_t from = c->news.n;
        c->rc = (k ? live_words_add_units : live_words_add_text)(&c->news, w.text, off + w.t0_ms, off + w.t1_ms);
        live_words_rate(&c->news, from, w.probability);
    }
    pthread_mutex_unlock(&c->lock);
}

static void on_done(void *user, steno_session *s, int status)
{
    struct chunks *c = user;
    (void)s;
    if (status && !c->rc) c->rc = status;
}

static int64_t source_read(void *user, float *pcm, int64_t n)
{
    struct chunks *c = user;
    const int64_t left = c->until - c->given, some = n < left ? n : left;
    if (some <= 0) return c->is_over ? 0 : STENO_SOURCE_WAIT;
    memcpy(pcm, kept_from(c->sound, c->given), (size_t)some * sizeof *pcm);
    atomic_store(&c->given, c->given + some);
    return some;
}

int live_decodes_chunks(const steno_model *m)
{
    return steno_serves(m, STENO_CALL_TRANSCRIBE, "chunk_size") || steno_serves(m, STENO_CALL_TRANSCRIBE, "lookahead");
}

/* ---- a batch of its own ---- */

static int own_begin(void *user, steno_session *s, const steno_source *src, const steno_request_params *p)
{
    const struct chunks *c = user;
    return steno_batch_submit(c->batch, s, src, p);
}

/* A failed request reports its status by on_done. */
static int own_run(void *user, steno_session *s, int is_over)
{
    const struct chunks *c = user;
    (void)s;
    steno_batch_wake(c->batch);
    if (is_over) steno_batch_run(c->batch);
    else steno_batch_run_as(c->batch, STENO_RUN_POLL);
    return STENO_OK;
}

static int own_batch(struct chunks *c, const struct live_params *p, steno_error *e)
{
    steno_batch_params bp;
    steno_session_params sp;
    c->streams = (struct live_streams){ own_begin, own_run, c };
    steno_batch_params_init(&bp);
    bp.max_windows = 1;
    bp.on_done = on_done;
    bp.user = c;
    const int rc = steno_batch_open(&c->batch, p->chunks, p->team, &bp, e);
    steno_session_params_init(&sp);
    sp.batch = c->batch;
    return rc ? rc : steno_session_open(&c->session, p->chunks, p->team, &sp, e);
}

int chunks_open(struct chunks *c, const struct kept *sound, const struct live_params *p, steno_error *e)
{
    if (pthread_mutex_init(&c->lock, NULL)) return STENO_ENOMEM;
    c->has_lock = 1;
    c->sound = sound;
    c->params = p->text;
    c->params.user = c;
    c->params.on_segment = on_segment;
    c->params.should_abort = NULL; /* its caller ends the turn */
    c->params.vad_model = NULL;    /* spans of speech would wait for their end; turns have a detector of their own */
    c->params.vad = NULL;
    c->params.word_timestamps = 1;
    if (c->params.lookahead == STENO_LOOKAHEAD_MOST && steno_serves(p->chunks, STENO_CALL_TRANSCRIBE, "lookahead"))
        c->params.lookahead = STENO_LOOKAHEAD_USUAL; /* words, not sentences */
    if (!p->streams) return own_batch(c, p, e);
    c->streams = *p->streams;
    c->session = p->session;
    return STENO_OK;
}

void chunks_close(struct chunks *c)
{
    if (c->batch) steno_session_close(c->session);
    else if (c->is_open) chunks_drop(c);
    steno_batch_close(c->batch);
    live_words_free(&c->news);
    if (c->has_lock) pthread_mutex_destroy(&c->lock);
}

int chunks_begin(struct chunks *c, int64_t at)
{
    const steno_source src = { source_read, NULL, c };
    steno_request_params r;
    c->given = c->until = c->begin = at;
    c->is_over = 0;
    steno_request_params_init(&r);
    r.transcribe = &c->params;
    r.priority = STENO_PRIORITY_LIVE;
    const int rc = c->streams.begin(c->streams.user, c->session, &src, &r);
    c->is_open = !rc;
    return rc;
}

/* Runs until all audio has been read: what is read later may be gone. */
static void run(struct chunks *c)
{
    int rc;
    do rc = c->streams.run(c->streams.user, c->session, c->is_over);
    while (!rc && !c->rc && !c->is_over && c->given < c->until);
    pthread_mutex_lock(&c->lock);
    if (rc && !c->rc) c->rc = rc;
    pthread_mutex_unlock(&c->lock);
}

/* Appends the new words, which begin with a segment, so a space may be missing before them. */
static int news_take(struct words *to, const struct words *news)
{
    if (!news->n) return STENO_OK;
    const struct word *first = news->w;
    const size_t from = to->n;
    const int rc = live_words_add_text(to, first->text, first->t0_ms, first->t1_ms);
    live_words_rate(to, from, first->probability);
    return rc ? rc : live_words_add_range(to, news, 1, news->n);
}

int chunks_decode(struct chunks *c, int64_t until, int is_over, struct words *to)
{
    if (!c->is_open) return c->rc;
    c->until = until;
    c->is_over = is_over;
    run(c);
    pthread_mutex_lock(&c->lock);
    if (to && !c->rc) c->rc = news_take(to, &c->news);
    live_words_clear(&c->news);
    const int rc = c->rc;
    pthread_mutex_unlock(&c->lock);
    c->is_open = !rc && !is_over;
    return rc;
}

int chunks_drop(struct chunks *c)
{
    return chunks_decode(c, c->given, 1, NULL);
}
