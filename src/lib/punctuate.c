/* steno: punctuation: the public calls. SPDX-License-Identifier: MIT */
#include <string.h>
#include "lib/call.h"
#include "lib/entry.h"

static int copy_params(steno_session *s, steno_punctuate_params *own, const steno_punctuate_params *p)
{
    steno_punctuate_params_init(own);
    if (!params_take(own, p, sizeof *own, sizeof *own)) return STENO_OK;
    return err_set(&s->error, STENO_EARG, "steno_punctuate_params was not filled by steno_punctuate_params_init");
}

static int punctuate(steno_session *s, const char *text, const steno_punctuate_params *p)
{
    steno_punctuate_params own;
    if (!s->model->task->punctuate) return request_refuse(s, "does not punctuate");
    if (!text) return err_set(&s->error, STENO_EARG, "there is no text to punctuate");
    const int rc = copy_params(s, &own, p);
    return rc ? rc : s->model->task->punctuate(s, text, &own);
}

int steno_punctuate(steno_session *s, const char *text, const steno_punctuate_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    return call_leave(s, punctuate(s, text, p));
}

static int punctuate_result(steno_session *s, steno_session *of, const steno_punctuate_params *p)
{
    steno_punctuate_params own;
    if (!s->model->task->punctuate_result) return request_refuse(s, "does not punctuate");
    if (of->model->task->punctuate_result || of->request_state != REQUEST_NONE)
        return err_set(&s->error, STENO_EARG, "the other session has no transcript, or is at work on one");
    const int rc = copy_params(s, &own, p);
    struct result *r = of->selected == &of->result ? &of->result : &of->translation;
    return rc ? rc : s->model->task->punctuate_result(s, r, &own);
}

int steno_punctuate_result(steno_session *s, steno_session *of, const steno_punctuate_params *p)
{
    const int rc = call_enter(s);
    if (rc) return rc;
    session_begin(s);
    if (!of || !session_may_change(of))
        return call_leave(s, err_set(&s->error, STENO_EARG, "there is no other session, or a call is at work on it"));
    of->entered = 1; /* its results are in use */
    const int status = punctuate_result(s, of, p);
    of->entered = 0;
    return call_leave(s, status);
}

int steno_mark_count(const steno_session *s)
{
    return s ? (int)(s->result.marks.len / sizeof(steno_mark)) : 0;
}

int steno_mark_get(const steno_session *s, int i, steno_mark *out)
{
    if (!s || !out || out->size < sizeof(uint32_t) || i < 0 || i >= steno_mark_count(s)) return STENO_EARG;
    steno_mark mark = ((const steno_mark *)(const void *)s->result.marks.p)[i];
    mark.size = out->size < sizeof mark ? out->size : (uint32_t)sizeof mark;
    memcpy(out, &mark, mark.size);
    return STENO_OK;
}
