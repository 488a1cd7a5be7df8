/* steno: windows whose text begins with a prefix. SPDX-License-Identifier: MIT */
#include "task/ar/begun.h"
#include <string.h>

static int is_held(const struct window_decoder *w)
{
    return w->n_prefix > 0 && w->request->p.guards != STENO_GUARDS_OFF && !is_loose(w);
}

int is_begun(const struct window_decoder *w)
{
    return is_held(w) && !w->options.without_timestamps;
}

void begun_advance(struct window_decoder *w, int32_t n, int32_t *advance, int *single_end)
{
    enum { BEFORE = 2 }; /* the timestamp and one token of the prefix are enough */
    const steno_model *m = w->s->model;
    const int32_t before = is_begun(w) ? BEFORE : 0;
    if (before) {
        memmove(w->ids + before, w->ids, (size_t)n * sizeof *w->ids);
        w->ids[0] = m->tokens.timestamp_begin;
        w->ids[1] = w->prefix[0];
    }
    m->family->speech->tokens_to_segments(m, &w->options, w->ids, n + before, w->frames, w->token_segments, advance, single_end);
    if (before) memmove(w->ids, w->ids + before, (size_t)n * sizeof *w->ids);
}

int32_t begun_hold(struct window_decoder *w, int32_t n)
{
    const steno_model *m = w->s->model;
    const int32_t time = is_begun(w), before = is_held(w) ? time + w->n_prefix : 0;
    struct sampled_token *token = w->s->batch->sampled + (size_t)w->lane * (size_t)m->text_ctx;
    if (!before) return 0;
    memmove(w->ids + before, w->ids, (size_t)n * sizeof *w->ids);
    memmove(token + before, token, (size_t)n * sizeof *token);
    for (int32_t i = 0; i < before; i++) {
        w->ids[i] = i < time ? m->tokens.timestamp_begin : w->prefix[i - time];
        token[i] = (struct sampled_token){ .id = w->ids[i], .ts_id = i < time ? w->ids[i] : -1, .p = 1 };
    }
    return before;
}
