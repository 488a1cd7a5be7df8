/* steno: intermediate rows of a window, for on_rows. SPDX-License-Identifier: MIT */
#include "task/ar/window_rows.h"
#include "task/window/window.h"

struct window_place { int64_t begin, clip_end; }; /* in frames */

int window_rows_due(const struct window_decoder *w)
{
    const struct buf *b = &w->request->shown;
    const struct window_place *at = (const struct window_place *)(const void *)b->p;
    if (!w->request->p.on_rows) return 0;
    size_t i = b->len / sizeof *at;
    while (i && (at[i - 1].begin != w->position.seek || at[i - 1].clip_end != w->position.end)) i--; /* from the newest on */
    return !i;
}

static void pass(const struct window_decoder *w, const char *name, const float *x, int32_t n, int32_t width, size_t ld)
{
    const steno_transcribe_params *p = &w->request->p;
    const steno_rows rows = { .size = sizeof rows, .n_rows = n, .width = width, .name = name, .at_ms = w->position.seek * 10, .rows = x,
                              .stride = (int64_t)ld };
    p->on_rows(p->user, &rows);
}

void window_features_pass(const struct window_decoder *w)
{
    const int32_t n_mels = mel_bank_of(w->s->model)->n_mels;
    pass(w, "features", window_mel(w->s), 2 * window_ctx(w), n_mels, (size_t)n_mels);
}

int window_encoded_pass(struct window_decoder *w)
{
    steno_session *s = w->s;
    const struct plan *p = &s->model->plan[PLAN_ENCODER];
    const int32_t n = window_ctx(w);
    struct buf *shown = &w->request->shown;
    size_t ld;
    const float *x = exec_output(s->batch->exec, p, p->output, 0, (uint32_t)n, &ld);
    if (!x) return err_nomem(&s->error, (size_t)n * sizeof *x, "the encoder's rows");
    buf_add(shown, &(struct window_place){ w->position.seek, w->position.end }, sizeof(struct window_place));
    if (shown->err) return err_nomem(&s->error, shown->len, "the places of windows");
    pass(w, "encoder", x, n, (int32_t)p->slot[p->output].width, ld);
    return STENO_OK;
}
