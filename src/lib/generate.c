/* steno: text generation: the public calls. SPDX-License-Identifier: MIT */
#include "lib/call.h"
#include "lib/entry.h"
#include <stddef.h>
#include <string.h>

static int not_by_tokens(steno_session *s)
{
    return err_set(&s->error, STENO_EARG, "a %s model does not decode token by token", s->model->family->name);
}

static int encode(steno_session *s, const float *pcm, int64_t n)
{
    if (!s->model->task->encode)
        return s->model->task->generate ? err_set(&s->error, STENO_EARG, "a %s model does not take audio", s->model->family->name)
                                        : not_by_tokens(s);
    const int rc = pcm_check(s, pcm, n);
    return rc ? rc : s->model->task->encode(s, pcm, n);
}

int steno_encode(steno_session *s, const float *pcm, int64_t n)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, encode(s, pcm, n));
}

int generate_params_take(steno_session *s, steno_generate_params *own, const steno_generate_params *p)
{
    steno_generate_params_init(own);
    if (!params_take(own, p, sizeof *own, offsetof(steno_generate_params, top_k))) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "steno_generate_params was not filled by its init function");
}

static int generate(steno_session *s, const int32_t *ids, int n, const steno_generate_params *p, int again)
{
    steno_generate_params own;
    generated_clear(s);
    int rc = generate_params_take(s, &own, p);
    if (rc) return rc;
    const struct task *t = s->model->task;
    if (!t->generate) return not_by_tokens(s);
    rc = params_check(s, STENO_CALL_GENERATE, &own);
    if (rc) return rc;
    s->should_abort = own.should_abort;
    s->abort_user = own.user;
    return t->generate(s, ids, n, &own, again);
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

static int read_ids(steno_session *s, const int32_t *ids, int n, int again)
{
    if (!s->model->task->read)
        return err_set(&s->error, STENO_EARG, "a %s model is not a language model", s->model->family->name);
    return s->model->task->read(s, ids, n, again);
}

int steno_prefill(steno_session *s, const int32_t *ids, int n)
{
    const int rc = call_enter(s);
    return rc ? rc : call_leave(s, read_ids(s, ids, n, 0));
}

int steno_prefill_continue(steno_session *s, const int32_t *ids, int n)
{
    const int rc = call_enter(s);
    return rc ? rc : call_leave(s, read_ids(s, ids, n, 1));
}
