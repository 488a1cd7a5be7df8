/* steno: beam search for a CTC head, with hot words. SPDX-License-Identifier: MIT */
#include "task/ctc/ctc_search.h"
#include "model/parts.h"
#include "search/ctc_beam.h"
#include "search/hotwords.h"

struct ctc_search {
    struct ctc_beam *beam;
    struct hotwords *hot; /* may be NULL */
    float boost;
    int32_t n_vocab;
};

static void bias_each(void *user, const int32_t *ids, int32_t n, void (*push)(void *to, int32_t id, float by), void *to)
{
    const struct ctc_search *c = user;
    hotwords_each(c->hot, ids, n, c->boost, push, to);
}

static float bias_of(void *user, int32_t id, const int32_t *ids, int32_t n)
{
    const struct ctc_search *c = user;
    return hotwords_push_of(c->hot, id, ids, n, c->boost);
}

static int32_t rows_of(const steno_model *m)
{
    return (int32_t)m->plan[PLAN_ENCODER].max_rows;
}

size_t ctc_search_memory(const steno_model *m)
{
    return sizeof(struct ctc_search) + ctc_beam_memory(rows_of(m));
}

int ctc_search_open(struct ctc_search **out, struct arena *a, const steno_model *m, steno_error *e)
{
    struct ctc_search *c = *out = arena_array(a, 1, sizeof *c);
    if (!c) return err_nomem(e, sizeof *c, "a search");
    c->n_vocab = m->n_vocab;
    return ctc_beam_open(&c->beam, a, rows_of(m), ((const struct ctc_model *)m->part)->blank, e);
}

int ctc_search_take(struct ctc_search *c, const steno_model *m, const steno_transcribe_params *p, int *on, steno_error *e)
{
    const struct ctc_bias bias = { bias_each, bias_of, c };
    const int is_hot = p->hotwords && *p->hotwords;
    ctc_search_done(c);
    *on = p->beam_size > 1 || is_hot;
    c->boost = (float)p->hotwords_boost;
    ctc_beam_set(c->beam, p->beam_size > 1 ? p->beam_size : 1, is_hot ? &bias : NULL);
    return is_hot ? hotwords_open(&c->hot, p->hotwords, m->bpe, e) : STENO_OK;
}

void ctc_search_done(struct ctc_search *c)
{
    if (!c) return;
    hotwords_close(c->hot);
    c->hot = NULL;
}

void ctc_search_begin(struct ctc_search *c, int32_t last)
{
    ctc_beam_begin(c->beam, last);
}

void ctc_search_row(struct ctc_search *c, const float *logits, const struct best *best, const uint32_t *masked)
{
    if (best->id < 0) return; /* all logits are NAN */
    const struct ctc_logits row = { logits, c->n_vocab, (double)logits[best->id] - (double)best->logprob, masked };
    ctc_beam_row(c->beam, &row);
}

int32_t ctc_search_end(const struct ctc_search *c, int place, struct sampled_token *out, double *logprob)
{
    return ctc_beam_end(c->beam, place, out, logprob);
}
