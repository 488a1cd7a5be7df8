/* steno: word times of a window: the alignment run, and from an alignment to words. SPDX-License-Identifier: MIT */
#include "task/words/words.h"
#include "model/parts.h"
#include <math.h>
#include "search/dtw.h"

/* ---- the alignment of known tokens with audio frames -------------------------------------------------------------------------- */

static int align_phase(steno_session *s, struct steno_batch *b, int phase, int32_t n)
{
    const struct plan *p = &b->model->plan[PLAN_ALIGN];
    struct op_time *time = b == s->batch ? session_time(s, PLAN_ALIGN) : NULL;
    struct run_time spent;
    const struct phases what = { .first = phase, .end = phase + 1, .n_rows = (uint32_t)n, .run = &b->run };
    const int rc = exec_phases(b->exec, p, &what, time, &spent);
    s->timings.decode_us += (spent.first_ns + spent.rest_ns) / 1000;
    s->timings.n_wakes++;
    return session_ran(s, b->exec, rc);
}

static int align_check(steno_session *s, const struct steno_batch *b, uint16_t lane, const int32_t *ids, int32_t n, int32_t n_ctx)
{
    const steno_model *m = s->model;
    if (m->n_plans <= PLAN_ALIGN) return err_set(&s->error, STENO_EARG, "a %s model aligns no words", m->family->name);
    const int32_t max = (int32_t)m->plan[PLAN_ALIGN].max_rows;
    if (lane >= b->run.n_lanes) return err_set(&s->error, STENO_EARG, "lane %u, want less than %u", lane, b->run.n_lanes);
    if (n < 1 || n > max) return err_set(&s->error, STENO_EARG, "%d tokens to align, want 1..%d", (int)n, (int)max);
    if (n_ctx < 1 || n_ctx > m->audio_ctx)
        return err_set(&s->error, STENO_EARG, "%d positions of audio to align with, want 1..%d", (int)n_ctx, (int)m->audio_ctx);
    for (int32_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= m->n_vocab)
            return err_set(&s->error, STENO_EARG, "id %d at place %d is not in a vocabulary of %d", (int)ids[i], (int)i, (int)m->n_vocab);
    return STENO_OK;
}

/* Adds the rows of all ids. The rows from `from` on, at most `room` of them, output logits for the probability of the next id. */
static void ids_rows(struct run *r, uint16_t lane, const int32_t *ids, int32_t n, int32_t from, int32_t room)
{
    r->n_rows = 0;
    for (int32_t i = 0; i < n; i++) {
        const int asks = i >= from && i - from < room && i + 1 < n;
        run_add(r, ids[i], i, lane, asks ? ROW_GIVEN : 0);
        if (asks) r->argmax.best[i].id = ids[i + 1];
    }
    run_prepare(r);
}

static int ids_probabilities(steno_session *s, struct steno_batch *b, uint16_t lane, const int32_t *ids, int32_t n, float *prob)
{
    struct run *r = &b->run;
    const int32_t room = (int32_t)b->model->plan[PLAN_ALIGN].max_out;
    r->align.given_end = s->model->tokens.eot;
    prob[0] = 1;
    for (int32_t from = 0; from + 1 < n; from += room) {
        ids_rows(r, lane, ids, n, from, room);
        const int rc = align_phase(s, b, PHASE_LM_HEAD, n);
        if (rc) return rc;
    }
    for (int32_t i = 1; i < n; i++) prob[i] = expf(r->argmax.best[i - 1].logprob);
    return STENO_OK;
}

int align_run(steno_session *s, const struct align_place *at, const int32_t *ids, int32_t n, struct alignment *out)
{
    struct steno_batch *b = at->b;
    const uint16_t lane = at->lane;
    int rc = align_check(s, b, lane, ids, n, at->n_ctx);
    if (rc) return rc;
    const struct plan *p = &b->model->plan[PLAN_ALIGN];
    struct kv_state *self = &b->state[STATE_SELF];
    struct run *r = &b->run;
    state_truncate(self, lane, 0);
    if (state_prepare(self, lane, 0, (uint32_t)n)) return err_set(&s->error, STENO_EARG, "%d tokens to align: too many", (int)n);
    if (!r->lane[lane].kv.enc_len) r->lane[lane].kv.enc_len = s->model->audio_ctx;
    r->lane[lane].kv.len = n;
    r->align.frames = (uint32_t)at->n_ctx;
    ids_rows(r, lane, ids, n, 0, 0);
    rc = align_phase(s, b, PHASE_ALIGN, n);
    if (!rc && out->prob) rc = ids_probabilities(s, b, lane, ids, n, out->prob);
    if (rc) return rc;
    out->matrix = exec_output(b->exec, p, p->output, 0, (uint32_t)n, &out->ld);
    return out->matrix ? STENO_OK : session_ran(s, b->exec, STENO_ENOMEM);
}

/* ---- from an alignment to words ----------------------------------------------------------------------------------------------- */

static const double positions_per_s = 50;

double round_cents(double x)
{
    const double p = x * 100;
    if (!(fabs(p) < 0x1p52)) return x;   /* too large to have cents, or not a number */
    const double rest = fma(x, 100, -p); /* p + rest is exact */
    double n = nearbyint(p);
    if (fabs(n - p) == 0.5 && rest != 0) n = rest > 0 ? ceil(p) : floor(p);
    return n / 100;
}

static struct timing *timings_of(const struct words *w)
{
    return (struct timing *)(void *)w->timing.p;
}

