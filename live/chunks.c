/* steno: live text from models that decode a stream chunk by chunk. SPDX-License-Identifier: MIT */
#include "chunks.h"
#include <string.h>

enum { PER_MS = 16 };

static void on_segment(void *user, const steno_segment *seg)
{
    struct chunks *c = user;
    const int64_t off = c->begin / PER_MS;
    for (int32_t k = 0; k < seg->n_words && c->to && !c->rc; k++) {
        steno_word w = { .size = sizeof w };
        steno_word_get(c->session, seg->id, k, &w);
        const size_t from = c->to->n;
        c->rc = (k ? live_words_add_units : live_words_add_text)(c->to, w.text, off + w.t0_ms, off + w.t1_ms);
        live_words_rate(c->to, from, w.probability);
    }
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
    c->given += some;
    return some;
}

int chunks_open(struct chunks *c, const struct kept *sound, const steno_model *m, steno_team *team, const steno_transcribe_params *p,
                steno_error *e)
{
    steno_batch_params bp;
    steno_session_params sp;
    c->sound = sound;
    c->params = *p;
    c->params.user = c;
    c->params.on_segment = on_segment;
    c->params.word_timestamps = 1;
    if (c->params.lookahead == STENO_LOOKAHEAD_MOST && steno_serves(m, STENO_CALL_TRANSCRIBE, "lookahead"))
        c->params.lookahead = STENO_LOOKAHEAD_USUAL; /* words, not sentences */
    steno_batch_params_init(&bp);
    bp.max_windows = 1;
    bp.on_done = on_done;
    bp.user = c;
    const int rc = steno_batch_open(&c->batch, m, team, &bp, e);
    steno_session_params_init(&sp);
    sp.batch = c->batch;
    return rc ? rc : steno_session_open(&c->session, m, team, &sp, e);
}

void chunks_close(struct chunks *c)
{
    steno_session_close(c->session);
    steno_batch_close(c->batch);
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
    return steno_batch_submit(c->batch, c->session, &src, &r);
}

int chunks_decode(struct chunks *c, int64_t until, int is_over, struct words *to)
{
    c->until = until;
    c->is_over = is_over;
    c->to = to;
    steno_batch_wake(c->batch);
    if (is_over) steno_batch_run(c->batch);
    else steno_batch_run_as(c->batch, STENO_RUN_POLL);
    return c->rc;
}

int chunks_drop(struct chunks *c)
{
    return chunks_decode(c, c->given, 1, NULL);
}
