/* steno: live voice activity detection. SPDX-License-Identifier: MIT */
#include "finder.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void on_edge(void *user, const steno_span *s)
{
    struct finder *f = user;
    if (f->n_edges == f->cap) {
        const size_t cap = f->cap ? 2 * f->cap : 16;
        struct edge *more = realloc(f->edge, cap * sizeof *more);
        if (!more) {
            f->rc = STENO_ENOMEM;
            return;
        }
        f->edge = more;
        f->cap = cap;
    }
    f->edge[f->n_edges++] = (struct edge){ s->t0_ms, s->t1_ms };
}

static int64_t source_read(void *user, float *pcm, int64_t n)
{
    struct finder *f = user;
    const int64_t left = kept_end(f->sound) - f->given, some = n < left ? n : left;
    if (!some) return f->is_over ? 0 : STENO_SOURCE_WAIT;
    memcpy(pcm, kept_from(f->sound, f->given), (size_t)some * sizeof *pcm);
    f->given += some;
    return some;
}

static void on_done(void *user, steno_session *s, int status)
{
    struct finder *f = user;
    (void)s;
    if (status && !f->rc) f->rc = status;
}

int finder_open(struct finder *f, const struct kept *sound, const steno_model *vad, steno_team *team, const steno_vad_params *p,
                steno_error *e)
{
    steno_batch_params bp;
    steno_session_params sp;
    steno_request_params r;
    const steno_source src = { source_read, NULL, f };
    f->sound = sound;
    if (p) f->params = *p;
    else steno_vad_params_init(&f->params);
    f->params.user = f;
    f->params.on_event = on_edge;
    f->params.streaming = 1;
    steno_batch_params_init(&bp);
    bp.max_windows = 1;
    bp.on_done = on_done;
    bp.user = f;
    int rc = steno_batch_open(&f->batch, vad, team, &bp, e);
    steno_session_params_init(&sp);
    sp.batch = f->batch;
    if (!rc) rc = steno_session_open(&f->session, vad, team, &sp, e);
    steno_request_params_init(&r);
    r.find_speech = &f->params;
    if (!rc) rc = steno_batch_submit(f->batch, f->session, &src, &r);
    if (rc && f->session && !e->text[0]) snprintf(e->text, sizeof e->text, "%s", steno_last_error(f->session));
    return rc;
}

void finder_close(struct finder *f)
{
    steno_session_close(f->session);
    steno_batch_close(f->batch);
    free(f->edge);
}

int finder_look(struct finder *f, int is_over)
{
    f->n_edges = 0;
    f->is_over = is_over;
    if (!f->batch) return STENO_OK;
    steno_batch_wake(f->batch);
    if (is_over) steno_batch_run(f->batch);
    else steno_batch_run_as(f->batch, STENO_RUN_POLL);
    return f->rc;
}