/* Words 0 .. n-1 of w->split start and end where the path enters the rows of their first tokens. */
static int timings_make(struct words *w, const struct word_attention *h, size_t n)
{
    const int32_t zero = 0;
    buf_clear(&w->timing);
    for (int32_t i = 0; i <= h->n; i++) buf_add(&w->jump, &zero, sizeof zero);
    int32_t *jump = (int32_t *)(void *)w->jump.p;
    if (w->jump.err || dtw_path(jump, h->matrix, h->ld, h->n + 1, h->n_ctx)) return STENO_ENOMEM;
    for (size_t i = 0; i < n; i++) {
        const struct split_word *word = split_at(&w->split, i);
        double sum = 0;
        for (int32_t k = word->first; k < word->first + word->n; k++) sum += (double)h->prob[k];
        const struct timing t = { jump[word->first] / positions_per_s, jump[word->first + word->n] / positions_per_s, sum / word->n };
        buf_add(&w->timing, &t, sizeof t);
    }
    return w->timing.err ? STENO_ENOMEM : STENO_OK;
}

int words_find(struct words *w, const struct vocab *v, int32_t eot, const char *language, const struct word_attention *h, size_t *n)
{
    *n = 0;
    buf_clear(&w->jump);
    if (h->n < 1 || h->n_ctx < 1) return STENO_OK;
    if (split_words(&w->split, v, h->ids, h->n + 1, eot, language_has_spaces(language))) return STENO_ENOMEM;
    *n = split_count(&w->split) - 1;
    return timings_make(w, h, *n);
}

/* Adds word i of w->split. */
static void word_add(struct words *w, size_t i, double offset)
{
    const struct split_word *from = split_at(&w->split, i);
    const struct timing *t = &timings_of(w)[i];
    const struct word word = { round_cents(offset + t->start), round_cents(offset + t->end), t->probability, w->text.len, from->n, 0, 0 };
    buf_add(&w->text, w->split.text.p + from->text, from->len);
    buf_add(&w->text, "", 1);
    buf_add(&w->word, &word, sizeof word);
}

static int32_t count_text(const struct words_window *at, const struct draft *d, int32_t eot)
{
    int32_t n = 0;
    for (int32_t i = d->first; i < d->first + d->n; i++) n += at->ids[i] < eot;
    return n;
}

/* Assigns words to drafts by their number of tokens. */
static void words_deal(struct words *w, int32_t eot, const struct words_window *at, const struct window_drafts *window, size_t n,
                       double median)
{
    const double offset = (double)at->seek / 100;
    struct draft *drafts = window->draft;
    double last_speech = window->last_speech;
    size_t next = 0;
    for (int d = 0; d < window->n; d++) {
        const int32_t tokens = count_text(at, &drafts[d], eot);
        drafts[d].first_word = (int32_t)(w->word.len / sizeof(struct word));
        for (int32_t dealt = 0; next < n && dealt < tokens; next++) {
            const struct split_word *word = split_at(&w->split, next);
            if (word->len) word_add(w, next, offset);
            dealt += word->n;
        }
        if (w->word.err) return;
        drafts[d].n_words = (int32_t)(w->word.len / sizeof(struct word)) - drafts[d].first_word;
        if (!drafts[d].n_words) continue;
        draft_adjust(&drafts[d], (struct word *)(void *)w->word.p + drafts[d].first_word, median, last_speech);
        last_speech = drafts[d].end;
    }
}

int words_place(struct words *w, const struct vocab *v, int32_t eot, const struct words_options *q, const struct words_window *at,
                const struct word_attention *h, struct window_drafts *d)
{
    size_t n;
    double median;
    buf_clear(&w->word);
    buf_clear(&w->text);
    w->skipped = 0;
    if (words_find(w, v, eot, q->language, h, &n) || timing_trim(timings_of(w), &w->split, n, &median)) return STENO_ENOMEM;
    split_merge(&w->split, n, q->prepend ? q->prepend : WORDS_PREPEND, q->append ? q->append : WORDS_APPEND);
    words_deal(w, eot, at, d, n, median);
    if (w->word.err || w->text.err) return STENO_ENOMEM;
    w->skipped = words_seek(w, q->silence, at, d);
    return STENO_OK;
}

/* ---- the words of a window ---------------------------------------------------------------------------------------------------- */

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
static int ids_align(struct words *w, steno_session *s, const struct words_window *at, int32_t before, int32_t n, struct word_attention *h)
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
    *h = (struct word_attention){ ids + before, n, prob + before, out.matrix + (size_t)at->n_head * out.ld, out.ld, h->n_ctx };
    return STENO_OK;
}

int words_time(struct words *w, steno_session *s, const struct words_options *q, const struct words_window *at, struct window_drafts *d)
{
    const steno_model *m = s->model;
    struct word_attention h = { .n_ctx = at->frames / 2 };
    const int32_t n = ids_gather(w, &m->tokens, m->text_ctx, at, d->draft, d->n);
    int rc = w->ids.err ? err_nomem(&s->error, w->ids.len, "words") : STENO_OK;
    if (!rc && n > 0 && h.n_ctx > 0) rc = ids_align(w, s, at, at->n_head + 1, n, &h);
    if (rc) return rc;
    rc = words_place(w, &m->vocab, m->tokens.n_text, q, at, &h, d);
    return rc ? err_nomem(&s->error, w->text.len, "words") : STENO_OK;
}
