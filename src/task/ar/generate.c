/* steno: ids in, ids out. SPDX-License-Identifier: MIT */
#include <math.h>
#include <stddef.h>
#include "task/ar/ar_task.h"

void steno_generate_params_fill(steno_generate_params *p, uint32_t size)
{
    const steno_generate_params own = { 0 };
    params_give(p, size, &own, sizeof own);
}

static int encode(steno_session *s, const float *pcm, int64_t n)
{
    if (s->model->family->search != SEARCH_AR)
        return err_set(&s->error, STENO_EARG, "a %s model does not decode token by token", s->model->family->name);
    if (n < 0 || (n && !pcm)) return err_set(&s->error, STENO_EARG, "%lld samples at no address, or fewer than none", (long long)n);
    const int64_t most = (int64_t)s->mel_stream.window * MEL_HOP;
    struct pcm memory = { pcm, n < most ? n : most, 0, most };
    const steno_source src = pcm_source(&memory);
    int rc = mel_stream_listen(&s->mel_stream, &src, &s->error);
    if (!rc) rc = mel_stream_window(&s->mel_stream, 0, s->mel_stream.window, 0, window_mel(s), &s->error);
    if (!rc) rc = window_encode(s, 0, s->model->audio_ctx);
    s->generate_len = rc ? -1 : 0;
    s->generate_last = -1;
    s->batch->heard = rc ? NULL : s;
    return rc;
}

int steno_encode(steno_session *s, const float *pcm, int64_t n)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, encode(s, pcm, n));
}

static int check(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int least)
{
    if (s->generate_len < 0 || s->batch->heard != s)
        return err_set(&s->error, STENO_EARG, "no window was encoded: call steno_encode first");
    if (n < least || (n && !ids)) return err_set(&s->error, STENO_EARG, "%d ids at no address, or fewer than %d", n, least);
    for (int i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= s->model->n_vocab)
            return err_set(&s->error, STENO_EARG, "id %d at place %d is not in a vocabulary of %d", (int)ids[i], i, (int)s->model->n_vocab);
    if (p->max_tokens < 0) return err_set(&s->error, STENO_EARG, "max_tokens is %d, want 0 or more", (int)p->max_tokens);
    if (!(p->temperature == 0 || (p->temperature >= TEMPERATURE_LEAST && p->temperature <= 100)))
        return err_set(&s->error, STENO_EARG, "temperature is %g, want %g to 100, or 0 for the most probable id", p->temperature,
                       TEMPERATURE_LEAST);
    return STENO_OK;
}

/* The first of n + 1 rows is the id that was chosen last and has not run; a new beginning has none. */
static int feed_ids(steno_session *s, const int32_t *ids, int n, int32_t len)
{
    struct steno_batch *b = s->batch;
    const int32_t pending = s->generate_last >= 0, all = n + pending, most = (int32_t)s->model->plan[PLAN_DECODER].max_rows;
    int rc = STENO_OK;
    for (int32_t at = 0; at < all && !rc;) {
        const int32_t end = all - at < most ? all : at + most;
        b->run.n_rows = 0;
        for (int32_t i = at; i < end; i++)
            run_add(&b->run, i < pending ? s->generate_last : ids[i - pending], len + i, 0, i == all - 1 ? ROW_SAMPLE : 0);
        rc = steps_run(s, end == all ? s->model->text_ctx : 1);
        at = end;
    }
    return rc;
}

static int generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *theirs, int again)
{
    steno_generate_params p;
    steno_generate_params_init(&p);
    buf_clear(&s->generated);
    if (params_take(&p, theirs, sizeof p, sizeof p))
        return err_set(&s->error, STENO_EARG, "steno_generate_params was not filled by its init function");
    int rc = check(s, ids, n, &p, again && s->generate_last >= 0 ? 0 : 1);
    if (rc) return rc;
    const steno_model *m = s->model;
    const int32_t len = again ? s->generate_len : 0;
    if (!again) s->generate_last = -1;
    const int32_t room = m->text_ctx + 1 - len - n - (s->generate_last >= 0);
    if (room < 1) return err_set(&s->error, STENO_EARG, "%d ids leave no room in a context of %d", (int)(len + n), (int)m->text_ctx);
    struct lane *l = &s->batch->run.lane[0];
    lane_rewind(s->batch, 0, len);
    s->request.rules = (struct logit_rules){ .n_vocab = m->n_vocab, .eot = m->tokens.eot, .ts_begin = m->n_vocab,
                                         .temperature = p.temperature, .seed = p.seed };
    l->rules = &s->request.rules;
    l->limit = p.max_tokens && p.max_tokens < room ? p.max_tokens : room;
    l->stream = pick_stream(len, 0, 0);
    rc = feed_ids(s, ids, n, len);
    if (rc) {
        s->generate_len = -1; /* what it holds is not known */
        return rc;
    }
    s->generate_len = l->kv_len;
    s->generate_last = l->ended ? m->tokens.eot : l->n ? l->out[l->n - 1].id : -1;
    for (int32_t i = 0; i < l->n; i++) buf_add(&s->generated, &l->out[i].id, sizeof l->out[i].id);
    if (s->generated.err) return err_nomem(&s->error, s->generated.len, "new ids");
    return l->n;
}

int steno_generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p)
{
    const int rc = call_enter(s);
    return rc ? rc : call_leave(s, generate(s, ids, n, p, 0));
}

int steno_generate_continue(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p)
{
    const int rc = call_enter(s);
    return rc ? rc : call_leave(s, generate(s, ids, n, p, 1));
}

const int32_t *steno_generated(const steno_session *s, int *n)
{
    const int count = s ? (int)(s->generated.len / sizeof(int32_t)) : 0;
    if (n) *n = count;
    return count ? (const int32_t *)(const void *)s->generated.p : NULL;
}
