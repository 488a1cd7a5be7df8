/* steno: the n best texts of a window. SPDX-License-Identifier: MIT
 *
 * Finished beams are in w->found, because their lanes are reused for other texts. Sampled candidates are still in their lanes. Both are
 * added to the results by rank. Of equal ranks the one found first comes first, as in the choice of the best text. */
#include "task/ar/hypotheses.h"
#include <math.h>
#include <string.h>

/* One finished text, from either place. */
struct found { double sum, rank; const struct sampled_token *tokens; int32_t n; };

/* Reads text i. *at: position in w->found; it is moved to the next text. @return 0: there is no text i */
static int found_at(struct found *f, const struct window_decoder *w, int32_t i, size_t *at)
{
    if (w->ar.found) {
        struct ar_candidate c;
        if (*at + sizeof c > w->found.len) return 0;
        memcpy(&c, w->found.p + *at, sizeof c);
        *f = (struct found){ c.sum, c.rank, (const struct sampled_token *)(const void *)(w->found.p + *at + sizeof c), c.n };
        *at += sizeof c + (size_t)c.n * sizeof *f->tokens;
        return 1;
    }
    const int one = w->ar.p.n_lanes == 1 || w->kept.verified; /* one text only, in the lane of the result */
    if (i >= (one ? 1 : w->ar.p.n_lanes)) return 0;
    const struct sampler *s = &w->b->run.lane[one ? w->lane : w->ar.lane0 + i].sampler;
    *f = (struct found){ s->sum_logprob, ar_rank(s->sum_logprob, s->n, w->ar.p.length_penalty), s->out, s->n };
    return 1;
}

/* The best text after text *last, whose rank is `rank`. *last becomes its index. @return 0: there are no more */
static int next_best(struct found *best, const struct window_decoder *w, double rank, int32_t *last)
{
    struct found f;
    size_t at = 0;
    int32_t chosen = -1;
    for (int32_t i = 0; found_at(&f, w, i, &at); i++) {
        const int is_behind = *last < 0 || f.rank < rank || (f.rank == rank && i > *last);
        if (!is_behind || (chosen >= 0 && !(f.rank > best->rank))) continue;
        *best = f;
        chosen = i;
    }
    *last = chosen;
    return chosen >= 0;
}

int hypotheses_add(struct window_decoder *w)
{
    struct result *r = w->result;
    struct found f = { .rank = INFINITY };
    int32_t last = -1;
    if (w->found.err) return err_nomem(&w->s->error, w->found.len, "the texts of a window");
    for (int32_t i = 0; i < w->request->p.n_best && next_best(&f, w, f.rank, &last); i++) {
        struct hypothesis h = { .at_ms = w->seek * 10, .place = i, .avg_logprob = f.sum / (f.n + 1), .score = f.rank };
        result_hypothesis_tokens(r, &h, f.tokens, f.n);
        if (r->hypothesis_ids.err) break;
        const int32_t *ids = (const int32_t *)(const void *)r->hypothesis_ids.p;
        text_of(w, f.n ? ids + h.first_token : ids, f.n, w->s->model->tokens.n_text);
        result_hypothesis(r, &h, w->text.p ? w->text.p : "", w->text.len);
    }
    return result_status(r) || w->text.err || w->bytes.err ? err_nomem(&w->s->error, r->text.len, "the texts of a window") : STENO_OK;
}
