/* steno: the state from which a request resumes. SPDX-License-Identifier: MIT
 *
 * The next window depends on the text before it, on the end of the last word and on its position. Everything else is computed again: the
 * loudest bin of the audio, the language, the clips. For independent clips the number of clips in the results is enough. */
#include "task/ar/resume_point.h"

#include <math.h>
#include <string.h>

enum {
    PAST_END_MAX = 2 * 65536, /* frames: timestamps of a window may exceed its end */
    SECONDS_MAX = 1000000000
};
static const int64_t past_max = (int64_t)1 << 40; /* tokens */

/* State of a chain of windows. */
struct chain_point {
    int32_t clip, n_history;
    int64_t seek, n_past;
    double last_speech;
};

struct point {
    int32_t n_clips, merged; /* merged: number of finished parallel clips; -1: chains follow, each with its history */
    int64_t samples;            /* samples of the audio and its loudest bin: they identify the audio */
    double loudest;
};

static int n_tasks(const struct request *c)
{
    return c->p.task == STENO_TRANSCRIBE_AND_TRANSLATE ? 2 : 1;
}

int resume_point_record(steno_session *s)
{
    struct request *c = request_of(s);
    struct buf state = { 0 };
    if (!c->p.on_resume_point || c->stopped) return STENO_OK;
    const struct point point = { c->n_clips, c->parallel ? c->merged : -1, mel_of(s)->samples, (double)mel_of(s)->max };
    buf_add(&state, &point, sizeof point);
    for (int i = 0; i < n_tasks(c) && !c->parallel; i++) {
        const struct window_decoder *w = &ar_of(s)->decoder[i];
        const struct chain_point chain = { w->position.clip, w->context.n_history, w->position.seek, w->context.n_past,
                                           w->position.last_speech };
        buf_add(&state, &chain, sizeof chain);
        if (w->context.n_history) buf_add(&state, w->context.history, (size_t)w->context.n_history * sizeof *w->context.history);
    }
    const int rc = state.err ? err_nomem(&s->error, state.len, "where a request could go on")
                             : resume_record(&c->resume, s, &c->p, n_tasks(c), state.p, state.len);
    buf_free(&state);
    return rc;
}

static int refuse(steno_session *s)
{
    return err_set(&s->error, STENO_EARG, "resume is of other audio or other parameters: it goes on where this request has nothing");
}

static int enter_clips(steno_session *s, int32_t merged)
{
    struct request *c = request_of(s);
    if (merged < 0 || merged > c->n_clips) return refuse(s);
    for (int32_t i = 0; i < merged; i++) {
        request_clip_results(c)[i].done = 1;
        c->done += request_clips(c)[i].to - request_clips(c)[i].from;
    }
    c->merged = c->next_clip = merged;
    return STENO_OK;
}

/* @return 0: the state does not fit this request */
static int enter_chain(struct window_decoder *w, const char **from, size_t *left)
{
    struct decoder_position *position = &w->position;
    struct decoder_context *context = &w->context;
    const struct request *c = w->request;
    const steno_model *m = w->s->model;
    struct chain_point p;
    if (*left < sizeof p) return 0;
    memcpy(&p, *from, sizeof p);
    const size_t n = (size_t)p.n_history * sizeof *context->history;
    if (p.clip < 0 || p.clip >= c->n_clips || p.n_history < 0 || p.n_history > m->text_ctx || n > *left - sizeof p) return 0;
    const struct clip *clip = &request_clips(c)[p.clip];
    if (p.seek < clip->from || p.seek - clip->to > PAST_END_MAX || p.n_past < p.n_history) return 0;
    if (p.n_past > past_max || !(fabs(p.last_speech) < SECONDS_MAX)) return 0;
    memcpy(context->history, *from + sizeof p, n);
    for (int32_t i = 0; i < p.n_history; i++)
        if (context->history[i] < 0 || context->history[i] >= m->n_vocab) return 0;
    context->n_history = p.n_history;
    context->n_past = p.n_past;
    position->last_speech = p.last_speech;
    position->clip = p.clip;
    position->seek = p.seek;
    position->end = clip->to;
    *from += sizeof p + n;
    *left -= sizeof p + n;
    return 1;
}

int resume_point_enter(steno_session *s)
{
    struct request *c = request_of(s);
    const char *from = c->resume.state;
    size_t left = c->resume.n_state;
    struct point point;
    if (!from) return STENO_OK;
    if (left < sizeof point) return refuse(s);
    memcpy(&point, from, sizeof point);
    if (point.n_clips != c->n_clips || (point.merged >= 0) != c->parallel) return refuse(s);
    if (point.samples != mel_of(s)->samples || point.loudest != (double)mel_of(s)->max) return refuse(s);
    if (c->parallel) return enter_clips(s, point.merged);
    from += sizeof point;
    left -= sizeof point;
    for (int i = 0; i < n_tasks(c) && c->n_clips; i++) {
        struct window_decoder *w = &ar_of(s)->decoder[i];
        if (!enter_chain(w, &from, &left)) return refuse(s);
        const int rc = decoder_go_on(w);
        if (rc) return rc;
    }
    return STENO_OK;
}
