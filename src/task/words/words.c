/* steno: word times of a window: the alignment run. SPDX-License-Identifier: MIT */
#include "task/words/words.h"

#include "task/words/align.h"

void words_free(struct words *w)
{
    buf_free(&w->word);
    buf_free(&w->text);
    split_free(&w->split);
    buf_free(&w->ids);
    buf_free(&w->prob);
    buf_free(&w->jump);
    buf_free(&w->timing);
}

/* Writes head, no-timestamps, the text of the drafts as far as the context allows, and end-of-text to w->ids. @return the number of text
 * ids */
static int32_t ids_gather(struct words *w, const struct token_roles *t, int32_t text_ctx, const struct words_window *at,
                          const struct draft *drafts, int n_drafts)
{
    const int32_t max = text_ctx - at->n_head - 2;
    int32_t n = 0;
    buf_clear(&w->ids);
    buf_add(&w->ids, at->head, (size_t)at->n_head * sizeof *at->head);
    buf_add(&w->ids, &t->no_timestamps, sizeof t->no_timestamps);
    for (int d = 0; d < n_drafts; d++)
        for (int32_t i = drafts[d].first; i < drafts[d].first + drafts[d].n && n < max; i++) {
            if (at->ids[i] >= t->n_text) continue;
            buf_add(&w->ids, &at->ids[i], sizeof *at->ids);
            n++;
        }
    buf_add(&w->ids, &t->eot, sizeof t->eot);
    return n;
}

/* Aligns w->ids: n text ids after `before` others. */
static int ids_align(struct words *w, steno_session *s, const struct words_window *at, int32_t before, int32_t n, struct heard *h)
{
    const float none = 0;
    const int32_t *ids = (const int32_t *)(const void *)w->ids.p;
    buf_clear(&w->prob);
    for (int32_t i = 0; i < before + n + 1; i++) buf_add(&w->prob, &none, sizeof none);
    if (w->ids.err || w->prob.err) return err_nomem(&s->error, w->ids.len + w->prob.len, "words");
    float *prob = (float *)(void *)w->prob.p;
    struct alignment out = { .prob = prob };
    const int rc = align_run(s, &(struct align_place){ at->b, at->lane, h->n_ctx }, ids, before + n + 1, &out);
    if (rc) return rc;
    *h = (struct heard){ ids + before, n, prob + before, out.matrix + (size_t)at->n_head * out.ld, out.ld, h->n_ctx };
    return STENO_OK;
}

int words_time(struct words *w, steno_session *s, const struct words_options *q, const struct words_window *at, struct window_drafts *d)
{
    const steno_model *m = s->model;
    struct heard h = { .n_ctx = at->frames / 2 };
    const int32_t n = ids_gather(w, &m->tokens, m->text_ctx, at, d->draft, d->n);
    int rc = w->ids.err ? err_nomem(&s->error, w->ids.len, "words") : STENO_OK;
    if (!rc && n > 0 && h.n_ctx > 0) rc = ids_align(w, s, at, at->n_head + 1, n, &h);
    if (rc) return rc;
    rc = words_place(w, &m->vocab, m->tokens.n_text, q, at, &h, d);
    return rc ? err_nomem(&s->error, w->text.len, "words") : STENO_OK;
}
