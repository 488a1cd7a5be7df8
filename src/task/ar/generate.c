/* steno: ids in, ids out. SPDX-License-Identifier: MIT */
#include "task/ar/generate.h"
#include "task/ar/request.h"
#include "task/params.h"
#include "task/window.h"

int generate_encode(steno_session *s, const float *pcm, int64_t n)
{
    const int64_t max = (int64_t)mel_of(s)->window * MEL_HOP;
    struct pcm memory = { pcm, n < max ? n : max, 0, max };
    const steno_source src = pcm_source(&memory);
    int rc = mel_stream_listen(mel_of(s), &src, &s->error);
    if (!rc) rc = mel_stream_window(mel_of(s), 0, mel_of(s)->window, 0, window_mel(s), &s->error);
    if (!rc) rc = window_encode(s, 0, s->model->audio_ctx);
    ar_of(s)->generate_len = 0;
    ar_of(s)->generate_last = -1;
    ar_batch_of(s->batch)->heard = rc ? NULL : s;
    return rc;
}

int generate_ready(const steno_session *s)
{
    return ar_batch_of(s->batch)->heard == s;
}

static int check(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int min)
{
    if (n < min) return err_set(&s->error, STENO_EARG, "n is %d, want %d or more ids", n, min);
    if (n && !ids) return err_set(&s->error, STENO_EARG, "ids is NULL but n is %d", n);
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= s->model->n_vocab)
            return err_set(&s->error, STENO_EARG, "id %d at place %d is not in a vocabulary of %d", (int)ids[i], i, (int)s->model->n_vocab);
    if (p->max_tokens < 0) return err_set(&s->error, STENO_EARG, "max_tokens is %d, want 0 or more", (int)p->max_tokens);
    if (!(p->temperature == 0 || (p->temperature >= TEMPERATURE_MIN && p->temperature <= 100)))
        return err_set(&s->error, STENO_EARG, "temperature is %g, want %g to 100, or 0 for the most probable id", p->temperature,
                       TEMPERATURE_MIN);
    return STENO_OK;
}

/* The first of n + 1 rows is the id that was chosen last and has not run; a new beginning has none. */
static int feed_ids(steno_session *s, const int32_t *ids, int n, int32_t len)
{
    struct steno_batch *b = s->batch;
    const int32_t last = ar_of(s)->generate_last, pending = last >= 0, all = n + pending;
    const int32_t max = (int32_t)s->model->plan[PLAN_DECODER].max_rows;
    int rc = STENO_OK;
    for (int32_t at = 0; at < all && !rc;) {
        const int32_t end = all - at < max ? all : at + max;
        b->run.n_rows = 0;
        for (int32_t i = at; i < end; i++)
            run_add(&b->run, i < pending ? last : ids[i - pending], len + i, 0, i == all - 1 ? ROW_SAMPLE : 0);
        rc = steps_run(s, end == all ? s->model->text_ctx : 1);
        at = end;
    }
    return rc;
}

int generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again)
{
    struct ar_session *a = ar_of(s);
    int rc = check(s, ids, n, p, again && a->generate_last >= 0 ? 0 : 1);
    if (rc) return rc;
    const steno_model *m = s->model;
    const int32_t len = again ? a->generate_len : 0;
    if (!again) a->generate_last = -1;
    const int32_t room = m->text_ctx + 1 - len - n - (a->generate_last >= 0);
    if (room < 1) return err_set(&s->error, STENO_EARG, "%d ids leave no room in a context of %d", (int)(len + n), (int)m->text_ctx);
    struct lane *l = &s->batch->run.lane[0];
    lane_rewind(s->batch, 0, len);
    a->request.rules = (struct logit_rules){ .n_vocab = m->n_vocab, .eot = m->tokens.eot, .ts_begin = m->n_vocab,
                                         .temperature = p->temperature, .seed = p->seed };
    l->sampler.rules = &a->request.rules;
    l->sampler.limit = p->max_tokens && p->max_tokens < room ? p->max_tokens : room;
    l->sampler.rng_stream = rng_stream_of(len, 0, 0);
    rc = feed_ids(s, ids, n, len);
    if (rc) {
        ar_batch_of(s->batch)->heard = NULL; /* what the lane holds is not known */
        return rc;
    }
    a->generate_len = l->kv.len;
    a->generate_last = l->sampler.ended ? m->tokens.eot : l->sampler.n ? l->sampler.out[l->sampler.n - 1].id : -1;
    for (int32_t i = 0; i < l->sampler.n; i++) buf_add(&s->generated, &l->sampler.out[i].id, sizeof l->sampler.out[i].id);
    if (s->generated.err) return err_nomem(&s->error, s->generated.len, "new ids");
    return l->sampler.n;
}
